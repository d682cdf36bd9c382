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
