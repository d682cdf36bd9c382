"""Wheel and sdist, installed as by a user on every Python of this machine: `python .ci/package.py [PYTHON ...]`.

Each is installed without extras into a virtual environment that has nothing else, and the wheel once with all extras
that matter when it runs; there, outside of the checkout, `installed.py` tries it. Interpreters: those that are named,
or all from 3.10 on that are on the path, beside this one, or under pyenv.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 10)
LARGEST = 1_500_000  # bytes of the wheel
OF_DEVELOPERS = {"bench", "demo", "docs", "lint", "test", "wild"}  # extras that are not for users
TELL = "import sys, ensurepip, venv; print(sys.implementation.name, *sys.version_info[:3])"
BUILD = (
    "import sys; sys.path.insert(0, '.'); import packing as b; place = sys.argv[1]; "
    "b.build_wheel(place); b.build_sdist(place)"
)


@dataclass(frozen=True)
class Interpreter:
    version: tuple[int, ...]
    path: str

    def __str__(self) -> str:
        return f"Python {'.'.join(map(str, self.version))}"


def interpreters(named: list[str]) -> list[Interpreter]:
    """Those that run, one of each minor version, the oldest first."""
    found: dict[tuple[int, ...], Interpreter] = {}
    for path in dict.fromkeys(named or candidates()):
        done = subprocess.run([path, "-c", TELL], capture_output=True, text=True)
        name, *version = done.stdout.split() or [""]
        numbers = tuple(map(int, version))
        if done.returncode == 0 and name == "cpython" and numbers >= OLDEST:
            known = found.get(numbers[:2])
            if known is None or known.version < numbers:
                found[numbers[:2]] = Interpreter(numbers, path)
        elif named:
            raise SystemExit(f"{path} is no CPython from {'.'.join(map(str, OLDEST))} on")
    return [found[minor] for minor in sorted(found)]


def candidates() -> list[str]:
    """What may be an interpreter."""
    names = [f"python3.{minor}" for minor in range(OLDEST[1], 30)]
    beside = [str(Path(sys.base_prefix) / "bin" / name) for name in names]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    under = [str(path) for path in sorted(pyenv.glob("versions/*/bin/python3"))]
    found = [shutil.which(name) for name in names]
    return [path for path in [*found, *beside, *under, sys.executable] if path and Path(path).exists()]


def run(*words: str | Path, cwd: Path | None = None) -> str:
    """What a command prints; its output and an end where it fails."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(place: Path, python: str, tools: Path, *packages: str) -> str:
    """A virtual environment with some packages and what they bring; the path of its Python."""
    run(python, "-m", "venv", "--without-pip", place)
    made = str(place / ("Scripts" if os.name == "nt" else "bin") / "python")
    run(
        tools, "-m", "pip", "--python", made, "install", "--quiet", "--no-compile", *packages
    )  # as far as it is imported
    return made


def sources(place: Path) -> Path:
    """What the checkout has, without what git ignores: nothing that was built before is built in."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=ROOT)
    for name in listed.split("\0"):
        if name and (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    return place


def built(place: Path, tools: Path) -> tuple[Path, Path]:
    """The wheel and the sdist; the wheel has all files of the tree and is not large."""
    source = sources(place / "source")
    run(tools, "-c", BUILD, place, cwd=source)
    [wheel], [sdist] = place.glob("*.whl"), place.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if ".dist-info/" not in name}
    tree = {str(path.relative_to(source)) for path in (source / "srcgrad").rglob("*") if path.is_file()}
    assert tree == names, f"not the same in the tree and in the wheel: {sorted(tree ^ names)}"
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size:,} bytes, {len(names)} files, all of the tree")
    print(f"{sdist.name}: {sdist.stat().st_size:,} bytes")
    assert size <= LARGEST, f"the wheel has more than {LARGEST:,} bytes"
    return wheel, sdist


def extras() -> list[str]:
    """The names of the extras that matter when srcgrad runs."""
    text = (ROOT / "pyproject.toml").read_text()
    section = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    return sorted(set(re.findall(r"^(\w+) = ", section, re.MULTILINE)) - OF_DEVELOPERS)


def tried(
    place: Path, python: Interpreter, package: Path, tools: Path, bare: str, wanted: list[str]
) -> tuple[bool, str]:
    """Whether a package works where it is installed with some extras, and what `installed.py` tells."""
    begun = time.monotonic()
    asked = f"{package}[{','.join(wanted)}]" if wanted else str(package)
    made = environment(place / "venv", python.path, tools, asked)
    folder = place / "folder"
    folder.mkdir()
    for path in (ROOT / "README.md", Path(__file__).parent / "installed.py"):
        shutil.copy(path, place)
    line = [made, str(place / "installed.py"), str(place / "README.md"), bare, *wanted]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SRCGRAD"))}
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, env=clean)
    kind = "wheel" if package.suffix == ".whl" else "sdist"
    what = f"{python}, the {kind}, " + (f"extras {', '.join(wanted)}" if wanted else "no extra")
    verdict = "right" if done.returncode == 0 else "WRONG"
    shutil.rmtree(place / "venv")
    return not done.returncode, f"{what}: {verdict} in {time.monotonic() - begun:.0f} s\n{done.stdout}{done.stderr}"


def main() -> int:
    begun = time.monotonic()
    known = interpreters(sys.argv[1:])
    print("interpreters:", ", ".join(map(str, known)), flush=True)
    with tempfile.TemporaryDirectory(prefix="srcgrad-package-") as name, ThreadPoolExecutor(2) as pool:
        place = Path(name)
        run(sys.executable, "-m", "venv", place / "tools")
        tools = place / "tools" / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(tools, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
        wheel, sdist = built(place, tools)
        bare = list(pool.map(lambda p: environment(place / f"numpy-{p}", p.path, tools, "numpy"), known))
        each = [(p, kind, b, []) for p, b in zip(known, bare, strict=True) for kind in (wheel, sdist)]
        each.append((known[-1], wheel, bare[-1], extras()))
        todo = [
            pool.submit(tried, place / str(number), python, package, tools, numpy, wanted)
            for number, (python, package, numpy, wanted) in enumerate(each)
        ]
        for number, _ in enumerate(todo):
            (place / str(number)).mkdir(exist_ok=True)
        results = []
        for item in todo:
            results.append(item.result())
            print(results[-1][1], flush=True)
    wrong = sum(not right for right, _ in results)
    print(f"{len(results)} installations, {wrong} wrong, in {time.monotonic() - begun:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
