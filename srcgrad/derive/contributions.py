"""What one statement contributes to the adjoints of its operands, and which backward statements read its new value.

Rules of users contribute several adjoints at once, one output at a time, or add in place.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import field

import gast

from srcgrad import runtime
from srcgrad.analysis.containers import outputs
from srcgrad.core.facts import Facts, Operation, Spec, copy_with_facts, function_called
from srcgrad.core.identity import record, replace
from srcgrad.core.rules import ParsedTemplate as Template
from srcgrad.core.rules import Rule, UserForms, adjoint_template, parse
from srcgrad.core.trees import (
    Block,
    Node,
    adds_axes,
    assign,
    called_name,
    expression,
    is_basic,
    literal_node,
    loads,
    name,
    stores,
    walk,
    without_axes,
)
from srcgrad.derive.adjoint_seeds import Pair, guard_by_flag, is_active, items, pulled_back, sequence, unpack_adjoints
from srcgrad.derive.adjoints import PRESENT, Adjoints, own_sum, sum_new_axes
from srcgrad.derive.arguments import check_harmless, check_known, lacks_mode, unknown_function
from srcgrad.derive.instantiate_rules import (
    Lines,
    Setting,
    ZeroDerivatives,
    instantiate,
    scaled_square,
    square_operation,
)
from srcgrad.derive.mask_arrivals import (
    display_masks,
    mask_before,
    mask_lines,
    mask_of_element,
    mask_of_item,
    mask_of_tuple,
    mask_without_axes,
    masks_of_parts,
    masks_taken,
    names_of_masks,
    note_given,
    unite_masks,
)
from srcgrad.derive.masks import Mask, is_container
from srcgrad.frontend.early_facts import gives_several


def own_contributions(node: Node, operation: Operation, read: Node, adjoints: Adjoints, shared: Block) -> list[Pair]:
    """The contributions of a call of a user's function, `read` being the adjoint of what it gives."""
    rule, template, own = _of(operation)
    wanted = [p for p, a in operation.bound.items() if p in template.differentiable and is_active(a, adjoints.facts)]
    check_known(node.value, rule, wanted, adjoints.facts)
    check_harmless(operation, adjoints.facts)
    if own.index:
        found: list[Pair] = []
        for place, part in _parts(node, operation, read, adjoints):
            one = replace(operation, bound={**operation.bound, own.index: literal_node(place)})
            found += _contributions(node, one, part, wanted, adjoints, shared)
        return found
    added = [p for p in wanted if p in own.accumulators and _adds(p, operation, adjoints)]
    for parameter in added:
        _add(node, operation, read, parameter, adjoints, shared)
    return _contributions(node, operation, read, [p for p in wanted if p not in added], adjoints, shared)


def _of(operation: Operation) -> tuple[Rule, Template, UserForms]:
    rule = operation.rule
    assert rule is not None and rule.own is not None, "a rule of a user"
    template = adjoint_template(rule)
    assert template is not None, "the caller has looked"
    return rule, template, rule.own


def _contributions(
    node: Node, operation: Operation, read: Node, wanted: list[str], adjoints: Adjoints, shared: Block
) -> list[Pair]:
    facts = adjoints.facts
    _, template, _ = _of(operation)
    setting = Setting(template, operation, facts, node.targets[0].id, facts.values.spec[node], {template.result: read})
    made = instantiate(setting, frozenset(wanted))
    operands = {line.parameter: operation.bound[line.parameter] for line in made.lines}
    if len(made.shared) == 1 and _are_parts(made, operands):
        given = [operands.get(parameter) for parameter in template.differentiable]
        return unpack_adjoints(made.shared[0].value, given, node, adjoints, shared)
    shared += made.shared
    pairs: list[Pair] = []
    for line in made.lines:
        operand = operands[line.parameter]
        if isinstance(operand, gast.Name):
            pairs.append((copy_with_facts(operand, facts), line.value))
        else:
            pairs += sequence(operand, line.value, facts, shared)
    return pairs


def _are_parts(made: Lines, operands: dict[str, Node]) -> bool:
    """Whether each line is `t[0]`, of what the shared line binds, for an operand with a name."""
    values = [line.value for line in made.lines]
    wholes = [value.value for value in values if isinstance(value, gast.Subscript)]
    named = all(isinstance(operand, gast.Name) for operand in operands.values())
    held = stores(made.shared[0])
    return named and len(wholes) == len(values) and all(getattr(whole, "id", "") in held for whole in wholes)


