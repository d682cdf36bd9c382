"""Texts that are kept on disk from process to process, where SRCGRAD_CACHE says so.

An entry is named by the fingerprint of all that decides on the text. What a text reads from outside is found where the
fingerprint met it. In doubt nothing is read or written; a disk that fails is no error.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast  # what a derivative gives is arbitrary

import numpy as np

from srcgrad.backend.targets import NUMPY
from srcgrad.core import __version__
from srcgrad.core.errors import PACKAGE
from srcgrad.core.files import load, replace
from srcgrad.core.fingerprint import Fingerprint, UnsureError, codes_in, is_library
from srcgrad.core.identity import Function, record
from srcgrad.core.namespace import Dependencies, Entry, entry, join_dependencies
from srcgrad.core.original_libraries import has_replaced
from srcgrad.core.rules import generation
from srcgrad.core.source_text import OURS, Origin, origin_of

if TYPE_CHECKING:
    from srcgrad.core.facts import Kind, LeadingAxes
    from srcgrad.core.target import Target
    from srcgrad.derive.row_blocks import Blocks

CHOICE = "SRCGRAD_CACHE"  # 1 for the folder of the user, or a folder; nothing is kept where it is empty or 0
LARGEST = 64 << 20  # bytes of all entries; those that were not used for the longest time go first
_OF_OTHERS = 0o077


def chosen_folder() -> str | None:
    """Where texts are kept; None where nobody asked for it."""
    asked = os.environ.get(CHOICE, "").strip()
    if asked in ("", "0"):
        return None
    if asked == "1":
        asked = os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "srcgrad")
    found = os.path.expanduser(asked)
    return None if found.startswith("~") else os.path.join(found, "texts")  # without a home


def fault(folder: str) -> str:
    """Why a folder is not used; nothing if it is, or can be made."""
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or "it cannot be read"
    if not stat.S_ISDIR(found.st_mode):
        return "it is no folder"
    return _not_private(found)


def _not_private(found: os.stat_result) -> str:
    """Why what is there may be another's; on Windows nothing tells."""
    if not hasattr(os, "geteuid"):
        return ""
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    return "others may read it, or write into it" if found.st_mode & _OF_OTHERS else ""


def entries(folder: str) -> list[tuple[float, int, str]]:
    """When each entry was last used, its bytes, and its file; the oldest first."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as files:
        for file in files:
            with contextlib.suppress(OSError):
                known = file.stat(follow_symlinks=False)
                if file.name.endswith((".json", ".tmp")) and stat.S_ISREG(known.st_mode):
                    found.append((known.st_mtime, known.st_size, file.path))
    return sorted(found)


def clear(folder: str) -> int:
    """Remove all entries; how many there were."""
    return sum(_remove(path) for _, _, path in entries(folder) if not fault(folder))


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


Stored = tuple[Function, str, tuple[str, ...], Callable[[], bool]]  # what `execute.ExecutedText` begins with


@record(frozen=True)
class StoredEntry:
    """The place of a text on disk, and what its function reaches."""

    path: str
    reached: Fingerprint
    again: Callable[[], Fingerprint]

    def _hash(self, body: str) -> str:
        return hashlib.sha256(f"{os.path.basename(self.path)} {body}".encode()).hexdigest()

    def read(self) -> Stored | None:
        """The text, executed; None where there is none, or not as it was written."""
        try:
            lines = _read(self.path)
            if self._hash(lines[1]) != lines[0]:
                return None
            held = json.loads(lines[1])
            objects = self.reached.objects
            found = {name: objects[place] for name, place in held["outside"].items()}
            origins = {
                name: Origin(_file(objects[place]), function, first, tuple(users))
                for name, (place, function, first, users) in held["origins"].items()
            }
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None
        function = load(held["text"], held["name"], held["label"], found, origins=origins)
        changed = join_dependencies([self.reached.dependencies(), _of_text(function)]).changed
        return function, held["text"], tuple(held["seeds"]), changed

    def write(
        self,
        text: str,
        name: str,
        label: str,
        found: Mapping[str, object],
        origins: Mapping[str, Origin],
        seeds: tuple[str, ...],
    ) -> None:
        """Keep a text, if all that it reads is known, and nothing has changed while it was made."""
        try:
            if not is_known() or self.again().digest != self.reached.digest:
                return
            files = {_file(one): place for place, one in reversed(list(enumerate(self.reached.objects)))}
            held = {
                "name": name,
                "label": label,
                "seeds": seeds,
                "outside": {one: self.reached.place_of(value) for one, value in sorted(found.items())},
                "origins": {
                    key: [files[one.file], one.function, one.first, one.lines]
                    for key, one in ((key, _of_user(one)) for key, one in origins.items())
                },
                "text": text,
            }
            body = json.dumps(held)
            replace(self.path, f"{self._hash(body)}\n{body}\n".encode())
            _make_room(os.path.dirname(self.path))
        except (OSError, UnsureError, KeyError, RuntimeError, ValueError):
            return


def _of_user(origin: Origin) -> Origin:
    """The same in the user's file: who reads it does not have the text from which that of a derivative comes."""
    if not origin.file.startswith(OURS):
        return origin
    first, *lines = (origin_of(origin.file, line) if line else None for line in (origin.first, *origin.lines))
    if first is None:
        raise UnsureError
    return Origin(first[0], first[1], first[2], tuple(one[2] if one and one[:2] == first[:2] else 0 for one in lines))


