"""Masks on their way: of parts, items, loops, branches and calls that adjoints come from.

A mask says where the adjoints may be nonzero to which a statement contributes. Pullbacks of functions with source take
those of seeds, and give those of adjoints: `x_bar, x_mask = g_back(y_bar, y_mask)`.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import gast

from srcgrad.core.facts import UNKNOWN, Facts, Operation, PullbackForm, Spec, copy_with_facts
from srcgrad.core.trees import (
    Block,
    Node,
    as_value,
    assign,
    at,
    expression,
    is_basic,
    is_write,
    literal_node,
    loads,
    name,
    part_written,
    root,
    statement,
    statements,
    stores,
    walk,
    without_axes,
    written_names,
)
from srcgrad.derive.adjoint_seeds import Pair
from srcgrad.derive.adjoints import ABSENT, ZERO, Adjoints
from srcgrad.derive.instantiate_rules import Lines
from srcgrad.derive.masks import Mask, StatementMasks, is_container
from srcgrad.derive.regularity import is_one


def read_at(x: Node, index: Node, mask: Mask | None, masking: StatementMasks) -> Mask:
    """The mask of x from that of `x[index]`."""
    facts = masking.facts
    made = expression(f"{facts.library('mask_at')}(x, index)", x=copy_with_facts(x, facts), index=index)
    made.args += [] if mask is None else [masking.true_where_taken(mask)]
    bound, spec = masking.bound(made, True), facts.values.spec.get(x)
    return bound if spec is None else replace(bound, spec=spec)


def item_mask(masks: Mask, key: Node, x: Node, masking: StatementMasks) -> Mask:
    """One of several masks, in the shape of what it belongs to."""
    part = masking.bound(gast.Subscript(name(masks.held), key, gast.Load()))
    return masking.fit_mask(part, copy_with_facts(x, masking.facts), None)


_CONTAINERS = ("tuple", "list", "dict")


def _key(index: Node) -> int | str | None:
    """The literal key of an item, by which it has no other."""
    value = index.value if isinstance(index, gast.Constant) else None
    return value if type(value) is str or (type(value) is int and value >= 0) else None


def _masks_of_items(primal: str, adjoints: Adjoints) -> Mask | None:
    """The masks of a container's items: none yet where nothing was added to its adjoint."""
    facts, known = adjoints.facts, adjoints.masks.get(primal)
    if known is not None or primal not in facts.idioms.masked or adjoints.may_be_unbound(primal):
        return known if known is not None and known.of_items else None
    kinds = [facts.kinds.containers.get(primal) or facts.list_kind(primal)]
    fresh = adjoints.state.get(primal, ABSENT) in (ABSENT, ZERO) and primal not in facts.request.wrt
    return Mask(f"{primal}[*]", Spec(ndim=None), items=()) if fresh and kinds[0] in _CONTAINERS else None


def listed_masks(primal: str, node: Node, adjoints: Adjoints) -> Block:
    """Masks of a container's items in a list or dict beside its adjoint, for items that are told when it runs."""
    known, facts = _masks_of_items(primal, adjoints), adjoints.facts
    if known is None or known.listed:
        return []
    adjoints.masks.pop(primal, None)
    is_dict = "dict" in (facts.kinds.containers.get(primal), facts.list_kind(primal))
    of_all = is_dict and known.items and all(mask is None for _, mask in known.items)
    if facts.module.target.typed or of_all:
        return []
    like = adjoints.of(primal) if adjoints.exists(primal) else primal
    masking = StatementMasks(facts, node, {})
    keys = [literal_node(key) for key, _ in known.items or ()]
    masks = [literal_node(True) if m is None else masking.true_where_taken(m) for _, m in known.items or ()]
    begun = expression(f"{facts.library('item_masks')}({like}, known)", known=gast.Dict(keys, masks))
    if facts.list_kind(primal) == "list":  # it changes as the list does
        begun = expression("list(made)", made=begun)
    found = Mask(facts.names.fresh(f"{primal}_masks"), Spec(ndim=None), listed=True)
    adjoints.masks[primal] = found
    return [*masking.made, at(assign(found.held, begun), node)]


