"""Rows on ranks: the derivatives of one machine on all ranks, whatever rows each has; ranks are threads, or MPI's."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.runtime import ranks
from tests import toy_mpi
from tests.programs.row_programs import (
    RIGHT,
    N,
    arguments,
    least_squares,
    masked_rows,
    standardised,
)

SPLITS = [(3, 0, N - 3), (2, 1, 1, N - 4), (0, N), (1,) * N, (N,)]


def parts(array: Any, lengths: Sequence[int]) -> list[Any]:
    return np.split(array, np.cumsum(lengths)[:-1])


def on_ranks(
    function: Callable[..., Any], given: Sequence[Any], lengths: Sequence[int], patch: pytest.MonkeyPatch
) -> list[Any]:
    """What each rank gets, of the first argument whole and of the others its rows."""
    rows = [parts(one, lengths) for one in given[1:]]
    world = toy_mpi.world(len(lengths), patch)
    return world.run(lambda rank: function(given[0], *(one[rank] for one in rows)))


def joined(found: Sequence[Any]) -> list[Any]:
    """Value and gradients of all ranks together: what is not spread has the same bytes on all."""
    errors = [one for one in found if isinstance(one, Exception)]
    if errors:
        raise errors[0]
    value, gradient = found[0]
    for other, others in found[1:]:
        assert np.asarray(other).tobytes() == np.asarray(value).tobytes()
        assert others[0].tobytes() == gradient[0].tobytes() and others[0].dtype == gradient[0].dtype
    return [value, gradient[0], *(np.concatenate([g[k] for _, g in found]) for k in range(1, len(gradient)))]


def test_all_ranks_have_the_gradient_of_one_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = []
    for number, function in enumerate([*RIGHT[::6], masked_rows]):  # the rest of the plan is Dask's
        given, names = arguments(), tuple(inspect.signature(function).parameters)
        value, gradient = srcgrad.value_and_grad(function, names)(*given)
        derivative = srcgrad.value_and_grad(function, names, target="mpi", shard=dict.fromkeys(names[1:], 0))
        derivative.text_for(given, {})  # once, and not by each rank
        for lengths in (SPLITS[number % len(SPLITS)], SPLITS[(number + 1) % len(SPLITS)]):
            found = joined(on_ranks(derivative, given, lengths, monkeypatch))
            for one, due in zip(found, (value, *gradient), strict=True):
                if not np.allclose(one, due, rtol=1e-12, atol=1e-12) or np.shape(one) != np.shape(due):
                    wrong.append((function.__name__, lengths, one, due))
    assert not wrong


REDUCED = "allreduce(each_block(standardised_block_2"
PENALTY = "w_bar += result_bar * 2.0 * w"


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("", ""),
        (REDUCED, REDUCED.replace("allreduce", "(lambda part: part[1])")),
        (REDUCED, REDUCED.replace("allreduce(", "(lambda part: allreduce((b'', allreduce(part))))(")),
        ("(m,) = allreduce(", "(m,) = (lambda part: part[1])("),
        ("m_bar = m_bar + m_bar_sum", "m_bar = m_bar_sum"),
        (PENALTY, "(w_bar,) = allreduce((b'', (w_bar / 3 + result_bar * 2.0 * w,)))"),
        (PENALTY, "w_bar += 3 * result_bar * 2.0 * w"),
        ("weight_2 = len(x_rows_2) / stop", "weight_2 = len(x_rows_2) / len(x)"),
        ("sharded(x, y", "sharded(*(np.repeat(a, 2, axis=0) if len(a) > 2 else a for a in (x, y))"),
    ],
)
def test_a_total_that_is_another_is_seen(line: str, changed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not reduced, reduced twice (exactly ranks times too large), a penalty by each rank, the rows of one rank."""
    given = arguments()
    derivative = srcgrad.value_and_grad(standardised, ("w", "x"), target="mpi", shard={"x": 0, "y": 0})
    text, space = derivative.text_for(given, {})[1].text, dict[str, Any]()
    assert line in text
    exec(text.replace(line, changed), space)
    value, gradient = srcgrad.value_and_grad(standardised, ("w", "x"))(*given)
    found = on_ranks(space["standardised_value_and_grad"], given, (3, 1, N - 4), monkeypatch)
    same = all(
        not isinstance(one, Exception)
        and np.allclose(one[0], value, rtol=1e-9)
        and np.allclose(one[1][0], gradient[0], rtol=1e-9)
        and one[1][1].shape == part.shape
        and np.allclose(one[1][1], part, rtol=1e-9)
        for one, part in zip(found, parts(gradient[1], (3, 1, N - 4)), strict=True)
    )
    assert same is not bool(line)


