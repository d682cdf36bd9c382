"""Expressions as OpenCL C, from the `cl` forms of the rules: what one element of an array is computed by.

What many elements are put into, or what changes axes, becomes a line of its own (see `lines`).

The text is written once, for any real type: `REAL` is float or double, numbers are cast to it when the kernel is built.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any  # ops are arbitrary objects

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import Node
from srcgrad.opencl.functions import FUNCTIONS
from srcgrad.opencl.many import Many, Spelling
from srcgrad.opencl.many import at as found_at
from srcgrad.opencl.names import identifier

_OPERATORS = {gast.Add: "+", gast.Sub: "-", gast.Mult: "*", gast.Div: "/"}
CALLED = {gast.Mod: "remainder", gast.FloorDiv: "floor_divide"}  # operators that are functions in C
_COMPARISONS = {gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=", gast.Eq: "==", gast.NotEq: "!="}
_CHOICE, _TEST, _SUM, _PRODUCT, _SIGN, _ATOM = range(1, 7)  # how strongly an expression binds
_FACTORS = (2, 3, 4, -2)  # exponents that are so many factors
_WORD = re.compile(r"[A-Za-z_]\w*")
FLAT: dict[Any, str] = {
    np.sign: "sign", np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc", np.isnan: "isnan",
    np.floor_divide: "floor_divide",
}  # fmt: skip


class NotElementwiseError(Exception):
    """The expression is no elementwise operation that OpenCL C has a form for."""


def form_of(function: Any) -> str | None:
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
        means: Callable[[Node], Any] = lambda _: None,
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
        text, strength = self._printed(node)
        return text if strength >= place else f"({text})"

    def _printed(self, node: Node) -> tuple[str, int]:
        if isinstance(node, gast.Name):
            return identifier(node.id), _ATOM
        if isinstance(node, gast.Constant):
            return _number(node.value)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            return f"-{self.text(node.operand, _ATOM)}", _SIGN
        if isinstance(node, gast.BinOp):
            return self._binary(node)
        if isinstance(node, gast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            sides = (self.text(node.left, _SUM), self.text(node.comparators[0], _SUM))
            return f"{sides[0]} {_COMPARISONS[type(node.ops[0])]} {sides[1]}", _TEST
        many = self.spelling.many(node)
        if many is not None:
            return self._many(many)
        if isinstance(node, gast.Call):
            return self._call(node)
        raise NotElementwiseError

    def is_test(self, node: Node) -> bool:
        """Whether an expression is true or false, element by element."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.BitAnd | gast.BitOr):
            return self.is_test(node.left) and self.is_test(node.right)
        return isinstance(node, gast.Compare) or (isinstance(node, gast.Call) and self.function(node) is np.isnan)

    def _binary(self, node: Node) -> tuple[str, int]:
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
            return self._printed(node.func.value)
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

    def _many(self, many: Many) -> tuple[str, int]:
        """A line for a call that puts elements together, and the name of its value."""
        values = [found_at(place) for place in many.values]
        likes = [self._word(self.text(found_at(place))) for place in many.likes]
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

    def _share(self, many: Many, values: list[str], marks: str) -> tuple[str, int]:
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


def _number(value: Any) -> tuple[str, int]:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) >= 2**53:
        raise NotElementwiseError
    if not math.isfinite(value):
        return ("NAN", _ATOM) if value != value else ("INFINITY", _ATOM)
    text = repr(float(value))
    return text, _SIGN if text.startswith("-") else _ATOM
