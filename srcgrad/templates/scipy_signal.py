"""Convolutions and filters of `scipy.signal`, for arrays of any number of axes; loaded on request."""

import numpy as np
from scipy import signal

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.signals import lagged, of_full, within_full

MODES = ("full", "same", "valid")


def _forms(name):
    """Calls in all modes, for vectors and matrices, of odd and even lengths."""
    return (
        *((f"{name}(x, y, '{mode}')", (5,), (m,)) for mode in MODES for m in (2, 3)),
        (f"{name}(x, y, 'valid')", (2,), (4,)),
        (f"{name}(x, y, mode='same')", (2,), (4,)),
        *((f"{name}(x, y, '{mode}')", (3, 4), (2, 3)) for mode in MODES),
        (f"{name}(x, x)", (3,)),
    )


def _few(name):
    """The calls that differ most."""
    return _forms(name)[2:3] + _forms(name)[-5:-1]


def _plane(name):
    """Calls in all modes for matrices."""
    return tuple((f"{name}(x, y, '{mode}')", (3, 4), (2, 3)) for mode in MODES)


@adjoint.multilinear(signal.convolve, forms=_forms("scipy.signal.convolve"))
def convolve(z, in1, in2, mode="full", method="auto"):
    d[in1] = signal.correlate(within_full(d[z], in1, in2, mode), in2, "valid", method)
    d[in2] = signal.correlate(within_full(d[z], in1, in2, mode), in1, "valid", method)


@adjoint.multilinear(signal.correlate, forms=_forms("scipy.signal.correlate"))
def correlate(z, in1, in2, mode="full", method="auto"):
    d[in1] = signal.convolve(within_full(d[z], in1, in2, mode), in2, "valid", method)
    d[in2] = np.flip(signal.correlate(within_full(d[z], in1, in2, mode), in1, "valid", method))


@adjoint.multilinear(signal.fftconvolve, forms=_few("scipy.signal.fftconvolve"))
def fftconvolve(z, in1, in2, mode="full"):
    d[in1] = signal.fftconvolve(within_full(d[z], in1, in2, mode), np.flip(in2), "valid")
    d[in2] = signal.fftconvolve(within_full(d[z], in1, in2, mode), np.flip(in1), "valid")


@adjoint.multilinear(signal.oaconvolve, forms=_few("scipy.signal.oaconvolve"))
def oaconvolve(z, in1, in2, mode="full"):
    d[in1] = signal.oaconvolve(within_full(d[z], in1, in2, mode), np.flip(in2), "valid")
    d[in2] = signal.oaconvolve(within_full(d[z], in1, in2, mode), np.flip(in1), "valid")


@adjoint.multilinear(signal.convolve2d, forms=_plane("scipy.signal.convolve2d"))
def convolve2d(z, in1, in2, mode="full"):
    d[in1] = signal.correlate2d(within_full(d[z], in1, in2, mode), in2, "valid")
    d[in2] = signal.correlate2d(within_full(d[z], in1, in2, mode), in1, "valid")


@adjoint.multilinear(
    signal.correlate2d,
    forms=(_plane("scipy.signal.correlate2d")[0], _plane("scipy.signal.correlate2d")[2]),
    literals={"mode": ("full", "valid")},
    note="Mode same, whose middle is another one for even lengths, is refused.",
)
def correlate2d(z, in1, in2, mode="full"):
    d[in1] = signal.convolve2d(within_full(d[z], in1, in2, mode), in2, "valid")
    d[in2] = np.flip(signal.correlate2d(within_full(d[z], in1, in2, mode), in1, "valid"))


@adjoint.linear(
    within_full,
    forms=tuple(
        (f"within_full(x, np.ones(4), np.ones(3), '{m}')", (n,)) for m, n in zip(MODES, (6, 4, 2), strict=True)
    ),
)
def within_full_adjoint(z, g, a, v, mode="full"):
    d[g] = of_full(d[z], a, v, mode)


@adjoint.linear(of_full, forms=tuple((f"of_full(x, np.ones(4), np.ones(3), '{m}')", (6,)) for m in MODES))
def of_full_adjoint(z, whole, a, v, mode="full"):
    d[whole] = within_full(d[z], a, v, mode)


@adjoint(
    signal.lfilter,
    domain={"x": (0.5, 1.5), "y": (0.1, 0.3), "z": (-2.0, 2.0)},
    forms=(
        ("scipy.signal.lfilter(x, 1.0 + y, z)", (3,), (2,), (5,)),
        ("scipy.signal.lfilter([0.5, 0.2], [1.0, -0.3], z)", (1,), (1,), (2, 4)),
        ("scipy.signal.lfilter(x, 1.0 + y, z, axis=0)", (2,), (3,), (4, 2)),
    ),
)
def lfilter(z, b, a, x, axis=-1):
    d[b] = lagged(d[z], signal.lfilter(np.ones(1), a, x, axis), b, axis)
    d[a] = -lagged(d[z], signal.lfilter(np.ones(1), a, z, axis), a, axis)
    d[x] = np.flip(signal.lfilter(b, a, np.flip(d[z], axis), axis), axis)


@tangent(signal.lfilter)
def lfilter_tangent(z, b, a, x, axis=-1):
    d[z] = signal.lfilter(d[b], a, x, axis) - signal.lfilter(d[a], a, z, axis) + signal.lfilter(b, a, d[x], axis)


@adjoint.multilinear(
    lagged, forms=(("lagged(x, y, np.ones(3))", (5,), (5,)), ("lagged(x, y, np.ones(2), 0)", (4, 2), (4, 2)))
)
def lagged_adjoint(z, g, u, b, axis=-1):
    d[g] = signal.lfilter(d[z], np.ones(1), u, axis)
    d[u] = np.flip(signal.lfilter(d[z], np.ones(1), np.flip(g, axis), axis), axis)


@adjoint.linear(
    signal.detrend,
    forms=(
        ("scipy.signal.detrend(x) ** 2", (5,)),
        ("scipy.signal.detrend(x, 0, 'constant')", (4, 2)),
    ),
)
def detrend(z, data, axis=-1, type="linear"):
    d[data] = signal.detrend(d[z], axis, type)
