"""The callable that a derivative is: made when it is first called, made anew when what it came from changes.

Which text runs is found by the looks of the arguments. The third call with arguments that look alike, and those behind
it, run two functions that are written for such arguments: `alike`, which tells that they are, and `finished`, which
tells that gradients are as users get them. Gradients may be added to arrays of the caller: micro-batches add up to the
whole batch.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast, overload

import numpy as np

import srcgrad.backend.targets as targets
from srcgrad.core.errors import DifferentiationError, no_parameter
from srcgrad.core.facts import ALONE, UNKNOWN, Kind, LeadingAxes
from srcgrad.core.files import collection_paused
from srcgrad.core.identity import Function, record
from srcgrad.core.rules import generation
from srcgrad.core.source_text import for_users
from srcgrad.core.target import DEFAULT, DeviceArray, Target
from srcgrad.frontend.functions_with_rules import given_of, in_order, takes_several, with_options
from srcgrad.interface.api.arguments import (
    OWN,
    check_input,
    compiled_kind,
    declared_of,
    device_in,
    kind_of,
    like_output,
    mirrors,
    on_device,
    on_host,
    own_array,
    refine_kinds,
)
from srcgrad.interface.api.execute import (
    PULLS,
    ExecutedText,
    as_named,
    derivative_in_module,
    execute_derivative,
    lines_of,
    module_of,
    rebuild_object,
    resident_on,
    run,
    tangent_like,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcgrad.derive.recording import SavedValue
    from srcgrad.derive.row_blocks import Blocks
    from srcgrad.interface.show.side_by_side import Report, Sizes
    from srcgrad.opencl.devices.device import Device

Pair = tuple[str, Any, Any]  # where it is, the accumulator, what is added to it


def adding_derivative(derivative: AnyDerivative, accumulators: object) -> Function:
    """The derivative as a function that adds its gradient to `accumulators`; see `Derivative.into`."""
    if derivative.mode not in ("reverse", "value-and-grad"):
        raise DifferentiationError(
            "E5024", f"a derivative of mode {derivative.mode} has no gradient to add", "use grad or value_and_grad"
        )

    return AddingDerivative(derivative, accumulators)


class AddingDerivative:
    """A derivative that adds what it gives to accumulators; in a copy or a pickle, to copies of them."""

    def __init__(self, derivative: AnyDerivative, accumulators: object) -> None:
        self.derivative, self.accumulators = derivative, accumulators
        self.__name__ = f"{derivative.__name__}_into"
        self.__doc__ = f"Add to the accumulators the result of {derivative!r}."

    def __call__(self, *args: object, **kwargs: object) -> Any:
        derivative, accumulators = self.derivative, self.accumulators
        found = derivative(*args, **kwargs)
        whole = derivative.mode == "reverse" and not derivative.auxiliary
        place = 1 if derivative.mode == "value-and-grad" else 0
        gradient = found if whole else found[place]
        for _, accumulator, part in list(pairs(accumulators, gradient)):  # all are looked at before one is changed
            _add(accumulator, part)
        if whole:
            return accumulators
        return (found[0], accumulators) if place else (accumulators, found[1])

    @property
    def __signature__(self) -> inspect.Signature:
        return self.derivative.__signature__

    @property
    def source(self) -> str:
        """The text of the gradient."""
        return self.derivative.source


def pairs(accumulator: Any, gradient: object, name: str = "the accumulator") -> Iterator[Pair]:
    """Each array that is added to, with what is added; E5024 where the two do not match.

    >>> import numpy as np
    >>> [(name, part) for name, _, part in pairs({"w": np.zeros(2)}, {"w": np.ones(2)}, "g")]
    [("g['w']", array([1., 1.]))]
    """
    if gradient is None:
        return
    if isinstance(gradient, dict):
        same = isinstance(accumulator, dict) and accumulator.keys() == gradient.keys()
        keys = [(repr(key), key) for key in gradient]
        _check(same, name, f"a dict with the keys {', '.join(map(repr, gradient))}", accumulator)
    elif isinstance(gradient, tuple | list):
        kind = "list" if isinstance(gradient, list) else "tuple"
        same = isinstance(accumulator, tuple | list) and len(accumulator) == len(gradient)
        keys = [(str(key), key) for key in range(len(gradient))]
        _check(same, name, f"a {kind} of {len(gradient)}", accumulator)
    elif dataclasses.is_dataclass(gradient) and not isinstance(gradient, type):
        _check(type(accumulator) is type(gradient), name, f"a {type(gradient).__name__}", accumulator)
        for field in dataclasses.fields(gradient):
            part = getattr(accumulator, field.name)
            yield from pairs(part, getattr(gradient, field.name), f"{name}.{field.name}")
        return
    else:
        _check_array(accumulator, gradient, name)
        yield name, accumulator, gradient
        return
    for shown, key in keys:
        yield from pairs(accumulator[key], gradient[key], f"{name}[{shown}]")


def _check(fits: bool, name: str, wanted: str, accumulator: object) -> None:
    if not fits:
        described = f"of type {type(accumulator).__name__}"
        if isinstance(accumulator, dict | list | tuple):
            described += f" with {len(accumulator)} parts"
        raise DifferentiationError("E5024", f"{name} is {described}, the gradient is {wanted}", "give it that form")


def _check_array(accumulator: object, gradient: Any, name: str) -> None:
    """An array of the gradient's shape, of its dtype or one that holds all its values, which can be written."""
    dtype = gradient.dtype if hasattr(gradient, "dtype") else np.dtype(float)
    if not isinstance(accumulator, np.ndarray | DeviceArray):
        raise DifferentiationError(
            "E5024",
            f"{name} is of type {type(accumulator).__name__}, which nothing can be added to in place",
            f"give an array: np.zeros({np.shape(gradient)!r})",
        )
    if tuple(accumulator.shape) != tuple(np.shape(gradient)):
        raise DifferentiationError(
            "E5024",
            f"{name} has shape {tuple(accumulator.shape)}, the gradient has shape {tuple(np.shape(gradient))}",
            "make it with np.zeros_like of the argument",
        )
    if accumulator.dtype.kind != "f" or not np.can_cast(dtype, accumulator.dtype, "safe"):
        raise DifferentiationError(
            "E5024",
            f"{name} is of dtype {accumulator.dtype}, the gradient of dtype {dtype}",
            f"make it an array of {dtype}, or of a wider dtype",
        )
    if isinstance(accumulator, np.ndarray) and not accumulator.flags.writeable:
        raise DifferentiationError("E5024", f"{name} is read-only", "give a copy of it")


