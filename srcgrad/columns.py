"""Columns of a Jacobian from tangents, all in one run; what ran is kept for arguments that look alike."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any  # arguments are arbitrary nested values

import numpy as np

from srcgrad.derivative import Derivative
from srcgrad.differences import Vector
from srcgrad.directions import Given, check_host, check_real, chunks, count_of, rows_along, units
from srcgrad.ready import Ready
from srcgrad.rules import generation
from srcgrad.running import run

MOST = 256  # a program may have no end of shapes


@dataclass(frozen=True)
class Runs:
    """A text for arguments of some kinds and shapes, and which directions it takes in each run."""

    ahead: Derivative[..., Any]
    text: Ready
    parts: list[range]

    def columns(self, chosen: tuple[Any, ...], values: Sequence[Any]) -> tuple[Any, Vector] | None:
        """The value, and one column for each number among the inputs; None where numbers are too large for the text."""
        ahead, made = self.ahead, self.text.made
        found, y = [], None
        for rows in self.parts:
            seeds = dict(zip(made.seeds, units(chosen, rows), strict=True))
            result = run(functools.partial(made.function, **seeds), values, ahead.named)
            if ahead.mode == "hvp":
                y, y_dot = chosen[0] if ahead.single else chosen, result
            else:
                y, y_dot = ahead.output(result[0], values), result[1]
            check_real(y)
            found.append(rows_along(y, y_dot, len(rows)))
        matrix = found[0] if len(found) == 1 else np.concatenate(found)
        return None if ahead.leading.regroup and not np.isfinite(matrix).all() else (y, matrix.T)


class Columns:
    """What has run for arguments that look alike, by their looks with shapes."""

    def __init__(self) -> None:
        self._known: dict[Any, Runs] = {}

    def known(self, looks: tuple[Any, ...] | None) -> Runs | None:
        """What ran for such arguments before, if it still is what is to run."""
        known = self._known.get(looks)
        return known if known is not None and known.ahead.holds(known.text) else None

    def first(
        self, ahead: Derivative[..., Any], chosen: tuple[Any, ...], given: Given, *, keep: bool
    ) -> tuple[Any, Vector] | None:
        """Run a text for the first time, and keep it for arguments like these if it does and is asked for."""
        check_host(given.values)
        made = Ready(ahead.compiled(given.kinds), given.kinds, generation())
        runs = Runs(ahead, made, chunks(count_of(chosen), *given.values))
        found = runs.columns(chosen, given.values)
        if found is not None and keep and given.looks is not None:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[given.looks] = runs
        return found
