"""Products with the Hessian of what gives several values: a coded error, and no text that Python warns of."""

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError


def columns(x):
    return np.stack((np.sin(x), x * x))


def test_parts_of_the_seed_have_a_name() -> None:
    product = srcgrad.hvp(columns)
    assert "1.0[" not in product.derivative.source
    with pytest.raises(DifferentiationError, match="E5007"):
        product(np.ones(3), np.ones(3))


def test_one_of_several_values_is_an_output() -> None:
    """`sign, y = np.linalg.slogdet(x)` in the text gives y alone: no several values."""

    def logdet(x):
        return np.linalg.slogdet(x)[1]

    x = np.array([[2.0, 1.0], [0.5, 3.0]])
    np.testing.assert_allclose(srcgrad.grad(logdet)(x), np.linalg.inv(x).T, rtol=1e-14)
    with pytest.raises(DifferentiationError, match="E5007"):
        srcgrad.grad(lambda x: np.linalg.slogdet(x))(x)
