"""What is not taken contributes nothing: branches of `np.where`, elements that are not read or are overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any  # functions of several kinds

import numpy as np
import pytest
from scipy import special

import srcgrad
from srcgrad.interface.check.check import check_grads
from srcgrad.interface.dump import dump

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of values, which are computed as they stand
X = np.array([-1.0, 0.0, 0.3, 1.0, 4.0])
POINTS = np.array([[0.1, 0.7], [1.9, 0.3], [0.7, 1.8], [-0.4, 0.5]])


def entropy(x):
    return np.sum(np.where(x > 0.0, x * np.log(x), 0.0))


def root(x):
    return np.sum(np.where(x <= 0.0, 0.0, np.sqrt(x)))


def named(x):
    inside = x > 0.2
    d = x - 0.2
    s = np.sqrt(d) + d
    y = 1.0 / s
    return np.sum(np.where(inside, y * y, x))


def observed(x):
    data = np.array([np.nan, np.nan, 1.0, 2.0, 3.0])
    return np.sum(np.where(np.isnan(data), 0.0, (x - data) ** 2 * data))


def nested(x):
    return np.sum(np.where(x > 0.0, np.where(x > 1.0, np.log(x - 1.0), 1.0 / x), np.exp(800.0 * x) * x))


def in_a_loop(x):
    y = x
    for _ in range(2):
        y = y + np.where(y > 0.5, np.sqrt(y - 0.5), 0.1 * y)
    return np.sum(y)


def inverse(x):
    return np.sum(np.where(x > 1.0, np.arccosh(x), np.where(x > 0.2, special.gammaln(x), 0.0)))


def shared(x):
    r = np.sqrt(x)
    return np.sum(np.where(x > 0.0, 1.0 / r, 0.0)) + np.sum(np.where(x > 0.2, r, 2.0))


def written(x):
    a = x * 1.0
    r = np.sqrt(a)
    a[:3] = 0.0
    return np.sum(np.where(a > 0.0, r, 0.0))


def elu(x):
    return np.sum(np.where(x > 0.2, x, np.exp(500.0 * x) - 1.0))


def own_condition(x):
    r = np.sqrt(np.maximum(x, 0.0))
    return np.sum(np.where(r > 0.0, 1.0 / r, 0.0))


def indexed(x):
    return np.sum(np.log(x)[x > 0.0])


def sliced(x):
    return np.sum(np.sqrt(x)[2:]) + np.prod(np.sqrt(x)[3:])


def chosen(x):
    return np.sum(np.select([x > 0.5, x > 0.2], [np.log(x), np.sqrt(x)], x))


def clipped(x):
    return np.sum(np.clip(np.log(np.abs(x)), -5.0, None))


def largest(x):
    return np.max(np.sqrt(x)[1:]) + np.sqrt(x)[1:].max(axis=0)


def replaced(x):
    y = np.log(x)
    y[x <= 0.0] = 0.0
    return np.sum(y * y)


def zeroed(x):
    y = np.sqrt(x)
    y[0] = 1.0
    y[1] = 2.0
    return np.sum(np.sin(y))


def gathered(x):
    return np.sum(np.take(np.sqrt(x), [2, 4, 4]))


def in_helper(x):
    return np.sum(np.where(x > 0.0, _inner(x), 0.0))


def _inner(x):
    return np.sqrt(x) * x


def mean_of_some(x):
    return np.mean(np.sqrt(x), where=x > 0.0) + np.mean(x * np.log(x), where=x > 0.2)


def spread_of_some(x):
    return np.var(np.log(x), where=x > 0.0) + np.std(np.sqrt(x), where=x > 0.2)


def without_some(x):
    return np.sum(np.delete(np.sqrt(x), [0, 1])) + np.sum(np.insert(np.log(x), 2, 3.0)[3:])


def partitioned(x):
    return np.sum(np.partition(np.log(np.maximum(x, 0.0)), 2)[2:])


def differences(x):
    return np.sum(np.diff(np.sqrt(np.maximum(x, 0.0)))[2:] ** 2) + np.sum(np.ediff1d(np.log(x))[2:] ** 2)


def middle(x):
    return np.median(np.sqrt(np.maximum(x, 0.0)))


FUNCTIONS = [
    mean_of_some, spread_of_some, without_some, partitioned, differences, middle,
    entropy, root, named, observed, nested, in_a_loop, inverse, shared, written, elu, own_condition, indexed, sliced,
    chosen, clipped, largest, replaced, zeroed, gathered, in_helper,
]  # fmt: skip


def taken(function: Any, x: np.ndarray = X) -> np.ndarray:
    """The gradient by central differences: at these points each element is on one side."""
    steps = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
    return np.array([(function(x + step) - function(x - step)) / 2e-6 for step in steps]).reshape(x.shape)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_gradients_are_those_of_the_branch_that_is_taken(function: Any) -> None:
    value, found = srcgrad.value_and_grad(function)(X)
    assert value == function(X) and np.isfinite(found).all(), found
    away = ~np.isin(X, (0.0, 1.0))  # where sides meet
    np.testing.assert_allclose(found[away], taken(function)[away], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(srcgrad.jvp(function, (X,), (np.ones(5),))[1], np.sum(found), rtol=1e-12)
    seeded = srcgrad.vjp(function, X)[1](2.0)[0]
    np.testing.assert_array_equal(seeded, 2.0 * found)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_second_derivatives_are_finite_and_agree(function: Any) -> None:
    full = srcgrad.hessian(function)(X)
    assert np.isfinite(full).all()
    np.testing.assert_allclose(srcgrad.hvp(function)(X, np.ones(5)), full.sum(axis=1), rtol=1e-12)
    twice = srcgrad.grad(lambda x: np.sum(srcgrad.grad(function)(x)))(X)
    np.testing.assert_allclose(twice, full.sum(axis=0), rtol=1e-12)
    over = srcgrad.grad(lambda x: srcgrad.jvp(function, (x,), (np.ones(5),))[1])(X)
    np.testing.assert_allclose(over, full.sum(axis=0), rtol=1e-12)
    check_grads(function, (np.array([0.3, 0.6, 3.0, 2.0, 1.4]),), order=2)


def triangle(x):
    r = np.sqrt(np.sum((x[:, None] - x) ** 2, axis=-1))
    r[r > 0.0] = 1.0 / r[r > 0.0]
    return np.sum(np.triu(r, 1))


def filled(x):
    r = np.sqrt(np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1))
    np.fill_diagonal(r, 1.0)
    return np.sum(1.0 / r**6 - np.exp(-r))


def pairs(x):
    i, j = np.triu_indices(4, 1)
    r = np.sqrt(np.sum((x[:, None] - x) ** 2, axis=-1))[i, j]
    return np.sum(1.0 / r)


def off_diagonal(x):
    r = np.sqrt(np.sum((x[:, None] - x) ** 2, axis=-1))
    return np.sum(1.0 / r[~np.eye(4, dtype=bool)])


def lower(x):
    d = x[:, None] - x
    return np.sum(np.tril(1.0 / np.sqrt(np.sum(d * d, axis=-1)), -1))


def measured(x):
    r = np.linalg.norm(x[:, None] - x[None], axis=-1)
    return np.sum(np.where(r > 0.0, np.exp(-r) / r, 0.0))


def in_two_loops(x):
    r = np.sqrt(np.sum((x[:, None] - x) ** 2, axis=-1))
    total = 0.0
    for i in range(4):
        for j in range(i):
            total = total + 1.0 / r[i, j]
    return total


def diagonal_by_a_loop(x):
    r = np.sqrt(np.sum((x[:, None] - x) ** 2, axis=-1))
    for i in range(4):
        r[i, i] = 1.0
    return np.sum(1.0 / r)


PAIRS = [triangle, filled, pairs, off_diagonal, lower, measured, in_two_loops, diagonal_by_a_loop]


@pytest.mark.parametrize("function", PAIRS, ids=lambda one: one.__name__)
def test_energies_of_pairs_whose_diagonal_is_left_out(function: Any) -> None:
    gradient = srcgrad.grad(function)
    np.testing.assert_allclose(gradient(POINTS), taken(function, POINTS), rtol=1e-5)
    steps = np.linspace(-1.0, 1.0, 8).reshape(4, 2)
    near = [gradient(POINTS + h * steps) for h in (1e-6, -1e-6)]
    second = srcgrad.hvp(function)(POINTS, steps)
    np.testing.assert_allclose(second, (near[0] - near[1]) / 2e-6, rtol=1e-5, atol=1e-6 * np.abs(second).max())


def test_zeros_that_are_numbers_are_no_masks() -> None:
    zero = np.zeros(2)
    assert np.isnan(srcgrad.grad(lambda x: np.sum(np.sqrt(x) ** 2))(zero)).all()
    assert np.isnan(srcgrad.grad(lambda x: np.sum(0.0 * np.sqrt(x)))(zero)).all()
    assert np.isnan(srcgrad.grad(lambda x: np.sum(np.where(x >= 0.0, 0.0 * np.sqrt(x), 1.0)))(zero)).all()
    assert np.isinf(srcgrad.grad(lambda x: np.sum(np.where(x >= 0.0, np.sqrt(x), 1.0)))(zero)).all()
    both = srcgrad.grad(lambda x: np.sum(np.where(x > 0.0, np.sqrt(x), 0.0)) + np.sum(0.0 * np.sqrt(x)))
    assert np.isnan(both(zero)).all(), "the second sum reads every element"


QUIET = [
    lambda x: np.sum(np.where(x > 0.0, np.sqrt(x), 0.0)),
    lambda x: np.sum(np.where(np.sqrt(x) > 0.0, np.sqrt(x) + x**0.5, 0.0)),
    lambda x: np.sum(np.sqrt(x)[1:]),
    lambda x: np.sum(np.where(x < 1.0, np.arcsin(x) + np.arccos(x), 0.0)),
    lambda x: np.sum(np.where(x > 0.0, np.cbrt(x) * x**0.3, x)),
    lambda x: np.sum(np.triu(np.sqrt(np.abs(x[:, None] - x)), 1)),
]


@pytest.mark.parametrize("function", QUIET)
def test_no_warning_that_the_function_itself_does_not_give(function: Any) -> None:
    x = np.array([0.0, 0.5, 1.0])
    with np.errstate(all="raise"):
        function(x)
        assert np.isfinite(srcgrad.grad(function)(x)).sum() >= 2


def test_the_text_has_the_mask_in_plain_sight() -> None:
    text = srcgrad.source(root)
    assert "/ np.where(x <= 0.0, 1.0, np.sqrt(x))" in text, text


def test_chains_that_stay_finite_have_no_mask() -> None:
    def smooth(x):
        return np.sum(np.where(x > 0.0, np.sin(x) * x + np.tanh(x) ** 2, np.cos(x) / 2.0)[1:])

    assert srcgrad.source(smooth).count("np.where") == 3 + 1, srcgrad.source(smooth)
    assert "mask_" not in srcgrad.source(smooth)


def test_shapes_dtypes_and_numbers() -> None:
    def mixed(x, y):
        return np.sum(np.where(x > 0.0, y / x, 0.0))

    given = srcgrad.grad(mixed, (0, 1))
    x, y = np.array([[0.0], [2.0]], np.float32), np.ones(3, np.float32)
    x_bar, y_bar = given(x, y)
    assert x_bar.dtype == y_bar.dtype == np.float32
    assert x_bar.tolist() == [[0.0], [-0.75]] and y_bar.tolist() == [0.5] * 3
    assert given(np.zeros((0, 1)), np.ones(3))[1].tolist() == [0.0] * 3
    assert srcgrad.grad(lambda x: np.where(x > 0.0, np.sqrt(x), 0.0))(0.0) == 0.0


def overflowing(x):
    return np.sum(np.where(x > 0.0, 1.0 / (1.0 + np.exp(-x)), np.exp(x) / (1.0 + np.exp(x))))


def gaps(x):
    return np.nansum((np.sin(x) - np.array([1.0, np.nan, 2.0])) ** 2)


def nan_itself(x):
    return np.nansum(x**2) + np.sum(np.where(np.isnan(x), 0.0, x * x))


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (overflowing, np.array([1000.0, -1000.0, 0.5])),
        (gaps, np.array([0.3, 0.4, 0.5])),
        (nan_itself, np.array([np.nan, 0.4, 0.5])),
    ],
)
def test_overflow_and_gaps_in_data(function: Any, x: np.ndarray) -> None:
    found = srcgrad.grad(function)(x)
    forward = [float(srcgrad.jvp(function, (x,), (one,))[1]) for one in np.eye(3)]
    np.testing.assert_allclose(found, forward, rtol=1e-12)
    assert np.isfinite(srcgrad.hvp(function)(x, np.ones(3))).all()


def quotients(x, w):
    a = np.sum(np.log(x + w))
    b = np.sum((x / w) ** 2)
    return a * b


def test_what_a_gradient_adds_to_in_place_is_not_what_its_derivative_reads() -> None:
    x, w = np.array([0.2, 0.3, 1.0, 2.5]), np.array([0.3, 0.4, 1.1, 2.6])
    found = srcgrad.grad(lambda w: np.sum(srcgrad.grad(quotients)(x, w)))(w)
    steps = 1e-6 * np.eye(4)
    due = [np.sum(srcgrad.grad(quotients)(x, w + h) - srcgrad.grad(quotients)(x, w - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(found, due, rtol=1e-6)


@pytest.mark.parametrize("function", [written, zeroed, in_a_loop, entropy, in_two_loops], ids=lambda one: one.__name__)
def test_compiled_loops(function: Any) -> None:
    pytest.importorskip("numba")
    x = POINTS if function is in_two_loops else X
    np.testing.assert_allclose(srcgrad.grad(function, target="numba")(x), srcgrad.grad(function)(x), rtol=1e-12)


def test_kernels() -> None:
    found = srcgrad.grad(nested, target="opencl")(X)
    np.testing.assert_allclose(found, srcgrad.grad(nested)(X), rtol=1e-12)


def test_text_alone(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "import numpy as np\n\ndef f(x):\n    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))\n"
    )
    text = dump(f"{tmp_path / 'm.py'}:f").text
    assert "/ np.where(t, np.sqrt(x), 1.0)" in text, text


def test_loops_with_checkpoints_blocks_and_methods() -> None:
    def few(x):
        y = x
        for _ in srcgrad.checkpointed(range(2), slots=1):
            y = y + np.where(y > 0.5, np.sqrt(y - 0.5), 0.1 * y)
        return np.sum(y)

    class Model:
        def loss(self, x):
            return np.sum(np.where(x > 0.0, x * np.log(x), 0.0))

    np.testing.assert_allclose(srcgrad.grad(few)(X), srcgrad.grad(in_a_loop)(X), rtol=1e-14)
    assert srcgrad.grad(srcgrad.blocked(entropy, over="x", rows=2))(X).tolist() == srcgrad.grad(entropy)(X).tolist()
    assert srcgrad.grad(Model().loss)(X).tolist() == srcgrad.grad(entropy)(X).tolist()
    assert srcgrad.grad(srcgrad.checkpoint(entropy))(X).tolist() == srcgrad.grad(entropy)(X).tolist()


def test_safe_where_is_deprecated_and_changes_nothing() -> None:
    with pytest.warns(DeprecationWarning, match="changes nothing"):
        assert srcgrad.safe_where(entropy) is entropy


def selected_number(x):
    return np.select([x != 0.0], [np.log(x)], x)


def chosen_number(x):
    return np.where(x > 0.0, np.log(x) + np.arctanh(x), x)


def divided_number(x):
    return np.where(x > 0.0, 1.0 / np.sqrt(x), 3.0 * x)


@pytest.mark.parametrize("function, expected", [(selected_number, 1.0), (chosen_number, 1.0), (divided_number, 3.0)])
def test_numbers_of_python_have_masks(function: Any, expected: float) -> None:
    """Where a rule divides by `np.divide`, since `/` of Python's numbers raises at 0."""
    assert srcgrad.grad(function)(0.0) == expected
    assert srcgrad.hvp(function)(0.0, 1.0) == 0.0
    near = (function(0.5 + 1e-6) - function(0.5 - 1e-6)) / 2e-6
    np.testing.assert_allclose(srcgrad.grad(function)(0.5), near, rtol=1e-8)


