"""A function and its derivative side by side: which lines belong to which, and that as a page.

The page is one file of HTML that needs no network, with colours where Pygments is installed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import (
    Any,  # Pygments has no types of its own
    Protocol,
)

import gast

from srcgrad.backend.text.module import origin
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Facts
from srcgrad.core.files import write_file
from srcgrad.core.printer import placed_lines
from srcgrad.core.trees import Node

CITED = re.compile(r"\s*// line (\d+):")

Sizes = Mapping[tuple[str, int], Sequence[int]]  # bytes of each trip, by a value and its line


class Part(Protocol):
    """A derivative with what is known of it, as `pipeline.Derived` is one."""

    @property
    def name(self) -> str: ...

    @property
    def tree(self) -> Node: ...

    @property
    def facts(self) -> Facts: ...


@dataclass(frozen=True)
class KeptValue:
    """A value that a line records: how it is spelled, how large it is, and the lines that need it."""

    value: str
    size: str
    needed: tuple[int, ...]


@dataclass(frozen=True)
class Line:
    """A line of either side; lines of one `group` belong together, 0 is that of no other line.

    Of a line of the source `role` is `active` or `inactive`, with the reason in `why`, or empty. `kept` is what the
    line records, `kernels` those that a line of the derivative runs.
    """

    number: int
    text: str
    group: int = 0
    role: str = ""
    why: str = ""
    kept: tuple[KeptValue, ...] = ()
    kernels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """A function, where it stands, and the lines of the output from the end of the pair before it on."""

    function: str
    origin: str
    name: str
    source: tuple[Line, ...]
    made: tuple[Line, ...]


@dataclass(frozen=True)
class Sides:
    """All functions of one output with their derivatives; kernels by name, whose lines are in no pair."""

    text: str
    pairs: tuple[Pair, ...]
    kernels: Mapping[str, tuple[Line, ...]]


def sides(text: str, parts: Iterable[Part], sizes: Sizes | None = None) -> Sides:
    """What a text of derivatives consists of; `sizes` are the bytes that are recorded, by value and line.

    Each line of the text is in one pair, or in one kernel, in its order.
    """
    by_name = {part.name: part for part in parts}
    spans = {d.name: _span(d) for d in ast.parse(text).body if isinstance(d, ast.FunctionDef)}
    lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    kernels: dict[str, tuple[Line, ...]] = {}
    pairs: list[Pair] = []
    free: list[Line] = []
    at = 1
    for name, (first, last) in sorted(spans.items(), key=lambda item: item[1]):
        part = by_name.get(name)
        if part is None:
            continue
        free += [Line(number, lines[number - 1]) for number in range(at, first)]
        made = _derivative_lines(lines[first - 1 : last], first, part, by_name, sizes or {})
        at = last + 1
        if is_kernel(part):
            gap = next((k for k in range(len(free), 0, -1) if free[k - 1].text), 0)
            kernels[name], free = (*free[gap:], *_cite_kernel_lines(made)), free[:gap]
        else:
            source = part.facts.source
            own = tuple(_source(part.facts, sizes or {}))
            pairs.append(Pair(source.name, origin(source), name, own, (*free, *made)))
            free = []
    rest = [Line(number, lines[number - 1]) for number in range(at, len(lines) + 1)]
    if pairs and (rest or free):
        last_pair = pairs.pop()
        whole = (*last_pair.made, *free, *rest)
        pairs.append(Pair(last_pair.function, last_pair.origin, last_pair.name, last_pair.source, whole))
    return Sides(text, tuple(pairs), kernels)


def _span(definition: ast.FunctionDef) -> tuple[int, int]:
    """The first and the last line of a definition, decorators included."""
    first = min([definition.lineno, *(one.lineno for one in definition.decorator_list)])
    return first, definition.end_lineno or definition.lineno


def is_kernel(part: Part) -> bool:
    """Whether a part of an output is a kernel, which a derivative runs, and no derivative itself."""
    return part.name not in part.facts.module.making


def _derivative_lines(
    lines: Sequence[str], first: int, part: Part, parts: Mapping[str, Part], sizes: Sizes
) -> list[Line]:
    facts = part.facts
    kernels = [name for name in parts if is_kernel(parts[name])]
    spelled = placed_lines(part.tree)
    assert len(spelled) == len(lines), f"{part.name} has {len(lines)} lines, and {len(spelled)} places"
    known = starts(facts)
    ends = {id(node): number for number, (_, node) in enumerate(spelled, first)}
    run: dict[int, list[str]] = {}
    made = []
    for number, (line, (_, node)) in enumerate(zip(lines, spelled, strict=True), first):
        name = "" if node is None or _makes_stack(node) else facts.tape.pushes.get(node, "")
        known_as = [one for one in facts.tape.recorded if name and one.partition("[")[0] == name]
        kept = tuple(_kept_under_name(one, facts, sizes) for one in known_as)
        for kernel in (k for k in kernels if k != part.name and re.search(rf"\b{k}\b", line)):
            run.setdefault(ends[id(node)], []).append(kernel)
        made.append(Line(number, line, _group(node, known) if line.strip() else 0, kept=kept))
    return [replace(line, kernels=tuple(run.get(line.number, ()))) for line in made]


def _group(node: Node | None, known: Mapping[int, int]) -> int:
    """The line of the user's text in which the statement begins that a generated one comes from."""
    return 0 if isinstance(node, gast.FunctionDef) else known.get(getattr(node, "lineno", 0), 0)


