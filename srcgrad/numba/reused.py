"""Arrays that take the memory of others which nobody reads any more: `x_bar = x` where there was `np.empty`."""

from __future__ import annotations

import gast

from srcgrad.numba.axes import Form
from srcgrad.numba.nests import Item, Loop, Plain, Step
from srcgrad.numba.spelled import Bodies, Nests, places
from srcgrad.trees import Node, called, name, target, walk

PRODUCTS = ("matmul", "matmul_left", "matmul_right", "matmul_both")  # what they give is an array of its own


def reused(
    nests: Nests, result: Node, known: dict[str, Form], owned: dict[str, Form], helpers: tuple[str, ...]
) -> None:
    """Let an array that a loop fills be an earlier one of its shape, if the same trip reads that one last.

    `known` are all arrays, `owned` those of the text that share their elements with no other name.
    """
    returned = {item.id for item in walk(result) if isinstance(item, gast.Name)}
    taken: set[str] = set()
    for held, axes in list(nests.made.items()):
        begin = _made(held, nests.items) if axes else None
        if begin is None or held not in known:
            continue
        for other in _free(begin, known[held], nests, owned, helpers):
            if other not in returned | taken and _is_last(other, held, nests.items):
                begin.node.value = name(other)
                begin.reads = frozenset([other])
                taken.add(other)
                break


def _made(held: str, items: list[Item]) -> Plain | None:
    """The statement that makes an empty array."""
    for item in items:
        if isinstance(item, Plain) and target(item.node) == held and isinstance(item.node.value, gast.Call):
            return item
    return None


def _free(begin: Plain, form: Form, nests: Nests, owned: dict[str, Form], helpers: tuple[str, ...]) -> list[str]:
    """Arrays of a shape and a dtype that are made before another, last first."""
    found = []
    for item in nests.items[: nests.items.index(begin)]:
        if not isinstance(item, Plain) or (other := target(item.node)) is None:
            continue
        made = nests.made.get(other) or _called(item.node.value) in helpers
        known = owned.get(other) if made else None
        if known and known.real == form.real and nests.lengths.same(known.axes, form.axes):
            found.append(other)
    return found[::-1]


def _called(call: Node) -> str:
    """The name of a helper; of NumPy's functions only the product of matrices is of interest."""
    function = getattr(call, "func", None)
    return "matmul" if getattr(function, "attr", "") == "matmul" else called(call)


def _is_last(other: str, held: str, items: list[Item]) -> bool:
    """Whether nothing reads an array behind the steps that fill another one, nor in other trips of their loops."""
    first: tuple[str, Bodies, int] | None = None
    uses: list[tuple[str, Bodies, int, int]] = []
    nest = -1
    for place, item in enumerate(items):
        for one, bodies, number in places([item], ()):
            if isinstance(one, Plain):
                if other in one.reads and target(one.node) != other:
                    uses.append(("", (), 0, place))
                continue
            if first is None and one.writes[0] == held:
                first, nest = (one.writes[1], bodies, number), place
            uses += [(index, bodies, number, place) for name_, index in (one.writes, *one.reads) if name_ == other]
            if first is not None and place == nest and one.writes[0] == other:
                return False
    if first is None:
        return False
    for index, bodies, number, place in uses:
        inside = place == nest and (index, bodies) == first[:2] and number <= first[2]
        if place > nest or (place == nest and not inside):
            return False
    return any(place == nest for *_, place in uses) and not _writes(other, items[nest])


def _writes(held: str, item: Item) -> bool:
    return isinstance(item, Loop) and any(
        isinstance(one, Step) and one.writes[0] == held for one, _, _ in places([item], ())
    )
