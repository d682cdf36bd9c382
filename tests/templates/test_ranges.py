"""Elementwise rules far from where their other tests draw; `make rules` looks at all of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from srcgrad import check_grads
from tests.templates.ranges import difference, drawn, faults, main, ranged

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


ORDERS = [
    lambda x: special.kn(0.24, x),
    lambda x: special.kn(-1.7, x),
    lambda x: special.yn(7.2, x),
    lambda x: special.expn(0.5, x),
    lambda x: special.pdtri(-0.5, 0.1 * x),
    lambda x: special.eval_chebyu(-3, x),
    lambda x: special.eval_chebyu(np.array([-4, -2, -1, 0, 2]), x[:, None]),
    lambda x: special.eval_chebys(-3.0, x),
    lambda x: special.eval_sh_chebyu(-5, x),
    lambda x: special.hyp1f1(-1, -1, x),
    lambda x: special.tklmbda(x - 2.0, 1.5),
    lambda x: special.tklmbda(9.0 * x, 2),
]


@pytest.mark.parametrize("f", ORDERS)
@pytest.mark.filterwarnings("ignore")
def test_orders_that_are_cut_or_negative(f):
    """SciPy cuts off what counts; polynomials of negative degree are others of a positive one."""
    check_grads(f, (np.array([0.13, 0.4, 0.91, 1.6]),), order=2)
