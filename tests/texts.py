"""The judge of texts: generated texts of many programs, each by its hash, so that a change of any of them is seen.

`tests/texts.txt` has a line for each: its name, and its hash or the code by which it is refused. A name is
`corpus/program/how`, where `how` are the mode, the target and `typed` for a text that was made with `like=`. Those of
`all-rows` and `all-columns` are run for all rows or columns of a Jacobian at once: their arrays have a leading axis.

    python -m tests.texts                   whether all are as they were, and which are not
    python -m tests.texts --write           the file anew, with the programs that are new (`make texts`)
    python -m tests.texts NAME ...          the texts of some; a part of a name is enough
    python -m tests.texts --into FOLDER     all texts as files
    python -m tests.texts --against CHECKOUT [NAME ...]   how they differ from those of another checkout of srcgrad
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import difflib
import hashlib
import inspect
import linecache
import subprocess
import sys
import tempfile
import textwrap
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any  # functions and arguments of any kind

from srcgrad import DifferentiationError, jacobian, source
from srcgrad.interface.dump import dump

ROOT = Path(__file__).resolve().parent.parent
FILE = Path(__file__).parent / "texts.txt"
HOW = (
    "reverse",
    "reverse/typed",
    "forward",
    "vjp",
    "value-and-grad",
    "hvp",
    "reverse/numba",
    "reverse/numba/typed",
    "reverse/opencl",
    "reverse/opencl/typed",
)
LEADING = {"all-rows": "reverse", "all-columns": "forward"}
FIRST_LINES = """\
# What `make texts` writes: each generated text by its hash, or by the code of the error that refuses it.
# A line that changes is a text that changes: `python -m tests.texts NAME` prints it.
"""


@dataclass(frozen=True)
class Text:
    """One text: how it is made, once it is asked for."""

    name: str
    make: Callable[[], str]

    def hash(self) -> str:
        """The first digits of the text's SHA-256, or `refused` and a code."""
        try:
            text = self.make()
        except DifferentiationError as error:
            return f"refused {error.code}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def texts() -> dict[str, Text]:
    """All texts by their names, in the order of these."""
    found = [*of_functions(), *of_programs(), *of_goldens(), *of_workloads()]
    assert len({text.name for text in found}) == len(found), "two texts of one name"
    return {text.name: text for text in sorted(found, key=lambda text: text.name)}


def of_functions() -> Iterator[Text]:
    """Functions of the modules that hold programs: their gradients or pullbacks, and one more text of each."""
    from tests.programs import accepted, complex_programs, found, ode_programs, people, recurrent

    for group, module, pairs in (
        ("complex_programs", complex_programs, complex_programs.PROGRAMS),
        ("found", found, [*found.FOUND, *found.SECOND]),
        ("ode_programs", ode_programs, ode_programs.PROGRAMS),
        ("people", people, people.PEOPLE),
        ("programs", accepted, accepted.PROGRAMS),
        ("recurrent", recurrent, recurrent.RECURRENT),
    ):
        known = alone(group, module)
        numbers: dict[str, int] = {}
        for function, arguments in pairs:
            name = function.__name__ if inspect.isfunction(function) else ""
            if name not in known or known[name].__qualname__ != function.__qualname__:
                continue
            numbers[name] = numbers.get(name, 0) + 1
            label = f"{group}/{name}" + (f"-{n}" if (n := numbers[name]) > 1 else "")
            usual = "vjp" if module is complex_programs else "reverse"
            for how in dict.fromkeys((usual, drawn(label))):
                yield Text(f"{label}/{how}", lambda f=known[name], a=arguments, how=how: generated(f, a, how))
            for how in LEADING if zlib.crc32(label.encode()) % 4 == 0 and module is not complex_programs else ():
                yield Text(f"{label}/{how}", lambda f=known[name], a=arguments, how=how: with_leading_axis(f, a, how))


def of_programs() -> Iterator[Text]:
    """Programs that the tests hold as text: one text of each."""
    from tests.programs.corpus import CORPUS
    from tests.programs.small import PROGRAMS
    from tests.random.writes import HELPERS, arguments

    for name, program in PROGRAMS.items():
        label = f"language/{'-'.join(name.split())}"
        yield Text(
            f"{label}/{drawn(label)}", lambda text=program.text, label=label: of_text(text, label, None, drawn(label))
        )
    for seed, text in CORPUS.items():
        label = f"corpus/{seed}"
        yield Text(
            f"{label}/{drawn(label)}",
            lambda text=HELPERS + text, label=label, seed=seed: of_text(text, label, arguments(seed), drawn(label)),
        )


def of_goldens() -> Iterator[Text]:
    """The golden programs by `dump`, from their text alone."""
    from tests.test_golden import CASES, parts

    for case in CASES:
        flags, text, _ = parts(case)
        target = f"-:{flags['function']}"
        for standalone in (False, True):
            name = f"golden/{case.stem}/dump{'/standalone' if standalone else ''}"
            yield Text(name, lambda text=text, target=target, s=standalone: dump(target, text=text, standalone=s).text)


def of_workloads() -> Iterator[Text]:
    """The programs that are measured, one text of each; where shapes are declared, one for these as well."""
    from benchmarks.contenders import generated
    from benchmarks.workloads import WORKLOADS

    for workload in {(workload.function, workload.mode): workload for workload in reversed(WORKLOADS)}.values():
        for declared in (False, True) if workload.shapes else (False,):
            name = f"workloads/{workload.function.__name__}/{workload.mode}" + ("/declared" if declared else "")
            yield Text(name, lambda workload=workload, declared=declared: generated(workload, declared=declared))


