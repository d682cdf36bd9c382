"""A folder with an `ast.py`, a `numpy.py` and more of the user's own is a folder as any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from srcgrad.core import processes

NAMES = (
    *("argparse", "ast", "asyncio", "copy", "difflib", "dis", "hashlib", "inspect", "linecache", "multiprocessing"),
    *("queue", "random", "shlex", "signal", "socket", "subprocess", "symtable", "tempfile", "textwrap", "tokenize"),
    *("astor", "gast", "numpy", "pyopencl", "rich", "scipy"),
)
MODEL = "import numpy as np\n\n\ndef energy(x, k: float):\n    return 0.5 * np.sum(k * x * x)\n"
ARGUMENTS = ("--args", "np.ones(3), 2.0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name}.py of the user was imported')\n")
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("dump", "model.py"),
        ("dump", "model.py", "--standalone", "--target", "opencl"),
        ("dump", "model.py", "--html", "report.html"),
        ("show", "model.py"),
        ("check", "model.py", *ARGUMENTS),
        ("check", "model.py:energy", "model.py", *ARGUMENTS, "--jobs", "2"),
        ("trace", "model.py", *ARGUMENTS),
        ("rules", "np.tanh"),
    ],
    ids=" ".join,
)
def test_commands(words: tuple[str, ...], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "srcgrad", *words], cwd=folder, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert "of the user" not in done.stdout + done.stderr


def test_processes_of_its_own(folder: Path) -> None:
    worker = subprocess.run(
        processes.command("srcgrad.interface.explorer.worker"),
        cwd=folder,
        input="",
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (worker.returncode, worker.stdout) == (0, "ready\n"), worker.stderr
    line = processes.command("srcgrad", "dump", "model.py")
    assert (
        "energy_grad"
        in subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True, timeout=600).stdout
    )


def test_other_modules_keep_their_folder(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("import srcgrad, helper\n")
    (tmp_path / "package" / "__main__.py").write_text("import sys, helper; print(sys.path[0] == sys.argv[1])\n")
    (tmp_path / "helper.py").write_text("")
    line = [sys.executable, "-m", "package", str(tmp_path.resolve()), "srcgrad"]
    assert (
        subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600).stdout == "True\n"
    )


def test_modules_of_the_working_folder_are_still_found(folder: Path) -> None:
    (folder / "numbers_of_mine.py").write_text(MODEL)
    line = [sys.executable, "-m", "srcgrad", "check", "numbers_of_mine:energy", *ARGUMENTS]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
