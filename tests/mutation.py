"""Mutation of the templates: each derivative, scaled by 1.1, must make a test of its rule fail.

Run it as `python -m tests.mutation [--only NAME]`; the survivors are printed, and are the exit status.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import srcgrad.rules
from srcgrad.check import check_report
from srcgrad.rules import Rule, adjoint, d
from tests.rule_cases import cases, differentiable_rules, namespace

SCALE = 1.1


def scaled(parts: Any) -> Any:
    """A list or tuple of derivatives, each scaled; `*` would repeat the list."""
    return [scaled(p) if isinstance(p, list | tuple) else None if p is None else SCALE * p for p in parts]


@adjoint.linear(scaled)
def scaled_adjoint(z, parts):  # type: ignore[no-untyped-def]  # a template
    d[parts] = scaled(d[z])


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
                line = _scale(tree, place, read, whole and role == "template")
                function = _define(tree, template, f"{rule.name} {role} {number}")
                found.append(Mutant(rule, replace(rule, **{role: function}), line))
    return found


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
    """(number of the line, name whose `d[name]` it reads), each once; a line that is zero stays so."""
    found = []
    for number, line in enumerate(_lines(definition)):
        if ast.unparse(line.value).startswith("0.0 * "):
            continue
        read = [ast.unparse(node.slice) for node in ast.walk(line.value) if _is_derivative(node)]
        found += [(number, name) for name in dict.fromkeys(read)]
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
        if _is_derivative(node) and ast.unparse(node.slice) == self.name:
            if self.parts:
                return ast.Call(ast.Name("scaled", ast.Load()), [node], [])
            return ast.BinOp(ast.Constant(SCALE), ast.Mult(), node)
        return node


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
    srcgrad.rules._replace(mutant.rule, mutant.wrong)
    try:
        yield mutant.wrong
    finally:
        srcgrad.rules._replace(mutant.wrong, mutant.rule)


def survives(mutant: Mutant) -> bool:
    """Whether no comparison of the rule's cases, with differences or by pairing, sees the wrong line."""
    with installed(mutant) as wrong:
        for case in cases(wrong):
            records = check_report(case.function, case.arguments(), order=1, directions=1)
            if not all(record.passed for record in records):
                return False
    return True


def main(arguments: list[str]) -> int:
    """Print the survivors; 0 if there are none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="a rule's name, such as np.tanh")
    only = parser.parse_args(arguments).only
    chosen = [rule for rule in differentiable_rules() if only in (None, rule.name)]
    found = [mutant for rule in chosen for mutant in mutants(rule)]
    survivors = [mutant for mutant in found if survives(mutant)]
    for mutant in survivors:
        print(f"survives: {mutant}")
    print(f"{len(found)} mutants of {len(chosen)} rules, {len(survivors)} survive")
    return min(1, len(survivors))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
