"""Targets with a star: `a, *b, c = e` as `a = e[0]`, a list of what is between, `c = e[-1]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.front.resolve import binding_of
from srcgrad.trees import Block, Node, expression, name

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain


def spread(node: Node, work: Plain) -> Block | None:
    """The statements that take a sequence apart; None for any other statement.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(x):\\n    *head, last = x\\n    return last * sum(head)", after="plain"))
    def f(x):
        head = []
        for k in range(0, len(x) - 1):
            head.append(x[k])
        last = x[-1]
        return last * sum(head)
    """
    first = node.targets[0] if isinstance(node, gast.Assign) and len(node.targets) == 1 else None
    places = first.elts if isinstance(first, gast.Tuple | gast.List) else []
    stars = [k for k, item in enumerate(places) if isinstance(item, gast.Starred)]
    if len(stars) != 1 or not all(isinstance(getattr(p, "value", p), gast.Name) for p in places):
        return None
    if isinstance(node.value, gast.Tuple | gast.List):
        return _written(node, places, stars[0], work)
    if _may_have_no_length(node.value, work):
        return None
    made: Block = []
    held = getattr(node.value, "id", "")
    if not held or held in [n.id for p in places for n in [getattr(p, "value", p)]]:
        held = work.name("items")
        made.append(work.bind(held, node.value, node))
    after = len(places) - stars[0] - 1
    for k, item in enumerate(places):
        if k != stars[0]:
            place = k if k < stars[0] else k - len(places)
            made.append(work.bind(item.id, expression(f"{held}[{place}]"), node))
            continue
        count = work.name("k")
        end = f"len({held}) - {after}" if after else f"len({held})"
        each = gast.comprehension(name(count, gast.Store()), expression(f"range({k}, {end})"), [], 0)
        work.lists[item.value.id] = "list"
        rest = work.bind(item.value.id, gast.ListComp(expression(f"{held}[{count}]"), [each]), node)
        made += work.block([rest])
    return made


def _may_have_no_length(value: Node, work: Plain) -> bool:
    """Whether an expression may be an iterator: calls of anything but NumPy, generators."""
    if not isinstance(value, gast.Call):
        return isinstance(value, gast.GeneratorExp | gast.SetComp | gast.DictComp)
    found = binding_of(value.func, work.facts, work.facts.local)
    return str(getattr(None if found is None else found.object, "__module__", "")).partition(".")[0] != "numpy"


def _written(node: Node, targets: list[Node], place: int, work: Plain) -> Block | None:
    """`a, *b = x, y, z` as `a, b = x, [y, z]`."""
    values = node.value.elts
    after = len(targets) - place - 1
    if any(isinstance(item, gast.Starred) for item in values) or len(values) < len(targets) - 1:
        return None
    rest = gast.List(elts=values[place : len(values) - after], ctx=gast.Load())
    gast.copy_location(rest, node.value)
    node.value.elts = [*values[:place], rest, *values[len(values) - after :]]
    targets[place] = targets[place].value
    work.facts.foreign[node] = None
    return [node]
