"""The tape view: rows of operations with values and adjoints."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError, grad, trace
from srcgrad.interface.api.derivatives import float_arguments
from srcgrad.interface.cli import main
from tests.programs.accepted import IDS, PROGRAMS

X, Y = 0.6791074260357777, 0.8284134829000359

FULL = """\
Trace of product_and_sine: 5 rows
row  line  name  operation   value     adjoint
#1   -     x     argument    0.679107  1.60655
#2   -     y     argument    0.828413  0.679107
#3   {line}     -     #1 * #2     0.562582  1
#4   {line}     -     np.sin(#1)  0.628099  1
#5   {line}     -     #3 + #4     1.19068   1"""

SEEDED = """\
Trace of product_and_sine: 5 rows
row  line  name  operation   value     adjoint
#1   -     x     argument    0.679107  -
#2   -     y     argument    0.828413  -
#3   {line}     -     #1 * #2     0.562582  -
#4   {line}     -     np.sin(#1)  0.628099  -
#5   {line}     -     #3 + #4     1.19068   1"""


def product_and_sine(x, y):
    return x * y + np.sin(x)


LINE = product_and_sine.__code__.co_firstlineno + 1


def test_capability_4_4_a_row_for_each_argument_and_operation():
    rows = trace(product_and_sine)(X, Y).rows
    operations = ["argument", "argument", "np.multiply", "np.sin", "np.add"]
    assert [(row.number, row.operation) for row in rows] == list(enumerate(operations, start=1))
    assert [row.value for row in rows] == [X, Y, X * Y, np.sin(X), X * Y + np.sin(X)]


def test_capability_4_5_the_text_is_stable():
    assert str(trace(product_and_sine)(X, Y)) == FULL.replace("{line} ", f"{LINE}")
    assert repr(trace(product_and_sine)(X, Y)) == FULL.replace("{line} ", f"{LINE}")


def test_capability_4_6_seeded_at_the_last_row_the_others_are_unset():
    assert str(trace(product_and_sine)(X, Y).reached(5)) == SEEDED.replace("{line} ", f"{LINE}")


def test_capability_4_7_adjoints_of_all_rows():
    rows = trace(product_and_sine)(X, Y).rows
    assert [f"{row.adjoint:.5f}" for row in rows] == ["1.60655", "0.67911", "1.00000", "1.00000", "1.00000"]
    assert (rows[0].adjoint, rows[1].adjoint) == grad(product_and_sine, (0, 1))(X, Y)


def test_capability_4_9_uses_of_one_value_add_up():
    first, *_ = trace(product_and_sine)(X, Y).rows
    assert first.adjoint == Y + np.cos(X)


def test_capability_4_8_a_row_may_be_a_result_that_nothing_reaches():
    def f(x):
        k = np.exp(x)  # noqa: F841
        return x * x

    assert [(row.text, row.adjoint) for row in trace(f)(2.0).rows] == [
        ("argument", 4.0),
        ("np.exp(#1)", None),
        ("#1 * #1", 1.0),
    ]


def mixed(x, w):
    h = np.tanh(x @ w)
    a, b = np.split(h, [1])
    c = np.where(x > 0.2, x, 2.0 * x)
    return np.sum(a) * np.mean(b) + c[0] ** 3 / (1.0 + c[1])


def replayed(rows, number, value):
    """The values of all rows, computed from their texts alone, with one of them replaced."""
    held: dict[int, np.ndarray] = {}
    for row in rows:
        held[row.number] = row.value
        if row.operands:
            text = re.sub(r"#(\d+)", r"v[\1]", row.text)
            held[row.number] = eval(text, {"np": np, "v": held})
        if row.number == number:
            held[row.number] = value
    return held


@pytest.mark.parametrize(
    ("f", "args"),
    [(product_and_sine, (X, Y)), (mixed, (np.array([0.3, 0.1]), np.array([[0.2, -0.5, 0.9], [1.1, 0.4, 0.3]])))],
)
def test_capability_1_31_rows_rebuild_the_graph(f, args):
    """Values follow from the texts, and adjoints are the slopes of the result by each row."""
    found = trace(f)(*args)
    for row in found.rows:
        assert np.array_equal(replayed(found.rows, 0, None)[row.number], row.value)
        for place in np.ndindex(np.shape(row.value)):
            step = np.zeros(np.shape(row.value))
            step[place] = 1e-6
            high, low = (replayed(found.rows, row.number, row.value + s)[len(found.rows)] for s in (step, -step))
            adjoint = row.adjoint[place] if np.shape(row.value) else row.adjoint
            assert np.isclose(adjoint, (high - low) / 2e-6, rtol=1e-7, atol=1e-9), row.text


