"""Arguments that may be lists: what operators make of a list in the derivative alone, which then has another text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import gast

from srcgrad import runtime
from srcgrad.core.facts import UNKNOWN, Facts
from srcgrad.core.meanings import function_called
from srcgrad.core.rule_forms import FITTED
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import Block, Node, called_name, header, walk
from srcgrad.derive.program import Program
from srcgrad.frontend.resolve import binding_of

Tree = TypeVar("Tree")
_LISTS = ("list", "maybe")
_ARRAYS = ("array", "both")
_LIKE = ("zeros_like", "ones_like", "full_like", "empty_like", "broadcast_to", "multiply", "asarray", "array")


def operands(program: Tree, facts: Facts) -> Tree:
    """Note what a list would be, by argument: an `error` of the function, or of `another` text.

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> explain_facts("def f(x, p, q):\\n    return np.sum(x * p) + x + q**2", after="operands").if_list
    {'x': 'another', 'p': 'another', 'q': 'error'}
    """
    if isinstance(program, Program) and not facts.module.target.typed:
        for one in [p for p in program.parameters if p not in facts.seeds]:
            if facts.arguments.get(one, UNKNOWN).tag == "unknown" and one not in facts.containers:
                looked = _ListLook(facts, {one: "list"})
                if found := looked.at(program):
                    facts.if_list[one] = found
    return program


@dataclass
class _ListLook:
    """What names hold if an argument is a list: `list`, `maybe` a list, `array`, `both` in turn, or other."""

    facts: Facts
    kinds: dict[str, str]
    backward: bool = False  # whether it looks at what the derivative adds, which may fail where the function does not
    found: str = ""

    def at(self, program: Program) -> str:
        """What a list is for a program in two halves."""
        self.block(program.forward)
        self.backward = True
        self.block([] if self.found else program.backward)
        return self.found

    def block(self, block: Block, always: bool = True) -> None:
        """Look at statements in order; `always` says that they run in each call."""
        for node in block:
            if _binds(node):
                self._bind(node.targets[0].id, self.kind(node.value, always), always)
            else:
                for part in header(node):
                    self.kind(part, always)
            if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Subscript):
                self._bind(f"{gast.unparse(node.targets[0].value)}[]", self.kind(node.value, always), False)
            for inner in [getattr(node, "body", None), getattr(node, "orelse", None)]:
                if isinstance(inner, list):
                    for _ in range(1 + isinstance(node, gast.For | gast.While)):  # what a trip hands on to the next
                        self.block(inner, always and not isinstance(node, gast.If))

    def _bind(self, name: str, kind: str, always: bool) -> None:
        before = self.kinds.get(name, "")
        if not always and kind != before:
            made = [one for one in (kind, before) if one in _ARRAYS]
            both = len(made) == 1 and (kind in _LISTS or before in _LISTS)
            kind = "both" if both or "both" in made else "array" if made else "maybe" if kind or before else ""
        self.kinds[name] = kind

    def kind(self, node: Node, always: bool) -> str:
        """What an expression is; an operator that cannot take a list is noted."""
        if isinstance(node, gast.Name):
            return self.kinds.get(node.id, "")
        kinds = [self.kind(child, always) for child in gast.iter_child_nodes(node)]
        if isinstance(node, gast.BinOp):
            return self._operator(node.op, [node.left, node.right], [kinds[0], kinds[2]], always)
        if isinstance(node, gast.Compare) and not isinstance(node.ops[0], gast.Is | gast.IsNot | gast.In | gast.NotIn):
            return self._operator(node.ops[0], [node.left, node.comparators[0]], [kinds[0], kinds[-1]], always)
        if isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not):
            return self._error(kinds[1:], always) if kinds[1] in _LISTS else kinds[1]
        if isinstance(node, gast.Subscript):
            part = kinds[0] if any(isinstance(one, gast.Slice) for one in walk(node.slice)) else ""
            return part or self.kinds.get(f"{gast.unparse(node.value)}[]", "")
        return self._call(node, kinds[1:]) if isinstance(node, gast.Call) else ""

    def _operator(self, op: Node, operands: list[Node], kinds: list[str], always: bool) -> str:
        if any(kind in _ARRAYS for kind in kinds) or not any(kinds):
            return "array" if any(kinds) else ""
        if all(kinds):
            return "list" if isinstance(op, gast.Add) and not self.backward else self._error(kinds, always)
        [beside] = [part for part, kind in zip(operands, kinds, strict=True) if not kind]
        if self.backward or isinstance(beside, gast.Constant):
            if isinstance(op, gast.Mult) and isinstance(getattr(beside, "value", None), int):
                return "list"  # it is repeated
            return self._error(kinds, always) if not isinstance(op, gast.Eq | gast.NotEq) or self.backward else ""
        return "array" if not isinstance(beside, gast.List | gast.Tuple) else "maybe"

    def _error(self, kinds: list[str], always: bool) -> str:
        if self.backward:
            self.found = self.found or "another"
        elif always and "maybe" not in kinds:
            self.found = "error"
        return "array"

    def _call(self, node: Node, kinds: list[str]) -> str:
        """What a call gives: a function of numbers, applied to each item, an array."""
        function = function_called(node, self.facts)
        if function in FITTED:
            return kinds[1]
        if function is runtime.check_seed and kinds[1] in _ARRAYS:
            self.found = "error"  # a gradient is that of a number
        items = f"{getattr(getattr(node.func, 'value', None), 'id', '')}[]"
        if getattr(node.func, "attr", "") == "append" and kinds:
            self._bind(items, kinds[0], False)
        if called_name(node) == "sum" and node.args:
            items = f"{gast.unparse(node.args[0])}[]"
        if called_name(node) == "sum" or getattr(node.func, "attr", "") == "pop":
            return self.kinds.get(items, "")
        found = binding_of(node.func, self.facts, self.facts.local)
        if found is None or found.kind != "object":
            return ""
        rule = rule_of(found.object)
        each = (rule is not None and rule.kind == "elementwise") or getattr(found.object, "__name__", "") in _LIKE
        return "array" if each and any(kinds) else ""


def _binds(node: Node) -> bool:
    return isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Name)
