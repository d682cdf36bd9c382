"""The names that a piece of text reads from outside of itself.

Names that a plain text reads, found word by word: parsing it for them costs more than printing it did.

The names that a piece of text reads from outside of itself: where they stand, how to change them.
"""

from __future__ import annotations

import ast
import re
import symtable
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass as record
from functools import lru_cache
from itertools import accumulate

from srcgrad.core.trees import parsed_nodes

_WORDS = re.compile(
    r"""([rR]?[fF][rR]?)(?=["'])|([a-zA-Z_][\w.]*)|\#[^\n]*"""
    r"""|\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""",
    re.ASCII | re.DOTALL,
)
_BLANK = r"(?:[\s\\]|\#[^\n]*(?![^\n]))*"  # a comment as a whole
_GOES_ON = re.compile(rf"{_BLANK}(?:\){_BLANK})*\.")  # `np\n.sin`, `(a).b`
_IS_BOUND = re.compile(rf"{_BLANK}:?=(?!=)")  # a keyword, or a parameter with a default
_BINDING = frozenset(("import", "global", "nonlocal", "class", "del", "match"))


def dotted_names(text: str, names: frozenset[str]) -> list[tuple[int, int, str]] | None:
    """The dotted names of a text that begin with one of `names`, which it binds nowhere: line, column, spelling.

    None where only a parser can tell: f-strings, names that go on behind a bracket or in the next line, imports.

    >>> dotted_names("def f(x, n=N):  # N is here\\n    return np.linalg.norm(x, N=x.N)", frozenset(["np", "N"]))
    [(0, 11, 'N'), (1, 11, 'np.linalg.norm')]
    >>> dotted_names("y = np.linalg \\\\\\n    .norm(x)", frozenset(["np"])) is None
    True
    >>> dotted_names("z = 2 * y  # of x = 1", frozenset(["y"]))
    [(0, 8, 'y')]
    """
    if not text.isascii():
        return None  # Python has several spellings of one name
    found: list[tuple[int, int, str]] = []
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for match in _WORDS.finditer(text):
        formatted, word = match.groups()
        root = word.partition(".")[0] if word else ""  # else a string, or a comment
        if formatted or root in _BINDING:
            return None
        if root not in names:
            continue
        ahead = text[match.start() - 1 : match.start()]
        if ahead == "." or ahead.isdigit():  # an attribute, or the end of 1e3
            continue
        before = text[: match.start()].rstrip(" \t\\")
        typed = before.endswith((":", "|"))  # `n: int = 3`
        if root == word and not typed and _IS_BOUND.match(text, match.end()):
            continue
        if word.endswith(".") or before.rstrip().endswith(".") or _GOES_ON.match(text, match.end()):
            return None
        if not before.endswith("def"):
            line = bisect_right(starts, match.start()) - 1
            found.append((line, match.start() - starts[line], word))
    return found


Position = tuple[int, int]  # line from 0, column in characters


@record(frozen=True)
class Reference:
    """A dotted name, as `("np", "linalg", "norm")`: where it starts, and where each of its parts ends.

    `fixed` ones cannot be changed: those inside of f-strings, whose positions Python tells from 3.12 on only,
    and those like `(a).b`, which have brackets inside.
    """

    parts: tuple[str, ...]
    start: Position
    ends: tuple[Position, ...]
    fixed: bool = False


def references(text: str) -> list[Reference]:
    """What a text reads from outside, in the order of the text.

    >>> [found.parts for found in references("def f(x, n=N):\\n    return np.linalg.norm(x) + x.size * k")]
    [('N',), ('np', 'linalg', 'norm'), ('k',)]
    """
    names = _free_names(text)
    spotted = None if names & _bound_names(text) else dotted_names(text, names)
    return _parse_references(text, names) if spotted is None else [_reference(*one) for one in spotted]


def _reference(line: int, column: int, spelled: str) -> Reference:
    parts = tuple(spelled.split("."))
    return Reference(parts, (line, column), tuple((line, column + end) for end in accumulate(map(len, parts), _dot)))


def _dot(end: int, length: int) -> int:
    return end + 1 + length


def _parse_references(text: str, names: frozenset[str]) -> list[Reference]:
    """The same, from the tree of the text."""
    lines = text.split("\n")
    tree = ast.parse(text)
    inside = _in_strings(tree) if 'f"' in text or "f'" in text else frozenset()
    found: list[Reference] = []
    for node in _outermost(tree):
        if _root(node) in names:
            chain = _chain(node)
            ends = tuple(_position(lines, item.end_lineno, item.end_col_offset) for _, item in chain)
            start = _position(lines, chain[0][1].lineno, chain[0][1].col_offset)
            between = "\n".join(lines[start[0] : ends[-1][0] + 1])[start[1] :]
            fixed = id(node) in inside or (len(chain) > 1 and ")" in between[: _length(lines, start, ends[-1])])
            found.append(Reference(tuple(part for part, _ in chain), start, ends, fixed))
    return sorted(found, key=lambda item: (item.start, item.parts))


