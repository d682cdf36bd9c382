"""Orthogonal polynomials and hypergeometric functions of `scipy.special`, in their argument; loaded on request.

The derivative of a polynomial of degree n is one of degree n - 1, also where the degree is not whole; where it is not
known to be positive when the derivative is made, that of degree 0 is multiplied by 0.
"""

import numpy as np
from scipy import special

from srcgrad.core.rules import adjoint, d

DEGREE = "it is a degree"
PARAMETER = "a derivative with respect to this parameter has no closed form"


def _forms(name, *parameters, whole=False):
    """Calls of a polynomial for a degree that is known, for degree 0, for degrees that are not known, or not whole."""
    rest = "".join(f", {p}" for p in parameters)
    return (
        (f"{name}(3{rest}, x)", (3,)),
        (f"{name}(0{rest}, x)", (3,)),
        (f"{name}(np.arange(4){rest}, x)", (2, 4)),
        *(() if whole else ((f"{name}(0.24{rest}, x)", (3,)), (f"{name}(np.array([0.24, -0.3, 1.7]){rest}, x)", (3,)))),
    )


@adjoint.elementwise(
    special.eval_legendre,
    domain=(-0.9, 0.9),
    forms=_forms("scipy.special.eval_legendre"),
    refuses={"n": DEGREE},
)
def eval_legendre(y, n, x):
    if n > 0:
        d[x] = d[y] * special.eval_gegenbauer(n - 1, 1.5, x)
    else:
        m = np.maximum(n, -n - 1)  # of which it is the same polynomial
        d[x] = d[y] * (m != 0) * special.eval_gegenbauer(np.where(m == 0, 0, m - 1), 1.5, x)


@adjoint.elementwise(
    special.eval_sh_legendre,
    domain=(0.1, 0.9),
    forms=_forms("scipy.special.eval_sh_legendre"),
    refuses={"n": DEGREE},
)
def eval_sh_legendre(y, n, x):
    if n > 0:
        d[x] = 2.0 * d[y] * special.eval_gegenbauer(n - 1, 1.5, 2.0 * x - 1.0)
    else:
        m = np.maximum(n, -n - 1)  # of which it is the same polynomial
        d[x] = 2.0 * d[y] * (m != 0) * special.eval_gegenbauer(np.where(m == 0, 0, m - 1), 1.5, 2.0 * x - 1.0)


@adjoint.elementwise(
    special.eval_chebyt, domain=(-0.9, 0.9), forms=_forms("scipy.special.eval_chebyt"), refuses={"n": DEGREE}
)
def eval_chebyt(y, n, x):
    if n > 0:
        d[x] = d[y] * n * special.eval_chebyu(n - 1, x)
    else:
        d[x] = d[y] * n * special.eval_chebyu(np.where(n == 0, 0, n - 1), x)


@adjoint.elementwise(
    special.eval_chebyu, domain=(-0.9, 0.9), forms=_forms("scipy.special.eval_chebyu"), refuses={"n": DEGREE}
)
def eval_chebyu(y, n, x):
    if n > 0:
        d[x] = 2.0 * d[y] * special.eval_gegenbauer(n - 1, 2.0, x)
    else:
        m = np.maximum(n, -n - 2)  # the same polynomial, of the other sign
        sign = np.sign(n + 1) * (m != 0)
        d[x] = 2.0 * d[y] * sign * special.eval_gegenbauer(np.where(sign == 0, 0, m - 1), 2.0, x)


@adjoint.elementwise(
    special.eval_chebyc, domain=(-1.9, 1.9), forms=_forms("scipy.special.eval_chebyc"), refuses={"n": DEGREE}
)
def eval_chebyc(y, n, x):
    if n > 0:
        d[x] = d[y] * n * special.eval_chebys(n - 1, x)
    else:
        d[x] = d[y] * n * special.eval_chebys(np.where(n == 0, 0, n - 1), x)


