"""Second derivatives where the first is a convention: the limit, or nan, never a number that is no limit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from srcgrad import grad, hessian, hvp, jacobian, jvp, value_and_grad

LENGTHS = {
    "norm": lambda x: np.linalg.norm(x),
    "vector_norm": lambda x: np.linalg.vector_norm(x),
    "norm of order 3": lambda x: np.linalg.norm(x, 3),
    "norm of rows": lambda x: np.sum(np.linalg.norm(np.stack([x, x]), axis=1)),
    "norm of a matrix": lambda x: np.linalg.norm(np.stack([x, 2.0 * x])),
    "nuclear norm": lambda x: np.linalg.norm(np.stack([x, 2.0 * x]), "nuc"),
    "scipy norm": lambda x: scipy.linalg.norm(x),
    "hypot": lambda x: np.hypot(x[0], x[1]),
    "hypot.reduce": lambda x: np.hypot.reduce(x),
    "std": lambda x: np.std(x),
    "std of columns": lambda x: np.sum(np.std(np.stack([x, 2.0 * x], axis=1), axis=0)),
    "std of some": lambda x: np.std(x, where=np.array([True, True])),
    "nanstd": lambda x: np.nanstd(x),
}


def forwards(f, x, u, v):
    def along(x):
        return jvp(f, (x,), (u,))[1]

    return jvp(along, (x,), (v,))[1]


NESTED = {
    "hessian": lambda f, x: hessian(f)(x),
    "hvp": lambda f, x: np.stack([hvp(f)(x, e) for e in np.eye(x.size)]),
    "reverse over reverse": lambda f, x: jacobian(grad(f), mode="reverse")(x),
    "forward over forward": lambda f, x: np.array([[forwards(f, x, u, v) for v in np.eye(2)] for u in np.eye(2)]),
}
ZERO = np.zeros(2)


@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED.keys())
@pytest.mark.parametrize("length", LENGTHS.values(), ids=LENGTHS.keys())
def test_lengths_of_zero(length, nested):
    """Of the length itself it grows beyond all bounds; of its square the limit is not what came out, 0."""
    assert np.isnan(nested(lambda x: length(x), ZERO)).all()
    assert np.isnan(nested(lambda x: length(x) ** 2, ZERO)).all()
    assert not grad(lambda x: length(x))(ZERO).any()


@pytest.mark.parametrize("nested", [NESTED["hessian"], NESTED["hvp"], NESTED["reverse over reverse"]])
def test_other_elements_keep_theirs(nested):
    """Only what belongs to a length of 0 is not known; forward over forward there is one number, the sum."""

    def f(x):
        return np.sum(np.linalg.norm(np.reshape(x, (2, 2)), axis=1) ** 3)

    x = np.array([0.0, 0.0, 3.0, 4.0])
    expected = 3.0 * (5.0 * np.eye(2) + np.outer(x[2:], x[2:]) / 5.0)
    np.testing.assert_allclose(nested(f, x)[2:, 2:], expected)


@pytest.mark.parametrize("op", [np.abs, np.absolute, np.fabs, abs])
@pytest.mark.parametrize("nested", [NESTED["hessian"], NESTED["hvp"]])
def test_sizes_of_zero(op, nested):
    def square(x):
        return op(x[0]) ** 2 + x[1] ** 2

    def total(x):
        return op(x[0]) + op(x[1])

    def turned(x):
        return x[0] * op(x[0]) + x[1] ** 2

    assert np.isnan(nested(square, ZERO)[0, 0])
    assert nested(total, ZERO).tolist() == [[0.0, 0.0], [0.0, 0.0]]  # the limit from both sides
    assert np.isnan(nested(turned, ZERO)[0, 0])  # 2 on one side, -2 on the other
    np.testing.assert_allclose(nested(square, np.array([-2.0, 1.0])), 2.0 * np.eye(2))


def test_size_of_a_complex_number():
    def f(x):
        return np.abs(x[0] + 1j * x[1])

    assert np.isnan(hessian(f)(ZERO)).all()
    square = hessian(lambda x: f(x) ** 2)(ZERO)
    assert np.isnan(square).all() or np.array_equal(square, 2.0 * np.eye(2))


def test_divisors_of_the_users_own_are_masks():
    """`np.where(r == 0.0, np.inf, r)` in a user's text leaves elements out, to second order too."""

    def energy(x):
        r = np.abs(x[:, None] - x)
        return np.sum(1.0 / np.where(r == 0.0, np.inf, r))

    x = np.array([0.0, 1.0, 3.0])
    plain = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            if i != j:
                plain[i, j] -= 4.0 / abs(x[i] - x[j]) ** 3
                plain[i, i] += 4.0 / abs(x[i] - x[j]) ** 3
    np.testing.assert_allclose(hessian(energy)(x), plain)


def test_distances_of_points_to_themselves():
    """They are 0 and stay so: the second derivative is that of the other distances."""

    def energy(x):
        return np.sum(np.abs(x[:, None] - x) ** 3 + np.exp(-np.abs(x[:, None] - x)))

    x = np.array([0.0, 1.0, 3.0])
    expected = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            if i != j:
                bend = 12.0 * abs(x[i] - x[j]) + 2.0 * np.exp(-abs(x[i] - x[j]))
                expected[i, j] -= bend
                expected[i, i] += bend
    np.testing.assert_allclose(hessian(energy)(x), expected)


POINTS = np.array([[0.3, -1.2], [0.9, 0.4], [-0.5, 0.8]])
TURN = np.array([[1.0, 0.5], [-0.2, 0.7], [0.4, -0.9]])


