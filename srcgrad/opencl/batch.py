"""Kernels of one text are built in one program: to build ten so takes little longer than to build one.

When a kernel is first launched, the others of its text are built with it, for the layouts that they will probably be
launched with: an argument of a name that this launch has seen lies as it does here, and any other is an array in one
piece. A kernel for which that proves wrong is built again, alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any  # the globals of a text are arbitrary objects

from srcgrad.opencl.functions import prelude
from srcgrad.opencl.source import HEAD, Output, Variant

_MOST = 32  # other kernels that are built with one


def siblings(function: Callable[..., Any]) -> list[FunctionType]:
    """The other kernels of the text that a kernel is from: those of its own function first."""
    space = getattr(function, "__globals__", {})
    found = [f for f in space.values() if isinstance(f, FunctionType) and (f.__doc__ or "").startswith(HEAD)]
    stem = _stem(function.__name__)
    ordered = sorted(found, key=lambda f: _stem(f.__name__) != stem)
    return [f for f in ordered if f is not function][:_MOST]


def _stem(name: str) -> str:
    return name.rpartition("_")[0]


def seen(words: Sequence[str], variant: Variant) -> dict[str, str]:
    """How the arguments of a launch lie, by name."""
    return dict(zip(words, variant.layouts, strict=True))


def guessed(words: Sequence[str], outputs: Sequence[Output], variant: Variant, known: dict[str, str]) -> Variant:
    """The variant of another kernel that is likely, next to one that is launched."""
    given = [known.get(word, "") for word in words]
    in_rows = any(kind.startswith("r") and kind[:2] != "r1" for kind in given)
    whole = "r1" if in_rows else "1"
    layouts = tuple(_like(kind, whole, in_rows) for kind in given)
    numbers = {word for word, kind in zip(words, given, strict=True) if kind == "v"}
    sums = tuple(not output.like or output.like in numbers for output in outputs if output.summed)
    return replace(variant, layouts=layouts, sums=sums, rank=variant.rank if in_rows else 1)


def _like(kind: str, whole: str, in_rows: bool) -> str:
    if kind == "v" or (in_rows and kind.startswith("r")):
        return kind
    return whole + ("b" if kind.endswith("b") else "")


def joined(texts: Sequence[str], real: str) -> str:
    """Programs of one real type as one program."""
    head = prelude(real)
    return "\n".join([texts[0], *(text.removeprefix(head) for text in texts[1:])])
