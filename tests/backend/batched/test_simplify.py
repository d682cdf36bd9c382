"""Jacobians with products in another order: rows picked before a product, weighted sums as one product."""

import numpy as np
import pytest

from benchmarks.workloads import tracking
from srcgrad import jacobian
from tests.backend.batched.agree import check

rng = np.random.default_rng(0)
X = rng.standard_normal(3)
TABLE, WEIGHTS = rng.standard_normal((9, 3)), rng.random((9, 3))


def blend(x, table, w, i):
    """Points moved by three matrices, each with its weight."""
    p = np.stack([np.eye(3) * x[0], np.eye(3) + x[1], x[2] * np.ones((3, 3))])
    moved = np.matmul(p, np.transpose(table))
    weights = np.transpose(w)[:, None, :]
    out = np.transpose(np.sum(moved * weights, axis=0))
    return out[i]


def scaled(x, table, w, i):
    """A mean of rows, divided, with rows of another argument."""
    out = (table * x) @ np.ones((3, 2)) / (1.0 + x[0]) - x[1] * w[:, :2]
    return np.exp(-out)[i]


def twice(x, table, w, i):
    """Picked rows, and the sum of all."""
    out = table @ np.outer(x, x)
    return out[i] + np.sum(out)


def written(x, table, w, i):
    """A row is written before they are picked."""
    out = table @ np.outer(x, x)
    out[0] = x
    return out[i]


def read_later(x, table, w, i):
    """A row is read in a loop."""
    out = table @ np.outer(x, x)
    s = out[i]
    for k in range(2):
        s = s + out[k]
    return s


@pytest.mark.parametrize("function", [blend, scaled, twice, written, read_later])
@pytest.mark.parametrize(
    "rows", [np.array([4, -1, 4]), rng.integers(-9, 9, 20), np.zeros(0, int), np.array([True, False] * 4 + [True])]
)
def test_the_same_numbers(function, rows) -> None:
    check(function, (X, TABLE, WEIGHTS, rows), "forward", (0,))


@pytest.mark.parametrize("function", [blend, scaled])
def test_lengths_that_broadcast(function) -> None:
    rows = np.array([3, 4])
    check(function, (X, TABLE, WEIGHTS[:1], rows), "forward", (0,))
    check(function, (X, TABLE[:1], WEIGHTS, rows), "forward", (0,))
    check(function, (X, TABLE[:1], WEIGHTS[:1], np.array([0, -1])), "forward", (0,))
    check(function, (X, TABLE[:0], WEIGHTS[:0], np.zeros(0, int)), "forward", (0,))


def source_of(function, rows) -> str:
    made = jacobian(function, mode="forward")
    made(X, TABLE, WEIGHTS, rows)
    return made.source


def test_few_rows_are_picked_first() -> None:
    few, many = np.array([2, 2, 7]), rng.integers(0, 9, 40)
    assert "table[i]" in source_of(blend, few) and "w[i]" in source_of(blend, few)
    assert "out[i]" in source_of(blend, many) and "table[i]" not in source_of(blend, many)
    assert "w[i]" in source_of(scaled, few)
    for function in (twice, written, read_later):
        assert "table[i]" not in source_of(function, few)


def test_an_index_outside_is_one_still() -> None:
    with pytest.raises(IndexError):
        jacobian(blend, mode="forward")(X, TABLE, WEIGHTS, np.array([9]))


def test_weighted_matrices_are_one_product() -> None:
    assert "factors = blend_factors(" in source_of(blend, np.array([1]))


def test_numbers_too_large_for_the_other_order() -> None:
    """weights * skin overflows, and does not where the matrices, which are small, come first."""
    args = list(tracking.arguments(30, 5))
    for k, factor in ((3, 1e-300), (4, 1e200), (5, 1e200)):
        args[k] = args[k] * factor
    made = check(tracking.tracking, tuple(args), "forward", ("theta",))
    assert "weighted" not in made.source and np.isfinite(made(*args)[0]).all()


def factors(x, w):
    """Products of which one factor has a tangent: floats follow it in the first, small integers in the second."""
    y, z = x[0], x[1]
    return np.stack((y * y * z, np.sum(x * w * w)))


def test_factors_without_a_direction_come_first() -> None:
    """The square of 200 is too large for a byte: there the tangent stays in front."""
    made = check(factors, (X, np.array([200, 3, 100], np.uint8)), "forward", (0,))
    assert "2.0 * y * z * x_dot[:, 0]" in made.source and "x_dot * w * w" in made.source


def residuals(x, points):
    """Distances to one point, or to as many as there are."""
    turned = np.reshape(np.sin(x), (-1, 3)) * 2.0
    return np.reshape(points - turned, (-1,))


def test_a_tangent_that_has_its_shape_is_not_widened() -> None:
    """Its size is looked at: where it broadcasts, the text is made anew."""
    points = rng.standard_normal((2, 3))
    x = rng.standard_normal(6)
    made = check(residuals, (x, points), "forward", (0,))
    assert "np.broadcast_to" not in made.source and ".reshape(len(x_dot), y.size)" in made.source
    for wide in (points, points[:0], points[:, None, :]):
        assert "np.broadcast_to" in check(residuals, (x[:3], wide), "forward", (0,)).source
    check(residuals, (x[:3], points[:1]), "forward", (0,))


def test_hand_tracking() -> None:
    args = tracking.arguments(30, 5)
    made = jacobian(tracking.tracking, mode="forward")
    assert np.allclose(made(*args), tracking.tracking_hand(*args)[1], rtol=1e-12, atol=1e-14)
    assert np.allclose(made(*args), tracking.tracking_hand(*args)[1], rtol=1e-12, atol=1e-14)
    assert made.source.count(" factors") == 3 and "np.sum(moved" not in made.source
    assert "skin[nearest]" in made.source and "turned[nearest]" not in made.source
