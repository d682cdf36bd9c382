"""Whole modules of SciPy, as they are installed: each function has a derivative, or a coded reason why not."""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest

from srcgrad.core.errors import CODES
from srcgrad.interface.dump import dump
from srcgrad.interface.targets import find_target

RANDOM = np.random.default_rng(0)
TIMES = np.linspace(0.1, 2.0, 7)
SWEEP = {"t": TIMES, "f0": 1.5, "t1": 3.0, "f1": 4.0}
# By module: functions that have a derivative, what it is taken by, and arguments.
MODULES = {
    "scipy.optimize._optimize": [
        ("rosen", ("x",), {"x": RANDOM.standard_normal(6)}),
        ("rosen_der", ("x",), {"x": RANDOM.standard_normal(6)}),
        ("vecnorm", ("x",), {"x": RANDOM.standard_normal(6), "ord": 3}),
        ("vecnorm", ("x",), {"x": RANDOM.standard_normal(6), "ord": -np.inf}),
    ],
    "scipy.signal._waveforms": [
        ("sawtooth", ("t",), {"t": TIMES, "width": 0.4}),
        ("chirp", ("t", "f0", "t1", "f1"), {**SWEEP, "method": "linear"}),
        ("chirp", ("t", "f0", "t1", "f1"), {**SWEEP, "method": "quadratic", "vertex_zero": False}),
        ("chirp", ("t", "f0", "t1", "f1"), {**SWEEP, "method": "hyperbolic"}),
    ],
    "scipy.integrate._quadrature": [
        ("cumulative_trapezoid", ("y", "dx"), {"y": RANDOM.standard_normal((3, 4)), "dx": 0.3, "axis": 0}),
    ],
    "scipy.interpolate._rbf": [],
    "scipy.linalg._matfuncs": [],  # an attribute of a call, `np.finfo('f').eps`, is a global there
    "scipy.optimize._zeros_py": [
        ("_secant", ("xvals", "fvals"), {"xvals": np.array([1.0, 2.0]), "fvals": np.array([0.3, -0.4])}),
    ],
}


@pytest.mark.parametrize("module", MODULES)
def test_whole_module(module):
    made = dump(module)
    refused = {item.function.qualname: item.error for item in made.refused}
    assert all(error.code in CODES for error in refused.values())
    names: dict[str, object] = {}
    exec(compile(made.text, "<generated>", "exec"), names)
    derived = [f.qualname for f in find_target(module) if f.qualname not in refused]
    assert derived
    assert all(f"{name.rpartition('.')[2]}_grad" in names for name in derived)
    assert module != "scipy.optimize._optimize" or {"rosen", "rosen_der", "vecnorm"} <= set(derived)
    for name, wrt, arguments in MODULES[module]:
        if name not in derived:
            continue  # the text of an older SciPy
        agrees(getattr(importlib.import_module(module), name), names[f"{name}_grad"], wrt, arguments)


def agrees(function, gradient, wrt, arguments):
    """Along a random direction of each argument, as central differences say."""
    seed = RANDOM.standard_normal(np.shape(function(**arguments)))
    bar = next(name for name in inspect.signature(gradient).parameters if "_bar" in name)
    found = gradient(**arguments, **{bar: seed})
    for name, adjoint in zip(wrt, found if isinstance(found, tuple) else (found,), strict=True):
        direction = RANDOM.standard_normal(np.shape(arguments[name]))
        ends = [function(**{**arguments, name: arguments[name] + h * direction}) for h in (1e-6, -1e-6)]
        expected = np.sum(seed * (ends[0] - ends[1])) / 2e-6
        # rounding of the differences: 1e-16 of the values over 2e-6
        np.testing.assert_allclose(np.sum(adjoint * direction), expected, rtol=1e-6, atol=1e-6)


def test_a_global_that_is_an_attribute_of_a_call_is_taken_over():
    text = "import numpy as np\n\neps = np.finfo(np.float32).eps\n\n\ndef f(x: float):\n    return x * x * eps\n"
    names: dict[str, object] = {}
    exec(dump("-", text=text).text, names)
    assert names["f_grad"](3.0) == 6.0 * np.finfo(np.float32).eps
