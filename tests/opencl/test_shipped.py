"""Standalone modules with kernels: what they give where srcgrad cannot be imported is what NumPy gives."""

from __future__ import annotations

import ast
import functools
import importlib
import pathlib
import pickle
import re
import subprocess
import symtable
import sys
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.cli import main
from srcgrad.interface.dump import dump
from srcgrad.opencl.launches.shipped import SectionContents, section
from tests.opencl import shipped_programs as programs

RANDOM = np.random.default_rng(4)
CHILD = pathlib.Path(__file__).with_name("shipped_child.py")
Case = tuple[str, str, tuple[Any, ...]]


def normal(*shape: int) -> Any:
    return RANDOM.standard_normal(shape)


LARGE: dict[str, tuple[Any, ...]] = {
    "chain": (normal(20_011), 1.5, 0.3),
    "softmax": (normal(301, 57), normal(301, 57)),
    "heat": (normal(20_000), 0.1, 4),
    "layer": (normal(200, 30), normal(30, 40), normal(40), normal(200, 40)),
    "embedded": (normal(30, 64), RANDOM.integers(0, 30, 500), normal(500, 64)),
    "waves": (normal(999) * 1e5, normal(999)),
    "clashing": (normal(400),),
}
GRID = normal(40, 30)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, 5e-324, 1.0] * 5)
ODD: dict[str, tuple[str, tuple[Any, ...]]] = {
    "nan and inf": ("chain", (SPECIAL, 1.5, 0.3)),
    "nan in rows": ("softmax", (SPECIAL.reshape(5, 8), np.ones((5, 8)))),
    "no elements": ("chain", (np.zeros(0), 1.5, 0.3)),
    "no rows": ("softmax", (np.zeros((0, 3)), np.zeros((0, 3)))),
    "no axes": ("chain", (np.array(0.4), 1.5, 0.3)),
    "a number": ("chain", (0.4, 1.5, 0.3)),
    "one element": ("softmax", (np.ones((1, 1)), np.ones((1, 1)))),
    "transposed": ("softmax", (GRID.T, GRID[::-1].T)),
    "steps": ("chain", (GRID[::2, 1::3], 1.5, 0.3)),
    "backward": ("heat", (GRID.ravel()[::-1], 0.1, 3)),
    "repeated": ("chain", (np.broadcast_to(GRID[:1], GRID.shape), 1.5, 0.3)),
    "two float types": ("softmax", (GRID.astype(np.float32), GRID)),
    "NumPy's float64 among float32": ("chain", (GRID.astype(np.float32), np.float64(1.5), 0.3)),
    "an integer": ("heat", (GRID.ravel(), 0.1, 0)),
    "a row": ("softmax", (GRID, GRID[:1])),
}


def cases() -> dict[str, Case]:
    """What is run: by its name the mode, the program and its arguments."""
    found: dict[str, Case] = {}
    for name, args in LARGE.items():
        narrow = tuple(a.astype(np.float32) if getattr(a, "dtype", None) == np.float64 else a for a in args)
        found |= {
            f"{name} float64": ("value_and_grad", name, args),
            f"{name} float32": ("value_and_grad", name, narrow),
        }
    found |= {odd: ("value_and_grad", name, args) for odd, (name, args) in ODD.items()}
    x, a, b = LARGE["chain"]
    return found | {
        "a pullback": ("vjp", "chain", LARGE["chain"]),
        "a tangent": ("jvp", "chain", (x, a, b, x, 0.1, 0.2)),
    }


