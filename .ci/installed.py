"""What an installed srcgrad must do, outside of its checkout: `python installed.py README.md BARE [EXTRA ...]`.

BARE is a Python that has NumPy and nothing else. Without extras, what is missing says which extra brings it; with them,
it works. Prints a line for each check and the times of an import; the exit status is 1 where a check fails.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback
import urllib.request
from collections.abc import Callable
from pathlib import Path

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "srcgrad")
USE = (
    "import numpy as np\nfrom model import energy\nX, W, B = np.ones((2, 3)), 0.5 * np.ones(3), 0.1 * np.ones((2, 1))\n"
)
OF_EXTRAS = {
    "cloudpickle": "dask",
    "dask": "dask",
    "numba": "numba",
    "pygments": "html",
    "rich": "cli",
    "starlette": "explore",
    "uvicorn": "explore",
}


def run(*words: str, succeeds: bool = True) -> str:
    """What a command prints; it must succeed, or fail with one message."""
    done = subprocess.run(words, capture_output=True, text=True)
    told = done.stdout + done.stderr
    assert (done.returncode == 0) == succeeds, f"{' '.join(words)}: status {done.returncode}\n{told}"
    assert "Traceback" not in told, told
    return told


def python(text: str, *options: str) -> str:
    return run(sys.executable, *options, "-c", text)


def imports(extras: list[str]) -> str:
    """All modules, those apart that need an extra which is not there."""
    import srcgrad
    from srcgrad import templates

    templates.load()  # their order matters
    assert Path(srcgrad.__file__).is_relative_to(sysconfig.get_path("purelib")), srcgrad.__file__
    count = 0
    for found in pkgutil.walk_packages(srcgrad.__path__, "srcgrad."):
        if found.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(found.name)
            count += 1
        except ModuleNotFoundError as error:
            missing = str(error.name).partition(".")[0]
            if missing == "scipy":  # its rules are for those who have it
                continue
            extra = OF_EXTRAS.get(missing)
            assert extra is not None and extra not in extras, f"{found.name}: {error}"
    return f"{count} modules"


def first_example(readme: str) -> str:
    """The first example of the README by `srcgrad dump`, and its output."""
    blocks = re.findall(r"^```python title=\"([^\"]+)\"\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    (model, text), (made, expected) = blocks[:2]
    [command] = re.findall(r"^\$ (srcgrad dump .*)$", readme, re.MULTILINE)[:1]
    Path(model).write_text(text)
    run(SCRIPT, *command.split()[1:])
    assert Path(made).read_text() == expected, Path(made).read_text()
    return command


def derivatives() -> str:
    """`grad`, `hvp` and `check_grads`, in a program of a user."""
    uses = "from srcgrad import check_grads, grad, hvp\ng = grad(energy, wrt=('x', 'w', 'b'))(X, W, B, 3)\n"
    uses += "h = hvp(energy)(X, W, B, 3, X)\ncheck_grads(energy, (X, W, B, 3), order=2)\n"
    Path("use.py").write_text(USE + uses + "print(*(item.shape for item in g), h.shape)\n")
    assert run(sys.executable, "use.py") == "(2, 3) (3,) (2, 1) (2, 3)\n"
    arguments = ("--args", "np.ones((2, 3)), 0.5 * np.ones(3), 0.1 * np.ones((2, 1)), 3")
    told = run(SCRIPT, "check", "model.py", *arguments)
    assert "ok" in told, told
    return "grad, hvp, check"


def standalone(bare: str) -> str:
    """A standalone file where NumPy is all there is: the numbers that srcgrad's own call gives."""
    run(SCRIPT, "dump", "model.py:energy", "--wrt", "x,w,b", "--standalone", "-o", "alone.py")
    show = "print(*(v.tobytes().hex() for v in g))\n"
    Path("bare.py").write_text(USE + "from alone import energy_grad\ng = energy_grad(X, W, B, 3)\n" + show)
    Path("ours.py").write_text(USE + "import srcgrad\ng = srcgrad.grad(energy, wrt=(0, 1, 2))(X, W, B, 3)\n" + show)
    assert (
        run(bare, "-c", "import importlib.util as u; print(u.find_spec('srcgrad'), u.find_spec('gast'))")
        == "None None\n"
    )
    assert run(bare, "bare.py") == run(sys.executable, "ours.py")
    return "the same bits with NumPy alone"


def report(extras: list[str]) -> str:
    """A page with colours, or one that says what brings them."""
    run(SCRIPT, "dump", "model.py", "--html", "report.html")
    page = Path("report.html").read_text()
    assert "energy_grad" in page
    assert ("srcgrad[html]" in page) == ("html" not in extras)
    return "with colours" if "html" in extras else "without colours, and says so"


