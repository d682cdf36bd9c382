"""Nested functions that are mentioned where they are not called, once calls are written out."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.hooks import is_hook
from srcgrad.front.resolve import binding_of
from srcgrad.rules import rule_of
from srcgrad.trees import Node, walk


def check_handed(call: Node, again: bool, facts: Facts) -> None:
    """Refuse a function that a call gives on `again`, to one that is being written out: no name means it there."""
    given = [n for value in [*call.args, *(word.value for word in call.keywords)] for n in walk(value)]
    handed = [n for n in given if isinstance(n, gast.Name) and n.id in facts.functions] if again else []
    if handed:
        raise facts.refuse(
            handed[0],
            "E5005",
            f"the function `{handed[0].id}` is given to one that calls itself, which is not accepted",
            "write the calls of that function as a loop",
        )


def check_given(function: Node, facts: Facts, local: frozenset[str]) -> None:
    """Refuse a nested function that is still given to something, or kept: what it reads would have no derivative.

    >>> from srcgrad.phases import explain_text
    >>> explain_text("def f(x):\\n    h = [lambda t: t * x]\\n    return h[0](2.0)", after="inlined")
    Traceback (most recent call last):
    ...
    srcgrad.errors.DifferentiationError: E5005 Python outside the subset: a nested function is used as a value
      at <stdin>:2:10
              h = [lambda t: t * x]
                   ^^^^^^^^^^^^^^^
      what to do: give each function a name of its own, and call it by that
    """
    inside = {name for name, known in facts.functions.items() if known.tree is not None}
    for call in [n for node in function.body for n in walk(node) if isinstance(n, gast.Call)] if inside else []:
        for argument in [*call.args, *(word.value for word in call.keywords)]:
            if isinstance(argument, gast.Name) and argument.id in inside and not is_hook(call, facts, local):
                raise _unknown(call, argument, facts, local)
    kept = {id(n) for node in function.body for call in walk(node) if is_hook(call, facts, local) for n in walk(call)}
    for read in [n for node in function.body for n in walk(node) if isinstance(n, gast.Name)] if inside else []:
        if read.id in inside and isinstance(read.ctx, gast.Load) and id(read) not in kept:
            raise facts.refuse(
                read,
                "E5005",
                "a nested function is used as a value",
                "give each function a name of its own, and call it by that",
            )


def _unknown(call: Node, argument: Node, facts: Facts, local: frozenset[str]) -> Exception:
    found, called = binding_of(call.func, facts, local), gast.unparse(call.func)
    rule = None if found is None or found.kind != "object" else rule_of(found.object)
    if rule is not None and rule.kind == "refused":
        return facts.refuse(call, "E5001", f"`{called}` has no derivative: {rule.note}", "use srcgrad.stop_gradient")
    return facts.refuse(
        argument,
        "E5003",
        f"what `{called}` does with a function that stands in this one is not known",
        f"define the function outside, if it reads nothing of this one; or write a rule for `{called}`",
    )
