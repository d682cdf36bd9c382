"""Expressions with one operation: every operand through which a derivative flows becomes a name."""

from __future__ import annotations

import operator

import gast
import numpy as np

from srcgrad.facts import Operation
from srcgrad.front.halves import opened_halves
from srcgrad.front.operands import check_method, check_operands, check_passive, is_sequence, wants_arrays
from srcgrad.front.resolve import binding_of, operation_of
from srcgrad.front.scope import Scope, cheap, is_long
from srcgrad.rules import rule_of
from srcgrad.template import adjoint_template, tangent_template
from srcgrad.trees import Node, assign, at, copy, expression, name, remade, root, walk, written


def compute(bound: str, value: Node, scope: Scope) -> None:
    """Emit `bound = value` with one operation per statement."""
    _compute(bound, value, scope.varied(value), scope)


def _compute(bound: str, value: Node, varied: bool, scope: Scope) -> None:
    if varied and isinstance(value, gast.IfExp):
        _choose(bound, value, scope)
    elif varied and isinstance(value, gast.BoolOp):
        _either(bound, value, scope)
    else:
        scope.emit(assign(bound, _flat(value, scope) if varied else value))


def _choose(bound: str, value: Node, scope: Scope) -> None:
    """`a if c else b` evaluates one side only: an `if` statement."""
    passive_calls(value.test, scope)
    outer = scope.block
    branches = []
    for side in (value.body, value.orelse):
        scope.block = []
        compute(bound, side, scope)
        branches.append(scope.block)
    scope.block = outer
    scope.emit(gast.If(value.test, *branches))


def _either(bound: str, value: Node, scope: Scope) -> None:
    """`a or b` is the first of the two that decides: `a if a else b`."""
    first, *others = value.values
    held = atom(first, scope)
    if not isinstance(held, gast.Name):
        held = name(scope.temporary())
        scope.emit(assign(held.id, first))
    rest = others[0] if len(others) == 1 else gast.BoolOp(value.op, others)
    kept, other = copy(held), at(rest, value)
    sides = (kept, other) if isinstance(value.op, gast.Or) else (other, kept)
    _choose(bound, at(gast.IfExp(held, *sides), value), scope)


def atom(value: Node, scope: Scope) -> Node:
    """A name or a literal that holds the value."""
    if isinstance(value, gast.Name | gast.Constant):
        return value
    varied = scope.varied(value)
    if not varied and cheap(value) and not is_long(value):
        return value
    if varied and isinstance(value, gast.Tuple | gast.List | gast.Dict):
        return _flat(value, scope)
    held = scope.temporary()
    if varied:
        scope.facts.varied[held] = None
    _compute(held, value, varied, scope)
    return name(held)


def whole(value: Node, scope: Scope) -> Node:
    """A name or a literal; a display of parts that carry a derivative gets a name."""
    held = atom(value, scope)
    if not isinstance(held, gast.Tuple | gast.List | gast.Dict) or not scope.varied(held):
        return held
    kept = scope.temporary()
    spread_varied(kept, held, scope)
    scope.emit(assign(kept, held))
    return name(kept)


def as_array(value: Node, scope: Scope) -> Node:
    """The name of an array of the items of a display, or of a list that the module has."""
    kept = scope.temporary()
    spread_varied(kept, value, scope)
    items = _flat(value, scope) if scope.varied(value) else value
    made = at(expression(f"{scope.facts.library('np')}.array(x)", x=items), value)
    scope.facts.operation[made] = Operation("op", np.array, rule_of(np.array), {"object": items})
    scope.emit(assign(kept, made))
    return name(kept)


def stored(part: Node, value: Node, scope: Scope) -> Node:
    """What is stored in a part: an array where the part is of an array, a name in any case if it is active."""
    held = part.value.id if isinstance(part.value, gast.Name) else ""
    container = scope.facts.list_kind(held) or held in scope.facts.containers
    if container:
        return whole(value, scope)
    if isinstance(value, gast.Tuple | gast.List) and scope.varied(value) and not scope.facts.generated:
        return as_array(value, scope)
    if isinstance(value, gast.Name) and value.id == getattr(root(part), "id", ""):
        value = expression("array[...]", array=value)  # named before the part is cleared
    return whole(value, scope)


def _flat(value: Node, scope: Scope) -> Node:
    """The expression, through which a derivative flows, with every active operand replaced by a name or a literal."""
    if isinstance(value, gast.Name):
        return value
    value = _negated_square(value)
    if isinstance(value, gast.Tuple | gast.List):
        made = type(value)(elts=[atom(item, scope) for item in value.elts], ctx=gast.Load())
        return at(made, value)
    popped = written(gast.Assign([], value, None)) if isinstance(value, gast.Call) else []
    if popped and (scope.facts.generated or scope.facts.list_kind(popped[0])):
        return value  # h_stack.pop()
    if isinstance(value, gast.Dict):
        if any(key is None for key in value.keys):
            raise scope.facts.refuse(value, "E5005", "`**` in a dict is not accepted", "write the keys out")
        made = gast.Dict(keys=value.keys, values=[atom(item, scope) for item in value.values])
        return at(made, value)
    operation = operation_of(value, scope.facts, scope.local)
    if operation is None:
        check_passive(value, scope)
    if operation is None or (operation.rule is not None and operation.rule.kind == "constant"):
        passive_calls(value, scope)
        return value
    if operation.kind == "op":
        return _flat_op(value, operation, scope)
    return _flat_call(value, operation, scope)


