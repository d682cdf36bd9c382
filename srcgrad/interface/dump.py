"""Derivatives of functions known only as text, as the text of one module: nothing of theirs is run.

The modules of users are read, and rules that they declare. Only where functions of a target are asked for live, its
module is run, and leaves nothing behind in the list of modules. The lines at the top of a standalone module tell how it
was made.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import linecache
import os
import re
import shlex
import sys
import textwrap
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any  # names of a text mean arbitrary objects

import srcgrad.templates as templates
from srcgrad.analysis.argument_kinds import kinds_of_annotations
from srcgrad.backend.targets import target_named as targets_named
from srcgrad.backend.text.changed_values import note_changes
from srcgrad.backend.text.definitions import CopiedDefinition, Globals, Meaning, OutputFunction
from srcgrad.backend.text.module import WIDTH, Pieces, body, follower, gap, header, import_lines, remark, write
from srcgrad.core import __version__
from srcgrad.core.bindings import StaticFunction, StaticModule, attribute, binding_of_text, is_installed
from srcgrad.core.errors import DifferentiationError, Place
from srcgrad.core.facts import Names
from srcgrad.core.files import collection_paused, load
from srcgrad.core.identity import Function
from srcgrad.core.marks import is_opaque, opaque, reveal, safe_where
from srcgrad.core.rules import (
    Rule,
    UserForms,
    adjoint,
    forget,
    nondifferentiable,
    register,
    register_own,
    rule_of,
    tangent,
)
from srcgrad.core.source_text import BLOCKS, label_of, maker_of
from srcgrad.core.target import DEFAULT, Target
from srcgrad.derive.row_blocks import Blocks
from srcgrad.frontend.functions_with_rules import call_of
from srcgrad.interface.api.arguments import active_parameters, check_names, named_parameters
from srcgrad.interface.api.row_blocks import blocked_text, checked_rows
from srcgrad.interface.api.user_rules import (
    TAKES,
    adapt_rule,
    register_jvp,
    register_vjp,
    second_rule_error,
    sensitivity,
)
from srcgrad.interface.targets import find_target
from srcgrad.module import Module
from srcgrad.pipeline import DerivedText

_FORMS: tuple[object, ...] = (
    register_vjp, register_jvp, sensitivity, adjoint, tangent, opaque, nondifferentiable, safe_where,
)  # fmt: skip
_MARKS = (opaque, nondifferentiable, safe_where)
_KINDS = ("elementwise", "linear", "multilinear")


@contextlib.contextmanager
def declared_rules(functions: Sequence[StaticFunction]) -> Iterator[Callable[[StaticFunction], bool]]:
    """The rules that the modules of these functions, and modules that they import, declare; gone afterwards.

    Gives a test that tells whether a function is such a rule. Raises E5012 for a rule that the text does not tell.
    """
    templates.load()
    work = _DeclaredForms()
    try:
        for module in _modules_reached(functions):
            work.read(module)
        work.enter()
        yield lambda function: id(function.node) in work.written
    finally:
        for function in work.entered:
            forget(function)
            reveal(function)


def _modules_reached(functions: Sequence[StaticFunction]) -> list[StaticModule]:
    """The user's own modules that functions can reach by imports."""
    found: list[StaticModule] = []
    todo = [function.module for function in functions]
    while todo:
        module = todo.pop(0)
        if any(module is known for known in found) or is_installed(module):
            continue
        found.append(module)
        for defined in module.table.values():
            for one in (d for d in defined if d.kind in ("import", "star")):
                name = module._absolute_module(one)
                base = module.program.module(name) if name and not name.startswith("srcgrad") else None
                below = None if base is None or not one.member else attribute(base, one.member)
                todo += [b.module for b in (base, below) if b is not None and b.module is not None]
    return found


