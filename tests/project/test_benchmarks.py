"""The workloads of benchmarks/: both derivatives are the same, and the generated text is as short as it was."""

import pytest

from benchmarks import page, plot, texts
from benchmarks.child import agree
from benchmarks.contenders import contenders, derivatives, generated
from benchmarks.workloads import WORKLOADS

SHORT = 1.15  # times the tokens of the hand-written derivative
LONGER = {  # not yet that short
    "mixture d=10 K=25 n=1k": 1.16,
    "bundle adjustment, 31,843 observations": 1.17,
    "hand tracking, 100 points": 1.56,
    "Black-Scholes 1e6, five Greeks": 2.07,
}
DECLARED = {"Black-Scholes 1e6, five Greeks": 1.68}  # the same where shapes are declared
DIFFERENT = {workload.function: workload for workload in reversed(WORKLOADS) if workload.mode != "hvp"}
CHOSEN = [*reversed(DIFFERENT.values()), *(workload for workload in WORKLOADS if workload.mode == "hvp")]
EACH = pytest.mark.parametrize("workload", CHOSEN, ids=lambda workload: workload.title)


@EACH
def test_the_generated_and_the_hand_written_derivative_agree(workload):
    calls = contenders(workload, workload.small(), ("hand", "text", "declared", "call", "blocks"))
    assert len(calls) == 3 + bool(workload.over) + bool(workload.shapes)
    agree(workload, calls)


def test_a_wrong_derivative_is_not_measured():
    workload = WORKLOADS[-1]
    calls = contenders(workload, workload.small(), ("hand",))
    right = derivatives(workload, calls["hand"]())
    with pytest.raises(AssertionError, match="wrong"):
        agree(workload, {**calls, "wrong": lambda: tuple(1.01 * array for array in right)})


@EACH
def test_the_generated_text_is_as_short_as_it_was(workload):
    ratio = texts.tokens(generated(workload)) / texts.tokens(workload.hand_text)
    assert ratio <= LONGER.get(workload.title, SHORT)
    if workload.shapes:
        declared = texts.tokens(generated(workload, declared=True)) / texts.tokens(workload.hand_text)
        assert declared <= DECLARED.get(workload.title, SHORT)


@EACH
def test_loops_keep_no_more_than_by_hand(workload):
    kept = {"recurrent": 3}  # more than by hand
    more = texts.records(generated(workload)) - texts.records(workload.hand_text)
    assert more <= kept.get(workload.function.__name__, 0)


def test_tokens_are_those_of_functions_without_comments_docstrings_and_layout():
    text = (
        'import numpy as np\n\n\ndef f(x: float) -> float:\n    """What."""\n    # why\n    return (x\n        + 1)\n'
    )
    assert texts.tokens(text) == texts.tokens("def f(x): return x + 1") == 10
    assert texts.lines(text) == 2


def test_the_plot_has_a_dot_for_each_contender_at_its_ratio():
    text = plot.plot([("chain", {"text": 1.0, "JAX jit": 10.0}), ("heat", {"text": 2.0})])
    assert text.count("<circle") == 5  # two in the legend
    assert ">chain<" in text and ">heat<" in text


def test_kernels_are_measured_where_a_text_has_some():
    by_title = {workload.title: workload for workload in WORKLOADS}
    chain, newton = by_title["tanh(a x + b) exp(-x x), 1e3"], by_title["Newton's square root"]
    calls = contenders(chain, chain.small(), ("hand", "kernels"))
    agree(chain, calls)
    assert list(calls) == ["hand", "kernels"]
    assert list(contenders(newton, newton.small(), ("hand", "kernels"))) == ["hand"]


def test_a_column_is_shown_when_it_was_measured():
    row = {"default": [{"times": {"hand": 1.0, "text": 1.0, "kernels": 0.5}}], "kept": [{"times": {"hand": 1.0}}]}
    assert page.measured([row]) == ["text", "kernels"]
    assert page.row_of_times(WORKLOADS[0], row, page.measured([row])).count("|") == 5
