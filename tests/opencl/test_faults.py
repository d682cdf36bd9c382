"""Bad cases: no memory, builds that fail, lost devices, no float64, forked processes, threads, odd arrays."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.opencl.devices import device, trusted
from srcgrad.opencl.launch import launch
from srcgrad.opencl.scattered import add_at
from tests.opencl.test_kernels import compared, kernel, mixed


def failing(code: str, times: int = 1) -> Any:
    """A stand-in for a call of the runtime, which fails so many times."""
    cl = device.load()
    left = [times]

    def fail(*_: Any) -> Any:
        if left[0]:
            left[0] -= 1
            number = getattr(cl.status_code, code)
            kind = cl.MemoryError if code.startswith(("MEM_", "OUT_")) else cl.RuntimeError
            raise kind(cl._cl._ErrorRecord(msg="", code=number, routine="clFlush"))

    return fail


@pytest.mark.parametrize("code", ["MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_RESOURCES", "OUT_OF_HOST_MEMORY"])
def test_no_memory_is_a_coded_error_and_the_next_call_works(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    derived = srcgrad.grad(mixed, target="opencl")
    x = np.linspace(-1.0, 1.0, 100_000)
    wanted = derived(x, 0.5, 0.3)
    del wanted
    gc.collect()
    held, before = trusted.current(), device._held
    monkeypatch.setattr(held, "run", failing(code))
    with pytest.raises(DifferentiationError, match=rf"E5021.*mixed_kernel_1.*1 MB.*{code}") as caught:
        derived(x, 0.5, 0.3)
    assert caught.value.__context__ is None and device._held == before  # its slab has been given back
    monkeypatch.undo()
    np.testing.assert_allclose(derived(x, 0.5, 0.3), srcgrad.grad(mixed)(x, 0.5, 0.3), rtol=1e-12)
    assert trusted.current() is held


def test_a_runtime_with_little_memory_says_so(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import numpy as np, srcgrad
from srcgrad.opencl.devices.trusted import current
current().memory = "copied"  # the runtime's own memory, of which there is little
f = srcgrad.value_and_grad(lambda x: np.sum(np.tanh(x) * np.exp(x)), target="opencl")
large = np.zeros(300 << 17)
try:
    f(large)
except srcgrad.DifferentiationError as error:
    print(error.code, "300 MB" in str(error))
print(f(large[:20000])[0])
""")
    space = {**os.environ, "POCL_MEMORY_LIMIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", str(script)]
    done = subprocess.run(command, env=space, capture_output=True, text=True, check=False, timeout=600)
    assert done.stdout.split() == ["E5021", "True", "0.0"], done.stdout + done.stderr


