"""Normal form (A-normal form): one operation per statement, on names and literals; analysis and derivation work on it.

Every operand through which a derivative flows becomes a name. What a loop runs over is held before it begins: ranges
with fixed bounds, rows of a named array. `y = F.apply(x)`, of a class with two halves, is `ctx = Context(x)`, then `y =
F.forward(ctx, x)`.
"""

from __future__ import annotations

import operator

import gast
import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import LOOP, Facts, Operation
from srcgrad.core.rules import Rule, adjoint_template, rule_of, tangent_template
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    copy,
    expression,
    find_nodes,
    holds,
    is_swap,
    is_write,
    name,
    names_in,
    remade,
    root,
    statements,
    stores,
    walk,
    written_names,
)
from srcgrad.core.visitor import rewrite
from srcgrad.frontend.calls.side_effects import Effects, effects
from srcgrad.frontend.context import Scope, cheap, is_long, unused_result
from srcgrad.frontend.early_facts import varied_names
from srcgrad.frontend.language import (
    check_method,
    check_operands,
    check_passive,
    is_sequence,
    local_names,
    moves,
    note_moving,
    wants_arrays,
)
from srcgrad.frontend.resolve import binding_of, is_method_of_no_array, method_without_rule, operation_of

RESULT_NAME = "y"


def opened_halves(made: Node, operation: Operation, bound: dict[str, Node], scope: Scope) -> tuple[Node, Rule]:
    """The call of the forward half, and the rule; what is kept goes by a name of its own, one for each call.

    In text that will be differentiated again nothing is kept: there the other half is a function of the primals.
    """
    rule, facts = operation.rule, scope.facts
    assert rule is not None and rule.own is not None, "a class of a user"
    if facts.module is not None and facts.module.inline and rule.own.again is not None:
        try:
            again: Rule = rule.own.again()
        except DifferentiationError as error:
            raise facts.refuse(made, error.code, error.message, error.remedy) from None
        return made, again
    template = adjoint_template(rule)
    assert template is not None, "its halves are written"
    held = facts.names.fresh("ctx") if "ctx" not in facts.names.taken else facts.names.numbered_name("ctx")
    given = [copy(bound[p] if p in bound else template.defaults[p]) for p in template.positional]
    context = gast.Call(name(facts.library("Context")), given, [])
    scope.emit(assign(held, at(context, made)))
    assert scope.user is not None, "the call stands in a statement"
    facts.origin.rewritten[scope.user] = None
    owner = copy(made.func.value) if isinstance(made.func, gast.Attribute) else name(_class(operation, scope))
    half = at(expression("owner.forward", owner=owner), made)
    bound[rule.own.context] = name(held)
    call = at(gast.Call(half, [name(held), *made.args], made.keywords), made)
    facts.calls.fills[call] = held
    return call, rule


def _class(operation: Operation, scope: Scope) -> str:
    owner = operation.function.__self__
    return scope.facts.library(owner.__name__, owner)


def compute(bound: str, value: Node, scope: Scope) -> None:
    """Emit `bound = value` with one operation per statement."""
    _compute(bound, value, scope.may_vary(value), scope)


def _compute(bound: str, value: Node, varied: bool, scope: Scope) -> None:
    if varied and isinstance(value, gast.IfExp):
        _choose(bound, value, scope)
    elif varied and isinstance(value, gast.BoolOp):
        _branch_on_or(bound, value, scope)
    else:
        scope.emit(assign(bound, _normalise_expression(value, scope) if varied else value))


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


def _branch_on_or(bound: str, value: Node, scope: Scope) -> None:
    """`a or b` is the first of the two that decides: `a if a else b`."""
    first, *others = value.values
    held = atom(first, scope)
    if not isinstance(held, gast.Name):
        held = name(scope.new_temporary())
        scope.emit(assign(held.id, first))
    rest = others[0] if len(others) == 1 else gast.BoolOp(value.op, others)
    kept, other = copy(held), at(rest, value)
    sides = (kept, other) if isinstance(value.op, gast.Or) else (other, kept)
    _choose(bound, at(gast.IfExp(held, *sides), value), scope)


