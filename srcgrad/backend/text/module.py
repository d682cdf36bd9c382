"""The text of one module: header, imports, what is taken over from the user, the derivatives.

Definitions that it needs stand under names of their own, never two under one; a piece of text tells the names that it
reads from outside of itself.
"""

from __future__ import annotations

import ast
import inspect
import keyword
import re
import symtable
import sys
import textwrap
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import accumulate
from types import FunctionType, ModuleType

import gast

from srcgrad import runtime
from srcgrad.backend.text.definitions import (
    Builtin,
    CopiedDefinition,
    DottedMeaning,
    Globals,
    Import,
    Literal,
    Meaning,
    OutputFunction,
    OutsideObject,
    UnknownName,
    definition,
    from_home,
    import_of_value,
    is_builtin,
    literal,
    of_function,
    rename_definition,
)
from srcgrad.core.bindings import Binding, StaticFunction, StaticModule
from srcgrad.core.errors import DifferentiationError, Place
from srcgrad.core.facts import Facts
from srcgrad.core.identity import record
from srcgrad.core.namespace import LiveNamespace, Namespace, found_in, without_overlays
from srcgrad.core.printer import placed_lines, wrap
from srcgrad.core.source_text import BLOCKS, DERIVATIVES, Source, maker_of, place
from srcgrad.core.trees import Node, expression, find_nodes, names_in, parsed_nodes, stores, walk

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


WIDTH = 88
WHAT = {
    "primal": "value",
    "reverse": "gradient",
    "value-and-grad": "value and gradient",
    "vjp": "value and pullback",
    "forward": "value and tangent",
    "hvp": "product of the Hessian with a tangent",
    "push": "tangent",
    "elementwise": "gradient of the sum of the elements",
    "pull": "adjoints",
    "trace": "value and gradient, watched,",
}


def header(facts: Facts) -> str:
    """The first line of a generated module."""
    if facts.module is not None and facts.module.blocks and facts.request.mode == "primal":
        rows = ", ".join(facts.module.blocks.over)
        return remark(
            f"Generated by srcgrad from {origin(facts.source)} ({_primal(facts)}): value, by blocks of rows of {rows}."
        )
    return remark(
        f"Generated by srcgrad from {origin(facts.source)} ({_primal(facts)}): "
        f"{WHAT[facts.request.mode]} with respect to {', '.join(facts.request.wrt)}."
    )


def _primal(facts: Facts) -> str:
    return facts.source.name.removesuffix("_grad") if facts.request.mode == "hvp" else facts.source.name


def origin(source: Source) -> str:
    """File and line of the user's function; for a text of ours, of the one that it came from.

    >>> text = Source("<srcgrad f_grad of <srcgrad f_vjp of a.py:3 0123456789>:5 0123456789>", 9, (), None, "f", {})
    >>> origin(text)
    'a.py:3'
    """
    known = re.search(r" of ([^<>]+?:\d+) [0-9a-f]{10}>", source.file) or re.search(r" of ([^<>]+)>", source.file)
    ours = maker_of(source.file) in (DERIVATIVES, BLOCKS)
    return known.group(1) if ours and known else f"{source.file}:{source.first}"


def remark(text: str, indent: str = "") -> str:
    """Text as a comment; lines after the first are indented.

    >>> print(remark("one " * 30, "  "))
    # one one one one one one one one one one one one one one one one one one one one one
    #   one one one one one one one one one
    """
    lines = textwrap.wrap(
        " ".join(text.split()),
        WIDTH,
        initial_indent="# ",
        subsequent_indent=f"# {indent}",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def free_names(definition: Node) -> list[str]:
    """Names that a function definition reads and does not bind, in alphabetical order."""
    bound = {n.id for n in find_nodes(definition.args, gast.Name) if not isinstance(n.ctx, gast.Load)}
    bound |= {s for n in walk(definition) if isinstance(n, gast.stmt) for s in stores(n)}
    bound |= {
        n.id
        for d in walk(definition)
        if isinstance(d, gast.FunctionDef)
        for n in walk(d.args)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Param)
    }
    read = {n.id for n in find_nodes(definition, gast.Name) if isinstance(n.ctx, gast.Load)}
    return sorted(read - bound)


