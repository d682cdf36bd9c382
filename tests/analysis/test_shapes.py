"""Shapes that annotations and examples declare: what the text drops, what it checks, what it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any  # functions of arbitrary arguments

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import check_grads
from srcgrad.interface.dump import dump

RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape)


def regression(w: "d k", b: "k", x: "n d", y: "n k"):  # noqa: F722, F821, UP037
    z = x @ w + b
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.sum(y * (np.log(np.sum(np.exp(z), axis=1, keepdims=True)) - z), axis=1))


def network(w, b, v, x):
    h = np.maximum(x @ w + b, 0.0)
    t = np.tanh(h @ v - np.mean(h, axis=1)[:, None])
    return np.sum(t * t) / x.shape[0]


def moments(x, scale, shift):
    n, d = x.shape
    centred = (x - x.mean(axis=0)) * scale + shift
    stacked = np.concatenate((centred, np.ones((n, 1)) * centred[:, :1]), axis=1)
    return np.sum(np.reshape(stacked.T @ stacked, ((d + 1) * (d + 1),)) ** 2)


def helper(a, b):
    return np.log(1.0 + np.sum(np.exp(a * b), axis=0))


def calls(x, w, u):
    return np.sum(helper(x, w) * u) + np.sum(helper(x * 2.0, w)) + helper(u, u)


def containers(p, x):
    h = np.tanh(x @ p["w"] + p["b"])
    return np.sum(h * p["scale"][0])


def loops(x, w, c, n):
    h = x
    for _ in range(n):
        h = np.tanh(h * w + c)
    return np.sum(h * h)


CASES: dict[str, tuple[Any, tuple[Any, ...], tuple[str, ...]]] = {
    "regression": (regression, (normal(3, 4), normal(4), normal(5, 3), normal(5, 4)), ("w", "b", "x", "y")),
    "network": (network, (normal(3, 4), normal(4), normal(4, 2), normal(5, 3)), ("w", "b", "v", "x")),
    "moments": (moments, (normal(5, 3), 0.7, normal(3)), ("x", "scale", "shift")),
    "calls": (calls, (normal(5, 3), normal(3), normal(3)), ("x", "w", "u")),
    "containers": (containers, ({"w": normal(3, 2), "b": normal(2), "scale": (0.7, 1)}, normal(5, 3)), ("p", "x")),
    "loops": (loops, (normal(5, 3), normal(3), normal(5, 1), 3), ("x", "w", "c")),
    "sizes of one": (regression, (normal(1, 1), normal(1), normal(1, 1), normal(1, 1)), ("w", "b", "x", "y")),
    "no rows": (calls, (normal(0, 3), normal(3), normal(3)), ("w", "u")),
}
CASES["float32"] = (network, tuple(a.astype(np.float32) for a in CASES["network"][1]), CASES["network"][2])


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("name", CASES)
def test_gives_what_the_general_text_gives(name: str) -> None:
    function, arguments, wrt = CASES[name]
    general = srcgrad.value_and_grad(getattr(function, "plain", function), wrt)(*arguments)
    special = srcgrad.value_and_grad(function, wrt, like=arguments)
    assert "check_shapes(" in special.source
    found = special(*arguments)
    for one, two in zip(leaves(found), leaves(general), strict=True):
        assert np.shape(one) == np.shape(two)
        if one is not None:
            assert getattr(one, "dtype", None) == getattr(two, "dtype", None)
            np.testing.assert_allclose(one, two, rtol=1e-5 if name == "float32" else 1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["regression", "loops"])
def test_needs_no_sum_to(name: str) -> None:
    function, arguments, wrt = CASES[name]
    text = srcgrad.source(function, wrt=wrt, like=arguments)
    assert "sum_to" not in text
    assert "broadcast_to" not in text


def test_annotations_do_the_same() -> None:
    text = srcgrad.source(regression)
    assert "b_bar = z1_bar.sum(axis=0)" in text or "b_bar = z_bar.sum(axis=0)" in text
    assert 'check_shapes((w, b, x, y), "w: d k; b: k; x: n d; y: n k")' in text
    check_grads(regression, CASES["regression"][1], order=2)


def posed(p: "n 8", x: "n 3"):  # noqa: F722
    axes, moved = p[:, 0:3], x - p[:, -5:-2]
    turned = np.cross(axes, moved) * p[:, 6:7] + np.cross(axes[0], moved)
    both = np.concatenate((turned[:, ::2], p[:, 7:9]), axis=1)
    return np.sum(both[:, :2] / (2.0 + both[:, 2:] ** 2)) + np.sum(p[:, 3:3]) + np.sum(p[:, ::-3][:, 1:2] * x)


def test_parts_of_axes_of_known_length_have_known_lengths() -> None:
    text = srcgrad.source(posed, wrt=("p", "x"))
    assert "axes_bar[0] += np.cross(moved, turned_bar).sum(axis=0)" in text
    assert "sum_to" not in text
    check_grads(posed, (normal(4, 8), normal(4, 3)), order=2)


def opened(a, b, x):
    return np.sum(np.sin((a - b)[:, None] * x))


@pytest.mark.parametrize(
    "shapes", [((3,), (3,), (3, 4)), ((1,), (3,), (1, 4)), ((3,), (1,), (3, 1)), ((1,), (1,), (3, 4))]
)
def test_what_axes_are_added_to_is_summed_along_them_first(shapes: tuple[tuple[int, ...], ...]) -> None:
    slopes = srcgrad.grad(opened, ("a", "b", "x"))
    arguments = tuple(normal(*shape) for shape in shapes)
    slopes(*arguments)
    lines = [line.strip() for line in slopes.source.splitlines()]
    known = [line for line in lines if line.startswith(("a_minus_b_bar", "a_bar", "b_bar"))]
    assert known == [
        "a_minus_b_bar = (sin_arg_bar * x).sum(axis=1)",
        "a_bar = sum_to(a_minus_b_bar, a)",
        "b_bar = -sum_to(a_minus_b_bar, b)",
    ]
    check_grads(opened, arguments, order=2)


def test_called_with_arguments_of_lower_precision() -> None:
    arguments = tuple(a.astype(np.float32) for a in CASES["regression"][1])
    gradient = srcgrad.grad(regression, ("w", "b"))
    assert [g.dtype for g in gradient(*arguments)] == [np.float32, np.float32]
    assert "check_shapes" not in gradient.source


WRONG = {
    "another length": (normal(3, 4), normal(3), normal(5, 3), normal(5, 4)),
    "one that would broadcast": (normal(3, 4), normal(1), normal(5, 3), normal(5, 4)),
    "rows that would broadcast": (normal(3, 4), normal(4), normal(5, 3), normal(1, 4)),
    "another rank": (normal(3, 4), normal(1, 4), normal(5, 3), normal(5, 4)),
    "a number": (normal(3, 4), 0.5, normal(5, 3), normal(5, 4)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_as_declared_is_an_error(name: str) -> None:
    with pytest.raises(DifferentiationError, match="E5027"):
        srcgrad.grad(regression)(*WRONG[name])
    arguments = CASES["regression"][1]
    with pytest.raises(DifferentiationError, match="E5027"):
        srcgrad.grad(regression, like=arguments)(*WRONG[name])


@pytest.mark.parametrize(
    "other",
    [
        {"w": normal(3, 2), "b": normal(2), "scale": (0.7,)},
        {"w": normal(3, 2), "b": normal(2), "scale": [0.7, 1]},
        {"w": normal(3, 2), "b": normal(2), "scale": (normal(2), 1)},
        {"w": normal(3, 2), "b": normal(2), "scale": (0.7, 1), "c": 1.0},
        {"w": normal(3, 2), "b": normal(3), "scale": (0.7, 1)},
    ],
)
def test_containers_are_looked_into(other: Any) -> None:
    function, arguments, _ = CASES["containers"]
    with pytest.raises(DifferentiationError, match="E5027"):
        srcgrad.grad(function, like=arguments)(other, arguments[1])


def test_dtypes_that_would_change_a_gradient() -> None:
    function, arguments, _ = CASES["network"]
    mixed = (arguments[0].astype(np.float32), *arguments[1:])
    with pytest.raises(DifferentiationError, match=r"E5027.* one dtype"):
        srcgrad.grad(function, like=arguments)(*mixed)
    halves = tuple(a.astype(np.float16) for a in arguments)
    with pytest.raises(DifferentiationError, match=r"E5027.*float16"):
        srcgrad.grad(function, like=arguments)(*halves)
    with pytest.raises(DifferentiationError, match=r"E5027.*complex"):
        srcgrad.grad(function, like=arguments)(arguments[0] + 1j, *arguments[1:])


def test_arrays_that_are_made_with_the_usual_dtype_want_doubles() -> None:
    function, arguments, wrt = CASES["moments"]
    gradient = srcgrad.grad(function, wrt, like=arguments)
    assert '"float64; x: n m' in gradient.source
    with pytest.raises(DifferentiationError, match=r"E5027.*float32"):
        gradient(arguments[0].astype(np.float32), 0.7, arguments[2].astype(np.float32))


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "model.py"
    path.write_text(text)
    return str(path)


def executed(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    return names


def test_a_dump_checks(tmp_path: Path) -> None:
    text = dump(
        written(
            tmp_path,
            "import numpy as np\nfrom jaxtyping import Array, Float\n\n"
            'def f(w: Float[Array, "d"], x: Float[Array, "n d"], s: float):\n    return np.sum((x * w) ** 2) * s\n',
        ),
        wrt=("w", "s"),
    ).text
    assert "sum_to" not in text
    names = executed(text)
    w_bar, s_bar = names["f_grad"](np.ones(2), np.ones((3, 2)), 2.0)
    assert w_bar.tolist() == [12.0, 12.0]
    assert s_bar == 6.0
    with pytest.raises(ValueError, match="E5027"):
        names["f_grad"](np.ones(1), np.ones((3, 2)), 2.0)
    with pytest.raises(ValueError, match="E5027"):
        names["f_grad"](np.ones(2), np.ones((3, 2)), np.ones(3))


def test_numbers_alone_need_no_import(tmp_path: Path) -> None:
    text = dump(
        written(
            tmp_path, "def f(x: float, y: float, n: int):\n    for i in range(n):\n        x = x * y\n    return x\n"
        )
    ).text
    assert "import" not in text
    names = executed(text)
    assert names["f_grad"](2.0, 3.0, 2) == (9.0, 12.0)
    with pytest.raises(TypeError, match="x and y are declared float"):
        names["f_grad"](np.ones(2), 3.0, 2)


@pytest.mark.parametrize(
    ("annotation", "declared"),
    [
        ('"n d"', "x: n d"),
        ('"3 n"', "x: 3 n"),
        ('"n"', "x: n"),
        ("'Float[Array, \"n d\"]'", "x: n d"),
        ('Float32[Array, "n"]', "x: n"),
        ('Float64[Array, "n"]', "x: float64 n"),
        ('Annotated[object, "n m"]', "x: n m"),
        ('Float[Array, ""]', "x: ()"),
        ('"ndarray"', ""),
        ('"Tensor"', ""),
        ('"Model"', ""),
        ('"np.ndarray"', ""),
        ('"float64"', ""),
        ('Float[Array, "..."]', ""),
        ('Float[Array, "*batch d"]', ""),
        ('Float[Array, "n-1"]', ""),
        ('Literal[1, "a"]', ""),
        ("np.ndarray", ""),
    ],
)
def test_annotations_that_declare_a_shape(tmp_path: Path, annotation: str, declared: str) -> None:
    head = "import numpy as np\nfrom typing import *\nfrom jaxtyping import Array, Float, Float32, Float64\n"
    head += "class Model:\n    pass\n"
    text = dump(written(tmp_path, f"{head}def f(x: {annotation}):\n    return np.sum(x * x)\n") + ":f", wrt=("x",)).text
    assert (f'"{declared}"' in text) if declared else ("check_shapes" not in text)


def test_a_global_of_the_name_of_a_length_is_no_type(tmp_path: Path) -> None:
    text = dump(written(tmp_path, 'import numpy as np\nn = 5\ndef f(x: "n"):\n    return np.sum(x * x)\n') + ":f").text
    assert 'check_shapes((x,), "x: n")' in text


def test_names_that_clash() -> None:
    def clash(check_shapes: "n", np_: "n m", d: "m"):  # noqa: F821, F722, UP037
        n = check_shapes * 2.0
        return np.sum(np_ * d) * np.sum(n)

    arguments = (normal(4), normal(4, 3), normal(3))
    found = srcgrad.grad(clash, (0, 1, 2))(*arguments)
    check_grads(clash, arguments, order=1)
    np.testing.assert_allclose(found[2], np.sum(arguments[1], axis=0) * 2.0 * np.sum(arguments[0]), rtol=1e-12)


@pytest.mark.parametrize("mode", ["reverse", "value-and-grad", "vjp", "forward"])
def test_all_modes_check(mode: str) -> None:
    text = srcgrad.source(regression, mode)
    assert text.count("check_shapes((w, b, x, y)") == 1


def test_second_derivatives_and_standalone(tmp_path: Path) -> None:
    path = written(tmp_path, 'import numpy as np\ndef f(x: "n", y: "n"):\n    return np.sum(x * x * y)\n')
    text = dump(path, mode="hvp", wrt=("x",), standalone=True).text
    assert "\nfrom srcgrad" not in text
    names = executed(text)
    found = names["f_hvp"](np.ones(2), np.array([1.0, 2.0]), x_dot=np.ones(2))
    assert found.tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="E5027"):
        names["f_hvp"](np.ones(2), np.ones(1), x_dot=np.ones(2))
    check_grads(CASES["regression"][0], CASES["regression"][1], order=2)


def test_examples_that_are_no_arguments() -> None:
    with pytest.raises(DifferentiationError, match=r"E5027.*like= holds 1 examples"):
        srcgrad.source(network, like=(normal(3, 4),))


def test_one_symbol_for_one_length_and_ones_stay() -> None:
    text = srcgrad.source(loops, wrt=("x", "w"), like=CASES["loops"][1])
    assert '"x: n m; w: m; c: n 1; n: float"' in text


@pytest.mark.parametrize("target", ["numpy"])
def test_the_checked_text_can_be_differentiated(target: str) -> None:
    outer = srcgrad.grad(lambda s, w, b, x, y: srcgrad.grad(regression, "b")(w, b * s, x, y)[0])
    arguments = (0.7, *CASES["regression"][1])
    step = 1e-6
    inner = srcgrad.grad(regression, "b")

    def value(s: float) -> float:
        w, b, x, y = arguments[1:]
        return float(inner(w, b * s, x, y)[0])

    numeric = (value(0.7 + step) - value(0.7 - step)) / (2.0 * step)
    assert outer(*arguments) == pytest.approx(numeric, rel=1e-6, abs=1e-9)


def bilinear(x: "n", w: "n n"):  # noqa: F722, F821, UP037
    return np.sum(np.tanh(w @ x) * x)


def undeclared(x, w):
    return np.sum(np.tanh(w @ x) * x)


def test_second_derivatives_are_for_the_declared_shapes():
    x, w, v = normal(3), normal(3, 3), normal(3)
    for other in (np.float64, np.float32):
        given = x.astype(other), w.astype(other)
        found, expected = (
            srcgrad.hvp(bilinear)(*given, v.astype(other)),
            srcgrad.hvp(undeclared)(*given, v.astype(other)),
        )
        assert found.dtype == other
        assert found == pytest.approx(expected, rel=1e-5)
        assert srcgrad.hessian(bilinear)(*given) == pytest.approx(
            srcgrad.hessian(undeclared)(*given), rel=1e-5, abs=1e-5
        )
    text = srcgrad.source(bilinear, "hvp", wrt="x")
    assert ("check_shapes(" in text, "sum_to" in text, "broadcast_to" in text) == (True, False, False)
    assert len(text.splitlines()) < len(srcgrad.source(undeclared, "hvp", wrt="x").splitlines())
    for made in (lambda: srcgrad.hvp(bilinear)(x, normal(3, 4), v), lambda: srcgrad.hessian(bilinear)(x, normal(4, 3))):
        with pytest.raises(DifferentiationError, match="E5027"):
            made()
