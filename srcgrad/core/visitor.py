"""The visitor: what goes through trees of statements and expressions, changes them, and counts their names.

A pass says what is to happen to one node or to one block; in which order they are met is said here, once: in the
order of the text, what stands inside first. No pass goes through blocks by itself, unless it carries along what holds
on the way there, as an analysis of the control flow does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import gast

from srcgrad.core.identity import record
from srcgrad.core.trees import BLOCKS, COMPOUND, DEEP, SIMPLE, Block, Node, at, loads, remade, statements, stores, walk

_HOLDERS = frozenset([*COMPOUND, gast.Try, gast.ClassDef, gast.AsyncFor, gast.AsyncWith, gast.AsyncFunctionDef])
_BODIES = frozenset(BLOCKS)
LOOPS = (gast.For, gast.While)
SOMETIMES = (gast.Lambda, gast.IfExp, gast.BoolOp, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def rewrite(tree: Node, change: Callable[[Node], Node], apart: tuple[type, ...] = ()) -> Node:
    """The tree with `change` of each expression in its place, inner ones first; it is the same tree, changed.

    A statement stays itself, and so do the blocks that it holds, and nodes of the kinds in `apart` with all in them.

    >>> from srcgrad.core.trees import literal_node, expression
    >>> tree = expression("f(a + b, [a])")
    >>> gast.unparse(rewrite(tree, lambda node: literal_node(2) if getattr(node, "id", "") == "a" else node))
    'f(2 + b, [2])'
    """
    table = tree.__dict__
    for key in DEEP[type(tree)]:
        value = table.get(key)
        if type(value) is list:
            if key not in _BODIES:
                table[key] = [_rewrite_part(item, change, apart) for item in value]
        elif value is not None:
            table[key] = _rewrite_part(value, change, apart)
    return tree if isinstance(tree, gast.stmt) else change(tree)


def _rewrite_part(part: Node, change: Callable[[Node], Node], apart: tuple[type, ...]) -> Node:
    if part is None or not part._fields or type(part) in apart:
        return part
    return rewrite(part, change, apart)


def rewrite_parts(node: Node, change: Callable[[Node], Node], apart: tuple[str, ...] = ()) -> None:
    """Put what `change` makes of each node right below a node in its place, in order; it looks further by itself.

    What hangs below the fields in `apart` stays.

    >>> from srcgrad.core.trees import literal_node, expression
    >>> tree = expression("f(a + b)")
    >>> rewrite_parts(tree, lambda node: literal_node(2) if isinstance(node, gast.BinOp) else node)
    >>> gast.unparse(tree)
    'f(2)'
    """
    table = node.__dict__
    for key in DEEP[type(node)]:
        part = table.get(key) if key not in apart else None
        if type(part) is list:
            table[key] = [item if item is None else change(item) for item in part]
        elif part is not None:
            table[key] = change(part)


def rebuild(tree: Node, found: Callable[[Node], Node | None]) -> Node:
    """A copy of a tree, positions included, with what is `found` for a node in its place, which is not looked into.

    >>> from srcgrad.core.trees import literal_node, expression
    >>> tree = expression("f(a + b) * a")
    >>> gast.unparse(rebuild(tree, lambda node: literal_node(2) if isinstance(node, gast.Call) else None))
    '2 * a'
    """
    made = found(tree)
    return at(remade(tree, lambda part: rebuild(part, found)), tree) if made is None else made


def replace(tree: Node, old: Node, new: Node) -> None:
    """Put `new` in the place of `old` somewhere below a tree."""
    for item in walk(tree):
        table = item.__dict__
        for key in () if type(item) in SIMPLE else item._fields:
            part = table.get(key)
            if part is old:
                table[key] = new
                return
            if type(part) is list:
                for index, child in enumerate(part):
                    if child is old:
                        part[index] = new
                        return


def rewrite_blocks(block: Block, change: Callable[[Block], Block]) -> Block:
    """What `change` makes of a block, once it was asked for the blocks in it.

    >>> from srcgrad.core.trees import parse_tree
    >>> [loop] = rewrite_blocks(parse_tree("for i in r:\\n    a\\n    b").body, lambda block: block[-1:])
    >>> gast.unparse(loop).split()
    ['for', 'i', 'in', 'r:', 'b']
    """
    return rewrite_nested(block, lambda inner, _: change(inner))


def rewrite_nested(block: Block, change: Callable[[Block, int], Block], depth: int = 0) -> Block:
    """The same, where `change` is told in how many statements a block stands.

    >>> from srcgrad.core.trees import parse_tree
    >>> [loop] = rewrite_nested(parse_tree("for i in r:\\n    a\\n    b").body, lambda block, depth: block[depth:])
    >>> gast.unparse(loop).split()
    ['for', 'i', 'in', 'r:', 'b']
    """
    for node in block:
        if type(node) in _HOLDERS:
            for key in BLOCKS:
                inner = node.__dict__.get(key)
                if inner:
                    node.__dict__[key] = rewrite_nested(inner, change, depth + 1)
    return change(block, depth)


def rewrite_statements(
    block: Block, change: Callable[[Node], Block], *, apart: tuple[type, ...] = (), backwards: bool = False
) -> Block:
    """A block with the statements that `change` makes of each in its place, those in its blocks first.

    Statements of the kinds in `apart` are given to `change` as well, but what their bodies hold is not.

    >>> from srcgrad.core.trees import parse_tree
    >>> [loop, last] = rewrite_statements(parse_tree("for i in r: a\\nb").body, lambda node: [node])
    >>> [loop] = rewrite_statements([loop], lambda node: [last, node] if isinstance(node, gast.Expr) else [node])
    >>> gast.unparse(loop).split()
    ['for', 'i', 'in', 'r:', 'b', 'a']
    """
    made: list[Block] = []
    for node in reversed(block) if backwards else block:
        if type(node) in _HOLDERS:
            for key in BLOCKS:
                inner = node.__dict__.get(key)
                if inner and (key != "body" or not isinstance(node, apart)):
                    node.__dict__[key] = rewrite_statements(inner, change, apart=apart, backwards=backwards)
        made.append(change(node))
    return list(chain.from_iterable(reversed(made) if backwards else made))


class Place(NamedTuple):
    """Where a statement stands: in which block, and in which compound statements, the innermost last."""

    node: Node
    block: Block
    around: tuple[Node, ...]

    @property
    def loops(self) -> tuple[Node, ...]:
        """The loops around it, the innermost last."""
        return tuple([node for node in self.around if isinstance(node, LOOPS)])


def places(block: Block, around: tuple[Node, ...] = ()) -> Iterator[Place]:
    """The place of each statement, in the order of `statements`: nested ones behind the one that holds them.

    >>> from srcgrad.core.trees import parse_tree
    >>> [(gast.unparse(place.node)[:5], len(place.around)) for place in places(parse_tree("if a:\\n    b\\nc").body)]
    [('if a:', 0), ('b', 1), ('c', 0)]
    """
    for node in block:
        yield Place(node, block, around)
        if type(node) in _HOLDERS:
            for inner in filter(None, map(node.__dict__.get, BLOCKS)):
                yield from places(inner, (*around, node))


def blocks(block: Block) -> list[Block]:
    """The block, and all blocks in it, in the order of the text."""
    inner = [node.__dict__.get(key) for node in statements(block) if type(node) in _HOLDERS for key in BLOCKS]
    return [block, *(one for one in inner if one)]


def loop_bodies(block: Block) -> list[Block]:
    """The bodies of all loops."""
    return [node.body for node in statements(block) if isinstance(node, LOOPS)]


def own_statements(block: Block, apart: tuple[type, ...] = LOOPS) -> Block:
    """The statements of a block without those in the bodies of some kinds, such as loops, in the order of the text.

    >>> from srcgrad.core.trees import parse_tree
    >>> [gast.unparse(node)[:5] for node in own_statements(parse_tree("if a:\\n    b\\nfor i in r:\\n    c").body)]
    ['if a:', 'b', 'for i']
    """
    found: Block = []
    for node in block:
        found.append(node)
        if type(node) in _HOLDERS:
            for key in BLOCKS:
                if key != "body" or not isinstance(node, apart):
                    found += own_statements(node.__dict__.get(key) or [], apart)
    return found


WIDTH = 80


@record
class Uses:
    """How often each name is read and bound in a program, and as it is now if whoever edits it says so."""

    read: Counter[str]
    bound: Counter[str]
    width: int = WIDTH  # of a line, at most

    def add(self, block: Block) -> None:
        """Statements that have come into the program."""
        self.read.update(chain.from_iterable(map(loads, block)))
        self.bound.update(chain.from_iterable(map(stores, block)))

    def drop(self, block: Block) -> None:
        """Statements that have gone."""
        self.read.subtract(chain.from_iterable(map(loads, block)))
        self.bound.subtract(chain.from_iterable(map(stores, block)))

    def used_once(self, held: str | None) -> bool:
        """Whether a name is bound once and read once."""
        return held is not None and self.read.get(held) == self.bound.get(held) == 1


def count(block: Block) -> Uses:
    """Reads and bindings of every name, nested statements included.

    >>> from srcgrad.core.trees import parse_tree
    >>> uses = count(parse_tree("a = x\\nif a: b = a + a").body)
    >>> dict(uses.read), dict(uses.bound), uses.used_once("a")
    ({'x': 1, 'a': 3}, {'a': 1, 'b': 1}, False)
    """
    uses = Uses(Counter(), Counter())
    uses.add(statements(block))
    return uses


def bindings(block: Block) -> Counter[str]:
    """How often each name is bound."""
    return Counter(chain.from_iterable(map(stores, statements(block))))


def positions(block: Block, of: Callable[[Node], Iterable[str]] = stores) -> dict[str, list[int]]:
    """Where in the block each name is bound, nested statements included; or what else `of` finds in a statement.

    >>> from srcgrad.core.trees import parse_tree
    >>> positions(parse_tree("a = 1\\nfor i in r: a = i\\nb = 2").body)
    {'a': [0, 1], 'i': [1], 'b': [2]}
    """
    found: dict[str, list[int]] = {}
    for position, node in enumerate(block):
        if node is None:
            continue
        for inner in statements([node]) if isinstance(node, COMPOUND) else [node]:
            for name in of(inner):
                found.setdefault(name, []).append(position)
    return found
