"""`srcgrad.explain` and `.saved`: what a derivative does in each line, and what it keeps."""

from __future__ import annotations

import inspect
import json

import numpy as np

import srcgrad
from srcgrad import explain, grad
from srcgrad.interface.cli import main
from srcgrad.rules import d


def hidden(x, w, v):
    a = x @ w
    h = np.maximum(a, 0.0)
    return np.sum(h @ v)


def loop(x, n):
    s = 0.0
    for _ in range(n):
        x = np.sin(x)
        s = s + x
    return np.sum(s)


ARGS = np.ones((5, 3)), np.ones((3, 4)), np.ones((4, 2))
FIRST = hidden.__code__.co_firstlineno


def test_capability_3_15_saved_values_are_those_that_the_backward_half_needs():
    """x for w, the other weights for h, what the maximum compared, h for v; and not w."""
    slope = grad(hidden, wrt=("w", "v"))
    slope(*ARGS)
    assert [(one.name, one.line) for one in slope.saved] == [("x", 0), ("v", 0), ("a", FIRST + 1), ("h", FIRST + 2)]
    assert {one.name: one.needed for one in slope.saved}["h"] == (FIRST + 3,)


def test_capability_3_15_fewer_parameters_keep_fewer_values():
    slope = grad(hidden, wrt="v")
    slope(*ARGS)
    assert [one.name for one in slope.saved] == ["v", "h"]


def test_saved_names_are_what_a_pullback_closes_over():
    _, back = (
        srcgrad.interface.api.derivative.Derivative(hidden, "vjp", ("w", "v"), False).executed_text({}).function(*ARGS)
    )
    found = srcgrad.interface.api.derivative.Derivative(hidden, "vjp", ("w", "v"), False).saved
    assert sorted(one.name for one in found) == sorted(back.__code__.co_freevars)


def test_what_is_only_looked_at_is_not_kept():
    """The text checks that x is a number, since it cannot tell; no adjoint reads x."""

    def f(x):
        y = 3.0 * x
        return y  # noqa: RET504  (that it has a name is what is tested)

    assert "check_seed(y_bar, x)" in grad(f).source
    assert grad(f).saved == ()


def test_a_stack_is_told_by_what_it_holds():
    first = loop.__code__.co_firstlineno
    assert [(one.name, one.value, one.line) for one in grad(loop).saved] == [
        ("x", "x", 0),
        ("n", "n", 0),
        ("x_stack", "x", first + 3),
        ("s", "s", first + 1),
    ]


def test_explain_tells_lines_and_bytes():
    found = explain(loop, np.ones(3), 2)
    first = loop.__code__.co_firstlineno
    active = {line.number - first: line.active for line in found.lines}
    assert active == {1: True, 2: False, 3: True, 4: True, 5: True}
    [recorded] = [line for line in found.lines if line.recorded]
    assert (recorded.number, recorded.recorded, recorded.why) == (
        first + 3,
        ["x (24 bytes x 2)"],
        [f"x: needed by line {first + 3}"],
    )
    assert "\nkept for the backward half: x, n, x_stack (x), s\n" in str(found)
    assert repr(found) == str(found)


def priced(price, volume, p, label):
    return price * volume + np.sum(p["tax"] ** 2)


def test_explain_of_a_call_tells_which_input_moves_the_result():
    """Sizes by hand: the adjoint of price is volume, and one percent of price changes the result by 1 % of both."""
    found = explain(priced, 3.0, 200.0, {"tax": np.array([1.0, -4.0]), "rate": 0.5}, 1.0)
    rows = {one.name: (one.adjoint, round(one.change or 0.0, 9), one.reaches) for one in found.inputs}
    assert rows == {
        "price": (200.0, 6.0, True),
        "volume": (3.0, 6.0, True),
        "p['tax']": (8.0, 0.34, True),
        "p['rate']": (0.0, 0.0, True),
        "label": (0.0, 0.0, False),
    }
    assert list(rows)[2] == "p['tax']"
    assert found.checked.startswith("agrees with finite differences")
    assert found.gradient.strip().endswith("return price_bar, volume_bar, p_bar, label_bar")
    assert "label      0                nothing: it never reaches the result" in str(found).splitlines()
    shown = found._repr_html_()
    assert shown is not None and "p[&#x27;tax&#x27;]" in shown and explain(priced)._repr_html_() is None


def cubed(x):
    return x**3


@srcgrad.adjoint(cubed)
def _(y, x):
    d[x] = d[y] * x**2