def by_output(primal: str, names: list[str], adjoints: Adjoints) -> bool:
    """Whether `s, c = t` unpacks what a rule takes one output at a time: those that matter are noted."""
    facts = adjoints.facts
    operation = facts.operation_of(facts.activity.definition.get(primal))
    if operation is None or operation.rule is None or operation.rule.own is None or not operation.rule.own.index:
        return False
    spec = facts.values.value_spec
    adjoints.outputs[primal] = [
        (place, adjoints.read(one, spec.get(one)))
        for place, one in enumerate(names)
        if one in facts.activity.active and adjoints.exists(one)
    ]
    adjoints.state[primal] = PRESENT
    return True


def _parts(node: Node, operation: Operation, read: Node, adjoints: Adjoints) -> list[tuple[int, Node]]:
    """The adjoints of the outputs that matter, each with its place."""
    noted = adjoints.outputs.pop(node.targets[0].id, None)
    if noted is not None:
        return noted
    facts, count = adjoints.facts, outputs(operation, adjoints.facts)
    if count is None:
        raise facts.refuse(
            node.value,
            "E5005",
            "it cannot be told how many outputs the call has",
            "unpack them where it is called: `a, b = F.apply(...)`",
        )
    if count == 0:
        return [(0, read)]
    return [(place, expression(f"t_bar[{place}]", t_bar=copy_with_facts(read, facts))) for place in range(count)]


def _adds(parameter: str, operation: Operation, adjoints: Adjoints) -> bool:
    """Whether a rule adds to an adjoint: one that is there, or where there is no other rule for the argument."""
    operand, facts = operation.bound[parameter], adjoints.facts
    rule, _, own = _of(operation)
    if parameter in own.sensitivities and (facts.module.inline or not isinstance(operand, gast.Name)):
        return False  # what is differentiated again changes nothing
    if not isinstance(operand, gast.Name):
        raise facts.refuse(
            operand,
            "E5003",
            f"{rule.name} has no rule for a display as its argument `{parameter}` but one that adds in place",
            f"write `@srcgrad.sensitivity(..., arg={parameter!r})` for it as well, or give the argument a name",
        )
    return adjoints.exists(operand.id) or parameter not in own.sensitivities


def _add(node: Node, operation: Operation, read: Node, parameter: str, adjoints: Adjoints, shared: Block) -> None:
    """`x_bar = f_add(x_bar, z, z_bar, x)`, which changes the array in place."""
    facts, operand = adjoints.facts, operation.bound[parameter]
    _, _, own = _of(operation)
    spec = facts.values.spec.get(operand)
    if not adjoints.exists(operand.id):
        shared.append(adjoints.element_zeros(operand.id, spec, node))
    adding = parse(own.adding)
    derivatives = {adding.result: read, parameter: adjoints.read(operand.id, spec)}
    setting = Setting(adding, operation, facts, node.targets[0].id, facts.values.spec[node], derivatives)
    [line] = instantiate(setting, frozenset([parameter])).lines
    made = assign(adjoints.of(operand.id), line.value, node)
    adjoints.note(made, spec)
    shared.append(made)
    facts.memory.elements[adjoints.of(operand.id)] = None
    adjoints.state[operand.id] = PRESENT


@record
class Parts:
    """Backward statements of one primal statement, each with whether it reads the statement's new value."""

    facts: Facts
    blocks: list[tuple[Block, bool]] = field(default_factory=list)

    @property
    def reads_result(self) -> bool:
        """Whether any line reads the new value."""
        return any(reads for _, reads in self.blocks)

    def all(self) -> Block:
        """All statements in order."""
        return [node for block, _ in self.blocks for node in block]

    def split(self, lost: Iterable[str], again: Iterable[str]) -> tuple[Block, Block]:
        """Statements that run while the new value is there, and statements that run once the old is back.

        A line that needs both reads the new value under a second name.
        """
        old = set(lost) | set(again)
        early: Block = []
        late: Block = []
        for block, reads in self.blocks:
            shared = {s for node in block for s in stores(node) if s in self.facts.names.temporaries}
            if (reads or shared) and not self._reads_old(block, old):
                early += block
                continue
            if reads:
                early += self._keep(block)
            late += block
            old |= shared
        return early, late

    def _reads_old(self, block: Block, old: set[str]) -> bool:
        return any(
            isinstance(n, gast.Name) and n.id in old and n not in self.facts.resolution.results
            for node in block
            for n in walk(node)
        )

    def _keep(self, block: Block) -> Block:
        made: Block = []
        kept: dict[str, str] = {}
        for item in [n for node in block for n in walk(node) if n in self.facts.resolution.results]:
            if item.id not in kept:
                held = self.facts.names.new_temporary()
                kept[item.id] = held
                made.append(assign(held, name(item.id), block[0]))
            item.id = kept[item.id]
        return made


