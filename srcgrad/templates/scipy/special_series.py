"""Bessel functions and their relatives, orthogonal polynomials, hypergeometric functions; on request."""

import math

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime import sum_to

ORDER = "a derivative with respect to the order has no closed form"
COUNT = "it is a whole number"


@adjoint.elementwise(special.j0, domain=(0.2, 8.0))
def j0(y, z):
    d[z] = -d[y] * special.j1(z)


@adjoint.elementwise(special.j1, domain=(0.2, 8.0), at=(((0.0,), (0.5,)),))
def j1(y, z):
    d[z] = d[y] * special.jvp(1, z)


@adjoint.elementwise(special.y0, domain=(0.3, 8.0))
def y0(y, z):
    d[z] = -d[y] * special.y1(z)


@adjoint.elementwise(special.y1, domain=(0.3, 8.0))
def y1(y, z):
    d[z] = d[y] * special.yvp(1, z)


@adjoint.elementwise(
    special.jv,
    domain=(0.2, 6.0),
    forms=(
        ("scipy.special.jv(2.5, x)", (3,)),
        ("scipy.special.jv(np.array([[0.0], [1.5]]), x)", (3,)),
        ("scipy.special.jn(2, x)", None),
    ),
    refuses={"v": ORDER},
)
def jv(y, v, z):
    d[z] = d[y] * special.jvp(v, z)


@adjoint.elementwise(special.jve, domain=(0.2, 6.0), forms=(("scipy.special.jve(1.5, x)", (3,)),), refuses={"v": ORDER})
def jve(y, v, z):
    d[z] = d[y] * special.jvp(v, z)


@adjoint.elementwise(special.yn, domain=(0.3, 6.0), forms=(("scipy.special.yn(2, x)", (3,)),), refuses={"n": COUNT})
def yn(y, n, z):
    if n % 1 == 0:
        d[z] = d[y] * special.yvp(n, z)
    else:
        d[z] = d[y] * special.yvp(np.trunc(n), z)


@adjoint.elementwise(special.yv, domain=(0.3, 6.0), forms=(("scipy.special.yv(1.5, x)", (3,)),), refuses={"v": ORDER})
def yv(y, v, z):
    d[z] = d[y] * special.yvp(v, z)


@adjoint.elementwise(special.yve, domain=(0.3, 6.0), forms=(("scipy.special.yve(0.5, x)", (3,)),), refuses={"v": ORDER})
def yve(y, v, z):
    d[z] = d[y] * special.yvp(v, z)


@adjoint.elementwise(special.i0)
def i0(y, z):
    d[z] = d[y] * special.i1(z)


@adjoint.elementwise(special.i1, at=(((0.0,), (0.5,)),))
def i1(y, z):
    d[z] = d[y] * special.ivp(1, z)


@adjoint.elementwise(special.i0e, at=(((0.0,), (0.0,)),))
def i0e(y, z):
    d[z] = d[y] * (special.i1e(z) - np.sign(z) * y)


@adjoint.elementwise(special.i1e, at=(((0.0,), (0.5,)),))
def i1e(y, z):
    d[z] = d[y] * (0.5 * (special.i0e(z) + special.ive(2, z)) - np.sign(z) * y)


@adjoint.elementwise(special.iv, domain=(0.2, 4.0), forms=(("scipy.special.iv(1.5, x)", (3,)),), refuses={"v": ORDER})
def iv(y, v, z):
    d[z] = d[y] * special.ivp(v, z)


@adjoint.elementwise(special.ive, domain=(0.2, 4.0), forms=(("scipy.special.ive(1.5, x)", (3,)),), refuses={"v": ORDER})
def ive(y, v, z):
    d[z] = d[y] * (0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z)) - np.sign(z) * y)


@adjoint.elementwise(special.k0, domain=(0.3, 4.0))
def k0(y, z):
    d[z] = -d[y] * special.k1(z)


@adjoint.elementwise(special.k1, domain=(0.3, 4.0))
def k1(y, z):
    d[z] = d[y] * special.kvp(1, z)


@adjoint.elementwise(special.k0e, domain=(0.3, 4.0))
def k0e(y, z):
    d[z] = d[y] * (y - special.k1e(z))


@adjoint.elementwise(special.k1e, domain=(0.3, 4.0))
def k1e(y, z):
    d[z] = d[y] * (y - 0.5 * (special.k0e(z) + special.kve(2, z)))


@adjoint.elementwise(special.kn, domain=(0.3, 4.0), forms=(("scipy.special.kn(2, x)", (3,)),), refuses={"n": COUNT})
def kn(y, n, z):
    if n % 1 == 0:
        d[z] = d[y] * special.kvp(n, z)
    else:
        d[z] = d[y] * special.kvp(np.trunc(n), z)


