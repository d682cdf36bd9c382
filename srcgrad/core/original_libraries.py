"""Libraries as they are by themselves: what a user puts in the place of a function, `np.sinh = f`, is the user's alone.

srcgrad's own modules and the lines of rules mean the library's function. Once something is replaced they read a copy,
made before, or made from the modules within the library that hold the same function.
"""

from __future__ import annotations

import builtins
import importlib.util
import math  # noqa: F401 - so that it is there, as NumPy is
import operator
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import BuiltinFunctionType, ModuleType
from typing import Any  # modules hold arbitrary objects

import numpy

_copies: dict[str, ModuleType] = {}
_contents: dict[str, tuple[tuple[str, ...], tuple[object, ...]]] = {}  # of copies: names and values, modules apart
_diverted: list[bool] = []  # whether modules of srcgrad read the copies
_replaced: set[str] = set()  # modules in which something is replaced now, and those around them


def original(value: object) -> object:
    """What a line of ours reads for a library: itself, and its copy while something in it is replaced; all else as is.

    >>> original(math) is sys.modules["math"], original(0.5)
    (True, 0.5)
    """
    name = value.__name__ if type(value) is ModuleType else ""
    return _copies[name] if name in _replaced else sys.modules.get(name, value) if name in _copies else value


def take(name: str) -> None:
    """Copy a library, and the public modules in it, unless that is done."""
    if name in sys.modules and name not in _copies and _copy(sys.modules[name], name.partition(".")[0]):
        look()


def look() -> None:
    """See what is replaced now; once anything is, all of srcgrad reads the copies."""
    found = set(filter(_differs, list(_copies)))
    within = {name.rpartition(".")[0] for name in found}
    _replaced.clear()
    _replaced.update(found | (within & _copies.keys()))
    if found and _OURS not in sys.meta_path:
        sys.meta_path.insert(0, _OURS)
    if found or _diverted:
        divert("srcgrad.")


def has_replaced() -> bool:
    """Whether something in a library is replaced now."""
    look()
    return bool(_replaced)


def divert(prefix: str) -> None:
    """Let modules of srcgrad read the copies while something is replaced, and the libraries again after that."""
    _diverted[:] = [True] if _replaced else []
    for name, module in list(sys.modules.items()):
        if name.startswith(prefix):
            for held, value in list(vars(module).items()):
                if type(value) is ModuleType and value.__name__ in _copies and name != __name__:
                    vars(module)[held] = _copies[value.__name__] if _replaced else sys.modules[value.__name__]


def _differs(name: str) -> bool:
    module = sys.modules.get(name)
    now = {} if module is None else vars(module)
    names, values = _contents[name]
    return not all(map(operator.is_, map(now.get, names), values))  # five thousand of them before each derivation


def _copy(module: ModuleType, root: str) -> bool:
    """Put a copy into the table; whether something in the module had been replaced before."""
    made = _copies[module.__name__] = ModuleType(module.__name__)
    late = False
    for name, value in list(vars(module).items()):
        own = value
        if type(value) is ModuleType and value.__name__ == f"{module.__name__}.{name}" and name[0] != "_":
            late = (value.__name__ not in _copies and _copy(value, root)) or late
            own = _copies[value.__name__]
        elif callable(value) and not isinstance(value, type) and name[0] != "_":
            own = _original_function(module, name, value, root)
            late = late or own is not value
        vars(made)[name] = own
    items = [(name, value) for name, value in vars(made).items() if type(value) is not ModuleType]
    _contents[module.__name__] = tuple(name for name, _ in items), tuple(value for _, value in items)
    return late


def _original_function(module: ModuleType, name: str, value: object, root: str) -> object:
    """A function as the library has it."""
    if root != "numpy" and root != "scipy":
        return value if type(value) is BuiltinFunctionType or root != "math" else getattr(_fresh(module), name, value)
    core = getattr(sys.modules.get("numpy._core"), name, None) if root == module.__name__ == "numpy" else None
    if hasattr(core, "__name__"):
        return core
    if value.__name__ == name if isinstance(value, numpy.ufunc) else _is_of(root, value):
        return value
    within = [vars(one) for key, one in list(sys.modules.items()) if one and key.startswith(f"{module.__name__}.")]
    return next((one[name] for one in within if name in one and _is_of(root, one[name])), value)


def _is_of(root: str, value: object) -> bool:
    home = str(getattr(value, "__module__", None) or type(value).__module__)
    return isinstance(value, numpy.ufunc) or home.startswith(root)


def _fresh(module: ModuleType) -> ModuleType:
    """A module of Python's own, made once more."""
    spec = importlib.util.find_spec(module.__name__)
    assert spec is not None and spec.loader is not None, "the standard library is there"
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def _import(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> object:
    """`import` in a module of srcgrad: libraries are their copies."""
    found = __import__(name, globals, locals, fromlist, level)
    if level or not _replaced:
        return found
    parts = {one: _copies[f"{name}.{one}"] for one in fromlist or () if f"{name}.{one}" in _copies}
    made = _copies.get(found.__name__, found)
    if parts and made is found:  # `from scipy import special`
        made = ModuleType(name)
        vars(made).update(vars(found) | parts)
    return made


class _Finder:
    """Finds the modules of srcgrad that are imported while something is replaced."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The module as Python finds it, whose imports are ours."""
        spec = PathFinder.find_spec(name, path, target) if name.startswith("srcgrad.") else None
        loader = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import}
                execute(module)

            loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_OURS: Any = _Finder()
take("numpy")
take("math")