def reads_new(node: Node, facts: Facts) -> bool:
    """Whether an expression reads what its statement has bound."""
    return any(item in facts.resolution.results for item in walk(node))


def contributions(node: Node, adjoints: Adjoints, facts: Facts) -> Parts:
    """The backward statements of an assignment; its target's adjoint is used up."""
    parts = Parts(facts)
    adjoints.arriving = {}
    bound = [b for b in stores(node) if b in facts.activity.active and adjoints.exists(b)]
    if not bound:
        for b in stores(node):
            adjoints.state.pop(b, None)
        return parts
    shared: Block = []
    pairs: list[Pair] = []
    elements: list[tuple[Node, Node, Node]] = []
    if node.value in facts.calls.backs:
        taken = masks_taken(node, bound[0], adjoints, shared)
        masks = names_of_masks(node, adjoints)
        pairs = pulled_back(node, bound, adjoints, shared, taken, masks)
        note_given(node, pairs, masks, adjoints, shared)
        inner = facts.module.making.get(called_name(node.value))
        given = zip(inner.request.wrt, facts.calls.pulled[node.value], strict=False) if inner is not None else ()
        facts.activity.summed.update(
            {argument.id: None for p, argument in given if p in inner.activity.summed and hasattr(argument, "id")}
        )
    elif gives_several(node, facts):
        pairs = _several_results(node, adjoints, facts, shared)
    elif isinstance(node.targets[0], gast.Tuple):
        _unpack(node, adjoints, facts, pairs, elements)
    else:
        read = adjoints.of_value(node, bound[0])
        _value(node, read, adjoints, shared, pairs, elements)
    for b in stores(node):
        if b not in facts.request.inner:
            adjoints.state.pop(b, None)
    known = {adjoints.of(b): adjoints.masks.get(b) for b in bound}
    adjoints.masks = {one: kept for one, kept in adjoints.masks.items() if one not in stores(node)}
    _emit(node, shared, pairs, elements, known, adjoints, parts)
    return parts


def _value(
    node: Node,
    read: Node,
    adjoints: Adjoints,
    shared: Block,
    pairs: list[Pair],
    elements: list[tuple[Node, Node, Node]],
) -> None:
    value, facts = node.value, adjoints.facts
    if isinstance(value, gast.Name):
        pairs.append((copy_with_facts(value, facts), read))
        facts.tape.reduced[read] = None
        known = adjoints.masks.get(stores(node)[0])
        adjoints.arrive(value.id, None if known is not None and known.listed else known)
        return
    if isinstance(value, gast.Tuple | gast.List | gast.Dict):
        pairs += display_masks(node, items(value, read, facts), adjoints, shared)
        return
    if value not in facts.resolution.operation:
        return  # a value that carries no derivative
    operation = square_operation(facts.resolution.operation[value], facts)
    if operation.rule is None:
        raise unknown_function(value, facts)
    if operation.function is operator.getitem:
        source, index = operation.bound["x"], operation.bound["index"]
        if isinstance(source, gast.Name) and _takes_all(source.id, index, facts):
            whole = sum_new_axes(adjoints, source, read, index) if isinstance(read, gast.Name) else None
            mask_without_axes(node, source, index, adjoints, shared)
            if whole is not None:
                pairs.append((copy_with_facts(source, facts), whole))
                return
            part = gast.Subscript(read, without_axes(copy_with_facts(index, facts)), gast.Load())
            facts.activity.narrowed[part] = None
            pairs.append((copy_with_facts(source, facts), part))
            return
        elements.append((copy_with_facts(source, facts), copy_with_facts(operation.bound["index"], facts), read))
        return
    mask = adjoints.masks.get(stores(node)[0])
    doubtful = mask is not None and any(one in facts.idioms.doubts for one in loads(node))
    found = [] if doubtful else scaled_square(operation, node, read, facts)
    for operand, _ in found:
        adjoints.arrive(operand.id, mask)
    facts.tape.reduced.update({value: None for _, value in found})
    pairs += found or _template(node, operation, read, adjoints, shared)


def _takes_all(held: str, index: Node, facts: Facts) -> bool:
    """Whether `x[index]` is all of x with axes more, and no part of an adjoint is to be changed for it."""
    known = facts.values.value_spec.get(held)
    number = known is not None and known.scalar and held not in facts.kinds.containers
    return adds_axes(index, number=True) and (number or held not in facts.activity.indexed)


