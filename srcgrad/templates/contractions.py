"""Products of matrices and vectors, batched over leading axes."""

import numpy as np

from srcgrad.core.rules import adjoint

from .versions import since


@adjoint.composed(
    since("matvec"),
    forms=(
        ("np.matvec(x, y)", (2, 3), (3,)),
        ("np.matvec(x, y)", (4, 2, 3), (3,)),
        ("np.matvec(x, y)", (2, 3), (4, 3)),
    ),
)
def matvec(x1, x2):
    return np.matmul(x1, np.expand_dims(x2, -1))[..., 0]


@adjoint.composed(
    since("vecmat"),
    forms=(
        ("np.vecmat(x, y)", (2,), (2, 3)),
        ("np.vecmat(x, y)", (4, 2), (2, 3)),
        ("np.vecmat(x, y)", (2,), (4, 2, 3)),
    ),
)
def vecmat(x1, x2):
    return np.matmul(np.expand_dims(np.conj(x1), -2), x2)[..., 0, :]
