"""Names of users stay theirs, whatever the generated text calls its own, and mean what they mean at the call."""

from __future__ import annotations

import linecache
import math
from typing import Any

import numpy as np
import pytest

from srcgrad import DifferentiationError, check_grads, grad, source

RATE = 2.0
TABLE = {"rate": 2.0}
X = np.array([0.3, -0.4, 0.9])

# What generated text calls its own values, its helpers and its imports.
TAKEN = (
    *("d", "g", "i", "np", "numpy", "operator", "math", "srcgrad", "grad", "source", "y", "y_bar", "x_bar", "x_dot"),
    *("x_1", "h_stack", "h_stack_1", "s_stack", "s_bar", "taken", "taken_stack", "trips", "t", "t1", "t2", "t1_bar"),
    *("f_back", "f_vjp", "f_grad", "sum_to", "zeros_like", "check_seed", "add", "add_at", "w_bar", "j_stack"),
)
SHADOWED = ("list", "range", "reversed", "len", "zip", "enumerate", "sum", "abs", "max", "float")


def cell(text: str, label: str, **names: Any) -> dict[str, Any]:
    """What a notebook does with a cell: its lines go to linecache, its names to a namespace."""
    file = f"<names {label}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)
    return names


# In the programs NAME is replaced; the one that calls np has it under another name.
LOCAL = """import numpy as N

def f(x, w):
    NAME = x * w
    s = 0.0
    j = 0
    while j < 3:
        if s > 0.1:
            s = s * N.sum(NAME) + x[j]
        else:
            s = s + N.sum(N.tanh(s * NAME + x[:1]))
        j += 1
    return s
"""
PARAMETER = """import numpy as N

def f(NAME, w):
    s = 0.0
    h = NAME
    j = 0
    while j < 3:
        h = N.tanh(h * w + NAME[:1])
        if s > 0.1:
            s = s * h[j]
        else:
            s = s + N.sum(h)
        j += 1
    return s
"""


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("program", [LOCAL, PARAMETER], ids=["local", "parameter"])
def test_names_of_the_generated_text(program, name) -> None:
    function = cell(program.replace("NAME", name), f"{name} {len(program)}")["f"]
    check_grads(function, (X, 0.7), order=1, directions=1)
    for mode in ("reverse", "vjp", "forward"):
        assert name in source(function, mode=mode, wrt=0)


@pytest.mark.parametrize("name", SHADOWED)
@pytest.mark.parametrize("program", [LOCAL, PARAMETER], ids=["local", "parameter"])
def test_shadowed_builtins(program, name) -> None:
    """Right, or refused with the name."""
    function = cell(program.replace("NAME", name), f"{name} {len(program)}")["f"]
    try:
        check_grads(function, (X, 0.7), order=1, directions=1)
    except DifferentiationError as error:
        assert (error.code, f"`{name}`" in error.message) == ("E5005", True)


MODULES = {
    "another name": "import numpy as N\ndef f(x, w):\n    return N.sum(N.tanh(x * w + x[:1]))\n",
    "whole name": "import numpy\ndef f(x, w):\n    return numpy.sum(numpy.tanh(x * w + x[:1]))\n",
    "bare functions": "from numpy import tanh, sum\ndef f(x, w):\n    return sum(tanh(x * w + x[:1]))\n",
    "renamed": "from numpy import tanh as squash, sum\ndef f(x, w):\n    return sum(squash(x * w))\n",
    "np is math": "import math as np, numpy\ndef f(x, w):\n    return np.sin(numpy.sum(x * w + x[:1]))\n",
    "np is local": "import numpy\ndef f(x, w):\n    np = x * w\n    return numpy.sum(np * numpy.tanh(x[:1]))\n",
    "np is an argument": "import numpy\ndef f(np, w):\n    return numpy.sum(np * numpy.tanh(np[:1] * w))\n",
    "np is a number": "import numpy\nnp = 3.0\ndef f(x, w):\n    return numpy.sum(np * numpy.tanh(x * w))\n",
    "globals": "import numpy\nx_bar = 3.0\nsum_to = 2.0\ndef f(x, w):\n"
    "    return numpy.sum(x * x_bar * numpy.tanh(x[:1] * w) * sum_to)\n",
    "callees": "import numpy\ndef f_back(x):\n    return x * x\ndef f_vjp(x): return numpy.sin(x)\ndef f(x, w):\n"
    "    return numpy.sum(f_back(x) * w * f_vjp(x))\n",
    "own name": "import numpy\ndef f(f, w):\n    return numpy.sum(f * w)\n",
    "underscores": "import numpy\ndef f(x, w):\n    _ = x * w\n    for _ in range(2):\n        x = x * w\n"
    "    return numpy.sum(x)\n",
    "Greek": "import numpy\ndef f(x, θ):\n    π = x * θ\n    return numpy.sum(π * π)\n",
}