@adjoint.elementwise(special.kv, domain=(0.3, 4.0), forms=(("scipy.special.kv(1.5, x)", (3,)),), refuses={"v": ORDER})
def kv(y, v, z):
    d[z] = d[y] * special.kvp(v, z)


@adjoint.elementwise(special.kve, domain=(0.3, 4.0), forms=(("scipy.special.kve(1.5, x)", (3,)),), refuses={"v": ORDER})
def kve(y, v, z):
    d[z] = d[y] * (y - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z)))


@adjoint.elementwise(
    special.jvp,
    domain=(0.2, 6.0),
    forms=(("scipy.special.jvp(1.5, x)", (3,)), ("scipy.special.jvp(2, x, 2)", (2, 3))),
    refuses={"v": ORDER, "n": COUNT},
)
def jvp(y, v, z, n=1):
    d[z] = d[y] * special.jvp(v, z, n + 1)


@adjoint.elementwise(
    special.yvp,
    domain=(0.3, 6.0),
    forms=(("scipy.special.yvp(1.5, x)", (3,)), ("scipy.special.yvp(2, x, 2)", (3,))),
    refuses={"v": ORDER, "n": COUNT},
)
def yvp(y, v, z, n=1):
    d[z] = d[y] * special.yvp(v, z, n + 1)


@adjoint.elementwise(
    special.ivp,
    domain=(0.2, 4.0),
    forms=(("scipy.special.ivp(1.5, x)", (3,)), ("scipy.special.ivp(2, x, n=0)", (3,))),
    refuses={"v": ORDER, "n": COUNT},
)
def ivp(y, v, z, n=1):
    d[z] = d[y] * special.ivp(v, z, n + 1)


@adjoint.elementwise(
    special.kvp,
    domain=(0.3, 4.0),
    forms=(("scipy.special.kvp(1.5, x)", (3,)), ("scipy.special.kvp(2, x, 2)", (3,))),
    refuses={"v": ORDER, "n": COUNT},
)
def kvp(y, v, z, n=1):
    d[z] = d[y] * special.kvp(v, z, n + 1)


@adjoint.elementwise(
    special.struve,
    domain=(0.2, 6.0),
    forms=(("scipy.special.struve(0, x)", (3,)), ("scipy.special.struve(1.5, x)", (2, 3))),
    refuses={"v": ORDER},
)
def struve(y, v, x):
    edge = np.power(0.5 * x, v) / (math.sqrt(np.pi) * special.gamma(v + 1.5))
    d[x] = 0.5 * d[y] * (special.struve(v - 1, x) - special.struve(v + 1, x) + edge)


@adjoint.elementwise(
    special.modstruve,
    domain=(0.2, 4.0),
    forms=(("scipy.special.modstruve(0, x)", (3,)), ("scipy.special.modstruve(1.5, x)", (2, 3))),
    refuses={"v": ORDER},
)
def modstruve(y, v, x):
    edge = np.power(0.5 * x, v) / (math.sqrt(np.pi) * special.gamma(v + 1.5))
    d[x] = 0.5 * d[y] * (special.modstruve(v - 1, x) + special.modstruve(v + 1, x) + edge)


@adjoint.elementwise(special.itstruve0, domain=(0.2, 4.0))
def itstruve0(y, x):
    d[x] = d[y] * special.struve(0, x)


@adjoint.elementwise(special.itmodstruve0, domain=(0.2, 4.0))
def itmodstruve0(y, x):
    d[x] = d[y] * special.modstruve(0, x)


@adjoint.elementwise(
    special.wright_bessel,
    domain=(0.2, 3.0),
    forms=(("scipy.special.wright_bessel(1.0, 1.5, x)", (3,)),),
    refuses={"a": ORDER, "b": ORDER},
)
def wright_bessel(y, a, b, x):
    d[x] = d[y] * special.wright_bessel(a, a + b, x)


@adjoint.elementwise(
    getattr(special, "log_wright_bessel", None),
    domain=(0.2, 3.0),
    forms=(("scipy.special.log_wright_bessel(1.0, 1.5, x)", (3,)),),
    refuses={"a": ORDER, "b": ORDER},
)
def log_wright_bessel(y, a, b, x):
    d[x] = d[y] * np.exp(special.log_wright_bessel(a, a + b, x) - y)


AT_ZERO = "The gradient of a derivative is nan at 0."


