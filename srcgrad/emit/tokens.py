"""The tokens of one long line, with its brackets paired and the places where it may be broken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from srcgrad.frozen import record

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
    def loosest(self) -> int:
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
