"""Forward mode: beside each statement its tangent, from the same templates as reverse mode.

A tangent may not be as the rule has it: that of an array that changes, or of a length that begins to grow.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodDescriptorType

import gast

from srcgrad.analysis.activity import differentiable_parameters
from srcgrad.analysis.shapes import spec_of_tree
from srcgrad.core.facts import Facts, Operation, Spec, copy_with_facts, dot, function_called
from srcgrad.core.rules import adjoint_template, arguments_of, may_show, tangent_template
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    assign,
    at,
    copy,
    expression,
    literal_node,
    loads,
    name,
    parameters,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.derive.adjoints import expand, is_fresh_value
from srcgrad.derive.arguments import called_once_more, check_harmless, is_called_again, lacks_mode, look_up
from srcgrad.derive.in_place_writes import swaps, tangent_beside, tangent_of_swap
from srcgrad.derive.instantiate_rules import Lines, Setting, ZeroDerivatives, instantiate, real_part, square_operation
from srcgrad.derive.masks import Mask, mask_tangent_line
from srcgrad.derive.needed_derivatives import is_length_again, needed_tangents
from srcgrad.derive.program import Program
from srcgrad.derive.tangent_masks import (
    call_with_supports,
    exchange_parts,
    full_support,
    mask_terms,
    move_support,
    support_beside,
    support_given,
    supports,
    supports_taken,
)
from srcgrad.frontend.early_facts import gives_several
from srcgrad.runtime.singular import length_dot


def shows_changing(value: Node, operation: Operation | None, facts: Facts) -> bool:
    """Whether a tangent shows the elements of one that is changed in place: `m_dot`, `np.broadcast_to(m_dot, s)`.

    The result of the operation is new, and keeps its elements when `m[i] = e` changes those of `m`. Of a linear one the
    tangent is the same of tangents: new where the result is new, a view where it is one.
    """
    if operation is None or operation.rule is None or operation.rule.kind in ("linear", "multilinear"):
        return False
    while not isinstance(value, gast.Name):
        if isinstance(value, gast.Attribute) and value.attr in ("T", "real", "imag", "mT"):
            value = value.value
        elif isinstance(value, gast.Call) and value.args and _shows_first(value, facts):
            value = value.args[0]
        else:
            return False
    primal = facts.names.adjoint_of.get(value.id)
    return primal in facts.memory.mutable or primal in facts.memory.views


def _shows_first(call: Node, facts: Facts) -> bool:
    """Whether a call may give back its first argument, or a view of it."""
    function = function_called(call, facts)
    return may_show(function, arguments_of(function, call))


def tangent_of_length(node: Node, tangent: Node, away: Node, facts: Facts) -> Node:
    """`length_dot(r, r_dot, np.linalg.norm(x_dot))`: a length of 0 grows by that of its argument's tangent."""
    helper = facts.library("length_dot", length_dot)
    made = expression(f"{helper}(z, z_dot, away)", z=str(target(node)), z_dot=tangent, away=away)
    facts.resolution.results[made.args[0]] = None
    return made


def where_needed(value: Node, needed: tuple[Mask, Block] | None, shared: Block, facts: Facts) -> Node:
    """`np.where(m, value, 0.0)` for a tangent that is nan where nothing is taken of it."""
    if needed is None:
        return value
    mask, before = needed
    shared[:0] = [each for each in before if each not in facts.tape.tangents]
    facts.tape.tangents.update(dict.fromkeys(before))
    order = "value, 0.0" if mask.taken else "0.0, value"
    return expression(f"{facts.library('np')}.where(m, {order})", m=mask.held, value=value)


Dotted = Callable[[str, Facts], str]


def tangent_of(node: Node, facts: Facts, dotted: Dotted) -> Block:
    """The statements that compute the tangent of what an assignment binds, and its support where that counts."""
    if isinstance(node, gast.Assign) and node.value in facts.calls.pulled and not is_called_again(node.value, facts):
        return []  # the call gives it
    made = _tangent_statements(node, facts, dotted)
    return [*made, *support_beside(node, facts, lambda held: _tangent_statements(node, facts, held))]


