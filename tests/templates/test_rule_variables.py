"""Constants that come by variables give the same derivatives as constants in the call, or are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_report, table
from tests.templates.rule_variables import calls, defined, names_of

CALLS = calls()


@pytest.mark.parametrize("case, call, values", CALLS, ids=[f"{call} {case.shapes}" for case, call, _ in CALLS])
def test_constants_by_variables(case, call, values):
    function = defined(case.rule, call, names_of(case, values))
    arguments = case.arguments()
    wrt = tuple(k for k, given in enumerate(arguments) if np.asarray(given).dtype.kind in "fc")
    try:
        records = check_report(function, (*arguments, *values.values()), 1, directions=1, wrt=wrt)
    except srcgrad.DifferentiationError as error:
        assert error.code in ("E5003", "E5005", "E5006", "E5017"), error
        return
    bad = [record for record in records if not record.passed]
    assert not bad, table(bad)


X = np.linspace(0.1, 1.0, 4) ** 2
SQUARE = X.reshape(2, 2) + np.eye(2)


def spectrum(x, n):
    return np.sum(np.abs(np.fft.rfft(x, n)) ** 3)


def conjugate_spectrum(x, n):
    return np.sum(np.abs(np.fft.ihfft(x, n)) ** 3)


def turned(x, n):
    return np.sum(np.transpose(x, n)[0] ** 3)


def crossed(x, n):
    return np.sum(np.cross(x[:3], x[1:], axis=n) ** 3)


def ordered(x, n):
    return np.sum(np.sort(x, n).ravel() * np.arange(4.0))


def taken(x, n):
    return np.sum(np.take(x, np.array([0, -1]), n) ** 3)


def taken_along(x, n):
    return np.sum(np.take_along_axis(x, np.array([0, 3]), n) ** 3)


def compressed(x, n):
    return np.sum(np.compress([True, False, True], x, n) ** 3)


def condition(x, n):
    return np.linalg.cond(x, n)


def spaced(x, n):
    return np.sum(np.linspace(x, 2.0, 3, axis=n)[1] ** 3)


FOUND = [
    (spectrum, X, (None, 3, 5)),
    (conjugate_spectrum, X, (None, 3)),
    (turned, SQUARE, (None, (1, 0))),
    (crossed, X, (None, 0)),
    (ordered, SQUARE, (None, 0, 1)),
    (taken, SQUARE, (None, 1)),
    (taken_along, SQUARE, (None,)),
    (compressed, X, (None, 0)),
    (condition, SQUARE, (None, 2, -2, 1, np.inf, "fro")),
    (spaced, SQUARE, (0, 1, -1)),
]


@pytest.mark.parametrize("function, x, values", FOUND, ids=[function.__name__ for function, _, _ in FOUND])
def test_none_by_a_variable(function, x, values):
    for value in values:
        srcgrad.check_grads(function, (x, value), order=2, wrt=0)
