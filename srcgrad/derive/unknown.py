"""What to say when a derivative meets a function of which nothing is known."""

from __future__ import annotations

import gast

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding
from srcgrad.rules import rule_of
from srcgrad.trees import Node


def unknown_function(value: Node, facts: Facts) -> DifferentiationError:
    """E5003: an active value goes through a function that has neither a rule nor source; E5001 if that is known."""
    if isinstance(facts.operation[value].function, Binding):
        reason = facts.operation[value].function.reason or "only the text of its module is known"
        return facts.refuse(
            value, "E5012", f"`{gast.unparse(value.func)}` cannot be resolved: {reason}", "import it from a module"
        )
    called = gast.unparse(value.func) if isinstance(value, gast.Call) else type(value).__name__
    rule = rule_of(facts.operation[value].function)
    if rule is not None and rule.kind == "refused":
        return facts.refuse(
            value,
            "E5001",
            f"`{called}` has no derivative: {rule.note}",
            "use srcgrad.stop_gradient on its operands, or write a rule for a function of your own and call that",
        )
    parameters = ", ".join(f"x{k + 1}" for k in range(len(getattr(value, "args", []))))
    return facts.refuse(
        value,
        "E5003",
        f"`{called}` has no rule and no Python source",
        f"write a rule: `@srcgrad.adjoint({called})` above `def {called.split('.')[-1]}(y, {parameters}): d[x1] = ...`"
        ", or use srcgrad.stop_gradient",
    )
