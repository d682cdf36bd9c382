"""The rules of srcgrad, by family; each family is a file of templates, and nothing is found by scanning."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Iterable

from srcgrad.core.original_libraries import take

FAMILIES = (
    "constants",
    "elementwise",
    "exponential",
    "trigonometric",
    "kinks",
    "singular",
    "reduce",
    "products",
    "moments",
    "shape",
    "diagonals",
    "join",
    "build",
    "index",
    "contract",
    "itself",
    "systems",
    "determinants",
    "norms",
    "factors",
    "eigen",
    "spectra",
    "powers",
    "runtime",
    "intermediates",
    "given",
    "sparse",
    "transposes",
    "series",
    "numbers",
    "signals",
    "polynomials",
    "polynomial_series",
    "contractions",
    "rebuild",
    "nans",
    "quantiles",
    "statistics",
    "ufuncs",
    "refused",
    "options",
    "complexes",
    "fourier",
)

# SciPy may be absent and is slow to import: the families of a package are loaded when a function names something of it.
ON_REQUEST: dict[str, tuple[str, ...]] = {
    "scipy.special": (
        "special",
        "special_errors",
        "special_gamma",
        "special_bessel",
        "special_spherical",
        "special_series",
        "special_integrals",
        "special_statistics",
        "special_several",
        "special_refused",
    ),
    "scipy.signal": ("scipy_signal", "scipy_filters"),
    "scipy.ndimage": ("scipy_kernels", "scipy_places", "scipy_ndimage"),
    "scipy.fft": ("scipy_fft", "scipy_waves", "scipy_cosines"),
    "scipy.integrate": ("scipy_odes", "scipy_quadrature", "scipy_integrate"),
    "scipy.optimize": ("scipy_roots",),
    "scipy.spatial": ("scipy_distances",),
    "scipy.interpolate": ("scipy_splines", "scipy_pieces", "scipy_interpolate"),
    "scipy.sparse": ("sparse_solvers",),
    "scipy.stats": (
        "stats_densities",
        "stats_positive",
        "stats_variable",
        "stats_shaped",
        "stats_powers",
        "stats_discrete",
        "stats_vectors",
        "scipy_samples",
        "stats_refused",
    ),
    "scipy.linalg": (
        "scipy_linalg",
        "scipy_factors",
        "scipy_matrices",
        "scipy_bands",
        "scipy_patterns",
        "scipy_refused",
    ),
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
    with _lock:
        for family in names:
            if family not in _loaded:
                importlib.import_module(f"{__name__}.{family}")
                _loaded.append(family)
