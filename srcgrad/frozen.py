"""Records that a derivation makes by the thousand: frozen for mypy, made like any object when it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool) -> Callable[[type], type]:
        """`dataclass(frozen=True)`, of which mypy alone is the guard: one at run time costs eight times the record."""
        assert frozen, "a record does not change"
        return dataclass(unsafe_hash=True)
