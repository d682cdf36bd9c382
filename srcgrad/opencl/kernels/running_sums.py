"""Running sums and other recurrences in kernels: how they run, and their C."""

from __future__ import annotations

from srcgrad.opencl.kernels.lines import Line, is_dear
from srcgrad.opencl.kernels.stages import FAR, Form, Pass, Plan, element, far, joined, offsets, rows_of

LANES = {"float": 8, "double": 4}
_TEXT = """static inline __attribute__((always_inline)) REAL sg_running_NAME(
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


def functions(real: str, texts: str) -> str:
    """Those that some kernels call."""
    called = [f"{what}_{way}" for what in _OPERATORS for way in ("on", "back") if f"sg_running_{what}_{way}(" in texts]
    recurrences = "".join(text for name, text in _RECURRENCES.items() if f"sg_{name}(" in texts)
    if not called:
        return recurrences
    head = f"typedef {real}{LANES[real]} SG_MANY;\n"
    head += f"typedef {real}{LANES[real]} __attribute__((aligned({4 if real == 'float' else 8}))) SG_ANYWHERE;\n"
    head += _BELOW[real] if any(name.startswith("product") for name in called) else ""
    return head + "\n".join(_function(name, real) for name in called) + recurrences


def _function(name: str, real: str) -> str:
    what, way = name.split("_")
    lanes = LANES[real]
    operator, empty = _OPERATORS[what]
    words = {"PUT": _PUT_INSIDE if what == "product" else _PUT, "TREE": _tree(lanes, way, operator)}
    words |= {"EMPTY": empty, "NAME": name, **_NUMBERS[real]}
    if way == "on":
        words |= {"PIECE": "k", "ONE": "k", "EACH": "k + l", "LAST": f"s{lanes - 1}"}
    else:
        words |= {"PIECE": f"n - k - {lanes}", "ONE": "n - 1 - k", "EACH": "n - 1 - k - l", "LAST": "s0"}
    text = _TEXT
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
WIDTH = 1024  # elements of a row that a group takes down all rows at once, at most
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
    clear = " ".join(f"for (size_t i = 0; i < {WIDTH}; i++) {line.name}_run[i] = {identity(line)};" for line in lines)
    return f"""    {" ".join(f"REAL {line.name}_run[{WIDTH}];" for line in lines)}
    const size_t share = ((row + groups - 1) / groups + 63) / 64 * 64, width = share < {WIDTH} ? share : {WIDTH};
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
