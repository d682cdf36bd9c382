"""Records of loops in compiled code: arrays in place of lists, and memory that is used again.

Adjoints that a trip of a loop hands to the next: one product and no chain, since each trip waits for the last.

Arrays that take the memory of others which nobody reads any more: `x_bar = x` where there was `np.empty`.

Records of loops whose trips are counted before: an array made once, in place of a list that grows.
"""

from __future__ import annotations

import gast

from srcgrad.backend.numba.loop_placement import Bodies, Item, Loop, Nests, PlainStatement, Step, places
from srcgrad.backend.numba.spelling import is_call
from srcgrad.backend.numba.value_types import Form, numbers
from srcgrad.core.facts import Facts
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    called_name,
    copy,
    loads,
    name,
    same_tree,
    statement,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import LOOPS, own_statements, rewrite_statements
from srcgrad.derive.program import Program
from srcgrad.derive.recording import backwards


def join_loop_updates(program: Program, facts: Facts) -> Program:
    """Let `t_bar = x_bar * a`, `x_bar = t_bar * b - x_bar * c` be `x_bar *= a * b - c`, for numbers in a loop.

    That is where the new value is a sum of multiples of the old one, and where nothing is changed in between.
    """
    loops = [node for node in statements(program.backward) if isinstance(node, gast.For | gast.While)]
    if not loops or facts.complex:
        return program
    known = numbers(program, facts)
    for loop in loops:
        for held in dict.fromkeys(target(node) for node in loop.body):
            if held in known and held in facts.adjoint_of:
                _multiply(held, loop.body)
    reads = {each for node in statements(program.block) for each in loads(node)}
    for loop in loops:
        loop.body[:] = [node for node in loop.body if node in facts.restores or target(node) not in known - reads]
    return program


def _multiply(held: str, body: Block) -> None:
    """Write the sums of multiples of a name that it is bound to anew as products."""
    factors: dict[str, Node] = {}  # name -> what `held` is multiplied with
    for place, node in enumerate(body):
        bound = target(node)
        factor = _factor(node.value, held, factors) if bound is not None else None
        if bound == held and factor is not None and isinstance(node.value, gast.BinOp) and _adds(node.value):
            body[place] = at(gast.AugAssign(name(held, gast.Store()), gast.Mult(), factor), node)
        changed = {each for one in statements([node]) for each in stores(one)}
        alive = () if held in changed else factors
        factors = {each: factors[each] for each in alive if not changed & {each, *_names(factors[each])}}
        if bound is not None and bound != held and factor is not None and bound not in _names(factor):
            factors[bound] = factor


def _adds(value: Node) -> bool:
    return isinstance(value.op, gast.Add | gast.Sub)


def _names(value: Node) -> set[str]:
    return {item.id for item in walk(value) if isinstance(item, gast.Name)}


def _factor(value: Node, held: str, factors: dict[str, Node]) -> Node | None:
    """What a name is multiplied with in an expression that is a multiple of it; None for any other."""
    if isinstance(value, gast.Name):
        if value.id == held:
            return gast.Constant(value=1.0, kind=None)
        return copy(factors[value.id]) if value.id in factors else None
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        inner = _factor(value.operand, held, factors)
        return None if inner is None else gast.UnaryOp(gast.USub(), inner)
    if not isinstance(value, gast.BinOp):
        return None
    one, two = _factor(value.left, held, factors), _factor(value.right, held, factors)
    if isinstance(value.op, gast.Add | gast.Sub):
        return None if one is None or two is None else gast.BinOp(one, value.op, two)
    if one is not None and two is None and isinstance(value.op, gast.Mult | gast.Div):
        product = _times(one, value.right) if isinstance(value.op, gast.Mult) else None
        return product or gast.BinOp(one, value.op, copy(value.right))
    if two is not None and one is None and isinstance(value.op, gast.Mult):
        return _times(two, value.left) or gast.BinOp(copy(value.left), gast.Mult(), two)
    return None


def _times(one: Node, other: Node) -> Node | None:
    """A product with 1.0 or -1.0."""
    if isinstance(one, gast.UnaryOp) and isinstance(one.operand, gast.Constant) and one.operand.value == 1.0:
        return gast.UnaryOp(gast.USub(), copy(other))
    return copy(other) if isinstance(one, gast.Constant) and one.value == 1.0 else None


PRODUCTS = ("matmul", "matmul_left", "matmul_right", "matmul_both")  # what they give is an array of its own


