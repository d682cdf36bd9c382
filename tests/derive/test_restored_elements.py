"""Elements that a loop replaces come back where the backward half reads them, and only there."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

R = np.array([0.4, -0.3, 0.8, 1.1])
P = np.array([0.1, 0.2, 0.6])


def variances(params, r):
    omega, alpha, beta = params
    s = np.empty(len(r))
    s[0] = np.var(r)
    for t in range(1, len(r)):
        s[t] = omega + alpha * r[t - 1] ** 2 + beta * s[t - 1]
    return np.sum(np.log(s) + r**2 / s)


def replaced(params, r):
    omega, alpha, beta = params
    s = r.copy()
    for t in range(1, len(r)):
        s[t] = omega + alpha * s[t] ** 2 + beta * s[t - 1] ** 2
    return np.sum(s**2)


def ahead(params, r):
    omega, alpha, beta = params
    s = r.copy()
    for t in range(len(r) - 1):
        s[t] = omega + alpha * s[t + 1] ** 2 + beta
        s[t + 1] = s[t] * beta
    return np.sum(s**2)


@pytest.mark.parametrize(("function", "records"), [(variances, 0), (replaced, 1), (ahead, 2)])
def test_records(function, records: int) -> None:
    assert srcgrad.source(function, wrt=(0,)).count(".append(s[") == records
    srcgrad.check_grads(function, (P, R), 2, wrt=(0,))
