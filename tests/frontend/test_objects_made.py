"""Objects of own classes and classes under local names: their methods are those of their class, whatever the names."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError
from tests.random.judge import Finding, judged

HEAD = """
import numpy as np
import dataclasses
from typing import NamedTuple
class Own:
    K = 2.0
    @staticmethod
    def sin(x): return x * x
    @classmethod
    def cos(cls, x): return x * cls.K
@dataclasses.dataclass
class D:
    w: float
    def mean(self, x): return np.sum(x * self.w) ** 2
class N(NamedTuple):
    w: float
    def mean(self, x): return np.sum(x * self.w) ** 2
class M:
    def __init__(self, w): self.w = w
    def mean(self, x): return np.sum(x * self.w)
    def sum(self): return self.w * 2
    def set(self, x): self.w = x
    def bump(self, x):
        self.w = self.w + x
        return self.w
    def copy(self): return M(self.w * 3)
    def dot(self, other): return M(self.w * other.w)
    def __call__(self, x): return self.mean(x) * x
    def __mul__(self, x): return x * self.w + 1.0
    @classmethod
    def of(cls, w): return cls(w)
    @classmethod
    def by(cls, w): return cls(w=w)
class Shadow:
    def __init__(self): self.mean = np.prod
    def mean(self, x): return np.sum(x)
class News:
    def __new__(cls): return m
    def mean(self, x): return np.sum(x) ** 2
m = M(2.0)
class A:
    b = 0.7
a = A()
"""
RIGHT = {
    "static": "np = Own\n    return np.sin(x[0])",
    "classm": "np = Own\n    return np.cos(x[0])",
    "cls_made": "C = D\n    d = C(2.0)\n    return d.mean(x)",
    "cls_made2": "C = D\n    d = C(x[0])\n    return d.mean(x)",
    "cls_nt": "C = N\n    d = C(x[0])\n    return d.mean(x) * d.w",
    "cls_branch": "if x[0] > 9.0:\n        np_ = Own\n    else:\n        np_ = Own\n    return np_.sin(x[1])",
    "cls_attr": "C = Own\n    return C.K * x[0]",
    "cls_plain": "C = M\n    return C(2.0).mean(x)",
    "cls_of": "c = M.of(2.0)\n    return c.mean(x)",
    "cls_of_word": "c = M.by(w=2.0)\n    return c.mean(x)",
    "cls_isinst": "C = M\n    return x[0] if isinstance(m, C) else x[1] * 2.0",
    "cls_np": "f = float\n    return f(x[0]) * x[1]",
    "cls_float64": "t = np.float64\n    return t(x[0]) * x[1]",
    "cls_list": "t = list\n    return np.sum(np.array(t(x)) ** 2)",
    "inst_np": "np = m\n    return np.mean(x)",
    "copy": "return m.copy().mean(x)",
    "copy2": "c = m.copy()\n    return c.mean(x)",
    "made": "return M(3.0).mean(x)",
    "made2": "c = M(3.0)\n    return c.mean(x) + c.sum() * x[0]",
    "dot": "return m.dot(m).mean(x)",
    "call": "c = m.copy()\n    return c(x)[0]",
    "loop": (
        "s = 0.0\n    c = m.copy()\n    for k in range(2):\n"
        "        s = s * c.mean(x) + c.mean(x)\n        c = c.copy()\n    return s"
    ),
    "two": "c = M(1.5)\n    if x[0] > 0.1:\n        c = M(2.5)\n    return c.mean(x)",
}
# What cannot be told: an object whose arithmetic is its own, that changes, whose own attribute hides a method.
REFUSED = {
    "set": "c = M(3.0)\n    c.set(x[0])\n    return c.mean(x)",
    "set2": "c = m.copy()\n    c.w = x[0]\n    return c.mean(x)",
    "setc": "c = m.copy()\n    c.set(5.0)\n    return c.mean(x)",
    "bump": "c = M(3.0)\n    u = c.bump(x[0])\n    return u * c.mean(x)",
    "alias": "c = M(1.5)\n    d = c\n    d.w = x[0]\n    return c.mean(x)",
    "held": "c = M(1.5)\n    l = [c]\n    l[0].w = x[0]\n    return c.mean(x)",
    "shadow": "c = Shadow()\n    return c.mean(x)",
    "news": "c = News()\n    return c.mean(x)",
    "mul": "c = m.copy()\n    return np.sum(c * x)",
    "mul2": "return np.sum(m.copy() * x)",
    "mul3": "c = m.copy()\n    d = c.copy()\n    return np.sum(d * x)",
}


def of(body: str) -> Finding:
    return judged(f"{HEAD}\ndef f(x):\n    {body}\ndef arguments(): return (np.array([0.5, 0.6]),)\n", 1)


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    found = of(RIGHT[name])
    assert found.verdict == "right", found


@pytest.mark.parametrize("name", REFUSED)
def test_right_or_refused(name: str) -> None:
    found = of(REFUSED[name])
    assert found.verdict in ("right", "refused"), found


MADE: dict[str, Any] = {"dataclasses": dataclasses}
exec(
    "@dataclasses.dataclass\nclass Doubled:\n    a: float\n    def __init__(self, a):\n        self.a = 2.0 * a\n", MADE
)
Doubled = MADE["Doubled"]


def of_doubled(x: float) -> float:
    made = Doubled(x)
    return float(made.a * x)


def test_what_a_dataclass_has_written_is_told_by_its_code() -> None:
    """Neither has a file: an `__init__` of one's own was taken for that of `@dataclass`."""
    with pytest.raises(srcgrad.DifferentiationError, match="E5005"):
        srcgrad.grad(of_doubled)(1.5)


