"""How functions with rules are called, and whether their rules can be."""

from __future__ import annotations

import ast
import inspect
import math
from dataclasses import dataclass
from typing import Any  # functions with rules are arbitrary callables

import numpy as np

from srcgrad.errors import DifferentiationError
from srcgrad.front.static import StaticFunction
from srcgrad.identity import spelling

Function = Any  # a function, or one that is known only as text
_KINDS = inspect.Parameter


@dataclass(frozen=True)
class Call:
    """How a function is called: its positional parameters, those given by keyword only, literal defaults."""

    name: str
    positional: tuple[str, ...]
    words: tuple[str, ...]
    defaults: dict[str, str]
    variadic: str = ""

    @property
    def stem(self) -> str:
        """The last part of the function's name."""
        stem = self.name.rpartition(".")[2]
        return stem if stem.isidentifier() else "f"

    def parameter(self, name: str) -> str:
        """A parameter with its default, as a `def` has it."""
        return f"{name}={self.defaults[name]}" if name in self.defaults else name

    @property
    def parameters(self) -> str:
        """All parameters with their defaults, as a `def` has them."""
        made = [self.parameter(p) for p in self.positional]
        if self.variadic:
            made.append(f"*{self.variadic}")
        elif self.words:
            made.append("*")
        return ", ".join([*made, *(self.parameter(p) for p in self.words)])

    def check(self, rule: Function, takes: tuple[str, ...]) -> None:
        """Refuse a rule that cannot be called with these arguments, and with those that it names itself: E5013."""
        words = self.named(rule, takes)
        try:
            signature_of(rule).bind(*takes, **dict.fromkeys(words))
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
            own = list(signature_of(rule).parameters.values())[len(takes) :]
        except (TypeError, ValueError):
            own = []
        asked = {p.name for p in own if p.kind in (_KINDS.POSITIONAL_OR_KEYWORD, _KINDS.KEYWORD_ONLY)}
        return (*(name for name in self.positional if name in asked and name not in takes), *self.words)


def call_of(function: Function, *, name: str = "", skipped: int = 0) -> Call:
    """How a function is called, its first parameters left out; E5013 where that is not known.

    So it is where parameters have no names.
    """
    name = name or spelling(getattr(function, "__srcgrad_primal__", function))
    if isinstance(function, np.ufunc):
        return Call(name, tuple("xyzuvw"[: function.nin]), (), {})
    try:
        parameters = list(signature_of(function).parameters.values())[skipped:]
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


def signature_of(function: Any) -> inspect.Signature:
    """The signature of a function, also of one that is known only as text."""
    return inspect.signature(function) if not isinstance(function, StaticFunction) else _of_text(function)


def _of_text(function: StaticFunction) -> inspect.Signature:
    given = function.node.args
    positional: list[tuple[ast.arg, Any]] = [(p, _KINDS.POSITIONAL_ONLY) for p in given.posonlyargs]
    positional += [(p, _KINDS.POSITIONAL_OR_KEYWORD) for p in given.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults))
    pairs = zip(positional, [*defaults, *given.defaults], strict=True)
    made = [_parameter(p, kind, value) for (p, kind), value in pairs]
    if given.vararg is not None:
        made.append(inspect.Parameter(given.vararg.arg, _KINDS.VAR_POSITIONAL))
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    made += [_parameter(p, _KINDS.KEYWORD_ONLY, value) for p, value in named]
    if given.kwarg is not None:
        made.append(inspect.Parameter(given.kwarg.arg, _KINDS.VAR_KEYWORD))
    return inspect.Signature(made)


def _parameter(node: ast.arg, kind: Any, default: ast.expr | None) -> inspect.Parameter:
    value: Any = _KINDS.empty
    if default is not None:
        try:
            value = ast.literal_eval(default)
        except ValueError:
            value = default  # it takes more than a literal
    return inspect.Parameter(node.arg, kind, default=value)


def _literal(value: Any) -> str | None:
    """How a default is spelled; None where it takes more than a literal."""
    if value is _KINDS.empty:
        return None
    if isinstance(value, tuple):
        parts = [_literal(item) for item in value]
        return None if None in parts else f"({', '.join(map(str, parts))}{',' * (len(parts) == 1)})"
    plain = value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))
    return repr(value) if plain else None
