"""Transposes of products that sum over axes: dot, matmul, tensordot, kron, einsum, blends."""

from __future__ import annotations

import operator
from typing import Any  # arrays and scalars of any floating type

import numpy as np

from srcgrad.runtime.broadcast import sum_to, summed_to
from srcgrad.runtime.structure import zeros_like


def fitted(g: Any, shape: tuple[int, ...]) -> Any:
    """The adjoint of an array of a shape, from one that was broadcast with other things.

    >>> fitted(np.ones((2, 3)), (2, 1))
    array([[3.],
           [3.]])
    """
    if np.shape(g) == shape:
        return g
    g = np.asarray(g)
    return summed_to(np.broadcast_to(g, np.broadcast_shapes(g.shape, shape)), shape)


def _is_plain(g: Any, a: Any, b: Any) -> bool:
    """Whether `a` is a matrix, `b` a vector, `g` fits their product, and all are arrays of one dtype."""
    if not type(g) is type(a) is type(b) is np.ndarray or a.ndim != 2 or b.ndim != 1:
        return False
    return bool(g.dtype is a.dtype is b.dtype and g.shape == a.shape[:1])


def product(a: Any, b: Any) -> Any:
    """`np.matmul(a, b)`, which compiled code has under this name.

    >>> product(np.ones((2, 3)), np.ones(3))
    array([3., 3.])
    """
    return np.matmul(a, b)