def _mark_item(known: Mask, index: Node, mask: Mask | None, node: Node, adjoints: Adjoints) -> Block:
    """`d_masks[k] = d_masks[k] | m`"""
    facts = adjoints.facts
    masking = StatementMasks(facts, node, {})
    parts = {"held": name(known.held), "index": copy_with_facts(index, facts)}
    if mask is None:
        return [at(statement("held[index] = True", **parts), node)]
    parts |= {"again": copy_with_facts(index, facts), "m": masking.true_where_taken(mask), "old": name(known.held)}
    joined = statement(f"held[index] = {facts.library('np')}.logical_or(old[again], m)", **parts)
    return [*masking.made, at(joined, node)]


def mask_of_item(x: str, index: Node, node: Node, mask: Mask | None, adjoints: Adjoints) -> tuple[Mask | None, Block]:
    """The masks of a container's items after a contribution to that of `x[index]`."""
    known, key = _masks_of_items(x, adjoints), _key(index)
    if known is None or isinstance(index, gast.Slice):
        return None, []
    own = None if mask is not None and mask.of_items else mask
    own = flagged(adjoints.flag) if own is None and adjoints.flag else own
    if known.items is not None and key is not None:
        masking, had = StatementMasks(adjoints.facts, node, {}), dict(known.items)
        had[key] = masking.union_of_masks([had[key], own] if key in had else [own])
        return replace(known, items=tuple(had.items())), masking.made
    made = listed_masks(x, node, adjoints)
    listed = adjoints.masks.get(x)
    return listed, made if listed is None else [*made, *_mark_item(listed, index, own, node, adjoints)]


def display_masks(node: Node, pairs: list[Pair], adjoints: Adjoints, shared: Block) -> list[Pair]:
    """The items of a display to which something was added, with their masks noted."""
    known, facts = adjoints.masks.get(stores(node)[0]), adjoints.facts
    masking, found = StatementMasks(facts, node, {}), []
    if known is None:
        return pairs
    for operand, value in pairs:
        inner = isinstance(value.value, gast.Subscript)
        key = None if inner else _key(value.slice)
        mask: Mask | None = None
        if known.items is not None and key is not None:
            if key not in dict(known.items):
                continue
            mask = dict(known.items)[key]
            mask = mask and masking.fit_mask(mask, copy_with_facts(operand, facts), facts.values.spec.get(operand))
        elif known.items is None and not inner:
            mask = item_mask(known, copy_with_facts(value.slice, facts), operand, masking)
        adjoints.arrive(operand.id, None if is_container(operand.id, facts) else mask)
        found.append((operand, value))
    shared += masking.made
    return found


def mask_of_stored_item(node: Node, value: str, adjoints: Adjoints) -> tuple[bool, Mask | None, Block]:
    """Whether anything was added to the item that `d[key] = e` stores, its mask, and what forgets it."""
    part, facts = part_written(node), adjoints.facts
    x, key = part.value.id, _key(part.slice)
    known = adjoints.masks.get(x)
    if known is None or not known.of_items:
        return True, None, []
    if known.items is not None and key is not None:
        had = dict(known.items)
        added, mask = key in had, had.pop(key, None)
        adjoints.masks[x] = replace(known, items=tuple(had.items()))
        return added, mask, []
    made = listed_masks(x, node, adjoints)
    known = adjoints.masks.get(x)
    if known is None:
        return True, None, made
    masking = StatementMasks(facts, node, {})
    mask = masking.bound(expression("m[index]", m=name(known.held), index=copy_with_facts(part.slice, facts)))
    cleared = statement("m[index] = False", m=name(known.held), index=copy_with_facts(part.slice, facts))
    return True, mask, [*made, *masking.made, at(cleared, node)]


def arrived_mask(value: Node, mask: Mask | None, had: list[Mask | None], node: Node, adjoints: Adjoints) -> Block:
    """Note the mask of what a statement has stored in a container."""
    facts = adjoints.facts
    if mask is None or value.id not in facts.idioms.masked or is_container(value.id, facts):
        return []
    masking = StatementMasks(facts, node, {})
    own = masking.fit_mask(mask, copy_with_facts(value, facts), facts.values.spec.get(value))
    found = masking.union_of_masks([*had, own])
    if found is not None:
        adjoints.masks[value.id] = found
    return masking.made


