"""Densities of `scipy.stats` on the whole line, and their logarithms, in all parameters; loaded on request.

With r = (x - loc) / scale, and s the derivative of the log density of r, the derivative with respect to x is s / scale,
to loc minus that, to scale -(1 + s r) / scale. A density is e to the power of its logarithm.
"""

import numpy as np
from scipy import special, stats

from srcgrad.core.rules import adjoint, d

LINE = {"x": (-2.0, 2.0), "loc": (-0.5, 0.5), "scale": (0.5, 2.0)}


@adjoint.elementwise(stats.norm.logpdf, domain=LINE)
def norm(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    d[x] = -d[z] * r / scale
    d[loc] = d[z] * r / scale
    d[scale] = d[z] * (r * r - 1.0) / scale


@adjoint.elementwise(stats.t.logpdf, domain={**LINE, "df": (1.5, 5.0)})
def t(z, x, df, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    rest = r * r / df
    slope = (df + 1.0) * r / (df + r * r)
    d[x] = -d[z] * slope / scale
    d[df] = (
        0.5
        * d[z]
        * (special.digamma(0.5 * df + 0.5) - special.digamma(0.5 * df) + (r * slope - 1.0) / df - np.log1p(rest))
    )
    d[loc] = d[z] * slope / scale
    d[scale] = d[z] * (slope * r - 1.0) / scale


@adjoint.elementwise(
    stats.laplace.logpdf,
    domain={"x": (1.0, 2.0), "loc": (-0.5, 0.5), "scale": (0.5, 2.0)},
    note="0 in x and loc at loc.",
)
def laplace(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    d[x] = -d[z] * np.sign(r) / scale
    d[loc] = d[z] * np.sign(r) / scale
    d[scale] = d[z] * (np.abs(r) - 1.0) / scale


@adjoint.elementwise(stats.logistic.logpdf, domain=LINE)
def logistic(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    slope = np.tanh(0.5 * r)
    d[x] = -d[z] * slope / scale
    d[loc] = d[z] * slope / scale
    d[scale] = d[z] * (slope * r - 1.0) / scale


@adjoint.elementwise(stats.cauchy.logpdf, domain=LINE)
def cauchy(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    slope = 2.0 * r / (1.0 + r * r)
    d[x] = -d[z] * slope / scale
    d[loc] = d[z] * slope / scale
    d[scale] = d[z] * (slope * r - 1.0) / scale


@adjoint.elementwise(stats.gumbel_r.logpdf, domain=LINE)
def gumbel_r(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    slope = np.expm1(-r)
    d[x] = d[z] * slope / scale
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + 1.0) / scale


@adjoint.elementwise(stats.gumbel_l.logpdf, domain=LINE)
def gumbel_l(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    slope = np.expm1(r)
    d[x] = -d[z] * slope / scale
    d[loc] = d[z] * slope / scale
    d[scale] = d[z] * (slope * r - 1.0) / scale


@adjoint.elementwise(stats.skewnorm.logpdf, domain={**LINE, "a": (-2.0, 2.0)})
def skewnorm(z, x, a, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    ratio = np.exp(-0.5 * (a * r) ** 2 - special.log_ndtr(a * r)) / np.sqrt(2.0 * np.pi)
    slope = a * ratio - r
    d[x] = d[z] * slope / scale
    d[a] = d[z] * r * ratio
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + 1.0) / scale


@adjoint.elementwise(stats.vonmises.logpdf, domain={**LINE, "kappa": (0.5, 3.0)})
def vonmises(z, x, kappa, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    slope = -kappa * np.sin(r)
    d[x] = d[z] * slope / scale
    d[kappa] = d[z] * (np.cos(r) - special.i1e(kappa) / special.i0e(kappa))
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + 1.0) / scale


adjoint.exponential(stats.norm.pdf, of=stats.norm.logpdf)
adjoint.exponential(stats.t.pdf, of=stats.t.logpdf)
adjoint.exponential(stats.laplace.pdf, of=stats.laplace.logpdf)
adjoint.exponential(stats.logistic.pdf, of=stats.logistic.logpdf)
adjoint.exponential(stats.cauchy.pdf, of=stats.cauchy.logpdf)
adjoint.exponential(stats.gumbel_r.pdf, of=stats.gumbel_r.logpdf)
adjoint.exponential(stats.gumbel_l.pdf, of=stats.gumbel_l.logpdf)
adjoint.exponential(stats.skewnorm.pdf, of=stats.skewnorm.logpdf)
adjoint.exponential(stats.vonmises.pdf, of=stats.vonmises.logpdf)
