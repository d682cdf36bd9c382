"""Derivatives of functions, as functions: what users call.

The derivatives that `vjp` and `jvp` used last: called in a loop, they make the text of a function once.

What users call: derivatives of functions, as functions.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any, TypeVar, cast

from srcgrad.backend.targets import target_named
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.identity import Function
from srcgrad.core.target import DEFAULT, Target
from srcgrad.frontend.calls.functions import makes
from srcgrad.interface.api.arguments import check_input
from srcgrad.interface.api.derivative import AnyDerivative, Derivative, P, R, Wrt, precision
from srcgrad.interface.api.execute import ExecutedText, Pullback, run
from srcgrad.interface.api.snapshots import Copies, copies, frames, snapshot
from srcgrad.opencl.arrays.boundary import on_device

ROOM = 64  # of what was asked for last; each holds its function, and what that has closed over
_LOCK = threading.Lock()
_KEPT: OrderedDict[object, tuple[object, object]] = OrderedDict()
K = TypeVar("K")


def keep(function: Callable[..., Any], asked: tuple[object, ...], make: Callable[[], K]) -> K:
    """What `make` made for a function when it was last asked for, if it is one of the last; otherwise it is made now.

    Two functions are one if they are the same object, or the same method of the same object, with the same code; what
    is kept holds its function, so that no other object has that place in memory. A new lambda is a new function.
    """
    place: object = id(function)
    if isinstance(function, MethodType):
        place = id(function.__self__), id(function.__func__)
    elif isinstance(function, Derivative):
        place = id(function.made)  # which `again` shares
    key, code = (place, *asked), getattr(function, "__code__", None)
    with _LOCK:
        known, found = _KEPT.get(key, (None, None))
        if found is not None and known is code:
            _KEPT.move_to_end(key)
            return cast(K, found)
    made = make()
    with _LOCK:
        _KEPT[key] = code, made
        while len(_KEPT) > ROOM:
            _KEPT.popitem(last=False)
    return made


def recent_derivative(function: Function, mode: str, wrt: Wrt, single: bool, target: str | Target) -> AnyDerivative:
    """The derivative of a function, kept from an earlier call if it is one of the last that were asked for.

    >>> def f(x): return x * x
    >>> recent_derivative(f, "vjp", (0,), False, "numpy") is recent_derivative(f, "vjp", (0,), False, "numpy")
    True
    """
    record = target_named(target)
    asked = mode, repr(wrt), single, record  # repr: 1, True and 1.0 are one key, and not one `wrt`
    return keep(function, asked, lambda: Derivative(function, mode, wrt, single, record))


def chosen_wrt(function: Function, wrt: Wrt, argnums: Wrt | None = None) -> Wrt:
    """What is meant by `wrt` and `argnums`: one parameter, or a tuple of them; `argnums="all"` means every one."""
    if isinstance(argnums, str) and argnums == "all":
        return tuple(inspect.signature(function).parameters)
    asked = wrt if argnums is None else argnums
    return tuple(asked) if isinstance(asked, list) else asked


@makes("reverse")
def grad(
    function: Callable[P, Any],
    wrt: Wrt = 0,
    *,
    argnums: Wrt | None = None,
    has_aux: bool = False,
    autocast: Any = None,
    target: str | Target = DEFAULT,
    like: Any = None,
) -> Derivative[P, Any]:
    """The gradient of a real scalar function, as a function of the same arguments.

    `wrt` is a position, a parameter's name, or a tuple of them (`argnums` means the same, or is "all"); one gives a
    bare gradient, a tuple gives a tuple. It may name a local variable, bound once outside of loops and branches and
    never changed: the gradient is the derivative by what is added to its value where it is bound. With `has_aux` the
    function returns `(y, aux)`, of which y is differentiated, and the gradient comes as `(gradient, aux)`. A gradient
    has the structure, shape, dtype and class of its argument, and memory of its own.
    With `autocast=np.float16` (or np.float32) arrays of floats are cast to it where the function begins, and to float32
    where elements are added up; the gradient has the argument's dtype. `target="opencl"` runs array statements as
    kernels, `target="numba"` compiles loops; see docs/opencl.md and docs/numba.md. `like=(...)` are example arguments:
    the text is for arguments of their shapes, equal lengths being equal, and checks that they are so (E5027).

    Errors: E5007 if the output is not a real scalar (use `vjp`), E5002 for integer or boolean inputs, E5009 for a
    `wrt` that names no parameter, E5019 for an unknown target, and those that say what in the function is not accepted.

    >>> import numpy as np
    >>> from srcgrad import grad
    >>> def norm2(x): return np.sum(x * x)
    >>> grad(norm2)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _gradient("reverse", function, chosen_wrt(function, wrt, argnums), target, has_aux, autocast, like)


