"""Names and functions of modules known only as text: for the command line, which never runs what it reads."""

from __future__ import annotations

import ast
import builtins
import importlib
import tokenize
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from srcgrad.errors import DifferentiationError
from srcgrad.front.decorators import doubtful, meant_by
from srcgrad.front.locate import Located, is_trusted, locate, trusted_module
from srcgrad.front.namespace import Binding, attribute, unknown
from srcgrad.front.parse import FunctionNode, parse_target, segment, split_lines
from srcgrad.front.scan import STAR, Definition, Table, scan
from srcgrad.front.source import Source, source_at
from srcgrad.recompute import checkpoint


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
    places: dict[str, Located | None] = field(default_factory=dict)  # by the dotted name of a module
    asked: dict[tuple[str, str], None] = field(default_factory=dict)  # look-ups under way: imports may go in circles

    def module(self, name: str) -> Binding:
        """The module with an absolute dotted name."""
        if is_trusted(name):
            trusted = trusted_module(name, self.own)
            return unknown(f"{name} is not installed") if trusted is None else Binding("object", trusted)
        found = self.locate(name)
        if found is None:
            return unknown(f"no module {name} is found")
        return self.read(name, found)

    def locate(self, name: str) -> Located | None:
        """Where the module with an absolute dotted name is; it is looked for once."""
        if name not in self.places:
            self.places[name] = locate(name, self.folders)
        return self.places[name]

    def read(self, name: str, found: Located) -> Binding:
        """A module that was found, parsed."""
        if found.kind == "compiled":
            return unknown(f"{name} is compiled: it has no Python text")
        path = found.path.resolve()
        known = self.modules.get(path)
        if known is None:
            try:
                text = "" if found.kind == "folder" else read_text(found.path)
                known = StaticModule(self, name, found.path.name, text, found.is_package)
            except DifferentiationError as error:
                return unknown(f"{name} cannot be read: {error.message}")
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
        self.table: Table = scan(self.tree.body, self._importable)
        self.known: dict[str, Binding | None] = {}

    def lookup(self, name: str) -> Binding | None:
        """What `name` means to the functions of this module when they run; None if nothing binds it."""
        found = self._own(name)
        if found is None and name in vars(builtins):
            return Binding("object", vars(builtins)[name])
        return _undecorated(found)

    def attribute(self, name: str) -> Binding:
        """What `name` is, asked from outside: a name of the module, or a module below it."""
        below = f"{self.name}.{name}"
        if self.package and is_trusted(below):
            return self.program.module(below)
        found = self._own(name)
        if found is None and self.package:
            found = self.program.module(below)
        return _undecorated(found) or unknown(f"{self.name} has no {name}")

    def names(self) -> list[str]:
        """The functions that the text itself defines, methods as `Class.method`, in the order of the text."""
        found: dict[str, int] = {}
        for name, defined in self.table.items():
            last = defined[-1]
            if last.kind == "function":
                found[name] = last.line
            elif isinstance(last.node, ast.ClassDef):
                methods = scan(last.node.body, self._importable)
                found |= {f"{name}.{m}": d[-1].line for m, d in methods.items() if d[-1].kind == "function"}
        return sorted(found, key=lambda name: found[name])

    def function(self, qualname: str) -> Binding | None:
        """The function, or `Class.method`, of that name; another binding where it is no function."""
        owner, _, method = qualname.partition(".")
        if not method:
            return self._own(owner)
        defined = self.table.get(owner, [])
        if len(defined) != 1 or not isinstance(defined[0].node, ast.ClassDef):
            return None
        methods = scan(defined[0].node.body, self._importable).get(method, [])
        return self._choose(qualname, methods) if methods else None

    def _own(self, name: str) -> Binding | None:
        """What the module itself binds to `name`; what is found while other names are looked up may hang on them."""
        if name in self.known:
            return self.known[name]
        outermost = not self.program.asked
        found = self._found(name)
        if outermost:
            self.known[name] = found
        return found

    def _found(self, name: str) -> Binding | None:
        if name.startswith("__") and name.endswith("__"):
            return unknown(f"{name} is known when the module runs")
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
            return unknown(f"{name} depends on what runs in {self.label} (lines {lines})")
        key = (self.name, name)
        if key in self.program.asked:
            return unknown(f"the imports of {name} go in a circle")
        self.program.asked[key] = None
        try:
            return self._resolve(name, last)
        finally:
            del self.program.asked[key]

    def _resolve(self, name: str, found: Definition) -> Binding:
        if found.kind == "import":
            return self._imported(found)
        if isinstance(found.node, FunctionNode):
            decorators = doubtful(found.node, self.lookup)
            return Binding("function", static=StaticFunction(self, name, found.node, decorators))
        if found.kind == "class":
            return unknown(f"{name} is a class, known only as text")
        if isinstance(found.node, ast.Name | ast.Attribute):
            same = self._dotted(found.node)
            if same is not None:
                return same
        match found.node:
            case ast.Call(function, [ast.Constant(str(module))], []) if self._imports(function) and module[:1] != ".":
                return self.program.module(module)
        return Binding("value", module=self, expression=self._spelling(found.node))

    def _dotted(self, node: ast.expr) -> Binding | None:
        """What a name such as `np.linalg.norm` means, where it is assigned to another name."""
        if isinstance(node, ast.Name):
            return self.lookup(node.id)
        if isinstance(node, ast.Attribute):
            base = self._dotted(node.value)
            return None if base is None else attribute(base, node.attr)
        return None

    def _imports(self, node: ast.expr) -> bool:
        """Whether what is called is `importlib.import_module`."""
        return (found := self._dotted(node)) is not None and found.object is importlib.import_module

    def _spelling(self, node: ast.AST | None) -> str | None:
        text = None if node is None else segment(self.lines, node)
        return text if text is None or "\n" not in text else f"({text}\n)"

    def _imported(self, found: Definition) -> Binding:
        name = self._absolute(found)
        if name is None:
            return unknown(f"line {found.line} of {self.label} imports from above its package")
        if not found.member:
            return self.program.module(name)
        base, below = self.program.module(name), f"{name}.{found.member}"
        if name == self.name or (base.kind == "unknown" and is_trusted(below)):
            return self.program.module(below)  # a package that imports what is below itself
        result = attribute(base, found.member)
        return unknown(f"{name} has no {found.member}") if result is None else result

    def _absolute(self, found: Definition) -> str | None:
        """The dotted name of the module that is imported, relative imports resolved."""
        if not found.level:
            return found.module
        parts = self.name.split(".") if self.package else self.name.split(".")[:-1]
        up = found.level - 1
        if up > len(parts):
            return None
        base = parts[: len(parts) - up]
        return ".".join([*base, *([found.module] if found.module else [])])

    def _importable(self, found: Definition) -> bool:
        name = self._absolute(found)
        if not name:
            return False
        return (is_trusted(name) and trusted_module(name, self.program.own) is not None) or self._exists(name)

    def _exists(self, name: str) -> bool:
        return not is_trusted(name) and self.program.locate(name) is not None

    def _from_star(self, star: Definition, name: str) -> Binding | None:
        """What a star import gives `name`; None if the module is known not to give it."""
        module = self._absolute(star)
        base = unknown("") if module is None or not star.certain else self.program.module(module)
        if base.kind == "object":
            given: bool | None = name in _public(base.object)
        else:
            given = base.module.gives(name) if base.module is not None else None
        if given is None:
            text = f"from {'.' * star.level}{star.module} import *"
            return unknown(f"{name} may come from `{text}`, line {star.line} of {self.label}")
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


def _public(module: object) -> list[str]:
    names = getattr(module, "__all__", None)
    return [item for item in vars(module) if item[0] != "_"] if names is None else list(names)


def _undecorated(found: Binding | None) -> Binding | None:
    """A binding as a caller sees it: a decorated function is not its text."""
    if found is None or found.static is None or not found.static.decorators:
        return found
    function = found.static
    return unknown(f"{function.qualname} is replaced by what @{function.decorators[0]} returns")
