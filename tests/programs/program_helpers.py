"""Callees of the corpus: functions of another module, reached by attribute and by name."""

from __future__ import annotations

import numpy as np

from tests.programs import other_helpers as other

SLOPE = 1.2


def activated(a, slope=2.0):
    """Two results, the second from the first."""
    c = np.tanh(a * slope)
    return c, a + c


def inner(x, power=2):
    """The end of the chain."""
    return x**power * SLOPE


def middle(x, weight, *, shift=0.1):
    """Calls `inner` twice, once with its default."""
    return inner(x) * weight + inner(x + shift, power=3)


def outer(x):
    """The head of the chain."""
    return np.sin(middle(x, weight=0.4, shift=0.2)) + x


def scaled(x):
    """`other` has one of the same name."""
    return x * SLOPE


cubed = lambda x: x * x * x  # noqa: E731  (a lambda that has a name is what is tested)


class Scaled:
    """Holds a number that its method reads."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def apply(self, x):
        """Reads an attribute of self."""
        return np.sum(np.sin(x) * self.factor)


__all__ = ["Scaled", "activated", "cubed", "inner", "middle", "other", "outer", "scaled"]
