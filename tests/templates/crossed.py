"""The rule table's own calls, crossed with kinds of arguments: `python -m tests.templates.crossed [NAME ...]`.

Each call gets its arguments as lists, as numbers, of rank 0, without elements, whole, in float32, and complex.
Where NumPy or SciPy takes them, value and derivatives agree with the plain call, with central differences and with
each other, and have the dtypes that NumPy gives; or the call is refused by a code. What is neither is printed; the exit
status tells whether there is any.
"""

from __future__ import annotations

import re
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcgrad import vjp
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.rules import Rule
from srcgrad.interface.check.check import check_report, table
from srcgrad.interface.check.finite_differences import is_float, parts, tangent_like, vector
from tests.templates.every_form import public
from tests.templates.rule_cases import Case, cases

CODED = re.compile(r"E\d{4} |[^\n]*\bE\d{4}\b")
SHARE = 8  # of how many rules each run of the tests crosses one
ROUNDING = 2e-3  # float32 has seven digits; a condition number of some thousands leaves three


def single(a: Any) -> Any:
    """A float, or an array of floats, in single precision."""
    return np.asarray(a, np.float32)[()] if np.asarray(a).dtype == float else a


def whole(a: Any) -> Any:
    """An array of floats rounded to integers."""
    return np.rint(a).astype(int) if isinstance(a, np.ndarray) and a.dtype == float else a


def turned(a: Any) -> Any:
    """An array of floats with imaginary parts."""
    return a + 0.1j * np.cos(a) if isinstance(a, np.ndarray) and a.dtype == float else a


def first(change: Callable[[Any], Any]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """The change of the first argument alone."""
    return lambda args: (change(args[0]), *args[1:])


def each(change: Callable[[Any], Any]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """The change of every argument."""
    return lambda args: tuple(map(change, args))


KINDS: dict[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]] = {
    "list": each(lambda a: a.tolist() if isinstance(a, np.ndarray) else a),
    "number": each(lambda a: np.ravel(a)[0].item() if isinstance(a, np.ndarray) else a),
    "rank 0": each(lambda a: np.array(np.ravel(a)[0]) if isinstance(a, np.ndarray) else a),
    "empty": each(lambda a: a[:0] if isinstance(a, np.ndarray) and a.ndim else a),
    "integer": first(whole),
    "float32": each(single),
    "complex": first(turned),
}


def fault(case: Case, kind: str) -> str:
    """What is wrong with a call for arguments of a kind; an empty string if nothing is."""
    args = KINDS[kind](case.arguments())
    try:
        wanted = case.function(*args)
    except Exception:  # NumPy, SciPy or Python refuse the call itself, in many ways
        return ""
    if not any(is_float(part) for _, part in parts(args)) or not vector(case.arguments()).size:
        return ""  # nothing to differentiate with respect to
    try:
        return _rounding(case, args, wanted) if kind == "float32" else _report(case, args, wanted)
    except DifferentiationError:
        return ""
    except Exception as error:  # a fault, whatever it is, but for those that a helper of the text has coded
        return "" if CODED.match(str(error)) else f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def _report(case: Case, args: tuple[Any, ...], wanted: Any) -> str:
    """What differences, pairing and the promises of a gradient say of the call."""
    if not np.all(np.isfinite(vector(wanted))):
        return _of_dtype(vjp(case.function, *args)[0], wanted)  # no difference is a number there
    bad = [record for record in check_report(case.function, args, 1, directions=1) if not record.passed]
    return table(bad).splitlines()[1] if bad else _of_dtype(vjp(case.function, *args)[0], wanted)


def _rounding(case: Case, args: tuple[Any, ...], wanted: Any) -> str:
    """Whether dtypes are those of NumPy, and the gradients those in float64 but for rounding."""
    y, back = vjp(case.function, *args)
    exact, back_exact = vjp(case.function, *case.arguments())
    given = vector(back(tangent_like(y, np.ones(vector(y).size))))
    due = vector(back_exact(tangent_like(exact, np.ones(vector(exact).size))))
    if given.shape == due.shape and not np.allclose(given, due, rtol=ROUNDING, atol=ROUNDING, equal_nan=True):
        return f"a gradient that is off by {np.max(np.abs(given - due)):.1e}"
    return _of_dtype(y, wanted)


def _of_dtype(y: Any, wanted: Any) -> str:
    """Whether a value has the dtype of the plain call's."""
    pairs = zip(parts(y), parts(wanted), strict=True)
    told = [f"a value of {a.dtype}, not {b.dtype}" for (_, a), (_, b) in pairs if _differ(a, b)]
    return told[0] if told else ""


def _differ(a: Any, b: Any) -> bool:
    return isinstance(b, np.ndarray | np.generic) and np.asarray(a).dtype != b.dtype


def drawn() -> list[Rule]:
    """The rules that each run of the tests crosses, chosen by their names."""
    return [rule for rule in public() if zlib.crc32(rule.name.encode()) % SHARE == 0]


def faults(rules: list[Rule]) -> Iterator[tuple[str, Case, str]]:
    """Every crossing of the first two calls of the rules, with what is wrong with it."""
    for rule in rules:
        for case in cases(rule)[:2]:
            for kind in KINDS:
                yield kind, case, fault(case, kind)


def main(names: list[str]) -> int:
    """Cross the calls of the rules with these names, or of all; print what is wrong."""
    warnings.simplefilter("ignore")
    tally: Counter[str] = Counter()
    for kind, case, wrong in faults([rule for rule in public() if not names or rule.name in names]):
        tally["wrong" if wrong else "right, refused, or not taken"] += 1
        if wrong:
            print(f"{kind:8} {case}: {wrong}", flush=True)
    print(dict(tally))
    return 1 if tally["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
