"""Programs of which standalone modules with kernels are made."""

from __future__ import annotations

from typing import Any

import numpy as np

field = 0.5
math = 3.0


def chain(x: Any, a: Any, b: Any) -> Any:
    t = np.tanh(a * x + b)
    return np.sum(t * np.exp(-x * x) + np.where(x > 0.0, x, 0.1 * x))


def softmax(x: Any, w: Any) -> Any:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(e / np.sum(e, axis=1, keepdims=True) * w)


def heat(u: Any, c: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1] = u[1:-1] + c * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return np.sum(u * u)


def layer(x: Any, w: Any, b: Any, target: Any) -> Any:
    y = np.tanh(x @ w + b)
    return np.mean((y - target) ** 2)


def embedded(table: Any, index: Any, w: Any) -> Any:
    return np.sum(np.tanh(table[index]) * w)


def waves(x: Any, w: Any) -> Any:
    return np.sum(np.sin(x) * w + np.cos(x * w))


def launch(x: Any) -> Any:
    return np.exp(x) * field


def far(x: Any) -> Any:
    return np.tanh(x) + math


def body(x: Any) -> Any:
    return launch(x) * far(x)


def clashing(start: Any) -> Any:
    """Its callees have the names of functions that launch kernels."""
    return np.sum(body(start) * start)
