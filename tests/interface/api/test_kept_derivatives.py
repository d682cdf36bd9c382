"""`vjp` and `jvp` make the text of a function once, and see what has changed about the function since."""

from __future__ import annotations

import functools
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.api import derivative, derivatives

X = np.array([1.0, 2.0])


@pytest.fixture
def made(monkeypatch) -> list[str]:
    """The modes of all texts that are made."""
    modes: list[str] = []
    compile_ = derivative.execute_derivative

    def counted(one, *args, **kwargs):
        modes.append(one.mode)
        return compile_(one, *args, **kwargs)

    monkeypatch.setattr(derivative, "execute_derivative", counted)
    return modes


def test_one_text_for_many_calls(made) -> None:
    def f(x, k):
        return np.sum(x * x) * k

    for k in range(3):
        np.testing.assert_array_equal(srcgrad.vjp(f, X, float(k))[1](1.0)[0], 2.0 * X * k)
        assert srcgrad.jvp(f, (X, float(k)), (X, 0.0))[1] == 10.0 * k
    decorated = srcgrad.differentiate(f)
    decorated.vjp(X, 1.0)
    decorated.jvp((X, 1.0), (X, 0.0))
    assert made == ["vjp", "forward"]
    srcgrad.vjp(f, X, 1.0, wrt="x")
    srcgrad.vjp(f, X, 1.0, wrt=("x",))
    assert made == ["vjp", "forward", "vjp", "vjp"]


def test_methods_belong_to_their_objects(made) -> None:
    class Model:
        def __init__(self, a):
            self.a = a

        def loss(self, x):
            return np.sum(self.a * x)

    one, two = Model(2.0), Model(3.0)
    for _ in range(2):
        assert [srcgrad.vjp(model.loss, X)[1](1.0)[0][0] for model in (one, two)] == [2.0, 3.0]
    assert made == ["vjp", "vjp"]
    one.a = 7.0
    assert srcgrad.vjp(one.loss, X)[1](1.0)[0][0] == 7.0


def test_functions_that_are_gone_are_not_mistaken_for_new_ones() -> None:
    def scaled(k):
        return lambda x: np.sum(k * x)

    assert [srcgrad.vjp(scaled(k), X)[1](1.0)[0][0] for k in range(40)] == list(range(40))
    assert len(derivatives._KEPT) <= derivatives.ROOM


def test_a_function_that_was_changed() -> None:
    def f(x, k=2.0, *, m=1.0):
        return np.sum(x * k) * m

    def cube(x, k=2.0, *, m=1.0):
        return np.sum(x**3)

    gradient = srcgrad.grad(f)
    assert srcgrad.vjp(f, X, wrt=0)[1](1.0)[0] == gradient(X)[0] == 2.0
    f.__defaults__ = (5.0,)
    assert srcgrad.vjp(f, X, wrt=0)[1](1.0)[0] == gradient(X)[0] == 5.0
    f.__kwdefaults__["m"] = 3.0
    assert srcgrad.vjp(f, X, wrt=0)[1](1.0)[0] == gradient(X)[0] == 15.0
    f.__code__, f.__defaults__, f.__kwdefaults__ = cube.__code__, (2.0,), {"m": 1.0}
    assert srcgrad.vjp(f, X, wrt=0)[1](1.0)[0] == gradient(X)[0] == 3.0


FORMS = {
    "grad": lambda f: srcgrad.grad(f)(X),
    "value and grad": lambda f: srcgrad.value_and_grad(f)(X)[1],
    "with others": lambda f: srcgrad.grad(lambda_with_aux(f), has_aux=True)(X)[0],
    "hvp": lambda f: srcgrad.hvp(f)(X, X),
    "jacobian": lambda f: srcgrad.jacobian(f)(X),
    "rows": lambda f: srcgrad.jacobian(f, mode="reverse")(X),
    "hessian": lambda f: srcgrad.hessian(f)(X),
    "gradient of a gradient": lambda f: srcgrad.jacobian(srcgrad.grad(f))(X),
    "elements": lambda f: srcgrad.elementwise_grad(doubled)(X),
    "a linear map": lambda f: srcgrad.linearize(f, X)[1](X),
}


def doubled(x):
    return 2.0 * x


def lambda_with_aux(f, known={}):  # noqa: B006
    return known.setdefault(f, lambda x: (f(x), x))


@pytest.mark.parametrize("form", FORMS)
def test_asked_anew_is_what_was_made(made, form) -> None:
    def f(x):
        return np.sum(x**3)

    first = FORMS[form](f)
    texts = list(made)
    assert texts
    for _ in range(3):
        np.testing.assert_array_equal(FORMS[form](f), first)
    assert made == texts


def test_who_asks_anew_has_a_last_call_of_its_own(made) -> None:
    def f(x):
        return np.sum(np.sin(x * x)) + np.sum(x)

    one = srcgrad.grad(f)
    one(2.0)
    number = one.source
    two = srcgrad.grad(f)
    assert two.source != number
    two(X)
    assert one.source == number and two is not one
    assert srcgrad.grad(f, "x", like=(X,)).source != number
    assert srcgrad.grad(f, "x")(X).shape == (2,) and len(srcgrad.grad(f, (0,))(X)) == 1


def test_asked_anew_of_a_function_with_new_code() -> None:
    def f(x, k):
        return x * k

    def g(k, x):
        return k * k * x

    assert srcgrad.grad(f)(3.0, 5.0) == 5.0
    assert srcgrad.grad(f, "k")(3.0, 5.0) == 3.0
    f.__code__ = g.__code__
    assert srcgrad.grad(f)(3.0, 5.0) == 30.0
    assert srcgrad.grad(f, "k")(3.0, 5.0) == 30.0


def test_asked_anew_sees_what_has_changed(monkeypatch) -> None:
    rate = 2.0

    def f(x):
        return np.sum(x * rate) + helper(x[0])

    def gentle(t):
        return t * 10.0

    helper = gentle

    assert srcgrad.grad(f)(X).tolist() == [12.0, 2.0]
    rate = 3.0
    assert srcgrad.grad(f)(X).tolist() == [13.0, 3.0]

    def steeper(t):
        return t * 20.0

    helper = steeper
    assert srcgrad.grad(f)(X).tolist() == [23.0, 3.0]


def test_threads_that_ask_anew() -> None:
    def f(x):
        return np.sum(np.sin(x) * x)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: srcgrad.grad(f)(X * k), range(64)))
    np.testing.assert_array_equal(found, [srcgrad.grad(f)(X * k) for k in range(64)])


def test_lambdas_that_are_asked_for_once_do_not_stay() -> None:
    gone = []
    for k in range(derivatives.ROOM + 5):
        one = functools.partial(lambda k: lambda x: x * k, float(k))()
        assert srcgrad.grad(one)(2.0) == k
        gone.append(weakref.ref(one))
    del one
    gc.collect()
    assert sum(each() is not None for each in gone) <= derivatives.ROOM
