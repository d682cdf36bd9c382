"""Which states of a loop are kept, and in what order the others are computed again: revolve, square root, online."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any  # a state is whatever the loop carries


class Snapshots:
    """The states of a loop before its trips: few are kept, the others are computed again from these."""

    def __init__(self, trips: Sequence[Any] | int | None = None, slots: int | None = None, further: int = 0) -> None:
        if slots is not None and slots < 1:
            raise ValueError(f"E5025 slots={slots}: the state before the first trip needs one slot")
        self.trips = trips if isinstance(trips, Sequence) else None  # the items that `step` gets
        self.total = len(trips) if isinstance(trips, Sequence) else trips  # None: known when the loop has ended
        self.slots = slots
        self.further = further  # how many values `step` returns behind the state
        self.count = 0  # trips so far
        self.kept: list[list[Any]] = []  # [trip, state before it, level]
        self.last: tuple[Any, ...] = ()  # the state before the last trip
        self.ahead = 0  # the next trip before which a state is kept
        self.stride = 1  # without slots: how far apart kept states are
        if self.total is not None and slots is None:
            self.stride = max(1, math.isqrt(max(0, self.total - 1)) + 1)

    def append(self, *state: Any) -> None:
        """Note the state before a trip; it is kept if its turn has come."""
        trip, self.last = self.count, state
        self.count += 1
        if self.total is None and self.slots is not None:
            self._keep_online(trip, state)
        elif trip == self.ahead:
            self.kept.append([trip, state, 0])
            self.ahead += self._stride(trip)

    def _stride(self, trip: int) -> int:
        """How many trips after this one the next state is kept."""
        if self.slots is not None:
            free = self.slots - len(self.kept)
            left = (self.total or 0) - trip
            return revolve(left, free + 1) if free and left > 1 else left
        if self.total is None and len(self.kept) > 2 * self.stride:
            self.stride *= 2
            self.kept = self.kept[::2]
            return int(self.kept[-1][0]) + self.stride - trip
        return self.stride

    def _keep_online(self, trip: int, state: tuple[Any, ...]) -> None:
        """Make room by what a later state of a higher level makes superfluous, or else by the state before."""
        assert self.slots is not None, "the caller has looked"
        level = 0 if self.kept else math.inf
        if len(self.kept) == self.slots:
            highest = [item[2] for item in self.kept]
            spare = [k for k in range(1, len(self.kept)) if highest[k] < max(highest[k:])]
            if self.slots == 1:
                return
            if not spare:
                level = self.kept[-1][2] + 1
            del self.kept[spare[-1] if spare else -1]
        self.kept.append([trip, state, level])

    def copy(self) -> Snapshots:
        """The same states, to walk back over once more."""
        other = copy.copy(self)
        other.kept = list(self.kept)
        return other

    def backwards(self, step: Callable[..., Any], *constants: Any) -> Iterator[Any]:
        """The states before the trips, last first, each after its item of `trips`; kept states are given up.

        `step(item, *state, *constants)`, or `step(*state, *constants)` without `trips`, is the next state.
        """
        kept = [(trip, state) for trip, state, _ in self.kept]
        stop, last = self.count, self.last
        self.kept, self.last, self.count = [], (), 0
        while stop:
            trip, state = kept[-1]
            if last:
                trip, state, last = stop - 1, last, ()
            while trip < stop - 1:
                free = stop if self.slots is None else self.slots - len(kept)
                far = 1 if self.slots is None else revolve(stop - trip, free + 1)
                for now in range(trip, trip + far):
                    state = self._next(step, now, state, constants)
                trip += far
                if trip < stop - 1:
                    kept.append((trip, state))
            if kept and kept[-1][0] == trip:
                kept.pop()
            stop = trip
            found = state[0] if len(state) == 1 else state
            yield found if self.trips is None else (self.trips[trip], found)

    def _next(
        self, step: Callable[..., Any], trip: int, state: tuple[Any, ...], constants: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        item = () if self.trips is None else (self.trips[trip],)
        found = step(*item, *state, *constants)
        return tuple(found[: len(state)]) if len(state) + self.further > 1 else (found,)


def revolve(steps: int, slots: int) -> int:
    """How many steps to advance before the next state is kept, so that the least is computed again."""
    if slots == 1:
        return steps - 1
    repeats, reach = 0, 1  # reach = C(slots + repeats, slots)
    while reach < steps:
        repeats += 1
        reach = reach * (slots + repeats) // repeats
    before = reach * repeats // (slots + repeats)  # C(slots + repeats - 1, slots)
    ahead = before * (repeats - 1) // (slots + repeats - 1)  # C(slots + repeats - 2, slots)
    return max(1, ahead, steps - (reach - before))
