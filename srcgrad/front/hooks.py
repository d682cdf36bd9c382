"""`hook(x, fn)`: a function that stands inside of the differentiated one is written where the hook is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.front.resolve import binding_of
from srcgrad.runtime.hooks import hook
from srcgrad.trees import Node, copy, header, inside, statements, target, walk

if TYPE_CHECKING:
    from srcgrad.facts import Facts
    from srcgrad.front.plain import Plain


def is_hook(node: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a node is a call of `srcgrad.hook`."""
    if not isinstance(node, gast.Call):
        return False
    found = binding_of(node.func, facts, local)
    return found is not None and found.kind == "object" and found.object is hook


def hooks(function: Node, work: Plain, local: frozenset[str]) -> None:
    """Spell nested functions that hooks call as lambdas, whose parameters have names of their own.

    Refuses a call of `hook` whose result is not used, and a nested function of several statements.
    """
    calls = [(node, n) for node in statements(function.body) for part in header(node) for n in inside(part, gast.Call)]
    calls = [(node, n) for node, n in calls if is_hook(n, work.facts, local)]
    if not calls:
        return
    inner = {n.name: n for n in statements(function.body) if isinstance(n, gast.FunctionDef)}
    inner |= {str(target(n)): n.value for n in statements(function.body) if _names_lambda(n)}
    for node, call in calls:
        if isinstance(node, gast.Expr) and node.value is call:
            raise work.facts.refuse(
                node,
                "E5005",
                "the result of `hook` is not used: nothing goes through it",
                "bind it: `h = srcgrad.hook(h, fn)`",
            )
        for place, given in enumerate(call.args[1:], start=1):
            found = inner.get(given.id) if isinstance(given, gast.Name) else given
            if isinstance(found, gast.FunctionDef):
                found = _as_lambda(found, call, work)
            if isinstance(found, gast.Lambda):
                call.args[place] = _apart(copy(found), function, work)
                work.facts.lambdas[call.args[place]] = None
                if found is not given:
                    work.facts.foreign[node] = None


def _names_lambda(node: Node) -> bool:
    return target(node) is not None and isinstance(node.value, gast.Lambda)


def _as_lambda(definition: Node, call: Node, work: Plain) -> Node:
    """`def fn(g): return e`, or one call, as a lambda."""
    body = [n for n in definition.body if not (isinstance(n, gast.Expr) and isinstance(n.value, gast.Constant))]
    last = body[0] if len(body) == 1 else None
    if not isinstance(last, gast.Return | gast.Expr) or last.value is None or definition.decorator_list:
        raise work.facts.refuse(
            call,
            "E5005",
            f"the hook `{definition.name}`, a nested function, is more than one expression",
            f"define `{definition.name}` outside of the function, or pass it as an argument",
        )
    return gast.copy_location(gast.Lambda(copy(definition.args), copy(last.value)), call)


def _apart(value: Node, function: Node, work: Plain) -> Node:
    """A lambda whose parameters no other name of the function is called."""
    arguments = value.args
    own = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    for parameter in [p for p in own if p is not None]:
        inside = [n for n in walk(value) if isinstance(n, gast.Name) and n.id == parameter.id]
        everywhere = [n for s in [function.args, *function.body] for n in walk(s)]
        hidden = {id(n) for held in everywhere if isinstance(held, gast.Lambda) for n in walk(held)}
        if any(isinstance(n, gast.Name) and n.id == parameter.id and id(n) not in hidden for n in everywhere):
            spelled = work.facts.names.fresh(parameter.id)
            for item in inside:
                item.id = spelled
        work.made |= {parameter.id}
    return value
