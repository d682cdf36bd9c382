"""What a command is asked for: patterns, standard input, functions (`a.py:f`, `package.module:Class.method`, `-`)."""

from __future__ import annotations

import glob
import io
import re
import sys
import tokenize
from collections.abc import Callable, Sequence
from pathlib import Path

from srcgrad.core.bindings import (
    Program,
    StaticFunction,
    StaticModule,
    locate,
    read_text,
)
from srcgrad.core.errors import DifferentiationError, near_names
from srcgrad.interface.cli.options import report


def expand_patterns(targets: Sequence[str]) -> list[str]:
    """Targets with the files that patterns mean in their place, sorted; E5015 for a pattern that means none.

    A pattern may name functions, as `src/*.py:loss`; `**` stands for any folders.

    >>> expand_patterns(["model.py:f", "-", "package.module:f"])
    ['model.py:f', '-', 'package.module:f']
    """
    return list(dict.fromkeys(found for target in targets for found in _matches(target)))


def _matches(target: str) -> list[str]:
    head, colon, names = target.rpartition(":")
    pattern = head if colon and "*" not in names else target
    if Path(target).exists() or not glob.has_magic(pattern):
        return [target]
    files = sorted(file for file in glob.glob(pattern, recursive=True) if Path(file).is_file())
    if not files:
        raise DifferentiationError(
            "E5015", f"no file matches {pattern}", "`**` stands for any folders, `*` for any name"
        )
    return [target.replace(pattern, file, 1) for file in files]


def for_each_target(targets: Sequence[str], do: Callable[[str], bool]) -> int:
    """Do something for each target; what fails is told at the end, and the exit status is then 1.

    `do` tells whether all went well. The error of a single target is raised.
    """
    done, failed = True, list[tuple[str, DifferentiationError]]()
    for target in targets:
        try:
            done = do(target) and done
        except DifferentiationError as error:
            if len(targets) == 1:
                raise
            failed.append((target, error))
    tell(failed, len(targets))
    return 0 if done and not failed else 1


def tell(failed: Sequence[tuple[str, DifferentiationError]], count: int) -> None:
    """Print what failed of `count` targets on standard error."""
    if failed:
        sys.stdout.flush()
        print(f"{len(failed)} of {count} targets failed:", file=sys.stderr)
    for target, error in failed:
        report(error, f"{target}: ")


def standard_input(targets: Sequence[str]) -> str | None:
    """What standard input holds, if a target is `-`, decoded as the first lines of a Python file say."""
    if not any(target.partition(":")[0] == "-" for target in targets):
        return None
    buffer = getattr(sys.stdin, "buffer", None)
    if buffer is None:
        return sys.stdin.read()
    content = io.BytesIO(buffer.read())
    try:
        encoding, _ = tokenize.detect_encoding(content.readline)
        content.seek(0)
        return io.TextIOWrapper(content, encoding).read()
    except (SyntaxError, UnicodeDecodeError) as error:
        message = f"standard input cannot be decoded: {error}"
        raise DifferentiationError("E5015", message, "give text in UTF-8") from None


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
    return _module_of_name(head)


def _file(path: Path) -> StaticModule:
    path = path.resolve()
    folder, parts = path.parent, [] if path.name == "__init__.py" else [path.stem]
    while (folder / "__init__.py").is_file():
        folder, parts = folder.parent, [folder.name, *parts]
    return _parse_module(_program(folder), ".".join(parts) or path.stem, path)


def _module_of_name(name: str) -> StaticModule:
    program = _program(Path.cwd())
    found = locate(name, program.folders)
    if found is None:
        message = f"no module {name} is found, and no file of that name"
        raise DifferentiationError("E5015", message, "install it, or name a file: path/to/file.py:function")
    if found.kind != "text":
        message = f"{name} has no Python text"
        raise DifferentiationError("E5015", message, "name a module that is written in Python")
    return _parse_module(program, name, found.path)


def _parse_module(program: Program, name: str, path: Path) -> StaticModule:
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
    listed = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
    return near_names(name, known) or (f"its functions are: {listed}" if known else "it defines no function")


def _near_files(path: Path) -> str:
    folder = path.parent
    names = sorted(item.name for item in folder.glob("*.py") if item.is_file()) if folder.is_dir() else []
    return near_names(path.name, names) or "give the path of a Python file, or package.module"
