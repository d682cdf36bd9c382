"""A sample of the calls of the rule table to second order in both modes; `make rules` checks them all."""

from __future__ import annotations

import json

import pytest

from tests.templates.every_form import GOAL, drawn, fault, main, public, reason, recorded
from tests.templates.rule_cases import cases
from tests.templates.rules_page import MEASURED

DRAWN = drawn(12)


@pytest.mark.parametrize("case", DRAWN, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_drawn_call(case):
    assert fault(case) == ""


def test_what_is_recorded_is_of_this_table(monkeypatch):
    """A tenth may come or go before `python -m tests.templates.every_form --write` has to run again."""
    monkeypatch.setenv("SRCGRAD_EVERY", "1")
    count = sum(len(cases(rule)) for rule in public())
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert abs(count - measured["calls"]) <= 0.1 * count
    assert len(measured["failed"]) <= (1.0 - GOAL) * measured["calls"]


def test_what_fails_is_recorded_with_its_reason():
    wrong = "function  order\nf  2  mirrors  jvp  0  inf  0.0e+00  result: float\n"
    found = json.loads(recorded(3, {"np.abs(x) ()": reason(wrong)}))
    assert found == {"calls": 3, "failed": {"np.abs(x) ()": "f 2 mirrors jvp 0 inf 0.0e+00 result: float"}}


def test_the_fraction_is_printed(capsys, monkeypatch):
    monkeypatch.setenv("SRCGRAD_EVERY", "")
    assert main(["np.sinh"]) == 0
    assert capsys.readouterr().out.endswith("calls pass: 100.00 %\n")
    assert GOAL == 0.99
