"""Functions of `scipy.special`: the error, gamma and beta functions and relatives; on request, for it imports SciPy."""

import math

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime import spread, sum_to


@adjoint.elementwise(special.erf, cl="erf(x)", numba="math.erf(x)")
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
    along="reduced",
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
    along="kept",
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
    along="kept",
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


@adjoint.elementwise(special.erfcx)
def erfcx(z, x):
    d[x] = d[z] * (2.0 * x * z - 2.0 / math.sqrt(np.pi))


@adjoint.elementwise(special.erfi)
def erfi(z, x):
    d[x] = d[z] * (2.0 / math.sqrt(np.pi)) * np.exp(x * x)


@adjoint.elementwise(special.dawsn)
def dawsn(z, x):
    d[x] = d[z] * (1.0 - 2.0 * x * z)


@adjoint.elementwise(special.erfcinv, domain=(0.1, 1.9), at=(((0.0,), (-math.inf,)), ((2.0,), (-math.inf,))))
def erfcinv(z, x):
    d[x] = -d[z] * (0.5 * math.sqrt(np.pi)) * np.exp(z * z)


@adjoint.elementwise(special.owens_t)
def owens_t(z, h, a):
    d[h] = -d[z] * special.erf(a * h / math.sqrt(2.0)) * np.exp(-0.5 * h * h) / math.sqrt(8.0 * np.pi)
    d[a] = d[z] * np.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * np.pi * (1.0 + a * a))


@adjoint.elementwise(special.exp2)
def exp2(z, x):
    d[x] = d[z] * z * math.log(2.0)


@adjoint.elementwise(special.exp10, domain=(-1.0, 1.0))
def exp10(z, x):
    d[x] = d[z] * z * math.log(10.0)


@adjoint.elementwise(special.expm1, cl="expm1(x)", complex="conjugated", numba="math.expm1(x)")
def expm1(z, x):
    d[x] = d[z] * (z + 1.0)


@adjoint.elementwise(
    special.log1p,
    cl="log1p(x)",
    complex="conjugated",
    numba="math.log1p(x)",
    domain=(-0.7, 3.0),
    at=(((-1.0,), (math.inf,)),),
)
def log1p(z, x):
    d[x] = np.divide(d[z], 1.0 + x)


@adjoint.elementwise(special.cbrt, domain=(0.3, 4.0), at=(((0.0,), (math.inf,)),))
def cbrt(z, x):
    d[x] = np.divide(d[z], 3.0 * z * z)


@adjoint.elementwise(special.exprel, at=(((0.0,), (0.5,)),))
def exprel(z, x):
    d[x] = 0.5 * d[z] * special.hyp1f1(2.0, 3.0, x)


@adjoint.elementwise(special.cosm1)
def cosm1(z, x):
    d[x] = -d[z] * np.sin(x)


@adjoint.elementwise(
    special.powm1,
    domain={"x": (0.3, 2.0), "y": (-2.0, 2.0)},
    at=(((0.0, 2.0), (0.0, 0.0)), ((2.0, 0.0), (0.0, math.log(2.0)))),
)
def powm1(z, x, y):
    d[x] = d[z] * y * np.power(x, y - ((x != 0) | (y != 0)))
    d[y] = d[z] * (z + 1.0) * np.log(x + (x == 0))


@adjoint.elementwise(special.sindg, domain=(-80.0, 80.0))
def sindg(z, x):
    d[x] = d[z] * (np.pi / 180.0) * special.cosdg(x)


@adjoint.elementwise(special.cosdg, domain=(-80.0, 80.0))
def cosdg(z, x):
    d[x] = -d[z] * (np.pi / 180.0) * special.sindg(x)


@adjoint.elementwise(special.tandg, domain=(-60.0, 60.0))
def tandg(z, x):
    d[x] = d[z] * (np.pi / 180.0) * (1.0 + z * z)


@adjoint.elementwise(special.cotdg, domain=(30.0, 80.0))
def cotdg(z, x):
    d[x] = -d[z] * (np.pi / 180.0) * (1.0 + z * z)


@adjoint.elementwise(special.radian)
def radian(z, degrees, minutes, seconds):
    d[degrees] = d[z] * (np.pi / 180.0)
    d[minutes] = d[z] * (np.pi / 10800.0)
    d[seconds] = d[z] * (np.pi / 648000.0)


