"""The text of a program: the stages of a kernel, inside the loops that suit a device and the operands' layout.

CPU devices run one work-group of one item per contiguous range of rows, with a unit-stride inner loop that vectorises;
others run a grid of items. Sums are added up in blocks, block sums in double (or in blocks of blocks), so that rounding
errors do not grow with the length.
"""

from __future__ import annotations

from collections.abc import Sequence

from srcgrad.opencl import grid, ranges, running, turned
from srcgrad.opencl.entry import entry
from srcgrad.opencl.functions import prelude
from srcgrad.opencl.passes import Plan
from srcgrad.opencl.source import Form, parameters


def text_of(stages: Sequence[tuple[str, Plan, Form]]) -> str:
    """The OpenCL C of stages of one kernel, each under its name and in its form, as one program."""
    form = stages[0][2]
    texts = [_kernel(*stage) for stage in stages]
    sums = f"#define SUM_TYPE {'float' if form.gpu and form.real == 'float' else 'double'}\n"
    whole = "\n".join(texts)
    called = [running.functions(form.real, whole), turned.functions(form.real, whole)]
    return "\n".join([prelude(form.real, whole), sums, *called, whole])


def _kernel(name: str, plan: Plan, form: Form) -> str:
    given = parameters(plan, form)
    if not form.gpu:
        return entry(name, given, ranges.body(plan, form))
    listed = ",\n    ".join(given)
    return f"\n__kernel void {name}(\n    {listed})\n{grid.body(plan, form)}"
