"""What tests of kernels share: which kernels were launched, and the form for GPUs, if SRCGRAD_FORM asks for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from srcgrad.opencl.launch import Kernel
from tests.random_targets import form


@pytest.fixture(autouse=True)
def _form() -> Iterator[None]:
    if os.environ.get("SRCGRAD_FORM") != "gpu":
        yield
        return
    with form(True):
        yield


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
