"""Arguments that a text reads by place and takes for arrays: a list would have another text, so it is looked at."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.argument_kinds import value_attributes
from srcgrad.core.facts import UNKNOWN, Facts
from srcgrad.core.meanings import function_called
from srcgrad.core.rule_forms import FITTED
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    called_name,
    expression,
    find_nodes,
    header,
    statement,
    stores,
    walk,
    written_names,
)
from srcgrad.derive.program import Program
from srcgrad.frontend.resolve import PASSIVE_ATTRIBUTES, binding_of

_MODES = ("reverse", "value-and-grad", "vjp", "hvp", "elementwise")  # of which texts have adjoints
_GO_ON = ("reversed", "list", "tuple", "zip", "enumerate", "sorted", "iter")  # what gives the items of a list
_BLOCKS = (gast.For, gast.While, gast.If, gast.Try, gast.With, gast.FunctionDef)
_OF_LISTS = frozenset([*dir(list), *dir(tuple), *dir(dict)])
_OF_EACH = (np.concatenate, np.hstack, np.vstack, np.dstack, np.column_stack, sum)  # each array gets its own adjoint
_ORDERS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE)


def check_places(program: Program, facts: Facts) -> Block:
    """`check_arrays(x, w)`: a look at arguments of unknown kind of which items are read, where a list would pass.

    >>> from srcgrad.interface.show.explain import run
    >>> program, facts = run("def f(x, w):\\n    return x[0] * w", after="gradient")
    >>> [gast.unparse(line) for line in check_places(program, facts)]
    ['check_arrays(x)']
    """
    if facts.mode not in _MODES or facts.module.target.typed or facts.module.blocks:
        return []
    places = _Places(facts, {p: [p] for p in facts.wrt if _is_unknown(p, facts)}, {p: p for p in _containers(facts)})
    places.asked.update({p: None for p in places.held if p in facts.taken})
    places.asked.update(_of_shape_alone(program, facts))
    if places.held or places.whole:
        places.block(program.forward)
        places.block([*facts.fresh_copies, *program.backward, program.result], backward=True)
    sure = [p for p in [*facts.wrt, *places.parts] if p not in places.arrays and p not in places.named]
    asked = [p for p in sure if p in places.asked]
    facts.taken = dict.fromkeys(asked, "check_method")
    read = [p for p in sure if p in places.read and p not in places.own and p not in places.asked]
    facts.taken |= dict.fromkeys(_made_as_arrays(read, program) if facts.mode == "hvp" else read, "check_arrays")
    known = {**places.arrays, **places.named, **places.own, **facts.taken}
    beside = {**_lists_for_operators(facts), **places.negative}
    facts.if_list |= {p: "another" for p in places.held if p in beside and p not in known}
    facts.taken |= {
        p: "check_arrays"
        for p in [*places.held, *program.parameters]
        if facts.if_list.get(p) == "another" and p not in known
    }
    facts.taken = {p: facts.taken[p] for p in [*program.parameters, *places.parts] if p in facts.taken}
    if facts.called or facts.module.inline:
        return []
    return [line for helper in ("check_method", "check_arrays") for line in _line(helper, facts)]


def _made_as_arrays(read: list[str], program: Program) -> list[str]:
    """Those of which the text that is differentiated once more has adjoints of arrays: of others it has tuples'."""
    calls = [n for s in program.block for n in find_nodes(s, gast.Call) if isinstance(n.func, gast.Attribute)]
    made = [getattr(n.args[0], "id", "") for n in calls if n.func.attr == "zeros_like"]
    return [p for p in read if p in made]


def _lists_for_operators(facts: Facts) -> dict[str, None]:
    """Those that are lists for operators of the function alone: its derivative cannot compute with a list."""
    made = [one for sub, _ in facts.module.inner.values() for one in sub.making.values() if facts.mode == "hvp"]
    return {p: None for one in (facts, *made) for p, what in one.if_list.items() if what == "another"}


