"""Distribution functions of `scipy.special`, integrals, and what has no derivative, each with its reason; on request.

Soft maxima over all rows by maxima and sums, where rows come in blocks; they do not depend on what is taken off.

Names without a derivative are looked up when this file is read, so that a version of SciPy that lacks one does no harm.
"""

import math

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, constants, d, declare, declare_total
from srcgrad.runtime.hooks import stop_gradient

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


PARAMETER = "a derivative with respect to the parameter has no stable closed form"


@adjoint.elementwise(special.exp1, domain=(0.3, 3.0), at=(((0.0,), (-math.inf,)),))
def exp1(z, x):
    d[x] = -d[z] * np.exp(-x) / x


@adjoint.elementwise(special.expi, domain=(0.3, 3.0))
def expi(z, x):
    d[x] = d[z] * np.exp(x) / x


@adjoint.elementwise(
    special.expn,
    domain=(0.3, 3.0),
    forms=(
        ("scipy.special.expn(2, x)", (3,)),
        ("scipy.special.expn(0, x)", (3,)),
        ("scipy.special.expn(np.arange(3), x)", (2, 3)),
    ),
    refuses={"n": COUNT},
)
def expn(z, n, x):
    if n >= 1:
        d[x] = -d[z] * special.expn(n - 1, x)
    else:
        d[x] = -d[z] * np.where(n >= 1, special.expn(np.maximum(n - 1, 0), x), z * (1.0 + 1.0 / x))


@adjoint.elementwise(special.spence, domain=(0.3, 3.0), at=(((1.0,), (-1.0,)), ((0.0,), (-math.inf,))))
def spence(z, x):
    d[x] = -d[z] / special.exprel(np.log(x))


@adjoint.elementwise(special.ellipk, domain=(-2.0, 0.9), at=(((0.0,), (math.pi / 8.0,)),))
def ellipk(z, m):
    d[m] = d[z] * (np.pi / 8.0) * special.hyp2f1(1.5, 1.5, 2.0, m)


@adjoint.elementwise(special.ellipkm1, domain=(0.1, 3.0), at=(((1.0,), (-math.pi / 8.0,)),))
def ellipkm1(z, p):
    d[p] = -d[z] * (np.pi / 8.0) * special.hyp2f1(0.5, 0.5, 2.0, 1.0 - p) / p


@adjoint.elementwise(special.ellipe, domain=(-2.0, 0.9), at=(((0.0,), (-math.pi / 8.0,)),))
def ellipe(z, m):
    d[m] = -d[z] * (np.pi / 8.0) * special.hyp2f1(0.5, 1.5, 2.0, m)


@adjoint.elementwise(
    special.ellipkinc, domain=(-3.0, 3.0), forms=(("scipy.special.ellipkinc(x, 0.4)", (3,)),), refuses={"m": PARAMETER}
)
def ellipkinc(z, phi, m):
    d[phi] = d[z] / np.sqrt(1.0 - m * np.sin(phi) ** 2)


@adjoint.elementwise(
    special.ellipeinc, domain=(-3.0, 3.0), forms=(("scipy.special.ellipeinc(x, 0.4)", (3,)),), refuses={"m": PARAMETER}
)
def ellipeinc(z, phi, m):
    d[phi] = d[z] * np.sqrt(1.0 - m * np.sin(phi) ** 2)


THIRD = "Its gradient calls elliprd, which has no rule: its derivative is no integral of Carlson's."


@adjoint.elementwise(special.elliprf, domain=(0.3, 3.0), second=False, note=THIRD)
def elliprf(r, x, y, z):
    d[x] = -d[r] * special.elliprd(y, z, x) / 6.0
    d[y] = -d[r] * special.elliprd(z, x, y) / 6.0
    d[z] = -d[r] * special.elliprd(x, y, z) / 6.0


@adjoint.elementwise(special.elliprc, domain=(0.3, 3.0), second=False, note=THIRD)
def elliprc(r, x, y):
    d[x] = -d[r] * special.elliprd(y, y, x) / 6.0
    d[y] = -d[r] * special.elliprd(x, y, y) / 3.0


@adjoint.elementwise(special.elliprg, domain=(0.3, 3.0), second=False, note=THIRD)
def elliprg(r, x, y, z):
    mean = special.elliprf(x, y, z)
    d[x] = 0.25 * d[r] * (mean - x / 3.0 * special.elliprd(y, z, x))
    d[y] = 0.25 * d[r] * (mean - y / 3.0 * special.elliprd(z, x, y))
    d[z] = 0.25 * d[r] * (mean - z / 3.0 * special.elliprd(x, y, z))


