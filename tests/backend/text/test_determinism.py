"""The same input gives the same bytes, whatever the hash seed of the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from examples.generate import HERE

TARGETS = (
    ["mixture/model.py", "--mode", "vjp"],
    ["lotka_volterra/model.py"],
    ["network/model.py", "--standalone"],
    ["layer/model.py", "--mode", "forward"],
)


def dumped(arguments, seed):
    """What `srcgrad dump` prints in an interpreter of its own."""
    command = [sys.executable, "-m", "srcgrad", "dump", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(command, cwd=HERE, env=environment, check=True, capture_output=True, timeout=600).stdout


@pytest.mark.parametrize("arguments", TARGETS, ids=" ".join)
def test_hash_seed(arguments):
    """Sets and dicts keyed by objects are the usual way to lose this."""
    first, *others = (dumped(arguments, seed) for seed in ("0", "1"))
    assert first
    assert others == [first]
