"""Derivatives of functions, and of targets of the command line, against finite differences and against each other.

For y = f(x) with Jacobian J, a direction v and a seed y_bar, both drawn at random, there are three oracles:

- forward: J v, from `jvp`, against the central difference (f(x + h v) - f(x - h v)) / (2 h);
- reverse: <J^T y_bar, v>, from `vjp`, against <y_bar, the same difference>;
- pairing: <y_bar, J v> = <J^T y_bar, v>, what transpose means; no step enters, so it is held to rounding.

No step h suits every function: truncation grows with h, rounding with 1 / h. So several are tried, and one must
agree, as in Mooncake.jl's `test_rule`. Differences and pairing are both needed, as ChainRulesTestUtils.jl has them:
where both modes are made from one line, a wrong line passes the pairing; an adjoint that is off by less than
differences resolve fails it. Order 2 applies all three to the gradient of <y_bar, f(x)>, forward over reverse and
reverse over reverse, and to the tangent J v as a function of x, forward over forward and reverse over forward.

Where none agrees, the differences are compared with each other (`doubt`): at a kink, and of a function that is noisy,
they say no more of a derivative than that it is undecided. So it is where an adaptive solver keeps the two apart by
its tolerance: with a tight one they agree.

What is not seen: an error in a derivative that is far smaller than the value (`Precision.floor`), and anything away
from `args`. At a kink a derivative is a convention that differences do not share.

What a derivative promises besides right numbers is checked too; each function lists where a promise is broken.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import linecache
import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import ModuleType
from typing import Any  # arguments are arbitrary nested Python values

import numpy as np
from numpy.typing import NDArray

from srcgrad.core.bindings import StaticFunction
from srcgrad.core.errors import DifferentiationError, Place, cell_of
from srcgrad.core.identity import Function
from srcgrad.core.source_text import hides_our_frames, label_of
from srcgrad.core.trees import parameters
from srcgrad.interface.api.arguments import discrete
from srcgrad.interface.api.derivatives import by_place, grad, jvp, value_and_grad, vjp
from srcgrad.interface.check.finite_differences import (
    NONE,
    ROOM,
    TIGHT,
    Doubt,
    Precision,
    Vector,
    calls_solver,
    central_difference,
    doubt,
    draw_direction,
    draw_seed,
    forward,
    is_float,
    parts,
    precision,
    relative_error,
    shape_like,
    spans,
    tangent_like,
    tight_tolerances,
    vector,
    vector_along,
)
from srcgrad.interface.cli.options import columns
from srcgrad.interface.dump import function_of, module_of
from srcgrad.interface.targets import find_target


def snapshot(tree: object) -> list[tuple[object, ...]]:
    """All that can be seen of a nested value, to the last bit, for comparison with a later snapshot."""
    return [(label, *_snapshot_of_part(part)) for label, part in parts(tree)]


def _snapshot_of_part(part: object) -> tuple[object, ...]:
    if isinstance(part, np.ndarray):
        return type(part), part.dtype.str, part.shape, part.strides, part.tobytes()
    if isinstance(part, np.generic):
        return type(part), part.tobytes()
    return type(part), repr(part) if isinstance(part, int | float | complex | str) else id(part)


def not_mirrored(tree: object, mirror: object, name: str) -> list[str]:
    """Where `mirror` has not the structure, class, shape and dtype of the floating parts of `tree`.

    `name` is what the tree is called in the list. A Python float and a NumPy float64 may stand for each
    other: one is a subclass of the other.

    >>> not_mirrored([1.0, np.zeros(3)], [0.5, np.zeros((1, 3))], "w")
    ['w[1]: ndarray float64 (1, 3), not ndarray float64 (3,)']
    """
    found = dict(parts(mirror, name))
    broken = []
    for label, part in parts(tree, name):
        if is_float(part) and label not in found:
            broken.append(f"{label}: missing")
        elif is_float(part) and _kind(found[label]) != _kind(part):
            broken.append(f"{label}: {_kind(found[label])}, not {_kind(part)}")
    return broken


def _kind(part: object) -> str:
    if isinstance(part, np.ndarray):
        return f"{type(part).__name__} {part.dtype} {part.shape}"
    if isinstance(part, float | complex):
        return "float" if isinstance(part, float) else "complex"
    return type(part).__name__


def value_differences(expected: object, actual: object) -> list[str]:
    """Where the primal value that a derivative returns is not the one that the function returns.

    The derivative runs the same operations, but may group them anew; hence a few roundings are allowed.
    """
    wanted, found = dict(parts(expected)), dict(parts(actual))
    if list(wanted) != list(found):
        return [f"structure {list(found)}, not {list(wanted)}"]
    return [f"value {label} differs" for label, part in wanted.items() if not _is_close(part, found[label])]


def _is_close(one: Any, other: Any) -> bool:
    if not is_float(one):
        return bool(np.array_equal(one, other))
    if np.shape(one) != np.shape(other):
        return False
    tolerance = 64.0 * float(np.finfo(np.asarray(one).dtype).eps)
    return bool(np.allclose(other, one, rtol=tolerance, atol=tolerance, equal_nan=True))


def shared_memory(adjoints: dict[str, object], others: object) -> list[str]:
    """Which arrays of the gradients, given by name, are read-only or share memory with any other."""
    own = [(label, array) for name, tree in adjoints.items() for label, array in _arrays(tree, name)]
    rest = [array for _, array in _arrays(others, "")]
    broken = [f"{label}: read-only" for label, array in own if not array.flags.writeable]
    for position, (label, array) in enumerate(own):
        earlier = [other for _, other in own[:position]]
        if any(_overlap(array, other) for other in earlier + rest):
            broken.append(f"{label}: shares memory")
    return broken


def _arrays(tree: object, name: str) -> list[tuple[str, NDArray[np.generic]]]:
    return [(label, part) for label, part in parts(tree, name) if isinstance(part, np.ndarray)]


def _overlap(one: object, other: object) -> bool:
    return bool(np.may_share_memory(one, other) and np.shares_memory(one, other))


_NUMBERS = ("value", "reverse", "forward", "pairing")  # oracles that compare numbers of several calls


@dataclass(frozen=True)
class Record:
    """One comparison: of which function, order and argument, by which oracle; the error and its limit."""

    function: str
    order: int
    oracle: str
    argument: str
    direction: int
    error: float
    tolerance: float
    detail: str = ""
    doubt: float = 0.0

    @property
    def undecided(self) -> bool:
        """Whether the error is not within the tolerance, but no larger than what differences leave open."""
        return not self.passed and self.error <= ROOM * self.doubt

    @property
    def passed(self) -> bool:
        """Whether the error is within the tolerance; NaN is not."""
        return self.error <= self.tolerance


@dataclass(frozen=True)
class Subject:
    """What is checked: `function` at `args`, with respect to the positions `active`."""

    function: Function
    name: str
    order: int
    args: tuple[Any, ...]
    active: tuple[int, ...]
    labels: tuple[str, ...]
    limits: Precision

    @property
    def active_arguments(self) -> tuple[object, ...]:
        """The active arguments."""
        return tuple(self.args[position] for position in self.active)

    def primal(self, *chosen: object) -> Any:
        """The function of its active arguments alone; it is given copies, so it may write into them."""
        args = list(shape_like(self.args, vector(self.args)))
        for position, argument in zip(self.active, chosen, strict=True):
            args[position] = shape_like((argument,), vector((argument,)))[0]
        return self.function(*args)

    def tangents(self, numbers: Vector) -> tuple[object, ...]:
        """One tangent per positional argument: `numbers` in the active ones, zero in the others."""
        found = [tangent_like(argument, np.zeros(vector(argument).size)) for argument in self.args]
        moved = tangent_like(self.active_arguments, numbers)
        for position, tangent in zip(self.active, moved, strict=True):
            found[position] = tangent
        return tuple(found)

    def spans(self) -> list[tuple[str, slice]]:
        """The name of each floating part of the active arguments, and where in the vector it lies."""
        found: list[tuple[str, slice]] = []
        start = 0
        for position in self.active:
            for label, span in spans(self.args[position], self.labels[position]):
                found.append((label, slice(start + span.start, start + span.stop)))
            start += vector(self.args[position]).size
        return found

    @cached_property
    def solver(self) -> bool:
        """Whether an adaptive solver computes the function."""
        return calls_solver(self.primal, self.active_arguments)

    def record(self, oracle: str, argument: str, direction: int, error: float, open_: Doubt) -> Record:
        """A comparison with differences, and what these leave open."""
        limit = self.limits.difference
        return Record(self.name, self.order, oracle, argument, direction, error, limit, open_.why, open_.size)

    def promise(self, oracle: str, call: str, direction: int, broken: Sequence[str]) -> Record:
        """A comparison that has no degrees: `broken` says where `call` fails it."""
        error = float("inf") if broken else 0.0
        return Record(self.name, self.order, oracle, call, direction, error, 0.0, "; ".join(broken))


@dataclass(frozen=True)
class _Point:
    """One drawn direction: the value, a direction `v` in the arguments and a seed in the outputs."""

    number: int
    value: Any
    v: Vector
    seed: Vector
    resolution: Vector

    def scale(self, span: slice = slice(None)) -> float:
        """Below this size a change of the outputs is not told from rounding."""
        return float(np.linalg.norm(self.resolution[span]))


def compare(subject: Subject, modes: Sequence[str], *, directions: int, generator: np.random.Generator) -> list[Record]:
    """All comparisons of one function: for each direction, each floating part of each active argument.

    What an adaptive solver computes is compared again with tight tolerances where it does not agree.
    """
    again = deepcopy(generator)
    found = _compare_modes(subject, modes, directions, generator)
    if all(record.passed for record in found):
        return found
    if value_differences(subject.primal(*subject.active_arguments), subject.primal(*subject.active_arguments)):
        why = "the function gives another value at each call"
        return [_leave_undecided(record, why) if record.oracle in _NUMBERS else record for record in found]
    if not subject.solver:
        return found
    with tight_tolerances():
        closer = _compare_modes(subject, modes, directions, again)
    return [_by_tolerance(*pair) for pair in zip(found, closer, strict=True)] if len(found) == len(closer) else found


def _by_tolerance(record: Record, tightened: Record) -> Record:
    """A comparison that did not pass, and the same with tight tolerances of a solver."""
    why = f"the tolerance of the solver: with {TIGHT[0]:.0e} the error is {tightened.error:.0e}"
    return _leave_undecided(record, why) if tightened.passed else record


def _leave_undecided(record: Record, why: str) -> Record:
    return record if record.passed else replace(record, doubt=record.error, detail=why)


def _compare_modes(
    subject: Subject, modes: Sequence[str], directions: int, generator: np.random.Generator
) -> list[Record]:
    found: list[Record] = []
    value = subject.primal(*subject.active_arguments)
    for number in range(directions):
        v = draw_direction(subject.active_arguments, generator)
        point = _Point(number, value, v, draw_seed(value, generator), _resolution(value, subject.limits))
        found += _at(subject, modes, point)
    return found


def _resolution(value: object, limits: Precision) -> Vector:
    size = np.abs(vector(value))
    floor: Vector = limits.floor * np.where(np.isfinite(size), size, 0.0) + 1e-3 * limits.floor
    return floor


def _at(subject: Subject, modes: Sequence[str], point: _Point) -> Iterator[Record]:
    adjoints = y_dot = None
    if "reverse" in modes:
        adjoints, promises = _pull(subject, point)
        yield from promises
    if "forward" in modes:
        y_dot, promises = _push(subject, point, point.v)
        yield from promises
    for label, span in subject.spans():
        v = np.zeros_like(point.v)
        v[span] = point.v[span]
        difference = cache(lambda step, v=v: central_difference(subject.primal, subject.active_arguments, v, step))
        ahead = cache(lambda step, v=v: forward(subject.primal, subject.active_arguments, v, step))
        for oracle, wanted in (("reverse", adjoints), ("forward", y_dot)):
            if wanted is None:
                continue
            if oracle == "reverse":
                error, distance = _reverse_error(subject, point, wanted, v)
            else:
                error, distance = _forward_error(subject, point, _push(subject, point, v)[0])
            least = _best_error(error, difference, subject.limits)
            agrees = least <= subject.limits.difference
            left = NONE if agrees else doubt(distance, subject.limits.steps, difference, ahead)
            yield subject.record(oracle, label, point.number, least, left)
    if adjoints is not None and y_dot is not None:
        yield _pairing(subject, point, adjoints, y_dot)


def _pull(subject: Subject, point: _Point) -> tuple[Vector | None, list[Record]]:
    """J^T seed, and what the call that made it promises; None if the result cannot be compared."""
    seed = tangent_like(point.value, point.seed)
    before = snapshot((subject.args, seed))
    value, pullback = vjp(subject.function, *subject.args, wrt=subject.active)
    adjoints = list(pullback(seed))
    first = snapshot(adjoints)
    second = snapshot(list(pullback(seed)))
    changed = [] if before == snapshot((subject.args, seed)) else ["an argument or the seed was changed"]
    names = [subject.labels[position] for position in subject.active]
    mirrored = zip(subject.active_arguments, adjoints, names, strict=True)
    wrong = [text for argument, adjoint, name in mirrored for text in not_mirrored(argument, adjoint, name)]
    other = value_differences(point.value, value)
    broken = {
        "value": other,
        "unchanged": changed,
        "mirrors": wrong,
        "unaliased": shared_memory(dict(zip(names, adjoints, strict=True)), (subject.args, seed, value)),
        "repeatable": [] if first == second else ["the pullback gives another result when called again"],
        "gradient": [] if wrong or changed or other else _gradient_differences(subject, point, adjoints),
    }
    promises = [subject.promise(oracle, "vjp", point.number, texts) for oracle, texts in broken.items()]
    return (None if wrong else vector_along(subject.active_arguments, adjoints)), promises


def _gradient_differences(subject: Subject, point: _Point, adjoints: list[object]) -> list[str]:
    """How the text of the gradient, which is another than that of the pullback, differs from it at the first point."""
    if subject.order > 1 or point.number or not isinstance(point.value, float | np.floating):
        return []
    gradient = value_and_grad(subject.function, subject.active)(*subject.args)[1]
    pulled, found = (vector_along(subject.active_arguments, list(each)) for each in (adjoints, gradient))
    scale = np.max(np.abs(pulled), initial=0.0, where=np.isfinite(pulled))
    rounding = np.finfo(float).eps * abs(float(point.value)) * float(np.max(np.abs(point.seed)))  # where all cancels
    room = max(10.0 * subject.limits.pairing * scale, 64.0 * rounding)
    near = np.allclose(pulled, found * point.seed, rtol=0.0, atol=room, equal_nan=True)
    return [] if near else ["value_and_grad gives another gradient than the pullback"]


def _push(subject: Subject, point: _Point, v: Vector) -> tuple[Vector | None, list[Record]]:
    """J v, and what the call that made it promises; None if the result cannot be compared."""
    tangents = subject.tangents(v)
    before = snapshot((subject.args, tangents))
    value, y_dot = jvp(subject.function, subject.args, tangents)
    changed = [] if before == snapshot((subject.args, tangents)) else ["an argument or a tangent was changed"]
    # what a derivative computes inside of another text may be a number or an array without axes
    wrong = not_mirrored(point.value if subject.order == 1 else value, y_dot, "result")
    broken = {"value": value_differences(point.value, value), "unchanged": changed, "mirrors": wrong}
    promises = [subject.promise(oracle, "jvp", point.number, texts) for oracle, texts in broken.items()]
    return (None if wrong else vector_along(point.value, y_dot)), promises


Errors = tuple[Callable[[Vector], float], Callable[[Vector, Vector], float]]  # of a quotient; between two


def _reverse_error(subject: Subject, point: _Point, adjoints: Vector, v: Vector) -> Errors:
    """<J^T seed, v> against <seed, difference>; Cauchy and Schwarz give the scale of both."""
    actual = _product(adjoints, v)
    size = _norm(adjoints[v != 0.0]) * _norm(v)

    def against(actual: Vector, quotient: Vector) -> float:
        if quotient.shape != point.seed.shape:
            return float("inf")
        scale = _norm(point.seed) * max(_norm(quotient), point.scale())
        return relative_error(actual, _product(point.seed, quotient), max(size, scale))

    def difference_from(one: Vector, other: Vector) -> float:
        return float("inf") if one.shape != point.seed.shape else against(_product(point.seed, one), other)

    return lambda quotient: against(actual, quotient), difference_from


def _forward_error(subject: Subject, point: _Point, y_dot: Vector | None) -> Errors:
    """J v against the difference, in each output by itself, so that a large one hides no small one."""
    outputs = [span for _, span in spans(point.value)]

    def difference_between(one: Vector, other: Vector) -> float:
        if one.shape != other.shape:
            return float("inf")
        each = [relative_error(one[s], other[s], point.scale(s)) for s in outputs]
        return max([0.0, *each])

    return lambda quotient: float("inf") if y_dot is None else difference_between(y_dot, quotient), difference_between


def _best_error(error: Callable[[Vector], float], difference: Callable[[float], Vector], limits: Precision) -> float:
    """The least error over the steps, up to the first step that agrees."""
    least = float("inf")
    for step in limits.steps:
        least = min(least, error(difference(step)))
        if least <= limits.difference:
            break
    return least


def _pairing(subject: Subject, point: _Point, adjoints: Vector, y_dot: Vector) -> Record:
    """<seed, J v> = <J^T seed, v>."""
    left, right = _product(point.seed, y_dot), _product(adjoints, point.v)
    scale = max(_norm(point.seed) * max(_norm(y_dot), point.scale()), _norm(adjoints) * _norm(point.v))
    error = relative_error(right, left, scale)
    limit = subject.limits.pairing
    return Record(subject.name, subject.order, "pairing", "", point.number, error, limit)


def _product(one: Vector, other: Vector) -> Vector:
    return np.array([np.dot(one, other)])


def _norm(numbers: Vector) -> float:
    norm = float(np.linalg.norm(numbers))
    return norm if np.isfinite(norm) else 0.0


Wrt = int | str | Sequence[int | str] | None
MODES = ("forward", "reverse")


class CheckFailed(AssertionError):  # noqa: N818  (a finding about a derivative, not an error of the call)
    """A derivative that disagrees with an oracle; `records` holds the comparisons that failed."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = tuple(record for record in records if not record.passed)
        open_ = sum(record.undecided for record in self.records)
        failed = f"{len(self.records) - open_} of {len(records)} comparisons failed"
        told = f"{failed}, {open_} are undecided" if open_ else failed
        super().__init__(f"{told}\n{table(self.records)}")


