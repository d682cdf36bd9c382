"""An array that changes after a list, a dict or a tuple got it: what these hold is the changed array."""

from __future__ import annotations

import gast

from srcgrad.facts import UNKNOWN, Facts
from srcgrad.front.holders import Deposit, Plan, changed_by, plan_of
from srcgrad.front.webs import parameters
from srcgrad.trees import BLOCKS, Block, Node, assign, at, copy, expression, is_write, name, statement, statements, walk


def refresh(function: Node, facts: Facts) -> Node:
    """Make a change of such an array one of its name, and put the new array where the old one was.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n    a = np.zeros(2) + x\\n    t = (a, x)\\n    a *= x\\n    return np.sum(t[0])"
    >>> print(explain_text(text, after="refresh"))
    def f(x):
        a = np.zeros(2) + x
        t = a, x
        a = a.copy()
        a[...] *= x
        t = a, t[1]
        return np.sum(t[0])
    """
    if facts.generated or not _changes(function.body):
        return function
    ours: dict[Node, None] = {}
    for array in dict.fromkeys(one for node in statements(function.body) for one in changed_by(node)):
        if array not in parameters(function) and _is_array(array, function, facts):
            plan = plan_of(array, function.body, ours, facts)
            if plan is not None:
                _apply(plan, function, ours, facts)
    return function


def _changes(block: Block) -> bool:
    return any(changed_by(node) for node in statements(block))


def _is_array(array: str, function: Node, facts: Facts) -> bool:
    """Whether a name holds an array and no number, which does not change: one with axes, or with items that are set."""
    kind = facts.named.get(array, UNKNOWN)
    return kind.tag == "array" and bool(
        kind.ndim or any(is_write(n) for n in statements(function.body) if array in changed_by(n))
    )


def _apply(plan: Plan, function: Node, ours: dict[Node, None], facts: Facts) -> None:
    ends = [one for one in plan.deposits if one.place is None]
    places = {h: facts.names.fresh(f"{h}_places") for h in dict.fromkeys(one.holder for one in ends)}
    facts.local |= set(places.values())

    def block_of(block: Block) -> Block:
        made: Block = []
        for node in block:
            for which in BLOCKS:
                if getattr(node, which, None):
                    setattr(node, which, block_of(getattr(node, which)))
            made += [_note(one, places[one.holder]) for one in ends if one.node is node]
            if node in plan.changes:
                made += [*_change(node, plan.array, facts), *_put(plan, places, facts)]
            else:
                made.append(node)
            if node in plan.made:
                made += [statement(f"{held} = []") for held in places.values()]
            for one in [n for n in made if "lineno" not in n.__dict__]:
                _own(one, node, facts)
                ours.update(dict.fromkeys(statements([one])))
        return made

    function.body = block_of(function.body)


def _own(made: Node, like: Node, facts: Facts) -> None:
    """Give a statement of ours the line of the user's for which it stands."""
    for item in walk(made):
        if "lineno" not in item.__dict__:
            at(item, like)
    facts.foreign.update(dict.fromkeys(statements([made])))


def _note(deposit: Deposit, places: str) -> Node:
    return statement(f"{places}.append(key)", key=copy(deposit.key))


def _change(node: Node, array: str, facts: Facts) -> Block:
    """The change, of an array that nothing else has."""
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        return [assign(array, gast.BinOp(name(array), node.op, node.value))]
    return [statement(f"{array} = {array}.copy()"), node]


def _put(plan: Plan, places: dict[str, str], facts: Facts) -> Block:
    """The changed array in place of the one before, in all that hold it."""
    made: Block = []
    for one in plan.deposits:
        if one.place is None:
            continue
        value = one.node.value
        if isinstance(value, gast.Tuple):
            made.append(_again(one, plan.array))
        else:
            made.append(statement(f"{one.holder}[key] = {plan.array}", key=copy(one.place)))
    for holder, held in places.items():
        k = facts.names.fresh("place")
        facts.local |= {k}
        loop = gast.For(name(k, gast.Store()), name(held), [statement(f"{holder}[{k}] = {plan.array}")], [], None)
        made.append(loop)
    return made


def _again(deposit: Deposit, array: str) -> Node:
    """`t = (a, t[1])`, for `t = (a, x)`"""
    items = [
        name(array) if getattr(item, "id", "") == array else expression(f"{deposit.holder}[{k}]")
        for k, item in enumerate(deposit.node.value.elts)
    ]
    return assign(deposit.holder, gast.Tuple(elts=items, ctx=gast.Load()))