def _tangent_statements(node: Node, facts: Facts, dotted: Dotted) -> Block:
    if written_names(node):
        return tangent_beside(node, facts, dotted)
    bound = [b for b in stores(node) if b in facts.activity.active]
    if not isinstance(node, gast.Assign) or not bound:
        return []
    if is_called_again(node.value, facts):
        tangents = [name(dotted(operand.id, facts)) for operand in facts.calls.pulled[node.value]]
        return [assign(dotted(bound[0], facts), called_once_more("tangent_of", node.value, tangents, facts))]
    if swaps(node, facts):
        return tangent_of_swap(node, facts, dotted)
    if gives_several(node, facts):
        return _tangents_of_results(node, facts, dotted)
    if isinstance(node.targets[0], gast.Tuple):
        return _unpack(node, facts, dotted)
    shared: Block = []
    value = _tangent(node, facts, dotted, shared)
    if shows_changing(value, facts.resolution.operation.get(node.value), facts):
        value = expression(f"{facts.library('np')}.array(value)", value=value)
    made = assign(dotted(bound[0], facts), _own_tangent(bound[0], value, facts))
    facts.values.spec[made] = facts.values.spec[node]
    return [*shared, made]


def _call(node: Node, facts: Facts) -> tuple[Block, Block]:
    """`y, y_dot = g_jvp(a, a_dot=a_dot)`: the statement itself is changed; what stands before and behind it."""
    bound = next(b for b in stores(node) if b in facts.activity.active)
    pair = [name(bound, gast.Store()), name(tangent_name(bound, facts), gast.Store())]
    node.targets = [gast.Tuple(elts=pair, ctx=gast.Store())]
    if node.value in facts.calls.looked_up:
        tangents = [name(tangent_name(operand.id, facts)) for operand in facts.calls.pulled[node.value]]
        node.value.func = look_up("pushforward_of", node.value, tangents, facts)
        return call_with_supports(node, bound, facts)
    for keyword, operand in zip(facts.calls.callee_seeds[node.value], facts.calls.pulled[node.value], strict=True):
        node.value.keywords.append(gast.keyword(arg=keyword, value=name(tangent_name(operand.id, facts))))
    return call_with_supports(node, bound, facts)


def _own_tangent(bound: str, value: Node, facts: Facts) -> Node:
    """A tangent whose elements will change is an array of its own."""
    changes = bound in facts.memory.added_to or (bound in facts.memory.mutable and not facts.list_kind(bound))
    if changes and bound in facts.values.complex:
        return _as_complex(value, bound, facts)
    if changes and not is_fresh_value(value, facts):
        return expression(f"{facts.library('np')}.array(value)", value=value)
    return value


def _as_complex(value: Node, bound: str, facts: Facts) -> Node:
    """A tangent whose elements will change, in the dtype of its primal: complex numbers will be stored in it."""
    made = expression(f"{facts.library('np')}.array(value, dtype=primal.dtype)", value=value, primal=bound)
    for item in walk(made.keywords[0].value):
        if isinstance(item, gast.Name):
            facts.resolution.results[item] = None
    return made


def _tangents_of_results(node: Node, facts: Facts, dotted: Dotted) -> Block:
    made: Block = []
    lines = _terms(node, facts.resolution.operation[node.value], facts, dotted, made)
    tangents: dict[str, Node] = {}
    for place, bound in enumerate(stores(node)):
        if bound in facts.activity.active:
            value = lines[0].elts[place] if lines else None
            if value is None:
                value = expression(f"{facts.library('zeros_like')}(x)", x=bound)
                facts.resolution.results[value.args[0]] = None
            tangents[bound] = _own_tangent(bound, value, facts)
    if set(tangents) & set(loads(node)):  # `q, r = qr(r)`: no tangent is bound before each of them has been computed
        for bound, value in tangents.items():
            held = facts.names.new_temporary()
            made.append(assign(held, value))
            tangents[bound] = name(held)
    return made + [assign(dotted(bound, facts), value) for bound, value in tangents.items()]


