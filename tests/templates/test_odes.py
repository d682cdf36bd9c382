"""Gradients of solutions of differential equations: against closed forms, differences and forward mode."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.integrate import odeint, solve_ivp
from scipy.linalg import expm

from srcgrad import grad, jacobian, jvp, vjp
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import check_grads
from srcgrad.runtime import odes
from srcgrad.runtime.odes import Equation, adjoint_flow, odeint_pullback
from tests.programs.ode_programs import PROGRAMS, START, TIMES


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_programs_agree_with_differences_in_both_modes(f, args):
    check_grads(f, args, order=1, wrt=tuple(range(len(args))))


def linear(a: Any, y0: Any, t: Any) -> Any:
    return odeint(lambda y, s: a @ y, y0, t)


def test_a_linear_equation_against_the_matrix_exponential():
    a, w = np.array([[-0.5, 1.0], [-2.0, -0.3]]), np.array([0.3, -0.7])
    _, pullback = vjp(linear, a, START, TIMES)
    seeds = np.zeros((5, 2))
    seeds[3] = w
    a_bar, y0_bar, t_bar = pullback(seeds)
    flow = expm(a)
    assert y0_bar == pytest.approx(flow.T @ w, rel=1e-6)
    assert t_bar == pytest.approx([-w @ a @ flow @ START, 0.0, 0.0, w @ a @ flow @ START, 0.0], rel=1e-6)
    block = expm(np.block([[a, np.eye(2)], [np.zeros((2, 2)), a]]))  # the derivative of expm along the identity
    assert np.trace(a_bar) == pytest.approx(w @ block[:2, 2:] @ START, rel=1e-6)


def robertson(t: Any, y: Any, k: Any) -> Any:
    one, two, three = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
    return np.array([two - one, one - two - three, three])


def stiff(logs: Any) -> Any:
    k = np.array([0.04, 1e4, 3e7]) * np.exp(logs)
    sol = solve_ivp(robertson, (0.0, 100.0), [1.0, 0.0, 0.0], "BDF", [1.0, 100.0], args=(k,), rtol=1e-8, atol=1e-12)
    return sol.y[0, 1] + 1e4 * sol.y[1, 0]


def test_a_stiff_equation():
    """Its solution backwards in time is unstable: the state is interpolated from a forward run."""
    found, zero, step = grad(stiff)(np.zeros(3)), np.zeros(3), 1e-3
    expected = [(stiff(zero + step * e) - stiff(zero - step * e)) / (2.0 * step) for e in np.eye(3)]
    assert found == pytest.approx(np.array(expected), rel=1e-3, abs=1e-5)  # of the differences of a run at 1e-8


def seeded(k: Any, y0: Any) -> Any:
    return odeint(lambda y, t: -k * y * y, y0, TIMES)[-1]


@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
def test_a_pullback_is_linear_in_its_seed(factor):
    _, pullback = vjp(seeded, 0.7, START)
    one, other = pullback(np.array([1.0, -1.0])), pullback(factor * np.array([1.0, -1.0]))
    assert other[0] == pytest.approx(factor * one[0], rel=1e-9)  # sizes round differently, and steps with them
    assert pullback(np.zeros(2))[1].tolist() == [0.0, 0.0]


def test_dtypes_and_classes_are_those_of_the_primals():
    k, y0 = vjp(seeded, np.float32(0.7), START.astype(np.float32))[1](np.ones(2))
    assert (type(k), y0.dtype) == (np.float32, np.float32)
    assert type(grad(lambda k: np.sum(seeded(k, START)))(0.7)) is float


def test_jacobians_of_both_modes_agree():
    forward, reverse = (jacobian(seeded, wrt="y0", mode=mode)(0.7, START) for mode in ("forward", "reverse"))
    assert forward == pytest.approx(reverse, rel=1e-7)
    assert jvp(seeded, (0.7, START), (1.0, 0.0 * START))[1] == pytest.approx(jacobian(seeded)(0.7, START), rel=1e-7)


def test_what_happens_between_the_ends_of_an_interval_is_seen():
    found = grad(lambda k: odeint(peak, 0.0, [0.0, 4.5, 6.0], (k,))[-1, 0])(1.0)
    assert found == pytest.approx(0.1 * np.sqrt(np.pi), rel=1e-5)


def forced(y: Any, t: Any, k: Any) -> Any:
    return np.array([y[1], -k[0] * y[0] - k[1] * y[1] + k[2] * np.sin(t)])


def forced_pull(y: Any, t: Any, k: Any, y_bar_: Any) -> Any:
    forced_pull.calls += 1  # type: ignore[attr-defined]
    k_bar = np.array([-y[0] * y_bar_[1], -y[1] * y_bar_[1], np.sin(t) * y_bar_[1]])
    return np.array([-k[0] * y_bar_[1], y_bar_[0] - k[1] * y_bar_[1]]), k_bar


@pytest.mark.parametrize("backwards", [False, True])
def test_elements_agree_with_steps_of_a_solver(backwards):
    """Both ways through the adjoint equation, with seeds at many times."""
    times = np.linspace(0.0, 9.0, 40)[:: -1 if backwards else 1]
    k, seeds = np.array([2.0, 0.3, 1.0]), np.random.default_rng(0).standard_normal((40, 2))
    equation, found = Equation(forced, forced_pull, (k,)), []
    forced_pull.calls = 0  # type: ignore[attr-defined]
    rows = odeint(forced, START, times, (k,), rtol=1e-11, atol=1e-11)
    for most in (12, 0):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(odes, "MOST", most)
            given = (times[0], START), times, rows, seeds, "LSODA", (1e-12, 1e-12)
            found.append(np.concatenate([np.ravel(part) for part in adjoint_flow(equation, *given)]))
    assert found[0] == pytest.approx(found[1], rel=1e-8, abs=1e-8)


def test_more_times_cost_no_more_calls():
    calls, k = [], np.array([2.0, 0.3, 1.0])
    for count in (2, 200):
        times, forced_pull.calls = np.linspace(0.0, 9.0, count), 0  # type: ignore[attr-defined]
        rows = odeint(forced, START, times, (k,))
        odeint_pullback(forced, forced_pull, rows, START, times, (k,), np.ones_like(rows))
        calls.append(forced_pull.calls)  # type: ignore[attr-defined]
    assert calls[0] == calls[1] < 1000


def test_a_stiff_equation_is_left_to_a_solver():
    """Robertson's equation: elements would have to be a thousandth as long as its steps."""
    found = odes.Element
    made: list[Any] = []

    def counted(*args: Any) -> Any:
        made.append(args)
        return found(*args)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(odes, "Element", counted)
        grad(stiff)(np.zeros(3))
    assert len(made) < 50


