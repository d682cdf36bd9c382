"""What a text needs from outside of it: what each free name means, and definitions that an output takes over.

What a name of a generated text means outside of it is something that an output can hold or import. Functions that a
standalone module takes over are laid out as black has it, with their comments: a statement that is laid out so stays
as its author wrote it; annotations stay that Python, typing and NumPy suffice for. Values of a module that another
run of their line would not give (random numbers, the time) are refused.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import re
import sys
import textwrap
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any  # names mean arbitrary objects

import gast

from srcgrad import runtime
from srcgrad.backend.text.changed_values import (
    Steps,
    changed_functions,
    changes,
    draws_elsewhere,
    is_read_early,
    steps_of,
)
from srcgrad.core.bindings import (
    STAR,
    Binding,
    Definition,
    Program,
    StaticFunction,
    StaticModule,
    binding_of_text,
    is_in_library,
    is_installed,
    is_trusted,
    locate,
)
from srcgrad.core.identity import holder, record
from srcgrad.core.printer import docstring, expression, parameters, statement, wrap_definition
from srcgrad.core.source_text import FunctionNode, comments, segment
from srcgrad.core.trees import Block, Node, parse_tree, same_tree, walk
from srcgrad.frontend.calls.side_effects import drawing_methods


def draws(expression: str, module: StaticModule) -> bool:
    """Whether an expression draws from a source that other lines of its module may have drawn from before.

    `np.random.default_rng(7).normal(size=3)` gives the same wherever it stands, and so does a draw from a generator
    with a seed that nothing else of the module mentions.
    """
    calls = [node for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Call)]
    return any(_draws(call, module) for call in calls)


def _draws(call: ast.Call, module: StaticModule) -> bool:
    found = binding_of_text(call.func, module)
    if found is not None and found.object is not None:
        return draws_elsewhere(found.object, call)
    method = call.func
    if (
        not isinstance(method, ast.Attribute)
        or method.attr not in drawing_methods()
        or not isinstance(method.value, ast.Name)
    ):
        return False
    held = method.value.id
    return sum(isinstance(node, ast.Name) and node.id == held for node in ast.walk(module.tree)) > 2


@record(frozen=True)
class OutputFunction:
    """A function of the output itself."""

    name: str


@record(frozen=True)
class Builtin:
    """A name that needs no definition: Python's own, or one that nothing binds, as in the user's program."""

    name: str


@record(frozen=True)
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


@record(frozen=True)
class CopiedDefinition:
    """A function or a value that the output takes over as text: a `def`, or `name = expression`.

    A value that the module changes behind its assignment comes from a function of its `steps`, named by the expression.
    """

    module: StaticModule
    name: str
    function: StaticFunction | None = field(default=None, compare=False)
    expression: str = field(default="", compare=False)
    steps: Steps | None = field(default=None, compare=False)

    @property
    def maker(self) -> CopiedDefinition | None:
        """The function of the steps that the value comes from."""
        if self.steps is None or not self.expression:
            return None
        return CopiedDefinition(self.module, self.expression.removesuffix("()"), steps=self.steps)


@record(frozen=True)
class Literal:
    """A value that a literal spells."""

    text: str


@record(frozen=True)
class OutsideObject:
    """An object of a running program that the text is executed with."""

    identity: int
    value: Any = field(compare=False)


@record(frozen=True)
class UnknownName:
    """A name that cannot be told, and why."""

    reason: str


Meaning = OutputFunction | Builtin | Import | CopiedDefinition | Literal | OutsideObject | UnknownName


@record(frozen=True)
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


@record(frozen=True)
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
        """What a name means to the functions of a module; a value of several steps comes from its statements."""
        found = self._member(module, name)
        if isinstance(found, UnknownName) and _holds_value(module, name) and not is_installed(module):
            steps = steps_of(module, name)
            return _from_steps(module, name, steps) if isinstance(steps, Steps) else found
        return found

    def _member(self, module: StaticModule, name: str) -> Target:
        defined = module.table.get(name, [])
        stars = [star for star in module.table.get(STAR, []) if not defined or star.line > defined[0].line]
        if len(defined) == 1 and defined[0].certain and not stars:
            [only] = defined
            if only.kind == "import":
                return self._resolve_import(module, only)
            parts = () if only.node is None or module.is_bound_anew(only) else _dotted_parts(only.node)
            if parts:
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
        home = found.module if found.module is not None and name not in module.table else module  # by a star
        return _value_meaning(found, home, name)

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
    if lines := changed_functions(static.module, static.qualname):
        return UnknownName(f"line {lines[0]} of {static.module.label} changes {static.qualname}")
    return CopiedDefinition(static.module, static.qualname, static)


def _value_meaning(found: Binding, module: StaticModule, name: str) -> Meaning:
    if found.expression is None:
        return UnknownName(f"{name} is computed in more than one step in {module.label}")
    changed = changes(module, name)
    drawn = draws(found.expression, module)
    if not changed and not drawn and not is_read_early(module, name):
        return CopiedDefinition(module, name, None, found.expression)
    steps = steps_of(module, name)
    if isinstance(steps, Steps):
        return _from_steps(module, name, steps)
    if changed:
        return UnknownName(f"line {changed[0]} of {module.label} may change {name}, and {steps}")
    return UnknownName(f"{name} holds what {module.label} draws, and a copy of the line may draw something else")


def _from_steps(module: StaticModule, name: str, steps: Steps) -> CopiedDefinition:
    maker = f"value_of_{name}"
    while maker in module.table:
        maker += "_"
    return CopiedDefinition(module, name, None, f"{maker}()", steps)


def _holds_value(module: StaticModule, name: str) -> bool:
    """Whether all that binds a name of a module gives it a value."""
    kinds = {one.kind for one in module.table.get(name, [])}
    return "value" in kinds and kinds <= {"value", "deleted"}


def _submodules(target: Target, parts: tuple[str, ...]) -> tuple[str, ...]:
    """`scipy.special` for `scipy.special.erf` where `scipy` was imported: importing the parent may not do."""
    if not isinstance(target, Import) or target.member or target.module != parts[0] or parts[0] == "numpy":
        return ()
    program = Program((), tuple(Path(entry) for entry in sys.path if entry))
    names = [".".join(parts[:count]) for count in range(2, len(parts))]
    return tuple(name for name in names if locate(name, program.folders) is not None)


def _is_compiled(name: str, program: Program) -> bool:
    found = locate(name, program.folders)
    if found is None or found.kind != "compiled":
        return False
    return name in sys.builtin_module_names or is_in_library(found.path.resolve())


HOMES = ("builtins", "collections", "numbers", "numpy", "typing")
PARTS = (gast.Name, gast.Attribute, gast.Subscript, gast.Tuple, gast.List, gast.BinOp, gast.BitOr, gast.Load)


def plain_annotation(annotation: Node | None, lookup: Callable[[str], Binding | None]) -> Node | None:
    """The annotation, out of its quotes; None for one that needs more than NumPy where the text runs.

    >>> import numpy as np
    >>> known = {"np": Binding("object", np), "float": Binding("object", float)}
    >>> tree = gast.parse("def f(x: 'np.ndarray | float', y: Model, z: 'no type'): pass").body[0]
    >>> [plain_annotation(parameter.annotation, known.get) is not None for parameter in tree.args.args]
    [True, False, False]
    """
    if isinstance(annotation, gast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = parse_tree(annotation.value.strip(), "eval").body
        except SyntaxError:
            return None
    if annotation is None or not all(_is_part(node, lookup) for node in walk(annotation)):
        return None
    return annotation


def _is_part(node: Node, lookup: Callable[[str], Binding | None]) -> bool:
    if isinstance(node, gast.Constant):
        return node.value is None or node.value is ...
    if not isinstance(node, PARTS):
        return False
    if not isinstance(node, gast.Name):
        return True
    found = lookup(node.id)
    if found is None or found.kind != "object":
        return False
    known = found.object
    home = known.__name__ if isinstance(known, ModuleType) else getattr(known, "__module__", "") or ""
    return str(home).partition(".")[0] in HOMES


STEP = 4
TEXT = re.compile(r'(\w+ = |return )?"""[^"]*("""$|$)')  # text in lines of its own, which layout leaves alone
PRAGMA = re.compile(r"\s*# (type: ignore|noqa|ruff: noqa|fmt:)\S*")


