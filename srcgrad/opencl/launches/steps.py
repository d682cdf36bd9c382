"""Steps of a launch: what each is given and writes, how results end; steps in place, and several as one launch."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any  # arrays and pyopencl's objects

import numpy as np

from srcgrad.opencl.devices.device import Device, address, addresses
from srcgrad.opencl.kernels.c_functions import prelude
from srcgrad.opencl.kernels.lines import Computed, Line, MismatchError, Space, Text, alone, entry, members, space_of
from srcgrad.opencl.kernels.loops import loop_of, run_functions
from srcgrad.opencl.kernels.stages import (
    Form,
    Plan,
    Stage,
    decided,
    element,
    in_parts,
    joined,
    kind,
    numbers_in,
    offsets,
    once,
    parameters,
    row_lines,
    rows_of,
    stages,
    start,
)
from srcgrad.runtime import sum_to

_BLOCK = 4096  # elements of which all writes are done before the next ones


@dataclass(slots=True)
class Input:
    """One input of a stage: where it comes from, how it lies, and the numbers that say so."""

    slot: int
    layout: str
    strides: tuple[int, ...] = ()
    copied: bool = False  # whether it is brought into one piece first
    span: Any = None  # of memory in pieces, what it is from the first element to the last


@dataclass
class Put:
    """One write: the argument, what computes the value, and how the part lies; axes of length one are left out."""

    slot: int
    added: bool
    plan: Plan
    form: Form
    lengths: list[int]
    steps: tuple[int, ...]
    inputs: list[Input]
    split: bool  # whether it is divided along its first axis, or belongs to one place of that axis
    numbers: list[int] = field(init=False)
    places: int = field(init=False)  # along the axis that is divided
    inner: int = field(init=False)  # elements from the first to the last of what belongs to one place
    whole: int = field(init=False)  # elements from the first to the last

    def __post_init__(self) -> None:
        spans = [(n - 1) * step for n, step in zip(self.lengths, self.steps, strict=True)]
        self.inner, self.whole = 1 + sum(spans[int(self.split) :]), 1 + sum(spans)
        self.places = self.lengths[0] if self.split else 1
        sizes = [math.prod(self.lengths[:-1]), self.lengths[-1], *self.lengths[1:-1]]
        self.numbers = [self.places, *self.steps, *sizes]


@dataclass
class Writing:
    """The launch, and where parts have been found to lie."""

    kernel: Any
    puts: list[Put]
    step: int  # the steps of the axis that is divided
    size: int
    small: bool
    itemsize: int
    device: Device
    known: dict[tuple[int, ...], tuple[int, int, list[int]]] = field(default_factory=dict)

    def memory(self, slots: Sequence[object]) -> tuple[Any, int, list[int]]:
        """What a buffer wraps, how many places there are, and for each part its offset and its first place.

        MismatchError if the parts lie so that groups would meet.
        """
        parts = [slots[put.slot] for put in self.puts]
        starts = [address(part) for part in parts]
        low = min(starts)
        key = tuple((start - low) // self.itemsize for start in starts)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = _placed(key, self.puts, self.step)
        last, count, places = known
        memory = (ctypes.c_char * (last * self.itemsize)).from_address(low)
        memory._owner = parts  # type: ignore[attr-defined]
        return memory, count, places

    def groups(self, places: int) -> int:
        """How many groups share the work."""
        return 1 if self.small else self.device.groups(places, self.size)


def _placed(offsets: tuple[int, ...], puts: list[Put], step: int) -> tuple[int, int, list[int]]:
    """How many elements and places there are, and for each part its offset and its first place.

    MismatchError if the inner axes of a part reach from one place into the next.
    """
    for shift in dict.fromkeys(-offset % step for offset in offsets):
        if all((o + shift) % step + put.inner <= step for o, put in zip(offsets, puts, strict=True)):
            places = [(offset + shift) // step for offset in offsets]
            count = max(place + put.places for place, put in zip(places, puts, strict=True))
            last = max(offset + put.whole for offset, put in zip(offsets, puts, strict=True))
            return last, count, [number for pair in zip(offsets, places, strict=True) for number in pair]
    raise MismatchError


def written(
    puts: list[Put], name: str, size: int, small: bool, real: Any, device: Device, kernels: dict[object, object]
) -> Writing:
    """The launch for some writes; MismatchError where there is no axis along which they can be divided."""
    step = max(put.steps[0] for put in puts)
    if any(put.inner > step for put in puts):
        raise MismatchError
    key = ("writes", *((put.form, put.split, put.steps[-1] == 1) for put in puts), device.number, small)
    kernel = kernels.get(key)
    if kernel is None:
        kernel = kernels[key] = device.build(_text(puts, f"{name}_write"), f"{name}_write", small)
        numbers: list[Any] = [None, np.uint64]
        for put in puts:
            numbers += [np.int64] * (3 + len(put.steps)) + numbers_in(put.plan, put.form, real)[:-1]
        kernel.set_scalar_arg_dtypes(numbers)
    return Writing(kernel, puts, step, size, small, real.itemsize, device)


def _text(puts: list[Put], name: str) -> str:
    functions = [_function(put, f"{name}_{k}") for k, put in enumerate(puts, 1)]
    given, work = ["__global REAL* restrict memory", "const ulong places"], []
    for k, put in enumerate(puts, 1):
        own = [f"const long off_{k}", f"const long place_{k}", f"const long n_{k}"]
        own += [f"const long step_{k}_{axis}" for axis in range(len(put.steps))]
        given += own + [f"{parameter}_{k}" for parameter in parameters(put.plan, put.form)[:-1]]
        work.append(_call(put, f"{name}_{k}", k))
    whole = all(put.split and len(put.steps) == 1 for put in puts)
    lines = "\n        ".join(work)
    block = _BLOCK if whole else 1
    body = f"""{{
    const size_t share = (places + groups - 1) / groups;
    const size_t first = g * share < places ? g * share : places;
    const size_t last = first + share < places ? first + share : places;
    for (size_t b = first; b < last; b += {block}) {{
        const long begin = b, end = b + {block} < last ? b + {block} : last;
        {lines}
    }}
}}
"""
    texts = "\n".join(functions)
    return "\n".join([prelude(puts[0].form.real, texts), texts, entry(name, given, body)])


def _call(put: Put, name: str, k: int) -> str:
    """What is done of one write in the places from `begin` to `end`."""
    passed = [f"{parameter.split()[-1]}_{k}" for parameter in parameters(put.plan, put.form)[:-1]]
    passed += [f"memory + off_{k}", *(f"step_{k}_{axis}" for axis in range(len(put.steps)))]
    inside = f"const long from = begin > place_{k} ? begin - place_{k} : 0, to = end < place_{k} + n_{k} ? "
    inside += f"end - place_{k} : n_{k};"
    return f"{{ {inside} if (from < to) {name}({', '.join(passed)}, from, to); }}"


def _function(put: Put, name: str) -> str:
    """The function that does one write, for a range of the axis that is divided if the part has it."""
    axes = len(put.steps)
    given = [*parameters(put.plan, put.form)]
    out = given[-1].split()[-1]
    given += [f"const long step_{axis}" for axis in range(axes)] + ["const long from", "const long to"]
    (one,) = put.plan.passes
    work = "\n        ".join(element(one, put.plan, put.form, "0"))
    if put.added:
        work = work.replace(f"{out}[at] = ", f"{out}[at] += ")
    last = "i" if put.steps[-1] == 1 else f"(long)i * step_{axes - 1}"
    bounds = "from", "to"
    loops = []
    for axis in range(axes - 1):
        low, high = ("from", "to") if axis == 0 and put.split else ("0", f"d{axis}")
        loops.append(f"for (size_t j{axis} = {low}; j{axis} < {high}; j{axis}++)")
    if axes > 1 or not put.split:
        bounds = "0", "row"
    size = f"const size_t d0 = rows{''.join(f' / d{k}' for k in range(1, axes - 1))};" if axes > 1 else ""
    start = " + ".join(f"(long)j{k} * step_{k}" for k in range(axes - 1)) or "0"
    before = "\n    ".join(once(put.plan, put.form))
    rows = "\n        ".join([*offsets(put.plan, put.form), *row_lines(one, put.plan)])
    listed = ", ".join(given).replace(" restrict", "")  # the kernel says so; Oclgrind does not know it of functions
    return f"""static inline __attribute__((always_inline)) void {name}({listed}) {{
    {size}
    {before}
    {" ".join(loops)} {{
        {rows}
        const long start = {start};
        for (size_t i = {bounds[0]}; i < {bounds[1]}; i++) {{
        const size_t at = start + {last};
        {work}
        }}
    }}
}}"""


@dataclass
class Output:
    """Memory that a stage writes: its shape and dtype, and what becomes of it."""

    slot: int
    shape: tuple[int, ...]
    dtype: Any
    end: str = ""
    line: Line | None = None
    due: tuple[int, ...] = ()  # the shape of the value
    real: Any = None  # its dtype
    over: tuple[int, ...] = ()  # for `host`, the axes that NumPy reduces
    count: int = 1  # by which a mean divides


@dataclass
class Step:
    """One stage: what it is given and what it writes."""

    numbers: list[int]
    inputs: list[Input]
    outputs: list[Output]
    groups: int


@dataclass
class Run:
    """Stages that one kernel runs, one after the other, with nothing for the host to do in between.

    What the kernel is given for stages `before` and `after` them says nothing; `first` is the number of the first of
    these, if there are others.
    """

    kernel: Any
    steps: list[Step]
    small: bool
    waits: bool = True  # whether the host reads a result before what follows
    before: list[Any] = field(default_factory=list)
    after: list[Any] = field(default_factory=list)
    first: int | None = None


@dataclass
class Formed:
    """A stage before it is built: its C, by what it is known, and with what it is launched."""

    name: str
    plan: Plan
    form: Form
    key: tuple[Any, ...]
    numbers: list[int]
    inputs: list[Input]
    little: bool  # work that one group does sooner than several
    small: bool  # whether the device without threads runs it


@dataclass
class Prepared:
    """All launches, and which slots are results."""

    runs: list[Run]
    constants: list[float]
    results: list[tuple[int, str]]  # slot, and how a number is given: ``, `float`, or the argument that it is like
    slots: int
    writing: Writing | None = None
    direct: Any = None  # a Direct, if it is one launch of little work
    numbers: Computed | None = None  # of Python's numbers alone

    def given(self, args: tuple[object, ...]) -> tuple[Any, ...]:
        """The arguments, with what is computed of numbers among them."""
        return (*args, *self.numbers(*args)) if self.numbers else args


@dataclass
class Pattern:
    """What is known of a kernel for arguments with certain long axes."""

    text: Text
    space: Space
    stages: list[Stage]
    writes: list[Stage]  # per value that is written, what computes it
    numbers: Computed | None  # what is computed of Python's numbers alone
    plans: dict[object, Plan] = field(default_factory=dict)
    kernels: dict[Any, Any] = field(default_factory=dict)
    programs: dict[Any, Any] = field(default_factory=dict)  # in which kernels of that key are


@dataclass
class Preparing:
    """The work for one set of arguments."""

    name: str
    text: Text
    arguments: list[str]
    args: tuple[Any, ...]
    real: Any
    device: Device
    pattern: Pattern
    lengths: dict[int, int] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    constants: list[float] = field(default_factory=list)

    def shape(self, axes: tuple[int | None, ...]) -> tuple[int, ...]:
        """The lengths of axes."""
        return tuple(1 if axis is None else self.lengths[axis] for axis in axes)

    def size(self, axes: Any) -> int:
        """The product of the lengths of axes."""
        return math.prod(self.lengths[axis] for axis in members(tuple(axes)))


def pattern_of(text: Text, arguments: list[str], args: tuple[Any, ...], real: Any) -> Pattern:
    """Axes and stages; MismatchError where the kernel is not for such arguments."""
    numbers: Computed | None = None
    if real.itemsize == 4:
        text, numbers = alone(text, arguments, args)
    shapes = {name: np.shape(value) for name, value in zip(arguments, args, strict=True)}
    shapes |= dict.fromkeys(text.numbers, ())
    long = {name: tuple(n != 1 for n in shape) for name, shape in shapes.items()}
    first: dict[tuple[int, ...], str] = {}
    alike = {name: other for name, shape in shapes.items() if (other := first.setdefault(shape, name)) != name}
    try:
        return _pattern(text, space_of(text, long, alike), numbers)
    except MismatchError:  # two arguments of one shape may have axes of their own: u[:, None] * v
        return _pattern(text, space_of(text, long, {}), numbers)


def _pattern(text: Text, space: Space, numbers: Computed | None) -> Pattern:
    text = in_parts(text, space)
    return Pattern(text, space, *stages(text, space), numbers)


def ended(output: Output, found: Any) -> Any:
    """A sum from its parts."""
    line = output.line
    assert line is not None, "a reduction"
    if output.end == "parts":  # the sum of all parts before each
        found = np.asarray(found)  # a device's array is read
        order = slice(None, None, -1 if line.back else 1)
        return np.concatenate([np.full(1, -0.0, found.dtype), np.cumsum(found[order])[:-1]])[order].copy()
    if line.form in ("MAX", "MIN"):
        reduce: Any = np.max if line.form == "MAX" else np.min
    else:
        reduce = np.prod if line.form == "PROD" else np.sum
    if output.end == "host":
        value = np.reshape(reduce(found, axis=output.over), output.due)  # without axes of length one
    elif len(found) == 1:
        value = found[0]
    else:
        value = reduce(found, axis=0)
    value = value.astype(output.real, copy=False) if output.due else output.real.type(value)
    if output.count != 1:
        value = value / output.count
    return value.reshape(output.due) if output.due else value


def result(value: object, kind: str, args: tuple[object, ...], words: list[str]) -> Any:
    """A value in the type that NumPy would give it; `words` are the names of the arguments."""
    if kind == "array":
        return value
    number = value if isinstance(value, np.generic | float) else np.asarray(value)[()]
    if kind == "float":
        return float(number)
    return sum_to(number, args[words.index(kind)]) if kind else number


_SCALAR = """#ifdef __clang__
        #pragma clang loop vectorize(disable) interleave(disable)
        #endif"""
