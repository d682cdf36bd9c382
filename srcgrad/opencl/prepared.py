"""A kernel made ready for arguments of certain types, shapes and strides: what to run, with which numbers, and when.

Stages and passes depend on which axes are long, never on lengths; the C of a stage depends on them and on strides only.
Both are kept, so that new lengths cost arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from srcgrad.opencl import grid
from srcgrad.opencl.device import Device
from srcgrad.opencl.direct import Direct
from srcgrad.opencl.joined import built, runs_of
from srcgrad.opencl.kinds import check_types, kind_of
from srcgrad.opencl.layout import BOOL, REALS, steps, steps_in_one_piece
from srcgrad.opencl.lines import PLAIN, Write, cost
from srcgrad.opencl.memory import span
from srcgrad.opencl.passes import Plan, planned
from srcgrad.opencl.preparing import Preparing
from srcgrad.opencl.runs import WIDTH, down, is_in_parts
from srcgrad.opencl.scans import directions
from srcgrad.opencl.source import Form, batches
from srcgrad.opencl.space import MismatchError, members
from srcgrad.opencl.stages import Stage, root
from srcgrad.opencl.steps import Formed, Output, Prepared, Step
from srcgrad.opencl.together import Together, fits, together
from srcgrad.opencl.writing import Input, Put, Writing, written

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
        units = max(-(-numbers[1] // WIDTH), min(device.units, -(-numbers[1] // 64)))
        return device.groups(units, 4 * numbers[1])
    if batches(plan) and not form.gpu:
        return max(1, min(numbers[0] // numbers[-1], 16 * device.units))
    if not form.gpu:
        return device.groups(size if form.axes == 1 else numbers[0], size)
    return device.groups(numbers[0], numbers[0] * 1024) if grid.in_groups(plan) else device.groups(size, size)


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
