"""Derivatives and what they take over as pieces of one output."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType

import gast

from srcgrad import runtime
from srcgrad.emit.definition import definition
from srcgrad.emit.globals import Globals, of_function
from srcgrad.emit.meaning import (
    Builtin,
    Copied,
    Found,
    Import,
    Made,
    Meaning,
    Outside,
    Unknown,
    from_home,
    imported,
    is_builtin,
    literal,
)
from srcgrad.emit.pieces import Piece
from srcgrad.emit.text import placed
from srcgrad.errors import Place
from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding, LiveNamespace, Namespace
from srcgrad.front.overlay import found_in
from srcgrad.front.parse import place
from srcgrad.front.static import StaticFunction, StaticModule
from srcgrad.trees import Node, expression, walk


@dataclass(frozen=True)
class Lookup:
    """Where the names of derivatives are looked up.

    `made` are the names of all derivatives of the output; without `text`, the output is executed at once,
    and may refer to objects of the running program.
    """

    made: Mapping[str, object]
    text: Globals | None


def derivative(name: str, tree: Node, facts: Facts, lookup: Lookup) -> Piece:
    """The piece that holds a derivative."""
    if isinstance(facts.namespace, LiveNamespace):
        _settle(tree.args, facts.namespace)
    chosen = {spelled: identifier for identifier, spelled in facts.imports.items()}
    user = {node.id for node in walk(facts.source.tree) if isinstance(node, gast.Name)}

    def find(parts: tuple[str, ...]) -> Found:
        root = parts[0]
        if root in chosen:
            return Found(_library(chosen[root], facts, lookup))
        if root in lookup.made:
            clash = f"the output has a function {root} of its own"
            return Found(Unknown(clash) if root in user and root != name else Made(root))
        return _user(facts, (facts.globals_as.get(root, root), *parts[1:]), lookup)

    def at(root: str) -> Place:
        read = facts.globals_as.get(root, root)
        nodes = (n for n in walk(facts.source.tree) if isinstance(n, gast.Name) and n.id == read)
        return facts.place(next(nodes, facts.source.tree))

    printed = placed(tree)
    text = "\n".join(line for line, _ in printed).rstrip("\n")
    return Piece(text, Made(name), find, at, chosen, lines=tuple(getattr(node, "lineno", 0) for _, node in printed))


def _settle(arguments: Node, namespace: LiveNamespace) -> None:
    """Replace defaults that read names which are gone: `def f(x, k=k0)` with a k0 of the function around."""
    if not arguments.defaults and not any(arguments.kw_defaults):
        return
    live = inspect.signature(namespace.function).parameters

    def settled(parameter: Node, default: Node) -> Node:
        reads = [] if default is None else [n.id for n in walk(default) if isinstance(n, gast.Name)]
        if parameter.id not in live or all(namespace.lookup(name) for name in reads):
            return default
        spelled = literal(live[parameter.id].default)
        return expression("None" if spelled is None else spelled.text)

    positional = [*arguments.posonlyargs, *arguments.args]
    last = positional[len(positional) - len(arguments.defaults) :]
    arguments.defaults = [settled(*pair) for pair in zip(last, arguments.defaults, strict=True)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    arguments.kw_defaults = [settled(*pair) for pair in named]


def _library(identifier: str, facts: Facts, lookup: Lookup) -> Meaning:
    """A name that templates read: NumPy, a module, a function of the runtime, an object of a rule's own."""
    value = facts.library_values.get(identifier)
    if isinstance(value, ModuleType) and sys.modules.get(value.__name__, value) is not value and lookup.text is None:
        return Outside(id(value), value)  # NumPy by itself, where the user has replaced something in it
    if identifier in ("np", "njit"):
        return Import("numpy") if identifier == "np" else Import("numba", "njit")
    if value is None:
        value = getattr(runtime, identifier)
    if isinstance(value, StaticFunction):
        return of_function(value)
    ships = not str(getattr(value, "__module__", "")).startswith("srcgrad.opencl.")  # those are put in at the end
    if lookup.text is not None and lookup.text.embed and ships and not isinstance(value, ModuleType):
        return _one(lookup.text.object(value, identifier), identifier)
    return imported(value) or _object(value, identifier, facts, lookup)


