"""Running the text of a derivative, as a function; what it depends on outside of itself, and whether it is out of date.

What a derivative needs to be made again in another process. Failures inside of a rule: what a function of NumPy takes,
and the text that stands for it does not.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import functools
import inspect
import linecache
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import field
from importlib import import_module
from types import FrameType, FunctionType, ModuleType
from typing import (
    TYPE_CHECKING,
    Any,  # what a text reads from outside are arbitrary objects
    NoReturn,
)

import gast
import numpy as np

import srcgrad.runtime
from srcgrad.backend.targets import NUMPY
from srcgrad.core.errors import CODES, ConstantOutputWarning, DifferentiationError, Place
from srcgrad.core.facts import ALONE, Facts, Kind
from srcgrad.core.identity import Function, record
from srcgrad.core.marks import is_code
from srcgrad.core.namespace import Dependencies, Entry, LiveNamespace, Overlay, entry, join_dependencies
from srcgrad.core.rules import Rule, rules
from srcgrad.core.source_text import (
    DERIVATIVES,
    OURS,
    Source,
    carry,
    hides_our_frames,
    lines_for,
    maker_of,
    origin_of,
    users_place,
    with_users_lines,
)
from srcgrad.core.target import Text
from srcgrad.core.trees import Node, children, walk
from srcgrad.interface.api.arguments import (
    are_direct,
    as_memory,
    cast_seed,
    cast_tangent,
    device_in,
    on_device,
    on_host,
    using,
)
from srcgrad.interface.api.snapshots import check_apart, outside_of
from srcgrad.interface.api.text_cache import RequestedDerivative, stored_entry
from srcgrad.runtime import fields_of

if TYPE_CHECKING:
    from srcgrad.module import Module
    from srcgrad.opencl.devices.device import Device
    from srcgrad.pipeline import DerivedText


def chains(definition: Node) -> list[str]:
    """Names that a definition reads and does not bind, each with the attributes that are asked of it.

    >>> from srcgrad.core.trees import parse_tree
    >>> chains(parse_tree("def f(x):\\n    return helper.inner.h(x) * k + x.size").body[0])
    ['helper', 'k', 'helper.inner.h']
    """
    from srcgrad.backend.text.module import free_names

    free = free_names(definition)
    found: dict[str, None] = dict.fromkeys(free)
    todo = [definition]
    for node in todo:
        parts: list[str] = []
        base = node
        while isinstance(base, gast.Attribute):
            parts.insert(0, base.attr)
            base = base.value
        if parts and isinstance(base, gast.Name) and base.id in free:
            found[".".join([base.id, *parts])] = None
        elif not parts or not isinstance(base, gast.Name):
            todo += children(node)
    return list(found)


def imports(definition: Node) -> Dependencies:
    """What imports in the body of a function give now: that of a module, and what is asked of it there."""
    entries: list[Entry] = []
    modules: dict[str, str] = {}
    for node in walk(definition):
        if isinstance(node, gast.ImportFrom) and not node.level:
            home = sys.modules.get(node.module or "")
            entries += [entry(vars(home), alias.name) for alias in node.names] if home is not None else []
        elif isinstance(node, gast.Import):
            modules.update({alias.asname or alias.name: alias.name for alias in node.names})
    for node in walk(definition) if modules else ():
        home = sys.modules.get(modules.get(gast.unparse(node.value), "")) if isinstance(node, gast.Attribute) else None
        if home is not None:
            entries.append(entry(vars(home), node.attr))
    return Dependencies((), tuple(entries), ())


def of_rules(made: DerivedText) -> Dependencies:
    """What lines of rules mean in the modules that they read, `np.sinh` say: a user may replace it."""
    values, imports = made.facts.names.library_values, made.facts.names.imports
    modules = {imports[one]: value for one, value in values.items() if isinstance(value, ModuleType)}
    entries: list[Entry] = []
    for node in walk(made.tree) if modules else ():
        parts: list[str] = []
        while isinstance(node, gast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        home = modules.get(node.id) if parts and isinstance(node, gast.Name) else None
        for part in parts if home is not None else ():
            entries.append(entry(vars(home), part))
            home = getattr(home, part, None)
            if not isinstance(home, ModuleType):
                break
    return Dependencies((), tuple(entries), ())


def as_named(function: object) -> object:
    """The object that stands under the name of a function, if it is one that decoration made of it."""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found if getattr(found, "__srcgrad_primal__", None) is function else function


def lines_of(function: object) -> dict[str, list[str]]:
    """The texts that a pickle takes along: of functions that it holds as code, or whose text is in no file.

    These are the function, those that it reads by name, and the methods of classes that it reads by name.

    >>> import linecache
    >>> linecache.cache["<cell 1>"] = (0, None, ["def f(x): return x * x\\n"], "<cell 1>")
    >>> names = {}
    >>> exec(compile("def f(x): return x * x\\n", "<cell 1>", "exec"), names)
    >>> lines_of(names["f"])
    {'<cell 1>': ['def f(x): return x * x\\n']}
    """
    found: dict[str, list[str]] = {}
    todo: list[Any] = [function]
    seen: dict[int, Any] = {}
    while todo:
        one = todo.pop()
        one = getattr(one, "__func__", getattr(one, "__srcgrad_primal__", one))
        if id(one) in seen:
            continue
        seen[id(one)] = one
        if isinstance(one, functools.partial | property):
            todo.append(one.func if isinstance(one, functools.partial) else one.fget)
        elif isinstance(one, type) and is_code(one):
            todo += vars(one).values()
        elif isinstance(one, FunctionType):
            name = one.__code__.co_filename
            if name not in found and (is_code(one) or not os.path.exists(name)):
                found.update(lines_for(one))
            todo += [one.__globals__.get(read) for read in one.__code__.co_names]
            todo += inspect.getclosurevars(one).nonlocals.values()
    return dict(sorted(found.items()))


def rebuild_object(cls: Any, given: tuple[object, ...], options: dict[str, Any], texts: dict[str, list[str]]) -> Any:
    """An object made anew from what its pickle holds; the process gets to know texts that it does not have."""
    for name, lines in texts.items():
        carry(name, lines)
        if not linecache.getlines(name):
            linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    return cls(*given, **options)


PULLS = ("vjp", "pull")  # modes in which the adjoint of one argument is no tuple
_warned: dict[Any, Any] = {}  # what `warnings` keeps of what it has told


@record(frozen=True)
class ExecutedText:
    """One text, executed: the function, the text, and a test that tells whether it is out of date."""

    function: Function
    text: str
    seeds: tuple[str, ...]
    stale: Callable[[], bool]
    written: dict[str, Place] = field(default_factory=dict)  # the arguments into which the function writes, and where
    outside: tuple[object, ...] = ()  # objects of the caller's that it reads beside its arguments

    def check_overlaps(self, values: Sequence[object], signature: inspect.Signature) -> ExecutedText:
        """Itself, for arguments; E5010 if one that is written into shows what something else shows that is read."""
        if self.written:
            check_apart(self.written, values, self.outside, list(signature.parameters))
        return self


def execute(
    text: str, main: DerivedText, found: dict[str, object], otherwise: Callable[[], Function] | None = None
) -> Function:
    """The function that a text defines, with the objects from outside that it reads, as users of its target call it.

    `otherwise` makes the one that code without loops over elements is.
    """
    module: Module = main.facts.module
    target = module.target
    made = target.compile(Text(text, main.name, label_of(main), found, [main.tree], module.origins))
    return target.boundary(made, otherwise if "checked" in module.looped else None)


def label_of(main: DerivedText) -> str:
    """What tracebacks call a text."""
    from srcgrad.backend.text.module import origin

    return f"{main.name} of {origin(main.facts.source)}"


def execute_derivative(
    derivative: RequestedDerivative,
    kinds: dict[str, Kind],
    inline: bool,
    *,
    explained: bool = False,
    arrays: bool = False,
) -> ExecutedText:
    """The text of a derivative for arguments of these kinds, executed; `explained` keeps each value by itself.

    With `arrays`, a text for Numba has no loops over elements, which need axes of equal lengths.
    """
    entry = stored_entry(derivative, kinds, inline) if not (explained or arrays) else None
    known = entry.read() if entry is not None else None
    if known is not None:
        return ExecutedText(*known)
    module, main = _derived(derivative, kinds, inline, explained, arrays)
    text, found = module.text(main)
    given = given_to(derivative, kinds)
    if not (main.facts.activity.active or main.facts.request.generated or inline or derivative.mode == "primal"):
        _warn(main.facts, given)
        entry = None  # who reads it would not be warned

    @functools.cache
    def general_function() -> Function:
        return execute_derivative(derivative, kinds, inline, arrays=True).function

    function, changed = execute(text, main, dict(found), general_function), changes(module)
    seeds, (written, outside) = main.facts.names.seeds, writes(main.facts, found)
    inner: ExecutedText | None = None  # which has copied what is written into
    if given is not derivative.primal:
        inner = vars(given)["__srcgrad_text__"]
    if entry is not None and not (written or (inner and inner.written)):
        entry.write(text, main.name, label_of(main), found, module.origins, seeds)
    if inner is None:
        return ExecutedText(function, text, seeds, changed, written, outside)

    def stale() -> bool:
        return changed() or given_to(derivative, kinds) is not given

    return ExecutedText(function, text, seeds, stale, inner.written, inner.outside)


def _derived(
    derivative: RequestedDerivative, kinds: dict[str, Kind], inline: bool, explained: bool, arrays: bool
) -> tuple[Module, DerivedText]:
    """A module and the derivative in it; what cannot be followed by its names is a key of tables."""
    module = module_of(derivative, inline)
    module.explained, module.arrays = explained, arrays
    try:
        return module, derivative_in_module(derivative, module, kinds)
    except DifferentiationError as error:
        refusal = error
    for containers in (False, True):
        keyed = module_of(derivative, inline)
        keyed.explained, keyed.arrays = explained, arrays
        with contextlib.suppress(
            DifferentiationError, RecursionError
        ):  # functions that call one another a thousand deep
            keyed.key_objects(given_to(derivative, kinds), kinds, containers)
            return keyed, derivative_in_module(derivative, keyed, kinds)
    raise refusal


def writes(facts: Facts, found: dict[str, object]) -> tuple[dict[str, Place], tuple[object, ...]]:
    """The arguments that a function writes into, and, if there are any, what it captures that may change with them."""
    places = {name: facts.place(node) for name, node in facts.resolution.entered.items()}
    return places, tuple(outside_of(found)) if places else ()


def _warn(facts: Facts, given: Function) -> None:
    """Warn where the function stands: its output is constant to whoever differentiates it."""
    code = getattr(inspect.unwrap(given), "__code__", None)
    file = facts.source.file if code is None else code.co_filename
    asked = " or ".join(f"`{name}`" for name in facts.request.wrt)
    message = f"no derivative flows from {asked} to the output of `{facts.source.name}`: it is 0 everywhere"
    warnings.warn_explicit(message, ConstantOutputWarning, file, facts.source.first, registry=_warned)


def given_to(derivative: RequestedDerivative, kinds: dict[str, Kind]) -> Function:
    """The function that is differentiated: the primal, or the text of one that is a derivative itself."""
    primal: Any = derivative.primal  # any callable
    found: Function = primal.as_function(kinds) if hasattr(type(primal), "as_function") else primal
    return found


def module_of(derivative: RequestedDerivative, inline: bool = False) -> Module:
    """The module for a text of a derivative."""
    from srcgrad.module import Module

    target, mine = (NUMPY, ALONE) if inline else (derivative.target, derivative.leading)
    whole = inline or target.whole
    return Module(whole, not whole, target, derivative.autocast, mine, blocks=derivative.blocks)


def derivative_in_module(derivative: RequestedDerivative, module: Module, kinds: dict[str, Kind]) -> DerivedText:
    """The derivative as a part of a module."""
    bare = derivative.single or derivative.mode in PULLS
    wrt = () if derivative.mode == "primal" else derivative.wrt
    given = given_to(derivative, kinds)
    module.pack(given, kinds)
    name = module.derivative(given, derivative.mode, wrt, dict(kinds), None, bare, derivative.auxiliary)
    return next(made for made in module.made.values() if made.name == name)


def _read(facts: Facts) -> list[tuple[LiveNamespace, Source, bool]]:
    """Where a function looks names up, and where those do that were written out in it; what reads; if it is called."""
    namespace, parts = facts.namespace, []
    while isinstance(namespace, Overlay):
        parts += [(*part, True) for part in namespace.parts]
        namespace = namespace.base
    parts.append((namespace, facts.source, facts.request.called))
    return [(one, source, called) for one, source, called in parts if isinstance(one, LiveNamespace)]


def changes(module: Module) -> Callable[[], bool]:
    """A test that tells whether a text is out of date: it runs in each call.

    A derivative that is called is a text as well, with objects in it that names meant when it was made.
    """
    modules = module.all()
    read = [part for each in modules for made in each.made.values() for part in _read(made.facts)]
    found = [one.dependencies(chains(source.tree), called) for one, source, called in read]
    found += [imports(source.tree) for _, source, _ in read]
    changed = join_dependencies([*found, *(of_rules(made) for each in modules for made in each.made.values())]).changed
    texts = {id(one.function): getattr(one.function, "__srcgrad_stale__", None) for one, _, _ in read}
    tests = [test for test in texts.values() if test is not None]
    tests += [each.methods_changed for each in modules if each.methods]
    return (lambda: changed() or any(test() for test in tests)) if tests else changed


FAILURES = (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError)
_LIBRARIES = {"srcgrad", "numpy", "scipy", *sys.stdlib_module_names}
_OF_SHAPES = ("fit_to", "row_count", "allreduce")  # helpers that meet first what does not fit, here or on another rank
_HELPERS = os.path.dirname(srcgrad.runtime.__file__)
_RULES = os.path.realpath(import_module("srcgrad.templates").__path__[0])


def failed_rule(error: Exception, again: Callable[[], object] | None = None) -> Exception:
    """E5006 for an error that a helper of a rule raises, or a text whose operation takes these arguments.

    What the operation does not take is the caller's error, and stays as it is. So does what a user's rule raises, and
    what values alone decide, as that a matrix is singular. `again` runs the function itself.
    """
    inside, place = False, None
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if file.startswith(_HELPERS):
            inside = frame.f_code.co_name not in _OF_SHAPES
        elif file.startswith(OURS):
            origin = origin_of(file, number)
            place = place if within_rules(file, number) else users_place(file, number)
            inside = origin is not None and within_rules(file, number) and (inside or _is_taken(frame, origin))
        elif str(frame.f_globals.get("__name__")).partition(".")[0] not in _LIBRARIES:
            return error  # of a function of the user, which a helper or the text calls
    if not isinstance(error, FAILURES) or not (inside or _runs(again, error)):
        return error
    raised = f"{type(error).__name__}: {error}"
    if inside:
        remedy = "pass an array of another shape or kind, or leave it out of wrt"
        return DifferentiationError("E5006", f"the rule does not hold for these arguments: {raised}", remedy, place)
    remedy = "write the line in smaller steps, with numbers and arrays; and report this as a bug of srcgrad"
    return DifferentiationError("E5006", f"the derivative fails where the function runs: {raised}", remedy, place)


def within_rules(file: str, number: int) -> bool:
    """Whether a line of a text comes from an operation that a rule writes out with others."""
    origin = origin_of(file, number)
    return origin is not None and origin[0].startswith(_RULES)


def _runs(again: Callable[[], object] | None, error: Exception) -> bool:
    """Whether the function itself takes the arguments for which its derivative fails."""
    if again is None or isinstance(error, np.linalg.LinAlgError):
        return False
    try:
        again()
    except Exception:  # in whatever way it fails, the error is the caller's, and is raised
        return False
    return True


def _is_taken(frame: FrameType, origin: tuple[str, str, int]) -> bool:
    """Whether the operation that a composition stands for takes what the composition was given."""
    rule = _composition_rule(origin[0], origin[1])
    known = frame.f_locals
    if rule is None or rule.composition is None or not all(one in known for one in rule.parameters[:1]):
        return False
    code = rule.composition.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = [known[one] for one in names[: code.co_argcount] if one in known]
    keywords = {one: known[one] for one in names[code.co_argcount :] if one in known}
    try:
        rule.op(*given, **keywords)
    except FAILURES:
        return False
    return True


def _composition_rule(file: str, function: str) -> Rule | None:
    found = [rule for rule in rules() if rule.composition is not None and rule.composition.__name__ == function]
    return next((one for one in found if one.composition and one.composition.__code__.co_filename == file), None)


def run(
    function: Function,
    values: Sequence[Any],
    named: tuple[str, ...],
    device: Device | None = None,
    primal: Function | None = None,
) -> Any:
    """Call with all arguments, the last ones by the names in `named`: on a CPU, in the memory of device arrays.

    An error of the text is its own (E5006) where the primal takes the arguments.
    """
    if device is not None:
        given = [on_host(value) for value in values] if resident_on(device, values) is None else values
        with using(device):
            return run(function, given, named, None, primal)
    try:
        return _call_by_names(function, values, named)
    except Exception as error:  # all are raised again, and tell where they come from
        _raise(error, primal and (lambda: _call_by_names(primal, copy.deepcopy(values), named)))


def _call_by_names(function: Function, values: Sequence[object], named: tuple[str, ...]) -> object:
    if not named:
        return function(*values)
    count = len(values) - len(named)
    return function(*values[:count], **dict(zip(named, values[count:], strict=True)))


def resident_on(device: Device | None, values: Sequence[object]) -> Device | None:
    """The device, if a text runs on the arrays in its buffers; None where it runs on NumPy memory."""
    return device if device is not None and device.is_gpu and are_direct(values) else None


def seed_like(output: object, seed: object, resident: Device | None) -> object:
    """A seed or a tangent in the dtype of an output, where the text runs; E5014 if its shape differs."""
    return on_device(cast_seed(on_host(seed), as_memory(output)), resident)


def tangent_like(argument: object, tangent: object, resident: Device | None) -> object:
    """A tangent in the dtype of an argument, where the text runs; E5014 if its shape differs."""
    return on_device(cast_tangent(on_host(tangent), as_memory(argument)), resident)


def _raise(error: Exception, again: Callable[[], object] | None) -> NoReturn:
    """Raise an error of generated text: with its code if it has one, and with the user's lines in its traceback.

    `again` calls what the user wrote, on copies of the arguments: it tells whose error it is.
    """
    known = coded_error(error) if isinstance(error, TypeError | ValueError) else error
    if known is error:
        known = failed_rule(error, again)
    elif again is not None and isinstance(known, DifferentiationError) and known.code == "E5004":
        try:
            again()  # a gradient leaves out what makes the value alone, and its errors
        except Exception as own:  # whatever it is, the user's own function raises it
            raise own from None
    if known is not error:
        raise with_users_lines(known.with_traceback(error.__traceback__)) from None
    raise with_users_lines(error)


def coded_error(error: Exception) -> Exception:
    """An error of the runtime that carries a code, as a DifferentiationError; any other as it is."""
    message = str(error.args[0]) if error.args else ""
    if message[:3] == "E50" and message[5:6] == " ":
        what, _, remedy = message[6:].removeprefix(f"{CODES.get(message[:5])}: ").partition("; ")
        place = _line_of(error)
        remedy = _in_line(remedy, place) or "see docs/errors.md"
        return DifferentiationError(message[:5], what, remedy, place)
    return error


def _in_line(remedy: str, place: Place | None) -> str:
    """What to do, shown in the user's own line where that is one statement: `w["b"] = w["b"] * c` of `w["b"] *= c`."""
    try:
        node = ast.parse(place.text.strip()).body[0] if place else None
    except SyntaxError:  # a line of several, or the head of a loop
        return remedy
    if isinstance(node, ast.AugAssign):
        value = ast.BinOp(node.target, node.op, node.value)
        return remedy.replace("`d[k] = d[k] + e`", f"`{ast.unparse(node.target)} = {ast.unparse(value)}`")
    if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Tuple):
        of = ast.Attribute(node.value, "copy", ast.Load())
        copied = ast.Assign(node.targets, ast.Call(of, [], []), lineno=0)
        return remedy.replace("`x.copy()`", f"`{ast.unparse(copied)}`")
    return remedy


