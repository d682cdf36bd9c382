"""What is asked of a text beside its mode: a leading axis for all directions, and what it needs to be known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any  # arguments are arbitrary objects

import numpy as np

from srcgrad.facts import Kind


@dataclass(frozen=True)
class Leading:
    """Whether tangents, or adjoints, have a leading axis: one entry for each direction.

    `remark` is a sentence for the docstring, `output` what the output is, where that is known from running the text.
    With `regroup`, products may be in another order; `fewer` are arguments that are indices of rows, each with the
    axes of others that are of one length, and have at least as many rows as it has entries.
    """

    axis: bool = False
    remark: str = ""
    output: Kind | None = None
    regroup: bool = False
    fewer: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()


ALONE = Leading()
MANY = Leading(True)


def fewer(values: dict[str, Any], wrt: tuple[str, ...]) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Arguments that are indices of rows, each with axes of one length that are no shorter than it has entries.

    >>> fewer({"x": np.ones(3), "table": np.ones((9, 2)), "other": np.ones((2, 9)), "rows": np.array([4, 4])}, ("x",))
    (('rows', (('table', 0), ('other', 1))), ('rows', (('table', 1), ('other', 0))))
    """
    arrays = {name: value for name, value in values.items() if type(value) is np.ndarray and name not in wrt}
    found = []
    for name, value in arrays.items():
        if value.ndim == 1 and value.dtype.kind in "iu":
            lengths: dict[int, list[tuple[str, int]]] = {}
            for other, whole in arrays.items():
                for axis, length in enumerate(whole.shape):
                    if other != name and whole.ndim > 1 and length >= max(value.size, 2):
                        lengths.setdefault(length, []).append((other, axis))
            found += [(name, tuple(axes)) for axes in lengths.values()]
    return tuple(found)