def atom(value: Node, scope: Scope) -> Node:
    """A name or a literal that holds the value."""
    if isinstance(value, gast.Name | gast.Constant):
        return value
    varied = scope.may_vary(value)
    if not varied and cheap(value) and not is_long(value):
        return value
    if varied and isinstance(value, gast.Tuple | gast.List | gast.Dict):
        return _normalise_expression(value, scope)
    held = scope.new_temporary()
    if varied:
        scope.facts.activity.varied[held] = None
    _compute(held, value, varied, scope)
    return name(held)


def name_or_literal(value: Node, scope: Scope) -> Node:
    """A name or a literal; a display of parts that carry a derivative gets a name."""
    held = atom(value, scope)
    if not isinstance(held, gast.Tuple | gast.List | gast.Dict) or not scope.may_vary(held):
        return held
    kept = scope.new_temporary()
    spread_varied(kept, held, scope)
    scope.emit(assign(kept, held))
    return name(kept)


def as_array(value: Node, scope: Scope) -> Node:
    """The name of an array of the items of a display, or of a list that the module has."""
    kept = scope.new_temporary()
    spread_varied(kept, value, scope)
    items = _normalise_expression(value, scope) if scope.may_vary(value) else value
    made = at(expression(f"{scope.facts.library('np')}.array(x)", x=items), value)
    scope.facts.resolution.operation[made] = Operation("op", np.array, rule_of(np.array), {"object": items})
    scope.emit(assign(kept, made))
    return name(kept)


def normalise_stored(part: Node, value: Node, scope: Scope) -> Node:
    """What is stored in a part: an array where the part is of an array, a name in any case if it is active."""
    held = part.value.id if isinstance(part.value, gast.Name) else ""
    container = scope.facts.list_kind(held) or held in scope.facts.kinds.containers
    if container:
        return name_or_literal(value, scope)
    if isinstance(value, gast.Tuple | gast.List) and scope.may_vary(value) and not scope.facts.request.generated:
        return as_array(value, scope)
    if isinstance(value, gast.Name) and value.id == getattr(root(part), "id", ""):
        value = expression("array[...]", array=value)  # named before the part is cleared
    return name_or_literal(value, scope)


def _normalise_expression(value: Node, scope: Scope) -> Node:
    """The expression, through which a derivative flows, with every active operand replaced by a name or a literal."""
    if isinstance(value, gast.Name):
        return value
    value = _negated_square(value)
    if isinstance(value, gast.Tuple | gast.List):
        made = type(value)(elts=[atom(item, scope) for item in value.elts], ctx=gast.Load())
        return at(made, value)
    popped = written_names(gast.Assign([], value, None)) if isinstance(value, gast.Call) else []
    if popped and (scope.facts.request.generated or scope.facts.list_kind(popped[0])):
        return value  # h_stack.pop()
    if isinstance(value, gast.Dict):
        if any(key is None for key in value.keys):
            raise scope.facts.refuse(value, "E5005", "`**` in a dict is not accepted", "write the keys out")
        return at(gast.Dict(keys=value.keys, values=[atom(item, scope) for item in value.values]), value)
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
    handed = operation.bound.get(rule.handed.parameter) if rule.handed is not None else None
    if handed is not None and not isinstance(handed, gast.Constant) and scope.may_vary(handed):
        what = f"`{gast.unparse(handed)}`, one of several functions, is handed to `{rule.name}`"
        raise scope.facts.refuse(value, "E5031", what, "call it by a name that is bound once")
    check_operands(value, operation, places, scope)
    check_method(value, operation, places, scope)
    places = (*places, *rule.refuses)
    for parameter, argument in operation.bound.items():
        if parameter == template.variadic:
            settled = atom if parameter in places else _hold_calls
            swap |= {item: settled(item, scope) for item in argument.elts if parameter in places or not cheap(item)}
            bound[parameter] = gast.Tuple(elts=[swap.get(item, item) for item in argument.elts], ctx=gast.Load())
        elif parameter in places and is_sequence(argument, scope) and wants_arrays(operation, parameter):
            swap[argument] = as_array(argument, scope)
        elif parameter in places:
            settled = (
                name_or_literal if operation.function is operator.getitem else atom
            )  # `[a, b][i]`: a name has an adjoint
            swap[argument] = settled(argument, scope)
        elif not cheap(argument):
            swap[argument] = _hold_calls(argument, scope)
    made = _swap(value, swap)
    bound = {p: swap.get(a, a) for p, a in bound.items()}
    if rule.own is not None and rule.own.applied is not None:
        made, rule = opened_halves(made, operation, bound, scope)
    scope.facts.resolution.operation[made] = Operation("op", operation.function, rule, bound)
    return made