def _makes_stack(node: Node) -> bool:
    return isinstance(node, gast.Assign) and isinstance(node.value, gast.List)


def _kept_under_name(name: str, facts: Facts, sizes: Sizes) -> KeptValue:
    record = facts.tape.recorded[name]
    value = plain_spelling(record.value)
    size = sizes.get((value, record.line), sizes.get((value, 0)))
    return KeptValue(record.value, _size_text(name, facts) if size is None else spelled_size(size), record.needed)


def plain_spelling(value: str) -> str:
    """A whole array that is kept as `u[...]` by one text, as `u` by another."""
    return value.removesuffix("[...]")


def starts(facts: Facts) -> dict[int, int]:
    """For each line of a function the line in which its innermost statement begins."""
    tree = facts.source.tree
    found: dict[int, int] = dict.fromkeys(range(tree.lineno, _end_of_signature(tree) + 1), tree.lineno)
    for node in [node for one in tree.body for node in gast.walk(one)]:
        first = getattr(node.pattern if isinstance(node, gast.match_case) else node, "lineno", None)
        if first is None or not isinstance(node, gast.stmt | gast.ExceptHandler | gast.match_case):
            continue
        inside = node.cases if isinstance(node, gast.Match) else getattr(node, "body", None)
        last = getattr(inside[0], "lineno", first + 1) - 1 if inside else node.end_lineno
        for line in range(first, max(first, last) + 1):
            found[line] = first
    return found


def _end_of_signature(tree: Node) -> int:
    return int(max([tree.lineno, *(n.lineno for n in gast.walk(tree.args) if hasattr(n, "lineno"))]))