def test_capability_1_31_rows_name_operands_slots_and_lines():
    rows = trace(mixed)(np.array([0.3, 0.1]), np.eye(2, 3)).rows
    parts = [(row.name, row.operands, row.slot, row.text) for row in rows if row.slot is not None]
    assert parts == [("a", (4,), 0, "np.split(#4, [1])[0]"), ("b", (4,), 1, "np.split(#4, [1])[1]")]
    assert [row.line for row in rows[2:5]] == [mixed.__code__.co_firstlineno + k for k in (1, 1, 2)]


def test_each_trip_of_a_loop_has_rows():
    def f(x, n):
        for _ in range(n):
            x = x * x
        return x

    assert [(row.text, row.value, row.adjoint) for row in trace(f)(2.0, 3).rows if row.name == "x"] == [
        ("argument", 2.0, 1024.0),
        ("#1 * #1", 4.0, 256.0),
        ("#3 * #3", 16.0, 32.0),
        ("#4 * #4", 256.0, 1.0),
    ]
    assert trace(f)(2.0, 3).rows[1].adjoint is None


def test_writes_into_arrays_and_rows_of_arrays():
    def f(x):
        a = np.zeros(2)
        a[0] = x[1] * 2.0
        a[1:] += x[:1]
        s = 0.0
        for row in x:
            s += row * row
        return np.sum(a) * s

    rows = trace(f)(np.array([1.0, 3.0])).rows
    stored = [
        (row.text, row.value if np.ndim(row.value) == 0 else row.value.tolist()) for row in rows if row.name == "a"
    ]
    assert stored == [("a[0] = #3", 6.0), ("a[1:] += #5", [1.0])]
    assert [row.adjoint for row in rows if row.operation == "item"] == [14.0, 42.0]


def test_a_called_function_is_one_row():
    def f(x):
        return square(x) + 1.0

    assert [row.text for row in trace(f)(3.0).rows] == ["argument", "square(#1)", "#2 + 1.0"]


def square(z):
    return z * z


def test_large_arrays_are_shortened():
    assert "(4, 5): 0, 0, ... 0" in str(trace(lambda x: np.sum(x * 2.0))(np.zeros((4, 5))))


def test_a_seed_for_an_array():
    found = trace(lambda x: x * x, seed=np.array([1.0, 0.0]))(np.array([2.0, 3.0]))
    assert found.rows[0].adjoint.tolist() == [4.0, 0.0]
    with pytest.raises(DifferentiationError, match="E5007"):
        trace(lambda x: x * x)(np.array([2.0, 3.0]))


def test_some_arguments():
    rows = trace(product_and_sine, wrt="y")(X, Y).rows
    assert [(row.text, row.adjoint) for row in rows] == [
        ("argument", None),
        ("argument", X),
        ("#1 * #2", 1.0),
        ("#3 + np.sin(#1)", 1.0),
    ]


def test_a_local_variable_has_its_adjoint():
    def f(x):
        h = np.tanh(x)
        return h * h

    found = [(row.name, row.adjoint) for row in trace(f, wrt="h")(0.5).rows]
    assert found == [("x", None), ("h", 2.0 * np.tanh(0.5)), ("", 1.0)]


def scalars(function, args):
    try:
        value = function(*args)
        grad(function, float_arguments(function, args))(*args)
    except Exception:  # what is refused is refused; other tests say what
        return False
    return not isinstance(value, tuple | list | dict) and np.ndim(value) == 0


def flat(value):
    if isinstance(value, dict):
        return [part for key in value for part in flat(value[key])]
    if isinstance(value, list | tuple):
        return [part for item in value for part in flat(item)]
    return [] if value is None else list(np.ravel(value))


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=IDS)
def test_adjoints_of_arguments_are_the_gradient(function, args):
    if not scalars(function, args):
        return
    places = float_arguments(function, args)
    rows = trace(function)(*args).rows
    for place, gradient in zip(places, grad(function, places)(*args), strict=True):
        assert np.allclose(flat(rows[place].adjoint), flat(gradient), rtol=1e-12, atol=1e-14)  # sums in another order


