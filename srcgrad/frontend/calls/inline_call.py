"""Inlining of one call: arguments bound to parameters, the function's names made different from the caller's.

Defaults of a live function are the values that they had when it was defined. `f(t, *p)` and `f(**options)`: what is
unpacked is named before the statement, by the parameters that it fills.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import math
from collections.abc import Callable
from types import BuiltinMethodType, FunctionType
from typing import TYPE_CHECKING  # functions are arbitrary objects

import gast
import numpy as np

from srcgrad.core.bindings import Binding, StaticFunction
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import UNKNOWN, Facts, FunctionNames, Kind, Request
from srcgrad.core.identity import record, replace
from srcgrad.core.namespace import LiveNamespace, Namespace, Overlay
from srcgrad.core.rules import is_composition
from srcgrad.core.source_text import FunctionNode, Source, place
from srcgrad.core.target import RESERVED
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    assign,
    at,
    copy,
    defaults_of,
    expression,
    find_nodes,
    is_write,
    literal_node,
    loads,
    name,
    names_in,
    open_stars,
    own_names,
    parameters,
    statements,
    stores,
    substitute,
    target,
    walk,
)
from srcgrad.core.visitor import rewrite_parts
from srcgrad.frontend.again import displays, open_display
from srcgrad.frontend.calls.functions import Function, argument_of, as_owner, function_of, handed_of, is_ordinary
from srcgrad.frontend.calls.nested_functions import check_given, check_handed
from srcgrad.frontend.calls.side_effects import (
    Effects,
    changed_on_entry,
    doubtful_write,
    is_fresh,
    is_straight,
    places_filled,
    put_in,
)
from srcgrad.frontend.calls.side_effects import place as side_effects_place
from srcgrad.frontend.context import (
    bring_names,
    is_change,
    move_apart,
    name_in_receiver,
    names_brought_along,
    names_of_callees,
    read_alone,
    read_by_both,
    scope_names,
)
from srcgrad.frontend.early_facts import reads_varied
from srcgrad.frontend.kinds_of_values import known_of
from srcgrad.frontend.resolve import binding_in, binding_of, is_over_rows, trusted_constant

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting


def with_live_defaults(source: Source, function: FunctionType) -> Source:
    """The source, with `k=K` as `k=2.0` where the module has bound K anew since.

    A default of which neither is known any more raises E5008.
    """
    arguments = source.tree.args
    live = function.__kwdefaults__ or {}
    pairs = [(d, live[a.id]) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if a.id in live]
    if len(function.__defaults__ or ()) == len(arguments.defaults):
        pairs += zip(arguments.defaults, function.__defaults__ or (), strict=True)
    names = LiveNamespace(function)
    changed = {
        id(node): _settle_default(node, value, function) for node, value in pairs if not _is_same(node, value, names)
    }
    if not changed:
        return source
    tree = copy(source.tree)
    tree.args.defaults = [
        changed.get(id(d)) or new for d, new in zip(arguments.defaults, tree.args.defaults, strict=True)
    ]
    kept = zip(arguments.kw_defaults, tree.args.kw_defaults, strict=True)
    tree.args.kw_defaults = [changed.get(id(d)) or new for d, new in kept]
    return dataclasses.replace(source, tree=tree)


def _is_same(node: Node, value: object, names: LiveNamespace) -> bool:
    """Whether the text of a default still means its value; what is no name, and reads names, is not told."""
    if isinstance(node, gast.Attribute) and isinstance(value, BuiltinMethodType):  # of an object: `PATTERN.match`
        owner = binding_in(names, node.value)
        if owner is not None and owner.object is value.__self__:
            return value.__name__ == node.attr
    if isinstance(node, gast.Name | gast.Attribute):
        found = binding_in(names, node)
        return found is not None and found.object is value
    reads = find_nodes(node, gast.Name) if node is not None else []
    return not reads or trusted_constant(value) is None


def _settle_default(node: Node, value: object, function: FunctionType) -> Node:
    made = trusted_constant(value)
    if made is None:
        raise DifferentiationError(
            "E5008",
            f"a default of {function.__qualname__} is no longer what `{gast.unparse(node)}` means",
            "give the argument in the call",
        )
    return at(made, node)


def check_defaults(function: StaticFunction) -> None:
    """Refuse a default that reads a name which its module binds anew further down: the text would read that."""
    arguments = function.node.args
    for node in [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]:
        for one in [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]:
            if any(found.line > function.node.lineno for found in function.module.table.get(one, [])):
                raise DifferentiationError(
                    "E5012",
                    f"a default of {function.qualname} reads `{one}`, which its module binds anew below it",
                    "give the value a name of its own",
                    place(function.module.label, function.module.lines, node),
                )


def default_of(parameter: str, tree: Node, found: Function, facts: Facts) -> Node | None:
    """What a parameter of a function that is written out holds if the call does not say; None if it has no default."""
    written = defaults_of(tree).get(parameter)
    if written is None or isinstance(written, gast.Constant) or found.tree is not None:
        return copy(written) if isinstance(written, gast.AST) else written
    if not callable(found.called):
        return _of_text(copy(written), facts.module.source(found.called)[1], facts)
    value = inspect.signature(found.called).parameters[parameter].default
    literal = _literal_of(value, facts)
    if literal is not None:
        return literal
    held = facts.names.numbered_name(f"{parameter}_default")
    assert isinstance(facts.namespace, Overlay), "an overlay was put there"
    facts.namespace.extra[held] = Binding("object", value)
    return name(held)


def _literal_of(value: object, facts: Facts) -> Node | None:
    """The literal for a number, a text, or a tuple of such; None for what a file could not hold."""
    if isinstance(value, float) and math.isinf(value):
        return expression(f"{'-' if value < 0 else ''}{facts.library('np')}.inf")
    if type(value) is not tuple:
        return trusted_constant(value)
    items = [_literal_of(one, facts) for one in value]
    return None if None in items else gast.Tuple(items, gast.Load())


def _of_text(written: Node, namespace: Namespace, facts: Facts) -> Node:
    """A default of a function that is known as text alone: its names mean what they mean in that text."""
    for item in find_nodes(written, gast.Name):
        meant = namespace.lookup(item.id)
        if meant is not None:
            item.id = name_in_receiver(item.id, meant, facts, facts.names.local, (namespace, item.id))
    return written


def check_undecorated(function: StaticFunction) -> None:
    """Refuse a function of which the text is known, and not what a decorator makes of it."""
    if function.decorators:
        raise DifferentiationError(
            "E5008",
            f"{function.qualname} is wrapped by a decorator, which may change what it does",
            "name a function without one, and let the decorated function call it",
        )


_LAZY = (gast.Lambda, gast.ListComp, gast.GeneratorExp, gast.SetComp, gast.DictComp)


def unpack_arguments(node: Node, work: Rewriting) -> Block:
    """The statements that take apart what the calls of a statement unpack, of those that are made in any case.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(p):\\n    def g(a, b):\\n        return a * b\\n    return g(*p)", after="desugar"))
    def f(p):
        a_, b_ = p
        return g(a_, b_)
    """
    made: Block = []
    for key in ("test", "iter", "value", "exc"):
        part = getattr(node, key, None)
        kinds = (gast.Starred, gast.keyword, gast.Call)
        if isinstance(part, gast.AST) and any(_unpacks(item, work.facts) for item in find_nodes(part, *kinds)):
            _visit(part, node, made, work, sure=True)
    if made:
        work.facts.origin.foreign[node] = None
    return made


def _unpacks(item: Node, facts: Facts) -> bool:
    """`*a`, `**d`, `tuple(a)`"""
    if isinstance(item, gast.Call):
        return in_tuple(item, facts) is not None
    return isinstance(item, gast.Starred) or (isinstance(item, gast.keyword) and item.arg is None)


def in_tuple(value: Node | None, facts: Facts) -> Node | None:
    """What `tuple(p)` and `(*p,)` take apart; None for anything else."""
    if isinstance(value, gast.Tuple) and len(value.elts) == 1 and isinstance(value.elts[0], gast.Starred):
        inside: Node = value.elts[0].value
        return inside
    if isinstance(value, gast.Call) and len(value.args) == 1 and not value.keywords:
        found = binding_of(value.func, facts, facts.names.local)
        held: Node = value.args[0]
        return held if found is not None and found.object is tuple else None
    return None


def options(function: Node, facts: Facts) -> dict[str, Node]:
    """Dicts of the function that are only read by constant keys, or unpacked: `opts = dict(axis=0)`."""
    found: dict[str, Node] = {}
    for node in statements(function.body):
        one = target(node)
        if one is not None and isinstance(node, gast.Assign) and _items(node.value, facts) is not None:
            found[one] = node.value
    if not found:
        return {}
    bound = [n.id for s in statements(function.body) for n in find_nodes(s, gast.Name) if isinstance(n.ctx, gast.Store)]
    for node in [n for s in function.body for n in walk(s)]:
        if isinstance(node, gast.keyword) and node.arg is None and isinstance(node.value, gast.Name):
            bound.append(f"**{node.value.id}")
        elif isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and isinstance(node.ctx, gast.Load):
            bound.append(f"**{node.value.id}" if isinstance(node.slice, gast.Constant) else "")
        elif isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
            bound.append(f"read {node.id}")
    return {
        one: value
        for one, value in found.items()
        if bound.count(one) == 1 and bound.count(f"read {one}") == bound.count(f"**{one}")
    }


def _items(value: Node, facts: Facts) -> dict[str, Node] | None:
    """The items of a dict's display, or of `dict(a=1)`."""
    if isinstance(value, gast.Dict):
        items = {getattr(key, "value", None): item for key, item in zip(value.keys, value.values, strict=True)}
        return {str(key): item for key, item in items.items()} if all(isinstance(key, str) for key in items) else None
    if isinstance(value, gast.Call) and not value.args and all(word.arg for word in value.keywords):
        found = binding_of(value.func, facts, facts.names.local)
        if found is not None and found.object is dict:
            return {str(word.arg): word.value for word in value.keywords}
    return None


