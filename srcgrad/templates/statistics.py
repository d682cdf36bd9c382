"""Covariances, correlations, and sums by bins."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.binned import binned, of_bins
from srcgrad.runtime.broadcast import sum_to


@adjoint.composed(
    np.cov,
    forms=(
        ("np.cov(x)", (3, 4)),
        ("np.cov(x)", (4,)),
        ("np.cov(x, y)", (4,), (4,)),
        ("np.cov(x, y)", (2, 4), (1, 4)),
        ("np.cov(x, rowvar=False)", (4, 3)),
        ("np.cov(x, y, rowvar=False)", (4, 2), (4, 1)),
        ("np.cov(x, bias=True)", (3, 4)),
        ("np.cov(x, ddof=0)", (3, 4)),
        ("np.cov(x, fweights=np.array([1, 2, 1, 3]))", (3, 4)),
        ("np.cov(x, aweights=np.exp(y))", (3, 4), (4,)),
        ("np.cov(x, ddof=1, fweights=np.array([1, 2, 1, 3]), aweights=np.exp(y))", (3, 4), (4,)),
    ),
)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    rows = np.atleast_2d(m)
    if not rowvar and np.ndim(m) != 1:
        rows = rows.T
    if y is not None:
        others = np.atleast_2d(y)
        if not rowvar and np.shape(others)[0] != 1:
            others = others.T
        rows = np.pad(rows, ((0, len(others)), (0, 0))) + np.pad(others, ((len(rows), 0), (0, 0)))
    if ddof is not None:
        lost = ddof
    elif bias:
        lost = 0
    else:
        lost = 1
    weights = np.ones(np.shape(rows)[1])
    if fweights is not None:
        weights = weights * fweights
    spread = np.sum(weights)
    if aweights is not None:
        weights = weights * aweights
        spread = np.sum(weights * aweights)
    total = np.sum(weights)
    mean = np.sum(rows * weights, axis=1, keepdims=True) / total
    off = rows - mean
    return np.squeeze((off * weights) @ np.conj(off).T / (total - lost * spread / total))


@adjoint.composed(
    np.corrcoef,
    forms=(
        ("np.corrcoef(x)", (3, 4)),
        ("np.corrcoef(x, y)", (4,), (4,)),
        ("np.corrcoef(x, rowvar=False)", (4, 3)),
    ),
)
def corrcoef(x, y=None, rowvar=True):
    c = np.atleast_2d(np.cov(x, y, rowvar))
    deviation = np.sqrt(np.real(np.diag(c)))
    return np.squeeze(c / np.expand_dims(deviation, 1) / deviation)[()]


@adjoint.linear(
    np.bincount,
    refuses={"x": "it holds integers, which name bins"},
    forms=(
        ("np.bincount(np.array([0, 2, 2, 1]), x)", (4,)),
        ("np.bincount([0, 2, 2, 1], weights=x, minlength=6)", (4,)),
    ),
    note="The gradient is that of the weights.",
)
def bincount(z, x, weights=None, minlength=0):
    d[weights] = sum_to(d[z][np.asarray(x)], weights)


JUMPS = "sums jump where an element crosses an edge"


@adjoint(
    np.histogram,
    results=(("hist", None), ("bin_edges", None)),
    refuses={"a": JUMPS, "bins": JUMPS, "range": JUMPS},
    literals={"density": (None, False, True)},
    forms=(
        ("np.histogram([0.2, 0.5, 0.9, 1.0, 3.0], 4, weights=x)[0]", (5,)),
        ("np.histogram([[0.2, 0.5, 0.9], [1.0, 3.0, -1.0]], [0.0, 0.5, 1.0, 2.0], weights=x)[0]", (2, 3)),
        ("np.histogram([0.2, 0.5, 0.9], bins=3, range=(0.0, 1.0), weights=3.0 + x, density=True)[0]", (3,)),
    ),
    note="The gradient is that of the weights.",
)
def histogram(z, a, bins=10, range=None, density=None, weights=None):
    if density:
        total = np.sum(binned(weights, a, z[1]))
        inner = d[z][0] / np.diff(z[1]) - np.sum(d[z][0] * z[0])
        d[weights] = of_bins(inner / total, a, z[1])
    else:
        d[weights] = of_bins(d[z][0], a, z[1])


@tangent(np.histogram)
def histogram_tangent(z, a, bins=10, range=None, density=None, weights=None):
    if density:
        total = np.sum(binned(weights, a, z[1]))
        sums = binned(d[weights], a, z[1])
        d[z] = ((sums / np.diff(z[1]) - z[0] * np.sum(sums)) / total, np.zeros_like(z[1]))
    else:
        d[z] = (binned(d[weights], a, z[1]), np.zeros_like(z[1]))


@adjoint.linear(
    binned,
    forms=(("binned(x, np.array([0.1, 0.4, 1.0, 2.0]), np.array([0.0, 0.4, 1.0]))", (4,)),),
)
def binned_adjoint(z, weights, a, edges):
    d[weights] = of_bins(d[z], a, edges)


@adjoint.linear(
    of_bins,
    forms=(("of_bins(x, np.array([0.1, 0.4, 1.0, 2.0]), np.array([0.0, 0.4, 1.0]))", (2,)),),
)
def of_bins_adjoint(z, g, a, edges):
    d[g] = binned(d[z], a, edges)
