"""Filters of `scipy.signal` in terms of `lfilter`, of windows and of spectra; those that are designed; on request."""

import numpy as np
from scipy import signal

from srcgrad.core.rules import adjoint, constants
from srcgrad.runtime.choices import require_handled
from srcgrad.runtime.filters import fitted_window, one_sided
from srcgrad.templates.refused import declare

constants([fitted_window, one_sided])


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


WITHOUT_RULE = """bilinear cspline1d decimate envelope find_peaks hilbert2 istft medfilt
medfilt2d order_filter periodogram resample resample_poly residue spectrogram stft
upfirdn vectorstrength welch wiener"""

declare(
    signal, "scipy.signal", WITHOUT_RULE, "it has no rule; spell a linear filter with scipy.signal.lfilter or convolve"
)

DESIGNED = """butter cheby1 cheby2 ellip bessel iirfilter"""
SHAPES = (
    """get_window firwin firwin2 firls remez savgol_coeffs iirnotch iirpeak iircomb lfilter_zi sosfilt_zi kaiserord"""
)
WINDOWS = """barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine dpss exponential flattop gaussian
general_cosine general_gaussian general_hamming get_window hamming hann kaiser kaiser_bessel_derived lanczos nuttall
parzen taylor triang tukey"""
DESIGN = "it designs a filter or a window; what it is designed from has no derivative"

declare(signal, "scipy.signal", DESIGNED, DESIGN, values="real", literals={"output": ("ba", "sos")})
declare(signal, "scipy.signal", SHAPES, DESIGN, values="real")
declare(signal.windows, "scipy.signal.windows", WINDOWS, DESIGN, values="real")
