"""`rows = np.array(rows)`, where a list ends: what is made of it has a name of its own."""

from __future__ import annotations

from collections import Counter

import gast

from srcgrad.facts import Facts
from srcgrad.trees import BLOCKS, COMPOUND, Block, Node, copy, inside, loads, statements, target, walk
from srcgrad.walked import mentions


def apart(function: Node, facts: Facts) -> None:
    """Rename what follows, where one block has the whole life of a list and of what is made of it.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n    y = []\\n    y.append(x)\\n    y = np.array(y)\\n    return np.sum(y)"
    >>> print(explain_text(text, after="plain"))
    def f(x):
        y = []
        y.append(x)
        y_1 = np.array(y)
        return np.sum(y_1)
    """
    shared = {one for node in function.body for item in walk(node) for one in _shared(item)}
    kept = {*facts.wrt, *shared, *(n.id for n in walk(function.args) if isinstance(n, gast.Name))}
    for block in [function.body, *(b for node in statements(function.body) for b in _blocks(node))]:
        begun = dict.fromkeys(str(target(node)) for node in block if _begins(node, target(node)))
        within, whole = (_counted(block), _counted(function.body)) if begun else ({}, {})
        for held in begun:
            first = next(node for node in block if mentions(node, held))
            if _begins(first, held) and within[held] == whole[held] and held not in kept:
                _name_apart(block, held, facts)


def _shared(item: Node) -> list[str]:
    """Names that a nested function, or another module, may see under their name."""
    if isinstance(item, gast.FunctionDef | gast.Lambda):
        return [n.id for n in walk(item) if isinstance(n, gast.Name)]
    return item.names if isinstance(item, gast.Global | gast.Nonlocal) else []


def _blocks(node: Node) -> list[Block]:
    return [getattr(node, which) for which in BLOCKS if getattr(node, which, None)]


def _begins(node: Node, held: str | None) -> bool:
    """Whether a statement binds the name to a new list: `rows = []`."""
    listed = held is not None and target(node) == held and isinstance(node.value, gast.List | gast.ListComp)
    return listed and held not in loads(node.value)


def _makes_other(node: Node, held: str) -> bool:
    """Whether a statement binds the name to what a call makes of the list: `rows = np.array(rows)`."""
    return target(node) == held and isinstance(node.value, gast.Call) and held in loads(node.value)


def _counted(block: Block) -> dict[str, int]:
    """How often each name stands in a block."""
    return Counter(n.id for node in block for n in inside(node, gast.Name))


def _name_apart(block: Block, held: str, facts: Facts) -> None:
    """Another name from where a list is made something else, up to where the next one begins."""
    made = held
    for node in block:
        if _begins(node, held):
            made = held
        elif made == held and _makes_other(node, held):
            made = facts.names.numbered(held)
            facts.text[node] = copy(node)
            node.targets[0].id = made
        elif made != held:
            _rename(node, held, made, facts)


def _rename(node: Node, held: str, made: str, facts: Facts) -> None:
    facts.text.update((item, copy(item)) for item in statements([node]) if not isinstance(item, COMPOUND))
    for item in walk(node):
        if isinstance(item, gast.Name) and item.id == held:
            item.id = made
