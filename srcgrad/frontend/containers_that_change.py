"""Arrays that change while a list, a dict or a tuple holds them.

Where lists, dicts and tuples hold an array that changes, as far as that is known wherever it does.

An array that changes after a list, a dict or a tuple got it: what these hold is the changed array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any  # a part of a statement, or nothing

import gast

from srcgrad.core.control_flow import Graph, graph
from srcgrad.core.facts import UNKNOWN, Facts
from srcgrad.core.identity import record
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    assign,
    copy,
    expression,
    find_nodes,
    is_write,
    literal_node,
    loads,
    name,
    parameters,
    placed,
    root,
    statement,
    statements,
    stores,
    target,
    written_names,
)
from srcgrad.frontend.calls.side_effects import Effects, is_fresh
from srcgrad.frontend.resolve import binding_of

_DISPLAYS = (gast.List, gast.Tuple, gast.Dict)


@record
class Deposit:
    """Where an array goes into a container: at a place that is known, or else at what `key` gives then."""

    node: Node
    holder: str
    place: Any  # a constant, or None
    key: Any = None


@record
class Plan:
    """What becomes of one array: where it is made, changed, and given to containers."""

    array: str
    made: Block = field(default_factory=list)
    changes: Block = field(default_factory=list)
    deposits: list[Deposit] = field(default_factory=list)


def changed_by(node: Node) -> list[str]:
    """The name whose array a statement changes in place."""
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        return [node.target.id]
    return list(written_names(node)[:1]) if is_write(node) and isinstance(node, gast.Assign | gast.AugAssign) else []


def plan_of(array: str, naming: Block, block: Block, ours: dict[Node, None], facts: Facts) -> Plan | None:
    """What is to be done; None where the array is in no container, does not change then, or goes elsewhere too.

    `naming` has the statements of the block that have its name.
    """
    plan = Plan(array)
    if not all(_takes(node, plan, facts) for node in naming) or not plan.deposits:
        return None
    flow = graph(block)
    users = [node for node in statements(block) if node not in ours]  # ours put other arrays to their own places
    if not any(_reaches_before(flow, one.node, plan.changes, plan.made) for one in plan.deposits):
        return None
    followed = all(_is_followed(one, plan, flow, users) for one in plan.deposits)
    return plan if followed and not _is_taken_out(plan, flow, block, facts) else None


def _takes(node: Node, plan: Plan, facts: Facts) -> bool:
    """Note what a statement does with the array; whether that is all understood."""
    array, shows = plan.array, _shows(plan.array, facts)
    if isinstance(node, gast.Return):
        return True
    if any(
        _names(array, part) for part in find_nodes(node, gast.Lambda, gast.ListComp, gast.NamedExpr, gast.GeneratorExp)
    ):
        return False
    if array in changed_by(node):
        plan.changes.append(node)
        return not (isinstance(node, gast.Assign) and len(node.targets) > 1)
    if isinstance(node, gast.If | gast.While):
        return True
    if isinstance(node, gast.For):
        return array not in stores(node) and not shows(node.iter)
    if isinstance(node, gast.Expr):
        return _appends(node, plan, facts) or not any(map(shows, _call_arguments(node.value)))
    if not isinstance(node, gast.Assign | gast.AugAssign):
        return False
    if target(node) == array:
        plan.made.append(node)
        return is_fresh(node.value, facts)
    if isinstance(node, gast.AugAssign):
        return array not in stores(node) and (_is_of_arrays(node.target, facts) or not shows(node.value))
    return array not in stores(node) and _note_stores(node, plan, shows, facts)


def _is_of_arrays(place: Node, facts: Facts) -> bool:
    """Whether a target is an array, or a part of one, which takes in elements and holds nothing."""
    base = root(place)
    return base is not None and facts.kinds.named.get(base.id, UNKNOWN).tag in ("array", "numeric", "scalar")


def _names(array: str, node: Node) -> bool:
    return any(n.id == array for n in find_nodes(node, gast.Name))


def _shows(array: str, facts: Facts) -> Callable[[Node], bool]:
    """Whether the value of an expression may show the elements of an array, or hold it."""
    known = Effects(facts)

    def shows(value: Node) -> bool:
        if isinstance(value, gast.Dict):
            return any(map(shows, value.values))
        return array in known.seen(value, facts, facts.names.local) or (
            _is_opaque(value, facts) and _names(array, value)
        )

    return shows


def _is_opaque(value: Node, facts: Facts) -> bool:
    """Whether an expression is a call of something of which nothing is known."""
    found = binding_of(value.func, facts, facts.names.local) if isinstance(value, gast.Call) else None
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Name) and found is None


def _call_arguments(call: Node) -> Block:
    return [*call.args, *(word.value for word in call.keywords)] if isinstance(call, gast.Call) else [call]


def _appends(node: Node, plan: Plan, facts: Facts) -> bool:
    """Whether a statement is `kept.append(a)`, of a list."""
    call = node.value
    held = name_appended_to(node)
    alone = held and len(call.args) == 1 and getattr(call.args[0], "id", "") == plan.array
    if not alone or facts.kinds.named.get(held, UNKNOWN).tag != "list":
        return False
    plan.deposits.append(Deposit(node, held, None, expression(f"len({held})")))
    return True


def name_appended_to(node: Node) -> str:
    """The name of which a statement is `kept.append(e)`; an empty string for any other."""
    function = node.value.func if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr != "append":
        return ""
    return getattr(function.value, "id", "")


def _note_stores(node: Node, plan: Plan, shows: Callable[[Node], bool], facts: Facts) -> bool:
    """Note the places of an assignment that get the array; whether nothing else does."""
    value, place, bound = node.value, node.targets[0], target(node)
    if len(node.targets) > 1:
        return not shows(value)
    if bound is not None and isinstance(value, _DISPLAYS):
        keys = value.keys if isinstance(value, gast.Dict) else [literal_node(k) for k in range(len(value.elts))]
        items = value.values if isinstance(value, gast.Dict) else value.elts
        for key, item in zip(keys, items, strict=True):
            if getattr(item, "id", "") == plan.array and isinstance(key, gast.Constant):
                plan.deposits.append(Deposit(node, bound, key))
            elif shows(item):
                return False
        return True
    if not isinstance(place, gast.Subscript) or not isinstance(place.value, gast.Name):
        return not shows(value)
    held, key = place.value.id, place.slice
    if _is_of_arrays(place, facts):
        return True
    holds = held in facts.kinds.records or facts.kinds.named.get(held, UNKNOWN).tag in ("list", "dict")
    if getattr(value, "id", "") != plan.array or not holds or not isinstance(key, gast.Constant | gast.Name):
        return not shows(value)
    steady = isinstance(key, gast.Constant)
    plan.deposits.append(Deposit(node, held, key if steady else None, None if steady else copy(key)))
    return True


def _reaches_before(flow: Graph, start: Node, ends: Iterable[Node], stops: Iterable[Node]) -> bool:
    """Whether one of some statements may come after another before one of those that stop the way."""
    wanted, closed = {flow.index[n] for n in ends}, {flow.index[n] for n in stops}
    return any(number in wanted for number in flow.after(start, lambda number: number not in closed))


def _is_followed(deposit: Deposit, plan: Plan, flow: Graph, users: Block) -> bool:
    """Whether it is known wherever the array changes at which places of a container it is."""
    others = [n for n in users if n is not deposit.node and _alters(n, deposit)]
    if deposit.place is None:
        bound = [n for n in others if deposit.holder in stores(n) and not written_names(n)]
        stored = [one.node for one in plan.deposits if one.place is None and one.holder == deposit.holder]
        own = all(n in bound or n in stored or name_appended_to(n) == deposit.holder for n in others)
        return (
            own
            and len(bound) == 1
            and not _is_inside_loop(bound[0], users)
            and isinstance(bound[0].value, gast.List | gast.Dict)
        )
    around = [n for n in (*plan.made, *others) if not (_stays(n, deposit))]
    return not any(_reaches_before(flow, one, plan.changes, [deposit.node]) for one in around)


def _is_inside_loop(node: Node, users: Block) -> bool:
    return any(node in statements(loop.body) for loop in users if isinstance(loop, gast.For | gast.While))


def _is_taken_out(plan: Plan, flow: Graph, block: Block, facts: Facts) -> bool:
    """Whether something that a container gave, or the container under another name, is read after a change."""
    known = Effects(facts)
    holders = {one.holder for one in plan.deposits}
    own = {one.node for one in plan.deposits}
    for node in statements(block):
        value = node.iter if isinstance(node, gast.For) else getattr(node, "value", None)
        if value is None or node in own or isinstance(node, gast.Return) or _is_harmless(node, holders):
            continue
        given = _call_arguments(value) if isinstance(node, gast.Expr) else [value]
        if not any(one in holders for part in given for one in _names_shown(part, known, facts)):
            continue
        taken = stores(node)
        later = [n for n in plan.changes if _reaches_before(flow, node, [n], [])]
        reads = [n for n in statements(block) if set(loads(n)) & set(taken)]
        if later and (not taken or any(_reaches_before(flow, one, reads, [node]) for one in later)):
            return True
        if any(one in taken for n in statements(block) for one in _held_on(n, known, facts)):
            return True
    return False


def _names_shown(value: Node, known: Effects, facts: Facts) -> list[str]:
    parts = value.values if isinstance(value, gast.Dict) else [value]
    return [one for part in parts for one in known.seen(part, facts, facts.names.local)]


def _held_on(node: Node, known: Effects, facts: Facts) -> list[str]:
    """Names that a statement gives to other names, or puts somewhere."""
    if isinstance(node, gast.For):
        return _names_shown(node.iter, known, facts)
    if isinstance(node, gast.Assign):
        return _names_shown(node.value, known, facts)
    return (
        [one for part in _call_arguments(node.value) for one in _names_shown(part, known, facts)]
        if isinstance(node, gast.Expr)
        else []
    )


def _is_harmless(node: Node, holders: set[str]) -> bool:
    """Whether a statement only puts something at the end of a container."""
    return name_appended_to(node) in holders and not any(one in loads(node.value.args[0]) for one in holders)


def _alters(node: Node, deposit: Deposit) -> bool:
    """Whether a statement may bind a container's name, or change which items it has."""
    if deposit.holder in [*stores(node), *written_names(node)]:
        return True
    calls = [n.func for n in find_nodes(node, gast.Call) if isinstance(n.func, gast.Attribute)]
    return not _is_compound(node) and any(getattr(f.value, "id", "") == deposit.holder for f in calls)


