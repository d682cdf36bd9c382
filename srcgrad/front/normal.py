"""One operation per statement, on names and literals: the form that analysis and derivation work on."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.derive.template import adjoint_template, tangent_template
from srcgrad.facts import Facts, Operation
from srcgrad.front.resolve import binding_of, effects, operation_of
from srcgrad.front.webs import parameters
from srcgrad.rules import rule_of
from srcgrad.trees import Block, Node, assign, at, children, loads, name, statements, stores, walk, written


@dataclass
class Scope:
    """What the rewriting of one function needs to know: its facts, its local names, the open block."""

    facts: Facts
    local: frozenset[str]
    block: Block = field(default_factory=list)
    user: Node = None

    def emit(self, node: Node) -> None:
        """Append a statement that stands for (a part of) the user's statement."""
        at(node, self.user)
        self.facts.origin[node] = self.user
        self.block.append(node)

    def temporary(self) -> str:
        """A fresh name for the value of a subexpression."""
        fresh = self.facts.names.fresh(f"t{len(self.facts.temporaries) + 1}")
        self.facts.temporaries[fresh] = "t"
        return fresh

    def varied(self, node: Node) -> bool:
        """Whether the expression may depend on a differentiated input."""
        return _differentiable_read(node, self.facts.varied, self.facts, self.local)


def normalise(function: Node, facts: Facts) -> Node:
    """Name every intermediate value; what cannot be active stays as it is written.

    >>> from srcgrad.explain import explain_text
    >>> print(explain_text("def f(x, n):\\n    return np.sin(x * x) + n ** 2", after="normalise"))
    def f(x, n):
        t1 = x * x
        t2 = np.sin(t1)
        y = t2 + n**2
        return y
    """
    local = frozenset(parameters(function)) | {s for n in statements(function.body) for s in stores(n)}
    facts.varied = dict.fromkeys(_varied(function, facts, local))
    scope = Scope(facts, local)
    function.body = _block(function.body, scope)
    return function


def _varied(function: Node, facts: Facts, local: frozenset[str]) -> list[str]:
    """Names that may depend on the inputs in `wrt`, through anything but shapes and constants."""
    users: dict[str, list[Node]] = {}
    for node in statements(function.body):
        for read in dict.fromkeys(loads(node)):
            users.setdefault(read, []).append(node)
    found = dict.fromkeys(facts.wrt)
    todo = list(facts.wrt)
    while todo:
        for node in users.get(todo.pop(), []):
            if _carries(node, found, facts, local):
                for bound in stores(node):
                    if bound not in found:
                        found[bound] = None
                        todo.append(bound)
    return list(found)


def _carries(node: Node, varied: dict[str, None], facts: Facts, local: frozenset[str]) -> bool:
    if not isinstance(node, gast.Assign | gast.For) and not written(node):
        return False
    value = node.iter if isinstance(node, gast.For) else node.value
    return _differentiable_read(value, varied, facts, local)


def _differentiable_read(node: Node, varied: dict[str, None], facts: Facts, local: frozenset[str]) -> bool:
    """Whether some varied name is read by an expression in a place that carries a derivative."""
    if not any(isinstance(item, gast.Name) and item.id in varied for item in walk(node)):
        return False
    todo = [node]
    while todo:
        item = todo.pop()
        if isinstance(item, gast.Name):
            if item.id in varied:
                return True
        elif isinstance(item, gast.Compare | gast.JoinedStr):
            continue
        elif isinstance(item, gast.Attribute) and item.attr in ("shape", "dtype", "size", "ndim"):
            continue
        elif isinstance(item, gast.IfExp):
            todo.extend((item.body, item.orelse))
        elif isinstance(item, gast.Call):
            found = binding_of(item.func, facts, local)
            rule = None if found is None or found.static is not None else rule_of(found.object)
            if rule is None or rule.kind != "constant":
                todo.extend(children(item))
        else:
            todo.extend(children(item))
    return False


def _block(block: Block, scope: Scope) -> Block:
    outer, scope.block = scope.block, []
    for node in block:
        user, scope.user = scope.user, scope.facts.origin.get(node, node)
        _statement(node, scope)
        scope.user = user
    made, scope.block = scope.block, outer
    return made


def _statement(node: Node, scope: Scope) -> None:
    if isinstance(node, gast.Assign):
        _assignment(node, scope)
    elif isinstance(node, gast.If | gast.While):
        if scope.facts.generated and isinstance(node.test, gast.Call) and isinstance(node, gast.If):
            held = scope.temporary()  # taken_stack.pop()
            scope.emit(assign(held, node.test))
            node.test = name(held)
        _passive_calls(node.test, scope)
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
        node.value = _atom(node.value, scope)
        scope.emit(node)
    elif not isinstance(node, gast.Pass | gast.AnnAssign):
        scope.block.append(node)


def _passive_calls(test: Node, scope: Scope) -> None:
    """Nothing in a test is differentiated; resolve its calls all the same, so that refusals come early."""
    for item in walk(test):
        if isinstance(item, gast.Call):
            operation_of(item, scope.facts, scope.local)


def _effect(node: Node, scope: Scope) -> None:
    if isinstance(node.value, gast.Constant):
        return
    if scope.facts.generated and written(node):
        node.value.args[-1] = _atom(node.value.args[-1], scope)
        scope.emit(node)
        return
    if not effects(node.value, scope.facts, scope.local):
        raise scope.facts.refuse(
            node,
            "E5005",
            "a call whose result is not used is not accepted: it may change its arguments",
            "bind the result to a name; print, warnings and logging are accepted",
        )
    scope.facts.effects[node] = None
    scope.block.append(node)


def _loop(node: Node, scope: Scope) -> None:
    if isinstance(node.target, gast.Tuple):
        raise scope.facts.refuse(
            node.target,
            "E5005",
            "a loop over tuples is not accepted",
            "loop over an index: `for i in range(len(xs))`, and read the parts in the body",
        )
    if _is_range(node.iter, scope):
        node.iter = _frozen(node, scope)
    if scope.varied(node.iter) and not isinstance(node.iter, gast.Name) and not _is_range(node.iter, scope):
        held = _atom(node.iter, scope)
        node.iter = held
    node.body = _block(node.body, scope)
    scope.block.append(node)


def _frozen(node: Node, scope: Scope) -> Node:
    """The bounds of a loop, as they are before it: what the body changes, or a call, is held in a name."""
    changed = {s for n in statements([node]) for s in stores(n)}
    inner = node.iter if node.iter.func.id != "reversed" else node.iter.args[0]
    for position, bound in enumerate(inner.args):
        names = {n.id for n in walk(bound) if isinstance(n, gast.Name)}
        if not cheap(bound) and not _is_length(bound, names & changed) or names & changed:
            held = scope.temporary()
            scope.emit(assign(held, bound))
            inner.args[position] = name(held)
    return node.iter


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


def _assignment(node: Node, scope: Scope) -> None:
    first = node.targets[0]
    if len(node.targets) > 1:
        held = _atom(node.value, scope)
        for item in node.targets:
            _bind(item, held, scope)
    elif isinstance(first, gast.Tuple | gast.List) and isinstance(node.value, gast.Tuple | gast.List):
        if len(first.elts) == len(node.value.elts):
            _parallel(first, node.value, scope)
            return
        raise scope.facts.refuse(node, "E5005", "wrong number of values to unpack", "match the two sides")
    elif isinstance(first, gast.Name):
        _compute(first.id, node.value, scope)
        if node in scope.facts.augmented and scope.block:
            scope.facts.augmented[scope.block[-1]] = None
    else:
        _bind(first, _atom(node.value, scope), scope)


def _parallel(names: Node, values: Node, scope: Scope) -> None:
    """`a, b = e, f`: all right sides before any name is bound."""
    written = {n.id for n in walk(names) if isinstance(n, gast.Name)}
    held = []
    for value in values.elts:
        if isinstance(value, gast.Name) and value.id in written:
            keep = scope.temporary()
            scope.emit(assign(keep, name(value.id)))
            _spread_varied(keep, value, scope)
            held.append(name(keep))
        else:
            held.append(_atom(value, scope))
    for item, value in zip(names.elts, held, strict=True):
        _bind(item, value, scope)


def _bind(item: Node, value: Node, scope: Scope) -> None:
    if isinstance(item, gast.Name):
        scope.emit(assign(item.id, value))
        return
    flat = gast.Tuple(elts=[], ctx=gast.Store())
    inner = []
    for part in item.elts:
        if isinstance(part, gast.Name):
            flat.elts.append(name(part.id, gast.Store()))
        else:
            held = scope.temporary()
            flat.elts.append(name(held, gast.Store()))
            _spread_varied(held, value, scope)
            inner.append((part, held))
    scope.emit(gast.Assign([flat], value, None))
    for part, held in inner:
        _bind(part, name(held), scope)


def _spread_varied(made: str, value: Node, scope: Scope) -> None:
    if scope.varied(value):
        scope.facts.varied[made] = None


def _result(value: Node, scope: Scope) -> Node:
    """The returned value as a name, or a tuple of names."""
    if isinstance(value, gast.Tuple):
        return gast.Tuple(elts=[_named(item, scope, "t") for item in value.elts], ctx=gast.Load())
    return _named(value, scope, "y")


def _named(value: Node, scope: Scope, stem: str) -> Node:
    if isinstance(value, gast.Name) and value.id in scope.local:
        return value
    held = scope.temporary() if stem == "t" else scope.facts.names.fresh("y")
    scope.facts.temporaries[held] = stem
    _spread_varied(held, value, scope)
    _compute(held, value, scope)
    return name(held)


def _compute(bound: str, value: Node, scope: Scope) -> None:
    """Emit `bound = value` with one operation per statement."""
    if isinstance(value, gast.IfExp) and scope.varied(value):
        _choose(bound, value, scope)
        return
    scope.emit(assign(bound, _flat(value, scope)))


