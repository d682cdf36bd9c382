"""One name, one meaning: a variable that is bound anew gets a new name, where no use mixes the two."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import gast

from srcgrad.facts import Facts
from srcgrad.flow import ENTRY, Definitions, definitions
from srcgrad.front.integers import counters, integers
from srcgrad.indices import is_basic
from srcgrad.parts import is_swap
from srcgrad.trees import (
    COMPOUND,
    Block,
    Node,
    children,
    copy,
    header,
    holds,
    inside,
    name,
    statements,
    stores,
    walk,
    written,
)


def parameters(function: Node) -> list[str]:
    """Names of a function's parameters, in order."""
    arguments = function.args
    return [a.id for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]


def augmented(function: Node, facts: Facts) -> Node:
    """Spell `a += e` as `a = a + e`; that it was augmented is kept in the facts.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(x):\\n    s = x\\n    s *= x\\n    return s", after="augmented"))
    def f(x):
        s = x
        s = s * x
        return s
    """
    facts.integers.update(integers(function, facts))
    facts.counting.update(counters(function))
    for node in [function, *statements(function.body)]:
        if isinstance(node, COMPOUND):
            for field in ("body", "orelse"):
                block = getattr(node, field, None)
                if block:
                    setattr(node, field, [_plain(item, facts) for item in block])
    return function


def _plain(node: Node, facts: Facts) -> Node:
    if not isinstance(node, COMPOUND) and node not in facts.foreign and not facts.source.made:
        facts.text.setdefault(node, copy(node))
    if isinstance(node, gast.AnnAssign):
        plain = node if node.value is None else gast.Assign([node.target], node.value, None)
    elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        read = name(node.target.id, like=node.target)
        plain = gast.Assign([node.target], gast.BinOp(read, node.op, node.value), None)
        gast.copy_location(plain.value, node)
        facts.augmented[plain] = None
    elif _is_general_update(node, facts):
        whole = isinstance(node.target.slice, gast.Constant) and node.target.slice.value is ...
        read = copy(node.target.value if whole else node.target)
        read.ctx = gast.Load()
        plain = gast.Assign([node.target], gast.BinOp(read, node.op, node.value), None)
        gast.copy_location(plain.value, node)
        facts.augmented[plain] = None
    else:
        return node
    if plain is not node:
        gast.copy_location(plain, node)
        if node in facts.text:
            facts.text[plain] = facts.text[node]
        facts.origin[plain] = node
        facts.plain[node] = plain
    return plain


def _is_general_update(node: Node, facts: Facts) -> bool:
    """Whether `a[i] op= e` has to be spelled `a[i] = a[i] op e`: what is added with a basic index is not."""
    if not isinstance(node, gast.AugAssign) or not isinstance(node.target, gast.Subscript):
        return False
    held = node.target.value.id if isinstance(node.target.value, gast.Name) else ""
    if facts.list_kind(held) or held in facts.records:
        return True
    added = isinstance(node.op, gast.Add | gast.Sub)
    return not (added and (facts.generated or is_basic(node.target.slice, frozenset(facts.integers))))


def webs(function: Node, facts: Facts) -> Node:
    """Give each web of definitions and uses a name of its own; the first keeps the user's.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(x, y):\\n    x = x * y\\n    x = x / y\\n    return x", after="webs"))
    def f(x, y):
        x_1 = x * y
        x_2 = x_1 / y
        return x_2
    """
    separate(function, facts)
    facts.integers.update(integers(function, facts))
    facts.counting.update(counters(function))
    return function


def separate(function: Node, facts: Facts, only: Collection[str] | None = None) -> None:
    """Give each web of some names, or of all, a name of its own; text that is to be kept is kept only of all."""
    reaching = definitions(function.body, parameters(function))
    uses = [(node, read) for node, read in _uses(function.body) if only is None or read.id in only]
    leader = _unite(reaching, uses)
    named = _name(reaching, leader, facts, only)
    for node, read in uses:
        found = reaching.at(node, read.id)
        if found:
            if only is not None and read.id != named[leader[found[0]]]:
                facts.foreign[node] = None
            read.id = named[leader[found[0]]]
    for number, (position, _) in enumerate(reaching.of):
        if position != ENTRY:
            node, bound = reaching.graph.nodes[position], reaching.of[number][1]
            if only is not None and bound != named[leader[number]]:
                facts.foreign[node] = None
            _rename_stores(node, bound, named[leader[number]])


def reading_apart(function: Node, reads: Mapping[str, list[Node]]) -> set[str]:
    """Of parameters, with statements that read them: those of which these read neither the argument nor its web."""
    given = parameters(function)
    reaching = definitions(function.body, given)
    leader = _unite(reaching, [(node, read) for node, read in _uses(function.body) if read.id in reads])
    own = {one: leader[given.index(one)] for one in reads}
    return {o for o, nodes in reads.items() if all(leader[k] != own[o] for n in nodes for k in reaching.at(n, o))}


def _uses(block: Block) -> list[tuple[Node, Node]]:
    return [(node, item) for node in statements(block) for part in header(node) for item in _read(part)]


def _read(part: Node) -> list[Node]:
    """The names that an expression reads, but not those that a comprehension in it binds for itself."""
    if not holds(part, *_COMPREHENSIONS):
        return [item for item in inside(part, gast.Name) if isinstance(item.ctx, gast.Load)]
    if not isinstance(part, _COMPREHENSIONS):
        return [item for child in children(part) for item in _read(child)]
    first = part.generators[0].iter  # is of the scope around
    own = {item.id for each in part.generators for item in inside(each.target, gast.Name)}
    around = _read(first)
    return around + [
        item for child in children(part) for item in _read(child) if item not in around and item.id not in own
    ]


_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def _unite(reaching: Definitions, uses: list[tuple[Node, Node]]) -> list[int]:
    """For each definition the number of the first definition of its web."""
    leader = list(range(len(reaching.of)))
    arrays = {w for node, _ in uses for w in written(node)}

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    def unite(found: list[int]) -> None:
        for other in found[1:]:
            one, two = find(found[0]), find(other)
            leader[max(one, two)] = min(one, two)

    for node, read in uses:
        unite(reaching.at(node, read.id))
    for number, (position, bound) in enumerate(reaching.of):  # a change of contents is no new meaning
        node = reaching.graph.nodes[position]
        if node is None:
            continue
        changed = bound in written(node) or (isinstance(node, gast.AugAssign) and bound in stores(node))
        if changed or (is_swap(node) and arrays & set(stores(node))):
            unite([*reaching.at(node, bound), number])
    return [find(number) for number in range(len(leader))]


def _name(reaching: Definitions, leader: list[int], facts: Facts, only: Collection[str] | None) -> dict[int, str]:
    named: dict[int, str] = {}
    seen: set[str] = set()
    for number, (_, user) in enumerate(reaching.of):
        if leader[number] != number:
            continue
        if user in seen and (only is None or user in only):
            named[number] = facts.names.numbered(user)
            if only is None:  # else they are of several kinds, which the user's name does not tell apart
                facts.base[named[number]] = user
        else:
            named[number] = user
            seen.add(user)
    return named


def _rename_stores(node: Node, old: str, new: str) -> None:
    if old == new or old not in stores(node):
        return
    for place in node.targets if isinstance(node, gast.Assign) else [node.target]:
        for item in walk(place):
            if isinstance(item, gast.Name) and item.id == old and isinstance(item.ctx, gast.Store):
                item.id = new
