"""Our own functions in OpenCL C against 40 digits, and at the ends of the numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special

from srcgrad.opencl.kernels.c_functions import FLAGGED, identifier, prelude
from srcgrad.opencl.kernels.c_functions import FUNCTIONS as CALLED
from srcgrad.opencl.launch import launch
from tests.opencl.test_axes import loops

__all__ = ["loops"]

REALS = [np.float32, np.float64]
SIGMOID = "1.0 / (1.0 + exp(-x))"
# what is computed, by what in many digits, where, and by how many units in the last place it may be off
FUNCTIONS = {
    "exp": (mpmath.exp, (-87.0, 88.0), 2.0),
    "exp2": (lambda x: mpmath.mpf(2) ** x, (-120.0, 120.0), 2.0),
    "expm1": (mpmath.expm1, (-20.0, 80.0), 2.0),
    "log": (mpmath.log, (1e-30, 1e30), 2.0),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), (1e-30, 3.0), 2.0),
    "log10": (lambda x: mpmath.log(x) / mpmath.log(10), (1e-30, 3.0), 2.0),
    "log1p": (mpmath.log1p, (-0.999, 1e6), 2.0),
    "sin": (mpmath.sin, (-300.0, 300.0), 2.0),
    "cos": (mpmath.cos, (-300.0, 300.0), 2.0),
    "tan": (mpmath.tan, (-300.0, 300.0), 4.0),
    "asin": (mpmath.asin, (-1.0, 1.0), 2.0),
    "acos": (mpmath.acos, (-1.0, 1.0), 2.0),
    "atan": (mpmath.atan, (-5.0, 5.0), 2.0),
    "tanh": (mpmath.tanh, (-20.0, 20.0), 4.0),
    "sinh": (mpmath.sinh, (-89.4, 89.4), 2.0),
    "cosh": (mpmath.cosh, (-89.4, 89.4), 2.0),
    "asinh": (mpmath.asinh, (-5.0, 5.0), 2.0),
    "acosh": (mpmath.acosh, (1.0, 5.0), 4.0),
    "atanh": (mpmath.atanh, (-1.0, 1.0), 2.0),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), (-10.0, 10.0), 2.0),
    "erf": (mpmath.erf, (-6.0, 6.0), 4.0),
    "erfc": (mpmath.erfc, (-6.0, 9.0), 4.0),
    "lgamma": (mpmath.loggamma, (1e-30, 12.0), 4.0),
    "digamma": (mpmath.digamma, (1e-30, 12.0), 4.0),
    "tgamma": (mpmath.gamma, (-20.0, 35.0), 4.0),
    "sqrt": (mpmath.sqrt, (0.0, 1e20), 0.5),
    SIGMOID: (lambda x: 1 / (1 + mpmath.exp(-x)), (-80.0, 40.0), 4.0),
}
PAIRS = {
    "pow": (mpmath.power, 2.0),
    "atan2": (mpmath.atan2, 2.0),
    "hypot": (mpmath.hypot, 2.0),
    "logaddexp": (lambda x, y: max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y))), 2.0),
}


def kernel(formula: str, arguments: str = "x") -> Callable[..., Any]:
    """A kernel of one or more arguments."""
    code = f"REAL z_ = {formula};\n        STORE(z_);"
    text = f'def k({arguments}):\n    """Of each element:\n\n        {code}\n    """\n'
    space: dict[str, Any] = {}
    exec(text, space)
    found: Callable[..., Any] = space["k"]
    return found


def points(low: float, high: float, real: Any) -> Any:
    """Even steps, and ever smaller numbers of both signs, as they are and next to 1."""
    small = np.exp2(-np.arange(0.0, 100.0, 0.7))
    every = np.concatenate([np.linspace(low, high, 1500), small, -small, 1.0 + small, 1.0 - small])
    kept = every.astype(real)
    return kept[(kept >= low) & (kept <= high)]


def assert_near(found: Any, exact: Callable[..., Any], args: tuple[Any, ...], allowed: float) -> None:
    """Each element is at most so many units in the last place from what 40 digits give."""
    assert np.any(found)
    with mpmath.workdps(40):
        for value, *each in zip(found, *args, strict=True):
            numbers = [mpmath.mpf(float(argument)) for argument in each]
            try:
                wanted = exact(*numbers)
            except (ValueError, ZeroDivisionError):  # a pole
                continue
            if mpmath.isfinite(wanted) and abs(wanted) <= float(np.finfo(found.dtype).max):
                unit = float(np.spacing(found.dtype.type(float(abs(wanted)))))
                assert abs(mpmath.mpf(float(value)) - wanted) <= (allowed + 0.001) * unit, (each, value, wanted)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_units_in_the_last_place(name: str, real: Any) -> None:
    exact, (low, high), allowed = FUNCTIONS[name]
    x = points(low, high, real)
    assert_near(launch(kernel(name if name == SIGMOID else f"{name}(x)"), x), exact, (x,), allowed)


def pairs(name: str, real: Any) -> tuple[Any, Any]:
    """Numbers next to each other, and of all sizes; for pow and logaddexp so that results are numbers."""
    numbers = np.random.default_rng(5)
    least, most = np.log2(np.finfo(real).smallest_subnormal), np.log2(np.finfo(real).max)
    near, wide = numbers.standard_normal((2, 700)), np.exp2(numbers.uniform(least, most - 1.0, (2, 700)))
    if name == "logaddexp":
        first = np.concatenate([near[0] + 5.0, 0.0 * near[0], np.abs(near[0])])
        return first.astype(real), np.concatenate([20.0 * near[1], 100.0 * near[1], np.abs(near[0]) - 0.7]).astype(real)
    if name != "pow":
        x, y = np.concatenate([near, wide * np.sign(near)], axis=1).astype(real)
        return x, y
    x = np.concatenate([np.abs(near[0]), wide[0], 1.0 + near[0] * 1e-3]).astype(real)
    with np.errstate(divide="ignore"):
        reach = 1.0 / np.abs(np.log2(x.astype(np.float64)))
    share = numbers.uniform(least, most, len(x))
    return x, (share * np.minimum(reach, 1e9)).astype(real)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", PAIRS)
def test_units_in_the_last_place_of_two(name: str, real: Any) -> None:
    exact, allowed = PAIRS[name]
    x, y = pairs(name, real)
    assert_near(launch(kernel(f"{name}(x, y)", "x, y"), x, y), exact, (x, y), allowed)


ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, -1e-310, 1e-40, 1e308, -1e308, -1.0, 1.0, 5e-324, 710.0, -746.0]
ODD = [2.0, -2.0, 3.0, -3.0, 4.0, 0.5, -0.5, 1.0 / 3.0, 2.5, -7.0, 9007199254740991.0, -16777215.0, 8388607.5, 1e-45]
OF_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh"}
OF_NUMPY |= {"atanh": "arctanh", "atan2": "arctan2", "pow": "power"}
OF_SCIPY = {"erf": special.erf, "erfc": special.erfc, "digamma": special.digamma, "lgamma": special.gammaln}
OF_SCIPY["tgamma"] = special.gamma


def assert_same(found: Any, wanted: Any, args: tuple[Any, ...]) -> None:
    """NaN where NaN is wanted, zeros of the same sign, and else at most 4 units off."""
    near = np.abs(found - wanted) <= 4 * np.spacing(np.abs(wanted))
    right = (found == wanted) | near | (np.isnan(found) & np.isnan(wanted))
    right &= (found != 0.0) | (np.signbit(found) == np.signbit(wanted))
    assert np.all(right), (*(a[~right] for a in args), found[~right], wanted[~right])


ONES = """exp exp2 expm1 log log2 log10 log1p tanh sinh cosh asinh acosh atanh asin acos atan cbrt sqrt sin cos sign erf
erfc lgamma digamma tgamma"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", ONES.split())
def test_ends(name: str, real: Any) -> None:
    x = np.array([*ENDS, 89.0, -104.0, -90.0, 3e4, 1e9, 89.3, -710.4, 2.0, -3.0, 172.5], real)
    if name == "lgamma":
        x = x[(np.abs(x) >= np.finfo(real).tiny) | (x == 0.0)]  # SciPy has inf for subnormals
    wanted = OF_SCIPY[name](x) if name in OF_SCIPY else getattr(np, OF_NUMPY.get(name, name))(x)
    assert_same(launch(kernel(f"{name}(x)"), x), wanted, (x,))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", ["pow", "atan2", "hypot", "logaddexp"])