def import_lines(imports: Iterable[str]) -> list[str]:
    """Import statements in the order of a careful person: Python's own first, modules before names.

    >>> import_lines(["from math import pi", "import numpy as np", "from math import e"])
    ['from math import e, pi', '', 'import numpy as np']
    """
    own: list[str] = []
    others: list[str] = []
    by_module: dict[str, list[str]] = {}
    for line in sorted(set(imports)):
        module = line.split()[1]
        if line.startswith("from "):
            by_module.setdefault(module, []).append(line.partition(" import ")[2])
        else:
            (own if _is_standard(module) else others).append(line)
    for module, names in by_module.items():
        lines = wrap(f"from {module} import ", ", ".join(names), "", indent=0, width=WIDTH)
        (own if _is_standard(module) else others).extend(lines)
    return own + ([""] if own and others else []) + others


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def body(texts: Sequence[tuple[Meaning, str]], headers: Mapping[Meaning, str]) -> str:
    """Definitions, constants close together and two empty lines around functions.

    `headers` are comments to stand above definitions, by what they define.
    """
    made: list[str] = []
    close = True  # whether a constant may follow right below
    for meaning, text in texts:
        constant = not _is_function(meaning, text)
        comment = headers.get(meaning, "")
        if made:
            made.append("\n" if constant and close else "\n\n\n")
        made.append(f"{comment}\n{text}" if comment else text)
        close = constant
    return "".join(made)


def gap(texts: Sequence[tuple[Meaning, str]]) -> str:
    """The empty lines between the imports and the first definition."""
    return "\n" if texts and _is_function(*texts[0]) else ""


def _is_function(meaning: Meaning, text: str) -> bool:
    return isinstance(meaning, OutputFunction | CopiedDefinition) and text.lstrip().startswith(
        ("def ", "async def ", "@")
    )


@record(frozen=True, eq=False)
class Piece:
    """One definition: its text, what it defines, where its names are looked up, where an error in it is.

    `chosen` maps names that srcgrad chose, which may be changed to the plain one, as `math_` to `math`.
    """

    text: str
    meaning: Meaning
    find: Callable[[tuple[str, ...]], DottedMeaning]
    place: Callable[[str], Place | None]
    chosen: dict[str, str] = field(default_factory=dict)
    line: int = 0  # of a value: what it reads must come before
    lines: tuple[int, ...] = ()  # of a derivative: for each line of the text the user's line, or 0


@record(frozen=True)
class Read:
    """One reference of a piece, with its meaning."""

    piece: Piece
    reference: Reference
    found: DottedMeaning


Follow = Callable[[Meaning], "Piece | None"]


@record
class Pieces:
    """Pieces of one output in the order in which they were added, after all that they need."""

    follow: Follow  # the piece that defines what a name means; None for what needs none
    order: list[Piece] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    known: dict[Meaning, None] = field(default_factory=dict)
    open: list[Piece] = field(default_factory=list)

    def copy(self) -> Pieces:
        """The state now, to go back to where a piece is refused."""
        return Pieces(self.follow, list(self.order), list(self.reads), dict(self.known))

    def add(self, piece: Piece) -> None:
        """Add a piece and all that it needs; E5012 for a name that cannot be told."""
        self.known[piece.meaning] = None
        self.open.append(piece)
        told: dict[tuple[str, ...], DottedMeaning] = {}
        for reference in references(piece.text):
            found = told.get(reference.parts)
            if found is not None:
                self.reads.append(Read(piece, reference, found))
                continue
            found = told[reference.parts] = piece.find(reference.parts)
            self._check(piece, reference, found.meaning)
            self.reads.append(Read(piece, reference, found))
            if found.meaning not in self.known:
                needed = self.follow(found.meaning)
                if needed is not None:
                    self.add(needed)
        self.open.pop()
        self.order.append(piece)

    def _check(self, piece: Piece, reference: Reference, meaning: Meaning) -> None:
        root = reference.parts[0]
        if isinstance(meaning, UnknownName):
            raise _refusal(piece, root, meaning.reason)
        circle = any(item.meaning == meaning and _is_value(meaning) for item in self.open)
        if circle:
            raise _refusal(piece, root, f"the value of {root} is computed from itself")
        own = piece.meaning
        if _is_value(own) and _is_value(meaning) and own.module is meaning.module:  # type: ignore[union-attr]
            needed = self.follow(meaning)
            if needed is not None and needed.line > piece.line:
                raise _refusal(piece, root, f"{root} is bound anew after it was read here")


