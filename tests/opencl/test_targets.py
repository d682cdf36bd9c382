"""Whole programs give the same with kernels as without: values, tangents, adjoints, their types, dtypes and shapes.

To build all their kernels takes many minutes: one program of sixteen runs here, all of them with SRCGRAD_EVERY=1
(`make fuzz-opencl`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.programs.accepted import PROGRAMS
from tests.programs.people import PEOPLE
from tests.programs.small import RIGHT, made
from tests.random.targets import DRAWS, compared, outcome

EVERY = int(os.environ.get("SRCGRAD_EVERY", "16"))
WRITTEN = [*PROGRAMS, *PEOPLE][::EVERY]
pytestmark = pytest.mark.filterwarnings("ignore")  # kernels give none where NumPy does


@pytest.mark.parametrize("function, args", WRITTEN, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(WRITTEN)])
def test_programs(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert compared(function, args) == ""


@pytest.mark.parametrize("name", list(RIGHT)[::EVERY])
def test_language(name: str) -> None:
    assert compared(*made(name, RIGHT[name])) in ("", "refused E5031")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", DRAWS)
def test_random_programs(kind: str, seed: int) -> None:
    found = outcome(DRAWS[kind], seed)
    assert found.startswith(("right", "refused", "skipped")), found
