"""Distances between the rows of matrices, `scipy.spatial.distance`; loaded on request."""

import numpy as np
from scipy.spatial import distance

from srcgrad.core.rules import adjoint
from srcgrad.runtime.layout import require_handled

METRICS = ("sqeuclidean", "cityblock", "chebyshev", "cosine", "minkowski")


def compared(points, metric):
    """The rows that differences are taken of: for the cosine those of length 1."""
    rows = np.asarray(points, dtype=float)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True) if metric == "cosine" else rows


def distances(off, metric, p):
    """The length of each vector along the last axis."""
    if metric == "euclidean":
        found = np.linalg.norm(off, axis=-1)
    elif metric == "sqeuclidean":
        found = np.sum(off * off, axis=-1)
    elif metric == "cityblock":
        found = np.sum(np.abs(off), axis=-1)
    elif metric == "cosine":
        found = 0.5 * np.sum(off * off, axis=-1)
    elif metric == "minkowski":
        found = np.linalg.norm(off, ord=p, axis=-1)
    else:
        require_handled(metric == "chebyshev", f"the metric {metric}")
        found = np.max(np.abs(off), axis=-1)
    return found


@adjoint.composed(
    distance.cdist,
    name="scipy.spatial.distance.cdist",
    forms=(
        ("scipy.spatial.distance.cdist(x, y)", (3, 2), (4, 2)),
        *((f"scipy.spatial.distance.cdist(x, y, '{metric}')", (3, 2), (2, 2)) for metric in METRICS),
    ),
    note="Euclidean, squared Euclidean, city block, Chebyshev, cosine, Minkowski; the gradient of the first is 0 at 0.",
)
def cdist(XA, XB, metric="euclidean", *, p=2.0):
    first, second = compared(XA, metric), compared(XB, metric)
    return distances(np.expand_dims(first, 1) - np.expand_dims(second, 0), metric, p)


@adjoint.composed(
    distance.pdist,
    name="scipy.spatial.distance.pdist",
    forms=(
        ("scipy.spatial.distance.pdist(x)", (4, 2)),
        ("scipy.spatial.distance.pdist(x, 'minkowski', p=3)", (4, 2)),
        *((f"scipy.spatial.distance.pdist(x, metric='{metric}')", (3, 2)) for metric in METRICS),
    ),
    note="As scipy.spatial.distance.cdist.",
)
def pdist(X, metric="euclidean", *, p=2.0):
    first, second = np.triu_indices(np.shape(X)[0], 1)
    points = compared(X, metric)
    return distances(np.take(points, first, axis=0) - np.take(points, second, axis=0), metric, p)


@adjoint.composed(
    distance.squareform,
    name="scipy.spatial.distance.squareform",
    forms=(
        ("scipy.spatial.distance.squareform(x)", (6,)),
        ("scipy.spatial.distance.squareform(x + x.T - np.diag(2.0 * np.diag(x)))", (3, 3)),
    ),
    note="Of a matrix the part above the diagonal.",
)
def squareform(X):
    require_handled(np.size(X) > 0, "scipy.spatial.distance.squareform of nothing")
    if np.ndim(X) == 1:
        n = int(np.ceil(np.sqrt(2.0 * np.size(X))))
        first, second = np.triu_indices(n, 1)
        place = np.zeros((n, n), int)
        place[first, second] = np.arange(1, np.size(X) + 1)
        found = np.take(np.concatenate((np.zeros_like(X[:1]), X)), place + place.T)
    else:
        first, second = np.triu_indices(np.shape(X)[0], 1)
        found = X[first, second]
    return found


@adjoint.composed(
    distance.euclidean,
    name="scipy.spatial.distance.euclidean",
    forms=(("scipy.spatial.distance.euclidean(x, y)", (3,), (3,)),),
    note="The gradient is 0 where the distance is 0.",
)
def euclidean(u, v):
    return np.linalg.norm(np.asarray(u) - np.asarray(v))


@adjoint.composed(
    distance.sqeuclidean,
    name="scipy.spatial.distance.sqeuclidean",
    forms=(("scipy.spatial.distance.sqeuclidean(x, y)", (3,), (3,)),),
)
def sqeuclidean(u, v):
    off = np.asarray(u) - np.asarray(v)
    return np.dot(off, off)


@adjoint.composed(
    distance.cosine,
    name="scipy.spatial.distance.cosine",
    forms=(("scipy.spatial.distance.cosine(x, y)", (3,), (3,)),),
)
def cosine(u, v):
    return 1.0 - np.dot(u, v) / (np.linalg.norm(u) * np.linalg.norm(v))
