"""Filters of `scipy.ndimage` in the input and in the weights, and values between pixels; on request."""

import numpy as np
from scipy import ndimage, signal

from srcgrad.core.rules import adjoint, constants, d, declare, declare_other_form, declare_refused
from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.signals import bell, filtered_transpose, reaches, steps_along, taps

constants([reaches, steps_along, taps])

# How an array goes on beyond its edges.
MODES = ("reflect", "mirror", "nearest", "wrap", "constant")


def beyond(input, widths, mode, cval):
    """An array continued beyond its edges, in the words of `scipy.ndimage`."""
    if mode in ("reflect", "grid-mirror"):
        made = np.pad(input, widths, "symmetric")
    elif mode == "mirror":
        made = np.pad(input, widths, "reflect")
    elif mode == "nearest":
        made = np.pad(input, widths, "edge")
    elif mode in ("wrap", "grid-wrap"):
        made = np.pad(input, widths, "wrap")
    else:
        require_handled(mode in ("constant", "grid-constant"), "a mode for each axis: filter along one after the other")
        made = np.pad(input, widths, "constant", constant_values=cval)
    return made


def along(input, weights, axis, mode, cval, origin):
    """A correlation along one axis."""
    shaped = np.reshape(weights, steps_along(weights, np.ndim(input), axis))
    return ndimage.correlate(input, shaped, mode=mode, cval=cval, origin=taps(origin, np.ndim(input), axis))


@adjoint.composed(
    ndimage.correlate,
    forms=(
        ("scipy.ndimage.correlate(x, y)", (4, 5), (3, 3)),
        ("scipy.ndimage.correlate(x, y, mode='wrap', origin=(0, -1))", (4, 5), (2, 3)),
        ("scipy.ndimage.correlate(x, y, mode='constant', cval=2.0)", (4, 5), (3, 2)),
        ("scipy.ndimage.correlate(x, y, mode='mirror')", (6,), (4,)),
        ("scipy.ndimage.correlate(x, [[0.5, 1.0], [2.0, 3.0]], mode='nearest')", (3, 4)),
    ),
)
def correlate(input, weights, *, mode="reflect", cval=0.0, origin=0):
    padded = beyond(input, reaches(weights, origin), mode, cval)
    return signal.correlate(padded, np.asarray(weights), "valid", "direct").astype(np.asarray(input).dtype)


@adjoint.composed(
    ndimage.convolve,
    forms=(
        ("scipy.ndimage.convolve(x, y)", (4, 5), (3, 3)),
        ("scipy.ndimage.convolve(x, y, mode='wrap', origin=(0, -1))", (4, 5), (2, 3)),
        ("scipy.ndimage.convolve(x, y, mode='constant', cval=2.0)", (4, 5), (3, 2)),
    ),
)
def convolve(input, weights, *, mode="reflect", cval=0.0, origin=0):
    turned = np.flip(weights)
    padded = beyond(input, reaches(turned, origin, True), mode, cval)
    return signal.correlate(padded, turned, "valid", "direct").astype(np.asarray(input).dtype)


@adjoint.composed(
    ndimage.convolve1d,
    forms=(
        ("scipy.ndimage.convolve1d(x, y)", (4, 5), (3,)),
        ("scipy.ndimage.convolve1d(x, y, 0, mode='nearest', origin=1)", (5, 2), (4,)),
    ),
)
def convolve1d(input, weights, axis=-1, *, mode="reflect", cval=0.0, origin=0):
    shaped = np.reshape(weights, steps_along(weights, np.ndim(input), axis))
    return ndimage.convolve(input, shaped, mode=mode, cval=cval, origin=taps(origin, np.ndim(input), axis))


@adjoint.composed(
    ndimage.uniform_filter1d,
    forms=(
        ("scipy.ndimage.uniform_filter1d(x, 3)", (4, 5)),
        ("scipy.ndimage.uniform_filter1d(x, 4, axis=0, mode='constant', origin=1)", (5, 2)),
    ),
)
def uniform_filter1d(input, size, axis=-1, *, mode="reflect", cval=0.0, origin=0):
    return along(input, np.ones(size) / size, axis, mode, cval, origin)


@adjoint.composed(
    ndimage.uniform_filter,
    forms=(
        ("scipy.ndimage.uniform_filter(x)", (4, 5)),
        ("scipy.ndimage.uniform_filter(x, (2, 3), mode='wrap')", (4, 5)),
    ),
)
def uniform_filter(input, size=3, *, mode="reflect", cval=0.0):
    made = np.asarray(input)
    for axis in range(np.ndim(input)):
        count = size if np.ndim(size) == 0 else size[axis]
        made = along(made, np.ones(count) / count, axis, mode, cval, 0)
    return made


