"""The seed of a gradient must fit the output."""

from __future__ import annotations

from typing import Any  # seeds and outputs are numbers or arrays of any dtype

import numpy as np


def check_seed(y_bar: Any, y: Any) -> None:
    """Refuse a seed whose shape is not the output's: the default seed, 1.0, fits real scalars only.

    Raises ValueError with code E5007 (the output is not a real scalar) or E5014 (the seed has another shape).

    >>> check_seed(1.0, np.zeros(3))
    Traceback (most recent call last):
    ...
    ValueError: E5007 the output has shape (3,); use srcgrad.vjp with a seed of that shape
    """
    if isinstance(y, float) and isinstance(y_bar, float):
        return  # the usual case, made cheap
    if isinstance(y, complex | np.complexfloating) or getattr(y, "dtype", None) in (
        np.complex64,
        np.complex128,
    ):
        raise ValueError("E5007 the output is complex; differentiate its real and imaginary part")
    if np.shape(y_bar) != np.shape(y):
        if np.ndim(y_bar) == 0:
            raise ValueError(f"E5007 the output has shape {np.shape(y)}; use srcgrad.vjp with a seed of that shape")
        raise ValueError(f"E5014 the seed has shape {np.shape(y_bar)}, the output {np.shape(y)}; make them equal")


def check_floating(a: Any) -> None:
    """Refuse an array of integers: what is written into it is cut off, and carries no derivative.

    >>> check_floating(np.zeros(2, int))
    Traceback (most recent call last):
    ...
    TypeError: E5002 a value that varies is written into an array of dtype int64; make it an array of floats
    """
    if a.dtype.kind not in "fc":
        raise TypeError(
            f"E5002 a value that varies is written into an array of dtype {a.dtype}; make it an array of floats"
        )


def check_input(x: Any) -> None:
    """Refuse an integer or an array of integers with respect to which a derivative is taken inside of a function.

    >>> check_input(np.zeros(2, np.uint8))
    Traceback (most recent call last):
    ...
    TypeError: E5002 a derivative with respect to a value of type uint8; make it a float, or leave it out
    """
    dtype = getattr(x, "dtype", None)
    if isinstance(x, int) or getattr(dtype, "kind", "f") in "biu":
        what = f"a derivative with respect to a value of type {dtype or type(x).__name__}"
        raise TypeError(f"E5002 {what}; make it a float, or leave it out")


def check_complex(a: Any) -> None:
    """Refuse an array of real numbers: of what is written into it, the imaginary part is lost.

    >>> check_complex(np.zeros(2))
    Traceback (most recent call last):
    ...
    TypeError: E5017 a complex value is written into an array of dtype float64; make it an array of complex numbers
    """
    if a.dtype.kind != "c":
        raise TypeError(
            f"E5017 a complex value is written into an array of dtype {a.dtype}; make it an array of complex numbers"
        )


def check_number(x: Any, a: Any) -> None:
    """Refuse a part `x` of `a` that changes with it, where the function was read as if `x` were a number.

    >>> a = np.zeros((2, 2))
    >>> check_number(a[0], a)
    Traceback (most recent call last):
    ...
    TypeError: E5010 a part of shape (2,) changes with its array while it has a name; take a copy: `x.copy()`
    """
    if isinstance(x, np.ndarray) and not (isinstance(a, np.ndarray) and not np.may_share_memory(x, a)):
        raise TypeError(
            f"E5010 a part of shape {x.shape} changes with its array while it has a name; take a copy: `x.copy()`"
        )


def check_shape(gradient: Any, x: Any) -> Any:
    """The gradient itself, if it has the shape of x; otherwise ValueError with code E5004.

    >>> check_shape(1.0, np.zeros(2))
    Traceback (most recent call last):
    ...
    ValueError: E5004 a rule gave a gradient of shape () for an argument of shape (2,); correct the rule
    """
    if np.shape(gradient) != np.shape(x):
        raise ValueError(
            f"E5004 a rule gave a gradient of shape {np.shape(gradient)} "
            f"for an argument of shape {np.shape(x)}; correct the rule"
        )
    return gradient
