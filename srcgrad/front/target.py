"""What the command line is asked for (`file.py:f`, `package.module:Class.method`, `-`) as functions."""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path

from srcgrad.errors import DifferentiationError
from srcgrad.front.locate import locate
from srcgrad.front.static import Program, StaticFunction, StaticModule, read_text

_NAMES = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(,[^\W\d]\w*(\.[^\W\d]\w*)*)*")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def find_target(target: str, *, text: str | None = None) -> list[StaticFunction]:
    """The functions that `target` names, in the order asked for; all of a file where it names none.

    `text` is what standard input holds, for the target `-`. Nothing of the target is run or imported.
    Raises E5015 where the target cannot be read, is not Python, or has no such function; E5016 where it
    is nested too deeply.

    >>> [found] = find_target("-:half", text="def half(x):\\n    return 0.5 * x\\n")
    >>> found.qualname, found.source.file, found.source.first
    ('half', '<stdin>', 1)
    """
    head, names = _split(target)
    module = _module(head, text)
    wanted = names or module.names()
    if not wanted:
        raise DifferentiationError("E5015", f"{module.label} defines no function", "name a file that does")
    return [_function(module, name) for name in wanted]


def _split(target: str) -> tuple[str, list[str]]:
    head, colon, names = target.rpartition(":")
    if not colon or not head or Path(target).is_file():
        return target, []
    if names and not _NAMES.fullmatch(names):
        if _is_drive(head):
            return target, []
        message = f"{names!r} is no list of functions"
        raise DifferentiationError("E5015", message, "write it like file.py:f or file.py:f,g or file.py:Class.f")
    return head, names.split(",") if names else []


def _is_drive(head: str) -> bool:
    return len(head) == 1 and head.isalpha()  # C:\model.py


def _module(head: str, text: str | None) -> StaticModule:
    if head == "-":
        if text is None:
            raise DifferentiationError("E5015", "standard input was not read", "give its text")
        return StaticModule(_program(Path()), "stdin", "<stdin>", text, False)
    path = Path(head)
    if path.is_file():
        return _file(path)
    if path.suffix == ".py" or not _MODULE.fullmatch(head):
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DifferentiationError("E5015", f"the file {head} {what}", _near_files(path))
    return _dotted(head)


def _file(path: Path) -> StaticModule:
    path = path.resolve()
    folder, parts = path.parent, [] if path.name == "__init__.py" else [path.stem]
    while (folder / "__init__.py").is_file():
        folder, parts = folder.parent, [folder.name, *parts]
    return _parsed(_program(folder), ".".join(parts) or path.stem, path)


def _dotted(name: str) -> StaticModule:
    program = _program(Path.cwd())
    found = locate(name, program.folders)
    if found is None:
        message = f"no module {name} is found, and no file of that name"
        raise DifferentiationError("E5015", message, "install it, or name a file: path/to/file.py:function")
    if found.kind != "text":
        message = f"{name} has no Python text"
        raise DifferentiationError("E5015", message, "name a module that is written in Python")
    return _parsed(program, name, found.path)


def _parsed(program: Program, name: str, path: Path) -> StaticModule:
    module = StaticModule(program, name, path.name, read_text(path), path.name == "__init__.py")
    program.modules[path.resolve()] = module
    return module


def _program(folder: Path) -> Program:
    own = (folder.resolve(),)
    return Program(own, (*own, *(Path(entry) for entry in sys.path if entry)))


def _function(module: StaticModule, name: str) -> StaticFunction:
    found = module.function(name)
    if found is None:
        message = f"{module.label} has no function {name}"
        raise DifferentiationError("E5015", message, _near_names(name, module.names()))
    if found.static is not None:
        return found.static
    if found.kind == "unknown":
        remedy = "name the file in which it is defined, once and without a condition"
        raise DifferentiationError("E5015", found.reason, remedy)
    message = f"{name} in {module.label} is no function with Python text"
    raise DifferentiationError("E5015", message, _near_names(name, module.names()))


def _near_names(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    listed = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
    return f"its functions are: {listed}" if known else "it defines no function"


def _near_files(path: Path) -> str:
    folder = path.parent
    names = sorted(item.name for item in folder.glob("*.py") if item.is_file()) if folder.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else "give the path of a Python file, or package.module"
