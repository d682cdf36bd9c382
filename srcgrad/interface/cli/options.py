"""The options of all commands, and nothing that takes time to import.

What a terminal shows and a file does not: colours, tables as wide as the screen, a bar of progress.

Colours and rich (extra `srcgrad[cli]`) are used where the stream is a terminal; NO_COLOR and TERM=dumb turn colours
off, FORCE_COLOR turns them on. What a program reads, a pipe or a file, is always plain.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import (
    Any,  # rich is optional: its objects have no types here
    TextIO,
    TypeVar,
)

from srcgrad.core.errors import DifferentiationError

TARGET = "file.py, file.py:f,g, 'src/*.py', package.module:f, or - for standard input"
MODES = ("reverse", "forward", "value-and-grad", "vjp", "hvp", "elementwise")
RUNS_ON = "opencl: kernels; numba: compiled loops; dask, mpi: spread rows; or one that a package brings; default: numpy"
DEFAULT_WRT = "parameters, as x,w,b; default: all that matter"


def parser() -> argparse.ArgumentParser:
    """All commands; what is parsed has `command`, the name of its file.

    >>> parser().parse_args(["devices"]).command
    'devices'
    """
    made = argparse.ArgumentParser(prog="srcgrad", description="Readable derivatives of NumPy functions.")
    made.add_argument("--version", action=_Version, help="print the versions of srcgrad, Python and NumPy")
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    for add in (_dump, _show, _check, _explain, _trace, _rules, _devices, _cache, _explore, _completion):
        add(commands)
    return made


class _Version(argparse.Action):
    """`--version`, which imports NumPy only when it is given."""

    def __init__(self, option_strings: list[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest=argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *arguments: object) -> None:
        import numpy as np

        from srcgrad.core import __version__

        print(f"srcgrad {__version__} (Python {platform.python_version()}, NumPy {np.__version__})")
        parser.exit()


Commands = argparse._SubParsersAction  # argparse gives it no public name


def _add(commands: Commands[argparse.ArgumentParser], name: str, text: str, more: str = "") -> argparse.ArgumentParser:
    """A command, with its line in the list of commands; `more` stands above its options."""
    made = commands.add_parser(name, help=text, description=more or f"{text[0].upper()}{text[1:]}.")
    made.set_defaults(command=name)
    return made


def _dump(commands: Commands[argparse.ArgumentParser]) -> None:
    dump = _add(
        commands,
        "dump",
        "write the derivative of functions as Python",
        "Write the derivative of functions as Python. The target is read, not run. Functions of "
        "a whole file that have no derivative are listed in the output and on standard error, with reasons.",
    )
    dump.add_argument("targets", nargs="+", type=str.strip, metavar="TARGET", help=TARGET)
    dump.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="the file to write; a folder, for one file NAME_grad.py for each target; - (default) is standard output",
    )
    dump.add_argument(
        "--force", action="store_true", help="write over a file that srcgrad has not written, or that was edited since"
    )
    dump.add_argument("--wrt", type=_names, metavar="NAMES", help=DEFAULT_WRT)
    dump.add_argument("--mode", choices=MODES, default="reverse", help="default: reverse")
    dump.add_argument("--standalone", action="store_true", help="the output does without srcgrad")
    dump.add_argument(
        "--inline", action="store_true", help="write calls out, so that the output can be differentiated again"
    )
    dump.add_argument("--over", type=_names, metavar="NAMES", help="take the rows of these parameters in blocks")
    dump.add_argument("--rows", type=int, metavar="N", help="with --over, how many rows a block has; default: chosen")
    dump.add_argument(
        "--shard", type=_first_axes, metavar="AXES", help="with --target dask or mpi, whose rows are spread, as x=0,t=0"
    )
    dump.add_argument(
        "--html", metavar="OUT", help="write a page with source and derivative side by side; with -o FILE the text, too"
    )
    dump.add_argument("--args", metavar="TEXT", help='with --html, runs the target: bytes for "np.ones(3), 2.0"')
    dump.add_argument("--target", metavar="NAME", default="numpy", help=RUNS_ON)
    dump.add_argument("--json", action="store_true", help="print an object for each target, the text and what it lacks")
    once = dump.add_mutually_exclusive_group()
    once.add_argument(
        "--check",
        action="store_true",
        help="write nothing; 1 if OUT is not what would be written. Without -o, targets are "
        "standalone files, each of which says how it was made",
    )
    once.add_argument("--watch", action="store_true", help="write again whenever a file is saved that the output needs")


def _show(commands: Commands[argparse.ArgumentParser]) -> None:
    text = "show a function and its derivative side by side, lines that belong together in one colour"
    show = _add(commands, "show", text)
    show.add_argument("targets", nargs="+", type=str.strip, metavar="TARGET", help=TARGET)
    show.add_argument("--wrt", type=_names, metavar="NAMES", help=DEFAULT_WRT)
    show.add_argument("--mode", choices=MODES, default="reverse", help="default: reverse")
    show.add_argument("--target", metavar="NAME", default="numpy", help=RUNS_ON)
    show.add_argument("--width", type=_positive_number, metavar="N", help="columns; default: those of the terminal")
    show.add_argument("--json", action="store_true", help="print the lines of both sides and which belong together")


def _check(commands: Commands[argparse.ArgumentParser]) -> None:
    check = _add(commands, "check", "compare derivatives with finite differences; runs the target")
    check.add_argument("targets", nargs="+", type=str.strip, metavar="TARGET", help=TARGET)
    check.add_argument("--args", metavar="TEXT", help='the arguments, as "np.ones(3), 2.0"; default: drawn at random')
    check.add_argument(
        "--wrt", type=_names, metavar="NAMES", help="parameters, as x,w,b; default: all that hold floats"
    )
    check.add_argument("--seed", type=_natural_number, default=0, metavar="N", help="of the random numbers; default: 0")
    check.add_argument("--trials", type=_positive_number, default=1, metavar="N", help="how often to draw; default: 1")
    check.add_argument("--order", type=int, choices=(1, 2), default=1, help="2: the second derivatives, too")
    check.add_argument(
        "--jobs", type=_positive_number, default=1, metavar="N", help="functions checked at a time; default: 1"
    )
    check.add_argument("--json", action="store_true", help="print JSON")


def _explain(commands: Commands[argparse.ArgumentParser]) -> None:
    explain = _add(
        commands,
        "explain",
        "tell line by line what is active and what is recorded, and why; or what an error code means",
    )
    explain.add_argument("targets", nargs="+", type=str.strip, metavar="TARGET", help=f"{TARGET}; or a code: E5003")
    explain.add_argument("--wrt", type=_names, metavar="NAMES", help=DEFAULT_WRT)
    explain.add_argument("--after", metavar="PASS", help="print the function as it is after a pass")
    explain.add_argument("--mode", choices=MODES, default="reverse", help="with --after; default: reverse")
    explain.add_argument("--args", metavar="TEXT", help='runs the target: bytes recorded for "np.ones(3), 2.0"')
    explain.add_argument("--shard", type=_first_axes, metavar="AXES", help="whose rows are spread, as x=0,t=0")
    explain.add_argument("--json", action="store_true", help="print JSON")


def _trace(commands: Commands[argparse.ArgumentParser]) -> None:
    trace = _add(commands, "trace", "list the operations of one call with values and adjoints; runs the target")
    trace.add_argument("targets", nargs="+", type=str.strip, metavar="TARGET", help=TARGET)
    trace.add_argument("--args", metavar="TEXT", required=True, help='the arguments, as "np.ones(3), 2.0"')
    trace.add_argument(
        "--wrt", type=_names, metavar="NAMES", help="parameters, as x,w,b; default: all that hold floats"
    )
    trace.add_argument("--json", action="store_true", help="print JSON")


def _rules(commands: Commands[argparse.ArgumentParser]) -> None:
    rules = _add(commands, "rules", "list the operations, or show the rule of one")
    rules.add_argument("operation", nargs="?", metavar="OP", help="np.tanh, scipy.special.erf, multiply")
    rules.add_argument("--json", action="store_true", help="print the table for programs to read")
    rules.add_argument("--missing", action="store_true", help="print what the installed NumPy has and the table lacks")


def _devices(commands: Commands[argparse.ArgumentParser]) -> None:
    devices = _add(commands, "devices", "list the OpenCL devices, and tell which one is used and why")
    devices.add_argument("--json", action="store_true", help="print JSON")


def _cache(commands: Commands[argparse.ArgumentParser]) -> None:
    cache = _add(
        commands,
        "cache",
        "tell how many texts SRCGRAD_CACHE keeps on disk, or remove them",
    )
    cache.add_argument("action", nargs="?", choices=("clear",), help="remove all of them")


def _explore(commands: Commands[argparse.ArgumentParser]) -> None:
    explore = _add(
        commands,
        "explore",
        "show derivatives in a browser as you type; needs srcgrad[explore]",
        "Serve a page on this machine, and nowhere else, that shows the derivative of functions as they are typed. "
        "What is typed is read, not run.",
    )
    explore.add_argument("--port", type=int, default=0, metavar="N", help="default: one that is free")
    explore.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")


def _completion(commands: Commands[argparse.ArgumentParser]) -> None:
    completion = _add(
        commands, "completion", "print the lines that make a shell complete commands, options and functions"
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    completion.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not all(name.isidentifier() for name in names):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of names, as x,w,b")
    return names


def _first_axes(text: str) -> tuple[str, ...]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(axis.strip() == "0" for _, _, axis in pairs):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of names and their axis 0, as x=0,t=0")
    return _names(",".join(found for found, _, _ in pairs))


def _natural_number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on")
    return int(text)


def _positive_number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


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
