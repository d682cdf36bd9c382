"""Calls of functions with source: the value and a pullback.

What to say when a derivative meets a function of which nothing is known.

Calls of functions with source: `y = g(a)` becomes `y, g_back = g_vjp(a)`, one closure per call.

In a loop a closure per trip costs more than a few sums and products: a function of nothing else keeps its arguments,
and is computed again backwards, `a_bar = g_pull(a, y_bar=y_bar)`.
"""

from __future__ import annotations

from typing import Any  # called functions are arbitrary objects

import gast

from srcgrad.analysis.argument_kinds import kinds_of
from srcgrad.core.bindings import Binding
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Facts, Handed
from srcgrad.core.identity import holder, is_distribution
from srcgrad.core.marks import is_opaque
from srcgrad.core.namespace import Step
from srcgrad.core.rules import Rule, parts_of, rule_of
from srcgrad.core.trees import Block, Node, at, literal_node, name, parameters, statements, target, walk
from srcgrad.core.visitor import places, rewrite_statements
from srcgrad.derive.regularity import meets_doubt_in_call, note_masks
from srcgrad.frontend.calls.checkpoint_safety import check_repeatable
from srcgrad.frontend.resolve import FROZEN, bind
from srcgrad.frontend.source.functions_with_rules import is_of_library


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


def calls(function: Node, facts: Facts) -> Node:
    """Replace the calls through which a derivative flows; all others stay calls of the primal."""
    looped = {place.node for place in places(function.body) if place.loops}

    def called(node: Node) -> Block:
        _check_closure(node, facts)
        return [_call(node, facts, node in looped) if _is_active_call(node, facts) else _call_of_step(node, facts)]

    function.body = rewrite_statements(function.body, called)
    if any(meets_doubt_in_call(call, facts) for call in facts.derived):
        note_masks(statements(function.body), facts)
    carried = {read.id for call in facts.recomputed for read in facts.pulled[call]}
    for node in statements(function.body):
        if target(node) in carried and type(getattr(node.value, "value", None)) is int:
            node.value = literal_node(
                float(node.value.value)
            )  # `s = 0` before the loop, where `s + x` is a float after it
            facts.rewritten[facts.origin.get(node, node)] = None
    return function


ARITHMETIC = (
    gast.Assign,
    gast.Return,
    gast.BinOp,
    gast.UnaryOp,
    gast.Tuple,
    gast.Name,
    gast.Constant,
    gast.expr_context,
    gast.operator,
    gast.unaryop,
)
FEW = 12  # sums and products that cost less than a closure


def _is_arithmetic(tree: Node) -> bool:
    """Whether a function computes a few sums, products and quotients of its arguments, and nothing else."""
    body = [node for node in tree.body if not _is_docstring(node)]
    parts = [part for node in body for part in walk(node)]
    counted = sum(isinstance(part, gast.BinOp) for part in parts)
    return counted <= FEW and all(isinstance(part, ARITHMETIC) for part in parts)


def _is_docstring(node: Node) -> bool:
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)


def _check_closure(node: Node, facts: Facts) -> None:
    """Refuse what a derivative of a recursive function gives: a pullback, by which a derivative flows unseen."""
    call = getattr(node, "value", None)
    operation = facts.operation.get(call) if facts.generated and isinstance(call, gast.Call) else None
    if operation is None or operation.kind != "callee" or isinstance(operation.function, Step):
        return
    tree = facts.module.callee(operation.function, call, facts).tree
    inner = {n.name for n in tree.body if isinstance(n, gast.FunctionDef)}
    result = tree.body[-1].value if isinstance(tree.body[-1], gast.Return) else None
    gives = result is not None and any(isinstance(n, gast.Name) and n.id in inner for n in gast.walk(result))
    if gives and any(isinstance(n, gast.Name) and n.id in facts.varied for a in _arguments(call) for n in gast.walk(a)):
        raise facts.refuse(
            call, "E5005", "the derivative of a derivative of a recursive function is not made", "write it as a loop"
        )


def _call_of_step(node: Node, facts: Facts) -> Node:
    """A call of a step, by the name of the function that the text has for it."""
    call = getattr(node, "value", None)
    if isinstance(node, gast.Assign) and isinstance(call, gast.Call) and isinstance(call.func, gast.Name):
        found = None if call.func.id in facts.local else facts.namespace.lookup(call.func.id)
        if found is not None and isinstance(found.object, Step):
            call.func = name(facts.module.derivative(found.object, "primal", (), {}, facts))
    return node


def _is_active_call(node: Node, facts: Facts) -> bool:
    bound = target(node)
    if bound is None or bound not in facts.active:
        return False
    operation = facts.operation.get(node.value)
    if operation is None or operation.kind == "op":
        return False
    computed = [n for n in walk(node.value.func) if isinstance(n, gast.Name) and n.id in facts.active]
    if not computed and not any(active_operand(part, facts) for part in _arguments(node.value)):
        return False
    if operation.kind == "opaque" or computed:
        raise unknown_function(node.value, facts)
    return True


def _arguments(call: Node) -> list[Node]:
    return [*call.args, *(word.value for word in call.keywords)]


def active_operand(node: Node, facts: Facts) -> bool:
    """Whether an argument carries a derivative."""
    return isinstance(node, gast.Name) and node.id in facts.active


def _call(node: Node, facts: Facts, in_loop: bool) -> Node:
    call = node.value
    operation = facts.operation[call]
    callee = facts.module.callee(operation.function, call, facts)
    bound = bind(call, callee.tree, facts)
    wrt = tuple(p for p in parameters(callee.tree) if p in bound and active_operand(bound[p], facts))
    for parameter, argument in bound.items():
        if isinstance(argument, gast.Tuple | gast.List | gast.Dict) and _holds_active(argument, facts):
            raise facts.refuse(
                argument, "E5005", f"a container of active values for `{parameter}`", "pass the values one by one"
            )
    facts.pulled[call] = [bound[p] for p in wrt]
    kinds = kinds_of(bound, facts)
    if facts.recomputes and (operation.checkpointed or (in_loop and _is_arithmetic(callee.tree))):
        check_repeatable(operation.function, call, facts)
        made = facts.module.derivative(operation.function, "pull", wrt, kinds, facts, handed=Handed(apart=True))
        if facts.module.seeds(made):
            facts.recomputed[call], facts.backs[call], facts.derived[call] = made, "", (made, kinds)
            return _call_of_step(node, facts)
    mode = "forward" if facts.pushes_forward else "vjp"
    made = facts.module.derivative(operation.function, mode, wrt, kinds, facts, handed=Handed(apart=True))
    facts.derived[call] = made, kinds
    facts.callee_seeds[call] = facts.module.seeds(made)
    facts.rewritten[facts.origin.get(node, node)] = None
    call.func = name(made)
    if facts.pushes_forward:
        return node
    back = f"{callee.name}_back"
    back = facts.names.numbered_name(back) if back in facts.names.taken else facts.names.fresh(back)
    facts.backs[call] = back
    both = gast.Tuple(elts=[name(node.targets[0].id, gast.Store()), name(back, gast.Store())], ctx=gast.Store())
    rewritten = at(gast.Assign([both], call, None), node)
    facts.origin[rewritten] = facts.origin.get(node, node)
    if node in facts.spec:
        facts.spec[rewritten] = facts.spec[node]
    if node.targets[0].id in facts.definition:
        facts.definition[node.targets[0].id] = rewritten
    return rewritten


def _holds_active(node: Node, facts: Facts) -> bool:
    return any(isinstance(n, gast.Name) and n.id in facts.active for n in gast.walk(node))