def has_starred(node: Node, facts: Facts) -> bool:
    """Whether a call in a statement's value unpacks something, or an operation gets a tuple of further arguments."""
    calls = find_nodes(node.value, gast.Call)
    if any(isinstance(part, gast.Starred) for call in calls for part in call.args):
        return True
    made = [n for call in calls for n in call.keywords if in_tuple(n.value, facts) is not None]
    return bool(made) and any(handed_of(call, facts, facts.names.local) is not None for call in calls)


def _visit(value: Node, where: Node, made: Block, work: Rewriting, sure: bool) -> None:
    """Calls inside of an expression, innermost first; what may not be evaluated is left as it is."""
    if isinstance(value, _LAZY):
        return
    always = _always(value)
    for part in gast.iter_child_nodes(value):
        _visit(part, where, made, work, sure and any(part is one for one in always))
    if not isinstance(value, gast.Call):
        return
    if sure:
        _name_further_arguments(value, where, made, work)
    value.args = [item for part in value.args for item in _starred_display_items(part)]
    value.keywords = [item for word in value.keywords for item in _words(word, work)]
    places = [k for k, part in enumerate(value.args) if isinstance(part, gast.Starred)]
    if len(places) != 1 or not sure:
        return
    if takes_a_tuple(value, work.facts):
        value.args = [value.args[0].value]
        return
    filled = filled_parameters(value, work.facts)
    if not filled:
        return
    names = [work.name(one) for one in filled[places[0] : len(filled) - (len(value.args) - places[0] - 1)]]
    parts = gast.Tuple(elts=[name(one, gast.Store()) for one in names], ctx=gast.Store())
    if names:
        made.append(work.own(gast.Assign([parts], value.args[places[0]].value, None), where))
    value.args[places[0] : places[0] + 1] = [gast.copy_location(name(one), value) for one in names]


