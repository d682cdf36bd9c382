"""One operation per statement, on names and literals: the form that analysis and derivation work on."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.changing import unused
from srcgrad.front.effects import effects
from srcgrad.front.flat import atom, compute, passive_calls, spread_varied, stored, whole
from srcgrad.front.loops import prepare
from srcgrad.front.moving import mark_moving
from srcgrad.front.scope import Scope, cheap
from srcgrad.front.silent import check_silent, keep_draws
from srcgrad.front.varied import varied_names
from srcgrad.front.webs import parameters
from srcgrad.names import LOOP
from srcgrad.parts import is_swap
from srcgrad.trees import Block, Node, assign, copy, inside, is_write, name, statements, stores, walk, written


def normalise(function: Node, facts: Facts) -> Node:
    """Name every intermediate value; what cannot be active stays as it is written.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(x, n):\\n    return np.sin(x * x) + n ** 2", after="normalise"))
    def f(x, n):
        t3 = x * x
        t2 = np.sin(t3)
        t4 = n**2
        y = t2 + t4
        return y
    """
    _take_parts(function.body)
    local = frozenset(parameters(function)) | {s for n in statements(function.body) for s in stores(n)}
    if not facts.generated:
        check_silent(function.body, facts, local)
        keep_draws(function.body, facts, local)
    facts.varied = dict.fromkeys(varied_names(function, facts, local))
    arrays = frozenset(w for n in statements(function.body) if is_write(n) for w in written(n))
    scope = Scope(facts, local, arrays)
    function.body = _block(function.body, scope)
    mark_moving(function.body, facts, local)
    return function


def _take_parts(block: Block) -> None:
    """`(a, b)[1]` as `b`."""
    taken = [s for s in block if any(isinstance(n.value, gast.Tuple | gast.List) for n in inside(s, gast.Subscript))]
    for node in [n for s in taken for n in walk(s)]:
        for key in node._fields:
            part = getattr(node, key, None)
            if isinstance(part, list):
                setattr(node, key, [_part_taken(item) for item in part])
            else:
                setattr(node, key, _part_taken(part))


def _part_taken(node: Node) -> Node:
    while isinstance(node, gast.Subscript) and isinstance(node.value, gast.Tuple | gast.List):
        index = getattr(node.slice, "value", None)
        if type(index) is not int or not 0 <= index < len(node.value.elts):
            break
        node = node.value.elts[index]
    return node


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
        if scope.facts.generated and isinstance(node, gast.If):
            _hold_test(node, scope)
        node.test = _unmarked(node.test, node, scope)
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
        node.value = stored(node.target, node.value, scope)
        node.target = _part(node.target, scope)
        scope.emit(node)
    elif not isinstance(node, gast.Pass | gast.AnnAssign):
        scope.block.append(node)


def _hold_test(node: Node, scope: Scope) -> None:
    """`if taken_stack.pop()` and `if not taken_stack.pop()` test a name."""
    negated = isinstance(node.test, gast.UnaryOp) and isinstance(node.test.op, gast.Not)
    test = node.test.operand if negated else node.test
    if isinstance(test, gast.Call):
        held = scope.temporary()
        scope.emit(assign(held, test))
        node.test = gast.UnaryOp(gast.Not(), name(held)) if negated else name(held)


def _effect(node: Node, scope: Scope) -> None:
    if isinstance(node.value, gast.Constant):
        return
    if isinstance(node.value.func, gast.Attribute) and node.value.func.attr == "pop" and written(node):
        scope.emit(assign(scope.temporary(), node.value))
        return
    if written(node) and (scope.facts.generated or scope.facts.list_kind(written(node)[0])):
        node.value.args[-1] = whole(node.value.args[-1], scope)
        scope.emit(node)
        return
    known = scope.facts.generated or node in scope.facts.effects  # a text of ours has what was looked at before
    if not known and not effects(node.value, scope.facts, scope.local):
        raise scope.facts.refuse(node, "E5005", *unused(node.value, scope.local))
    scope.facts.effects[node] = None
    scope.block.append(node)


def _unmarked(header: Node, loop: Node, scope: Scope) -> Node:
    """What a loop runs over, or its test, without the mark of a checkpointed loop, which the facts keep."""
    if getattr(getattr(header, "func", None), "id", "") != LOOP:
        return header
    scope.facts.checkpointed[loop] = header.args[1]
    return header.args[0]


def _loop(node: Node, scope: Scope) -> None:
    node.iter = _unmarked(node.iter, node, scope)
    start = prepare(node, scope)
    node.body = start + _block(node.body, scope)
    scope.block.append(node)


def _assignment(node: Node, scope: Scope) -> None:
    first = node.targets[0]
    if len(node.targets) > 1:
        held = atom(node.value, scope)
        for item in node.targets:
            _bind(item, copy(held), scope)
    elif is_swap(node) and any(n.id in scope.arrays for n in first.elts):
        names = dict.fromkeys(n.id for n in first.elts)
        for name_ in names:
            scope.facts.swapped.setdefault(name_, {}).update(names)
        scope.emit(gast.Assign([first], node.value, None))
    elif isinstance(first, gast.Tuple | gast.List) and isinstance(node.value, gast.Tuple | gast.List):
        _parallel(_pairs(first, node.value, scope), scope)
    elif isinstance(first, gast.Name):
        if isinstance(node.value, gast.Name) and node.value.id == first.id:
            return
        compute(first.id, node.value, scope)
        if node in scope.facts.augmented and scope.block:
            scope.facts.augmented[scope.block[-1]] = None
    elif isinstance(first, gast.Subscript):
        value = node.value
        if node in scope.facts.augmented:  # the index is computed once, and first
            part = _part(first, scope)
            read = copy(part) if isinstance(value.left, gast.Subscript) else value.left
            read.ctx = gast.Load()
            value = stored(first, gast.copy_location(gast.BinOp(read, value.op, value.right), value), scope)
        else:
            value = stored(first, value, scope)
            part = _part(first, scope)
        scope.emit(gast.Assign([part], value, None))
        if node in scope.facts.augmented and scope.facts.list_kind(getattr(first.value, "id", "")):
            scope.facts.updates[scope.block[-1]] = None
    else:
        _bind(first, atom(node.value, scope), scope)


def _part(target: Node, scope: Scope) -> Node:
    """The part of an array that is written, with an index that may be read again in the backward half."""
    if _is_steady(target.slice):
        return target
    made = copy(target)
    made.slice = _steady(made.slice, scope)
    return made


def _steady(index: Node, scope: Scope) -> Node:
    """An index whose calls, tests and parts of arrays, which the write may change, are computed once and named."""
    if _is_steady(index):
        return index
    if isinstance(index, gast.Tuple):
        return gast.Tuple(elts=[_steady(part, scope) for part in index.elts], ctx=gast.Load())
    if isinstance(index, gast.Slice):
        bounds = (index.lower, index.upper, index.step)
        return gast.Slice(*(bound if bound is None else _steady(bound, scope) for bound in bounds))
    held = scope.temporary()
    scope.emit(assign(held, index))
    return name(held)


def _is_steady(index: Node) -> bool:
    return cheap(index) and not any(isinstance(n, gast.Compare | gast.Subscript | gast.Invert) for n in walk(index))


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


def _parallel(pairs: list[tuple[Node, Node]], scope: Scope) -> None:
    """`a, b = e, f`: all right sides before any name is bound."""
    written_names = {n.id for item, _ in pairs for n in walk(item) if isinstance(n, gast.Name)}
    held: list[Node] = []
    for place, (item, value) in enumerate(pairs):
        later = {n.id for _, other in pairs[place:] for n in walk(other) if isinstance(n, gast.Name)}
        if isinstance(item, gast.Name) and item.id not in later and not isinstance(value, gast.Name):
            compute(item.id, value, scope)  # no other right side reads the name
            held.append(name(item.id))
        elif isinstance(value, gast.Name) and value.id in written_names:
            keep = scope.temporary()
            scope.emit(assign(keep, name(value.id)))
            spread_varied(keep, value, scope)
            held.append(name(keep))
        else:
            held.append(_settled(value, written_names, scope))
    for (item, _), value in zip(pairs, held, strict=True):
        _bind(item, value, scope)


def _settled(value: Node, changed: set[str], scope: Scope) -> Node:
    """The value, computed now if it reads a name that is about to be bound."""
    if any(isinstance(n, gast.Name) and n.id in changed for n in walk(value)) and not scope.varied(value):
        held = scope.temporary()
        compute(held, value, scope)
        return name(held)
    return atom(value, scope)


def _bind(item: Node, value: Node, scope: Scope) -> None:
    if isinstance(item, gast.Name):
        if not (isinstance(value, gast.Name) and value.id == item.id):
            scope.emit(assign(item.id, value))
        return
    if isinstance(item, gast.Subscript):
        scope.emit(gast.Assign([_part(item, scope)], stored(item, value, scope), None))
        return
    flat = gast.Tuple(elts=[], ctx=gast.Store())
    inner = []
    for part in item.elts:
        if isinstance(part, gast.Name):
            flat.elts.append(name(part.id, gast.Store()))
        else:
            held = scope.temporary()
            flat.elts.append(name(held, gast.Store()))
            spread_varied(held, value, scope)
            inner.append((part, held))
    if not isinstance(value, gast.Name):
        keep = scope.temporary()
        spread_varied(keep, value, scope)
        scope.emit(assign(keep, value))
        value = name(keep)
    scope.emit(gast.Assign([flat], value, None))
    for part, held in inner:
        _bind(part, name(held), scope)


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
    spread_varied(held, value, scope)
    compute(held, value, scope)
    return name(held)
