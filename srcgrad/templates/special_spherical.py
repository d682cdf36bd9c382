"""Spherical Bessel functions and Kelvin functions of `scipy.special`, in their argument; loaded on request.

A derivative of a derivative comes from the differential equation of the function.
"""

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, d

COUNT = "it is a whole number"
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