_ROW_BLOCK = 1024  # elements of an array of one axis that are computed before they are written


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
    return "\n".join([prelude(form.real, body), sums, run_functions(form.real, body), made])


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
    block, size = (1, "(long)rows") if many else (_ROW_BLOCK, "(long)row")
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


_MANY = (1 << 62) - 1


@dataclass
class Placed:
    """Where parts and operands have been found to lie: the numbers that say so, and the memory they share."""

    memory: Any  # its type
    offsets: dict[int, tuple[int]]  # per operand in that memory, by slot
    numbers: list[int]


@dataclass
class Together:
    """The launch: the operands in the memory that it changes; others lie elsewhere."""

    kernel: Any
    stage: Formed
    puts: list[Put]
    outputs: list[Output]
    inside: list[Input]  # operands in the memory that is written
    extra: list[int]  # slots of numbers that only writes read
    small: bool
    itemsize: int
    ring: int = _MANY  # how many rows are kept of values that only writes read, less one; a power of two, less one
    slots: list[int] = field(init=False)
    known: dict[tuple[int, ...], Placed | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.slots = [*dict.fromkeys([put.slot for put in self.puts] + [one.slot for one in self.inside])]

    def placed(self, starts: Sequence[int]) -> tuple[Placed, int] | None:
        """Where things lie, from the addresses of the slots, and the first one; None where one launch cannot do it."""
        low = min(starts)
        key = tuple([start - low for start in starts])
        try:
            found = self.known[key]
        except KeyError:
            found = self.known[key] = self._found(key)
        return None if found is None else (found, low)

    def _found(self, key: tuple[int, ...]) -> Placed | None:
        if any(start % self.itemsize for start in key):
            return None
        starts = {slot: start // self.itemsize for slot, start in zip(self.slots, key, strict=True)}
        step = self.puts[0].steps[0]
        lengths = self.puts[0].lengths
        spans = [(starts[put.slot], put.inner, put.whole) for put in self.puts]
        spans += [(starts[one.slot], *_reach(one, lengths)) for one in self.inside]
        size = max(start + whole for start, _, whole in spans)
        for shift in dict.fromkeys(-start % step for start, _, _ in spans):
            if all((start + shift) % step + inner <= step for start, inner, _ in spans):
                break
        else:
            return None
        places = [(start + shift) // step for start, _, _ in spans]
        written = places[: len(self.puts)]
        columns = [(start + shift) % step for start, _, _ in spans[: len(self.puts)]] if lengths[1:] else written
        apart = [max(written) - min(written), max(columns) - min(columns)]
        if any(2 * gap > length for gap, length in zip(apart, lengths, strict=False)):
            return None  # most of what is written is written once
        if max(written) - min(places) > self.ring:
            return None
        numbers = [max(written) + lengths[0], min(places), step, shift, self.ring]
        numbers += [number for pair in zip(written, columns, strict=True) for number in pair]
        return Placed(
            ctypes.c_char * (size * self.itemsize), {one.slot: (starts[one.slot],) for one in self.inside}, numbers
        )


def _reach(one: Input, lengths: list[int]) -> tuple[int, int]:
    """How many elements lie from the first to the last, of what belongs to one place, and of all."""
    steps = [*one.strides, 1][: len(lengths)] if one.layout[0] == "1" else [*one.strides, 0][: len(lengths)]
    spans = [(n - 1) * step for n, step in zip(lengths, steps, strict=True)]
    return 1 + sum(spans[1:]), 1 + sum(spans)


def fits(stage: Formed, puts: list[Put], results: Sequence[str]) -> bool:
    """Whether the values of a stage, and their writes, can be one loop over the places of the array."""
    plan, axes = stage.plan, len(stage.plan.stage.axes)
    if stage.form.gpu or axes not in (1, 2) or stage.form.axes != axes or any("t" in one for one in stage.form.layouts):
        return False
    if len(plan.passes) != 1 or plan.scans or plan.scratch or not set(plan.stage.ends.values()) <= {"total"}:
        return False
    first = puts[0].steps
    for put in puts:
        if put.plan.stage.axes != plan.stage.axes or put.steps != first or put.steps[-1] != 1:
            return False
        values = [n for n, one in zip(put.plan.stage.inputs, put.inputs, strict=True) if one.layout != "v"]
        numbers = [n for n, one in zip(put.plan.stage.inputs, put.inputs, strict=True) if one.layout == "v"]
        if not set(values) <= set(plan.stage.stored) or set(numbers) & {*results, *plan.stage.ends, *plan.stage.stored}:
            return False
        if any(plan.level[name] != "element" for name in values):
            return False
    return True


def together(
    stage: Formed, puts: list[Put], work: Preparing, outputs: list[Output], ring: list[str]
) -> Together | None:
    """The launch for arguments that lie like these; None where operands lie in the way."""
    args = work.args
    low = min(address(args[put.slot]) for put in puts)
    high = max(address(args[put.slot]) + put.whole * work.real.itemsize for put in puts)
    inside: dict[str, Input] = {}
    for name, one in zip(stage.plan.stage.inputs, stage.inputs, strict=True):
        if one.layout == "v":
            continue
        if one.copied:
            return None
        value = args[one.slot]
        reach = 0 if value.size == 0 else _bytes(value)
        start = address(value)
        if start >= high or start + reach <= low:
            continue
        if (
            one.layout.endswith("b")
            or (one.layout[0] == "s" and len(puts[0].lengths) == 1)
            or [*one.strides, 1][0] != puts[0].steps[0]
        ):
            return None
        inside[name] = one
    known = {name for name, one in zip(stage.plan.stage.inputs, stage.inputs, strict=True) if one.layout == "v"}
    extra: dict[str, int] = {}
    for put in puts:
        for name, one in zip(put.plan.stage.inputs, put.inputs, strict=True):
            if one.layout == "v" and name not in known:
                extra[name] = one.slot
    within, extras, real = [*inside.values()], [*extra.values()], work.real
    made = Together(None, stage, puts, outputs, within, extras, stage.small, real.itemsize)
    found = made.placed(addresses(args, made.slots))
    if found is None:
        return None
    if ring:
        places, low = found[0].numbers[:2]
        made.ring = (1 << (places - stage.numbers[0] - low).bit_length()) - 1
        made.known.clear()
        for output in outputs:
            if output.slot in [work.slots[name] for name in ring]:
                output.shape = (made.ring + 1, stage.numbers[1])
    programs = work.pattern.programs
    key = ("together", stage.key, stage.small, tuple(inside), tuple((put.form, put.added) for put in puts))
    name = f"{stage.name}_in_place"
    if key not in programs:
        text = text_of(name, stage, puts, list(inside), list(extra), ring)
        programs[key] = work.device.program(text, stage.small)
    made.kernel = work.device.kernel(programs[key], name)
    return made


def _bytes(value: Any) -> int:
    return int(sum((n - 1) * abs(s) for n, s in zip(value.shape, value.strides, strict=True)) + value.itemsize)
