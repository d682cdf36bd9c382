"""Kernels under Oclgrind: no access out of bounds, no race, no read of what was never written.

Its exit status tells nothing, so its log must be empty. Races and reads are looked for in text that is not optimised:
of that it knows every instruction. Some of the tests of kernels run under it here; with SRCGRAD_EVERY=1 (`make
oclgrind`) all that launch kernels on arrays of a few thousand elements, in both forms, which takes an hour.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from srcgrad.opencl.devices.device import found, is_simulator

pytestmark = pytest.mark.skipif(not any(map(is_simulator, found())), reason="Oclgrind is not installed")

SETTINGS = {
    "SRCGRAD_DEVICE": "oclgrind",
    "PYOPENCL_NO_CACHE": "1",
    "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable",
    "OCLGRIND_DATA_RACES": "1",
    "OCLGRIND_UNINITIALIZED": "1",
    "OCLGRIND_MAX_ERRORS": "20",
}
CHECKED = "(test_form or test_shapes or test_layouts or test_masks) and not shape8"  # which has thousands of elements
ROWS = "test_adds_as_numpy_does and (blocks or axes) and float32"
SOME = [
    ("test_kernels.py", f"{CHECKED} and not float64", "cpu"),
    ("test_kernels.py", "(test_form or test_shapes) and float32 and not shape8", "gpu"),
    ("test_scans.py", "test_there_and_back", "gpu"),
    ("test_parts.py", "test_parts and shape0 or test_order_of_reads and 7 or read_before and shape0", "cpu"),
    ("test_scattered.py", ROWS, "cpu"),
    ("test_against_numpy.py", "test_gives_what_numpy_gives", "cpu"),
]
NOT_THERE = "not threads and not exact and not memory and not slabs"  # Oclgrind crashes with threads; large arrays
FILES = ["kernels", "axes", "modes", "against_numpy", "calculus"]
BOTH = [("cpu", f"{NOT_THERE} and not gpu"), ("gpu", f"{NOT_THERE} and not cpu")]  # some tests set the form themselves
WHOLE = [(f"test_{name}.py", chosen, form) for name in FILES for form, chosen in BOTH]
WHOLE += [("test_scans.py", f"{chosen} and not errors", form) for form, chosen in BOTH]  # of large arrays
WHOLE += [("test_scattered.py", NOT_THERE, "cpu")]  # GPUs leave these to the host
WHOLE += [("test_parts.py", f"{NOT_THERE} and not shape2 and not 50000 and not 20000 and not 130", "cpu")]  # hours
RUNS = WHOLE if os.environ.get("SRCGRAD_EVERY") == "1" else SOME


def log(tmp_path: pathlib.Path, *command: str, form: str = "cpu") -> str:
    """What Oclgrind finds in a run of Python."""
    place = tmp_path / "oclgrind.log"
    space = {**os.environ, **SETTINGS, "SRCGRAD_FORM": form, "OCLGRIND_LOG": str(place)}
    done = subprocess.run(
        [sys.executable, *command], env=space, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return place.read_text()


@pytest.mark.parametrize("file, chosen, form", RUNS, ids=[f"{file}-{form}" for file, _, form in RUNS])
def test_kernels(file: str, chosen: str, form: str, tmp_path: pathlib.Path) -> None:
    run = ("-m", "pytest", "-q", "-p", "no:cacheprovider", str(pathlib.Path(__file__).with_name(file)), "-k", chosen)
    assert log(tmp_path, *run, form=form) == ""


PLANTED = {
    "out of bounds": ("y[i + 1] = x[i];", "Invalid write"),
    "race": ("y[0] = (float)i;", "race"),
    "uninitialised": ("__local float t[8]; y[i] = t[i];", "Uninitialized"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_faults_are_seen(fault: str, tmp_path: pathlib.Path) -> None:
    line, wanted = PLANTED[fault]
    script = f"""
import numpy as np
from srcgrad.opencl.devices.trusted import current
device = current()
text = "__kernel void k(__global const float* x, __global float* y) {{ size_t i = get_global_id(0); {line} }}"
kernel, x, y = device.build(text, "k"), np.ones(8, np.float32), np.empty(8, np.float32)
buffers = [device.given(x), device.taken(y)]
kernel.set_args(*buffers)
device.cl.enqueue_nd_range_kernel(device.queue, kernel, (8,), (4,))
device.queue.finish()
"""
    assert wanted in log(tmp_path, "-W", "ignore", "-c", script)