def _negated_square(value: Node) -> Node:
    """`-(x * x)` for `-x * x`: the same number, and what is under the sign is a square."""
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Mult):
        return value
    left, right = value.left, value.right
    if isinstance(left, gast.UnaryOp) and isinstance(left.op, gast.USub) and isinstance(left.operand, gast.Name):
        if isinstance(right, gast.Name) and right.id == left.operand.id:
            return at(gast.UnaryOp(left.op, at(gast.BinOp(left.operand, value.op, right), value)), value)
    return value


def _flat_op(value: Node, operation: Operation, scope: Scope) -> Node:
    rule = operation.rule
    assert rule is not None, "an op has a rule"
    template = adjoint_template(rule) or tangent_template(rule)
    assert template is not None, "a rule that is not constant has a template"
    places = template.differentiable if rule.template is not None else template.parameters
    swap: dict[Node, Node] = {}
    bound = dict(operation.bound)
    check_operands(value, operation, places, scope)
    check_method(value, operation, places, scope)
    places = (*places, *rule.refuses)
    for parameter, argument in operation.bound.items():
        if parameter == template.variadic:
            settled = atom if parameter in places else _held
            swap |= {item: settled(item, scope) for item in argument.elts if parameter in places or not cheap(item)}
            bound[parameter] = gast.Tuple(elts=[swap.get(item, item) for item in argument.elts], ctx=gast.Load())
        elif parameter in places and is_sequence(argument, scope) and wants_arrays(operation, parameter):
            swap[argument] = as_array(argument, scope)
        elif parameter in places:
            settled = whole if operation.function is operator.getitem else atom  # `[a, b][i]`: a name has an adjoint
            swap[argument] = settled(argument, scope)
        elif not cheap(argument):
            swap[argument] = _held(argument, scope)
    made = _swap(value, swap)
    bound = {p: swap.get(a, a) for p, a in bound.items()}
    if rule.own is not None and rule.own.applied is not None:
        made, rule = opened_halves(made, operation, bound, scope)
    scope.facts.operation[made] = Operation("op", operation.function, rule, bound)
    return made


def _held(argument: Node, scope: Scope) -> Node:
    """A parameter that carries no derivative, with its calls computed once and named."""
    if isinstance(argument, gast.Call | gast.IfExp | gast.BoolOp | gast.JoinedStr):
        held = scope.temporary()
        scope.emit(assign(held, argument))
        return name(held)
    if isinstance(argument, gast.Lambda):
        return argument  # of a hook
    swap = {part: _held(part, scope) for part in gast.iter_child_nodes(argument) if not cheap(part)}
    return _swap(argument, swap) if swap else argument


def _flat_call(value: Node, operation: Operation, scope: Scope) -> Node:
    if not isinstance(value, gast.Call):
        raise scope.facts.refuse(
            value, "E5003", f"`{gast.unparse(value)}` has no rule", "compute it with NumPy functions"
        )
    swap = {argument: whole(argument, scope) for argument in value.args}
    swap |= {word.value: whole(word.value, scope) for word in value.keywords}
    made = _swap(value, swap)
    scope.facts.operation[made] = Operation(operation.kind, operation.function, checkpointed=operation.checkpointed)
    return made


def _swap(value: Node, swap: dict[Node, Node]) -> Node:
    """The same expression with operands exchanged; other parts are shared."""
    return at(remade(value, lambda part: _swapped(part, swap)), value)


def _swapped(part: Node, swap: dict[Node, Node]) -> Node:
    if part in swap:
        return swap[part]
    if isinstance(part, gast.keyword | gast.Tuple | gast.Attribute):
        return _swap(part, swap)
    return part


def passive_calls(test: Node, scope: Scope) -> None:
    """Nothing in a test is differentiated; resolve its calls all the same, so that refusals come early.

    Methods of what is no array, `generator.uniform()` or `key.startswith("log")`, are what they are.
    """
    for item in walk(test):
        if isinstance(item, gast.Call) and (scope.varied(item) or not _is_method(item, scope)):
            operation_of(item, scope.facts, scope.local)


def _is_method(call: Node, scope: Scope) -> bool:
    return isinstance(call.func, gast.Attribute) and binding_of(call.func, scope.facts, scope.local) is None


def spread_varied(made: str, value: Node, scope: Scope) -> None:
    if scope.varied(value):
        scope.facts.varied[made] = None
