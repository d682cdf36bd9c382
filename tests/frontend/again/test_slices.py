"""Second derivatives of programs that go over slices of lists and tuples: their adjoints are written by items."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import DifferentiationError, check_grads, grad, hvp


def draw(*shape):
    return 0.6 * np.cos(np.arange(1.0, 1.0 + np.prod(shape)) * 1.7).reshape(shape)


def network(params, x, y):
    h = x
    for w, b in params[:-1]:
        h = np.tanh(h @ w + b)
    w, b = params[-1]
    return np.mean((h @ w + b - y) ** 2)


def from_the_second(params, x, y):
    w, b = params[0]
    h = x @ w + b
    for k, (w, b) in enumerate(params[1:]):
        h = np.tanh(h) @ w * (k + 1) + b
    return np.mean((h - y) ** 2)


def backwards(params, x, y):
    for w, b in reversed(params[1:]):
        x = np.tanh(x @ w + b)
    return np.mean((x - y) ** 2) * np.sum(params[0][0] ** 2)


def penalty(params, x, y):
    norms = [np.sum(w**3) + np.sum(b**3) for w, b in params[:-1]]
    return sum(norms) * np.sum(params[-1][0] ** 2) + sum(np.sum(w**3) for w, b in params[1:])


def twice(ws):
    """Two slices that overlap, and one slice under two names."""
    total = 1.0
    for w in ws[:-1]:
        total = total * np.sum(np.cos(w))
    for w in ws[1:]:
        total = total + np.sum(w**2) * total
    one, other = ws[1:3], ws[1:3]
    return total * np.sum(one[0] * other[1] ** 2)


def pairs(ws):
    return sum([np.sum(a * b) ** 2 * np.sum(a) for a, b in zip(ws[:-2], ws[2:], strict=True)])


def far_bounds(ws):
    total = np.sum(ws[0] ** 3)
    for w in ws[-9:9]:
        total = total * np.sum(np.cos(w))
    for w in ws[4:]:
        total = total * np.sum(w)
    return total


def bounds_that_are_names(ws, n=2):
    first, rest = ws[:n], ws[-n:]
    return np.sum(first[0] ** 2 * rest[-1] * rest[0]) * np.sum(first[1])


def steps(ws):
    a, b = ws[::2]
    c, d = ws[::-2]
    return np.sum(a * b * b) * np.sum(c**2 * d)


def items_of_several_kinds(ws):
    rest = ws[1:]
    a, b = rest[0]
    return np.sum(a * b * ws[0]) + np.sum(rest[1] ** 3 * ws[0])


def read_by_a_counter(ws):
    total = 0.0
    for k in range(len(ws)):
        item = ws[k]
        if k == 1:
            a, b = item
            total = total + np.sum(a * b)
        else:
            total = total + np.sum(item**3)
    return total


def grown(ws):
    states = [ws[0]]
    for w in ws[1:]:
        states.append(np.sin(states[-1] * w))
    return sum([np.sum(a * b * b) for a, b in zip(states[:-2], states[2:], strict=True)])


def in_a_dict(layers):
    total = 0.0
    for w in layers["w"][1:]:
        total = total + np.sum(w**3)
    for w, b in zip(layers["w"][:-1], layers["b"], strict=True):
        total = total * np.sum(w * b) + total
    return total


def of_dicts(layers):
    h = draw(2)
    for layer in layers[:-1]:
        h = np.tanh(h @ layer["w"] + layer["b"])
    return np.sum((h @ layers[-1]["w"] + layers[-1]["b"]) ** 2)


PARAMS = [(draw(3, 3), draw(3)), (draw(3, 2), draw(2)), (draw(2, 3), draw(3))]
WS = [draw(2, 2), 0.7 * draw(2, 2) + 0.1, draw(4).reshape(2, 2) - 0.2, 1.3 * draw(2, 2)]
MIXED = [draw(2, 2), (draw(2, 2) + 0.1, draw(2, 2) - 0.3), draw(2, 2) + 0.4]
DATA = (draw(4, 3), draw(4, 3))
SQUARE = [(draw(3, 3), draw(3)), (draw(3, 3) - 0.1, draw(3))]
CALLS = [
    *((network, (params, *DATA)) for params in (PARAMS, tuple(PARAMS), SQUARE[:1], SQUARE)),
    *((from_the_second, (params, *DATA)) for params in (PARAMS, tuple(PARAMS), SQUARE[:1])),
    *((f, (params, *DATA)) for f in (backwards, penalty) for params in (SQUARE, tuple(SQUARE))),
    *((f, (ws,)) for f in (twice, pairs, far_bounds, bounds_that_are_names, steps) for ws in (WS, tuple(WS))),
    *((f, (ws,)) for f in (items_of_several_kinds, read_by_a_counter) for ws in (MIXED, tuple(MIXED))),
    (grown, (WS,)),
    (in_a_dict, ({"w": WS, "b": WS[1:]},)),
    (of_dicts, ([{"w": w, "b": draw(2)} for w in WS],)),
]


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("function, args", CALLS, ids=lambda one: getattr(one, "__name__", ""))
def test_second_order(function, args, mode):
    """It was E5005, `a write into a slice of a list`, about a line that srcgrad had written."""
    check_grads(function, args, order=2, modes=(mode,))


def leaves(tree):
    if isinstance(tree, np.ndarray):
        return [tree]
    return [leaf for part in (tree.values() if isinstance(tree, dict) else tree) for leaf in leaves(part)]


def moved(tree, along, step):
    if isinstance(tree, np.ndarray):
        return tree + step * along
    if isinstance(tree, dict):
        return {key: moved(part, along[key], step) for key, part in tree.items()}
    return type(tree)(moved(part, other, step) for part, other in zip(tree, along, strict=True))


@pytest.mark.parametrize("function, args", CALLS, ids=lambda one: getattr(one, "__name__", ""))
def test_products_with_hessians(function, args):
    """A Hessian times a vector against differences of the gradient."""
    first, rest, h = args[0], args[1:], 1e-6
    along = moved(first, first, 0.5)
    up, down = (leaves(grad(function)(moved(first, along, step), *rest)) for step in (h, -h))
    found = leaves(hvp(function)(first, *rest, along))
    for one, above, below in zip(found, up, down, strict=True):
        np.testing.assert_allclose(one, (above - below) / (2 * h), rtol=1e-6, atol=1e-6)


def test_a_slice_that_goes_backwards_from_an_item_is_refused():
    def turned(ws):
        parts = ws[3:0:-1]
        return np.sum(parts[0] ** 2 * parts[-1])

    check_grads(turned, (WS,), order=1)
    with pytest.raises(DifferentiationError, match=r"E5005.*second derivative"):
        hvp(turned)(WS, WS)


def test_a_gradient_reads_items_of_a_slice_where_they_are():
    """The gradient made an adjoint for `params[:-1]`, and added it to that of `params` after the loop."""
    first = grad(network)
    first(PARAMS, *DATA)
    statements = [line for line in first.source.splitlines() if not line.lstrip().startswith("#")]
    assert not any("params[:-1]" in line for line in statements)
    assert "params_bar[i] = add(params_bar[i], " in first.source


def cleared_where_it_breaks(m):
    y = m.copy()
    r = y[0]
    for r in y:
        if r[0] > 1.0:
            break
    q = r * 2.0
    y[1] = q
    return np.sum(y * q)


def cleared_of_a_list(m):
    y = m.copy()
    rows = [m[0]]
    q = rows[0] * 2.0
    y[1] = q
    return np.sum(y * q)


@pytest.mark.parametrize("function", [cleared_where_it_breaks, cleared_of_a_list])
def test_a_tangent_that_is_part_of_another_is_read_before_that_is_cleared(function):
    """What is known of views is known of their tangents: one was read behind the line that clears its elements."""
    check_grads(function, (np.array([[0.3, 0.8], [1.2, 0.7]]),), order=2)