def _name_further_arguments(call: Node, where: Node, made: Block, work: Rewriting) -> None:
    """`a, b = p` before `solve_ivp(g, ..., args=tuple(p))`, if p is varied: as many as g takes, or both raise."""
    facts, local = work.facts, work.facts.names.local
    handed = handed_of(call, facts, local)
    if handed is None or handed.leading is None or handed.beside:
        return
    given = argument_of(call, handed.args, facts, local)
    whole, function = in_tuple(given, facts), argument_of(call, handed.parameter, facts, local)
    if whole is None or function is None:
        return
    if not reads_varied(whole, dict.fromkeys(work.moved), facts, local):
        return
    taken = filled_parameters(gast.Call(function, [], []), facts)
    names = [work.name(one) for one in taken[handed.leading :]]
    if names:
        parts = gast.Tuple([name(one, gast.Store()) for one in names], gast.Store())
        made.append(work.own(gast.Assign([parts], whole, None), where))
        named = gast.copy_location(gast.Tuple([name(one) for one in names], gast.Load()), call)
        call.args = [named if one is given else one for one in call.args]
        for word in call.keywords:
            word.value = named if word.value is given else word.value


def _always(value: Node) -> list[Node]:
    """The parts of an expression that are evaluated whenever it is."""
    if isinstance(value, gast.IfExp):
        return [value.test]
    if isinstance(value, gast.BoolOp):
        return [value.values[0]]
    if isinstance(value, gast.Compare):
        return [value.left, value.comparators[0]]
    return list(gast.iter_child_nodes(value))


def _starred_display_items(part: Node) -> list[Node]:
    """`*[a, b]` as `a, b`."""
    shown = part.value if isinstance(part, gast.Starred) else None
    return list(shown.elts) if isinstance(shown, gast.List | gast.Tuple) else [part]


def _words(word: gast.keyword, work: Rewriting) -> list[gast.keyword]:
    """`**{"axis": 0}` as `axis=0`; of a dict with a name, what is no constant is read from it."""
    if word.arg is not None:
        return [word]
    held = word.value.id if isinstance(word.value, gast.Name) else ""
    items = _items(work.options.get(held, word.value), work.facts)
    if items is None:
        return [word]
    made: list[gast.keyword] = []
    for key, item in items.items():
        read = copy(item) if not held or isinstance(item, gast.Constant) else expression(f"{held}[{key!r}]")
        made.append(gast.copy_location(gast.keyword(key, gast.copy_location(read, word.value)), word.value))
    return made


def takes_a_tuple(call: Node, facts: Facts) -> bool:
    """`x.reshape(*shape)` is `x.reshape(shape)`."""
    method = call.func.attr if isinstance(call.func, gast.Attribute) else ""
    alone = method in ("reshape", "transpose") and len(call.args) == 1
    return alone and binding_of(call.func, facts, facts.names.local) is None


def filled_parameters(call: Node, facts: Facts) -> list[str]:
    """The parameters that positional arguments fill, where it is certain how many those are."""
    found = function_of(call.func, facts, facts.names.local)
    if found is None or found.wanted is not None:
        return []
    if any(word.arg is None for word in call.keywords):
        return []
    given = {*found.words, *(str(word.arg) for word in call.keywords)}
    if found.tree is not None:
        return _of_tree(found.tree, given)[len(found.args) :]
    static = found.binding.static if found.binding is not None else None
    if static is not None:
        return [] if static.decorators else _of_tree(static.node, given)
    function = getattr(found.called, "__srcgrad_primal__", found.called)
    if isinstance(function, np.ufunc):
        return [f"x{k + 1}" for k in range(function.nin)] if not given else []
    if not isinstance(function, FunctionType):
        return []
    taken = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [(one.name, one.default is not inspect.Parameter.empty) for one in taken if one.kind in kinds]
    spread = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in taken)
    return [] if spread else _certain_parameters(places, given)[len(found.args) :]


