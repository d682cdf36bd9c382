"""Section 3 of the capabilities: the forward half as it was, visible seeds, what is saved, errors and ways out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError, check_grads, grad, hvp, jvp, source, value_and_grad, vjp

DRAW = np.random.default_rng(3).standard_normal


def loss(x, y):
    z = x * y
    return np.sum(z)


def test_3_1_the_value_is_that_of_the_primal_to_the_last_bit() -> None:
    def model(x, w):
        h = np.tanh(x @ w)
        return np.sum(h * h) / h.size

    x, w = DRAW((5, 3)), DRAW((3, 2))
    assert value_and_grad(model)(x, w)[0] == model(x, w)


def test_3_2_the_seed_is_a_parameter() -> None:
    assert "y_bar=1.0" in source(lambda x: np.sum(x * x))


def test_3_3_and_3_4_sums_of_products() -> None:
    x, y = DRAW((2, 3)), DRAW((2, 3))
    x_bar, y_bar = grad(loss, (0, 1))(x, y)
    np.testing.assert_array_equal(x_bar, y)
    np.testing.assert_array_equal(y_bar, x)
    check_grads(lambda x: np.sum(np.sum(x, axis=1, keepdims=True) ** 2), (x,))


def test_3_6_the_cost_does_not_grow_with_the_number_of_inputs() -> None:
    calls: list[int] = []

    @srcgrad.opaque
    def counted(x):
        calls.append(1)
        return np.sum(x * x)

    srcgrad.register_vjp(counted, lambda primals, cotangent, output: (2.0 * primals[0] * cotangent,))
    for n in (1, 10, 1000):
        calls.clear()
        value_and_grad(lambda x: counted(x))(DRAW(n))
        assert len(calls) == 1


def test_3_7_pullbacks_compose() -> None:
    x = DRAW(3)
    y, first = vjp(np_sin, x)
    _, second = vjp(np_cube, y)
    _, whole = vjp(lambda x: np_cube(np_sin(x)), x)
    seed = DRAW(3)
    np.testing.assert_allclose(whole(seed)[0], first(second(seed)[0])[0])


def np_sin(x):
    return np.sin(x)


def np_cube(x):
    return x * x * x


def test_3_8_and_3_24_rules_of_users_and_what_they_leave_out() -> None:
    @srcgrad.nondifferentiable
    def counted(x):
        return np.count_nonzero(x > 0.0)

    np.testing.assert_array_equal(grad(lambda x: np.sum(x * x) * counted(x))(np.ones(2)), [4.0, 4.0])


def test_3_9_the_table_is_complete_and_machine_readable() -> None:
    command = [sys.executable, "-m", "srcgrad", "rules"]
    missing = subprocess.run([*command, "--missing"], capture_output=True, text=True, check=False, timeout=600)
    assert (missing.returncode, missing.stdout) == (0, "")


@pytest.mark.parametrize("relu", [lambda x: np.maximum(x, 0.0), lambda x: np.where(x > 0.0, x, 0.0)])
def test_3_10_rectifiers(relu: Any) -> None:
    found = grad(lambda x: np.sum(relu(x)))(np.array([-1.0, 2.0]))
    np.testing.assert_array_equal(found, [0.0, 1.0])


def test_3_11_texts_run_without_the_library(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import numpy as np\n\n\ndef f(x, y):\n    return np.sum(x + y)\n")
    command = [sys.executable, "-m", "srcgrad", "dump", "model.py", "--standalone", "-o", "out.py"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=600)
    check = "import sys; sys.modules['srcgrad'] = None; import numpy as np, out; print(out.f_grad(np.ones(2), 1.0)[1])"
    done = subprocess.run(
        [sys.executable, "-c", check], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stdout.strip() == "2.0"


def test_3_12_a_function_defined_again_is_another_one() -> None:
    space: dict[str, Any] = {"np": np}
    for factor in (2.0, 5.0):
        file = f"<again {factor}>"
        text = f"def f(x):\n    return {factor} * x\n"
        import linecache

        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), space)
        assert grad(space["f"])(1.0) == factor


def test_3_13_products_of_a_value_with_itself() -> None:
    assert grad(lambda x: x * x)(3.0) == 6.0


def test_3_14_broadcasting_is_undone() -> None:
    found = grad(lambda b: np.sum(np.ones((3, 4)) + b))(np.ones(4))
    np.testing.assert_array_equal(found, [3.0, 3.0, 3.0, 3.0])


def network(x, w1, w2):
    h = np.maximum(x @ w1, 0.0)
    return np.sum(h @ w2)


def test_3_15_what_is_saved_is_listed() -> None:
    derivative = grad(network, ("w1", "w2"))
    derivative(DRAW((4, 3)), DRAW((3, 2)), DRAW((2, 1)))
    names = {saved.name for saved in derivative.saved}
    assert "h" in names and "w1" not in names


def batch_loss(w, x):
    return np.sum((x @ w) ** 2)


def test_3_17_micro_batches_add_up() -> None:
    w, x = DRAW(3), DRAW((8, 3))
    total = np.zeros(3)
    for k in range(4):
        grad(batch_loss).into(total)(w, x[2 * k : 2 * k + 2])
    np.testing.assert_allclose(total, grad(batch_loss)(w, x))


def test_3_19_not_differentiable_has_a_place_and_a_way_out() -> None:
    with pytest.raises(DifferentiationError, match=r"E500[13]") as found:
        grad(lambda x: np.sum(np.union1d(x, x)))(np.ones(3))
    text = str(found.value)
    assert "test_3.py:" in text and "^" in text and "what to do" in text


def test_3_20_integers_are_refused() -> None:
    with pytest.raises(DifferentiationError, match="E5002"):
        grad(lambda x: x * x)(3)


def test_3_21_no_rule_and_no_source() -> None:
    with pytest.raises(DifferentiationError, match="E5003"):
        grad(lambda x: np.asarray(memoryview(x)).sum())(np.ones(3))


def test_3_22_the_wrong_shape_from_a_rule() -> None:
    @srcgrad.opaque
    def own(x):
        return x * 1.0

    srcgrad.register_vjp(own, lambda primals, cotangent, output: (cotangent[:1],))
    with pytest.raises(DifferentiationError, match="E5004"):
        grad(lambda x: np.sum(own(x)))(np.ones(3))


def stopped(x):
    return np.sum(x * srcgrad.stop_gradient(x))


def test_3_23_stop_gradient() -> None:
    x = DRAW(3)
    np.testing.assert_array_equal(grad(stopped)(x), x)


def test_3_25_columns_of_a_jacobian_by_forward_mode() -> None:
    x = DRAW(3)
    columns = [jvp(np_cube, (x,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(np.stack(columns, axis=1), srcgrad.jacobian(np_cube)(x))


def quartic(x):
    return np.sum(x**4) + x[0] * x[1]


def test_3_26_products_with_hessians() -> None:
    x, v = DRAW(3), DRAW(3)
    dense = srcgrad.hessian(quartic)(x)
    np.testing.assert_allclose(hvp(quartic)(x, v), dense @ v)
    np.testing.assert_allclose(dense, dense.T)


def nested_loops(x, n):
    s = x
    for i in range(n):
        for j in range(i):
            s = s * np.cos(x) + i * j
    return np.sum(s)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_3_27_loops(n: int) -> None:
    check_grads(nested_loops, (DRAW(3), n))


def branches(x):
    if np.sum(x) > 0.0:
        y = np.sin(x)
    elif x[0] < -1.0:
        y = x * x
    else:
        y = np.exp(x)
    return np.sum(y) if x[1] > 0.0 else np.sum(y * y)


@pytest.mark.parametrize("start", [[1.0, 1.0], [-2.0, 0.5], [-0.5, -0.2]])
def test_3_28_branches(start: list[float]) -> None:
    check_grads(branches, (np.array(start),))


def mlp(params, x, target):
    for w, b in params:
        x = np.tanh(x @ w + b)
    return np.mean((x - target) ** 2)


def test_3_29_a_network_learns() -> None:
    params = [(DRAW((3, 4)) * 0.5, np.zeros(4)), (DRAW((4, 1)) * 0.5, np.zeros(1))]
    x = DRAW((20, 3))
    target = np.tanh(x[:, :1])
    step = value_and_grad(mlp)
    losses = []
    for _ in range(60):
        value, found = step(params, x, target)
        losses.append(value)
        params = [(w - 0.3 * dw, b - 0.3 * db) for (w, b), (dw, db) in zip(params, found, strict=True)]
    assert losses[-1] < 0.3 * losses[0]
