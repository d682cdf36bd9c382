"""Arguments that the function writes into: the derivative works on a copy, and changes nothing of its caller's."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.changing import is_change, within
from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.procedures import entering
from srcgrad.front.step import Step
from srcgrad.front.webs import parameters
from srcgrad.parts import is_swap
from srcgrad.runtime import owned
from srcgrad.trees import Node, at, inside, is_write, name, statement, statements, stores, written


def entry(function: Node, facts: Facts) -> Node:
    """Copy a written argument at the start, unless another function gave it, which would miss what is written.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(x, n):\\n    x[0] = n\\n    return x", after="entry"))
    def f(x, n):
        x = owned(x, (n,))
        x[0] = n
        return x
    """
    if facts.generated or _calls_itself(function) or (facts.called and facts.step is None):
        return function
    writes = [
        (node, w) for node in statements(function.body) for w in written(node) if is_write(node) or is_change(node, w)
    ]
    writes += [(node, w) for node in statements(function.body) for w in within(node) if w in facts.lists]
    writes += [(node, w) for node in statements(function.body) for w in _changed_by_step(node, facts)]
    changed = entering(writes, function, parameters(function))
    if facts.step is not None:
        return _step(function, changed, facts)
    copies = []
    outside = _outside(function, facts) if changed else []
    for parameter in parameters(function):
        if parameter in changed:
            beside = [p for p in parameters(function) if p != parameter] + outside
            others = gast.Tuple(elts=list(map(name, beside)), ctx=gast.Load())
            spelled = facts.library("owned")
            facts.namespace = Overlay(facts.namespace, {spelled: Binding("object", owned)})
            made = statement(f"array = {spelled}(array, others)", array=parameter, others=others)
            facts.foreign[made] = facts.copies[made] = None
            facts.entered[parameter] = next((node for node, one in writes if one == parameter), function)
            copies.append(at(made, function))
    start = 1 if _is_docstring(function.body[0]) else 0
    function.body[start:start] = copies
    return function


def _outside(function: Node, facts: Facts) -> list[str]:
    """Values of a module known as text that a function reads, which the argument may show; a call knows live ones."""
    local = {*parameters(function), *(s for node in statements(function.body) for s in stores(node))}
    read = dict.fromkeys(n.id for node in function.body for n in inside(node, gast.Name) if n.id not in local)
    found = [(one, facts.namespace.lookup(one)) for one in read]
    return [one for one, meant in found if meant is not None and meant.kind == "value" and not _is_number(meant)]


def _is_number(meant: Binding) -> bool:
    value = gast.parse(meant.expression).body[0].value if meant.expression else None
    return isinstance(getattr(value, "operand", value), gast.Constant)


def _changed_by_step(node: Node, facts: Facts) -> list[str]:
    """Arrays that the loop changes whose trips a statement calls."""
    call = node.value if isinstance(node, gast.Assign) and isinstance(node.value, gast.Call) else None
    found = facts.namespace.lookup(call.func.id) if call is not None and isinstance(call.func, gast.Name) else None
    step = None if found is None else found.object
    return [w for w in stores(node) if w in step.changed] if isinstance(step, Step) else []


def _step(function: Node, changed: dict[str, None], facts: Facts) -> Node:
    """A step works on a copy of what it changes, and gives it back."""
    copies = []
    own = parameters(function)
    swapped = [
        s
        for node in statements(function.body)
        if is_swap(node) and set(stores(node)) & set(changed)
        for s in stores(node)
    ]
    for parameter in dict.fromkeys([*changed, *(s for s in swapped if s in own)]):
        if parameter not in facts.step.state:
            raise facts.refuse(
                function,
                "E5010",
                f"`{parameter}` is changed in a checkpointed loop where that cannot be seen",
                f"write `{parameter}[...] = ...` in the body of the loop itself",
            )
        made = statement(f"{parameter} = {parameter}.copy()")
        facts.foreign[made] = None
        copies.append(at(made, function))
    function.body[:0] = copies
    return function


def _calls_itself(function: Node) -> bool:
    return any(
        isinstance(n.func, gast.Name) and n.func.id == function.name
        for node in function.body
        for n in inside(node, gast.Call)
    )


def _is_docstring(node: Node) -> bool:
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)
