"""Bessel functions, spherical ones, Kelvin functions and their relatives, in their argument; on request."""

import math

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, d

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
