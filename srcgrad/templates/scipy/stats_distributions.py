"""Distribution functions of `scipy.stats`, their logarithms and inverses; on request."""

import numpy as np
from scipy import special, stats

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


def _forms(dist, method, shapes):
    """Calls with constants for the shapes."""
    return ((f"scipy.stats.{dist.name}.{method}(x, {shapes}, y, z)", (3,), (2, 1), ()),)


def with_shape(dist, shape, domain, inverse):
    """The rules of a distribution with one shape parameter, which carries no derivative."""

    def facts(method, interval):
        return {"domain": interval, "forms": _forms(dist, method, shape), "refuses": {"shape": SHAPE}}

    @adjoint.elementwise(dist.cdf, **facts("cdf", domain))
    def cdf(p, x, shape, loc=0.0, scale=1.0):
        density = dist.pdf(x, shape, loc, scale)
        d[x] = d[p] * density
        d[loc] = -d[p] * density
        d[scale] = -d[p] * density * (x - loc) / scale

    @adjoint.elementwise(dist.sf, **facts("sf", domain))
    def sf(p, x, shape, loc=0.0, scale=1.0):
        density = dist.pdf(x, shape, loc, scale)
        d[x] = -d[p] * density
        d[loc] = d[p] * density
        d[scale] = d[p] * density * (x - loc) / scale

    @adjoint.elementwise(dist.logcdf, **facts("logcdf", domain))
    def logcdf(p, x, shape, loc=0.0, scale=1.0):
        density = np.exp(dist.logpdf(x, shape, loc, scale) - p)
        d[x] = d[p] * density
        d[loc] = -d[p] * density
        d[scale] = -d[p] * density * (x - loc) / scale

    @adjoint.elementwise(dist.logsf, **facts("logsf", domain))
    def logsf(p, x, shape, loc=0.0, scale=1.0):
        density = np.exp(dist.logpdf(x, shape, loc, scale) - p)
        d[x] = -d[p] * density
        d[loc] = d[p] * density
        d[scale] = d[p] * density * (x - loc) / scale

    @adjoint.elementwise(dist.ppf, **facts("ppf", inverse))
    def ppf(x, q, shape, loc=0.0, scale=1.0):
        d[q] = d[x] / dist.pdf(x, shape, loc, scale)
        d[loc] = d[x]
        d[scale] = d[x] * (x - loc) / scale

    @adjoint.elementwise(dist.isf, **facts("isf", inverse))
    def isf(x, q, shape, loc=0.0, scale=1.0):
        d[q] = -d[x] / dist.pdf(x, shape, loc, scale)
        d[loc] = d[x]
        d[scale] = d[x] * (x - loc) / scale


def with_shapes(dist, shapes, domain, inverse):
    """The rules of a distribution with two shape parameters, which carry no derivative."""

    def facts(method, interval):
        return {"domain": interval, "forms": _forms(dist, method, shapes), "refuses": {"one": SHAPE, "two": SHAPE}}

    @adjoint.elementwise(dist.cdf, **facts("cdf", domain))
    def cdf(p, x, one, two, loc=0.0, scale=1.0):
        density = dist.pdf(x, one, two, loc, scale)
        d[x] = d[p] * density
        d[loc] = -d[p] * density
        d[scale] = -d[p] * density * (x - loc) / scale

    @adjoint.elementwise(dist.sf, **facts("sf", domain))
    def sf(p, x, one, two, loc=0.0, scale=1.0):
        density = dist.pdf(x, one, two, loc, scale)
        d[x] = -d[p] * density
        d[loc] = d[p] * density
        d[scale] = d[p] * density * (x - loc) / scale

    @adjoint.elementwise(dist.logcdf, **facts("logcdf", domain))
    def logcdf(p, x, one, two, loc=0.0, scale=1.0):
        density = np.exp(dist.logpdf(x, one, two, loc, scale) - p)
        d[x] = d[p] * density
        d[loc] = -d[p] * density
        d[scale] = -d[p] * density * (x - loc) / scale

    @adjoint.elementwise(dist.logsf, **facts("logsf", domain))
    def logsf(p, x, one, two, loc=0.0, scale=1.0):
        density = np.exp(dist.logpdf(x, one, two, loc, scale) - p)
        d[x] = -d[p] * density
        d[loc] = d[p] * density
        d[scale] = d[p] * density * (x - loc) / scale

    @adjoint.elementwise(dist.ppf, **facts("ppf", inverse))
    def ppf(x, q, one, two, loc=0.0, scale=1.0):
        d[q] = d[x] / dist.pdf(x, one, two, loc, scale)
        d[loc] = d[x]
        d[scale] = d[x] * (x - loc) / scale

    @adjoint.elementwise(dist.isf, **facts("isf", inverse))
    def isf(x, q, one, two, loc=0.0, scale=1.0):
        d[q] = -d[x] / dist.pdf(x, one, two, loc, scale)
        d[loc] = d[x]
        d[scale] = d[x] * (x - loc) / scale


