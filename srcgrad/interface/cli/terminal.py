"""What a terminal shows and a file does not: colours, tables as wide as the screen, a bar of progress.

Colours and rich (extra `srcgrad[cli]`) are used where the stream is a terminal; NO_COLOR and TERM=dumb turn colours
off, FORCE_COLOR turns them on. What a program reads, a pipe or a file, is always plain.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import (
    Any,  # rich is optional: its objects have no types here
    TextIO,
    TypeVar,
)

from srcgrad.core.errors import DifferentiationError

Item = TypeVar("Item")


def is_coloured(stream: TextIO) -> bool:
    """Whether colours are wanted on a stream.

    >>> import io
    >>> is_coloured(io.StringIO())
    False
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def report(error: DifferentiationError, before: str = "") -> None:
    """Print an error on standard error."""
    text = error.coloured_text() if is_coloured(sys.stderr) else str(error)
    print(f"{before}{text}", file=sys.stderr)


def console(stream: TextIO, **options: Any) -> Any:
    """A console of rich for a terminal; None for another stream, or without rich."""
    if not is_coloured(stream):
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(file=stream, highlight=False, **options)


def table(rows: Sequence[Sequence[str]], style: Callable[[Sequence[str]], str] = lambda _: "") -> None:
    """Print rows, the first of which is the header, in columns; `style` gives the colour of a row, as rich has it."""
    found = console(sys.stdout)
    if found is None:
        sys.stdout.write(columns(rows))
        return
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold")
    for title in rows[0]:
        made.add_column(title)
    for row in rows[1:]:
        made.add_row(*map(Text, row), style=style(row))
    found.print(made)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """The rows as plain text, in columns.

    >>> print(columns([("a", "b"), ("one", "two")]), end="")
    a    b
    one  two
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def progress(items: Iterable[Item], count: int, label: Callable[[Item], str]) -> Iterator[Item]:
    """The items one by one, with a bar on standard error if that is a terminal."""
    found = console(sys.stderr) if count > 1 and sys.stderr.isatty() else None
    if found is None:
        yield from items
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    shown = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*shown, console=found, transient=True) as bar:
        task = bar.add_task("", total=count)
        for item in items:
            bar.update(task, advance=1, description=label(item))
            yield item
