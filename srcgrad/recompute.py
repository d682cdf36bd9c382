"""What users write to have values computed again rather than kept: `checkpoint(f)`, `checkpointed(range(n))`."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast  # functions, loops and tests are arbitrary objects

from srcgrad.identity import uncompiled
from srcgrad.sent import goes_as_code

F = TypeVar("F", bound=Callable[..., Any])


class Checkpoint:
    """A function whose calls record their arguments only; it runs as it did, and binds like a method."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        del self.__dict__["__wrapped__"]  # the wrapper is the function, not something around it
        self.__srcgrad_primal__ = uncompiled(getattr(function, "__srcgrad_primal__", function))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__srcgrad_primal__(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        primal = self.__srcgrad_primal__
        return (Checkpoint, (primal,)) if goes_as_code(primal) else str(primal.__qualname__)


def checkpoint(function: F) -> F:
    """The function itself; in derivatives, its calls record their arguments, and compute the rest again backwards.

    As a decorator, or where it is called: `checkpoint(layer)(h, w)`. The backward half calls the function's `vjp`
    just before its pullback, so that one call at a time holds its intermediate values. See docs/memory.md.

    Errors: E5025 for a function that writes into its arguments, or that no derivative of its own can stand for.

    >>> import numpy as np
    >>> from srcgrad import checkpoint, grad
    >>> @checkpoint
    ... def layer(h): return np.tanh(h) * h
    >>> float(grad(lambda x: layer(layer(x)))(0.0))
    0.0
    """
    return cast(F, Checkpoint(function))


def checkpointed(trips: Any, *, slots: int | None = None) -> Any:
    """What a loop runs over, or the test of a `while`, as it is; in derivatives, few states of the loop are kept.

    `for t in checkpointed(range(n), slots=s)` keeps at most s states and computes the others again, as few steps as
    can be (Griewank and Walther, Algorithm 799, 2000). Without `slots` it keeps about sqrt(n), and makes each step at
    most once more. In `while checkpointed(test, slots=s)` the number of trips need not be known. See docs/memory.md.

    Errors: E5025 for slots below 1, and for a loop whose body is no step from one state to the next.

    >>> list(checkpointed(range(3), slots=2))
    [0, 1, 2]
    """
    if slots is not None and slots < 1:
        raise ValueError(f"E5025 slots={slots}: the state before the first trip needs one slot")
    return trips
