"""Derivatives of functions, as functions: what users call.

What was asked for last is kept: asked for in a loop, the text of a function is made once.

Derivatives of functions that only a run knows, for texts that call them: made when such a function is first met, kept
by function. A function that nobody else holds is not held by what is kept of it.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import field
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, TypeVar, cast, overload
from weakref import WeakKeyDictionary

import numpy as np

import srcgrad.templates as templates
from srcgrad.backend.targets import target_named
from srcgrad.core.errors import DifferentiationError, Place
from srcgrad.core.identity import Function, home, record
from srcgrad.core.marks import makes
from srcgrad.core.rules import rule_of
from srcgrad.core.source_text import hides_our_frames, running_place
from srcgrad.core.target import DEFAULT, DeviceArray, Target
from srcgrad.frontend.functions_with_rules import given_of, is_ruled, with_options, with_places
from srcgrad.interface.api.arguments import check_input, has_numbers, on_device
from srcgrad.interface.api.derivative import AnyDerivative, Derivative, P, R, Wrt, X, precision
from srcgrad.interface.api.execute import ExecutedText, Pullback, run
from srcgrad.interface.api.row_blocks import RowDerivative, is_spread, pulled_rows, spread_rows, stand_in
from srcgrad.interface.api.snapshots import Copies, copies, frames, snapshot
from srcgrad.runtime.hooks import call as call_held
from srcgrad.runtime.hooks import closure
from srcgrad.runtime.structure import Slots, of_slot

if TYPE_CHECKING:
    from srcgrad.derive.row_blocks import Blocks
    from srcgrad.interface.api.derivative import DerivativeByFirst

Options = tuple[
    bool, object, object, "Blocks | None"
]  # whether there is an auxiliary value, autocast, examples, spread rows
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


def by_place(function: Function, wrt: object, count: int) -> Function:
    """The function as it is; one with `*args` of which positions ask for items has a parameter for each argument.

    So has an operation of a library that is given more than it must be: `np.clip(x, low, high)`.
    """
    operation: Function | None = with_options(function, count)
    if operation is not None:
        return operation
    if with_places(function, wrt) is None:
        return function
    if not isinstance(function, FunctionType):  # of a library
        return cast(Function, with_places(function, wrt, count))
    defaults = *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()  # which what is kept holds
    asked = "places", count, *map(id, defaults)
    return keep(function, asked, lambda: cast(Function, with_places(function, wrt, count)))


def by_count(function: Function, wrt: object, make: Callable[[Function], K], more: int = 0) -> K:
    """What `make` makes of a function with `*args` for each number of arguments, when it is called; `more` beside."""
    return cast(K, _ByCount(function, wrt, cast(Callable[[Function], Function], make), more))


class _ByCount:
    """A derivative by the position of an argument among `*args`: another for each number of arguments."""

    def __init__(self, function: Function, wrt: object, make: Callable[[Function], Function], more: int = 0) -> None:
        self.function, self.wrt, self.make, self.more = function, wrt, make, more
        self._last: object = None

    def __call__(self, *args: object, **kwargs: object) -> object:
        """The derivative for so many arguments, called; `more` arguments are no arguments of the function."""
        made = self._last = self.make(by_place(self.function, self.wrt, len(args) - self.more))
        return made(*args, **kwargs)

    def __getattr__(self, name: str) -> object:
        """What the derivative of the last call has, its `source` say; E5009 before there was one."""
        if name.startswith("__"):
            raise AttributeError(name)
        if self._last is None:
            message = f"the text is made for as many arguments as a call gives, and `{name}` was asked before any"
            raise DifferentiationError("E5009", message, "call it first, or name the parameter in `wrt`")
        return getattr(self._last, name)


def recent_derivative(function: Function, mode: str, wrt: Wrt, single: bool, target: str | Target) -> AnyDerivative:
    """The derivative of a function, kept from an earlier call if it is one of the last that were asked for.

    >>> def f(x): return x * x
    >>> recent_derivative(f, "vjp", (0,), False, "numpy") is recent_derivative(f, "vjp", (0,), False, "numpy")
    True
    """
    record = target_named(target)
    asked = mode, repr(wrt), single, record  # repr: 1, True and 1.0 are one key, and not one `wrt`
    return keep(function, asked, lambda: Derivative(function, mode, wrt, single, record))


def _recent(
    function: Function, mode: str, wrt: Wrt, single: bool, target: str | Target, spread: Blocks | None
) -> AnyDerivative:
    """The same, where rows may be spread."""
    if spread is None:
        return recent_derivative(function, mode, wrt, single, target)
    record = target_named(target)
    asked = mode, repr(wrt), single, record, spread
    return keep(function, asked, lambda: RowDerivative(function, mode, wrt, single, record, spread))


def chosen_wrt(function: Function, wrt: Wrt, argnums: Wrt | None = None) -> Wrt:
    """What is meant by `wrt` and `argnums`: one parameter, or a tuple of them; `argnums="all"` means every one."""
    if isinstance(argnums, str) and argnums == "all":
        return tuple(inspect.signature(function).parameters)
    asked = wrt if argnums is None else argnums
    return tuple(asked) if isinstance(asked, list) else asked


@overload
def grad(
    function: Callable[Concatenate[X, P], object],
    wrt: Literal[0] = 0,
    *,
    argnums: None = None,
    has_aux: Literal[False] = False,
    autocast: object = None,
    target: str | Target = DEFAULT,
    like: object = None,
    shard: Mapping[str, int] | None = None,
    chunks: int | None = None,
) -> DerivativeByFirst[P, X, X]: ...


@overload
def grad(
    function: Callable[P, object],
    wrt: Wrt = 0,
    *,
    argnums: Wrt | None = None,
    has_aux: bool = False,
    autocast: object = None,
    target: str | Target = DEFAULT,
    like: object = None,
    shard: Mapping[str, int] | None = None,
    chunks: int | None = None,
) -> Derivative[P, Any]: ...


@makes("reverse")
@hides_our_frames
def grad(
    function: Function,
    wrt: Wrt = 0,
    *,
    argnums: Wrt | None = None,
    has_aux: bool = False,
    autocast: object = None,
    target: str | Target = DEFAULT,
    like: object = None,
    shard: Mapping[str, int] | None = None,
    chunks: int | None = None,
) -> AnyDerivative:
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
    With `target="dask"`, `shard={"x": 0}` names arguments whose rows are spread over workers: dask arrays, or arrays of
    NumPy that are cut into `chunks` rows; with `target="mpi"` each rank gives its own rows. See docs/cluster.md.

    Errors: E5007 if the output is not a real scalar (use `vjp`), E5002 for integer or boolean inputs, E5009 for a
    `wrt` that names no parameter, E5019 for an unknown target, E5029 for what is no sum over rows that are spread, and
    those that say what in the function is not accepted.

    >>> import numpy as np
    >>> from srcgrad import grad
    >>> def norm2(x): return np.sum(x * x)
    >>> grad(norm2)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    chosen, spread = chosen_wrt(function, wrt, argnums), spread_rows(function, target, shard, chunks)
    return _gradient("reverse", function, chosen, target, (has_aux, autocast, like, spread))


@overload
def value_and_grad(
    function: Callable[Concatenate[X, P], R],
    wrt: Literal[0] = 0,
    *,
    argnums: None = None,
    has_aux: Literal[False] = False,
    autocast: object = None,
    target: str | Target = DEFAULT,
    like: object = None,
    shard: Mapping[str, int] | None = None,
    chunks: int | None = None,
) -> DerivativeByFirst[P, X, tuple[R, X]]: ...


@overload
def value_and_grad(
    function: Callable[P, R],
    wrt: Wrt = 0,
    *,
    argnums: Wrt | None = None,
    has_aux: bool = False,
    autocast: object = None,
    target: str | Target = DEFAULT,
    like: object = None,
    shard: Mapping[str, int] | None = None,
    chunks: int | None = None,
) -> Derivative[P, tuple[R, Any]]: ...


@makes("value-and-grad")
@hides_our_frames
def value_and_grad(
    function: Function,
    wrt: Wrt = 0,
    *,
    argnums: Wrt | None = None,
    has_aux: bool = False,
    autocast: object = None,
    target: str | Target = DEFAULT,
    like: object = None,
    shard: Mapping[str, int] | None = None,
    chunks: int | None = None,
) -> AnyDerivative:
    """Value and gradient from one forward pass, as a function of the same arguments; see `grad`.

    With `has_aux` the function returns `(y, aux)`, and this `((y, aux), gradient)`.

    >>> import numpy as np
    >>> from srcgrad import value_and_grad
    >>> def norm2(x): return np.sum(x * x)
    >>> value_and_grad(norm2)(np.array([3.0]))
    (np.float64(9.0), array([6.]))
    """
    chosen, spread = chosen_wrt(function, wrt, argnums), spread_rows(function, target, shard, chunks)
    return _gradient("value-and-grad", function, chosen, target, (has_aux, autocast, like, spread))


def _gradient(
    mode: str, function: Callable[P, Any], wrt: Wrt, target: str | Target, options: Options
) -> Derivative[P, Any]:
    """A derivative that shares the texts of an equal one that was asked for lately; one for examples is made anew."""
    auxiliary, autocast, like, spread = options
    record, cast_to, single = target_named(target), precision(autocast), not isinstance(wrt, tuple)

    def make() -> Derivative[P, Any]:
        if spread is not None:
            return cast("Derivative[P, object]", RowDerivative(function, mode, wrt, single, record, spread, auxiliary))
        return Derivative(function, mode, wrt, single, record, auxiliary=auxiliary, autocast=autocast, like=like)

    if with_places(function, wrt) is not None:
        return by_count(function, wrt, lambda one: _gradient(mode, one, wrt, target, options))
    asked = mode, repr(wrt), auxiliary, cast_to, record, spread
    return make() if like is not None else keep(function, asked, make).again()


@makes("vjp")
@hides_our_frames
def vjp(
    function: Callable[..., R],
    *args: Any,
    wrt: Wrt | None = None,
    target: str | Target = DEFAULT,
    copy: bool = True,
    shard: Mapping[str, int] | None = None,
    chunks: int | None = None,
) -> tuple[R, Callable[[Any], Any]]:
    """The value and the pullback: `pullback(seed)` gives the adjoints of the arguments for a seed like the output.

    Without `wrt` there is one adjoint per argument, None for those without floats; with `wrt`, as in `grad`.
    The pullback may be called any number of times, and gives the numbers of this call whatever happens to arguments,
    captured arrays and the value afterwards: of these it has copies, as far as it reads them. Those who change none of
    them may say `copy=False`. `target` is that of `grad`, for both halves. Texts of the functions
    asked for last are kept: a call in a loop makes the text once, if it is given the same function.
    With `shard` and `chunks`, as of `grad`, rows are spread: the pullback reads them again, and of these has no copies.

    >>> import numpy as np
    >>> from srcgrad import vjp
    >>> y, pullback = vjp(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
    >>> pullback(np.array([1.0, 0.0]))
    (array([3., 0.]), 1.0)
    """
    spread = spread_rows(function, target, shard, chunks)
    places = float_arguments(function, args) if wrt is None else chosen_wrt(function, wrt)
    function = by_place(function, places, len(args))
    single = wrt is not None and not isinstance(places, tuple)
    derivative = _recent(function, "vjp", places, single, target, spread)
    if isinstance(derivative, RowDerivative):
        output, pullback = pulled_rows(derivative, derivative.ordered_arguments(args, {}))
    else:
        output, pullback = _pulled_at(derivative, derivative.ordered_arguments(args, {}), copy)
    if wrt is not None or len(derivative.wrt) == len(args):
        return output, pullback

    names = list(derivative.signature.parameters)[len(derivative.bound) :]
    return output, PaddedPullback(pullback, derivative.wrt, tuple(names[: len(args)]))


@record(frozen=True)
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
            check_input(stand_in(value) if is_spread(value) else value, "")
        except DifferentiationError:
            continue
        found.append(position)
    if not found:
        raise DifferentiationError("E5002", "no argument is a real number or an array of them", "pass floats")
    return tuple(found)


@makes("forward")
@hides_our_frames
def jvp(
    function: Callable[..., R],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    target: str | Target = DEFAULT,
    shard: Mapping[str, int] | None = None,
    chunks: int | None = None,
) -> tuple[R, R]:
    """The value and its derivative along the tangents: `(y, y_dot)`.

    `tangents` has one entry per argument, of the argument's structure and shape; entries of arguments
    without floats are ignored, and an object that is no dataclass has None. `target`, `shard` and `chunks` are those of
    `grad`: the tangent of an argument whose rows are spread is spread as well. Texts are kept as by `vjp`.

    >>> import numpy as np
    >>> from srcgrad import jvp
    >>> jvp(lambda x: x * x, (3.0,), (1.0,))
    (9.0, 6.0)
    """
    if len(primals) != len(tangents):
        raise DifferentiationError(
            "E5014", f"{len(primals)} arguments, {len(tangents)} tangents", "give one tangent per argument"
        )
    spread = spread_rows(function, target, shard, chunks)
    places = float_arguments(function, primals)
    function = by_place(function, places, len(primals))
    derivative = _recent(function, "forward", places, False, target, spread)
    for k, name in enumerate(derivative.signature.parameters):
        if k not in places and k < len(primals) and tangents[k] is not None and has_numbers(primals[k]):
            check_input(primals[k], name)  # its tangent would count for nothing
    y, y_dot = derivative.forward(primals, tuple(tangents[k] for k in places))
    return y, y_dot


@record(frozen=True)
class LookedUp:
    """A function that a run has met, the names of its parameters, and the derivatives of it that were asked for."""

    function: Function
    names: tuple[str, ...]  # of those with a place
    words: frozenset[str]
    derivatives: dict[object, AnyDerivative] = field(default_factory=dict)
    repeatable: list[bool] = field(default_factory=list)  # whether it gives the same once more, if that was asked

    def derivative(self, mode: str, wrt: tuple[str, ...]) -> AnyDerivative:
        """Its derivative in a mode."""
        known = self.derivatives.get((mode, wrt))
        if known is None:
            known = self.derivatives[mode, wrt] = Derivative(self.function, mode, wrt, False)
        return known

    def named(self, first: int, one: int | str) -> str:
        """The name of an argument behind some `first` ones, given by place or by name; empty if there is none."""
        if isinstance(one, int):
            return self.names[first + one] if first + one < len(self.names) else ""
        return one if one in self.words else ""

    def check_repeatable(self) -> None:
        """E5025 if it draws random numbers: a text that is differentiated once more calls it more than once."""
        if not self.repeatable:
            from srcgrad.frontend.calls.side_effects import check_repeatable
            from srcgrad.module import Module
            from srcgrad.pipeline import prepare_facts

            module, primal = Module(), given_of(self.function)[0]
            while hasattr(type(primal), "as_function"):
                primal = primal.primal
            source, namespace = module.source(primal)
            facts, tree = prepare_facts(source, namespace, "reverse", (), {}, module)
            check_repeatable(primal, tree, facts)
            self.repeatable.append(True)


KEPT = 1024  # functions that nothing has to hold: of modules, and what is no function of Python
_MET: WeakKeyDictionary[Function, LookedUp] = WeakKeyDictionary()  # of Python's functions
_OTHERS: OrderedDict[int, LookedUp] = OrderedDict()


def _look_up(function: Function) -> LookedUp:
    """What is kept of a function; of a function of Python only as long as somebody else holds it."""
    if type(function) is FunctionType:
        known = _MET.get(function)
        if known is None or not _is_twin(known.function, function):
            known = LookedUp(_twin(function), *_names(function))
            with _LOCK:
                _MET[function] = known
        return known
    with _LOCK:
        known = _OTHERS.get(id(function))
    if known is None:
        known = LookedUp(function, *_names(function))
        with _LOCK:
            _OTHERS[id(function)] = known
            while len(_OTHERS) > KEPT:
                _OTHERS.popitem(last=False)
    return known


def _twin(function: FunctionType) -> Function:
    """A function that reads the same variables: what is kept must not hold the function itself by which it is kept."""
    if rule_of(function) is not None or is_ruled(function):
        return function  # the table of rules holds it
    code, around = function.__code__, function.__globals__
    twin = FunctionType(code, around, function.__name__, function.__defaults__, function.__closure__)
    twin.__kwdefaults__, twin.__qualname__, twin.__module__ = (
        function.__kwdefaults__,
        function.__qualname__,
        function.__module__,
    )
    twin.__annotations__ = function.__annotations__
    twin.__dict__.update(function.__dict__)
    return twin


def _is_twin(twin: Function, function: FunctionType) -> bool:
    """Whether a function is still what it was when its twin was made."""
    same = twin.__code__ is function.__code__ and twin.__defaults__ is function.__defaults__
    return bool(same and twin.__kwdefaults__ is function.__kwdefaults__)


def _names(function: Function) -> tuple[tuple[str, ...], frozenset[str]]:
    """The parameters of a function, those with a place and all; TypeError (E5003) for one that does not tell them."""
    templates.load_for(home(function) or "")
    try:
        _, bound, words, signature = given_of(function)
    except ValueError:
        raise TypeError(
            f"E5003 no rule and no source: {function!r} has no rule and no Python source; "
            "call it in a function of your own, and write a rule for that"
        ) from None
    kinds = inspect.Parameter
    open_ended = (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
    given = [p for p in list(signature.parameters.values())[len(bound) :] if p.name not in words]
    positional = tuple(p.name for p in given if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD))
    return positional, frozenset(p.name for p in given if p.kind not in open_ended)


@record
class CallLookedUp:
    """A call of a function that only a run knows: the function in whose text it is, and all that this is given."""

    known: LookedUp
    args: tuple[object, ...]
    kwargs: dict[str, object]
    wrt: Sequence[str]
    floating: tuple[str, ...]  # those of `wrt` through which a derivative flows: an integer is a constant
    values: Sequence[object]  # of `wrt`


def is_floating(value: object) -> bool:
    """Whether an argument of such a call is a real number or an array of them; TypeError (E5031) if nothing like it."""
    cls = type(value)
    if cls is float or cls is np.float64:
        return True
    if cls is np.ndarray or issubclass(cls, DeviceArray) or isinstance(value, int | float | np.generic):
        kind = np.dtype(getattr(value, "dtype", cls)).kind
        if kind in "fbiu":
            return bool(kind == "f")
    found = f"a {cls.__name__}" if not isinstance(value, np.ndarray | DeviceArray) else f"an array of {value.dtype}"
    raise TypeError(
        f"E5031 it takes or gives {found}, not real numbers or an array of them; "
        "call it by its name, or let it take and give numbers and arrays one by one"
    )


def _called(
    function: object, wrt: Sequence[int | str] | None, args: tuple[object, ...], kwargs: dict[str, object]
) -> CallLookedUp:
    """What a call calls in the end, behind methods, partial applications and objects, and what it is given."""
    asked: Sequence[int | str] = (
        wrt if wrt is not None else [*range(len(args)), *kwargs] if kwargs else range(len(args))
    )
    values = args if type(asked) is range else [args[one] if isinstance(one, int) else kwargs[one] for one in asked]
    first = 0
    while type(function) is not FunctionType:
        if isinstance(function, MethodType):
            args, first = (function.__self__, *args), first + 1
            function = function.__func__
        elif isinstance(function, functools.partial):
            args, kwargs = (*function.args, *args), {**function.keywords, **kwargs}
            first += len(function.args)
            function = function.func
        elif isinstance(function, AdjointLookedUp | TangentLookedUp):
            return function.as_function(args, kwargs, asked, values)
        elif not _is_ours(function) and (call := _call_of_class(type(function))) is not None:
            function, args, first = call, (function, *args), first + 1
        else:
            break
    if isinstance(function, type):
        raise TypeError(f"E5031 only a run knows that the class {function.__qualname__} is called; call it by its name")
    known = _look_up(cast(Function, function))
    names: Sequence[str] = known.names[first : first + len(asked)]
    if type(asked) is not range:
        names = [known.named(first, one) for one in asked]
    if len(names) < len(asked) or "" in names:
        spelled = getattr(function, "__qualname__", function)
        raise TypeError(f"E5031 only a run knows that `{spelled}` takes any arguments, as `*args`; call it by its name")
    return call_of(known, args, kwargs, names, values)


def call_of(
    known: LookedUp, args: tuple[object, ...], kwargs: dict[str, object], names: Sequence[str], values: Sequence[object]
) -> CallLookedUp:
    """The call, and which of the arguments are floating."""
    floating = tuple([name for name, value in zip(names, values, strict=True) if is_floating(value)])
    return CallLookedUp(known, args, kwargs, names, floating, values)


def _call_of_class(cls: type) -> FunctionType | None:
    """The `__call__` of a class, if that is a function of Python."""
    for base in cls.__mro__:
        if "__call__" in base.__dict__:
            found = base.__dict__["__call__"]
            return found if type(found) is FunctionType else None
    return None


def _is_ours(function: object) -> bool:
    """Whether an object is a derivative."""
    return type(function).__module__.startswith("srcgrad.")


@record(frozen=True)
class _Held:
    """What a value calls that holds others: the function, what it is given first, and which of that is differentiated.

    `slots` are the positions and names of a partial application, the names of an object's attributes.
    """

    function: Function
    args: tuple[object, ...]
    kwargs: dict[str, object]
    slots: tuple[int | str, ...]


def _held(value: Function, words: Container[str]) -> _Held:
    """How a value is called; E5031 where it holds what may be differentiated and is neither number nor array."""
    if not isinstance(value, functools.partial):
        return _Held(value, (), {}, ())
    held: dict[int | str, object] = dict(enumerate(value.args))
    held |= {key: one for key, one in value.keywords.items() if key not in words}
    return _Held(value.func, value.args, value.keywords, tuple(slot for slot, one in held.items() if _flows(one)))


def _flows(held: object) -> bool:
    """Whether what a function holds carries a derivative; TypeError (E5031) where no number or constant is held."""
    if held is None or callable(held) or isinstance(held, str | bytes | slice | range | np.dtype | ModuleType):
        if isinstance(held, closure) and not held.args and not held.keywords:
            return False
        if isinstance(held, functools.partial | MethodType) or not (_is_plain(held) or _is_ours(held)):
            raise TypeError(
                "E5031 a function that only a run knows holds another one that may hold what is differentiated; "
                "define it with `def` or `lambda` where it is used"
            )
        return False
    return is_floating(held)


def _is_plain(held: object) -> bool:
    """Whether a value is no object that holds others."""
    return (
        not callable(held)
        or isinstance(held, FunctionType | BuiltinFunctionType | np.ufunc | type)
        or (type(held).__module__.partition(".")[0] in ("numpy", "scipy"))
    )


Wrts = tuple[int | str, ...]


@record(frozen=True)
class _Call:
    """`call(f, a)`, whose function holds what is differentiated, as the call of what f calls with all that it is given.

    For each argument that is differentiated, `groups` has the places that it has there, and its slots where it is the
    function or a tangent of it. `adjoints` tells the same of a value that is adjoints, with what stands in the places.
    """

    function: Function
    args: tuple[object, ...]
    kwargs: dict[str, object]
    groups: tuple[tuple[Wrts, Wrts | None], ...]
    adjoints: tuple[tuple[Wrts | None, tuple[object, ...]], ...] | None = None

    @property
    def wrt(self) -> Wrts:
        """With respect to which of all arguments the derivative is taken."""
        return tuple(place for places, _ in self.groups for place in places)

    def value(self, found: object) -> object:
        """The value, or a tangent of it, as who calls knows it."""
        if self.adjoints is None:
            return found
        return _joined([(len(held), slots) for slots, held in self.adjoints], found)

    def seed(self, given: object) -> object:
        """The seed for all values."""
        if self.adjoints is None:
            return given
        parts = given if len(self.adjoints) > 1 else (given,)
        return _alone(_spread(self.adjoints, cast(Sequence[object], parts)))

    def adjoint(self, found: object) -> object:
        """The adjoints as who calls knows them."""
        return _joined([(len(places), slots) for places, slots in self.groups], found)

    def tangents(self, given: Sequence[object]) -> tuple[object, ...]:
        """The tangents of all."""
        held = [
            (slots, tuple(self.args[one] if isinstance(one, int) else self.kwargs[one] for one in places))
            for places, slots in self.groups
        ]
        return _spread(held, given)


def _spread(held: Sequence[tuple[Wrts | None, tuple[object, ...]]], given: Sequence[object]) -> tuple[object, ...]:
    """What stands in the slots of each that is given, one after the other."""
    made: list[object] = []
    for (slots, values), one in zip(held, given, strict=True):
        made += [one] if slots is None else [of_slot(one, s, v) for s, v in zip(slots, values, strict=True)]
    return tuple(made)


def _joined(groups: Sequence[tuple[int, Wrts | None]], found: object) -> object:
    """What was found for all places, put together in slots where it belongs to one value."""
    count = sum(number for number, _ in groups)
    parts = iter((found,) if count == 1 else cast(tuple[object, ...], found))
    made = [next(parts) if slots is None else Slots((slot, next(parts)) for slot in slots) for _, slots in groups]
    return _alone(tuple(made))


def _alone(parts: tuple[object, ...]) -> object:
    return parts[0] if len(parts) == 1 else parts


def _opened(function: object, wrt: Wrts | None, args: tuple[object, ...], kwargs: dict[str, object]) -> _Call:
    """The call `call(f, ...)` by what f calls; the same of an adjoint or a tangent of it."""
    asked = (*range(len(args)), *kwargs) if wrt is None else wrt
    before = 1 if isinstance(function, AdjointLookedUp) else len(getattr(function, "wrt", ()))
    held = _held(cast(Function, args[before]), kwargs)
    shift = len(held.args) - 1

    def group(place: int | str, before: int = before, more: int = 0) -> tuple[Wrts, Wrts | None]:
        """The places of an argument behind `before` others, which have become `more` than they were."""
        if place == before:
            return tuple(one + before + more if isinstance(one, int) else one for one in held.slots), held.slots
        if isinstance(place, str) or place < before:
            return (place,), None
        return (place + more + shift,), None

    given, words = (*held.args, *args[before + 1 :]), {**held.kwargs, **kwargs}
    if function is call_held:
        return _Call(held.function, given, words, tuple(map(group, asked)))
    assert isinstance(function, AdjointLookedUp | TangentLookedUp), "nothing else calls `call`"
    inner = [group(place, 0) for place in function.wrt]
    flat = tuple(place for places, _ in inner for place in places)
    values = [tuple(given[one] if isinstance(one, int) else words[one] for one in places) for places, _ in inner]
    parts = [(slots, one) for (_, slots), one in zip(inner, values, strict=True)]
    if isinstance(function, AdjointLookedUp):
        outer = AdjointLookedUp(held.function, flat)
        return _Call(outer, (args[0], *given), words, tuple(map(group, asked)), tuple(parts))
    tangents, more = _spread(parts, args[:before]), len(flat) - before
    starts = [sum(len(places) for places, _ in inner[:k]) for k in range(before)]
    groups = [
        (tuple(range(starts[one], starts[one] + len(inner[one][0]))), inner[one][1])
        if isinstance(one, int) and one < before
        else group(one, before, more)
        for one in asked
    ]
    return _Call(TangentLookedUp(held.function, flat), (*tangents, *given), words, tuple(groups))


def _is_call(function: object) -> bool:
    """Whether a function is `call`, or an adjoint or a tangent of it."""
    while isinstance(function, AdjointLookedUp | TangentLookedUp):
        function = function.function
    return function is call_held


def _makes(function: object) -> bool:
    """Whether a function makes one that holds what it is given."""
    return function is functools.partial or function is closure


@record(frozen=True)
class _Made:
    """`partial(f, a, k=b)`, a function that holds what is differentiated: its cotangent has a slot for each."""

    wrt: tuple[int | str, ...]
    values: tuple[object, ...]

    @classmethod
    def of(cls, wrt: tuple[int | str, ...] | None, args: tuple[object, ...], kwargs: dict[str, object]) -> _Made:
        """The making, of which the first argument is the function."""
        asked = (*range(len(args)), *kwargs) if wrt is None else wrt
        if 0 in asked:
            raise TypeError(
                "E5031 a partial application of a function that holds what is differentiated; give all at once"
            )
        return cls(asked, tuple(args[one] if isinstance(one, int) else kwargs[one] for one in asked))

    @property
    def slots(self) -> list[int | str]:
        """The slots of what is differentiated."""
        return [one - 1 if isinstance(one, int) else one for one in self.wrt]

    def parts(self, bar: object) -> object:
        """The adjoints of what is held, from that of the function."""
        found = tuple(of_slot(bar, slot, one) for slot, one in zip(self.slots, self.values, strict=True))
        return found[0] if len(found) == 1 else found

    def joined(self, parts: Sequence[object]) -> Slots:
        """The tangent of the function."""
        return Slots(zip(self.slots, parts, strict=True))


def _linear(
    function: AdjointLookedUp | TangentLookedUp, wrt: Wrts | None, args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[object, Function]:
    """The value and the pullback of an adjoint or a tangent of a partial application."""
    asked = (*range(len(args)), *kwargs) if wrt is None else wrt
    before = 1 if isinstance(function, AdjointLookedUp) else len(function.wrt)
    made = _Made.of(function.wrt, args[before:], kwargs)

    def back(seed: object) -> object:
        if isinstance(function, AdjointLookedUp):
            firsts: Sequence[object] = [made.joined(seed if len(made.wrt) > 1 else (seed,))]  # type: ignore[arg-type]
        else:
            firsts = [of_slot(seed, slot, one) for slot, one in zip(made.slots, made.values, strict=True)]
        rest = {one: _constant(args[one] if isinstance(one, int) else kwargs[one]) for one in asked}
        return _alone(tuple(firsts[one] if isinstance(one, int) and one < before else rest[one] for one in asked))

    return function(*args, **kwargs), back


def _along(
    function: AdjointLookedUp | TangentLookedUp,
    tangents: tuple[object, ...],
    wrt: Wrts | None,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> tuple[object, object]:
    """The value and the tangent of an adjoint or a tangent of a partial application."""
    asked = (*range(len(args)), *kwargs) if wrt is None else wrt
    before = 1 if isinstance(function, AdjointLookedUp) else len(function.wrt)
    made = _Made.of(function.wrt, args[before:], kwargs)
    known = dict(zip(asked, tangents, strict=True))
    if isinstance(function, AdjointLookedUp):
        return made.parts(args[0]), made.parts(known.get(0))
    return made.joined(args[:before]), Slots((slot, known[k]) for k, slot in enumerate(made.slots) if k in known)


def _begun(call: CallLookedUp, mode: str) -> tuple[AnyDerivative, ExecutedText, Sequence[object]]:
    """The derivative of what is called, its text and its arguments in order; E5032 if it writes into one of them."""
    derivative = call.known.derivative(mode, call.floating)
    values = derivative.ordered_arguments(call.args, call.kwargs)
    made = derivative.text_of_last_call(values)
    if made is None:
        try:
            made, _ = derivative.ready_text(values)
        except DifferentiationError as error:
            if error.place is None or not error.place.outside().library:
                raise
            raise error.outside_of_libraries(running_place()) from error
        if made.written:
            given = dict(zip(derivative.signature.parameters, values, strict=True))
            _check_unwritten(derivative.primal.__name__, made.written, given)
    return derivative, made, values


def _check_unwritten(called: str, written: dict[str, Place], values: dict[str, object]) -> None:
    """E5032 for a function that writes into an array that it is given; `s += x` of a number binds it anew."""
    for name, place in written.items():
        if not isinstance(values.get(name), int | float | np.generic):
            raise DifferentiationError(
                "E5032",
                f"`{called}` writes into `{name}`",
                "write into a copy, or call the function by its name",
                place,
            )


def _shape(value: object) -> tuple[int, ...]:
    found: tuple[int, ...] = getattr(value, "shape", ())  # a number of Python has none
    return found


def _constant(value: object) -> object:
    return np.zeros(_shape(value)) if isinstance(value, np.ndarray | DeviceArray) else 0.0


def pullback_looked_up(function: Function, wrt: tuple[int | str, ...] | None) -> Function:
    """What `srcgrad.runtime.pullback_of` gives."""

    def pulled(*args: object, **kwargs: object) -> tuple[object, Function]:
        if _makes(function):
            return function(*args, **kwargs), _Made.of(wrt, args, kwargs).parts
        if isinstance(function, AdjointLookedUp | TangentLookedUp) and _makes(function.function):
            return _linear(function, wrt, args, kwargs)
        if _is_call(function):
            opened = _opened(function, wrt, args, kwargs)
            y, back = pullback_looked_up(opened.function, opened.wrt)(*opened.args, **opened.kwargs)
            return opened.value(y), lambda seed: opened.adjoint(back(opened.seed(seed)))
        call = _called(function, wrt, args, kwargs)
        if not call.floating:
            return function(*args, **kwargs), _constant_pullback(list(map(_constant, call.values)))
        derivative, made, values = _begun(call, "vjp")
        y, back = run(made.function, values, derivative.named, None, derivative.primal)
        _check_value(y)
        if len(call.floating) < len(call.wrt):
            back = _padded(back, call.wrt, call.floating, list(map(_constant, call.values)))
        return y, _checked(back, y)

    return pulled


def _constant_pullback(zeros: list[object]) -> Function:
    """The pullback of what no derivative flows through."""
    return lambda seed: zeros[0] if len(zeros) == 1 else tuple(zeros)


def _padded(back: Function, wrt: Sequence[str], floating: Sequence[str], zeros: list[object]) -> Function:
    """The pullback with zeros for arguments through which no derivative flows."""

    def padded(seed: object) -> object:
        found = back(seed)
        given = dict(zip(floating, found if len(floating) > 1 else (found,), strict=True))
        return tuple(given.get(name, zero) for name, zero in zip(wrt, zeros, strict=True))

    return padded


def _checked(back: Function, y: object) -> Function:
    """The pullback, for seeds of the shape of the value; it holds nothing but what the forward half has kept."""
    if type(y) is tuple:
        return _checked_parts(back, [_shape(part) for part in y])
    shape = _shape(y)

    def checked(seed: object) -> object:
        if type(seed) is tuple:
            seed = np.array(seed)  # of an array that was unpacked
        if _shape(seed) != shape:
            raise TypeError(f"E5014 the seed has shape {_shape(seed)}, the value {shape}; report this as a bug")
        return back(seed)

    return checked


def _checked_parts(back: Function, shapes: list[tuple[int, ...]]) -> Function:
    def checked(seed: object) -> object:
        if type(seed) is not tuple:
            raise TypeError(
                "E5031 a function that only a run knows gives a tuple, and its parts are read one by one; "
                "unpack it where the function is called: `a, b = f(x)`"
            )
        if [_shape(part) for part in seed] != shapes:
            raise TypeError("E5014 the parts of the seed have other shapes than the value; report this as a bug")
        return back(seed)

    return checked


def _check_value(y: object) -> None:
    """E5031 for a value that is neither a number or an array, nor a tuple of such."""
    for part in y if type(y) is tuple else (y,):
        is_floating(part)


def pushforward_looked_up(
    function: Function, tangents: tuple[object, ...], wrt: tuple[int | str, ...] | None
) -> Function:
    """What `srcgrad.runtime.pushforward_of` gives."""

    def pushed(*args: object, **kwargs: object) -> tuple[object, object]:
        if _makes(function):
            return function(*args, **kwargs), _Made.of(wrt, args, kwargs).joined(tangents)
        if isinstance(function, AdjointLookedUp | TangentLookedUp) and _makes(function.function):
            return _along(function, tangents, wrt, args, kwargs)
        if _is_call(function):
            opened = _opened(function, wrt, args, kwargs)
            found = pushforward_looked_up(opened.function, opened.tangents(tangents), opened.wrt)
            y, y_dot = found(*opened.args, **opened.kwargs)
            return opened.value(y), opened.value(y_dot)
        call = _called(function, wrt, args, kwargs)
        given = dict(zip(call.wrt, tangents, strict=True))
        if not call.floating:
            y = function(*args, **kwargs)
            return y, tuple(map(_constant, y)) if type(y) is tuple else _constant(y)
        derivative, made, values = _begun(call, "forward")
        along = dict(zip(made.seeds, [given[name] for name in derivative.wrt], strict=True))
        y, y_dot = run(functools.partial(made.function, **along), values, derivative.named, None, derivative.primal)
        _check_value(y)
        return y, y_dot

    return pushed


@record(frozen=True)
class AdjointLookedUp:
    """What `srcgrad.runtime.adjoint_of` gives: a function of a seed and of the arguments of another function."""

    function: Function
    wrt: tuple[int | str, ...]

    def __call__(self, seed: object, *args: object, **kwargs: object) -> object:
        if _is_call(self.function):
            opened = _opened(self, (), (seed, *args), kwargs)
            return opened.value(opened.function(*opened.args, **opened.kwargs))
        if _makes(self.function):
            return _Made.of(self.wrt, args, kwargs).parts(seed)
        _called(self.function, self.wrt, args, kwargs).known.check_repeatable()
        _, back = pullback_looked_up(self.function, self.wrt)(*args, **kwargs)
        return back(seed)

    def as_function(
        self, args: tuple[object, ...], kwargs: dict[str, object], asked: Sequence[int | str], values: Sequence[object]
    ) -> CallLookedUp:
        """The call of its text, which has a derivative as other functions have."""
        return _call_of_text(self.function, self.wrt, "pull", 1, args, kwargs, asked, values)


@record(frozen=True)
class TangentLookedUp:
    """What `srcgrad.runtime.tangent_of` gives: a function of tangents and of the arguments of another function."""

    function: Function
    wrt: tuple[int | str, ...]

    def __call__(self, *args: object, **kwargs: object) -> object:
        count = len(self.wrt)
        if _is_call(self.function):
            opened = _opened(self, (), args, kwargs)
            return opened.function(*opened.args, **opened.kwargs)
        if _makes(self.function):
            return _Made.of(self.wrt, args[count:], kwargs).joined(args[:count])
        _called(self.function, self.wrt, args[count:], kwargs).known.check_repeatable()
        return pushforward_looked_up(self.function, args[:count], self.wrt)(*args[count:], **kwargs)[1]

    def as_function(
        self, args: tuple[object, ...], kwargs: dict[str, object], asked: Sequence[int | str], values: Sequence[object]
    ) -> CallLookedUp:
        """The call of its text, which has a derivative as other functions have."""
        return _call_of_text(self.function, self.wrt, "push", len(self.wrt), args, kwargs, asked, values)


def _call_of_text(
    function: Function,
    wrt: tuple[int | str, ...],
    mode: str,
    count: int,
    args: tuple[object, ...],
    kwargs: dict[str, object],
    asked: Sequence[int | str],
    values: Sequence[object],
) -> CallLookedUp:
    """The call of the text of a derivative, of which the first `count` arguments are seeds or tangents."""
    inner = _called(function, wrt, args[count:], kwargs)
    inner.known.check_repeatable()
    derivative = inner.known.derivative(mode, tuple(inner.wrt))
    given, kinds = derivative.arguments(inner.args, inner.kwargs)
    text = derivative.as_function(kinds)
    seeds = dict(zip(derivative.executed_text(kinds, inline=True).seeds, args[:count], strict=True))
    positional = len(given) - len(derivative.named)
    words = dict(zip(derivative.named, given[positional:], strict=True))
    by_place = dict(zip(wrt, inner.wrt, strict=True))
    firsts = list(seeds)
    names = [
        firsts[one] if type(one) is int and one < count else by_place[one - count if type(one) is int else one]
        for one in asked
    ]
    return call_of(_look_up(text), tuple(given[:positional]), words | seeds, names, values)
