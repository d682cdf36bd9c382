"""What NumPy itself computes: dtypes of values and gradients, integers that cut off, conjugates, branches."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import linalg

from srcgrad import DifferentiationError, check_grads, grad, jvp, vjp
from srcgrad.interface.dump import dump

SINGLE = np.array([0.6, 0.9, 1.7], np.float32)
CALLS = {
    "i0": lambda x: np.i0(9.0 * x),
    "cov": lambda x: np.cov(x, x * x),
    "cov of rows": lambda x: np.cov(np.stack([x, x * x]), bias=True, fweights=[1, 2, 1]),
    "corrcoef": lambda x: np.corrcoef(x, x**2),
    "geomspace": lambda x: np.geomspace(x[0], x[1], 4),
    "geomspace of arrays": lambda x: np.geomspace(x[:2], x[1:], 3, axis=1),
    "insert": lambda x: np.insert(x, 1, 2.0),
    "insert of doubles": lambda x: np.insert(x, [0, 2], np.array([1.0, 2.0])),
    "pad": lambda x: np.pad(x, 1, constant_values=0.5),
    "kaiser": lambda x: np.kaiser(5, x[1]),
    "linspace": lambda x: np.linspace(x[0], x[1], 3),
    "logspace": lambda x: np.logspace(x[0], x[1], 3),
    "average": lambda x: np.average(x, weights=x),
    "median": lambda x: np.median(x),
    "sinc": lambda x: np.sinc(x),
    "ediff1d": lambda x: np.ediff1d(x, to_end=np.array([1.0, 2.0]), to_begin=-99.5),
    "quantile": lambda x: np.quantile(x, 0.3),
    "quantiles": lambda x: np.quantile(x, [0.3, 0.8]),
    "a percentile": lambda x: np.percentile(x, np.float64(30.0)),
    "percentiles": lambda x: np.nanpercentile(x, np.array([30.0, 80.0], np.float32)),
}


@pytest.mark.parametrize("f", CALLS.values(), ids=CALLS.keys())
def test_single_precision(f):
    """The value has NumPy's dtype and bits to rounding, the gradient the argument's, in both modes."""
    y, back = vjp(f, SINGLE)
    value, y_dot = jvp(f, (SINGLE,), (SINGLE,))
    found = back(np.ones_like(y))[0]
    assert np.asarray(y).dtype == np.asarray(value).dtype == np.asarray(f(SINGLE)).dtype
    np.testing.assert_allclose(y, f(SINGLE), rtol=1e-6)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.sum(y_dot), np.sum(found * SINGLE), rtol=2e-5, atol=1e-5)


CUT = {
    "insert": lambda y: np.insert(np.arange(3), 1, y) * y,
    "insert of several": lambda y: np.insert(np.arange(3), [0, 2], [y, 3.0 * y]) * y,
    "pad": lambda y: np.pad(np.arange(3), 1, constant_values=y) * y,
    "pad by two": lambda y: np.pad(np.arange(3), 1, constant_values=(y, 2.0 * y)) * y,
    "full_like": lambda y: np.full_like(np.arange(3), y) * y,
    "asarray": lambda y: np.asarray(y, dtype=int) * y,
    "cumsum": lambda y: np.cumsum(y * np.arange(1.0, 4.0), dtype=int)[2] * y,
    "cumsum, a method": lambda y: (y * np.arange(1.0, 4.0)).cumsum(dtype=np.int32)[2] * y,
    "cumprod": lambda y: np.cumprod(y * np.arange(1.0, 4.0), dtype=int)[1] * y,
    "prod": lambda y: np.prod(y * np.arange(1.0, 4.0), dtype=np.int64) * y,
    "trace": lambda y: np.trace(y * np.ones((2, 2)), dtype=int) * y,
    "astype": lambda y: (y * np.ones(2)).astype(np.int64) * y,
}


@pytest.mark.parametrize("f", CUT.values(), ids=CUT.keys())
def test_integers_cut_off_and_carry_nothing(f):
    y, back = vjp(f, 2.6)
    np.testing.assert_array_equal(y, f(2.6))
    moved = (np.sum(f(2.6 + 1e-6)) - np.sum(f(2.6 - 1e-6))) / 2e-6
    np.testing.assert_allclose(back(np.ones_like(y))[0], moved, rtol=1e-8)
    np.testing.assert_allclose(np.sum(jvp(f, (2.6,), (1.0,))[1]), moved, rtol=1e-8)


COUNTS = np.array([1, 2, 4, 8])
BETWEEN = [
    lambda q: np.quantile(COUNTS, q),
    lambda q: np.quantile([1, 2, 4, 8], q, method="weibull") * q,
    lambda q: np.percentile(COUNTS, 100.0 * q),
    lambda q: np.nanquantile(COUNTS.reshape(2, 2), [q, 0.5 * q], axis=1),
]


@pytest.mark.parametrize("f", BETWEEN)
def test_quantiles_lie_between_integers(f):
    """The place among them was cut off to one of them."""
    check_grads(f, (0.3,), order=1)


@pytest.mark.parametrize("x", [2.5, np.array(2.5), np.float64(2.5)])
@pytest.mark.parametrize("axis", [0, -1, (), None])
def test_products_of_numbers_along_an_axis(x, axis):
    """NumPy takes the first and the last axis of what has none."""
    check_grads(lambda x: np.prod(x, axis=axis) * x + np.nanprod(x * x, axis=axis, keepdims=True), (x,), order=2)


@pytest.mark.parametrize("dtype", [int, np.int64, "int32", bool])
def test_sums_and_means_as_integers_are_refused_where_they_count(dtype):
    def total(v):
        return np.sum(3.0 * v, dtype=dtype) * v[0]

    def middle(v):
        return v[0] * np.mean(v * v, dtype=dtype)

    def place(v):
        return v[np.sum(2.0 * v, dtype=int)]

    for f in (total, middle):
        with pytest.raises(DifferentiationError, match="E5001"):
            grad(f)(np.array([0.3, 0.9]))
    assert grad(place)(np.array([0.3, 0.9])).tolist() == [0.0, 1.0]


ROWS = np.array([[0.3 + 0.2j, -0.4 + 0.7j], [0.9 - 0.1j, 0.2 + 0.4j], [0.5 - 0.6j, 0.1j]])
CONJUGATED = {
    "vecmat": lambda t: np.vecmat((ROWS * (1.0 + 1j * t))[:, 0], ROWS),
    "vecmat of a stack": lambda t: np.vecmat(ROWS * np.exp(1j * t), np.stack([ROWS[:2], ROWS[1:], ROWS[::2]])),
    "vecmat, the matrix moves": lambda t: np.vecmat(ROWS[:, 0], ROWS * np.exp(1j * t)),
    "matvec": lambda t: np.matvec(ROWS * np.exp(1j * t), ROWS[:2, 0] * t),
    "vecdot": lambda t: np.vecdot(ROWS * np.exp(1j * t), ROWS),
    "cov": lambda t: np.cov(ROWS * np.array([1.0, np.exp(1j * t)])),
    "cov of two": lambda t: np.cov(ROWS[0] * t, ROWS[1] * np.exp(2j * t)),
    "corrcoef": lambda t: np.corrcoef(ROWS[:, :2] @ ROWS[:2] * np.array([1.0, np.exp(1j * t)])),
}


@pytest.mark.parametrize("f", CONJUGATED.values(), ids=CONJUGATED.keys())
def test_products_that_conjugate(f):
    np.testing.assert_allclose(vjp(f, 0.3)[0], f(0.3), rtol=1e-14)
    check_grads(f, (0.3,), order=2)


@pytest.mark.parametrize("f", [np.arccosh, np.arcsin, np.arccos, np.arctanh, np.arcsinh, np.arctan, np.log, np.sqrt])
@pytest.mark.parametrize("a", [-2.3, -0.4, 0.4, 2.3])
@pytest.mark.parametrize("b", [0.7, -0.7, 1e-9, -1e-9])
def test_branches(f, a, b):
    """In all quadrants, and on either side of a cut near to it: along the real axis."""

    def moved(t):
        return f(t + 1j * b)

    step = 1e-5
    expected = (moved(a + step) - moved(a - step)) / (2.0 * step)
    np.testing.assert_allclose(jvp(moved, (a,), (1.0,))[1], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("f", [np.arccosh, np.arcsin, np.arccos, np.arctanh, np.log, np.sqrt])
@pytest.mark.parametrize("a", [-2.3, 2.3])
def test_points_on_a_cut(f, a):
    """Along the cut the value is smooth: the derivative is that of the side on which NumPy's value lies."""

    def along(t):
        return f(t + 0j)

    step = 1e-5
    expected = (along(a + step) - along(a - step)) / (2.0 * step)
    np.testing.assert_allclose(jvp(along, (a,), (1.0,))[1], expected, rtol=1e-8, atol=1e-8)


