"""Convolutions and correlations of vectors."""

import numpy as np

from srcgrad.core.rules import adjoint, d
from srcgrad.runtime.signals import convolve_transpose


@adjoint.multilinear(
    np.convolve,
    forms=(
        *((f"np.convolve(x, y, '{mode}')", (n,), (m,)) for mode in ("full", "same", "valid") for n, m in (
            (5, 3), (3, 5), (4, 2), (2, 3), (1, 4), (3, 3),
        )),
        ("np.convolve(x, y)", (3,), ()),
        ("np.convolve(x, x, mode='same')", (4,)),
    ),
)  # fmt: skip
def convolve(z, a, v, mode="full"):
    d[a] = convolve_transpose(d[z], a, v, mode)
    d[v] = convolve_transpose(d[z], v, a, mode)


@adjoint.composed(
    np.correlate,
    forms=(
        *((f"np.correlate(x, y, '{mode}')", (n,), (m,)) for mode in ("full", "same", "valid") for n, m in (
            (5, 3), (3, 5), (4, 2), (2, 4), (1, 4), (3, 3),
        )),
        ("np.correlate(x, y)", (5,), (2,)),
    ),
)  # fmt: skip
def correlate(a, v, mode="valid"):
    return np.convolve(v, a[::-1], mode)[::-1] if np.size(v) > np.size(a) else np.convolve(a, v[::-1], mode)


@adjoint.multilinear(
    convolve_transpose,
    forms=(
        ("convolve_transpose(x, y, z, 'same')", (5,), (5,), (2,)),
        ("convolve_transpose(x, y, z, 'valid')", (3,), (2,), (4,)),
        ("convolve_transpose(x, y, z)", (4,), (3,), (2,)),
    ),
)
def convolve_transpose_adjoint(z, g, a, v, mode="full"):
    d[g] = np.convolve(d[z], v, mode)
    d[v] = convolve_transpose(g, v, d[z], mode)
