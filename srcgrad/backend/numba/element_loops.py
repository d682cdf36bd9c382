"""Statements of arrays as loops over their elements, with what follows them over the same elements in one loop.

`y = np.sum(np.exp(x))` is `y = 0.0`, `for i in range(x.shape[0]): y += math.exp(x[i])`: compiled code makes a
temporary for each operation otherwise, and knows no sums along an axis.

Records of loops whose trips are counted before are arrays made once, in place of lists that grow; arrays take the
memory of others which nobody reads any more. What a trip of a loop hands to the next is one product and no chain,
since each trip waits for the last.
"""

from __future__ import annotations

import gast

from srcgrad.backend.numba.array_statements import is_inside
from srcgrad.backend.numba.element_expressions import (
    Reader,
    SharedMemory,
    form_of_call,
    is_view,
    named_lengths,
    operands,
    rename_arrays,
)
from srcgrad.backend.numba.loop_placement import (
    Bodies,
    Item,
    LoopPlacement,
    Nests,
    PlainStatement,
    accesses,
    contract_arrays,
    element_of,
    element_target,
    fills,
    indices,
    places,
    spell_nests,
)
from srcgrad.backend.numba.value_types import (
    DOUBLE,
    ONE,
    SINGLE,
    WEAK,
    Form,
    Lengths,
    NotLoweredError,
    Piece,
    Reduction,
    common_dtype,
    convert_piece,
    is_call,
    numbers,
)
from srcgrad.core.facts import Facts
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    assign,
    at,
    called_name,
    copy,
    find_nodes,
    loads,
    name,
    names_in,
    same_tree,
    statement,
    statements,
    stores,
    substitute,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import LOOPS, own_statements, rewrite_statements
from srcgrad.derive.program import Program
from srcgrad.derive.recording import backwards


def join_loop_updates(program: Program, facts: Facts) -> Program:
    """Let `t_bar = x_bar * a`, `x_bar = t_bar * b - x_bar * c` be `x_bar *= a * b - c`, for numbers in a loop.

    That is where the new value is a sum of multiples of the old one, and where nothing is changed in between.
    """
    loops = [node for node in statements(program.backward) if isinstance(node, gast.For | gast.While)]
    if not loops or facts.values.complex:
        return program
    known = numbers(program, facts)
    for loop in loops:
        for held in dict.fromkeys(target(node) for node in loop.body):
            if held in known and held in facts.names.adjoint_of:
                _multiply(held, loop.body)
    reads = {each for node in statements(program.block) for each in loads(node)}
    for loop in loops:
        loop.body[:] = [node for node in loop.body if node in facts.tape.restores or target(node) not in known - reads]
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
        factors = {each: factors[each] for each in alive if not changed & {each, *names_in(factors[each])}}
        if bound is not None and bound != held and factor is not None and bound not in names_in(factor):
            factors[bound] = factor


def _adds(value: Node) -> bool:
    return isinstance(value.op, gast.Add | gast.Sub)


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
    returned = names_in(result)
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
    return any(place == nest for *_, place in uses) and not fills(items[nest], other)


MODES = ("reverse", "value-and-grad", "pull", "elementwise")


def tapes(program: Program, facts: Facts) -> Program:
    """Keep numbers of `for k in range(n)` in `x_stack = np.empty(max(n, 0))`: `x_stack[k] = x`, `x = x_stack[k]`.

    The same of `range(1, n)`, where the first place stays empty, and of ranges downwards, `range(n - 1, -1, -1)`.
    """
    if facts.request.mode not in MODES or {"max", "range", "reversed"} & facts.names.local:
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
        facts.tape.pushes[node]
        for node in own_statements(loop.body)
        if node in facts.tape.pushes and isinstance(node, gast.Expr)
    ]
    return list(dict.fromkeys(pushed))


