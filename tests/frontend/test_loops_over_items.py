"""Arguments that are read item by item, `for w, b in params`: lists and tuples of any items, and arrays."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads
from srcgrad.interface.dump import dump

MODEL = textwrap.dedent("""
    import numpy as np

    def layers(params, x):
        h = x
        for w, b in params[:-1]:
            h = np.tanh(h @ w + b)
        w, b = params[-1]
        return np.sum((h @ w + b) ** 2)

    def zipped(params, x):
        s = 0.0
        for (u, v), a in zip(params, x):
            s = s + np.sum(np.sin(u * v) * a)
        for u, v in params:
            s = s + np.sum(u * v)
        return s

    def left(params, x):
        s = 0.0
        for u, v in params:
            if s > 0.1:
                break
            s = s + np.sum(u * v) * x[0]
        return s

    def masked(params, x):
        a, b = params[np.array([False, True, True])]
        c = params[0]
        return np.sum(a * b * x) * np.sum(c)

    def named(params, x):
        for layer in params:
            x = np.tanh(x @ layer["w"] + layer["b"])
        return np.sum(x)
    """)


def drawn(*shape):
    return np.cos(np.arange(1.0, 1.0 + np.prod(shape))).reshape(shape)


W, B = (drawn(3, 4), drawn(4, 2)), (drawn(4), drawn(2))
CALLS = {
    "layers": [
        [(W[0], B[0]), (W[1], B[1])],
        ((W[0], B[0]), (W[1], B[1])),
        [[W[0], B[0]], [W[1], B[1]]],
        [(drawn(3, 2), B[1])],
        drawn(2, 2, 3, 3),
    ],
    "zipped": [
        [(0.3, 0.4), (0.5, 0.6)],
        [(drawn(2), 0.4), (drawn(3), 0.6)],
        drawn(3, 2),
        drawn(3, 2).astype(np.float32),
    ],
    "left": [
        [(drawn(2), 0.4), (drawn(3), 0.6), (0.7, 0.1), (0.2, 0.3)],
        ((0.3, 0.4), (0.5, 0.6)),
        [[0.9, 0.8], [0.5, 0.6]],
        drawn(3, 2),
    ],
    "masked": [drawn(3, 3)],
    "named": [[{"w": W[0], "b": B[0]}, {"b": B[1], "w": W[1]}], ({"w": W[0], "b": B[0]}, {"w": W[1], "b": B[1]})],
}


def same(one, two):
    """Whether two values agree in containers, dtypes and numbers."""
    if isinstance(two, dict):
        return one.keys() == two.keys() and all(same(one[k], two[k]) for k in two)
    if isinstance(two, tuple | list):
        return type(one) is type(two) and all(same(a, b) for a, b in zip(one, two, strict=True))
    close = 1e-5 if np.asarray(two).dtype == np.float32 else 1e-12
    return np.asarray(one).dtype == np.asarray(two).dtype and np.allclose(one, two, rtol=close, atol=close)


@pytest.mark.parametrize("mode", ["reverse", "vjp", "forward"])
@pytest.mark.parametrize("called", CALLS)
def test_a_text_for_all_kinds_of_sequences(tmp_path, called, mode):
    """`np.zeros_like` of a list of ragged tuples was a ValueError of NumPy's, `params_bar["w"]` an IndexError."""
    (tmp_path / "model.py").write_text(MODEL)
    names, model = {}, {}
    exec(dump(f"{tmp_path}/model.py:{called}", mode=mode, wrt=("params",)).text, names)
    exec(compile(MODEL, str(tmp_path / "model.py"), "exec"), model)
    function, x = model[called], drawn(3)
    made = names[f"{called}_" + {"reverse": "grad", "vjp": "vjp", "forward": "jvp"}[mode]]
    for params in CALLS[called]:
        expected = srcgrad.grad(function)(params, x)
        if mode == "reverse":
            check_grads(function, (params, x), order=1)  # what is expected is right
            assert same(made(params, x), expected)
        elif mode == "vjp":
            y, pullback = made(params, x)
            assert y == function(params, x) and same(pullback(1.0), expected) and same(pullback(1.0), expected)
        else:
            _, along = made(params, x, params_dot=expected)
            assert np.isclose(along, srcgrad.jvp(function, (params, x), (expected, 0.0 * x))[1], rtol=1e-6)


