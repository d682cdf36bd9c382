"""What srcgrad makes of functions, in joblib's processes and threads."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import Parallel, delayed

import srcgrad
from srcgrad.errors import DifferentiationError

X = np.array([0.3, -0.7, 1.1])


def energy(x, k=2.0):
    return np.sum(np.tanh(k * x) * x)


def parts(x):
    return np.sin(x) * x


def discrete(x):
    return np.sum(x.astype(int) & 1) * np.sum(x)


CALLABLES = {
    "grad": lambda: srcgrad.grad(energy),
    "value_and_grad": lambda: srcgrad.value_and_grad(energy, wrt=("x", "k")),
    "jacobian": lambda: srcgrad.jacobian(parts),
    "hessian": lambda: srcgrad.hessian(energy),
    "attribute": lambda: srcgrad.differentiate(energy).grad,
    "lambda": lambda: srcgrad.grad(lambda x: np.sum(x**3)),
    "pullback": lambda: srcgrad.vjp(parts, X)[1],
    "linear map": lambda: srcgrad.linearize(parts, X)[1],
}


def flat(value):
    """The arrays of a result."""
    return [a for part in value for a in flat(part)] if isinstance(value, tuple) else [np.asarray(value)]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_every_callable_runs_in_parallel(backend):
    """All in one pool, since processes take a second to begin; loky takes a lambda along, which pickle refuses."""
    made = {name: make() for name, make in CALLABLES.items()}
    jobs = [(name, scale) for name in made for scale in (1.0, 2.0)]
    found = Parallel(n_jobs=2, backend=backend)(delayed(made[name])(scale * X) for name, scale in jobs)
    for (name, scale), one in zip(jobs, found, strict=True):
        expected = flat(made[name](scale * X))
        assert len(flat(one)) == len(expected)
        for given, due in zip(flat(one), expected, strict=True):
            np.testing.assert_array_equal(given, due, err_msg=name)


def test_an_error_comes_back_with_its_code_and_place():
    with pytest.raises(DifferentiationError) as caught:
        Parallel(n_jobs=2)(delayed(srcgrad.grad(discrete))(x) for x in (X, X))
    assert (caught.value.code, caught.value.place.text.strip()) == (
        "E5001",
        "return np.sum(x.astype(int) & 1) * np.sum(x)",
    )