def remainders(x):
    return np.sum(np.where(x != 0.0, 1.1 % x, x)) + np.sum(np.where(x == 0.0, 0.0, np.remainder(np.exp(x), x)))


def remainder_in_place(x):
    y = 2.0 + x
    y %= x
    y %= np.sin(x)
    return np.sum(np.where(x != 0.0, y, x))


def whole_quotients(x):
    t = np.sin(x) * (2.2 // x) + x * np.floor_divide(1.7, x)
    return np.sum(np.where(x == 0.0, x, t))


def divided_by_a_remainder(x):
    r = np.cos(x) / (x % 0.3)
    return np.sum(np.where(x == 0.0, x, r))


def remainder_of_a_branch(a):
    a = np.where(a, a, a)
    s = 0.5
    s %= a
    return np.sum(np.where(a == 0.0, a, s))


@pytest.mark.parametrize(
    "function", [remainders, remainder_in_place, whole_quotients, divided_by_a_remainder, remainder_of_a_branch]
)
def test_remainders_and_whole_quotients_by_nothing(function: Any) -> None:
    x = np.array([0.0, 0.45, 0.7])
    found = srcgrad.grad(function)(x)
    steps = 1e-6 * np.eye(3)
    near = np.array([(function(x + step) - function(x - step)) / 2e-6 for step in steps])
    np.testing.assert_allclose(found[1:], near[1:], rtol=1e-6)
    assert found[0] in (0.0, 1.0)
    np.testing.assert_allclose(srcgrad.jvp(function, (x,), (np.ones(3),))[1], np.sum(found), rtol=1e-12)
    assert np.isfinite(srcgrad.hvp(function)(x, np.ones(3))).all()


def through_a_view(x):
    y = np.sqrt(x)
    v = y[:1]
    v[:] = 1.0
    return np.sum(y * y * y)


def through_a_strided_view(x):
    y = np.sqrt(x)
    y[::2][0] = 2.0
    return np.sum(np.exp(y))


def through_a_row(x):
    y = np.log(np.stack([x, x + 1.0]))
    y[0][0] = 0.5
    y.T[0][0] *= 1.0
    return np.sum(y * y)


def through_two_views(x):
    y = 1.0 / x
    v = y[:2]
    w = v[:1]
    w[0] = x[1]
    return np.sum(np.where(y > 0.0, y, 0.0) ** 2)


@pytest.mark.parametrize("function", [through_a_view, through_a_strided_view, through_a_row, through_two_views])
def test_elements_that_are_overwritten_through_a_view(function: Any) -> None:
    x = np.array([0.0, 0.4, 2.0])
    found = srcgrad.grad(function)(x)
    steps = 1e-6 * np.eye(3)
    near = np.array([(function(x + step) - function(x - step)) / 2e-6 for step in steps])
    np.testing.assert_allclose(found[1:], near[1:], rtol=1e-6)
    assert np.isfinite(found[0])
    np.testing.assert_allclose(srcgrad.jvp(function, (x,), (np.ones(3),))[1], np.sum(found), rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_a_condition_that_changes_after_it_was_read():
    """The mask is the one that the function read, by a copy where it is written into later."""

    def f(x):
        m = x > 0.5
        z = np.sqrt(x - 0.5)
        y = np.where(m, z, 0.0)
        w = y * z * x
        m[0] = True
        v = np.where(m, w, 1.0)
        m[:] = False
        return np.sum(np.where(np.isnan(v), 0.0, v)) + np.sum(y)

    check_grads(f, (np.array([0.3, 0.7, 0.9]),), order=1)


@pytest.mark.parametrize("columns", [slice(None), 0])
def test_a_mask_of_one_product_of_all_elements_fits_them(columns: Any) -> None:
    """The mask of a number was given the shape of the matrix."""

    def bounded(x: np.ndarray, s: np.ndarray) -> Any:
        t = (x / s)[:, columns]
        return np.maximum(np.vdot(t, t), 2.0) + np.maximum(np.vdot(x, np.ones(4)), 9.0)

    x = np.array([[0.5, -1.0], [2.0, 0.3]])
    check_grads(bounded, (x, np.array([[0.9, 1.1]])), order=1, modes=("reverse", "forward"))
