"""Values on their way through a function: hooks on their adjoints, probes that watch, functions that a run looks up.

What rules of users give: adjoints that are looked at, and what a context holds.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import FunctionType
from typing import (
    Any,  # adjoints are numbers or arrays of any dtype
    Protocol,
    TypeVar,
)

import numpy as np

from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.structure import mapped, zeros_like

T = TypeVar("T")
Function = Callable[..., Any]


def hook(x: T, *fns: Function) -> T:
    """The value of x. In reverse mode each of `fns`, in order, is called with its adjoint before anything upstream is.

    What a function returns replaces the adjoint; if it returns None the adjoint stays, with what the function has
    changed in it in place. Write `h = srcgrad.hook(h, fn)`: the adjoint is that of the value bound here, complete,
    summed over all that is computed from it. The value before is another one: a hook on a hooked value is called
    first, since derivatives flow backwards. A lambda reads the function's variables as they are at the hook. In
    forward mode nothing is called. A hook that gives another shape raises E5004; a derivative of a gradient that
    calls hooks is refused (E5001), since what they do is not known. A container is refused (E5017).

    >>> import numpy as np
    >>> import srcgrad
    >>> def cubes(x):
    ...     x = srcgrad.hook(x, lambda g: np.clip(g, -1.0, 1.0))
    ...     return np.sum(x**3)
    >>> srcgrad.grad(cubes)(np.array([-1.0, 0.1, 0.5, 2.0]))
    array([1.  , 0.03, 0.75, 1.  ])
    """
    _check(x)
    return x


def stop_gradient(x: T) -> T:
    """The value of x, as a constant: no derivative flows through it.

    >>> import srcgrad
    >>> srcgrad.grad(lambda x: x * srcgrad.stop_gradient(x))(3.0)
    3.0
    """
    return x


def hooked(x_bar: Any, *fns: Function) -> Any:
    """What `fns`, called one after the other, make of the adjoint `x_bar`, which itself does not change.

    Raises ValueError (E5004) if a function gives another shape.

    >>> hooked(2.0, lambda g: None, lambda g: 3.0 * g)
    6.0
    """
    made = _own(x_bar)
    for fn in fns:
        found = fn(made)
        if found is None:
            made = _own(made)  # the function may keep what it was given
            continue
        if np.shape(found) != np.shape(x_bar):
            raise ValueError(
                f"E5004 a hook gave an adjoint of shape {np.shape(found)} "
                f"for one of shape {np.shape(x_bar)}; correct it"
            )
        made = np.array(found, x_bar.dtype)[()] if hasattr(x_bar, "dtype") else float(found)
    return made


def _own(x_bar: Any) -> Any:
    return x_bar.copy() if isinstance(x_bar, np.ndarray) or np.ndim(x_bar) else x_bar


def beyond_hooks(g: Any) -> Any:
    """Stands where the derivative of an adjoint is wanted that hooks have seen: it raises TypeError (E5001).

    >>> beyond_hooks(1.0)
    Traceback (most recent call last):
    TypeError: E5001 a gradient that calls hooks is not differentiated; take the hooks off for second derivatives
    """
    if isinstance(g, np.ndarray) and g.size == 0:
        return g
    raise TypeError(
        "E5001 a gradient that calls hooks is not differentiated; take the hooks off for second derivatives"
    )


def _check(x: Any) -> None:
    if isinstance(x, list | tuple | dict) or hasattr(x, "__dataclass_fields__"):
        raise TypeError(f"E5017 a hook is on a value of class {type(x).__name__}; put it on the arrays in it")


class Listener(Protocol):
    """What is told of values and adjoints; `place` is the number of the statement."""

    def value(self, place: int, x: Any) -> None:
        """The statement has bound x."""

    def adjoint(self, place: int, x_bar: Any) -> None:
        """The adjoint of what the statement bound is complete."""


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """For as long as the context lasts, probes report to the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def probe(x: Any, place: int) -> Any:
    """The value of x, which the listener is told of.

    >>> probe(2.0, 1)
    2.0
    """
    listener = _listener.get()
    if listener is not None:
        listener.value(place, x)
    return x


def probed(x_bar: Any, place: int) -> Any:
    """The adjoint of a probe's value, which the listener is told of.

    >>> probed(2.0, 1)
    2.0
    """
    listener = _listener.get()
    if listener is not None:
        listener.adjoint(place, x_bar)
    return x_bar


@functools.cache
def _lookup(name: str) -> Function:
    """A function of the part of srcgrad that makes texts, which nothing else of a text needs: it is imported late."""
    made: Function = getattr(importlib.import_module("srcgrad.interface.api.derivatives"), name)
    return made


def pullback_of(f: Function, wrt: tuple[int | str, ...] | None = None) -> Function:
    """A function of the arguments of f that gives its value and its pullback: `y, f_back = pullback_of(f)(a, b)`.

    `f_back(y_bar)` gives an adjoint for each argument, or for each that `wrt` names by position or keyword: a tuple of
    them, one by itself. The derivative is made when f is first called so, and kept.

    Raises TypeError (E5031) where f is given, or gives, what is neither a real number nor an array of them, nor gives a
    tuple of such; DifferentiationError where the derivative of f does, and E5032 where f writes into what it is given.

    >>> y, back = pullback_of(np.multiply)(2.0, 3.0)
    >>> y, back(1.0)
    (np.float64(6.0), (3.0, 2.0))
    """
    made: Function = _lookup("pullback_looked_up")(f, wrt)
    return made


