"""From text to function: executed under a stable name that tracebacks, pdb and inspect can show."""

from __future__ import annotations

import builtins
import contextlib
import gc
import hashlib
import linecache
from collections.abc import Callable, Iterator, Mapping
from typing import Any  # a namespace holds arbitrary objects

from srcgrad import runtime
from srcgrad.originals import divert
from srcgrad.places import Origin, enter
from srcgrad.walked import forget

divert(f"{runtime.__name__}.")  # helpers mean the functions of NumPy itself, whatever is replaced later


def load(
    text: str,
    name: str,
    label: str,
    namespace: dict[str, Any],
    by: str = "srcgrad",
    origins: Mapping[str, Origin] | None = None,
) -> Callable[..., Any]:
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
    function: Callable[..., Any] = namespace[name]
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
