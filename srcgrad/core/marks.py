"""What is said of a function as a whole: `checkpoint(f)`, computed again; `opaque`, its source not looked at.

And how it goes to another process: by its name, or as code where that process cannot import it.
"""

from __future__ import annotations

import functools
import sys
import types
import warnings
from collections.abc import Callable
from typing import (
    Any,  # functions and picklers are arbitrary objects
    TypeVar,
    cast,
)

from srcgrad.core.identity import Key, key_of, python_function
from srcgrad.core.rules import table_changed


def is_code(one: Any) -> bool:
    """Whether another process cannot import a function or class by its name, so that cloudpickle sends its code.

    >>> is_code(is_code), is_code(lambda: 1.0)
    (False, True)
    """
    module = getattr(one, "__module__", None) or "__main__"
    if module == "__main__" or module in _by_value():
        return True
    found: object = sys.modules.get(module)
    for part in one.__qualname__.split("."):
        found = getattr(found, part, None)
    return getattr(found, "__srcgrad_primal__", found) is not one


def _by_value() -> set[str]:
    """The modules that the user has told cloudpickle to send as code."""
    known = sys.modules.get("cloudpickle")
    return set(known.list_registry_pickle_by_value()) if known is not None else set()


def goes_as_code(function: object) -> bool:
    """Whether what stands under the name of a function is being pickled by cloudpickle, and `is_code`.

    Asked within `__reduce__`: Python's pickler would look such a function up by its name, and find what decoration
    made of it. Picklers do not say who they are, but it is the method `dump` of one that runs `__reduce__`.
    """
    pickler = sys._getframe(2).f_locals.get("self")
    bases = type(pickler).__mro__
    return any(base.__module__.endswith("cloudpickle.cloudpickle") for base in bases) and is_code(function)


F = TypeVar("F", bound=Callable[..., Any])


def makes(mode: str) -> Callable[[F], F]:
    """A decorator that marks a function of srcgrad as one that makes derivatives."""

    def mark(function: F) -> F:
        function.__srcgrad_makes__ = mode  # type: ignore[attr-defined]
        return function

    return mark


class Checkpoint:
    """A function whose calls record their arguments only; it runs as it did, and binds like a method."""

    def __init__(self, function: Callable[..., object]) -> None:
        functools.update_wrapper(self, function)
        del self.__dict__["__wrapped__"]  # the wrapper is the function, not something around it
        self.__srcgrad_primal__ = python_function(getattr(function, "__srcgrad_primal__", function))

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.__srcgrad_primal__(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str | tuple[object, ...]:
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


def checkpointed(trips: object, *, slots: int | None = None) -> Any:
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


Sealed = TypeVar("Sealed")

_opaque: dict[Key, object] = {}  # the functions themselves are kept, so that their identities stay theirs


def opaque(function: Sealed) -> Sealed:
    """Declare that a function is called as it is: a derivative flows through it by a rule, or not at all (E5003).

    Usable as a decorator; returns the function itself.

    >>> from srcgrad import grad, opaque, register_vjp
    >>> @opaque
    ... def lookup(x): return float(str(x)) ** 2
    >>> @register_vjp(lookup)
    ... def lookup_vjp(primals, cotangent, output): return (2.0 * cotangent * primals[0],)
    >>> grad(lookup)(3.0)
    6.0
    """
    _opaque[key_of(getattr(function, "__srcgrad_primal__", function))] = function
    table_changed()
    return function


def is_opaque(function: object) -> bool:
    """Whether the author of a function said that its source is not to be looked at."""
    return key_of(function) in _opaque


def safe_where(function: Sealed) -> Sealed:
    """Deprecated: it changes nothing, for what `np.where` does not take contributes nothing anyway.

    Usable as a decorator; returns the function itself.
    """
    warnings.warn(
        "srcgrad.safe_where changes nothing any more: a branch that is not taken contributes nothing; leave it out",
        DeprecationWarning,
        stacklevel=2,
    )
    return function


def reveal(function: object) -> None:
    """Take the word back."""
    known = _opaque.pop(key_of(function), None)
    if known is not None:
        table_changed()