def _hold_calls(argument: Node, scope: Scope) -> Node:
    """A parameter that carries no derivative, with its calls computed once and named."""
    if isinstance(argument, gast.Call | gast.IfExp | gast.BoolOp | gast.JoinedStr):
        held = scope.new_temporary()
        scope.emit(assign(held, argument))
        return name(held)
    if isinstance(argument, gast.Lambda):
        return argument  # of a hook
    swap = {part: _hold_calls(part, scope) for part in gast.iter_child_nodes(argument) if not cheap(part)}
    return _swap(argument, swap) if swap else argument


def _flat_call(value: Node, operation: Operation, scope: Scope) -> Node:
    if not isinstance(value, gast.Call):
        raise scope.facts.refuse(
            value, "E5003", f"`{gast.unparse(value)}` has no rule", "compute it with NumPy functions"
        )
    if operation.kind == "opaque" and isinstance(operation.function, gast.Name | gast.Subscript):
        value = _with_function(value, scope)
    swap = {argument: name_or_literal(argument, scope) for argument in value.args}
    swap |= {word.value: name_or_literal(word.value, scope) for word in value.keywords}
    made = _swap(value, swap)
    function = made.func if isinstance(operation.function, gast.AST) else operation.function
    scope.facts.resolution.operation[made] = Operation(operation.kind, function, checkpointed=operation.checkpointed)
    return made


def _with_function(value: Node, scope: Scope) -> Node:
    """`call(f, x)` for `f(x)`, where the function depends on what is differentiated: it is an argument like others."""
    given = getattr(root(value.func), "id", "") in scope.facts.request.wrt
    if given or not scope.may_vary(value.func):
        return value
    helper = name(scope.facts.library("call"))
    return at(gast.Call(helper, [value.func, *value.args], value.keywords), value)


def _swap(value: Node, swap: dict[Node, Node]) -> Node:
    """The same expression with operands exchanged; other parts are shared."""
    return at(remade(value, lambda part: _swap_part(part, swap)), value)


def _swap_part(part: Node, swap: dict[Node, Node]) -> Node:
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
        if isinstance(item, gast.Call) and (scope.may_vary(item) or not _is_method(item, scope)):
            operation = operation_of(item, scope.facts, scope.local)
            if operation is not None and operation.function is item.func and is_method_of_no_array(item):
                raise method_without_rule(item, scope.facts)
            if operation is not None and operation.kind == "opaque" and scope.may_vary(item):
                watch_writes(item, scope.facts)


def watch_writes(call: Node, facts: Facts) -> None:
    """`reads_only(f)(x)` for `f(x)`: what only a run knows, and nothing is made of its derivative, may not write."""
    named = any(holds(part, gast.Name) for part in (*call.args, *call.keywords))
    if named and isinstance(call.func, gast.Name | gast.Subscript | gast.Attribute) and not facts.module.inline:
        call.func = at(gast.Call(name(facts.library("reads_only")), [call.func], []), call.func)


def _is_method(call: Node, scope: Scope) -> bool:
    return isinstance(call.func, gast.Attribute) and binding_of(call.func, scope.facts, scope.local) is None


def spread_varied(made: str, value: Node, scope: Scope) -> None:
    if scope.may_vary(value):
        scope.facts.activity.varied[made] = None


