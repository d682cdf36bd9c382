"""Tangents that are zero by structure, in every container and behind every operation, under a root."""

from __future__ import annotations

import linecache
import textwrap
import warnings
from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad

STRUCTURES = {
    "chosen": "w = np.where(p > 0, p, 0.0)",
    "mask written": "w = p.copy()\nw[p < 0] = 0.0",
    "elements overwritten": "w = p.copy()\nw[0] = 0.0\nw[2] = 0.0",
    "elements filled": "w = np.zeros(4)\nw[1] = p[1]\nw[3] = p[3] * 2.0",
    "mask filled": "w = np.zeros(4)\nm = p > 0\nw[m] = p[m]",
    "filled in a loop": "w = np.zeros(4)\nfor i in range(1, 4):\n    if p[i] > 0:\n        w[i] = p[i]",
    "stacked": "w = np.stack([p[1], 0.0, p[3], 0.0])",
    "array of numbers": "w = np.array([p[1], 0.0, max(p[0], 0.0), p[3]])",
    "joined": "w = np.concatenate((np.maximum(p[:2], 0.0), np.zeros(1), p[3:]))",
    "triangle": "w = np.triu(np.outer(p, np.array([1.0, 2.0, 0.5, 3.0])), 1)[1]",
    "sorted": "w = np.sort(np.maximum(p, 0.0))",
    "taken": "w = np.take(np.maximum(p, 0.0), [0, 1, 2, 3])",
    "split": "a, b = np.split(np.maximum(p, 0.0), 2)\nw = np.concatenate([a, b])",
    "appended": "q = []\nfor i in range(4):\n    q.append(max(p[i], 0.0))\nw = np.array(q)",
    "comprehension": "w = np.array([v if v > 0 else 0.0 for v in p])",
    "branch": "w = p * 2.0\nif p[0] < 0:\n    w = np.zeros(4)",
    "conditional": "w = p * 1.0 if p[0] > 0 else np.zeros(4)",
    "padded": "w = np.pad(p[1:3], 1)",
    "running sum": "w = np.cumsum(np.where(p > 0.5, p, 0.0))",
    "selected": "w = np.select([p > 0, p < -0.35], [p, p * p], 0.0)",
    "rolled": "w = np.roll(np.maximum(p, 0.0), 1)",
    "augmented": "w = np.zeros(4)\nw[p > 0] += p[p > 0]",
    "view": "w = np.maximum(p, 0.0)\nv = w[1:]\nv[0] = 0.0",
    "bound again in a loop": "w = np.maximum(p, 0.0)\nfor k in range(3):\n    w = w * 0.5",
    "multiplied in place": "w = np.where(p > 0, p, 0.0)\nw *= 2.0",
    "repeated": "w = np.repeat(np.maximum(p[:2], 0.0), 2)",
    "contracted": "w = np.einsum('i,i->i', np.maximum(p, 0.0), np.array([1.0, 2.0, 0.5, 3.0]))",
    "clipped": "w = np.clip(p, 0.0, 0.5)",
    "empty": "w = np.empty(4)\nfor i in range(4):\n    w[i] = p[i] if p[i] > 0 else 0.0",
    "fill": "w = p * 2.0\nw.fill(0.0)",
    "putmask": "w = p.copy()\nnp.putmask(w, p < 0, 0.0)",
    "copyto": "w = p.copy()\nnp.copyto(w, 0.0, where=p < 0)",
    "added at": "w = np.zeros(4)\nnp.add.at(w, [1, 3], p[[1, 3]])",
    "matrix": "m = np.zeros((4, 4))\nm[0, 1] = p[1]\nm[1, 1:3] = p[1:3]\nw = m[:, 1]",
    "rows": "m = np.where(p > 0, p, 0.0) * np.ones((2, 1))\nw = np.zeros(4)\nfor row in m:\n    w = row * 1.0",
    "dict": "s = {'w': np.zeros(4)}\nif p[1] > 0:\n    s['w'] = np.where(p > 0, p, 0.0)\nw = 2.0 * s['w']",
}
JOINS = {
    "elements": "np.sum(np.sqrt(w))",
    "sum": "np.sqrt(np.sum(w))",
    "power": "np.sum(w ** 2) ** 0.5",
    "product": "np.sqrt(w @ np.array([1.0, 2.0, 0.5, 1.5]))",
    "matrix": "np.sum(np.sqrt(np.arange(16.0).reshape(4, 4) @ w))",
    "sorted": "np.sum(np.sqrt(np.sort(w)))",
    "stacked": "np.sum(np.sqrt(np.stack([w, 2.0 * w])))",
    "running sum": "np.sum(np.sqrt(np.cumsum(w)))",
    "written": "z = np.ones(4)\nz[1:3] = w[1:3]\nr = np.sum(np.sqrt(z))",
    "loop": "r = 0.0\nfor i in range(4):\n    r = r + np.sqrt(w[i])",
    "list": "q = [w * 1.0, w[::-1] * 2.0]\nr = np.sum(np.sqrt(q[0])) + np.sum(np.sqrt(q[1]))",
}
POINTS = (np.array([-0.1, 0.3, -0.4, 0.7]), np.array([-0.1, -0.2, -0.3, -0.4]))
V = np.cos(np.arange(1.0, 5.0))


