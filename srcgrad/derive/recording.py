"""Recording: what the backward half reads of the forward half, on stacks, in names, by checkpoints.

To-be-recorded analysis finds which values are lost by being bound anew, and how each could be kept. A name that is
bound already (carried by a loop, or changed in a branch) is saved just before it is bound again. A name that each trip
binds afresh is saved at the end of the block in which it lives.

Three kinds need no record. Where a value stands in an array, `a[i] = t`, and nothing writes into that part again, `t =
a[i]` brings it back. What every trip computes the same, `t = c**2`, still has its value after the loop; not so in a
text that will be differentiated again, where the adjoint of one value for all trips would begin before a loop without
trips has bound it. Of a sum, `s = s + e`, nothing is read.

The loop back goes through the trips from the last to the first. A checkpointed loop keeps few states, and its backward
half is handed all of them, last first.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable
from dataclasses import field

import gast
import numpy as np

from srcgrad.analysis.array_regions import Integers, Where, regions, regions_are_disjoint
from srcgrad.core.control_flow import ENTRY, definitions
from srcgrad.core.facts import Facts, copy_with_facts, stack
from srcgrad.core.identity import record
from srcgrad.core.namespace import Step
from srcgrad.core.printer import expression as spelled
from srcgrad.core.rules import makes_new
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    children,
    expression,
    index_rank,
    is_basic,
    is_integer,
    is_write,
    literal_node,
    literal_value,
    loads,
    name,
    parameters,
    part_written,
    statement,
    statements,
    stores,
    target,
    written_names,
)
from srcgrad.core.visitor import places as each_place
from srcgrad.core.visitor import rewrite_statements
from srcgrad.derive.in_place_writes import (
    changed_list,
    kept_item,
    kept_part,
    restore_items,
    swapped_back,
    swaps,
    write_back,
)
from srcgrad.derive.program import Program
from srcgrad.frontend.context import cheap
from srcgrad.frontend.resolve import binding_of


def accumulators(function: Node, facts: Facts) -> Node:
    """Find accumulators: their adjoint passes through the loop unchanged, so nothing need be recorded for it.

    If broadcasting widens s on the way, the adjoint stays wide until the statement before the loop is undone,
    which must be elementwise (or a literal) for that to be right.
    """
    given, binding = parameters(function), _binding(function)
    for loop in statements(function.body):
        if isinstance(loop, gast.For | gast.While):
            inside: dict[Node, None] = {}
            for node in loop.body:
                name = _name_of_update(node, facts)
                if name is None or name in given:
                    continue
                inside = inside or dict.fromkeys(statements([loop]))
                if _used_by_update_only(name, node, inside) and _plain_start(binding[name], inside, facts):
                    facts.tape.accumulators[node] = (name,)
    return function


def _binding(function: Node) -> dict[str, dict[Node, None]]:
    """The statements that bind each name, or change its contents, in order."""
    found: dict[str, dict[Node, None]] = {}
    for node in statements(function.body):
        for name in stores(node):
            found.setdefault(name, {})[node] = None
    return found


def _name_of_update(node: Node, facts: Facts) -> str | None:
    """The s of `s = s + e` or `s = s - e`."""
    bound = target(node)
    operation = facts.resolution.operation.get(node.value) if bound is not None else None
    if operation is None or operation.function not in (np.add, np.subtract):
        return None
    operands = list(operation.bound.values())
    held = [isinstance(o, gast.Name) and o.id == bound for o in operands]
    if held == [True, False] or (held == [False, True] and operation.function is np.add):
        return bound
    return None


def _used_by_update_only(name: str, update: Node, loop: dict[Node, None]) -> bool:
    """Whether the statements of a loop read and bind the name in this one only."""
    return all(name not in loads(n) and name not in stores(n) for n in loop if n is not update)


def _plain_start(binding: dict[Node, None], loop: dict[Node, None], facts: Facts) -> bool:
    """Whether all other bindings of a name carry no derivative, or are elementwise, and stand outside loops."""
    for node in binding:
        if node not in loop:
            operation = facts.operation_of(node)
            elementwise = operation is not None and operation.rule is not None and operation.rule.kind == "elementwise"
            if not elementwise and (operation is not None or not isinstance(node, gast.Assign)):
                return False
            if not isinstance(node.targets[0], gast.Name):
                return False
    return True


Place = tuple[Node, str]  # a compound statement and which of its blocks


@record
class Overwrites:
    """`before[s]`: names to save before statement s; `ends[block]`: names to save at the end of a block.

    `looped` holds the statements inside some loop.
    """

    before: dict[Node, list[str]] = field(default_factory=dict)
    ends: dict[Place, list[str]] = field(default_factory=dict)
    looped: dict[Node, None] = field(default_factory=dict)


def overwrites(function: Node, facts: Facts) -> Overwrites:
    """All places where some value is bound anew while an older one may still be wanted."""
    found = Overwrites()
    _note_rebound_names(function, facts)
    _block(function.body, dict.fromkeys(parameters(function)), False, found)
    return found


def _note_rebound_names(function: Node, facts: Facts) -> None:
    """Names bound in several places, and counters of loops over `range`."""
    seen = dict.fromkeys(parameters(function))
    for node in statements(function.body):
        for name in stores(node):
            if name in seen:
                facts.activity.rebound[name] = None
            seen[name] = None
        if isinstance(node, gast.For) and isinstance(node.target, gast.Name) and not isinstance(node.iter, gast.Name):
            facts.values.integers[node.target.id] = None
            facts.values.counting[node.target.id] = None
        if isinstance(node, gast.For | gast.While):
            for inner in statements(node.body):
                if not isinstance(inner, gast.For):
                    facts.activity.rebound.update(dict.fromkeys(stores(inner)))


def _block(block: Block, bound: dict[str, None], looped: bool, found: Overwrites) -> None:
    for node in block:
        if looped:
            found.looped[node] = None
        lost = [name for name in dict.fromkeys(stores(node)) if name in bound]
        if lost:
            found.before[node] = lost
        for name in stores(node):
            bound[name] = None
        if isinstance(node, gast.If):
            sides = [dict(bound), dict(bound)]
            _block(node.body, sides[0], looped, found)
            _block(node.orelse, sides[1], looped, found)
            bound.update(sides[0] | sides[1])
        elif isinstance(node, gast.For | gast.While):
            _loop(node, bound, found)


def _loop(node: Node, bound: dict[str, None], found: Overwrites) -> None:
    inside = dict(bound)
    _block(node.body, inside, True, found)
    fresh = [s for n in statements(node.body) for s in stores(n) if s not in bound]
    touched: dict[Place, dict[str, Block]] = {}
    for name in dict.fromkeys(fresh):
        place = _home(node, "body", name, touched)
        if place is not None:
            found.ends.setdefault(place, []).append(name)
    bound.update(inside)


def _home(owner: Node, which: str, name: str, touched: dict[Place, dict[str, Block]]) -> Place | None:
    """The smallest block, loops not entered, that holds all that happens to a name; None if a loop holds it."""
    touching = _touching(owner, which, touched).get(name, [])
    if len(touching) == 1:
        only = touching[0]
        header = name in stores(only) or name in loads(only)
        if isinstance(only, gast.If) and not header:
            sides = [side for side in ("body", "orelse") if name in _touching(only, side, touched)]
            if len(sides) == 1:
                return _home(only, sides[0], name, touched)
        if isinstance(only, gast.For | gast.While) and (not header or isinstance(only, gast.For)):
            return None
    return (owner, which)


def _touching(owner: Node, which: str, touched: dict[Place, dict[str, Block]]) -> dict[str, Block]:
    """The statements of a block that read or bind each name, in themselves or inside, looked up once."""
    if (owner, which) not in touched:
        found = touched[owner, which] = dict[str, Block]()
        for node in getattr(owner, which):
            for one in dict.fromkeys(one for n in statements([node]) for one in (*stores(n), *loads(n))):
                found.setdefault(one, []).append(node)
    return touched[owner, which]


_WHOLE = gast.Constant(value=Ellipsis, kind=None)


def names_kept_in_arrays(function: Node, facts: Facts) -> dict[str, Node]:
    """Names whose values stand in an array until the end, with the statements that store them."""
    places = regions(function.body)
    homes = {place.node: place.block for place in each_place(function.body)}
    known, binding, given = _integers(function, facts), _binding(function), parameters(function)
    found: dict[str, Node] = {}
    for node, where in places.items():
        if not where.loops or not _is_candidate(node, facts):
            continue
        definition = facts.activity.definition[node.value.id]
        if homes.get(definition) is not homes[node] or places[definition].position > where.position:
            continue
        touching = {other: places[other] for other in binding[part_written(node).value.id]}
        if _keeps(node, touching, facts) and _lasts(node, where, touching, known, given, facts):
            found.setdefault(node.value.id, node)
    return found


def brought_back(node: Node, like: Node, facts: Facts) -> Node:
    """`t = a[i]`, for a statement `a[i] = t`; a copy of what is an array, since it may change in place."""
    part = part_written(node)
    read = expression(
        "array[index]", array=copy_with_facts(part.value, facts), index=copy_with_facts(part.slice, facts)
    )
    if not facts.values.spec[node.value].scalar:
        read = expression("part.copy()", part=read)
    return assign(node.value.id, read, like)


def _integers(function: Node, facts: Facts) -> Integers:
    bound = Counter(s for node in statements(function.body) for s in stores(node))
    inside = {s for n in statements(function.body) if isinstance(n, gast.For | gast.While) for s in _bound_in(n)}
    once = {s for s, times in bound.items() if times == 1} | (set(parameters(function)) - set(bound))
    return Integers(frozenset(once - inside), facts.values.counters)


def _bound_in(loop: Node) -> list[str]:
    return [s for node in [loop, *statements(loop.body)] for s in stores(node)]


def _is_candidate(node: Node, facts: Facts) -> bool:
    """Whether a statement stores a whole value, bound by one statement, in a part of the same shape."""
    if not isinstance(node, gast.Assign) or not is_write(node) or not isinstance(node.value, gast.Name):
        return False
    part, value = part_written(node), node.value.id
    index = set(loads(part.slice))
    if not isinstance(part.value, gast.Name) or not index <= facts.values.counters:
        return False
    if (
        not is_basic(part.slice, frozenset(facts.values.integers))
        or value in facts.memory.mutable
        or value in facts.memory.viewed
    ):
        return False
    definition = facts.activity.definition.get(value)
    if definition is None or target(definition) != value or not _fits(node, facts):
        return False
    return value in facts.activity.active


def _fits(node: Node, facts: Facts) -> bool:
    """Whether the value has the shape of the part."""
    spec, part = facts.values.spec.get(node.value), part_written(node)
    whole = facts.values.value_spec.get(part.value.id)
    if spec is None or whole is None or facts.list_kind(part.value.id) or part.value.id in facts.kinds.containers:
        return False
    rank = index_rank(part.slice, whole.ndim, frozenset(facts.values.integers))
    if rank == 0:
        return spec.scalar
    found = facts.values.part_spec.get(node)
    return found is not None and rank is not None and spec.ndim == rank and found.shape == spec.shape


def _keeps(node: Node, places: dict[Node, Where], facts: Facts) -> bool:
    """Whether the array holds the value to the last bit: it is of float64, or of dtypes that the value's are among."""
    spec, array = facts.values.spec[node.value], part_written(node).value.id
    whole = facts.values.value_spec[array]
    if spec.dtype and spec.dtype <= whole.dtype:
        return True
    return all(_is_float64(other.value, facts) for other in places if target(other) == array)


