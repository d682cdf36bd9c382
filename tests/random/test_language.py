"""Programs drawn from Python's reference: a sample is right, and the judges and what shrinks programs do their work."""

from __future__ import annotations

import hashlib

import pytest

from srcgrad.core.errors import DifferentiationError, Place
from tests.random.judge import amiss, judged, refusal
from tests.random.language import outcome
from tests.random.program import program
from tests.random.shrink import shrunk

RIGHT = (
    1, 6, 8, 11, 12, 16, 17, 20, 22, 23, 25, 29, 31, 33, 34, 37, 38, 48, 49, 50, 55, 57, 60, 61, 64, 66, 69, 72, 73,
    78, 82, 84, 86, 89, 90, 92, 102, 103, 108, 109, 115, 116, 117, 118, 119, 121, 124, 125, 126, 128, 129, 130, 131,
    132, 133, 136, 137, 138, 139, 141,
)  # fmt: skip

HEAD = "import numpy as np\nimport srcgrad\nfrom srcgrad.rules import d\n\n\n"
ARGUMENTS = "\n\ndef arguments():\n    x0 = np.array([0.4, 0.7])\n    return x0, 0.8, 0.3\n"
WRONG_RULE = "def own(x):\n    return np.sin(x)\n\n\n"
WRONG_RULE += "@srcgrad.adjoint.elementwise(own)\ndef _(z, x):\n    d[x] = d[z] * 0.5\n\n\n"


@pytest.mark.parametrize("group", range(4))
def test_drawn_programs_are_right(group: int) -> None:
    for seed in RIGHT[group::4]:
        found = outcome(seed)
        assert found.verdict == "right", f"{found}\n{program(seed)}"


def test_a_seed_draws_the_same_program_everywhere() -> None:
    text = "".join(program(seed) for seed in range(200))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "cdb32eb19246247b"


def test_a_gradient_that_is_not_that_of_the_function_is_found() -> None:
    text = HEAD + WRONG_RULE + "def f(x, s, b):\n    return np.sum(own(x)) * s + b\n" + ARGUMENTS
    found = judged(text, 0)
    assert (found.verdict, found.judge) == ("wrong", "gradient")
    assert judged(text.replace("own(x)) *", "np.sin(x)) *"), 0).verdict == "right"


def test_an_error_of_the_generated_text_itself_is_a_crash() -> None:
    rule = WRONG_RULE.replace("d[z] * 0.5", "np.dot(d[z], np.ones(7))")
    found = judged(HEAD + rule + "def f(x, s, b):\n    return np.sum(own(x)) * s + b\n" + ARGUMENTS, 0)
    assert (found.verdict, found.judge) == ("crash", "reverse"), found


def test_a_kink_is_undecided() -> None:
    text = HEAD + "def f(x, s, b):\n    return np.sum(np.maximum(x, 0.4)) * s + b\n" + ARGUMENTS
    found = judged(text, 0)
    assert (found.verdict, found.undecided) == ("right", 1)


def test_a_program_that_fails_by_itself_is_no_finding() -> None:
    assert judged(HEAD + "def f(x, s, b):\n    return x[7]\n" + ARGUMENTS, 0).verdict == "skipped"
    assert judged(HEAD + "def f(x, s, b):\n    while True:\n        s += 1.0\n" + ARGUMENTS, 0).verdict == "skipped"


def test_a_fault_is_shown_by_its_smallest_program() -> None:
    text = (
        HEAD
        + WRONG_RULE
        + "def f(x, s, b):\n    a = b\n    for i in range(2):\n        a = a + own(x[0])\n    return a * s\n"
    )
    small = shrunk(text + ARGUMENTS, lambda one: judged(one, 0).judge == "gradient")
    assert "own(" in small and "for" not in small and small.count("\n") < 20


def test_a_text_that_fails_is_no_refusal() -> None:
    """What srcgrad calls its own error, and what names no line of the program, is a crash; a refusal names its line."""
    place = Place("f.py", 7, 4, "    y = x.f()", 5)
    text = "def f(x):\n    y = x.f()\n"
    assert amiss(DifferentiationError("E5005", "what", "how", place), text) == ""
    assert amiss(DifferentiationError("E5005", "what", "how", place), text.replace("y", "z")).startswith("another text")
    assert amiss(DifferentiationError("E5005", "what", "how"), text) == "no place is named"
    held = "the rule does not hold for these arguments: TypeError: 'Box' object does not support item assignment"
    assert refusal(DifferentiationError("E5006", held, "how", place), text).startswith("wrong: a text made here fails")


STARRED = (
    "b, *d = s\nd = x['w']\nreturn 1.0 + x['a'] + d",
    "*d, b = s\nt = sum(d)\nd = x['w']\nreturn t + x['a'] + d",
    "t = 0.0\nfor b, *d in [s, s * 2.0]:\n    t = t + d[0] * b\nd = x['w']\nreturn d + x['a'] + t",
    "b, *d = s\nd.append(b)\nt = sum(d)\nd = x['w']\nreturn t + d",
    "b, *d = s\nd[0] = d[0] * b\nt = d[0]\nd = x['w']\nreturn t + d",
    "b, *d = s\nd += [b * b, b]\nreturn d[2] * d[0] + sum(d)",
)


@pytest.mark.parametrize("lines", STARRED)
def test_a_name_that_gathered_a_rest_may_be_bound_to_a_number(lines: str) -> None:
    """A dumped text took it for a list from then on, and `+` for the joining of lists."""
    body = "".join(f"    {line}\n" for line in lines.split("\n"))
    text = HEAD + "def f(s, x):\n" + body + ARGUMENTS.replace("x0, 0.8, 0.3", "x0, {'a': 0.35, 'w': -0.6}")
    found = judged(text, 0)
    assert found.verdict == "right" and "dumped" in found.judged, found
