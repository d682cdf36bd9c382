"""The text of one derivative with all that it needs, and what a caller learns of a function.

Derivatives that a body asks for are texts of the same module.
"""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Sequence
from dataclasses import field
from types import FunctionType
from typing import Any  # a module of text, and kinds of arbitrary objects

import gast
import numpy as np

from srcgrad.analysis.activity import flows
from srcgrad.analysis.alias import is_new
from srcgrad.analysis.dtypes import changes_adjoint, may_be_complex
from srcgrad.backend.targets import NUMPY
from srcgrad.backend.text.definitions import Globals
from srcgrad.backend.text.module import (
    Lookup,
    Pieces,
    body,
    derivative,
    follower,
    gap,
    header,
    identifiers,
    import_lines,
    origin,
    write,
)
from srcgrad.core.bindings import Binding, StaticFunction, StaticModule
from srcgrad.core.errors import DifferentiationError, no_parameter
from srcgrad.core.facts import (
    ALONE,
    PLAIN,
    UNKNOWN,
    AskedKinds,
    Facts,
    Kind,
    LeadingAxes,
    Names,
    PullbackForm,
    Spec,
    of_display,
)
from srcgrad.core.files import load
from srcgrad.core.identity import record, replace
from srcgrad.core.namespace import LiveNamespace, Namespace, Step, without_overlays
from srcgrad.core.original_libraries import look
from srcgrad.core.source_text import Origin, Source, WrittenPlaces, source_of
from srcgrad.core.target import Target
from srcgrad.core.trees import (
    Node,
    assign,
    at,
    copy,
    expression,
    find_nodes,
    named_words,
    names_in,
    parameters,
    walk,
    words_handed_on,
)
from srcgrad.frontend.calls.derivatives_in_body import ClosedFunction
from srcgrad.frontend.calls.inline_call import check_defaults, check_undecorated, with_live_defaults
from srcgrad.frontend.calls.side_effects import Change
from srcgrad.frontend.desugar.containers_by_key import containers_by_key
from srcgrad.frontend.desugar.objects_by_key import objects_by_key
from srcgrad.frontend.functions_with_rules import passed_on, primal_of
from srcgrad.frontend.kinds_of_values import is_replaced
from srcgrad.frontend.rename_variables import rename_shadows
from srcgrad.pipeline import (
    CALLEE,
    EFFECTS,
    FLOW,
    FRONT,
    KINDS,
    NORMAL,
    RESULT,
    VALUES,
    BegunFunction,
    DerivedText,
    SharedFront,
    Wanted,
    derive,
    prepare_facts,
    share_front,
)
from srcgrad.runtime import unit


@record(frozen=True, eq=False)
class InnerDerivative:
    """A derivative with a text: the function that it defines, and the names of the seeds or tangents that it takes."""

    function: Any
    seeds: tuple[str, ...] = ()
    text: str = ""


def inner_derivative(
    sub: Module,
    function: object,
    mode: str,
    wrt: tuple[str, ...],
    kinds: dict[str, Kind],
    *,
    single: bool,
    auxiliary: bool = False,
) -> InnerDerivative:
    """A derivative made in a module of its own; calls in it are written out."""
    text, name, outside, seeds, facts = text_of(sub, function, mode, wrt, kinds, single=single, auxiliary=auxiliary)
    real = assumed_real(facts, kinds)
    if sub.home is not None:
        return InnerDerivative(replace(static_function(text, name, facts, "srcgrad", sub.home), real=real), seeds)
    label = f"{name} of {origin(facts.source)}"
    made: Any = load(text, name, label, outside, origins=sub.origins)  # a function takes attributes of any name
    made.__srcgrad_real__ = real
    return InnerDerivative(made, seeds)


def assumed_real(facts: Facts, kinds: dict[str, Kind]) -> tuple[str, ...]:
    """The parameters of a derivative that were taken to be real when its text was made."""
    return tuple(p for p in parameters(facts.source.tree) if not kinds.get(p, UNKNOWN).complex)


def text_of(
    sub: Module,
    function: object,
    mode: str,
    wrt: tuple[str, ...],
    kinds: dict[str, Kind],
    *,
    single: bool,
    auxiliary: bool = False,
) -> tuple[str, str, dict[str, object], tuple[str, ...], Facts]:
    """The text of a derivative, its name, the objects that it is executed with, its seeds, and its facts."""
    name = sub.derivative(function, mode, wrt, kinds, None, single, auxiliary)
    main = next(made for made in sub.made.values() if made.name == name)
    if sub.home is None:
        text, outside = sub.text(main)
        return text, name, dict(outside), main.facts.names.seeds, main.facts
    found = write(sub.pieces([*(made for made in sub.made.values() if made is not main), main], Globals(False)))
    text = "\n".join([*import_lines(found.imports), gap(found.texts), body(found.texts, {}), ""])
    return text, name, {}, main.facts.names.seeds, main.facts


