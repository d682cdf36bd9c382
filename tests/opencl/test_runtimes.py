"""Kernels on each runtime, and in each way to reach arrays, that a machine may have: some of the tests, run again.

PoCL is given buffers that wrap arrays, and buffers of its own, as a GPU would have; Intel's runtime for CPUs keeps
copies of the buffers that wrap long arrays, so that what is neither mapped nor shared is stale there. With
SRCGRAD_EVERY=1 all tests of kernels run.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import sysconfig
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.opencl.devices import self_test
from srcgrad.opencl.devices.device import opened
from srcgrad.opencl.devices.trusted import current, using

HERE = pathlib.Path(__file__).parent
INTEL = pathlib.Path(sysconfig.get_path("data")) / "lib" / "libintelocl.so"
WHOLE = ["axes", "direct", "groups", "kernels", "modes", "parts", "scans", "scattered", "vectors"]
SOME = [
    ("direct", ""),
    ("scattered", "test_adds_as_numpy_does and blocks"),
    ("parts", "test_parts and shape0 or slabs or 20000"),
    ("vectors", ""),
    ("modes", "test_vjp and called and matrix"),
]
EVERY = os.environ.get("SRCGRAD_EVERY") == "1"
CHOSEN = [(name, "") for name in WHOLE] if EVERY else SOME
RUNS = [("pocl", "shared"), ("pocl", "mapped"), ("pocl", "copied"), ("intel", "shared"), ("intel", "mapped")]


def space(runtime: str, memory: str, tmp_path: pathlib.Path) -> dict[str, str]:
    """The environment in which a runtime is found, and reaches arrays in one way."""
    folder = tmp_path / "vendors"  # Intel's package names its library in a file that loaders do not look for
    folder.mkdir()
    (folder / "intel.icd").write_text(f"{INTEL}\n")
    device = "Portable" if runtime == "pocl" else "Intel(R) OpenCL"  # PoCL names its device after the processor
    return {**os.environ, "OCL_ICD_VENDORS": str(folder), "SRCGRAD_DEVICE": device, "SRCGRAD_MEMORY": memory}


@pytest.mark.parametrize("runtime, memory", RUNS)
def test_kernels(runtime: str, memory: str, tmp_path: pathlib.Path) -> None:
    if runtime == "intel" and not INTEL.exists():
        pytest.skip("Intel's runtime is not installed: there is none for this platform")
    files = [str(HERE / f"test_{name}.py") for name, _ in CHOSEN]
    chosen = " or ".join(f"(test_{name}.py and ({words or 'test'}))" for name, words in CHOSEN)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files, "-k", chosen]
    most = 7200 if EVERY else 600  # seconds: all tests build some thousand kernels
    done = subprocess.run(
        command, env=space(runtime, memory, tmp_path), capture_output=True, text=True, check=False, timeout=most
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_a_runtime_that_keeps_copies_is_seen(tmp_path: pathlib.Path) -> None:
    """Wrapped buffers that are used again are stale on Intel's runtime: the probe says so."""
    if not INTEL.exists():
        pytest.skip("Intel's runtime is not installed: there is none for this platform")
    script = """
from srcgrad.opencl.devices import self_test
from srcgrad.opencl.devices.device import choose, opened
device = opened(choose()[0], "mapped")
known, make = {}, device.given
device.given = lambda x: known.setdefault(x.ctypes.data, (make(x), x))[0]
print("written last" in self_test._stale(device))
print(self_test._stale(opened(choose()[0], "mapped")) + self_test._stale(opened(choose()[0], "shared")))
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    found = subprocess.run(
        command, env=space("intel", "mapped", tmp_path), capture_output=True, text=True, check=True, timeout=600
    )
    assert found.stdout.split() == ["True"]


class Keeping:
    """OpenCL of a runtime that keeps copies of what buffers wrap, as it may: they meet where it is mapped."""

    def __init__(self, cl: Any) -> None:
        self.cl, self.wrapped, self.mapped = cl, {}, 0  # type: ignore[var-annotated]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cl, name)

    def Buffer(self, context: Any, flags: int, size: int = 0, hostbuf: Any = None) -> Any:  # noqa: N802  # pyopencl's name
        wraps = flags & self.cl.mem_flags.USE_HOST_PTR
        made = self.cl.Buffer(context, flags ^ wraps | (self.cl.mem_flags.COPY_HOST_PTR if wraps else 0), size, hostbuf)
        if wraps:
            self.wrapped[made.int_ptr] = made, hostbuf
        return made

    def enqueue_map_buffer(self, queue: Any, buffer: Any, *_: Any, is_blocking: bool) -> Any:
        assert is_blocking
        self.cl.enqueue_copy(queue, self.wrapped[buffer.int_ptr][1], buffer)
        self.mapped += 1
        return SimpleNamespace(base=SimpleNamespace(release=self._unmapped)), None

    def _unmapped(self, _: Any) -> None:
        self.mapped -= 1

    def enqueue_nd_range_kernel(self, *args: Any) -> Any:
        assert not self.mapped, "a kernel runs while the host has a buffer mapped"
        return self.cl.enqueue_nd_range_kernel(*args)


def wave(x: Any, w: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * w
    return np.sum(np.tanh(u) * w) / np.sum(u * u)


@pytest.mark.parametrize("size", [50, 20_000])
def test_buffers_that_are_kept_are_mapped(size: int) -> None:
    device = opened(current().device, "mapped")
    device.cl = Keeping(device.cl)  # type: ignore[assignment]
    if size == 50:
        assert self_test._stale(device) == ""
    derivative = srcgrad.value_and_grad(wave, wrt=("x", "w"), target="opencl")
    x = np.linspace(0.5, 2.0, size)
    with using(device):
        for trip in range(4):  # the same memory with other numbers in it
            x *= 1.0 + 0.1 * trip
            found, expected = derivative(x, 0.7), srcgrad.value_and_grad(wave, wrt=("x", "w"))(x, 0.7)
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
            np.testing.assert_allclose(found[1][0], expected[1][0], rtol=1e-9, atol=1e-13)
            np.testing.assert_allclose(found[1][1], expected[1][1], rtol=1e-9)
    assert device.cl.wrapped and not device.cl.mapped
