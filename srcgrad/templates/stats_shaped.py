"""Distribution functions of `scipy.stats` for distributions with shape parameters; loaded on request.

As in stats_variable. A derivative with respect to a shape is refused where the distribution function is an incomplete
gamma or beta function; a shape that is a power of (x - loc) / scale has one.
"""

import numpy as np
from scipy import stats

from srcgrad.core.rules import adjoint, d

SHAPE = "a derivative with respect to the parameter of an incomplete gamma or beta function has no closed form"


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


LINE = {"x": (-1.5, 1.5), "y": (-0.5, 0.5), "z": (0.8, 2.0)}
HALF = {"x": (0.8, 2.5), "y": (-0.5, 0.5), "z": (0.8, 2.0)}
UNIT = {"x": (0.2, 0.8), "y": (-0.1, 0.1), "z": (1.5, 2.0)}
INVERSE = {"x": (0.2, 0.8), "y": (-0.5, 0.5), "z": (0.5, 2.0)}

with_shape(stats.t, 2.5, LINE, INVERSE)
with_shape(stats.gamma, 1.7, HALF, INVERSE)
with_shape(stats.invgamma, 1.7, HALF, INVERSE)
with_shape(stats.chi2, 2.5, HALF, INVERSE)
with_shapes(stats.beta, "1.7, 1.4", UNIT, INVERSE)
with_shapes(stats.f, "2.5, 3.5", HALF, INVERSE)
