"""Operations that give integers, and so are steps, by an argument of theirs."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.facts import Facts, Operation
from srcgrad.front.resolve import binding_of


def check_steps(operation: Operation, facts: Facts) -> None:
    """Refuse a derivative through a sum or a mean whose `dtype=` is one of integers: it is a step."""
    asked = operation.bound.get("dtype")
    if asked is None or operation.rule is None or operation.rule.kind != "linear":
        return
    found = binding_of(asked, facts, facts.local)
    meant = asked.value if isinstance(asked, gast.Constant) else getattr(found, "object", None)
    if isinstance(meant, str | type | np.dtype) and np.dtype(meant).kind in "biu":
        raise facts.refuse(
            asked,
            "E5001",
            f"{operation.rule.name} with `dtype={gast.unparse(asked)}` gives integers, which carry no derivative",
            "convert before, `x.astype(int)`, whose derivative is 0, or leave `dtype=` out",
        )
