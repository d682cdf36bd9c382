"""The targets that there are: those of srcgrad, and those that installed packages have, by name.

Numpy is the text as it is, and for all directions at once one with a leading axis.
"""

from __future__ import annotations

import functools
import pkgutil
from typing import TYPE_CHECKING

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.target import Target

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from srcgrad.core.facts import Facts
    from srcgrad.derive.program import Program


def leading_axis(program: Program, facts: Facts) -> Program:
    """`srcgrad.backend.batched.leading_axis`, loaded once all directions are asked for."""
    from srcgrad.backend.batched.leading_axis import leading_axis as in_all_directions

    return in_all_directions(program, facts)


NUMPY = Target("numpy", batched=(leading_axis,))
GROUP = "srcgrad.targets"  # of entry points: a name, and the record `module:NAME`
OWN = {  # as pyproject.toml names them; found here, they need no search, nor that srcgrad is installed
    "numpy": "srcgrad.backend.targets:NUMPY",
    "opencl": "srcgrad.opencl.kernels.fuse:OPENCL",
    "numba": "srcgrad.backend.numba.target:NUMBA",
    "dask": "srcgrad.backend.dask:DASK",
    "mpi": "srcgrad.backend.mpi:MPI",
}


def target_named(target: str | Target) -> Target:
    """The target of a name; E5019 if there is none of that name.

    >>> target_named("numba").typed, target_named("numpy").passes
    (True, ())
    """
    return target if isinstance(target, Target) else _find_target(target)


def names() -> tuple[str, ...]:
    """The names of all targets, those of srcgrad first.

    >>> names()[:3]
    ('numpy', 'opencl', 'numba')
    """
    return tuple(dict.fromkeys([*OWN, *sorted(_of_packages().names)]))


def _of_packages() -> EntryPoints:
    """The targets that installed packages have: to look for them takes as long as many a derivative."""
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


@functools.cache
def _find_target(name: str) -> Target:
    place = OWN.get(name) or next((one.value for one in _of_packages() if one.name == name), "")
    try:
        made = pkgutil.resolve_name(place) if place else None
    except ModuleNotFoundError as error:
        what = f"the target {name} needs {error.name}, which is not installed"
        raise DifferentiationError("E5019", what, f"pip install 'srcgrad[{name}]'") from None
    if not isinstance(made, Target):
        what = f"{place} is no srcgrad.core.target.Target" if place else f"no target is called {name!r}"
        *others, last = names()
        raise DifferentiationError("E5019", what, f"name {', '.join(others)} or {last}")
    return made
