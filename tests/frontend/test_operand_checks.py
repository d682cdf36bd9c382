"""Texts of which the arguments are not known: what is taken for an array is looked at, and only there."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.dump import dump
from tests.random.judge import judged

LISTS = {  # programs that read a list or a tuple by place: right with the arguments, refused by a text without
    "item": ("return a[1]", "[0.97, 0.38]"),
    "ragged": ("return a[0]", "(0.9, [0.39])"),
    "augmented": ("d = a[1]\n    a[1] += 0.5\n    return d * a[1]", "[0.4, 1.1]"),
    "loop": ("s = 0.0\n    for v in a:\n        s = s * 0.5 + v * v\n    return s", "[0.4, 1.1]"),
    "unpacked twice": ("b, c = a\n    d, e = a\n    return b * e", "[0.4, 1.1]"),
    "zip": (
        "s = 0.0\n    for v, w in zip(a, reversed(a)):\n        s = s * 0.5 + v * w * w\n    return s",
        "[0.4, 1.1]",
    ),
    "in": ("return a[0] if 0.4 in a else a[1]", "[0.4, 1.1]"),
    "sum of lists": ("b = a + a\n    return b[0] * b[2]", "[0.4, 1.1]"),
    "slice": ("b = a[1:]\n    return b[0] * a[0]", "[0.4, 1.1]"),
    "helper": ("return h(a) * 2.0", "[0.4, 1.1]"),
    "helper that recurs": ("return again(a, 2)", "[0.4, 1.1]"),
    "arrays": (
        "x = np.ones(2)\n    for w in a:\n        x = np.tanh(w * x)\n    return np.sum(x)",
        "[np.ones(2), np.ones(2)]",
    ),
    "while": ("k = 0\n    s = 1.0\n    while k < 2:\n        s = s * a[k]\n        k += 1\n    return s", "[0.4, 1.1]"),
}


def looked_at(text: str) -> list[str]:
    """The arguments that a text looks at, whether they are arrays."""
    lines = re.findall(r"    check_(?:arrays|floats)\((.*)\)\n", text)
    return [given for line in lines for given in line.split(", ")]


HELPERS = """
import numpy as np
def h(b): return b[0] * b[1]
def again(b, n): return b[0] if n == 0 else b[1] * again(b, n - 1)
"""


@pytest.mark.parametrize("name", LISTS)
def test_lists(name: str) -> None:
    body, value = LISTS[name]
    text = f"{HELPERS}\ndef f(a):\n    {body}\ndef arguments(): return ({value},)\n"
    found = judged(text, 1)
    assert found.verdict == "right", found
    made = dump("-:f", text=text).text
    assert looked_at(made) == ["a"], made


WHOLE = {  # lists that functions of NumPy read, by any way: each text says which arguments it takes for arrays
    "functions": ("return np.sum(np.sin(p)) * np.linalg.norm(p) + np.mean(p)", "[0.1, 0.2],"),
    "keyword": ("return np.sum(a=p) ** 2", "(0.1, 0.2),"),
    "second name": ("c, x = x, p\n    return x[-1] + c", "[0.4], 0.8"),
    "swapped in a branch": ("v = p\n    if x > 1.0:\n        v = [x, x]\n    return np.prod(v) * x", "[0.4, 0.3], 0.8"),
    "either": ("v = x\n    if p[0] < 1.0:\n        v = p\n    return v[0] * v[1]", "[0.4, 0.3], [1.4, 1.3]"),
    "joined": ("return np.prod(np.concatenate([p, x]))", "[0.1, 0.2], [0.5]"),
    "stacked": ("return np.sum(np.stack((p, x)) ** 3)", "[0.1, 0.2], [0.5, 0.6]"),
    "matrix": ("return np.linalg.det(p)", "[[0.1, 0.2], [0.5, 0.3]],"),
    "converted": ("p = np.asarray(p)\n    return p[0] * p[1]", "[0.1, 0.2],"),
    "interp": ("return np.interp(0.3, p, x) ** 2", "[0.1, 0.5], [0.7, 0.2]"),
    "where": ("return np.prod(np.where(x > 0.5, p, 0.0))", "[0.1, 0.2], 0.7"),
    "parts": ("a, b = p\n    return a[0] * b[1] + np.sum(a)", "([0.1, 0.2], [0.5, 0.6]),"),
    "parts by name": ("a = p['u']\n    return a[0] * a[1] * p['v']", "dict(u=[0.1, 0.2], v=0.5),"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_lists_under_functions_of_numpy(name: str) -> None:
    body, values = WHOLE[name]
    text = f"import numpy as np\ndef f(p, x=1.0):\n    {body}\ndef arguments(): return ({values})\n"
    found = judged(text, 1)
    assert found.verdict == "right", found
    found = looked_at(dump("-:f", text=text).text)
    assert found
    assert len(set(found)) == len(found)


BESIDE = {  # a list beside an array in an operator: what the pullback makes of a list would be an error, or an array
    "mul": ("return np.sum(x * p)", "p"),
    "div": ("return np.sum(x / p)", "p"),
    "pow": ("return np.sum(x ** p)", "p"),
    "less": ("return np.sum((x - p) ** 2)", "p"),
    "in a function": ("return np.sum(np.exp(x - p) * 3.0)", "p"),
    "of a function": ("return np.sum(np.sin(x) * p)", "p"),
    "augmented": ("y = x * 1.0\n    y *= p\n    return np.sum(y)", "p"),
    "twice": ("return np.sum((x + p) ** 2) + np.sum((x + p) ** 3)", "p"),
    "helper": ("return h(x, p)", "p"),
    "branch": ("s = x\n    if s[0] < 9.0:\n        s = s / p\n    return np.sum(s)", "p"),
}


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("values", ["[0.2, 0.5]", "(0.2, 0.5)", "[2, 3]"])
def test_lists_beside_arrays(name: str, values: str) -> None:
    body, named = BESIDE[name]
    head = "import numpy as np\ndef h(x, q): return np.sum(x * q)"
    text = f"{head}\ndef f(x, p):\n    {body}\ndef arguments(): return (np.array([0.3, 0.4]), {values})\n"
    found = judged(text, 1)
    assert found.verdict == "right", found
    assert named in looked_at(dump("-:f", text=text).text)


def test_an_array_for_a_list_that_a_loop_multiplies_by() -> None:
    """The numbers are right for a list, and nothing fails: no line looks at it."""
    text = "import numpy as np\ndef f(x, p):\n    for i in range(2):\n        x = x * p\n    return np.sum(x)\n"
    made = dump("-:f", text=text, wrt=("p",)).text
    assert looked_at(made) == []
    scope: dict[str, Any] = {}
    exec(made, scope)
    assert np.allclose(scope["f_grad"](np.array([0.3, 0.4]), [0.2, 0.5]), [2 * 0.3 * 0.2, 2 * 0.4 * 0.5])


RIGHT = {  # texts that give lists for lists, and need no check of `p`
    "matmul": "return x @ p",
    "plus": "return np.sum((x + p) ** 2)",
    "augmented": "y = x * 1.0\n    y += p\n    return np.sum(y * y)",
}


@pytest.mark.parametrize("name", RIGHT)
def test_texts_that_give_lists(name: str) -> None:
    values = "np.array([0.3, 0.4]), [0.2, 0.5]"
    text = f"import numpy as np\ndef f(x, p):\n    {RIGHT[name]}\ndef arguments(): return ({values})\n"
    found = judged(text, 1)
    assert "dumped" in found.judged, found
    assert looked_at(dump("-:f", text=text).text) == []


def test_a_matrix_as_a_list_of_rows() -> None:
    text = """