def prepare(node: Node, scope: Scope) -> Block:
    """Name what a loop runs over, as it is before the loop; the statements that its body begins with."""
    if isinstance(node.target, gast.Tuple):
        raise scope.facts.refuse(
            node.target,
            "E5005",
            "a loop over tuples is not accepted",
            "loop over an index: `for i in range(len(xs))`, and read the parts in the body",
        )
    changed = {s for n in statements([node]) for s in stores(n)}
    if _is_range(node.iter, scope):
        _spell_plainly(node.iter, scope)
        node.iter = _freeze_bounds(node, scope, changed)
    elif _is_iterator(node.iter, scope):
        raise scope.facts.refuse(
            node.iter,
            "E5005",
            "a loop over an iterator is not accepted",
            "loop over an index: `for i in range(len(xs))`, and read the items in the body",
        )
    elif not isinstance(node.iter, gast.Name) or node.iter.id in changed:
        held = scope.new_temporary()
        spread_varied(held, node.iter, scope)
        compute(held, node.iter, scope)
        node.iter = name(held)
    return _counter(node, scope)


def _counter(node: Node, scope: Scope) -> Block:
    """A loop variable that the body binds anew starts from a name that it does not."""
    bound = node.target.id
    if not any(bound in stores(inner) for inner in statements(node.body)):
        return []
    counter = scope.facts.names.numbered_name(scope.facts.names.base.get(bound, bound))
    scope.facts.names.base.setdefault(counter, scope.facts.names.base.get(bound, bound))
    spread_varied(counter, node.iter, scope)
    node.target = name(counter, gast.Store())
    start = at(assign(bound, name(counter)), node)
    return [start]


def _is_iterator(node: Node, scope: Scope) -> bool:
    found = binding_of(node.func, scope.facts, scope.local) if isinstance(node, gast.Call) else None
    return found is not None and found.object in (reversed, zip, enumerate, map, filter, iter)


def _spell_plainly(node: Node | None, scope: Scope) -> None:
    """`range(n)` for `builtins.range(n)`: later passes know it by this name, which `check_language` keeps for it."""
    while isinstance(node, gast.Call):
        found = binding_of(node.func, scope.facts, scope.local)
        if found is None or found.object not in (range, reversed):
            return
        node.func = at(name(found.object.__name__), node.func)
        node = node.args[0] if node.args else None


def _freeze_bounds(node: Node, scope: Scope, changed: set[str]) -> Node:
    """The bounds of a loop, as they are before it: what the body changes, or a call, is held in a name."""
    header: Node = node.iter
    inner = header if header.func.id != "reversed" else header.args[0]
    for position, bound in enumerate(inner.args):
        names = names_in(bound)
        if _is_of_shape(bound):  # which no write into the array changes
            names -= {s for n in statements([node]) for s in written_names(n)} - _rebound_names(node)
        if (not cheap(bound) and not _is_length(bound, names & changed)) or names & changed:
            held = scope.new_temporary()
            scope.emit(assign(held, bound))
            inner.args[position] = name(held)
    return header


def _is_of_shape(bound: Node) -> bool:
    """`x.shape[0]`, `x.size`."""
    inner = bound.value if isinstance(bound, gast.Subscript) else bound
    return isinstance(inner, gast.Attribute) and inner.attr in ("shape", "size") and isinstance(inner.value, gast.Name)


def _rebound_names(loop: Node) -> set[str]:
    return {s for n in statements([loop]) if not is_write(n) for s in stores(n)}


def _is_length(bound: Node, changed: set[str]) -> bool:
    """`len(x)`, which may as well be read again."""
    return (
        isinstance(bound, gast.Call)
        and isinstance(bound.func, gast.Name)
        and bound.func.id == "len"
        and isinstance(bound.args[0], gast.Name)
        and not changed
    )


def _is_range(node: Node, scope: Scope) -> bool:
    if not isinstance(node, gast.Call):
        return False
    found = binding_of(node.func, scope.facts, scope.local)
    if found is None or found.object is not reversed:
        return found is not None and found.object is range
    return _is_range(node.args[0], scope)


