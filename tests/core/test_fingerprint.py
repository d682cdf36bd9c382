"""Fingerprints: all that a text may depend on changes them, and nothing else does."""

from __future__ import annotations

import linecache
import sys
import types

import numpy as np
import pytest

from srcgrad.core.fingerprint import Fingerprint, UnsureError

HELPER = "A = 0.5\ndef low(x): return A * x\nLOG = object()\n"
MAIN = """
import dataclasses, functools, operator
import numpy as np
import fingerprint_helper as helper
from __future__ import annotations
K = 2.0
V = float
TABLE = {"a": np.sin, "b": [np.cos]}
W = np.arange(3.0)
class Base:
    scale = 3.0
    def act(self, x): return x * self.scale
class Layer(Base):
    pass
@dataclasses.dataclass
class Pair:
    a: float = 1.0
layer = Layer()
pair = Pair(2.0)
def inner(x: V, p=2): return helper.low(x) ** p * K  # squared
def wrapped(g): return functools.wraps(g)(lambda *a: g(*a))
@wrapped
def other(x): return operator.add(x, pair.a)
def make(c):
    def f(x): return np.sum(inner(x) * c + layer.act(x) * W + TABLE["a"](other(x)))
    return f
f = make(1.5)
"""


def built(text: str, helper: str = HELPER) -> types.FunctionType:
    """The function `f` of a module, as an import makes it."""
    made = {}
    for name, lines in (("fingerprint_helper", helper), ("fingerprint_main", text)):
        lines = "from __future__ import annotations\n" + lines.replace("from __future__ import annotations\n", "")
        file = f"<{name}>"
        linecache.cache[file] = (len(lines), None, lines.splitlines(True), file)
        made[name] = sys.modules[name] = types.ModuleType(name)
        exec(compile(lines, file, "exec"), vars(made[name]))
    return vars(made["fingerprint_main"])["f"]


@pytest.fixture(autouse=True)
def without_modules():
    yield
    for name in ("fingerprint_helper", "fingerprint_main"):
        sys.modules.pop(name, None)


EDITS = (
    ("K = 2.0", "K = 3.0"), ("K = 2.0", "K = 2"), ("V = float", "V = int"), ("p=2", "p=3"), ("# squared", "# why"),
    ("np.sin,", "np.sinh,"), ("[np.cos]", "[np.exp]"), ("np.arange(3.0)", "np.arange(3)"), ("np.arange(3.0)", "2.0"),
    ("scale = 3.0", "scale = 4.0"), ("x * self.scale", "x + self.scale"), ("    pass", "    scale = 5.0"),
    ("a: float = 1.0", "a: float = 7.0"), ("Pair(2.0)", "Pair(4.0)"), ("layer = Layer()", "layer = Base()"),
    ("lambda *a: g(*a)", "lambda *a: g(*a) * 2.0"), ("operator.add", "operator.mul"), ("make(1.5)", "make(2.5)"),
    ("f = make", "layer.act = np.sin\nf = make"), ("f = make", "helper.low = np.tanh\nf = make"),
    ("f = make", "inner.mark = 1\nf = make"), ("f = make", "np.sum2 = 1\nhelper.A = 1.0\nf = make"),
)  # fmt: skip


def test_each_edit_is_seen(monkeypatch):
    monkeypatch.setattr(np, "sum2", 0, raising=False)
    known = Fingerprint(built(MAIN)).digest
    assert Fingerprint(built(MAIN)).digest == known
    assert Fingerprint(built(f"{MAIN}\nunused = 1\n")).digest == known
    helpers = [HELPER.replace("0.5", "0.7"), HELPER.replace("A * x", "A * x * x")]
    made = {edit: Fingerprint(built(MAIN.replace(*edit, 1))).digest for edit in EDITS}
    made |= {(helper, ""): Fingerprint(built(MAIN, helper)).digest for helper in helpers}
    assert all(edit[0] in MAIN for edit in EDITS)
    assert [edit for edit, digest in made.items() if digest == known] == []


def test_what_cannot_be_told_is_not_guessed():
    odd = ("helper.LOG", "iter([x])", "eval('x')", "Slots()", "rng.normal()")
    text = "import numpy as np\nimport fingerprint_helper as helper\nrng = np.random.default_rng(0)\nclass Slots:\n"
    text += "    __slots__ = ('a',)\nheld = Slots()\ndef f(x): return {}\n"
    unsure = []
    for one in odd:
        try:
            Fingerprint(built(text.format(one.replace("Slots()", "held"))))
        except UnsureError:
            unsure.append(one)
    assert unsure == ["helper.LOG", "eval('x')", "Slots()", "rng.normal()"]


def test_places_are_those_of_the_same_objects():
    one, other = Fingerprint(built(MAIN)), Fingerprint(built(MAIN))
    assert [type(item).__name__ for item in one.objects] == [type(item).__name__ for item in other.objects]
    assert one.objects[one.place_of(np.sum)] is np.sum
    with pytest.raises(UnsureError):
        one.place_of(object())
