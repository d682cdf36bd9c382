"""What a function reaches, described so that another process can tell whether all of it is the same there.

Described are its code and lines, defaults and closure, whatever its names mean, and of that the same again. An object
of a library is known by its name there. Equal descriptions mean equal texts.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import linecache
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import Field
from opcode import opmap
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType

import numpy as np

from srcgrad.core.identity import home
from srcgrad.core.namespace import MISSING, Code, Dependencies, Entry, entry, functions_in
from srcgrad.core.source_text import BLOCKS, DERIVATIVES, SENT, is_installed, label_of, maker_of

_LITERALS = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented), range)
_TOLD = ["member_descriptor", "getset_descriptor", "_DataclassParams", "TypeVar", "_SpecialForm", "_tuplegetter"]
_HEAP_TYPE = 1 << 9  # a class made by a `class` statement
_OF_PYTHON = object.__basicsize__ + 16  # bytes of an object of a class that is written in Python
_MANY = 1 << 14  # objects: of more it takes longer to look than to make a text
_SMALL = 1 << 16  # bytes of an array of which all are looked at
_UNTOLD = frozenset(
    ("__dict__", "__weakref__", "__doc__", "__static_attributes__", "__firstlineno__", "_abc_impl", "__module__")
)
_WORD, _DECLARED = re.compile(r"[^\W\d]\w*"), re.compile(r"\s+[^\W\d]\w*\s*:.*=")
_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
_PACKAGES = ("numpy", "scipy", "srcgrad")


_PARTS: dict[type, tuple[str, ...]] = {
    MethodType: ("__func__", "__self__"),
    functools.partial: ("func", "args", "keywords"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
    functools._lru_cache_wrapper: ("__wrapped__",),
    Field: tuple(name for name in Field.__slots__ if name != "metadata"),
}


class UnsureError(Exception):
    """Nobody can tell whether it is the same in another process."""


class Fingerprint:
    """The description of some objects and of all that they reach; `objects` are these, in the same order."""

    def __init__(self, *roots: object) -> None:
        self.objects: list[object] = []
        self._parts: list[str] = []
        self._places: dict[int, int] = {}
        self._todo: list[tuple[int, object]] = []
        self._cells: list[tuple[CellType, object]] = []
        self._entries: list[Entry] = []
        self._codes: list[Code] = []
        self._names: dict[str, None] = {}  # that are asked of objects
        self._modules: list[ModuleType] = []
        self._classes: list[type] = []
        self._asked: set[tuple[int, str]] = set()
        self._parts += [self._see(root) for root in roots]
        while self._todo or self._attributes():
            place, value = self._todo.pop()
            if place > _MANY:
                raise UnsureError
            self._parts.append(f"#{place} {self._described(value)}")
        self._overridden()

    @property
    def digest(self) -> str:
        """The description in short."""
        return hashlib.sha256("\n".join(self._parts).encode("utf-8", "surrogatepass")).hexdigest()

    def dependencies(self) -> Dependencies:
        """All that was looked at, so that a later change can be noticed."""
        return Dependencies(tuple(self._cells), tuple(self._entries), tuple(self._codes))

    def place_of(self, value: object) -> int:
        """Where an object was met; UnsureError if it was not."""
        for place, known in enumerate(self.objects):
            if known is value:
                return place
        raise UnsureError

    def _see(self, value: object) -> str:
        """A word for a value, which is looked at later if it is no number or text."""
        cls = type(value)
        if cls in _LITERALS:
            self.objects.append(value)
            return f"{cls.__name__} {value!r}"
        if isinstance(value, tuple) and cls is tuple:  # whether two are one object depends on how Python read them
            self.objects.append(value)
            self._entries += functions_in(value)
            return f"({', '.join(map(self._see, value))})"
        place = self._places.get(id(value))
        if place is None:
            place = self._places[id(value)] = len(self.objects)
            self.objects.append(value)
            self._todo.append((place, value))
        return f"#{place}"

    def _seen(self, *values: object) -> str:
        return " ".join(map(self._see, values))

    def _described(self, value: object) -> str:
        cls = type(value)
        if (named := _name_in_library(value)) is not None:
            return f"library {named}"
        if isinstance(value, ModuleType):
            return self._module(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, list | dict) and cls in (list, dict):
            self._entries += functions_in(value)
            parts = value if isinstance(value, list) else [part for item in value.items() for part in item]
            return f"{cls.__name__} {self._seen(*parts)}"
        if isinstance(value, set | frozenset) and all(type(one) in _LITERALS for one in value):
            return f"{cls.__name__} {sorted(map(repr, value))}"
        if cls in _PARTS:
            return f"{cls.__name__} {self._seen(*(getattr(value, part) for part in _PARTS[cls]))}"
        if isinstance(value, np.ndarray | np.generic | np.dtype):
            return _array(value)
        return self._object(value)

    def _module(self, module: ModuleType) -> str:
        if sys.modules.get(module.__name__) is not module:
            raise UnsureError
        self._modules.append(module)
        return f"module {module.__name__}"

    def _attributes(self) -> bool:
        """Look at what is asked of modules; whether there was anything new."""
        for module in self._modules:
            scope = vars(module)
            if "__getattr__" in scope and not is_library(module.__name__):
                raise UnsureError
            for name in list(self._names):
                if name in scope and (id(module), name) not in self._asked:
                    self._asked.add((id(module), name))
                    self._entries.append(entry(scope, name))
                    held, word = scope[name], "constant"
                    if _is_constant(module.__name__, held):
                        self.objects.append(held)  # its version tells what it is
                    else:
                        word = self._see(held)
                    self._parts.append(f"{module.__name__}.{name} {word}")
        return bool(self._todo)

    def _function(self, function: FunctionType) -> str:
        code, file = function.__code__, function.__code__.co_filename
        ours = maker_of(file) in (DERIVATIVES, BLOCKS, "jacobian") or function.__module__ == "srcgrad.generated"
        if file == SENT or ours:
            raise UnsureError
        self._codes.append((function, code, function.__defaults__, function.__kwdefaults__))
        lines = _lines(function)
        told = [label_of(file), is_installed(file), function.__module__, function.__name__, function.__qualname__]
        parts = [f"function {told!r} {code.co_firstlineno} {lines!r} {_code(code)}"]
        for cell in function.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:
                held = MISSING
            self._cells.append((cell, held))
            parts.append("unbound" if held is MISSING else self._see(held))
        head = next((k for k, line in enumerate(lines) if line.partition("#")[0].rstrip().endswith(":")), 0)
        told_too = [*lines[: head + 1], *(line for line in lines if _DECLARED.match(line))]  # defaults, annotations
        words = dict.fromkeys(word for line in told_too for word in _WORD.findall(line))
        taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        parts += [self._global(word, function) for word in words if word in function.__globals__ and word not in taken]
        for inner in codes_in(code):
            self._names |= dict.fromkeys(inner.co_names)
            texts = [one for one in inner.co_consts if isinstance(one, str) and len(one) < 100]  # `getattr(np, "sin")`
            self._names |= dict.fromkeys(part for one in texts for part in one.split("."))
            parts += [self._global(name, function) for name in _globals_of(inner)]
            if _read(inner, "IMPORT_NAME"):
                raise UnsureError
        try:
            declared = function.__annotations__
        except Exception:  # Python 3.14 runs them now
            raise UnsureError from None
        return " ".join([*parts, self._seen(function.__defaults__, function.__kwdefaults__, declared, vars(function))])

    def _global(self, name: str, function: FunctionType) -> str:
        for scope in (function.__globals__, vars(builtins)):
            self._entries.append(entry(scope, name))
            if name in scope:
                if any(scope[name] is one for one in (eval, exec, globals, dir, __import__)):
                    raise UnsureError
                return f"{name} {self._see(scope[name])}"
        return f"{name} unbound"

    def _class(self, cls: type) -> str:
        self._classes.append(cls)
        parts = [f"class {cls.__module__} {cls.__qualname__} {self._seen(type(cls), *cls.__bases__)}"]
        for name, held in vars(cls).items():
            if name not in _UNTOLD:
                self._entries.append((vars(cls), name, held))
                parts.append(f"{name!r} {self._see(held)}")
        return " ".join(parts)

    def _overridden(self) -> None:
        """What a class does not define and one below it does may be defined there later."""
        for cls in self._classes:
            inherited = dict.fromkeys(name for base in cls.__mro__[1:] for name in vars(base) if name in self._names)
            self._entries += [entry(vars(cls), name) for name in inherited if name not in vars(cls)]

    def _object(self, value: object) -> str:
        cls = type(value)
        if is_library(cls.__module__):
            return self._object_of_library(value)
        plain = cls.__flags__ & _HEAP_TYPE and not any("__slots__" in vars(base) for base in cls.__mro__[:-1])
        if not plain or cls.__itemsize__ or cls.__basicsize__ > _OF_PYTHON:  # attributes and weak references alone
            raise UnsureError
        held = vars(value)
        scopes = held, *(vars(base) for base in cls.__mro__[:-1])
        methods = dict.fromkeys(name for scope in scopes for name, one in list(scope.items()) if callable(one))
        self._entries += [entry(held, name) for name in methods]
        return f"object {self._see(cls)} {self._see(held)}"

    def _object_of_library(self, value: object) -> str:
        cls = type(value)
        told = f"{cls.__module__}.{cls.__qualname__}"
        if cls.__name__ in _TOLD:
            return f"{told} {getattr(value, '__qualname__', None) or repr(value)}"
        if isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, type):  # `tuple.__new__`
            return f"{value.__name__} {self._see(value.__self__)}"
        parts: Iterable[str] = ()
        if cls.__module__ in ("typing", "types", "_collections_abc"):
            parts = "__origin__", "__args__", "__metadata__"
        elif cls.__module__.startswith("srcgrad."):
            parts = getattr(value, "_known", ("__srcgrad_primal__",))
        if held := [getattr(value, part) for part in parts if hasattr(value, part)]:
            return f"{told} {self._seen(*held)}"
        for name, one in list(vars(sys.modules[cls.__module__]).items()):
            if one is value:
                return f"{told} {name}"
        raise UnsureError


def _array(value: np.ndarray | np.generic | np.dtype) -> str:
    dtype = value if isinstance(value, np.dtype) else value.dtype
    if type(value) not in (np.ndarray, type(dtype)) and not isinstance(value, np.generic):
        raise UnsureError
    if dtype.kind not in "biufcSU":
        raise UnsureError
    if isinstance(value, np.dtype):
        return f"dtype {value.str}"
    numbers = hashlib.sha256(value.tobytes()).hexdigest() if value.nbytes <= _SMALL else ""
    flags = value.flags.num if isinstance(value, np.ndarray) else -1
    return f"{type(value).__name__} {dtype.str} {value.shape} {value.strides} {flags} {numbers}"


@functools.cache
def is_library(module: str) -> bool:
    """Whether a module is a library's or Python's own; no file of a user that is called so."""
    root = module.partition(".")[0]
    if root in _PACKAGES:
        return True
    file = getattr(sys.modules.get(module), "__file__", None) or _STANDARD_LIBRARY
    return root in sys.stdlib_module_names and file.startswith(_STANDARD_LIBRARY) and "site-packages" not in file


def _is_constant(module: str, value: object) -> bool:
    """Whether a library holds an object of its own, as `np.s_`, or a function without a name of its own."""
    own = type(value).__module__.partition(".")[0] == module.partition(".")[0]
    unnamed = isinstance(value, BuiltinFunctionType) and _name_in_library(value) is None  # `np.random.rand`
    return is_library(module) and (unnamed or (own and not isinstance(value, ModuleType | type(np.sum) | np.ufunc)))


def _name_in_library(value: object) -> str | None:
    """The name under which a library holds a function or class; None for all else."""
    kinds = (FunctionType, BuiltinFunctionType, type, np.ufunc, type(np.sum))
    if not isinstance(value, kinds):
        return None
    module = home(value)
    if not isinstance(module, str) or not is_library(module):
        return None
    name = str(getattr(value, "__qualname__", None) or getattr(value, "__name__", ""))
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name}" if found is value else None


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code and those within it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from codes_in(one)


def _code(code: CodeType) -> str:
    """All that a code does; neither its file nor its lines."""
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    told = code.co_name, counts, names, code.co_code, getattr(code, "co_exceptiontable", b"")
    return f"{told!r} {_constant(code.co_consts)}"


def _constant(value: object) -> str:
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))})"
    return repr(sorted(map(_constant, value))) if isinstance(value, frozenset) else f"{type(value).__name__} {value!r}"


def _read(code: CodeType, operation: str) -> list[str]:
    """The names that instructions of a kind read, each once."""
    wanted, widened, more = opmap.get(operation), opmap["EXTENDED_ARG"], 0
    found: dict[str, None] = {}
    shift = 1 if operation == "LOAD_GLOBAL" and sys.version_info >= (3, 11) else 0
    raw = code.co_code
    for op, argument in zip(raw[::2], raw[1::2], strict=True):
        more = (more << 8) | argument
        if op == widened:
            continue
        if op == wanted:
            found[code.co_names[more >> shift]] = None
        more = 0
    return list(found)


def _globals_of(code: CodeType) -> list[str]:
    return [*_read(code, "LOAD_GLOBAL"), *_read(code, "LOAD_NAME"), *_read(code, "LOAD_FROM_DICT_OR_GLOBALS")]


def _lines(function: FunctionType) -> list[str]:
    """The lines of a function, from the first of its code to where the next statement begins."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    first = code.co_firstlineno - 1
    last = max((line for one in codes_in(code) for _, _, line in one.co_lines() if line), default=first)
    indent = _indent(lines[first]) if first < len(lines) else 0
    while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > indent):
        last += 1
    return lines[first:last]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