def test_ends_of_two(name: str, real: Any) -> None:
    x, y = (v.ravel() for v in np.meshgrid(*[np.array([*ENDS, *ODD], real)] * 2))
    assert_same(launch(kernel(f"{name}(x, y)", "x, y"), x, y), getattr(np, OF_NUMPY.get(name, name))(x, y), (x, y))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_gamma_of_negative_numbers(name: str, real: Any) -> None:
    """There are zeros between the poles: the error is in units of 4, or of the result where that is larger."""
    exact = {"lgamma": lambda x: mpmath.loggamma(x).real, "digamma": mpmath.digamma}[name]
    x = np.linspace(-20.0, -1e-3, 700).astype(real)
    found = launch(kernel(f"{name}(x)"), x)
    with mpmath.workdps(40):
        wanted = np.array([float(exact(mpmath.mpf(float(v)))) for v in x if v != np.floor(v)])
    found = found[x != np.floor(x)]
    assert np.all(np.abs(found - wanted) <= 4 * np.spacing(np.maximum(np.abs(wanted), 4.0).astype(real)))


def without_fused(kind: str, text: str) -> str:
    return f"#undef __FMA__\n{prelude(kind, text)}"


@pytest.mark.parametrize("real", REALS)
def test_powers_without_fused_multiplication(real: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("srcgrad.opencl.kernels.loops.prelude", without_fused)
    x, y = pairs("pow", real)
    assert_near(launch(kernel("pow(x, y)", "x, y"), x, y), *PAIRS["pow"][:1], (x, y), 2.0)


def quotients(real: Any) -> tuple[Any, Any]:
    """Odd numbers of all sizes, far apart and near, what lies next to multiples, and multiples that are small."""
    info, numbers = np.finfo(real), np.random.default_rng(5)
    odd = np.array([*ENDS, *ODD, info.max, info.max / 2, info.tiny, 1.0 + info.eps, 0.1, 5.0], real)
    least, most = np.log2(info.smallest_subnormal), np.log2(info.max)
    wide = np.exp2(numbers.uniform(least, most - 1.0, (2, 700))) * numbers.choice([-1.0, 1.0], (2, 700))
    near = (numbers.standard_normal((2, 5000)) * [[9.0], [1.0]]).astype(real)
    y = numbers.uniform(1.0, 2.0, 5000).astype(real)
    x = y * np.floor(np.exp2(numbers.uniform(0.0, info.nmant, 5000))).astype(real)
    x = np.concatenate([x[:2000], np.nextafter(x[2000:3500], real(0)), np.nextafter(x[3500:], real(np.inf))])
    small = real(2.0) ** int(least // 2)
    pairs = [np.meshgrid(odd, odd), near, (x, y), (x * small, y * small), wide.astype(real)]
    return tuple(np.concatenate([np.ravel(pair[k]) for pair in pairs]) for k in (0, 1))  # type: ignore[return-value]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("real", REALS)
def test_quotients_are_those_of_numpy(real: Any, loops: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = quotients(real)
    for halves in (False, True):
        if halves:
            monkeypatch.setattr("srcgrad.opencl.kernels.loops.prelude", without_fused)
        for name in ("fmod", "remainder", "floor_divide"):
            found, wanted = launch(kernel(f"{name}(x, y)", "x, y"), x, y), getattr(np, name)(x, y)
            right = (found == wanted) & (np.signbit(found) == np.signbit(wanted)) | (np.isnan(found) & np.isnan(wanted))
            assert right.all(), (name, x[~right], y[~right], found[~right], wanted[~right])
    alone = kernel("fmod(x, y)", "x, y")
    odd = np.array([*ENDS, *ODD, np.finfo(real).max], real)
    for x in odd:  # in blocks without others, which might have them computed again
        for y in odd:
            assert_same(launch(alone, np.full(2, x), np.full(2, y)), np.full(2, np.fmod(x, y)), ())


@pytest.mark.parametrize("real", REALS)
def test_a_block_with_one_large_argument_is_right_everywhere(real: Any) -> None:
    x = np.linspace(-4.0, 4.0, 5000).astype(real)
    x[1234], x[4999] = 1e7, -3e8
    for name in ("sin", "cos", "tan"):
        allowed = 8 * np.spacing(np.maximum(np.abs(getattr(np, name)(x)), real(0.1)))
        assert np.all(np.abs(launch(kernel(f"{name}(x)"), x) - getattr(np, name)(x)) <= allowed)


@pytest.mark.parametrize("real", REALS)
def test_maximum_and_minimum_hand_nan_on(real: Any) -> None:
    x = np.array([np.nan, 1.0, -1.0, np.inf, 0.0], real)
    for name in ("maximum", "minimum"):
        found = launch(kernel(f"{name}(x, 0.5)"), x)
        assert np.array_equal(found, getattr(np, name)(x, real(0.5)), equal_nan=True)


def test_a_kernel_is_given_what_it_calls() -> None:
    text = prelude("float", "REAL y = expm1(x) + sinh(x);")
    assert set(re.findall(r"^OWN (\w+)\(", text, re.MULTILINE)) == {
        "sg_fabs",
        "sg_copysign",
        "sg_power_of_two",
        "sg_expm1_times",
        "sg_expm1",
        "sg_sinh",
    }


def test_names_of_functions_are_no_names_of_python() -> None:
    for name in (*CALLED, "sg_exp", "far_sin", "OWN"):
        assert identifier(name) == f"{name}_"
    found = launch(kernel("exp__ + pow(exp__, 2.5)", "exp_"), np.array([4.0, 4.0]))
    assert np.array_equal(found, [36.0, 36.0])


def test_what_functions_take_is_what_their_c_says() -> None:
    """The table stands by itself: a file of kernels takes it over, without all the functions."""
    text = prelude("double", " ".join(sorted(CALLED)))
    found = re.findall(r"OWN sg_(\w+)\(([\w, ]*), int\* far\)", text)
    assert {name: given.replace("REAL ", "") for name, given in found if name in CALLED} == FLAGGED