def _is_value(meaning: Meaning) -> bool:
    return isinstance(meaning, CopiedDefinition) and meaning.function is None


def _refusal(piece: Piece, root: str, reason: str) -> DifferentiationError:
    reader = piece.meaning.name if isinstance(piece.meaning, CopiedDefinition) else ""
    who = f", which {reader} reads," if reader else ""
    return DifferentiationError(
        "E5012",
        f"`{root}`{who} cannot be written into the output: {reason}",
        "bind the name once at module level, to a function or to an expression that stands by itself, "
        "or pass the value as an argument",
        piece.place(root),
    )


@record
class OutputParts:
    """The parts of an output: import statements, texts with what they define, objects from outside."""

    imports: list[str]
    texts: list[tuple[Meaning, str]]
    outside: dict[str, object]


@record
class _Naming:
    """Names of the output and what they mean; `words` are all that any piece could use for itself."""

    words: frozenset[str]
    meaning: dict[str, Meaning] = field(default_factory=dict)
    spelled: dict[Meaning, list[str]] = field(default_factory=dict)

    def claim(self, name: str, meaning: Meaning) -> str:
        """Let `name` have this meaning in the whole output."""
        names = self.spelled.setdefault(meaning, [])
        if self.meaning.setdefault(name, meaning) == meaning and name not in names:
            names.append(name)
        return name

    def choose(self, read: Read, local: frozenset[str]) -> str:
        """The name under which a piece reads something: its own, if no other means another thing by it."""
        root, meaning, known = (
            read.reference.parts[0],
            read.found.meaning,
            self.spelled.get(read.found.meaning, []),
        )
        chosen = read.piece.chosen.get(root)
        wanted = [*known, chosen, root] if chosen else [read.reference.parts[read.found.count - 1], *known]
        for name in wanted:
            if self.meaning.get(name, meaning) == meaning and (name == root or name not in local):
                return self.claim(name, meaning)
        fresh = wanted[0]
        while fresh in self.words or fresh in self.meaning or keyword.iskeyword(fresh):
            fresh += "_"
        return self.claim(fresh, meaning)


def write(pieces: Pieces) -> OutputParts:
    """The texts of all pieces, under names that no two of them share."""
    place = {piece: number for number, piece in enumerate(pieces.order)}
    local = {piece: local_names(piece.text) for piece in pieces.order}
    naming = _Naming(frozenset().union(*(identifiers(piece.text) for piece in pieces.order)))
    changes: dict[Piece, dict[Reference, tuple[int, str]]] = {piece: {} for piece in pieces.order}
    for piece in pieces.order:
        if isinstance(piece.meaning, OutputFunction):
            naming.claim(piece.meaning.name, piece.meaning)
    reads = sorted(pieces.reads, key=lambda read: _rank(read, place[read.piece]))
    for read in reads:
        parts, count = read.reference.parts, read.found.count
        name = naming.choose(read, local[read.piece])
        if (name,) == parts[:count]:
            continue
        if read.reference.fixed or parts[0] in local[read.piece]:
            raise _refusal(read.piece, parts[0], f"two functions mean different things by {parts[0]}")
        changes[read.piece][read.reference] = (count, name)
    texts: list[tuple[Meaning, str]] = []
    for piece in pieces.order:
        texts += _texts(piece, replace_references(piece.text, changes[piece]), naming)
    return OutputParts(_imports(reads, naming), texts, _outside_objects(naming))


def _rank(read: Read, place: int) -> tuple[int, int, object]:
    """Fixed names choose first, then the user's in the order of the output, then those that srcgrad chose."""
    fixed = isinstance(read.found.meaning, OutputFunction | Builtin)
    chosen = read.reference.parts[0] in read.piece.chosen
    return (0 if fixed else 2 if chosen else 1, place, read.reference.start)


def _texts(piece: Piece, text: str, naming: _Naming) -> list[tuple[Meaning, str]]:
    if not isinstance(piece.meaning, CopiedDefinition | Literal):
        return [(piece.meaning, text)]
    if piece.meaning not in naming.spelled:
        return [(piece.meaning, text)]
    first, *others = naming.spelled[piece.meaning]
    aliases = [(Literal(first), f"{other} = {first}") for other in others]
    return [(piece.meaning, rename_definition(text, first)), *aliases]


