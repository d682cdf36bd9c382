"""A kernel that is one launch sets the numbers and the memory that differ from the launch before, and nothing else."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from srcgrad.opencl.devices.trusted import current
from srcgrad.opencl.launch import launch
from srcgrad.opencl.launches import prepare

DRAW = np.random.default_rng(7).standard_normal


def angles(x: Any, a: Any) -> Any:
    """Of each element:

    REAL t = atan2(x, a);
    REAL total = SUM(t * x);
    STORE(t);
    STORE(total);
    """
    t = np.arctan2(x, a)
    return t, np.sum(t * x)


def moved(u: Any, v: Any, e: Any, a: Any) -> Any:
    """Of each element:

    REAL t = a * (v - u) + e;
    ADD(u; t);
    STORE(t);
    """
    t = a * (v - u) + e
    u += t
    return t


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_arguments_change_from_launch_to_launch(real: Any) -> None:
    kept = []
    numbers = [0.0, -0.0, 0.0, 0.5, np.array(0.5, real), np.array(-0.0, real), real(2.0), 3, 3, 1e-3]
    own = np.array([0.0, 1.0, -1.0, *DRAW(97)], real)
    for k, a in enumerate(numbers * 3):
        x = own if k % 3 else np.concatenate([own, own])[100:]  # the same numbers, which lie elsewhere
        own[50] = k
        t, total = launch(angles, x, a)
        wanted = angles(x, a)
        np.testing.assert_allclose(t, wanted[0], rtol=1e-5 if real is np.float32 else 1e-13)
        np.testing.assert_allclose(total, wanted[1], rtol=1e-4 if real is np.float32 else 1e-12)
        assert type(total) is type(wanted[1]) and t.dtype == real
        kept.append((t, t.copy()))
    assert all(np.array_equal(t, copy) for t, copy in kept)  # no launch wrote into what another one gave


def test_steps_in_place_whose_memory_moves() -> None:
    kept = []
    for k in range(12):
        held = DRAW((30, 40)) if k % 4 else np.asfortranarray(DRAW((30, 40)))
        e, a = DRAW((20, 30)), [0.1, 0.2][k % 3 == 0]
        at = k % 5
        wanted = held.copy("K")
        one = moved(wanted[at : at + 20, 5:35], wanted[2:22, 6:36], e, a)
        two = launch(moved, held[at : at + 20, 5:35], held[2:22, 6:36], e, a)
        np.testing.assert_allclose(held, wanted, atol=1e-13)
        np.testing.assert_allclose(two, one, atol=1e-13)
        kept.append((two, one))
    assert all(np.allclose(two, one, atol=1e-13) for two, one in kept)
    inside = held[:20, :30]  # what is read lies in what is written
    wanted = held.copy()
    moved(wanted[5:25, 5:35], wanted[6:26, 6:36], wanted[:20, :30], 0.1)
    launch(moved, held[5:25, 5:35], held[6:26, 6:36], inside, 0.1)
    np.testing.assert_allclose(held, wanted, atol=1e-13)


def test_what_is_as_it_was_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    x = DRAW(1000)
    launch(angles, x, 0.5)
    places: list[int] = []
    before = prepare.Memory.set

    def counted(self: prepare.Memory, kernel: Any, start: int) -> None:
        places.append(start)
        before(self, kernel, start)

    monkeypatch.setattr(prepare.Memory, "set", counted)
    held = [launch(angles, x, 0.5) for _ in range(40)]
    starts = [t.ctypes.data for t, _ in held]
    if current().memory == "shared" and current().small is not None:
        assert x.ctypes.data not in places and set(places) <= set(starts)
    kernel: Any = angles.srcgrad_kernel  # type: ignore[attr-defined]
    for prepared in [one for one in kernel.known.values() if one.direct is not None]:
        assert all(len(one.known) <= one.most for one in prepared.direct.reads)


def test_threads_share_a_kernel() -> None:
    wrong: list[int] = []

    def work(k: int) -> None:
        x = np.full(500, float(k))
        for _ in range(200):
            t, total = launch(angles, x, 1.0)
            if not np.isclose(total, 500 * k * np.arctan(float(k))) or not np.allclose(t, np.arctan(float(k))):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong
