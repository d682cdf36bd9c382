"""All directions, or all seeds, in one run of a text with a leading axis: what the rows of a Jacobian are made of."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any  # arguments are arbitrary nested values

import numpy as np

from srcgrad.batch.values import NoAxisError
from srcgrad.derivative import Derivative
from srcgrad.differences import Vector, is_float, parts, rebuild
from srcgrad.errors import DifferentiationError
from srcgrad.facts import Kind
from srcgrad.opencl.boundary import device_in
from srcgrad.rules import generation
from srcgrad.running import run

ROOM = 1 << 22  # numbers that a value with the axis may have, as far as the arguments tell


def count_of(tree: Any) -> int:
    """How many real numbers the floating parts of a value have: a complex one counts as two.

    >>> count_of((np.zeros((2, 3)), 1, 2.0j))
    8
    """
    return sum(np.size(part) * (2 if np.iscomplexobj(part) else 1) for _, part in parts(tree) if is_float(part))


def chunks(count: int, *values: Any) -> list[range]:
    """Rows of a unit matrix, so many at a time that values of the size of these stay small."""
    largest = max(map(_largest, values), default=1)
    step = max(1, ROOM // max(1, largest))
    return [range(start, min(start + step, count)) for start in range(0, count, step)]


def _largest(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, int | float):
        return 1
    if isinstance(value, list | tuple) and len(value) > 0 and isinstance(value[0], int | float):
        return len(value)
    return max([np.size(part) for _, part in parts(value) if isinstance(part, np.ndarray)], default=1)


def units(tree: Any, rows: range) -> Any:
    """Rows of the unit matrix as tangents of `tree`: each of its parts with a leading axis.

    >>> units({"x": np.zeros(1), "n": 2, "y": 3.0}, range(2))
    {'x': array([[1.],
           [0.]]), 'n': array([0., 0.]), 'y': array([0., 1.])}
    """
    count, column = len(rows), 0

    def change(part: Any) -> Any:
        nonlocal column
        if is_float(part):
            made = np.eye(count, np.size(part), rows.start - column, np.asarray(part).dtype)
            column += np.size(part)
            return made.reshape(count, *np.shape(part))
        whole = isinstance(part, np.ndarray | int | np.integer | np.bool_)
        return np.zeros((count, *np.shape(part))) if whole else None

    return rebuild(tree, change)


def rows_along(tree: Any, found: Any, count: int) -> Vector:
    """The parts of `found` that stand where `tree` has floating parts, one row for each direction."""
    made, rows = dict(parts(found)), []
    for label, part in parts(tree):
        if is_float(part):
            row = made.get(label)
            if type(row) is float and row == 0.0:  # a sum of no terms
                row = np.zeros((count, *np.shape(part)))
            if not isinstance(row, np.ndarray) or row.shape != (count, *np.shape(part)):
                raise ValueError("a derivative came in another shape than is due")
            rows.append(np.reshape(np.asarray(row, np.float64), (count, np.size(part))))
    return rows[0] if len(rows) == 1 else np.concatenate([np.zeros((count, 0)), *rows], axis=1)


@dataclass(frozen=True)
class Given:
    """The arguments of a call: as they came, in the order of the parameters, their kinds, their looks with shapes."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    values: Sequence[Any]
    kinds: dict[str, Kind]
    looks: tuple[Any, ...] | None

    @functools.cached_property
    def key(self) -> tuple[Any, ...]:
        """Calls with equal ones run the same text."""
        return (generation(), *self.kinds.items())

    @property
    def sizes(self) -> tuple[Any, ...]:
        """What tells calls apart whose outputs may have other sizes."""
        return (self.key, *[getattr(part, "shape", None) for part in self.values])


def forward_half(behind: Derivative[..., Any], given: Given) -> tuple[Any, Any]:
    """The value, and the pullback that takes many seeds."""
    check_host(given.values)
    y, pullback = run(behind.compiled(given.kinds).function, given.values, behind.named)
    y = behind.output(y, given.values)
    check_real(y)
    return y, pullback


def rows(behind: Derivative[..., Any], y: Any, pullback: Any, chosen: tuple[Any, ...], given: Given) -> Vector:
    """The Jacobian from seeds: one row for each number among the outputs."""
    found = [np.zeros((0, count_of(chosen)))]
    for part in chunks(count_of(y), *given.values, y):
        adjoints = pullback(units(y, part))
        adjoints = (adjoints,) if len(behind.wrt) == 1 else adjoints
        found.append(rows_along(chosen, adjoints, len(part)))
    return np.concatenate(found)


def check_host(values: Sequence[Any]) -> None:
    """NoAxisError for device arrays: one run is for each direction there."""
    if device_in(values) is not None:
        raise NoAxisError("an argument is on a device")


def check_real(y: Any) -> None:
    """NoAxisError for a complex output, which has real and imaginary parts."""
    if any(np.iscomplexobj(part) for _, part in parts(y)):
        raise NoAxisError("the output is complex")


def cut(y: Any, chosen: Any, matrix: Vector) -> Any:
    """The matrix cut into blocks: in the structure of the output, at each part of it that of the inputs."""
    if any(np.iscomplexobj(part) for _, part in parts(y)):
        raise DifferentiationError("E5017", "the output is complex", "return its real and its imaginary part")
    row = 0

    def of_output(one: Any) -> Any:
        nonlocal row
        if not is_float(one):
            return None
        start, column = row, 0
        row += np.size(one)

        def of_input(other: Any) -> Any:
            nonlocal column
            if not is_float(other):
                return None
            first = column
            column += np.size(other)
            block = matrix[start:row, first:column].reshape(np.shape(one) + np.shape(other))
            return _like(block, one, other)

        return rebuild(chosen, of_input)

    return rebuild(y, of_output)


def _like(block: Vector, one: Any, other: Any) -> Any:
    """A block in the dtype of the input; a number if both sides are numbers."""
    made = np.array(block, dtype=np.asarray(other).dtype)
    if made.ndim or isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return made
    return float(made) if isinstance(other, float) and not isinstance(other, np.generic) else made[()]
