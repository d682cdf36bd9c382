"""Matrices: factors, spectra, cofactors, norms, powers and products of several, bands, systems, sparse ones."""

from __future__ import annotations

import math
from typing import Any  # arrays of any floating type

import numpy as np

from srcgrad.runtime.reductions import prod_without


def inverse_gaps(w: Any) -> Any:
    """The matrix of `1 / (w[j] - w[i])`, with 0 where the two are equal to rounding.

    >>> inverse_gaps(np.array([1.0, 3.0, 3.0]))
    array([[ 0. ,  0.5,  0.5],
           [-0.5,  0. ,  0. ],
           [-0.5,  0. ,  0. ]])
    """
    return _inverted(np.expand_dims(w, -2) - np.expand_dims(w, -1), w)


def inverse_sums(s: Any) -> Any:
    """The matrix of `1 / (s[i] + s[j])`, with 0 where both vanish to rounding.

    >>> inverse_sums(np.array([3.0, 1.0, 0.0]))[:2, :2]
    array([[0.16666667, 0.25      ],
           [0.25      , 0.5       ]])
    """
    return _inverted(np.expand_dims(s, -2) + np.expand_dims(s, -1), s)


def _inverted(matrix: Any, w: Any) -> Any:
    """One over each entry, with 0 where it is nothing but rounding of the largest of `w`."""
    limit = 4.0 * np.shape(w)[-1] * np.finfo(matrix.dtype).eps * np.max(np.abs(w), axis=-1, initial=0.0)
    small = np.abs(matrix) <= np.expand_dims(limit, (-2, -1))
    return np.where(small, 0.0, 1.0 / np.where(small, 1.0, matrix)).astype(matrix.dtype)


def reciprocals(s: Any) -> Any:
    """One over each singular value, with 0 for those that vanish to rounding.

    >>> reciprocals(np.array([4.0, 2.0, 0.0]))
    array([0.25, 0.5 , 0.  ])
    """
    limit = 4.0 * np.shape(s)[-1] * np.finfo(s.dtype).eps * np.max(s, axis=-1, initial=0.0, keepdims=True)
    small = s <= limit
    return np.where(small, 0.0, 1.0 / np.where(small, 1.0, s)).astype(s.dtype)


def as_real(x: Any) -> Any:
    """The real values of `x`; complex eigenvalues and eigenvectors of a real matrix raise TypeError (E5001).

    From NumPy 2.5 on real eigenvalues come as complex numbers, too, whose imaginary parts are all 0.

    >>> as_real(np.array([1.0j]))
    Traceback (most recent call last):
    TypeError: E5001 operation not differentiable: complex eigenvalues of a real matrix
    """
    if np.iscomplexobj(x) and np.any(np.imag(x)):
        raise TypeError("E5001 operation not differentiable: complex eigenvalues of a real matrix")
    return np.real(x)


def smaller_side(a: Any) -> int:
    """The smaller number of the rows and columns of a matrix.

    >>> smaller_side(np.zeros((4, 2)))
    2
    """
    return int(min(np.shape(a)[-2:]))


def upper_factor(a: Any) -> Any:
    """R of the decomposition of `a` into Q and R.

    >>> np.abs(upper_factor(np.array([[3.0, 1.0], [4.0, 2.0]]))).round(12)
    array([[5. , 2.2],
           [0. , 0.4]])
    """
    return np.linalg.qr(a, "r")


def singular_values(a: Any, hermitian: bool = False) -> Any:
    """The singular values of `a`, of whose lower triangle alone where it is taken to be Hermitian.

    >>> singular_values(np.array([[3.0, 9.0], [0.0, -4.0]]), True)
    array([4., 3.])
    """
    return np.linalg.svd(a, compute_uv=False, hermitian=hermitian)