def _of_tree(tree: Node | FunctionNode, given: set[str]) -> list[str]:
    """The same for a function that is known as text; a gast tree, or one of Python's."""
    arguments = tree.args
    names = [getattr(one, "id", None) or one.arg for one in [*arguments.posonlyargs, *arguments.args]]
    least = len(names) - len(arguments.defaults)
    return [] if arguments.vararg else _certain_parameters([(one, k >= least) for k, one in enumerate(names)], given)


def _certain_parameters(places: list[tuple[str, bool]], given: set[str]) -> list[str]:
    """The parameters before those given by name, if none of them has a default; [] if it is not certain."""
    open_ = [one for one, _ in places if one not in given]
    settled = [one for one, _ in places][: len(open_)] == open_
    return open_ if settled and not any(default for one, default in places if one in open_) else []


def arguments_of(call: Node, tree: Node, found: Function, facts: Facts) -> dict[str, Node]:
    """The arguments of a call by parameter; what is left over goes to `*args`, defaults to what is not given."""
    arguments = tree.args
    if found.tree is None and facts.module.is_packed(found.called):
        what = f"`{tree.name}` takes `*args` or `**kwargs`, and is called by what it calls"
        raise facts.refuse(call, "E5005", what, "name the parameters")
    positional = [a.id for a in arguments.posonlyargs + arguments.args]
    every = positional + [a.id for a in arguments.kwonlyargs]
    given = dict(zip(positional, call.args, strict=False)) | {w.arg: w.value for w in call.keywords}
    rest = call.args[len(positional) :]
    others = {n: given.pop(n) for n in list(given) if n not in every} if arguments.kwarg is not None else {}
    if (rest and arguments.vararg is None) or any(n not in every for n in given):
        raise facts.refuse(
            call, "E5005", "the arguments do not fit the function's parameters", f"it takes: {', '.join(every)}"
        )
    for parameter in every:
        value = given.get(parameter)
        if value is None:
            value = default_of(parameter, tree, found, facts)
        if value is None:
            raise facts.refuse(
                call, "E5008", f"the argument `{parameter}` is missing", f"the function takes: {', '.join(every)}"
            )
        given[parameter] = value
    made = {parameter: given[parameter] for parameter in every}
    handed = [n for s in tree.body for n in find_nodes(s, gast.Starred, gast.keyword)]
    if arguments.kwarg is not None or any(_hands_on(n, arguments.vararg) for n in handed):
        return made | _open(tree, rest, others, call, facts)
    if arguments.vararg is not None:
        made[arguments.vararg.id] = at(gast.Tuple(elts=rest, ctx=gast.Load()), call)
        arguments.vararg = None
    return made


def _hands_on(item: Node, spread: Node | None) -> bool:
    """Whether a function hands its `*args` on."""
    return isinstance(item, gast.Starred) and spread is not None and getattr(item.value, "id", "") == spread.id


def _open(tree: Node, rest: list[Node], others: dict[str, Node], call: Node, facts: Facts) -> dict[str, Node]:
    """What is left over of a call, by names for each that stand where the function hands it on.

    A dict of the function's own holds what is given by name, if the function does more with it than to hand it on.
    """
    arguments = tree.args
    spread, named = arguments.vararg, arguments.kwarg
    items = [facts.names.numbered_name(spread.id) for _ in rest] if spread is not None else []
    words = {key: facts.names.fresh(key) for key in others}
    alone = open_stars(tree, items, words)
    if not alone and named is not None:
        shown = gast.Dict([literal_node(key) for key in words], [name(held) for held in words.values()])
        tree.body.insert(0, at(assign(named.id, shown), tree.body[0]))
    if not alone and spread is not None and any(n.id == spread.id for s in tree.body for n in find_nodes(s, gast.Name)):
        _bind_spread(tree, spread.id, items, facts)
    arguments.vararg = arguments.kwarg = None
    return dict(zip(items, rest, strict=True)) | {words[key]: value for key, value in others.items()}


def _bind_spread(tree: Node, spread: str, items: list[str], facts: Facts) -> None:
    """`args = [args_1, args_2]` for `args = list(args)` where a function begins so, else `args = (args_1, args_2)`."""
    several = gast.Tuple([name(one) for one in items], gast.Load())
    named = [node for node in tree.body if any(n.id == spread for n in find_nodes(node, gast.Name))]
    call = named[0].value if target(named[0]) == spread else None
    of_list = isinstance(call, gast.Call) and [getattr(one, "id", "") for one in call.args] == [spread]
    found = binding_of(call.func, facts, own_names(tree)) if of_list and call is not None else None
    if call is not None and found is not None and found.object is list:
        named[0].value = at(gast.List(several.elts, gast.Load()), call)
        return
    tree.body.insert(0, at(assign(spread, several), tree.body[0]))


