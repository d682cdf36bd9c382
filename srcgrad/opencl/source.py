"""The whole text of one kernel: its body of one element, inside the loops that suit a device and the operands' layout.

CPU devices run one work-group of one item per contiguous range of rows, with a unit-stride inner loop that vectorises;
others run a grid of items, each taking every so many-th element. Sums are added up in blocks, block sums in double
(or in blocks of blocks), so that rounding errors do not grow with the length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from srcgrad.opencl.functions import FUNCTIONS, prelude

SUM = re.compile(r"^\s*SUM\((\w+)(?:, (\w+))?: (.*)\);  // of (.*)$")
STORE = re.compile(r"^\s*STORE\((\w+)\);  // of (.*)$")
FAR = re.compile(r"\b(sin|cos|tan)\(")
WHOLE = re.compile(r"^\s*WHOLE\((\w+)\);  // of (.*)$")
HEAD = "Of each element:"
LANES = 16
BLOCK = 1024


@dataclass(frozen=True)
class Output:
    """A result: stored element by element, or summed up; `of` are the arguments that give it its shape."""

    name: str
    of: tuple[str, ...]
    summed: bool
    like: str = ""


@dataclass(frozen=True)
class Variant:
    """What a kernel is built for: the real type, per argument how it is laid out, per sum whether it is summed here.

    Layouts: `v` a value, `1` an array as long as the space in one piece, `b` one of booleans, and for spaces of rows
    `r1`, `r0`, `rs`: a row of stride one, of one element, of any stride (with `b` behind for booleans).
    """

    real: str
    layouts: tuple[str, ...]
    sums: tuple[bool, ...]
    rank: int  # 1: one piece; more: rows, with rank - 1 axes of rows
    gpu: bool


def identifier(name: str) -> str:
    """A Python name as one of C: no keyword, no function, no name of the loops around; letters of ASCII only."""
    plain = "".join(c if c.isascii() else f"_u{ord(c):x}_" for c in name)
    stem = plain.rstrip("_")  # so that `last` and `last_` stay two names
    if stem in FUNCTIONS:
        return f"{plain}__"  # ours are called `exp_`
    taken = stem in _TAKEN or plain.startswith("__") or _OWN.fullmatch(stem)
    return f"{plain}_" if taken else plain


_RESERVED = """auto bool break case char const constant continue default do double else enum extern float for global
goto half if inline int kernel local long private register restrict return short signed sizeof size_t static struct
switch typedef union unsigned void volatile while image2d_t event_t sampler_t uchar ulong REAL NAN INFINITY main acos
acosh
asin asinh atan atan2 atanh cbrt cosh fma fmod hypot lgamma log10 log2 pow rint round sinh tgamma at i l b r g groups
share start from to first last begin end whole sg_far far_sin far_cos far_tan me gap j0 j1 j2 q1 q2 rows row d1 d2"""
_TAKEN = frozenset(_RESERVED.split())
_OWN = re.compile(r".*_(in|out|row|acc|sum|total|block|tree|step|s\d)")  # what the loops around call their own


def tested(text: str, word: str) -> bool:
    """Whether the C of an element only ever asks whether an argument is true: it may be given booleans."""
    code = [line.split("//")[0] for line in text.splitlines()]
    mentions = [line for line in code if re.search(rf"\b{word}\b", line)]
    asked = sum(len(re.findall(rf"\b{word} \?", line)) for line in mentions)
    return 0 < asked == sum(len(re.findall(rf"\b{word}\b", line)) for line in mentions)


def outputs(text: str) -> list[Output]:
    """What the C of an element stores and sums, in the order in which the function returns it."""
    stored, summed = [], []
    for line in text.splitlines():
        if found := SUM.match(line):
            of = tuple(found[4].split(", "))
            summed.append(Output(found[1], of, True, found[2] or ""))
        elif found := STORE.match(line):
            stored.append(Output(found[1], tuple(found[2].split(", ")), False))
    return [*stored, *summed]


def wholes(text: str) -> list[tuple[str, ...]]:
    """Arguments that together must have the shape of the whole, for the C to be what the Python says."""
    return [tuple(found[2].split(", ")) for line in text.splitlines() if (found := WHOLE.match(line))]


def program(name: str, text: str, arguments: list[str], variant: Variant) -> str:
    """The OpenCL C of one variant."""
    found = outputs(text)
    sums = [o for o in found if o.summed]
    here = [o.name for o, kept in zip(sums, variant.sums, strict=True) if kept]
    stored = [o.name for o in found if o.name not in here]
    body = _body(text, here, stored)
    parameters = ["const ulong rows", "const ulong row"] + [f"const ulong d{k}" for k in range(1, variant.rank - 1)]
    loads, offsets = [], []
    for argument, layout in zip(arguments, variant.layouts, strict=True):
        parameters += _parameters(argument, layout, variant)
        loads += _load(argument, layout)
        offsets += _offset(argument, layout, variant)
    parameters += [f"__global REAL* restrict {s}_out" for s in stored]
    parameters += [f"__global SUM_TYPE* restrict {s}_sum" for s in here]
    pieces = [
        prelude(variant.real),
        f"#define SUM_TYPE {'float' if variant.gpu and variant.real == 'float' else 'double'}\n",
        f"{'' if variant.gpu else '__attribute__((reqd_work_group_size(1, 1, 1)))'}\n__kernel void {name}(",
        "    " + ",\n    ".join(parameters) + ")",
        (_grid if variant.gpu else _ranges)(loads, offsets, body, here, variant),
    ]
    return "\n".join(pieces)


def _body(text: str, here: list[str], stored: list[str]) -> list[str]:
    made = []
    for line in text.splitlines():
        if found := SUM.match(line):
            name, value = found[1], found[3]
            made.append(f"{name}_acc[LANE] += {value};" if name in here else f"{name}_out[at] = {value};")
        elif found := STORE.match(line):
            made.append(f"{found[1]}_out[at] = {found[1]};")
        elif line.strip() not in ("", HEAD) and not line.strip().startswith("//") and not WHOLE.match(line):
            made.append(line.strip())
    return made


def _parameters(argument: str, layout: str, variant: Variant) -> list[str]:
    if layout == "v":
        return [f"const REAL {argument}_in"]
    kind = "uchar" if layout.endswith("b") else "REAL"
    made = [f"__global const {kind}* restrict {argument}_in"]
    if layout.startswith("r"):
        made += [f"const long {argument}_s{k}" for k in range(variant.rank - 1)]
        if layout[1] == "s":
            made.append(f"const long {argument}_step")
    return made


def _load(argument: str, layout: str) -> list[str]:
    kind = "int" if layout.endswith("b") else "REAL"
    if layout == "v":
        return [f"{kind} {argument} = {argument}_in;"]
    if layout in ("1", "1b"):
        return [f"{kind} {argument} = {argument}_in[i];"]
    place = {"1": "[i]", "0": "[0]", "s": f"[(long)i * {argument}_step]"}[layout[1]]
    return [f"{kind} {argument} = {argument}_row{place};"]


def _offset(argument: str, layout: str, variant: Variant) -> list[str]:
    if not layout.startswith("r"):
        return []
    kind = "uchar" if layout.endswith("b") else "REAL"
    terms = " + ".join(f"(long)j{k} * {argument}_s{k}" for k in range(variant.rank - 1))
    return [f"__global const {kind}* restrict {argument}_row = {argument}_in + ({terms});"]


def _decode(variant: Variant) -> list[str]:
    """The places along the axes of rows, from the number of a row."""
    if variant.rank == 1:
        return []
    made, rest = [], "r"
    for k in range(variant.rank - 2, 0, -1):
        made += [f"const size_t j{k} = {rest} % d{k};", f"const size_t q{k} = {rest} / d{k};"]
        rest = f"q{k}"
    return [*made, f"const size_t j0 = {rest};"]


def _ranges(loads: list[str], offsets: list[str], body: list[str], sums: list[str], variant: Variant) -> str:
    """One item per range: of elements if there is one row, of rows otherwise."""
    lanes = "\n".join(f"    SUM_TYPE {s}_total = 0; REAL {s}_acc[{LANES}];" for s in sums)
    clear = " ".join(f"for (int l = 0; l < {LANES}; l++) {s}_acc[l] = 0;" for s in sums)
    collect = " ".join(f"for (int l = 0; l < {LANES}; l++) {s}_block += {s}_acc[l];" for s in sums)
    blocks = " ".join(f"SUM_TYPE {s}_block = 0;" for s in sums)
    finish = " ".join(f"{s}_total += {s}_block;" for s in sums)
    element = "\n                ".join([*loads, *body])
    if not sums and not FAR.search(element):
        inner = f"""
        for (size_t i = from; i < to; i++) {{
            const size_t at = start + i;
            {element}
        }}"""
    else:
        inner = f"""
        for (size_t begin = from; begin < to; begin += {BLOCK}) {{
            const size_t end = begin + {BLOCK} < to ? begin + {BLOCK} : to;
            const size_t whole = begin + (end - begin) / {LANES} * {LANES};
            int sg_far = 0;
            {clear} {blocks}
            for (size_t b = begin; b < whole; b += {LANES}) {{
            for (size_t l = 0; l < {LANES}; l++) {{
                const size_t i = b + l, at = start + i;
                {element.replace("LANE", "l")}
            }} }}
            for (size_t i = whole; i < end; i++) {{
                const size_t at = start + i;
                {element.replace("LANE", "0")}
            }}{_again(element, clear)}
            {collect} {finish}
        }}"""
    ends = "\n    ".join(f"{s}_sum[get_group_id(0)] = {s}_total;" for s in sums)
    head = f"""{{
    const size_t g = get_group_id(0), groups = get_num_groups(0);
{lanes}"""
    if variant.rank == 1:
        return f"""{head}
    const size_t share = ((row + groups - 1) / groups + 63) / 64 * 64, start = 0;
    const size_t from = g * share < row ? g * share : row;
    const size_t to = from + share < row ? from + share : row;
    {{{inner}
    }}
    {ends}
}}
"""
    rows = "\n        ".join([*_decode(variant), *offsets])
    return f"""{head}
    const size_t share = (rows + groups - 1) / groups;
    const size_t first = g * share < rows ? g * share : rows;
    const size_t last = first + share < rows ? first + share : rows;
    for (size_t r = first; r < last; r++) {{
        const size_t start = r * row, from = 0, to = row;
        {rows}{inner}
    }}
    {ends}
}}
"""


def _again(element: str, clear: str) -> str:
    """The block once more with the runtime's functions, where an argument was too large for ours."""
    if not FAR.search(element):
        return ""
    slow = FAR.sub("far_\\1(", element).replace("LANE", "0")
    return f"""
            if (sg_far) {{
                {clear}
                for (size_t i = begin; i < end; i++) {{
                    const size_t at = start + i;
                    {slow}
                }}
            }}"""


