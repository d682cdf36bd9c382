"""Values of a module that another run of their line would not give: random numbers, the time."""

from __future__ import annotations

import ast

from srcgrad.front.namespace import Binding, attribute
from srcgrad.front.repeatable import DRAWS, MODULES, SOURCES
from srcgrad.front.static import StaticModule


def draws(expression: str, module: StaticModule) -> bool:
    """Whether an expression draws from a source that other lines of its module may have drawn from before.

    `np.random.default_rng(7).normal(size=3)` gives the same wherever it stands, and so does a draw from a generator
    with a seed that nothing else of the module mentions.
    """
    calls = [node for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Call)]
    return any(_draws(call, module) for call in calls)


def _draws(call: ast.Call, module: StaticModule) -> bool:
    found = _meant(call.func, module)
    if found is not None and found.object is not None:
        drawn = isinstance(getattr(found.object, "__self__", None), SOURCES)
        seeded = bool(call.args or call.keywords)  # `default_rng(7)`
        return drawn or (str(getattr(found.object, "__module__", None)).startswith(MODULES) and not seeded)
    method = call.func
    if not isinstance(method, ast.Attribute) or method.attr not in DRAWS or not isinstance(method.value, ast.Name):
        return False
    held = method.value.id
    return sum(isinstance(node, ast.Name) and node.id == held for node in ast.walk(module.tree)) > 2


def _meant(node: ast.expr, module: StaticModule) -> Binding | None:
    if isinstance(node, ast.Name):
        return module.lookup(node.id)
    base = _meant(node.value, module) if isinstance(node, ast.Attribute) else None
    return attribute(base, node.attr) if base is not None and isinstance(node, ast.Attribute) else None
