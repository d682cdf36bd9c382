"""Which text runs for the arguments of a call: found by their looks, once a call with arguments like them was made.

The third call with arguments that look alike, and those behind it, run two functions that are written for such
arguments: `alike`, which tells that they are, and `finished`, which tells that gradients are as users get them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any  # arguments are arbitrary objects

import numpy as np

from srcgrad.arguments import OWN, owned
from srcgrad.executed import Compiled
from srcgrad.facts import Kind
from srcgrad.rules import generation

_NUMBERS = frozenset(np.dtype(code).type for code in "?bBhHiIlLqQefdgFDG")
_PLAIN = frozenset((float, int, bool, complex, str, type(None), *_NUMBERS))


@dataclass(frozen=True)
class Quick:
    """A text for arguments of which a quick look tells that it is theirs, and what becomes of its result."""

    made: Compiled
    kinds: dict[str, Kind]
    alike: Callable[..., bool]
    finished: Callable[..., Any]


@dataclass
class Ready:
    """A text, the kinds of arguments that it was made for, and the generation of the rules it was made with."""

    made: Compiled
    kinds: dict[str, Kind]
    generation: int
    quick: Quick | None = None


def looks(values: Iterable[Any], *, sized: bool = False) -> tuple[Any, ...] | None:
    """Types, dtypes and ranks: arguments in which they are equal are of equal kinds. None if only more would tell.

    With `sized`, shapes instead of ranks.

    >>> looks((1.0, np.ones((2, 3)), [np.ones(2)]))
    (<class 'float'>, dtype('float64'), 2, (<class 'list'>, (dtype('float64'), 1)))
    >>> looks([np.sin]) is None
    True
    """
    found: list[Any] = []
    for value in values:
        cls = type(value)
        if cls is np.ndarray:
            found += (value.dtype, value.shape if sized else value.ndim)
        elif cls in _PLAIN:
            found.append(cls)
        elif cls is tuple or cls is list or cls is dict:
            inner = looks(value.values() if cls is dict else value, sized=sized)
            if inner is None:
                return None
            found.append((cls, inner, *value) if cls is dict else (cls, inner))
        else:
            return None
    return tuple(found)


def quick(
    known: Ready, values: Sequence[Any], places: Sequence[int | None], form: str, general: Callable[..., Any]
) -> Quick | None:
    """The same in a quick way, for arguments that look like `values`; None if there are containers among them.

    `places` are those of the arguments that have gradients, and `form` is how the text returns these: `y, {}` with the
    value, `({},)` as a tuple; empty if `general` alone knows what to do with a result.
    """
    ranks = tuple(value.ndim if type(value) is np.ndarray else None for value in values)
    if not all(rank is not None or type(value) in _PLAIN for rank, value in zip(ranks, values, strict=True)):
        return None
    known_places = tuple(place for place in places if place is not None)
    floats = all(ranks[place] is not None or type(values[place]) is float for place in known_places)
    scope: dict[str, Any] = {"generation": generation, "now": known.generation, "stale": known.made.stale}
    scope |= {"general": general, "owned": owned, "numbers": (float, np.float64)}
    scope |= {f"c{k}": type(value) for k, value in enumerate(values)}
    scope |= {f"d{k}": value.dtype for k, value in enumerate(values) if ranks[k] is not None}
    exec(_code(ranks, known_places, form if floats and len(known_places) == len(places) else ""), scope)
    return Quick(known.made, known.kinds, scope["alike"], scope["finished"])


@functools.lru_cache(maxsize=1024)
def _code(ranks: tuple[int | None, ...], places: tuple[int, ...], form: str) -> CodeType:
    """The two functions, compiled."""
    return compile(_text(ranks, places, form), "<srcgrad call>", "exec")


def _text(ranks: tuple[int | None, ...], places: tuple[int, ...], form: str) -> str:
    """The text of the two functions.

    >>> print(_text((1,), (0,), "y, {}"))
    def alike(v0):
        return type(v0) is c0 and v0.dtype is d0 and v0.ndim == 1 and generation() == now and not stale()
    def finished(found, v0):
        y, g0 = found
        if type(g0) is c0 and g0.dtype is d0 and g0.shape == v0.shape:
            if g0.flags.num & 1029 != 1029 or g0 is v0:
                g0 = owned(g0, v0)
            return y, g0
        return general(found, (v0,))
    """
    given = [f"v{k}" for k in range(len(ranks))]
    terms = [
        f"type(v{k}) is c{k}" + (f" and v{k}.dtype is d{k} and v{k}.ndim == {rank}" if rank is not None else "")
        for k, rank in enumerate(ranks)
    ]
    lines = [f"def alike({', '.join(given)}):"]
    lines.append(f"    return {' and '.join([*terms, 'generation() == now', 'not stale()'])}")
    lines.append(f"def finished({', '.join(['found', *given])}):")
    if form:
        gradients = [f"g{k}" for k in range(len(places))]
        arrays = [one for one, rank in zip(given, ranks, strict=True) if rank is not None]
        right, copies = [], []
        for gradient, place in zip(gradients, places, strict=True):
            if ranks[place] is None:
                right.append(f"type({gradient}) in numbers")
                copies.append(f"        {gradient} = float({gradient})")
            else:
                right.append(f"type({gradient}) is c{place}")
                right.append(f"{gradient}.dtype is d{place} and {gradient}.shape == v{place}.shape")
                shared = "".join(f" or {gradient} is {other}" for other in arrays)
                copies.append(f"        if {gradient}.flags.num & {OWN} != {OWN}{shared}:")
                copies.append(f"            {gradient} = owned({', '.join([gradient, *arrays])})")
                arrays.append(gradient)
        result = form.format(", ".join(gradients))
        lines += [f"    {result} = found", f"    if {' and '.join(right)}:", *copies, f"        return {result}"]
    lines.append(f"    return general(found, ({', '.join(given)},))")
    return "\n".join(lines)
