"""The derivatives that `vjp` and `jvp` used last: called in a loop, they make the text of a function once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from types import MethodType
from typing import Any  # functions are arbitrary objects

from srcgrad.derivative import Derivative
from srcgrad.options import Wrt

ROOM = 16  # derivatives; each holds its function, and what that has closed over
_LOCK = threading.Lock()
_KEPT: OrderedDict[Any, Derivative[..., Any]] = OrderedDict()


def recent(function: Callable[..., Any], mode: str, wrt: Wrt, single: bool, target: str) -> Derivative[..., Any]:
    """The derivative of a function, kept from an earlier call if it is one of the last that were asked for.

    Two functions are one if they are the same object, or the same method of the same object; what is kept holds its
    function, so that no other object has that place in memory. A new lambda in each call is a new function.

    >>> def f(x): return x * x
    >>> recent(f, "vjp", (0,), False, "numpy") is recent(f, "vjp", (0,), False, "numpy")
    True
    """
    owner: Any = function if isinstance(function, MethodType) else None  # Any: mypy narrows callables to no method
    place = id(function) if owner is None else (id(owner.__self__), id(owner.__func__))
    key = (place, mode, repr(wrt), single, target)  # repr: 1, True and 1.0 are one key, and not one `wrt`
    with _LOCK:
        found = _KEPT.get(key)
        if found is not None:
            _KEPT.move_to_end(key)
            return found
    made: Derivative[..., Any] = Derivative(function, mode, wrt, single, target)
    with _LOCK:
        _KEPT[key] = made
        while len(_KEPT) > ROOM:
            _KEPT.popitem(last=False)
    return made
