"""The target mpi: each rank holds a block of the rows, and what ranks give is added up by `allreduce`."""

from __future__ import annotations

from srcgrad.backend.spread_rows import Engine, sums_over_blocks
from srcgrad.core.facts import Facts
from srcgrad.core.target import Target
from srcgrad.derive.program import Program
from srcgrad.runtime.ranks import allreduce, each_block, each_row, row_starts, sharded

ENGINE = Engine("mpi", sharded, each_block, each_row, row_starts, allreduce, allreduce, same=True, own=".own")


def blocks_on_ranks(program: Program, facts: Facts) -> Program:
    """Make each loop over blocks of rows a function of a rank's rows; its sums are added up over the ranks, once.

    What has no rows is computed by each rank, from the same numbers: it counts once, and so do its adjoints.
    """
    return sums_over_blocks(program, facts, ENGINE)


MPI = Target(
    "mpi",
    passes=(blocks_on_ranks,),
    closures=False,
    spreads=True,
    no_items="there is no loop over items that are spread",
    excludes=("chunks",),
)
