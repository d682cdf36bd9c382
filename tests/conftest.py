"""What all tests share: the garbage collector leaves alone what collecting them has made."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Half a million objects live to the end: looking through them again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
