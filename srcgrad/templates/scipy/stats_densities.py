"""Densities of `scipy.stats` and their logarithms, of numbers and of vectors, in all parameters; on request."""

import numpy as np
from scipy import special, stats

from srcgrad.core.rules import HALF, adjoint, d, declare_other_form, tangent
from srcgrad.runtime import sum_to
from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.linalg import half_read

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