class _UnusualStatement(Exception):  # noqa: N818  (it leaves a recursion, and meets no user)
    """A statement that is left as it is."""


def tidy_body(
    body: Block, lines: Sequence[str], comments: Mapping[int, str], after: int, indent: int
) -> list[str] | None:
    """The statements of a function below line `after`; None where some are of a kind that is not laid out here.

    `lines` are those of the file, `comments` the remarks by their line.

    >>> import gast
    >>> text = ["def f(x):", "  if x>0: # when", "    # twice", "    x=x  *2"]
    >>> print(*tidy_body(gast.parse("\\n".join(text)).body[0].body, text, {2: "# when", 3: "# twice"}, 1, 4), sep="\\n")
        if x > 0:  # when
            # twice
            x = x * 2
    """
    layout = _Layout(lines, comments, after)
    try:
        layout.block(body, indent)
    except _UnusualStatement:
        return None
    return layout.made if _means_the_same(body, layout.made, indent) else None


def tidied_statement(node: Node, lines: Sequence[str], comments: Mapping[int, str], indent: int) -> list[str]:
    """The lines of one statement that holds no others, with the comments in it."""
    layout = _Layout(lines, comments, node.lineno - 1)
    layout.lay_out_simple(node, indent)
    return layout.made


def _means_the_same(body: Block, made: list[str], indent: int) -> bool:
    margin = [f"{' ' * depth}if 1:" for depth in range(0, indent, STEP)]
    found = parse_tree("\n".join([*margin, *made])).body
    for _ in margin:
        found = found[0].body
    return len(found) == len(body) and all(map(same_tree, found, body))