def normalise(function: Node, facts: Facts) -> Node:
    """Name every intermediate value; what cannot be active stays as it is written.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x, n):\\n    return np.sin(x * x) + n ** 2", after="normalise"))
    def f(x, n):
        t3 = x * x
        t2 = np.sin(t3)
        t4 = n**2
        y = t2 + t4
        return y
    """
    for node in statements(function.body):
        rewrite(node, _part_taken)
    local = local_names(function)
    facts.activity.varied = dict.fromkeys(varied_names(function, facts, local))
    arrays = frozenset(w for n in statements(function.body) if is_write(n) for w in written_names(n))
    scope = Scope(facts, local, arrays)
    function.body = _block(function.body, scope)
    note_moving(function, facts)
    return function


def _part_taken(node: Node) -> Node:
    """`b` for `(a, b)[1]`."""
    while isinstance(node, gast.Subscript) and isinstance(node.value, gast.Tuple | gast.List):
        index = getattr(node.slice, "value", None)
        if type(index) is not int or not 0 <= index < len(node.value.elts):
            break
        node = node.value.elts[index]
    return node


def _block(block: Block, scope: Scope) -> Block:
    outer, scope.block = scope.block, []
    for node in block:
        user, scope.user = scope.user, scope.facts.origin.user.get(node, node)
        _statement(node, scope)
        scope.user = user
    made, scope.block = scope.block, outer
    return made


def _statement(node: Node, scope: Scope) -> None:
    if isinstance(node, gast.Assign):
        _assignment(node, scope)
    elif isinstance(node, gast.If | gast.While):
        if scope.facts.request.generated and isinstance(node, gast.If):
            _hold_test(node, scope)
        node.test = _take_off_checkpoint(node.test, node, scope)
        passive_calls(node.test, scope)
        node.body = _block(node.body, scope)
        node.orelse = _block(node.orelse, scope)
        scope.block.append(node)
    elif isinstance(node, gast.For):
        _loop(node, scope)
    elif isinstance(node, gast.Return):
        scope.emit(gast.Return(_result(node.value, scope)))
    elif isinstance(node, gast.Expr):
        _effect(node, scope)
    elif isinstance(node, gast.AugAssign):
        node.value = normalise_stored(node.target, node.value, scope)
        node.target = _part(node.target, scope)
        scope.emit(node)
    elif not isinstance(node, gast.Pass | gast.AnnAssign):
        scope.block.append(node)


def _hold_test(node: Node, scope: Scope) -> None:
    """`if taken_stack.pop()` and `if not taken_stack.pop()` test a name."""
    negated = isinstance(node.test, gast.UnaryOp) and isinstance(node.test.op, gast.Not)
    test = node.test.operand if negated else node.test
    if isinstance(test, gast.Call):
        held = scope.new_temporary()
        scope.emit(assign(held, test))
        node.test = gast.UnaryOp(gast.Not(), name(held)) if negated else name(held)


def _is_check(call: Node, scope: Scope) -> bool:
    """Whether a call whose result is not used is one for its exceptions, of a function that changes nothing."""
    if binding_of(call.func, scope.facts, scope.local) is None:
        return False
    if isinstance(call.func, gast.Name) and call.func.id in scope.facts.names.local:
        return False  # a name of the function's own for another function, which the text does not have
    found = operation_of(call, scope.facts, scope.local)
    if found is not None and found.kind in ("op", "constant") and _only_looks(call, found):
        return True
    if found is None or found.kind != "callee" or moves(call, scope.facts, scope.local):
        return False
    writes = Effects(scope.facts, augments=True)
    handed = [made for part in find_nodes(call, gast.Call) for made in writes.made_by_handed(part, scope.facts)]
    inner = [n for one in find_nodes(call, gast.Lambda) for n in walk(one.body) if writes.is_write(n, scope.facts)]
    return not handed and not inner and not writes.arguments(call, scope.facts, scope.local)


def _only_looks(call: Node, operation: Operation) -> bool:
    """Whether a call reads names and parts of them for its exception: `float(x)`, `len(x)`, `getitem(table, key)`."""
    function = operation.function
    reads = function is len or function is operator.getitem
    reads = reads or (isinstance(function, type) and issubclass(function, int | float | complex | str))
    given = [*call.args, *(word.value for word in call.keywords)]
    return reads and not any(holds(one, gast.Call, gast.Starred) for one in given)


