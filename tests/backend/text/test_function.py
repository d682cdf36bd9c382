"""The comments that cite the user's lines: true for each statement below them, and complete."""

from __future__ import annotations

from collections.abc import Generator

import gast
import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError
from srcgrad.backend.text import function
from srcgrad.core.facts import Facts
from srcgrad.core.printer import Comment
from srcgrad.core.trees import COMPOUND, Block, Node, statements, walk
from tests.texts import texts

DRAWN = 30  # of the texts of reverse mode


def line_cited(node: Node) -> int | None:
    """The line that a comment cites."""
    text = node.value.value if isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant) else ""
    cites = isinstance(text, Comment) and text.startswith("# line ")
    return int(text.split()[2].rstrip(":")) if cites else None


def is_text(node: Node) -> bool:
    """Whether a statement stands as the user wrote it."""
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)


def wrong_lines(block: Block, facts: Facts, last: int, head: int) -> Generator[str, None, int]:
    """Statements that do not come from the line that is cited last above them; that line at the end of the block.

    Zeros and empty lists come from no line; what belongs to the header of a loop may stand right below that.
    """
    below = True
    for node in block:
        line = getattr(node, "lineno", None)
        cited = line_cited(node)
        if cited is not None:
            last, below = cited, False
        elif node in facts.origin.again_written or node in facts.origin.user or is_text(node):
            last = 0  # of the forward half
        elif isinstance(node, COMPOUND):
            own = line if isinstance(node, gast.For | gast.While) else 0
            for inner in (node.body, getattr(node, "orelse", None) or []):
                last = yield from wrong_lines(inner, facts, last, own)
            below = True
        elif line is not None and node not in facts.tape.zeros and node not in facts.tape.restores:
            if below and line == head:
                last = 0
            elif line != last:
                yield f"line {line} below {last}: {gast.unparse(node)}"
    return last


def test_comments_name_the_lines_of_their_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those whose adjoints were written into the line of another one."""
    known, wrong, count = function.cite_lines, [], 0

    def cite(block: Block, facts: Facts) -> Block:
        nonlocal count
        made = known(block, facts)
        wrong.extend(wrong_lines(made, facts, 0, 0))
        cited = {line_cited(node) for node in statements(made)}
        parts = [part for node in statements(block) for part in walk(node)]
        joined = {facts.origin.joined[part] for part in parts if part in facts.origin.joined}
        wrong.extend(f"line {line} is not cited" for line in joined & set(facts.origin.lines) - cited)
        count += len(cited)
        return made

    monkeypatch.setattr(function, "cite_lines", cite)
    every = [text for name, text in texts().items() if "/reverse" in name or "/vjp" in name]
    for text in every[:: len(every) // DRAWN]:
        try:
            text.make()
        except DifferentiationError:
            continue
    assert count > DRAWN
    assert not wrong


def test_lines_in_a_match_and_lines_joined() -> None:
    """A side of `match` or `try` has its line, and a loop's header has it again behind the loop."""

    def f(kind, x):  # type: ignore[no-untyped-def]
        match kind:
            case "spring":
                y = x * x * 3.0
            case _:
                y = x
        return y * y

    first = f.__code__.co_firstlineno
    text = srcgrad.source(f, wrt="x")
    assert f"# line {first + 3}: y = x * x * 3.0" in text
    assert f"# line {first + 6}: return y * y" in text


def test_lines_of_rules_have_no_numbers() -> None:
    """A line of a rule that is written out is cited without its number in a file of srcgrad's."""

    def f(x):  # type: ignore[no-untyped-def]
        return np.sum(np.cumsum(x, dtype=float) ** 2)

    text = srcgrad.source(f)
    assert "        # return np.cumsum(np.asarray(a, dtype), axis=axis)\n" in text
    assert f"    # line {f.__code__.co_firstlineno + 1}: return np.sum(np.cumsum(x, dtype=float) ** 2)\n" in text
