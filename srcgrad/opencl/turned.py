"""Operands that are transposed: neighbours in memory are in different rows, neighbours along a row far apart.

Of some rows a piece is brought into memory of the group's own before it is read: the elements of a line of memory,
which are one below the other there, are loaded at once, and put in their places as vectors. All rows are gone down with
one piece, so that the pages of its columns stay known. What is computed then reads the piece like any other row.
"""

from __future__ import annotations

from itertools import pairwise

from srcgrad.opencl.passes import Plan
from srcgrad.opencl.running import LANES
from srcgrad.opencl.source import Form, cleared, joined, offsets, rows_of

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