def mask_before_write(mask: Mask | None, x: Node, index: Node, masking: StatementMasks) -> Mask:
    """The mask of x before `x[index]` was overwritten."""
    facts = masking.facts
    given = literal_node(True) if mask is None else masking.true_where_taken(mask)
    made = expression(f"{facts.library('mask_without')}(m, x, index)", m=given, x=x, index=index)
    bound, spec = masking.bound(made, True), facts.values.value_spec.get(x.id)
    return bound if spec is None else replace(bound, spec=spec)


def has_mask(array: str, facts: Facts) -> bool:
    """Whether the adjoint of an array wants a mask of its elements: it is made as a whole, or in a text of ours."""
    return facts.idioms.masked.get(array, False) or (facts.request.generated and array in facts.idioms.masked)


def mask_of_part(node: Node, value: Node, had: list[Mask | None], before: Mask | None, adjoints: Adjoints) -> Block:
    """The mask of e in `a[index] = e`: that of the part."""
    facts, part = adjoints.facts, part_written(node)
    if value.id not in facts.idioms.masked or before is None or not isinstance(part.value, gast.Name):
        return []
    if before.grown and (facts.idioms.masked.get(part.value.id) or part.value.id in facts.idioms.singled):
        return []
    masking = StatementMasks(facts, node, {})
    parts = {
        "m": masking.true_where_taken(before),
        "x": copy_with_facts(part.value, facts),
        "index": copy_with_facts(part.slice, facts),
    }
    text = f"{facts.library('np')}.array(m[index])" if before.grown else f"{facts.library('mask_to')}(m, x)[index]"
    if before.grown and is_one(parts["index"], facts):
        text = "m[index]"
    own = masking.bound(expression(text, **{one: tree for one, tree in parts.items() if one in text}), True)
    own = masking.fit_mask(own, copy_with_facts(value, facts), facts.values.spec.get(value))
    mask = masking.union_of_masks([*had, own])
    if mask is not None:
        adjoints.masks[value.id] = mask
    return masking.made


def cleared_mask(node: Node, array: str, before: Mask | None, adjoints: Adjoints) -> Block:
    """The mask of an array before a part of it is overwritten: `mask_without(m, a, index)`."""
    facts, part = adjoints.facts, part_written(node)
    adjoints.masks.pop(array, None)
    begun = before is not None or not is_one(part.slice, facts)
    if not has_mask(array, facts) and (array not in facts.idioms.masked or array in facts.idioms.singled or not begun):
        return []
    if not isinstance(part.value, gast.Name):
        return _cleared_view(node, array, before, adjoints)
    if before is not None and before.grown:
        adjoints.masks[array] = before
        return [at(statement("m[index] = False", m=name(before.held), index=copy_with_facts(part.slice, facts)), node)]
    masking = StatementMasks(facts, node, {})
    index = as_value(copy_with_facts(part.slice, facts))
    adjoints.masks[array] = mask_before_write(before, copy_with_facts(part.value, facts), index, masking)
    return masking.made


def _cleared_view(node: Node, array: str, before: Mask | None, adjoints: Adjoints) -> Block:
    """The same where a part of a view is overwritten: `m[1:][0] = False`, for `y[1:][0] = e`."""
    facts, part = adjoints.facts, copy_with_facts(part_written(node), adjoints.facts)
    held = root(part)
    if held is None or held.id != array or (before is not None and before.grown):
        return []
    masking = StatementMasks(facts, node, {})
    given = literal_node(True) if before is None else masking.true_where_taken(before)
    text = f"{facts.library('np')}.array({facts.library('mask_to')}(m, {array}))"
    mask = masking.bound(expression(text, m=given), True)
    facts.memory.elements[mask.held] = None
    adjoints.masks[array] = replace(mask, spec=facts.values.value_spec.get(array, mask.spec))
    held.id = mask.held
    return [*masking.made, at(gast.Assign([part], literal_node(False), None), node)]


