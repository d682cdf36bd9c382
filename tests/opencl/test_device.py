"""Devices: which one is chosen, and what is said when there is none, or when one computes wrongly."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.cli import main
from srcgrad.opencl.devices import device, self_test, trusted
from srcgrad.opencl.devices.device import declared
from srcgrad.opencl.devices.self_test import COPIED, copier
from srcgrad.opencl.kernels.lines import ONCE, entry


def test_the_report_lists_devices_and_the_choice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    printed = capsys.readouterr().out
    assert "* 0" in printed and "GB/s" in printed and "is used:" in printed


def test_a_name_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    first = device.found()[0]
    assert device.choose(first.name.strip().upper())[0] == first
    kind = "cpu" if first.type & device.load().device_type.CPU else "gpu"
    assert device.choose(kind)[0].type == first.type
    monkeypatch.setenv("SRCGRAD_DEVICE", "0")
    assert device.choose() == (first, "named by SRCGRAD_DEVICE")
    with pytest.raises(DifferentiationError, match=r"E5018.*'abacus'"):
        device.choose("abacus")


def test_no_device_is_a_coded_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "found", list)
    with pytest.raises(DifferentiationError, match=r"(?s)E5018.*srcgrad\[opencl\]"):
        self_test.report()


def test_no_pyopencl_is_a_coded_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    with pytest.raises(DifferentiationError, match=r"E5018.*not installed"):
        device.choose()


def test_the_verdict_of_the_child_is_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    one = device.found()[0]
    known = trusted.verdict(one)
    assert known in [("shared", ""), ("mapped", ""), ("copied", "")]

    def unasked(*_: Any) -> str:
        raise AssertionError("it was asked again")

    monkeypatch.setattr(trusted, "_fault", unasked)
    assert trusted.verdict(one) == known
    (tmp_path / "srcgrad" / "probe.json").write_text("{damaged")
    monkeypatch.setattr(trusted, "_fault", lambda *_: "exp(x) in float is off by 1.0e+00")
    assert "off by" in trusted.verdict(one)[1]


@pytest.mark.parametrize("wrong", [[], ["shared"], ["shared", "mapped"], ["shared", "mapped", "copied"]])
def test_the_first_way_that_is_coherent_is_taken(
    wrong: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(trusted, "_fault", lambda _, way: f"{trusted._UNSEEN}stale" if way in wrong else "")
    one = next(d for d in device.found() if d.type & device.load().device_type.CPU)
    way, fault = trusted.verdict(one)
    assert way == ["shared", "mapped", "copied", "copied"][len(wrong)]
    assert bool(fault) == (len(wrong) == 3)


@pytest.mark.parametrize("way", ["shared", "mapped", "copied"])
def test_what_is_stale_is_seen(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A runtime that keeps what it was first given, or keeps what it has written to itself."""
    one = device.opened(trusted.current().device, way)
    assert self_test._stale(one) == ""
    first: dict[int, Any] = {}
    given = one.given
    monkeypatch.setattr(one, "given", lambda x: first.setdefault(x.size, given(x.copy())))
    assert "are not those that were written last" in self_test._stale(one)
    monkeypatch.undo()
    taken, held = one.taken, []
    monkeypatch.setattr(one, "taken", lambda y: held.append(y.copy()) or taken(held[-1]))
    monkeypatch.setattr(one, "finish", lambda *_: one.queue.finish())
    assert "are not those that were written last" in self_test._stale(one)


def test_a_device_that_computes_wrongly_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted, "verdict", lambda _: ("shared", "exp(x) in float is off by 1.0e+00"))
    monkeypatch.setattr(trusted, "opened_by_name", {})
    with pytest.raises(DifferentiationError, match=r"E5018.*fails its test"):
        srcgrad.grad(lambda x: np.sum(np.exp(x) * x), target="opencl")(np.ones(3))


def test_a_simulator_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted, "verdict", lambda _: ("shared", "wrong"))
    monkeypatch.setattr(trusted, "is_simulator", lambda _: True)
    assert isinstance(trusted._trusted(""), device.Device)