SOURCE = np.random.default_rng(0)


class Die:
    """An object that draws when it is made."""

    def __init__(self, scale=1.0):
        self.z = scale * SOURCE.normal()

    def draw(self):
        return SOURCE.normal()


@dataclasses.dataclass
class Drawn:
    """One whose default draws."""

    a: float
    z: float = dataclasses.field(default_factory=lambda: SOURCE.normal())


class Counted:
    """One that its class counts."""

    count = 0

    def __init__(self):
        Counted.count += 1

    def times(self, x):
        return x * Counted.count


def not_read(x):
    die = Die()  # noqa: F841
    return x[0] * SOURCE.normal()


def read_by_no_method(x):
    die = Die(2.0)
    return x[0] * die.draw() + x[1] * die.draw()


def a_default_not_read(x):
    drawn = Drawn(x[0])  # noqa: F841
    return x[1] * SOURCE.normal()


def in_a_loop(x):
    total = 0.0
    for k in range(2):
        die = Die()  # noqa: F841
        total = total + x[k] * SOURCE.normal()
    return total


@pytest.mark.parametrize("function", [not_read, read_by_no_method, a_default_not_read, in_a_loop])
def test_what_draws_as_an_object_is_made_is_run(function) -> None:
    """Though nothing of the object is read: what is drawn later is another number."""

    def begin(call):
        SOURCE.bit_generator.state = np.random.default_rng(0).bit_generator.state
        return call()

    x = np.array([0.31, -0.52])
    right = [begin(lambda e=e: function(e)) for e in np.eye(2)]
    assert begin(lambda: srcgrad.value_and_grad(function)(x))[1].tolist() == right


def test_a_class_that_counts_its_objects() -> None:
    def once(x):
        made = Counted()  # noqa: F841
        return x * Counted.count

    def twice(x):
        return Counted().times(x) * Counted().times(x)

    Counted.count = 0
    assert srcgrad.value_and_grad(once)(2.0) == (2.0, 1.0) and Counted.count == 1
    with pytest.raises(DifferentiationError, match=r"E5010.*`Counted.count`"):
        srcgrad.grad(twice)(2.0)


class Pair:
    def __init__(self, u, a):
        self.u = u
        self.a = a


@pytest.mark.parametrize("wrt", [(0, 1), 1])
def test_an_object_that_a_nested_function_makes(wrt) -> None:
    def f(b, c):
        def make(k, times=2.0):
            return Pair(b[k] * times, b)

        second = make(1)
        third = (lambda q: Pair(1.5, q * q))(b)
        return np.sum(c * make(0, second.u).u * third.a) + second.u * third.u

    srcgrad.check_grads(f, (np.array([1.2, 0.7]), np.array([0.3, 0.9])), wrt=wrt, order=1, modes=("reverse",))
