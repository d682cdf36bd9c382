"""What a checkpointed function or loop must not do.

What is computed again must come out the same: no random numbers, no clock, in a checkpointed function or loop.

Arrays that the body of a checkpointed loop changes in place: nothing else may hold them.

A step works on a copy of such an array. A second name for it, in the function or in its caller, would miss the change.
"""

from __future__ import annotations

import random
import types
from typing import Any  # called functions are arbitrary objects

import gast
import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.expressions import is_swap
from srcgrad.core.facts import Facts
from srcgrad.core.marks import is_opaque
from srcgrad.core.namespace import Step
from srcgrad.core.rules import may_show, rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    header,
    is_write,
    own_names,
    root,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.frontend.calls.side_effects import Procedures
from srcgrad.frontend.resolve import binding_of, operation_of

SOURCES = (np.random.Generator, np.random.RandomState, random.Random)
DRAWS = {name for source in SOURCES for name in dir(source) if name[0] != "_"} - set(dir(np.ndarray)) - set(dir(dict))
MODULES = ("numpy.random", "random", "secrets", "uuid", "time")


def check_repeatable(function: Any, call: Node, facts: Facts) -> None:
    """Refuse a call that would not give the same when it is made again; E5025 at the call, or in the loop's body."""
    found = _draw(function, facts, set())
    if found is None:
        return
    where = found if isinstance(function, Step) else call
    raise facts.refuse(
        where,
        "E5025",
        f"`{gast.unparse(found)}` gives something else when it is computed again",
        "draw random numbers before, and pass them: `noise = rng.normal(size=(n, k))`",
    )


def _draw(function: Any, facts: Facts, seen: set[int]) -> Node | None:
    """The first call in a function, or in one that it calls, of a source of random numbers or of the clock."""
    try:
        source, namespace = facts.module.source(function)
    except DifferentiationError:
        return None  # refused where a derivative flows through it
    if id(source.tree) in seen:
        return None
    seen.add(id(source.tree))
    inner = Facts(source, namespace, facts.mode, (), module=facts.module)
    local = own_names(source.tree)
    seeded = {target(n) for n in statements(source.tree.body) if _has_seed(getattr(n, "value", None))}
    for node in [n for s in source.tree.body for n in walk(s) if isinstance(n, gast.Call)]:
        if _is_draw(node, inner, local, seeded):
            return node
        found = binding_of(node.func, inner, local)
        called = None if found is None else found.static or found.object
        primal = getattr(called, "__srcgrad_primal__", called)
        known = found is not None and (found.static is not None or isinstance(primal, types.FunctionType))
        if known and rule_of(primal) is None and not is_opaque(primal) and _draw(primal, facts, seen) is not None:
            return node
    return None


def _is_draw(node: Node, facts: Facts, local: frozenset[str], seeded: set[str | None]) -> bool:
    found = binding_of(node.func, facts, local)
    if found is not None:
        module = str(getattr(found.object, "__module__", None) or "")
        drawn = isinstance(getattr(found.object, "__self__", None), SOURCES) or module.startswith(MODULES)
        return drawn and not (isinstance(found.object, type | types.BuiltinFunctionType) and _has_seed(node))
    if not isinstance(node.func, gast.Attribute):
        return False
    base = binding_of(node.func.value, facts, local)
    if base is not None:
        return isinstance(base.object, SOURCES)
    held = node.func.value.id if isinstance(node.func.value, gast.Name) else ""
    return node.func.attr in DRAWS and held not in seeded


def _has_seed(call: Node | None) -> bool:
    """`default_rng(7)`: what it gives depends on its argument alone."""
    if not isinstance(call, gast.Call):
        return False
    name = call.func.attr if isinstance(call.func, gast.Attribute) else getattr(call.func, "id", "")
    return name in ("default_rng", "RandomState", "Random") and bool(call.args or call.keywords)