def peak(y: Any, t: Any, k: Any) -> Any:
    return k * np.exp(-(((t - 5.0) / 0.1) ** 2))


def switched(x: Any) -> Any:
    return odeint(lambda y, t: -y * x if y[0] > 0.8 else -2.0 * x * y, 1.0, TIMES)[-1, 0]


def timed(x: Any) -> Any:
    return odeint(lambda y, t: -y if t > x else -2.0 * y, 1.0, TIMES)[-1, 0]


def scaled_and_timed(x: Any, k: Any) -> Any:
    return odeint(lambda y, t: -k * y if t > x else -2.0 * k * y, 1.0, TIMES)[-1, 0]


def test_a_jump_that_moves_at_second_order_is_refused():
    """The first derivative is by another argument, and linear: only the second meets the time of the jump."""
    with pytest.raises(ArithmeticError, match=r"E5001 .* jumps at"):
        jvp(lambda x: grad(scaled_and_timed, wrt="k")(x, 0.3), (0.7,), (1.0,))


@pytest.mark.parametrize("f", [switched, timed])
def test_a_jump_whose_time_has_a_derivative_is_refused(f):
    with pytest.raises(ArithmeticError, match=r"E5001 .* jumps at"):
        grad(f)(0.7)
    with pytest.raises(ArithmeticError, match=r"E5001 .* jumps at"):
        jvp(f, (0.7,), (1.0,))


