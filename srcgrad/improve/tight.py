"""Values that are read once in a line that has room for them, now that lines are as short as they become."""

from __future__ import annotations

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.inline import inlined

WIDTH = 88


def tight(program: Program, facts: Facts) -> Program:
    """Write them where they are read, if the line keeps within the page; kernels are cut between statements."""
    if facts.module is not None and facts.module.target == "opencl":
        return program
    return inlined(program, facts, WIDTH)
