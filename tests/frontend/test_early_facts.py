"""Operations with several results: each result has a name of its own, whichever way it is read."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import check_grads, grad, source, vjp
from srcgrad.core.errors import DifferentiationError

A = np.random.default_rng(0).normal(size=(3, 3))


def unpacked(a):
    q, r = np.linalg.qr(a)
    return np.sum(q[0] * r[1])


def own_operand_in_a_loop(a):
    for _ in range(3):
        q, r = np.linalg.qr(a)
        a = r @ q
    return np.sum(np.diagonal(a) ** 2) + a[0, 1]


def overwritten_operand(a):
    q, a = np.linalg.qr(a)
    return np.sum(q[0] * a[1])


def overwritten_operand_in_a_loop(a):
    s = 0.0
    for _ in range(3):
        q, a = np.linalg.qr(a)
        s = s + q[0, 1]
    return s + np.sum(a[0])


def fields_in_a_loop(a):
    r = np.linalg.svd(a)
    s = 0.0
    for k in range(2):
        s = s + r.S[k] * r.U[0, k] ** 2
    return s


def written_into(a):
    w, v = np.linalg.eigh(a + a.T)
    w[0] = 2.0 * w[1]
    return np.sum(w**2) + np.sum((v * w) @ v.T * np.arange(9.0).reshape(3, 3))


def bound_twice(a, flag=True):
    r = np.linalg.eigh(a + a.T)
    if flag:
        r = np.linalg.eigh(r.eigenvectors + r.eigenvectors.T)
    return np.sum(r.eigenvalues**2)


def result_of_a_helper(a):
    def decomposed(m):
        return np.linalg.qr(m)

    q, r = decomposed(a)
    return np.sum(q[:, 0]) + r[0, 0]


def slice_of_results(a):
    return np.linalg.lstsq(a[:, :2], a[:, 2])[:2]


def slice_of_parts(a):
    return np.split(np.ravel(a), [2, 5])[:2]


def clashing_name(a):
    eigenvalues = 3.0
    t = np.linalg.eigh(a + a.T)
    return np.sum(t.eigenvalues) * eigenvalues


def name_of_a_result_bound_again(a):
    s, u = 0.0, a
    s, u = np.linalg.slogdet(u)
    return s * u * 2.0


def result_read_again(a):
    w = np.linalg.eigh(a + a.T)
    x = w[0]
    x = x * 2.0
    y = w[0]
    return np.sum(x * y)


def result_read_again_behind_a_loop(a):
    r = np.linalg.eigh(a + a.T)
    x = r[0]
    for _ in range(2):
        x = x * 2.0
    return np.sum(x * r[0])


def whole(a):
    return np.linalg.eigh(a + a.T)


def in_a_dict(a):
    w, v = np.linalg.eigh(a + a.T)
    return {"w": w, "v": v**2}


PROGRAMS = [
    unpacked, own_operand_in_a_loop, overwritten_operand, fields_in_a_loop, written_into, bound_twice,
    result_of_a_helper, slice_of_results, slice_of_parts, clashing_name, name_of_a_result_bound_again,
    result_read_again, whole, in_a_dict, overwritten_operand_in_a_loop, result_read_again_behind_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(program):
    order = 1 if program is slice_of_parts else 2
    check_grads(program, (A,), order=order, directions=1)


def test_a_branch_that_is_not_taken():
    check_grads(bound_twice, (A, False), order=1)


def test_slice_of_parts_of_unequal_lengths():
    _, back = vjp(slice_of_parts, A)
    assert back([np.ones(2), 2.0 * np.ones(3)])[0].tolist() == [[1.0, 1.0, 2.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]]


def lines(f, mode="reverse"):
    return [line.strip() for line in source(f, mode=mode).split('"""')[-1].splitlines() if line.strip()]


def squares(a):
    return np.sum(np.linalg.eigh(a).eigenvalues ** 2)


def logarithm(a):
    return 2.0 * np.linalg.slogdet(a)[1]


def test_what_nothing_uses_is_left_out():
    text = lines(squares)
    assert text[:2] == ["check_arrays(a)", "eigenvalues, eigenvectors = np.linalg.eigh(a)"]
    assert text[3:] == [
        "t = eigenvectors * np.expand_dims(y_bar * 2.0 * eigenvalues, -2) @ eigenvectors.mT",
        "a_bar = np.tril(t) + np.tril(t, -1)",
        "return a_bar",
    ]
    gradient = grad(squares)
    read = gradient(A + A.T)  # of the lower triangle: that of the whole is its mean with the transpose
    assert np.allclose(0.5 * (read + read.T), 2.0 * (A + A.T))
    assert "t = eigenvectors * (y_bar * 2.0 * eigenvalues) @ eigenvectors.T" in gradient.source
    assert "_, logabsdet = np.linalg.slogdet(a)" in lines(logarithm, "forward")


def raw(a):
    return np.linalg.qr(a, mode="raw")[0]


def chosen(a, mode):
    return np.linalg.qr(a, mode)[0]


@pytest.mark.parametrize("program", [raw, chosen], ids=lambda f: f.__name__)
def test_parameters_that_decide_what_is_given_are_literals(program):
    args = (A, "complete")[: 1 + (program is chosen)]
    with pytest.raises(DifferentiationError, match="does not handle `mode=") as caught:
        vjp(program, *args)
    assert caught.value.code == "E5006"


def test_complex_eigenvalues_are_refused():
    def largest(a):
        return np.max(np.abs(np.linalg.eigvals(a)))

    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    with pytest.raises(DifferentiationError, match="complex eigenvalues") as caught:
        grad(largest)(turn)
    assert caught.value.code == "E5001"


def orbit(omega, x, v, n):
    """A step whose two results are bound to names, also crosswise."""

    def rates(x, v):
        w = omega * omega
        return v, -w * x

    def turned(x, v):
        return v, x

    for _ in range(n):
        dx, dv = rates(x, v)
        dx, dv = rates(x + 0.05 * dx, v + 0.05 * dv)
        x, v = x + 0.1 * dx, v + 0.1 * dv
        v, x = turned(x, v)
        v, x = rates(v, x)
    return np.sum(x * v)


def test_results_that_are_taken_apart_are_no_tuple() -> None:
    text = source(orbit, wrt=("omega", "x", "v"))
    assert "_value" not in text and "dv_bar" in text
    arguments = (0.9, np.array([0.4, -0.3]), np.array([0.1, 0.8]), 3)
    check_grads(orbit, arguments, wrt=(0, 1, 2), order=2, modes=("reverse", "forward"))
