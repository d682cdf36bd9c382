"""A text of a derivative as a function, and the tests that tell when it is out of date."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any  # what a text reads from outside are arbitrary objects

from srcgrad.apart import check_apart
from srcgrad.dependencies import chains, imports, of_rules
from srcgrad.emit.module import origin
from srcgrad.errors import ConstantOutputWarning, Place
from srcgrad.facts import Facts, Kind
from srcgrad.front.namespace import LiveNamespace, together
from srcgrad.front.overlay import Overlay
from srcgrad.front.source import Source
from srcgrad.leading import ALONE
from srcgrad.load import load
from srcgrad.modules import Module
from srcgrad.numba.boundary import guarded, outside, require_numba
from srcgrad.originals import look
from srcgrad.pipeline import Derived
from srcgrad.snapshot import outside_of

if TYPE_CHECKING:
    from srcgrad.derivative import Derivative

PULLS = ("vjp", "pull")  # modes in which the adjoint of one argument is no tuple
_warned: dict[Any, Any] = {}  # what `warnings` keeps of what it has told


@dataclass(frozen=True)
class Compiled:
    """One text, executed: the function, the text, and a test that tells whether it is out of date."""

    function: Callable[..., Any]
    text: str
    seeds: tuple[str, ...]
    stale: Callable[[], bool]
    written: dict[str, Place] = field(default_factory=dict)  # the arguments into which the function writes, and where
    outside: tuple[Any, ...] = ()  # objects of the caller's that it reads beside its arguments

    def apart(self, values: Sequence[Any], signature: inspect.Signature) -> Compiled:
        """Itself, for arguments; E5010 if one that is written into shows what something else shows that is read."""
        if self.written:
            check_apart(self.written, values, self.outside, list(signature.parameters))
        return self


def executed(
    text: str, main: Derived, found: dict[str, Any], otherwise: Callable[[], Callable[..., Any]] | None = None
) -> Callable[..., Any]:
    """The function that a text defines, with the objects from outside that it reads; compiled for the target numba.

    `otherwise` makes the one that compiled code without loops over elements is.
    """
    label = f"{main.name} of {origin(main.facts.source)}"
    origins = main.facts.module.origins
    if main.facts.module.target == "numba":
        require_numba()
        made = load(text, main.name, label, outside(found, [main.tree]), origins=origins)
        return guarded(made, otherwise if "checked" in main.facts.module.looped else None)
    return load(text, main.name, label, found, origins=origins)


def compiled(
    derivative: Derivative[..., Any],
    kinds: dict[str, Kind],
    inline: bool,
    *,
    explained: bool = False,
    arrays: bool = False,
) -> Compiled:
    """The text of a derivative for arguments of these kinds, executed; `explained` keeps each value by itself.

    With `arrays`, a text for Numba has no loops over elements, which need axes of equal lengths.
    """
    look()
    module = module_of(derivative, inline)
    module.explained, module.arrays = explained, arrays
    main = derived(derivative, module, kinds)
    text, found = module.text(main)
    given = given_to(derivative, kinds)
    if not (main.facts.active or main.facts.generated or inline or derivative.mode == "primal"):
        _warn(main.facts, given)

    @functools.cache
    def otherwise() -> Callable[..., Any]:
        return compiled(derivative, kinds, inline, arrays=True).function

    function, changed = executed(text, main, dict(found), otherwise), changes(module)
    if given is derivative.primal:
        return Compiled(function, text, main.facts.seeds, changed, *writes(main.facts, found))
    inner: Compiled = vars(given)["__srcgrad_text__"]  # which has copied what is written into

    def stale() -> bool:
        return changed() or given_to(derivative, kinds) is not given

    return Compiled(function, text, main.facts.seeds, stale, inner.written, inner.outside)


def writes(facts: Facts, found: dict[str, Any]) -> tuple[dict[str, Place], tuple[Any, ...]]:
    """The arguments that a function writes into, and, if there are any, what it captures that may change with them."""
    places = {name: facts.place(node) for name, node in facts.entered.items()}
    return places, tuple(outside_of(found)) if places else ()


def _warn(facts: Facts, given: Callable[..., Any]) -> None:
    """Warn where the function stands: its output is constant to whoever differentiates it."""
    code = getattr(inspect.unwrap(given), "__code__", None)
    file = facts.source.file if code is None else code.co_filename
    asked = " or ".join(f"`{name}`" for name in facts.wrt)
    message = f"no derivative flows from {asked} to the output of `{facts.source.name}`: it is 0 everywhere"
    warnings.warn_explicit(message, ConstantOutputWarning, file, facts.source.first, registry=_warned)


def given_to(derivative: Derivative[..., Any], kinds: dict[str, Kind]) -> Callable[..., Any]:
    """The function that is differentiated: the primal, or the text of one that is a derivative itself."""
    primal: Any = derivative.primal  # any callable
    found: Callable[..., Any] = primal.as_function(kinds) if hasattr(type(primal), "as_function") else primal
    return found


def module_of(derivative: Derivative[..., Any], inline: bool = False) -> Module:
    """The module for a text of a derivative."""
    target, mine = ("numpy", ALONE) if inline else (derivative.target, derivative.leading)
    return Module(inline or target == "numba", not inline and target != "numba", target, derivative.autocast, mine)


def derived(derivative: Derivative[..., Any], module: Module, kinds: dict[str, Kind]) -> Derived:
    """The derivative as a part of a module."""
    bare = derivative.single or derivative.mode in PULLS
    wrt = () if derivative.mode == "primal" else derivative.wrt
    given = given_to(derivative, kinds)
    name = module.derivative(given, derivative.mode, wrt, dict(kinds), None, bare, derivative.auxiliary)
    return next(made for made in module.made.values() if made.name == name)


def _read(facts: Any) -> list[tuple[LiveNamespace, Source, bool]]:
    """Where a function looks names up, and where those do that were written out in it; what reads; if it is called."""
    namespace, parts = facts.namespace, []
    while isinstance(namespace, Overlay):
        parts += [(*part, True) for part in namespace.parts]
        namespace = namespace.base
    parts.append((namespace, facts.source, facts.called))
    return [(one, source, called) for one, source, called in parts if isinstance(one, LiveNamespace)]


def changes(module: Module) -> Callable[[], bool]:
    """A test that tells whether a text is out of date: it runs in each call.

    A derivative that is called is a text as well, with objects in it that names meant when it was made.
    """
    modules = module.all()
    read = [part for each in modules for made in each.made.values() for part in _read(made.facts)]
    found = [one.dependencies(chains(source.tree), called) for one, source, called in read]
    found += [imports(source.tree) for _, source, _ in read]
    changed = together([*found, *(of_rules(made) for each in modules for made in each.made.values())]).changed
    texts = {id(one.function): getattr(one.function, "__srcgrad_stale__", None) for one, _, _ in read}
    tests = [test for test in texts.values() if test is not None]
    tests += [each.methods_changed for each in modules if each.methods]
    return (lambda: changed() or any(test() for test in tests)) if tests else changed
