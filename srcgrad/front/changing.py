"""Calls that change a list: a statement of their own, or a part of one."""

from __future__ import annotations

import gast

from srcgrad.trees import Node, header, inside

CHANGES = (
    "append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update",
)  # fmt: skip


def is_change(node: Node, bound: str) -> bool:
    """Whether a statement changes the list that a name holds: `out.append(e)`, `e = out.pop()`."""
    call = node.value if isinstance(node, gast.Expr | gast.Assign) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
        return False
    held = call.func.value
    return isinstance(held, gast.Name) and held.id == bound and call.func.attr in ("append", "pop")


def within(node: Node) -> list[str]:
    """Names of which a part of a statement changes the list: `s += out.pop()`."""
    calls = [n for part in header(node) for n in inside(part, gast.Call)]
    held = [n.func.value for n in calls if isinstance(n.func, gast.Attribute) and n.func.attr in ("append", "pop")]
    return [one.id for one in held if isinstance(one, gast.Name)]


def unused(call: Node, local: frozenset[str]) -> tuple[str, str]:
    """Why a call whose result is not used is refused, and what to do."""
    held = getattr(call.func, "value", None)
    if isinstance(held, gast.Name) and held.id in local and call.func.attr in ("append", "extend", "insert", "pop"):
        return (
            f"`{held.id}` changes by `.{call.func.attr}()`, and is not a list of this function all along",
            "begin it by `[]` here, and give what is made of it, or stands for it, a name of its own",
        )
    return (
        "a call whose result is not used is not accepted: it may change its arguments",
        "bind the result to a name; print, warnings and logging are accepted",
    )


def by_method(node: Node) -> list[str]:
    """Names on which a statement calls a method by which lists and dicts change, whatever they hold."""
    calls = [n.func for part in header(node) for n in inside(part, gast.Call) if isinstance(n.func, gast.Attribute)]
    return [one.value.id for one in calls if one.attr in CHANGES and isinstance(one.value, gast.Name)]