def _effect(node: Node, scope: Scope) -> None:
    if isinstance(node.value, gast.Constant):
        return
    if isinstance(node.value.func, gast.Attribute) and node.value.func.attr == "pop" and written_names(node):
        scope.emit(assign(scope.new_temporary(), node.value))
        return
    if written_names(node) and (scope.facts.request.generated or scope.facts.list_kind(written_names(node)[0])):
        node.value.args[-1] = name_or_literal(node.value.args[-1], scope)
        scope.emit(node)
        return
    known = (
        scope.facts.request.generated or node in scope.facts.resolution.effects
    )  # a text of ours has what was looked at before
    if not known and not effects(node.value, scope.facts, scope.local) and not _is_check(node.value, scope):
        raise scope.facts.refuse(node, "E5005", *unused_result(node.value, scope.local))
    scope.facts.resolution.effects[node] = None
    scope.block.append(node)


def _take_off_checkpoint(header: Node, loop: Node, scope: Scope) -> Node:
    """What a loop runs over, or its test, without the mark of a checkpointed loop, which the facts keep."""
    if getattr(getattr(header, "func", None), "id", "") != LOOP:
        return header
    over: Node
    over, scope.facts.calls.checkpointed[loop] = header.args
    return over


def _loop(node: Node, scope: Scope) -> None:
    node.iter = _take_off_checkpoint(node.iter, node, scope)
    start = prepare(node, scope)
    node.body = start + _block(node.body, scope)
    scope.block.append(node)


def _assignment(node: Node, scope: Scope) -> None:
    first = node.targets[0]
    if len(node.targets) > 1:
        held = atom(node.value, scope)
        if isinstance(held, gast.BinOp | gast.UnaryOp) or not cheap(held):  # one array with several names
            spelled = first.id if isinstance(first, gast.Name) else scope.new_temporary()
            scope.emit(assign(spelled, held))
            held = name(spelled)
        for item in node.targets:
            _bind(item, copy(held), scope)
    elif is_swap(node) and any(n.id in scope.arrays for n in first.elts):
        names = dict.fromkeys(n.id for n in first.elts)
        for name_ in names:
            scope.facts.memory.swapped.setdefault(name_, {}).update(names)
        scope.emit(gast.Assign([first], node.value, None))
    elif isinstance(first, gast.Tuple | gast.List) and isinstance(node.value, gast.Tuple | gast.List):
        _bind_in_parallel(_pairs(first, node.value, scope), scope)
    elif isinstance(first, gast.Name):
        if isinstance(node.value, gast.Name) and node.value.id == first.id:
            return
        compute(first.id, node.value, scope)
        for table in (scope.facts.origin.augmented, scope.facts.resolution.kept):
            if node in table and scope.block:
                table[scope.block[-1]] = None
    elif isinstance(first, gast.Subscript):
        value = node.value
        if node in scope.facts.origin.augmented:  # the index is computed once, and first
            part = _part(first, scope)
            read = copy(part) if isinstance(value.left, gast.Subscript) else value.left
            read.ctx = gast.Load()
            value = normalise_stored(first, gast.copy_location(gast.BinOp(read, value.op, value.right), value), scope)
        else:
            value = normalise_stored(first, value, scope)
            part = _part(first, scope)
        scope.emit(gast.Assign([part], value, None))
        if node in scope.facts.origin.augmented and scope.facts.list_kind(getattr(first.value, "id", "")):
            scope.facts.origin.updates[scope.block[-1]] = None
    else:
        _bind(first, atom(node.value, scope), scope)


def _part(target: Node, scope: Scope) -> Node:
    """The part of an array that is written, with an index that may be read again in the backward half."""
    if _is_steady(target.slice):
        return target
    made = copy(target)
    made.slice = _hold_index(made.slice, scope)
    return made


def _hold_index(index: Node, scope: Scope) -> Node:
    """An index whose calls, tests and parts of arrays, which the write may change, are computed once and named."""
    if _is_steady(index):
        return index
    if isinstance(index, gast.Tuple):
        return gast.Tuple(elts=[_hold_index(part, scope) for part in index.elts], ctx=gast.Load())
    if isinstance(index, gast.Slice):
        bounds = (index.lower, index.upper, index.step)
        return gast.Slice(*(bound if bound is None else _hold_index(bound, scope) for bound in bounds))
    held = scope.new_temporary()
    scope.emit(assign(held, index))
    return name(held)


