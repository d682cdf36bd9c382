"""What users give for their functions in other forms than templates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any  # rules are arbitrary callables


@dataclass(frozen=True)
class Own:
    """What a user gave for a function in another form than a template; templates that call it are made from it.

    `sensitivities` and `accumulators` are keyed by parameter, `shared` is what the former have in common; `applied`
    is a class with `forward` and `backward`.
    """

    vjp: Any = None
    jvp: Any = None
    sensitivities: dict[str, Any] = field(default_factory=dict)
    accumulators: dict[str, Any] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)
    adding: Any = None  # the template of the accumulators
    applied: Any = None
    context: str = ""  # names that its templates have for what a call keeps, and for the place of an output
    index: str = ""
    again: Callable[[], Any] | None = None  # the rule as a function of the primals, to be differentiated
    missing: tuple[str, ...] = ()  # parameters of which nothing is known
    remedy: dict[str, str] = field(default_factory=dict)  # what to write: by "reverse", "forward" or parameter
