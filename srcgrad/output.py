"""Writing the result of a command: whole or not at all; several JSON texts as one."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from srcgrad.errors import DifferentiationError


def write_output(text: str, where: str) -> None:
    """Write `text` to the file `where`, or to standard output for `-`.

    A file is written beside its place and then moved there, so that no reader sees half of it; a file that
    was there keeps its permissions, and a link keeps pointing to it. Raises E5015 where it cannot be written.
    """
    if where == "-":
        _to_standard_output(text)
        return
    path = Path(os.path.realpath(where))
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(text.encode())  # a pipe or a device cannot be replaced
        else:
            _replace(path, text.encode())
    except OSError as error:
        message = f"{where} cannot be written: {error.strerror}"
        raise DifferentiationError("E5015", message, "name a file in a folder that can be written") from None


def unwritten(error: OSError) -> DifferentiationError:
    """What is said where standard output takes no more."""
    message = f"standard output cannot be written: {error.strerror}"
    return DifferentiationError("E5015", message, "make room, or name a file behind -o")


def listed(texts: Sequence[str]) -> str:
    """JSON texts as one: a list, where there are several.

    >>> listed(["{}"]), listed(["{}", "{}"])
    ('{}\\n', '[\\n{},\\n{}\\n]\\n')
    """
    return "[\n" + ",\n".join(texts) + "\n]\n" if len(texts) > 1 else f"{texts[0]}\n"


def _to_standard_output(text: str) -> None:
    """As bytes, since the encoding of a terminal is no matter of the text's."""
    if sys.stdout is None:
        raise DifferentiationError("E5015", "standard output is closed", "name a file behind -o")
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
    else:
        sys.stdout.flush()
        buffer.write(text.encode())
    sys.stdout.flush()


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.is_file():
            beside.chmod(path.stat().st_mode & 0o7777)
        os.replace(beside, path)
    except BaseException:  # Ctrl-C included: nothing is left behind
        beside.unlink(missing_ok=True)
        raise
