"""The rule table as text and as data.

All operations, or the rule of one of them.

What the rule table knows of the installed NumPy, name by name, and the table for programs to read.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import json
import math
import operator
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import srcgrad.templates as templates
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.identity import spelling, ufunc_methods
from srcgrad.core.rules import Rule, compositions_beside, is_users, rule_of, rules
from srcgrad.frontend.resolve import METHODS
from srcgrad.interface.cli.options import columns

FORWARD = {
    "elementwise": "the same lines",
    "linear": "the operation, applied to the tangent",
    "multilinear": "one argument at a time replaced by its tangent",
    "composed": "the tangent of the same text",
}


def known_rules() -> list[Rule]:
    """All rules but those of users, SciPy's if it is installed, in the order in which a reader looks for them."""
    templates.load_all()
    named = [rule for rule in rules() if not rule.name.startswith("srcgrad.") and not is_users(rule)]
    return sorted(named, key=lambda rule: (rule.name.count(".") > 1, rule.name.lower(), rule.name))


def table() -> str:
    """One line for each operation: name, kind, what there is in reverse and forward mode, note."""
    rows = [("operation", "kind", "reverse", "forward", "note")]
    rows += [(rule.name, rule.kind, *_modes(rule), rule.note) for rule in known_rules()]
    return columns(rows)


def _modes(rule: Rule) -> tuple[str, str]:
    if rule.kind in ("constant", "refused"):
        return ("zero", "zero") if rule.kind == "constant" else ("no", "no")
    forward = rule.kind in FORWARD or rule.tangent is not None
    return "yes" if rule.template or rule.composition else "no", "yes" if forward else "no"


def entry(name: str) -> str:
    """All that the table says of the operations with a name: `np.tanh`, `numpy.tanh` or `tanh`.

    Raises E5003 where there is none.
    """
    return "\n".join(_entry(rule) for rule in rules_named(name))


def rules_named(name: str) -> list[Rule]:
    """The rules of the operations with a name; E5003 where there is none."""
    wanted = name if not name.startswith("numpy.") else "np" + name[5:]
    every = known_rules()
    meant = rule_of(_object_of_name(wanted))
    found = [meant] if meant is not None else [rule for rule in every if wanted in spellings(rule)]
    found = found or [rule for rule in every if wanted in {each.rpartition(".")[2] for each in spellings(rule)}]
    if not found:
        names = [each for rule in every for each in spellings(rule)]
        near = difflib.get_close_matches(wanted, names, n=3) or difflib.get_close_matches(f"np.{wanted}", names, n=3)
        remedy = f"did you mean {' or '.join(near)}?" if near else "`srcgrad rules` lists the operations that have one"
        raise DifferentiationError("E5003", f"{name} has no rule", remedy)
    return found


def _object_of_name(name: str) -> object:
    """The object of NumPy, SciPy or the standard library that a dotted name means; None if there is none."""
    root, *rest = name.split(".")
    found: object = {"np": np, "math": math, "operator": operator, "scipy": sys.modules.get("scipy")}.get(root)
    for part in rest:
        found = getattr(found, part, None)
    return found if rest else None


def spellings(rule: Rule) -> list[str]:
    """The names of an operation."""
    return list(dict.fromkeys([rule.name, *(spelling(op) for op in (rule.op, *rule.aliases))]))


def _entry(rule: Rule) -> str:
    lines = [f"{rule.name}: {rule.kind}", ""]
    if rule.kind == "constant":
        lines += ["Its derivative is zero wherever it exists: nothing flows through it.", ""]
    if rule.kind == "refused":
        lines += [f"It has no derivative: {rule.note}.", ""]
    if rule.composition is not None:
        lines += ["its derivative is that of:", *_source(rule.composition), ""]
    if rule.template is not None:
        lines += ["reverse:", *_source(rule.template), ""]
    if rule.tangent is not None:
        lines += ["forward:", *_source(rule.tangent), ""]
    elif rule.kind in FORWARD:
        lines += [f"forward: {FORWARD[rule.kind]}"]
    for text in dict.fromkeys(tuple(_source(beside)) for beside in compositions_beside(rule)):
        lines += ["with further arguments its derivative is that of:", *text, ""]
    if rule.kind == "elementwise":
        lines += [f"domain: {_domain(rule)}"]
    lines += [f"at {point(args)}: gradient {point(grads)}" for args, grads in rule.at]
    also = spellings(rule)[1:]
    if also:
        lines += [f"also: {', '.join(also)}"]
    if rule.note and rule.kind != "refused":
        lines += [f"note: {rule.note}"]
    return "\n".join(lines).rstrip() + "\n"


