"""`checkpoint(f)`: calls that record their arguments alone give the same gradients in less memory."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import srcgrad
from srcgrad import checkpoint
from tests.programs.recomputed import MATRIX, ROWS, X, program

CALLS = 0


@srcgrad.nondifferentiable
def tick():
    """1.0; that it is called is counted."""
    global CALLS
    CALLS += 1
    return 1.0


def plain(h, w):
    a = np.tanh(w @ h)
    return a * h * tick()


layer = checkpoint(plain)


@checkpoint
def two(h, w, *, scale=1.0):
    return np.sin(w @ h) * scale, h * 2.0


@checkpoint
def of_dict(p):
    return np.sum(np.tanh(p["a"] @ p["b"]))


@checkpoint
def power(h, n):
    if n == 0:
        return h
    return power(np.sin(h) * h, n - 1)


@checkpoint
def writer(u, k):
    u[0] = u[1] * k
    return u


class Net:
    @checkpoint
    def layer(self, h):
        return np.sin(h) * h


NET = Net()


def decorated(x, w):
    return np.sum(layer(layer(x, w), w) ** 2)


def inline(x, w):
    return np.sum(checkpoint(plain)(x, w) ** 2)


def pair(x, w):
    a, b = two(x, w, scale=0.5)
    return np.sum(a * b)


def structured(x, w):
    return of_dict({"a": w, "b": x})


def recursive(x, w):
    return np.sum(power(x, 3)) + np.sum(w)


def method(x, w):
    return np.sum(NET.layer(w @ x))


def looped(x, w):
    h = x
    for _ in range(3):
        h = layer(h, w)
        if np.sum(h) > -10.0:
            h = layer(h * 2.0, w)
    return np.sum(h)


def overwritten(x, w):
    a = x.copy()
    b = layer(a, w)
    a[0] = 3.0 * a[1]
    return np.sum(b * layer(a, w))


def in_a_loop(x, w):
    h = x
    for _ in srcgrad.checkpointed(range(5), slots=2):
        h = layer(h, w)
    return np.sum(h)


@pytest.mark.parametrize(
    "function", [decorated, inline, pair, structured, recursive, method, looped, overwritten, in_a_loop]
)
def test_gradient(function):
    """Against finite differences and the tangent, the pullback twice; the call is made again in the backward half."""
    orders = 1 if function in (recursive, structured) else 2
    srcgrad.check_grads(function, (X, MATRIX), order=orders)
    assert "_pull(" in srcgrad.source(function) or function is recursive
    _, pullback = srcgrad.vjp(function, X, MATRIX)
    for one, other in zip(pullback(1.0), pullback(1.0), strict=True):
        np.testing.assert_array_equal(one, other)


def test_second_derivative_of_a_recursion_is_refused():
    """Its pullback is a closure: what flows through it was lost, and the second derivative silently wrong."""
    with pytest.raises(srcgrad.DifferentiationError, match="recursive function is not made"):
        srcgrad.jvp(srcgrad.grad(recursive), (X, MATRIX), (X, MATRIX))


def with_writer(x):
    u = writer(x * 1.0, 2.0)
    return np.sum(u)


def with_lambda(x):
    return np.sum(checkpoint(lambda a: a * a)(x))


def with_a_value(x):
    other = checkpoint(plain)
    return np.sum(other(x, MATRIX))


@pytest.mark.parametrize("function", [with_writer, with_lambda, with_a_value])
def test_refused(function):
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        srcgrad.grad(function)(X)
    assert caught.value.code in ("E5010", "E5025")


def test_is_the_function():
    """It runs, pickles and is called as before."""
    np.testing.assert_array_equal(layer(X, MATRIX), plain(X, MATRIX))
    assert two(X, MATRIX, scale=2.0)[1].tolist() == (2.0 * X).tolist()
    assert pickle.loads(pickle.dumps(two)) is two
    assert list(srcgrad.checkpointed(range(3), slots=2)) == [0, 1, 2]
    assert srcgrad.checkpointed(ROWS) is ROWS
    with pytest.raises(ValueError, match="E5025"):
        srcgrad.checkpointed(range(3), slots=0)


def test_forward_is_run_once_more():
    global CALLS
    CALLS = 0
    srcgrad.grad(decorated)(X, MATRIX)
    assert CALLS == 2 + 2


def test_standalone(tmp_path):
    """`dump` reads markers in text, and writes the schedule into a file that needs no srcgrad."""
    model = tmp_path / "model.py"
    model.write_text(
        "import numpy as np\nimport srcgrad\n\n\n@srcgrad.checkpoint\ndef half(h):\n    return np.sin(h) * h\n\n\n"
        "def f(x, n):\n    for t in srcgrad.checkpointed(range(n), slots=3):\n        x = half(x) + t\n"
        "    k = 0\n    while srcgrad.checkpointed(k < n):\n        x = np.cos(x)\n        k += 1\n"
        "    return np.sum(x)\n"
    )
    command = [sys.executable, "-m", "srcgrad", "dump", f"{model}:f", "--wrt", "x", "--standalone"]
    done = subprocess.run(command, text=True, check=True, capture_output=True, timeout=600)
    space: dict[str, object] = {}
    exec(done.stdout, space)
    text = model.read_text().partition("def f")[2]
    known = program("from srcgrad import checkpoint\ndef half(h):\n    return np.sin(h) * h\ndef f" + text, True)
    np.testing.assert_array_equal(space["f_grad"](X, 9), srcgrad.grad(known)(X, 9))
    assert "import srcgrad" not in done.stdout


def peak(function, *args):
    """The most memory that a call takes, in bytes."""
    function(*args)
    tracemalloc.start()
    function(*args)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_row_1_23_intermediates_are_freed():
    """A chain of 100 linear operations holds less than 4 arrays."""
    lines = "".join(f"    h = {1.0 + k / 100} * h + {k}.0\n" for k in range(50))
    chain = program(f"def f(x):\n    h = x\n{lines}    return np.sum(h * h)\n", False)
    x = np.ones(100_000)
    assert peak(srcgrad.grad(chain), x) < 4 * x.nbytes


def test_row_2_35_square_root_of_400_steps():
    """About 2 sqrt(400) states, where a plain loop keeps 400."""
    text = "def f(x):\n    for k in LOOP(range(400)):\n        x = np.sin(x) * 0.99\n    return np.sum(x)\n"
    x = np.linspace(0.1, 1.0, 1000)
    marked, bare = srcgrad.grad(program(text, True)), srcgrad.grad(program(text, False))
    np.testing.assert_array_equal(marked(x), bare(x))
    assert peak(marked, x) < 2.5 * math.sqrt(400) * x.nbytes
    assert peak(bare, x) > 390 * x.nbytes


def test_row_3_16_calls_record_their_arguments():
    """Eight values inside of each of 20 calls are not kept."""
    inside = "".join(f"    h = np.sin(h) * {k + 1}.5\n" for k in range(8))
    calls = "    for k in range(20):\n        x = CALL(x)\n"
    text = f"def g(h):\n{inside}    return h\ndef f(x):\n{calls}    return np.sum(x)\n"
    x = np.linspace(0.1, 1.0, 1000)
    marked = srcgrad.grad(program(text.replace("CALL", "srcgrad.checkpoint(g)"), False))
    bare = srcgrad.grad(program(text.replace("CALL", "g"), False))
    np.testing.assert_array_equal(marked(x), bare(x))
    assert peak(marked, x) < 40 * x.nbytes
    assert peak(bare, x) > 160 * x.nbytes


def weighted(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - np.max(s, axis=1, keepdims=True))
    return (e / np.sum(e, axis=1, keepdims=True)) @ v


def dense(q, k, v):
    out = weighted(q, k, v)
    return np.sum(out * out)


def blockwise(q, k, v, size):
    total = 0.0
    for i in range(0, len(q), size):
        out = checkpoint(weighted)(q[i : i + size], k, v)
        total = total + np.sum(out * out)
    return total


def test_row_3_18_attention_by_blocks():
    """Softmax attention over 2048 places in less than one matrix of 2048 x 2048."""
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((2048, 4)) for _ in range(3))
    grad = srcgrad.grad(blockwise, ("q", "k", "v"))
    assert peak(grad, q, k, v, 128) < 2048 * 2048 * 8
    for one, other in zip(grad(q, k, v, 128), srcgrad.grad(dense, (0, 1, 2))(q, k, v), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def state_and_parameter(x, w, n):
    h = x
    for _ in srcgrad.checkpointed(range(n), slots=3):
        h = np.tanh(w @ h + x)
    return np.sum(h)


def test_the_adjoint_of_a_state_is_bound_where_its_step_is_undone():
    text = srcgrad.source(state_and_parameter, wrt="w")
    assert "        h_bar, t = state_and_parameter_step_pull(" in text
    assert "        w_bar += t\n" in text
