"""The calculus on top of gradients: Jacobians, Hessians, their products, linear maps and their transposes.

A Jacobian takes one pass for each input or for each output, whichever are fewer; all directions, or all seeds, go in
one run of a text with a leading axis where there is one. What ran is kept for arguments that look alike.

A function with derivatives: the primal itself, carrying them as attributes; and the text of each.
"""

from __future__ import annotations

import functools
import inspect
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import (
    TYPE_CHECKING,
    Any,  # functions and arguments are arbitrary objects
    Generic,
    overload,
)

import numpy as np

from srcgrad.backend.targets import target_named
from srcgrad.core.errors import DifferentiationError, NoAxisError
from srcgrad.core.facts import MANY, Kind, LeadingAxes
from srcgrad.core.identity import Function, python_function
from srcgrad.core.marks import goes_as_code, makes
from srcgrad.core.rules import generation
from srcgrad.core.source_text import hides_our_frames
from srcgrad.core.target import DEFAULT, Target
from srcgrad.frontend.functions_with_rules import with_places
from srcgrad.interface.api.arguments import device_in, fewer, kind_of, on_device, on_host
from srcgrad.interface.api.derivative import AnyDerivative, Derivative, P, R, ReadyText, Wrt, looks
from srcgrad.interface.api.derivatives import (
    by_count,
    by_place,
    chosen_wrt,
    float_arguments,
    jvp,
    keep,
    pulled_then,
    recent_derivative,
    value_and_pullback,
    vjp,
)
from srcgrad.interface.api.execute import ExecutedText, as_named, lines_of, rebuild_object, run
from srcgrad.interface.api.row_blocks import RowDerivative, spread_rows
from srcgrad.interface.api.snapshots import Copies, copies
from srcgrad.interface.check.finite_differences import (
    Vector,
    is_float,
    parts,
    rebuild,
    tangent_like,
    vector,
    vector_along,
)
from srcgrad.runtime import zeros_like

if TYPE_CHECKING:
    from srcgrad.derive.row_blocks import Blocks


