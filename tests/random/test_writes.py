"""Random programs that write are differentiated rightly, or refused."""

from __future__ import annotations

import pytest

from tests.programs.corpus import CORPUS
from tests.random import sweeps as random_sweeps
from tests.random.writes import HELPERS, outcome, program


@pytest.mark.parametrize("first", range(0, 60, 15))
def test_programs(first: int) -> None:
    found = {seed: outcome(seed) for seed in range(first, first + 15)}
    for seed, one in found.items():
        assert one.startswith(("right", "refused", "skipped")), f"{one}\n{program(seed)}"
    refused = [one for one in found.values() if one.startswith("refused")]
    assert len(refused) <= 2, refused
    assert sum(one == "right" for one in found.values()) >= 12


@pytest.mark.parametrize("seed", range(50))
def test_sweeps(seed: int) -> None:
    text = random_sweeps.program(seed)
    assert outcome(seed, text=text) in ("right", "skipped"), text


@pytest.mark.parametrize("seed", CORPUS)
def test_what_was_wrong_is_right(seed: int) -> None:
    assert outcome(seed, text=HELPERS + CORPUS[seed]) == "right", CORPUS[seed]