class CheckUndecided(CheckFailed):
    """A derivative that differences neither confirm nor contradict: at a kink, in noise, by a solver's tolerance."""


@hides_our_frames
def check_grads(
    f: Function,
    args: Sequence[object],
    order: int = 2,
    modes: Sequence[str] = MODES,
    *,
    wrt: Wrt = None,
    kwargs: dict[str, object] | None = None,
    seed: int = 0,
    directions: int = 2,
    tolerance: float | None = None,
) -> None:
    """Raise `CheckFailed` unless the derivatives of `f` at `args` agree with differences and with each other.

    It is a `CheckUndecided` where differences at several steps, and on both sides of the point, disagree among
    themselves as much as with the derivative: at a kink or in noise; and where an adaptive solver's tolerance is all
    that keeps them apart.

    `args` are the positional arguments: floats, arrays, and nested tuples, lists, dicts, NamedTuples
    and dataclasses of them; integers pass through. `wrt` picks arguments by position or name (if not
    given, all that hold floats); `kwargs` go to `f` as they are. `order` 1 checks the derivative, 2
    all nestings of two of the `modes` as well; pairing needs both modes. `seed` fixes the random
    directions, of which each part of each argument gets `directions`. `tolerance` bounds the relative
    error against differences (by default 1e-6 in float64, 5e-3 in float32).

    Also checked: no call changes its arguments; a gradient has the structure, shape, dtype and class of its
    argument, can be written to, and shares memory with nothing; a pullback can be called twice.

    Raises DifferentiationError, as `vjp` does, where `f` cannot be differentiated.

    >>> def energy(x, w):
    ...     return np.sum(np.tanh(x * w))
    >>> check_grads(energy, (np.array([0.3, -0.5]), 2.0))
    """
    drawn: dict[str, Any] = {"seed": seed, "directions": directions, "tolerance": tolerance}
    records = check_report(f, args, order, modes, wrt=wrt, kwargs=kwargs, **drawn)
    if not all(record.passed for record in records):
        decided = any(not record.passed and not record.undecided for record in records)
        raise CheckFailed(records) if decided else CheckUndecided(records)


