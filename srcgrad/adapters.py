"""Rules of users in other forms, as templates that call them: everything else is as for any template."""

from __future__ import annotations

import functools
import inspect
import keyword
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FunctionType, MethodType
from typing import Any  # functions with rules are arbitrary callables

import numpy as np

from srcgrad.errors import DifferentiationError
from srcgrad.load import load
from srcgrad.own import Own
from srcgrad.rules import Rule, d, rule_of, spelling
from srcgrad.runtime import check_adjoint, check_adjoints
from srcgrad.sealed import is_opaque

Function = Callable[..., Any]
_KINDS = inspect.Parameter


@dataclass(frozen=True)
class Call:
    """How a function is called: its positional parameters, those given by keyword only, literal defaults."""

    name: str
    positional: tuple[str, ...]
    words: tuple[str, ...]
    defaults: dict[str, str]
    variadic: str = ""

    def check(self, rule: Function, takes: tuple[str, ...]) -> None:
        """Refuse a rule that cannot be called with these arguments, and with those that it names itself: E5013."""
        words = self.named(rule, takes)
        try:
            inspect.signature(rule).bind(*takes, **dict.fromkeys(words))
        except ValueError:
            return  # a compiled function that does not tell
        except TypeError as error:
            given = ", ".join([*takes, *(f"{word}={word}" for word in words)])
            raise DifferentiationError(
                "E5013",
                f"the rule of {self.name} cannot be called with ({given}): {error}",
                f"define it as `def {getattr(rule, '__name__', 'rule')}({', '.join([*takes, *words])})`",
            ) from None

    def named(self, rule: Function, takes: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The parameters that a rule gets by name: those given by keyword only, and those that it names itself."""
        try:
            own = list(inspect.signature(rule).parameters.values())[len(takes) :]
        except (TypeError, ValueError):
            own = []
        asked = {p.name for p in own if p.kind in (_KINDS.POSITIONAL_OR_KEYWORD, _KINDS.KEYWORD_ONLY)}
        return (*(name for name in self.positional if name in asked and name not in takes), *self.words)


def call_of(function: Function) -> Call:
    """How a function is called; E5013 where that is not known, or where arguments have no names."""
    name = spelling(getattr(function, "__srcgrad_primal__", function))
    if isinstance(function, np.ufunc):
        return Call(name, tuple("xyzuvw"[: function.nin]), (), {})
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise DifferentiationError(
            "E5013", f"the parameters of {name} are not known", "call it from a function of your own, with a rule"
        ) from None
    positional = tuple(p.name for p in parameters if p.kind in (_KINDS.POSITIONAL_ONLY, _KINDS.POSITIONAL_OR_KEYWORD))
    variadic = next((p.name for p in parameters if p.kind is _KINDS.VAR_POSITIONAL), "")
    if any(p.kind is _KINDS.VAR_KEYWORD for p in parameters) or (variadic and positional):
        raise DifferentiationError(
            "E5013", f"{name} takes arguments without names", "name its parameters; `*args` alone is accepted"
        )
    words = tuple(p.name for p in parameters if p.kind is _KINDS.KEYWORD_ONLY)
    defaults = {p.name: text for p in parameters if (text := _literal(p.default)) is not None}
    return Call(name, positional, words, defaults, variadic)


def _literal(value: Any) -> str | None:
    """How a default is spelled; None where it takes more than a literal."""
    if value is _KINDS.empty:
        return None
    if isinstance(value, tuple):
        parts = [_literal(item) for item in value]
        return None if None in parts else f"({', '.join(map(str, parts))}{',' * (len(parts) == 1)})"
    plain = value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))
    return repr(value) if plain else None


def adapted(function: Function, own: Own) -> Rule:
    """The rule of a function, made of what its author gave."""
    function = getattr(function, "__srcgrad_primal__", function)
    call = call_of(function)
    reverse = forward = None
    if own.vjp is not None:
        reverse = _template(call, own.vjp, _of_vjp(call, own.vjp))
    elif own.sensitivities or own.accumulators:
        own = replace(
            own, missing=tuple(p for p in call.positional if p not in (*own.sensitivities, *own.accumulators))
        )
        reverse = _template(call, None, _of_sensitivities(call, own))
    if own.jvp is not None:
        forward = _template(call, own.jvp, _of_jvp(call, own.jvp))
    own = replace(own, remedy=_remedies(call, own))
    return Rule(function, call.name, "general", reverse, forward, own=own)


def _remedies(call: Call, own: Own) -> dict[str, str]:
    """What to write where a derivative asks for a rule that is not there, with its signature."""
    name = call.name.rpartition(".")[2].strip("<>") or "f"
    found = {
        "forward": f"write `@srcgrad.register_jvp({name})` above `def {name}_jvp(primals, tangents, output)`, "
        "which returns the tangent of the output",
        "reverse": f"write `@srcgrad.register_vjp({name})` above `def {name}_vjp(primals, cotangent, output)`, "
        "which returns one adjoint per argument",
    }
    arguments = ", ".join(("y", "y_bar", *call.positional))
    for parameter in own.missing:
        found[parameter] = (
            f"write `@srcgrad.sensitivity({name}, arg={parameter!r})` above `def {name}_{parameter}({arguments})`, "
            "which returns the adjoint, or None if there is none"
        )
    return found


@dataclass
class _Text:
    """The body of a template, and the objects that its names mean."""

    lines: list[str]
    names: dict[str, Any]
    result: str

    def spell(self, value: Any, name: str, call: Call) -> str:
        """A name for an object that no parameter has, and no other object."""
        name = name if name.isidentifier() and not keyword.iskeyword(name) else "rule"
        while name in (*call.positional, *call.words, call.variadic, "d", self.result) or (
            self.names.get(name, value) is not value
        ):
            name += "_"
        self.names[name] = value
        return name


def _start(call: Call) -> _Text:
    taken = (*call.positional, *call.words, call.variadic)
    result = "z"
    while result in taken:
        result += "_"
    return _Text([], {}, result)


def _fresh(call: Call, stem: str) -> str:
    while stem in (*call.positional, *call.words, call.variadic):
        stem += "_"
    return stem


def _name(rule: Any, default: str) -> str:
    found = str(getattr(rule, "__name__", ""))
    return found if found.isidentifier() else default


def _primals(call: Call, rule: Function) -> tuple[list[str], str]:
    """The parameters in `primals`, and the keywords of a rule's call."""
    words = call.named(rule, ("", "", ""))
    listed = [p for p in call.positional if p not in words]
    return listed, "".join(f", {word}={word}" for word in words)


def _display(parts: list[str]) -> str:
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def _stem(call: Call) -> str:
    stem = call.name.rpartition(".")[2]
    return stem if stem.isidentifier() else "f"


def _of_vjp(call: Call, rule: Function) -> _Text:
    text = _start(call)
    spelled = text.spell(rule, _name(rule, f"{_stem(call)}_vjp"), call)
    check = text.spell(check_adjoints, "check_adjoints", call)
    listed, words = _primals(call, rule)
    primals, z = call.variadic or _display(listed), text.result
    given = f"{check}({spelled}({primals}, d[{z}], {z}{words}), {primals})"
    if call.variadic:
        text.lines = [f"d[{call.variadic}] = {given}"]
    elif len(listed) == 1:
        text.lines = [f"d[{listed[0]}] = {given}[0]"]
    else:
        t = _fresh(call, "t")
        text.lines = [f"{t} = {given}", *(f"d[{p}] = {t}[{k}]" for k, p in enumerate(listed))]
    return text


def _of_jvp(call: Call, rule: Function) -> _Text:
    text = _start(call)
    spelled = text.spell(rule, _name(rule, f"{_stem(call)}_jvp"), call)
    check = text.spell(check_adjoint, "check_adjoint", call)
    listed, words = _primals(call, rule)
    primals = call.variadic or _display(listed)
    tangents = f"d[{call.variadic}]" if call.variadic else _display([f"d[{p}]" for p in listed])
    text.lines = [f"d[{text.result}] = {check}({spelled}({primals}, {tangents}, {text.result}{words}), {text.result})"]
    return text


def _of_sensitivities(call: Call, own: Own) -> _Text:
    text, z = _start(call), ""
    z = text.result
    check = text.spell(check_adjoint, "check_adjoint", call)
    arguments = "".join(f", {p}" for p in call.positional)
    commons: dict[int, str] = {}
    for parameter in call.positional:
        rule = own.sensitivities.get(parameter)
        if rule is None and parameter not in own.accumulators:
            text.lines.append(f"d[{parameter}] = {check}(d[{z}], {parameter})")  # refused where it is asked for
        if rule is None:
            continue
        shared = own.shared.get(parameter)
        first = ""
        if shared is not None:
            if id(shared) not in commons:
                commons[id(shared)] = _fresh(call, f"t{len(commons) + 1}")
                words = "".join(f", {w}={w}" for w in call.words)
                spelled = text.spell(shared, _name(shared, "shared"), call)
                text.lines.append(f"{commons[id(shared)]} = {spelled}({z}, d[{z}]{arguments}{words})")
            first = f"{commons[id(shared)]}, "
        words = "".join(f", {w}={w}" for w in call.words)
        spelled = text.spell(rule, _name(rule, f"{_stem(call)}_{parameter}"), call)
        text.lines.append(f"d[{parameter}] = {check}({spelled}({first}{z}, d[{z}]{arguments}{words}), {parameter})")
    return text


def _template(call: Call, author: Any, text: _Text) -> Function:
    """The function that a template is, from its text."""
    parameters = [_parameter(p, call) for p in call.positional]
    if call.variadic:
        parameters.append(f"*{call.variadic}")
    elif call.words:
        parameters.append("*")
    parameters += [_parameter(p, call) for p in call.words]
    name = f"{_stem(call)}_rule"
    while name in text.names:
        name += "_"
    body = "\n    ".join(text.lines)
    made = load(
        f"def {name}({', '.join([text.result, *parameters])}):\n    {body}\n", name, call.name, {**text.names, "d": d}
    )
    made.__module__ = getattr(author, "__module__", None) or made.__module__
    return made


def _parameter(name: str, call: Call) -> str:
    return f"{name}={call.defaults[name]}" if name in call.defaults else name


def is_ruled(function: Any) -> bool:
    """Whether a function of a user has a rule, or may not be looked into: its source says nothing then."""
    if not isinstance(function, FunctionType | MethodType | functools.partial):
        return False
    module = str(getattr(function, "__module__", "")).partition(".")[0]
    known = rule_of(function)
    return is_opaque(function) or (known is not None and (known.own is not None or module not in _LIBRARIES))


_LIBRARIES = ("numpy", "scipy", "srcgrad")


@functools.lru_cache(maxsize=256)
def with_rule(function: Function) -> Function:
    """A function that calls another one, so that the other's rule is used."""
    call = call_of(function)
    text = [_parameter(p, call) for p in call.positional]
    text += [f"*{call.variadic}"] if call.variadic else ["*"] * bool(call.words)
    text += [_parameter(p, call) for p in call.words]
    given = [*call.positional, *([f"*{call.variadic}"] if call.variadic else []), *(f"{w}={w}" for w in call.words)]
    name = _stem(call)
    made = load(f"def {name}({', '.join(text)}):\n    return {name}({', '.join(given)})\n", name, call.name, {})
    made.__globals__[name] = function
    return made