@dataclass
class _DeclaredForms:
    """What is declared of each function, by its node."""

    functions: dict[int, StaticFunction] = field(default_factory=dict)
    own: dict[int, UserForms] = field(default_factory=dict)
    rules: dict[int, Rule] = field(default_factory=dict)
    entered: list[StaticFunction] = field(default_factory=list)
    written: list[int] = field(default_factory=list)  # nodes of functions that are rules

    def read(self, module: StaticModule) -> None:
        """Note what the statements of a module declare."""
        if "srcgrad" not in module.text:
            return
        seen: set[int] = set()
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    self._decorator(decorator, node, module, seen)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                self._call(node.value, module, seen)
        for call in (n for n in ast.walk(module.tree) if isinstance(n, ast.Call | ast.Name | ast.Attribute)):
            if id(call) not in seen and isinstance(call, ast.Call) and _form(call.func, module)[0] is not None:
                raise _cannot_read_rule(call, module)
        self._check_classes(module)

    def _check_classes(self, module: StaticModule) -> None:
        inner = [n for c in ast.walk(module.tree) if isinstance(c, ast.ClassDef) for n in c.body]
        for node in (n for n in inner if isinstance(n, ast.FunctionDef)):
            for decorator in node.decorator_list:
                if _form(decorator, module)[0] is not None:
                    raise _cannot_read_rule(decorator, module)

    def _decorator(self, node: ast.expr, defined: ast.FunctionDef, module: StaticModule, seen: set[int]) -> None:
        called = node if isinstance(node, ast.Call) else None
        form, kind = _form(called.func if called is not None else node, module)
        if form is None:
            return
        seen.add(id(called))
        function = StaticFunction(module, defined.name, defined)
        if called is None and form in _MARKS:
            self._mark(function, form)
        elif called is not None and called.args:
            self._rule(form, kind, called, function, module)
        else:
            raise _cannot_read_rule(node, module)

    def _call(self, call: ast.Call, module: StaticModule, seen: set[int]) -> None:
        """`register_vjp(f, rule)`, `sensitivity(f, arg=0)(rule)`, `opaque(f)`."""
        inner = call.func if isinstance(call.func, ast.Call) else None
        form, kind = _form(inner.func if inner is not None else call.func, module)
        if form is None:
            return
        seen |= {id(call), id(inner)}
        if form in _MARKS and inner is None:
            function = _function(call.args[0], module) if call.args else None
            if function is None:
                raise _cannot_read_rule(call, module)
            self._mark(function, form)
            return
        last = call.args[-1] if call.args else None
        rule = _function(last, module) if inner is not None or len(call.args) > 1 else None
        if rule is None:
            raise _cannot_read_rule(call, module)
        self._rule(form, kind, call if inner is None else inner, rule, module)

    def _mark(self, function: StaticFunction, form: object) -> None:
        if form is safe_where:
            return
        self.functions[id(function.node)] = function
        if form is opaque:
            self.own.setdefault(id(function.node), UserForms())
        else:
            name = f"{function.module.name}.{function.qualname}"
            self.rules[id(function.node)] = Rule(function, name, "constant")

    def _rule(self, form: object, kind: str, call: ast.Call, rule: StaticFunction, module: StaticModule) -> None:
        binding = binding_of_text(call.args[0], module)
        if binding is not None and binding.kind == "object":
            return  # of a function of a package: where it is called, it has the rule of the table, or none
        self.written.append(id(rule.node))
        function = None if binding is None else binding.static
        words = {word.arg: word.value for word in call.keywords}
        if function is None:
            raise _cannot_read_rule(call, module)
        key = id(function.node)
        self.functions[key] = function
        own = self.own.get(key, UserForms())
        if form in (adjoint, tangent):
            self._template(function, form, kind, words, rule)
        elif form is sensitivity:
            self.own[key] = _sensitivity(function, own, words, call, rule, module)
        else:
            call_of(function).check(rule, TAKES["vjp" if form is register_vjp else "jvp"])
            known = own.vjp if form is register_vjp else own.jvp
            if known is not None or (form is register_vjp and own.sensitivities):
                raise second_rule_error(function, known or next(iter(own.sensitivities.values())))
            self.own[key] = replace(own, vjp=rule) if form is register_vjp else replace(own, jvp=rule)

    def _template(
        self, function: StaticFunction, form: object, kind: str, words: dict[str | None, ast.expr], rule: StaticFunction
    ) -> None:
        known = self.rules.get(id(function.node))
        made = _as_template(rule)
        if known is None:
            known = Rule(function, f"{function.module.name}.{function.qualname}", kind or "general")
        if form is tangent:
            known = replace(known, tangent=made)
        else:
            known = replace(known, template=made, kind=kind or "general")
        cl = words.get("cl")
        if isinstance(cl, ast.Constant) and isinstance(cl.value, str):
            known = replace(known, cl=cl.value)
        self.rules[id(function.node)] = known

    def enter(self) -> None:
        """Put all rules into the table."""
        for key, function in self.functions.items():
            self.entered.append(function)
            own = self.own.get(key)
            if key in self.rules:
                register(self.rules[key])
            elif own is not None and own == UserForms():
                opaque(function)
            elif own is not None:
                register_own(adapt_rule(function, own))


