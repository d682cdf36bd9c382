"""What tests of kernels share: which kernels were launched; forms of kernels and of memory.

SRCGRAD_FORM=gpu asks for kernels as GPUs are given them, SRCGRAD_MEMORY=mapped or copied for that way to reach arrays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from srcgrad.opencl.devices.device import Device
from srcgrad.opencl.devices.device import opened_by_place as _opened
from srcgrad.opencl.devices.trusted import current
from srcgrad.opencl.launch import Kernel
from tests.random.targets import form

UNDER_OCLGRIND = "OCLGRIND_UNINITIALIZED" in os.environ


def fewer(rows: int, few: int) -> int:
    """How many rows; under Oclgrind few: it steps through every instruction of every item, 256 to a row on GPUs."""
    return few if UNDER_OCLGRIND else rows


@pytest.fixture(autouse=True)
def _anew(nothing_kept: None) -> None:
    """Tests give a device other properties, and the kernels that are made then are not those of the next one."""


@pytest.fixture(autouse=True)
def _memory(monkeypatch: pytest.MonkeyPatch) -> None:
    way = os.environ.get("SRCGRAD_MEMORY")
    if way and not UNDER_OCLGRIND:
        for device in {id(one): one for one in (current(), *_opened.values())}.values():
            monkeypatch.setattr(device, "memory", way)


@pytest.fixture(autouse=True)
def _form() -> Iterator[None]:
    if os.environ.get("SRCGRAD_FORM") != "gpu":
        yield
        return
    with form(True):
        yield


@pytest.fixture(autouse=True, scope="session")
def _kept() -> Iterator[None]:
    """Under Oclgrind all buffers are kept: what it knew of one that is freed it takes for true of the next one."""
    if not UNDER_OCLGRIND:
        yield
        return
    made: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        for method in ("given", "taken", "shared"):
            patch.setattr(Device, method, _keeping(getattr(Device, method), made))
        yield


def _keeping(method: Any, made: list[Any]) -> Any:
    def kept(self: Device, memory: Any) -> Any:
        made.append(method(self, memory))
        return made[-1]

    return kept


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the kernels whose C has run, in order."""
    names: list[str] = []
    run = Kernel.launched

    def counted(self: Kernel, *args: Any) -> Any:
        names.append(self.function.__name__)
        return run(self, *args)

    monkeypatch.setattr(Kernel, "launched", counted)
    return names
