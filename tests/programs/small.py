"""Small programs, a file each: `tests/programs/<topic>/<case>.py` says what it is of and what it must come to.

    # rows exchanged at once
    # expect: right
    def f(x, c):
        ...

What is expected is `right`, or the code of the refusal. A program defines `f`, and perhaps its arguments as ARGS; else
these are X and C. Names of `NAMES` are there without an import.
"""

from __future__ import annotations

import dataclasses
import functools
import linecache
import math
import sys
import types
import typing
from pathlib import Path
from typing import Any  # arguments of programs are of every kind

import numpy as np

X = np.array([0.4, -0.7, 1.2, 0.3])
C = 0.6
NAMES = {
    "np": np,
    "functools": functools,
    "dataclasses": dataclasses,
    "typing": typing,
    "math": math,
    "__name__": "language",
}


@dataclasses.dataclass(frozen=True)
class Program:
    """A program: its name, what is expected of it, and its text without these two lines."""

    name: str
    expected: str
    text: str


def read(path: Path) -> Program:
    """The program in a file."""
    name, expected, text = path.read_text(encoding="utf-8").split("\n", 2)
    assert name.startswith("# ") and expected.startswith("# expect: "), path
    return Program(name.removeprefix("# "), expected.removeprefix("# expect: "), text)


def programs() -> dict[str, Program]:
    """All programs by their names, which no two share."""
    read_ones = [read(path) for path in sorted(Path(__file__).parent.glob("*/*.py"))]
    found = {program.name: program for program in read_ones}
    assert len(found) == len(read_ones), "two programs of one name"
    return found


PROGRAMS = programs()
RIGHT = {name: program.text for name, program in PROGRAMS.items() if program.expected == "right"}
REFUSED = {name: program for name, program in PROGRAMS.items() if program.expected != "right"}


def made(name: str, text: str) -> tuple[Any, tuple[Any, ...]]:
    """The function of a program, and its arguments."""
    file = f"<language {name}>"
    text = text.strip("\n") + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    sys.modules.setdefault("language", types.ModuleType("language"))
    space: dict[str, Any] = dict(NAMES)
    exec(compile(text, file, "exec"), space)
    return space["f"], space.get("ARGS", (X.copy(), C))
