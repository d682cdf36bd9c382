"""Convolutions and filters of `scipy.signal`, in terms of `lfilter`, of windows and of spectra; on request."""

import numpy as np
from scipy import signal

from srcgrad.core.rules import adjoint, constants, d, declare, tangent
from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.signals import fitted_window, lagged, named_window, of_full, one_sided, within_full

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


constants([fitted_window, one_sided])


@adjoint.linear(named_window, forms=(("named_window(x, None, 9)", (4,)),))
def named_window_adjoint(z, window, nperseg, length):
    d[window] = d[z]  # an array is its own window


def extended(x, padtype, edge):
    """A signal continued at both ends of its last axis."""
    if padtype == "odd":
        left = 2.0 * x[..., :1] - x[..., edge:0:-1]
        right = 2.0 * x[..., -1:] - x[..., -2 : -edge - 2 : -1]
    elif padtype == "even":
        left = x[..., edge:0:-1]
        right = x[..., -2 : -edge - 2 : -1]
    else:
        left = x[..., :1] * np.ones(edge)
        right = x[..., -1:] * np.ones(edge)
    return np.concatenate((left, x, right), axis=-1)


@adjoint.composed(
    signal.sosfilt,
    forms=(
        ("scipy.signal.sosfilt([[0.5, 0.2, 0.1, 1.0, -0.3, 0.1], [1.0, 0.4, 0.0, 1.0, 0.2, 0.0]], x)", (6,)),
        ("scipy.signal.sosfilt(0.1 * x * (1.0 - np.eye(6)[3]) + np.eye(6)[[3]], y, 0)", (1, 6), (4, 2)),
    ),
)
def sosfilt(sos, x, axis=-1):
    sections = np.asarray(sos)
    made = x
    for k in range(len(sections)):
        made = signal.lfilter(sections[k, :3], sections[k, 3:], made, axis)
    return made


@adjoint.composed(
    signal.filtfilt,
    forms=(
        ("scipy.signal.filtfilt([0.5, 0.2], [1.0, -0.3], x)", (9,)),
        ("scipy.signal.filtfilt([0.5, 0.2], [1.0, -0.3], x, 0, 'even', 3)", (6, 2)),
        ("scipy.signal.filtfilt(0.5 + 0.1 * x, [1.0, -0.3], y, padlen=0)", (2,), (6,)),
        ("scipy.signal.filtfilt([0.5, 0.2], [1.0, -0.3], x, padtype='constant')", (2, 8)),
        ("scipy.signal.filtfilt([0.5, 0.2], [1.0, -0.3], x, padtype=None)", (2, 8)),
    ),
)
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None):
    over, under = np.atleast_1d(b), np.atleast_1d(a)
    edge = 3 * max(len(over), len(under)) if padlen is None else padlen
    if padtype is None:
        edge = 0
    lines = np.moveaxis(x, axis, -1)
    require_handled(edge < np.shape(lines)[-1], "scipy.signal.filtfilt of a signal that is shorter than padlen")
    steady = np.sum(over) / np.sum(under)
    whole = lines if edge == 0 else extended(lines, padtype, edge)
    first = whole[..., :1]
    forth = signal.lfilter(over, under, whole - first) + steady * first
    last = forth[..., -1:]
    back = signal.lfilter(over, under, np.flip(forth, -1) - last) + steady * last
    made = np.flip(back, -1)
    if edge > 0:
        made = made[..., edge:-edge]
    return np.moveaxis(made, -1, axis)


@adjoint.composed(
    signal.sosfiltfilt,
    forms=(
        ("scipy.signal.sosfiltfilt([[0.5, 0.2, 0.1, 1.0, -0.3, 0.1], [1.0, 0.4, 0.0, 1.0, 0.2, 0.0]], x)", (14,)),
        ("scipy.signal.sosfiltfilt([[0.5, 0.2, 0.1, 1.0, -0.3, 0.1]], x, 0, 'even', 3)", (6, 2)),
    ),
)
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    sections = np.asarray(sos)
    count = 2 * len(sections) + 1
    count -= min(np.count_nonzero(sections[:, 2] == 0), np.count_nonzero(sections[:, 5] == 0))
    edge = 3 * count if padlen is None else padlen
    if padtype is None:
        edge = 0
    lines = np.moveaxis(x, axis, -1)
    require_handled(edge < np.shape(lines)[-1], "scipy.signal.sosfiltfilt of a signal that is shorter than padlen")
    steady = np.prod(np.sum(sections[:, :3], axis=1) / np.sum(sections[:, 3:], axis=1))
    whole = lines if edge == 0 else extended(lines, padtype, edge)
    first = whole[..., :1]
    forth = signal.sosfilt(sections, whole - first) + steady * first
    last = forth[..., -1:]
    back = signal.sosfilt(sections, np.flip(forth, -1) - last) + steady * last
    made = np.flip(back, -1)
    if edge > 0:
        made = made[..., edge:-edge]
    return np.moveaxis(made, -1, axis)


