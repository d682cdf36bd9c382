"""Which statements become one kernel, and what is computed again rather than kept.

What kernels are given among it: operands of products, and nearest places.

The target opencl: groups of array statements, and the sums that end them, run as kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.backend.text.module import OutputParts
from srcgrad.core.facts import Facts, function_called
from srcgrad.core.target import Target
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    at,
    children,
    copy,
    literal_integer,
    loads,
    name,
    parse_tree,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import rewrite_blocks, rewrite_statements
from srcgrad.derive.program import Program, kept_alive
from srcgrad.opencl.kernels.groups import Group, element, is_number
from srcgrad.opencl.kernels.print_c import NotElementwiseError, Place, new_axis, put
from srcgrad.opencl.kernels.print_c import at as found_at
from srcgrad.opencl.launch import launch
from srcgrad.opencl.scattered import add_at

_PRODUCTS = (np.matmul, np.dot, runtime.matmul_left, runtime.matmul_right, runtime.dot_left, runtime.dot_right)


Held = dict[Node, tuple[Node, Place]]  # per statement that names an operand, the one that reads it, and where


def name_operands(block: Block, facts: Facts, group: Callable[[], Group], held: Held) -> Block:
    """Statements in which such operands are names: `t = e` before `add_at(x_bar, i, t)`, or before `t @ w`."""

    def change(node: Node) -> Block:
        made: Block = []
        if isinstance(node, gast.Assign | gast.AugAssign | gast.Expr):
            for stem, place in [*_added_operands(node, facts), *_product_operands(node.value, group)]:
                bound = facts.names.fresh(stem)
                facts.names.taken.add(bound)
                made.append(at(gast.Assign([name(bound, gast.Store())], found_at(place), None), node))
                put(place, name(bound))
                held[made[-1]] = node, place
        return [*made, node]

    return rewrite_statements(block, change)


def put_operands_back(block: Block, held: Held) -> Block:
    """The statements with those operands back in their places that no kernel has taken."""
    return rewrite_blocks(block, lambda inner: _unnamed(inner, held))


def _unnamed(block: Block, held: Held) -> Block:
    made: Block = []
    for node in block:
        own: Block = []
        while made and made[-1] in held and held[made[-1]][0] is node:
            own.append(made.pop())
        for statement in own:
            put(held[statement][1], statement.value)
        made.append(node)
    return made


def _added_operands(node: Node, facts: Facts) -> Iterator[tuple[str, Place]]:
    """What a statement adds at an index, where that is computed in it."""
    call = node.value if isinstance(node, gast.Expr) else None
    if isinstance(call, gast.Call) and function_called(call, facts) is add_at and len(call.args) == 3:
        if isinstance(call.args[2], gast.BinOp | gast.UnaryOp):
            yield "added", (call.args, 2)


def _product_operands(node: Node, group: Callable[[], Group]) -> Iterator[tuple[str, Place]]:
    """The operands of products in an expression that are maps; inner ones first."""
    if not isinstance(node, gast.BinOp | gast.UnaryOp | gast.Call | gast.Subscript | gast.Attribute):
        return  # what is computed later, or perhaps not at all, stays where it is
    for child in children(node):
        yield from _product_operands(child, group)
    places: list[Place] = []
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
        places = [(node, "left"), (node, "right")]
    elif isinstance(node, gast.Call) and group().printer().function(node) in _PRODUCTS:
        places = [(node.args, k) for k in range(len(node.args))]
    yield from (("factor", place) for place in places if _is_map(found_at(place), group()))


def _is_map(node: Node, group: Group) -> bool:
    """Whether an expression is a map that kernels can compute."""
    if not group.is_elementwise(node) or is_number(node, group):
        return False
    try:
        group.operand(node)
    except NotElementwiseError:
        return False
    return True


_EXTREMES = ("max", "min", "amax", "amin")


def share_nearest_only(body: Block, facts: Facts) -> None:
    """`share_nearest` for `share`, but where an extreme is of the very array that is asked for its elements.

    Likewise `is_nearest(a, y)` for `a == y`, of which the adjoint of an extreme of all elements counts the hits.
    """
    counted = {
        call.args[0].id
        for node in body
        for call in walk(node)
        if isinstance(call, gast.Call) and _is_counting(call) and isinstance(call.args[0], gast.Name)
    }
    if "share" not in facts.names.imports and not counted:
        return
    bound: dict[str, list[Node]] = {}
    for node in statements(body):
        for one in stores(node):
            bound.setdefault(one, []).append(node)
    for node in statements(body):
        value = node.value if target(node) in counted else None
        if isinstance(value, gast.Compare) and isinstance(value.ops[0], gast.Eq):
            if not _is_same(value.left, value.comparators[0], bound):
                called = name(facts.library("is_nearest"))
                node.value = gast.Call(called, [value.left, value.comparators[0]], [])
    for node in body:
        for call in walk(node):
            if function_called(call, facts) is runtime.share and not _is_same(call.args[1], call.args[2], bound):
                call.func = name(facts.library("share_nearest"))


def _is_counting(call: Node) -> bool:
    """`np.count_nonzero(t)`"""
    return isinstance(call.func, gast.Attribute) and call.func.attr == "count_nonzero" and len(call.args) == 1


def _is_same(of: Node, extreme: Node, bound: dict[str, list[Node]]) -> bool:
    """Whether an extreme was found in an array that has its name from then on."""
    if not isinstance(of, gast.Name) or len(bound.get(of.id, [])) > 1:
        return False
    made = bound.get(extreme.id, []) if isinstance(extreme, gast.Name) else []
    if len(made) == 1 and target(made[0]) == extreme.id:
        extreme = made[0].value
    return _is_extreme(extreme, of.id)


def _is_extreme(value: Node, of: str) -> bool:
    """`np.max(of, ...)` or `of.max(...)`"""
    if not (isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in _EXTREMES):
        return False
    places = [value.func.value, *value.args[:1]]
    return any(isinstance(place, gast.Name) and place.id == of for place in places)


@dataclass
class ClosedGroup:
    """A group whose statements are known: the name of its kernel, its results, and what stands for its call."""

    group: Group
    called: str
    results: list[str]
    mark: Node
    first: Node  # its first statement


def recompute_results(closed: list[ClosedGroup], forward: Block, body: Block) -> None:
    """Take from the results what only other kernels read and can compute from what is there; straight lines alone.

    Of `t = x + b; h = np.maximum(t, 0.0)` the kernel stores h; that of the backward half, which asks where t was
    positive, is given x and b.
    """
    if not closed or not all(_is_plain(node, closed[0].group) for node in body):
        return
    if any(isinstance(node, gast.AugAssign) for node in forward):
        return  # another name may be of the same memory
    bound: dict[str, int] = {}
    for node in body:
        for stored in stores(node):
            bound[stored] = bound.get(stored, 0) + (2 if isinstance(node, gast.AugAssign) else 1)
    for k, first in enumerate(closed):
        for held in list(first.results):
            made = _sum(held, first.group)
            readers = [one for one in closed[k + 1 :] if held in one.group.arguments]
            if made is None or len(first.results) < 2 or not readers or bound.get(held) != 1:
                continue
            operands = loads(made.value)
            if any(bound.get(operand, 0) > 1 for operand in operands):
                continue
            if _reads(held, body) != sum(_reads(held, one.group.statements) for one in [first, *readers]):
                continue
            lasting = [operand for operand in operands if operand in bound]  # the others are parameters
            if all(_is_there(operand, one, body) for operand in lasting for one in readers):
                first.results.remove(held)
                for one in readers:
                    _compute_in_group(made, held, one.group)


def _is_plain(node: Node, group: Group) -> bool:
    """Whether a statement binds names, and changes no array but, by `x_bar += e`, an adjoint."""
    if not isinstance(node, gast.Assign | gast.AugAssign | gast.Return | gast.Pass):
        return False
    for item in walk(node):
        if isinstance(item, gast.Subscript) and not isinstance(item.ctx, gast.Load):
            return False
        if isinstance(item, gast.Call) and any(word.arg == "out" for word in item.keywords):
            return False
    return group.is_pure(node)


def _sum(held: str, group: Group) -> Node | None:
    """The statement of a group that binds a name to the sum or difference of two arguments."""
    for node in group.statements:
        value = node.value
        if set(stores(node)) == {held} and isinstance(node, gast.Assign) and isinstance(value, gast.BinOp):
            names = [value.left, value.right]
            plain = all(isinstance(one, gast.Name) and _is_given(one.id, group) for one in names)
            adds = isinstance(value.op, gast.Add | gast.Sub) and not is_number(value, group)
            return node if plain and adds else None
    return None


def _is_given(word: str, group: Group) -> bool:
    given = group.arguments.get(word)
    return isinstance(given, gast.Name) and given.id == word


def _reads(word: str, block: Block) -> int:
    return sum(read == word for node in block for read in loads(node))


def _is_there(operand: str, reader: ClosedGroup, body: Block) -> bool:
    """Whether an operand lives until a kernel runs, whoever reads it there."""
    first = next((k for k, node in enumerate(body) if node is reader.group.original[0]), len(body))
    return any(operand in loads(node) for node in body[first:])


def _compute_in_group(made: Node, held: str, group: Group) -> None:
    """Let a group compute a value of which it was given the result."""
    del group.arguments[held]
    for operand in loads(made.value):
        group.arguments.setdefault(operand, name(operand))
    group.statements.insert(0, copy(made))
    group.stored.insert(0, held)


@dataclass
class FusionWork:
    """The work on one derivative: what is read where, and the functions made so far."""

    facts: Facts
    stem: str
    reads: dict[str, int] = field(default_factory=dict)  # how often each name is read in the whole text
    counters: frozenset[str] = frozenset()  # names of integers
    singles: dict[str, int] = field(default_factory=dict)  # names of what has an axis of length one, and which
    closed: list[ClosedGroup] = field(default_factory=list)
    count: int = 1
    loops: int = 0  # around the statements at hand
    primal: bool = True  # whether the statements at hand are of the forward half

    def group(self) -> Group:
        """A group that has no statements yet."""
        return Group(self.facts, self.counters, self.singles, self.primal)


def fuse(program: Program, facts: Facts) -> Program:
    """Put the elementwise work of both halves into kernels."""
    work = FusionWork(facts, f"{facts.source.name}_kernel")
    body = [*program.forward, *facts.tape.fresh_copies, *program.backward, program.result]
    facts.tape.saved = kept_alive(program, facts)
    share_nearest_only(body, facts)
    if "add_at" in facts.names.imports:
        facts.names.library_values["add_at"] = add_at
    held: Held = {}
    program.forward, program.backward = (
        name_operands(half, facts, work.group, held) for half in (program.forward, program.backward)
    )
    body = [*program.forward, *facts.tape.fresh_copies, *program.backward, program.result]
    forward = program.forward
    for node in statements(body):
        for read in loads(node):
            work.reads[read] = work.reads.get(read, 0) + 1
    work.counters, work.singles = _counters(body), _singles(body)
    if facts.request.mode == "vjp":
        program.forward = _block(program.forward, work)
        work.primal = False
        program.backward = _block(program.backward, work)
    else:
        mark = gast.Pass()
        joined = _block([*program.forward, mark, *program.backward], work)
        split = joined.index(mark)
        program.forward, program.backward = joined[:split], joined[split + 1 :]
    if facts.request.mode != "vjp":
        recompute_results(work.closed, forward, body)
    calls: dict[Node, Node] = {}
    for one in work.closed:
        function = _function(one.called, one.group, element(one.group, one.results), one.results)
        facts.module.add_kernel(function, facts)
        calls[one.mark] = _call(one, facts)
    for half in (program.forward, program.backward):
        half[:] = put_operands_back(rewrite_statements(half, lambda node: [calls.get(node, node)]), held)
    return program


def _counters(body: Block) -> frozenset[str]:
    """Names to which nothing but literal integers are bound, or added."""
    whole: dict[str, bool] = {}
    for node in statements(body):
        for bound in stores(node):
            value = node.value if isinstance(node, gast.Assign | gast.AugAssign) else None
            if isinstance(value, gast.BinOp) and isinstance(value.left, gast.Name) and value.left.id == bound:
                value = value.right
            whole[bound] = whole.get(bound, True) and literal_integer(value) is not None
    return frozenset(name for name, all_whole in whole.items() if all_whole)


def _singles(body: Block) -> dict[str, int]:
    """Names to which nothing but `e[:, None]` is bound, and which axis that is."""
    found: dict[str, int | None] = {}
    for node in statements(body):
        made = new_axis(node.value) if target(node) and isinstance(node.value, gast.Subscript) else None
        axis = None if made is None else made.axis
        for bound in stores(node):
            found[bound] = axis if found.get(bound, axis) == axis else None
    return {bound: axis for bound, axis in found.items() if axis is not None}


def _block(block: Block, work: FusionWork) -> Block:
    made: Block = []
    group = work.group()
    for node in block:
        work.primal = work.primal and not isinstance(node, gast.Pass)
        group.primal = work.primal
        if isinstance(node, COMPOUND):
            made += _close_group(group, work)
            group = work.group()
            work.loops += isinstance(node, gast.For | gast.While)
            node.body = _block(node.body, work)
            node.orelse = _block(getattr(node, "orelse", None) or [], work)
            work.loops -= isinstance(node, gast.For | gast.While)
            made.append(node)
            continue
        if group.take(node):
            continue
        made += _close_group(group, work)
        group = work.group()
        if not group.take(node):
            made.append(node)
    return made + _close_group(group, work)


def _close_group(group: Group, work: FusionWork) -> Block:
    """The statements of a group: what goes before, the call of its kernel, what comes after."""
    if not group.is_worth_it():
        return group.plain_statements()
    inside: dict[str, int] = {}
    for node in group.statements:
        for read in loads(node):
            inside[read] = inside.get(read, 0) + 1
    made_here = [*group.stored, *group.sums]
    carried = {r for given in group.arguments.values() for r in loads(given)} if work.loops else set()
    outside = {s for s in made_here if work.reads.get(s, 0) > inside.get(s, 0) or s not in work.reads}
    results = [s for s in made_here if s in outside | carried]
    if not results and not group.writes:
        return group.plain_statements()
    facts = work.facts
    called = facts.module.names.fresh(f"{work.stem}_{work.count}")
    work.count += 1
    facts.names.taken.add(called)
    mark = gast.Pass()
    work.closed.append(ClosedGroup(group, called, results, mark, group.statements[0]))
    return [*group.before, mark, *group.after]


def _call(one: ClosedGroup, facts: Facts) -> Node:
    """What stands where the statements of a group stood."""
    call = gast.Call(name(facts.library("launch", launch)), [name(one.called), *one.group.arguments.values()], [])
    places: list[Node] = [name(result, gast.Store()) for result in one.results]
    bound = places[0] if len(places) == 1 else gast.Tuple(elts=places, ctx=gast.Store())
    return at(gast.Assign([bound], call, None) if places else gast.Expr(call), one.first)


def _function(called: str, group: Group, text: str, results: list[str]) -> Node:
    """`def kernel(x, a): ...`: the C as docstring, the Python as body."""
    made: Node = parse_tree(f"def {called}({', '.join(group.arguments)}): pass").body[0]
    names: list[Node] = [name(result) for result in results]
    value = names[0] if len(names) == 1 else gast.Tuple(elts=names, ctx=gast.Load())
    body = [group.augmented.get(node, node) for node in group.statements]
    made.body = [gast.Expr(gast.Constant(value=text, kind=None)), *body, *([gast.Return(value)] if results else [])]
    return made


def _embed(written: OutputParts, kernels: set[str]) -> tuple[Collection[str], str]:
    """The code that builds and launches kernels, which is imported for standalone texts alone."""
    from srcgrad.opencl.launches.shipped import with_kernels

    return with_kernels(written, kernels)


OPENCL = Target(
    "opencl",
    passes=(fuse,),
    embed=_embed,
    no_items="each item has a kernel of its own",
    excludes=("inline",),
    as_written=False,
    kernels=True,
    complex=False,
)
