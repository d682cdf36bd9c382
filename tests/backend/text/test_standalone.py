"""Standalone modules: the same bytes everywhere, laid out as black has it, with what users said of their functions."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from srcgrad import runtime
from srcgrad.backend.text.definitions import tidy_body
from srcgrad.core.source_text import source_of
from srcgrad.interface import dump as interface_dump
from srcgrad.interface.check.check import check_grads
from srcgrad.interface.cli import main
from srcgrad.interface.dump import dump

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "standalone"
MADE = FOLDER / "model_grad.py"
MODULES = sorted({value.__module__ for value in vars(runtime).values() if inspect.isfunction(value)})
# `dump(...).text` as below; the command writes the same, and a line with the hash of all others.


def run_tool(*words):
    """What a tool says of files; nothing where it finds nothing."""
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False, timeout=600)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def names_of(text):
    names = {}
    exec(compile(text, "<standalone>", "exec", dont_inherit=True), names)
    return names


def without_runtime(text):
    """A text without the functions of the runtime, which change for reasons of their own."""
    lines = text.splitlines()
    ours = {name for module in MODULES for name in vars(importlib.import_module(module))}
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.FunctionDef) and node.name in ours:
            del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines)


def test_the_text_is_the_same_on_every_python(tmp_path):
    """It is kept in the repository, and the tests run on all that are supported."""
    made = dump(f"{FOLDER / 'model.py'}:energy", standalone=True, output=str(MADE)).text
    assert without_runtime(made) == without_runtime(MADE.read_text(encoding="utf-8"))
    path = tmp_path / "made.py"
    path.write_text(made, encoding="utf-8")
    assert run_tool("black", "--check", "--line-length", "88", str(path)) == ""
    assert run_tool("ruff", "check", "--isolated", "--select", "E4,E7,E9,F,I", str(path)) == ""


def test_the_text_needs_numpy_alone_and_is_right():
    text = MADE.read_text(encoding="utf-8")
    imported = {line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import", "from"))}
    assert imported == {"numpy", "math"}
    blocked = "import sys; sys.modules['srcgrad'] = None; sys.modules['pandas'] = None; import model_grad"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", blocked], cwd=FOLDER, check=False, capture_output=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    names = names_of(text)
    model = names_of((FOLDER / "model.py").read_text(encoding="utf-8"))["energy"]
    x, h = np.array([0.3, -0.7, 0.2]), 1e-6
    x_bar, w_bar, scale_bar = names["energy_grad"](x)
    moved = [(model(x + h * e) - model(x - h * e)) / (2.0 * h) for e in np.eye(3)]
    np.testing.assert_allclose(x_bar, moved, rtol=1e-7)  # truncation of the difference
    np.testing.assert_allclose(w_bar, (model(x, 2.0 + h) - model(x, 2.0 - h)) / (2.0 * h), rtol=1e-7)
    np.testing.assert_allclose(scale_bar, (model(x, scale=1.5 + h) - model(x, scale=1.5 - h)) / (2.0 * h), rtol=1e-7)


def test_signature_defaults_and_docstring_are_kept():
    names = names_of(MADE.read_text(encoding="utf-8"))
    made = inspect.signature(names["energy_grad"])
    assert list(made.parameters)[:2] == ["x", "w"]
    assert made.parameters["x"].annotation is np.ndarray
    assert made.parameters["w"].default == 2.0
    assert (made.parameters["scale"].annotation, made.parameters["scale"].default) == (float, 1.5)
    assert made.parameters["n"].default == names["helper"](3)
    assert made.parameters["labels"].annotation is inspect.Parameter.empty  # pandas need not be there
    assert inspect.getdoc(names["energy_grad"]).endswith(
        "The docstring of `energy`:\n\nEnergy of x.\n\nWith more lines,\n    indented."
    )
    assert r"\alpha" in names["squared_vjp"].__doc__
    assert inspect.signature(names["helper"]).return_annotation is int


def test_the_header_says_how_it_was_made():
    lines = MADE.read_text(encoding="utf-8").splitlines()
    digest = hashlib.sha256((FOLDER / "model.py").read_bytes()).hexdigest()[:16]
    assert lines[2].startswith("# Made by srcgrad ")
    assert f"from model.py (sha256 {digest})." in lines[2]
    assert lines[4] == "#     srcgrad dump model.py:energy --standalone -o model_grad.py"


def test_all_that_the_command_needs_is_in_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "made").mkdir()
    (tmp_path / "src" / "model.py").write_text("from other import k\n\n\ndef f(x: float, y):\n    return k(x) * y\n")
    (tmp_path / "src" / "other.py").write_text("def k(x):\n    return x * x\n")
    options = ["--wrt", "x", "--mode", "value-and-grad", "--inline", "--standalone"]
    assert main(["dump", "src/model.py:f", *options, "-o", "made/grad.py"]) == 0
    text = (tmp_path / "made" / "grad.py").read_text()
    assert "model.py (sha256 " in text and "other.py (sha256 " in text
    assert interface_dump.read(text) == [
        "dump",
        *("../src/model.py:f", "--standalone", "--wrt", "x", "--mode", "value-and-grad", "--inline", "-o", "grad.py"),
    ]
    assert main(["dump", "--check", "made/grad.py"]) == 0
    monkeypatch.chdir(tmp_path / "made")
    assert main(interface_dump.read(text)) == 0
    assert (tmp_path / "made" / "grad.py").read_text() == text


def test_what_came_from_standard_input_names_no_command():
    text = dump("-", text="def f(x: float):\n    return x * x\n", standalone=True).text
    assert "# Made by srcgrad" in text and "srcgrad dump" not in text
    assert interface_dump.read(text) is None


@pytest.mark.parametrize("name", MODULES)
def test_functions_of_the_runtime_are_laid_out(name, tmp_path):
    """All that a standalone module may take over."""
    made = []
    for value in vars(importlib.import_module(name)).values():
        if not inspect.isfunction(value) or value.__module__ != name or hasattr(value, "__wrapped__"):
            continue
        source = source_of(value)
        body = source.tree.body
        start = body[0].end_lineno if value.__doc__ else body[0].lineno - 1
        lines = tidy_body(body[bool(value.__doc__) :], source.lines, source.comments, start, 4)
        assert lines is not None, f"{value.__name__} is left as it is"
        made.append("\n".join([f"def {value.__name__}():", *lines]))
    path = tmp_path / "made.py"
    path.write_text("\n\n\n".join(made) + "\n", encoding="utf-8")
    assert run_tool("black", "--diff", "--check", "-q", str(path)) == ""


def test_a_text_that_is_laid_out_stays_as_it_is(tmp_path):
    """Also where black would not have chosen it: brackets and trailing commas are the author's."""
    text = (
        "import numpy as np\n\n\ndef half(x):\n    # of x\n    y = (x) / 2.0  # exact\n\n    z = np.add(\n        y,\n"
        "        0.0,\n    )\n    if np.all(z > 0):\n\n        return z\n    return -z\n\n\n"
        "def f(x):\n    return np.sum(x * half(np.ones(2)))\n"
    )
    path = tmp_path / "model.py"
    path.write_text(text, encoding="utf-8")
    made = dump(f"{path}:f", standalone=True).text
    body = text[text.index("def half") : text.index("\n\n\ndef f")].replace("0):\n\n", "0):\n")
    assert body in made