def _is_compound(node: Node) -> bool:
    return isinstance(node, gast.If | gast.For | gast.While)


def _stays(node: Node, deposit: Deposit) -> bool:
    """Whether a statement leaves the place as it is: a store at another one, or another item at the end."""
    if name_appended_to(node) == deposit.holder:
        return True
    places = node.targets if isinstance(node, gast.Assign) else [getattr(node, "target", None)]
    place = places[0] if is_write(node) and len(places) == 1 else None
    key = place.slice if isinstance(place, gast.Subscript) and isinstance(place.value, gast.Name) else None
    return isinstance(key, gast.Constant) and key.value != deposit.place.value if key is not None else False


def rebind_changed_arrays(function: Node, facts: Facts) -> Node:
    """Make a change of such an array one of its name, and put the new array where the old one was.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    a = np.zeros(2) + x\\n    t = (a, x)\\n    a *= x\\n    return np.sum(t[0])"
    >>> print(explain_text(text, after="rebind_changed_arrays"))
    def f(x):
        a = np.zeros(2) + x
        t = a, x
        a = a.copy()
        a[...] *= x
        t = a, t[1]
        return np.sum(t[0])
    """
    if not _changes(function.body):
        return function
    ours: dict[Node, None] = {}
    naming = _statements_by_name(function.body)
    for array in dict.fromkeys(one for node in statements(function.body) for one in changed_by(node)):
        if array not in parameters(function) and _is_array(array, function, facts):
            plan = plan_of(array, naming.get(array, []), function.body, ours, facts)
            if plan is not None:
                _apply(plan, function, ours, facts)
                naming = _statements_by_name(function.body)
    return function


