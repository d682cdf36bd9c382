"""Constants of filters: fits of polynomials to a window, weights of a one-sided spectrum."""

from __future__ import annotations

from typing import Any  # arrays of floats

import numpy as np


def fitted_window(length: int, order: int, deriv: int = 0, delta: float = 1.0) -> Any:
    """The matrix that takes the values of a window to those of the polynomial that fits them best.

    It gives the derivative of that order, of a signal with that distance between its samples.

    >>> fitted_window(3, 0)[0]
    array([0.33333333, 0.33333333, 0.33333333])
    """
    places = np.arange(length) - length // 2
    fit = np.linalg.pinv(np.vander(places + 0.0, order + 1))
    taken = [np.polyval(np.polyder(column, deriv) if deriv else column, places) for column in fit.T]
    return np.stack(taken, axis=1) / delta**deriv


def one_sided(n: int) -> Any:
    """What a spectrum of n is multiplied with for the negative frequencies to vanish.

    >>> one_sided(4), one_sided(3)
    (array([1., 2., 1., 0.]), array([1., 2., 0.]))
    """
    made = np.zeros(n)
    made[0] = 1.0
    made[1 : (n + 1) // 2] = 2.0
    if n % 2 == 0:
        made[n // 2] = 1.0
    return made
