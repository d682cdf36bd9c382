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
    by_length, by_load, by_x = np.sum(np.sin(x) * beam.load), 1.5 * np.sin(x), 1.5 * np.cos(x) * beam.load
    found = srcgrad.grad(deflection, wrt=("beam", "x"), like=(beam, x))(beam, x)
    assert type(found[0]) is made
    np.testing.assert_allclose(found[0].length, by_length, rtol=1e-14)
    np.testing.assert_allclose(found[0].load, by_load, rtol=1e-14)
    np.testing.assert_allclose(found[1], by_x, rtol=1e-14)
    namespace: dict[str, Any] = {}
    exec(srcgrad.source(deflection, wrt="x", like=(beam, x)), namespace)
    np.testing.assert_allclose(namespace["deflection_grad"](beam, x), by_x, rtol=1e-14)
    with pytest.raises(ValueError, match=r"E5027|declared"):
        namespace["deflection_grad"](beam, x[None])
