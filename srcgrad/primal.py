"""Of what a derivative is: the function itself, or one that calls it where a rule says what it does."""

from __future__ import annotations

import functools
import inspect
import operator
from types import FunctionType, MethodType
from typing import Any  # functions are arbitrary callables

import srcgrad.templates as templates
from srcgrad.errors import DifferentiationError
from srcgrad.front.wrappers import passed_on
from srcgrad.identity import uncached, uncompiled
from srcgrad.load import load
from srcgrad.rules import rule_of
from srcgrad.sealed import is_opaque
from srcgrad.signatures import Function, call_of


def primal_of(function: Function) -> tuple[Any, tuple[Any, ...]]:
    """The function itself, and the arguments that are bound to it already."""
    function = passed_on(uncompiled(uncached(getattr(function, "__srcgrad_primal__", function))))
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
                "E5008", "functools.partial with keywords is not accepted here", "wrap the call in a function"
            )
        plain, bound = primal_of(function.func)
        return plain, (*bound, *function.args)
    return function, ()


def given_of(function: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any], inspect.Signature]:
    """The function itself, the arguments that it has already, in front and by name, and its whole signature."""
    plain, words = without_words(function)
    primal, bound = primal_of(plain)
    if hasattr(type(primal), "as_function"):  # a derivative, whose `__wrapped__` is made when it is looked at
        return primal, (*primal.bound, *bound), {**primal.words, **words}, primal.signature
    return primal, bound, words, inspect.signature(primal)


def as_is_now(signature: inspect.Signature, primal: Any) -> inspect.Signature:
    """The signature with the defaults that a function has now: `f.__defaults__` may have been set anew.

    >>> def f(x, k=1): return x
    >>> before = inspect.signature(f)
    >>> f.__defaults__ = (2,)
    >>> as_is_now(before, f)
    <Signature (x, k=2)>
    """
    if not isinstance(primal, FunctionType):
        return signature
    values = [*(primal.__defaults__ or ()), *(primal.__kwdefaults__ or {}).values()]
    known = [one.default for one in signature.parameters.values() if one.default is not one.empty]
    same = len(values) == len(known) and all(map(operator.is_, values, known))
    return signature if same else inspect.signature(primal)


def in_order(
    signature: inspect.Signature, primal: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """All arguments in the order of the parameters, with the defaults that the function has now."""
    if not kwargs and len(args) == len(signature.parameters):
        return args
    bound = as_is_now(signature, primal).bind(*args, **kwargs)
    bound.apply_defaults()
    return tuple(bound.arguments.values())


def without_words(function: Any) -> tuple[Any, dict[str, Any]]:
    """A function, and the arguments that a `functools.partial` of it has by name.

    >>> without_words(functools.partial(max, key=abs))
    (functools.partial(<built-in function max>), {'key': <built-in function abs>})
    """
    if isinstance(function, functools.partial) and function.keywords:
        return functools.partial(function.func, *function.args), dict(function.keywords)
    return function, {}


def _called(derivative: Any) -> Any:
    """A Jacobian, or a product of a Hessian, as a function with source that calls it."""
    known = {p: k for p, k in derivative.__signature__.parameters.items() if p not in derivative.words}
    name, given = (
        derivative.__name__,
        ", ".join(f"{p}={p}" if k.kind is k.KEYWORD_ONLY else p for p, k in known.items()),
    )
    return load(f"def {name}({', '.join(known)}):\n    return of({given})\n", name, name, {"of": derivative}, by="call")


@functools.lru_cache(maxsize=256)
def _as_function(op: Any) -> Function:
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


def is_ruled(function: Any) -> bool:
    """Whether a function of a user has a rule, or may not be looked into: its source says nothing then."""
    known = rule_of(function)
    if known is not None and known.own is not None:
        return True
    if not isinstance(function, FunctionType | MethodType | functools.partial):
        return False
    module = str(getattr(function, "__module__", "")).partition(".")[0]
    return is_opaque(function) or (known is not None and module not in _LIBRARIES)


_LIBRARIES = ("numpy", "scipy", "srcgrad")


@functools.lru_cache(maxsize=256)
def with_rule(function: Function) -> Function:
    """A function that calls another one, so that the other's rule is used."""
    rule, owner = rule_of(function), _owner(function)
    halves = rule is not None and rule.own is not None and rule.own.applied is not None
    call = call_of(owner.forward, name=owner.__name__, skipped=1) if halves else call_of(function)
    given = [*call.positional, *([f"*{call.variadic}"] if call.variadic else []), *(f"{w}={w}" for w in call.words)]
    name = call.stem
    made = load(f"def {name}({call.parameters}):\n    return {name}({', '.join(given)})\n", name, call.name, {})
    made.__globals__[name] = function
    return made


def _owner(function: Function) -> Any:
    """The class or the object of a bound method."""
    return getattr(function, "__self__", None)
