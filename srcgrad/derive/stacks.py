"""Stacks and element updates, as generated text has them: what differentiating a derivative needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import gast

from srcgrad.derive.adjoints import Adjoints
from srcgrad.derive.arrivals import mask_before, popped_mask, pushed_mask
from srcgrad.derive.flags import popped_flag, pushed_flag
from srcgrad.derive.lists import changed_list, tangent_of_change, tangent_of_store, undo_change, undo_store
from srcgrad.derive.states import PRESENT
from srcgrad.derive.writes import tangent_of_write, undo_write
from srcgrad.facts import Facts, copied
from srcgrad.trees import Block, Node, at, expression, is_write, loads, name, statement, statements, target, written

Dotted = Callable[[str, Facts], str]


def is_push(node: Node) -> bool:
    """`h_stack.append(h)`."""
    return (
        isinstance(node, gast.Expr)
        and isinstance(node.value, gast.Call)
        and isinstance(node.value.func, gast.Attribute)
        and node.value.func.attr == "append"
    )


def is_pop(value: Node) -> bool:
    """`h_stack.pop()`."""
    return (
        isinstance(value, gast.Call)
        and isinstance(value.func, gast.Attribute)
        and value.func.attr == "pop"
        and isinstance(value.func.value, gast.Name)
        and not value.args
    )


def is_update(node: Node) -> bool:
    """`add_at(x_bar, i, e)`, `np.add.at(x_bar, i, e)`."""
    return bool(written(node)) and not is_push(node) and isinstance(node, gast.Expr)


def stack_adjoints(block: Block, adjoints: Adjoints) -> Block:
    """The adjoint of a stack is a stack: empty before the backward half begins."""
    facts = adjoints.facts
    names = dict.fromkeys(node.value.func.value.id for node in statements(block) if is_push(node))
    pops = [node.value.func.value.id for node in statements(block) if is_pop(getattr(node, "value", None))]
    facts.pops = Counter(pops)
    facts.pops.subtract({held: facts.pops[held] for held in facts.pops if _is_read(held, block)})
    made = []
    for stack in names:
        if stack in facts.active and not facts.list_kind(stack):
            adjoints.state[stack] = PRESENT
            empty = statement(f"{adjoints.of(stack)} = []")
            facts.zeros[empty] = None
            made.append(empty)
    return made


def _is_read(held: str, block: Block) -> bool:
    """Whether a stack has another use than to be pushed to and popped."""
    uses = [node for node in statements(block) if held in loads(node)]
    return any(not is_push(node) and not is_pop(getattr(node, "value", None)) for node in uses)


def undo(node: Node, adjoints: Adjoints) -> Block:
    """The backward statements of a push, a pop or an element update."""
    facts = adjoints.facts
    if is_write(node):
        container = facts.list_kind(written(node)[0])
        return undo_store(node, adjoints) if container else undo_write(node, adjoints)
    if changed_list(node, facts):
        return undo_change(node, adjoints)
    made: Block = []
    if is_push(node):
        stack, value = node.value.func.value.id, node.value.args[0]
        if stack in facts.active and isinstance(value, gast.Name) and value.id in facts.active:
            popped = expression(f"{adjoints.of(stack)}.pop()")
            before = mask_before(value.id, adjoints)
            state, flags = dict(adjoints.state), dict(adjoints.flags)
            adjoints.contribute_whole(copied(value, facts), popped, made, node)
            made += popped_mask(node, stack, value, before, adjoints)
            made += popped_flag(node, stack, state, flags, adjoints)
    elif is_update(node):
        array, index, value = node.value.args
        if adjoints.exists(array.id) and isinstance(value, gast.Name) and value.id in facts.active:
            made += adjoints.whole(array.id, facts.value_spec.get(array.id), node)
            helper = facts.library("sum_to")
            part = expression(
                f"{helper}({facts.library('np')}.array({adjoints.of(array.id)}[index]), e)",
                index=copied(index, facts),
                e=copied(value, facts),
            )
            adjoints.contribute_whole(copied(value, facts), part, made, node)
    else:
        bound, stack = str(target(node)), node.value.func.value.id
        if stack in facts.active:
            spec = facts.value_spec.get(bound)
            adjoint = adjoints.read(bound, spec) if adjoints.exists(bound) else adjoints.zero_value(bound, spec)
            made.append(at(statement(f"{adjoints.of(stack)}.append(adjoint)", adjoint=adjoint), node))
            made += pushed_mask(node, stack, adjoints.masks.pop(bound, None), adjoints)
            made += pushed_flag(node, stack, bound, adjoints)
        adjoints.state.pop(bound, None)
    return made


def tangent_beside(node: Node, facts: Facts, dotted: Dotted) -> Block:
    """The tangent statements of a push, a pop or a write."""
    if is_write(node):
        container = facts.list_kind(written(node)[0])
        return (tangent_of_store if container else tangent_of_write)(node, facts, dotted)
    if changed_list(node, facts):
        return tangent_of_change(node, facts, dotted)
    if is_push(node):
        stack, value = node.value.func.value.id, node.value.args[0]
        if stack not in facts.active:
            return []
        carried = isinstance(value, gast.Name) and value.id in facts.active
        zero = expression(f"{facts.library('zeros_like')}(h)", h=copied(value, facts)) if not carried else None
        tangent = name(dotted(value.id, facts)) if carried else zero
        return [statement(f"{dotted(stack, facts)}.append(tangent)", tangent=tangent)]
    if is_update(node):
        array, index, value = node.value.args
        if array.id not in facts.active or not (isinstance(value, gast.Name) and value.id in facts.active):
            return []
        parts = {"a": name(dotted(array.id, facts)), "index": copied(index, facts), "e": name(dotted(value.id, facts))}
        return [statement(f"{facts.library('add_at')}(a, index, e)", **parts)]
    bound, stack = str(target(node)), node.value.func.value.id
    if bound not in facts.active:
        return []
    return [statement(f"{dotted(bound, facts)} = {dotted(stack, facts)}.pop()")]
