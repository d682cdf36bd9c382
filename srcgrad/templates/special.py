"""Functions of `scipy.special`; this family is loaded on request only, for it imports SciPy."""

import math

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime import spread, sum_to


@adjoint.elementwise(special.erf, cl="erf(x)")
def erf(z, x):
    d[x] = d[z] * 1.1283791670955126 * np.exp(-x * x)  # 2 / sqrt(pi)


@adjoint.elementwise(special.erfc, cl="erfc(x)")
def erfc(z, x):
    d[x] = -d[z] * 1.1283791670955126 * np.exp(-x * x)  # 2 / sqrt(pi)


@adjoint.elementwise(special.erfinv, domain=(-0.9, 0.9), at=(((1.0,), (math.inf,)),))
def erfinv(z, x):
    d[x] = d[z] * (0.5 * math.sqrt(np.pi)) * np.exp(z * z)


@adjoint.elementwise(special.gammaln, cl="lgamma(x)", domain=(0.5, 4.0), aliases=(math.lgamma,))
def gammaln(z, x):
    d[x] = d[z] * special.digamma(x)


@adjoint.elementwise(special.gamma, cl="tgamma(x)", domain=(0.5, 4.0), aliases=(math.gamma,))
def gamma(z, x):
    d[x] = d[z] * z * special.digamma(x)


@adjoint.elementwise(special.digamma, cl="digamma(x)", domain=(0.5, 4.0))
def digamma(z, x):
    d[x] = d[z] * special.polygamma(1, x)


@adjoint(
    special.polygamma, refuses={"n": "it counts derivatives"}, forms=(("scipy.special.polygamma(1, 2.5 + x)", (3,)),)
)
def polygamma(z, n, x):
    d[x] = d[z] * special.polygamma(n + 1, x)


@tangent(special.polygamma)
def polygamma_tangent(z, n, x):
    d[z] = d[x] * special.polygamma(n + 1, x)


@adjoint.elementwise(special.beta, domain=(0.5, 3.0))
def beta(z, x, y):
    d[x] = d[z] * z * (special.digamma(x) - special.digamma(x + y))
    d[y] = d[z] * z * (special.digamma(y) - special.digamma(x + y))


@adjoint.elementwise(special.betaln, domain=(0.5, 3.0))
def betaln(z, x, y):
    d[x] = d[z] * (special.digamma(x) - special.digamma(x + y))
    d[y] = d[z] * (special.digamma(y) - special.digamma(x + y))


@adjoint.elementwise(special.expit, cl="1.0 / (1.0 + exp(-x))", at=(((-800.0,), (0.0,)), ((800.0,), (0.0,))))
def expit(z, x):
    d[x] = d[z] * z * (1.0 - z)


@adjoint.elementwise(special.logit, cl="log(x / (1.0 - x))", domain=(0.1, 0.9), at=(((0.0,), (math.inf,)),))
def logit(z, x):
    d[x] = np.divide(d[z], x * (1.0 - x))


@adjoint.elementwise(special.log_expit, cl="-logaddexp(0.0, -x)")
def log_expit(z, x):
    d[x] = d[z] * special.expit(-x)


@adjoint.elementwise(special.ndtr, cl="0.5 * erfc(-x * 0.7071067811865476)")
def ndtr(z, x):
    d[x] = d[z] * (1.0 / math.sqrt(2.0 * np.pi)) * np.exp(-0.5 * x * x)


@adjoint.elementwise(special.log_ndtr, domain=(-5.0, 2.0))
def log_ndtr(z, x):
    d[x] = d[z] * (1.0 / math.sqrt(2.0 * np.pi)) * np.exp(-0.5 * x * x - z)


@adjoint.elementwise(
    special.xlogy,
    cl="x == 0.0 ? 0.0 : x * log(y)",
    domain=(0.3, 2.0),
    at=(((0.0, 0.0), (-math.inf, 0.0)), ((0.0, 2.0), (math.log(2.0), 0.0))),
    note="The gradient with respect to y is 0 where x and y are 0.",
)
def xlogy(z, x, y):
    d[x] = d[z] * np.log(y)
    d[y] = d[z] * x / (y + ((x == 0.0) & (y == 0.0)))