def bind(
    given: dict[str, Node],
    call: Node,
    tree: Node,
    found: Function,
    spelled: dict[str, str],
    where: Node,
    before: Block,
    facts: Facts,
) -> None:
    """Assign the arguments to the callee's parameters."""
    changes = Effects(facts).changed(found.called) if found.tree is None else _changed_parameters(tree)
    for parameter, value in given.items():
        bound = spelled.get(parameter)
        if _shares_name(parameter, value, tree, parameter in changes, call, facts):
            spelled[parameter] = value.id
            continue
        if bound is None:
            bound = spelled[parameter] = facts.names.numbered_name(parameter)
        made = at(assign(bound, value), where)
        facts.origin.foreign[made] = None
        before.append(made)


def _changed_parameters(tree: Node) -> dict[str, None]:
    writes = [(node, part) for node in statements(tree.body) if is_write(node) for part in stores(node)]
    return changed_on_entry(writes, tree, parameters(tree))


def _shares_name(parameter: str, value: Node, tree: Node, changes: bool, call: Node, facts: Facts) -> bool:
    """Whether a parameter goes by the name of its argument: one array, which the function may write into."""
    bound = {s for n in statements(tree.body) for s in stores(n) if not is_write(n) and not is_change(n, s)}
    if isinstance(value, gast.Name) and parameter not in bound and value.id not in bound:
        return True
    if isinstance(value, gast.BinOp | gast.UnaryOp) or (isinstance(value, gast.Call) and is_fresh(value, facts)):
        return False  # a new array, which nothing else holds
    if changes and not (parameter not in bound and isinstance(value, gast.Subscript | gast.Attribute)):
        held = value.id if isinstance(value, gast.Name) else ""
        kind = facts.kinds.of_names.get(held, facts.kinds.named.get(held, UNKNOWN))
        if held and not facts.request.generated and kind.tag in ("array", "scalar") and not facts.list_kind(held):
            return False  # a second name of an array: who reads the first one is looked at with all writes
        raise facts.refuse(
            value if "lineno" in value.__dict__ else call,
            "E5010",
            f"the called function writes into its argument `{parameter}`, which is not an array with a name here",
            "bind the array to a name, pass that, and do not bind the parameter anew in the function",
        )
    return False


def taken_as_real(function: object) -> tuple[str, ...]:
    """The parameters of a derivative with a text that were taken to be real when that text was made."""
    for mark in ("__srcgrad_real__", "real"):
        found = getattr(function, mark, None)
        if isinstance(found, tuple):
            return found
    return ()


def note_real(given: dict[str, Node], found: Function, spelled: dict[str, str], inner: Facts, facts: Facts) -> None:
    """The text of a derivative that a function calls was made for real arguments: `complex_values` sees to it."""
    real = () if found.tree is not None else taken_as_real(found.called)
    assumed = [*inner.values.assumed_real, *(p for p in given if p in real)]
    facts.values.assumed_real.update({spelled.get(one, one): None for one in assumed})


@record(frozen=True)
class Site:
    """Where calls are written out: the caller's facts and names, the functions that are being written out around."""

    facts: Facts
    own: frozenset[str]
    above: tuple[int, ...]
    expanded: Callable[[Block, Site], Block]
    held: Callable[[Node, Site], None]  # spells functions that are values
    varied: frozenset[str] | None = None  # names through which a derivative may flow; None for any name

    @property
    def local(self) -> frozenset[str]:
        """The names that the text binds, those of what has been written out among them."""
        return self.own | self.facts.names.local

    def alias(self, stem: str, binding: Binding) -> str:
        """A global name of the text for a function that is known by its value."""
        return name_in_receiver(stem, binding, self.facts, self.local)

    def is_of(self, function: object, kind: Callable[[Node], bool], generated: bool = True) -> bool:
        """Whether a called function has a source, and one of a kind; with `generated=False`, one of the user's."""
        try:
            source, _ = self.facts.module.source(function)
        except DifferentiationError:
            return False
        return (generated or not source.is_generated) and kind(source.tree)


def _expand(tree: Node, site: Site) -> None:
    """Write out the calls in a function that is written out itself, and spell the functions that are values in it."""
    tree.body = site.expanded(tree.body, site)
    site.held(tree, site)


def _arguments_in_lines(call: Node, tree: Node, found: Function, facts: Facts) -> dict[str, Node]:
    """The arguments of a call that its lines read by the names of parameters."""
    given = _write_into_arrays(tree, arguments_of(call, tree, found, facts), facts)
    by_totals = is_over_rows(call, facts) and is_composition(found.called)
    return _settle_literals(tree, given) if by_totals else given


def _settle_literals(tree: Node, given: dict[str, Node]) -> dict[str, Node]:
    """The arguments that are no literals; those that are stand in the function's lines, and settle its branches."""
    bound = [s for node in statements(tree.body) for s in stores(node)]
    literals = {p: v for p, v in given.items() if p not in bound and _literal_value(v) is not None}
    tree.body = _settled(tree.body, literals, bound)
    return {p: v for p, v in given.items() if p not in literals}


def _settled(block: Block, literals: dict[str, Node], bound: list[str]) -> Block:
    made: Block = []
    for node in block:
        if isinstance(node, gast.If):
            test = _literal_value(_with_literals(node.test, literals))
            if test is not None:
                made += _settled(node.body if test[0] else node.orelse, literals, bound)
                continue
            node.body, node.orelse = (_settled(side, literals, bound) for side in (node.body, node.orelse))
        elif isinstance(node, COMPOUND):
            node.body = _settled(node.body, literals, bound)
        node = _with_literals(node, literals)
        held = target(node)
        if held is not None and isinstance(node, gast.Assign) and bound.count(held) == 1 and _literal_value(node.value):
            literals[held] = node.value
            continue
        made.append(node)
    return made


