"""Roots and norms behind conditions, in loops and branches: right in both modes wherever they are smooth."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.random.masks import outcome, program


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 40, 20))
def test_drawn_programs(first: int) -> None:
    found = {seed: outcome(seed) for seed in range(first, first + 20)}
    assert not {seed: one for seed, one in found.items() if one.startswith("wrong")}
    assert sum(one == "right" for one in found.values()) > 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [20053, 21064])
def test_products_with_the_hessian_where_a_branch_binds_what_a_loop_reads(seed: int) -> None:
    """What a stack gives back may be nonzero anywhere if the stack itself has no supports."""
    text, name = program(seed), f"<random masks {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    draw = np.random.default_rng(seed)
    x, y, s, n = draw.normal(size=3), draw.normal(size=3), float(draw.normal()), int(draw.integers(1, 4))
    v = draw.normal(size=3)
    gradient = srcgrad.grad(space["f"])
    due = (gradient(x + 1e-6 * v, y, s, n) - gradient(x - 1e-6 * v, y, s, n)) / 2e-6
    np.testing.assert_allclose(srcgrad.hvp(space["f"])(x, y, s, n, v), due, rtol=1e-4, atol=1e-5)