import numpy as np
def f(w, h):
    for _ in range(3):
        h = np.tanh(w @ h)
    return np.sum(h)
def arguments(): return ([[0.1, 0.2], [0.3, 0.4]], np.array([0.5, 0.6]))
"""
    assert "dumped" in judged(text, 1).judged


IN_PARTS = {  # lists in dicts in tuples that are taken apart
    "read": ('a, d = p\n    return d["k"] * a + d["v"][1]', '(0.3, {"k": 0.5, "v": [0.1, 0.7]})'),
    "loop": (
        'a, d = p\n    for w in d["v"]:\n        a = a * w\n    return a * d["k"]',
        '(0.3, {"v": (0.1, 0.7), "k": 2.5})',
    ),
    "function": ('a, d = p\n    return np.sum(d["v"]) * a', '[0.3, {"v": [0.1, 0.7]}]'),
    "helper": ("a, d = p\n    return h(d) * a", '(0.3, {"k": 0.5, "v": [0.1, 0.7]})'),
}


@pytest.mark.parametrize("name", IN_PARTS)
def test_lists_in_parts(name: str) -> None:
    body, value = IN_PARTS[name]
    head = 'import numpy as np\ndef h(q): return q["v"][0] * q["k"]'
    text = f"{head}\ndef f(p):\n    {body}\ndef arguments(): return ({value},)\n"
    found = judged(text, 1)
    assert found.verdict == "right", found
    arrays = text.replace("[0.1, 0.7]", "np.array([0.1, 0.7])").replace("(0.1, 0.7)", "np.array([0.1, 0.7])")
    found = judged(arrays, 1)
    assert found.verdict == "right", found
    assert "dumped" in found.judged, found


QUIET = {  # nothing is assumed of these, or a list is an error anyhow
    "linear": "def f(x):\n    return np.sum(x * 2.0 + 1.0) * x[0]",
    "axes": "def f(x):\n    return x[0, 1] * x[1, 0]",
    "attribute": "def f(x):\n    return x[0] * x.shape[0]",
    "unpacked": "def f(x):\n    a, b = x\n    return a * b",
    "by name": "def f(x):\n    return x['a'] * x['b']",
    "order": "def f(x):\n    return x[0] * np.sum(x > 1.0)",
    "declared": "def f(x: '3'):\n    return x[0] * x[1]",
    "passive": "def f(x, n):\n    return np.sum(x * x * 2.0)",
    "not differentiated": "def f(x, n):\n    return np.sum(x * x * 2.0) * n[0]",
    "number": "def f(x, n):\n    return math.sin(x) * x",
}


@pytest.mark.parametrize("name", QUIET)
def test_quiet(name: str) -> None:
    text = dump("-:f", text=f"import math\nimport numpy as np\n{QUIET[name]}\n", wrt=("x",)).text
    assert looked_at(text) == []
    assert "check_method" not in text


def test_modes() -> None:
    text = "def f(x):\n    return x[0] * x[1]\n"
    for mode in ("reverse", "value-and-grad", "vjp", "hvp"):
        assert looked_at(dump("-:f", text=text, mode=mode).text) == ["x"]
    assert looked_at(dump("-:f", text=text, mode="forward").text) == []  # the same for a list
    assert looked_at(dump("-:f", text=text, target="numba").text) == []  # which compiles for what it is given


def test_live_arguments_are_known() -> None:
    def f(x):
        return x[0] * x[1]

    slope = srcgrad.grad(f)
    assert slope([2.0, 3.0]) == [3.0, 2.0]
    np.testing.assert_array_equal(slope(np.array([2.0, 3.0])), [3.0, 2.0])
    assert "check_arrays" not in slope.source


OWN = """
import numpy as np
import typing
import dataclasses
class P({base}):
    a: float
    b: float
    def sum(self): return self.a * self.b
    def dot(self, v): return self.a * v + self.b
    def max(self): return self.b * 3.0
    def copy(self): return self.a - self.b
    def mean(self): return 0.5
    def index(self, x): return self.a * x
    def twice(self): return self.sum() * 2.0
    @staticmethod
    def trace(x): return x * x
    @classmethod
    def min(cls, x): return x * 3.0
    def __call__(self, x): return self.a * x
    def itself(self): return self
