"""The C of a step in place: a loop over the places of an array, with what is computed before one is written.

It has names of its own, all of which begin with `sg_`.
"""

from __future__ import annotations

from srcgrad.opencl.entry import entry
from srcgrad.opencl.functions import prelude
from srcgrad.opencl.passes import Plan
from srcgrad.opencl.ranges import loop_of
from srcgrad.opencl.running import functions
from srcgrad.opencl.source import (
    Form,
    decided,
    element,
    joined,
    kind,
    offsets,
    once,
    parameters,
    row_lines,
    rows_of,
    start,
)
from srcgrad.opencl.steps import Formed
from srcgrad.opencl.writing import Put

_SCALAR = """#ifdef __clang__
        #pragma clang loop vectorize(disable) interleave(disable)
        #endif"""
_BLOCK = 1024  # elements of an array of one axis that are computed before they are written


def operands(plan: Plan, form: Form) -> list[str]:
    """Per parameter of a stage, the input that it is; empty for others."""
    made = []
    for parameter in parameters(plan, form):
        word = parameter.split()[-1]
        made.append(word.removesuffix("_in") if word.endswith("_in") else "")
    return made


def text_of(name: str, stage: Formed, puts: list[Put], inside: list[str], extra: list[str], ring: list[str]) -> str:
    """The program: of the operands, those `inside` of the memory that is written are given by where they start there.

    `extra` are the numbers that only writes read; of the values in `ring`, a few rows are kept.
    """
    plan, form = stage.plan, stage.form
    given = []
    for parameter, operand in zip(parameters(plan, form), operands(plan, form), strict=True):
        given.append(f"const long sg_{operand}_off" if operand in inside else parameter)
    given += [f"const REAL {number}_in" for number in extra]
    given += ["__global REAL* restrict sg_memory", "const long sg_places", "const long sg_low", "const long sg_pace"]
    given += ["const long sg_shift", "const long sg_ring"]
    for k in range(1, len(puts) + 1):
        given += [f"const long sg_place_{k}", f"const long sg_col_{k}"]
    body = decided(_body(plan, form, puts, inside, ring))
    sums = "#define SUM_TYPE double\n"
    made = entry(name, given, body)
    return "\n".join([prelude(form.real, body), sums, functions(form.real, body), made])


def _body(plan: Plan, form: Form, puts: list[Put], inside: list[str], ring: list[str]) -> str:
    totals = [line for line in plan.stage.lines if line.name in plan.stage.ends]
    head = [
        *[f"{kind(line)} {line.name}_total = {start(line)};" for line in totals],
        *[f"__global const REAL* {name}_in = sg_memory + sg_{name}_off;" for name in inside],
        *once(plan, form),
        "const size_t sg_soon = row * sizeof(REAL) <= 8192 ? 1 + 4096 / (row * sizeof(REAL)) : rows;",
    ]
    where = joined([*rows_of(form), *(line.replace(" restrict", "") for line in offsets(plan, form))])
    (one,) = plan.passes
    inner = loop_of(one, plan, form)
    for name in ring:
        inner = inner.replace(f"{name}_out[at] = ", f"{name}_out[(r & sg_ring) * row + i] = ")
    many = form.axes > 1
    if many:
        computed = f"""for (; sg_done < sg_due; sg_done++) {{
    const size_t r = sg_done, start = r * row, from = 0, to = row;
    {where}
    {_soon(plan, form, inside, ring)}
{inner}
    }}"""
    else:
        computed = f"""if (sg_done < sg_due) {{
    const size_t start = 0, from = sg_done, to = sg_due;
    {where}
{inner}
    sg_done = sg_due;
    }}"""
    block, size = (1, "(long)rows") if many else (_BLOCK, "(long)row")
    return f"""{{
    {joined(head)}
    long sg_done = 0;
    for (long begin = 0; begin < sg_places; begin += {block}) {{
    const long end = begin + {block} < sg_places ? begin + {block} : sg_places;
    const long sg_due = end - sg_low < {size} ? end - sg_low : {size};
    {computed}
    __global REAL* const sg_base = sg_memory + {"(begin * sg_pace - sg_shift)" if many else "0"};
    {joined([_bounds(k, many) for k in range(1, len(puts) + 1)])}
    {joined(_puts(puts, ring))}
    }}
    {joined([f"{line.name}_sum[0] = {line.name}_total;" for line in totals])}
}}
"""


