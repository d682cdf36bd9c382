"""The text of a program: the stages of a kernel, inside the loops that suit a device and the operands' layout.

CPU devices run one work-group of one item per contiguous range of rows, with a unit-stride inner loop that vectorises;
others run a grid of items. Sums are added up in blocks, block sums in double (or in blocks of blocks), so that rounding
errors do not grow with the length.
"""

from __future__ import annotations

from collections.abc import Sequence

from srcgrad.opencl import grid, ranges, running, turned
from srcgrad.opencl.entry import Part, entry, entry_of_all
from srcgrad.opencl.functions import prelude
from srcgrad.opencl.passes import Plan
from srcgrad.opencl.source import Form, decided, parameters


def text_of(stages: Sequence[tuple[str, Plan, Form]], whole: str = "") -> str:
    """The OpenCL C of stages of one kernel, each under its name and in its form, as one program.

    Under the name `whole` it is one kernel, which is told what stages to run.
    """
    form = stages[0][2]
    texts = [entry_of_all(whole, [_part(*stage) for stage in stages])] if whole else [_kernel(*s) for s in stages]
    sums = f"#define SUM_TYPE {'float' if form.gpu and form.real == 'float' else 'double'}\n"
    code = decided("\n".join(texts))
    called = [running.functions(form.real, code), turned.functions(form.real, code)]
    return "\n".join([prelude(form.real, code), sums, *called, code])


def _part(name: str, plan: Plan, form: Form) -> Part:
    return Part(name, parameters(plan, form), ranges.body(plan, form))


def _kernel(name: str, plan: Plan, form: Form) -> str:
    if not form.gpu:
        part = _part(name, plan, form)
        return entry(name, part.given, part.body)
    listed = ",\n    ".join(parameters(plan, form))
    return f"\n__kernel void {name}(\n    {listed})\n{grid.body(plan, form)}"
