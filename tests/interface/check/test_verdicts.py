"""The checker tells what differences leave open from what is wrong; it repeats what it has drawn."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import srcgrad
from srcgrad.interface.check.check import CheckFailed, CheckUndecided, check_grads, check_report
from srcgrad.interface.check.finite_differences import tight_tolerances
from srcgrad.interface.cli import main


def wrong_by(factor: float) -> Callable[[float], float]:
    """The sine, with a rule whose derivative is wrong by a factor."""

    def sine(x: float) -> float:
        return math.sin(x)

    def pull(primals: Any, cotangent: Any, output: Any) -> Any:
        return (cotangent * factor * math.cos(primals[0]),)

    def push(primals: Any, tangents: Any, output: Any) -> Any:
        return factor * math.cos(primals[0]) * tangents[0]

    srcgrad.register_vjp(sine, pull)
    srcgrad.register_jvp(sine, push)
    return sine


RIGHT, TENTH, LITTLE, TURNED = wrong_by(1.0), wrong_by(1.1), wrong_by(1.0 + 1e-4), wrong_by(-1.0)


def decay(k):
    out = solve_ivp(lambda t, y: -RIGHT(k) * y, (0.0, 2.0), np.array([1.0]))
    return out.y[0, -1]


def decay_wrong_by_a_tenth(k):
    out = solve_ivp(lambda t, y: -TENTH(k) * y, (0.0, 2.0), np.array([1.0]))
    return out.y[0, -1]


def decay_wrong_by_little(k):
    out = solve_ivp(lambda t, y: -LITTLE(k) * y, (0.0, 2.0), np.array([1.0]), method="RK23")
    return out.y[0, -1]


def pendulum(friction, length):
    def rate(t, y):
        return np.array([y[1], -np.sin(y[0]) / length - friction * y[1]])

    out = solve_ivp(rate, (0.0, 4.0), np.array([1.0, 0.0]), method="LSODA")
    return np.sum(out.y[:, -1] ** 2)


def stiff(mu):
    out = solve_ivp(lambda t, y: np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]), (0.0, 6.0), np.array([2.0, 0.0]))
    return np.sum(out.y[:, -1] ** 2)


def implicit(k):
    return solve_ivp(lambda t, y: -k * y * y, (0.0, 1.0), np.array([1.0]), method="BDF").y[0, -1]


@pytest.mark.parametrize(
    ("function", "args"), [(decay, (0.7,)), (pendulum, (0.2, 1.3)), (stiff, (1.3,)), (implicit, (0.8,))]
)
def test_a_solver_with_its_usual_tolerance_is_no_failure(function, args) -> None:
    with pytest.raises(CheckUndecided, match="tolerance of the solver"):
        check_grads(function, args, order=1)
    with tight_tolerances():
        check_grads(function, args, order=1)


@pytest.mark.parametrize("function", [decay_wrong_by_a_tenth, decay_wrong_by_little])
def test_a_wrong_rule_within_a_solver_fails(function) -> None:
    with pytest.raises(CheckFailed) as caught:
        check_grads(function, (0.7,), order=1)
    assert not isinstance(caught.value, CheckUndecided)


@pytest.mark.parametrize("sine", [TENTH, LITTLE, TURNED])
@pytest.mark.parametrize("kind", ["plain", "rapid", "sum", "near a kink", "beside noise"])
def test_a_wrong_rule_fails(sine, kind) -> None:
    functions = {
        "plain": lambda x: sine(x),
        "rapid": lambda x: sine(300.0 * x),
        "sum": lambda x: sine(x) * 1e-3 + x * x * 1e-3,
        "near a kink": lambda x: abs(x - 0.7 - 1e-6) + sine(x),
        "beside noise": lambda x: sine(x) + 0.0 * np.round(x, 3),
    }
    with pytest.raises(CheckFailed) as caught:
        check_grads(functions[kind], (0.7,), order=1)
    assert not isinstance(caught.value, CheckUndecided)


def flat_where_equal(x):
    return np.sum(np.where(x > 0.5, x, 0.5))


def rounded(x):
    return np.sum(np.sin(x)) + 1e-3 * np.sum(np.round(np.sin(1e12 * x)))


def one_sided(x):
    return np.sum(x**1.5)


@pytest.mark.parametrize(
    ("function", "args", "why"),
    [
        (flat_where_equal, (np.array([0.5, 0.2, 0.9]),), "a kink"),
        (rounded, (np.array([0.3, 0.7]),), "differences at several steps"),
        (one_sided, (np.array([0.0, 0.4]),), "undefined"),
    ],
)
def test_kinks_noise_and_ends_of_a_domain_are_undecided(function, args, why) -> None:
    with pytest.raises(CheckUndecided, match=f"undecided: {why}"):
        check_grads(function, args, order=1)


def test_a_right_derivative_has_no_doubt() -> None:
    records = check_report(lambda x: np.sum(np.tanh(x)), (np.array([0.3, 0.7]),), order=2)
    assert all(record.passed and not record.doubt for record in records)


MODEL = """\
import numpy as np
import srcgrad