def test_pullbacks_tangents_and_second_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    given, along, lengths, wrt = arguments(), [np.cos(one) for one in arguments()], (4, N - 4), ("w", "x")
    options: dict[str, Any] = {"target": "mpi", "shard": {"x": 0, "y": 0}}
    own = [(given[0], *rows) for rows in zip(*(parts(one, lengths) for one in given[1:]), strict=True)]
    ways = [(along[0], *rows) for rows in zip(*(parts(one, lengths) for one in along[1:]), strict=True)]
    product, due_product = srcgrad.hvp(standardised, wrt, **options), srcgrad.hvp(standardised, wrt)

    def on_rank(rank: int) -> list[Any]:
        value, pullback = srcgrad.vjp(standardised, *own[rank], wrt=wrt, **options)
        y, y_dot = srcgrad.jvp(standardised, own[rank], ways[rank], **options)
        return [value, *pullback(1.5), y, y_dot, *product(*own[rank], ways[rank][:2])]

    value, pullback = srcgrad.vjp(standardised, *given, wrt=wrt)
    y, y_dot = srcgrad.jvp(standardised, given, tuple(along))
    due = [value, *pullback(1.5), y, y_dot, *due_product(*given, tuple(along[:2]))]
    for rank, found in enumerate(toy_mpi.world(len(lengths), monkeypatch).run(on_rank)):
        assert not isinstance(found, Exception), found
        for place, (one, other) in enumerate(zip(found, due, strict=True)):
            part = parts(other, lengths)[rank] if place in (2, 6) else other
            assert np.shape(one) == np.shape(part)
            np.testing.assert_allclose(one, part, rtol=1e-11, atol=1e-12)


