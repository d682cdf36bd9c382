"""Loops around the C of one element: on a CPU, by ranges or columns, and on a GPU, by groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from srcgrad.opencl.kernels import running_sums
from srcgrad.opencl.kernels.c_functions import prelude
from srcgrad.opencl.kernels.lines import Line, Part, entry, entry_of_all, is_dear
from srcgrad.opencl.kernels.running_sums import (
    BLOCK,
    ITEMS,
    LANES,
    down,
    down_items,
    is_in_parts,
    of_items,
    running,
    starts,
)
from srcgrad.opencl.kernels.stages import (
    FAR,
    Form,
    Pass,
    Plan,
    batches,
    cleared,
    decided,
    element,
    far,
    in_column,
    is_extreme,
    joined,
    kind,
    larger,
    offsets,
    once,
    parameters,
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


def grid_body(plan: Plan, form: Form) -> str:
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


ROWS = 16  # rows of a piece: a line of memory
WIDTH = 256  # elements of each
_STEPS = "abcd"  # what the vectors are called, from step to step
_TEXT = """typedef TYPEN __attribute__((aligned(sizeof(TYPE)))) sg_TYPE_N;
static inline __attribute__((always_inline)) void sg_turned_TYPE(
    TYPE* block, __global const TYPE* from, const long side, const long step, const size_t rows, const size_t width) {
    size_t c = 0;
    if (side == 1) for (; c + N <= width; c += N) {
        __global const TYPE* at = from + (long)c * step;
        size_t q = 0;
        for (; q + N <= rows; q += N) {
            LOADS
            TURN
            STORES
        }
        for (; q < rows; q++) for (size_t k = 0; k < N; k++) block[q * WIDTH + c + k] = at[(long)k * step + (long)q];
    }
    for (; c < width; c++)
        for (size_t q = 0; q < rows; q++) block[q * WIDTH + c] = from[(long)c * step + (long)q * side];
}
"""


def functions(real: str, texts: str) -> str:
    """The C functions that some kernels call."""
    return "".join(_function(kind, LANES[real]) for kind in (real, "uchar") if f"sg_turned_{kind}(" in texts)


def _function(kind: str, lanes: int) -> str:
    words = {
        "LOADS": " ".join(
            f"const TYPEN a{k} = *(__global const sg_TYPE_N*)(at + {k} * step + (long)q);" for k in range(lanes)
        ),
        "TURN": _turn(lanes),
        "STORES": " ".join(
            f"*(sg_TYPE_N*)(block + (q + {k}) * WIDTH + c) = {_STEPS[lanes.bit_length() - 1]}{k};" for k in range(lanes)
        ),
        "TYPE": kind,
        "WIDTH": str(WIDTH),
        "N": str(lanes),
    }
    text = _TEXT
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text


def _turn(lanes: int) -> str:
    """Vectors as the columns of a square become its rows: halves change places, then quarters, then elements."""
    made, gap = [], lanes // 2
    for before, after in pairwise(_STEPS[: lanes.bit_length()]):
        for k in range(lanes):
            if not k & gap:
                one, two = f"{before}{k}", f"{before}{k + gap}"
                low = [f"{two}.s{j - gap}" if j & gap else f"{one}.s{j}" for j in range(lanes)]
                high = [f"{two}.s{j}" if j & gap else f"{one}.s{j + gap}" for j in range(lanes)]
                made.append(f"const TYPEN {after}{k} = (TYPEN)({', '.join(low)});")
                made.append(f"const TYPEN {after}{k + gap} = (TYPEN)({', '.join(high)});")
        gap //= 2
    return " ".join(made)


def names(plan: Plan, form: Form) -> list[tuple[str, str]]:
    """The operands that are transposed, with the type of their elements."""
    found = zip(plan.stage.inputs, form.layouts, strict=True)
    return [(name, "uchar" if layout.endswith("b") else form.real) for name, layout in found if layout[0] == "t"]


def share(rows: str) -> str:
    """How many rows a group has, from how many it has to have: whole pieces, where it has several."""
    return f"{rows} < {ROWS} ? {rows} : ({rows} + {ROWS - 1}) / {ROWS} * {ROWS}"


def loops(plan: Plan, form: Form, inner: str) -> str:
    """The loops over pieces and their rows around what is done with a piece of a row."""
    blocks, brought, found = [], [], []
    axis = form.axes - 2
    for name, kind in names(plan, form):
        blocks.append(f"{kind} {name}_block[{ROWS * WIDTH}];")
        place = " + ".join(f"(long)j{k} * {name}_s{k}" for k in range(form.axes - 1))
        start = f"{name}_in + ({place} + (long)from * {name}_step)"
        brought.append(f"sg_turned_{kind}({name}_block, {start}, {name}_s{axis}, {name}_step, sg_rows, to - from);")
        found.append(f"const {kind}* {name}_row = {name}_block + (r - sg_first) * {WIDTH};")
    whole = f"last - r < d{axis} - j{axis} ? last - r : d{axis} - j{axis}" if axis else "last - r"
    return f"""    {joined(blocks)}
    for (size_t from = 0; from < row; from += {WIDTH}) {{
    const size_t to = from + {WIDTH} < row ? from + {WIDTH} : row;
    for (size_t sg_first = first, sg_last; sg_first < last; sg_first = sg_last) {{
    {{
    const size_t r = sg_first;
    {joined(rows_of(form))}
    const size_t sg_left = {whole}, sg_rows = sg_left < {ROWS} ? sg_left : {ROWS};
    {joined(brought)}
    sg_last = r + sg_rows;
    }}
    for (size_t r = sg_first; r < sg_last; r++) {{
    const size_t start = r * row;
    {joined([*rows_of(form), *cleared(plan, form), *offsets(plan, form), *found])}
{inner}
    }} }} }}"""


ACCUMULATORS = 16
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
    if running_sums.down(plan):
        return f"""{{
    {joined(head)}
{running_sums.down_rows(plan, form, inner)}
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
    is_turned, whole = bool(names(plan, form)), "(rows + groups - 1) / groups"
    return f"""{{
    {joined(head)}
    const size_t share = {_of_batches(form) if batches(plan) else share(whole) if is_turned else whole};
    const size_t first = g * share < rows ? g * share : rows;
    const size_t last = first + share < rows ? first + share : rows;
{(loops if is_turned else _rows)(plan, form, inner)}
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
    before = joined([*row_lines(one, plan), *running_sums.starts(one, plan)])
    place = "g * row" if form.axes > 1 else "0"
    run, held_before = running_sums.of_block(one, plan, form, place)
    work = "\n            ".join(element(one, plan, form, place, held_before))
    work = far(work) if running_sums.down(plan) else work  # a block that is computed again would be added twice
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
    clear = " ".join(f"for (int l = 0; l < {ACCUMULATORS}; l++) {s.name}_acc[l] = {start(s)};" for s in lanes)
    return f"""    {before}
        {running_sums.blocks(one, plan, form)}
            const size_t whole = begin + (end - begin) / {ACCUMULATORS} * {ACCUMULATORS};
            int sg_far = 0;
            {" ".join(f"REAL {line.name}_acc[{ACCUMULATORS}];" for line in lanes)}
            {" ".join(f"REAL {name}_factors[{running_sums.length(one, plan, form)}];" for name in products)}
            {" ".join(f"REAL {name}_block[{BLOCK}];" for name in held)}
            {clear}
            {run}
            for (size_t b = begin; b < whole; b += {ACCUMULATORS}) {{
            for (size_t l = 0; l < {ACCUMULATORS}; l++) {{
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
        return f"for (int l = 0; l < {ACCUMULATORS}; l++) {step}"
    return (
        f"{{ SUM_TYPE {name}_block = 0; for (int l = 0; l < {ACCUMULATORS}; l++) {name}_block += {name}_acc[l]; "
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


def text_of(stages: Sequence[tuple[str, Plan, Form]], whole: str = "") -> str:
    """The OpenCL C of stages of one kernel, each under its name and in its form, as one program.

    Under the name `whole` it is one kernel, which is told what stages to run.
    """
    form = stages[0][2]
    texts = [entry_of_all(whole, [_part(*stage) for stage in stages])] if whole else [_kernel(*s) for s in stages]
    sums = f"#define SUM_TYPE {'float' if form.gpu and form.real == 'float' else 'double'}\n"
    code = decided("\n".join(texts))
    called = [running_sums.functions(form.real, code), functions(form.real, code)]
    return "\n".join([prelude(form.real, code), sums, *called, code])


def _part(name: str, plan: Plan, form: Form) -> Part:
    return Part(name, parameters(plan, form), body(plan, form))


def _kernel(name: str, plan: Plan, form: Form) -> str:
    if not form.gpu:
        part = _part(name, plan, form)
        return entry(name, part.given, part.body)
    listed = ",\n    ".join(parameters(plan, form))
    return f"\n__kernel void {name}(\n    {listed})\n{grid_body(plan, form)}"
