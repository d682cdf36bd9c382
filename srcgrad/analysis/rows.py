"""Rows: where their axis lies in each value, and which statements treat each row by itself, or add up over the rows.

The form of an expression in normal form says where the rows lie in it, or why that cannot be proved: what elementwise
operations, reductions, products and orders of axes make of them.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import ModuleType
from typing import Any  # literals, and objects that global names mean

import gast
import numpy as np

from srcgrad.analysis.alias import makes_new_value
from srcgrad.analysis.argument_kinds import kinds_of
from srcgrad.core.control_flow import live_in, liveness
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import UNKNOWN, Facts, Kind, Operation
from srcgrad.core.identity import record, replace
from srcgrad.core.rules import Rule, rule_of, written_by_totals
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    adds_to,
    assign,
    at,
    copy,
    expression,
    find_nodes,
    header,
    is_integer,
    is_write,
    literal_node,
    literal_of,
    literal_value,
    loads,
    name,
    names_in,
    parameters,
    part_written,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import replace as put
from srcgrad.frontend.resolve import CallPlace, bind, binding_of, is_over_rows, operation_of, place_in_text
from srcgrad.runtime import add_at, max_or_least, min_or_most, scatter
from srcgrad.runtime.hooks import stop_gradient
from srcgrad.runtime.reductions import groups_below

IN_BLOCK = " rows"  # behind the name of an argument: its part in a block
FIRST = " first"  # the number, among all rows, of the first of a block
ROWS = "rows"  # the length of the axis along which the rows of the blocked arguments lie
Axes = tuple[str, ...]


@record(frozen=True)
class Form:
    """The axes of a value, each as the text of its length, "1", "?" or ROWS; None where the rank is unknown.

    `total` is sum or mean for what a reduction over the rows makes; `level` is how many loops over the rows come before
    it can be computed: a total needs its own, and what is made of totals and rows is read by the next. `numbers` are
    those of the rows, from 0 on in each block: as indices of rows; others add the number of its first row.
    """

    axes: Axes | None = None
    total: str = ""
    level: int = 0
    numbers: bool = False
    listed: bool = False  # whether it is a list, of what each row gives

    @property
    def row(self) -> int | None:
        """The axis along which the rows lie; None if the value does not depend on them."""
        return next((k for k, length in enumerate(self.axes or ()) if are_rows(length)), None)

    @property
    def some(self) -> bool:
        """Whether it has those rows alone that a mask takes."""
        return self.row is not None and self.axes is not None and self.axes[self.row] != ROWS


def are_rows(length: str) -> bool:
    """Whether an axis is that of the rows, or of those that a mask takes: `rows[mask]`."""
    return length == ROWS or length.startswith(f"{ROWS}[")


def _rows_meet(axes: Sequence[str]) -> bool:
    return sum(map(are_rows, axes)) > 1


class UnprovedError(Exception):
    """Why it cannot be proved that an operation treats each row by itself."""


class TotalError(UnprovedError):
    """That it adds up over the rows where no loop over blocks can go on: it has to be written out first."""


class CountError(UnprovedError):
    """That it needs the number of all rows in each block, or numbers them."""


class NestedError(Exception):
    """The sum over rows, or their numbers, that stand within a larger expression: a name has to be bound to `value`.

    The name stands in the place of `node` then, with `other` before it that it is added to.
    """

    def __init__(self, node: Node, value: Node, form: Form | None = None, other: Node | None = None) -> None:
        self.node, self.value, self.form, self.other = node, value, form, other


class OverRowsError(Exception):
    """The place of a call that has to be written out: by sums over rows, or as the lines of a function."""

    def __init__(self, place: CallPlace) -> None:
        self.place = place


def broadcast_forms(forms: Sequence[Form]) -> Form:
    """The axes that broadcasting makes: rows meet rows, or axes of length 1.

    >>> broadcast_forms([Form(("rows", "d")), Form(("d",))]).axes
    ('rows', 'd')
    >>> broadcast_forms([Form(("1", "rows", "d")), Form(("K", "1", "?"))]).axes
    ('K', 'rows', 'd')
    """
    if any(form.listed for form in forms):
        raise UnprovedError("a list is no array: use np.array")
    if any(form.axes is None for form in forms):
        if any(form.row is not None for form in forms):
            raise UnprovedError("the rank of an operand is not known")
        return Form()
    ranks = [len(form.axes or ()) for form in forms]
    made: list[str] = []
    for place in range(-max(ranks, default=0), 0):
        made.append(
            _common_length([form.axes[place] for form in forms if form.axes is not None and len(form.axes) >= -place])
        )
    if _rows_meet(made):
        raise UnprovedError("rows meet rows along two axes")
    return Form(tuple(made))


def _common_length(lengths: list[str]) -> str:
    """The length of an axis of the result."""
    others = [length for length in lengths if length != "1" and not are_rows(length)]
    rows = list(dict.fromkeys(length for length in lengths if are_rows(length)))
    if len(rows) > 1:
        raise UnprovedError("rows that a mask takes meet all rows, or those of another mask")
    if rows:
        if others:
            raise UnprovedError(
                f"an axis of length {others[0]} meets the rows, and may be one of them or have their number"
            )
        return rows[0]
    known = [length for length in others if length != "?"]
    return known[0] if known else others[0] if others else "1"


def reduced_form(form: Form, axis: object, keeps: bool, adds: str) -> Form:
    """What a reduction over `axis` (None, a number, a tuple) leaves; `adds` is sum or mean if it adds up.

    >>> reduced_form(Form(("rows", "K")), 1, False, "").axes, reduced_form(Form(("rows", "K")), 0, False, "sum").total
    (('rows',), 'sum')
    """
    if form.axes is None:
        return Form(() if axis is None and not keeps else None)
    gone = places(axis, len(form.axes))
    if gone is None:
        if form.row is not None:
            raise UnprovedError("the axis is no literal")
        return Form()
    left = [("1" if k in gone else one) for k, one in enumerate(form.axes) if keeps or k not in gone]
    if form.row not in gone:
        return Form(tuple(left))
    if form.some and adds == "mean":
        raise TotalError("it is a mean over the rows that a mask takes")
    if form.some and adds == "max":
        raise UnprovedError("it is a maximum over the rows that a mask takes, which may be none")
    if not adds:
        raise TotalError("it runs over the rows, and is neither a sum nor a mean")
    return Form(tuple(left), adds)


def places(axis: object, rank: int) -> tuple[int, ...] | None:
    """The axes that `axis=` means; None if that is not known."""
    if axis is None:
        return tuple(range(rank))
    listed = axis if isinstance(axis, tuple) else (axis,)
    if not all(isinstance(k, int) and -rank <= k < rank for k in listed):
        return None
    return tuple(k % rank for k in listed)


def product(one: Form, two: Form) -> Form:
    """The axes of `a @ b`; a product along the rows is a sum over them.

    >>> product(Form(("rows", "d")), Form(("d", "k"))).axes
    ('rows', 'k')
    >>> (total := product(Form(("d", "rows")), Form(("rows",)))).axes, total.total
    (('d',), 'sum')
    """
    if one.axes is None or two.axes is None:
        if one.row is not None or two.row is not None:
            raise UnprovedError("the rank of a factor is not known")
        return Form()
    if not one.axes or not two.axes:
        return Form()
    left, right = one.axes, two.axes
    inner = (left[-1], right[-2] if len(right) > 1 else right[0])
    if any(map(are_rows, inner)) and inner[0] != inner[1]:
        raise UnprovedError("the rows are multiplied with what is not known to have their number")
    stacks = broadcast_forms([Form(left[:-2]), Form(right[:-2])]).axes or ()
    made = (*stacks, *(left[-2:-1] if len(left) > 1 else ()), *(right[-1:] if len(right) > 1 else ()))
    if _rows_meet(made) or (are_rows(inner[0]) and any(map(are_rows, made))):
        raise UnprovedError("rows meet rows along two axes")
    return Form(made, "sum" if are_rows(inner[0]) else "")


def summation(subscripts: str, forms: Sequence[Form]) -> Form:
    """The axes of `np.einsum(subscripts, ...)`.

    >>> summation("ni,ij->nj", [Form(("rows", "d")), Form(("d", "k"))]).axes
    ('rows', 'k')
    """
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow or "." in subscripts or len(terms) != len(forms):
        raise UnprovedError("the subscripts have an ellipsis, or do not name the output")
    lengths: dict[str, str] = {}
    for term, form in zip(terms, forms, strict=True):
        if form.axes is None or len(form.axes) != len(term):
            raise UnprovedError("the rank of an operand is not known")
        for letter, length in zip(term, form.axes, strict=True):
            known = lengths.setdefault(letter, length)
            if (are_rows(known) or are_rows(length)) and known != length:
                raise UnprovedError("the rows are multiplied with what is not known to have their number")
    rows = [letter for letter, length in lengths.items() if are_rows(length)]
    if len(rows) > 1:
        raise UnprovedError("rows meet rows along two axes")
    return Form(tuple(lengths[letter] for letter in output), "sum" if rows and rows[0] not in output else "")


def part(form: Form, index: Sequence[object], gathered: Callable[[Any], Form | None]) -> Form:
    """The axes of `x[index]`: each part is slice, None, Ellipsis, int, a literal slice as its text, or an operand.

    `gathered` gives the form of an array that stands as an index; None for a single integer.
    """
    if form.axes is None:
        raise UnprovedError("the rank of the array is not known")
    used = sum(one is not None and one is not Ellipsis for one in index)
    if used > len(form.axes):  # a name may be None
        raise UnprovedError("the places that it takes are not known")
    expanded: list[object] = []  # numbers, slices and what `gathered` takes
    for one in [*index, *([] if Ellipsis in index else [Ellipsis])]:
        expanded += [slice(None)] * (len(form.axes) - used) if one is Ellipsis else [one]
    made: list[str] = []
    axis, arrays = 0, 0
    for one in expanded:
        if one is None:
            made.append("1")
            continue
        length, axis = form.axes[axis], axis + 1
        if isinstance(one, slice):
            made.append(length)
            continue
        if are_rows(length):
            raise UnprovedError("it takes some of the rows")
        if isinstance(one, str):  # a slice with bounds
            made.append("?")
            continue
        found = gathered(one)
        if found is not None:
            arrays += 1
            if found.axes is None or arrays > 1 or any(isinstance(k, int) for k in expanded):
                raise UnprovedError("the places that it takes are not known")
            made += found.axes
    if _rows_meet(made):
        raise UnprovedError("rows meet rows along two axes")
    return Form(tuple(made))


CODE = "E5029"
Handler = Callable[[Node, dict[str, Node], "Rows"], Form]


@record
class Rows:
    """What is known of a function whose arguments `over` come in blocks of rows."""

    facts: Facts
    over: tuple[str, ...]
    forms: dict[str, Form]
    callee: Callable[[Node, Operation, Rows], Form]
    handlers: Mapping[object, Handler]  # of the operations that are not elementwise
    seen: list[Form] = field(default_factory=list)  # all values with rows, in the order of the text
    counts: set[str] = field(default_factory=set)  # names of how many rows there are
    shapes: set[str] = field(default_factory=set)  # names of shapes of arguments with rows
    bound: list[str] = field(default_factory=list)  # names of the function, as often as they are bound
    masks: set[str] = field(default_factory=set)  # names of arrays of booleans
    checked: dict[str, None] = field(default_factory=dict)  # arguments that have to be arrays of booleans
    fresh: set[str] = field(default_factory=set)  # names of new arrays with rows, into which rows may be written
    scattered: dict[str, tuple[str | None, ...]] = field(
        default_factory=dict
    )  # what groups add up to -> what copies it
    call: Node | None = None  # of the function that is looked at, where another one calls it
    whole: Node | None = None  # the value of the statement of the function that is looked at

    def scatters(self, call: Node) -> bool:
        """Whether a call adds to elements of an array."""
        operation = self.facts.resolution.operation.get(call)
        return operation is not None and operation.function is add_at

    def ask_for_lines(self) -> None:
        """Ask for the lines of a called function in the place of its call, as it adds up over rows."""
        if self.call is not None and not is_over_rows(self.call, self.facts):
            raise OverRowsError(place_in_text(self.call, self.facts))

    def refuse(self, node: Node, reason: str) -> DifferentiationError:
        """The error about an expression."""
        return self.facts.refuse(
            node,
            CODE,
            reason,
            "write the function as a sum or mean of what each row gives; ranks are known when the derivative is called,"
            " and from `n, d = x.shape`",
        )

    def write_out(self, call: Node, why: UnprovedError) -> None:
        """Ask for a call by sums over rows, or as the lines of the function that adds up."""
        operation = _operation(call, self) if isinstance(why, TotalError) else None
        if operation is None or not self.facts.module or not self.facts.module.blocks or is_over_rows(call, self.facts):
            return
        if operation.kind == "callee" or _has_total_form(operation):
            raise OverRowsError(place_in_text(call, self.facts))

    def depends(self, node: Node) -> bool:
        """Whether an expression reads rows, their number apart."""
        counted = {id(n.value) for n in find_nodes(node, gast.Attribute) if self._is_count(n)}
        counted |= {id(one) for one in read_for_lengths(node, self.over, self.facts)}
        names = [n for n in find_nodes(node, gast.Name) if id(n) not in counted]
        return any(self.forms.get(n.id, Form()).row is not None for n in names)

    def level(self, node: Node) -> int:
        """How many loops over the rows come before an expression can be computed."""
        return max((self.forms[read].level for read in loads(node) if read in self.forms), default=0)

    def _is_count(self, node: Node) -> bool:
        held = node.value.id if isinstance(node.value, gast.Name) else ""
        return node.attr in ("dtype", "ndim") or (held in self.over and node.attr in ("shape", "size"))

    def is_count(self, node: Node) -> bool:
        """Whether an expression is how many rows there are, in all or in a block."""
        if isinstance(node, gast.Name):
            return node.id in self.counts
        if isinstance(node, gast.Call) and node.args and not node.keywords and all(map(self.is_count, node.args)):
            meant = binding_of(node.func, self.facts, self.facts.names.local)
            return meant is not None and meant.object in (min, max)
        held = getattr(_counted(node, self), "id", "")
        first = not isinstance(node, gast.Subscript) or getattr(node.slice, "value", None) == 0
        return first and held.removesuffix(IN_BLOCK) in self.over

    def is_mask(self, node: Node) -> bool:
        """Whether an expression is an array of booleans; of an argument it is looked at when the text runs."""
        if isinstance(node, gast.Compare):
            return True
        if isinstance(node, gast.Name):
            kind = self.facts.kinds.of_names.get(node.id, UNKNOWN)
            if node.id in self.over and self.bound.count(node.id) == 0 and kind.dtype == "integer":
                self.checked[node.id] = None
                return True
            return node.id in self.masks
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Invert):
            return self.is_mask(node.operand)
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.BitAnd | gast.BitOr | gast.BitXor):
            return self.is_mask(node.left) and self.is_mask(node.right)
        operation = _operation(node, self)
        function = None if operation is None else operation.function
        return isinstance(function, np.ufunc) and all(types.endswith("?") for types in function.types)

    def form(self, node: Node, numbers: bool = False) -> Form:
        """The form of an expression; E5029 if it reads rows and cannot be proved to treat each by itself."""
        _count_all_rows(node, self)
        level, rows = self.level(node), self.depends(node)
        try:
            found = _form(node, self)
            if found.numbers and not numbers:
                if self.whole is None:
                    raise CountError("it reads the numbers of rows among all")
                raise NestedError(node, _added(name(FIRST), node, self.facts), Form((ROWS,)))
        except UnprovedError as why:
            if rows or isinstance(why, CountError):
                self.write_out(node, why)
                raise self.refuse(node, str(why)) from None
            found = Form()
        if rows and found.row is None and not found.total and not _is_length(node):
            raise self.refuse(node, "it is not known to treat each row by itself")
        if rows and not isinstance(node, gast.Name | gast.Subscript | gast.Attribute):
            self.seen.append(found)
        spec = self.facts.values.spec.get(node)
        if found.axes is None and spec is not None and spec.ndim is not None:
            found = Form(("?",) * spec.ndim)
        level += bool(found.total)
        if found.total and self.whole is not None and node is not self.whole:
            raise NestedError(node, node)
        return found if found.level == level else replace(found, level=level)


def _added(one: Node, two: Node, facts: Facts) -> Node:
    """The sum of two operands."""
    value = gast.BinOp(one, gast.Add(), two)
    facts.resolution.operation[value] = Operation("op", np.add, rule_of(np.add), {"x": one, "y": two})
    return value


def _has_total_form(operation: Operation) -> bool:
    """Whether an operation over rows may be written by sums: a norm that is the Euclidean one, weights for each."""
    order = operation.bound.get("ord")
    usual = order is None or getattr(order, "value", "") in (None, "fro")
    return usual and written_by_totals(operation.function) is not None


def _count_all_rows(node: Node, rows: Rows) -> None:
    """Ask an argument for the number of rows, not what is made of a block: `len(x)` for `len(x @ w)`."""
    for part in walk(node):
        held = _counted(part, rows)
        form = rows.forms.get(getattr(held, "id", ""), Form())
        if held is None or held.id in rows.over or held.id.endswith(IN_BLOCK) or form.row is None or form.some:
            continue
        if isinstance(part, gast.Subscript):
            axis = literal_value(part.slice) if isinstance(part.slice, gast.Constant | gast.UnaryOp) else None
            if places(axis, len(form.axes or ())) != (form.row,) or axis is None:
                continue
            part.slice = gast.Constant(0, None)
        elif form.row:
            continue
        if not rows.over:  # in a function that is called: its caller knows
            rows.ask_for_lines()
            continue
        held.id = rows.over[0]


def _counted(node: Node, rows: Rows) -> Node | None:
    """`z` of `len(z)` and `z.shape[0]`."""
    if _is_length(node):
        return node.value.value if isinstance(node.value.value, gast.Name) else None
    if not isinstance(node, gast.Call) or len(node.args) != 1 or not isinstance(node.args[0], gast.Name):
        return None
    meant = binding_of(node.func, rows.facts, rows.facts.names.local)
    return node.args[0] if meant is not None and meant.object is len else None


def read_for_lengths(node: Node, over: tuple[str, ...], facts: Facts) -> list[Node]:
    """The names of arguments with rows that an expression asks for lengths alone: `x` of `x.shape`, `len(x)`."""
    found = [n.value for n in find_nodes(node, gast.Attribute) if n.attr in ("shape", "size")]
    for call in (n for n in find_nodes(node, gast.Call)):
        meant = binding_of(call.func, facts, facts.names.local)
        if meant is not None and any(meant.object is one for one in (len, np.shape, np.size, np.ndim)):
            if all(isinstance(a, gast.Name) and a.id in over for a in call.args):
                found += call.args
    return [one for one in found if isinstance(one, gast.Name) and one.id in over]


def _form(node: Node, rows: Rows) -> Form:
    if isinstance(node, gast.Constant):
        return Form(()) if isinstance(node.value, int | float | complex | None) else Form()
    if isinstance(node, gast.Name):
        return rows.forms[node.id] if node.id in rows.forms else _of_global(node, rows)
    if isinstance(node, gast.Attribute) and not rows.depends(node) and node.attr != "T":
        return Form(()) if node.attr in ("size", "ndim") or _is_number_of_module(node, rows) else Form()
    if _is_length(node):
        return _length(node, rows)
    sized = isinstance(node, gast.Attribute) and node.attr == "size"
    counted = node.value if sized else _counted(node, rows)
    held = rows.forms.get(getattr(counted, "id", ""), Form())
    if (held.some and held.row == 0) or (sized and held.row is not None):  # how many rows a mask takes
        return Form((), "sum")
    if isinstance(node, gast.Compare):
        return broadcast_forms([rows.form(part) for part in (node.left, *node.comparators)])
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Invert | gast.Not):
        return rows.form(node.operand)
    operation = _operation(node, rows)
    return Form() if operation is None else _of_operation(node, operation, rows)


def _of_global(node: Node, rows: Rows) -> Form:
    found = rows.facts.namespace.lookup(node.id)
    value: object = None if found is None or found.kind != "object" else found.object
    if isinstance(value, int | float | complex | np.number):
        return Form(())
    return Form(("?",) * value.ndim) if isinstance(value, np.ndarray) else Form()


def _is_number_of_module(node: Node, rows: Rows) -> bool:
    """Whether an expression is a number of a module: `np.nan`."""
    owner, meant = (binding_of(one, rows.facts, rows.facts.names.local) for one in (node.value, node))
    known = owner is not None and isinstance(owner.object, ModuleType)
    return known and meant is not None and isinstance(meant.object, int | float)


def _is_length(node: Node) -> bool:
    """Whether an expression is `z.shape[k]`."""
    return isinstance(node, gast.Subscript) and isinstance(node.value, gast.Attribute) and node.value.attr == "shape"


def _length(node: Node, rows: Rows) -> Form:
    """`z.shape[1]`: a number, unless it is how many rows a block has."""
    held = node.value.value
    form = rows.form(held) if isinstance(held, gast.Name) and held.id not in rows.over else Form()
    if form.row is not None and form.axes is not None:
        axis = node.slice.value if isinstance(node.slice, gast.Constant) else form.row
        if places(axis, len(form.axes)) in (None, (form.row,)):
            raise UnprovedError("it is the number of rows of a block")
    return Form(())


def _operation(node: Node, rows: Rows) -> Operation | None:
    known = rows.facts.resolution.operation.get(node)
    if known is not None:
        return known
    try:
        return operation_of(node, rows.facts, rows.facts.names.local)
    except DifferentiationError:
        return None


def _of_operation(node: Node, operation: Operation, rows: Rows) -> Form:
    if operation.kind == "callee":
        return rows.callee(node, operation, rows)
    if operation.kind != "op" or operation.rule is None:
        return Form()
    function, bound = operation.function, operation.bound or _bound_by_place(node, operation.rule, rows)
    given = list(bound.values())
    by_element = operation.rule.kind == "elementwise" or operation.rule.gives == "elements"
    if by_element or (isinstance(function, np.ufunc) and function.signature is None):
        return broadcast_forms([rows.form(one) for one in given])
    if function is operator.getitem:
        return _item(bound["x"], bound["index"], rows)
    if not given:
        return Form()
    handler = rows.handlers.get(function) if getattr(function, "__hash__", None) else None
    handler = handler or rows.handlers.get(operation.rule.along or operation.rule.gives or operation.rule.shape)
    handler = handler or rows.handlers.get(operation.rule.shape)
    return Form() if handler is None else handler(node, _with_axis(bound, operation.rule), rows)


def _with_axis(bound: dict[str, Node], rule: Rule) -> dict[str, Node]:
    """The arguments of an operation, with the axis along which it works where none is said."""
    known = {} if rule.definition is None else inspect.signature(rule.definition).parameters
    if "axis" in bound or "axis" not in known or known["axis"].default is None:
        return bound
    return {**bound, "axis": literal_node(known["axis"].default)}


def _bound_by_place(node: Node, rule: Rule, rows: Rows) -> dict[str, Node]:
    """The operands of an operation without a derivative, of which nothing is bound: `np.any(a, axis)`."""
    if isinstance(node, gast.BinOp):
        return {"x": node.left, "y": node.right}
    if isinstance(node, gast.UnaryOp):
        return {"x": node.operand}
    if not isinstance(node, gast.Call):
        return {}
    method = isinstance(node.func, gast.Attribute) and binding_of(node.func, rows.facts, rows.facts.names.local) is None
    given = [*([node.func.value] if method else []), *node.args]
    names = ("a", "axis") if rule.gives == "reduced" else ()
    places_of = dict(zip((*names, *map(str, range(len(names), len(given)))), given, strict=False))
    return {**places_of, **{str(word.arg): word.value for word in node.keywords}}


def _item(array: Node, index: Node, rows: Rows) -> Form:
    """`x[index]`."""
    whole = rows.form(array)

    def form_of_index(one: Node) -> Form | None:
        if isinstance(one, gast.List) and one.elts and all(is_integer(part) for part in one.elts):
            return Form(("?",))
        form = rows.form(one)
        if form.axes == () and not (is_integer(one) or getattr(one, "id", "") in rows.facts.values.integers):
            raise UnprovedError("an index is not known to be an integer")
        return None if form.axes == () else form

    listed = index.elts if isinstance(index, gast.Tuple) else [index]
    paired = _pairs(whole, listed, rows) or _masked(whole, listed, rows)
    if paired is not None:
        return paired
    return part(whole, [_place(one, rows.facts) for one in listed], form_of_index)


def _pairs(whole: Form, listed: list[Node], rows: Rows) -> Form | None:
    """`z[np.arange(n), label]`: of each row the element that it names; None where the rows are not numbered."""
    if whole.row != 0 or whole.some or len(listed) > len(whole.axes or ()) or isinstance(listed[0], gast.Slice):
        return None
    if not rows.depends(listed[0]) or not rows.form(listed[0], numbers=True).numbers:
        return None
    return Form((ROWS, *_other_places(whole, listed, ((), (ROWS,)), rows)))


def _other_places(whole: Form, listed: list[Node], kinds: tuple[Axes, ...], rows: Rows) -> list[str]:
    """The axes that indices behind the first leave: slices, and what has one of these kinds of axes."""
    left: list[str] = []
    for one, length in zip(listed[1:], (whole.axes or ())[1:], strict=False):
        place = _place(one, rows.facts)
        if isinstance(place, str | slice):
            left.append("?" if isinstance(place, str) else length)
        elif place is None or place is Ellipsis or rows.form(one).axes not in kinds:
            raise UnprovedError("the places that it takes are not known")
    return [*left, *(whole.axes or ())[len(listed) :]]


def _masked(whole: Form, listed: list[Node], rows: Rows) -> Form | None:
    """`z[mask]`: the rows that a mask takes, or their elements; None where the index is no mask."""
    first, *rest = listed
    if whole.row != 0 or whole.axes is None or isinstance(first, gast.Slice) or not rows.depends(first):
        return None
    form = rows.form(first)
    taken = len(form.axes or ())
    if form.row != 0 or form.some or whole.some or not rows.is_mask(first):
        return None
    if (rest and taken > 1) or len(listed) > len(whole.axes) or (taken > 1 and taken != len(whole.axes)):
        raise UnprovedError("the places that it takes are not known")
    read = sorted(names_in(first))
    if any(rows.bound.count(one) > 1 for one in read):
        raise UnprovedError("the mask is bound anew")
    left = whole.axes[taken:] if taken > 1 else _other_places(whole, listed, ((),), rows)
    return Form((f"{ROWS}[{gast.unparse(first)}]", *left))


def _place(one: Node, facts: Facts) -> object:
    if isinstance(one, gast.Slice):
        bounds = (one.lower, one.upper, one.step)
        if all(b is None or (isinstance(b, gast.Constant) and b.value is None) for b in bounds):
            return slice(None)
        return gast.unparse(one)
    if isinstance(one, gast.Constant) and (one.value is None or one.value is Ellipsis):
        return one.value
    meant = binding_of(one, facts, facts.names.local)
    return None if meant is not None and meant.object is None else one  # `np.newaxis`


def _literal(node: Node | None, default: object = None) -> object:
    """A literal's value; the string "?" for anything else."""
    return default if node is None else literal_of(node, "?")


