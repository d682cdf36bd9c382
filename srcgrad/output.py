"""Writing the result of a command: whole or not at all, and never over what is a user's; several JSON texts as one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

from srcgrad.errors import DifferentiationError
from srcgrad.mark import has_mark, is_as_written, marked


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
        raise _unwritable(where, error) from None


def write_file(text: str, where: str, inputs: Iterable[Path] = (), force: bool = False, mark: bool = True) -> None:
    """Write `text` with its mark to the file `where`, if nothing is lost by it; to standard output for `-`.

    E5030 where the file is one of the inputs, by whatever path or link, and without `force` also where there is a file
    that srcgrad has not written, or that was edited since.
    """
    if where == "-":
        _to_standard_output(text)
        return
    text = marked(text) if mark else text
    _refuse_loss(text, where, inputs, force)
    write_output(text, where)


def _refuse_loss(text: str, where: str, inputs: Iterable[Path], force: bool) -> None:
    path = Path(where)
    if not path.is_file():
        return  # nothing is there, or a pipe; a folder is told of when it is written to
    for one in inputs:
        if one.exists() and os.path.samefile(one, path):
            message = (
                f"{where} is {one.name}, which the output is made from"
                if one.name != path.name
                else (f"{where} is what the output is made from")
            )
            raise DifferentiationError("E5030", message, "name another file behind -o or --html")
    if force:
        return
    try:
        known = path.read_bytes()
    except OSError as error:
        raise _unwritable(where, error) from None
    old = known.decode(errors="replace")
    if not known or known == text.encode() or is_as_written(old):
        return
    what = "was edited since srcgrad wrote it" if has_mark(old) else "exists, and srcgrad has not written it"
    message = f"{where} {what}"
    raise DifferentiationError("E5030", message, "name another file, or give --force, and it is lost")


def _unwritable(where: str, error: OSError) -> DifferentiationError:
    message = f"{where} cannot be written: {error.strerror}"
    return DifferentiationError("E5015", message, "name a file in a folder that can be written")


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
    beside, descriptor = _beside(path)
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


def _beside(path: Path) -> tuple[Path, int]:
    """A new file in the folder of another; one that a killed process has left keeps its name."""
    for number in count():
        beside = path.with_name(f".{path.name[:200]}.{os.getpid()}-{number}.tmp")
        try:
            return beside, os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            continue
    raise AssertionError("some number is free")