def targets(extras: list[str]) -> str:
    """Compiled loops and kernels, or what brings them."""
    told = []
    for target in ("numba", "opencl"):
        text = f"from srcgrad import grad\nfrom srcgrad.core.errors import DifferentiationError\n{USE}"
        text += f"try:\n    print(grad(energy, target={target!r})(X, W, B, 3).shape)\n"
        text += "except DifferentiationError as error:\n    print(error)\n"
        Path(f"use_{target}.py").write_text(text)
        found = run(sys.executable, f"use_{target}.py")
        works, says = found == "(2, 3)\n", f"srcgrad[{target}]" in found
        assert works or (says and target not in extras), found
        told.append(f"{target} {'works' if works else 'names its extra'}")
    return ", ".join(told)


def cluster(extras: list[str]) -> str:
    """Blocks of rows as tasks, in a program of a user, or what brings them."""
    text = "import numpy as np, srcgrad\nfrom srcgrad.core.errors import DifferentiationError\n"
    text += "def loss(w, x):\n    return np.sum(np.sin(x @ w))\n"
    text += "try:\n    gradient = srcgrad.grad(loss, target='dask', shard={'x': 0}, chunks=2)\n"
    text += "    print(gradient(np.zeros(2), np.ones((3, 2))))\n"
    text += "except DifferentiationError as error:\n    print(error)\n"
    Path("rows.py").write_text(text)
    found = run(sys.executable, "rows.py")
    works = found == "[3. 3.]\n"
    assert works or ("srcgrad[dask]" in found and "dask" not in extras), found
    return "works" if works else "names its extra"


def explorer(extras: list[str]) -> str:
    """A page that is served, or what brings it."""
    if "explore" not in extras:
        told = run(SCRIPT, "explore", "--no-browser", succeeds=False)
        assert "srcgrad[explore]" in told, told
        return "names its extra"
    with subprocess.Popen([SCRIPT, "explore", "--no-browser"], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            [address] = re.findall(r"http://\S+", server.stdout.readline())
            with urllib.request.urlopen(address, timeout=60) as answer:
                assert b"<html" in answer.read()
        finally:
            server.terminate()
    return "serves its page"


def names_of_modules() -> str:
    """A folder in which files of the user have the names of modules that srcgrad imports."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("ast", "astor", "copy", "gast", "inspect", "numpy", "random", "tokenize"):
            (Path(folder) / f"{name}.py").write_text("raise SystemExit('the file of the user was imported')\n")
        (Path(folder) / "model.py").write_text(Path("model.py").read_text())
        line = [sys.executable, "-m", "srcgrad", "dump", "model.py", "--wrt", "x"]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0 and "energy_grad" in done.stdout, done.stdout + done.stderr
    return "python -m srcgrad beside ast.py and numpy.py"


def times() -> str:
    """Seconds from an interpreter with NumPy to the module, and to a first gradient, with bytecode and without."""
    text = (
        "import time\nimport numpy, gast, pyopencl\nt = time.perf_counter()\nimport srcgrad\ns = time.perf_counter()\n"
    )
    text += "from model import energy\nsrcgrad.grad(energy)(numpy.ones((2, 3)), numpy.ones(3), numpy.ones((2, 1)), 3)\n"
    text += "print(s - t, time.perf_counter() - t)\n"
    found = []
    with tempfile.TemporaryDirectory() as empty:
        for kind, options, runs in (("with", (), 3), ("without", ("-B", "-X", f"pycache_prefix={empty}"), 1)):
            taken = [tuple(map(float, run(sys.executable, *options, "-c", text).split())) for _ in range(runs)]
            first, gradient = min(taken, key=lambda pair: pair[1])
            found.append(f"{kind} bytecode {first:.3f} s, with a first gradient {gradient:.2f} s")
    return "; ".join(found)


def versions() -> str:
    names = sorted(found.metadata["Name"] for found in importlib.metadata.distributions())
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names if name != "pip")


def main() -> int:
    readme, bare, *extras = sys.argv[1:]
    checks: dict[str, Callable[[], str]] = {
        "installed": versions,
        "import": lambda: imports(extras),
        "README": lambda: first_example(Path(readme).read_text()),
        "derivatives": derivatives,
        "standalone": lambda: standalone(bare),
        "report": lambda: report(extras),
        "targets": lambda: targets(extras),
        "cluster": lambda: cluster(extras),
        "explorer": lambda: explorer(extras),
        "names": names_of_modules,
        "import time": times,
    }
    failed = 0
    for name, check in checks.items():
        begun = time.monotonic()
        try:
            told = check()
        except Exception:  # each is told, and the others still run
            failed += 1
            told = "FAILED\n" + traceback.format_exc()
        print(f"    {name + ':':<13} {told} ({time.monotonic() - begun:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