@adjoint.elementwise(special.agm, domain=(0.3, 3.0), second=False, note=THIRD)
def agm(z, a, b):
    d[a] = d[z] * z * np.abs(z) * (2.0 / (3.0 * np.pi)) * a * special.elliprd(0.0, b * b, a * a)
    d[b] = d[z] * z * np.abs(z) * (2.0 / (3.0 * np.pi)) * b * special.elliprd(0.0, a * a, b * b)


REASONS = (
    ("bernoulli euler factorial.* stirling2", "it counts; use scipy.special.gamma or gammaln"),
    (".*_zeros", "it tabulates zeros, which depend on whole numbers only"),
    (".*roots.*", "it tabulates nodes and weights of a quadrature; compute them outside of the function"),
    (
        "cheby. gegenbauer .*laguerre hermite.* jacobi legendre sh_.*",
        "it makes an object that holds a polynomial; use scipy.special.eval_...",
    ),
    (
        ".*legendre_p.* sph_harm_y.* lq.* lmbda .*_seq riccati.* mathieu_.*_coef clpmn lpmn lpn",
        "it gives a table of values and derivatives; use scipy.special.eval_legendre, lpmv or jvp",
    ),
    ("hankel.e kelvin modfresnel. sph_harm", "its value is complex"),
    (
        "mathieu_.* obl_.* pro_.* ellip_.*",
        "its derivative in the variable is a result of its own, and that in a parameter has no closed form",
    ),
    ("chnd.* ncf.* nct.*", "the density of a noncentral distribution has no closed form here"),
    (
        "bdtri.* btdtri[ab] chdtriv fdtridfd gdtri[abx] nbdtri.* nrdtri.* pdtrik stdtridf",
        "it solves an equation; use the inverse in the variable: gammaincinv, betaincinv, ndtri, stdtrit",
    ),
    ("kolmog.* smirnov.*", "its density is not a function of scipy.special"),
    ("n?bdtrc?", "its sum is a betainc: use scipy.special.betainc"),
    ("multigammaln", "it is a sum of gammaln; write the sum"),
    ("elliprd elliprj", "the derivative of this integral is no integral of Carlson's"),
    ("it2.* besselpoly", "its derivative has no form that is stable at 0"),
    ("zetac", "the derivative of the zeta function has no closed form"),
    ("errstate .eterr test SpecialFunction.*", "it is no function of numbers"),
    ("diric", "its derivative has no form that is stable at multiples of pi; write sin(n * x / 2) / (n * sin(x / 2))"),
)

constants((special.gammasgn, special.round))
for names, reason in REASONS:
    declare(special, "scipy.special", names, reason)


@declare_total(special.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False):
    if axis is None or axis == 0 or keepdims:
        peak = stop_gradient(np.max(a, axis=axis, keepdims=keepdims))
        base = np.where(np.isfinite(peak), peak, 0.0)
        beside = base
    else:
        peak = stop_gradient(np.max(a, axis=axis, keepdims=True))
        base = np.where(np.isfinite(peak), peak, 0.0)
        beside = np.squeeze(base, axis=axis)
    parts = np.exp(a - base) if b is None else b * np.exp(a - base)
    return beside + np.log(np.sum(parts, axis=axis, keepdims=keepdims))


@declare_total(special.softmax)
def softmax(x, axis=None):
    if axis is None or axis == 0:
        peak = stop_gradient(np.max(x, axis=axis))
        parts = np.exp(x - peak)
        whole = np.sum(parts, axis=axis)
    else:
        peak = stop_gradient(np.max(x, axis=axis, keepdims=True))
        parts = np.exp(x - peak)
        whole = np.sum(parts, axis=axis, keepdims=True)
    return parts / whole


@declare_total(special.log_softmax)
def log_softmax(x, axis=None):
    if axis is None or axis == 0:
        off = x - stop_gradient(np.max(x, axis=axis))
        whole = np.sum(np.exp(off), axis=axis)
    else:
        off = x - stop_gradient(np.max(x, axis=axis, keepdims=True))
        whole = np.sum(np.exp(off), axis=axis, keepdims=True)
    return off - np.log(whole)