def mask_lines(node: Node, operation: Operation, made: Lines, derivatives: list[Node], adjoints: Adjoints) -> None:
    """Mask the factors of lines whose adjoints are zero by structure, and note where those of the operands are."""
    facts = adjoints.facts
    carried = {
        one: adjoints.masks.get(facts.names.adjoint_of.get(one, "")) for part in derivatives for one in loads(part)
    }
    operands = [operation.bound[line.parameter] for line in made.lines]
    wanted = [isinstance(operand, gast.Name) and operand.id in facts.idioms.masked for operand in operands]
    needed = _needed_masks(node, operation, operands, facts)
    listed = _list_where_all_move(node, made, derivatives, carried, adjoints)
    marked = any(one in facts.idioms.masked for operand in operands for one in loads(operand))
    if not marked and not any(carried.values()) and not any(needed):
        return
    masking = StatementMasks(facts, node, carried, needed[-1])
    masking.tests += [] if needed[-1] is None else needed[-1].tests
    masking.made += listed
    made.shared, found = masking.lines(made.shared, [line.value for line in made.lines], needed)
    made.lines = [replace(line, value=value) for line, (value, _) in zip(made.lines, found, strict=True)]
    for operand, wants, (_, mask) in zip(operands, wanted, found, strict=True):
        if not isinstance(operand, gast.Name):
            _mask_of_items(operand, mask, masking, adjoints)
        if wants and mask is not None and operation.rule is not None and operation.rule.kind == "elementwise":
            mask = masking.fit_mask(mask, copy_with_facts(operand, facts), facts.values.spec.get(operand))
        if wants:
            adjoints.arrive(operand.id, mask)


def _list_where_all_move(
    node: Node, made: Lines, derivatives: list[Node], carried: dict[str, Mask | None], adjoints: Adjoints
) -> Block:
    """Masks of items in a list, where a line reads the adjoints of a result's items all at once."""
    mask, found = adjoints.masks.get(stores(node)[0]), []
    held = getattr(derivatives[0], "id", "")
    if mask is not None and mask.items is not None and not mask.count and carried.get(held) is mask:
        trees = [*(line.value for line in made.lines), *(one.value for one in made.shared)]
        parts = [
            p
            for tree in trees
            for p in walk(tree)
            if isinstance(p, gast.Subscript) and isinstance(p.slice, gast.Constant)
        ]
        if sum(loads(tree).count(held) for tree in trees) > len(
            [p for p in parts if getattr(p.value, "id", "") == held]
        ):
            found = listed_masks(stores(node)[0], node, adjoints)
            carried[held] = adjoints.masks.get(stores(node)[0])
    return found


def _needed_masks(node: Node, operation: Operation, operands: list[Node], facts: Facts) -> list[Mask | None]:
    """Where the adjoints of the operands of an elementwise operation are needed, and that of its result."""
    if operation.rule is None or operation.rule.kind != "elementwise" or len(stores(node)) > 1:
        return [None for _ in [*operands, node]]
    return [facts.idioms.supports.get(getattr(one, "id", stores(node)[0])) for one in [*operands, node]]


def _mask_of_items(display: Node, mask: Mask | None, masking: StatementMasks, adjoints: Adjoints) -> None:
    """The masks of the items of a list, one part each of the list of masks that is carried."""
    for place, item in enumerate(getattr(display, "elts", ())):
        if isinstance(item, gast.Name) and mask is not None and item.id in adjoints.facts.idioms.masked:
            adjoints.arrive(item.id, item_mask(mask, literal_node(place), item, masking))
        else:
            for one in loads(item):
                adjoints.arrive(one, None)


def mask_without_axes(node: Node, source: Node, index: Node, adjoints: Adjoints, shared: Block) -> None:
    """The mask of x from that of `x[:, None]`."""
    mask, facts = adjoints.masks.get(stores(node)[0]), adjoints.facts
    if mask is None or source.id not in facts.idioms.masked:
        return
    masking = StatementMasks(facts, node, {})
    part = gast.Subscript(masking.whole(mask), without_axes(copy_with_facts(index, facts)), gast.Load())
    adjoints.arrive(source.id, masking.bound(part))
    shared += masking.made


