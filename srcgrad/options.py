"""What is asked of a derivative: with respect to which names, on which target, in which precision."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any  # functions are arbitrary objects

from srcgrad.errors import DifferentiationError

TARGETS = ("numpy", "opencl", "numba")
Wrt = int | str | Sequence[int | str]


def locals_of(function: Any) -> tuple[str, ...]:
    """The local variables of a function, its parameters apart."""
    code = getattr(function, "__code__", None)
    return () if code is None else (*code.co_varnames, *code.co_cellvars)


def names_of(
    wrt: Wrt,
    signature: inspect.Signature,
    skipped: int = 0,
    inner: tuple[str, ...] = (),
    words: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """Names that `wrt` means: positions and names of parameters, names in `inner`; E5009 if there is none.

    Positions count the parameters that a `functools.partial` has left: the first ones `skipped`, those in `words` too.
    """
    names = list(signature.parameters)[skipped:]
    free = [name for name in names if name not in words]
    found: list[str] = []
    for item in wrt if isinstance(wrt, tuple | list) else (wrt,):
        if isinstance(item, int) and not isinstance(item, bool) and -len(free) <= item < len(free):
            found.append(free[item])
        elif isinstance(item, str) and (item in names or (item in inner and item not in signature.parameters)):
            found.append(item)
        else:
            raise DifferentiationError(
                "E5009", f"no parameter is {item!r}", f"the parameters are: {', '.join(names) or 'none'}"
            )
    if len(set(found)) != len(found) or not found:
        raise DifferentiationError("E5009", f"wrt={wrt!r} names a parameter twice, or none", "name each one once")
    return tuple(found)


def remaining(signature: inspect.Signature, bound: tuple[Any, ...], words: dict[str, Any]) -> inspect.Signature:
    """The signature of a function of which arguments are given already, as `functools.partial` gives them.

    >>> import inspect
    >>> remaining(inspect.signature(lambda x, y, k: x), (1.0,), {"k": 2.0})
    <Signature (y, *, k=2.0)>
    """
    parameters = list(signature.parameters.values())[len(bound) :]
    made, by_name = [], False
    for one in parameters:
        by_name = by_name or (one.name in words and one.kind is not one.KEYWORD_ONLY)
        default = words.get(one.name, one.default)
        made.append(one.replace(kind=one.KEYWORD_ONLY if by_name else one.kind, default=default))
    return signature.replace(parameters=made)


def precision(dtype: Any) -> str:
    """The name of a dtype to compute in; E5017 for any but float16 and float32."""
    name = "" if dtype is None else getattr(dtype, "__name__", None) or str(dtype)
    if name not in ("", "float16", "float32"):
        raise DifferentiationError(
            "E5017", f"autocast={dtype!r} is no lower precision", "give np.float16 or np.float32, or leave it out"
        )
    return name


def checked(target: str) -> str:
    """The name of a target; E5019 if there is none of that name."""
    if target not in TARGETS:
        raise DifferentiationError("E5019", f"no target is called {target!r}", "name numpy, opencl or numba")
    return target