def cube(x):
    return x ** 3


@srcgrad.register_vjp(cube)
def cube_rule(primals, cotangent, output):
    return (cotangent * 3.3 * primals[0] ** 2,)


@srcgrad.register_jvp(cube)
def cube_tangent(primals, tangents, output):
    return 3.3 * primals[0] ** 2 * tangents[0]


def wrong(x, w):
    return np.sum(cube(x) * w)


def kinked(x: float):
    return np.where(x > 1.0, x, 1.0)


def right(x):
    return np.sum(x * x)


class Small(Exception):
    pass


def large(x):
    if np.sum(x) < 10.0:
        raise Small("too small")
    return np.sum(x)


def half(x: float):
    if x > 1.0:
        raise Small(x)
    return x * x
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path / "model.py"


def test_exit_status(model: Path, capfd: Any) -> None:
    assert main(["check", "model.py:right"]) == 0
    assert main(["check", "model.py:kinked", "--args", "1.0"]) == 3
    assert main(["check", "model.py:wrong"]) == 1
    assert main(["check", "model.py:right", "model.py:wrong"]) == 1
    assert "FAILED" in capfd.readouterr().out


def test_what_was_drawn_is_told_and_repeats_the_failure(model: Path, capfd: Any) -> None:
    assert main(["check", "model.py:wrong", "--seed", "4"]) == 1
    first = capfd.readouterr()
    [line] = first.err.splitlines()
    told, _, options = line.partition(": ")
    assert told == "wrong was given drawn arguments"
    assert main(["check", "model.py:wrong", *shlex.split(options)]) == 1
    assert capfd.readouterr().out == first.out
    assert main(["check", "model.py:right"]) == 0
    assert capfd.readouterr().err == ""


def test_a_function_that_raises_is_no_wrong_derivative(model: Path, capfd: Any) -> None:
    """Whatever it raises: for the arguments given, for some that are drawn, beside the point."""
    assert main(["check", "model.py:large", "--args", "2.0"]) == 1
    assert "E5015" in (told := capfd.readouterr()).err and "large itself raises Small" in told.err
    assert main(["check", "model.py:large"]) == 0  # what is drawn is drawn until it runs
    assert main(["check", "model.py:half", "--args", "1.0"]) == 3
    assert "undecided: undefined beside this point" in capfd.readouterr().out
    assert main(["check", "model.py:large", "--args", "np.ones(20)"]) == 0


def drawn_anew(x):
    return np.sum(x * np.random.default_rng().normal(size=2))


def test_a_function_that_gives_another_value_at_each_call_is_undecided() -> None:
    with pytest.raises(CheckUndecided, match="another value at each call"):
        check_grads(drawn_anew, (np.array([0.3, 2.5]),))


def test_a_gradient_that_is_rounding_alone_is_no_other_gradient() -> None:
    def centred(x):
        return 0.9 + np.sum((x - np.mean(x)) / 0.7) * 0.3

    check_grads(centred, (np.array([0.913, 0.124, -0.746]),), order=1)
