"""`with np.errstate(...)` stands around the same lines in a second derivative as in the function."""

from __future__ import annotations

import warnings

import numpy as np

from srcgrad import check_grads, hvp


def information(p):
    total = 0.0
    for k in range(2):
        with np.errstate(divide="ignore"), np.errstate(invalid="ignore"):
            q = p * (k + 1.0)
            kept = np.where(p > 0, q * np.log(p), 0.0)
        total = total + np.sum(kept)
    return total


def test_second_derivatives_keep_the_context():
    p = np.array([0.3, 0.5])
    check_grads(information, (p,), order=2)
    product = hvp(information)
    np.testing.assert_allclose(product(p, np.ones(2)), 3.0 / p, rtol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        product(np.array([0.3, 0.0]), np.ones(2))  # the logarithm and the quotients are in the context
    assert product.source.count('with np.errstate(divide="ignore"), np.errstate(invalid="ignore"):') == 2
