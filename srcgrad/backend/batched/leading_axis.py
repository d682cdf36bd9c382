"""The leading axis: one run of a text for all directions or all seeds (vmap), statement by statement.

What binds, writes into parts of arrays, lists and dicts, loops and unpacks; how many directions there are gets a name
where it is read again and again: `m = len(x_dot)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.backend.batched import expressions
from srcgrad.backend.batched.expressions import (
    NUMBER,
    OPEN,
    OTHER,
    UNKNOWN,
    Axis,
    Expressions,
    Lifted,
    Value,
    add_leading_axis,
    common_value,
    expand_to_rank,
    merge_values,
    object_of_name,
    of_kind,
)
from srcgrad.backend.batched.rules import rows_first
from srcgrad.backend.batched.simplify import (
    group_matrix_products,
    index_before_product,
    move_signs_inward,
    reshape_before_broadcast,
)
from srcgrad.core.errors import NoAxisError
from srcgrad.core.facts import Facts
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    assign,
    copy,
    expression,
    header,
    literal_node,
    literal_of,
    loads,
    name,
    same_tree,
    statements,
    stores,
    walk,
    written_names,
)
from srcgrad.core.visitor import replace
from srcgrad.derive.program import Program
from srcgrad.optimise.dead_code import drop
from srcgrad.optimise.inline_expressions import WIDTH, inline_within
from srcgrad.optimise.naming import number_temporaries


def rows(body: Statements, made: Node, value: Value) -> Lifted:
    """What iterating goes through: the rows of each direction."""
    if value.tag != "array" or not value.ndim:
        raise NoAxisError("a tangent of unknown rank is iterated")
    turned = expression("x.T", x=made) if value.ndim == 1 else body.text.np("np.moveaxis(x, 1, 0)", x=made)
    return turned, Value(None, True, "list", each=Value(value.ndim - 1, True))


def lift_iterator(body: Statements, node: Node) -> Lifted:
    """An iterator, and what it gives in each trip."""
    called = node.func.id if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) else ""
    if called == "range":
        return node, NUMBER
    if called in ("zip", "reversed", "enumerate") and not node.keywords:
        found = [lift_iterator(body, part) for part in node.args[: 1 if called == "enumerate" else None]]
        made = gast.Call(node.func, [one for one, _ in found] + node.args[len(found) :], [])
        if called == "reversed":
            if found[0][1].batched and isinstance(found[0][0], gast.Call):
                raise body.text.refuse("tangents are iterated backwards", node)
            return made, found[0][1]
        each = [NUMBER] if called == "enumerate" else []
        items = tuple(enumerate([*each, *(value for _, value in found)]))
        return made, Value(None, any(v.batched for _, v in items), "tuple", items)
    whole, value = body.text.look(node)
    if value.container:
        return whole, value.any_item()
    if value.batched:
        whole, value = rows(body, whole, value)
        return whole, value.any_item()
    return whole, row(value)


def row(value: Value) -> Value:
    """What is known of a row of an array."""
    if value.tag != "array" or not value.ndim:
        return UNKNOWN
    return Value(value.ndim - 1, value.batched, boolean=value.boolean)


def write(body: Statements, node: Node, target: Node, given: Node) -> Node:
    """`x_bar[i] = e`, `x_bar[i] += e`."""
    base = target.value
    part, region = body.text.look(target)
    made, value = body.text.own(given)
    if not isinstance(base, gast.Name):
        if region.batched or value.batched:
            raise body.text.refuse("a part of a part is written", node)
        return node
    holds = body.text.known.get(base.id, UNKNOWN)
    if holds.container:
        return store(body, node, base.id, holds, target, made, value)
    if value.batched and not holds.batched:
        body.axis[base.id] = None
        body.text.known[base.id] = holds = add_leading_axis(holds)
        part, region = body.text.look(target)
    if not holds.batched:
        return node
    body.text.axis.writes = True
    if value.batched:
        if region.ndim is None or value.ndim is None or value.ndim > region.ndim:
            raise body.text.refuse(f"the rank of `{gast.unparse(target)}` is not known", node)
        made = expand_to_rank(made, value, region.ndim)
    if body.final:
        part.ctx, node.value = gast.Store(), made
        if isinstance(node, gast.Assign):
            node.targets = [part]
        else:
            node.target = part
    return node


def store(body: Statements, node: Node, held: str, holds: Value, target: Node, made: Node, value: Value) -> Node:
    """`parts_bar[k] = e` of a list or dict."""
    if isinstance(target.slice, gast.Slice) or (isinstance(node, gast.AugAssign) and holds.batched):
        raise body.text.refuse("a part of a list is written", node)
    if value.batched:
        body.axis[held] = None
    having = body.has(held)
    each = common_value([holds.any_item(), value])
    known = Value(None, having, holds.tag, each=add_leading_axis(each) if having else each)
    key = literal_of(target.slice, None)
    if holds.items is not None and key in dict(holds.items):
        items = tuple((k, value if k == key else v) for k, v in holds.items)
        known = Value(None, having, holds.tag, tuple((k, add_leading_axis(v) if having else v) for k, v in items))
    body.text.known[held] = known
    if having and body.final:
        node.value = body.text.with_axis(made, value)
    return node


def added_at(body: Statements, node: Node, call: Node) -> Node:
    """`np.add.at(x_bar, i, e)`, in each direction."""
    base, (made, value) = call.args[0].id, body.text.own(call.args[2])
    holds = body.text.known.get(base, UNKNOWN)
    if value.batched:
        body.axis[base] = None
        holds = body.text.known[base] = add_leading_axis(holds)
    if not holds.batched:
        return node
    body.text.axis.writes = True
    if holds.container:
        raise body.text.refuse("a part of a list is added to", node)
    parts = expressions.parts_of(call.args[1])
    expressions.check(parts, body.text.look)
    rank = expressions.rank_left(parts, holds.ndim, body.text.look)
    if value.batched and (rank is None or value.ndim is None or value.ndim > rank):
        raise body.text.refuse(f"the rank of `{gast.unparse(call)}` is not known", node)
    if body.final:
        made = expand_to_rank(made, value, rank) if rank is not None else made
        body.text.builtin("slice(None)")
        call.args = [call.args[0], expressions.led_as_value(parts), made]
    return node


Known = dict[str, Value]


class Statements:
    """Goes through a text; only with `final` are its statements changed, after the names that have the axis are known.

    `axis` grows from pass to pass: a name has the axis if any value that is bound to it has.
    """

    def __init__(self, facts: Facts, known: Known, first: Node, axis: Axis) -> None:
        self.facts, self.axis, self.final = facts, axis.names, False
        self.text = Expressions(facts, known, first, axis)

    def block(self, block: Block) -> Block:
        """The statements of a block, with the axis."""
        made: Block = []
        for node in block:
            if not self.final and not isinstance(node, COMPOUND) and self._waits(node):
                self._leave_open(node)
                continue
            try:
                made += self._statement(node)
            except NoAxisError:
                if self.final:
                    raise
                self._leave_open(node)
        return made

    def _waits(self, node: Node) -> bool:
        """Whether a statement reads what nothing has been bound to yet."""
        known = self.text.known
        return "open" in [known[read].tag for read in loads(node) if read in known]

    def _leave_open(self, node: Node) -> None:
        """Another trip, or the next pass, knows more of what a statement binds."""
        for bound in stores(node):
            self.text.known.setdefault(bound, OPEN)

    def _statement(self, node: Node) -> Block:
        if isinstance(node, gast.If | gast.While) and self.text.look(node.test)[1].batched:
            raise self.text.refuse("a tangent is tested", node)
        method = _STATEMENTS.get(type(node))
        if method is not None:
            return method(self, node)
        if any(self.has(read) for read in [*loads(node), *stores(node)]):
            raise self.text.refuse("a statement is not understood", node)
        return [node]

    def has(self, bound: str) -> bool:
        """Whether a name has the axis."""
        return bound in self.axis

    def _bind(self, bound: str, made: Node, value: Value) -> Node:
        """Note what a name holds; what has no axis gets one if the name has it elsewhere."""
        axis = self.text.axis
        if type(getattr(made, "value", None)) is float:
            axis.zeroed[bound] = None
        if value.batched:
            self.axis[bound] = None
            if value.ndim and bound in axis.zeroed:
                axis.plain[bound] = None
        elif self.has(bound) and type(getattr(made, "value", None)) is float and bound in axis.plain:
            value = Value(0, True, zero=True)
        elif self.has(bound):
            made, value = self.text.with_axis(made, value), add_leading_axis(value)
        self.text.known[bound] = value
        return made

    def _assign(self, node: Node) -> Block:
        if len(node.targets) != 1:
            if any(self.has(bound) for bound in loads(node)):
                raise self.text.refuse("a statement is not understood", node)
            self._forget(node)
            return [node]
        target = node.targets[0]
        if isinstance(target, gast.Subscript):
            return [write(self, node, target, node.value)]
        if isinstance(target, gast.List):
            target = node.targets[0] = gast.Tuple(elts=target.elts, ctx=target.ctx)
        if isinstance(node.value, gast.Call) and self._callee(node.value):
            return self._call(node, target)
        if isinstance(target, gast.Tuple):
            return self._unpack(node, target)
        made, value = self.text.axis.look(node.value, self.text, final=self.final)
        made = self._bind(target.id, made, value)
        if self.final:
            node.value = made
        return [node]

    def _forget(self, node: Node) -> None:
        for bound in stores(node):
            self.text.known[bound] = UNKNOWN

    def _callee(self, call: Node) -> bool:
        called = getattr(call.func, "id", "")
        return called in self.facts.module.making

    def _call(self, node: Node, target: Node) -> Block:
        """A call of a derivative of the text, or of the pullback that one has given."""
        call, called = node.value, node.value.func.id
        facts: Facts = self.facts.module.making[called]
        outcome = facts.values.outcome
        if outcome is None:
            if any(self.has(read) for read in loads(node)) or facts.request.mode != "primal":
                raise self.text.refuse(f"`{called}` is recursive, or not of a kind that has the axis", node)
            self._forget(node)
            return [node]
        words = {word.arg: self.text.own(word.value) for word in call.keywords}
        args = [self.text.look(argument)[1] for argument in call.args]
        if any(value.batched for value in args):
            raise self.text.refuse(f"`{called}` takes a tangent as a primal", node)
        value, other = outcome
        pair = target.elts
        self._outcome(node, pair[0], value)
        if facts.request.mode == "vjp":
            self.text.outcomes[pair[1].id] = other
            self.text.known[pair[1].id] = OTHER
            return [node]
        self._outcome(node, pair[1], other)
        if self.final:
            for word in call.keywords:
                if word.arg in facts.names.seeds:
                    word.value = self.text.with_axis(*words[word.arg])
        return [node]

    def _outcome(self, node: Node, target: Node, value: Value) -> bool:
        """Bind what a call gives; a part of it that has no axis may not go to a name that has."""
        if isinstance(target, gast.Tuple | gast.List):
            if value.batched and not value.container:
                raise self.text.refuse("the rows of a tangent get names", node)
            parts = [value.item(k) if value.container else row(value) for k in range(len(target.elts))]
            found = [self._outcome(node, item, part) for item, part in zip(target.elts, parts, strict=True)]
            return any(found)
        if self.has(target.id) and not value.batched:
            raise self.text.refuse(f"`{target.id}` is no tangent here", node)
        self._bind(target.id, target, value)
        return value.batched

    def _unpack(self, node: Node, target: Node) -> Block:
        if any(not isinstance(item, gast.Name) for item in target.elts):
            if any(self.has(bound) for bound in [*loads(node), *stores(node)]):
                raise self.text.refuse("a statement is not understood", node)
            self._forget(node)
            return [node]
        names = [item.id for item in target.elts]
        if isinstance(node.value, gast.Tuple | gast.List) and len(node.value.elts) == len(names):
            lifted = [self.text.own(part) for part in node.value.elts]
            parts = [self._bind(bound, *one) for bound, one in zip(names, lifted, strict=True)]
            if self.final and any(self.has(bound) for bound in names):
                node.value = type(node.value)(elts=parts, ctx=gast.Load())
            return [node]
        made, value = self.text.look(node.value)
        if not value.container and value.batched:
            made, value = rows(self, made, value)
        if isinstance(node.value, gast.Call) and getattr(node.value.func, "id", "") in self.text.outcomes:
            self._outcome(node, target, value)
            if self.final:
                node.value = made
            return [node]
        for place, bound in enumerate(names):
            if self.has(bound) and not value.batched:
                raise self.text.refuse(f"`{bound}` is no tangent here", node)
            self._bind(bound, target, value.item(place) if value.container else row(value))
        if self.final and value.batched:
            node.value = made
        return [node]

    def _augassign(self, node: Node) -> Block:
        if isinstance(node.target, gast.Subscript):
            return [write(self, node, node.target, node.value)]
        whole = gast.BinOp(name(node.target.id), node.op, node.value)
        made, value = self.text.seen(whole)
        before = self.text.known.get(node.target.id, UNKNOWN)
        if not value.batched and not self.has(node.target.id):
            self.text.known[node.target.id] = before if before.ndim == value.ndim else value
            return [node]
        if before.container:
            raise self.text.refuse("a list of tangents grows", node)
        if value.ndim == 0 or not before.batched:
            new = assign(node.target.id, self._bind(node.target.id, made, value), node)
            return [self._replace_statement(node, new)]
        self.text.axis.writes = True
        self._bind(node.target.id, made, value)
        if self.final:
            node.value = made.right
        return [node]

    def _replace_statement(self, node: Node, new: Node) -> Node:
        """A statement in place of another one, of which as much is known."""
        if not self.final:
            return node
        tables: tuple[dict[Node, Any], ...] = (self.facts.tape.tangents, self.facts.origin.user, self.facts.values.spec)
        for table in tables:
            if node in table:
                table[new] = table[node]
        return new

    def _expr(self, node: Node) -> Block:
        call = node.value
        if not isinstance(call, gast.Call):
            return [node]
        function = object_of_name(call.func, self.facts, self.text.known)
        attribute = call.func.attr if isinstance(call.func, gast.Attribute) else ""
        scatters = attribute == "at" and object_of_name(call.func.value, self.facts, self.text.known) is np.add
        if (scatters or function is runtime.add_at) and isinstance(call.args[0], gast.Name):
            return [added_at(self, node, call)]
        if attribute == "append" and isinstance(call.func.value, gast.Name) and len(call.args) == 1:
            held = call.func.value.id
            made, value = self.text.own(call.args[0])
            if value.batched:
                self.axis[held] = None
            before = self.text.known.get(held, UNKNOWN)
            parts = [before.any_item()] if before.each is not None or before.items else []
            each = common_value([*parts, add_leading_axis(value) if self.has(held) else value])
            self.text.known[held] = Value(None, self.has(held), "list", each=each)
            if self.final and self.has(held):
                call.args = [self.text.with_axis(made, value)]
            return [node]
        if any(self.has(read) for read in loads(node)):
            raise self.text.refuse("a statement is not understood", node)
        return [node]

    def _if(self, node: Node) -> Block:
        before = dict(self.text.known)
        body = self.block(node.body)
        one, self.text.known = self.text.known, before
        orelse = self.block(node.orelse)
        self.text.known = merge_values(one, self.text.known)
        if self.final:
            node.body, node.orelse = body, orelse
        return [node]

    def _for(self, node: Node) -> Block:
        return self._loop(node)

    def _loop(self, node: Node) -> Block:
        final, self.final = self.final, False
        while True:
            before = dict(self.text.known)
            self._trip(node)
            self.text.known = merge_values(before, self.text.known)
            if self.text.known == before:
                break
        self.final = final
        if final:
            before = dict(self.text.known)
            node.body = self._trip(node)
            self.text.known = merge_values(before, self.text.known)
        return [node]

    def _trip(self, node: Node) -> Block:
        if isinstance(node, gast.For):
            made, value = lift_iterator(self, node.iter)
            self._targets(node.target, value)
            if self.final and value.batched:
                node.iter = made
        elif self.text.look(node.test)[1].batched:
            raise self.text.refuse("a tangent is tested", node)
        return self.block(node.body)

    def _targets(self, target: Node, value: Value) -> None:
        if isinstance(target, gast.Tuple | gast.List):
            if value.batched and not value.container:
                raise NoAxisError("the rows of a tangent get names")
            for place, item in enumerate(target.elts):
                self._targets(item, value.item(place) if value.container else row(value))
            return
        if self.has(target.id) and not value.batched:
            raise NoAxisError(f"`{target.id}` counts, and is a tangent elsewhere")
        self._bind(target.id, target, value)


_STATEMENTS: dict[type, Callable[[Statements, Node], Block]] = {
    gast.Assign: Statements._assign,
    gast.AugAssign: Statements._augassign,
    gast.For: Statements._for,
    gast.While: Statements._for,
    gast.If: Statements._if,
    gast.Expr: Statements._expr,
}


_OFTEN = 3  # reads that are worth a line


def bind_direction_count(program: Program, facts: Facts, count: Node) -> None:
    """Bind the count of directions at the beginning of a text that reads it more than twice."""
    reads = [
        (node, call)
        for node in [*statements(program.forward), program.result]
        for part in header(node)
        for call in walk(part)
        if isinstance(call, gast.Call) and same_tree(call, count)
    ]
    seeds = [one for node in statements(program.block) for one in stores(node) if one in facts.names.seeds]
    if len(reads) < _OFTEN or seeds or facts.request.mode == "vjp":
        return
    bound = facts.names.fresh("m")
    for node, call in reads:
        replace(node, call, name(bound))
    made = assign(bound, copy(count))
    facts.tape.tangents[made] = None
    program.forward.insert(0, made)


def leading_axis(program: Program, facts: Facts) -> Program:
    """Give every tangent, in mode vjp every adjoint, an axis more, the first one.

    Raises NoAxisError where it cannot be told what the text would have to be.
    """
    if facts.request.mode == "primal":
        return program
    if facts.request.mode not in ("forward", "hvp", "vjp") or facts.origin.contexts or facts.request.step is not None:
        raise NoAxisError("the text is of a kind that has no leading axis")
    if any(facts.calls_hooks(node) for node in statements(program.backward)):
        raise NoAxisError("hooks take the adjoint of one seed")
    if facts.calls.snapshots or facts.calls.recomputed:
        raise NoAxisError("the text makes values again from few states")
    axis = Axis(dict.fromkeys(facts.names.seeds))
    regroups = facts.request.mode == "forward" and facts.module.leading.regroup and not facts.request.called
    if regroups or not _is_straight(program, facts):
        known = _find_batched_names(program, facts, axis)
        if regroups:
            _regroup(program, facts, axis, known)
    final = _run(program, facts, axis, final=True)
    move_signs_inward(program, facts, axis.names)
    if facts.module.leading.regroup:
        rows_first(program, facts, axis.names)
        reshape_before_broadcast(program, facts)
    if final is not None:
        bind_direction_count(program, facts, final.text.count)
    return number_temporaries(inline_within(program, facts, WIDTH), facts) if facts.pushes_forward else program


def _is_straight(program: Program, facts: Facts) -> bool:
    """Whether one look at each line tells all: of names that are bound once, one after the other, as wholes."""
    plain = all(isinstance(node, gast.Assign) and not written_names(node) for node in program.block[:-1])
    return plain and facts.pushes_forward and _is_bound_once(program, facts)


def _is_bound_once(program: Program, facts: Facts) -> bool:
    bound = [
        *program.parameters,
        *facts.names.seeds,
        *(one for node in statements(program.block) for one in stores(node)),
    ]
    return len(bound) == len(set(bound))


def _find_batched_names(program: Program, facts: Facts, axis: Axis) -> Statements | None:
    """Go through the text until all names with the axis are found; what is known then, in forward mode."""
    loops = any(isinstance(node, gast.For | gast.While) for node in statements(program.block))
    once = not loops and _is_bound_once(program, facts)  # nothing is read before all is known of it
    while True:
        before, known = axis.state, None
        try:
            known = _run(program, facts, axis, final=False)
        except NoAxisError:
            if axis.state == before:
                raise
        if axis.state == before or (once and known is not None and not axis.writes):
            return known


def _regroup(program: Program, facts: Facts, axis: Axis, known: Statements | None) -> None:
    """Products in another order, where the ranks are known: what matters with many directions."""
    if known is not None:
        index_before_product(program, facts, lambda node: rank_of(known.text, node), known.text.known)
    after = _run(program, facts, axis, final=False)
    if after is not None:
        group_matrix_products(program, facts, after.text)
    drop(program, facts)


def rank_of(text: Expressions, node: Node) -> int | None:
    """The rank that an expression has in each direction; None where it is not known."""
    try:
        return text.look(node)[1].ndim
    except NoAxisError:
        return None


def _run(program: Program, facts: Facts, axis: Axis, *, final: bool) -> Statements | None:
    """Go through the text; what is known of its names at the end, in forward mode."""
    known = {
        parameter: of_kind(facts.kinds.of_names[parameter])
        for parameter in program.parameters
        if parameter in facts.kinds.of_names
    }
    if facts.request.mode == "vjp":
        _pullback(program, facts, known, axis, final)
        return None
    for seed, wanted in zip(facts.names.seeds, facts.request.wrt, strict=True):
        known[seed] = _seed(known.get(wanted, UNKNOWN))
    text = _first_statements(facts, known, axis)
    text.final = final
    forward = text.block(program.forward)
    backward = text.block(program.backward)
    value = program.result.value
    whole = facts.request.mode == "forward"
    output = text.text.look(value.elts[0])[1] if whole else UNKNOWN
    result, found = text.text.own(value.elts[1] if whole else value, zero=True)
    result = text.text.with_axis(result, found)
    if final:
        program.forward, program.backward = forward, backward
        facts.values.outcome = output, add_leading_axis(found)
        if whole:
            value.elts[1] = result
        else:
            program.result.value = result
    return text


def _pullback(program: Program, facts: Facts, known: dict[str, Value], axis: Axis, final: bool) -> None:
    text = _first_statements(facts, known, axis)
    text.block(program.forward)
    output = text.text.look(program.result.value.elts[0])[1]
    if facts.module.leading.output is not None and not facts.request.called:
        output = of_kind(facts.module.leading.output)
        if isinstance(program.result.value.elts[0], gast.Name):
            text.text.known[program.result.value.elts[0].id] = output
    seed = facts.names.seeds[0]
    text.text.known[seed] = _seed(output)
    text.text.first = _first_of_seed(seed, text.text.known[seed])
    text.block(facts.tape.fresh_copies)
    text.final = final
    backward = text.block(program.backward)
    result, found = text.text.own(program.result.value.elts[1], zero=True)
    if final:
        program.backward = backward
        program.result.value.elts[1] = text.text.with_axis(result, found)
        facts.values.outcome = output, add_leading_axis(found)


def _seed(value: Value) -> Value:
    """What is known of a tangent or a seed of a value."""
    if value == OTHER:
        raise NoAxisError("an argument, or the output, is an object")
    return add_leading_axis(value)


def _first_statements(facts: Facts, known: dict[str, Value], axis: Axis) -> Statements:
    first = (
        name("") if facts.request.mode == "vjp" else _first_of_seed(facts.names.seeds[0], known[facts.names.seeds[0]])
    )
    return Statements(facts, known, first, axis)


def _first_of_seed(seed: str, value: Value) -> Node:
    """The first array of a seed: its length is the number of directions."""
    path: Node = name(seed)
    while value.container:
        having = [(key, item) for key, item in value.items or () if item.batched]
        if not having:
            raise NoAxisError("the argument, or the output, holds no array")
        key, value = having[0]
        path = gast.Subscript(path, literal_node(key), gast.Load())
    return path