def _grid(loads: list[str], offsets: list[str], body: list[str], sums: list[str], variant: Variant) -> str:
    """Every item takes the elements that are a grid apart; groups add up their sums in a tree."""
    lanes = "\n    ".join(f"REAL {s}_acc[1] = {{0}}; __local SUM_TYPE {s}_tree[256];" for s in sums)
    element = FAR.sub(r"far_\1(", "\n        ".join([*loads, *body]).replace("LANE", "0"))
    rows = "\n        ".join([*_decode(variant), *offsets])
    trees = "\n    ".join(
        f"""{s}_tree[me] = {s}_acc[0]; barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t gap = 128; gap > 0; gap /= 2) {{
        if (me < gap) {s}_tree[me] += {s}_tree[me + gap];
        barrier(CLK_LOCAL_MEM_FENCE);
    }}
    if (me == 0) {s}_sum[get_group_id(0)] = {s}_tree[0];"""
        for s in sums
    )
    return f"""{{
    const size_t me = get_local_id(0);
    {lanes}
    for (size_t at = get_global_id(0); at < rows * row; at += get_global_size(0)) {{
        const size_t r = at / row, i = {"at" if variant.rank == 1 else "at - r * row"};
        {rows}
        {element}
    }}
    {trees}
}}
"""
