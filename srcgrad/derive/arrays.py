"""Arguments that a text reads by place and takes for arrays: a list would have another text, so it is looked at."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import UNKNOWN, Facts
from srcgrad.trees import Block, Node, called, header, inside, name, statement, stores, target, walk, written

_MODES = ("reverse", "value-and-grad", "vjp", "hvp", "elementwise")  # of which texts have adjoints
_GO_ON = ("reversed", "list", "tuple", "zip", "enumerate", "sorted", "iter")  # what gives the items of a list
_BLOCKS = (gast.For, gast.While, gast.If, gast.Try, gast.With, gast.FunctionDef)
_OF_LISTS = frozenset([*dir(list), *dir(tuple), *dir(dict)])
_ORDERS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE)


def check_places(program: Program, facts: Facts) -> Block:
    """`check_arrays(x, w)`: a look at arguments of unknown kind of which items are read, where a list would pass.

    >>> from srcgrad.phases import run
    >>> program, facts = run("def f(x, w):\\n    return x[0] * w", after="gradient")
    >>> [gast.unparse(line) for line in check_places(program, facts)]
    ['check_arrays(x)']
    """
    if facts.mode not in _MODES or facts.module.target == "numba" or facts.module.blocks:
        return []
    places = _Places(facts, {p: p for p in facts.wrt if _is_unknown(p, facts)})
    places.asked.update({p: None for p in places.held if p in facts.taken})
    if places.held:
        places.block(program.forward)
        places.block([*facts.fresh_copies, *program.backward, program.result], backward=True)
    sure = [p for p in facts.wrt if p not in places.arrays and p not in places.named]
    asked = [p for p in sure if p in places.asked]
    facts.taken = dict.fromkeys(asked, "check_method")
    read = [p for p in sure if p in places.read and p not in places.own and p not in places.asked]
    facts.taken |= dict.fromkeys(_made_as_arrays(read, program) if facts.mode == "hvp" else read, "check_arrays")
    if facts.called or facts.module.inline:
        return []
    return [line for helper in ("check_method", "check_arrays") for line in _line(helper, facts)]


def _made_as_arrays(read: list[str], program: Program) -> list[str]:
    """Those of which the text that is differentiated once more has adjoints of arrays: of others it has tuples'."""
    calls = [n for s in program.block for n in inside(s, gast.Call) if isinstance(n.func, gast.Attribute)]
    made = [getattr(n.args[0], "id", "") for n in calls if n.func.attr == "zeros_like"]
    return [p for p in read if p in made]


def _line(helper: str, facts: Facts) -> Block:
    """`check_arrays(x, w)`, if there are such arguments."""
    given = [p for p, how in facts.taken.items() if how == helper]
    if not given:
        return []
    made = statement(f"{facts.library(helper)}()")
    made.value.args = [name(one) for one in given]
    return [made]


def _is_unknown(parameter: str, facts: Facts) -> bool:
    """Whether nothing is known of what an argument is, and a derivative flows through it."""
    known = facts.arguments.get(parameter, UNKNOWN).tag != "unknown" or parameter in facts.containers
    return not known and (parameter in facts.active or facts.mode == "hvp")