def columns(
    sub: Module, function: object, wrt: tuple[str, ...], kinds: dict[str, Kind], *, single: bool
) -> InnerDerivative:
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
    head = Driver(name, push, signature, own_names, np_, unit_)
    driver = jacobian_text(head, tangents, single=single, kinds=kinds, names=names)
    whole = _join_texts(text, driver, f"import numpy as {np_}", f"from srcgrad.runtime import unit as {unit_}")
    real = assumed_real(facts, kinds)
    if sub.home is not None:
        return InnerDerivative(
            replace(static_function(whole, name, facts, "jacobian", sub.home), real=real), text=whole
        )
    label = f"{name} of {origin(facts.source)}"
    pushed = load(text, push, label, outside, origins=sub.origins)
    made: Any = load(driver, name, label, {**outside, push: pushed, np_: np, unit_: unit}, by="jacobian")
    made.__srcgrad_real__ = real
    return InnerDerivative(made, text=whole)


def _check_one(sub: Module, push: str, facts: Facts) -> None:
    """E5007 for a function of several values, whose Jacobian is no single array."""
    main = next(made for made in sub.made.values() if made.name == push)
    value = main.tree.body[-1].value
    if isinstance(value, gast.Tuple | gast.List | gast.Dict) or facts.kinds.containers.get(getattr(value, "id", "")):
        raise DifferentiationError(
            "E5007",
            f"the Jacobian of `{facts.source.name}`, which returns several values, as a text",
            "ask for one argument or one value at a time, or call srcgrad.jacobian outside of the function",
        )


def _join_texts(text: str, driver: str, *needed: str) -> str:
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


def static_function(text: str, name: str, facts: Facts, by: str, home: StaticModule) -> StaticFunction:
    """The function `name` of a text that is never run."""
    made = StaticModule(home.program, home.name, f"<{by} {name} of {origin(facts.source)}>", text, False)
    found = made.function(name)
    assert found is not None and found.static is not None, "the text defines it"
    return found.static


@record(frozen=True)
class Driver:
    """The head of a function that calls the tangent function `push`, and what it calls `np` and `unit` by."""

    name: str
    push: str
    signature: str
    own: list[str]  # what it hands on
    np: str
    unit: str


def jacobian_text(driver: Driver, wrt: dict[str, str], *, single: bool, kinds: dict[str, Kind], names: Names) -> str:
    """A function that calls a tangent function for each number of the parameters `wrt` (name -> tangent)."""
    given, push, np_, unit_ = ", ".join(driver.own), driver.push, driver.np, driver.unit
    i = names.fresh("i")
    lines, results = [f"def {driver.name}({driver.signature}):"], []
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


def packed(tree: Node, kinds: dict[str, Kind]) -> Node:
    """A function with a tuple and a dict in the place of `*args` and `**kwargs`, read part by part where handed on."""
    tree = copy(tree)
    arguments = tree.args
    given = [kinds.get(one.id, UNKNOWN) if one is not None else UNKNOWN for one in (arguments.vararg, arguments.kwarg)]
    stored = {n.id for s in tree.body for n in find_nodes(s, gast.Name) if isinstance(n.ctx, gast.Store)}
    named = arguments.kwarg.id if arguments.kwarg is not None and arguments.kwarg.id not in stored else ""
    words = {str(key): expression(f"{named}[{key!r}]") for key, _ in given[1].items} if given[1].tag == "dict" else None
    handed = words_handed_on(tree, named, words) if named and words is not None else None
    for node in [n for s in tree.body for n in walk(s)]:
        for key in ("args", "elts") if arguments.vararg is not None and arguments.vararg.id not in stored else ():
            parts = getattr(node, key, None)
            if isinstance(parts, list):
                setattr(
                    node, key, [one for part in parts for one in parts_of_star(part, arguments.vararg.id, given[0])]
                )
        if isinstance(node, gast.Call) and handed is not None:
            node.keywords = [w for word in node.keywords for w in named_words(word, named, handed)]
    if arguments.kwarg is not None:
        _pop_once(tree, arguments.kwarg.id)
    if arguments.vararg is not None:
        arguments.args.append(arguments.vararg)
        arguments.defaults += [gast.Tuple([], gast.Load())] if arguments.defaults else []
    if arguments.kwarg is not None:
        arguments.kwonlyargs.append(arguments.kwarg)
        arguments.kw_defaults.append(None)
    arguments.vararg = arguments.kwarg = None
    return tree