def reuse_arrays(
    nests: Nests, result: Node, known: dict[str, Form], owned: dict[str, Form], helpers: tuple[str, ...]
) -> None:
    """Let an array that a loop fills be an earlier one of its shape, if the same trip reads that one last.

    `known` are all arrays, `owned` those of the text that share their elements with no other name.
    """
    returned = {item.id for item in walk(result) if isinstance(item, gast.Name)}
    taken: set[str] = set()
    for held, axes in list(nests.made.items()):
        begin = _array_creation(held, nests.items) if axes else None
        if begin is None or held not in known:
            continue
        for other in _free_arrays(begin, known[held], nests, owned, helpers):
            if other not in returned | taken and _is_last(other, held, nests.items):
                begin.node.value = name(other)
                begin.reads = frozenset([other])
                taken.add(other)
                break


def _array_creation(held: str, items: list[Item]) -> PlainStatement | None:
    """The statement that makes an empty array."""
    for item in items:
        if isinstance(item, PlainStatement) and target(item.node) == held and isinstance(item.node.value, gast.Call):
            return item
    return None


def _free_arrays(
    begin: PlainStatement, form: Form, nests: Nests, owned: dict[str, Form], helpers: tuple[str, ...]
) -> list[str]:
    """Arrays of a shape and a dtype that are made before another, last first."""
    found = []
    for item in nests.items[: nests.items.index(begin)]:
        if not isinstance(item, PlainStatement) or (other := target(item.node)) is None:
            continue
        made = nests.made.get(other) or _name_of_helper(item.node.value) in helpers
        known = owned.get(other) if made else None
        if known and known.real == form.real and nests.lengths.axes_are_equal(known.axes, form.axes):
            found.append(other)
    return found[::-1]


def _name_of_helper(call: Node) -> str:
    """The name of a helper; of NumPy's functions only the product of matrices is of interest."""
    function = getattr(call, "func", None)
    return "matmul" if getattr(function, "attr", "") == "matmul" else called_name(call)


def _is_last(other: str, held: str, items: list[Item]) -> bool:
    """Whether nothing reads an array behind the steps that fill another one, nor in other trips of their loops."""
    first: tuple[str, Bodies, int] | None = None
    uses: list[tuple[str, Bodies, int, int]] = []
    nest = -1
    for place, item in enumerate(items):
        for one, bodies, number in places([item], ()):
            if isinstance(one, PlainStatement):
                if other in one.reads and target(one.node) != other:
                    uses.append(("", (), 0, place))
                continue
            if first is None and one.writes[0] == held:
                first, nest = (one.writes[1], bodies, number), place
            uses += [(index, bodies, number, place) for name_, index in (one.writes, *one.reads) if name_ == other]
            if first is not None and place == nest and one.writes[0] == other:
                return False
    if first is None:
        return False
    for index, bodies, number, place in uses:
        inside = place == nest and (index, bodies) == first[:2] and number <= first[2]
        if place > nest or (place == nest and not inside):
            return False
    return any(place == nest for *_, place in uses) and not _writes(other, items[nest])


def _writes(held: str, item: Item) -> bool:
    return isinstance(item, Loop) and any(
        isinstance(one, Step) and one.writes[0] == held for one, _, _ in places([item], ())
    )


MODES = ("reverse", "value-and-grad", "pull", "elementwise")


def tapes(program: Program, facts: Facts) -> Program:
    """Keep numbers of `for k in range(n)` in `x_stack = np.empty(max(n, 0))`: `x_stack[k] = x`, `x = x_stack[k]`.

    The same of `range(1, n)`, where the first place stays empty, and of ranges downwards, `range(n - 1, -1, -1)`.
    """
    if facts.mode not in MODES or {"max", "range", "reversed"} & facts.local:
        return program
    known = numbers(program, facts)
    for loop in [node for node in program.forward if isinstance(node, gast.For)]:
        back = _backward(loop, program, facts)
        if back is None:
            continue
        kept = [stack for stack in _stacks(loop, facts) if _is_plain(stack, loop, back, program, facts, known)]
        counter = _counter(loop, back, facts) if kept else ""
        for stack in kept if counter else ():
            _replace(stack, counter, loop, back, program, facts)
    return program


