"""Section 2 of the capabilities, second part: the examples, second and third order, checkpoints, texts."""

from __future__ import annotations

import itertools
import linecache
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads, grad, hvp, jvp, vjp
from srcgrad.interface.dump import dump
from srcgrad.interface.show.explain import explain_text

DRAW = np.random.default_rng(9).standard_normal


def exponential(a, x):
    return np.exp(a * x)


def total(a, x):
    return np.sum(np.exp(a * x))


def test_2_20_einsum() -> None:
    check_grads(lambda a, b: np.sum(np.einsum("ij,jk->ik", a, b) ** 2), (DRAW((2, 3)), DRAW((3, 2))))
    check_grads(lambda a: np.einsum("ii->", a) ** 2, (DRAW((3, 3)),))
    check_grads(lambda a: np.sum(np.einsum("ij->ji", a) * np.arange(6.0).reshape(3, 2)), (DRAW((2, 3)),))


def test_2_21_scalar_example() -> None:
    value, tangent = jvp(exponential, (2.0, 1.0), (0.0, 1.0))
    np.testing.assert_allclose([value, tangent, grad(exponential, 1)(2.0, 1.0)], np.exp(2.0) * np.array([1, 2, 2]))


A, AT, DOT = np.array([2.0, -1.0]), np.array([1.0, 0.5]), np.array([0.3, -0.2])


def test_2_22_vector_example() -> None:
    y, y_dot = jvp(exponential, (A, AT), (np.zeros(2), DOT))
    seed = DRAW(2)
    _, pullback = vjp(exponential, A, AT)
    np.testing.assert_allclose(np.vdot(seed, y_dot), np.vdot(pullback(seed)[1], DOT))
    assert y.shape == (2,)


def test_2_23_sum_of_a_vector() -> None:
    np.testing.assert_allclose(total(A, AT), 7.995586758643284)
    np.testing.assert_allclose(grad(total, 1)(A, AT), [14.7781122, -0.60653066])
    np.testing.assert_allclose(jvp(total, (A, AT), (np.zeros(2), DOT))[1], 4.554739791300917)


def test_2_25_numbers_are_arrays_of_rank_zero() -> None:
    for x, kind in ((np.float64(3.0), np.float64), (np.array(3.0), np.ndarray), (3.0, float)):
        found = grad(lambda x: x * x)(x)
        assert found == 6.0 and type(found) is kind and np.shape(found) == ()


def own_tangent(x):
    return x**3


def test_2_26_rules_of_users_have_both_modes() -> None:
    @srcgrad.opaque
    def third(x):
        return x**3

    srcgrad.register_vjp(third, lambda primals, cotangent, output: (cotangent * 3.0 * primals[0] ** 2,))
    srcgrad.register_jvp(third, lambda primals, tangents, output: 3.0 * primals[0] ** 2 * tangents[0])
    assert grad(lambda x: third(x))(2.0) == 12.0
    assert jvp(lambda x: third(x), (2.0,), (0.5,)) == (8.0, 6.0)


def test_2_28_and_2_29_golden_sums_and_products() -> None:
    assert (grad(lambda x: x + x)(3.0), jvp(lambda x: x + x, (3.0,), (1.0,))) == (2.0, (6.0, 2.0))
    assert grad(lambda x, y: x * y, (0, 1))(2.0, 3.0) == (3.0, 2.0)


