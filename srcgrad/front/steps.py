"""Checkpointed loops: `for t in checkpointed(range(n)): ...` as a loop over a function, `h = f_step(t, h, w)`."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.exposed import exposed
from srcgrad.front.lift import Lift, definition, mark, trip
from srcgrad.front.plain import Plain, own_names
from srcgrad.front.reach import before_loop, read_outside
from srcgrad.front.source import Source
from srcgrad.front.step import Step
from srcgrad.front.trips import trips
from srcgrad.front.unshared import augmented_in, changed_in, check_augmented, check_unshared
from srcgrad.trees import (
    BLOCKS,
    Block,
    Node,
    at,
    copy,
    expression,
    name,
    statement,
    statements,
    stores,
    walk,
)


def lifted(loop: Node, slots: Node, function: Node, facts: Facts) -> Block:
    """The statements that stand for a checkpointed loop, whose marker is taken off; `slots` may be None's literal."""
    work = Lift(function, facts, loop, slots, loop)
    _check(work)
    before = _over_places(work) if isinstance(loop, gast.For) else []
    after, loop.orelse = loop.orelse, []
    broken = any(isinstance(n, gast.Break) for n in _own(loop.body))
    flag = facts.names.fresh("left") if broken else ""
    extra: list[Node] = []
    if broken:
        extra = [name(flag)]
        before += _as_while(work, flag, extra) if isinstance(loop, gast.For) else []
        before.append(work.own(statement(f"{flag} = False")))
        if isinstance(work.loop, gast.While):
            work.loop.test = expression(f"not {flag} and test", test=work.loop.test)
    found = _step(work, flag, [item.id for item in extra])
    if found is None:
        return [*before, work.loop, *after]
    work.loop.body = [trip(found, work)]
    mark(work)
    if after and broken:
        after = [work.own(gast.If(expression(f"not {flag}"), after, []))]
    return [*before, work.loop, *after]


def _check(work: Lift) -> None:
    """What no step can do: leave the function, bind names of the functions around."""
    for node in [n for s in work.loop.body for n in walk(s)]:
        if isinstance(node, gast.Nonlocal | gast.Global | gast.Yield | gast.YieldFrom | gast.Await):
            raise work.refuse(node, "a checkpointed loop that binds names outside of its function", "return them")
    if any(isinstance(node, gast.Return) for node in statements(work.loop.body)):
        raise work.refuse(
            work.loop,
            "a checkpointed loop that is left by `return` is not accepted",
            "bind the result to a name, `break`, and return it behind the loop",
        )
    if any(isinstance(n, gast.NamedExpr) for n in walk(getattr(work.loop, "test", work.loop.body[0]))):
        if isinstance(work.loop, gast.While):
            raise work.refuse(work.loop.test, "`:=` in the test of a checkpointed loop", "assign in its body")


def _own(block: Block) -> Block:
    """The statements of a loop's body, without those of loops and functions inside of it."""
    found: Block = []
    for node in block:
        found.append(node)
        if isinstance(node, gast.FunctionDef | gast.ClassDef):
            continue
        inner = ("orelse",) if isinstance(node, gast.For | gast.While) else BLOCKS
        for which in inner:
            found += _own(getattr(node, which, None) or [])
    return found


def _over_places(work: Lift) -> Block:
    """A loop over anything but a `range` as one over places, whose body begins with reading the items."""
    facts, loop = work.facts, work.loop
    if isinstance(loop.target, gast.Name) and _is_range(loop.iter, facts):
        return []
    before: Block = []
    plain = Plain(facts)
    if isinstance(loop.iter, gast.Call | gast.Name) and not _is_range(loop.iter, facts):
        made = trips(loop, plain)
        before, loop = made[:-1], made[-1]
    if not _is_range(loop.iter, facts):
        bound = {s for n in statements(loop.body) for s in stores(n)}
        if not isinstance(loop.iter, gast.Name) or loop.iter.id in bound:
            rows = facts.names.fresh("rows")
            before.append(work.own(statement(f"{rows} = over", over=loop.iter)))
            loop.iter = at(name(rows), loop)
        place = facts.names.fresh("i")
        row = work.own(gast.Assign([loop.target], expression(f"{loop.iter.id}[{place}]"), None))
        loop.body = [row, *loop.body]
        loop.target, loop.iter = name(place, gast.Store()), expression(f"range(len({loop.iter.id}))")
    elif not isinstance(loop.target, gast.Name):
        raise work.refuse(loop.target, "a range has numbers for items", "loop over one name")
    for node in [*before, *statements(loop.body)]:
        if node in facts.foreign:
            work.made[node] = None
    facts.local |= own_names(work.function) | {loop.target.id} | {s for n in before for s in stores(n)}
    return before


