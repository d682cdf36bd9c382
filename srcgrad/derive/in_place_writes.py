"""What changes in place: arrays, lists, dicts and stacks; how each change is undone, and what flows back.

Of `a[i] = e` and `a[i] += e` the old elements are kept. Arrays that change places, `a, b = b, a`, have adjoints that do
so in the opposite direction. `append` is undone by `pop` and `pop` by `append`, on the list and on its adjoint; so it
is with stacks of generated text, which is differentiated again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any  # tables of several things, by name

import gast

from srcgrad.core.facts import UNKNOWN, Facts, Spec, copy_with_facts
from srcgrad.core.trees import (
    Block,
    Node,
    as_value,
    assign,
    at,
    expression,
    index_rank,
    is_basic,
    is_swap,
    is_write,
    literal_node,
    loads,
    name,
    on_array,
    part_written,
    root,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.derive.adjoint_seeds import popped_flag, pushed_flag
from srcgrad.derive.adjoints import PRESENT, Adjoints, is_product, is_sum, shape_may_differ, wide_spec
from srcgrad.derive.mask_arrivals import (
    arrived_mask,
    cleared_mask,
    listed_masks,
    mask_before,
    mask_of_part,
    mask_of_stored_item,
    popped_mask,
    pushed_mask,
)


def swaps(node: Node, facts: Facts) -> bool:
    """Whether a statement lets arrays that the function writes into change places."""
    return is_swap(node) and stores(node)[0] in facts.memory.swapped


def swapped_back(node: Node) -> Node:
    """`b, a = a, b`: every name holds again what it held before."""
    return _exchange([n.id for n in node.value.elts], stores(node), node)


def undo_swap(node: Node, adjoints: Adjoints) -> Block:
    """The adjoints change places."""
    bound, read = stores(node), [n.id for n in node.value.elts]
    facts = adjoints.facts
    if not any(adjoints.exists(one) for one in bound):
        return []
    made: Block = []
    for one in bound:
        if not adjoints.exists(one):
            made.append(adjoints.zeros(one, facts.values.value_spec.get(one), node))
            adjoints.state[one] = PRESENT
    made.append(_exchange([adjoints.of(one) for one in read], [adjoints.of(one) for one in bound], node))
    for known in (adjoints.state, adjoints.specs, adjoints.masks, adjoints.flags):
        _rename_adjoints(known, bound, read)
    return made


def _rename_adjoints(known: dict[str, Any], bound: list[str], read: list[str]) -> None:
    """What is known of the adjoints goes with them."""
    held = {old: known.pop(new) for new, old in zip(bound, read, strict=True) if new in known}
    known.update(held)


def tangent_of_swap(node: Node, facts: Facts, dotted: object) -> Block:
    """The tangents change places."""
    assert callable(dotted), "a function that names tangents"
    bound, read = stores(node), [n.id for n in node.value.elts]
    if not all(one in facts.activity.active for one in bound):
        return []
    return [_exchange([dotted(one, facts) for one in bound], [dotted(one, facts) for one in read], node)]


def _exchange(bound: list[str], read: list[str], like: Node) -> Node:
    targets = gast.Tuple(elts=[name(one, gast.Store()) for one in bound], ctx=gast.Store())
    values = gast.Tuple(elts=[name(one) for one in read], ctx=gast.Load())
    return at(gast.Assign([targets], values, None), like)


def is_number(node: Node, facts: Facts) -> bool:
    """Whether the part that is written is a single element."""
    part = part_written(node)
    spec = facts.values.value_spec.get(part.value.id) if isinstance(part.value, gast.Name) else None
    if any(isinstance(n, gast.Constant) and n.value is ... for n in walk(part.slice)):
        return False  # `a[0, ...]` of a vector is an array without axes, which shows the element
    return spec is not None and index_rank(part.slice, spec.ndim, frozenset(facts.values.integers)) == 0


def read_part(node: Node, facts: Facts) -> Node:
    """`a[i]`, as it is before the write."""
    part = part_written(node)
    return expression(
        "array[index]", array=copy_with_facts(part.value, facts), index=copy_with_facts(part.slice, facts)
    )


def kept_part(node: Node, facts: Facts) -> Node:
    """The elements that a write replaces: a copy, since they change in place; a number needs none."""
    return _own_part(read_part(node, facts), node, facts)


def _own_part(part: Node, node: Node, facts: Facts) -> Node:
    """The part that a write changes, as it is now; the item of a list may be a number, which has no methods."""
    if is_number(node, facts):
        return part
    held = root(part_written(node))
    of_list = held is not None and facts.kinds.of_names.get(held.id, UNKNOWN).tag in ("list", "tuple", "dict")
    return expression(f"{facts.library('np')}.copy(part)" if of_list else "part.copy()", part=part)


def write_back(node: Node, value: str, facts: Facts) -> Node:
    """`a[i] = value`: the elements are as they were before the write."""
    made = statement(f"part = {value}")
    part = read_part(node, facts)
    part.ctx = gast.Store()
    made.targets = [part]
    return made


def undo_write(node: Node, adjoints: Adjoints) -> Block:
    """The adjoint of what was stored; the adjoint of elements that were replaced is zero before the write."""
    facts = adjoints.facts
    part, value = part_written(node), node.value
    array, index = written_names(node)[0], part.slice
    made: Block = []
    if not adjoints.exists(array):
        return made
    made += adjoints.whole(array, facts.values.value_spec.get(array), node)
    adjoint = adjoints.of(array)
    facts.memory.elements[adjoint] = None
    carried = isinstance(value, gast.Name) and value.id in facts.activity.active
    basic = is_basic(index, frozenset(facts.values.integers))
    added = isinstance(node, gast.AugAssign)
    before = adjoints.masks.get(array)
    if not added and is_whole(index) and isinstance(part.value, gast.Name):
        if carried:
            read = expression(adjoint)
            if not _fits(node, facts.values.spec.get(value), facts):
                read = expression(f"{facts.library('sum_to')}(g, x)", g=adjoint, x=copy_with_facts(value, facts))
            adjoints.state.pop(array)
            adjoints.contribute_whole(copy_with_facts(value, facts), read, made, node)
        adjoints.state.pop(array, None)
        adjoints.masks.pop(array, None)
        return made
    if carried:
        had = mask_before(value.id, adjoints)
        read = _adjoint_of_part(adjoint, node, basic or added, facts)
        sign = "-" if added and isinstance(node.op, gast.Sub) else ""
        spec = facts.values.spec.get(value)
        fits = _fits(node, spec, facts)
        made_for_it = is_product(value, facts) or is_sum(value, facts)
        if not fits and basic and made_for_it and shape_may_differ(value, facts):
            adjoints.specs[value.id] = wide_spec(value.id)
            fits = True
        if not fits:
            read = expression(f"{sign}{facts.library('sum_to')}(g, x)", g=read, x=copy_with_facts(value, facts))
        elif sign:
            read = gast.UnaryOp(gast.USub(), read)
        adjoints.contribute_whole(copy_with_facts(value, facts), read, made, node)
        made += mask_of_part(node, value, had, before, adjoints)
    if not added:
        holder = on_array(copy_with_facts(part.value, facts), adjoint)
        cleared = statement("adjoint[index] = 0.0", adjoint=holder, index=copy_with_facts(index, facts))
        made.append(at(cleared, node))
        made += cleared_mask(node, array, before, adjoints)
    return made


def _fits(node: Node, spec: Spec | None, facts: Facts) -> bool:
    """Whether what is stored has the shape of the part for sure: NumPy stretches what is smaller."""
    part = facts.values.part_spec.get(node)
    if spec is None:
        return False
    if part is None or part.ndim is None or part.ndim == 0:
        return is_number(node, facts) and spec.scalar
    return spec.ndim == part.ndim and part.shape <= spec.shape


def is_whole(index: Node) -> bool:
    """`a[...]`, `a[:]`, `a[()]`"""
    if isinstance(index, gast.Tuple):
        return not index.elts
    if isinstance(index, gast.Slice):
        return index.lower is None and index.upper is None and index.step is None
    return isinstance(index, gast.Constant) and index.value is ...


def _adjoint_of_part(adjoint: str, node: Node, basic: bool, facts: Facts) -> Node:
    """`a_bar[i]`, a copy where it is an array, since `a_bar` changes."""
    index = copy_with_facts(part_written(node).slice, facts)
    spec = facts.values.value_spec.get(written_names(node)[0])
    if spec is not None and spec.scalar and is_whole(index) and isinstance(part_written(node).value, gast.Name):
        return expression("+a_bar", a_bar=adjoint)  # the adjoint of an array without axes may be a number
    holder = on_array(copy_with_facts(part_written(node).value, facts), adjoint)
    if not basic:
        return expression(f"{facts.library('stored')}(a_bar, index)", a_bar=holder, index=as_value(index))
    return _own_part(expression("a_bar[index]", a_bar=holder, index=index), node, facts)


def _stored_value(held: str, node: Node, new: Node) -> Node:
    """`a + e` for a write that adds, `e` for any other."""
    return gast.BinOp(name(held), node.op, new) if isinstance(node, gast.AugAssign) else new


def tangent_of_write(node: Node, facts: Facts, dotted: object) -> Block:
    """`a_dot[i] = e_dot`, or zero where what is stored carries none."""
    part, value = part_written(node), node.value
    array = written_names(node)[0]
    if array not in facts.activity.active:
        return []
    carried = isinstance(value, gast.Name) and value.id in facts.activity.active
    if isinstance(node, gast.AugAssign) and not carried:
        return []
    assert callable(dotted), "a function that names tangents"
    new = expression(dotted(value.id, facts)) if carried else literal_node(0.0)
    spec = facts.values.value_spec.get(array)
    if spec is not None and spec.scalar and is_whole(part.slice) and isinstance(part.value, gast.Name):
        held = dotted(array, facts)  # the tangent of an array without axes may be a number
        return [statement("a = value", a=held, value=_stored_value(held, node, new))]
    holder = on_array(copy_with_facts(part.value, facts), dotted(array, facts))
    target = expression("a_dot[index]", a_dot=holder, index=copy_with_facts(part.slice, facts))
    target.ctx = gast.Store()
    if isinstance(node, gast.AugAssign):
        return [gast.AugAssign(target, node.op, new)]
    return [gast.Assign([target], new, None)]


def changed_list(node: Node, facts: Facts) -> str:
    """The list that `out.append(e)` or `e = out.pop()` changes; an empty string for other statements."""
    call = node.value if isinstance(node, gast.Expr | gast.Assign) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
        return ""
    held = call.func.value
    if call.func.attr not in ("append", "pop") or not isinstance(held, gast.Name):
        return ""
    return str(held.id) if facts.list_kind(held.id) == "list" else ""


def restore_items(node: Node, facts: Facts) -> Node:
    """The statement that gives a list the items which it had before."""
    held = changed_list(node, facts)
    bound = target(node)
    made = statement(f"{held}.pop()" if bound is None else f"{held}.append({bound})")
    return at(made, node)


def undo_change(node: Node, adjoints: Adjoints) -> Block:
    """What flows back from `out.append(e)` and `e = out.pop()`; the list is as it was before by then."""
    facts = adjoints.facts
    held = changed_list(node, facts)
    if held not in facts.activity.active:
        return []
    bound = target(node)
    return _undo_append(node, held, adjoints) if bound is None else _undo_pop(node, held, bound, adjoints)


def _begin(held: str, node: Node, adjoints: Adjoints) -> Block:
    """The adjoint of a list exists before the list changes backwards: it always has as many items."""
    made = adjoints.zeros(held, None, node)
    adjoints.state[held] = PRESENT
    return [made]


def _undo_append(node: Node, held: str, adjoints: Adjoints) -> Block:
    facts = adjoints.facts
    if not adjoints.exists(held):
        return _begin(held, node, adjoints)
    taken = facts.names.new_temporary()
    if held in facts.values.complex:
        facts.values.complex[taken] = None
    made: Block = _listed(held, node, adjoints)
    made.append(at(statement(f"{taken} = {adjoints.of(held)}.pop()"), node))
    value = node.value.args[0]
    if isinstance(value, gast.Name) and value.id in facts.activity.active:
        before = mask_before(value.id, adjoints)
        adjoints.contribute_whole(copy_with_facts(value, facts), name(taken), made, node)
        made += popped_mask(node, held, value, before, adjoints)
    elif held in adjoints.masks:
        made.append(at(statement(f"{adjoints.masks[held].held}.pop()"), node))
    return made


def _listed(held: str, node: Node, adjoints: Adjoints) -> Block:
    """The masks of a list's items change as its adjoint does; those that cannot do so are left out."""
    known = adjoints.masks.get(held)
    made = listed_masks(held, node, adjoints) if known is not None else []
    if known is not None and held in adjoints.masks and not adjoints.masks[held].listed:
        del adjoints.masks[held]
    return made


