"""Densities of `scipy.stats` on a part of the line, and their logarithms, in all parameters; loaded on request.

As in stats_densities; where x is outside of the support the density is 0, its logarithm -inf, and the gradient 0.
"""

import numpy as np
from scipy import special, stats

from srcgrad.core.rules import adjoint, d

HALF = {"x": (0.8, 3.0), "loc": (-0.5, 0.5), "scale": (0.5, 2.0)}
OUTSIDE = "The gradient is 0 where x is outside of the support."


@adjoint.elementwise(
    stats.uniform.logpdf, domain={"x": (0.2, 0.8), "loc": (-0.3, 0.0), "scale": (1.5, 2.0)}, note=OUTSIDE
)
def uniform(z, x, loc=0.0, scale=1.0):
    inside = (x >= loc) & (x <= loc + scale)
    d[x] = 0.0 * d[z]
    d[loc] = 0.0 * d[z]
    d[scale] = -d[z] * inside / scale


@adjoint.elementwise(stats.expon.logpdf, domain=HALF, note=OUTSIDE)
def expon(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r >= 0.0
    d[x] = -d[z] * inside / scale
    d[loc] = d[z] * inside / scale
    d[scale] = d[z] * inside * (r - 1.0) / scale


@adjoint.elementwise(stats.halfnorm.logpdf, domain=HALF, note=OUTSIDE)
def halfnorm(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r >= 0.0
    d[x] = -d[z] * inside * r / scale
    d[loc] = d[z] * inside * r / scale
    d[scale] = d[z] * inside * (r * r - 1.0) / scale


@adjoint.elementwise(stats.halfcauchy.logpdf, domain=HALF, note=OUTSIDE)
def halfcauchy(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r >= 0.0
    slope = 2.0 * r / (1.0 + r * r)
    d[x] = -d[z] * inside * slope / scale
    d[loc] = d[z] * inside * slope / scale
    d[scale] = d[z] * inside * (slope * r - 1.0) / scale


@adjoint.elementwise(stats.maxwell.logpdf, domain=HALF, note=OUTSIDE)
def maxwell(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    slope = inside * (2.0 / np.where(inside, r, 1.0) - r)
    d[x] = d[z] * slope / scale
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.rayleigh.logpdf, domain=HALF, note=OUTSIDE)
def rayleigh(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    slope = inside * (1.0 / np.where(inside, r, 1.0) - r)
    d[x] = d[z] * slope / scale
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.gamma.logpdf, domain={**HALF, "a": (0.5, 3.0)}, note=OUTSIDE)
def gamma(z, x, a, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    safe = np.where(inside, r, 1.0)
    slope = inside * ((a - 1.0) / safe - 1.0)
    d[x] = d[z] * slope / scale
    d[a] = d[z] * inside * (np.log(safe) - special.digamma(a))
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.invgamma.logpdf, domain={**HALF, "a": (0.5, 3.0)}, note=OUTSIDE)
def invgamma(z, x, a, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    safe = np.where(inside, r, 1.0)
    slope = inside * (1.0 / safe - a - 1.0) / safe
    d[x] = d[z] * slope / scale
    d[a] = -d[z] * inside * (np.log(safe) + special.digamma(a))
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.chi2.logpdf, domain={**HALF, "df": (1.5, 5.0)}, note=OUTSIDE)
def chi2(z, x, df, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    safe = np.where(inside, r, 1.0)
    slope = inside * ((0.5 * df - 1.0) / safe - 0.5)
    d[x] = d[z] * slope / scale
    d[df] = 0.5 * d[z] * inside * (np.log(0.5 * safe) - special.digamma(0.5 * df))
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.f.logpdf, domain={**HALF, "dfn": (1.5, 5.0), "dfd": (1.5, 5.0)}, note=OUTSIDE)
def f(z, x, dfn, dfd, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    safe = np.where(inside, r, 1.0)
    total = dfd + dfn * safe
    share = (dfn + dfd) / total
    whole = special.digamma(0.5 * (dfn + dfd)) + 1.0
    slope = inside * ((0.5 * dfn - 1.0) / safe - 0.5 * dfn * share)
    d[x] = d[z] * slope / scale
    d[dfn] = 0.5 * d[z] * inside * (np.log(dfn * safe / total) - special.digamma(0.5 * dfn) + whole - share * safe)
    d[dfd] = 0.5 * d[z] * inside * (np.log(dfd / total) - special.digamma(0.5 * dfd) + whole - share)
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(
    stats.beta.logpdf,
    domain={"x": (0.2, 0.8), "a": (0.5, 3.0), "b": (0.5, 3.0), "loc": (-0.3, 0.0), "scale": (1.5, 2.0)},
    note=OUTSIDE,
)
def beta(z, x, a, b, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = (r > 0.0) & (r < 1.0)
    safe = np.where(inside, r, 0.5)
    slope = inside * ((a - 1.0) / safe - (b - 1.0) / (1.0 - safe))
    whole = special.digamma(a + b)
    d[x] = d[z] * slope / scale
    d[a] = d[z] * inside * (np.log(safe) - special.digamma(a) + whole)
    d[b] = d[z] * inside * (np.log1p(-safe) - special.digamma(b) + whole)
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.lognorm.logpdf, domain={**HALF, "s": (0.5, 1.5)}, note=OUTSIDE)
def lognorm(z, x, s, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    safe = np.where(inside, r, 1.0)
    power = np.log(safe) / s
    slope = inside * (-1.0 - power / s) / safe
    d[x] = d[z] * slope / scale
    d[s] = d[z] * inside * (power * power - 1.0) / s
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.weibull_min.logpdf, domain={**HALF, "c": (0.5, 2.5)}, note=OUTSIDE)
def weibull_min(z, x, c, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    safe = np.where(inside, r, 1.0)
    power = np.power(safe, c)
    slope = inside * (c - 1.0 - c * power) / safe
    d[x] = d[z] * slope / scale
    d[c] = d[z] * inside * (1.0 / c + np.log(safe) * (1.0 - power))
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(
    stats.pareto.logpdf,
    domain={"x": (3.0, 4.0), "b": (0.5, 3.0), "loc": (-0.5, 0.5), "scale": (0.5, 2.0)},
    note=OUTSIDE,
)
def pareto(z, x, b, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r >= 1.0
    safe = np.where(inside, r, 1.0)
    slope = inside * (-1.0 - b) / safe
    d[x] = d[z] * slope / scale
    d[b] = d[z] * inside * (1.0 / b - np.log(safe))
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


adjoint.exponential(stats.uniform.pdf, of=stats.uniform.logpdf)
adjoint.exponential(stats.expon.pdf, of=stats.expon.logpdf)
adjoint.exponential(stats.halfnorm.pdf, of=stats.halfnorm.logpdf)
adjoint.exponential(stats.halfcauchy.pdf, of=stats.halfcauchy.logpdf)
adjoint.exponential(stats.maxwell.pdf, of=stats.maxwell.logpdf)
adjoint.exponential(stats.rayleigh.pdf, of=stats.rayleigh.logpdf)
adjoint.exponential(stats.gamma.pdf, of=stats.gamma.logpdf)
adjoint.exponential(stats.invgamma.pdf, of=stats.invgamma.logpdf)
adjoint.exponential(stats.chi2.pdf, of=stats.chi2.logpdf)
adjoint.exponential(stats.f.pdf, of=stats.f.logpdf)
adjoint.exponential(stats.beta.pdf, of=stats.beta.logpdf)
adjoint.exponential(stats.lognorm.pdf, of=stats.lognorm.logpdf)
adjoint.exponential(stats.weibull_min.pdf, of=stats.weibull_min.logpdf)
adjoint.exponential(stats.pareto.pdf, of=stats.pareto.logpdf)
