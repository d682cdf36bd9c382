"""Complex numbers: their parts, conjugates and angles, and which operations hold for them.

The adjoint of a complex value z is conjugated: for a real L it is dL/d(real part) + 1j dL/d(imaginary part). So the
adjoint of `c * z` is `np.conj(c)` times that of the product; a tangent is never conjugated.
"""

import builtins
import operator

import numpy as np

from srcgrad.core.rules import accept_complex, adjoint, d, tangent
from srcgrad.runtime.broadcast import spread, sum_to, summands, summed
from srcgrad.runtime.contract import (
    dot_left,
    dot_right,
    einsum_adjoints,
    einsum_tangent,
    fitted,
    inner_left,
    inner_right,
    kron_left,
    kron_right,
    matmul_left,
    matmul_right,
    tensordot_left,
    tensordot_right,
)
from srcgrad.runtime.hooks import stop_gradient
from srcgrad.runtime.layout import (
    add_at,
    converted,
    diag_transpose,
    join_like,
    mesh,
    mesh_transpose,
    place_diagonal,
    repeat_transpose,
    scatter,
    split_like,
    stored,
    tile_transpose,
    unpad,
)
from srcgrad.runtime.linalg import (
    bordered,
    chain_adjoints,
    chain_bend,
    chain_second,
    chain_tangent,
    cofactor,
    cofactor_derivative,
    cofactor_second,
    columns,
    corner,
    square,
)
from srcgrad.runtime.reductions import (
    along_axes,
    along_axes_transpose,
    diff_transpose,
    merge_axes,
    prod_without,
    prod_without_tangent,
    products_before,
    recurrence,
    recurrence_back,
    shifted,
    split_axes,
)
from srcgrad.runtime.singular import squared_magnitude
from srcgrad.runtime.structure import add, fields_of, owned


@adjoint.linear(
    np.real,
    complex="written",
    values="real",
    forms=(("np.real(x)", (2, 3)), ("np.real(x)", None), ("np.real(x)", ())),
    result="view",
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


@adjoint.elementwise(squared_magnitude, complex="gradient", values="real")
def squared_magnitude_adjoint(y, z):
    d[z] = d[y] * 2.0 * z


HOLOMORPHIC = (
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.positive, np.square, np.reciprocal, np.power,
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.sin, np.cos, np.tan, np.sinh,
    np.cosh, np.tanh, np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh, np.where,
)  # fmt: skip
LINEAR = (
    np.sum, builtins.sum, np.mean, np.cumsum, np.diff, np.average, operator.getitem, np.take, np.take_along_axis,
    np.compress, np.extract, np.reshape, np.ravel, np.ndarray.flatten, np.transpose, np.matrix_transpose,
    np.squeeze, np.expand_dims, np.swapaxes, np.moveaxis, np.broadcast_to, np.diagonal, np.linalg.diagonal, np.diag,
    np.trace, np.linalg.trace, np.tril, np.triu, np.flip, np.fliplr, np.flipud, np.rollaxis, np.roll, np.rot90,
    np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.append, np.split, np.array_split,
    np.hsplit, np.vsplit, np.dsplit, np.repeat, np.tile, np.array, np.asarray, np.copy, np.ndarray.item, np.full,
    np.linspace, np.meshgrid, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.prod, spread, summands, summed,
    split_like, tile_transpose, repeat_transpose, unpad, mesh, mesh_transpose, join_like, diag_transpose,
    place_diagonal, fitted, stored, fields_of, owned, diff_transpose, along_axes, along_axes_transpose, merge_axes,
    split_axes, prod_without, prod_without_tangent, add, np.cumprod, recurrence, recurrence_back, products_before,
    shifted,
)  # fmt: skip
MULTILINEAR = (
    np.matmul, np.dot, np.inner, np.outer, np.tensordot, np.einsum, np.cross, np.kron, matmul_left, matmul_right,
    dot_left, dot_right, inner_left, inner_right, tensordot_left, tensordot_right, kron_left, kron_right,
    einsum_adjoints, einsum_tangent,
)  # fmt: skip

MATRICES = (
    np.linalg.inv, np.linalg.solve, np.linalg.det, np.linalg.tensorsolve, np.linalg.tensorinv, np.linalg.multi_dot,
    np.linalg.matrix_power, cofactor, cofactor_derivative, cofactor_second, square, columns, bordered, corner,
    chain_adjoints, chain_tangent, chain_second, chain_bend,
)  # fmt: skip

accept_complex((*HOLOMORPHIC, *LINEAR, *MULTILINEAR, *MATRICES), "conjugated")
accept_complex([np.absolute], "gradient", "real")
accept_complex([np.vdot, np.vecdot], "written")
accept_complex([sum_to], "conjugated", "x")
accept_complex([converted], "conjugated", "target")
accept_complex([np.ndarray.astype], "conjugated")
accept_complex([scatter], "conjugated", "x")
accept_complex([add_at], "conjugated", "x_bar")
accept_complex([np.full_like], "conjugated", "a")
accept_complex([np.pad], "conjugated", "array")
accept_complex([np.sign, np.round, np.rint, np.result_type, np.promote_types, np.dtype, stop_gradient], "written")
