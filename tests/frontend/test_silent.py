"""What changes something and gives nothing stands alone: bound to a name that nothing reads, it was dropped."""

from __future__ import annotations

import collections
import importlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from srcgrad import DifferentiationError, check_grads, grad, hessian
from srcgrad.interface.dump import dump
from tests.programs.small import made


def copied(a, c):
    _ = np.copyto(c, a)
    return c


def added(a, c):
    _ = np.add.at(c, [0], a[1])
    return c


def asked(a, c):
    return c + float(np.put(c, 0, 2.0) is None)


def sorted_in_place(a, c):
    _ = c.sort()
    return c


def shuffled(a, c):
    _ = np.random.default_rng(0).shuffle(c)
    return c


def appended(a, c):
    values = [1.0]
    _ = values.append(2.0)
    return c * values[-1]


def put_in(a, c):
    values = {"k": 1.0}
    _ = values.update(k=2.0)
    return c * values["k"]


def multiplied(a, c):
    _ = c.__imul__(2.0)
    return c


CASES = (copied, added, asked, sorted_in_place, shuffled, appended, put_in, multiplied)


@pytest.mark.parametrize("changed", CASES)
@pytest.mark.parametrize("active", [False, True])
def test_it_is_refused(changed: Callable[..., Any], active: bool) -> None:
    def weighted(x):
        c = 1.0 * x if active else np.array([3.0, 1.0, 2.0])
        return np.sum(changed(x * x, c) * x)

    with pytest.raises(DifferentiationError, match=r"E5001|E5003|E5010"):
        grad(weighted)(np.array([0.3, -0.8, 1.1]))


FILLED = (
    "z = np.sin(c, c)",
    "z = np.clip(c, 0.0, 1.0, c)",
    "np.dot(np.eye(3), 2.0 * c, c)",
    "z = np.sum(np.eye(3) * c, 0, None, c)",
    "z = np.round(c / 3.0, 0, c)",
    "z = np.around(c / 3.0, out=c)",
    "z = np.choose([0, 0, 0], [2.0 * c], c)",
    "np.copyto(dst=c, src=2.0 * c)",
    "np.put(v=c[1], ind=0, a=c)",
)


def filling(line: str, name: str) -> Callable[..., Any]:
    """A function of which one line fills an array, itself, and one that calls it for nothing else."""
    text = f"""\
def fill(c):
    {line}
    return 1.0


def f(x):
    c, d = 1.5 * x, np.array([3.0, 1.0, 2.0])
    {line}
    n = fill(d)
    return np.sum(c * d * x)
"""
    return made(name, text)[0]


@pytest.mark.parametrize("line", FILLED)
def test_an_array_is_filled_that_is_given_by_its_place_or_by_name(line: str) -> None:
    check_grads(filling(line, f"filled {line}"), (np.array([0.3, -0.8, 1.1]),))


GENERATOR = np.random.default_rng(3)


def second_draw():
    generator = np.random.default_rng(0)
    _ = generator.normal()
    return generator.normal()


def second_item():
    items = iter([1.0, 2.0, 3.0])
    _ = next(items)
    return next(items)


def default_of_a_dict():
    values = {"a": 2.0}
    _ = values.setdefault("z", 4.0)
    return values["z"]


@pytest.mark.parametrize("given", [second_draw, second_item, default_of_a_dict])
def test_what_is_not_read_moves_on(given: Callable[..., Any]) -> None:
    def weighted(x):
        return np.sum(given() * x * x)

    assert grad(weighted)(np.ones(1)).tolist() == [2.0 * given()]
    assert hessian(weighted)(np.ones(1)).tolist() == [[2.0 * given()]]


def test_draws_of_a_generator_outside() -> None:
    def weighted(x):
        _ = GENERATOR.normal()
        return np.sum(GENERATOR.normal() * x)

    state = GENERATOR.bit_generator.state
    expected = weighted(np.ones(1))
    GENERATOR.bit_generator.state = state
    assert grad(weighted)(np.ones(2)).tolist() == [expected] * 2


def _checked(a, b):
    if np.shape(a) != np.shape(b):
        raise ValueError(f"shapes {np.shape(a)} and {np.shape(b)}")


_SEEN = []


def _remembered(a):
    _SEEN.append(a)


