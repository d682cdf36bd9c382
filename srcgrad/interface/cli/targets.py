"""The targets that a command is given: patterns, standard input, and one result for each."""

from __future__ import annotations

import glob
import io
import sys
import tokenize
from collections.abc import Callable, Sequence
from pathlib import Path

from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.cli.terminal import report


def expand_patterns(targets: Sequence[str]) -> list[str]:
    """Targets with the files that patterns mean in their place, sorted; E5015 for a pattern that means none.

    A pattern may name functions, as `src/*.py:loss`; `**` stands for any folders.

    >>> expand_patterns(["model.py:f", "-", "package.module:f"])
    ['model.py:f', '-', 'package.module:f']
    """
    return list(dict.fromkeys(found for target in targets for found in _matches(target)))


def _matches(target: str) -> list[str]:
    head, colon, names = target.rpartition(":")
    pattern = head if colon and "*" not in names else target
    if Path(target).exists() or not glob.has_magic(pattern):
        return [target]
    files = sorted(file for file in glob.glob(pattern, recursive=True) if Path(file).is_file())
    if not files:
        raise DifferentiationError(
            "E5015", f"no file matches {pattern}", "`**` stands for any folders, `*` for any name"
        )
    return [target.replace(pattern, file, 1) for file in files]


def for_each_target(targets: Sequence[str], do: Callable[[str], bool]) -> int:
    """Do something for each target; what fails is told at the end, and the exit status is then 1.

    `do` tells whether all went well. The error of a single target is raised.
    """
    done, failed = True, list[tuple[str, DifferentiationError]]()
    for target in targets:
        try:
            done = do(target) and done
        except DifferentiationError as error:
            if len(targets) == 1:
                raise
            failed.append((target, error))
    tell(failed, len(targets))
    return 0 if done and not failed else 1


def tell(failed: Sequence[tuple[str, DifferentiationError]], count: int) -> None:
    """Print what failed of `count` targets on standard error."""
    if failed:
        sys.stdout.flush()
        print(f"{len(failed)} of {count} targets failed:", file=sys.stderr)
    for target, error in failed:
        report(error, f"{target}: ")


def standard_input(targets: Sequence[str]) -> str | None:
    """What standard input holds, if a target is `-`, decoded as the first lines of a Python file say."""
    if not any(target.partition(":")[0] == "-" for target in targets):
        return None
    buffer = getattr(sys.stdin, "buffer", None)
    if buffer is None:
        return sys.stdin.read()
    content = io.BytesIO(buffer.read())
    try:
        encoding, _ = tokenize.detect_encoding(content.readline)
        content.seek(0)
        return io.TextIOWrapper(content, encoding).read()
    except (SyntaxError, UnicodeDecodeError) as error:
        message = f"standard input cannot be decoded: {error}"
        raise DifferentiationError("E5015", message, "give text in UTF-8") from None
