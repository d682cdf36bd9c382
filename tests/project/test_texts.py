"""Generated texts are what they were: `tests/texts.txt` has the hash of each, which `make texts` writes."""

from __future__ import annotations

import pytest

from tests.texts import FILE, changes, kept, texts

EVERY = texts()
PARTS = 16  # so that the processes of a test run share the work


@pytest.mark.parametrize("part", range(PARTS))
def test_no_text_changes(part: int) -> None:
    known = kept()
    changed = changes(list(known)[part::PARTS], EVERY, known)
    assert not changed, "\n".join(
        [
            "texts that are not what they were, each with its hash before and now:",
            *changed,
            "python -m tests.texts NAME prints one, --against CHECKOUT compares it with another checkout;",
            f"if the new texts are right, `make texts` writes {FILE.name}, which is committed with the change",
        ]
    )


def test_a_change_is_named() -> None:
    name = next(iter(kept()))
    assert changes([name, "gone"], EVERY, {name: "another", "gone": "some"}) == [
        f"{name}: another -> {kept()[name]}",
        "gone: some -> no such program",
    ]
