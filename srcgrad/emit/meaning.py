"""What a name of a generated text means outside of it: something that an output can hold or import."""

from __future__ import annotations

import ast
import builtins
import sys
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any  # names mean arbitrary objects

from srcgrad import runtime
from srcgrad.front.locate import is_trusted
from srcgrad.front.static import StaticFunction, StaticModule
from srcgrad.identity import holder


@dataclass(frozen=True)
class Made:
    """A function of the output itself."""

    name: str


@dataclass(frozen=True)
class Builtin:
    """A name that needs no definition: Python's own, or one that nothing binds, as in the user's program."""

    name: str


@dataclass(frozen=True)
class Import:
    """A module, or a member of one."""

    module: str
    member: str = ""

    def line(self, name: str) -> str:
        """The import that binds it to `name`.

        >>> [Import("numpy").line("np"), Import("math", "pi").line("pi"), Import("os.path").line("path")]
        ['import numpy as np', 'from math import pi', 'from os import path']
        """
        if self.member:
            return f"from {self.module} import {self.member}" + ("" if name == self.member else f" as {name}")
        package, _, last = self.module.rpartition(".")
        if package and last == name:
            return f"from {package} import {last}"
        return f"import {self.module}" + ("" if name == self.module else f" as {name}")


@dataclass(frozen=True)
class Copied:
    """A function or a value that the output takes over as text: a `def`, or `name = expression`."""

    module: StaticModule
    name: str
    function: StaticFunction | None = field(default=None, compare=False)
    expression: str = field(default="", compare=False)


@dataclass(frozen=True)
class Literal:
    """A value that a literal spells."""

    text: str


@dataclass(frozen=True)
class Outside:
    """An object of a running program that the text is executed with."""

    identity: int
    value: Any = field(compare=False)


@dataclass(frozen=True)
class Unknown:
    """A name that cannot be told, and why."""

    reason: str


Meaning = Made | Builtin | Import | Copied | Literal | Outside | Unknown


@dataclass(frozen=True)
class Found:
    """The meaning of the first `count` parts of a dotted name; `also` are submodules to import."""

    meaning: Meaning
    count: int = 1
    also: tuple[str, ...] = ()


def is_builtin(name: str, value: object) -> bool:
    """Whether a name means what it means to Python itself."""
    return name in vars(builtins) and vars(builtins)[name] is value


def imported(value: object) -> Import | None:
    """The import of a module, or of a function or class of NumPy, SciPy or the runtime; None otherwise.

    >>> imported(sys.modules["math"].sin), imported(runtime.sum_to), imported(0.5)
    (Import(module='math', member='sin'), Import(module='srcgrad.runtime', member='sum_to'), None)
    """
    if isinstance(value, ModuleType):
        return Import(value.__name__) if sys.modules.get(value.__name__) is value else None
    if (held := holder(value)) is not None:
        return Import(*held)
    name = getattr(value, "__name__", None)
    home = getattr(value, "__module__", None)
    if not isinstance(name, str):
        return None
    homes = [runtime.__name__, "numpy", "scipy.special"]
    if isinstance(home, str):
        homes[1:1] = [home.lstrip("_").split("._")[0], home]
    for module in dict.fromkeys(homes):
        known = sys.modules.get(module)
        if known is not None and is_library(module) and vars(known).get(name) is value:
            return Import(module, name)
    return None


def is_library(module: str) -> bool:
    """Whether a module is one that other programs have as well, not the user's own."""
    return is_trusted(module) or module.partition(".")[0] == "scipy"


def literal(value: object) -> Literal | None:
    """The literal of a plain constant; None where it has none that gives it back.

    >>> literal(0.5), literal((1, "a")), literal([1.0])
    (Literal(text='0.5'), Literal(text="(1, 'a')"), None)
    """
    text = repr(value)
    try:
        same = type(value) in (int, float, str, bool, tuple, type(None)) and ast.literal_eval(text) == value
    except (ValueError, SyntaxError):  # inf, nan, objects in a tuple
        return None
    return Literal(text) if same else None


def from_home(function: FunctionType, name: str, value: object) -> Import | None:
    """The import of a global name from the module of the function that reads it."""
    module = sys.modules.get(function.__module__ or "")
    if module is None or not is_library(module.__name__) or vars(module).get(name, module) is not value:
        return None
    return Import(module.__name__, name)
