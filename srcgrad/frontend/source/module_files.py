"""Where the text of a module is, found by its path; only modules known to be harmless are ever imported."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Literal

from srcgrad.templates import ON_REQUEST

# NumPy and what it imports itself, so that nothing of the user's can stand in their place.
TRUSTED_ROOTS = frozenset(
    {
        *("builtins", "cmath", "collections", "contextlib", "copy", "dataclasses", "functools", "importlib"),
        *("itertools", "logging", "math", "numbers", "operator", "time", "typing", "warnings"),
        *("numpy", "srcgrad"),
    }
)


@dataclass(frozen=True)
class ModuleFile:
    """A module found: `text` at `path`, a `folder` without a text of its own, or `compiled`."""

    kind: Literal["text", "folder", "compiled"]
    path: Path

    @property
    def is_package(self) -> bool:
        """Whether modules may lie below it."""
        return self.kind == "folder" or self.path.name == "__init__.py"


# Parts of trusted packages that do something when they are imported: `numpy.f2py.__main__` is a program.
_PROGRAMS = frozenset({"__main__", "conftest", "tests"})


def is_trusted(name: str) -> bool:
    """Whether the module may be imported: NumPy, SciPy where it has rules, srcgrad, a part of the standard library.

    >>> is_trusted("numpy.linalg"), is_trusted("scipy.special"), is_trusted("scipy.cluster")
    (True, True, False)
    >>> is_trusted("numpy.f2py.__main__")
    False
    """
    parts = name.split(".")
    if not _PROGRAMS.isdisjoint(parts):
        return False
    return parts[0] in TRUSTED_ROOTS or ".".join(parts[:2]) in ON_REQUEST


def trusted_module(name: str, own: Sequence[Path]) -> ModuleType | None:
    """A trusted module, imported; None if it is not installed, or if the user has one of that name."""
    root = name.partition(".")[0]
    if root not in sys.modules and any(child(folder, root) for folder in own if not _is_site(folder)):
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _is_site(folder: Path) -> bool:
    return folder.name in ("site-packages", "dist-packages")


def child(folder: Path, part: str) -> ModuleFile | None:
    """The module `part` in a folder, in the order in which Python looks."""
    package = folder / part
    if (package / "__init__.py").is_file():
        return ModuleFile("text", package / "__init__.py")
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = folder / (part + suffix)
        if path.is_file():
            return ModuleFile("compiled", path)
    if (folder / f"{part}.py").is_file():
        return ModuleFile("text", folder / f"{part}.py")
    return ModuleFile("folder", package) if package.is_dir() else None


def locate(name: str, folders: Iterable[Path]) -> ModuleFile | None:
    """The module with a dotted name: its top package in `folders`, or where Python finds it; then by path."""
    root, *rest = name.split(".")
    found = _root(root, folders)
    for part in rest:
        if found is None or found.kind == "compiled":
            return None
        inside = found.path if found.kind == "folder" else found.path.parent
        if found.kind == "text" and found.path.name != "__init__.py":
            return None
        found = child(inside, part)
    return found


def _root(root: str, folders: Iterable[Path]) -> ModuleFile | None:
    if root in sys.builtin_module_names:
        return ModuleFile("compiled", Path(root))
    places = [child(folder, root) for folder in folders]
    found = [place for place in places if place is not None]
    texts = [place for place in found if place.kind != "folder"]
    return next(iter(texts or [*_by_finders(root), *found]), None)


def _by_finders(root: str) -> list[ModuleFile]:
    """A top-level name asked of Python's finders (an editable install, say), which does not import it."""
    try:
        spec = importlib.util.find_spec(root)
    except (ImportError, ValueError):  # ValueError: `__main__` and the like have no spec
        return []
    if spec is None or spec.origin is None:
        return []
    path = Path(spec.origin)
    return [ModuleFile("text" if path.suffix == ".py" else "compiled", path)]