def _cite_kernel_lines(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines of a kernel: those of its C belong to the line that is cited above them."""
    made, group, within = [], 0, False
    for line in lines:
        if line.text.count('"""') % 2:
            within, group = not within, 0
        found = CITED.match(line.text)
        group = int(found[1]) if found else group
        known = group if within and line.text.strip() else line.group
        made.append(Line(line.number, line.text, known, line.role, line.why, line.kept))
    return tuple(made)


def _source(facts: Facts, sizes: Sizes) -> list[Line]:
    """The lines of a function: what carries the derivative, what is recorded and how large that is."""
    tree, group, remarks = facts.source.tree, starts(facts), _remarks(facts)
    last = max([tree.lineno, *(getattr(n, "end_lineno", None) or 0 for n in gast.walk(tree))])
    kept: dict[int, list[KeptValue]] = {}
    for name, record in facts.tape.recorded.items():
        kept.setdefault(record.line, []).append(_kept_under_name(name, facts, sizes))
    made = []
    for number in range(tree.lineno, last + 1):
        text = facts.source.lines[number - 1].rstrip()
        own = group.get(number, 0) if text and number not in remarks else 0
        known = facts.origin.lines.get(own, {})
        role = "" if not known or own == 0 else "active" if "active" in known else "inactive"
        why = next(iter(known)) if role == "inactive" else ""
        made.append(Line(number, text, own, role, why, tuple(kept.get(number, ()))))
    return made


def _remarks(facts: Facts) -> set[int]:
    """Lines that hold nothing but a comment."""
    return {n for n in facts.source.comments if facts.source.lines[n - 1].lstrip().startswith("#")}


def spelled_size(sizes: Sequence[int]) -> str:
    """Bytes as people read them, of one trip and of how many there were.

    >>> spelled_size([24, 24, 24]), spelled_size([8]), spelled_size([])
    ('24 bytes x 3', '8 bytes', 'no trip')
    """
    if not sizes:
        return "no trip"
    trips = f" x {len(sizes)}" if len(sizes) != 1 else ""
    return f"{max(sizes):,} bytes{trips}"


def _size_text(name: str, facts: Facts) -> str:
    """What the text tells of the size of something recorded: of which arguments it is, and how often."""
    kept_in, _, place = name.partition("[")
    for node in (n for n, kept in facts.tape.pushes.items() if kept == kept_in):
        stacked = isinstance(node, gast.Expr) and bool(node.value.args)
        if not stacked and (not isinstance(node, gast.Assign) or _makes_stack(node)):
            continue
        value = node.value.args[0] if stacked else node.value
        size = _size(value.elts[int(place[:-1])] if place else value, facts)
        return ", ".join([*([size] if size else []), *(["each trip"] if stacked else [])])
    return ""


def _size(value: Node, facts: Facts) -> str:
    if isinstance(value, gast.Call) and not value.args and isinstance(value.func, gast.Attribute):
        value = value.func.value  # of a copy
    spec = facts.values.value_spec.get(value.id) if isinstance(value, gast.Name) else None
    if spec is not None and spec.scalar:
        return "one number"
    known = [] if spec is None else sorted(spec.shape)
    return (
        f"as large as {' with '.join(known)}"
        if known and all(k in facts.kinds.of_names or k in facts.request.wrt for k in known)
        else ""
    )


# Classes of the style sheet, by kinds of tokens; the longest kind that fits is taken.
CLASSES = {
    "Keyword": "k",
    "Keyword.Constant": "m",
    "Operator.Word": "k",
    "Comment": "c",
    "Comment.Preproc": "k",
    "Literal.String": "s",
    "Literal.Number": "m",
    "Name.Function": "f",
    "Name.Builtin": "b",
    "Name.Namespace": "b",
    "Name.Class": "f",
    "Keyword.Type": "b",
}


def has_colours() -> bool:
    """Whether Pygments is installed."""
    return _pygments() is not None


def colour_lines(lines: Sequence[str], language: str = "python") -> list[str]:
    """The HTML of each line; text as it is where Pygments is missing.

    >>> colour_lines(["x = 1 < 2"])[0] in ("x = 1 &lt; 2", 'x = <span class="m">1</span> &lt; <span class="m">2</span>')
    True
    """
    lexer = _lexer(language)
    if lexer is None:
        return [escape(line) for line in lines]
    made = [""]
    for kind, text in lexer.get_tokens("\n".join(lines)):
        name = _class(str(kind).removeprefix("Token.").removeprefix("Token"))
        for number, part in enumerate(text.split("\n")):
            if number:
                made.append("")
            if part:
                made[-1] += f'<span class="{name}">{escape(part)}</span>' if name and part.strip() else escape(part)
    return made[: len(lines)] + [""] * (len(lines) - len(made))


@cache
def _class(kind: str) -> str:
    while kind:
        if kind in CLASSES:
            return CLASSES[kind]
        kind = kind.rpartition(".")[0]
    return ""


@cache
def _pygments() -> Any:
    try:
        import pygments.lexers as lexers
    except ImportError:
        return None
    return lexers


@cache
def _lexer(language: str) -> Any:
    lexers = _pygments()
    if lexers is None:
        return None
    kind = lexers.PythonLexer if language == "python" else lexers.CLexer
    return kind(stripnl=False, stripall=False, ensurenl=True)


FOLDED = 12  # lines between two derivatives that are folded: helpers that the text takes over
BESIDE = 60  # columns of a line, and of what it keeps, that stand beside each other in a side
PLAIN = "Without colours, since Pygments is not installed: pip install 'srcgrad[html]'."
TOOLS = (
    '<div class="tools" role="group" aria-label="Report"><button type="button" class="copy">Copy the derivative'
    '</button><button type="button" class="theme" aria-pressed="false">Dark</button></div>\n'
)
HOW = (
    "Point at a line, or move to its number with Tab and the arrow keys, and its partners on the other side light up; "
    "Enter keeps them lit, the left and right arrow keys go over to them."
)


@dataclass(frozen=True)
class Report:
    """A derivative beside its source, to be read in a browser.

    `html()` is a page of its own, which `save` writes to a file; a notebook shows the report where it is the result of
    a cell. `refused` are functions without a derivative, by name.
    """

    title: str
    sides: Sides = field(repr=False)
    refused: tuple[tuple[str, DifferentiationError], ...] = field(default=(), repr=False)

    def html(self) -> str:
        """The whole document: style and script are in it, and it asks for nothing else.

        >>> Report("no derivatives", Sides("", (), {})).html().split("\\n")[0]
        '<!doctype html>'
        """
        title = escape(self.title)
        body = self.fragment(f"<h1>{title}</h1>\n")
        return (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
            f"<style>\n{_file_beside('page.css')}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
        )

    def save(self, path: str | PathLike[str], inputs: Iterable[Path] = (), force: bool = False) -> None:
        """Write the document to a file, whole or not at all; E5015 where it cannot be written.

        E5030 if the file is one of the inputs, and without `force` if it is not srcgrad's, or was edited since.
        """
        write_file(self.html(), fspath(path), inputs, force)

    def _repr_html_(self) -> str:
        return self.fragment("")

    def fragment(self, head: str) -> str:
        """A part of a page, with its own style and script, which touch nothing else of the page."""
        legend = (
            f'<p class="legend"><span class="how">{escape(HOW)}</span> '
            '<span class="swatch inactive"><code>Dimmed</code></span> lines carry no '
            'derivative; <span class="kept">keeps</span> tells what is recorded for the backward half.'
            f"{'' if has_colours() else ' ' + escape(PLAIN)}</p>\n"
        )
        pairs = "".join(_pair(one, self.sides) for one in self.sides.pairs)
        return (
            f'<div class="srcgrad-report">\n<style>\n{_file_beside("report.css")}</style>\n{TOOLS}{head}{legend}'
            f'{_refused_section(self.refused)}{pairs}<p class="status" aria-hidden="true"></p>\n'
            f"<script>\n{_file_beside('report.js')}</script>\n</div>\n"
        )


def failure(error: DifferentiationError) -> str:
    """An error where a report was asked for: its message, with place and remedy."""
    text = f'<pre tabindex="0">{escape(str(error))}</pre>'
    return f'<div class="srcgrad-report ready">\n<style>\n{_file_beside("report.css")}</style>\n{text}\n</div>\n'


@cache
def _file_beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _refused_section(refused: Sequence[tuple[str, DifferentiationError]]) -> str:
    if not refused:
        return ""
    items = "".join(f'<h3>{escape(name)}</h3><pre tabindex="0">{escape(str(error))}</pre>\n' for name, error in refused)
    head = '<section class="refused" aria-label="Functions without a derivative">\n<h2>Not differentiated</h2>\n'
    return f"{head}{items}</section>\n"


@dataclass(frozen=True)
class _View:
    """One side of a pair, for the numbers of its lines: the lines of the other side by group, and the first line."""

    other: dict[int, list[int]]
    name: str  # what the other side is called
    first: Line | None  # which Tab goes to; the arrow keys go to the others

    def number(self, line: Line) -> str:
        """The number of a line: a button, if there is something to tell of the line."""
        told = self.view_text(line)
        if not told:
            return f'<span class="no" aria-hidden="true">{line.number}</span>'
        stop = "0" if line is self.first else "-1"
        label = f'aria-label="Line {line.number}: {escape(told)}"'
        return f'<button type="button" class="no" tabindex="{stop}" aria-pressed="false" {label}>{line.number}</button>'

    def view_text(self, line: Line) -> str:
        """Its view, and why it carries no derivative; empty if there is neither."""
        others = self.other.get(line.group, [])
        why = f"carries no derivative: {line.why}" if line.why else ""
        return "; ".join(part for part in (f"{ranges(others)} of {self.name}" if others else "", why) if part)


def _view(own: Sequence[Line], other: Sequence[Line], name: str) -> _View:
    groups: dict[int, list[int]] = {}
    for line in other:
        if line.group:
            groups.setdefault(line.group, []).append(line.number)
    blank = _View(groups, name, None)
    return replace(blank, first=next((line for line in own if blank.view_text(line)), None))


def _pair(pair: Pair, report: Sides) -> str:
    inside = [line for name in run_by(pair) for line in report.kernels.get(name, ())]
    left = _view(pair.source, (*pair.made, *inside), "the derivative")
    right = _view(pair.made, pair.source, "the source")
    source = _list(pair.source, colour_lines([line.text for line in pair.source]), left)
    return (
        f'<section class="pair" aria-label="{escape(pair.function)} and {escape(pair.name)}">\n'
        f'<div class="side source">\n{_title(pair.function, pair.origin)}{source}</div>\n'
        f'<div class="side made">\n{_title(pair.name, "generated")}{_to_html(pair, report, right)}</div>\n</section>\n'
    )


def _title(name: str, about: str) -> str:
    return f'<h2>{escape(name)} <span class="about">{escape(about)}</span></h2>\n'


def run_by(pair: Pair) -> list[str]:
    """The kernels that a derivative runs, each once."""
    return list(dict.fromkeys(name for line in pair.made for name in line.kernels))


def ranges(numbers: Sequence[int]) -> str:
    """Numbers of lines as people say them.

    >>> ranges([4]), ranges([9, 7, 8, 12, 13])
    ('line 4', 'lines 7 to 9, 12, 13')
    """
    ordered = sorted(set(numbers))
    runs: list[list[int]] = []
    for number in ordered:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    spelled = ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
    return f"line{'s' if len(ordered) > 1 else ''} {spelled}"


def _to_html(pair: Pair, report: Sides, view: _View) -> str:
    """The lines of the derivative; long stretches that are of no function of the user's are folded."""
    texts = colour_lines([line.text for line in pair.made])
    folded = next((k for k, line in enumerate(pair.made) if line.text.startswith(f"def {pair.name}(")), 0)
    shown, seen = "", dict[str, None]()
    while folded and pair.made[folded - 1].text.startswith("@"):
        folded -= 1
    if folded > FOLDED:
        first, last = pair.made[0].number, pair.made[folded - 1].number
        inside = _list(pair.made[:folded], texts[:folded], view)
        shown = f"<details><summary>lines {first} to {last}: what the derivative needs</summary>{inside}</details>\n"
    start = folded if folded > FOLDED else 0
    items = []
    for line, text in zip(pair.made[start:], texts[start:], strict=True):
        kernels = [name for name in line.kernels if name not in seen]
        seen |= dict.fromkeys(kernels)
        items.append(_item(line, text, view, "".join(_kernel(k, report.kernels[k], view) for k in kernels)))
    return f"{shown}<ol>\n{''.join(items)}</ol>\n"


def _kernel(name: str, lines: Sequence[Line], view: _View) -> str:
    texts = [line.text for line in lines]
    inside = [k for k, line in enumerate(texts) if '"""' in line]
    colours = colour_lines(texts)
    if len(inside) > 1:
        first, last = inside[0] + 1, inside[1]
        colours[first:last] = colour_lines(texts[first:last], "c")
    first_text = next(line.number for line in lines if line.text)
    about = f"kernel {escape(name)}, lines {first_text} to {lines[-1].number}"
    return f"<details><summary>{about}</summary>{_list(lines, colours, view)}</details>"


def _list(lines: Sequence[Line], texts: Sequence[str], view: _View) -> str:
    items = "".join(_item(line, text, view) for line, text in zip(lines, texts, strict=True))
    return f"<ol>\n{items}</ol>\n"


def _item(line: Line, text: str, view: _View, inside: str = "") -> str:
    kind = " inactive" if line.role == "inactive" else ""
    group = f' data-g="{line.group}"' if line.group else ""
    why = f' data-why="{escape(line.why)}"' if line.why else ""
    length = len(line.text) + sum(len(f"keeps {k.value}, {k.size}, for {ranges(k.needed)}") for k in line.kept)
    kept = "".join(_kept_value(one, " below" if length > BESIDE else "") for one in line.kept)
    number = view.number(line)
    return f'<li class="line{kind}" data-n="{line.number}"{group}{why}>{number}<code>{text}</code>{kept}{inside}</li>\n'


def _kept_value(kept: KeptValue, below: str) -> str:
    size = f", {escape(kept.size)}" if kept.size else ""
    needed = f", for {ranges(kept.needed)}" if kept.needed else ""
    return f' <span class="kept{below}">keeps <code>{escape(kept.value)}</code>{size}{needed}</span>'