def _is_range(node: Node, facts: Facts) -> bool:
    called = getattr(node.func, "id", "") if isinstance(node, gast.Call) else ""
    found = facts.namespace.lookup(called) if called and called not in facts.local else None
    if found is not None and found.object is reversed and len(node.args) == 1:
        return _is_range(node.args[0], facts)
    return found is not None and found.object is range


def _as_while(work: Lift, flag: str, extra: list[Node]) -> Block:
    """A `for` that may be left: a `while` over the places of what it runs over; `extra` are further results."""
    loop, facts = work.loop, work.facts
    over, place = facts.names.fresh("trips"), facts.names.fresh("place")
    head = [work.own(gast.Assign([loop.target], expression(f"{over}[{place}]"), None))]
    head.append(work.own(statement(f"{place} = {place} + 1")))
    value = loop.iter
    if getattr(value.func, "id", "") == "reversed":
        value = expression("over[::-1]", over=value.args[0])
    test = expression(f"{place} < len({over})")
    work.loop = at(gast.While(test, [*head, *loop.body], []), loop)
    extra.append(name(place))
    facts.local |= {over, place}
    return [work.own(statement(f"{over} = value", value=value)), work.own(statement(f"{place} = 0"))]


def _step(work: Lift, flag: str, extra: list[str]) -> Step | None:
    """The step, or None for a body that carries nothing from trip to trip."""
    facts, loop, function = work.facts, work.loop, work.function
    functions = _nested(work)
    body = [*functions, *loop.body]
    found = exposed(body)
    changed = changed_in(body, facts)
    found.binds.update(dict.fromkeys(changed))
    item = loop.target.id if isinstance(loop, gast.For) else ""
    local = own_names(function) | facts.local
    early = before_loop(work.start, function) | set(extra)
    outside = read_outside(work.start, function) | set(extra)
    called = {f.name if isinstance(f, gast.FunctionDef) else f.targets[0].id for f in functions}
    binds = [b for b in found.binds if b != item and b not in called]
    state = [b for b in binds if b in early and (b in found.reads or b not in found.always) | (b in outside)]
    state = [b for b in state if b in found.reads or b in outside or b in extra]
    state = [b for b in state if b != flag]
    for bound in binds:
        if bound not in early and bound in found.reads and bound not in state:
            raise work.refuse(
                loop, f"`{bound}` is carried from trip to trip, and not bound before the loop", f"bind `{bound}` first"
            )
    results = [*state, *([item] if item in found.binds and item in outside else [])]
    results += [b for b in binds if b in outside and b not in state and b != flag]
    late = [b for b in results if b not in state and b not in found.always and b != item]
    if late:
        raise work.refuse(loop, f"a trip may leave `{late[0]}` unbound", f"bind `{late[0]}` before the loop")
    if not state:
        return None
    check_unshared([c for c in changed if c in state], work.function, loop, facts)
    check_augmented([a for a in augmented_in(body) if a in state], work.function, facts)
    counted = [item] if item and item in found.reads else []
    constants = [r for r in found.reads if r in local and r not in state and r != item and r not in binds]
    results += [flag] if flag else []
    tree = definition(work, [*counted, *state, *constants], body, results, flag)
    user = facts.source
    source = Source(user.file, loop.lineno, user.lines, tree, tree.name, user.comments, user.cell)
    made = {n: None for n in walk(tree) if n in work.made or n in facts.foreign}
    return Step(source, facts.namespace, item if counted else "", tuple(state), tuple(results), tuple(changed), made)


def _nested(work: Lift) -> Block:
    """The functions defined around the loop that its body calls, as the body's own."""
    known = {n.name: n for n in statements(work.function.body) if isinstance(n, gast.FunctionDef)}
    for node in statements(work.function.body):
        if isinstance(node, gast.Assign) and isinstance(node.value, gast.Lambda):
            known |= dict.fromkeys(stores(node), node)
    inside = set(statements(work.loop.body))
    wanted: dict[Node, None] = {}
    todo = list(work.loop.body)
    while todo:
        for item in walk(todo.pop()):
            found = known.get(item.id) if isinstance(item, gast.Name) else None
            if found is not None and found not in inside and found not in wanted:
                wanted[found] = None
                todo.append(found)
    for node in wanted:
        if any(isinstance(n, gast.Nonlocal) for n in walk(node)):
            raise work.refuse(node, "a checkpointed loop calls a function that binds names of this one", "return them")
    return [copy(node) for node in known.values() if node in wanted]
