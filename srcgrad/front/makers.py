"""Functions that functions make: `f = poly(a, b)`, where `poly` returns one that it defines, as that definition."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import gast

from srcgrad.errors import DifferentiationError
from srcgrad.front.functions import Function, function_of
from srcgrad.front.namespace import Binding
from srcgrad.front.solutions import SOMETIMES, exchange
from srcgrad.rules import rule_of
from srcgrad.trees import BLOCKS, Block, Node, at, copy, inside, name, statements, target, walk

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain


def made_here(node: Node, work: Plain) -> Block:
    """The statements for functions that calls in a statement make, whose places names take.

    What the maker computes is computed where it is called, under names of its own.

    >>> from srcgrad.phases import explain_text
    >>> text = "def poly(a):\\n    return lambda t: a * t\\ndef f(x):\\n    g = poly(x)\\n    return g(2.0) * g(x)"
    >>> print(explain_text(text, after="inlined"))
    def f(x):
        a = x
        return a * 2.0 * (a * x)
    """
    made: Block = []
    if isinstance(node, gast.Assign | gast.AugAssign | gast.Return | gast.Expr | gast.AnnAssign) and node.value:
        bound = target(node)
        whole = _parts(node.value, work) if bound is not None and node.value is not None else None
        if whole is not None and bound is not None:
            return _written(node.value, whole, bound, node, work)
        if any(_parts(part, work) is not None for part in inside(node, gast.Call)):
            exchange(node, partial(_named, node=node, made=made, work=work), SOMETIMES)
    return made


def _named(part: Node, node: Node, made: Block, work: Plain) -> Node:
    whole = _parts(part, work)
    if whole is None:
        return part
    spelled = work.name("inner")
    made += _written(part, whole, spelled, node, work)
    work.facts.foreign[node] = None
    return at(name(spelled), part)


def _parts(call: Node, work: Plain) -> Node | None:
    """The definition of a function that defines another one and returns it, for a call whose arguments fit."""
    found = function_of(call.func, work.facts, work.facts.local) if isinstance(call, gast.Call) else None
    if found is None or found.wanted is not None or found.args or found.words or work.facts.module is None:
        return None
    tree = found.tree if found.tree is not None else _of_module(found, work)
    if tree is None or not _makes(tree) or any(isinstance(n, gast.Return) for n in own_statements(tree.body[:-1])):
        return None
    if any(isinstance(n, gast.Nonlocal | gast.Global) for s in tree.body for n in walk(s)):
        return None
    if any(_locals(n) & _locals(tree) for s in tree.body for n in walk(s) if isinstance(n, _FUNCTIONS)):
        return None
    return tree if _arguments(call, tree) is not None else None


def _makes(tree: Node) -> bool:
    """Whether a function ends with one that it defines."""
    last = tree.body[-1]
    return isinstance(last, gast.Return) and not (tree.args.vararg or tree.args.kwarg) and _returned(tree) is not None


def _of_module(found: Function, work: Plain) -> Node | None:
    """The tree of a function of the module, if all that it reads means the same where it is called."""
    if rule_of(found.called) is not None:
        return None  # an operation, whose source may be thousands of lines
    try:
        source, namespace = work.facts.module.source(found.called)
    except DifferentiationError:
        return None
    if not _makes(source.tree):
        return None
    own: set[str] = set()
    for node in walk(source.tree):
        own |= _locals(node) if isinstance(node, _FUNCTIONS) else set()
    for one in {n.id for s in source.tree.body for n in walk(s) if isinstance(n, gast.Name)} - own:
        meant, known = namespace.lookup(one), work.facts.namespace.lookup(one)
        if one in work.facts.local or meant is None or known is None or not _same(meant, known):
            return None
    return source.tree


def _same(one: Binding, other: Binding) -> bool:
    """Whether two names mean one thing; objects are told apart by identity, since arrays compare by element."""
    texts = [(b.kind, b.static, b.module, b.expression) for b in (one, other)]
    return one.kind != "unknown" and one.object is other.object and texts[0] == texts[1]


_FUNCTIONS = (gast.FunctionDef, gast.Lambda)


def own_statements(block: Block) -> Block:
    """The statements of a function, without those of functions in it."""
    found: Block = []
    for node in block:
        found.append(node)
        if not isinstance(node, gast.FunctionDef):
            found += [n for which in BLOCKS for n in own_statements(getattr(node, which, None) or [])]
    return found


def _locals(tree: Node) -> set[str]:
    """What a function binds, functions in it apart: parameters, names, the names of these functions."""
    given = tree.args
    names = {a.id for a in [*given.posonlyargs, *given.args, *given.kwonlyargs]}
    body = own_statements(tree.body) if isinstance(tree.body, list) else []
    inside = [n for s in body if not isinstance(s, gast.FunctionDef) for n in walk(s) if isinstance(n, gast.Name)]
    names |= {n.id for n in inside if isinstance(n.ctx, gast.Store)}
    return names | {s.name for s in body if isinstance(s, gast.FunctionDef)}


def _returned(tree: Node) -> Node | None:
    """The nested function, or lambda, that a function returns."""
    value = tree.body[-1].value
    if isinstance(value, gast.Lambda):
        return value
    inner = {n.name: n for n in tree.body if isinstance(n, gast.FunctionDef) and not n.decorator_list}
    bound = [n.id for n in walk(tree) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)]
    called = getattr(value, "id", "")
    return inner.get(called) if called not in bound else None


def _arguments(call: Node, tree: Node) -> dict[str, Node] | None:
    """What each parameter gets; None where that is not certain."""
    names = [a.id for a in [*tree.args.posonlyargs, *tree.args.args]]
    every = [*names, *(a.id for a in tree.args.kwonlyargs)]
    if len(call.args) > len(names) or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    late = names[len(names) - len(tree.args.defaults) :]
    defaults = dict(zip(late, tree.args.defaults, strict=True))
    defaults |= {a.id: d for a, d in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True) if d is not None}
    given = dict(zip(names, call.args, strict=False)) | {w.arg: w.value for w in call.keywords}
    known = {key: value for key, value in defaults.items() if isinstance(value, gast.Constant)} | given
    return {one: known[one] for one in every} if set(known) == set(every) else None


def _written(call: Node, tree: Node, bound: str, node: Node, work: Plain) -> Block:
    """Assignments of the arguments, what the maker computes, and the definition under the name that it gets."""
    given = _arguments(call, tree)
    assert given is not None, "they fit"
    own, inner = sorted(_locals(tree)), copy(_returned(tree))
    if isinstance(inner, gast.Lambda):
        result = gast.copy_location(gast.Return(inner.body), inner.body)
        inner = gast.copy_location(gast.FunctionDef(bound, inner.args, [result], [], None, None, []), inner)
    before = [copy(n) for n in tree.body[:-1] if getattr(n, "name", "") != getattr(tree.body[-1].value, "id", "")]
    moved = {one: work.name(one) for one in own}
    for item in [i for n in [*before, inner] for i in walk(n)]:
        if isinstance(item, gast.Name) and item.id in moved:
            item.id = moved[item.id]
        elif isinstance(item, gast.FunctionDef) and item is not inner and item.name in moved:
            item.name = moved[item.name]
        at(item, node)
    inner.name = bound
    made = [work.bind(moved[one], copy(value), node) for one, value in given.items()]
    for one in statements(before):
        work.facts.foreign[one] = None
    return [*made, *before, inner]