def identifiers(text: str) -> frozenset[str]:
    """Every word of a text that could be a name."""
    return frozenset(re.findall(r"[^\W\d]\w*", text))


def replace_references(text: str, changes: Mapping[Reference, tuple[int, str]]) -> str:
    """The text with the first `count` parts of references written as a name: `{reference: (count, name)}`.

    >>> [found] = references("y = helpers.scale.real")
    >>> replace_references("y = helpers.scale.real", {found: (2, "scale")})
    'y = scale.real'
    """
    lines = text.split("\n")
    for item in sorted(changes, key=lambda item: item.start, reverse=True):
        count, name = changes[item]
        (first, start), (last, end) = item.start, item.ends[count - 1]
        lines[first : last + 1] = [lines[first][:start] + name + lines[last][end:]]
    return "\n".join(lines)


Dotted = ast.Name | ast.Attribute


def _outermost(tree: ast.AST) -> Iterator[Dotted]:
    """Names that are read, each with the attributes asked of it."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is ast.Constant:
            continue
        if (kind is ast.Name or kind is ast.Attribute) and _is_chain(node):  # type: ignore[arg-type]
            yield node  # type: ignore[misc]
            continue
        for value in [getattr(node, key, None) for key in kind._fields]:
            if type(value) is list:
                todo += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and value._fields:
                todo.append(value)


def _is_chain(node: Dotted) -> bool:
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)


def _in_strings(tree: ast.AST) -> frozenset[int]:
    """The nodes inside of f-strings."""
    strings = [node for node in parsed_nodes(tree) if isinstance(node, ast.JoinedStr)]
    return frozenset(id(item) for node in strings for item in parsed_nodes(node))


def _root(node: Dotted) -> str:
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return inner.id if isinstance(inner, ast.Name) else ""


def _chain(node: Dotted) -> list[tuple[str, ast.expr]]:
    parts: list[tuple[str, ast.expr]] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        parts.insert(0, (inner.attr, inner))
        inner = inner.value
    assert isinstance(inner, ast.Name), "a chain starts at a name"
    return [(inner.id, inner), *parts]


def _position(lines: list[str], line: int | None, offset: int | None) -> Position:
    assert line is not None and offset is not None, "expressions have places"
    text = lines[line - 1]
    return line - 1, offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))


def _length(lines: list[str], start: Position, end: Position) -> int:
    """How many characters lie between two positions."""
    whole = sum(len(line) + 1 for line in lines[start[0] : end[0]])
    return whole + end[1] - start[1]


@lru_cache(maxsize=8)  # what is free in a text and what is local in it are asked of each function of a module
def _scopes(text: str) -> symtable.SymbolTable:
    return symtable.symtable(text, "<text>", "exec")


def _free_names(text: str) -> frozenset[str]:
    """Names that some scope of the text takes from the module.

    From Python 3.12 on, a module's symbols have those that its comprehensions bind for themselves.

    >>> sorted(_free_names("sizes = [size for size in (2, SIZE)]"))
    ['SIZE']
    """
    top = _scopes(text)
    found = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    both = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()} & found
    found -= _bound_in_comprehensions(text) if both else set()
    todo = top.get_children()
    while todo:
        table = todo.pop()
        found.update(_global_names_of_scope(table))
        todo.extend(table.get_children())
    return frozenset(found)


def _bound_in_comprehensions(text: str) -> set[str]:
    """The names that comprehensions of a module bind, and nothing else at its top does."""
    inner: set[str] = set()
    outer: set[str] = set()
    todo: list[ast.AST] = [ast.parse(text)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.comprehension):
            inner.update(item.id for item in ast.walk(node.target) if isinstance(item, ast.Name))
            todo += [node.iter, *node.ifs]
        elif isinstance(node, ast.Name):
            outer.update([node.id] if isinstance(node.ctx, ast.Store) else [])
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            todo += ast.iter_child_nodes(node)
    return inner - outer


def _global_names_of_scope(table: symtable.SymbolTable) -> Iterable[str]:
    """The names that a scope takes from the module; Python takes a function called `top` for the module itself."""
    if isinstance(table, symtable.Function):
        return table.get_globals()
    return [symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()]


def _bound_names(text: str) -> frozenset[str]:
    """The names that some scope of a text binds, its functions apart."""
    symbols = _scopes(text).get_symbols()
    return local_names(text) | {one.get_name() for one in symbols if one.is_assigned() and not one.is_namespace()}


def local_names(text: str) -> frozenset[str]:
    """The names that functions within the text bind for themselves.

    >>> sorted(local_names("def f(x, n=n):\\n    y = x * scale\\n    return y"))
    ['n', 'x', 'y']
    >>> local_names("def top(x):\\n    return x")
    frozenset({'x'})
    """
    found: set[str] = set()
    todo = _scopes(text).get_children()
    while todo:
        table = todo.pop()
        found.update(set(table.get_identifiers()).difference(_global_names_of_scope(table)))
        todo.extend(table.get_children())
    return frozenset(name for name in found if name != ".0")  # what a comprehension runs over
