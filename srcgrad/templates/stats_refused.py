"""Distributions of `scipy.stats` as functions: they make frozen ones, through which no derivative is taken."""

from scipy import stats

from srcgrad.core.rules import refused

FROZEN = "it makes a frozen distribution, of which pdf, cdf, ppf and the like have derivatives, with their logarithms"

refused(
    FROZEN,
    {
        f"scipy.stats.{name}": held
        for name, held in vars(stats).items()
        if isinstance(held, stats.rv_continuous | stats.rv_discrete)
    },
)
