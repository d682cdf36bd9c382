"""What the function has computed is read, and not computed again for a derivative: `np.cos(x)` beside `np.sin(x)`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.dead import dead
from srcgrad.improve.inline import bindings, replace
from srcgrad.rules import rule_of
from srcgrad.trees import COMPOUND, Block, Node, header, loads, name, statements, stores, target, walk

_Key = tuple[object, ...]
_PLAIN = ("shape", "broadcast_to")  # of NumPy: without a derivative, or with one of our own


def common(program: Program, facts: Facts) -> Program:
    """Read the first of several equal values, in statements that are ours; those of the user stay as they are.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n    c = np.cos(x)\\n    return np.sin(x) * c"
    >>> [line for line in explain_text(text, after="common", mode="forward").splitlines() if "t2_dot =" in line]
    ['t2_dot = x_dot * c']
    """
    own = {node: None for node in statements(program.forward) if node in facts.tangents}
    own.update(dict.fromkeys(statements(program.backward)))
    bound = bindings(program.block)
    fixed = {one for one, times in bound.items() if times == 1} - set(program.parameters)
    reader = _Reader(facts, own, fixed, {one for one in program.parameters if one not in bound})
    seen: dict[_Key, str] = {}
    reader.block(program.forward, seen)
    reader.block(program.backward, seen)
    reader.within(program.forward)
    return dead(program, facts) if reader.changed else program


@dataclass
class _Reader:
    """What is known on the way through a text."""

    facts: Facts
    own: dict[Node, None]  # statements that are ours
    fixed: set[str]  # names bound once
    bound: set[str]  # those bound already, and arguments
    alike: dict[str, str] = field(default_factory=dict)  # temporary -> the first name of its value
    negatives: dict[str, str] = field(default_factory=dict)  # temporary -> what it is the negative of
    keys: dict[Node, _Key | None] = field(default_factory=dict)  # of the parts of a statement, as long as it stays so
    times: Counter[str] = field(default_factory=Counter)  # how often a name has been bound on the way
    second: dict[str, _Key] = field(default_factory=dict)  # second names of adjoints -> what they are
    changing: set[str] = field(default_factory=set)  # arrays of which parts change, containers
    changed: bool = False

    def __post_init__(self) -> None:
        facts = self.facts
        self.fixed |= self.bound
        for table in (facts.mutable, facts.viewed, facts.swapped, facts.containers, facts.elements, facts.lists):
            self.changing |= table.keys()
        self.fixed -= self.changing
        self.named = Counter(read for node in self.own for read in loads(node))

    def block(self, block: Block, seen: dict[_Key, str]) -> None:
        """Go through a block; what is computed in one of its loops or branches is seen in there alone."""
        for node in block:
            if isinstance(node, COMPOUND):
                inside = [one for inner in statements([node]) for one in stores(inner)]
                self.bound.update(stores(node))
                self.times.update(inside)
                self.block(node.body, dict(seen))
                self.times.update(inside)
                self.block(getattr(node, "orelse", None) or [], dict(seen))
                self.times.update(inside)
                continue
            self.keys.clear()
            if node in self.own and not self.facts.hooked(node) and node not in self.facts.restores:
                self._read(node, seen)
            if target(node) in self.fixed:
                self._note(node, seen)
            bound = stores(node)
            self.bound.update(bound)
            for one in bound:
                self.times[one] += 1

    def within(self, block: Block) -> None:
        """A statement of the user of which a part has a name, since ours read it, reads names for equal parts."""
        named = {read for node in self.own for read in loads(node)}
        made = {target(node): node for node in statements(block) if not isinstance(_value(node), gast.Subscript)}
        user = {one: self.facts.origin.get(node) for one, node in made.items()}
        pairs = [(one, first) for one, first in self.alike.items() if first in named and one in made and first in made]
        parted = {user[one] for one in made if one in named and one in self.facts.temporaries}
        renamed = {one: first for one, first in pairs if user[one] is user[first] or user[one] in parted}
        self.changed = self.changed or bool(renamed)
        for node in statements(block) if renamed else ():
            for item in [item for part in header(node) for item in walk(part) if isinstance(item, gast.Name)]:
                if isinstance(item.ctx, gast.Load):
                    item.id = renamed.get(item.id, item.id)

    def _note(self, node: Node, seen: dict[_Key, str]) -> None:
        """Keep the value of a statement by what it is computed from."""
        made = str(target(node))
        if node in self.facts.pushes or node in self.facts.zeros:
            return
        if isinstance(node.value, gast.UnaryOp) and isinstance(node.value.op, gast.USub) and node not in self.own:
            negated = getattr(node.value.operand, "id", "")
            if negated in self.fixed & self.bound and self.named.get(made) == 1 and made in self.facts.temporaries:
                self.negatives[made] = negated
        key = self._key(node.value)
        if key is None or isinstance(node.value, gast.Constant):
            return
        if isinstance(node.value, gast.Name):
            fixed = key[0] in self.fixed and key[1] == self.times[str(key[0])]  # a loop may have gone on since
            if fixed and node in self.facts.tangents and self.facts.adjoint_of.get(made) in self.facts.temporaries:
                self.alike[made] = str(key[0])
            elif node in self.own and node not in self.facts.restores:
                self.second[made] = key
            return
        first = seen.setdefault(key, made)
        if first != made and made in self.facts.temporaries:
            self.alike[made] = first

    def _read(self, node: Node, seen: dict[_Key, str]) -> None:
        """Let a statement read what is there."""
        value = _value(node)
        if value is None:
            return
        for item in [item for item in walk(value) if isinstance(item, gast.Name)]:
            if item.id in self.alike:
                item.id, self.changed = self.alike[item.id], True
            if item.id in self.negatives and item is not value:
                replace(node, item, gast.UnaryOp(gast.USub(), name(self.negatives[item.id])))
        gone: set[int] = set()
        for part in walk(value):
            if id(part) in gone or not isinstance(part, gast.BinOp | gast.Call):
                continue
            first = seen.get(self._key(part) or ())
            if first is not None and self._is_worth_it(part, first, node):
                gone.update(map(id, walk(part)))
                self.changed = True
                replace(node, part, name(first))
                self.keys.clear()

    def _is_worth_it(self, part: Node, first: str, node: Node) -> bool:
        """Whether a name should be read: it is there anyway, or saves more than an operator."""
        if part is node.value:
            made = str(target(node))
            return self.facts.adjoint_of.get(made, made) in self.facts.temporaries and made not in self.facts.elements
        there = first not in self.facts.temporaries or first in self.named
        return there or isinstance(part, gast.Call)

    def _key(self, node: Node) -> _Key | None:
        """What tells one expression from others with another value; None where that can not be told."""
        kind = type(node)
        if kind is gast.Name:
            held = self.alike.get(node.id, node.id)
            if held in self.second:
                return self.second[held]
            return (held, self.times[held]) if held in self.bound and held not in self.changing else None
        if kind is gast.Constant:
            return (type(node.value), repr(node.value))
        if node not in self.keys:
            self.keys[node] = self._key_of(node, kind)
        return self.keys[node]

    def _key_of(self, node: Node, kind: type) -> _Key | None:
        """The key of an expression with parts."""
        if kind not in _KNOWN or (kind is gast.Call and not self._is_pure(node)):
            return None
        table = node.__dict__
        parts: list[object] = [kind, table.get("attr"), table.get("arg")]
        for one in node._fields:
            below = table.get(one)
            if one == "func":
                parts.append((getattr(below, "attr", None), getattr(below, "id", None)))
                continue
            for child in below if type(below) is list else [below]:
                if child is None or type(child) in _CONTEXTS:
                    parts.append(None)
                elif isinstance(child, gast.AST):
                    key = self._key(child) if child._fields else (type(child),)  # an operator
                    if key is None:
                        return None
                    parts.append(key)
        return tuple(parts)

    def _is_pure(self, call: Node) -> bool:
        """Whether a call is of an operation of the table, or of a helper that sums."""
        function, imports = call.func, self.facts.imports
        if isinstance(function, gast.Name):
            return function.id in (imports.get("sum_to"), imports.get("fit_to"))
        if not isinstance(function, gast.Attribute) or getattr(function.value, "id", "") != imports.get("np", "np"):
            return False
        rule = rule_of(getattr(np, function.attr, None))
        return function.attr in _PLAIN or (rule is not None and rule.kind != "constant")


def _value(node: Node) -> Node | None:
    return getattr(node, "value", None)


_KNOWN = {gast.BinOp, gast.UnaryOp, gast.Call, gast.Subscript, gast.Slice, gast.Tuple, gast.keyword}
_CONTEXTS = {gast.Load, gast.Store, gast.Del}
