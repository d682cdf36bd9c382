"""The source of a function: its own text, tree and comments, or an error; never the text of another.

A text is what linecache has for a file, or what a pickle took along. It is compiled as a whole, since a nested function
or a method means something else when compiled alone; then a function is found by the line and name of its code, and
taken only if both codes are equal, never by its looks.

Errors, warnings and comments name places in the user's text, also of what was written out into another function: there,
and where it was called. A traceback through generated text has the user's line above each generated one, under the
user's file name; a warning that generated text gives says from which line of the user it comes.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import io
import linecache
import os
import re
import sys
import threading
import tokenize
import types
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from types import CodeType, FunctionType, MethodType
from typing import Any, ParamSpec, TypeVar  # a namespace holds arbitrary objects
from weakref import WeakKeyDictionary

import gast

from srcgrad.core.errors import PACKAGE, UNNAMED, DifferentiationError, Place, cell_of
from srcgrad.core.identity import record, replace
from srcgrad.core.trees import Node, at, copy, definitions, find_nodes, open_stars, parsed_nodes, to_gast, walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=BaseException)

CALLS = 4  # of a function within itself that a pass makes, at most, for a level of an expression
TOO_DEEP = "name some of the inner expressions, or write a long sum as a loop or with np.sum"


def split_lines(text: str) -> tuple[str, ...]:
    r"""The lines as Python counts them; unlike `str.splitlines`, a form feed ends no line.

    >>> split_lines("a = 1\x0c\nb = 2\n")
    ('a = 1\x0c', 'b = 2')
    """
    return tuple(io.StringIO(text, newline=None).read().removesuffix("\n").split("\n")) if text else ()


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


def place(label: str, lines: Sequence[str], node: Node | ast.expr | ast.stmt) -> Place:
    """The place of a node; Python counts columns in bytes, a reader in characters.

    >>> import gast
    >>> line = "y = 'é' + z"
    >>> str(place("f.py", [line], gast.parse(line).body[0].value.right)).splitlines()[-1]
    '              ^'
    """
    text = lines[node.lineno - 1]
    start = characters(text, node.col_offset)
    last = getattr(node, "end_lineno", None)
    end = characters(text, node.end_col_offset or 0) if last == node.lineno else len(text)
    return Place(label, node.lineno, start, text, max(1, end - start))


def characters(line: str, offset: int) -> int:
    """How many characters of a line its first bytes are."""
    return len(line.encode()[:offset].decode(errors="replace"))


def function_tree(node: FunctionNode, label: str, lines: Sequence[str]) -> Node:
    """The gast tree of one function; a lambda becomes a def named `lambda_` that returns its body."""
    try:
        return to_gast(_as_definition(node), _room() // CALLS)
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


def _statements(node: FunctionNode) -> list[FunctionNode | ast.stmt]:
    """The statements that hold no others; the function itself where it is a lambda."""
    inner = [item for item in ast.walk(node) if isinstance(item, ast.stmt)]
    return [item for item in inner if not hasattr(item, "body")] or [node]


def _depth(node: ast.AST) -> int:
    depth, level = 0, [node]
    while level:
        depth, level = depth + 1, [child for item in level for child in ast.iter_child_nodes(item)]
    return depth


_STRINGS = ("'", '"')


def comments(lines: Sequence[str], first: int, last: int, whole: bool = False) -> dict[int, str]:
    """Comments of the lines `first` to `last`, by line; `whole` where the block alone is no Python.

    >>> comments(["def f(x):", "    # twice", "    return 2 * x  # '#'"], 1, 3)
    {2: '# twice', 3: "# '#'"}
    """
    block = lines[first - 1 : last]
    if not any("#" in line for line in block):
        return {}
    if not any(mark in line for line in block for mark in _STRINGS):  # each `#` begins a comment
        return {k: line[line.index("#") :] for k, line in enumerate(block, first) if "#" in line}
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


Key = tuple[str, int]  # name of the code, line of its `def` or of its first decorator

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag


@record(frozen=True)
class Module:
    """A text, its tree, and the functions and code objects in it by name and line."""

    lines: tuple[str, ...]
    tree: ast.Module
    flags: int
    nodes: dict[Key, list[FunctionNode]]
    codes: dict[Key, list[CodeType]]

    @cached_property
    def codes_by_statement(self) -> dict[Key, list[CodeType]]:
        """The code objects where each statement of the text is compiled by itself, as IPython does with a cell.

        Python calls `np.tanh` by other instructions where the same text imports np.
        """
        return _index_codes(_by_statements(self.tree, self.flags))


def futures(code: CodeType) -> int:
    """The `from __future__` imports that `code` was compiled under; a notebook cell inherits earlier ones."""
    return code.co_flags & _FUTURES


def module_of(text: str, lines: tuple[str, ...], flags: int) -> Module:
    """The index of a text; raises what `compile` raises."""
    tree = parse(text, flags)
    nodes: dict[Key, list[FunctionNode]] = {}
    for node in parsed_nodes(tree) if "lambda" in text else definitions(tree):
        if isinstance(node, FunctionNode):
            nodes.setdefault(_key(node), []).append(node)
    return Module(lines, tree, flags, nodes, _index_codes(_codes(_compile_tree(tree, flags))))


def _index_codes(codes: Iterable[CodeType]) -> dict[Key, list[CodeType]]:
    found: dict[Key, list[CodeType]] = {}
    for code in codes:
        found.setdefault((code.co_name, code.co_firstlineno), []).append(code)
    return found


def _compile_tree(tree: ast.Module, flags: int) -> CodeType:
    code = compile(tree, "<text>", "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    assert isinstance(code, CodeType), "without PyCF_ONLY_AST, compile gives code"
    return code


def _by_statements(tree: ast.Module, flags: int) -> Iterator[CodeType]:
    for statement in tree.body:
        yield from _codes(_compile_tree(ast.Module([statement], []), flags))


def _key(node: FunctionNode) -> Key:
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    return node.name, min([node.lineno, *(item.lineno for item in node.decorator_list)])


def _codes(code: CodeType) -> Iterator[CodeType]:
    todo = [code]
    while todo:
        item = todo.pop()
        yield item
        todo.extend(const for const in reversed(item.co_consts) if isinstance(const, CodeType))


def node_of(module: Module, code: CodeType) -> FunctionNode | None:
    """The function of `module` that compiles to `code`: at its line, or where an edit above has moved it."""
    line = code.co_firstlineno
    keys = [key for key in module.codes if key[0] == code.co_name]
    for key in sorted(keys, key=lambda key: (abs(key[1] - line), key[1])):
        if any(same_code(code, other) for other in module.codes[key]) or any(
            same_code(code, other) for other in module.codes_by_statement.get(key, ())
        ):
            nodes = module.nodes.get(key, [])
            return nodes[0] if len(nodes) == 1 else _lambda_of(module, nodes, code)
    return None


def _lambda_of(module: Module, nodes: list[FunctionNode], code: CodeType) -> FunctionNode | None:
    """The lambda, of several in one line, that compiles to `code`."""
    here = [node for node in nodes if isinstance(node, ast.Lambda) and _covers(node, code)]
    if here:
        return here[0]
    for node, other in _lambda_pairs(module):
        if any(node is candidate for candidate in nodes) and same_code(code, other):
            return node
    return None


def _covers(node: ast.Lambda, code: CodeType) -> bool:
    """Whether an instruction of `code` has the very position of the lambda's body (from Python 3.11 on)."""
    if sys.version_info < (3, 11):
        return False
    body = node.body
    span = (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
    return span in set(code.co_positions())


def _lambda_pairs(module: Module) -> Iterator[tuple[ast.Lambda, CodeType]]:
    """Lambdas with their code objects, told apart by compiling a copy in which each has a line of its own."""
    copy = parse("\n".join(module.lines) + "\n", module.flags)
    lambdas: list[ast.Lambda] = []
    for node, twin in zip(ast.walk(module.tree), ast.walk(copy), strict=True):
        if isinstance(node, ast.Lambda) and isinstance(twin, ast.Lambda):
            lambdas.append(node)
            twin.lineno = twin.end_lineno = len(lambdas)
            twin.col_offset = twin.end_col_offset = 0
    for code in (*_codes(_compile_tree(copy, module.flags)), *_by_statements(copy, module.flags)):
        if code.co_name == "<lambda>":
            yield lambdas[code.co_firstlineno - 1], code


def same_code(live: CodeType, other: CodeType) -> bool:
    """Whether two codes do the same: instructions, names and constants; positions and files may differ."""
    if live == other:
        return True
    if _signature(live) != _signature(other):
        return False
    if _is_rewritten(live):
        return _same_but_asserts(live, other)
    return (
        live.co_code == other.co_code
        and live.co_names == other.co_names
        and live.co_varnames == other.co_varnames
        and getattr(live, "co_exceptiontable", b"") == getattr(other, "co_exceptiontable", b"")
        and _same_constant(live.co_consts, other.co_consts)
    )


def _signature(code: CodeType) -> tuple[object, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    scope = (sorted(code.co_freevars), sorted(code.co_cellvars))
    return code.co_name, counts, code.co_flags, code.co_varnames[:count], scope


def _same_constant(one: object, other: object) -> bool:
    if type(one) is not type(other):  # 1, 1.0 and True are equal but not the same
        return False
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return same_code(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same_constant, one, other))
    if isinstance(one, float | complex):
        return repr(one) == repr(other)  # 0.0 and -0.0 are equal but not the same; nan is not equal to itself
    return one == other


def _is_rewritten(code: CodeType) -> bool:
    """Whether pytest has rewritten the `assert` statements of `code`: a test's functions have other code."""
    return any(name.startswith("@py") for name in (*code.co_names, *code.co_varnames))


def _same_but_asserts(live: CodeType, other: CodeType) -> bool:
    return set(other.co_names) - {"AssertionError"} <= set(live.co_names) and _lines(live) == _lines(other)


def _lines(code: CodeType) -> set[int]:
    return {line - code.co_firstlineno for _, _, line in code.co_lines() if line is not None}


SENT = "<dynamic-code>"  # what cloudpickle calls the file of every code that it reads
_CAPACITY = 64  # texts kept; the working set of a session is far smaller
_lock = threading.Lock()


@record(frozen=True)
class Text:
    """The lines of a file, what they parse to, and the sources that were asked for.

    Whoever asks for a source gets a tree of his own; a copy costs a third of what it costs to make one.
    """

    file: str
    lines: list[str]
    module: Module
    sources: dict[FunctionNode, Any] = field(default_factory=dict)
    asked: dict[FunctionNode, None] = field(default_factory=dict)  # functions of which there was a source


_texts: dict[tuple[str, int], Text] = {}
_carried: dict[tuple[str, str], list[str]] = {}  # by file and text, the last that came is the last


def carry(file: str, lines: Sequence[str]) -> None:
    """Take in a text that a pickle has brought: that of functions whose code came along, without their file."""
    key = (file, "".join(lines))
    with _lock:
        _carried[key] = _carried.pop(key, list(lines))
        while len(_carried) > _CAPACITY:
            del _carried[next(iter(_carried))]


def lines_for(function: FunctionType) -> dict[str, list[str]]:
    """The lines of the file of a function, by its name; nothing where they are not known."""
    code = function.__code__
    if code.co_filename != SENT:
        lines = linecache.getlines(code.co_filename, function.__globals__)
        return {code.co_filename: lines} if lines else {}
    try:
        node, text = found_in(code, function.__globals__)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {text.file: text.lines} if node is not None and text is not None else {}


def found_in(code: CodeType, namespace: dict[str, object]) -> tuple[FunctionNode | None, Text | None]:
    """The function whose code this is, with its text; without the first where the text has another function there.

    Code that came by itself is looked for in all texts that pickles brought: it is taken from one that compiles to it.
    """
    for text in _texts_sent(code) if code.co_filename == SENT else _texts_in_linecache(code, namespace):
        node = node_of(text.module, code)
        if node is not None or code.co_filename != SENT:
            return node, text
    return None, None


def _texts_sent(code: CodeType) -> Iterator[Text]:
    with _lock:
        known = list(reversed(_carried.items()))
    for (file, _), lines in known:
        with _lock:
            text = _parse_file(file, lines, futures(code))
        yield text


def _texts_in_linecache(code: CodeType, namespace: dict[str, object]) -> Iterator[Text]:
    """The text that linecache has for the file of `code` now, if it has one."""
    with _lock:
        linecache.checkcache(code.co_filename)
        lines = linecache.getlines(code.co_filename, namespace)
        if not lines:
            _texts.pop((code.co_filename, futures(code)), None)
            return
        text = _parse_file(code.co_filename, lines, futures(code))
    yield text


def _parse_file(file: str, lines: list[str], flags: int) -> Text:
    known = _texts.pop((file, flags), None)
    if known is None or (known.lines is not lines and known.lines != lines):
        text = "".join(lines)
        known = Text(file, lines, module_of(text, tuple(text.removesuffix("\n").split("\n")), flags))
    _texts[file, flags] = known  # the last used is the last in the dict
    while len(_texts) > _CAPACITY:
        del _texts[next(iter(_texts))]
    return known


@record(frozen=True)
class Source:
    """The text of one function.

    `file` is a label for messages, never a path; `first` the line of the `def`; `lines` all lines of the
    file or cell, so that `lines[lineno - 1]` is the line of a node; `tree` a gast tree of its own, with
    positions as in the file; `comments` maps lines of the function to their comment, the `#` included.
    """

    file: str
    first: int
    lines: tuple[str, ...]
    tree: Node
    name: str
    comments: dict[int, str]
    cell: str = ""  # of a notebook, as `In[3]`: for errors alone, since it differs from run to run
    made: bool = False  # whether the statements were written by a pass, and stand in no line
    respelled: bool = False  # whether statements may differ from their lines: stars were opened in them
    library: str = ""  # what a function of a library, Python's own among them, is called there

    @property
    def is_generated(self) -> bool:
        """Whether the text is one of ours: a derivative, or a call of an operation alone."""
        return maker_of(self.file) == DERIVATIVES

    @property
    def is_derivative(self) -> bool:
        """Whether the text is a derivative: `<srcgrad f_grad of ...>`; one that calls an operation alone is none."""
        return self.is_generated and " of " in self.file

    def place(self, node: Node) -> Place:
        """Where `node` stands, for an error."""
        return place(self.cell or self.file, self.lines, node)


def source_of(function: Callable[..., object]) -> Source:
    """The source of a live function, method or lambda; E5008 where there is none or it is out of date.

    The text is compiled and compared with the code that runs, so a function is never given the text of
    another: not after an edit of its file, not after a redefinition, not for two lambdas in one line.

    >>> import functools
    >>> source = source_of(functools.wraps)
    >>> source.name, source.file, source.lines[source.first - 1]
    ('wraps', 'functools.py', 'def wraps(wrapped,')
    """
    plain = _plain_function(function)
    made = _source_of(plain)
    file = plain.__code__.co_filename  # not the module's name: a user's file may be called `code.py`
    return replace(made, library=_public_name(plain)) if is_installed(file) else made


_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep


def is_installed(file: str) -> bool:
    """Whether a file is in a library, or in one of Python's own; srcgrad itself is none."""
    installed = file.startswith(_STANDARD_LIBRARY) or "site-packages" in file or "dist-packages" in file
    return installed and not file.startswith(PACKAGE)


def _public_name(function: FunctionType) -> str:
    """What users call a function of a library; UNNAMED where it is an inner one.

    >>> _public_name(inspect.signature), _public_name(inspect._signature_fromstr) == UNNAMED
    ('inspect.signature', True)
    """
    module, (first, *rest) = str(function.__module__).split("._")[0], function.__qualname__.split(".")
    shown = first[0] not in "_<" and hasattr(sys.modules.get(module), first) and "<locals>" not in rest
    return f"{module}.{function.__qualname__}" if shown else UNNAMED


def _source_of(plain: FunctionType) -> Source:
    node, text = _find_and_check(plain)
    known: Source | None = text.sources.get(node)
    if _hands_on(plain):
        made = source_at(node, label_of(text.file), text.module.lines, cell_of(text.file))
        if takes_stars(plain):
            return made
        return replace(made, tree=_as_wrapped(made.tree, plain), respelled=True)
    if known is not None:
        return replace(known, tree=copy(known.tree))
    made = source_at(node, label_of(text.file), text.module.lines, cell_of(text.file))
    if node not in text.asked:
        text.asked[node] = None  # most are asked for once
    elif all(getattr(item, "annotation", None) is None for item in walk(made.tree)):  # which copies leave out
        text.sources[node] = replace(made, tree=copy(made.tree))
    return made


def tree_of(function: Callable[..., object]) -> Node:
    """The tree of a function's source for those who only look at it: one that is known is not copied."""
    node, text = _find_and_check(_plain_function(function))
    known = text.sources.get(node)
    return source_of(function).tree if known is None or _hands_on(_plain_function(function)) else known.tree


def _find_and_check(plain: FunctionType) -> tuple[FunctionNode, Text]:
    node, text = _find(plain.__code__, plain)
    _check_defaults(plain, node, text.module.lines)
    return node, text


def text_of(function: FunctionType) -> FunctionNode:
    """Python's own tree of the text of a function, whatever it wraps; E5008 where there is none."""
    return _find(function.__code__, function)[0]


def source_at(node: FunctionNode, label: str, lines: Sequence[str], cell: str = "") -> Source:
    """The source of the function that stands at `node` of a parsed text."""
    tree = function_tree(node, label, lines)
    last = node.end_lineno or node.lineno
    whole = isinstance(node, ast.Lambda)
    remarks = comments(lines, node.lineno, last, whole)
    return Source(label, node.lineno, tuple(lines), tree, tree.name, remarks, cell)


DERIVATIVES, BLOCKS = "srcgrad", "blocks"  # who made a text, as its label says; blocks take the rows of arrays


def maker_of(label: str) -> str:
    """The first word of the label of a text that no file has, which says who made it; "" for a file.

    >>> maker_of("<srcgrad f_grad of a.py:3 0123456789>"), maker_of("<blocks f of a.py:3>"), maker_of("a.py")
    ('srcgrad', 'blocks', '')
    """
    return label[1:].partition(" ")[0] if label.startswith("<") else ""


def label_of(filename: str) -> str:
    """How messages and headers call a file: its last part, without the folders that differ between machines.

    >>> label_of("/home/me/model.py"), label_of("<doctest a[0]>"), label_of("/tmp/ipykernel_12/345.py")
    ('model.py', '<doctest a[0]>', 'notebook')
    """
    if "ipykernel_" in filename or filename.startswith("<ipython-input"):
        return "notebook"
    if filename.startswith("<"):
        return filename
    return filename.replace("\\", "/").rsplit("/", 1)[-1]


def _plain_function(function: object) -> FunctionType:
    """The function that runs when `function` is called; a wrapper that may do something else is refused."""
    for _ in range(100):  # wrappers of wrappers end; an object that answers to every attribute does not
        primal = getattr(function, "__srcgrad_primal__", None)
        if primal is not None:
            function = primal
        elif isinstance(function, MethodType | staticmethod | classmethod):
            function = function.__func__
        elif isinstance(function, functools._lru_cache_wrapper):
            function = function.__wrapped__
        else:
            break
    name = getattr(function, "__qualname__", None) or type(function).__name__
    if (
        hasattr(function, "__wrapped__")
        and not _is_numpy(function)
        and not is_own(function)
        and not _hands_on(function)
    ):
        message = f"{name} is wrapped by a decorator, which may change what it does"
        remedy = f"pass {name}.__wrapped__ to differentiate the function inside, without its decorator"
        raise DifferentiationError("E5008", message, remedy)
    if isinstance(function, FunctionType):
        return function
    raise DifferentiationError("E5008", f"{name} has no Python source", _remedy(function, name))


def _hands_on(function: object) -> bool:
    """Whether a function is a wrapper with `*args` or `**kwargs` that is called as the function inside is."""
    if not isinstance(function, FunctionType) or not callable(function.__dict__.get("__wrapped__")):
        return False
    several = function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if not several or _is_numpy(function) or function.__kwdefaults__:
        return False
    defaults = function.__defaults__ or ()
    count = function.__code__.co_argcount
    try:
        taken = list(inspect.signature(function).parameters.values())[count - len(defaults) : count]
    except ValueError:  # the function inside is a builtin, of which the parameters are not known
        return False
    return len(taken) == len(defaults) and all(
        type(one.default) is type(own) and one.default == own and isinstance(own, int | float | str | None)
        for one, own in zip(taken, defaults, strict=True)
    )


def takes_stars(function: object) -> bool:
    """Whether a wrapper is called by its own `*args`: how it is called may make a difference to it."""
    if not isinstance(function, FunctionType) or not _hands_on(function):
        return False
    if function not in _STARS:
        node, text = _find(function.__code__, function)
        made = source_at(node, label_of(text.file), text.module.lines, cell_of(text.file))
        try:
            _as_wrapped(made.tree, function)
            _STARS[function] = False
        except DifferentiationError:
            _STARS[function] = made.tree.args.vararg is not None
    return _STARS[function]


_STARS: WeakKeyDictionary[FunctionType, bool] = WeakKeyDictionary()


def _as_wrapped(tree: Node, function: FunctionType) -> Node:
    """A wrapper with the parameters of the function inside in the place of its own; E5008 if it does more with them.

    So it is called: `inspect.signature` gives the parameters of the function inside.
    """
    taken = list(inspect.signature(function).parameters.values())
    places = [one for one in taken if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    words = [one for one in taken if one.kind is one.KEYWORD_ONLY]
    own = [a.id for a in (*tree.args.posonlyargs, *tree.args.args)]
    plain = all(one.default is one.empty or isinstance(one.default, int | float | str | None) for one in taken)
    more = places[len(own) :]  # by their places, or by their names
    named = tree.args.kwarg is not None or not (words if tree.args.vararg is not None else [*more, *words])
    names = [one.name for one in (*places, *words)]
    mapped = dict(zip(own, names, strict=False))
    nodes = [n for s in tree.body for n in find_nodes(s, gast.Name)]
    clash = {n.id for n in nodes} & set(names) - {one for one, other in mapped.items() if one == other}
    stored = {n.id for n in nodes if isinstance(n.ctx, gast.Store)}
    fits = len(own) <= len(places) and len(places) + len(words) == len(taken) and plain and named
    for one in sorted(clash & stored - set(own)):
        mapped[one] = f"{one}_"
    tells = not fits or _tells_how_called(tree, function, more, words)
    if tells or clash - stored - set(own) or {f"{one}_" for one in clash} & {n.id for n in nodes}:
        raise _not_followed(function)
    for node in nodes:
        node.id = mapped.get(node.id, node.id)
    by_place = more if tree.args.vararg is not None else []
    if not open_stars(tree, [p.name for p in by_place], {w.name: w.name for w in (*more[len(by_place) :], *words)}):
        raise _not_followed(function)
    head = [*(one.name for one in places), *(["*"] if words else []), *(one.name for one in words)]
    made = to_gast(ast.parse(f"def f({', '.join(head)}): pass").body[0], _room() // CALLS).args
    made.defaults = [gast.Constant(one.default, None) for one in places if one.default is not one.empty]
    made.kw_defaults = [None if w.default is w.empty else gast.Constant(w.default, None) for w in words]
    tree.args = at(made, tree)
    return tree


def _tells_how_called(
    tree: Node, function: FunctionType, places: list[inspect.Parameter], words: list[inspect.Parameter]
) -> bool:
    """Whether a wrapper may do something else where an argument is left to its default, or given by its name.

    It does not where it reads one item of `args`, or hands all on to the function inside; nor where no default is left
    out and no name can be given.
    """
    named = getattr(tree.args.kwarg, "id", "")
    by_place = not named or all(one.kind is one.POSITIONAL_ONLY for one in places)
    counted = by_place and all(one.default is one.empty for one in places)
    kept = {getattr(tree.args.vararg, "id", "") if not counted else "", named if words or not by_place else ""} - {""}
    inside, count = function.__dict__["__wrapped__"], len(tree.args.args) + len(tree.args.posonlyargs)
    outside = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    fine = []
    for node in (n for s in tree.body for n in walk(s)):
        if isinstance(node, gast.Call) and outside.get(getattr(node.func, "id", "")) is inside:
            last = node.args[count:] if len(node.args) == count + 1 else []
            fine += [part.value for part in last if isinstance(part, gast.Starred)]
            fine += [word.value for word in node.keywords if word.arg is None]
        elif isinstance(node, gast.Subscript) and type(getattr(node.slice, "value", None)) is int:
            fine.append(node.value)
    read = [n for s in tree.body for n in walk(s) if getattr(n, "id", "") in kept]
    return any(all(one is not other for other in fine) for one in read)


def _not_followed(function: FunctionType) -> DifferentiationError:
    name = function.__qualname__
    message = f"{name} is wrapped by a decorator, which may change what it does"
    remedy = f"pass {name}.__wrapped__ to differentiate the function inside, without its decorator"
    return DifferentiationError("E5008", message, remedy)


def is_own(function: object) -> bool:
    """Whether a wrapper has parameters of its own, with the names and defaults of those of the function inside.

    Its text says all that it does then; one with `*args` is followed where it hands on what it gets (`wrappers`).
    """
    if not isinstance(function, FunctionType):
        return False
    own = inspect.signature(function, follow_wrapped=False).parameters
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(one.kind in several for one in own.values()):
        return False
    known = inspect.signature(function).parameters
    return list(own) == list(known) and all(one.default is known[name].default for name, one in own.items())


def _is_numpy(function: object) -> bool:
    """NumPy's functions wrap their implementation, which is no text to differentiate either."""
    return str(getattr(function, "__module__", "")).partition(".")[0] == "numpy"


def _remedy(function: object, name: str) -> str:
    if isinstance(function, functools.partial):
        return "pass the function inside, with its arguments"
    if isinstance(function, type):
        return f"pass a function that makes a {name} and returns numbers"
    if isinstance(vars(type(function)).get("__call__"), FunctionType):
        return f"pass the method __call__ of the {name}"
    return "call it from a Python function, and write a rule for it if it has none"


def _find(code: CodeType, function: FunctionType) -> tuple[FunctionNode, Text]:
    label, name = label_of(code.co_filename), function.__qualname__
    try:
        node, text = found_in(code, function.__globals__)
    except (SyntaxError, ValueError):
        raise _stale(label, name) from None  # it was Python when it was imported
    except (RecursionError, MemoryError):
        message = f"{label}, the file of {name}, cannot be parsed"
        raise DifferentiationError("E5016", message, TOO_DEEP) from None
    if text is None:
        raise _not_known(label, name)
    if node is None:
        raise _stale(label, name)
    return node, text


def _not_known(label: str, name: str) -> DifferentiationError:
    if label == SENT:
        message = f"the text of {name} is not known: it came from another process as code, without its text"
        remedy = "send the derivative, which takes the text along, or define the function in a module that both import"
        return DifferentiationError("E5008", message, remedy)
    message = f"the text of {name} is not known: {label} is no file that can be read"
    remedy = "define the function in a file or a notebook cell, or enter its text into linecache"
    return DifferentiationError("E5008", message, remedy)


def _stale(label: str, name: str) -> DifferentiationError:
    if label == "<string>":  # the text of `python -c`, which Python 3.13 remembers, or of any `exec`
        return _not_known(label, name)
    message = f"the text of {name} in {label} is not the text that runs"
    remedy = f"import {label} again, or run the cell again: it was edited after {name} was defined"
    return DifferentiationError("E5008", message, remedy)


def _check_defaults(function: FunctionType, node: FunctionNode, lines: tuple[str, ...]) -> None:
    """Defaults are no part of the code: an edit of `n=1` to `n=2` shows here only."""
    live = function.__kwdefaults__ or {}
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    pairs = [(text, live[item.arg]) for item, text in named if text is not None and item.arg in live]
    if len(function.__defaults__ or ()) == len(node.args.defaults):
        pairs += list(zip(node.args.defaults, function.__defaults__ or (), strict=True))
    for text, value in pairs:
        if _is_literal(text) and _value_text(ast.literal_eval(text)) != _value_text(value):
            label = label_of(function.__code__.co_filename)
            message = f"a default of {function.__qualname__} is not the one in the text"
            remedy = f"import {label} again, or give the argument in the call"
            raise DifferentiationError("E5008", message, remedy, place(label, lines, text))


def _value_text(value: object) -> str:
    """Text of a value; of an integer of any number of digits."""
    return hex(value) if type(value) is int else repr(value)


def _is_literal(node: ast.expr) -> bool:
    """Numbers, strings and tuples of them; a list may have been changed by calls since."""
    parts = (ast.Constant, ast.UnaryOp, ast.USub, ast.Tuple, ast.Load)
    return all(isinstance(item, parts) for item in ast.walk(node))


OURS = "<srcgrad "


@record(frozen=True)
class Origin:
    """The function of a user that a generated one comes from, and for each line of its text the user's, or 0.

    `first` is the line of the user's `def`, from which those come that no other line is the reason of.
    """

    file: str
    function: str
    first: int
    lines: tuple[int, ...]


_KNOWN: dict[str, dict[int, tuple[str, str, int]]] = {}  # file of a text -> line -> file, function and line of the user


def enter(file: str, text: str, parts: Mapping[str, Origin]) -> None:
    """Remember where the functions of a text come from, which is known to Python under the name `file`."""
    found: dict[int, tuple[str, str, int]] = {}
    for match in re.finditer(r"^def (\w+)\(", text, re.MULTILINE):
        origin = parts.get(match[1])
        if origin is not None:
            first = text.count("\n", 0, match.start()) + 1
            lines = (line or origin.first for line in origin.lines)
            found |= {first + k: (origin.file, origin.function, line) for k, line in enumerate(lines)}
    _KNOWN[file] = found
    if warnings.formatwarning is not _format_warning:
        _before[:] = [warnings.formatwarning]
        warnings.formatwarning = _format_warning


def origin_of(file: str, line: int) -> tuple[str, str, int] | None:
    """File, function and line of the user that a generated line comes from, through derivatives of derivatives."""
    found = None
    while file.startswith(OURS):
        known = _KNOWN.get(file, {}).get(line)
        if known is None:
            break
        found = known
        file, _, line = known
    return found


def users_place(file: str, line: int) -> Place | None:
    """The user's line that a generated line comes from, for an error; None if it cannot be read."""
    found = origin_of(file, line)
    text = linecache.getline(found[0], found[2]).rstrip() if found is not None else ""
    if found is None or not text:
        return None
    start = len(text) - len(text.lstrip())
    library = UNNAMED if is_installed(found[0]) else ""
    return Place(cell_of(found[0]) or label_of(found[0]), found[2], start, text, len(text) - start, library=library)


def running_place() -> Place | None:
    """The user's line from which the generated line comes that is running now; None where none is."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        found = users_place(frame.f_code.co_filename, frame.f_lineno)
        if found is not None and not found.library:
            return found
        frame = frame.f_back
    return None


_before: list[Callable[..., str]] = []  # what formatted warnings when the first text was entered


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """What a warning looks like; one of generated text names the user's line, too."""
    text = _before[0](message, category, filename, lineno, line)
    found = origin_of(filename, lineno)
    if found is None:
        return text
    file, _, number = found
    return f"{text}  from {cell_of(file) or label_of(file)}:{number}: {linecache.getline(file, number).strip()}\n"


def with_users_lines(error: BaseException) -> BaseException:
    """The error, in whose traceback the user's line stands above each line of generated text.

    The frame of the caller is left out, since Python adds it anew when the error is raised.
    """
    trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
    steps = []
    while trace is not None:
        steps.append(trace)
        trace = trace.tb_next
    made: types.TracebackType | None = None
    for step in reversed(steps):
        made = types.TracebackType(made, step.tb_frame, step.tb_lasti, step.tb_lineno)
        found = origin_of(step.tb_frame.f_code.co_filename, step.tb_lineno)
        if found is not None:
            frame = _frame(*found)
            made = types.TracebackType(made, frame, frame.f_lasti, found[2])
    return error.with_traceback(made)


_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # what is in the package


def for_users(error: E) -> E:
    """The error without our frames in its traceback; SRCGRAD_TRACEBACK=full keeps them.

    What was raised in our own code and has no code of ours is a bug, and keeps all.
    """
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    raised_by_us = bool(frames) and frames[-1].tb_frame.f_code.co_filename.startswith(_OURS)
    if os.environ.get("SRCGRAD_TRACEBACK") == "full" or (raised_by_us and not isinstance(error, DifferentiationError)):
        return error
    made: types.TracebackType | None = None
    for step in reversed(frames):
        if not step.tb_frame.f_code.co_filename.startswith(_OURS):
            made = types.TracebackType(made, step.tb_frame, step.tb_lasti, step.tb_lineno)
    if isinstance(error.__cause__, DifferentiationError):
        for_users(error.__cause__)
    return error.with_traceback(made)


def hides_our_frames(function: Callable[P, R]) -> Callable[P, R]:
    """A public function whose errors show the user's frames, and one of ours."""

    @functools.wraps(function)
    def public(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise for_users(error)  # noqa: B904  (the same error: nothing is behind it)

    return public


class _FrameReached(Exception):  # noqa: N818  (it carries a frame, and meets no user)
    """Raised to have a frame."""


@functools.lru_cache(maxsize=64)
def _code(file: str, function: str, line: int) -> types.CodeType:
    """Code that raises in a line of a file, from its first column to its last, so that Python marks no part of it."""
    text = linecache.getline(file, line).rstrip("\n")
    first, last = len(text) - len(text.lstrip()), len(text.encode())
    tree = ast.parse("raise reached")
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno = node.end_lineno = line
            node.col_offset, node.end_col_offset = first, last
    return compile(tree, file, "exec").replace(co_name=function)


def _frame(file: str, function: str, line: int) -> types.FrameType:
    try:
        exec(_code(file, function, line), {"reached": _FrameReached()})
    except _FrameReached as reached:
        assert reached.__traceback__ is not None and reached.__traceback__.tb_next is not None, "it was raised inside"
        return reached.__traceback__.tb_next.tb_frame
    raise AssertionError("the code raises")


_FAR = 1 << 30  # no line is as long: columns from here on are keys of a table
_Placing = Callable[[Node], Place]


@record
class WrittenPlaces:
    """Where the nodes of functions stand that were written out; their lines say where they were called.

    A column is all that goes with a node through the passes and that nothing else needs of a statement written out.
    """

    found: dict[int, tuple[_Placing, Node, _Placing, Node]] = field(default_factory=dict)

    def move(self, node: Node, where: Node, own: _Placing, call: Node, outer: _Placing) -> None:
        """Give `node` the line of `where`; `own` tells the place that it has had, `outer` that of the call."""
        if "lineno" in node.__dict__:
            had = at(gast.Pass(), node)
            at(node, where)
            node.col_offset = _FAR + len(self.found)
            self.found[node.col_offset] = own, had, outer, call
        else:
            at(node, where)

    def place(self, node: Node) -> Place | None:
        """Where a node that was written out stands; None for any other."""
        known = self.found.get(getattr(node, "col_offset", 0))
        if known is None:
            return None
        own, had, outer, call = known
        return own(had).within(outer(call))


def is_as_written(tree: Node, names: Container[str], lines: Sequence[str]) -> bool:
    """Whether the lines have these names where a text reads them: what it is a part of may have renamed them."""
    for one in [n for n in find_nodes(tree, gast.Name) if n.id in names and isinstance(n.ctx, gast.Load)]:
        line = getattr(one, "lineno", 0)  # what is made where a star stood has no place
        written = lines[line - 1].encode()[one.col_offset :] if 0 < line <= len(lines) else b""
        if not written.startswith(one.id.encode()):
            return False
    return True


def place_in(source: Source, node: Node, generated: bool) -> Place:
    """Where `node` is in a text; for one that srcgrad has made, where its line is from."""
    line = getattr(node, "lineno", source.first)
    if generated and (found := users_place(source.file, line)) is not None:
        return found
    text = source.lines[line - 1].rstrip("\n") if 0 < line <= len(source.lines) else ""
    column = characters(text, getattr(node, "col_offset", 0))
    within = getattr(node, "end_lineno", line) == line and hasattr(node, "end_col_offset")
    end = characters(text, node.end_col_offset) if within else len(text)
    return Place(source.cell or source.file, line, column, text, max(1, end - column), library=source.library)
