"""Distribution functions of `scipy.stats`, their logarithms and inverses; loaded on request.

They follow from the density, which is the derivative of a distribution function with respect to x. By way of
(x - loc) / scale that with respect to loc is minus it, and to scale minus it times (x - loc) / scale. Each function
below writes the rules of one distribution.
"""

import numpy as np
from scipy import stats

from srcgrad.core.rules import adjoint, d

SHAPE = "a derivative with respect to the parameter of an incomplete gamma or beta function has no closed form"
LINE = {"x": (-1.5, 1.5), "loc": (-0.5, 0.5), "scale": (0.8, 2.0)}
HALF = {"x": (0.8, 2.5), "loc": (-0.5, 0.5), "scale": (0.8, 2.0)}
UNIT = {"x": (0.2, 0.8), "loc": (-0.1, 0.1), "scale": (1.5, 2.0)}
INVERSE = {"q": (0.2, 0.8), "loc": (-0.5, 0.5), "scale": (0.5, 2.0)}


def without_shape(dist, domain):
    """The rules of a distribution that has loc and scale alone."""

    @adjoint.elementwise(dist.cdf, domain=domain)
    def cdf(p, x, loc=0.0, scale=1.0):
        density = dist.pdf(x, loc, scale)
        d[x] = d[p] * density
        d[loc] = -d[p] * density
        d[scale] = -d[p] * density * (x - loc) / scale

    @adjoint.elementwise(dist.sf, domain=domain)
    def sf(p, x, loc=0.0, scale=1.0):
        density = dist.pdf(x, loc, scale)
        d[x] = -d[p] * density
        d[loc] = d[p] * density
        d[scale] = d[p] * density * (x - loc) / scale

    @adjoint.elementwise(dist.ppf, domain=INVERSE)
    def ppf(x, q, loc=0.0, scale=1.0):
        d[q] = d[x] / dist.pdf(x, loc, scale)
        d[loc] = d[x]
        d[scale] = d[x] * (x - loc) / scale

    @adjoint.elementwise(dist.isf, domain=INVERSE)
    def isf(x, q, loc=0.0, scale=1.0):
        d[q] = -d[x] / dist.pdf(x, loc, scale)
        d[loc] = d[x]
        d[scale] = d[x] * (x - loc) / scale


def logcdf_by_density(dist, domain):
    """The logarithm of a distribution function: the density is divided by it."""

    @adjoint.elementwise(dist.logcdf, domain=domain)
    def logcdf(p, x, loc=0.0, scale=1.0):
        density = np.exp(dist.logpdf(x, loc, scale) - p)
        d[x] = d[p] * density
        d[loc] = -d[p] * density
        d[scale] = -d[p] * density * (x - loc) / scale


def logsf_by_density(dist, domain):
    """The logarithm of a survival function."""

    @adjoint.elementwise(dist.logsf, domain=domain)
    def logsf(p, x, loc=0.0, scale=1.0):
        density = np.exp(dist.logpdf(x, loc, scale) - p)
        d[x] = -d[p] * density
        d[loc] = d[p] * density
        d[scale] = d[p] * density * (x - loc) / scale


@adjoint.elementwise(stats.gumbel_r.logcdf, domain=LINE)
def gumbel_r(p, x, loc=0.0, scale=1.0):
    density = np.exp((loc - x) / scale) / scale  # exact where the function is large
    d[x] = d[p] * density
    d[loc] = -d[p] * density
    d[scale] = -d[p] * density * (x - loc) / scale


@adjoint.elementwise(stats.gumbel_l.logsf, domain=LINE)
def gumbel_l(p, x, loc=0.0, scale=1.0):
    density = np.exp((x - loc) / scale) / scale
    d[x] = -d[p] * density
    d[loc] = d[p] * density
    d[scale] = d[p] * density * (x - loc) / scale


without_shape(stats.norm, LINE)
without_shape(stats.uniform, UNIT)
without_shape(stats.expon, HALF)
without_shape(stats.halfnorm, HALF)
without_shape(stats.rayleigh, HALF)
without_shape(stats.laplace, LINE)
without_shape(stats.logistic, LINE)
without_shape(stats.cauchy, LINE)
without_shape(stats.gumbel_r, LINE)
without_shape(stats.gumbel_l, LINE)

logcdf_by_density(stats.norm, LINE)
logsf_by_density(stats.norm, LINE)
logcdf_by_density(stats.uniform, UNIT)
logsf_by_density(stats.uniform, UNIT)
logcdf_by_density(stats.expon, HALF)
logsf_by_density(stats.expon, HALF)
logcdf_by_density(stats.halfnorm, HALF)
logsf_by_density(stats.halfnorm, HALF)
logcdf_by_density(stats.rayleigh, HALF)
logsf_by_density(stats.rayleigh, HALF)
logcdf_by_density(stats.laplace, LINE)
logsf_by_density(stats.laplace, LINE)
logcdf_by_density(stats.logistic, LINE)
logsf_by_density(stats.logistic, LINE)
logcdf_by_density(stats.cauchy, LINE)
logsf_by_density(stats.cauchy, LINE)
logsf_by_density(stats.gumbel_r, LINE)
logcdf_by_density(stats.gumbel_l, LINE)
