"""Calls of rules whose constants come by variables, and whose defaults are given: a text cannot know their values."""

from __future__ import annotations

import ast
import inspect
import linecache
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any  # functions and arguments are arbitrary objects

import numpy as np

from srcgrad.core.rules import Rule
from tests.templates.every_form import public
from tests.templates.rule_cases import LETTERS, Case, cases, every, namespace

ONE_IN = 16  # of how many calls a run tests one, without SRCGRAD_EVERY


def calls() -> list[tuple[Case, str, dict[str, Any]]]:
    """Cases with the text of their call, and the values of its variables; calls that the operation refuses are not."""
    found = {}
    for rule in public():
        for case in cases(rule):
            for call, values in _variants(case):
                found[f"{call} {case.shapes} {values}"] = (case, call, values)
    chosen = [key for key in found if every() or zlib.crc32(key.encode()) % ONE_IN == 0]
    return [found[key] for key in chosen if _is_valid(*found[key])]


def _is_valid(case: Case, call: str, values: dict[str, Any]) -> bool:
    """Whether an operation takes its defaults when they are given: an `axis=None` of a rule may be its own."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            defined(case.rule, call, names_of(case, values))(*case.arguments(), *values.values())
        except (TypeError, ValueError):
            return False
    return True


def defined(rule: Rule, call: str, names: list[str]) -> Callable[..., Any]:
    """`def f(x, k0): return <call>`, with its text where the front end finds it."""
    text = f"def f({', '.join(names)}):\n    return {call}\n"
    file = f"<variables {id(rule)} {call} {' '.join(names)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    meaning = namespace(rule)
    exec(compile(text, file, "exec"), meaning)
    function: Callable[..., Any] = meaning["f"]
    return function


def names_of(case: Case, values: dict[str, Any]) -> list[str]:
    """The parameters of the call as a function."""
    return [*LETTERS[: len(case.shapes)], *values]


def _variants(case: Case) -> Iterator[tuple[str, dict[str, Any]]]:
    """The call with its literals as variables; with its defaults as variables."""
    values: dict[str, Any] = {}
    tree = ast.parse(case.call, mode="eval")
    main = next((n for n in ast.walk(tree) if isinstance(n, ast.Call)), None)
    if main is None:
        return
    main.args = [_variable(given, values) for given in main.args]
    for word in main.keywords:
        word.value = _variable(word.value, values)
    if values:
        yield ast.unparse(tree), values
    values = {}
    given = len(main.args), {word.arg for word in main.keywords}
    tree = ast.parse(case.call, mode="eval")
    main = next(n for n in ast.walk(tree) if isinstance(n, ast.Call))
    for name, default in _defaults(case.rule)[max(0, given[0] - _required(case.rule)) :]:
        if name not in given[1] and not isinstance(default, float):
            values[f"k{len(values)}"] = default
            main.keywords.append(ast.keyword(name, ast.Name(f"k{len(values) - 1}", ast.Load())))
    if values and not any(isinstance(argument, ast.Starred) for argument in main.args):
        yield ast.unparse(tree), values


def _variable(node: ast.expr, values: dict[str, Any]) -> ast.expr:
    """A literal as a variable: axes, orders, names of modes; numbers with a point may be differentiated."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return node
    if isinstance(value, float | complex):
        return node
    values[f"k{len(values)}"] = value
    return ast.Name(f"k{len(values) - 1}", ast.Load())


def _parameters(rule: Rule) -> list[inspect.Parameter]:
    definition = rule.template or rule.composition or rule.tangent
    assert definition is not None, "a rule that carries a derivative has a text"
    found = list(inspect.signature(definition).parameters.values())
    return found if rule.composition is not None else found[1:]


def _required(rule: Rule) -> int:
    return sum(p.default is inspect.Parameter.empty for p in _parameters(rule) if p.kind is not p.VAR_POSITIONAL)


def _defaults(rule: Rule) -> list[tuple[str, Any]]:
    return [(p.name, p.default) for p in _parameters(rule) if p.default is not inspect.Parameter.empty]
