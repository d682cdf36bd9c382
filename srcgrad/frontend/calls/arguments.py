"""Arguments of calls: those that are unpacked, and defaults.

Defaults of a live function: the values that they had when it was defined.

`f(t, *p)` and `f(**options)`: what is unpacked is named before the statement, by the parameters that it fills.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,  # defaults are arbitrary objects
)

import gast
import numpy as np

from srcgrad.core.bindings import Binding, StaticFunction, attribute
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Facts
from srcgrad.core.namespace import LiveNamespace, Namespace, Overlay
from srcgrad.core.source_text import Source, place
from srcgrad.core.trees import Block, Node, at, copy, expression, find_nodes, name, statements, target, walk
from srcgrad.frontend.calls.functions import Function, function_of
from srcgrad.frontend.context import name_in_receiver
from srcgrad.frontend.resolve import binding_of, trusted_constant

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


def _is_same(node: Node, value: Any, names: LiveNamespace) -> bool:
    """Whether the text of a default still means its value; what is no name, and reads names, is not told."""
    if isinstance(node, gast.Name | gast.Attribute):
        found = _binding_of_dotted_name(node, names)
        return found is not None and found.object is value
    reads = [n for n in walk(node) if isinstance(n, gast.Name)] if node is not None else []
    return not reads or trusted_constant(value) is None


def _binding_of_dotted_name(node: Node, names: LiveNamespace) -> Binding | None:
    """What a name such as `np.pi` means now."""
    if isinstance(node, gast.Name):
        return names.lookup(node.id)
    base = _binding_of_dotted_name(node.value, names) if isinstance(node, gast.Attribute) else None
    return None if base is None else attribute(base, node.attr)


def _settle_default(node: Node, value: Any, function: FunctionType) -> Node:
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
    arguments = tree.args
    positional = arguments.posonlyargs + arguments.args
    pairs = dict(
        zip([a.id for a in positional][len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    )
    pairs |= dict(zip([a.id for a in arguments.kwonlyargs], arguments.kw_defaults, strict=True))
    written = pairs.get(parameter)
    if written is None or isinstance(written, gast.Constant) or found.tree is not None:
        return copy(written) if isinstance(written, gast.AST) else written
    if not callable(found.called):
        return _of_text(copy(written), facts.module.source(found.called)[1], facts)
    held = facts.names.numbered_name(f"{parameter}_default")
    assert isinstance(facts.namespace, Overlay), "an overlay was put there"
    value = inspect.signature(found.called).parameters[parameter].default
    facts.namespace.extra[held] = Binding("object", value)
    return name(held)


def _of_text(written: Node, namespace: Namespace, facts: Facts) -> Node:
    """A default of a function that is known as text alone: its names mean what they mean in that text."""
    for item in [n for n in walk(written) if isinstance(n, gast.Name)]:
        meant = namespace.lookup(item.id)
        if meant is not None:
            item.id = name_in_receiver(item.id, meant, facts, facts.local, (namespace, item.id))
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
        if isinstance(part, gast.AST) and any(_unpacks(item) for item in find_nodes(part, gast.Starred, gast.keyword)):
            _visit(part, node, made, work, sure=True)
    if made:
        work.facts.foreign[node] = None
    return made


def _unpacks(item: Node) -> bool:
    """`*a`, `**d`"""
    return isinstance(item, gast.Starred) or (isinstance(item, gast.keyword) and item.arg is None)


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
        found = binding_of(value.func, facts, facts.local)
        if found is not None and found.object is dict:
            return {word.arg: word.value for word in value.keywords}
    return None


def has_starred(node: Node) -> bool:
    """Whether a call in a statement's value unpacks something."""
    calls = [n for n in walk(node.value) if isinstance(n, gast.Call)]
    return any(isinstance(part, gast.Starred) for call in calls for part in call.args)


def _visit(value: Node, where: Node, made: Block, work: Rewriting, sure: bool) -> None:
    """Calls inside of an expression, innermost first; what may not be evaluated is left as it is."""
    if isinstance(value, _LAZY):
        return
    always = _always(value)
    for part in gast.iter_child_nodes(value):
        _visit(part, where, made, work, sure and any(part is one for one in always))
    if not isinstance(value, gast.Call):
        return
    value.args = [item for part in value.args for item in _starred_display_items(part)]
    value.keywords = [item for word in value.keywords for item in _words(word, work)]
    places = [k for k, part in enumerate(value.args) if isinstance(part, gast.Starred)]
    if len(places) != 1 or not sure:
        return
    if _takes_a_tuple(value, work):
        value.args = [value.args[0].value]
        return
    filled = _filled_parameters(value, work.facts)
    if not filled:
        return
    names = [work.name(one) for one in filled[places[0] : len(filled) - (len(value.args) - places[0] - 1)]]
    parts = gast.Tuple(elts=[name(one, gast.Store()) for one in names], ctx=gast.Store())
    if names:
        made.append(work.own(gast.Assign([parts], value.args[places[0]].value, None), where))
        value.args[places[0] : places[0] + 1] = [gast.copy_location(name(one), value) for one in names]


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


def _words(word: Node, work: Rewriting) -> list[Node]:
    """`**{"axis": 0}` as `axis=0`; of a dict with a name, what is no constant is read from it."""
    if word.arg is not None:
        return [word]
    held = word.value.id if isinstance(word.value, gast.Name) else ""
    items = _items(work.options.get(held, word.value), work.facts)
    if items is None:
        return [word]
    made = []
    for key, item in items.items():
        read = copy(item) if not held or isinstance(item, gast.Constant) else expression(f"{held}[{key!r}]")
        made.append(gast.copy_location(gast.keyword(key, gast.copy_location(read, word.value)), word.value))
    return made


def _takes_a_tuple(call: Node, work: Rewriting) -> bool:
    """`x.reshape(*shape)` is `x.reshape(shape)`."""
    method = call.func.attr if isinstance(call.func, gast.Attribute) else ""
    alone = method in ("reshape", "transpose") and len(call.args) == 1
    return alone and binding_of(call.func, work.facts, work.facts.local) is None


def _filled_parameters(call: Node, facts: Facts) -> list[str]:
    """The parameters that positional arguments fill, where it is certain how many those are."""
    found = function_of(call.func, facts, facts.local)
    if found is None or found.wanted is not None:
        return []
    given = {*found.words, *(word.arg for word in call.keywords)}
    if None in given:
        return []
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


def _of_tree(tree: Node, given: set[str]) -> list[str]:
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
