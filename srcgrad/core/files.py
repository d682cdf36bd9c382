"""Files: text made a function, results written whole or not at all, and the mark of what srcgrad wrote.

A text is executed under a stable name that tracebacks, pdb and inspect can show. The mark of a file is the hash of all
its other lines, by which an edit is seen: what is a user's is never written over.
"""

from __future__ import annotations

import builtins
import contextlib
import gc
import hashlib
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any  # a namespace holds arbitrary objects

from srcgrad import runtime
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.identity import Function
from srcgrad.core.original_libraries import divert
from srcgrad.core.source_text import DERIVATIVES, Origin, enter
from srcgrad.core.trees import forget

if TYPE_CHECKING:
    from pathlib import Path

divert(f"{runtime.__name__}.")  # helpers mean the functions of NumPy itself, whatever is replaced later


def load(
    text: str,
    name: str,
    label: str,
    namespace: dict[str, Any],
    by: str = DERIVATIVES,
    origins: Mapping[str, Origin] | None = None,
) -> Function:
    """Execute `text` and return the function `name` that it defines.

    The file name is made from `label` and the text alone, so it is the same in every run; `linecache` holds the
    lines under it. `by` is its first word: texts by srcgrad are read as such when they are differentiated again.
    `origins` tells where their functions come from, for tracebacks and warnings.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    filename = f"<{by} {label} {digest}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    if origins is not None:
        enter(filename, text, origins)
    namespace |= {"__name__": "srcgrad.generated", "__builtins__": vars(builtins)}  # whose import is Python's own
    exec(compile(text, filename, "exec"), namespace)
    function: Callable[..., object] = namespace[name]
    return function


_within = 0  # derivations that are being made, one within another
_has_frozen = False  # whether a user has ever frozen objects: counting them takes 20 ms where there are half a million


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Trees are many small objects and no garbage: collecting while they are made costs a third of the time.

    What was made counts as old afterwards, so that it is not gone through at once; what a user has frozen stays so.
    What walks have found goes with the outermost of them.
    """
    global _has_frozen, _within
    enabled = gc.isenabled()
    gc.disable()
    _within += 1
    try:
        yield
    finally:
        _within -= 1
        if not _within:
            forget()
        if enabled:
            _has_frozen = _has_frozen or gc.get_freeze_count() > 0
            if not _has_frozen:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


_TOLD = "Written by srcgrad; sha256 of all other lines: "
_LINE = re.compile(rf"^(?:# |<!-- ){_TOLD}([0-9a-f]{{16}})(?: -->)?\n", re.MULTILINE)
_COMMENTS = re.compile(r"(?:#.*\n)*")


def add_mark(text: str) -> str:
    """A text of Python or a page with its mark: a comment behind those at the top, or at the end of a page.

    >>> print(add_mark("# Generated.\\nx = 1\\n"), end="")
    # Generated.
    # Written by srcgrad; sha256 of all other lines: 612439d8e8a51914
    x = 1
    """
    told = f"{_TOLD}{_digest(text)}"
    if text.startswith("<!doctype html>"):
        return f"{text}<!-- {told} -->\n"
    comments = _COMMENTS.match(text)
    top = 0 if comments is None else comments.end()
    return f"{text[:top]}# {told}\n{text[top:]}"


def remove_mark(text: str) -> str:
    """A text without its mark."""
    return _LINE.sub("", _lines(text), count=1)


def has_mark(text: str) -> bool:
    """Whether srcgrad has written a text, whatever became of it since."""
    return _TOLD in text


def is_as_written(text: str) -> bool:
    """Whether a text has its mark and is what was written with it; line ends may be others.

    >>> made = add_mark("x = 1\\n")
    >>> is_as_written(made), is_as_written(made.replace("1", "2")), is_as_written("x = 1\\n")
    (True, False, False)
    """
    found = _LINE.search(_lines(text))
    return found is not None and found[1] == _digest(remove_mark(text))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_output(text: str, where: str) -> None:
    """Write `text` to the file `where`, or to standard output for `-`.

    A file is written beside its place and then moved there, so that no reader sees half of it; a file that
    was there keeps its permissions, and a link keeps pointing to it. Raises E5015 where it cannot be written.
    """
    if where == "-":
        _to_standard_output(text)
        return
    from pathlib import Path

    path = Path(os.path.realpath(where))
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(text.encode())  # a pipe or a device cannot be replaced
        else:
            _replace(path, text.encode())
    except OSError as error:
        raise _cannot_write(where, error) from None


def write_file(text: str, where: str, inputs: Iterable[Path] = (), force: bool = False, mark: bool = True) -> None:
    """Write `text` with its mark to the file `where`, if nothing is lost by it; to standard output for `-`.

    E5030 where the file is one of the inputs, by whatever path or link, and without `force` also where there is a file
    that srcgrad has not written, or that was edited since.
    """
    if where == "-":
        _to_standard_output(text)
        return
    text = add_mark(text) if mark else text
    _refuse_loss(text, where, inputs, force)
    write_output(text, where)


def _refuse_loss(text: str, where: str, inputs: Iterable[Path], force: bool) -> None:
    from pathlib import Path

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
        raise _cannot_write(where, error) from None
    old = known.decode(errors="replace")
    if not known or known == text.encode() or is_as_written(old):
        return
    what = "was edited since srcgrad wrote it" if has_mark(old) else "exists, and srcgrad has not written it"
    message = f"{where} {what}"
    raise DifferentiationError("E5030", message, "name another file, or give --force, and it is lost")


def _cannot_write(where: str, error: OSError) -> DifferentiationError:
    message = f"{where} cannot be written: {error.strerror}"
    return DifferentiationError("E5015", message, "name a file in a folder that can be written")


def output_closed(error: OSError) -> DifferentiationError:
    """What is said where standard output takes no more."""
    message = f"standard output cannot be written: {error.strerror}"
    return DifferentiationError("E5015", message, "make room, or name a file behind -o")


def json_list(texts: Sequence[str]) -> str:
    """JSON texts as one: a list, where there are several.

    >>> json_list(["{}"]), json_list(["{}", "{}"])
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
    beside, descriptor = _file_beside(path)
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


def _file_beside(path: Path) -> tuple[Path, int]:
    """A new file in the folder of another; one that a killed process has left keeps its name."""
    for number in count():
        beside = path.with_name(f".{path.name[:200]}.{os.getpid()}-{number}.tmp")
        try:
            return beside, os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            continue
    raise AssertionError("some number is free")


def replace(place: os.PathLike[str] | str, content: bytes) -> None:
    """Write a file; two processes may do so at once, and a disk that cannot be written to is no error."""
    import tempfile

    folder = os.path.dirname(place)
    with contextlib.suppress(OSError):
        os.makedirs(folder, 0o700, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as file:
            try:
                file.write(content)
                file.close()
                os.replace(file.name, place)
            except BaseException:
                os.unlink(file.name)
                raise
