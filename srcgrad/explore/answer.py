"""What the explorer answers: the derivative of a text that nobody has run, with what belongs to which line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any  # what JSON holds

from srcgrad.dump import dump
from srcgrad.emit.sides import Line, Sides, sides
from srcgrad.errors import DifferentiationError
from srcgrad.options import TARGETS

MODES = ("reverse", "forward", "value-and-grad", "vjp", "hvp", "elementwise")
LONGEST = 50_000  # characters of a text: some 1,200 lines
MOST = 50  # parameters that may be named


@dataclass(frozen=True)
class Question:
    """What is asked: a text, and the options of `srcgrad dump`."""

    text: str
    mode: str = "reverse"
    wrt: tuple[str, ...] = ()
    target: str = "numpy"


def question(given: Any) -> Question:
    """A question from JSON; E5015 if it is none, or if its text is too long.

    >>> question({"text": "def f(x): return x", "wrt": "x, w"}).wrt
    ('x', 'w')
    """
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise DifferentiationError("E5015", "the question is no object of strings", "give text, mode, wrt, target")
    text, mode, target = given.get("text", ""), given.get("mode", "reverse"), given.get("target", "numpy")
    names = tuple(name.strip() for name in given.get("wrt", "").split(",") if name.strip())
    if len(text) > LONGEST:
        message = f"the text has {len(text):,} characters, and the explorer takes {LONGEST:,}"
        raise DifferentiationError("E5015", message, "use `srcgrad dump`, which takes a text of any length")
    if mode not in MODES or target not in TARGETS or len(names) > MOST:
        raise DifferentiationError("E5015", "mode, target or wrt is not known", f"use {', '.join(MODES)}")
    wrong = next((name for name in names if not name.isidentifier()), None)
    if wrong is not None:
        raise DifferentiationError("E5009", f"{wrong!r} is no name", "write names of parameters, as x, w, b")
    return Question(text, mode, names, target)


def answer(asked: Question) -> dict[str, Any]:
    """The text of the derivatives, its lines, and the errors with their places; nothing of the question is run.

    `made` has, for each line of the text, the line of the question that it belongs to, or 0; `source` what is told of
    lines of the question: `inactive` with the reason, and what they record.

    >>> found = answer(Question("def f(x: float):\\n    return x * x\\n"))
    >>> found["text"].split("\\n")[2], found["made"][-3:], found["errors"]
    ('', [2, 2, 0], [])
    """
    try:
        found = dump("-", text=asked.text, wrt=asked.wrt or None, mode=asked.mode, target=asked.target)
    except DifferentiationError as error:
        return {"text": "", "made": [], "source": {}, "errors": [told(error)]}
    both = sides(found.text, found.parts)
    written = asked.text.split("\n")
    refused = [told(item.error, item.function.node.lineno, item.function.qualname) for item in found.refused]
    return {"text": both.text, "made": _made(both, written), "source": _source(both, written), "errors": refused}


def told(error: DifferentiationError, line: int = 0, name: str = "") -> dict[str, Any]:
    """An error as JSON: its place is in the question, if it has one there."""
    place = error.place if error.place is not None and error.place.file == "<stdin>" else None
    return {
        "code": error.code,
        "message": error.message,
        "remedy": error.remedy,
        "function": name,
        "line": line if place is None else place.line,
        "column": 0 if place is None else place.column,
        "width": 0 if place is None else place.width,
    }


def _is_of(source: Sequence[Line], written: Sequence[str]) -> bool:
    """Whether lines are those of the question, not of a module that it imports or of a generated text."""
    return all(line.number <= len(written) and written[line.number - 1].rstrip() == line.text for line in source)


def _made(both: Sides, written: Sequence[str]) -> list[int]:
    """For each line of the derivatives the line of the question that it belongs to."""
    groups: dict[int, int] = {}
    for pair in both.pairs:
        own = _is_of(pair.source, written)
        kernels = [line for made in pair.made for name in made.kernels for line in both.kernels.get(name, ())]
        groups |= {line.number: line.group if own else 0 for line in (*pair.made, *kernels)}
    return [groups.get(number, 0) for number in range(1, both.text.count("\n") + 1)]


def _source(both: Sides, written: Sequence[str]) -> Mapping[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for line in (line for pair in both.pairs if _is_of(pair.source, written) for line in pair.source):
        kept = [f"{one.value}{f', {one.size}' if one.size else ''}" for one in line.kept]
        found[str(line.number)] = {"group": line.group, "why": line.why, "keeps": kept}
    return found