PLACES = [0, 1, -1, [1], [0, 2], slice(0, 2), np.array([True, False]), [2, 0, 0]]


@pytest.mark.parametrize(
    "obj, axis", [(obj, (None, 0, 1, -1)[(k + j) % 4]) for k, obj in enumerate(PLACES) for j in (0, 1)]
)
def test_insert(obj, axis):
    """Whatever NumPy takes: several rows at one place, one row at several, values that broadcast."""
    x = np.arange(6.0).reshape(2, 3) ** 1.5
    taken = 0

    def f(x, y):
        return np.insert(x, obj, y, axis)

    for shape in [(), (1,), (2,), (3,), (1, 3), (2, 1), (2, 2), (2, 3), (3, 2)] if axis in (None, 0) else [(), (2, 1)]:
        y = np.linspace(1.0, 2.0, int(np.prod(shape))).reshape(shape)
        try:
            np.insert(x, obj, y, axis)
        except (ValueError, IndexError):
            continue
        taken += 1
        np.testing.assert_array_equal(vjp(f, x, y)[0], f(x, y))
        check_grads(f, (x, y), order=1, directions=1)
    assert taken


def test_a_dtype_that_is_known_when_it_runs():
    """A sum in the dtype of another argument: of floats as always, of integers refused."""

    def f(x, k):
        return np.sum(x * np.arange(1.0, 4.0), dtype=k.dtype) * x

    check_grads(f, (1.3, np.ones(2)), order=1, wrt=0)
    for call in (lambda: vjp(f, 1.3, np.arange(2), wrt=0), lambda: jvp(f, (1.3, np.arange(2)), (1.0, None))):
        with pytest.raises(DifferentiationError, match="E5001"):
            call()


