"""Expressions in C, and statements with several results."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any  # functions are arbitrary objects

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import Node, literal_integer, walk
from srcgrad.opencl.kernels.c_functions import FUNCTIONS, identifier
from srcgrad.opencl.kernels.lines import SCANS

Place = tuple[Any, Any]  # a node and a field of it, or a list and an index

_REDUCTIONS: dict[object, str] = {
    np.sum: "SUM", np.mean: "MEAN", np.max: "MAX", np.amax: "MAX", np.min: "MIN", np.amin: "MIN",
    np.prod: "PROD", np.cumsum: "CUMSUM", np.cumprod: "CUMPROD",
}  # fmt: skip
_HELPERS = (
    "sum_to", "spread", "share", "share_nearest", "count", "recurrence", "recurrence_back", "products_before",
    "prod_without",
)  # fmt: skip

_METHODS = {
    "sum": "SUM", "mean": "MEAN", "max": "MAX", "min": "MIN", "prod": "PROD", "cumsum": "CUMSUM", "cumprod": "CUMPROD",
}  # fmt: skip


@dataclass
class ManyCall:
    """One such call: where the values are that it takes, and the value whose shape it looks at."""

    form: str
    values: list[Place]
    likes: list[Place]
    axis: int | None = None
    kept: bool = False
    back: bool = False  # of a running sum, whether it runs from the end
    before: bool = False  # of a running product, whether each element's own is left out

    @property
    def is_total(self) -> bool:
        """Whether it puts all elements together, whatever the shape."""
        return self.form in ("SUM", "MEAN", "PROD", "MAX", "MIN") and self.axis is None


class Spelling:
    """How a text calls NumPy and our helpers."""

    def __init__(
        self, imports: dict[str, str], function: Callable[[Node], object], single: Callable[[str], int | None]
    ) -> None:
        self.helpers = {imports[key]: key for key in _HELPERS if key in imports}
        self.function = function  # what a call means
        self.single = single  # the axis of length one of what a name is bound to

    def many(self, node: Node) -> ManyCall | None:
        """The call as one of many elements; None for any other expression."""
        if isinstance(node, gast.Subscript):
            return (
                self._read_reversed_sum(node, node.value)
                if _is_reversal(node)
                else new_axis(node) or self._read_only_element(node)
            )
        if not isinstance(node, gast.Call):
            return None
        if isinstance(node.func, gast.Name) and node.func.id in self.helpers:
            return _helper(node, self.helpers[node.func.id])
        function = self.function(node)
        if function in _REDUCTIONS:
            return _reduction(node, _REDUCTIONS[function], node.args, 0)
        if function is None and isinstance(node.func, gast.Attribute) and node.func.attr in _METHODS:
            return _reduction(node, _METHODS[node.func.attr], [node.func.value, *node.args], -1)
        return self._read_reshaping(node, function)

    def _read_only_element(self, node: Node) -> ManyCall | None:
        """`e[:, 0]`, where `e` has no more than one element along that axis."""
        axis = _picked_axis(node)
        same = axis is not None and self._read_single_axis(node.value) == axis
        return ManyCall("ONLY", [(node, "value")], [], axis) if same else None

    def _read_single_axis(self, node: Node) -> int | None:
        """The axis along which an expression has one element, where the text shows that."""
        if isinstance(node, gast.Name):
            return self.single(node.id)
        found = self.many(node)
        if found is not None and found.form in ("SUM_TO", "SPREAD"):
            return self._read_single_axis(at(found.likes[0]))
        return found.axis if found is not None and (found.form == "AXIS" or found.kept) else None

    def _read_reversed_sum(self, node: Node, inner: Node) -> ManyCall | None:
        """A running sum from the end: `np.cumsum(x[::-1])[::-1]`, or with `np.flip(..., 1)` of both."""
        found = self.many(inner) if isinstance(inner, gast.Call) else None
        if found is None or found.form not in ("CUMSUM", "CUMPROD") or found.back or found.before or found.likes:
            return None
        of = at(found.values[0])
        if isinstance(node, gast.Subscript):
            same = found.axis is None and isinstance(of, gast.Subscript) and _is_reversal(of)
            return dataclasses.replace(found, values=[(of, "value")], back=True) if same else None
        axis = literal_integer(node.args[1])
        same = isinstance(of, gast.Call) and self.function(of) is np.flip and len(of.args) == 2 and not of.keywords
        same = same and axis is not None and axis == found.axis == literal_integer(of.args[1])
        return dataclasses.replace(found, values=[(of.args, 0)], back=True) if same else None

    def _read_reshaping(self, node: Node, function: object) -> ManyCall | None:
        if node.keywords or len(node.args) != 2:
            return None
        two = node.args[1]
        if function is np.flip:
            return self._read_reversed_sum(node, node.args[0])
        if function is np.reshape and isinstance(node.args[0], gast.Subscript) and _is_reversal(node.args[0]):
            found = self.many(node.args[0])
            if found is not None and isinstance(two, gast.Call) and self.function(two) is np.shape:
                return dataclasses.replace(found, likes=[(two.args, 0)])
        if function is np.broadcast_to and isinstance(two, gast.Call) and self.function(two) is np.shape:
            return ManyCall("SPREAD", [(node.args, 0)], [(two.args, 0)])
        if function is np.full_like:
            return ManyCall("FILL", [(node.args, 1)], [(node.args, 0)])
        if function is np.expand_dims and (axis := literal_integer(two)) is not None:
            return ManyCall("AXIS", [(node.args, 0)], [], axis)
        return None


def at(place: Place) -> Node:
    """The node in a place."""
    holder, field = place
    found: Node = holder[field] if isinstance(holder, list) else getattr(holder, field)
    return found


def put(place: Place, node: Node) -> None:
    """Another node in a place."""
    holder, field = place
    if isinstance(holder, list):
        holder[field] = node
    else:
        setattr(holder, field, node)


def replace(node: Node, old: Node, new: Node) -> None:
    """Another node in place of one inside of a tree."""
    for item in walk(node):
        for key in item._fields:
            part = getattr(item, key, None)
            if part is old:
                setattr(item, key, new)
            elif isinstance(part, list):
                setattr(item, key, [new if child is old else child for child in part])


def _is_reversal(node: Node) -> bool:
    """`x[::-1]`"""
    part = node.slice
    return isinstance(part, gast.Slice) and part.lower is part.upper is None and literal_integer(part.step) == -1


def new_axis(node: Node) -> ManyCall | None:
    """`x[:, None]` and `x[..., None]`, which have one axis more."""
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    new = [k for k, part in enumerate(parts) if isinstance(part, gast.Constant) and part.value is None]
    if len(new) != 1:
        return None
    others = parts[: new[0]] + parts[new[0] + 1 :]
    if all(isinstance(p, gast.Slice) and not (p.lower or p.upper or p.step) for p in others):
        return ManyCall("AXIS", [(node, "value")], [], new[0])
    dots = len(others) == 1 and isinstance(others[0], gast.Constant) and others[0].value is Ellipsis
    return ManyCall("AXIS", [(node, "value")], [], -1) if dots and new[0] == 1 else None


def _picked_axis(node: Node) -> int | None:
    """The axis of which an index takes the first element, where it takes all of the others."""
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    first = [k for k, part in enumerate(parts) if literal_integer(part) == 0]
    if len(first) != 1:
        return None
    others = parts[: first[0]] + parts[first[0] + 1 :]
    if all(isinstance(p, gast.Slice) and not (p.lower or p.upper or p.step) for p in others):
        return first[0]
    dots = len(others) == 1 and isinstance(others[0], gast.Constant) and others[0].value is Ellipsis
    return -1 if dots and first[0] == 1 else None


def _helper(node: Node, helper: str) -> ManyCall | None:
    if helper == "sum_to" and len(node.args) == 2 and not node.keywords:
        return ManyCall("SUM_TO", [(node.args, 0)], [(node.args, 1)])
    if helper == "count":
        found = _where(node, 1)
        return None if found is None or found[1] else ManyCall("COUNT", [], [(node.args, 0)], found[0])
    if helper in ("recurrence", "recurrence_back"):
        found = _where(node, 2)
        given = ([(node.args, 0)], [(node.args, 1)])
        return None if found is None else ManyCall("RECUR", *given, found[0], back=helper == "recurrence_back")
    if helper == "products_before":
        found = _where(node, 1)
        return None if found is None else ManyCall("CUMPROD", [(node.args, 0)], [], found[0], before=True)
    if helper == "prod_without":
        found = _where(node, 1)
        return None if found is None else ManyCall("OTHERS", [(node.args, 0)], [], found[0])
    if helper == "spread":
        found = _where(node, 2)
        return None if found is None else ManyCall("SPREAD", [(node.args, 0)], [(node.args, 1)], *found)
    if helper in ("share", "share_nearest"):
        found, form = _where(node, 3), "SHARE" if helper == "share" else "NEAREST"
        return None if found is None else ManyCall(form, [(node.args, k) for k in range(3)], [], *found)
    return None


def _reduction(node: Node, form: str, given: list[Node], shift: int) -> ManyCall | None:
    found = _where(node, 1 + shift)
    if found is None or not given or (found[1] and form in SCANS) or len(node.args) > 2 + shift:
        return None  # the third argument of NumPy's reductions is a dtype
    place = (node.args, 0) if shift == 0 else (node.func, "value")
    return ManyCall(form, [place], [], *found)


def _where(node: Node, first: int) -> tuple[int | None, bool] | None:
    """The axis of a call and whether it is kept, from the arguments behind the first ones; None if they say more."""
    if len(node.args) < first or len(node.args) > first + 2:
        return None
    given: dict[str, Node] = dict(zip(("axis", "keepdims"), node.args[first:], strict=False))
    for keyword in node.keywords:
        if keyword.arg not in ("axis", "keepdims") or keyword.arg in given:
            return None
        given[keyword.arg] = keyword.value
    axis, kept = given.get("axis"), given.get("keepdims")
    if kept is not None and not (isinstance(kept, gast.Constant) and isinstance(kept.value, bool)):
        return None
    keeps = kept is not None and kept.value
    if axis is None or (isinstance(axis, gast.Constant) and axis.value is None):
        return None, keeps
    found = literal_integer(axis)
    return None if found is None else (found, keeps)


def is_of_shape(node: Node) -> bool:
    """`len(x)`, `x.size`, `x.shape[0]`"""
    if isinstance(node, gast.Subscript):
        return isinstance(node.value, gast.Attribute) and node.value.attr == "shape"
    if isinstance(node, gast.Call):
        return isinstance(node.func, gast.Name) and node.func.id == "len"
    return isinstance(node, gast.Attribute) and node.attr in ("size", "ndim")


_OPERATORS: dict[type[Node], str] = {gast.Add: "+", gast.Sub: "-", gast.Mult: "*", gast.Div: "/"}
CALLED: dict[type[Node], str] = {
    gast.Mod: "remainder",
    gast.FloorDiv: "floor_divide",
}  # operators that are functions in C
_COMPARISONS = {gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=", gast.Eq: "==", gast.NotEq: "!="}
_CHOICE, _TEST, _SUM, _PRODUCT, _SIGN, _ATOM = range(1, 7)  # how strongly an expression binds
_FACTORS = (2, 3, 4, -2)  # exponents that are so many factors
_WORD = re.compile(r"[A-Za-z_]\w*")
FLAT: dict[object, str] = {
    np.sign: "sign", np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc", np.isnan: "isnan",
    np.floor_divide: "floor_divide",
}  # fmt: skip


class NotElementwiseError(Exception):
    """The expression is no elementwise operation that OpenCL C has a form for."""


def form_of(function: object) -> str | None:
    """The C of an elementwise function, if kernels have all that it calls."""
    rule = rule_of(function)
    if rule is None or rule.kind != "elementwise" or rule.cl is None or function is np.float_power:  # always float64
        return None
    return rule.cl if set(re.findall(r"(\w+)\(", rule.cl)) <= FUNCTIONS else None


class Printer:
    """Prints expressions; `lines` collects what goes before: operands that are read twice, reductions."""

    def __init__(
        self,
        imports: dict[str, str],
        fresh: Callable[[], str],
        means: Callable[[Node], object] = lambda _: None,
        single: Callable[[str], int | None] = lambda _: None,
    ) -> None:
        self.numpy = imports.get("np", "np")
        self.means = means
        self.fresh = fresh
        self.lines: list[str] = []
        self.own = {local: getattr(runtime, key) for key, local in imports.items() if hasattr(runtime, key)}
        self.spelling = Spelling(imports, self.function, single)

    def text(self, node: Node, place: int = 0) -> str:
        """The expression as C, in parentheses where its place binds more strongly than it does."""
        text, strength = self._print_node(node)
        return text if strength >= place else f"({text})"

    def _print_node(self, node: Node) -> tuple[str, int]:
        if isinstance(node, gast.Name):
            return identifier(node.id), _ATOM
        if isinstance(node, gast.Constant):
            return _number(node.value)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            return f"-{self.text(node.operand, _ATOM)}", _SIGN
        if isinstance(node, gast.BinOp):
            return self._print_binary(node)
        if isinstance(node, gast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            sides = (self.text(node.left, _SUM), self.text(node.comparators[0], _SUM))
            return f"{sides[0]} {_COMPARISONS[type(node.ops[0])]} {sides[1]}", _TEST
        many = self.spelling.many(node)
        if many is not None:
            return self._print_many(many)
        if isinstance(node, gast.Call):
            return self._call(node)
        raise NotElementwiseError

    def is_test(self, node: Node) -> bool:
        """Whether an expression is true or false, element by element."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.BitAnd | gast.BitOr):
            return self.is_test(node.left) and self.is_test(node.right)
        return isinstance(node, gast.Compare) or (isinstance(node, gast.Call) and self.function(node) is np.isnan)

    def _print_binary(self, node: Node) -> tuple[str, int]:
        tests = self.is_test(node.left) and self.is_test(node.right)
        if isinstance(node.op, gast.BitAnd | gast.BitOr) and tests:
            sign = "&&" if isinstance(node.op, gast.BitAnd) else "||"
            return f"{self.text(node.left, _TEST)} {sign} {self.text(node.right, _TEST)}", _CHOICE
        if isinstance(node.op, gast.Pow):
            return self._power(node.left, node.right)
        operator, called = _OPERATORS.get(type(node.op)), CALLED.get(type(node.op))
        if tests or operator is called is None:
            raise NotElementwiseError
        if operator is None:
            return f"{called}({self.text(node.left)}, {self.text(node.right)})", _ATOM
        own = _SUM if operator in "+-" else _PRODUCT
        return f"{self.text(node.left, own)} {operator} {self.text(node.right, own + 1)}", own

    def _power(self, base: Node, exponent: Node) -> tuple[str, int]:
        """Powers; those that are products or roots as such, which are sooner computed."""
        value = exponent.value if isinstance(exponent, gast.Constant) else None
        if value == 0.5:
            return f"sqrt({self.text(base)})", _ATOM
        if value == -1:
            return f"1.0 / {self.text(base, _ATOM)}", _PRODUCT
        if value in _FACTORS:
            inverse = value < 0
            word = self._word(f"1.0 / {self.text(base, _ATOM)}" if inverse else self.text(base))
            return " * ".join([word] * int(abs(value))), _PRODUCT
        return f"pow({self.text(base)}, {self.text(exponent)})", _ATOM

    def _call(self, node: Node) -> tuple[str, int]:
        if isinstance(node.func, gast.Attribute) and node.func.attr == "copy" and not node.args:
            return self._print_node(node.func.value)
        function = self.function(node)
        if function is np.where and len(node.args) == 3:
            test, yes, no = (self.text(argument, _TEST + 1) for argument in node.args)
            if not isinstance(node.args[0], gast.Name) and not self.is_test(node.args[0]):
                test = f"({self.text(node.args[0], _SUM)} != 0.0)"
            return f"{test} ? {yes} : {no}", _CHOICE
        if function in FLAT and len(node.args) == function.nin and not node.keywords:
            return f"{FLAT[function]}({', '.join(map(self.text, node.args))})", _ATOM
        rule, form = rule_of(function), form_of(function)
        if rule is None or form is None or node.keywords or len(node.args) != len(rule.parameters):
            raise NotElementwiseError
        call = re.fullmatch(r"\w+\([\w, ]*\)", form) is not None
        values = {}
        for parameter, argument in zip(rule.parameters, node.args, strict=True):
            text = self.text(argument, 0 if call else _ATOM)
            times = len(re.findall(rf"\b{parameter}\b", form))
            values[parameter] = self._word(text) if times > 1 else text
        return _WORD.sub(lambda word: values.get(word.group(), word.group()), form), _ATOM if call else _CHOICE

    def _print_many(self, many: ManyCall) -> tuple[str, int]:
        """A line for a call that puts elements together, and the name of its value."""
        values = [at(place) for place in many.values]
        likes = [self._word(self.text(at(place))) for place in many.likes]
        if any(map(self.is_test, values)):
            raise NotElementwiseError
        axis = "" if many.axis is None else str(many.axis)
        marks = ", ".join(filter(None, [axis, "kept" * many.kept, "back" * many.back, "before" * many.before]))
        if many.form in ("SHARE", "NEAREST"):
            return self._share(many, [self._word(self.text(value)) for value in values], marks)
        if many.form == "OTHERS":  # the products of all before, and of all behind
            of, before = self._word(self.text(values[0])), ", ".join(filter(None, [axis, "before"]))
            back = ", ".join(filter(None, [axis, "back", "before"]))
            return f"{self._line(f'CUMPROD({of}; {before})')} * {self._line(f'CUMPROD({of}; {back})')}", _PRODUCT
        given = [*map(self.text, values), *likes, *([marks] if marks else [])]
        if many.form == "SPREAD" and axis:
            given = [given[0] if many.kept else self._line(f"AXIS({given[0]}; {axis})"), *likes]
        return self._line(f"{many.form}({'; '.join(given)})"), _ATOM

    def _share(self, many: ManyCall, values: list[str], marks: str) -> tuple[str, int]:
        """The adjoint of an extreme, shared evenly by the elements that are equal, or nearest, to it."""
        g, a, y = values
        if many.axis is not None and not many.kept:
            g, y = self._line(f"AXIS({g}; {many.axis})"), self._line(f"AXIS({y}; {many.axis})")
            marks += ", kept"
        if many.form == "NEAREST":
            a = self._line(f"{a} == {y} ? 0.0 : fabs({a} - {y})")
            y = self._line(f"MIN({a}; {marks})" if marks else f"MIN({a})")
        hits = self._line(f"{a} == {y} ? 1.0 : 0.0")
        return f"{hits} * ({g} / {self._line(f'SUM({hits}; {marks})' if marks else f'SUM({hits})')})", _PRODUCT

    def _line(self, text: str) -> str:
        made = self.fresh()
        self.lines.append(f"REAL {made} = {text};")
        return made

    def _word(self, text: str) -> str:
        """A name for a text that is read more than once."""
        if _WORD.fullmatch(text):
            return text
        return self._line(text)

    def function(self, call: Node) -> Any:
        """The function that a call names: of NumPy, of our own, or one that the user's names mean; else None."""
        found = call.func
        if isinstance(found, gast.Name) and found.id in self.own:
            return self.own[found.id]
        if isinstance(found, gast.Attribute) and isinstance(found.value, gast.Name) and found.value.id == self.numpy:
            return getattr(np, found.attr, None)
        meant = self.means(found)
        numbers_only = getattr(meant, "__module__", None) in ("math", "builtins", "operator")
        return None if numbers_only else meant


def _number(value: object) -> tuple[str, int]:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) >= 2**53:
        raise NotElementwiseError
    if not math.isfinite(value):
        return ("NAN", _ATOM) if value != value else ("INFINITY", _ATOM)
    text = repr(float(value))
    return text, _SIGN if text.startswith("-") else _ATOM