def test_a_damaged_program_on_disk_is_built_anew(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import numpy as np, srcgrad
f = srcgrad.grad(lambda x: np.sum(np.tanh(x) * np.exp(x)), target="opencl")
print(f(np.zeros(2000))[-1])
""")
    cache = tmp_path / "cache"
    cache.mkdir()
    space = {**os.environ, "POCL_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", str(script)]
    for _ in range(2):
        done = subprocess.run(command, env=space, capture_output=True, text=True, check=False, timeout=600)
        assert done.stdout.split() == ["1.0"], done.stdout + done.stderr
        for entry in cache.rglob("*.bc"):
            os.truncate(entry, 700)


def test_a_lost_device_is_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    derived = srcgrad.grad(mixed, target="opencl")
    x, held = np.ones(50), trusted.current()
    monkeypatch.setattr(held, "run", failing("DEVICE_NOT_AVAILABLE"))
    with pytest.raises(DifferentiationError, match=r"E5022.*mixed_kernel_1 failed on.*DEVICE_NOT_AVAILABLE"):
        derived(x, 0.5, 0.3)
    np.testing.assert_allclose(derived(x, 0.5, 0.3), srcgrad.grad(mixed)(x, 0.5, 0.3), rtol=1e-12)
    assert trusted.current() is not held


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_what_runs_has_ended_when_an_error_lets_its_arrays_go(error: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table, index = np.ones((100, 64)), np.arange(1000) % 100
    held, ended = trusted.current(), []

    def interrupted(*_: Any) -> None:
        raise error

    monkeypatch.setattr(held, "finish", interrupted)
    monkeypatch.setattr(held, "abandon", lambda lost: ended.append(lost))
    for call in (
        lambda: srcgrad.grad(mixed, target="opencl")(np.ones(50), 0.5, 0.3),
        lambda: add_at(table, index, 1.0),
    ):
        with pytest.raises(error):
            call()
    assert ended == [False, False]


@pytest.mark.filterwarnings("ignore")
def test_a_kernel_that_does_not_build_names_itself_and_the_way_out() -> None:
    broken = kernel(["x"], ["REAL y = gamma_of(x);", "STORE(y);"])
    with pytest.raises(DifferentiationError, match=r"(?s)E5022.*kernel k does not build.*gamma_of.*SRCGRAD_DEVICE"):
        launch(broken, np.ones(3))


def test_a_device_that_does_not_open_is_a_coded_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted, "opened_by_name", {})
    monkeypatch.setattr(trusted, "opened_by_place", {})
    monkeypatch.setattr(trusted, "opened", failing("DEVICE_NOT_AVAILABLE"))
    with pytest.raises(DifferentiationError, match=r"E5018.*cannot be opened"):
        launch(kernel(["x"], ["REAL y = x;", "STORE(y);"]), np.ones(3))


def test_no_float64_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted.current(), "has_fp64", False)
    derived = srcgrad.grad(mixed, target="opencl")
    with pytest.raises(DifferentiationError, match=r"(?s)E5023.*mixed_kernel_1.*float32"):
        derived(np.ones(5), 0.5, 0.3)
    compared(mixed, (np.linspace(-1.0, 1.0, 5000, dtype=np.float32), 0.5, 0.3), 1e-5)


def test_no_double_is_in_a_kernel_of_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    held = trusted.current()
    monkeypatch.setattr(held, "has_fp64", False)
    monkeypatch.setattr(held, "programs", {})
    source = held.cl.Program

    def kept(context: Any, *given: Any) -> Any:
        built.extend(text for text in given if isinstance(text, str))
        return source(context, *given)

    monkeypatch.setattr(held.cl, "Program", kept)
    monkeypatch.setattr(device, "unlinked", lambda *_: None)  # what has been kept on disk is not built
    for gpu in (False, True):
        monkeypatch.setattr(held, "is_gpu", gpu)
        x = np.linspace(-1.0, 1.0, 60, dtype=np.float32).reshape(12, 5)
        for args in ((x, x, 0.5), (x, x[0], 0.5), (x[::2], x[1::2], 0.5)):
            compared(mixed, args, 1e-5)
    assert len(built) >= 4
    for text in built:
        assert not re.search(r"\bdouble|_fp64", re.sub(r"//.*", "", text))


def _child(n: int) -> float:
    x = np.linspace(-1.0, 1.0, n)
    return float(srcgrad.grad(mixed, target="opencl")(x, 0.5, 0.3)[-1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore")
def test_forked_processes_open_a_device_of_their_own() -> None:
    wanted = [_child(n) for n in (10, 50_000)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(_child, [10, 50_000, 50_001, 10]).get(timeout=120)
    np.testing.assert_allclose(found, [*wanted, wanted[1], wanted[0]], rtol=1e-12)
    assert _child(50_000) == wanted[1]


def test_a_forked_process_without_a_device_for_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_seen_by", -1)
    monkeypatch.setattr(device, "_is_single", lambda _: False)
    with pytest.raises(DifferentiationError, match=r"(?s)E5018.*forked.*spawn"):
        device.opened(device.found()[0])


def test_eight_threads_meet_at_new_kernels() -> None:
    derived = [srcgrad.value_and_grad(mixed, target="opencl") for _ in range(2)]
    cases = [(np.linspace(-1.0, 1.0, n), 0.1 * n, 0.3) for n in (3, 500, 20_000, 40_000)]
    wanted = [srcgrad.value_and_grad(mixed)(*args) for args in cases]
    wrong: list[str] = []

    def run(k: int) -> None:
        for turn in range(6):
            number = (k + turn) % len(cases)
            value, gradient = derived[k % 2](*cases[number])
            if not np.allclose([value], [wanted[number][0]]) or not np.allclose(gradient, wanted[number][1]):
                wrong.append(f"thread {k}, case {number}")

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def _unaligned(a: Any) -> Any:
    memory = np.zeros(a.nbytes + 1, np.uint8)
    found = memory[1:].view(a.dtype).reshape(a.shape)
    found[...] = a
    return found


def _read_only(a: Any) -> Any:
    a = a.copy()
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("odd", [_unaligned, _read_only, np.asfortranarray, lambda a: a.astype(a.dtype.newbyteorder())])
def test_odd_arrays(odd: Any, real: Any) -> None:
    numbers = np.random.default_rng(0)
    x, w = (numbers.standard_normal((7, 9)).astype(real) for _ in range(2))
    rtol = 1e-5 if real is np.float32 else 1e-12
    for args in ((odd(x), w, 0.3), (x, odd(w), 0.3), (odd(x), odd(w), 0.3), (odd(x), odd(w[0]), 0.3)):
        before = args[0].copy()
        compared(mixed, args, rtol)
        assert np.array_equal(args[0], before)


def test_an_array_that_spreads_over_more_memory_than_a_buffer_may_have() -> None:
    apart = 1 << 28
    x = np.zeros(9 * apart, np.float32)[::apart]  # pages that nobody touches cost nothing
    x[:] = np.arange(9.0)
    square = kernel(["x"], ["REAL y = x * x + 1.0;", "STORE(y);"])
    assert launch(square, x).tolist() == [k * k + 1.0 for k in range(9)]


def test_sums_over_more_than_two_gibi_elements() -> None:
    x = np.broadcast_to(np.array([0.5, 0.25], np.float32)[:, None, None], (2, 40_000, 30_000))
    assert x.size > 1 << 31
    found = launch(kernel(["x"], ["REAL s = SUM(x);", "STORE(s);"]), x)
    np.testing.assert_allclose(found, 0.75 * 40_000 * 30_000, rtol=1e-6)
