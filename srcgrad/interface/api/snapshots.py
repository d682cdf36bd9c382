"""Copies of what the caller may change.

What a pullback reads later, as it was in the forward call: copies of what the caller may change in between.

Arguments that a function writes into: what else is read must not change with them.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any  # what is kept are arbitrary objects

import numpy as np

from srcgrad.core.errors import DifferentiationError, Place
from srcgrad.core.source_text import DERIVATIVES, maker_of
from srcgrad.core.target import DeviceArray
from srcgrad.runtime.hooks import closure

_ATOMS = frozenset(
    (float, int, bool, complex, str, bytes, type(None), type, ModuleType, range, slice, type(...), np.ufunc)
)


def snapshot(back: Callable[..., object], given: Iterable[object]) -> Any:
    """A pullback that holds copies of what it reads of `given`, and of what its text knows from outside.

    Nothing else is copied: neither what only the forward half has read, nor what it made for itself.

    >>> def vjp(x, w):
    ...     return x * w, lambda y_bar: y_bar * w
    >>> x, w = np.ones(2), np.ones(2)
    >>> y, back = vjp(x, w)
    >>> back.__code__ = back.__code__.replace(co_filename="<srcgrad vjp>")
    >>> back = snapshot(back, [x, w, y])
    >>> w += 1.0
    >>> back(1.0)
    array([1., 1.])
    """
    if type(back) is not FunctionType:
        return back
    reached: dict[int, object] = {}
    for value in (*given, *_objects_outside(back)):
        _reach(value, reached)
    return Copies(reached).of(back)


def copies(values: Iterable[object], function: Callable[..., object] | None = None) -> Copies:
    """What makes copies of arrays, also in containers and objects, wherever they can be reached from some values."""
    given = tuple(values)
    reached: dict[int, object] = {}
    for value in (given, *(_objects_outside(function) if type(function) is FunctionType else ())):
        _reach(value, reached)
    return Copies(reached, whole=True)


def frames(values: Iterable[object]) -> tuple[object, ...]:
    """Values with containers and objects of their own, which hold the same arrays: what adjoints are to look like."""
    given = tuple(values)
    held = {id(one): one for one in parts_of(given) if not isinstance(one, np.ndarray)}
    made: tuple[Any, ...] = given if len(held) == 1 else Copies(held, whole=True).of(given)
    return made


def _objects_outside(back: FunctionType) -> list[object]:
    """The objects of the caller's modules that a text has among its names."""
    return outside_of({name: value for name, value in back.__globals__.items() if not name.startswith("__")})


def outside_of(found: dict[str, object]) -> list[object]:
    """Of what the names of a text mean, the objects that may change: no modules, numbers, functions of the text."""
    return [value for value in found.values() if type(value) not in _ATOMS and not _is_text(value)]


def _is_text(value: object) -> bool:
    """Whether a function is one of a generated text, or a closure that the runtime has made."""
    if type(value) is not FunctionType:
        return False
    ours = str(value.__module__).startswith("srcgrad.") and bool(value.__closure__)
    return ours or maker_of(value.__code__.co_filename) == DERIVATIVES


def _owners(array: object) -> Iterable[object]:
    """An array, and those of whose memory it is a part."""
    while array is not None:
        yield array
        array = getattr(array, "base", None)


def _fields(value: object) -> dict[str, object]:
    known = None if isinstance(value, type | FunctionType | ModuleType) else getattr(value, "__dict__", None)
    return known if type(known) is dict else {}


def _reach(value: object, reached: dict[int, object]) -> None:
    """Note all that may be changed through a value, by its place in memory; it is held, so that the place stays its."""
    for one in parts_of(value):
        found = _owners(one) if isinstance(one, np.ndarray) else (one.store if isinstance(one, DeviceArray) else one,)
        reached.update((id(owner), owner) for owner in found)


def parts_of(value: Any) -> Iterator[object]:
    """The arrays, containers and objects that can be reached from a value, itself included, each once."""
    todo, seen = [value], {}
    while todo:
        one = todo.pop()
        cls = type(one)
        if cls in _ATOMS or id(one) in seen:
            continue
        seen[id(one)] = one
        if isinstance(one, np.ndarray) or issubclass(cls, DeviceArray):
            yield one
        elif isinstance(one, list | tuple | dict):
            yield one
            todo += one.values() if isinstance(one, dict) else one
        elif cls is MethodType:
            todo.append(one.__self__)
        elif issubclass(cls, functools.partial):
            todo += [one.func, one.args, one.keywords]
        elif cls is FunctionType:
            todo += map(_content, one.__closure__ or ())
        elif _fields(one) or cls.__module__.startswith("scipy.sparse"):
            yield one
            todo += _fields(one).values()


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None  # not bound yet


def read_by(value: object) -> Iterator[object]:
    """A value, and what functions of the user's read from their modules: itself if it is one, those of its class.

    >>> table = np.ones(2)
    >>> def helper():
    ...     return table
    >>> helper.__module__ = "model"
    >>> any(one is table for one in read_by(helper))
    True
    """
    todo, seen = [value], {}
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        yield one
        function = one.__func__ if type(one) is MethodType else one
        if type(function) is FunctionType and not _is_library(function):
            todo += [v for k, v in function.__globals__.items() if k in _names_in_code(function.__code__)]
        elif _fields(one) and not _is_library(type(one)):
            todo += [held for held in vars(type(one)).values() if type(held) is FunctionType]


