"""Section 1 of the capabilities: hooks, rules as classes, low precision, accumulation, caches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads, grad, source, vjp

DRAW = np.random.default_rng(1).standard_normal


def product_sum(x, y):
    z = x @ y
    return np.sum(z)


def test_1_2_only_what_is_asked_for_is_differentiated() -> None:
    text = source(product_sum, wrt="x")
    assert "x_bar" in text and "y_bar =" not in text.replace("y_bar=", "")


def chained(x):
    return 2.0 * (3.0 * x)


def test_1_3_gradients_added_to_arrays_of_the_caller() -> None:
    g = np.zeros(3)
    x = DRAW(3)
    derivative = grad(lambda x: np.sum(x * x))
    derivative.into(g)(x)
    derivative.into(g)(x)
    np.testing.assert_allclose(g, 4.0 * x)


def test_1_4_a_seed_of_zero_is_a_seed() -> None:
    _, pullback = vjp(chained, 2.0)
    assert pullback(0.0) == (0.0,) and pullback(1.0) == (6.0,)


def doubled(x):
    for _ in range(60):
        x = x + x
    return x


def test_1_5_sixty_doublings() -> None:
    assert grad(doubled)(1.0) == 2.0**60
    lines = "\n".join(["def f(x):", *["    x = x + x"] * 60, "    return x"])
    assert len(doubled_text(lines).splitlines()) < 400


def doubled_text(lines: str) -> str:
    import linecache

    linecache.cache["<sixty>"] = (len(lines), None, [line + "\n" for line in lines.splitlines()], "<sixty>")
    space: dict[str, Any] = {}
    exec(compile(lines, "<sixty>", "exec"), space)
    assert grad(space["f"])(1.0) == 2.0**60
    return source(space["f"])


def test_1_6_sums_in_order() -> None:
    def f(x):
        return np.sum(x * 0.1 + x * 0.7 + np.sin(x) * x)

    x = DRAW(100)
    np.testing.assert_array_equal(grad(f)(x), grad(f)(x))


@pytest.mark.parametrize(
    "f", [lambda x: np.sum(x), lambda x: np.sum(x.T), lambda x: np.sum(np.broadcast_to(x, (2, 3, 4)))]
)
def test_1_7_gradients_are_arrays_of_their_own(f: Any) -> None:
    x = DRAW((3, 4))
    found = grad(f)(x)
    assert found.flags.c_contiguous and found.flags.writeable and not np.shares_memory(found, x)


def test_1_8_no_hidden_state() -> None:
    derivative = grad(chained)
    assert [derivative(2.0), derivative(2.0)] == [6.0, 6.0]


LOG: list[str] = []


def clipped(g):
    LOG.append("clip")
    return np.clip(g, -1.0, 1.0)


def noted(g):
    LOG.append("note")


def hooked(x):
    x = srcgrad.hook(x, clipped)
    return np.sum(x**3)


def hooked_inside(x):
    h = srcgrad.hook(x * 2.0, noted)
    h = srcgrad.hook(h, clipped)
    return np.sum(h * h * 10.0)


def test_1_9_hooks() -> None:
    found = grad(hooked)(np.array([-1.0, 0.1, 0.5, 2.0]))
    np.testing.assert_allclose(found, [1.0, 0.03, 0.75, 1.0])
    LOG.clear()
    np.testing.assert_array_equal(grad(hooked_inside)(np.array([3.0, -3.0])), [2.0, -2.0])
    assert LOG == ["clip", "note"]


def test_1_10_half_precision_adds_up_in_single() -> None:
    def f(x):
        return np.sum(np.broadcast_to(x, (4096, 3)) * np.float16(1e-3))

    x = np.ones(3, np.float16)
    found = grad(f)(x)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.astype(float), 4.096, rtol=2e-3)


def network(w, x):
    return np.sum(np.tanh(x @ w))


def test_1_11_autocast() -> None:
    w, x = DRAW((4, 3)), DRAW((5, 4))
    derivative = grad(network, autocast=np.float32)
    found = derivative(w, x)
    assert "astype" in derivative.source and found.dtype == np.float64
    np.testing.assert_allclose(found, grad(network)(w, x), rtol=1e-5)


class Square(srcgrad.Function):
    """x^2 + 2 x + 1."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.name = "square"
        return x * x + 2.0 * x + 1.0

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        assert ctx.name == "square"
        return g * (2.0 * x + 2.0)


def test_1_12_rules_as_classes() -> None:
    assert grad(lambda x: Square.apply(x))(3.0) == 8.0


def test_1_13_each_call_has_a_context_of_its_own() -> None:
    assert grad(lambda x, y: Square.apply(x) * Square.apply(y), (0, 1))(1.0, 2.0) == (4.0 * 9.0, 4.0 * 6.0)


class SinCos(srcgrad.Function):
    """Two results."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.sin(x), np.cos(x)

    @staticmethod
    def backward(ctx, g, index):
        (x,) = ctx.saved_tensors
        return g * np.cos(x) if index == 0 else -g * np.sin(x)


def first(x):
    s, _ = SinCos.apply(x)
    return s


def second(x):
    _, c = SinCos.apply(x)
    return c


def both(x):
    s, c = SinCos.apply(x)
    return s * c


def test_1_14_rules_with_several_results() -> None:
    np.testing.assert_allclose(grad(first)(0.3), np.cos(0.3))
    np.testing.assert_allclose(grad(second)(0.3), -np.sin(0.3))
    np.testing.assert_allclose(grad(both)(0.3), np.cos(0.6))


def test_1_15_lists_of_arrays() -> None:
    check_grads(lambda a, b: np.sum(np.concatenate([a, b]) ** 3), (DRAW(2), DRAW(4)))
    check_grads(lambda a, b: np.sum(np.stack([a, b]) ** 3), (DRAW(3), DRAW(3)))


def test_1_16_keywords() -> None:
    check_grads(lambda x: np.sum(np.mean(x, axis=1, keepdims=True) * x), (DRAW((2, 3)),))
