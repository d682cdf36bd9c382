"""The oracles of a derivative at one point, and what it promises.

What a derivative promises besides right numbers; each function lists where a promise is broken.

The oracles of a derivative at one point: forward and reverse against differences, pairing, promises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any  # arguments are arbitrary nested Python values

import numpy as np

from srcgrad.interface.api.derivatives import jvp, vjp
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
    relative_error,
    shape_like,
    spans,
    tangent_like,
    tight_tolerances,
    vector,
    vector_along,
)


def snapshot(tree: Any) -> list[tuple[Any, ...]]:
    """All that can be seen of a nested value, to the last bit, for comparison with a later snapshot."""
    return [(label, *_snapshot_of_part(part)) for label, part in parts(tree)]


def _snapshot_of_part(part: Any) -> tuple[Any, ...]:
    if isinstance(part, np.ndarray):
        return type(part), part.dtype.str, part.shape, part.strides, part.tobytes()
    if isinstance(part, np.generic):
        return type(part), part.tobytes()
    return type(part), repr(part) if isinstance(part, int | float | complex | str) else id(part)


def not_mirrored(tree: Any, mirror: Any, name: str) -> list[str]:
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


def _kind(part: Any) -> str:
    if isinstance(part, np.ndarray):
        return f"{type(part).__name__} {part.dtype} {part.shape}"
    if isinstance(part, float | complex):
        return "float" if isinstance(part, float) else "complex"
    return type(part).__name__


def value_differences(expected: Any, actual: Any) -> list[str]:
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


def shared_memory(adjoints: dict[str, Any], others: Any) -> list[str]:
    """Which arrays of the gradients, given by name, are read-only or share memory with any other."""
    own = [(label, array) for name, tree in adjoints.items() for label, array in _arrays(tree, name)]
    rest = [array for _, array in _arrays(others, "")]
    broken = [f"{label}: read-only" for label, array in own if not array.flags.writeable]
    for position, (label, array) in enumerate(own):
        earlier = [other for _, other in own[:position]]
        if any(_overlap(array, other) for other in earlier + rest):
            broken.append(f"{label}: shares memory")
    return broken


def _arrays(tree: Any, name: str) -> list[tuple[str, Any]]:
    return [(label, part) for label, part in parts(tree, name) if isinstance(part, np.ndarray)]


def _overlap(one: Any, other: Any) -> bool:
    return bool(np.may_share_memory(one, other) and np.shares_memory(one, other))


Function = Callable[..., Any]
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
    def active_arguments(self) -> tuple[Any, ...]:
        """The active arguments."""
        return tuple(self.args[position] for position in self.active)

    def primal(self, *chosen: Any) -> Any:
        """The function of its active arguments alone; it is given copies, so it may write into them."""
        args = list(shape_like(self.args, vector(self.args)))
        for position, argument in zip(self.active, chosen, strict=True):
            args[position] = shape_like((argument,), vector((argument,)))[0]
        return self.function(*args)

    def tangents(self, numbers: Vector) -> tuple[Any, ...]:
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


def _resolution(value: Any, limits: Precision) -> Vector:
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
    broken = {
        "value": value_differences(point.value, value),
        "unchanged": changed,
        "mirrors": wrong,
        "unaliased": shared_memory(dict(zip(names, adjoints, strict=True)), (subject.args, seed, value)),
        "repeatable": [] if first == second else ["the pullback gives another result when called again"],
    }
    promises = [subject.promise(oracle, "vjp", point.number, texts) for oracle, texts in broken.items()]
    return (None if wrong else vector_along(subject.active_arguments, adjoints)), promises


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
