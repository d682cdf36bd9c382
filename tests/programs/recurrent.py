"""Loops that add up matrix products: what each trip keeps must not change while later trips run."""

from __future__ import annotations

import numpy as np

DRAW = np.random.default_rng(5).standard_normal


def steps(w, x):
    h = np.zeros(3)
    for t in range(x.shape[0]):
        h = np.tanh(w @ h + x[t])
    return np.sum(h * h)


def rows_first(w, x):
    h = x
    for _ in range(3):
        h = np.tanh(h @ w)
    return np.sum(h * h)


def branch(w, x):
    h = x[0]
    for t in range(x.shape[0]):
        h = h + x[t]
        if t % 2:
            x = x * 0.9
            h = np.tanh(w @ h)
        else:
            h = np.dot(w, h) * 0.5
    return np.sum(h)


def two_products_of_one_matrix(w, x):
    h = x[0]
    for t in range(x.shape[0]):
        h = np.tanh(w @ (w @ h) + x[t])
    return np.sum(h * h)


def inner_loop(w, x):
    h = x[0]
    for t in range(x.shape[0]):
        for _ in range(2):
            h = np.tanh(w @ h + x[t])
        h = h * 0.9
    return np.sum(h * h)


def matrix_changes(w, x):
    h = x[0]
    for t in range(x.shape[0]):
        h = np.tanh(w @ h + x[t])
        w = w * 0.9
    return np.sum(h * h)


def matrix_read_in_the_loop(w, x):
    h = x[0]
    for t in range(x.shape[0]):
        h = np.tanh(w @ h) * np.sum(w) + x[t]
    return np.sum(h)


def states_in_an_array(w, x):
    hs = np.zeros((x.shape[0] + 1, 3))
    for t in range(x.shape[0]):
        hs[t + 1] = np.tanh(w @ hs[t] + x[t])
    return np.sum(hs * hs)


def state_overwritten(w, x):
    h = x[0].copy()
    for _ in range(x.shape[0]):
        z = w @ h
        h[0] = np.tanh(z[1])
        h[1:] = z[1:] * 0.3
    return np.sum(h * h)


def parts_of_the_product(w, x):
    h = x[0]
    for t in range(x.shape[0]):
        z = w @ h + x[t]
        h = np.concatenate((np.tanh(z[:1]), z[1:] * 0.5))
    return np.sum(h * h)


def twice_in_a_trip(w, x):
    h = x[0]
    for t in range(x.shape[0]):
        h = np.tanh(w @ h)
        h = np.cos(w @ h) + x[t]
    return np.sum(h * h)


def one_element_changes(w, x):
    h = x[0].copy()
    for t in range(x.shape[0]):
        z = w @ h
        h[t % 3] = np.tanh(z[1] + z[0])
    return np.sum(h * h)


def written_as_it_is(w, x):
    y = np.zeros((x.shape[0], 3))
    for t in range(x.shape[0]):
        y[t] = w @ x[t]
        y[t, 0] *= 2.0
    return np.sum(y * y)


def one_row_again_and_again(w, x):
    y = np.zeros(3)
    s = 0.0
    for t in range(x.shape[0]):
        s = s + np.sum(y * x[t])
        y[:] = w @ x[t]
        y[1] *= y[0]
    return s + np.sum(y)


def read_in_pieces_before_and_after(w, x):
    h = x[0]
    s = 0.0
    for t in range(x.shape[0]):
        for k in range(2):
            z = w @ h
            s = s + z[k] * z[2]
        h = h * 0.5 + x[t] * s
    return s


def one_row_for_all(w, x):
    y = np.zeros(3)
    s = 0.0
    for t in range(x.shape[0]):
        y[:] = w @ x[t]
        y[1] *= y[0]
        s = s + y[1] * y[2]
    return s


def changed_in_the_other_branch(w, x):
    y = x[0].copy()
    z = x[1] * 1.0
    for t in range(x.shape[0]):
        if t % 2:
            z = w @ y
            y = y + 0.1 * z[0] * x[t]
        else:
            y[0] = z[1] * z[2]
    return np.sum(y * y) + z[0]


def shapes_that_change(w, x):
    s = 0.0
    for t in range(3):
        s = s + np.sum(np.tanh(w @ x[t, t:]))
        w = w[:, 1:]
    return s


def until_small(w, x):
    h = x[0]
    while np.sum(h * h) > 0.05:
        h = 0.5 * np.tanh(w @ h)
    return np.sum(h)


def leaves_early(w, x):
    h = x[0]
    for t in range(x.shape[0]):
        h = np.tanh(w @ h + x[t])
        if h[0] > 0.4:
            break
    return np.sum(h * h)


def batches_of_different_sizes(w, x):
    s = 0.0
    for k in range(1, x.shape[0]):
        s = s + np.sum(np.tanh(x[:k] @ w))
    return s


def product_seen_by_a_view(w, x):
    h = x[0]
    y = np.zeros((x.shape[0], 3))
    for t in range(x.shape[0]):
        z = w @ h
        y[t] = z
        h = np.tanh(z)
    return np.sum(y * y) + np.sum(y[1:] * y[:-1])


def a_state_in_a_dict(p, x):
    h = np.zeros(3)
    for t in range(x.shape[0]):
        h = np.tanh(np.dot(p["w"], h) + np.dot(p["u"], x[t]) + p["b"])
    return np.sum(h * h)


def narrow_adjoint(w, x):
    s = 0.0
    for t in range(x.shape[0]):
        s = s + np.sum(w @ x[t])
    return s


def callee(w, h):
    return np.tanh(w @ h)


def through_a_callee(w, x):
    h = x[0]
    for t in range(x.shape[0]):
        h = callee(w, h) + x[t]
    return np.sum(h * h)


W, X = DRAW((3, 3)) * 0.7, DRAW((4, 3))
RECURRENT = [
    *(
        (f, (W, X))
        for f in (
            steps, branch, two_products_of_one_matrix, inner_loop, matrix_changes, matrix_read_in_the_loop,
            states_in_an_array, state_overwritten, parts_of_the_product, until_small, leaves_early,
            batches_of_different_sizes, product_seen_by_a_view, narrow_adjoint, through_a_callee,
            twice_in_a_trip, one_element_changes, written_as_it_is,
            one_row_again_and_again, one_row_for_all, changed_in_the_other_branch,
            read_in_pieces_before_and_after, shapes_that_change, rows_first,
        )
    ),
    (steps, (W, X[:0])),
    (steps, (W, X[:1])),
    (steps, (W.astype(np.float32), X.astype(np.float32))),
    (rows_first, (W, X[0])),
    (a_state_in_a_dict, ({"w": W, "u": W[::-1].T, "b": X[0]}, X)),
]  # fmt: skip
