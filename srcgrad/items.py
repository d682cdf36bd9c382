"""The text of a loop over items: the derivative of one, and a function that calls it for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any  # values and functions are arbitrary objects

import numpy as np

from srcgrad.derivative import Derivative
from srcgrad.emit.meaning import Import, Made
from srcgrad.emit.module import body, gap, header, import_lines
from srcgrad.emit.pieces import Written, write
from srcgrad.emit.references import identifiers
from srcgrad.errors import DifferentiationError
from srcgrad.facts import Kind
from srcgrad.load import load
from srcgrad.loop import Loop
from srcgrad.modules import Module
from srcgrad.names import Names
from srcgrad.numba.boundary import guarded, outside, require_numba


@dataclass(frozen=True)
class Shape:
    """What a function returns for one item: a number, a tuple of numbers, or an array."""

    kind: str  # number, tuple or array
    lengths: tuple[int, ...] = ()

    @staticmethod
    def of(value: Any) -> Shape:
        """The shape of a value; E5017 for any other than real numbers, arrays of them and tuples of numbers."""
        parts = value if isinstance(value, tuple | list) else (value,)
        real = all(np.asarray(part).dtype.kind == "f" for part in parts)
        flat = not isinstance(value, tuple | list) or all(np.ndim(part) == 0 for part in parts)
        if not real or not flat or isinstance(value, list):
            raise DifferentiationError(
                "E5017",
                "an item gives no real number, no array and no tuple of numbers",
                "return one of them",
            )
        if isinstance(value, tuple):
            return Shape("tuple", (len(value),))
        return Shape("array", np.shape(value)) if np.ndim(value) else Shape("number")

    @property
    def places(self) -> list[tuple[int, ...]]:
        """The indices of all parts of the value."""
        return list(np.ndindex(self.lengths))


def written(
    module: Module, derivative: Derivative[..., Any], kinds: dict[str, Kind], shape: Shape, shared: tuple[str, ...]
) -> tuple[Callable[..., Any], str]:
    """The function that goes over the items, executed, and its text."""
    compiled = module.target == "numba"
    of_one = module.derivative(derivative.primal, derivative.mode, derivative.wrt, dict(kinds), None, True)
    main = next(made for made in module.made.values() if made.name == of_one)
    found = write(module.pieces(list(module.made.values()), None))
    taken = Names(sorted({*_words(found), *derivative.signature.parameters}))
    imported = {word.strip(",") for line in found.imports for word in line.split()} & {"np", "njit", "prange"}
    taken.taken -= imported - set(derivative.signature.parameters)
    library, numba = taken.fresh("np"), [taken.fresh(name) for name in ("njit", "prange")] if compiled else []
    loop = Loop(
        name=taken.fresh(f"{main.facts.source.name}_each"),
        signature=derivative.signature,
        ranks={w: kinds[w].ndim or 0 for w in derivative.wrt},
        shared=shared,
        wrt=derivative.wrt,
        kind=shape.kind,
        shape=shape.lengths,
        pull=of_one,
        taken=module.given_of.get(main.facts.source.name),
        lengths=module.given.lengths if compiled else None,
        np=library,
        names=taken,
    )
    imports = {*found.imports, Import("numpy").line(library)}
    if compiled:
        checks = "" if loop.taken is not None and loop.taken.inside else ", boundscheck=True"
        loop.decorator = f'@{numba[0]}(parallel=True, error_model="numpy"{checks})\n'
        loop.prange = numba[1]
        imports |= {Import("numba", member).line(name) for member, name in zip(("njit", "prange"), numba, strict=True)}
    texts = [*found.texts, (Made(loop.name), loop.text())]
    text = "\n".join([header(main.facts), *import_lines(imports), gap(texts), body(texts, {}), ""])
    outer: dict[str, Any] = dict(found.outside)
    label = f"{loop.name} of {main.facts.source.file}:{main.facts.source.first}"
    if not compiled:
        return load(text, loop.name, label, outer), text
    require_numba()
    trees = [made.tree for made in module.made.values()]
    return guarded(load(text, loop.name, label, outside(outer, trees))), text


def _words(found: Written) -> frozenset[str]:
    """Every word of the texts, and what they read from outside."""
    return frozenset(found.outside).union(*(identifiers(text) for _, text in found.texts))
