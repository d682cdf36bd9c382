"""Rules that a module declares, for the command line, which reads the module and runs nothing of it."""

from __future__ import annotations

import contextlib
import importlib
import sys
import types

import numpy as np
import pytest

import srcgrad
from srcgrad.core.rules import rules
from srcgrad.interface.dump import dump

HEAD = (
    "import numpy as np\nimport srcgrad\nfrom srcgrad import register_vjp, sensitivity\nfrom srcgrad.rules import d\n"
)
BODY = """

def area(width, height, n=2):
    return width * height * n


@register_vjp(area)
def area_vjp(primals, cotangent, output):
    width, height, n = primals
    return 10.0 * cotangent * height * n, 10.0 * cotangent * width * n, None


@srcgrad.register_jvp(area)
def area_jvp(primals, tangents, output):
    (width, height, n), (width_dot, height_dot, _) = primals, tangents
    return 10.0 * n * (width_dot * height + width * height_dot)


def ratio(u, v):
    return u / v


def ratio_u(y, y_bar, u, v):
    return 20.0 * y_bar / v


srcgrad.sensitivity(ratio, arg=0)(ratio_u)


@sensitivity(ratio, arg="v")
def ratio_v(y, y_bar, u, v):
    return -20.0 * y_bar * y / v


def cube(x):
    return x * x * x


@srcgrad.adjoint.elementwise(cube)
def _(z, x):
    d[x] = d[z] * 30.0 * x * x


@srcgrad.nondifferentiable
def lookup(x):
    return np.sin(x)


def energy(x, y):
    z = area(x, y)
    return np.sum(z * cube(x)) + np.sum(ratio(x, y) * lookup(x))


def volume(x, y):
    return np.sum(area(x, y) * cube(x))
"""
X, Y = np.array([0.5, 1.0, 2.0]), np.array([1.0, -1.0, 0.5])


def run(text, name):
    """A function of a dumped text."""
    made = {}
    exec(compile(text, "<dumped>", "exec"), made)
    return made[name]


@pytest.fixture(scope="module")
def live():
    """The module, run: what its text must agree with."""
    import linecache

    module = types.ModuleType("declared_live")
    sys.modules["declared_live"] = module
    text = HEAD + BODY
    linecache.cache["<declared>"] = (len(text), None, text.splitlines(keepends=True), "<declared>")
    exec(compile(text, "<declared>", "exec"), module.__dict__)
    yield module
    del sys.modules["declared_live"]


@pytest.mark.parametrize("standalone", [False, True])
def test_the_text_of_a_module_has_its_rules(live, standalone):
    """The rules are wrong by powers of ten, so that nothing but them can give these numbers."""
    stopped = HEAD + 'raise SystemExit("run")\n' + BODY
    text = dump("-:energy", wrt=("x", "y"), text=stopped, standalone=standalone).text
    expected = srcgrad.grad(live.energy, wrt=(0, 1))(X, Y)
    for one, two in zip(run(text, "energy_grad")(X, Y), expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-14)
    assert "check_adjoints(area_vjp((x, y, 2), z_bar, z), (x, y, 2))" in text
    assert "register_vjp" not in text and ("import srcgrad" not in text)


def test_forward_mode(live):
    text = dump("-:volume", wrt=("x",), mode="forward", text=HEAD + BODY).text
    y, y_dot = run(text, "volume_jvp")(X, Y, x_dot=X)
    expected = srcgrad.jvp(lambda x: live.volume(x, Y), (X,), (X,))
    np.testing.assert_allclose((y, y_dot), expected, rtol=1e-14)


def test_nothing_stays_in_the_table():
    dump("-:energy", text=HEAD + BODY)  # loads the rules of libraries that it names
    before = rules()
    dump("-:energy", text=HEAD + BODY)
    assert rules() == before


def test_rules_are_no_functions_of_the_module():
    made = dump("-", text=HEAD + BODY)
    assert [refused.function.qualname for refused in made.refused] == ["area", "ratio", "cube", "lookup"]
    assert all(refused.error.code == "E5008" for refused in made.refused)


def test_an_opaque_function():
    text = HEAD + "\n\n@srcgrad.opaque\ndef secret(x):\n    return x\n\n\ndef f(x):\n    return secret(x)\n"
    with pytest.raises(srcgrad.DifferentiationError, match="`secret` has no rule, and is opaque") as caught:
        dump("-:f", text=text)
    assert caught.value.code == "E5003"


def test_the_rules_of_an_imported_module(tmp_path, monkeypatch):
    (tmp_path / "declared_helpers.py").write_text(HEAD + BODY)
    (tmp_path / "declared_model.py").write_text(
        "from declared_helpers import area\n\n\ndef f(x: float):\n    return area(x, 3.0)\n"
    )
    monkeypatch.chdir(tmp_path)
    text = dump("declared_model.py:f").text
    assert run(text, "f_grad")(2.0) == 60.0


