"""Loops for GPUs: a grid of items over all elements; a work-group per row where rows are reduced or columns summed."""

from __future__ import annotations

from srcgrad.opencl.lines import Line
from srcgrad.opencl.passes import Pass, Plan
from srcgrad.opencl.runs import ITEMS, down, down_items, is_in_parts, of_items, running, starts
from srcgrad.opencl.source import (
    Form,
    element,
    far,
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


def in_groups(plan: Plan) -> bool:
    """Whether work-groups take whole rows."""
    if is_in_parts(plan) or "rows" in plan.scans.values():
        return True
    return len(plan.passes) > 1 or "columns" in plan.stage.ends.values() or "row" in plan.level.values()


def body(plan: Plan, form: Form) -> str:
    """The body of the kernel."""
    ends = plan.stage.ends
    totals = [line for line in plan.stage.lines if ends.get(line.name) in ("total", "parts")]
    scans = [line for one in plan.passes for line in running(one, plan)]
    by_row = [line for one in plan.passes for line in one.sums if line.name not in ends]
    head = [
        "const size_t me = get_local_id(0), g = get_group_id(0);",
        *_local([*totals, *by_row, *scans]),
        *[f"REAL {line.name}_acc[1]; {line.name}_acc[0] = {start(line)};" for line in totals],
        *[
            f"for (size_t i = me; i < row; i += {ITEMS}) {name}_cols[g * row + i] = 0;"
            for name, end in ends.items()
            if end == "columns"
        ],
        *once(plan, form),
    ]
    tail = [f"{tree(line)} if (me == 0) {line.name}_sum[g] = {line.name}_tree[0];" for line in totals]
    if down(plan):
        (one,) = plan.passes
        work = far(joined(element(one, plan, form, "g * row"))).replace("[LANE]", "[0]")
        return f"{{\n    {joined(head)}\n{down_items(plan, form, work)}\n    {joined(tail)}\n}}\n"
    if not in_groups(plan):
        (one,) = plan.passes
        inner = [*rows_of(form), *offsets(plan, form), *element(one, plan, form, "g * row")]
        work = far(joined(inner)).replace("[LANE]", "[0]")
        return f"""{{
    {joined(head)}
    for (size_t at = get_global_id(0); at < rows * row; at += get_global_size(0)) {{
    const size_t r = at / row, i = at - r * row;
    {work}
    }}
    {joined(tail)}
}}
"""
    if form.axes == 1:
        part = "const size_t from = g * share < row ? g * share : row, to = from + share < row ? from + share : row;"
        inner_text = "\n".join(_pass(one, plan, form) for one in plan.passes)
        return f"""{{
    {joined(head)}
    const size_t groups = get_num_groups(0), start = 0;
    const size_t share = ((row + groups - 1) / groups + {ITEMS - 1}) / {ITEMS} * {ITEMS};
    {part}
    {joined(offsets(plan, form))}
{inner_text}
    {joined(tail)}
}}
"""
    inner_text = "\n".join(_pass(one, plan, form) for one in plan.passes)
    return f"""{{
    {joined(head)}
    for (size_t r = g; r < rows; r += get_num_groups(0)) {{
    const size_t start = r * row, from = 0, to = row;
    {joined([*rows_of(form), *offsets(plan, form)])}
{inner_text}
    }}
    {joined(tail)}
}}
"""


def _local(lines: list[Line]) -> list[str]:
    """The memory in which the items of a group meet."""
    factors = [line for line in lines if line.by or line.form == "PROD"]
    made = [f"__local {kind(line)} {line.name}_tree[{ITEMS}];" for line in lines]
    return [*made, *[f"__local REAL {line.name}_factors[{ITEMS}];" for line in factors]]


def _pass(one: Pass, plan: Plan, form: Form) -> str:
    rows = [line for line in one.sums if line.name not in plan.stage.ends]
    clear = joined([f"REAL {line.name}_acc[1]; {line.name}_acc[0] = {start(line)};" for line in rows])
    place = "g * row" if form.axes > 1 else "0"
    run, held = of_items(one, plan, form, place)
    work = far(joined(element(one, plan, form, place, held))).replace("[LANE]", "[0]")
    after = joined([text for line in rows for text in _reduced(line, plan)])
    loop = f"""
    for (size_t i = from + me; i < to; i += {ITEMS}) {{
    const size_t at = start + i;
    {work}
    }}"""
    products = [line.name for line in rows if line.form == "PROD"]
    if run or products:
        back = any(line.back for line in running(one, plan))
        loop = f"""
    for (size_t b = from; b < to; b += {ITEMS}) {{
    const int sg_inside = b + me < to;
    const size_t i = {"to - 1 - (b - from + me)" if back else "b + me"}, at = start + i;
    {run}
    if (sg_inside) {{ {work} }}
    {joined([_multiplied(name) for name in products])}
    }}"""
    whole = joined([*(_by_one(line, plan) for line in row_lines(one, plan)), *starts(one, plan)])
    return f"    {_met(plan)}{whole}\n    {clear}{loop if work else ''}\n    {after}"


def _multiplied(name: str) -> str:
    """Factors one by one, as NumPy goes: a tree of them may leave the range of numbers where the product does not."""
    return f"""barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) for (size_t k = 0; k < {ITEMS} && b + k < to; k++) {name}_acc[0] *= {name}_factors[k];
    barrier(CLK_LOCAL_MEM_FENCE);"""


def _met(plan: Plan) -> str:
    """Before a pass, where some of them run from the end: what it reads, or writes over, was another item's."""
    turned = any(line.back and line.name in plan.scans for line in plan.stage.lines)
    shared = any(one.again for one in plan.passes)
    return "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n    " if turned and shared else ""


def _reduced(line: Line, plan: Plan) -> list[str]:
    """What the items of a group have found, for all of them."""
    value, *stored = reduced(line, plan)
    total = f"{kind(line)} {line.name}_total = {line.name}_tree[0]; barrier(CLK_LOCAL_MEM_FENCE);"
    return [tree(line), total, value, *(f"if (me == 0) {text}" for text in stored)]


def _by_one(text: str, plan: Plan) -> str:
    """What only one item does: to store, or to add, what is of the row as a whole."""
    for name, end in plan.stage.ends.items():
        if end == "total" and f"{name}_total" in text:
            return f"if (me == 0) {{ {text.replace(f'{name}_total', f'{name}_acc[0]')} }}"
    return f"if (me == 0) {text}" if "_out[r] = " in text else text


def tree(line: Line) -> str:
    """Put together what the items of a group have found."""
    name = line.name
    if line.form == "PROD":
        return f"if (me == 0) {name}_tree[0] = {name}_acc[0]; barrier(CLK_LOCAL_MEM_FENCE);"
    both = f"{name}_tree[me], {name}_tree[me + gap]"
    step = f"{larger(line)}({both})" if is_extreme(line) else " + ".join(both.split(", "))
    return f"""{name}_tree[me] = {name}_acc[0]; barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t gap = {ITEMS // 2}; gap > 0; gap /= 2) {{
        if (me < gap) {name}_tree[me] = {step};
        barrier(CLK_LOCAL_MEM_FENCE);
    }}"""
