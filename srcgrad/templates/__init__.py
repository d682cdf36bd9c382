"""The rules of srcgrad, by family; each family is a file of templates, and nothing is found by scanning."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Iterable

from srcgrad.core.files import collection_paused
from srcgrad.core.original_libraries import take
from srcgrad.core.rules import own_rules

FAMILIES = (
    "numpy.constants",
    "numpy.elementwise",
    "numpy.kinks",
    "numpy.norms",
    "numpy.reductions",
    "numpy.shape",
    "numpy.index",
    "numpy.contractions",
    "numpy.systems",
    "numpy.factors",
    "runtime",
    "numpy.signals",
    "numpy.polynomials",
    "numpy.statistics",
    "numpy.ufunc_methods",
    "numpy.complex_numbers",
    "python",
)

# SciPy may be absent and is slow to import: the families of a package are loaded when a function names something of it.
ON_REQUEST: dict[str, tuple[str, ...]] = {
    "scipy.special": ("scipy.special", "scipy.special_series", "scipy.special_statistics"),
    "scipy.signal": ("scipy.signal",),
    "scipy.ndimage": ("scipy.ndimage",),
    "scipy.fft": ("scipy.fft",),
    "scipy.integrate": ("scipy.integrate",),
    "scipy.optimize": ("scipy.optimize",),
    "scipy.spatial": ("scipy.spatial",),
    "scipy.interpolate": ("scipy.interpolate",),
    "scipy.sparse": ("scipy.sparse",),
    "scipy.stats": ("scipy.stats_densities", "scipy.stats_distributions"),
    "scipy.linalg": ("scipy.linalg",),
}

_lock = threading.RLock()
_loaded: list[str] = []


def load() -> None:
    """Put the rules of all families into the table that need NumPy only, once; later calls cost next to nothing."""
    if len(_loaded) < len(FAMILIES):
        _load(FAMILIES)


def load_for(module: str) -> None:
    """Put the rules of a module's SciPy package into the table: of `scipy.linalg` for `scipy.linalg._basic`.

    The gamma functions of `math` have their derivatives in `scipy.special`, if SciPy is installed.
    """
    package = "scipy.special" if module == "math" else ".".join(module.split(".")[:2])
    if package in ON_REQUEST and importlib.util.find_spec("scipy") is not None:
        load()
        importlib.import_module(package)
        take(package)
        _load(ON_REQUEST[package])


def load_all() -> bool:
    """Put every rule into the table, as tables and tests need it; False if SciPy is not installed."""
    load()
    for package in ON_REQUEST:
        load_for(package)
    return importlib.util.find_spec("scipy") is not None


def families() -> tuple[str, ...]:
    """The families in the order in which a reader finds them."""
    return (*FAMILIES, *(family for package in ON_REQUEST.values() for family in package))


def _load(names: Iterable[str]) -> None:
    with _lock, collection_paused(), own_rules():
        for family in names:
            if family not in _loaded:
                importlib.import_module(f"{__name__}.{family}")
                _loaded.append(family)
