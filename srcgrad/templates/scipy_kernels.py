"""Filters of `scipy.ndimage` as correlations of what is padded, in the input and in the weights; on request."""

import numpy as np
from scipy import ndimage, signal

from srcgrad.core.rules import adjoint, constants
from srcgrad.runtime.kernels import reaches, steps_along, taps

constants([reaches, steps_along, taps])

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
