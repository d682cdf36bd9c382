"""What a loop reads in each trip, and does not bind, has an adjoint in its own shape, however it broadcasts there."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads

A, OBS = np.random.default_rng(0).standard_normal((3, 3)), np.random.default_rng(1).standard_normal((5, 4, 3))


def forward_algorithm(trans: Any, obs: Any) -> Any:
    a = 2.0 * trans
    alpha = obs[:, 0]
    for k in range(1, obs.shape[1]):
        alpha = np.sum(np.tanh(alpha[:, :, None] + a), axis=1) + obs[:, k]
    return np.sum(alpha)


def in_a_while(trans: Any, obs: Any) -> Any:
    a, k = np.sin(trans), 1
    alpha = obs[:, 0]
    while k < obs.shape[1]:
        alpha = np.sum(np.tanh(alpha[:, :, None] * a), axis=1)
        k += 1
    return np.sum(alpha * obs[:, 1])


def in_two_loops(trans: Any, obs: Any) -> Any:
    a, b = np.exp(0.1 * trans), trans - 1.0
    alpha = obs[:, 0]
    for _ in range(2):
        for k in range(1, 3):
            alpha = np.sum(np.tanh(alpha[:, :, None] - a + b * k), axis=1)
    return np.sum(alpha)


def of_a_sum(trans: Any, obs: Any) -> Any:
    total = np.sum(trans)
    alpha = obs[:, 0]
    for _ in range(3):
        alpha = np.tanh(alpha + total)
    return np.sum(alpha)


@pytest.mark.parametrize("program", [forward_algorithm, in_a_while, in_two_loops, of_a_sum])
def test_adjoints_of_what_loops_read(program: Callable[..., Any]) -> None:
    check_grads(program, (A, OBS), order=2)
