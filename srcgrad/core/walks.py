"""What a walk over a tree has found, kept for the next walk over it, which finds the tree as it was in most cases.

Some eighty passes look at each statement, and one look in thirty ends in a change. So it is not left to the passes
to say what they have changed: beside the nodes below a root are kept the tables and lists in which these hang, and
copies of those. One comparison of lists, which runs without a step of Python for each node, tells whether all are as
they were. A change of which nobody has told is a walk anew, never an old answer.
"""

from __future__ import annotations

from typing import Any  # a gast tree has no types of its own

import gast

Node = Any  # gast.AST; gast ships no type information

_PLAIN = "ctx op ops type_comment kind id attr arg name level module asname rest conversion simple is_async kwd_attrs"
_PLAIN_FIELDS = frozenset(_PLAIN.split())
_LEAVES = (gast.Name, gast.Constant, gast.Global, gast.Nonlocal, gast.MatchSingleton)
MOST = 40_000  # trees of which is kept what a walk has found; they go at the end of a derivation in any case


class _FieldsOfInterest(dict[type, tuple[str, ...]]):
    """The fields of a kind of node that hold nodes of interest."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields = () if kind in _LEAVES else getattr(kind, "_fields", ())
        return self.setdefault(kind, tuple(key for key in reversed(fields) if key not in _PLAIN_FIELDS))


_BELOW = _FieldsOfInterest()


class NodeWalk:
    """The nodes below a root, itself included, in the order of the text, and in what they hang, now and as it was.

    What they hang in is compared, never written into: a list that was exchanged for an equal one is still the old one.
    """

    __slots__ = ("_kinds", "held", "hold", "named", "names", "nodes", "reads")

    def __init__(self, root: Node) -> None:
        nodes: list[Node] = []
        tables: list[dict[str, Any]] = []
        lists: list[list[Node]] = []
        names: list[dict[str, Any]] = []
        todo = [root]
        push, pop, found, held = todo.append, todo.pop, nodes.append, tables.append
        below, word = _BELOW, gast.Name
        while todo:
            item = pop()
            if item is None:  # `{**e}` has no key there
                continue
            found(item)
            kind = type(item)
            if kind is word:
                names.append(item.__dict__)
                continue
            fields = below[kind]
            if fields:
                table = item.__dict__
                held(table)
                for key in fields:
                    value = table.get(key)
                    if type(value) is list:
                        lists.append(value)
                        todo += value[::-1]
                    elif value is not None:
                        push(value)
        self.nodes, self.names = tuple(nodes), names
        self.hold: list[Any] = [*tables, *lists]
        self.held: list[Any] = [*map(dict.copy, tables), *map(list.copy, lists)]
        self.named: list[Any] | None = None
        self.reads: tuple[str, ...] = ()
        self._kinds: frozenset[type] | None = None

    @property
    def kinds(self) -> frozenset[type]:
        """The kinds of the nodes."""
        if self._kinds is None:
            self._kinds = frozenset(map(type, self.nodes))
        return self._kinds


_known: dict[Node, NodeWalk] = {}


def walk_of(root: Node) -> NodeWalk:
    """What a walk from this root finds."""
    found = _known.get(root)
    if found is not None and found.hold == found.held:
        return found
    if len(_known) >= MOST:
        _known.clear()
    found = _known[root] = NodeWalk(root)
    return found


def kinds(root: Node) -> frozenset[type]:
    """The kinds of the nodes below a root."""
    return walk_of(root).kinds


def reads(root: Node) -> tuple[str, ...]:
    """The names that are read below a root, in the order of the text, with repetition."""
    found = _known.get(root)
    if found is None or found.hold != found.held:
        kind = type(root)
        if kind is gast.Name or kind is gast.Constant:
            return (root.id,) if kind is gast.Name and type(root.ctx) is gast.Load else ()
        found = walk_of(root)
    if found.named is None or found.names != found.named:
        found.named = [*map(dict.copy, found.names)]
        found.reads = tuple([table["id"] for table in found.names if type(table["ctx"]) is gast.Load])
    return found.reads


def mentions(root: Node, identifier: str) -> bool:
    """Whether a name is read or bound below a root."""
    return any(table["id"] == identifier for table in walk_of(root).names)


def forget() -> None:
    """Let go of the trees: a derivation has come to its end."""
    _known.clear()
