"""The generated files of examples/ are what `srcgrad dump` gives now, and are right."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from examples.black_scholes import model_grad, price_grad_grad
from examples.generate import GENERATED, HERE, Generated
from srcgrad.interface.cli import main

_random = np.random.default_rng(0)
_SAMPLES = _random.standard_normal((7, 4))
_LABELS = np.eye(3)[[0, 2, 1, 1, 0, 2, 2]]
_POINTS = np.loadtxt(HERE / "mixture" / "data.txt")[:40]


def _draw(*shape):
    return 0.5 * _random.standard_normal(shape)


_OPTION = {"spot": 105.0, "strike": 100.0, "time": 0.7, "rate": 0.03, "volatility": 0.25}

_DIGITS = {"samples": _SAMPLES, "labels": _LABELS, "penalty": 0.01}
_FACTORS = {"birth": 1.1, "hunt": 0.4, "feed": 0.1, "death": 0.4}

ARGUMENTS = {
    "rosenbrock": {"x": _draw(6)},
    "layer": {"x": _draw(3, 4), "w": _draw(4), "b": _draw(3, 1), "n": 5},
    "logistic_regression": {"weights": _draw(4, 3), "bias": _draw(3), **_DIGITS},
    "network": {"w1": _draw(4, 5), "b1": _draw(5), "w2": _draw(5, 3), "b2": _draw(3), **_DIGITS},
    "mixture": {
        "logits": _draw(25),
        "means": 4.0 * _draw(25, 2),
        "log_scales": _draw(25, 2),
        "points": _POINTS,
    },
    "newton_sqrt": {"a": 7.0},
    "lotka_volterra": {"prey": 10.0, "predators": 5.0, **_FACTORS, "steps": 40, "h": 0.05},
    "black_scholes": _OPTION,
    "logistic_map": {"x": 0.4, "r": 3.2, "n": 20},
    "own_rule": {"loads": _draw(5), "k": 2.0},
}


def parts(file: Generated):
    """The primal and the derivative of a generated file, and the arguments of both."""
    folder = Path(file.target).parent.name
    source, name = Path(file.target).name.split(".py:")
    primal = getattr(importlib.import_module(f"examples.{folder}.{source}"), name)
    suffix = {"reverse": "grad", "value-and-grad": "value_and_grad"}[file.mode]
    made = importlib.import_module(f"examples.{folder}.{Path(file.output).stem}")
    return primal, getattr(made, f"{name}_{suffix}"), ARGUMENTS[folder]


def differences(primal, arguments, name):
    """Central differences of fourth order of a scalar function with respect to one argument."""
    value = np.asarray(arguments[name], dtype=float)
    found = np.empty(value.size)
    for k in range(value.size):
        step = 1e-3 * max(1.0, abs(value.flat[k]))  # truncation and rounding are both near 1e-12 here

        def along(distance, k=k, step=step):
            moved = value.copy()
            moved.flat[k] += distance * step
            return primal(**{**arguments, name: moved if value.ndim else float(moved)})

        found[k] = (8.0 * (along(1) - along(-1)) - (along(2) - along(-2))) / (12.0 * step)
    return found.reshape(value.shape)


@pytest.mark.parametrize("file", GENERATED, ids=lambda file: file.output)
def test_generated_text(file, tmp_path):
    """The file is what `srcgrad dump` writes."""
    written = tmp_path / "written.py"
    assert main(file.command(written)) == 0
    assert written.read_bytes() == (HERE / file.output).read_bytes()


@pytest.mark.parametrize("file", GENERATED, ids=lambda file: file.output)
def test_derivative(file):
    """The derivative agrees with finite differences of its primal, to what differences resolve."""
    primal, derivative, arguments = parts(file)
    result = derivative(**arguments)
    if file.mode == "value-and-grad":
        value, result = result
        assert value == primal(**arguments)
    names = file.wrt.split(",")
    for name, found in zip(names, result if len(names) > 1 else (result,), strict=True):
        expected = differences(primal, arguments, name)
        assert np.shape(found) == np.shape(arguments[name])
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8 * max(1.0, np.abs(expected).max()))


def test_greeks():
    """Delta, vega, theta, rho and gamma have the closed forms that textbooks give."""
    spot, strike, time, rate, volatility = _OPTION.values()
    spread = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / spread
    discounted = strike * np.exp(-rate * time)
    density = spot * norm.pdf(d1)
    expected = {
        "delta": norm.cdf(d1),
        "theta": density * volatility / (2.0 * np.sqrt(time)) + rate * discounted * norm.cdf(d1 - spread),
        "rho": time * discounted * norm.cdf(d1 - spread),
        "vega": density * np.sqrt(time),
        "gamma": norm.pdf(d1) / (spot * spread),
    }
    first = model_grad.price_grad(**_OPTION)
    gamma = price_grad_grad.price_grad_grad(**_OPTION)
    np.testing.assert_allclose([*first, gamma], list(expected.values()), rtol=1e-12)  # rounding only
