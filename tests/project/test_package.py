"""The package: what is installed is the whole tree, and installing needs neither an index nor another package."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "packing.py")
BUILD = "import sys; sys.path.insert(0, '.'); import packing as b; b.build_{}(sys.argv[1])"
USE = """import sys

import numpy as np
import srcgrad
import srcgrad.templates


def f(x):
    return np.sum(np.sin(x))


print(srcgrad.grad(f)(np.zeros(2)), srcgrad.__file__)
late = ("srcgrad.opencl", "srcgrad.backend.batched.leading_axis", "srcgrad.interface.show", "importlib.metadata")
assert not [name for name in late if name in sys.modules], "a first gradient loads what it does not need"
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the checkout that may not be written into, with what a run leaves behind."""
    place = tmp_path_factory.mktemp("tree") / "source"
    shutil.copytree(ROOT / "srcgrad", place / "srcgrad", ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, place)
    left = place / "srcgrad" / "__pycache__"
    left.mkdir()
    (left / "api.cpython-310.pyc").write_bytes(b"")
    for path in [place, *place.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    yield place
    for path in [place, *place.rglob("*")]:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


def built(source: Path, kind: str, place: Path) -> Path:
    place.mkdir(exist_ok=True)
    line = [sys.executable, "-B", "-c", BUILD.format(kind), str(place)]
    done = subprocess.run(line, cwd=source, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    [package] = place.iterdir()
    return package


def tree(source: Path) -> set[str]:
    found = (path.relative_to(source) for path in (source / "srcgrad").rglob("*") if path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}


def test_the_wheel_has_all(source: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built(source, "wheel", tmp_path / "wheel")) as file:
        found = {name for name in file.namelist() if ".dist-info/" not in name}
    assert found == tree(source)


def test_the_sdist_builds_the_same_wheel(source: Path, tmp_path: Path) -> None:
    wheel = built(source, "wheel", tmp_path / "wheel")
    with tarfile.open(built(source, "sdist", tmp_path / "sdist")) as file:
        file.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.10.11 and before have none
        file.extractall(tmp_path / "out")
    [again] = (tmp_path / "out").iterdir()
    assert built(again, "wheel", tmp_path / "again").read_bytes() == wheel.read_bytes()


def test_record_names_each_file_with_its_hash(source: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built(source, "wheel", tmp_path / "wheel")) as file:
        [record] = [name for name in file.namelist() if name.endswith("/RECORD")]
        rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(file.read(record).decode()))}
        assert list(rows) == file.namelist()
        for name, (digest, size) in rows.items():
            if name != record:
                content = file.read(name)
                assert urlsafe_b64decode(digest.removeprefix("sha256=") + "=") == hashlib.sha256(content).digest()
                assert int(size) == len(content)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no reader of TOML to compare with")
def test_the_project_is_read_as_toml_reads_it() -> None:
    import tomllib

    show = "import sys; sys.path.insert(0, '.'); import packing as b; print(repr(b.TABLES))"
    done = subprocess.run([sys.executable, "-c", show], cwd=ROOT, capture_output=True, text=True, check=True)
    tables = eval(done.stdout)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = tables.pop("project")
    for name, table in tables.items():
        *path, last = [part.strip('"') for part in re.findall(r'"[^"]*"|[^."]+', name)[1:]]
        inner = told
        for step in path:
            inner = inner.setdefault(step, {})
        inner[last] = table
    assert told == project


@pytest.mark.parametrize("form", ["whole", "editable"])
@pytest.mark.parametrize("isolated", [True, False])
def test_pip_installs_it_without_an_index(source: Path, tmp_path: Path, form: str, isolated: bool) -> None:
    """From a tree that is read only, into an environment that has what srcgrad needs and no tool that builds."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = venv / ("Scripts" if os.name == "nt" else "bin") / "python"
    how = ["--no-index", "--no-deps", *([] if isolated else ["--no-build-isolation"])]
    what = ["--editable", "."] if form == "editable" else ["."]
    line = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", *how, *what]
    before = sorted(source.rglob("*"))
    done = subprocess.run(line, cwd=source, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(source.rglob("*")) == before  # root may write everywhere
    [packages] = {path.resolve() for path in venv.rglob("site-packages")}
    needed = [str(Path(module.__file__ or "").parent.parent) for module in map(__import__, ("numpy", "gast"))]
    (packages / "needed.pth").write_text("\n".join(dict.fromkeys(needed)))
    script = tmp_path / "use.py"
    script.write_text(USE)
    used = subprocess.run([str(python), "-I", str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert used.returncode == 0, used.stderr
    numbers, _, place = used.stdout.strip().rpartition("] ")
    assert numbers == "[1. 1."
    assert Path(place).is_relative_to(source if form == "editable" else venv)
