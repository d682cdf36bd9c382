"""A module that a global object holds is that module in the methods that a function calls, until it is replaced."""

from __future__ import annotations

import types
from typing import Any  # modules are arbitrary attributes

import numpy as np
import pytest

import srcgrad


class Model:
    def __init__(self, xp: Any) -> None:
        self.xp, self.linalg, self.sum = xp, np.linalg, 3.0

    def named(self, x: Any) -> Any:
        xp = self.xp
        return xp.sum(xp.sin(x)) * self.sum

    def asked(self, x: Any) -> Any:
        return self.xp.sum(self.xp.sin(x)) * self.sum

    def length(self, x: Any) -> Any:
        return self.linalg.norm(x) + self.inner(x)

    def inner(self, x: Any) -> Any:
        la = self.linalg
        return la.norm(2.0 * x)


MODEL = Model(np)
X = np.array([0.5, 0.6])


def by_name(x: Any) -> Any:
    return MODEL.named(x)


def by_attribute(x: Any) -> Any:
    return MODEL.asked(x) * 2.0


def by_methods_of_methods(x: Any) -> Any:
    return MODEL.length(x)


@pytest.mark.parametrize("function", [by_name, by_attribute, by_methods_of_methods])
def test_it_is_the_module(function: Any) -> None:
    srcgrad.check_grads(function, (X,), order=2)


def test_another_module_is_noticed() -> None:
    model = Model(np)

    def loss(x: Any) -> Any:
        return model.asked(x)

    made = srcgrad.grad(loss)
    assert made(X) == pytest.approx(3.0 * np.cos(X))
    other = types.ModuleType("other")
    other.sin, other.sum = np.cos, np.sum  # type: ignore[attr-defined]
    model.xp = other
    assert made(X) == pytest.approx(-3.0 * np.sin(X))