def check_report(
    f: Function,
    args: Sequence[object],
    order: int = 2,
    modes: Sequence[str] = MODES,
    *,
    wrt: Wrt = None,
    kwargs: dict[str, object] | None = None,
    seed: int = 0,
    directions: int = 2,
    tolerance: float | None = None,
    since: int = 1,
) -> list[Record]:
    """All comparisons that `check_grads` makes, passed or not; the parameters are the same, but for `since`.

    With `since=2` first derivatives are not compared by themselves.

    >>> sorted({record.oracle for record in check_report(np.tanh, (0.5,), order=1)})
    ['forward', 'gradient', 'mirrors', 'pairing', 'repeatable', 'reverse', 'unaliased', 'unchanged', 'value']
    """
    for mode in modes:
        if mode not in MODES:
            raise DifferentiationError("E5006", f"no mode is called {mode!r}", f"use {' or '.join(MODES)}")
    subjects = [_subject(f, tuple(args), wrt, kwargs or {}, tolerance)]
    records: list[Record] = []
    for level in range(1, order + 1):
        generator = np.random.default_rng(seed if level == 1 else [seed, level])  # whether or not orders are left out
        if level > 1:
            subjects = [made for subject in subjects for made in _derivatives_to_check(subject, modes, generator)]
        for subject in subjects if level >= since else ():
            with _refused_at_line_of(f):
                records += compare(subject, modes, directions=directions, generator=generator)
    return records


