"""Rules of users: what each form gives in both modes, at first and second order, and what is refused."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import srcgrad
from srcgrad.core.rules import generation
from tests.templates import other_rules

X, Y = np.array([0.5, 1.0, 2.0]), np.array([[1.0, -1.0, 0.5], [2.0, 0.25, 1.5]])
seen: list[object] = []


def product(x, y):
    return x * y


@srcgrad.register_vjp(product)
def product_vjp(primals, cotangent, output):
    seen[:] = [primals, cotangent, output]
    x, y = primals
    return cotangent * y, cotangent * x


@srcgrad.register_jvp(product)
def product_jvp(primals, tangents, output):
    (x, y), (x_dot, y_dot) = primals, tangents
    return x_dot * y + x * y_dot


def power(x, n=3, *, scale=1.0):
    return scale * x**n


@srcgrad.register_vjp(power)
def power_vjp(primals, cotangent, output, scale):
    x, n = primals
    return scale * cotangent * n * x ** (n - 1), None


def energy(x, y):
    z = product(x, y)
    return np.sum(z * np.sin(z))


def test_the_rule_gets_its_arguments_in_order():
    """Row 0.8: primals, cotangent, output."""
    x, y, seed = np.ones(3), np.full(3, 2.0), np.array([1.0, 2.0, 3.0])
    value, pullback = srcgrad.vjp(product, x, y, copy=False)
    pullback(seed)
    primals, cotangent, output = seen
    assert primals[0] is x and primals[1] is y and output is value
    assert cotangent.tolist() == seed.tolist()


def test_none_for_an_input_without_derivative():
    """Row 0.9: an integer has None, the float beside it its adjoint."""
    _, pullback = srcgrad.vjp(power, 2.0, 3)
    assert pullback(1.0) == (12.0, None)
    assert srcgrad.grad(lambda x, n: power(x, n), wrt=(0, 1))(2.0, 3.0) == (12.0, 0.0)


PAIRS = [(X, Y), (Y, X), (2.0, Y), (X, 3.0), (X, X), (Y[:, :1], X), (np.zeros((0, 3)), X), (np.array(2.0), X)]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_adjoints_have_the_shapes_of_their_arguments(one, two):
    """Row 0.14: a rule written as if all were of one shape is good for arguments that broadcast."""
    made = srcgrad.grad(energy, wrt=(0, 1))(one, two)
    assert [np.shape(part) for part in made] == [np.shape(one), np.shape(two)]
    plain = srcgrad.grad(lambda x, y: np.sum(x * y * np.sin(x * y)), wrt=(0, 1))(one, two)
    for part, other in zip(made, plain, strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-14)


def test_keywords_reach_the_rule():
    """Rows 0.17 and 1.16: what the call was given, also by keyword, and not what its names mean later."""

    def scaled(x, k):
        y = power(x, scale=k)
        k = 5.0
        return y * k

    assert srcgrad.grad(scaled)(2.0, 10.0) == 5.0 * 10.0 * 3 * 2.0**2


@pytest.mark.parametrize("function", [energy, lambda x, y: product(np.exp(x), product(y, 2.0)) @ np.ones(3)])
def test_both_modes_and_second_order(function):
    """The body of a rule is differentiated through its source."""
    srcgrad.check_grads(function, (X, Y[0]), order=2)


def test_two_rules_one_derivative():
    """Rows 3.8 and 4.21: by hand, through the source and through a rule, three equal answers."""

    def plain(x, y):
        return x * y + math.sin(x)

    def ruled(x, y):
        return product(x, y) + math.sin(x)

    x, y = 0.6791, 0.8284
    by_hand = (y + math.cos(x), x)
    assert srcgrad.grad(plain, wrt=(0, 1))(x, y) == by_hand
    assert srcgrad.grad(ruled, wrt=(0, 1))(x, y) == by_hand


def test_a_function_of_a_rule_is_differentiated_by_it():
    assert srcgrad.grad(power)(2.0) == 12.0
    text = srcgrad.source(power, wrt="x")
    assert "x_bar = check_adjoints(power_vjp((x, n), y_bar, y, scale=scale), (x, n))[0]" in text


def test_the_call_stays_a_call():
    """Row 4.16: the function is one node, and its rule one line."""
    text = srcgrad.source(energy)
    assert "    z = product(x, y)\n" in text
    assert "x_bar, y_bar = check_adjoints(product_vjp((x, y), " in text


class Model:
    def __init__(self, k):
        self.k = k

    def predict(self, x):
        return self.k * x

    def other(self, x):
        return self.k * x


@srcgrad.register_vjp(Model.predict)
def predict_vjp(primals, cotangent, output):
    return None, 100.0 * cotangent


model, special = Model(2.0), Model(3.0)
doubled = functools.partial(product, 2.0)


@srcgrad.register_vjp(special.other)
def other_vjp(primals, cotangent, output):
    return (7.0 * cotangent,)


@srcgrad.register_vjp(doubled)
def doubled_vjp(primals, cotangent, output):
    return (11.0 * cotangent,)


@srcgrad.differentiate
def wrapped(x):
    return x * x


srcgrad.register_vjp(wrapped, lambda primals, cotangent, output: (13.0 * cotangent,))

CALLS = {
    "method": (lambda x: model.predict(x), 100.0),
    "method of the class": (lambda x: Model.predict(model, x), 100.0),
    "method of one object": (lambda x: special.other(x), 7.0),
    "method of another object": (lambda x: model.other(x), 2.0),
    "partial": (lambda x: doubled(x), 11.0),
    "decorated": (lambda x: wrapped(x), 13.0),
    "bound method itself": (special.other, 7.0),
    "partial itself": (doubled, 11.0),
    "method itself": (model.predict, 100.0),
    "same name, other module": (lambda x: other_rules.halved(x), 21.0),
    "alias of an import": (lambda x: other_rules.alias(x), 21.0),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_rule_is_found_by_the_identity_of_the_function(call):
    """Row 4.10."""
    function, expected = CALLS[call]
    assert srcgrad.grad(function)(1.5) == expected


def halved(x):
    return 0.5 * x


def test_two_functions_of_one_name():
    assert srcgrad.grad(lambda x: halved(x) * other_rules.halved(x))(2.0) == 0.5 * 1.0 + 21.0


def test_a_method_of_an_argument():
    def use(x, model):
        return model.predict(x)

    assert srcgrad.grad(use)(1.0, Model(5.0)) == 100.0


def test_a_rule_written_anew():
    """A later text is made with the rule as it is now; another author's rule is refused."""

    def f(x):
        return x

    def use(x):
        return f(x)

    def declare(factor):
        @srcgrad.register_vjp(f)
        def f_vjp(primals, cotangent, output):
            return (factor * cotangent,)

    declare(2.0)
    gradient, before = srcgrad.grad(use), generation()
    assert gradient(1.0) == 2.0
    declare(3.0)
    assert gradient(1.0) == 3.0 and generation() > before
    with pytest.raises(srcgrad.DifferentiationError, match=r"E5013 malformed rule: .*f has a rule already"):
        srcgrad.register_vjp(f, lambda primals, cotangent, output: (cotangent,))
    with pytest.raises(srcgrad.DifferentiationError, match="has a rule already"):
        srcgrad.sensitivity(f, arg=0)(lambda y, y_bar, x: y_bar)
    with pytest.raises(srcgrad.DifferentiationError, match="has a rule already"):
        srcgrad.nondifferentiable(f)


