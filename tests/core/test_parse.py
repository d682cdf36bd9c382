"""Text that Python cannot parse is refused with a code and a place."""

from __future__ import annotations

import ast

import pytest

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.source_text import comments, function_tree, parse, parse_target, split_lines
from srcgrad.interface.dump import dump


def refusal(text):
    with pytest.raises(DifferentiationError) as caught:
        parse_target(text, "model.py")
    return caught.value


def test_syntax_error_has_place_and_caret():
    error = refusal("x = 1\ny = 'é' + * 2\n")
    assert error.code == "E5015"
    assert (error.place.file, error.place.line, error.place.column) == ("model.py", 2, 10)


@pytest.mark.parametrize("text", ["def f(:\n", "if x:\n", "\tx\n  y\n", "'abc", "x = (\n", "x = 1\x00\n", "🙂 = 1"])
def test_text_that_is_not_python(text):
    assert refusal(text).code == "E5015"


def test_nested_parentheses():
    assert refusal("x = " + "(" * 100_000 + "1" + ")" * 100_000 + "\n").code in ("E5015", "E5016")


def test_many_signs():
    assert refusal("x = " + "-" * 100_000 + "1\n").code == "E5016"


def test_long_sum():
    text = "def f(x):\n    y = x\n    return " + " + ".join(["x"] * 5_000) + "\n"
    with pytest.raises(DifferentiationError) as caught:
        function_tree(parse_target(text, "sum.py").body[0], "sum.py", split_lines(text))
    assert caught.value.code == "E5016"
    assert caught.value.place is None or caught.value.place.line == 3


def test_user_text_never_warns():
    parse("def f(x):\n    '\\d'\n    return x is 1\n")


def test_comments_do_not_need_whole_statements():
    lines = ["f(lambda x: (", "    x  # first", "), 1)  # last", "y = '# none'"]
    assert comments(lines, 1, 2, whole=True) == {2: "# first"}
    assert comments(lines, 4, 4) == {}


def test_lambda_becomes_a_def_that_returns():
    text = "f = lambda x, *, k=1: (\n    x + k)\n"
    [node] = [item for item in ast.walk(parse(text)) if isinstance(item, ast.Lambda)]
    tree = function_tree(node, "f.py", split_lines(text))
    assert (tree.name, tree.lineno, tree.col_offset, tree.body[0].lineno) == ("lambda_", 1, 4, 2)


def test_a_caret_stands_under_characters_not_bytes():
    """Of an error that is found where a derivative is made."""
    with pytest.raises(DifferentiationError) as caught:
        dump("-:f", text="def f(x):\n    return x * len('é\U0001d465') + (x & 1)\n")
    place = caught.value.place
    assert place.text[place.column : place.column + place.width] == "x & 1"