def test_dicts_of_other_keys_and_of_another_order():
    """The items of a list were of no common kind then: an IndexError of NumPy's."""

    def loss(layers, x):
        for layer in layers:
            x = np.tanh(x @ layer["w"])
            if "b" in layer:
                x = x + layer["b"]
        return np.sum(x)

    check_grads(loss, ([{"w": W[0]}, {"b": B[1], "w": W[1]}], drawn(3)), order=2)
    check_grads(loss, ([{"w": W[0], "b": B[0]}, {"b": B[1], "w": W[1]}], drawn(3)), order=2)


def test_a_gradient_is_a_direction_where_an_integer_has_none():
    def scaled(p):
        return p["x"] ** 2 * p["n"]

    gradient = srcgrad.grad(scaled)({"x": 3.0, "n": 2})
    assert gradient == {"x": 12.0, "n": None}
    assert srcgrad.hvp(scaled)({"x": 3.0, "n": 2}, gradient)["x"] == 48.0
    with pytest.raises(srcgrad.DifferentiationError, match="E5014"):
        srcgrad.hvp(scaled)({"x": 3.0, "n": 2}, {"x": None, "n": None})


def table(x):
    return {2.0: x[0] ** 2, 3.0: x[1] ** 3}


def test_the_keys_of_a_dict_have_no_derivative():
    """Tangents of keys were the keys, where a dict was summed, unpacked, an item, or sorted in a text of ours."""

    def keyed(x):
        found, parts = table(x), {"inner": table(x)}
        first, second = table(x)
        total = sum(found) * x[0] + first * second * x[1] ** 2 + min(found) * x[0]
        for key in sorted(found):
            total = total + key * found[key]
        for key in parts["inner"]:
            total = total + key * parts["inner"][key] * x[0]
        return total

    x, direction = np.array([0.7, 0.4]), np.array([1.0, -2.0])
    gradient = srcgrad.grad(keyed)
    slope = (keyed(x + 1e-6 * direction) - keyed(x - 1e-6 * direction)) / 2e-6
    turn = (gradient(x + 1e-6 * direction) - gradient(x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose([gradient(x) @ direction, srcgrad.jvp(keyed, (x,), (direction,))[1]], slope, rtol=1e-7)
    np.testing.assert_allclose(srcgrad.hvp(keyed)(x, direction), turn, rtol=1e-7)


def test_a_dict_of_roots_that_a_loop_fills_has_second_derivatives():
    """Its masks were taken for an array's, and what it does not hold yet for an array."""

    def filled(x, n):
        roots, terms = {0: x}, {0: x, 1: x}
        for k in range(1, n):
            roots[k] = np.sqrt(1.0 + roots[k - 1] ** 2)
            terms[k] = (k * terms[k - 1] * x) / (k + 1)
        return np.sum(roots[n - 1] * terms[n - 1])

    direction = np.array([1.0, -2.0])
    for x in (np.array([0.7, 0.4]), np.array([0.0, 0.3])):
        ahead, behind = (srcgrad.grad(filled)(x + h * direction, 4) for h in (1e-6, -1e-6))
        found = srcgrad.hvp(filled)(x, 4, direction)
        np.testing.assert_allclose(found, (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-8)


def test_pairs_that_are_sorted_have_adjoints_of_pairs():
    """The adjoint of a pair of a number and an array was an array."""

    def by_key(p):
        parts = {2.0: p["w"], 1.0: p["w"] ** 2}
        total = 1.0
        for key, part in sorted(parts.items()):
            total = total * key + np.sum(part**3)
        return total

    w = drawn(2)
    assert np.allclose(srcgrad.grad(by_key)({"w": w})["w"], 6.0 * w**2 * w**3 * 2.0 + 3.0 * w**2)
