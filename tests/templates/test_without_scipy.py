"""SciPy is no dependency: without it all runs but what is SciPy's, and with it nothing imports it unasked."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = """
import sys

import numpy as np

import srcgrad


def f(x):
    return np.sum(np.sin(x) * x)


print(srcgrad.grad(f)(np.zeros(2)), srcgrad.hessian(f)(np.zeros(1)))
print("launch(" in srcgrad.source(f, target="opencl"), [name for name in sys.modules if name.startswith("scipy.")])
"""


@pytest.mark.parametrize("first", ["", "import sys\nsys.modules['scipy'] = None\n"], ids=["there", "absent"])
def test_scipy_is_not_needed(first: str, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(first + SCRIPT)
    paths = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, env=paths, timeout=600
    )
    assert done.stdout == "[0. 0.] [[2.]]\nTrue []\n", done.stderr