def widened(x: Any, a: Any) -> Any:
    """`x` with columns of zeros behind its own, as many as `a` has more.

    >>> widened(np.ones((2, 1)), np.zeros((2, 3)))
    array([[1., 0., 0.],
           [1., 0., 0.]])
    """
    more = np.shape(a)[-1] - np.shape(x)[-1]
    return np.concatenate([x, np.zeros((*np.shape(x)[:-1], more), x.dtype)], axis=-1) if more else x


def phase_slopes(v: Any, UPLO: str = "L") -> Any:  # noqa: N803 (the name that NumPy has given it)
    """One over the components of eigenvectors that are real, in the row where they stand, and zeros elsewhere.

    LAPACK reduces a Hermitian matrix by reflections that leave the first row of the eigenvectors as it is (the last
    one, for the upper triangle). Where that row is not real, the phase is unknown: TypeError (E5017).

    >>> phase_slopes(np.array([[0.5, 0.25], [1j, 2j]]))
    array([[2., 4.],
           [0., 0.]])
    """
    row = -1 if UPLO.upper() == "U" else 0
    real = v[..., row, :]
    if np.any(np.abs(real.imag) > 1e3 * np.finfo(v.dtype).eps):
        raise TypeError(
            "E5017 kind of value that is not supported: eigenvectors of a complex matrix whose phase is not known; "
            "use the eigenvalues, or functions of the matrix"
        )
    found = np.zeros(v.shape, v.real.dtype)
    small = np.abs(real) == 0.0
    found[..., row, :] = np.where(small, 0.0, 1.0 / np.where(small, 1.0, real.real))
    return found


def eigen_frame(a: Any) -> Any:
    """`np.linalg.eig(a)`, for what does not depend on the lengths and phases of the eigenvectors.

    >>> eigen_frame(np.diag([1.0, 2.0])).eigenvalues
    array([1., 2.])
    """
    return np.linalg.eig(a)