@record
class _Layout:
    """The lines made so far, and the last line of the source that has been dealt with."""

    lines: Sequence[str]
    comments: Mapping[int, str]
    done: int
    made: list[str] = field(default_factory=list)

    def block(self, body: Block, indent: int) -> None:
        """The statements of a block, and the comments at its end."""
        start = len(self.made)
        for number, node in enumerate(body):
            gap = number > 0 and gast.FunctionDef in (type(node), type(body[number - 1]))
            self._put_comments_above(_first_line(node), indent, start, gap)
            if isinstance(node, gast.If | gast.For | gast.While | gast.With | gast.FunctionDef):
                self._compound(node, indent)
            elif isinstance(node, gast.Try):
                self._try(node, indent)
            elif hasattr(node, "body") or hasattr(node, "cases"):
                raise _UnusualStatement
            else:
                self.lay_out_simple(node, indent)
        column, last = body[-1].col_offset, self.done
        for line in range(self.done + 1, len(self.lines) + 1):
            text = self.lines[line - 1]
            if line in self.comments and text.lstrip().startswith("#") and len(text) - len(text.lstrip()) >= column:
                last = line
            elif text.strip():
                break
        self._put_comments_above(last + 1, indent, start)

    def _put_comments_above(self, line: int, indent: int, start: int, gap: bool = False) -> None:
        """Comments and an empty line above a line; `start` is where the block begins."""
        for number in range(self.done + 1, line):
            gap = gap or not self.lines[number - 1].strip()
            if number in self.comments and not PRAGMA.match(self.comments[number]):
                self._gap(gap, start)
                self.made.append(" " * indent + self.comments[number])
                gap = False
        if line <= len(self.lines):
            self._gap(gap, start)
        self.done = max(self.done, line - 1)

    def _gap(self, wanted: bool, start: int) -> None:
        if wanted and len(self.made) > start and self.made[-1]:
            self.made.append("")

    def lay_out_simple(self, node: Node, indent: int) -> None:
        """One statement that holds no others."""
        first, last = node.lineno, node.end_lineno
        printed = statement(node, indent, WIDTH)
        alone = not self.lines[first - 1][: node.col_offset].strip() and self._ends(last, node.end_col_offset)
        self._source_or_printed(first, last, printed, indent, alone)

    def _ends(self, line: int, column: int) -> bool:
        """Whether nothing but a comment follows in a line."""
        rest = self.lines[line - 1].encode()[column:].decode().strip()
        return not rest or rest.startswith("#")

    def _source_or_printed(self, first: int, last: int, printed: list[str], indent: int, alone: bool) -> None:
        """The lines of the source if they are laid out well, else what is printed with their comments."""
        raw = [line.rstrip() for line in self.lines[first - 1 : last]]
        here = [self.comments[n] for n in range(first, last + 1) if n in self.comments]
        remarks = [remark for remark in here if not PRAGMA.match(remark)]
        margin = len(raw[0]) - len(raw[0].lstrip())
        bare = _bare_text([_strip_comment(line, self.comments.get(n)) for n, line in enumerate(raw, first)])
        fits = all(len(line) <= WIDTH for line in raw) and margin == indent and len(here) == len(remarks)
        if alone and fits and ((bare == _bare_text(printed) and _is_opened(raw, here)) or TEXT.match(raw[0].lstrip())):
            self.made += raw
        elif len(remarks) == 1 and len(printed) == 1 and len(f"{printed[0]}  {remarks[0]}") <= WIDTH:
            self.made.append(f"{printed[0]}  {remarks[0]}")
        else:
            self.made += [" " * indent + remark for remark in remarks] + printed
        self.done = max(self.done, last)

    def _compound(self, node: Node, indent: int, word: str = "") -> None:
        shallow = type(node)(**{name: getattr(node, name) for name in node._fields})
        shallow.body = [gast.Pass()]
        if hasattr(node, "orelse"):
            shallow.orelse = []
        printed = statement(shallow, indent, WIDTH)[:-1]
        if word:
            printed[0] = printed[0].replace("if", word, 1)
        first, last = _first_line(node), self._end_of_header(node)
        self._source_or_printed(first, last, printed, indent, last < _first_line(node.body[0]))
        self.block(node.body, indent + STEP)
        others = getattr(node, "orelse", None) or []
        if not others:
            return
        [other, *more] = others
        if not more and self.lines[other.lineno - 1][other.col_offset :].startswith("elif"):
            self._put_comments_above(other.lineno, indent, len(self.made))
            self._compound(other, indent, "elif")
            return
        self.made.append(" " * indent + "else:")
        self.block(others, indent + STEP)

    def _try(self, node: Node, indent: int) -> None:
        margin = " " * indent
        self.made.append(f"{margin}try:")
        self.block(node.body, indent + STEP)
        for handler in node.handlers:
            kind = "" if handler.type is None else f" {expression(handler.type)}"
            name = "" if handler.name is None else f" as {handler.name.id}"
            self._put_comments_above(handler.lineno, indent, len(self.made))
            self.made.append(f"{margin}except{kind}{name}:")
            self.block(handler.body, indent + STEP)
        for word, body in (("else", node.orelse), ("finally", node.finalbody)):
            if body:
                self.made.append(f"{margin}{word}:")
                self.block(body, indent + STEP)

    def _end_of_header(self, node: Node) -> int:
        """The line of the colon in front of the body; that of the body where they share it."""
        body = _first_line(node.body[0])
        above = range(body - 1, node.lineno - 1, -1)
        return next((n for n in above if _strip_comment(self.lines[n - 1], self.comments.get(n))), body)