@adjoint.elementwise(
    special.eval_chebys, domain=(-1.9, 1.9), forms=_forms("scipy.special.eval_chebys"), refuses={"n": DEGREE}
)
def eval_chebys(y, n, x):
    if n > 0:
        d[x] = d[y] * special.eval_gegenbauer(n - 1, 2.0, 0.5 * x)
    else:
        m = np.maximum(n, -n - 2)  # the same polynomial, of the other sign
        sign = np.sign(n + 1) * (m != 0)
        d[x] = d[y] * sign * special.eval_gegenbauer(np.where(sign == 0, 0, m - 1), 2.0, 0.5 * x)


@adjoint.elementwise(
    special.eval_sh_chebyt, domain=(0.1, 0.9), forms=_forms("scipy.special.eval_sh_chebyt"), refuses={"n": DEGREE}
)
def eval_sh_chebyt(y, n, x):
    if n > 0:
        d[x] = 2.0 * d[y] * n * special.eval_sh_chebyu(n - 1, x)
    else:
        d[x] = 2.0 * d[y] * n * special.eval_sh_chebyu(np.where(n == 0, 0, n - 1), x)


@adjoint.elementwise(
    special.eval_sh_chebyu, domain=(0.1, 0.9), forms=_forms("scipy.special.eval_sh_chebyu"), refuses={"n": DEGREE}
)
def eval_sh_chebyu(y, n, x):
    if n > 0:
        d[x] = 4.0 * d[y] * special.eval_gegenbauer(n - 1, 2.0, 2.0 * x - 1.0)
    else:
        m = np.maximum(n, -n - 2)  # the same polynomial, of the other sign
        sign = np.sign(n + 1) * (m != 0)
        d[x] = 4.0 * d[y] * sign * special.eval_gegenbauer(np.where(sign == 0, 0, m - 1), 2.0, 2.0 * x - 1.0)


@adjoint.elementwise(
    special.eval_gegenbauer,
    domain=(-0.9, 0.9),
    forms=_forms("scipy.special.eval_gegenbauer", 0.7),
    refuses={"n": DEGREE, "alpha": PARAMETER},
)
def eval_gegenbauer(y, n, alpha, x):
    if n > 0:
        d[x] = 2.0 * d[y] * alpha * special.eval_gegenbauer(n - 1, alpha + 1.0, x)
    else:
        d[x] = 2.0 * d[y] * (n != 0) * alpha * special.eval_gegenbauer(np.where(n == 0, 0, n - 1), alpha + 1.0, x)


@adjoint.elementwise(
    special.eval_jacobi,
    domain=(-0.9, 0.9),
    forms=_forms("scipy.special.eval_jacobi", 0.7, 1.2),
    refuses={"n": DEGREE, "alpha": PARAMETER, "beta": PARAMETER},
)
def eval_jacobi(y, n, alpha, beta, x):
    factor = 0.5 * (n != 0) * (n + alpha + beta + 1.0)
    d[x] = d[y] * factor * special.eval_jacobi(np.where(n == 0, 0, n - 1), alpha + 1.0, beta + 1.0, x)


@adjoint.elementwise(
    special.eval_sh_jacobi,
    domain=(0.1, 0.9),
    forms=_forms("scipy.special.eval_sh_jacobi", 2.5, 1.2),
    refuses={"n": DEGREE, "p": PARAMETER, "q": PARAMETER},
)
def eval_sh_jacobi(y, n, p, q, x):
    if n > 0:
        d[x] = d[y] * n * special.eval_sh_jacobi(n - 1, p + 2.0, q + 1.0, x)
    else:
        d[x] = d[y] * n * special.eval_sh_jacobi(np.where(n == 0, 0, n - 1), p + 2.0, q + 1.0, x)


@adjoint.elementwise(
    special.eval_hermite, forms=_forms("scipy.special.eval_hermite", whole=True), refuses={"n": DEGREE}
)
def eval_hermite(y, n, x):
    if n > 0:
        d[x] = 2.0 * d[y] * n * special.eval_hermite(n - 1, x)
    else:
        d[x] = 2.0 * d[y] * n * special.eval_hermite(np.maximum(n - 1, 0), x)