def _imports(reads: Sequence[Read], naming: _Naming) -> list[str]:
    found: dict[str, None] = {}
    for meaning, names in naming.spelled.items():
        if isinstance(meaning, Import):
            also = [read.found.also for read in reads if read.found.meaning == meaning]
            submodules = dict.fromkeys(name for each in also for name in each)
            if submodules and names == [meaning.module]:
                found |= {f"import {name}": None for name in submodules}
            else:
                found |= {meaning.line(name): None for name in names}
    return list(found)


def _outside_objects(naming: _Naming) -> dict[str, object]:
    pairs: Iterable[tuple[Meaning, list[str]]] = naming.spelled.items()
    return {name: meaning.value for meaning, names in pairs if isinstance(meaning, OutsideObject) for name in names}


@record(frozen=True)
class Lookup:
    """Where the names of derivatives are looked up.

    `made` are the names of all derivatives of the output; without `text`, the output is executed at once,
    and may refer to objects of the running program.
    """

    made: Mapping[str, object]
    text: Globals | None


def derivative(name: str, tree: Node, facts: Facts, lookup: Lookup) -> Piece:
    """The piece that holds a derivative."""
    if isinstance(facts.namespace, LiveNamespace):
        _settle(tree.args, facts.namespace)
    chosen = {spelled: identifier for identifier, spelled in facts.names.imports.items()}
    user = names_in(facts.source.tree)

    def find(parts: tuple[str, ...]) -> DottedMeaning:
        root = parts[0]
        if root in chosen:
            return DottedMeaning(_library(chosen[root], facts, lookup))
        given = root in user or found_in(facts.namespace, root)[0] is not without_overlays(facts.namespace)
        if root in lookup.made and (root == name or root in facts.calls.named or not given):
            clash = f"the output has a function {root} of its own"
            return DottedMeaning(UnknownName(clash) if root in user and root != name else OutputFunction(root))
        return _user(facts, (facts.names.globals_as.get(root, root), *parts[1:]), lookup)

    def at(root: str) -> Place:
        read = facts.names.globals_as.get(root, root)
        nodes = (n for n in find_nodes(facts.source.tree, gast.Name) if n.id == read)
        return facts.place(next(nodes, facts.source.tree))

    printed = placed_lines(tree)
    text = "\n".join(line for line, _ in printed).rstrip("\n")
    return Piece(
        text, OutputFunction(name), find, at, chosen, lines=tuple(getattr(node, "lineno", 0) for _, node in printed)
    )