def _undo_pop(node: Node, held: str, bound: str, adjoints: Adjoints) -> Block:
    facts = adjoints.facts
    spec = facts.values.value_spec.get(bound)
    known = bound in facts.activity.active and adjoints.exists(bound)
    made: Block = []
    if adjoints.exists(held):
        value = adjoints.read(bound, spec) if known else _zero(name(bound), facts)
        made += _listed(held, node, adjoints)
        made.append(at(statement(f"{adjoints.of(held)}.append(adjoint)", adjoint=value), node))
    else:
        adjoints.masks.pop(held, None)
        made += _begin(held, node, adjoints)
        if known:
            made.append(at(statement(f"{adjoints.of(held)}[-1] = adjoint", adjoint=adjoints.read(bound, spec)), node))
    made += pushed_mask(node, held, adjoints.masks.pop(bound, None), adjoints)
    adjoints.state.pop(bound, None)
    return made


def undo_store(node: Node, adjoints: Adjoints) -> Block:
    """What flows back from `out[i] = e` and `d[key] = e`: the item before is back by then."""
    facts = adjoints.facts
    part, value = part_written(node), node.value
    held = part.value.id
    if held not in facts.activity.active:
        return []
    if not adjoints.exists(held):
        return _begin(held, node, adjoints)
    adjoint = adjoints.of(held)
    read = expression("a_bar[index]", a_bar=adjoint, index=copy_with_facts(part.slice, facts))
    added, mask, made = mask_of_stored_item(node, held, adjoints)
    if isinstance(value, gast.Name) and value.id in facts.activity.active and added:
        had = mask_before(value.id, adjoints)
        adjoints.contribute_whole(copy_with_facts(value, facts), read, made, node)
        made += arrived_mask(value, mask, had, node, adjoints)
    before = expression("a[index]", a=held, index=copy_with_facts(part.slice, facts))
    cleared = statement(
        "a_bar[index] = zero", a_bar=adjoint, index=copy_with_facts(part.slice, facts), zero=_zero(before, facts)
    )
    made.append(at(cleared, node))
    return made


