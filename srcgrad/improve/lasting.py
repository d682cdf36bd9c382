"""What a loop keeps for its shape alone need not be kept where no trip changes that: the last trip's value has it."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.analyse.active import differentiable
from srcgrad.derive.program import Program, rebuilt
from srcgrad.facts import UNKNOWN, Facts
from srcgrad.improve.dead import dead
from srcgrad.improve.outlines import wanted
from srcgrad.indices import is_basic
from srcgrad.trees import Node, children, is_write, loads, statements, stores, target, written

# Beside operations that work element by element: the shape of their result follows from shapes alone.
_SHAPED = (
    "diff",
    "sum",
    "mean",
    "cumsum",
    "transpose",
    "roll",
    "dot",
    "matmul",
    "outer",
    "flip",
    "stack",
    "concatenate",
)


def lasting(program: Program, facts: Facts) -> Program:
    """Leave a value that the backward half reads for its shape alone where the last trip of the forward half left it.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(c, n):\\n  a = np.ones(4)\\n  for k in range(n):\\n    a[1:] += 2 * np.diff(a)\\n    a[0] += c\\n"
    >>> texts = [explain_text(text + "  return np.sum(a)", after, wrt=("c",)) for after in ("standins", "lasting")]
    >>> ["t2_stack.append(t2)" in one for one in texts]
    [True, False]
    """
    restores = {n: str(target(n)) for n in statements(program.backward) if n in facts.restores and not is_write(n)}
    if not restores:
        return program
    backward = [*statements(program.backward), program.result]
    needed = wanted(backward, facts)
    made = [name for node in backward for name in _bound(node)]
    text = text_of(program, facts)
    alone = {name for name in restores.values() if name not in needed and made.count(name) == 1}
    alone = {name for name in alone if text.is_steady(gast.Name(name, gast.Load(), None, None))}
    if not alone:
        return program
    program.backward = rebuilt(program.backward, {n: None for n in backward if restores.get(n) not in alone})
    return dead(program, facts)


@dataclass(frozen=True)
class Text:
    """Of a forward half: names that are bound outside of loops alone, and statements of those bound in one place."""

    settled: frozenset[str]
    once: dict[str, Node]
    facts: Facts
    known: dict[str, bool] = field(default_factory=dict)  # of names that were asked for

    def is_steady(self, value: Node) -> bool:
        """Whether a value has one shape and one dtype each time it is computed."""
        if isinstance(value, gast.Name):
            if value.id in self.settled:
                return True
            if value.id not in self.known:
                self.known[value.id] = False  # what is computed of itself is not known to be
                node = self.once.get(value.id)
                self.known[value.id] = node is not None and self.is_steady(node.value)
            return self.known[value.id]
        if isinstance(value, gast.Call):
            return self._is_steady_call(value)
        if isinstance(value, gast.Subscript):
            return self.is_steady(value.value) and self._is_steady_index(value)
        if isinstance(value, gast.BinOp | gast.UnaryOp):
            return all(self.is_steady(part) for part in children(value) if isinstance(part, gast.expr))
        return isinstance(value, gast.Constant)

    def _is_steady_call(self, call: Node) -> bool:
        operation = self.facts.operation.get(call)
        rule = None if operation is None else operation.rule
        if operation is None or rule is None:
            return False
        if rule.kind != "elementwise" and rule.name.removeprefix("np.") not in _SHAPED:
            return False
        through = differentiable(rule)
        return all(
            self.is_steady(given) if name in through else _is_literal(given) for name, given in operation.bound.items()
        )

    def _is_steady_index(self, part: Node) -> bool:
        """Whether an index takes a part of one shape: slices between literals, integers of what is an array."""
        places = part.slice.elts if isinstance(part.slice, gast.Tuple) else [part.slice]
        sliced = [place for place in places if isinstance(place, gast.Slice)]
        fixed = all(_is_literal(bound) for place in sliced for bound in children(place))
        whole = len(sliced) == len(places) or (
            isinstance(part.value, gast.Name) and part.value.id in self.facts.mutable
        )
        return fixed and whole and is_basic(part.slice, frozenset(self.facts.integers))


def text_of(program: Program, facts: Facts) -> Text:
    """What is known of the names of a forward half."""
    nodes = list(statements(program.forward))
    loops = [node for node in nodes if isinstance(node, gast.For | gast.While)]
    inside = {name for loop in loops for node in statements([loop]) for name in _bound(node)}
    made = [*program.parameters, *(name for node in nodes for name in _bound(node))]
    lists = {name for node in nodes for name in written(node) if not _is_array(name, program, facts)}
    free = {read for node in nodes for read in loads(node)} | set(program.parameters)
    settled = frozenset(name for name in free if name not in inside | lists and made.count(name) < 2)
    once = {str(target(node)): node for node in nodes if target(node) and made.count(str(target(node))) == 1}
    return Text(settled, {name: node for name, node in once.items() if name not in lists}, facts)


def _bound(node: Node) -> list[str]:
    """The names that a statement binds: not those of what it writes into."""
    changed = written(node)
    return [name for name in stores(node) if name not in changed]


def _is_array(name: str, program: Program, facts: Facts) -> bool:
    """Whether a name that is written into holds one array from beginning to end."""
    if name not in facts.mutable or name in facts.swapped or name in facts.containers:
        return False
    return name not in program.parameters or facts.kinds.get(name, UNKNOWN).tag == "array"


def _is_literal(node: Node) -> bool:
    if isinstance(node, gast.UnaryOp):
        return _is_literal(node.operand)
    if isinstance(node, gast.Tuple):
        return all(_is_literal(item) for item in node.elts)
    return isinstance(node, gast.Constant)