@adjoint.elementwise(getattr(special, "softplus", None), at=(((-800.0,), (0.0,)), ((800.0,), (1.0,))))
def softplus(z, x):
    d[x] = d[z] * special.expit(x)


@adjoint.elementwise(special.wrightomega)
def wrightomega(z, x):
    d[x] = d[z] * z / (1.0 + z)


@adjoint.elementwise(
    special.rel_entr,
    domain=(0.3, 2.0),
    at=(((0.0, 1.0), (-math.inf, 0.0)),),
    note="The gradient with respect to y is 0 where x and y are 0.",
)
def rel_entr(z, x, y):
    d[x] = d[z] * (1.0 + np.log(np.divide(x, y)))
    d[y] = -d[z] * x / (y + ((x == 0.0) & (y == 0.0)))


@adjoint.elementwise(
    special.kl_div,
    domain=(0.3, 2.0),
    at=(((0.0, 1.0), (-math.inf, 1.0)), ((2.0, 2.0), (0.0, 0.0))),
    note="The gradient with respect to y is 1 where x and y are 0.",
)
def kl_div(z, x, y):
    d[x] = d[z] * np.log(np.divide(x, y))
    d[y] = d[z] * (1.0 - x / (y + ((x == 0.0) & (y == 0.0))))


@adjoint.elementwise(
    special.huber,
    domain={"delta": (0.5, 1.0), "r": (1.2, 2.0)},
    at=(((1.0, 0.5), (0.0, 0.5)), ((1.0, -3.0), (2.0, -1.0)), ((1.0, 1.0), (0.0, 1.0))),
)
def huber(z, delta, r):
    d[delta] = d[z] * np.maximum(np.abs(r) - delta, 0.0)
    d[r] = d[z] * np.clip(r, -delta, delta)


@adjoint.elementwise(
    special.pseudo_huber,
    domain={"delta": (0.5, 2.0), "r": (-2.0, 2.0)},
    note="The gradient is nan where delta is 0.",
)
def pseudo_huber(z, delta, r):
    bend = z / (delta * delta)
    d[delta] = d[z] * delta * bend * bend / (1.0 + bend)
    d[r] = d[z] * r / (1.0 + bend)


@adjoint.elementwise(
    special.boxcox,
    domain={"x": (0.3, 2.0), "lmbda": (-1.0, 2.0)},
    at=(((1.0, 0.0), (1.0, 0.0)), ((math.e, 0.0), (1.0 / math.e, 0.5))),
)
def boxcox(z, x, lmbda):
    power = np.log(x)
    d[x] = d[z] * np.power(x, lmbda - 1.0)
    d[lmbda] = 0.5 * d[z] * power * power * special.hyp1f1(2.0, 3.0, np.minimum(lmbda * power, 800.0))


@adjoint.elementwise(
    special.boxcox1p,
    domain={"x": (-0.5, 1.0), "lmbda": (-1.0, 2.0)},
    at=(((0.0, 0.0), (1.0, 0.0)),),
)
def boxcox1p(z, x, lmbda):
    power = np.log1p(x)
    d[x] = d[z] * np.power(1.0 + x, lmbda - 1.0)
    d[lmbda] = 0.5 * d[z] * power * power * special.hyp1f1(2.0, 3.0, np.minimum(lmbda * power, 800.0))


@adjoint.elementwise(
    special.inv_boxcox,
    domain={"y": (-0.7, 0.9), "lmbda": (-1.0, 1.0)},
    at=(((0.0, 0.0), (1.0, 0.0)), ((2.0, 0.0), (math.exp(2.0), -2.0 * math.exp(2.0)))),
)
def inv_boxcox(x, y, lmbda):
    d[y] = d[x] * x / (1.0 + lmbda * y)
    d[lmbda] = -0.5 * d[x] * x * y * y * special.hyp2f1(2.0, 2.0, 3.0, -lmbda * y)


@adjoint.elementwise(
    special.inv_boxcox1p,
    domain={"y": (-0.7, 0.9), "lmbda": (-1.0, 1.0)},
    at=(((0.0, 0.0), (1.0, 0.0)),),
)
def inv_boxcox1p(x, y, lmbda):
    d[y] = d[x] * (1.0 + x) / (1.0 + lmbda * y)
    d[lmbda] = -0.5 * d[x] * (1.0 + x) * y * y * special.hyp2f1(2.0, 2.0, 3.0, -lmbda * y)


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
