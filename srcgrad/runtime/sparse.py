"""What `@` means where one operand is a sparse matrix: known to the rule table under names of its own."""

from __future__ import annotations

from typing import Any  # a sparse matrix has a class of SciPy, which may be absent


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
