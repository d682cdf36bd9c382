"""The rule table's own calls, crossed with kinds of arguments: `python -m tests.crossed [NAME ...]`.

Each call gets its arguments as lists, as float32, without elements, and of rank 0. Where NumPy or SciPy takes
them, the value and its dtype have to be those of the plain call, and gradients have the form of their arguments;
or the call is refused by a code. What is neither is printed; the exit status tells whether there is any.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import vjp
from srcgrad.differences import tangent_like, vector
from srcgrad.errors import DifferentiationError
from tests.every_form import public
from tests.rule_cases import Case, cases


def single(a: Any) -> Any:
    """A float, or an array of floats, in single precision."""
    return np.asarray(a, np.float32)[()] if np.asarray(a).dtype == float else a


KINDS: dict[str, Callable[[Any], Any]] = {
    "list": lambda a: a.tolist() if isinstance(a, np.ndarray) else a,
    "float32": single,
    "rank 0": lambda a: np.array(np.ravel(a)[0]) if isinstance(a, np.ndarray) else a,
    "empty": lambda a: a[:0] if isinstance(a, np.ndarray) and a.ndim else a,
}


def fault(case: Case, kind: str) -> str:
    """What is wrong with a call for arguments of a kind; an empty string if nothing is."""
    args = tuple(KINDS[kind](a) for a in case.arguments())
    try:
        wanted = case.function(*args)
    except Exception:
        return ""
    floating = tuple(k for k, a in enumerate(args) if np.asarray(a).dtype.kind == "f")
    if not floating:
        return ""  # nothing to differentiate with respect to
    try:
        y, back = vjp(case.function, *args, wrt=floating)
        given = back(tangent_like(y, np.ones(vector(y).size)))
    except DifferentiationError:
        return ""
    except Exception as error:
        coded = re.match(r"E\d{4}|.*E50\d\d", str(error))
        return "" if coded else f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    if vector(y).size and not np.allclose(vector(y), vector(wanted), rtol=1e-4, atol=1e-5, equal_nan=True):
        return "another value"
    if isinstance(wanted, np.ndarray) and np.asarray(y).dtype != wanted.dtype:
        return f"a value of {np.asarray(y).dtype}, not {wanted.dtype}"
    alike = [np.shape(g) == np.shape(args[k]) for g, k in zip(given, floating, strict=True)]
    return "" if all(alike) else "a gradient of another shape"


def main(names: list[str]) -> int:
    """Cross the calls of the rules with these names, or of all; print what is wrong."""
    warnings.simplefilter("ignore")
    tally: Counter[str] = Counter()
    for rule in public():
        for case in cases(rule)[:2] if not names or rule.name in names else []:
            for kind in KINDS:
                wrong = fault(case, kind)
                tally["wrong" if wrong else "right, refused, or not taken"] += 1
                if wrong:
                    print(f"{kind:8} {case}: {wrong}", flush=True)
    print(dict(tally))
    return 1 if tally["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
