"""Roots and norms behind conditions, in loops and branches: right in both modes wherever they are smooth."""

from __future__ import annotations

import pytest

from tests.random.masks import outcome


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 40, 20))
def test_drawn_programs(first: int) -> None:
    found = {seed: outcome(seed) for seed in range(first, first + 20)}
    assert not {seed: one for seed, one in found.items() if one.startswith("wrong")}
    assert sum(one == "right" for one in found.values()) > 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [20011, 20021, 20053, 21018, 21057, 21064, 710003, 740007])
def test_products_with_the_hessian(seed: int) -> None:
    """A stack may have no supports, a size hands its zeros on; what a tangent reads early stays before who reads it, too."""
    found = outcome(seed, 2)
    assert found == "right" or found.startswith("warns")  # nan is wrong