def _a_buffer(x):
    k = np.zeros(3, int)
    k[0] = 9 * x[1]
    return np.sum(k * x)


def _a_buffer_like_floats(x):
    k = np.empty_like(x, dtype=int)
    k[:] = x * 3.0
    return np.sum(k * x**2)


def _a_sum(x):
    return np.prod(4.0 * x, dtype=int) * np.prod(x) + np.linspace(x[0], 9.0 * x[1], 3, dtype=int) @ x


def _a_part(x):
    k = np.zeros((3, 3), dtype="int32")
    k.T[0] = x * 4.0
    k[1] += (x * 3.0).astype(np.int32)
    np.fill_diagonal(k, x * 5.0)
    return np.sum(k @ x)


def _literals(x):
    k, i = np.array([1, 2, 3]), np.argsort(x)
    k[1:] = k[1:] + x[1]
    i[0] = 4.0 * x[1]
    return np.sum(k * x) + np.sum(i * x**2)


def _trips(x):
    k = np.zeros(3, dtype=int)
    for i in range(3):
        k = k + 1
        k[i] = 3.0 * x[i]
        x = x * k
    return np.sum(k * x**2)


def _flags(x):
    k = np.zeros(3, bool)
    k[0] = x[0]
    return np.sum(k * x)


def _floats_again(x):
    k = np.zeros(3, int)
    k[0] = 4.0 * x[1]
    k = k * 1.0
    k[1] = x[0]
    return np.sum(k * x)


def _a_product(x):
    n = np.prod(np.array([1.0, 2.0, 3.0]) * x, dtype=int)
    return np.sum(n * x) + np.sum(np.full(3, x[1], dtype=int) * x) + np.add.reduce(3.0 * x, dtype=int) * x[0]


BUFFERS = [
    _a_buffer, _a_buffer_like_floats, _a_sum, _a_part, _literals, _trips, _flags, _floats_again, _a_product,
]  # fmt: skip


@pytest.mark.parametrize("f", BUFFERS)
def test_arrays_of_integers_carry_nothing(f):
    check_grads(f, (np.array([0.43, 2.71, 1.3]),), order=2)


def _of_a_dtype(x, dtype=int):
    k = np.empty_like(x, dtype=dtype)
    k[:] = x * 4.0
    return np.sum(k * x)


def _chosen(x):
    k = np.where(x > 1.0, 1, 2)
    k[0] = x[1] * 4.0
    return np.sum(k * x)


