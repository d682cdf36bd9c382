"""The texts that functions stand in: what linecache has for their files, and what pickles took along."""

from __future__ import annotations

import linecache
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any  # a namespace holds arbitrary objects

from srcgrad.front.match import Module, futures, module_of, node_of
from srcgrad.front.parse import FunctionNode

SENT = "<dynamic-code>"  # what cloudpickle calls the file of every code that it reads
_CAPACITY = 64  # texts kept; the working set of a session is far smaller
_lock = threading.Lock()


@dataclass(frozen=True)
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


def found_in(code: CodeType, namespace: dict[str, Any]) -> tuple[FunctionNode | None, Text | None]:
    """The function whose code this is, with its text; without the first where the text has another function there.

    Code that came by itself is looked for in all texts that pickles brought: it is taken from one that compiles to it.
    """
    for text in _sent(code) if code.co_filename == SENT else _filed(code, namespace):
        node = node_of(text.module, code)
        if node is not None or code.co_filename != SENT:
            return node, text
    return None, None


def _sent(code: CodeType) -> Iterator[Text]:
    with _lock:
        known = list(reversed(_carried.items()))
    for (file, _), lines in known:
        with _lock:
            text = _parsed(file, lines, futures(code))
        yield text


def _filed(code: CodeType, namespace: dict[str, Any]) -> Iterator[Text]:
    """The text that linecache has for the file of `code` now, if it has one."""
    with _lock:
        linecache.checkcache(code.co_filename)
        lines = linecache.getlines(code.co_filename, namespace)
        if not lines:
            _texts.pop((code.co_filename, futures(code)), None)
            return
        text = _parsed(code.co_filename, lines, futures(code))
    yield text


def _parsed(file: str, lines: list[str], flags: int) -> Text:
    known = _texts.pop((file, flags), None)
    if known is None or (known.lines is not lines and known.lines != lines):
        stripped = tuple(line.rstrip("\n") for line in lines)
        known = Text(file, lines, module_of("".join(lines), stripped, flags))
    _texts[file, flags] = known  # the last used is the last in the dict
    while len(_texts) > _CAPACITY:
        del _texts[next(iter(_texts))]
    return known
