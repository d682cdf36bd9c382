"""What tests of kernels share: which kernels were launched."""

from __future__ import annotations

from typing import Any

import pytest

from srcgrad.opencl.launch import Kernel


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