def h(q): return q.sum() + q.dot(2.0)
def f(p, x):
    {body}
def arguments(): return (P(0.5, 0.7), 0.3)
"""
BODIES = {
    "sum": "return p.sum() * x",
    "dot": "return p.dot(x)",
    "max": "return p.max() + x * p.a",
    "copy": "return p.copy() * x",
    "mean": "return p.mean() * x",
    "index": "return p.index(x)",
    "twice": "return p.twice() * x",
    "trace": "return p.trace(x) * p.a",
    "min": "return p.min(x) * p.a",
    "call": "return p(x)",
    "itself": "return p.itself().a * x + p.itself().sum()",
    "store": "c = np.zeros(2)\n    c[-1] = p.sum()\n    return np.sum(c) * x",
    "loop": "s = 0.0\n    for i in range(3):\n        s = s * x + p.sum()\n    return s",
    "helper": "return h(p) * x",
    "class": "return P.sum(p) * x",
    "local": "q = P(x, p.a)\n    return q.sum() + q.dot(p.b)",
}
OF_TUPLES = {
    "unpacked": "a, b = p\n    return p.sum() * x + a - b * p.a",
    "rebound": "p = p.sum()\n    return p * x",
    "at once": "p, (a, s) = (p.sum(), p)\n    return p * a * x",
    "replaced": "q = p._replace(a=x)\n    return q.sum() * p.sum()",
}


@pytest.mark.parametrize("body", [*BODIES.values(), *OF_TUPLES.values()], ids=[*BODIES, *OF_TUPLES])
def test_methods_of_a_named_tuple(body: str) -> None:
    found = judged(OWN.format(base="typing.NamedTuple", body=body), 1)
    assert found.verdict == "right", found


@pytest.mark.parametrize("name", BODIES)
def test_methods_of_a_dataclass(name: str) -> None:
    text = OWN.format(base="", body=BODIES[name]).replace("class P()", "@dataclasses.dataclass\nclass P")
    found = judged(text, 1)
    assert found.verdict == "right", found


@pytest.mark.parametrize("body", ["q = p\n    return q.sum() * x", "return p.T * x"])
def test_what_is_refused_of_a_named_tuple(body: str) -> None:
    text = OWN.format(base="typing.NamedTuple", body=body).replace(
        "    def mean", "    T = property(sum)\n    def mean"
    )
    assert judged(text, 1).verdict in ("right", "refused")


def test_a_method_of_what_is_unknown_is_looked_at() -> None:
    made = dump("-:f", text="def f(x):\n    return x.sum() * x.max()\n").text
    assert made.count("check_method(x)\n") == 1
    made = dump("-:f", text="def f(z):\n    return (z.conjugate() * z).real\n").text
    outside: dict = {}
    exec(made, outside)
    assert outside["f_grad"](2.0) == 4.0  # a number has it too


TURNED = {
    "argument": ("return x.T", "np.array(0.5)"),
    "second name": ("c = x\n    b = c.T\n    return b", "np.array(0.5)"),
    "computed": ("b = np.sin(x)\n    return b.T", "np.array(0.5)"),
    "method": ("return x.transpose() * 2.0", "np.array(0.5)"),
    "sum": ("s = np.sum(x)\n    return s.T * 2.0", "np.array([0.5, 0.2])"),
    "number": ("return np.float64(x).T", "0.5"),
    "norm": ("return np.linalg.norm(x).T", "np.array([0.5, 0.2])"),
    "squeezed": ("return np.squeeze(x).T", "np.array([0.5])"),
    "converted": ("return -np.asarray(x).T", "0.5"),
}


@pytest.mark.parametrize("name", TURNED)
def test_transpose_of_rank_0(name: str) -> None:
    body, value = TURNED[name]
    found = judged(f"import numpy as np\ndef f(x):\n    {body}\ndef arguments(): return ({value},)\n", 1)
    assert found.verdict == "right", found


FIELDS = """
import dataclasses
import numpy as np
@dataclasses.dataclass
class Box:
    T: float
    real: float
    imag: float = 0.5
    mT: float = 0.8
