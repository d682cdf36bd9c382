"""Variables of inner scopes that go by a name which the function reads from outside: they get names of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import gast

from srcgrad.core.facts import Names
from srcgrad.core.source_text import Source
from srcgrad.core.trees import Node, copy, walk

_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_FUNCTIONS = (gast.FunctionDef, gast.Lambda)


@dataclass(eq=False)
class Scope:
    """What a function, a lambda or a comprehension binds, and where in it names stand."""

    node: Node
    outer: Scope | None
    bound: dict[str, None] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)  # name -> `nonlocal` or `global`
    names: list[Node] = field(default_factory=list)  # Name nodes, and definitions of functions
    fixed: dict[str, None] = field(default_factory=dict)  # names that are no nodes: of imports and patterns

    @property
    def function(self) -> Scope:
        """The scope itself, or that of the function in which a comprehension stands."""
        return self.outer.function if isinstance(self.node, _COMPREHENSIONS) and self.outer is not None else self

    def home(self, identifier: str) -> Scope | None:
        """Where a name that stands here is bound; None for what is outside of the whole text."""
        if self.elsewhere.get(identifier) == "global":
            return None
        if identifier in self.bound:
            return self
        return None if self.outer is None else self.outer.home(identifier)


def rename_shadows(source: Source) -> Source:
    """The source with the tree that `tree_without_shadows` gives."""
    tree = tree_without_shadows(source.tree)
    return source if tree is source.tree else replace(source, tree=tree)


def tree_without_shadows(tree: Node) -> Node:
    """The tree, or a copy in which no inner variable has the name of what the function reads from outside.

    >>> text = "def f(x):\\n    g = lambda k: k * x\\n    return g(k)"
    >>> print(gast.unparse(tree_without_shadows(gast.parse(text).body[0])).strip())
    def f(x):
        g = lambda k_: k_ * x
        return g(k)
    """
    if not any(isinstance(n, (*_COMPREHENSIONS, *_FUNCTIONS)) for n in walk(tree) if n is not tree):
        return tree
    if any(isinstance(n, gast.ClassDef) for n in walk(tree)) or not any(_clashes(_scopes(tree))):
        return tree
    tree = copy(tree)
    scopes = _scopes(tree)
    taken = Names({n for scope in scopes for n in [*scope.bound, *scope.elsewhere, *map(_name_of_item, scope.names)]})
    for scope, identifier in list(_clashes(scopes)):
        _rename(scope, identifier, taken.fresh(f"{identifier}_"), scopes)
    return tree


def _clashes(scopes: list[Scope]) -> Iterator[tuple[Scope, str]]:
    """Variables that have the name of something else which is read around them."""
    outside = {_name_of_item(n) for scope in scopes for n in scope.names if scope.home(_name_of_item(n)) is None}
    around: dict[Scope, set[str]] = {}
    naming: dict[str, dict[Scope, None]] = {}
    for scope in scopes:
        for identifier in dict.fromkeys(map(_name_of_item, scope.names)):
            naming.setdefault(identifier, {})[scope] = None
        own = scope.function
        for identifier in map(_name_of_item, scope.names):
            home = scope.home(identifier)
            if home is not None and home.function is not own:
                around.setdefault(own, set()).add(identifier)
    closures = _closures(scopes)
    for scope in scopes[1:]:
        inner = around.get(scope.function, set()) if scope.function is not scope else set()
        read = [one for name in dict.fromkeys(map(_name_of_item, scope.names)) for one in closures.get(name, ())]
        inner = inner | {identifier for identifier, home in read if home is not scope}
        for identifier in scope.bound:
            named = naming.get(identifier, {})
            if identifier in outside or identifier in inner or _is_captured(scope, identifier, named):
                if identifier not in scope.fixed and not _is_named(scope, identifier, scopes):
                    yield scope, identifier


def _closures(scopes: list[Scope]) -> dict[str, dict[tuple[str, Scope], None]]:
    """By name of a nested function: the variables around it that it, or another one that it names, reads."""
    own = {scope: _name(scope, scopes) for scope in scopes[1:] if isinstance(scope.node, _FUNCTIONS)}
    found: dict[str, dict[tuple[str, Scope], None]] = {name: {} for name in own.values() if name}
    named: dict[str, dict[str, None]] = {name: {} for name in found}
    for scope in scopes[1:]:
        name = own.get(scope.function, "")
        for identifier in map(_name_of_item, scope.names) if name else ():
            home = scope.home(identifier)
            if identifier in found:
                named[name][identifier] = None
            elif home is not None and home.function is not scope.function:
                found[name][identifier, home] = None
    for _ in found:
        for name, others in named.items():
            found[name].update(one for other in others for one in found[other].items())
    return found


def _is_captured(scope: Scope, identifier: str, naming: Iterable[Scope]) -> bool:
    """Whether a function reads a variable of its comprehension, and something else has the name as well.

    `naming` are the scopes in which the name stands.
    """
    if scope.function is scope:
        return False
    homes = [(one, one.home(identifier)) for one in naming]
    captured = any(home is scope and one.function is not scope.function for one, home in homes)
    return captured and any(home is not scope for _, home in homes)


def _is_named(scope: Scope, identifier: str, scopes: list[Scope]) -> bool:
    """Whether calls that are not known may give an argument by the name of a parameter."""
    if not isinstance(scope.node, _FUNCTIONS) or identifier not in {a.id for a in _parameters(scope.node)}:
        return False
    returned = [n.value for n in walk(scopes[0].node) if isinstance(n, gast.Return)]
    name = _name(scope, scopes)
    return any(value is scope.node or (name and getattr(value, "id", "") == name) for value in returned) or any(
        word.arg == identifier and not _is_own(call, scope, scopes) and _is_inner(call, scopes)
        for call in walk(scopes[0].node)
        if isinstance(call, gast.Call)
        for word in call.keywords
    )


def _is_inner(call: Node, scopes: list[Scope]) -> bool:
    """Whether what a call calls may be a function of this text."""
    if not isinstance(call.func, gast.Name):
        return not isinstance(call.func, gast.Attribute)
    return any(call.func in scope.names and scope.home(call.func.id) is not None for scope in scopes)


def _is_own(call: Node, scope: Scope, scopes: list[Scope]) -> bool:
    return isinstance(call.func, gast.Name) and call.func.id == _name(scope, scopes)


def _name(scope: Scope, scopes: list[Scope]) -> str:
    """The name that a nested function, or a lambda, is bound to."""
    if isinstance(scope.node, gast.FunctionDef):
        return str(scope.node.name)
    assigned = (n for n in walk(scopes[0].node) if isinstance(n, gast.Assign) and n.value is scope.node)
    return str(next((getattr(n.targets[0], "id", "") for n in assigned), ""))


def _rename(scope: Scope, identifier: str, made: str, scopes: list[Scope]) -> None:
    for each in scopes:
        for item in each.names if each.home(identifier) is scope else ():
            if _name_of_item(item) == identifier:
                setattr(item, "id" if isinstance(item, gast.Name) else "name", made)
        for item in walk(each.node) if each.home(identifier) is scope else ():
            if isinstance(item, gast.Nonlocal) and identifier in item.names and identifier in each.elsewhere:
                item.names = [made if one == identifier else one for one in item.names]
    if isinstance(scope.node, _FUNCTIONS):
        for call in [n for n in walk(scopes[0].node) if isinstance(n, gast.Call) and _is_own(n, scope, scopes)]:
            for word in call.keywords:
                word.arg = made if word.arg == identifier else word.arg
    scope.bound = {made if one == identifier else one: None for one in scope.bound}


def _name_of_item(item: Node) -> str:
    return str(item.id if isinstance(item, gast.Name) else item.name)


def _parameters(function: Node) -> list[Node]:
    given = function.args
    several = [one for one in (given.vararg, given.kwarg) if one is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *several]


def _scopes(tree: Node) -> list[Scope]:
    """The scope of a function, and all scopes in it."""
    found = [Scope(tree, None)]
    _enter(found[0], found)
    return found


def _enter(scope: Scope, found: list[Scope]) -> None:
    """Look at what stands in a scope."""
    node = scope.node
    if isinstance(node, _FUNCTIONS):
        for parameter in _parameters(node):
            scope.names.append(parameter)
            scope.bound[parameter.id] = None
        todo = list(node.body) if isinstance(node.body, list) else [node.body]
        for item in [n for part in todo for n in _nodes_of_scope(part)]:
            if isinstance(item, gast.Nonlocal | gast.Global):
                word = "global" if isinstance(item, gast.Global) else "nonlocal"
                scope.elsewhere.update(dict.fromkeys(item.names, word))
    else:
        results = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        parts = [[part.target, *part.ifs, *([part.iter] if k else [])] for k, part in enumerate(node.generators)]
        todo = [*results, *(one for part in parts for one in part)]
    for part in todo:
        _look(part, scope, found)


def _nodes_of_scope(node: Node) -> Iterator[Node]:
    """What is below a node, other functions apart."""
    yield node
    for child in gast.iter_child_nodes(node):
        if not isinstance(node, _FUNCTIONS):
            yield from _nodes_of_scope(child)


def _look(node: Node, scope: Scope, found: list[Scope]) -> None:
    if isinstance(node, gast.Name):
        scope.names.append(node)
        if not isinstance(node.ctx, gast.Load) and node.id not in scope.elsewhere:
            scope.bound[node.id] = None
        return
    if isinstance(node, gast.NamedExpr):
        scope.function.names.append(node.target)
        if node.target.id not in scope.function.elsewhere:
            scope.function.bound[node.target.id] = None
        _look(node.value, scope, found)
        return
    if isinstance(node, _COMPREHENSIONS):
        _look(node.generators[0].iter, scope, found)
        _open_scope(node, scope, found)
        return
    if isinstance(node, _FUNCTIONS):
        outside = [*getattr(node, "decorator_list", []), *node.args.defaults, *node.args.kw_defaults]
        outside += [one.annotation for one in _parameters(node)] + [getattr(node, "returns", None)]
        if isinstance(node, gast.FunctionDef):
            scope.names.append(node)
            if node.name not in scope.elsewhere:
                scope.bound[node.name] = None
        for part in [one for one in outside if one is not None]:
            _look(part, scope, found)
        _open_scope(node, scope, found)
        return
    for spelled in _strings(node):
        scope.bound[spelled] = scope.fixed[spelled] = None
    for child in gast.iter_child_nodes(node):
        _look(child, scope, found)


def _open_scope(node: Node, scope: Scope, found: list[Scope]) -> None:
    found.append(Scope(node, scope))
    _enter(found[-1], found)


def _strings(node: Node) -> list[str]:
    """Names that a node binds and that are no nodes."""
    if isinstance(node, gast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    held = getattr(node, "name", None) if isinstance(node, gast.MatchAs | gast.MatchStar) else None
    return [held] if isinstance(held, str) else []