def pushforward_of(f: Function, *tangents: object, wrt: tuple[int | str, ...] | None = None) -> Function:
    """A function of the arguments of f that gives its value and tangent: `y, y_dot = pushforward_of(f, a_dot)(a)`.

    There is a tangent for each argument, or for each that `wrt` names. Errors are those of `pullback_of`.

    >>> pushforward_of(np.multiply, 1.0, 0.0)(2.0, 3.0)
    (np.float64(6.0), 3.0)
    """
    made: Function = _lookup("pushforward_looked_up")(f, tangents, wrt)
    return made


def adjoint_of(f: Function, wrt: tuple[int | str, ...]) -> Function:
    """The adjoints of f as a function of a seed and its arguments: `a_bar = adjoint_of(f, (0,))(y_bar, a)`.

    It stands in texts that are differentiated once more. Errors are those of `pullback_of`.

    >>> adjoint_of(np.multiply, (0,))(1.0, 2.0, 3.0)
    3.0
    """
    made: Function = _lookup("AdjointLookedUp")(f, wrt)
    return made


def tangent_of(f: Function, wrt: tuple[int | str, ...]) -> Function:
    """The tangent of f as a function of tangents and the arguments: `y_dot = tangent_of(f, (0,))(a_dot, a)`.

    It stands in texts that are differentiated once more. Errors are those of `pullback_of`.

    >>> tangent_of(np.multiply, (0,))(1.0, 2.0, 3.0)
    3.0
    """
    made: Function = _lookup("TangentLookedUp")(f, wrt)
    return made


def call(f: Function, /, *args: object, **kwargs: object) -> object:
    """`f(*args, **kwargs)`, where what f holds is differentiated as well: `y, call_back = pullback_of(call)(f, x)`.

    So a partial application is called that is made of what is differentiated; its adjoint has one for each number and
    array that it holds.

    >>> y, call_back = pullback_of(call)(functools.partial(np.multiply, 3.0), 2.0)
    >>> y, call_back(1.0)
    (np.float64(6.0), (Slots({0: 2.0}), 3.0))
    """
    return f(*args, **kwargs)


class closure(functools.partial[object]):  # noqa: N801 it reads as `partial` does
    """`closure(inner, w=w)`: a nested function or lambda as a value, where `inner` stands outside of what it reads.

    It is called as `partial(inner, w=w)` is. A function is made once and a closure at each place where it is kept: two
    of them are not compared, nor is one written out (TypeError, E5031).

    >>> f = closure(np.multiply, 3.0)
    >>> f(2.0), isinstance(f, FunctionType), f == f, f == np.sin
    (np.float64(6.0), True, True, False)
    >>> f == closure(np.multiply, 3.0)
    Traceback (most recent call last):
    ...
    TypeError: E5031 functions that are kept are compared; keep a name or a number with each, and compare that
    """

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return FunctionType

    def __eq__(self, other: object) -> bool:
        if self is not other and type(other) is closure:
            raise TypeError(
                "E5031 functions that are kept are compared; keep a name or a number with each, and compare that"
            )
        return self is other

    def __hash__(self) -> int:
        return hash(closure)  # where two of them meet in a set or a dict, they are compared

    def __repr__(self) -> str:
        raise TypeError("E5031 a function that is kept is written out; keep a name with it, and write that")


def reads_only(f: Function) -> Function:
    """The function f, which may not write into the arrays, lists and dicts that it is given.

    It gets arrays as views that cannot be written, and lists and dicts as copies that are compared afterwards. Raises
    TypeError (E5032) where f writes into one of them.

    >>> reads_only(np.sum)(np.ones(2))
    np.float64(2.0)
    """

    def called(*args: object, **kwargs: object) -> object:
        given, named = [*map(_unwritable, args)], {key: _unwritable(one) for key, one in kwargs.items()}
        before = _copied([given, named])
        try:
            found = f(*given, **named)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise TypeError(_WRITES.format(getattr(f, "__name__", type(f).__name__))) from error
        if not _is_same([given, named], before):
            raise TypeError(_WRITES.format(getattr(f, "__name__", type(f).__name__)))
        return found

    return called


_WRITES = "E5032 `{}` writes into what it is given; write into a copy, or call the function by its name"


def _unwritable(value: object) -> object:
    """Arrays as views that cannot be written; lists, tuples and dicts with such items; all else as it is."""
    made = value
    if isinstance(value, np.ndarray):
        view = made = value.view()
        view.flags.writeable = False
    elif type(value) is list:
        made = [_unwritable(one) for one in value]
    elif type(value) is tuple:
        made = tuple(_unwritable(one) for one in value)
    elif type(value) is dict:
        made = {key: _unwritable(one) for key, one in value.items()}
    return made


def _copied(value: object) -> object:
    """Lists, tuples and dicts anew, with the items that they have."""
    made = value
    if isinstance(value, list):
        made = [_copied(one) for one in value]
    elif isinstance(value, tuple):
        made = tuple(_copied(one) for one in value)
    elif type(value) is dict:
        made = {key: _copied(one) for key, one in value.items()}
    return made


def _is_same(value: object, before: object) -> bool:
    """Whether lists and dicts hold what they held."""
    if isinstance(value, list | tuple) and isinstance(before, list | tuple):
        return len(value) == len(before) and all(map(_is_same, value, before))
    if isinstance(value, dict) and isinstance(before, dict):
        return list(value) == list(before) and all(_is_same(value[key], before[key]) for key in before)
    return value is before


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
