"""The rules' own calls with other kinds of arguments; `make rules` crosses them all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import linalg, ndimage, signal, special
from scipy.spatial import distance

from srcgrad import DifferentiationError, check_grads, jvp, vjp
from tests.templates.crossed import drawn, faults

DRAWN = drawn()


@pytest.mark.parametrize("rule", DRAWN, ids=[rule.name for rule in DRAWN])
@pytest.mark.filterwarnings("ignore")
def test_drawn_rules(rule):
    assert [f"{kind}: {case}: {wrong}" for kind, case, wrong in faults([rule]) if wrong] == []


ROWS = [[0.4, 1.3, -0.7], [1.1, 0.2, 0.9]]
LISTS = {
    "broadcast": lambda x: np.broadcast_to(x, (4, 2, 3)) ** 2,
    "filled": lambda x: np.full((4, 2, 3), x) ** 2,
    "compressed": lambda x: np.compress([False, True, True], x, axis=1),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=1),
    "differences of all": lambda x: np.subtract.reduce(x, axis=1),
    "a product of three": lambda x: np.linalg.multi_dot([x, np.ones((3, 2)), x]),
    "a remainder": lambda x: np.divmod(3.7, x)[1],
    "what is no whole number": lambda x: np.modf(x)[0],
    "sorted": lambda x: np.sort(x, axis=0) ** 2,
    "added up along its items, and whole": lambda x: np.mean(x, axis=0)[1] + np.std(x, axis=0)[2] * np.stack(x)[0, 0],
    "a function of SciPy that falls": lambda x: special.j0(x),
    "distances": lambda x: distance.pdist(x),
    "a row": lambda x: np.convolve(x[0], x[1]),
    "polynomials": lambda x: np.polysub(x[0], x[1]) * np.polyadd(x[0], x[1]),
    "two in one": lambda x: special.j0(x) + np.broadcast_to(x[0], (2, 3)),
}


@pytest.mark.parametrize("f", LISTS.values(), ids=LISTS.keys())
def test_lists(f):
    check_grads(f, (ROWS,), order=1)


def test_sums_of_lists_are_refused():
    with pytest.raises((DifferentiationError, TypeError), match="E5005"):
        back = vjp(lambda x, y: sum(x, y), ROWS, [1.0, 2.0])[1]
        back([1.0] * 8)


SINGLE = np.linspace(0.3, 1.7, 9, dtype=np.float32)
NARROW = {
    "logaddexp.reduce": lambda x: np.logaddexp.reduce(x.reshape(3, 3)),
    "quantile": lambda x: np.quantile(x, 0.3),
    "nanpercentile": lambda x: np.nanpercentile(x, 40.0),
    "nanmedian": lambda x: np.nanmedian(x.reshape(3, 3), axis=0),
    "savgol_filter": lambda x: signal.savgol_filter(x, 5, 2),
    "hilbert": lambda x: signal.hilbert(x),
    "block_diag": lambda x: linalg.block_diag(x, x[:2]),
    "companion": lambda x: linalg.companion(x),
    "cdist": lambda x: distance.cdist(x.reshape(3, 3), x.reshape(3, 3) + 1.0),
}


@pytest.mark.parametrize("f", NARROW.values(), ids=NARROW.keys())
def test_dtypes_of_values(f):
    y, back = vjp(f, SINGLE)
    assert y.dtype == f(SINGLE).dtype == jvp(f, (SINGLE,), (SINGLE,))[0].dtype
    np.testing.assert_allclose(y, f(SINGLE), rtol=2e-6, atol=1e-6)
    assert back(np.ones_like(y))[0].dtype == np.float32


def test_least_squares_of_integers():
    """The rule asked NumPy for the precision of integers."""
    a = np.arange(8).reshape(4, 2) ** 2
    check_grads(lambda b: np.linalg.lstsq(a, b)[0], (np.array([1.0, 2.0, 3.0, 5.0]),), order=2)


def test_methods_of_arrays_written_as_functions():
    """Of an array without axes the tangent may be a scalar of NumPy, which they do not take."""
    check_grads(lambda x: np.ndarray.item(x) ** 2, (np.array(2.0),), order=2)
    check_grads(lambda x: np.ndarray.flatten(x) ** 2, (np.array(2.0),), order=2)


@pytest.mark.parametrize("f", [ndimage.uniform_filter, ndimage.laplace])
def test_filters_of_numbers_give_arrays(f):
    check_grads(lambda x: f(x), (2.0,), order=1)


def test_real_items_among_complex_ones():
    """What a loop adds to the adjoint of a real item is complex until its real part is taken."""

    def joined(x, y):
        whole = np.zeros(0, complex)
        for part in (x, y):
            whole = np.concatenate((whole * whole, part))
        return whole

    def stacked(x, y):
        whole = np.zeros(3, complex)
        for part in (x, y):
            whole = np.stack([whole, part]).sum(0) * 1j
        return whole

    z, r = np.array([1.0 + 2.0j, 0.5j, 1.0]), np.array([0.3, 0.5, 0.9])
    for f in (joined, stacked, lambda x, y: linalg.block_diag(x, y)):
        check_grads(f, (z, r), order=1)
        check_grads(f, (r, z), order=1)


@pytest.mark.parametrize("f", [math.cos, math.sqrt, float, lambda x: x.item(), lambda x: [math.cos(x), x]])
def test_numbers_of_python_have_such_tangents(f):
    x = np.float32(0.4)
    y, y_dot = jvp(lambda x: f(x), (x,), (x,))
    assert [type(t) for t in np.atleast_1d(y_dot).tolist()] == [float] * len(np.atleast_1d(y))
    assert type(y_dot) is type(y) is type(f(x))


def test_boxcox_at_zero_ends():
    """The confluent hypergeometric function of inf runs on for ever in SciPy."""
    y, back = vjp(lambda x, power: special.boxcox(x, power), 0.0, -0.5)
    with np.errstate(all="ignore"):
        assert (y, back(1.0)[1]) == (-np.inf, np.inf)
