"""Functions that are written as two halves: a class with `forward` and `backward`."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any  # the halves take and give values of any kind

import srcgrad.templates as templates
from srcgrad.adapters import Text, fresh, of_call, start, template
from srcgrad.errors import DifferentiationError
from srcgrad.own import Own
from srcgrad.primals import of_primals
from srcgrad.rules import Rule, register_own
from srcgrad.runtime import Context, check_adjoint, check_adjoints
from srcgrad.sealed import opaque
from srcgrad.signatures import Call, call_of


class Function:
    """A function in two halves. Subclass it, write both as static methods, and call `apply`.

    `forward(ctx, *args)` gives the value; it keeps what the other half needs by `ctx.save_for_backward(...)` or as
    attributes of `ctx`, which is one object per call. `backward(ctx, y_bar)` gives one adjoint per argument, None for
    one that has no derivative. Where `forward` gives a tuple, `y_bar` is one; or else `backward(ctx, y_bar, index)`
    is called for each output that matters, and what it gives is added up. `jvp(ctx, *tangents)`, if there is one,
    gives the tangent of the value, for forward mode.

    >>> from srcgrad import Function, grad
    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, y_bar):
    ...         (x,) = ctx.saved_tensors
    ...         return 2.0 * x * y_bar
    >>> def f(x): return 3.0 * Square.apply(x)
    >>> f(2.0), grad(f)(2.0)
    (12.0, 12.0)
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        templates.load()
        if cls.lacks():
            opaque(cls.apply)
        else:
            register_own(of_class(cls))

    @classmethod
    def has(cls, half: str) -> bool:
        """Whether a half is written, in the class or in one above it."""
        own = inspect.getattr_static(cls, half, None)
        return own is not None and own is not inspect.getattr_static(Function, half, None)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """The value, as `forward` gives it; derivatives flow through this call."""
        if not cls.has("forward"):
            raise missing(cls, "forward")
        half: Any = cls.forward
        return half(Context(*args), *args, **kwargs)

    @staticmethod
    def forward(ctx: Context, *args: Any) -> Any:
        """The value; to be written."""
        raise missing(Function, "forward")

    @staticmethod
    def backward(ctx: Context, *adjoints: Any) -> Any:
        """The adjoints of the arguments; to be written."""
        raise missing(Function, "backward")

    @classmethod
    def lacks(cls) -> str:
        """The name of a half that is not written, or nothing."""
        return next((half for half in ("forward", "backward") if not cls.has(half)), "")


INDICES = ("index", "idx", "out_index", "out_idx")  # what the third parameter of `backward` may be called


def missing(owner: type, half: str) -> DifferentiationError:
    """E5003 for a half that is not written."""
    return DifferentiationError(
        "E5003", f"the class {owner.__qualname__} has no `{half}`", f"write `{half}(ctx, ...)` in it, a static method"
    )


def of_class(owner: type[Function]) -> Rule:
    """The rule of `owner.apply`: its halves, as templates call them."""
    halves: Any = owner
    call = call_of(halves.forward, name=f"{owner.__module__}.{owner.__qualname__}", skipped=1)
    call = replace(call, name=f"{owner.__module__}.{owner.__name__}")
    own = Own(applied=owner, context=fresh(call, "ctx"), index=_index(owner))
    if call.variadic:
        raise DifferentiationError(
            "E5013", f"the `forward` of {owner.__qualname__} takes arguments without names", "name its parameters"
        )
    backward = template(call, halves.forward, _of_backward(owner, call, own))
    tangent = template(call, halves.forward, _of_jvp(owner, call, own)) if hasattr(owner, "jvp") else None
    tangents = ", ".join(f"{p}_dot" for p in call.positional)
    remedy = f"write `jvp(ctx, {tangents})` in the class {owner.__qualname__}, which returns the tangent of the output"
    own = replace(own, remedy={"forward": remedy}, again=lambda: _again(owner, call))
    return Rule(owner.apply, call.name, "general", backward, tangent, own=own)


def _again(owner: type[Function], call: Call) -> Rule:
    """The rule in text that is differentiated again: of functions that say what is kept."""
    if _index(owner):
        raise DifferentiationError(
            "E5003",
            f"the class {owner.__qualname__} has no second derivative: its `backward` takes one output at a time",
            "define it as `backward(ctx, y_bar)`, which takes the adjoints of all outputs as a tuple",
        )
    vjp = of_primals(owner, "backward", "cotangent")
    jvp = of_primals(owner, "jvp", "tangents") if hasattr(owner, "jvp") else None
    remedy = {"forward": f"write `jvp(ctx, ...)` in the class {owner.__qualname__}"}
    return of_call(owner.apply, call, Own(vjp=vjp, jvp=jvp, remedy=remedy))


def _index(owner: type[Function]) -> str:
    """The third parameter of `backward`, for which it gets the place of an output; E5013 for any other."""
    halves: Any = owner
    parameters = list(inspect.signature(halves.backward).parameters.values())[2:]
    if not parameters:
        return ""
    if len(parameters) > 1 or parameters[0].name not in INDICES:
        raise DifferentiationError(
            "E5013",
            f"the `backward` of {owner.__qualname__} takes {parameters[0].name}",
            "define it as `backward(ctx, y_bar)`, or `backward(ctx, y_bar, index)` for one output at a time",
        )
    return parameters[0].name


def _of_backward(owner: type[Function], call: Call, own: Own) -> Text:
    text = start(call)
    spelled, check = text.spell(owner, owner.__name__, call), text.spell(check_adjoints, "check_adjoints", call)
    place = f", {fresh(call, own.index)}" if own.index else ""
    given = f"{check}({spelled}.backward({own.context}, d[{text.result}]{place}), {own.context}.inputs)"
    if len(call.positional) == 1:
        text.lines = [f"d[{call.positional[0]}] = {given}[0]"]
    else:
        t = fresh(call, "t")
        text.lines = [f"{t} = {given}", *(f"d[{p}] = {t}[{k}]" for k, p in enumerate(call.positional))]
    return text


def _of_jvp(owner: type[Function], call: Call, own: Own) -> Text:
    text = start(call)
    spelled, check = text.spell(owner, owner.__name__, call), text.spell(check_adjoint, "check_adjoint", call)
    tangents = "".join(f", d[{p}]" for p in call.positional)
    text.lines = [f"d[{text.result}] = {check}({spelled}.jvp({own.context}{tangents}), {text.result})"]
    return text
