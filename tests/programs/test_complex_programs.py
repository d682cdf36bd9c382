"""Programs with complex values: differences and pairing, both modes, both orders."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads
from tests.programs.complex_programs import FIRST_ORDER, PROGRAMS


def _named(program: Any) -> str:
    return str(program[0].__name__)


@pytest.mark.parametrize("program", PROGRAMS, ids=_named)
def test_both_orders(program: Any) -> None:
    function, args = program
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        check_grads(function, args, directions=1)


@pytest.mark.parametrize("program", FIRST_ORDER, ids=_named)
def test_first_order(program: Any) -> None:
    function, args = program
    check_grads(function, args, order=1)