@adjoint.composed(
    ndimage.sobel,
    forms=(("scipy.ndimage.sobel(x)", (4, 5)), ("scipy.ndimage.sobel(x, 0, mode='constant', cval=1.0)", (4, 5))),
)
def sobel(input, axis=-1, *, mode="reflect", cval=0.0):
    made = along(input, [-1.0, 0.0, 1.0], axis, mode, cval, 0)
    for other in range(np.ndim(input)):
        if other != axis % np.ndim(input):
            made = along(made, [1.0, 2.0, 1.0], other, mode, cval, 0)
    return made


@adjoint.composed(
    ndimage.prewitt,
    forms=(("scipy.ndimage.prewitt(x)", (4, 5)), ("scipy.ndimage.prewitt(x, 0, mode='nearest')", (4, 5))),
)
def prewitt(input, axis=-1, *, mode="reflect", cval=0.0):
    made = along(input, [-1.0, 0.0, 1.0], axis, mode, cval, 0)
    for other in range(np.ndim(input)):
        if other != axis % np.ndim(input):
            made = along(made, [1.0, 1.0, 1.0], other, mode, cval, 0)
    return made


@adjoint.composed(
    ndimage.laplace,
    forms=(("scipy.ndimage.laplace(x)", (4, 5)), ("scipy.ndimage.laplace(x, mode='wrap')", (6,))),
)
def laplace(input, *, mode="reflect", cval=0.0):
    made = np.zeros_like(input) if np.ndim(input) > 0 else np.asarray(input)
    for axis in range(np.ndim(input)):
        made = made + along(input, [1.0, -2.0, 1.0], axis, mode, cval, 0)
    return made


PLACES = "np.array([[0.3, 1.6, 2.4], [0.7, 2.2, 3.9]]) + 0.05 * y"


@adjoint.composed(
    ndimage.map_coordinates,
    forms=(
        (f"scipy.ndimage.map_coordinates(x, {PLACES}, order=1, mode='nearest')", (3, 4), (2, 3)),
        (f"scipy.ndimage.map_coordinates(x, {PLACES}, order=1, cval=0.5)", (3, 4), (2, 3)),
        ("scipy.ndimage.map_coordinates(x, [2.4 + 0.05 * y], None, 1)", (5,), (2,)),
        ("scipy.ndimage.map_coordinates(x, 0.6 + 0.05 * y, order=1, mode='nearest')", (2, 3, 2), (3, 2, 2)),
    ),
    note="Of order 1, with mode constant or nearest. At a pixel the derivative by the place is that towards the next.",
)
def map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    require_handled(order == 1, "scipy.ndimage.map_coordinates of an order other than 1: give order=1")
    require_handled(mode in ("constant", "nearest"), "a mode of map_coordinates other than constant and nearest")
    require_handled(output is None, "scipy.ndimage.map_coordinates with output=")
    rounds = "scipy.ndimage.map_coordinates of integers, which rounds: give it floats"
    require_handled(np.asarray(input).dtype.kind not in "iub", rounds)
    places = np.asarray(coordinates)
    size = np.shape(input)
    values = np.ravel(input)
    beyond = False
    below, parts = [], []
    for k in range(len(size)):
        t = np.clip(places[k], 0.0, size[k] - 1.0)
        whole = np.clip(np.floor(t), 0.0, max(size[k] - 2.0, 0.0))
        below.append(whole.astype(int))
        parts.append(t - whole)
        beyond = beyond | (places[k] < 0.0) | (places[k] > size[k] - 1.0)
    z = 0.0
    for corner in range(2 ** len(size)):
        weight, flat = 1.0, 0
        for k in range(len(size)):
            up = (corner >> k) & 1
            weight = weight * (parts[k] if up else 1.0 - parts[k])
            flat = flat * size[k] + np.minimum(below[k] + up, size[k] - 1)
        z = z + weight * np.take(values, flat)
    if mode == "constant":
        z = np.where(beyond, cval, z)
    return z.astype(np.asarray(input).dtype)


WEIGHTS = "it is a constant of the filter; use scipy.signal.correlate for weights that are learned"
WIDTH = "it is the width of a kernel that is cut off at a whole number"


def _forms(name):
    """Calls for every way to go on beyond the edge."""
    weights = "np.array([1.0, 2.0, 4.0, 8.0])"
    return (
        (f"{name}(x, np.array([1.0, 2.0, 4.0]))", (5,)),
        *((f"{name}(x, {weights}, 0, mode='{mode}', origin=1)", (6, 2)) for mode in MODES),
    )


@adjoint.linear(
    ndimage.correlate1d,
    forms=_forms("scipy.ndimage.correlate1d"),
    refuses={"weights": WEIGHTS},
    literals={"mode": MODES},
)
def correlate1d(z, input, weights, axis=-1, mode="reflect", origin=0):
    d[input] = filtered_transpose(d[z], weights, axis, mode, origin)


