"""What NumPy takes and a rule does not is told by a code, at the user's line; what NumPy does not take is its error."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError, adjoint, tangent, vjp

TAKEN = {
    "a number for coefficients": (lambda x: np.polynomial.polynomial.polyval(1.0, x), 2.0),
    "nothing to repeat": (lambda x: np.resize(x, (2, 3)), np.zeros(0)),
    "nothing to rank": (lambda x: np.nanquantile(x, 0.5), np.zeros(0)),
}


@pytest.mark.parametrize(("f", "x"), TAKEN.values(), ids=TAKEN.keys())
@pytest.mark.filterwarnings("ignore")
def test_what_numpy_takes(f, x):
    f(x)
    with pytest.raises(DifferentiationError, match="E5006") as caught:
        vjp(f, x)
    assert caught.value.place.file.endswith("test_failures.py")


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
