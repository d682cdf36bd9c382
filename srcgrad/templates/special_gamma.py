"""Relatives of the gamma and beta functions in `scipy.special`; loaded on request."""

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, d

SHAPE = "a derivative with respect to the parameter of an incomplete gamma or beta function has no closed form"


@adjoint.elementwise(
    special.rgamma, domain=(0.5, 4.0), note="The gradient is nan at the poles of the gamma function: 0, -1, -2 ..."
)
def rgamma(z, x):
    d[x] = -d[z] * z * special.digamma(x)


@adjoint.elementwise(special.loggamma, domain=(0.5, 4.0))
def loggamma(y, z):
    d[z] = d[y] * special.digamma(z)


@adjoint.elementwise(special.poch, domain=(0.5, 3.0))
def poch(y, z, m):
    d[z] = d[y] * y * (special.digamma(z + m) - special.digamma(z))
    d[m] = d[y] * y * special.digamma(z + m)


@adjoint.elementwise(special.binom, domain={"n": (3.0, 5.0), "k": (0.5, 2.5)})
def binom(z, n, k):
    d[n] = d[z] * z * (special.digamma(n + 1.0) - special.digamma(n - k + 1.0))
    d[k] = d[z] * z * (special.digamma(n - k + 1.0) - special.digamma(k + 1.0))


@adjoint.elementwise(
    special.comb,
    domain={"N": (3.0, 5.0), "k": (0.5, 2.5)},
    at=(((2.0, 5.0), (0.0, 0.0)),),
    note="The gradient is 0 where the result is 0.",
)
def comb(z, N, k):
    left = special.digamma(N - k + 1.0)
    d[N] = d[z] * z * np.where(z == 0.0, 0.0, special.digamma(N + 1.0) - left)
    d[k] = d[z] * z * np.where(z == 0.0, 0.0, left - special.digamma(k + 1.0))


@adjoint.elementwise(
    special.perm,
    domain={"N": (3.0, 5.0), "k": (0.5, 2.5)},
    at=(((2.0, 5.0), (0.0, 0.0)),),
    note="The gradient is 0 where the result is 0.",
)
def perm(z, N, k):
    left = special.digamma(N - k + 1.0)
    d[N] = d[z] * z * np.where(z == 0.0, 0.0, special.digamma(N + 1.0) - left)
    d[k] = d[z] * z * np.where(z == 0.0, 0.0, left)


@adjoint.elementwise(
    special.zeta,
    domain=(0.5, 3.0),
    forms=(("scipy.special.zeta(2.5, x)", (3,)),),
    refuses={"x": "the derivative of the zeta function has no closed form"},
)
def zeta(z, x, q=None):
    d[q] = -d[z] * x * special.zeta(x + 1, q)


@adjoint.elementwise(
    special.gammainc,
    domain=(0.3, 3.0),
    forms=(("scipy.special.gammainc(1.7, x)", (3,)), ("scipy.special.gammainc(np.array([[0.5], [2.0]]), x)", (3,))),
    refuses={"a": SHAPE},
)
def gammainc(z, a, x):
    d[x] = d[z] * np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


@adjoint.elementwise(
    special.gammaincc, domain=(0.3, 3.0), forms=(("scipy.special.gammaincc(1.7, x)", (3,)),), refuses={"a": SHAPE}
)
def gammaincc(z, a, x):
    d[x] = -d[z] * np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


@adjoint.elementwise(
    special.gammaincinv, domain=(0.1, 0.9), forms=(("scipy.special.gammaincinv(1.7, x)", (3,)),), refuses={"a": SHAPE}
)
def gammaincinv(x, a, y):
    d[y] = d[x] * np.exp(special.gammaln(a) + x - special.xlogy(a - 1.0, x))


@adjoint.elementwise(
    special.gammainccinv, domain=(0.1, 0.9), forms=(("scipy.special.gammainccinv(1.7, x)", (3,)),), refuses={"a": SHAPE}
)
def gammainccinv(x, a, y):
    d[y] = -d[x] * np.exp(special.gammaln(a) + x - special.xlogy(a - 1.0, x))


@adjoint.elementwise(
    special.betainc,
    domain=(0.1, 0.9),
    forms=(("scipy.special.betainc(1.7, 0.6, x)", (3,)),),
    refuses={"a": SHAPE, "b": SHAPE},
)
def betainc(z, a, b, x):
    d[x] = d[z] * np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))


@adjoint.elementwise(
    special.betaincc,
    domain=(0.1, 0.9),
    forms=(("scipy.special.betaincc(1.7, 0.6, x)", (3,)),),
    refuses={"a": SHAPE, "b": SHAPE},
)
def betaincc(z, a, b, x):
    d[x] = -d[z] * np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))


@adjoint.elementwise(
    special.betaincinv,
    domain=(0.1, 0.9),
    forms=(("scipy.special.betaincinv(1.7, 0.6, x)", (3,)),),
    refuses={"a": SHAPE, "b": SHAPE},
)
def betaincinv(x, a, b, y):
    d[y] = d[x] * np.exp(special.betaln(a, b) - special.xlogy(a - 1.0, x) - special.xlog1py(b - 1.0, -x))


@adjoint.elementwise(
    special.betainccinv,
    domain=(0.1, 0.9),
    forms=(("scipy.special.betainccinv(1.7, 0.6, x)", (3,)),),
    refuses={"a": SHAPE, "b": SHAPE},
)
def betainccinv(x, a, b, y):
    d[y] = -d[x] * np.exp(special.betaln(a, b) - special.xlogy(a - 1.0, x) - special.xlog1py(b - 1.0, -x))