def with_leading_axis(function: Callable[..., Any], arguments: tuple[Any, ...], how: str) -> str:
    """The text that runs for all rows, or all columns, of a Jacobian at once, or for one, if there is no such text."""
    wrt = tuple(k for k, one in enumerate(arguments) if is_differentiated(one))
    found = jacobian(function, wrt=wrt, mode=LEADING[how])
    found(*copy.deepcopy(arguments))
    return found.source


def is_differentiated(argument: Any) -> bool:
    return isinstance(argument, float) or getattr(getattr(argument, "dtype", None), "kind", "") == "f"


def drawn(label: str) -> str:
    """How one text of a program is made, drawn by its name."""
    return HOW[zlib.crc32(label.encode()) % len(HOW)]


def of_text(text: str, label: str, arguments: tuple[Any, ...] | None, how: str) -> str:
    """The text of the derivative of a program's function `f`."""
    from tests.programs.small import made

    function, own = made(label, text)
    return generated(function, own if arguments is None else arguments, how)


def generated(function: Callable[..., Any], arguments: tuple[Any, ...], how: str) -> str:
    mode, *rest = how.split("/")
    target = next((one for one in rest if one != "typed"), "numpy")
    return source(function, mode, target=target, like=arguments if "typed" in rest else None)


def alone(group: str, module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The functions of a module, each as if it stood alone in a file: no text changes when another is written above.

    What decorates a function is left out: in these modules it only notes the function.
    """
    space = {**vars(module), "__name__": "texts"}
    found = {}
    for name, function in vars(module).items():
        if inspect.isfunction(function) and function.__module__ == module.__name__ and function.__name__ == name:
            text = textwrap.dedent(inspect.getsource(function))
            [node] = ast.parse(text).body
            text = "".join(text.splitlines(True)[node.lineno - 1 :])
            label = f"<texts tests.{group}>/{name}.py"
            linecache.cache[label] = (len(text), None, text.splitlines(True), label)
            exec(compile(text, label, "exec"), space)
            found[name] = space[name]
    return found


def kept() -> dict[str, str]:
    """The hashes that are committed, by name."""
    lines = [line.partition(" ") for line in FILE.read_text().splitlines() if not line.startswith("#")]
    return {name: known for name, _, known in lines}


def changes(names: Iterable[str], every: Mapping[str, Text], known: Mapping[str, str]) -> list[str]:
    """One line for each of some texts that is not what it was."""
    found = []
    for name in names:
        now = every[name].hash() if name in every else "no such program"
        if now != known[name]:
            found.append(f"{name}: {known[name]} -> {now}")
    return found


def write() -> None:
    """The file of hashes anew."""
    lines = [f"{name} {text.hash()}\n" for name, text in texts().items()]
    FILE.write_text(FIRST_LINES + "".join(lines))


def chosen(asked: Iterable[str]) -> list[Text]:
    """The texts whose names have one of some parts; all, where none is asked for."""
    asked = list(asked)
    return [text for name, text in texts().items() if not asked or any(part in name for part in asked)]


def told(text: Text) -> str:
    """A text, or the message that refuses it."""
    try:
        return text.make()
    except DifferentiationError as error:
        return f"{error}\n"


def into(folder: Path, asked: Iterable[str]) -> None:
    """Each text as a file."""
    for text in chosen(asked):
        file = folder / f"{text.name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(told(text))


OTHER = """
import importlib.util, os, sys
root, folder, *asked = sys.argv[1:]
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder).lower()]
sys.path.insert(0, root)
import srcgrad
place = next(p for p in (f"{root}/srcgrad/templates", f"{root}/templates") if os.path.isdir(p))
spec = importlib.util.spec_from_file_location("srcgrad.templates", f"{place}/__init__.py",
                                              submodule_search_locations=[place])
sys.modules[spec.name] = srcgrad.templates = importlib.util.module_from_spec(spec)
spec.loader.exec_module(srcgrad.templates)
assert srcgrad.__file__ == f"{root}/srcgrad/__init__.py"
sys.path.insert(0, {here!r})
import pathlib, tests.texts
tests.texts.into(pathlib.Path(folder), asked)
"""


def against(checkout: Path, asked: list[str]) -> Iterator[str]:
    """How the texts of these programs differ from those that the srcgrad of another checkout makes."""
    with tempfile.TemporaryDirectory() as folder:
        program = OTHER.replace("{here!r}", repr(str(ROOT)))
        command = [sys.executable, "-c", program, str(checkout.resolve()), folder, *asked]
        subprocess.run(command, check=True, cwd=folder, timeout=600)
        for text in chosen(asked):
            before, now = (Path(folder) / f"{text.name}.py").read_text(), told(text)
            yield from difflib.unified_diff(
                before.splitlines(True), now.splitlines(True), f"{checkout}: {text.name}", f"here: {text.name}"
            )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.texts", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true", help="write the file of hashes anew")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="write all texts as files")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare with the srcgrad of another checkout")
    asked = parser.parse_args()
    if asked.write:
        write()
    elif asked.into is not None:
        into(asked.into, asked.names)
    elif asked.against is not None:
        sys.stdout.writelines(against(asked.against, asked.names))
    elif asked.names:
        for text in chosen(asked.names):
            print(f"# {text.name}\n{told(text)}")
    else:
        known = kept()
        found = changes(known, texts(), known)
        print("\n".join([*found, f"{len(known)} texts, {len(found)} changed"]))
        return bool(found)
    return 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
