"""Exponential, elliptic and other integrals of `scipy.special`; loaded on request."""

import math

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, d

COUNT = "it is a whole number"
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
