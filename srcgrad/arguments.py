"""Arguments as they come: what kind each is, which may be differentiated, and gradients that mirror them."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any  # arguments are arbitrary objects

import numpy as np

from srcgrad.analyse.sources import is_complex_value
from srcgrad.errors import DifferentiationError
from srcgrad.facts import SCALAR, UNKNOWN, Kind
from srcgrad.front.owners import shadows
from srcgrad.front.values import of_object
from srcgrad.numba.boundary import is_alone, without_axes
from srcgrad.opencl.array import Array
from srcgrad.opencl.boundary import kept, on_host, seen
from srcgrad.opencl.memory import Lease

_ARRAYS = tuple(Kind("array", rank) for rank in range(65))
_COMPLEX_ARRAYS = tuple(Kind("array", rank, complex=True) for rank in range(65))
_COMPLEX = Kind("scalar", 0, complex=True)
_OTHER, _NONE = Kind("other"), Kind("none")
_HALF = Kind("scalar", 0, dtype="float16")
_NARROW = {"e": "float16"} | dict.fromkeys("?bBhHiIlLqQ", "integer")
_WIDTHS = {"f": "single"} | dict.fromkeys("diIlLqQ", "double")  # what float32 meets: int64 makes float64 of it
_REAL = np.dtype(float)
_FUNCTIONS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc, type(np.sum), functools.partial,
)  # fmt: skip
WHOLE = 0x1 | 0x400  # flags of arrays: C_CONTIGUOUS, WRITEABLE
OWN = WHOLE | 0x4  # OWNDATA
_HEAP_TYPE = 1 << 9  # a class made by a `class` statement


def kind_of(value: Any) -> Kind:
    """The kind of an argument: a number, an array of some rank, a container of kinds, or something else."""
    cls = type(value)
    if cls is np.ndarray:
        if value.dtype.kind == "c":
            return _COMPLEX_ARRAYS[int(value.ndim)]
        known = _NARROW.get(value.dtype.char, "")
        return Kind("array", int(value.ndim), dtype=known) if known else _ARRAYS[int(value.ndim)]
    if cls is np.float16:
        return _HALF
    if cls is complex or issubclass(cls, np.complexfloating):
        return _COMPLEX
    if cls is float or cls is int or cls is bool or issubclass(cls, np.generic):
        return SCALAR
    if value is None:
        return _NONE
    if isinstance(value, np.ndarray):
        raise DifferentiationError(
            "E5017",
            f"an argument of type {cls.__module__}.{cls.__name__} has arithmetic of its own",
            "pass a plain array: np.asarray(x)",
        )
    if isinstance(value, tuple | list):
        tag = "list" if isinstance(value, list) else "tuple"
        owner = cls if hasattr(cls, "_fields") else None
        return _holding(tag, [(k, kind_of(v)) for k, v in enumerate(value)], owner)
    if isinstance(value, dict):
        return _holding("dict", [(k, kind_of(v)) for k, v in value.items()])
    if isinstance(value, _FUNCTIONS) and isinstance(value, Hashable):
        return Kind("function", None, ((value, UNKNOWN),))
    if cls is Array:
        if value.dtype.kind == "c":
            raise DifferentiationError("E5017", "a device array is complex", "pass a NumPy array: np.asarray(x)")
        return SCALAR if value.is_number else _ARRAYS[value.ndim]
    written_in_python = isinstance(cls, type) and cls.__flags__ & _HEAP_TYPE and not shadows(value)
    held = is_complex_value(value)
    if written_in_python:
        return Kind("object", None, ((cls, UNKNOWN), *_attributes(value)), complex=held)
    if isinstance(value, types.ModuleType):
        return Kind("module", None, ((value, UNKNOWN),))
    return Kind("other", complex=True) if held else _OTHER


def compiled_kind(value: Any) -> Kind:
    """The kind of an argument of compiled code: of arrays and NumPy's numbers it has what makes float32 of float32."""
    value = without_axes(value)
    kind = kind_of(value)
    if kind.tag not in ("array", "scalar") or kind.complex or not isinstance(value, np.ndarray | np.generic):
        return kind
    if kind.tag == "array" and value.dtype.kind != "f":
        return kind
    return dataclasses.replace(kind, dtype=_WIDTHS.get(value.dtype.char, kind.dtype or "other"))


def _holding(tag: str, items: list[tuple[Any, Kind]], owner: Any = None) -> Kind:
    """The kind of a container, which is complex if an item is."""
    return Kind(tag, None, tuple(items), owner, complex=any(kind.complex for _, kind in items))


def _attributes(value: Any, depth: int = 0) -> tuple[tuple[str, Kind], ...]:
    """The attributes of an object: what is asked of them is what they have, and their `*` need not be NumPy's."""
    found = []
    for name, held in getattr(value, "__dict__", {}).items():
        kind = of_object(held)
        if kind.tag == "object":
            if shadows(held):
                continue
            inner = _attributes(held, depth + 1) if depth < 2 else ()
            kind = Kind("object", None, (*kind.items, *inner))
        found.append((name, kind if kind.tag != "scalar" else SCALAR))
    return tuple(found)


def is_complex(value: Any) -> bool:
    """Whether a number or an array is complex."""
    return isinstance(value, complex) or getattr(getattr(value, "dtype", _REAL), "kind", "") == "c"