@pytest.mark.parametrize("is_gpu", [False, True])
def test_what_is_timed_is_a_copy(is_gpu: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    held, taken = trusted.current(), []
    monkeypatch.setattr(held, "is_gpu", is_gpu)
    original = device.Device.taken

    def kept(self: device.Device, array: Any) -> Any:
        taken.append((array, original(self, array)))
        return taken[-1][1]

    monkeypatch.setattr(device.Device, "taken", kept)
    assert copier(held)(COPIED) > 0.0
    [(array, buffer)] = taken
    assert np.all(held.finish(False, [array], [buffer])[0] == 1.0)


def test_wrong_numbers_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(trusted._FUNCTIONS, "x + 1.0", lambda x: x + 2.0)
    assert "x + 1.0 in float is off by" in self_test.probe(0, "copied")


def test_a_child_that_dies_is_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    dies = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(trusted, "_command", lambda *_: [sys.executable, "-c", dies])
    assert "status -11" in trusted._fault(device.found()[0], "copied")


@pytest.mark.parametrize("hangs", ["time.sleep(60.0)", "while True: pass"])
def test_a_child_that_hangs_is_ended(hangs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted, "_SECONDS", 0.5)
    monkeypatch.setattr(trusted, "_command", lambda *_: [sys.executable, "-c", f"import time\n{hangs}"])
    assert trusted._fault(device.found()[0], "copied") == "it did not answer in 0.5 seconds"


@pytest.mark.skipif(not pathlib.Path("/proc/self/stat").exists(), reason="computing is not told apart here")
def test_a_child_that_is_given_little_time_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "import time\nfor _ in range(9):\n    time.sleep(0.2)\n    sum(range(1_000_000))\nprint('right')"
    monkeypatch.setattr(trusted, "_SECONDS", 1.2)  # of which this one computes half, in twice as many
    monkeypatch.setattr(trusted, "_command", lambda *_: [sys.executable, "-c", slow])
    assert trusted._fault(device.found()[0], "copied") == ""


def test_the_form_for_many_items_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    held = trusted.current()
    monkeypatch.setattr(held, "is_gpu", True)
    monkeypatch.setattr(held, "memory", "copied")
    x = np.linspace(-2.0, 2.0, 3001).reshape(-1, 1) * np.array([1.0, 2.0, 0.5])

    def f(x: Any, w: Any) -> Any:
        return np.sum(np.sin(x) * np.tanh(x * w))

    for w in (x + 1.0, x[0]):
        one, two = srcgrad.value_and_grad(f)(x, w), srcgrad.value_and_grad(f, target="opencl")(x, w)
        np.testing.assert_allclose(two[0], one[0], rtol=1e-12)
        np.testing.assert_allclose(two[1], one[1], rtol=1e-12, atol=1e-13)


def test_an_unknown_target_is_a_coded_error() -> None:
    with pytest.raises(DifferentiationError, match=r"E5019.*'cuda'"):
        srcgrad.grad(np.sum, target="cuda")


def test_a_dumped_text_runs_its_kernels(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, made = tmp_path / "model.py", tmp_path / "model_grad.py"
    source.write_text("import numpy as np\n\n\ndef f(x, c):\n    return np.sum(np.tanh(x * c) * np.exp(-x))\n")
    assert main(["dump", f"{source}:f", "--wrt", "x", "--target", "opencl", "-o", str(made)]) == 0
    space: dict[str, Any] = {}
    exec(made.read_text(), space)
    x = np.linspace(-1.0, 1.0, 50)
    t = np.tanh(x * 0.7)
    np.testing.assert_allclose(space["f_grad"](x, 0.7), (0.7 * (1.0 - t * t) - t) * np.exp(-x), rtol=1e-12)
    assert main(["dump", f"{source}:f", "--inline", "--target", "opencl"]) == 1
    assert "E5019" in capsys.readouterr().err


def test_what_kernels_call_is_declared_as_the_runtime_declares_it() -> None:
    one = trusted.current()
    text = f"{declared(one.has_fp64)}__kernel void k(__global float* x) {{ x[0] = sin(x[0]); }}"
    one.cl.Program(one.context, text).build(options=["-w"], devices=[one.device])  # beside its header


def test_a_kernel_knows_its_group_in_both_forms_of_its_entry() -> None:
    one = trusted.current()
    body = "{ for (ulong k = g; k < n; k += groups) x[k] = k; }"
    text = entry("k", ["const ulong n", "__global float* x"], body)
    for before in ("", ONCE):
        kernel = one.cl.Program(one.context, before + text).build(options=["-w"], devices=[one.device]).k
        x = np.ones(9, np.float32)
        buffer = one.taken(x)
        kernel.set_args(np.uint64(9), buffer)
        one.run(kernel, 2, False)
        one.finish(False, [x], [buffer])
        assert np.array_equal(x, np.arange(9.0))
