"""Numbers that are read from a text of a number: `float(str(x))` is x, and its derivative would be lost."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.resolve import binding_of
from srcgrad.trees import Node, inside, stores, walk

_MAKERS = (str, repr, format, ascii, np.array2string, np.array_str, np.array_repr)
_READERS = (float, complex, np.float16, np.float32, np.float64, np.complex128, np.fromstring, np.loadtxt, np.genfromtxt)


def check_texts(function: Node, facts: Facts) -> None:
    """Refuse a number that is read from what `str`, `repr` or an f-string made, at once or by way of a name."""
    if not any(_makes(node, facts) for part in function.body for node in inside(part, gast.JoinedStr, gast.Call)):
        return
    nodes = [node for statement in function.body for node in walk(statement)]
    known: set[str] = set()
    while True:
        bound = {name for node in nodes if isinstance(node, gast.Assign) and _has(node.value, known, facts)
                 for name in stores(node)}  # fmt: skip
        if bound <= known:
            break
        known |= bound
    for node in nodes:
        if isinstance(node, gast.Call) and _is_one(node.func, _READERS, facts):
            if any(_has(argument, known, facts) for argument in node.args):
                raise facts.refuse(
                    node,
                    "E5005",
                    "a number is read from a text that was made here",
                    "use the number itself: `float(x)`",
                )


def _makes(node: Node, facts: Facts) -> bool:
    return isinstance(node, gast.JoinedStr) or (isinstance(node, gast.Call) and _is_one(node.func, _MAKERS, facts))


def _has(value: Node, known: set[str], facts: Facts) -> bool:
    """Whether an expression holds such a text."""
    return any(_makes(node, facts) or getattr(node, "id", "") in known for node in walk(value))


def _is_one(function: Node, wanted: tuple[object, ...], facts: Facts) -> bool:
    found = binding_of(function, facts, facts.local)
    return found is not None and any(found.object is one for one in wanted)
