"""The source of a function: its own text, tree and comments, or an error; never the text of another."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FunctionType, MethodType
from typing import Any  # any callable may be asked for its source

from srcgrad.errors import DifferentiationError, Place
from srcgrad.front.filed import SENT, Text, found_in
from srcgrad.front.parse import TOO_DEEP, FunctionNode, comments, function_tree, place
from srcgrad.notebook import cell_of
from srcgrad.trees import Node, copy, walk


@dataclass(frozen=True)
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

    @property
    def is_derivative(self) -> bool:
        """Whether the text is a derivative: `<srcgrad f_grad of ...>`; one that calls an operation alone is none."""
        return self.file.startswith("<srcgrad ") and " of " in self.file

    def place(self, node: Node) -> Place:
        """Where `node` stands, for an error."""
        return place(self.cell or self.file, self.lines, node)


def source_of(function: Callable[..., Any]) -> Source:
    """The source of a live function, method or lambda; E5008 where there is none or it is out of date.

    The text is compiled and compared with the code that runs, so a function is never given the text of
    another: not after an edit of its file, not after a redefinition, not for two lambdas in one line.

    >>> import functools
    >>> source = source_of(functools.wraps)
    >>> source.name, source.file, source.lines[source.first - 1]
    ('wraps', 'functools.py', 'def wraps(wrapped,')
    """
    plain = _plain(function)
    node, text = _checked(plain)
    known: Source | None = text.sources.get(node)
    if known is not None:
        return replace(known, tree=copy(known.tree))
    made = source_at(node, label_of(text.file), text.module.lines, cell_of(text.file))
    if node not in text.asked:
        text.asked[node] = None  # most are asked for once
    elif all(getattr(item, "annotation", None) is None for item in walk(made.tree)):  # which copies leave out
        text.sources[node] = replace(made, tree=copy(made.tree))
    return made


def tree_of(function: Callable[..., Any]) -> Node:
    """The tree of a function's source for those who only look at it: one that is known is not copied."""
    node, text = _checked(_plain(function))
    known = text.sources.get(node)
    return source_of(function).tree if known is None else known.tree


def _checked(plain: FunctionType) -> tuple[FunctionNode, Text]:
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


def _plain(function: Any) -> FunctionType:
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
    if hasattr(function, "__wrapped__") and not _is_numpy(function) and not is_own(function):
        message = f"{name} is wrapped by a decorator, which may change what it does"
        remedy = f"pass {name}.__wrapped__ to differentiate the function inside, without its decorator"
        raise DifferentiationError("E5008", message, remedy)
    if isinstance(function, FunctionType):
        return function
    raise DifferentiationError("E5008", f"{name} has no Python source", _remedy(function, name))


def is_own(function: Any) -> bool:
    """Whether a wrapper has parameters of its own, with the names and defaults of those of the function inside.

    Its text says all that it does then; one with `*args` is followed where it hands on what it gets (`wrappers`).
    """
    if not isinstance(function, FunctionType):
        return False
    own = inspect.signature(function, follow_wrapped=False).parameters
    known = inspect.signature(function).parameters
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if list(own) != list(known) or any(one.kind in several for one in own.values()):
        return False
    return all(one.default is known[name].default for name, one in own.items())


def _is_numpy(function: Any) -> bool:
    """NumPy's functions wrap their implementation, which is no text to differentiate either."""
    return str(getattr(function, "__module__", "")).partition(".")[0] == "numpy"


def _remedy(function: Any, name: str) -> str:
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
        if _is_literal(text) and _spelled(ast.literal_eval(text)) != _spelled(value):
            label = label_of(function.__code__.co_filename)
            message = f"a default of {function.__qualname__} is not the one in the text"
            remedy = f"import {label} again, or give the argument in the call"
            raise DifferentiationError("E5008", message, remedy, place(label, lines, text))


def _spelled(value: object) -> str:
    """Text of a value; of an integer of any number of digits."""
    return hex(value) if type(value) is int else repr(value)


def _is_literal(node: ast.expr) -> bool:
    """Numbers, strings and tuples of them; a list may have been changed by calls since."""
    parts = (ast.Constant, ast.UnaryOp, ast.USub, ast.Tuple, ast.Load)
    return all(isinstance(item, parts) for item in ast.walk(node))
