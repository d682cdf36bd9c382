"""Bindings: what a name means, be it an object that is there or something known only as text.

A module known only as text tells what its names mean from its imports, functions and assignments: only modules known to
be harmless are ever imported. Which decorators leave a function as it is, is decided from their text.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import sys
import sysconfig
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import (
    TYPE_CHECKING,
    Any,  # decorators are arbitrary objects
    Literal,
)

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.identity import is_distribution, python_function, record, replace
from srcgrad.core.marks import checkpoint
from srcgrad.core.source_text import FunctionNode, Source, parse_target, segment, source_at, split_lines
from srcgrad.core.trees import BLOCKS, parsed_children
from srcgrad.templates import ON_REQUEST

if TYPE_CHECKING:
    from pathlib import Path

# NumPy and what it imports itself, so that nothing of the user's can stand in their place.
TRUSTED_ROOTS = frozenset(
    {
        *("builtins", "cmath", "collections", "contextlib", "copy", "dataclasses", "functools", "importlib"),
        *("itertools", "logging", "math", "numbers", "operator", "time", "typing", "warnings"),
        *("numpy", "srcgrad"),
    }
)


@record(frozen=True)
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


def is_in_library(path: Path) -> bool:
    """Whether a file belongs to an installed package or to Python itself, not to the user."""
    if not {"site-packages", "dist-packages"}.isdisjoint(path.parts):
        return True
    return path.is_relative_to(os.path.realpath(sysconfig.get_paths()["stdlib"]))


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
    from pathlib import Path

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
    from pathlib import Path

    path = Path(spec.origin)
    return [ModuleFile("text" if path.suffix == ".py" else "compiled", path)]


@record(frozen=True)
class Definition:
    """One way in which a name is bound.

    `node` is the function, class or value; `module`, `level` and `member` say what is imported. A
    definition that is not `certain` stands in a branch that may not run.
    """

    kind: Literal["import", "function", "class", "value", "star", "deleted"]
    line: int
    node: ast.AST | None = None
    module: str = ""
    level: int = 0
    member: str = ""
    certain: bool = True


Table = dict[str, list[Definition]]  # under "*" the star imports
Importable = Callable[[Definition], bool]

STAR = "*"


def scan(body: Sequence[ast.stmt], importable: Importable) -> Table:
    """The definitions that may be in force when `body` has run; a certain definition ends earlier ones.

    `importable` tells whether an import would succeed: it chooses between `try` and `except ImportError`.

    >>> table = scan(ast.parse("import numpy as np\\nif flag:\\n    tiny = 1e-9").body, lambda found: True)
    >>> [(name, found[0].kind, found[0].certain) for name, found in table.items()]
    [('np', 'import', True), ('tiny', 'value', False)]
    """
    table: Table = {}
    for name, found in _block(body, importable):
        if found.certain and name != STAR:
            table[name] = [found]
        else:
            table.setdefault(name, []).append(found)
    for name, line in _declared_global(body):
        table.setdefault(name, []).append(Definition("value", line, certain=False))
    return table


Bound = Iterator[tuple[str, Definition]]


def _block(body: Sequence[ast.stmt], importable: Importable) -> Bound:
    for statement in body:
        yield from _bindings_of_statement(statement)
        if isinstance(statement, ast.If):
            yield from _if(statement, importable)
        elif isinstance(statement, ast.Try):
            yield from _try(statement, importable)
        elif isinstance(statement, ast.With):
            yield from _block(statement.body, importable)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _uncertain_bindings(_inner_statements(statement), importable)


def _inner_statements(statement: ast.stmt) -> list[ast.stmt]:
    """The statements within a compound statement, of all its branches."""
    held = statement.__dict__
    if "body" not in held and "cases" not in held:
        return []
    parts = [held, *(part.__dict__ for part in (*held.get("handlers", ()), *held.get("cases", ())))]
    return [inner for part in parts for field in BLOCKS if field in part for inner in part[field]]


def _uncertain_bindings(body: Sequence[ast.stmt], importable: Importable) -> Bound:
    for name, found in _block(body, importable):
        yield name, replace(found, certain=False)


def _if(statement: ast.If, importable: Importable) -> Bound:
    if is_never_imported(statement.test):
        yield from _block(statement.orelse, importable)
    else:
        yield from _uncertain_bindings([*statement.body, *statement.orelse], importable)


def is_never_imported(test: ast.expr) -> bool:
    """Whether a branch is for programs or type checkers alone: an import does not run it.

    >>> texts = "__name__ == '__main__'", "typing.TYPE_CHECKING", "np.__name__ == 'numpy'"
    >>> [is_never_imported(ast.parse(text, mode="eval").body) for text in texts]
    [True, True, False]
    """
    match test:
        case ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]):
            return True
        case ast.Compare(ast.Constant("__main__"), [ast.Eq()], [ast.Name("__name__")]):
            return True
        case ast.Name("TYPE_CHECKING") | ast.Attribute(ast.Name(), "TYPE_CHECKING"):
            return True
    return False


def _try(statement: ast.Try, importable: Importable) -> Bound:
    guards = [item for item in statement.handlers if _catches_import(item)]
    imports = [item for item in statement.body if isinstance(item, ast.Import | ast.ImportFrom)]
    if not guards or not imports:
        yield from _uncertain_bindings(_inner_statements(statement), importable)
    elif all(importable(found) for item in imports for _, found in _bindings_of_statement(item)):
        yield from _block([*statement.body, *statement.orelse, *statement.finalbody], importable)
    else:
        yield from _block([*guards[0].body, *statement.finalbody], importable)


def _catches_import(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [item.id for item in caught if isinstance(item, ast.Name)]
    return handler.type is None or any(name in ("ImportError", "ModuleNotFoundError", "Exception") for name in names)


def _bindings_of_statement(statement: ast.stmt) -> Bound:
    """What a statement binds by itself, the blocks that it holds apart."""
    line = statement.lineno
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or module, Definition("import", line, module=module)
    elif isinstance(statement, ast.ImportFrom):
        base = Definition("import", line, module=statement.module or "", level=statement.level)
        for alias in statement.names:
            kind: Literal["star", "import"] = "star" if alias.name == STAR else "import"
            yield alias.asname or alias.name, replace(base, kind=kind, member=alias.name)
    elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        yield statement.name, Definition("function", line, statement)
    elif isinstance(statement, ast.ClassDef):
        yield statement.name, Definition("class", line, statement)
    elif isinstance(statement, ast.Delete):
        for name in _names_of_expressions(statement):
            yield name, Definition("deleted", line)
    else:
        yield from _values(statement, line)


def _values(statement: ast.stmt, line: int) -> Bound:
    named: dict[str, ast.expr] = {}
    if isinstance(statement, ast.Assign):
        named = {name: value for item in statement.targets for name, value in _name_value_pairs(item, statement.value)}
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        if statement.value is None:  # `x: float` binds nothing
            return
        named = {statement.target.id: statement.value}
    for name in _names_of_expressions(statement):
        value = named.get(name)
        kind: Literal["function", "value"] = "function" if isinstance(value, ast.Lambda) else "value"
        yield name, Definition(kind, line, value)


def _name_value_pairs(display: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """What an assignment binds to names: part by part in `a, b = 1, 2`, where no part may read what another binds."""
    if isinstance(display, ast.Name):
        return [(display.id, value)]
    if not isinstance(display, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple | ast.List):
        return []
    bound, read = ({n.id for n in ast.walk(one) if isinstance(n, ast.Name)} for one in (display, value))
    if bound & read or len(display.elts) != len(value.elts):
        return []
    return [pair for item, part in zip(display.elts, value.elts, strict=True) for pair in _name_value_pairs(item, part)]


_OWN_SCOPE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def _names_of_expressions(statement: ast.stmt) -> list[str]:
    """Names bound or deleted by the expressions of a statement, in the order of the text."""
    found: dict[str, None] = {}
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found[node.id] = None
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            found[node.name] = None
        if isinstance(node, _OWN_SCOPE):
            inner = [item.target for item in ast.walk(node) if isinstance(item, ast.NamedExpr)]
            todo.extend(inner)
        else:
            todo.extend(reversed([item for item in parsed_children(node) if not isinstance(item, ast.stmt)]))
    return list(found)


def _declared_global(body: Sequence[ast.stmt]) -> list[tuple[str, int]]:
    """Names that functions rebind: what the module gave them first says little."""
    found: list[tuple[str, int]] = []
    todo = list(body)
    while todo:
        node = todo.pop()
        if type(node) is ast.Global:
            found += [(name, node.lineno) for name in node.names]
        todo += _inner_statements(node)
    return found


def read_text(path: Path) -> str:
    """The text of a Python file, decoded as its first lines say; E5015 if it cannot be read."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except OSError as error:
        raise DifferentiationError("E5015", f"{path.name}: {error.strerror}", "name a file that can be read") from None
    except (SyntaxError, UnicodeDecodeError) as error:
        message = f"{path.name} cannot be decoded: {error}"
        raise DifferentiationError("E5015", message, "save the file as UTF-8") from None


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
    import logging

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
