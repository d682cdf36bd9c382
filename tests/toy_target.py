"""A target for tests: each function of a text counts its calls, floats go in as arrays, and a pass adds a remark."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcgrad.core.facts import Facts
from srcgrad.core.printer import Comment
from srcgrad.core.target import Target, Text
from srcgrad.core.trees import Block, expression
from srcgrad.derive.program import Program

CALLS: Counter[str] = Counter()  # by the function of a text
LOADED: list[str] = []


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that counts its calls."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        CALLS[function.__name__] += 1
        return function(*args, **kwargs)

    return call


def wrap(facts: Facts) -> Block:
    return [expression(facts.library("counted", "tests.toy_target.counted"))]


def compiled(text: Text) -> Callable[..., Any]:
    LOADED.append(text.name)
    return text.load()


def boundary(function: Callable[..., Any], otherwise: object) -> Callable[..., Any]:
    return functools.wraps(function)(lambda *args, **kwargs: function(*map(np.asarray, args), **kwargs))


def signed(program: Program, facts: Facts) -> Program:
    """Say at the end of a function that the pass has seen it."""
    program.backward.append(gast.Expr(gast.Constant(Comment("# seen by the toy"), None)))
    return program


TOY = Target("toy", passes=(signed,), wrap=wrap, compile=compiled, boundary=boundary)
