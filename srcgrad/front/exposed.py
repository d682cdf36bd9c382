"""What a block of user's statements reads before it has bound it, and what it binds on every way to its end."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.trees import BLOCKS, Block, Node, children, walk, written

_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)


@dataclass
class Exposed:
    """Names in the order of the text: read before they are bound, bound, bound in any case at every way out."""

    reads: dict[str, None] = field(default_factory=dict)
    binds: dict[str, None] = field(default_factory=dict)
    always: set[str] = field(default_factory=set)
    ways: list[set[str]] = field(default_factory=list)  # what is bound where a trip ends early


def exposed(block: Block) -> Exposed:
    """The names of a loop's body, one trip taken by itself.

    >>> tree = gast.parse("a = x\\nif a > 0:\\n    y = a + z\\n    continue\\nz = y")
    >>> found = exposed(tree.body)
    >>> list(found.reads), list(found.binds), sorted(found.always)
    (['x', 'z', 'y'], ['a', 'y', 'z'], ['a'])
    """
    found = Exposed()
    end = _block(block, set(), found)
    ways = [*found.ways, *([end] if end is not None else [])]
    found.always = set.intersection(*ways) if ways else set()
    return found


def _block(block: Block, bound: set[str], found: Exposed) -> set[str] | None:
    """What is bound at the end of a block; None if it is not reached."""
    now: set[str] | None = set(bound)
    for node in block:
        if now is None:
            return None
        now = _statement(node, now, found)
    return now


def _statement(node: Node, bound: set[str], found: Exposed) -> set[str] | None:
    if isinstance(node, gast.If):
        _read(node.test, bound, found)
        sides = [_block(node.body, bound, found), _block(node.orelse, bound, found)]
        ends = [side for side in sides if side is not None]
        return set.intersection(*ends) if ends else None
    if isinstance(node, gast.For | gast.While):
        return _loop(node, bound, found)
    if isinstance(node, gast.Break | gast.Continue | gast.Return):
        if isinstance(node, gast.Return) and node.value is not None:
            _read(node.value, bound, found)
        found.ways.append(bound)
        return None
    if isinstance(node, gast.With):
        for item in node.items:
            _read(item, bound, found)
        inner = bound | _bind(node.items, found)
        return _block(node.body, inner, found)
    if any(getattr(node, which, None) for which in BLOCKS) and not isinstance(node, _FUNCTIONS):
        for which in BLOCKS:  # a statement that is refused later
            _block(getattr(node, which, None) or [], bound, found)
        return bound
    _read(node, bound, found)
    return bound | _bind([node], found)


def _loop(node: Node, bound: set[str], found: Exposed) -> set[str]:
    """A loop in the body may make no trip, and its ways out lead no further than to its end."""
    _read(node.iter if isinstance(node, gast.For) else node.test, bound, found)
    inner = Exposed(found.reads, found.binds)
    inside = bound | (_bind([node.target], found) if isinstance(node, gast.For) else set())
    _block(node.body, inside, inner)
    after = _block(node.orelse, bound, found)
    return bound if after is None else bound | after if not _broken(node.body) else bound


def _broken(block: Block) -> bool:
    """Whether the `else` of a loop may be passed by."""
    return any(isinstance(n, gast.Break) for s in block for n in walk(s))


def _read(node: Node, bound: set[str], found: Exposed) -> None:
    """Names read by a statement or expression; what is written into is read, and changed."""
    for item in _names(node):
        if isinstance(item.ctx, gast.Load) and item.id not in bound:
            found.reads[item.id] = None
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and node.target.id not in bound:
        found.reads[node.target.id] = None
    for changed in written(node):
        found.binds[changed] = None
        if changed not in bound:
            found.reads[changed] = None


def _bind(nodes: list[Node], found: Exposed) -> set[str]:
    made = set()
    for node in nodes:
        if isinstance(node, gast.FunctionDef):
            made.add(node.name)
            continue
        for item in _names(node):
            if isinstance(item.ctx, gast.Store):
                found.binds[item.id] = None
                made.add(item.id)
    return made


def _names(node: Node) -> list[Node]:
    """Names of a statement's own scope: variables of comprehensions and of nested functions apart."""
    if isinstance(node, gast.Name):
        return [node]
    own: set[str] = set()
    if isinstance(node, _COMPREHENSIONS):
        targets = [n for g in node.generators for n in walk(g.target)]
        own = {n.id for n in targets if isinstance(n, gast.Name)}
    elif isinstance(node, _FUNCTIONS):
        inside = [n for n in walk(node) if isinstance(n, gast.Name)]
        own = {n.id for n in inside if not isinstance(n.ctx, gast.Load)}
        return [n for n in inside if n.id not in own]
    return [n for child in children(node) for n in _names(child) if n.id not in own]