@pytest.mark.parametrize("f", [_of_a_dtype, _chosen])
def test_writes_into_what_may_be_integers_are_looked_at(f):
    """The tangent was that of an array of floats."""
    x = np.array([0.43, 2.71, 1.3])
    with pytest.raises((TypeError, DifferentiationError), match="E5002"):
        jvp(f, (x,), (np.ones(3),))
    with pytest.raises((TypeError, DifferentiationError), match="E5002"):
        grad(f)(x)


PLACES = np.arange(4)
WHOLE = {
    "choose": lambda y: np.choose(PLACES % 2, [PLACES, y]) * y,
    "choose, a truth value": lambda y: np.choose(PLACES % 3, [PLACES, y, True]),
    "select": lambda y: np.select([PLACES > 2, PLACES > 1], [y, PLACES], 3) * y,
    "polyval at an integer": lambda y: np.polyval([y, 2, 3], 2),
    "polyval at integers": lambda y: np.polyval([1, y, 3], PLACES),
    "polyder": lambda y: np.polyder([3, y, 1]),
    "polyint": lambda y: np.polyint([3, y, 1], 2),
    "bincount": lambda y: np.bincount([0, 1, 1], weights=[y, 2.0 * y, 3]) * y,
    "bincount of cut numbers": lambda y: np.bincount([0, 1, 1], weights=(y * np.ones(3)).astype(int)) * y,
}


@pytest.mark.parametrize("f", WHOLE.values(), ids=WHOLE.keys())
def test_integers_beside_what_varies(f):
    """Integers in a list of choices, or as coefficients, carry nothing, and are no error."""
    assert vjp(f, 1.3)[0].dtype == np.asarray(f(1.3)).dtype
    check_grads(f, (1.3,), order=2)


def copied(x, n):
    z = n.copy()
    z[0] = x[0] * 9.0
    return np.sum(z * x)


def filled(x, n):
    z = n.copy()
    z.fill(x[0] * 9.0)
    return np.sum(z * x[1])


def stacked(x, n):
    z = np.stack([n, n])
    z[0] = x * 9.0
    return np.sum(z @ x)


@pytest.mark.parametrize("f", [copied, filled, stacked], ids=lambda f: f.__name__)
def test_a_dump_refuses_writes_into_integers(f):
    """What is written is cut off; the kind of `n` is not known before it runs."""
    space = {}
    exec(dump("-", text="import numpy as np\n\n\n" + inspect.getsource(f)).text, space)
    x, n = np.array([0.3, 0.8, 1.4]), np.array([1, 2, 3])
    with pytest.raises(TypeError, match="E5002"):
        space[f"{f.__name__}_grad"](x, n)
    assert len(space[f"{f.__name__}_grad"](x, n * 1.0)) == 2


@pytest.mark.parametrize(("kind", "slope"), [(int, [10.0, 0.0]), (float, [12.4, 1.5])])
def test_a_sum_of_a_dtype_that_only_a_run_knows(kind, slope):
    """Forward mode took integers for floats, which carry a derivative."""

    def f(x, kind):
        return np.sum(x * 3.0, dtype=kind) * x[0]

    x = np.array([0.5, 9.4 / 3.0])
    if kind is int:
        with pytest.raises(DifferentiationError, match=r"E500[12]"):
            grad(f)(x, kind)
    else:
        np.testing.assert_allclose(grad(f)(x, kind), np.array(slope))
    np.testing.assert_allclose(jvp(f, (x, kind), (np.ones(2), None))[1], sum(slope))


def space_of(x):
    return np


def added(x):
    xp = space_of(x)
    return np.sum(xp.sum(x * x, axis=0, dtype=x.dtype) * xp.mean(x, dtype=x.dtype))


def multiplied(x):
    xp = space_of(x)
    return xp.sum(xp.cumsum(x, axis=1, dtype=x.dtype) * xp.prod(x, axis=0, dtype=x.dtype) * xp.trace(x, dtype=x.dtype))


@pytest.mark.parametrize("f", [added, multiplied], ids=lambda f: f.__name__)
def test_a_module_that_a_call_gives_is_no_array(f):
    """`xp.prod(x, dtype=...)` was taken for a method of an array called `xp`."""
    check_grads(f, (np.array([[0.5, 0.8], [1.2, 0.7]]),), order=1)


