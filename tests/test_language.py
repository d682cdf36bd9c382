"""Each construct of the language is differentiated rightly, or refused with its code."""

from __future__ import annotations

import copy
import linecache
import sys
import types
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads, grad
from srcgrad.errors import DifferentiationError
from tests.language import NAMES, REFUSED, RIGHT, C, X


def made(name: str, text: str) -> tuple[Any, tuple[Any, ...]]:
    """The function of a program, and its arguments."""
    file = f"<language {name}>"
    text = text.strip("\n") + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    sys.modules.setdefault("language", types.ModuleType("language"))
    space: dict[str, Any] = dict(NAMES)
    exec(compile(text, file, "exec"), space)
    return space["f"], space.get("ARGS", (X.copy(), C))


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    f, args = made(name, RIGHT[name])
    before = copy.deepcopy(args)
    check_grads(f, args, order=1)
    for old, new in zip(before, args, strict=True):
        if isinstance(old, np.ndarray | float | list | dict):
            np.testing.assert_equal(new, old)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    code, text = REFUSED[name]
    f, args = made(name, text)
    with pytest.raises(DifferentiationError) as caught:
        grad(f)(*args)
    assert caught.value.code == code
