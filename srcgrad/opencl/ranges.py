"""Loops for CPUs: one item per range, of elements if there is one row, of rows otherwise."""

from __future__ import annotations

import re

from srcgrad.opencl import runs, turned
from srcgrad.opencl.lines import Line, is_dear
from srcgrad.opencl.passes import Pass, Plan
from srcgrad.opencl.runs import BLOCK
from srcgrad.opencl.source import (
    FAR,
    Form,
    batches,
    cleared,
    element,
    far,
    in_column,
    is_extreme,
    joined,
    kind,
    larger,
    offsets,
    once,
    reduced,
    row_lines,
    rows_of,
    start,
)

LANES = 16
_PIECE = {"float": 512, "double": 256}  # elements whose successors are asked for at once: 2 KB
_AHEAD = 8192  # bytes from an element to the one that is asked for when its piece begins
_CACHED = 1 << 20  # bytes of an operand that are not asked for: they may well be near
_ADDED = re.compile(r"(\w+)_acc\[LANE\] \+= (.*?);")


def body(plan: Plan, form: Form) -> str:
    """The body of the kernel."""
    ends = plan.stage.ends
    sums = {line.name: line for line in plan.stage.lines if line.name in ends}
    totals = [line for name, line in sums.items() if ends[name] in ("total", "parts")]
    head = [
        *[f"{kind(line)} {line.name}_total = {start(line)};" for line in totals],
        *[
            f"for (size_t i = 0; i < row; i++) {name}_cols[g * row + i] = 0;"
            for name, end in ends.items()
            if end == "columns"
        ],
        *once(plan, form),
    ]
    tail = [f"{line.name}_sum[g] = {line.name}_total;" for line in totals]
    inner = "\n".join(loop_of(one, plan, form) for one in plan.passes)
    if runs.down(plan):
        return f"""{{
    {joined(head)}
{runs.down_rows(plan, form, inner)}
    {joined(tail)}
}}
"""
    if form.axes == 1:
        return f"""{{
    {joined(head)}
    const size_t share = ((row + groups - 1) / groups + 63) / 64 * 64, start = 0;
    const size_t from = g * share < row ? g * share : row;
    const size_t to = from + share < row ? from + share : row;
    {joined(offsets(plan, form))}
{inner}
    {joined(tail)}
}}
"""
    is_turned, whole = bool(turned.names(plan, form)), "(rows + groups - 1) / groups"
    return f"""{{
    {joined(head)}
    const size_t share = {_of_batches(form) if batches(plan) else turned.share(whole) if is_turned else whole};
    const size_t first = g * share < rows ? g * share : rows;
    const size_t last = first + share < rows ? first + share : rows;
{(turned.loops if is_turned else _rows)(plan, form, inner)}
    {joined(tail)}
}}
"""


def _rows(plan: Plan, form: Form, inner: str) -> str:
    """The loop over the rows of a group."""
    return f"""    const size_t from = 0, to = row;
    for (size_t r = first; r < last; r++) {{
    const size_t start = r * row;
    {joined([*rows_of(form), *cleared(plan, form), *offsets(plan, form)])}
{inner}
    }}"""


def _of_batches(form: Form) -> str:
    """How many rows a group has, where it has whole batches."""
    size = f"d{form.axes - 2}"
    return f"(rows / {size} + groups - 1) / groups * {size}"


def loop_of(one: Pass, plan: Plan, form: Form) -> str:
    """A loop over the row, after what is done with the row as a whole."""
    before = joined([*row_lines(one, plan), *runs.starts(one, plan)])
    place = "g * row" if form.axes > 1 else "0"
    run, held_before = runs.of_block(one, plan, form, place)
    work = "\n            ".join(element(one, plan, form, place, held_before))
    work = far(work) if runs.down(plan) else work  # a block that is computed again would be added twice
    if not work:
        return f"    {before}"
    sums = [line for line in one.sums if plan.stage.ends.get(line.name) not in ("columns", "batches", "host")]
    rows = [line for line in sums if line.name not in plan.stage.ends]
    before = joined([before, *[f"{kind(line)} {line.name}_total = {start(line)};" for line in rows]])
    after = joined([text for line in rows for text in reduced(line, plan)])
    if not sums and not FAR.search(work) and not run:
        loop = f"""for (size_t i = from; i < to; i++) {{
            const size_t at = start + i;
            {work}
        }}"""
        soon = _soon(one, plan, form) if one.sums else ""
        loop = f"{_pieces(form)}\n            {soon}\n        {_of_piece(loop)}\n        }}" if soon else loop
        return f"    {before}\n        {loop}\n    {after}"
    if sums and not run and _is_light(one, plan, form, sums):
        return _in_any_order(work, before, after, one, plan, form, sums)
    return _in_lanes(work, before, after, run, one, plan, form, sums)


def _is_light(one: Pass, plan: Plan, form: Form, sums: list[Line]) -> bool:
    """Whether a loop does so little for each element that sums are what it waits for."""
    kinds = dict(zip(plan.stage.inputs, form.layouts, strict=True))
    if any(kinds[name][0] == "s" for name in one.loads):
        return False  # it may not become one of vectors
    added = not any(is_extreme(line) or line.form == "PROD" for line in sums)
    return added and not any(map(is_dear, [*one.lines, *one.sums, *one.rows]))


