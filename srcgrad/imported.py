"""Functions of a target, live: its module is run, and leaves nothing behind in the list of modules."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import linecache
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any  # functions of a user

from srcgrad.errors import DifferentiationError, Place
from srcgrad.front.source import label_of

PRIVATE = "srcgrad_target"  # no module of a user is called that


@contextlib.contextmanager
def module_of(target: str, text: str | None = None) -> Iterator[ModuleType]:
    """The module of a target of the command line, for as long as the context lasts.

    Its own folder comes first on the path, as when Python runs it; a file of a package is imported as a part
    of it.
    """
    head = target if Path(target).is_file() else target.rpartition(":")[0] or target
    before, path = set(sys.modules), list(sys.path)
    try:
        yield _run(head, text)
    finally:
        sys.path[:] = path
        own = [name for name in sys.modules if name not in before and _is_near(name, head)]
        for name in own:
            del sys.modules[name]


def _run(head: str, text: str | None) -> ModuleType:
    """The module, run; E5015 at the line that raised, since whatever it raises is a matter of the user's text."""
    try:
        if head == "-":
            return _executed(text or "", "<stdin>")
        if Path(head).is_file():
            return _file(Path(head).resolve())
        sys.path.insert(0, str(Path.cwd()))
        return importlib.import_module(head)
    except Exception as error:
        place = _line_of(error, head)
        message = (
            f"{Path(head).name if head != '-' else 'standard input'} cannot be run: {type(error).__name__}: {error}"
        )
        raise DifferentiationError("E5015", message, "make it a module that can be imported", place) from error


def _line_of(error: Exception, head: str) -> Place | None:
    """The last line of the target itself that was running when it failed."""
    own = "<stdin>" if head == "-" else str(Path(head).resolve())
    found = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        line = linecache.getline(frame.f_code.co_filename, number).rstrip()
        if frame.f_code.co_filename == own and line:
            start = len(line) - len(line.lstrip())
            found = Place(label_of(own), number, start, line, len(line) - start)
    return found


def _is_near(name: str, head: str) -> bool:
    """Whether a module lies in the folder of the target, where another file of that name may follow."""
    if not Path(head).is_file():
        return False
    file = getattr(sys.modules[name], "__file__", None)
    return name == PRIVATE or (file is not None and Path(file).resolve().is_relative_to(Path(head).resolve().parent))


def _file(path: Path) -> ModuleType:
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").is_file():
        folder, parts = folder.parent, [folder.name, *parts]
    sys.path.insert(0, str(folder))
    if len(parts) > 1:
        return importlib.import_module(".".join(parts).removesuffix(".__init__"))
    spec = importlib.util.spec_from_file_location(PRIVATE, path)
    if spec is None or spec.loader is None:
        raise DifferentiationError("E5015", f"{path.name} is no Python file", "name a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[PRIVATE] = module
    spec.loader.exec_module(module)
    return module


def _executed(text: str, label: str) -> ModuleType:
    module = ModuleType(PRIVATE)
    sys.modules[PRIVATE] = module
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    exec(compile(text, label, "exec"), vars(module))
    return module


def function_of(module: ModuleType, qualname: str) -> Callable[..., Any]:
    """The function, or `Class.method`, of that name."""
    found: Any = module
    for part in qualname.split("."):
        found = getattr(found, part)
    function: Callable[..., Any] = found
    return function