def _backward(loop: Node, program: Program, facts: Facts) -> Node | None:
    """The loop that undoes one over `range(n)`, where nothing binds `n` once it has begun; None if there is none."""
    end = _end(loop, facts)
    if end is None or loop.orelse or not isinstance(loop.target, gast.Name):
        return None
    behind = [*program.forward[program.forward.index(loop) :], *program.backward]
    if set(loads(loop.iter)) & {one for node in statements(behind) for one in stores(node)}:
        return None
    turned = backwards(copy(loop.iter))
    found = [n for n in program.backward if isinstance(n, gast.For) and same_tree(n.iter, turned)]
    alike = [n for n in found if n.lineno == loop.lineno and same_tree(n.target, loop.target)]
    return alike[0] if len(alike) == 1 else None


def _end(loop: Node, facts: Facts) -> Node | None:
    """`n` of `range(n)`, `range(1, n)` or `range(n - 1, -1, -1)`, if it is spelled with names and integers alone."""
    upwards = loop.iter
    if is_call(upwards, "range", facts) and len(upwards.args) == 3:
        upwards = backwards(copy(upwards))
    if not is_call(upwards, "range", facts) or len(upwards.args) not in (1, 2):
        return None
    *first, end = upwards.args
    if any(type(getattr(one, "value", None)) is not int for one in first):  # a negative one has a sign, and no value
        return None
    plain = all(isinstance(n, gast.Name | gast.Constant | gast.BinOp | gast.operator | gast.Load) for n in walk(end))
    return end if plain else None


def _stacks(loop: Node, facts: Facts) -> list[str]:
    pushed = [
        facts.pushes[node] for node in own_statements(loop.body) if node in facts.pushes and isinstance(node, gast.Expr)
    ]
    return list(dict.fromkeys(pushed))


def _is_plain(stack: str, loop: Node, back: Node, program: Program, facts: Facts, known: frozenset[str]) -> bool:
    """Whether a stack is made empty at the top, and gets and gives one real number in a trip."""
    mentions = [n for n in statements([*program.forward, *program.backward]) if stack in (*loads(n), *stores(n))]
    pushes = [n for n in own_statements(loop.body) if n in mentions and isinstance(n, gast.Expr)]
    pops = [n for n in own_statements(back.body) if facts.restores.get(n) == stack]
    made = [n for n in program.forward if n in mentions and isinstance(n, gast.Assign)]
    if not len(pushes) == len(pops) == len(made) == 1 or len(mentions) != 3:
        return False
    [value] = pushes[0].value.args
    return isinstance(value, gast.Name) and value.id in facts.active and value.id in known


def _counter(loop: Node, back: Node, facts: Facts) -> str:
    """The name that counts trips in both loops; a new one where nobody reads it. Empty if the body binds it."""
    own = str(loop.target.id)
    inside = [*statements(loop.body), *statements(back.body)]
    if any(own in stores(node) for node in inside):
        return ""
    if own != "_":
        return own
    if any(own in loads(node) for node in inside):
        return ""
    fresh = facts.names.fresh("k")
    for each in (loop, back):
        each.target = name(fresh, gast.Store())
    return fresh


def _replace(stack: str, counter: str, loop: Node, back: Node, program: Program, facts: Facts) -> None:
    trips = _end(loop, facts)
    length = copy(trips) if isinstance(trips, gast.Constant) else gast.Call(name("max"), [copy(trips), _zero()], [])
    [made] = [n for n in program.forward if isinstance(n, gast.Assign) and stack in stores(n)]
    array = statement(f"{stack} = {facts.library('np')}.empty(length)", length=length)
    facts.pushes[array] = facts.pushes.pop(made, stack)
    program.forward.remove(made)
    program.forward.insert(program.forward.index(loop), array)
    for each in (loop, back):
        each.body = rewrite_statements(each.body, lambda node: [_by_place(node, stack, counter, facts)], apart=LOOPS)


def _zero() -> Node:
    return gast.Constant(value=0, kind=None)


def _by_place(node: Node, stack: str, counter: str, facts: Facts) -> Node:
    """What reads or writes the place of the trip, for what takes from the stack or puts on it."""
    if facts.restores.get(node) == stack:
        made = at(statement(f"x = {stack}[{counter}]", x=node.targets[0].id), node)
        facts.restores[made] = stack
    elif isinstance(node, gast.Expr) and facts.pushes.get(node) == stack:
        made = at(statement(f"{stack}[{counter}] = value", value=node.value.args[0]), node)
        facts.pushes[made] = stack
    else:
        made = node
    return made
