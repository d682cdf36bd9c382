"""The tests of a rule see a wrong line: a sample of the table, one rule of each kind and more."""

from __future__ import annotations

import pytest

from srcgrad.core.rules import Rule
from tests.templates.mutation import halved, main, mutants, survives, unsummed
from tests.templates.rule_cases import differentiable_rules

SAMPLE = ("np.multiply", "np.arctan2", "np.tanh", "np.sum", "np.max", "np.matmul", "np.linalg.solve")
CHOSEN = [rule for rule in differentiable_rules() if rule.name in SAMPLE]


@pytest.mark.parametrize("rule", CHOSEN, ids=[rule.name for rule in CHOSEN])
def test_every_mutant_is_seen(rule: Rule) -> None:
    found = mutants(rule)
    assert found
    assert [str(mutant) for mutant in found if survives(mutant)] == []


# Their lines hold for NumPy's functions as well, which have an argument `hermitian`: nothing else reads some of them.
ELSEWHERE = ("scipy.linalg.pinv", "scipy.linalg.svd")
HALVED = [rule for rule in differentiable_rules() if rule.name not in ELSEWHERE and halved(rule)]


@pytest.mark.parametrize("rule", HALVED, ids=[rule.name for rule in HALVED])
def test_a_triangle_that_is_dropped_is_seen(rule: Rule) -> None:
    """Among them the tangent of `cholesky` without its symmetric part."""
    assert [str(mutant) for mutant in halved(rule) if survives(mutant)] == []


# What `np.bincount` takes as weights is never broadcast: there the sum is a dtype.
UNSUMMED = [rule for rule in differentiable_rules() if rule.name != "np.bincount" and unsummed(rule)]


@pytest.mark.parametrize("rule", UNSUMMED, ids=[rule.name for rule in UNSUMMED])
@pytest.mark.filterwarnings("ignore")
def test_a_sum_over_what_was_broadcast_is_seen(rule: Rule) -> None:
    assert [str(mutant) for mutant in unsummed(rule) if survives(mutant)] == []


def test_the_sample_is_in_the_table() -> None:
    assert sorted(rule.name for rule in CHOSEN) == sorted(SAMPLE)


def test_the_command_tells_of_one_rule(capsys) -> None:
    assert main(["--only", "np.tanh"]) == 0
    assert capsys.readouterr().out.endswith(" mutants of 1 rules, 0 survive\n")
