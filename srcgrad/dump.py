"""Derivatives of functions known only as text, as the text of one module: nothing of theirs is run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from srcgrad.analyse.annotations import annotated
from srcgrad.blocks import blocked_text, checked_rows
from srcgrad.declared import declared
from srcgrad.derive.blocked import Blocks
from srcgrad.emit.globals import Globals
from srcgrad.emit.meaning import Copied, Made, Meaning
from srcgrad.emit.module import body, gap, header, import_lines, remark
from srcgrad.emit.part import follower
from srcgrad.emit.pieces import Pieces, write
from srcgrad.errors import DifferentiationError
from srcgrad.front.static import StaticFunction, StaticModule
from srcgrad.front.target import find_target
from srcgrad.inputs import active, check_names, named
from srcgrad.load import collection_paused
from srcgrad.modules import Module
from srcgrad.names import Names
from srcgrad.opencl.shipped import with_kernels
from srcgrad.pipeline import Derived
from srcgrad.recipe import command
from srcgrad.recipe import lines as recipe
from srcgrad.rules import rule_of
from srcgrad.sealed import is_opaque


@dataclass(frozen=True)
class Refused:
    """A function without a derivative, and why."""

    function: StaticFunction
    error: DifferentiationError


@dataclass(frozen=True)
class Dumped:
    """The text of a module of derivatives; `refused` are functions of a whole module that it lacks.

    `files` are those that were read for it, of the user's and of others; `parts` is what is known of its functions.
    """

    text: str
    refused: tuple[Refused, ...] = ()
    files: tuple[Path, ...] = field(default=(), repr=False)
    parts: tuple[Derived, ...] = field(default=(), repr=False)


@dataclass
class _Output:
    """What has been derived so far."""

    look: Globals
    inline: bool = False
    target: str = "numpy"
    blocks: Blocks | None = None
    module: Module = field(init=False)
    pieces: Pieces = field(init=False)
    headers: dict[Meaning, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        compiled = self.target == "numba"
        inline = self.inline or compiled
        self.module = Module(inline=inline, seeded=not compiled, target=self.target, tidy=self.look.embed)
        self.pieces = Pieces(follower(self.look))

    def copy(self) -> _Output:
        """The state now: what is done to the copy, a refused function say, leaves no trace here."""
        module, new = self.module, _Output(self.look, self.inline, self.target, self.blocks)
        new.module = replace(
            module.read(),
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
        kinds = annotated(function.source.tree, function.module)
        names = active(function, kinds, self.module) if wrt is None else named(function, wrt)
        known = list(self.module.made)
        known_as = function
        if self.blocks is not None:
            known_as = blocked_text(function, Blocks(named(function, self.blocks.over), self.blocks.rows), kinds)
        if mode == "hvp":
            known_as = self.module.derived(known_as, "reverse", names, kinds, single=len(names) == 1).function
        name = self.module.derivative(known_as, mode, names, kinds)
        new = [made for key, made in self.module.made.items() if key not in known]
        main = next(made for made in self.module.made.values() if made.name == name)
        self.module.pieces(new, self.look, self.pieces)
        self.headers[Made((new or [main])[0].name)] = header(main.facts)


def dump(
    *targets: str,
    wrt: tuple[str, ...] | None = None,
    mode: str = "reverse",
    standalone: bool = False,
    inline: bool = False,
    text: str | None = None,
    target: str = "numpy",
    output: str = "-",
    over: tuple[str, ...] = (),
    rows: int | None = None,
) -> Dumped:
    """The module of derivatives for targets of the command line, such as `model.py:loss` or `model.py`.

    `wrt` are names of parameters; without it, all through which a derivative can flow. With `standalone`,
    the text holds all of `srcgrad.runtime` that it needs, and says how it was made; `output` is the file that it is
    for. With `inline`, calls of functions with source are
    written out, so that the text can be differentiated again. `text` is what standard input holds, for the
    target `-`. With `target="opencl"` array operations run as kernels (with `standalone`, the text holds what
    runs them); with `target="numba"` calls are written out and the functions have the decorator by which Numba
    compiles them.
    `over` are arguments whose rows come in blocks of `rows`, as in `srcgrad.blocked`.

    Raises DifferentiationError for a function that is named and has no derivative. A function of a whole
    module may lack one: the text says why; if all of them do, the error of the first is raised.

    >>> dump("-", text="def square(x: float):\\n    return x * x\\n").text.split("\\n")[0]
    '# Generated by srcgrad from <stdin>:1 (square): gradient with respect to x.'
    """
    option = {"numba": standalone and "standalone", "opencl": inline and "inline"}.get(target)
    if option:
        message = f"the target {target} is not made with `{option}`"
        raise DifferentiationError("E5019", message, "leave one of the two out")
    asked = [(f, is_whole(t)) for t in dict.fromkeys(targets) for f in find_target(t, text=text)]
    functions = [function for function, _ in asked]
    check_names(functions, wrt)
    with declared(functions) as is_rule:
        asked = [(f, whole) for f, whole in asked if not (whole and is_rule(f))]
        made_by = command(targets, output, wrt=wrt, mode=mode, target=target, inline=inline, over=over, rows=rows)
        blocks = Blocks(over, checked_rows(rows)) if over else None
        return _dumped(asked, mode, wrt, _Output(Globals(standalone), inline, target, blocks), made_by)


def _dumped(
    asked: list[tuple[StaticFunction, bool]], mode: str, wrt: tuple[str, ...] | None, output: _Output, made_by: str
) -> Dumped:
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
            refused.append(Refused(function, error))
        else:
            output = attempt
    if len(refused) == len(functions):
        raise refused[0].error
    head = _head(functions, refused) if len(functions) > 1 else []
    files = dict.fromkeys(path for function in functions for path in function.module.program.modules)
    parts = tuple(output.module.made.values())
    return Dumped(_text(head, output, made_by), tuple(refused), tuple(files), parts)


def is_whole(target: str) -> bool:
    """Whether a target names a module, and no functions of it.

    >>> is_whole("model.py"), is_whole("-"), is_whole("package.module:f")
    (True, True, False)
    """
    return Path(target).is_file() or not target.rpartition(":")[2] or ":" not in target


def _head(functions: list[StaticFunction], refused: list[Refused]) -> list[str]:
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
    copied = [meaning.module for meaning, _ in texts if isinstance(meaning, Copied)]
    others = [module for module in [*written_out, *copied] if isinstance(module, StaticModule)]
    every = [*(n for n in derived if isinstance(n, StaticModule)), *sorted(others, key=lambda module: module.label)]
    every = [_home(module) for module in every]
    return list(dict.fromkeys(module for module in every if module.name.partition(".")[0] != "srcgrad"))


def _home(module: StaticModule) -> StaticModule:
    """The user's module, also for a text of blocks that was made from it."""
    known = (one for one in module.program.modules.values() if one.name == module.name)
    return next(known, module) if module.label.startswith("<blocks ") else module


def _text(head: list[str], output: _Output, made_by: str) -> str:
    found = write(output.pieces)
    texts = sorted(found.texts, key=lambda item: isinstance(item[0], Made))
    headers = dict(output.headers)
    lines = head
    if not head:
        [first] = headers
        lines = [headers.pop(first)]
    embedded = [m for m, _ in texts if isinstance(m, Copied) and m.module.name.startswith("srcgrad.")]
    if embedded:
        headers[embedded[0]] = "# What follows is taken from srcgrad, so that it need not be installed."
    if output.look.embed:
        lines += recipe(_sources(output, found.texts), made_by)
    imports, kernels = found.imports, ""
    if output.look.embed and output.target == "opencl":
        imports, kernels = with_kernels(found, {name for kind, name, *_ in output.module.made if kind == "kernel"})
    lines += ["from __future__ import annotations", ""] if kernels else []
    lines += import_lines(imports)
    return "\n".join([*lines, gap(texts), body(texts, headers), *([kernels] if kernels else []), ""])