def test_explain_of_a_call_says_that_a_rule_is_wrong():
    def twice(x):
        return 2.0 * cubed(x)

    assert explain(twice, 1.5).checked.startswith("WRONG: x has a relative error of 6.7e-01")
    assert explain(twice, 1.5, check=False).checked == ""
    assert explain(lambda x: np.where(x > 0.0, 2.0 * x, x), 0.0).checked.startswith(
        "finite differences cannot decide at x"
    )


def test_explain_of_a_result_of_several_numbers_and_of_a_local_variable():
    found = explain(lambda x, w: x @ w, np.ones((2, 3)), np.full(3, 2.0))
    assert [(one.name, one.adjoint) for one in found.inputs] == [("x", 2.0), ("w", 2.0)]

    def squared(x):
        h = x * x
        return np.sum(h)

    inner = explain(squared, np.ones(3), wrt=("x", "h"))
    assert [(one.name, one.change) for one in inner.inputs] == [("x", 0.06), ("h", None)]
    assert inner.checked == ""


def test_explain_without_arguments_runs_nothing():
    def f(x):
        return x / 0.0 * missing(x)

    def missing(x):
        raise AssertionError("it was run")

    assert explain(hidden).wrt == ("x", "w", "v")
    assert explain(hidden, wrt="v").wrt == ("v",)


def test_explain_of_a_local_variable_and_a_constant():
    def f(x):
        k = srcgrad.stop_gradient(x * x)
        h = x + k
        return np.sum(h * h)

    lines = explain(f, wrt="x").lines
    assert (lines[0].active, lines[0].why) == (False, ["depends on none of x"])
    assert explain(f, wrt="h").wrt == ("h",)


def of_rows(w, x, t):
    n, _ = x.shape
    (_,) = w.shape
    (_,) = t.shape
    p = w * w
    total = 0.0
    for k in range(2):
        total = total + np.sum(p) * k
    z = np.sin(x @ w)
    s = np.sum(z * t) / n
    return np.log(1.0 + s * s) + total


def test_rows_that_are_spread(tmp_path, capsys):
    """What has rows is in blocks, what is added up has its bytes; the call, the command and `blocked` say the same."""
    given = np.ones(2), np.ones((5, 2)), np.ones(5)
    told = explain(of_rows, *given, wrt=("w", "x"), check=False, shard={"x": 0, "t": 0})
    held = {one.name: (one.held, one.phase, one.sent) for one in told.spread}
    assert [name for name, one in held.items() if one[0] == "per row"] == ["x", "t", "z", "x_bar"]
    assert {"w", "n", "p", "k", "total", "s"} <= {name for name, one in held.items() if one[0] == "replicated"}
    partial = [one for one in held.values() if one[0] == "partial"]
    assert sorted(partial) == [("partial", 1, "8"), ("partial", 2, "16")] and held["w_bar"] == ("partial", 2, "16")
    without = explain(srcgrad.blocked(of_rows, over=("x", "t")), wrt=("w", "x"))
    assert [(one.name, one.held, one.phase) for one in without.spread] == [
        (one.name, one.held, one.phase) for one in told.spread
    ]
    (tmp_path / "model.py").write_text("import numpy as np\n\n\n" + inspect.getsource(of_rows))
    assert main(["explain", f"{tmp_path}/model.py:of_rows", "--wrt", "w,x", "--shard", "x=0,t=0"]) == 0
    assert "phase 2, one reduction: a block sends w.nbytes bytes" in capsys.readouterr().out
    assert not explain(of_rows, wrt="w").spread


def test_json():
    made = json.loads(explain(loop, wrt="x").json())
    assert sorted(made) == ["checked", "function", "gradient", "inputs", "lines", "saved", "spread", "wrt"]
    assert (made["inputs"], made["checked"], made["gradient"]) == ([], "", "")  # nothing has run
    assert sorted(made["lines"][0]) == ["active", "number", "recorded", "text", "why"]
    assert sorted(made["saved"][0]) == ["line", "name", "needed", "value"]


def test_command_line_json(tmp_path, capsys):
    path = tmp_path / "model.py"
    path.write_text("def f(x: float):\n    return x * x\n\n\ndef g(x: float):\n    return x + x\n")
    assert main(["explain", str(path), "--json"]) == 0
    assert [made["function"] for made in json.loads(capsys.readouterr().out)] == ["f", "g"]
    assert main(["explain", f"{path}:f"]) == 0
    assert capsys.readouterr().out.endswith("kept for the backward half: x\n")