@contextlib.contextmanager
def _refused_at_line_of(f: Function) -> Iterator[None]:
    """Name the first line of the function where a refusal names a line of a text that is written here."""
    try:
        yield
    except DifferentiationError as error:
        places = [] if error.place is None else [error.place]
        while places and places[-1].call is not None:
            places.append(places[-1].call)
        kept = [place for place in places if not place.file.startswith(TITLE)]
        found = None if kept or not places else _first_line(f)
        for place in reversed(kept):
            found = replace(place, call=found)
        error.place = found
        raise


def _first_line(f: Function) -> Place | None:
    code = getattr(inspect.unwrap(f), "__code__", None)
    text = "" if code is None else linecache.getline(code.co_filename, code.co_firstlineno).rstrip()
    if code is None or not text:
        return None
    start = len(text) - len(text.lstrip())
    where = cell_of(code.co_filename) or label_of(code.co_filename)
    return Place(where, code.co_firstlineno, start, text, len(text) - start)


def table(records: Sequence[Record]) -> str:
    """The comparisons as a table, one a line."""
    rows = [("function", "order", "oracle", "argument", "direction", "error", "tolerance", "")]
    for record in records:
        place = (record.function, str(record.order), record.oracle, record.argument, str(record.direction))
        detail = f"undecided: {record.detail}" if record.undecided else record.detail
        rows.append((*place, f"{record.error:.1e}", f"{record.tolerance:.1e}", detail))
    return columns(rows).rstrip("\n")