def _form(node: ast.expr, module: StaticModule) -> tuple[object, str]:
    """Which form of a rule an expression names, and for a template its kind."""
    if isinstance(node, ast.Attribute) and node.attr in _KINDS:
        form, _ = _form(node.value, module)
        return (form, node.attr) if form is adjoint else (None, "")
    found = binding_of_text(node, module)
    value = found.object if found is not None and found.kind == "object" else None
    return next((form for form in _FORMS if form is value), None), ""


def _function(node: ast.expr | None, module: StaticModule) -> StaticFunction | None:
    found = binding_of_text(node, module)
    return None if found is None else found.static


def _sensitivity(
    function: StaticFunction,
    own: UserForms,
    words: dict[str | None, ast.expr],
    call: ast.Call,
    rule: StaticFunction,
    module: StaticModule,
) -> UserForms:
    asked = call.args[1] if len(call.args) > 1 else words.get("arg")
    names = call_of(function).positional
    place = asked.value if isinstance(asked, ast.Constant) else None
    if isinstance(place, int) and -len(names) <= place < len(names):
        place = names[place]
    adds = words.get("accumulate", ast.Constant(False))
    shared = _function(words["shared"], module) if "shared" in words else None
    if place not in names or not isinstance(adds, ast.Constant) or ("shared" in words and shared is None):
        raise _cannot_read_rule(call, module)
    slot, common = own.accumulators if adds.value else own.sensitivities, {} if shared is None else {str(place): shared}
    known = slot.get(str(place), own.vjp)
    if known is not None:
        raise second_rule_error(function, known)
    first = ("x_bar",) if adds.value else ("common",) if shared is not None else ()
    call_of(function).check(rule, (*first, "y", "y_bar", *names))
    if adds.value:
        return replace(own, accumulators={**own.accumulators, str(place): rule})
    return replace(own, sensitivities={**own.sensitivities, str(place): rule}, shared={**own.shared, **common})


def _as_template(rule: StaticFunction) -> Function:
    """A template from its text, the names that it reads bound to what they mean there.

    E5012 for a default that is no literal, which would be computed where the template is made.
    """
    source = rule.source
    names: dict[str, object] = {}
    for node in ast.walk(rule.node):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found = rule.module.lookup(node.id)
            if found is not None and found.kind in ("object", "function"):
                names[node.id] = found.object if found.static is None else found.static
    bare = ast.parse(ast.unparse(rule.node)).body[0]
    assert isinstance(bare, ast.FunctionDef), "a template is a function"
    bare.decorator_list, bare.returns = [], None
    for parameter in (n for n in ast.walk(bare.args) if isinstance(n, ast.arg)):
        parameter.annotation = None
    for default in [*bare.args.defaults, *(d for d in bare.args.kw_defaults if d is not None)]:
        if not _is_literal(default):
            raise _cannot_read_rule(rule.node, rule.module)
    title = f"{rule.module.name}.{source.name}"
    made: object = load(f"{ast.unparse(ast.fix_missing_locations(bare))}\n", bare.name, title, names)
    assert isinstance(made, FunctionType) and inspect.isfunction(made), "a def makes a function"
    made.__module__ = rule.module.name
    return made


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _cannot_read_rule(node: ast.AST, module: StaticModule) -> DifferentiationError:
    line = getattr(node, "lineno", 0)
    return DifferentiationError(
        "E5012",
        f"line {line} of {module.label} declares a rule that its text does not tell",
        "declare it at module level, of a function that the module defines or imports, by a function that it defines",
    )


