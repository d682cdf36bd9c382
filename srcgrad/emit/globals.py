"""What the names of a module known only as text mean: an import, or text that the output takes over."""

from __future__ import annotations

import ast
import inspect
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from srcgrad.emit.draws import draws
from srcgrad.emit.meaning import Builtin, Copied, Found, Import, Meaning, Unknown, imported, is_builtin
from srcgrad.front.locate import locate
from srcgrad.front.namespace import Binding
from srcgrad.front.scan import STAR, Definition
from srcgrad.front.static import Program, StaticFunction, StaticModule

Target = Meaning | StaticModule  # a module of the user's own has no place in the output: only what is in it


@dataclass(frozen=True)
class Globals:
    """Looks up names in modules known as text; `embed` takes over what is srcgrad's own, too."""

    embed: bool = False
    own: dict[str, StaticModule] = field(default_factory=dict)  # texts of srcgrad's modules

    def find(self, module: StaticModule, parts: tuple[str, ...], known: Binding | None = None) -> Found:
        """The meaning of a dotted name that functions of `module` read, the first part of which may be `known`."""
        first = self.member(module, parts[0]) if known is None else self._bound(known, module, parts[0])
        target, count = first, 1
        while isinstance(target, StaticModule):
            if count == len(parts):
                return Found(Unknown(f"{'.'.join(parts)} is a module of your own, used as a value"), count)
            target, count = self.attribute(target, parts[count]), count + 1
        return Found(target, count, _submodules(target, parts) if count == 1 else ())

    def member(self, module: StaticModule, name: str) -> Target:
        """What a name means to the functions of a module."""
        defined = module.table.get(name, [])
        stars = [star for star in module.table.get(STAR, []) if not defined or star.line > defined[0].line]
        if len(defined) == 1 and defined[0].certain and not stars:
            [only] = defined
            if only.kind == "import":
                return self._imported(module, only)
            if only.node is not None and (parts := _dotted(only.node)):
                return self._same(module, parts)
            if isinstance(only.node, ast.ClassDef) and self.own.get(module.name) is module:
                return Copied(module, name)
        return self._bound(module.lookup(name), module, name)

    def attribute(self, module: StaticModule, name: str) -> Target:
        """What a name is, asked from outside of its module."""
        if name in module.table:
            return self.member(module, name)
        return self._bound(module.attribute(name), module, name)

    def _same(self, module: StaticModule, parts: tuple[str, ...]) -> Target:
        found = self.find(module, parts)
        rest = parts[found.count :]
        if not rest:
            return found.meaning
        if isinstance(found.meaning, Import) and not found.meaning.member:
            return Import(".".join([found.meaning.module, *rest[:-1]]), rest[-1])
        return Unknown(f"{'.'.join(parts)} is an attribute of a value")

    def _imported(self, module: StaticModule, found: Definition) -> Target:
        absolute = module._absolute(found)
        if absolute is None:
            return Unknown(f"line {found.line} of {module.label} imports from above its package")
        target = module.program.module(absolute)
        if isinstance(target.object, ModuleType):
            if self.embed and absolute.partition(".")[0] == "srcgrad":
                return self._embedded(target.object, found.member)
            known = not found.member or hasattr(target.object, found.member)
            known = known or module.program.module(f"{absolute}.{found.member}").kind != "unknown"
            return Import(absolute, found.member) if known else Unknown(f"{absolute} has no {found.member}")
        if target.module is not None and not is_installed(target.module):
            return self.attribute(target.module, found.member) if found.member else target.module
        if target.kind == "module" or _is_compiled(absolute, module.program):
            return Import(absolute, found.member)
        return Unknown(target.reason)

    def _bound(self, found: Binding | None, module: StaticModule, name: str) -> Target:
        if found is None:
            return Unknown(f"nothing in {module.label} binds it")
        if found.kind == "unknown":
            return Unknown(found.reason)
        if found.kind == "object":
            return self.object(found.object, name)
        if found.kind == "module":
            assert found.module is not None, "a module binding has its module"
            return Import(found.module.name) if is_installed(found.module) else found.module
        if found.static is not None:
            return of_function(found.static)
        if is_installed(module):
            return Import(module.name, name)
        return _value(found, module, name)

    def object(self, value: object, name: str) -> Target:
        """The meaning of a live object, by the name that it has in a text."""
        if is_builtin(name, value):
            return Builtin(name)
        if self.embed and str(getattr(value, "__module__", "")).partition(".")[0] == "srcgrad":
            return self._embedded(sys.modules[str(value.__module__)], str(getattr(value, "__name__", "")))
        return imported(value) or Unknown(f"no import gives {name}")

    def _embedded(self, module: ModuleType, member: str) -> Target:
        value = getattr(module, member, None) if member else module
        home = module if isinstance(value, ModuleType | None) else sys.modules[value.__module__]
        known = self.own.get(home.__name__)
        if known is None:
            label = f"{home.__name__.rpartition('.')[2]}.py"
            known = StaticModule(Program((), ()), home.__name__, label, inspect.getsource(home), False)
            self.own[home.__name__] = known
        return self.attribute(known, member) if member else known