def _add(accumulator: Any, part: object) -> None:
    if isinstance(accumulator, np.ndarray):
        np.add(accumulator, on_host(part), out=accumulator)
    else:
        accumulator[...] = accumulator + part


Wrt = int | str | Sequence[int | str]


def locals_of(function: object) -> tuple[str, ...]:
    """The local variables of a function, its parameters apart."""
    code = getattr(function, "__code__", None)
    return () if code is None else (*code.co_varnames, *code.co_cellvars)


def names_of(
    wrt: Wrt,
    signature: inspect.Signature,
    skipped: int = 0,
    inner: tuple[str, ...] = (),
    words: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """Names that `wrt` means: positions and names of parameters, names in `inner`; E5009 if there is none.

    Positions count the parameters that a `functools.partial` has left: the first ones `skipped`, those in `words` too.
    """
    names = list(signature.parameters)[skipped:]
    free = [name for name in names if name not in words]
    found: list[str] = []
    for item in wrt if isinstance(wrt, tuple | list) else (wrt,):
        if isinstance(item, int) and not isinstance(item, bool) and -len(free) <= item < len(free):
            found.append(free[item])
        elif isinstance(item, str) and (item in names or (item in inner and item not in signature.parameters)):
            found.append(item)
        else:
            raise no_parameter(item, names)
    if len(set(found)) != len(found) or not found:
        raise DifferentiationError("E5009", f"wrt={wrt!r} names a parameter twice, or none", "name each one once")
    return tuple(found)


def remaining_signature(
    signature: inspect.Signature, bound: tuple[object, ...], words: dict[str, object]
) -> inspect.Signature:
    """The signature of a function of which arguments are given already, as `functools.partial` gives them.

    >>> import inspect
    >>> remaining_signature(inspect.signature(lambda x, y, k: x), (1.0,), {"k": 2.0})
    <Signature (y, *, k=2.0)>
    """
    parameters = list(signature.parameters.values())[len(bound) :]
    made, by_name = [], False
    for one in parameters:
        by_name = by_name or (one.name in words and one.kind is not one.KEYWORD_ONLY)
        default = words.get(one.name, one.default)
        made.append(one.replace(kind=one.KEYWORD_ONLY if by_name else one.kind, default=default))
    return signature.replace(parameters=made)


def precision(dtype: object) -> str:
    """The name of a dtype to compute in; E5017 for any but float16 and float32."""
    name = "" if dtype is None else getattr(dtype, "__name__", None) or str(dtype)
    if name not in ("", "float16", "float32"):
        raise DifferentiationError(
            "E5017", f"autocast={dtype!r} is no lower precision", "give np.float16 or np.float32, or leave it out"
        )
    return name


_NUMBERS = frozenset(np.dtype(code).type for code in "?bBhHiIlLqQefdgFDG")
_BUILT_IN = (np.ndarray, np.generic, list, tuple, dict, int, float, complex, str, type, ModuleType, DeviceArray)
_PLAIN = frozenset((float, int, bool, complex, str, type(None), *_NUMBERS))


@record(frozen=True)
class QuickText:
    """A text for arguments of which a quick look tells that it is theirs, and what becomes of its result."""

    made: ExecutedText
    kinds: dict[str, Kind]
    alike: Callable[..., bool]
    finished: Function


@record
class ReadyText:
    """A text, the kinds of arguments that it was made for, and the generation of the rules it was made with."""

    made: ExecutedText
    kinds: dict[str, Kind]
    generation: int
    quick: QuickText | None = None
    asked: bool = False  # whether a quick look was asked for, which not all arguments have


def looks(values: Iterable[Any], *, sized: bool = False) -> tuple[Any, ...] | None:
    """Types, dtypes and ranks: arguments in which they are equal are of equal kinds. None if only more would tell.

    With `sized`, shapes instead of ranks.

    >>> looks((1.0, np.ones((2, 3)), [np.ones(2)]))
    (<class 'float'>, dtype('float64'), 2, (<class 'list'>, (dtype('float64'), 1)))
    >>> looks([np.sin]) is None
    True
    """
    found: list[Any] = []
    for value in values:
        cls = type(value)
        if cls is np.ndarray:
            found += (value.dtype, value.shape if sized else value.ndim)
        elif cls in _PLAIN:
            found.append(cls)
        elif cls is tuple or cls is list or cls is dict:
            inner = looks(value.values() if cls is dict else value, sized=sized)
            if inner is None:
                return None
            found.append((cls, inner, *value) if cls is dict else (cls, inner))
        else:
            inner = _looks_of_object(value, 0)
            if inner is None:
                return None
            found.append(inner)
    return tuple(found)


_MANY = 256  # kinds and looks that are kept: of those that hold functions there may be any number
_HEAP_TYPE = 1 << 9  # a class made by a `class` statement
_HELD = (FunctionType, np.ufunc, type(np.sum))  # of these the kind tells which one it is


def _looks_of_object(value: object, depth: int) -> tuple[object, ...] | None:
    """The looks of an object of a class written in Python, whose kind tells of its attributes; None for any other."""
    cls = type(value)
    if not cls.__flags__ & _HEAP_TYPE or depth > 2 or not hasattr(value, "__dict__") or isinstance(value, _BUILT_IN):
        return None
    found: list[object] = [cls]
    for name, held in value.__dict__.items():
        own = type(held)
        if own is np.ndarray and held.dtype.kind != "O":
            found += (name, held.dtype, held.ndim)
        elif own in _PLAIN:
            found += (name, own)
        elif own in _HELD:
            found += (name, held)
        else:
            inner = _looks_of_object(held, depth + 1)
            if inner is None:
                return None
            found += (name, inner)
    return tuple(found)


def quick_text(
    known: ReadyText, values: Sequence[Any], places: Sequence[int | None], form: str, general: Function
) -> QuickText | None:
    """The same in a quick way, for arguments that look like `values`; None if there are containers among them.

    `places` are those of the arguments that have gradients, and `form` is how the text returns these: `y, {}` with the
    value, `({},)` as a tuple; empty if `general` alone knows what to do with a result.
    """
    ranks = tuple(value.ndim if type(value) is np.ndarray else None for value in values)
    if not all(rank is not None or type(value) in _PLAIN for rank, value in zip(ranks, values, strict=True)):
        return None
    known_places = tuple(place for place in places if place is not None)
    floats = all(ranks[place] is not None or type(values[place]) is float for place in known_places)
    scope: dict[str, Any] = {"generation": generation, "now": known.generation, "stale": known.made.stale}
    scope |= {"general": general, "owned": own_array, "numbers": (float, np.float64)}
    scope |= {f"c{k}": type(value) for k, value in enumerate(values)}
    scope |= {f"d{k}": value.dtype for k, value in enumerate(values) if ranks[k] is not None}
    exec(_code(ranks, known_places, form if floats and len(known_places) == len(places) else ""), scope)
    return QuickText(known.made, known.kinds, scope["alike"], scope["finished"])


@functools.lru_cache(maxsize=1024)
def _code(ranks: tuple[int | None, ...], places: tuple[int, ...], form: str) -> CodeType:
    """The two functions, compiled."""
    return compile(_text(ranks, places, form), "<srcgrad call>", "exec")


def _text(ranks: tuple[int | None, ...], places: tuple[int, ...], form: str) -> str:
    """The text of the two functions.

    >>> print(_text((1,), (0,), "y, {}"))
    def alike(v0):
        return type(v0) is c0 and v0.dtype is d0 and v0.ndim == 1 and generation() == now and not stale()
    def finished(found, v0):
        y, g0 = found
        if type(g0) is c0 and g0.dtype is d0 and g0.shape == v0.shape:
            if g0.flags.num & 1029 != 1029 or g0 is v0:
                g0 = owned(g0, v0)
            return y, g0
        return general(found, (v0,))
    """
    given = [f"v{k}" for k in range(len(ranks))]
    terms = [
        f"type(v{k}) is c{k}" + (f" and v{k}.dtype is d{k} and v{k}.ndim == {rank}" if rank is not None else "")
        for k, rank in enumerate(ranks)
    ]
    lines = [f"def alike({', '.join(given)}):"]
    lines.append(f"    return {' and '.join([*terms, 'generation() == now', 'not stale()'])}")
    lines.append(f"def finished({', '.join(['found', *given])}):")
    if form:
        gradients = [f"g{k}" for k in range(len(places))]
        arrays = [one for one, rank in zip(given, ranks, strict=True) if rank is not None]
        right, copies = [], []
        for gradient, place in zip(gradients, places, strict=True):
            if ranks[place] is None:
                right.append(f"type({gradient}) in numbers")
                copies.append(f"        {gradient} = float({gradient})")
            else:
                right.append(f"type({gradient}) is c{place}")
                right.append(f"{gradient}.dtype is d{place} and {gradient}.shape == v{place}.shape")
                shared = "".join(f" or {gradient} is {other}" for other in arrays)
                copies.append(f"        if {gradient}.flags.num & {OWN} != {OWN}{shared}:")
                copies.append(f"            {gradient} = owned({', '.join([gradient, *arrays])})")
                arrays.append(gradient)
        result = form.format(", ".join(gradients))
        lines += [f"    {result} = found", f"    if {' and '.join(right)}:", *copies, f"        return {result}"]
    lines.append(f"    return general(found, ({', '.join(given)},))")
    return "\n".join(lines)


P = ParamSpec("P")  # the parameters of a function
R = TypeVar("R")  # what it returns
X = TypeVar("X", bound="complex | NDArray[np.inexact[Any]]")  # its first argument, and the type of a gradient by that
Out = TypeVar("Out")  # what a derivative by it returns


class Derivative(Generic[P, R]):
    """A derivative of a function: call it like the function itself.

    `.source` is the text that runs: the text for arguments of any kind until it is called, then the text that the
    last call ran, which knows which of its arguments are numbers and the ranks of the others.
    """

    blocks: Blocks | None = None  # arguments whose rows are spread (srcgrad.interface.api.row_blocks)

    def __init__(
        self,
        function: Function,
        mode: str,
        wrt: Wrt,
        single: bool,
        target: str | Target = DEFAULT,
        *,
        auxiliary: bool = False,
        autocast: object = None,
        like: object = None,
        leading: LeadingAxes = ALONE,
    ) -> None:
        self.function, self.like = function, like
        self.leading = leading
        self.__name__: str
        self.single, self.auxiliary, self.autocast = single, auxiliary, precision(autocast)
        self.target = targets.target_named(target)
        self.mode = "pull" if mode == "vjp" and not self.target.closures else mode
        if like is not None and self.target.typed:
            raise DifferentiationError("E5019", "`like` is for texts of NumPy and OpenCL", "leave it out")
        self.primal, self.bound, self.words, self.signature = given_of(function)
        inner = locals_of(self.primal) if mode in ("reverse", "value-and-grad", "vjp") else ()
        self.wrt = names_of(wrt, self.signature, len(self.bound), inner, tuple(self.words))
        self.__name__ = f"{getattr(self.primal, '__name__', 'f')}_{mode}"
        parameters = self.signature.parameters
        by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
        self.named = tuple(name for name, one in parameters.items() if one.kind in by_name)
        self._places = [list(parameters).index(name) if name in parameters else None for name in self.wrt]
        self._bare = len(self.wrt) == 1 and (single or self.mode in PULLS)  # whether the text returns no tuple
        self._count = -1 if self.bound or self.words or takes_several(self.signature) else len(parameters)
        self.made: dict[Any, ExecutedText] = {}
        self._optional: dict[object, Derivative[P, R] | None] = {}
        given = "{}" if self._bare else "({},)"  # how the text returns gradients, where it does: see `quick_text`
        self._form = {"value-and-grad": f"y, {given}", "reverse": given * (not auxiliary), "elementwise": given}
        self._lock = threading.RLock()
        self._last: ExecutedText | None = None

    def again(self) -> Derivative[P, R]:
        """The same derivative for another who asks for it: it shares the texts, and knows of no last call."""
        other: Derivative[P, R] = object.__new__(type(self))
        vars(other).update(vars(self), _last=None)
        vars(other).pop("_kinds", None)
        return other

    @property
    def leading(self) -> LeadingAxes:
        """What is asked of the text beside its mode; texts that calls have found are found anew where it changes."""
        return self._leading

    @leading.setter
    def leading(self, asked: LeadingAxes) -> None:
        self._leading = asked
        self._ready: dict[object, ReadyText] = {}
        self._quick: QuickText | None = None

    def executed_text(self, kinds: dict[str, Kind], inline: bool = False, resident: bool = False) -> ExecutedText:
        """The text for arguments of these kinds, executed; made if it is not there or out of date.

        With `inline`, calls of functions with source are written out, so that the text can be
        differentiated again; with `resident`, its helpers take arrays in buffers of a device.
        """
        key = (generation(), inline, resident, self.leading, *kinds.items(), *(kind.dtype for kind in kinds.values()))
        made = self.made.get(key)
        if made is None or made.stale():
            if len(self.made) > _MANY:
                self.made.clear()
            with self._lock, collection_paused():
                made = self.made[key] = execute_derivative(self, kinds, inline)
                if resident:
                    from srcgrad.opencl.arrays.namespace import equip

                    equip(made.function.__globals__)
        if not inline:
            self._last, self._kinds = made, dict(kinds)
        return made

    def as_function(self, kinds: dict[str, Kind] | None = None) -> Function:
        """The derivative as a function with source, in which calls are written out: it can be differentiated."""
        text = self.executed_text(kinds or {}, inline=True)
        made: Any = text.function
        made.__srcgrad_derivative__, made.__srcgrad_stale__, made.__srcgrad_text__ = self, text.stale, text
        made.__srcgrad_real__ = tuple(p for p in self.signature.parameters if not (kinds or {}).get(p, UNKNOWN).complex)
        return cast(Function, made)

    def arguments(
        self, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[Sequence[object], dict[str, Kind]]:
        """All arguments in the order of the parameters, defaults filled in, and their kinds."""
        values = self.ordered_arguments(args, kwargs)
        return values, self.kinds(values)

    def ordered_arguments(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Sequence[object]:
        """All arguments in the order of the parameters, defaults filled in."""
        if not kwargs and len(args) == self._count:
            return args
        return in_order(self.signature, self.primal, (*self.bound, *args), {**self.words, **kwargs})

    def kinds(self, values: Sequence[object]) -> dict[str, Kind]:
        """The kinds of arguments; E5002 or E5017 for what cannot be differentiated."""
        seen_as = compiled_kind if self.target.typed else kind_of
        kinds = {name: seen_as(value) for name, value in zip(self.signature.parameters, values, strict=True)}
        for name, place in zip(self.wrt, self._places, strict=True):
            if place is not None:
                check_input(values[place], name, self.signature.parameters)
        return refine_kinds(kinds, self.declared_kinds, values, fixed=self.like is not None)

    def ready_text(self, values: Sequence[object]) -> tuple[ExecutedText, Device | None]:
        """The text for arguments, closely looked at where none before had their looks; the device on which some are."""
        alike, now = looks(values), generation()
        known = self._ready.get(alike)
        if known is not None and self.holds(known):
            if not known.asked and not self.named and not known.made.written:
                known.asked = True
                known.quick = quick_text(known, values, self._places, self._form.get(self.mode, ""), self.result)
            self._quick = known.quick
            return known.made.check_overlaps(values, self.signature), None
        kinds, device = self.kinds(values), device_in(values)
        made = self.executed_text(kinds, resident=device is not None and resident_on(device, values) is not None)
        if alike is not None:
            if len(self._ready) > _MANY:
                self._ready.clear()
            self._ready[alike] = ReadyText(made, kinds, now)
        return made.check_overlaps(values, self.signature), device

    def text_of_last_call(self, values: Sequence[object]) -> ExecutedText | None:
        """The text that the last call ran, if a quick look at arguments tells that it is theirs."""
        known = self._quick
        return known.made if known is not None and known.alike(*values) else None

    def holds(self, known: ReadyText) -> bool:
        """Whether a text that has run is still that of the function; if so, it is the one that runs now."""
        if known.generation != generation() or known.made.stale():
            return False
        self._last, self._kinds = known.made, known.kinds
        return True

    @functools.cached_property
    def declared_kinds(self) -> dict[str, Kind]:
        """What annotations or examples tell of the arguments, before there are any."""
        if isinstance(self.primal, Derivative) or self.target.typed:  # compiled code has types, and calls no check
            return {} if self.target.typed else self.primal.declared_kinds
        return declared_of(self.primal, self.signature, self.bound, self.like)

    @functools.cached_property
    def _kinds(self) -> dict[str, Kind]:
        return dict(self.declared_kinds)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        result: R
        known = self._quick
        try:
            if known is not None and len(args) == self._count and not kwargs and known.alike(*args):
                self._last, self._kinds = known.made, known.kinds
                result = known.finished(run(known.made.function, args, (), None, self.primal), *args)
                return result
            optional = self.with_options(args, kwargs)
            if optional is not None:
                result, self._last, self._kinds = optional(*args, **kwargs), optional._last, optional._kinds
                return result
            values = self.ordered_arguments(args, kwargs)
            made, device = self.ready_text(values)
            result = self.result(run(made.function, values, self.named, device, self.primal), values, device)
            return result
        except Exception as error:
            raise for_users(error)  # noqa: B904  (the same error: nothing is behind it)

    def with_options(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Derivative[P, R] | None:
        """The derivative of an operation of a library that is given more than it must be: `np.clip(x, low, high)`."""
        alone = len(args) == self._count and not kwargs
        if alone or None in self._places:
            return None
        asked = len(args), *kwargs
        if asked not in self._optional:
            operation = with_options(self.function, len(args), tuple(kwargs))
            chosen = tuple(place for place in self._places if place is not None)
            places: Wrt = chosen[0] if self.single else chosen
            self._optional[asked] = operation and Derivative(
                operation, self.mode, places, self.single, self.target, auxiliary=self.auxiliary, autocast=self.autocast
            )
        return self._optional[asked]

    def result(self, found: Any, values: Sequence[object], device: Device | None = None) -> Any:
        """What the text returns, as users get it: adjoints mirror the arguments."""
        if self.mode == "value-and-grad":
            y, adjoints = found
            return y if device is None else on_device(y, device), self.mirror_arguments(adjoints, values)
        if self.mode not in ("reverse", "elementwise"):
            return found
        if self.auxiliary:
            return self.mirror_arguments(found[0], values), on_device(found[1], device)
        return self.mirror_arguments(found, values)

    def into(self, accumulators: object) -> Function:
        """The same function, which adds the gradient to arrays that are given and returns them.

        `accumulators` mirrors what `wrt` asks for: an array for an array (one without axes for a number), a tuple for
        several, containers for containers; None stays where the gradient is None. Their dtype is the gradient's or
        wider, float32 for float16 say. What does not match raises E5024, and then nothing has been added.
        `value_and_grad(f).into(g)` returns the value as well.

        >>> import numpy as np
        >>> import srcgrad
        >>> total = np.zeros(2)
        >>> add = srcgrad.grad(lambda x: np.sum(x * x)).into(total)
        >>> add(np.array([1.0, 2.0])), add(np.array([1.0, 2.0]))
        (array([4., 8.]), array([4., 8.]))
        """
        return adding_derivative(self, accumulators)

    def forward(self, args: Any, tangents: Any, kwargs: Any = None, made: ExecutedText | None = None) -> Any:
        """Value and tangent, in mode hvp the tangent; a tangent for each of `wrt`; `made` runs if it is given."""
        values = self.ordered_arguments(args, kwargs or {}) if made is None else args
        by_name = dict(zip(self.signature.parameters, values, strict=True))
        made, device = self.ready_text(values) if made is None else (made, device_in(values))
        resident = resident_on(device, values)
        pairs = zip(made.seeds, tangents, self.wrt, strict=True)
        given = {seed: tangent_like(by_name[w], tangent, resident) for seed, tangent, w in pairs}
        found = run(functools.partial(made.function, **given), values, self.named, device, self.primal)
        if self.mode == "hvp":
            return self.primal.result(found, values, device)
        y, y_dot = found
        return tuple(on_device(self.output(one, values), device) for one in (y, like_output(y_dot, y)))

    def output(self, found: object, values: Sequence[Any]) -> Any:
        """An output of the primal; that of a gradient mirrors the arguments."""
        return self.primal.result(found, values) if isinstance(self.primal, Derivative) else found

    def mirror_arguments(self, found: Any, values: Sequence[object], seeds: Sequence[Any] = ()) -> Any:
        """The adjoints with class, shape and dtype of the arguments."""
        failed: DifferentiationError | None = None
        try:
            made = mirrors((found,) if self._bare else found, self._places, values, seeds)
        except DifferentiationError as error:
            failed = error
        if failed is not None:
            if failed.code == "E5004":  # a gradient leaves out what makes the value alone, and its errors
                run(self.primal, copy.deepcopy(values), self.named)
            raise failed
        return made[0] if self.single else tuple(made)

    @property
    def source(self) -> str:
        """The text of the derivative."""
        return (self._last or self.executed_text(self.declared_kinds)).text

    def report(self, sizes: Sizes | None = None) -> Report:
        """The text beside its source, as a page to read; `sizes` are bytes, by what is recorded and its line.

        >>> import srcgrad
        >>> srcgrad.grad(lambda x: x * x).report()
        Report(title='lambda__grad')
        """
        from srcgrad.interface.show.side_by_side import Report, sides

        module = module_of(self)
        main = derivative_in_module(self, module, self._kinds)
        return Report(main.name, sides(module.text(main)[0], module.made.values(), sizes))

    def _repr_html_(self) -> str:
        try:
            return self.report()._repr_html_()
        except DifferentiationError as error:
            from srcgrad.interface.show.side_by_side import failure

            return failure(error)

    @property
    def saved(self) -> tuple[SavedValue, ...]:
        """What the forward half of the text keeps for the backward half, all of it: name, value, line, who needs it.

        >>> import numpy as np
        >>> import srcgrad
        >>> def squashed(x, w, b):
        ...     h = np.tanh(x * w + b)
        ...     return np.sum(h * h)
        >>> {one.name: (one.line, one.needed) for one in srcgrad.grad(squashed, "b").saved}
        {'b': (0, (2,)), 'h': (2, (2,))}
        """
        from srcgrad.module import Module

        module = Module(autocast=self.autocast, explained=True)
        kept: tuple[SavedValue, ...] = derivative_in_module(self, module, self._kinds).facts.tape.kept
        return kept

    @property
    def njit(self) -> Any:
        """With `target="numba"` what `numba.njit` made of the text of the last call: compiled code may call it."""
        found = getattr(self.__wrapped__, "__srcgrad_compiled__", None)
        if found is None:
            raise DifferentiationError("E5019", "there is compiled code with the target numba alone", "name it")
        return found

    @property
    def __wrapped__(self) -> Function:
        return (self._last or self.executed_text(self.declared_kinds)).function

    @property
    def __signature__(self) -> inspect.Signature:
        return remaining_signature(self.signature, self.bound, self.words)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        if self._last:
            return self._last.function.__doc__
        from srcgrad.backend.text.function import heading

        return heading(self.mode, self.primal, self.wrt)

    def __reduce__(self) -> tuple[object, ...]:
        """Copies and pickles are made again from the function, which is pickled by its name or as code."""
        options = {"auxiliary": self.auxiliary, "autocast": self.autocast or None, "like": self.like}
        wrt = self.wrt[0] if self.single else self.wrt
        given = (as_named(self.function), self.mode, wrt, self.single, self.target.name)
        return rebuild_object, (Derivative, given, options, lines_of(self.primal))

    def __repr__(self) -> str:
        return f"<srcgrad {self.mode} of {getattr(self.primal, '__name__', 'f')} with respect to {', '.join(self.wrt)}>"


if TYPE_CHECKING:

    class DerivativeByFirst(Derivative[..., Out], Generic[P, X, Out]):
        """What a type checker sees of a derivative by a first argument that is a number or an array."""

        @overload
        def __call__(self, first: X, /, *args: P.args, **kwargs: P.kwargs) -> Out: ...

        @overload
        def __call__(self, **kwargs: object) -> Out: ...  # all by name

        def __call__(self, *args: Any, **kwargs: Any) -> Out: ...  # type: ignore[misc]  # it does take P.args


AnyDerivative = Derivative[..., Any]  # of a function that is not known when this is written
