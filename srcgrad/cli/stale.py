"""`srcgrad dump --check`: whether a file is what would be written."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from srcgrad import recipe
from srcgrad.errors import DifferentiationError
from srcgrad.front.static import read_text
from srcgrad.mark import marked


def command_in(file: str) -> list[str]:
    """The arguments of the command that a standalone file was made by; E5015 where it names none."""
    found = recipe.read(read_text(Path(file)))
    if found is None:
        remedy = "name a file that `srcgrad dump --standalone` made, or give -o OUT and what OUT is made from"
        raise DifferentiationError("E5015", f"{file} does not say how it was made", remedy)
    return found


@contextlib.contextmanager
def in_folder_of(file: str) -> Iterator[None]:
    """The folder of a file as the working directory, as a person would run the command."""
    before = Path.cwd()
    os.chdir(Path(file).resolve().parent)
    try:
        yield
    finally:
        os.chdir(before)


def is_current(text: str, output: str) -> bool:
    """Whether a file holds a text; if not, standard error tells the difference."""
    exists = Path(output).is_file()
    known = read_text(Path(output)) if exists else ""
    if exists and known in (text, marked(text)):  # without its mark: of `dump ... > OUT`
        return True
    should = marked(text)
    lines = difflib.unified_diff(known.splitlines(), should.splitlines(), output, "as it should be", lineterm="")
    what = "is stale" if exists else "does not exist"
    print("\n".join([f"{output} {what}", *lines]), file=sys.stderr)
    return False
