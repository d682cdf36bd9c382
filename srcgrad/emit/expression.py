"""Text of one expression: one line, no parenthesis that is not needed, spaced as black does.

Every printer takes a node and the lowest precedence that may stand there without parentheses. A
printer calls the printers of its children directly, one Python frame for each level of the tree.
"""

from __future__ import annotations

import gast

from srcgrad.emit import binders, operations, primaries
from srcgrad.emit.operators import PRINTERS, TEST, print_at


def expression(node: gast.AST, level: int = TEST) -> str:
    """Text of an expression on one line, in parentheses where `level` asks for them.

    >>> import gast
    >>> def again(text): return expression(gast.parse(text, mode="eval").body)
    >>> again("(x*y)*(z**2) - (a-(b))"), again("v[(i+1):, None]"), again("-(a if c else b)")
    ('x * y * z**2 - (a - b)', 'v[i + 1 :, None]', '-(a if c else b)')
    """
    return print_at(node, level)


PRINTERS.update(
    {
        gast.Name: primaries.name,
        gast.Constant: primaries.constant,
        gast.Attribute: primaries.attribute,
        gast.Subscript: primaries.subscript,
        gast.Slice: primaries.slice_bounds,
        gast.Call: primaries.call,
        gast.BinOp: operations.binary,
        gast.UnaryOp: operations.unary,
        gast.BoolOp: operations.boolean,
        gast.Compare: operations.compare,
        gast.IfExp: operations.conditional,
        gast.Tuple: primaries.tuple_display,
        gast.List: primaries.list_display,
        gast.Set: primaries.set_display,
        gast.Dict: primaries.dict_display,
        gast.Starred: operations.starred,
        gast.NamedExpr: binders.named,
        gast.Await: operations.awaiting,
        gast.Yield: operations.yielding,
        gast.YieldFrom: operations.yielding_from,
        gast.Lambda: binders.lambda_function,
        gast.ListComp: binders.comprehension("[", "]"),
        gast.SetComp: binders.comprehension("{", "}"),
        gast.GeneratorExp: binders.comprehension("(", ")"),
        gast.DictComp: binders.dict_comprehension,
        gast.JoinedStr: primaries.joined,
    }
)
