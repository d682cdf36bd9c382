"""Text of names, constants, calls, subscripts and of tuples, lists, sets and dicts."""

from __future__ import annotations

import gast

from srcgrad.emit.literal import formatted, literal
from srcgrad.emit.operators import ATOM, BARE, BITOR, FACTOR, NAMED, NUMBERS, OR, PRINTERS, TEST, print_at


def name(node: gast.AST, level: int) -> str:
    """A name."""
    return str(node.id)


def constant(node: gast.AST, level: int) -> str:
    """A constant; a negative number binds like a sign."""
    value = node.value
    text = repr(value) if type(value) is int else literal(value)
    return f"({text})" if level > FACTOR and text[0] == "-" else text


def attribute(node: gast.AST, level: int) -> str:
    """`owner.name`; a number in front of the dot needs parentheses."""
    owner = node.value
    text = PRINTERS[type(owner)](owner, ATOM)
    if text[-1].isalnum() and isinstance(owner, gast.Constant) and type(owner.value) in NUMBERS:
        text = f"({text})"
    return f"{text}.{node.attr}"


def subscript(node: gast.AST, level: int) -> str:
    """`owner[index]`, without parentheses around a tuple."""
    owner, index = node.value, node.slice
    head = PRINTERS[type(owner)](owner, ATOM)
    if type(index) is gast.Tuple and index.elts:
        # `a[*b]` is a syntax error before Python 3.11, `a[(*b,)]` is the same tree.
        if any(isinstance(each, gast.Starred) for each in index.elts):
            return f"{head}[{PRINTERS[gast.Tuple](index, TEST)}]"
        text = ", ".join([PRINTERS[type(each)](each, TEST) for each in index.elts])
        return f"{head}[{text},]" if len(index.elts) == 1 else f"{head}[{text}]"
    return f"{head}[{PRINTERS[type(index)](index, TEST)}]"


def slice_bounds(node: gast.AST, level: int) -> str:
    """`lower:upper:step`, with blanks around the colons where a bound is no name or number."""
    lower, upper, step = (
        "" if part is None else PRINTERS[type(part)](part, TEST) for part in (node.lower, node.upper, node.step)
    )
    if all(_hugs_colon(part) for part in (node.lower, node.upper, node.step)):
        return f"{lower}:{upper}:{step}" if step else f"{lower}:{upper}"
    text = f"{lower} :" if lower else ":"
    text = f"{text} {upper}" if upper else text
    if not step:
        return text
    return f"{text} : {step}" if upper else f"{text}: {step}"


def _hugs_colon(part: gast.AST | None) -> bool:
    while isinstance(part, gast.UnaryOp) and not isinstance(part.op, gast.Not):
        part = part.operand
    return part is None or isinstance(part, (gast.Name, gast.Constant))


def call(node: gast.AST, level: int) -> str:
    """A call; a lone generator shares its parentheses."""
    func, arguments = node.func, node.args
    head = PRINTERS[type(func)](func, ATOM)
    if not node.keywords:
        if len(arguments) == 1:
            only = arguments[0]
            text = PRINTERS[type(only)](only, NAMED)
            return head + text if isinstance(only, gast.GeneratorExp) else f"{head}({text})"
        return f"{head}({', '.join([PRINTERS[type(each)](each, NAMED) for each in arguments])})"
    parts = [PRINTERS[type(each)](each, NAMED) for each in arguments]
    parts += [_keyword(each) for each in node.keywords]
    return f"{head}({', '.join(parts)})"


def _keyword(node: gast.AST) -> str:
    """`name=value` or `**value` of a call."""
    text = PRINTERS[type(node.value)](node.value, TEST)
    return f"**{text}" if node.arg is None else f"{node.arg}={text}"


def tuple_display(node: gast.AST, level: int) -> str:
    """A tuple, bare where `level` allows it and it has two elements or more."""
    elements = node.elts
    text = ", ".join([PRINTERS[type(each)](each, TEST) for each in elements])
    if len(elements) == 1:
        return f"({text},)"
    return text if level == BARE and elements else f"({text})"


def list_display(node: gast.AST, level: int) -> str:
    """A list."""
    return f"[{', '.join([PRINTERS[type(each)](each, TEST) for each in node.elts])}]"


def set_display(node: gast.AST, level: int) -> str:
    """A set."""
    return f"{{{', '.join([PRINTERS[type(each)](each, TEST) for each in node.elts])}}}"


def dict_display(node: gast.AST, level: int) -> str:
    """A dict, with `**rest` where a key is None."""
    parts = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            parts.append("**" + PRINTERS[type(value)](value, BITOR))
        else:
            parts.append(f"{PRINTERS[type(key)](key, TEST)}: {PRINTERS[type(value)](value, TEST)}")
    return f"{{{', '.join(parts)}}}"


def joined(node: gast.AST, level: int) -> str:
    """An f-string."""
    return formatted([_field(each) for each in node.values])


def _field(node: gast.AST) -> tuple[str, bool]:
    """Characters of an f-string and False, or the text `{value!r:spec}` and True."""
    if isinstance(node, gast.Constant):
        return str(node.value), False
    text = print_at(node.value, OR)
    if "'" not in text and "\\" not in text:
        text = text.replace('"', "'")
    text = " " + text if text[0] == "{" else text
    text += "" if node.conversion < 0 else f"!{chr(node.conversion)}"
    if node.format_spec is not None:
        text += ":" + "".join(
            part if is_field else part.replace("\n", "\\n") for part, is_field in map(_field, node.format_spec.values)
        )
    return f"{{{text}}}", True
