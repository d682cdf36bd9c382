"""Unpacking into what is no name: `a[i], o.k, *d["r"] = e` binds names first, and stores them one after the other."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.trees import BLOCKS, Block, Node, at, holds, inside, name, walk


def item_targets(function: Node, facts: Facts) -> Node:
    """Spell a target of several parts with names alone, and store what they hold from left to right, as Python does.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x, a, n):\\n    a[0], (a[n], *b) = x, 2.0 * x\\n    return a"
    >>> print(explain_text(text, after="item_targets"))
    def f(x, a, n):
        item, item_ = x, 2.0 * x
        a[0] = item
        item__, *b = item_
        a[n] = item__
        return a

    Of a name that stands in a target twice, the last one holds:

    >>> print(explain_text("def f(x):\\n    a, (a, b) = x\\n    return a", after="item_targets"))
    def f(x):
        item, (a, b) = x
        return a
    """
    if holds(function, gast.Tuple, gast.List, gast.For):
        for node in walk(function):
            if isinstance(node, gast.Assign | gast.For | gast.comprehension):
                targets = node.targets if isinstance(node, gast.Assign) else [node.target]
                renamed = [_last_holds(one, facts) for one in targets]
                facts.foreign.update({node: None} if any(renamed) else {})
        function.body = _block(function.body, facts)
    return function


def _last_holds(target: Node, facts: Facts) -> bool:
    """Give a name to each part of a target that a later part of the same name replaces at once; whether any has."""
    if not isinstance(target, gast.Tuple | gast.List):
        return False
    stored = [part for part in walk(target) if isinstance(part, gast.Name) and isinstance(part.ctx, gast.Store)]
    last = {part.id: part for part in _in_order(target, stored)}
    reads = {part.id for part in walk(target) if isinstance(part, gast.Name) and isinstance(part.ctx, gast.Load)}
    replaced = [part for part in stored if part is not last[part.id] and part.id not in reads]  # an index may read it
    for part in replaced:
        part.id = _fresh(facts)
    return bool(replaced)


def _in_order(target: Node, stored: list[Node]) -> list[Node]:
    """The names that a target stores, in the order in which it does."""
    if isinstance(target, gast.Tuple | gast.List):
        return [one for part in target.elts for one in _in_order(part, stored)]
    part = target.value if _is_starred(target) else target
    return [part] if any(part is one for one in stored) else []


def _block(block: Block, facts: Facts) -> Block:
    made: Block = []
    for node in block:
        for which in (*BLOCKS, "handlers"):
            inner = getattr(node, which, None)
            if isinstance(inner, list):
                setattr(node, which, _block(inner, facts))
        if isinstance(node, gast.For) and (_is_stored(node.target) or _is_deep(node.target)):
            node.body = [*_of_loop(node, facts), *node.body]
        made += _statement(node, facts) if isinstance(node, gast.Assign) else [node]
    return made


def _statement(node: Node, facts: Facts) -> Block:
    """An assignment, or those that it stands for."""
    if not any(_is_deep(one) for one in node.targets) or _is_parallel(node):
        return [node]
    if len(node.targets) == 1:
        return [node, *_stored(_names_taken(node.targets[0], facts), node, facts)]
    held = _fresh(facts)
    each = [gast.Assign([one], name(held), None) for one in node.targets]
    node.targets = [name(held, gast.Store(), like=node)]
    return [node, *_stored(each, node, facts)]


def _of_loop(node: Node, facts: Facts) -> Block:
    """A name for each part of a loop's target, and the statements that store them at the head of each trip."""
    if isinstance(node.target, gast.Tuple | gast.List):
        return _stored(_names_taken(node.target, facts), node, facts)
    held, part = _fresh(facts), node.target
    node.target = at(name(held, gast.Store()), part)
    return _stored([gast.Assign([part], name(held), None)], node, facts)


def _is_stored(one: Node) -> bool:
    return isinstance(one, gast.Subscript | gast.Attribute)


def _is_starred(one: Node) -> bool:
    return isinstance(one, gast.Starred)


def _is_deep(one: Node) -> bool:
    """Whether a target of several parts has one that is no name, or a star below its first level."""
    if not isinstance(one, gast.Tuple | gast.List):
        return False
    inner = [part for part in one.elts if isinstance(part, gast.Tuple | gast.List)]
    stored = any(_is_stored(part.value if _is_starred(part) else part) for part in one.elts)
    return stored or any(_is_deep(part) or any(map(_is_starred, part.elts)) for part in inner)


def _is_parallel(node: Node) -> bool:
    """`a[i], a[j] = a[j], a[i]`, of which both sides are displays of as many parts: `plain` has a spelling for it."""
    first, value = node.targets[0], node.value
    if len(node.targets) > 1 or not isinstance(first, gast.Tuple) or not isinstance(value, gast.Tuple):
        return False
    nested = any(isinstance(part, gast.Tuple | gast.List) for part in first.elts)
    starred = any(map(_is_starred, [*first.elts, *value.elts]))
    return not nested and not starred and len(first.elts) == len(value.elts)


def _names_taken(whole: Node, facts: Facts) -> Block:
    """Names in place of the parts of a target that are none, and the assignments that store these."""
    after: Block = []
    read: set[str] = set()  # by parts before, which are stored once the names of the target are bound
    for place, part in enumerate(whole.elts):
        inner = part.value if _is_starred(part) else part
        if isinstance(inner, gast.Name) and inner.id not in read:
            continue
        read.update(n.id for n in inside(inner, gast.Name) if isinstance(n.ctx, gast.Load))
        held = _fresh(facts)
        stand = at(name(held, gast.Store()), inner)
        whole.elts[place] = at(gast.Starred(stand, gast.Store()), part) if _is_starred(part) else stand
        after.append(gast.Assign([inner], name(held), None))
    return after


def _fresh(facts: Facts) -> str:
    made = facts.names.fresh("item")
    facts.local |= {made}
    return made


def _stored(made: Block, like: Node, facts: Facts) -> Block:
    """Statements at the line of the one that they are parts of; none of them is as the user wrote it."""
    facts.foreign[like] = None
    for node in made:
        facts.foreign[node] = None
        for item in walk(node):
            if "lineno" not in item.__dict__:
                at(item, like)
        at(node, like)
    return [one for node in made for one in _statement(node, facts)]
