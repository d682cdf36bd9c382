"""Distributions of `scipy.stats` as functions: they make frozen ones, through which no derivative is taken."""

from scipy import stats

from srcgrad.rules import refused

FROZEN = "it makes a frozen distribution; call a method with all arguments, as scipy.stats.norm.logpdf(x, loc, scale)"

refused(
    FROZEN,
    {
        f"scipy.stats.{name}": held
        for name, held in vars(stats).items()
        if isinstance(held, stats.rv_continuous | stats.rv_discrete)
    },
)
