"""Examples of records in `like=`: dataclasses and named tuples, whose fields the function reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple  # either class

import numpy as np
import pytest

import srcgrad


@dataclass
class Beam:
    length: float
    load: np.ndarray


class Bar(NamedTuple):
    length: float
    load: np.ndarray


def deflection(beam, x):
    return np.sum(beam.length * np.sin(x) * beam.load)


@pytest.mark.parametrize("made", [Beam, Bar])
def test_an_example_says_what_the_fields_are(made: Any) -> None:
    x = np.array([0.3, 0.8, 1.1])
    beam = made(1.5, np.array([2.0, -1.0, 0.5]))
    general = srcgrad.grad(deflection, wrt=("beam", "x"))(beam, x)
    found = srcgrad.grad(deflection, wrt=("beam", "x"), like=(beam, x))(beam, x)
    assert type(found[0]) is made and found[0].length == general[0].length
    assert np.array_equal(found[0].load, general[0].load) and np.array_equal(found[1], general[1])
    namespace: dict[str, Any] = {}
    exec(srcgrad.source(deflection, wrt="x", like=(beam, x)), namespace)
    assert np.array_equal(namespace["deflection_grad"](beam, x), general[1])
    with pytest.raises(ValueError, match=r"E5027|declared"):
        namespace["deflection_grad"](beam, x[None])
