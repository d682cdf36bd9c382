"""Rows that are spread: the same value and derivatives for all chunks, and bytes that depend on chunks alone."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from scipy.special import logsumexp

import srcgrad
from srcgrad.backend import dask as target
from srcgrad.core.errors import DifferentiationError
from srcgrad.runtime import shards
from tests.programs.row_programs import (
    REFUSED,
    RIGHT,
    N,
    arguments,
    least_squares,
    masked_rows,
    numbers_of_rows,
    rows_in_turn,
    share_of_rows,
    standardised,
    sums_by_column,
)

CHUNKS = [(N,), (1,) * N, (0, 3, N - 3), (2, 0, 1, N - 3), (N, 0), (N - 1, 1)]
LENGTHS = (700, 1, 0, 999, 1300)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def spread(array: Any, lengths: tuple[int, ...]) -> Any:
    return da.from_array(array, chunks=(lengths, *((n,) for n in array.shape[1:])))


def computed(found: Any) -> list[Any]:
    value, gradient = found
    return [np.asarray(one) for one in (value, *gradient)]


@pytest.mark.parametrize("lengths", CHUNKS, ids=str)
@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_it_is_the_gradient_on_one_machine(function: Callable[..., Any], lengths: tuple[int, ...]) -> None:
    given, names = arguments(), tuple(inspect.signature(function).parameters)
    w, x, y = names
    expected = srcgrad.value_and_grad(function, names)(*given)
    for wrt in ((w,), (x,), names) if lengths == CHUNKS[0] else (names,):
        derivative = srcgrad.value_and_grad(function, wrt, target="dask", shard={x: 0, y: 0})
        value, gradient = derivative(given[0], spread(given[1], lengths), spread(given[2], lengths))
        np.testing.assert_allclose(value, expected[0], rtol=1e-12)
        for name, found in zip(wrt, gradient, strict=True):
            due = expected[1][names.index(name)]
            np.testing.assert_allclose(np.asarray(found), due, rtol=1e-12, atol=1e-12)
            assert found.shape == due.shape and found.dtype == due.dtype
            assert isinstance(found, np.ndarray if name == w else da.Array)
            assert name == w or found.chunks[0] == lengths


def softmax(w: Any, b: Any, x: Any, t: Any) -> Any:
    z = x @ w + b
    m = np.max(z, axis=1)
    log_sum = m + np.log(np.sum(np.exp(z - m[:, None]), axis=1))
    return np.mean(log_sum - np.sum(t * z, axis=1)) + 0.05 * np.sum(w * w)


def weighted(w: Any, x: Any, y: Any, weight: Any) -> Any:
    r = x @ w - y
    return np.sum(weight * r * r) / np.sum(weight) + 0.1 * w @ w


def mixture(means: Any, logs: Any, x: Any) -> Any:
    r = x[:, None, :] - means
    q = logs - 0.5 * np.sum(r * r, axis=2)
    m = np.max(q, axis=1)
    return -np.sum(m + np.log(np.sum(np.exp(q - m[:, None]), axis=1)))


def covariance(scale: Any, k: Any, x: Any) -> Any:
    n, d = x.shape
    z = np.arcsinh(x * scale)
    c = z.T @ z / n + 0.1 * np.eye(d)
    _, logdet = np.linalg.slogdet(c)
    return 0.5 * logdet + 0.5 * np.trace(np.linalg.solve(c, k @ k.T))


def cases() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]]:
    """Of each loss: the function, what is the same for all rows, what has rows."""
    g = np.random.default_rng(5)
    x, one_hot, weight = g.standard_normal((3000, 4)), np.eye(3)[g.integers(0, 3, 3000)], 0.1 + g.random(3000)
    w, wide, b = g.standard_normal(4), g.standard_normal((4, 3)), g.standard_normal(3)
    return {
        "softmax": (softmax, (wide, b), (x, one_hot)),
        "weighted": (weighted, (w,), (x, x[:, 0] ** 2, weight)),
        "mixture": (mixture, (g.standard_normal((5, 4)), g.standard_normal(5)), (x,)),
        "covariance": (covariance, (1.0 + w * w, g.standard_normal((4, 4))), (x,)),
    }


def all_of(case: str, lengths: tuple[int, ...] = LENGTHS) -> tuple[list[Any], list[Any]]:
    """What is computed on spread rows, and on one machine, with respect to all arguments."""
    function, same, rows = cases()[case]
    names = tuple(inspect.signature(function).parameters)
    shard = dict.fromkeys(names[len(same) :], 0)
    derivative = srcgrad.value_and_grad(function, names, target="dask", shard=shard)
    found = derivative(*same, *(spread(one, lengths) for one in rows))
    return computed(found), computed(srcgrad.value_and_grad(function, names)(*same, *rows))


@pytest.mark.parametrize("case", cases())
def test_losses_that_people_fit(case: str) -> None:
    found, due = all_of(case)
    for one, other in zip(found, due, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12 * np.max(np.abs(other)))


def digest(arrays: list[Any]) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in arrays)).hexdigest()


def test_bytes_are_those_of_the_chunks_for_any_workers() -> None:
    """Threads of BLAS apart, of which workers of Dask have one."""
    from distributed import Client, LocalCluster

    found: dict[str, set[str]] = {case: set() for case in cases()}
    for workers in (1, 2, 4):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster),
            dask.config.set(scheduler="distributed"),
        ):
            for case, known in found.items():
                known.add(digest(all_of(case)[0]))
    assert all(len(known) == 1 for known in found.values())


def test_processes_need_nothing_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block of a user's module is run by a Python that has neither this module nor srcgrad."""
    (tmp_path / "users_helpers.py").write_text("import numpy as np\n\ndef squash(z):\n    return np.tanh(z)\n")
    text = "import numpy as np\nimport users_helpers\n\ndef loss(w, x):\n"
    text += "    return np.sum(users_helpers.squash(x @ w) * np.floor(x[:, 0]) / np.mean(w))\n"
    (tmp_path / "users_model.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    model: Any = importlib.import_module("users_model")
    derivative = srcgrad.value_and_grad(model.loss, target="dask", shard={"x": 0}, chunks=2)
    w, x = np.ones(2), np.arange(10.0).reshape(5, 2) / 10.0
    due = srcgrad.value_and_grad(model.loss)(w, x)
    np.testing.assert_allclose(derivative(w, x)[1], due[1], rtol=1e-12)
    block = derivative.__wrapped__.__globals__["loss_block"]
    given = [{"x": x, "w": w}.get(name, 1.0) for name in inspect.signature(block).parameters]
    (tmp_path / "block.pickle").write_bytes(pickle.dumps((shards.Travelling(block), given)))
    reads = "import pickle, sys\nsys.modules.update(dict.fromkeys(['srcgrad', 'users_model', 'users_helpers']))\n"
    reads += "block, given = pickle.load(open('block.pickle', 'rb'))\nprint(block(*given)[0])\n"
    told = subprocess.run([sys.executable, "-c", reads], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert float(told.stdout) == pytest.approx(float(due[0]), rel=1e-12)


def test_arrays_of_numpy_are_cut_and_their_gradients_computed_at_once() -> None:
    w, x, y = arguments()
    derivative = srcgrad.grad(least_squares, ("w", "x"), target="dask", shard={"x": 0, "y": 0}, chunks=3)
    w_bar, x_bar = derivative(w, x, y)
    due = srcgrad.grad(least_squares, ("w", "x"))(w, x, y)
    x[:] = 0.0
    assert isinstance(x_bar, np.ndarray) and "rows=3" in derivative.source
    np.testing.assert_allclose(w_bar, due[0], rtol=1e-12)
    np.testing.assert_allclose(x_bar, due[1], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_float32_stays_and_no_rows_at_all_are_as_on_one_machine() -> None:
    for given in (arguments(np.float32), arguments(rows=0)):
        derivative = srcgrad.value_and_grad(sums_by_column, "w", target="dask", shard={"x": 0, "y": 0}, chunks=3)
        for found, due in zip(derivative(*given), srcgrad.value_and_grad(sums_by_column)(*given), strict=True):
            assert found.dtype == due.dtype
            np.testing.assert_allclose(found, due, rtol=2e-5)


def test_chunks_of_columns_and_other_chunks_of_rows_follow_the_widest_argument() -> None:
    w, x, y = arguments()
    derivative = srcgrad.grad(least_squares, target="dask", shard={"x": 0, "y": 0})
    due = derivative(w, spread(x, (4, N - 4)), spread(y, (4, N - 4)))
    two = da.from_array(x, chunks=((4, N - 4), (1, x.shape[1] - 1)))
    assert digest([derivative(w, two, spread(y, (1,) * N))]) == digest([due])


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_is_no_sum_over_rows_is_refused(function: Callable[..., Any]) -> None:
    first = list(inspect.signature(function).parameters)[1]
    with pytest.raises(DifferentiationError, match="E5029"):
        srcgrad.grad(function, target="dask", shard={first: 0}, chunks=3)(*arguments())


def by_label(w: Any, x: Any, k: Any) -> Any:
    return np.sum(np.bincount(k, weights=x @ w, minlength=3) ** 2)


def test_labels_without_a_group_are_refused() -> None:
    """A block with the label 3 would have more groups than another: on one machine the result is longer."""
    w, x, k = np.ones(2), np.ones((4, 2)), np.array([0, 2, 2, 3])
    for function, options in ((by_label, {"target": "dask", "shard": {"x": 0, "k": 0}, "chunks": 2}), (None, {})):
        derivative = srcgrad.grad(function or srcgrad.blocked(by_label, over=("x", "k")), **options)
        with pytest.raises(DifferentiationError, match=r"E5029 .* is not one of 3 groups"):
            derivative(w, x, k)
        np.testing.assert_allclose(derivative(w, x, k % 3), srcgrad.grad(by_label)(w, x, k % 3))


def test_what_is_asked_for() -> None:
    w, x, y = arguments()
    for code, options in {
        "E5019": [{"target": "dask"}, {"shard": {"x": 0}}, {"chunks": 3}],
        "E5009": [{"target": "dask", "shard": {"q": 0}}],
        "E5029": [{"target": "dask", "shard": {"x": 1}}, {"target": "dask", "shard": {"x": 0}, "chunks": 0}],
    }.items():
        for one in options:
            with pytest.raises(DifferentiationError, match=code):
                srcgrad.grad(least_squares, **one)
    with pytest.raises(DifferentiationError, match="E5019"):
        srcgrad.hvp(least_squares, target="dask")(w, x, y, w)
    derivative = srcgrad.grad(least_squares, target="dask", shard={"x": 0, "y": 0})
    unknown = spread(x, (4, N - 4))
    unknown = unknown[unknown[:, 0] > -10.0]
    for given in ((w, unknown, y), (w, x, y[:-1]), (spread(w, w.shape), x, y)):
        with pytest.raises((DifferentiationError, ValueError), match=r"E5029|rows"):
            derivative(*given)
    again = pickle.loads(pickle.dumps(derivative))
    np.testing.assert_array_equal(again(w, x, y), derivative(w, x, y))


def inverses(w: Any, x: Any) -> Any:
    return np.sum(np.linalg.inv(x * w[0]))


def test_an_error_tells_the_rows_of_its_block() -> None:
    x = np.stack([np.eye(2)] * 7)
    x[4] = 0.0
    with pytest.raises(np.linalg.LinAlgError) as caught:
        srcgrad.grad(inverses, target="dask", shard={"x": 0})(np.ones(2), spread(x, (2, 0, 3, 2)))
    assert caught.value.__notes__[-1] == "in the rows 2 to 4, which are a block"


@pytest.mark.parametrize("more", [-1, 1])
def test_a_block_less_or_more_is_seen(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fold = shards.fold_pairs
    monkeypatch.setattr(
        shards, "fold_pairs", lambda parts, merges=(): fold(parts[:-1] if more < 0 else [*parts, parts[-1]], merges)
    )
    found, due = all_of("weighted")
    assert not np.allclose(found[0], due[0], rtol=1e-9) or not np.allclose(found[1], due[1], rtol=1e-9)


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("weight = len(x_rows) / stop", "weight = 1.0"),
        ("weight = len(x_rows) / stop", "weight = len(x_rows) / len(x)"),
        ("y = total + ", "y = len(x.chunks[0]) * "),
    ],
)
def test_a_count_per_block_is_seen(line: str, changed: str) -> None:
    function, same, rows = cases()["softmax"]
    derivative = srcgrad.value_and_grad(function, target="dask", shard={"x": 0, "t": 0})
    given = [*same, *(spread(one, LENGTHS) for one in rows)]
    due = derivative(*given)
    text = derivative.source
    assert line in text
    space: dict[str, Any] = {}
    for one, equal in ((text, True), (text.replace(line, changed), False)):
        exec(one, space)
        found = space["softmax_value_and_grad"](*given)
        assert np.allclose(found[0], due[0], rtol=1e-9) is equal


MOMENT = "(m,) = tree_sum(each_block(standardised_block_1, x, stop))"


@pytest.mark.parametrize(
    ("function", "line", "changed"),
    [
        (standardised, MOMENT, "m = np.zeros(2)"),
        (standardised, MOMENT, "m = np.sum(x, axis=0).compute()"),
        (standardised, "m_bar = m_bar + m_bar_sum", "m_bar = m_bar_sum"),
        (standardised, "w_bar += result_bar * 2.0 * w", "w_bar += len(x.chunks[0]) * result_bar * 2.0 * w"),
        (standardised, "weight_2 = len(x_rows_2) / stop", "weight_2 = len(x_rows_2) / len(x)"),
        (
            standardised,
            "    x_bar = x_bar + each_row(standardised_block_x_bar_,",
            "    each_row(standardised_block_x_bar_,",
        ),
        (share_of_rows, "    w_bar = w_bar + w_bar_sum\n", ""),
        (share_of_rows, "w_bar = w_bar + w_bar_sum", "w_bar = w_bar + 2.0 * w_bar_sum"),
        (rows_in_turn, "total = total + total_sum", "total = total_sum"),
        (rows_in_turn, "w_bar = w_bar + w_bar_sum", "w_bar = w_bar_sum"),
        (rows_in_turn, "column += x_rows[i] * w", "column = x_rows[i] * w"),
        (masked_rows, "1 + total_4", "1 + len(x)"),
        (numbers_of_rows, "begins_.item() + first", "first"),
    ],
)
def test_a_total_of_a_phase_that_is_another_is_seen(function: Callable[..., Any], line: str, changed: str) -> None:
    """Dropped, doubled, of a block in the place of all, a penalty once for each block."""
    given = arguments()
    derivative = srcgrad.value_and_grad(function, ("w", "x"), target="dask", shard={"x": 0, "y": 0})
    rows = given[0], *(spread(one, (3, 0, 1, N - 4)) for one in given[1:])
    due, text = computed(derivative(*rows)), derivative.source
    assert line in text
    space: dict[str, Any] = {}
    exec(text.replace(line, changed), space)
    found = computed(space[f"{function.__name__}_value_and_grad"](*rows))
    assert not all(np.allclose(one, other, rtol=1e-9) for one, other in zip(found, due, strict=True))


def layered(layers: Any, x: Any, k: Any) -> Any:
    h = x
    for w, b in layers:
        h = np.tanh(h @ w + b)
    return np.mean(h[np.arange(len(k)), k])


def hidden_states(moves: Any, seen: Any, k: Any) -> Any:
    total, moves = 0.0, moves - logsumexp(moves, axis=1, keepdims=True)
    seen = seen - logsumexp(seen, axis=1, keepdims=True)
    for row in k:
        alpha = logsumexp(moves[0]) + seen[:, row[0]]
        for one in row[1:]:
            alpha = logsumexp(alpha[:, None] + moves, axis=0) + seen[:, one]
        total += logsumexp(alpha)
    return total


def test_lists_of_arrays_and_recurrences_within_a_row() -> None:
    """What blocks add to lists is no longer list, and what a block marks is marked in all."""
    g = np.random.default_rng(2)
    layers, x = [(g.standard_normal((2, 2)), g.standard_normal(2)) for _ in range(2)], g.standard_normal((N, 2))
    states = g.standard_normal((2, 2)), g.standard_normal((2, 3))
    for function, wrt, given in (
        (layered, ("layers",), (layers, x, g.integers(0, 2, N))),
        (layered, ("x",), (layers, x, g.integers(0, 2, N))),
        (hidden_states, ("moves", "seen"), (*states, g.integers(0, 3, (N, 4)))),
    ):
        shard = dict.fromkeys({"x", "k"} & {*inspect.signature(function).parameters}, 0)
        found = srcgrad.value_and_grad(function, wrt, target="dask", shard=shard, chunks=3)(*given)
        due = srcgrad.value_and_grad(function, wrt)(*given)
        flat = [np.concatenate([np.ravel(a) for a in _leaves(one)]) for one in (found, due)]
        np.testing.assert_allclose(*flat, rtol=1e-12)


def _leaves(value: Any) -> list[Any]:
    return [leaf for one in value for leaf in _leaves(one)] if isinstance(value, list | tuple) else [value]


def in_a_branch(w: Any, x: Any, y: Any) -> Any:
    z = x * 0.7 if w[0] > 0.0 else x - w
    h = x
    for _ in range(2):
        h = np.tanh(h * w)
    return np.sum(np.tanh(z) @ w - y) + np.sum(h @ w)


def test_what_branches_add_to_other_results_stays_out_of_a_block() -> None:
    """The function of the rows of `x_bar` had added to `w_bar` a second time."""
    given, names = arguments(), ("w", "x", "y")
    derivative = srcgrad.value_and_grad(in_a_branch, names, target="dask", shard={"x": 0, "y": 0}, chunks=3)
    found, due = computed(derivative(*given)), computed(srcgrad.value_and_grad(in_a_branch, names)(*given))
    for one, other in zip(found, due, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_nothing_is_read_but_by_blocks() -> None:
    """The record of the target has one pass, which refuses what it does not know."""
    assert target.DASK.passes == (target.blocks_as_tasks,) and not target.DASK.closures


MODEL = """import numpy as np


def loss(w, x, t):
    n, d = x.shape
    (k,) = t.shape
    (d,) = w.shape
    z = x @ w
    return np.sum(np.logaddexp(0.0, z) - t * z) / n + 0.05 * w @ w
"""


def test_a_standalone_module_does_without_srcgrad(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    options = ["--wrt", "w", "--mode", "value-and-grad", "--target", "dask", "--shard", "x=0,t=0", "--standalone"]
    line = [sys.executable, "-m", "srcgrad", "dump", "model.py:loss", *options, "-o", "alone.py"]
    told = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "--target dask --shard x=0,t=0" in (tmp_path / "alone.py").read_text().replace("\\\n#       ", "")
    reads = "import sys\nsys.modules.update(dict.fromkeys(['srcgrad', 'gast']))\n"
    reads += "import alone, dask.array as da, numpy as np\n"
    reads += "x, t = da.from_array(np.arange(10.0).reshape(5, 2), chunks=(3, 2)), np.ones(5)\n"
    reads += "print(*alone.loss_value_and_grad(np.ones(2), x, t)[1])\n"
    told = subprocess.run([sys.executable, "-c", reads], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    x, w = np.arange(10.0).reshape(5, 2), np.ones(2)
    due = -x.T @ (1.0 - 1.0 / (1.0 + np.exp(-x @ w))) / 5.0 + 0.1 * w
    np.testing.assert_allclose([float(one) for one in told.stdout.split()], due, rtol=1e-12)


def gathered(w: Any, table: Any, x: Any, k: Any) -> Any:
    z = x * w + table[k]
    total = np.tanh(table[0])
    np.add.at(total, k, z[:, 0])
    np.add.at(total, k, 1.0)
    shares = np.bincount(k, weights=z[:, 1] * total[k], minlength=3) / (1 + np.bincount(k, minlength=3))
    z = z - np.max(z, axis=0)
    return shares @ total - np.mean(z[np.arange(len(k)), k] - np.log(np.sum(np.exp(z), axis=1))) + np.var(z)


@pytest.mark.parametrize("wrt", [("w", "table"), ("w", "x")], ids=str)
def test_pullbacks_tangents_and_second_derivatives(wrt: tuple[str, ...]) -> None:
    draw = np.random.default_rng(3)
    given = [
        draw.standard_normal(3),
        draw.standard_normal((3, 3)),
        draw.standard_normal((N, 3)),
        draw.integers(0, 3, N),
    ]
    shard: dict[str, Any] = {"target": "dask", "shard": {"x": 0, "k": 0}}
    rows = [*given[:2], *(spread(one, (0, 3, N - 3)) for one in given[2:])]
    along = [draw.standard_normal(one.shape) for one in given]
    chosen = [along[["w", "table", "x"].index(one)] for one in wrt]
    found, pullback = srcgrad.vjp(gathered, *rows, wrt=wrt, **shard)
    due, expected = srcgrad.vjp(gathered, *given, wrt=wrt)
    pairs = [(found, due), *zip(pullback(1.5), expected(1.5), strict=True)]
    moved = (*along[:2], spread(along[2], (0, 3, N - 3)), along[3])
    one_machine = srcgrad.jvp(gathered, tuple(given), tuple(along))
    pairs += zip(srcgrad.jvp(gathered, tuple(rows), moved, **shard), one_machine, strict=True)
    product = srcgrad.hvp(gathered, wrt, **shard)
    pairs += zip(product(*rows, tuple(chosen)), srcgrad.hvp(gathered, wrt)(*given, tuple(chosen)), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-11, atol=1e-12)
    again = pickle.loads(pickle.dumps(product))
    np.testing.assert_array_equal(again(*rows, tuple(chosen))[0], product(*rows, tuple(chosen))[0])
