"""The mark of a file that srcgrad writes: the hash of all its other lines, by which an edit is seen."""

from __future__ import annotations

import hashlib
import re

_TOLD = "Written by srcgrad; sha256 of all other lines: "
_LINE = re.compile(rf"^(?:# |<!-- ){_TOLD}([0-9a-f]{{16}})(?: -->)?\n", re.MULTILINE)
_COMMENTS = re.compile(r"(?:#.*\n)*")


def marked(text: str) -> str:
    """A text of Python or a page with its mark: a comment behind those at the top, or at the end of a page.

    >>> print(marked("# Generated.\\nx = 1\\n"), end="")
    # Generated.
    # Written by srcgrad; sha256 of all other lines: 612439d8e8a51914
    x = 1
    """
    told = f"{_TOLD}{_digest(text)}"
    if text.startswith("<!doctype html>"):
        return f"{text}<!-- {told} -->\n"
    comments = _COMMENTS.match(text)
    top = 0 if comments is None else comments.end()
    return f"{text[:top]}# {told}\n{text[top:]}"


def unmarked(text: str) -> str:
    """A text without its mark."""
    return _LINE.sub("", _lines(text), count=1)


def has_mark(text: str) -> bool:
    """Whether srcgrad has written a text, whatever became of it since."""
    return _TOLD in text


def is_as_written(text: str) -> bool:
    """Whether a text has its mark and is what was written with it; line ends may be others.

    >>> made = marked("x = 1\\n")
    >>> is_as_written(made), is_as_written(made.replace("1", "2")), is_as_written("x = 1\\n")
    (True, False, False)
    """
    found = _LINE.search(_lines(text))
    return found is not None and found[1] == _digest(unmarked(text))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