def _with_literals(node: Node, literals: dict[str, Node]) -> Node:
    """A tree with literals in the place of names, and the side of a conditional expression that they tell."""
    rewrite_parts(node, lambda part: _with_literals(part, literals))
    if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) and node.id in literals:
        return copy(literals[node.id])
    if isinstance(node, gast.Call):
        usual = {"axis": None, "keepdims": False}
        node.keywords = [w for w in node.keywords if getattr(w.value, "value", "") is not usual.get(str(w.arg), "?")]
    test = _literal_value(node.test) if isinstance(node, gast.IfExp) else None
    return node if test is None else node.body if test[0] else node.orelse


def _literal_value(node: Node) -> tuple[object] | None:
    """What an expression of literals gives, in a tuple; None for any other."""
    plain = (
        gast.Constant,
        gast.Tuple,
        gast.UnaryOp,
        gast.Compare,
        gast.BoolOp,
        gast.operator,
        gast.unaryop,
        gast.cmpop,
    )
    if not all(isinstance(part, (*plain, gast.boolop, gast.expr_context)) for part in walk(node)):
        return None
    for part in find_nodes(node, gast.Compare):  # Python warns of `0 is None`
        alike = {gast.Is: gast.Eq, gast.IsNot: gast.NotEq}
        part.ops = [alike.get(type(one), type(one))() for one in part.ops]
    return (eval(gast.unparse(node), {"__builtins__": {}}),)


def written_out(call: Node, found: Function, where: Node, before: Block, site: Site) -> Node:
    """The value of a call as a name; the statements that compute it go to `before`."""
    facts = site.facts
    callee = _callee(found, site)
    if callee is not None and found.tree is not None and id(found.tree) in site.above:
        raise facts.refuse(
            call,
            "E5005",
            f"the nested function `{found.name}` calls itself, which is not accepted",
            "define it at module level, and pass it what it reads",
        )
    if callee is None or id(callee.tree) in site.above:
        check_handed(call, callee is not None, facts)
        return call
    source, namespace, original, tree = callee.source, callee.namespace, callee.tree, copy(callee.tree)
    inner = _facts_of(tree, found, Overlay(namespace), source, facts)
    if performed := isinstance(where, gast.Expr) and where.value is call:
        _end_procedure(tree, inner)
    outer = _outer_names(tree, found)
    tree.body = [node for node in tree.body if not isinstance(node, gast.Nonlocal)]
    given = _arguments_in_lines(call, tree, found, facts)
    known = {p: f for p, v in given.items() if (f := function_of(v, facts, site.local)) is not None}
    owners = {p: f for p, v in given.items() if p not in known and (f := as_owner(p, v, facts, site.local)) is not None}
    inner.names.functions.update(known | owners)
    functions = {p: f for p, f in known.items() if f.whole is None and f.cls is None}
    theirs = names_brought_along([*(known | owners).values()])
    around = frozenset().union(*(_names_around(f.owner) for f in functions.values() if f.tree is not None))
    theirs_around = around | (_names_around(facts) if functions else around)
    moved = _names_to_avoid_hiding(tree, found, theirs, theirs_around, outer, inner, facts)
    inner.names.around |= theirs_around - own_names(tree)  # what functions read that it hands on in turn
    given = {moved.get(p, p): v for p, v in given.items()}
    _front(tree, given, inner, facts)
    shared = outer | around | (_names_around(facts) if around else around) | {n for n in theirs if n in site.local}
    local = own_names(tree) - shared
    assert isinstance(inner.namespace, Overlay) and isinstance(facts.namespace, Overlay), "overlays were put there"
    inner.namespace.read.update(read_alone(source.tree) | read_by_both(source.tree, inner.namespace, facts.namespace))
    _expand(tree, replace(site, facts=inner, own=local | shared, above=(*site.above, id(original)), varied=None))
    check_given(tree, inner, local)
    facts.resolution.doubtful = facts.resolution.doubtful or inner.resolution.doubtful
    facts.request = replace(facts.request, generated=facts.request.generated or inner.request.generated)
    read = {n.id for node in tree.body for n in find_nodes(node, gast.Name)}
    functions = {p: f for p, f in functions.items() if is_ordinary(f) or p not in read}
    inside = _inner_arguments({p: v for p, v in given.items() if p not in functions}, tree, shared, found, inner, site)
    spelled = _new_names(tree, inner, site, shared | set(functions)) | _kept_functions(functions, read, site)
    tuples = displays(given, tree, where, before, facts) if facts.request.generated else {}
    handed = {p: v for p, v in given.items() if p not in {*functions, *tuples, *inside}}
    bind(handed, call, tree, found, spelled, where, before, facts)
    note_real(given, found, spelled, inner, facts)
    _settle(tree, spelled, tuples, inside, call, where, inner, facts)
    facts.kinds.records.update({spelled[one]: owner for one, owner in inner.kinds.records.items() if one not in given})
    before += tree.body[:-1]
    facts.namespace.parts += [(namespace, source), *_parts(inner.namespace)]
    value: Node = tree.body[-1].value
    if performed:
        return at(literal_node(None), call)
    if _needs_no_name(value, original, where, call) and not _is_part_of_kept(found, where, call):
        facts.origin.foreign[where] = None
        facts.resolution.kept.update({where: None} if found.kept and where.value is call else {})
        return value
    return _name_result(value, tree, where, before, call, facts, kept=found.kept)


