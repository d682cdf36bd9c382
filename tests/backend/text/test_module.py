"""The layout of a generated module: imports, constants, functions."""

from __future__ import annotations

import pytest

from srcgrad.backend.text.definitions import (
    Import,
    Literal,
    OutputFunction,
    OutsideObject,
    import_of_value,
    literal,
)
from srcgrad.backend.text.module import (
    Reference,
    body,
    gap,
    import_lines,
    local_names,
    references,
    remark,
    replace_references,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], []),
        (["import numpy as np", "import math"], ["import math", "", "import numpy as np"]),
        (
            [
                "from srcgrad.runtime import sum_to",
                "from scipy.special import erf",
                "from srcgrad.runtime import count",
            ],
            ["from scipy.special import erf", "from srcgrad.runtime import count, sum_to"],
        ),
        (
            [f"from numpy import {name * 12}" for name in "abcdefgh"],
            [
                "from numpy import (",
                *(f"    {name * 12}," for name in "abcdefgh"),
                ")",
            ],
        ),
    ],
)
def test_import_lines(given, expected):
    assert import_lines(given) == expected


def test_constants_stand_close_and_functions_apart():
    texts = [
        (Literal("1"), "a = 1"),
        (Literal("2"), "b = 2"),
        (OutputFunction("f"), "def f():\n    return a"),
        (OutputFunction("g"), "def g():\n    return b"),
    ]
    expected = "a = 1\nb = 2\n\n\n# why\ndef f():\n    return a\n\n\ndef g():\n    return b"
    assert body(texts, {OutputFunction("f"): "# why"}) == expected
    assert (gap(texts), gap(texts[2:])) == ("", "\n")


def test_remark_wraps():
    lines = remark("word " * 40, "  ").split("\n")
    assert all(len(line) <= 88 for line in lines)
    assert lines[1].startswith("#   word")


def test_references_follow_scopes():
    text = "def f(x, n=size):\n    def inner(scale):\n        return scale * factor\n"
    text += "    return [k for k in x.rows if k > low]"
    assert [found.parts for found in references(text)] == [("size",), ("factor",), ("low",)]
    assert local_names(text) == {"x", "n", "inner", "scale", "k"}


def test_a_dotted_name_over_several_lines():
    text = "y = (helpers\n    .scale).real"
    [found] = references(text)
    assert replace_references(text, {found: (2, "scale")}) == "y = (scale).real"


def test_brackets_inside_a_dotted_name():
    assert [item.fixed for item in references("y = (helpers).scale")] == [True]


def test_positions_are_characters():
    text = "y = 'é' + helper(x)"
    found = {item.parts: item for item in references(text)}
    assert replace_references(text, {found[("helper",)]: (1, "other")}) == "y = 'é' + other(x)"


def test_names_in_f_strings_cannot_be_changed():
    assert [item.fixed for item in references("f'{name}'")] == [True]
    assert isinstance(references("name")[0], Reference)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), [1.0], object()])
def test_no_literal(value):
    assert literal(value) is None


def test_objects_of_users_are_not_imported():
    assert import_of_value(test_remark_wraps) is None
    assert import_of_value(pytest) == Import("pytest")
    assert OutsideObject(1, "a") == OutsideObject(1, "b")
