"""Arguments that look alike are not looked at closely again: every promise holds in such calls as in the first."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.core.rules import generation, table_changed
from srcgrad.interface.api.derivative import ReadyText, looks, quick_text
from srcgrad.interface.api.execute import ExecutedText

X = np.array([1.0, 2.0, 3.0])
scale = 2.0
FACTOR = 1.0


def scaled(x: Any) -> Any:
    return np.sum(scale * x * x)


def called(derivative: Any, *args: Any) -> Any:
    """The derivative, after calls that make it quick."""
    for _ in range(3):
        derivative(*args)
    assert derivative._quick is not None
    return derivative


def test_what_has_changed_is_seen(monkeypatch) -> None:
    call = called(srcgrad.grad(scaled), X)
    text = call.source
    monkeypatch.setitem(globals(), "scale", 3.0)
    assert call(X).tolist() == (6.0 * X).tolist() and call.source == text
    factor = 1.0

    def of_cell(x):
        return np.sum(factor * x)

    call = called(srcgrad.grad(of_cell), X)
    factor = 5.0
    assert call(X).tolist() == [5.0] * 3


def test_defaults_and_keywords() -> None:
    def power(x, n=2, *, shift=0.0):
        return np.sum((x + shift) ** n)

    call = srcgrad.grad(power)
    for _ in range(4):
        assert call(X).tolist() == (2.0 * X).tolist()
        assert call(X, n=3).tolist() == (3.0 * X * X).tolist()
        assert call(X, 2, shift=1.0).tolist() == (2.0 * (X + 1.0)).tolist()
    with pytest.raises(TypeError, match="multiple values"):
        called(srcgrad.grad(scaled), X)(X, x=X)
    power.__defaults__ = (3,)
    assert call(X).tolist() == (3.0 * X * X).tolist()


def test_defaults_of_a_called_function() -> None:
    def power(x, n=FACTOR, *, shift=FACTOR):
        return np.sum((x + shift) ** 2) * n

    call = called(srcgrad.grad(lambda x: power(x)), X)
    power.__defaults__ = (3.0,)
    assert call(X).tolist() == (6.0 * (X + 1.0)).tolist()
    power.__kwdefaults__["shift"] = 2.0
    assert call(X).tolist() == (6.0 * (X + 2.0)).tolist()
    power.__kwdefaults__ = {"shift": 3.0}
    assert call(X).tolist() == (6.0 * (X + 3.0)).tolist()


def test_what_a_called_derivative_reads(monkeypatch) -> None:
    slope = srcgrad.grad(scaled)
    rows = srcgrad.blocked(lambda x: np.sum(scale * x * x), over="x", rows=2)
    call = called(srcgrad.grad(lambda x: np.sum(slope(x) ** 2)), X)
    blocks = called(srcgrad.grad(rows), X)
    monkeypatch.setitem(globals(), "scale", 3.0)
    assert call(X).tolist() == (72.0 * X).tolist()
    assert blocks(X).tolist() == (6.0 * X).tolist()


def test_arguments_of_other_kinds_have_their_own_text() -> None:
    call = called(srcgrad.value_and_grad(lambda x, k: np.sum(k * x * x), (0, 1)), X, 2.0)
    for dtype in (np.float32, np.float64):
        y, (x_bar, k_bar) = call(X.astype(dtype), np.array([[1.0], [2.0]], dtype))
        assert (x_bar.dtype, k_bar.dtype) == (dtype, dtype) and k_bar.tolist() == [[14.0], [14.0]]
    y, (x_bar, k_bar) = call(X, 2.0)
    assert (y, k_bar) == (28.0, 14.0) and type(k_bar) is float and x_bar.tolist() == [4.0, 8.0, 12.0]
    assert type(call(np.float64(3.0), 2.0)[1][0]) is np.float64
    with pytest.raises(srcgrad.DifferentiationError, match="E5005"):  # arithmetic on a list
        call([X, X], 2.0)
    with pytest.raises(srcgrad.DifferentiationError, match="E5002"):
        call(np.arange(3), 2.0)
    with pytest.raises(TypeError, match="missing a required argument: 'k'"):
        call(X)


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_gradients_have_memory_of_their_own(target) -> None:
    def product(x, y):
        return np.sum(x * y)

    def turned(x):
        return np.sum(x.T * x.T)

    if target == "numba":
        pytest.importorskip("numba")
    call = srcgrad.grad(product, (0, 1), target=target)
    for y in (X, 2.0 * X):
        for _ in range(4):
            found = call(X, y)
            assert [g.tolist() for g in found] == [y.tolist(), X.tolist()]
            for gradient in found:
                assert not any(
                    np.may_share_memory(gradient, other) for other in (X, y, *found) if other is not gradient
                )
                gradient[:] = -1.0
    square = np.asfortranarray(np.arange(4.0).reshape(2, 2))
    call = srcgrad.grad(turned, target=target)
    for _ in range(4):
        found = call(square)
        assert found.flags.c_contiguous and found.flags.writeable and found.tolist() == (2.0 * square).tolist()


def test_an_array_that_compiled_code_shows_is_copied() -> None:
    """Its own memory is given as it is: nothing else holds it."""
    njit = pytest.importorskip("numba").njit
    from srcgrad.interface.api.arguments import own_array

    @njit
    def shown(x):
        made = 2.0 * x
        return made, x[:], x[1:], made.reshape(-1, 1)

    first = shown(X)[0]  # the others are gone
    assert own_array(first) is first
    kept = shown(X)
    assert all(own_array(one, X) is not one for one in kept)
    assert not any(np.may_share_memory(own_array(one, X), X) for one in kept)


def test_lines_of_the_user_stand_in_tracebacks() -> None:
    def first(x, k):
        return np.sum(x[k] * x)

    call = called(srcgrad.grad(first), X, 1)
    with pytest.raises(IndexError) as caught:
        call(X, 7)
    assert any(entry.frame.code.name == "first" for entry in caught.traceback)


def test_threads() -> None:
    call = srcgrad.value_and_grad(lambda x: np.sum(x * x))
    wrong: list[Any] = []

    def many(value: Any, expected: Any) -> None:
        for _ in range(300):
            gradient = call(value)[1]
            if type(gradient) is not type(value) or not np.array_equal(gradient, expected):
                wrong.append(gradient)

    given = [X, 2.0, X.astype(np.float32), np.ones((2, 2))]
    threads = [threading.Thread(target=many, args=(value, 2.0 * value)) for value in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_quick_look_tells_what_a_close_one_would() -> None:
    out_of_date = [False]
    made = ExecutedText(lambda *given: None, "", (), lambda: out_of_date[0])
    known = quick_text(ReadyText(made, {}, generation()), (X, 1.0, X), (0, 2, 1), "y, ({},)", lambda *given: given)
    assert known is not None and known.alike(X, 2.0, 2.0 * X)
    others = [(X[:, None], 1.0, X), (X.astype(np.float32), 1.0, X), (X, 1, X), (X, np.float64(1.0), X), ([X], 1.0, X)]
    assert not any(known.alike(*one) for one in others)
    for shown in (X[:2], X.astype(np.float32), X.view(np.recarray), 1.0):  # not what mirrors the argument
        assert known.finished((0.0, (shown, X, 1.0)), X, 2.0, X)[1] == (X, 2.0, X)
    assert known.finished((0.0, (X, X, 1)), X, 2.0, X)[1] == (X, 2.0, X)
    _, found = known.finished((0.0, (X, X, np.float64(1.0))), 2.0 * X, 2.0, 2.0 * X)
    assert found[0] is X and found[1] is not X and type(found[2]) is float
    _, found = known.finished((0.0, (X[::-1], np.broadcast_to(2.0, 3), 1.0)), X, 2.0, X)
    assert (
        found[0].flags.owndata and found[1].flags.writeable and [g.tolist() for g in found[:2]] == [[3, 2, 1], [2] * 3]
    )
    assert not any(np.may_share_memory(g, X) for g in known.finished((0.0, (X, X, 1.0)), X, 2.0, X)[1][:2])
    table_changed()
    assert not known.alike(X, 2.0, X)
    known = quick_text(ReadyText(made, {}, generation()), (X, 1.0), (0,), "", lambda *given: given)
    out_of_date[0] = True
    assert known is not None and known.finished("found", X, 1.0) == ("found", (X, 1.0)) and not known.alike(X, 1.0)
    assert quick_text(ReadyText(made, {}, 0), ([X], 1.0), (1,), "{}", lambda *given: given) is None


def test_looks() -> None:
    alike = [(X, 1), (2.0 * X, 2)]
    assert looks(alike[0]) == looks(alike[1])
    others = [(X, 1.0), (X, True), (X.astype(np.float32), 1), (X[:, None], 1), ([X], 1), ((X,), 1), ({"a": X}, 1)]
    assert len({looks(one) for one in [alike[0], *others, ({"b": X}, 1)]}) == 9
