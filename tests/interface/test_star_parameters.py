"""Functions with `*args` and `**kwargs`, differentiated and called; wrappers with the parameters of what they wrap."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import integrate, linalg, special, stats

import srcgrad
from srcgrad import DifferentiationError, check_grads, grad, hessian, value_and_grad
from tests.programs import everyday


def test_a_tuple_of_what_is_left_over() -> None:
    assert np.allclose(grad(everyday.star_product, wrt="xs")(0.7, 1.3, 0.4), (2.3 * 1.4, 1.7 * 1.4, 1.7 * 2.3))
    assert np.allclose(grad(everyday.star_after_one, wrt=("x", "others"))(0.7, 1.3)[1], (0.7,))
    assert value_and_grad(everyday.star_after_one)(0.7) == (0.0, 0)
    assert np.allclose(hessian(everyday.star_product, wrt="xs")(0.7, 2.0)[0][1], 1.0)


def test_one_argument_is_no_tuple_of_its_items() -> None:
    """An array given alone is one argument, of which the length is another."""

    def count(*xs):
        return sum(np.sum(x) for x in xs) * len(xs)

    assert np.allclose(grad(count, wrt="xs")(np.ones(3))[0], 1.0)
    assert np.allclose(grad(count, wrt="xs")(np.ones(3), np.ones(3))[1], 2.0)


def test_a_dict_of_what_has_names() -> None:
    found = grad(everyday.with_options, wrt=("x", "options"))(0.7, scale=2.0, shift=0.5)
    assert np.isclose(found[0], 2.8)
    assert list(found[1]) == ["scale", "shift"]
    assert np.allclose(list(found[1].values()), [0.49, 1.0])
    assert np.isclose(grad(everyday.with_options_default)(0.7, power=3), 1.5 * 3.0 * 0.49)


def test_the_order_of_keywords() -> None:
    def first(x, **options):
        for key in options:
            return x * options[key]
        return x

    assert grad(first)(0.7, b=2.0, a=3.0) == 2.0
    assert grad(first)(0.7, a=3.0, b=2.0) == 3.0


def test_a_key_with_the_name_of_a_local_variable() -> None:
    def inner(x, **options):
        k = 2.0
        return x * k * options["k"] * options["x_"]

    def outer(x, k):
        return inner(x, k=k, x_=x)

    check_grads(outer, (0.7, 0.4), order=2)


def scaled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        x = 2.0
        return x * function(*args, **kwargs)

    return wrapper


@scaled
def area(x, y=3.0, *, k=1.0):
    return x * y**2 * k


def test_a_wrapper_has_variables_of_its_own() -> None:
    assert area(1.0) == 18.0
    check_grads(area, (0.7, 1.3), order=2)
    assert grad(area, wrt=("x", "k"))(0.5, k=2.0) == (36.0, 9.0)


def test_a_wrapper_that_changes_what_it_hands_on_is_refused() -> None:
    def forced(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            kwargs["k"] = 5.0
            return function(*args, **kwargs)

        return wrapper

    @forced
    def product(x, k=1.0):
        return x * k

    with pytest.raises(DifferentiationError) as found:
        grad(product)(2.0)
    assert found.value.code == "E5005"


def test_a_function_with_several_arguments_that_calls_itself_is_refused() -> None:
    def total(*xs):
        return xs[0] if len(xs) == 1 else xs[0] * total(*xs[1:])

    with pytest.raises(DifferentiationError) as found:
        grad(total, wrt="xs")(1.0, 2.0)
    assert found.value.code == "E5005"


def through(x, *more, **options):
    return area(x, *more, **options) + area(*more, **options)


def test_stars_handed_on() -> None:
    def both(x, y):
        return through(x, y, k=y)

    check_grads(both, (0.7, 1.3), order=2)
    assert np.isclose(grad(through)(0.7, 1.3, k=2.0), 2.0 * 1.69 * 2.0)


def product(*xs):
    """A product of two, the second squared."""
    return xs[0] * xs[1] ** 2


def weighted(x, *others, k=1.0):
    return x * k + sum(j * np.sum(one**2) for j, one in enumerate(others, 2))


def handed_on(*xs):
    return product(*xs) + product(xs[0], xs[1])


def test_positions_are_those_of_arguments() -> None:
    assert grad(product)(2.0, 3.0) == 9.0 and grad(product, -1)(2.0, 3.0) == 12.0
    assert grad(product, (1, 0))(2.0, 3.0) == (12.0, 9.0)
    assert grad(weighted, 2)(1.0, 2.0, np.ones(2), k=3.0).tolist() == [6.0, 6.0]
    assert grad(weighted, 2)(1.0, 2.0, 3.0, 4.0) == 18.0
    assert value_and_grad(product, 1)(2.0, 3.0) == (18.0, 12.0)
    assert hessian(product, (0, 1))(2.0, 3.0)[0][1] == 6.0
    assert srcgrad.hvp(product, 1)(2.0, 3.0, 0.5) == 2.0
    assert srcgrad.jacobian(product, 1)(2.0, 3.0) == 12.0
    assert srcgrad.elementwise_grad(product, 1)(2.0, np.ones(2)).tolist() == [4.0, 4.0]


def test_arguments_of_which_each_has_an_adjoint_and_a_tangent() -> None:
    assert srcgrad.vjp(product, 2.0, 3.0)[1](1.0) == (9.0, 12.0)
    assert srcgrad.vjp(weighted, 2.0, 3)[1](1.0) == (1.0, None)
    assert srcgrad.jvp(product, (2.0, 3.0), (1.0, 0.5)) == (18.0, 15.0)
    assert srcgrad.linearize(product, 2.0, 3.0)[1](1.0, 0.5) == 15.0
    for function in (product, weighted, handed_on):
        check_grads(function, (0.7, 1.3), order=2)
    check_grads(weighted, (0.7, np.ones(2), 0.3), order=2)


def test_a_default_in_front_of_what_is_left_over() -> None:
    def shifted(x, k=2.0, *rest):
        return x * k + sum(rest) * x

    assert [grad(shifted, -1)(*args) for args in ((3.0,), (3.0, 4.0), (3.0, 4.0, 5.0))] == [3.0, 3.0, 3.0]
    assert value_and_grad(shifted, -1)(3.0)[0] == 6.0


def test_a_name_that_a_parameter_for_an_item_would_have() -> None:
    def clash(*xs):
        xs_0 = 5.0
        return xs[0] * xs_0 * xs[1]

    assert grad(clash)(2.0, 3.0) == 15.0


def test_a_wrapper_without_the_signature_of_what_it_wraps() -> None:
    def doubled(function):
        def wrapper(*args, **kwargs):
            return 2.0 * function(*args, **kwargs)

        return wrapper

    made = doubled(area)
    assert grad(made)(0.5, 2.0, k=3.0) == grad(area)(0.5, 2.0, k=3.0) * 2.0
    check_grads(made, (0.7, 1.3), order=2)


def test_the_text_is_that_of_the_function() -> None:
    made = grad(product)
    with pytest.raises(DifferentiationError) as found:
        print(made.source)
    assert found.value.code == "E5009"
    made(2.0, 3.0)
    assert "return xs[0] * xs[1] ** 2" in made.source and "def product_grad(xs_0, xs_1, y_bar=1.0):" in made.source


V = np.array([1.0, 2.3, 3.1])
M = np.arange(6.0).reshape(2, 3) ** 1.3 + 0.1


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        (np.clip, (V, 1.5, 2.5)),
        (np.sum, (M, 0)),
        (np.linalg.norm, (M, None, 1)),
        (np.tensordot, (M, M, 2)),
        (np.linspace, (1.0, 2.0, 5)),
        (np.where, (V > 2.0, V, V * V)),
        (np.meshgrid, (V, M[0])),
        (np.broadcast_arrays, (V, M)),
        (np.einsum, ("ij,kj->ik", M, M)),
        (sum, (M, M)),
        (linalg.det, (M[:, :2],)),
        (linalg.cholesky, (np.eye(2) + M[:, :2] @ M[:, :2].T, True)),
        (special.logsumexp, (M, 1)),
        (stats.norm.logpdf, (V, 1.5, 2.5)),
        (integrate.simpson, (V,)),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_an_operation_of_numpy_takes_what_it_is_given(operation: object, given: tuple[object, ...]) -> None:
    check_grads(operation, given, order=1)


def test_bounds_have_adjoints_too() -> None:
    _, pullback = srcgrad.vjp(np.clip, V, 1.5, 2.5)
    of_values, of_lower, of_upper = pullback(np.array([1.0, 2.0, 4.0]))
    assert (of_values.tolist(), of_lower, of_upper) == ([0.0, 2.0, 0.0], 1.0, 4.0)
    _, tangent = srcgrad.jvp(np.clip, (V, 1.5, 2.5), (V, 5.0, 7.0))
    assert tangent.tolist() == [5.0, 2.3, 7.0]
    assert grad(np.clip, wrt=1)(0.2, 0.3, 0.5) == grad(np.clip, wrt="a_max")(0.7, 0.3, 0.5) == 1.0
    assert grad(stats.norm.logpdf, wrt="scale")(0.2, 0.3, 0.5) == grad(stats.norm.logpdf, wrt=2)(0.2, 0.3, 0.5) < -1.9
    for operation, wrt, code in ((np.clip, 1, "E5009"), (stats.multivariate_normal.logpdf, 0, "E5006")):
        with pytest.raises(DifferentiationError) as found:
            grad(operation, wrt=wrt)(0.2)
        assert found.value.code == code
