"""Operations whose result may be a part of an argument, or the argument itself."""

from __future__ import annotations

import operator

import numpy as np

from srcgrad.runtime import fit_to, hook, probe, stop_gradient, sum_to

FITTED = (sum_to, fit_to)  # what fits is handed on as it is: the first argument, never the second
VIEWS = (
    operator.getitem, np.reshape, np.ravel, np.transpose, np.squeeze, np.expand_dims, np.swapaxes, np.moveaxis,
    np.broadcast_to, np.asarray, np.diagonal, np.matrix_transpose, np.atleast_1d, np.atleast_2d, np.split,
    np.array_split, np.ascontiguousarray, np.asanyarray, np.ndarray.astype, np.flip, np.real, np.rollaxis,
    np.einsum, np.diag, np.rot90, np.flipud, np.fliplr, np.linalg.diagonal, np.linalg.matrix_transpose,
    np.permute_dims, np.atleast_3d, np.broadcast_arrays, np.meshgrid, np.ix_, np.hsplit, np.vsplit, np.dsplit,
    np.array, np.asarray_chkfinite, np.asfortranarray, np.require, np.float64,
    list, hook, probe, stop_gradient, *FITTED, np.imag, np.conjugate, np.real_if_close, np.complex128,
    *(getattr(np, since_2_1) for since_2_1 in ("unstack", "astype") if hasattr(np, since_2_1)),
)  # fmt: skip