def check_real(program: Program, facts: Facts) -> Block:
    """`check_real(z, w)`: a look at arguments that, if they were complex, would have another derivative."""
    if facts.called or facts.module.inline or facts.module.blocks or facts.module.target.kernels:
        return []
    made = [one for sub, _ in facts.module.inner.values() for one in sub.making.values() if facts.mode == "hvp"]
    expected = {p: None for one in (facts, *made) for p in one.expected_real}
    given = [gast.Name(p, gast.Load(), None, None) for p in program.parameters if p in expected]
    if not given:
        return []
    line = statement(f"{facts.library('check_real')}()")
    line.value.args = given
    return [line]


def _line(helper: str, facts: Facts) -> Block:
    """`check_arrays(x, w)`, if there are such arguments."""
    given = [p for p, how in facts.taken.items() if how == helper]
    if not given:
        return []
    made = statement(f"{facts.library(helper)}()")
    made.value.args = [expression(one) for one in given]
    return [made]


def _is_unknown(parameter: str, facts: Facts) -> bool:
    """Whether nothing is known of what an argument is, and a derivative flows through it."""
    known = facts.arguments.get(parameter, UNKNOWN).tag != "unknown" or parameter in facts.containers
    return not known and (parameter in facts.active or facts.mode == "hvp")


def _of_shape_alone(program: Program, facts: Facts) -> dict[str, None]:
    """Arguments that are differentiated, of which the text reads no more than `.size` and the like, beside a value."""
    idle = [p for p in facts.wrt if p not in facts.active and facts.arguments.get(p, UNKNOWN).tag == "unknown"]
    block = [*program.forward, *program.backward] if idle else []
    found = [n for node in block for n in value_attributes(node) if n.attr in PASSIVE_ATTRIBUTES]
    return {n.value.id: None for n in found if getattr(n.value, "id", "") in idle}


def _containers(facts: Facts) -> dict[str, None]:
    """Arguments that are unpacked, or of which items are read by names, and of which nothing else is known."""
    return {p: None for p in facts.wrt if p in facts.containers and p in facts.active and p not in facts.arguments}


