"""Text of operations: arithmetic, comparisons, conditions, and the words await and yield."""

from __future__ import annotations

import re

import gast

from srcgrad.emit.operators import (
    AND,
    ATOM,
    AWAIT,
    BARE,
    BINARY,
    BITOR,
    COMPARE,
    COMPARISON,
    FACTOR,
    OR,
    POWER,
    PRINTERS,
    TEST,
    UNARY,
    print_at,
)

# A name, a dotted name or a number.
SIMPLE = re.compile(r"\d[\d.]*(?:e[-+]?\d+)?j?|[^\W\d][\w.]*")


def binary(node: gast.AST, level: int) -> str:
    """A chain of binary operators, from right to left: no recursion along `a + b + c + ...`."""
    operator, own = BINARY[type(node.op)]
    parts: list[str] = []
    opened = 0
    while own != POWER:
        if own < level:
            parts.append(")")
            opened += 1
        right = node.right
        parts.append(PRINTERS[type(right)](right, own + 1))
        parts.append(operator)
        node, level = node.left, own
        if type(node) is not gast.BinOp:
            parts.append(PRINTERS[type(node)](node, own))
            break
        operator, own = BINARY[type(node.op)]
    else:
        parts.append(power(node, level))
    parts.append("(" * opened)
    parts.reverse()
    return "".join(parts)


def power(node: gast.AST, level: int) -> str:
    """A power; names, dotted names and numbers stand close to `**`, as black has it."""
    left = PRINTERS[type(node.left)](node.left, AWAIT)
    right = PRINTERS[type(node.right)](node.right, FACTOR)
    hugs = SIMPLE.fullmatch(left) and SIMPLE.fullmatch(right[right[0] in "-+~" :])
    text = f"{left}**{right}" if hugs else f"{left} ** {right}"
    return f"({text})" if level > POWER else text


def unary(node: gast.AST, level: int) -> str:
    """A sign or `not`; `-(x**2)` keeps the parentheses that black would add."""
    operator, own = UNARY[type(node.op)]
    operand = node.operand
    is_power = isinstance(operand, gast.BinOp) and isinstance(operand.op, gast.Pow)
    text = operator + PRINTERS[type(operand)](operand, AWAIT if is_power and own == FACTOR else own)
    return f"({text})" if level > own else text


def boolean(node: gast.AST, level: int) -> str:
    """`and` and `or`."""
    word, own = (" and ", AND) if isinstance(node.op, gast.And) else (" or ", OR)
    text = word.join([PRINTERS[type(each)](each, own + 1) for each in node.values])
    return f"({text})" if level > own else text


def compare(node: gast.AST, level: int) -> str:
    """A chain of comparisons."""
    text = PRINTERS[type(node.left)](node.left, BITOR)
    for operator, right in zip(node.ops, node.comparators, strict=True):
        text += COMPARISON[type(operator)] + PRINTERS[type(right)](right, BITOR)
    return f"({text})" if level > COMPARE else text


def conditional(node: gast.AST, level: int) -> str:
    """`body if test else orelse`."""
    body, test, orelse = node.body, node.test, node.orelse
    text = (
        f"{PRINTERS[type(body)](body, OR)} if {PRINTERS[type(test)](test, OR)}"
        f" else {PRINTERS[type(orelse)](orelse, TEST)}"
    )
    return f"({text})" if level > TEST else text


def awaiting(node: gast.AST, level: int) -> str:
    """`await value`."""
    text = "await " + PRINTERS[type(node.value)](node.value, ATOM)
    return f"({text})" if level > AWAIT else text


def yielding(node: gast.AST, level: int) -> str:
    """`yield value`."""
    text = "yield" if node.value is None else f"yield {print_at(node.value, BARE)}"
    return text if level == BARE else f"({text})"


def yielding_from(node: gast.AST, level: int) -> str:
    """`yield from value`."""
    text = f"yield from {print_at(node.value)}"
    return text if level == BARE else f"({text})"


def starred(node: gast.AST, level: int) -> str:
    """`*value`."""
    return "*" + PRINTERS[type(node.value)](node.value, BITOR)
