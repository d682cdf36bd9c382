"""First and second derivatives of `np.linalg.norm` for the orders that are not Euclidean."""

from __future__ import annotations

from typing import Any  # arrays of any floating type; orders are numbers or strings

import numpy as np


def norm_gradient(x: Any, ord: Any, axis: Any = None) -> Any:
    """The gradient of `np.linalg.norm(x, ord, axis)`, of the shape of `x`; 0 where the norm is 0.

    Where several entries, rows or columns attain a maximum or minimum they share evenly.

    >>> norm_gradient(np.array([2.0, -2.0, 1.0]), np.inf)
    array([ 0.5, -0.5,  0. ])
    """
    axes = norm_axes(x, ord, axis)
    length = np.linalg.norm(x, ord, axis, keepdims=True)
    if ord is None or ord == "fro" or (ord == 2 and len(axes) == 1):
        return x / np.where(length == 0.0, np.inf, length)
    if len(axes) == 2:
        moved = matrix_norm_gradient(np.moveaxis(x, axes, (-2, -1)), ord)
        return np.moveaxis(moved, (-2, -1), axes)
    if ord == 0:
        return np.zeros_like(x)
    if abs(ord) == np.inf:
        return np.sign(x) * shared(np.abs(x) == length, axes[0], x)
    return np.sign(x) * ratios(x, length) ** (ord - 1)


def norm_axes(x: Any, ord: Any, axis: Any) -> tuple[int, ...]:
    """The axes over which a norm is taken: one for a norm of vectors, two for a norm of matrices."""
    if axis is None:
        return tuple(range(np.ndim(x)))
    return tuple(axis) if isinstance(axis, tuple | list) else (axis,)


def shared(hits: Any, axis: int, x: Any) -> Any:
    """For each hit its even share of 1 among the hits along an axis, in the dtype of `x`."""
    return (hits / np.sum(hits, axis=axis, keepdims=True)).astype(x.dtype)


def ratios(x: Any, length: Any) -> Any:
    """`|x| / length`, and 1 where `x` is 0, so that any power of it is finite."""
    return np.where(x == 0.0, 1.0, np.abs(x)) / np.where(x == 0.0, 1.0, length)


def matrix_norm_gradient(m: Any, ord: Any) -> Any:
    """The gradient of a norm of matrices that lie along the last two axes."""
    if ord in (1, -1, np.inf, -np.inf):
        over = -2 if abs(ord) == 1 else -1
        sums = np.sum(np.abs(m), axis=over, keepdims=True)
        other = -3 - over
        best = np.max(sums, axis=other, keepdims=True) if ord > 0 else np.min(sums, axis=other, keepdims=True)
        return np.sign(m) * shared(sums == best, other, m)
    u, s, vt = np.linalg.svd(m, full_matrices=False)
    u = u * np.expand_dims(s > 0.0, -2)
    if ord == "nuc":
        return u @ vt
    k = 0 if ord == 2 else s.shape[-1] - 1
    return u[..., :, k : k + 1] @ vt[..., k : k + 1, :]


def norm_curvature(v: Any, x: Any, ord: Any, axis: Any = None, still: bool = False) -> Any:
    """The derivative of `norm_gradient(x, ord, axis)` in the direction `v`; it is its own transpose.

    Where the norm is 0 it is nan, or with `still` 0 if `v` is 0 there as well, so that the norm stays 0.

    >>> norm_curvature(np.array([1.0, 0.0]), np.array([0.0, 2.0]), 2)
    array([0.5, 0. ])
    """
    axes = norm_axes(x, ord, axis)
    length = np.linalg.norm(x, ord, axis, keepdims=True)
    slope = norm_gradient(x, ord, axis)
    grown = np.any(v != 0.0, axis=axes, keepdims=True) if still else True
    off = np.where(grown, np.nan, 1.0)  # the first derivative is a convention there, the second is none
    safe = np.where(length == 0.0, off, length)
    if ord is None or ord == "fro" or (ord == 2 and len(axes) == 1):
        along = slope * v if slope.dtype.kind == "f" else (np.conj(slope) * v).real
        return (v - slope * np.sum(along, axis=axes, keepdims=True)) / safe
    if x.dtype.kind == "c":
        raise TypeError("E5001 operation not differentiable: second derivatives of this norm at complex values")
    if len(axes) == 2:
        matrices = np.moveaxis(x, axes, (-2, -1))
        if ord in (1, -1, np.inf, -np.inf):
            return 0.0 * v / safe
        turn = nuclear_curvature if ord == "nuc" else spectral_curvature
        return np.moveaxis(turn(np.moveaxis(v, axes, (-2, -1)), matrices, ord), (-2, -1), axes) * (safe / safe)
    if ord in (0, 1) or abs(ord) == np.inf:
        return 0.0 * v / safe
    flat = 0.0 if ord > 2 else np.where(v == 0.0, 0.0, np.inf)
    bend = np.where((x == 0.0) & (ord != 2), flat, ratios(x, length) ** (ord - 2))
    return (ord - 1) * (bend * v - slope * np.sum(slope * v, axis=axes, keepdims=True)) / safe


def spectral_curvature(v: Any, m: Any, ord: Any) -> Any:
    """The derivative of the outer product of the first (or last) pair of singular vectors.

    First-order perturbation of singular vectors; a pair of equal singular values contributes nothing.
    """
    u, s, vt = np.linalg.svd(m)
    k = 0 if ord == 2 else s.shape[-1] - 1
    turned = np.swapaxes(u, -1, -2) @ v @ np.swapaxes(vt, -1, -2)
    top = s[..., k : k + 1]

    def rotation(rank: int, across: Any, along: Any) -> Any:
        others = np.zeros((*s.shape[:-1], rank), s.dtype)
        others[..., : s.shape[-1]] = s
        gap = top * top - others * others
        gap[..., k] = 0.0
        weight = (gap != 0.0) / (gap + (gap == 0.0))
        tail = np.zeros_like(others)
        tail[..., : along.shape[-1]] = along[..., :rank]
        return weight * (top * across + others * tail)

    du = u @ np.expand_dims(rotation(m.shape[-2], turned[..., :, k], turned[..., k, :]), -1)
    dv = np.expand_dims(rotation(m.shape[-1], turned[..., k, :], turned[..., :, k]), -2) @ vt
    return du @ vt[..., k : k + 1, :] + u[..., :, k : k + 1] @ dv


def nuclear_curvature(v: Any, m: Any, ord: Any) -> Any:
    """The derivative of `u @ vt`, the gradient of the nuclear norm; singular values of 0 are left out."""
    u, s, vt = np.linalg.svd(m, full_matrices=False)
    ut, w = np.swapaxes(u, -1, -2), np.swapaxes(vt, -1, -2)
    inverse = np.expand_dims((s > 0.0) / (s + (s == 0.0)), -2)
    core = ut @ v @ w
    sums = np.expand_dims(s, -1) + np.expand_dims(s, -2)
    inner = (core - np.swapaxes(core, -1, -2)) / (sums + (sums == 0.0))
    left = (v @ w - u @ core) * inverse @ vt
    right = u * inverse @ (ut @ v - core @ vt)
    return u @ inner @ vt + left + right
