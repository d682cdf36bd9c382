"""What is said of a function as a whole: that its source is not looked at, that branches of `np.where` are masked."""

from __future__ import annotations

import ast
import weakref
from types import FunctionType
from typing import Any, TypeVar  # any callable may be opaque

from srcgrad.errors import DifferentiationError
from srcgrad.identity import Key, key_of, spelling, uncached, uncompiled
from srcgrad.rules import changed

F = TypeVar("F")

_opaque: dict[Key, Any] = {}  # the functions themselves are kept, so that their identities stay theirs
_safe: weakref.WeakSet[Any] = weakref.WeakSet()  # functions, and definitions of those known only as text


def opaque(function: F) -> F:
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
    changed()
    return function


def is_opaque(function: object) -> bool:
    """Whether the author of a function said that its source is not to be looked at."""
    return key_of(function) in _opaque


def safe_where(function: F) -> F:
    """Declare that a branch of `np.where` is computed where it is taken alone: elements that are not have no say.

    Usable as a decorator; returns the function itself. Its value stays as it is. In its derivatives the operations of
    a branch take 0.5 at the elements that are not taken (2.0 where 0.5 is no argument), if their result is read in
    that branch alone: `1 / 0` times a zero adjoint is nan otherwise. Functions that it calls are marked by themselves.

    >>> import numpy as np
    >>> from srcgrad import grad, safe_where
    >>> @safe_where
    ... def rectified(x): return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))
    >>> grad(rectified)(np.array([0.0, 4.0]))
    array([0.  , 0.25])
    """
    marked = _marked(function)
    if not isinstance(marked, FunctionType | ast.AST):
        raise DifferentiationError(
            "E5008", f"{spelling(function)} has no text in Python", "mark the function that calls it"
        )
    _safe.add(marked)
    changed()
    return function


def likewise(made: F, function: object) -> F:
    """A function that was made from another one, marked if that is."""
    if is_safe(function):
        _safe.add(_marked(made))
    return made


def _marked(function: Any) -> Any:
    """What stands for a function in the table."""
    plain = uncached(uncompiled(getattr(function, "__srcgrad_primal__", function)))
    return plain.node if type(plain).__name__ == "StaticFunction" else getattr(plain, "__func__", plain)


def is_safe(function: object) -> bool:
    """Whether a function is marked by `safe_where`."""
    marked = _marked(function)
    return isinstance(marked, FunctionType | ast.AST) and marked in _safe


def reveal(function: object) -> None:
    """Take the word back."""
    known = _opaque.pop(key_of(function), None)
    if known is not None or is_safe(function):
        _safe.discard(_marked(function))
        changed()
