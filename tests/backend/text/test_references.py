"""Names are found word by word where a text is plain, and these are the names that its tree has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from srcgrad.backend.text import module
from srcgrad.backend.text.module import dotted_names

ROOT = Path(__file__).parents[3]
PLACES = ("tests/golden", "examples", "srcgrad/backend/text", "srcgrad/runtime", "srcgrad/templates")


def texts(place: str) -> Iterator[str]:
    """Each function and each assignment of the files in a folder."""
    for path in sorted((ROOT / place).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.Assign) and not node.col_offset:
                yield ast.get_source_segment(text, node) or ""


@pytest.mark.parametrize("place", PLACES)
def test_names_found_by_words_are_those_of_the_tree(place: str) -> None:
    plain = 0
    for text in texts(place):
        names = module._free_names(text)
        assert module.references(text) == module._parse_references(text, names), text
        plain += not names & module._bound_names(text) and dotted_names(text, names) is not None
    assert plain > 30


UNCOMMON = {
    "a number": "def f(x):\n    return x * 1e3 + e3",
    "an annotation": "def f(x: int = int(3), y: float | None = None):\n    return x",
    "a name that is bound elsewhere": "def f(g):\n    def h(x):\n        return k(x)\n    return [k for k in g], h",
    "a name of a string": "def f(x):\n    return x['k'] + k  # k\n",
    "a name in an f-string": "def f(x):\n    return f'{k}' + rF'{k}'",
    "a chain over lines": "def f(x):\n    return (np\n        .linalg  # here\n        .norm(x))",
    "a chain with brackets": "def f(x):\n    return (np).sin(x)",
    "a blank behind the point": "def f(x):\n    return x. k + k",
    "an import inside": "def f(x):\n    import k.j\n    return k.i(x)",
    "its own name": "def f(x):\n    return f(x - 1.0) * k if x > k else f.__name__",
    "another alphabet": "def f(x):\n    return x * \u00e4 + \ufb01",
    "a function called top": "def top(x):\n    return x * k",
    "a stored attribute": "def f(x):\n    k.n = x\n    k.m += x\n    return k(k=k)",
}


@pytest.mark.parametrize("text", UNCOMMON.values(), ids=UNCOMMON)
def test_uncommon_texts(text: str) -> None:
    assert module.references(text) == module._parse_references(text, module._free_names(text))
