"""`safe_where`: elements of a branch of `np.where` that is not taken have no say in derivatives."""

from __future__ import annotations

from pathlib import Path
from typing import Any  # functions of several kinds

import numpy as np
import pytest
from scipy import special

import srcgrad
from srcgrad.check import check_grads
from srcgrad.dump import dump
from srcgrad.sealed import reveal

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of values, which are computed as they stand
X = np.array([-1.0, 0.0, 0.3, 1.0, 4.0])


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


FUNCTIONS = [srcgrad.safe_where(one) for one in (entropy, root, named, observed, nested, in_a_loop, inverse)]


def taken(function: Any) -> np.ndarray:
    """The gradient by central differences: at these points each element is on one side."""
    steps = 1e-6 * np.eye(len(X))
    return np.array([(function(X + step) - function(X - step)) / 2e-6 for step in steps])


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_gradients_are_those_of_the_branch_that_is_taken(function: Any) -> None:
    value, found = srcgrad.value_and_grad(function)(X)
    assert value == function(X) and np.isfinite(found).all()
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


def test_only_marked_functions_change() -> None:
    def plain(x):
        return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))

    before = srcgrad.source(plain)
    assert np.isnan(srcgrad.grad(plain)(X)[:2]).all()
    assert srcgrad.safe_where(plain) is plain
    assert srcgrad.grad(plain)(X)[0] == 0.0
    reveal(plain)
    assert srcgrad.source(plain) == before


def test_callees_are_marked_by_themselves() -> None:
    def outer(x):
        return root(x) + np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))

    def marked(x):
        return 2.0 * root(x)

    assert np.isnan(srcgrad.grad(outer)(X)[0])
    assert srcgrad.grad(marked)(X).tolist() == (2.0 * srcgrad.grad(root)(X)).tolist()
    assert srcgrad.hvp(marked)(X, np.ones(5)).tolist() == (2.0 * srcgrad.hvp(root)(X, np.ones(5))).tolist()


@srcgrad.safe_where
def shared(x):
    r = np.sqrt(x)
    return np.sum(np.where(x > 0.0, 1.0 / r, 0.0)) + 0.0 * np.sum(r)


@srcgrad.safe_where
def written(x):
    a = x * 1.0
    r = np.sqrt(a)
    a[1:] = 2.0
    return np.sum(np.where(a > 0.0, r, 0.0))


def test_what_is_read_elsewhere_is_left_as_it_is() -> None:
    assert np.isnan(srcgrad.grad(shared)(X)[:2]).all(), "the root of 0 is read by the second sum as well"
    found = srcgrad.grad(written)(np.array([4.0, 9.0, 1.0]))
    np.testing.assert_allclose(found, [0.25, 1 / 6, 0.5])  # the root is of the old elements


def test_the_text_has_the_mask_in_plain_sight() -> None:
    text = srcgrad.source(root)
    assert "np.where(t1, 0.5, x)" in text and text.count("np.where(t1") == 3, text


def test_shapes_dtypes_and_numbers() -> None:
    def mixed(x, y):
        return np.sum(np.where(x > 0.0, y / x, 0.0))

    given = srcgrad.grad(srcgrad.safe_where(mixed), (0, 1))
    x, y = np.array([[0.0], [2.0]], np.float32), np.ones(3, np.float32)
    x_bar, y_bar = given(x, y)
    assert x_bar.dtype == y_bar.dtype == np.float32
    assert x_bar.tolist() == [[0.0], [-0.75]] and y_bar.tolist() == [0.5] * 3
    assert given(0.0, 1.0) == (0.0, 0.0) and given(np.zeros((0, 1)), np.ones(3))[1].tolist() == [0.0] * 3


def test_kernels() -> None:
    found = srcgrad.grad(nested, target="opencl")(X)
    np.testing.assert_allclose(found, srcgrad.grad(nested)(X), rtol=1e-12)


@pytest.mark.parametrize("mark", ["decorator", "call"])
def test_text_alone(tmp_path: Path, mark: str) -> None:
    head = "import numpy as np\nimport srcgrad\n\n\n" + ("@srcgrad.safe_where\n" if mark == "decorator" else "")
    last = "" if mark == "decorator" else "\n\nsrcgrad.safe_where(f)\n"
    (tmp_path / "m.py").write_text(f"{head}def f(x):\n    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))\n{last}")
    text = dump(f"{tmp_path / 'm.py'}:f").text
    assert "np.where(t1, x, 0.5)" in text


def test_explain_tells_where_a_branch_may_give_nan() -> None:
    def plain(x):
        y = np.where(x > 0.0, np.sqrt(x), 0.0)
        z = np.where(x > 0.0, x**2 / 3.0 + np.exp(x), 0.0)
        return np.sum(y * z)

    def notes(function: Any) -> list[int]:
        return [k for k, line in enumerate(srcgrad.explain(function).lines) if any("safe_where" in w for w in line.why)]

    assert notes(plain) == [0] and notes(root) == []


def test_loops_with_checkpoints_blocks_and_methods() -> None:
    @srcgrad.safe_where
    def few(x):
        y = x
        for _ in srcgrad.checkpointed(range(2), slots=1):
            y = y + np.where(y > 0.5, np.sqrt(y - 0.5), 0.1 * y)
        return np.sum(y)

    class Model:
        @srcgrad.safe_where
        def loss(self, x):
            return np.sum(np.where(x > 0.0, x * np.log(x), 0.0))

    np.testing.assert_allclose(srcgrad.grad(few)(X), srcgrad.grad(in_a_loop)(X), rtol=1e-14)
    assert srcgrad.grad(srcgrad.blocked(entropy, over="x", rows=2))(X).tolist() == srcgrad.grad(entropy)(X).tolist()
    assert srcgrad.grad(Model().loss)(X).tolist() == srcgrad.grad(entropy)(X).tolist()
    assert srcgrad.grad(srcgrad.checkpoint(entropy))(X).tolist() == srcgrad.grad(entropy)(X).tolist()


def test_what_has_no_text_cannot_be_marked() -> None:
    with pytest.raises(srcgrad.DifferentiationError, match="E5008"):
        srcgrad.safe_where(np.sqrt)
