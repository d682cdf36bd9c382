"""Common subexpressions, and values computed again rather than kept (rematerialisation).

What the function has computed is read, and not computed again for a derivative: `np.cos(x)` beside `np.sin(x)`. A
pullback computes afresh what is cheap and comes of what it keeps anyway, and of values that are computed afresh.

    e = np.exp(-x)                              e = np.exp(-x)
    y = 1.0 / (2.0 + e)                         y = 1.0 / (2.0 + e)

    def back(y_bar):                     =>     def back(y_bar):
        return y_bar * y * y * e                    y = 1.0 / (2.0 + e)
                                                    return y_bar * y * y * e
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field

import gast
import numpy as np

from srcgrad.core.facts import Facts, copy_with_facts, function_called
from srcgrad.core.identity import key_of, record
from srcgrad.core.rules import FITTED, is_users, rule_of
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    assign,
    at,
    find_nodes,
    header,
    loads,
    name,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import bindings, count, replace
from srcgrad.derive.program import Program
from srcgrad.frontend.desugar.assignments import is_inside
from srcgrad.optimise.tape import changes, is_final

_WORK = 3  # operations at most: what takes more is worth its memory
_PLAIN = (gast.BinOp, gast.UnaryOp, gast.Name, gast.Constant)
_CHEAP = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.USub)


def rematerialisation(program: Program, facts: Facts) -> Program:
    """Do the same arithmetic on the same values again in pullbacks that others call: a loop keeps one for each trip."""
    if facts.request.mode != "vjp" or not facts.request.called or not is_final(facts):
        return program
    uses, read = count(program.block), count(program.backward).read
    changed = {one for node in statements(program.block) for one in written_names(node)}
    fixed = {one for one in read if uses.bound.get(one, 0) + (one in program.parameters) < 2}
    kept = {one for one in fixed if one not in changed and one not in facts.memory.views and not changes(one, facts)}
    returned, again = _handed_out(program.result.value.elts[0]), dict[str, Node]()
    for node in list(program.forward):
        bound = target(node)
        if bound is not None and bound in kept and bound not in returned and _is_cheap(node, kept, facts):
            place = next(k for k, other in enumerate(program.backward) if _reads(other, bound))
            reader, made = program.backward[place], assign(bound, copy_with_facts(node.value, facts))
            again[bound] = made if isinstance(reader, COMPOUND) else at(made, reader)
            program.backward.insert(place, again[bound])
            _precede(program.backward, place, again)
    return program


def _precede(block: Block, place: int, again: dict[str, Node]) -> None:
    """Let what a statement reads be computed afresh before it."""
    node = block[place]
    for late in [again[one] for one in dict.fromkeys(loads(node)) if one in again and again[one] in block[place:]]:
        block.remove(late)
        block.insert(block.index(node), at(late, node))
        _precede(block, block.index(late), again)


def _handed_out(value: Node) -> set[str]:
    """The names whose values the caller gets, and keeps as long as it likes; what they are computed from is not."""
    if isinstance(value, gast.Tuple | gast.List | gast.Dict):
        items = value.values if isinstance(value, gast.Dict) else value.elts
        return set[str]().union(*(_handed_out(item) for item in items))
    return set() if isinstance(value, gast.BinOp | gast.UnaryOp) else set(loads(value))


def _is_cheap(node: Node, kept: set[str], facts: Facts) -> bool:
    """Whether a name is bound to some arithmetic on arrays that are kept and on constants."""
    spec = facts.values.value_spec.get(str(target(node)))
    if node in facts.tape.pushes or spec is None or spec.scalar:
        return False
    if any(is_inside(node, one) for one in facts.origin.contexts):
        return False  # `np.errstate` is meant for that line, and not for a second one
    parts = list(walk(node.value))
    work = [part.op for part in parts if isinstance(part, gast.BinOp | gast.UnaryOp)]
    if not all(isinstance(part, _PLAIN) for part in parts) or not all(isinstance(op, _CHEAP) for op in work):
        return False
    return 0 < len(work) <= _WORK and all(one in kept for one in loads(node))


def _reads(node: Node, bound: str) -> bool:
    return any(bound in loads(each) for each in statements([node]))


_Key = tuple[object, ...]
_WITHOUT_RULES = (np.shape, np.broadcast_to)  # of NumPy: without a derivative, or with one of our own


def common_subexpressions(program: Program, facts: Facts) -> Program:
    """Read the first of several equal values, in statements that are ours; those of the user stay as they are.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    c = np.cos(x)\\n    return np.sin(x) * c"
    >>> [s for s in explain_text(text, after="common_subexpressions", mode="forward").splitlines() if "t2_dot =" in s]
    ['t2_dot = x_dot * c']
    """
    own = {node: None for node in statements(program.forward) if node in facts.tape.tangents}
    own.update(dict.fromkeys(statements(program.backward)))
    bound = bindings(program.block)
    fixed = {one for one, times in bound.items() if times == 1} - set(program.parameters)
    reader = _Reader(facts, own, fixed, {one for one in program.parameters if one not in bound})
    seen: dict[_Key, str] = {}
    reader.block(program.forward, seen)
    reader.block(program.backward, seen)
    reader.read_block(program.forward)
    facts.activity.left_over |= reader.changed
    return program


@record
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
        for table in (
            facts.memory.mutable,
            facts.memory.viewed,
            facts.memory.swapped,
            facts.kinds.containers,
            facts.memory.elements,
            facts.kinds.lists,
        ):
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
            if node in self.own and not self.facts.calls_hooks(node) and node not in self.facts.tape.restores:
                self._read(node, seen)
            if target(node) in self.fixed:
                self._note(node, seen)
            bound = stores(node)
            self.bound.update(bound)
            for one in bound:
                self.times[one] += 1

    def read_block(self, block: Block) -> None:
        """A statement of the user of which a part has a name, since ours read it, reads names for equal parts."""
        named = {read for node in self.own for read in loads(node)}
        made = {target(node): node for node in statements(block) if not isinstance(_value(node), gast.Subscript)}
        user = {one: self.facts.origin.user.get(node) for one, node in made.items()}
        pairs = [(one, first) for one, first in self.alike.items() if first in named and one in made and first in made]
        parted = {user[one] for one in made if one in named and one in self.facts.names.temporaries}
        renamed = {one: first for one, first in pairs if user[one] is user[first] or user[one] in parted}
        self.changed = self.changed or bool(renamed)
        for node in statements(block) if renamed else ():
            for item in [item for part in header(node) for item in find_nodes(part, gast.Name)]:
                if isinstance(item.ctx, gast.Load):
                    item.id = renamed.get(item.id, item.id)

    def _note(self, node: Node, seen: dict[_Key, str]) -> None:
        """Keep the value of a statement by what it is computed from."""
        made = str(target(node))
        if node in self.facts.tape.pushes or node in self.facts.tape.zeros:
            return
        if isinstance(node.value, gast.UnaryOp) and isinstance(node.value.op, gast.USub) and node not in self.own:
            negated = getattr(node.value.operand, "id", "")
            if (
                negated in self.fixed & self.bound
                and self.named.get(made) == 1
                and made in self.facts.names.temporaries
            ):
                self.negatives[made] = negated
        key = self._key(node.value)
        if key is None or isinstance(node.value, gast.Constant):
            return
        if isinstance(node.value, gast.Name):
            fixed = key[0] in self.fixed and key[1] == self.times[str(key[0])]  # a loop may have gone on since
            if (
                fixed
                and node in self.facts.tape.tangents
                and self.facts.names.adjoint_of.get(made) in self.facts.names.temporaries
            ):
                self.alike[made] = str(key[0])
            elif node in self.own and node not in self.facts.tape.restores:
                self.second[made] = key
            return
        first = seen.setdefault(key, made)
        if first != made and made in self.facts.names.temporaries:
            self.alike[made] = first

    def _read(self, node: Node, seen: dict[_Key, str]) -> None:
        """Let a statement read what is there."""
        value = _value(node)
        if value is None:
            return
        for item in find_nodes(value, gast.Name):
            if item.id in self.alike:
                item.id, self.changed = self.alike[item.id], True
            if item.id in self.negatives and item is not value:
                replace(node, item, gast.UnaryOp(gast.USub(), name(self.negatives[item.id])))
                self.changed = True
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
            return (
                self.facts.names.adjoint_of.get(made, made) in self.facts.names.temporaries
                and made not in self.facts.memory.elements
            )
        there = first not in self.facts.names.temporaries or first in self.named
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
                parts.append(key_of(function_called(node, self.facts)))  # a method is a new object each time
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
        function = function_called(call, self.facts)
        if function in FITTED or function in _WITHOUT_RULES:
            return True
        rule = rule_of(function) if isinstance(call.func, gast.Attribute) else None
        return rule is not None and rule.kind != "constant" and not is_users(rule)


def _value(node: Node) -> Node | None:
    return getattr(node, "value", None)


_KNOWN = {gast.BinOp, gast.UnaryOp, gast.Call, gast.Subscript, gast.Slice, gast.Tuple, gast.keyword}
_CONTEXTS = {gast.Load, gast.Store, gast.Del}
