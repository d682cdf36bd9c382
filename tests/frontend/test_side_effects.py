"""Which parameters functions change, themselves and by what they call: one summary of each."""

from __future__ import annotations

import gast
import numpy as np
import pytest

import srcgrad
import srcgrad.templates as templates
from srcgrad.core.facts import Facts, Request
from srcgrad.core.namespace import LiveNamespace
from srcgrad.core.source_text import Source, source_of
from srcgrad.frontend.calls.side_effects import Effects
from srcgrad.module import Module

CHANGES = """
x | x[0] = y
  | x.a = y
x | x[0], z = y
x | x.real[0] = y
x | np.add(x, y, x)
x | z = np.add(x, y, out=x)
x | z = np.clip(y, 0, 1, x)
x | z = y.dot(y, x)
k | z = np.add(x, y, **k)
x | z = np.copyto(x, y) if y else 0
x | np.copyto(src=y, dst=x)
x | x.sort()
  | np.exp(x)
  | np.unique(x)
x | x.fill(0.0)
x | z = x.pop()
x | z = [x.append(i) for i in y]
x | add = x.append; add(y)
  | g = np.sin; z = g(x)
x | for x[0] in y: pass
x | with np.errstate(): x[0] = y
x | for row in [x]: row[0] = y
x | np.asarray(x)[0] = y
x | x.reshape(-1)[0] = y
x | z = x.view(); z[0] = y
x | z = {"a": x}; z["a"][0] = y
x | z = dict(a=x); z["a"][0] = y
x | z = []; z.append(x); z[0][0] = 1
  | z = []; z.append(x); z[0] = 1
x | z = {}; z.update(a=x); z["a"].fill(1)
x | for row in {"a": x}.values(): row[0] = 1
x y | [row for row in (x,)][0][0] = y
x | z = [row for row in (x,)]; np.copyto(z[0], y)
x | x.T.fill(1.0)
x | list(map(x.__setitem__, y, y))
x y | z = list(map(np.copyto, [x], [y]))
x y | z = sorted(y, key=lambda row: x.__setitem__(row, 1))
x | import types; z = types.SimpleNamespace(a=x); z.a.fill(1)
k x y | exec("x[0] = 1")
  | z = np.asarray([row for row in x]); z.sort()
  | z = np.asarray([x, y]); z[0] = 1
x y | z = x or y; z[0] = 1
  | x = x.copy(); x[0] = y
x | a, b = x, np.zeros(3); b[0] = 1
  | z = np.zeros(3); z[0] = y
x | import operator; operator.setitem(x, 0, y)
  | import operator; operator.getitem(x, 0)
  | x += y
+ x y | v = x[::2]; v += y; x, y = y, x
+   | s = 0.0; s += y
""".strip("\n").split("\n")


@pytest.mark.parametrize("row", CHANGES)
def test_what_a_line_changes(row: str) -> None:
    """Behind a plus, `a += e` counts."""
    changed, _, line = row.partition(" | ")
    templates.load()
    text = f"def f(x, y, k):\n    '''Words.'''\n    {line}\n    return x"
    source = Source("model.py", 1, tuple(text.split("\n")), gast.parse(text).body[0], "f", {})
    facts = Facts(source, LiveNamespace(lambda: np), Request("reverse", ()), Module())
    facts.module.sources[id(row)] = row, source, facts.namespace
    found = Effects(facts, augments=changed.startswith("+")).changed(row)
    assert sorted(found) == changed.removeprefix("+").split()


def fills(a, y):
    """Writes into its first argument."""
    a[0] = y
    return a


def hands_on(x, y):
    """Writes into nothing itself."""
    z = fills(x, y)
    return z * y


def hands_rows_on(x, y):
    """A row is a part of what it is a row of."""
    for row, one in zip(x, y, strict=True):
        z = fills(row, one)
    return z


def reads(x, y):
    """Calls what writes with an array of its own."""
    return fills(np.zeros(3), x * y)


def test_what_a_function_hands_to_one_that_writes_changes() -> None:
    templates.load()
    facts = Facts(source_of(reads), LiveNamespace(reads), Request("reverse", ()), Module())
    changed = [list(Effects(facts).changed(one)) for one in (hands_on, hands_rows_on, reads)]
    assert changed == [["x"], ["x"], []]


def writes_into_an_argument_of_several(*a):
    a[0][1] = 7.0


def doubles_each_of_several(*a):
    for one in a:
        one *= 2.0


def doubles_by_name(**words):
    out = words["out"]
    out *= 2.0


@pytest.mark.parametrize("write", [
    lambda y: writes_into_an_argument_of_several(y),
    lambda y: doubles_each_of_several(y),
    lambda y: doubles_by_name(out=y),
])  # fmt: skip
def test_what_is_written_into_arguments_by_a_star_is_no_silent_error(write) -> None:
    """The call was taken for one that changes nothing, and left as it is."""

    def f(x):
        y = x * 2.0
        write(y)
        return np.sum(y * x)

    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.grad(f)(np.array([0.3, 0.7]))
