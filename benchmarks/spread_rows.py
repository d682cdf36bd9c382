"""Losses on rows that are spread: tasks, bytes sent, memory and CPU time, and one digest whatever goes wrong.

`OPENBLAS_NUM_THREADS=1 python -m benchmarks.spread_rows [ROWS LIMIT]`, as 2000000 400MiB: with one thread of BLAS, as
in Dask's workers, or some products have other last bits. Rows are made when they are read, as from a file.
"""

from __future__ import annotations

import hashlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any  # arrays of NumPy and Dask, and objects of distributed

import dask
import dask.array as da
import numpy as np

import srcgrad
from srcgrad.runtime.shards import fold_pairs

COLUMNS, BLOCKS = 16, 32
LOW = {"distributed.worker.memory.target": 0.05, "distributed.worker.memory.spill": 0.1}  # of the limit: all is spilled


def logistic(w: Any, x: Any, t: Any) -> Any:
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - t * z) + 0.05 * w @ w


def normalised(w: Any, x: Any, t: Any) -> Any:
    z = (x - np.mean(x, axis=0)) / np.sqrt(np.var(x, axis=0) + 0.1) @ w
    return np.mean((np.tanh(z) - t) ** 2)


class Rows:
    """Rows that are made when they are read: the same for the same rows."""

    def __init__(self, *shape: int) -> None:
        self.shape, self.ndim, self.dtype = shape, len(shape), np.dtype(float)

    def __getitem__(self, index: Any) -> Any:
        first, last, _ = (index[0] if isinstance(index, tuple) else index).indices(self.shape[0])
        drawn = np.random.default_rng((self.ndim, first)).standard_normal((last - first, *self.shape[1:]))
        return drawn if self.ndim == 2 else (drawn < 0.0).astype(float)


def rows(count: int) -> tuple[Any, Any]:
    size = -(-count // BLOCKS)
    x = da.from_array(Rows(count, COLUMNS), (size, COLUMNS), name=f"rows-{count}", meta=np.empty((0, 0)))
    return x, da.from_array(Rows(count), (size,), name=f"labels-{count}", meta=np.empty(0))


@contextmanager
def cluster(workers: int, limit: str, settings: dict[str, float] | None = None) -> Iterator[tuple[Any, Any]]:
    """A client of processes on this machine, and what counts the tasks that ended."""
    from distributed import Client, LocalCluster, SchedulerPlugin

    class Tasks(SchedulerPlugin):  # type: ignore[misc]
        ended = 0

        def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
            self.ended += start == "processing" and finish == "memory"

    with dask.config.set(settings or {}):
        local = LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=limit, dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )  # fmt: skip
        tasks = Tasks()
        local.scheduler.add_plugin(tasks, name="tasks")
        with local, Client(local) as client:
            yield client, tasks


def sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def process() -> tuple[int, float]:
    """MiB that a worker has held at most, and seconds of CPU time."""
    with open("/proc/self/status") as lines:
        peak = next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))
    return peak, time.process_time()


def digest(found: Any) -> str:
    arrays = [found[0], *(found[1] if isinstance(found[1], tuple) else found[1:])]
    return hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in arrays)).hexdigest()[:16]


def measure(loss: Callable[..., Any], count: int, limit: str) -> None:
    """Print a line for each number of workers, and for each thing that goes wrong; one digest for all."""
    derivative = srcgrad.value_and_grad(loss, "w", target="dask", shard={"x": 0, "t": 0})
    w, (x, t), found = np.linspace(-0.1, 0.1, COLUMNS), rows(count), set[str]()
    print(f"{loss.__name__}: {count} x {COLUMNS} rows, {x.nbytes / 2**20:.0f} MiB, workers of {limit}")
    print(f"  its blocks alone: {blocks_alone(derivative, w, x, t):.1f} CPU s")
    with dask.config.set(scheduler="threads", num_workers=2):
        found.add(digest(derivative(w, x, t)))
    for workers in (1, 2, 4):
        with cluster(workers, limit) as (client, tasks):
            moved, cpu, began = sum(client.run(sent).values()), seconds(client), time.perf_counter()
            found.add(digest(derivative(w, x, t)))
            took, ended = time.perf_counter() - began, tasks.ended
            moved, cpu = sum(client.run(sent).values()) - moved, seconds(client) - cpu
            peaks = [one for one, _ in client.run(process).values()]
            took_all = f"peak {max(peaks)} MiB, {took:.1f} s, {cpu:.1f} CPU s"
            print(f"  {workers} workers: {ended} tasks, {moved} bytes, {took_all}")
    with cluster(2, limit) as (client, tasks):
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Thread(target=kill, args=(victim, tasks))
        killer.start()
        found.add(digest(derivative(w, x, t)))
        killer.join()
        print(f"  a worker killed after {BLOCKS // 3} tasks: {tasks.ended} tasks ended in all")
    x, t = rows(min(count, 2_000_000))
    with dask.config.set(scheduler="threads", num_workers=2):
        due = digest(derivative(w, x, t))
    with cluster(2, limit, LOW) as (client, _):
        kept_x, kept_t = client.persist([x, t])
        same = digest(derivative(w, kept_x, kept_t)) == due
        print(f"  {len(x)} rows kept by the workers: {sum(client.run(spilled).values())} chunks on disk")
    print(f"  digests: {' '.join(sorted(found))}, of rows on disk {'the same' if same else 'another'}")
    assert len(found) == 1 and same, "equal chunks give equal bytes"


def blocks_alone(derivative: Any, *args: Any) -> float:
    """Seconds of CPU time that reading and computing the blocks takes, one after the other, without Dask's graph."""
    space: dict[str, Any] = {}
    exec(derivative.text_for(args, {})[1].text, space)

    def one_by_one(function: Callable[..., Any], *given: Any) -> list[Any]:
        made = []
        for k in range(BLOCKS):
            parts = [a.blocks[k].compute() if isinstance(a, da.Array) else a for a in given]
            made.append(function(*parts))
        return made

    space.update(each_block=one_by_one, tree_sum=fold_pairs)
    with dask.config.set(scheduler="synchronous"):
        began = time.process_time()
        space[f"{derivative.primal.__name__}_value_and_grad"](*args)
    return time.process_time() - began


def seconds(client: Any) -> float:
    return sum(cpu for _, cpu in client.run(process).values())


def spilled(dask_worker: Any) -> int:
    return len(dask_worker.data.slow)


def kill(victim: int, tasks: Any) -> None:
    while tasks.ended < BLOCKS // 3:
        time.sleep(0.005)
    os.kill(victim, signal.SIGKILL)


if __name__ == "__main__":
    asked_rows, asked_limit = sys.argv[1:] or ("2000000", "400MiB")
    for one in (logistic, normalised):
        measure(one, int(asked_rows), asked_limit)
