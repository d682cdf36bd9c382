"""A function with derivatives: the primal itself, carrying them as attributes; and the text of each."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Generic, overload

from srcgrad.backend.targets import target_named
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.identity import python_function
from srcgrad.core.marks import goes_as_code
from srcgrad.core.source_text import hides_our_frames
from srcgrad.core.target import DEFAULT, Target
from srcgrad.interface.api.derivative import AnyDerivative, Derivative, P, R, Wrt
from srcgrad.interface.api.derivatives import (
    jvp,
    vjp,
)
from srcgrad.interface.api.execute import lines_of, rebuild_object


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
        from srcgrad.interface.api.calculus import hvp

        return hvp(self.__srcgrad_primal__, self.wrt, target=self.target)

    @functools.cached_property
    def jacobian(self) -> Any:
        """The Jacobian; see `srcgrad.jacobian`."""
        from srcgrad.interface.api.calculus import jacobian

        return jacobian(self.__srcgrad_primal__, self.wrt, target=self.target)

    @functools.cached_property
    def hessian(self) -> Any:
        """The second derivatives; see `srcgrad.hessian`."""
        from srcgrad.interface.api.calculus import hessian

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
        from srcgrad.interface.api.calculus import text_of

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
