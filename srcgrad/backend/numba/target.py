"""The target numba: loops over elements, which Numba compiles."""

from __future__ import annotations

from srcgrad.backend.numba.array_statements import inside, loops
from srcgrad.backend.numba.boundary import compiled, guarded
from srcgrad.backend.numba.element_loops import elements
from srcgrad.backend.numba.map_items import given, parallel, rows
from srcgrad.backend.numba.spelling import decorators, ranges, respelled, scalars
from srcgrad.backend.numba.tapes import carried, tapes
from srcgrad.core.target import Target

NUMBA = Target(
    "numba",
    passes=(ranges, given, scalars, carried, tapes, loops, elements, rows, inside, respelled),
    wrap=decorators,
    compile=compiled,
    boundary=guarded,
    parallel=parallel,
    excludes=("standalone",),
    reserved=("min",),
    as_written=False,
    typed=True,
    whole=True,
    closures=False,
    complex=False,
)
