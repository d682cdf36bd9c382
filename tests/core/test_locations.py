"""Errors and warnings in generated text name the user's line; debuggers and coverage see the generated file."""

from __future__ import annotations

import io
import json
import linecache
import pathlib
import pdb
import re
import subprocess
import sys
import textwrap
import traceback
import warnings

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, vjp
from srcgrad.core.errors import DifferentiationError, ipython_lines
from srcgrad.interface.cli import main

FILE = pathlib.Path(__file__).name


def product(z):
    return z @ z


def gated(z):
    if z.size == 0:
        return z
    return z @ z


def shaped(x, w):
    y = np.log(x)
    h = y.reshape(w, 2)
    return np.sum(gated(h) * h)


def divided(x):
    y = np.log(x)
    return np.sum(y / x)


def cubed(x, n):
    return x**3 / n


def own_line(function, number):
    """File, line and text of a line of a function, counted from its `def`."""
    line = function.__code__.co_firstlineno + number
    return function.__code__.co_filename, line, linecache.getline(function.__code__.co_filename, line).strip()


def frames(error):
    return [(f.filename, f.lineno, f.name, f.line) for f in traceback.extract_tb(error.__traceback__)]


def test_a_traceback_has_the_users_line_above_the_generated_one():
    with pytest.raises(ValueError, match="cannot reshape") as caught:
        grad(shaped)(np.ones(3), 3)
    file, line, text = own_line(shaped, 2)
    users, made = frames(caught.value)[-2:]
    assert users == (file, line, "shaped", text)
    assert made[0].startswith(f"<srcgrad shaped_grad of {FILE}:")
    assert made[2:] == ("shaped_grad", text)
    shown = "".join(traceback.format_exception(caught.value))
    assert f'File "{file}", line {line}, in shaped\n    {text}\n  File "<srcgrad shaped_grad' in shown  # no carets


def test_a_traceback_through_a_callee_has_both_lines_of_each():
    with pytest.raises(ValueError, match="mismatch") as caught:
        grad(shaped)(np.ones(6), 3)
    names = [name for _, _, name, _ in frames(caught.value)[-4:]]
    assert names == ["shaped", "shaped_grad", "gated", "gated_vjp"]
    assert [line for _, _, _, line in frames(caught.value)[-4::2]] == [own_line(shaped, 3)[2], own_line(gated, 3)[2]]


def test_a_pullback_and_a_second_derivative():
    def failing(x):
        return np.sum(x * x)

    _, back = vjp(failing, np.ones(2))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as caught:
        back(1e308)
        back(np.float64(1.7e308) * 1.0)
    assert frames(caught.value)[-2][:3] == (*own_line(failing, 1)[:2], "failing")
    with pytest.raises(ZeroDivisionError) as caught:
        grad(grad(cubed))(3.0, 0)
    users, made = frames(caught.value)[-2:]
    assert users == (*own_line(cubed, 1)[:2], "cubed", own_line(cubed, 1)[2])
    assert made[2] == "cubed_grad_grad"


def test_an_error_keeps_its_own_chain():
    def careful(x, names):
        return np.sum(x) * first(names)

    @srcgrad.nondifferentiable
    def first(names):
        try:
            return names["missing"]
        except KeyError:
            raise LookupError("no such name")  # noqa: B904  (that it is chained by itself is what is tested)

    with pytest.raises(LookupError) as caught:
        grad(careful, wrt="x")(3.0, {})
    assert caught.value.__cause__ is None and not caught.value.__suppress_context__
    assert isinstance(caught.value.__context__, KeyError)


def test_a_warning_names_both_lines():
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        grad(divided)(np.array([0.0, 1.0]))
    _, line, text = own_line(divided, 2)
    [last] = [each for each in given if "divide by zero encountered in divide" in str(each.message)]
    shown = warnings.formatwarning(last.message, last.category, last.filename, last.lineno).splitlines()
    assert shown[0].startswith("<srcgrad divided_grad of ") and "RuntimeWarning: divide by zero" in shown[0]
    assert shown[1].strip() == linecache.getline(last.filename, last.lineno).strip() != ""
    assert shown[2] == f"  from {FILE}:{line}: {text}"


def test_other_warnings_look_as_before():
    shown = warnings.formatwarning(UserWarning("told"), UserWarning, "somewhere.py", 3, "x = 1")
    assert shown == "somewhere.py:3: UserWarning: told\n  x = 1\n"


def text_of(derivative, *args):
    """File and lines of the text that a derivative runs."""
    derivative(*args)
    file = derivative.__wrapped__.__code__.co_filename
    return file, [line.rstrip("\n") for line in linecache.getlines(file)]


def debugged(commands, call, *args):
    """What pdb prints when it is given commands, the first before the call."""
    printed = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join(commands) + "\n"), stdout=printed, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.runcall(call, *args)
    return printed.getvalue()


def test_a_breakpoint_in_generated_code_and_steps_from_there():
    """`b slope.__wrapped__` stops where the text begins, and then its lines have numbers as any file's."""
    slope = grad(divided)
    file, lines = text_of(slope, np.ones(2))
    number = next(k for k, line in enumerate(lines, 1) if "t = result_bar / x" in line)
    commands = ["tbreak self.__wrapped__", "c", "p result_bar", f"tbreak {number}", "c", "n", "p t", "w", "l", "c"]
    printed = debugged(commands, slope, np.array([1.0, 2.0]))
    assert f"> {file}({number})divided_grad()" in printed
    assert "(Pdb) 1.0\n" in printed and "(Pdb) array([1. , 0.5])\n" in printed
    assert re.search(rf"{number}B?\s+t = result_bar / x", printed)  # the listing shows the text


def test_stepping_through_a_gradient_line_by_line():
    slope = grad(product)
    text_of(slope, np.array([1.0, 2.0]))
    commands = ["tbreak self.__wrapped__", "c", "n", "r", "p __return__", "c"]
    printed = debugged(commands, slope, np.array([1.0, 2.0]))
    assert re.findall(r"^-> (z_bar|return)\b", printed, re.MULTILINE) == ["z_bar", "return", "return"], printed
    assert "--Return--" in printed and "(Pdb) array([2., 4.])\n" in printed


def test_post_mortem_is_in_the_generated_frame():
    """There the values are; one frame up is the user's line."""
    with pytest.raises(ValueError, match="cannot reshape") as caught:
        grad(shaped)(np.ones(3), 3)
    printed = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("p w\nu\nq\n"), stdout=printed, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.reset()
    debugger.interaction(None, caught.value.__traceback__)
    assert "(Pdb) 3\n" in printed.getvalue()
    assert f"{own_line(shaped, 2)[0]}({own_line(shaped, 2)[1]})shaped()" in printed.getvalue()


def test_a_profiler_sees_generated_lines():
    """`sys.settrace` is what line profilers and debuggers stand on."""
    slope = grad(divided)
    file, lines = text_of(slope, np.ones(2))
    seen = set()

    def trace(frame, event, _):
        if frame.f_code.co_filename == file and event == "line":
            seen.add(lines[frame.f_lineno - 1].strip())
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        slope(np.ones(2))
    finally:
        sys.settrace(before)
    assert {"y = np.log(x)", "return x_bar"} <= seen


def test_coverage_attributes_lines_to_the_generated_file(tmp_path):
    """To the file that `dump` writes, since coverage reads files."""
    model = tmp_path / "model.py"
    model.write_text("def f(x: float, n):\n    if n > 3:\n        return x * x\n    return x\n", encoding="utf-8")
    (tmp_path / "run.py").write_text("from model_grad import f_grad\n\nassert f_grad(2.0, 1) == 1.0\n")
    made = tmp_path / "model_grad.py"
    assert main(["dump", f"{model}:f", "--wrt", "x", "--standalone", "-o", str(made)]) == 0
    for words in (["run", "--source", ".", "run.py"], ["json", "-q"]):
        command = [sys.executable, "-m", "coverage", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "coverage.json").read_text())["files"]["model_grad.py"]
    lines = made.read_text().splitlines()
    ran = {lines[k - 1].strip() for k in found["executed_lines"]}
    assert {line.strip() for line in lines if line.startswith(("def f_grad(", "    return "))} <= ran
    assert found["missing_lines"], "the branch for n > 3 did not run"