def decay(y: Any, t: Any, k: Any) -> Any:
    return -k * y


def more_is_given(k: Any) -> Any:
    return odeint(decay, 1.0, TIMES, (k,), full_output=True)[0][-1, 0]


def critical(k: Any) -> Any:
    return odeint(decay, 1.0, TIMES, (k,), tcrit=[0.3])[-1, 0]


def with_events(k: Any) -> Any:
    return solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [1.0], events=lambda t, y: y[0] - 0.5).y[0, -1]


def dense(k: Any) -> Any:
    sol = solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [1.0], dense_output=True)
    return k * sol.sol.ts[1]


def complex_states(k: Any) -> Any:
    return np.abs(solve_ivp(lambda t, y: 1j * k * y, (0.0, 1.0), [1.0 + 0.0j]).y[0, -1])


def arguments_by_name(k: Any) -> Any:
    args = (k,)
    return odeint(decay, 1.0, TIMES, args)[-1, 0]


def state_changed(k: Any) -> Any:
    def rhs(y, t):
        y[0] = 2.0 * y[0]
        return -k * y

    return odeint(rhs, 1.0, TIMES)[-1, 0]


def without_a_rule(k: Any) -> Any:
    return odeint(lambda y, t: -k * np.unique(y), 1.0, TIMES)[-1, 0]


def in_a_test(k: Any) -> Any:
    while odeint(lambda y, t: -k * y, 1.0, TIMES)[-1, 0] > 0.1:  # noqa: B023 (it is what is refused)
        k = 1.5 * k
    return k


def one_of_two(k: Any) -> Any:
    rhs = lambda y, t: -k * y  # noqa: E731 (it is what is refused: the gradient was zero)
    if k > 0.5:
        rhs = lambda y, t: k * y  # noqa: E731
    return odeint(rhs, 1.0, TIMES)[-1, 0]


def in_a_list(k: Any) -> Any:
    chosen = [lambda y: -k * y, lambda y: k * y]
    return chosen[1](2.0)


REFUSED = [
    (one_of_two, "E5031", "return odeint(rhs"),
    (more_is_given, "E5006", "full_output="),
    (critical, "E5006", "tcrit="),
    (with_events, "E5003", "events="),
    (dense, "E5001", "dense_output=True"),
    (complex_states, "E5017", "solve_ivp("),
    (arguments_by_name, "E5005", "odeint("),
    (state_changed, "E5010", "y[0] = 2.0 * y[0]"),
    (without_a_rule, "E5001", "np.unique(y)"),
    (in_a_test, "E5005", "while odeint("),
]


def test_a_function_of_a_list_that_no_solver_gets_is_right() -> None:
    assert grad(in_a_list)(0.7) == 2.0


@pytest.mark.parametrize(("f", "code", "line"), REFUSED, ids=[f.__name__ for f, _, _ in REFUSED])
def test_what_is_refused_and_where(f, code, line):
    with pytest.raises(DifferentiationError) as caught:
        grad(f)(0.7)
    assert (caught.value.code, line in caught.value.place.text) == (code, True)


A, B, SEED = np.array([[-0.5, 1.0], [-2.0, -0.3]]), np.array([[0.2, -0.4], [0.1, 0.5]]), np.array([0.3, -0.7])


def turned(x: Any) -> Any:
    """x: a factor, the first state, the first and the last time."""

    def rate(y, s, k):
        return (A + k * B) @ y

    return SEED @ odeint(rate, x[1:3], x[3:], args=(x[0],), rtol=1e-10, atol=1e-10)[-1]


