"""Identity: what an operation is known by, and records that are made once.

Records that a derivation makes by the thousand: frozen for mypy, made like any object when it runs.

What an operation is known by: the object itself, not its name; and how a reader writes it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from operator import attrgetter
from types import FunctionType, MethodType
from typing import (
    TYPE_CHECKING,
    Any,  # operations are arbitrary objects
)

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import replace
else:

    def record(cls=None, *, frozen=False, eq=True, repr=True):
        """A dataclass that costs little until the first of its objects is made; half of all are not used by a program.

        >>> @record(frozen=True)
        ... class Point:
        ...     x: float
        ...     y: float = 0.0
        >>> replace(Point(1.0), x=2.0), Point(1.0) == Point(x=1.0), len({Point(1.0), Point(1.0, 0.0)})
        (Point(x=2.0, y=0.0), True, 1)
        """
        if cls is None:
            return lambda cls: record(cls, frozen=frozen, eq=eq, repr=repr)

        def first(self, *given, **named):
            cls.__init__ = _maker(cls, known)
            cls.__init__(self, *given, **named)

        own = vars(cls)
        known = {name: held for base in cls.__bases__ for name, held in getattr(base, "_known", {}).items()}
        known |= {name: own.get(name, MISSING) for name in cls.__annotations__}
        cls._known, cls.__init__, cls.__dataclass_fields__ = known, first, _Fields(cls)
        if repr and "__repr__" not in own:
            cls.__repr__ = _told
        if eq and "__eq__" not in own:
            kept = {name: held for name, held in known.items() if type(held) is not Field or held.compare}
            cls._compared = _values(kept)
            cls._hashed = _values([name for name, held in kept.items() if getattr(held, "hash", None) is not False])
            cls.__eq__, cls.__hash__ = _same, _hash if frozen else None
        return cls

    def replace(value, /, **changes):
        """The record with some fields changed."""
        known = getattr(value, "_known", None) or [one.name for one in fields(value)]
        return type(value)(**{**{name: getattr(value, name) for name in known}, **changes})

    class _Fields:
        """What the standard library asks of a dataclass, made when it asks."""

        def __init__(self, cls):
            self.cls = cls

        def __get__(self, _, cls):
            dataclass(init=False, repr=False, eq=False)(self.cls)
            return cls.__dataclass_fields__

    def _values(names):
        return attrgetter(*names, next(iter(names))) if names else type

    def _maker(cls, known):
        head, body, space = ["self"], ["pass"], {"MISSING": MISSING}
        for name, held in known.items():
            made, spelled = (held.default_factory, held.default) if type(held) is Field else (MISSING, held)
            space |= {f"{name}_made": made, f"{name}_spelled": spelled}
            if getattr(held, "kw_only", False) is True:
                head.append("*")
            head.append(name if made is spelled is MISSING else f"{name}={name}_spelled")
            chosen = name if made is MISSING else f"{name}_made() if {name} is MISSING else {name}"
            body.append(f"self.{name} = {chosen}")
        if hasattr(cls, "__post_init__"):
            body.append("self.__post_init__()")
        exec(f"def __init__({', '.join(head)}):\n " + "\n ".join(body), space)
        return space["__init__"]

    def _told(self):
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._known)})"

    def _same(self, other):
        if self.__class__ is not other.__class__:
            return NotImplemented
        return self._compared(self) == other._compared(other)

    def _hash(self):
        return hash(self._hashed(self))


__all__ = ["record", "replace"]

Function = Callable[..., Any]  # of a user: its arguments and results are of any kind
Key = int | tuple[int, int] | tuple[int, str]


def python_function(value: Any) -> Any:
    """The Python function of one that Numba compiled by `@njit` or `@jit`; any other value as it is.

    Numba need not be there to ask.
    """
    compiled = _home(value).startswith("numba.") and hasattr(value, "py_func")
    return value.py_func if compiled else value


def cached_function(value: object) -> Any:
    """The function of which `functools.cache` or `lru_cache` keeps results; any other value as it is."""
    return value.__wrapped__ if isinstance(value, functools._lru_cache_wrapper) else value


def key_of(op: Any) -> Key:
    """The identity of an operation; that of function and object for a bound method, which is made when it is read.

    The methods of a ufunc, `np.add.reduce`, and of a class, `itertools.chain.from_iterable`, are new objects too: they
    are known by owner and name.
    """
    kind = type(op)
    if kind is FunctionType or kind is type or kind.__name__ in ("ufunc", "_ArrayFunctionDispatcher"):
        return id(op)
    if kind is MethodType:
        return id(op.__func__), id(op.__self__)
    if kind.__name__ == "StaticFunction":  # a function known only as text, which is found anew at each call
        return id(op.node)
    owner = getattr(op, "__self__", None)
    bound = type(owner).__name__ == "ufunc" or type(owner) is type
    return (id(owner), str(getattr(op, "__name__", ""))) if bound else id(op)


def home(op: object) -> str | None:
    """The public module from which an operation is imported; None if it has none."""
    module, name = getattr(op, "__module__", None), getattr(op, "__name__", "")
    if type(op).__name__ == "ufunc":
        for candidate in ("numpy", "scipy.special"):
            if getattr(sys.modules.get(candidate), name, None) is op:
                return candidate
    if module is not None and module.startswith("scipy."):
        public = module.split("._")[0]
        if getattr(sys.modules.get(public), name, None) is op:
            return str(public)
    return None if module is None else str(module)


def spelling(op: Any) -> str:
    """How a reader writes `op`: `np.sum`, `np.linalg.inv`, `math.sin`, `scipy.special.erf`."""
    if isinstance(op, functools.partial):
        return f"partial({spelling(op.func)})"
    if type(op).__name__ == "StaticFunction":
        return f"{op.module.name}.{op.qualname}"
    name = getattr(op, "__name__", None) or f"{type(op).__name__} object"
    module = home(op) or ""
    owner = getattr(op, "__self__", None)
    if type(owner).__name__ == "ufunc":
        return f"{spelling(owner)}.{name}"
    if isinstance(op, MethodType) and (held := holder(owner)) is not None:
        return f"{held[0]}.{held[1]}.{name}"
    if module in ("builtins", ""):
        return name
    if module == "numpy" or module.startswith("numpy."):
        return ("np." + module[6:] + "." + name).replace("..", ".")
    return f"{module.lstrip('_')}.{name}"


def holder(value: object) -> tuple[str, str] | None:
    """The public module of SciPy that holds an object of its own, and its name there: `scipy.stats`, `norm`."""
    module = _home(value).split("._")[0]
    known = sys.modules.get(module)
    if known is None or not module.startswith("scipy."):
        return None
    return next(((module, name) for name, held in vars(known).items() if held is value), None)


def is_distribution(value: object) -> bool:
    """Whether a value is a distribution of `scipy.stats`, frozen or not."""
    return _home(value).startswith("scipy.stats.") and hasattr(value, "rvs")


def _home(value: object) -> str:
    """The module of a value's class; empty for compiled functions, whose class has that of each function."""
    module: object = type(value).__module__
    return module if isinstance(module, str) else ""


def ufunc_methods(ufunc: Any) -> tuple[str, ...]:
    """The methods of a ufunc that NumPy does not refuse: all of a function of two arguments, `at` of one of one."""
    if ufunc.signature is not None or ufunc.nout != 1:
        return ()
    return ("reduce", "accumulate", "reduceat", "outer", "at") if ufunc.nin == 2 else ("at",)
