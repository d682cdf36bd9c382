"""Complex numbers: their parts, conjugates and angles, and which operations hold for them.

The adjoint of a complex value z is conjugated: for a real L it is dL/d(real part) + 1j dL/d(imaginary part). So the
adjoint of `c * z` is `np.conj(c)` times that of the product; a tangent is never conjugated.
"""

import builtins

import numpy as np

from srcgrad.core.rules import accept_complex, adjoint, d, tangent
from srcgrad.runtime.hooks import stop_gradient
from srcgrad.runtime.layout import (
    converted,
)
from srcgrad.runtime.singular import squared_magnitude


@adjoint.linear(
    np.real,
    complex="written",
    values="real",
    forms=(("np.real(x)", (2, 3)), ("np.real(x)", None), ("np.real(x)", ())),
    result="view",
    real_lines=True,
)
def real(z, val):
    d[val] = d[z]


@adjoint.linear(
    np.imag,
    complex="written",
    values="real",
    forms=(("np.imag(x)", (2, 3)), ("np.imag(x)", ())),
    result="view",
)
def imag(z, val):
    if np.iscomplexobj(val):
        d[val] = d[z] * 1j
    else:
        d[val] = d[z] * 0.0


@adjoint.linear(
    np.conjugate,
    complex="written",
    forms=(("np.conjugate(x)", (2, 3)), ("np.conj(x)", None), ("np.conj(x)", ())),
    result="view",
    shape="x",
)
def conjugate(z, x):
    if np.iscomplexobj(x):
        d[x] = np.conj(d[z])
    else:
        d[x] = d[z]


@adjoint.elementwise(
    np.angle,
    complex="gradient",
    values="real",
    domain=(0.3, 2.0),
    forms=(("np.angle(x, deg=True)", (3,)), ("np.angle(x, len(x) > 5)", (2, 3))),
    note="The gradient at 0, and of a real argument, is 0.",
)
def angle(y, z, deg=False):
    r = np.abs(z)
    if not np.iscomplexobj(z):
        d[z] = d[y] * 0.0
    elif not deg:
        d[z] = d[y] * 1j * z / np.where(r == 0.0, 1.0, r * r)
    else:
        d[z] = d[y] * np.where(deg, 180.0 / np.pi, 1.0) * 1j * z / np.where(r == 0.0, 1.0, r * r)


@adjoint(
    np.real_if_close,
    complex="written",
    forms=(("np.real_if_close(x)", (2, 3)),),
    note="The derivative of whichever was taken: the real part, or all.",
    result="view",
)
def real_if_close(z, a, tol=100):
    d[a] = converted(d[z], z, a)


@tangent(np.real_if_close)
def real_if_close_tangent(z, a, tol=100):
    d[z] = converted(d[a], a, z)


@adjoint.linear(
    builtins.complex,
    complex="conjugated",
    values="complex",
    forms=(("complex(x, y)", None, None), ("complex(x, imag=y)", (), ()), ("complex(x)", None)),
)
def to_complex(z, real=0.0, imag=0.0):
    d[real] = d[z]
    d[imag] = d[z] * 1j


@adjoint.linear(
    np.complex128,
    complex="written",
    values="complex",
    forms=(("np.complex128(x)", None), ("np.complex64(x)", ())),
    aliases=(np.complex64, np.clongdouble),
    result="argument",
)
def to_complex128(z, x):
    d[x] = d[z]


@adjoint.elementwise(squared_magnitude, complex="gradient", values="real", real_lines=True)
def squared_magnitude_adjoint(y, z):
    d[z] = d[y] * 2.0 * z


accept_complex([np.sign, np.round, np.rint, np.result_type, np.promote_types, np.dtype, stop_gradient], "written")
