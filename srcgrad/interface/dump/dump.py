"""Derivatives of functions known only as text, as the text of one module.

How a standalone module was made: the lines at its top that tell it, and reading them back.

Derivatives of functions known only as text, as the text of one module: nothing of theirs is run.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import textwrap
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from srcgrad.analysis.argument_kinds import kinds_of_annotations
from srcgrad.backend.targets import target_named as targets_named
from srcgrad.backend.text.free_names import CopiedDefinition, Globals, Meaning, OutputFunction
from srcgrad.backend.text.module import WIDTH, Pieces, body, follower, gap, header, import_lines, remark, write
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Names
from srcgrad.core.files import collection_paused
from srcgrad.core.marks import is_opaque
from srcgrad.core.rules import rule_of
from srcgrad.core.target import DEFAULT, Target
from srcgrad.core.version import __version__
from srcgrad.derive.row_blocks import Blocks
from srcgrad.frontend.source.static_modules import StaticFunction, StaticModule, find_target
from srcgrad.interface.api.arguments import active_parameters, check_names, named_parameters
from srcgrad.interface.api.row_blocks import blocked_text, checked_rows
from srcgrad.interface.dump.user_modules import declared_rules
from srcgrad.module import Module
from srcgrad.pipeline import DerivedText

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
    options += ["--over", ",".join(over)] if over else []
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
        kinds = kinds_of_annotations(function.source.tree, function.module)
        names = active_parameters(function, kinds, self.module) if wrt is None else named_parameters(function, wrt)
        known = list(self.module.made)
        known_as = function
        if self.blocks is not None:
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
    `over` are arguments whose rows come in blocks of `rows`, as in `srcgrad.blocked`.

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
    return next(known, module) if module.label.startswith("<blocks ") else module


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