def _unpack(node: Node, facts: Facts, dotted: Dotted) -> Block:
    parts = [
        name(dotted(item.id, facts) if item.id in facts.activity.active else facts.unused_name, gast.Store())
        for item in node.targets[0].elts
    ]
    if node.value.id not in facts.activity.active:
        zeros = facts.library("zeros_like")
        return [
            assign(dotted(item.id, facts), expression(f"{zeros}(x)", x=item.id))
            for item in node.targets[0].elts
            if item.id in facts.activity.active
        ]
    value = name(dotted(node.value.id, facts))
    return [gast.Assign([gast.Tuple(elts=parts, ctx=gast.Store())], value, None)]


def _tangent(node: Node, facts: Facts, dotted: Dotted, shared: Block) -> Node:
    value = node.value
    if isinstance(value, gast.Name | gast.Tuple | gast.List | gast.Dict):
        return _replace_by_tangents(value, facts, dotted)
    operation = facts.resolution.operation.get(value)
    if operation is None or operation.rule is None:
        return _zero(node, facts)
    needed = facts.idioms.needed.get(node)
    terms = _terms(node, operation, facts, dotted, shared)
    if not terms:
        return _zero(node, facts)
    total = terms[0]
    for term in terms[1:]:
        if target(node) in facts.kinds.containers:
            total = expression(f"{facts.library('add')}(one, two)", one=total, two=term)
            continue
        negative = isinstance(term, gast.UnaryOp) and isinstance(term.op, gast.USub)
        total = gast.BinOp(total, gast.Sub() if negative else gast.Add(), term.operand if negative else term)
    total = _widen_tangent(node, operation, total, facts)
    if not is_length_again(node, facts):
        return total
    away = _apply_to_tangents(value, operation, _active_parameters(operation, facts), facts, dotted)
    return where_needed(tangent_of_length(node, total, away, facts), needed, shared, facts)


def _widen_tangent(node: Node, operation: Operation, total: Node, facts: Facts) -> Node:
    """An elementwise tangent in the shape of its primal, if broadcasting has not given it already."""
    assert operation.rule is not None, "an op has a rule"
    if operation.rule.kind != "elementwise" or facts.values.spec[node].shape <= spec_of_tree(total, facts).shape:
        return total
    made = expand(total, str(target(node)), facts)
    for item in walk(made.args[1]):
        if isinstance(item, gast.Name) and item.id == target(node):
            facts.resolution.results[item] = None
    return made


def _zero(node: Node, facts: Facts) -> Node:
    """The tangent of a value that carries none."""
    if facts.values.spec[node].scalar:
        return literal_node(0.0)
    return expression(f"{facts.library('zeros_like')}(primal)", primal=str(target(node)))


def _terms(node: Node, operation: Operation, facts: Facts, dotted: Dotted, shared: Block) -> list[Node]:
    operation = square_operation(operation, facts)
    rule = operation.rule
    assert rule is not None, "an op has a rule"
    active = _active_parameters(operation, facts)
    if rule.kind == "elementwise":
        return _elementwise_tangent(node, operation, active, facts, dotted, shared)
    if rule.kind == "linear":
        if active:
            move_support(node, operation, active, facts, shared)
        return [_apply_to_tangents(node.value, operation, active, facts, dotted)] if active else []
    if rule.kind == "multilinear":
        spots = [
            n
            for p in active
            for n in walk(operation.bound[p])
            if isinstance(n, gast.Name) and n.id in facts.activity.active
        ]
        return [exchange_parts(node.value, {spot: _replace_by_tangents(spot, facts, dotted)}, facts) for spot in spots]
    return _general_tangent(node, operation, active, facts, dotted, shared)