@dataclass
class _Places:
    """What the statements of a text tell of its arguments."""

    facts: Facts
    held: dict[str, str]  # name -> the argument that it is, if it is a list
    asked: dict[str, None] = field(default_factory=dict)  # arguments of which a method of arrays is called
    read: dict[str, None] = field(default_factory=dict)  # arguments of which items are read
    named: dict[str, None] = field(default_factory=dict)  # arguments into which the text writes by names: dicts
    own: dict[str, None] = field(default_factory=dict)  # those for which a list has no such attribute, in each call
    arrays: dict[str, None] = field(default_factory=dict)  # those for which what is no array is an error in each call

    def block(self, block: Block, *, always: bool = True, backward: bool = False) -> None:
        """Look at statements in order; `always` says that they run in each call."""
        for node in block:
            parts = header(node) if isinstance(node, _BLOCKS) else [node]
            for part in parts:
                for item in walk(part):
                    self._expression(item, always and not isinstance(node, gast.While))
            self._bound(node, backward=backward)
            for which in ("body", "orelse", "finalbody"):
                inner = getattr(node, which, None) if isinstance(node, _BLOCKS) else None
                if inner:
                    self.block(inner, always=always and isinstance(node, gast.With), backward=backward)

    def _bound(self, node: Node, *, backward: bool) -> None:
        if isinstance(node, gast.For) or (isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple)):
            of = self._list(node.iter if isinstance(node, gast.For) else node.value)
            self.read.update(dict.fromkeys(of))
        if backward:
            return
        bound = target(node)
        of = self._list(node.value) if bound is not None else []
        for one in stores(node):
            if not written(node):
                self.held.pop(one, None)
        if bound is not None and of:
            self.held[bound] = of[0]

    def _list(self, value: Node) -> list[str]:
        """The arguments of which a value is a list, if they are lists."""
        if isinstance(value, gast.Name):
            return [self.held[value.id]] if value.id in self.held else []
        if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice):
            return self._list(value.value)
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add):
            left, right = self._list(value.left), self._list(value.right)
            return [*left, *right] if left and right else []
        if isinstance(value, gast.Call) and called(value) in (*_GO_ON, self.facts.imports.get("owned")):
            return [one for part in value.args for one in self._list(part)]
        return []

    def _expression(self, node: Node, always: bool) -> None:
        if isinstance(node, gast.Subscript) and isinstance(getattr(node.slice, "value", None), str):
            self.named.update(dict.fromkeys(self._list(node.value) if isinstance(node.ctx, gast.Store) else []))
        if isinstance(node, gast.Subscript) and not _has_axes(node.slice):
            self.read.update(dict.fromkeys(self._list(node.value)))
            adjoint = getattr(node.value, "id", "")
            owner = self.facts.adjoint_of.get(adjoint, "")
            if isinstance(node.ctx, gast.Store) and owner in self.held.values():
                self.read[owner] = None
        elif isinstance(node, gast.Call):
            self._call(node)
        if always and isinstance(node, gast.Attribute) and node.attr not in _OF_LISTS:
            self.own.update(dict.fromkeys(self._list(node.value)))
        if always:
            self.arrays.update(dict.fromkeys(self._of_arrays(node)))

    def _call(self, node: Node) -> None:
        """A function of the text that reads an argument by place."""
        inner = self.facts.module.making.get(called(node))
        for parameter, value in zip(_parameters(inner), node.args, strict=False) if inner is not None else ():
            if inner.taken.get(parameter):
                noted = self.asked if inner.taken[parameter] == "check_method" else self.read
                noted.update(dict.fromkeys(self._list(value)))

    def _of_arrays(self, node: Node) -> list[str]:
        """The arguments with which an expression is an error if they are lists."""
        if isinstance(node, gast.Subscript) and _has_axes(node.slice) and not isinstance(node.slice, gast.Slice):
            return self._list(node.value)
        if isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not):
            return self._list(node.operand)
        if isinstance(node, gast.Compare) and isinstance(node.ops[0], _ORDERS):
            return self._beside(node.left, node.comparators[0], gast.Sub())
        return self._beside(node.left, node.right, node.op) if isinstance(node, gast.BinOp) else []

    def _beside(self, left: Node, right: Node, op: Node) -> list[str]:
        of = [*self._list(left), *self._list(right)]
        numbers = [part.value for part in (left, right) if isinstance(part, gast.Constant)]
        if numbers:
            repeats = isinstance(op, gast.Mult) and isinstance(numbers[0], int)
            return [] if repeats else of
        return of if self._list(left) and self._list(right) and not isinstance(op, gast.Add) else []


def _has_axes(index: Node) -> bool:
    """Whether an index is none of a list: a slice, which gives a list again, or one of arrays."""
    if isinstance(index, gast.Slice | gast.Tuple):
        return True
    return isinstance(index, gast.Constant) and (index.value is None or index.value is ...)


def _parameters(facts: Facts) -> list[str]:
    arguments = facts.source.tree.args
    return [one.id for one in [*arguments.posonlyargs, *arguments.args]]
