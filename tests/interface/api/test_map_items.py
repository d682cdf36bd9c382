"""A function of one item over many items: values, and the blocks of the Jacobian, are those of the items one by one."""

from __future__ import annotations

import linecache
import math

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError


def distance(point, centre, scale):
    dx, dy = point[0] - centre[0], point[1] - centre[1]
    return scale * math.sqrt(dx * dx + dy * dy)


def turned(count, y, i, *, prange=0.5):
    c, s = math.cos(y), math.sin(y)
    return (c * count[0] - s * count[1]) * i, (s * count[0] + c * count[1]) * prange


def grown(x, rate):
    made = np.zeros((2, x.size))
    for k in range(x.size):
        made[0, k] = x[k] * rate
        for _ in range(k):
            made[1, k] += math.sin(made[0, k]) * x[k - 1]
    return made


def climbed(x, n):
    while x < n:
        x = x * x + 0.5
    return x


def overwritten(x, rate):
    x[0] = x[1] * rate
    x[1] = x[0] * x[0]
    return x[0] * x[1], x[1] * rate


def restored(x, rate):
    made = np.zeros(2)
    for k in range(2):
        made[k] = x[k] * rate
        made[0] = made[0] * made[k]
    return made


def chosen(x, rate):
    if x[0] > 1.0:
        return rate * x[1], x[0]
    part = x[:]
    return part[0] * part[1], rate


def grown_twice(x, rate):
    while rate < 3.0:
        rate = rate * rate + x[0] + 0.5
    return rate, rate * x[1]


ITEMS = np.linspace(0.1, 1.7, 8).reshape(4, 2)
NUMBERS = np.array([0.3, -0.2, 1.1, 0.7])
CASES = {
    "a number": (distance, (ITEMS, ITEMS[::-1] + 0.3, NUMBERS), ("point", "scale"), ()),
    "a shared array": (distance, (ITEMS, np.array([0.2, 0.4]), NUMBERS), 0, ("centre",)),
    "a tuple, names in use": (turned, (ITEMS, NUMBERS, NUMBERS + 1.0), ("y", "count"), ("prange",)),
    "an array of two axes": (grown, (ITEMS, NUMBERS), (0, 1), ()),
    "a loop with a stack": (climbed, (NUMBERS, 5.0), 0, ("n",)),
    "what is written into": (overwritten, (ITEMS, NUMBERS), (0, 1), ()),
    "an array that is restored": (restored, (ITEMS, NUMBERS), (0, 1), ()),
    "branches": (chosen, (ITEMS, NUMBERS), (0, 1), ()),
    "two parts, a loop with a stack": (grown_twice, (ITEMS, NUMBERS), (0, 1), ()),
    "large items": (distance, (np.ones((4, 65)) + ITEMS[:, :1], np.ones((4, 66)), NUMBERS), (0, 2), ()),
    "no elements": (lambda x, rate: rate * np.sum(x), (ITEMS[:, :0], NUMBERS), (0, 1), ()),
    "float32": (distance, tuple(a.astype(np.float32) for a in (ITEMS, ITEMS + 0.3, NUMBERS)), (0, 2), ()),
}


COMPILED = (
    "a tuple, names in use",
    "a loop with a stack",
    "what is written into",
    "an array that is restored",
    "two parts, a loop with a stack",
    "no elements",
    "float32",
)


@pytest.mark.parametrize(("case", "target"), [*((case, "numpy") for case in CASES), *((c, "numba") for c in COMPILED)])
def test_items_one_by_one(case, target):
    f, args, wrt, shared = CASES[case]
    names = list(srcgrad.grad(f).__signature__.parameters)
    of_each = srcgrad.each(f, wrt=wrt, shared=shared, target=target)
    before = [np.copy(a) for a in args]
    y, blocks = of_each(*args)
    assert all(np.array_equal(a, b) for a, b in zip(args, before, strict=True))
    found = blocks if isinstance(wrt, tuple) else (blocks,)
    precision = 1e-5 if case == "float32" else 1e-12
    for i in range(len(args[0])):
        item = [a if name in shared else a[i] for name, a in zip(names, args, strict=False)]
        assert np.allclose(y[i], f(*(np.copy(a)[()] for a in item)), rtol=precision)
        expected = srcgrad.jacobian(f, wrt=wrt)(*item)
        if isinstance(f(*(np.copy(a)[()] for a in item)), tuple):  # a row for each number that it returns
            expected = tuple(np.stack(column) for column in zip(*expected, strict=True))
        for one, other in zip(found, expected if isinstance(wrt, tuple) else (expected,), strict=True):
            assert np.allclose(one[i], other, rtol=precision, atol=precision)
    shapes = [np.shape(y) + np.shape(args[names.index(w) if isinstance(w, str) else w])[1:] for w in _several(wrt)]
    assert [one.shape for one in found] == shapes
    assert all(one.dtype == np.asarray(args[0]).dtype for one in found)
    assert "for i" in of_each.source
    assert ("parallel=True" in of_each.source) == (target == "numba")


def _several(wrt):
    return wrt if isinstance(wrt, tuple) else (wrt,)


def test_a_function_that_changes_is_mapped_anew():
    space = {}
    linecache.cache["<mapped>"] = (1, None, ["def f(x):\n", "    return x * scale\n"], "<mapped>")
    exec(compile("def f(x):\n    return x * scale\n", "<mapped>", "exec"), space)
    space["scale"] = 2.0
    of_each = srcgrad.each(space["f"])
    assert of_each(NUMBERS)[1].tolist() == [2.0] * 4
    space["scale"] = 3.0
    assert of_each(NUMBERS)[1].tolist() == [3.0] * 4


REFUSED = {
    "E5014 of different lengths": lambda: srcgrad.each(distance)(ITEMS, ITEMS[:3], NUMBERS),
    "E5014 no axis of items": lambda: srcgrad.each(distance)(ITEMS, ITEMS, 2.0),
    "E5014 no items": lambda: srcgrad.each(distance)(ITEMS[:0], ITEMS[:0], NUMBERS[:0]),
    "E5014 not called": lambda: srcgrad.each(distance).source,
    "E5009 no parameter": lambda: srcgrad.each(distance, shared="other"),
    "E5009 shared and differentiated": lambda: srcgrad.each(distance, wrt="scale", shared="scale"),
    "E5019 kernels": lambda: srcgrad.each(distance, target="opencl"),
    "E5017 a dict": lambda: srcgrad.each(lambda x: {"a": x})(NUMBERS),
    "E5002 integers": lambda: srcgrad.each(climbed, shared="n")(np.arange(3), 5.0),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    with pytest.raises(DifferentiationError) as caught:
        REFUSED[case]()
    assert caught.value.code == case[:5]
