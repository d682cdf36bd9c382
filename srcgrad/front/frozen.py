"""Frozen distributions, `scipy.stats.norm(m, s).logpdf(x)`: the method of the distribution with all arguments."""

from __future__ import annotations

import inspect
import sys
from functools import partial
from typing import TYPE_CHECKING, Any  # distributions are objects of SciPy

import gast

from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.resolve import binding_of
from srcgrad.front.solutions import exchange
from srcgrad.identity import is_distribution
from srcgrad.trees import (
    BLOCKS,
    Block,
    Node,
    at,
    copy,
    expression,
    inside,
    name,
    statements,
    stores,
    target,
    walk,
)

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain

_METHODS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")


def frozen(function: Node, work: Plain) -> None:
    """Spell calls of their methods out; one with a name gives its parameters names, and is no object any more.

    >>> from srcgrad.phases import explain_text
    >>> text = "from scipy import stats\\ndef f(x, m):\\n    d = stats.norm(m, scale=2.0)\\n    return d.logpdf(x)"
    >>> print(explain_text(text, after="plain"))
    def f(x, m):
        d_loc = m
        return stats.norm.logpdf(x, loc=d_loc, scale=2.0)
    """
    made = {target(n): n.value for n in statements(function.body) if _words(getattr(n, "value", None), work)}
    bound = [s for n in statements(function.body) for s in stores(n)]
    known: dict[str, tuple[Node, dict[str, Node]]] = {}
    for held, call in made.items():
        if held is not None and bound.count(held) == 1 and _asked_only(function, held, work):
            known[held] = (call.func, {})
    if known:
        function.body = _without(function.body, known, work)
    for node in statements(function.body):
        if any(item.attr in _METHODS for item in inside(node, gast.Attribute)):
            exchange(node, partial(_spelled, node=node, known=known, work=work))


def _words(call: Node, work: Plain) -> dict[str, Node] | None:
    """The parameters that the call of a distribution gives, by name; None for any other expression."""
    if not isinstance(call, gast.Call) or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    found = binding_of(call.func, work.facts, work.facts.local)
    if found is None or not is_distribution(found.object) or not callable(found.object):
        return None
    names = _parameters(found.object)
    given = dict(zip(names, call.args, strict=False)) | {w.arg: w.value for w in call.keywords}
    return given if given and len(call.args) <= len(names) and all(key in names for key in given) else None


def _parameters(distribution: Any) -> list[str]:
    if hasattr(distribution, "shapes"):
        shapes = [one.strip() for one in (distribution.shapes or "").split(",") if one.strip()]
        return [*shapes, "loc", *(["scale"] if hasattr(distribution, "pdf") else [])]
    method = getattr(distribution, "logpdf", None) or distribution.logpmf
    return list(inspect.signature(method).parameters)[1:]


def _asked_only(function: Node, held: str, work: Plain) -> bool:
    """Whether nothing but these methods of a name is called, and nothing of it in nested functions."""
    nested = [known.tree for known in work.facts.functions.values() if known.tree is not None]
    if any(isinstance(n, gast.Name) and n.id == held for tree in nested for n in walk(tree)):
        return False
    every = [n for s in function.body for n in walk(s)]
    reads = [n for n in every if isinstance(n, gast.Name) and n.id == held and isinstance(n.ctx, gast.Load)]
    return len(reads) == len([n for n in every if _method(n) == held])


def _method(node: Node) -> str:
    """The name of `d.logpdf(...)`."""
    function = node.func if isinstance(node, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr not in _METHODS:
        return ""
    return str(getattr(function.value, "id", ""))


def _without(block: Block, known: dict[str, tuple[Node, dict[str, Node]]], work: Plain) -> Block:
    """The block with names for the parameters of distributions in the place of these."""
    made: Block = []
    for node in block:
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, _without(getattr(node, which), known, work))
        held = target(node)
        if held not in known:
            made.append(node)
            continue
        for key, value in (_words(node.value, work) or {}).items():
            words = known[held][1]
            words[key] = value
            if not isinstance(value, gast.Constant):
                spelled = work.name(f"{held}_{key}")
                made.append(work.bind(spelled, value, node))
                words[key] = name(spelled)
    return made or [at(gast.Pass(), block[0])]


def _spelled(part: Node, node: Node, known: dict[str, tuple[Node, dict[str, Node]]], work: Plain) -> Node:
    function = part.func if isinstance(part, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr not in _METHODS:
        return part
    if getattr(function.value, "id", "") in known:
        distribution, words = known[function.value.id]
    elif _words(function.value, work):
        distribution, words = function.value.func, _words(function.value, work) or {}
    else:
        distribution, words = _of_module(function.value, work)
        if distribution is None:
            return part
    part.func = at(expression(f"d.{function.attr}", d=copy(distribution)), function)
    part.keywords += [at(gast.keyword(key, at(copy(value), part)), part) for key, value in words.items()]
    work.facts.foreign[node] = None
    for item in walk(part):
        if "lineno" not in item.__dict__:
            at(item, node)
    return part


def _of_module(owner: Node, work: Plain) -> tuple[Node, dict[str, Node]]:
    """The distribution of a frozen one that the module has made, and what it holds."""
    found = binding_of(owner, work.facts, work.facts.local)
    held: Any = None if found is None or found.kind != "object" else found.object
    inner = getattr(held, "dist", None)
    if not is_distribution(held) or inner is None:
        return None, {}
    public = getattr(sys.modules["scipy.stats"], str(getattr(inner, "name", "")), None)
    if type(public) is not type(inner):
        return None, {}
    spelled = work.facts.library(str(getattr(inner, "name", "")), public)
    work.facts.namespace = Overlay(work.facts.namespace, {spelled: Binding("object", public)})
    names = _parameters(public)
    words = {names[k]: expression(f"d.args[{k}]", d=copy(owner)) for k in range(len(held.args))}
    words |= {key: expression(f"d.kwds[{key!r}]", d=copy(owner)) for key in held.kwds}
    return name(spelled), words
