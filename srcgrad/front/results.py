"""Operations that give several results bind each to a name of its own: `w, v = np.linalg.eigh(a)`."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field

import gast

from srcgrad.converted import literal_value
from srcgrad.facts import Facts
from srcgrad.rules import Results
from srcgrad.trees import Block, Node, assign, at, loads, name, statements, stores, target


@dataclass
class _Work:
    """Which names hold all results of an operation, and what the results go by instead."""

    facts: Facts
    bound: dict[str, int] = field(default_factory=dict)  # how often a name is bound
    readers: dict[str, list[Node]] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=dict)  # name of all results -> names of the single ones
    users: dict[str, Node] = field(default_factory=dict)  # ... -> the user's statement that binds it


def results(function: Node, facts: Facts) -> Node:
    """Where several results are read one by one, let no name hold all of them.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(a):\\n    return np.linalg.eigh(a)[0] ** 2", after="results"))
    def f(a):
        eigenvalues, eigenvectors = np.linalg.eigh(a)
        t2 = eigenvalues
        y = t2**2
        return y
    """
    work = _Work(facts)
    for node in statements(function.body):
        for one in stores(node):
            work.bound[one] = work.bound.get(one, 0) + 1
        for one in loads(node):
            work.readers.setdefault(one, []).append(node)
    for node in statements(function.body):
        held, several = target(node), several_of(node, facts)
        if held is not None and several and work.bound[held] == 1:
            reads = work.readers.get(held, [])
            if reads and all(_reads_parts(read, held, len(several), facts) for read in reads):
                work.parts[held] = [""] * len(several)
                work.users[held] = facts.origin.get(node, node)
    function.body = _block(function.body, work)
    return function


def several_of(node: Node, facts: Facts) -> Results:
    """The results of an assignment's operation, where it has several."""
    operation = facts.operation.get(getattr(node, "value", None))
    rule = None if operation is None else operation.rule
    return () if rule is None else rule.results


def gives_several(node: Node, facts: Facts) -> bool:
    """Whether a statement is `w, v = op(...)`."""
    return isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple) and bool(several_of(node, facts))


def _reads_parts(node: Node, held: str, count: int, facts: Facts) -> bool:
    """Whether a statement is `x = held[1]`, or `x, y = held`."""
    if not isinstance(node, gast.Assign) or loads(node).count(held) != 1:
        return False
    if isinstance(node.targets[0], gast.Tuple) and isinstance(node.value, gast.Name):
        return len(node.targets[0].elts) == count
    return _place(node, facts, count) is not None or _slice(node, facts, count) is not None


def _place(node: Node, facts: Facts, count: int) -> int | None:
    """The place k in `x = held[k]`."""
    operation = facts.operation.get(node.value)
    if target(node) is None or operation is None or operation.function is not operator.getitem:
        return None
    try:
        place = literal_value(operation.bound["index"])
    except (ValueError, TypeError):
        return None
    return place % count if isinstance(place, int) and -count <= place < count else None


def _slice(node: Node, facts: Facts, count: int) -> list[int] | None:
    """The places in `x = held[:2]`."""
    operation = facts.operation.get(node.value)
    if target(node) is None or operation is None or operation.function is not operator.getitem:
        return None
    index = operation.bound["index"]
    if not isinstance(index, gast.Slice):
        return None
    try:
        bounds = [one and literal_value(one) for one in (index.lower, index.upper, index.step)]
    except (ValueError, TypeError):
        return None
    return list(range(count))[slice(*bounds)]


def _block(block: Block, work: _Work) -> Block:
    made: Block = []
    for position, node in enumerate(block):
        for which in ("body", "orelse"):
            if getattr(node, which, None):
                setattr(node, which, _block(getattr(node, which), work))
        read = next((one for one in loads(node) if one in work.parts), None) if isinstance(node, gast.Assign) else None
        if target(node) in work.parts:
            following = block[position + 1] if position + 1 < len(block) else None
            made.append(_named(node, following, work))
        elif read is not None:
            made += _copies(node, work.parts[read], work.facts)
            user = work.facts.origin.get(node, node)
            if user is not work.users[read]:
                work.facts.rewritten[user] = None  # it reads a name that is gone
        else:
            made.append(node)
    return made


def _named(node: Node, following: Node | None, work: _Work) -> Node:
    """`w, v = op(...)`, with the names that the next statement gives; other results are named for what they are."""
    facts, held, several = work.facts, str(target(node)), several_of(node, work.facts)
    given = _given(held, following, len(several), facts)
    again = len(work.readers[held]) > 1  # reads that follow may find a name bound to something else
    for place, (stem, _) in enumerate(several):
        one = given[place]
        own = one and facts.temporaries.get(one) != "t" and one not in loads(node) and given.count(one) == 1
        if not own or (again and work.bound[one] > 1):
            one = facts.names.fresh(stem)
            facts.temporaries[one] = stem
        work.parts[held][place] = one
        if held in facts.varied:
            facts.varied[one] = None
    targets = gast.Tuple(elts=[name(one, gast.Store()) for one in work.parts[held]], ctx=gast.Store())
    made = at(gast.Assign([targets], node.value, None), node)
    facts.origin[made] = facts.origin.get(node, node)
    return made


def _given(held: str, following: Node | None, count: int, facts: Facts) -> list[str]:
    """The names to which the next statement binds the results; empty for those that it does not read."""
    given = [""] * count
    if following is None or held not in loads(following):
        return given
    place = _place(following, facts, count)
    if place is not None:
        given[place] = str(target(following))
    elif target(following) is None:
        given = [item.id for item in following.targets[0].elts]
    return given


def _copies(node: Node, names: list[str], facts: Facts) -> Block:
    """`x = w` for `x = held[0]`, where the name is not bound to it yet."""
    place = _place(node, facts, len(names))
    if place is not None:
        wanted: list[tuple[str, Node]] = [(str(target(node)), name(names[place]))]
    elif target(node) is None:
        wanted = [(item.id, name(names[k])) for k, item in enumerate(node.targets[0].elts)]
    else:
        some = [name(names[k]) for k in _slice(node, facts, len(names)) or []]
        wanted = [(str(target(node)), gast.Tuple(elts=some, ctx=gast.Load()))]
    made = [at(assign(one, value), node) for one, value in wanted if getattr(value, "id", "") != one]
    for item in made:
        facts.origin[item] = facts.origin.get(node, node)
    return made