@makes("value-and-grad")
def value_and_grad(
    function: Callable[P, R],
    wrt: Wrt = 0,
    *,
    argnums: Wrt | None = None,
    has_aux: bool = False,
    autocast: Any = None,
    target: str | Target = DEFAULT,
    like: Any = None,
) -> Derivative[P, tuple[R, Any]]:
    """Value and gradient from one forward pass, as a function of the same arguments; see `grad`.

    With `has_aux` the function returns `(y, aux)`, and this `((y, aux), gradient)`.

    >>> import numpy as np
    >>> from srcgrad import value_and_grad
    >>> def norm2(x): return np.sum(x * x)
    >>> value_and_grad(norm2)(np.array([3.0]))
    (np.float64(9.0), array([6.]))
    """
    return _gradient("value-and-grad", function, chosen_wrt(function, wrt, argnums), target, has_aux, autocast, like)


def _gradient(
    mode: str, function: Callable[P, Any], wrt: Wrt, target: str | Target, auxiliary: bool, autocast: Any, like: Any
) -> Derivative[P, Any]:
    """A derivative that shares the texts of an equal one that was asked for lately; one for examples is made anew."""
    record, cast_to, single = target_named(target), precision(autocast), not isinstance(wrt, tuple)

    def make() -> Derivative[P, Any]:
        return Derivative(function, mode, wrt, single, record, auxiliary=auxiliary, autocast=autocast, like=like)

    return make() if like is not None else keep(function, (mode, repr(wrt), auxiliary, cast_to, record), make).again()


@makes("vjp")
def vjp(
    function: Callable[..., R], *args: Any, wrt: Wrt | None = None, target: str | Target = DEFAULT, copy: bool = True
) -> tuple[R, Callable[[Any], Any]]:
    """The value and the pullback: `pullback(seed)` gives the adjoints of the arguments for a seed like the output.

    Without `wrt` there is one adjoint per argument, None for those without floats; with `wrt`, as in `grad`.
    The pullback may be called any number of times, and gives the numbers of this call whatever happens to arguments,
    captured arrays and the value afterwards: of these it has copies, as far as it reads them. Those who change none of
    them may say `copy=False`. `target` is that of `grad`, for both halves. Texts of the functions
    asked for last are kept: a call in a loop makes the text once, if it is given the same function.

    >>> import numpy as np
    >>> from srcgrad import vjp
    >>> y, pullback = vjp(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
    >>> pullback(np.array([1.0, 0.0]))
    (array([3., 0.]), 1.0)
    """
    places = float_arguments(function, args) if wrt is None else chosen_wrt(function, wrt)
    derivative = recent_derivative(function, "vjp", places, wrt is not None and not isinstance(places, tuple), target)
    output, pullback = _pulled_at(derivative, derivative.ordered_arguments(args, {}), copy)
    if wrt is not None or len(derivative.wrt) == len(args):
        return output, pullback

    names = list(derivative.signature.parameters)[len(derivative.bound) :]
    return output, PaddedPullback(pullback, derivative.wrt, tuple(names[: len(args)]))


