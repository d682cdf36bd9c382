"""Random programs that reuse few names everywhere: none is wrong (see `random_names`)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.random.names import judged, program


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_names_mean_what_they_mean(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = {seed: judged(*program(seed), tmp_path, seed) for seed in range(first, first + 10)}
    assert {seed: what for seed, what in found.items() if what.startswith(("WRONG", "CRASH"))} == {}
    assert any(what.startswith("right") for what in found.values())