def test_json():
    def f(x):
        return np.sum(x / 0.0)

    with np.errstate(all="ignore"):
        made = json.loads(trace(f)(np.array([1.0, 0.0])).json())
    assert (made["function"], made["value"]) == ("f", "nan")
    assert made["rows"][1] == {
        "number": 2,
        "line": f.__code__.co_firstlineno + 1,
        "name": "",
        "operation": "np.divide",
        "operands": [1],
        "slot": None,
        "text": "#1 / 0.0",
        "value": ["inf", "nan"],
        "adjoint": [1.0, 1.0],
    }


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(
        "import numpy as np\n\n\ndef f(x, y):\n    return x * y + np.sin(x)\n\n\ndef g(x, y):\n    return x + y\n"
    )
    return path


def test_command_line(model, capsys):
    assert main(["trace", f"{model}:f", "--args", f"{X}, {Y}"]) == 0
    assert capsys.readouterr().out == FULL.replace("{line}", "5").replace("product_and_sine", "f") + "\n"


def test_command_line_json(model, capsys):
    assert main(["trace", str(model), "--args", "1.0, 2.0", "--wrt", "x", "--json"]) == 0
    assert [made["function"] for made in json.loads(capsys.readouterr().out)] == ["f", "g"]


@pytest.mark.parametrize("arguments", ["1.0", "1.0, 2.0, 3.0", "1.0 2.0"])
def test_command_line_refuses_arguments_that_do_not_fit(model, arguments, capsys):
    assert main(["trace", f"{model}:f", "--args", arguments]) == 1
    assert capsys.readouterr().err.startswith("E5015")


def test_nobody_listens_afterwards():
    trace(product_and_sine)(X, Y)
    assert srcgrad.runtime.probe(3.0, 99) == 3.0


def distance(x: Any) -> Any:
    square = np.sum(x * x)
    return np.sqrt(square)


def in_a_loop(x: Any) -> Any:
    s = 0.0
    for k in range(3):
        s = s + np.log(x[k])
    return s


def masked(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, x * x, np.inf))


class TestDebug:
    def test_the_first_nan_of_the_backward_half(self) -> None:
        with srcgrad.debug(), pytest.raises(DifferentiationError) as found:
            grad(distance)(np.zeros(3))
        assert found.value.code == "E5033"
        assert "`x_bar` became nan in `x_bar = y_bar / np.sqrt(square) * x`" in str(found.value)
        assert "square = 0" in str(found.value)
        assert found.value.place is not None and "square" in found.value.place.text

    def test_of_the_forward_half_in_a_trip(self) -> None:
        with srcgrad.debug(), pytest.raises(DifferentiationError, match="became -inf") as found:
            srcgrad.value_and_grad(in_a_loop)(np.array([1.0, 0.0, 2.0]))
        assert found.value.place is not None and "np.log(x[k])" in found.value.place.text

    def test_of_products_with_the_hessian_and_pullbacks(self) -> None:
        with srcgrad.debug():
            _, back = srcgrad.vjp(distance, np.zeros(3))
            with pytest.raises(DifferentiationError, match="E5033"):
                back(1.0)
        with srcgrad.debug(), pytest.raises(DifferentiationError, match="E5033"):  # an error ends the watch
            srcgrad.hvp(distance)(np.zeros(3), np.ones(3))

    def test_what_is_given_and_constants_are_let_through(self) -> None:
        with srcgrad.debug():
            assert np.array_equal(grad(masked)(np.array([1.0, -1.0])), [2.0, 0.0])
            value, gradient = srcgrad.value_and_grad(distance)(np.array([np.inf, 1.0]))
        assert value == np.inf and np.isnan(gradient[0])

    def test_finite_numbers_are_those_without_it_and_nothing_is_watched_afterwards(self) -> None:
        before = sys.gettrace()
        with srcgrad.debug():
            found = grad(in_a_loop)(np.ones(3))
        assert np.array_equal(found, grad(in_a_loop)(np.ones(3)))
        assert sys.gettrace() is before
        with np.errstate(all="ignore"):
            assert np.all(np.isnan(grad(distance)(np.zeros(3))))