def _kept_functions(functions: dict[str, Function], read: set[str], site: Site) -> dict[str, str]:
    """Names for parameters that are functions, of those that are read as values too: `self.act = act`."""
    kept = {p: f for p, f in functions.items() if p in read and f.binding is not None}
    return {p: site.alias(getattr(f.called, "__name__", f.name), f.binding) for p, f in kept.items()}  # type: ignore[arg-type]


def _end_procedure(tree: Node, inner: Facts) -> None:
    """A number at the end of a function whose result is not used, behind what it returns if that changes something."""
    last = tree.body[-1]
    if isinstance(last, gast.Return) and _is_performed(last, inner):
        tree.body[-1] = at(gast.Expr(last.value), last)
    if not isinstance(tree.body[-1], gast.Return):
        tree.body.append(at(gast.Return(literal_node(0.0)), tree))


def _is_performed(last: Node, inner: Facts) -> bool:
    """Whether what a function returns is computed for what it changes, where nobody uses it: `lambda a: a.sort()`."""
    local = inner.names.local
    calls = find_nodes(last.value, gast.Call) if last.value is not None else []
    if any(places_filled(n, inner, local, alone=n is last.value) for n in calls):
        return True
    return any(Effects(inner, augments=True).arguments(n, inner, local) for n in calls)


def _write_into_arrays(tree: Node, given: dict[str, Node], facts: Facts) -> dict[str, Node]:
    """`a[...] -= e` for `a -= e` of parameters that are given arrays, which change; numbers would be bound anew."""
    order = statements(tree.body)
    bound = {
        one for node in order if not isinstance(node, gast.AugAssign) for one in stores(node) if not is_write(node)
    }
    for node in order:
        held = node.target.id if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) else ""
        if held in bound or held not in given:
            continue
        value = given[held]
        kind = facts.kinds.of_expressions.get(value) or known_of(value, facts)
        if kind.tag == "array" and kind.ndim:
            whole = gast.Subscript(name(held), literal_node(...), gast.Store())
            node.target = at(whole, node.target)
    return given


def _facts_of(tree: Node, found: Function, namespace: Overlay, source: Source, facts: Facts) -> Facts:
    """What is known of a callee before it is looked at."""
    taken = facts.names.taken | names_in(tree)
    inner = Facts(source, namespace, Request(facts.request.mode, ()), facts.module, FunctionNames(set(taken)))
    inner.request = replace(inner.request, generated=source.is_generated, placed=True)
    inner.names.local, inner.resolution.doubtful = (
        own_names(tree),
        None if inner.request.generated else doubtful_write(tree, inner),
    )
    if found.owner is not None:
        inner.names.around = namespace.hidden = _names_around(found.owner)
        inner.names.functions.update(
            {n: f for n, f in found.owner.names.functions.items() if n not in inner.names.local}
        )
    return inner


def _front(tree: Node, given: dict[str, Node], inner: Facts, facts: Facts) -> None:
    """The callee in the language of the rest of the pipeline, for what the caller knows of the arguments."""
    inner.kinds.named = {p: _kind_given(v, facts) for p, v in given.items()}
    inner.kinds.of_names.update({p: kind for p, kind in inner.kinds.named.items() if kind.tag in ("dict", "list")})
    inner.kinds.apart = dict(facts.kinds.apart)
    inner.module.spell(tree, inner)


def _kind_given(value: Node, facts: Facts) -> Kind:
    """What is known of an argument, also of what `*args` and `**options` take in."""
    found = facts.kinds.of_expressions.get(value)
    if found is None and isinstance(value, gast.Tuple):
        return Kind("tuple", None, tuple((k, _kind_given(one, facts)) for k, one in enumerate(value.elts)))
    if found is None and isinstance(value, gast.Dict):
        keys = [getattr(key, "value", None) for key in value.keys]
        return Kind(
            "dict", None, tuple((k, _kind_given(one, facts)) for k, one in zip(keys, value.values, strict=True))
        )
    return found or known_of(value, facts)


def _needs_no_name(value: Node, original: Node, where: Node, call: Node) -> bool:
    """Whether a result may stand where the call does: a statement binds it anyway, or a straight function gives it."""
    if isinstance(where, gast.Assign) and where.value is call:
        if not isinstance(value, gast.Tuple) or _is_taken_apart(value, where):
            return True
    return isinstance(where, gast.Assign | gast.Return) and is_straight(original)


def _is_part_of_kept(found: Function, where: Node, call: Node) -> bool:
    """Whether a statement may bind a part, or a view, of what a cache keeps: `s = table(x).T`."""
    computed = isinstance(where.value, gast.BinOp | gast.Compare)
    return found.kept and isinstance(where, gast.Assign) and where.value is not call and not computed


