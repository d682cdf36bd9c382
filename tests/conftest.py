"""What all tests share: the garbage collector leaves alone what collecting them has made; second orders are drawn."""

from __future__ import annotations

import gc
import os
import zlib
from collections import OrderedDict
from typing import Any

import pytest

from srcgrad.interface.api import derivatives
from srcgrad.interface.check import check

os.environ.setdefault("NUMBA_OPT", "1")  # thousands of loops are compiled that run once: a third of the time


def pytest_collection_finish() -> None:
    """Half a million objects live to the end: looking through them again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


def pytest_configure() -> None:
    """Each test looks at the derivatives of the gradient or at those of the tangent, by its name.

    Their texts are most of the time of all tests. The tests of the checks themselves look at both, and so do all with
    SRCGRAD_EVERY=1.
    """
    both = check._derivatives_to_check
    if os.environ.get("SRCGRAD_EVERY") == "1":
        return

    def drawn(*given: Any) -> list[Any]:
        found, test = [*both(*given)], os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
        if len(found) < 2 or not test or test.startswith("tests/interface/check"):
            return found
        return [found[zlib.crc32(test.partition("@")[0].encode()) % 2]]

    check._derivatives_to_check = drawn  # type: ignore[assignment]


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """No derivative is kept that an earlier test has asked for."""
    monkeypatch.setattr(derivatives, "_KEPT", OrderedDict())