def test_a_list_that_a_dict_gives_is_one():
    """`dict.get` is no function of arrays: a list given for what is missing was made one."""

    def f(x):
        return {"a": [x[0], x[1]]}.get("b", [x[1], x[2]])

    assert type(vjp(f, np.arange(3.0))[0]) is list
    check_grads(f, (np.array([0.3, 0.5, 0.9]),), order=2)


def test_tangents_in_the_dtype_of_the_value():
    """`scipy.linalg.det` of float32 is float64, and `lu_solve` of float32 was float64 in the tangent alone."""
    x = np.array([[1.5, 0.2], [0.3, 0.9]], np.float32)
    for f in (lambda x: linalg.det(x), lambda x: linalg.lu_solve(linalg.lu_factor(x), x[0])):
        y, y_dot = jvp(f, (x,), (x,))
        assert y.dtype == y_dot.dtype == f(x).dtype


def rows_with_a_name(x):
    rows = [[x, x * 2.0], [x**2, x]]
    return np.block(rows) ** 2


BLOCKS = [
    lambda x: np.block([[x, x * 2.0], [x**2, x]]) ** 2,
    lambda x: np.block([[[x, x**2]], [[x**3, x]]]) ** 2,
    lambda x: np.block([x, x**2]) ** 2,
    rows_with_a_name,
]


@pytest.mark.parametrize("f", BLOCKS)
def test_rows_of_blocks_are_lists(f):
    """Reverse over reverse added an array to a list by `+=`, which appends: half of the second derivative was lost."""
    check_grads(f, (np.array([0.3, 0.9, 1.7]),), order=2)


def added_to_a_number(x):
    total = np.float64(0)
    for v in x:
        total += v * v
    scale = np.float32(2)
    scale *= x[0]
    return total * scale


def test_what_a_literal_makes_is_nobody_elses():
    """`np.float64(a)` is an array `a` itself, and a number of any literal."""
    check_grads(added_to_a_number, (np.array([0.3, 0.9]),), order=2)


TRANSFORMS = {
    "rfft": lambda v: np.abs(np.fft.rfft(v)),
    "fft": lambda v: np.abs(np.fft.fft(v)),
    "irfft": lambda v: np.fft.irfft(v),
    "hfft": lambda v: np.fft.hfft(v) ** 2,
    "ihfft": lambda v: np.abs(np.fft.ihfft(v)),
    "ifft": lambda v: np.abs(np.fft.ifft(v)),
}


@pytest.mark.parametrize("f", TRANSFORMS.values(), ids=TRANSFORMS.keys())
def test_transforms_of_lists_of_real_numbers(f):
    numbers = [0.5, 1.7, 0.2, 0.3]
    check_grads(f, (numbers,))
    y, back = vjp(f, numbers)
    wanted = vjp(f, np.array(numbers))[1](np.ones_like(y))[0]
    np.testing.assert_allclose(back(np.ones_like(y))[0], wanted, rtol=1e-12)


def test_an_operation_that_takes_spacings_is_called_without_them():
    x = np.array([0.5, -1.2, 2.0, 0.7])
    np.testing.assert_allclose(vjp(np.gradient, x)[1](np.ones(4))[0], [-1.5, 0.5, -0.5, 1.5])
    rows = x.reshape(2, 2)
    ones = (np.ones((2, 2)), np.ones((2, 2)))
    np.testing.assert_allclose(vjp(np.gradient, rows)[1](ones)[0], [[-4.0, 0.0], [0.0, 4.0]])


COPIES = {
    "order": lambda x: np.array(x, order="F") ** 3,
    "of lists": lambda x: np.array([x, 2.0 * x], dtype=float, copy=None, order="C") ** 3,
    "subclasses": lambda x: np.array(x, copy=None, subok=True) ** 3,
    "asarray": lambda x: np.asarray(x, order="F", copy=True) ** 3,
    "ascontiguousarray": lambda x: np.ascontiguousarray(x, float) ** 3,
}


@pytest.mark.parametrize("f", COPIES.values(), ids=COPIES.keys())
def test_how_arrays_are_laid_out_and_copied(f):
    check_grads(f, (np.array([[0.5, -1.2], [2.0, 0.7]]),))


def test_a_list_of_an_array_in_a_dump():
    space = {}
    exec(dump("-", text="def f(x):\n    y = x.tolist()\n    return y[0] * y[1]\n").text, space)
    np.testing.assert_array_equal(space["f_grad"](np.array([2.0, 3.0])), [3.0, 2.0])
