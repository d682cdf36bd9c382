"""Quotients: `a / b` for `np.divide(a, b)`, where NumPy divides anyway, and one division for two tangents.

`np.divide` is needed for Python's numbers alone, whose division by zero raises. `x_dot / y - y_dot / y * z`, by the
rules the tangent of `z = x / y`, is `(x_dot - y_dot * z) / y`.
"""

from __future__ import annotations

from collections import Counter

import gast
import numpy as np

from srcgrad.analyse.floating import has_sign, negated
from srcgrad.derive.program import Program
from srcgrad.facts import UNKNOWN, Facts
from srcgrad.improve.inline import replace
from srcgrad.trees import Node, header, same, statements, stores, target, walk

_OTHERS = ("sum", "mean", "prod", "max", "min", "matmul", "reshape", "zeros_like")  # no ufuncs, but NumPy's values


def quotients(program: Program, facts: Facts) -> Program:
    """Divide with an operator, unless both may be Python's numbers.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n    return np.log(np.sum(np.exp(x)))"
    >>> print(explain_text(text, after="quotients").splitlines()[-2])
    x_bar = y_bar / np.sum(t3) * t3
    """
    own = [*program.backward, *(node for node in statements(program.forward) if node in facts.tangents)]
    divisions = [
        (node, call)
        for node in statements(own)
        if node not in facts.again_written
        for part in header(node)
        for call in walk(part)
        if _is_of_numpy(call, facts) and call.func.attr == "divide" and len(call.args) == 2 and not call.keywords
    ]
    if divisions:
        made = [node for node in statements(program.block) if node not in facts.restores]
        bound = Counter(one for node in made for one in stores(node))
        once = [node for node in made if bound[str(target(node))] == 1]
        values = {str(target(node)): node.value for node in once if target(node) not in program.parameters}
        arrays = {one for one in program.parameters if one not in bound and _is_array(one, facts)}
        for node, call in divisions:
            if any(_is_numpys(side, values, arrays, facts) for side in call.args):
                replace(node, call, gast.BinOp(call.args[0], gast.Div(), call.args[1]))
    for node in statements(program.forward):
        if node in facts.tangents and isinstance(node, gast.Assign):
            found = _together(node.value, facts)
            node.value = node.value if found is None else found
    return program


def _together(total: Node, facts: Facts) -> Node | None:
    """`(a - b * c) / y` for `a / y - b / y * c`; None for what is no such difference."""
    if not isinstance(total, gast.BinOp) or not isinstance(total.op, gast.Add | gast.Sub):
        return None
    minus = negated(total.right, facts)
    product = total.right if minus is None else minus
    plus = isinstance(total.op, gast.Add) == (minus is None)
    if not isinstance(product, gast.BinOp) or not isinstance(product.op, gast.Mult):
        return None
    one, two = sides(total.left, facts), sides(product.left, facts)
    if one is None or two is None or not same(one[1], two[1]) or type(total.left) is not type(product.left):
        return None
    if not has_sign(two[0], facts):
        return None  # a product of small integers may be too large for their type
    above = gast.BinOp(one[0], gast.Add() if plus else gast.Sub(), gast.BinOp(two[0], gast.Mult(), product.right))
    if isinstance(total.left, gast.BinOp):
        return gast.BinOp(above, gast.Div(), one[1])
    return gast.Call(total.left.func, [above, one[1]], [])


def sides(quotient: Node, facts: Facts) -> tuple[Node, Node] | None:
    """What is divided by what."""
    if isinstance(quotient, gast.BinOp) and isinstance(quotient.op, gast.Div):
        return quotient.left, quotient.right
    divides = _is_of_numpy(quotient, facts) and quotient.func.attr == "divide"
    return tuple(quotient.args) if divides and len(quotient.args) == 2 and not quotient.keywords else None


def _is_array(argument: str, facts: Facts) -> bool:
    return facts.kinds.get(argument, UNKNOWN).tag == "array"


def _is_of_numpy(call: Node, facts: Facts) -> bool:
    """Whether this is a call of a function of NumPy."""
    function = call.func if isinstance(call, gast.Call) else None
    return isinstance(function, gast.Attribute) and getattr(function.value, "id", "") == facts.imports.get("np")


def _is_numpys(node: Node, values: dict[str, Node], arrays: set[str], facts: Facts) -> bool:
    """Whether a value is an array or a scalar of NumPy's, whatever the arguments are."""
    seen: set[str] = set()
    left = [node]
    while left:
        node = left.pop()
        if isinstance(node, gast.Name) and node.id not in seen:
            if node.id in arrays:
                return True
            seen.add(node.id)
            left += [values[node.id]] if node.id in values else []
        elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub | gast.UAdd):
            left.append(node.operand)
        elif isinstance(node, gast.BinOp):
            left += [node.left, node.right]  # one of two is enough
        elif isinstance(node, gast.Call) and _gives_numpys(node, facts):
            return True
    return False


def _gives_numpys(call: Node, facts: Facts) -> bool:
    """Whether a call is of a function of NumPy that never gives a number of Python's; or `e.sum()`."""
    function = call.func
    if not isinstance(function, gast.Attribute):
        return False
    if not _is_of_numpy(call, facts):
        held = getattr(function.value, "id", "")
        return function.attr == "sum" and (held in facts.adjoint_of or isinstance(function.value, gast.BinOp))
    if any(isinstance(argument, gast.GeneratorExp) for argument in call.args):
        return False  # which `np.sum` gives to the sum of Python
    return isinstance(getattr(np, function.attr, None), np.ufunc) or function.attr in _OTHERS