@adjoint.elementwise(
    special.xlog1py,
    cl="x == 0.0 ? 0.0 : x * log1p(y)",
    domain=(0.3, 2.0),
    at=(((0.0, -1.0), (-math.inf, 0.0)),),
    note="The gradient with respect to y is 0 where x is 0 and y is -1.",
)
def xlog1py(z, x, y):
    d[x] = d[z] * np.log1p(y)
    d[y] = d[z] * x / (1.0 + y + ((x == 0.0) & (y == -1.0)))


@adjoint.elementwise(
    special.entr,
    cl="x > 0.0 ? -x * log(x) : (x < 0.0 ? -INFINITY : x)",
    domain=(0.3, 2.0),
    at=(((0.0,), (math.inf,)),),
)
def entr(z, x):
    d[x] = d[z] * (-1.0 - np.log(x))


@adjoint(
    special.logsumexp,
    forms=(
        ("scipy.special.logsumexp(x)", (3, 4)),
        ("scipy.special.logsumexp(x, axis=0)", (3, 4)),
        ("scipy.special.logsumexp(x, axis=-1, keepdims=True)", (3, 4)),
        ("scipy.special.logsumexp(x, axis=(0, 2))", (2, 3, 2)),
        ("scipy.special.logsumexp(x, axis=0, b=1.0 + y * y)", (3, 4), (3, 1)),
        ("scipy.special.logsumexp(x, b=1.0 + y * y, keepdims=True)", (4,), (3, 4)),
    ),
    note="The gradient is 0 where all elements are -inf.",
)
def logsumexp(y, a, axis=None, b=None, keepdims=False):
    peak = np.where(y == -np.inf, 0.0, y)
    if b is None:
        d[a] = spread(d[y], a, axis, keepdims) * np.exp(a - spread(peak, a, axis, keepdims))
    else:
        share = np.exp(a - spread(peak, a + b, axis, keepdims))
        d[a] = sum_to(spread(d[y], a + b, axis, keepdims) * b * share, a)
    d[b] = sum_to(spread(d[y], a + b, axis, keepdims) * np.exp(a - spread(peak, a + b, axis, keepdims)), b)


@tangent(special.logsumexp)
def logsumexp_tangent(y, a, axis=None, b=None, keepdims=False):
    peak = np.where(y == -np.inf, 0.0, y)
    if b is None:
        d[y] = np.sum(np.exp(a - spread(peak, a, axis, keepdims)) * d[a], axis=axis, keepdims=keepdims)
    else:
        share = np.exp(a - spread(peak, a + b, axis, keepdims))
        d[y] = np.sum(share * b * d[a] + share * d[b], axis=axis, keepdims=keepdims)


@adjoint(
    special.softmax,
    forms=(
        ("scipy.special.softmax(x)", (2, 3)),
        ("scipy.special.softmax(x, axis=0)", (2, 3)),
        ("scipy.special.softmax(x, axis=(0, -1))", (2, 2, 3)),
    ),
)
def softmax(z, x, axis=None):
    d[x] = z * (d[z] - np.sum(z * d[z], axis=axis, keepdims=True))


@tangent(special.softmax)
def softmax_tangent(z, x, axis=None):
    d[z] = z * (d[x] - np.sum(z * d[x], axis=axis, keepdims=True))


@adjoint(
    special.log_softmax,
    forms=(
        ("scipy.special.log_softmax(x)", (2, 3)),
        ("scipy.special.log_softmax(x, axis=-1)", (2, 3)),
    ),
)
def log_softmax(z, x, axis=None):
    d[x] = d[z] - np.exp(z) * np.sum(d[z], axis=axis, keepdims=True)


@tangent(special.log_softmax)
def log_softmax_tangent(z, x, axis=None):
    d[z] = d[x] - np.sum(np.exp(z) * d[x], axis=axis, keepdims=True)
