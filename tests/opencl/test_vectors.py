"""The loops of kernels are vectorised: the machine code that PoCL leaves in its cache computes with packed numbers.

PoCL 3.0 prints no remarks about loops it has vectorised, so its code is read.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from srcgrad.opencl.devices.trusted import current

pytestmark = pytest.mark.skipif(
    shutil.which("objdump") is None or "pthread" not in current().device.name,
    reason="needs objdump, and PoCL on this CPU",
)

SCRIPT = """
import sys
import numpy as np
from srcgrad.opencl.devices import trusted
from srcgrad.opencl.launch import launch

trusted.verdict = lambda _: ("shared", "")
x = np.linspace(-1.0, 1.0, 60_000).astype(sys.argv[1]).reshape(300, 200)


def stored(x, a):
    '''Of each element:

        REAL y = tanh(x * a) * exp(-x * x) + log(x * x + 1.0);
        STORE(y);
    '''


def summed(x, a):
    '''Of each element:

        REAL y = x > 0.0 ? sqrt(x) * a : expm1(x);
        REAL s = SUM(y * x);
        STORE(s);
        STORE(y);
    '''


def far(x, a):
    '''Of each element:

        REAL s = SUM(sin(x * a) * cos(x));
        STORE(s);
    '''


def scalar(x, a):
    '''Of each element:

        REAL y = far_sin(x * a);
        STORE(y);
    '''


for kernel in (stored, summed, far, scalar):
    launch(kernel, x, 0.3)
for kernel in (stored, summed):
    kernel.__name__ += "_rows"
    del kernel.srcgrad_kernel
    launch(kernel, x, x[0])
"""


@pytest.mark.parametrize("real", ["float32", "float64"])
def test_loops_compute_with_packed_numbers(real: str, tmp_path: pathlib.Path) -> None:
    space = {**os.environ, "POCL_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, real], env=space, check=True, capture_output=True, timeout=600
    )
    packed = {code.stem.partition("_of_")[0]: _packed(code, real) for code in tmp_path.rglob("1-1-1*/*.so")}
    scalar = packed.pop("scalar")  # the runtime's own function, which is not ours to vectorise
    assert sorted(packed) == ["far", "stored", "stored_rows", "summed", "summed_rows"]
    assert all(count > 3 * scalar and count >= 20 for count in packed.values()), (packed, scalar)


def _packed(code: pathlib.Path, real: str) -> int:
    """How many multiplications and additions of packed numbers there are."""
    text = subprocess.run(["objdump", "-d", str(code)], check=True, capture_output=True, text=True, timeout=600).stdout
    word = "s" if real == "float32" else "d"
    return len(re.findall(rf"\bv?(?:mul|add|fmadd\d*)p{word}\b", text))