@adjoint.elementwise(
    special.eval_hermitenorm, forms=_forms("scipy.special.eval_hermitenorm", whole=True), refuses={"n": DEGREE}
)
def eval_hermitenorm(y, n, x):
    if n > 0:
        d[x] = d[y] * n * special.eval_hermitenorm(n - 1, x)
    else:
        d[x] = d[y] * n * special.eval_hermitenorm(np.maximum(n - 1, 0), x)


@adjoint.elementwise(
    special.eval_laguerre, domain=(0.1, 3.0), forms=_forms("scipy.special.eval_laguerre"), refuses={"n": DEGREE}
)
def eval_laguerre(y, n, x):
    if n > 0:
        d[x] = -d[y] * special.eval_genlaguerre(n - 1, 1.0, x)
    else:
        d[x] = -d[y] * (n != 0) * special.eval_genlaguerre(np.where(n == 0, 0, n - 1), 1.0, x)


@adjoint.elementwise(
    special.eval_genlaguerre,
    domain=(0.1, 3.0),
    forms=_forms("scipy.special.eval_genlaguerre", 0.5),
    refuses={"n": DEGREE, "alpha": PARAMETER},
)
def eval_genlaguerre(y, n, alpha, x):
    if n > 0:
        d[x] = -d[y] * special.eval_genlaguerre(n - 1, alpha + 1.0, x)
    else:
        d[x] = -d[y] * (n != 0) * special.eval_genlaguerre(np.where(n == 0, 0, n - 1), alpha + 1.0, x)


@adjoint.elementwise(
    special.assoc_laguerre,
    domain=(0.1, 3.0),
    forms=(("scipy.special.assoc_laguerre(x, 3, 1.5)", (3,)), ("scipy.special.assoc_laguerre(x, 0)", (3,))),
    refuses={"n": DEGREE, "k": PARAMETER},
)
def assoc_laguerre(y, x, n, k=0.0):
    d[x] = -d[y] * (n != 0) * special.eval_genlaguerre(np.where(n == 0, 0, n - 1), k + 1.0, x)


@adjoint.elementwise(
    special.lpmv,
    domain=(-0.9, 0.9),
    forms=(("scipy.special.lpmv(1, 3, x)", (3,)), ("scipy.special.lpmv(0, 0, x)", (3,))),
    refuses={"m": DEGREE, "v": PARAMETER},
    note="The gradient is nan at -1 and 1.",
)
def lpmv(y, m, v, x):
    d[x] = d[y] * (v * x * y - (v + m) * special.lpmv(m, v - 1, x)) / (x * x - 1.0)


@adjoint.elementwise(special.hyp0f1, forms=(("scipy.special.hyp0f1(1.5, x)", (3,)),), refuses={"v": PARAMETER})
def hyp0f1(y, v, z):
    d[z] = d[y] / v * special.hyp0f1(v + 1.0, z)


@adjoint.elementwise(
    special.hyp1f1, forms=(("scipy.special.hyp1f1(0.7, 1.6, x)", (3,)),), refuses={"a": PARAMETER, "b": PARAMETER}
)
def hyp1f1(y, a, b, x):
    if a == -1:
        d[x] = d[y] * a / b  # also where b + 1 is 0
    else:
        d[x] = d[y] * a / b * special.hyp1f1(a + 1.0, b + 1.0, x)


@adjoint.elementwise(
    special.hyp2f1,
    domain=(-0.9, 0.7),
    forms=(("scipy.special.hyp2f1(0.5, 0.7, 1.6, x)", (3,)),),
    refuses={"a": PARAMETER, "b": PARAMETER, "c": PARAMETER},
)
def hyp2f1(y, a, b, c, z):
    d[z] = d[y] * a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)


@adjoint.elementwise(
    special.hyperu,
    domain=(0.3, 3.0),
    forms=(("scipy.special.hyperu(0.7, 1.6, x)", (3,)),),
    refuses={"a": PARAMETER, "b": PARAMETER},
)
def hyperu(y, a, b, x):
    d[x] = -d[y] * a * special.hyperu(a + 1.0, b + 1.0, x)
