"""Programs without the runtime's library: their kernels know their group, and none is taken for another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from srcgrad.opencl.devices import trusted
from srcgrad.opencl.devices.device import is_alone
from srcgrad.opencl.kernels.lines import entry


def counted(factor: int) -> str:
    body = f"{{ for (ulong k = g; k < n; k += groups) x[k] += {factor} * (g + 100 * groups); }}"
    return entry("k", ["const ulong n", "__global float* x"], body)


def ran(program: Any, small: bool, groups: int) -> Any:
    one = trusted.current()
    kernel, x = one.kernel(program, "k"), np.ones(997, np.float32)
    buffer = one.taken(x)
    kernel.set_args(np.uint64(997), buffer)
    one.run(kernel, groups, small)
    return one.finish(small, [x], [buffer])[0]


@pytest.mark.parametrize("small", [False, True], ids=["threads", "without"])
def test_kernels_of_one_name_are_told_apart(small: bool) -> None:
    one = trusted.current()
    where = (one.small if small else one.queue).device
    for factor in (1, 2, 1):
        assert is_alone(where, counted(factor))
        made = one.program(counted(factor), small)
        assert made.kernel_names.startswith("k_of_")
        for groups in (1, 8, 33):
            places = np.arange(997) % groups
            assert np.array_equal(ran(made, small, groups), 1.0 + factor * (places + 100.0 * groups))


def test_what_needs_the_library_is_linked_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    one = trusted.current()
    text = counted(3).replace("+= 3", "+= 3 * get_global_size(0)")
    assert not is_alone(one.device, text)
    assert ran(one.program(text), False, 1)[0] == 301.0
    assert one.program(text).kernel_names == "k"
    monkeypatch.setenv("POCL_WORK_GROUP_METHOD", "loopvec")
    assert not is_alone(one.device, counted(5))
