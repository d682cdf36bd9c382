"""Which statements become one kernel, and what is computed again rather than kept: the target opencl.

A group computes elements, numbers or parts of arrays, and the sums that end them; it is given operands of products, and
nearest places, among others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain, count

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.backend.text.module import OutputParts
from srcgrad.core.facts import Facts, copy_with_facts, function_called
from srcgrad.core.printer import expression as spelled
from srcgrad.core.rules import rule_of
from srcgrad.core.target import Target
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    at,
    children,
    copy,
    index_rank,
    is_basic,
    literal_integer,
    literal_node,
    loads,
    name,
    parse_tree,
    root,
    statements,
    stores,
    substitute,
    target,
    walk,
)
from srcgrad.core.visitor import rewrite_blocks, rewrite_statements
from srcgrad.derive.program import Program, kept_alive
from srcgrad.frontend.resolve import binding_of
from srcgrad.opencl.kernels.c_functions import identifier
from srcgrad.opencl.kernels.lines import HEAD, SCANS
from srcgrad.opencl.kernels.print_c import (
    CALLED,
    FLAT,
    ManyCall,
    NotElementwiseError,
    Place,
    Printer,
    form_of,
    is_of_shape,
    new_axis,
    put,
    replace,
)
from srcgrad.opencl.kernels.print_c import at as found_at
from srcgrad.opencl.launch import launch
from srcgrad.opencl.scattered import add_at


def take_write(node: Node, group: Group) -> bool:
    """Make a write part of a group, if it is one into a part of an array that the kernel may write."""
    added = isinstance(node, gast.AugAssign)
    place = node.target if added else node.targets[0]
    if added and not isinstance(node.op, gast.Add | gast.Sub):
        return False
    if not isinstance(place.value, gast.Name) or not is_part(place, group.facts):
        return False
    base = place.value.id
    if any(other != base for other in group.writes):
        return False
    made = group.operand(node.value)
    group.printer().text(made)
    part = group.argument(gast.Subscript(value=place.value, slice=place.slice, ctx=gast.Load()))
    if added:
        value = made if isinstance(node.op, gast.Add) else gast.UnaryOp(gast.USub(), made)
        statement: Node = at(gast.AugAssign(name(part.id, gast.Store()), gast.Add(), value), node)
        written = at(gast.AugAssign(name(part.id, gast.Store()), node.op, made), node)
        group.augmented[statement] = written
    else:
        whole = gast.Subscript(name(part.id), gast.Constant(value=..., kind=None), gast.Store())
        statement = at(gast.Assign([whole], made, None), node)
    group.statements.append(statement)
    group.writes.append(base)
    group.operations += 1
    return True


def is_part(place: Node, facts: Facts) -> bool:
    """Whether an index gives a part of an array, and no number, list or copy."""
    integers = frozenset(facts.values.integers)
    parts = place.slice.elts if isinstance(place.slice, gast.Tuple) else [place.slice]
    if not is_basic(place.slice, integers):
        return False
    if len(parts) > 1 and all(isinstance(part, gast.Slice) for part in parts):
        return True
    rank = _rank(place.value.id, facts)
    return rank > 0 and bool(index_rank(place.slice, rank, integers))


def is_copy(node: Node, facts: Facts) -> bool:
    """Whether an expression is `a[1:-1].copy()`, or `a.copy()` of what is known to be an array."""
    if not isinstance(node, gast.Call) or node.args or node.keywords or not isinstance(node.func, gast.Attribute):
        return False
    of = node.func.value
    if node.func.attr != "copy":
        return False
    if isinstance(of, gast.Subscript):
        return isinstance(of.value, gast.Name) and is_part(of, facts)
    return isinstance(of, gast.Name) and _rank(of.id, facts) > 0


def _rank(array: str, facts: Facts) -> int:
    """The rank of an array or of the adjoint of one; 0 where it is not known."""
    spec = facts.values.value_spec.get(facts.names.adjoint_of.get(array, array))
    return 0 if spec is None else spec.ndim or 0


def written_by(node: Node) -> str:
    """The argument into which a statement of a kernel writes; empty for one that binds a name."""
    if isinstance(node, gast.AugAssign):
        return str(node.target.id)
    place = node.targets[0]
    return str(place.value.id) if isinstance(place, gast.Subscript) else ""


_NO_SUMS = ("COUNT", "OTHERS", "SPREAD", "FILL", "AXIS", "ONLY", "SHARE", "NEAREST", *SCANS)


def take_number(node: Node, bound: str, deferred: set[str], group: Group) -> bool:
    """A number made of sums: the sums go to the kernel; the statement itself comes after it and reads them.

    The statement may read what is `deferred`, which comes after the kernel, too; the sums may not.
    """
    if bound in group.bound() or any(deferred & set(loads(call)) for call in _outermost(node.value, group)):
        return False
    if isinstance(node, gast.Assign) and _is_sum(node.value, group):
        group.add(bound, node.value, node)
        group.sums.append(bound)
        return True
    if isinstance(node, gast.Assign) and counts(node.value, group) and not deferred & set(loads(node.value)):
        group.add(bound, node.value, node)
        group.stored.append(bound)
        return True
    changed = at(copy_with_facts(node, group.facts), node)
    sums = [*_outermost(changed.value, group)]
    if not sums and not {*group.stored, *group.sums} & set(loads(changed.value)):
        return False
    for call in sums:
        held = group.facts.names.fresh("total")
        group.add(held, call, node)
        group.sums.append(held)
        replace(changed, call, name(held))
    group.after.append(changed)
    return True


def _outermost(node: Node, group: Group) -> Iterator[Node]:
    """The sums in an expression that are in no other one."""
    if _is_sum(node, group):
        yield node
        return
    for child in children(node):
        yield from _outermost(child, group)


def _is_sum(node: Node, group: Group) -> bool:
    """Whether an expression puts an array together to a number."""
    many = group.many(node)
    if many is None or many.form in _NO_SUMS or not is_number(node, group):
        return False
    return not all(is_number(found_at(place), group) for place in many.values)


def is_number(node: Node, group: Group) -> bool:
    """Whether a value is known to be no array."""
    facts = group.facts
    many = group.many(node)
    if many is not None and many.form in ("SUM_TO", "SPREAD", "FILL"):
        return is_number(found_at(many.likes[0]), group)
    if many is not None:
        return many.form == "COUNT" or (many.is_total and not many.kept)
    if isinstance(node, gast.Constant):
        return True
    if isinstance(node, gast.Name):
        spec = facts.values.value_spec.get(facts.names.adjoint_of.get(node.id, node.id))
        if node.id in group.counters:
            return True
        seed = node.id in facts.names.seeds and facts.request.mode in ("reverse", "value-and-grad")
        return seed or (spec is not None and spec.scalar)
    if isinstance(node, gast.BinOp):
        return is_number(node.left, group) and is_number(node.right, group)
    if isinstance(node, gast.UnaryOp):
        return is_number(node.operand, group)
    if is_of_shape(node):
        return True
    if is_copy(node, facts):
        return False
    if isinstance(node, gast.Call) and group.is_elementwise(node):
        return all(is_number(argument, group) for argument in node.args)
    return False


def is_of_numbers(node: Node, group: Group) -> bool:
    """Whether a value is a number, and of numbers: no sum of an array, which would be work for a kernel."""
    return is_number(node, group) and not any(True for _ in _outermost(node, group))


def counts(node: Node, group: Group) -> bool:
    """Whether a number depends on the kernel by how many elements there are, and by nothing else."""
    many = group.many(node)
    if many is not None:
        return many.form == "COUNT" and bool({*group.stored} & set(loads(node)))
    parts = [node.left, node.right] if isinstance(node, gast.BinOp) else []
    parts += [node.operand] if isinstance(node, gast.UnaryOp) else []
    own = {*group.stored, *group.sums}
    return any(counts(part, group) for part in parts) and all(
        counts(part, group) or not own & set(loads(part)) for part in parts
    )


def reads_what_stays(node: Node, group: Group) -> bool:
    """Whether a statement behind a write reads values of the kernel and numbers only: no array may have changed."""
    kept = {*group.stored, *group.sums}
    reads = list(loads(node.value))
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        reads.append(node.target.id)
    return all(read in kept or is_number(name(read), group) for read in reads)


_METHODS = ("copy", "reshape", "transpose", "astype")
_FEWEST = 2  # operations on arrays that make a kernel worth its call


@dataclass
class Group:
    """Statements in order, and where their values come from and go to."""

    facts: Facts
    counters: frozenset[str] = frozenset()  # names of integers
    singles: dict[str, int] = field(default_factory=dict)  # names of what has an axis of length one, and which
    primal: bool = False  # whether the statements are of the forward half: their dtypes are seen
    statements: Block = field(default_factory=list)  # of the kernel: `t = e`, `s = np.sum(e)`, `w = sum_to(e, x)`
    augmented: dict[Node, Node] = field(default_factory=dict)  # of statements that were `t += e`, that form
    before: Block = field(default_factory=list)
    after: Block = field(default_factory=list)
    original: Block = field(default_factory=list)  # all of them, as they were
    arguments: dict[str, Node] = field(default_factory=dict)  # parameter -> what is passed
    stored: list[str] = field(default_factory=list)  # names bound to arrays
    sums: list[str] = field(default_factory=list)  # names bound to sums
    writes: list[str] = field(default_factory=list)  # per write into a part of an array, the array
    operations: int = 0

    def take(self, node: Node) -> bool:
        """Make a statement part of the group, of what goes before it, or of what comes after it."""
        if isinstance(node, gast.Pass):
            self.original.append(node)
            (self.after if self.statements else self.before).append(node)
            return True
        saved = (len(self.statements), dict(self.arguments), list(self.stored), list(self.sums), self.operations)
        try:
            taken = self._take(node)
        except NotElementwiseError:
            taken = False
        if taken:
            self.original.append(node)
            return True
        del self.statements[saved[0] :]
        _, self.arguments, self.stored, self.sums, self.operations = saved
        if self._passes(node, self.bound(), self.before) or self._waits(node):
            self.original.append(node)
            return True
        return False

    def bound(self) -> set[str]:
        """Names that the kernel, or what comes after it, binds."""
        return {s for node in [*self.statements, *self.after] for s in stores(node)}

    def _passes(self, node: Node, bound: set[str], place: Block) -> bool:
        """Put a statement in front of the group, if it neither reads nor binds what the group binds or reads."""
        if not self.statements or self.writes or target(node) is None or not self.is_pure(node.value):
            return False
        read = {r for other in [*self.statements, *self.after] for r in loads(other)}
        read |= {r for argument in self.arguments.values() for r in loads(argument)}
        if set(loads(node)) & bound or set(stores(node)) & (bound | read):
            return False
        place.append(node)
        return True

    def _waits(self, node: Node) -> bool:
        """Put a product of matrices, or a number, behind the group: what does not read it may still be part of that."""
        if not self.statements or self.writes or not isinstance(node, gast.Assign) or target(node) is None:
            return False
        if not self.is_pure(node.value) or set(stores(node)) & self.bound():
            return False
        behind = {s for other in self.after for s in stores(other)}
        of_arrays = self.is_elementwise(node.value) or self.many(node.value) is not None or set(loads(node)) & behind
        if of_arrays and not is_of_numbers(node.value, self):
            return False
        self.after.append(node)
        return True

    def _take(self, node: Node) -> bool:
        if not isinstance(node, gast.Assign | gast.AugAssign):
            return False
        place = node.targets[0] if isinstance(node, gast.Assign) else node.target
        if self.writes and not reads_what_stays(node, self):
            return False
        deferred = {s for other in self.after for s in stores(other)}
        if isinstance(place, gast.Subscript):  # what comes after the kernel must not read what it writes
            numbers = all(not isinstance(one, gast.Pass) and reads_what_stays(one, self) for one in self.after)
            return numbers and not deferred & set(loads(node)) and take_write(node, self)
        if not isinstance(place, gast.Name) or (isinstance(node, gast.Assign) and len(node.targets) > 1):
            return False
        if set(stores(node)) & {r for other in self.after for r in [*loads(other), *stores(other)]}:
            return False
        value = node.value
        if isinstance(node, gast.AugAssign):
            value = gast.BinOp(name(place.id), node.op, value)
        if is_number(value, self):
            return not self.writes and take_number(node, place.id, deferred, self)
        if deferred & set(loads(node)) or (not self.is_elementwise(value) and self.many(value) is None):
            return False
        if place.id in self.sums or self.printer().is_test(value):
            return False
        self.add(place.id, value, node)
        written = node if isinstance(node, gast.AugAssign) else self.facts.as_written(node)
        if isinstance(written, gast.AugAssign) and isinstance(value, gast.BinOp):
            made = self.statements[-1].value.right  # an array keeps its dtype, in the Python body, too
            self.augmented[self.statements[-1]] = at(
                gast.AugAssign(name(place.id, gast.Store()), written.op, made), node
            )
        if place.id not in self.stored:
            self.stored.append(place.id)
        return True

    def add(self, bound: str, value: Node, node: Node) -> None:
        """One more statement of the kernel, if it can be printed."""
        made = self.operand(value)
        if isinstance(made, gast.Name):
            raise NotElementwiseError
        self.printer().text(made)
        self.statements.append(at(gast.Assign([name(bound, gast.Store())], made, None), node))

    def many(self, node: Node) -> ManyCall | None:
        return self.printer().spelling.many(node)

    def is_elementwise(self, node: Node) -> bool:
        """Whether the outermost operation of an expression is elementwise."""
        if isinstance(node, gast.BinOp):
            return isinstance(node.op, gast.Add | gast.Sub | gast.Mult | gast.Div | gast.Pow | gast.Mod | gast.FloorDiv)
        if isinstance(node, gast.UnaryOp):
            return isinstance(node.op, gast.USub)
        if isinstance(node, gast.Call) and not node.keywords:
            if is_copy(node, self.facts):
                return True
            function = self.printer().function(node)
            return function in FLAT or function is np.where or form_of(function) is not None
        return False

    def operand(self, node: Node) -> Node:
        """An expression over names of the group and its arguments."""
        if isinstance(node, gast.Name):
            return name(node.id) if node.id in self.stored or node.id in self.sums else self.argument(node)
        if isinstance(node, gast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return literal_node(node.value)
        many = self.many(node)
        if many is not None:
            return self._of_many(node, many)
        called = isinstance(node, gast.Call) or (isinstance(node, gast.BinOp) and type(node.op) in CALLED)
        if called and is_number(node, self) and not self.bound() & set(loads(node)):
            return self.argument(node)  # np.sqrt(2.0) is a float64 to NumPy, and 7 % n is one of Python's numbers
        joined = isinstance(node, gast.BinOp) and self.printer().is_test(node)
        if joined or self.is_elementwise(node) or (isinstance(node, gast.Compare) and len(node.ops) == 1):
            self.operations += not is_number(node, self)
            made = copy(node)
            if is_copy(node, self.facts):
                self.operations -= 1
                made.func.value = self.operand(node.func.value)
                return made
            if isinstance(node, gast.BinOp):
                made.left, made.right = self.operand(node.left), self.operand(node.right)
            elif isinstance(node, gast.UnaryOp):
                made.operand = self.operand(node.operand)
            elif isinstance(node, gast.Compare):
                made.left, made.comparators = self.operand(node.left), [self.operand(node.comparators[0])]
            else:
                made.args = [self.operand(argument) for argument in node.args]
                numbers = all(is_number(argument, self) for argument in node.args[1:])
                chosen = numbers and self.printer().function(node) is np.where
                if self.primal and chosen:  # float64 for two Python floats, whatever is asked
                    raise NotElementwiseError
            return made
        return self.argument(node)

    def _of_many(self, node: Node, many: ManyCall) -> Node:
        """A call that puts elements together, over names of the group."""
        inside = {*self.stored, *self.sums} & set(loads(node))
        if many.form in ("AXIS", "ONLY") and not inside:
            return self.argument(node)
        if many.form == "COUNT" and not inside:
            return self.argument(node)
        if many.form == "OTHERS" and many.axis is None and not self._is_row(found_at(many.values[0])):
            raise NotElementwiseError
        made = copy_with_facts(node, self.facts)
        found = self.many(made)
        assert found is not None, "a copy means the same"
        self.operations += _FEWEST if many.form in (*SCANS, "OTHERS") else many.form not in ("AXIS", "ONLY", "COUNT")
        for place in [*found.values, *found.likes]:
            put(place, self.operand(found_at(place)))
        return made

    def _is_row(self, node: Node) -> bool:
        """Whether a value is known to have one axis."""
        spec = self.facts.values.value_spec.get(node.id) if isinstance(node, gast.Name) else None
        return spec is not None and spec.ndim == 1

    def argument(self, node: Node) -> Node:
        """What the kernel is given: a name, or an expression that it does not compute itself."""
        if set(loads(node)) & (set(self.stored) | set(self.sums)) or not self.is_pure(node):
            raise NotElementwiseError
        if isinstance(node, gast.Name):
            self.arguments.setdefault(node.id, name(node.id))
            return name(node.id)
        text = spelled(node)
        for parameter, known in self.arguments.items():
            if spelled(known) == text:
                return name(parameter)
        base = root(node)
        stem = f"{base.id if base is not None else 'u'}_part"
        taken = self.facts.names.taken | self.arguments.keys()
        numbered = chain([stem], (f"{stem}{k}" for k in count(2)))
        parameter = next(one for one in numbered if one not in taken)
        self.arguments[parameter] = copy(node)
        return name(parameter)

    def printer(self) -> Printer:
        """What prints its expressions."""
        fresh = self._unused_names()
        return Printer(self.facts.names.imports, lambda: next(fresh), self._means, self._single_axis)

    def _unused_names(self) -> Iterator[str]:
        taken = {identifier(one) for one in [*self.arguments, *self.stored, *self.sums]}
        yield from (made for k in count(1) if (made := f"part{k}") not in taken)

    def _means(self, function: Node) -> object:
        """What a name of the user's, such as `erf` or `special.erf`, means."""
        base = root(function)
        if base is None or not isinstance(function, gast.Name | gast.Attribute) or base.id in self.facts.names.local:
            return None
        meant = substitute(function, {base.id: name(self.facts.names.globals_as.get(base.id, base.id))})
        found = binding_of(meant, self.facts, self.facts.names.local)
        return found.object if found is not None and found.kind == "object" else None

    def _single_axis(self, bound: str) -> int | None:
        """The axis of length one of a value, or of the adjoint of one."""
        given = self.arguments.get(bound)
        made = new_axis(given) if isinstance(given, gast.Subscript) else None
        return self.singles.get(self.facts.names.adjoint_of.get(bound, bound)) if made is None else made.axis

    def is_pure(self, node: Node) -> bool:
        """Whether an expression may be evaluated earlier than it stands: what it calls has a rule, or is our own."""
        for item in walk(node):
            if not isinstance(item, gast.Call):
                continue
            base = root(item.func)
            library = base is not None and base.id in self.facts.names.imports.values()
            method = isinstance(item.func, gast.Attribute) and item.func.attr in _METHODS
            plain = isinstance(item.func, gast.Name) and item.func.id == "len"
            if not library and not method and not plain and rule_of(self._means(item.func)) is None:
                return False
        return True

    def is_worth_it(self) -> bool:
        """Whether there is enough work on arrays."""
        fewest = _FEWEST + 1 if self.writes else _FEWEST  # writes are launched after the rest
        return self.operations >= fewest and bool(self.arguments)

    def plain_statements(self) -> Block:
        """The statements as they were."""
        return self.original


