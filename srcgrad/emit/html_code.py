"""Python and C as HTML, line by line, with colours where Pygments is installed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any  # Pygments has no types of its own

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


def coloured(lines: Sequence[str], language: str = "python") -> list[str]:
    """The HTML of each line; text as it is where Pygments is missing.

    >>> coloured(["x = 1 < 2"])[0] in ("x = 1 &lt; 2", 'x = <span class="m">1</span> &lt; <span class="m">2</span>')
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