def with_parameters(tree: Node, held: str, names: tuple[str, ...]) -> Node:
    """A function with a parameter for each argument in place of `*held`, whose tuple is bound in its first line."""
    tree = copy(tree)
    stored = {n.id for s in tree.body for n in find_nodes(s, gast.Name) if isinstance(n.ctx, gast.Store)}
    for node in [n for s in tree.body for n in walk(s)]:
        for key in ("args", "elts") if held not in stored else ():
            parts = getattr(node, key, None)
            if isinstance(parts, list):
                setattr(node, key, [one for part in parts for one in _named_parts(part, held, names)])
    first, tree.args.vararg = tree.args.vararg, None
    tree.args.args += [at(gast.Name(one, gast.Param(), None, None), first) for one in names]
    tree.args.defaults = [] if names else tree.args.defaults
    if any(isinstance(n, gast.Name) and n.id == held for s in tree.body for n in walk(s)):
        begun = 1 if isinstance(getattr(tree.body[0], "value", None), gast.Constant) else 0
        tree.body.insert(begun, at(assign(held, expression(f"({''.join(one + ', ' for one in names)})"), first), first))
    return tree


def _named_parts(part: Node, held: str, names: tuple[str, ...]) -> list[Node]:
    """`*xs` as the names of its items."""
    if not isinstance(part, gast.Starred) or getattr(part.value, "id", "") != held:
        return [part]
    return [at(expression(one), part) for one in names]


def _pop_once(tree: Node, held: str) -> None:
    """`options.pop("a", 1.0)` as `options.get("a", 1.0)`, where nothing can tell: each key is asked for once."""
    nodes = [n for s in tree.body for n in walk(s)]
    reads = [n for n in nodes if isinstance(n, gast.Name) and n.id == held]
    methods = [n for n in nodes if isinstance(n, gast.Call) and getattr(n.func, "attr", "") in ("pop", "get")]
    methods = [n for n in methods if any(n.func.value is one for one in reads) and len(n.args) == 2]
    keys = [n.args[0].value for n in methods if isinstance(n.args[0], gast.Constant)]
    loops = any(isinstance(n, gast.For | gast.While | gast.ListComp | gast.GeneratorExp | gast.Lambda) for n in nodes)
    if len(reads) == len(methods) == len(set(keys)) and len(keys) == len(methods) and not loops:
        for call in methods:
            call.func.attr = "get"


def parts_of_star(part: Node, held: str, kind: Kind) -> list[Node]:
    """`*xs` of a tuple of which the length is known as `xs[0], xs[1]`."""
    if not isinstance(part, gast.Starred) or getattr(part.value, "id", "") != held or kind.tag != "tuple":
        return [part]
    return [at(expression(f"{held}[{k}]"), part) for k in range(len(kind.items))]


def names_of(asked: tuple[int | str, ...] | None, known: list[str]) -> tuple[str, ...]:
    """Names of the parameters that `wrt` means: positions, or names. E5009 if there is none."""
    found: list[str] = []
    for item in range(len(known)) if asked is None else asked:
        if isinstance(item, int) and not isinstance(item, bool) and -len(known) <= item < len(known):
            found.append(known[item])
        elif isinstance(item, str) and item in known:
            found.append(item)
        else:
            raise no_parameter(item, known)
    if len(set(found)) != len(found) or not found:
        raise DifferentiationError("E5009", f"wrt={asked!r} names a parameter twice, or none", "name each one once")
    return tuple(found)


@record
class Outcome:
    """What is known of a function's result, for arguments of some kinds; nothing where its text is refused.

    `begun` is what is left to look at: of a result whose kind is asked for, shapes need not be known.
    """

    kind: Kind = UNKNOWN
    spec: Any = None  # a spec, or a tuple of specs
    complex: bool = True
    conjugates: bool = True  # whether its adjoint would be another one if complex values were taken for real
    begun: BegunFunction | None = None

    @property
    def is_lost(self) -> bool:
        """Whether a derivative has taken the tree of which something is left to look at."""
        return self.begun is not None and self.begun.shared is not None and self.begun.shared.taken

    def complete(self) -> BegunFunction:
        """Look at all that is not known yet."""
        begun, self.begun, self.kind = self.begun, None, UNKNOWN  # a recursive call learns nothing
        assert begun is not None, "there is something left"
        begun.advance(VALUES)
        facts, value = begun.facts, begun.tree.body[-1].value
        self.kind, self.complex = of_display(value, facts.kinds.of_names), may_be_complex(value, facts)
        self.conjugates = changes_adjoint(begun.tree, facts)
        several = isinstance(value, gast.Tuple)
        specs = tuple(facts.values.spec.get(item, Spec(ndim=None)) for item in value.elts) if several else ()
        self.spec = specs if several else facts.values.spec.get(value)
        return begun