def function_of(structure: str, join: str) -> Any:
    """The function of a text, whose source can be found."""
    text = JOINS[join] if "r = " in JOINS[join] else f"r = {JOINS[join]}"
    body = textwrap.indent(f"{STRUCTURES[structure]}\n{text}\nreturn r + np.sum(p)", "    ")
    name = f"<zeros {structure} {join}>"
    source = f"def f(p):\n{body}\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np, "__name__": "zeros"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


def finite(function: Any) -> list[Any]:
    """Points at which a function is smooth as the program is taken there."""
    with np.errstate(all="ignore"):
        return [x for x in POINTS if np.isfinite(function(x))]


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_tangents_are_finite_where_the_function_is_smooth(structure: str, join: str) -> None:
    function = function_of(structure, join)
    for x in finite(function):
        h = 1e-6
        differences = (function(x + h * V) - function(x - h * V)) / (2.0 * h)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the function itself gives none
            function(x)
            tangent = srcgrad.jvp(function, (x,), (V,))[1]
        assert abs(tangent - differences) < 1e-6 * (1.0 + abs(differences))  # of second order in h


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of reverse mode, at sums that no element reaches
@pytest.mark.parametrize("join", ["elements", "sum", "written", "loop"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_products_with_the_hessian_are_finite_there(structure: str, join: str) -> None:
    function = function_of(structure, join)
    gradient, product = srcgrad.grad(function), srcgrad.hvp(function)
    for x in finite(function):
        if np.all(np.isfinite(gradient(x))):
            h = 1e-6
            differences = (gradient(x + h * V) - gradient(x - h * V)) / (2.0 * h)
            assert np.allclose(product(x, V), differences, rtol=1e-5, atol=1e-7)  # of second order in h


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # 0 * inf is the point
@pytest.mark.parametrize(
    "text",
    [
        "y = np.zeros(2)\n    y[:] = np.sqrt(x) ** 2\n    return np.sum(np.sqrt(y))",
        "y = x.copy()\n    y[1] = 0.0\n    return np.sum(np.sqrt(y))",
        "y = np.zeros(2)\n    for i in range(2):\n        y[i] = x[i] ** 2\n    return np.sum(np.sqrt(y))",
        "y = np.concatenate([np.zeros(1), x * x])\n    return np.sum(np.sqrt(y))",
        "s = 0.0\n    for v in x[:1]:\n        s = s + v * v\n    return np.sqrt(s)",
        "q = [0.0]\n    q.append(x[0] ** 2)\n    return np.sum(np.sqrt(np.array(q)))",
    ],
)
def test_zeros_that_are_numbers_hide_no_singular_point(text: str) -> None:
    source = f"def f(x):\n    {text}\n"
    name = f"<numbers {text}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np, "__name__": "numbers"}
    exec(compile(source, name, "exec"), namespace)
    assert not np.isfinite(srcgrad.jvp(namespace["f"], (np.array([0.0, 0.3]),), (np.ones(2),))[1])
