"""Every rule that takes complex numbers: all its forms at complex arguments, and at complex and real ones together."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from srcgrad.core.rules import Rule
from srcgrad.interface.check.check import MODES, check_report, table
from tests.templates.rule_cases import Case, cases, differentiable_rules, every, representative_cases

RULES = [rule for rule in differentiable_rules() if rule.complex and not rule.name.startswith("srcgrad.")]
PADDED = ("'maximum'", "'minimum'", "'median'", "end_values=y", "constant_values=y")
REAL = ("math.", "np.fabs", "rfft", "ihfft", *PADDED)  # of real arguments only: NumPy, or a rule, raises for others
ORDER = ("> 0.", "> y", "argsort")
BASES = ("'complete'",)  # of functions that depend on which columns are added: tests/templates/test_complex_matrices.py
HERMITIAN = ("np.linalg.eigh", "np.linalg.eigvalsh", "np.linalg.cholesky", "np.linalg.pinv")
FIRST_ORDER = ("np.linalg.norm", "np.linalg.vector_norm", "np.linalg.matrix_norm", "np.linalg.svdvals")


def _complex(value: Any, generator: np.random.Generator) -> Any:
    turned = value + 1j * generator.uniform(0.2, 0.9, np.shape(value))
    return turned if isinstance(value, np.ndarray) else complex(turned)


def _hermitian(call: str) -> str:
    """A call of a symmetric matrix as one of a Hermitian one."""
    for turned in ("x.T", "x.mT", "np.matrix_transpose(x)"):
        call = call.replace(
            turned, turned.replace("x", "np.conj(x)", 1) if "(x)" not in turned else f"np.conj({turned})"
        )
    return call


def drawn(rule: Rule) -> bool:
    """Half of the rules at second order; `make rules` looks at all."""
    return every() or zlib.crc32(rule.name.encode()) % 2 == 0


def _floating(args: tuple[Any, ...]) -> list[int]:
    return [k for k, a in enumerate(args) if not isinstance(a, bool) and np.asarray(a).dtype.kind == "f"]


def _calls(rule: Rule, order: int) -> Iterator[tuple[Case, tuple[Any, ...]]]:
    """The calls of a rule, once with all arguments complex, and once with each of them alone."""
    found = cases(rule) if order == 1 else representative_cases(rule)
    step = 3 if rule.kind == "elementwise" and order == 1 else 1  # of shapes that broadcast, not all
    chosen = found[::step] if order == 1 else [*found[:1], *found[-1:]]
    chosen = [case for case in chosen if order == 1 or rule.name not in FIRST_ORDER]
    for case in chosen:
        if rule.name in HERMITIAN:
            case = replace(case, call=_hermitian(case.call))
        if any(word in case.call and "irfft" not in case.call for word in REAL) or any(
            o in case.call for o in (*ORDER, *BASES)
        ):
            continue
        args = case.arguments()
        floats = _floating(args)
        for turned in [floats, *([k] for k in floats if order == 1 and len(floats) > 1)]:
            generator = np.random.default_rng(1)
            yield case, tuple(_complex(a, generator) if k in turned else a for k, a in enumerate(args))


@pytest.mark.parametrize(
    ("rule", "order"),
    [pytest.param(r, k, id=f"{r.name}-{k}") for r in RULES for k in (1, 2) if k == 1 or drawn(r)],
)
def test_complex_arguments(rule: Rule, order: int) -> None:
    """First order in both modes; second order in all nestings of the first call, reverse over reverse of the last."""
    failed = []
    for place, (case, args) in enumerate(_calls(rule, order)):
        modes = ("reverse",) if place and order == 2 else MODES
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)  # a conversion to floats warns
            records = check_report(case.function, args, order, modes, directions=1, since=order)
        failed += [f"{case}\n{table(bad)}" for bad in [[r for r in records if not r.passed]] if bad]
    assert failed == []
