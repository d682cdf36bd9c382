"""Programs as people write them: arrays filled in loops, left early, passed to procedures that fill them."""

from __future__ import annotations

import numpy as np


def cholesky(a, b):
    """Log-determinant and solution of A x = b by an in-place Cholesky factorisation and two sweeps."""
    n = b.size
    low = np.zeros((n, n))
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s = s - low[j, k] ** 2
        low[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t -= low[i, k] * low[j, k]
            low[i, j] = t / low[j, j]
    x = b.copy()
    for i in range(n):
        for k in range(i):
            x[i] -= low[i, k] * x[k]
        x[i] /= low[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= low[k, i] * x[k]
        x[i] /= low[i, i]
    return np.sum(np.log(np.diag(low))) + np.sum(x * b)


def lower_upper(a, b):
    """Solution of A x = b by elimination in place, without pivoting."""
    u = a.copy()
    x = b.copy()
    n = b.size
    for k in range(n - 1):
        for i in range(k + 1, n):
            factor = u[i, k] / u[k, k]
            u[i, k:] -= factor * u[k, k:]
            x[i] -= factor * x[k]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - np.dot(u[i, i + 1 :], x[i + 1 :])) / u[i, i]
    return np.sum(x * x)


def gram_schmidt(a):
    """The triangular factor of A, columns made orthogonal one after the other."""
    q = a.copy()
    n = a.shape[1]
    r = np.zeros((n, n))
    for j in range(n):
        for i in range(j):
            r[i, j] = np.dot(q[:, i], q[:, j])
            q[:, j] = q[:, j] - r[i, j] * q[:, i]
        r[j, j] = np.sqrt(np.dot(q[:, j], q[:, j]))
        q[:, j] = q[:, j] / r[j, j]
    return np.sum(r * r[::-1]) + np.sum(q[0])


def durbin(r):
    """Solution of the Yule-Walker equations."""
    n = r.size
    y = np.zeros(n)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        s = r[k]
        for i in range(k):
            s += r[k - i - 1] * y[i]
        alpha = -s / beta
        z = np.zeros(n)
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        y[:k] = z[:k]
        y[k] = alpha
    return np.sum(y * y)


def heat(u, alpha, steps):
    """Two-dimensional heat equation, the boundary held."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += alpha * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    return np.sum(u * u)


def wave(u, c, steps):
    """One-dimensional wave equation with three time levels."""
    old = u.copy()
    now = u.copy()
    new = np.zeros_like(u)
    for _ in range(steps):
        new[1:-1] = 2.0 * now[1:-1] - old[1:-1] + c * c * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        old[:] = now
        now[:] = new
    return np.sum(now * now)


def thomas(low, diagonal, high, right):
    """Fills `right` with the solution of a tridiagonal system."""
    n = right.size
    c = np.zeros(n)
    c[0] = high[0] / diagonal[0]
    right[0] = right[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - low[i] * c[i - 1]
        c[i] = high[i] / m
        right[i] = (right[i] - low[i] * right[i - 1]) / m
    for i in range(n - 2, -1, -1):
        right[i] -= c[i] * right[i + 1]


def implicit_steps(u, k, steps):
    """Implicit diffusion: a tridiagonal system in each step, solved by a procedure."""
    n = u.size
    low = -k * np.ones(n)
    diagonal = (1.0 + 2.0 * k) * np.ones(n)
    for _ in range(steps):
        right = u * 1.0
        thomas(low, diagonal, low, right)
        u = right
    return np.sum(u * u)


def recursive_filter(image, decay):
    """A first-order filter along the rows, forth and back."""
    out = image.copy()
    width = image.shape[1]
    for j in range(1, width):
        out[:, j] = (1.0 - decay) * out[:, j] + decay * out[:, j - 1]
    for j in range(width - 2, -1, -1):
        out[:, j] = (1.0 - decay) * out[:, j] + decay * out[:, j + 1]
    return np.sum(out * out)


def floyd_warshall(weights):
    """Sum of all shortest paths."""
    d = weights.copy()
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = np.minimum(d[i, j], d[i, k] + d[k, j])
    return np.sum(d)


def convolution(image, kernel):
    """A valid convolution written as loops over the places of the window."""
    rows = image.shape[0] - kernel.shape[0] + 1
    columns = image.shape[1] - kernel.shape[1] + 1
    out = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            out[i, j] = np.sum(image[i : i + kernel.shape[0], j : j + kernel.shape[1]] * kernel)
    return np.sum(np.tanh(out))


def max_pool(image):
    """The greatest element of each window, found by looking at one after the other."""
    out = np.zeros((image.shape[0] // 2, image.shape[1] // 2))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            best = image[2 * i, 2 * j]
            for k in range(1, 4):
                value = image[2 * i + k // 2, 2 * j + k % 2]
                if value <= best:
                    continue
                best = value
            out[i, j] = best
    return np.sum(out**2)


def pressure(p, b, sweeps):
    """Fills `p` by sweeps of a Poisson solver."""
    for _ in range(sweeps):
        old = p.copy()
        p[1:-1, 1:-1] = 0.25 * (old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1] - b[1:-1, 1:-1])
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[-1, :] = 0.0


def cavity(u, v, nu, steps):
    """A driven cavity: velocities advanced with the pressure of a procedure."""
    u = u.copy()
    v = v.copy()
    p = np.zeros_like(u)
    b = np.zeros_like(u)
    for _ in range(steps):
        b[1:-1, 1:-1] = (u[1:-1, 2:] - u[1:-1, :-2]) + (v[2:, 1:-1] - v[:-2, 1:-1])
        pressure(p, b, 3)
        un = u.copy()
        vn = v.copy()
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - 0.1 * un[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - 0.5 * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * (un[1:-1, 2:] - 2.0 * un[1:-1, 1:-1] + un[1:-1, :-2])
        )
        v[1:-1, 1:-1] = vn[1:-1, 1:-1] - 0.5 * (p[2:, 1:-1] - p[:-2, 1:-1]) + nu * (vn[2:, 1:-1] - vn[:-2, 1:-1])
        u[-1, :] = 1.0
        u[0, :] = 0.0
        v[:, 0] = 0.0
    return np.sum(u * u) + np.sum(v * p)


def leapfrog(x, v, dt, steps):
    """Bodies that attract each other, forces pair by pair."""
    x = x.copy()
    v = v.copy()
    n = x.shape[0]
    for _ in range(steps):
        x += 0.5 * dt * v
        force = np.zeros_like(x)
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                d = x[j] - x[i]
                force[i] += d / (np.sum(d * d) + 0.1) ** 1.5
        v += dt * force
        x += 0.5 * dt * v
    return np.sum(x * v) + np.sum(v * v)


def kalman(observations, q, r):
    """Negative log-likelihood of a local level model."""
    n = observations.size
    mean = np.zeros(n + 1)
    variance = np.zeros(n + 1)
    variance[0] = 1.0
    total = 0.0
    for t in range(n):
        predicted = variance[t] + q
        spread = predicted + r
        gain = predicted / spread
        error = observations[t] - mean[t]
        total += 0.5 * (np.log(spread) + error * error / spread)
        mean[t + 1] = mean[t] + gain * error
        variance[t + 1] = (1.0 - gain) * predicted
    return total


def long_short(weights, inputs, size):
    """A recurrent cell with gates; all states kept in one array."""
    steps = inputs.shape[0]
    hidden = np.zeros((steps + 1, size))
    cell = np.zeros(size)
    for t in range(steps):
        joined = np.concatenate((hidden[t], inputs[t]))
        gates = weights @ joined
        keep = 1.0 / (1.0 + np.exp(-gates[:size]))
        write = 1.0 / (1.0 + np.exp(-gates[size : 2 * size]))
        cell = keep * cell + write * np.tanh(gates[2 * size :])
        hidden[t + 1] = np.tanh(cell)
    return np.sum(hidden * hidden)


def newton(x, tolerance):
    """A square root, iterated until it does not change."""
    y = x
    for _ in range(60):
        better = 0.5 * (y + x / y)
        if abs(better - y) < tolerance:
            break
        y = better
    return better


def first_above(x, bound):
    """The first element above a bound, or a substitute."""
    for i in range(x.size):
        if x[i] > bound:
            return x[i] ** 2
    return bound * np.sum(x)


def _draw(*shape):
    return np.random.default_rng(sum(shape)).uniform(-1.0, 1.0, shape)


_SPD = np.eye(4) * 3.0 + 0.3 * (_draw(4, 4) + _draw(4, 4).T)

PEOPLE = (
    (cholesky, (_SPD, _draw(4))),
    (lower_upper, (np.eye(4) * 3.0 + _draw(4, 4), _draw(4))),
    (gram_schmidt, (_draw(4, 3) + np.eye(4, 3),)),
    (durbin, (np.array([0.5, 0.2, 0.1, 0.05]),)),
    (heat, (_draw(5, 6), 0.2, 3)),
    (wave, (_draw(7), 0.6, 4)),
    (implicit_steps, (_draw(5), 0.3, 2)),
    (recursive_filter, (_draw(3, 5), 0.4)),
    (floyd_warshall, (1.0 + _draw(4, 4) ** 2,)),
    (convolution, (_draw(5, 5), _draw(2, 3))),
    (max_pool, (_draw(4, 6),)),
    (cavity, (_draw(5, 5), _draw(5, 5), 0.1, 2)),
    (leapfrog, (_draw(3, 2) * 2.0, _draw(3, 2), 0.1, 2)),
    (kalman, (_draw(5), 0.3, 0.7)),
    (long_short, (_draw(9, 5), _draw(4, 2), 3)),
    (newton, (2.3, 1e-9)),
    (first_above, (np.array([0.1, 0.5, 0.9]), 0.3)),
    (first_above, (np.array([0.1, 0.5, 0.9]), 2.0)),
)
