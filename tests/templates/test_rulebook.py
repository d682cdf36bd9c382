"""The rule table as text."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest
from scipy import linalg

from srcgrad import grad
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.rules import check_lines
from srcgrad.interface.show.rule_pages import entry, is_method, known_rules
from tests.templates.rules_page import DOCUMENT, page


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="the page has the names of NumPy 2.4")
def test_page_is_generated():
    """`python -m tests.templates.rules_page --write` mends it."""
    assert DOCUMENT.read_text(encoding="utf-8") == page()


def test_every_rule_is_on_the_page():
    text = page()
    listed = [rule for rule in known_rules() if rule.kind not in ("constant", "refused") or not is_method(rule)]
    assert [rule.name for rule in listed if f"`{rule.name}`" not in text] == []


def test_every_rule_is_well_formed():
    """Those of users are checked when they are registered, which for ours would take half a second of each program."""
    for rule in known_rules():
        check_lines(rule)


def test_a_default_is_a_value_that_the_rule_knows():
    """`expm_frechet` gives two matrices if nothing is said, and its rule holds for one: it took the call for that."""
    for rule in known_rules():
        if rule.literals and rule.definition is not None:
            mine = inspect.signature(rule.definition).parameters
            for one in rule.literals.keys() & mine.keys():
                assert mine[one].default in (*rule.literals[one], inspect.Parameter.empty), rule.name
    with pytest.raises(DifferentiationError, match="a call without `compute_expm`"):
        grad(lambda x: np.sum(linalg.expm_frechet(x, x)[0]))(np.eye(2))


@pytest.mark.parametrize("name", ["np.multiply", "numpy.multiply", "multiply", "operator.mul"])
def test_entry_by_any_name(name):
    assert entry(name).startswith("np.multiply: elementwise\n\nreverse:\n")


def test_entry_shows_pinned_values():
    assert "at 0: gradient 0\n" in entry("np.abs")


def test_unknown_operation():
    with pytest.raises(DifferentiationError, match=r"did you mean .*np\.sum") as caught:
        entry("np.smu")
    assert caught.value.code == "E5003"


ON_REQUEST = """\
import math
import sys

import srcgrad
from scipy.linalg import inv


def linear(a):
    return inv(a)[0, 0]


def log_gamma(x):
    return math.lgamma(x)


for f in (linear, log_gamma):
    srcgrad.source(f)
    print(*[name for name in ("scipy.linalg", "scipy.special") if f"srcgrad.templates.{name}" in sys.modules])
"""


def test_families_of_scipy_are_loaded_on_request(tmp_path):
    """A function of a SciPy package brings the rules of that package and of no other."""
    program = tmp_path / "program.py"
    program.write_text(ON_REQUEST)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "scipy.linalg\nscipy.linalg scipy.special\n"
