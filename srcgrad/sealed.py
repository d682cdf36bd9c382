"""What is said of a function as a whole: that its source is not looked at."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar  # any callable may be opaque

from srcgrad.identity import Key, key_of
from srcgrad.rules import changed

F = TypeVar("F")

_opaque: dict[Key, Any] = {}  # the functions themselves are kept, so that their identities stay theirs


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
        changed()
