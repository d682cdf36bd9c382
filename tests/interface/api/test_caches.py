"""A derivative is made once for arguments of one kind, and anew when what it came from changes."""

from __future__ import annotations

import importlib.util
import json

import numpy as np
import pytest

import srcgrad
from srcgrad import adjoint, grad
from srcgrad.core.rules import d
from srcgrad.interface.cli import main

X = np.array([1.0, 2.0])


def cubes(x):
    return np.sum(x**3)


@pytest.fixture
def made(monkeypatch):
    """How many texts have been made."""
    counts = []
    load = srcgrad.core.target.load

    def counted(*args, **options):
        counts.append(args[1])
        return load(*args, **options)

    monkeypatch.setattr(srcgrad.core.target, "load", counted)
    return counts


def test_capability_2_18_made_once_called_many_times(made):
    slope = grad(cubes)
    assert made == []
    for scale in range(5):
        assert np.allclose(slope(X * scale), 3.0 * (X * scale) ** 2, rtol=1e-15)
    assert len(made) == 1
    slope(2.0)
    slope(X + 1.0)
    slope(3.0)
    assert len(made) == 2  # one for arrays of one axis, one for numbers


def test_capability_2_18_each_mode_and_each_choice_of_parameters_has_its_own(made):
    def f(x, y):
        return np.sum(x * y)

    for wrt in ("x", "y", ("x", "y")):
        slope = grad(f, wrt)
        slope(X, X)
        slope(X, X)
    assert len(made) == 3


def halved(x):
    return x / 2.0


def of_halved(x):
    return np.sum(halved(x))


def test_capability_2_18_a_changed_rule_makes_it_anew(made):
    def register(factor):
        text = f"def rule(z, x):\n    d[x] = d[z] * {factor}\n"
        space = {"d": d, "__name__": "rules_of_a_notebook"}
        name = f"<rule {factor}>"
        import linecache

        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), space)
        adjoint.elementwise(halved)(space["rule"])

    register(0.5)
    slope = grad(of_halved)
    assert slope(X).tolist() == [0.5, 0.5]
    register(7.0)
    assert slope(X).tolist() == [7.0, 7.0]
    assert len(made) == 2


def test_capability_2_39_a_dump_is_a_module_that_runs(tmp_path, capsys):
    path, out = tmp_path / "model.py", tmp_path / "model_grad.py"
    path.write_text("import numpy as np\n\n\ndef cubes(x):\n    return np.sum(x**3)\n")
    assert main(["dump", str(path), "-o", str(out)]) == 0
    spec = importlib.util.spec_from_file_location("model_grad", out)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.cubes_grad(X).tolist() == grad(cubes)(X).tolist()
    assert main(["trace", f"{path}:cubes", "--args", "np.ones(2)", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [row["operation"] for row in made["rows"]] == ["argument", "np.power", "np.sum"]
    assert main(["explain", f"{path}:cubes", "--json"]) == 0
    assert [line["active"] for line in json.loads(capsys.readouterr().out)["lines"]] == [True]


def test_capability_2_39_the_source_is_the_text_that_runs():
    slope = grad(cubes)
    space: dict[str, object] = {}
    exec(slope.source, space)
    assert space["cubes_grad"](X).tolist() == slope(X).tolist()