def _subject(
    f: Function, args: tuple[object, ...], wrt: Wrt, kwargs: dict[str, object], tolerance: float | None
) -> Subject:
    f = by_place(f, -1, len(args))
    labels = _labels(f, len(args))
    active = _active_positions(wrt, args, labels)
    bound = _bind_keywords(f, len(args), kwargs) if kwargs else f
    limits = precision(args, bound(*shape_like(args, vector(args))))
    if tolerance is not None:
        limits = replace(limits, difference=tolerance)
    return Subject(bound, getattr(f, "__name__", "function"), 1, args, active, labels, limits)


def _labels(f: Function, count: int) -> tuple[str, ...]:
    """The names of the positional parameters; ufuncs and other C functions may not tell them."""
    try:
        named = list(inspect.signature(f).parameters.values())
    except ValueError:
        named = []
    names = [p.name for p in named if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return tuple((names + [f"argument {number}" for number in range(len(names), count)])[:count])


def _active_positions(wrt: Wrt, args: tuple[object, ...], labels: tuple[str, ...]) -> tuple[int, ...]:
    if wrt is None:
        found = tuple(k for k, argument in enumerate(args) if any(is_float(p) for _, p in parts(argument)))
        if not found:
            raise DifferentiationError("E5002", "no argument holds a float", "pass 3.0 instead of 3")
        return found
    asked = [wrt] if isinstance(wrt, int | str) else list(wrt)
    positions = [labels.index(key) if key in labels else key for key in asked]
    for key in positions:
        if isinstance(key, str) or not 0 <= key < len(args):
            raise DifferentiationError("E5009", f"no argument {key!r}", f"the arguments are: {', '.join(labels)}")
    return tuple(key for key in positions if isinstance(key, int))


TITLE = "<check"  # how the files of the texts that are written here are called begins so
_numbers = itertools.count(1)


def _define(text: str, name: str, namespace: dict[str, Any]) -> Function:
    """The function that `text` spells, with its text where `inspect` and the front end look for it."""
    file = f"{TITLE} {next(_numbers)} of srcgrad>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), namespace)
    function: Function = namespace[name]
    return function


def _bind_keywords(f: Function, count: int, kwargs: dict[str, object]) -> Function:
    """`f` with its keyword arguments given, written out so that literal ones stay literal."""
    names = ", ".join(f"x{number}" for number in range(count))
    given = ", ".join(f"{key}={_literal(key, value)}" for key, value in kwargs.items())
    text = f"def bound({names}):\n    return primal({names}, {given})\n"
    return _define(text, "bound", {"primal": f, **{f"given_{key}": value for key, value in kwargs.items()}})


def _literal(key: str, value: object) -> str:
    return repr(value) if value is None or isinstance(value, bool | int | str) else f"given_{key}"


def _derivatives_to_check(subject: Subject, modes: Sequence[str], generator: np.random.Generator) -> Iterator[Subject]:
    """The first derivatives of a function, as functions to be checked: the gradient, the tangent, or both."""
    value = subject.primal(*subject.active_arguments)
    if not vector(value).size:
        return
    order, f, args = subject.order + 1, subject.function, subject.args
    if "reverse" in modes:
        weighted = _weighted_sum(f, args, value, draw_seed(value, generator))
        gradient = grad(weighted, wrt=subject.active)
        yield replace(subject, function=gradient, order=order, name=f"gradient of {subject.name}")
    if "forward" in modes:
        pushed = _tangent_function(f, args, subject.tangents(draw_direction(subject.active_arguments, generator)))
        yield replace(subject, function=pushed, order=order, name=f"tangent of {subject.name}")


def _weighted_sum(f: Function, args: tuple[object, ...], value: object, seed: Vector) -> Function:
    """The scalar function <seed, f(x)>, as text, so that it can be differentiated as often as one likes."""
    weights = dict(parts(tangent_like(value, seed)))
    terms, namespace = [], {"np": np, "primal": f}
    for number, (path, part) in enumerate(parts(value)):
        if is_float(part):
            namespace[f"seed_{number}"] = weights[path]
            terms.append(_term(f"seed_{number}", f"y{path}", part))
    names = ", ".join(f"x{number}" for number in range(len(args)))
    text = f"def weighted({names}):\n    y = primal({names})\n    return {' + '.join(terms) or '0.0'}\n"
    return _define(text, "weighted", namespace)


def _tangent_function(f: Function, args: tuple[object, ...], tangents: tuple[object, ...]) -> Function:
    """The function J(x) v, as text; what holds no float has no tangent: the text may take it for a float then."""
    names = ", ".join(f"x{number}" for number in range(len(args)))
    floats = [any(is_float(part) for _, part in parts(argument)) for argument in args]
    dots = ", ".join(f"v_{number}" if known else "None" for number, known in enumerate(floats))
    text = (
        f"def value({names}):\n    return primal({names})\n\n\n"
        f"def pushed({names}):\n    return jvp(value, ({names},), ({dots},))[1]\n"
    )
    namespace = {"jvp": jvp, "primal": f, **{f"v_{number}": tangent for number, tangent in enumerate(tangents)}}
    return _define(text, "pushed", namespace)


def _term(seed: str, part: str, value: Any) -> str:
    if np.iscomplexobj(value):
        return f"np.sum(np.real(np.conj({seed}) * {part}))"
    return f"np.sum({seed} * {part})" if isinstance(value, np.ndarray) else f"{seed} * {part}"


Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = ((), (3,), (3, 3))
RANGES = ((0.5, 1.5), (0.1, 0.9), (1.5, 3.0), (-1.0, 1.0))
NUMBERS = ("forward", "reverse", "pairing")
MOST_PARAMETERS = 6  # with more, arguments of mixed shapes are too many to try
# What text that is to be arguments may raise.
UNFIT = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True)
class Row:
    """One line of the report: the worst of the comparisons of one kind, for one argument.

    `direction` is forward, reverse, or pairing, which compares the two; or the promise that was broken.
    """

    function: str
    argument: str
    direction: str
    error: str
    verdict: str


