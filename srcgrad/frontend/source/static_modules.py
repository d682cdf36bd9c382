"""Modules known only as text: where they are found, and what their names mean.

Where the text of a module is, found by its path; only modules known to be harmless are ever imported.

Modules known only as text, for the command line.

What the statements of a module bind, read from its text without running it.

Names and functions of modules known only as text: for the command line, which never runs what it reads.

What the command line is asked for (`file.py:f`, `package.module:Class.method`, `-`) as functions.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import importlib
import importlib.machinery
import importlib.util
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Literal

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.marks import checkpoint
from srcgrad.core.namespace import Binding, attribute, unknown_binding
from srcgrad.core.source_text import FunctionNode, Source, parse_target, segment, source_at, split_lines
from srcgrad.frontend.source.decorators import doubtful_decorators, meant_by
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


@dataclass(frozen=True)
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
    parts = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    fields = ("body", "orelse", "finalbody")
    return [inner for part in parts for field in fields for inner in getattr(part, field, [])]


def _uncertain_bindings(body: Sequence[ast.stmt], importable: Importable) -> Bound:
    for name, found in _block(body, importable):
        yield name, replace(found, certain=False)


def _if(statement: ast.If, importable: Importable) -> Bound:
    test = ast.unparse(statement.test)
    if test in ("TYPE_CHECKING", "typing.TYPE_CHECKING") or "__name__ ==" in test:
        yield from _block(statement.orelse, importable)
    else:
        yield from _uncertain_bindings([*statement.body, *statement.orelse], importable)


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
            children = ast.iter_child_nodes(node)
            todo.extend(reversed([item for item in children if not isinstance(item, ast.stmt)]))
    return list(found)


def _declared_global(body: Sequence[ast.stmt]) -> list[tuple[str, int]]:
    """Names that functions rebind: what the module gave them first says little."""
    return [
        (name, node.lineno)
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Global)
        for name in node.names
    ]


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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


class StaticModule:
    """A module known only as text: what its names mean, from its imports, functions and assignments."""

    def __init__(self, program: Program, name: str, label: str, text: str, package: bool) -> None:
        self.program, self.name, self.label, self.package = program, name, label, package
        self.text, self.lines = text, split_lines(text)
        self.tree = parse_target(text, label)
        self.table: Table = scan(self.tree.body, self._can_import)
        self.known: dict[str, Binding | None] = {}

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
            same = self._binding_of_dotted_name(found.node)
            if same is not None:
                return same
        match found.node:
            case ast.Call(function, [ast.Constant(str(module))], []) if self._imports(function) and module[:1] != ".":
                return self.program.module(module)
        return Binding("value", module=self, expression=self._spelling(found.node))

    def _binding_of_dotted_name(self, node: ast.expr) -> Binding | None:
        """What a name such as `np.linalg.norm` means, where it is assigned to another name."""
        if isinstance(node, ast.Name):
            return self.lookup(node.id)
        if isinstance(node, ast.Attribute):
            base = self._binding_of_dotted_name(node.value)
            return None if base is None else attribute(base, node.attr)
        return None

    def _imports(self, node: ast.expr) -> bool:
        """Whether what is called is `importlib.import_module`."""
        return (found := self._binding_of_dotted_name(node)) is not None and found.object is importlib.import_module

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


def _public_names(module: object) -> list[str]:
    names = getattr(module, "__all__", None)
    return [item for item in vars(module) if item[0] != "_"] if names is None else list(names)


def _binding_for_callers(found: Binding | None) -> Binding | None:
    """A binding as a caller sees it: a decorated function is not its text."""
    if found is None or found.static is None or not found.static.decorators:
        return found
    function = found.static
    return unknown_binding(f"{function.qualname} is replaced by what @{function.decorators[0]} returns")


_NAMES = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(,[^\W\d]\w*(\.[^\W\d]\w*)*)*")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def find_target(target: str, *, text: str | None = None) -> list[StaticFunction]:
    """The functions that `target` names, in the order asked for; all of a file where it names none.

    `text` is what standard input holds, for the target `-`. Nothing of the target is run or imported.
    Raises E5015 where the target cannot be read, is not Python, or has no such function; E5016 where it
    is nested too deeply.

    >>> [found] = find_target("-:half", text="def half(x):\\n    return 0.5 * x\\n")
    >>> found.qualname, found.source.file, found.source.first
    ('half', '<stdin>', 1)
    """
    head, names = _split(target)
    module = _module(head, text)
    wanted = names or module.names()
    if not wanted:
        raise DifferentiationError("E5015", f"{module.label} defines no function", "name a file that does")
    return [_function(module, name) for name in wanted]


def _split(target: str) -> tuple[str, list[str]]:
    head, colon, names = target.rpartition(":")
    if not colon or not head or Path(target).is_file():
        return target, []
    if names and not _NAMES.fullmatch(names):
        if _is_drive(head):
            return target, []
        message = f"{names!r} is no list of functions"
        raise DifferentiationError("E5015", message, "write it like file.py:f or file.py:f,g or file.py:Class.f")
    return head, names.split(",") if names else []


def _is_drive(head: str) -> bool:
    return len(head) == 1 and head.isalpha()  # C:\model.py


def _module(head: str, text: str | None) -> StaticModule:
    if head == "-":
        if text is None:
            raise DifferentiationError("E5015", "standard input was not read", "give its text")
        return StaticModule(_program(Path()), "stdin", "<stdin>", text, False)
    path = Path(head)
    if path.is_file():
        return _file(path)
    if path.suffix == ".py" or not _MODULE.fullmatch(head):
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DifferentiationError("E5015", f"the file {head} {what}", _near_files(path))
    return _module_of_name(head)


def _file(path: Path) -> StaticModule:
    path = path.resolve()
    folder, parts = path.parent, [] if path.name == "__init__.py" else [path.stem]
    while (folder / "__init__.py").is_file():
        folder, parts = folder.parent, [folder.name, *parts]
    return _parse_module(_program(folder), ".".join(parts) or path.stem, path)


def _module_of_name(name: str) -> StaticModule:
    program = _program(Path.cwd())
    found = locate(name, program.folders)
    if found is None:
        message = f"no module {name} is found, and no file of that name"
        raise DifferentiationError("E5015", message, "install it, or name a file: path/to/file.py:function")
    if found.kind != "text":
        message = f"{name} has no Python text"
        raise DifferentiationError("E5015", message, "name a module that is written in Python")
    return _parse_module(program, name, found.path)


def _parse_module(program: Program, name: str, path: Path) -> StaticModule:
    module = StaticModule(program, name, path.name, read_text(path), path.name == "__init__.py")
    program.modules[path.resolve()] = module
    return module


def _program(folder: Path) -> Program:
    own = (folder.resolve(),)
    return Program(own, (*own, *(Path(entry) for entry in sys.path if entry)))


def _function(module: StaticModule, name: str) -> StaticFunction:
    found = module.function(name)
    if found is None:
        message = f"{module.label} has no function {name}"
        raise DifferentiationError("E5015", message, _near_names(name, module.names()))
    if found.static is not None:
        return found.static
    if found.kind == "unknown":
        remedy = "name the file in which it is defined, once and without a condition"
        raise DifferentiationError("E5015", found.reason, remedy)
    message = f"{name} in {module.label} is no function with Python text"
    raise DifferentiationError("E5015", message, _near_names(name, module.names()))


def _near_names(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    listed = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
    return f"its functions are: {listed}" if known else "it defines no function"


def _near_files(path: Path) -> str:
    folder = path.parent
    names = sorted(item.name for item in folder.glob("*.py") if item.is_file()) if folder.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else "give the path of a Python file, or package.module"
