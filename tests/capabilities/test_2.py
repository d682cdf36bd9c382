"""Section 2 of the capabilities: linear maps, their transposes, derivatives of any order, texts that stay small."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np

import srcgrad
from srcgrad import check_grads, grad, jvp, linearize, source, transpose, vjp
from srcgrad.interface.dump import dump

DRAW = np.random.default_rng(2).standard_normal


def power(x):
    return x**4


def exponential(a, x):
    return np.exp(a * x)


def total(a, x):
    return np.sum(np.exp(a * x))


def test_2_1_and_2_2_the_adjoint_is_the_transpose_of_the_tangent() -> None:
    x, seed, tangent = DRAW(3), DRAW(2), DRAW(3)
    _, linear = linearize(mixed, x)
    (x_bar,) = transpose(linear)(seed)
    np.testing.assert_allclose(x_bar, vjp(mixed, x)[1](seed)[0])
    np.testing.assert_allclose(transpose(transpose(linear))(tangent), linear(tangent))


def mixed(x):
    return np.stack([np.sum(np.sin(x) * x), x[0] * x[2]])


def test_2_3_pipelines_of_any_order() -> None:
    f = power
    found = []
    for _ in range(4):
        f = grad(f)
        found.append(f(2.0))
    assert found == [32.0, 48.0, 48.0, 24.0]


def test_2_4_the_engine_names_no_operation_of_numpy_in_its_schemes() -> None:
    home = Path(srcgrad.__file__).parent
    for file in ("derive/reverse.py", "derive/forward.py", "derive/in_place_writes.py"):
        tree = ast.parse((home / file).read_text())
        named = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
        assert not named & {"sin", "exp", "matmul", "tanh", "multiply"}


def test_2_5_and_2_14_values_are_computed_once() -> None:
    text = source(total, mode="value-and-grad")
    assert "\n".join(code(text)).count("np.exp(") == 1


def twice(a, x):
    return np.exp(a * x) + np.exp(a * x)


def test_2_6_slots_tell_results_apart() -> None:
    assert grad(several)(np.arange(4.0)).tolist() == [0.0, 0.0, 4.0, 6.0]
    np.testing.assert_allclose(grad(twice, 1)(2.0, 1.0), 4.0 * np.exp(2.0))


def several(x):
    _, b = np.split(x, 2)
    return np.sum(b * b)


def test_2_7_a_tangent_equal_to_its_primal() -> None:
    x = np.array([3.0, 2.0])
    _, y_dot = jvp(lambda x: x * x, (x,), (x,))
    np.testing.assert_array_equal(y_dot, 2.0 * x * x)


def odd_names(dx, bx, x_1, _stack, x_bar, d):
    y = dx * bx + x_1 * _stack
    return y * x_bar * d


def test_2_8_names_of_the_user_stay_theirs() -> None:
    check_grads(odd_names, tuple(DRAW(6)))


def test_2_9_texts_of_higher_order_grow_slowly() -> None:
    lengths, f = [], cube
    for _ in range(3):
        f = grad(f)
        f(2.0)
        lengths.append(len(code(f.source)))
    assert lengths[2] < 4 * lengths[0] and lengths[1] <= 15


def cube(a):
    return a * a * a


def code(text: str) -> list[str]:
    tree = ast.parse(text)
    body = ast.unparse(tree.body[-1])
    return [line for line in body.splitlines() if line.strip() and '"""' not in line]


def test_2_10_linear_maps_of_chosen_inputs() -> None:
    _, linear = linearize(lambda a, x: (a * x, a + x), 2.0, 3.0, wrt=(1,))
    assert linear.tangent_inputs == ("x_dot",)
    assert linear(1.0) == (2.0, 1.0)


def only_y(x, y):
    return np.exp(y)


def test_2_11_what_does_not_matter_has_no_tangent() -> None:
    assert "x_dot *" not in source(only_y, mode="forward", wrt=("x",))
    assert grad(only_y)(1.0, 2.0) == 0.0


def test_2_13_tangents_are_linear() -> None:
    x, u, v = DRAW(3), DRAW(3), DRAW(3)
    one, two = (jvp(mixed, (x,), (t,))[1] for t in (u, v))
    np.testing.assert_allclose(jvp(mixed, (x,), (2.0 * u - 3.0 * v,))[1], 2.0 * one - 3.0 * two)


def test_2_15_sums_of_contributions() -> None:
    assert grad(lambda x: x + x)(3.0) == 2.0


def inner(x):
    return np.sin(x) * x


def outer(x):
    return inner(x) * inner(x + 1.0)


def test_2_16_one_text_of_several_functions(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        "import numpy as np\n\n\ndef inner(x):\n    return np.sin(x) * x\n\n\n"
        "def outer(x):\n    return inner(x) * inner(x + 1.0)\n"
    )
    space: dict[str, Any] = {}
    exec(dump(f"{file}:outer", inline=True).text, space)
    np.testing.assert_allclose(space["outer_grad"](0.7), grad(outer)(0.7))


def test_2_17_temporaries_are_bound_once() -> None:
    tree = ast.parse(source(total))
    bound = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    assert all(bound.count(name) == 1 for name in bound if name.startswith("t") and name[1:].isdigit())


def test_2_18_made_once_and_again_when_a_rule_changes() -> None:
    @srcgrad.opaque
    def own(x):
        return x * x

    srcgrad.sensitivity(own, arg=0)(lambda y, y_bar, x: y_bar * 2.0 * x)
    derivative = grad(lambda x: own(x))
    assert derivative(3.0) == 6.0
