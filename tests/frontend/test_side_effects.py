"""Which functions are taken to write into nothing without a closer look."""

from __future__ import annotations

import gast
import numpy as np
import pytest

import srcgrad.templates as templates
from srcgrad.core.facts import Facts, Request
from srcgrad.core.namespace import LiveNamespace
from srcgrad.core.source_text import Source, source_of
from srcgrad.core.trees import own_names
from srcgrad.frontend.calls.side_effects import Procedures, is_bare
from srcgrad.module import Module

WRITES = """
x[0] = y
x.a = y
x += y
x[0], z = y
x.real[0] = y
del x[0]
np.add(x, y, x)
z = np.add(x, y, x)
z = np.add(x, y, out=x)
z = np.clip(y, 0, 1, x)
z = np.dot(y, y, x)
z = y.dot(y, x)
z = np.add(x, y, **k)
z = np.copyto(x, y) if y else 0
x.sort()
np.exp(x)
x.fill(0.0)
z = x.pop()
z = [x.append(i) for i in y]
z = unknown(x)
z = (lambda: x.sort())()
g = np.sin; z = g(x)
z = (x := y)
for x[0] in y: pass
with np.errstate(): x[0] = y
def inner(): x[0] = y
def inner(): return y
""".strip().split("\n")


def _bare(line: str) -> bool:
    templates.load()
    text = f"def f(x, y, k):\n    '''Words.'''\n    {line}\n    return x"
    tree = gast.parse(text).body[0]
    source = Source("model.py", 1, tuple(text.split("\n")), tree, "f", {})
    facts = Facts(source, LiveNamespace(lambda: np), Request("reverse", ()))
    facts.names.local = own_names(tree)
    return is_bare(tree, facts)


@pytest.mark.parametrize("line", WRITES)
def test_what_may_write_is_looked_at(line: str) -> None:
    assert not _bare(line)


def test_what_binds_names_and_calls_functions_is_not() -> None:
    assert _bare("z = np.where(y.sum() > 0, 1) if x[0] else np.stack((x[1:], -y), axis=1)")
    assert _bare("(a, b), c = y.T, float(x.shape[0])")


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
    changed = [list(Procedures(facts).changed(one)) for one in (hands_on, hands_rows_on, reads)]
    assert changed == [["x"], ["x"], []]
