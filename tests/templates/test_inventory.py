"""What the table knows of the installed NumPy, its form for programs, and what is refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import jv
from scipy.special import jvp as jvp_of_bessel

from srcgrad import grad, jvp, stop_gradient
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.cli import main
from srcgrad.interface.show import rule_pages
from srcgrad.interface.show.rule_pages import known_rules


def test_a_name_that_the_table_lacks_is_printed(monkeypatch, capfd):
    monkeypatch.setattr(np, "brand_new", lambda x: x, raising=False)
    assert main(["rules", "--missing"]) == 1
    assert "np.brand_new\n" in capfd.readouterr().out


def test_json_has_every_rule(capfd):
    assert main(["rules", "--json"]) == 0
    rows = {row["op"]: row for row in json.loads(capfd.readouterr().out)}
    assert sorted(rows) == sorted(rule.name for rule in known_rules())
    tanh = rows["np.tanh"]
    assert (tanh["kind"], tanh["reverse"], tanh["forward"], tanh["second"]) == ("elementwise", True, True, True)
    assert tanh["opencl"] == "tanh(x)"
    assert tanh["domain"] == {"x": [-2.0, 2.0]}
    assert tanh["place"].startswith("templates/numpy/elementwise.py:")
    assert (rows["np.unique"]["kind"], rows["np.unique"]["reverse"], rows["np.unique"]["place"]) == (
        "refused",
        False,
        None,
    )


def test_the_place_is_the_line_of_the_rule():
    row = {row["op"]: row for row in json.loads(rule_pages.as_json())}["np.cosh"]
    file, _, line = row["place"].partition(":")
    text = (Path(__file__).parents[2] / "srcgrad" / file).read_text(encoding="utf-8").split("\n")
    assert "".join(text[int(line) - 1 :][:2]).replace(" ", "").startswith("@adjoint.elementwise(np.cosh")


def distinct(x: Any) -> Any:
    return np.sum(np.unique(x))


def bits(x: Any) -> Any:
    return np.sum(x.view(np.int64) * x)


@pytest.mark.parametrize(("f", "reason"), [(distinct, "depends on values"), (bits, "memory, not numbers")])
def test_what_is_refused_says_why(f, reason):
    for derivative in (grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(DifferentiationError, match=reason) as caught:
            derivative(np.array([1.0, 2.0]))
        assert caught.value.code == "E5001"


def test_what_is_refused_is_refused_as_a_whole_too():
    with pytest.raises(DifferentiationError, match=r"E5001.*np\.unique"):
        grad(np.unique)(np.ones(2))


def test_no_derivative_flows_where_the_user_says_so():
    def f(x):
        return np.sum(np.unique(stop_gradient(x))) * x[0]

    assert grad(f)(np.array([1.0, 2.0, 1.0])).tolist() == [3.0, 0.0, 0.0]


def test_every_reason_is_on_the_page():
    reasons = [rule.note for rule in known_rules() if rule.kind == "refused"]
    assert reasons and all(reasons)


def test_every_function_of_scipy_special_has_a_rule_or_a_reason():
    assert rule_pages.missing_callables("scipy.special") == []


def of_order(v: Any, x: Any) -> Any:
    return jv(2.0 * v, x)


def of_held_order(v: Any, x: Any) -> Any:
    return jv(stop_gradient(v), x)


def test_a_parameter_without_a_derivative_is_refused_where_one_would_flow():
    for derivative in (grad(of_order, wrt="v"), lambda v, x: jvp(of_order, (v, x), (1.0, 0.0))):
        with pytest.raises(
            DifferentiationError, match=r"has no derivative with respect to `v`: .*closed form"
        ) as caught:
            derivative(0.5, 2.0)
        assert caught.value.code == "E5001"
    assert grad(of_order, wrt="x")(0.5, 2.0) == jvp_of_bessel(1.0, 2.0)
    assert grad(of_held_order, wrt=("v", "x"))(0.5, 2.0) == (0.0, jvp_of_bessel(0.5, 2.0))


@pytest.mark.parametrize("space", ["numpy", "numpy.linalg", "numpy.fft", "numpy.ndarray", "numpy.ufunc"])
def test_every_name_of_the_installed_numpy_is_known(space: str) -> None:
    assert rule_pages.missing_callables(space) == []