def mask_before(primal: str, adjoints: Adjoints, piece: bool = False) -> list[Mask | None]:
    """The mask of an adjoint to which something, or a `piece`, is about to be added."""
    if piece and primal in adjoints.bare:
        return []
    adjoints.bare.pop(primal, None)
    known = adjoints.masks.get(primal)
    if known is not None and known.grown:
        return [known]
    if known is None and primal in adjoints.flags:
        known = flagged(adjoints.flags[primal])
    return [known] if adjoints.exists(primal) else []


def unite_masks(primal: str, before: list[Mask | None], node: Node, adjoints: Adjoints) -> Block:
    """Note where an adjoint may be nonzero after a contribution, with the statements that it takes."""
    arrived = adjoints.arriving.pop(primal, None)
    if arrived is None or primal not in adjoints.facts.idioms.masked:
        return []
    masking = StatementMasks(adjoints.facts, node, {})
    if adjoints.flag and before and before[0] is not None:
        if before[0] == flagged(before[0].held) and all(mask is None for mask in arrived):
            return []
        arrived = [flagged(adjoints.flag) if mask is None else mask for mask in arrived]
    mask = masking.union_of_masks([*before, *arrived])
    if mask is not None:
        adjoints.masks[primal] = mask
    return masking.made


def flagged(flag: str) -> Mask:
    """The mask of an adjoint that is zero as a whole unless a flag is set."""
    return Mask(flag, Spec(ndim=0), plain=True)


def mask_of_element(
    operand: Node, index: Node, node: Node, mask: Mask | None, adjoints: Adjoints, *, row: bool = False
) -> Block:
    """`mask_at(x, index)`, what `x[index]` reads of x."""
    facts = adjoints.facts
    known = adjoints.masks.get(operand.id)
    slices = [part for part in getattr(index, "elts", [index]) if isinstance(part, gast.Slice)]
    literal = not any(loads(part) for part in slices)
    if operand.id in facts.idioms.covered and not _begins_with(operand.id, index, mask, adjoints):
        return []
    filled = literal and operand.id in facts.idioms.masked and operand.id not in facts.idioms.singled
    if not (filled or has_mask(operand.id, facts)) or operand.id in facts.kinds.containers:
        return []
    if known is not None and known.grown:
        adjoints.arrive(operand.id, known)
        return [_extend_mask(known, index, mask, node, adjoints, row)]
    masking = StatementMasks(facts, node, {})
    for piece in adjoints.bare.pop(operand.id, ()):
        adjoints.arrive(operand.id, read_at(operand, as_value(copy_with_facts(piece, facts)), None, masking))
    adjoints.arrive(operand.id, read_at(operand, as_value(copy_with_facts(index, facts)), mask, masking))
    return masking.made


def _begins_with(array: str, index: Node, mask: Mask | None, adjoints: Adjoints) -> bool:
    """Whether a piece begins the mask of an array whose pieces cover it; of one without a mask it is kept in mind."""
    if mask is not None:
        adjoints.facts.idioms.covered.pop(array)
        adjoints.facts.idioms.singled.pop(array)
    elif array in adjoints.bare or not adjoints.exists(array):
        adjoints.bare.setdefault(array, []).append(index)
    return mask is not None


def _extend_mask(known: Mask, index: Node, mask: Mask | None, node: Node, adjoints: Adjoints, row: bool) -> Node:
    """`m[index] = True`, or what a mask of the element adds to it."""
    facts = adjoints.facts
    if mask is None:
        return at(statement("m[index] = True", m=name(known.held), index=copy_with_facts(index, facts)), node)
    if row or (mask.plain and is_basic(index, frozenset(facts.values.integers))):
        parts = {"m": name(known.held), "index": copy_with_facts(index, facts)}
        text = "m[index] |= mask" if mask.plain else f"m[index] |= {facts.library('np')}.logical_or(mask, False)"
        return at(statement(text, mask=StatementMasks(facts, node, {}).true_where_taken(mask), **parts), node)
    text = f"{facts.library('np')}.logical_or.at(m, index, mask)"
    parts = {"m": name(known.held), "index": as_value(copy_with_facts(index, facts))}
    return at(statement(text, mask=StatementMasks(facts, node, {}).true_where_taken(mask), **parts), node)


