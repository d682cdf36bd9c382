"""The free names of a text: what each means, and how an output holds or imports it.

Values of a module that another run of their line would not give: random numbers, the time.

What a name of a generated text means outside of it: something that an output can hold or import.

What the names of a module known only as text mean: an import, or text that the output takes over.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any  # names mean arbitrary objects

from srcgrad import runtime
from srcgrad.core.bindings import Binding, Program, StaticFunction, StaticModule, attribute
from srcgrad.core.identity import holder
from srcgrad.core.module_text import STAR, Definition, is_trusted, locate
from srcgrad.frontend.calls.checkpoint_safety import DRAWS, MODULES, SOURCES


def draws(expression: str, module: StaticModule) -> bool:
    """Whether an expression draws from a source that other lines of its module may have drawn from before.

    `np.random.default_rng(7).normal(size=3)` gives the same wherever it stands, and so does a draw from a generator
    with a seed that nothing else of the module mentions.
    """
    calls = [node for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Call)]
    return any(_draws(call, module) for call in calls)


def _draws(call: ast.Call, module: StaticModule) -> bool:
    found = _binding_of_node(call.func, module)
    if found is not None and found.object is not None:
        drawn = isinstance(getattr(found.object, "__self__", None), SOURCES)
        seeded = bool(call.args or call.keywords)  # `default_rng(7)`
        return drawn or (str(getattr(found.object, "__module__", None)).startswith(MODULES) and not seeded)
    method = call.func
    if not isinstance(method, ast.Attribute) or method.attr not in DRAWS or not isinstance(method.value, ast.Name):
        return False
    held = method.value.id
    return sum(isinstance(node, ast.Name) and node.id == held for node in ast.walk(module.tree)) > 2


def _binding_of_node(node: ast.expr, module: StaticModule) -> Binding | None:
    if isinstance(node, ast.Name):
        return module.lookup(node.id)
    base = _binding_of_node(node.value, module) if isinstance(node, ast.Attribute) else None
    return attribute(base, node.attr) if base is not None and isinstance(node, ast.Attribute) else None


@dataclass(frozen=True)
class OutputFunction:
    """A function of the output itself."""

    name: str


@dataclass(frozen=True)
class Builtin:
    """A name that needs no definition: Python's own, or one that nothing binds, as in the user's program."""

    name: str


@dataclass(frozen=True)
class Import:
    """A module, or a member of one."""

    module: str
    member: str = ""

    def line(self, name: str) -> str:
        """The import that binds it to `name`.

        >>> [Import("numpy").line("np"), Import("math", "pi").line("pi"), Import("os.path").line("path")]
        ['import numpy as np', 'from math import pi', 'from os import path']
        """
        if self.member:
            return f"from {self.module} import {self.member}" + ("" if name == self.member else f" as {name}")
        package, _, last = self.module.rpartition(".")
        if package and last == name:
            return f"from {package} import {last}"
        return f"import {self.module}" + ("" if name == self.module else f" as {name}")


@dataclass(frozen=True)
class CopiedDefinition:
    """A function or a value that the output takes over as text: a `def`, or `name = expression`."""

    module: StaticModule
    name: str
    function: StaticFunction | None = field(default=None, compare=False)
    expression: str = field(default="", compare=False)


@dataclass(frozen=True)
class Literal:
    """A value that a literal spells."""

    text: str


@dataclass(frozen=True)
class OutsideObject:
    """An object of a running program that the text is executed with."""

    identity: int
    value: Any = field(compare=False)


@dataclass(frozen=True)
class UnknownName:
    """A name that cannot be told, and why."""

    reason: str


Meaning = OutputFunction | Builtin | Import | CopiedDefinition | Literal | OutsideObject | UnknownName


@dataclass(frozen=True)
class DottedMeaning:
    """The meaning of the first `count` parts of a dotted name; `also` are submodules to import."""

    meaning: Meaning
    count: int = 1
    also: tuple[str, ...] = ()


def is_builtin(name: str, value: object) -> bool:
    """Whether a name means what it means to Python itself."""
    return name in vars(builtins) and vars(builtins)[name] is value


def import_of_value(value: object) -> Import | None:
    """The import of a module, or of a function or class of NumPy, SciPy or the runtime; None otherwise.

    >>> import_of_value(sys.modules["math"].sin), import_of_value(runtime.sum_to), import_of_value(0.5)
    (Import(module='math', member='sin'), Import(module='srcgrad.runtime', member='sum_to'), None)
    """
    if isinstance(value, ModuleType):
        return Import(value.__name__) if sys.modules.get(value.__name__) is value else None
    if (held := holder(value)) is not None:
        return Import(*held)
    name = getattr(value, "__name__", None)
    home = getattr(value, "__module__", None)
    if not isinstance(name, str):
        return None
    homes = [runtime.__name__, "numpy", "scipy.special"]
    if isinstance(home, str):
        homes[1:1] = [home.lstrip("_").split("._")[0], home]
    for module in dict.fromkeys(homes):
        known = sys.modules.get(module)
        if known is not None and is_library(module) and vars(known).get(name) is value:
            return Import(module, name)
    return None


def is_library(module: str) -> bool:
    """Whether a module is one that other programs have as well, not the user's own."""
    return is_trusted(module) or module.partition(".")[0] == "scipy"


def literal(value: object) -> Literal | None:
    """The literal of a plain constant; None where it has none that gives it back.

    >>> literal(0.5), literal((1, "a")), literal([1.0])
    (Literal(text='0.5'), Literal(text="(1, 'a')"), None)
    """
    text = repr(value)
    try:
        same = type(value) in (int, float, str, bool, tuple, type(None)) and ast.literal_eval(text) == value
    except (ValueError, SyntaxError):  # inf, nan, objects in a tuple
        return None
    return Literal(text) if same else None