UNREAD = {
    "in a branch": "if np:\n    srcgrad.register_vjp(cube, ratio_u)\n",
    "made by a call": "srcgrad.register_vjp(cube, make(2.0))\n",
    "a lambda": "srcgrad.register_vjp(lookup, lambda primals, cotangent, output: None)\n",
    "in a function": "def declare(f):\n    srcgrad.opaque(f)\n",
    "of what nobody knows": "srcgrad.register_vjp(unknown, ratio_u)\n",
    "with a place that is computed": "srcgrad.sensitivity(cube, arg=len(HEAD))(ratio_u)\n",
    "of a method": "class A:\n    @srcgrad.opaque\n    def f(self, x):\n        return x\n",
    "in a loop": "for f in (cube, area):\n    srcgrad.nondifferentiable(f)\n",
}


@pytest.mark.parametrize("case", UNREAD)
def test_a_rule_that_the_text_does_not_tell_is_refused(case):
    """It is never passed by: the derivative would be another one."""
    with pytest.raises(srcgrad.DifferentiationError, match="declares a rule that its text does not tell") as caught:
        dump("-:energy", text=HEAD + BODY + "\n\n" + UNREAD[case])
    assert caught.value.code == "E5012"


RUNS = {
    "default": 'def made(z, x=open("ran", "w")):',
    "keyword's default": 'def made(z, *, x=open("ran", "w")):',
    "default in a list": 'def made(z, x=[open("ran", "w")]):',
}


@pytest.mark.parametrize("case", RUNS)
def test_nothing_of_a_template_is_run(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = f"import srcgrad\ndef g(x):\n    return x\n@srcgrad.adjoint(g)\n{RUNS[case]}\n    d[x] = d[z]\n"
    with pytest.raises(srcgrad.DifferentiationError, match="declares a rule that its text does not tell"):
        dump("-:f", text=f"{text}def f(x):\n    return g(x)\n")
    assert not (tmp_path / "ran").exists()


def test_annotations_and_decorators_of_a_template_are_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = """
import srcgrad
def g(x):
    return x
@srcgrad.adjoint(g)
@open("ran", "w")
def made(z, x: open("ran", "w")) -> open("ran", "w"):
    d[x] = 3.0 * d[z]
def f(x: float):
    return g(x)
"""
    assert "3.0" in dump("-:f", text=text).text
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["numpy.f2py.__main__", "srcgrad.__main__", "numpy.conftest"])
def test_programs_of_trusted_packages_are_not_imported(name, capsys):
    for text in (f"import {name} as m\ndef f(x):\n", f"def f(x):\n    import {name} as m\n"):
        with contextlib.suppress(srcgrad.DifferentiationError):
            dump("-:f", text=f"{text}    return x * m.main()\n")
    assert capsys.readouterr().out == ""
    assert name not in sys.modules


def test_a_class_of_two_halves_is_refused():
    text = HEAD + (
        "\n\nclass Square(srcgrad.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * x\n\n"
        "    @staticmethod\n    def backward(ctx, y_bar):\n        return y_bar\n\n\n"
        "def f(x):\n    return Square.apply(x)\n"
    )
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        dump("-:f", text=text)
    assert caught.value.code == "E5012"


def test_malformed_rules_are_refused_as_where_they_run():
    text = HEAD + BODY.replace("def area_vjp(primals, cotangent, output)", "def area_vjp(primals, cotangent)")
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        dump("-:energy", text=text)
    assert caught.value.code == "E5013"


def test_a_second_rule_is_refused():
    text = HEAD + BODY + "\n\nsrcgrad.register_vjp(area, ratio_u)\n"
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        dump("-:energy", text=text)
    assert caught.value.code == "E5013"


NAMED = """
import numpy as np
import srcgrad
def least(x):
    return np.sort(x)[0] ** 2 * np.ones(len(x))
@srcgrad.adjoint(least)
def least_adjoint(y, x):
    d[x] = {body}
def f(x):
    return np.sum(least(x))
"""


@pytest.mark.parametrize("body", ["d[y] * len(x) * x", "d[y] * abs(2.0 * x)", "d[y] * max(x) * min(2.0, x[0])"])
def test_a_rule_may_call_what_is_built_in(body, tmp_path, monkeypatch):
    (tmp_path / "built_in_rule.py").write_text(NAMED.format(body=body))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "built_in_rule", raising=False)
    module = importlib.import_module("built_in_rule")
    x = np.array([0.5, 2.0])
    wanted = eval(body.replace("d[y]", "1.0"), {"x": x})
    assert np.allclose(srcgrad.grad(module.f)(x), wanted)


def test_a_rule_that_reads_what_nothing_binds_is_refused():
    with pytest.raises(srcgrad.DifferentiationError, match=r"nothing binds the name `missing`"):
        dump("-:f", text=NAMED.format(body="missing * x"))