@makes("elementwise")
@hides_our_frames
def elementwise_grad(
    function: Callable[P, object], wrt: Wrt = 0, *, argnums: Wrt | None = None, target: str | Target = DEFAULT
) -> Derivative[P, Any]:
    """The derivative of a function that works element by element, as a function of the same arguments.

    It is the gradient of the sum of the outputs, which for such a function is each output's derivative with respect
    to its own input. `wrt`, `argnums` and `target` are those of `grad`. E5007 if the function returns several values.

    >>> import numpy as np
    >>> from srcgrad import elementwise_grad
    >>> elementwise_grad(lambda x: x * x * x)(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    wrt = chosen_wrt(function, wrt, argnums)
    record, single = target_named(target), not isinstance(wrt, tuple)
    asked = "elementwise", repr(wrt), record
    if with_places(function, wrt) is not None:
        return by_count(function, wrt, lambda one: elementwise_grad(one, wrt, target=record))
    return keep(function, asked, lambda: Derivative[P, Any](function, "elementwise", wrt, single, record)).again()


class HessianProduct:
    """The product of a Hessian and a vector: call it with the function's arguments and, last, the vector."""

    def __init__(self, function: Function, wrt: Wrt, target: str | Target, blocks: Blocks | None = None) -> None:
        single = not isinstance(wrt, tuple)
        self.gradient: AnyDerivative
        self.derivative: AnyDerivative
        if blocks is None:
            self.gradient = Derivative(function, "reverse", wrt, single, target)
            self.derivative = Derivative(self.gradient, "hvp", self.gradient.wrt, single, target)
        else:  # the gradient's loops over blocks are those of the product
            self.gradient = RowDerivative(function, "reverse", wrt, single, DEFAULT, blocks)
            self.derivative = RowDerivative(self.gradient, "hvp", self.gradient.wrt, single, target, blocks)
        self.__name__ = self.derivative.__name__
        self.words = self.gradient.words

    def again(self) -> HessianProduct:
        """The same product for another who asks for it: it shares the texts."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), derivative=self.derivative.again())
        return other

    def __reduce__(self) -> tuple[object, ...]:
        gradient = self.gradient
        wrt = gradient.wrt[0] if gradient.single else gradient.wrt
        return rebuild_object, (
            HessianProduct,
            (as_named(gradient.function), wrt, self.derivative.target.name, gradient.blocks),
            {},
            lines_of(gradient.primal),
        )

    def hessp(self, x: object, vector: object, *args: object) -> Any:
        """The product in the order of arguments that `scipy.optimize.minimize` calls `hessp` with: vector second."""
        return self(x, *args, vector)

    @hides_our_frames
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not args:
            raise DifferentiationError("E5014", "the vector is missing", "give it after the function's arguments")
        vectors = (args[-1],) if self.gradient.single else tuple(args[-1])
        if len(vectors) != len(self.gradient.wrt):
            message = f"{len(vectors)} vectors for {len(self.gradient.wrt)} arguments"
            raise DifferentiationError("E5014", message, f"give one for each of {', '.join(self.gradient.wrt)}")
        return self.derivative.forward(args[:-1], vectors, kwargs)

    def wanted(self) -> tuple[str, Function, tuple[str, ...], bool]:
        """What it is: a mode, a function, the parameters and whether it is one."""
        return "hvp", self.gradient.function, self.gradient.wrt, self.gradient.single

    @property
    def source(self) -> str:
        """The text that runs: forward mode over the gradient."""
        return self.derivative.source

    @property
    def __wrapped__(self) -> Function:
        return self.derivative.__wrapped__

    @property
    def __signature__(self) -> inspect.Signature:
        known = list(self.gradient.__signature__.parameters.values())
        vector = inspect.Parameter("vector", inspect.Parameter.POSITIONAL_ONLY)
        given = [p.replace(kind=p.POSITIONAL_ONLY, default=p.empty) for p in known if p.name not in self.words]
        return inspect.Signature([*given, vector])

    def __repr__(self) -> str:
        return repr(self.derivative)

    def _repr_html_(self) -> str:
        return self.derivative._repr_html_()


@makes("hvp")
@hides_our_frames
def hvp(
    function: Function,
    wrt: Wrt = 0,
    *,
    argnums: Wrt | None = None,
    target: str | Target = DEFAULT,
    shard: Mapping[str, int] | None = None,
    chunks: int | None = None,
) -> HessianProduct:
    """The product of the Hessian with a vector, without the Hessian: `hvp(f)(x, v)` is `hessian(f)(x) @ v`.

    The vector comes after the function's arguments and has the structure and shape of the argument that `wrt` names
    (a tuple of them if `wrt` is one); so has the result. It is forward mode over the text of the gradient, at a small
    multiple of the cost of the function. Errors are those of `grad`; E5014 if the vector does not fit.
    `hvp(f).hessp(x, v, *args)` is the same in the order of arguments that `scipy.optimize.minimize` wants.
    `shard` and `chunks` are those of `grad`: one sum over the blocks for each total of the product.

    >>> import numpy as np
    >>> from srcgrad import hvp
    >>> hvp(lambda x: np.sum(x * x * x))(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([6., 0.])
    """
    chosen, record = chosen_wrt(function, wrt, argnums), target_named(target)
    spread = spread_rows(function, target, shard, chunks)
    if with_places(function, chosen) is not None:
        return by_count(function, chosen, lambda one: hvp(one, chosen, target=record, shard=shard, chunks=chunks), 1)
    asked = "hvp", repr(chosen), record, spread
    return keep(function, asked, lambda: HessianProduct(function, chosen, record, spread)).again()


@dataclass(eq=False)
class LinearMap:
    """A linear map: call it with tangents; `transpose` turns it round.

    `tangent_inputs` are the names of what it takes. A map that has one output gives it as it is, a transposed map
    the tuple of its outputs.
    """

    run: Function
    back: Function
    tangent_inputs: tuple[str, ...]
    outputs: tuple[str, ...] = ("y_dot",)
    text: Callable[[], str] = field(default=lambda: "", repr=False)
    other_text: Callable[[], str] = field(default=lambda: "", repr=False)
    turned: Function | None = field(default=None, repr=False)

    @hides_our_frames
    def __call__(self, *given: object) -> Any:
        if len(given) != len(self.tangent_inputs):
            message = f"{len(given)} values for {', '.join(self.tangent_inputs)}"
            raise DifferentiationError("E5014", message, "give one for each")
        return self.run(*given)

    @property
    def source(self) -> str:
        """The text that runs."""
        return self.text()


@makes("linearize")
@hides_our_frames
def linearize(
    function: Callable[..., R], *args: object, wrt: Wrt | None = None, target: str | Target = DEFAULT, copy: bool = True
) -> tuple[R, LinearMap]:
    """The value, and the derivative at these arguments as a linear map: `y, push = linearize(f, x)`.

    `push(x_dot)` is the derivative along x_dot. It takes one tangent for each argument with floats, or for each that
    `wrt` names (`push.tangent_inputs` lists them); `push.source` is its text, in which the primal's statements stand
    beside their tangents and run again with each call, at copies of the arguments and of captured arrays; those who
    change none of them may say `copy=False`. `transpose(push)` is the pullback.

    >>> from srcgrad import linearize
    >>> y, push = linearize(lambda x, k: k * x * x, 3.0, 2, wrt="x")
    >>> y, push(1.0), push.tangent_inputs
    (18.0, 12.0, ('x_dot',))
    """
    places = float_arguments(function, args) if wrt is None else wrt
    function = by_place(function, places, len(args))
    ahead = recent_derivative(function, "forward", places, False, target).again()
    zeros = tuple(zeros_like(args[_place(name, ahead)]) for name in ahead.wrt)
    y, _ = ahead.forward(args, zeros)
    values, kept = tuple(ahead.ordered_arguments(args, {})), None
    if copy:
        made, _ = ahead.ready_text(values)
        known = copies((values, args), made.function)
        args, kept = (
            known.of(args),
            _KeptArguments(known.of(values), replace(made, function=known.of(made.function)), known),
        )
    behind = _PullbackMap(ahead, args, kept)
    return y, LinearMap(
        run=_TangentMap(ahead, args, kept),
        back=behind,
        tangent_inputs=tuple(f"{name}_dot" for name in ahead.wrt),
        text=functools.partial(getattr, ahead, "source"),
        other_text=behind.text,
    )


@dataclass(frozen=True)
class _KeptArguments:
    """Copies of all arguments in order, the text of the derivative with copies of what it captures, and their maker."""

    values: tuple[Any, ...]
    made: ExecutedText
    known: Copies


@dataclass
class _TangentMap:
    """The derivative along tangents at the arguments of a linear map; a pickle has the arguments, not the text."""

    ahead: AnyDerivative
    args: tuple[Any, ...]
    kept: _KeptArguments | None = field(default=None, repr=False)

    @hides_our_frames
    def __call__(self, *tangents: object) -> Any:
        if self.kept is None:
            return self.ahead.forward(self.args, tangents)[1]
        return self.ahead.forward(self.kept.values, tangents, made=self.kept.made)[1]

    def __reduce__(self) -> tuple[object, ...]:
        return _TangentMap, (self.ahead, self.args)


@dataclass
class _PullbackMap:
    """The pullback at the arguments of a linear map, made when it is first asked for."""

    ahead: AnyDerivative
    args: tuple[Any, ...]
    kept: _KeptArguments | None = field(default=None, repr=False)
    made: Function | None = field(default=None, repr=False)

    @hides_our_frames
    def __call__(self, seed: object) -> Any:
        if self.made is None:
            function, wrt, target = self.ahead.function, self.ahead.wrt, self.ahead.target
            if self.kept is None or not target.closures:
                _, self.made = vjp(function, *self.args, wrt=wrt, target=target, copy=False)
            else:
                behind: AnyDerivative = Derivative(function, "vjp", wrt, False, target)
                self.made = pulled_then(behind, self.kept.values, self.kept.known)
        return self.made(seed)

    def __reduce__(self) -> tuple[object, ...]:
        return _PullbackMap, (self.ahead, self.args)

    def text(self) -> str:
        behind: AnyDerivative = Derivative(self.ahead.function, "vjp", self.ahead.wrt, False, self.ahead.target)
        return behind.source


def _place(name: str, derivative: Derivative[..., object]) -> int:
    return list(derivative.signature.parameters).index(name) - len(derivative.bound)


def _agree(y: object, y_dot: object) -> bool:
    """Whether a function gives what its derivative along its own arguments gives."""
    one, other = vector(y), vector_along(y, y_dot)
    tolerance = 1e3 * float(np.finfo(np.result_type(*(np.asarray(p) for _, p in parts(y) if is_float(p)))).eps)
    return bool(np.linalg.norm(one - other) <= tolerance * max(np.linalg.norm(one), np.linalg.norm(other)))


@makes("transpose")
@hides_our_frames
def transpose(linear: Function, *like: object, target: str | Target = DEFAULT) -> Any:
    """The transpose of a linear map; `transpose(transpose(f))` is f.

    Of what `linearize` returns it is the pullback: it takes a seed like the output, and returns a tuple with an
    adjoint for each tangent. A function of your own, linear in all its arguments, needs arguments `like` those that it
    is called with, for their shapes; E5017 if it is seen not to be linear there.

    >>> import numpy as np
    >>> from srcgrad import linearize, transpose
    >>> y, push = linearize(lambda x: x * x, np.array([1.0, 2.0]))
    >>> transpose(push)(np.array([1.0, 1.0])), transpose(transpose(push)) is push
    ((array([2., 4.]),), True)
    >>> transpose(lambda x: 3.0 * x[:2], np.ones(3))(np.array([1.0, 2.0]))
    (array([3., 6., 0.]),)
    """
    if isinstance(linear, LinearMap):
        if linear.turned is None:
            inputs = ("seed",) if linear.outputs == ("y_dot",) else linear.outputs
            linear.turned = LinearMap(
                linear.back, linear.run, inputs, linear.tangent_inputs, linear.other_text, linear.text, linear
            )
        return linear.turned
    y, y_dot = jvp(linear, like, like, target=target)
    if not _agree(y, y_dot):
        raise DifferentiationError(
            "E5017", "the function is not linear at the arguments given", "transpose what srcgrad.linearize returns"
        )
    _, back = vjp(linear, *like, target=target)
    names = tuple(inspect.signature(linear).parameters)[: len(like)]
    return LinearMap(back, linear, ("seed",), names, turned=linear)


def text_of(function: Function, mode: str, wrt: Wrt, single: bool, target: str | Target) -> str:
    """The text of a Jacobian or a Hessian, for arguments of any kind, or of the product of a Hessian."""
    chosen = wrt[0] if single and not isinstance(wrt, int | str) else wrt
    if mode == "hvp":
        return HessianProduct(function, chosen, target).source
    if target != DEFAULT:
        raise DifferentiationError("E5019", f"the text of a {mode} is made for NumPy", "leave `target` out")
    primal: AnyDerivative = Derivative(function, "reverse", chosen, single)
    from srcgrad.module import Module

    made = Module().derivative_function(primal.primal, mode, primal.wrt, {}, single=single)
    return made.text


ROOM = 1 << 22  # numbers that a value with the axis may have, as far as the arguments tell


def count_of(tree: object) -> int:
    """How many real numbers the floating parts of a value have: a complex one counts as two.

    >>> count_of((np.zeros((2, 3)), 1, 2.0j))
    8
    """
    return sum(np.size(part) * (2 if np.iscomplexobj(part) else 1) for _, part in parts(tree) if is_float(part))


def chunks(count: int, *values: object) -> list[range]:
    """Rows of a unit matrix, so many at a time that values of the size of these stay small."""
    largest = max(map(_largest_size, values), default=1)
    step = max(1, ROOM // max(1, largest))
    return [range(start, min(start + step, count)) for start in range(0, count, step)]


def _largest_size(value: object) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, int | float):
        return 1
    if isinstance(value, list | tuple) and len(value) > 0 and isinstance(value[0], int | float):
        return len(value)
    return max([np.size(part) for _, part in parts(value) if isinstance(part, np.ndarray)], default=1)


def units(tree: object, rows: range) -> Any:
    """Rows of the unit matrix as tangents of `tree`: each of its parts with a leading axis.

    >>> units({"x": np.zeros(1), "n": 2, "y": 3.0}, range(2))
    {'x': array([[1.],
           [0.]]), 'n': array([0., 0.]), 'y': array([0., 1.])}
    """
    count, column = len(rows), 0

    def change(part: Any) -> Any:
        nonlocal column
        if is_float(part):
            made = np.eye(count, np.size(part), rows.start - column, np.asarray(part).dtype)
            column += np.size(part)
            return made.reshape(count, *np.shape(part))
        whole = isinstance(part, np.ndarray | int | np.integer | np.bool_)
        return np.zeros((count, *np.shape(part))) if whole else None

    return rebuild(tree, change)


def rows_along(tree: object, found: object, count: int) -> Vector:
    """The parts of `found` that stand where `tree` has floating parts, one row for each direction."""
    made, rows = dict(parts(found)), []
    for label, part in parts(tree):
        if is_float(part):
            row = made.get(label)
            if type(row) is float and row == 0.0:  # a sum of no terms
                row = np.zeros((count, *np.shape(part)))
            if not isinstance(row, np.ndarray) or row.shape != (count, *np.shape(part)):
                raise ValueError("a derivative came in another shape than is due")
            rows.append(np.reshape(np.asarray(row, np.float64), (count, np.size(part))))
    return rows[0] if len(rows) == 1 else np.concatenate([np.zeros((count, 0)), *rows], axis=1)


@dataclass(frozen=True)
class CallArguments:
    """The arguments of a call: as they came, in the order of the parameters, their kinds, their looks with shapes."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    values: Sequence[Any]
    kinds: dict[str, Kind]
    looks: tuple[Any, ...] | None

    @functools.cached_property
    def key(self) -> tuple[object, ...]:
        """Calls with equal ones run the same text."""
        return (generation(), *self.kinds.items())

    @property
    def sizes(self) -> tuple[Any, ...]:
        """What tells calls apart whose outputs may have other sizes."""
        return (self.key, *[getattr(part, "shape", None) for part in self.values])


def forward_half(behind: Derivative[..., object], given: CallArguments) -> tuple[Any, Any]:
    """The value, and the pullback that takes many seeds."""
    check_host(given.values)
    y, pullback = run(behind.executed_text(given.kinds).function, given.values, behind.named)
    y = behind.output(y, given.values)
    check_real(y)
    return y, pullback


def seed_rows(
    behind: AnyDerivative, y: object, pullback: Any, chosen: tuple[object, ...], given: CallArguments
) -> Vector:
    """The Jacobian from seeds: one row for each number among the outputs."""
    found = [np.zeros((0, count_of(chosen)))]
    for part in chunks(count_of(y), *given.values, y):
        adjoints = pullback(units(y, part))
        adjoints = (adjoints,) if len(behind.wrt) == 1 else adjoints
        found.append(rows_along(chosen, adjoints, len(part)))
    return np.concatenate(found)


def check_host(values: Sequence[object]) -> None:
    """NoAxisError for device arrays: one run is for each direction there."""
    if device_in(values) is not None:
        raise NoAxisError("an argument is on a device")


def check_real(y: object) -> None:
    """NoAxisError for a complex output, which has real and imaginary parts."""
    if any(np.iscomplexobj(part) for _, part in parts(y)):
        raise NoAxisError("the output is complex")


def cut(y: object, chosen: object, matrix: Vector) -> Any:
    """The matrix cut into blocks: in the structure of the output, at each part of it that of the inputs."""
    if any(np.iscomplexobj(part) for _, part in parts(y)):
        raise DifferentiationError("E5017", "the output is complex", "return its real and its imaginary part")
    row = 0

    def of_output(one: Any) -> Any:
        nonlocal row
        if not is_float(one):
            return None
        start, column = row, 0
        row += np.size(one)

        def of_input(other: Any) -> Any:
            nonlocal column
            if not is_float(other):
                return None
            first = column
            column += np.size(other)
            block = matrix[start:row, first:column].reshape(np.shape(one) + np.shape(other))
            return _cast_like(block, one, other)

        return rebuild(chosen, of_input)

    return rebuild(y, of_output)


def _cast_like(block: Vector, one: object, other: object) -> object:
    """A block in the dtype of the input; a number if both sides are numbers."""
    made = np.array(block, dtype=np.asarray(other).dtype)
    if made.ndim or isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return made
    return float(made) if isinstance(other, float) and not isinstance(other, np.generic) else made[()]


MOST = 256  # a program may have no end of shapes


@dataclass(frozen=True)
class Runs:
    """A text for arguments of some kinds and shapes, and which directions it takes in each run."""

    ahead: AnyDerivative
    text: ReadyText
    parts: list[range]

    def columns(self, chosen: tuple[object, ...], values: Sequence[object]) -> Found | None:
        """The value, and one column for each number among the inputs; None where numbers are too large for the text."""
        ahead, made = self.ahead, self.text.made
        found, y = [], None
        for rows in self.parts:
            seeds = dict(zip(made.seeds, units(chosen, rows), strict=True))
            result = run(functools.partial(made.function, **seeds), values, ahead.named)
            if ahead.mode == "hvp":
                y, y_dot = chosen[0] if ahead.single else chosen, result
            else:
                y, y_dot = ahead.output(result[0], values), result[1]
            check_real(y)
            found.append(rows_along(y, y_dot, len(rows)))
        matrix = found[0] if len(found) == 1 else np.concatenate(found)
        return None if ahead.leading.regroup and not np.isfinite(matrix).all() else (y, matrix.T)


class Columns:
    """What has run for arguments that look alike, by their looks with shapes."""

    def __init__(self) -> None:
        self._known: dict[object, Runs] = {}

    def known(self, looks: tuple[object, ...] | None) -> Runs | None:
        """What ran for such arguments before, if it still is what is to run."""
        known = self._known.get(looks)
        return known if known is not None and known.ahead.holds(known.text) else None

    def run_first(
        self, ahead: AnyDerivative, chosen: tuple[object, ...], given: CallArguments, *, keep: bool
    ) -> Found | None:
        """Run a text for the first time, and keep it for arguments like these if it does and is asked for."""
        check_host(given.values)
        made = ReadyText(ahead.executed_text(given.kinds), given.kinds, generation())
        runs = Runs(ahead, made, chunks(count_of(chosen), *given.values))
        found = runs.columns(chosen, given.values)
        if found is not None and keep and given.looks is not None:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[given.looks] = runs
        return found


MODES = ("reverse", "forward")
Found = tuple[Any, Vector]  # the value of a function, and the numbers along all directions
_Directions = Callable[[tuple[object, ...], int, CallArguments], Found]
FAILURES = (NoAxisError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Jacobian(Generic[P]):
    """The Jacobian of a function, or the Hessian: call it like the function itself."""

    def __init__(
        self, function: Function, wrt: Wrt, mode: str | None, target: str | Target, *, second: bool = False
    ) -> None:
        if mode is not None and mode not in MODES:
            raise DifferentiationError("E5006", f"no mode is called {mode!r}", f"use {' or '.join(MODES)}, or None")
        self.function, self.target = function, target_named(target)
        self.single = not isinstance(wrt, tuple)
        self.product = HessianProduct(function, wrt, target) if second else None
        self.primal: Function = self.product.gradient if self.product else function
        self.mode = mode
        self.ahead: AnyDerivative = Derivative(self.primal, "forward", wrt, False, target)
        self._together: dict[tuple[str, LeadingAxes], AnyDerivative] = {}
        self._reasons: dict[str, dict[object, str]] = {}
        self._outputs: dict[object, Kind] = {}
        self._sizes: dict[object, int] = {}  # of outputs that are larger than the inputs
        self._once = Columns()
        self._ran: AnyDerivative | None = None
        self.__name__ = f"{getattr(self.ahead.primal, '__name__', 'f')}_jacobian"
        if self.product is not None:
            self.ahead, self.__name__ = self.product.derivative, self.product.__name__.replace("_hvp", "_hessian")

        self.words = self.ahead.words
        self.behind: AnyDerivative = Derivative(self.primal, "vjp", self.ahead.wrt, False, self.target)

    def again(self) -> Jacobian[P]:
        """The same for another who asks for it: it shares the texts, and knows of no last call."""
        other: Jacobian[P] = object.__new__(type(self))
        vars(other).update(vars(self), ahead=self.ahead.again(), behind=self.behind.again(), _ran=None)
        return other

    def __reduce__(self) -> tuple[object, ...]:
        wrt = self.ahead.wrt[0] if self.single else self.ahead.wrt
        given = (as_named(self.function), wrt, self.mode, self.target.name)
        return rebuild_object, (Jacobian, given, {"second": self.product is not None}, lines_of(self.ahead.primal))

    @hides_our_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        values = self.ahead.ordered_arguments(args, kwargs)
        alike = looks(values, sized=True)
        found = self._run_again(values, alike)
        if found is not None:
            return self._cut(found[0], self._chosen_arguments(values), found[1])
        given = CallArguments(args, kwargs, values, self.ahead.kinds(values), alike)
        chosen = self._chosen_arguments(on_host(values))
        if any(np.iscomplexobj(part) for _, part in parts(chosen)):
            raise DifferentiationError("E5017", "an argument is complex", "pass its real and imaginary part")
        count = count_of(chosen)
        ahead = self.mode == "forward" or (self.mode is None and (self.product is not None or count == 1))
        y, matrix = (self._columns if ahead else self._rows)(chosen, count, given)
        return on_device(self._cut(y, chosen, matrix), device_in(given.values))

    def _chosen_arguments(self, values: Sequence[object]) -> tuple[object, ...]:
        """The arguments that it differentiates by."""
        by_name = dict(zip(self.ahead.signature.parameters, values, strict=True))
        return tuple([by_name[name] for name in self.ahead.wrt])

    def _cut(self, y: object, chosen: tuple[object, ...], matrix: Vector) -> Any:
        return cut(y, chosen[0] if self.single else chosen, matrix)

    def _run_again(self, values: Sequence[object], alike: tuple[object, ...] | None) -> Found | None:
        """Value and columns by the text that ran for arguments like these before, if one did and it does again."""
        known = self._once.known(alike)
        if known is None:
            return None
        self._ran = known.ahead
        try:
            return known.columns(self._chosen_arguments(values), values)
        except FAILURES:  # is met once more where there are other texts to try
            return None

    def _columns(self, chosen: tuple[object, ...], count: int, given: CallArguments) -> Found:
        """One tangent pass for all numbers among the inputs, or for each."""
        if count > 1 and self.target.batched and not self._runs_one_by_one("ahead", given):
            found = self._run_regrouped(chosen, given)
            if found is not None:
                return found
            return self._or_each("ahead", self._all_columns, self._each_column, (chosen, count, given))
        return self._each_column(chosen, count, given)

    def _all_columns(self, chosen: tuple[object, ...], count: int, given: CallArguments) -> Found:
        """One tangent pass for all numbers among the inputs."""
        self._ran = self.all_at_once("ahead")
        keep = self.product is not None or self._runs_one_by_one("regrouped", given)
        found = self._once.run_first(self._ran, chosen, given, keep=keep)
        assert found is not None, "nothing is regrouped"
        return found

    def _or_each(
        self, half: str, at_once: _Directions, each: _Directions, asked: tuple[tuple[object, ...], int, CallArguments]
    ) -> Found:
        """All directions at once, or one by one where that fails."""
        try:
            return at_once(*asked)
        except FAILURES as reason:
            self._note(half, asked[2], reason)
            found = each(*asked)
            _tell(self.__name__, reason)
            return found

    def _each_column(self, chosen: tuple[object, ...], count: int, given: CallArguments) -> Found:
        """One tangent pass for each number among the inputs."""
        self._ran = self.ahead
        columns, y = [], None
        for direction in np.eye(count) if count else np.zeros((1, 0)):
            found = self.ahead.forward(given.args, tangent_like(chosen, direction), given.kwargs)
            y, y_dot = on_host(found if self.product is None else (found, found))
            columns.append(vector_along(y, y_dot))
        return y, np.stack(columns, axis=-1)[:, :count]

    def _run_regrouped(self, chosen: tuple[object, ...], given: CallArguments) -> Found | None:
        """The same with products in the best order for many directions; None where lengths forbid that order."""
        if self.product is not None or self._runs_one_by_one("regrouped", given):
            return None
        named = dict(zip(self.ahead.signature.parameters, given.values, strict=True))
        self._ran = self.all_at_once("ahead", LeadingAxes(True, regroup=True, fewer=fewer(named, self.ahead.wrt)))
        try:
            return self._once.run_first(self._ran, chosen, given, keep=True)
        except (NoAxisError, ArithmeticError, ValueError) as reason:
            self._reasons.setdefault("regrouped", {})[given.key] = str(reason)
            return None

    def _rows(self, chosen: tuple[object, ...], count: int, given: CallArguments) -> Found:
        """The forward half once, and the pullback for all numbers among the outputs, or for each."""
        if self.mode is None and self._sizes.get(given.sizes, 0) > count:
            return self._columns(chosen, count, given)
        if self.target.batched and not self._runs_one_by_one("behind", given):
            return self._or_each("behind", self._all_rows, self._each_row, (chosen, count, given))
        return self._each_row(chosen, count, given)

    def _each_row(self, chosen: tuple[object, ...], count: int, given: CallArguments) -> Found:
        """The forward half once, and the pullback for each number among the outputs."""
        self._ran = self.behind
        y, pullback = value_and_pullback(self.behind, given.args, given.kwargs)
        y = on_host(y)
        size = vector(y).size
        if self._has_more(size, count, given):
            return self._columns(chosen, count, given)
        rows = [vector_along(chosen, on_host(pullback(tangent_like(y, seed)))) for seed in np.eye(size)]
        return y, np.array(rows).reshape(size, count)

    def _has_more(self, size: int, count: int, given: CallArguments) -> bool:
        """Whether columns are fewer; the next call with arguments of such shapes begins with them."""
        if self.mode is not None or size <= count:
            return False
        if len(self._sizes) >= MOST:  # a program may have no end of shapes
            self._sizes.clear()
        self._sizes[given.sizes] = size
        return True

    def _all_rows(self, chosen: tuple[object, ...], count: int, given: CallArguments) -> Found:
        """The forward half and the pullback once each, if the rank of the output can be told, or is known by now."""
        behind = self.all_at_once("behind")
        behind.leading = LeadingAxes(True, output=self._outputs.get(given.key))
        try:
            y, pullback = forward_half(behind, given)
        except NoAxisError:
            if given.key in self._outputs:
                raise
            y = on_host(value_and_pullback(self.behind, given.args, given.kwargs)[0])
            self._outputs[given.key] = kind_of(y)
            behind.leading = LeadingAxes(True, output=self._outputs[given.key])
            y, pullback = forward_half(behind, given)
        if behind.leading.output is not None and kind_of(y) != behind.leading.output:
            raise NoAxisError("the rank of the output changes")
        if self._has_more(vector(y).size, count, given):
            return self._columns(chosen, count, given)
        self._ran = behind
        return y, seed_rows(behind, y, pullback, chosen, given)

    def all_at_once(self, which: str, leading: LeadingAxes = MANY) -> AnyDerivative:
        """The derivative for all directions, or seeds, at once."""
        if (which, leading) not in self._together:
            one: AnyDerivative = getattr(self, which)
            single = one.single if one.mode == "hvp" else False
            self._together[which, leading] = Derivative(self.primal, one.mode, one.wrt, single, leading=leading)
        return self._together[which, leading]

    def _runs_one_by_one(self, which: str, given: CallArguments) -> bool:
        """Whether it is known that for such arguments there is one pass for each direction."""
        reasons = self._reasons.get(which, {})
        return bool(reasons) and given.key in reasons

    def _note(self, which: str, given: CallArguments, reason: Exception) -> None:
        """Keep, and say in the text, why there is one pass for each direction."""
        self._reasons.setdefault(which, {})[given.key] = str(reason)
        why = str(reason) if isinstance(reason, NoAxisError) else f"with all at once it raised {type(reason).__name__}"
        remark = f"One {'seed' if which == 'behind' else 'direction'} at a time: {why}."
        getattr(self, which).leading = LeadingAxes(remark=remark)

    def wanted(self) -> tuple[str, Function, tuple[str, ...], bool]:
        """What it is: a mode, a function, the parameters and whether it is one."""
        return "hessian" if self.product else "jacobian", self.function, self.ahead.wrt, self.single

    @property
    def source(self) -> str:
        """The text that runs for each input, or for each output."""
        return self._runs().source

    def _runs(self) -> AnyDerivative:
        return self._ran or (self.behind if self.mode == "reverse" else self.ahead)

    @property
    def __signature__(self) -> inspect.Signature:
        return self.ahead.__signature__

    def __repr__(self) -> str:
        return f"<srcgrad {self.__name__} with respect to {', '.join(self.ahead.wrt)}>"

    def _repr_html_(self) -> str:
        return self._runs()._repr_html_()


def _tell(name: str, reason: Exception) -> None:
    """Warn where one run for all raised what one run for each did not: that is a fault of ours, not of the caller."""
    if not isinstance(reason, NoAxisError):
        why = f"with all directions at once it raised {type(reason).__name__}: {reason}"
        warnings.warn(f"{name}: {why}; it ran once for each, which is slower. Please report it.", RuntimeWarning, 4)


@makes("jacobian")
@hides_our_frames
def jacobian(
    function: Callable[P, object],
    wrt: Wrt = 0,
    *,
    mode: str | None = None,
    argnums: Wrt | None = None,
    target: str | Target = DEFAULT,
) -> Jacobian[P]:
    """The Jacobian, as a function of the same arguments: shape `np.shape(f(x)) + np.shape(x)`, dtype that of x.

    For structured values it has the structure of the output, and at each part of it that of the argument: for
    `f(p) -> {"a": y}` and p a dict of `w` and `b`, `jacobian(f)(p)["a"]["w"]` has shape `y.shape + w.shape`. With a
    tuple as `wrt` there is a tuple at each part of the output. What holds no floats gives None.

    `mode="reverse"` runs the forward half once and the pullback for all numbers among the outputs; `"forward"` runs
    primal and tangents for all numbers among the inputs; each in one run, with an axis more, or in one for each where
    the text cannot have it, as its docstring then says. Without a mode the fewer numbers are chosen. Errors: those
    of `vjp`, and E5006 for a mode that there is not.

    >>> import numpy as np
    >>> from srcgrad import jacobian
    >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _jacobian(function, chosen_wrt(function, wrt, argnums), mode, target_named(target), False)


@makes("hessian")
@hides_our_frames
def hessian(
    function: Callable[P, object],
    wrt: Wrt = 0,
    *,
    mode: str | None = None,
    argnums: Wrt | None = None,
    target: str | Target = DEFAULT,
) -> Jacobian[P]:
    """The second derivatives of a real scalar function: the Jacobian of its gradient, shape `x.shape + x.shape`.

    For structured arguments, and for a tuple as `wrt`, the structure comes twice: `hessian(f)(p)["w"]["b"]` is the
    derivative of the gradient with respect to w by b. It is made by forward mode over the gradient, one pass for
    each number among the inputs; with `mode="reverse"` by pullbacks of the gradient.

    >>> import numpy as np
    >>> from srcgrad import hessian
    >>> hessian(lambda x: x[0] * x[0] * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    return _jacobian(function, chosen_wrt(function, wrt, argnums), mode, target_named(target), True)


def _jacobian(function: Callable[P, object], wrt: Wrt, mode: str | None, target: Target, second: bool) -> Jacobian[P]:
    """One that shares the texts of an equal one that was asked for lately."""
    asked = "hessian" if second else "jacobian", mode, repr(wrt), target
    if with_places(function, wrt) is not None:
        return by_count(function, wrt, lambda one: _jacobian(one, wrt, mode, target, second))
    return keep(function, asked, lambda: Jacobian[P](function, wrt, mode, target, second=second)).again()


class DifferentiableFunction(Generic[P, R]):
    """A function that runs as it did, with its derivatives at hand; it pickles as they do and binds like a method."""

    __srcgrad_derivatives__ = True  # each of its cached properties is one, for functions that name it: `f.grad(x)`

    def __init__(self, function: Callable[P, R], wrt: Wrt, target: str | Target = DEFAULT) -> None:
        functools.update_wrapper(self, function)
        del self.__dict__["__wrapped__"]  # the wrapper is the function, not something around it
        self.__srcgrad_primal__ = python_function(function)
        self._run = function
        self.wrt = wrt
        self.target = target_named(target)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._run(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return DifferentiableFunction(types.MethodType(self.__srcgrad_primal__, instance), self.wrt, self.target)

    def __reduce__(self) -> str | tuple[object, ...]:
        primal = self.__srcgrad_primal__
        if inspect.ismethod(primal):
            return getattr, (primal.__self__, primal.__name__)
        if goes_as_code(primal):
            return rebuild_object, (DifferentiableFunction, (primal, self.wrt, self.target.name), {}, lines_of(primal))
        return str(primal.__qualname__)

    @functools.cached_property
    def grad(self) -> Derivative[P, Any]:
        """The gradient; see `srcgrad.grad`."""
        return self._derivative("reverse")

    @functools.cached_property
    def value_and_grad(self) -> Derivative[P, tuple[R, Any]]:
        """Value and gradient; see `srcgrad.value_and_grad`."""
        return self._derivative("value-and-grad")

    def _derivative(self, mode: str) -> Derivative[P, Any]:
        return Derivative(self.__srcgrad_primal__, mode, self.wrt, not isinstance(self.wrt, tuple), self.target)

    @functools.cached_property
    def hvp(self) -> Any:
        """The product of the Hessian with a vector; see `srcgrad.hvp`."""
        return hvp(self.__srcgrad_primal__, self.wrt, target=self.target)

    @functools.cached_property
    def jacobian(self) -> Any:
        """The Jacobian; see `srcgrad.jacobian`."""
        return jacobian(self.__srcgrad_primal__, self.wrt, target=self.target)

    @functools.cached_property
    def hessian(self) -> Any:
        """The second derivatives; see `srcgrad.hessian`."""
        return hessian(self.__srcgrad_primal__, self.wrt, target=self.target)

    def vjp(self, *args: object) -> tuple[Any, Callable[[Any], Any]]:
        """Value and pullback at the arguments; see `srcgrad.vjp`."""
        return vjp(self.__srcgrad_primal__, *args, target=self.target)

    def jvp(self, primals: tuple[object, ...], tangents: tuple[object, ...]) -> tuple[Any, Any]:
        """Value and derivative along tangents; see `srcgrad.jvp`."""
        return jvp(self.__srcgrad_primal__, primals, tangents, target=self.target)

    @property
    def source(self) -> str:
        """The text of the gradient."""
        return self.grad.source

    def _repr_html_(self) -> str:
        return self.grad._repr_html_()

    @property
    def __signature__(self) -> Any:
        return inspect.signature(self.__srcgrad_primal__)


TEXTS = ("reverse", "value-and-grad", "vjp", "forward", "elementwise")


@hides_our_frames
def source(
    function: Callable[..., object],
    mode: str = "reverse",
    wrt: Wrt | None = None,
    *,
    target: str | Target = DEFAULT,
    like: object = None,
) -> str:
    """The text of a derivative. Without `wrt`: with respect to all parameters.

    `mode` is reverse, value-and-grad, vjp, forward, elementwise, hvp, jacobian or hessian. The last two put their
    result together column by column, which `srcgrad.jacobian` does itself, and with the fewer passes of the two modes.
    With `target="opencl"` it holds the kernels, as functions whose docstrings are the C. With `target="numba"`, the
    mode vjp is the pullback alone, which runs both halves. Annotations of shapes (`x: "n d"`, `x: float`,
    `x: Float[Array, "n d"]`) make it for such arguments, as example arguments in `like=(...)` do; it begins with a
    check of them.

    >>> from srcgrad import source
    >>> def cube(x): return x * x * x
    >>> "x_bar" in source(cube)
    True
    """
    if wrt is None:
        wrt = tuple(inspect.signature(function).parameters)
    single = not isinstance(wrt, tuple) or len(wrt) == 1
    if mode in ("hvp", "jacobian", "hessian"):
        return text_of(function, mode, wrt, single, target)
    if mode not in TEXTS:
        raise DifferentiationError("E5006", f"no mode is called {mode!r}", f"use {', '.join(TEXTS)}, hvp or jacobian")
    derivative: AnyDerivative = Derivative(function, mode, wrt, single, target, like=like)
    return derivative.source


@overload
def differentiate(
    function: Callable[P, R], *, wrt: Wrt = 0, target: str | Target = DEFAULT
) -> DifferentiableFunction[P, R]: ...


@overload
def differentiate(
    *, wrt: Wrt = 0, target: str | Target = DEFAULT
) -> Callable[[Callable[P, R]], DifferentiableFunction[P, R]]: ...  # with options


def differentiate(function: Any = None, *, wrt: Wrt = 0, target: str | Target = DEFAULT) -> Any:
    """A decorator: the function as it was, with its derivatives as attributes.

    They are `.grad`, `.value_and_grad`, `.vjp`, `.jvp`, `.hvp`, `.jacobian`, `.hessian`, and `.source`, the text.

    Nothing is parsed before a derivative is first used. With `target="opencl"` the derivatives run kernels,
    with `target="numba"` compiled loops; the function itself runs as it did.

    >>> import numpy as np
    >>> from srcgrad import differentiate
    >>> @differentiate
    ... def norm2(x): return np.sum(x * x)
    >>> norm2.grad(np.array([1.0]))
    array([2.])
    """
    if function is None:
        return lambda f: DifferentiableFunction(f, wrt, target)
    return DifferentiableFunction(function, wrt, target)