def check_input(value: Any, name: str) -> None:
    """Refuse an argument that cannot be differentiated: E5002 for integers and booleans, E5017 for the rest."""
    if isinstance(value, tuple | list | dict) or dataclasses.is_dataclass(value):
        _check_parts(value, name)
    elif isinstance(value, bool | int | np.bool_ | np.integer) or (
        isinstance(value, np.ndarray | Array) and value.dtype.kind in "biu"
    ):
        raise DifferentiationError(
            "E5002",
            f"the argument `{name}` is {_described(value)}",
            f"pass floats (`float(...)`, `.astype(float)`), or leave `{name}` out of wrt",
        )
    elif not _is_inexact(value):
        labelled = hasattr(value, "to_numpy")  # pandas, xarray, polars
        plain = (
            f"pass the array in it, `{name}.to_numpy()`" if labelled else "pass numbers, arrays or containers of them"
        )
        raise DifferentiationError(
            "E5017", f"the argument `{name}` is {_described(value)}", f"{plain}, or leave `{name}` out of wrt"
        )


def _check_parts(value: Any, name: str) -> None:
    """A container must hold some number; what else it holds has no gradient (None), unless it is like an array."""
    odd = next((part for part in _leaves(value) if hasattr(part, "to_numpy")), None)
    if odd is not None:
        raise DifferentiationError(
            "E5017", f"the argument `{name}` holds a {type(odd).__name__}", "put in the array in it: `.to_numpy()`"
        )
    if not _holds_inexact(value):
        raise DifferentiationError(
            "E5002", f"the argument `{name}` holds no floating number", f"pass floats, or leave `{name}` out of wrt"
        )


def _holds_inexact(value: Any) -> bool:
    return any(map(_is_inexact, _leaves(value)))


def _leaves(value: Any) -> Iterator[Any]:
    """What containers hold, at any depth."""
    if isinstance(value, tuple | list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _leaves(getattr(value, field.name))
    else:
        yield value


def _is_inexact(value: Any) -> bool:
    if isinstance(value, np.ndarray | Array):
        return bool(value.dtype.kind in "fc")
    return isinstance(value, float | complex | np.inexact)


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray | Array):
        return f"an array of dtype {value.dtype}"
    return f"of type {type(value).__name__}"


def mirrors(
    gradients: Iterable[Any], places: list[int | None], values: Sequence[Any], seeds: Sequence[Any]
) -> list[Any]:
    """Gradients that mirror the arguments at `places`, None for what is no argument, and share memory with nothing."""
    others: list[Any] = [seen(value) for value in (*values, *seeds) if hasattr(value, "dtype")]
    return [
        mirror(gradient, seen(gradient) if place is None else values[place], others)
        for gradient, place in zip(gradients, places, strict=True)
    ]


def mirror(gradient: Any, value: Any, others: list[Any]) -> Any:
    """The gradient with the class, shape and dtype of its argument, in memory of its own.

    `others` lists arrays that it must not share memory with; the result is added to it.
    """
    if is_complex(gradient) and not is_complex(value) and _is_inexact(value):
        raise DifferentiationError(
            "E5017",
            "the gradient of a real argument is complex: a complex value came in where it was not seen",
            "pass what is complex as an argument, or make it with a complex dtype in the function",
        )
    if type(value) is float or type(value) is complex:
        return type(value)(gradient)
    if gradient is None:
        return None
    if isinstance(value, np.ndarray):
        return _own_array(on_host(gradient), value, others)  # beside an argument on a device
    if isinstance(value, Array):
        found = kept(gradient, value, others) if isinstance(gradient, Array) else None
        return value.beside(mirror(on_host(gradient), seen(value), others)) if found is None else found
    if isinstance(value, np.generic):
        return type(value)(gradient)
    if isinstance(value, dict):
        made = {k: mirror(gradient[k], v, others) for k, v in value.items()}
        return made if type(value) is dict else type(value)(made)
    if isinstance(value, tuple | list):
        if isinstance(gradient, np.ndarray) and gradient.shape and len(gradient) != len(value):
            due = f"{len(gradient)} items where {len(value)} are due"
            raise DifferentiationError("E5004", f"{due}: NumPy has read a part of a list", "pass an array")
        items = [mirror(gradient[k], v, others) for k, v in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = gradient if isinstance(gradient, dict) else vars(gradient)
        names = [f.name for f in dataclasses.fields(value) if f.init]
        fields = {n: mirror(parts.get(n), getattr(value, n), others) for n in names}
        return dataclasses.replace(value, **fields)
    return None


def owned(array: np.ndarray, *others: Any) -> np.ndarray:
    """The array itself if its memory is its own, whole and to be written, and it is none of `others`; else a copy."""
    flags, base = array.flags.num, array.base
    if flags & WHOLE == WHOLE and all(array is not other for other in others):
        if flags & OWN == OWN or isinstance(base, Lease) or is_alone(base):  # views of a lease have it as their base
            return array
    return np.array(array, order="C")


def _own_array(gradient: Any, value: np.ndarray, others: list[Any]) -> np.ndarray:
    made = np.asarray(gradient)
    if type(gradient) is not np.ndarray and not isinstance(gradient, int | float | complex | np.generic):
        raise DifferentiationError(
            "E5017",
            f"a gradient came out as a {type(gradient).__name__}, whose arithmetic is its own",
            "give the function plain arrays: `.to_numpy()`, `np.asarray(...)`",
        )
    if made.shape != value.shape:
        raise DifferentiationError(
            "E5004",
            f"a gradient has shape {made.shape}, its argument has shape {value.shape}",
            "look at the rules that you wrote; if there are none, please report this as a bug of srcgrad",
        )
    made = owned(made, value, *others) if made.dtype == value.dtype else made.astype(value.dtype)
    others.append(made)
    return made
