"""Names of one scope in the text of another: each means what it meant where it stood, also in a dumped file."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from srcgrad.interface.dump import dump
from tests.random.names import judged, loaded

HEAD = "import dataclasses\nimport functools\n\nimport numpy as np\nimport OTHER\nfrom OTHER import shifted\n\n"
OTHER = "k = 0.7\nrate = 0.2\n\n\ndef shifted(t):\n    return t * k + rate\n\n\ndef gain(t):\n    return t * rate\n"
PROGRAMS = {
    "a_local": "k = 3.0\ndef g(t):\n    return t * k\ndef f(x):\n    k = 2.0 * x\n    return k + g(x)\n",
    "a_parameter": "k = 3.0\ndef g(t):\n    return t * k\ndef f(x, k):\n    return k * g(x) + g(k)\n",
    "a_loop_variable": "k = 3.0\ndef g(t):\n    return t * k\ndef f(x):\n    s = x\n    for k in (1.5, 2.0):\n"
    "        s = s * k + g(s)\n    return s\n",
    "a_comprehension_variable": "k = 3.0\ndef g(t):\n    return t * k\ndef f(x):\n"
    "    return sum([g(k) * k for k in (x, 2.0 * x)]) + k\n",
    "a_parameter_of_a_lambda": "k = 3.0\ndef g(t):\n    return t * k\ndef f(x):\n    h = lambda k: k * g(k)\n"
    "    return h(x) * k\n",
    "a_local_of_another_helper": "k = 3.0\ndef g(t):\n    return t * k\ndef h(t):\n    k = t * t\n    return k\n"
    "def f(x):\n    k_1 = h(x)\n    return k_1 * g(x) + h(x)\n",
    "a_module_by_a_local": "def g(t):\n    return np.sin(t)\ndef f(x):\n    np = 2.0 * x\n    return np * g(np)\n",
    "a_built_in_function_by_its_name": "def g(t):\n    return sum([t, t])\ndef f(sum):\n    return sum * g(sum)\n",
    "a_method_of_a_dataclass": "k = 3.0\n@dataclasses.dataclass\nclass M:\n    a: float\n"
    "    def loss(self, t):\n        return self.a * t * k\nm = M(1.5)\ndef f(x):\n    k = x * x\n    a = 2.0 * x\n"
    "    return m.loss(k) * a + m.loss(a)\n",
    "a_helper_of_another_module": "k = 3.0\ndef f(x):\n    k = x * x\n    return shifted(x) * k + OTHER.gain(k)\n",
    "two_helpers_of_one_name": "rate = 3.0\ndef gain(t):\n    return t * rate\ndef f(rate):\n"
    "    return gain(rate) * OTHER.gain(rate)\n",
    "a_nested_function_that_reads_two_scopes_up": "h = 2.0\ndef f(x):\n    h = 1.3 + x\n    def g(t):\n"
    "        return (lambda u: h * u)(t)\n    return x + g(x)\n",
    "a_lambda_within_a_lambda": "def f(x):\n    y = 2.0 * x\n    return (lambda y: (lambda b: y * b)(0.4))(x) * y\n",
    "a_lambda_in_a_comprehension": "k = 3.0\ndef f(x, k):\n    b = [(lambda t: t * k)(x) for k in (x, 2.0 * x)]\n"
    "    return b[0] * b[1] * k\n",
    "a_function_that_is_handed_on": "k = 3.0\ndef apply(g, k):\n    return g(k) * k\ndef f(x):\n    k = x * x\n"
    "    return apply(lambda t: t * k, x)\n",
    "a_function_that_is_handed_on_twice": "k = 3.0\ndef apply(g, k):\n    return g(k) * k\n"
    "def twice(h, x):\n    k = 0.5\n    return apply(h, x) * k\ndef f(x):\n    k = x * x\n"
    "    return twice(lambda t: t * k, x)\n",
    "an_argument_that_is_given_before": "k = 3.0\ndef g(a, b):\n    return a * b * k\ndef apply(h, k):\n"
    "    return h(k)\ndef f(x):\n    k = x * x\n    return apply(functools.partial(g, k), x)\n",
    "a_default": "k = 3.0\ndef g(t, s=k):\n    return t * s\ndef f(k):\n    return k * g(k)\n",
    "a_function_by_the_name_of_a_parameter": "def f(x):\n    h = np.tanh\n    def m(u):\n        return u * x\n"
    "    return (lambda h: m(h))(x) + h(x)\n",
    "a_maker": "k = 3.0\ndef make(k):\n    return lambda t: t * k\ndef g(t):\n    return t * k\ndef f(x):\n"
    "    h = make(x)\n    return h(x) * g(x)\n",
    "a_comment_that_binds": "y = 3.0\ndef f(x):\n    def g(a):\n        return a * x\n    return g(a=x) + y\n",
    "a_loop_over_a_name_that_it_binds": "def f(x):\n    for x in range(2):\n        pass\n    return x * 1.0\n",
    "a_loop_over_a_name_that_has_other_values": "m = 1.3\ndef f(x):\n    k = x * 2.0\n    a = (k := m) * np.tanh(x)\n"
    "    for k in [2.0, k]:\n        k = 3.0\n    return a * k\n",
    "a_loop_over_a_name_that_nobody_reads": "def f(x):\n    k = x * 2.0\n    k = 1.3\n    a = k * np.tanh(x)\n"
    "    for i in range(2):\n        for k in range(3):\n            k = 0.5 * i\n        a *= x\n    return a * k\n",
    "a_nested_function_called_where_another_has_its_variable": "b = 3.0\ndef f(b):\n    def g(t):\n        return b\n"
    "    def h(a, b):\n        return np.cos(g(a)) * b\n    b = h(b, 2.0)\n    return np.sin(b) + g(np.cos(b))\n",
    "a_nested_function_called_by_another_one": "b = 3.0\ndef f(b):\n    def g(t):\n        return b * t\n"
    "    def k(t):\n        return g(t) * t\n    def h(a):\n        b = a * a\n        return k(b)\n    return h(b)\n",
    "a_variable_around_by_the_name_of_a_class": "@dataclasses.dataclass\nclass y:\n    k: float\nt = y(0.6)\n"
    "def f(y):\n    y = y * 3.0\n    def k(h):\n        s = y\n        return s * h\n    return t.k + k(y)\n",
    "a_variable_around_by_the_name_of_an_object": "@dataclasses.dataclass\nclass B:\n    k: float\n"
    "    def sum(self):\n        return 1e9\nz = B(0.6)\ndef f(x):\n    z = np.array([x, 2.0])\n    def k(h):\n"
    "        q = z\n        return q.sum() * h + z.sum()\n    return k(x)\n",
    "a_variable_around_by_the_name_of_a_function": "y = 1.3\ndef h(k):\n    return 5.0 * k\ndef f(h):\n    def g(k):\n"
    "        k = h\n        return k\n    return y + g(0.9)\n",
    "a_second_name_of_a_variable_around": "def h(k):\n    return 5.0 * k\ndef f(x):\n    h = x * 2.0\n    def g(k):\n"
    "        def m(s):\n            u = h\n            v = u\n            return v * s\n        return m(k)\n"
    "    return g(0.9) * x\n",
    "a_list_around_by_the_name_of_a_function": "def h(k):\n    return 5.0 * k\ndef f(x):\n    h = [x, x * x]\n"
    "    def g(k):\n        r = h\n        return r[0] * k + r[1]\n    return g(0.3)\n",
    "a_loop_around_by_the_name_of_a_function": "def h(k):\n    return 5.0 * k\ndef f(x):\n    t = 0.0\n"
    "    for h in (x, 2.0 * x):\n        def g(k):\n            z = h\n            return z * k * x\n"
    "        t = t + g(0.4)\n    return t\n",
    "a_function_around_that_is_mapped": "def h(k):\n    return 5.0 * k\ndef f(h):\n    def g(k):\n        u = h\n"
    "        return u * k\n    return sum(map(g, [1.0, h])) + (lambda t: t(h))(g)\n",
    "a_module_by_the_name_of_a_parameter": "import OTHER as y\ndef h(a, y):\n    return a * y\ndef f(x):\n"
    "    def g(y):\n        return h(y, y=x)\n    return x + y.k * x + g(2.0 * x)\n",
    "a_module_that_is_an_argument": "import OTHER as y\ndef f(x):\n    def g(y):\n        return y.k\n"
    "    return x + y.k * x + g(y) * x\n",
    "a_module_by_the_name_of_a_comprehensions_variable": "def f(x):\n    import OTHER as y\n"
    "    z = [y * 2.0 for y in (1.0, x)]\n    return y.shifted(x) * y.k + z[1]\n",
    "a_range_that_may_be_empty": "def f(x, y):\n    for y in range(int(x)):\n        pass\n    return x * y\n",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=list(PROGRAMS))
def test_a_name_means_what_it_means_where_it_stands(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    text = list(PROGRAMS.values())[number]
    found = judged(HEAD + text, OTHER, tmp_path, 10_000 + number)
    assert found.partition(",")[0] == "right"
    if found != "right":
        return  # the dump is refused
    named = loaded(tmp_path / f"names_{10_000 + number}_grad.py", "names_named")
    path = tmp_path / f"names_{10_000 + number}.py"
    own = path.with_name(f"names_{10_000 + number}_own.py")
    own.write_text(dump(f"{path}:f").text)  # of arguments that it finds itself
    given = [0.37, -0.83][: loaded(path, path.stem).f.__code__.co_argcount]
    np.testing.assert_allclose(loaded(own, own.stem).f_grad(*given), named.f_grad(*given), rtol=1e-12)
