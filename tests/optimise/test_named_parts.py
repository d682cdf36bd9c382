"""What a user writes twice: a part that has a name is not computed again, and nothing dead is left."""

import numpy as np

import srcgrad


def layer(x, gamma, beta):
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    return np.sum(np.tanh((x - mu) / np.sqrt(var + 1e-5) * gamma + beta))


def steps(y, k, h, n):
    def f(y):
        return np.array([y[1], -k * np.sin(y[0])])

    for _ in range(n):
        k1 = f(y)
        k2 = f(y + h * k1)
        y = y + 0.5 * h * (k1 + k2)
    return y @ y


X = np.random.default_rng(5).standard_normal((4, 3))


def test_a_part_in_two_statements_is_computed_once() -> None:
    text = srcgrad.source(layer, wrt=("x", "gamma"))
    assert text.count("x - mu") == 3  # twice in comments
    srcgrad.check_grads(layer, (X, X[0], X[1]), order=2, modes=("reverse", "forward"))


def test_a_nested_function_gives_its_value_to_the_name_of_the_call() -> None:
    text = srcgrad.source(steps, wrt=("y", "k"))
    assert "f_value" not in text and "k1 = np.array([y[1], -k * t1])" in text
    assert "sum_to(y_bar * (0.5 * h), k1" not in text  # the sum of k1 and k2 would be made for its shape alone
    srcgrad.check_grads(steps, (X[0, :2], 0.7, 0.1, 3), order=2, modes=("reverse", "forward"))
