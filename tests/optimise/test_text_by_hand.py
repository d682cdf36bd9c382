"""Text as a person writes it: what would be struck out is not there, and the numbers are the same."""

import numpy as np
import pytest

import srcgrad
from srcgrad import pipeline
from srcgrad.optimise.algebra import simplify
from srcgrad.runtime import check_sequences


def column(x, w):
    t = np.sum(x * x, axis=1)[:, None]
    return np.sum(np.tanh(t * w)[:, :, None] * x[:, :, None] ** 2) + np.sum(t[..., None])


def alone(x, w):
    return np.sum(x[..., None] * w)


def written(x, w):
    y = np.zeros(3)
    y[1:] = x[0]
    column = y[:, None]
    y[0] = 5.0
    return np.sum(column * w)


def both(x, w):
    return np.sum(x[:, None] * w) + np.sum(x[1:] ** 3) + np.sum(x[None, :] * x[:, None])


POINT = np.random.default_rng(0).standard_normal((3, 2))
CASES = [
    (column, (POINT, 0.3), 2),
    (alone, (np.array(0.7), np.array([1.0, 2.0])), 2),
    (alone, (POINT[:0], np.array([1.0, 2.0])), 1),
    (alone, (POINT[::2].T, np.array([1.0, 2.0])), 2),
    (written, (POINT, np.array([1.0, 2.0])), 1),
    (both, (POINT[:, 0], np.array([1.0, 2.0])), 2),
]


@pytest.mark.parametrize(
    ("function", "args", "order"), CASES, ids=[f"{f.__name__} {k}" for k, (f, *_) in enumerate(CASES)]
)
def test_an_axis_that_is_added_is_taken_off_again(function, args, order):
    srcgrad.check_grads(function, args, order=order)


def test_the_adjoint_of_an_added_axis_is_no_array_of_zeros():
    text = srcgrad.source(column, wrt="x")
    assert "zeros_like" not in text
    assert "[:, 0][:, None]" not in text


def test_a_gradient_is_no_view_of_another():
    x = np.array([1.0, 2.0])
    one, two = srcgrad.grad(lambda a, b: np.sum((a[:, None] + b[:, None]) ** 2), wrt=(0, 1))(x, x)
    one[0] = 7.0
    assert two.tolist() == [4.0, 8.0]


def test_none_is_a_key_like_any_other():
    assert srcgrad.grad(lambda p: p[None] * p["a"])({None: 2.0, "a": 3.0}) == {None: 3.0, "a": 2.0}


def rates(x, y, a):
    """Sums and products alone."""
    both = a * x * y
    return x - both, both - y / a


def steps(x, y, a, n):
    for _ in range(n):
        u, v = rates(x, y, a)
        x, y = x + 0.1 * u, y + 0.1 * v
    return x * y


def nested(x, a, n):
    y = x
    while n > 0:
        for k in range(n):
            if k % 2 == 0:
                y, x = rates(rates(y, x, a)[0], a, x + y)
        n = n - 1
    return y + x


def of_arrays(x, y, a, n):
    x = x.copy()
    for k in range(n):
        u, y = rates(x, y, a[k])
        x[0] = 2.0 * y[1]
        x[1] = u[0]
    return np.sum(x * y)


def once(x, y, a):
    u, v = rates(x, y, a)
    return u * v


def test_a_function_of_sums_and_products_is_computed_again_backwards():
    text = srcgrad.source(steps, wrt=("x", "y", "a"))
    assert "rates_pull(" in text and "rates_back" not in text
    assert "u, v = rates(x, y, a)" in text


def test_outside_of_loops_it_keeps_its_products():
    assert "rates_back" in srcgrad.source(once)


@pytest.mark.parametrize(
    ("function", "args", "order"),
    [
        (steps, (1.1, 0.7, 0.4, 3), 2),
        (steps, (1.1, 0.7, 0.4, 0), 1),
        (steps, (np.array([1.1, 0.2]), np.array([0.7, 0.6]), 0.4, 2), 2),
        (nested, (1.1, 0.7, 3), 1),
    ],
)
def test_its_derivatives_are_right(function, args, order):
    srcgrad.check_grads(function, args, order=order)


def test_what_changes_in_place_is_kept_for_it():
    args = (np.array([1.1, 0.2]), np.array([0.7, 0.6]), np.array([0.4, 0.5, 0.6]), 3)
    srcgrad.check_grads(of_arrays, args, order=1)


