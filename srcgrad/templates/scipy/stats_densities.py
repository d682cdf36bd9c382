"""Densities of `scipy.stats`, of numbers and of vectors, in all parameters; discrete distributions; on request.

Logarithms of densities as well, and statistics of samples. Frozen distributions are refused.
"""

import numpy as np
from scipy import special, stats

from srcgrad.core.rules import (
    HALF,
    adjoint,
    d,
    declare_other_form,
    declare_refused,
    in_parts,
    made_to_be_called,
    tangent,
)
from srcgrad.runtime import sum_to
from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.linalg import half_read
from srcgrad.runtime.pieces import density_at, line_found

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


HALF_LINE = {"x": (0.8, 3.0), "loc": (-0.5, 0.5), "scale": (0.5, 2.0)}
OUTSIDE = "The gradient is 0 where x is outside of the support."


@adjoint.elementwise(
    stats.uniform.logpdf, domain={"x": (0.2, 0.8), "loc": (-0.3, 0.0), "scale": (1.5, 2.0)}, note=OUTSIDE
)
def uniform(z, x, loc=0.0, scale=1.0):
    inside = (x >= loc) & (x <= loc + scale)
    d[x] = 0.0 * d[z]
    d[loc] = 0.0 * d[z]
    d[scale] = -d[z] * inside / scale