def loop_masks(loop: Node, adjoints: Adjoints) -> Block:
    """Masks that a loop adds to, as arrays before it: those of what it reads by elements, or stores elements into."""
    facts = adjoints.facts
    body = statements(loop.body)
    bound = {one for node in body if not is_write(node) for one in stores(node)}
    read = [one for node in body for one in _by_elements(node, facts)]
    read += [loop.iter.id] if isinstance(loop, gast.For) and isinstance(loop.iter, gast.Name) else []
    made: Block = []
    made += branch_masks(loop, body, adjoints)
    made += _masks_of_seeds_in_shape(loop, [one for one in adjoints.masks if one in bound], adjoints)
    for primal in dict.fromkeys(read):
        known = adjoints.masks.get(primal)
        stored = any(primal in written_names(node) for node in body)
        begun = (
            primal in facts.idioms.masked and primal not in facts.idioms.singled and (known is not None or not stored)
        )
        wanted = facts.idioms.masked.get(primal) or begun
        usable = wanted and primal not in bound and primal not in facts.kinds.containers
        if (
            not usable
            or facts.list_kind(primal)
            or adjoints.may_be_unbound(primal)
            or (known is not None and known.grown)
        ):
            continue
        tree = _begin_mask(primal, known, stored, adjoints)
        if tree is not None:
            masking = StatementMasks(facts, loop, {})
            mask = masking.bound(tree, True)
            facts.memory.elements[mask.held] = None
            spec = facts.values.value_spec.get(primal, mask.spec)
            adjoints.masks[primal] = replace(mask, spec=spec, grown=True)
            made += masking.made
    return made


def _masks_of_seeds_in_shape(loop: Node, rebound: list[str], adjoints: Adjoints) -> Block:
    """Masks that a pullback has taken, in the shape of what a loop binds anew: so a trip hands them on as they are."""
    facts = adjoints.facts
    made: Block = []
    for primal in rebound:
        mask, spec = adjoints.masks[primal], facts.values.value_spec.get(primal)
        if mask.held in facts.calls.mask_seeds and not mask.of_items and spec is not None:
            masking = StatementMasks(facts, loop, {})
            adjoints.masks[primal] = masking.fit_mask(mask, name(primal), spec)
            made += masking.made
    return made


def _by_elements(node: Node, facts: Facts) -> list[str]:
    """The array of which a statement reads or stores elements."""
    operation = facts.operation_of(node)
    read = operation is not None and operation.function is operator.getitem
    array = operation.bound["x"] if operation is not None and read else None
    held = [array.id] if isinstance(array, gast.Name) else []
    return held + (written_names(node)[:1] if is_write(node) else [])


def branch_masks(node: Node, body: Block, adjoints: Adjoints) -> Block:
    """Masks of the items that a loop or a branch reads or changes, in lists and dicts before it."""
    facts = adjoints.facts
    made_anew = {one for each in body if not written_names(each) for one in stores(each)}
    unpacked = [each for each in body if isinstance(each, gast.Assign) and isinstance(each.targets[0], gast.Tuple)]
    names = [one for each in body for one in (*_by_elements(each, facts), *written_names(each))]
    names += [getattr(each.value, "id", "") for each in unpacked]
    names += [each.iter.id for each in (node, *body) if isinstance(each, gast.For) and isinstance(each.iter, gast.Name)]
    made: Block = []
    for primal in dict.fromkeys(one for one in names if is_container(one, facts) and one not in made_anew):
        made += listed_masks(primal, node, adjoints)
    return made


def _begin_mask(primal: str, known: Mask | None, stored: bool, adjoints: Adjoints) -> Node | None:
    """The array of a mask before a loop; None where the adjoint has no mask, and gets none there."""
    numpy = adjoints.facts.library("np")
    if adjoints.state.get(primal, ABSENT) in (ABSENT, ZERO):
        return expression(f"{numpy}.zeros({numpy}.shape({primal}), dtype={numpy}.bool_)")
    if known is not None:
        mask = StatementMasks(adjoints.facts, name(primal), {}).true_where_taken(known)
        return expression(f"{numpy}.array({adjoints.facts.library('mask_to')}(m, {primal}))", m=mask)
    return expression(f"{numpy}.ones({numpy}.shape({primal}), dtype={numpy}.bool_)") if stored else None


