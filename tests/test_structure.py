"""The house as it was planned: imports go one way, files and functions stay small."""

from __future__ import annotations

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "srcgrad"
TEMPLATES = PACKAGE / "templates"
FILES = sorted(PACKAGE.rglob("*.py"))

PRINTERS = [
    "binders",
    "expression",
    "literal",
    "operations",
    "operators",
    "primaries",
    "simple",
    "text",
    "tokens",
    "wrap",
]
READERS = ["decorators", "filed", "locate", "match", "namespace", "parse", "scan", "source", "static", "target"]
ORDER = (
    {
        "child",
        "definitions",
        "errors",
        "notebook",
        "allocator",
        "indices",
        "mark",
        "minus",
        "parts",
        "names",
        "output",
        "own",
        "originals",
        "handed",
        "identity",
        "accepted",
        "sealed",
        "sent",
        "twin",
        "walked",
        "converted",
        "frozen",
        "trees",
        "recompute",
        "rules",
        "otherwise",
        "template",
        "flow",
        "runtime",
        *(f"emit.{p}" for p in PRINTERS),
    },
    {f"front.{reader}" for reader in READERS},
    {"facts", "kinds", "leading", "places", "shared", "written"},
    {"front"},
    {"analyse"},
    {"derive"},
    {"improve"},
    {"batch"},
    {"emit"},
    {"opencl", "numba"},
    {
        "load",
        "options",
        "targeted",
        "pickled",
        "signatures",
        "adapters",
        "primal",
        "inner",
        "pipeline",
        "enquiries",
        "modules",
        "phases",
        "measured",
        "rulebook",
        "inventory",
        "templates",
    },
    {
        "arguments",
        "seeds",
        "like",
        "into",
        "tape",
        "failures",
        "running",
        "snapshot",
        "apart",
        "primals",
        "applied",
        "forms",
        "dependencies",
        "derivative",
        "recent",
        "executed",
        "ready",
        "items",
        "loop",
        "mapped",
        "blocks",
        "differentiable",
        "api",
        "oracles",
        "promises",
        "differences",
        "doubt",
        "check",
        "calculus",
        "columns",
        "directions",
        "jacobians",
    },
    {
        "declared",
        "dump",
        "recipe",
        "inputs",
        "imported",
        "trial",
        "lines",
        "reports",
        "explore",
        "cli",
        "__main__",
        "__init__",
    },
)


def level(module: str) -> int:
    """The place of a module in the order, the more specific entry first."""
    for name in (module, module.rsplit(".", 1)[0], module.split(".")[0]):
        for place, group in enumerate(ORDER):
            if name in group:
                return place
    raise AssertionError(f"{module} has no place in the order")


def imported(tree: ast.Module) -> list[str]:
    """Modules of the package that a file imports at its top, not for types alone."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("srcgrad"):
            module = (node.module or "").removeprefix("srcgrad").lstrip(".")
            folder = PACKAGE / module.replace(".", "/")
            for alias in node.names:
                inner = f"{module}.{alias.name}".lstrip(".")
                found.append(inner if (folder / f"{alias.name}.py").is_file() or not module else module)
        elif isinstance(node, ast.Import):
            found += [a.name.removeprefix("srcgrad.") for a in node.names if a.name.startswith("srcgrad.")]
    return found


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.parent != TEMPLATES], ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_imports_go_one_way(path: pathlib.Path) -> None:
    module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    own = level(module)
    names = [name for name in imported(ast.parse(path.read_text())) if name.split(".")[0] != "templates"]
    wrong = [name for name in names if level(name) > own]
    assert wrong == [], f"{module} imports what comes after it"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_functions_are_small(path: pathlib.Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, node.name
