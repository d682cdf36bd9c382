"""What a workload is: a function, its gradient as a careful person writes it, and where both are called."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any  # arguments and results of arbitrary functions

import numpy as np

import srcgrad
from srcgrad.interface.api.derivative import Derivative

Function = Callable[..., Any]


@dataclass(frozen=True)
class Workload:
    """A function, its hand-written derivative, and arguments of the measured size and of a small one.

    `mode` says what is computed: "value-and-grad"; "pullback", of which one call per output of an item gives the blocks
    of a Jacobian; "jacobian", by tangents; "hvp", the product of the Hessian with the last argument.
    """

    title: str
    function: Function
    hand: Function
    full: Callable[[], tuple[Any, ...]]
    small: Callable[[], tuple[Any, ...]]
    wrt: tuple[int, ...]
    mode: str = "value-and-grad"
    skipped: tuple[str, ...] = ()  # peers that take minutes, or that cannot run it
    over: tuple[str, ...] = ()  # arguments whose rows `srcgrad.blocked` may take block by block
    rows: int | None = None  # of a block; chosen by srcgrad if None
    item: Function | None = None  # the function of one item, which `srcgrad.each` maps over all, compiled
    shapes: tuple[tuple[str, str], ...] = ()  # of parameters, which the hand-written text takes for granted

    @property
    def module(self) -> ModuleType:
        """The file of the function."""
        return sys.modules[self.function.__module__]

    @property
    def hand_text(self) -> str:
        """The hand-written derivative, with its helpers and what it shares with the function."""
        return "\n\n".join(inspect.getsource(f) for f in (*called(self.hand), self.hand))

    @property
    def in_blocks(self) -> Any:
        """The derivative of the function that takes rows block by block."""
        function = srcgrad.blocked(self.function, over=self.over, rows=self.rows)
        return srcgrad.value_and_grad(function, self.wrt if len(self.wrt) > 1 else self.wrt[0])

    def derivative(self, target: str = "numpy") -> Any:
        """The derivative by srcgrad."""
        wrt = self.wrt if len(self.wrt) > 1 else self.wrt[0]
        if self.mode == "pullback":
            return Derivative(self.function, "vjp", self.wrt, False, target)
        if self.mode == "jacobian":
            return srcgrad.jacobian(self.function, wrt, mode="forward", target=target)
        if self.mode == "hvp":
            return srcgrad.hvp(self.function, wrt, target=target)
        return srcgrad.value_and_grad(self.function, wrt, target=target)

    @property
    def declared(self) -> Any:
        """The derivative of the function with annotations of `shapes`."""
        function = annotated(self.function, dict(self.shapes))
        return dataclasses.replace(self, function=function, shapes=()).derivative()

    @property
    def by_items(self) -> Any:
        """Values and blocks of the Jacobian by srcgrad, compiled, from the function of one item."""
        assert self.item is not None, "the caller has looked"
        return srcgrad.each(self.item, self.wrt, target="numba")


def annotated(function: Function, shapes: dict[str, str]) -> Function:
    """The same function with annotations of its parameters, which its text has as well.

    >>> inspect.signature(annotated(called, {"function": "n d"}))
    <Signature (function: 'n d') -> 'list[Function]'>
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for parameter in ast.walk(tree):
        if isinstance(parameter, ast.arg) and parameter.arg in shapes:
            parameter.annotation = ast.Constant(shapes[parameter.arg])
    text, file = ast.unparse(tree), f"<declared {function.__name__}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = dict(function.__globals__)
    exec(compile(text, file, "exec"), scope)
    return scope[function.__name__]


def called(function: Function) -> list[Function]:
    """The functions of the same file that a function calls, each before those that call it."""
    found: list[Function] = []
    for name in function.__code__.co_names:
        other = function.__globals__.get(name)
        if isinstance(other, FunctionType) and other.__module__ == function.__module__:
            found += [each for each in (*called(other), other) if each not in found]
    return found


def seeds(y: np.ndarray) -> list[np.ndarray]:
    """One seed for each output of an item: rows are items."""
    return [np.broadcast_to(row, y.shape).copy() for row in np.eye(y.shape[1])]
