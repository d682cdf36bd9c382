"""The tangent of one statement."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodDescriptorType

import gast

from srcgrad.analyse.active import differentiable
from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.derive.adjoints import is_fresh_value
from srcgrad.derive.broadcast import expand
from srcgrad.derive.conjugates import real_part
from srcgrad.derive.decide import Setting
from srcgrad.derive.guards import picked
from srcgrad.derive.harmless import check_harmless
from srcgrad.derive.instantiate import Lines, instantiate
from srcgrad.derive.pruned import Lost
from srcgrad.derive.squares import squared
from srcgrad.derive.stacks import tangent_beside
from srcgrad.derive.supports import exchanged, mask_terms, moved, support_beside
from srcgrad.derive.swaps import swaps, tangent_of_swap
from srcgrad.derive.unknown import lacks_mode
from srcgrad.derive.unowned import grown, is_length_again, shows_changing
from srcgrad.facts import Facts, Operation, Spec, copied
from srcgrad.front.results import gives_several
from srcgrad.template import adjoint_template, tangent_template
from srcgrad.trees import (
    Block,
    Node,
    assign,
    constant,
    expression,
    loads,
    name,
    stores,
    target,
    walk,
    written,
)

Dotted = Callable[[str, Facts], str]


def tangent_of(node: Node, facts: Facts, dotted: Dotted) -> Block:
    """The statements that compute the tangent of what an assignment binds, and its support where that counts."""
    made = _beside(node, facts, dotted)
    return [*made, *support_beside(node, facts, lambda held: _beside(node, facts, held))]


def _beside(node: Node, facts: Facts, dotted: Dotted) -> Block:
    if written(node):
        return tangent_beside(node, facts, dotted)
    bound = [b for b in stores(node) if b in facts.active]
    if not isinstance(node, gast.Assign) or not bound:
        return []
    if node.value in facts.pulled:
        return _call(node, bound[0], facts, dotted)
    if swaps(node, facts):
        return tangent_of_swap(node, facts, dotted)
    if gives_several(node, facts):
        return _several(node, facts, dotted)
    if isinstance(node.targets[0], gast.Tuple):
        return _unpack(node, facts, dotted)
    shared: Block = []
    value = _tangent(node, facts, dotted, shared)
    if shows_changing(value, facts.operation.get(node.value), facts):
        value = expression(f"{facts.library('np')}.array(value)", value=value)
    made = assign(dotted(bound[0], facts), _own(bound[0], value, facts))
    facts.spec[made] = facts.spec[node]
    return [*shared, made]


def _call(node: Node, bound: str, facts: Facts, dotted: Dotted) -> Block:
    """`y, y_dot = g_jvp(a, a_dot=a_dot)`: the statement itself is changed."""
    pair = [name(bound, gast.Store()), name(dotted(bound, facts), gast.Store())]
    node.targets = [gast.Tuple(elts=pair, ctx=gast.Store())]
    for keyword, operand in zip(facts.callee_seeds[node.value], facts.pulled[node.value], strict=True):
        node.value.keywords.append(gast.keyword(arg=keyword, value=name(dotted(operand.id, facts))))
    return []


def _own(bound: str, value: Node, facts: Facts) -> Node:
    """A tangent whose elements will change is an array of its own."""
    changes = bound in facts.added_to or (bound in facts.mutable and not facts.list_kind(bound))
    if changes and bound in facts.complex:
        return _as_complex(value, bound, facts)
    if changes and not is_fresh_value(value, facts):
        return expression(f"{facts.library('np')}.array(value)", value=value)
    return value


def _as_complex(value: Node, bound: str, facts: Facts) -> Node:
    """A tangent whose elements will change, in the dtype of its primal: complex numbers will be stored in it."""
    made = expression(f"{facts.library('np')}.array(value, dtype=primal.dtype)", value=value, primal=bound)
    for item in walk(made.keywords[0].value):
        if isinstance(item, gast.Name):
            facts.results[item] = None
    return made


def _several(node: Node, facts: Facts, dotted: Dotted) -> Block:
    """One statement for the tangent of each result."""
    made: Block = []
    lines = _terms(node, facts.operation[node.value], facts, dotted, made)
    tangents: dict[str, Node] = {}
    for place, bound in enumerate(stores(node)):
        if bound in facts.active:
            value = lines[0].elts[place] if lines else None
            if value is None:
                value = expression(f"{facts.library('zeros_like')}(x)", x=bound)
                facts.results[value.args[0]] = None
            tangents[bound] = _own(bound, value, facts)
    if set(tangents) & set(loads(node)):  # `q, r = qr(r)`: no tangent is bound before each of them has been computed
        for bound, value in tangents.items():
            held = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
            facts.temporaries[held] = "t"
            made.append(assign(held, value))
            tangents[bound] = name(held)
    return made + [assign(dotted(bound, facts), value) for bound, value in tangents.items()]


def _unpack(node: Node, facts: Facts, dotted: Dotted) -> Block:
    parts = [
        name(dotted(item.id, facts) if item.id in facts.active else facts.unused, gast.Store())
        for item in node.targets[0].elts
    ]
    if node.value.id not in facts.active:
        zeros = facts.library("zeros_like")
        return [
            assign(dotted(item.id, facts), expression(f"{zeros}(x)", x=item.id))
            for item in node.targets[0].elts
            if item.id in facts.active
        ]
    value = name(dotted(node.value.id, facts))
    return [gast.Assign([gast.Tuple(elts=parts, ctx=gast.Store())], value, None)]


def _tangent(node: Node, facts: Facts, dotted: Dotted, shared: Block) -> Node:
    value = node.value
    if isinstance(value, gast.Name | gast.Tuple | gast.List | gast.Dict):
        return _replaced(value, facts, dotted)
    operation = facts.operation.get(value)
    if operation is None or operation.rule is None:
        return _zero(node, facts)
    terms = _terms(node, operation, facts, dotted, shared)
    if not terms:
        return _zero(node, facts)
    total = terms[0]
    for term in terms[1:]:
        if target(node) in facts.containers:
            total = expression(f"{facts.library('add')}(one, two)", one=total, two=term)
            continue
        negative = isinstance(term, gast.UnaryOp) and isinstance(term.op, gast.USub)
        total = gast.BinOp(total, gast.Sub() if negative else gast.Add(), term.operand if negative else term)
    total = _widened(node, operation, total, facts)
    if not is_length_again(operation, facts):
        return total
    return grown(node, total, _substituted(value, operation, _active(operation, facts), facts, dotted), facts)


def _widened(node: Node, operation: Operation, total: Node, facts: Facts) -> Node:
    """An elementwise tangent in the shape of its primal, if broadcasting has not given it already."""
    assert operation.rule is not None, "an op has a rule"
    if operation.rule.kind != "elementwise" or facts.spec[node].shape <= spec_of_tree(total, facts).shape:
        return total
    made = expand(total, str(target(node)), facts)
    for item in walk(made.args[1]):
        if isinstance(item, gast.Name) and item.id == target(node):
            facts.results[item] = None
    return made


def _zero(node: Node, facts: Facts) -> Node:
    """The tangent of a value that carries none."""
    if facts.spec[node].scalar:
        return constant(0.0)
    return expression(f"{facts.library('zeros_like')}(primal)", primal=str(target(node)))


def _terms(node: Node, operation: Operation, facts: Facts, dotted: Dotted, shared: Block) -> list[Node]:
    operation = squared(operation, facts)
    rule = operation.rule
    assert rule is not None, "an op has a rule"
    active = _active(operation, facts)
    if rule.kind == "elementwise":
        return _elementwise(node, operation, active, facts, dotted, shared)
    if rule.kind == "linear":
        if active:
            moved(node, operation, active, facts, shared)
        return [_substituted(node.value, operation, active, facts, dotted)] if active else []
    if rule.kind == "multilinear":
        spots = [
            n for p in active for n in walk(operation.bound[p]) if isinstance(n, gast.Name) and n.id in facts.active
        ]
        return [exchanged(node.value, {spot: _replaced(spot, facts, dotted)}, facts) for spot in spots]
    return _general(node, operation, active, facts, dotted, shared)


def _active(operation: Operation, facts: Facts) -> list[str]:
    """Parameters whose arguments have a tangent."""
    assert operation.rule is not None, "an op has a rule"
    return [p for p, a in operation.bound.items() if p in differentiable(operation.rule) and _holds(a, facts)]


def _holds(argument: Node, facts: Facts) -> bool:
    if isinstance(argument, gast.Tuple | gast.List | gast.Dict):
        parts = argument.values if isinstance(argument, gast.Dict) else argument.elts
        return any(_holds(item, facts) for item in parts)
    return isinstance(argument, gast.Name) and argument.id in facts.active


def _elementwise(
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
        if operand in facts.spec:
            facts.spec[tangent] = facts.spec[operand]
        given = {template.result: tangent}
        setting = Setting(template, operation, facts, str(target(node)), facts.spec[node], given, conjugate=real)
        found.append((instantiate(setting, frozenset([parameter])), operand.id, tangent.id))
    mask_terms(node, found, facts)
    for made, _, _ in found:
        shared += made.shared
    values = [line.value for made, _, _ in found for line in made.lines]
    return [real_part(value, facts) if real else value for value in values]


def _replaced(value: Node, facts: Facts, dotted: Dotted) -> Node:
    """A name or a display with every active name replaced by its tangent, everything else by zeros."""
    if isinstance(value, gast.Name) and value.id in facts.active:
        made = name(dotted(value.id, facts))
        if value in facts.spec:
            facts.spec[made] = facts.spec[value]
        return made
    if isinstance(value, gast.Tuple | gast.List):
        return type(value)(elts=[_replaced(item, facts, dotted) for item in value.elts], ctx=gast.Load())
    if isinstance(value, gast.Dict):
        return gast.Dict(keys=value.keys, values=[_replaced(item, facts, dotted) for item in value.values])
    if isinstance(value, gast.Constant):
        return constant(0.0 if isinstance(value.value, int | float) else None)
    return expression(f"{facts.library('zeros_like')}(primal)", primal=copied(value, facts))


def _substituted(value: Node, operation: Operation, active: list[str], facts: Facts, dotted: Dotted) -> Node:
    """The op applied to the tangents of all its linear arguments."""
    assert operation.rule is not None, "an op has a rule"
    swap = {a: _replaced(a, facts, dotted) for p, a in operation.bound.items() if p in differentiable(operation.rule)}
    made = exchanged(value, swap, facts)
    if isinstance(operation.function, MethodDescriptorType) and value.args and value.args[0] in swap:
        # `np.ndarray.item(x)` takes no scalar of NumPy, and the tangent of an array without axes may be one.
        made.func, made.args = gast.Attribute(made.args[0], operation.function.__name__, gast.Load()), made.args[1:]
    return made


def _general(
    node: Node, operation: Operation, active: list[str], facts: Facts, dotted: Dotted, shared: Block
) -> list[Node]:
    rule = operation.rule
    assert rule is not None, "an op has a rule"
    template = tangent_template(rule)
    if template is None:
        raise lacks_mode(node.value, rule, "forward", facts)
    check_harmless(operation, facts)
    derivatives: dict[str, Node] = {}
    lost = Lost()
    for parameter in template.parameters:
        argument = operation.bound.get(parameter)
        if parameter in active and argument is not None:
            derivatives[parameter] = _replaced(argument, facts, dotted)
        else:
            derivatives[parameter] = name(f"d_{parameter}")
            lost.zeros[f"d_{parameter}"] = argument if argument is not None else template.defaults[parameter]
    spec = facts.spec.get(node, Spec(ndim=None))
    parts = tuple(stores(node)) if gives_several(node, facts) else ()
    setting = Setting(template, operation, facts, str(target(node)), spec, derivatives, lost=lost, parts=parts)
    made = instantiate(setting, frozenset([template.result]))
    shared += made.shared
    doubtful = any(one in facts.masked for parameter in active for one in loads(operation.bound[parameter]))
    return [picked(line.value, facts) if doubtful else line.value for line in made.lines]
