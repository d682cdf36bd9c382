"""Every operation that has a way with a leading axis, in its own forms; of the others a sample."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from srcgrad.backend.batched import leading_axis  # noqa: F401  it fills the table
from srcgrad.backend.batched.expressions import RULES
from srcgrad.core.errors import DifferentiationError
from tests.backend.batched.agree import check, floats
from tests.templates.rule_cases import cases, differentiable_rules, every

OWN = [rule for rule in differentiable_rules() if rule.op in RULES]
OTHERS = [rule for rule in differentiable_rules() if rule.op not in RULES]
SAMPLE = [rule for rule in OTHERS if every() or zlib.crc32(rule.name.encode()) % 24 == 0]


def agree(rule, mode: str, limit: int) -> int:
    """The number of cases in which all directions went in one run."""
    together = 0
    for case in cases(rule)[: None if every() else limit]:
        args = case.arguments()
        if not floats(args):
            continue
        try:
            made = check(case.function, args, mode)
        except (DifferentiationError, TypeError):  # what the rule refuses, it refuses one by one as well
            continue
        together += " at a time: " not in made.source
    return together


TOGETHER = (
    np.sum, np.mean, np.cumsum, np.flip, np.roll, np.diff, np.take, np.triu, np.tril, np.trace, np.diagonal, np.where,
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.concatenate, np.stack,
    np.hstack, np.vstack, np.matmul, np.dot, np.outer, np.linalg.solve, np.broadcast_to, np.repeat,
)  # fmt: skip


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("rule", OWN, ids=lambda rule: rule.name)
def test_own_ways(rule, mode: str) -> None:
    together = agree(rule, mode, 3)
    assert together or rule.op not in TOGETHER


@pytest.mark.parametrize("rule", SAMPLE, ids=lambda rule: rule.name)
def test_other_operations(rule) -> None:
    for mode in ("forward", "reverse"):
        agree(rule, mode, 2)
