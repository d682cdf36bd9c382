"""Memory that is freed is kept for the next array: settings of the C library's allocator, if it has any."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any  # a C library has the functions that it has

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # what glibc's mallopt calls them
_OWN_LARGEST = 32 << 20  # glibc's own adjustment ends here: blocks above it are always given back
_INT_MAX = 2**31 - 1


@dataclass(frozen=True)
class KeptMemory:
    """What `keep_memory` has done; as a context manager it gives memory back where the block ends.

    `done` tells whether anything was set, `allocator` names the allocator, `settings` are the values set, in bytes,
    and `reason` says why nothing was done.
    """

    done: bool
    allocator: str
    settings: dict[str, int] = field(default_factory=dict)
    reason: str = ""

    def __enter__(self) -> KeptMemory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.done:
            give_back()


def keep_memory(limit: int = 1 << 30) -> KeptMemory:
    """Have freed memory kept by the process, up to `limit` bytes, rather than given back to the system.

    An array of more than some 100 KB is otherwise mapped when it is made and unmapped when it is freed, and the system
    hands out each of its pages anew, filled with zeros: that can cost more than the arithmetic. On glibc this sets
    M_MMAP_THRESHOLD and M_TRIM_THRESHOLD for the whole process, all threads and libraries; elsewhere, and where another
    allocator has taken its place, it does nothing and says so. No result changes. Call it once, at the start.

    As a context manager, `with srcgrad.keep_memory():`, it gives back what is free where the block ends. The settings
    before it cannot be asked for: behind the block they are the largest that glibc sets by itself, 32 MiB. See
    docs/memory.md for what it gains.

    Errors: ValueError for a limit below 1.

    >>> from srcgrad import keep_memory
    >>> with keep_memory() as kept:
    ...     kept.done or kept.reason != ""
    True
    """
    if limit < 1:
        raise ValueError(f"limit={limit}: give a number of bytes")
    library, allocator, reason = _glibc()
    if library is None:
        return KeptMemory(False, allocator, reason=reason)
    settings: dict[str, int] = {}
    for size in (min(limit, _INT_MAX), _OWN_LARGEST):  # older versions take no more than the second
        if library.mallopt(_MMAP_THRESHOLD, size):
            settings["M_MMAP_THRESHOLD"] = size
            break
    if library.mallopt(_TRIM_THRESHOLD, min(limit, _INT_MAX)):
        settings["M_TRIM_THRESHOLD"] = min(limit, _INT_MAX)
    if len(settings) < 2:
        return KeptMemory(False, allocator, settings, "mallopt refuses the settings")
    return KeptMemory(True, allocator, settings)


def give_back() -> None:
    """Give free memory back to the system, and let the allocator do so by itself from now on."""
    library, _, _ = _glibc()
    if library is not None:
        library.mallopt(_MMAP_THRESHOLD, _OWN_LARGEST)
        library.mallopt(_TRIM_THRESHOLD, 2 * _OWN_LARGEST)
        library.malloc_trim(0)


def _glibc() -> tuple[Any, str, str]:
    """The C library if it is glibc and its allocator is the one in use; its name, and why it cannot be set."""
    if not sys.platform.startswith("linux"):
        return None, f"of {sys.platform}", f"the allocator of {sys.platform} has no such settings"
    try:
        used, own = ctypes.CDLL(None), ctypes.CDLL("libc.so.6")
        version = own.gnu_get_libc_version
    except (OSError, AttributeError):
        return None, "no glibc", "the C library is not glibc, and has no such settings"
    version.restype = ctypes.c_char_p
    name = f"glibc {version().decode()}"
    if _address(used.malloc) != _address(own.malloc):
        return None, f"one in the place of {name}'s", f"another allocator stands in the place of {name}'s"
    return used, name, ""


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
