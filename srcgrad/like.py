"""What a derivative of a live function is told of its arguments: by annotations, or by examples (`like=`)."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any  # arguments are arbitrary objects

import numpy as np

from srcgrad.analyse.annotations import FLOATING, annotated
from srcgrad.arguments import kind_of
from srcgrad.errors import DifferentiationError
from srcgrad.facts import UNKNOWN, Kind
from srcgrad.front.namespace import LiveNamespace
from srcgrad.front.source import source_of

_ORDER = "nmkpqrstuvwabcdefghijl"


def declared_of(primal: Any, signature: inspect.Signature, bound: tuple[Any, ...], like: Any) -> dict[str, Kind]:
    """The kinds that examples, or else annotations, declare; E5027 for examples that are no arguments."""
    if like is not None:
        given = like if isinstance(like, tuple) else (like,)
        try:
            found = signature.bind(*bound, *given)
        except TypeError as error:
            message = f"like= holds {len(given)} examples: {error}"
            raise DifferentiationError("E5027", message, "give one example per argument, in their order") from None
        found.apply_defaults()
        return {name: kind for name, kind in like_arguments(found.arguments).items() if kind is not UNKNOWN}
    if not inspect.isfunction(primal) or all(p.annotation is p.empty for p in signature.parameters.values()):
        return {}
    try:
        return annotated(source_of(primal).tree, LiveNamespace(primal))
    except DifferentiationError:  # without source there is no derivative: it is said where one is made
        return {}


def like_arguments(values: dict[str, Any]) -> dict[str, Kind]:
    """The kinds of example arguments: equal lengths are one symbol, a length of 1 stays 1."""
    symbols: dict[int, str] = {1: "1"}
    return {parameter: _like(value, symbols) for parameter, value in values.items()}


def _like(value: Any, symbols: dict[int, str]) -> Kind:
    kind = kind_of(value)
    if kind.tag == "scalar":  # `np.uint8(3)` and `np.float32(3)` are numbers, but no floats
        return replace(kind, dtype=kind.dtype or FLOATING) if isinstance(value, int | float | complex) else kind
    if kind.tag == "array":
        for length in value.shape:
            symbols.setdefault(length, _symbol(len(symbols) - 1))
        lengths, single = tuple(symbols[length] for length in value.shape), value.dtype == np.float32
        return replace(kind, dtype=kind.dtype or FLOATING, shape=lengths, single=single)
    if kind.tag in ("tuple", "list", "dict") and kind.owner is None:
        parts: Any = value.items() if isinstance(value, dict) else enumerate(value)
        return replace(kind, items=tuple((key, _like(part, symbols)) for key, part in parts))
    return kind if kind.tag == "object" or kind.owner is not None else UNKNOWN


def _symbol(place: int) -> str:
    return _ORDER[place] if place < len(_ORDER) else f"n{place}"


def refined(kinds: dict[str, Kind], declared: dict[str, Kind], given: Sequence[Any], *, fixed: bool) -> dict[str, Kind]:
    """The kinds of arguments with the shapes that are declared for them; `fixed` if examples say all.

    Without a common dtype, float64, they stay as they are: what holds for any arrays holds for these.
    """
    if fixed or not declared:
        return {**kinds, **declared} if declared else kinds
    values, found = dict(zip(kinds, given, strict=True)), {}
    for parameter, wanted in declared.items():
        kind, value = kinds[parameter], values[parameter]
        if wanted.shape is None or kind.tag not in ("array", "scalar"):
            continue
        dtype = np.dtype(getattr(value, "dtype", float))
        if dtype.kind == "f" and dtype != np.float64:
            return kinds
        made = replace(kind, tag="array", ndim=wanted.ndim, dtype=kind.dtype or FLOATING, shape=wanted.shape)
        found[parameter] = made
    return {**kinds, **found}