def _reduction(adds: str) -> Handler:
    def handler(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
        first, *_ = bound.values()
        form, keeps = rows.form(first), _literal(bound.get("keepdims"), False)
        axis = _literal(bound.get("axis"))
        if form.row is not None and (keeps == "?" or axis == "?"):
            raise UnprovedError("the axis is no literal")
        return reduced_form(form, axis, keeps is True, adds)

    return handler


def _form_of_first(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    first, *rest = bound.values()
    if any(rows.depends(one) for one in rest):
        raise UnprovedError("it is not known to treat each row by itself")
    return rows.form(first)


def _form_of_peak(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """A value without derivatives; the greatest of all rows is found block by block."""
    (inner,) = bound.values()
    operation = _operation(inner, rows)
    try:
        return rows.form(inner) if operation is None or operation.function is not np.max else _form(inner, rows)
    except TotalError:
        axes = _reduction("max")(inner, operation.bound, rows).axes if operation is not None else None
        return Form(axes, "max")


def _form_of_squeeze(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """What has no axes of length 1 any more, or one less."""
    form, axis = rows.form(bound["a"]), _literal(bound.get("axis"))
    if form.axes is None or axis == "?":
        raise UnprovedError("the axes that it leaves out are not known")
    if axis is None:
        if not set(form.axes) <= {"1"}:
            raise UnprovedError("the axes that it leaves out are not known")
        return Form(())
    gone = places(axis, len(form.axes))
    if gone is None or form.row in gone:
        raise UnprovedError("it leaves out the rows")
    return Form(tuple(one for k, one in enumerate(form.axes) if k not in gone))


def _product(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    one, two = [rows.form(operand) for operand in list(bound.values())[:2]]
    return product(one, two)


def _form_of_outer(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.outer`, which takes all elements of its operands: rows where one of them is a number for each row."""
    one, two = [rows.form(operand) for operand in list(bound.values())[:2]]
    if any(form.row is not None and len(form.axes or ()) != 1 for form in (one, two)):
        raise UnprovedError("it mixes rows with what lies along other axes")
    sides = [form.axes[0] if form.axes is not None and len(form.axes) == 1 else "?" for form in (one, two)]
    if _rows_meet(sides):
        raise UnprovedError("rows meet rows along two axes")
    return Form(tuple(sides))


def _dot(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    one, two = [rows.form(operand) for operand in list(bound.values())[:2]]
    if max(len(one.axes or ()), len(two.axes or ())) > 2:
        raise UnprovedError("it is a product of more than two axes: use np.matmul")
    if one.axes == () or two.axes == ():
        return broadcast_forms([one, two])
    return product(one, two)


def _form_of_vdot(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.vdot`: all elements."""
    one, two = [rows.form(operand) for operand in list(bound.values())[:2]]
    if one.axes is None or one.axes != two.axes or "?" in one.axes or ROWS not in one.axes:
        raise UnprovedError("the two are not known to have one shape")
    return Form((), "sum")


def _form_of_moved(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """What puts axes in another order, or adds one: as of an array whose lengths tell them apart."""
    first, *others = bound.items()
    form, operation = rows.form(first[1]), _operation(node, rows)
    words = {word: _literal(one, "?") for word, one in others}
    moved = None if operation is None else operation.function
    if form.axes is None or not callable(moved) or "?" in words.values():
        raise UnprovedError("the order of the axes is not known")
    made = np.asarray(moved(np.empty(range(2, 2 + len(form.axes))), **words))
    return Form(tuple("1" if length == 1 else form.axes[length - 2] for length in made.shape))


def _form_of_reshape(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """A reshape of what has no rows: its rank is the length of a literal shape."""
    shape = bound.get("shape")
    form = rows.form(bound["a"])
    if not isinstance(shape, gast.Tuple) or "order" in bound or (form.row is not None and form.row != 0):
        raise UnprovedError("a reshape may mix rows")
    if form.row == 0 and not rows.is_count(shape.elts[0]):
        column = len(form.axes or ()) == 1 and [_literal(one, "?") for one in shape.elts] == [-1, 1]
        if not column:
            raise UnprovedError("a reshape may mix rows")
    elif form.row == 0:
        _count_in_block(node, rows)
    return Form(((form.axes or ("?",))[0] if form.row == 0 else "?", *["?"] * (len(shape.elts) - 1)))


def _form_of_stack(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.stack` and `np.concatenate` of parts that all have the rows along one axis."""
    parts, axis, new = bound["arrays"], _literal(bound.get("axis"), 0), node.func.attr == "stack"
    listed = parts.elts if isinstance(parts, gast.Tuple | gast.List) else []
    if not listed and new and axis == 0 and (form := rows.form(parts)).listed:
        return replace(form, listed=False)
    found = [rows.form(one) for one in listed]
    if found and all(f.axes is not None and f.row is None for f in found):
        return Form(("?",) * (len(found[0].axes or ()) + new))
    if not found or any(f.axes is None or f.row is None or f.row != found[0].row for f in found):
        raise UnprovedError("a part lacks the rows, or has them along another axis")
    axes = list(found[0].axes or ())
    _common_length([(f.axes or ())[f.row or 0] for f in found])
    if not isinstance(axis, int) or any(len(f.axes or ()) != len(axes) for f in found):
        raise UnprovedError("the axis is no literal, or the ranks differ")
    if new:
        axes.insert(axis % (len(axes) + 1), "?")
    elif axis % len(axes) == found[0].row:
        raise UnprovedError("it puts rows behind rows")
    else:
        axes[axis % len(axes)] = "?"
    return Form(tuple(axes))


def _einsum(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    subscripts, *operands = node.args
    if not isinstance(subscripts, gast.Constant):
        raise UnprovedError("the subscripts are no literal")
    return summation(str(subscripts.value), [rows.form(one) for one in operands])


def _kept_along(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """What works along some axes and leaves all lengths: `softmax(z, axis=1)`, `np.cumsum(z, axis=1)`."""
    first, *_ = bound.values()
    form, axis = rows.form(first), _literal(bound.get("axis"))
    along = places(axis, len(form.axes or ()))
    if form.row is None:
        return form if axis is not None or len(form.axes or ()) < 2 else Form()
    if along is None:
        raise UnprovedError("the axis is no literal")
    if form.row in along:
        raise TotalError("it runs along the rows")
    return form


def _form_of_inner(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.inner(a, b)`: the last axes go."""
    one, two = [rows.form(operand) for operand in list(bound.values())[:2]]
    if not one.axes or not two.axes:
        return broadcast_forms([one, two])
    if len(two.axes) > 2:
        raise UnprovedError("it is a product of more than two axes: use np.matmul")
    return product(one, Form(two.axes[::-1]))


def _form_of_solve(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.linalg.solve(a, b)`: one matrix and a column of b for each row, or a matrix for each row."""
    one, two = [rows.form(operand) for operand in list(bound.values())[:2]]
    if one.axes is None or two.axes is None or len(one.axes) < 2:
        raise UnprovedError("the rank of a factor is not known")
    if len(one.axes) == 2 and one.row is None and len(two.axes) == 2 and not are_rows(two.axes[0]):
        return two
    stacks = broadcast_forms([Form(one.axes[:-2]), Form(two.axes[:-2])]).axes or ()
    if len(two.axes) < 2 or any(map(are_rows, (*one.axes[-2:], *two.axes[-2:]))):
        raise UnprovedError("it mixes the rows")
    return Form((*stacks, *two.axes[-2:]))


def _form_of_matrices(left: int) -> Handler:
    """What is made of each matrix of a stack: one of the same shape, or a number."""

    def handler(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
        form = rows.form(next(iter(bound.values())))
        if form.axes is None or len(form.axes) < 2 or any(map(are_rows, form.axes[-2:])):
            raise UnprovedError("it is not known to treat each row by itself")
        return Form(form.axes if left else form.axes[:-2])

    return handler


def _form_of_side_by_side(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.column_stack` and `np.hstack`: numbers for each row become a column, matrices lie side by side."""
    parts = next(iter(bound.values()))
    found = [rows.form(one) for one in (parts.elts if isinstance(parts, gast.Tuple | gast.List) else [])]
    columns = node.func.attr == "column_stack"
    if not found or any(
        f.axes is None or f.row != 0 or len(f.axes) != 2 - (columns and len(f.axes) == 1) for f in found
    ):
        raise UnprovedError("a part lacks the rows, or has them along another axis")
    return Form((_common_length([(f.axes or ("?",))[0] for f in found]), "?"))


def _form_of_take(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.take(table, indices, axis=k)`: the indices' axes in the place of one that has no rows."""
    table, places_taken, axis = rows.form(bound["a"]), rows.form(bound["indices"]), _literal(bound.get("axis"))
    if table.axes is None or places_taken.axes is None:
        raise UnprovedError("the rank of an operand is not known")
    if axis is None and len(table.axes) != 1:
        raise UnprovedError("it takes elements of all axes")
    (place,) = places(axis or 0, len(table.axes)) or (None,)
    if place is None or are_rows(table.axes[place]):
        raise UnprovedError("it takes some of the rows")
    made = (*table.axes[:place], *places_taken.axes, *table.axes[place + 1 :])
    if _rows_meet(made):
        raise UnprovedError("rows meet rows along two axes")
    return Form(made)


def _form_of_take_along(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.take_along_axis(z, indices, axis=1)`: of each row its own."""
    whole, taken, axis = rows.form(bound["arr"]), rows.form(bound["indices"]), _literal(bound.get("axis"))
    if whole.axes is None or taken.axes is None or len(whole.axes) != len(taken.axes) or axis is None:
        raise UnprovedError("the ranks of the operands are not known to be the same")
    (place,) = places(axis, len(whole.axes)) or (None,)
    if place is None or place in (whole.row, taken.row):
        raise UnprovedError("it takes some of the rows")
    sides = [whole.axes, taken.axes]
    others = [Form((*axes[:place], "1", *axes[place + 1 :])) for axes in sides]
    made = list(broadcast_forms(others).axes or ())
    made[place] = taken.axes[place]
    return Form(tuple(made))


def _form_of_array(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.asarray(a)` of what is an array already."""
    first, *_ = bound.values()
    if isinstance(first, gast.List | gast.Tuple):
        if rows.depends(first) or any(rows.form(one).axes != () for one in first.elts):
            raise UnprovedError("it is not known to treat each row by itself")
        return Form(("?",))
    return replace(rows.form(first), listed=False)


def _in_block(node: Node, rows: Rows) -> Node:
    """How many rows a block has, for how many there are in all; what is read for that is a part of the loop."""
    if not rows.over:
        rows.ask_for_lines()
        raise CountError("the number of rows is handed to a function")
    return node if IN_BLOCK in gast.unparse(node) else expression("len(a)", a=name(rows.over[0] + IN_BLOCK))


def _form_of_filled(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.zeros((n, 3))`: rows where n is how many there are."""
    shape, *_ = bound.values()
    listed = shape.elts if isinstance(shape, gast.Tuple | gast.List) else [shape]
    counts = [rows.is_count(one) for one in listed]
    if sum(counts) != 1:
        if sum(counts):
            raise CountError("rows meet rows along two axes")
        return Form(("?",) * len(listed)) if isinstance(shape, gast.Tuple | gast.List) else Form()
    _count_in_block(node, rows)
    lengths = [str(one.value) if isinstance(one, gast.Constant) else "?" for one in listed]
    return Form(tuple(ROWS if counted else length for counted, length in zip(counts, lengths, strict=True)))


def _form_of_sum_of_list(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`sum(values)` of what each row gives."""
    form = rows.form(next(iter(bound.values())))
    if form.row != 0 or form.axes is None or len(node.args) > 1:
        raise UnprovedError("it is not known to treat each row by itself")
    return reduced_form(form, 0, False, "sum")


def _count_in_block(call: Node, rows: Rows) -> None:
    """Give a call the number of rows of a block in the place of that of all rows, alone or in a shape."""

    def counted(one: Node) -> Node:
        if isinstance(one, gast.Tuple | gast.List):
            one.elts = [_in_block(part, rows) if rows.is_count(part) else part for part in one.elts]
        return _in_block(one, rows) if rows.is_count(one) else one

    call.args = [counted(one) for one in call.args]
    for word in call.keywords:
        word.value = counted(word.value)
    known = rows.facts.resolution.operation.get(call)
    if known is not None:
        bound = {parameter: counted(one) for parameter, one in known.bound.items()}
        rows.facts.resolution.operation[call] = replace(known, bound=bound)


def _form_of_range(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.arange(n)`: the numbers of rows, where n is how many there are."""
    if not any(rows.is_count(one) for one in bound.values()):
        return Form(("?",))
    if len(node.args) != 1 or any(word.arg != "dtype" for word in node.keywords):
        raise CountError("it numbers some of the rows")
    _count_in_block(node, rows)
    return Form((ROWS,), numbers=True)


def _form_of_groups(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.add.at(total, label, v)`: what `total` holds, with what rows add to zeros."""
    if not rows.depends(node):
        return rows.form(bound["x_bar"])
    if rows.whole is None:
        rows.ask_for_lines()
        raise UnprovedError("the sum stands in a branch, a loop or another function")
    given = {"g": bound["g"], "x": bound["x_bar"], "index": bound["index"]}
    value = expression(f"{rows.facts.library('scatter', scatter)}(g, x, index)", **given)
    rows.facts.resolution.operation[value] = Operation("op", scatter, rule_of(scatter), given)
    raise NestedError(node, value, None, copy(bound["x_bar"]))


def _form_of_scatter(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """Zeros like x, to which each row adds its g at its index."""
    added, whole, label = (rows.form(bound[word]) for word in ("g", "x", "index"))
    first = (label.axes or ("?",))[0]
    fits = added.axes == () or (added.axes and (first, len(whole.axes or ())) == (added.axes[0], len(added.axes)))
    if label.axes != (first,) or not are_rows(first) or whole.axes is None or whole.row is not None or not fits:
        raise UnprovedError("the places that it adds to are not known")
    return Form(whole.axes, "sum")


def _form_of_bins(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.bincount(label, weights, minlength)`."""
    weights = bound.get("weights")
    if "minlength" not in bound or (weights is not None and rows.form(weights).row is None):
        raise UnprovedError("the number of groups is that of the labels, or a weight has no row: give `minlength`")
    raise TotalError("it adds up over the rows")


HANDLERS: dict[object, Handler] = {
    add_at: _form_of_groups, scatter: _form_of_scatter, np.bincount: _form_of_bins,
    np.sum: _reduction("sum"), np.mean: _reduction("mean"), np.nansum: _reduction("sum"), "reduce": _reduction(""),
    sum: _form_of_sum_of_list,
    "reduced": _reduction(""), np.count_nonzero: _reduction("sum"), "kept": _kept_along, "inner": _form_of_inner,
    "solve": _form_of_solve, np.linalg.inv: _form_of_matrices(2), np.linalg.cholesky: _form_of_matrices(2),
    np.linalg.det: _form_of_matrices(0), np.column_stack: _form_of_side_by_side, np.hstack: _form_of_side_by_side,
    "filled": _form_of_filled, "row": _form_of_range, np.asarray: _form_of_array, np.array: _form_of_array,
    np.take: _form_of_take, np.take_along_axis: _form_of_take_along, np.interp: _form_of_first,
    np.matmul: _product, np.dot: _dot, np.vdot: _form_of_vdot, np.transpose: _form_of_moved,
    np.swapaxes: _form_of_moved, np.moveaxis: _form_of_moved, np.expand_dims: _form_of_moved,
    np.stack: _form_of_stack, np.concatenate: _form_of_stack, np.outer: _form_of_outer, np.einsum: _einsum,
    groups_below: _form_of_first,
    np.copy: _form_of_first, np.reshape: _form_of_reshape, max_or_least: _reduction(""), min_or_most: _reduction(""),
    stop_gradient: _form_of_peak, np.squeeze: _form_of_squeeze,
    np.ndarray.astype: _form_of_first, np.zeros_like: _form_of_first, np.ones_like: _form_of_first,
    np.full_like: _form_of_first, np.empty_like: _form_of_first,
    np.cumsum: _kept_along, np.cumprod: _kept_along, np.sort: _kept_along,
}  # fmt: skip


@record
class Phase:
    """A loop over blocks of rows, and what it needs that has no rows."""

    before: Block = field(default_factory=list)
    loop: Block = field(default_factory=list)


@record
class Plan:
    """The statements of a function in the order in which loops over blocks run them; `totals` says what is added.

    A phase reads the totals of the phases before it. What it reads of rows it computes itself.
    """

    phases: list[Phase] = field(default_factory=lambda: [Phase()])
    after: Block = field(default_factory=list)
    totals: dict[Node, str] = field(default_factory=dict)
    in_turn: dict[Node, list[str]] = field(default_factory=dict)  # loops over rows, and the names to which they add
    seen: list[Form] = field(default_factory=list)
    body: Block = field(default_factory=list)  # of the function
    writes: dict[Node, int] = field(default_factory=dict)  # what writes into the rows of new arrays, in which loop
    masks: dict[str, None] = field(default_factory=dict)  # arguments that have to be arrays of booleans

    @property
    def sums(self) -> set[Node]:
        """The statements that add up over the rows."""
        return {*self.totals, *(loop for loop, names in self.in_turn.items() if names)}

    @property
    def added(self) -> set[str]:
        """The names to which loops over rows add."""
        return {held for names in self.in_turn.values() for held in names}

    def total_names(self) -> set[str]:
        """The names of what is added up."""
        return {str(target(node)) for node in self.totals} | self.added

    def loop_at(self, level: int) -> Block:
        """The statements of the loop of a level."""
        while len(self.phases) <= level:
            self.phases.append(Phase())
        return self.phases[level].loop


def plan(function: Node, over: tuple[str, ...], facts: Facts) -> Plan:
    """What stands before the loop over blocks of rows, in it, and behind it; E5029 where that cannot be proved."""
    rows = Rows(facts, over, {}, _of_callee, HANDLERS)
    rows.bound = [s for node in statements(function.body) for s in stores(node) if s not in written_names(node)]
    for parameter in parameters(function):
        rows.forms[parameter] = _of_parameter(parameter, over, function, facts)
    rows.forms.update({held + IN_BLOCK: rows.forms[held] for held in over})
    found = Plan(seen=rows.seen, body=function.body, masks=rows.checked)
    for node in function.body[:-1]:
        _place_with_sums(node, found, rows)
    result = function.body[-1]
    if rows.depends(result.value):
        raise facts.refuse(result, CODE, "the result has an entry for each row", "return a sum or a mean over the rows")
    if not found.sums:
        raise facts.refuse(
            result, CODE, f"nothing is added up over the rows of {', '.join(over)}", "leave `blocked` out"
        )
    _end_with_totals(found, function, rows)
    if len(found.phases) == 1:
        _settle(found, function, facts)
    else:
        _repeat_rows(found, function, facts)
    _postpone(found, function)
    return found


def _end_with_totals(found: Plan, function: Node, rows: Rows) -> None:
    """What stands behind the last total has no loop of its own."""
    last = max(k for k, phase in enumerate(found.phases) if found.sums & set(phase.loop))
    rest = found.phases[last + 1 :]
    for node in [one for phase in rest for one in phase.loop if not _only_binds(one)]:
        raise rows.refuse(header(node)[0], "it reads rows and a sum over them, and gives nothing")
    late = {node for phase in rest for node in phase.before}
    found.after = [node for node in function.body if node in late]
    del found.phases[last + 1 :]


def _repeat_rows(found: Plan, function: Node, facts: Facts) -> None:
    """Each of several loops has all statements with rows that its totals need, and nothing that another one has bound.

    Names that are bound once may be read in any order; those of rows are followed in the order of the text.
    """
    with_rows = {node for phase in found.phases for node in phase.loop}
    _check_bound_once(with_rows, found, function, facts)
    for level, phase in enumerate(found.phases):
        writes = {node for node, own in found.writes.items() if own <= level and node not in found.sums}
        phase.loop = _needed_rows(found.sums & set(phase.loop), writes, with_rows, found)
        _check_loops_apart(phase, found, facts)
        flow = liveness(phase.loop)
        bound = {s for node in statements(phase.loop) for s in stores(node)} - found.added
        for name in [one for one, bit in flow.bits.items() if flow.before[0] & bit and one in bound]:
            raise facts.refuse(function, CODE, f"`{name}` is carried from row to row", "bind it once, in one statement")
    unread = with_rows - {node for phase in found.phases for node in phase.loop}
    for node in [one for one in function.body if one in unread and not _only_binds(one)]:
        raise facts.refuse(header(node)[0], CODE, "it reads rows and gives nothing", "leave it out")


def _check_loops_apart(phase: Phase, found: Plan, facts: Facts) -> None:
    """What a loop that adds up keeps of each row is read with its sums alone: it is not run again for others."""
    read = {one for node in statements(phase.loop) for one in loads(node)}
    for loop in [one for one in found.in_turn if one in found.sums and one not in phase.loop]:
        kept = read & {held for node in statements(loop.body) for held in written_names(node)}
        if kept:
            reason = f"`{min(kept)}` is filled by a loop that adds up as well, and is read by a later one"
            raise facts.refuse(loop.iter, CODE, reason, "fill it in a loop of its own")


def _only_binds(node: Node) -> bool:
    """Whether a statement, with all that it holds, does no more than to bind names: it may be left out."""
    return all(isinstance(one, gast.Assign | gast.If | gast.For | gast.Pass) for one in statements([node]))


def _check_bound_once(with_rows: set[Node], found: Plan, function: Node, facts: Facts) -> None:
    """A name that is bound by several statements is one of rows, in all of them."""
    binders = {p: [function] for p in parameters(function)}
    for node in function.body:
        for name in dict.fromkeys(s for one in statements([node]) for s in stores(one)):
            known = binders.setdefault(name, [])
            known.append(node)
            if name in found.in_turn.get(node, ()):  # it has been looked at
                continue
            of_rows = with_rows >= {*known} and not {*known} & found.totals.keys()
            if len(known) > 1 and not of_rows and not _is_bound_in_order(name, known, with_rows, found, function):
                raise facts.refuse(node, CODE, f"`{name}` is bound anew between the rows", "give it another name")
    outside = [node for node in function.body if node not in with_rows]
    inside = {s for node in statements([one for one in function.body if one in with_rows]) for s in stores(node)}
    inside -= found.total_names()
    for node in outside:
        for name in [one for each in statements([node]) for one in loads(each) if one in inside]:
            raise facts.refuse(node, CODE, f"`{name}` is bound among the rows", "bind it apart from them")
        if written_names(node):
            raise facts.refuse(node, CODE, "an array is written behind the rows", "make a new array")


def _is_bound_in_order(name: str, binders: Block, with_rows: set[Node], found: Plan, function: Node) -> bool:
    """Whether statements without rows that bind a name stay in their order, and none between them reads it."""
    if binders[0] is function or with_rows & {*binders}:
        return False
    phases = [k for one in binders for k, phase in enumerate(found.phases) if one in phase.before]
    first, last = (function.body.index(binders[k]) for k in (0, -1))
    between = [node for node in function.body[first:last] if node not in binders]
    read = any(name in loads(one) for one in statements(between))
    return len(phases) == len(binders) and phases == sorted(phases) and not read


def _needed_rows(totals: set[Node], writes: set[Node], with_rows: set[Node], found: Plan) -> Block:
    """The statements with rows that some totals need, in the order of the text; writes may be seen by other names."""
    live, kept = set[str](), list[Node]()
    later = found.writes.keys() - writes
    for node in reversed([one for one in found.body if one in with_rows and one not in later - totals]):
        bound = {s for one in statements([node]) for s in stores(one)}
        if node in totals or node in writes or (live & bound and node not in found.sums):
            live -= {str(target(node))} if target(node) is not None and not is_write(node) else set()
            live |= {read for one in statements([node]) for read in loads(one)}
            kept.insert(0, node)
    return kept


def of_result(function: Node, over: str, facts: Facts) -> Form:
    """The form of what a function returns, by the rows of one argument; E5029 where that cannot be proved."""
    rows = Rows(facts, (over,), {}, _of_callee, HANDLERS)
    for parameter in parameters(function):
        rows.forms[parameter] = _of_parameter(parameter, (over,), function, facts)
    return _result(function, rows)


def _of_parameter(parameter: str, over: tuple[str, ...], function: Node, facts: Facts) -> Form:
    kind = facts.kinds.of_names.get(parameter, UNKNOWN)
    rank = 0 if kind.tag == "scalar" else kind.ndim if kind.tag == "array" else None
    same = not any(parameter in stores(node) for node in statements(function.body))
    if rank is None and kind.tag == "unknown":
        rank = _rank_from_shape_read(parameter, function)
    if parameter not in over:
        return Form(None if rank is None else tuple(f"{parameter}.shape[{k}]" if same else "?" for k in range(rank)))
    if not rank:
        raise facts.refuse(
            function,
            CODE,
            f"the rank of `{parameter}` is not known" if rank is None else f"`{parameter}` has no rows",
            f"call the derivative, which looks at its arguments, or write `n, d = {parameter}.shape` first",
        )
    return Form((ROWS, *(f"{parameter}.shape[{k}]" for k in range(1, rank))))


def _rank_from_shape_read(parameter: str, function: Node) -> int | None:
    """The rank of an argument that `n, d = x.shape` tells."""
    shapes = {f"{parameter}.shape"}
    for node in function.body:
        if isinstance(node, gast.Assign) and gast.unparse(node.value) in shapes:
            if isinstance(node.targets[0], gast.Tuple):
                return len(node.targets[0].elts)
            shapes |= set(stores(node))
    return None


def _place_with_sums(node: Node, found: Plan, rows: Rows) -> None:
    """Place a statement, and before it the sums over the rows that stand within its value: `r / (len(z[m]) + 1)`."""
    while True:
        rows.whole = node.value if target(node) is not None else None
        try:
            _place_statement(node, found, rows)
        except NestedError as nested:
            held = rows.facts.names.new_temporary()
            made = at(assign(held, nested.value), node)
            rows.facts.origin.user[made] = rows.facts.origin.user.get(node, node)
            rows.facts.origin.rewritten[rows.facts.origin.user.get(node, node)] = None
            new = name(held) if nested.other is None else _added(nested.other, name(held), rows.facts)
            if nested.other is not None:
                alone = getattr(nested.other, "id", "")
                rows.scattered[str(target(node))] = (alone,) if alone else (held, target(node))
            _put_name(nested.node, new, node, rows.facts)
            found.body.insert(found.body.index(node), made)
            if nested.form is None:
                _place_with_sums(made, found, rows)
                rows.whole = node.value
            else:
                rows.forms[held] = nested.form
                found.loop_at(0).append(made)
        else:
            rows.whole = None
            return


def _bind_anew(node: Node, found: Plan, rows: Rows) -> None:
    """`total[...] = t` as another name's binding, where t is what groups add up to, and nothing else knows `total`."""
    held, value = "".join(written_names(node)), getattr(node, "value", None)
    copied = rows.scattered.get(getattr(value, "id", ""))
    if not copied or not is_write(node) or getattr(part_written(node).slice, "value", None) is not Ellipsis:
        return
    place = found.body.index(node)
    before = statements(found.body[:place])
    binders = [one for one in before if held in stores(one)]
    fresh = len(binders) == 1 and (held in rows.scattered or _is_new(binders[0].value, rows))
    copies = [one for one in before if held in loads(one)]
    if (
        not fresh
        or target(binders[0]) != held
        or any(target(n) not in copied or not _is_new(n.value, rows) for n in copies)
    ):
        return
    new = rows.facts.names.fresh(held)
    rows.scattered[new] = ()
    rows.facts.kinds.of_names[new] = rows.facts.kinds.of_names.get(held, UNKNOWN)
    node.targets = [name(new, gast.Store())]
    for one in [n for other in statements(found.body[place + 1 :]) for n in find_nodes(other, gast.Name)]:
        one.id = new if one.id == held else one.id


def _put_name(old: Node, new: Node, node: Node, facts: Facts) -> None:
    """Put a name in the place of an expression that a statement holds, and of what is known of its operations."""
    put(node, old, new)
    for parent in walk(node):
        known = facts.resolution.operation.get(parent)
        if known is not None:
            bound = {word: new if one is old else one for word, one in known.bound.items()}
            facts.resolution.operation[parent] = replace(known, bound=bound)


def _place_statement(node: Node, found: Plan, rows: Rows) -> None:
    """Put a statement of the function before the loop, into it, or behind it."""
    _bind_anew(node, found, rows)
    inner = list(statements([node]))
    if _is_loop_over_rows(node, rows):
        with_rows, level, changes = True, _loop_over_rows(node, rows, found), False
    elif isinstance(node, COMPOUND):
        with_rows, level = _compound(node, rows)
        changes = any(written_names(one) for one in inner)
    else:
        with_rows, level = _write_of_rows(node, rows, found) or _reads_of_statement(node, rows, found)
        changes = bool(written_names(node)) and node not in found.writes
    if changes and (with_rows or any(phase.loop for phase in found.phases)):
        raise rows.refuse(header(node)[0], "it writes into an array, behind the first use of the rows")
    within = found.loop_at(level)
    (within if with_rows else found.phases[level].before).append(node)


def _is_loop_over_rows(node: Node, rows: Rows) -> bool:
    """`for row in x`, `for k in range(len(x))`."""
    if not isinstance(node, gast.For) or not isinstance(node.target, gast.Name):
        return False
    if isinstance(node.iter, gast.Name):
        form = rows.forms.get(node.iter.id, Form())
        return form.row == 0 and not form.some
    _count_all_rows(node.iter, rows)
    meant = binding_of(node.iter.func, rows.facts, rows.facts.names.local) if isinstance(node.iter, gast.Call) else None
    return meant is not None and meant.object is range and len(node.iter.args) == 1 and rows.is_count(node.iter.args[0])


def _loop_over_rows(loop: Node, rows: Rows, found: Plan) -> int:
    """Note what a loop over the rows gives, one after another: sums, and what it keeps of each; and its level.

    A trip reads no row but its own, and nothing that another one has left: it may add to sums, append to a list once,
    and write its row of a new array.
    """
    index = "" if isinstance(loop.iter, gast.Name) else str(loop.target.id)
    for node in statements(loop.body):
        _check_trip(node, index, rows)
    _with_number(loop, index, rows)
    inner = statements(loop.body)
    bound = dict.fromkeys(s for node in [loop, *inner] for s in stores(node))
    level = max((rows.level(part) for node in [loop, *inner] for part in header(node)), default=0)
    sums: list[str] = []
    kept: dict[str, Form] = {}
    for held in [one for one in live_in(loop.body) if one in bound and one != loop.target.id]:
        touching = [n for n in inner if held in stores(n) or held in loads(n)]
        if all(adds_to(n, held, rows.scatters) for n in touching):
            sums.append(held)
        elif _is_filled(held, touching, loop, found, level):
            kept[held] = Form((ROWS, *_axes_of(touching[0].value.args[0], rows)), level=level, listed=True)
        elif held in rows.fresh and index:
            kept[held] = _written_at(level, held, loop, found, rows)
        else:
            raise rows.refuse(_first_part(touching[0]), f"`{held}` is carried from row to row")
    local = {*bound} - {*sums, *kept}
    _check_writes(inner, local, rows)
    _check_ends(loop, sums, local, found, rows)
    rows.forms.update({**kept, **{held: Form(_axes_of_name(held, rows), level=level + 1) for held in sums}})
    found.in_turn[loop] = sums
    if index:
        loop.iter.args = [_in_block(loop.iter.args[0], rows)]
    return level


def _check_trip(node: Node, index: str, rows: Rows) -> None:
    """Of values with rows a trip reads its own row."""
    if isinstance(node, gast.With | gast.FunctionDef | gast.Break | gast.Return):
        raise rows.refuse(_first_part(node), "a loop over rows goes on to the last")
    if index in stores(node):
        raise rows.refuse(_first_part(node), f"`{index}` is bound anew, which numbers the rows")
    for part in header(node):
        own = [one.value for one in walk(part) if _is_own_row(one, index, rows)]
        own += read_for_lengths(part, rows.over, rows.facts)
        for one in find_nodes(part, gast.Name):
            if rows.forms.get(one.id, Form()).row is not None and not any(one is other for other in own):
                raise rows.refuse(part, f"it reads other rows of `{one.id}` than its own")


def _with_number(loop: Node, index: str, rows: Rows) -> None:
    """In a loop over rows, the number of a row that is no index is that among all."""
    parts = [part for node in statements(loop.body) for part in header(node)]
    own = {id(_first_index(one)) for part in parts for one in walk(part) if _is_own_row(one, index, rows)}
    others = [n for part in parts for n in find_nodes(part, gast.Name) if n.id == index and id(n) not in own]
    if others:
        held = rows.facts.names.new_temporary()
        loop.body.insert(0, at(assign(held, _added(name(FIRST), name(index), rows.facts)), loop.body[0]))
        for one in others:
            one.id = held


def _is_own_row(node: Node, index: str, rows: Rows) -> bool:
    """`x[k]`, `x[k, 0]`: of what has its rows along the first axis."""
    held = getattr(getattr(node, "value", None), "id", "") if isinstance(node, gast.Subscript) else ""
    own = bool(held and index) and getattr(_first_index(node), "id", "") == index
    return own and rows.forms.get(held, Form()).row == 0 and not rows.forms[held].some


def _first_index(node: Node) -> Node:
    listed = isinstance(node.slice, gast.Tuple) and node.slice.elts
    return node.slice.elts[0] if listed else node.slice


def _is_filled(held: str, touching: Block, loop: Node, found: Plan, level: int) -> bool:
    """Whether each trip appends one item to a list, which is empty before the loop: that is bound in it, then."""
    before = [n for n in found.body[: found.body.index(loop)] if held in names_in(n)]
    empty = len(before) == 1 and target(before[0]) == held and isinstance(before[0].value, gast.List)
    if not empty or before[0].value.elts or len(touching) != 1 or touching[0] not in loop.body:
        return False
    if not isinstance(touching[0], gast.Expr) or held in [n for a in touching[0].value.args for n in loads(a)]:
        return False
    for phase in found.phases:
        phase.before = [node for node in phase.before if node is not before[0]]
    found.loop_at(level).append(before[0])
    return True


def _check_writes(inner: Block, local: set[str], rows: Rows) -> None:
    """What a trip writes into it has made itself, or is its row of a new array."""
    for node in inner:
        for held in [one for one in written_names(node) if one in local]:
            makers = [n for n in inner if held in stores(n) and held not in written_names(n)]
            if not all(isinstance(n, gast.Assign) and _is_new(n.value, rows) for n in makers):
                raise rows.refuse(_first_part(node), "it writes into what is not known to be a new array")


def _is_new(node: Node, rows: Rows) -> bool:
    """Whether an expression makes an array, or a list, of its own."""
    return isinstance(node, gast.BinOp | gast.List) or makes_new_value(node, rows.facts)


def _check_ends(loop: Node, sums: list[str], local: set[str], found: Plan, rows: Rows) -> None:
    """Nothing reads what the last trip has left, nor a sum before all has been added to it."""
    place = found.body.index(loop)
    for held in [one for one in live_in(found.body[place + 1 :]) if one in local]:
        raise rows.refuse(loop.iter, f"`{held}` is read behind the loop, where it is that of the last row")
    for held in sums:
        before = [n for n in found.body[:place] if held in names_in(n)]
        if len(before) > 1 or any(target(n) != held or held in loads(n) or n in found.totals for n in before):
            raise rows.refuse(loop.iter, f"`{held}` is read, or bound anew, before all rows are added to it")


def _axes_of(node: Node, rows: Rows) -> Axes:
    spec = rows.facts.values.spec.get(node)
    if isinstance(node, gast.Name):
        return _axes_of_name(node.id, rows) or ()
    return ("?",) * (spec.ndim if spec is not None and spec.ndim is not None else 0)


def _axes_of_name(held: str, rows: Rows) -> Axes | None:
    spec = rows.facts.values.value_spec.get(held)
    return None if spec is None or spec.ndim is None else ("?",) * spec.ndim


def _first_part(node: Node) -> Node:
    """Of a statement what an error is about."""
    value = getattr(node, "value", None)
    return next(iter(header(node)), node) if value is None else value


def _write_of_rows(node: Node, rows: Rows, found: Plan) -> tuple[bool, int] | None:
    """The same of a write into each row, or those that a mask takes, of a new array: `r[mask] = e`, `z[:, 0] += e`."""
    held = written_names(node)
    if not is_write(node) or len(held) != 1 or held[0] not in rows.fresh:
        return None
    written = part_written(node)
    if not isinstance(written.value, gast.Name):
        return None
    try:
        part = _item(written.value, written.slice, rows)
        made = broadcast_forms([part, rows.form(node.value)])
    except UnprovedError as why:
        raise rows.refuse(written, str(why)) from None
    if part.row is None or made.row != part.row or len(made.axes or ()) != len(part.axes or ()):
        raise rows.refuse(written, "it is not known to treat each row by itself")
    level = max(rows.level(one) for one in header(node))
    rows.forms[held[0]] = _written_at(level, held[0], node, found, rows)
    return True, level


def _written_at(level: int, held: str, node: Node, found: Plan, rows: Rows) -> Form:
    """The form of an array that is written into, in the loop of this level: no other name knows it before, then."""
    form = rows.forms[held]
    if level > form.level:
        before = found.body[: found.body.index(node)]
        if any(held in loads(one) and held not in written_names(one) for one in statements(before)):
            raise rows.refuse(_first_part(node), f"`{held}` is read before a sum over rows is written into it")
    found.writes[node] = level
    return replace(form, level=max(level, form.level))


def _reads_of_statement(node: Node, rows: Rows, found: Plan | None) -> tuple[bool, int]:
    """Whether a statement reads rows, and how many loops come before it; what it binds is noted."""
    value = getattr(node, "value", None)
    bound = target(node)
    if bound is not None and not is_write(node):
        if found is not None:
            _count_all_rows(node.value, rows)
            once = rows.bound.count(bound) == 1
            rows.counts |= {bound} if once and rows.is_count(node.value) else set()
            rows.shapes |= {bound} if once and _is_shape(node.value, rows) else set()
        form = rows.form(node.value, numbers=isinstance(node.value, gast.Call))
        known = rows.facts.values.value_spec.get(bound)
        if form.axes is None and known is not None and known.ndim is not None:
            form = replace(form, axes=("?",) * known.ndim)
        rows.forms[bound] = form
        if form.row is not None and rows.is_mask(node.value):
            rows.masks.add(bound)
        rows.fresh -= {bound}
        alone = found is None or rows.bound.count(bound) == 1
        rows.fresh |= {bound} if form.row == 0 and alone and _is_new(node.value, rows) else set()
        if form.total:
            if found is None:
                rows.ask_for_lines()
                raise rows.refuse(node.value, "the sum stands in a branch, a loop or another function")
            found.totals[node] = form.total
            rows.forms[bound] = replace(form, total="")
            return True, form.level - 1
        return form.row is not None, form.level
    if any(rows.depends(part) for part in header(node)):
        raise rows.refuse(header(node)[0] if value is None else value, "it is not known to treat each row by itself")
    level = max((rows.level(part) for part in header(node)), default=0)
    unpacked = found is not None and isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple)
    if unpacked and _is_shape(node.value, rows):
        rows.counts |= {one for one in stores(node)[:1] if rows.bound.count(one) == 1}
    for name in stores(node):
        known, kind = rows.facts.values.value_spec.get(name), rows.facts.kinds.of_names.get(name, UNKNOWN)
        rank = known.ndim if known is not None else None
        rank = kind.ndim if rank is None and kind.tag == "array" else rank
        rows.forms[name] = Form(None if rank is None else ("?",) * rank, level=level)
    return False, level


def _is_shape(value: Node, rows: Rows) -> bool:
    """`x.shape`, of an argument with rows."""
    if isinstance(value, gast.Name):
        return value.id in rows.shapes
    return isinstance(value, gast.Attribute) and value.attr == "shape" and getattr(value.value, "id", "") in rows.over


def _compound(node: Node, rows: Rows) -> tuple[bool, int]:
    """The same of a branch or a loop, whose statements stay together."""
    if isinstance(node, gast.With | gast.FunctionDef):
        raise rows.refuse(header(node)[0], "a `with` or a function stands in it")
    if _is_loop_over_rows(node, rows):
        rows.ask_for_lines()
    found = _reads_of_statement(gast.Expr(header(node)[0]), rows, None)
    with_rows, level = found
    bound = dict.fromkeys(s for one in statements([node]) for s in stores(one))
    while True:
        before = dict(rows.forms)
        if isinstance(node, gast.For):
            for name in stores(node):
                spec = rows.facts.values.value_spec.get(name)
                rows.forms[name] = Form(None if spec is None or spec.ndim is None else ("?",) * spec.ndim, level=level)
        sides = []
        for block in (node.body, getattr(node, "orelse", None) or []):
            rows.forms = dict(before)
            for one in block:
                reads, needs = (
                    _compound(one, rows) if isinstance(one, COMPOUND) else _reads_of_statement(one, rows, None)
                )
                with_rows, level = with_rows or reads, max(level, needs)
            sides.append(rows.forms)
        rows.forms = {**before, **{name: _merge_forms(name, [before, *sides], node, rows) for name in bound}}
        if rows.forms == before:
            break
    rows.forms.update({name: replace(rows.forms[name], level=level) for name in bound})
    return with_rows, level


def _merge_forms(name: str, sides: list[dict[str, Form]], node: Node, rows: Rows) -> Form:
    """What holds of a name on all ways: with rows along one axis, or without."""
    forms = [side[name] for side in sides if name in side]
    ranks = {None if form.axes is None else len(form.axes) for form in forms}
    places = {form.row for form in forms}
    if (
        len(places) > 1
        or any(form.some or form.numbers or form.listed for form in forms)
        or (None in ranks and places != {None})
        or (len(ranks) > 1 and places != {None})
    ):
        raise rows.refuse(header(node)[0], f"`{name}` has rows on one way, and none or others on another")
    level = max((form.level for form in forms), default=0)
    if len(ranks) > 1 or None in ranks:
        return Form(level=level)
    columns = zip(*(form.axes or () for form in forms), strict=True)
    return Form(tuple(column[0] if len(set(column)) == 1 else "?" for column in columns), level=level)


def _settle(found: Plan, function: Node, facts: Facts) -> None:
    """What the loop binds anew in each trip is bound in it from the start, and read nowhere else."""
    (phase,) = found.phases
    while True:
        bound = {s for node in statements(phase.loop) for s in stores(node)} - found.added
        more = [n for n in phase.before if any(s in bound for one in statements([n]) for s in stores(one))]
        if not more:
            break
        inside = {*phase.loop, *more}
        phase.loop = [node for node in function.body if node in inside]
        phase.before = [node for node in phase.before if node not in inside]
    totals = found.total_names()
    bound = {s for node in statements(phase.loop) for s in stores(node)} - totals
    flow = liveness(phase.loop)
    carried = [one for one, bit in flow.bits.items() if flow.before[0] & bit and one in bound | totals - found.added]
    outside = [*phase.before, *found.after, function.body[-1]]
    late = [one for node in statements(outside) for one in loads(node) if one in bound]
    early = [s for node in statements(phase.before) for s in stores(node) if s in bound | totals - found.added]
    early += [s for node in statements(found.after) for s in stores(node) if s in bound | totals]
    twice = [one for one in totals - found.added if sum(one in stores(node) for node in statements(phase.loop)) > 1]
    for name in [*carried, *late, *early, *twice]:
        raise facts.refuse(function, CODE, f"`{name}` is carried from row to row", "bind it once, in one statement")
    _check_order(found, function, facts)
    others = [node for node in phase.loop if node not in found.in_turn and node not in found.writes]
    if any(written_names(node) for node in statements([*others, *found.after])):
        raise facts.refuse(function, CODE, "an array is written behind the rows", "make a new array")


def _postpone(found: Plan, function: Node) -> None:
    """What no loop needs stays behind them, where the user wrote it."""
    first = function.body.index(found.phases[0].loop[0])
    moved = {node for phase in found.phases for node in phase.before}
    early = {node for node in found.phases[0].before if function.body.index(node) < first}
    needed = {one for phase in found.phases for node in statements(phase.loop) for one in loads(node)}
    kept = set[Node]()
    for node in reversed([one for one in function.body if one in moved]):
        inner = list(statements([node]))
        if node in early or needed & {s for one in inner for s in stores(one)}:
            needed |= {one for each in inner for one in loads(each)}
            kept.add(node)
    late = (moved - kept) | set(found.after)
    for phase in found.phases:
        phase.before = [node for node in function.body if node in phase.before and node in kept]
    found.after = [node for node in function.body if node in late]


def _check_order(found: Plan, function: Node, facts: Facts) -> None:
    """No statement that moves up, before the loop, binds anew what a statement above it reads."""
    moved, read = set(found.phases[0].before), set[str]()
    for node in function.body:
        inner = list(statements([node]))
        anew = read & {s for one in inner for s in stores(one)}
        if node in moved and anew:
            raise facts.refuse(node, CODE, f"`{min(anew)}` is bound anew behind the rows", "give it another name")
        read |= set() if node in moved else {one for each in inner for one in loads(each)}


def _of_callee(call: Node, operation: Operation, rows: Rows) -> Form:
    """The form of what a function with source makes of its arguments."""
    if not rows.depends(call):
        return Form()
    facts = rows.facts
    callee = facts.module.callee(operation.function, call, facts)
    bound = bind(call, callee.tree, facts)
    forms = {parameter: rows.form(argument) for parameter, argument in bound.items()}
    kinds = kinds_of(bound, facts)
    kinds |= {p: Kind("array", len(form.axes)) for p, form in forms.items() if form.axes}
    tree, inner = facts.module.front(operation.function, tuple(p for p, f in forms.items() if f.row is not None), kinds)
    forms = {**{p: Form() for p in parameters(tree)}, **forms}
    within = Rows(inner, (), forms, _of_callee, HANDLERS, rows.seen, call=call)
    try:
        return _result(tree, within)
    except RecursionError:
        raise rows.refuse(call, "it calls itself") from None


def _result(tree: Node, within: Rows) -> Form:
    """The form of what a function returns, whose arguments have forms."""
    for node in tree.body[:-1]:
        if isinstance(node, COMPOUND):
            _compound(node, within)
        elif (
            target(node) is not None
            and node is tree.body[-2]
            and target(node) == getattr(tree.body[-1].value, "id", "")
        ):
            return within.form(node.value)
        else:
            _reads_of_statement(node, within, None)
    return within.form(tree.body[-1].value)


def note_row_independence(function: Node, facts: Facts) -> Node:
    """Note it for a function that a text for many directions calls, and that is differentiated by one argument."""
    facts.request = replace(
        facts.request,
        by_rows=facts.request.called
        and len(facts.request.wrt) == 1
        and _is_rowwise(function, facts.request.wrt[0], facts),
    )
    return function


def _is_rowwise(function: Node, over: str, facts: Facts) -> bool:
    kind = facts.kinds.of_names.get(over)
    if kind is None or kind.tag != "array" or not kind.ndim or any(written_names(n) for n in statements(function.body)):
        return False
    try:
        form = of_result(function, over, facts)
    except DifferentiationError:
        return False
    return form.row == 0 and not form.level and not form.total