def _active_parameters(operation: Operation, facts: Facts) -> list[str]:
    """Parameters whose arguments have a tangent."""
    assert operation.rule is not None, "an op has a rule"
    return [
        p for p, a in operation.bound.items() if p in differentiable_parameters(operation.rule) and _holds(a, facts)
    ]


def _holds(argument: Node, facts: Facts) -> bool:
    if isinstance(argument, gast.Tuple | gast.List | gast.Dict):
        parts = argument.values if isinstance(argument, gast.Dict) else argument.elts
        return any(_holds(item, facts) for item in parts)
    return isinstance(argument, gast.Name) and argument.id in facts.activity.active


def _elementwise_tangent(
    node: Node, operation: Operation, active: list[str], facts: Facts, dotted: Dotted, shared: Block
) -> list[Node]:
    assert operation.rule is not None, "an op has a rule"
    template = adjoint_template(operation.rule)
    assert template is not None, "an elementwise rule has a template"
    real = operation.rule.complex == "gradient"
    found: list[tuple[Lines, str, str]] = []
    for parameter in active:
        operand = operation.bound[parameter]
        tangent = name(dotted(operand.id, facts))
        if operand in facts.values.spec:
            facts.values.spec[tangent] = facts.values.spec[operand]
        given = {template.result: tangent}
        setting = Setting(template, operation, facts, str(target(node)), facts.values.spec[node], given, conjugate=real)
        found.append((instantiate(setting, frozenset([parameter])), operand.id, tangent.id))
    mask_terms(node, found, facts)
    for made, _, _ in found:
        shared += made.shared
    values = [line.value for made, _, _ in found for line in made.lines]
    return [real_part(value, facts) if real else value for value in values]


def _replace_by_tangents(value: Node, facts: Facts, dotted: Dotted) -> Node:
    """A name or a display with every active name replaced by its tangent, everything else by zeros."""
    if isinstance(value, gast.Name) and value.id in facts.activity.active:
        made = name(dotted(value.id, facts))
        if value in facts.values.spec:
            facts.values.spec[made] = facts.values.spec[value]
        return made
    if isinstance(value, gast.Tuple | gast.List):
        return type(value)(elts=[_replace_by_tangents(item, facts, dotted) for item in value.elts], ctx=gast.Load())
    if isinstance(value, gast.Dict):
        return gast.Dict(keys=value.keys, values=[_replace_by_tangents(item, facts, dotted) for item in value.values])
    if isinstance(value, gast.Constant):
        return literal_node(0.0 if isinstance(value.value, int | float) else None)
    return expression(f"{facts.library('zeros_like')}(primal)", primal=copy_with_facts(value, facts))


def _apply_to_tangents(value: Node, operation: Operation, active: list[str], facts: Facts, dotted: Dotted) -> Node:
    """The op applied to the tangents of all its linear arguments."""
    assert operation.rule is not None, "an op has a rule"
    swap = {
        a: _replace_by_tangents(a, facts, dotted)
        for p, a in operation.bound.items()
        if p in differentiable_parameters(operation.rule)
    }
    made = exchange_parts(value, swap, facts)
    if isinstance(operation.function, MethodDescriptorType) and value.args and value.args[0] in swap:
        # `np.ndarray.item(x)` takes no scalar of NumPy, and the tangent of an array without axes may be one.
        made.func, made.args = gast.Attribute(made.args[0], operation.function.__name__, gast.Load()), made.args[1:]
    return made


