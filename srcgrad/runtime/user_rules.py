"""What rules of users give: adjoints that are looked at, and what a context holds."""

from __future__ import annotations

from typing import Any  # rules take and give values of any structure

import numpy as np

from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.structure import mapped, zeros_like


def check_adjoint(given: Any, x: Any) -> Any:
    """The derivative that a rule gave for `x`, in the dtype of `x`; None stands for zero.

    Raises ValueError with code E5004 where its shape is not that of `x`, or where it is no real number.

    >>> check_adjoint([1, 2], np.zeros(2)), check_adjoint(None, 3.0)
    (array([1., 2.]), 0.0)
    >>> check_adjoint(1.0, np.zeros(2))
    Traceback (most recent call last):
    ...
    ValueError: E5004 a rule gave a derivative of shape () for a value of shape (2,); correct the rule
    """
    if type(given) is float and type(x) is float:
        return given  # the usual case, made cheap
    if given is None:
        return zeros_like(x)
    if isinstance(x, list | tuple | dict):
        if not isinstance(given, type(x) if isinstance(x, dict) else list | tuple) or len(given) != len(x):
            what = f"a {type(given).__name__} for a {type(x).__name__} of {len(x)} parts"
            raise ValueError(f"E5004 a rule gave {what}; give one part each")
        return mapped(check_adjoint, given if isinstance(x, dict) else type(x)(given), x)
    if np.shape(given) != np.shape(x):
        raise _misshapen(np.shape(given), np.shape(x))
    return _as_number(given, x)


def check_total(given: Any, x: Any) -> Any:
    """The adjoint of `x` that a rule has added to, and given back.

    Raises ValueError with code E5004 where it gives nothing back, or something of another shape.

    >>> check_total(None, 1.0)
    Traceback (most recent call last):
    ...
    ValueError: E5004 a rule that adds to an adjoint gave none back; return it
    """
    if given is None:
        raise ValueError("E5004 a rule that adds to an adjoint gave none back; return it")
    return check_adjoint(given, x)


def check_adjoints(given: Any, primals: tuple[Any, ...]) -> tuple[Any, ...]:
    """The adjoints that a rule gave, one per primal: each in the shape and dtype of its primal, None as zero.

    Where the primals broadcast, an adjoint of their common shape is summed to the shape of its primal. What a rule
    leaves out at the end has no derivative. Raises ValueError with code E5004 for anything else.

    >>> check_adjoints((np.ones((2, 3)), np.ones((2, 3)), None), (np.zeros((2, 3)), np.zeros(3), 1))
    (array([[1., 1., 1.],
           [1., 1., 1.]]), array([2., 2., 2.]), 0.0)
    """
    parts = given if isinstance(given, tuple | list) else (given,)
    missing = primals[len(parts) :]
    if len(parts) > len(primals) or any(_varies(x) for x in missing):
        raise ValueError(f"E5004 a rule gave {len(parts)} adjoints for {len(primals)} arguments; give one each")
    parts = (*parts, *(None for _ in missing))
    return tuple(_aligned(part, x, primals) for part, x in zip(parts, primals, strict=True))


def _aligned(given: Any, x: Any, primals: tuple[Any, ...]) -> Any:
    if given is None or isinstance(x, list | tuple | dict) or not _varies(x) or np.shape(given) == np.shape(x):
        return check_adjoint(given, x)
    shapes = [np.shape(x) for x in primals if _varies(x) and not isinstance(x, list | tuple | dict)]
    try:
        common = np.broadcast_shapes(*shapes)
    except ValueError:
        common = None
    if np.shape(given) != common:
        raise _misshapen(np.shape(given), np.shape(x))
    return sum_to(_as_number(given, np.zeros((), getattr(x, "dtype", float))), x)


def given_adjoints(g: tuple[Any, ...], given: Any) -> Any:
    """The transpose of `check_adjoints`: for each adjoint that a rule gave, one of its shape.

    >>> given_adjoints((1.0, np.ones(2)), (0.5, np.zeros((3, 2))))[1].shape
    (3, 2)
    """
    if not isinstance(given, tuple | list):
        return np.broadcast_to(g[0], np.shape(given))
    return tuple(None if y is None else np.broadcast_to(part, np.shape(y)) for part, y in zip(g, given, strict=False))


def _varies(x: Any) -> bool:
    """Whether a value is, or holds, a number that can be moved."""
    if isinstance(x, list | tuple | dict):
        return any(_varies(part) for part in (x.values() if isinstance(x, dict) else x))
    if isinstance(x, np.ndarray | np.generic):
        return bool(x.dtype.kind in "fc")
    return isinstance(x, float | complex)


def _as_number(given: Any, x: Any) -> Any:
    """An array or a number in the dtype of x; what cannot be taken for numbers of its kind is refused."""
    dtype = getattr(x, "dtype", np.dtype(float))
    found = np.asarray(given)
    if found.dtype.kind not in "biuf" and found.dtype.kind != dtype.kind:
        what = f"dtype {found.dtype} for a value of dtype {dtype}"
        raise ValueError(f"E5004 a rule gave a derivative of {what}; give floats")
    if dtype.kind in "fc":
        found = found.astype(dtype, copy=False)
    return found if isinstance(x, np.ndarray) else found[()]


def _misshapen(given: tuple[int, ...], due: tuple[int, ...]) -> ValueError:
    return ValueError(f"E5004 a rule gave a derivative of shape {given} for a value of shape {due}; correct the rule")


class Context:
    """One per call: `save_for_backward(...)` and `saved_tensors`, and any attribute that `forward` sets.

    `inputs` mirrors the arguments of the call, in shape and dtype only: it keeps no data.

    >>> ctx = Context(np.ones((2, 3)), 1.0)
    >>> ctx.save_for_backward(2.0)
    >>> ctx.saved_tensors, ctx.inputs[0].shape
    ((2.0,), (2, 3))
    """

    inputs: tuple[Any, ...]
    saved_tensors: tuple[Any, ...]

    def __init__(self, *inputs: Any) -> None:
        self.inputs = tuple(_hollow(x) for x in inputs)
        self.saved_tensors = ()

    def save_for_backward(self, *values: Any) -> None:
        """Keep values for `backward`, which finds them as `ctx.saved_tensors`."""
        self.saved_tensors = values

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"forward has not set ctx.{name}")


def _hollow(x: Any) -> Any:
    """An array of the shape and dtype of x that takes no room; numbers and other values as they are."""
    if isinstance(x, np.ndarray):
        return np.broadcast_to(np.zeros((), x.dtype), x.shape)
    if isinstance(x, list | tuple):
        return type(x)(*map(_hollow, x)) if hasattr(x, "_fields") else type(x)(map(_hollow, x))
    if isinstance(x, dict):
        return {key: _hollow(value) for key, value in x.items()}
    return x
