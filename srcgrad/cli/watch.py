"""`srcgrad dump --watch`: write again whenever a file is saved that the output needs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from srcgrad.cli.terminal import report
from srcgrad.dump import Dumped
from srcgrad.errors import DifferentiationError
from srcgrad.front.target import find_target

INTERVAL = 0.2  # seconds between two looks at the files
Stamp = tuple[int, int, int] | None


def watch(outputs: Mapping[str, Sequence[str]], write: Callable[[str], Dumped]) -> None:
    """Write each output, and again when a file that was read for it has changed, until Ctrl-C.

    `outputs` has the heads of its targets for each. An error is shown, and the output stays as it was.
    """
    if any(head == "-" for heads in outputs.values() for head in heads):
        raise DifferentiationError("E5015", "standard input cannot be watched", "name a file")
    known: dict[str, dict[Path, Stamp]] = {}
    while True:
        for output, heads in outputs.items():
            before = known.get(output)
            if before is not None and stamps(before) == before:
                continue
            # What is stamped before it is read: a file that is saved meanwhile is read again.
            now = stamps([*(before or ()), *map(Path, heads)])
            known[output] = {**stamps(_written(output, heads, write)), **now}
        time.sleep(INTERVAL)


def _written(output: str, heads: Sequence[str], write: Callable[[str], Dumped]) -> Iterable[Path]:
    """Write once; the files that were read."""
    try:
        files: Iterable[Path] = write(output).files
    except DifferentiationError as error:
        report(error)
        return _read(heads)
    if output != "-":
        print(f"{output} is written", file=sys.stderr, flush=True)
    return files


def _read(heads: Sequence[str]) -> list[Path]:
    """The files of targets that have no derivative, where they can be read."""
    found: list[Path] = []
    for head in heads:
        try:
            found += [path for function in find_target(head) for path in function.module.program.modules]
        except DifferentiationError:
            continue  # it was told why, and the file itself is watched
    return found


def stamps(files: Iterable[Path]) -> dict[Path, Stamp]:
    """When each file was last written, how long it is and which it is; None for one that is not there."""
    found: dict[Path, Stamp] = {}
    for file in files:
        try:
            known = file.stat()
        except OSError:
            found[file] = None
        else:
            found[file] = (known.st_mtime_ns, known.st_size, known.st_ino)
    return found