@adjoint.elementwise(
    special.spherical_jn,
    domain=(0.3, 5.0),
    forms=(
        ("scipy.special.spherical_jn(2, x)", (3,)),
        ("scipy.special.spherical_jn(1, x, derivative=True)", (3,)),
        ("scipy.special.spherical_jn(1, x, len(x) > 2)", (3,)),
        ("scipy.special.spherical_jn(1, x, len(x) > 2)", (2,)),
    ),
    refuses={"n": COUNT},
    note=AT_ZERO,
)
def spherical_jn(y, n, z, derivative=False):
    if not derivative:
        d[z] = d[y] * special.spherical_jn(n, z, True)
    elif derivative:
        d[z] = d[y] * ((n * (n + 1) / (z * z) - 1.0) * special.spherical_jn(n, z) - 2.0 * y / z)
    else:
        bent = (n * (n + 1) / (z * z) - 1.0) * special.spherical_jn(n, z) - 2.0 * y / z
        d[z] = d[y] * np.where(derivative, bent, special.spherical_jn(n, z, True))


@adjoint.elementwise(
    special.spherical_yn,
    domain=(0.3, 5.0),
    forms=(
        ("scipy.special.spherical_yn(2, x)", (3,)),
        ("scipy.special.spherical_yn(1, x, derivative=True)", (3,)),
        ("scipy.special.spherical_yn(1, x, len(x) > 2)", (3,)),
        ("scipy.special.spherical_yn(1, x, len(x) > 2)", (2,)),
    ),
    refuses={"n": COUNT},
    note=AT_ZERO,
)
def spherical_yn(y, n, z, derivative=False):
    if not derivative:
        d[z] = d[y] * special.spherical_yn(n, z, True)
    elif derivative:
        d[z] = d[y] * ((n * (n + 1) / (z * z) - 1.0) * special.spherical_yn(n, z) - 2.0 * y / z)
    else:
        bent = (n * (n + 1) / (z * z) - 1.0) * special.spherical_yn(n, z) - 2.0 * y / z
        d[z] = d[y] * np.where(derivative, bent, special.spherical_yn(n, z, True))


@adjoint.elementwise(
    special.spherical_in,
    domain=(0.3, 4.0),
    forms=(
        ("scipy.special.spherical_in(2, x)", (3,)),
        ("scipy.special.spherical_in(1, x, derivative=True)", (3,)),
        ("scipy.special.spherical_in(1, x, len(x) > 2)", (3,)),
        ("scipy.special.spherical_in(1, x, len(x) > 2)", (2,)),
    ),
    refuses={"n": COUNT},
    note=AT_ZERO,
)
def spherical_in(y, n, z, derivative=False):
    if not derivative:
        d[z] = d[y] * special.spherical_in(n, z, True)
    elif derivative:
        d[z] = d[y] * ((n * (n + 1) / (z * z) + 1.0) * special.spherical_in(n, z) - 2.0 * y / z)
    else:
        bent = (n * (n + 1) / (z * z) + 1.0) * special.spherical_in(n, z) - 2.0 * y / z
        d[z] = d[y] * np.where(derivative, bent, special.spherical_in(n, z, True))


@adjoint.elementwise(
    special.spherical_kn,
    domain=(0.3, 4.0),
    forms=(
        ("scipy.special.spherical_kn(2, x)", (3,)),
        ("scipy.special.spherical_kn(1, x, derivative=True)", (3,)),
        ("scipy.special.spherical_kn(1, x, len(x) > 2)", (3,)),
        ("scipy.special.spherical_kn(1, x, len(x) > 2)", (2,)),
    ),
    refuses={"n": COUNT},
    note=AT_ZERO,
)
def spherical_kn(y, n, z, derivative=False):
    if not derivative:
        d[z] = d[y] * special.spherical_kn(n, z, True)
    elif derivative:
        d[z] = d[y] * ((n * (n + 1) / (z * z) + 1.0) * special.spherical_kn(n, z) - 2.0 * y / z)
    else:
        bent = (n * (n + 1) / (z * z) + 1.0) * special.spherical_kn(n, z) - 2.0 * y / z
        d[z] = d[y] * np.where(derivative, bent, special.spherical_kn(n, z, True))


@adjoint.elementwise(special.ber)
def ber(y, x):
    d[x] = d[y] * special.berp(x)


@adjoint.elementwise(special.bei)
def bei(y, x):
    d[x] = d[y] * special.beip(x)


@adjoint.elementwise(special.ker, domain=(0.3, 4.0))
def ker(y, x):
    d[x] = d[y] * special.kerp(x)


@adjoint.elementwise(special.kei, domain=(0.3, 4.0))
def kei(y, x):
    d[x] = d[y] * special.keip(x)


@adjoint.elementwise(special.berp, domain=(0.3, 4.0), note=AT_ZERO)
def berp(y, x):
    d[x] = -d[y] * (special.bei(x) + y / x)


@adjoint.elementwise(special.beip, domain=(0.3, 4.0), note=AT_ZERO)
def beip(y, x):
    d[x] = d[y] * (special.ber(x) - y / x)


@adjoint.elementwise(special.kerp, domain=(0.3, 4.0), note=AT_ZERO)
def kerp(y, x):
    d[x] = -d[y] * (special.kei(x) + y / x)


