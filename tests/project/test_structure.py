"""The house as it was planned: imports go one way between the folders, functions stay small."""

from __future__ import annotations

import ast
import importlib
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator

import pytest

import srcgrad
from srcgrad.interface import cli
from srcgrad.interface.cli import COMMANDS
from srcgrad.templates import families

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "srcgrad"
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
# In the order in which data passes. A folder imports what stands before it; rules name what they are rules of, and the
# kernels of a device are also what its arrays are computed with, so these two are not asked.
ORDER = (
    "runtime",
    "core",
    "frontend",
    "analysis",
    "derive",
    "optimise",
    "backend",
    "pipeline",
    "module",
    "interface",
)
MODULES = 193  # 3 of them for ranks of MPI, whose plan is Dask's: what is the same, the target, what it calls
OTHER_LINES = 590  # with `Any`; to be 300
RUNTIME_LINES = 470  # of numbers and arrays: NumPy takes and gives either
ENTRIES = [  # with more than 8 parameters: options that a user may give
    "srcgrad.interface.api.derivative: __init__",
    "srcgrad.interface.api.derivatives: grad",
    "srcgrad.interface.api.derivatives: value_and_grad",
    "srcgrad.interface.check.check: check_grads",
    "srcgrad.interface.check.check: check_report",
    "srcgrad.interface.dump: dump",
]


def imported(tree: ast.Module) -> Iterator[str]:
    """Modules of the package that a file imports anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in FILES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def place(module: str) -> int | None:
    """Where the folder of a module stands in the order; None for what may import all, or is not asked."""
    name = f"{module}.".split(".")[1]
    return ORDER.index(name) if name in ORDER else None


def test_imports_go_one_way() -> None:
    upward = set()
    for module, path in FILES.items():
        here = place(module)
        for other in imported(ast.parse(path.read_text())):
            there = place(other) if other in FILES else None
            if here is not None and there is not None and there > here:
                upward.add((module, other))
    assert upward == set()


def circles() -> list[set[str]]:
    """Modules that import each other, over others or not, types included."""
    arrows = {
        module: {other for other in imported(ast.parse(path.read_text())) if other in FILES and other != module}
        for module, path in FILES.items()
    }
    ahead: dict[str, set[str]] = {}
    for module in arrows:
        ahead[module], new = set(), [module]
        while new:
            more = arrows[new.pop()] - ahead[module]
            ahead[module] |= more
            new += more
    found = {frozenset({module, *(other for other in ahead[module] if module in ahead[other])}) for module in arrows}
    return sorted((set(each) for each in found if len(each) > 1), key=min)


def test_no_modules_import_each_other() -> None:
    assert circles() == []


def test_modules_are_ideas_told_whole() -> None:
    """There are no more of them than there were; a new one has its reason, and one that goes lowers the number."""
    rules = [module for module in FILES if module.startswith("srcgrad.templates")]
    assert len(rules) <= 34
    assert len(FILES) - len(rules) <= MODULES


NO_MODULES = {  # what begins like the name of one
    "srcgrad.generated",  # the module that generated text is run as
    "srcgrad.checkpointed",  # marks a loop
    "srcgrad.targets",  # a group of entry points
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no reader of TOML")
def test_modules_named_by_strings_are_there() -> None:
    """What is imported when it is asked for, commands, families of rules, entry points: no tool follows them."""
    found = {
        "pyproject.toml": entry_points(),
        "srcgrad.interface.cli": {f"{cli.__name__}.{m}" for m in COMMANDS.values()},
    }
    found["srcgrad"] = {f"srcgrad.{home}:{name}" for name, home in srcgrad._HOME.items()}
    found["srcgrad.templates"] = {f"srcgrad.templates.{family}" for family in families()}
    for module, path in FILES.items():
        texts = [n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)]
        found[module] = found.get(module, set()) | {t for t in texts if isinstance(t, str) and NAMED.fullmatch(t)}
    missing = [f"{module}: {name}" for module, names in found.items() for name in sorted(names) if not is_there(name)]
    assert missing == []


NAMED = re.compile(r"srcgrad(\.\w+)+(:\w+)?")


def entry_points() -> set[str]:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["scripts"], *project["entry-points"].values()]
    return {place for group in groups for place in group.values()}


def is_there(name: str) -> bool:
    """Whether a module, or an object of one behind a colon or as its last part, exists."""
    module, _, member = name.partition(":")
    if name in NO_MODULES or (module in FILES and not member):
        return True
    module, member = (module, member) if member else module.rsplit(".", 1)
    return module in FILES and hasattr(importlib.import_module(module), member)


def test_functions_are_small() -> None:
    large = [
        f"{module}: {node.name}"
        for module, path in FILES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= 60
    ]
    assert large == []


def lines_with_any(paths: Iterable[pathlib.Path]) -> int:
    """How many lines say `Any`, imports of it apart."""
    return sum(
        bool(re.search(r"\bAny\b", line)) and "import Any" not in line
        for path in paths
        for line in path.read_text().splitlines()
    )


def test_types_tell_what_things_are() -> None:
    """`Any` is for what mypy cannot be told; the numbers only go down. Dumped texts show those of `runtime`."""
    of_runtime = [path for module, path in FILES.items() if module.startswith("srcgrad.runtime")]
    rest = [path for path in FILES.values() if path not in of_runtime]
    assert lines_with_any(of_runtime) <= RUNTIME_LINES
    assert lines_with_any(rest) <= OTHER_LINES


def test_folders_say_what_they_are_for() -> None:
    """Each folder says in its `__init__.py` what its duty is, what it may import, what enters and what leaves."""
    silent = [module for module, path in FILES.items() if path.name == "__init__.py" and not said(path)]
    assert silent == []


def said(path: pathlib.Path) -> str | None:
    return ast.get_docstring(ast.parse(path.read_text()))


def is_overload(node: ast.FunctionDef) -> bool:
    return any(getattr(one, "id", "") == "overload" for one in node.decorator_list)


def test_functions_take_few_parameters() -> None:
    """Beside rules and what texts call, which have the signatures of SciPy, and entries that users call."""
    many = [
        f"{module}: {node.name}"
        for module, path in FILES.items()
        if module.split(".")[1:2] not in (["runtime"], ["templates"])
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and parameters(node) > 8 and not is_overload(node)
    ]
    assert many == ENTRIES


def parameters(node: ast.FunctionDef) -> int:
    """How many parameters a function has, its object apart."""
    given = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    return len(given) - (given[:1] in (["self"], ["cls"]))