PRIVATE = "srcgrad_target"  # no module of a user is called that


@contextlib.contextmanager
def module_of(target: str, text: str | None = None) -> Iterator[ModuleType]:
    """The module of a target of the command line, for as long as the context lasts.

    Its own folder comes first on the path, as when Python runs it; a file of a package is imported as a part
    of it.
    """
    head = target if Path(target).is_file() else target.rpartition(":")[0] or target
    before, path = set(sys.modules), list(sys.path)
    try:
        yield _run(head, text)
    finally:
        sys.path[:] = path
        own = [name for name in sys.modules if name not in before and _is_near(name, head)]
        for name in own:
            del sys.modules[name]


def _run(head: str, text: str | None) -> ModuleType:
    """The module, run; E5015 at the line that raised, since whatever it raises is a matter of the user's text."""
    try:
        if head == "-":
            return _execute_rules(text or "", "<stdin>")
        if Path(head).is_file():
            return _file(Path(head).resolve())
        sys.path.insert(0, str(Path.cwd()))
        return importlib.import_module(head)
    except Exception as error:
        place = _line_of(error, head)
        message = (
            f"{Path(head).name if head != '-' else 'standard input'} cannot be run: {type(error).__name__}: {error}"
        )
        raise DifferentiationError("E5015", message, "make it a module that can be imported", place) from error


def _line_of(error: Exception, head: str) -> Place | None:
    """The last line of the target itself that was running when it failed."""
    own = "<stdin>" if head == "-" else str(Path(head).resolve())
    found = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        line = linecache.getline(frame.f_code.co_filename, number).rstrip()
        if frame.f_code.co_filename == own and line:
            start = len(line) - len(line.lstrip())
            found = Place(label_of(own), number, start, line, len(line) - start)
    return found


def _is_near(name: str, head: str) -> bool:
    """Whether a module lies in the folder of the target, where another file of that name may follow."""
    if not Path(head).is_file():
        return False
    file = getattr(sys.modules[name], "__file__", None)
    return name == PRIVATE or (file is not None and Path(file).resolve().is_relative_to(Path(head).resolve().parent))