@dataclass(frozen=True)
class Trial:
    """How functions are checked; `arguments` is Python text of the positional arguments, with `np`.

    Without it they are drawn from `numpy.random.default_rng(seed)`: numbers, vectors (3,), matrices (3, 3), then
    mixtures, until the function runs and gives finite floats; an integer is 3. `trials` says how often.
    """

    arguments: str | None = None
    wrt: tuple[str, ...] | None = None
    seed: int = 0
    trials: int = 1
    order: int = 1
    text: str | None = None  # what standard input holds


@dataclass(frozen=True)
class Outcome:
    """The rows of one function of a target, or why it has none."""

    target: str
    function: str
    rows: tuple[Row, ...] = ()
    error: DifferentiationError | None = None
    drawn: tuple[str, ...] = ()  # options that repeat what did not pass with arguments that were drawn

    @property
    def passed(self) -> bool:
        """Whether the function was checked, and all comparisons passed."""
        return self.error is None and all(row.verdict == "ok" for row in self.rows)

    @property
    def undecided(self) -> bool:
        """Whether it did not pass, and nothing failed: what differences leave open."""
        verdicts = [row.verdict for row in self.rows if row.verdict != "ok"]
        return self.error is None and bool(verdicts) and all(one.startswith("undecided") for one in verdicts)