def _is_steady(index: Node) -> bool:
    return cheap(index) and not holds(index, gast.Compare, gast.Subscript, gast.Invert)


def _pairs(names: Node, values: Node, scope: Scope) -> list[tuple[Node, Node]]:
    """Targets and values of `a, (b, c) = e, (f, g)`, nested displays taken apart."""
    if len(names.elts) != len(values.elts):
        raise scope.facts.refuse(values, "E5005", "wrong number of values to unpack", "match the two sides")
    found: list[tuple[Node, Node]] = []
    for item, value in zip(names.elts, values.elts, strict=True):
        if isinstance(item, gast.Tuple | gast.List) and isinstance(value, gast.Tuple | gast.List):
            found += _pairs(item, value, scope)
        else:
            found.append((item, value))
    return found


def _bind_in_parallel(pairs: list[tuple[Node, Node]], scope: Scope) -> None:
    """`a, b = e, f`: all right sides before any name is bound."""
    written_names = {n.id for item, _ in pairs for n in find_nodes(item, gast.Name)}
    held: list[Node] = []
    for place, (item, value) in enumerate(pairs):
        later = {n.id for _, other in pairs[place:] for n in find_nodes(other, gast.Name)}
        if isinstance(item, gast.Name) and item.id not in later and not isinstance(value, gast.Name):
            compute(item.id, value, scope)  # no other right side reads the name
            held.append(name(item.id))
        elif isinstance(value, gast.Name) and value.id in written_names:
            keep = scope.new_temporary()
            scope.emit(assign(keep, name(value.id)))
            spread_varied(keep, value, scope)
            held.append(name(keep))
        else:
            held.append(_hold_before_binding(value, written_names, scope))
    for (item, _), value in zip(pairs, held, strict=True):
        _bind(item, value, scope)


def _hold_before_binding(value: Node, changed: set[str], scope: Scope) -> Node:
    """The value, computed now if it reads a name that is about to be bound."""
    if any(isinstance(n, gast.Name) and n.id in changed for n in walk(value)) and not scope.may_vary(value):
        held = scope.new_temporary()
        compute(held, value, scope)
        return name(held)
    return atom(value, scope)


def _bind(item: Node, value: Node, scope: Scope) -> None:
    if isinstance(item, gast.Name):
        if not (isinstance(value, gast.Name) and value.id == item.id):
            scope.emit(assign(item.id, value))
        return
    if isinstance(item, gast.Subscript):
        scope.emit(gast.Assign([_part(item, scope)], normalise_stored(item, value, scope), None))
        return
    flat = gast.Tuple(elts=[], ctx=gast.Store())
    inner = []
    for part in item.elts:
        if isinstance(part, gast.Name):
            flat.elts.append(name(part.id, gast.Store()))
        else:
            held = scope.new_temporary()
            flat.elts.append(name(held, gast.Store()))
            spread_varied(held, value, scope)
            inner.append((part, held))
    if not isinstance(value, gast.Name):
        keep = scope.new_temporary()
        spread_varied(keep, value, scope)
        scope.emit(assign(keep, value))
        value = name(keep)
    scope.emit(gast.Assign([flat], value, None))
    for part, held in inner:
        _bind(part, name(held), scope)


def _result(value: Node | None, scope: Scope) -> Node:
    """The returned value as a name, or a tuple of names."""
    if isinstance(value, gast.Tuple):
        return gast.Tuple(elts=[_name_value(item, scope, "t") for item in value.elts], ctx=gast.Load())
    assert value is not None, "a bare `return` is refused before"
    return _name_value(value, scope, RESULT_NAME)


def _name_value(value: Node, scope: Scope, stem: str) -> Node:
    if isinstance(value, gast.Name) and value.id in scope.local:
        return value
    held = scope.new_temporary() if stem == "t" else scope.facts.names.fresh(scope.facts.names.of_result())
    scope.facts.names.temporaries[held] = stem
    spread_varied(held, value, scope)
    compute(held, value, scope)
    return name(held)