def _is_plain(stack: str, loop: Node, back: Node, program: Program, facts: Facts, known: frozenset[str]) -> bool:
    """Whether a stack is made empty at the top, and gets and gives one real number in a trip."""
    mentions = [n for n in statements([*program.forward, *program.backward]) if stack in (*loads(n), *stores(n))]
    pushes = [n for n in own_statements(loop.body) if n in mentions and isinstance(n, gast.Expr)]
    pops = [n for n in own_statements(back.body) if facts.tape.restores.get(n) == stack]
    made = [n for n in program.forward if n in mentions and isinstance(n, gast.Assign)]
    if not len(pushes) == len(pops) == len(made) == 1 or len(mentions) != 3:
        return False
    [value] = pushes[0].value.args
    return isinstance(value, gast.Name) and value.id in facts.activity.active and value.id in known


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
    assert trips is not None, "its trips are counted"
    length = copy(trips) if isinstance(trips, gast.Constant) else gast.Call(name("max"), [copy(trips), _zero()], [])
    [made] = [n for n in program.forward if isinstance(n, gast.Assign) and stack in stores(n)]
    array = statement(f"{stack} = {facts.library('np')}.empty(length)", length=length)
    facts.tape.pushes[array] = facts.tape.pushes.pop(made, stack)
    program.forward.remove(made)
    program.forward.insert(program.forward.index(loop), array)
    for each in (loop, back):
        each.body = rewrite_statements(each.body, lambda node: [_by_place(node, stack, counter, facts)], apart=LOOPS)


def _zero() -> Node:
    return gast.Constant(value=0, kind=None)


def _by_place(node: Node, stack: str, counter: str, facts: Facts) -> Node:
    """What reads or writes the place of the trip, for what takes from the stack or puts on it."""
    if facts.tape.restores.get(node) == stack:
        made = at(statement(f"x = {stack}[{counter}]", x=node.targets[0].id), node)
        facts.tape.restores[made] = stack
    elif isinstance(node, gast.Expr) and facts.tape.pushes.get(node) == stack:
        made = at(statement(f"{stack}[{counter}] = value", value=node.value.args[0]), node)
        facts.tape.pushes[made] = stack
    else:
        made = node
    return made


class _ChangedError(Exception):
    """A name has arrays of several shapes: the text stays as it is."""


def elements(program: Program, facts: Facts) -> Program:
    """Write the array statements outside of the user's loops and branches as loops, where all is of known dtypes."""
    shadowed = {"range", "max", "min", "abs"} & facts.names.local
    arrays = [p for p in program.parameters if _is_array(p, facts)]
    whole = any(isinstance(node, gast.FunctionDef | gast.With) for node in statements(program.block))
    if (
        facts.values.complex
        or facts.module.given
        or facts.module.arrays
        or facts.request.called
        or shadowed
        or not arrays
        or whole
    ):
        return program
    work = _Work(program, facts)
    mark = gast.Pass()
    try:
        for node in [*program.forward, mark, *program.backward]:
            work.statement(node)
    except _ChangedError:
        return program
    if not work.nests.made:
        return program
    result = rename_arrays(program.result, work.alias)
    contract_arrays(work.nests, result)
    helpers = tuple(facts.names.imports.get(one, one) for one in PRODUCTS)
    known = work.reader.known
    owned = {held: form for held, form in known.items() if form.axes and work.owns(held)}
    reuse_arrays(work.nests, result, known, owned, helpers)
    block = spell_nests(work.nests, work.place.fresh, facts)
    read = {one for node in [*statements(block), result] for one in loads(node)}
    block = [node for node in block if target(node) not in work.reader.masks or target(node) in read]
    place = next(k for k, node in enumerate(block) if node is mark)
    looped = {"checked": work.nests.checks, "inside": not work.lengths.fixed and is_inside(work.nests.items, result)}
    facts.module.looped = frozenset(each for each, holds in looped.items() if holds)
    return Program(program.parameters, block[:place], block[place + 1 :], result)


def _is_array(parameter: str, facts: Facts) -> bool:
    kind = facts.kinds.arguments.get(parameter)
    return kind is not None and kind.tag == "array" and kind.dtype in (SINGLE, DOUBLE) and bool(kind.ndim)


