"""The form of an expression in normal form: where the rows lie in it, or why that cannot be proved."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any  # literals, and objects that global names mean

import gast
import numpy as np

from srcgrad.analyse.row_forms import Form, UnprovedError, joined, part, places
from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts, Operation
from srcgrad.front.resolve import binding_of, operation_of
from srcgrad.indices import is_integer
from srcgrad.trees import Node, loads, walk

CODE = "E5029"
Handler = Callable[[Node, dict[str, Node], "Rows"], Form]


@dataclass
class Rows:
    """What is known of a function whose arguments `over` come in blocks of rows."""

    facts: Facts
    over: tuple[str, ...]
    forms: dict[str, Form]
    callee: Callable[[Node, Operation, Rows], Form]
    handlers: Mapping[Any, Handler]  # of the operations that are not elementwise
    seen: list[Form] = field(default_factory=list)  # all values with rows, in the order of the text

    def refuse(self, node: Node, reason: str) -> DifferentiationError:
        """The error about an expression."""
        return self.facts.refuse(
            node,
            CODE,
            reason,
            "write the function as a sum or mean of what each row gives; ranks are known when the derivative is called,"
            " and from `n, d = x.shape`",
        )

    def depends(self, node: Node) -> bool:
        """Whether an expression reads rows, their number apart."""
        counted = {id(n.value) for n in walk(node) if isinstance(n, gast.Attribute) and self._is_count(n)}
        counted |= {id(a) for n in walk(node) if isinstance(n, gast.Call) and self._counts(n) for a in n.args}
        names = [n for n in walk(node) if isinstance(n, gast.Name) and id(n) not in counted]
        return any(self.forms.get(n.id, Form()).row is not None for n in names)

    def late(self, node: Node) -> bool:
        """Whether an expression reads a total."""
        return any(self.forms.get(read, Form()).late for read in loads(node))

    def _is_count(self, node: Node) -> bool:
        held = node.value.id if isinstance(node.value, gast.Name) else ""
        return node.attr in ("dtype", "ndim") or (held in self.over and node.attr in ("shape", "size"))

    def _counts(self, call: Node) -> bool:
        named = all(isinstance(a, gast.Name) and a.id in self.over for a in call.args)
        found = binding_of(call.func, self.facts, self.facts.local)
        return named and found is not None and any(found.object is one for one in (len, np.shape, np.size, np.ndim))

    def form(self, node: Node) -> Form:
        """The form of an expression; E5029 if it reads rows and cannot be proved to treat each by itself."""
        late, rows = self.late(node), self.depends(node)
        if late and rows:
            raise self.refuse(node, "it needs a whole sum over the rows, and the rows again")
        try:
            found = _form(node, self)
        except UnprovedError as why:
            if rows:
                raise self.refuse(node, str(why)) from None
            found = Form()
        if rows and found.row is None and not found.total and not _is_length(node):
            raise self.refuse(node, "it is not known to treat each row by itself")
        if rows and not isinstance(node, gast.Name | gast.Subscript | gast.Attribute):
            self.seen.append(found)
        spec = self.facts.spec.get(node)
        if found.axes is None and spec is not None and spec.ndim is not None:
            found = Form(("?",) * spec.ndim)
        late = late or bool(found.total)
        return found if found.late == late else replace(found, late=late)


def _form(node: Node, rows: Rows) -> Form:
    if isinstance(node, gast.Constant):
        return Form(()) if isinstance(node.value, int | float | complex) else Form()
    if isinstance(node, gast.Name):
        return rows.forms[node.id] if node.id in rows.forms else _of_global(node, rows)
    if isinstance(node, gast.Attribute) and not rows.depends(node):
        return Form(()) if node.attr in ("size", "ndim") else Form()
    if _is_length(node):
        return _length(node, rows)
    if isinstance(node, gast.Compare):
        return joined([rows.form(part) for part in (node.left, *node.comparators)])
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Invert | gast.Not):
        return rows.form(node.operand)
    operation = _operation(node, rows)
    return Form() if operation is None else _of_operation(node, operation, rows)


def _of_global(node: Node, rows: Rows) -> Form:
    found = rows.facts.namespace.lookup(node.id)
    value: Any = None if found is None or found.kind != "object" else found.object
    if isinstance(value, int | float | complex | np.number):
        return Form(())
    return Form(("?",) * value.ndim) if isinstance(value, np.ndarray) else Form()


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
    known = rows.facts.operation.get(node)
    if known is not None:
        return known
    try:
        return operation_of(node, rows.facts, rows.facts.local)
    except DifferentiationError:
        return None


def _of_operation(node: Node, operation: Operation, rows: Rows) -> Form:
    if operation.kind == "callee":
        return rows.callee(node, operation, rows)
    if operation.kind != "op" or operation.rule is None:
        return Form()
    function, bound = operation.function, operation.bound
    given = list(bound.values()) or _arguments(node)
    if operation.rule.kind == "elementwise" or (isinstance(function, np.ufunc) and function.signature is None):
        return joined([rows.form(one) for one in given])
    if function is operator.getitem:
        return _item(bound["x"], bound["index"], rows)
    handler = rows.handlers.get(function) if getattr(function, "__hash__", None) else None
    return Form() if handler is None else handler(node, bound or {"a": given[0]} if given else bound, rows)


def _arguments(node: Node) -> list[Node]:
    if isinstance(node, gast.BinOp):
        return [node.left, node.right]
    if isinstance(node, gast.Call):
        return [*node.args, *(word.value for word in node.keywords)]
    return [node.operand] if isinstance(node, gast.UnaryOp) else []


def _item(array: Node, index: Node, rows: Rows) -> Form:
    """`x[index]`."""
    whole = rows.form(array)

    def gathered(one: object) -> Form | None:
        form = rows.form(one)
        if form.axes == () and not (is_integer(one) or getattr(one, "id", "") in rows.facts.integers):
            raise UnprovedError("an index is not known to be an integer")
        return None if form.axes == () else form

    listed = index.elts if isinstance(index, gast.Tuple) else [index]
    return part(whole, [_place(one) for one in listed], gathered)


def _place(one: Node) -> object:
    if isinstance(one, gast.Slice):
        bounds = (one.lower, one.upper, one.step)
        if all(b is None or (isinstance(b, gast.Constant) and b.value is None) for b in bounds):
            return slice(None)
        return gast.unparse(one)
    if isinstance(one, gast.Constant) and (one.value is None or one.value is Ellipsis):
        return one.value
    return one
