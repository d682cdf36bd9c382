"""Relatives of the error function and of the exponential in `scipy.special`; loaded on request."""

import math

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, d


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


@adjoint.elementwise(special.expm1)
def expm1(z, x):
    d[x] = d[z] * (z + 1.0)


@adjoint.elementwise(special.log1p, domain=(-0.7, 3.0), at=(((-1.0,), (math.inf,)),))
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
    d[x] = d[z] * y * np.power(x, y - (y != 0))
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
