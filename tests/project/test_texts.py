"""Generated texts are what they were: `tests/texts.txt` has the hash of each, which `make texts` writes.

And they do no arithmetic for its shape alone: `sum_to(g, a * b)` computes a product to look how long it is.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from srcgrad import DifferentiationError
from tests.texts import FILE, changes, kept, texts

EVERY = {name: replace(text, make=cache(text.make)) for name, text in texts().items()}
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
    found = {name: work for name in list(known)[part::PARTS] if (work := arithmetic_for_shapes(EVERY[name].make))}
    assert {name: work for name, work in found.items() if not name.startswith(STILL)} == {}


READ_FOR_SHAPE = {"sum_to": 1, "fit_to": 1, "check_seed": 1, "zeros_like": 0, "full_like": 0, "shape": 0, "count": 0}
STILL = (  # what becomes of the value is no sum to the shape of one operand, or operands may be wider than it is
    "corpus/21224/",
    "found/filtered_by_columns/",
    "found/rows_written_at_computed_places/",
    "found/shape_of_a_rebound_argument/",
    "golden/moments/",
    "language/arrays-updated-in-place-as-items-of-a-dict-and-a-list-that-alone-hold-them/",
    "language/else-of-a-test-with-a-walrus-leaves-the-outer-loop/",
    "language/items-of-a-dict-stored-while-a-loop-runs-over-its-keys/",
    "language/layers-enumerated/",
    "language/objects-that-helpers-make/",
    "language/variables-and-parameters-by-names-of-functions-of-Python",
    "ode_programs/ends_of_the_span/",
    "people/cavity/reverse/numba",
)


def arithmetic_for_shapes(make: Callable[[], str]) -> list[str]:
    """The calls of a text that look at the shape of arithmetic that stands in them; none of a text that is refused."""
    text = ""
    with contextlib.suppress(DifferentiationError):
        text = make()
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    places = [(call, READ_FOR_SHAPE.get(ast.unparse(call.func).rpartition(".")[2], 99)) for call in calls]
    read = [(call, part) for call, place in places for part in call.args[place : place + 1]]
    return [ast.unparse(call) for call, part in read if isinstance(part, ast.BinOp)]


def test_a_change_is_named() -> None:
    name = next(iter(kept()))
    assert changes([name, "gone"], EVERY, {name: "another", "gone": "some"}) == [
        f"{name}: another -> {kept()[name]}",
        "gone: some -> no such program",
    ]
