"""A function of one item, mapped over many: its values, and of its Jacobian the blocks that are not zero."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any  # functions and arguments are arbitrary objects

import numpy as np

from srcgrad.api import chosen_wrt
from srcgrad.derivative import Derivative
from srcgrad.errors import DifferentiationError
from srcgrad.executed import changes
from srcgrad.facts import Kind
from srcgrad.items import Shape, written
from srcgrad.modules import Module
from srcgrad.numba.given import Items
from srcgrad.options import Wrt
from srcgrad.running import run


@dataclass(frozen=True)
class Made:
    """One text, executed, and a test that tells whether it is out of date."""

    function: Callable[..., Any]
    text: str
    stale: Callable[[], bool]


SMALL = 64  # elements up to which the text for a compiled loop says how long an array of an item is


def small(item: dict[str, Any]) -> dict[str, tuple[int, ...]] | None:
    """The lengths of the axes of what an item's arguments are, if all arrays are small; None otherwise."""
    shapes = {name: value.shape for name, value in item.items() if isinstance(value, np.ndarray | np.generic)}
    return shapes if all(math.prod(shape) <= SMALL for shape in shapes.values()) else None


def own(value: Any) -> Any:
    """A copy of an array: a function may write into its arguments."""
    return value.copy() if isinstance(value, np.ndarray) else value


class Each:
    """Values and blocks of the Jacobian, for all items: call it like the function, with an axis of items in front."""

    def __init__(self, function: Callable[..., Any], wrt: Wrt, shared: Sequence[str], target: str) -> None:
        self.function, self.target = function, target
        self.single = not isinstance(wrt, tuple)
        self.derivative: Derivative[..., Any] = Derivative(function, "vjp", wrt, False, target)
        self.shared = tuple(shared)
        names = list(self.derivative.signature.parameters)
        wrong = [name for name in self.shared if name not in names or name in self.derivative.wrt]
        if target == "opencl" or wrong:
            what = "each item has a kernel of its own" if target == "opencl" else f"{wrong[0]!r} is no shared parameter"
            raise DifferentiationError(
                "E5019" if target == "opencl" else "E5009",
                what,
                "name numpy or numba" if target == "opencl" else "name parameters of which nothing is differentiated",
            )
        self.__name__ = f"{self.derivative.primal.__name__}_each"
        self._made: dict[Any, Made] = {}
        self._last: Made | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self.derivative.signature.bind(*self.derivative.bound, *args, **kwargs)
        bound.apply_defaults()
        values = list(bound.arguments.values())
        names = list(self.derivative.signature.parameters)
        several = [name not in self.shared for name in names]
        count = self._count(dict(zip(names, values, strict=True)))
        values = [np.asarray(v) if many else v for v, many in zip(values, several, strict=True)]
        first = [own(v[0] if many else v) for v, many in zip(values, several, strict=True)]
        kinds = self.derivative.kinds(first)
        shape = Shape.of(run(self.function, first, self.derivative.named))
        lengths = small(dict(zip(names, first, strict=True))) if self.target == "numba" else None
        made = self._compiled(kinds, shape, lengths)
        found = run(made.function, values, self.derivative.named)
        y, blocks = found
        self._last = made
        assert len(y) == count, "the text goes over all items"
        return y, blocks[0] if self.single else blocks

    def _count(self, values: dict[str, Any]) -> int:
        """How many items there are; E5014 where arguments differ, or where there are none."""
        several = {name: np.shape(value) for name, value in values.items() if name not in self.shared}
        lengths = {name: shape[0] if shape else None for name, shape in several.items()}
        [first, *_] = lengths or {"": None}
        wrong = next((n for n, length in lengths.items() if length is None or length != lengths[first]), None)
        if wrong is not None or not lengths[first]:
            name, due = wrong or first, lengths[first] or "some"
            raise DifferentiationError(
                "E5014",
                f"`{name}` has shape {several[name]}, without an axis of {due} items" if name else "nothing has items",
                f"give every argument the same number of items, at least one, or name it: shared=({name!r},)",
            )
        return int(lengths[first] or 0)

    def _compiled(self, kinds: dict[str, Kind], shape: Shape, lengths: dict[str, tuple[int, ...]] | None) -> Made:
        key = (shape, *kinds.items(), None if lengths is None else tuple(lengths.items()))
        made = self._made.get(key)
        if made is None or made.stale():
            compiled = self.target == "numba"
            given = Items(shape.kind, len(shape.places), lengths) if compiled else None
            module = Module(compiled, False, self.target, given=given)
            function, text = written(module, self.derivative, kinds, shape, self.shared)
            made = self._made[key] = Made(function, text, changes(module))
        return made

    @property
    def source(self) -> str:
        """The text that the last call ran; E5014 before the first, which tells what an item is."""
        if self._last is None:
            raise DifferentiationError("E5014", "what an item is, a call tells", "call it first")
        return self._last.text

    @property
    def njit(self) -> Any:
        """With `target="numba"` what `numba.njit` made of the text of the last call: compiled code may call it."""
        found = None if self._last is None else getattr(self._last.function, "__srcgrad_compiled__", None)
        if found is None:
            raise DifferentiationError("E5019", "there is compiled code with the target numba, after a call", "name it")
        return found

    @property
    def __signature__(self) -> inspect.Signature:
        return self.derivative.__signature__

    def __repr__(self) -> str:
        return f"<srcgrad each of {self.__name__} with respect to {', '.join(self.derivative.wrt)}>"


def each(
    function: Callable[..., Any],
    wrt: Wrt = 0,
    *,
    argnums: Wrt | None = None,
    shared: Sequence[str] | str = (),
    target: str = "numpy",
) -> Each:
    """Values and derivatives of a function of one item, for many items: `y, blocks = each(f)(xs)`.

    Arguments have an axis of items in front, those named in `shared` apart, which all items see. `y[i]` is the
    function's value for item i, and `blocks[i]` its derivative by that item's argument, of the value's shape and then
    the argument's; a tuple of such arrays if `wrt` is one. They are the blocks of the Jacobian of all items that are
    not zero. The function returns a number, an array, or a tuple of numbers, of one shape for all items.
    With `target="numba"` the items run in parallel, as compiled code.

    Errors: E5014 where arguments differ in their number of items, or have none; E5009 for a name in `shared` that is
    no parameter, or in `wrt` as well; those of `grad`.

    >>> import numpy as np
    >>> import srcgrad
    >>> def polar(x):
    ...     return np.array([x[0] * x[1], x[0] + x[1]])
    >>> y, blocks = srcgrad.each(polar)(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> y.tolist(), blocks.shape, blocks[1].tolist()
    ([[2.0, 3.0], [12.0, 7.0]], (2, 2, 2), [[4.0, 3.0], [1.0, 1.0]])
    """
    names = (shared,) if isinstance(shared, str) else tuple(shared)
    return Each(function, chosen_wrt(function, wrt, argnums), names, target)
