"""Text to trees: parse once, convert the function that is wanted, collect its comments."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import warnings
from collections.abc import Iterator, Sequence

from srcgrad.converted import converted
from srcgrad.errors import DifferentiationError, Place
from srcgrad.trees import Node

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

CALLS = 4  # of a function within itself that a pass makes, at most, for a level of an expression
TOO_DEEP = "name some of the inner expressions, or write a long sum as a loop or with np.sum"


def split_lines(text: str) -> tuple[str, ...]:
    r"""The lines as Python counts them; unlike `str.splitlines`, a form feed ends no line.

    >>> split_lines("a = 1\x0c\nb = 2\n")
    ('a = 1\x0c', 'b = 2')
    """
    return tuple(line.rstrip("\n") for line in io.StringIO(text, newline=None))


def segment(lines: Sequence[str], node: ast.AST) -> str:
    """The text of an expression, without going through all lines of its module.

    >>> text = "a = 'é' + (\\n    b)"
    >>> segment(text.split("\\n"), ast.parse(text).body[0].value)
    "'é' + (\\n    b)"
    """
    assert isinstance(node, ast.expr) and node.end_lineno is not None and node.end_col_offset is not None, "parsed"
    found = [line.encode() for line in lines[node.lineno - 1 : node.end_lineno]]
    found[-1] = found[-1][: node.end_col_offset]
    found[0] = found[0][node.col_offset :]
    return b"\n".join(found).decode()


def parse(text: str, flags: int = 0) -> ast.Module:
    """Python's own tree of a module; raises what `compile` raises, but never warns about the user's text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _compile(text, flags)
        except SyntaxError:
            # A notebook cell may await at its top level; only then is the flag needed.
            return _compile(text, flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def _compile(text: str, flags: int) -> ast.Module:
    tree = compile(text, "<text>", "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module), "the mode is exec, so the tree is a module"
    return tree


def parse_target(text: str, label: str) -> ast.Module:
    """The tree of a text that the user named: E5015 where it is not Python, E5016 where it is too deep."""
    lines = split_lines(text)
    try:
        return parse(text)
    except SyntaxError as error:
        place = _syntax_place(error, label, lines)
        if "too many nested" in error.msg or "too complex" in error.msg:
            raise DifferentiationError("E5016", error.msg, TOO_DEEP, place) from None
        raise DifferentiationError("E5015", error.msg, "mend the syntax error", place) from None
    except ValueError:  # Python 3.10: a null byte is no SyntaxError yet
        message = f"{label} contains null bytes: it is not Python text"
        raise DifferentiationError("E5015", message, "name a file with Python source") from None
    except (RecursionError, MemoryError):
        message = f"Python itself cannot parse {label}"
        raise DifferentiationError("E5016", message, TOO_DEEP) from None


def _syntax_place(error: SyntaxError, label: str, lines: Sequence[str]) -> Place | None:
    if not error.lineno or error.lineno > len(lines):
        return None
    column = max(0, (error.offset or 1) - 1)
    ends_here = error.end_lineno == error.lineno and error.end_offset is not None
    width = max(1, (error.end_offset or 0) - 1 - column) if ends_here else 1
    return Place(label, error.lineno, column, lines[error.lineno - 1], width)


def place(label: str, lines: Sequence[str], node: Node) -> Place:
    """The place of a node; Python counts columns in bytes, a reader in characters.

    >>> import gast
    >>> line = "y = 'é' + z"
    >>> str(place("f.py", [line], gast.parse(line).body[0].value.right)).splitlines()[-1]
    '              ^'
    """
    text = lines[node.lineno - 1]
    start = characters(text, node.col_offset)
    last = getattr(node, "end_lineno", None)
    end = characters(text, node.end_col_offset) if last == node.lineno else len(text)
    return Place(label, node.lineno, start, text, max(1, end - start))


def characters(line: str, offset: int) -> int:
    """How many characters of a line its first bytes are."""
    return len(line.encode()[:offset].decode(errors="replace"))


def function_tree(node: FunctionNode, label: str, lines: Sequence[str]) -> Node:
    """The gast tree of one function; a lambda becomes a def named `lambda_` that returns its body."""
    try:
        return converted(_as_definition(node), _room() // CALLS)
    except RecursionError:
        deepest = max(_statements(node), key=_depth)
        message = "the expression is nested too deeply"
        where = place(label, lines, deepest)
        raise DifferentiationError("E5016", message, TOO_DEEP, where) from None


def _room() -> int:
    """How many calls within each other Python has left."""
    left, frame = sys.getrecursionlimit(), sys._getframe()
    while frame.f_back is not None:
        left, frame = left - 1, frame.f_back
    return left


def _as_definition(node: FunctionNode) -> ast.AST:
    if not isinstance(node, ast.Lambda):
        return node
    definition = ast.parse("def lambda_(): return None").body[0]
    assert isinstance(definition, ast.FunctionDef), "the snippet is a def"
    result = definition.body[0]
    assert isinstance(result, ast.Return), "the snippet returns"
    definition.args, result.value = node.args, node.body
    ast.copy_location(definition, node)
    ast.copy_location(result, node.body)
    return definition


def _statements(node: ast.AST) -> list[ast.AST]:
    """The statements that hold no others; the function itself where it is a lambda."""
    inner = [item for item in ast.walk(node) if isinstance(item, ast.stmt)]
    return [item for item in inner if not hasattr(item, "body")] or [node]


def _depth(node: ast.AST) -> int:
    depth, level = 0, [node]
    while level:
        depth, level = depth + 1, [child for item in level for child in ast.iter_child_nodes(item)]
    return depth


def comments(lines: Sequence[str], first: int, last: int, whole: bool = False) -> dict[int, str]:
    """Comments of the lines `first` to `last`, by line; `whole` where the block alone is no Python.

    >>> comments(["def f(x):", "    # twice", "    return 2 * x  # '#'"], 1, 3)
    {2: '# twice', 3: "# '#'"}
    """
    block = lines[first - 1 : last]
    if not any("#" in line for line in block):
        return {}
    start = 1 if whole else first
    found = {}
    for token in _tokens(lines if whole else block):
        line = token.start[0] + start - 1
        if token.type == tokenize.COMMENT and first <= line <= last:
            found[line] = token.string
    return found


def _tokens(lines: Sequence[str]) -> Iterator[tokenize.TokenInfo]:
    supply = iter(lines)
    try:
        yield from tokenize.generate_tokens(lambda: next(supply) + "\n")
    except (tokenize.TokenError, SyntaxError, StopIteration):
        return  # the text ends within a bracket (a notebook cell with magic lines): what was read is kept
