"""Ordinary programs have the derivatives that differences show, to second order, or the code of their refusal."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import DifferentiationError, check_grads
from tests.programs.everyday import EVERYDAY, REFUSED
from tests.programs.stars import angles, wave

NAMES = [f"{getattr(function, '__name__', 'vectorised')}-{k}" for k, (function, *_) in enumerate(EVERYDAY)]


@pytest.mark.parametrize(("function", "arguments", "words"), EVERYDAY, ids=NAMES)
def test_derivatives(function, arguments, words) -> None:
    code = REFUSED.get(getattr(function, "__name__", "vectorised"))
    if getattr(function, "__name__", "") in ("star_product", "star_after_one", "star_polynomial"):
        check_grads(lambda a, b, c: function(a, b, c), arguments, order=2)  # positions are those of parameters
    elif code is None:
        check_grads(function, arguments, order=2, kwargs=words)
    if code is None:
        return
    with pytest.raises(DifferentiationError) as found:
        check_grads(function, arguments, order=2, kwargs=words)
    assert found.value.code == code


def test_names_of_a_star_import() -> None:
    check_grads(angles, (0.7,), order=2)
    check_grads(wave, (np.array([0.3, 0.5]), 2.0), order=2)