@adjoint.elementwise(special.keip, domain=(0.3, 4.0), note=AT_ZERO)
def keip(y, x):
    d[x] = d[y] * (special.ker(x) - y / x)


DEGREE = "it is a degree"
PARAMETER = "a derivative with respect to this parameter has no closed form"


def _forms(name, *parameters, whole=False):
    """Calls of a polynomial for a degree that is known, for degree 0, for degrees that are not known, or not whole."""
    rest = "".join(f", {p}" for p in parameters)
    return (
        (f"{name}(3{rest}, x)", (3,)),
        (f"{name}(0{rest}, x)", (3,)),
        (f"{name}(np.arange(4){rest}, x)", (2, 4)),
        *(() if whole else ((f"{name}(0.24{rest}, x)", (3,)), (f"{name}(np.array([0.24, -0.3, 1.7]){rest}, x)", (3,)))),
    )


@adjoint.elementwise(
    special.eval_legendre,
    domain=(-0.9, 0.9),
    forms=_forms("scipy.special.eval_legendre"),
    refuses={"n": DEGREE},
)
def eval_legendre(y, n, x):
    if n > 0:
        d[x] = d[y] * special.eval_gegenbauer(n - 1, 1.5, x)
    else:
        m = np.maximum(n, -n - 1)  # of which it is the same polynomial
        d[x] = d[y] * (m != 0) * special.eval_gegenbauer(np.where(m == 0, 0, m - 1), 1.5, x)


@adjoint.elementwise(
    special.eval_sh_legendre,
    domain=(0.1, 0.9),
    forms=_forms("scipy.special.eval_sh_legendre"),
    refuses={"n": DEGREE},
)
def eval_sh_legendre(y, n, x):
    if n > 0:
        d[x] = 2.0 * d[y] * special.eval_gegenbauer(n - 1, 1.5, 2.0 * x - 1.0)
    else:
        m = np.maximum(n, -n - 1)  # of which it is the same polynomial
        d[x] = 2.0 * d[y] * (m != 0) * special.eval_gegenbauer(np.where(m == 0, 0, m - 1), 1.5, 2.0 * x - 1.0)


@adjoint.elementwise(
    special.eval_chebyt, domain=(-0.9, 0.9), forms=_forms("scipy.special.eval_chebyt"), refuses={"n": DEGREE}
)
def eval_chebyt(y, n, x):
    if n > 0:
        d[x] = d[y] * n * special.eval_chebyu(n - 1, x)
    else:
        d[x] = d[y] * n * special.eval_chebyu(np.where(n == 0, 0, n - 1), x)


@adjoint.elementwise(
    special.eval_chebyu, domain=(-0.9, 0.9), forms=_forms("scipy.special.eval_chebyu"), refuses={"n": DEGREE}
)
def eval_chebyu(y, n, x):
    if n > 0:
        d[x] = 2.0 * d[y] * special.eval_gegenbauer(n - 1, 2.0, x)
    else:
        m = np.maximum(n, -n - 2)  # the same polynomial, of the other sign
        sign = np.sign(n + 1) * (m != 0)
        d[x] = 2.0 * d[y] * sign * special.eval_gegenbauer(np.where(sign == 0, 0, m - 1), 2.0, x)


@adjoint.elementwise(
    special.eval_chebyc, domain=(-1.9, 1.9), forms=_forms("scipy.special.eval_chebyc"), refuses={"n": DEGREE}
)
def eval_chebyc(y, n, x):
    if n > 0:
        d[x] = d[y] * n * special.eval_chebys(n - 1, x)
    else:
        d[x] = d[y] * n * special.eval_chebys(np.where(n == 0, 0, n - 1), x)


@adjoint.elementwise(
    special.eval_chebys, domain=(-1.9, 1.9), forms=_forms("scipy.special.eval_chebys"), refuses={"n": DEGREE}
)
def eval_chebys(y, n, x):
    if n > 0:
        d[x] = d[y] * special.eval_gegenbauer(n - 1, 2.0, 0.5 * x)
    else:
        m = np.maximum(n, -n - 2)  # the same polynomial, of the other sign
        sign = np.sign(n + 1) * (m != 0)
        d[x] = d[y] * sign * special.eval_gegenbauer(np.where(sign == 0, 0, m - 1), 2.0, 0.5 * x)


@adjoint.elementwise(
    special.eval_sh_chebyt, domain=(0.1, 0.9), forms=_forms("scipy.special.eval_sh_chebyt"), refuses={"n": DEGREE}
)
def eval_sh_chebyt(y, n, x):
    if n > 0:
        d[x] = 2.0 * d[y] * n * special.eval_sh_chebyu(n - 1, x)
    else:
        d[x] = 2.0 * d[y] * n * special.eval_sh_chebyu(np.where(n == 0, 0, n - 1), x)


