"""Bindings: what a name means, be it an object that is there or something known only as text.

A module known only as text tells what its names mean from its imports, functions and assignments: nothing of it is run.
Which decorators leave a function as it is, is decided from their text.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import logging
from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import (
    Any,  # decorators are arbitrary objects
    Literal,
)

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.identity import is_distribution, python_function, record
from srcgrad.core.marks import checkpoint
from srcgrad.core.module_text import (
    STAR,
    Definition,
    ModuleFile,
    Table,
    is_in_library,
    is_trusted,
    locate,
    read_text,
    scan,
    trusted_module,
)
from srcgrad.core.source_text import FunctionNode, Source, parse_target, segment, source_at, split_lines


@record(frozen=True)
class Binding:
    """What a name means.

    - object: `object` is the live, or trusted, module, function, class or value.
    - function: `static` is a function known only as text.
    - module: `module` is a module known only as text.
    - value: a module-level value known only as text; `expression` spells it, or is None where it is
      computed in more than one step; its names are those of `module`.
    - unknown: the name exists but cannot be told; `reason` says why.
    """

    kind: Literal["object", "function", "module", "value", "unknown"]
    object: Any = None
    static: StaticFunction | None = None
    module: StaticModule | None = None
    expression: str | None = None
    reason: str = ""
    compiled: Any = None  # what Numba made of `object`


_AS_THEY_ARE = (ModuleType, FunctionType, BuiltinFunctionType, np.ufunc)  # which Numba has not compiled


def bound_to(value: object) -> Binding:
    """What a live name means; one for a function that Numba compiled means its Python function."""
    if type(value) in _AS_THEY_ARE:
        return Binding("object", value)
    plain = python_function(value)
    return Binding("object", value) if plain is value else Binding("object", plain, compiled=value)


def unknown_binding(reason: str) -> Binding:
    """A name that exists but cannot be told."""
    return Binding("unknown", reason=reason)


_held: dict[int, Binding] = {}  # what functions and modules in modules are, by identity
_MOST = 4096


def attribute(binding: Binding, name: str) -> Binding | None:
    """What `name` is in a module or a class; None for attributes of values, which only a run can tell.

    No property or `__getattr__` of a user's object is ever run.
    """
    if binding.kind == "unknown":
        return binding
    if binding.kind == "module" and binding.module is not None:
        return binding.module.attribute(name)
    value = binding.object
    if isinstance(value, ModuleType):
        try:
            held = getattr(value, name)
        except AttributeError:
            return unknown_binding(f"the module {value.__name__} has no {name}")
        known = _held.get(id(held))
        if known is None or known.object is not held:
            known = bound_to(held)
            if type(held) in _AS_THEY_ARE and len(_held) < _MOST:
                _held[id(held)] = known  # which keeps the object, so that no other has its identity
        return known
    if isinstance(value, type):
        return _of_class(value, name)
    if getattr(type(value), "__srcgrad_derivatives__", False):  # `f.grad` of a function under `@differentiate`
        held = getattr(type(value), name, None)
        return Binding("object", getattr(value, name)) if isinstance(held, functools.cached_property) else None
    if is_distribution(value) and isinstance(getattr(type(value), name, None), FunctionType):
        return Binding("object", getattr(value, name))  # a method of a distribution, as `scipy.stats.norm.pdf`
    if isinstance(value, logging.Logger) or _makes_logger(binding):
        method = getattr(logging.Logger, name, None)
        return None if method is None else Binding("object", method)  # it reports, whatever the logger
    if isinstance(value, np.ufunc) and name in ("reduce", "accumulate", "reduceat", "outer", "at"):
        return Binding("object", getattr(value, name))
    return None


def _makes_logger(binding: Binding) -> bool:
    """Whether a value known only as text is `logging.getLogger(...)`."""
    made = binding.expression if binding.kind == "value" else None
    return made is not None and made.startswith(("logging.getLogger(", "getLogger("))


_PLAIN = (FunctionType, BuiltinFunctionType, staticmethod, classmethod, type)
_METHOD_DESCRIPTORS = (type(str.lower), type(str.__len__), type(dict.__dict__["fromkeys"]))


def _of_class(owner: type, name: str) -> Binding:
    try:
        raw = inspect.getattr_static(owner, name)
    except AttributeError:
        return unknown_binding(f"the class {owner.__name__} has no {name}")
    if isinstance(raw, (*_PLAIN, *_METHOD_DESCRIPTORS)):
        return Binding("object", getattr(owner, name))
    if hasattr(type(raw), "__get__"):
        return unknown_binding(f"{owner.__name__}.{name} is computed when it is read")
    return Binding("object", raw)


Lookup = Callable[[str], Binding | None]

HARMLESS: tuple[object, ...] = (staticmethod, classmethod, functools.lru_cache, functools.cache)


def doubtful_decorators(node: FunctionNode, lookup: Lookup) -> tuple[str, ...]:
    """The decorators of a function that may replace it by another, as they are written."""
    if isinstance(node, ast.Lambda):
        return ()
    written = node.decorator_list
    return tuple(ast.unparse(item) for item in written if not _is_harmless(item, lookup))


def meant_by(decorator: ast.expr, lookup: Lookup) -> object:
    """The object that a decorator is, where it is known; None otherwise."""
    found = _resolve(decorator, lookup)
    return None if found is None else found.object


def _is_harmless(decorator: ast.expr, lookup: Lookup) -> bool:
    called = isinstance(decorator, ast.Call)
    found = _resolve(decorator.func if isinstance(decorator, ast.Call) else decorator, lookup)
    if found is None:
        return False
    if found.static is not None:
        node = found.static.node
        if found.static.module.name.partition(".")[0] == "numba" and found.static.qualname in ("jit", "njit"):
            return True
        return _returns_decorator(node) if called else _returns_argument(node)
    module = getattr(found.object, "__module__", None) or ""
    return found.object in HARMLESS or module.partition(".")[0] == "srcgrad"


def _resolve(node: ast.expr | None, lookup: Lookup) -> Binding | None:
    if isinstance(node, ast.Name):
        return lookup(node.id)
    if isinstance(node, ast.Attribute):
        base = _resolve(node.value, lookup)
        return None if base is None else attribute(base, node.attr)
    return None


def _returns_argument(node: FunctionNode) -> bool:
    """Whether a decorator gives back the function that it was given.

    >>> _returns_argument(ast.parse("def mark(f):\\n    marked[f] = True\\n    return f").body[0])
    True
    """
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 1:
        return False
    parameter = node.args.args[0].arg
    returned = _returned_values(node)
    names = [item for item in ast.walk(node) if isinstance(item, ast.Name) and item.id == parameter]
    rebound = any(not isinstance(item.ctx, ast.Load) for item in names)
    same = [isinstance(item, ast.Name) and item.id == parameter for item in returned]
    return bool(same) and all(same) and not rebound


def _returns_decorator(node: FunctionNode) -> bool:
    """Whether a function with arguments gives back a decorator that is harmless."""
    if not isinstance(node, ast.FunctionDef):
        return False
    inner = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    returned = [item.id if isinstance(item, ast.Name) else "" for item in _returned_values(node)]
    return bool(returned) and all(name in inner and _returns_argument(inner[name]) for name in returned)


def _returned_values(node: ast.FunctionDef) -> list[ast.expr | None]:
    """What the function itself returns, functions within it apart."""
    found: list[ast.expr | None] = []
    todo: list[ast.AST] = list(node.body)
    while todo:
        item = todo.pop()
        if isinstance(item, ast.Return):
            found.append(item.value)
        if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            todo.extend(ast.iter_child_nodes(item))
    return found


@record(frozen=True, eq=False)
class StaticFunction:
    """A function known only as text: where it stands, and the module in which its names are looked up.

    `decorators` are those that may replace it by another function, as they are written.
    """

    module: StaticModule
    qualname: str
    node: FunctionNode
    decorators: tuple[str, ...] = ()
    real: tuple[str, ...] = ()  # parameters of a derivative that were taken to be real when its text was made

    @property
    def checkpointed(self) -> bool:
        """Whether the function is decorated by `checkpoint`."""
        if isinstance(self.node, ast.Lambda):
            return False
        return any(meant_by(item, self.module.lookup) is checkpoint for item in self.node.decorator_list)

    @property
    def source(self) -> Source:
        """The text and a tree, which nobody changes."""
        return self._text

    @cached_property
    def _text(self) -> Source:
        return source_at(self.node, self.module.label, self.module.lines)


@record(frozen=True, eq=False)
class Program:
    """The modules that a target can reach, each read once.

    `own` are folders that belong to the user; `folders` all those in which modules are looked for, in order.
    """

    own: tuple[Path, ...]
    folders: tuple[Path, ...]
    modules: dict[Path, StaticModule] = field(default_factory=dict)
    places: dict[str, ModuleFile | None] = field(default_factory=dict)  # by the dotted name of a module
    asked: dict[tuple[str, str], None] = field(default_factory=dict)  # look-ups under way: imports may go in circles

    def module(self, name: str) -> Binding:
        """The module with an absolute dotted name."""
        if is_trusted(name):
            trusted = trusted_module(name, self.own)
            return unknown_binding(f"{name} is not installed") if trusted is None else Binding("object", trusted)
        found = self.locate(name)
        if found is None:
            return unknown_binding(f"no module {name} is found")
        return self.read(name, found)

    def locate(self, name: str) -> ModuleFile | None:
        """Where the module with an absolute dotted name is; it is looked for once."""
        if name not in self.places:
            self.places[name] = locate(name, self.folders)
        return self.places[name]

    def read(self, name: str, found: ModuleFile) -> Binding:
        """A module that was found, parsed."""
        if found.kind == "compiled":
            return unknown_binding(f"{name} is compiled: it has no Python text")
        path = found.path.resolve()
        known = self.modules.get(path)
        if known is None:
            try:
                text = "" if found.kind == "folder" else read_text(found.path)
                known = StaticModule(self, name, found.path.name, text, found.is_package)
            except DifferentiationError as error:
                return unknown_binding(f"{name} cannot be read: {error.message}")
            self.modules[path] = known
        return Binding("module", module=known)

    def follow_imports(self) -> None:
        """Read all modules that the user's own import, whether or not a function has asked for them."""
        seen: set[Path] = set()
        while todo := [path for path in self.modules if path not in seen and self._is_own(path)]:
            for path in todo:
                seen.add(path)
                for name in list(self.modules[path].table):
                    self.modules[path].lookup(name)

    def _is_own(self, path: Path) -> bool:
        return any(path.is_relative_to(folder.resolve()) for folder in self.own)


