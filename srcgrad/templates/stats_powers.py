"""Distribution functions of `scipy.stats` whose shape is a power of (x - loc) / scale; loaded on request.

As in stats_variable. With r = (x - loc) / scale, a shape that grows is as an x that grows by (x - loc) log(r) / shape,
or by minus that for lognorm, whose shape is the inverse of a power. The absolute value of r stands where x may be
outside of the support, where the density is 0.
"""

import numpy as np
from scipy import special, stats

from srcgrad.core.rules import adjoint, d

INVERSE = {"q": (0.2, 0.8), "loc": (-0.5, 0.5), "scale": (0.5, 2.0)}


def with_power(dist, sign, domain, shapes):
    """The rules of a distribution whose shape is a power, or with a negative sign the inverse of one."""

    @adjoint.elementwise(dist.cdf, domain={**domain, "shape": shapes})
    def cdf(p, x, shape, loc=0.0, scale=1.0):
        density = dist.pdf(x, shape, loc, scale)
        r = (x - loc) / scale
        d[x] = d[p] * density
        d[shape] = sign * d[p] * density * special.xlogy(x - loc, np.abs(r)) / shape
        d[loc] = -d[p] * density
        d[scale] = -d[p] * density * r

    @adjoint.elementwise(dist.sf, domain={**domain, "shape": shapes})
    def sf(p, x, shape, loc=0.0, scale=1.0):
        density = dist.pdf(x, shape, loc, scale)
        r = (x - loc) / scale
        d[x] = -d[p] * density
        d[shape] = sign * -d[p] * density * special.xlogy(x - loc, np.abs(r)) / shape
        d[loc] = d[p] * density
        d[scale] = d[p] * density * r

    @adjoint.elementwise(dist.logcdf, domain={**domain, "shape": shapes})
    def logcdf(p, x, shape, loc=0.0, scale=1.0):
        density = np.exp(dist.logpdf(x, shape, loc, scale) - p)
        r = (x - loc) / scale
        d[x] = d[p] * density
        d[shape] = sign * d[p] * density * special.xlogy(x - loc, np.abs(r)) / shape
        d[loc] = -d[p] * density
        d[scale] = -d[p] * density * r

    @adjoint.elementwise(dist.ppf, domain={**INVERSE, "shape": shapes})
    def ppf(x, q, shape, loc=0.0, scale=1.0):
        r = (x - loc) / scale
        d[q] = d[x] / dist.pdf(x, shape, loc, scale)
        d[shape] = sign * -d[x] * special.xlogy(x - loc, r) / shape
        d[loc] = d[x]
        d[scale] = d[x] * r

    @adjoint.elementwise(dist.isf, domain={**INVERSE, "shape": shapes})
    def isf(x, q, shape, loc=0.0, scale=1.0):
        r = (x - loc) / scale
        d[q] = -d[x] / dist.pdf(x, shape, loc, scale)
        d[shape] = sign * -d[x] * special.xlogy(x - loc, r) / shape
        d[loc] = d[x]
        d[scale] = d[x] * r


def logsf_by_density(dist, sign, domain, shapes):
    """The logarithm of a survival function: the density is divided by it."""

    @adjoint.elementwise(dist.logsf, domain={**domain, "shape": shapes})
    def logsf(p, x, shape, loc=0.0, scale=1.0):
        density = np.exp(dist.logpdf(x, shape, loc, scale) - p)
        r = (x - loc) / scale
        d[x] = -d[p] * density
        d[shape] = sign * -d[p] * density * special.xlogy(x - loc, np.abs(r)) / shape
        d[loc] = d[p] * density
        d[scale] = d[p] * density * r


HALF = {"x": (0.8, 2.5), "loc": (-0.5, 0.5), "scale": (0.8, 2.0)}

with_power(stats.weibull_min, 1.0, HALF, (0.8, 2.5))
with_power(stats.lognorm, -1.0, HALF, (0.5, 1.5))
with_power(stats.pareto, 1.0, {**HALF, "x": (3.0, 4.0)}, (0.5, 3.0))

logsf_by_density(stats.lognorm, -1.0, HALF, (0.5, 1.5))
logsf_by_density(stats.pareto, 1.0, {**HALF, "x": (3.0, 4.0)}, (0.5, 3.0))


@adjoint.elementwise(stats.weibull_min.logsf, domain={**HALF, "c": (0.8, 2.5)})
def weibull_min(p, x, c, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    density = np.where(r > 0.0, c * np.power(np.abs(r), c - 1.0) / scale, 0.0)  # exact where the function is large
    d[x] = -d[p] * density
    d[c] = -d[p] * density * special.xlogy(x - loc, np.abs(r)) / c
    d[loc] = d[p] * density
    d[scale] = d[p] * density * r
