"""What all tests share: the garbage collector leaves alone what collecting them has made."""

from __future__ import annotations

import gc
import os
from collections import OrderedDict

import pytest

from srcgrad.interface.api import derivatives

os.environ.setdefault("NUMBA_OPT", "1")  # thousands of loops are compiled that run once: a third of the time


def pytest_collection_finish() -> None:
    """Half a million objects live to the end: looking through them again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """No derivative is kept that an earlier test has asked for."""
    monkeypatch.setattr(derivatives, "_KEPT", OrderedDict())
