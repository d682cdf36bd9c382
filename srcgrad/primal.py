"""Of what a derivative is: the function itself, or one that calls it where a rule says what it does."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any  # functions are arbitrary callables

import srcgrad.templates as templates
from srcgrad.adapters import is_ruled, with_rule
from srcgrad.errors import DifferentiationError
from srcgrad.load import load
from srcgrad.rules import rule_of


def primal_of(function: Callable[..., Any]) -> tuple[Any, tuple[Any, ...]]:
    """The function itself, and the arguments that are bound to it already."""
    function = getattr(function, "__srcgrad_primal__", function)
    templates.load()
    rule = rule_of(function)
    if rule is not None and rule.kind == "refused":
        raise DifferentiationError(
            "E5001", f"`{rule.name}` has no derivative: {rule.note}", "write a rule for a function of your own"
        )
    if rule is not None and rule.composition is not None:
        return rule.composition, ()
    if is_ruled(function):
        return with_rule(function), ()
    if not inspect.isfunction(function) and rule is not None:
        return _as_function(function), ()
    if hasattr(type(function), "wanted"):
        return _called(function), ()
    if inspect.ismethod(function):
        return primal_of(function.__func__)[0], (function.__self__,)
    if isinstance(function, functools.partial):
        if function.keywords:
            raise DifferentiationError(
                "E5008", "functools.partial with keywords is not accepted", "wrap the call in a function"
            )
        plain, bound = primal_of(function.func)
        return plain, (*bound, *function.args)
    return function, ()


def _called(derivative: Any) -> Any:
    """A Jacobian, or a product of a Hessian, as a function with source that calls it."""
    known = derivative.__signature__.parameters
    name, given = (
        derivative.__name__,
        ", ".join(f"{p}={p}" if k.kind is k.KEYWORD_ONLY else p for p, k in known.items()),
    )
    return load(f"def {name}({', '.join(known)}):\n    return of({given})\n", name, name, {"of": derivative}, by="call")


@functools.lru_cache(maxsize=256)
def _as_function(op: Any) -> Callable[..., Any]:
    """An operation of the table as a function with source, so that it can be differentiated like any other."""
    rule = rule_of(op)
    assert rule is not None, "the caller has looked"
    names = ", ".join(rule.parameters[:1] if len(rule.parameters) == 1 else _required(rule))
    name = getattr(op, "__name__", "op")
    return load(f"def {name}({names}):\n    return op({names})\n", name, rule.name, {"op": op})


def _required(rule: Any) -> list[str]:
    template = rule.template or rule.tangent
    if template is None:  # a constant, of its first argument
        return ["x"]
    parameters = list(inspect.signature(template).parameters.values())[1:]
    return [p.name for p in parameters if p.default is p.empty]