@dataclass(frozen=True)
class PaddedPullback:
    """A pullback that gives one adjoint per argument: None for those without floats."""

    pullback: Pullback
    wrt: tuple[str, ...]
    names: tuple[str, ...]

    def __call__(self, seed: Any) -> tuple[Any, ...]:
        found = dict(zip(self.wrt, self.pullback(seed), strict=True))
        return tuple(found.get(name) for name in self.names)


def value_and_pullback(
    derivative: AnyDerivative, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Pullback]:
    """The value and the pullback of a derivative in mode vjp."""
    return _pulled_at(derivative, derivative.ordered_arguments(args, kwargs))


def _pulled_again(derivative: AnyDerivative, values: Sequence[object]) -> Pullback:
    """A pullback from what its pickle holds."""
    return _pulled_at(derivative, values)[1]


def _pulled_at(
    derivative: AnyDerivative, values: Sequence[Any], copy: bool = False, known: Copies | None = None
) -> tuple[Any, Pullback]:
    """The value and the pullback; with `copy`, or from copies that are known, of the numbers that there are now."""
    made, device = derivative.ready_text(values)
    if not derivative.target.closures:
        return pulled_anew(derivative, made, copies(values).of(tuple(values)) if copy else values)
    function = made.function if known is None else known.of(made.function)
    output, back = run(function, values, derivative.named, device, derivative.primal)
    if copy:
        back, values = snapshot(back, (*values, output)), frames(values)
    output = derivative.output(output, values)
    return on_device(output, device), Pullback(back, derivative, values, output, _pulled_again)


def pulled_then(derivative: AnyDerivative, values: Sequence[object], known: Copies) -> Pullback:
    """The pullback at arguments that are copies, of a text that reads copies too."""
    return _pulled_at(derivative, values, known=known)[1]


def pulled_anew(derivative: AnyDerivative, made: ExecutedText, values: Sequence[Any]) -> tuple[Any, Pullback]:
    """The value and the pullback of compiled code, which keeps nothing for it: the pullback runs both halves."""
    value = recent_derivative(derivative.function, "primal", derivative.wrt, False, derivative.target)  # compiled once
    output = derivative.output(run(value.ready_text(values)[0].function, values, derivative.named), values)

    def back(seed: Any) -> Any:
        return run(functools.partial(made.function, **{made.seeds[0]: seed}), values, derivative.named)

    return output, Pullback(back, derivative, values, output, _pulled_again)


def float_arguments(function: Function, args: tuple[object, ...]) -> tuple[int, ...]:
    """The positions of the arguments that hold real numbers; E5002 if there is none."""
    found = []
    for position, value in enumerate(args):
        try:
            check_input(value, "")
        except DifferentiationError:
            continue
        found.append(position)
    if not found:
        raise DifferentiationError("E5002", "no argument is a real number or an array of them", "pass floats")
    return tuple(found)


@makes("forward")
def jvp(
    function: Callable[..., R], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, target: str | Target = DEFAULT
) -> tuple[R, R]:
    """The value and its derivative along the tangents: `(y, y_dot)`.

    `tangents` has one entry per argument, of the argument's structure and shape; entries of arguments
    without floats are ignored. `target` is that of `grad`. Texts are kept as by `vjp`.

    >>> import numpy as np
    >>> from srcgrad import jvp
    >>> jvp(lambda x: x * x, (3.0,), (1.0,))
    (9.0, 6.0)
    """
    if len(primals) != len(tangents):
        raise DifferentiationError(
            "E5014", f"{len(primals)} arguments, {len(tangents)} tangents", "give one tangent per argument"
        )
    places = float_arguments(function, primals)
    derivative = recent_derivative(function, "forward", places, False, target)
    y, y_dot = derivative.forward(primals, tuple(tangents[k] for k in places))
    return y, y_dot