def outcomes(target: str, functions: Sequence[StaticFunction], trial: Trial) -> Iterator[Outcome]:
    """Run the target, and compare the derivatives of its functions with differences, one function after the other."""
    try:
        with module_of(target, trial.text) as module:
            for function in functions:
                yield _outcome(target, module, function, trial)
    except DifferentiationError as error:  # the module does not run
        for function in functions:
            yield Outcome(target, function.qualname, error=error)


def outcome(target: str, qualname: str, trial: Trial) -> Outcome:
    """The outcome of one function of a target, in a process that knows nothing of it."""
    [function] = [f for f in find_target(target, text=trial.text) if f.qualname == qualname]
    return next(outcomes(target, [function], trial))


def _outcome(target: str, module: ModuleType, function: StaticFunction, trial: Trial) -> Outcome:
    rows: list[Row] = []
    again: list[str] = []
    name = function.qualname
    try:
        live = function_of(module, name)
        for seed in range(trial.seed, trial.seed + trial.trials):
            args = _arguments(live, function, trial.arguments, seed)
            known = spell_arguments(args)
            _runs_or_says_why(live, args, name)
            again.append("" if trial.arguments is not None else f"--seed {seed} --args {shlex.quote(known)}")
            made = summary(name, check_report(live, args, trial.order, wrt=trial.wrt, seed=seed))
            rows += made
            if all(row.verdict == "ok" for row in made):
                again.pop()
    except DifferentiationError as error:
        return Outcome(target, name, tuple(rows), error)
    except Exception as error:  # whatever a derivative raises where its function does not is a finding
        rows.append(Row(name, "all", "-", "-", f"FAILED {type(error).__name__}: {error}"))
    return Outcome(target, name, tuple(dict.fromkeys(rows)), drawn=tuple(filter(None, again)))


