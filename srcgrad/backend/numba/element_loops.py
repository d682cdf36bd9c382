"""Statements of arrays as loops over their elements, with what follows them over the same elements in one loop.

`y = np.sum(np.exp(x))` is `y = 0.0`, `for i in range(x.shape[0]): y += math.exp(x[i])`: compiled code makes a temporary
for each operation otherwise, and knows no sums along an axis.
"""

from __future__ import annotations

import gast

from srcgrad.backend.numba.array_operations import (
    SharedMemory,
    form_of_call,
    is_view,
    named_lengths,
    operands,
    rename_arrays,
)
from srcgrad.backend.numba.array_statements import is_inside
from srcgrad.backend.numba.element_expressions import Reader
from srcgrad.backend.numba.loop_placement import (
    LoopPlacement,
    Nests,
    accesses,
    contract_arrays,
    element_of,
    element_target,
    indices,
    spell_nests,
)
from srcgrad.backend.numba.spelling import common_dtype, convert_piece
from srcgrad.backend.numba.tapes import PRODUCTS, reuse_arrays
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
)
from srcgrad.core.facts import Facts
from srcgrad.core.trees import (
    COMPOUND,
    Node,
    assign,
    at,
    loads,
    name,
    statements,
    stores,
    substitute,
    target,
    walk,
    written_names,
)
from srcgrad.derive.program import Program


class _ChangedError(Exception):
    """A name has arrays of several shapes: the text stays as it is."""


def elements(program: Program, facts: Facts) -> Program:
    """Write the array statements outside of the user's loops and branches as loops, where all is of known dtypes."""
    shadowed = {"range", "max", "min", "abs"} & facts.local
    arrays = [p for p in program.parameters if _is_array(p, facts)]
    whole = any(isinstance(node, gast.FunctionDef | gast.With) for node in statements(program.block))
    if facts.complex or facts.module.given or facts.module.arrays or facts.called or shadowed or not arrays or whole:
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
    helpers = tuple(facts.imports.get(one, one) for one in PRODUCTS)
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
    kind = facts.arguments.get(parameter)
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
        taken = {item.id for node in program.block for item in walk(node) if isinstance(item, gast.Name)}
        self.users = {item.id for item in walk(facts.source.tree) if isinstance(item, gast.Name)}
        self.changed: set[str] = set()  # names of what is changed in place
        for node in statements([*program.forward, *program.backward]):
            self.changed.update(stores(node) if isinstance(node, gast.AugAssign) else (), written_names(node))
            for one in stores(node):
                if not isinstance(node, gast.AugAssign) and one not in written_names(node):
                    self.bound[one] = self.bound.get(one, 0) + 1
        known: dict[str, Form] = {}
        for parameter in program.parameters:
            kind = facts.arguments.get(parameter)
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
        """The name for the next value of a name."""
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
