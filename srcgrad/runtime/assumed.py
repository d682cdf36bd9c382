"""What a text takes an argument for, looked at when it runs: another kind of value would have had another text."""

from __future__ import annotations

from typing import Any  # arguments are arbitrary objects

import numpy as np


def check_operand(x: Any) -> None:
    """Refuse a list where the text adds arrays: `+` of two lists joins them.

    >>> check_operand([1.0, 2.0])
    Traceback (most recent call last):
    ...
    TypeError: E5005 `+` was taken as a sum of arrays, and an argument is a list; pass an array: np.asarray(x)
    """
    if isinstance(x, list | tuple):
        raise TypeError(
            f"E5005 `+` was taken as a sum of arrays, and an argument is a {type(x).__name__}; "
            "pass an array: np.asarray(x)"
        )


def check_dtype(dtype: Any) -> None:
    """Refuse a dtype of integers where the text adds floats up in it: what is cut off carries no derivative.

    >>> check_dtype(int)
    Traceback (most recent call last):
    ...
    TypeError: E5001 a sum or mean with `dtype=int64` gives integers, which carry no derivative; convert before
    """
    if dtype is not None and np.dtype(dtype).kind in "biu":
        what = f"a sum or mean with `dtype={np.dtype(dtype)}` gives integers, which carry no derivative"
        raise TypeError(f"E5001 {what}; convert before")


def check_method(*arguments: Any) -> None:
    """Refuse objects where the text has the method of an array: their own is another function.

    >>> check_method({})
    Traceback (most recent call last):
    ...
    TypeError: E5003 a method was taken for that of an array, and is one of a dict; call a function instead
    """
    for x in arguments:
        if not isinstance(x, int | float | complex) and not (
            hasattr(x, "__array__") or hasattr(x, "__array_namespace__")
        ):
            what = f"is one of a {type(x).__name__}; call a function instead"
            raise TypeError(f"E5003 a method was taken for that of an array, and {what}")


def check_module(x: Any, module: Any) -> None:
    """Refuse another module than that for which the text was made, the default of an argument.

    >>> import math
    >>> check_module(math, np)
    Traceback (most recent call last):
    ...
    TypeError: E5003 an argument was taken for the module numpy, and is another one; leave it out, or derive it anew
    """
    if x is not module:
        raise TypeError(
            f"E5003 an argument was taken for the module {module.__name__}, and is another one; "
            "leave it out, or derive it anew"
        )


def check_array(x: Any) -> None:
    """Refuse what is no array where a part of it is written into: a part of a list is a copy.

    >>> check_array([1.0, 2.0])
    Traceback (most recent call last):
    ...
    TypeError: E5010 an argument of class list is written into through a part of it; pass an array
    """
    if not isinstance(x, np.ndarray):
        raise TypeError(
            f"E5010 an argument of class {type(x).__name__} is written into through a part of it; pass an array"
        )


def check_arrays(*arguments: Any) -> None:
    """Refuse lists, tuples and dicts that the text takes for arrays.

    >>> check_arrays(np.zeros(2), [1.0, 2.0])
    Traceback (most recent call last):
    ...
    TypeError: E5005 an argument was taken for an array, and is a list; pass np.asarray(x)
    """
    for x in arguments:
        if isinstance(x, list | tuple | dict):
            what = f"and is a {type(x).__name__}; pass np.asarray(x)"
            raise TypeError(f"E5005 an argument was taken for an array, {what}")


def check_item(x: Any, held: Any = None) -> None:
    """Refuse `d[k] += e` where the item `x` is not a number: it would change for all that hold it.

    Where `held`, which may be a list, is an array, its part changes as it should.

    >>> check_item(np.zeros(2))
    Traceback (most recent call last):
    ...
    TypeError: E5010 an item of type ndarray would change in place, for all that hold it; write `d[k] = d[k] + e`
    """
    if not isinstance(x, int | float | np.generic) and not isinstance(held, np.ndarray):
        what = f"an item of type {type(x).__name__} would change in place, for all that hold it"
        raise TypeError(f"E5010 {what}; write `d[k] = d[k] + e`")


def check_real(*arguments: Any) -> None:
    """Refuse complex numbers where the text takes an argument, or what it holds, for real ones.

    >>> check_real(np.zeros(2), [1.0, 2.0j])
    Traceback (most recent call last):
    ...
    TypeError: E5017 an argument was taken for real, and is complex; annotate it (`z: complex`) and derive it anew
    """
    for x in arguments:
        if isinstance(x, list | tuple | dict):
            check_real(*(x.values() if isinstance(x, dict) else x))
        elif np.iscomplexobj(x):
            what = "an argument was taken for real, and is complex; annotate it (`z: complex`) and derive it anew"
            raise TypeError(f"E5017 {what}")