def _is_float64(made: Node, facts: Facts) -> bool:
    """`np.zeros(shape)` and the like, with no dtype."""
    if not isinstance(made, gast.Call) or len(made.args) != 1 or made.keywords:
        return False
    found = binding_of(made.func, facts, facts.names.local)
    return found is not None and any(found.object is function for function in (np.zeros, np.ones, np.empty))


def _lasts(
    node: Node, place: Where, touching: dict[Node, Where], known: Integers, given: list[str], facts: Facts
) -> bool:
    """Whether nothing that runs later writes into the part, and the array stays the same one.

    `touching` are the statements that bind the array or write into it.
    """
    part = part_written(node)
    array = part.value.id
    if array in facts.memory.swapped or array not in facts.memory.mutable:
        return False
    bound = 1 if array in given else 0
    integers = frozenset(facts.values.integers)
    for other, where in touching.items():
        if not is_write(other) or array not in written_names(other):
            bound += 1
            continue
        changed = part_written(other)
        exact = isinstance(changed.value, gast.Name) and is_basic(changed.slice, integers)
        if not regions_are_disjoint(part.slice, place, changed.slice if exact else _WHOLE, where, known):
            return False
    return bound == 1


_LITERAL = (gast.Constant, gast.Name, gast.List, gast.Tuple, gast.UnaryOp, gast.BinOp)


