"""Elementwise rules far from where their other tests draw; `make rules` looks at all of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ranges import difference, drawn, faults, main, ranged

DRAWN = [case for rule in drawn() for case in ranged(rule)]


@pytest.mark.parametrize("case", DRAWN, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_drawn_rules(case):
    with np.errstate(all="ignore"):
        assert faults(case) == []


FOUND = [
    "scipy.special.agm",
    "scipy.stats.gumbel_r.logcdf",
    "scipy.stats.gumbel_l.logsf",
    "scipy.stats.weibull_min.logsf",
]


@pytest.mark.parametrize("name", [*FOUND, "scipy.special.eval_legendre", "scipy.special.boxcox1p"])
def test_what_was_wrong(name, capsys):
    with np.errstate(all="ignore"):
        assert main([name]) == 0
    assert capsys.readouterr().out.endswith(" calls, 0 faults\n")


def test_a_difference_is_told_only_where_two_steps_agree():
    """The square root of 0 and below has none."""
    with np.errstate(all="ignore"):
        found = difference(np.sqrt, (np.array([-1.0, 0.0, 4.0]),), 0)
    np.testing.assert_allclose(found, [np.nan, np.nan, 0.25], rtol=1e-8)