CASES = cases()
FILES = {"value_and_grad": "value-and-grad", "vjp": "vjp", "jvp": "forward"}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, str]]:
    """What each case gives where there is no srcgrad, with the kernels that ran; and the texts by their modes."""
    folder = tmp_path_factory.mktemp("shipped")
    texts = {}
    for mode, option in FILES.items():
        target = str(pathlib.Path(programs.__file__ or ""))
        place = folder / f"{mode}.py"
        names = [f"{target}:{name}" for name in (LARGE if mode == "value_and_grad" else ["chain"])]
        assert main(["dump", *names, "--mode", option, "--target", "opencl", "--standalone", "-o", str(place)]) == 0
        texts[mode] = place.read_text()
    (folder / "cases.pickle").write_bytes(pickle.dumps(CASES))
    command = [sys.executable, "-I", "-W", "error", str(CHILD), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return pickle.loads((folder / "found.pickle").read_bytes()), texts


Shipped = tuple[dict[str, Any], dict[str, str]]


@functools.cache
def plain(mode: str) -> dict[str, Any]:
    """The text of a mode without kernels, run."""
    space: dict[str, Any] = {}
    names = [f"{programs.__file__}:{name}" for name in (LARGE if mode == "value_and_grad" else ["chain"])]
    exec(dump(*names, mode=FILES[mode], standalone=True).text, space)
    return space


def wanted(case: str) -> Any:
    """What the text for NumPy gives."""
    mode, name, args = CASES[case]
    tangents = dict(zip(["x_dot", "a_dot", "b_dot"], args[3:], strict=True)) if mode == "jvp" else {}
    with np.errstate(all="ignore"):
        made = plain(mode)[f"{name}_{mode}"](*args[:3] if tangents else args, **tangents)
        return (made[0], made[1](1.0)) if mode == "vjp" else made


@pytest.mark.parametrize("case", CASES)
def test_gives_what_numpy_gives(case: str, shipped: Shipped) -> None:
    (value, gradients), kernels = shipped[0][case]
    other, others = wanted(case)
    found = [value, *(gradients if isinstance(gradients, tuple) else [gradients])]
    due = [other, *(others if isinstance(others, tuple) else [others])]
    narrow = any(getattr(v, "dtype", None) == np.float32 for v in due)
    for one, two in zip(found, due, strict=True):
        assert type(one) is type(two) or type(two) is np.ndarray  # a number, where NumPy has an array without axes
        assert np.shape(one) == np.shape(two)
        assert getattr(one, "dtype", None) == getattr(two, "dtype", None)
        scale = float(np.max(np.abs(two), initial=0.0, where=np.isfinite(two)))
        np.testing.assert_allclose(
            one, two, rtol=1e-4 if narrow else 1e-11, atol=(1e-5 if narrow else 1e-12) * max(1.0, scale)
        )
    assert kernels or case in ODD


@pytest.mark.parametrize("mode", FILES)
def test_nothing_of_srcgrad_is_imported_and_no_name_is_missing(
    mode: str, shipped: Shipped, tmp_path: pathlib.Path
) -> None:
    text = shipped[1][mode]
    assert not re.search(r"^\s*(import|from) srcgrad", text, re.MULTILINE)
    place = tmp_path / "shipped.py"
    place.write_text(text)
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "E9,F", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout


def test_the_c_of_each_kernel_cites_the_line_that_it_is_from(shipped: Shipped) -> None:
    text = shipped[1]["vjp"]
    assert "// line " in text and "def chain_kernel_1(" in text and "OWN sg_tanh(REAL x)" in text
    assert "sg_sin" not in text and "OWN sg_sin(" in shipped[1]["value_and_grad"]


def test_the_file_says_how_it_was_made(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.py").write_text("import numpy as np\n\n\ndef f(x):\n    return np.sum(np.exp(x) * x)\n")
    place = tmp_path / "model_grad.py"
    asked = ["dump", str(tmp_path / "model.py:f"), "--target", "opencl", "--standalone", "-o", str(place)]
    assert main(asked) == 0 and "--target opencl" in place.read_text()
    assert main(["dump", "--check", str(place)]) == 0
    place.write_text(place.read_text().replace("np.exp(x)", "np.exp(-x)"))
    assert main(["dump", "--check", str(place)]) == 1
    assert "is stale" in capsys.readouterr().err


def test_without_kernels_nothing_is_taken_over(tmp_path: pathlib.Path) -> None:
    place = tmp_path / "model.py"
    place.write_text("def f(x):\n    return x * x\n")
    assert "Kernel" not in dump(f"{place}:f", standalone=True, target="opencl").text


def bound(text: str) -> list[str]:
    """The names that a module binds at its top, but for those that a function of it binds anew."""
    body = ast.parse(text).body
    anew = {name for top in body for node in ast.walk(top) if isinstance(node, ast.Global) for name in node.names}
    symbols = symtable.symtable(text, "<text>", "exec").get_symbols()
    names = (s.get_name() for s in symbols if s.is_assigned() or s.is_imported())
    return [name for name in names if name not in anew | {"np", "annotations"}]


def test_every_name_below_may_be_one_of_the_users(
    shipped: Shipped, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    names = [name for name in bound(shipped[1]["vjp"]) if not name.startswith("chain")]
    assert len(names) > 200
    lines = ["import numpy as np", *(f"{name} = {0.001 * k}" for k, name in enumerate(names))]
    body = [f"    x = np.tanh(x + ({' + '.join(names[k : k + 20])}))" for k in range(0, len(names), 20)]
    place = tmp_path / "model.py"
    place.write_text("\n".join([*lines, "", "", "def model(x):", *body, "    return np.sum(np.exp(x))", ""]))
    found: list[Any] = []
    for target in ("opencl", "numpy"):
        made = tmp_path / f"model_in_{target}.py"
        made.write_text(dump(f"{place}:model", mode="value-and-grad", standalone=True, target=target).text)
        module = importlib.import_module(made.stem)
        found.append(module.model_value_and_grad(np.linspace(-1.0, 1.0, 3000)))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-12, atol=1e-14)


def test_a_name_that_kernels_change_is_refused(tmp_path: pathlib.Path) -> None:
    place = tmp_path / "model.py"
    place.write_text("import numpy as np\n\n_held = 2.0\n\n\ndef f(x):\n    return np.sum(np.exp(x) * _held)\n")
    with pytest.raises(srcgrad.DifferentiationError, match=r"E5012.*`_held`"):
        dump(f"{place}:f", standalone=True, target="opencl")


def test_a_name_inside_of_an_f_string_is_changed_with_its_definition() -> None:
    made = section(
        SectionContents({("srcgrad.opencl.kernels.stages", "added"): "added"}, taken=frozenset(["larger", "far"]))
    ).text
    assert "def larger_(line" in made and "{larger_(line)}(" in made and "larger(" not in made
