"""Which names hold real numbers only, from the whole text: what arguments of one kind make of all that follows."""

from __future__ import annotations

import math
from typing import Any  # a module has no type of its own

import gast
import numpy as np

from srcgrad.derive.program import Program
from srcgrad.derive.stacks import is_pop, is_push
from srcgrad.facts import Facts
from srcgrad.trees import Node, called, loads, statements

ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow, gast.Mod, gast.FloorDiv)


def numbers(program: Program, facts: Facts) -> frozenset[str]:
    """The names of which every binding is a real number if those of the others are."""
    bound = _bindings(program, facts)
    facts.ranks = {p: _rank(p, facts) for p in program.parameters if len(bound.get(p, ())) == 1}
    _made(bound, facts)
    known = {name for name in bound if name not in facts.complex}
    before = None
    while before != len(known):
        before = len(known)
        known = {name for name in known if all(_holds(value, known, facts) for value in bound[name])}
    return frozenset(name for name in known if not any(isinstance(value, gast.Tuple) for value in bound[name]))


def _rank(parameter: str, facts: Facts) -> int:
    """The number of axes of an argument that is an array of real numbers; 0 for any other."""
    kind = facts.arguments.get(parameter)
    return kind.ndim or 0 if kind is not None and kind.tag == "array" and not kind.complex else 0


def _made(bound: dict[str, list[Node]], facts: Facts) -> None:
    """Note the numbers of axes of arrays that the text makes: `np.zeros(n)`, `np.empty((n, 3))`, `np.zeros_like(x)`."""
    for held, values in bound.items():
        found = {_rank_of(value, facts) for value in values}
        if len(found) == 1 and 0 not in found:
            facts.ranks[held] = found.pop()


def _rank_of(value: Node, facts: Facts) -> int:
    """The number of axes of a new array of real numbers; 0 for anything else."""
    if not isinstance(value, gast.Call) or value.keywords or len(value.args) != 1:
        return 0
    if not isinstance(value.func, gast.Attribute) or not isinstance(value.func.value, gast.Name):
        return 0
    if not is_library(value.func.value.id, np, facts):
        return 0
    [shape] = value.args
    if value.func.attr in ("zeros_like", "empty_like", "ones_like"):
        return facts.ranks.get(shape.id, 0) if isinstance(shape, gast.Name) else 0
    if value.func.attr not in ("zeros", "empty", "ones"):
        return 0
    if isinstance(shape, gast.Tuple):
        return len(shape.elts)
    length = isinstance(shape, gast.Name | gast.Constant | gast.BinOp) and set(loads(shape)) <= facts.integers.keys()
    return int(length or called(shape) == "len")


def _bindings(program: Program, facts: Facts) -> dict[str, list[Node]]:
    """What each name is bound to: an expression, or None for what is no expression of its own."""
    bound: dict[str, list[Node]] = {}
    for parameter in program.parameters:
        kind = facts.arguments.get(parameter)
        scalar = kind is not None and kind.tag == "scalar" and not kind.complex
        bound[parameter] = [gast.Constant(1.0, None) if scalar else None]
    nodes = list(statements([*program.forward, *program.backward]))
    pushed: dict[str, list[Node]] = {}
    for node in nodes:
        if is_push(node):
            pushed.setdefault(str(node.value.func.value.id), []).extend(node.value.args)
    for node in nodes:
        if isinstance(node, gast.Assign) and is_pop(node.value):
            for value in pushed.get(str(node.value.func.value.id), [None]):
                _bind(node.targets[0], value, bound)
        elif isinstance(node, gast.Assign):
            for target in node.targets:
                _bind(target, node.value, bound)
        elif isinstance(node, gast.AugAssign):
            _bind(node.target, node.value, bound)
        elif isinstance(node, gast.For):
            over = node.iter.args[0] if called(node.iter) == "reversed" and node.iter.args else node.iter
            _bind(node.target, gast.Constant(1, None) if called(over) == "range" else None, bound)
        elif isinstance(node, gast.FunctionDef | gast.With):
            return {}
    return bound


def _bind(target: Node, value: Node, bound: dict[str, list[Node]]) -> None:
    if isinstance(target, gast.Name):
        bound.setdefault(target.id, []).append(value)
    elif isinstance(target, gast.Tuple):
        same = isinstance(value, gast.Tuple) and len(value.elts) == len(target.elts)
        for place, part in enumerate(target.elts):
            item = gast.Subscript(value, gast.Constant(place, None), gast.Load())
            _bind(part, value.elts[place] if same else item, bound)


def _holds(value: Node, known: set[str], facts: Facts) -> bool:
    """Whether a binding is a number, or a tuple of numbers."""
    if isinstance(value, gast.Tuple):
        return all(is_number(part, known, facts) for part in value.elts)
    return is_number(value, known, facts)


def is_number(node: Node, known: frozenset[str] | set[str], facts: Facts) -> bool:
    """Whether an expression is a real number, if the known names are."""
    if isinstance(node, gast.Constant):
        return isinstance(node.value, float | int)
    if isinstance(node, gast.Name):
        return node.id in known
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.USub | gast.UAdd) and is_number(node.operand, known, facts)
    if isinstance(node, gast.BinOp):
        parts = is_number(node.left, known, facts) and is_number(node.right, known, facts)
        return parts and isinstance(node.op, ARITHMETIC)
    if isinstance(node, gast.Subscript):
        if not isinstance(node.value, gast.Name):
            return False
        return node.value.id in known or _is_element(node, known, facts)
    if isinstance(node, gast.Call) and not node.keywords:
        return is_function(node.func, facts) and all(is_number(part, known, facts) for part in node.args)
    if isinstance(node, gast.IfExp):
        return is_number(node.body, known, facts) and is_number(node.orelse, known, facts)
    return False


def _is_element(node: Node, known: frozenset[str] | set[str], facts: Facts) -> bool:
    """Whether there is a number for each axis of an array of real numbers."""
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    whole = facts.ranks.get(node.value.id, 0) == len(parts)
    return whole and all(is_number(part, known, facts) for part in parts)


def is_function(function: Node, facts: Facts) -> bool:
    """Whether what is called gives a real number for real numbers."""
    if isinstance(function, gast.Name):
        return function.id in ("abs", facts.imports.get("sum_to")) and function.id not in facts.local
    if not isinstance(function, gast.Attribute) or not isinstance(function.value, gast.Name):
        return False
    known = any(is_library(function.value.id, module, facts) for module in (np, math))
    return known and function.attr in FUNCTIONS


def is_library(name: str, module: Any, facts: Facts) -> bool:
    """Whether a name of the text means a module, by an import of ours or of the user's."""
    if name in facts.local:
        return False
    if name == facts.imports.get(_OURS[module.__name__]):
        return True
    found = facts.namespace.lookup(facts.globals_as.get(name, name))
    return found is not None and found.kind == "object" and found.object is module


_OURS = {"numpy": "np", "math": "math"}  # what templates call them
FUNCTIONS = ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "arctan", "atan", "divide", "square")