def along(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


def square(x):
    return x * x


def forward_of_forward(x):
    return jvp(lambda t: jvp(square, (t,), (1.0,))[1], (x,), (1.0,))[1]


def reverse_of_forward(x):
    return grad(lambda t: jvp(square, (t,), (1.0,))[1])(x)


def test_2_31_and_2_32_second_derivatives_agree_in_all_orders() -> None:
    assert grad(grad(square))(3.0) == 2.0
    assert jvp(grad(square), (3.0,), (1.0,))[1] == 2.0
    assert forward_of_forward(3.0) == 2.0 and reverse_of_forward(3.0) == 2.0
    second = grad(grad(lambda x: np.exp(2.0 * x)))(1.0)
    np.testing.assert_allclose(second, 29.5562243957226)
    np.testing.assert_allclose(jvp(grad(lambda x: np.exp(2.0 * x)), (1.0,), (1.0,))[1], 29.5562243957226)


def test_2_33_golden_sum_of_exponentials() -> None:
    check_grads(total, (A, AT))


def test_2_34_third_order() -> None:
    np.testing.assert_allclose(grad(grad(grad(lambda x: np.exp(2.0 * x))))(1.0), 59.1124487914452)


def long_chain(x):
    for _ in srcgrad.checkpointed(range(400)):
        x = np.sin(x) + x * 0.9
    return np.sum(x)


def plain_chain(x):
    for _ in range(400):
        x = np.sin(x) + x * 0.9
    return np.sum(x)


def test_2_35_checkpoints() -> None:
    import tracemalloc

    x = DRAW(2000)
    peaks = []
    for f in (long_chain, plain_chain):
        derivative = grad(f)
        derivative(x)
        tracemalloc.start()
        found = derivative(x)
        peaks.append(tracemalloc.get_traced_memory()[1] / x.nbytes)
        tracemalloc.stop()
        np.testing.assert_allclose(found, grad(plain_chain)(x))
    assert peaks[0] < 3 * np.sqrt(400) < peaks[1]


def narrow(x):
    s = np.stack([np.sum(x), np.sum(x * x)])
    return s[0] * x + np.sin(s[1])


def test_2_36_jacobians_in_either_mode() -> None:
    x = DRAW(4)
    np.testing.assert_allclose(srcgrad.jacobian(narrow, mode="reverse")(x), srcgrad.jacobian(narrow, mode="forward")(x))


DIRECTIONS: list[str] = []


def counted(x: Any) -> Any:
    return x * x


@srcgrad.register_vjp(counted)
def counted_vjp(primals: Any, cotangent: Any, output: Any) -> Any:
    DIRECTIONS.append("reverse")
    return (2.0 * primals[0] * cotangent,)


@srcgrad.register_jvp(counted)
def counted_jvp(primals: Any, tangents: Any, output: Any) -> Any:
    DIRECTIONS.append("forward")
    return 2.0 * primals[0] * tangents[0]


NARROW, WIDE = DRAW((2, 6)), DRAW((6, 2))


def to_two(x: Any) -> Any:
    return NARROW @ counted(x)


def from_two(y: Any) -> Any:
    return WIDE @ counted(y)


def through_two(x: Any) -> Any:
    return WIDE @ counted(NARROW @ counted(x))


def test_2_36_a_jacobian_by_mixed_order_needs_fewer_directions() -> None:
    """R^6 -> R^2 -> R^6: six directions through both in either mode, two through each where the order is mixed."""
    x = DRAW(6)
    needed, found = {}, {}
    for mode in ("reverse", "forward"):
        DIRECTIONS.clear()
        found[mode] = srcgrad.jacobian(through_two, mode=mode)(x)
        needed[mode] = len(DIRECTIONS)
    DIRECTIONS.clear()
    mixed = srcgrad.jacobian(from_two, mode="forward")(to_two(x)) @ srcgrad.jacobian(to_two, mode="reverse")(x)
    assert len(DIRECTIONS) < min(needed.values())
    np.testing.assert_allclose(mixed, found["reverse"], rtol=1e-12)
    np.testing.assert_allclose(mixed, found["forward"], rtol=1e-12)


def cubed(a: Any) -> Any:
    return a * a * a


def lines_of(derivative: Any) -> int:
    return len([line for line in derivative.source.splitlines() if line.strip() and not line.strip().startswith("#")])


def test_2_37_texts_have_a_budget_of_lines() -> None:
    """The text of the n-th derivative grows with what it computes: a constant number of lines an order."""
    second = grad(grad(cubed))
    assert lines_of(second) <= 15  # of unknown rank
    assert second(2.0) == 12.0 and lines_of(second) <= 10
    derivative, sizes = grad(lambda a, x: np.exp(a * x), wrt=1), []
    for _ in range(4):
        derivative(0.5, 2.0)
        sizes.append(lines_of(derivative))
        derivative = grad(derivative, wrt=1)
    assert max(after - before for before, after in itertools.pairwise(sizes)) <= 6, sizes


def test_2_40_a_text_is_made_once() -> None:
    """Calls after the first one make no text, in any order of derivative."""
    derivative = grad(cubed)
    for order in range(1, 4):
        assert derivative(2.0) == (12.0, 12.0, 6.0)[order - 1]
        made = len(linecache.cache)
        assert {derivative(float(k)) for k in range(3)} and len(linecache.cache) == made
        derivative = grad(derivative)


def test_3_5_the_normal_form_is_a_function_with_the_same_derivative(tmp_path: Path) -> None:
    text = "import numpy as np\n\n\ndef bent(x):\n    return np.sum(np.sin(x) * x + (x if x[0] > 0 else -x))\n"
    (tmp_path / "plain.py").write_text(text)
    normal = explain_text(text, after="normalise")
    (tmp_path / "normal.py").write_text(f"import numpy as np\n\n\n{normal}\n")
    x = DRAW(4)
    found = [grad(runpy.run_path(str(tmp_path / f"{name}.py"))["bent"])(x) for name in ("plain", "normal")]
    np.testing.assert_allclose(*found, rtol=1e-14)  # terms of one line may be factored: sums round otherwise


def test_2_39_texts_run_by_themselves(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("import numpy as np\n\n\ndef total(a, x):\n    return np.sum(np.exp(a * x))\n")
    (tmp_path / "out.py").write_text(dump(f"{file}:total", standalone=True).text)
    check = "import sys; sys.modules['srcgrad'] = None; import out; print(out.total_grad(2.0, 1.0))"
    done = subprocess.run(
        [sys.executable, "-c", check], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600
    )
    assert "7.38" in done.stdout


def test_2_41_a_derivative_is_an_ordinary_function() -> None:
    derivative = grad(total)
    derivative(A, AT)
    space: dict[str, Any] = {}
    exec(derivative.source, space)
    np.testing.assert_array_equal(space["total_grad"](A, AT), derivative(A, AT))


def test_2_42_nested_tangents_do_not_mix() -> None:
    assert grad(lambda x: x * grad(lambda y: x + y)(x))(2.0) == 1.0
    assert grad(lambda x: x * jvp(lambda y: x + y, (x,), (1.0,))[1])(2.0) == 1.0
    np.testing.assert_allclose(hvp(total, 1)(A, AT, DOT), A * A * np.exp(A * AT) * DOT)


@pytest.mark.parametrize("name", ["jvp", "vjp", "linearize", "transpose"])
def test_2_24_examples_are_documented(name: str) -> None:
    assert ">>>" in getattr(srcgrad, name).__doc__


def test_2_27_and_2_30_complex_adjoints_are_conjugated() -> None:
    c, z = 2.0 + 3.0j, 1.0 - 2.0j
    _, pullback = vjp(lambda z: c * z, z)
    assert pullback(1.0 + 0.0j) == (2.0 - 3.0j,)
    assert jvp(lambda z: c * z, (z,), (1.0 + 0.0j,))[1] == c
    np.testing.assert_allclose(grad(lambda z: np.abs(z) ** 2)(z), 2.0 * z)
