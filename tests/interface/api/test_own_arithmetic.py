"""What an argument holds may have a `*` of its own: a matrix of SciPy's, a quantity. It is refused in a product."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import srcgrad

X = np.array([1.0, 2.0])
MATRIX = scipy.sparse.csr_matrix(np.array([[1.0, 2.0], [0.0, 3.0]]))


class Model:
    def __init__(self, held: object) -> None:
        self.held = held
        self.name = "model"
        self.rows = [1, 2]


class Outer:
    def __init__(self, held: object) -> None:
        self.model = Model(held)


def by_attribute(x, p):
    return np.sum((x * p.held) ** 2)


def by_name(x, p):
    m = p.held
    return np.sum((x * m) ** 2)


def deeper(x, p):
    return np.sum((x * p.model.held) ** 2)


def by_key(x, p):
    return np.sum((x * p["m"]) ** 2)


def by_place(x, p):
    m = p[0]
    return np.sum(m * x)


def any_place(x, p):
    s = 0.0
    for k in range(1):
        s = s + np.sum(p[k] * x)
    return s


REFUSED = [
    (by_attribute, Model(MATRIX)),
    (by_name, Model(MATRIX)),
    (deeper, Outer(MATRIX)),
    (by_key, {"m": MATRIX}),
    (by_place, [MATRIX]),
    (by_place, (MATRIX, 2.0)),
    (any_place, [MATRIX]),
]


@pytest.mark.parametrize("function, held", REFUSED)
def test_products_with_what_is_held(function, held):
    with pytest.raises(srcgrad.DifferentiationError, match=r"E5017.*csr_matrix"):
        srcgrad.grad(function)(X, held)


def product(x, p):
    return np.sum((p.held @ x) ** 2)


@pytest.mark.parametrize("held", [MATRIX, scipy.sparse.csr_array(MATRIX), MATRIX.toarray()])
def test_matrix_products_are_what_they_are(held):
    expected = 2.0 * MATRIX.T @ (MATRIX @ X)
    np.testing.assert_allclose(srcgrad.grad(product)(X, Model(held)), expected, rtol=1e-14)


@pytest.mark.parametrize("held", [2.0, np.array([1.0, 3.0]), np.float64(2.0)])
def test_numbers_and_arrays_may_be_held(held):
    np.testing.assert_allclose(srcgrad.grad(by_attribute)(X, Model(held)), 2.0 * X * held**2, rtol=1e-14)


def bound_from_itself(x):
    m = np.outer(x, x)
    m = m.T
    m = m[0]
    return np.sum(m * x)


def test_names_that_are_bound_from_themselves():
    srcgrad.check_grads(bound_from_itself, (X,))


MODEL = Model(MATRIX)
OUTER = Outer(MATRIX)


def of_global(x):
    return np.sum((x * MODEL.held) ** 2)


def of_deeper_global(x):
    return np.sum((OUTER.model.held * x) ** 2)


def of_named_global(x):
    m = MODEL.held
    return np.sum(m * x)


def of_turned_global(x):
    return np.sum(2.0 * MODEL.held.T * x)


@pytest.mark.parametrize("function", [of_global, of_deeper_global, of_named_global, of_turned_global])
def test_products_with_what_a_global_holds(function):
    with pytest.raises(srcgrad.DifferentiationError, match=r"E5017.*cs[rc]_matrix"):
        srcgrad.grad(function)(X)


def by_matrix_of_global(x):
    return np.sum((MODEL.held @ x) ** 2) + np.sum(x @ OUTER.model.held.T)


def test_matrix_products_with_what_a_global_holds():
    srcgrad.check_grads(by_matrix_of_global, (X,), order=2)


class Callable:
    def __call__(self, x):
        return x

    def __mul__(self, x):
        return x * x

    def __add__(self, x):
        return x * x

    def __matmul__(self, x):
        return x * x

    def __getitem__(self, x):
        return x * x


CALLABLE = Callable()
POLYNOMIAL = np.poly1d([1.0, 2.0])


def by_callable(x):
    return np.sum(CALLABLE * x)


def plus_callable(x):
    return np.sum(CALLABLE + x)


def at_callable(x):
    return np.sum(CALLABLE[x])


def of_callable(x):
    return np.sum(CALLABLE @ x)


def by_polynomial(x):
    return np.sum(POLYNOMIAL * x[0])


@pytest.mark.parametrize("function", [by_callable, plus_callable, at_callable, of_callable, by_polynomial])
def test_what_can_be_called_may_have_arithmetic_too(function):
    with pytest.raises(srcgrad.DifferentiationError, match="E5017"):
        srcgrad.grad(function)(X)
