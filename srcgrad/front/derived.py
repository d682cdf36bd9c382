"""Calls of derivatives in a body, brought to calls of functions with a text: what is captured is given as arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any  # kinds and functions are arbitrary objects

import gast

from srcgrad.converted import parsed
from srcgrad.errors import DifferentiationError
from srcgrad.facts import SCALAR, UNKNOWN, Facts, Kind
from srcgrad.front.asked import looked_at
from srcgrad.front.functions import Function, function_of, pulled_or_pushed
from srcgrad.front.namespace import Binding, Namespace
from srcgrad.front.overlay import Overlay
from srcgrad.front.plain import own_names
from srcgrad.front.source import Source
from srcgrad.front.static import StaticFunction
from srcgrad.front.wanted import made_by, not_known, wanted_of
from srcgrad.front.webs import parameters
from srcgrad.front.written_out import Site
from srcgrad.trees import Block, Node, at, copy, name, statements, stores, target, walk


@dataclass(frozen=True, eq=False)
class Closed:
    """A nested function as one of its own: what it reads of the function around it are further parameters."""

    source: Source
    namespace: Namespace


def derived_call(call: Node, where: Node, before: Block, site: Site) -> Function | None:
    """The function with a text for the call of a derivative, whose arguments are brought to that function's form.

    None for any other call. Statements that look at arguments go to `before`.
    """
    found = _called(call, site)
    if found is None or found.wanted is None:
        if found is None and made_by(call.func, site.facts, site.local):
            raise not_known(call, site.facts)
        return None
    vectors = _vectors(call, found, site.facts)
    try:
        made, seeds, asked = _made(found, call, site)
    except DifferentiationError as error:
        if error.place is not None:
            raise
        raise site.facts.refuse(call, error.code, error.message, error.remedy) from error
    if vectors and len(vectors) != len(seeds):
        raise site.facts.refuse(
            call, "E5014", f"{len(vectors)} values for {', '.join(seeds)}", "give one for each of them"
        )
    shown = {value: looked_at(value, parameter, where, before, site) for parameter, value in asked.items()}
    call.args = [shown.get(value, value) for value in call.args]
    call.keywords = [gast.keyword(word.arg, shown.get(word.value, word.value)) for word in call.keywords]
    call.keywords += [gast.keyword(seed, vector) for seed, vector in zip(seeds, vectors, strict=False)]
    return made


def _called(call: Node, site: Site) -> Function | None:
    """The derivative that is called; `jvp(g, (x,), (v,))` becomes a call with the arguments x."""
    facts, local = site.facts, site.local
    if made_by(call, facts, local) != "forward":
        return function_of(call.func, facts, local)
    given = call.args[1:3]
    words = {word.arg: word.value for word in call.keywords if word.arg in ("primals", "tangents")}
    given += [words[key] for key in ("primals", "tangents")[len(given) :] if key in words]
    call.keywords = [word for word in call.keywords if word.arg not in words]
    shaped = all(isinstance(g, gast.Tuple | gast.List) for g in given)
    if len(given) != 2 or not shaped or len(given[0].elts) != len(given[1].elts):
        raise facts.refuse(
            call,
            "E5005",
            "the arguments of `jvp` are not written as two tuples of one length",
            "write `jvp(g, (x,), (v,))`",
        )
    of = function_of(call.args[0], facts, local)
    if of is None:
        raise not_known(call, facts)
    wanted = wanted_of(call, "forward", of, facts)
    pairs = list(enumerate(zip(given[0].elts, given[1].elts, strict=True)))
    real = tuple(k for k, (one, _) in pairs if not _is_discrete(one))
    places = tuple(k for k, (one, moved) in pairs if k in real and not _is_nothing(moved)) or real
    call.func = at(name("jvp"), call.func)
    call.args, call.keywords = list(given[0].elts), []
    tangents = tuple(given[1].elts[k] for k in places)
    return Function(f"{of.name}_jvp", wanted=replace(wanted, wrt=places, single=False, tangents=tangents))


def _is_discrete(node: Node) -> bool:
    """Whether an argument is a literal that has no derivative."""
    return isinstance(node, gast.Constant) and not isinstance(node.value, float)


def _is_nothing(tangent: Node) -> bool:
    """Whether a tangent is the literal None, 0 or 0.0: its argument, perhaps an integer, stays what it is."""
    return isinstance(tangent, gast.Constant) and tangent.value in (None, 0)


def _vectors(call: Node, found: Function, facts: Facts) -> list[Node]:
    """Seeds and tangents, taken out of the arguments of a call."""
    wanted = found.wanted
    assert wanted is not None, "the caller has looked"
    if wanted.mode == "forward":
        return list(wanted.tangents)
    if wanted.mode in ("pull", "push"):
        taken, call.args = list(call.args), []
        return taken
    if wanted.mode != "hvp":
        return []
    if not call.args:
        raise facts.refuse(call, "E5014", "the vector is missing", "give it after the function's arguments")
    last = call.args.pop()
    if wanted.single:
        return [last]
    if not isinstance(last, gast.Tuple | gast.List):
        raise facts.refuse(last, "E5005", "vectors that are not written as a tuple", "write `(v, w)`")
    return list(last.elts)


def _made(found: Function, call: Node, site: Site) -> tuple[Function, tuple[str, ...], dict[str, Node]]:
    """A derivative as a function with a text, the names of its seeds, and the arguments that it is with respect to."""
    wanted = found.wanted
    assert wanted is not None, "the caller has looked"
    of = wanted.of
    if of.wanted is not None:
        of, _, _ = _made(of, call, site)
    if of.tree is not None:
        of = closed(of, site)
    facts = site.facts
    called = facts.module.opened(of.called)
    source = facts.module.callee(called, call, facts)
    own = [p for p in parameters(source.tree) if p not in of.words]
    wrt = facts.module.names_of(wanted.wrt, own[len(of.args) :])
    given = _given(call, found, of, source.tree)
    for parameter in wrt:
        if _is_whole(given.get(parameter)):
            raise facts.refuse(given[parameter], "E5002", f"`{parameter}` is an integer", "write it as a float: `2.0`")
    kinds = {p: k for p, v in given.items() if (k := _kind(v, facts)) is not None}
    made = facts.module.derived(called, wanted.mode, wrt, kinds, single=wanted.single, auxiliary=wanted.auxiliary)
    binding = Binding("object", made.function)
    if isinstance(made.function, StaticFunction):
        binding = Binding("function", static=made.function)
    args = (*of.args, *found.args)
    asked = {parameter: given[parameter] for parameter in wrt if parameter in given}
    whole = replace(of, name=source_name(made.function), binding=binding, args=args, tree=None, owner=None)
    return whole, made.seeds, asked


def source_name(function: Any) -> str:
    """The name under which a function is defined."""
    return str(getattr(function, "qualname", None) or function.__name__)


def _given(call: Node, found: Function, of: Function, tree: Node) -> dict[str, Node]:
    """The arguments of a call by the parameters of the function whose derivative is called."""
    positional = [a.id for a in tree.args.posonlyargs + tree.args.args]
    arguments = [*of.args, *found.args, *call.args]
    return dict(zip(positional, arguments, strict=False)) | of.words | {w.arg: w.value for w in call.keywords}


def _is_whole(node: Node | None) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) in (int, bool)


def _kind(node: Node, facts: Facts) -> Kind | None:
    """What is known of an argument: a literal, or an argument of the function around that is not bound anew."""
    if isinstance(node, gast.Constant) and type(node.value) in (int, float):
        return SCALAR
    if isinstance(node, gast.Tuple | gast.List | gast.Dict):
        return _of_display(node)
    if not isinstance(node, gast.Name):
        return None
    bound = [s for s in statements(facts.source.tree.body) if node.id in stores(s)]
    if not bound:
        return facts.kinds.get(node.id)
    shown = getattr(bound[0], "value", None) if len(bound) == 1 and target(bound[0]) == node.id else None
    return _of_display(shown) if isinstance(shown, gast.Tuple | gast.List | gast.Dict) else None


def _of_display(node: Node) -> Kind | None:
    """The kind of a container whose keys are written out; of its parts nothing is known."""
    if isinstance(node, gast.Dict):
        keys = [getattr(key, "value", None) for key in node.keys]
        return Kind("dict", None, tuple((key, UNKNOWN) for key in keys)) if None not in keys else None
    tag = "tuple" if isinstance(node, gast.Tuple) else "list"
    return Kind(tag, None, tuple((place, UNKNOWN) for place, _ in enumerate(node.elts)))


def closed(found: Function, site: Site) -> Function:
    """A nested function with what it captures as further parameters, which are given by name."""
    owner = found.owner
    assert owner is not None, "a nested function has an owner"
    tree = copy(found.tree)
    if any(default is not None and not isinstance(default, gast.Constant) for default in _defaults(tree)):
        raise site.facts.refuse(
            tree, "E5005", "a nested function with computed defaults is differentiated", "read the value in its body"
        )
    namespace = Overlay(owner.namespace)
    captured: dict[str, None] = {}
    before: list[Node] = []
    _capture(tree, frozenset(), owner, captured, before, namespace, {})
    tree.body = [*before, *tree.body]
    own = own_names(tree)
    for each in captured:
        if each in own:
            raise site.facts.refuse(
                found.tree, "E5005", f"`{each}` means two things where a derivative is taken", "give it another name"
            )
        parameter = gast.Name(id=each, ctx=gast.Param(), annotation=None, type_comment=None)
        tree.args.kwonlyargs.append(at(parameter, tree))
        tree.args.kw_defaults.append(None)
    source = replace(owner.source, tree=tree, name=tree.name, first=tree.lineno, made=found.tree in owner.foreign)
    words = {each: name(each) for each in captured}
    return Function(found.name, binding=Binding("object", Closed(source, namespace)), args=found.args, words=words)


def _defaults(tree: Node) -> list[Node]:
    return [*tree.args.defaults, *tree.args.kw_defaults]


def _capture(
    tree: Node,
    bound: frozenset[str],
    owner: Facts,
    captured: dict[str, None],
    before: list[Node],
    namespace: Overlay,
    seen: dict[str, None],
) -> None:
    """Find what a function reads of the functions around it: values, and functions, whose own reads count as well."""
    own = own_names(tree) | bound | {n.name for n in walk(tree) if isinstance(n, gast.FunctionDef) and n is not tree}
    own |= {p.id for n in walk(tree) if isinstance(n, gast.Lambda) for p in walk(n.args) if isinstance(p, gast.Name)}
    for read in [n for s in tree.body for n in walk(s) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)]:
        if read.id in own or read.id in seen:
            continue
        function = owner.functions.get(read.id)
        if function is not None:
            seen[read.id] = None
            _capture_function(read.id, function, owner, captured, before, namespace, seen)
        elif read.id in owner.local or read.id in owner.around:
            captured[read.id] = None


def _capture_function(
    spelled: str,
    function: Function,
    owner: Facts,
    captured: dict[str, None],
    before: list[Node],
    namespace: Overlay,
    seen: dict[str, None],
) -> None:
    """A function of the function around goes along: its text, or what its name means."""
    if function.spelled is not None:
        value = copy(function.spelled)
        holder = gast.FunctionDef(spelled, _no_arguments(), [gast.Expr(value)], [], None, None, [])
        _capture(holder, frozenset(), owner, captured, before, namespace, seen)
        before.append(at(gast.Assign([name(spelled, gast.Store())], value, None), value))
    elif function.tree is not None:
        tree = copy(function.tree)
        home = function.owner or owner
        _capture(tree, frozenset(), home, captured, before, namespace, seen)
        before.append(_definition(tree, spelled))
    elif function.binding is not None and not function.args:
        namespace.extra[spelled] = function.binding


def _no_arguments() -> Node:
    return parsed("def f(): pass").body[0].args


def _definition(tree: Node, spelled: str) -> Node:
    made = gast.FunctionDef(spelled, tree.args, tree.body, [], None, None, [])
    return gast.copy_location(made, tree)


def value_of(call: Node, site: Site) -> Node:
    """`vjp(g, x)[0]` and `linearize(g, x)[0]`, whose second part is not read, as `g(x)`."""
    if not isinstance(call, gast.Subscript) or getattr(call.slice, "value", None) != 0:
        return call
    if pulled_or_pushed(call.value, site.facts, site.local) is None:
        return call
    inner = call.value
    return at(gast.Call(inner.args[0], inner.args[1:], []), call)
