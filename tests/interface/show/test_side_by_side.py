"""The two sides of a report: each line of a text is there once, and belongs to the line that it comes from."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

import srcgrad
from srcgrad.backend.targets import OWN, target_named
from srcgrad.interface.dump import dump
from srcgrad.interface.show.side_by_side import Line, Pair, Sides, sides
from tests.test_golden import CASES, function_of, parts, wrt_of

MODES = ("reverse", "value-and-grad", "vjp", "forward", "hvp")
ZEROS = re.compile(r"_bar_* = \S*(zeros|empty)(_like)?\(|= \[\]$")  # which stands where the it is needed first
CITED = re.compile(r"\s*# line (\d+): ")
HEAT = '''\
import numpy as np


def misfit(start, flow, measured, dt, steps):
    """How far the end of a rod is from what was measured."""
    # what the points hold
    u = start.copy()
    calls = 0
    for step in range(steps):
        u[1:-1] += dt * flow * (
            u[2:] - 2.0 * u[1:-1] + u[:-2]
        )
        if step > 3:
            u = u * 0.5
        elif step > 2:
            u = np.sin(u)
    return np.sum((u - measured) ** 2)
'''


def made(text: str, mode: str = "reverse", target: str = "numpy") -> Sides:
    found = dump("-", text=text, mode=mode, target=target)
    return sides(found.text, found.parts)


def written(path: pathlib.Path, mode: str) -> Sides:
    """The sides of a golden function's derivative."""
    flags, source, _ = parts(path)
    wrt = wrt_of(flags)
    if mode == "hvp":
        return srcgrad.hvp(function_of(flags, source), wrt).derivative.report().sides
    return srcgrad.report(function_of(flags, source), wrt=wrt, mode=mode).sides


def whole(found: Sides) -> str:
    """The text, put together from its lines."""
    lines = [line for pair in found.pairs for line in pair.made]
    lines += [line for kernel in found.kernels.values() for line in kernel]
    numbers = sorted(line.number for line in lines)
    assert numbers == list(range(1, len(lines) + 1)), "each line is there once"
    return "".join(f"{line.text}\n" for line in sorted(lines, key=lambda line: line.number))


def starts(pair: Pair) -> dict[str, int]:
    """For each statement that stands in one line, and in no other, that line; `else:` begins none."""
    texts = [line.text.strip() for line in pair.source if line.text.strip() != "else:"]
    return {line.text.strip(): line.number for line in pair.source if texts.count(line.text.strip()) == 1}


def check_groups(pair: Pair, cites: bool = True) -> int:
    """Compare groups with what the text says itself; how many lines it told of."""
    first = starts(pair)
    cited, depth, told = 0, 0, 0
    for line in pair.made:
        text = line.text.strip()
        found = CITED.match(line.text) if cites else None
        indent = len(line.text) - len(line.text.lstrip())
        if found:
            cited, depth = int(found[1]), indent
        elif not text or indent != depth or text.startswith(("return", "for ", "while ", "if ", "def ", "with ")):
            cited = 0
        if cited and not ZEROS.search(text):
            assert line.group == cited, line
        elif text and not cited and first.get(text) and not text.startswith(("#", '"""')):
            assert line.group == first[text], line
        told += bool(text) and (bool(cited) or bool(first.get(text)))
    return told


def accepted(path: pathlib.Path, mode: str) -> bool:
    """Not several values in a mode for one, nor second derivatives of a list that is written into."""
    return (path.stem, mode) not in {("list", "hvp"), *(("pullback", m) for m in ("reverse", "value-and-grad", "hvp"))}


@pytest.mark.parametrize(
    ("path", "mode"), [pytest.param(p, m, id=f"{p.stem}-{m}") for p in CASES for m in MODES if accepted(p, m)]
)
def test_each_line_is_there_once_and_belongs_to_its_line(path: pathlib.Path, mode: str) -> None:
    found = written(path, mode)
    assert whole(found) == found.text
    told = sum(check_groups(pair, cites=mode != "hvp") for pair in found.pairs)
    assert told > 1 or mode in ("forward", "hvp")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", [one for one in OWN if not target_named(one).spreads])  # it has no rows