def loop_invariant_names(function: Node, facts: Facts) -> dict[str, None]:
    """Names bound by one statement, in a loop, whose operands no loop binds, and nothing writes into."""
    if facts.module is None or facts.module.inline:
        return {}
    loops = [node for node in statements(function.body) if isinstance(node, gast.For | gast.While)]
    looped = dict.fromkeys(node for loop in loops for node in statements(loop.body))
    bound = Counter(one for node in dict.fromkeys([*loops, *looped]) for one in stores(node))
    found: dict[str, None] = {}
    for node in looped:  # in the order of the text
        kept = target(node)
        if kept is None or bound[kept] > 1 or kept not in facts.activity.definition or not _is_pure(node, facts):
            continue
        operands = [read for read in loads(node) if read not in found]
        if all(_is_intact(one, facts) for one in (kept, *operands)) and not any(bound[one] for one in operands):
            found[kept] = None
    return found


def _is_pure(node: Node, facts: Facts) -> bool:
    """Whether a statement is an operation of the table, or makes an array: its value hangs on its operands alone."""
    operation = facts.resolution.operation.get(node.value)
    if operation is None:
        return _makes_array(node.value, facts)
    return operation.kind == "op" and operation.rule is not None


def _makes_array(call: Node, facts: Facts) -> bool:
    """Whether a call makes a new array of literals and local names: `np.array([[1.0, -1.0], [-1.0, a]])`."""
    if not isinstance(call, gast.Call) or call.keywords or not all(_is_display(part, facts) for part in call.args):
        return False
    found = binding_of(call.func, facts, facts.names.local)
    return found is not None and makes_new(found.object, call)


