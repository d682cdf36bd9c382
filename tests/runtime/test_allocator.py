"""Freed memory is kept where the C library can, is given back behind the block, and nothing is claimed elsewhere."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

import pytest

import srcgrad
from srcgrad.interface.api import row_blocks as memory

GLIBC = memory._glibc()[0] is not None

# What an array of 8 MB that is made again and again costs: pages that the system hands out.
FAULTS = """
import resource
import numpy as np
import srcgrad

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        np.ones(1 << 20)
        np.ones(1 << 23)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
without = faults()
with srcgrad.keep_memory() as kept:
    faults()
    within = faults()
print(kept.done, without, within, faults())
"""


@pytest.mark.skipif(not GLIBC, reason="the allocator is another one")
def test_memory_is_kept_within_and_given_back_behind() -> None:
    ran = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True, timeout=600)
    done, without, within, behind = ran.stdout.split()
    assert done == "True"
    assert int(within) < int(without) / 4
    assert int(within) < int(behind) / 4


@pytest.mark.skipif(not GLIBC, reason="the allocator is another one")
def test_what_was_set_is_told() -> None:
    with srcgrad.keep_memory(limit=1 << 24) as kept:
        assert kept.settings == {"M_MMAP_THRESHOLD": 1 << 24, "M_TRIM_THRESHOLD": 1 << 24}
        assert kept.allocator.startswith("glibc 2.")


class _Older:
    """A library that takes thresholds up to 32 MiB, or none at all."""

    def __init__(self, largest: int) -> None:
        self.largest = largest

    def mallopt(self, parameter: int, value: int) -> int:
        return int((parameter == -1 and self.largest > 0) or value <= self.largest)

    def malloc_trim(self, pad: int) -> int:
        return 1


def test_older_versions_take_what_they_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_glibc", lambda: (_Older(32 << 20), "glibc 2.17", ""))
    assert srcgrad.keep_memory().settings == {"M_MMAP_THRESHOLD": 32 << 20, "M_TRIM_THRESHOLD": 1 << 30}
    monkeypatch.setattr(memory, "_glibc", lambda: (_Older(0), "glibc 2.17", ""))
    assert (srcgrad.keep_memory().done, srcgrad.keep_memory().reason) == (False, "mallopt refuses the settings")


def _without(*_: Any) -> Any:
    raise OSError("libc.so.6: cannot open shared object file")


@pytest.mark.parametrize("platform", ["darwin", "win32", "linux"])
def test_elsewhere_nothing_is_done(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", _without)
    with srcgrad.keep_memory() as kept:
        assert not kept.done
        assert kept.reason and not kept.settings


def test_a_limit_is_a_number_of_bytes() -> None:
    with pytest.raises(ValueError, match="limit=0"):
        srcgrad.keep_memory(0)


@pytest.mark.skipif(not GLIBC, reason="the allocator is another one")
def test_an_allocator_in_the_place_of_glibcs_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = iter((1, 2))
    monkeypatch.setattr(memory, "_address", lambda function: next(addresses))
    kept = srcgrad.keep_memory()
    assert (kept.done, kept.settings) == (False, {})
    assert "another allocator" in kept.reason