def test_an_error_in_a_notebook_points_at_its_cell():
    cells = [
        "import numpy as np, srcgrad",
        "def f(x):\n    y = x * 2\n    return np.sum(x.astype(int) & 1) * y",
        "slope = srcgrad.grad(f)\nslope(3.0)",
        "import warnings; warnings.simplefilter('always')\nsrcgrad.grad(lambda x: np.log(x))(0.0)",
        "%load_ext srcgrad",
        "%%srcgrad\ndef g(x):\n    return x * x",
        "%%srcgrad g(3.0)\npass",
        "%%srcgrad\ny = 1",
        "%%srcgrad\ndef h(x):\n    return np.sum(x.astype(int) & 1) * x",
    ]
    script = textwrap.dedent(
        f"""
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance(colors="NoColor", history_load_length=0)
        shell.history_manager.enabled = False
        for cell in {cells!r}:
            shell.run_cell(cell, store_history=True)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600)
    assert done.stdout.startswith(
        "DifferentiationError\n  In[3], line 2: slope(3.0)\n\n"
        "E5001 operation not differentiable: the operator `&` has no derivative\n  at In[2]:3:19\n"
    )
    assert "  from In[4]:2: srcgrad.grad(lambda x: np.log(x))(0.0)" in done.stderr
    beside, explained = "| 3     x_bar = y_bar * 2.0 * x", "x      6                0.18"
    assert beside in done.stdout and explained in done.stdout.splitlines()
    assert "E5015 target cannot be read: the cell defines no function" in done.stdout
    assert "  In[9], line 1: %%srcgrad\n" in done.stdout and "  at In[9]:3:19\n" in done.stdout
    assert "derivative.py" not in done.stdout


def test_what_a_notebook_shows_leaves_srcgrad_out():
    with pytest.raises(DifferentiationError) as caught:
        grad(lambda x: x.astype(int) & 1)(np.ones(2))
    lines = ipython_lines("plain", "coloured", caught.value.__traceback__)
    assert lines[0] == "DifferentiationError" and lines[-1] == "coloured"
    assert [line.strip().partition(",")[0] for line in lines[1:-2]] == [FILE]


def declared(x: "n d", w: "d 1"):  # noqa: F722
    return np.sum(x @ w)


def padded(x, mode):
    return np.sum(np.pad(x, 1, mode=mode) ** 2)


def grown(x, n=3):
    if n == 0:
        return 1.0
    return x * grown(x, n - 1)


@pytest.mark.parametrize(
    ("call", "code", "of", "number"),
    [
        (lambda: grad(declared)(np.ones((2, 3)), np.ones((4, 1))), "E5027", declared, 0),
        (lambda: grad(padded)(np.ones(3), "linear_ramp"), "E5006", padded, 1),
        (lambda: grad(product)(np.ones((2, 2))), "E5007", product, 1),
        (lambda: vjp(product, np.ones(2))[1](np.ones(3)), "E5014", None, 0),
        (lambda: grad(grad(grown))(2.0), "E5005", grown, 3),
    ],
    ids=["a declaration", "a value known late", "the output", "a seed", "a derivative of a derivative"],
)
def test_an_error_with_a_code_is_at_the_users_line(call, code, of, number):
    """Also where it is raised while generated text runs; where no line is to blame, there is none."""
    with pytest.raises(DifferentiationError) as caught:
        call()
    place = caught.value.place
    assert caught.value.code == code
    if of is None:
        assert place is None
    else:
        file, line, text = own_line(of, number)
        assert (place.file, place.line, place.text.strip()) == (FILE, line, text)
        if code in ("E5006", "E5027"):  # raised inside the text, which stands below in the traceback
            users = next(k for k, f in enumerate(frames(caught.value)) if f[:2] == (file, line))
            assert frames(caught.value)[users + 1][0].startswith(f"<srcgrad {of.__name__}_grad")


def shuffled(z, scale):
    q = z * scale
    return np.random.permutation(q)


def doubly_shuffled(z):
    t = 2.0 * z
    return shuffled(t, 3.0) + 1.0


class Deck:
    def __init__(self, scale):
        self.scale = scale

    def mixed(self, x):
        return np.sum(doubly_shuffled(x * self.scale))


def test_an_error_in_a_function_that_is_written_out_is_at_its_line():
    """The caret stood at the call; the calls that lead there are told, the innermost first."""
    with pytest.raises(DifferentiationError) as caught:
        grad(Deck(2.0).mixed)(np.ones(3))
    place = caught.value.place
    assert place.text[place.column : place.column + place.width] == "np.random.permutation(q)"
    assert (place.line, place.text) == (own_line(shuffled, 2)[1], "    return np.random.permutation(q)")
    inner, outer = own_line(doubly_shuffled, 2)[1], own_line(Deck.mixed, 1)[1]
    assert str(caught.value).split("\n")[4:6] == [
        f"  called at {FILE}:{inner}:12: shuffled(t, 3.0)",
        f"  called at {FILE}:{outer}:23: doubly_shuffled(x * self.scale)",
    ]
    assert caught.value.fields()["place"]["call"]["call"]["line"] == outer