def _file(value: object) -> str:
    """The file of a function; empty for any other object."""
    return value.__code__.co_filename if isinstance(value, FunctionType) else ""


def _of_text(function: Function) -> Dependencies:
    """What a text reads in libraries, which a user may replace there."""
    scope = function.__globals__
    names: dict[str, None] = {}
    for one in scope.values():
        if isinstance(one, FunctionType) and one.__globals__ is scope:
            names |= {name: None for code in codes_in(one.__code__) for name in code.co_names}
    return Dependencies((), tuple(_asked_of(scope, names, set())), ())


def _asked_of(scope: Mapping[str, object], names: Mapping[str, None], seen: set[int]) -> Iterator[Entry]:
    for module in [one for one in scope.values() if isinstance(one, ModuleType) and id(one) not in seen]:
        seen.add(id(module))
        asked = {name: vars(module)[name] for name in names if name in vars(module)}
        yield from (entry(vars(module), name) for name in asked)
        yield from _asked_of(asked, names, seen)


def _read(path: str) -> list[str]:
    """The lines of an entry, which is marked as used; OSError or ValueError for one of another user."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(file, "rb") as opened:
        known = os.fstat(file)
        if not stat.S_ISREG(known.st_mode) or _not_private(known) or known.st_size > LARGEST:
            raise ValueError("an entry of another user")
        lines = opened.read().decode().split("\n")
    with contextlib.suppress(OSError):
        os.utime(path)
    return lines


def _make_room(folder: str) -> None:
    known = entries(folder)
    left = sum(size for _, size, _ in known)
    bound = LARGEST * 3 // 4 if left > LARGEST else LARGEST
    for _, size, path in known:
        if left > bound:
            left -= size * _remove(path)


def is_known() -> bool:
    """Whether all rules are srcgrad's, and all functions in libraries their own."""
    return generation() == 0 and not has_replaced()


class RequestedDerivative(Protocol):
    """A derivative, as far as its text and its pullback ask it; `interface.api.derivative` has the callable."""

    primal: Function
    mode: str
    wrt: tuple[str, ...]
    single: bool
    auxiliary: bool
    autocast: str
    target: Target
    leading: LeadingAxes
    blocks: Blocks | None

    def mirror_arguments(self, found: object, values: Sequence[object], seeds: Sequence[object] = ()) -> Any: ...


def stored_entry(derivative: RequestedDerivative, kinds: dict[str, Kind], inline: bool) -> StoredEntry | None:
    """The entry for a text of a derivative; None where none is kept, or not all of it can be told."""
    folder = chosen_folder()
    if folder is None or fault(folder) or not is_known():
        return None

    def reach() -> Fingerprint:
        return Fingerprint(_versions(), inline, _asked(derivative), kinds)

    try:
        reached = reach()
    except (UnsureError, OSError, RuntimeError, AttributeError, TypeError, ValueError):  # of odd objects
        return None
    return StoredEntry(os.path.join(folder, f"{reached.digest}.json"), reached, reach)


def _asked(derivative: RequestedDerivative) -> tuple[object, ...]:
    """All that decides on a text, beside the kinds of arguments."""
    primal = derivative.primal
    if derivative.target is not NUMPY or derivative.blocks is not None:
        raise UnsureError
    inner: object = primal
    if hasattr(type(primal), "as_function"):
        if type(primal).__name__ != "Derivative" or not is_library(type(primal).__module__):
            raise UnsureError
        inner = _asked(cast("RequestedDerivative", primal))
    options = derivative.mode, derivative.wrt, derivative.single, derivative.auxiliary, derivative.autocast
    return *options, derivative.leading, inner


def _versions() -> tuple[object, ...]:
    scipy = getattr(sys.modules.get("scipy"), "__version__", "")
    return __version__, _own_files(), sys.version, sys.platform, np.__version__, scipy


@functools.cache
def _own_files() -> str:
    """Srcgrad's own files: where they are worked on, a version says nothing."""
    told, todo = [], [str(PACKAGE)]
    while todo:
        with os.scandir(todo.pop()) as found:
            for file in found:
                if file.is_dir():
                    todo.append(file.path)
                elif file.name.endswith(".py"):
                    known = file.stat()
                    told.append(f"{file.path} {known.st_size} {known.st_mtime_ns}")
    return hashlib.sha256("\n".join(sorted(told)).encode()).hexdigest()