def products(x, c):
    a = np.sum(0.5 * (2.0 * x) ** 2)
    return 3.0 * np.sum((4.0 * x[1:] - c) ** 3) + 0.25 * a - np.sum((0.1 * x * 0.3) ** 2)


def whole(x, k):
    return 0.5 * np.sum(x * k * 2.0)


def test_constant_factors_are_one():
    text = srcgrad.source(lambda x: 100.0 * np.sum(x**2))
    assert "200.0" in text and "100.0 * 2.0" not in text
    assert "0.5 * 2.0" not in srcgrad.source(products, wrt="x")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_merged_factors_change_no_bit(dtype, monkeypatch):
    x = np.random.default_rng(0).standard_normal(50).astype(dtype)
    one = srcgrad.grad(products)(x, 0.3)
    plain = tuple(each for each in pipeline.REVERSE if each.run is not simplify)
    monkeypatch.setitem(pipeline.MODES, "reverse", plain)
    other = srcgrad.grad(products)(x, 0.3)
    assert one.dtype == other.dtype == dtype
    assert one.tobytes() == other.tobytes()


def test_a_factor_of_one_goes_only_where_the_rest_is_a_float():
    found = srcgrad.grad(whole)(np.array([1.0, 2.0]), np.array([3, 4]))
    assert found.dtype == np.float64 and found.tolist() == [3.0, 4.0]


def bell(x):
    return np.sum(np.exp(-x * x))


def test_the_negative_of_a_square_is_one():
    text = srcgrad.source(bell)
    assert "x_bar = -y_bar * 2.0 * np.exp(-x * x) * x" in text
    srcgrad.check_grads(bell, (POINT,), order=2)
    srcgrad.check_grads(bell, (0.4,), order=2)


def test_a_length_is_that_of_what_stands_inside_of_arithmetic():
    text = srcgrad.source(lambda x: np.mean(2.0 * np.sin(-x)))
    assert "count(x)" in text
    doubled = srcgrad.grad(lambda x, c: np.mean(2 * [c][0]) + x, wrt="x")
    assert doubled(1.0, [1.0, 2.0]) == 1.0


def paired(w, xs, ys):
    h = 0.0
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        h = np.tanh(w * x + h) * y + k
    return h


def mean_square(x):
    u = np.sin(x)
    u[0] = 0.0
    return np.mean(u**2)


def listed(x):
    out = [x[0]]
    for k in range(3):
        out.append(np.tanh(out[-1] * x[k]))
    out.append(x[1])
    return np.mean(np.stack(out) ** 2)


X = np.array([0.3, -0.2, 0.7])
BY_HAND = [  # what stands in the text, and what does not
    (paired, (0.4, X, [0.5, 0.2, 0.9]), ("x = xs[k]",), ("h, x", "y_stack")),
    (mean_square, (X,), ("count(u)",), ("np.array(",)),
    (listed, (X,), ("+= out_bar.pop()", "count(t2) * t2"), ()),
]


@pytest.mark.parametrize(("function", "args", "has", "has_not"), BY_HAND, ids=[f.__name__ for f, *_ in BY_HAND])
def test_no_line_is_there_that_a_person_would_strike_out(function, args, has, has_not):
    srcgrad.check_grads(function, args, order=2, wrt=0)
    _, _, text = srcgrad.source(function, wrt=0).partition('"""\n')
    assert all(part in text for part in has)
    assert not any(part in text for part in has_not)


class Labelled:
    """A sequence that is gone through in one order, and looked up in another."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return reversed(self.items)

    def __getitem__(self, label):
        return self.items[label]


def test_what_is_labelled_otherwise_than_gone_through_is_refused():
    def f(w, xs):
        h = 0.0
        for x in xs:
            h = np.tanh(w * x + h)
        return h

    with pytest.raises(srcgrad.DifferentiationError, match=r"pass `list\(x\)`"):
        srcgrad.grad(f)(0.4, Labelled(0.1, 0.2))
    assert srcgrad.grad(f)(0.4, Labelled(0.2, 0.2)) == srcgrad.grad(f)(0.4, [0.2, 0.2])
    long = np.arange(5000.0)  # whose text says no element in the middle
    with pytest.raises(TypeError, match=r"pass `list\(x\)`"):
        check_sequences(Labelled(long, np.where(long == 2500.0, 0.0, long)))
    check_sequences(Labelled(long, long.copy()), Labelled((1.0, np.nan), (1.0, np.nan)))
