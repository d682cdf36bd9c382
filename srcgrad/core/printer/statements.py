"""Text of statements and functions.

Text of statements without a body, in three parts: head, expression, tail.

A line that is too long may be broken in the expression, and parentheses put around it.

Text of statements and functions, as a careful person would have typed them.

The only file that knows astor: it prints the few statement kinds that generated code never uses.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import SupportsIndex

import gast

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.printer.expressions import BARE, BINARY, NAMED, docstring, expression, parameters
from srcgrad.core.printer.line_breaking import wrap, wrap_definition


def _assign(node: gast.AST) -> tuple[str, str, str]:
    head = "".join([f"{expression(target, BARE)} = " for target in node.targets])
    return head, expression(node.value, BARE), ""


def _print_augmented(node: gast.AST) -> tuple[str, str, str]:
    symbol = BINARY[type(node.op)][0].strip()
    return f"{expression(node.target)} {symbol}= ", expression(node.value), ""


def _print_annotated(node: gast.AST) -> tuple[str, str, str]:
    target = expression(node.target)
    if not node.simple and isinstance(node.target, gast.Name):
        target = f"({target})"
    head = f"{target}: {expression(node.annotation)}"
    return (head, "", "") if node.value is None else (f"{head} = ", expression(node.value), "")


def _return(node: gast.AST) -> tuple[str, str, str]:
    if node.value is None:
        return "return", "", ""
    return "return ", expression(node.value, BARE), ""


def _expression_statement(node: gast.AST) -> tuple[str, str, str]:
    return "", expression(node.value, BARE), ""


def _assert(node: gast.AST) -> tuple[str, str, str]:
    if node.msg is None:
        return "assert ", expression(node.test), ""
    return f"assert {expression(node.test)}, ", expression(node.msg), ""


def _raise(node: gast.AST) -> tuple[str, str, str]:
    if node.exc is None:
        return "raise", "", ""
    cause = "" if node.cause is None else f" from {expression(node.cause)}"
    return "raise ", expression(node.exc), cause


def _delete(node: gast.AST) -> tuple[str, str, str]:
    return "del ", ", ".join([expression(each) for each in node.targets]), ""


def _aliases(node: gast.AST) -> str:
    names = [f"{each.name} as {each.asname}" if each.asname else each.name for each in node.names]
    return ", ".join(names)


def _import(node: gast.AST) -> tuple[str, str, str]:
    return "import ", _aliases(node), ""


def _import_from(node: gast.AST) -> tuple[str, str, str]:
    return f"from {'.' * (node.level or 0)}{node.module or ''} import ", _aliases(node), ""


SIMPLE: dict[type, Callable[[gast.AST], tuple[str, str, str]]] = {
    gast.Assign: _assign,
    gast.AugAssign: _print_augmented,
    gast.AnnAssign: _print_annotated,
    gast.Return: _return,
    gast.Expr: _expression_statement,
    gast.Assert: _assert,
    gast.Raise: _raise,
    gast.Delete: _delete,
    gast.Import: _import,
    gast.ImportFrom: _import_from,
    gast.Pass: lambda node: ("pass", "", ""),
    gast.Break: lambda node: ("break", "", ""),
    gast.Continue: lambda node: ("continue", "", ""),
    gast.Global: lambda node: ("global ", ", ".join(node.names), ""),
    gast.Nonlocal: lambda node: ("nonlocal ", ", ".join(node.names), ""),
}


__all__ = ["Blank", "Comment", "Verbatim", "expression", "function", "placed_lines", "statement"]

STEP = 4


class Comment(str):
    """Value of a constant that stands for a comment: `Expr(Constant(Comment("# why")))`."""

    __slots__ = ()


class Blank(str):
    """Value of a constant that stands for an empty line."""

    __slots__ = ()


class Verbatim(str):
    """Value of a constant that stands for lines of text, printed as they are at the indentation."""

    __slots__ = ()


def function(node: gast.AST, width: int = 88) -> str:
    """Text of a function, with a line break at its end.

    >>> import gast
    >>> print(function(gast.parse("def f(x, *, n=1): return (x*x)+n").body[0]), end="")
    def f(x, *, n=1):
        return x * x + n
    """
    return "\n".join(statement(node, 0, width)) + "\n"


def placed_lines(node: gast.AST, width: int = 88) -> list[tuple[str, gast.AST | None]]:
    """The lines of a function, each with the innermost statement that it is of; None for lines between statements.

    >>> import gast
    >>> [(line, node.lineno) for line, node in placed_lines(gast.parse("def f(x):\\n  if x:\\n    return x").body[0])]
    [('def f(x):', 1), ('    if x:', 2), ('        return x', 3)]
    """
    lines = _PlacedLines()
    _statement(node, lines, 0, width)
    return [(line, lines.nodes.get(number)) for number, line in enumerate(lines)]


class _PlacedLines(list[str]):
    """Lines, of which is known from which statement each is."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes: dict[int, gast.AST] = {}

    def insert(self, index: SupportsIndex, line: str) -> None:
        """An empty line above those that are there."""
        at = int(index)
        self.nodes = {number + (number >= at): node for number, node in self.nodes.items()}
        super().insert(at, line)

    def note(self, start: int, node: gast.AST) -> None:
        """The lines from `start` on are of a statement, unless they are of one inside."""
        for number in range(start, len(self)):
            self.nodes.setdefault(number, node)