def _is_library(value: object) -> bool:
    return str(value.__module__).partition(".")[0] in ("numpy", "scipy", "srcgrad", "builtins")


@functools.lru_cache(maxsize=1024)
def _names_in_code(code: CodeType) -> frozenset[str]:
    """Global names and attributes that a function reads, and those in it."""
    inner = [_names_in_code(one) for one in code.co_consts if isinstance(one, CodeType)]
    return frozenset(code.co_names).union(*inner)


class Copies:
    """Copies of what can be reached from outside, each made once."""

    def __init__(self, reached: dict[int, object], whole: bool = False) -> None:
        self.reached, self.whole = reached, whole  # with `whole`, all attributes of objects are copied
        self.made: dict[int, tuple[Any, Any]] = {}  # by place: what was there, and what stands for it
        self.names: frozenset[str] = frozenset()  # attributes that functions read

    def of(self, value: Any) -> Any:
        """The value, or what stands for it."""
        if type(value) in _ATOMS:
            return value
        if isinstance(value, np.ndarray):
            return self._array(value)
        if _is_text(value):
            return self._function(value)
        if isinstance(value, list | tuple | dict):
            return self._container(value)
        if isinstance(value, DeviceArray):
            return value.copy() if id(value.store) in self.reached else value
        if type(value) is functools.partial or type(value) is closure:
            return type(value)(self.of(value.func), *self.of(value.args), **self.of(value.keywords))
        if type(value).__module__.startswith("scipy.sparse"):
            return value.copy() if id(value) in self.reached else value
        return self._object(value) if _fields(value) else value

    def _array(self, value: Any) -> object:
        known = self.made.get(id(value))
        if known is None:
            held = any(id(one) in self.reached for one in _owners(value))
            known = self.made[id(value)] = value, value.copy(order="K") if held else value
        return known[1]

    def _container(self, value: Any) -> object:
        known = self.made.get(id(value))
        if known is not None:
            return known[1]
        items = list(value.values()) if isinstance(value, dict) else list(value)
        parts = [self.of(item) for item in items]
        made = value
        if id(value) in self.reached or any(one is not part for one, part in zip(items, parts, strict=True)):
            made = _rebuilt(value, parts)
        self.made[id(value)] = value, made
        return made

    def _object(self, value: object) -> object:
        """A shallow copy of an object, with copies of those of its attributes that functions of the text read."""
        known = self.made.get(id(value))
        ours = type(value).__module__.startswith("srcgrad.")
        if known is None:
            own: Any = type(value).__new__  # typed as a method of any class
            made = object.__new__(type(value)) if own is object.__new__ else copy.copy(value)
            made.__dict__.update(_fields(value))
            known = self.made[id(value)] = value, made
        for name, part in _fields(value).items():
            if ours or self.whole or name in self.names:
                known[1].__dict__[name] = self.of(part)
        return known[1]

    def _function(self, value: FunctionType) -> Any:
        known = self.made.get(id(value))
        if known is not None:
            return known[1]
        names = _names_in_code(value.__code__)
        self.names |= names
        cells = tuple(CellType() for _ in value.__closure__ or ())
        scope = self._scope(value.__globals__) if maker_of(value.__code__.co_filename) == DERIVATIVES else None
        around = value.__globals__ if scope is None else scope
        made = FunctionType(value.__code__, around, value.__name__, value.__defaults__, cells or None)
        made.__kwdefaults__, made.__module__ = value.__kwdefaults__, value.__module__
        self.made[id(value)] = value, made
        if scope is not None:
            scope.update({name: self.of(value.__globals__[name]) for name in sorted(names & value.__globals__.keys())})
        for cell, old in zip(cells, value.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.of(old.cell_contents)
            except ValueError:
                continue  # not bound yet
        return made

    def _scope(self, names: dict[str, object]) -> dict[str, object]:
        """The global names of a text, for those of its functions that run later."""
        known = self.made.get(id(names))
        if known is None:
            known = self.made[id(names)] = names, dict(names)
        return known[1]


def _rebuilt(value: object, parts: list[Any]) -> Any:
    """A list, tuple or dict of the same class with other items."""
    if isinstance(value, dict):
        made = value.copy()
        made.update(zip(value, parts, strict=True))
        return made
    if isinstance(value, tuple):
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return parts


def check_apart(
    written: Mapping[str, Place | None], values: Sequence[object], outside: Sequence[object], names: Sequence[str]
) -> None:
    """E5010 if an argument that is written into shows elements of another argument, or of what the function captures.

    >>> x = np.zeros(4)
    >>> check_apart({"x": None}, [x[::2], x[1::2]], (), ["x", "y"])
    >>> check_apart({"x": None}, [x, [x[::2]]], (), ["x", "y"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    srcgrad.core.errors.DifferentiationError: E5010 ...
    """
    for argument, line in written.items():
        place = names.index(argument)
        others = [(name, value) for k, (name, value) in enumerate(zip(names, values, strict=True)) if k != place]
        others += [("", one) for value in outside for one in read_by(value)]
        for name, other in others:
            if any(_is_shared(values[place], part) for part in parts_of(other)):
                held = f"`{name}`" if name else "what the function captures"
                raise DifferentiationError(
                    "E5010",
                    f"the argument `{argument}` is written into, and shares elements with {held}",
                    "pass a copy of one of the two",
                    line,
                )


def _is_shared(value: object, other: object) -> bool:
    if value is other:
        return True
    if not isinstance(value, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    return np.may_share_memory(value, other) and np.shares_memory(value, other)
