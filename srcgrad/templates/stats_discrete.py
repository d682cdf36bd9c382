"""Discrete distributions of `scipy.stats`: probabilities and their sums, in the parameters; loaded on request."""

import numpy as np
from scipy import special, stats

from srcgrad.core.rules import adjoint, d

COUNT = "it is a whole number"
CLOSED = "a derivative with respect to the parameter of an incomplete beta function has no closed form"
OUTSIDE = "The gradient is 0 where the probability is 0."


def _forms(name, *rest):
    """Calls for counts that are possible, and for one that is not."""
    return (
        (f"{name}(np.array([0, 1, 3]){''.join(rest)}, x)", (2, 3)),
        (f"{name}(2{''.join(rest)}, x)", None),
        (f"np.exp({name}(np.array([-1, 2, 5]){''.join(rest)}, x, loc=1))", ()),
    )


@adjoint.elementwise(
    stats.poisson.logpmf,
    domain=(0.5, 4.0),
    forms=_forms("scipy.stats.poisson.logpmf"),
    refuses={"k": COUNT, "loc": COUNT},
    note=OUTSIDE,
)
def poisson(z, k, mu, loc=0):
    d[mu] = d[z] * (k - loc >= 0) * ((k - loc) / mu - 1.0)


@adjoint.elementwise(
    stats.geom.logpmf,
    domain=(0.2, 0.8),
    forms=(
        ("scipy.stats.geom.logpmf(np.array([1, 2, 4]), x)", (2, 3)),
        ("np.exp(scipy.stats.geom.logpmf(np.array([0, 1, 4]), x))", ()),
    ),
    refuses={"k": COUNT, "loc": COUNT},
    note=OUTSIDE,
)
def geom(z, k, p, loc=0):
    d[p] = d[z] * (k - loc >= 1) * (1.0 / p - (k - loc - 1.0) / (1.0 - p))


@adjoint.elementwise(
    stats.bernoulli.logpmf,
    domain=(0.2, 0.8),
    forms=(("scipy.stats.bernoulli.logpmf(np.array([0, 1, 1]), x)", (2, 3)),),
    refuses={"k": COUNT, "loc": COUNT},
    note=OUTSIDE,
)
def bernoulli(z, k, p, loc=0):
    inside = (k - loc >= 0) & (k - loc <= 1)
    d[p] = d[z] * inside * ((k - loc) / p - (1.0 - (k - loc)) / (1.0 - p))


@adjoint.elementwise(
    stats.binom.logpmf,
    domain=(0.2, 0.8),
    forms=_forms("scipy.stats.binom.logpmf", ", 4"),
    refuses={"k": COUNT, "n": COUNT, "loc": COUNT},
    note=OUTSIDE,
)
def binom(z, k, n, p, loc=0):
    inside = (k - loc >= 0) & (k - loc <= n)
    d[p] = d[z] * inside * ((k - loc) / p - (n - (k - loc)) / (1.0 - p))


@adjoint.elementwise(
    stats.nbinom.logpmf,
    domain={"x": (1.5, 4.0), "y": (0.2, 0.8)},
    forms=(
        ("scipy.stats.nbinom.logpmf(np.array([0, 1, 3]), x, y)", (2, 3), (3,)),
        ("scipy.stats.nbinom.logpmf(2, x, y)", None, None),
    ),
    refuses={"k": COUNT, "loc": COUNT},
    note=OUTSIDE,
)
def nbinom(z, k, n, p, loc=0):
    inside = k - loc >= 0
    safe = np.maximum(k - loc, 0)
    d[n] = d[z] * inside * (special.digamma(n + safe) - special.digamma(n) + np.log(p))
    d[p] = d[z] * inside * (n / p - safe / (1.0 - p))


adjoint.exponential(stats.poisson.pmf, of=stats.poisson.logpmf)
adjoint.exponential(stats.geom.pmf, of=stats.geom.logpmf)
adjoint.exponential(stats.bernoulli.pmf, of=stats.bernoulli.logpmf)
adjoint.exponential(stats.binom.pmf, of=stats.binom.logpmf)
adjoint.exponential(stats.nbinom.pmf, of=stats.nbinom.logpmf)


def _sums(name, *rest):
    """Calls of a distribution function between whole numbers, at them, and below the least."""
    return (
        (f"{name}(np.array([0, 1.5, 3]){''.join(rest)}, x)", (2, 3)),
        (f"{name}(np.array([-1, 2, 5]){''.join(rest)}, x, loc=1)", ()),
    )


@adjoint.elementwise(
    stats.poisson.cdf,
    domain=(0.5, 4.0),
    forms=_sums("scipy.stats.poisson.cdf"),
    refuses={"k": COUNT, "loc": COUNT},
)
def poisson_cdf(z, k, mu, loc=0):
    d[mu] = -d[z] * stats.poisson.pmf(np.floor(k - loc), mu)


@adjoint.elementwise(
    stats.poisson.sf,
    domain=(0.5, 4.0),
    forms=_sums("scipy.stats.poisson.sf"),
    refuses={"k": COUNT, "loc": COUNT},
)
def poisson_sf(z, k, mu, loc=0):
    d[mu] = d[z] * stats.poisson.pmf(np.floor(k - loc), mu)


@adjoint.elementwise(
    stats.binom.cdf,
    domain=(0.2, 0.8),
    forms=_sums("scipy.stats.binom.cdf", ", 4"),
    refuses={"k": COUNT, "n": COUNT, "loc": COUNT},
)
def binom_cdf(z, k, n, p, loc=0):
    d[p] = -d[z] * n * stats.binom.pmf(np.floor(k - loc), n - 1, p)


@adjoint.elementwise(
    stats.binom.sf,
    domain=(0.2, 0.8),
    forms=_sums("scipy.stats.binom.sf", ", 4"),
    refuses={"k": COUNT, "n": COUNT, "loc": COUNT},
)
def binom_sf(z, k, n, p, loc=0):
    d[p] = d[z] * n * stats.binom.pmf(np.floor(k - loc), n - 1, p)


@adjoint.elementwise(
    stats.geom.cdf,
    domain=(0.2, 0.8),
    forms=_sums("scipy.stats.geom.cdf"),
    refuses={"k": COUNT, "loc": COUNT},
)
def geom_cdf(z, k, p, loc=0):
    whole = np.maximum(np.floor(k - loc), 0.0)
    d[p] = d[z] * whole * (1.0 - p) ** np.maximum(whole - 1.0, 0.0)


@adjoint.elementwise(
    stats.geom.sf,
    domain=(0.2, 0.8),
    forms=_sums("scipy.stats.geom.sf"),
    refuses={"k": COUNT, "loc": COUNT},
)
def geom_sf(z, k, p, loc=0):
    whole = np.maximum(np.floor(k - loc), 0.0)
    d[p] = -d[z] * whole * (1.0 - p) ** np.maximum(whole - 1.0, 0.0)


@adjoint.elementwise(
    stats.nbinom.cdf,
    domain=(0.2, 0.8),
    forms=_sums("scipy.stats.nbinom.cdf", ", 2.5"),
    refuses={"k": COUNT, "n": CLOSED, "loc": COUNT},
)
def nbinom_cdf(z, k, n, p, loc=0):
    d[p] = d[z] * n * stats.nbinom.pmf(np.floor(k - loc), n + 1.0, p) / (p * p)
