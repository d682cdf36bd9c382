"""The texts of modules: where they are found, and what their statements bind.

Only modules known to be harmless are ever imported.
"""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import importlib.util
import sys
import sysconfig
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Literal

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.identity import record, replace
from srcgrad.core.trees import BLOCKS, parsed_children
from srcgrad.templates import ON_REQUEST

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
    return path.is_relative_to(Path(sysconfig.get_paths()["stdlib"]).resolve())


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
