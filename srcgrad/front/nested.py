"""Functions defined inside of the differentiated one: taken out of its body, to be written where they are called."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

import gast

from srcgrad.front.functions import Function, function_of, pulled_or_pushed
from srcgrad.front.hooks import is_hook
from srcgrad.front.makers import made_here, own_statements
from srcgrad.front.mixed import doubtful_write
from srcgrad.front.resolve import binding_of
from srcgrad.front.wanted import made_by
from srcgrad.trees import (
    Block,
    Node,
    at,
    children,
    constant,
    copy,
    header,
    holds,
    is_write,
    name,
    statements,
    stores,
    target,
    walk,
    written,
)

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain


def take_out(block: Block, work: Plain) -> Block:
    """The block without nested functions, lambdas and second names of functions; what their defaults hold is kept."""
    names = [s for node in own_statements(block) for s in stores(node)]
    names += [one for node in statements(block) if isinstance(node, gast.Nonlocal) for one in node.names]
    return _block(block, names, work)


def _block(block: Block, names: list[str], work: Plain) -> Block:
    made: Block = []
    for node in block:
        if isinstance(node, gast.FunctionDef):
            made += _define(node, node.name, node, names, work)
            continue
        made_before = made_here(node, work)
        if made_before:
            own = [s for one in made_before for s in stores(one)]
            names += [one for one in own if one not in names]
            made += _block(made_before, names, work)
            if isinstance(made_before[-1], gast.FunctionDef) and made_before[-1].name == target(node):
                continue
        before: Block = []
        bound = target(node)
        if isinstance(node, gast.Assign) and bound is not None and names.count(bound) == 1:
            if isinstance(node.value, gast.Lambda):
                made += _define(_as_function(node.value, bound), bound, node, names, work)
                continue
            _name_lambdas(node, before, names, work)
            known = _second_name(node, before, work)
            if known is not None:
                work.facts.functions[bound] = known
                work.facts.local |= {bound}
                made += before
                continue
        linear = _linear(node, before, names, work)
        if linear:
            made += linear
            continue
        for part in header(node):
            _lambdas(part, node, before, names, work)
        for which in ("body", "orelse"):
            if getattr(node, which, None):
                setattr(node, which, _block(getattr(node, which), names, work) or [at(gast.Pass(), node)])
        made += [*before, node]
    return made


def _define(tree: Node, spelled: str, like: Node, names: list[str], work: Plain) -> Block:
    """Keep a function; its defaults are computed where it is defined."""
    if names.count(spelled) > 1 or getattr(tree, "decorator_list", None):
        why = "a nested function that is bound twice" if names.count(spelled) > 1 else "a decorated nested function"
        raise work.facts.refuse(like, "E5005", f"{why} is not accepted", "give each function a name of its own")
    made: Block = []
    for table in (tree.args.defaults, tree.args.kw_defaults):
        for place, value in enumerate(table):
            if value is not None and not isinstance(value, gast.Constant):
                held = work.name(f"{spelled}_default")
                made.append(work.bind(held, value, like))
                table[place] = at(name(held), value)
    work.facts.functions[spelled] = Function(spelled, tree, work.facts)
    work.facts.local |= {spelled}
    return made


def _as_function(value: Node, spelled: str) -> Node:
    """A lambda as a definition."""
    body = [gast.copy_location(gast.Return(value.body), value.body)]
    made = gast.FunctionDef(spelled, value.args, body, [], None, None, [])
    return gast.copy_location(made, value)


def _second_name(node: Node, before: Block, work: Plain) -> Function | None:
    """`h = np.sin`, `h = partial(g, c)`: the function itself; arguments that are bound get names."""
    value = node.value
    if isinstance(value, gast.Call):
        derived = function_of(value, work.facts, work.facts.local)
        if derived is not None and derived.wanted is not None:
            return replace(derived, spelled=value)
        maker = binding_of(value.func, work.facts, work.facts.local)
        if maker is None or maker.object is not functools.partial or not value.args:
            return None
        for place, item in enumerate(value.args[1:], start=1):
            if not isinstance(item, gast.Constant):
                value.args[place] = _held(item, node, before, work)
        for word in value.keywords:
            if not isinstance(word.value, gast.Constant):
                word.value = _held(word.value, node, before, work)
    elif not isinstance(value, gast.Name | gast.Attribute):
        return None
    found = function_of(value, work.facts, work.facts.local)
    own = found is not None and found.binding is not None and isinstance(value, gast.Name) and found.args
    if found is None or own or found.kind is not None or found.value is not None:
        return None  # an object that can be called is an object as well
    return replace(found, spelled=value)


def _check_steady(call: Node, work: Plain) -> None:
    """What a pullback was made at must not change before it is called."""
    tree = work.facts.source.tree
    changed = {w for n in statements(tree.body) if is_write(n) for w in written(n)}
    held = {n.id for a in call.args for n in walk(a) if isinstance(n, gast.Name)}
    doubtful = doubtful_write(tree)
    if doubtful is not None or changed & held:
        raise work.facts.refuse(
            doubtful or call,
            "E5010",
            "an array changes in a function that holds a pullback, which may be of that array",
            "call `vjp(g, x)[1](seed)` in one expression, or write into a copy in a function of its own",
        )


def _name_lambdas(node: Node, before: Block, names: list[str], work: Plain) -> None:
    """`dg = grad(lambda z: z * x)`, `h = partial(lambda a, b: a * b, x)`: the lambda gets a name."""
    if not isinstance(node.value, gast.Call):
        return
    maker = binding_of(node.value.func, work.facts, work.facts.local)
    if (maker is not None and maker.object is functools.partial) or made_by(node.value, work.facts, work.facts.local):
        _lambdas(node.value, node, before, names, work)


def _linear(node: Node, before: Block, names: list[str], work: Plain) -> Block:
    """`y, pullback = vjp(g, x)` as `y = g(x)`, and a function `pullback` that is made where it is called."""
    pair = node.targets[0] if isinstance(node, gast.Assign) and len(node.targets) == 1 else None
    if not isinstance(pair, gast.Tuple) or made_by(node.value, work.facts, work.facts.local) not in (
        "vjp",
        "linearize",
    ):
        return []
    call = node.value
    _lambdas(call, node, before, names, work)
    spelled = getattr(pair.elts[-1], "id", "")
    if len(pair.elts) != 2 or names.count(spelled) != 1 or not call.args:
        raise work.facts.refuse(
            node, "E5005", "a pullback that is bound twice, or to no name", "write `y, pullback = vjp(g, x)`"
        )
    _check_steady(call, work)
    call.args[1:] = [a if isinstance(a, gast.Constant) else _held(a, node, before, work) for a in call.args[1:]]
    found = pulled_or_pushed(call, work.facts, work.facts.local)
    if found is None:
        return []
    work.facts.functions[spelled] = replace(found, spelled=gast.Subscript(call, constant(1), gast.Load()))
    work.facts.local |= {spelled}
    value = at(gast.Call(copy(call.args[0]), [copy(a) for a in call.args[1:]], []), call)
    return [*before, work.own(gast.Assign([pair.elts[0]], value, None), node)]


def _held(value: Node, node: Node, before: Block, work: Plain) -> Node:
    """A name that no later statement binds."""
    held = work.name("bound")
    before.append(work.bind(held, value, node))
    return at(name(held), value)


_BY_KEY = ("sorted", "min", "max", "sort")


def _lambdas(part: Node, node: Node, before: Block, names: list[str], work: Plain) -> None:
    """A lambda inside of an expression gets a name; one that only sorts stays."""
    if not holds(part, gast.Lambda):
        return
    for item in _outside_lambdas(part):
        keeps = isinstance(item, gast.Call) and getattr(item.func, "id", getattr(item.func, "attr", "")) in _BY_KEY
        keeps = keeps or is_hook(item, work.facts, work.facts.local)
        for key in item._fields:
            inner = getattr(item, key, None)
            values = inner if isinstance(inner, list) else [inner]
            for place, value in enumerate(values):
                if not isinstance(value, gast.Lambda) or keeps or getattr(item, "arg", "") == "key":
                    continue
                spelled = work.name("inner")
                before += _define(_as_function(value, spelled), spelled, node, [*names, spelled], work)
                swap = at(name(spelled), value)
                if isinstance(inner, list):
                    inner[place] = swap
                else:
                    setattr(item, key, swap)
                work.facts.foreign[node] = None


def _outside_lambdas(node: Node) -> Block:
    """What is below a node, without the bodies of lambdas: those in them are taken out where these are written out."""
    found: Block = [node]
    for part in found:
        found += [] if isinstance(part, gast.Lambda) else children(part)
    return found
