"""Rules of users, one per argument, of opaque functions, and what is said of rules that are missing or wrong."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

import srcgrad

X, Y = np.array([0.5, 1.0, 2.0]), np.array([1.0, -1.0, 0.5])
ran: list[str] = []


def ratio(u, v):
    return u / v


@srcgrad.sensitivity(ratio, arg=0)
def ratio_u(y, y_bar, u, v):
    ran.append("u")
    return y_bar / v


@srcgrad.sensitivity(ratio, arg="v")
def ratio_v(y, y_bar, u, v):
    ran.append("v")
    return -y_bar * y / v


def norm2(u, v):
    return np.sum(u * u) * np.sum(v * v)


def norm2_shared(y, y_bar, u, v):
    ran.append("shared")
    return 2.0 * y_bar * y


@srcgrad.sensitivity(norm2, arg=0, shared=norm2_shared)
def norm2_u(common, y, y_bar, u, v):
    return common * u / np.sum(u * u)


@srcgrad.sensitivity(norm2, arg=1, shared=norm2_shared)
def norm2_v(common, y, y_bar, u, v):
    return common * v / np.sum(v * v)


@pytest.mark.parametrize(("wrt", "expected"), [(0, ["u"]), (1, ["v"]), ((0, 1), ["u", "v"]), ((1, 0), ["u", "v"])])
def test_only_what_is_asked_for_runs(wrt, expected):
    """Rows 4.12 and 4.15: one function per argument, in any subset."""
    ran.clear()
    srcgrad.grad(ratio, wrt=wrt)(3.0, 2.0)
    assert ran == expected


def test_sensitivities_to_second_order():
    def quotient(u, v):
        return u / v

    srcgrad.sensitivity(quotient, arg=0)(lambda y, y_bar, u, v: y_bar / v)
    srcgrad.sensitivity(quotient, arg=1, shared=lambda y, y_bar, u, v: -y_bar / v)(
        lambda common, y, y_bar, u, v: common * y
    )

    def sums(u, v):
        return np.sum(quotient(u, v) * np.exp(u))

    srcgrad.check_grads(sums, (X, Y), order=2, modes=("reverse",))


@pytest.mark.parametrize(("wrt", "times"), [(0, 1), ((0, 1), 1)])
def test_work_is_shared(wrt, times):
    """Row 4.18: what two arguments have in common is computed once."""
    ran.clear()
    made = srcgrad.grad(lambda u, v: norm2(u, v), wrt=wrt)(X, Y)
    assert ran == ["shared"] * times
    u_bar = made[0] if isinstance(made, tuple) else made
    np.testing.assert_allclose(u_bar, 2.0 * X * np.sum(Y * Y))


def test_an_argument_without_a_rule_is_refused():
    def half(u, v):
        return u * v

    srcgrad.sensitivity(half, arg=0)(lambda y, y_bar, u, v: y_bar * v)
    assert srcgrad.grad(half)(2.0, 3.0) == 3.0
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        srcgrad.grad(half, wrt="v")(2.0, 3.0)
    assert caught.value.code == "E5003"
    assert "`@srcgrad.sensitivity(half, arg='v')` above `def half_v(y, y_bar, u, v)`" in caught.value.remedy


@srcgrad.opaque
def secret(x):
    return np.sum(x * x)


def test_an_opaque_function_needs_a_rule():
    with pytest.raises(srcgrad.DifferentiationError, match="`secret` has no rule, and is opaque") as caught:
        srcgrad.grad(lambda x: secret(x))(X)
    assert caught.value.code == "E5003"
    with pytest.raises(srcgrad.DifferentiationError, match="E5003"):
        srcgrad.grad(secret)(X)


def test_an_opaque_function_may_be_called_where_nothing_flows():
    assert srcgrad.grad(lambda x, k: np.sum(x) * secret(k))(X, Y).tolist() == [2.25, 2.25, 2.25]


def test_an_opaque_function_with_a_rule():
    @srcgrad.opaque
    def compiled(x):
        return sum(float(item) ** 2 for item in x)

    srcgrad.register_vjp(compiled, lambda primals, cotangent, output: (2.0 * cotangent * primals[0],))
    assert srcgrad.grad(compiled)(X).tolist() == [1.0, 2.0, 4.0]
    text = srcgrad.source(lambda x: 3.0 * compiled(x))
    assert text.count("compiled(x)") >= 1 and "float(" not in text


def test_the_other_mode_is_not_guessed():
    """A reverse rule says nothing of forward mode; the message has the signature of what is missing."""
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        srcgrad.jvp(ratio, (1.0, 2.0), (1.0, 0.0))
    assert caught.value.code == "E5003"
    assert "`@srcgrad.register_jvp(ratio)` above `def ratio_jvp(primals, tangents, output)`" in caught.value.remedy

    def f(x):
        return 2.0 * x

    srcgrad.register_jvp(f, lambda primals, tangents, output: 2.0 * tangents[0])
    assert srcgrad.jvp(f, (1.0,), (3.0,)) == (2.0, 6.0)
    with pytest.raises(srcgrad.DifferentiationError, match=r"def f_vjp\(primals, cotangent, output\)"):
        srcgrad.grad(f)(1.0)


def plain(x, y):
    return np.sum(x) * y


WRONG = {
    "a shape": (lambda primals, cotangent, output: (np.ones(2), 1.0), "shape (2,) for a value of shape (3,)"),
    "a number": (lambda primals, cotangent, output: (1.0, 1.0), "shape () for a value of shape (3,)"),
    "too many": (lambda primals, cotangent, output: (X, 1.0, 1.0), "3 adjoints for 2 arguments"),
    "too few": (lambda primals, cotangent, output: (X,), "1 adjoints for 2 arguments"),
    "no number": (lambda primals, cotangent, output: (np.array([None] * 3), 1.0), "dtype object"),
    "complex": (lambda primals, cotangent, output: (X * 1j, 1.0), "dtype complex128"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_rule_gives_is_checked(case):
    """Row 3.22."""
    rule, expected = WRONG[case]

    def f(x, y):
        return plain(x, y)

    srcgrad.register_vjp(f, rule)
    with pytest.raises(srcgrad.DifferentiationError, match=re.escape(expected)) as caught:
        srcgrad.grad(f, wrt=(0, 1))(X, 2.0)
    assert caught.value.code == "E5004"


def test_what_a_tangent_rule_gives_is_checked():
    def f(x):
        return 2.0 * x

    srcgrad.register_jvp(f, lambda primals, tangents, output: 1.0)
    with pytest.raises(srcgrad.DifferentiationError, match="E5004"):
        srcgrad.jvp(f, (X,), (X,))


def test_integers_of_a_rule_become_floats():
    def f(x):
        return np.sum(x)

    srcgrad.register_vjp(f, lambda primals, cotangent, output: ([1, 2, 3],))

    def use(x):
        first = x[0]
        return f(x) + 0.5 * first

    assert srcgrad.grad(use)(X).tolist() == [1.5, 2.0, 3.0]


def takes_anything(*args, **kwargs):
    return args[0]


MALFORMED = {
    "too few parameters": lambda: srcgrad.register_vjp(plain, lambda primals, cotangent: None),
    "another parameter": lambda: srcgrad.register_vjp(plain, lambda primals, cotangent, output, z: None),
    "no such argument": lambda: srcgrad.sensitivity(plain, arg=2)(lambda y, y_bar, x, z: None),
    "no such name": lambda: srcgrad.sensitivity(plain, arg="z")(lambda y, y_bar, x, z: None),
    "sensitivity of other parameters": lambda: srcgrad.sensitivity(plain, arg=0)(lambda y, y_bar, x: None),
    "arguments without names": lambda: srcgrad.register_vjp(takes_anything, lambda a, b, c: None),
    "no signature": lambda: srcgrad.register_vjp(functools.partial(print), lambda a, b, c: None),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_rule_that_cannot_be_called_is_refused_when_it_is_declared(case):
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        MALFORMED[case]()
    assert caught.value.code == "E5013"


def test_several_arguments_in_one():
    """`*args` alone: one tuple of primals, and one adjoint each."""

    def total(*parts):
        return sum(np.sum(part) for part in parts)

    srcgrad.register_vjp(total, lambda primals, cotangent, output: [cotangent * np.ones_like(p) for p in primals])
    assert [part.tolist() for part in srcgrad.grad(lambda x, y: total(x, y), wrt=(0, 1))(X, Y[:2])] == [
        [1.0] * 3,
        [1.0] * 2,
    ]


def scaled(x):
    return 2.0 * x


def scaled_vjp(primals, cotangent, output):
    cotangent *= 2.0
    return (cotangent,)


def rescaled_vjp(primals, cotangent, output):
    (x,) = primals
    x[0] = 0.0
    return (2.0 * cotangent,)


def in_place(x):
    x *= 2.0
    return x


def in_place_vjp(primals, cotangent, output):
    return (2.0 * cotangent,)


@pytest.mark.parametrize(
    ("function", "rule", "name"),
    [(scaled, scaled_vjp, "cotangent"), (scaled, rescaled_vjp, "x"), (in_place, in_place_vjp, "x")],
)
def test_what_a_rule_is_given_is_not_its_own(function, rule, name):
    """It may be the caller's seed, or the adjoint of something else."""

    def f(x):
        return function(x)

    f = srcgrad.opaque(f) if function is scaled else function
    srcgrad.register_vjp(f, rule)
    with pytest.raises(srcgrad.DifferentiationError, match=f"writes into `{name}`, which it was given") as caught:
        srcgrad.vjp(f, X)
    assert caught.value.code == "E5010"
