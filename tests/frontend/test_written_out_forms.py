"""Operations that are written out for some of their arguments: methods, positions, what stays refused."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import check_grads, grad, source
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.show.rule_pages import entry

MASK = np.array([True, False, True, True])


def by_method(x):
    return x.std(where=MASK) + np.sum(x.var(axis=0, where=MASK[:, None] | True)) + x.mean(where=x > 0.0)


def by_position(x, y):
    return np.sum(np.diff(x, 1, -1, y) ** 2)


def steps(x):
    return np.sum(np.diff(x) ** 2)


def edges(x, w):
    return np.sum(np.histogram(x, 3, weights=w)[0] ** 2)


def mode_known_when_it_runs(x, mode):
    return np.sum(np.pad(x, 1, mode) ** 2)


def test_methods_and_positions():
    x = np.arange(16.0).reshape(4, 4) ** 1.5 - 9.0
    check_grads(by_method, (x,), order=2)
    check_grads(by_position, (x, x[:, :1] + 1.0), order=2)


def test_calls_without_such_an_argument_keep_their_text():
    assert "diff_transpose(" in source(steps) and "concatenate" not in source(steps)
    assert "with further arguments its derivative is that of:" in entry("np.diff")


def test_weights_of_a_histogram_have_a_gradient_and_its_elements_none():
    x, w = np.array([0.1, 0.2, 0.9]), np.array([1.0, 2.0, 4.0])
    assert grad(edges, wrt="w")(x, w).tolist() == [6.0, 6.0, 8.0]
    with pytest.raises(DifferentiationError, match=r"E5001.*sums jump where an element crosses an edge"):
        grad(edges)(x, w)


def test_a_mode_that_only_a_run_knows():
    assert grad(mode_known_when_it_runs)(np.ones(3), "edge").tolist() == [4.0, 2.0, 4.0]
    with pytest.raises(DifferentiationError, match=r"E5006.*mode='mean'"):
        grad(mode_known_when_it_runs)(np.ones(3), "mean")
