"""Operations that are given functions, `odeint(rhs, y0, t, args)`, and those that give objects, `solve_ivp`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any  # operations are arbitrary functions


class Symbol:
    """`d` and the like in templates: only their text matters; using one at run time is a mistake."""

    def __getitem__(self, name: object) -> Any:
        raise TypeError("d[...] has a meaning only inside a template")

    def __setitem__(self, name: object, value: object) -> None:
        raise TypeError("d[...] has a meaning only inside a template")


@dataclass(frozen=True)
class Handed:
    """How an operation calls the function that it gets as `parameter`.

    The function takes `leading` arguments of the operation's own, and after them those of the operation's `args`.
    `state` is the place of the one by which it is differentiated besides `args`, or None if there is none; it is
    `swapped` with the other one where the parameter of that name is True. Its rank is `ndim`, or None; what else comes
    first is a number. The parameter `again` gets its derivative in reverse, which is differentiated as well.
    """

    parameter: str
    leading: int = 1
    state: int | None = 0
    swapped: str = ""
    args: str = "args"
    ndim: int | None = 1
    again: str = ""


@dataclass(frozen=True)
class Parts:
    """What takes the place of an operation whose result is an object: a function that returns its parts.

    `names` are the attributes of that object which hold these, `constants` those which are the same wherever the
    function returns at all.
    """

    helper: Any
    names: tuple[str, ...]
    constants: dict[str, Any]


_parts: dict[int, Parts] = {}


def in_parts(op: Any, helper: Any, names: tuple[str, ...], **constants: Any) -> None:
    """Let a function that returns parts stand for an operation that returns an object with them."""
    _parts[id(op)] = Parts(helper, names, constants)


def parts_of(op: Any) -> Parts | None:
    """What takes the place of an operation; None for one whose result is no object."""
    return _parts.get(id(op))