def _is_display(part: Node, facts: Facts) -> bool:
    """Whether an expression is made of literals and local names: those of a module may be bound anew by a call."""
    if not isinstance(part, _LITERAL):
        return False
    if isinstance(part, gast.Name):
        return part.id in facts.names.local
    return all(_is_display(below, facts) for below in children(part))


def _is_intact(read: str, facts: Facts) -> bool:
    """Whether nothing writes into what a name holds."""
    changing = (
        facts.memory.mutable,
        facts.memory.views,
        facts.memory.viewed,
        facts.memory.added_to,
        facts.memory.swapped,
        facts.kinds.containers,
    )
    return not any(read in table for table in changing) and not facts.list_kind(read)


def backwards(trips: Node) -> Node:
    """What the backward loop of `for i in trips` goes through: `reversed(range(n))` of `range(n)`.

    The tree that is given becomes part of the result. A range downwards is one upwards then: `range(n - 1)` of
    `range(n - 2, -1, -1)`.

    >>> from srcgrad.core.printer import expression as spell
    >>> for text in ("range(1, n)", "reversed(range(n))", "range(n - 1, -1, -1)", "range(n, k, -1)", "range(n, 0, -2)"):
    ...     print(spell(backwards(expression(text))))
    reversed(range(1, n))
    range(n)
    range(n)
    range(k + 1, n + 1)
    reversed(range(n, 0, -2))
    """
    called = getattr(trips.func, "id", "") if isinstance(trips, gast.Call) else ""
    if called == "reversed":
        upwards: Node = trips.args[0]
        return upwards
    if called != "range" or len(trips.args) != 3 or not is_integer(trips.args[2]) or literal_value(trips.args[2]) != -1:
        return expression("reversed(trips)", trips=trips)
    first, beyond = (_one_more(bound) for bound in trips.args[1::-1])
    zero = isinstance(first, gast.Constant) and first.value == 0
    trips.args = [beyond] if zero else [first, beyond]
    return trips


def _one_more(bound: Node) -> Node:
    """`n - 1` for `n - 2`, `n` for `n - 1`, 0 for -1, `n + 1` for anything else."""
    if is_integer(bound):
        return literal_node(literal_value(bound) + 1)
    less = isinstance(bound, gast.BinOp) and isinstance(bound.op, gast.Sub) and is_integer(bound.right)
    by = literal_value(bound.right) if less else 0
    if by == 1:
        left: Node = bound.left
        return left
    if by > 1:
        bound.right = literal_node(by - 1)
        return bound
    return expression("bound + 1", bound=bound)


def own_statements(facts: Facts) -> dict[Node, Node]:
    """The statements of the bodies of checkpointed loops: what they overwrite, the snapshots bring back."""
    return {inner: loop for loop in facts.calls.checkpointed for inner in loop.body}


