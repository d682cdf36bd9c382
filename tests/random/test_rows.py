"""Drawn programs of rows: right in all chunks, or refused."""

from __future__ import annotations

import random

import pytest

from tests.random import rows

SEEDS = [*random.Random(36).sample(range(10**6), 10)]


@pytest.mark.parametrize("seed", SEEDS)
def test_right_in_all_chunks_or_refused(seed: int) -> None:
    assert rows.outcome(seed) in ("right", "refused", "unfit"), rows.program(seed)


def test_most_of_them_are_right() -> None:
    found = [rows.outcome(seed) for seed in SEEDS[:6]]
    assert found.count("right") >= 3