def test_second_derivatives_against_the_matrix_exponential():
    """By the factor, the state and the times at once, in all nestings; blocks hold derivatives of exp(t (A + k B))."""
    x, v = np.array([0.7, 1.0, 2.0, 0.2, 1.1]), np.array([0.4, -0.3, 0.2, 0.5, -0.6])
    m, none = A + x[0] * B, np.zeros((2, 2))
    whole = expm((x[4] - x[3]) * np.block([[m, B, none], [none, m, B], [none, none, m]]))
    flow, once, twice = SEED @ whole[:2, :2], SEED @ whole[:2, 2:4], 2.0 * SEED @ whole[:2, 4:]
    timed = once @ m + flow @ B  # of k and the last time
    rows = [
        [twice @ x[1:3], *once, -timed @ x[1:3], timed @ x[1:3]],
        *([once[i], 0.0, 0.0, -(flow @ m)[i], (flow @ m)[i]] for i in range(2)),
    ]
    last = np.array([timed @ x[1:3], *(flow @ m), -flow @ m @ m @ x[1:3], flow @ m @ m @ x[1:3]])
    expected = np.array([*rows, -last, last]) @ v
    gradient, tangent = grad(turned), lambda x: jvp(turned, (x,), (v,))[1]
    assert grad(lambda x: v @ gradient(x))(x) == pytest.approx(expected, rel=1e-7)
    assert jvp(gradient, (x,), (v,))[1] == pytest.approx(expected, rel=1e-7)
    assert grad(tangent)(x) == pytest.approx(expected, rel=1e-7)
    assert jvp(tangent, (x,), (v,))[1] == pytest.approx(v @ expected, rel=1e-7)


def bent(x: Any) -> Any:
    return odeint(lambda y, t: -np.maximum(y - 0.5, 0.0) * x - 0.5, 1.0, TIMES, rtol=1e-11, atol=1e-11)[-1, 0]


def test_a_kink_is_none_but_at_second_order():
    """There the tangent's right-hand side jumps, at a time that has a derivative."""
    check_grads(bent, (0.7,), order=1)
    tangent = lambda x: jvp(bent, (x,), (1.0,))[1]  # noqa: E731 (differentiated as it stands)
    for second in (grad(grad(bent)), grad(tangent)):
        with pytest.raises(ArithmeticError, match=r"E5001 .* jumps at"):
            second(0.7)


def cubed(k: Any) -> Any:
    return odeint(lambda y, t: -k * y * y, 1.0, [0.0, 1.0], rtol=1e-10, atol=1e-10)[-1, 0]  # 1 / (1 + k)


def test_third_derivatives():
    """Forward mode has any order, and a reverse pass over it; a reverse pass over a reverse pass is the last one."""
    twice = lambda k: jvp(lambda s: jvp(cubed, (s,), (1.0,))[1], (k,), (1.0,))[1]  # noqa: E731 (as above)
    assert grad(twice)(1.0) == pytest.approx(-6.0 / 16.0, rel=1e-7)
    with pytest.raises(DifferentiationError, match="third derivative of a solution") as caught:
        grad(grad(grad(cubed)))(1.0)
    assert caught.value.code == "E5001"


def test_a_closure_that_goes_to_an_unknown_function_is_refused():
    """What it reads was taken to be constant: the gradient was zero."""
    with pytest.raises(DifferentiationError) as caught:
        grad(lambda k: np.apply_over_axes(lambda row, axis: k * row, np.eye(2), 0)[0, 0])(0.7)
    assert caught.value.code == "E5001"


MODEL = """import numpy as np
from scipy.integrate import odeint


def loss(theta, y0, t):
    def rhs(y, t):
        return theta[0] - theta[1] * y

    return np.sum(odeint(rhs, y0, t) ** 2)
"""


def test_standalone_text_runs_without_srcgrad(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    command = [sys.executable, "-m", "srcgrad", "dump", "model.py:loss", "--standalone", "--wrt", "theta"]
    text = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600).stdout
    assert "srcgrad." not in text
    space: dict[str, Any] = {}
    exec(compile(text, "model_grad.py", "exec"), space)
    scope: dict[str, Any] = {}
    exec(compile(MODEL, "model.py", "exec"), scope)
    theta, step = np.array([0.3, 0.7]), 1e-5
    sides = [scope["loss"](theta + s * np.array([0.0, step]), START, TIMES) for s in (1.0, -1.0)]
    assert space["loss_grad"](theta, START, TIMES)[1] == pytest.approx((sides[0] - sides[1]) / (2 * step), rel=1e-4)
