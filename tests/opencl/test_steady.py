"""After the first call nothing is built and no memory is asked for; what one launch runs is one program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.opencl.devices import device
from srcgrad.opencl.devices.device import Device
from srcgrad.opencl.devices.trusted import current
from srcgrad.opencl.launches import prepare
from tests.opencl.test_against_numpy import mixture

RANDOM = np.random.default_rng(3)


def layer(x: Any, w: Any, b: Any) -> Any:
    t = np.tanh(x * w + b)
    return np.sum(t * t / (1.0 + np.exp(-t)))


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (layer, (RANDOM.standard_normal((300, 200)), RANDOM.standard_normal(200), 0.3)),
    (mixture, tuple(RANDOM.standard_normal(shape) for shape in ((500, 40), (7, 40), (7, 40)))),
]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often a program was built, a kernel made, and memory taken that no earlier result had lain on."""
    counts = {"programs": 0, "kernels": 0, "slabs": 0}
    built, kernel, empty = Device._built, Device.build, np.empty

    def counted_program(self: Device, text: str, small: bool) -> Any:
        counts["programs"] += 1
        return built(self, text, small)

    def counted_kernel(self: Device, text: str, name: str, small: bool = False) -> Any:
        counts["kernels"] += 1
        return kernel(self, text, name, small)

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def empty(self, shape: Any, dtype: Any) -> Any:
            counts["slabs"] += isinstance(shape, int) and shape >= device.LARGE
            return empty(shape, dtype)

    monkeypatch.setattr(Device, "_built", counted_program)
    monkeypatch.setattr(Device, "build", counted_kernel)
    monkeypatch.setattr(device, "np", Counting())
    return counts


@pytest.mark.parametrize("function, args", CASES, ids=["layer", "mixture"])
def test_a_hundred_calls_build_and_allocate_nothing(
    function: Callable[..., Any], args: tuple[Any, ...], made: dict[str, int], launched: list[str]
) -> None:
    fast = srcgrad.value_and_grad(function, wrt=(0, 1), target="opencl")
    first = fast(*args)
    assert made["kernels"] > 0 and launched
    for _ in range(2):  # results of the last call live while the next one runs
        value, gradients = fast(*args)
    known = dict(made)
    for _ in range(100):
        value, gradients = fast(*args)
    assert made == known
    assert value == first[0] and all(np.array_equal(one, two) for one, two in zip(gradients, first[1], strict=True))


def test_what_one_launch_runs_is_one_program_and_one_kernel(made: dict[str, int], launched: list[str]) -> None:
    x, means, logs = (RANDOM.standard_normal(shape) for shape in ((6, 5), (3, 5), (3, 5)))
    srcgrad.value_and_grad(mixture, wrt=(0, 1, 2), target="opencl")(x, means, logs)
    programs, kernels = made["programs"], made["kernels"]
    assert programs <= len(set(launched))
    assert kernels == programs if current().is_pocl and not current().copies else kernels > programs


def test_stages_with_more_arguments_than_a_kernel_has_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    args = tuple(RANDOM.standard_normal(shape) for shape in ((6, 5), (3, 5), (3, 5)))
    wanted = srcgrad.value_and_grad(mixture, wrt=(0, 1, 2), target="opencl")(*args)
    monkeypatch.setattr(prepare, "_MOST", 16)
    found = srcgrad.value_and_grad(mixture, wrt=(0, 1, 2), target="opencl")(*args)
    assert found[0] == wanted[0]
    assert all(np.array_equal(one, two) for one, two in zip(found[1], wanted[1], strict=True))


def test_slabs_of_sizes_that_are_no_more_asked_for_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_free", {})
    monkeypatch.setattr(device, "_held", 0)
    monkeypatch.setattr(device, "_KEPT", 4 * device.LARGE)
    large = [device.empty((device.LARGE * k,), np.dtype(np.uint8)) for k in (2, 2)]
    del large
    first = device.empty((device.LARGE,), np.dtype(np.uint8))
    place = first.ctypes.data
    del first
    again = device.empty((device.LARGE,), np.dtype(np.uint8))
    assert again.ctypes.data == place and device._held == 2 * device.LARGE
    del again
    beyond = device.empty((8 * device.LARGE,), np.dtype(np.uint8))
    del beyond  # more than is ever kept
    assert device._held == sum(size * len(slabs) for size, slabs in device._free.items()) <= 4 * device.LARGE


def test_a_slab_that_comes_back_while_slabs_are_counted_does_not_wait() -> None:
    held = [device.empty((device.LARGE,), np.dtype(np.uint8))]
    with device._lock:  # as where garbage is collected by the thread that has it
        thread = threading.Thread(target=held.clear, daemon=True)
        thread.start()
        thread.join(20.0)
        assert not thread.is_alive()
