"""Chains of statements of which each reads the last two results, each of them twice: what deriving them costs.

A pass that asks the same question about a value again, wherever that value is read, asks it as often as there are ways
back to the beginning: some millions after thirty statements. How long a derivation takes is told by the number of calls
that it makes, which is the same in each run: a chain of forty statements may make at most `MOST` times as many as one
of twenty.
"""

from __future__ import annotations

import ast
import cProfile
import linecache
import os
import sys
import warnings
import zlib
from collections.abc import Callable
from typing import Any

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.rules import Rule
from srcgrad.interface.api.arguments import kind_of
from srcgrad.interface.api.derivative import Derivative
from tests.templates.rule_cases import FLOAT, LETTERS, Case, by_template, cases, differentiable_rules, every, namespace

SHORT, LONG = 20, 40
MODES = ("reverse", "forward", "hvp")
SURE = 2.05  # of chains of three and six: what grows faster than its length is looked at again, longer
MOST = 2.5  # twice as many statements make twice as many calls; what is looked up in lists of them makes some more


def fed(case: Case) -> list[str]:
    """The arguments of a case that take the results of statements before: those shaped like the first."""
    places = zip(LETTERS, case.shapes, case.domains, strict=False)
    return [letter for letter, shape, domain in places if shape == case.shapes[0] and domain is not None]


def chosen(rule: Rule) -> Case | None:
    """A case whose result can be fed back: of arrays, if there is one, all of whose arguments can."""
    found = [case for case in cases(rule) if case.shapes and case.domains[0] is not None]
    arrays = [case for case in found if case.shapes[0] is not FLOAT and len(fed(case)) == len(case.shapes)]
    return next(iter([*arrays, *found]), None)


def text(case: Case, count: int) -> str:
    """A function of so many statements."""
    letters = fed(case)
    call = ast.parse(case.call, mode="eval")
    lines = ["a0 = 2.0 * x", "a1 = 3.0 * x"]
    for k in range(2, count + 2):
        b, c = f"a{k - 1}", f"a{k - 2}"
        if len(letters) > 1:
            swaps = {letter: (b, c)[place % 2] for place, letter in enumerate(letters)}
            lines.append(f"a{k} = {_spelled(call, swaps)} + {b} / {c}")
        else:
            lines.append(f"a{k} = {_spelled(call, {letters[0]: f'({b} * {c})'})} + {b} / {c}")
    body = "".join(f"    {line}\n" for line in lines)
    return f"def f({', '.join(LETTERS[: len(case.shapes)])}):\n{body}    return np.sum(a{count + 1})\n"


def _spelled(call: ast.Expression, swaps: dict[str, str]) -> str:
    class Swap(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.parse(swaps[node.id], mode="eval").body if node.id in swaps else node

    return ast.unparse(Swap().visit(ast.parse(ast.unparse(call), mode="eval")))


def defined(source: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function f of a text, which the front end finds."""
    file = f"<chain {zlib.crc32(source.encode())}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    meaning = dict(names)
    exec(compile(source, file, "exec"), meaning)
    function: Callable[..., Any] = meaning["f"]
    return function


def calls(function: Callable[..., Any], args: tuple[Any, ...], mode: str = "reverse", target: str = "numpy") -> int:
    """How many calls of Python's functions it takes to derive a function for such arguments."""
    kinds = dict(zip(LETTERS, map(kind_of, args), strict=False))
    if mode == "hvp":
        function, mode = Derivative(function, "reverse", "x", True).as_function(kinds), "forward"
    derivative: Derivative[..., Any] = Derivative(function, mode, "x", True, target)
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    try:
        derivative.executed_text(kinds)
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


def growth(
    source: Callable[[int], str],
    names: dict[str, Any],
    args: tuple[Any, ...],
    mode: str = "reverse",
    counts: tuple[int, int] = (SHORT, LONG),
) -> float:
    """How many times as many calls the long chain makes."""
    calls(defined(source(1), names), args, mode)  # loads what is loaded once
    short, long = (calls(defined(source(count), names), args, mode) for count in counts)
    return long / short


def of_rule(rule: Rule, mode: str) -> float | None:
    """The growth of chains of a rule; None where it is refused that they are differentiated."""
    case = chosen(rule)
    if case is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            asked = (lambda count: text(case, count)), namespace(rule), case.arguments(), mode
            few = growth(*asked, counts=(3, 6))
            return few if few <= SURE and not every() else growth(*asked)
        except DifferentiationError:
            return None


def drawn() -> list[Rule]:
    """A sixth of the operations with a text of their own; in `make rules` all of them, our own helpers as well."""
    alone, _ = by_template(differentiable_rules())
    public = [rule for rule in alone if not rule.name.startswith("srcgrad.")]
    return alone if every() else [rule for rule in public if zlib.crc32(rule.name.encode()) % 6 == 0]


def main() -> int:
    """Derive chains of all rules in all modes, and print where they make too many calls."""
    os.environ["SRCGRAD_EVERY"] = "1"
    found = [(rule.name, mode, of_rule(rule, mode)) for rule in drawn() for mode in MODES]
    long = [(name, mode, times) for name, mode, times in found if times is not None and times > MOST]
    for name, mode, times in long:
        print(f"{name} {mode}: {times:.2f} times as many calls")
    refused = sum(times is None for _, _, times in found)
    print(f"{len(found) - refused} chains, {refused} refused, {len(long)} too long")
    return bool(long)


if __name__ == "__main__":
    sys.exit(main())
