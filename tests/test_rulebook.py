"""The rule table as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from srcgrad.errors import DifferentiationError
from srcgrad.rulebook import entry, known, page

PAGE = Path(__file__).resolve().parent.parent / "docs" / "rules.md"


def test_page_is_generated():
    """`srcgrad rules --markdown > docs/rules.md` mends it."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_rule_is_on_the_page():
    text = page()
    assert [rule.name for rule in known() if f"`{rule.name}`" not in text] == []


@pytest.mark.parametrize("name", ["np.multiply", "numpy.multiply", "multiply", "operator.mul"])
def test_entry_by_any_name(name):
    assert entry(name).startswith("np.multiply: elementwise\n\nreverse:\n")


def test_entry_shows_pinned_values():
    assert "at 0: gradient 0\n" in entry("np.abs")


def test_unknown_operation():
    with pytest.raises(DifferentiationError, match=r"did you mean .*np\.sum") as caught:
        entry("np.smu")
    assert caught.value.code == "E5003"