def _general_tangent(
    node: Node, operation: Operation, active: list[str], facts: Facts, dotted: Dotted, shared: Block
) -> list[Node]:
    rule = operation.rule
    assert rule is not None, "an op has a rule"
    template = tangent_template(rule)
    if template is None:
        raise lacks_mode(node.value, rule, "forward", facts)
    check_harmless(operation, facts)
    derivatives: dict[str, Node] = {}
    lost = ZeroDerivatives()
    for parameter in template.parameters:
        argument = operation.bound.get(parameter)
        if parameter in active and argument is not None:
            derivatives[parameter] = _replace_by_tangents(argument, facts, dotted)
        else:
            derivatives[parameter] = name(f"d_{parameter}")
            lost.zeros[f"d_{parameter}"] = argument if argument is not None else template.defaults[parameter]
    spec = facts.values.spec.get(node, Spec(ndim=None))
    parts = tuple(stores(node)) if gives_several(node, facts) else ()
    setting = Setting(template, operation, facts, str(target(node)), spec, derivatives, lost=lost, parts=parts)
    made = instantiate(setting, frozenset([template.result]))
    shared += made.shared
    doubtful = any(one in facts.idioms.masked for parameter in active for one in loads(operation.bound[parameter]))
    return [mask_tangent_line(line.value, facts) if doubtful else line.value for line in made.lines]


def tangent(function: Node, facts: Facts) -> Program:
    """The program that computes the value and its tangent; the tangents of the inputs are further parameters."""
    supports(function, facts)
    needed_tangents(function, facts)
    others = [p for p in parameters(function) if p in facts.activity.active and p not in facts.request.wrt]
    start = [assign(tangent_name(p, facts), expression(f"{facts.library('zeros_like')}(x)", x=p)) for p in others]
    start += [
        assign(held, copy(start[others.index(p)].value) if p in others else full_support(p, None, facts, True))
        for p, held in facts.idioms.supported.items()
        if p in parameters(function) and p not in supports_taken(facts)
    ]
    body = start + _block(function.body[:-1], facts, {})
    value = function.body[-1].value
    pair = [copy(value), _output(value, facts)]
    if facts.request.handed.gives_masks:
        pair.append(support_given(value, function.body[-1], facts, body))
    result = gast.Return(pair[1] if facts.request.mode in ("hvp", "push") else gast.Tuple(elts=pair, ctx=gast.Load()))
    return Program([*parameters(function), *facts.names.seeds], body, [], result)


def tangent_name(primal: str, facts: Facts) -> str:
    """The name of the tangent of a name."""
    if primal not in facts.names.spelled:
        facts.names.spelled[primal] = facts.names.fresh(dot(primal))
        facts.names.adjoint_of[facts.names.spelled[primal]] = primal
    return facts.names.spelled[primal]


def _output(value: Node, facts: Facts) -> Node:
    if isinstance(value, gast.Tuple):
        return gast.Tuple(elts=[_output(item, facts) for item in value.elts], ctx=gast.Load())
    if value.id in facts.activity.active:
        return name(tangent_name(value.id, facts))
    return expression(f"{facts.library('zeros_like')}(y)", y=value.id)


def _block(block: Block, facts: Facts, placed: dict[Node, None]) -> Block:
    made: Block = []
    for run in _runs(block, facts):
        made += _run(run, facts, placed)
    return made


def _runs(block: Block, facts: Facts) -> list[Block]:
    runs: list[Block] = []
    for node in block:
        user = facts.origin.user.get(node, node)
        if runs and facts.origin.user.get(runs[-1][-1], runs[-1][-1]) is user and not isinstance(node, COMPOUND):
            if not isinstance(runs[-1][-1], COMPOUND):
                runs[-1].append(node)
                continue
        runs.append([node])
    return runs