def _is_opened(raw: Sequence[str], remarks: Sequence[str]) -> bool:
    """Whether a statement of several lines is broken behind its first bracket and in front of its last one."""
    start = raw[0]
    for remark in remarks:
        start = start.removesuffix(remark).rstrip()
    closing = raw[-1].lstrip()[:1] in tuple(")]}") and raw[-1].index(raw[-1].lstrip()) == raw[0].index(raw[0].lstrip())
    return len(raw) == 1 or (start[-1:] in tuple("([{") and closing)


def _first_line(node: Node) -> int:
    """The first line of a statement, its decorators included."""
    lines: list[int] = [node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]
    return min(lines)


def _strip_comment(line: str, comment: str | None) -> str:
    """A line without the comment at its end."""
    return line.strip() if comment is None else line.strip().removesuffix(comment).rstrip()


def _bare_text(lines: Sequence[str]) -> str:
    """Lines as one, without the brackets and commas by which layouts differ."""
    joined = ""
    for line in lines:
        text = line.strip()
        joined += text if not joined or joined[-1] in "([{" or text[:1] in ")]}" else f" {text}"
    return re.sub(r"[(),]", "", joined)


WIDTH = 88


def definition(meaning: CopiedDefinition | Literal, name: str, *, tidy: bool = False) -> str:
    """A `def` without decorators and annotations, or an assignment; the body is as its author wrote it.

    With `tidy`, it is laid out as black has it.
    """
    if isinstance(meaning, Literal):
        return f"{name} = {meaning.text}"
    if meaning.steps is not None and not meaning.expression:
        value = meaning.steps.name
        told = f'    """`{value}` as {meaning.module.label} leaves it behind line {meaning.steps.last}."""'
        return "\n".join([f"def {name}():", told, meaning.steps.text, f"    return {value}"])
    whole = meaning.module.table.get(meaning.name, [None])[-1]
    if whole is not None and isinstance(whole.node, ast.ClassDef):
        return _class(meaning, whole.node, name)
    if meaning.function is None:
        return _value(f"{name} = {meaning.expression}") if tidy else f"{name} = {meaning.expression}"
    node = meaning.function.node
    if isinstance(node, ast.Lambda):
        text = segment(meaning.module.lines, node)
        made = f"{name} = ({text}\n)" if "\n" in text else f"{name} = {text}"
        return _value(made) if tidy else made
    return _function(meaning.function, node, name, tidy)