def pushed_mask(node: Node, stack: str, mask: Mask | None, adjoints: Adjoints) -> Block:
    """`h_masks.append(m)`, beside the adjoint of what was popped."""
    facts, own = adjoints.facts, adjoints.masks.get(stack)
    mask = None if mask is not None and mask.of_items else mask
    if own is None and stack not in adjoints.mask_stacks:
        if mask is None or stack not in facts.idioms.masked or facts.tape.pops.get(stack) != 1:
            return []
        adjoints.mask_stacks[stack] = facts.names.fresh(f"{stack}_masks")
    masking = StatementMasks(facts, node, {})
    held = literal_node(True) if mask is None else masking.true_where_taken(mask)
    stacked = adjoints.mask_stacks[stack] if own is None else own.held
    push = at(statement(f"{stacked}.append(mask)", mask=held), node)
    return [*masking.made, push]


def popped_mask(node: Node, stack: str, value: Node, before: list[Mask | None], adjoints: Adjoints) -> Block:
    """`m = h_masks.pop()`, beside the adjoint of what was pushed."""
    facts, own = adjoints.facts, adjoints.masks.get(stack)
    if own is None and stack not in adjoints.mask_stacks:
        return []
    masking = StatementMasks(facts, node, {})
    stacked = adjoints.mask_stacks[stack] if own is None else own.held
    popped = masking.bound(expression(f"{stacked}.pop()"))
    if value.id not in facts.idioms.masked or is_container(value.id, facts):
        return masking.made
    spec = facts.values.value_spec.get(value.id)
    mask = masking.union_of_masks([*before, popped if spec is None else replace(popped, spec=spec)])
    if mask is not None:
        adjoints.masks[value.id] = mask
    return masking.made


def mask_heads(adjoints: Adjoints) -> Block:
    """Empty stacks of masks."""
    lists = adjoints.facts.list_kind
    made = [
        statement(f"{held} = [False] * len({stack})" if lists(stack) else f"{held} = []")
        for stack, held in adjoints.mask_stacks.items()
    ]
    made += [statement(f"{held} = []") for held in adjoints.flag_stacks.values()]
    adjoints.facts.tape.zeros.update(dict.fromkeys(made))
    return made


def masks_of_parts(node: Node, adjoints: Adjoints) -> list[Mask | None]:
    """The masks of the items of a tuple that a callee gave: False where nothing reads one."""
    return [
        adjoints.masks.get(item.id) if adjoints.exists(item.id) else Mask("", Spec()) for item in node.targets[0].elts
    ]


def mask_of_tuple(node: Node, adjoints: Adjoints) -> Mask:
    """The mask of a tuple that is unpacked, item by item."""
    names = [item.id for item in node.targets[0].elts]
    known = tuple((k, adjoints.masks.get(one)) for k, one in enumerate(names) if adjoints.exists(one))
    known = tuple((k, None if mask is not None and mask.of_items else mask) for k, mask in known)
    return Mask(f"{node.value.id}[*]", Spec(ndim=None), items=known, count=len(names))


def masks_taken(node: Node, bound: str, adjoints: Adjoints, shared: Block) -> list[Node]:
    """The masks of the seeds of a call; the call becomes one of a derivative that takes and gives masks as needed."""
    facts, call = adjoints.facts, node.value
    if call not in facts.calls.derived or facts.module.leading.axis:
        return []
    plain, kinds = facts.calls.derived[call]
    parts = adjoints.parts_masks.pop(bound, None)
    masks = _masks_of_seeds(node, bound, plain, adjoints, shared) if parts is None else parts
    takes = tuple(k for k, mask in enumerate(masks) if mask is not None and bound in facts.idioms.masked)
    operands = zip(facts.module.making[plain].request.wrt, facts.calls.pulled[call], strict=True)
    gives = tuple(parameter for parameter, operand in operands if operand.id in facts.idioms.masked)
    made = plain
    if takes or gives:
        handed = PullbackForm(True, takes, gives)
        made = facts.module.masked(plain, facts.resolution.operation[call].function, kinds, facts, handed)
    if call in facts.calls.recomputed:
        facts.calls.recomputed[call] = made
    else:
        call.func = name(made)
    masking = StatementMasks(facts, node, {})
    taken = [masks[place] for place in facts.module.making[made].request.handed.takes_masks]
    trees = [_tree(mask, masking, parts is None and len(masks) == 1) for mask in taken if mask is not None]
    shared += masking.made
    return trees


