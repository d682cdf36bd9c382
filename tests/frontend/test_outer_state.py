"""What a module holds changes by a call, behind a place where it was read: refused; before it, right."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import srcgrad


class Spring:
    rate = 2.0

    def __init__(self) -> None:
        self.k = 0.6

    def bump(self) -> float:
        self.k = 0.9
        return 0.1


SPRING, TABLE, ITEMS, ARRAY, OBJECTS = Spring(), {"a": 0.6}, [0.6], np.array([0.6, 0.6]), [Spring()]
X = np.array([0.3, 0.4])


def reset() -> None:
    TABLE["a"], ITEMS[0], ARRAY[:], SPRING.k, OBJECTS[0].k, Spring.rate = 0.6, 0.6, 0.6, 0.6, 0.6, 2.0


def of_a_dict() -> float:
    TABLE["a"] = 0.9
    return 0.1


def of_a_list() -> float:
    ITEMS[0] = 0.9
    return 0.1


def of_an_array() -> float:
    ARRAY[0] = 0.9
    return 0.1


def of_a_class() -> float:
    Spring.rate = 9.0
    return 0.1


def of_an_object_in_a_list() -> float:
    OBJECTS[0].k = 0.9
    return 0.1


def by_another() -> float:
    return of_a_dict() + 1.0


def a_dict(x: Any) -> Any:
    y = x * TABLE["a"]
    q = of_a_dict()
    return np.sum(y * y) + q


def a_dict_by_another(x: Any) -> Any:
    y = x * TABLE["a"]
    q = by_another()
    return np.sum(y * y) + q


def a_list(x: Any) -> Any:
    y = x * ITEMS[0]
    return np.sum(y * y) + of_a_list()


def an_array(x: Any) -> Any:
    y = x * ARRAY
    q = of_an_array()
    return np.sum(y * y) + q


def a_class(x: Any) -> Any:
    y = x * Spring.rate
    q = of_a_class()
    return np.sum(y * y) + q


def a_field(x: Any) -> Any:
    y = x * SPRING.k
    q = SPRING.bump()
    return np.sum(y * y) + q


def a_field_of_an_item(x: Any) -> Any:
    y = x * OBJECTS[0].k
    q = of_an_object_in_a_list()
    return np.sum(y * y) + q


def in_a_loop(x: Any) -> Any:
    y = x
    for _ in range(3):
        q = SPRING.bump()
        y = y * SPRING.k
    return np.sum(y * y) + q


def before_it_is_read(x: Any) -> Any:
    q = SPRING.bump()
    y = x * SPRING.k
    return np.sum(y * y) + q


@pytest.mark.parametrize(
    "function",
    [a_dict, a_dict_by_another, a_list, an_array, a_class, a_field, a_field_of_an_item, in_a_loop],
    ids=lambda f: f.__name__,
)
def test_a_change_behind_a_read_is_refused(function: Any) -> None:
    reset()
    for derive in (srcgrad.grad, lambda f: lambda x: srcgrad.jvp(f, (x,), (x,))):
        with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
            derive(function)(X)


def test_a_change_before_a_read_is_right() -> None:
    reset()
    np.testing.assert_allclose(srcgrad.grad(before_it_is_read)(X), 2.0 * X * 0.81, rtol=1e-12)


HELD = np.array([[0.72], [1.04]])


def doubles(a: Any) -> float:
    a += a
    return 1.0


def by_its_name(x: float) -> Any:
    _ = doubles(HELD)
    return np.sum(HELD) * x


def by_another_name(x: float) -> Any:
    c = HELD
    d = c
    _ = doubles(d)
    return np.sum(c) * x


def by_a_view(x: float) -> Any:
    c = HELD.T
    _ = doubles(c)
    return np.sum(HELD) * x


def in_a_branch(x: float) -> Any:
    if x > 0.1:
        _ = doubles(HELD)
    return np.sum(HELD) * x


def in_a_comprehension(x: float) -> Any:
    _ = [doubles(HELD) for _ in range(2)]
    return np.sum(HELD) * x


def of_a_copy(x: float) -> Any:
    c = HELD.copy()
    _ = doubles(c)
    return np.sum(c) * x


def of_a_copy_whose_number_is_read(x: float) -> Any:
    c = HELD.copy()
    y = doubles(c)
    return np.sum(c) * x * y


@pytest.mark.parametrize("f", [by_its_name, by_another_name, by_a_view, in_a_branch, in_a_comprehension])
def test_a_call_that_changes_an_array_of_the_module_is_not_dropped(f: Any) -> None:
    """It gave a number that nobody reads, and the call went with it: the value was that before the change."""
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.value_and_grad(f)(0.7)
    np.testing.assert_array_equal(HELD, [[0.72], [1.04]])


@pytest.mark.parametrize("f", [of_a_copy, of_a_copy_whose_number_is_read])
def test_a_call_that_changes_a_copy_is_right(f: Any) -> None:
    assert srcgrad.value_and_grad(f)(0.7) == pytest.approx((2.464, 3.52))
    np.testing.assert_array_equal(HELD, [[0.72], [1.04]])


LEFT: dict[str, Any] = {}
SLOTS = np.zeros(2)


def kept_in_a_dict(s: Any) -> int:
    LEFT["k"] = s * 2.0
    return 1


def kept_in_an_array(s: Any) -> bool:
    SLOTS[0] = s
    return bool(s > 0.0)


def reads_a_dict(s: Any) -> Any:
    _ = kept_in_a_dict(s)
    return LEFT["k"] * s


def reads_an_array(s: Any) -> Any:
    if kept_in_an_array(s):
        return SLOTS[0] * s
    return s


@pytest.mark.parametrize("function", [reads_a_dict, reads_an_array])
def test_what_a_called_function_leaves_with_the_module_is_refused(function: Any) -> None:
    """Its result has no derivative; what it left was read as a constant: 0.7 for 1.4 at 0.7."""
    for derivative in (srcgrad.grad(function), lambda s: srcgrad.jvp(function, (s,), (1.0,))):
        with pytest.raises(srcgrad.DifferentiationError) as found:
            derivative(0.7)
        assert found.value.code == "E5005"


def fills_a_half(t: Any) -> Any:
    a = np.zeros((2, 2))
    a[np.tril_indices(2)] = t
    return a


def doubles_a_copy(t: Any, s: Any) -> Any:
    t = t.copy()
    t[0] = s * 2.0
    return t[0]


def fills_and_asks(s: Any) -> Any:
    """The index is a function of the module, the array its own; the array of the module is copied first."""
    if doubles_a_copy(SLOTS, s) > 0.0:
        return np.sum(fills_a_half(s * np.ones(3))) * s
    return s


def test_what_a_called_function_makes_and_fills_is_its_own() -> None:
    assert srcgrad.grad(fills_and_asks)(0.7) == pytest.approx(4.2)
    assert not SLOTS.any()


BOX, KEPT, TOTAL = Spring(), [0.5], 0.0


def in_a_dict(s: Any) -> int:
    LEFT["k"] = s * 2.0
    return 1


def in_a_field(s: Any) -> int:
    BOX.k = s * 2.0
    return 1


def in_a_global(s: Any) -> int:
    global TOTAL
    TOTAL = s * 2.0
    return 1


def in_a_list(s: Any) -> int:
    KEPT.append(s * 2.0)
    return 1


def by_a_second_name(s: Any) -> int:
    held = LEFT
    held["k"] = s * 2.0
    return 1


def by_a_function_within(s: Any) -> int:
    def put() -> None:
        LEFT["k"] = s * 2.0

    put()
    return 1


def by_a_builtin(s: Any) -> int:
    setattr(BOX, "k", s * 2.0)  # noqa: B010
    return 1


def by_out(s: Any) -> int:
    np.multiply(s, 2.0, out=SLOTS)
    return 1


def where_it_is_told(s: Any, held: Any) -> int:
    held["k"] = s * 2.0
    return 1


def through_an_argument(s: Any) -> int:
    return where_it_is_told(s, LEFT)


def through_itself(s: Any, n: int = 2) -> int:
    if n > 0:
        return through_itself(s, n - 1)
    return in_a_dict(s)


def read_all() -> Any:
    return LEFT.get("k", 1.0) + BOX.k + TOTAL + KEPT[-1] + SLOTS[0]


@pytest.mark.parametrize(
    "keep",
    [
        in_a_dict,
        in_a_field,
        in_a_global,
        in_a_list,
        by_a_second_name,
        by_a_function_within,
        by_a_builtin,
        by_out,
        through_an_argument,
        through_itself,
    ],
    ids=lambda f: f.__name__,
)
def test_what_is_left_two_calls_deep_is_refused(keep: Any) -> None:
    """The one that is called hands on, in a loop and a branch: it is not written out."""

    def inner(s: Any) -> int:
        k = 0
        for _ in range(2):
            if s > 0.0:
                k = keep(s)
        return k

    def as_a_number(s: Any) -> Any:
        n = inner(s)
        return read_all() * n * s

    def as_a_condition(s: Any) -> Any:
        return read_all() * s if inner(s) > 0 else s

    def as_an_index(s: Any) -> Any:
        return np.ones(3)[inner(s)] * read_all() * s

    for function in (as_a_number, as_a_condition, as_an_index):
        with pytest.raises(srcgrad.DifferentiationError) as found:
            srcgrad.grad(function)(0.7)
        assert found.value.code in ("E5005", "E5010")


NOTES: list[float] = []
CACHE: dict[int, Any] = {}


def has_converged(x: Any) -> bool:
    NOTES.append(float(np.linalg.norm(x)))
    for k in range(len(x)):
        if x[k] > 9.0:
            return k > 0
    return False


def nodes_of(n: int) -> Any:
    if n not in CACHE:
        CACHE[n] = np.polynomial.legendre.leggauss(n)
    return CACHE[n]


def notes_its_steps(x: Any) -> Any:
    for _ in range(3):
        if has_converged(x):
            break
        x = np.sin(x)
    return np.sum(x)


def keeps_its_nodes(x: Any) -> Any:
    t, w = nodes_of(len(x) + 2)
    return np.sum(w * np.sin(t * x[0])) + x[1] ** 2


@pytest.mark.parametrize("f", [notes_its_steps, keeps_its_nodes])
def test_what_nobody_reads_or_does_not_depend_on_arguments_may_be_kept(f: Any) -> None:
    e = 1e-6 * np.eye(2)
    right = [(f(X + step) - f(X - step)) / 2e-6 for step in e]
    np.testing.assert_allclose(srcgrad.grad(f)(X), right, rtol=1e-6, atol=1e-9)


QUEUE = collections.deque([1.0])
HOLDS = ([1.0], 2.0)


def kept_at_the_end(s: Any) -> int:
    QUEUE.append(s * 2.0)
    return 1


def kept_in_front(s: Any) -> int:
    QUEUE.appendleft(s * 2.0)
    return 1


def kept_in_a_list_of_a_tuple(s: Any) -> int:
    HOLDS[0].append(s * 2.0)
    return 1


def reads_the_end(s: Any) -> Any:
    _ = kept_at_the_end(s)
    return QUEUE[-1] * s


def reads_the_front(s: Any) -> Any:
    _ = kept_in_front(s)
    return QUEUE[0] * s


def reads_the_list(s: Any) -> Any:
    _ = kept_in_a_list_of_a_tuple(s)
    return HOLDS[0][-1] * s


@pytest.mark.parametrize("function", [reads_the_end, reads_the_front, reads_the_list])
def test_what_is_left_in_an_object_without_attributes_is_refused(function: Any) -> None:
    """A deque and a tuple have no `__dict__`: what they hold was read as a constant, 1.4 for 2.8 at 0.7."""
    for derivative in (srcgrad.grad(function), lambda s: srcgrad.jvp(function, (s,), (1.0,))):
        with pytest.raises(srcgrad.DifferentiationError) as found:
            derivative(0.7)
        assert found.value.code in ("E5005", "E5010")


COUNT, WEIGHTS, PREVIOUS = 0, None, 0.5


def known_to_nobody_else(x: Any) -> Any:
    global COUNT, WEIGHTS, PREVIOUS
    COUNT += 1
    if WEIGHTS is None:
        WEIGHTS = np.arange(3.0)
    y = np.sum(WEIGHTS * x**2) * PREVIOUS
    PREVIOUS = x[0] * y
    return y + PREVIOUS


def reads_count(x: Any) -> Any:
    return x * COUNT


def known_to_what_it_calls(x: Any) -> Any:
    global COUNT
    COUNT = 3
    return reads_count(x)


def test_a_global_that_no_called_function_knows_is_a_variable() -> None:
    x = np.array([0.3, 0.7, -1.2])
    table = np.arange(3.0)
    s = np.sum(table * x**2) * 0.5
    for _ in range(2):
        expected = (1.0 + x[0]) * table * x + s * np.array([1.0, 0.0, 0.0])
        np.testing.assert_allclose(srcgrad.grad(known_to_nobody_else)(x), expected, rtol=1e-14)
    assert (COUNT, WEIGHTS, PREVIOUS) == (0, None, 0.5)
    with pytest.raises(srcgrad.DifferentiationError, match="writing a global"):
        srcgrad.grad(known_to_what_it_calls)(2.0)