def test_statement_of_several_lines_and_branches(mode: str, target: str) -> None:
    found = made(HEAT, mode, target)
    assert whole(found) == found.text
    if target == "opencl":
        assert found.kernels
    source = {line.number: line for line in found.pairs[-1].source}
    if mode != "hvp":  # whose source is the text of the gradient
        assert [source[k].group for k in (4, 6, 7, 10, 11, 12, 15)] == [4, 0, 7, 10, 10, 10, 15]
        told = {line.group: line.text.strip() for line in reversed(found.pairs[-1].made) if line.group}
        assert told[9] == "for step in range(steps):"
        assert (told[13], told[15]) in [("if step > 3:", "elif step > 2:"), ("taken = step > 3", "taken_ = step > 2")]


def test_kernels_stand_at_the_line_that_runs_them() -> None:
    found = made(HEAT, target="opencl")
    run = [name for pair in found.pairs for line in pair.made for name in line.kernels]
    assert sorted(run) == sorted(found.kernels)
    for name, lines in found.kernels.items():
        [caller] = [line for pair in found.pairs for line in pair.made if name in line.kernels]
        assert f"launch({name}" in caller.text or caller.text.strip() == ")"
        groups = {line.group for line in lines if line.group}
        assert caller.group in groups
        cited = {int(number) for number in re.findall(r"// line (\d+):", "\n".join(line.text for line in lines))}
        assert cited <= groups


def test_activity_is_that_of_explain() -> None:
    source = {line.number: line for line in made(HEAT).pairs[0].source}
    assert (source[8].role, source[8].why) == ("inactive", "depends on none of start, flow, measured, dt")
    assert (source[7].role, source[7].why) == ("active", "")
    assert source[6].role == source[5].role == ""


def test_bytes_and_lines_of_what_is_recorded() -> None:
    def power(x, n):
        p = x
        for _ in range(n):
            p = np.sin(p) * x
        return np.sum(p)

    first = power.__code__.co_firstlineno
    known = srcgrad.report(power, np.ones(3), 4, wrt="x").sides.pairs[0]
    [line] = [line for line in known.source if line.kept and any(one.value == "p" for one in line.kept)]
    [kept] = [one for one in line.kept if one.value == "p"]
    assert (line.number, kept.size, kept.needed) == (first + 3, "24 bytes x 4", (first + 3,))
    unknown = srcgrad.report(power, wrt="x").sides.pairs[0]
    assert {one.size for line in unknown.source for one in line.kept} == {"as large as x, each trip"}
    [pushed] = [line for line in known.made if ".append((" in line.text]  # both values of a trip together
    assert kept in pushed.kept
    assert {one.size for one in pushed.kept} == {"24 bytes x 4"}


def test_the_size_is_told_by_the_arguments_that_it_is_of() -> None:
    def squares(x, n):
        total = 0.0
        for k in range(n):
            h = np.exp(x * k)
            t = np.sum(h) + total * k
            total = total + t * t
        return total

    kept = [one for line in srcgrad.report(squares, wrt="x").sides.pairs[0].source for one in line.kept]
    assert {(one.value, one.size) for one in kept} >= {("t", "one number, each trip")}
    assert any(one.size == "as large as x, each trip" for one in kept)


def test_functions_that_look_like_others() -> None:
    """A user's `f_kernel_1`, a `def` inside a string, helpers between derivatives."""
    text = """
import numpy as np
def f_kernel_1(x: float):
    return x * x
def f(x: float):
    '''
def f_grad(x):
    '''
    return np.sin(f_kernel_1(x))
"""
    found = made(text)
    assert whole(found) == found.text
    assert not found.kernels
    assert {pair.function for pair in found.pairs} == {"f_kernel_1", "f"}
    for pair in found.pairs:
        check_groups(pair)


def test_a_lambda_and_a_text_without_a_derivative() -> None:
    [pair] = srcgrad.report(lambda x: np.sum(x * x), wrt="x").sides.pairs
    assert len(pair.source) == 1
    assert {line.group for line in pair.made} == {0, pair.source[0].number}
    assert sides("x = 1\n", []) == Sides("x = 1\n", (), {})
    assert Line(1, "x").group == 0
