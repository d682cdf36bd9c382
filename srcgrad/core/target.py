"""A target: what runs a text, as one record. All that a text has otherwise for one target is a field of it.

Arrays that live where a target computes, and not in NumPy's memory, are told by their class, before it is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any  # functions, programs and what texts read from outside are arbitrary objects

import numpy as np

from srcgrad.core.facts import Facts, Names
from srcgrad.core.files import load
from srcgrad.core.identity import Function, record
from srcgrad.core.trees import Block, Node

DEFAULT = "numpy"
RESERVED = ("len", "list", "range", "reversed", "slice", "zip")  # functions of Python that all texts call by name
Pass = Callable[[Any, Facts], Any]


class DeviceArray:
    """What arrays on a device are, `srcgrad.opencl.Array`: known by this class where no device was asked for yet."""

    __slots__ = ()
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


@record(frozen=True)
class Text:
    """A text that is to be run: its main function, what it reads from outside, and the trees of its functions."""

    text: str
    name: str
    label: str
    outside: dict[str, object]
    trees: list[Node]
    origins: Any = None  # where its functions come from (srcgrad.core.source_text.Origin), by name

    def load(self, outside: dict[str, object] | None = None) -> Function:
        """The main function, as Python runs it."""
        found = self.outside if outside is None else outside
        return load(self.text, self.name, self.label, found, origins=self.origins)


@record(frozen=True)
class ParallelLoop:
    """How a loop over items that runs in parallel is spelled: its range, the decorator, and what is imported."""

    range: str
    decorator: str
    imports: frozenset[str]


def _no_decorators(facts: Facts) -> Block:
    return []


def _same_function(function: Function, otherwise: Callable[[], Function] | None) -> Function:
    return function


def _imports_alone(written: Any, kernels: set[str]) -> tuple[Collection[str], str]:
    return written.imports, ""


@record(frozen=True)
class Target:
    """What runs a text. Without more than a name it is Python with NumPy, which runs statements as they stand.

    `passes` come last, behind those of a mode. `batched` come instead in a text for all directions at once; without
    them a Jacobian takes one direction after the other. `wrap` gives the decorators of each function of a text,
    `compile` makes a text a function, and `boundary` makes of that what users call; what it is given beside makes the
    function that takes arguments of any shapes, where the text is for those of equal ones. `embed` gives the imports of
    a standalone text and what it holds at its end, of what `srcgrad.backend.text.module.write` gives and the names of
    kernels. `parallel` spells a loop over items, for names that are free and whether no index need be looked at.
    """

    name: str
    passes: tuple[Pass, ...] = ()
    batched: tuple[Pass, ...] = ()
    wrap: Callable[[Facts], Block] = _no_decorators
    compile: Callable[[Text], Function] = Text.load
    boundary: Callable[[Function, Callable[[], Function] | None], Function] = _same_function
    embed: Callable[[Any, set[str]], tuple[Collection[str], str]] = _imports_alone
    parallel: Callable[[Names, bool], ParallelLoop] | None = None
    no_items: str = ""  # why there is no `each` for it, if there is none
    excludes: tuple[str, ...] = ()  # options of `dump` that it is not made with
    reserved: tuple[str, ...] = ()  # functions of Python that its passes call by name, beside those of all texts
    as_written: bool = True  # whether NumPy runs each statement as it stands: no kernel, no compiler
    kernels: bool = False  # whether statements become kernels, which end where calls and statements do
    typed: bool = False  # whether each name has one type, known in each call: nothing is guessed or looked at
    whole: bool = False  # whether a text is one function: calls are written out, and it takes no seed
    closures: bool = True  # whether a function may return one: a pullback that keeps what was computed
    spreads: bool = False  # whether rows of arguments are spread over workers, and it is for nothing else
    complex: bool = True  # whether its numbers may be complex


def without_axes(value: object) -> object:
    """An array without axes as a number; other values as they are."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def is_alone(base: Any) -> bool:
    """Whether the base of an array is memory that compiled code has made, and that nothing else holds."""
    return type(base).__name__ == "_MemInfo" and base.parent is None and base.refcount == 1
