"""Derivatives of `np.einsum`: of all operands at once, in any notation of subscripts that NumPy reads."""

from __future__ import annotations

import operator
from typing import Any  # operands are arrays of any floating type

import numpy as np

from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.structure import zeros_like

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
