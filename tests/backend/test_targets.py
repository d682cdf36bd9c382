"""Targets: those of srcgrad as they are declared, and one of a package of its own that says all it needs itself."""

from __future__ import annotations

import importlib.metadata
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import packing
import srcgrad
from srcgrad.backend import targets
from srcgrad.interface.cli import main
from srcgrad.interface.cli.listings import complete
from srcgrad.interface.dump import dump
from tests import toy_target
from tests.toy_target import CALLS, LOADED, TOY

SEEN = "    # seen by the toy\n"
ROOT = Path(__file__).resolve().parents[2]
SOURCE = "import numpy as np\n\n\ndef loss(x: np.ndarray, w: float):\n    return np.sum(np.tanh(x * w))\n"
X = np.array([0.3, -0.7, 1.1])


def loss(x, w):
    return np.sum(np.tanh(x * w))


def outer(x, w):
    """It calls a function that has a derivative of its own in the text."""
    y = x
    for _ in range(3):
        y = inner(y, w)
    return np.sum(y)


def inner(x, w):
    for k in range(2):
        x = np.sin(x * w) + k
    return x


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as an installer leaves it behind, with the entry point of a target."""
    info = tmp_path / "toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[srcgrad.targets]\ntoy = tests.toy_target:TOY\nwrong = tests.toy_target:counted\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    targets._find_target.cache_clear()
    CALLS.clear()
    LOADED.clear()
    return tmp_path


def test_targets_of_srcgrad_are_declared() -> None:
    """What pip reads and what is known without it are one table, and each row leads to a record of that name."""
    assert packing.TABLES['project.entry-points."srcgrad.targets"'] == targets.OWN
    assert "[srcgrad.targets]\nnumpy = " in packing.entry_points()
    assert [targets.target_named(name).name for name in targets.OWN] == list(targets.OWN)


def test_toy_is_small() -> None:
    assert len(Path(toy_target.__file__).read_text().splitlines()) <= 60


@pytest.mark.usefixtures("toy")
def test_toy_differentiates() -> None:
    """Its passes, its decorators, its compiler and its boundary are used, and the numbers are those of NumPy."""
    made = srcgrad.grad(loss, ("x", "w"), target="toy")
    for one, other in zip(made(X, 0.5), srcgrad.grad(loss, ("x", "w"))(X, 0.5), strict=True):
        np.testing.assert_array_equal(one, other)
    assert CALLS == {"loss_grad": 1} and LOADED == ["loss_grad"]
    assert "@counted\ndef loss_grad(" in made.source and SEEN in made.source
    assert "from tests.toy_target import counted" in made.source
    assert SEEN in srcgrad.source(loss, wrt=("x", "w"), target="toy")


@pytest.mark.usefixtures("toy")
def test_toy_wraps_every_function() -> None:
    made = srcgrad.grad(outer, "x", target="toy")
    np.testing.assert_array_equal(made(X, 0.5), srcgrad.grad(outer, "x")(X, 0.5))
    functions = re.findall(r"^(@counted\n)?def ", made.source, re.MULTILINE)
    assert len(functions) > 1 and all(functions)
    assert CALLS["outer_grad"] == 1 and sum(CALLS.values()) == 4


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    "run",
    [
        lambda target: srcgrad.value_and_grad(loss, target=target)(X, 0.5)[1],
        lambda target: srcgrad.jvp(loss, (X, 0.5), (X, 1.0), target=target)[1],
        lambda target: srcgrad.vjp(loss, X, 0.5, target=target)[1](1.0)[0],
        lambda target: srcgrad.hvp(loss, target=target)(X, 0.5, X),
        lambda target: srcgrad.jacobian(lambda x: np.sin(x) * x[0], target=target)(X),
        lambda target: srcgrad.hessian(loss, target=target)(X, 0.5),
        lambda target: srcgrad.each(lambda x: x * np.sin(x), target=target)(X)[1],
        lambda target: srcgrad.linearize(loss, X, 0.5, target=target)[1](X, 1.0),
        lambda target: srcgrad.differentiate(loss, target=target).grad(X, 0.5),
        lambda target: pickle.loads(pickle.dumps(srcgrad.grad(loss, target=target)))(X, 0.5),
    ],
    ids=("value_and_grad", "jvp", "vjp", "hvp", "jacobian", "hessian", "each", "linearize", "differentiate", "pickle"),
)
def test_toy_in_all_modes(run) -> None:
    np.testing.assert_allclose(run("toy"), run("numpy"), rtol=1e-13)  # a Jacobian's columns one by one
    assert CALLS


@pytest.mark.usefixtures("toy")
def test_a_record_is_a_target() -> None:
    """A target that is tried out needs no entry point."""
    np.testing.assert_array_equal(srcgrad.grad(loss, target=TOY)(X, 0.5), srcgrad.grad(loss)(X, 0.5))
    assert CALLS == {"loss_grad": 1}


def test_toy_is_dumped(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = toy / "model.py"
    path.write_text(SOURCE)
    text = dump(f"{path}:loss", target="toy").text
    assert "@counted\ndef loss_grad(" in text and SEEN in text
    assert main(["dump", f"{path}:loss", "--target", "toy"]) == 0
    assert capsys.readouterr().out == text
    assert main(["show", f"{path}:loss", "--target", "toy"]) == 0
    assert "@counted" in capsys.readouterr().out
    assert complete(["dump", "m.py", "--target", "t"]) == ["toy"]


def test_toy_in_a_process_of_its_own(toy: Path) -> None:
    (toy / "model.py").write_text(SOURCE)
    paths = os.pathsep.join([str(toy), str(ROOT)])
    command = [sys.executable, "-m", "srcgrad", "dump", "model.py:loss", "--target", "toy"]
    done = subprocess.run(command, cwd=toy, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert done.returncode == 0 and "@counted\ndef loss_grad(" in done.stdout, done.stderr


def test_unknown_targets_are_refused(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error lists what there is, those of packages too; a command says the same."""
    with pytest.raises(srcgrad.DifferentiationError, match=r"E5019 .*no target is called 'cuda'") as caught:
        srcgrad.grad(loss, target="cuda")
    assert caught.value.remedy == "name numpy, opencl, numba, dask, mpi, toy or wrong"
    with pytest.raises(srcgrad.DifferentiationError, match=r"E5019 .*toy_target:counted is no"):
        srcgrad.grad(loss, target="wrong")
    (toy / "model.py").write_text(SOURCE)
    assert main(["dump", str(toy / "model.py"), "--target", "cuda"]) == 1
    assert "E5019 no such target: no target is called 'cuda'" in capsys.readouterr().err


def test_no_code_asks_for_a_target_by_name() -> None:
    """What a target has otherwise is a field of its record: no comparison, and no table, with names of targets."""
    named = re.compile(r"""(?:==|!=|\bin\b)\s*\(?["'](?:numba|opencl|numpy|batched)["']|["'](?:numba|opencl)["']\s*:""")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sorted((ROOT / "srcgrad").rglob("*.py"))
        if path != ROOT / "srcgrad" / "backend" / "targets.py"  # where they are listed
        for line in path.read_text().splitlines()
        if named.search(line) and "target" in line and "Import" not in line
    ]
    assert found == []


def test_entry_points_are_read_where_there_is_metadata() -> None:
    installed = importlib.metadata.entry_points(group=targets.GROUP)
    assert set(installed.names) - {"toy", "wrong"} <= set(targets.OWN)