def outcome(
    source: Source,
    namespace: Namespace,
    kinds: dict[str, Kind],
    module: Any,
    step: Step | None = None,
    passive: bool = False,
) -> Outcome:
    """What is known of a function's result, for arguments of these kinds: so far its kind.

    `passive` looks at one that cannot be differentiated by all of its arguments: by a generator of random numbers, say.
    """
    place = (id(source.tree), id(step), passive)
    known = module.fronts.get(place)
    if known is None or not known.serves(kinds):
        wrt = () if passive else tuple(parameters(source.tree))
        facts, tree = prepare_facts(source, namespace, "reverse", wrt, kinds, module, step)
        facts.kinds.of_names = AskedKinds(kinds)
        facts.request = replace(facts.request, called=True)
        begun = BegunFunction(facts, tree)
        begun.advance(FRONT)
        known = module.fronts[place] = share_front(facts, begun.tree)
    facts, tree = known.begin(kinds)
    begun = BegunFunction(facts, tree, FRONT, known)
    begun.advance(KINDS)
    return Outcome(of_display(begun.tree.body[-1].value, begun.facts.kinds.of_names), begun=begun)


def has_arrays(kind: Kind) -> bool:
    """Whether a value is a number or an array, or holds one, as far as it is known."""
    return kind.tag in ("scalar", "array") or any(has_arrays(item) for _, item in kind.items)


def run_frontend(
    source: Source, namespace: Namespace, wrt: tuple[str, ...], kinds: dict[str, Kind], module: object
) -> tuple[Node, Facts]:
    """A function in normal form, with the shapes of its values."""
    facts, program = prepare_facts(source, namespace, "primal", wrt, kinds, module)
    facts.request = replace(facts.request, called=True)
    for each in NORMAL:
        program = each(program, facts)
    return program, facts


def step_flows(step: Step, module: object) -> list[list[str]]:
    """For each part of a step's result the parameters from which a derivative flows into it."""
    everything = tuple(parameters(step.source.tree))
    facts, program = prepare_facts(step.source, step.namespace, "reverse", everything, {}, module, step)
    facts.request = replace(facts.request, called=True)
    for each in FLOW:
        program = each(program, facts)
    return flows(program, facts)


def returns_new(source: Source, namespace: Namespace, module: object, step: Step | None = None) -> bool:
    """Whether each value that a function returns is made by it, and is no part of an argument."""
    facts, program = prepare_facts(source, namespace, "reverse", tuple(parameters(source.tree)), {}, module, step)
    facts.request = replace(facts.request, called=True)
    for each in RESULT:
        program = each(program, facts)
    return is_new(program.body[-1].value, program, facts)


def _may_hold(kind: Kind) -> bool:
    """Whether an argument is an object, or holds one."""
    return kind.tag in ("object", "made", "other") or any(_may_hold(one) for _, one in kind.items)


def _identity(function: object) -> int:
    """A key of a function; one known as text is found anew at each call of it, but its tree is one."""
    return id(function.node) if isinstance(function, StaticFunction) else id(function)


def _file(facts: Facts) -> str:
    """The file of the user's function, as Python knows it."""
    code = getattr(getattr(without_overlays(facts.namespace), "function", None), "__code__", None)
    return facts.source.file if code is None else str(code.co_filename)


def _kinds_key(kinds: dict[str, Kind]) -> tuple[object, ...]:
    """Kinds as a key, with the dtypes that comparing them leaves out."""
    return tuple((name, kind, kind.dtype) for name, kind in sorted(kinds.items(), key=lambda item: item[0]))


def _step(function: object) -> Step | None:
    return function if isinstance(function, Step) else None


@record
class _Own:
    """What texts have found of srcgrad's own functions, which rules call: they are the same for each text."""

    sources: dict[int, tuple[object, Source, Namespace]] = field(default_factory=dict)
    effects: dict[int, tuple[Change, ...]] = field(default_factory=dict)
    new: dict[int, bool] = field(default_factory=dict)

    def learn(self, module: Module) -> None:
        """Take over what a module has found of them."""
        new = [key for key in module.sources if key not in self.sources and key != module.packed]
        self.sources.update({key: module.sources[key] for key in new if _is_own(module.sources[key][0])})
        trees = {id(source.tree) for _, source, _ in self.sources.values()}
        self.effects.update({key: found for key, found in module.effects.items() if key in trees})
        self.new.update({key: found for key, found in module.new.items() if key in self.sources})