class Odd(Exception):  # noqa: N818
    """An error that no other process can read."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")
        self.lock = threading.Lock()


def by_chance(w: Any, x: Any, y: Any) -> Any:
    return np.sum(np.sin(x @ w)) * time.perf_counter() + np.sum(y)


DRAW = np.random.default_rng(0)


def drawn_by_each(w: Any, x: Any, y: Any) -> Any:
    return np.sum(np.sin(x @ w) * y) + DRAW.standard_normal()


def drawn_for_all(w: Any, x: Any, y: Any) -> Any:
    return np.sum(np.sin(x @ w) * y) + np.random.rand() * (w @ w)


def picky(w: Any, x: Any, y: Any) -> Any:
    return np.sum(np.linalg.inv(x * w[0])) + np.sum(y)


def test_what_one_rank_meets_all_ranks_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in a block, other weights, other columns, rows that do not fit: none waits for another."""
    x, (w, _, y), lengths = np.stack([np.eye(2)] * N), arguments(), (2, 0, N - 2)
    x[4] = 0.0
    derivative = srcgrad.grad(picky, target="mpi", shard={"x": 0, "y": 0})
    for error in on_ranks(derivative, (w, x, y), lengths, monkeypatch):
        assert isinstance(error, np.linalg.LinAlgError)
        assert error.__notes__ == ["in the rows 2 to 6, which a rank has"]  # type: ignore[attr-defined]
    derivative = srcgrad.grad(least_squares, target="mpi", shard={"x": 0, "y": 0})
    rows = [parts(one, (2, 3, N - 5)) for one in arguments()[1:]]

    def others(rank: int) -> Any:
        return derivative(w + (rank == 1), rows[0][rank], rows[1][rank])

    def columns(rank: int) -> Any:
        return derivative(w, rows[0][rank][:, rank // 2 :], rows[1][rank])

    def single(rank: int) -> Any:
        return derivative(w, rows[0][rank], rows[1][rank][rank // 2 :])

    for function, says in (
        (others, "on rank 1, an argument that is not spread"),
        (columns, "on rank 2, its rows have"),
        (single, "on rank 2, the arrays have 2, 1 rows"),
    ):
        for error in toy_mpi.world(3, monkeypatch).run(function):
            assert isinstance(error, DifferentiationError) and error.code == "E5029" and says in error.message
    drawn = srcgrad.grad(by_chance, target="mpi", shard={"x": 0, "y": 0})
    for error in on_ranks(drawn, (w, *arguments()[1:]), lengths, monkeypatch):
        assert isinstance(error, DifferentiationError) and error.code == "E5029" and "another on some" in error.message
    for function in (drawn_by_each, drawn_for_all):
        with pytest.raises(DifferentiationError, match="random numbers are drawn"):
            srcgrad.grad(function, target="mpi", shard={"x": 0, "y": 0}).text_for(arguments(), {})
    toy_mpi.world(1, monkeypatch)
    told = ranks.each_block(lambda a: (_ for _ in ()).throw(Odd(1, 2)), *ranks.sharded(np.ones(2)))
    assert type(pickle.loads(pickle.dumps(told))) is RuntimeError and "Odd: 1 and 2 (in the rows 0 to 1" in str(told)


def test_no_rows_at_all_and_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, lengths in ((arguments(np.float32), (3, 0, N - 3)), (arguments(rows=0), (0, 0))):
        derivative = srcgrad.value_and_grad(penalised, ("w", "x"), target="mpi", shard={"x": 0, "y": 0})
        value, gradient = srcgrad.value_and_grad(penalised, ("w", "x"))(*given)
        for one, due in zip(joined(on_ranks(derivative, given, lengths, monkeypatch)), (value, *gradient), strict=True):
            assert one.dtype == due.dtype and one.shape == due.shape
            np.testing.assert_allclose(one, due, rtol=2e-5)


def penalised(w: Any, x: Any, y: Any) -> Any:
    return np.sum(np.tanh(x @ w) * y) + w @ w


def test_what_is_asked_for() -> None:
    for options in ({}, {"shard": {"x": 0}, "chunks": 3}):
        with pytest.raises(DifferentiationError, match="E5019"):
            srcgrad.grad(least_squares, target="mpi", **options)


def loss(w, x, t):
    n, _ = x.shape
    (_,) = w.shape
    (_,) = t.shape
    z = (x - x.mean(axis=0)) @ w
    return np.sum(np.logaddexp(0.0, z) - t * z) / n + 0.05 * w @ w


USE = """import sys
sys.modules.update(dict.fromkeys(["srcgrad", "gast"]))
from mpi4py import MPI
import numpy as np
import alone
rank, size = MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
first, last = 6 * rank // size, 6 * (rank + 1) // size
rows = slice(first, last if rank != 1 else first)  # the second rank has none
draw = np.random.default_rng(0)
x, t = draw.standard_normal((6, 2)), draw.random(6)
y, (w_bar, x_bar) = alone.loss_value_and_grad(np.ones(2), x[rows], t[rows])
MPI.COMM_WORLD.Barrier()
sys.stdout.write(" ".join(map(repr, [rank, float(y), *w_bar.tolist(), *x_bar.ravel().tolist()])) + "\\n")
"""


@pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None
    or not (shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")),
    reason="needs mpi4py and mpiexec",
)
def test_a_standalone_module_on_ranks_of_mpi(tmp_path: Path) -> None:
    """With mpi4py and NumPy alone, on 1 to 4 ranks, of which the second has no rows."""
    (tmp_path / "model.py").write_text(f"import numpy as np\n\n\n{inspect.getsource(loss)}")
    (tmp_path / "use.py").write_text(USE)
    options = ["--wrt", "w,x", "--mode", "value-and-grad", "--target", "mpi", "--shard", "x=0,t=0", "--standalone"]
    line = [sys.executable, "-m", "srcgrad", "dump", "model.py:loss", *options, "-o", "alone.py"]
    subprocess.run(line, cwd=tmp_path, check=True)
    draw, own = np.random.default_rng(0), shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    x, t = draw.standard_normal((6, 2)), draw.random(6)
    for size in (1, 2, 3, 4):
        command = [own or "mpiexec", "-n", str(size), sys.executable, "use.py"]
        told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
        assert told.returncode == 0, told.stderr
        found = sorted([float(one) for one in line.split()] for line in told.stdout.splitlines())
        kept = [k for rank in range(size) if rank != 1 for k in range(6 * rank // size, 6 * (rank + 1) // size)]
        value, (w_bar, x_bar) = srcgrad.value_and_grad(loss, ("w", "x"))(np.ones(2), x[kept], t[kept])
        assert [one[0] for one in found] == list(range(size))
        assert all(one[1:4] == found[0][1:4] for one in found)
        np.testing.assert_allclose(found[0][1:4], [value, *w_bar], rtol=1e-12)
        np.testing.assert_allclose([n for one in found for n in one[4:]], x_bar.ravel(), rtol=1e-12)