def statement(node: gast.AST, indent: int = 0, width: int = 88) -> list[str]:
    """Lines of a statement and of the statements in it, wrapped at `width` columns.

    `indent` is the number of blanks in front of each line.

    >>> import gast
    >>> statement(gast.parse("while (x>1): x/=2").body[0])
    ['while x > 1:', '    x /= 2']
    """
    lines: list[str] = []
    _statement(node, lines, indent, width)
    return lines


def _statement(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    start = len(lines)
    _print(node, lines, indent, width)
    if isinstance(lines, _PlacedLines):
        lines.note(start, node)


def _print(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    compound = COMPOUND.get(type(node))
    if compound is not None:
        compound(node, lines, indent, width)
        return
    simple = SIMPLE.get(type(node))
    if simple is None:
        lines += _by_astor(node, indent)
    elif isinstance(node, gast.Expr) and type(getattr(node.value, "value", None)) in SPECIAL:
        _add_special_line(node.value.value, lines, indent, width)
    else:
        head, text, tail = simple(node)
        _line(lines, head, text, tail, indent=indent, width=width)


def _line(lines: list[str], head: str, text: str, tail: str, *, indent: int, width: int) -> None:
    """Add `head + text + tail`, on more than one line if one is too short."""
    if indent + len(head) + len(text) + len(tail) <= width:
        lines.append(" " * indent + head + text + tail)
    else:
        lines += wrap(head, text, tail, indent=indent, width=width)


def _add_special_line(value: str, lines: list[str], indent: int, width: int) -> None:
    """A comment, user's text, or an empty line, of which there are never two together."""
    margin = " " * indent
    if isinstance(value, Comment):
        text, room = margin + value, max(width, indent + len("# line 10000: ..."))
        lines.append(text if len(text) <= room else text[: room - 3].rstrip() + "...")
    elif isinstance(value, Verbatim):
        lines += [margin + line if line.strip() else "" for line in value.split("\n")]
    elif not lines or lines[-1]:
        lines.append("")


SPECIAL = (Blank, Comment, Verbatim)
BLOCKS = (gast.If, gast.For, gast.While, gast.With)
IMPORTS = (gast.Import, gast.ImportFrom)


def _body(body: Sequence[gast.AST], lines: list[str], indent: int, width: int) -> None:
    """The statements of a block; `pass` is added where all of them are comments."""
    start = len(lines)
    previous: gast.AST | None = None
    for node in body:
        if _wants_gap(previous, node):
            _add_gap(lines, start)
        _statement(node, lines, indent, width)
        previous = node
    if all(not line or line.lstrip().startswith("#") for line in lines[start:]):
        lines.append(" " * indent + "pass")


def _wants_gap(previous: gast.AST | None, node: gast.AST) -> bool:
    """Whether black has an empty line there: around inner functions, and behind imports."""
    if isinstance(node, gast.FunctionDef):
        return True
    if isinstance(previous, IMPORTS):
        return not isinstance(node, IMPORTS)
    while isinstance(previous, BLOCKS):
        previous = (getattr(previous, "orelse", None) or previous.body or [None])[-1]
    return isinstance(previous, gast.FunctionDef)


def _add_gap(lines: list[str], start: int) -> None:
    """Add an empty line, above the comments at the end of the block that begins at `start`."""
    at = len(lines)
    while at > start and lines[at - 1].lstrip().startswith("#"):
        at -= 1
    above = lines[at - 1].lstrip()
    if above and not (at == start and above.startswith(("def ", ")"))):
        lines.insert(at, "")


def _function(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    for decorator in node.decorator_list:
        _line(lines, "@", expression(decorator, NAMED), "", indent=indent, width=width)
    returns = "" if node.returns is None else f" -> {expression(node.returns)}"
    head, tail = f"def {node.name}", f"{returns}:"
    lines += wrap_definition(head, parameters(node.args), tail, indent=indent, width=width)
    body = node.body
    first = body[0].value if body and isinstance(body[0], gast.Expr) else None
    if isinstance(first, gast.Constant) and type(first.value) is str:
        lines += (" " * (indent + STEP) + docstring(first.value)).split("\n")
        body = body[1:]
        if not body:
            return
    _body(body, lines, indent + STEP, width)


def _if(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    word = "if "
    while True:
        start = len(lines)
        _line(lines, word, expression(node.test, NAMED), ":", indent=indent, width=width)
        if isinstance(lines, _PlacedLines):
            lines.note(start, node)  # an `elif` is a statement of its own
        _body(node.body, lines, indent + STEP, width)
        if len(node.orelse) != 1 or not isinstance(node.orelse[0], gast.If):
            break
        node, word = node.orelse[0], "elif "
    _tail("else:", node.orelse, lines, indent, width)


def _tail(word: str, body: Sequence[gast.AST], lines: list[str], indent: int, width: int) -> None:
    if body:
        lines.append(" " * indent + word)
        _body(body, lines, indent + STEP, width)


def _for(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    head = f"for {expression(node.target, BARE)} in "
    _line(lines, head, expression(node.iter), ":", indent=indent, width=width)
    _body(node.body, lines, indent + STEP, width)
    _tail("else:", node.orelse, lines, indent, width)


def _while(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    _line(lines, "while ", expression(node.test, NAMED), ":", indent=indent, width=width)
    _body(node.body, lines, indent + STEP, width)
    _tail("else:", node.orelse, lines, indent, width)


def _with(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    items = []
    for item in node.items:
        variables = item.optional_vars
        text = expression(item.context_expr)
        items.append(text if variables is None else f"{text} as {expression(variables)}")
    _line(lines, "with ", ", ".join(items), ":", indent=indent, width=width)
    _body(node.body, lines, indent + STEP, width)


def _try(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    _tail("try:", node.body, lines, indent, width)
    for handler in node.handlers:
        kind = "" if handler.type is None else f" {expression(handler.type)}"
        name = "" if handler.name is None else f" as {handler.name.id}"
        _tail(f"except{kind}{name}:", handler.body, lines, indent, width)
    _tail("else:", node.orelse, lines, indent, width)
    _tail("finally:", node.finalbody, lines, indent, width)


COMPOUND: dict[type, Callable[[gast.AST, list[str], int, int], None]] = {
    gast.FunctionDef: _function,
    gast.If: _if,
    gast.For: _for,
    gast.While: _while,
    gast.With: _with,
    gast.Try: _try,
}


def _by_astor(node: gast.AST, indent: int) -> list[str]:
    """A class or an async statement; astor still imports names that Python 3.13 warns about."""
    if not isinstance(node, ASTOR_KINDS):
        kind = type(node).__name__
        message = f"a {kind} node cannot be printed"
        raise DifferentiationError("E5005", message, "leave it out of the differentiated function")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import astor

        text = astor.to_source(gast.gast_to_ast(node), indent_with=" " * STEP)
    return [" " * indent + line if line else "" for line in text.rstrip("\n").split("\n")]


ASTOR_KINDS = (gast.ClassDef, gast.AsyncFunctionDef, gast.AsyncFor, gast.AsyncWith)