SHAPED_LINE = {"x": (-1.5, 1.5), "y": (-0.5, 0.5), "z": (0.8, 2.0)}
SHAPED_HALF = {"x": (0.8, 2.5), "y": (-0.5, 0.5), "z": (0.8, 2.0)}
SHAPED_UNIT = {"x": (0.2, 0.8), "y": (-0.1, 0.1), "z": (1.5, 2.0)}
SHAPED_INVERSE = {"x": (0.2, 0.8), "y": (-0.5, 0.5), "z": (0.5, 2.0)}

with_shape(stats.t, 2.5, SHAPED_LINE, SHAPED_INVERSE)
with_shape(stats.gamma, 1.7, SHAPED_HALF, SHAPED_INVERSE)
with_shape(stats.invgamma, 1.7, SHAPED_HALF, SHAPED_INVERSE)
with_shape(stats.chi2, 2.5, SHAPED_HALF, SHAPED_INVERSE)
with_shapes(stats.beta, "1.7, 1.4", SHAPED_UNIT, SHAPED_INVERSE)
with_shapes(stats.f, "2.5, 3.5", SHAPED_HALF, SHAPED_INVERSE)


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


def logsf_by_power(dist, sign, domain, shapes):
    """The logarithm of a survival function: the density is divided by it."""

    @adjoint.elementwise(dist.logsf, domain={**domain, "shape": shapes})
    def logsf(p, x, shape, loc=0.0, scale=1.0):
        density = np.exp(dist.logpdf(x, shape, loc, scale) - p)
        r = (x - loc) / scale
        d[x] = -d[p] * density
        d[shape] = sign * -d[p] * density * special.xlogy(x - loc, np.abs(r)) / shape
        d[loc] = d[p] * density
        d[scale] = d[p] * density * r


with_power(stats.weibull_min, 1.0, HALF, (0.8, 2.5))
with_power(stats.lognorm, -1.0, HALF, (0.5, 1.5))
with_power(stats.pareto, 1.0, {**HALF, "x": (3.0, 4.0)}, (0.5, 3.0))

logsf_by_power(stats.lognorm, -1.0, HALF, (0.5, 1.5))
logsf_by_power(stats.pareto, 1.0, {**HALF, "x": (3.0, 4.0)}, (0.5, 3.0))


@adjoint.elementwise(stats.weibull_min.logsf, domain={**HALF, "c": (0.8, 2.5)})
def weibull_min(p, x, c, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    density = np.where(r > 0.0, c * np.power(np.abs(r), c - 1.0) / scale, 0.0)  # exact where the function is large
    d[x] = -d[p] * density
    d[c] = -d[p] * density * special.xlogy(x - loc, np.abs(r)) / c
    d[loc] = d[p] * density
    d[scale] = d[p] * density * r
