"""Random programs that write are differentiated rightly, or refused."""

from __future__ import annotations

import pytest

from tests.programs.corpus import CORPUS
from tests.random import sweeps as random_sweeps
from tests.random.writes import HELPERS, outcome, program


@pytest.mark.parametrize("seed", range(60))
def test_programs(seed: int) -> None:
    found = outcome(seed)
    assert found.startswith(("right", "refused", "skipped")), f"{found}\n{program(seed)}"


@pytest.mark.parametrize("seed", range(50))
def test_sweeps(seed: int) -> None:
    text = random_sweeps.program(seed)
    assert outcome(seed, text=text) in ("right", "skipped"), text


@pytest.mark.parametrize("seed", CORPUS)
def test_what_was_wrong_is_right(seed: int) -> None:
    assert outcome(seed, text=HELPERS + CORPUS[seed]) == "right", CORPUS[seed]


def test_most_programs_are_taken() -> None:
    found = [outcome(seed) for seed in range(1000, 1060)]
    refused = [one for one in found if one.startswith("refused")]
    assert sum(one == "right" for one in found) >= 50
    assert len(refused) <= 5, refused
