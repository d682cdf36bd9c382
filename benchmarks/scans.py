"""Loops in the form that JAX compiles: what its users have to write in the place of `for` and `while`."""

from __future__ import annotations

from typing import Any  # arrays of JAX

from benchmarks.workload import Workload
from benchmarks.workloads import lstm, scalars, tracking


def fixed(workload: Workload, args: tuple[Any, ...]) -> tuple[int, ...]:
    """Arguments that are constants of the compiled program: what a branch or the number of trips depends on."""
    return (1, 8) if workload.function.__name__ == "tracking" else ()


def newton(a: Any) -> Any:
    """Newton's square root."""
    import jax

    return jax.lax.while_loop(lambda x: abs(x * x - a) > 1e-12 * a, lambda x: 0.5 * (x + a / x), a)


def logistic(x: Any, r: Any, n: int) -> Any:
    """The logistic map."""
    import jax

    def step(state: Any, _: Any) -> Any:
        x, s = state
        x = r * x * (1.0 - x)
        return (x, s + x), None

    return jax.lax.scan(step, (x, 0.0 * x), None, length=n)[0][1]


def predators(x: Any, y: Any, a: Any, b: Any, g: Any, d: Any, n: int, h: Any) -> Any:
    """Lotka and Volterra's equations."""
    import jax

    def step(state: Any, _: Any) -> Any:
        x, y = state
        k1x, k1y = scalars.rates(x, y, a, b, g, d)
        k2x, k2y = scalars.rates(x + 0.5 * h * k1x, y + 0.5 * h * k1y, a, b, g, d)
        k3x, k3y = scalars.rates(x + 0.5 * h * k2x, y + 0.5 * h * k2y, a, b, g, d)
        k4x, k4y = scalars.rates(x + h * k3x, y + h * k3y, a, b, g, d)
        x = x + h / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y = y + h / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
        return (x, y), None

    x, y = jax.lax.scan(step, (x, y), None, length=n)[0]
    return x + y


def heat(u0: Any, alpha: Any, n: int) -> Any:
    """The heat equation."""
    import jax

    def step(u: Any, _: Any) -> Any:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].add(alpha * around), None

    u = jax.lax.scan(step, u0, None, length=n)[0]
    return jax.numpy.sum(u * u)


def recurrent(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    """Long short-term memory."""
    import jax

    from benchmarks.peers import rebuilt

    cell = rebuilt(lstm.cell, {"np": jax.numpy})

    def step(carried: Any, pair: Any) -> Any:
        hidden, memory, hidden_2, memory_2 = carried
        now, gold = pair
        hidden, memory = cell(main[0], main[1], hidden, memory, now * extra[0])
        hidden_2, memory_2 = cell(main[2], main[3], hidden_2, memory_2, hidden)
        guess = hidden_2 * extra[1] + extra[2]
        loss = jax.numpy.sum(gold * (guess - jax.numpy.log(jax.numpy.sum(jax.numpy.exp(guess)) + 2.0)))
        return (hidden, memory, hidden_2, memory_2), loss

    losses = jax.lax.scan(step, tuple(state), (sequence[:-1], sequence[1:]))[1]
    return -jax.numpy.sum(losses) / (sequence.shape[1] * (sequence.shape[0] - 1))


def turned(theta: Any, *rest: Any) -> Any:
    """Hand tracking, without the branch for an angle of nothing."""
    import jax

    from benchmarks.peers import rebuilt

    def about_axis(v: Any) -> Any:
        angle = jax.numpy.sqrt(jax.numpy.sum(v * v))
        return rotation(v / angle, angle)

    rotation = rebuilt(tracking.rotation, {"np": jax.numpy})
    return rebuilt(tracking.tracking, {"np": jax.numpy, "about_axis": about_axis})(theta, *rest)


FORMS: dict[str, Any] = {
    "newton": newton,
    "logistic": logistic,
    "predators": predators,
    "heat": heat,
    "recurrent": recurrent,
    "tracking": turned,
}