def changed_in(block: Block, facts: Facts) -> list[str]:
    """Names whose arrays a block may write into: by an index, with `out=`, or by a call whose result is not used."""
    found: dict[str, None] = {}
    for node in statements(block):
        found.update(dict.fromkeys(written_names(node)))
        if isinstance(node, gast.Assign | gast.AugAssign):
            places = node.targets if isinstance(node, gast.Assign) else [node.target]
            parts = [n for place in places for n in walk(place) if isinstance(n, gast.Subscript | gast.Attribute)]
            bases = [root(n) for n in parts if not isinstance(n.ctx, gast.Load)]
            found.update({base.id: None for base in bases if base is not None})
        for call in [n for part in header(node) for n in walk(part) if isinstance(n, gast.Call)]:
            alone = isinstance(node, gast.Expr) and node.value is call
            found.update({n.id: None for a in _arguments(call, alone, facts) for n in walk(a) if _is_name(n)})
    return [name for name in found if name in facts.local]


def _is_name(node: Node) -> bool:
    return isinstance(node, gast.Name)


def _arguments(call: Node, alone: bool, facts: Facts) -> list[Node]:
    """The arguments of a call that may be changed; of one that stands alone, all unless it is known."""
    out = [word.value for word in call.keywords if word.arg == "out"]
    found = binding_of(call.func, facts, facts.local)
    value = getattr(found, "object", None)
    if found is not None and (found.static is not None or isinstance(value, types.FunctionType)):
        ours = str(getattr(value, "__module__", "")).partition(".")[0] not in ("numpy", "warnings", "logging")
        if ours and rule_of(value) is None:
            return out + Procedures(facts).arguments(call, facts, facts.local)
    if not alone or value is print or getattr(value, "__module__", "") in ("warnings", "_warnings", "logging"):
        return out
    if isinstance(value, np.ufunc) or (isinstance(call.func, gast.Attribute) and found is None):
        return [*out, *([call.func.value] if found is None else [])]
    known = str(getattr(value, "__module__", "")).partition(".")[0] == "numpy"
    return out + (call.args[:1] if known else [*call.args, *(w.value for w in call.keywords)])


def augmented_in(block: Block) -> list[str]:
    """Names that a block changes by `a += e`."""
    nodes = [n for n in statements(block) if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)]
    return list(dict.fromkeys(n.target.id for n in nodes))


def check_augmented(names: list[str], function: Node, facts: Facts) -> None:
    """Refuse `a += e` where `a` may be an array that has a second name."""
    parameters = {a.id for a in walk(function.args) if isinstance(a, gast.Name)}
    for name in names:
        kind = facts.kinds.get(name)
        changes = [n for n in statements(function.body) if name in stores(n) and isinstance(n, gast.AugAssign)]
        remedy = f"write `{name} = {name} + ...`, which makes a new array"
        if name in parameters and (kind is None or kind.tag != "scalar"):
            raise _refusal(changes[0], name, "it is an argument, which the caller holds", remedy, facts)
        _check(name, [name], function, remedy, facts)


def check_unshared(names: list[str], function: Node, loop: Node, facts: Facts) -> None:
    """Refuse a loop that changes an array which has a second name, or which some other code made."""
    parameters = {a.id for a in walk(function.args) if isinstance(a, gast.Name)}
    swapped = [n for node in statements(function.body) if is_swap(node) for n in stores(node)]
    for name in names:
        remedy = f"begin with an array of its own: `{name} = {name}.copy()`"
        if name in parameters and facts.called:
            raise _refusal(loop, name, "it is an argument, which the caller holds", remedy, facts)
        group = list(dict.fromkeys([name, *(swapped if name in swapped else [])]))
        for one in group:
            _check(one, group, function, remedy, facts)


def _check(name: str, group: list[str], function: Node, remedy: str, facts: Facts) -> None:
    """Whether all that is bound to a name is new, and nothing else gets it; names of a group change places."""
    for node in statements(function.body):
        if is_swap(node) and set(stores(node)) <= set(group):
            continue
        values = _bindings(node, name)
        if any(isinstance(v, gast.List | gast.Dict | gast.ListComp | gast.DictComp) for v in values):
            raise facts.refuse(
                node,
                "E5025",
                f"the list or dict `{name}` changes in a checkpointed loop, and each state would hold a copy of it",
                "carry its values in names, or write into an array made before the loop",
            )
        bound = isinstance(node, gast.For) and name in stores(node)
        if bound or any(not is_fresh(value, facts) for value in values):
            raise _refusal(node, name, f"line {node.lineno} may bind it to what something else holds", remedy, facts)
        if _hands_on(node, name, facts) and not _fills_array(node, function, facts):
            remedy = f"let that loop go over a copy: `{name}.copy()`" if isinstance(node, gast.For) else remedy
            raise _refusal(node, name, f"line {node.lineno} gives it to something else", remedy, facts)