def kept_item(node: Node, facts: Facts) -> Node:
    """The item that a store replaces; None if a dict has no such key yet."""
    part = part_written(node)
    if facts.list_kind(part.value.id) == "dict" and not _has_key(part, facts):
        return expression("d.get(key)", d=copy_with_facts(part.value, facts), key=copy_with_facts(part.slice, facts))
    return expression("a[index]", a=copy_with_facts(part.value, facts), index=copy_with_facts(part.slice, facts))


def _has_key(part: Node, facts: Facts) -> bool:
    """Whether a dict was made with a key: `{"h": h}`."""
    made = [n.value for n in facts.kinds.displays.get(part.value.id, [])]
    if not all(isinstance(value, gast.Dict) for value in made):
        return False  # where it is made, a statement has been put in its place
    keys = [[key.value for key in value.keys if isinstance(key, gast.Constant)] for value in made]
    return isinstance(part.slice, gast.Constant) and bool(keys) and all(part.slice.value in k for k in keys)


def _zero(value: Node, facts: Facts) -> Node:
    return expression(f"{facts.library('zeros_like')}(x)", x=value)


def tangent_of_change(node: Node, facts: Facts, dotted: object) -> Block:
    """The same change of the list of tangents."""
    assert callable(dotted), "a function that names tangents"
    held = changed_list(node, facts)
    if held not in facts.activity.active:
        return []
    bound = target(node)
    if bound is not None:
        call = expression(f"{dotted(held, facts)}.pop()")
        return [assign(dotted(bound, facts), call) if bound in facts.activity.active else gast.Expr(call)]
    value = node.value.args[0]
    return [statement(f"{dotted(held, facts)}.append(tangent)", tangent=tangent_of_item(value, facts, dotted))]