def _in_any_order(work: str, before: str, after: str, one: Pass, plan: Plan, form: Form, sums: list[Line]) -> str:
    """A loop whose sums the compiler may add up in any order, where it knows how to be told; in lanes elsewhere."""
    free = _ADDED.sub(r"{ const REAL sg_value = \2; { SG_ANY_ORDER \1_any += sg_value; } }", work)
    return f"""#ifdef SG_ANY_ORDER
    {before}
        {_pieces(form)}
            {_soon(one, plan, form)}
            {" ".join(f"REAL {line.name}_any = 0;" for line in sums)}
            for (size_t i = begin; i < end; i++) {{
            const size_t at = start + i;
            {free}
            }}
            {" ".join(f"{line.name}_total += {line.name}_any;" for line in sums)}
        }}
    {after}
#else
{_in_lanes(work, before, after, "", one, plan, form, sums)}
#endif"""


def _pieces(form: Form) -> str:
    """The loop over pieces of a row, opened."""
    size = _PIECE[form.real]
    return f"""for (size_t begin = from; begin < to; begin += {size}) {{
            const size_t end = begin + {size} < to ? begin + {size} : to;"""


def _of_piece(loop: str) -> str:
    """A loop over a row, over a piece of it."""
    return loop.replace("i = from; i < to;", "i = begin; i < end;")


def _soon(one: Pass, plan: Plan, form: Form) -> str:
    """What asks for memory that is read soon, where sums are what is done with it.

    The processor foresees too little of what two cores could read; of what is there anyway nothing is asked for.
    """
    kinds = dict(zip(plan.stage.inputs, form.layouts, strict=True))
    before = plan.passes[: plan.passes.index(one)]
    new = [name for name in one.loads if kinds[name] == "1" and not any(name in other.loads for other in before)]
    size = "(end - begin) * sizeof(REAL)"
    asked = " ".join(f"SG_ASK((__global const char*)({name}_row + begin) + {_AHEAD}, {size})" for name in new)
    return f"if (rows * row * sizeof(REAL) > {_CACHED}) {{ {asked} }}" if new else ""


def _in_lanes(work: str, before: str, after: str, run: str, one: Pass, plan: Plan, form: Form, sums: list[Line]) -> str:
    """A loop of lanes, each of which has sums and extremes of its own."""
    products = [line.name for line in sums if line.form == "PROD"]
    lanes = [line for line in sums if line.form != "PROD"]
    ends = plan.stage.ends
    held = [line.name for line in one.sums if ends.get(line.name) in ("columns", "batches") and FAR.search(work)]
    for name in held:  # a block that is computed again must not be added twice
        work = work.replace(f"{in_column(name, plan, form)} += ", f"{name}_block[i - begin] = ")
    clear = " ".join(f"for (int l = 0; l < {LANES}; l++) {s.name}_acc[l] = {start(s)};" for s in lanes)
    return f"""    {before}
        {runs.blocks(one, plan, form)}
            const size_t whole = begin + (end - begin) / {LANES} * {LANES};
            int sg_far = 0;
            {" ".join(f"REAL {line.name}_acc[{LANES}];" for line in lanes)}
            {" ".join(f"REAL {name}_factors[{runs.length(one, plan, form)}];" for name in products)}
            {" ".join(f"REAL {name}_block[{BLOCK}];" for name in held)}
            {clear}
            {run}
            for (size_t b = begin; b < whole; b += {LANES}) {{
            for (size_t l = 0; l < {LANES}; l++) {{
            const size_t i = b + l, at = start + i;
            {work.replace("[LANE]", "[l]")}
            }} }}
            for (size_t i = whole; i < end; i++) {{
            const size_t at = start + i;
            {work.replace("[LANE]", "[0]")}
            }}{_again(work, clear)}
            {" ".join(_collected(line) for line in sums)}
            {" ".join(_moved(name, in_column(name, plan, form)) for name in held)}
        }}
    {after}"""


def _collected(line: Line) -> str:
    """The lanes of a block, put together with what came before."""
    name = line.name
    if line.form == "PROD":
        return f"for (size_t i = begin; i < end; i++) {name}_total *= {name}_factors[i - begin];"
    if is_extreme(line):
        step = f"{name}_total = {larger(line)}({name}_total, {name}_acc[l]);"
        return f"for (int l = 0; l < {LANES}; l++) {step}"
    return (
        f"{{ SUM_TYPE {name}_block = 0; for (int l = 0; l < {LANES}; l++) {name}_block += {name}_acc[l]; "
        f"{name}_total += {name}_block; }}"
    )


def _moved(name: str, place: str) -> str:
    """A block of column sums, added to those of the range."""
    return f"for (size_t i = begin; i < end; i++) {place} += {name}_block[i - begin];"


def _again(work: str, clear: str) -> str:
    """The block once more with the runtime's functions, where an argument was too large for ours."""
    if not FAR.search(work):
        return ""
    return f"""
            if (sg_far) {{
                {clear}
                for (size_t i = begin; i < end; i++) {{
                const size_t at = start + i;
                {far(work).replace("[LANE]", "[0]")}
                }}
            }}"""