def _several_results(node: Node, adjoints: Adjoints, facts: Facts, shared: Block) -> list[Pair]:
    """The template of `w, v = op(...)`, without the terms of results that nothing uses."""
    lost = ZeroDerivatives()
    derivatives: list[Node] = []
    for bound in stores(node):
        if bound in facts.activity.active and adjoints.exists(bound):
            derivatives.append(adjoints.read(bound, facts.values.value_spec.get(bound)))
        else:
            lost.zeros[f"d_{bound}"] = name(bound)
            derivatives.append(name(f"d_{bound}"))
    operation = facts.resolution.operation[node.value]
    return _template(node, operation, derivatives[0], adjoints, shared, lost, tuple(derivatives))


def _template(
    node: Node,
    operation: Operation,
    read: Node,
    adjoints: Adjoints,
    shared: Block,
    lost: ZeroDerivatives | None = None,
    derivatives: tuple[Node, ...] = (),
) -> list[Pair]:
    rule, facts = operation.rule, adjoints.facts
    assert rule is not None, "an op has a rule"
    template = adjoint_template(rule)
    if template is None:
        raise lacks_mode(node.value, rule, "reverse", facts)
    if rule.own is not None:
        return own_contributions(node, operation, read, adjoints, shared)
    wanted = [p for p, a in operation.bound.items() if p in template.differentiable and is_active(a, facts)]
    spec = facts.values.spec.get(node, Spec(ndim=None))
    general = rule.wide and facts.values.spec.get(read) != spec
    parts = tuple(stores(node)) if derivatives else ()
    setting = Setting(
        template,
        operation,
        facts,
        "" if parts else node.targets[0].id,
        spec,
        {template.result: read},
        general,
        lost or ZeroDerivatives(),
        parts,
        derivatives,
        rule.complex == "conjugated",
    )
    made = instantiate(setting, frozenset(wanted))
    mask_lines(node, operation, made, [read, *derivatives], adjoints)
    shared += made.shared
    pairs: list[Pair] = []
    for line in made.lines:
        operand = operation.bound[line.parameter]
        if isinstance(operand, gast.Name):
            pairs.append((copy_with_facts(operand, facts), own_sum(operand, line.value, facts)))
        else:
            pairs += sequence(operand, line.value, facts, shared)
    if rule.kind == "general" and not _is_ours(rule):
        pairs = [(o, _check_shape(o, v, facts)) for o, v in pairs]
    facts.tape.reduced.update({value: None for _, value in pairs if rule.kind == "elementwise"})
    return pairs


def _is_ours(rule: Rule) -> bool:
    return rule.template is not None and rule.template.__module__.startswith("srcgrad.templates")


def _check_shape(operand: Node, value: Node, facts: Facts) -> Node:
    """What a user's rule gives is checked when it runs: E5004 if its shape is not the argument's."""
    helper = facts.library("check_shape")
    return expression(f"{helper}(value, x)", value=value, x=copy_with_facts(operand, facts))


def _unpack(
    node: Node, adjoints: Adjoints, facts: Facts, pairs: list[Pair], elements: list[tuple[Node, Node, Node]]
) -> None:
    """`a, b = t` reads t[0] and t[1]; the tuple that a callee returned gets a tuple of adjoints."""
    names = node.targets[0].elts
    if isinstance(node.value, gast.Name) and _is_tuple(node.value.id, facts):
        if by_output(node.value.id, [item.id for item in names], adjoints):
            return
        parts = [
            adjoints.read(item.id, facts.values.value_spec.get(item.id))
            if item.id in facts.activity.active and adjoints.exists(item.id)
            else adjoints.zero_value(item.id, facts.values.value_spec.get(item.id))
            for item in names
        ]
        adjoints.parts_masks[node.value.id] = masks_of_parts(node, adjoints)
        adjoints.arrive(node.value.id, mask_of_tuple(node, adjoints))
        pairs.append((copy_with_facts(node.value, facts), gast.Tuple(elts=parts, ctx=gast.Load())))
        return
    for position, item in enumerate(names):
        if item.id in facts.activity.active and adjoints.exists(item.id):
            read = adjoints.read(item.id, facts.values.value_spec.get(item.id))
            elements.append((copy_with_facts(node.value, facts), gast.Constant(value=position, kind=None), read))


def _is_tuple(primal: str, facts: Facts) -> bool:
    definition = facts.activity.definition.get(primal)
    made = definition is not None and getattr(definition, "value", None) in facts.calls.backs
    return primal in facts.kinds.containers and (made or facts.activity.reads.get(primal) == 1)