def element(group: Group, wanted: list[str]) -> str:
    """The text, whose results are the names in `wanted`."""
    lines = [HEAD, ""]
    printer, known = group.printer(), set(group.arguments)
    for node in _needed_statements(group, wanted):
        part = written_by(node)
        made = printer.text(node.value)
        lines += _cite_line(node, lines, group)
        own = [f"    {line}" for line in printer.lines]
        printer.lines.clear()
        if part:
            form = "ADD" if isinstance(node, gast.AugAssign) else "SET"
            lines += [*own, f"    {form}({identifier(part)}; {made});"]
            continue
        bound = node.targets[0].id
        kind = "" if bound in known else "REAL "
        if own and own[-1].startswith(f"    REAL {made} = "):
            own[-1] = f"    {kind}{identifier(bound)} = {own[-1].split(' = ', 1)[1]}"
            lines += own
        else:
            lines += [*own, f"    {kind}{identifier(bound)} = {made};"]
        known.add(bound)
    lines += [f"    STORE({identifier(bound)});" for bound in wanted]
    return "\n    ".join(lines).replace("\n    \n", "\n\n") + "\n    "


def _needed_statements(group: Group, wanted: list[str]) -> list[Node]:
    """The statements on which the results depend."""
    needed = set(wanted)
    found: list[Node] = []
    for node in reversed(group.statements):
        if written_by(node) or node.targets[0].id in needed:
            found.append(node)
            needed.update(loads(node.value))
    return found[::-1]


def _cite_line(node: Node, lines: list[str], group: Group) -> list[str]:
    """The user's line as a comment, where another one was cited last."""
    number, source = getattr(node, "lineno", 0), group.facts.source.lines
    if not 0 < number <= len(source):
        return []
    cited = f"    // line {number}: {source[number - 1].strip()}"[:100]
    last = next((line for line in reversed(lines) if line.startswith("    // line ")), "")
    return [] if cited == last else [cited]


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