def _run(run: Block, facts: Facts, placed: dict[Node, None]) -> Block:
    """The primal statements of one statement of the user and their tangents, so that neither loses what it reads.

    `placed` are the primal statements that stand already: what a tangent reads of them does not stand twice.
    """
    if isinstance(run[0], COMPOUND):
        return [_compound(run[0], facts, placed)]
    lost = {s for n in run for s in stores(n)} & {name for n in run for name in loads(n)}
    lost -= set(facts.names.temporaries)
    made: Block = []
    tangents: Block = []
    for node in run:
        if node in facts.tape.tangents:  # a comparison that a tangent reads before its turn
            if node in tangents:  # those stand behind the run, in which others read it as well
                tangents.remove(node)
                made.append(node)
            continue
        placed[node] = None
        beside = [one for one in _tangents_at(node, facts) if one not in placed]
        call = getattr(node, "value", None)
        if call in facts.calls.pulled and not is_called_again(call, facts):
            before, behind = _call(node, facts)
            made += [*tangents, *before, node, *behind, *beside]  # the call takes the tangents
            tangents = []
        elif lost & set(stores(node)):
            early = {s for n in made for s in stores(n) if n in run and s not in facts.names.temporaries}
            if early & {read for n in tangents + beside for read in loads(n)}:  # they stand in between
                facts.origin.rewritten[facts.origin.user.get(node, node)] = None
            made += _tangent_before_write(node, tangents + beside, facts)
            tangents = []
        else:
            made.append(node)
            tangents += beside
    return made + tangents


def _tangents_at(node: Node, facts: Facts) -> Block:
    """The tangents whose place is behind a statement: its own, unless that waits for a mask, and those that waited."""
    behind = [*(one for one, place in facts.idioms.later.items() if place is node), node]
    found: Block = []
    for one in behind if node not in facts.idioms.later else behind[:-1]:
        beside = tangent_of(one, facts, tangent_name)
        for item in beside:
            at(item, one)
            facts.tape.tangents[item] = None
        found += beside
    return found


def _tangent_before_write(node: Node, tangents: Block, facts: Facts) -> Block:
    """A statement that overwrites its operand comes after its tangent, which may need the new value as well."""
    bound = stores(node) if isinstance(node, gast.Assign) and target(node) is None else [str(target(node))]
    new = [i for t in tangents for i in walk(t) if i in facts.resolution.results and i.id in bound]
    if not new:
        return [*tangents, node]
    held: dict[str, str] = {}
    for one in bound:
        held[one] = facts.names.new_temporary()
    for item in new:
        item.id = held[item.id]
    first = at(assign(held[bound[0]], node.value), node)
    if target(node) is None:
        first.targets = [gast.Tuple(elts=[name(held[one], gast.Store()) for one in bound], ctx=gast.Store())]
    facts.origin.rewritten[facts.origin.user.get(node, node)] = None
    return [first, *tangents, *(at(assign(one, name(held[one])), node) for one in bound)]


def _compound(node: Node, facts: Facts, placed: dict[Node, None]) -> Node:
    held = [one for one in stores(node) if one in facts.activity.active] if isinstance(node, gast.For) else []
    before = _loop_over_tangents(node, held[0], facts) if held else []
    node.body = before + _block(node.body, facts, placed)
    if getattr(node, "orelse", None):
        node.orelse = _block(node.orelse, facts, placed)
    return node


def _loop_over_tangents(node: Node, bound: str, facts: Facts) -> Block:
    """Let a loop over an array walk over its tangents as well; what stands before each trip, where it cannot."""
    rows, support = getattr(node.iter, "id", ""), facts.idioms.supported.get(bound, "")
    if rows in facts.activity.active and isinstance(node.target, gast.Name):
        given = [
            rows,
            tangent_name(rows, facts),
            *([facts.idioms.supported[rows]] if support and rows in facts.idioms.supported else []),
        ]
        pair = [bound, tangent_name(bound, facts), *([support] if len(given) == 3 else [])]
        node.target = gast.Tuple(elts=[name(one, gast.Store()) for one in pair], ctx=gast.Store())
        node.iter = expression(f"zip({', '.join(given)})")
        made = {support: full_support(bound, None, facts)} if support and len(given) == 2 else {}
    else:  # what it held before the trip is lost
        zeros = f"{facts.library('zeros_like')}({bound})"
        made = {one: expression(zeros) for one in (tangent_name(bound, facts), support) if one}
    return [at(assign(one, value), node) for one, value in made.items()]
