"""What may be bound when a loop begins, and what may be read once it has ended: by the order of the text."""

from __future__ import annotations

import gast

from srcgrad.trees import BLOCKS, Block, Node, header, statements, stores, walk


def before_loop(loop: Node, function: Node) -> set[str]:
    """Names that may be bound when a loop begins: parameters, and what stands before it, or in a loop around it."""
    parameters = {a.id for a in walk(function.args) if isinstance(a, gast.Name)}
    return parameters | _before(function.body, loop)[0]


def _before(block: Block, loop: Node) -> tuple[set[str], bool]:
    """What is bound in a block before the loop, and whether the loop stands in it."""
    names: set[str] = set()
    for node in block:
        if node is loop:
            return names, True
        names |= _binds(node)
        for which in BLOCKS:
            inner, here = _before(getattr(node, which, None) or [], loop)
            names |= inner
            if here and isinstance(node, gast.For | gast.While):
                inside = set(statements([loop]))
                names |= {s for n in statements([node]) if n not in inside for s in _binds(n)}
            if here:
                return names, True
    return names, False


def _binds(node: Node) -> set[str]:
    """Names that a statement's own header binds, those of `with` and of `:=` among them."""
    parts = node.items if isinstance(node, gast.With) else header(node)
    names = [n for part in parts for n in walk(part) if isinstance(n, gast.Name)]
    return {n.id for n in names if isinstance(n.ctx, gast.Store)} | set(stores(node))


def read_outside(loop: Node, function: Node) -> set[str]:
    """Names that something outside of a loop's body may read once the loop has begun."""
    found: set[str] = set()
    _after(function.body, loop, found)
    for node in statements(function.body):  # a function that is defined earlier may be called later
        for item in walk(node):
            if isinstance(item, gast.FunctionDef | gast.Lambda):
                found |= {n.id for n in walk(item) if isinstance(n, gast.Name)}
    return found


def _after(block: Block, loop: Node, found: set[str]) -> bool:
    """Add what may be read behind the loop, if it stands in the block."""
    for position, node in enumerate(block):
        here = node is loop
        if here:
            found |= _reads(header(node)) | _reads(node.orelse)
        for which in BLOCKS:
            inside = not here and _after(getattr(node, which, None) or [], loop, found)
            if inside and isinstance(node, gast.For | gast.While):
                own = set(statements(loop.body))
                found |= {r for n in statements([node]) if n not in own for r in _reads(header(n))}
            here = here or inside
        if here:
            found |= _reads(block[position + 1 :])
            return True
    return False


def _reads(nodes: list[Node]) -> set[str]:
    names = [n for node in nodes for n in walk(node) if isinstance(n, gast.Name)]
    return {n.id for n in names if not isinstance(n.ctx, gast.Store)}