def _soon(plan: Plan, form: Form, inside: list[str], ring: list[str]) -> str:
    """What asks for memory of a row to come: rows are too short for what the processor foresees of each."""
    read = [
        f"SG_ASK({name}_in + (long)(r + sg_soon) * {name}_s0, row * sizeof(REAL))"
        for name, layout in zip(plan.stage.inputs, form.layouts, strict=True)
        if layout == "1" and name not in inside
    ]
    written = [
        f"SG_ASK({name}_out + (r + sg_soon) * row, row * sizeof(REAL))"
        for name in plan.stage.stored
        if name not in ring and plan.level[name] == "element"
    ]
    return f"if (r + sg_soon < rows) {{ {' '.join(read + written)} }}"


def _bounds(k: int, many: bool) -> str:
    """Which elements a write touches in a block, counted from its base."""
    if many:
        return (
            f"const long sg_r_{k} = begin - sg_place_{k}; "
            f"const int sg_on_{k} = sg_r_{k} >= 0 && sg_r_{k} < (long)rows; "
            f"const long sg_from_{k} = sg_on_{k} ? sg_col_{k} : 0, sg_to_{k} = sg_on_{k} ? sg_col_{k} + (long)row : 0;"
        )
    return (
        f"const long sg_r_{k} = 0, sg_begin_{k} = begin > sg_place_{k} ? begin : sg_place_{k}; "
        f"const long sg_end_{k} = end < sg_place_{k} + (long)row ? end : sg_place_{k} + (long)row; "
        f"const long sg_from_{k} = sg_begin_{k}, sg_to_{k} = sg_end_{k} > sg_begin_{k} ? sg_end_{k} : sg_begin_{k};"
    )


def _puts(puts: list[Put], ring: list[str]) -> list[str]:
    """The writes of a block: where all of them meet as one loop, left and right of that one after the other."""
    made = ["long sg_both = sg_from_1, last = sg_to_1;"]
    for k in range(2, len(puts) + 1):
        made.append(f"sg_both = sg_both > sg_from_{k} ? sg_both : sg_from_{k};")
        made.append(f"last = last < sg_to_{k} ? last : sg_to_{k};")
    made.append("if (sg_both >= last) sg_both = last = LONG_MAX;")
    shared: list[str] = []
    alone: list[str] = []
    for k, put in enumerate(puts, 1):
        before, work = _work(put, k, ring)
        made += before
        shared.append(work)
        alone.append(f"""{{
        const long from = sg_side && sg_from_{k} < last ? last : sg_from_{k};
        const long to = !sg_side && sg_to_{k} > sg_both ? sg_both : sg_to_{k};
        {_SCALAR}
        for (long sg_e = from; sg_e < to; sg_e++) {{ REAL sg_kept = sg_base[sg_e]; {work} sg_base[sg_e] = sg_kept; }}
        }}""")
    return [
        *made,
        "for (int sg_side = 0; sg_side < 2; sg_side++) {",
        *alone,
        "if (sg_side) break;",
        "for (long sg_e = sg_both; sg_e < last; sg_e++) { REAL sg_kept = sg_base[sg_e];",
        *shared,
        "sg_base[sg_e] = sg_kept; } }",
    ]


def _work(put: Put, k: int, ring: list[str]) -> tuple[list[str], str]:
    """What a write needs before the loops, and what it does with an element."""
    plan = put.plan
    (one,) = plan.passes
    out = f"{plan.stage.stored[0]}_out"
    before = []
    for name, layout in zip(plan.stage.inputs, put.form.layouts, strict=True):
        if layout != "v":
            row = f"(sg_r_{k} & sg_ring)" if name in ring else f"sg_r_{k}"
            before.append(f"__global const REAL* sg_{name}_row_{k} = {name}_out + {row} * (long)row;")
    numbers = [*once(plan, put.form), *row_lines(one, plan)]
    work = joined(element(one, plan, put.form, "0"))
    for name, layout in zip(plan.stage.inputs, put.form.layouts, strict=True):
        if layout != "v":
            work = work.replace(f"{name}_row[", f"sg_{name}_row_{k}[")
    work = work.replace(f"{out}[at] = ", "sg_kept += " if put.added else "sg_kept = ")
    return before, f"{{ const long i = sg_e - sg_col_{k}; {' '.join(numbers)} {work} }}"
