"""Programs as people write them have the derivatives that differences show."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import check_grads
from tests.programs.people import PEOPLE

IDS = [f"{function.__name__}-{number}" for number, (function, _) in enumerate(PEOPLE)]
SECOND = {"cholesky", "durbin", "heat", "implicit_steps", "kalman", "wave"}


@pytest.mark.parametrize(("function", "arguments"), PEOPLE, ids=IDS)
def test_derivatives(function, arguments) -> None:
    before = [np.copy(argument) for argument in arguments]
    check_grads(function, arguments, order=2 if function.__name__ in SECOND else 1)
    for old, new in zip(before, arguments, strict=True):
        np.testing.assert_array_equal(old, new)