def _settle(arguments: Node, namespace: LiveNamespace) -> None:
    """Replace defaults that read names which are gone: `def f(x, k=k0)` with a k0 of the function around."""
    if not arguments.defaults and not any(arguments.kw_defaults):
        return
    live = inspect.signature(namespace.function).parameters

    def settle_default(parameter: Node, default: Node) -> Node:
        reads = [] if default is None else [n.id for n in find_nodes(default, gast.Name)]
        if parameter.id not in live or all(namespace.lookup(name) for name in reads):
            return default
        spelled = literal(live[parameter.id].default)
        return expression("None" if spelled is None else spelled.text)

    positional = [*arguments.posonlyargs, *arguments.args]
    last = positional[len(positional) - len(arguments.defaults) :]
    arguments.defaults = [settle_default(*pair) for pair in zip(last, arguments.defaults, strict=True)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    arguments.kw_defaults = [settle_default(*pair) for pair in named]


def _library(identifier: str, facts: Facts, lookup: Lookup) -> Meaning:
    """A name that templates read: NumPy, a module, a function of the runtime, an object of a rule's own."""
    value = facts.names.library_values.get(identifier)
    if isinstance(value, ModuleType) and sys.modules.get(value.__name__, value) is not value and lookup.text is None:
        return OutsideObject(id(value), value)  # NumPy by itself, where the user has replaced something in it
    if identifier == "np":
        return Import("numpy")
    if isinstance(value, str):  # where a library has it that need not be installed
        return Import(*value.rpartition(".")[::2])
    if value is None:
        value = getattr(runtime, identifier)
    if isinstance(value, StaticFunction):
        return of_function(value)
    ships = not str(getattr(value, "__module__", "")).startswith("srcgrad.opencl.")  # those are put in at the end
    if lookup.text is not None and lookup.text.embed and ships and not isinstance(value, ModuleType):
        return _one(lookup.text.object(value, identifier), identifier)
    return import_of_value(value) or _object(value, identifier, facts, lookup)


def _one(target: Meaning | StaticModule, name: str) -> Meaning:
    return UnknownName(f"{name} is a module, used as a value") if isinstance(target, StaticModule) else target


def _user(facts: Facts, parts: tuple[str, ...], lookup: Lookup) -> DottedMeaning:
    namespace, known_as = found_in(facts.namespace, parts[0])
    found = _meaning_in_namespace(facts, namespace, (known_as, *parts[1:]), lookup)
    if known_as != parts[0] and found.meaning == Builtin(known_as):
        return DottedMeaning(Import("builtins", known_as))
    return found


def _meaning_in_namespace(facts: Facts, namespace: Namespace, parts: tuple[str, ...], lookup: Lookup) -> DottedMeaning:
    """What a name means in the namespace that knows it."""
    if isinstance(namespace, StaticModule):
        assert lookup.text is not None, "a function known only as text is written into a file"
        return lookup.text.find(namespace, parts)
    bound = namespace.lookup(parts[0])
    if lookup.text is not None and bound is not None and bound.kind == "module" and bound.module is not None:
        return lookup.text.find(bound.module, parts, bound)
    home = None if bound is None or lookup.text is None else _home(bound, parts[0])
    if home is not None and lookup.text is not None:
        return lookup.text.find(home[0], (home[1], *parts[1:]))
    if bound is None or bound.kind != "object":
        return DottedMeaning(Builtin(parts[0]))  # a NameError, as in the user's function
    return DottedMeaning(_object(bound.compiled or bound.object, parts[0], facts, lookup))


def _home(bound: Binding, name: str) -> tuple[StaticModule, str] | None:
    """Where a function or a value that is known only as text stands, and by what name."""
    if bound.static is not None:
        return bound.static.module, bound.static.qualname
    if bound.kind != "value" or bound.module is None:
        return None
    known = [name, *bound.module.table]
    same = (n for n in known if getattr(bound.module.lookup(n), "expression", None) == bound.expression)
    return bound.module, next(same, name)


def _object(value: object, name: str, facts: Facts, lookup: Lookup) -> Meaning:
    ours = str(getattr(value, "__module__", "")).startswith(runtime.__name__)
    if lookup.text is not None and lookup.text.embed and ours:  # read by an operation that is written out
        return _one(lookup.text.object(value, name), name)
    found = Builtin(name) if is_builtin(name, value) else import_of_value(value)
    if found is not None:
        return found
    if lookup.text is None:
        return OutsideObject(id(value), value)
    namespace = facts.namespace
    if isinstance(namespace, LiveNamespace) and isinstance(namespace.function, FunctionType):
        home = from_home(namespace.function, name, value)
        if home is not None:
            return home
    return literal(value) or UnknownName("it is an object of a running program")


def follower(look: Globals | None) -> Callable[[Meaning], Piece | None]:
    """What makes the piece that a name needs; None for names that need none."""

    def follow(meaning: Meaning) -> Piece | None:
        if look is not None and isinstance(meaning, CopiedDefinition):
            return _copy_definition(meaning, look)
        return None

    return follow


def _copy_definition(meaning: CopiedDefinition, look: Globals) -> Piece:
    module, name = meaning.module, meaning.name
    defined = module.table.get(name, [])
    node: ast.AST | None = meaning.function.node if meaning.function else defined[-1].node if defined else None

    def find(parts: tuple[str, ...]) -> DottedMeaning:
        if parts == (name,) and meaning.function is not None and look.member(module, name) == meaning:
            return DottedMeaning(meaning)
        if meaning.maker is not None and parts == (meaning.maker.name,):
            return DottedMeaning(meaning.maker)
        return look.find(module, parts)

    def at(root: str) -> Place | None:
        reads = [n for n in ast.walk(node or module.tree) if isinstance(n, ast.Name) and n.id == root]
        return place(module.label, module.lines, reads[0]) if reads else None

    line = 0 if meaning.function else meaning.steps.last if meaning.steps else module.table[name][-1].line
    return Piece(definition(meaning, name, tidy=look.embed), meaning, find, at, {}, line)