@adjoint.elementwise(
    special.eval_sh_chebyu, domain=(0.1, 0.9), forms=_forms("scipy.special.eval_sh_chebyu"), refuses={"n": DEGREE}
)
def eval_sh_chebyu(y, n, x):
    if n > 0:
        d[x] = 4.0 * d[y] * special.eval_gegenbauer(n - 1, 2.0, 2.0 * x - 1.0)
    else:
        m = np.maximum(n, -n - 2)  # the same polynomial, of the other sign
        sign = np.sign(n + 1) * (m != 0)
        d[x] = 4.0 * d[y] * sign * special.eval_gegenbauer(np.where(sign == 0, 0, m - 1), 2.0, 2.0 * x - 1.0)


@adjoint.elementwise(
    special.eval_gegenbauer,
    domain=(-0.9, 0.9),
    forms=_forms("scipy.special.eval_gegenbauer", 0.7),
    refuses={"n": DEGREE, "alpha": PARAMETER},
)
def eval_gegenbauer(y, n, alpha, x):
    if n > 0:
        d[x] = 2.0 * d[y] * alpha * special.eval_gegenbauer(n - 1, alpha + 1.0, x)
    else:
        d[x] = 2.0 * d[y] * (n != 0) * alpha * special.eval_gegenbauer(np.where(n == 0, 0, n - 1), alpha + 1.0, x)


@adjoint.elementwise(
    special.eval_jacobi,
    domain=(-0.9, 0.9),
    forms=_forms("scipy.special.eval_jacobi", 0.7, 1.2),
    refuses={"n": DEGREE, "alpha": PARAMETER, "beta": PARAMETER},
)
def eval_jacobi(y, n, alpha, beta, x):
    factor = 0.5 * (n != 0) * (n + alpha + beta + 1.0)
    d[x] = d[y] * factor * special.eval_jacobi(np.where(n == 0, 0, n - 1), alpha + 1.0, beta + 1.0, x)


@adjoint.elementwise(
    special.eval_sh_jacobi,
    domain=(0.1, 0.9),
    forms=_forms("scipy.special.eval_sh_jacobi", 2.5, 1.2),
    refuses={"n": DEGREE, "p": PARAMETER, "q": PARAMETER},
)
def eval_sh_jacobi(y, n, p, q, x):
    if n > 0:
        d[x] = d[y] * n * special.eval_sh_jacobi(n - 1, p + 2.0, q + 1.0, x)
    else:
        d[x] = d[y] * n * special.eval_sh_jacobi(np.where(n == 0, 0, n - 1), p + 2.0, q + 1.0, x)


@adjoint.elementwise(
    special.eval_hermite, forms=_forms("scipy.special.eval_hermite", whole=True), refuses={"n": DEGREE}
)
def eval_hermite(y, n, x):
    if n > 0:
        d[x] = 2.0 * d[y] * n * special.eval_hermite(n - 1, x)
    else:
        d[x] = 2.0 * d[y] * n * special.eval_hermite(np.maximum(n - 1, 0), x)


@adjoint.elementwise(
    special.eval_hermitenorm, forms=_forms("scipy.special.eval_hermitenorm", whole=True), refuses={"n": DEGREE}
)
def eval_hermitenorm(y, n, x):
    if n > 0:
        d[x] = d[y] * n * special.eval_hermitenorm(n - 1, x)
    else:
        d[x] = d[y] * n * special.eval_hermitenorm(np.maximum(n - 1, 0), x)


@adjoint.elementwise(
    special.eval_laguerre, domain=(0.1, 3.0), forms=_forms("scipy.special.eval_laguerre"), refuses={"n": DEGREE}
)
def eval_laguerre(y, n, x):
    if n > 0:
        d[x] = -d[y] * special.eval_genlaguerre(n - 1, 1.0, x)
    else:
        d[x] = -d[y] * (n != 0) * special.eval_genlaguerre(np.where(n == 0, 0, n - 1), 1.0, x)


@adjoint.elementwise(
    special.eval_genlaguerre,
    domain=(0.1, 3.0),
    forms=_forms("scipy.special.eval_genlaguerre", 0.5),
    refuses={"n": DEGREE, "alpha": PARAMETER},
)
def eval_genlaguerre(y, n, alpha, x):
    if n > 0:
        d[x] = -d[y] * special.eval_genlaguerre(n - 1, alpha + 1.0, x)
    else:
        d[x] = -d[y] * (n != 0) * special.eval_genlaguerre(np.where(n == 0, 0, n - 1), alpha + 1.0, x)


