"""Calls that several families share as `forms`: what their rules are tested on."""

from __future__ import annotations

HALF = "The derivative is that with respect to the entries that are read: nothing flows to the other triangle."


def reduction_forms(name: str) -> tuple[tuple[object, ...], ...]:
    """Calls of a reduction in all its spellings of axes, on ranks 0 to 3."""
    return (
        (f"{name}(x)", (3, 4)),
        (f"{name}(x)", ()),
        (f"{name}(x, axis=0)", (3, 4)),
        (f"{name}(x, axis=-1)", (2, 3, 4)),
        (f"{name}(x, 1)", (3, 1)),
        (f"{name}(x, axis=(0, -1))", (2, 3, 2)),
        (f"{name}(x, axis=1, keepdims=True)", (2, 3)),
        (f"{name}(x, keepdims=True)", (2, 3)),
        (f"{name}(x, axis=(2, 0), keepdims=True)", (2, 3, 2)),
        (f"{name}(x[::2], axis=-2)", (4, 3)),
        (f"{name}(x, axis=len(x) - 2, keepdims=len(x) > 2)", (3, 4)),
    )
