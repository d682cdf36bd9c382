"""What programs with checkpointed loops are tested with: arguments, and each program with its marker and without."""

from __future__ import annotations

import itertools
import linecache
import re
from typing import Any  # programs take and return arrays and numbers

import numpy as np

_random = np.random.default_rng(0)
X = _random.standard_normal(4)
MATRIX = _random.standard_normal((4, 4))
ROWS = _random.standard_normal((7, 4))
WEIGHTS = _random.standard_normal(7)
_number = itertools.count()


def program(text: str, marked: bool) -> Any:
    """The function `f` of a text in which `LOOP(range(n), slots=s)` is the marked header, or `range(n)` alone."""
    text = text.replace("LOOP(", "srcgrad.checkpointed(") if marked else re.sub(_MARK, r"\1", text)
    label = f"<checkpointed {next(_number)}>"
    whole = f"import numpy as np\nimport srcgrad\n{text}"
    linecache.cache[label] = (len(whole), None, whole.splitlines(True), label)
    space: dict[str, Any] = {"__name__": "checkpointed"}
    exec(compile(whole, label, "exec"), space)
    return space["f"]


_MARK = r"LOOP\((.*?)(?:, slots=\w+)?\)(?= *:)"


def copies(args: tuple[Any, ...]) -> list[Any]:
    """The arguments, arrays copied."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def floats(args: tuple[Any, ...]) -> tuple[int, ...]:
    """Places of the arguments that can be differentiated."""
    return tuple(k for k, a in enumerate(args) if isinstance(a, float | np.ndarray))
