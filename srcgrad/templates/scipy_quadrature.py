"""Integrals of functions of one number, whose derivatives are integrals as well; on request."""

from scipy import integrate

from srcgrad.core.rules import Handed, adjoint, constants, d, places, pull, push, refused, tangent
from srcgrad.runtime.quadrature import check_numbers, check_steady, quad_pullback, quad_pushforward


@adjoint(
    integrate.quad,
    forms=(
        ("scipy.integrate.quad(lambda s, k: np.sin(k * s), x, y, args=(z,))[0]", None, None, None),
        ("scipy.integrate.quad(lambda s: np.exp(-s * s * (2.5 + x[0])) * x[1], -np.inf, y)[0]", (2,), None),
    ),
    note="The integrand is differentiated through its source; the estimate of the error is taken to be constant.",
    results=(("integral", 0), ("error", 0)),
    handed=Handed("func", 1, None),
)
def quad(z, func, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=50):
    a_bar, b_bar, args_bar = quad_pullback(
        func, pull, a, b, args, d[z][0], places=places, epsabs=epsabs, epsrel=epsrel, limit=limit
    )
    d[a] = a_bar
    d[b] = b_bar
    d[args] = args_bar


@tangent(integrate.quad)
def quad_tangent(z, func, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=50):
    integral_dot = quad_pushforward(
        func, push, a, b, args, d[a], d[b], d[args], places=places, epsabs=epsabs, epsrel=epsrel, limit=limit
    )
    d[z] = integral_dot, 0.0 * integral_dot


constants([check_numbers, check_steady])
refused(
    "what its `args` hold is not written as a tuple",
    {f.__name__: f for f in (quad_pullback, quad_pushforward)},
)
