"""Functions that ask for the namespace of their arguments, as SciPy's do: it is NumPy, and is spelled so."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.resolve import binding_of
from srcgrad.originals import original
from srcgrad.trees import COMPOUND, Block, Node, at, expression, name, statements, stores, target, walk


def array_api(function: Node, facts: Facts) -> Node:
    """Write NumPy for a local name that `array_namespace` gives, and drop the call.

    `xp_promote(x, force_floating=True, xp=xp)` becomes `np.asarray(x)`: what is differentiated is floating;
    `xp.astype(x, dtype)` becomes the method.

    Before, in a module that imports both functions from SciPy's `_array_api`:

        xp = array_namespace(x)
        x = xp_promote(x, force_floating=True, xp=xp)
        return xp.sum(x * x)

    and after:

        x = np.asarray(x)
        return np.sum(x * x)
    """
    local = frozenset(s for node in statements(function.body) for s in stores(node))
    bound = [s for node in statements(function.body) for s in stores(node)]
    names = {
        held: None
        for node in statements(function.body)
        if (held := target(node)) is not None
        and bound.count(held) == 1
        and _calls(node.value, "array_namespace", facts, local)
    }
    if names:
        spelled = facts.library("np")
        known = facts.namespace.lookup(spelled)
        if known is None or known.object is not original(np):  # a module that has no NumPy of its own
            facts.namespace = Overlay(facts.namespace, {spelled: Binding("object", original(np))})
        function.body = _block(function.body, names, facts, local)
    return function


def _calls(node: Node, called: str, facts: Facts, local: frozenset[str]) -> bool:
    """Whether an expression is a call of the array API's function of that name."""
    if not isinstance(node, gast.Call):
        return False
    found = binding_of(node.func, facts, local)
    if found is None:
        return False
    if found.static is not None:
        home, own = found.static.module.name, found.static.qualname
    else:
        home, own = str(getattr(found.object, "__module__", "")), getattr(found.object, "__name__", "")
    is_home = any(part.startswith("_array_api") or part == "array_api_compat" for part in home.split("."))
    return own == called and is_home


def _block(block: Block, names: dict[str, None], facts: Facts, local: frozenset[str]) -> Block:
    made: Block = []
    for node in block:
        if isinstance(node, COMPOUND):
            for field in ("body", "orelse"):
                setattr(node, field, _block(getattr(node, field, None) or [], names, facts, local))
        elif target(node) in names:
            continue
        if _reads(node, names):
            facts.foreign[node] = None
            _rewrite(node, names, facts, local)
        made.append(node)
    return made


def _reads(node: Node, names: dict[str, None]) -> bool:
    return any(isinstance(item, gast.Name) and item.id in names for item in walk(node))


def _rewrite(node: Node, names: dict[str, None], facts: Facts, local: frozenset[str]) -> None:
    """Change the expressions below `node` in place."""
    for field in node._fields:
        part = getattr(node, field, None)
        if isinstance(part, list):
            setattr(node, field, [_changed(item, names, facts, local) for item in part])
        elif isinstance(part, gast.AST):
            setattr(node, field, _changed(part, names, facts, local))


def _changed(node: Node, names: dict[str, None], facts: Facts, local: frozenset[str]) -> Node:
    if not isinstance(node, gast.AST) or not _reads(node, names):
        return node
    if isinstance(node, gast.Name):
        return at(name(facts.library("np")), node)
    if _calls(node, "xp_promote", facts, local) and len(node.args) == 1 and _only_promotes(node):
        asked = expression(f"{facts.library('np')}.asarray(x)", x=node.args[0])
        for item in walk(asked):
            if item is not node.args[0] and hasattr(item, "lineno"):
                at(item, node)
        return at(asked, node)
    if _is_astype(node, names):
        whole = node.args.pop(0)
        node.func = at(gast.Attribute(value=whole, attr="astype", ctx=node.func.ctx), node.func)
    _rewrite(node, names, facts, local)
    return node


def _is_astype(node: Node, names: dict[str, None]) -> bool:
    """Whether a node is `xp.astype(x, dtype)`: NumPy's own namespace has that from version 2.1 on only."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute) or not node.args:
        return False
    held = node.func.value
    return node.func.attr == "astype" and isinstance(held, gast.Name) and held.id in names


def _only_promotes(call: Node) -> bool:
    """Whether a call of `xp_promote` asks for floats and for nothing else."""
    return all(word.arg in ("xp", "force_floating") for word in call.keywords)
