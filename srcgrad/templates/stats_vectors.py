"""Densities of vectors in `scipy.stats`: the multivariate normal and the Dirichlet distribution; loaded on request."""

import numpy as np
from scipy import special, stats

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime import sum_to
from srcgrad.runtime.triangles import half_read

from .forms import HALF


@adjoint(
    stats.multivariate_normal.logpdf,
    forms=(
        ("scipy.stats.multivariate_normal.logpdf(x, y, z @ z.T + 2.0 * np.eye(3))", (3,), (3,), (3, 3)),
        ("scipy.stats.multivariate_normal.logpdf(x, y, z @ z.T + 2.0 * np.eye(2))", (4, 2), (2,), (2, 2)),
        ("scipy.stats.multivariate_normal.logpdf(x, mean=y, cov=np.eye(2))", (3, 2), (2,)),
        ("scipy.stats.multivariate_normal.logpdf(x, y, z + 8.0 * np.eye(3))", (4, 3), (3,), (3, 3)),
    ),
    note="mean and cov are to be given, cov as a matrix. " + HALF,
)
def normal(z, x, mean, cov):
    read = 0.5 * (half_read(cov) + half_read(cov).T)
    turned = np.linalg.solve(read, np.expand_dims(x - mean, -1))[..., 0]
    flow = np.expand_dims(d[z], -1) * turned
    d[x] = -flow
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
