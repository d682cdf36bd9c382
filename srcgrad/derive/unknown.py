"""What to say when a derivative meets a function of which nothing is known."""

from __future__ import annotations

from typing import Any  # called functions are arbitrary objects

import gast

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding
from srcgrad.front.resolve import FROZEN
from srcgrad.front.wrappers import is_of_library
from srcgrad.handed import parts_of
from srcgrad.identity import holder, is_distribution
from srcgrad.rules import Rule, rule_of
from srcgrad.sealed import is_opaque
from srcgrad.trees import Node


def unknown_function(value: Node, facts: Facts) -> DifferentiationError:
    """E5003: an active value goes through a function that has neither a rule nor source; E5001 if that is known."""
    if isinstance(facts.operation[value].function, Binding):
        reason = facts.operation[value].function.reason or "only the text of its module is known"
        return facts.refuse(
            value, "E5012", f"`{gast.unparse(value.func)}` cannot be resolved: {reason}", "import it from a module"
        )
    owner: Any = getattr(facts.operation[value].function, "__self__", None)
    half = owner.lacks() if isinstance(owner, type) and hasattr(owner, "lacks") else ""
    if half:
        return facts.refuse(
            value,
            "E5003",
            f"the class {owner.__qualname__} has no `{half}`",
            f"write `{half}(ctx, ...)` in it, a static method",
        )
    opaque = is_opaque(facts.operation[value].function)
    called = gast.unparse(value.func) if isinstance(value, gast.Call) else type(value).__name__
    rule = rule_of(facts.operation[value].function)
    if rule is not None and rule.kind == "refused":
        return facts.refuse(
            value,
            "E5001",
            f"`{called}` has no derivative: {rule.note}",
            "use srcgrad.stop_gradient on its operands, or write a rule for a function of your own and call that",
        )
    parts = parts_of(facts.operation[value].function)
    if parts is not None:
        known = ", ".join(f"`.{one}`" for one in (*parts.names, *parts.constants))
        return facts.refuse(
            value,
            "E5001",
            f"of what `{called}` gives, more is read than {known}",
            "bind it to a name of its own, and read these: `sol = ...`, `sol.y`"
            if "y" in parts.names
            else "bind it to a name of its own, and read these",
        )
    owner = getattr(facts.operation[value].function, "__self__", None)
    if is_distribution(owner) and holder(owner) is None:
        return facts.refuse(
            value,
            "E5001",
            f"`{called}` is a method of a frozen distribution",
            FROZEN,
        )
    wrapper = is_of_library(facts.operation[value].function)
    what = ", and is opaque" if opaque else "" if wrapper else " and no Python source"
    return facts.refuse(
        value,
        "E5003",
        f"`{called}` has no rule{what}",
        f"{_rule_to_write(called, len(getattr(value, 'args', [])))}, or use srcgrad.stop_gradient",
    )


def _rule_to_write(called: str, count: int) -> str:
    """How the rule of a function begins; what is called by no name, `spline(t, x)(1.5)`, has none.

    >>> _rule_to_write("math.gcd", 2)
    'write a rule: `@srcgrad.adjoint(math.gcd)` above `def gcd(y, x1, x2): d[x1] = ...`'
    >>> _rule_to_write("spline(t, x)", 1)
    'call it in a function of your own, and write a rule for that'
    """
    words = called.split(".")
    if not all(map(str.isidentifier, words)):
        return "call it in a function of your own, and write a rule for that"
    parameters = ", ".join(f"x{k + 1}" for k in range(count))
    return f"write a rule: `@srcgrad.adjoint({called})` above `def {words[-1]}(y, {parameters}): d[x1] = ...`"


def lacks_mode(value: Node, rule: Rule, mode: str, facts: Facts) -> DifferentiationError:
    """What to say where a rule is there for the other mode only; nothing is guessed from that one."""
    forward = mode == "forward"
    if rule.own is None:
        has, lacks = ("an adjoint", "no tangent") if forward else ("a tangent", "no adjoint")
        remedy = f"write `@{'tangent' if forward else 'adjoint'}` for it as well"
        return facts.refuse(value, "E5001", f"{rule.name} has {has} but {lacks}", remedy)
    has, lacks = ("reverse", "forward") if forward else ("forward", "reverse")
    return facts.refuse(
        value, "E5003", f"{rule.name} has a rule for {has} mode, and none for {lacks} mode", rule.own.remedy[mode]
    )


def check_known(value: Node, rule: Rule, wanted: list[str], facts: Facts) -> None:
    """E5003 where a derivative asks for the rule of an argument that has none."""
    assert rule.own is not None, "a rule of a user"
    for parameter in wanted:
        if parameter in rule.own.missing:
            raise facts.refuse(
                value, "E5003", f"{rule.name} has no rule for its argument `{parameter}`", rule.own.remedy[parameter]
            )
