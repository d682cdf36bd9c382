"""What the text tells of arguments of which nothing else is known: those read by names, and those taken apart."""

from __future__ import annotations

from collections import Counter

import gast

from srcgrad.facts import UNKNOWN, Facts, Kind
from srcgrad.kinds import ANY
from srcgrad.trees import Node, header, loads, statements, stores, target, walk


def guessed(function: Node, facts: Facts) -> dict[str, Kind]:
    """The kinds of what `wrt` names, and of its parts, that the text shows to be containers."""
    order = list(statements(function.body))
    return {**_keyed(order, facts), **(_unpacked(order, facts) if facts.module.target != "numba" else {})}


def may_be_array(wanted: str, facts: Facts) -> bool:
    """Whether an argument is a tuple as far as the text goes, and may be a list or an array when it runs."""
    return facts.arguments.get(wanted, UNKNOWN) == UNKNOWN and facts.kinds.get(wanted, UNKNOWN).tag == "tuple"


def _keyed(order: list[Node], facts: Facts) -> dict[str, Kind]:
    """What is read by names, `params["w"]`, is a dict if nothing else is known; so are such parts."""
    reads = [n for node in order for part in header(node) for n in walk(part) if isinstance(n, gast.Subscript)]
    named = {getattr(n.value, "id", "") for n in reads if isinstance(getattr(n.slice, "value", None), str)}
    found = {name: Kind("dict") for name in facts.wrt if name in named and facts.kinds.get(name, UNKNOWN) == UNKNOWN}
    for node in order:
        bound = target(node)
        part = node.value if bound in named and isinstance(node.value, gast.Subscript) else None
        held = getattr(getattr(part, "value", None), "id", "")
        if bound is not None and part is not None and held in found:
            found[bound] = Kind("dict")
            items = dict(found[held].items) | {getattr(part.slice, "value", ANY): found[bound]}
            found[held] = Kind("dict", None, tuple(items.items()))
    return found


def _unpacked(order: list[Node], facts: Facts) -> dict[str, Kind]:
    """What is read once, by `u, v = params`, has these parts; whether it is an array is seen when the text runs."""
    reads = Counter(one for node in order for one in loads(node))
    bound = Counter(one for node in order for one in stores(node))
    apart = {node.value.id: stores(node) for node in order if _takes_apart(node)}

    def kind(name: str, times: int) -> Kind:
        if name not in apart or reads[name] != 1 or bound[name] != times:
            return UNKNOWN
        return Kind("tuple", None, tuple((place, kind(part, 1)) for place, part in enumerate(apart[name])))

    wanted = [one for one in facts.wrt if one not in facts.inner and facts.kinds.get(one, UNKNOWN) == UNKNOWN]
    found = {one: kind(one, 0) for one in wanted}
    return {one: known for one, known in found.items() if known != UNKNOWN}


def _takes_apart(node: Node) -> bool:
    """Whether a statement is `u, v = params`."""
    if not isinstance(node, gast.Assign) or not isinstance(node.value, gast.Name):
        return False
    display = node.targets[0]
    return isinstance(display, gast.Tuple) and all(isinstance(n, gast.Name) for n in display.elts)
