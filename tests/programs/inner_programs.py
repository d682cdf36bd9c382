"""Functions that ask for derivatives in their bodies; each takes one array of three numbers and returns a number."""

from __future__ import annotations

from functools import partial

import numpy as np

import srcgrad
from srcgrad import elementwise_grad, grad, hessian, hvp, jacobian, jvp, linearize, transpose, value_and_grad, vjp


def vec(x):
    return np.array([x[0] * x[1], np.sum(x**3), np.sin(x[2])])


def scalar(x):
    return np.sum(x**3) * x[0]


GRADIENT, VALUE, PRODUCT = grad(scalar), value_and_grad(scalar), hvp(scalar)
JACOBIAN, HESSIAN, EACH = jacobian(vec), hessian(scalar), elementwise_grad(np.tanh)


def perturbations(x):
    return np.sum(x * elementwise_grad(lambda y: x + y)(x))


def captured(x):
    c = 2.0 * x
    return np.sum(grad(lambda z: np.sum(z * z * c))(x) ** 2)


def through_nested(x):
    c = x * 2.0

    def h(z):
        return z * c

    def g(z):
        return np.sum(h(z) * h(z) * x)

    return np.sum(grad(g)(x) ** 2)


def rebound(x):
    dg = grad(lambda z: np.sum(z * z * x))
    x = x * 2.0
    return np.sum(dg(x) * x)


def shadowed(x):
    y = x
    return np.sum(grad(lambda x: np.sum(x * y * y))(x) * x)


def clashing(d, np_=1.0):
    x_bar = d * 2.0
    y_bar = grad(lambda x: np.sum(x_bar * x * x))(x_bar)
    return np.sum(y_bar * d) * np_


def value_beside(x):
    v, (a, b) = value_and_grad(lambda p, q: np.sum(p * q * q), (0, 1))(x, x * 2.0)
    return v * np.sum(a * b)


def auxiliary(x):
    (v, beside), g = value_and_grad(lambda z: (np.sum(z**3 * x), z * x), has_aux=True)(x)
    return np.sum(g * beside) * v


def pushed(x):
    y, y_dot = jvp(vec, (x,), (x * x,))
    return np.sum(y * y_dot)


def pulled(x):
    y, pullback = vjp(vec, x)
    (x_bar,) = pullback(y)
    return np.sum(x_bar * y) + np.sum(vjp(vec, x)[1](x)[0])


def pulled_by_name(x):
    y, pullback = srcgrad.vjp(lambda p, k: k * p * p, x, 2.0 * x, wrt="k")
    return np.sum(pullback(x) * y)


def turned(x):
    y, push = linearize(vec, x)
    (x_bar,) = transpose(push)(y)
    return np.sum(x_bar * push(x))


def products(x):
    return np.sum(hvp(scalar)(x, x * x) ** 2) + np.sum(PRODUCT(x, x))


def matrices(x):
    return np.sum(jacobian(vec)(x) ** 2) + np.sum(hessian(scalar)(x)[0])


def objects(x):
    v, g = VALUE(x)
    return np.sum(JACOBIAN(x)) * v + np.sum(HESSIAN(x)) * np.sum(g * GRADIENT(x) * EACH(x))


def of_operations(x):
    return np.sum(elementwise_grad(np.sin)(x) * x) + grad(np.exp)(x[0])


def newton(h, x):
    return x - h(x) / grad(h)(x)


def given_functions(x):
    return newton(lambda z: z * z * x[1] - 2.0, x[0])


def apply(h, x):
    return h(x) * 2.0


def passed_on(x):
    return np.sum(apply(grad(scalar), x) ** 2)


def partly(x):
    k = partial(lambda a, b: a * b, x)
    return np.sum(grad(lambda z: np.sum(k(z) ** 2))(x) ** 2) + np.sum(grad(partial(third, x))(x))


def third(a, b):
    return np.sum(a * b**3)


def of_derivatives(x):
    dg = grad(lambda z: np.sum(z**3 * x))
    return np.sum(grad(lambda z: np.sum(dg(z) ** 2))(x))


def three_deep(x):
    return grad(lambda a: grad(lambda b: b * grad(lambda c: a * b * c * c * x[1])(b))(a))(x[0])


def in_a_loop(x):
    s = 0.0
    for i in range(3):
        s = s + grad(lambda z: np.sum(z**2 * x) * (i + 1.0))(x)[i]  # noqa: B023
    return s


def over_a_loop(x):
    def g(z):
        s = z[0]
        for i in range(3):
            s = s * z[i] + x[i]
        return s

    return np.sum(grad(g)(x) ** 2)


def written(x):
    a = np.zeros(3)
    for i in range(3):
        a[i] = GRADIENT(x * (i + 1.0))[i]
    return np.sum(a * a)


def in_a_branch(x):
    r = grad(scalar)(x) if x[0] > 0.0 else x
    if x[1] > 100.0:
        r = grad(lambda z: np.sum(z * x))(x)
    return np.sum(r * r)


def in_a_test(x):
    y = x[0]
    while grad(lambda z: z * z)(y) < 10.0:
        y = y * 1.5 + x[1]
    return y * y


def of_a_container(x):
    p = {"w": x, "b": x[0]}
    g = grad(lambda q: np.sum(q["w"] ** 2) * q["b"])(p)
    return np.sum(g["w"]) * g["b"]


def two_deep_in_functions(x):
    scalar = x[0] * 2.0  # no function here

    def middle(y):
        def low(z):
            return z * z * y * scalar

        return grad(low)(y) * x[1]

    return grad(middle)(x[2])


class Model:
    """A function with a parameter of its own."""

    weight = 2.0

    def energy(self, x):
        return np.sum(self.weight * x**3)


MODEL = Model()


def of_a_method(x):
    return np.sum(grad(MODEL.energy)(x) ** 2)


PROGRAMS = [
    perturbations, captured, through_nested, rebound, shadowed, clashing, value_beside, auxiliary, pushed, pulled,
    pulled_by_name, turned, products, matrices, objects, of_operations, given_functions, passed_on, partly,
    of_derivatives, three_deep, in_a_loop, over_a_loop, written, in_a_branch, of_a_method,
    in_a_test, of_a_container, two_deep_in_functions,
]  # fmt: skip