def _statements_by_name(block: Block) -> dict[str, Block]:
    """The statements in which each name stands, or in statements inside of them."""
    found: dict[str, Block] = {}
    for node in statements(block):
        for one in dict.fromkeys(n.id for n in find_nodes(node, gast.Name)):
            found.setdefault(one, []).append(node)
    return found


def _changes(block: Block) -> bool:
    return any(changed_by(node) for node in statements(block))


def _is_array(array: str, function: Node, facts: Facts) -> bool:
    """Whether a name holds an array and no number, which does not change: one with axes, or with items that are set."""
    kind = facts.kinds.named.get(array, UNKNOWN)
    return kind.tag == "array" and bool(
        kind.ndim or any(is_write(n) for n in statements(function.body) if array in changed_by(n))
    )


def _apply(plan: Plan, function: Node, ours: dict[Node, None], facts: Facts) -> None:
    ends = [one for one in plan.deposits if one.place is None]
    places = {h: facts.names.fresh(f"{h}_places") for h in dict.fromkeys(one.holder for one in ends)}
    facts.names.local |= set(places.values())

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
                placed(one, node)
                facts.origin.foreign.update(dict.fromkeys(statements([one])))
                ours.update(dict.fromkeys(statements([one])))
        return made

    function.body = block_of(function.body)


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
            made.append(_replace_deposit(one, plan.array))
        else:
            made.append(statement(f"{one.holder}[key] = {plan.array}", key=copy(one.place)))
    for holder, held in places.items():
        k = facts.names.new_local("place")
        loop = gast.For(name(k, gast.Store()), name(held), [statement(f"{holder}[{k}] = {plan.array}")], [], None)
        made.append(loop)
    return made


def _replace_deposit(deposit: Deposit, array: str) -> Node:
    """`t = (a, t[1])`, for `t = (a, x)`"""
    items = [
        name(array) if getattr(item, "id", "") == array else expression(f"{deposit.holder}[{k}]")
        for k, item in enumerate(deposit.node.value.elts)
    ]
    return assign(deposit.holder, gast.Tuple(elts=items, ctx=gast.Load()))