def _choose(bound: str, value: Node, scope: Scope) -> None:
    """`a if c else b` evaluates one side only: an `if` statement."""
    _passive_calls(value.test, scope)
    outer = scope.block
    branches = []
    for side in (value.body, value.orelse):
        scope.block = []
        _compute(bound, side, scope)
        branches.append(scope.block)
    scope.block = outer
    scope.emit(gast.If(value.test, *branches))


def _atom(value: Node, scope: Scope) -> Node:
    """A name or a literal that holds the value."""
    if isinstance(value, gast.Name | gast.Constant) or not scope.varied(value):
        if isinstance(value, gast.Name) or cheap(value):
            return value
    if isinstance(value, gast.Tuple | gast.List | gast.Dict) and scope.varied(value):
        return _flat(value, scope)
    held = scope.temporary()
    _spread_varied(held, value, scope)
    _compute(held, value, scope)
    return name(held)


_CHEAP = (
    gast.Name, gast.Constant, gast.Attribute, gast.Subscript, gast.Tuple, gast.List, gast.BinOp, gast.UnaryOp,
    gast.Slice, gast.Compare, gast.operator, gast.unaryop, gast.cmpop, gast.expr_context,
)  # fmt: skip


def cheap(node: Node) -> bool:
    """Whether an expression that carries no derivative may be evaluated again where it is needed."""
    return all(isinstance(item, _CHEAP) for item in walk(node))


def _flat(value: Node, scope: Scope) -> Node:
    """The expression with every active operand replaced by a name or a literal."""
    if not scope.varied(value) or isinstance(value, gast.Name):
        return value
    if isinstance(value, gast.Tuple | gast.List):
        made = type(value)(elts=[_atom(item, scope) for item in value.elts], ctx=gast.Load())
        return at(made, value)
    if scope.facts.generated and isinstance(value, gast.Call) and written(gast.Assign([], value, None)):
        return value  # h_stack.pop()
    if isinstance(value, gast.Dict):
        if any(key is None for key in value.keys):
            raise scope.facts.refuse(value, "E5005", "`**` in a dict is not accepted", "write the keys out")
        made = gast.Dict(keys=value.keys, values=[_atom(item, scope) for item in value.values])
        return at(made, value)
    operation = operation_of(value, scope.facts, scope.local)
    if operation is None or (operation.rule is not None and operation.rule.kind == "constant"):
        _passive_calls(value, scope)
        return value
    if operation.kind == "op":
        return _flat_op(value, operation, scope)
    return _flat_call(value, operation, scope)


def _flat_op(value: Node, operation: Operation, scope: Scope) -> Node:
    rule = operation.rule
    assert rule is not None, "an op has a rule"
    template = adjoint_template(rule) or tangent_template(rule)
    assert template is not None, "a rule that is not constant has a template"
    places = template.differentiable if rule.template is not None else template.parameters
    swap: dict[Node, Node] = {}
    bound = dict(operation.bound)
    for parameter, argument in operation.bound.items():
        if parameter == template.variadic:
            swap |= {item: _atom(item, scope) for item in argument.elts}
            bound[parameter] = gast.Tuple(elts=[swap[item] for item in argument.elts], ctx=gast.Load())
        elif parameter in places:
            swap[argument] = _atom(argument, scope)
        elif not cheap(argument):
            swap[argument] = _held(argument, scope)
    made = _swap(value, swap)
    bound = {p: swap.get(a, a) for p, a in bound.items()}
    scope.facts.operation[made] = Operation("op", operation.function, rule, bound)
    return made


def _held(argument: Node, scope: Scope) -> Node:
    """A parameter that carries no derivative, with its calls computed once and named."""
    if isinstance(argument, gast.Call | gast.IfExp | gast.BoolOp | gast.JoinedStr):
        held = scope.temporary()
        scope.emit(assign(held, argument))
        return name(held)
    swap = {part: _held(part, scope) for part in gast.iter_child_nodes(argument) if not cheap(part)}
    return _swap(argument, swap) if swap else argument


def _flat_call(value: Node, operation: Operation, scope: Scope) -> Node:
    if not isinstance(value, gast.Call):
        raise scope.facts.refuse(
            value, "E5003", f"`{gast.unparse(value)}` has no rule", "compute it with NumPy functions"
        )
    swap = {argument: _atom(argument, scope) for argument in value.args}
    swap |= {word.value: _atom(word.value, scope) for word in value.keywords}
    made = _swap(value, swap)
    scope.facts.operation[made] = Operation(operation.kind, operation.function)
    return made


def _swap(value: Node, swap: dict[Node, Node]) -> Node:
    """The same expression with operands exchanged; other parts are shared."""
    made = type(value)()
    for key in value._fields:
        part = getattr(value, key, None)
        if isinstance(part, list):
            part = [_swapped(item, swap) for item in part]
        elif isinstance(part, gast.AST):
            part = _swapped(part, swap)
        setattr(made, key, part)
    return at(made, value)


def _swapped(part: Node, swap: dict[Node, Node]) -> Node:
    if not isinstance(part, gast.AST):
        return part
    if part in swap:
        return swap[part]
    if isinstance(part, gast.keyword | gast.Tuple | gast.Attribute):
        return _swap(part, swap)
    return part
