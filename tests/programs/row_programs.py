"""Functions that add up over rows, and functions that do not, for blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

SHIFT = np.array([0.5, -0.25])
N, D = 7, 2


def least_squares(w: Any, x: Any, y: Any) -> Any:
    return np.mean((x @ w - y) ** 2)


def penalty_between(w: Any, x: Any, y: Any) -> Any:
    first = np.sum(np.tanh(x @ w))
    penalty = np.sum(w * w)
    second = np.sum(y * y * np.exp(-penalty))
    return first * 2.0 - second + penalty


def log_sum_exp(w: Any, x: Any, y: Any) -> Any:
    z = x[:, None, :] - np.stack((w, 2.0 * w, -w))
    a = -np.sum(z * z, axis=-1)
    m = np.max(a, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(a - m), axis=1)) + m[:, 0])


def after_the_sum(w: Any, x: Any, y: Any) -> Any:
    return np.log(np.sum((x @ w) ** 2) + 1.0) * np.sum(w)


def products_of_rows(w: Any, x: Any, y: Any) -> Any:
    gram = x.T @ (x * w)
    return np.sum(gram * gram) + np.dot(y, y)


def sums_by_column(w: Any, x: Any, y: Any) -> Any:
    return np.sum(np.sum(np.sin(x * w), axis=0) ** 2) + np.mean(x, axis=0) @ w


def layers(w: Any, x: Any, y: Any) -> Any:
    h = x
    for k in range(2):
        scale = 1.0 + k
        h = np.tanh(h * w * scale + SHIFT)
    return np.mean(np.sum(h * h, axis=1) * y)


def kinds_of_rows(w: Any, x: Any, y: Any) -> Any:
    if w[0] > 0.0:
        z = x * w
    else:
        shift = -w
        z = x + shift
    z = np.where(z > 0.1, z, 0.5 * z)
    return np.sum(np.maximum(z, 0.0) @ w) + np.einsum("nd,d,n->", z, w, y)


def weigh(z: Any, w: Any) -> Any:
    a = z * w
    return np.sum(a * a, axis=1)


def helper(w: Any, x: Any, y: Any) -> Any:
    return np.sum(weigh(x, w) * y)


def in_helper(w: Any, x: Any, y: Any) -> Any:
    return least_squares(w, x, y) + np.sum(w)


def transposed(w: Any, x: Any, y: Any) -> Any:
    z = w @ x.T
    return np.sum(np.swapaxes(np.expand_dims(z, 0), 0, 1)[:, 0] * y)


def names_that_clash(first: Any, x_rows: Any, stop: Any) -> Any:
    total = np.sum(x_rows @ first)
    rows = total + np.mean(stop * stop)
    return rows * 2.0


def counted(w: Any, x: Any, y: Any) -> Any:
    n, d = x.shape
    z = np.sum(x * w) / n
    return z * d + np.sum(y) / len(y)


def pairs(w: Any, x: Any, y: Any) -> Any:
    both = np.concatenate((x * w, x), axis=1)
    return np.sum(np.cumsum(both, axis=1)), np.mean(y * np.sum(w))


def lengths(w: Any, x: Any, y: Any) -> Any:
    return np.sum((x @ w - y) ** 2) / x.size + np.sum((x @ w) / y.size) + np.sum(x * w / len(x) * x.shape[0])


def new_axes(w: Any, x: Any, y: Any) -> Any:
    z = x[:, np.newaxis] * w
    return np.sum(y[:, np.newaxis] * np.sum(z * z, axis=-1)) + np.sum(y[np.newaxis])


def centred(w: Any, x: Any, y: Any) -> Any:
    return np.sum((x - np.mean(x, axis=0)) ** 2)


def share_of_rows(w: Any, x: Any, y: Any) -> Any:
    p = np.exp(x @ w)
    return np.sum((p / np.sum(p)) ** 2)


def standardised(w: Any, x: Any, y: Any) -> Any:
    m = x.mean(0)
    v = np.mean((x - m) ** 2, axis=0)
    z = (x - m) / np.sqrt(v + 0.1)
    return np.mean((z @ w - y) ** 2) + w @ w


def rows_of_a_block(w: Any, x: Any, y: Any) -> Any:
    z = x * w
    return np.sum(z) / z.shape[0]


def squared_count(z: Any) -> Any:
    return z * len(z)


def count_in_helper(w: Any, x: Any, y: Any) -> Any:
    return np.sum(squared_count(x * w))


def batch_normalised(z: Any) -> Any:
    return (z - z.mean(axis=0)) / np.sqrt(np.var(z, axis=0, ddof=1) + 1e-3)


def normalised_in_helper(w: Any, x: Any, y: Any) -> Any:
    z = batch_normalised(x * w)
    return np.mean((np.sum(np.tanh(z), axis=1) - y) ** 2) + np.linalg.norm(y)


def shares_of_all_rows(w: Any, x: Any, y: Any) -> Any:
    z = np.minimum(x @ w, 0.5)
    shares = np.exp(z - np.max(z))
    highest = np.max(np.floor(x) * w, axis=0)
    return np.average(y * y, weights=shares) + np.log(np.sum(shares)) + highest @ w


def rows_in_turn(w: Any, x: Any, y: Any) -> Any:
    total, column = 0.1, np.zeros(2)
    for row, target in zip(x, y, strict=False):
        if target > 0.5:
            continue
        total -= (np.sum(np.sort(row) * w) - target) ** 2
    for i in range(len(x)):
        column += x[i] * w
    scores = np.array([np.tanh(row @ w) for row in x])
    filled = np.zeros(len(y))
    for i, score in enumerate(scores):
        filled[i] = score * y[i]
    return total / len(y) + column @ w + np.mean(scores - filled) + sum(s * s for s in filled)


def masked_rows(w: Any, x: Any, y: Any) -> Any:
    chosen = y > 0.0
    r = (x @ w - y)[chosen]
    z = np.empty_like(x)
    z[:, 0] = x[:, 1] * w[0]
    z[:, 1] = np.sin(y)
    z[chosen] *= 0.5
    z[x < -0.3] = w[1]
    return np.mean(r * r) + np.sum(r) / (1 + len(r)) + np.sum(np.tanh(z) @ w) + np.mean(x[~chosen])


def numbers_of_rows(w: Any, x: Any, y: Any) -> Any:
    n, _ = x.shape
    number, total = np.arange(n), 0.0
    highest = np.max(np.abs(x @ w))
    for i, row in enumerate(x):
        if y[i] > 0.0:
            total += np.sum(row * w) * i
        else:
            total -= y[i] ** 2
    z = np.stack([np.tanh(row * w) for row in x])
    z[y > 0.0, 0] = 0.5
    e = x[:, 1:] - w[0] * x[:, :-1]
    total = total + np.sum(e * e) + e.size * w[1] + np.mean(np.cos(number * y))
    return total + highest * np.sum(z) + np.sum(z[number, number % 2])


RIGHT = (
    least_squares, penalty_between, log_sum_exp, after_the_sum, products_of_rows, sums_by_column, layers,
    kinds_of_rows, helper, in_helper, transposed, names_that_clash, counted, lengths, new_axes,
    centred, share_of_rows, standardised, rows_of_a_block, count_in_helper, normalised_in_helper, shares_of_all_rows,
    rows_in_turn, masked_rows, numbers_of_rows,
)  # fmt: skip


def of_all_rows(w: Any, x: Any, y: Any) -> Any:
    return np.median(x @ w)


def one_for_each(w: Any, x: Any, y: Any) -> Any:
    return x @ w


def with_the_other(w: Any, x: Any, other: Any) -> Any:
    return np.sum(x[:, 0] * other)


def some_rows(w: Any, x: Any, y: Any) -> Any:
    return np.sum(x[1:] - x[:-1])


def along_the_rows(w: Any, x: Any, y: Any) -> Any:
    return np.sum(np.cumsum(x, axis=0) * w)


def reshaped(w: Any, x: Any, y: Any) -> Any:
    return np.sum(np.reshape(x, (-1,)))


def all_pairs(w: Any, x: Any, y: Any) -> Any:
    return np.sum((x[:, None, :] - x[None, :, :]) ** 2)


def row_by_row(w: Any, x: Any, y: Any) -> Any:
    s = 0.0
    for row in x:
        s = s * 0.5 + np.sum(row * w)
    return s


def two_masks(w: Any, x: Any, y: Any) -> Any:
    r = x @ w
    return np.sum(r[y > 0.0] * r[y <= 0.0])


def last_row(w: Any, x: Any, y: Any) -> Any:
    s = 0.0
    for row in x:
        z = row @ w
        s += z
    return s * z


def sum_in_branch(w: Any, x: Any, y: Any) -> Any:
    s = 0.0
    if w[0] > 0.0:
        s = np.sum(x * w)
    return s


def written_rows(w: Any, x: Any, y: Any) -> Any:
    z = x * w
    z[0] = 0.0
    return np.sum(z)


def no_sum(w: Any, x: Any, y: Any) -> Any:
    return np.sum(w * w)


def on_rows_of_values(w: Any, x: Any, y: Any) -> Any:
    return np.sum(np.sort(x, axis=0)[:, 0] * np.arange(len(x)))


def product_of_all(w: Any, x: Any, y: Any) -> Any:
    return np.prod(x[:, 0])


def carried(w: Any, x: Any, y: Any) -> Any:
    k = 1.0
    if w[0] > 0.0:
        z = x * k
        k = 2.0
    else:
        z = x * w
    return np.sum(z) * k


def axis_of_a_name(w: Any, x: Any, y: Any) -> Any:
    k = None if np.ndim(y) == 1 else 0
    return np.sum(y[:, k] * x)


def counted_anew(w: Any, x: Any, y: Any) -> Any:
    n, s = len(x), 0.0
    if w[0] > 100.0:
        n = 5
    for k in range(n):
        s += y[k] * (x[k] @ w)
    return s


def numbered_anew(w: Any, x: Any, y: Any) -> Any:
    i = np.arange(len(x))
    if w[0] > 100.0:
        i = 2 * i
    return np.sum(i * (x @ w))


def groups_in_a_view(w: Any, x: Any, y: Any) -> Any:
    whole = np.zeros((2, 3))
    total = whole[0]
    np.add.at(total, (y > 0.0).astype(int), x @ w)
    return np.sum(whole)


REFUSED = (
    of_all_rows, one_for_each, with_the_other, some_rows, along_the_rows, reshaped, all_pairs, row_by_row,
    last_row, two_masks,
    sum_in_branch, written_rows, no_sum, on_rows_of_values, product_of_all,
    carried, axis_of_a_name, groups_in_a_view, counted_anew, numbered_anew,
)  # fmt: skip


def arguments(dtype: Any = np.float64, rows: int = N) -> tuple[Any, Any, Any]:
    """Weights, rows, one number for each row."""
    draw = np.random.default_rng(0).standard_normal
    return draw(D).astype(dtype), draw((rows, D)).astype(dtype), draw(rows).astype(dtype)
