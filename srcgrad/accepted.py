"""Which rules hold for complex numbers: what a family of templates says of operations that have a rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any  # operations are arbitrary Python objects

from srcgrad.rules import replace_rule, rule_of


def accept_complex(ops: Iterable[Any], how: str, values: str = "") -> None:
    """Say of operations with a rule how their adjoint lines hold for complex numbers.

    `how` is "conjugated" (the engine conjugates what `d[result]` is multiplied with; the tangent is as written),
    "gradient" (of a real result; the tangent is the real part of the conjugated lines) or "written" (as they are).
    `values` says when the result is complex: "real" never, "complex" always, the name of a parameter: as that one is;
    "": where a differentiable argument is.
    """
    for op in ops:
        known = rule_of(op)
        assert known is not None, "what has no rule yet has nothing to accept"
        replace_rule(known, replace(known, complex=how, values=values))
