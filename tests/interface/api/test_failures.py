"""What NumPy takes and a rule does not is told by a code, at the user's line; what NumPy does not take is its error."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import linalg, stats
from scipy.spatial import distance

import srcgrad
from srcgrad import DifferentiationError, adjoint, grad, jvp, tangent, vjp

TAKEN = {
    "a number for coefficients": (lambda x: np.polynomial.polynomial.polyval(1.0, x), 2.0),
    "nothing to repeat": (lambda x: np.resize(x, (2, 3)), np.zeros(0)),
    "nothing to rank": (lambda x: np.nanquantile(x, 0.5), np.zeros(0)),
    "nothing to integrate": (lambda x: np.polyint(x), np.zeros(0)),
    "no roots": (lambda x: np.poly(x), np.zeros(0)),
}


@pytest.mark.parametrize(("f", "x"), TAKEN.values(), ids=TAKEN.keys())
@pytest.mark.filterwarnings("ignore")
def test_what_numpy_takes(f, x):
    f(x)
    with pytest.raises(DifferentiationError, match="E5006") as caught:
        vjp(f, x)
    assert caught.value.place.file.endswith("test_failures.py")


BACKWARD = {
    "the exponential of a number": (lambda x: linalg.expm(x), np.array(0.3)),
    "a batch of Lyapunov equations": (lambda x: linalg.solve_continuous_lyapunov(x, x), np.ones((2, 3, 3)) + np.eye(3)),
    "an empty batch": (lambda x: linalg.lu(x)[2], np.zeros((0, 3, 3))),
    "a Toeplitz matrix by its column": (lambda x: linalg.matmul_toeplitz(x, x), np.arange(1.0, 4.0)),
    "rows of Toeplitz matrices": (lambda x: linalg.solve_toeplitz(x, x), np.array([[9.0, 1.0, 2.0]] * 3)),
    "rows of circulants": (lambda x: linalg.solve_circulant(x, x), np.ones((3, 3)) + np.eye(3)),
    "rows that correlate": (lambda x: stats.pearsonr(x, x**2)[0], np.arange(6.0).reshape(2, 3)),
    "a distance matrix of nothing": (lambda x: distance.squareform(x), np.zeros(0)),
    "the mean of no angle": (lambda x: stats.circmean(x), np.zeros(0)),
    "Fiedler's matrix of a number": (lambda x: linalg.fiedler(x), np.ones((1, 1))),
}


@pytest.mark.parametrize(("f", "x"), BACKWARD.values(), ids=BACKWARD.keys())
@pytest.mark.filterwarnings("ignore")
def test_what_scipy_takes(f, x):
    """The text of the derivative failed with an error without a code, or gave numbers of another matrix."""
    y = f(x)
    with pytest.raises(DifferentiationError, match="E5006") as caught:
        vjp(f, x)[1](np.ones_like(y))
    assert caught.value.place.file.endswith("test_failures.py")
    with pytest.raises(DifferentiationError, match="E5006"):
        jvp(f, (x,), (x,))
    with pytest.raises(DifferentiationError, match="E5006"):
        grad(lambda x: np.sum(f(x)))(x)


def test_the_functions_own_error_stays():
    """The function fails itself: in its forward half, or in a part that the derivative alone would not reach."""

    def picks(x, k):
        return np.sum(linalg.expm(x)) * x[k, 0]

    for call in (lambda: grad(picks)(np.eye(2), 5), lambda: jvp(picks, (np.eye(2), 5), (np.eye(2), None))):
        with pytest.raises(IndexError, match="out of bounds"):
            call()
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        grad(lambda x: np.linalg.cond(x, 1))(np.zeros((2, 2)))


def test_what_numpy_does_not_take():
    with pytest.raises(ValueError, match="not aligned"):
        vjp(np.dot, np.ones(3), np.ones(4))
    with pytest.raises(TypeError, match="len"):
        vjp(np.polyval, 2.0, 3.0)


def test_a_users_own_rule_raises_what_it_raises():
    def twice(x):
        return 2.0 * x

    def fails(g):
        raise ValueError("of my own")

    srcgrad.nondifferentiable(fails)

    @adjoint(twice)
    def twice_adjoint(z, x):
        d[x] = fails(d[z])  # noqa: F821

    @tangent(twice)
    def twice_tangent(z, x):
        d[z] = 2.0 * d[x]  # noqa: F821

    back = vjp(lambda x: twice(x) * 1.0, 1.5)[1]
    with pytest.raises(ValueError, match="of my own"):
        back(1.0)


def test_a_tangent_of_an_object_is_refused_where_it_would_count_for_nothing():
    class Node:
        def __init__(self, v):
            self.v = v

    def product(node, x):
        return node.v * x

    assert jvp(product, (Node(2.0), 0.7), (None, 1.0)) == (1.4, 2.0)
    with pytest.raises(DifferentiationError, match=r"E5017.*`node` is of type Node"):
        jvp(product, (Node(2.0), 0.7), (Node(1.0), 0.0))


@dataclasses.dataclass
class Spring:
    length: float
    stiffness: float = 2.0


KEPT = Spring(1.0)


def stretched(one, other, x):
    one.length = x
    return other.length * x + KEPT.stiffness


def test_an_object_that_changes_is_given_once() -> None:
    assert grad(stretched, wrt="x")(Spring(1.0), Spring(3.0), 0.5) == 3.0
    for one, other in [(spring := Spring(1.0), spring), (KEPT, Spring(3.0))]:
        with pytest.raises(DifferentiationError, match=r"E5010.*the argument `one` is written into"):
            grad(stretched, wrt="x")(one, other, 0.5)
