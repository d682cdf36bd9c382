"""Nested functions of one name, each of which is called where it stands: all but the first get names of their own."""

from __future__ import annotations

from dataclasses import dataclass

import gast

from srcgrad.facts import Facts
from srcgrad.trees import BLOCKS, Block, Node, inside, stores, walk


def namesakes(function: Node, facts: Facts) -> None:
    """Tell functions of one name apart, where each call is behind one of them in the same block.

    In two loops of one header that each define `g` and call it, the second one's is `g_1`.
    """
    found = _definitions(function.body)
    for spelled in dict.fromkeys(one.node.name for one in found):
        same = [one for one in found if one.node.name == spelled]
        if len(same) > 1 and _are_apart(spelled, same, function):
            for one in same[1:]:
                _rename(one, facts.names.numbered(spelled), facts)


@dataclass(frozen=True)
class _Definition:
    """A nested function, and what stands behind it in its block up to the next one of its name."""

    node: Node
    behind: Block


def _definitions(block: Block) -> list[_Definition]:
    found: list[_Definition] = []
    for place, node in enumerate(block):
        if isinstance(node, gast.FunctionDef):
            behind = block[place + 1 :]
            ends = [k for k, n in enumerate(behind) if isinstance(n, gast.FunctionDef) and n.name == node.name]
            found.append(_Definition(node, behind[: ends[0]] if ends else behind))
            continue
        for which in BLOCKS:
            found += _definitions(getattr(node, which, None) or [])
    return found


def _are_apart(spelled: str, same: list[_Definition], function: Node) -> bool:
    """Whether each place that has the name is behind one of the functions, and behind no other at any time."""
    others = [n for n in walk(function) if spelled in stores(n) and not isinstance(n, gast.FunctionDef)]
    scopes = [n for n in walk(function) if isinstance(n, gast.Lambda | gast.FunctionDef) and n is not function]
    nested = {id(n) for scope in scopes for n in inside(scope, gast.Name)}
    own = {id(n) for one in same for part in one.behind for n in inside(part, gast.Name)}
    reads = [n for n in inside(function, gast.Name) if n.id == spelled]
    if others or any(id(n) in nested or id(n) not in own for n in reads):
        return False
    for one in same:
        within = [part for part in one.behind if any(other.node in walk(part) for other in same)]
        first = one.behind.index(within[0]) if within else len(one.behind)
        if any(n.id == spelled for part in one.behind[first:] for n in inside(part, gast.Name)):
            return False
    return True


def _rename(one: _Definition, made: str, facts: Facts) -> None:
    old, one.node.name = one.node.name, made
    facts.local |= {made}
    for part in one.behind:
        for node in [n for n in walk(part) if isinstance(n, gast.stmt)]:
            if any(n.id == old for n in inside(node, gast.Name)):
                facts.foreign[node] = None
        for n in inside(part, gast.Name):
            n.id = made if n.id == old else n.id
