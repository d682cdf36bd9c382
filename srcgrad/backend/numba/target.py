"""The target numba: loops over elements, which Numba compiles.

The boundary to Numba: what may go in, and what it refuses, as errors of ours.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import traceback
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any  # functions and arguments are arbitrary objects

import gast
import numpy as np

from srcgrad.backend.numba.array_statements import loops, note_safe_indices
from srcgrad.backend.numba.element_loops import elements, join_loop_updates, tapes
from srcgrad.backend.numba.map_items import add_item_parameters, parallel_loop, rows
from srcgrad.backend.numba.value_types import decorators, ranges, respell_for_numba, scalars
from srcgrad.core.errors import DifferentiationError, Place
from srcgrad.core.identity import Function, python_function
from srcgrad.core.source_text import users_place
from srcgrad.core.target import Target, Text, without_axes
from srcgrad.core.trees import Node, find_nodes

REMEDY = "write it with loops, numbers, arrays and tuples (docs/numba.md), or leave out target='numba'"
PLAIN = (bool, int, float, complex, str, np.generic, type(None))

UNEVEN = "E5026 loops need axes"  # how the errors of `srcgrad.runtime.checks` begin


def require_numba() -> None:
    """E5019 where Numba is not installed."""
    if importlib.util.find_spec("numba") is None:
        raise DifferentiationError(
            "E5019", "the target numba needs Numba, which is not installed", "pip install 'srcgrad[numba]'"
        )


def compile_text(text: Text) -> Function:
    """The function that a text defines, as its decorators have Numba compile it; E5019 where it is not installed."""
    require_numba()
    return text.load(outside_values(text.outside, text.trees))


def guard_arguments(compiled: Any, otherwise: Callable[[], Function] | None = None) -> Function:
    """A compiled function that takes NumPy's arguments as they come, and whose refusals carry the code E5026.

    `otherwise` makes the one that runs for arguments over which its loops cannot: those of which axes broadcast.
    """
    from srcgrad.backend.numba.helpers import check_powers, register

    register()
    seen: set[object] = set()  # signatures that have been looked at
    contiguous = "owned" not in compiled.py_func.__code__.co_names  # else two arguments may be one array

    @functools.wraps(compiled.py_func)
    def call(*args: Any, **kwargs: object) -> Any:
        given = list(args)
        for place, value in enumerate(args):
            kind = type(value)  # most are floats and arrays, and are given as they are
            if kind is not float and (kind is not np.ndarray or not value.flags.c_contiguous or not value.ndim):
                given[place] = numba_argument(value, contiguous)
        try:
            found = compiled(*given, **{name: numba_argument(value, contiguous) for name, value in kwargs.items()})
        except Exception as error:  # what its passes raise is of no one class
            if _of_compiler(error):
                raise refusal(error) from None
            if otherwise is None or not str(error).startswith(UNEVEN):
                raise
            return otherwise()(*args, **kwargs)
        if len(seen) != len(compiled.overloads):
            check_powers(compiled, seen)
        return found

    call.__srcgrad_compiled__ = compiled  # type: ignore[attr-defined]
    return call


def _of_compiler(error: Exception) -> bool:
    """Whether Numba raised an error when it compiled, not the code when it ran."""
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_globals.get("__name__", "").startswith("numba.") for frame, _ in frames)


def numba_argument(value: object, contiguous: bool = True) -> Any:
    """An argument as Numba is given it: arrays without axes as numbers, others contiguous; E5026 for lists and objects.

    >>> numba_argument(np.array(2.0)), numba_argument((1, np.arange(4)[::2]))
    (np.float64(2.0), (1, array([0, 2])))
    """
    if type(value) is np.ndarray and value.ndim > 0:
        return value if not contiguous or value.flags.c_contiguous else np.ascontiguousarray(value)
    if type(value) is float or type(value) is int:
        return value
    value = without_axes(value)
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, tuple):
        parts = [numba_argument(part, contiguous) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(python_function(value), FunctionType):
        return compile_user_function(value)
    raise DifferentiationError(
        "E5026", f"an argument is of type {type(value).__name__}", "pass numbers, arrays, and tuples of them"
    )


@functools.lru_cache(maxsize=256)
def compile_user_function(function: object) -> object:
    """A function of the user as one that compiled code may call."""
    from numba import njit

    return function if python_function(function) is not function else njit(function, boundscheck=True)


def outside_values(found: dict[str, object], trees: list[Node]) -> dict[str, object]:
    """What a text reads from outside of itself, as Numba takes it; E5026 for what may change behind its back."""
    for name, value in found.items():
        _check_constant(name, value)
    for node in (item for tree in trees for item in find_nodes(tree, gast.Attribute)):
        owner = found.get(node.value.id) if isinstance(node.value, gast.Name) else None
        if isinstance(owner, ModuleType):
            _check_constant(f"{node.value.id}.{node.attr}", vars(owner).get(node.attr))
    return {
        name: compile_user_function(value) if isinstance(value, FunctionType) else value
        for name, value in found.items()
    }


def _check_constant(name: str, value: object) -> None:
    if isinstance(value, np.ndarray | list | dict | set):
        raise DifferentiationError(
            "E5026",
            f"`{name}` is an array or a list from outside the function: compiled code would keep what it holds now",
            f"make `{name}` a parameter",
        )


def refusal(error: Exception) -> DifferentiationError:
    """What Numba says, in a line, at the line of the text that it is about."""
    text = re.sub(r"\x1b\[[0-9;]*m|\[1m|\[0m", "", str(error))
    said = [line.strip() for line in text.splitlines()]
    place = _place(text)
    told: list[str] = []
    for line in said:
        if line.startswith(("File ", "During:", "There are ")) and told:
            break
        if line and not line.startswith(("Failed in", "File ", "- ", "Overload")):
            told.append(line)
    message = re.sub(r" found for signature: >>>", " of", " ".join(told[:3])) or type(error).__name__
    message = re.sub(r"Function\(<(?:built-in )?(?:function|ufunc) '?(\w+)[^>]*>\)", r"\1", message)
    message = re.sub(r" at 0x[0-9a-f]+", "", message)
    return DifferentiationError("E5026", message if len(message) <= 200 else f"{message[:197]}...", REMEDY, place)


def _place(text: str) -> Place | None:
    """The user's line that the generated one comes from which a message names last: the innermost."""
    found = re.findall(r'File "[^"]*(<srcgrad [^"]*>)", line (\d+)', text)
    if not found:
        return None
    return users_place(found[-1][0], int(found[-1][1]))


NUMBA = Target(
    "numba",
    passes=(
        ranges,
        add_item_parameters,
        scalars,
        join_loop_updates,
        tapes,
        loops,
        elements,
        rows,
        note_safe_indices,
        respell_for_numba,
    ),
    wrap=decorators,
    compile=compile_text,
    boundary=guard_arguments,
    parallel=parallel_loop,
    excludes=("standalone",),
    reserved=("min",),
    as_written=False,
    typed=True,
    whole=True,
    closures=False,
    complex=False,
)