class _Work:
    """The statements of one text, in order."""

    def __init__(self, program: Program, facts: Facts) -> None:
        self.facts = facts
        self.lengths = Lengths()
        self.sharing = SharedMemory()
        self.nests = Nests(lengths=self.lengths)
        self.alias: dict[str, str] = {}
        self.begun = set(program.parameters)  # names that are bound already
        self.bound: dict[str, int] = dict.fromkeys(program.parameters, 1)
        self.inner = {
            read
            for node in program.block
            if isinstance(node, COMPOUND)
            for one in statements([node])
            for read in (*loads(one), *stores(one))
        }
        taken = {item.id for node in program.block for item in find_nodes(node, gast.Name)}
        self.users = names_in(facts.source.tree)
        self.changed: set[str] = set()  # names of what is changed in place
        for node in statements([*program.forward, *program.backward]):
            self.changed.update(stores(node) if isinstance(node, gast.AugAssign) else (), written_names(node))
            for one in stores(node):
                if not isinstance(node, gast.AugAssign) and one not in written_names(node):
                    self.bound[one] = self.bound.get(one, 0) + 1
        known: dict[str, Form] = {}
        for parameter in program.parameters:
            kind = facts.kinds.arguments.get(parameter)
            if _is_array(parameter, facts) and kind is not None:
                known[parameter] = Form(self.lengths.of_array(parameter, kind.ndim or 0), kind.dtype)
            elif kind is not None and kind.tag == "scalar" and not kind.complex and kind.dtype in ("", SINGLE, DOUBLE):
                known[parameter] = Form((), kind.dtype or WEAK)
        self.place = LoopPlacement(facts, self.lengths, self.nests, self.sharing, taken, known)
        fresh = self.place.fresh
        self.reader = Reader(facts, self.lengths, known, fresh, lambda node: form_of_call(node, self.reader, ""))

    def owns(self, held: str) -> bool:
        """Whether an array is bound once, and has no other name."""
        return self.bound.get(held, 1) == 1 and self.sharing.of(held) == {held} and held not in self.inner

    def statement(self, node: Node) -> None:
        """Put a statement where it goes: into loops, or behind them as it is."""
        node = rename_arrays(node, self.alias)
        try:
            self._take(node)
        finally:
            self.begun.update(one for each in statements([node]) for one in stores(each))

    def _take(self, node: Node) -> None:
        before = self.lengths.saved_state()
        self.reader.reductions = []
        held = target(node)
        try:
            if held is not None:
                done = self._lower_binding(node, held)
            elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                done = self._lower_augmented(node, node.target.id)
            else:
                done = False
        except NotLoweredError:
            done = False
        if not done:
            self.lengths.restore(before)
            self._keep_statement(node)

    def _lower_binding(self, node: Node, held: str) -> bool:
        """`x = e`."""
        if isinstance(node.value, gast.Name | gast.Constant) or is_view(node.value):
            return False
        piece = self.reader.piece(node.value)
        left = [one for one in self.reader.reductions if not isinstance(one, Reduction)]
        if piece.tests and not self.reader.reductions:
            self._mask(node, held)
        if piece.tests or (piece.leaf and left and len(self.reader.reductions) == 1):
            return False
        again = self.bound.get(held, 0) > 1 and held in self.begun
        if piece.leaf and not self.reader.reductions:
            return self.bound.get(held, 0) == 1 and self._binds_equal_shape(held, piece.leaf)
        if not piece.axes and not self.reader.reductions:
            return False
        if again:
            if held in self.inner:
                return False
            if self._rebinds_in_place(node, held, piece):
                return True
            held = self._next_name(held)
        last = self.reader.reductions[-1] if self.reader.reductions else None
        direct = isinstance(last, Reduction) and _is_name(piece, last.held)
        self.place.check()
        self.place.reduce(node, self.reader, held if direct else "")
        self.reader.known[held] = Form(piece.axes, piece.real)
        if direct:
            return True
        if not piece.axes:
            self.place.append(at(assign(held, piece.at([])), node))
            return True
        self.place.map(node, held, piece)
        return True

    def _mask(self, node: Node, held: str) -> None:
        """A mask of ours is made anew where it is read, if it is of what never changes."""
        fixed = all(
            self.bound.get(one) == 1 and one not in self.changed for one in loads(node.value) if one in self.bound
        )
        if held not in self.users and self.bound.get(held) == 1 and held not in self.inner and fixed:
            self.reader.masks[held] = node.value

    def _binds_equal_shape(self, held: str, other: str) -> bool:
        """`t = sum_to(x, y)` of what has the shape of y is x."""
        if self.bound.get(other, 1) > 1 or held in self.inner:
            return False
        self.alias[held] = other
        return True

    def _rebinds_in_place(self, node: Node, held: str, piece: Piece) -> bool:
        """`x = x + e` of what these loops have made is done in place."""
        mine = held in self.nests.made and self.sharing.of(held) == {held} and piece.axes
        form = self.reader.known.get(held)
        if (
            not mine
            or form is None
            or form.real != piece.real
            or not self.lengths.axes_are_equal(form.axes, piece.axes)
        ):
            return False
        axes = form.axes
        index = indices(axes)
        element, value = element_of(held, form, index), piece.at(index)
        self._in_place(held, element, value)
        self.place.check()
        self.place.reduce(node, self.reader)
        self.place.put(at(gast.Assign([element_target(element)], value, None), node), axes)
        return True

    def _next_name(self, held: str) -> str:
        made = self.facts.names.numbered_name(held)
        self.alias = {one: made if other == held else other for one, other in self.alias.items()} | {held: made}
        self.bound[made] = self.bound[held]
        self.begun.add(made)
        return made

    def _in_place(self, held: str, element: Node, value: Node) -> None:
        """Only the element that is written may be read of an array."""
        place = accesses(element)[0]
        for access in accesses(value):
            if access[0] in self.sharing.of(held) and access != place:
                raise NotLoweredError

    def _lower_augmented(self, node: Node, held: str) -> bool:
        """`x += e`."""
        form = self.reader.known.get(held)
        if form is None or not isinstance(node.op, gast.Add | gast.Sub | gast.Mult | gast.Div):
            return False
        axes, piece = form.axes, self.reader.piece(node.value)
        real = common_dtype([form.real, piece.real])
        piece = convert_piece(piece, real, self.facts) if real == SINGLE else piece
        if not axes:
            if piece.axes or not self.reader.reductions:
                return False
            self.place.check()
            self.place.reduce(node, self.reader)
            self.place.append(at(gast.AugAssign(name(held, gast.Store()), node.op, piece.at([])), node))
            self.reader.known[held] = Form((), real)
            return True
        wider = [a for a, b in zip(axes[::-1], piece.axes[::-1], strict=False) if a == ONE and b != ONE]
        if piece.tests or wider or len(piece.axes) > len(axes):
            return False
        self.lengths.broadcast(axes, piece.axes)
        index = indices(axes)
        element, value = element_of(held, form, index), piece.at(index[len(index) - len(piece.axes) :])
        self._in_place(held, element, value)
        self.place.check()
        self.place.reduce(node, self.reader)
        self.place.put(at(gast.AugAssign(element_target(element), node.op, value), node), axes)
        return True

    def _keep_statement(self, node: Node) -> None:
        """A statement as it is, and what is known of the names that it binds."""
        if isinstance(node, gast.Assign) and operands(node.value, self.reader):
            node = at(substitute(node, {}), node)  # a tree of its own
            self.place.operands(node, node.value, self.reader)
        self.reader.reductions = []
        known, held = self.reader.known, target(node)
        found: Form | None = None
        if held is not None:
            before = self.lengths.saved_state()
            found = form_of_call(node.value, self.reader, held)
            if found is None:
                self.lengths.restore(before)
                found, node = self._number(node)
        bound = {one for each in statements([node]) for one in stores(each)}
        changed = {one for each in statements([node]) for one in written_names(each)}
        for one in bound - changed if not isinstance(node, gast.AugAssign) else ():
            if one in known and not (
                one == held and found and self.lengths.axes_are_equal(found.axes, known[one].axes)
            ):
                del known[one]
                if self.lengths.spells(one):
                    raise _ChangedError
        if held is not None and found is not None:
            self.place.check()
            known[held] = found
        self.place.append(node)
        named_lengths(node, self.reader, frozenset(one for one, count in self.bound.items() if count == 1))
        if held is None or held not in known or known[held].axes:
            self.sharing.note(node)

    def _number(self, node: Node) -> tuple[Form | None, Node]:
        """What is known of another name, of a number, or of what stays an expression; numbers have their dtypes."""
        try:
            if isinstance(node.value, gast.Name):
                return self.reader.known.get(node.value.id), node
            piece = self.reader.piece(node.value)
        except NotLoweredError:
            return None, node
        if piece.tests or (piece.axes and piece.real == SINGLE):
            return None, node  # compiled code takes Python's numbers for float64
        if piece.real == SINGLE and not self.reader.reductions:
            node = at(gast.Assign(node.targets, piece.at([]), None), node)
        return Form(piece.axes, piece.real), node


def _is_name(piece: Piece, held: str) -> bool:
    """Whether a piece is what has a name, and nothing else."""
    if piece.leaf == held:
        return True
    made = piece.at([]) if not piece.axes else None
    return isinstance(made, gast.Name) and made.id == held