def _line_of(error: Exception) -> Place | None:
    """The user's line whose text, or whose derivative's, raised an error; None if the caller of the text did."""
    found = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        line = linecache.getline(file, number).rstrip() if maker_of(file) == DERIVATIVES else ""
        if line and (found is None or not within_rules(file, number)):
            start = len(line) - len(line.lstrip())
            found = users_place(file, number) or Place(file.split(" ")[1], number, start, line, len(line) - start)
    return found


def open_seed(value: object) -> Any:
    """A seed of a gradient as its text knows it: the adjoint of an object is a dict of those of its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: open_seed(part) for name, part in fields_of(value).items()}
    if isinstance(value, dict):
        return {key: open_seed(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return (
            type(value)(map(open_seed, value)) if not hasattr(value, "_fields") else type(value)(*map(open_seed, value))
        )
    return value


class Pullback:
    """The pullback that users get: seeds are checked, adjoints mirror the arguments.

    A pickle of it holds the arguments, and the forward half runs once more where it is read.
    """

    def __init__(
        self,
        back: Callable[[object], object],
        derivative: RequestedDerivative,
        values: Sequence[object],
        output: object,
        again: Callable[[Any, Sequence[Any]], Pullback],
    ) -> None:
        self._back, self._derivative, self._values, self._output, self._again = back, derivative, values, output, again
        self._device = device_in(values)
        self._resident = resident_on(self._device, values)

    @hides_our_frames
    def __call__(self, seed: object) -> Any:
        given = seed_like(self._output, seed, self._resident)
        given = open_seed(given) if hasattr(self._derivative.primal, "as_function") else given
        try:
            if self._device is None:
                found = self._back(given)
            else:
                with using(self._device):
                    found = self._back(given)
        except Exception as error:  # all are raised again, and tell where they come from
            _raise(error, tuple)  # the forward half has run
        return self._derivative.mirror_arguments(found, self._values, [given])

    def __reduce__(self) -> tuple[object, ...]:
        return self._again, (self._derivative, self._values)

    def __copy__(self) -> Pullback:
        return self

    def __deepcopy__(self, known: dict[int, object]) -> Pullback:
        return self  # nothing changes it

    def __repr__(self) -> str:
        return f"<srcgrad pullback of {self._derivative!r}>"
