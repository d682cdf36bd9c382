"""The whole text of one kernel of C: a stage, inside the loops that suit a device and the operands' layout.

CPU devices run one work-group of one item per contiguous range of rows, with a unit-stride inner loop that vectorises;
others run a grid of items. Sums are added up in blocks, block sums in double (or in blocks of blocks), so that rounding
errors do not grow with the length.
"""

from __future__ import annotations

from srcgrad.opencl import grid, ranges
from srcgrad.opencl.functions import prelude
from srcgrad.opencl.passes import Plan
from srcgrad.opencl.source import Form, parameters


def text_of(name: str, plan: Plan, form: Form) -> str:
    """The OpenCL C of a stage in one form."""
    grouped = "" if form.gpu else "__attribute__((reqd_work_group_size(1, 1, 1)))"
    body = (grid.body if form.gpu else ranges.body)(plan, form)
    pieces = [
        prelude(form.real, body),
        f"#define SUM_TYPE {'float' if form.gpu and form.real == 'float' else 'double'}\n",
        f"{grouped}\n__kernel void {name}(",
        "    " + ",\n    ".join(parameters(plan, form)) + ")",
        body,
    ]
    return "\n".join(pieces)
