"""What srcgrad makes of functions, in joblib's processes and threads."""

from __future__ import annotations

import subprocess
import sys
import types

import numpy as np
import pytest
from joblib import Parallel, delayed

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.source_text import carry

X = np.array([0.3, -0.7, 1.1])


def energy(x, k=2.0):
    return np.sum(np.tanh(k * x) * x)


def parts(x):
    return np.sin(x) * x


def discrete(x):
    return np.sum(x.astype(int) & 1) * np.sum(x)


CALLABLES = {
    "grad": lambda: srcgrad.grad(energy),
    "value_and_grad": lambda: srcgrad.value_and_grad(energy, wrt=("x", "k")),
    "jacobian": lambda: srcgrad.jacobian(parts),
    "hessian": lambda: srcgrad.hessian(energy),
    "attribute": lambda: srcgrad.differentiate(energy).grad,
    "lambda": lambda: srcgrad.grad(lambda x: np.sum(x**3)),
    "pullback": lambda: srcgrad.vjp(parts, X)[1],
    "linear map": lambda: srcgrad.linearize(parts, X)[1],
}


def flat(value):
    """The arrays of a result."""
    return [a for part in value for a in flat(part)] if isinstance(value, tuple) else [np.asarray(value)]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_every_callable_runs_in_parallel(backend):
    """All in one pool, since processes take a second to begin; loky takes a lambda along, which pickle refuses."""
    made = {name: make() for name, make in CALLABLES.items()}
    jobs = [(name, scale) for name in made for scale in (1.0, 2.0)]
    found = Parallel(n_jobs=2, backend=backend)(delayed(made[name])(scale * X) for name, scale in jobs)
    for (name, scale), one in zip(jobs, found, strict=True):
        expected = flat(made[name](scale * X))
        assert len(flat(one)) == len(expected)
        for given, due in zip(flat(one), expected, strict=True):
            np.testing.assert_array_equal(given, due, err_msg=name)


SCRIPT = """
import numpy as np
import srcgrad
from joblib import Parallel, delayed

def bent(x):
    return np.tanh(x) * x

class Model:
    def __init__(self, scale):
        self.scale = scale
    def predict(self, w):
        return self.scale * bent(w)
    @property
    def penalty(self):
        return 2.0 * self.scale

def loss(w, model):
    return np.sum(model.predict(w) ** 2) + model.penalty * np.sum(w)

def within(x):
    return srcgrad.grad(bent)(x)

@srcgrad.differentiate
def wave(x):
    return np.sum(np.sin(x) * x)

@srcgrad.checkpoint
def layer(x):
    return np.tanh(wave(x) * x)

def scaled(k):
    return srcgrad.grad(lambda x: np.sum(k * layer(x)))

def step(x):
    return np.sum(x - wave.grad(x) / 9.0)

slope = srcgrad.grad(loss)
steps = srcgrad.grad(step)
thrice = scaled(3.0)
rows = srcgrad.grad(srcgrad.blocked(lambda w, x: np.sum(bent(w * x)), over="x", rows=2))
curvature = srcgrad.hvp(lambda w: np.sum(bent(w) ** 2))
"""

CALLS = {
    "methods and properties": ("slope", "(w, Model(2.0))"),
    "blocks": ("rows", "(0.5, w)"),
    "decorated": ("wave.grad", "(w)"),
    "decorated and called": ("thrice", "(w)"),
    "derivatives that are called": ("steps", "(w)"),
    "products": ("curvature", "(w, w)"),
    "tasks that call one": ("(lambda w, model: slope(w, model))", "(w, Model(2.0))"),
}


REFUSED = r"E5008 source not found: .* came from another process as code"


def script(tmp_path, text):
    file = tmp_path / "fits.py"
    file.write_text(text)
    return subprocess.run(
        [sys.executable, "-W", "error", str(file)], capture_output=True, text=True, check=False, timeout=600
    )


@pytest.mark.parametrize("called", CALLS)
def test_functions_of_a_script_take_their_text_along(tmp_path, called):
    """A process that gets them knows no file of theirs: cloudpickle sends code without the name of its file."""
    name, arguments = CALLS[called]
    jobs = f"Parallel(n_jobs=2)(delayed({name}){arguments} for w in (np.array([0.3]), np.array([0.7])))"
    here = f"[{name}{arguments} for w in (np.array([0.3]), np.array([0.7]))]"
    done = script(tmp_path, f"{SCRIPT}\nnp.testing.assert_array_equal({jobs}, {here})\n")
    assert done.returncode == 0, done.stderr


def test_code_without_its_text_is_refused_with_what_to_do(tmp_path):
    sent = types.FunctionType(parts.__code__.replace(co_filename="<dynamic-code>"), globals())
    with pytest.raises(DifferentiationError, match=REFUSED) as caught:
        srcgrad.grad(sent)(1.0)
    assert "send the derivative" in caught.value.remedy


def test_code_is_given_no_text_but_its_own():
    """Of all texts that pickles have brought, the one that compiles to it; not that of another under its name."""
    other, own = (["def bent_2(x):\n", f"    return np.tanh(x) * x + {number}\n"] for number in (0.125, 0.25))
    names = {"np": np}
    exec(compile("".join(own), "<dynamic-code>", "exec"), names)
    carry("other.py", other)
    with pytest.raises(DifferentiationError, match=REFUSED):
        srcgrad.grad(names["bent_2"])(1.0)
    carry("its.py", ["\n", "\n", *own])
    carry("new.py", other)
    gradient = srcgrad.grad(names["bent_2"])
    assert gradient(0.5) == np.tanh(0.5) + 0.5 / np.cosh(0.5) ** 2
    assert "from its.py:3 (bent_2)" in gradient.source


def test_what_wraps_a_derivative_makes_none():
    """`functools.wraps` reads the docstring; here the text for unknown arguments would be refused."""
    slope = srcgrad.grad(lambda w, model: np.sum(model.predict(w)))
    assert slope.__doc__ == "Gradient of `<lambda>` with respect to w."


def test_an_error_comes_back_with_its_code_and_place():
    with pytest.raises(DifferentiationError) as caught:
        Parallel(n_jobs=2)(delayed(srcgrad.grad(discrete))(x) for x in (X, X))
    assert (caught.value.code, caught.value.place.text.strip()) == (
        "E5001",
        "return np.sum(x.astype(int) & 1) * np.sum(x)",
    )
