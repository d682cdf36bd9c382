"""What the rule table knows of the installed NumPy, name by name, and the table for programs to read."""

from __future__ import annotations

import importlib
import inspect
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any  # public objects of NumPy are of every kind

import numpy as np

from srcgrad.front.resolve import METHODS
from srcgrad.identity import ufunc_methods
from srcgrad.rulebook import known, named
from srcgrad.rules import Rule, rule_of

NAMESPACES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.ndarray", "numpy.ufunc")


def missing(*namespaces: str) -> list[str]:
    """Public callables of NumPy, methods of arrays and methods of ufuncs of which the table knows nothing.

    Other namespaces may be asked for by name, as `scipy.special`.

    >>> "np.sum" in missing()
    False
    """
    known()
    return [name for space in namespaces or NAMESPACES for name, op in _public(space) if not _is_known(name, op)]


def _public(space: str) -> Iterator[tuple[str, Any]]:
    """The names of a namespace as a user writes them, and what they mean."""
    if space == "numpy.ufunc":
        for name, op in _members(np, "np"):
            if isinstance(op, np.ufunc):
                yield from ((f"{name}.{method}", getattr(op, method)) for method in ufunc_methods(op))
        return
    package, _, rest = space.partition(".")
    owner: Any = importlib.import_module(package if package == "numpy" else space)
    for part in rest.split(".") if package == "numpy" and rest else []:
        owner = getattr(owner, part)
    yield from _members(owner, space.replace("numpy", "np", 1))


def _members(owner: Any, spelled: str) -> Iterator[tuple[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some public names of NumPy are deprecated
        found = [(name, getattr(owner, name, None)) for name in sorted(dir(owner)) if not name.startswith("_")]
    for name, op in found:
        if callable(op) and not (inspect.isclass(op) and issubclass(op, BaseException)):
            yield f"{spelled}.{name}", op


def _is_known(name: str, op: Any) -> bool:
    if rule_of(op) is not None:
        return True
    space, _, last = name.rpartition(".")
    return space == "np.ndarray" and rule_of(METHODS.get(last)) is not None


def as_json(operation: str | None = None) -> str:
    """The table as JSON: one object for each operation, or for those of one name, as `srcgrad rules` prints them.

    `reverse`, `forward` and `second` tell whether there is a derivative; `opencl` is its form in kernels, or null;
    `domain` are the intervals from which tests draw; `place` is the file and the line of the rule.
    """
    return json.dumps([_row(rule) for rule in (named(operation) if operation else known())], indent=1) + "\n"


def _row(rule: Rule) -> dict[str, Any]:
    carries = rule.kind not in ("constant", "refused")
    domain = rule.domain if isinstance(rule.domain, dict) else dict.fromkeys(rule.parameters[:1], rule.domain)
    return {
        "op": rule.name,
        "kind": rule.kind,
        "reverse": carries and (rule.template is not None or rule.composition is not None),
        "forward": carries and (rule.kind != "general" or rule.tangent is not None),
        "second": carries and rule.second,
        "opencl": rule.cl,
        "domain": {name: list(interval) for name, interval in domain.items()} if carries else None,
        "place": place(rule),
        "note": rule.note,
    }


def place(rule: Rule) -> str | None:
    """`templates/kinks.py:20`, where the rule is written; None for what stands in a list."""
    code = getattr(rule.definition, "__code__", None)
    if code is None:
        return None
    file = Path(code.co_filename)
    return f"{file.parent.name}/{file.name}:{code.co_firstlineno}"