def backward_loop(loop: Node, body: Block, saves: Saves) -> Block:
    """`for t, h in states.backwards(step, w): ...`, and in the forward half `states.append(h)` before each trip."""
    facts = saves.facts
    call, step = _call(loop, facts)
    first = 1 if step.item else 0
    state = call.args[first : first + len(step.state)]
    constants = call.args[first + len(step.state) :]
    states = facts.names.fresh("states")
    facts.calls.snapshots[states] = loop
    made = at(assign(states, _snapshots(loop, step, facts)), loop)
    keep = statement(f"{states}.append()")
    keep.value.args = [copy_with_facts(item, facts) for item in state]
    for push in (made, keep):
        facts.tape.pushes[at(push, loop)] = states
    saves.before.setdefault(loop, []).append(made)
    saves.before.setdefault(loop.body[0], []).append(keep)
    head = _from_stack(loop, states, saves) if loop in saves.lost.looped else []
    walk_back = expression(f"{states}.backwards()")
    walk_back.args = [copy_with_facts(call.func, facts), *(copy_with_facts(item, facts) for item in constants)]
    names = [name(item.id, gast.Store()) for item in state]
    target = names[0] if len(names) == 1 else gast.Tuple(elts=names, ctx=gast.Store())
    if step.item:
        target = gast.Tuple(elts=[name(loop.target.id, gast.Store()), target], ctx=gast.Store())
    changed = [item.id for item in state if item.id in facts.memory.mutable] if facts.request.mode == "vjp" else []
    own = [at(statement(f"{one} = {one}.copy()"), loop) for one in changed]  # it changes before another walk back
    return [*head, at(gast.For(target, walk_back, body, [], None), loop), *own]


def _call(loop: Node, facts: Facts) -> tuple[Node, Step]:
    calls = [n.value for n in loop.body if isinstance(getattr(n, "value", None), gast.Call)]
    found = [
        call
        for call in calls
        if call in facts.resolution.operation and isinstance(facts.resolution.operation[call].function, Step)
    ]
    assert len(found) == 1, "the body of a checkpointed loop is one call"
    return found[0], facts.resolution.operation[found[0]].function


def _snapshots(loop: Node, step: Step, facts: Facts) -> Node:
    """`Snapshots(range(n), slots=s)`; the number of trips alone where the step does not read the item."""
    made = expression(f"{facts.library('Snapshots')}()")
    if isinstance(loop, gast.For):
        trips = copy_with_facts(loop.iter, facts)
        if trips.func.id == "reversed":
            trips = expression("trips[::-1]", trips=trips.args[0])
        if not step.item:
            single = isinstance(trips, gast.Call) and len(trips.args) == 1
            trips = trips.args[0] if single else expression("len(trips)", trips=trips)
        made.args = [trips]
    slots = facts.calls.checkpointed[loop]
    if getattr(slots, "value", 0) is not None:
        made.keywords = [gast.keyword("slots", copy_with_facts(slots, facts))]
    further = len(step.results) - len(step.state)
    if further:
        made.keywords.append(gast.keyword("further", literal_node(further)))
    return made


def _from_stack(loop: Node, states: str, saves: Saves) -> Block:
    """A loop inside of another one has snapshots for each of its runs."""
    facts = saves.facts
    kept = facts.names.fresh(stack(states))
    saves.stacks.append(kept)
    push = at(statement(f"{kept}.append({states})"), loop)
    facts.tape.pushes[push] = kept
    saves.after.setdefault(loop, []).append(push)
    again = ".copy()" if facts.request.mode == "vjp" else ""
    return [at(statement(f"{states} = {kept}.pop(){again}"), loop)]


@record(frozen=True)
class SavedValue:
    """A value that the forward half leaves for the backward half.

    `name` is its name in the text, `value` what it holds: a stack such as `x_stack` holds x of each trip. `line` is
    the line of the user's text that binds it, 0 for an argument; `needed` are the lines that stand above what reads it
    in the backward half.
    """

    name: str
    value: str
    line: int
    needed: tuple[int, ...]