def test_check_grads_of_a_standalone_text(tmp_path):
    path = tmp_path / "model.py"
    path.write_text("import numpy as np\n\n\ndef f(x):\n    return np.sum(np.exp(x)   * x)\n", encoding="utf-8")
    names = names_of(dump(f"{path}:f", standalone=True, mode="vjp").text)
    check_grads(np.exp, (0.5,))
    _, back = names["f_vjp"](np.array([0.5, 1.0]))
    np.testing.assert_allclose(back(1.0), np.exp([0.5, 1.0]) * [1.5, 2.0], rtol=1e-14)


HARD = '''import numpy as np
M = """tri
ple"""
L = lambda t: t*2
D = {  # why
    "a": 1.0,  # one
    "b": 2.0,
}
E = [1.0,
  2.0]
def helper(x, key=None, *, more=()):
    # first


    # second
    if x > 0: pass
    elif x < -1:
        """a string"""
        x = -x
    else: x = 0.5
    # after
    with np.errstate(all='ignore'): x = x+1
    assert x>0, f"bad {x!r} {x:>{10}.3f} {'q'}"
    s = "a" 'b' \\
        "c"
    t = x if (x>1
      and s) else -x  # trailing
    return t + len(M)*0 + L(0.0) + D["a"]*0 + E[0]*0
def f(x, w=1e-3):
    a = (x  # inside
         * w)
    b = a ** 2; c = np.sum(b
      * x)
    return helper(2.0) * c
'''


def test_what_is_laid_out_badly_is_printed_anew_and_means_the_same(tmp_path):
    path, made = tmp_path / "model.py", tmp_path / "model_grad.py"
    path.write_text(HARD, encoding="utf-8")
    assert main(["dump", f"{path}:f", "--wrt", "x", "--standalone", "-o", str(made)]) == 0
    assert run_tool("black", "--diff", "--check", "-q", str(made)) == ""
    text = made.read_text(encoding="utf-8")
    for remark in ("# first", "# second", "# after", "# trailing", "# why", "# one", "# inside"):
        assert remark in text
    given, names = names_of(HARD), names_of(text)
    assert names["M"] == given["M"] and names["D"] == given["D"]
    assert [names["helper"](x) for x in (2.0, -3.0, -0.5)] == [given["helper"](x) for x in (2.0, -3.0, -0.5)]
    x, h = np.array([0.5, 2.0]), 1e-6
    moved = [(given["f"](x + h * e) - given["f"](x - h * e)) / (2.0 * h) for e in np.eye(2)]
    np.testing.assert_allclose(names["f_grad"](x), moved, rtol=1e-7)  # truncation of the difference
