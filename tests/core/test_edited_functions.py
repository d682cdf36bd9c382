"""A function is never given the text of another: not after an edit, not after a redefinition."""

from __future__ import annotations

import ast
import importlib.util
import linecache
import os

import gast
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.source_text import module_of, same_code, source_of
from tests.core.test_source import run, text_of

FIRST = "def f(x, n=1):\n    return x * 3.0 + n\n"


def load(path, text):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("edited", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def edit(path, text):
    path.write_text(text)
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 2_000_000_000))


def stale(function):
    with pytest.raises(DifferentiationError) as caught:
        source_of(function)
    assert caught.value.code == "E5008"
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "def f(x, n=1):\n    return x * 4.0 + n\n",
        "def f(x, n=1):\n    return x * 3 + n\n",
        "def f(y, n=1):\n    return y * 3.0 + n\n",
        "def g(x, n=1):\n    return x * 3.0 + n\n",
        "def f(x, n=1):\n    return x * 3.0 +\n",
        "",
    ],
)
def test_edited_file_is_refused(tmp_path, text):
    path = tmp_path / "edited.py"
    module = load(path, FIRST)
    assert text_of(module.f) == "return x * 3.0 + n"
    edit(path, text)
    error = stale(module.f)
    assert str(tmp_path) not in str(error)


def test_edited_default_is_refused(tmp_path):
    path = tmp_path / "edited.py"
    module = load(path, FIRST)
    edit(path, FIRST.replace("n=1", "n=1.0"))
    assert stale(module.f).place.column == 11


def test_edited_keyword_default_is_refused(tmp_path):
    path = tmp_path / "edited.py"
    module = load(path, "def f(x, *, axis=-1):\n    return x\n")
    edit(path, "def f(x, *, axis=-2):\n    return x\n")
    assert "default" in stale(module.f).message


def test_function_that_moved_is_found(tmp_path):
    path = tmp_path / "edited.py"
    module = load(path, FIRST)
    edit(path, "import math\n\n" + FIRST)
    assert source_of(module.f).first == 3


def test_redefinition_in_another_cell():
    old = run("def f(x):\n    return x + 1\n")["f"]
    new = run("def f(x):\n    return x + 2\n")["f"]
    assert (text_of(old), text_of(new)) == ("return x + 1", "return x + 2")


def test_redefinition_under_the_same_file_name():
    old = run("def f(x):\n    return x + 1\n", "<again>")["f"]
    new = run("def f(x):\n    return x + 2\n", "<again>")["f"]
    assert text_of(new) == "return x + 2"
    stale(old)


def test_redefinition_within_one_file():
    names = run("def f(x):\n    return x + 1\ng = f\ndef f(x):\n    return x + 2\n")
    assert (text_of(names["g"]), text_of(names["f"])) == ("return x + 1", "return x + 2")


def test_replaced_code_is_the_code_that_counts():
    names = run("def f(x):\n    return x + 1\ndef g(x):\n    return x + 2\n")
    names["f"].__code__ = names["g"].__code__
    assert text_of(names["f"]) == "return x + 2"


def test_functions_of_tests_that_assert():
    def checked(x):
        assert x > 0, "pytest rewrites this statement"
        return x * 2.0

    assert text_of(checked) == "return x * 2.0"


def code_of(text):
    module = module_of(text, tuple(text.splitlines()), 0)
    return module.codes["f", 1][0]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("x + 1", "x + 1  # a comment", True),
        ("x + 1", "(x +\n 1)", True),
        ("x + 1", "x + 1.0", False),
        ("x + 1", "x + True", False),
        ("x * 0.0", "x * -0.0", False),
        ("x * 1e999", "x * 1e999", True),
        ("x in {1, 2}", "x in {1, 3}", False),
        ("x[0:1]", "x[0:2]", False),
        ("(lambda y: y + 1)(x)", "(lambda y: y + 2)(x)", False),
        ("np.sin(x)", "np.cos(x)", False),
    ],
)
def test_same_code(one, other, expected):
    texts = [f"def f(x):\n    return {body}\n" for body in (one, other)]
    assert same_code(*map(code_of, texts)) is expected


def test_many_lambdas_are_told_apart_without_columns():
    body = ", ".join(f"lambda x: (lambda y: y * {n})(x + {n})" for n in range(20))
    functions = run(f"fs = [{body}]\n")["fs"]
    for n, function in enumerate(functions):
        source = source_of(_without_columns(function))
        assert gast.unparse(source.tree.body[0].value).strip() == f"(lambda y: y * {n})(x + {n})"


def _without_columns(function):
    """The function as an interpreter would make it that keeps no columns."""
    code = function.__code__
    if hasattr(code, "co_linetable") and hasattr(code, "co_positions"):
        table = _line_only(code)
        function.__code__ = code.replace(co_linetable=table)
    return function


def _line_only(code):
    """A position table that gives each unit of code the line of the function and no columns."""
    units, table = len(code.co_code) // 2, bytearray()
    while units:
        length = min(units, 8)
        table += bytes([0x80 | (13 << 3) | (length - 1), 0])
        units -= length
    return bytes(table)


CELL = (
    "import numpy as np\n\n\ndef f(x):\n    return np.sum(np.tanh(x)) * 2.0\n\n\n"
    "g, h = lambda x: np.sin(x), lambda x: np.cos(x)\n"
)


def test_a_cell_of_which_each_statement_was_compiled_by_itself():
    """As IPython does: beside `import numpy as np` Python calls `np.tanh` by other instructions."""
    name = "<ipython-input-7-0123>"
    linecache.cache[name] = (len(CELL), None, CELL.splitlines(keepends=True), name)
    names = {}
    for statement in ast.parse(CELL).body:
        exec(compile(ast.Module([statement], []), name, "exec"), names)
    assert srcgrad.grad(names["f"])(0.0) == 2.0
    assert srcgrad.grad(names["g"])(0.0) == 1.0
    assert srcgrad.grad(names["h"])(0.0) == 0.0
