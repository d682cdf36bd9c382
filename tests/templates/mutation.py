"""Mutation of the templates: each derivative, scaled by 1.1, and each matrix that is not made symmetric, or loses a
triangle, must make a test of its rule fail.

Run it as `python -m tests.templates.mutation [--only NAME]`; the survivors are printed, and are the exit status.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import linecache
import operator
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import srcgrad.core.rules
from srcgrad import vjp
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.rules import Rule
from srcgrad.interface.check.check import check_report
from srcgrad.interface.check.finite_differences import tangent_like, vector
from tests.templates.rule_cases import Case, cases, differentiable_rules, namespace, pinned_cases

SCALE = 1.1
BY_ENGINE = (operator.getitem,)  # the engine adds into the adjoint in place; the template states the rule


def scaled(x: Any) -> Any:
    """A derivative, or each of a list or tuple of them, times the factor; None where there is none."""
    if isinstance(x, list | tuple):
        return [scaled(part) for part in x]
    return None if x is None else SCALE * x


@dataclass(frozen=True)
class Mutant:
    """A rule of which one line is wrong; `line` is the wrong line."""

    rule: Rule
    wrong: Rule
    line: str

    def __str__(self) -> str:
        return f"{self.rule.name}: {self.line}"


def mutants(rule: Rule) -> list[Mutant]:
    """One mutant for each line `d[x] = ...`, and in a tangent for each `d[x]` of its lines."""
    found = []
    whole = _has_parts(rule)
    for role, template in (("template", rule.template), ("tangent", rule.tangent)):
        if template is not None:
            for number, (place, read) in enumerate(_derivatives(_definition(template))):
                tree = _definition(template)
                line = _scale(tree, place, read, whole or role == "tangent")
                function = _define(tree, template, f"{rule.name} {role} {number}")
                found.append(Mutant(rule, replace(rule, **{role: function}), line))
    return found


def halved(rule: Rule) -> list[Mutant]:
    """One mutant for each sum of a matrix and its transpose, or of its triangles, that has its first term alone."""
    found = []
    for role, template in (("template", rule.template), ("tangent", rule.tangent)):
        for number in range(0 if template is None else len(_halves(_definition(template)))):
            tree = _definition(template)
            half = _halves(tree)[number]
            line = f"{ast.unparse(half)} without its second term"
            half.right = ast.BinOp(ast.Constant(0.0), ast.Mult(), half.right)
            function = _define(ast.fix_missing_locations(tree), template, f"{rule.name} {role} half {number}")
            found.append(Mutant(rule, replace(rule, **{role: function}), line))
    return found


def unsummed(rule: Rule) -> list[Mutant]:
    """One mutant for each `sum_to(g, x)` of a template that is `g` alone: what was broadcast is not summed."""
    found = []
    for role, template in (("template", rule.template), ("tangent", rule.tangent)):
        for number in range(0 if template is None else len(_sums(_definition(template)))):
            tree = _definition(template)
            call = _sums(tree)[number]
            line = f"{ast.unparse(call)} without its sum"
            function = _define(_Exchanged(call, call.args[0]).visit(tree), template, f"{rule.name} {role} sum {number}")
            found.append(Mutant(rule, replace(rule, **{role: function}), line))
    return found


class _Exchanged(ast.NodeTransformer):
    def __init__(self, one: ast.expr, other: ast.expr) -> None:
        self.one, self.other = one, other

    def visit(self, node: ast.AST) -> Any:
        return self.other if node is self.one else self.generic_visit(node)


def _sums(definition: ast.FunctionDef) -> list[ast.Call]:
    calls = [node for node in ast.walk(definition) if isinstance(node, ast.Call)]
    return [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "sum_to"]


def _halves(definition: ast.FunctionDef) -> list[ast.BinOp]:
    """Sums of which the second term is the first one turned, or another triangle of it."""
    sums = [node for node in ast.walk(definition) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)]
    return [node for node in sums if _seed_of(node.left) and _seed_of(node.left) == _seed_of(node.right)]


def _seed_of(node: ast.expr) -> str:
    """What is turned, conjugated or cut to a triangle; an empty string where nothing is a plain name or `d[x]`."""
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Attribute) and node.attr not in ("T", "mT"):
            return ""
        if isinstance(node, ast.Call) and ast.unparse(node.func) not in ("np.conj", "np.tril", "np.triu"):
            return ""
        node = node.value if isinstance(node, ast.Attribute) else node.args[0]
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Subscript) else ""


def _definition(template: Callable[..., Any]) -> ast.FunctionDef:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(template))).body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    return definition


def _is_derivative(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "d"


def _lines(definition: ast.FunctionDef) -> list[ast.Assign]:
    assigns = [node for node in ast.walk(definition) if isinstance(node, ast.Assign)]
    return sorted((a for a in assigns if _is_derivative(a.targets[0])), key=lambda a: a.lineno)


def _derivatives(definition: ast.FunctionDef) -> list[tuple[int, str]]:
    """(number of the line, name whose `d[name]` it reads), each once.

    A line that is zero stays so, and a term `no_further(d[x])` raises whatever its factor.
    """
    found = []
    for number, line in enumerate(_lines(definition)):
        if ast.unparse(line.value).startswith("0.0 * "):
            continue
        read = [ast.unparse(node.slice) for node in ast.walk(line.value) if _is_derivative(node)]
        text = ast.unparse(line.value)
        found += [(number, n) for n in dict.fromkeys(read) if f"no_further(d[{n}])" not in text]
    return found


def _has_parts(rule: Rule) -> bool:
    """Whether the operation returns a list or tuple, as its first form shows."""
    for case in cases(rule)[:1]:
        names = {**namespace(rule), **dict(zip("xyzuvw", case.arguments(), strict=False))}
        for node in ast.walk(ast.parse(case.call)):
            if isinstance(node, ast.Call) and eval(ast.unparse(node.func), names) is rule.op:
                return isinstance(eval(ast.unparse(node), names), list | tuple)
    return False


class _Scaled(ast.NodeTransformer):
    def __init__(self, name: str, parts: bool) -> None:
        self.name = name
        self.parts = parts

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        one = isinstance(node.value, ast.Subscript) and isinstance(node.slice, ast.Constant)
        if one and _is_derivative(node.value) and ast.unparse(node.value.slice) == self.name:
            return ast.BinOp(ast.Constant(SCALE), ast.Mult(), node)  # one of several results
        if _is_derivative(node) and ast.unparse(node.slice) == self.name:
            if self.parts:
                return ast.Call(ast.Name("scaled", ast.Load()), [node], [])
            return ast.BinOp(ast.Constant(SCALE), ast.Mult(), node)
        return self.generic_visit(node)


def _scale(definition: ast.FunctionDef, number: int, name: str, parts: bool) -> str:
    """Scale `d[name]` in one line, which is linear in it; the line as it reads then."""
    line = _lines(definition)[number]
    line.value = _Scaled(name, parts).visit(line.value)
    return ast.unparse(ast.fix_missing_locations(line))


def _define(tree: ast.FunctionDef, template: Callable[..., Any], label: str) -> Callable[..., Any]:
    text = ast.unparse(tree) + "\n"
    file = f"<mutant {label}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {**template.__globals__, **inspect.getclosurevars(template).nonlocals, "scaled": scaled}
    exec(compile(text, file, "exec"), names)
    return names[tree.name]


@contextmanager
def installed(mutant: Mutant) -> Iterator[Rule]:
    """The table with the wrong rule in it."""
    srcgrad.core.rules.replace_rule(mutant.rule, mutant.wrong)
    try:
        yield mutant.wrong
    finally:
        srcgrad.core.rules.replace_rule(mutant.wrong, mutant.rule)


def survives(mutant: Mutant) -> bool:
    """Whether nothing sees it: no difference or pairing in the cases of the rule, no pinned point."""
    with installed(mutant) as wrong:
        for f, args, expected in pinned_cases(wrong):
            with np.errstate(all="ignore"):
                found = vjp(f, *args)[1](1.0)
            if not np.array_equal(found, expected, equal_nan=True):
                return False
    wrong_cases = cases(mutant.wrong)
    for place, args in _taken(mutant.rule):
        with installed(mutant):
            if not _passes(wrong_cases[place], args):
                return False
    return True


_tried: dict[tuple[str, int], list[tuple[Any, ...]]] = {}


def _taken(rule: Rule) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The arguments that the right rule takes, each with the place of its case: the same for all of its mutants."""
    for place, case in reversed([*enumerate(cases(rule))]):
        if (rule.name, place) not in _tried:
            _tried[rule.name, place] = [args for args in reversed(_both(case)) if takes(case, args)]
        for args in _tried[rule.name, place]:
            yield place, args


