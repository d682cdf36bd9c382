"""What holds for every derivative: the data of callers is safe, pullbacks are linear, gradients mirror arguments."""

from __future__ import annotations

import inspect
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from srcgrad import DifferentiationError, differentiate, grad, jvp, value_and_grad, vjp
from tests.programs.accepted import IDS, PROGRAMS

every_program = pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=IDS)


def leaves(value: Any) -> list[Any]:
    """The numbers and arrays in nested containers, None left out."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [] if value is None else [value]


def bits(value: Any) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in leaves(value)]


def seed_of(value: Any, scale: float) -> Any:
    """A seed of the structure of an output: generic numbers times `scale`."""
    if isinstance(value, tuple | list):
        return tuple(seed_of(part, scale) for part in value)
    seed = scale * np.sin(1.0 + np.arange(np.size(value)).reshape(np.shape(value)))
    return seed if isinstance(value, np.ndarray) else float(seed)


def wave(x, w):
    """One number from an array and a number."""
    return np.sum(np.tanh(x * w) * x)


def total(a, b):
    """An output whose adjoint is the seed itself, twice."""
    return a + b


def trips(x, w, n):
    """State that is recorded in a loop."""
    h = x
    for _ in range(n):
        h = np.tanh(h * w + x[:1])
    return np.sum(h * h)


# Every program


@every_program
def test_arguments_and_seeds_are_not_changed(function, args) -> None:
    before = bits(args)
    value, pullback = vjp(function, *args)
    seed = seed_of(value, 1.0)
    seed_before = bits(seed)
    pullback(seed)
    jvp(function, args, args)
    assert bits(args) == before
    assert bits(seed) == seed_before


@every_program
def test_pullback_twice_gives_the_same_bits(function, args) -> None:
    value, pullback = vjp(function, *args)
    first = bits(pullback(seed_of(value, 1.0)))
    pullback(seed_of(value, -3.0))
    assert bits(pullback(seed_of(value, 1.0))) == first


@every_program
def test_pullback_is_linear(function, args) -> None:
    """Doubling a seed is exact in binary; a zero seed gives zeros, no nan and no remainder of an earlier call."""
    value, pullback = vjp(function, *args)
    once, twice, none = (leaves(pullback(seed_of(value, scale))) for scale in (1.0, 2.0, 0.0))
    for single, double, zero in zip(once, twice, none, strict=True):
        np.testing.assert_array_equal(double, 2.0 * single)
        np.testing.assert_array_equal(zero, np.zeros_like(single))


@every_program
def test_gradients_have_memory_of_their_own(function, args) -> None:
    value, pullback = vjp(function, *args)
    seed = seed_of(value, 1.0)
    arrays = [leaf for leaf in leaves(pullback(seed)) if isinstance(leaf, np.ndarray)]
    others = [leaf for leaf in (*leaves(args), *leaves(seed), *leaves(value)) if isinstance(leaf, np.ndarray)]
    for position, array in enumerate(arrays):
        assert array.flags.writeable
        assert not any(np.shares_memory(array, other) for other in (*others, *arrays[:position]))


def test_results_of_a_pullback_are_apart() -> None:
    x, seed = np.ones(3), np.ones(3)
    _, pullback = vjp(total, x, x)
    first, second = pullback(seed)
    first += 5.0
    np.testing.assert_array_equal(second, np.ones(3))
    np.testing.assert_array_equal(pullback(seed)[0], np.ones(3))


# Threads


def in_threads(work) -> list[Any]:
    """What eight threads give that start at the same moment."""
    barrier = threading.Barrier(8)

    def started(number: int) -> Any:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(started, range(8)))


def test_eight_threads_equal_serial() -> None:
    """One derivative, first call included; another derivative per thread; one pullback for all."""
    inputs = [np.linspace(-1.0, 1.0, 5) * (number + 1) for number in range(8)]
    serial = [grad(trips, "w")(x, 0.7, number) for number, x in enumerate(inputs)]
    shared = grad(trips, "w")
    assert in_threads(lambda number: shared(inputs[number], 0.7, number)) == serial
    assert in_threads(lambda number: grad(trips, "w")(inputs[number], 0.7, number)) == serial

    _, pullback = vjp(trips, inputs[0], 0.7, 6)
    expected = [bits(pullback(float(number))) for number in range(8)]
    assert in_threads(lambda number: bits(pullback(float(number)))) == expected


# Classes, shapes and dtypes

MIRRORED = {
    "float": 0.3,
    "float32 number": np.float32(0.3),
    "float64 number": np.float64(0.3),
    "0-d": np.array(0.3),
    "0-d float32": np.array(0.3, np.float32),
    "empty": np.zeros(0),
    "row": np.full((1, 3), 0.3),
    "strided": np.arange(10.0)[::3] / 10,
    "reversed": np.arange(4.0)[::-1] / 10,
    "Fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3) / 10),
    "float16": np.full(2, 0.3, np.float16),
    "float32": np.full(2, 0.3, np.float32),
    "longdouble": np.full(2, 0.3, np.longdouble),
    "big endian": np.full(2, 0.3, ">f8"),
    "read only": np.broadcast_to(0.3, (2, 3)),
}


@pytest.mark.parametrize("x", MIRRORED.values(), ids=MIRRORED)
def test_gradient_mirrors_its_argument(x) -> None:
    for gradient in (grad(wave)(x, 1.5), value_and_grad(wave)(x, 1.5)[1], vjp(wave, x, 1.5)[1](1.0)[0]):
        assert type(gradient) is type(x)
        assert np.shape(gradient) == np.shape(x)
        assert getattr(gradient, "dtype", None) == getattr(x, "dtype", None)
        plain = grad(wave)(np.array(x, float, order="C"), 1.5)
        rounding = max(float(np.finfo(np.asarray(x).dtype).eps), 2.0**-52)
        np.testing.assert_allclose(np.asarray(gradient, float), plain, rtol=8 * rounding, atol=8 * rounding)


def test_gradient_mirrors_containers() -> None:
    def network(p, x):
        return np.sum(np.tanh(x * p["w"]) * p["b"][0]) + p["b"][1]

    p = {"w": np.ones(3, np.float32), "b": [np.full(3, 0.2), 0.4]}
    gradient = grad(network)(p, np.ones(3))
    assert list(gradient) == ["w", "b"]
    assert type(gradient["b"]) is list
    assert gradient["b"][1] == 1.0
    assert gradient["w"].dtype == np.float32
    np.testing.assert_allclose(gradient["b"][0], np.tanh(np.ones(3)), rtol=1e-15)


REFUSED = {
    "int": (3, "E5002"),
    "bool": (True, "E5002"),
    "int array": (np.arange(3), "E5002"),
    "bool array": (np.ones(2, bool), "E5002"),
    "complex": (1j, "E5007"),
    "complex array": (np.ones(2) * 1j, "E5007"),
    "object array": (np.array([1.0, 2.0], object), "E5017"),
    "matrix": (np.ones((1, 2)).view(np.matrix), "E5017"),
    "masked": (np.ma.array([1.0, 2.0], mask=[0, 1]), "E5017"),
    "text": ("a", "E5017"),
    "none": (None, "E5017"),
    "records": (np.zeros(2, [("a", "f8")]), "E5017"),
    "date": (np.array(["2020"], "M8[D]"), "E5017"),
}


@pytest.mark.parametrize(("x", "code"), REFUSED.values(), ids=REFUSED)
def test_refused_arguments(x, code) -> None:
    with pytest.raises(DifferentiationError) as caught:
        grad(wave)(x, 2.0)
    assert caught.value.code == code


@pytest.mark.parametrize("x", [np.arange(3), np.array([True, False])], ids=["int", "bool"])
def test_integers_outside_wrt(x) -> None:
    np.testing.assert_allclose(grad(wave, "w")(x, 0.7), grad(wave, "w")(x.astype(float), 0.7), rtol=1e-15)


SEEDS = [(np.ones(3), "E5014"), (1.0, "E5014"), (None, "E5014"), (np.array([1j, 0.0]), "E5017")]


@pytest.mark.parametrize(("seed", "code"), SEEDS, ids=["longer", "number", "none", "complex"])
def test_refused_seeds(seed, code) -> None:
    _, pullback = vjp(total, np.ones(2), np.ones(2))
    with pytest.raises(DifferentiationError) as caught:
        pullback(seed)
    assert caught.value.code == code


# The decorator


@differentiate
def decorated(x, w=0.5):
    """Sum of a wave."""
    return np.sum(np.sin(x * w))


def test_decorated_function_is_the_primal() -> None:
    assert decorated.__doc__ == "Sum of a wave."
    assert decorated.__name__ == decorated.__qualname__ == "decorated"
    assert str(inspect.signature(decorated)) == "(x, w=0.5)"
    assert decorated(np.ones(2)) == 2.0 * np.sin(0.5)


def test_decorated_function_pickles() -> None:
    restored = pickle.loads(pickle.dumps(decorated))
    assert restored is decorated
    np.testing.assert_allclose(restored.grad(np.ones(2)), np.full(2, 0.5 * np.cos(0.5)), rtol=1e-15)


def products_of_items(d):
    return np.sum(d["w"] * d["v"][0]) * d["k"]


def test_pullbacks_read_numbers_of_the_forward_call_and_leave_dicts_alone() -> None:
    """What the caller changes in between, in arrays that dicts and lists hold, changes no adjoint."""
    w, v = np.array([0.5, -1.2]), np.array([2.0, 0.7])
    d = {"w": w, "v": [v], "k": 3.0}
    _, pullback = vjp(products_of_items, d)
    assert d["w"] is w and d["v"][0] is v
    before = pullback(1.0)[0]
    w[:], v[:] = 9.0, 8.0
    after = pullback(1.0)[0]
    np.testing.assert_array_equal(before["w"], after["w"])
    np.testing.assert_array_equal(before["v"][0], after["v"][0])
    np.testing.assert_array_equal(before["w"], [6.0, 0.7 * 3.0])
