"""Products with constant sparse matrices: spellings, second order, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from srcgrad import grad, source, vjp
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import check_grads

DENSE = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 3.0, 4.0], [0.0, 0.0, 5.0]])
A = sp.csr_array(DENSE)
OLD = sp.csc_matrix(DENSE)


def by_operator(x: Any) -> Any:
    y = A @ x
    return np.sum(y**3)


def by_method(x: Any) -> Any:
    y = OLD.dot(x)
    return np.sum(y**3)


def transposed_twice(x: Any) -> Any:
    return np.sum((A.T @ (A @ x)) ** 2) + np.sum((x @ A.T) ** 2)


def of_an_argument(x: Any, matrix: Any) -> Any:
    for _ in range(2):
        x = matrix.T @ np.tanh(matrix @ x)
    return np.sum(x)


@pytest.mark.parametrize("f", [by_operator, by_method, transposed_twice])
def test_a_global_matrix(f):
    check_grads(f, (np.array([0.5, -1.0, 2.0]),), order=2)


def test_an_argument_in_every_storage():
    x = np.array([0.5, -1.0, 2.0])
    wanted = grad(of_an_argument)(x, DENSE)
    for matrix in (A, OLD, sp.coo_array(DENSE), sp.dia_array(DENSE)):
        np.testing.assert_allclose(grad(of_an_argument)(x, matrix), wanted, rtol=1e-14)


def test_the_text_is_the_transposed_product():
    assert "x_bar = A.T @ (result_bar * 3 * y**2)\n" in source(by_operator)


def elementwise(x: Any) -> Any:
    return np.sum(OLD * x)


def with_respect_to_the_matrix(matrix: Any, x: Any) -> Any:
    return np.sum(matrix @ x)


def bound_again(x: Any, matrix: Any) -> Any:
    matrix = matrix @ matrix.T
    return np.sum(matrix @ x)


def test_a_name_that_gets_another_matrix():
    assert grad(bound_again)(np.ones(4), A).tolist() == np.sum(DENSE @ DENSE.T, axis=0).tolist()


def test_what_is_refused():
    x = np.ones(3)
    for f, args in ((elementwise, (x,)), (with_respect_to_the_matrix, (A, x))):
        with pytest.raises(DifferentiationError):
            grad(f)(*args)


HELD = sp.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))


@pytest.mark.parametrize("given", [(), (HELD.copy(),)], ids=["captured", "an argument"])
def test_a_pullback_reads_the_matrix_of_the_forward_call(given):
    """The public `vjp` keeps a copy of what its backward half reads."""
    matrix = given[0] if given else HELD
    f = (lambda x, m: np.sin(m @ x)) if given else (lambda x: np.sin(HELD @ x))
    x = np.array([0.3, 0.4])
    back = vjp(f, x, *given, wrt=(0,))[1]
    due = matrix.T @ np.cos(matrix @ x)
    matrix.data *= 2.0
    (found,) = back(np.ones(2))
    matrix.data /= 2.0
    np.testing.assert_allclose(found, due, rtol=1e-14)
