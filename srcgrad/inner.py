"""Derivatives that a function asks for in its body, as functions with a text of their own, to be differentiated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any  # functions are arbitrary objects

import numpy as np

from srcgrad.emit.globals import Globals
from srcgrad.emit.module import body, gap, import_lines
from srcgrad.emit.pieces import write
from srcgrad.errors import DifferentiationError
from srcgrad.facts import UNKNOWN, Facts, Kind
from srcgrad.front.namespace import Namespace
from srcgrad.front.overlay import Overlay
from srcgrad.front.static import StaticFunction, StaticModule
from srcgrad.front.webs import parameters
from srcgrad.load import load
from srcgrad.runtime import unit
from srcgrad.trees import Node

if TYPE_CHECKING:
    from srcgrad.modules import Module


@dataclass(frozen=True, eq=False)
class Inner:
    """A derivative with a text: the function that it defines, and the names of the seeds or tangents that it takes."""

    function: Any
    seeds: tuple[str, ...] = ()


def inner(
    sub: Module,
    function: Any,
    mode: str,
    wrt: tuple[str, ...],
    kinds: dict[str, Kind],
    *,
    single: bool,
    auxiliary: bool = False,
) -> Inner:
    """A derivative made in a module of its own; calls in it are written out."""
    text, name, outside, seeds, facts = _text(sub, function, mode, wrt, kinds, single=single, auxiliary=auxiliary)
    base = _base(facts.namespace)
    if isinstance(base, StaticModule):
        return Inner(_static(text, name, base, "srcgrad"), seeds)
    label = f"{name} of {facts.source.file}:{facts.source.first}"
    return Inner(load(text, name, label, outside), seeds)


def _text(
    sub: Module,
    function: Any,
    mode: str,
    wrt: tuple[str, ...],
    kinds: dict[str, Kind],
    *,
    single: bool,
    auxiliary: bool = False,
) -> tuple[str, str, dict[str, Any], tuple[str, ...], Facts]:
    """The text of a derivative, its name, the objects that it is executed with, its seeds, and its facts."""
    name = sub.derivative(function, mode, wrt, kinds, None, single, auxiliary)
    main = next(made for made in sub.made.values() if made.name == name)
    if not isinstance(_base(main.facts.namespace), StaticModule):
        text, outside = sub.text(main)
        return text, name, dict(outside), main.facts.seeds, main.facts
    found = write(sub.pieces([*(made for made in sub.made.values() if made is not main), main], Globals(False)))
    text = "\n".join([*import_lines(found.imports), gap(found.texts), body(found.texts, {}), ""])
    return text, name, {}, main.facts.seeds, main.facts


def columns(sub: Module, function: Any, wrt: tuple[str, ...], kinds: dict[str, Kind], *, single: bool) -> Inner:
    """The Jacobian of a function as a function with a text, which puts it together column by column."""
    text, push, outside, seeds, facts = _text(sub, function, "push", wrt, kinds, single=False)
    name = f"{facts.source.name}_jacobian"
    driver = jacobian_text(name, push, facts.source.tree, dict(zip(wrt, seeds, strict=True)), single, kinds)
    base = _base(facts.namespace)
    if isinstance(base, StaticModule):
        imports = "import numpy as np\nfrom srcgrad.runtime import unit\n"
        return Inner(_static(f"{imports}{text}\n\n{driver}", name, base, "jacobian"))
    label = f"of {facts.source.name} at {facts.source.file}:{facts.source.first}"
    pushed = load(text, push, label, outside)
    return Inner(load(driver, name, label, {push: pushed, "np": np, "unit": unit}, by="jacobian"))


def _base(namespace: Namespace) -> Namespace:
    while isinstance(namespace, Overlay):
        namespace = namespace.base
    return namespace


def _static(text: str, name: str, home: Any, by: str) -> StaticFunction:
    """The function `name` of a text that is never run."""
    made = StaticModule(home.program, home.name, f"<{by} {name} of {home.label}>", text, False)
    found = made.function(name)
    assert found is not None and found.static is not None, "the text defines it"
    return found.static


def jacobian_text(name: str, push: str, tree: Node, wrt: dict[str, str], single: bool, kinds: dict[str, Kind]) -> str:
    """A function that calls the tangent function `push` for each number of the parameters `wrt` (name -> tangent)."""
    given = ", ".join(f"{p}={p}" for p in parameters(tree))
    lines = [f"def {name}({', '.join(parameters(tree))}):"]
    for wanted, tangent in wrt.items():
        others = "".join(f", {t}=np.zeros_like({o})" for o, t in wrt.items() if o != wanted)
        if kinds.get(wanted, UNKNOWN).tag == "scalar":
            lines.append(f"    {wanted}_columns = {push}({given}, {tangent}=1.0{others})")
            continue
        zeros = f"{tangent}=np.zeros_like({wanted})"
        lines += [
            f"    {wanted}_first = {push}({given}, {zeros}{others})",
            f"    {wanted}_shape = (np.size({wanted}),) + np.shape({wanted}_first)",
            f"    {wanted}_rows = np.zeros({wanted}_shape, np.result_type({wanted}_first))",
            f"    for i in range(np.size({wanted})):",
            f"        {wanted}_rows[i] = {push}({given}, {tangent}=unit({wanted}, i){others})",
            f"    {wanted}_last = np.moveaxis({wanted}_rows, 0, -1)",
            f"    {wanted}_columns = {wanted}_last.reshape(np.shape({wanted}_first) + np.shape({wanted}))",
        ]
    results = [f"{wanted}_columns" for wanted in wrt]
    lines.append(f"    return {results[0] if single else '(' + ', '.join(results) + ',)'}")
    return "\n".join([*lines, ""])


def names_of(asked: tuple[int | str, ...] | None, known: list[str]) -> tuple[str, ...]:
    """Names of the parameters that `wrt` means: positions, or names. E5009 if there is none."""
    found: list[str] = []
    for item in range(len(known)) if asked is None else asked:
        if isinstance(item, int) and not isinstance(item, bool) and -len(known) <= item < len(known):
            found.append(known[item])
        elif isinstance(item, str) and item in known:
            found.append(item)
        else:
            raise DifferentiationError(
                "E5009", f"no parameter is {item!r}", f"the parameters are: {', '.join(known) or 'none'}"
            )
    if len(set(found)) != len(found) or not found:
        raise DifferentiationError("E5009", f"wrt={asked!r} names a parameter twice, or none", "name each one once")
    return tuple(found)
