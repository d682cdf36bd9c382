"""A sample of the calls of the rule table to second order in both modes; `make rules` checks them all."""

from __future__ import annotations

import pytest

from tests.every_form import GOAL, drawn, fault, main

DRAWN = drawn(12)


@pytest.mark.parametrize("case", DRAWN, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_drawn_call(case):
    assert fault(case) == ""


def test_the_fraction_is_printed(capsys, monkeypatch):
    monkeypatch.setenv("SRCGRAD_EVERY", "")
    assert main(["np.sinh"]) == 0
    assert capsys.readouterr().out.endswith("calls pass: 100.00 %\n")
    assert GOAL == 0.99