_own = _Own()


def _is_own(function: object) -> bool:
    """Whether a function is one of srcgrad's modules, by its own name there."""
    if type(function) is not FunctionType or not str(function.__module__).startswith("srcgrad."):
        return False
    home = sys.modules.get(function.__module__)
    return home is not None and vars(home).get(function.__name__) is function


@record
class Module:
    """Functions of one generated text, by what they derive; names of the text are shared among them."""

    inline: bool = False  # whether calls are written out, so that the text can be differentiated again
    seeded: bool = True  # whether gradients take a seed; without it they are for the seed 1.0
    target: Target = NUMPY  # what runs it
    autocast: str = ""  # the dtype to which floating arrays are cast, float16 or float32, or empty
    leading: LeadingAxes = ALONE  # whether there is an axis for all directions at once
    double: bool = False  # whether a function of this text makes arrays of float64 beside arguments of a declared dtype
    explained: bool = False  # whether it is asked what the backward half keeps
    tidy: bool = False  # whether the user's statements are laid out as black has them, where they are not
    home: StaticModule | None = None  # the module of the user that is not run, and whose derivatives are written
    blocks: Any = None  # rows of which arguments come in blocks, in the text of a value (derive.blocked.Blocks)
    arrays: bool = False  # whether array statements of compiled code stay as they are
    looped: frozenset[str] = frozenset()  # of those that are loops: "checked" lengths, all indices "inside"
    made: dict[Any, DerivedText] = field(default_factory=dict)
    making: dict[str, Facts] = field(default_factory=dict)  # name -> facts, also while it is being made
    pending: dict[object, str] = field(default_factory=dict)  # derivative being made -> its name
    replaced: dict[str, None] = field(default_factory=dict)  # names of derivatives in whose place others are called
    names: Names = field(default_factory=Names)
    specs: dict[object, Outcome] = field(default_factory=dict)
    begun: dict[object, BegunFunction] = field(default_factory=dict)
    fronts: dict[tuple[int, int, bool], SharedFront] = field(
        default_factory=dict
    )  # by tree, step, and whether all is passive
    checkpoints: bool = False  # whether something in these functions is checkpointed
    new: dict[int, bool] = field(
        default_factory=lambda: dict(_own.new)
    )  # by function: whether its result is always a new array
    moving: dict[int, bool] = field(default_factory=dict)  # by tree: see front.moving
    flowing: dict[int, tuple[Step, list[list[str]]]] = field(default_factory=dict)
    globals: dict[str, Binding] = field(default_factory=dict)
    methods: list[tuple[type, str, Any, Any]] = field(default_factory=list)  # class, name, method, object or None
    apart: dict[type, None] = field(default_factory=dict)  # classes of objects that are taken apart, and made beside
    inner: dict[Any, tuple[Module, InnerDerivative]] = field(
        default_factory=dict
    )  # derivatives that its functions ask for
    origins: dict[str, Origin] = field(default_factory=dict)  # of the functions of a text that is run
    sources: dict[int, tuple[object, Source, Namespace]] = field(default_factory=lambda: dict(_own.sources))
    asked: dict[tuple[int, frozenset[str] | None], tuple[object, bool]] = field(
        default_factory=dict
    )  # whether a function asks for what it is given, and whether it gives functions
    packed: int = 0  # identity of the function whose `*args` are a tuple here
    written: WrittenPlaces = field(default_factory=WrittenPlaces)  # where what is written out stands
    effects: dict[int, tuple[Change, ...]] = field(default_factory=lambda: dict(_own.effects))  # by tree: see Effects
    binding: dict[int, bool] = field(default_factory=dict)  # by tree: whether it binds attributes of what it is given
    given: Any = None  # the items of a loop over the function (numba.given.Items)
    given_of: dict[str, Any] = field(default_factory=dict)  # ... and what its derivative takes (numba.given.Taken)

    def __post_init__(self) -> None:
        look()  # at what is replaced in libraries while this text is made

    def all(self) -> list[Module]:
        """The module itself, and those of the derivatives that its functions ask for."""
        return [self, *(each for sub, _ in self.inner.values() for each in sub.all())]

    def read(self) -> Module:
        """A module without functions, which knows what this one knows of the sources that it has read."""
        made = Module(self.inline, self.seeded, self.target, self.autocast, explained=self.explained, tidy=self.tidy)
        made.leading, made.home = self.leading, self.home
        made.new, made.sources, made.effects, made.moving = self.new, self.sources, self.effects, self.moving
        return made

    def derivative_function(
        self,
        function: object,
        mode: str,
        wrt: tuple[str, ...],
        kinds: dict[str, Kind],
        *,
        single: bool,
        auxiliary: bool = False,
    ) -> InnerDerivative:
        """A derivative that a function of this text asks for, as a function with a text of its own."""
        key = (_identity(function), mode, wrt, tuple(sorted(kinds.items())), single, auxiliary)
        if key not in self.inner:
            if mode in ("hvp", "hessian"):
                function = self.derivative_function(function, "reverse", wrt, kinds, single=single).function
            sub = Module(inline=True, seeded=False, home=self.home)
            if mode in ("jacobian", "hessian"):
                self.inner[key] = sub, columns(sub, function, wrt, kinds, single=single)
                return self.inner[key][1]
            self.inner[key] = sub, inner_derivative(sub, function, mode, wrt, kinds, single=single, auxiliary=auxiliary)
        return self.inner[key][1]

    def open_operation(self, function: object) -> Any:
        """A function with source for an operation of the table; any other function as it is."""
        return function if isinstance(function, StaticFunction | ClosedFunction) else primal_of(function)[0]

    def names_of(self, asked: tuple[int | str, ...] | None, known: list[str]) -> tuple[str, ...]:
        """Names of the parameters that `wrt` means."""
        return names_of(asked, known)

    def methods_changed(self) -> bool:
        """Whether a method that was written out has been replaced since, in its class or in its object."""
        return any(is_replaced(*known) for known in self.methods)

    def source(self, function: object) -> tuple[Source, Namespace]:
        """Source and namespace of a callee; each keeps its own."""
        known = self.sources.get(_identity(function))
        if known is None:
            if isinstance(function, Step | ClosedFunction):
                known = (function, function.source, function.namespace)
            elif isinstance(function, StaticFunction):
                check_undecorated(function)
                check_defaults(function)
                self.home = self.home or function.module
                known = (function, rename_shadows(function.source), function.module)
            else:
                plain = getattr(function, "__func__", function)
                placed = getattr(plain, "__srcgrad_places__", None)
                if placed is not None:
                    source, namespace = self.source(placed[0])
                    source = replace(source, tree=with_parameters(source.tree, *placed[1:]), respelled=True)
                    self.sources[_identity(function)] = function, source, namespace
                    return source, namespace
                plain = passed_on(getattr(plain, "__srcgrad_primal__", plain))
                known = (function, rename_shadows(with_live_defaults(source_of(plain), plain)), LiveNamespace(plain))
            self.sources[_identity(function)] = known
        return known[1], known[2]

    def pack(self, function: object, kinds: dict[str, Kind]) -> None:
        """Let `*args` and `**kwargs` of the function to differentiate be a tuple and a dict of what a call gives.

        One that calls itself is left as it is: its own calls would be packed as well.
        """
        source, namespace = self.source(function)
        several = source.tree.args.vararg, source.tree.args.kwarg
        calls = [n for s in source.tree.body for n in find_nodes(s, gast.Call)]
        if several == (None, None) or any(getattr(call.func, "id", "") == source.name for call in calls):
            return
        tree = packed(source.tree, kinds)
        self.sources[_identity(function)] = function, replace(source, tree=tree, respelled=True), namespace
        self.packed = _identity(function)

    def key_objects(self, function: object, kinds: dict[str, Kind], containers: bool) -> None:
        """Let what objects the function makes be keys of tables, perhaps `containers` as well; E5005 if it cannot be.

        None of them comes from outside: no argument is an object, or holds one.
        """
        source, namespace = self.source(function)
        if source.is_generated or not isinstance(function, FunctionType) or any(map(_may_hold, kinds.values())):
            raise DifferentiationError("E5005", "no object of the function's own", "")
        source, around = objects_by_key(source, namespace, self, containers)
        if containers:
            source = replace(source, tree=containers_by_key(source.tree, around))
        self.sources[_identity(function)] = function, source, around

    def is_packed(self, function: object) -> bool:
        """Whether `*args` of a function are a tuple here."""
        return self.packed != 0 and self.packed == _identity(function)

    def callee(self, function: object, call: Node, facts: Facts) -> Source:
        """The source of a called function; E5003 at the call if it has none."""
        try:
            return self.source(function)[0]
        except DifferentiationError as error:
            raise facts.refuse(
                call,
                "E5003",
                f"the called function has no rule, and no source that can be used: {error.message}",
                "write a rule for it with @srcgrad.adjoint, or use srcgrad.stop_gradient",
            ) from error

    def derivative(
        self,
        function: object,
        mode: str,
        wrt: tuple[str, ...],
        kinds: dict[str, Kind],
        facts: Facts | None = None,
        single: bool = True,
        auxiliary: bool = False,
        handed: PullbackForm = PLAIN,
    ) -> str:
        """The name of the derivative of `function` in this text; it is made if it is not there yet."""
        kinds = kinds if mode != "primal" or self.blocks else {}
        own = replace(handed, apart=handed.apart and mode == "pull")
        key = (_identity(function), mode, wrt, _kinds_key(kinds), auxiliary, own)
        if key in self.pending:
            inner = self.making[self.pending[key]]
            inner.request = replace(
                inner.request,
                handed=replace(inner.request.handed, apart=inner.request.handed.apart and key in self.made),
            )  # it calls itself
            if facts is not None:
                facts.calls.named[self.pending[key]] = None
            return self.pending[key]
        source, namespace = self.source(function)
        self.names.taken |= names_in(source.tree)
        try:
            called, step = facts is not None, _step(function)
            begun = self._begin_function(function, mode, wrt, kinds, called) if not auxiliary else None
            wanted = Wanted(mode, wrt, kinds, single, called, auxiliary, handed)
            made = derive(source, namespace, wanted, self, key, step, begun)
        except RecursionError:
            raise DifferentiationError(
                "E5016",
                f"`{source.name}` leads from call to call, each with arguments of another kind",
                "write it as a loop, over a list",
            ) from None
        self.made[key] = made
        if facts is None:
            self._drop()
            _own.learn(self)
        else:
            facts.calls.named[made.name] = None
        return made.name

    def spell(self, tree: Node, facts: Facts, bare: bool = False) -> Node:
        """A function in the language of the passes behind, to be written out; `bare`, to be asked what it changes."""
        for each in EFFECTS if bare else CALLEE:
            tree = each(tree, facts)
        return tree

    def _drop(self) -> None:
        """Leave out derivatives in whose place others are called, which take masks."""
        read = {key: {getattr(node, "id", "") for node in walk(made.tree)} for key, made in self.made.items()}
        while gone := [key for key in read if self._is_replaced(key, read)]:
            for key in gone:
                del read[key], self.replaced[self.made.pop(key).name]
                self.pending.pop(key, None)

    def _is_replaced(self, key: object, read: dict[object, set[str]]) -> bool:
        name = self.made[key].name
        return name in self.replaced and not any(name in names for other, names in read.items() if other != key)

    def masked(self, plain: str, function: object, kinds: dict[str, Kind], facts: Facts, handed: PullbackForm) -> str:
        """The derivative to call where masks are handed on: `plain` where it would neither take nor give any."""
        inner, known = self.making[plain], list(self.made)
        name = self.derivative(function, inner.request.mode, inner.request.wrt, kinds, facts, handed=handed)
        self.replaced.update({made.name: None for key, made in self.made.items() if key not in known})
        self.replaced[plain] = None
        given = self.making[name]
        tree = next((made.tree for made in self.made.values() if made.name == name), None)
        if tree is None:  # it calls itself
            if not handed.takes_masks:
                return plain
            given.calls.zeroing.update(dict.fromkeys(handed.gives_masks))
            return name
        read = {node.id for node in find_nodes(tree, gast.Name) if isinstance(node.ctx, gast.Load)}
        takes = tuple(k for k, mask in zip(handed.takes_masks, given.calls.mask_seeds, strict=False) if mask in read)
        least = replace(
            handed, takes_masks=takes, gives_masks=tuple(p for p in handed.gives_masks if p in given.calls.zeroing)
        )
        if not (takes or least.gives_masks):
            return plain
        return name if least == handed else self.masked(plain, function, kinds, facts, least)

    def add_kernel(self, tree: Node, facts: Facts) -> None:
        """Take a function of the text that is a kernel."""
        self.made["kernel", tree.name] = DerivedText(tree.name, tree, facts, ())

    def seeds(self, name: str) -> tuple[str, ...]:
        """Names of the tangents that a forward derivative takes, or of the seeds of a pullback."""
        inner = self.making[name]
        return inner.names.seeds[: len(inner.names.seeds) - len(inner.calls.mask_seeds)]

    def output_spec(self, function: object, kinds: dict[str, Kind]) -> Any:
        """What is known of a callee's result: a spec, or a tuple of specs; None if nothing is."""
        return self._outcome(function, kinds).spec

    def output_kind(self, function: object, kinds: dict[str, Kind]) -> Kind:
        """The kind of a callee's result: a container of kinds, where it is known to be one."""
        return self._outcome(function, kinds, whole=False).kind

    def output_complex(self, function: object, kinds: dict[str, Kind]) -> bool:
        """Whether a callee's result may be complex; so it is taken where its source cannot be read."""
        return self._outcome(function, kinds).complex

    def output_conjugates(self, function: object, kinds: dict[str, Kind]) -> bool:
        """Whether a callee's adjoint, for arguments of which some are complex, is none that holds for real ones."""
        return self._outcome(function, kinds).conjugates

    def _outcome(self, function: object, kinds: dict[str, Kind], whole: bool = True) -> Outcome:
        key = (_identity(function), _kinds_key(kinds))
        if key not in self.specs or (whole and self.specs[key].is_lost):
            self.specs[key] = Outcome()  # a recursive call learns nothing
            source, namespace = self.source(function)
            for passive in (False, True):
                with contextlib.suppress(DifferentiationError):  # refused later, if a derivative flows through it
                    self.specs[key] = outcome(source, namespace, kinds, self, _step(function), passive)
                    break
        found = self.specs[key]
        if found.begun is not None and (whole or has_arrays(found.kind)):  # a parameter may be bound anew
            with contextlib.suppress(DifferentiationError):
                self.begun[key] = found.complete()
        return found

    def begin(self, function: object, kinds: dict[str, Kind], begun: BegunFunction) -> None:
        """Keep what a question has made of a function, for a derivative that begins with the same passes."""
        self.begun[_identity(function), _kinds_key(kinds)] = begun

    def _begin_function(
        self, function: object, mode: str, wrt: tuple[str, ...], kinds: dict[str, Kind], called: bool
    ) -> BegunFunction | None:
        """What is kept of a function; it is handed out once, since what follows changes it."""
        key = (_identity(function), _kinds_key(kinds))
        begun = self.begun.get(key)
        if begun is None or begun.facts.request.wrt != wrt or not begun.fits(mode, self, called):
            return None
        return self.begun.pop(key).taken()

    def front(self, function: object, wrt: tuple[str, ...], kinds: dict[str, Kind]) -> tuple[Node, Facts]:
        """A callee in normal form."""
        return run_frontend(*self.source(function), wrt, kinds, self)

    def flows(self, step: Step) -> list[list[str]]:
        """For each part of a step's result the parameters from which a derivative flows into it."""
        if id(step) not in self.flowing:
            self.flowing[id(step)] = step, step_flows(step, self)
        return self.flowing[id(step)][1]

    def returns_new(self, function: object) -> bool:
        """Whether a function gives an array, or arrays, that nothing else holds."""
        key = _identity(function)
        if key not in self.new:
            self.new[key] = False  # a recursive call is not known to
            with contextlib.suppress(DifferentiationError):  # refused later, if a derivative flows through it
                self.new[key] = returns_new(*self.source(function), self, _step(function))
        return self.new[key]

    def text(self, main: DerivedText) -> tuple[str, dict[str, Any]]:
        """The module's text, and the objects that its free names mean outside of it."""
        pieces = self.pieces([made for made in self.made.values() if made is not main] + [main], None)
        self.specs, self.begun, self.fronts = {}, {}, {}  # the module lives as long as the text, and these hold trees
        self.written = WrittenPlaces()
        found = write(pieces)
        lines = [header(main.facts), *import_lines(found.imports)]
        if found.outside:
            lines += ["", f"# From the module of {main.facts.source.name}: {', '.join(sorted(found.outside))}."]
        return "\n".join([*lines, gap(found.texts), body(found.texts, {}), ""]), found.outside

    def pieces(self, parts: Sequence[DerivedText], look: Globals | None, known: Pieces | None = None) -> Pieces:
        """The parts as pieces of one output, added to those that are known.

        With `look`, all that they need is imported or copied as text; E5012 for what cannot be. Without it, a part
        may refer to objects of the running program.
        """
        lookup = Lookup({made.name: None for made in self.made.values()}, look)
        pieces = Pieces(follower(look)) if known is None else known
        for made in parts:
            piece = derivative(made.name, made.tree, made.facts, lookup)
            pieces.add(piece)
            if look is None:
                source = made.facts.source
                self.origins[made.name] = Origin(_file(made.facts), source.name, source.first, piece.lines)
        return pieces