@dataclass
class _Places:
    """What the statements of a text tell of its arguments."""

    facts: Facts
    held: dict[str, list[str]]  # name -> the arguments, or parts of these, that it may be, if they are lists
    whole: dict[str, str]  # names of arguments, and of parts, that are containers -> how the text spells these
    parts: dict[str, None] = field(default_factory=dict)  # their parts that each call reads, as the text spells them
    asked: dict[str, None] = field(default_factory=dict)  # arguments of which a method of arrays is called
    read: dict[str, None] = field(default_factory=dict)  # arguments of which items are read
    named: dict[str, None] = field(default_factory=dict)  # arguments into which the text writes by names: dicts
    own: dict[str, None] = field(default_factory=dict)  # those for which a list has no such attribute, in each call
    arrays: dict[str, None] = field(default_factory=dict)  # those for which what is no array is an error in each call
    other: dict[str, None] = field(default_factory=dict)  # names that may be bound to what is none of these arguments
    negative: dict[str, None] = field(default_factory=dict)  # those of which the backward half negates an adjoint

    def block(self, block: Block, *, always: bool = True, backward: bool = False) -> None:
        """Look at statements in order; `always` says that they run in each call."""
        for node in block:
            parts = header(node) if isinstance(node, _BLOCKS) else [node]
            if always and not backward:
                self._parts(node, parts)
            for part in parts:
                for item in walk(part):
                    self._expression(item, always and not isinstance(node, gast.While))
            self._note_binding(node, backward=backward, always=always)
            for which in ("body", "orelse", "finalbody"):
                inner = getattr(node, which, None) if isinstance(node, _BLOCKS) else None
                if inner:
                    self.block(inner, always=always and isinstance(node, gast.With), backward=backward)

    def _parts(self, node: Node, parts: list[Node]) -> None:
        """The parts of containers that a statement reads in each call."""
        for item in [item for part in parts for item in walk(part)]:
            plain = isinstance(item, gast.Subscript) and isinstance(item.slice, gast.Constant)
            if plain and isinstance(item.ctx, gast.Load) and getattr(item.value, "id", "") in self.whole:
                self.parts[self._spell_part(item)] = None
        if isinstance(node, gast.Assign) and getattr(node.value, "id", "") in self.whole:
            parts = [part for _, part in self._pairs(node.targets[0], node.value) if isinstance(part, gast.Subscript)]
            self.parts.update(dict.fromkeys(map(self._spell_part, parts)))

    def _note_binding(self, node: Node, *, backward: bool, always: bool) -> None:
        value = node.value if isinstance(node, gast.Assign) else None
        pairs = [] if value is None else self._pairs(node.targets[0], value)
        if isinstance(node, gast.For) or (not pairs and value is not None and isinstance(node.targets[0], gast.Tuple)):
            of = self._list(node.iter if value is None else value)
            self.read.update(dict.fromkeys(of))
        if backward:
            return
        bound = {one: self._list(part) for one, part in pairs}
        sure = [one for one, part in pairs if always and self._certain_lists(part)]
        errors = [] if value is None else [p for item in walk(value) for p in self._of_arrays(item)]
        for one in [*stores(node), *written_names(node)]:
            if one in sure:
                self.other.pop(one, None)
            elif one not in written_names(node) and not all(p in errors for p in self.held.get(one, [one])):
                self.other[one] = None
            self.whole.pop(one, None)
            if always and not written_names(node):
                self.held.pop(one, None)
        for one, of in bound.items():
            if of and of[0] in self.parts and one in self.facts.containers:
                self.whole |= {one: of[0]} if always else {}
            elif of:
                self.held[one] = list(dict.fromkeys([*self.held.get(one, []), *of]))
                same = one in self.facts.taken and isinstance(dict(pairs)[one], gast.Name)
                self.asked.update(dict.fromkeys(of if same else []))

    def _pairs(self, place: Node, value: Node) -> list[tuple[str, Node]]:
        """Names and what they are bound to: `a, b = b, a`, and `a, b = params` for a container, too."""
        if isinstance(place, gast.Name):
            return [(place.id, value)]
        if not isinstance(place, gast.Tuple) or not all(isinstance(one, gast.Name) for one in place.elts):
            return []
        if isinstance(value, gast.Name) and value.id in self.whole:
            return [(one.id, expression(f"{value.id}[{k}]")) for k, one in enumerate(place.elts)]
        both = isinstance(value, gast.Tuple) and len(place.elts) == len(value.elts)
        return [(one.id, part) for one, part in zip(place.elts, value.elts, strict=True)] if both else []

    def _spell_part(self, part: Node) -> str:
        """`p[1]["k"]` for the part `d["k"]` of `a, d = p`, as the text spells it before all statements."""
        return f"{self.whole[part.value.id]}[{gast.unparse(part.slice)}]"

    def _list(self, value: Node) -> list[str]:
        """The arguments of which a value is a list, if they are lists."""
        if isinstance(value, gast.Name):
            return self.held.get(value.id, [])
        if isinstance(value, gast.Subscript) and getattr(value.value, "id", "") in self.whole:
            return [spelled] if (spelled := self._spell_part(value)) in self.parts else []
        if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice):
            return self._list(value.value)
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add):
            left, right = self._list(value.left), self._list(value.right)
            return [*left, *right] if left and right else []
        if called_name(value) in _GO_ON or function_called(value, self.facts) is runtime.owned:
            return [one for part in value.args for one in self._list(part)]
        return []

    def _certain_lists(self, value: Node) -> list[str]:
        """The arguments of which a value is a list if they are lists, in each call, whatever the others are."""
        of = self._list(value)
        sure = len(dict.fromkeys(of)) == 1  # a list and an array give an array: `x + b`
        return of if sure and not any(getattr(node, "id", "") in self.other for node in walk(value)) else []

    def _expression(self, node: Node, always: bool) -> None:
        named = isinstance(node, gast.Subscript) and isinstance(getattr(node.slice, "value", None), str)
        if named:
            own = [one for one in self._list(node.value) if isinstance(node.ctx, gast.Store) or one in self.parts]
            self.named.update(dict.fromkeys(own))
        if isinstance(node, gast.Subscript) and not _has_axes(node.slice):
            self.read.update(dict.fromkeys(self._list(node.value)))
            adjoint = getattr(node.value, "id", "")
            owner = self.facts.adjoint_of.get(adjoint, "")
            if isinstance(node.ctx, gast.Store) and owner in [p for of in self.held.values() for p in of]:
                self.read[owner] = None
        elif isinstance(node, gast.Call):
            self._call(node)
        if isinstance(node, gast.UnaryOp) and function_called(node.operand, self.facts) in FITTED:
            of = self._list(node.operand.args[1])
            self.negative.update({p: None for p in of if self.facts.if_list.get(p) != "error"})
        if always and isinstance(node, gast.Attribute) and node.attr not in _OF_LISTS:
            self.own.update(dict.fromkeys(self._certain_lists(node.value)))
        if always and node not in self.facts.foreign:
            self.arrays.update(dict.fromkeys(self._of_arrays(node)))

    def _call(self, node: Node) -> None:
        """A function of the text that reads an argument by place, or one of NumPy that makes an array of it."""
        found = binding_of(node.func, self.facts, self.facts.local)
        rule = None if found is None or found.kind != "object" else rule_of(found.object)
        ours = rule is not None and str(getattr(rule.op, "__module__", "")).startswith("srcgrad.")
        if rule is not None and rule.kind != "constant" and rule.own is None and not ours:
            several = rule.op in _OF_EACH
            given = [*node.args[several:], *(word.value for word in node.keywords)]
            given += node.args[:1] if several and isinstance(node.args[0], gast.List | gast.Tuple) else []
            given += [item for one in given if isinstance(one, gast.List | gast.Tuple) for item in one.elts]
            self.read.update(dict.fromkeys(one for part in given for one in self._list(part)))
        inner = self.facts.module.making.get(called_name(node))
        for parameter, value in zip(_parameters(inner), node.args, strict=False) if inner is not None else ():
            if inner.taken.get(parameter):
                noted = self.asked if inner.taken[parameter] == "check_method" else self.read
                noted.update(dict.fromkeys(self._list(value)))

    def _of_arrays(self, node: Node) -> list[str]:
        """The arguments with which an expression is an error if they are lists."""
        if isinstance(node, gast.Subscript) and _has_axes(node.slice) and not isinstance(node.slice, gast.Slice):
            return self._certain_lists(node.value)
        if isinstance(node, gast.Call):
            found = binding_of(node.func, self.facts, self.facts.local)
            of_numbers = found is not None and getattr(found.object, "__module__", "") == "math"
            return [one for part in node.args for one in self._certain_lists(part)] if of_numbers else []
        if isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not):
            return self._certain_lists(node.operand)
        if isinstance(node, gast.Compare) and isinstance(node.ops[0], _ORDERS):
            return self._lists_of_operands(node.left, node.comparators[0], gast.Sub())
        return self._lists_of_operands(node.left, node.right, node.op) if isinstance(node, gast.BinOp) else []

    def _lists_of_operands(self, left: Node, right: Node, op: Node) -> list[str]:
        of = [*self._certain_lists(left), *self._certain_lists(right)]
        numbers = [part.value for part in (left, right) if isinstance(part, gast.Constant)]
        if numbers:
            repeats = isinstance(op, gast.Mult) and isinstance(numbers[0], int)
            return [] if repeats else of
        same = self._certain_lists(left) and dict.fromkeys(of) == dict.fromkeys(self._certain_lists(left))
        return of[:1] if same and self._certain_lists(right) and not isinstance(op, gast.Add) else []


def _has_axes(index: Node) -> bool:
    """Whether an index is none of a list: a slice, which gives a list again, or one of arrays."""
    if isinstance(index, gast.Slice | gast.Tuple):
        return True
    return isinstance(index, gast.Constant) and (index.value is None or index.value is ...)


def _parameters(facts: Facts) -> list[str]:
    arguments = facts.source.tree.args
    return [one.id for one in [*arguments.posonlyargs, *arguments.args]]