@adjoint.composed(
    signal.savgol_filter,
    forms=(
        ("scipy.signal.savgol_filter(x, 5, 2)", (9,)),
        ("scipy.signal.savgol_filter(x, 3, 1, deriv=1, delta=0.5, axis=0)", (5, 2)),
        ("scipy.signal.savgol_filter(x, 5, 3)", (2, 6)),
    ),
    note="In mode interp, which is that of the default.",
)
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1):
    require_handled(not np.iscomplexobj(x), "savgol_filter of complex numbers, of which it drops the imaginary part")
    half = window_length // 2
    lines = np.moveaxis(x, axis, -1)
    dtype = np.float32 if lines.dtype == np.float32 else np.float64
    fits = fitted_window(window_length, polyorder, deriv, delta).astype(dtype)
    windows = np.lib.stride_tricks.sliding_window_view(lines, window_length, axis=-1)
    head = lines[..., :window_length] @ fits[:half].T
    tail = lines[..., np.shape(lines)[-1] - window_length :] @ fits[half + 1 :].T
    return np.moveaxis(np.concatenate((head, windows @ fits[half], tail), axis=-1), -1, axis)


@adjoint.composed(
    signal.hilbert,
    values="complex",
    forms=(
        ("np.abs(scipy.signal.hilbert(x))", (6,)),
        ("np.imag(scipy.signal.hilbert(x, axis=0))", (5, 2)),
    ),
)
def hilbert(x, N=None, axis=-1):  # SciPy's own name
    count = np.shape(x)[axis] if N is None else N
    spectrum = np.moveaxis(np.fft.fft(x, count, axis), axis, -1)
    return np.moveaxis(np.fft.ifft(spectrum * one_sided(count).astype(spectrum.real.dtype)), -1, axis)


def spectrum(x, fs, window, step, nfft, detrend, scaling, axis):
    """The powers of the parts of a signal at which a window of that length looks."""
    lines = np.moveaxis(np.asarray(x), axis, -1)
    require_handled(np.isrealobj(x), "the spectrum of complex numbers")
    weights = np.asarray(window).astype(lines.dtype)
    parts = np.lib.stride_tricks.sliding_window_view(lines, len(weights), axis=-1)[..., ::step, :]
    if detrend == "constant":
        parts = parts - np.mean(parts, axis=-1, keepdims=True)
    elif detrend == "linear":
        parts = signal.detrend(parts)
    waves = np.fft.rfft(parts * weights, nfft)
    powers = np.real(waves) ** 2 + np.imag(waves) ** 2
    unit = fs * np.sum(weights**2) if scaling == "density" else np.sum(weights) ** 2
    return powers * one_sided(nfft)[: nfft // 2 + 1].astype(lines.dtype) / unit


@adjoint.composed(
    signal.welch,
    forms=(
        ("scipy.signal.welch(x, 2.0, nperseg=4)[1]", (9,)),
        (
            "scipy.signal.welch(x, nperseg=4, nfft=5, detrend='linear', scaling='spectrum', axis=0)[1]",
            (9, 2),
        ),
    ),
    note="Of real signals, one-sided, averaged by the mean.",
)
def welch(
    x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", scaling="density", axis=-1
):
    weights = named_window(window, nperseg, np.shape(x)[axis])
    count = len(weights) if nfft is None else nfft
    step = len(weights) - (len(weights) // 2 if noverlap is None else noverlap)
    powers = np.mean(spectrum(x, fs, weights, step, count, detrend, scaling, axis), axis=-2)
    return np.arange(count // 2 + 1) * fs / count, np.moveaxis(powers, -1, axis)


@adjoint.composed(
    signal.periodogram,
    forms=(
        ("scipy.signal.periodogram(x, 2.0)[1]", (6,)),
        ("scipy.signal.periodogram(x, window='hann', nfft=8, detrend=False, scaling='spectrum', axis=0)[1]", (5, 2)),
    ),
    note="Of real signals, one-sided.",
)
def periodogram(x, fs=1.0, window="boxcar", nfft=None, detrend="constant", scaling="density", axis=-1):
    length = np.shape(x)[axis]
    count = length if nfft is None else nfft
    require_handled(count >= length, "scipy.signal.periodogram of a part of the signal")
    weights = named_window(window, length, length)
    powers = spectrum(x, fs, weights, length, count, detrend, scaling, axis)[..., 0, :]
    return np.arange(count // 2 + 1) * fs / count, np.moveaxis(powers, -1, axis)


WITHOUT_RULE = """bilinear cspline1d decimate envelope find_peaks hilbert2 i?stft medfilt.* order_filter resample.*
residue spectrogram upfirdn vectorstrength wiener"""

declare(
    signal, "scipy.signal", WITHOUT_RULE, "it has no rule; spell a linear filter with scipy.signal.lfilter or convolve"
)

DESIGN = "it designs a filter or a window; what it is designed from has no derivative"

declare(
    signal,
    "scipy.signal",
    "butter cheby[12] ellip bessel iirfilter",
    DESIGN,
    values="real",
    literals={"output": ("ba", "sos")},
)
declare(
    signal,
    "scipy.signal",
    "get_window fir.* remez savgol_coeffs iir(notch|peak|comb) .*_zi kaiserord",
    DESIGN,
    values="real",
)
declare(signal.windows, "scipy.signal.windows", "[a-z].*", DESIGN, values="real")
