"""One group of statements that become a kernel: what it takes, computes, stores and sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, count

import gast
import numpy as np

from srcgrad.core.facts import Facts, copied
from srcgrad.core.printer.expressions import expression as spelled
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import Block, Node, at, constant, copy, loads, name, root, stores, substitute, target, walk
from srcgrad.frontend.resolve import binding_of
from srcgrad.opencl.lines import SCANS
from srcgrad.opencl.many import Many, new_axis, put
from srcgrad.opencl.many import at as found_at
from srcgrad.opencl.names import identifier
from srcgrad.opencl.numbers import is_number, is_of_numbers, reads_what_stays, take_number
from srcgrad.opencl.parts import is_copy, take_write
from srcgrad.opencl.printer import CALLED, FLAT, NotElementwiseError, Printer, form_of

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

    def many(self, node: Node) -> Many | None:
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
            return constant(node.value)
        many = self.many(node)
        if many is not None:
            return self._of_many(node, many)
        called = isinstance(node, gast.Call) or (isinstance(node, gast.BinOp) and type(node.op) in CALLED)
        if called and is_number(node, self) and not self.bound() & set(loads(node)):
            return self.argument(node)  # np.sqrt(2.0) is a float64 to NumPy, and 7 % n is one of Python's numbers
        if self.is_elementwise(node) or (isinstance(node, gast.Compare) and len(node.ops) == 1):
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

    def _of_many(self, node: Node, many: Many) -> Node:
        """A call that puts elements together, over names of the group."""
        inside = {*self.stored, *self.sums} & set(loads(node))
        if many.form in ("AXIS", "ONLY") and not inside:
            return self.argument(node)
        if many.form == "COUNT" and not inside:
            return self.argument(node)
        if many.form == "OTHERS" and many.axis is None and not self._is_row(found_at(many.values[0])):
            raise NotElementwiseError
        made = copied(node, self.facts)
        found = self.many(made)
        assert found is not None, "a copy means the same"
        self.operations += _FEWEST if many.form in (*SCANS, "OTHERS") else many.form not in ("AXIS", "ONLY", "COUNT")
        for place in [*found.values, *found.likes]:
            put(place, self.operand(found_at(place)))
        return made

    def _is_row(self, node: Node) -> bool:
        """Whether a value is known to have one axis."""
        spec = self.facts.value_spec.get(node.id) if isinstance(node, gast.Name) else None
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
        fresh = self._unused()
        return Printer(self.facts.imports, lambda: next(fresh), self._means, self._single)

    def _unused(self) -> Iterator[str]:
        taken = {identifier(one) for one in [*self.arguments, *self.stored, *self.sums]}
        yield from (made for k in count(1) if (made := f"part{k}") not in taken)

    def _means(self, function: Node) -> object:
        """What a name of the user's, such as `erf` or `special.erf`, means."""
        base = root(function)
        if base is None or not isinstance(function, gast.Name | gast.Attribute) or base.id in self.facts.local:
            return None
        meant = substitute(function, {base.id: name(self.facts.globals_as.get(base.id, base.id))})
        found = binding_of(meant, self.facts, self.facts.local)
        return found.object if found is not None and found.kind == "object" else None

    def _single(self, bound: str) -> int | None:
        """The axis of length one of a value, or of the adjoint of one."""
        given = self.arguments.get(bound)
        made = new_axis(given) if isinstance(given, gast.Subscript) else None
        return self.singles.get(self.facts.adjoint_of.get(bound, bound)) if made is None else made.axis

    def is_pure(self, node: Node) -> bool:
        """Whether an expression may be evaluated earlier than it stands: what it calls has a rule, or is our own."""
        for item in walk(node):
            if not isinstance(item, gast.Call):
                continue
            base = root(item.func)
            library = base is not None and base.id in self.facts.imports.values()
            method = isinstance(item.func, gast.Attribute) and item.func.attr in _METHODS
            plain = isinstance(item.func, gast.Name) and item.func.id == "len"
            if not library and not method and not plain and rule_of(self._means(item.func)) is None:
                return False
        return True

    def is_worth_it(self) -> bool:
        """Whether there is enough work on arrays."""
        fewest = _FEWEST + 1 if self.writes else _FEWEST  # writes are launched after the rest
        return self.operations >= fewest and bool(self.arguments)

    def plain(self) -> Block:
        """The statements as they were."""
        return self.original