def _fills_array(node: Node, function: Node, facts: Facts) -> bool:
    """Whether a statement copies its value into an array that the function made: `b[0] = a[1]`."""
    base = root(node.targets[0]) if isinstance(node, gast.Assign) and is_write(node) else None
    if base is None:
        return False
    kind = facts.kinds.get(base.id)
    others = [n for n in statements(function.body) if not is_swap(n)]
    made = [is_fresh(value, facts) for other in others for value in _bindings(other, base.id)]
    return (kind is not None and kind.tag == "array") or (bool(made) and all(made))


def _bindings(node: Node, name: str) -> Block:
    """What a statement binds to a name; a part of a tuple is the whole tuple where the parts cannot be told."""
    if not isinstance(node, gast.Assign | gast.AnnAssign) or node.value is None:
        return []
    found = []
    for place in node.targets if isinstance(node, gast.Assign) else [node.target]:
        pairs = [(place, node.value)]
        if isinstance(place, gast.Tuple) and isinstance(node.value, gast.Tuple):
            pairs = list(zip(place.elts, node.value.elts, strict=False))
        for part, value in pairs:
            if any(isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Store) for n in walk(part)):
                found.append(value if isinstance(part, gast.Name) else part)
    return found


def is_fresh(value: Node, facts: Facts) -> bool:
    """Whether an expression makes a new array, or a number."""
    if isinstance(value, gast.Name):
        kind = facts.kinds.get(value.id)
        return kind is not None and kind.tag == "scalar"
    if isinstance(value, gast.IfExp):
        return is_fresh(value.body, facts) and is_fresh(value.orelse, facts)
    if isinstance(value, gast.Constant | gast.BinOp | gast.UnaryOp | gast.Compare):
        return True
    if not isinstance(value, gast.Call):
        return False
    if isinstance(value.func, gast.Attribute) and value.func.attr == "copy":
        return True
    try:
        operation = operation_of(value, facts, facts.local)
    except DifferentiationError:
        return False  # refused later
    if operation is None or any(word.arg == "out" for word in value.keywords):
        return False
    if operation.kind == "callee":
        return bool(facts.module.returns_new(operation.function))
    if operation.kind == "opaque":
        return operation.function is np.arange
    if getattr(operation.function, "__name__", "") == "stop_gradient":
        return False
    return not may_show(operation.function, operation.bound)


def _hands_on(node: Node, name: str, facts: Facts) -> bool:
    """Whether a statement may let something else hold the array of a name."""
    mentioned = any(isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Load) for n in walk(node))
    if not mentioned:
        return False
    if isinstance(node, gast.FunctionDef):
        return True
    if isinstance(node, gast.For):
        return _iterates(node.iter, name, facts)
    if isinstance(node, gast.Assign | gast.AugAssign | gast.AnnAssign) and node.value is not None:
        value = node.value
        inside = any(isinstance(n, gast.Name) and n.id == name for n in walk(value))
        if not inside or is_fresh(value, facts) or target(node) == name:
            return False
        return not (isinstance(value, gast.Tuple) and all(_is_harmless(v, name, facts) for v in value.elts))
    if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
        method = node.value.func.attr if isinstance(node.value.func, gast.Attribute) else ""
        return method in ("append", "insert", "extend", "update", "setdefault", "add")
    return False


def _iterates(over: Node, name: str, facts: Facts) -> bool:
    """Whether a loop goes over the array of a name itself: its rows are parts of that."""
    called = over.func.id if isinstance(over, gast.Call) and isinstance(over.func, gast.Name) else ""
    if called in ("enumerate", "zip", "reversed", "checkpointed"):
        return any(_iterates(given, name, facts) for given in over.args)
    return called != "range" and not _is_harmless(over, name, facts)


def _is_harmless(value: Node, name: str, facts: Facts) -> bool:
    mentioned = any(isinstance(n, gast.Name) and n.id == name for n in walk(value))
    return not mentioned or is_fresh(value, facts)


def _refusal(node: Node, name: str, why: str, remedy: str, facts: Facts) -> Exception:
    return facts.refuse(node, "E5010", f"`{name}` is changed in place in a checkpointed loop, and {why}", remedy)