@adjoint.elementwise(
    special.assoc_laguerre,
    domain=(0.1, 3.0),
    forms=(("scipy.special.assoc_laguerre(x, 3, 1.5)", (3,)), ("scipy.special.assoc_laguerre(x, 0)", (3,))),
    refuses={"n": DEGREE, "k": PARAMETER},
)
def assoc_laguerre(y, x, n, k=0.0):
    d[x] = -d[y] * (n != 0) * special.eval_genlaguerre(np.where(n == 0, 0, n - 1), k + 1.0, x)


@adjoint.elementwise(
    special.lpmv,
    domain=(-0.9, 0.9),
    forms=(("scipy.special.lpmv(1, 3, x)", (3,)), ("scipy.special.lpmv(0, 0, x)", (3,))),
    refuses={"m": DEGREE, "v": PARAMETER},
    note="The gradient is nan at -1 and 1.",
)
def lpmv(y, m, v, x):
    d[x] = d[y] * (v * x * y - (v + m) * special.lpmv(m, v - 1, x)) / (x * x - 1.0)


@adjoint.elementwise(special.hyp0f1, forms=(("scipy.special.hyp0f1(1.5, x)", (3,)),), refuses={"v": PARAMETER})
def hyp0f1(y, v, z):
    d[z] = d[y] / v * special.hyp0f1(v + 1.0, z)


@adjoint.elementwise(
    special.hyp1f1, forms=(("scipy.special.hyp1f1(0.7, 1.6, x)", (3,)),), refuses={"a": PARAMETER, "b": PARAMETER}
)
def hyp1f1(y, a, b, x):
    if a == -1:
        d[x] = d[y] * a / b  # also where b + 1 is 0
    else:
        d[x] = d[y] * a / b * special.hyp1f1(a + 1.0, b + 1.0, x)


@adjoint.elementwise(
    special.hyp2f1,
    domain=(-0.9, 0.7),
    forms=(("scipy.special.hyp2f1(0.5, 0.7, 1.6, x)", (3,)),),
    refuses={"a": PARAMETER, "b": PARAMETER, "c": PARAMETER},
)
def hyp2f1(y, a, b, c, z):
    d[z] = d[y] * a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)


@adjoint.elementwise(
    special.hyperu,
    domain=(0.3, 3.0),
    forms=(("scipy.special.hyperu(0.7, 1.6, x)", (3,)),),
    refuses={"a": PARAMETER, "b": PARAMETER},
)
def hyperu(y, a, b, x):
    d[x] = -d[y] * a * special.hyperu(a + 1.0, b + 1.0, x)


PARAMETERS = "a derivative with respect to the parameter has no stable closed form"


@adjoint(
    special.airy,
    domain=(-3.0, 2.0),
    results=(("ai", 0), ("aip", 0), ("bi", 0), ("bip", 0)),
    forms=(
        ("scipy.special.airy(x)[0]", (3,)),
        ("scipy.special.airy(x)[1] * scipy.special.airy(x)[2]", (2, 3)),
        ("scipy.special.airy(x)[3]", None),
    ),
)
def airy(y, z):
    d[z] = d[y][0] * y[1] + d[y][1] * z * y[0] + d[y][2] * y[3] + d[y][3] * z * y[2]


@tangent(special.airy)
def airy_tangent(y, z):
    d[y] = (d[z] * y[1], d[z] * z * y[0], d[z] * y[3], d[z] * z * y[2])


@adjoint(
    special.airye,
    domain=(0.3, 3.0),
    results=(("eai", 0), ("eaip", 0), ("ebi", 0), ("ebip", 0)),
    forms=(
        ("scipy.special.airye(x)[0]", (3,)),
        ("scipy.special.airye(x)[1] * scipy.special.airye(x)[2]", (2, 3)),
        ("scipy.special.airye(x)[3]", None),
    ),
)
def airye(y, z):
    root = np.sqrt(np.maximum(z, 0.0))
    d[z] = (
        d[y][0] * (y[1] + root * y[0])
        + d[y][1] * (z * y[0] + root * y[1])
        + d[y][2] * (y[3] - root * y[2])
        + d[y][3] * (z * y[2] - root * y[3])
    )


@tangent(special.airye)
def airye_tangent(y, z):
    root = np.sqrt(np.maximum(z, 0.0))
    d[y] = (
        d[z] * (y[1] + root * y[0]),
        d[z] * (z * y[0] + root * y[1]),
        d[z] * (y[3] - root * y[2]),
        d[z] * (z * y[2] - root * y[3]),
    )


@adjoint(
    special.itairy,
    domain=(0.3, 2.0),
    results=(("apt", 0), ("bpt", 0), ("ant", 0), ("bnt", 0)),
    forms=(("scipy.special.itairy(x)[0] * scipy.special.itairy(x)[3]", (3,)), ("scipy.special.itairy(x)[1]", ())),
)
def itairy(y, x):
    d[x] = (
        d[y][0] * special.airy(x)[0]
        + d[y][1] * special.airy(x)[2]
        + d[y][2] * special.airy(-x)[0]
        + d[y][3] * special.airy(-x)[2]
    )


