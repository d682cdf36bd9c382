"""Elementwise rules over the whole range of their arguments: `python -m tests.templates.ranges [NAME ...]`.

The domain of a rule is where its other tests draw from, and often narrow. Here each argument takes values of every
size and sign, whole ones and halves among them. Where the operation is finite around such a point, and central
differences at two steps agree with each other, the derivative has to agree with them, in both modes, or is refused.
What does not is printed; the exit status tells whether there is any. A nan where no formula holds says so itself.
"""

from __future__ import annotations

import itertools
import sys
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import jvp, vjp
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.rules import Rule
from tests.templates.every_form import public
from tests.templates.rule_cases import Case, cases, knows_floats_only

VALUES = (-41.3, -7.5, -3.0, -2.3, -1.0, -0.7, -0.24, 0.13, 0.5, 0.91, 1.0, 1.6, 2.0, 3.7, 9.2, 60.4)
FEW = (-7.5, -2.0, -0.7, 0.24, 0.91, 1.0, 2.3, 11.0)  # for three arguments and more
STEPS = (1e-3, 1e-4, 1e-5, 1e-6)  # relative ones
AGREE = 1e-5  # of two steps with each other: truncation and rounding are below it then
OFF = 1e-3  # of a derivative: a hundred times what two steps leave open
# SciPy's own values are off beyond 30: its derivative there by differences is 3.9, and |H0| is below 0.2.
THEIRS = ("scipy.special.itstruve0",)
SHARE = 6  # of how many rules each run of the tests takes one
Function = Callable[..., Any]


def points(count: int) -> tuple[np.ndarray, ...]:
    """All combinations of values, moved a little from each other, so that no two arguments are equal."""
    each = VALUES if count < 3 else FEW if count < 4 else FEW[1::2]
    whole = np.array(list(itertools.product(each, repeat=count))).T
    return tuple(row * (1.0 + 1e-2 * k) if k else row.copy() for k, row in enumerate(whole))


def difference(f: Function, args: tuple[np.ndarray, ...], place: int) -> np.ndarray:
    """The derivative along one argument where two steps agree on it and the value is finite; nan elsewhere."""
    found = []
    for step in STEPS:
        size = step * np.clip(np.abs(args[place]), 1e-2, 1.0)
        ahead, behind = (f(*[a + s * size if k == place else a for k, a in enumerate(args)]) for s in (1.0, -1.0))
        wide, narrow = (f(*[a + s * size if k == place else a for k, a in enumerate(args)]) for s in (0.5, -0.5))
        found.append(((ahead - behind) / (2.0 * size), (wide - narrow) / size, np.abs(ahead) + np.abs(behind), size))
    made = np.full(np.shape(args[place]), np.nan)
    for outer, inner, value, size in found:
        noise = 1e-12 * value / size  # values of special functions have some twelve digits
        sure = np.abs(outer - inner) <= AGREE * np.abs(inner) + noise
        sure &= noise <= AGREE * np.abs(inner) + 1e-9 * (value < 1e3)
        made = np.where(np.isnan(made) & sure & np.isfinite(inner), inner, made)
    return made


def faults(case: Case) -> list[str]:
    """Where the derivatives of a case are not those of differences."""
    count = len(case.shapes)
    if None in case.domains:
        return []
    args = points(count)
    try:
        same = np.shape(case.function(*args)) == np.shape(args[0])
    except (TypeError, ValueError):
        same = False  # an array stands in the call, of another length
    if not same:
        return []
    try:
        y, back = vjp(case.function, *args)
    except DifferentiationError:
        return []
    dues = [difference(case.function, args, place) for place in range(count)]
    y_dot = jvp(case.function, args, tuple(np.ones_like(a) for a in args))[1]
    pairs = zip(back(np.ones_like(y)), dues, map(str, range(count)), strict=True)
    looked = [(made, np.real(due), np.abs(due), place) for made, due, place in pairs]  # of real arguments, seeds of one
    looked.append((y_dot, sum(dues), sum(map(np.abs, dues)), "all"))
    found = []
    for made, due, size, place in looked:
        off = np.abs(made - due) > OFF * (size + 1e-6)
        off |= np.isfinite(y) & np.isinf(made)
        for at in np.flatnonzero(off & np.isfinite(due))[:3]:
            where = ", ".join(f"{a[at]:.6g}" for a in args)
            found.append(f"with respect to {place} at ({where}): {made[at]:.6g}, not {due[at]:.6g}")
    return found


def ranged(rule: Rule) -> list[Case]:
    """The cases of an elementwise rule that take arrays of any values: one, or each form where not all vary."""
    if rule.kind != "elementwise" or knows_floats_only(rule) or rule.name in THEIRS:
        return []
    found = [case for case in cases(rule) if all(shape is not None for shape in case.shapes)]
    return found[:4] if rule.refuses else found[:1]


def drawn() -> list[Rule]:
    """The rules that each run of the tests looks at, chosen by their names."""
    return [rule for rule in public() if zlib.crc32(rule.name.encode()) % SHARE == 1]


def main(names: list[str]) -> int:
    """Look at the rules with these names, or at all; print what is wrong."""
    warnings.simplefilter("ignore")
    looked = [case for rule in public() if not names or rule.name in names for case in ranged(rule)]
    found = [f"{case.call}: {one}" for case in looked for one in faults(case)]
    print(*found, f"{len(looked)} calls, {len(found)} faults", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main(sys.argv[1:]))