def f(x, b):
    {body}
def arguments(): return 0.3, Box(0.6, 0.6)
"""
ANEW = {  # an argument that is bound anew where not each call comes by
    "if": "if x < 1.0:\n        b = b.T * x\n    else:\n        b = b.T\n    return b * x",
    "branch of a loop": (
        "for i in range(3):\n        if i == 1:\n            b = b.T * x\n            x = x + b\n            break\n"
        "        x = x * b.T\n    return x * x"
    ),
    "while": "k = 0\n    while k < 1:\n        b = b.real * x\n        k += 1\n    return b * b",
    "with": "with np.errstate(all='ignore'):\n        b = b.imag * x\n    return b * b",
    "second name": "c = b\n    for i in range(1):\n        c = c.mT * x\n    return c * c",
    "beside another": "x = x + b.T\n    return x * x",
}


@pytest.mark.parametrize("name", ANEW)
def test_fields_named_like_an_arrays(name: str) -> None:
    found = judged(FIELDS.format(body=ANEW[name]), 1)
    assert found.verdict in ("right", "refused"), found


def test_what_is_bound_anew_shows_nothing_of_the_argument() -> None:
    text = "def f(c, x):\n    {}\n    while x < 1.0:\n        c = x\n        x = x * 2.0\n    return c * 2.0\n"
    assert dump("-:f", text=text.format("x = x * c[0]")).text.count("check_arrays(c)\n") == 1
    assert "check_arrays" not in dump("-:f", text=text.format("x = x * (-c)[0]")).text


COUNTED = {  # a parameter that the text binds to an integer: its adjoint there is a float
    "list of values": "for b in range(2):\n        s = s * b\n    return sum([b * s for k in range(2)])",
    "branch": "if s < 1.0:\n        b = 2\n    for k in range(3):\n        s += a * b\n    return s",
    "length": (
        "for k in range(2):\n        s += a * b\n        b = len([a, a])\n"
        "    for j in range(2):\n        s += a * b\n    return s"
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_parameters_bound_to_integers(name: str) -> None:
    found = judged(f"def f(a, b):\n    s = a * b\n    {COUNTED[name]}\ndef arguments(): return 0.3, 0.7\n", 1)
    assert found.verdict == "right", found


def test_a_size_alone_of_what_is_differentiated_is_looked_at() -> None:
    """It may be a field, whose derivative is not 0; where arithmetic shows an array, no line is needed."""
    made = dump("-:f", wrt=("x", "b"), text="def f(x, b):\n    return b.size * x\n").text
    assert made.count("check_method(b)\n") == 1
    assert "check_method" not in dump("-:f", text="def f(x, b):\n    return b.size * x\n").text
    text = "import numpy as np\ndef f(x, b):\n    return np.sum(x * b) / b.size\n"
    assert "check_method" not in dump("-:f", wrt=("x", "b"), text=text).text


@pytest.mark.parametrize("call", ["round(1)", "argmax()", "argsort()", "any()", "nonzero()[0]", "searchsorted(0.5)"])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_method_without_a_derivative_of_what_is_unknown(call: str, mode: str) -> None:
    source = f"import numpy as np\ndef f(x):\n    return x.{call}.sum() * np.sum(x * x)\n"
    x = np.array([0.31, 0.42])
    scope: dict[str, Any] = {}
    exec(source, scope)
    exec(dump("-:f", text=source, mode=mode).text, scope)
    step = 1e-6 * np.array([1.0, -2.0])
    slope = (scope["f"](x + step) - scope["f"](x - step)) / 2e-6
    if mode == "reverse":
        assert np.isclose(scope["f_grad"](x) @ step * 1e6, slope)
    else:
        assert np.isclose(scope["f_jvp"](x, x_dot=step * 1e6)[1], slope)


JOINED = {  # a slice of the adjoint of a list is added to after, or between, what a helper adds to all of it
    "three": "return sum(p[1:]) * h(p) * sum(p)",
    "loop": "s = 0.0\n    for k in range(2):\n        s += sum(p[k:]) * h(p)\n    return s",
    "branch": "s = h(p)\n    if s > 0:\n        s = s * sum(p[1:])\n    return s * h(p)",
    "two slices": "return h(p) * sum(p[1:]) * sum(p) * sum(p[:2])",
    "twice in a loop": "s = 0.0\n    for k in range(2):\n        t = h(p)\n        s += sum(p[k:]) * t\n    return s",
}


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_slices_of_a_list_beside_what_a_helper_sums(name: str, kind: Any) -> None:
    head = "def h(q, n=2):\n    return sum(q) if n == 0 else h(q, n - 1)\n"
    scope: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    text = f"{head}def f(p):\n    {JOINED[name]}\n"
    exec(dump("-:f", text=text, wrt=("p",)).text, scope)
    exec(text, plain)
    p, f, step = np.array([1.0, 2.0, 3.0]), plain["f"], 1e-6
    right = [(f(list(p + step * e)) - f(list(p - step * e))) / (2 * step) for e in np.eye(3)]
    got = scope["f_grad"](kind(p.tolist()))
    assert len(got) == 3
    assert np.allclose(got, right, rtol=1e-6)


GONE_THROUGH = (
    "    return sum(d) * x",
    "    u, w = d\n    return u * w * x",
    "    s = 0.0\n    for k in sorted(d):\n        s = s + k * x\n    return s",
    "    s = 0.0\n    for i, k in enumerate(d):\n        s = s + k * x * i\n    return s",
    "    first, *rest = d\n    return first * x + rest[0] * x * x",
    "    return several(d, x) * x",
    "    s = 0.0\n    for k, v in zip(d, d.values()):\n        s = s + k * v * x\n    return s",
    "    s = 0.0\n    for i in range(len(d)):\n        s = s + d[i] * x\n    return s",
)
SEVERAL = "def several(e, x):\n    s = 0.0\n    for k in e:\n        s = s + k * x\n    return s\n\n\n"


def _flat(x: Any) -> list[float]:
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, tuple) else None
    return [float(x)] if parts is None else [one for part in parts for one in _flat(part)]


def _with_dict(text: str, mode: str, wrt: tuple[str, ...], due: list[float]) -> bool:
    """Whether a dumped text is as it must be for a dict; it says otherwise that it is not for one."""
    made: dict[str, Any] = {}
    exec(dump("-:f", text=text, mode=mode, wrt=wrt).text, made)
    tangents = {"d_dot": {0: 0.3, 1: 0.6}, "x_dot": 1.0}
    try:
        if mode == "forward":
            value, slope = made["f_jvp"]({0: 2.0, 1: 3.0}, 0.7, **{f"{one}_dot": tangents[f"{one}_dot"] for one in wrt})
            along = due[1] + ("d" in wrt) * (0.3 * due[2] + 0.6 * due[3])
            np.testing.assert_allclose((value, slope), (due[0], along), rtol=1e-5)
        else:
            value, *bars = _flat(made["f_value_and_grad"]({0: 2.0, 1: 3.0}, 0.7))
            np.testing.assert_allclose((value, *bars), (due[0], *due[2:], due[1]) if "d" in wrt else due[:2], rtol=1e-5)
    except TypeError as error:
        assert "E5005" in str(error), error
        return False
    return True


@pytest.mark.parametrize("body", GONE_THROUGH)
def test_a_dict_that_is_gone_through(body: str) -> None:
    text = f"{SEVERAL}def f(d, x):\n{body}\n"
    plain: dict[str, Any] = {}
    exec(text, plain)
    f, h = plain["f"], 1e-6

    def slope(u: float, w: float, x: float) -> float:
        return (f({0: 2.0 + u, 1: 3.0 + w}, 0.7 + x) - f({0: 2.0 - u, 1: 3.0 - w}, 0.7 - x)) / (2 * h)

    due = [f({0: 2.0, 1: 3.0}, 0.7), slope(0, 0, h), slope(h, 0, 0), slope(0, h, 0)]
    cases = [(mode, wrt) for mode in ("forward", "value-and-grad") for wrt in (("x",), ("d", "x"))]
    right = [_with_dict(text, mode, wrt, due) for mode, wrt in cases]
    assert right[1] or "range" not in body
    assert (right[1] and right[3]) or "values" not in body


def test_an_argument_that_a_loop_binds_to_something_else() -> None:
    text = "def f(x, y):\n    for h in range(2):\n        y = h\n    return x + sum([y for k in (1, 2)])\n"
    made: dict[str, Any] = {}
    exec(dump("-:f", text=text).text, made)
    assert made["f_grad"](0.5, 0.7) == (1.0, 0.0)


def test_an_object_of_the_module_that_others_may_change() -> None:
    text = (
        "import numpy as np\nclass Box:\n    def __init__(self, w):\n        self.w = w\n    def dot(self, t):\n"
        "        return np.sin(t) + self.w\n    def set(self, x):\n        self.w = x\nmodel = Box(0.6)\n"
        "def f(b):\n    return np.sum(model.dot(b))\n"
    )
    try:
        made: dict[str, Any] = {}
        exec(dump("-:f", text=text).text, made)
    except srcgrad.DifferentiationError as error:
        assert error.code == "E5017"
    else:
        np.testing.assert_allclose(made["f_grad"](np.array([0.3, 0.7])), np.cos([0.3, 0.7]))


INTEGERS = {  # arrays like an argument, into which adjoints or floats are stored: of integers they would be cut off
    "filled": "return np.sum(x * 0.5)",
    "part": "return np.sum(x[1:] * 0.5)",
    "element": "return x[0] * 0.5 + x[1] * x[2]",
    "gathered": "return np.sum(x[np.array([0, 0, 2])] * 0.5)",
    "sorted": "return np.sum(np.sort(x) * 0.3)",
    "loop": "s = 0.0\n    for v in x:\n        s = s + v * 0.3\n    return s",
    "comprehension": "return sum(v * 0.3 for v in x)",
    "copied and written": "y = x.copy()\n    y[1:] = y[:-1] * 0.5\n    return np.sum(y)",
    "copied, and an element written": "y = x.copy()\n    y[0] = y[1] * 0.5\n    return np.sum(y ** 2)",
    "like it and written": "y = np.zeros_like(x)\n    y[0] = x[1] * 0.5\n    return np.sum(y ** 2)",
    "converted": "return np.sum(np.asarray(x, float) ** 2)",
    "sum of a dtype": "return np.sum(x, dtype=float)",
    "chosen": "return np.sum(np.choose([0, 1, 0, 1], [x, 0.5]))",
    "in a rule that is written out": "return np.sum(cdist(x[:, None], x[:2, None] + 1))",
    "a helper by keyword": "return helper(v=0.5, u=x)",
    "circulant": "return np.sum(circulant(x) ** 2 * 0.1)",
    "second name": "y = x if x[0] > 0 else x * 2\n    return np.mean(y[::2])",
}


def test_integers_in_dumped_texts() -> None:
    """An array of integers is refused, or its gradient is that of the same floats."""
    wrong = []
    for name, body in INTEGERS.items():
        head = "import numpy as np\nfrom scipy.linalg import circulant\nfrom scipy.spatial.distance import cdist"
        head += "\ndef helper(u, v): return np.sum(u[1:] * v)"
        scope: dict[str, Any] = {}
        exec(dump("-:f", text=f"{head}\ndef f(x):\n    {body}\n").text, scope)
        right = scope["f_grad"](np.array([1.0, 4.0, 2.0, 5.0]))
        try:
            found = scope["f_grad"](np.array([1, 4, 2, 5]))
        except TypeError as error:
            found = right if "E5002" in str(error) else error
        if isinstance(found, TypeError) or not np.array_equal(found, right):
            wrong.append((name, found, right))
    assert wrong == []


def test_integers_beside_floats_in_dumped_texts() -> None:
    """Where one of two is of floats, so is the array in question: the other may be an integer."""
    scope: dict[str, Any] = {}
    text = "import numpy as np\ndef f(x, c):\n    y = x * c\n    y[0] = y[1] * 0.5\n    return np.sum(y)\n"
    exec(dump("-:f", text=text).text, scope)
    x_bar, c_bar = scope["f_grad"](np.array([1.0, 4.0]), 2)
    assert np.array_equal(x_bar, [0.0, 3.0])
    assert c_bar == 6.0
    with pytest.raises(TypeError, match="E5002"):
        scope["f_grad"](np.array([1, 4]), 2)