def _is_all(operand: Node, index: Node, facts: Facts) -> bool:
    """`x[()]`; `x[...]` of what has no axes, or may have none."""
    spec, own = (
        facts.values.spec.get(operand),
        operand.id not in facts.kinds.containers and operand.id not in facts.memory.mutable,
    )
    number = spec is not None and (spec.scalar or (spec.ndim is None and own)) and getattr(index, "value", None) is ...
    return number or (isinstance(index, gast.Tuple) and not index.elts)


def _sum_of_two(operand: Node, one: Node, two: Node, facts: Facts) -> Node:
    """The sum of two contributions of one statement: those to a list may be lists, which `+` joins."""
    if operand.id in facts.kinds.containers or operand.id in facts.activity.summed:
        return expression(f"{facts.library('add')}(one, two)", one=one, two=two)
    return gast.BinOp(one, gast.Add(), two)


def _emit(
    node: Node,
    shared: Block,
    pairs: list[Pair],
    elements: list[tuple[Node, Node, Node]],
    masks: dict[str, Mask | None],
    adjoints: Adjoints,
    parts: Parts,
) -> None:
    own = set(stores(node))
    reads = {id(n) for n in shared if reads_new(n, adjoints.facts)}
    for item in shared:
        item.lineno = getattr(node, "lineno", 0)
        parts.blocks.append(([item], id(item) in reads))
    merged: dict[str, Pair] = {}
    for operand, value in pairs:
        spec = adjoints.facts.values.spec.get(operand)
        if function_called(value, adjoints.facts) is runtime.summands and not (spec is not None and spec.ndim):
            adjoints.facts.activity.summed[operand.id] = None
        if operand.id not in adjoints.facts.activity.active:
            continue
        if operand.id in merged:
            total = _sum_of_two(operand, merged[operand.id][1], value, adjoints.facts)
            if value in adjoints.facts.tape.reduced:
                adjoints.facts.tape.reduced[total] = None
            merged[operand.id] = (operand, total)
        else:
            merged[operand.id] = (operand, value)
    ordered = sorted(merged.values(), key=lambda pair: pair[0].id in own)
    for operand, value in ordered:
        block: Block = []
        before = mask_before(operand.id, adjoints)
        adjoints.contribute(operand, value, block, node)
        parts.blocks.append((block, reads_new(value, adjoints.facts)))
        parts.blocks.append((unite_masks(operand.id, before, node, adjoints), False))
    for operand, index, value in elements:
        block = []
        mask = masks.get(getattr(value, "id", ""))
        if operand.id in own:  # its adjoint is made anew while the old one is read
            held = adjoints.facts.names.new_temporary()
            block.append(assign(held, value, node))
            value = name(held)
        basic = is_basic(index, frozenset(adjoints.facts.values.integers))
        if is_container(operand.id, adjoints.facts):
            known, marked = mask_of_item(operand.id, index, node, mask, adjoints)
            adjoints.element(operand, index, value, basic, block, node)
            adjoints.masks.update({} if known is None else {operand.id: known})
            parts.blocks += [(marked, False), (block, False)]
            continue
        before = mask_before(operand.id, adjoints, piece=True)
        found = mask_of_element(operand, index, node, mask, adjoints)
        if _is_all(operand, index, adjoints.facts):  # `x[()]` of a number has no item to add to
            adjoints.contribute_whole(operand, value, block, node)
        else:
            adjoints.element(operand, index, value, basic, block, node)
        parts.blocks.append((block, False))
        parts.blocks.append(([*found, *unite_masks(operand.id, before, node, adjoints)], False))


def added_row(node: Node, rows: Node, index: str, value: Node, handed: list[str], adjoints: Adjoints) -> Block:
    """What a trip adds to the adjoint of the array over which a loop goes, under the flag of the row.

    That is one which the trip has made: those that it was `handed` tell of other trips.
    """
    made: Block = []
    row = node.target.id
    flag, mask = adjoints.flags.pop(row, ""), adjoints.masks.pop(row, None)
    flag = "" if flag in handed else flag
    if is_container(rows.id, adjoints.facts):
        known, marked = (
            mask_of_item(rows.id, name(index), node, mask, adjoints) if flag or mask is not None else (None, [])
        )
        made += marked
        adjoints.element(rows, name(index), value, True, made, node)
        adjoints.masks.update({} if known is None else {rows.id: known})
        return guard_by_flag(flag, made, node, adjoints) if flag else made
    before = mask_before(rows.id, adjoints)
    masks = mask_of_element(rows, name(index), node, mask, adjoints, row=True) if flag or mask is not None else []
    adjoints.element(rows, name(index), value, True, made, node)
    made += [*masks, *unite_masks(rows.id, before, node, adjoints)]
    return guard_by_flag(flag, made, node, adjoints) if flag else made