def _both(case: Case) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return case.arguments(), turned(case.arguments())


def _passes(case: Case, args: tuple[Any, ...]) -> bool:
    """Whether a call that the right rule takes gives right numbers; a wrong rule may give no number at all."""
    try:
        records = check_report(case.function, args, order=1, directions=1)
    except (DifferentiationError, ValueError, TypeError, IndexError):
        return False
    return all(record.passed for record in records)


def turned(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arrays among arguments with imaginary parts."""
    return tuple(a + 0.3j * np.cos(3.0 * a) if isinstance(a, np.ndarray) and a.ndim else a for a in args)


def takes(case: Case, args: tuple[Any, ...]) -> bool:
    """Whether the rule has lines of their own for complex numbers, or these are real, and the call takes them."""
    if any(np.iscomplexobj(a) for a in args) and case.rule.complex != "written":
        return False
    try:
        y, back = vjp(case.function, *args)
        back(tangent_like(y, np.ones(vector(y).size)))
    except (DifferentiationError, np.linalg.LinAlgError, TypeError, ValueError):
        return False
    return True


def main(arguments: list[str]) -> int:
    """Print the survivors; 0 if there are none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="a rule's name, such as np.tanh")
    only = parser.parse_args(arguments).only
    chosen = [r for r in differentiable_rules() if only in (None, r.name) and not any(r.op is op for op in BY_ENGINE)]
    found = [mutant for rule in chosen for mutant in (*mutants(rule), *halved(rule), *unsummed(rule))]
    survivors = [mutant for mutant in found if survives(mutant)]
    for mutant in survivors:
        print(f"survives: {mutant}")
    print(f"{len(found)} mutants of {len(chosen)} rules, {len(survivors)} survive")
    return min(1, len(survivors))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
