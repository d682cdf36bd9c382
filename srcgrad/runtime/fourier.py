"""What the transposes of Fourier transforms are made of: scales turned round, spectra of half length, new lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any  # arrays of any dtype

import numpy as np


def opposite(norm: str | None) -> str:
    """The `norm` with which the other transform is the transpose: the scale stands where it stood before.

    >>> opposite(None), opposite("ortho"), opposite("forward")
    ('forward', 'ortho', 'backward')
    """
    return {"forward": "backward", "ortho": "ortho"}.get(norm or "", "forward")


def resized(g: Any, a: Any) -> Any:
    """`g` cut off, or filled up with zeros, to the shape of `a`: what a transform of given length does, and undoes.

    >>> resized(np.ones(2), np.zeros(3))
    array([1., 1., 0.])
    """
    wanted = np.shape(a)
    if g.shape == wanted:
        return g
    kept = tuple(slice(min(one, two)) for one, two in zip(g.shape, wanted, strict=True))
    made = np.zeros(wanted, g.dtype)
    made[kept] = g[kept]
    return made


def doubled(g: Any, n: int, axis: int = -1) -> Any:
    """Twice what stands in a half spectrum for two elements of the whole: all but the first, and the last of an even n.

    >>> doubled(np.ones(3), 4), doubled(np.ones(3), 5)
    (array([1., 2., 1.]), array([1., 2., 2.]))
    """
    made = np.array(g)
    inner = np.moveaxis(made, axis, -1)[..., 1 : (n + 1) // 2]
    inner *= 2.0
    return made


def transformed(a: Any, s: Sequence[int] | None = None, axes: Any = None) -> tuple[int, ...]:
    """The axes over which a transform of several dimensions runs.

    >>> transformed(np.zeros((2, 3, 4)), None, None), transformed(np.zeros((2, 3, 4)), (5, 6), None)
    ((0, 1, 2), (1, 2))
    """
    if axes is not None:
        return tuple(axes)
    rank = np.ndim(a)
    return tuple(range(rank)) if s is None else tuple(range(rank - len(s), rank))


def lengths(a: Any, s: Sequence[int] | None = None, axes: Any = None) -> tuple[int, ...]:
    """The lengths along the axes of a transform: those given, and the array's own where they are None or -1.

    >>> lengths(np.zeros((2, 3)), None, (0, 1)), lengths(np.zeros((2, 3)), (5, -1), None)
    ((2, 3), (5, 3))
    """
    chosen = transformed(a, s, axes)
    own = [np.shape(a)[axis] for axis in chosen]
    given = [None] * len(own) if s is None else s
    return tuple(size if n is None or n == -1 else n for n, size in zip(given, own, strict=True))


def weighted(g: Any, first: float, last: float, axis: int = -1) -> Any:
    """`g` with its first and last elements along an axis multiplied: the ends of cosine and sine transforms.

    >>> weighted(np.ones(3), 2.0, 0.5)
    array([2. , 1. , 0.5])
    """
    made = np.array(g)
    ends = np.moveaxis(made, axis, -1)
    ends[..., 0] *= first
    ends[..., -1] *= last
    return made
