"""The C of running sums and products.

Along the rows of a stage they run block by block: what is put together, then the block's running values, then what
reads them, so that all but the middle loop is vectorised. Of a single row each group takes a part, and starts from the
sum of the parts before, which a stage before gives. Down the rows each element of a row has a sum of its own.
"""

from __future__ import annotations

from srcgrad.opencl.lines import Line
from srcgrad.opencl.passes import Pass, Plan
from srcgrad.opencl.source import FAR, Form, element, far, joined, offsets, rows_of
from srcgrad.opencl.stages import is_dear

BLOCK = 1024
WIDTH = 512  # elements of a row that a group takes down all rows at once
ITEMS = 256
_LANES = {"float": 8, "double": 4}
_HEAD = "static inline __attribute__((always_inline)) void"
_RUNNING = {
    "on": f"""{_HEAD} sg_running_on(REAL* run, const size_t n) {{
    const REAL z = -0.0;
    REAL total = z;
    size_t k = 0;
    for (; k + LANES <= n; k += LANES) {{
        SG_MANY v = *(SG_ANYWHERE*)(run + k);
        ADDING
        v += total;
        *(SG_ANYWHERE*)(run + k) = v;
        total = v.LAST;
    }}
    for (; k < n; k++) run[k] = total += run[k];
}}
""",
    "back": f"""{_HEAD} sg_running_back(REAL* run, const size_t n) {{
    const REAL z = -0.0;
    REAL total = z;
    size_t k = n;
    for (; k % LANES; k--) run[k - 1] = total += run[k - 1];
    for (; k > 0; k -= LANES) {{
        SG_MANY v = *(SG_ANYWHERE*)(run + k - LANES);
        ADDING
        v += total;
        *(SG_ANYWHERE*)(run + k - LANES) = v;
        total = v.s0;
    }}
}}
""",
}


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
        made.append((scan, joined([*text, f"{scan.name}_run{at} = {scan.value};"])))
        held += [*dear, scan.name]
    return made, held


def run_at(form: Form) -> str:
    """Where the running value of an element is."""
    return "" if form.gpu else "[i - begin]"


def starts(one: Pass, plan: Plan) -> list[str]:
    """What the running values of a row start from."""
    return [
        f"REAL {line.name}_total = 1;"
        if line.form == "CUMPROD"
        else f"SUM_TYPE {line.name}_total = {f'{line.name}_before' if f'{line.name}_before' in line.reads else '-0.0'};"
        for line in running(one, plan)
    ]


def of_block(one: Pass, plan: Plan, form: Form, place: str) -> tuple[str, list[str]]:
    """The running values of a block of a row, in memory of their own."""
    made, held = pieces(one, plan, form, place)
    texts = [f"REAL {name}_run[{BLOCK}];" for name in held]
    for line, work in made:
        loop = "for (size_t i = begin; i < end; i++) {{ const size_t at = start + i; {} }}"
        texts.append(loop.format(work))
        if FAR.search(work):
            texts.append(f"if (sg_far) {loop.format(far(work))}")
        size = "end - begin"
        opened = f"for (size_t k = {size}; k-- > 0;)" if line.back else f"for (size_t k = 0; k < {size}; k++)"
        name = line.name
        if line.form == "CUMPROD":
            texts.append(f"{opened} {name}_run[k] = {name}_total *= {name}_run[k];")
            continue
        texts.append(f"const REAL {name}_start = (REAL){name}_total; sg_running_{way(line)}({name}_run, {size});")
        texts.append(f"{name}_total += {name}_run[{'0' if line.back else f'{size} - 1'}];")
    return "\n            ".join(texts), held


def of_items(one: Pass, plan: Plan, form: Form, place: str) -> tuple[str, list[str]]:
    """The running values of as many elements as a group of a GPU has items: a tree of sums in local memory."""
    made, held = pieces(one, plan, form, place)
    texts = [f"REAL {name}_run = 0;" for name in held]
    for line, work in made:
        name = line.name
        texts.append(f"if (sg_inside) {{ const size_t at = start + i; {far(work)} }}")
        if line.form == "CUMPROD":  # a tree of products may leave the range of numbers where the product does not
            texts.append(f"""{name}_tree[me] = sg_inside ? {name}_run : 1; barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) for (size_t k = 0; k < {ITEMS}; k++) {name}_tree[k] = {name}_total *= {name}_tree[k];
    barrier(CLK_LOCAL_MEM_FENCE); {name}_run = {name}_tree[me]; {name}_total = {name}_tree[{ITEMS - 1}];
    barrier(CLK_LOCAL_MEM_FENCE);""")
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


def down(plan: Plan) -> list[Line]:
    """The lines that run down, or up, the rows of a stage."""
    return [line for line in plan.stage.lines if plan.scans.get(line.name) in ("down", "up")]


def way(line: Line) -> str:
    """The direction of a running sum."""
    return "back" if line.back else "on"


def functions(real: str, texts: str) -> str:
    """The functions that running sums of blocks call."""
    called = [name for name in _RUNNING if f"sg_running_{name}(" in texts]
    if not called:
        return ""
    lanes = _LANES[real]
    head = f"typedef {real}{lanes} SG_MANY;\n"
    head += f"typedef {real}{lanes} __attribute__((aligned({4 if real == 'float' else 8}))) SG_ANYWHERE;\n"
    texts = "".join(_RUNNING[name].replace("ADDING", _shifts(lanes, name)) for name in called)
    return head + texts.replace("LANES", str(lanes)).replace("LAST", f"s{lanes - 1}")


def _shifts(lanes: int, name: str) -> str:
    """The running sums of a vector: to it are added itself, moved by one, by two, and by four."""
    made = []
    for gap in (1, 2, 4)[: lanes.bit_length() - 1]:
        moved = [k - gap if name == "on" else k + gap for k in range(lanes)]
        terms = ", ".join(f"v.s{k}" if 0 <= k < lanes else "z" for k in moved)
        made.append(f"v += (SG_MANY)({terms});")
    return " ".join(made)


def is_in_parts(plan: Plan) -> bool:
    """Whether each group takes a part of a single row, the same in all stages."""
    return "parts" in plan.stage.ends.values() or (len(plan.stage.axes) == 1 and bool(plan.scans))


def blocks(one: Pass, plan: Plan) -> str:
    """The loop over the blocks of a row."""
    if any(line.back for line in running(one, plan)):
        whole = f"(to - from + {BLOCK - 1}) / {BLOCK}"
        return f"for (size_t sg_block = {whole}; sg_block-- > 0;) {{ const size_t begin = from + sg_block * {BLOCK};"
    return f"for (size_t begin = from; begin < to; begin += {BLOCK}) {{"


def down_rows(plan: Plan, form: Form, inner: str) -> str:
    """Each group goes down all rows with a piece of them, and then with the next."""
    lines = down(plan)
    clear = " ".join(f"for (size_t i = 0; i < {WIDTH}; i++) {line.name}_run[i] = {identity(line)};" for line in lines)
    return f"""    {" ".join(f"REAL {line.name}_run[{WIDTH}];" for line in lines)}
    for (size_t from = g * {WIDTH}; from < row; from += groups * {WIDTH}) {{
    const size_t to = from + {WIDTH} < row ? from + {WIDTH} : row;
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
    return "-0.0" if line.form == "CUMSUM" else "1"


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
