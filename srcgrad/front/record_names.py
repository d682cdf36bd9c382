"""A parameter that holds an object and is bound to something else: what it means from there on has its own name."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.webs import separate
from srcgrad.kinds import contained
from srcgrad.trees import Block, Node, holds, inside, walk

_SCOPES = (gast.FunctionDef, gast.Lambda, gast.ClassDef)


def record_names(function: Node, facts: Facts) -> None:
    """Give a second name to what is bound to such a parameter, where no use mixes it with the object.

    `p = p.x * 2; return p` is `p_1 = p.x * 2; return p_1`. A field of the object is then never read from what is none.
    """
    objects = [one for one, kind in contained(facts.kinds) if kind.tag == "object" or kind.owner is not None]
    for parameter in objects:
        _without_aliases(parameter, function, facts)
    bound = [one for one in objects if any(_binds(one, node) for node in function.body)]
    scopes = [scope for node in function.body for scope in inside(node, *_SCOPES)]
    if not bound or any(_reads(one, *scopes) for one in bound):
        return  # a nested function has what the name means when it is called
    if any(holds(node, gast.With, gast.Try, *_SCOPES) for node in function.body):
        for parameter in bound:
            _divide(parameter, function.body, facts)
    else:
        separate(function, facts, bound)


def _without_aliases(parameter: str, function: Node, facts: Facts) -> None:
    """Call an object by one name: that of the parameter, also where `q = p` has given it another one."""
    bound = [one.id for node in function.body for one in inside(node, gast.Name) if not isinstance(one.ctx, gast.Load)]
    own = {a.id for a in inside(function.args, gast.Name)}
    scopes = [scope for node in function.body for scope in inside(node, *_SCOPES)]
    kept: Block = []
    for node in function.body:
        held = getattr(node.value, "id", "") if isinstance(node, gast.Assign) and len(node.targets) == 1 else ""
        alias = getattr(node.targets[0], "id", "") if held == parameter else ""
        alone = bound.count(alias) == 1 and parameter not in bound and alias not in own and not _reads(alias, *scopes)
        if alias != parameter and not (alias and alone):
            kept.append(node)
            continue
        for other in function.body if alias != parameter else ():
            _rename(alias, parameter, other, facts)
    function.body = kept


def _divide(parameter: str, block: Block, facts: Facts) -> None:
    """The same where an assignment of the body itself binds it: all that follows reads what that has bound."""
    for place, node in enumerate(block):
        if not _binds(parameter, node):
            continue
        if isinstance(node, gast.Assign) and not _reads(parameter, *node.targets):
            second = facts.names.numbered(parameter)
            facts.local |= {second}
            for one in [*node.targets, *block[place + 1 :]]:
                _rename(parameter, second, one, facts)
            facts.foreign[node] = None
        return


def _binds(name: str, node: Node) -> bool:
    return any(not isinstance(n.ctx, gast.Load) for n in _named(name, node))


def _reads(name: str, *nodes: Node) -> bool:
    return any(isinstance(n.ctx, gast.Load) for node in nodes for n in _named(name, node))


def _named(name: str, node: Node) -> list[Node]:
    """Where a part of a function has a name of that function's, and not one of a function that stands in it."""
    functions = inside(node, gast.FunctionDef, gast.Lambda)
    own = {id(n) for one in functions if _is_own(name, one) for n in _within(one)}
    return [n for n in inside(node, gast.Name) if n.id == name and id(n) not in own]


def _is_own(name: str, function: Node) -> bool:
    """Whether a nested function binds the name itself."""
    nodes = [n for part in _body(function) for n in walk(part)]
    shared = any(isinstance(n, gast.Nonlocal) and name in n.names for n in nodes)
    stored = any(getattr(n, "id", "") == name and not isinstance(n.ctx, gast.Load) for n in nodes)
    return not shared and (stored or any(getattr(n, "id", "") == name for n in _parameters(function)))


def _within(function: Node) -> list[Node]:
    return [*_parameters(function), *(n for part in _body(function) for n in inside(part, gast.Name))]


def _body(function: Node) -> list[Node]:
    return function.body if isinstance(function.body, list) else [function.body]


def _parameters(function: Node) -> list[Node]:
    return [n for n in inside(function.args, gast.Name) if isinstance(n.ctx, gast.Param)]


def _rename(old: str, new: str, node: Node, facts: Facts) -> None:
    for held in [n for n in walk(node) if isinstance(n, gast.stmt)]:
        if _named(old, held):
            facts.foreign[held] = None
    for n in _named(old, node):
        n.id = new
