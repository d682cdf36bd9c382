"""The rules of srcgrad, by family; each family is a file of templates, and nothing is found by scanning."""

from __future__ import annotations

import importlib
import importlib.util
import threading

FAMILIES = (
    "constants",
    "elementwise",
    "exponential",
    "trigonometric",
    "kinks",
    "reduce",
    "products",
    "moments",
    "shape",
    "join",
    "build",
    "index",
    "contract",
    "linalg",
    "runtime",
    "transposes",
)
SPECIAL = "special"  # scipy.special: only on request, since SciPy may be absent and is slow to import

_lock = threading.RLock()
_loaded: list[str] = []


def load() -> None:
    """Put the rules of all families into the table, once; later calls cost next to nothing."""
    if len(_loaded) < len(FAMILIES):
        for family in FAMILIES:
            _load(family, _loaded)


def load_special() -> bool:
    """Put the rules of `scipy.special` into the table, once; False if SciPy is not installed.

    Call it when a user's function names something of SciPy. It imports SciPy.
    """
    if importlib.util.find_spec("scipy") is None:
        return False
    load()
    importlib.import_module(f"{__name__}.{SPECIAL}")
    return True


def _load(family: str, loaded: list[str]) -> None:
    with _lock:
        if family not in loaded:
            importlib.import_module(f"{__name__}.{family}")
            loaded.append(family)
