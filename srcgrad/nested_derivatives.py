"""Derivatives that a function asks for in its body, as functions with a text of their own, to be differentiated."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import (
    TYPE_CHECKING,
    Any,  # functions are arbitrary objects
)

import gast
import numpy as np

from srcgrad.backend.text.free_names import Globals
from srcgrad.backend.text.module import body, gap, import_lines, origin, write
from srcgrad.backend.text.references import identifiers
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import UNKNOWN, Facts, Kind, Names
from srcgrad.core.files import load
from srcgrad.core.namespace import Namespace, Overlay
from srcgrad.core.trees import parameters
from srcgrad.frontend.source.static_modules import StaticFunction, StaticModule
from srcgrad.runtime import unit

if TYPE_CHECKING:
    from srcgrad.module import Module


@dataclass(frozen=True, eq=False)
class Inner:
    """A derivative with a text: the function that it defines, and the names of the seeds or tangents that it takes."""

    function: Any
    seeds: tuple[str, ...] = ()
    text: str = ""


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
    text, name, outside, seeds, facts = text_of(sub, function, mode, wrt, kinds, single=single, auxiliary=auxiliary)
    base = _base(facts.namespace)
    real = assumed_real(facts, kinds)
    if isinstance(base, StaticModule):
        return Inner(replace(static_function(text, name, facts, "srcgrad"), real=real), seeds)
    label = f"{name} of {origin(facts.source)}"
    made: Any = load(text, name, label, outside, origins=sub.origins)  # a function takes attributes of any name
    made.__srcgrad_real__ = real
    return Inner(made, seeds)


def assumed_real(facts: Facts, kinds: dict[str, Kind]) -> tuple[str, ...]:
    """The parameters of a derivative that were taken to be real when its text was made."""
    return tuple(p for p in parameters(facts.source.tree) if not kinds.get(p, UNKNOWN).complex)


def text_of(
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
    if any(kind.complex for kind in kinds.values()):
        raise DifferentiationError(
            "E5017", "a Jacobian at complex values", "use vjp or jvp, which take complex numbers"
        )
    text, push, outside, seeds, facts = text_of(sub, function, "push", wrt, kinds, single=False)
    _check_one(sub, push, facts)
    name = f"{facts.source.name}_jacobian"
    own = set(parameters(facts.source.tree))
    shared = own if "import numpy as np\n" in text else own | identifiers(text)
    names = Names(own | identifiers(text) | {*seeds, name, *outside})
    np_, unit_ = Names(shared).fresh("np"), names.fresh("unit")
    names.taken.add(np_)
    tangents = dict(zip(wrt, seeds, strict=True))
    signature, tree = _signature(text, push, seeds), facts.source.tree.args
    own_names = [*(p.id for p in tree.posonlyargs + tree.args), *(f"{p.id}={p.id}" for p in tree.kwonlyargs)]
    driver = jacobian_text(
        name, push, signature, own_names, tangents, single=single, kinds=kinds, names=names, library=(np_, unit_)
    )
    base = _base(facts.namespace)
    whole = _together(text, driver, f"import numpy as {np_}", f"from srcgrad.runtime import unit as {unit_}")
    real = assumed_real(facts, kinds)
    if isinstance(base, StaticModule):
        return Inner(replace(static_function(whole, name, facts, "jacobian"), real=real), text=whole)
    label = f"{name} of {origin(facts.source)}"
    pushed = load(text, push, label, outside, origins=sub.origins)
    made: Any = load(driver, name, label, {**outside, push: pushed, np_: np, unit_: unit}, by="jacobian")
    made.__srcgrad_real__ = real
    return Inner(made, text=whole)


def _check_one(sub: Module, push: str, facts: Facts) -> None:
    """E5007 for a function of several values, whose Jacobian is no single array."""
    main = next(made for made in sub.made.values() if made.name == push)
    value = main.tree.body[-1].value
    if isinstance(value, gast.Tuple | gast.List | gast.Dict) or facts.containers.get(getattr(value, "id", "")):
        raise DifferentiationError(
            "E5007",
            f"the Jacobian of `{facts.source.name}`, which returns several values, as a text",
            "ask for one argument or one value at a time, or call srcgrad.jacobian outside of the function",
        )


def _together(text: str, driver: str, *needed: str) -> str:
    """A text with a function more, and the imports of both."""
    nodes = [n for n in ast.parse(text).body if isinstance(n, ast.Import | ast.ImportFrom)]
    single = [type(n)(**{**vars(n), "names": [one]}) for n in nodes for one in n.names]
    lines = text.split("\n")
    count = next(k for k, line in enumerate(lines) if not line.startswith("#"))
    head, last = lines[:count], max([count, *(n.end_lineno or 0 for n in nodes)])
    imports = import_lines([*map(ast.unparse, single), *(line.replace(" as unit", "") for line in needed)])
    return "\n".join([*head, *imports, *lines[last:], "", driver])


def _signature(text: str, push: str, seeds: tuple[str, ...]) -> str:
    """The parameters of a function of a text, without those that are tangents."""
    made = next(n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == push)
    pairs = zip(made.args.kwonlyargs, made.args.kw_defaults, strict=True)
    kept = [(word, default) for word, default in pairs if word.arg not in seeds]
    made.args.kwonlyargs, made.args.kw_defaults = [word for word, _ in kept], [default for _, default in kept]
    return ast.unparse(made.args)


def _base(namespace: Namespace) -> Namespace:
    while isinstance(namespace, Overlay):
        namespace = namespace.base
    return namespace


def static_function(text: str, name: str, facts: Facts, by: str) -> StaticFunction:
    """The function `name` of a text that is never run."""
    home = _base(facts.namespace)
    assert isinstance(home, StaticModule), "the caller has looked"
    made = StaticModule(home.program, home.name, f"<{by} {name} of {origin(facts.source)}>", text, False)
    found = made.function(name)
    assert found is not None and found.static is not None, "the text defines it"
    return found.static


def jacobian_text(
    name: str,
    push: str,
    signature: str,
    own: list[str],
    wrt: dict[str, str],
    *,
    single: bool,
    kinds: dict[str, Kind],
    names: Names,
    library: tuple[str, str],
) -> str:
    """A function that calls the tangent function `push` for each number of the parameters `wrt` (name -> tangent)."""
    given = ", ".join(own)
    (np_, unit_), i = library, names.fresh("i")
    lines, results = [f"def {name}({signature}):"], []
    for wanted, tangent in wrt.items():
        others = "".join(f", {t}={np_}.zeros_like({o})" for o, t in wrt.items() if o != wanted)
        results.append(names.fresh(f"{wanted}_columns"))
        if kinds.get(wanted, UNKNOWN).tag == "scalar":
            lines.append(f"    {results[-1]} = {push}({given}, {tangent}=1.0{others})")
            continue
        first, shape, rows = (names.fresh(f"{wanted}_{stem}") for stem in ("first", "shape", "rows"))
        lines += [
            f"    {first} = {push}({given}, {tangent}={np_}.zeros_like({wanted}){others})",
            f"    {shape} = ({np_}.size({wanted}),) + {np_}.shape({first})",
            f"    {rows} = {np_}.zeros({shape}, {np_}.result_type({first}))",
            f"    for {i} in range({np_}.size({wanted})):",
            f"        {rows}[{i}] = {push}({given}, {tangent}={unit_}({wanted}, {i}){others})",
            f"    {results[-1]} = {np_}.moveaxis({rows}, 0, -1).reshape({np_}.shape({first}) + {np_}.shape({wanted}))",
        ]
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