def tangent_of_store(node: Node, facts: Facts, dotted: object) -> Block:
    """`out_dot[i] = e_dot`"""
    assert callable(dotted), "a function that names tangents"
    part = part_written(node)
    if part.value.id not in facts.activity.active:
        return []
    place = expression("a_dot[index]", a_dot=dotted(part.value.id, facts), index=copy_with_facts(part.slice, facts))
    place.ctx = gast.Store()
    return [gast.Assign([place], tangent_of_item(node.value, facts, dotted), None)]


def tangent_of_item(value: Node, facts: Facts, dotted: object) -> Node:
    """The tangent of what goes into a list: zeros like it where it carries none."""
    assert callable(dotted), "a function that names tangents"
    if isinstance(value, gast.Name) and value.id in facts.activity.active:
        return name(dotted(value.id, facts))
    return _zero(copy_with_facts(value, facts), facts)


Dotted = Callable[[str, Facts], str]


def is_push(node: Node) -> bool:
    """`h_stack.append(h)`."""
    return (
        isinstance(node, gast.Expr)
        and isinstance(node.value, gast.Call)
        and isinstance(node.value.func, gast.Attribute)
        and node.value.func.attr == "append"
    )


def is_pop(value: Node | None) -> bool:
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
    return bool(written_names(node)) and not is_push(node) and isinstance(node, gast.Expr)