def _runs_or_says_why(live: Function, args: tuple[object, ...], name: str) -> None:
    """E5015 where the function itself raises: there is no derivative to be right or wrong."""
    try:
        live(*shape_like(args, vector(args)))
    except Exception as error:  # whatever a function of the user's raises
        message = f"{name} itself raises {type(error).__name__} for these arguments: {error}"
        raise DifferentiationError("E5015", message, "give others behind --args") from error


def spell_arguments(args: Sequence[object]) -> str:
    """Drawn arguments as `--args` takes them, to the last digit.

    >>> spell_arguments((0.1, 3, np.array([[0.5, 1.0]])))
    '0.1, 3, np.array([[0.5, 1.0]])'
    """
    return ", ".join(f"np.array({item.tolist()})" if isinstance(item, np.ndarray) else repr(item) for item in args)


def summary(function: str, records: Sequence[Record]) -> list[Row]:
    """The worst comparison for each order, argument and oracle.

    What is checked beside numbers (arguments left unchanged, gradients in memory of their own, ...) shows if
    it fails.
    """
    worst: dict[tuple[int, str, str], Record] = {}
    for record in records:
        if record.passed and record.oracle not in NUMBERS:
            continue
        key = (record.order, record.argument, record.oracle)
        known = worst.get(key)
        if known is None or _rank(known) > _rank(record):
            worst[key] = record
    return [
        Row(
            function,
            record.argument or "all",
            record.oracle if record.order == 1 else f"{record.oracle}, order {record.order}",
            f"{record.error:.1e}",
            _verdict(record),
        )
        for record in worst.values()
    ]


def _rank(record: Record) -> tuple[bool, bool, float]:
    """The less, the worse."""
    return record.passed, record.undecided, -record.error


def _verdict(record: Record) -> str:
    if record.passed:
        return "ok"
    if record.undecided:
        return f"undecided: {record.detail}"
    return "FAILED" if record.doubt else f"FAILED {record.detail}".rstrip()


def _arguments(live: Function, function: StaticFunction, text: str | None, seed: int) -> tuple[object, ...]:
    return draw_arguments(live, function, np.random.default_rng(seed)) if text is None else evaluate_arguments(text)


def evaluate_arguments(text: str) -> tuple[object, ...]:
    """The arguments that `--args` gives as Python; E5015 if they cannot be computed."""
    try:
        return tuple(eval(f"({text},)" if text.strip() else "()", {"np": np}))
    except (SyntaxError, NameError, *UNFIT) as error:
        raise DifferentiationError(
            "E5015", f"--args {text!r}: {error}", 'give the arguments as Python, with np: "np.ones(3), 2.0"'
        ) from None


def draw_arguments(live: Function, function: StaticFunction, generator: np.random.Generator) -> tuple[object, ...]:
    """Arguments at which the function runs and gives finite floats; E5015 if none are found."""
    tree = function.source.tree.args
    required = [p.id for p in [*tree.posonlyargs, *tree.args]]
    required = required[: len(required) - len(tree.defaults)]
    whole = discrete(function)
    floats = [name for name in required if name not in whole]
    for shapes, limits in itertools.product(_mixtures(len(floats)), RANGES):
        values = iter([_draw(generator, shape, limits) for shape in shapes])
        args = tuple(3 if name in whole else next(values) for name in required)
        if _runs(live, args):
            return args
    listed = ", ".join(parameters(function.source.tree)) or "none"
    raise DifferentiationError(
        "E5015",
        f"no drawn arguments suit {function.qualname}, whose parameters are: {listed}",
        'give some: --args "np.ones(3), 2.0"',
    )


def _mixtures(count: int) -> Iterator[tuple[Shape, ...]]:
    """The same shape for all, the simplest first; then all others, if they are not too many."""
    for shape in SHAPES:
        yield (shape,) * count
    if count <= MOST_PARAMETERS:
        for shapes in itertools.product(SHAPES, repeat=count):
            if len(set(shapes)) > 1:
                yield shapes


def _draw(generator: np.random.Generator, shape: Shape, limits: tuple[float, float]) -> object:
    numbers = generator.uniform(*limits, shape)
    return numbers if shape else float(numbers)


def _runs(live: Function, args: tuple[object, ...]) -> bool:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = live(*args)
        except Exception:  # whatever a function of the user's raises
            return False
    floats = [part for _, part in parts(value) if is_float(part)]
    return bool(floats) and all(np.all(np.isfinite(part)) for part in floats)
