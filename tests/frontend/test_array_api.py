"""The namespace of the arguments is NumPy; what only looks like it is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.dump import dump

LIBRARY = """
def array_namespace(*arrays):
    raise NotImplementedError

def xp_promote(*args, force_floating=False, broadcast=False, xp):
    raise NotImplementedError
"""


@pytest.fixture
def dumped(tmp_path):
    """The gradient's text of a function whose module imports the array API from `_array_api`."""
    (tmp_path / "_array_api.py").write_text(LIBRARY, encoding="utf-8")
    (tmp_path / "other.py").write_text(LIBRARY, encoding="utf-8")

    def text(body, home="_array_api"):
        lines = [
            f"from {home} import array_namespace, xp_promote",
            "",
            "def f(x):",
            *(f"    {line}" for line in body),
        ]
        path = tmp_path / "model.py"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return dump(f"{path}:f", standalone=True).text

    return text


def gradient(text, x):
    names = {}
    exec(compile(text, "<generated>", "exec"), names)
    return names["f_grad"](x)


@pytest.mark.parametrize(
    "body",
    [
        ["xp = array_namespace(x)", "x = xp_promote(x, force_floating=True, xp=xp)", "return xp.sum(x * x)"],
        ["xp = array_namespace(x)", "x = xp.asarray(x)", "return xp.sum(x * xp.asarray(x))"],
        ["xp = array_namespace(x)", "x = xp.astype(x, x.dtype)", "return xp.sum(x * x)"],
        ["xp = array_namespace(x)", "if xp.any(x > 9.0):", "    x = xp.exp(x)", "return xp.sum(x * x)"],
    ],
)
def test_it_is_numpy(dumped, body):
    text = dumped(body)
    code = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert not [line for line in code if "xp" in line and "np.exp" not in line]
    np.testing.assert_array_equal(gradient(text, np.array([1.0, -2.0])), [2.0, -4.0])


def test_a_function_of_another_module_is_not_meant(dumped):
    with pytest.raises(DifferentiationError):
        dumped(["xp = array_namespace(x)", "return xp.sum(x * x)"], home="other")


def test_a_name_that_is_bound_twice_is_not_meant(dumped):
    with pytest.raises(DifferentiationError):
        dumped(["xp = array_namespace(x)", "xp = xp.linalg", "return xp.norm(x)"])