def matmul_left(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `a @ b`, whatever the ranks; of `a` only the shape matters.

    `g` has the shape of the product, or one that broadcasts with it.

    >>> matmul_left(np.ones(2), np.zeros((2, 3)), np.array([1.0, 2.0, 3.0]))
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """
    if _is_plain(g, a, b):
        return g[:, None] * b
    g = fitted(g, matmul_shape(np.shape(a), np.shape(b)))
    if np.ndim(b) == 1:
        return sum_to(np.expand_dims(g, -1) * b, a)
    if np.ndim(a) == 1:
        return sum_to(np.matmul(b, np.expand_dims(g, -1))[..., 0], a)
    return sum_to(g @ np.swapaxes(b, -1, -2), a)


def matmul_right(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `b` in `a @ b`, whatever the ranks; of `b` only the shape matters.

    `g` has the shape of the product, or one that broadcasts with it.

    >>> matmul_right(np.ones(2), np.ones((2, 3)), np.zeros(3))
    array([2., 2., 2.])
    """
    if _is_plain(g, a, b):
        return a.T @ g
    g = fitted(g, matmul_shape(np.shape(a), np.shape(b)))
    if np.ndim(a) == 1:
        columns = a if np.ndim(b) == 1 else np.expand_dims(a, -1)
        return sum_to(columns * np.expand_dims(g, -1 if np.ndim(b) == 1 else -2), b)
    if np.ndim(b) == 1:
        return sum_to((np.expand_dims(g, -2) @ a)[..., 0, :], b)
    return sum_to(np.swapaxes(a, -1, -2) @ g, b)


def self_product(x: Any) -> Any:
    """`x @ x`, the key of its own rule: a vector's derivative is one term, not two.

    >>> self_product(np.array([3.0, 4.0]))
    np.float64(25.0)
    """
    return np.matmul(x, x)


def self_dot(x: Any) -> Any:
    """`np.dot(x, x)`, the key of its own rule.

    >>> self_dot(np.array([3.0, 4.0]))
    np.float64(25.0)
    """
    return np.dot(x, x)


def matmul_both(g: Any, a: Any) -> Any:
    """The adjoint of `a` in `a @ a`, whatever the rank: `2.0 * g * a` of a vector.

    `g` has the shape of the product, or one that broadcasts with it.

    >>> matmul_both(1.0, np.array([3.0, 4.0]))
    array([6., 8.])
    """
    if np.ndim(a) == 1:
        return 2.0 * fitted(g, ()) * a
    return matmul_left(g, a, a) + matmul_right(g, a, a)


def dot_both(g: Any, a: Any) -> Any:
    """The adjoint of `a` in `np.dot(a, a)`, whatever the rank: `2.0 * g * a` of a vector or a number.

    `g` has the shape of the product, or one that broadcasts with it.

    >>> dot_both(1.0, np.array([3.0, 4.0]))
    array([6., 8.])
    """
    if np.ndim(a) <= 1:
        return 2.0 * fitted(g, ()) * a
    return dot_left(g, a, a) + dot_right(g, a, a)


def sum_products(product: Any, gs: list[Any], a: Any, b: Any) -> Any:
    """The sum of `product(g, a, b)` over the trips of a loop that kept `g`, and one factor, in lists.

    The other factor, of which only the shape matters, is an array. Of vectors and matrices it is one product, in
    whose sums the trips stand in another order; of anything else it is a sum of products.

    >>> sum_products(matmul_left, [np.ones(2), np.ones(2)], np.zeros((2, 1)), [np.ones(1), np.full(1, 5.0)])
    array([[6.],
           [6.]])
    """
    if isinstance(a, list) and isinstance(b, list):  # a matrix as a list of rows
        return sum_to(sum_products(product, gs, np.array(a), b), a)
    left = isinstance(b, list)
    kept, fixed = (b, a) if left else (a, b)
    if not gs:
        return np.zeros_like(fixed)
    pairs = list(zip(gs, kept, strict=True))
    ranks = {np.ndim(part) for pair in pairs for part in pair}
    shapes = [((fixed, k) if left else (k, fixed)) for k in kept] if np.ndim(fixed) == 2 and ranks in ({1}, {2}) else []
    if not shapes or any(np.shape(g) != matmul_shape(x.shape, y.shape) for g, (x, y) in zip(gs, shapes, strict=True)):
        return sum(product(g, a, k) if left else product(g, k, b) for g, k in pairs)
    seeds, factors = (np.array(gs), np.array(kept)) if ranks == {1} else (_rows(gs, left), _rows(kept, left))
    return sum_to(seeds.T @ factors if left else factors.T @ seeds, fixed)


def _rows(parts: list[Any], transposed: bool) -> Any:
    return np.concatenate([part.T for part in parts] if transposed else parts)


def matmul_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of `a @ b`, from the shapes of the factors.

    >>> matmul_shape((4, 1, 2, 3), (5, 3, 2))
    (4, 5, 2, 2)
    """
    batch: tuple[int, ...] = ()
    if len(a) > 2 or len(b) > 2:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
    return (*batch, *(a[-2:-1] if len(a) > 1 else ()), *(b[-1:] if len(b) > 1 else ()))


def paired(axes: Any, a: Any, b: Any) -> tuple[list[int], list[int]]:
    """The axes of `a` and of `b` that `np.tensordot(a, b, axes)` sums over, counted from 0."""
    rank_a, rank_b = np.ndim(a), np.ndim(b)
    if np.ndim(axes) == 0 and not isinstance(axes, list | tuple):
        return list(range(rank_a - int(axes), rank_a)), list(range(int(axes)))
    of_a, of_b = ([part] if np.ndim(part) == 0 else list(part) for part in axes)
    return [int(k) % rank_a for k in of_a], [int(k) % rank_b for k in of_b]


def tensordot_left(g: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The adjoint of `a` in `np.tensordot(a, b, axes)`; of `a` only the shape matters.

    >>> tensordot_left(np.ones(2), np.zeros((2, 3)), np.arange(3.0), 1)
    array([[0., 1., 2.],
           [0., 1., 2.]])
    """
    of_a, of_b = paired(axes, a, b)
    free_a = [k for k in range(np.ndim(a)) if k not in of_a]
    free_b = [k for k in range(np.ndim(b)) if k not in of_b]
    whole = np.tensordot(g, b, (list(range(len(free_a), np.ndim(g))), free_b))
    order = free_a + [k for _, k in sorted(zip(of_b, of_a, strict=True))]
    return sum_to(np.transpose(whole, np.argsort(order)), a)


def tensordot_right(g: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The adjoint of `b` in `np.tensordot(a, b, axes)`; of `b` only the shape matters.

    >>> tensordot_right(np.ones(2), np.ones((2, 3)), np.zeros(3), 1)
    array([2., 2., 2.])
    """
    of_a, of_b = paired(axes, a, b)
    free_a = [k for k in range(np.ndim(a)) if k not in of_a]
    free_b = [k for k in range(np.ndim(b)) if k not in of_b]
    whole = np.tensordot(a, g, (free_a, list(range(len(free_a)))))
    order = [k for _, k in sorted(zip(of_a, of_b, strict=True))] + free_b
    return sum_to(np.transpose(whole, np.argsort(order)), b)


def dot_left(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `np.dot(a, b)`, whatever the ranks; of `a` only the shape matters.

    `g` has the shape of the product, or one that broadcasts with it.

    >>> dot_left(2.0, np.zeros(3), np.arange(3.0))
    array([0., 2., 4.])
    """
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return sum_to(fitted(g, np.shape(a) or np.shape(b)) * b, a)
    g = fitted(g, (*np.shape(a)[:-1], *np.shape(b)[:-2], *np.shape(b)[1:][-1:]))
    return tensordot_left(g, a, b, (-1, max(np.ndim(b) - 2, 0)))


def dot_right(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `b` in `np.dot(a, b)`, whatever the ranks; of `b` only the shape matters.

    `g` has the shape of the product, or one that broadcasts with it.

    >>> dot_right(2.0, np.arange(3.0), np.zeros(3))
    array([0., 2., 4.])
    """
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return sum_to(fitted(g, np.shape(a) or np.shape(b)) * a, b)
    g = fitted(g, (*np.shape(a)[:-1], *np.shape(b)[:-2], *np.shape(b)[1:][-1:]))
    return tensordot_right(g, a, b, (-1, max(np.ndim(b) - 2, 0)))


def inner_left(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `np.inner(a, b)`, whatever the ranks; of `a` only the shape matters.

    >>> inner_left(2.0, np.zeros(3), np.arange(3.0))
    array([0., 2., 4.])
    """
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return sum_to(g * b, a)
    return tensordot_left(g, a, b, (-1, -1))


def inner_right(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `b` in `np.inner(a, b)`, whatever the ranks; of `b` only the shape matters.

    >>> inner_right(2.0, np.arange(3.0), np.zeros(3))
    array([0., 2., 4.])
    """
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return sum_to(g * a, b)
    return tensordot_right(g, a, b, (-1, -1))


def kron_left(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `a` in `np.kron(a, b)`; of `a` only the shape matters.

    >>> kron_left(np.ones(4), np.zeros(2), np.array([1.0, 2.0]))
    array([3., 3.])
    """
    blocks, rank = kron_blocks(g, a, b)
    inner = np.reshape(b, (1,) * (rank - np.ndim(b)) + np.shape(b))
    whole = np.sum(blocks * np.expand_dims(inner, tuple(range(0, 2 * rank, 2))), axis=tuple(range(1, 2 * rank, 2)))
    return np.reshape(whole, np.shape(a))


def kron_right(g: Any, a: Any, b: Any) -> Any:
    """The adjoint of `b` in `np.kron(a, b)`; of `b` only the shape matters.

    >>> kron_right(np.ones(4), np.array([1.0, 2.0]), np.zeros(2))
    array([3., 3.])
    """
    blocks, rank = kron_blocks(g, a, b)
    outer = np.reshape(a, (1,) * (rank - np.ndim(a)) + np.shape(a))
    whole = np.sum(blocks * np.expand_dims(outer, tuple(range(1, 2 * rank, 2))), axis=tuple(range(0, 2 * rank, 2)))
    return np.reshape(whole, np.shape(b))


def kron_blocks(g: Any, a: Any, b: Any) -> tuple[Any, int]:
    """`g` with each axis split into one along `a` and one along `b`, and the rank of the product."""
    rank = max(np.ndim(a), np.ndim(b))
    of_a = (1,) * (rank - np.ndim(a)) + np.shape(a)
    of_b = (1,) * (rank - np.ndim(b)) + np.shape(b)
    return np.reshape(g, [size for pair in zip(of_a, of_b, strict=True) for size in pair]), rank


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # of the numbers of axes, sorted as these are


def transposed_subscripts(subscripts: str, position: int) -> str | None:
    """Subscripts for the adjoint of one operand as one `np.einsum` of the result's adjoint and the others.

    The adjoint of the result takes the operand's place. Where a label stands in this operand only, one more
    operand is expected at the end: ones of the operand's shape. None for an ellipsis or a label twice in one
    operand, where a plain product does not give the adjoint.

    >>> transposed_subscripts("ij,jk->ik", 0), transposed_subscripts("ij->i", 0)
    ('ik,jk->ij', 'i,ij->ij')
    >>> transposed_subscripts("ii", 0) is None
    True
    """
    if "." in subscripts:
        return None
    inputs, output = labels(subscripts)
    own, others = inputs[position], inputs[:position] + inputs[position + 1 :]
    if any(len(set(term)) < len(term) for term in [*inputs, output]):
        return None
    ones = [] if set(own) <= set(output).union(*others) else [own]
    return ",".join([*inputs[:position], output, *inputs[position + 1 :], *ones]) + "->" + own


def labels(subscripts: str) -> tuple[list[str], str]:
    """The labels of each operand and those of the result, spelled out where they are implicit."""
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        once = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
        output = ("..." if "..." in left else "") + once
    return left.split(","), output


def explicit(operands: Any) -> tuple[list[str], str]:
    """The labels of operands and result with one letter for each axis that an ellipsis stands for."""
    inputs, output = labels(operands[0])
    free = [letter for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in operands[0]]
    hidden = [
        np.ndim(operand) - len(term) + 3 if "..." in term else 0
        for term, operand in zip(inputs, operands[1:], strict=True)
    ]
    names = "".join(free[: max(hidden)])
    spelled = [term.replace("...", names[len(names) - n :]) for term, n in zip(inputs, hidden, strict=True)]
    return spelled, output.replace("...", names)


def spelled(operands: Any) -> tuple[list[Any], list[int]]:
    """Operands with their subscripts as a string in first place, and where each array stood.

    >>> spelled((np.ones(2), [0], np.ones((2, 3)), [0, ...], [...]))[0][0], spelled(("i->", np.ones(2)))[1]
    ('A,A...->...', [1])
    """
    if isinstance(operands[0], str):
        return list(operands), list(range(1, len(operands)))
    terms = [
        "".join("..." if k is Ellipsis else LETTERS[operator.index(k)] for k in axes)
        for axes in (*operands[1::2], *operands[len(operands) - len(operands) % 2 :])
    ]
    arrow = ["->" + terms.pop()] if len(operands) % 2 else []
    return [",".join(terms) + "".join(arrow), *operands[: len(operands) - 1 : 2]], list(range(0, len(operands) - 1, 2))


def einsum_adjoints(g: Any, operands: Any, u: Any = None, v: Any = None) -> list[Any]:
    """The adjoints of all operands of `np.einsum(*operands)`, with None for subscripts, a string or lists of axes.

    `u` and `v` are directions, one entry per operand, None counting as zero: the result is then the
    derivative of the adjoints along `u`, or along both. Those of integers are zeros.

    >>> _, a_bar, b_bar = einsum_adjoints(1.0, ("i,i->", np.ones(2), np.array([2.0, 3.0])))
    >>> a_bar, b_bar
    (array([2., 3.]), array([1., 1.]))
    """
    given, places = spelled(operands)
    made: list[Any] = [None] * len(operands)
    for place in places:
        made[place] = zeros_like(operands[place])
    begun = set()
    for moved, taken in moves(given, _of_arrays(u, places), _of_arrays(v, places)):
        for position, place in enumerate(places, 1):
            if position not in taken and np.asarray(operands[place]).dtype.kind not in "biu":
                term = einsum_adjoint(g, position, moved)
                made[place] = made[place] + term if place in begun else term
                begun.add(place)
    return made


def einsum_tangent(operands: Any, u: Any, v: Any = None, w: Any = None) -> Any:
    """The derivative of `np.einsum(*operands)` along `u`, or along `u` and `v`, or along all three.

    A direction has one entry per operand; None counts as zero.

    >>> a, b = np.ones(2), np.array([2.0, 3.0])
    >>> float(einsum_tangent(("i,i->", a, b), (None, b, None)))
    13.0
    """
    given, places = spelled(operands)
    terms = [np.einsum(*moved) for moved, _ in moves(given, *(_of_arrays(each, places) for each in (u, v, w)))]
    return sum(terms[1:], terms[0]) if terms else 0.0 * np.einsum(*operands)


def _of_arrays(direction: Any, places: list[int]) -> Any:
    """A direction with an entry for the subscripts in first place and one for each array."""
    return None if direction is None else [None, *(direction[place] for place in places)]


def nothing(entry: Any) -> bool:
    """Whether an entry of a direction is None, or the number 0 in the place of an array of zeros."""
    return entry is None or (isinstance(entry, float) and entry == 0.0)


def moves(operands: Any, *directions: Any) -> list[tuple[list[Any], tuple[int, ...]]]:
    """All ways to let each direction take the place of an operand of its own, and the places taken."""
    ways: list[tuple[list[Any], tuple[int, ...]]] = [(list(operands), ())]
    for direction in directions:
        if direction is not None:
            ways = [
                ([*moved[:k], direction[k], *moved[k + 1 :]], (*taken, k))
                for moved, taken in ways
                for k in range(1, len(operands))
                if k not in taken and not nothing(direction[k])
            ]
    return ways


def einsum_adjoint(g: Any, position: int, operands: Any) -> Any:
    """The adjoint of `operands[position]` in `np.einsum(*operands)`; `operands[0]` are the subscripts."""
    inputs, output = explicit(operands)
    sizes: dict[str, int] = {}
    for term, operand in zip(inputs, operands[1:], strict=True):
        for letter, size in zip(term, np.shape(operand), strict=True):
            sizes[letter] = size if sizes.get(letter, 1) == 1 else sizes[letter]
    own = inputs[position - 1]
    others = [k for k in range(1, len(operands)) if k != position]
    known = set(output).union(*(inputs[k - 1] for k in others))
    distinct = "".join(dict.fromkeys(own))
    present = "".join(letter for letter in distinct if letter in known)
    text = ",".join([output, *(inputs[k - 1] for k in others)]) + "->" + present
    factors = [operands[k] for k in others]
    product = np.einsum(text, g, *factors, optimize=len(others) > 1)
    product = np.expand_dims(product, tuple(k for k, letter in enumerate(distinct) if letter not in known))
    product = np.broadcast_to(product, [sizes[letter] for letter in distinct])
    if distinct == own:
        return sum_to(product, operands[position])
    made = np.zeros(np.shape(operands[position]), product.dtype)
    diagonal = np.einsum(f"{own}->{distinct}", made)  # a view: repeated labels run along a diagonal
    diagonal[...] = sum_to(product, diagonal)
    return sum_to(made, operands[position])


def blend_factors(a: Any, w: Any) -> Any:
    """The matrix (b * k, v) of `w * a`, for a (k, v) and w (b, 1, v).

    With it, `np.sum(np.matmul(p, a) * w, axis=0)` is one product. FloatingPointError where a number is too large or too
    small for that order.

    >>> blend_factors(np.ones((1, 2)), np.array([[[3.0, 4.0]], [[5.0, 6.0]]]))
    array([[3., 4.],
           [5., 6.]])
    """
    with np.errstate(over="raise", under="raise", invalid="raise"):
        made = w * a
        return np.reshape(made, (len(w) * len(a), made.shape[-1]))