def _is_taken_apart(value: Node, where: Node) -> bool:
    """Whether a statement binds each item of a tuple to a name of its own."""
    places = where.targets[0] if len(where.targets) == 1 else None
    if not isinstance(places, gast.Tuple) or len(places.elts) != len(value.elts):
        return False
    starred = any(isinstance(item, gast.Starred) for item in value.elts)
    return not starred and all(isinstance(one, gast.Name) for one in places.elts)


def _name_result(value: Node, tree: Node, where: Node, before: Block, call: Node, facts: Facts, *, kept: bool) -> Node:
    """A name for the result, which a statement of its own binds."""
    result = facts.names.fresh(f"{tree.name}_value")
    before.append(at(assign(result, value), where))
    facts.origin.foreign[before[-1]] = None
    facts.resolution.kept.update({before[-1]: None} if kept else {})
    return at(name(result), call)


def _inner_arguments(
    given: dict[str, Node], tree: Node, shared: set[str], found: Function, inner: Facts, site: Site
) -> dict[str, Node]:
    """Arguments that stand where they are read: of names that the function does not change."""
    if inner.values.assumed_real or (
        found.tree is None and taken_as_real(found.called)
    ):  # known by the parameters' names
        return {}
    changed = shared & {one for node in statements(tree.body) for one in stores(node)}
    kept = {p: v for p, v in given.items() if not changed.intersection(loads(v))}
    return put_in(kept, tree, lambda value: function_of(value, site.facts, site.local) is not None)


def _settle(
    tree: Node,
    spelled: dict[str, str],
    tuples: dict[str, Node],
    inside: dict[str, Node],
    call: Node,
    where: Node,
    inner: Facts,
    facts: Facts,
) -> None:
    """Give the callee's names their spelling in the caller, and put arguments where their parameters are read."""
    called = call if "lineno" in call.__dict__ else where
    stand: dict[str, Node | str] = {side_effects_place(p): getattr(v, "id", v) for p, v in inside.items()}
    for node in tree.body:
        for item in walk(node):
            if isinstance(item, gast.Name):
                item.id = spelled.get(item.id, item.id)
            facts.module.written.move(item, where, inner.place, called, facts.place)
        if stand:
            node.value = substitute(node.value, stand)
        for parameter, display in tuples.items():
            open_display(node, spelled.get(parameter, parameter), display)
        for item in statements([node]):
            facts.origin.foreign[item] = None


@record(frozen=True)
class Callee:
    """A function to write out: its text, where its names are looked up, its tree."""

    source: Source
    namespace: Namespace
    tree: Node


def _callee(found: Function, site: Site) -> Callee | None:
    if found.tree is not None:
        assert found.owner is not None, "a nested function has an owner"
        return Callee(found.owner.source, found.owner.namespace, found.tree)
    try:
        source, namespace = site.facts.module.source(found.called)
    except DifferentiationError:
        return None  # refused later, if a derivative flows through it
    return Callee(source, namespace, source.tree)


def _names_to_avoid_hiding(
    tree: Node,
    found: Function,
    theirs: dict[str, None],
    others: frozenset[str],
    outer: set[str],
    inner: Facts,
    facts: Facts,
) -> dict[str, str]:
    """New names for what would hide a variable that functions read which this one calls or gets."""
    if found.owner is not None:
        hidden = _names_around(found.owner) - outer
        others |= hidden.intersection(names_of_callees(tree, found.owner.names.functions))
    others |= set(parameters(tree)).intersection(RESERVED)
    if not theirs and not others:
        return {}
    moved = move_apart(tree, inner, others | set(theirs), outer, facts)
    bring_names(theirs, inner, facts)
    return moved


def _outer_names(tree: Node, found: Function) -> set[str]:
    """Names that a nested function shares with the function around it."""
    if found.owner is None:
        return set()
    nonlocal_names = {n for node in statements(tree.body) if isinstance(node, gast.Nonlocal) for n in node.names}
    return set(_names_around(found.owner) - scope_names(tree)) | nonlocal_names


def _names_around(owner: Facts | None) -> frozenset[str]:
    """The names of a function, and of those in which it stands."""
    return frozenset() if owner is None else owner.names.local | owner.names.around


def _parts(namespace: Namespace) -> list[tuple[Namespace, Source]]:
    return namespace.parts if isinstance(namespace, Overlay) else []


def _new_names(tree: Node, inner: Facts, site: Site, shared: set[str]) -> dict[str, str]:
    """New names for the callee's locals, and for what its global names mean."""
    facts, receiving = site.facts, site.local
    local = own_names(tree) - shared
    found: dict[str, str] = {}
    mine = set(facts.names.taken)
    facts.names.taken |= inner.names.taken
    assert isinstance(facts.namespace, Overlay), "an overlay was put there"
    for item in [n for s in tree.body for n in find_nodes(s, gast.Name)]:
        if item.id in found or item.id in shared:
            continue
        if item.id in local:
            found[item.id] = facts.names.numbered_name(item.id) if item.id in mine else item.id
            continue
        meant = inner.namespace.lookup(item.id)
        home = inner.namespace, item.id
        found[item.id] = item.id if meant is None else name_in_receiver(item.id, meant, facts, receiving, home, mine)
    facts.names.local |= {found[one] for one in local if one in found}
    return found