def triangle(x: Any, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """The half of a matrix that a triangular solver reads, zeros elsewhere.

    >>> triangle(np.ones((2, 2)), True, True)
    array([[0., 0.],
           [1., 0.]])
    """
    return np.tril(x, -1 if unit_diagonal else 0) if lower else np.triu(x, 1 if unit_diagonal else 0)


def lowered(c: Any, lower: bool = False) -> Any:
    """A Cholesky factor as a lower triangle, whichever half of `c` holds it.

    >>> lowered(np.array([[1.0, 2.0], [9.0, 3.0]]))
    array([[1., 0.],
           [2., 3.]])
    """
    return np.tril(c) if np.all(lower) else np.matrix_transpose(np.triu(c))


def raised(x: Any, lower: bool = False) -> Any:
    """The transpose of `lowered`: the lower half of `x`, put where the factor is kept.

    >>> raised(np.array([[1.0, 9.0], [2.0, 3.0]]))
    array([[1., 2.],
           [0., 3.]])
    """
    return np.tril(x) if np.all(lower) else np.matrix_transpose(np.tril(x))


def half_read(x: Any, lower: Any = True) -> Any:
    """The half of a matrix that is read for the whole of a symmetric one, with what is off the diagonal twice.

    `lower` is a bool, or the UPLO of `np.linalg.eigh`. As a map of x it is its own transpose.

    >>> half_read(np.array([[1.0, 2.0], [2.0, 3.0]]), "L")
    array([[1., 0.],
           [4., 3.]])
    """
    if np.ndim(x) < 2:
        raise TypeError("E5006 argument that the rule does not handle: a matrix that is given by its diagonal")
    below = lower.upper() == "L" if isinstance(lower, str) else np.all(lower)
    return np.tril(x) + np.tril(x, -1) if below else np.triu(x) + np.triu(x, 1)


def permuted(x: Any, piv: Any) -> Any:
    """The rows of `x` in the order to which the pivots of `scipy.linalg.lu_factor` bring them.

    >>> permuted(np.array([[1.0], [2.0], [3.0]]), np.array([2, 2, 2])).ravel()
    array([3., 1., 2.])
    """
    return np.take_along_axis(x, np.expand_dims(_order(piv), -1), -2)


def unpermuted(x: Any, piv: Any) -> Any:
    """The inverse, and the transpose, of `permuted`.

    >>> unpermuted(np.array([[3.0], [1.0], [2.0]]), np.array([2, 2, 2])).ravel()
    array([1., 2., 3.])
    """
    return np.take_along_axis(x, np.expand_dims(np.argsort(_order(piv), axis=-1), -1), -2)


def _order(piv: Any) -> Any:
    """The permutation that interchanges row k with row `piv[k]`, one k after the other."""
    order = np.broadcast_to(np.arange(np.shape(piv)[-1]), np.shape(piv)).copy()
    for k in range(np.shape(piv)[-1]):
        other = np.expand_dims(piv[..., k], -1)
        held = np.take_along_axis(order, other, -1)
        np.put_along_axis(order, other, order[..., k : k + 1].copy(), -1)
        order[..., k : k + 1] = held
    return order


def as_square(a: Any) -> Any:
    """`a` itself; a matrix that is not square raises TypeError (E5001).

    >>> as_square(np.zeros((2, 3)))
    Traceback (most recent call last):
    TypeError: E5001 operation not differentiable: LU of a matrix that is not square
    """
    if np.shape(a)[-1] != np.shape(a)[-2]:
        raise TypeError("E5001 operation not differentiable: LU of a matrix that is not square")
    return a


def no_further(g: Any) -> Any:
    """Stands where a derivative of third order is not known: it raises TypeError (E5001).

    >>> no_further(1.0)
    Traceback (most recent call last):
    TypeError: E5001 operation not differentiable: third derivatives of this operation are not known
    """
    if isinstance(g, np.ndarray) and g.size == 0:
        return g
    raise TypeError("E5001 operation not differentiable: third derivatives of this operation are not known")


def cofactor(a: Any) -> Any:
    """The matrix of cofactors of `a`, the gradient of its determinant; exact where `a` is singular.

    With the singular value decomposition `a = u @ diag(s) @ vt` it is `det(u) * det(vt) * u @ diag(p) @ vt`,
    where p holds the products of all other singular values.

    >>> cofactor(np.array([[1.0, 2.0], [2.0, 4.0]])).round(12)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    u, s, vt = np.linalg.svd(a)
    sign = np.expand_dims(np.linalg.det(u) * np.linalg.det(vt), (-2, -1))
    return sign * (np.conj(u) * np.expand_dims(prod_without(s, -1), -2)) @ np.conj(vt)


def cofactor_derivative(x: Any, a: Any) -> Any:
    """The derivative of `cofactor(a)` in the direction `x`; it is symmetric, hence its own transpose.

    >>> cofactor_derivative(np.eye(2), np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    u, s, vt = np.linalg.svd(a)
    sign = np.expand_dims(np.linalg.det(u) * np.linalg.det(vt), (-2, -1))
    u, vt = np.conj(u), np.conj(vt)
    turned = np.swapaxes(u, -1, -2) @ x @ np.swapaxes(vt, -1, -2)
    pairs = np.zeros_like(turned)  # pairs[i, j]: the product of all singular values but i and j
    for i in range(s.shape[-1]):
        rest = s.copy()
        rest[..., i] = 1.0
        pairs[..., i, :] = prod_without(rest, -1)
        pairs[..., i, i] = 0.0
    traces = np.einsum("...ij,...jj->...i", pairs, turned)
    made = -pairs * np.swapaxes(turned, -1, -2)
    diagonal = np.einsum("...ii->...i", made)  # a view
    diagonal[...] = traces
    return sign * u @ made @ vt


def cofactor_second(x: Any, y: Any, a: Any) -> Any:
    """The second derivative of `cofactor(a)` along `x` and `y`, for an invertible `a`.

    A singular or nearly singular `a` raises TypeError (E5001): the formula divides by its determinant.

    >>> bent = cofactor_second(np.eye(3), np.eye(3), np.eye(3))
    >>> bent.round(12)
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """
    if np.any(np.linalg.cond(a) > 1e8):
        raise TypeError("E5001 operation not differentiable: third derivatives of a singular determinant")
    inverse = np.linalg.inv(a)
    one, two = inverse @ x, inverse @ y
    both = one @ two
    t_one, t_two, t_both = (np.expand_dims(np.trace(m, 0, -2, -1), (-2, -1)) for m in (one, two, both))
    rest = both + two @ one - t_one * two - t_two * one
    whole = (t_one * t_two - t_both) * inverse + rest @ inverse
    return np.expand_dims(np.linalg.det(a), (-2, -1)) * np.swapaxes(whole, -1, -2)


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


def bordered(a: Any, x: Any) -> Any:
    """The matrix `[[a, x], [0, a]]`: the upper right corner of f of it is the derivative of f(a) along x.

    This holds for every function of a matrix that a power series defines (R. Mathias, 1996; N. J. Higham,
    "Functions of Matrices", 2008, theorem 3.6).

    >>> bordered(np.array([[2.0]]), np.array([[5.0]]))
    array([[2., 5.],
           [0., 2.]])
    """
    a, x = np.broadcast_arrays(a, x)
    upper = np.concatenate([a, x], axis=-1)
    lower = np.concatenate([np.zeros_like(a), a], axis=-1)
    return np.concatenate([upper, lower], axis=-2)


def corner(m: Any) -> Any:
    """The upper right quarter of a matrix.

    >>> corner(np.array([[2.0, 5.0], [0.0, 2.0]]))
    array([[5.]])
    """
    half = np.shape(m)[-1] // 2
    return m[..., :half, half:]


def chain(arrays: Any) -> Any:
    """The product of several matrices; a single one is itself."""
    return arrays[0] if len(arrays) == 1 else np.linalg.multi_dot(arrays)


def _matrices(arrays: Any) -> list[Any]:
    """The factors of `np.linalg.multi_dot` as matrices: the first may be a row, the last a column, or both numbers."""
    first, *middle, last = (np.asarray(array) for array in arrays)
    return [np.atleast_2d(first), *middle, np.expand_dims(last, -1) if last.ndim == 1 else np.atleast_2d(last)]


def chain_adjoints(g: Any, arrays: Any) -> list[Any]:
    """The adjoints of all factors of `np.linalg.multi_dot(arrays)`.

    >>> [a.shape for a in chain_adjoints(np.zeros(2), [np.zeros(3), np.zeros((3, 4)), np.zeros((4, 2))])]
    [(3,), (3, 4), (4, 2)]
    """
    factors = _matrices(arrays)
    middle = np.reshape(g, (np.shape(factors[0])[0], np.shape(factors[-1])[1]))
    found = []
    for k, array in enumerate(arrays):
        before = [factor.T for factor in reversed(factors[:k])]
        after = [factor.T for factor in reversed(factors[k + 1 :])]
        found.append(np.reshape(chain([*before, middle, *after]), np.shape(array)))
    return found


def chain_tangent(u: Any, arrays: Any) -> Any:
    """The derivative of `np.linalg.multi_dot(arrays)` along `u`.

    >>> one, two = np.array([[2.0]]), np.array([[3.0]])
    >>> chain_tangent([one, two], [one, two])
    array([[12.]])
    """
    terms = [chain([*arrays[:k], u[k], *arrays[k + 1 :]]) for k in range(len(arrays))]
    return sum(terms[1:], terms[0])


def chain_second(u: Any, v: Any, arrays: Any) -> Any:
    """The second derivative of `np.linalg.multi_dot(arrays)` along `u` and `v`.

    >>> one, two = np.array([[2.0]]), np.array([[3.0]])
    >>> chain_second([one, two], [one, two], [one, two])
    array([[12.]])
    """
    rest = [[u[k] if n == k else array for n, array in enumerate(arrays)] for k in range(len(arrays))]
    terms = [
        chain([*changed[:j], v[j], *changed[j + 1 :]])
        for k, changed in enumerate(rest)
        for j in range(len(arrays))
        if j != k
    ]
    return sum(terms[1:], terms[0])


def chain_bend(g: Any, arrays: Any, u: Any) -> list[Any]:
    """The derivative of `chain_adjoints(g, arrays)` along changes `u` of the arrays; it is its own transpose.

    >>> one, two = np.array([[2.0]]), np.array([[3.0]])
    >>> chain_bend(np.array([[1.0]]), [one, two], [one, two])
    [array([[3.]]), array([[2.]])]
    """
    total = [np.zeros_like(array) for array in arrays]
    for j in range(len(arrays)):
        changed = chain_adjoints(g, [*arrays[:j], u[j], *arrays[j + 1 :]])
        total = [t if k == j else t + c for k, (t, c) in enumerate(zip(total, changed, strict=True))]
    return total


def turned_bands(ab: Any, l_and_u: tuple[int, int]) -> Any:
    """The bands of the transposed matrix, which has as many above its diagonal as there were below.

    >>> turned_bands(np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 0.0]]), (1, 1))
    array([[0., 4.],
           [2., 3.],
           [1., 0.]])
    """
    below, above = l_and_u
    turned = np.zeros_like(ab)
    for k in range(-below, above + 1):  # the diagonal of the entries (j - k, j)
        turned[below + k] = _moved(ab[above - k], k)
    return turned


def outer_bands(x: Any, y: Any, l_and_u: tuple[int, int]) -> Any:
    """The bands of the matrix `x @ y.T` of two stacks of columns, or of two vectors.

    >>> outer_bands(np.array([1.0, 2.0]), np.array([3.0, 4.0]), (0, 1))
    array([[0., 4.],
           [3., 8.]])
    """
    below, above = l_and_u
    rows = [_products(_moved(x.T, -k).T, y) for k in range(above, -below - 1, -1)]
    return np.stack(rows)


def times_bands(ab: Any, y: Any, l_and_u: tuple[int, int]) -> Any:
    """The product of a banded matrix with columns, or with a vector.

    >>> times_bands(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([1.0, 1.0]), (0, 1))
    array([3., 3.])
    """
    below, above = l_and_u
    terms = [_moved(ab[above - k] * y.T, k) for k in range(-below, above + 1)]
    return sum(terms[1:], terms[0]).T


def whole_bands(ab: Any, lower: bool = False) -> Any:
    """All bands of a symmetric matrix of which `ab` holds the diagonal and those on one side of it.

    >>> whole_bands(np.array([[0.0, 1.0], [2.0, 3.0]]))
    array([[0., 1.],
           [2., 3.],
           [1., 0.]])
    """
    width = np.shape(ab)[0] - 1
    if lower:
        upper = turned_bands(np.concatenate([np.zeros_like(ab[1:]), ab]), (width, width))[: width + 1]
        return np.concatenate([upper, ab[1:]])
    below = turned_bands(np.concatenate([ab, np.zeros_like(ab[:-1])]), (width, width))[width + 1 :]
    return np.concatenate([ab, below])


def half_bands(g: Any, lower: bool = False) -> Any:
    """The transpose of `whole_bands`: what the bands on both sides add up to.

    >>> half_bands(np.array([[0.0, 1.0], [2.0, 3.0], [1.0, 0.0]]))
    array([[0., 2.],
           [2., 3.]])
    """
    width = np.shape(g)[0] // 2
    mirrored = turned_bands(g, (width, width))
    total = g + mirrored
    total[width] = g[width]
    return total[width:] if lower else total[: width + 1]


def _moved(row: Any, k: int) -> Any:
    """A row moved to the left by k places (to the right by -k), zeros where nothing comes."""
    n = np.shape(row)[-1]
    moved = np.zeros_like(row)
    if k >= 0:
        moved[..., : max(n - k, 0)] = row[..., k:]
    else:
        moved[..., -k:] = row[..., : max(n + k, 0)]
    return moved


def _products(x: Any, y: Any) -> Any:
    """The sums of products along rows: of vectors the products."""
    return x * y if np.ndim(x) == 1 else np.sum(x * y, axis=-1)


def columns(x: Any, b: Any) -> Any:
    """`x` as a stack of matrices: a column where `b`, the right side of a linear system, is a vector.

    >>> columns(np.zeros(3), np.zeros(3)).shape, columns(np.zeros((3, 2)), np.zeros((3, 2))).shape
    ((3, 1), (3, 2))
    """
    return np.expand_dims(x, -1) if np.ndim(b) == 1 else x


def square(a: Any) -> Any:
    """An array as a square matrix: `np.linalg.tensorinv` and `tensorsolve` take it as one.

    >>> square(np.zeros((2, 3, 6))).shape
    (6, 6)
    """
    return np.reshape(a, (math.isqrt(np.size(a)), -1) if np.size(a) else (0, 0))


def last_axes(a: Any, axes: Any = None) -> tuple[int, ...]:
    """The axes of `a` in the order in which those in `axes` come last.

    >>> last_axes(np.zeros((2, 4, 2)), (0,))
    (1, 2, 0)
    """
    last = [axis % np.ndim(a) for axis in axes or ()]
    return (*(axis for axis in range(np.ndim(a)) if axis not in last), *last)


def filled(g: Any, x: Any) -> Any:
    """The adjoint of residuals, one for each column of `x`: zeros where `np.linalg.lstsq` gave none.

    >>> filled(np.zeros(0), np.zeros((4, 2))), filled(np.ones(2), np.zeros((4, 2)))
    (array([0., 0.]), array([1., 1.]))
    """
    columns = np.shape(x)[-1]
    return np.reshape(g, (columns,)) if np.size(g) == columns else np.zeros(columns, np.asarray(g).dtype)


def emptied(x: Any, g: Any) -> Any:
    """The transpose of `filled`: `x`, or nothing where `g` holds nothing.

    >>> emptied(np.ones(2), np.zeros(0))
    array([], dtype=float64)
    """
    return np.reshape(x, np.shape(g)) if np.size(g) == np.size(x) else np.zeros(0, np.asarray(x).dtype)


def sparse_left(a: Any, x: Any) -> Any:
    """`a @ x` for a sparse matrix a and an array x of one axis or two.

    >>> import numpy as np
    >>> sparse_left(np.eye(2), np.array([1.0, 2.0]))
    array([1., 2.])
    """
    return a @ x


def sparse_right(x: Any, a: Any) -> Any:
    """`x @ a` for a sparse matrix a and an array x of one axis or two.

    >>> import numpy as np
    >>> sparse_right(np.array([1.0, 2.0]), np.eye(2))
    array([1., 2.])
    """
    return x @ a


def shared_batch(a: Any, b: Any) -> tuple[int, ...]:
    """The shape of the stack that two stacks of vectors broadcast to.

    >>> shared_batch(np.zeros((2, 1, 3)), np.zeros((4, 5)))
    (2, 4)
    """
    return np.broadcast_shapes(np.shape(a)[:-1], np.shape(b)[:-1])


def matched(x: Any, batch: tuple[int, ...]) -> Any:
    """A stack of vectors, repeated where that makes it a stack of this shape.

    >>> matched(np.zeros(3), (2,)).shape
    (2, 3)
    """
    return np.broadcast_to(x, (*batch, np.shape(x)[-1]))
