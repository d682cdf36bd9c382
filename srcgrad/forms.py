"""Rules of users in forms other than templates: a function for both modes each, one per argument, opaque functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any  # functions with rules, and their rules, are arbitrary callables

import srcgrad.templates as templates
from srcgrad.adapters import adapted
from srcgrad.errors import DifferentiationError
from srcgrad.identity import spelling
from srcgrad.own import Own
from srcgrad.rules import register_own, rule_of
from srcgrad.signatures import Call, Function, call_of

TAKES = {"vjp": ("primals", "cotangent", "output"), "jvp": ("primals", "tangents", "output")}


def register_vjp(function: Function, rule: Function | None = None) -> Any:
    """Declare the reverse rule of a function: `rule(primals, cotangent, output)` gives one adjoint per argument.

    `primals` are the arguments of the call in the order of the parameters, defaults filled in; None in the result
    stands for an argument that has no derivative. An argument that the rule names itself, and one that can be given
    by keyword only, comes by its name and not in `primals`. Without `rule` it is a decorator. Adjoints have the
    shapes of their primals, or the common one where the primals broadcast (E5004). E5013 for a rule that cannot be
    called so, or where there is another one.

    >>> from srcgrad import grad, register_vjp
    >>> def area(width, height): return width * height
    >>> @register_vjp(area)
    ... def area_vjp(primals, cotangent, output):
    ...     width, height = primals
    ...     return cotangent * height, cotangent * width
    >>> grad(area, wrt=(0, 1))(2.0, 3.0)
    (3.0, 2.0)
    """
    return _declared(function, rule, "vjp")


def register_jvp(function: Function, rule: Function | None = None) -> Any:
    """Declare the forward rule of a function: `rule(primals, tangents, output)` gives the tangent of the output.

    `primals` are those of `register_vjp`; `tangents` has one entry for each, zero where nothing flows, and None
    for what is no number.

    >>> from srcgrad import jvp, register_jvp
    >>> def volume(side): return side * side * side
    >>> @register_jvp(volume)
    ... def volume_jvp(primals, tangents, output):
    ...     return 3.0 * primals[0] * primals[0] * tangents[0]
    >>> jvp(volume, (2.0,), (1.0,))
    (8.0, 12.0)
    """
    return _declared(function, rule, "jvp")


def sensitivity(
    function: Function, arg: int | str, *, shared: Function | None = None, accumulate: bool = False
) -> Callable[[Function], Function]:
    """A decorator that declares the reverse rule of one argument, a position or a name.

    `rule(y, y_bar, *args)` gives the adjoint of that argument; it runs only where that adjoint is asked for. With
    `shared`, `shared(y, y_bar, *args)` runs once for all the arguments that name it, and its value comes first:
    `rule(common, y, y_bar, *args)`. With `accumulate`, `rule(x_bar, y, y_bar, *args)` adds to the array `x_bar` in
    place, and returns it.

    >>> from srcgrad import grad, sensitivity
    >>> def area(width, height): return width * height
    >>> @sensitivity(area, arg="width")
    ... def area_width(y, y_bar, width, height): return y_bar * height
    >>> grad(area)(2.0, 3.0)
    3.0
    """

    def declare(rule: Function) -> Function:
        call = call_of(function)
        parameter = _parameter(call, arg)
        own = _own(function)
        if own.vjp is not None:
            raise twice(function, own.vjp)
        first = ("x_bar",) if accumulate else ("common",) if shared is not None else ()
        call.check(rule, (*first, "y", "y_bar", *call.positional))
        slot = own.accumulators if accumulate else own.sensitivities
        _check_author(function, slot.get(parameter), rule)
        changed = {**slot, parameter: rule}
        own = replace(own, accumulators=changed) if accumulate else replace(own, sensitivities=changed)
        if shared is not None:
            own = replace(own, shared={**own.shared, parameter: shared})
        register_own(adapted(function, own))
        return rule

    return declare


def _declared(function: Function, rule: Function | None, which: str) -> Any:
    def declare(rule: Function) -> Function:
        call_of(function).check(rule, TAKES[which])
        own = _own(function)
        taken = next(iter(own.sensitivities.values()), None) if which == "vjp" else None
        _check_author(function, getattr(own, which), rule)
        if taken is not None:
            raise twice(function, taken)
        register_own(adapted(function, replace(own, vjp=rule) if which == "vjp" else replace(own, jvp=rule)))
        return rule

    return declare if rule is None else declare(rule)


def _own(function: Function) -> Own:
    """What is declared of a function so far, in these forms; E5013 if it has a rule in another one."""
    templates.load()
    known = rule_of(getattr(function, "__srcgrad_primal__", function))
    if known is None:
        return Own()
    if known.own is None or known.own.applied is not None:
        raise twice(function, known.definition)
    return replace(known.own, remedy={})


def _check_author(function: Function, known: Function | None, rule: Function) -> None:
    """Refuse a second rule, unless it is the first one written anew, as in a notebook."""
    if known is not None and _author(known) != _author(rule):
        raise twice(function, known)


def _author(rule: Function) -> tuple[Any, ...]:
    name = getattr(rule, "__qualname__", "")
    return (getattr(rule, "__module__", None), name) if name and "<lambda>" not in name else (id(rule),)


def twice(function: Any, known: Any) -> DifferentiationError:
    """E5013 for a second rule of one function."""
    name = spelling(getattr(function, "__srcgrad_primal__", function))
    by = (
        "it is declared to have no derivative"
        if known is None
        else f"`{getattr(known, '__name__', getattr(known, 'qualname', known))}`"
    )
    return DifferentiationError("E5013", f"{name} has a rule already ({by})", "remove one of the two")


def _parameter(call: Call, arg: int | str) -> str:
    names = call.positional
    if isinstance(arg, int) and not isinstance(arg, bool) and -len(names) <= arg < len(names):
        return names[arg]
    if arg in names:
        return str(arg)
    raise DifferentiationError(
        "E5013", f"{call.name} has no argument {arg!r}", f"its arguments are: {', '.join(names) or 'none'}"
    )
