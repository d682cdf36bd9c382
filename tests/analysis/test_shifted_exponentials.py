"""Largest values that are taken off before `exp`: no adjoint flows to those that cancel, and to all others it does."""

import numpy as np
import pytest

import srcgrad
from srcgrad.core.files import load
from srcgrad.interface.show.explain import explain_facts

HEADS = {
    "log-sum-exp": "c = np.max(z)\nreturn np.log(np.sum(np.exp(z - c))) + c",
    "by columns": "c = np.max(z, axis=0)\nreturn np.sum((np.log(np.sum(np.exp(z - c), axis=0)) + c) ** 2)",
    "by rows": "c = z.max(axis=1, keepdims=True)\n"
    "return np.sum((np.log(np.exp(z - c).sum(axis=1, keepdims=True)) + c) * z)",
    "softmax": "c = np.max(z, axis=-1)[..., None]\ne = np.exp(z - c)\n"
    "return np.sum((e / np.sum(e, axis=-1)[..., None]) ** 2)",
    "expanded": "c = np.max(z, 1)\ne = np.exp(z - np.expand_dims(c, 1))\nreturn np.sum(np.log(np.sum(e, 1)) + c)",
    "log-softmax": "c = np.max(z, axis=1, keepdims=True)\nt = z - c\n"
    "return np.sum(z * (t - np.log(np.sum(np.exp(t), axis=1, keepdims=True))))",
    "both": "c = np.max(z, axis=1, keepdims=True)\ne = np.exp(z - c)\ns = np.sum(e, axis=1, keepdims=True)\n"
    "return np.sum((np.log(s) + c) * z) + np.sum(e / s * z)",
    "in a loop": "y = 0.0\nfor _ in range(2):\n    c = np.max(z, axis=0)\n"
    "    z = z * (np.log(np.sum(np.exp(z - c), axis=0)) + c)\n    y = y + np.sum(z)\nreturn y",
}
STAY = {
    "read elsewhere": "c = np.max(z)\nreturn np.log(np.sum(np.exp(z - c))) + c + 0.1 * c * c",
    "not given back": "c = np.max(z)\nreturn np.log(np.sum(np.exp(z - c)))",
    "given back twice": "c = np.max(z)\nreturn np.log(np.sum(np.exp(z - c))) + c + c",
    "an exponential is read": "c = np.max(z)\ne = np.exp(z - c)\nreturn np.log(np.sum(e)) + c + e[0, 0]",
    "another axis": "c = np.max(z, axis=0)\ns = np.sum(np.exp(z - c), axis=1)\nreturn np.sum((np.log(s) + c) * c)",
    "broadcast along the wrong axis": "c = np.max(z, axis=1)\n"
    "return np.sum((np.log(np.sum(np.exp(z - c), axis=1)) + c) ** 2)",
    "one axis more": "c = np.max(z, axis=0, keepdims=True)\n"
    "return np.sum((np.log(np.sum(np.exp(z - c[None]), axis=0)) + c) ** 2)",
    "written into": "c = np.max(z)\ne = np.exp(z - c)\ne[0] = 3.0\nreturn np.log(np.sum(e)) + c",
    "another array": "c = np.max(z, axis=0)\nw = np.stack((z, 2.0 * z))\n"
    "return np.sum((np.log(np.sum(np.exp(w - c), axis=0)) + c) ** 2)",
    "weighed": "c = np.max(z, axis=1, keepdims=True)\ne = np.exp(z - c)\n"
    "return np.sum(np.log(np.sum(e * z, axis=1, keepdims=True) + 9.0) + c)",
    "read after the loop": "y = 0.0\nfor _ in range(2):\n    c = np.max(z)\n"
    "    y = y + np.log(np.sum(np.exp(z - c))) + c\nreturn y * c",
    "in a branch": "c = np.max(z)\ny = np.log(np.sum(np.exp(z - c)))\nif np.sum(z) > 0.0:\n    y = y + c\nreturn y",
    "quotient the other way": "c = np.max(z)\ne = np.exp(z - c)\nreturn np.sum(e * np.sum(e))",
}
POINT = np.array([[0.3, -1.2, 0.7], [0.9, 0.2, -0.4], [1.5, 0.1, 0.8]])


def function_of(body):
    text = "def f(z):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return text, load("import numpy as np\n\n" + text, "f", "note_shifts", {}, by="tests")


@pytest.mark.parametrize("body", HEADS.values(), ids=HEADS)
def test_no_adjoint_flows_to_a_shift_that_cancels(body):
    text, function = function_of(body)
    assert len(explain_facts(text).idioms.shifts) == 1
    made = srcgrad.source(function)
    assert "share" not in made and "c_bar" not in made


@pytest.mark.parametrize("body", STAY.values(), ids=STAY)
def test_an_adjoint_flows_to_any_other(body):
    text, _ = function_of(body)
    assert list(explain_facts(text).idioms.shifts) == []


@pytest.mark.parametrize("body", [*HEADS.values(), *STAY.values()], ids=[*HEADS, *STAY])
def test_derivatives_are_those_of_differences(body):
    _, function = function_of(body)
    srcgrad.check_grads(function, (POINT,), order=2, modes=("reverse", "forward"))
