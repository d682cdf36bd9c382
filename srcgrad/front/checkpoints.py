"""`checkpointed(...)` in the headers of loops and `checkpoint(f)(x)`: what is kept little of, to be computed again."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.functions import function_of
from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.plain import own_names
from srcgrad.front.resolve import binding_of
from srcgrad.front.steps import lifted
from srcgrad.names import LOOP
from srcgrad.recompute import Checkpoint, checkpoint, checkpointed
from srcgrad.trees import BLOCKS, Block, Node, at, constant, inside, name, walk


def checkpoints(function: Node, facts: Facts) -> Node:
    """Make a step of the body of each checkpointed loop; where nothing is kept, the loop is as any other.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x, n):\\n    for t in srcgrad.checkpointed(range(n), slots=3):\\n        x = x * x\\n    return x"
    >>> print(explain_text("import srcgrad\\n" + text, after="checkpoints"))
    def f(x, n):
        for t in srcgrad.checkpointed(range(n), 3):
            x = f_step(x)
        return x
    """
    if facts.generated or not _mentions_marker(function, facts):
        return function
    facts.module.checkpoints = True
    kept = facts.recomputes
    local = facts.local
    facts.local = facts.local | own_names(function)
    _calls(function, kept, facts)
    function.body = _block(function.body, function, kept, facts)
    facts.local = facts.local | local
    for item in [n for s in function.body for n in walk(s)]:
        if _is_marker(item, facts) and getattr(item, "id", "") != LOOP:
            raise facts.refuse(
                item,
                "E5025",
                "`checkpointed` stands in the header of a loop, `checkpoint` around a function that is called",
                "write `for t in checkpointed(range(n)):`, `while checkpointed(test):` or `checkpoint(f)(x)`",
            )
    return function


def _mentions_marker(function: Node, facts: Facts) -> bool:
    names = {n.id: n for s in function.body for n in inside(s, gast.Name)}
    attributes = [n for s in function.body for n in inside(s, gast.Attribute)]
    return any(_is_marker(n, facts) for n in [*names.values(), *attributes])


def _is_marker(node: Node, facts: Facts) -> bool:
    """Whether an expression means `checkpointed`, `checkpoint` or a call of one of them."""
    if not isinstance(node, gast.Name | gast.Attribute):
        return False
    found = binding_of(node, facts, facts.local)
    return found is not None and (found.object is checkpointed or found.object is checkpoint)


def _block(block: Block, function: Node, kept: bool, facts: Facts) -> Block:
    made: Block = []
    for position, node in enumerate(block):
        key = {gast.For: "iter", gast.While: "test"}.get(type(node), "")
        marked: Node = getattr(node, key) if key else None
        slots = _slots(marked, facts)
        if slots is not None:
            setattr(node, key, marked.args[0])
        if slots is not None and kept:
            block[position] = node
            made += lifted(node, slots, function, facts)
            continue
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, _block(getattr(node, which), function, kept, facts))
        made.append(node)
    return made


def _slots(node: Node, facts: Facts) -> Node | None:
    """The number of states that a marked header keeps, None's literal if it does not say; None for other headers."""
    if not isinstance(node, gast.Call):
        return None
    found = binding_of(node.func, facts, facts.local)
    if found is None or found.object is not checkpointed:
        return None
    words = {word.arg: word.value for word in node.keywords}
    if len(node.args) != 1 or set(words) - {"slots"}:
        raise facts.refuse(
            node, "E5025", "`checkpointed` takes what the loop runs over, and `slots=`", "name the slots: `slots=20`"
        )
    slots = words.get("slots", constant(None))
    if not isinstance(slots, gast.Name | gast.Constant):
        raise facts.refuse(slots, "E5025", "`slots` is a number or a name", "bind the number to a name before the loop")
    return slots


def _calls(function: Node, kept: bool, facts: Facts) -> None:
    """`checkpoint(f)(x)` as a call of `f`, by a name that says so."""
    for call in [n for s in function.body for n in walk(s) if isinstance(n, gast.Call)]:
        maker = call.func
        found = binding_of(maker.func, facts, facts.local) if isinstance(maker, gast.Call) else None
        if found is None or found.object is not checkpoint or len(maker.args) != 1 or maker.keywords:
            continue
        inner = maker.args[0]
        known = function_of(inner, facts, facts.local)
        plain = known is not None and known.binding is not None and not known.args and not known.words
        if not kept:
            call.func = inner
            continue
        if not plain:
            raise facts.refuse(
                inner,
                "E5025",
                "a checkpointed function that is defined here, or has arguments already, is not accepted",
                "define it at module level, with all that it reads as parameters",
            )
        assert known is not None and known.binding is not None, "it has just been looked at"
        spelled = facts.names.fresh(known.name) if known.name in facts.local else known.name
        meant = Binding("object", Checkpoint(known.called)) if known.binding.static is None else known.binding
        facts.namespace = Overlay(facts.namespace, {spelled: meant})
        call.func = at(name(spelled), inner)
