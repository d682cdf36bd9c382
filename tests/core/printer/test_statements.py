"""The text of statements: what is typed comes back, and comments, blanks and user's lines are kept."""

from __future__ import annotations

import ast

import gast
import pytest

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.printer import Blank, Comment, Verbatim, function, placed_lines, statement

STABLE = '''\
@decorate(1)
@plain
def everything(x, y=1.0, /, z: int = 2, *rest, k=3, **options) -> int:
    """First line.

    A backslash \\\\ and quotes "here".
    """
    import numpy as np
    from .a import b as c, d

    global g
    x = y = x, y
    (x,) = y
    x, *y = z
    x[i], y.a = z
    x += y
    x: int
    x.a: float = 1.0
    (z): int = 2
    del x, y[0]
    assert x, "message"
    raise ValueError("no") from None
    for i, (j, k) in enumerate(x):
        if (n := i) > 1 and not j:
            continue
        elif j:
            break
        else:
            pass
    else:
        y
    while x:
        x -= 1
    else:
        raise
    with a, b as c:
        yield x
    try:
        x
    except (A, B) as error:
        y
    except C:
        z
    else:
        x
    finally:
        y

    def inner():
        """Only a docstring."""

    if x:

        def other():
            nonlocal y
            return

    x = yield
    return x, y
'''


def test_all_statements_come_back() -> None:
    assert function(gast.parse(STABLE).body[0]) == STABLE


def test_comments_blanks_and_verbatim_lines() -> None:
    tree = gast.parse("def f(x):\n    pass").body[0]
    values = [
        Verbatim("y = x  # user's own\n\nif y:\n    pass"),
        Blank(""),
        Blank(""),
        Comment("# line 8: " + "x" * 30),
    ]
    tree.body = [gast.Expr(gast.Constant(value, None)) for value in values]
    assert function(tree, width=30) == (
        "def f(x):\n    y = x  # user's own\n\n    if y:\n        pass\n\n    # line 8: xxxxxxxxxxxxx...\n"
    )


def test_a_block_of_comments_gets_a_pass() -> None:
    tree = gast.parse("if x:\n    pass").body[0]
    tree.body = [gast.Expr(gast.Constant(Comment("# nothing to do"), None))]
    assert statement(tree, 4) == ["    if x:", "        # nothing to do", "        pass"]


def test_the_gap_above_an_inner_function_is_above_its_comment() -> None:
    tree = gast.parse("def f(x):\n    x = 1\n    def g(): return x\n    return g").body[0]
    tree.body.insert(1, gast.Expr(gast.Constant(Comment("# the pullback"), None)))
    assert function(tree).splitlines()[1:4] == ["    x = 1", "", "    # the pullback"]


@pytest.mark.parametrize("text", ['ends with "quote"', 'a """ inside', "tab\there", "nul\x00", "", " \n"])
def test_docstrings_keep_their_value(text: str) -> None:
    tree = gast.parse("def f(): pass").body[0]
    tree.body.insert(0, gast.Expr(gast.Constant(text, None)))
    again = ast.parse(function(tree)).body[0]
    assert isinstance(again, ast.FunctionDef)
    assert ast.get_docstring(again, clean=False) == text


def test_a_class_is_printed_by_astor() -> None:
    tree = gast.parse("class Pair:\n    x: int = 1").body[0]
    assert statement(tree, 4) == ["    class Pair:", "        x: int = 1"]


def test_a_statement_that_cannot_be_printed_is_refused() -> None:
    tree = gast.parse("match x:\n    case 1: pass").body[0]
    with pytest.raises(DifferentiationError, match="E5005"):
        statement(tree)


def test_comments_far_to_the_right_stay_comments():
    """Behind more blanks than a line has columns, `...` alone was left of one: a statement, and not in its block."""
    block = gast.Expr(gast.Constant(Comment("# line 7: y = x * x"), None))
    for _ in range(40):
        block = gast.If(gast.Name("x", gast.Load(), None, None), [block], [])
    lines = statement(block)
    assert lines[-2].strip() == "# line 7: y =..."
    ast.parse("\n".join(lines))


def test_each_line_is_of_its_statement_where_an_empty_line_comes_between():
    """The empty line above an inner function goes above its comment, whose place it moves."""
    body = gast.parse("x = 1\nif x:\n    y = 2\ndef g():\n    return y\nz = 3\n").body
    remark = gast.Expr(gast.Constant(Comment("# why"), None))
    whole = gast.parse("def f(): pass").body[0]
    whole.body = [*body[:2], remark, *body[2:]]
    found = placed_lines(whole)
    assert [line for line, _ in found if "#" in line or not line] == ["", "    # why", ""]
    assert [node for line, node in found if "#" in line] == [remark]
    assert all(node is None or node is whole for line, node in found if not line)
    told = {line.strip(): node for line, node in found}
    assert [told[line] for line in ("x = 1", "if x:", "def g():", "z = 3")] == [*body[:2], *body[2:]]
