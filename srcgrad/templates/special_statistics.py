"""Distribution functions of `scipy.special` and their inverses, in the variable; loaded on request."""

import math

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, d

SHAPE = "a derivative with respect to the parameter of an incomplete gamma or beta function has no closed form"
COUNT = "it is a whole number"


@adjoint.elementwise(special.ndtri, domain=(0.1, 0.9), at=(((0.0,), (math.inf,)), ((1.0,), (math.inf,))))
def ndtri(x, p):
    d[p] = d[x] * math.sqrt(2.0 * np.pi) * np.exp(0.5 * x * x)


@adjoint.elementwise(special.ndtri_exp, domain=(-5.0, -0.2))
def ndtri_exp(x, y):
    d[y] = d[x] * math.sqrt(2.0 * np.pi) * np.exp(y + 0.5 * x * x)


@adjoint.elementwise(
    special.chdtr, domain=(0.3, 4.0), forms=(("scipy.special.chdtr(2.5, x)", (3,)),), refuses={"v": SHAPE}
)
def chdtr(p, v, x):
    d[x] = 0.5 * d[p] * np.exp(special.xlogy(0.5 * v - 1.0, 0.5 * x) - 0.5 * x - special.gammaln(0.5 * v))


@adjoint.elementwise(
    special.chdtrc, domain=(0.3, 4.0), forms=(("scipy.special.chdtrc(2.5, x)", (3,)),), refuses={"v": SHAPE}
)
def chdtrc(p, v, x):
    d[x] = -0.5 * d[p] * np.exp(special.xlogy(0.5 * v - 1.0, 0.5 * x) - 0.5 * x - special.gammaln(0.5 * v))


@adjoint.elementwise(
    special.chdtri, domain=(0.1, 0.9), forms=(("scipy.special.chdtri(2.5, x)", (3,)),), refuses={"v": SHAPE}
)
def chdtri(x, v, p):
    d[p] = -2.0 * d[x] * np.exp(special.gammaln(0.5 * v) + 0.5 * x - special.xlogy(0.5 * v - 1.0, 0.5 * x))


@adjoint.elementwise(
    special.gdtr,
    domain=(0.3, 3.0),
    forms=(("scipy.special.gdtr(x, 1.7, y)", (3,), (2, 1)),),
    refuses={"b": SHAPE},
)
def gdtr(p, a, b, x):
    density = np.exp(special.xlogy(b - 1.0, a * x) - a * x - special.gammaln(b))
    d[a] = d[p] * x * density
    d[x] = d[p] * a * density


@adjoint.elementwise(
    special.gdtrc,
    domain=(0.3, 3.0),
    forms=(("scipy.special.gdtrc(x, 1.7, y)", (3,), (2, 1)),),
    refuses={"b": SHAPE},
)
def gdtrc(p, a, b, x):
    density = np.exp(special.xlogy(b - 1.0, a * x) - a * x - special.gammaln(b))
    d[a] = -d[p] * x * density
    d[x] = -d[p] * a * density


@adjoint.elementwise(
    special.fdtr,
    domain=(0.3, 3.0),
    forms=(("scipy.special.fdtr(2.5, 3.5, x)", (3,)),),
    refuses={"dfn": SHAPE, "dfd": SHAPE},
)
def fdtr(p, dfn, dfd, x):
    part = dfn * x / (dfd + dfn * x)
    log_density = special.xlogy(0.5 * dfn, part) + special.xlog1py(0.5 * dfd, -part)
    d[x] = d[p] * np.exp(log_density - special.betaln(0.5 * dfn, 0.5 * dfd)) / x


@adjoint.elementwise(
    special.fdtrc,
    domain=(0.3, 3.0),
    forms=(("scipy.special.fdtrc(2.5, 3.5, x)", (3,)),),
    refuses={"dfn": SHAPE, "dfd": SHAPE},
)
def fdtrc(p, dfn, dfd, x):
    part = dfn * x / (dfd + dfn * x)
    log_density = special.xlogy(0.5 * dfn, part) + special.xlog1py(0.5 * dfd, -part)
    d[x] = -d[p] * np.exp(log_density - special.betaln(0.5 * dfn, 0.5 * dfd)) / x


@adjoint.elementwise(
    special.fdtri,
    domain=(0.1, 0.9),
    forms=(("scipy.special.fdtri(2.5, 3.5, x)", (3,)),),
    refuses={"dfn": SHAPE, "dfd": SHAPE},
)
def fdtri(x, dfn, dfd, p):
    part = dfn * x / (dfd + dfn * x)
    log_density = special.xlogy(0.5 * dfn, part) + special.xlog1py(0.5 * dfd, -part)
    d[p] = d[x] * x * np.exp(special.betaln(0.5 * dfn, 0.5 * dfd) - log_density)


@adjoint.elementwise(special.stdtr, forms=(("scipy.special.stdtr(2.5, x)", (3,)),), refuses={"df": SHAPE})
def stdtr(p, df, t):
    scale = np.sqrt(df) * special.beta(0.5, 0.5 * df)
    d[t] = d[p] * np.power(1.0 + t * t / df, -0.5 * (df + 1.0)) / scale


@adjoint.elementwise(
    special.stdtrit, domain=(0.1, 0.9), forms=(("scipy.special.stdtrit(2.5, x)", (3,)),), refuses={"df": SHAPE}
)
def stdtrit(t, df, p):
    scale = np.sqrt(df) * special.beta(0.5, 0.5 * df)
    d[p] = d[t] * np.power(1.0 + t * t / df, 0.5 * (df + 1.0)) * scale


@adjoint.elementwise(special.pdtr, domain=(0.5, 3.0), forms=(("scipy.special.pdtr(2, x)", (3,)),), refuses={"k": COUNT})
def pdtr(p, k, m):
    d[m] = -d[p] * np.exp(special.xlogy(np.floor(k), m) - m - special.gammaln(np.floor(k) + 1.0))


@adjoint.elementwise(
    special.pdtrc, domain=(0.5, 3.0), forms=(("scipy.special.pdtrc(2, x)", (3,)),), refuses={"k": COUNT}
)
def pdtrc(p, k, m):
    d[m] = d[p] * np.exp(special.xlogy(np.floor(k), m) - m - special.gammaln(np.floor(k) + 1.0))


@adjoint.elementwise(
    special.pdtri, domain=(0.1, 0.9), forms=(("scipy.special.pdtri(2, x)", (3,)),), refuses={"k": COUNT}
)
def pdtri(m, k, p):
    d[p] = -d[m] * np.exp(m + special.gammaln(np.trunc(k) + 1.0) - special.xlogy(np.trunc(k), m))


@adjoint.elementwise(
    special.tklmbda, domain=(-0.8, 0.8), forms=(("scipy.special.tklmbda(x, 0.3)", (3,)),), refuses={"lmbda": SHAPE}
)
def tklmbda(p, x, lmbda):
    slope = 1.0 / (np.power(p, lmbda - 1.0) + np.power(1.0 - p, lmbda - 1.0))
    d[x] = d[p] * np.where(np.abs(x) * lmbda <= 1.0, slope, 0.0)
