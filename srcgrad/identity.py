"""What an operation is known by: the object itself, not its name."""

from __future__ import annotations

from types import MethodType
from typing import Any  # operations are arbitrary objects

Key = int | tuple[int, int] | tuple[int, str]


def key_of(op: Any) -> Key:
    """The identity of an operation; that of function and object for a bound method, which is made when it is read.

    The methods of a ufunc, such as `np.add.reduce`, are new objects too: they are known by ufunc and name.
    """
    if isinstance(op, MethodType):
        return id(op.__func__), id(op.__self__)
    owner = getattr(op, "__self__", None)
    return (id(owner), str(getattr(op, "__name__", ""))) if type(owner).__name__ == "ufunc" else id(op)
