"""What is installed is the whole tree: no module and no file of data is left out of the wheel."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
BUILD = "import sys, setuptools.build_meta as backend; backend.build_wheel(sys.argv[1])"


def test_the_wheel_has_all(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for folder in ("srcgrad", "templates"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, source)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path)], cwd=source, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    [wheel] = tmp_path.glob("*.whl")
    tree = [path.relative_to(source) for path in source.rglob("*") if path.is_file()]
    expected = {str(path) for path in tree if path.parts[0] == "srcgrad"}
    expected |= {f"srcgrad/{path}" for path in tree if path.parts[0] == "templates"}
    with zipfile.ZipFile(wheel) as file:
        found = {name for name in file.namelist() if ".dist-info/" not in name}
    assert {name for name in expected if not name.startswith("srcgrad.egg-info")} == found
