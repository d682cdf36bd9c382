"""Draw functions of installed packages by a fixed seed, before any of them is differentiated.

`python -m tests.wild.choose` writes `drawn.txt`: a line `package module:function` for each, in the order of the draw.
Public functions at the top of a module count whose text computes with NumPy, SciPy or math, returns a value, asks for
one to eight arguments and neither reads, writes, draws nor plots.
"""

from __future__ import annotations

import ast
import importlib.metadata
import random
from collections.abc import Iterator
from pathlib import Path

import tomllib

HERE = Path(__file__).parent
SEED = 33
DRAWN = 9  # of a package
BESIDE = ("numpy", "scipy", "pandas")
LIBRARIES = ("numpy", "scipy", "math")
APART = {
    "test",
    "tests",
    "testing",
    "conftest",
    "examples",
    "example",
    "docs",
    "doc",
    "plot",
    "plots",
    "plotting",
    "io",
}
OUTSIDE = {"open", "print", "input", "plt", "exec", "eval", "requests", "urllib", "pickle", "json", "read_csv"}
DRAWS = {"random", "rand", "randn", "rng"}
OTHER_KINDS = ("str", "DataFrame", "Callable", "Path", "bool", "datetime", "Figure", "Axes", "dict", "Dict")


def packages() -> list[str]:
    """Names of the packages in the extra `wild`, which pins them; what stands first is what they are run beside."""
    project = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text())["project"]
    return [line.split("==")[0] for line in project["optional-dependencies"]["wild"]][len(BESIDE) :]


def modules(package: str) -> Iterator[tuple[str, Path]]:
    """Name and file of each module that a package installs, what is private or about testing left out."""
    for file in sorted(importlib.metadata.files(package) or [], key=str):
        parts = file.with_suffix("").parts
        if (
            file.suffix != ".py"
            or set(parts) & APART
            or any(part.startswith(("_", "test", ".")) for part in parts[:-1])
        ):
            continue
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if parts and parts[-1].isidentifier() and not parts[-1].startswith(("_", "test")):
            yield ".".join(parts), Path(str(file.locate()))


def computing(tree: ast.Module) -> set[str]:
    """Names in a module that are of the libraries that compute."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [a for a in node.names if a.name.split(".")[0] in LIBRARIES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in LIBRARIES:
            found = node.names
        else:
            continue
        names |= {(a.asname or a.name).split(".")[0] for a in found}
    return names


def eligible(node: ast.FunctionDef, names: set[str]) -> bool:
    """Whether a function may take floats or arrays and give one, as far as its text says."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    required = arguments[: len(arguments) - len(node.args.defaults)]
    annotations = [ast.unparse(a.annotation) for a in required if a.annotation]
    body = [n for statement in node.body for n in ast.walk(statement)]
    said = {n.id for n in body if isinstance(n, ast.Name)} | {n.attr for n in body if isinstance(n, ast.Attribute)}
    values = [n.value for n in body if isinstance(n, ast.Return) and n.value is not None]
    return (
        not node.name.startswith(("_", "test", "plot"))
        and 1 <= len(required) <= 8
        and required[0].arg not in ("self", "cls", "ax", "fig")
        and not any(kind in text for text in annotations for kind in OTHER_KINDS)
        and bool(said & names)
        and not said & (OUTSIDE | DRAWS)
        and any(not isinstance(v, ast.Constant) for v in values)
        and not any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in body)
    )


def functions(package: str) -> list[str]:
    """Every function of a package that is eligible, as `module:function`."""
    found = []
    for module, path in modules(package):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        names = computing(tree)
        found += [f"{module}:{n.name}" for n in tree.body if isinstance(n, ast.FunctionDef) and eligible(n, names)]
    return sorted(set(found))


def drawn(package: str) -> list[str]:
    """The draw of a package: its functions in an order that the seed and the name decide."""
    found = functions(package)
    random.Random(f"{SEED} {package}").shuffle(found)
    return found[:DRAWN]


def main() -> None:
    lines = [f"{package} {name}" for package in packages() for name in drawn(package)]
    (HERE / "drawn.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
