"""Sessions in docstrings (`>>> x`) are fenced as code: Markdown would take `>>>` for a quotation of a quotation."""

from __future__ import annotations

from typing import Any  # what mkdocs gives


def fenced(lines: list[str]) -> list[str]:
    """Lines of Markdown, with a fence around each session that has none: from its prompt to an empty line.

    >>> fenced(["Squares.", "", ">>> 2 * 2", "4", ""])
    ['Squares.', '', '```pycon', '>>> 2 * 2', '4', '```', '']
    """
    made: list[str] = []
    code = session = False
    for line in lines:
        code ^= line.startswith("```")
        if session and not line.strip():
            made.append("```")
            session = False
        elif not session and not code and line.startswith(">>> "):
            made.append("```pycon")
            session = True
        made.append(line)
    return [*made, "```"] if session else made


def on_config(config: Any) -> None:
    """Mkdocs calls this before it builds; Markdown is there then, and need not be where the tests run."""
    from markdown.extensions import Extension
    from markdown.preprocessors import Preprocessor

    class Sessions(Preprocessor):
        def run(self, lines: list[str]) -> list[str]:
            return fenced(lines)

    class Fenced(Extension):
        def extendMarkdown(self, md: Any) -> None:  # noqa: N802  (Markdown's name)
            md.preprocessors.register(Sessions(md), "sessions", 27)  # after white space (30), before fences (25)

    config.markdown_extensions.append(Fenced())
