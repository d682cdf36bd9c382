"""Operations that make arrays of numbers, and conversions of dtype and class."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.layout import converted, mesh, mesh_transpose

from .versions import where_known


@adjoint(
    np.array,
    forms=(
        ("np.array([x, y, 1.0])", (), ()),
        ("np.array([[x, y], [y, x * y]])", (), ()),
        ("np.array((x, y))", (2,), (2,)),
        ("np.array(x)", (2, 3)),
        ("np.array(x, dtype=np.float64)", (3,)),
    ),
    note="A conversion to integers has gradient 0.",
)
def array(z, object, dtype=None):
    if dtype is None:
        d[object] = d[z]
    else:
        d[object] = converted(d[z], z, object)


@tangent(np.array)
def array_tangent(z, object, dtype=None):
    if dtype is None:
        d[z] = np.array(d[object])
    else:
        d[z] = converted(np.array(d[object]), z, z)


@adjoint(
    np.asarray,
    forms=(
        ("np.asarray([x, y])", (), ()),
        ("np.asarray(x)", (2, 3)),
        ("np.asarray(x, dtype=float)", (3,)),
        ("np.asarray(x, int)", (3,)),
    ),
    aliases=(np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.asarray_chkfinite, np.require),
    note="A conversion to integers has gradient 0.",
)
def asarray(z, a, dtype=None):
    if dtype is None:
        d[a] = d[z]
    else:
        d[a] = converted(d[z], z, a)


@tangent(np.asarray)
def asarray_tangent(z, a, dtype=None):
    if dtype is None:
        d[z] = np.asarray(d[a])
    else:
        d[z] = converted(np.asarray(d[a]), z, z)


@adjoint.linear(np.copy, zeros="kept", forms=(("np.copy(x)", (2, 3)),))
def copy(z, a):
    d[a] = d[z]


@adjoint(
    np.ndarray.astype,
    name="np.ndarray.astype",
    forms=(
        ("np.ndarray.astype(x, np.float64)", (2, 3)),
        ("np.ndarray.astype(x, float)", (3,)),
        ("np.ndarray.astype(x, int)", (3,)),
        ("np.ndarray.astype(x, float, copy=False)", (3,)),
    ),
    aliases=where_known("astype"),
    note="A conversion to integers has gradient 0.",
)
def astype(z, x, dtype, *, copy=True):
    d[x] = converted(d[z], z, x)


@tangent(np.ndarray.astype)
def astype_tangent(z, x, dtype, *, copy=True):
    d[z] = converted(d[x], x, z)


@adjoint.linear(
    np.ndarray.item,
    name="np.ndarray.item",
    forms=(("np.ndarray.item(x)", (1,)), ("np.ndarray.item(x)", (1, 1))),
)
def item(z, x):
    d[x] = np.reshape(d[z], np.shape(x))


@adjoint.linear(np.full, forms=(("np.full((2, 3), x)", ()), ("np.full((2, 3), x)", (3,))))
def full(z, shape, fill_value):
    d[fill_value] = sum_to(d[z], fill_value)


@adjoint(
    np.full_like,
    forms=(("np.full_like(x, y)", (2, 3), ()), ("np.full_like(x, y)", (2, 3), (3,))),
    note="Only the filling carries a derivative; an integer array, whose filling is rounded, gives 0.",
)
def full_like(z, a, fill_value):
    d[fill_value] = converted(d[z], z, fill_value)


@tangent(np.full_like)
def full_like_tangent(z, a, fill_value):
    d[z] = converted(np.broadcast_to(d[fill_value], np.shape(z)), z, z)


@adjoint.linear(
    np.linspace,
    forms=(
        ("np.linspace(x, y, 5)", (), ()),
        ("np.linspace(x, y, num=4, endpoint=False)", (), ()),
        ("np.linspace(x, y, 4)", (3,), ()),
        ("np.linspace(x, y, 4)", (2, 1), (3,)),
        ("np.linspace(x, y, 4, axis=-1)", (), (3,)),
        ("np.linspace(x, 1.0, 3)", (2, 3)),
        ("np.linspace(x, y, 3, axis=-1)", (2,), (2,)),
        ("np.linspace(x, y, 3, axis=1)", (2, 2), ()),
    ),
)
def linspace(z, start, stop, num=50, endpoint=True, axis=0):
    t = np.linspace(0.0, 1.0, num, endpoint)
    if np.ndim(start) == 0 and np.ndim(stop) == 0:
        d[start] = d[z] @ (1.0 - t)
        d[stop] = d[z] @ t
    elif axis == 0:
        d[start] = sum_to(np.tensordot(1.0 - t, d[z], 1), start)
        d[stop] = sum_to(np.tensordot(t, d[z], 1), stop)
    else:
        d[start] = sum_to(np.tensordot(1.0 - t, np.moveaxis(d[z], axis, 0), 1), start)
        d[stop] = sum_to(np.tensordot(t, np.moveaxis(d[z], axis, 0), 1), stop)


@adjoint(
    np.meshgrid,
    forms=(
        ("np.meshgrid(x, y)[0]", (3,), (2,)),
        ("np.meshgrid(x, y)[1]", (3,), (2,)),
        ("np.meshgrid(x, y, indexing='ij')[1]", (3,), (2,)),
    ),
)
def meshgrid(z, *xi, indexing="xy"):
    d[xi] = mesh_transpose(d[z], xi, indexing)


@tangent(np.meshgrid)
def meshgrid_tangent(z, *xi, indexing="xy"):
    d[z] = mesh(d[xi], indexing)