@tangent(special.itairy)
def itairy_tangent(y, x):
    d[y] = (
        d[x] * special.airy(x)[0],
        d[x] * special.airy(x)[2],
        d[x] * special.airy(-x)[0],
        d[x] * special.airy(-x)[2],
    )


@adjoint(
    special.itj0y0,
    domain=(0.3, 3.0),
    results=(("ij0", 0), ("iy0", 0)),
    forms=(("scipy.special.itj0y0(x)[0] * scipy.special.itj0y0(x)[1]", (3,)),),
)
def itj0y0(y, x):
    d[x] = d[y][0] * special.j0(x) + d[y][1] * special.y0(x)


@tangent(special.itj0y0)
def itj0y0_tangent(y, x):
    d[y] = (d[x] * special.j0(x), d[x] * special.y0(x))


@adjoint(
    special.iti0k0,
    domain=(0.3, 3.0),
    results=(("ii0", 0), ("ik0", 0)),
    forms=(("scipy.special.iti0k0(x)[0] * scipy.special.iti0k0(x)[1]", (3,)),),
)
def iti0k0(y, x):
    d[x] = d[y][0] * special.i0(x) + d[y][1] * special.k0(x)


@tangent(special.iti0k0)
def iti0k0_tangent(y, x):
    d[y] = (d[x] * special.i0(x), d[x] * special.k0(x))


@adjoint(
    special.sici,
    domain=(0.3, 3.0),
    results=(("si", 0), ("ci", 0)),
    forms=(("scipy.special.sici(x)[0] * scipy.special.sici(x)[1]", (3,)), ("scipy.special.sici(0.0 * x)[0]", ())),
)
def sici(y, x):
    d[x] = d[y][0] * np.sinc(x / np.pi) + d[y][1] * np.cos(x) / x


@tangent(special.sici)
def sici_tangent(y, x):
    d[y] = (d[x] * np.sinc(x / np.pi), d[x] * np.cos(x) / x)


@adjoint(
    special.shichi,
    domain=(0.3, 3.0),
    results=(("shi", 0), ("chi", 0)),
    forms=(("scipy.special.shichi(x)[0] * scipy.special.shichi(x)[1]", (3,)), ("scipy.special.shichi(0.0 * x)[0]", ())),
)
def shichi(y, x):
    d[x] = d[y][0] * 0.5 * (special.exprel(x) + special.exprel(-x)) + d[y][1] * np.cosh(x) / x


@tangent(special.shichi)
def shichi_tangent(y, x):
    d[y] = (0.5 * d[x] * (special.exprel(x) + special.exprel(-x)), d[x] * np.cosh(x) / x)


@adjoint(
    special.fresnel,
    results=(("s", 0), ("c", 0)),
    forms=(("scipy.special.fresnel(x)[0] * scipy.special.fresnel(x)[1]", (3,)), ("scipy.special.fresnel(x)[0]", None)),
)
def fresnel(y, z):
    angle = 0.5 * np.pi * z * z
    d[z] = d[y][0] * np.sin(angle) + d[y][1] * np.cos(angle)


@tangent(special.fresnel)
def fresnel_tangent(y, z):
    angle = 0.5 * np.pi * z * z
    d[y] = (d[z] * np.sin(angle), d[z] * np.cos(angle))


@adjoint(
    special.ellipj,
    results=(("sn", None), ("cn", None), ("dn", None), ("ph", None)),
    forms=(
        ("scipy.special.ellipj(x, 0.4)[0] * scipy.special.ellipj(x, 0.4)[1]", (3,)),
        ("scipy.special.ellipj(x, np.array([[0.1], [0.8]]))[2]", (3,)),
        ("scipy.special.ellipj(x, 0.4)[3]", None),
    ),
    refuses={"m": PARAMETERS},
)
def ellipj(y, u, m):
    d[u] = sum_to(
        d[y][0] * y[1] * y[2] - d[y][1] * y[0] * y[2] - d[y][2] * m * y[0] * y[1] + d[y][3] * y[2],
        u,
    )


@tangent(special.ellipj)
def ellipj_tangent(y, u, m):
    d[y] = (d[u] * y[1] * y[2], -d[u] * y[0] * y[2], -d[u] * m * y[0] * y[1], d[u] * y[2])


@adjoint(
    special.pbdv,
    domain=(0.2, 2.0),
    results=(("d", None), ("dp", None)),
    forms=(
        ("scipy.special.pbdv(1.5, x)[0] * scipy.special.pbdv(1.5, x)[1]", (3,)),
        ("scipy.special.pbdv(np.array([[1.5], [0.2]]), x)[0]", (3,)),
    ),
    refuses={"v": ORDER},
)
def pbdv(y, v, x):
    d[x] = sum_to(d[y][0] * y[1] + d[y][1] * (0.25 * x * x - v - 0.5) * y[0], x)


