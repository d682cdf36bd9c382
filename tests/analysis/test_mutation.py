"""Arrays that change in place while something shows them: views of themselves, lists, tuples, dicts and records."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import srcgrad

W = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 0.3], [2.0, 0.1, -0.7]])


@dataclasses.dataclass
class Held:
    w: object


def divided_by_itself_flipped(v):
    b = v.copy()
    b /= np.flip(b)
    return np.sum(b * v)


def divided_by_its_diagonal(v):
    a = np.outer(v, v) + 1.0
    a /= np.diagonal(a)
    return np.sum(a * W)


def multiplied_by_itself_transposed(v):
    a = np.outer(v, v * v) + 1.0
    a *= a.T
    return np.sum(a * W)


def less_itself_backwards(v):
    a = v * 2.0
    a -= a[::-1]
    return np.sum(a * W[0] * v)


def plus_itself_transposed(v):
    a = np.outer(v, v * v) + 1.0
    a += np.transpose(a)
    return np.sum(a * W * a)


def a_view_in_an_expression_before_the_change(v):
    b = v * 2.0
    c = v[0]
    s = np.flip(b) * c
    b *= 3.0
    return np.sum(s * b)


def changes_in_a_loop(v):
    b = v * 2.0
    t = 0.0
    for _ in range(3):
        b /= np.flip(b) + 1.0
        t = t + np.sum(b * np.flip(b))
        b *= b[::-1]
    return t


def turned_in_a_loop(v):
    a = np.outer(v, v * v) + 1.0
    for _ in range(2):
        a /= np.diagonal(a)[:, None]
        a *= np.rot90(a)
    return np.sum(a * W)


def to_the_power_of_itself_turned(v):
    a = np.outer(v, v * v) + 1.0
    a **= np.swapaxes(a, 0, 1) * 0.5
    return np.sum(a * W)


def a_product_with_itself(v):
    a = np.outer(v, v * v) + 1.0
    a @= a.T
    return np.sum(a * W)


def out_of_a_ufunc(v):
    a = v * v
    np.divide(a, a[::-1], out=a)
    return np.sum(a * v)


def parts_of_itself(v):
    a = v * v
    a[1:] *= a[:-1]
    a[:-1] /= a[1:]
    return np.sum(a * v)


def less_its_mean(v):
    a = v * v
    a -= a.mean()
    a /= np.sqrt(np.sum(a * a))
    return np.sum(a * v)


def a_reshaped_view(v):
    a = v * v
    a /= a.reshape(3, 1)[:, 0][::-1]
    return np.sum(a * v)


def changes_in_a_while(v):
    a = v * v
    s = 0.0
    while s < 1.0:
        s = s + 0.4
        a *= np.roll(a, 1)
        a -= np.flip(a) * 0.3
    return np.sum(a * v)


def a_change_in_a_branch(v):
    a = v * v
    if v[0] > 0:
        a /= np.flip(a)
    return np.sum(a * v)


def copies_in_a_list(v):
    a = 2.0 * v
    kept = []
    for _ in range(3):
        kept.append(a.copy())
        a *= 0.5
    return np.sum(kept[0])


def numbers_in_a_list(v):
    a = 2.0 * v[0]
    kept = []
    for _ in range(3):
        kept.append(a)
        a *= 0.5
    return kept[0] * kept[2]


def bound_anew_after_it_was_put(v):
    a = 2.0 * v
    kept = []
    kept.append(a)
    a = a + v * v
    return np.sum(kept[0] * a)


def put_into_a_list_in_a_loop(v):
    a = 2.0 * v
    kept = []
    for _ in range(3):
        kept.append(a)
        a *= 0.5
    return np.sum(kept[0])


def stored_in_a_dict_in_a_loop(v):
    a = 2.0 * v
    kept = {}
    for k in range(3):
        kept[k] = a
        a *= 0.5
    return np.sum(kept[0])


def held_by_a_tuple(v):
    a = 2.0 * v
    kept = (a, v)
    a *= 0.5
    return np.sum(kept[0] * a)


def held_by_a_list(v):
    a = 2.0 * v
    kept = [a, v]
    a -= v * v
    return np.sum(kept[0] * a)


def added_to_a_list(v):
    a = 2.0 * v
    kept = []
    kept += [a]
    a -= v * v
    return np.sum(kept[0] * a)


def held_by_a_comprehension(v):
    a = 2.0 * v
    kept = [one for one in (a, v, a) if one is not None]
    a -= v * v
    return np.sum(kept[0] * a)


def inserted(v):
    a = 2.0 * v
    kept = []
    kept.insert(0, a)
    a[0] = v[1]
    return np.sum(kept[0] * a)


def extended(v):
    a = 2.0 * v
    kept = []
    kept.extend([a, v])
    a[:] = v * v
    return np.sum(kept[0] * a)


def held_by_a_dict(v):
    a = 2.0 * v
    kept = {"w": a, "v": v}
    a += v * v
    return np.sum(kept["w"] * a)


def held_by_a_record(v):
    a = 2.0 * v
    r = Held(a)
    a += v * v
    return np.sum(r.w * a)


def stored_in_a_record(v):
    a = 2.0 * v
    r = Held(v)
    r.w = a
    a += v * v
    return np.sum(r.w * a)


def put_into_a_list_by_a_function(v):
    a = 2.0 * v

    def g(u, held):
        held.append(u)
        return held

    kept = g(a, [])
    a += v * v
    return np.sum(kept[0] * a)


def in_a_tuple_in_a_list(v):
    a = 2.0 * v
    kept = []
    kept.append((a, 1.0))
    a += v * v
    return np.sum(kept[0][0] * a)


def a_part_in_a_list(v):
    a = 2.0 * v
    kept = []
    kept.append(a[1:])
    a += v * v
    return np.sum(kept[0] * a[1:])


def filled_by_out(v):
    a = 2.0 * v
    kept = []
    kept.append(a)
    np.add(a, v * v, out=a)
    return np.sum(kept[0] * a)


def stored_in_a_list(v):
    a = 2.0 * v
    kept = [None, None]
    kept[0] = a
    a += v
    return np.sum(kept[0] * a)


def update_of_a_dict(v):
    a = 2.0 * v
    kept = {}
    kept.update(w=a)
    a += v
    return np.sum(kept["w"] * a)


def setdefault(v):
    a = 2.0 * v
    kept = {}
    kept.setdefault("w", a)
    a += v
    return np.sum(kept["w"] * a)


def items_that_change_in_turn(v):
    a = 2.0 * v
    b = v * v
    kept = []
    for _ in range(2):
        kept.append(a)
        kept.append(b)
        a *= b
        b *= v
    return np.sum(kept[0] * kept[1]) + np.sum(kept[2] * kept[3])


def bound_anew_within_the_loop(v):
    a = v * 1.0
    kept = []
    for k in range(3):
        kept.append(a)
        if k == 1:
            a = a + 1.0
        a[0] *= v[1]
    return np.sum(kept[0] * v) + np.sum(kept[1]) * np.sum(kept[2])


def state_of_an_optimiser(v):
    m = np.zeros_like(v)
    w = v * 1.0
    state = {"m": m, "steps": 0.0}
    for _ in range(3):
        m *= 0.9
        m += 0.2 * w
        state["steps"] += 1.0
        w = w - 0.1 * state["m"] * state["steps"]
    return np.sum(w * w)


def rows_are_elements_of_their_own(v):
    a = v * 1.0
    rows = np.zeros((2, 3))
    kept = [a]
    for k in range(2):
        rows[k] = a
        a *= v
    return np.sum(rows[0] * rows[1]) + np.sum(kept[0])


def left_early(v):
    a = v * 1.0
    kept = []
    for k in range(3):
        kept.append(a)
        if k == 0:
            continue
        a *= v
        if k == 1:
            break
    return np.sum(kept[0] * kept[1])


def taken_out_before_it_changes(v):
    a = 2.0 * v
    kept = (a, v)
    first, second = kept
    a *= 0.5
    return np.sum(first * second)


def in_a_list_of_tuples(v):
    a = 2.0 * v
    pair = (a, v)
    kept = [pair]
    a *= 0.5
    return np.sum(kept[0][0])


def overwritten_in_the_list(v):
    a = 2.0 * v
    kept = [a, v]
    kept[0] = v
    a *= v
    return np.sum(kept[0] * kept[1] * a)


RIGHT = (
    divided_by_itself_flipped,
    divided_by_its_diagonal,
    multiplied_by_itself_transposed,
    less_itself_backwards,
    plus_itself_transposed,
    a_view_in_an_expression_before_the_change,
    changes_in_a_loop,
    turned_in_a_loop,
    to_the_power_of_itself_turned,
    a_product_with_itself,
    out_of_a_ufunc,
    parts_of_itself,
    less_its_mean,
    a_reshaped_view,
    changes_in_a_while,
    a_change_in_a_branch,
    copies_in_a_list,
    numbers_in_a_list,
    bound_anew_after_it_was_put,
    put_into_a_list_in_a_loop,
    stored_in_a_dict_in_a_loop,
    held_by_a_tuple,
    held_by_a_list,
    added_to_a_list,
    extended,
    held_by_a_dict,
    held_by_a_record,
    stored_in_a_record,
    filled_by_out,
    stored_in_a_list,
    update_of_a_dict,
    items_that_change_in_turn,
    bound_anew_within_the_loop,
    state_of_an_optimiser,
    rows_are_elements_of_their_own,
    left_early,
)
REFUSED = (
    held_by_a_comprehension,
    inserted,
    put_into_a_list_by_a_function,
    in_a_tuple_in_a_list,
    a_part_in_a_list,
    setdefault,
    taken_out_before_it_changes,
    in_a_list_of_tuples,
    overwritten_in_the_list,
)


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_what_shows_an_array_has_its_old_elements_in_the_backward_half(f):
    v = np.array([0.3, 0.2, 0.9])
    wanted = np.array([(f(v + one) - f(v - one)) / 2e-6 for one in np.eye(3) * 1e-6])
    given = v.copy()
    # differences of step 1e-6: errors of 1e-8 of rounding, relative to values of about 10
    assert np.allclose(srcgrad.grad(f)(given), wanted, rtol=1e-6, atol=1e-6)
    slopes = [srcgrad.jvp(f, (given,), (one,))[1] for one in np.eye(3)]
    assert np.allclose(slopes, wanted, rtol=1e-6, atol=1e-6) and np.array_equal(given, v)


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_changes_after_it_was_put_away_is_refused(f):
    v = np.array([0.3, 0.2, 0.9])
    for call in (lambda: srcgrad.grad(f)(v), lambda: srcgrad.jvp(f, (v,), (v,)), lambda: srcgrad.vjp(f, v)):
        with pytest.raises(srcgrad.DifferentiationError) as caught:
            call()
        assert caught.value.code == "E5010" and caught.value.place is not None


def test_a_dumped_text_looks_at_what_goes_into_a_list():
    def f(v, k):
        a = v[k]
        kept = []
        for _ in range(2):
            kept.append(a)
            a *= 0.5
        return kept[0] * kept[1]

    text = srcgrad.source(f, wrt="v")
    assert "check_item(a)" in text
    assert np.allclose(srcgrad.grad(f)(np.array([3.0, 1.0]), 0), [3.0, 0.0])


def integers_in_an_argument(x, k):
    k[0] = 9.0 * x
    return np.sum(k) * x


def integers_in_a_part_of_an_argument(x, k):
    part = k[1:]
    part[0] = 9.0 * x
    return np.sum(k) * x


def integers_of_this_function(x, k):
    k = np.array([1, 2, 3])
    k[0] = 9.0 * x
    return np.sum(k) * x


def integers_that_a_function_writes(x, k):
    put(k, 9.0 * x)
    return np.sum(k) * x


def put(a, t):
    a[0] = t


def integers_changed_by_augmentation(x, k):
    k[0] += x
    return np.sum(k) * x


def integers_unpacked_into(x, k):
    k[0], k[1] = x, x * x
    return np.sum(k) * x


@pytest.mark.parametrize("mode", ["value_and_grad", "jvp", "vjp"])
@pytest.mark.parametrize(
    "f",
    [
        integers_in_an_argument,
        integers_in_a_part_of_an_argument,
        integers_that_a_function_writes,
        integers_changed_by_augmentation,
        integers_unpacked_into,
    ],
    ids=lambda f: f.__name__,
)
def test_integers_that_get_what_varies_are_refused(f, mode):
    k = np.array([1, 2, 3])
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        if mode == "jvp":
            srcgrad.jvp(f, (0.4, k), (1.0, np.zeros(3)))
        elif mode == "vjp":
            srcgrad.vjp(f, 0.4, k)
        else:
            srcgrad.value_and_grad(f)(0.4, k)
    assert caught.value.code == "E5002" and np.array_equal(k, [1, 2, 3])
    floats = k.astype(float)
    wanted = (f(0.4 + 1e-6, k.astype(float)) - f(0.4 - 1e-6, k.astype(float))) / 2e-6
    assert np.isclose(srcgrad.grad(f)(0.4, floats), wanted, rtol=1e-6)


def test_integers_of_the_function_itself_cut_off() -> None:
    wanted = (integers_of_this_function(0.4 + 1e-6, 0) - integers_of_this_function(0.4 - 1e-6, 0)) / 2e-6
    assert srcgrad.grad(integers_of_this_function)(0.4, 0) == pytest.approx(wanted, rel=1e-9)
    assert srcgrad.jvp(integers_of_this_function, (0.4, 0), (1.0, None))[1] == pytest.approx(wanted, rel=1e-9)


def filled_in_a_list(v):
    rows = [2.0 * v, v]
    np.copyto(rows[0], v * v)
    return np.sum(rows[0] * rows[1])


def filled_in_a_dict(v):
    held = {"w": 2.0 * v}
    held["w"].fill(3.0)
    return np.sum(held["w"] * v)


def sorted_in_a_list(v):
    rows = [2.0 * v, v]
    rows[0].sort()
    return np.sum(rows[0] * rows[1])


@pytest.mark.parametrize("f", [filled_in_a_list, filled_in_a_dict, sorted_in_a_list], ids=lambda f: f.__name__)
def test_an_item_of_a_list_that_is_filled_keeps_its_place_or_is_refused(f):
    v = np.array([0.3, 0.2, 0.9])
    try:
        found = srcgrad.grad(f)(v)
    except srcgrad.DifferentiationError:
        return
    assert np.allclose(found, [(f(v + one) - f(v - one)) / 2e-6 for one in np.eye(3) * 1e-6], rtol=1e-6)


def filled_like_integers(x, k):
    a = np.full_like(k, x[0])
    a[0] = x[1] * 3.0
    return np.sum(a * x)


def test_an_array_made_like_integers_holds_integers_whatever_fills_it() -> None:
    x, k = np.array([0.3, 0.7, 1.1]), np.arange(3)
    tangent = lambda x, k: srcgrad.jvp(filled_like_integers, (x, k), (x, 0.0 * k))  # noqa: E731
    for derivative in (srcgrad.grad(filled_like_integers), tangent):
        with pytest.raises((srcgrad.DifferentiationError, TypeError), match="E5002"):
            derivative(x, k)


def made_of_a_dtype(x):
    a = np.array(x, dtype=float)
    a[0] *= 2.0
    return np.sum(a * x)


def made_of_numbers_and_a_dtype(x):
    a = np.array([x[0], 1.0], dtype=float)
    a[1] = x[1] ** 2
    return np.sum(a * x)


def copied_by_name(x):
    a = np.array(object=x, copy=True)
    a[0] = x[1] ** 2
    return np.sum(a * x)


@pytest.mark.parametrize("function", [made_of_a_dtype, made_of_numbers_and_a_dtype, copied_by_name])
def test_what_np_array_makes_is_new_however_it_is_called(function: Any) -> None:
    srcgrad.check_grads(function, (np.array([0.3, 0.7]),))


def shown(x):
    a = np.asarray(x, dtype=float)
    a[0] = 3.0
    return np.sum(a * x)


def test_what_np_asarray_gives_may_be_the_callers() -> None:
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.grad(shown)(np.ones(2))


def of_differences(x, n):
    d = np.diff(x, n)
    d[0] = 2.0 * x[1, 1]
    return np.sum(d * d)


def of_a_power(x, n):
    d = np.linalg.matrix_power(x, n)
    d[0] = 2.0 * x[1, 1]
    return np.sum(d * d)


def of_a_new_array_or_not(x, n):
    d = x.astype(float, copy=n > 1)
    d[0] = 2.0 * x[1, 1]
    return np.sum(d * d)


@pytest.mark.parametrize("function", [of_differences, of_a_power, of_a_new_array_or_not])
def test_an_option_that_is_known_when_it_runs_is_looked_at_there(function: Any) -> None:
    """The result is an array of its own but for one value of the option, for which it is the argument itself."""
    x = np.array([[1.5, 0.2, 0.4], [0.3, 1.1, 0.7], [0.1, 0.5, 1.2]])
    before = x.copy()
    srcgrad.check_grads(function, (x, 2))
    own = 1 if function is of_a_power else 0
    for derivative in (srcgrad.grad(function), lambda x, n: srcgrad.jvp(function, (x, n), (x, None))):
        with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
            derivative(x, own)
    np.testing.assert_array_equal(x, before)


def a_number_of_an_element(x, y):
    s = np.float64(x[0])
    s *= y
    s += x[1]
    return s * y


def a_number_of_an_argument(x, y):
    s = np.float64(y)
    s **= 2
    return s * x[0]


def a_number_in_a_loop(x, y):
    s = np.float64(0.0)
    for k in range(2):
        t = np.float64(x[k])
        t -= y
        s += t * t
    return s


@pytest.mark.parametrize("function", [a_number_of_an_element, a_number_of_an_argument, a_number_in_a_loop])
def test_what_numpys_types_make_of_a_number_changes_for_nobody_else(function: Any) -> None:
    srcgrad.check_grads(function, (np.array([0.5, -1.2]), 1.7))


def test_what_numpys_types_make_of_an_array_is_that_array() -> None:
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.grad(a_number_of_an_argument, 1)(np.ones(2), np.array([0.5, 0.3]))


def bound_when_large(x):
    if np.sum(x) > 1.0:
        y = x * x
    return np.sum(x * y)


def bound_in_a_call(a, k):
    if k == 1:
        w = a * a
    return w * a


def calls_that_bind(x, n):
    total = 0.0
    for k in range(1, n):
        total = total + bound_in_a_call(x[k], k)
    return total


def bound_under_a_flag_that_changes(x, flag):
    if flag:
        s = x[0] * 2.0
    flag = not flag
    y = x[1]
    if flag:
        y = y * s
    return y


def read_on_one_side(x, k):
    if k > 5.0:
        y = x * x
    y = 2.0 * x if k < 0.0 else y
    return np.sum(x * y)


def test_a_name_that_no_branch_has_bound_is_unbound_in_the_derivative_too() -> None:
    x = np.array([0.3, 0.5, 0.7])
    assert srcgrad.grad(bound_when_large)(x) == pytest.approx(3.0 * x * x)
    assert srcgrad.grad(calls_that_bind)(x, 2) == pytest.approx([0.0, 0.75, 0.0])
    assert srcgrad.grad(bound_under_a_flag_that_changes)(x, True).tolist() == [0.0, 1.0, 0.0]
    assert srcgrad.grad(read_on_one_side)(x, -1.0) == pytest.approx(4.0 * x)  # there nothing reads what is unbound
    assert srcgrad.grad(read_on_one_side)(x, 9.0) == pytest.approx(3.0 * x * x)
    for function, arguments in (
        (bound_when_large, (-x,)),
        (calls_that_bind, (x, 3)),  # in the first trip it was bound
        (bound_under_a_flag_that_changes, (x, False)),
        (read_on_one_side, (x, 1.0)),
    ):
        with pytest.raises(UnboundLocalError):
            srcgrad.grad(function)(*arguments)
        with pytest.raises(UnboundLocalError):
            srcgrad.hvp(function)(*arguments, x)


def test_a_flag_that_lasts_needs_no_look() -> None:
    text = srcgrad.source(flag_that_lasts, wrt="x")
    assert "UnboundLocalError" not in text
    assert "UnboundLocalError" in srcgrad.source(bound_under_a_flag_that_changes, wrt="x")


def flag_that_lasts(x, flag):
    if flag:
        s = x[0] * 2.0
    y = x[1]
    if flag:
        y = y * s
    return y


def rows_of_an_array(b, s):
    e, c = s
    s[-1] = c * b + e
    return np.sum(s * s)


def rows_in_a_loop(b, s):
    for _ in range(2):
        e, c = s
        s[-1] = c * b + e
    return np.sum(s * s)


def rows_in_a_pair(b, s):
    (e, c), w = s, 2.0
    s[-1] = c * b * w * e
    return np.sum(s)


def columns_of_an_array(b, s):
    e, c = s.T[:2]
    s[:, 0] = c * b * e
    return np.sum(s)


def items_of_a_row(b, s):
    [[e, _, _], c] = s
    s[-1] = c * b * e
    return np.sum(s)


def items_of_a_vector(b, s):
    v = s[0]
    e, c, _ = v
    s[0] = c * b * e
    return np.sum(s)


@pytest.mark.parametrize(
    "function",
    [rows_of_an_array, rows_in_a_loop, rows_in_a_pair, columns_of_an_array, items_of_a_row, items_of_a_vector],
    ids=lambda f: f.__name__,
)
def test_rows_that_are_unpacked_are_what_they_were_before_the_array_changed(function: Any) -> None:
    srcgrad.check_grads(function, (0.8, np.array([[-0.17, 0.28, 0.17], [0.2, 0.73, -0.67]])), order=2)


def shorter_than_it_was_made(c, x):
    c = [(k + 2) * x for k in range(3)]
    last = c.pop()  # noqa: F841  (what it is for)
    return x * c[-1]


def test_a_list_in_place_of_an_argument_loses_its_tangent_with_its_item() -> None:
    assert srcgrad.jvp(shorter_than_it_was_made, (0.5, 2.0), (0.0, 1.0)) == (12.0, 12.0)
    srcgrad.check_grads(shorter_than_it_was_made, (0.5, 2.0), order=1)


def _made(v):
    return np.sin(v) * np.cos(np.sin(v) * v) * np.tanh(v * v)


def _written_results(x):
    r, kept = 1.0, []
    for k in range(3):
        t = _made(x + k)
        kept.append(t)
        t[k] = r * x[k]
        s = _made(t)
        s[1:] *= t[0]
        r = r + np.sum(t * s * _made(s))
    return r * np.sum(kept[0] * kept[1])


def _elements_of_a_mask(x):
    y, s = x * 2.0, 0.5
    for k in range(2):
        mask = ~(y < 0.1) | (y > 5.0)
        t = y[mask]
        t[0] += x[k]
        t[1] *= t[0]
        s = s + np.sum(t * y[mask])
        y = y + t[0]
    return s * np.sum(y)


def _rows_of_a_mask(x):
    y = x * np.reshape(x, (3, 1))
    t = y[x > 0.6]
    row = t[0]
    row[1] = x[2] * x[0]
    t[1, 0] = row[1] * 2.0
    return np.sum(t * t) + np.sum(y)


@pytest.mark.parametrize("function", [_written_results, _elements_of_a_mask, _rows_of_a_mask])
def test_writes_into_what_a_call_or_a_mask_has_made(function) -> None:
    srcgrad.check_grads(function, (np.array([0.7, 0.5, 1.2]),), order=1)


def _item_by_a_test(x):
    a, b = x * 1.0, x * x
    held = {True: a, False: b}
    t = held[bool(x[0] > 0.6)]
    t[0] = 5.0 * x[1]
    return np.sum(a * b)


def _argument_or_new(v):
    return v if v[0] > 0.6 else v * _made(v) * np.cos(_made(v) * np.sin(v) * np.tanh(v))


def _written_argument(x):
    y = x * 1.0
    t = _argument_or_new(y)
    t[0] = 3.0 * x[1]
    return np.sum(t * y * _argument_or_new(y * y))


@pytest.mark.parametrize("function", [_item_by_a_test, _written_argument])
def test_writes_into_what_something_else_holds(function) -> None:
    x = np.array([0.7, 0.5, 1.2])
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.vjp(function, x)