def rename_definition(text: str, new: str) -> str:
    """A definition under another name."""
    head = text.removeprefix("async ").removeprefix("def ").removeprefix("class ")
    own = head.partition("(")[0].partition(" =")[0].partition(":")[0]
    return text[: len(text) - len(head)] + new + head[len(own) :] if own != new else text


def _function(
    function: StaticFunction, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str, tidy: bool = True
) -> str:
    lines = textwrap.dedent("\n".join(function.module.lines[node.lineno - 1 : node.end_lineno])).split("\n")
    own = function.module.name.partition(".")[0] == "srcgrad"
    if not (own or tidy or _is_annotated(node)):
        return "\n".join(line.rstrip() for line in lines)
    last, column = _end_of_header(lines)
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    arguments, returns = _parameters_and_body(function, tidy and not own)
    header = wrap_definition(f"{word} {name}", parameters(arguments), f"{returns}:", indent=0, width=WIDTH)
    known = _laid_out(function, node, node.lineno + last, own) if own or tidy else None
    if known is not None:
        return "\n".join([*header, *known])
    behind = lines[last][column:].strip()
    body = ([f"    {behind}"] if behind and not behind.startswith("#") else []) + lines[last + 1 :]
    return "\n".join(line.rstrip() for line in [*header, *body])