def saved_values(program: Program, facts: Facts) -> tuple[SavedValue, ...]:
    """What the backward half reads and the forward half has bound: arguments first, then as the text binds it."""
    reaching = definitions(program.block, program.parameters)
    place = {node: k for k, node in enumerate(statements(program.block))}
    forward = set(statements(program.forward))
    order: dict[str, tuple[int, int]] = {}
    needed: dict[str, set[int]] = {}
    backward = [node for node in statements(program.backward) if node not in facts.resolution.effects]
    for node, read in [(n, r) for n in backward for r in loads(n)]:
        for number in reaching.at(node, read):
            position = reaching.of[number][0]
            made = None if position == ENTRY else reaching.graph.nodes[position]
            if (made is None and read not in facts.names.seeds) or made in forward:
                first = (-1, 0) if made is None else (place[made], getattr(made, "lineno", 0))
                order[read] = min(order.get(read, first), first)
                needed.setdefault(read, set()).add(getattr(node, "lineno", 0))
    arguments = {name: k for k, name in enumerate(program.parameters)}
    names = sorted(order, key=lambda name: (order[name][0], arguments.get(name, 0)))
    values = {name: (name, order[name][1]) for name in names}
    for node in statements(program.forward):
        stack = facts.tape.pushes.get(node)
        if stack in values and isinstance(node, gast.Expr):
            values[stack] = spelled(node.value.args[0]), node.lineno
    return tuple(SavedValue(name, *values[name], tuple(sorted(needed[name] - {0}))) for name in names)


_AGAIN = ("np.add", "np.subtract", "np.multiply", "np.divide", "np.negative", "np.positive", "np.transpose")