@tangent(special.pbdv)
def pbdv_tangent(y, v, x):
    d[y] = (d[x] * y[1], d[x] * (0.25 * x * x - v - 0.5) * y[0])


@adjoint(
    special.pbvv,
    domain=(0.2, 2.0),
    results=(("v", None), ("vp", None)),
    forms=(
        ("scipy.special.pbvv(1.5, x)[0] * scipy.special.pbvv(1.5, x)[1]", (3,)),
        ("scipy.special.pbvv(np.array([[1.5], [0.2]]), x)[0]", (3,)),
    ),
    refuses={"v": ORDER},
)
def pbvv(y, v, x):
    d[x] = sum_to(d[y][0] * y[1] + d[y][1] * (0.25 * x * x - v - 0.5) * y[0], x)


@tangent(special.pbvv)
def pbvv_tangent(y, v, x):
    d[y] = (d[x] * y[1], d[x] * (0.25 * x * x - v - 0.5) * y[0])


@adjoint(
    special.pbwa,
    domain=(0.2, 2.0),
    results=(("w", None), ("wp", None)),
    forms=(
        ("scipy.special.pbwa(0.7, x)[0] * scipy.special.pbwa(0.7, x)[1]", (3,)),
        ("scipy.special.pbwa(np.array([[0.7], [1.2]]), x)[0]", (3,)),
    ),
    refuses={"a": ORDER},
)
def pbwa(y, a, x):
    d[x] = sum_to(d[y][0] * y[1] + d[y][1] * (a - 0.25 * x * x) * y[0], x)


@tangent(special.pbwa)
def pbwa_tangent(y, a, x):
    d[y] = (d[x] * y[1], d[x] * (a - 0.25 * x * x) * y[0])


COMPLEX = {"complex": "conjugated", "values": "complex"}


@adjoint.elementwise(
    special.hankel1,
    domain=(0.3, 6.0),
    forms=(("scipy.special.hankel1(1.5, x)", (3,)), ("np.abs(scipy.special.hankel1(0, x) + 1.0)", (2, 3))),
    refuses={"v": ORDER},
    **COMPLEX,
)
def hankel1(y, v, z):
    d[z] = d[y] * special.h1vp(v, z)


@adjoint.elementwise(
    special.hankel2, domain=(0.3, 6.0), forms=(("scipy.special.hankel2(2, x)", (3,)),), refuses={"v": ORDER}, **COMPLEX
)
def hankel2(y, v, z):
    d[z] = d[y] * special.h2vp(v, z)


@adjoint.elementwise(
    special.h1vp,
    domain=(0.3, 6.0),
    forms=(("scipy.special.h1vp(1, x)", (3,)),),
    refuses={"v": ORDER, "n": COUNT},
    **COMPLEX,
)
def h1vp(y, v, z, n=1):
    d[z] = d[y] * special.h1vp(v, z, n + 1)


@adjoint.elementwise(
    special.h2vp,
    domain=(0.3, 6.0),
    forms=(("scipy.special.h2vp(1, x)", (3,)),),
    refuses={"v": ORDER, "n": COUNT},
    **COMPLEX,
)
def h2vp(y, v, z, n=1):
    d[z] = d[y] * special.h2vp(v, z, n + 1)


@adjoint.elementwise(
    special.lambertw,
    forms=(("scipy.special.lambertw(x)", (3,)), ("scipy.special.lambertw(x, -1)", (3,))),
    refuses={"k": COUNT},
    domain=(0.3, 3.0),
    **COMPLEX,
)
def lambertw(y, z, k=0):
    d[z] = d[y] / (np.exp(y) * (1.0 + y))


@adjoint.elementwise(special.wofz, **COMPLEX)
def wofz(y, z):
    d[z] = d[y] * (2.0j / np.sqrt(np.pi) - 2.0 * z * y)


@adjoint.elementwise(special.voigt_profile, domain={"x": (-2.0, 2.0), "sigma": (0.5, 2.0), "gamma": (0.1, 1.0)})
def voigt_profile(y, x, sigma, gamma):
    z = (x + 1.0j * gamma) / (np.sqrt(2.0) * sigma)
    slope = 1.0j / np.sqrt(np.pi) - z * special.wofz(z)
    d[x] = d[y] * np.real(slope) / (np.sqrt(np.pi) * sigma * sigma)
    d[sigma] = -d[y] * (y + np.real(z * slope) * np.sqrt(2.0 / np.pi) / sigma) / sigma
    d[gamma] = -d[y] * np.imag(slope) / (np.sqrt(np.pi) * sigma * sigma)