def _dotted(node: ast.AST) -> tuple[str, ...]:
    """The parts of a name such as `np.linalg.norm`; none for what is computed, as `np.finfo(float).eps` is."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return (node.id, *parts) if isinstance(node, ast.Name) else ()


def of_function(static: StaticFunction) -> Meaning:
    """The meaning of a function that is known only as text."""
    if is_installed(static.module):
        return Import(static.module.name, static.qualname)
    if static.decorators:
        return Unknown(f"{static.qualname} is decorated by {', '.join(static.decorators)}")
    return Copied(static.module, static.qualname, static)


def _value(found: Binding, module: StaticModule, name: str) -> Meaning:
    if found.expression is None:
        return Unknown(f"{name} is computed in more than one step in {module.label}")
    changed = None if _is_plain(found.expression) else changed_in(module, name)
    if changed is not None:
        return Unknown(f"line {changed} of {module.label} may change {name}")
    if draws(found.expression, module):
        return Unknown(f"{name} holds what {module.label} draws, and a copy of the line may draw something else")
    return Copied(module, name, None, found.expression)


def _is_plain(expression: str) -> bool:
    """Whether a value is a number, a string or a tuple of them: nothing can change it."""
    parts = (ast.Expression, ast.Constant, ast.UnaryOp, ast.unaryop, ast.Tuple, ast.Load)
    return all(isinstance(item, parts) for item in ast.walk(ast.parse(expression, mode="eval")))


def _submodules(target: Target, parts: tuple[str, ...]) -> tuple[str, ...]:
    """`scipy.special` for `scipy.special.erf` where `scipy` was imported: importing the parent may not do."""
    if not isinstance(target, Import) or target.member or target.module != parts[0] or parts[0] == "numpy":
        return ()
    program = Program((), tuple(Path(entry) for entry in sys.path if entry))
    names = [".".join(parts[:count]) for count in range(2, len(parts))]
    return tuple(name for name in names if locate(name, program.folders) is not None)


def is_installed(module: StaticModule) -> bool:
    """Whether a module belongs to an installed package or to Python itself, not to the user."""
    path = next((path for path, known in module.program.modules.items() if known is module), None)
    return path is not None and _in_library(path)


def _in_library(path: Path) -> bool:
    if not {"site-packages", "dist-packages"}.isdisjoint(path.parts):
        return True
    return path.is_relative_to(Path(sysconfig.get_paths()["stdlib"]).resolve())


def _is_compiled(name: str, program: Program) -> bool:
    found = locate(name, program.folders)
    if found is None or found.kind != "compiled":
        return False
    return name in sys.builtin_module_names or _in_library(found.path.resolve())


def changed_in(module: StaticModule, name: str) -> int | None:
    """The first line that may change the contents of a module's value behind its assignment; None if none.

    An item or attribute is assigned, or the module calls a method of it, or gives it to a function for its
    effect.
    """
    lines = [*_written(module.tree, name)]
    for statement in module.tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func
            reports = isinstance(function, ast.Name) and function.id == "print"
            if not reports and _mentions(statement, name):
                lines.append(statement.lineno)
    return min(lines, default=None)


def _written(scope: ast.AST, name: str) -> list[int]:
    """Lines of `name[...] = ...`, `name.attribute = ...` and `del name[...]` where `name` is the module's."""
    found: list[int] = []
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and _binds(node, name):
            continue
        if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            inner: ast.expr = node
            while isinstance(inner, ast.Subscript | ast.Attribute):
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id == name:
                found.append(node.lineno)
        todo.extend(ast.iter_child_nodes(node))
    return found


def _binds(function: ast.AST, name: str) -> bool:
    stored = (isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(function))
    return any(stored) or any(isinstance(n, ast.arg) and n.arg == name for n in ast.walk(function))


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(node))
