"""Names mean what Python would find, and a change of what they mean is noticed."""

from __future__ import annotations

import math
import types

import numpy as np
import pytest

from srcgrad.core.bindings import Binding, attribute
from srcgrad.core.namespace import LiveNamespace
from tests.core.test_source import run

CELL = """
import numpy as np
scale = 2.0
def helper(x): return x * scale
class Layer:
    size = 3
    @staticmethod
    def double(x): return 2 * x
    @property
    def area(self): return 1 / 0
    def step(self, x): return x
layer = Layer()
def make(power):
    def inner(x):
        return np.abs(helper(x)) ** power + later
    late = lambda: later
    if power > 0:
        later = 1.0
    return inner
"""


@pytest.fixture
def names():
    return run(CELL)


def inner_of(names, power=2):
    return LiveNamespace(names["make"](power))


def test_closure_globals_builtins(names):
    names["abs"] = "a user's own"
    space = inner_of(names)
    assert space.lookup("power") == Binding("object", 2)
    assert space.lookup("helper").object is names["helper"]
    assert space.lookup("abs").object == "a user's own"
    assert space.lookup("sum").object is sum
    assert space.lookup("nothing") is None


def test_empty_cell_is_unknown(names):
    found = inner_of(names, 0).lookup("later")
    assert (found.kind, found.reason) == ("unknown", "later is not bound yet")


def chain(space, dotted):
    first, *rest = dotted.split(".")
    found = space.lookup(first)
    for part in rest:
        found = attribute(found, part)
    return found


def test_attributes_of_modules_and_classes(names):
    space = inner_of(names)
    assert chain(space, "np.linalg.norm").object is np.linalg.norm
    assert chain(space, "np.float64.mean").object is np.float64.mean
    assert chain(space, "Layer.size").object == 3
    assert chain(space, "Layer.double").object(2) == 4
    assert chain(space, "Layer.step").object is names["Layer"].step
    assert chain(space, "Layer.area").kind == "unknown"
    assert chain(space, "Layer.none").kind == "unknown"
    assert chain(space, "np.no_such_name").kind == "unknown"
    assert chain(space, "np.no_such_name.below").kind == "unknown"


def test_attributes_of_values_are_left_to_the_run(names):
    space = inner_of(names)
    assert chain(space, "layer.area") is None
    assert chain(space, "scale.real") is None


def changed(names, change, dotted=("np.linalg.norm", "helper", "scale", "abs", "power", "Layer.double", "none")):
    space = inner_of(names)
    seen = space.dependencies(dotted)
    assert not seen.changed()
    change(space)
    return seen.changed()


def redefine(names):
    names["helper"].__code__ = (lambda x: x).__code__


@pytest.mark.parametrize(
    "change",
    [
        lambda names: names.update(scale=3.0),
        lambda names: names.update(helper=lambda x: x),
        lambda names: names.update(np=math),
        lambda names: names.update(abs=lambda x: x),
        lambda names: names.update(none=None),
        lambda names: names.pop("scale"),
        lambda names: setattr(names["Layer"], "double", len),
        redefine,
    ],
)
def test_changes_are_noticed(names, change):
    assert changed(names, lambda space: change(names))


def test_change_of_a_cell_is_noticed(names):
    assert changed(names, lambda space: setattr(space.cells["power"], "cell_contents", 3))


def test_filling_an_empty_cell_is_noticed(names):
    space = inner_of(names, 0)
    seen = space.dependencies(["later"])
    assert not seen.changed()
    space.cells["later"].cell_contents = 1.0
    assert seen.changed()


def test_change_of_a_module_is_noticed(names):
    names["tools"] = types.ModuleType("tools")
    names["tools"].half = 0.5
    assert changed(names, lambda space: setattr(names["tools"], "half", 0.25), ["tools.half"])


def test_other_changes_are_not_reported(names):
    assert not changed(names, lambda space: names.update(other=1))


def test_own_code_is_watched(names):
    def change(space):
        space.function.__code__ = names["make"](3).__code__.replace(co_firstlineno=99)

    assert changed(names, change, [])
