"""Loops and branches that are left in all ways: both modes against differences."""

from __future__ import annotations

import pytest

from tests.random.flow import verdict


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_drawn_programs(first: int) -> None:
    found = {seed: verdict(seed) for seed in range(first, first + 20)}
    assert not {seed: one for seed, one in found.items() if one not in ("right", "drawn again", "E5005", "E5010")}
    assert sum(one == "right" for one in found.values()) > 15
