"""Arguments that the function writes into: the derivative works on a copy, and changes nothing of its caller's."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.lists import is_change
from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.procedures import entering
from srcgrad.front.webs import parameters
from srcgrad.runtime import owned
from srcgrad.trees import Node, at, is_write, name, statement, statements, walk, written


def entry(function: Node, facts: Facts) -> Node:
    """Copy a written argument at the start, unless another function gave it, which would miss what is written.

    >>> from srcgrad.explain import explain_text
    >>> print(explain_text("def f(x, n):\\n    x[0] = n\\n    return x", after="entry"))
    def f(x, n):
        x = owned(x, (n,))
        x[0] = n
        return x
    """
    if facts.called or facts.generated or _calls_itself(function):
        return function
    writes = [
        (node, w) for node in statements(function.body) for w in written(node) if is_write(node) or is_change(node, w)
    ]
    changed = entering(writes, function, parameters(function))
    copies = []
    for parameter in parameters(function):
        if parameter in changed:
            others = gast.Tuple(elts=[name(p) for p in parameters(function) if p != parameter], ctx=gast.Load())
            spelled = facts.library("owned")
            facts.namespace = Overlay(facts.namespace, {spelled: Binding("object", owned)})
            made = statement(f"{parameter} = {spelled}({parameter}, others)", others=others)
            facts.foreign[made] = facts.copies[made] = None
            copies.append(at(made, function))
    start = 1 if _is_docstring(function.body[0]) else 0
    function.body[start:start] = copies
    return function


def _calls_itself(function: Node) -> bool:
    return any(
        isinstance(n, gast.Call) and isinstance(n.func, gast.Name) and n.func.id == function.name
        for node in function.body
        for n in walk(node)
    )


def _is_docstring(node: Node) -> bool:
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)