def _laid_out(function: StaticFunction, node: FunctionNode, after: int, own: bool) -> list[str] | None:
    """The body, below line `after`, as black has it; the docstring of functions of our own is cut short."""
    source = function.source
    body, text = source.tree.body, ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
    if isinstance(node, ast.Lambda | ast.AsyncFunctionDef):
        return None
    head: list[str] = []
    if text is not None:
        first, after, body = body[0].lineno, body[0].end_lineno, body[1:]
        head = _first_paragraph(text) if own else _docstring(text, source.lines[first - 1 : after])
    rest = tidy_body(body, source.lines, source.comments, after, 4) if body else []
    return None if rest is None else [*head, *rest]


def _value(text: str) -> str:
    """An assignment as black has it."""
    if text.endswith("\n)"):  # brackets around several lines, which need not be the author's
        with contextlib.suppress(SyntaxError):
            bare = text.replace(" = (", " = ", 1).removesuffix("\n)")
            parse_tree(bare)
            text = bare
    lines = tuple(text.split("\n"))
    return "\n".join(tidied_statement(parse_tree(text).body[0], lines, comments(lines, 1, len(lines)), 0))


def _class(meaning: CopiedDefinition, node: ast.ClassDef, name: str) -> str:
    """A class of the library: its methods one by one, without the annotations of its attributes."""
    summary = (ast.get_docstring(node) or "").partition("\n\n")[0]
    lines = [f"class {name}:", *(" " * 4 + docstring("\n    ".join(textwrap.wrap(summary, WIDTH - 10)))).split("\n")]
    for method in node.body:
        if isinstance(method, ast.FunctionDef):
            text = _function(StaticFunction(meaning.module, method.name, method), method, method.name)
            bare = re.sub(r"(?m)^( *self\.\w+): .*? = ", r"\1 = ", text)
            lines += ["", *(f"    {line}".rstrip() for line in bare.split("\n"))]
    return "\n".join(lines)


def _is_annotated(node: FunctionNode) -> bool:
    returns = getattr(node, "returns", None) is not None
    return returns or any(isinstance(n, ast.arg) and n.annotation is not None for n in ast.walk(node.args))


def _parameters_and_body(function: StaticFunction, keep: bool) -> tuple[Node, str]:
    """The parameters and what stands behind them: without annotations, or with those that need NumPy alone."""
    tree = function.source.tree
    arguments = tree.args
    for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if each is not None:
            each.annotation = plain_annotation(each.annotation, function.module.lookup) if keep else None
    returned = plain_annotation(tree.returns, function.module.lookup) if keep else None
    return arguments, "" if returned is None else f" -> {expression(returned)}"


def _end_of_header(lines: list[str]) -> tuple[int, int]:
    """Line and column behind the colon that ends a signature."""
    depth = 0
    supply = iter(line + "\n" for line in lines)
    for token in tokenize.generate_tokens(lambda: next(supply, "")):
        if token.type != tokenize.OP:
            continue
        if token.string in "([{":
            depth += 1
        elif token.string in ")]}":
            depth -= 1
        elif token.string == ":" and depth == 0:
            return token.end[0] - 1, token.end[1]
    raise AssertionError("a parsed signature ends with a colon")


def _first_paragraph(text: str) -> list[str]:
    """The first paragraph of a docstring: examples belong to the library's manual."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return (" " * 4 + docstring("\n    ".join(textwrap.wrap(paragraph, WIDTH - 10)))).split("\n")


def _docstring(text: str, lines: Sequence[str]) -> list[str]:
    """The docstring of a user, as it is where it is indented by four blanks."""
    if lines[0].startswith('    """'):
        return [line.rstrip() for line in lines]
    inner = "\n".join(f"    {line}".rstrip() for line in text.split("\n")).strip()
    return (" " * 4 + docstring(f"{inner}\n    " if "\n" in inner else inner)).split("\n")
