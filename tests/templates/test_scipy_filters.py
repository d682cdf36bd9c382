"""Filters that are designed here are real, poles are not; what they are designed from is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal
from scipy.signal import windows

from srcgrad import check_grads, grad, source
from srcgrad.core.errors import DifferentiationError

X = np.sin(np.arange(32.0)) + 0.1 * np.arange(32.0)


def designed(x):
    b, a = signal.butter(2, 0.3)
    once = signal.lfilter(b, a, x)
    return np.hypot(once[3], signal.filtfilt(b, a, x)[5])


def in_sections(x):
    sos = signal.butter(4, 0.3, output="sos")
    return np.sum(np.maximum(signal.sosfilt(sos, x), signal.sosfiltfilt(sos, x)))


def windowed(x):
    spectrum = np.fft.rfft(x * signal.get_window("hann", 32) * windows.tukey(32))
    return np.sum(np.log(np.abs(spectrum) ** 2 + 1e-3))


def poles(x):
    ends = signal.butter(2, 0.3, output="zpk")[1]
    return np.sum(np.abs(x[0] - ends) ** 2)


def cutoff(w):
    b, a = signal.butter(2, w)
    return np.sum(signal.lfilter(b, a, X))


@pytest.mark.parametrize("f", [designed, in_sections, windowed, poles])
def test_filters_that_are_designed_here(f):
    check_grads(f, (X,), order=2)


def test_the_text_of_a_real_filter_conjugates_nothing():
    assert "conj" not in source(designed)


def test_what_a_filter_is_designed_from_is_refused():
    with pytest.raises(DifferentiationError, match=r"E5001.*designs a filter"):
        grad(cutoff)(0.3)