@record
class Saves:
    """Decides the form of each save and makes the statements of both halves."""

    facts: Facts
    lost: Overwrites
    before: dict[Node, Block] = field(default_factory=dict)  # forward statements before a statement
    ends: dict[Place, Block] = field(default_factory=dict)  # ... at the end of a block
    after: dict[Node, Block] = field(default_factory=dict)  # ... after a statement
    tests: dict[Node, str] = field(default_factory=dict)  # `if` -> name of its boolean
    kept: dict[tuple[Node, str], str] = field(default_factory=dict)  # (statement or owner, name) -> where
    stacks: list[str] = field(default_factory=list)

    standing: dict[str, Node] = field(default_factory=dict)  # name -> the statement that stores it for good
    brought: dict[str, None] = field(default_factory=dict)  # ... those that are read from where they stand
    steady: dict[str, None] = field(default_factory=dict)  # names that hold the same value in every trip

    def __post_init__(self) -> None:
        loops = [node for node in self.lost.looped if isinstance(node, gast.For)]
        rows = {read for node in loops for read in loads(node.iter)}  # and bounds, read where the loop begins
        writes = [part_written(node) for node in self.lost.looped if is_write(node)]
        indices = {read for part in writes for read in loads(part.slice)}
        shared = self._read_elsewhere()
        for node in self.lost.looped:
            bound = target(node)
            if (
                bound not in self.facts.names.temporaries
                or bound not in self.facts.activity.definition
                or bound in rows
                or bound in shared
            ):
                continue
            if self._is_cheap(node) and (bound not in indices or self._is_settled(node)):
                self.facts.tape.again[bound] = bound
        shown = [one for one in self.facts.memory.viewed if not self._is_taken(one)]
        self.facts.tape.again.update({one: one for one in shown})  # they show what an array holds by then
        for bound in self.standing:
            self.facts.tape.again.pop(bound, None)

    def _read_elsewhere(self) -> set[str]:
        """Temporaries that another statement of the user reads, whose adjoint comes first: `u_mask` of `np.sqrt(u)`."""
        users, masks = self.facts.origin.user, self.facts.idioms.supports
        made = {target(node): users.get(node, node) for node in self.lost.looped}
        found: set[str] = set()
        for node in self.lost.looped:
            user, read = users.get(node, node), loads(node)
            read += tuple(masks[one].held for one in (*read, *stores(node)) if one in masks)
            found.update(one for one in read if one in made and made[one] is not user)
        return found & set(self.facts.names.temporaries)

    def restore_before(self, node: Node) -> Block:
        """Backward statements that undo a statement's binding of names that held something."""
        if node in self.facts.calls.steps:
            return []
        looped = node in self.lost.looped
        forward = self.before.setdefault(node, [])
        lost = self.lost.before.get(node, [])
        if lost and swaps(node, self.facts):
            lost = lost[:1]  # one statement brings all of them back
        return [self._restore(node, primal, looped, forward) for primal in reversed(lost)]

    def restore_ends(self, place: Place) -> Block:
        """Backward statements at the head of a block: what each trip bound afresh comes back."""
        if place[0] in self.facts.calls.checkpointed:
            return []
        forward = self.ends.setdefault(place, [])
        made: Block = []
        items: Block = []
        for primal in self.lost.ends.get(place, []):
            definition = self.facts.activity.definition.get(primal)
            here: Block = getattr(place[0], place[1])
            if definition is not None and definition in here and self._is_item(definition, place[0]):
                items.append(definition)
            elif self.standing.get(primal) in here:
                made.append(brought_back(self.standing[primal], place[0], self.facts))
                self.brought[primal] = None
            elif primal not in self.facts.tape.again and primal not in self.steady:
                made.append(self._restore(place[0], primal, True, forward))
        items.sort(key=getattr(place[0], place[1]).index)
        return made + self.again(items, items)

    def _restore(self, where: Node, primal: str, looped: bool, forward: Block) -> Node:
        if changed_list(where, self.facts) == primal:
            return restore_items(where, self.facts)
        if swaps(where, self.facts):
            return swapped_back(where)
        known = (where, primal)
        if known not in self.kept:
            self.kept[known] = self._save(where, primal, looped, forward)
        kept = self.kept[known]
        if is_write(where) and primal in written_names(where):
            made = write_back(where, f"{kept}.pop()" if looped else kept, self.facts)
            self.facts.tape.restores[made] = kept
            return at(made, where)
        made = statement(f"primal = {kept}.pop()" if looped else f"primal = {kept}", primal=primal)
        self.facts.tape.restores[made] = kept
        return at(made, where)

    def _save(self, where: Node, primal: str, looped: bool, forward: Block) -> str:
        base = self.facts.names.base.get(primal, primal)
        value: Node = name(primal)
        if is_write(where) and primal in written_names(where):
            value = (kept_item if self.facts.list_kind(primal) else kept_part)(where, self.facts)
        elif primal in self.facts.memory.mutable:
            value = expression("array.copy()", array=primal)
        if looped:
            kept = self.facts.names.fresh(stack(base))
            self.facts.tape.stacks.setdefault(primal, kept)
            self.stacks.append(kept)
            push = statement(f"{kept}.append(value)", value=value)
        else:
            kept = self.facts.names.numbered_name(base)
            push = statement(f"{kept} = value", value=value)
        self.facts.tape.pushes[push] = kept
        forward.append(at(push, where))
        return kept

    def again(self, run: Block, items: Iterable[Node] = ()) -> Block:
        """Cheap intermediate values of a statement in a loop are computed again rather than recorded."""
        made = []
        for node in run:
            bound = target(node)
            if bound in self.facts.tape.again or node in items:
                clone = assign(str(bound), copy_with_facts(node.value, self.facts), node)
                operation = self.facts.resolution.operation.get(node.value)
                if operation is not None:
                    self.facts.resolution.operation[clone.value] = operation
                made.append(clone)
        return made

    def _is_taken(self, bound: str) -> bool:
        """Whether a name holds what a list gave away: `t = states.pop()` again would read `t` before it is back."""
        made = self.facts.activity.definition.get(bound)
        return made is not None and bool(changed_list(made, self.facts))

    def _is_cheap(self, node: Node) -> bool:
        value = node.value
        operation = self.facts.resolution.operation.get(value)
        if operation is None:
            return cheap(value)
        if operation.kind != "op" or operation.rule is None:
            return False
        if operation.function is operator.getitem:
            return is_basic(operation.bound["index"], self._integers_not_restored())
        return operation.rule.name in _AGAIN

    def _is_item(self, node: Node, loop: Node) -> bool:
        """Whether a statement in a loop reads an element of an array that never changes: `a = x[i]`.

        Of what the derivative does not enter that is an item over which the loop goes: the text looks at such things.
        """
        if target(node) is None or target(node) in self.facts.memory.mutable:
            return False  # what an inner loop bound last is kept
        operation = self.facts.resolution.operation.get(node.value)
        if operation is None:
            plain = self.facts.origin.user.get(node, node) in self.facts.origin.foreign
            if plain and all(read in self._integers_not_restored() for read in loads(node)):
                return True
            base = getattr(getattr(node.value, "value", None), "id", "")
            if not plain or node.lineno != loop.lineno or base not in parameters(self.facts.source.tree):
                return False
        if operation is not None and operation.function is not operator.getitem:
            return False
        source, *places = loads(node)
        never = source not in self.facts.memory.mutable and source not in self.facts.memory.viewed
        return (
            never
            and source not in self.facts.activity.rebound
            and all(p in self._integers_not_restored() for p in places)
        )

    def _integers_not_restored(self) -> frozenset[str]:
        """Names of integers that need no restore: loops going back bind their counters, others are bound once."""
        facts = self.facts
        return frozenset(
            one for one in facts.values.integers if one in facts.values.counting or one not in facts.activity.rebound
        )

    def _is_settled(self, node: Node) -> bool:
        """Whether the index of a write may be computed before what the write replaced is back."""
        return not any(
            read in table
            for read in loads(node)
            for table in (self.facts.memory.mutable, self.facts.memory.viewed, self.facts.names.temporaries)
        )

    def test(self, node: Node) -> Node:
        """The test of an `if` for the backward half."""
        if self._intact(node):
            return copy_with_facts(node.test, self.facts)
        if node not in self.tests:
            self.tests[node] = self.facts.names.fresh("taken")
        boolean = self.tests[node]
        if node not in self.lost.looped:
            return name(boolean)
        known = (node, boolean)
        if known not in self.kept:
            kept = self.facts.names.fresh(stack(boolean))
            self.kept[known] = kept
            self.stacks.append(kept)
        return expression(f"{self.kept[known]}.pop()")

    def _intact(self, node: Node) -> bool:
        """Whether a test reads only what keeps its value: names bound once, or counted by a loop around."""
        return all(read not in self.facts.activity.rebound for read in loads(node)) and cheap(node.test)

    def row_index(self, node: Node) -> str:
        """The name that counts the rows in the backward form of `for row in A`."""
        known = (node, "row index")
        if known not in self.kept:
            self.kept[known] = self.facts.names.fresh("i")
        return self.kept[known]

    def loop(self, node: Node, body: Block) -> Node:
        """The backward loop around `body`."""
        if isinstance(node, gast.While):
            return self._count_trips(node, body)
        if isinstance(node.iter, gast.Name):
            return self._rows(node, body)
        trips = backwards(copy_with_facts(node.iter, self.facts))
        return at(gast.For(copy_with_facts(node.target, self.facts), trips, body, [], None), node)

    def _count_trips(self, node: Node, body: Block) -> Node:
        known = (node, "number of trips")  # no identifier
        if known not in self.kept:
            trips = self.facts.names.fresh("trips")
            self.kept[known] = trips
            self.before.setdefault(node, []).append(at(statement(f"{trips} = 0"), node))
            self.ends.setdefault((node, "body"), []).append(at(statement(f"{trips} += 1"), node))
            if node in self.lost.looped:
                kept = self.facts.names.fresh(stack(trips))
                self.stacks.append(kept)
                self.kept[(node, "trips stack")] = kept
                push = statement(f"{kept}.append({trips})")
                self.facts.tape.pushes[push] = kept
                self.after.setdefault(node, []).append(at(push, node))
        source = self.kept.get((node, "trips stack"))
        count = expression(f"range({source}.pop())" if source else f"range({self.kept[known]})")
        made = gast.For(name(self.facts.unused_name, gast.Store()), count, body, [], None)
        self.facts.tape.whiles[made] = node
        return at(made, node)

    def _rows(self, node: Node, body: Block) -> Node:
        index = self.row_index(node)
        rows = node.iter.id
        trips = expression(f"reversed(range(len({rows})))")
        read = at(assign(node.target.id, expression(f"{rows}[{index}]")), node)
        return at(gast.For(name(index, gast.Store()), trips, [read, *body], [], None), node)

    def forward(self, block: Block) -> Block:
        """The forward half with all saves in their places."""
        heads = [statement(f"{kept} = []") for kept in self.stacks]
        for node, kept in zip(heads, self.stacks, strict=True):
            self.facts.tape.pushes[node] = kept
        return heads + rewrite_statements(block, self._saving)

    def _saving(self, node: Node) -> Block:
        """A statement, with what is saved before it, behind it, and where its blocks end."""
        for which in ("body", "orelse"):
            if getattr(node, which, None):
                setattr(node, which, getattr(node, which) + self.ends.get((node, which), []))
        test = self._hold_test(node) if node in self.tests else []
        return [*self.before.get(node, []), *test, node, *self.after.get(node, [])]

    def _hold_test(self, node: Node) -> Block:
        boolean = self.tests[node]
        made = [at(assign(boolean, node.test), node)]
        node.test = name(boolean)
        kept = self.kept.get((node, boolean))
        if kept is not None:
            push = statement(f"{kept}.append({boolean})")
            self.facts.tape.pushes[push] = kept
            made.append(at(push, node))
        return made
