"""Launches prepared for arguments of one kind: all stages as one kernel, little work as one launch."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any  # arguments, arrays and pyopencl's objects

import numpy as np

from srcgrad.opencl.devices.device import Device, address, addresses, empty, span
from srcgrad.opencl.kernels import loops
from srcgrad.opencl.kernels.lines import (
    BOOL,
    PLAIN,
    REALS,
    MismatchError,
    Write,
    check_types,
    cost,
    kind_of,
    members,
    steps,
    steps_in_one_piece,
)
from srcgrad.opencl.kernels.loops import RUNS, down, is_in_parts, text_of
from srcgrad.opencl.kernels.stages import Form, Plan, Stage, batches, directions, numbers_in, planned, root
from srcgrad.opencl.launches.steps import (
    Formed,
    Input,
    Output,
    Placed,
    Prepared,
    Preparing,
    Put,
    Run,
    Step,
    Together,
    Writing,
    ended,
    fits,
    result,
    together,
    written,
)

_BYTES = 256  # of an argument, for each address at which it is known
_FEWEST = 8  # addresses
_MOST_AT_ONCE = 1024
_NUMBERS: dict[Any, Any] = {np.dtype(np.float32): ctypes.c_float, np.dtype(np.float64): ctypes.c_double}


@dataclass(slots=True)
class Memory:
    """An argument of the kernel object that is an array: its place, the type of its memory, and buffers by address."""

    place: int
    kind: Any
    made: Callable[[Any], Any]  # the buffer for some memory
    most: int = 0
    known: dict[int, Any] = field(default_factory=dict)
    last: int = 0  # where what is set lies

    def __post_init__(self) -> None:
        self.most = _most(self.kind)

    def set(self, kernel: Any, start: int) -> None:
        """Let the kernel object have what lies at an address."""
        self.last = 0
        buffer = self.known.get(start)
        if buffer is None:
            if len(self.known) >= self.most:
                self.known.clear()
            buffer = self.known[start] = self.made(self.kind.from_address(start))
        kernel.set_arg(self.place, buffer)
        self.last = start


def _most(kind: Any) -> int:
    return min(_MOST_AT_ONCE, max(_FEWEST, ctypes.sizeof(kind) // _BYTES))


class Direct:
    """One launch, for arguments of certain types, shapes and strides."""

    def __init__(self, one: Run | Together, work: Preparing, results: list[tuple[int, str]]) -> None:
        self.device, self.small = work.device, one.small
        self.kernel = one.kernel  # which nothing else uses
        self.lock = threading.Lock()
        self.number = _NUMBERS[work.real]
        self.numbers: list[tuple[int, int]] = []  # place and slot of each argument that is a number
        self.values: list[Any] = []  # what they are set to
        self.reads: list[Memory] = []
        self.slots: list[int] = []  # of what is read
        self.offsets: list[tuple[int, int]] = []  # place and slot of each operand in the memory that is written
        self.together = one if isinstance(one, Together) else None
        self.seen: dict[tuple[int, ...], tuple[Placed, int, int, Any]] = {}
        self.entry: Any = None  # what of these is set
        stage = one.stage if isinstance(one, Together) else one.steps[0]
        outputs = one.outputs if isinstance(one, Together) else one.steps[0].outputs
        place = self._laid(stage, work)
        self.outputs = []
        for output in outputs:
            memory = Memory(place, ctypes.c_char * (math.prod(output.shape) * output.dtype.itemsize), self.device.taken)
            inner = output.end == "total" or output.slot not in [slot for slot, _ in results]
            kept = np.empty(output.shape, output.dtype) if inner else None
            self.outputs.append((output, memory, kept, 0 if kept is None else address(kept)))
            place += 1
        for slot in self.together.extra if self.together else []:
            self._number(place, slot, work)
            place += 1
        self.memory = place  # that is written, and the numbers that say where
        made = {output.slot: (k, output) for k, output in enumerate(outputs)}
        self.results = [
            _of_output(*made[slot], kind, work.arguments) if slot in made else _of_argument(slot, kind, work.arguments)
            for slot, kind in results
        ]

    def _laid(self, one: Step | Formed, work: Preparing) -> int:
        """Set what never changes of what is read, and note the rest; the place after it."""
        inside = [operand.slot for operand in self.together.inside] if self.together else []
        self._set(0, one.numbers)
        place = len(one.numbers)
        for operand in one.inputs:
            if operand.layout == "v":
                self._number(place, operand.slot, work)
            elif operand.slot in inside:
                self.offsets.append((place, operand.slot))
            else:
                kind = operand.span or ctypes.c_char * work.args[operand.slot].nbytes
                self.reads.append(Memory(place, kind, self.device.given))
                self.slots.append(operand.slot)
            self._set(place + 1, operand.strides)
            place += 1 + len(operand.strides)
        return place

    def _number(self, place: int, slot: int, work: Preparing) -> None:
        if slot < len(work.args):
            self.numbers.append((place, slot))
            self.values.append(None)
        else:
            self.kernel.set_arg(place, self.number(work.constants[slot - len(work.args)]))

    def _set(self, place: int, numbers: Iterable[int]) -> None:
        for k, number in enumerate(numbers):
            self.kernel.set_arg(place + k, ctypes.c_int64(number))

    def __call__(self, args: tuple[Any, ...]) -> Any:
        """The results; None where arrays lie so that one launch cannot do it."""
        device, kernel, made = self.device, self.kernel, []
        with self.lock:
            if device.memory != "shared":
                self._forget()
            reads = addresses(args, self.slots)
            if self.together is not None and not self._placed(args, reads):
                return None
            for k, (place, slot) in enumerate(self.numbers):
                value = args[slot]
                if value is not self.values[k]:
                    array = type(value) is np.ndarray
                    kernel.set_arg(place, self.number(value.item() if array else value))
                    self.values[k] = None if array else value
            for memory, start in zip(self.reads, reads, strict=True):
                if start != memory.last:
                    memory.set(kernel, start)
            for output, memory, kept, start in self.outputs:
                one = kept
                if one is None:
                    one = empty(output.shape, output.dtype)
                    start = address(one)
                if start != memory.last:
                    memory.set(kernel, start)
                made.append(one)
            device.run(kernel, 1, self.small)
            device.finish(self.small, *(self._copied(made) if device.memory != "shared" else ([], [])))
            found = [one(made, args) for one in self.results]
        return found[0] if len(found) == 1 else tuple(found)

    def _placed(self, args: tuple[object, ...], reads: list[int]) -> bool:
        """Set the memory that is written, and where in it things lie; whether it can be."""
        assert self.together is not None, "a step in place"
        starts = tuple(addresses(args, self.together.slots))
        found = self.seen.get(starts)
        if found is None:
            placed = self.together.placed(starts)
            if placed is None:
                return False
            where, low = placed
            if len(self.seen) >= _most(where.memory):
                self.seen.clear()
            buffer = self.device.shared(where.memory.from_address(low))
            found = self.seen[starts] = where, low, low + ctypes.sizeof(where.memory), buffer
        where, low, high, buffer = found
        for memory, start in zip(self.reads, reads, strict=True):
            if start < high and low < start + ctypes.sizeof(memory.kind):
                return False
        if found is not self.entry:
            self.kernel.set_arg(self.memory, buffer)
            if self.entry is None or where is not self.entry[0]:
                self.entry = None
                self._set(self.memory + 1, where.numbers)
                for place, slot in self.offsets:
                    self._set(place, where.offsets[slot])
            self.entry = found
        return True

    def _forget(self) -> None:
        """Where memory is not shared, each launch has buffers of its own."""
        self.seen.clear()
        for memory in [*self.reads, *(memory for _, memory, _, _ in self.outputs)]:
            memory.known.clear()
            memory.last = 0

    def _copied(self, made: list[object]) -> tuple[list[Any], list[Any]]:
        """What is brought back: arrays, and their buffers."""
        arrays, buffers = [*made], [memory.known[memory.last] for _, memory, _, _ in self.outputs]
        if self.entry is not None:
            where, low, _, buffer = self.entry
            arrays.append(where.memory.from_address(low))
            buffers.append(buffer)
        return arrays, buffers


Results = Callable[[list[Any], tuple[Any, ...]], Any]  # one of them, from what was written and the arguments


def _of_argument(slot: int, kind: str, words: list[str]) -> Results:
    return lambda made, args: result(args[slot], kind, args, words)


def _of_output(k: int, output: Output, kind: str, words: list[str]) -> Results:
    """A result that was written: what most launches give without much ado."""
    if kind == "array" and not output.end:
        return lambda made, args: made[k]
    if output.end == "total" and output.count == 1 and not output.due and kind in ("", "float"):
        real = output.real.type
        if kind:
            return lambda made, args: float(real(made[k].item()))
        return lambda made, args: real(made[k].item())
    if output.end:
        return lambda made, args: result(ended(output, made[k]), kind, args, words)
    return lambda made, args: result(made[k], kind, args, words)


_MOST = 120  # arguments of a kernel


@dataclass
class Joined:
    """A kernel of some stages."""

    kernel: Any
    program: Any
    formed: list[Formed]


def built(formed: list[Formed], work: Preparing) -> list[Joined]:
    """Kernels for all stages, which are built where they are not there yet."""
    device = work.device
    if not device.is_pocl or device.is_gpu or device.copies:
        return _apart(formed, work)
    small = all(one.small for one in formed)
    for one in formed:
        one.small = small
    pieces = _pieces(formed, work)
    return [_joined(piece, work, work.name if len(pieces) == 1 else f"{piece[0].name}_on") for piece in pieces]


def _apart(formed: list[Formed], work: Preparing) -> list[Joined]:
    """A kernel for each stage; those that run on one queue are one program."""
    known = work.pattern.kernels
    for small in (False, True):
        new = [one for one in formed if one.small == small and (one.key, small) not in known]
        text = text_of([(one.name, one.plan, one.form) for one in new]) if new else ""
        for one in new:
            _build((one.key, small), text, one.name, [one], work)
    programs = work.pattern.programs
    return [Joined(known[one.key, one.small], programs[one.key, one.small], [one]) for one in formed]


def _joined(piece: list[Formed], work: Preparing, name: str) -> Joined:
    """One kernel for stages that follow each other."""
    if len(piece) == 1:
        return _apart(piece, work)[0]
    key = tuple(one.key for one in piece), piece[0].small
    if key not in work.pattern.kernels:
        text = text_of([(one.name, one.plan, one.form) for one in piece], name)
        _build(key, text, name, piece, work)
    return Joined(work.pattern.kernels[key], work.pattern.programs[key], piece)


def _build(key: object, text: str, name: str, formed: list[Formed], work: Preparing) -> None:
    """Build the kernel of some stages, and remember it."""
    small = formed[0].small
    kernel = work.pattern.kernels[key] = work.device.build(text, name, small)
    work.pattern.programs[key] = work.device.program(text, small)
    numbers = [number for one in formed for number in numbers_in(one.plan, one.form, work.real)]
    kernel.set_scalar_arg_dtypes([*numbers, *([np.uint32] * 2 if len(formed) > 1 else [])])


def _pieces(formed: list[Formed], work: Preparing) -> list[list[Formed]]:
    """Stages that follow each other and together have no more arguments than a kernel may have."""
    made: list[list[Formed]] = []
    total = 0
    for one in formed:
        own = len(numbers_in(one.plan, one.form, work.real))
        total += own
        if not made or total > _MOST:
            made.append([])
            total = own
        made[-1].append(one)
    return made


def runs_of(joined: Sequence[Joined], steps: Sequence[Step], work: Preparing) -> list[Run]:
    """What is launched at once: up to where a stage is given what the host has from an earlier one."""
    made: list[Run] = []
    left = iter(steps)
    written: dict[int, bool] = {}  # by slot, whether it is parts of a sum, which the host puts together
    for one in joined:
        blanks = [[None if n is None else 0 for n in numbers_in(f.plan, f.form, work.real)] for f in one.formed]
        for number, formed in enumerate(one.formed):
            step = next(left)
            waits = any(written.get(given.slot, False) or _is_number(given, written) for given in step.inputs)
            if made and (waits or number == 0):
                made[-1].waits = waits or made[-1].small != formed.small
                written = {} if made[-1].waits else written
            if waits or number == 0:
                made.append(Run(one.kernel, [], formed.small))
                made[-1].first = number if len(one.formed) > 1 else None
                made[-1].before = [blank for each in blanks[:number] for blank in each]
            made[-1].steps.append(step)
            made[-1].after = [blank for each in blanks[number + 1 :] for blank in each]
            written |= {output.slot: bool(output.end) for output in step.outputs}
    return made


def _is_number(given: Input, written: dict[int, bool]) -> bool:
    """Whether the host hands a number on from one stage to another."""
    return given.layout == "v" and given.slot in written


SMALL = 1_000_000  # work, in operations, below which the device without threads is faster


def prepared(work: Preparing, apart: bool = False) -> Prepared:
    """What to launch; MismatchError where lengths do not fit each other, or there are no elements.

    Writes are `apart` from what is computed where arguments have been found to lie so that one launch cannot do both.
    """
    space = work.pattern.space
    for name, value in zip(work.arguments, work.args, strict=True):
        for axis, length in zip(space.axes[name], np.shape(value), strict=True):
            if axis is not None and work.lengths.setdefault(axis, length) != length:
                raise MismatchError
    if not work.lengths or 0 in work.lengths.values():
        raise MismatchError
    work.slots = {name: k for k, name in enumerate(work.arguments)}
    for line in work.text.lines:
        if line.form == "COUNT":
            axes = space.axes[line.like]
            counted = axes if line.axis is None else (axes[line.axis],)
            work.constants.append(float(work.size(counted)))
            work.slots[line.name] = len(work.slots)
    for line in work.text.lines:
        work.slots.setdefault(line.name, len(work.slots))
    given = dict(zip(work.arguments, work.args, strict=True))
    check_types(work.text, space, given, work.real)
    results = [
        (work.slots[root(own, work.text, space)], kind_of(own, work.text, work.pattern.space, given))
        for _, own in work.text.results
    ]
    puts, numbers = _puts(work) if work.text.writes else [], work.pattern.numbers
    at_once = _in_place(puts, work) if puts and not apart else None
    if at_once is not None:
        return Prepared([], work.constants, results, len(work.slots), None, Direct(at_once, work, results), numbers)
    formed = [_formed(number, stage, work) for number, stage in enumerate(work.pattern.stages)]
    joined = built(formed, work)
    steps = [_step(one, stage, work) for one, stage in zip(formed, work.pattern.stages, strict=True)]
    runs = runs_of(joined, steps, work)
    writing = _writing(puts, work) if puts else None
    if runs and writing is not None:
        outputs = {output.slot: output.end for step in steps for output in step.outputs}
        numbers_read = any(one.layout == "v" and one.slot in outputs for put in puts for one in put.inputs)
        runs[-1].waits = runs[-1].small != writing.small or any(outputs.values()) or numbers_read
    direct = None
    if writing is None and _is_direct(formed, work.device):
        own = work.device.kernel(joined[0].program, formed[0].name)
        direct = Direct(replace(runs[0], kernel=own), work, results)
    return Prepared(runs, work.constants, results, len(work.slots), writing, direct, numbers)


def _is_direct(formed: list[Formed], device: Device) -> bool:
    """Whether there is one launch, of little work, with the arguments as they lie."""
    if len(formed) != 1 or not formed[0].small or device.is_gpu or device.copies:
        return False
    return not any(one.copied for one in formed[0].inputs)


def _puts(work: Preparing) -> list[Put]:
    """What is written into arguments."""
    if work.device.is_gpu:
        raise MismatchError  # the parts are in the host's memory, or in several buffers
    found = [_steps_of(write, work) for write in work.text.writes]
    step, puts = max(own[0] for own in found), []
    for write, stage, own in zip(work.text.writes, work.pattern.writes, found, strict=True):
        inputs = [_input(name, stage, work) for name in stage.inputs]
        form = Form(REALS[work.real], False, tuple(i.layout for i in inputs), len(stage.axes))
        lengths = [work.lengths[axis] for axis in stage.axes]
        plan = planned(stage, work.pattern.space)
        slot = work.slots[write.argument]
        puts.append(Put(slot, write.added, plan, form, lengths, own, inputs, own[0] == step))
    return puts


def _in_place(puts: list[Put], work: Preparing) -> Together | None:
    """One launch for what is computed and written, where that is little work: one item does it."""
    if len(work.pattern.stages) != 1:
        return None
    (stage,) = work.pattern.stages
    formed = _formed(0, stage, work, rows=True)
    done = sum(math.prod(put.lengths) * cost(put.plan.stage.lines) for put in puts)
    done += formed.numbers[0] * formed.numbers[1] * cost(stage.lines)
    results = [root(own, work.text, work.pattern.space) for _, own in work.text.results]
    if done >= 2 * SMALL or not fits(formed, puts, results):
        return None
    outputs = _outputs(stage, formed.plan, 1, formed.numbers, work)
    formed.small = work.device.small is not None
    ring = [name for name in stage.stored if name not in results] if len(stage.axes) > 1 else []
    return together(formed, puts, work, outputs, ring)


def _writing(puts: list[Put], work: Preparing) -> Writing:
    """The launch that writes into arguments, when everything else has been computed."""
    size = sum(math.prod(put.lengths) for put in puts)
    done = sum(math.prod(put.lengths) * cost(put.plan.stage.lines) for put in puts)
    small = work.device.small is not None and done < SMALL
    return written(puts, work.name, size, small, work.real, work.device, work.pattern.kernels)


def _steps_of(write: Write, work: Preparing) -> tuple[int, ...]:
    """The steps of a part in elements, along its axes that are longer than one."""
    part = work.args[work.slots[write.argument]]
    axes = work.pattern.space.axes[write.argument]
    own = [(s, s % part.itemsize) for axis, s in zip(axes, part.strides, strict=True) if axis is not None]
    if not (part.flags.aligned and part.flags.writeable) or any(stride <= 0 or rest for stride, rest in own):
        raise MismatchError
    return tuple(stride // part.itemsize for stride, _ in own)


def _formed(number: int, stage: Stage, work: Preparing, rows: bool = False) -> Formed:
    """A stage as it is launched: as one loop over memory in one piece, where it may be, or else along `rows`."""
    inputs = [_input(name, stage, work) for name in stage.inputs]
    form_axes, numbers = len(stage.axes), [1, 1]
    if not rows and _is_flat(stage, inputs, work):
        inputs = [replace(one, strides=()) for one in inputs]
        form_axes, numbers = 1, [1, work.size(stage.axes)]
    elif stage.axes:
        outer = [work.lengths[axis] for axis in stage.axes[:-1]]
        numbers = [math.prod(outer), work.lengths[stage.axes[-1]], *outer[1:]]
    form = Form(REALS[work.real], work.device.is_gpu, tuple(i.layout for i in inputs), max(form_axes, 1))
    plan = _plan(number, stage, form, work)
    if form_axes > 1 and not form.gpu and not plan.scans and len(plan.passes) == 1 and not plan.passes[0].rows:
        inputs = [_turned(one) for one in inputs]
        form = replace(form, layouts=tuple(one.layout for one in inputs))
    size = numbers[0] * numbers[1]
    every = work.pattern.stages if is_in_parts(plan) else [stage]  # which share their groups
    small = work.device.small is not None and size * max(cost(one.lines) for one in every) < SMALL
    name = work.name if len(work.pattern.stages) == 1 else f"{work.name}_{number + 1}"
    return Formed(name, plan, form, (number, form, work.device.number), numbers, inputs, small, small)


def _turned(one: Input) -> Input:
    """An input that is transposed as such: neighbours in memory are in different rows."""
    turned = one.layout[0] == "s" and 0 < one.strides[-2] < one.strides[-1]
    return replace(one, layout=one.layout.replace("s", "t")) if turned else one


def _step(one: Formed, stage: Stage, work: Preparing) -> Step:
    groups = 1 if one.little else _groups(one.plan, one.form, one.numbers, work.device)
    return Step(one.numbers, one.inputs, _outputs(stage, one.plan, groups, one.numbers, work), groups)


def _groups(plan: Plan, form: Form, numbers: list[int], device: Device) -> int:
    size = numbers[0] * numbers[1]
    if form.axes == 1 and any(line.form != "CUMSUM" and line.name in plan.scans for line in plan.stage.lines):
        if form.gpu:
            raise MismatchError  # one item after the other
        return 1
    if down(plan):
        units = max(-(-numbers[1] // RUNS), min(device.units, -(-numbers[1] // 64)))
        return device.groups(units, 4 * numbers[1])
    if batches(plan) and not form.gpu:
        return max(1, min(numbers[0] // numbers[-1], 16 * device.units))
    if not form.gpu:
        return device.groups(size if form.axes == 1 else numbers[0], size)
    return device.groups(numbers[0], numbers[0] * 1024) if loops.in_groups(plan) else device.groups(size, size)


def _plan(number: int, stage: Stage, form: Form, work: Preparing) -> Plan:
    """The passes of a stage: where a GPU need not take rows one by one, it computes what is of rows anew."""
    key = number, form.gpu, form.axes == len(stage.axes)
    plan = work.pattern.plans.get(key)
    if plan is None:
        plan = planned(stage, work.pattern.space)
        by_row = len(plan.passes) > 1 or "columns" in stage.ends.values() or len(stage.axes) < 2
        kept = any(plan.level[name] == "row" for name in [*stage.stored, *stage.ends])
        if down(plan):
            plan = planned(stage, work.pattern.space, spread=True)
            if kept or len(plan.passes) > 1:
                raise MismatchError
        elif form.gpu and not by_row and not kept and not plan.scans:
            plan = planned(stage, work.pattern.space, spread=True)
        work.pattern.plans[key] = plan
    return plan


def _input(name: str, stage: Stage, work: Preparing) -> Input:
    """How an input lies along the axes of a stage."""
    axes = work.pattern.space.axes[name]
    shape, slot = work.shape(axes), work.slots[name]
    value = work.args[slot] if slot < len(work.args) else None
    if not members(axes):
        parts = next((line for line in work.text.lines if line.name == name and line.form == "PARTS"), None)
        return Input(slot, "g" if parts else "v")
    own = None if value is None else steps(value)
    copied = value is not None and own is None
    own = own or steps_in_one_piece(shape)
    along = {axis: step for axis, step in zip(axes, own, strict=True) if axis is not None}
    last = stage.axes[-1]
    kind = "r" if last not in along else {1: "1"}.get(along[last], "s")
    outer = tuple(along.get(axis, 0) for axis in stage.axes[:-1])
    boolean = value is not None and value.dtype == BOOL
    whole = value is None or copied or value.flags.c_contiguous
    pieces = None if whole else span(value)
    strides = (*outer, *((along[last],) if kind == "s" else ()))
    return Input(slot, kind + ("b" if boolean else ""), strides, copied, pieces)


def _is_flat(stage: Stage, inputs: list[Input], work: Preparing) -> bool:
    """Whether a stage is one loop over memory in one piece."""
    space = work.pattern.space
    if len(stage.axes) < 2 or {"columns", "batches"}.intersection(stage.ends.values()):
        return False
    for line in stage.lines:
        reach = members(space.over[line.name]) | members(space.axes[line.name])
        if reach and reach != set(stage.axes):
            return False
        if directions(line, stage.axes, space):
            return False
        reduces = line.form not in PLAIN and reach - members(space.axes[line.name])
        if line.name not in stage.ends and reduces:
            return False
    full = steps_in_one_piece(work.shape(stage.axes))
    return all(one.layout == "v" or (one.layout[0] == "1" and (*one.strides, 1) == full) for one in inputs)


def _outputs(stage: Stage, plan: Plan, groups: int, numbers: list[int], work: Preparing) -> list[Output]:
    space, real = work.pattern.space, work.real
    lines = {line.name: line for line in stage.lines}
    made = [Output(work.slots[name], work.shape(space.axes[name]), real) for name in stage.stored]
    for name, end in stage.ends.items():
        if end == "batches" and not work.device.is_gpu:
            made.append(Output(work.slots[name], work.shape(space.axes[name]), real))
            continue
        end = "host" if end == "batches" else end
        line, axes = lines[name], space.axes[name]
        found = Output(
            work.slots[name], (groups,), np.dtype(work.device.sums(REALS[real])), end, line, work.shape(axes)
        )
        found.real = real
        if end == "columns":
            found.shape, found.dtype = (groups, numbers[1]), real
        if end == "host":
            over = space.over[name]
            found.shape, found.dtype = work.shape(over), real
            gone = members(over) - members(axes)
            found.over = tuple(k for k, axis in enumerate(over) if axis in gone)
        if line.form == "MEAN":
            found.count = work.size(space.over[name]) // work.size(axes)
        made.append(found)
    made += [Output(-1, (groups if len(stage.axes) > 1 else 1, numbers[1]), real) for _ in plan.scratch]
    return made