def pairs(x):
    return np.sum(np.linalg.norm(x[:, None] - x, axis=-1))


def pairs_in_a_loop(x):
    total = 0.0
    for i in range(3):
        d = np.linalg.norm(x - x[i], axis=1, keepdims=True)
        total += np.sum(np.exp(-d))
    return total


def pairs_by_hypot(x):
    d = x[:, None] - x
    return np.sum(np.hypot(d[..., 0], d[..., 1]))


def pairs_of_vector_norm(x):
    return np.sum(np.linalg.vector_norm(x[:, None] - x, axis=-1, keepdims=True))


def pairs_of_order_three(x):
    return np.sum(np.linalg.norm(x[:, None] - x, 3, axis=-1))


def pairs_of_complex_numbers(x):
    z = x[:, 0] + 1j * x[:, 1]
    return np.sum(np.abs(z[:, None] - z))


def differences(f, x, v):
    step = 1e-5
    return (grad(f)(x + step * v) - grad(f)(x - step * v)) / (2.0 * step)


PAIRS = [
    pairs, pairs_in_a_loop, pairs_by_hypot, pairs_of_vector_norm, pairs_of_order_three, pairs_of_complex_numbers,
]  # fmt: skip


@pytest.mark.parametrize("f", PAIRS)
def test_directions_in_which_a_length_of_0_stays_0(f):
    """Of all pairs of points, each with itself among them: the diagonal is left as it is."""
    expected = differences(f, POINTS, TURN)  # the rounding of a central difference is some 1e-9
    np.testing.assert_allclose(hvp(f)(POINTS, TURN), expected, atol=1e-7)
    np.testing.assert_allclose(np.tensordot(hessian(f)(POINTS), TURN, 2), expected, atol=1e-7)
    if f is not pairs_of_order_three:

        def along(x):
            return np.sum(grad(f)(x) * TURN)

        np.testing.assert_allclose(grad(along)(POINTS), expected, atol=1e-7)


def test_deviations_that_stay_0():
    row = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]])
    v = np.array([[2.0, 2.0, 2.0], [0.3, 0.1, 0.7]])

    def f(x):
        return np.sum(np.std(x, axis=1))

    np.testing.assert_allclose(hvp(f)(row, v), differences(f, row, v), atol=1e-8)
    assert np.isnan(hvp(f)(row, row[::-1])[0]).all()


def test_masked_lengths_of_zero():
    """Where the length is not taken there is nothing, in all nestings."""
    centres = np.array([[0.0, 0.0], [1.0, 2.0]])

    def f(x):
        r = np.linalg.norm(x - centres, axis=1)
        return np.sum(np.where(r > 0.0, r**5, 0.0))

    x, v = np.array([[0.0, 0.0], [0.3, 0.4]]), np.array([[1.0, 2.0], [0.3, 0.4]])
    expected = differences(f, x, v)
    np.testing.assert_allclose(hvp(f)(x, v), expected, atol=1e-8)
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(f)(x) * v))(x), expected, atol=1e-8)


def test_size_of_zero_in_reverse_over_reverse():
    """`abs(x) ** 2` is nan there, never 0; a factor in front of the sizes keeps its derivative."""

    def square(x):
        return np.sum(np.abs(x) ** 2)

    def scaled(x, weight):
        return weight * np.sum(np.abs(x))

    x = np.array([0.0, 3.0])
    found = grad(lambda x: np.sum(grad(square)(x)))(x)
    assert np.isnan(found[0]) and found[1] == 2.0
    assert grad(lambda weight: np.sum(grad(scaled)(x, weight)))(2.0) == 1.0


def squared_sizes(x):
    return np.sum(np.abs(x) ** 2)


def squared_length(x):
    return np.linalg.norm(x) ** 2 + x[1]


@pytest.mark.parametrize("f", [squared_sizes, squared_length])
@pytest.mark.parametrize("x", [np.array([0.0, 3.0]), np.array([0.0, 0.0])])
def test_value_beside_a_gradient_has_its_first_derivative(f, x):
    """The value of `value_and_grad` is that of the function: nothing of it is a second derivative."""

    def value(x):
        y, _ = value_and_grad(f)(x)
        return y

    np.testing.assert_allclose(grad(value)(x), grad(f)(x))
    np.testing.assert_allclose(jvp(value, (x,), (np.array([1.0, 2.0]),))[1], grad(f)(x) @ [1.0, 2.0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("order", "sign"), [(1.5, 1.0), (0.5, -1.0), (3.0, 0.0)])
def test_entries_of_zero_in_norms_of_other_orders(order: float, sign: float) -> None:
    """`|x|**p` bends without bound at 0 for p below 2; an entry that does not move takes no part."""

    def length(x):
        return np.linalg.norm(x, order)

    x = np.array([0.0, 1.0, 2.0])
    moved = hvp(length)(x, np.array([1.0, 0.0, 0.0]))[0]
    beside = [grad(length)(np.array([small, 1.0, 2.0]))[0] for small in (1e-12, 2e-12)]
    slope = (beside[1] - beside[0]) / 1e-12
    assert moved == (sign * np.inf if sign else 0.0)
    assert sign * slope > 1e5 if sign else abs(slope) < 1e-9
    still = np.array([0.0, 1.0, -0.5])
    steps = (grad(length)(x + 1e-6 * still) - grad(length)(x - 1e-6 * still)) / 2e-6
    np.testing.assert_allclose(hvp(length)(x, still), steps, rtol=1e-6, atol=1e-8)
    twice = grad(lambda x: np.sum(still * grad(length)(x)))(x)
    np.testing.assert_allclose(twice, steps, rtol=1e-6, atol=1e-8)
