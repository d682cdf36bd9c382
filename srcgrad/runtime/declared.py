"""What was declared of the arguments of a derivative is looked at where it begins: a wrong shape is an error."""

from __future__ import annotations

import ast
import functools
import re
from typing import Any  # arguments are arbitrary objects

import numpy as np

_Part = tuple[str, tuple[Any, ...], str, "tuple[str, ...] | str | None"]
# name, keys below a value, dtype if any, lengths: None for a number, a string for a container
_DTYPES = ("float16", "float64", "integer", "complex")


def check_shapes(values: tuple[Any, ...], *declared: str) -> None:
    """Raise ValueError (E5027) where a value is not as it is declared, or where one length has two values.

    `declared` holds, between semicolons, a part for each value, and for each item of one: a name, then `float` for a
    number, the lengths of the axes of an array (`n d`, `3 n`, `()` for none), or `tuple[2]`, `list[2]` or
    `dict['w', 'b']`. All values that are not declared `integer` are of one floating dtype, so that gradients are too;
    a first part `float64` says which.

    >>> check_shapes((np.ones((3, 2)), np.ones(2), 0.5), "x: n d; w: d; b: float")
    >>> check_shapes((np.ones((3, 2)), np.ones(4)), "x: n d; w: d")
    Traceback (most recent call last):
    ...
    ValueError: E5027 argument unlike its declaration: w has shape (4,), declared is (d,) and d is 2 in x; pass that
    """
    lengths: dict[str, tuple[int, str]] = {}
    dtypes: dict[str, str] = {}
    given = iter(values)
    whole: Any = None
    for name, keys, dtype, dims in _parsed(declared):
        if not keys:
            whole = next(given)
        value = whole
        for key in keys:
            value = value[key]
        if isinstance(dims, str):
            _check_container(name, dims, value)
            continue
        if dims is None and type(value) is float:
            continue  # the usual case, made cheap
        _check_dtype(name, dtype, value, dtypes)
        if dims is None:
            if isinstance(value, np.ndarray) or not isinstance(value, int | float | complex | np.number | np.bool_):
                raise _unlike(f"{name} is {_described(value)}, declared is a number")
        else:
            _check_lengths(name, dims, value, lengths)
    if len(dtypes) > 1:
        found = " and ".join(f"{name} is {dtype}" for dtype, name in dtypes.items())
        raise _unlike(f"{found}, which makes the gradients of one dtype")


@functools.cache
def _parsed(declared: tuple[str, ...]) -> tuple[_Part, ...]:
    """What each part says."""
    found: list[_Part] = []
    usual = ""
    for part in "; ".join(declared).split("; "):
        name, _, spelled = part.partition(": ")
        if not spelled:
            usual = name
            continue
        keys = tuple(ast.literal_eval(key) for key in re.findall(r"\[(.*?)\]", name))
        if "[" in spelled:
            found.append((name, keys, "", spelled))
            continue
        words = spelled.split()
        dtype = words.pop(0) if words[0] in _DTYPES and (len(words) > 1 or words[0] == "complex") else usual
        number = words in (["float"], [])
        found.append((name, keys, dtype, None if number else tuple(words) if words != ["()"] else ()))
    return tuple(found)


def _check_container(name: str, spelled: str, value: Any) -> None:
    tag, _, items = spelled.partition("[")
    known = str(len(value)) if hasattr(value, "__len__") else ""
    keys = ", ".join(map(repr, value)) if isinstance(value, dict) else known
    if type(value).__name__ != tag or keys != items[:-1]:
        raise _unlike(f"{name} is {_described(value)}, declared is {spelled}")


def _check_dtype(name: str, dtype: str, value: Any, dtypes: dict[str, str]) -> None:
    """The dtype that is declared; without one, floats of a common dtype, or integers that do not change it."""
    found = getattr(value, "dtype", None)
    if found is None:
        if isinstance(value, complex) and dtype != "complex":
            raise _unlike(f"{name} is complex, declared is a real number")
        return
    kind = found.kind
    if dtype == "integer" and kind in "biu":
        return
    right = kind == "c" if dtype == "complex" else kind in "fbiu"
    if dtype in ("float16", "float64"):
        right = found.name == dtype or (kind in "biu" and dtype == "float64")
    if not right or dtype == "integer" or (found.char == "e" and dtype != "float16"):
        raise _unlike(f"{name} is of dtype {found}, declared is {dtype or 'a float, not float16'}")
    if kind in "fc":
        dtypes.setdefault(np.dtype(f"f{found.itemsize // 2}").name if kind == "c" else found.name, name)
    elif value.shape and kind in "iu" and found.itemsize > 2 and dtype != "float16":
        dtypes.setdefault("float64", name)


def _check_lengths(name: str, dims: tuple[str, ...], value: Any, lengths: dict[str, tuple[int, str]]) -> None:
    shape = getattr(value, "shape", () if isinstance(value, int | float | complex) else None)
    spelled = f"({', '.join(dims)}{',' * (len(dims) == 1)})"
    if shape is None:
        raise _unlike(f"{name} is {_described(value)}, declared is an array of shape {spelled}")
    if len(shape) != len(dims):
        raise _unlike(f"{name} has shape {shape}, declared is {spelled}")
    for dim, length in zip(dims, shape, strict=True):
        due, where = (int(dim), "") if dim.isdigit() else lengths.setdefault(dim, (length, name))
        if length != due:
            raise _unlike(
                f"{name} has shape {shape}, declared is {spelled}"
                + (f" and {dim} is {due} in {where}" if where else "")
            )


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return f"of type {type(value).__name__}" + (f" with {len(value)} items" if hasattr(value, "__len__") else "")


def _unlike(what: str) -> ValueError:
    return ValueError(f"E5027 argument unlike its declaration: {what}; pass that")
