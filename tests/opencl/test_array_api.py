"""`srcgrad.opencl` as a namespace of the array API (2024.12), held against `array_api_strict`.

`python -m tests.opencl.test_array_api` prints the score. This is not the official suite (data-apis/array-api-tests).
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import srcgrad.opencl as opencl
from srcgrad.opencl.arrays import creation
from tests.opencl.array_api_calls import CALLS, IN_PLACE, OBJECT, ONE, TWO

strict: Any = pytest.importorskip("array_api_strict", minversion="2.3")

INTEGERS = "bitwise_"
LOGICAL = "logical_"
COMPLEX = "abs add conj cos divide equal exp log multiply not_equal pow real reciprocal sqrt square subtract sin tanh"


def elementwise() -> Iterator[str]:
    """Calls of elementwise functions, for each kind of dtype that the standard has for them."""
    for name in ONE.split():
        kinds = "i" if name.startswith(INTEGERS) else ("b" if name.startswith(LOGICAL) else "x")
        kinds += "c" if name in COMPLEX.split() else ""
        kinds += "i" if name in ("abs", "ceil", "floor", "round", "trunc", "sign", "square", "positive") else ""
        yield from (f"xp.{name}({'x + 1.0' if name == 'acosh' and k == 'x' else k})" for k in kinds)
    for name in TWO.split():
        if name.startswith(INTEGERS):
            yield from (f"xp.{name}(i, j)", f"xp.{name}(i, 1)")
        elif name.startswith(LOGICAL):
            yield from (f"xp.{name}(b, ~b)", f"xp.{name}(b, True)")
        else:
            yield from (f"xp.{name}(x, y)", f"xp.{name}(x, v)", f"xp.{name}(x, 0.5)", f"xp.{name}(0.5, y)")
            if name in COMPLEX.split():
                yield f"xp.{name}(c, c)"
            if name in ("add", "multiply", "subtract", "maximum", "floor_divide", "remainder", "equal", "less"):
                yield f"xp.{name}(i, j)"


ALL = [*elementwise(), *CALLS, *OBJECT]


def operands(xp: Any, real: Any) -> dict[str, Any]:
    """What the calls speak of, as arrays of a namespace."""
    numbers = np.random.default_rng(0)
    half = np.complex64 if real is np.float32 else np.complex128
    square = numbers.uniform(size=(4, 4))
    made = {
        "x": numbers.uniform(0.1, 0.9, (3, 4)).astype(real),
        "y": numbers.uniform(0.1, 0.9, (3, 4)).astype(real),
        "v": numbers.uniform(0.1, 0.9, 4).astype(real),
        "m": (square @ square.T + np.eye(4)).astype(real),
        "s": numbers.uniform(size=(2, 3, 4)).astype(real),
        "i": numbers.integers(1, 9, (3, 4)),
        "j": numbers.integers(1, 4, (3, 4)),
        "b": numbers.uniform(size=(3, 4)) > 0.5,
        "c": (numbers.uniform(size=(3, 4)) + 1j * numbers.uniform(size=(3, 4))).astype(half),
    }
    name = real.__name__
    return {key: xp.asarray(value, copy=True) for key, value in made.items()} | {"xp": xp, "f": getattr(xp, name)}


def compared(found: Any, wanted: Any, eps: float) -> None:
    """Arrays of one dtype, one shape and the same values; tuples of them; or equal objects."""
    if isinstance(wanted, strict._array_object.Array):
        assert isinstance(found, opencl.Array), type(found)
        one, two = np.asarray(found), wanted._array
        assert one.dtype == two.dtype and one.shape == two.shape
        np.testing.assert_allclose(one, two, rtol=eps, atol=eps)
    elif isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for part, other in zip(found, wanted, strict=True):
            compared(part, other, eps)
    elif isinstance(wanted, strict._dtypes.DType):
        assert found == wanted._np_dtype
    else:
        assert type(found) is type(wanted) and found == wanted, (found, wanted)


PARTS = 8  # so that the processes of a test run share the work


def differs(call: str, real: Any) -> str:
    """How a call, or a statement that writes in place, differs from what `array_api_strict` gives; "" if not at all."""
    strict.set_array_api_strict_flags(api_version="2024.12")
    ours, theirs = operands(opencl, real), operands(strict, real)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if call in IN_PLACE:
                exec(call, ours)
                exec(call, theirs)
                call = re.match(r"\w", call).group()  # type: ignore[union-attr]
            compared(eval(call, ours), eval(call, theirs), 1e-4 if real is np.float32 else 1e-11)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("part", range(PARTS))
def test_calls(part: int) -> None:
    calls = [*ALL, *IN_PLACE][part::PARTS]
    found = {(call, real.__name__): differs(call, real) for call in calls for real in (np.float32, np.float64)}
    assert {call: how for call, how in found.items() if how} == {}


def test_every_name_of_the_standard_is_called() -> None:
    strict.set_array_api_strict_flags(api_version="2024.12")
    later = {"isin", "broadcast_shapes"}  # of 2025.12
    text = "\n".join(ALL)
    for home, prefix in ((strict, "xp."), (strict.linalg, "xp.linalg."), (strict.fft, "xp.fft.")):
        names = {
            name for name in home.__all__ if "strict" not in name.lower() and name not in ("Device", "__version__")
        }
        kinds = {name for name in names if re.fullmatch(r"u?int\d+|float\d+|complex\d+|bool|linalg|fft", name)}
        for name in sorted(names - later):
            assert hasattr(opencl if prefix == "xp." else getattr(opencl, prefix[3:-1]), name), name
            assert name in kinds or f"{prefix}{name}" in text, name


def test_every_argument_of_the_standard_is_given() -> None:
    strict.set_array_api_strict_flags(api_version="2024.12")
    places: dict[str, int] = {}
    given: dict[str, set[str | None]] = {}
    for call in (node for text in ALL for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        places[name] = max(places.get(name, 0), len(call.args))
        given.setdefault(name, set()).update(keyword.arg for keyword in call.keywords)
    for home, prefix in ((strict, "xp."), (strict.linalg, "xp.linalg."), (strict.fft, "xp.fft.")):
        for name in home.__all__:
            function = getattr(home, name)
            if f"{prefix}{name}" in given and inspect.isfunction(function):
                wanted = [*inspect.signature(function).parameters][places[f"{prefix}{name}"] :]
                assert set(wanted) <= {*given[f"{prefix}{name}"], "arrays"}, name


def test_functions_of_our_own_have_the_arguments_of_the_standard() -> None:
    strict.set_array_api_strict_flags(api_version="2024.12")
    pairs: list[Any] = [(strict._array_object.Array.__dlpack__, opencl.Array.__dlpack__)]
    own = {name: value for name, value in vars(creation).items() if inspect.isfunction(value)}
    pairs += [(getattr(strict, name), value) for name, value in own.items() if name in strict.__all__]
    assert len(pairs) > 15
    for theirs, ours in pairs:
        one, two = (inspect.signature(function).parameters.values() for function in (theirs, ours))
        assert [(p.name, p.kind) for p in one if p.name != "self"] == [
            (p.name, p.kind) for p in two if p.name != "self"
        ], ours


def score() -> str:
    """How many calls agree, and what those that do not have to say."""
    every = [(call, real) for call in [*ALL, *IN_PLACE] for real in (np.float32, np.float64)]
    said = {f"{call} [{real.__name__}]": differs(call, real) for call, real in every}
    wrong = [f"{call}: {what}" for call, what in said.items() if what]
    return "\n".join([*wrong, f"{len(every) - len(wrong)} of {len(every)} calls agree with array_api_strict"])


if __name__ == "__main__":
    sys.stdout.write(score() + "\n")
