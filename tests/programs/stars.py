"""A program whose names come from `from numpy import *`."""

from __future__ import annotations

from numpy import *  # noqa: F403


def wave(x, k):
    return sum(sin(k * x) * exp(-x))  # noqa: F405


def angles(x):
    return sqrt(x) * arctan2(x, pi)  # noqa: F405
