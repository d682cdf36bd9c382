"""Python's own functions in a text, also where the user has others by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from srcgrad.front.resolve import binding_of
from srcgrad.trees import expression

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain


def builtin_name(function: Callable[..., object], work: Plain) -> str:
    """How the text spells a function of Python's own: by another name where the user's text has its name."""
    known = binding_of(expression(function.__name__), work.facts, work.facts.local)
    if known is not None and known.object is function:
        return str(function.__name__)
    return work.library(function.__name__, function)