def _source(template: object) -> list[str]:
    text = textwrap.dedent(inspect.getsource(template))  # type: ignore[arg-type]
    return [f"    {line}".rstrip() for line in text.rstrip().split("\n")]


def _domain(rule: Rule) -> str:
    if not isinstance(rule.domain, dict):
        return f"{rule.domain[0]} to {rule.domain[1]}"
    return ", ".join(f"{name} {low} to {high}" for name, (low, high) in rule.domain.items())


def point(numbers: Sequence[float]) -> str:
    """Numbers beside each other."""
    return ", ".join(f"{number:g}" for number in numbers)


def is_method(rule: Rule) -> bool:
    """Whether a rule is about a method of a ufunc."""
    return type(getattr(rule.op, "__self__", None)).__name__ == "ufunc"


NAMESPACES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.ndarray", "numpy.ufunc")


def missing_callables(*namespaces: str) -> list[str]:
    """Public callables of NumPy, methods of arrays and methods of ufuncs of which the table knows nothing.

    Other namespaces may be asked for by name, as `scipy.special`.

    >>> "np.sum" in missing_callables()
    False
    """
    known_rules()
    return [name for space in namespaces or NAMESPACES for name, op in _public_names(space) if not _is_known(name, op)]


def _public_names(space: str) -> Iterator[tuple[str, object]]:
    """The names of a namespace as a user writes them, and what they mean."""
    if space == "numpy.ufunc":
        for name, op in _members(np, "np"):
            if isinstance(op, np.ufunc):
                yield from ((f"{name}.{method}", getattr(op, method)) for method in ufunc_methods(op))
        return
    package, _, rest = space.partition(".")
    owner: object = importlib.import_module(package if package == "numpy" else space)
    for part in rest.split(".") if package == "numpy" and rest else []:
        owner = getattr(owner, part)
    yield from _members(owner, space.replace("numpy", "np", 1))


def _members(owner: object, spelled: str) -> Iterator[tuple[str, object]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some public names of NumPy are deprecated
        found = [(name, getattr(owner, name, None)) for name in sorted(dir(owner)) if not name.startswith("_")]
    for name, op in found:
        if callable(op) and not (inspect.isclass(op) and issubclass(op, BaseException)):
            yield f"{spelled}.{name}", op


def _is_known(name: str, op: object) -> bool:
    if rule_of(op) is not None:
        return True
    space, _, last = name.rpartition(".")
    return space == "np.ndarray" and rule_of(METHODS.get(last)) is not None


def as_json(operation: str | None = None) -> str:
    """The table as JSON: one object for each operation, or for those of one name, as `srcgrad rules` prints them.

    `reverse`, `forward` and `second` tell whether there is a derivative; `opencl` is its form in kernels, or null;
    `domain` are the intervals from which tests draw; `place` is the file and the line of the rule.
    """
    return (
        json.dumps([_row(rule) for rule in (rules_named(operation) if operation else known_rules())], indent=1) + "\n"
    )


def _row(rule: Rule) -> dict[str, object]:
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
    """`templates/numpy/kinks.py:20`, where the rule is written; None for what stands in a list."""
    code = getattr(rule.definition, "__code__", None)
    if code is None:
        return None
    file = Path(code.co_filename).relative_to(Path(templates.__path__[0]).parent)
    return f"{file.as_posix()}:{code.co_firstlineno}"
