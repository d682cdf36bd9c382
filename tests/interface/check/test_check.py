"""The checker accepts right derivatives and names what is wrong with each kind of wrong one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import srcgrad.interface.check.check
from srcgrad import vjp
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import CheckFailed, check_grads, check_report, table
from srcgrad.interface.check.finite_differences import (
    central_difference,
    precision,
    relative_error,
    shape_like,
    spans,
    tangent_like,
    vector,
)

X = np.array([0.3, -0.5, 1.2])


def layer(x, w, b=0.5):
    return np.tanh(x * w + b)


def energy(parameters, n):
    return np.sum(parameters["w"] * parameters["b"][0]) * n


def two(x):
    return x * x, {"sum": np.sum(x), "size": 3}


def test_right_derivatives_pass() -> None:
    check_grads(layer, (X, 2.0))
    check_grads(layer, (X, 2.0, 0.1))
    check_grads(layer, (X.reshape(3, 1), X[:2], X[:1]), order=1)
    check_grads(layer, (np.array(0.3), np.float64(2.0)))


def test_third_order() -> None:
    check_grads(layer, (X, 2.0), order=3, directions=1)


def test_the_second_order_has_four_nestings() -> None:
    records = check_report(layer, (X, 2.0), directions=1)
    found = {(r.function, r.oracle) for r in records if r.order == 2 and r.oracle in ("forward", "reverse", "pairing")}
    assert found == {
        (f"{made} of layer", oracle) for made in ("gradient", "tangent") for oracle in ("forward", "reverse", "pairing")
    }
    one = check_report(layer, (X, 2.0), modes=("forward",), directions=1)
    assert {r.function for r in one} == {"layer", "tangent of layer"}


def test_nested_arguments_and_integers() -> None:
    check_grads(energy, ({"w": X, "b": [3.0, 2]}, 4), order=1)


def test_nested_results() -> None:
    check_grads(two, (X,), order=1)


def test_keyword_arguments_are_passed() -> None:
    check_grads(layer, (X, 2.0), kwargs={"b": 0.25})


def test_wrt_by_name_and_position() -> None:
    for wrt in ("w", 1, ("w",), (1,)):
        records = check_report(layer, (X, 2.0), order=1, wrt=wrt)
        assert {r.argument for r in records if r.oracle == "reverse"} == {"w"}


def test_float32_has_wider_bounds() -> None:
    check_grads(layer, (X.astype(np.float32), np.float32(2.0)))
    assert precision(X.astype(np.float32), X).difference > precision(X).difference


def test_one_mode_alone() -> None:
    oracles = {r.oracle for r in check_report(layer, (X, 2.0), order=1, modes=("forward",))}
    assert oracles == {"value", "unchanged", "mirrors", "forward"}


def test_empty_arguments() -> None:
    check_grads(layer, (np.zeros((0, 3)), 2.0))


@pytest.mark.parametrize(
    ("code", "facts"),
    [
        ("E5009", {"wrt": "z"}),
        ("E5009", {"wrt": 7}),
        ("E5006", {"modes": ("sideways",)}),
    ],
)
def test_mistakes_of_the_caller(code: str, facts: dict[str, Any]) -> None:
    with pytest.raises(DifferentiationError) as caught:
        check_grads(layer, (X, 2.0), **facts)
    assert caught.value.code == code


def test_integers_alone_are_refused() -> None:
    with pytest.raises(DifferentiationError) as caught:
        check_grads(layer, (1, 2))
    assert caught.value.code == "E5002"


Spoiler = Callable[[Any, tuple[Any, ...], Any], Any]  # (gradient, arguments, seed) -> gradient


def scaled(gradient: Any, args: tuple[Any, ...], seed: Any) -> Any:
    return gradient * (1.0 + 1e-4)


def undefined(gradient: Any, args: tuple[Any, ...], seed: Any) -> Any:
    return np.where(gradient == gradient.max(), np.nan, gradient)


def read_only(gradient: Any, args: tuple[Any, ...], seed: Any) -> Any:
    return np.broadcast_to(gradient, gradient.shape)


def aliased(gradient: Any, args: tuple[Any, ...], seed: Any) -> Any:
    seed[...] = gradient
    return seed


def broadcast(gradient: Any, args: tuple[Any, ...], seed: Any) -> Any:
    return gradient[None]


def rounded(gradient: Any, args: tuple[Any, ...], seed: Any) -> Any:
    return gradient.astype(np.float32)


def writes(gradient: Any, args: tuple[Any, ...], seed: Any) -> Any:
    args[0][0] += 1e-9
    return gradient


def spent(gradient: Any, args: tuple[Any, ...], seed: Any) -> Any:
    spent.calls += 1
    return gradient * (spent.calls % 2)


spent.calls = 0


@pytest.mark.parametrize(
    ("spoil", "oracle"),
    [
        (scaled, "reverse"),
        (scaled, "pairing"),
        (undefined, "reverse"),
        (read_only, "unaliased"),
        (aliased, "unaliased"),
        (aliased, "unchanged"),
        (broadcast, "mirrors"),
        (rounded, "mirrors"),
        (writes, "unchanged"),
        (spent, "repeatable"),
    ],
)
def test_a_wrong_gradient_is_named(spoil: Spoiler, oracle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoiled(f: Any, *args: Any, wrt: Any) -> Any:
        y, pullback = vjp(f, *args, wrt=wrt)

        def wrong(seed: Any) -> Any:
            first, *rest = pullback(seed)
            return (spoil(first, args, seed), *rest)

        return y, wrong

    monkeypatch.setattr(srcgrad.interface.check.check, "vjp", spoiled)
    with pytest.raises(CheckFailed) as caught:
        check_grads(layer, (X.copy(), 2.0), order=1)
    assert oracle in {record.oracle for record in caught.value.records}
    assert oracle in str(caught.value)


def test_the_table_shows_each_record_on_a_line() -> None:
    records = check_report(layer, (X, 2.0), order=1, directions=1)
    assert len(table(records).splitlines()) == 1 + len(records)


class Pair(NamedTuple):
    left: Any
    right: Any


def test_vectors_and_trees_convert_into_each_other() -> None:
    tree = Pair({"a": 1.0 + 2.0j, "n": 3}, [np.float32(4.0), np.array([[5.0], [6.0]]), "text"])
    numbers = vector(tree)
    assert numbers.tolist() == [1.0, 2.0, 4.0, 5.0, 6.0]
    back = shape_like(tree, numbers + 1.0)
    assert isinstance(back, Pair)
    assert (back.left, back.right[2]) == ({"a": 2.0 + 3.0j, "n": 3}, "text")
    assert type(back.right[0]) is np.float32
    assert [span for _, span in spans(tree)] == [slice(0, 2), slice(2, 3), slice(3, 5)]
    assert tangent_like(tree, numbers).left == {"a": 1.0 + 2.0j, "n": 0.0}


def test_a_point_outside_the_domain_is_nan() -> None:
    assert np.isnan(central_difference(np.log, (np.array([1e-6]),), np.ones(1), 1e-2)).all()


def test_infinities_agree_only_with_themselves() -> None:
    inf = np.array([np.inf, 1.0])
    assert relative_error(inf, inf, 1.0) == 0.0
    assert relative_error(-inf, inf, 1.0) == float("inf")
    assert relative_error(np.array([1.0, 1.0]), inf, 1.0) == float("inf")


def _recursive(s, n):
    if n <= 0:
        return 1.0 + 0.1 * s
    return np.tanh(s) * _recursive(s, n - 1)


def _calls_recursive(x, n):
    y = x * 2.0
    return np.sum(_recursive(y, n))


def test_a_refusal_names_the_users_line() -> None:
    with pytest.raises(DifferentiationError, match="recursive") as told:
        check_grads(_calls_recursive, (np.arange(3.0), 2), order=2)
    assert told.value.place.text == "def _calls_recursive(x, n):"
