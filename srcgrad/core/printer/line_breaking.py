"""Text of lines that are too long: broken inside of brackets.

The tokens of one long line, with its brackets paired and the places where it may be broken.

Lines that are too long: broken inside brackets, in the manner of black.

The right-most brackets that leave a first line short enough are opened, and what is in them stands
indented on a line of its own. What is too long even there is broken at its loosest delimiters: behind
commas, or in front of operators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass as record
from functools import cached_property

TOKEN = re.compile(
    r"""\s*(?:
        [a-zA-Z]{0,2}(?:\"{3}(?:[^\\]|\\.)*?\"{3} | '{3}(?:[^\\]|\\.)*?'{3})
      | [a-zA-Z]{0,2}(?:"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
      | \d[\d.]*(?:e[-+]?\d+)?j?
      | \w+ | [()\[\]{}.,] | [^\w\s()\[\]{}.,"']+ | .
    )""",
    re.VERBOSE | re.DOTALL,
)
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")

# How loosely a delimiter binds: a line is broken at its loosest delimiters first.
COMPREHENSION, COMMA, TERNARY, LOGIC, COMPARATOR, DOT = 20, 18, 16, 14, 10, 1
OPERATORS = {
    **dict.fromkeys(["and", "or"], LOGIC),
    **dict.fromkeys(["<", ">", "==", "!=", "<=", ">=", "is", "in"], COMPARATOR),
    **dict(zip(["|", "^", "&", "<<", ">>"], [9, 8, 7, 6, 6], strict=True)),
    **dict.fromkeys(["+", "-"], 5),
    **dict.fromkeys(["*", "/", "//", "%", "@"], 4),
    "**": 2,
}


@record(frozen=True)
class Line:
    """Tokens, each with the blank in front of it if there is one."""

    tokens: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        return "".join(self.tokens).strip()

    @cached_property
    def pairs(self) -> dict[int, int]:
        """Opening bracket to closing bracket, of the pairs that are inside no other pair."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for at, token in enumerate(self.tokens):
            word = token[-1]
            if word in OPENING and len(token.strip()) == 1:
                opened.append(at)
            elif word in CLOSING and len(token) == 1 and opened:
                start = opened.pop()
                if not opened:
                    found[start] = at
        return found

    @cached_property
    def delimiters(self) -> dict[int, int]:
        """Token in front of which the line may be broken (behind a comma), to its looseness."""
        found: dict[int, int] = {}
        conditions: list[int] = []
        hidden = 0  # inside `for ... in` and `lambda ...:`, where commas separate no elements
        for at in self._outermost():
            word = self.tokens[at].strip()
            if word == "for" and at > 0:
                found[at] = COMPREHENSION
            if word in ("for", "lambda"):
                hidden += 1
            elif hidden:
                hidden -= word == "in" or word.startswith(":")
            elif word == ",":
                found[at + 1] = COMMA
            elif word == "if":
                conditions.append(at)
                found[at] = COMPREHENSION
            elif word == "else" and conditions:
                found[at] = found[conditions.pop()] = TERNARY
            elif rank := self._looseness(at, word):
                found[at] = rank
        return {at: rank for at, rank in found.items() if 0 < at < len(self.tokens)}

    def _outermost(self) -> Iterator[int]:
        at = 0
        while at < len(self.tokens):
            yield at
            at = self.pairs.get(at, at) + 1

    def _looseness(self, at: int, word: str) -> int:
        """Looseness of an operator or of a dot behind a bracket; 0 of all else.

        A binary operator has a blank on either side, a sign has none behind it.
        """
        before = self.tokens[at - 1].strip() if at else ""
        after = self.tokens[at + 1] if at + 1 < len(self.tokens) else ""
        if word == ".":
            return DOT if before in CLOSING else 0
        if word == "not":
            return COMPARATOR if after == " in" else 0
        if before == "not" or not after.startswith(" ") or not self.tokens[at].startswith(" "):
            return 0
        return OPERATORS.get(word, 0)

    @property
    def loosest_delimiter(self) -> int:
        """Looseness of the delimiters at which the line is broken first; 0 if it has none."""
        return max(self.delimiters.values(), default=0)

    def count(self, rank: int) -> int:
        """Number of delimiters of that looseness."""
        return sum(each == rank for each in self.delimiters.values())

    def part(self, start: int, stop: int | None = None) -> Line:
        """The tokens from `start` up to `stop`."""
        return Line(self.tokens[start:stop])

    def is_literal(self, opening: int) -> bool:
        """Whether the bracket opens a tuple, list, set or dict, and no call or subscript."""
        if opening == 0 or self.tokens[opening][0] == " ":
            return True
        last = self.tokens[opening - 1][-1]
        return not (last.isalnum() or last in "_)]}\"'")


def tokenize(text: str) -> Line:
    """The line of a text.

    >>> tokenize("f(x) - 'a b' * 1e-05").tokens
    ('f', '(', 'x', ')', ' -', " 'a b'", ' *', ' 1e-05')
    """
    return Line(tuple(TOKEN.findall(text.rstrip())))


STEP = 4
# What follows these words is no single expression, and means something else in parentheses.
NO_PARENTHESES = ("", "@", "import ", "global ", "nonlocal ", "del ")


def wrap(head: str, text: str, tail: str, *, indent: int, width: int) -> list[str]:
    """Lines of the statement `head + text + tail`, in which `text` may be put in parentheses.

    >>> print(*wrap("loss = ", "first_term * 2.0 + second_term", "", indent=0, width=36), sep="\\n")
    loss = (
        first_term * 2.0 + second_term
    )
    """
    if indent + len(head) + len(text) + len(tail) <= width:
        return [f"{' ' * indent}{head}{text}{tail}"]
    targets = _long_targets(head, indent, width)
    if targets is not None:
        first = _in_parentheses("", targets, "", indent, width)
        return [*first[:-1], *wrap(") = ", text, tail, indent=indent, width=width)]
    whole, body = tokenize(f"{head}{text}{tail}"), tokenize(text)
    if head in NO_PARENTHESES or not text:
        return _split(whole, indent, width)
    in_parentheses = _in_parentheses(head, body, tail, indent, width)
    if head.startswith("from ") or not _does_without_parentheses(head, body, indent, width):
        return in_parentheses
    return _at_own_brackets(whole, head, in_parentheses, indent, width)


def _long_targets(head: str, indent: int, width: int) -> Line | None:
    """The targets of `x_bar, w_bar, ... = ` if they fill a line by themselves."""
    targets = tokenize(head.removesuffix(" = "))
    is_one_tuple = head.endswith(" = ") and head.count(" = ") == 1 and targets.loosest_delimiter == COMMA
    return targets if is_one_tuple and indent + len(head) >= width else None


def _at_own_brackets(whole: Line, head: str, in_parentheses: list[str], indent: int, width: int) -> list[str]:
    """The statement opened at brackets of its body, or in parentheses where that reads better."""
    start = len(tokenize(head).tokens)
    openings = [each for each in _openings(whole, indent, width) if each >= start]
    if not openings:
        can_help = len(whole.tokens) > start + 1 or len(in_parentheses[1]) <= width
        return in_parentheses if can_help else _split(whole, indent, width)
    for opening in openings:
        if indent + len(whole.part(0, opening + 1).text) <= width:
            return _break_at_brackets(whole, opening, indent, width)
        is_behind_brackets = any(token in CLOSING for token in whole.tokens[start:opening])
        if _prefers_parentheses(head, indent, width) and not is_behind_brackets:
            return in_parentheses
    lines = _break_at_brackets(whole, openings[0], indent, width)
    if len(lines[0]) > width and all(len(line) <= width for line in in_parentheses):
        return in_parentheses
    return lines


def wrap_definition(head: str, parameters: Sequence[str], tail: str, *, indent: int, width: int) -> list[str]:
    """Lines of `head(parameters)tail`: the parameters on one line of their own, or one on each.

    >>> print(*wrap_definition("def f", ["x", "scale=1.0"], ":", indent=0, width=18), sep="\\n")
    def f(
        x, scale=1.0
    ):
    """
    one = ", ".join(parameters)
    margin, inner = " " * indent, " " * (indent + STEP)
    if not parameters or indent + len(head) + len(one) + len(tail) + 2 <= width:
        return [f"{margin}{head}({one}){tail}"]
    if len(parameters) > 1 and len(inner) + len(one) <= width:
        return [f"{margin}{head}(", inner + one, f"{margin}){tail}"]
    lines = [line for each in parameters for line in _lines(tokenize(f"{each},"), indent + STEP, width, inside=True)]
    return [f"{margin}{head}(", *lines, f"{margin}){tail}"]


def _in_parentheses(head: str, body: Line, tail: str, indent: int, width: int) -> list[str]:
    """The statement with parentheses around its body; the elements of a tuple get a line each."""
    if body.loosest_delimiter == COMMA or head.startswith("from "):
        inner = _at_delimiters(body, COMMA, indent + STEP, width)
    else:
        inner = _lines(body, indent + STEP, width, inside=True)
    first = _lines(tokenize(f"{head}("), indent, width, inside=False)
    return [*first, *inner, f"{' ' * indent}){tail}"]


def _does_without_parentheses(head: str, body: Line, indent: int, width: int) -> bool:
    """Whether the body is broken well enough at the brackets that it has."""
    rank = body.loosest_delimiter
    if rank == 0 or (rank == DOT and body.count(DOT) == 1):
        return True
    if body.count(rank) > 1 or (rank == COMMA and head.startswith("with ")):
        return False
    return _starts_with_brackets(body, indent, width) or _ends_with_brackets(body, indent, width)


def _starts_with_brackets(body: Line, indent: int, width: int) -> bool:
    """`(...) * c`: what follows the brackets, up to the next ones, fits on a line."""
    closing = body.pairs.get(0, 0)
    if closing < 2:
        return False
    following = [at for at in body.pairs if at > closing]
    stop = following[0] + 1 if following else None
    return indent + STEP + len(body.part(closing, stop).text) <= width


def _ends_with_brackets(body: Line, indent: int, width: int) -> bool:
    """`c * f(...)`: what is in front of the last brackets fits on a line, or has brackets itself."""
    last = len(body.tokens) - 1
    opening = next((a for a, b in body.pairs.items() if b == last), last)
    if last - opening < 2 or (body.tokens[last] == "]" and not body.is_literal(opening)):
        return False
    others = any(at < opening for at in body.pairs)
    return others or indent + STEP + len(body.part(0, opening + 1).text) <= width


def _prefers_parentheses(head: str, indent: int, width: int) -> bool:
    """`a[i] = f(x)` should not be broken inside `a[i]`."""
    has_brackets = any(character in OPENING for character in head)
    return head.endswith(" = ") and has_brackets and indent + len(head) < width


def _lines(line: Line, indent: int, width: int, *, inside: bool) -> list[str]:
    """The line, broken if it is too long; `inside` brackets it may be broken at its delimiters.

    Brackets so deep that the margin is as wide as the page are left alone.
    """
    if indent + len(line.text) <= width or indent >= width:
        return [" " * indent + line.text]
    rank = line.loosest_delimiter
    if inside and rank and not (rank == DOT and line.count(DOT) == 1):
        return _at_delimiters(line, rank, indent, width)
    return _split(line, indent, width)


def _at_delimiters(line: Line, rank: int, indent: int, width: int) -> list[str]:
    """The parts of the line between the delimiters of that looseness, each on a line."""
    places = [at for at, each in line.delimiters.items() if each == rank]
    tokens = line.tokens
    if rank == COMMA and tokens[-1] != ",":
        tokens = (*tokens, ",")
    stops = [*sorted(places), len(tokens)]
    parts = [Line(tokens[a:b]) for a, b in zip([0, *stops], stops, strict=False)]
    return [text for part in parts for text in _lines(part, indent, width, inside=True)]


def _split(line: Line, indent: int, width: int) -> list[str]:
    """The line, opened at the right-most brackets that leave a first line short enough."""
    openings = list(_openings(line, indent, width))
    for opening in openings:
        if indent + len(line.part(0, opening + 1).text) <= width:
            return _break_at_brackets(line, opening, indent, width)
    return _break_at_brackets(line, openings[0], indent, width) if openings else [" " * indent + line.text]


def _openings(line: Line, indent: int, width: int) -> Iterator[int]:
    """Brackets with something in them, from the right, while what follows them fits on a line."""
    for count, (opening, closing) in enumerate(reversed(line.pairs.items())):
        if count and indent + len(line.part(closing).text) > width:
            return
        if closing > opening + 1:
            yield opening


def _break_at_brackets(line: Line, opening: int, indent: int, width: int) -> list[str]:
    """The line with a line break behind the opening and in front of the closing bracket."""
    closing = line.pairs[opening]
    body = line.part(opening + 1, closing)
    if line.is_literal(opening) and body.loosest_delimiter == COMMA:
        inner = _at_delimiters(body, COMMA, indent + STEP, width)
    else:
        inner = _lines(body, indent + STEP, width, inside=True)
    first = _lines(line.part(0, opening + 1), indent, width, inside=False)
    return [*first, *inner, *_lines(line.part(closing), indent, width, inside=False)]
