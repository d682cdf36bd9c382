"""What each target adds to the passes of a mode, at their end."""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.batch.batched import leading_axis
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.numba.carried import carried
from srcgrad.numba.elements import elements
from srcgrad.numba.given import given, rows
from srcgrad.numba.inside import inside
from srcgrad.numba.loops import loops
from srcgrad.numba.ranges import ranges
from srcgrad.numba.respelled import respelled
from srcgrad.numba.scalars import scalars
from srcgrad.numba.tapes import tapes
from srcgrad.opencl.fuse import fuse

PASSES: dict[str, tuple[Callable[[Program, Facts], Program], ...]] = {
    "numpy": (),
    "opencl": (fuse,),
    "numba": (ranges, given, scalars, carried, tapes, loops, elements, rows, inside, respelled),
    "batched": (leading_axis,),  # NumPy, for all directions at once
}