@pytest.mark.parametrize("text", MODULES.values(), ids=MODULES)
def test_names_of_modules(text) -> None:
    function = cell(text, text)["f"]
    check_grads(function, (X, 0.7), order=1, directions=1)


def test_import_of_standard_math() -> None:
    function = cell("from math import sin, exp as e\ndef f(x):\n    return sin(x) * e(-x)\n", "math")["f"]
    assert math.isclose(grad(function)(0.3), math.exp(-0.3) * (math.cos(0.3) - math.sin(0.3)), rel_tol=1e-14)


# What changes between calls


def scaled(x):
    """Reads a global number."""
    return x * RATE


def looked_up(x):
    """Reads an element of a global dict."""
    return x * TABLE["rate"]


def test_global_changes(monkeypatch) -> None:
    derivative = grad(scaled)
    assert derivative(1.0) == 2.0
    monkeypatch.setitem(globals(), "RATE", 5.0)
    assert derivative(1.0) == 5.0


def test_element_of_a_global_changes(monkeypatch) -> None:
    derivative = grad(looked_up)
    assert derivative(1.0) == 2.0
    monkeypatch.setitem(TABLE, "rate", 9.0)
    assert derivative(1.0) == 9.0


def test_closure_changes() -> None:
    factor = 2.0

    def reads(x):
        return x * factor

    derivative = grad(reads)
    assert derivative(1.0) == 2.0
    factor = 7.0
    assert derivative(1.0) == 7.0


def test_cells_and_redefinition() -> None:
    namespace = cell("def callee(x):\n    return x * x\n", "cell 1")
    namespace = cell("def f(x):\n    return callee(x) * 2.0\n", "cell 2", **namespace)
    derivative = grad(namespace["f"])
    assert derivative(3.0) == 12.0
    cube = cell("def callee(x):\n    return x * x * x\n", "cell 3")["callee"]
    namespace["f"].__globals__["callee"] = cube
    assert derivative(3.0) == 54.0
    again = cell("def f(x):\n    return callee(x)\n", "cell 4", callee=cube)["f"]
    assert grad(again)(3.0) == 27.0
    assert derivative(3.0) == 54.0  # the function of before is still that function


def kept_as_a_name(x):
    kept = x * 2.0
    off = kept - np.sum(kept * x, axis=0, keepdims=True)
    return np.sum(off * off)


def test_a_name_is_no_mark_of_the_analysis() -> None:
    """`kept` is what shapes of reductions are spelled with."""
    check_grads(kept_as_a_name, (np.array([[0.3, -0.5], [1.1, 0.2]]),), order=2)


def test_a_function_that_is_kept_may_be_called_as_texts_call_their_results() -> None:
    text = (
        "c = 1.5\ny = 2.0\ndef maker(k):\n    def y(b):\n        return (lambda t: c)(b)\n    return y\n"
        "def f(x):\n    k = maker(x)\n    x = k(x)\n    h = k\n    c = h\n    return y + h(x)\n"
    )
    f = cell(text, "cell 5")["f"]
    assert (f(0.4), grad(f)(0.4)) == (3.5, 0.0)
