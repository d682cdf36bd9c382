"""What nothing reads again need not be cleared: `a_bar[t] = 0.0`, where the rest reads other parts of `a_bar`.

for t in reversed(range(1, n)):               for t in reversed(range(1, n)):
    a_bar[t - 1] += a_bar[t] * c[t]       =>      a_bar[t - 1] += a_bar[t] * c[t]
    a_bar[t] = 0.0
"""

from __future__ import annotations

import gast

from srcgrad.analyse.regions import Integers, Where, apart
from srcgrad.derive.program import Program, rebuilt
from srcgrad.facts import Facts
from srcgrad.improve.cleared import clears
from srcgrad.improve.unread import integers, may_show
from srcgrad.indices import index_rank, is_basic
from srcgrad.trees import (
    COMPOUND,
    Block,
    Node,
    called,
    header,
    is_write,
    loads,
    part_written,
    statements,
    stores,
    target,
    walk,
    written,
)
from srcgrad.walked import mentions

_WHOLE = gast.Constant(value=Ellipsis, kind=None)
Read = tuple[Node, Where]  # an index, and where it is read


def spent(program: Program, facts: Facts) -> Program:
    """Drop the clearing of parts of adjoints that are read no more.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n  a = np.empty(5)\\n  a[0] = x[0]\\n  for t in range(1, 5):\\n    a[t] = a[t - 1] * x[t]\\n"
    >>> texts = [explain_text(text + "  return a[4]", after, wrt=("x",)) for after in ("cleared", "spent")]
    >>> ["a_bar[t] = 0.0" in one for one in texts]
    [True, False]
    """
    clearing = [node for node in statements(program.backward) if clears(node)]
    if facts.generated or not clearing:
        return program
    places: dict[Node, Where] = {}
    _place([*program.backward, program.result], (), places)
    known = integers(program)
    forward = {one for node in statements(program.forward) for one in (*loads(node), *stores(node))}
    gone: dict[Node, None] = {}
    for adjoint in dict.fromkeys(part_written(node).value.id for node in clearing):
        own = _is_own(adjoint, facts) and adjoint not in forward and adjoint not in program.parameters
        reads = _reads(adjoint, places, facts) if own else None
        if reads is not None:
            mine = [node for node in clearing if part_written(node).value.id == adjoint]
            gone.update({node: None for node in mine if _is_spent(node, places[node], reads, known, facts)})
    if gone:
        program.backward = rebuilt(program.backward, {n: None for n in statements(program.backward) if n not in gone})
    return program


def _place(block: Block, loops: tuple[Node, ...], places: dict[Node, Where]) -> None:
    for node in block:
        places[node] = Where(loops, len(places))
        if isinstance(node, COMPOUND):
            inner = (*loops, node) if isinstance(node, gast.For | gast.While) else loops
            _place(node.body, inner, places)
            _place(getattr(node, "orelse", None) or [], inner, places)


def _is_own(adjoint: str, facts: Facts) -> bool:
    """Whether a name is that of the adjoint of an array of which parts are written."""
    primal = facts.adjoint_of.get(adjoint, "")
    whole = primal in facts.swapped or primal in facts.containers or facts.list_kind(primal)
    return primal in facts.mutable and not whole


def _reads(adjoint: str, places: dict[Node, Where], facts: Facts) -> list[Read] | None:
    """What the backward half reads of an adjoint; None if something else may show what it holds."""
    found: list[Read] = []
    for node, where in places.items():
        if not any(mentions(part, adjoint) for part in _parts(node)):
            continue
        named = [n for part in _parts(node) for n in walk(part) if isinstance(n, gast.Name) and n.id == adjoint]
        taken = [n for n in walk(node) if isinstance(n, gast.Subscript) and any(n.value is one for one in named)]
        if _adds(node, adjoint, facts) and len(named) == 1:
            found.append((_WHOLE, where))
        elif target(node) == adjoint:
            if len(named) > 1 or (may_show(node.value, facts) and node not in facts.zeros):
                return None
        else:
            if not isinstance(node, gast.Assign | gast.AugAssign) or len(named) != len(taken):
                return None
            read = taken if isinstance(node, gast.AugAssign) or not is_write(node) else _but(part_written(node), taken)
            shown = isinstance(node, gast.Assign) and may_show(node.value, facts)
            if shown and not all(_is_element(n.slice, adjoint, facts) for n in read):
                return None
            found += [(n.slice if _is_exact(n.slice, facts) else _WHOLE, where) for n in read]
    return found


def _but(written: Node, parts: list[Node]) -> list[Node]:
    return [part for part in parts if part is not written]


def _adds(node: Node, adjoint: str, facts: Facts) -> bool:
    """`add_at(a_bar, i, e)`"""
    call = node.value if isinstance(node, gast.Expr) else None
    return called(call) == facts.imports.get("add_at", "add_at") and written(node) == [adjoint]


def _is_exact(index: Node, facts: Facts) -> bool:
    return is_basic(index, frozenset(facts.integers))


def _parts(node: Node) -> list[Node]:
    """What a statement evaluates; a function that is defined here is looked at as a whole."""
    return [node] if isinstance(node, gast.FunctionDef) else header(node)


def _is_element(index: Node, adjoint: str, facts: Facts) -> bool:
    """Whether a part of an adjoint is a number, which shows nothing."""
    spec = facts.value_spec.get(facts.adjoint_of[adjoint])
    return spec is not None and index_rank(index, spec.ndim, frozenset(facts.integers)) == 0


def _is_spent(node: Node, where: Where, reads: list[Read], known: Integers, facts: Facts) -> bool:
    """Whether nothing that may run after a part has been cleared reads it."""
    index = part_written(node).slice
    return _is_exact(index, facts) and all(apart(index, where, other, later, known) for other, later in reads)
