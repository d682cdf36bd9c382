"""Loops around the C of one element: on a CPU, by ranges or columns, and on a GPU, by groups.

Running sums and other recurrences in kernels: how they run, and their C.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from srcgrad.opencl.kernels.c_functions import prelude
from srcgrad.opencl.kernels.lines import Line, Part, entry, entry_of_all, is_dear
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

LANES = {"float": 8, "double": 4}
_RUN_TEXT = """static inline __attribute__((always_inline)) REAL sg_running_NAME(
    REAL* run, const REAL start, const size_t n) {
    const SG_MANY z = (SG_MANY)(EMPTY);
    SG_MANY total = (SG_MANY)(start);
    size_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        SG_MANY v = *(SG_ANYWHERE*)(run + PIECE);
        TREE
        const SG_MANY w = v OP total;
        PUT
    }
    REAL one = total.s0;
    for (; k < n; k++) run[ONE] = one OP= run[ONE];
    return one;
}
"""
_PUT = """*(SG_ANYWHERE*)(run + PIECE) = w;
        total OP= (SG_MANY)(v.LAST);"""
_PUT_INSIDE = """const INTS p = as_INTS(v) & POSITIVE, q = as_INTS(w) & POSITIVE, far = (p - LOW) | (HIGH - p);
        const REAL last = total.s0;
        if (sg_below(far | (q - LEAST) | (MOST - q)) && (sg_below(far) || (last != 0 && last - last == 0))) {
            REAL one = last;
            for (size_t l = 0; l < LANES; l++) run[EACH] = one OP= run[EACH];
            total = (SG_MANY)(one);
        } else {
            *(SG_ANYWHERE*)(run + PIECE) = w;
            total OP= (SG_MANY)(v.LAST);
        }"""
_BELOW = {  # whether an element is below zero
    "float": """static inline __attribute__((always_inline)) int sg_below(const int8 numbers) {
    const int8 each = numbers < 0;
    const int4 four = each.lo | each.hi;
    const int2 two = four.lo | four.hi;
    return two.x | two.y;
}
""",
    "double": """static inline __attribute__((always_inline)) int sg_below(const long4 numbers) {
    const long4 each = numbers < 0;
    const long2 two = each.lo | each.hi;
    return (two.x | two.y) != 0;
}
""",
}
# bit patterns: where v is between LOW and HIGH, so are all products of its elements normal; results are, or they stay
_NUMBERS = {
    "float": {
        "INTS": "int8", "POSITIVE": "0x7fffffff", "LOW": "0x21800000", "HIGH": "0x5d000000", "LEAST": "0x00800000",
        "MOST": "0x7f7fffff",
    },
    "double": {
        "INTS": "long4", "POSITIVE": "0x7fffffffffffffffL", "LOW": "0x2000000000000000L",
        "HIGH": "0x5fe0000000000000L", "LEAST": "0x0010000000000000L", "MOST": "0x7fefffffffffffffL",
    },
}  # fmt: skip
_RECURRENCES = {
    "recurrence_on": """static inline __attribute__((always_inline)) REAL sg_recurrence_on(
    REAL* run, const REAL* by, REAL one, const size_t n, const int fresh) {
    if (fresh) one = run[0];
    for (size_t k = fresh; k < n; k++) run[k] = one = run[k] + by[k] * one;
    return one;
}
""",
    "recurrence_back": """static inline __attribute__((always_inline)) REAL sg_recurrence_back(
    REAL* run, const REAL* by, REAL one, const size_t n, const int fresh) {
    for (size_t k = n; k-- > 0;) { run[k] += one; one = by[k] * run[k]; }
    return one;
}
""",
}
_OPERATORS = {"sum": ("+", "-0.0"), "product": ("*", "1")}  # and what there is before the first element


def run_functions(real: str, texts: str) -> str:
    """Those that some kernels call."""
    called = [f"{what}_{way}" for what in _OPERATORS for way in ("on", "back") if f"sg_running_{what}_{way}(" in texts]
    recurrences = "".join(text for name, text in _RECURRENCES.items() if f"sg_{name}(" in texts)
    if not called:
        return recurrences
    head = f"typedef {real}{LANES[real]} SG_MANY;\n"
    head += f"typedef {real}{LANES[real]} __attribute__((aligned({4 if real == 'float' else 8}))) SG_ANYWHERE;\n"
    head += _BELOW[real] if any(name.startswith("product") for name in called) else ""
    return head + "\n".join(_run_function(name, real) for name in called) + recurrences


def _run_function(name: str, real: str) -> str:
    what, way = name.split("_")
    lanes = LANES[real]
    operator, empty = _OPERATORS[what]
    words = {"PUT": _PUT_INSIDE if what == "product" else _PUT, "TREE": _tree(lanes, way, operator)}
    words |= {"EMPTY": empty, "NAME": name, **_NUMBERS[real]}
    if way == "on":
        words |= {"PIECE": "k", "ONE": "k", "EACH": "k + l", "LAST": f"s{lanes - 1}"}
    else:
        words |= {"PIECE": f"n - k - {lanes}", "ONE": "n - 1 - k", "EACH": "n - 1 - k - l", "LAST": "s0"}
    text = _RUN_TEXT
    for word, meant in {**words, "LANES": str(lanes), " OP": f" {operator}"}.items():
        text = text.replace(word, meant)
    return text


def _tree(lanes: int, way: str, operator: str) -> str:
    """The running values of a vector: with it is put together itself, moved by one, by two, and by four."""
    made = []
    for gap in (1, 2, 4)[: lanes.bit_length() - 1]:
        moved = [k - gap if way == "on" else k + gap for k in range(lanes)]
        terms = ", ".join(f"v.s{k}" if 0 <= k < lanes else "z.s0" for k in moved)
        made.append(f"v {operator}= (SG_MANY)({terms});")
    return " ".join(made)


BLOCK = 1024
RUN = {"float": 128, "double": 64}  # of what runs along a row: so few that the next are read while these are summed
RUNS = 1024  # elements of a row that a group takes down all rows at once, at most
ITEMS = 256


def running(one: Pass, plan: Plan) -> list[Line]:
    """The lines of a pass that run along the row."""
    return [line for line in one.lines if plan.scans.get(line.name) == "rows"]


def pieces(one: Pass, plan: Plan, form: Form, place: str) -> tuple[list[tuple[Line, str]], list[str]]:
    """For each running value of a pass the C of what it is made of, and the names that later loops find in memory."""
    lines = {line.name: line for line in one.lines}
    held: list[str] = []
    made = []
    for scan in running(one, plan):
        inside: set[str] = set()
        todo = list(scan.reads)
        while todo:
            name = todo.pop()
            if name in inside:
                continue
            inside.add(name)
            if name in lines and name not in held:
                todo += lines[name].reads
        part = Pass(
            lines=[line for line in one.lines if line.name in inside],
            loads=[name for name in one.loads if name in inside],
            again=[name for name in one.again if name in inside],
        )
        text = element(part, plan, form, place, held)
        dear = [line.name for line in part.lines if line.name not in held and not line.test and is_dear(line)]
        at = run_at(form)
        text += [f"{name}_run{at} = {name};" for name in dear]
        text += [f"{scan.name}_by{at} = {scan.by};"] if scan.by else []
        after = "[i - begin + 1]" if scan.before and not scan.back and at else at
        made.append((scan, joined([*text, f"{scan.name}_run{after} = {scan.value};"])))
        held += [*dear, scan.name]
    return made, held


def run_at(form: Form) -> str:
    """Where the running value of an element is."""
    return "" if form.gpu else "[i - begin]"


def starts(one: Pass, plan: Plan) -> list[str]:
    """What the running values of a row start from."""
    made = []
    for line in running(one, plan):
        before = f"{line.name}_before" if f"{line.name}_before" in line.reads else "-0.0"
        sums = f"SUM_TYPE {line.name}_total = {before};"
        made.append(sums if line.form == "CUMSUM" else f"REAL {line.name}_total = {identity(line)};")
    return made


def of_block(one: Pass, plan: Plan, form: Form, place: str) -> tuple[str, list[str]]:
    """The running values of a block of a row, in memory of their own."""
    made, held = pieces(one, plan, form, place)
    texts = [f"REAL {name}_run[{length(one, plan, form)} + 1];" for name in held]
    for line, work in made:
        texts += [f"REAL {line.name}_by[{length(one, plan, form)}];"] if line.by else []
        loop = "for (size_t i = begin; i < end; i++) {{ const size_t at = start + i; {} }}"
        texts.append(loop.format(work))
        if FAR.search(work):
            texts.append(f"if (sg_far) {loop.format(far(work))}")
        size = "end - begin"
        name, way = line.name, "back" if line.back else "on"
        if line.form == "RECUR":
            given = f"{name}_run, {name}_by, {name}_total, {size}, begin == from"
            texts.append(f"{name}_total = sg_recurrence_{way}({given});")
            continue
        if line.form == "CUMPROD":
            run = f"{name}_run"
            if line.before:
                texts.append(f"{run}[{size if line.back else 0}] = {name}_total;")
                run = run if line.back else f"{run} + 1"
            texts.append(f"{name}_total = sg_running_product_{way}({run}, {name}_total, {size});")
            continue
        texts.append(f"const REAL {name}_start = (REAL){name}_total;")
        texts.append(f"{name}_total += sg_running_sum_{way}({name}_run, -0.0, {size});")
    return "\n            ".join(texts), held


def of_items(one: Pass, plan: Plan, form: Form, place: str) -> tuple[str, list[str]]:
    """The running values of as many elements as a group of a GPU has items: a tree of sums in local memory."""
    made, held = pieces(one, plan, form, place)
    texts = [f"REAL {name}_run = 0;" for name in held]
    for line, work in made:
        name = line.name
        texts += [f"REAL {name}_by = 0;"] if line.by else []
        texts.append(f"if (sg_inside) {{ const size_t at = start + i; {far(work)} }}")
        if line.form != "CUMSUM":  # a tree of products may leave the range of numbers where the product does not
            texts += [f"{name}_factors[me] = {name}_by;"] if line.by else []
            texts.append(f"""{name}_tree[me] = sg_inside ? {name}_run : 1; barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) for (size_t k = 0; k < {ITEMS}; k++) {{ {_one_by_one(line)} }}
    barrier(CLK_LOCAL_MEM_FENCE); {name}_run = {name}_tree[me]; barrier(CLK_LOCAL_MEM_FENCE);""")
            continue
        texts.append(f"""{name}_tree[me] = sg_inside ? {name}_run : -0.0; barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t gap = 1; gap < {ITEMS}; gap *= 2) {{
        const SUM_TYPE {name}_left = me < gap ? -0.0 : {name}_tree[me - gap]; barrier(CLK_LOCAL_MEM_FENCE);
        {name}_tree[me] += {name}_left; barrier(CLK_LOCAL_MEM_FENCE);
    }}
    {name}_run = {name}_tree[me];
    const REAL {name}_start = (REAL){name}_total; {name}_total += {name}_tree[{ITEMS - 1}];
    barrier(CLK_LOCAL_MEM_FENCE);""")
    return "\n    ".join(texts), held


def _one_by_one(line: Line) -> str:
    """What the first item of a group does with what each of them has put in."""
    put, total = f"{line.name}_tree[k]", f"{line.name}_total"
    if line.before:
        return f"const REAL sg_own = {put}; {put} = {total}; {total} *= sg_own;"
    if line.form == "CUMPROD":
        return f"{put} = {total} *= {put};"
    if line.back:
        return f"{put} += {total}; {total} = {line.name}_factors[k] * {put};"
    return f"{put} = {total} = {put} + (b + k > from ? {line.name}_factors[k] * {total} : (REAL)-0.0);"


def down(plan: Plan) -> list[Line]:
    """The lines that run down, or up, the rows of a stage."""
    return [line for line in plan.stage.lines if plan.scans.get(line.name) in ("down", "up")]


def is_in_parts(plan: Plan) -> bool:
    """Whether each group takes a part of a single row, the same in all stages."""
    return "parts" in plan.stage.ends.values() or (len(plan.stage.axes) == 1 and bool(plan.scans))


def length(one: Pass, plan: Plan, form: Form) -> int:
    """How many elements a block of a row has."""
    return RUN[form.real] if running(one, plan) else BLOCK


def blocks(one: Pass, plan: Plan, form: Form) -> str:
    """The loop over the blocks of a row, opened."""
    size = length(one, plan, form)
    opened = f"for (size_t begin = from; begin < to; begin += {size}) {{"
    if any(line.back for line in running(one, plan)):
        whole = f"(to - from + {size - 1}) / {size}"
        opened = f"for (size_t sg_block = {whole}; sg_block-- > 0;) {{ const size_t begin = from + sg_block * {size};"
    return f"{opened}\n            const size_t end = begin + {size} < to ? begin + {size} : to;"


def down_rows(plan: Plan, form: Form, inner: str) -> str:
    """Each group goes down all rows with a piece of them, and then with the next."""
    lines = down(plan)
    clear = " ".join(f"for (size_t i = 0; i < {RUNS}; i++) {line.name}_run[i] = {identity(line)};" for line in lines)
    return f"""    {" ".join(f"REAL {line.name}_run[{RUNS}];" for line in lines)}
    const size_t share = ((row + groups - 1) / groups + 63) / 64 * 64, width = share < {RUNS} ? share : {RUNS};
    for (size_t from = g * width; from < row; from += groups * width) {{
    const size_t to = from + width < row ? from + width : row;
    {each_row(plan, form, f"{{ {clear} }}")}
{inner}
    }} }}"""


def down_items(plan: Plan, form: Form, inner: str) -> str:
    """Each item goes down all rows with an element of them, and then with the next."""
    lines = down(plan)
    clear = " ".join(f"{line.name}_run = {identity(line)};" for line in lines)
    return f"""    {" ".join(f"REAL {line.name}_run;" for line in lines)}
    for (size_t i = get_global_id(0); i < row; i += get_global_size(0)) {{
    {each_row(plan, form, f"{{ {clear} }}")}
    const size_t at = start + i;
    {inner}
    }} }}"""


def identity(line: Line) -> str:
    """What a running value starts from."""
    return "1" if line.form == "CUMPROD" else "-0.0"


def each_row(plan: Plan, form: Form, clear: str) -> str:
    """The start of a loop over all rows in the order in which sums run down them."""
    way = {plan.scans[line.name] for line in down(plan)}
    row = "rows - 1 - sg_q" if way == {"up"} else "sg_q"
    axis = form.axes - 2
    first = "0" if way == {"down"} else f"{f'd{axis}' if axis else 'rows'} - 1"
    return f"""for (size_t sg_q = 0; sg_q < rows; sg_q++) {{
    const size_t r = {row}, start = r * row;
    {joined([*rows_of(form), *offsets(plan, form)])}
    if (j{axis} == {first}) {clear}"""


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
    if down(plan):
        return f"""{{
    {joined(head)}
{down_rows(plan, form, inner)}
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
    before = joined([*row_lines(one, plan), *starts(one, plan)])
    place = "g * row" if form.axes > 1 else "0"
    run, held_before = of_block(one, plan, form, place)
    work = "\n            ".join(element(one, plan, form, place, held_before))
    work = far(work) if down(plan) else work  # a block that is computed again would be added twice
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
        {blocks(one, plan, form)}
            const size_t whole = begin + (end - begin) / {ACCUMULATORS} * {ACCUMULATORS};
            int sg_far = 0;
            {" ".join(f"REAL {line.name}_acc[{ACCUMULATORS}];" for line in lanes)}
            {" ".join(f"REAL {name}_factors[{length(one, plan, form)}];" for name in products)}
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
    called = [run_functions(form.real, code), functions(form.real, code)]
    return "\n".join([prelude(form.real, code), sums, *called, code])


def _part(name: str, plan: Plan, form: Form) -> Part:
    return Part(name, parameters(plan, form), body(plan, form))


def _kernel(name: str, plan: Plan, form: Form) -> str:
    if not form.gpu:
        part = _part(name, plan, form)
        return entry(name, part.given, part.body)
    listed = ",\n    ".join(parameters(plan, form))
    return f"\n__kernel void {name}(\n    {listed})\n{grid_body(plan, form)}"
