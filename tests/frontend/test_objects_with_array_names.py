"""Objects that a function makes, with fields named like attributes of arrays: a gradient is right, or refused."""

from __future__ import annotations

import abc
import linecache
import sys
import types

import numpy as np
import pytest

import srcgrad

HEAD = "import collections, dataclasses, types, typing\nimport numpy as np\n"
KINDS = {
    "plain": "class Box:\n    def __init__(self, {f}, w):\n        self.{f} = {f}\n        self.w = w\n",
    "dataclass": "@dataclasses.dataclass\nclass Box:\n    {f}: float\n    w: float\n",
    "named tuple": "class Box(typing.NamedTuple):\n    {f}: float\n    w: float\n",
    "tuple of collections": "Box = collections.namedtuple('Box', '{f} w')\n",
    "property": "class Box:\n    def __init__(self, v, w):\n        self.v = v\n        self.w = w\n"
    "    @property\n    def {f}(self):\n        return self.v * 1.0\n",
    "namespace": "Box = lambda v, w: types.SimpleNamespace({f}=v, w=w)\n",
}
USES = {
    "made": "def f(b):\n    c = Box(b * b, 1.0)\n    return c.{f} * c.w + c.{f}\n",
    "rebound": "def f(b):\n    c = b * 2.0\n    d = c * 1.0\n    c = Box(b * b, 1.0)\n    return c.{f} + d\n",
    "at once": "def f(b):\n    return Box(b * b, 1.0).{f} * 2.0\n",
    "by a helper": "def g(v):\n    return Box(v * v, 1.0)\ndef f(b):\n    return g(b).{f} * 2.0\n",
    "by a method": "class Shop:\n    def make(self, v):\n        o = Box(v * v, 1.0)\n        return o\nshop = Shop()\n"
    "def f(b):\n    return shop.make(b).{f} * 2.0\n",
    "given to a helper": "def g(o):\n    return o.{f} * o.w\ndef f(b):\n    return g(Box(b * b, 1.0))\n",
    "in a list": "def f(b):\n    l = [Box(b * b, 1.0), Box(b, 2.0)]\n    return l[0].{f} + l[1].{f} * b\n",
    "in a dict": "def f(b):\n    d = {{'a': Box(b * b, 1.0)}}\n    return d['a'].{f} * 2.0\n",
    "in a comprehension": "def f(b):\n    l = [Box(b * k, 1.0) for k in (1.0, 2.0)]\n"
    "    return sum([o.{f} * b for o in l])\n",
    "by map": "def f(b):\n    m = map(lambda v: Box(v, 1.0), [b, b * b])\n    return sum(o.{f} for o in m)\n",
    "in a loop": "def f(b):\n    c = None\n    for k in range(3):\n        c = Box(b * k, 1.0)\n    return c.{f}\n",
    "in a branch": "def f(b):\n    if b > 0.1:\n        c = Box(b * b, 1.0)\n    else:\n        c = Box(b, 1.0)\n"
    "    return c.{f} * c.w\n",
    "by a choice": "def f(b):\n    c = Box(b * b, 1.0) if b > 0.1 else Box(b, 2.0)\n    return c.{f} * c.w\n",
    "unpacked": "def f(b):\n    c, d = Box(b * b, 1.0), b\n    return c.{f} * d\n",
    "under two names": "def f(b):\n    c = Box(b * b, 1.0)\n    e = c\n    return e.{f} * 2.0\n",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_field_is_no_attribute_of_an_array(kind: str, use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for field in ("size", "ndim", "real", "T"):
        _judge((HEAD + KINDS[kind] + USES[use]).format(f=field), f"made_{kind}_{use}_{field}", monkeypatch)


def _judge(text: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(linecache.cache, f"<{name}>", (len(text), None, text.splitlines(True), f"<{name}>"))
    exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    try:
        value, gradient = srcgrad.value_and_grad(module.f)(0.7)
        tangent = srcgrad.jvp(module.f, (0.7,), (1.0,))[1]
    except srcgrad.DifferentiationError:
        return
    h = 1e-6
    assert value == module.f(0.7)
    assert gradient == pytest.approx((module.f(0.7 + h) - module.f(0.7 - h)) / (2 * h), rel=1e-7)
    assert tangent == pytest.approx(gradient, rel=1e-12)


METHOD = (
    "class Box:\n    def __init__(self, v, w):\n        self.v = v\n    def {f}(self):\n        return self.v * 3.0\n"
)
FIELDS = (
    "@dataclasses.dataclass\nclass Box:\n    v: float\n    w: float\n    def {f}(self):\n        return self.v * 3.0\n"
)
WRITTEN = {
    "an item of a dict": "def f(b):\n    d = {{}}\n    d['x'] = Box(b * b, 1.0)\n    return d['x'].{f}() * 2.0\n",
    "an item of a list": "def f(b):\n    l = [None]\n    l[0] = Box(b * b, 1.0)\n    return l[0].{f}() * 2.0\n",
    "an item that is added": "def f(b):\n    l = []\n    l.append(Box(b * b, 1.0))\n    return l[0].{f}() * 2.0\n",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", [*USES, *WRITTEN])
@pytest.mark.parametrize("kind", [METHOD, FIELDS], ids=["plain", "dataclass"])
def test_a_method_is_no_method_of_an_array(kind: str, use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = {**USES, **WRITTEN}[use].replace(".{f}()", ".{f}").replace(".{f}", ".{f}()").replace("c.w", "2.0")
    for method in ("sum", "mean", "copy"):
        _judge((HEAD + kind + text).replace("o.w", "2.0").format(f=method), f"method_{use}_{method}", monkeypatch)


class Series:
    """As that of pandas: it has values, and an index."""


def guarded(x, y):
    z = x * y
    if isinstance(x, Series):
        z = Series(z, x.index)
    return z * (x.values if isinstance(x, Series) else x)


def guarded_both_ways(x, y):
    if not isinstance(x, Series) and not isinstance(y, dict):
        x = x * y
        y = y * 2.0
    else:
        x = x.values + y.index
    if isinstance(y, (Series, dict)) or isinstance(x, Series):
        return x.values
    if np.ndim(x) > 0:
        y = y * x[0]
    return x * y


def guarded_within(x, y):
    def inner(a):
        if isinstance(a, Series) and isinstance(y, Series):
            return a.values * y.values
        return a * y

    return inner(x) * inner(y)


@pytest.mark.parametrize("function", [guarded, guarded_both_ways, guarded_within])
@pytest.mark.parametrize("x", [1.5, np.array([1.0, 2.0])])
def test_branches_for_objects_of_another_class(function, x) -> None:
    srcgrad.check_grads(function, (x, 0.7), order=2)


class Widened(float):
    """A number with an attribute that arrays do not have."""

    index = 3.0


class Anything(abc.ABC):  # noqa: B024  (arrays are registered)
    """A class of which all arrays are."""


Anything.register(np.ndarray)


def test_branches_for_a_class_that_arrays_may_be_of() -> None:
    def of_arrays(x):
        return x.values if isinstance(x, Anything) else x * 2.0

    def of_numbers(x):
        y = x * 2.0
        if isinstance(x, Widened):
            y = y * x.index
        return y

    for function, x in ((of_arrays, np.ones(2)), (of_numbers, 1.0)):
        with pytest.raises(srcgrad.DifferentiationError, match="E5005"):
            srcgrad.vjp(function, x)