def _file(path: Path) -> ModuleType:
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").is_file():
        folder, parts = folder.parent, [folder.name, *parts]
    sys.path.insert(0, str(folder))
    if len(parts) > 1:
        return importlib.import_module(".".join(parts).removesuffix(".__init__"))
    spec = importlib.util.spec_from_file_location(PRIVATE, path)
    if spec is None or spec.loader is None:
        raise DifferentiationError("E5015", f"{path.name} is no Python file", "name a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[PRIVATE] = module
    spec.loader.exec_module(module)
    return module


def _execute_rules(text: str, label: str) -> ModuleType:
    module = ModuleType(PRIVATE)
    sys.modules[PRIVATE] = module
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    exec(compile(text, label, "exec"), vars(module))
    return module


def function_of(module: ModuleType, qualname: str) -> Function:
    """The function, or `Class.method`, of that name."""
    found: Any = module
    for part in qualname.split("."):
        found = getattr(found, part)
    function: Function = found
    return function


_LINES = re.compile(r"^#     (srcgrad dump .*(?:\n#       .*)*)", re.MULTILINE)


def command(
    targets: Sequence[str],
    output: str = "-",
    *,
    wrt: Sequence[str] | None = None,
    mode: str = "reverse",
    target: str = DEFAULT,
    inline: bool = False,
    over: Sequence[str] = (),
    rows: int | None = None,
) -> str:
    """The command that makes a standalone module, for the folder in which that will be; empty for standard input.

    >>> command(["src/model.py:f"], "made/model_grad.py", wrt=["x", "w"])
    'srcgrad dump ../src/model.py:f --standalone --wrt x,w -o model_grad.py'
    """
    if any(target.partition(":")[0] == "-" for target in targets):
        return ""
    options = ["--standalone"]
    options += ["--wrt", ",".join(wrt)] if wrt else []
    options += ["--mode", mode] if mode != "reverse" else []
    options += ["--target", target] if target != DEFAULT else []
    options += ["--inline"] if inline else []
    spread = over and targets_named(target).spreads
    options += (
        ["--shard", ",".join(f"{one}=0" for one in over)] if spread else ["--over", ",".join(over)] if over else []
    )
    options += ["--rows", str(rows)] if over and rows is not None else []
    options += ["-o", Path(output).name] if output != "-" else []
    return shlex.join(["srcgrad", "dump", *(_from(output, target) for target in targets), *options])


def _from(output: str, target: str) -> str:
    """A target as it is named in the folder of the output; without one, in its own."""
    head, colon, names = (target, "", "") if Path(target).is_file() else target.rpartition(":")
    if not colon:
        head, names = target, ""
    if not head.endswith(".py"):
        return target
    near = Path(head).name if output == "-" else os.path.relpath(os.path.realpath(head), _folder(output))
    return f"{near}{colon}{names}".replace(os.sep, "/")


def _folder(output: str) -> Path:
    return Path(os.path.realpath(output)).parent


def recipe_lines(modules: Iterable[StaticModule], made_by: str) -> list[str]:
    """Comments that tell the version, the texts that the module was made from, and the command."""
    sources = ", ".join(dict.fromkeys(f"{module.label}\0(sha256\0{digest(module.text)})" for module in modules))
    again = " To make it again, in its folder:" if made_by else ""
    told = remark(f"Made by srcgrad {__version__} from {sources}.{again}")
    found = ["#", told.replace("\0", " ")]  # a name and its digest stand in one line
    if made_by:
        words = textwrap.wrap(made_by, WIDTH - 8, break_long_words=False, break_on_hyphens=False)
        margins = ["#     ", *["#       "] * (len(words) - 1)]
        ends = [*[" \\"] * (len(words) - 1), ""]
        found += [f"{margin}{word}{end}" for margin, word, end in zip(margins, words, ends, strict=True)]
    return found


def digest(text: str) -> str:
    """The first 16 digits of the SHA-256 of a text, which `sha256sum` gives for its file.

    >>> digest("")
    'e3b0c44298fc1c14'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(text: str) -> list[str] | None:
    """The arguments of the command that a standalone module names; None where it names none.

    >>> read("# ...\\n#     srcgrad dump model.py --standalone \\\\\\n#       -o model_grad.py\\nimport numpy as np\\n")
    ['dump', 'model.py', '--standalone', '-o', 'model_grad.py']
    """
    found = _LINES.search(text)
    if found is None:
        return None
    return shlex.split(re.sub(r" \\\n#      ", "", found[1]))[1:]


@dataclass(frozen=True)
class RefusedFunction:
    """A function without a derivative, and why."""

    function: StaticFunction
    error: DifferentiationError


@dataclass(frozen=True)
class DumpedModule:
    """The text of a module of derivatives; `refused` are functions of a whole module that it lacks.

    `files` are those that were read for it, of the user's and of others; `parts` is what is known of its functions.
    """

    text: str
    refused: tuple[RefusedFunction, ...] = ()
    files: tuple[Path, ...] = field(default=(), repr=False)
    parts: tuple[DerivedText, ...] = field(default=(), repr=False)


@dataclass
class _Output:
    """What has been derived so far."""

    look: Globals
    inline: bool
    target: Target
    blocks: Blocks | None = None
    module: Module = field(init=False)
    pieces: Pieces = field(init=False)
    headers: dict[Meaning, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whole = self.target.whole
        self.module = Module(inline=self.inline or whole, seeded=not whole, target=self.target, tidy=self.look.embed)
        self.module.blocks = self.blocks if self.target.spreads else None
        self.pieces = Pieces(follower(self.look))

    def copy(self) -> _Output:
        """The state now: what is done to the copy, a refused function say, leaves no trace here."""
        module, new = self.module, _Output(self.look, self.inline, self.target, self.blocks)
        new.module = replace(
            module.read(),
            blocks=module.blocks,
            made=dict(module.made),
            pending=dict(module.pending),
            making=dict(module.making),
            names=Names(module.names.taken),
            specs=dict(module.specs),
        )
        new.pieces, new.headers = self.pieces.copy(), dict(self.headers)
        return new

    def add(self, function: StaticFunction, mode: str, wrt: tuple[str, ...] | None) -> None:
        """Add the derivative of a function, and what it needs."""
        self.module.source(function)  # refused if it is decorated
        if rule_of(function) is not None or is_opaque(function):
            message = f"{function.qualname} has a rule of its own, or is opaque"
            raise DifferentiationError("E5008", message, "name a function that calls it")
        kinds = kinds_of_annotations(function.source.tree, function.module)
        names = active_parameters(function, kinds, self.module) if wrt is None else named_parameters(function, wrt)
        known = list(self.module.made)
        known_as = function
        if self.blocks is not None and self.module.blocks is not None:
            self.module.blocks = replace(self.blocks, over=named_parameters(function, self.blocks.over))
        elif self.blocks is not None:
            known_as = blocked_text(
                function, Blocks(named_parameters(function, self.blocks.over), self.blocks.rows), kinds
            )
        if mode == "hvp":
            known_as = self.module.derivative_function(
                known_as, "reverse", names, kinds, single=len(names) == 1
            ).function
        name = self.module.derivative(known_as, mode, names, kinds)
        new = [made for key, made in self.module.made.items() if key not in known]
        main = next(made for made in self.module.made.values() if made.name == name)
        self.module.pieces(new, self.look, self.pieces)
        self.headers[OutputFunction((new or [main])[0].name)] = header(main.facts)


def dump(
    *targets: str,
    wrt: tuple[str, ...] | None = None,
    mode: str = "reverse",
    standalone: bool = False,
    inline: bool = False,
    text: str | None = None,
    target: str = DEFAULT,
    output: str = "-",
    over: tuple[str, ...] = (),
    rows: int | None = None,
) -> DumpedModule:
    """The module of derivatives for targets of the command line, such as `model.py:loss` or `model.py`.

    `wrt` are names of parameters; without it, all through which a derivative can flow. With `standalone`,
    the text holds all of `srcgrad.runtime` that it needs, and says how it was made; `output` is the file that it is
    for. With `inline`, calls of functions with source are
    written out, so that the text can be differentiated again. `text` is what standard input holds, for the
    target `-`. With `target="opencl"` array operations run as kernels (with `standalone`, the text holds what
    runs them); with `target="numba"` calls are written out and the functions have the decorator by which Numba
    compiles them.
    `over` are arguments whose rows come in blocks of `rows`, as in `srcgrad.blocked`; with `target="dask"` those whose
    rows are spread.

    Raises DifferentiationError for a function that is named and has no derivative. A function of a whole
    module may lack one: the text says why; if all of them do, the error of the first is raised.

    >>> dump("-", text="def square(x: float):\\n    return x * x\\n").text.split("\\n")[0]
    '# Generated by srcgrad from <stdin>:1 (square): gradient with respect to x.'
    """
    runs_on = targets_named(target)
    options = {"standalone": standalone, "inline": inline}
    for option in [one for one in runs_on.excludes if options.get(one)]:
        message = f"the target {target} is not made with `{option}`"
        raise DifferentiationError("E5019", message, "leave one of the two out")
    asked = [(f, is_whole(t)) for t in dict.fromkeys(targets) for f in find_target(t, text=text)]
    functions = [function for function, _ in asked]
    for module in dict.fromkeys(function.module for function in functions):
        note_changes(module)
    check_names(functions, wrt)
    with declared_rules(functions) as is_rule:
        asked = [(f, whole) for f, whole in asked if not (whole and is_rule(f))]
        made_by = command(targets, output, wrt=wrt, mode=mode, target=target, inline=inline, over=over, rows=rows)
        blocks = Blocks(over, checked_rows(rows)) if over else None
        return _dump_module(asked, mode, wrt, _Output(Globals(standalone), inline, runs_on, blocks), made_by)


def _dump_module(
    asked: list[tuple[StaticFunction, bool]], mode: str, wrt: tuple[str, ...] | None, output: _Output, made_by: str
) -> DumpedModule:
    """The module of derivatives; `asked` says of each function whether its whole module was named."""
    functions, refused = [function for function, _ in asked], []
    for function, whole in asked:
        attempt = output.copy()
        try:
            with collection_paused():
                attempt.add(function, mode, wrt)
        except DifferentiationError as error:
            if not whole:
                raise
            refused.append(RefusedFunction(function, error))
        else:
            output = attempt
    if len(refused) == len(functions):
        raise refused[0].error
    head = _head(functions, refused) if len(functions) > 1 else []
    files = dict.fromkeys(path for function in functions for path in function.module.program.modules)
    parts = tuple(output.module.made.values())
    return DumpedModule(_text(head, output, made_by), tuple(refused), tuple(files), parts)


def is_whole(target: str) -> bool:
    """Whether a target names a module, and no functions of it.

    >>> is_whole("model.py"), is_whole("-"), is_whole("package.module:f")
    (True, True, False)
    """
    return Path(target).is_file() or not target.rpartition(":")[2] or ":" not in target


def _head(functions: list[StaticFunction], refused: list[RefusedFunction]) -> list[str]:
    """The first lines for several functions: where they come from, and which of them have no derivative."""
    labels = ", ".join(dict.fromkeys(function.module.label for function in functions))
    lines = [remark(f"Generated by srcgrad from {labels}.")]
    if refused:
        lines += ["#", "# Not differentiated:"]
    for item in refused:
        code, _, reason = str(item.error).partition("\n")[0].partition(" ")
        place = item.error.place
        line = item.function.node.lineno if place is None else place.line
        lines.append(remark(f"- {item.function.qualname} (line {line}): {code} {reason}", "  "))
    return lines


def _sources(output: _Output, texts: list[tuple[Meaning, str]]) -> list[StaticModule]:
    """The modules of the user from which something stands in the output, those of derivatives first."""
    derived = [made.facts.namespace for made in reversed(output.module.made.values())]
    written_out = [namespace for _, _, namespace in output.module.sources.values()]
    copied = [meaning.module for meaning, _ in texts if isinstance(meaning, CopiedDefinition)]
    others = [module for module in [*written_out, *copied] if isinstance(module, StaticModule)]
    every = [*(n for n in derived if isinstance(n, StaticModule)), *sorted(others, key=lambda module: module.label)]
    every = [_home(module) for module in every]
    return list(dict.fromkeys(module for module in every if module.name.partition(".")[0] != "srcgrad"))


def _home(module: StaticModule) -> StaticModule:
    """The user's module, also for a text of blocks that was made from it."""
    known = (one for one in module.program.modules.values() if one.name == module.name)
    return next(known, module) if maker_of(module.label) == BLOCKS else module


def _text(head: list[str], output: _Output, made_by: str) -> str:
    found = write(output.pieces)
    texts = sorted(found.texts, key=lambda item: isinstance(item[0], OutputFunction))
    headers = dict(output.headers)
    lines = head
    if not head:
        [first] = headers
        lines = [headers.pop(first)]
    embedded = [m for m, _ in texts if isinstance(m, CopiedDefinition) and m.module.name.startswith("srcgrad.")]
    if embedded:
        headers[embedded[0]] = "# What follows is taken from srcgrad, so that it need not be installed."
    if output.look.embed:
        lines += recipe_lines(_sources(output, found.texts), made_by)
    imports: Collection[str] = found.imports
    kernels = ""
    if output.look.embed:
        made = {name for kind, name, *_ in output.module.made if kind == "kernel"}
        imports, kernels = output.target.embed(found, made)
    lines += ["from __future__ import annotations", ""] if kernels else []
    lines += import_lines(imports)
    return "\n".join([*lines, gap(texts), body(texts, headers), *([kernels] if kernels else []), ""])