def _masks_of_seeds(node: Node, bound: str, plain: str, adjoints: Adjoints, shared: Block) -> list[Mask | None]:
    """The masks of what a call gives: one, or those of the items of a tuple."""
    known, output = adjoints.masks.get(bound), adjoints.facts.module.making[plain].calls.output
    if known is None or not known.of_items:
        return [known]
    if not isinstance(getattr(output, "value", None), gast.Tuple):
        shared += listed_masks(bound, node, adjoints)
        return [adjoints.masks.get(bound)]
    if known.items is None:
        return [None for _ in output.value.elts]
    had = dict(known.items)
    return [had.get(place, Mask("", Spec())) for place, _ in enumerate(output.value.elts)]


def _tree(mask: Mask, masking: StatementMasks, whole: bool) -> Node:
    if not mask.held:
        return literal_node(False)
    if mask.listed:
        return name(mask.held)
    return masking.whole(mask) if whole else masking.true_where_taken(mask)


def _derivative(call: Node, facts: Facts) -> Facts:
    inner: Facts = facts.module.making[facts.calls.recomputed.get(call) or call.func.id]
    return inner


def names_of_masks(node: Node, adjoints: Adjoints) -> list[str]:
    """Names for the masks that a call gives behind the adjoints."""
    facts, call = adjoints.facts, node.value
    inner = _derivative(call, facts) if call in facts.calls.derived else None
    return [facts.names.new_temporary() for _ in inner.request.handed.gives_masks] if inner is not None else []


def note_given(node: Node, pairs: list[Pair], given: list[str], adjoints: Adjoints, shared: Block) -> None:
    """Note the masks that a call gives with the adjoints of its operands."""
    facts, later = adjoints.facts, [operand.id for operand, _ in pairs]
    inner = _derivative(node.value, facts) if given else facts
    masks = dict(zip(inner.request.handed.gives_masks, given, strict=True)) if given else {}
    for parameter, operand in zip(inner.request.wrt, facts.calls.pulled[node.value], strict=True) if given else ():
        spec = facts.values.value_spec.get(operand.id, Spec(ndim=None))
        adjoints.arrive(operand.id, Mask(masks[parameter], spec) if parameter in masks else None)
        if operand.id not in later:
            shared += unite_masks(operand.id, [], node, adjoints)


def masks_given(output: Node, adjoints: Adjoints, into: Block) -> list[Node]:
    """The masks of the adjoints that a pullback gives, where some is zero by structure."""
    facts = adjoints.facts
    made: list[Node] = []
    masking = StatementMasks(facts, output, {})
    for one in facts.request.handed.gives_masks:
        mask = _given(one, adjoints)
        if mask is not None:
            facts.calls.zeroing[one] = None
        if mask is None or not mask.held:
            whole = literal_node(mask is None)
            held = one in facts.kinds.containers or facts.kinds.of_names.get(one, UNKNOWN).tag in ("tuple", "list")
            of_items = expression(f"{facts.library('mask_to')}(whole, {one})", whole=whole)
            made.append(of_items if held else whole)  # callers ask for that of an item
        else:
            made.append(masking.true_where_taken(masking.fit_mask(mask, name(one), facts.values.value_spec.get(one))))
    into += masking.made
    return made


def _given(one: str, adjoints: Adjoints) -> Mask | None:
    if not adjoints.exists(one):
        return Mask("", Spec())
    flag, known = adjoints.flags.get(one), adjoints.masks.get(one)
    if known is not None and known.of_items:
        return None
    return flagged(flag) if flag and known is None else known