def _one(target: Meaning | StaticModule, name: str) -> Meaning:
    return Unknown(f"{name} is a module, used as a value") if isinstance(target, StaticModule) else target


def _user(facts: Facts, parts: tuple[str, ...], lookup: Lookup) -> Found:
    namespace, known_as = found_in(facts.namespace, parts[0])
    found = _known(facts, namespace, (known_as, *parts[1:]), lookup)
    if known_as != parts[0] and found.meaning == Builtin(known_as):
        return Found(Import("builtins", known_as))
    return found


def _known(facts: Facts, namespace: Namespace, parts: tuple[str, ...], lookup: Lookup) -> Found:
    """What a name means in the namespace that knows it."""
    if isinstance(namespace, StaticModule):
        assert lookup.text is not None, "a function known only as text is written into a file"
        return lookup.text.find(namespace, parts)
    bound = namespace.lookup(parts[0])
    if lookup.text is not None and bound is not None and bound.kind == "module" and bound.module is not None:
        return lookup.text.find(bound.module, parts, bound)
    home = None if bound is None or lookup.text is None else _home(bound, parts[0])
    if home is not None and lookup.text is not None:
        return lookup.text.find(home[0], (home[1], *parts[1:]))
    if bound is None or bound.kind != "object":
        return Found(Builtin(parts[0]))  # a NameError, as in the user's function
    return Found(_object(bound.compiled or bound.object, parts[0], facts, lookup))


def _home(bound: Binding, name: str) -> tuple[StaticModule, str] | None:
    """Where a function or a value that is known only as text stands, and by what name."""
    if bound.static is not None:
        return bound.static.module, bound.static.qualname
    if bound.kind != "value" or bound.module is None:
        return None
    known = [name, *bound.module.table]
    same = (n for n in known if getattr(bound.module.lookup(n), "expression", None) == bound.expression)
    return bound.module, next(same, name)


def _object(value: object, name: str, facts: Facts, lookup: Lookup) -> Meaning:
    ours = str(getattr(value, "__module__", "")).startswith(runtime.__name__)
    if lookup.text is not None and lookup.text.embed and ours:  # read by an operation that is written out
        return _one(lookup.text.object(value, name), name)
    found = Builtin(name) if is_builtin(name, value) else imported(value)
    if found is not None:
        return found
    if lookup.text is None:
        return Outside(id(value), value)
    namespace = facts.namespace
    if isinstance(namespace, LiveNamespace) and isinstance(namespace.function, FunctionType):
        home = from_home(namespace.function, name, value)
        if home is not None:
            return home
    return literal(value) or Unknown("it is an object of a running program")


def follower(look: Globals | None) -> Callable[[Meaning], Piece | None]:
    """What makes the piece that a name needs; None for names that need none."""

    def follow(meaning: Meaning) -> Piece | None:
        if look is not None and isinstance(meaning, Copied):
            return _copied(meaning, look)
        return None

    return follow


def _copied(meaning: Copied, look: Globals) -> Piece:
    module, name = meaning.module, meaning.name
    node: ast.AST | None = meaning.function.node if meaning.function else module.table[name][-1].node

    def find(parts: tuple[str, ...]) -> Found:
        if parts == (name,) and meaning.function is not None and look.member(module, name) == meaning:
            return Found(meaning)
        return look.find(module, parts)

    def at(root: str) -> Place | None:
        reads = [n for n in ast.walk(node or module.tree) if isinstance(n, ast.Name) and n.id == root]
        return place(module.label, module.lines, reads[0]) if reads else None

    line = 0 if meaning.function else module.table[name][-1].line
    return Piece(definition(meaning, name, tidy=look.embed), meaning, find, at, {}, line)