class StaticModule:
    """A module known only as text: what its names mean, from its imports, functions and assignments."""

    def __init__(self, program: Program, name: str, label: str, text: str, package: bool) -> None:
        self.program, self.name, self.label, self.package = program, name, label, package
        self.text, self.lines = text, split_lines(text)
        self.tree = parse_target(text, label)
        self.table: Table = scan(self.tree.body, self._can_import)
        self.known: dict[str, Binding | None] = {}
        self.differs: dict[str, str] = {}  # names that mean another thing in the end than their text says, and why

    def lookup(self, name: str) -> Binding | None:
        """What `name` means to the functions of this module when they run; None if nothing binds it."""
        found = self._own_binding(name)
        if found is None and name in vars(builtins):
            return Binding("object", vars(builtins)[name])
        return _binding_for_callers(found)

    def attribute(self, name: str) -> Binding:
        """What `name` is, asked from outside: a name of the module, or a module below it."""
        below = f"{self.name}.{name}"
        if self.package and is_trusted(below):
            return self.program.module(below)
        found = self._own_binding(name)
        if found is None and self.package:
            found = self.program.module(below)
        return _binding_for_callers(found) or unknown_binding(f"{self.name} has no {name}")

    def names(self) -> list[str]:
        """The functions that the text itself defines, methods as `Class.method`, in the order of the text."""
        found: dict[str, int] = {}
        for name, defined in self.table.items():
            last = defined[-1]
            if last.kind == "function":
                found[name] = last.line
            elif isinstance(last.node, ast.ClassDef):
                methods = scan(last.node.body, self._can_import)
                found |= {f"{name}.{m}": d[-1].line for m, d in methods.items() if d[-1].kind == "function"}
        return sorted(found, key=lambda name: found[name])

    def function(self, qualname: str) -> Binding | None:
        """The function, or `Class.method`, of that name; another binding where it is no function."""
        owner, _, method = qualname.partition(".")
        if not method:
            return self._own_binding(owner)
        defined = self.table.get(owner, [])
        if len(defined) != 1 or not isinstance(defined[0].node, ast.ClassDef):
            return None
        methods = scan(defined[0].node.body, self._can_import).get(method, [])
        return self._choose(qualname, methods) if methods else None

    def _own_binding(self, name: str) -> Binding | None:
        """What the module itself binds to `name`; what is found while other names are looked up may hang on them."""
        if name in self.known:
            return self.known[name]
        outermost = not self.program.asked
        found = self._find_binding(name)
        if outermost:
            self.known[name] = found
        return found

    def _find_binding(self, name: str) -> Binding | None:
        if name.startswith("__") and name.endswith("__"):
            return unknown_binding(f"{name} is known when the module runs")
        defined = self.table.get(name, [])
        first = min((item.line for item in defined), default=0)
        for star in reversed(self.table.get(STAR, [])):
            if star.line > first:
                found = self._from_star(star, name)
                if found is not None:
                    return found
        return self._choose(name, defined) if defined else None

    def _choose(self, name: str, defined: list[Definition]) -> Binding | None:
        last = defined[-1]
        if last.kind == "deleted" and last.certain:
            return None
        if self.differs.get(name):
            return unknown_binding(self.differs[name])
        if len(defined) > 1 or not last.certain:
            lines = ", ".join(str(item.line) for item in defined)
            return unknown_binding(f"{name} depends on what runs in {self.label} (lines {lines})")
        key = (self.name, name)
        if key in self.program.asked:
            return unknown_binding(f"the imports of {name} go in a circle")
        self.program.asked[key] = None
        try:
            return self._resolve(name, last)
        finally:
            del self.program.asked[key]

    def _resolve(self, name: str, found: Definition) -> Binding:
        if found.kind == "import":
            return self._binding_of_import(found)
        if isinstance(found.node, FunctionNode):
            decorators = doubtful_decorators(found.node, self.lookup)
            return Binding("function", static=StaticFunction(self, name, found.node, decorators))
        if found.kind == "class":
            return unknown_binding(f"{name} is a class, known only as text")
        if isinstance(found.node, ast.Name | ast.Attribute):
            if self.is_bound_anew(found):
                return unknown_binding(f"what {name} was given is bound anew behind line {found.line} of {self.label}")
            same = _resolve(found.node, self.lookup)
            if same is not None:
                return same
        match found.node:
            case ast.Call(function, [ast.Constant(str(module))], []) if self._imports(function) and module[:1] != ".":
                return self.program.module(module)
        told = name not in self.differs and not _reads(found.node, name)  # `W = W / np.sum(W)`
        return Binding("value", module=self, expression=self._spelling(found.node) if told else None)

    def is_bound_anew(self, second: Definition) -> bool:
        """Whether the name that a second name was given, `h = g`, means something else behind that line."""
        node = second.node
        while isinstance(node, ast.Attribute):
            node = node.value
        return any(one.line > second.line for one in self.table.get(getattr(node, "id", ""), []))

    def _imports(self, node: ast.expr) -> bool:
        """Whether what is called is `importlib.import_module`."""
        return (found := _resolve(node, self.lookup)) is not None and found.object is importlib.import_module

    def _spelling(self, node: ast.AST | None) -> str | None:
        text = None if node is None else segment(self.lines, node)
        return text if text is None or "\n" not in text else f"({text}\n)"

    def _binding_of_import(self, found: Definition) -> Binding:
        name = self._absolute_module(found)
        if name is None:
            return unknown_binding(f"line {found.line} of {self.label} imports from above its package")
        if not found.member:
            return self.program.module(name)
        base, below = self.program.module(name), f"{name}.{found.member}"
        if name == self.name or (base.kind == "unknown" and is_trusted(below)):
            return self.program.module(below)  # a package that imports what is below itself
        result = attribute(base, found.member)
        return unknown_binding(f"{name} has no {found.member}") if result is None else result

    def _absolute_module(self, found: Definition) -> str | None:
        """The dotted name of the module that is imported, relative imports resolved."""
        if not found.level:
            return found.module
        parts = self.name.split(".") if self.package else self.name.split(".")[:-1]
        up = found.level - 1
        if up > len(parts):
            return None
        base = parts[: len(parts) - up]
        return ".".join([*base, *([found.module] if found.module else [])])

    def _can_import(self, found: Definition) -> bool:
        name = self._absolute_module(found)
        if not name:
            return False
        return (is_trusted(name) and trusted_module(name, self.program.own) is not None) or self._exists(name)

    def _exists(self, name: str) -> bool:
        return not is_trusted(name) and self.program.locate(name) is not None

    def _from_star(self, star: Definition, name: str) -> Binding | None:
        """What a star import gives `name`; None if the module is known not to give it."""
        module = self._absolute_module(star)
        base = unknown_binding("") if module is None or not star.certain else self.program.module(module)
        if base.kind == "object":
            given: bool | None = name in _public_names(base.object)
        else:
            given = base.module.gives(name) if base.module is not None else None
        if given is None:
            text = f"from {'.' * star.level}{star.module} import *"
            return unknown_binding(f"{name} may come from `{text}`, line {star.line} of {self.label}")
        return attribute(base, name) if given else None

    def gives(self, name: str) -> bool | None:
        """Whether `from this_module import *` gives `name`; None if the text does not tell."""
        listed = self.table.get("__all__", [])
        if not listed:
            known = STAR not in self.table
            return name in self.table and not name.startswith("_") if known else None
        node = listed[0].node
        if len(listed) > 1 or not listed[0].certain or not isinstance(node, ast.List | ast.Tuple):
            return None
        names = [item.value for item in node.elts if isinstance(item, ast.Constant)]
        return name in names if len(names) == len(node.elts) else None


def _reads(node: ast.AST | None, name: str) -> bool:
    return node is not None and any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def is_installed(module: StaticModule) -> bool:
    """Whether a module belongs to an installed package or to Python itself, not to the user."""
    path = next((path for path, known in module.program.modules.items() if known is module), None)
    return path is not None and is_in_library(path)


def _public_names(module: object) -> list[str]:
    names = getattr(module, "__all__", None)
    return [item for item in vars(module) if item[0] != "_"] if names is None else list(names)


def _binding_for_callers(found: Binding | None) -> Binding | None:
    """A binding as a caller sees it: a decorated function is not its text."""
    if found is None or found.static is None or not found.static.decorators:
        return found
    function = found.static
    return unknown_binding(f"{function.qualname} is replaced by what @{function.decorators[0]} returns")


def binding_of_text(node: ast.expr | None, module: StaticModule) -> Binding | None:
    """What a name, or a dotted name, in the text of a module means; None for what is neither, or is not bound."""
    return _resolve(node, module.lookup)
