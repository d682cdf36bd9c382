"""Reductions that leave out nan: products, running sums, variances.

The gradient of an element that is nan is 0.
"""

import numpy as np

from srcgrad.core.rules import adjoint
from srcgrad.runtime.singular import root

from .forms import reduction_forms

SOME = "np.where(x > 1.0, np.nan, x)"


def _forms(name):
    """Calls of a reduction on an array some of whose elements are nan, along all kinds of axes."""
    return (
        (f"{name}({SOME})", (3, 4)),
        (f"{name}({SOME}, axis=0)", (6, 2)),
        (f"{name}({SOME}, axis=-1, keepdims=True)", (2, 6)),
        (f"{name}({SOME}, axis=(0, 2))", (3, 2, 3)),
    )


@adjoint.composed(np.nanprod, forms=(*reduction_forms("np.nanprod"), *_forms("np.nanprod")))
def nanprod(a, axis=None, *, keepdims=False):
    return np.prod(np.where(np.isnan(a), 1.0, a), axis=axis, keepdims=keepdims)


@adjoint.composed(
    np.nancumsum,
    forms=(
        (f"np.nancumsum({SOME})", (2, 3)),
        (f"np.nancumsum({SOME}, axis=0)", (6, 2)),
        ("np.nancumsum(x, 1)", (2, 3)),
    ),
)
def nancumsum(a, axis=None):
    present = np.where(np.isnan(a), 0.0, a)
    return np.cumsum(present) if axis is None else np.cumsum(present, axis)


@adjoint.composed(
    np.nancumprod,
    forms=((f"np.nancumprod({SOME})", (4,)), (f"np.nancumprod({SOME}, axis=0)", (4, 2))),
)
def nancumprod(a, axis=None):
    return np.cumprod(np.where(np.isnan(a), 1.0, a), axis)


@adjoint.composed(
    np.nanvar,
    forms=(*_forms("np.nanvar"), ("np.nanvar(x, axis=1, ddof=1)", (2, 4)), ("np.nanvar(x)", (3, 4))),
)
def nanvar(a, axis=None, *, ddof=0, keepdims=False):
    absent = np.isnan(a)
    present = np.where(absent, 0.0, np.ones_like(a))
    total = np.sum(np.where(absent, 0.0, a), axis=axis, keepdims=True)
    mean = total / np.sum(present, axis=axis, keepdims=True)
    off = np.where(absent, 0.0, a - mean)
    return np.sum(off * off, axis=axis, keepdims=keepdims) / (np.sum(present, axis=axis, keepdims=keepdims) - ddof)


@adjoint.composed(
    np.nanstd,
    forms=(*_forms("np.nanstd"), ("np.nanstd(x, axis=1, ddof=1)", (2, 4)), ("np.nanstd(x)", (3, 4))),
    note="The gradient is 0 where all elements are equal.",
)
def nanstd(a, axis=None, *, ddof=0, keepdims=False):
    variance = np.nanvar(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return root(variance)
