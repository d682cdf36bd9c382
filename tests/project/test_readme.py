"""The table of the README is true, each of its cells is tried; and what a release says in several places is one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
TARGETS = ("numpy", "numba", "opencl", "dask")
X = np.linspace(0.2, 1.0, 4)


def sums(x):
    return np.sum(np.sin(x) * x)


def loops(x):
    h = x
    for _ in range(3):
        h = h * 0.9
        if h[0] > 0.17:
            h = np.tanh(h)
    return np.sum(h * h)


def writes(x):
    a = np.zeros_like(x)
    for i in range(1, x.shape[0]):
        a[i] = a[i - 1] * 0.5 + x[i]
    return np.sum(a * a)


def systems(x):
    return np.sum(np.linalg.solve(np.outer(x, x) + np.eye(4), x))


def turned(x):
    return np.sum(np.abs(np.exp(1j * x) + x))


def gradient(function, target):
    options = {"shard": {"x": 0}, "chunks": 2} if target == "dask" else {}
    return srcgrad.grad(function, target=target, **options)(X)


def other_modes(function, target):
    _, pullback = srcgrad.vjp(function, X, target=target)
    _, along = srcgrad.jvp(function, (X,), (X,), target=target)
    twice = srcgrad.hessian(function, target=target)(X)
    np.testing.assert_allclose(twice, srcgrad.hessian(function)(X))
    assert along == pytest.approx(X @ srcgrad.grad(function)(X))
    return np.reshape(pullback(1.0), X.shape)


ROWS = {
    "elementwise work and sums": (sums, gradient),
    "loops that carry values, branches": (loops, gradient),
    "writes into arrays": (writes, gradient),
    "systems of equations (`np.linalg.solve`)": (systems, gradient),
    "complex numbers inside": (turned, gradient),
    "`vjp`, `jvp`, `hessian`": (sums, other_modes),
}
CELLS = [
    (row, target, said.strip() == "yes")
    for row in ROWS
    for target, said in zip(
        TARGETS, re.findall(rf"^\| {re.escape(row)} \|(.*)\|$", README, re.M)[0].split("|"), strict=True
    )
]


@pytest.mark.parametrize(("row", "target", "works"), CELLS)
def test_cell(row, target, works):
    function, derivative = ROWS[row]
    if works:
        np.testing.assert_allclose(derivative(function, target), srcgrad.grad(function)(X), rtol=1e-10)
    else:
        with pytest.raises(DifferentiationError, match=r"^E5\d\d\d"):
            derivative(function, target)


def test_length():
    assert len(README.splitlines()) < 150


def test_one_version():
    """What a release must say in several places."""
    root = Path(__file__).resolve().parents[2]
    version = srcgrad.__version__
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f'\nversion = "{version}"\n' in (root / "pyproject.toml").read_text(encoding="utf-8")
