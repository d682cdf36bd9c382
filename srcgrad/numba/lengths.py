"""Lengths of the axes of arrays of float64, from the whole text: which names hold arrays of equal shapes."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.derive.stacks import is_pop, is_push
from srcgrad.facts import Facts
from srcgrad.numba.numbers import is_number, numbers
from srcgrad.trees import Node, constant, name, statements, walk

Length = tuple[str, int]  # an axis of an argument, and what is cut off: max(length - cut, 0)
Shape = tuple[Length, ...]
ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div)
LIKE = ("zeros_like", "ones_like", "empty_like", "copy")
FRESH = (*LIKE, "sum", "zeros", "ones", "empty")


class Lengths:
    """The shapes of names, where every value that a name is bound to has the same; numbers have the shape ()."""

    def __init__(self, program: Program, facts: Facts) -> None:
        self.facts = facts
        self.numbers = numbers(program, facts)
        self.bindings = bindings(program)
        self.known: dict[str, Shape | None] = {}
        own = {p: _of_argument(p, facts) for p in program.parameters}
        known = {parameter: shape for parameter, shape in own.items() if parameter not in self.bindings}
        while True:
            self.known = dict(known)
            for bound in {**own, **self.bindings}:
                found = [own[bound]] if bound in own else []
                found += [self.of(value) if value is not None else None for value in self.bindings.get(bound, [])]
                there = [shape for shape in found if shape != OPEN]
                if there:
                    known[bound] = there[0] if all(shape == there[0] for shape in there) else None
            if known == self.known:
                break
        self.known = {**dict.fromkeys(self.bindings), **known}

    def of(self, node: Node) -> Shape | None:
        """The shape of an expression; None where it is not known, or where it is not of float64."""
        if isinstance(node, gast.Name):
            return (
                () if node.id in self.numbers else self.known.get(node.id, OPEN if node.id in self.bindings else None)
            )
        if isinstance(node, gast.UnaryOp):
            return self.of(node.operand) if isinstance(node.op, gast.USub | gast.UAdd) else None
        if isinstance(node, gast.BinOp):
            return self._joined(node)
        if isinstance(node, gast.Subscript):
            whole = self.of(node.value)
            return whole if whole is None or whole == OPEN else self._part(node, whole)
        if isinstance(node, gast.Call):
            return self._call(node)
        return () if is_number(node, self.numbers, self.facts) else None

    def _joined(self, node: Node) -> Shape | None:
        one, two = self.of(node.left), self.of(node.right)
        square = isinstance(node.op, gast.Pow) and isinstance(node.right, gast.Constant) and node.right.value == 2
        if one is None or two is None or not (isinstance(node.op, ARITHMETIC) or square):
            return None
        if OPEN in (one, two):
            return OPEN
        if one == two or not two:
            return one
        return two if not one else None

    def _part(self, node: Node, whole: Shape) -> Shape | None:
        parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        if len(parts) > len(whole):
            return None
        left: list[Length] = []
        for (base, cut), part in zip(whole, parts, strict=False):
            if isinstance(part, gast.Slice):
                ends = bounds(part)
                if ends is None:
                    return None
                left.append((base, cut + sum(ends)))
            elif not is_number(part, self.numbers, self.facts):
                return None
        return (*left, *whole[len(parts) :])

    def _call(self, node: Node) -> Shape | None:
        called = node.func.attr if isinstance(node.func, gast.Attribute) else getattr(node.func, "id", "")
        library = isinstance(node.func, gast.Name) or getattr(node.func.value, "id", "") == self.facts.imports.get("np")
        if called == "copy" and not library and not node.args:
            return self.of(node.func.value)
        if library and called in LIKE and len(node.args) == 1 and not node.keywords:
            return self.of(node.args[0])
        if library and called == "sum" and len(node.args) == 1 and not node.keywords:
            inner = self.of(node.args[0])
            return inner if inner is None or inner == OPEN else ()
        if isinstance(node.func, gast.Name) and called in (self._spelled("owned"), self._spelled("sum_to")):
            return self.of(node.args[0 if called == self._spelled("owned") else 1])
        return () if is_number(node, self.numbers, self.facts) else None

    def _spelled(self, helper: str) -> str:
        return self.facts.imports.get(helper, helper)


OPEN: Shape = (("?", 0),)  # of a name none of whose values has been seen


def _of_argument(parameter: str, facts: Facts) -> Shape | None:
    kind = facts.arguments.get(parameter)
    if kind is None or kind.tag != "array" or kind.dtype != "double" or kind.ndim is None:
        return () if kind is not None and kind.tag == "scalar" and not kind.complex else None
    return tuple((f"{parameter} {axis}", 0) for axis in range(kind.ndim))


def bounds(part: Node) -> tuple[int, int] | None:
    """How many items a slice leaves out at both ends; None where that depends on the length.

    >>> bounds(gast.parse("a[1:-2]").body[0].value.slice), bounds(gast.parse("a[:5]").body[0].value.slice)
    ((1, 2), None)
    """
    first, last = _whole(part.lower), _whole(part.upper)
    if part.step is not None or first is None or last is None or first < 0 or last > 0:
        return None
    return None if part.upper is not None and last == 0 else (first, -last)


def _whole(node: Node) -> int | None:
    if node is None:
        return 0
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = _whole(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, gast.Constant) and type(node.value) is int else None


def bindings(program: Program) -> dict[str, list[Node]]:
    """What each name is bound to: an expression, or None for what has none of its own."""
    found: dict[str, list[Node]] = {}
    nodes = list(statements([*program.forward, *program.backward]))
    pushed: dict[str, list[Node]] = {}
    for node in nodes:
        if is_push(node):
            pushed.setdefault(str(node.value.func.value.id), []).extend(node.value.args)
    for node in nodes:
        single = isinstance(node, gast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Name)
        if single and is_pop(node.value):
            found.setdefault(node.targets[0].id, []).extend(pushed.get(str(node.value.func.value.id), [None]))
        elif single:
            found.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            whole = gast.BinOp(name(node.target.id), node.op, node.value)
            found.setdefault(node.target.id, []).append(whole)
        else:
            targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
            for item in (item for one in targets if one is not None for item in walk(one)):
                if isinstance(item, gast.Name) and isinstance(item.ctx, gast.Store):
                    counted = isinstance(node, gast.For) and isinstance(node.target, gast.Name) and _counts(node.iter)
                    found.setdefault(item.id, []).append(constant(0) if counted else None)
    return found


def _counts(node: Node) -> bool:
    inner = node.args[0] if isinstance(node, gast.Call) and getattr(node.func, "id", "") == "reversed" else node
    return isinstance(inner, gast.Call) and getattr(inner.func, "id", "") == "range"


def aliases(program: Program) -> dict[str, frozenset[str]]:
    """The names that may show elements of one array with a name, itself among them."""
    above: dict[str, str] = {}

    def top(one: str) -> str:
        while above.get(one, one) != one:
            one = above[one]
        return one

    every = bindings(program)
    for bound, values in every.items():
        for value in values:
            shown = [] if value is None or is_fresh(value) else [n.id for n in walk(value) if isinstance(n, gast.Name)]
            for other in shown:
                above[top(other)] = top(bound)
    known = [*program.parameters, *every]
    return {one: frozenset(other for other in known if top(other) == top(one)) for one in known}


def is_fresh(value: Node) -> bool:
    """Whether an expression makes a new array."""
    if isinstance(value, gast.BinOp | gast.UnaryOp | gast.Constant):
        return True
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in FRESH
