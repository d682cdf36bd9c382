"""The definitions that may be in force when a module has run."""

from __future__ import annotations

import ast

import pytest

from srcgrad.core.bindings import scan


def table(text, importable=lambda found: True):
    found = scan(ast.parse(text).body, importable)
    return {name: [(d.kind, d.line, d.certain) for d in defined] for name, defined in found.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\nx = 2", {"x": [("value", 2, True)]}),
        ("x: int\ny: int = 2", {"y": [("value", 2, True)]}),
        ("a = b = 1", {"a": [("value", 1, True)], "b": [("value", 1, True)]}),
        ("a, (b, *c) = z", {name: [("value", 1, True)] for name in "abc"}),
        ("f = lambda x: x", {"f": [("function", 1, True)]}),
        ("n = 1\nn += 1", {"n": [("value", 2, True)]}),
        ("if c:\n  x = 1\nelse:\n  x = 2", {"x": [("value", 2, False), ("value", 4, False)]}),
        ("x = 0\nif c:\n  x = 1", {"x": [("value", 1, True), ("value", 3, False)]}),
        ("if TYPE_CHECKING:\n  import a\nelse:\n  import b", {"b": [("import", 4, True)]}),
        ("if __name__ == '__main__':\n  x = 1", {}),
        ("for i in s:\n  k = i", {"i": [("value", 1, True)], "k": [("value", 2, False)]}),
        ("with open(p) as file:\n  x = 1", {"file": [("value", 1, True)], "x": [("value", 2, True)]}),
        ("v = [i for i in s if (w := i)]", {"v": [("value", 1, True)], "w": [("value", 1, True)]}),
        ("x = 1\ndel x", {"x": [("deleted", 2, True)]}),
        (
            "n = 0\ndef f():\n  global n\n  n = 1",
            {"n": [("value", 1, True), ("value", 3, False)], "f": [("function", 2, True)]},
        ),
        ("import a.b\nimport c.d as e", {"a": [("import", 1, True)], "e": [("import", 2, True)]}),
        ("from m import *", {"*": [("star", 1, True)]}),
        (
            "match v:\n  case [p, *q]:\n    r = 1",
            {"p": [("value", 1, True)], "q": [("value", 1, True)], "r": [("value", 3, False)]},
        ),
        ("try:\n  x = f()\nexcept ValueError:\n  x = 0", {"x": [("value", 2, False), ("value", 4, False)]}),
    ],
)
def test_scan(text, expected):
    assert table(text) == expected


GUARDED = "try:\n  import quick as np\nexcept ImportError:\n  import numpy as np\nfinally:\n  x = 1"


def test_import_that_succeeds_is_taken():
    assert table(GUARDED) == {"np": [("import", 2, True)], "x": [("value", 6, True)]}


def test_import_that_fails_leaves_its_handler():
    expected = {"np": [("import", 4, True)], "x": [("value", 6, True)]}
    assert table(GUARDED, lambda found: found.module == "numpy") == expected
