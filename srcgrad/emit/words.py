"""Names that a plain text reads, found word by word: parsing it for them costs more than printing it did."""

from __future__ import annotations

import re
from bisect import bisect_right

_WORDS = re.compile(
    r"""([a-zA-Z_][\w.]*)|\#[^\n]*"""
    r"""|\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""",
    re.ASCII | re.DOTALL,
)
_BLANK = r"(?:[\s\\]|\#[^\n]*(?![^\n]))*"  # a comment as a whole
_GOES_ON = re.compile(rf"{_BLANK}(?:\){_BLANK})*\.")  # `np\n.sin`, `(a).b`
_IS_BOUND = re.compile(rf"{_BLANK}:?=(?!=)")  # a keyword, or a parameter with a default
_BINDING = frozenset(("import", "global", "nonlocal", "class", "del", "match"))
_QUOTES = ('"', "'")


def dotted(text: str, names: frozenset[str]) -> list[tuple[int, int, str]] | None:
    """The dotted names of a text that begin with one of `names`, which it binds nowhere: line, column, spelling.

    None where only a parser can tell: f-strings, names that go on behind a bracket or in the next line, imports.

    >>> dotted("def f(x, n=N):  # N is here\\n    return np.linalg.norm(x, N=x.N)", frozenset(["np", "N"]))
    [(0, 11, 'N'), (1, 11, 'np.linalg.norm')]
    >>> dotted("y = np.linalg \\\\\\n    .norm(x)", frozenset(["np"])) is None
    True
    >>> dotted("z = 2 * y  # of x = 1", frozenset(["y"]))
    [(0, 8, 'y')]
    """
    if not text.isascii():
        return None  # Python has several spellings of one name
    found: list[tuple[int, int, str]] = []
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for match in _WORDS.finditer(text):
        word = match[1]
        if word is None:
            continue  # a string, or a comment
        root = word.partition(".")[0]
        if root in _BINDING or (text[match.end() : match.end() + 1] in _QUOTES and "f" in word.lower()):
            return None
        ahead = text[match.start() - 1 : match.start()]
        if root not in names or ahead == "." or ahead.isdigit():  # an attribute, or the end of 1e3
            continue
        before = text[: match.start()].rstrip(" \t\\")
        typed = before.endswith((":", "|"))  # `n: int = 3`
        if root == word and not typed and _IS_BOUND.match(text, match.end()):
            continue
        if word.endswith(".") or before.rstrip().endswith(".") or _GOES_ON.match(text, match.end()):
            return None
        if not before.endswith("def"):
            line = bisect_right(starts, match.start()) - 1
            found.append((line, match.start() - starts[line], word))
    return found