def test_a_call_for_its_exceptions_is_made_and_raises() -> None:
    def energy(a, b):
        _checked(a, b)
        return np.sum(a * b)

    assert grad(energy)(np.ones(2), np.full(2, 3.0)).tolist() == [3.0, 3.0]
    with pytest.raises(ValueError, match="shapes"):
        grad(energy)(np.ones(2), np.ones(3))


def test_a_call_that_changes_something_is_no_check() -> None:
    def energy(a):
        _remembered(a)
        return np.sum(a * a)

    with pytest.raises(DifferentiationError) as found:
        grad(energy)(np.ones(2))
    assert found.value.code == "E5005"


def limited(k):
    if k > 3.0:
        raise ValueError(k)


def forbidden(k):
    raise AssertionError(k)


def test_a_name_of_the_functions_own_for_a_validator_is_not_the_modules() -> None:
    """The call stayed in the text by its name, which is that of another function there."""

    def checked(b):
        forbidden = limited
        forbidden(b)
        return b * b

    with pytest.raises(DifferentiationError) as found:
        grad(checked)(1.0)
    assert found.value.code == "E5005"


TABLE = {"a": 2.0, "b": 3.0}
COUNTS: collections.defaultdict[str, int] = collections.defaultdict(int)


def looked_up(a, key):
    TABLE[key]
    s = 0.5
    for k in range(2):
        float(a[k])
        s = s + s * a[k] * TABLE[key]
    return s


def looked_up_in_a_handler(a, key):
    try:
        factor = TABLE[key.lower()]
    except (AttributeError, KeyError):
        TABLE[key]
        factor = 4.0
    return np.sum(a**2) * factor


def counted(a, key):
    COUNTS[key]
    return np.sum(a) * len(COUNTS)


@pytest.mark.parametrize("function", [looked_up, looked_up_in_a_handler])
def test_what_stands_for_its_exception_raises_it(function: Callable[..., Any]) -> None:
    check_grads(function, (np.array([0.4, 1.2]), "b"), order=2)
    for derivative in (grad(function), hessian(function)):
        with pytest.raises(KeyError):
            derivative(np.array([0.4, 1.2]), "c")


def test_a_number_that_is_none_raises_what_it_raised() -> None:
    with pytest.raises(TypeError, match=r"sequence|scalar|only"):
        grad(looked_up)(np.ones((2, 2)), "b")


def test_a_look_that_changes_the_table_is_refused() -> None:
    with pytest.raises(DifferentiationError, match="E5005"):
        grad(counted)(np.ones(2), "a")
    assert not COUNTS


def is_steep(x, tol=3.0):
    s = x * 2.0
    if np.sum(s) > 100.0:
        raise ValueError(tol)
    return bool(np.sum(s) > tol)


def squares(x):
    held = np.zeros(3)
    for i in range(3):
        held[i] = x[i] ** 2
    return held


def one_of_several(x):
    log = logging.getLogger("steps")
    n = 0
    while n < 5 and not is_steep(x * n):
        x = x * 1.1
        n += 1
    y = (x[0] > 5.0 and squares(x)[1]) or squares(x)[2]
    if x[0] > 5.0 and not is_steep(x, tol=0.0):
        log.warning("%s", n)
    elif x[1] > 0.0 and is_steep(x):
        log.warning("%s", n)
        y = y * x[1]
    return y


def test_a_call_that_is_made_only_if_what_stands_before_it_holds(caplog: pytest.LogCaptureFixture) -> None:
    check_grads(one_of_several, (np.array([0.3, 0.8, 1.4]),), order=2)
    assert {one.message for one in caplog.records} == {"1"}


def test_what_is_imported_inside_from_the_package_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "around_it" / "below"
    folder.mkdir(parents=True)
    for one in (folder.parent, folder):
        (one / "__init__.py").write_text("")
    (folder.parent / "heights.py").write_text("def height(x):\n    return x * x * 3.0\n")
    imports = "    from ..heights import height\n    from .. import heights\n"
    text = f"def f(x):\n{imports}    return height(x) * heights.height(x)\n"
    (folder / "model.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert grad(importlib.import_module("around_it.below.model").f)(2.0) == pytest.approx(288.0)
    made: dict[str, Any] = {"__name__": "around_it.below.model_grad", "__package__": "around_it.below"}
    exec(dump("around_it.below.model").text, made)
    assert made["f_grad"](2.0) == pytest.approx(288.0)