@adjoint.elementwise(stats.expon.logpdf, domain=HALF_LINE, note=OUTSIDE)
def expon(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r >= 0.0
    d[x] = -d[z] * inside / scale
    d[loc] = d[z] * inside / scale
    d[scale] = d[z] * inside * (r - 1.0) / scale


@adjoint.elementwise(stats.halfnorm.logpdf, domain=HALF_LINE, note=OUTSIDE)
def halfnorm(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r >= 0.0
    d[x] = -d[z] * inside * r / scale
    d[loc] = d[z] * inside * r / scale
    d[scale] = d[z] * inside * (r * r - 1.0) / scale


@adjoint.elementwise(stats.halfcauchy.logpdf, domain=HALF_LINE, note=OUTSIDE)
def halfcauchy(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r >= 0.0
    slope = 2.0 * r / (1.0 + r * r)
    d[x] = -d[z] * inside * slope / scale
    d[loc] = d[z] * inside * slope / scale
    d[scale] = d[z] * inside * (slope * r - 1.0) / scale


@adjoint.elementwise(stats.maxwell.logpdf, domain=HALF_LINE, note=OUTSIDE)
def maxwell(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    slope = inside * (2.0 / np.where(inside, r, 1.0) - r)
    d[x] = d[z] * slope / scale
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.rayleigh.logpdf, domain=HALF_LINE, note=OUTSIDE)
def rayleigh(z, x, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    slope = inside * (1.0 / np.where(inside, r, 1.0) - r)
    d[x] = d[z] * slope / scale
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.gamma.logpdf, domain={**HALF_LINE, "a": (0.5, 3.0)}, note=OUTSIDE)
def gamma(z, x, a, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    safe = np.where(inside, r, 1.0)
    slope = inside * ((a - 1.0) / safe - 1.0)
    d[x] = d[z] * slope / scale
    d[a] = d[z] * inside * (np.log(safe) - special.digamma(a))
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.invgamma.logpdf, domain={**HALF_LINE, "a": (0.5, 3.0)}, note=OUTSIDE)
def invgamma(z, x, a, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    safe = np.where(inside, r, 1.0)
    slope = inside * (1.0 / safe - a - 1.0) / safe
    d[x] = d[z] * slope / scale
    d[a] = -d[z] * inside * (np.log(safe) + special.digamma(a))
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.chi2.logpdf, domain={**HALF_LINE, "df": (1.5, 5.0)}, note=OUTSIDE)
def chi2(z, x, df, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = r > 0.0
    safe = np.where(inside, r, 1.0)
    slope = inside * ((0.5 * df - 1.0) / safe - 0.5)
    d[x] = d[z] * slope / scale
    d[df] = 0.5 * d[z] * inside * (np.log(0.5 * safe) - special.digamma(0.5 * df))
    d[loc] = -d[z] * slope / scale
    d[scale] = -d[z] * (slope * r + inside) / scale


@adjoint.elementwise(stats.f.logpdf, domain={**HALF_LINE, "dfn": (1.5, 5.0), "dfd": (1.5, 5.0)}, note=OUTSIDE)
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


@adjoint.elementwise(stats.lognorm.logpdf, domain={**HALF_LINE, "s": (0.5, 1.5)}, note=OUTSIDE)
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


@adjoint.elementwise(stats.weibull_min.logpdf, domain={**HALF_LINE, "c": (0.5, 2.5)}, note=OUTSIDE)
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


@adjoint.elementwise(
    stats.truncnorm.logpdf,
    domain={"x": (0.2, 0.8), "a": (-3.0, -1.0), "b": (2.0, 3.0), "loc": (-0.3, 0.0), "scale": (1.0, 2.0)},
    note=OUTSIDE,
)
def truncnorm(z, x, a, b, loc=0.0, scale=1.0):
    r = (x - loc) / scale
    inside = (r >= a) & (r <= b)
    d[x] = -d[z] * inside * r / scale
    d[a] = d[z] * inside * stats.truncnorm.pdf(a, a, b)
    d[b] = -d[z] * inside * stats.truncnorm.pdf(b, a, b)
    d[loc] = d[z] * inside * r / scale
    d[scale] = d[z] * inside * (r * r - 1.0) / scale


adjoint.exponential(stats.truncnorm.pdf, of=stats.truncnorm.logpdf)
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


@adjoint(
    stats.multivariate_normal.logpdf,
    forms=(
        ("scipy.stats.multivariate_normal.logpdf(x, y, z @ z.T + 2.0 * np.eye(3))", (3,), (3,), (3, 3)),
        ("scipy.stats.multivariate_normal.logpdf(x, y, z @ z.T + 2.0 * np.eye(2))", (4, 2), (2,), (2, 2)),
        ("scipy.stats.multivariate_normal.logpdf(x, mean=y, cov=np.eye(2))", (3, 2), (2,)),
        ("scipy.stats.multivariate_normal.logpdf(x, mean=y, cov=np.eye(3))", (4, 1), (3,)),
        ("scipy.stats.multivariate_normal.logpdf(x, y, z + 8.0 * np.eye(3))", (4, 3), (3,), (3, 3)),
    ),
    note="mean and cov are to be given, cov as a matrix. " + HALF,
)
def normal(z, x, mean, cov):
    read = 0.5 * (half_read(cov) + half_read(cov).T)
    turned = np.linalg.solve(read, np.expand_dims(x - mean, -1))[..., 0]
    flow = np.expand_dims(d[z], -1) * turned
    d[x] = sum_to(-flow, x)
    d[mean] = sum_to(flow, mean)
    whole = sum_to(0.5 * np.expand_dims(flow, -1) * np.expand_dims(turned, -2), cov)
    d[cov] = half_read(whole - 0.5 * np.sum(d[z]) * np.linalg.inv(read))


@tangent(stats.multivariate_normal.logpdf)
def normal_tangent(z, x, mean, cov):
    read = 0.5 * (half_read(cov) + half_read(cov).T)
    turned = np.linalg.solve(read, np.expand_dims(x - mean, -1))[..., 0]
    cov_dot = 0.5 * (half_read(d[cov]) + half_read(d[cov]).T)
    d[z] = (
        np.sum(turned * (d[mean] - d[x]), axis=-1)
        + 0.5 * np.sum(turned * (turned @ cov_dot), axis=-1)
        - 0.5 * np.trace(np.linalg.solve(read, cov_dot))
    )


@declare_other_form(
    stats.multivariate_normal.logpdf,
    (("scipy.stats.multivariate_normal.logpdf(x, y, np.eye(3) + 0.1 * z, True)", (2, 3), (3,), (3, 3)),),
    {3: "allow_singular"},
    allow_singular=(),
)
def perhaps_singular(x, mean, cov, allow_singular=False):
    spread = np.linalg.eigvalsh(cov)
    require_handled(spread[0] > 1e-9 * spread[-1], "a covariance that is singular")
    return stats.multivariate_normal.logpdf(x, mean, cov)


@adjoint.composed(
    stats.multivariate_normal.pdf,
    forms=(("scipy.stats.multivariate_normal.pdf(x, y, np.eye(3) + 0.1 * z)", (2, 3), (3,), (3, 3)),),
)
def normal_density(x, mean, cov):
    return np.exp(stats.multivariate_normal.logpdf(x, mean, cov))


@adjoint(
    stats.dirichlet.logpdf,
    domain={"x": (0.1, 0.3), "y": (1.2, 3.0)},
    forms=(("scipy.stats.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), y)", (1,), (3,)),),
    refuses={"x": "the point is on a simplex; differentiate with respect to alpha, or write the sum of xlogy"},
)
def dirichlet(z, x, alpha):
    d[alpha] = d[z] * (np.log(x) - special.digamma(alpha) + special.digamma(np.sum(alpha)))


@tangent(stats.dirichlet.logpdf)
def dirichlet_tangent(z, x, alpha):
    d[z] = np.sum((np.log(x) - special.digamma(alpha) + special.digamma(np.sum(alpha))) * d[alpha])


COUNT = "it is a whole number"
CLOSED = "a derivative with respect to the parameter of an incomplete beta function has no closed form"
IMPOSSIBLE = "The gradient is 0 where the probability is 0."


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
    note=IMPOSSIBLE,
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
    note=IMPOSSIBLE,
)
def geom(z, k, p, loc=0):
    d[p] = d[z] * (k - loc >= 1) * (1.0 / p - (k - loc - 1.0) / (1.0 - p))


@adjoint.elementwise(
    stats.bernoulli.logpmf,
    domain=(0.2, 0.8),
    forms=(("scipy.stats.bernoulli.logpmf(np.array([0, 1, 1]), x)", (2, 3)),),
    refuses={"k": COUNT, "loc": COUNT},
    note=IMPOSSIBLE,
)
def bernoulli(z, k, p, loc=0):
    inside = (k - loc >= 0) & (k - loc <= 1)
    d[p] = d[z] * inside * ((k - loc) / p - (1.0 - (k - loc)) / (1.0 - p))


@adjoint.elementwise(
    stats.binom.logpmf,
    domain=(0.2, 0.8),
    forms=_forms("scipy.stats.binom.logpmf", ", 4"),
    refuses={"k": COUNT, "n": COUNT, "loc": COUNT},
    note=IMPOSSIBLE,
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
    note=IMPOSSIBLE,
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


AXES = ((", axis=None", (3, 4)), (", axis=1", (3, 4)))


def _samples(name, argument="x", *more):
    """Calls along the first axis, along another, over all, and what else an operation takes."""
    calls = (("", (5,)), *AXES, *((f", {word}", (5, 2)) for word in more))
    return tuple((f"{name}({argument}{call})", shape) for call, shape in calls)


@adjoint.composed(stats.zscore, forms=_samples("scipy.stats.zscore", "x", "ddof=1"))
def zscore(a, axis=0, ddof=0):
    middle = np.mean(a, axis=axis, keepdims=True)
    return (a - middle) / np.std(a, axis=axis, ddof=ddof, keepdims=True)


@adjoint.composed(
    stats.moment, forms=(*_samples("scipy.stats.moment", "x", "order=3"), ("scipy.stats.moment(x, 4)", (5,)))
)
def moment(a, order=1, axis=0):
    off = a - np.mean(a, axis=axis, keepdims=True)
    return np.mean(off**order, axis=axis)


@adjoint.composed(stats.skew, forms=_samples("scipy.stats.skew", "x", "bias=False"))
def skew(a, axis=0, bias=True):
    off = a - np.mean(a, axis=axis, keepdims=True)
    n = np.size(a) if axis is None else np.shape(a)[axis]
    found = np.mean(off**3, axis=axis) / np.mean(off**2, axis=axis) ** 1.5
    if not bias and n > 2:
        found = found * np.sqrt((n - 1.0) * n) / (n - 2.0)
    return found


@adjoint.composed(stats.kurtosis, forms=_samples("scipy.stats.kurtosis", "x", "bias=False", "fisher=False"))
def kurtosis(a, axis=0, fisher=True, bias=True):
    off = a - np.mean(a, axis=axis, keepdims=True)
    n = np.size(a) if axis is None else np.shape(a)[axis]
    found = np.mean(off**4, axis=axis) / np.mean(off**2, axis=axis) ** 2
    if not bias and n > 3:
        found = ((n * n - 1.0) * found - 3.0 * (n - 1.0) ** 2) / (n - 2.0) / (n - 3.0) + 3.0
    return found - 3.0 if fisher else found


@adjoint.composed(stats.sem, forms=_samples("scipy.stats.sem", "x", "ddof=0"))
def sem(a, axis=0, ddof=1):
    n = np.size(a) if axis is None else np.shape(a)[axis]
    return np.std(a, axis=axis, ddof=ddof) / n**0.5


@adjoint.composed(stats.variation, forms=_samples("scipy.stats.variation", "np.exp(x)", "ddof=1"))
def variation(a, axis=0, *, ddof=0):
    return np.std(a, axis=axis, ddof=ddof) / np.mean(a, axis=axis)


@adjoint.composed(
    stats.gmean,
    forms=(
        *_samples("scipy.stats.gmean", "np.exp(x)"),
        ("scipy.stats.gmean(np.exp(x), weights=np.exp(y))", (4,), (4,)),
    ),
)
def gmean(a, axis=0, *, weights=None):
    logs = np.log(a)
    return np.exp(np.mean(logs, axis=axis) if weights is None else np.average(logs, axis=axis, weights=weights))


@adjoint.composed(
    stats.hmean,
    forms=(
        *_samples("scipy.stats.hmean", "np.exp(x)"),
        ("scipy.stats.hmean(np.exp(x), weights=np.exp(y))", (4,), (4,)),
    ),
)
def hmean(a, axis=0, *, weights=None):
    turned = 1.0 / np.asarray(a)
    return 1.0 / (np.mean(turned, axis=axis) if weights is None else np.average(turned, axis=axis, weights=weights))


@adjoint.composed(
    stats.entropy,
    forms=(
        *_samples("scipy.stats.entropy", "np.exp(x)", "base=2.0"),
        ("scipy.stats.entropy(np.exp(x), np.exp(y))", (4,), (4,)),
        ("scipy.stats.entropy(np.exp(x), np.exp(y), axis=1)", (3, 4), (3, 4)),
    ),
)
def entropy(pk, qk=None, base=None, axis=0):
    p = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        found = np.sum(special.entr(p), axis=axis)
    else:
        found = np.sum(special.rel_entr(p, qk / np.sum(qk, axis=axis, keepdims=True)), axis=axis)
    return found if base is None else found / np.log(base)


@adjoint.composed(
    stats.median_abs_deviation, forms=_samples("scipy.stats.median_abs_deviation", "x", "scale='normal'", "scale=2.0")
)
def median_abs_deviation(x, axis=0, *, scale=1.0):
    if axis is None:
        off = np.abs(x - np.median(x))
    else:
        off = np.abs(x - np.median(x, axis=axis, keepdims=True))
    unit = 0.6744897501960817 if scale == "normal" else scale
    return np.median(off, axis=axis) / unit


@adjoint.composed(stats.iqr, forms=_samples("scipy.stats.iqr", "x", "rng=(10, 80)"))
def iqr(x, axis=None, rng=(25, 75)):
    return np.percentile(x, rng[1], axis=axis) - np.percentile(x, rng[0], axis=axis)


@adjoint.composed(
    stats.circmean,
    forms=(("scipy.stats.circmean(0.5 + 0.2 * x)", (5,)), ("scipy.stats.circmean(x + 4.0, high=10.0, axis=1)", (3, 4))),
    name="scipy.stats.circmean",
)
def circmean(samples, high=2.0 * np.pi, low=0.0, axis=None):
    require_handled(np.size(samples) > 0, "scipy.stats.circmean of nothing")
    turned = (samples - low) * 2.0 * np.pi / (high - low)
    angle = np.arctan2(np.sum(np.sin(turned), axis=axis), np.sum(np.cos(turned), axis=axis))
    return np.mod(angle, 2.0 * np.pi) * (high - low) / 2.0 / np.pi + low


@adjoint.composed(
    stats.pearsonr,
    forms=(("scipy.stats.pearsonr(x, y)[0]", (5,), (5,)), ("scipy.stats.pearsonr(x, y)[1]", (5,), (5,))),
    note="Of vectors; the result is a pair.",
)
def pearsonr(x, y):
    require_handled(np.ndim(x) == 1 and np.ndim(y) == 1 and np.size(x) > 2, "matrices, or less than three numbers")
    x_off = x - np.mean(x)
    y_off = y - np.mean(y)
    r = np.sum(x_off * y_off) / (np.linalg.norm(x_off) * np.linalg.norm(y_off))
    half = len(x) / 2.0 - 1.0
    return r, 2.0 * special.betaincc(half, half, 0.5 * (np.abs(r) + 1.0))


@adjoint.composed(
    line_found,
    forms=(("line_found(x, y)[0]", (5,), (5,)), ("line_found(x, y)[5]", (5,), (5,))),
    results=tuple((one, 0) for one in ("slope", "intercept", "rvalue", "pvalue", "stderr", "intercept_stderr")),
    note="The parts of `scipy.stats.linregress(x, y)`.",
)
def line_of(x, y, alternative="two-sided"):
    require_handled(np.size(x) > 2 and alternative == "two-sided", "less than three points, or one side of a test")
    places, heights = np.ravel(x), np.ravel(y)
    x_off, y_off = places - np.mean(places), heights - np.mean(heights)
    width, height = np.mean(x_off * x_off), np.mean(y_off * y_off)
    slope = np.mean(x_off * y_off) / width
    r = np.mean(x_off * y_off) / np.sqrt(width * height)
    half = np.size(x) / 2.0 - 1.0
    error = np.sqrt((1.0 - r * r) * height / width / (2.0 * half))
    p = 2.0 * special.betaincc(half, half, 0.5 * (np.abs(r) + 1.0))
    intercept = np.mean(heights) - slope * np.mean(places)
    return slope, intercept, r, p, error, error * np.sqrt(width + np.mean(places) ** 2)


@adjoint.composed(
    stats.linregress,
    forms=(("scipy.stats.linregress(x, y)[1]", (5,), (5,)), ("scipy.stats.linregress(x, y)[4]", (5,), (5,))),
    note="The result is a tuple of five, or has its parts by name.",
)
def linregress(x, y, alternative="two-sided"):
    parts = line_found(x, y, alternative)
    return parts[0], parts[1], parts[2], parts[3], parts[4]


in_parts(
    stats.linregress,
    line_found,
    ("slope", "intercept", "rvalue", "pvalue", "stderr", "intercept_stderr"),
    unpacks=True,
)


@adjoint.composed(
    density_at,
    forms=(
        ("density_at(x, y)", (5,), (3,)),
        ("density_at(x, np.array([[0.3, 0.7, 2.0], [0.1, -0.5, 1.0]]), 'silverman')", (2, 5)),
        ("density_at(x, y, 0.7)", (5,), ()),
    ),
    note="Of `scipy.stats.gaussian_kde(dataset, bw_method)(points)`, without weights.",
)
def density_of(dataset, points, bw_method=None):
    sample = np.atleast_2d(np.asarray(dataset))
    axes, n = np.shape(sample)
    if bw_method is None or isinstance(bw_method, str):
        factor = (n * (axes + 2.0) / 4.0 if bw_method == "silverman" else 1.0 * n) ** (-1.0 / (axes + 4.0))
    else:
        factor = bw_method
    spread = np.atleast_2d(np.cov(sample)) * factor**2
    off = np.expand_dims(sample, 2) - np.expand_dims(np.reshape(np.asarray(points), (axes, -1)), 1)
    flat = np.reshape(off, (axes, -1))
    energy = np.reshape(0.5 * np.sum(flat * np.linalg.solve(spread, flat), axis=0), np.shape(off)[1:])
    return np.sum(np.exp(-energy), axis=0) / (n * np.sqrt(np.linalg.det(2.0 * np.pi * spread)))


def held_by_kde(made):
    """How the parameters of a `gaussian_kde` are read; None for one with weights."""
    even = np.all(made.weights == made.weights[0])
    return {"dataset": "self.dataset", "bw_method": "self.factor"} if even else None


made_to_be_called(
    stats.gaussian_kde, density_at, made=("dataset", "bw_method"), required=1, held=held_by_kde, steady=True
)

FROZEN = "it makes a frozen distribution, of which pdf, cdf, ppf and the like have derivatives, with their logarithms"

declare_refused(
    FROZEN,
    {
        f"scipy.stats.{name}": held
        for name, held in vars(stats).items()
        if isinstance(held, stats.rv_continuous | stats.rv_discrete)
    },
)