def stack_adjoints(block: Block, adjoints: Adjoints) -> Block:
    """The adjoint of a stack is a stack: empty before the backward half begins."""
    facts = adjoints.facts
    names = dict.fromkeys(node.value.func.value.id for node in statements(block) if is_push(node))
    pops = [node.value.func.value.id for node in statements(block) if is_pop(getattr(node, "value", None))]
    facts.tape.pops = Counter(pops)
    facts.tape.pops.subtract({held: facts.tape.pops[held] for held in facts.tape.pops if _is_read(held, block)})
    made = []
    for stack in names:
        if stack in facts.activity.active and not facts.list_kind(stack):
            adjoints.state[stack] = PRESENT
            empty = statement(f"{adjoints.of(stack)} = []")
            facts.tape.zeros[empty] = None
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
        container = facts.list_kind(written_names(node)[0])
        return undo_store(node, adjoints) if container else undo_write(node, adjoints)
    if changed_list(node, facts):
        return undo_change(node, adjoints)
    made: Block = []
    if is_push(node):
        stack, value = node.value.func.value.id, node.value.args[0]
        if stack in facts.activity.active and isinstance(value, gast.Name) and value.id in facts.activity.active:
            popped = expression(f"{adjoints.of(stack)}.pop()")
            before = mask_before(value.id, adjoints)
            state, flags = dict(adjoints.state), dict(adjoints.flags)
            adjoints.contribute_whole(copy_with_facts(value, facts), popped, made, node)
            made += popped_mask(node, stack, value, before, adjoints)
            made += popped_flag(node, stack, state, flags, adjoints)
    elif is_update(node):
        array, index, value = node.value.args
        if adjoints.exists(array.id) and isinstance(value, gast.Name) and value.id in facts.activity.active:
            made += adjoints.whole(array.id, facts.values.value_spec.get(array.id), node)
            helper = facts.library("sum_to")
            part = expression(
                f"{helper}({facts.library('np')}.array({adjoints.of(array.id)}[index]), e)",
                index=copy_with_facts(index, facts),
                e=copy_with_facts(value, facts),
            )
            adjoints.contribute_whole(copy_with_facts(value, facts), part, made, node)
    else:
        bound, stack = str(target(node)), node.value.func.value.id
        if stack in facts.activity.active:
            spec = facts.values.value_spec.get(bound)
            adjoint = adjoints.read(bound, spec) if adjoints.exists(bound) else adjoints.zero_value(bound, spec)
            made.append(at(statement(f"{adjoints.of(stack)}.append(adjoint)", adjoint=adjoint), node))
            made += pushed_mask(node, stack, adjoints.masks.pop(bound, None), adjoints)
            made += pushed_flag(node, stack, bound, adjoints)
        adjoints.state.pop(bound, None)
    return made


def tangent_beside(node: Node, facts: Facts, dotted: Dotted) -> Block:
    """The tangent statements of a push, a pop or a write."""
    if is_write(node):
        container = facts.list_kind(written_names(node)[0])
        return (tangent_of_store if container else tangent_of_write)(node, facts, dotted)
    if changed_list(node, facts):
        return tangent_of_change(node, facts, dotted)
    if is_push(node):
        stack, value = node.value.func.value.id, node.value.args[0]
        if stack not in facts.activity.active:
            return []
        carried = isinstance(value, gast.Name) and value.id in facts.activity.active
        if carried:
            tangent = name(dotted(value.id, facts))
        else:
            tangent = expression(f"{facts.library('zeros_like')}(h)", h=copy_with_facts(value, facts))
        return [statement(f"{dotted(stack, facts)}.append(tangent)", tangent=tangent)]
    if is_update(node):
        array, index, value = node.value.args
        if array.id not in facts.activity.active or not (
            isinstance(value, gast.Name) and value.id in facts.activity.active
        ):
            return []
        parts = {
            "a": name(dotted(array.id, facts)),
            "index": copy_with_facts(index, facts),
            "e": name(dotted(value.id, facts)),
        }
        return [statement(f"{facts.library('add_at')}(a, index, e)", **parts)]
    bound, stack = str(target(node)), node.value.func.value.id
    if bound in facts.activity.active:
        return [statement(f"{dotted(bound, facts)} = {dotted(stack, facts)}.pop()")]
    return [statement(f"{dotted(stack, facts)}.pop()")] if stack in facts.activity.active else []