def from_home(function: FunctionType, name: str, value: object) -> Import | None:
    """The import of a global name from the module of the function that reads it."""
    module = sys.modules.get(function.__module__ or "")
    if module is None or not is_library(module.__name__) or vars(module).get(name, module) is not value:
        return None
    return Import(module.__name__, name)


Target = Meaning | StaticModule  # a module of the user's own has no place in the output: only what is in it


@dataclass(frozen=True)
class Globals:
    """Looks up names in modules known as text; `embed` takes over what is srcgrad's own, too."""

    embed: bool = False
    own: dict[str, StaticModule] = field(default_factory=dict)  # texts of srcgrad's modules

    def find(self, module: StaticModule, parts: tuple[str, ...], known: Binding | None = None) -> DottedMeaning:
        """The meaning of a dotted name that functions of `module` read, the first part of which may be `known`."""
        first = self.member(module, parts[0]) if known is None else self._resolve_binding(known, module, parts[0])
        target, count = first, 1
        while isinstance(target, StaticModule):
            if count == len(parts):
                return DottedMeaning(UnknownName(f"{'.'.join(parts)} is a module of your own, used as a value"), count)
            target, count = self.attribute(target, parts[count]), count + 1
        return DottedMeaning(target, count, _submodules(target, parts) if count == 1 else ())

    def member(self, module: StaticModule, name: str) -> Target:
        """What a name means to the functions of a module."""
        defined = module.table.get(name, [])
        stars = [star for star in module.table.get(STAR, []) if not defined or star.line > defined[0].line]
        if len(defined) == 1 and defined[0].certain and not stars:
            [only] = defined
            if only.kind == "import":
                return self._resolve_import(module, only)
            if only.node is not None and (parts := _dotted_parts(only.node)):
                return self._resolve_in_module(module, parts)
            if isinstance(only.node, ast.ClassDef) and self.own.get(module.name) is module:
                return CopiedDefinition(module, name)
        return self._resolve_binding(module.lookup(name), module, name)

    def attribute(self, module: StaticModule, name: str) -> Target:
        """What a name is, asked from outside of its module."""
        if name in module.table:
            return self.member(module, name)
        return self._resolve_binding(module.attribute(name), module, name)

    def _resolve_in_module(self, module: StaticModule, parts: tuple[str, ...]) -> Target:
        found = self.find(module, parts)
        rest = parts[found.count :]
        if not rest:
            return found.meaning
        if isinstance(found.meaning, Import) and not found.meaning.member:
            return Import(".".join([found.meaning.module, *rest[:-1]]), rest[-1])
        return UnknownName(f"{'.'.join(parts)} is an attribute of a value")

    def _resolve_import(self, module: StaticModule, found: Definition) -> Target:
        absolute = module._absolute_module(found)
        if absolute is None:
            return UnknownName(f"line {found.line} of {module.label} imports from above its package")
        target = module.program.module(absolute)
        if isinstance(target.object, ModuleType):
            if self.embed and absolute.partition(".")[0] == "srcgrad":
                return self._resolve_live_value(target.object, found.member)
            known = not found.member or hasattr(target.object, found.member)
            known = known or module.program.module(f"{absolute}.{found.member}").kind != "unknown"
            return Import(absolute, found.member) if known else UnknownName(f"{absolute} has no {found.member}")
        if target.module is not None and not is_installed(target.module):
            return self.attribute(target.module, found.member) if found.member else target.module
        if target.kind == "module" or _is_compiled(absolute, module.program):
            return Import(absolute, found.member)
        return UnknownName(target.reason)

    def _resolve_binding(self, found: Binding | None, module: StaticModule, name: str) -> Target:
        if found is None:
            return UnknownName(f"nothing in {module.label} binds it")
        if found.kind == "unknown":
            return UnknownName(found.reason)
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
            return self._resolve_live_value(sys.modules[str(value.__module__)], str(getattr(value, "__name__", "")))
        return import_of_value(value) or UnknownName(f"no import gives {name}")

    def _resolve_live_value(self, module: ModuleType, member: str) -> Target:
        value = getattr(module, member, None) if member else module
        home = module if isinstance(value, ModuleType | None) else sys.modules[value.__module__]
        known = self.own.get(home.__name__)
        if known is None:
            label = f"{home.__name__.rpartition('.')[2]}.py"
            known = StaticModule(Program((), ()), home.__name__, label, inspect.getsource(home), False)
            self.own[home.__name__] = known
        return self.attribute(known, member) if member else known


def _dotted_parts(node: ast.AST) -> tuple[str, ...]:
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
        return UnknownName(f"{static.qualname} is decorated by {', '.join(static.decorators)}")
    return CopiedDefinition(static.module, static.qualname, static)


def _value(found: Binding, module: StaticModule, name: str) -> Meaning:
    if found.expression is None:
        return UnknownName(f"{name} is computed in more than one step in {module.label}")
    changed = None if _is_plain(found.expression) else changed_in(module, name)
    if changed is not None:
        return UnknownName(f"line {changed} of {module.label} may change {name}")
    if draws(found.expression, module):
        return UnknownName(f"{name} holds what {module.label} draws, and a copy of the line may draw something else")
    return CopiedDefinition(module, name, None, found.expression)


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
    lines = [*_write_lines(module.tree, name)]
    for statement in module.tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func
            reports = isinstance(function, ast.Name) and function.id == "print"
            if not reports and _mentions(statement, name):
                lines.append(statement.lineno)
    return min(lines, default=None)


def _write_lines(scope: ast.AST, name: str) -> list[int]:
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
