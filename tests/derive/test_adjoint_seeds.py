"""What stands in a branch that is not taken contributes nothing, whatever is inf or nan where it begins."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any  # functions of several kinds

import numpy as np
import pytest

import srcgrad

X = np.array([0.0, 0.3, 2.0])


def in_a_loop(x):
    s = 0.0
    for i in range(3):
        r = np.sqrt(x[i])
        if r > 0:
            s += 1 / r
    return s


def in_a_while(x):
    s, i = 0.0, 0
    while i < 3:
        r = np.sqrt(x[i])
        if r > 0:
            s += np.log(r)
        i += 1
    return s


def in_an_expression(x):
    s = 0.0
    for i in range(3):
        r = np.sqrt(x[i])
        s += np.log(r) if r > 0 else x[i]
    return s


def in_three_branches(x):
    s = 0.0
    for v in x:
        r = np.sqrt(v)
        if r > 1.0:
            s += r * r
        elif r > 0:
            s += 1 / r
        else:
            s += v
    return s


def behind_continue(x):
    s = 0.0
    r = np.sqrt(x)
    for i in range(3):
        if r[i] == 0:
            continue
        s += 1 / r[i]
    return s


def behind_break(x):
    w = np.sqrt(x[0])
    z = x[1]
    for _ in range(2):
        if z > 10.0:
            z = z + w
            break
        z = z * 1.5
    return z


def behind_return(x):
    r = np.sqrt(x[0])
    if r <= 0:
        return np.sum(x * x)
    return 1.0 / r


def of_a_chain_of_tests(x):
    s = 0.0
    for i in range(3):
        r = np.sqrt(x[i])
        if (r > 0 and x[i] < 1.0) or r > 5:
            s += 1 / r
        else:
            s += 2 * x[i]
    return s


def of_pairs(x):
    s = 0.0
    for i in range(3):
        for j in range(3):
            d = np.sqrt((x[i] - x[j]) ** 2)
            if i != j:
                s += 1 / d
    return s


def twice(x):
    s = 0.0
    for i in range(3):
        r = np.sqrt(x[i])
        inv = 1 / r if r > 0 else 0.0
        if inv > 1.0:
            s += inv**2
        else:
            s += r if r > 0 else 0.0
    return s


def down_a_chain(x):
    s = 0.0
    for i in range(3):
        y = np.sqrt(x[i])
        z = y * 3.0 + 1.0
        w = np.log(z - 1.0)
        if y > 0:
            s += w * z
        if x[i] > 1.0:
            s += w
    return s


def before_a_loop(x):
    y = np.sqrt(x)
    s = np.sum(x)
    for _ in range(2):
        if x[0] > 0:
            s = s + np.sum(y)
    return s * s


def of_what_a_loop_hands_on(x):
    p, s = x[0], 0.0
    for _ in range(3):
        q = np.sqrt(p)
        p = q + 0.1 if q > 0 else p + x[1]
        s += p
    return s


def _inverse(v):
    r = np.sqrt(v)
    if r > 0:
        return 1 / r
    return v


def in_a_helper(x):
    return sum([_inverse(x[i]) for i in range(3)])


def into_a_list(x):
    kept = []
    for i in range(3):
        r = np.sqrt(x[i])
        if r > 0:
            kept.append(1 / r)
    return sum(kept)


def beside_a_mask(x):
    r = np.sqrt(x)
    y = np.where(r > 0, r, 1.0)
    z = 1.0 / r if np.all(r > 0) else 1.0 / y
    return np.sum(z)


def masks_on_both_sides(x):
    r = np.sqrt(x)
    if x[0] > 0.0:
        return np.sum(np.where(r > 0, 1 / r, 0.0))
    return np.sum(np.where(r > 0, np.log(r), x))


def a_mask_on_one_side(x):
    r = np.sqrt(x)
    s = np.sum(x)
    if x[1] > 0.0:
        s = s + np.sum(np.where(r > 0, 1 / r, 0.0))
    return s


def of_an_inverse(x):
    a = np.diag(np.sqrt(x))
    b = np.linalg.inv(a) if x[0] > 0 else x
    return np.sum(b)


def of_elements_in_a_while(x):
    v = np.sqrt(x)
    k, s = int(x[2] + 0.5), x[0]
    while k > 0:
        if k % 2 == 0:
            s = s + v[1]
        elif x[0] > 0:
            s = s + v[0]
        k -= 1
    return s


def into_elements(x):
    y, out = np.sqrt(x), np.ones(3)
    for i in range(3):
        v = np.sqrt(x[i])
        if x[i] > 0:
            out[i] = v * y[i]
    return np.sum(out**2)


def handed_to_the_next(x):
    s = 0.0
    before = np.sqrt(x[0])
    for i in range(1, 3):
        now = np.sqrt(x[i])
        if before > 0:
            s += now / before
        before = now
    return s


def of_logarithms(x):
    s = 0.0
    for i in range(3):
        a = np.log(x[i])
        c = a * a + x[i]
        if x[i] > 0:
            s += c if x[i] > 1 else c * c
    return s


def largest(x):
    best = x[1]
    for i in range(3):
        r = np.sqrt(x[i])
        if r > best:
            best = r
    return best


FUNCTIONS = [
    in_a_loop, in_a_while, in_an_expression, in_three_branches, behind_continue, behind_break, behind_return,
    of_a_chain_of_tests, of_pairs, twice, down_a_chain, before_a_loop, of_what_a_loop_hands_on, in_a_helper,
    into_a_list, beside_a_mask, masks_on_both_sides, a_mask_on_one_side, of_an_inverse, of_elements_in_a_while,
    into_elements, handed_to_the_next, of_logarithms, largest,
]  # fmt: skip


def warned(call: Callable[..., Any], *given: Any) -> tuple[Any, set[str]]:
    """The result of a call, and what of floating-point it warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = call(*given)
    return made, {str(each.message).split(" encountered")[0] for each in found}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_a_branch_that_is_not_taken_contributes_nothing(function: Any) -> None:
    value, told = warned(function, X)
    (found_value, found), also = warned(srcgrad.value_and_grad(function), X)
    assert found_value == value and np.isfinite(found).all(), found
    assert also <= told, "no floating-point warning that the function itself does not give"
    steps = 1e-6 * np.eye(3)
    near = np.array([(function(X + step) - function(X - step)) / 2e-6 for step in steps])
    np.testing.assert_allclose(found[1:], near[1:], rtol=1e-6, atol=1e-8)  # at 0 it is not smooth
    forward = [srcgrad.jvp(function, (X,), (one,))[1] for one in np.eye(3)]
    np.testing.assert_allclose(found, forward, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_nor_does_it_to_second_derivatives(function: Any) -> None:
    second = srcgrad.hvp(function)(X, np.ones(3))
    assert np.isfinite(second).all()
    twice = srcgrad.grad(lambda x: np.sum(srcgrad.grad(function)(x)))(X)
    np.testing.assert_allclose(twice, second, rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", FUNCTIONS[:13], ids=lambda one: one.__name__)
def test_nor_in_compiled_code(function: Any) -> None:
    pytest.importorskip("numba")
    np.testing.assert_allclose(srcgrad.grad(function, target="numba")(X), srcgrad.grad(function)(X), rtol=1e-12)


def test_what_is_read_in_one_branch_is_differentiated_there() -> None:
    lines = [line.strip() for line in srcgrad.source(behind_return).splitlines()]
    assert "x_bar[0] -= 0.5 * (result_bar * result * result) / r" in lines, "\n".join(lines)
    assert not any("used" in line for line in lines), "\n".join(lines)


def test_a_value_that_each_trip_reads_needs_no_flag() -> None:
    def function(x):
        y = np.exp(x)
        s = 0.0
        for i in range(3):
            s += y[i] * i
        return s

    assert "used" not in srcgrad.source(function)


def test_zeros_that_are_numbers_stay_as_they_are() -> None:
    def function(x):
        r = np.sqrt(x[0])
        if x[1] > 0:
            return 0.0 * r
        return x[2]

    with pytest.warns(RuntimeWarning):
        assert np.isnan(srcgrad.grad(function)(X)[0])


@pytest.mark.parametrize("scaled", [True, False])
def test_a_flag_of_the_users_that_is_asked_again_keeps_its_other_side(scaled: bool) -> None:
    def function(x, scaled):
        s = 0.0
        if scaled:
            s = x[0]
        if scaled:
            y = x[1] * s * (x[2] * s)
        else:
            y = x[1] * x[2]
            y = y + x[0] ** 3
        return y

    first = srcgrad.grad(function)
    found = srcgrad.grad(lambda x: np.sum(first(x, scaled) * X))(X)
    slopes = [(first(X + h, scaled) - first(X - h, scaled)) @ X / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-8)


def constant(x, last=0.4):
    m = np.reshape(np.eye(3) * 0.8 + 0.1, 9).reshape(3, 3)  # noqa: F841  (a call that is not written out)
    return 0.571


def test_zeros_are_like_what_is_there_already() -> None:
    def function(x, n):
        a, b, c = x - 0.7
        k = 0
        while k < n:
            k = k + 1
            v = x
            if constant(x):
                v, x = 0.5 * x, np.array([c, c if a else b, constant(v, a)])
            x, b = np.concatenate([x[1:], x[:1]]), constant(np.maximum(v, 0.213), last=c)
        return x

    at = np.array([0.93, 0.82, 0.42])
    np.testing.assert_allclose(srcgrad.vjp(function, at, 3)[1](np.ones(3))[0], [0.0, 0.0, 2.0])


def test_a_mask_reads_what_is_there_without_a_flag() -> None:
    def function(x, s):
        b = x
        if s > 0.0:
            b = np.clip(b, 0.1, s)
        if s > 0.5:
            w = 3.0
            b = w
        return np.sum(b)

    at = np.array([0.05, 0.3, 2.0])
    for s, expected in [(1.0, np.zeros(3)), (0.4, [0.0, 1.0, 0.0]), (-1.0, np.ones(3))]:
        np.testing.assert_allclose(srcgrad.grad(function)(at, s), expected, atol=1e-15)
