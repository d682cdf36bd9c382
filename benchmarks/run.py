"""The measurements of docs/benchmarks.md: `python -m benchmarks.run` measures, and writes the page and its plot.

Each workload runs in processes of its own, in which all contenders take turns; with the C library's allocator as it
is, and after `srcgrad.keep_memory()`, which removes page faults: the largest cost of arrays of middling size, for all
contenders. `--workload HEAT` measures those whose titles have that word, and leaves the other rows as they are;
`--page` only writes the page anew.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any  # what JSON holds

from benchmarks import page
from benchmarks.workloads import WORKLOADS

RESULTS = Path(__file__).with_name("results.json")
SETTINGS = ("default", "kept")
PACKAGES = ("numpy", "scipy", "numba", "pyopencl", "autograd", "jax", "torch")


def environment(threads: int) -> dict[str, str]:
    """That of a process which measures."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    names += ("POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT")  # as it is called in old and in new versions
    one = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"} if threads == 1 else {}
    return {**os.environ, **dict.fromkeys(names, str(threads)), **one}


def measured(place: int, setting: str, rounds: int, threads: int, memory: bool) -> dict[str, Any] | None:
    """What a process finds for one workload; None if it fails, which is said."""
    command = [sys.executable, "-m", "benchmarks.child", str(place), "--rounds", str(rounds)]
    cores = sorted(os.sched_getaffinity(0))[:threads] if hasattr(os, "sched_getaffinity") else []
    run = subprocess.run(
        [*command, *(["--memory"] if memory else []), *(["--kept"] if setting == "kept" else [])],
        env=environment(threads),
        capture_output=True,
        text=True,
        preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
    )
    if run.returncode:
        print(run.stderr, file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def machine(threads: int) -> dict[str, Any]:
    """Where it was measured."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {"python": platform.python_version(), "versions": versions, "threads": threads}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Gradients: generated, hand-written, and those of others.")
    parser.add_argument("--workload", default="", help="only those whose titles have this word")
    parser.add_argument("--processes", type=int, default=3, help="for each workload and setting (default: 3)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each contender in a process (default: 7)")
    parser.add_argument("--threads", type=int, default=1, help="of BLAS and of all contenders (default: 1)")
    parser.add_argument("--page", action="store_true", help="write the page from what was measured")
    given = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    failed = False
    for place, workload in enumerate(WORKLOADS):
        if given.page or given.workload.lower() not in workload.title.lower():
            continue
        row: dict[str, Any] = {**machine(given.threads), "rounds": given.rounds}
        for setting in SETTINGS:
            each = range(given.processes)
            runs = [measured(place, setting, given.rounds, given.threads, setting == "default" and not k) for k in each]
            failed = failed or None in runs
            row[setting] = [run for run in runs if run is not None]
        if row["default"] and row["kept"]:
            results[workload.title] = row
            print(page.row_of_times(workload, row, page.measured([row])), flush=True)
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    page.write(results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
