"""The target numba: loops over elements, which Numba compiles."""

from __future__ import annotations

from srcgrad.backend.numba.array_statements import loops, note_safe_indices
from srcgrad.backend.numba.boundary import compile_text, guard_arguments
from srcgrad.backend.numba.element_loops import elements, join_loop_updates, tapes
from srcgrad.backend.numba.map_items import add_item_parameters, parallel_loop, rows
from srcgrad.backend.numba.value_types import decorators, ranges, respell_for_numba, scalars
from srcgrad.core.target import Target

NUMBA = Target(
    "numba",
    passes=(
        ranges,
        add_item_parameters,
        scalars,
        join_loop_updates,
        tapes,
        loops,
        elements,
        rows,
        note_safe_indices,
        respell_for_numba,
    ),
    wrap=decorators,
    compile=compile_text,
    boundary=guard_arguments,
    parallel=parallel_loop,
    excludes=("standalone",),
    reserved=("min",),
    as_written=False,
    typed=True,
    whole=True,
    closures=False,
    complex=False,
)
