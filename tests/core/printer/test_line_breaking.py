"""Lines that are too long: each text is what black makes of it at 40 columns."""

from __future__ import annotations

import gast
import pytest

from srcgrad.core.printer import statement

WRAPPED = """\
x_bar = np.multiply(
    y_bar_of_loss, hidden_state
)
---
x_bar = np.where(
    condition > threshold,
    y_bar_of_loss * scale,
    np.zeros_like(y_bar),
)
---
x_bar = (
    first_term_of_it
    + second_term_of_it
    - third_term
)
---
x_bar = (
    first_term_of_it + second_term_of_it
)
---
x_bar[i] = (
    first_term_of_it[i] * second_term[i]
)
---
return (
    x_bar_of_first,
    w_bar_of_second,
    b_bar,
)
---
if (
    first_condition
    and second_condition
    and third
):
    pass
---
values = {
    "first": first_value,
    "second": second_value,
}
---
def gradient_of_it(
    first_argument, second_argument, x
):
    pass
---
def gradient_of_it(
    first_argument,
    second_argument,
    third_argument=1.0,
):
    pass
---
(
    first_adjoint,
    second_adjoint,
    third_adjoint,
) = pullback(y_bar)
---
from srcgrad.runtime import (
    scatter_add,
    sum_to,
)
---
x_bar = scale * np.multiply(
    y_bar_of_loss, hidden
)
---
total = [
    first_value * second_value
    for first_value in the_values
    if first_value
]
---
x_bar = (
    first_value_of_it
    if some_condition_holds
    else second_value
)
---
x_bar = (
    some_array_of_it.sum()
    .reshape(-1)
    .astype(float)
)
"""


@pytest.mark.parametrize("text", WRAPPED.rstrip("\n").split("\n---\n"))
def test_wrapped_as_black_does(text: str) -> None:
    assert "\n".join(statement(gast.parse(text).body[0], 0, 40)) == text


def test_what_cannot_be_broken_is_left_alone() -> None:
    text = f"x = {'y' * 60}"
    assert statement(gast.parse(text).body[0], 0, 40) == [text]


def test_hundreds_of_brackets_do_not_recurse_without_end() -> None:
    tree = gast.parse("y = x").body[0]
    for _ in range(300):
        call = gast.parse("np.sin(x)", mode="eval").body
        call.args = [tree.value]
        tree.value = call
    assert "".join(line.strip() for line in statement(tree)).count("np.sin(") == 300
