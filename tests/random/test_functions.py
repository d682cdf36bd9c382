"""Programs drawn at random are differentiated rightly, or refused with a code."""

from __future__ import annotations

import linecache

import numpy as np
from hypothesis import HealthCheck, assume, given, settings

from srcgrad import check_grads, source
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.finite_differences import vector
from tests.random.functions import arguments, define, programs


@settings(max_examples=40, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_right_or_refused(drawn) -> None:
    text, kinds, trips = drawn
    function = define(text, 0)
    args = arguments(kinds, trips, seed=len(text))
    with np.errstate(all="ignore"):
        value = vector(function(*args))
        assume(np.all(np.isfinite(value)) and np.all(np.abs(value) < 1e3))
        try:
            check_grads(function, args, order=1, directions=1, tolerance=1e-5)
            assert source(function, mode="vjp") == source(function, mode="vjp")
        except DifferentiationError as error:
            assert error.code in ("E5005", "E5010", "E5011"), str(error)  # syntax, writes, bindings
        finally:
            linecache.cache.pop(function.__code__.co_filename, None)
