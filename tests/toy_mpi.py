"""Ranks as threads: what `srcgrad.runtime.ranks` asks of MPI, where there is none."""

from __future__ import annotations

import pickle
import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest

from srcgrad.runtime import ranks

WAIT = 5.0  # seconds that a rank waits for another: from then on it waits for ever


class World:
    """A communicator for as many threads as it is told; messages are counted."""

    def __init__(self, size: int) -> None:
        self.size, self.mine, self.sent = size, threading.local(), 0
        self.lines: dict[tuple[int, int], queue.Queue[bytes]] = {
            (one, two): queue.Queue() for one in range(size) for two in range(size)
        }

    def Get_rank(self) -> int:  # noqa: N802  (as mpi4py calls it)
        return int(getattr(self.mine, "rank", 0))

    def Get_size(self) -> int:  # noqa: N802
        return self.size

    def send(self, value: Any, dest: int) -> None:
        self.sent += 1
        self.lines[self.Get_rank(), dest].put(pickle.dumps(value))

    def recv(self, source: int) -> Any:
        return pickle.loads(self.lines[source, self.Get_rank()].get(timeout=WAIT))

    def bcast(self, value: Any, root: int = 0) -> Any:
        if self.Get_rank() != root:
            return self.recv(root)
        for other in range(self.size):
            if other != root:
                self.send(value, other)
        return value

    def run(self, function: Callable[[int], Any]) -> list[Any]:
        """What the function gives for each rank, or the error that it raises there."""
        found: list[Any] = [None] * self.size

        def one(rank: int) -> None:
            self.mine.rank = rank
            try:
                found[rank] = function(rank)
            except Exception as error:
                found[rank] = error

        threads = [threading.Thread(target=one, args=(rank,), daemon=True) for rank in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * WAIT)
        left = sum(line.qsize() for line in self.lines.values())
        assert not left or any(isinstance(one, Exception) for one in found), f"{left} messages that nobody has read"
        return found


def world(size: int, patch: pytest.MonkeyPatch) -> World:
    """The ranks that `srcgrad.runtime.ranks` sees from now on."""
    made = World(size)
    patch.setattr(ranks, "all_ranks", lambda: made)
    return made