def test_results_may_be_shared_by_their_rule():
    """A rule may give one array twice: writing into one adjoint leaves the other as it is."""

    def total(x, y):
        return x + y

    srcgrad.register_vjp(total, lambda primals, cotangent, output: (cotangent, cotangent))

    def f(x, y):
        first = x[0]
        z = total(x, y)
        return np.sum(z * z) + 3.0 * first

    x_bar, y_bar = srcgrad.grad(f, wrt=(0, 1))(X, X)
    np.testing.assert_allclose(y_bar, 4.0 * X)
    np.testing.assert_allclose(x_bar, 4.0 * X + [3.0, 0.0, 0.0])


def test_nothing_is_assumed_of_the_memory_of_a_result():
    """A function with a rule may give back its argument, which a write would change."""

    def same(x):
        return x

    srcgrad.register_vjp(same, lambda primals, cotangent, output: (cotangent,))

    def f(x):
        y = 1.0 * x
        z = same(y)
        z[0] = 5.0
        return np.sum(y * y)

    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.grad(f)(X)


def test_float32_stays():
    x = X.astype(np.float32)
    made = srcgrad.grad(energy, wrt=(0, 1))(x, x)
    assert [part.dtype for part in made] == [np.float32, np.float32]


def test_a_loop_keeps_what_the_rule_takes():
    def grown(x, y, n):
        for _ in range(n):
            x = product(x, np.sin(y))
        return np.sum(x)

    srcgrad.check_grads(lambda x, y: grown(x, y, 3), (X, X), order=2)
