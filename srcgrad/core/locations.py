"""Places in the user's text, for errors, warnings and comments.

Where the lines of running texts come from: errors and warnings name the user's line beside the generated one.

A traceback through generated text has the user's line above each generated one, under the user's file name. A warning
that generated text gives (`RuntimeWarning: divide by zero`) says from which line of the user it comes.

Places in the user's text, also of what was written out into another function: there, and where it was called.
"""

from __future__ import annotations

import ast
import functools
import linecache
import re
import types
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

from srcgrad.core.errors import Place, cell_of
from srcgrad.core.source_text import Source, characters, label_of
from srcgrad.core.trees import POSITION, Node, at

OURS = "<srcgrad "


@dataclass(frozen=True)
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
    return Place(cell_of(found[0]) or label_of(found[0]), found[2], start, text, len(text) - start)


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


@dataclass
class WrittenPlaces:
    """Where the nodes of functions stand that were written out; their lines say where they were called.

    A column is all that goes with a node through the passes and that nothing else needs of a statement written out.
    """

    found: dict[int, tuple[_Placing, Node, _Placing, Node]] = field(default_factory=dict)

    def move(self, node: Node, where: Node, own: _Placing, call: Node, outer: _Placing) -> None:
        """Give `node` the line of `where`; `own` tells the place that it has had, `outer` that of the call."""
        if "lineno" in node.__dict__:
            had = SimpleNamespace(
                **{key: getattr(node, key) for key in POSITION if getattr(node, key, None) is not None}
            )
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
        return _place_of_call(own(had), outer(call))


def _place_of_call(place: Place, call: Place) -> Place:
    """A place with a call more, from outside of those that are known."""
    return replace(place, call=call if place.call is None else _place_of_call(place.call, call))


def place_in(source: Source, node: Node, generated: bool) -> Place:
    """Where `node` is in a text; for one that srcgrad has made, where its line is from."""
    line = getattr(node, "lineno", source.first)
    if generated and (found := users_place(source.file, line)) is not None:
        return found
    text = source.lines[line - 1].rstrip("\n") if 0 < line <= len(source.lines) else ""
    column = characters(text, getattr(node, "col_offset", 0))
    within = getattr(node, "end_lineno", line) == line and hasattr(node, "end_col_offset")
    end = characters(text, node.end_col_offset) if within else len(text)
    return Place(source.cell or source.file, line, column, text, max(1, end - column))
