"""Transposes of cosine and sine transforms along several axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any  # arrays of floats

from srcgrad.runtime.fourier import opposite, resized, transformed, weighted


def waves_transpose(
    g: Any, x: Any, name: str, type: int = 2, s: Sequence[int] | None = None, axes: Any = None, norm: str | None = None
) -> Any:
    """The transpose of `scipy.fft.dctn(x, type, s, axes, norm)`, or of `dstn`, `idctn`, `idstn` by name.

    >>> import numpy as np
    >>> waves_transpose(np.ones(2), np.zeros(2), "dctn", norm="ortho").round(3)
    array([1.414, 0.   ])
    """
    from scipy import fft  # late: SciPy may be absent

    one = fft.dct if name.endswith("dctn") else fft.dst
    kind = {2: 3, 3: 2}.get(type, type) if name.startswith("i") else type
    scale = opposite(norm) if name.startswith("i") else norm
    chosen = transformed(x, s, axes)
    for axis in (chosen,) if isinstance(chosen, int) else chosen:
        g = _along(g, one, one is fft.dct, kind, axis, scale)
    return resized(g, x)


def _along(g: Any, transform: Any, even: bool, type: int, axis: int, norm: str | None) -> Any:
    """The transpose of `transform` along one axis: types 2 and 3 are transposes of each other but for one end."""
    if norm == "ortho":
        return transform(g, {2: 3, 3: 2}.get(type, type), axis=axis, norm="ortho")
    ends = (2.0, 1.0) if even else (1.0, 2.0)
    halves = (0.5, 1.0) if even else (1.0, 0.5)
    if type == 2:
        return transform(weighted(g, *ends, axis), 3, axis=axis, norm=norm)
    if type == 3:
        return weighted(transform(g, 2, axis=axis, norm=norm), *halves, axis)
    if type == 1 and even:
        return weighted(transform(weighted(g, 2.0, 2.0, axis), 1, axis=axis, norm=norm), 0.5, 0.5, axis)
    return transform(g, type, axis=axis, norm=norm)