@adjoint.linear(
    filtered_transpose,
    forms=(("filtered_transpose(x, np.array([1.0, 2.0, 4.0]), 0, 'nearest')", (5, 2)),),
    refuses={"weights": WEIGHTS},
)
def filtered_transpose_adjoint(z, g, weights, axis=-1, mode="reflect", origin=0):
    d[g] = ndimage.correlate1d(d[z], weights, axis, mode=mode, origin=origin)


@adjoint.linear(
    ndimage.gaussian_filter,
    forms=(
        ("scipy.ndimage.gaussian_filter(x, 1.2)", (6,)),
        ("scipy.ndimage.gaussian_filter(x, (0.5, 1.0), mode='wrap', truncate=2.0)", (4, 5)),
        ("scipy.ndimage.gaussian_filter(x, 0.8, mode='constant')", (4, 5)),
    ),
    refuses={"sigma": WIDTH},
    literals={"mode": ("reflect", "wrap", "constant")},
    note="With a symmetric kernel and mode reflect, wrap or constant the filter is its own transpose.",
)
def gaussian_filter(z, input, sigma, mode="reflect", truncate=4.0):
    d[input] = ndimage.gaussian_filter(d[z], sigma, mode=mode, truncate=truncate)


@adjoint.linear(
    ndimage.gaussian_filter1d,
    forms=(
        ("scipy.ndimage.gaussian_filter1d(x, 1.2)", (6,)),
        ("scipy.ndimage.gaussian_filter1d(x, 0.8, 0, mode='wrap')", (5, 2)),
    ),
    refuses={"sigma": WIDTH},
    literals={"mode": ("reflect", "wrap", "constant")},
    note="As gaussian_filter.",
)
def gaussian_filter1d(z, input, sigma, axis=-1, mode="reflect", truncate=4.0):
    d[input] = ndimage.gaussian_filter1d(d[z], sigma, axis, mode=mode, truncate=truncate)


declare_refused(WIDTH, {"srcgrad.runtime.signals.bell": bell})
OTHER_WAYS = {"order": (), "cval": (), "mode": ("nearest", "mirror")}


@declare_other_form(
    ndimage.gaussian_filter1d,
    (
        ("scipy.ndimage.gaussian_filter1d(x, 0.6, 0, 1, mode='nearest')", (5, 2)),
        ("scipy.ndimage.gaussian_filter1d(x, 0.4, order=2, mode='constant', cval=1.5)", (4,)),
    ),
    {3: "order"},
    **OTHER_WAYS,
)
def smoothed(input, sigma, axis=-1, order=0, *, mode="reflect", cval=0.0, truncate=4.0):
    return along(input, np.flip(bell(sigma, order, truncate)), axis, mode, cval, 0)


@declare_other_form(
    ndimage.gaussian_filter,
    (
        ("scipy.ndimage.gaussian_filter(x, 0.6, mode='mirror')", (4, 5)),
        ("scipy.ndimage.gaussian_filter(x, (0.4, 0.8), (1, 0), mode='constant', cval=1.5)", (4, 5)),
    ),
    {2: "order"},
    **OTHER_WAYS,
)
def smoothed_all(input, sigma, order=0, *, mode="reflect", cval=0.0, truncate=4.0):
    made = np.asarray(input)
    for axis in range(np.ndim(input)):
        width = sigma if np.ndim(sigma) == 0 else sigma[axis]
        if width > 1e-15:
            kernel = bell(width, order if np.ndim(order) == 0 else order[axis], truncate)
            made = along(made, np.flip(kernel), axis, mode, cval, 0)
    return made


@adjoint.composed(ndimage.gaussian_laplace, forms=(("scipy.ndimage.gaussian_laplace(x, 0.6)", (4, 5)),))
def gaussian_laplace(input, sigma, *, mode="reflect", cval=0.0, truncate=4.0):
    made = np.zeros_like(input)
    for axis in range(np.ndim(input)):
        order = 2 * np.eye(np.ndim(input), dtype=int)[axis]
        made = made + ndimage.gaussian_filter(input, sigma, order, mode=mode, cval=cval, truncate=truncate)
    return made


RANKS = """grey_.* m.*m_filter.* median_filter percentile_filter rank_filter .*_tophat morphological_gradient"""
MOVES = """(affine|geometric)_transform rotate shift spline_filter.* zoom"""
OTHERS = """gaussian_.* generic_.* vectorized_filter fourier_.*"""
LABELS = """label find_objects center_of_mass sum.* mean median variance standard_deviation minimum maximum extrema
histogram labeled_comprehension value_indices distance_transform_.*"""

for names, reason in (
    (RANKS, "it picks elements by their rank; use np.sort of shifted arrays"),
    (MOVES, "it moves pixels along a spline; use scipy.ndimage.map_coordinates with order=1, at places of your own"),
    (OTHERS, "it has no rule; spell the filter with scipy.ndimage.correlate1d, axis by axis, or scipy.signal.convolve"),
    (LABELS, "it works on labelled parts; index the array with masks that are constant"),
):
    declare(ndimage, "scipy.ndimage", names, reason)
