"""A list or dict that changes keeps its kind where its name is bound to something else before or afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.dump import dump


def bound_to_its_item(x, d):
    d["a"] = d["a"] * x
    d = d["a"]
    return d[0] * d[1] * x


def bound_to_a_number(x, s):
    y = s[1]
    for _ in range(2):
        s[1] *= x
    kept = {"w": s}
    s = 0.5
    return x * y * s * kept["w"][1]


def bound_to_another(x, s):
    s[0] = 3.0 * x
    y = s[0] * s[1]
    s = {"p": x * y}
    s["p"] *= x
    return s["p"] + y


def bound_before(x, s):
    d = x * x
    y = d * d
    d = [d, 2.0 * x]
    d[0] *= y
    return d[0] + d[1] * s[0]


def unpacked_into_a_key(x, d):
    d["a"], y = (x * x, d["w"])
    t = d
    d = y
    return t["a"] * t["w"] * d


def augmented_afterwards(x, s):
    s[0] *= x
    s = s[0] * s[1]
    s *= x
    s += 1.0
    return s * s


def filled_and_read(x, s):
    t = s["a"]
    s["a"] = s["w"] * x
    for _ in range(2):
        s["a"] *= np.sin(x) + s["a"]
    return s["a"] * t * x


def added_to(x, s):
    s[0] += x
    return s[0] ** 3 + np.sum(x * s[0] * s[1])


def run_through_and_changed(x, s):
    b = x * np.ones(2)

    def inner(b):
        total = 0.0
        for b in s:
            total += b * x
        return total

    t = inner(b)
    s[-1] *= x
    return s[-1] * t


CASES = {
    bound_to_its_item: {"a": np.array([1.1, 0.7])},
    bound_to_a_number: [0.4, 1.1],
    bound_to_another: [0.4, 1.1],
    bound_before: [0.4],
    unpacked_into_a_key: {"a": 0.35, "w": 0.6},
    augmented_afterwards: [0.4, 1.1],
    run_through_and_changed: [0.4, 1.1],
}


@pytest.mark.parametrize("function", CASES)
def test_a_list_that_changes_and_whose_name_is_bound_anew(function: Any) -> None:
    srcgrad.check_grads(function, (0.7, CASES[function]), order=1)


@pytest.mark.parametrize(
    ("function", "held"),
    [(filled_and_read, {"a": 0.35, "w": 0.6}), (added_to, [0.3, 0.5]), (bound_to_another, [0.4, 1.1])],
)
def test_second_order_through_a_list_that_changes(function: Any, held: Any) -> None:
    def slope(x):
        return srcgrad.grad(function)(x, held)

    wanted = (slope(0.7 + 1e-6) - slope(0.7 - 1e-6)) / 2e-6
    assert np.isclose(srcgrad.hvp(function)(0.7, held, 1.0), wanted, rtol=1e-6)


KEYED = """
import numpy as np

def stored(x, s):
    t = s["a"]
    s["a"] += np.sin(x) * s["w"]
    for i in range(3):
        s["w"] *= s["a"]
    return s["a"] * s["w"] * t

def unpacked(x, s):
    s["a"], y = x * s["w"], s["a"]
    held = s
    s = 1.0
    return held["a"] * y * s
"""


@pytest.mark.parametrize("function", ["stored", "unpacked"])
def test_a_text_takes_what_is_written_by_names_for_a_dict(function: str, tmp_path: Any) -> None:
    path = tmp_path / "keyed_model.py"
    path.write_text(KEYED)
    made: dict[str, Any] = {}
    exec(compile(KEYED, str(path), "exec"), made)
    exec(dump(f"{path}:{function}", mode="value-and-grad", wrt=("x", "s")).text, made)
    held = {"a": 0.4, "w": 0.7}
    value, (x_bar, held_bar) = made[f"{function}_value_and_grad"](0.3, held)
    assert held == {"a": 0.4, "w": 0.7}

    def slope(x: float, **given: float) -> Any:
        return (made[function](0.3 + x, {k: v + given.get(k, 0.0) for k, v in held.items()}) - value) / 1e-7

    wanted = slope(1e-7), slope(0.0, a=1e-7), slope(0.0, w=1e-7)
    assert np.allclose((x_bar, held_bar["a"], held_bar["w"]), wanted, atol=1e-6)


def test_a_list_that_a_loop_over_it_does_not_give_on() -> None:
    def f(b, x, s):
        for b in s:
            s[0] += b
        s[-1] *= x
        return s[-1] * b

    value, (x_bar, s_bar) = srcgrad.value_and_grad(f, wrt=(1, 2))(np.ones(2), 0.3, [0.4, 1.1])
    assert np.allclose((value, x_bar, *s_bar), (0.3 * 1.1**2, 1.1**2, 0.0, 0.6 * 1.1))


def unpacked_into_itself(c, a):
    if c < 0.0:
        a["a"] -= c
        _, a = a, a
    return a["w"] * 2.0 + a["a"] * c


def unpacked_beside_another(c, a):
    if c < 0.0:
        a["a"] -= c
        t, a = c * 2.0, {"a": a["a"], "w": c}
        c = c + t
    return a["w"] * 2.0 + a["a"] * c


@pytest.mark.parametrize("c", [0.5, -0.5])
@pytest.mark.parametrize("function", [unpacked_into_itself, unpacked_beside_another])
def test_a_dict_that_a_tuple_binds_is_one(function: Any, c: float) -> None:
    srcgrad.check_grads(function, (c, {"a": 0.3, "w": 0.6}), order=1)
