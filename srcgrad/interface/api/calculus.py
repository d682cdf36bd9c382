"""The calculus on top of gradients: Jacobians, Hessians and their products, linear maps and their transposes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any  # functions and arguments are arbitrary objects

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.target import DEFAULT, Target
from srcgrad.frontend.calls.functions import makes
from srcgrad.interface.api.dependencies import as_named, lines_of, rebuild_object
from srcgrad.interface.api.derivative import Derivative, P, R, Wrt
from srcgrad.interface.api.derivatives import chosen_wrt, float_arguments, jvp, pulled_then, vjp
from srcgrad.interface.api.execute import ExecutedText
from srcgrad.interface.api.snapshots import Copies, copies
from srcgrad.interface.check.finite_differences import is_float, parts, vector, vector_along
from srcgrad.module import Module
from srcgrad.runtime import zeros_like

Function = Callable[..., Any]


@makes("elementwise")
def elementwise_grad(
    function: Callable[P, Any], wrt: Wrt = 0, *, argnums: Wrt | None = None, target: str | Target = DEFAULT
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
    return Derivative(function, "elementwise", wrt, not isinstance(wrt, tuple), target)


class HessianProduct:
    """The product of a Hessian and a vector: call it with the function's arguments and, last, the vector."""

    def __init__(self, function: Function, wrt: Wrt, target: str | Target) -> None:
        single = not isinstance(wrt, tuple)
        self.gradient: Derivative[..., Any] = Derivative(function, "reverse", wrt, single, target)
        self.derivative: Derivative[..., Any] = Derivative(self.gradient, "hvp", self.gradient.wrt, single, target)
        self.__name__ = self.derivative.__name__
        self.words = self.gradient.words

    def __reduce__(self) -> tuple[Any, ...]:
        gradient = self.gradient
        wrt = gradient.wrt[0] if gradient.single else gradient.wrt
        return rebuild_object, (
            HessianProduct,
            (as_named(gradient.function), wrt, gradient.target.name),
            {},
            lines_of(gradient.primal),
        )

    def hessp(self, x: Any, vector: Any, *args: Any) -> Any:
        """The product in the order of arguments that `scipy.optimize.minimize` calls `hessp` with: vector second."""
        return self(x, *args, vector)

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
def hvp(
    function: Function, wrt: Wrt = 0, *, argnums: Wrt | None = None, target: str | Target = DEFAULT
) -> HessianProduct:
    """The product of the Hessian with a vector, without the Hessian: `hvp(f)(x, v)` is `hessian(f)(x) @ v`.

    The vector comes after the function's arguments and has the structure and shape of the argument that `wrt` names
    (a tuple of them if `wrt` is one); so has the result. It is forward mode over the text of the gradient, at a small
    multiple of the cost of the function. Errors are those of `grad`; E5014 if the vector does not fit.
    `hvp(f).hessp(x, v, *args)` is the same in the order of arguments that `scipy.optimize.minimize` wants.

    >>> import numpy as np
    >>> from srcgrad import hvp
    >>> hvp(lambda x: np.sum(x * x * x))(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([6., 0.])
    """
    return HessianProduct(function, chosen_wrt(function, wrt, argnums), target)


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

    def __call__(self, *given: Any) -> Any:
        if len(given) != len(self.tangent_inputs):
            message = f"{len(given)} values for {', '.join(self.tangent_inputs)}"
            raise DifferentiationError("E5014", message, "give one for each")
        return self.run(*given)

    @property
    def source(self) -> str:
        """The text that runs."""
        return self.text()


@makes("linearize")
def linearize(
    function: Callable[..., R], *args: Any, wrt: Wrt | None = None, target: str | Target = DEFAULT, copy: bool = True
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
    ahead: Derivative[..., Any] = Derivative(function, "forward", places, False, target)
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

    ahead: Derivative[..., Any]
    args: tuple[Any, ...]
    kept: _KeptArguments | None = field(default=None, repr=False)

    def __call__(self, *tangents: Any) -> Any:
        if self.kept is None:
            return self.ahead.forward(self.args, tangents)[1]
        return self.ahead.forward(self.kept.values, tangents, made=self.kept.made)[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return _TangentMap, (self.ahead, self.args)


@dataclass
class _PullbackMap:
    """The pullback at the arguments of a linear map, made when it is first asked for."""

    ahead: Derivative[..., Any]
    args: tuple[Any, ...]
    kept: _KeptArguments | None = field(default=None, repr=False)
    made: Function | None = field(default=None, repr=False)

    def __call__(self, seed: Any) -> Any:
        if self.made is None:
            function, wrt, target = self.ahead.function, self.ahead.wrt, self.ahead.target
            if self.kept is None or not target.closures:
                _, self.made = vjp(function, *self.args, wrt=wrt, target=target, copy=False)
            else:
                behind: Derivative[..., Any] = Derivative(function, "vjp", wrt, False, target)
                self.made = pulled_then(behind, self.kept.values, self.kept.known)
        return self.made(seed)

    def __reduce__(self) -> tuple[Any, ...]:
        return _PullbackMap, (self.ahead, self.args)

    def text(self) -> str:
        behind: Derivative[..., Any] = Derivative(self.ahead.function, "vjp", self.ahead.wrt, False, self.ahead.target)
        return behind.source


def _place(name: str, derivative: Derivative[..., Any]) -> int:
    return list(derivative.signature.parameters).index(name) - len(derivative.bound)


def _agree(y: Any, y_dot: Any) -> bool:
    """Whether a function gives what its derivative along its own arguments gives."""
    one, other = vector(y), vector_along(y, y_dot)
    tolerance = 1e3 * float(np.finfo(np.result_type(*(np.asarray(p) for _, p in parts(y) if is_float(p)))).eps)
    return bool(np.linalg.norm(one - other) <= tolerance * max(np.linalg.norm(one), np.linalg.norm(other)))


@makes("transpose")
def transpose(linear: Function, *like: Any, target: str | Target = DEFAULT) -> Any:
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
    primal: Derivative[..., Any] = Derivative(function, "reverse", chosen, single)
    made = Module().derivative_function(primal.primal, mode, primal.wrt, {}, single=single)
    return made.text
