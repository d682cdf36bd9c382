"""Checkpointed functions and loops, brought to calls of a step: what is kept little of, to be computed again.

`for t in checkpointed(range(n)): ...` is a loop over a function, `h = f_step(t, h, w)`, which takes what the body reads
before it has bound it, and gives what it binds on every way to its end and may be read later, by the order of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

import gast

from srcgrad.core.bindings import Binding
from srcgrad.core.facts import LOOP, Facts
from srcgrad.core.identity import record
from srcgrad.core.marks import Checkpoint, checkpoint, checkpointed
from srcgrad.core.namespace import Overlay, Step
from srcgrad.core.source_text import Source, is_as_written
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    assign,
    at,
    children,
    copy,
    expression,
    find_nodes,
    header,
    holds,
    literal_node,
    name,
    names_in,
    own_names,
    placed,
    statement,
    statements,
    stores,
    walk,
    written_names,
)
from srcgrad.core.visitor import own_statements, rewrite_statements
from srcgrad.frontend.calls.functions import function_of
from srcgrad.frontend.calls.side_effects import augmented_in, changed_in, check_augmented, check_unshared
from srcgrad.frontend.context import Rewriting
from srcgrad.frontend.desugar.desugar import plain_block
from srcgrad.frontend.desugar.loops import trips
from srcgrad.frontend.rename_variables import COMPREHENSIONS
from srcgrad.frontend.resolve import binding_of

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)


@record
class NameUses:
    """Names in the order of the text: read before they are bound, bound, bound in any case at every way out."""

    reads: dict[str, None] = field(default_factory=dict)
    binds: dict[str, None] = field(default_factory=dict)
    always: set[str] = field(default_factory=set)
    ways: list[set[str]] = field(default_factory=list)  # what is bound where a trip ends early


def uses_of_names(block: Block) -> NameUses:
    """The names of a loop's body, one trip taken by itself.

    >>> tree = gast.parse("a = x\\nif a > 0:\\n    y = a + z\\n    continue\\nz = y")
    >>> found = uses_of_names(tree.body)
    >>> list(found.reads), list(found.binds), sorted(found.always)
    (['x', 'z', 'y'], ['a', 'y', 'z'], ['a'])
    """
    found = NameUses()
    end = _exposed_block(block, set(), found)
    ways = [*found.ways, *([end] if end is not None else [])]
    found.always = set.intersection(*ways) if ways else set()
    return found


def _exposed_block(block: Block, bound: set[str], found: NameUses) -> set[str] | None:
    """What is bound at the end of a block; None if it is not reached."""
    now: set[str] | None = set(bound)
    for node in block:
        if now is None:
            return None
        now = _statement(node, now, found)
    return now


def _statement(node: Node, bound: set[str], found: NameUses) -> set[str] | None:
    if isinstance(node, gast.If):
        _read(node.test, bound, found)
        sides = [_exposed_block(node.body, bound, found), _exposed_block(node.orelse, bound, found)]
        ends = [side for side in sides if side is not None]
        return set.intersection(*ends) if ends else None
    if isinstance(node, gast.For | gast.While):
        return _loop(node, bound, found)
    if isinstance(node, gast.Break | gast.Continue | gast.Return):
        if isinstance(node, gast.Return) and node.value is not None:
            _read(node.value, bound, found)
        found.ways.append(bound)
        return None
    if isinstance(node, gast.With):
        for item in node.items:
            _read(item, bound, found)
        inner = bound | _bind(node.items, found)
        return _exposed_block(node.body, inner, found)
    if any(getattr(node, which, None) for which in BLOCKS) and not isinstance(node, _FUNCTIONS):
        for which in BLOCKS:  # a statement that is refused later
            _exposed_block(getattr(node, which, None) or [], bound, found)
        return bound
    _read(node, bound, found)
    return bound | _bind([node], found)


def _loop(node: Node, bound: set[str], found: NameUses) -> set[str]:
    """A loop in the body may make no trip, and its ways out lead no further than to its end."""
    _read(node.iter if isinstance(node, gast.For) else node.test, bound, found)
    inner = NameUses(found.reads, found.binds)
    inside = bound | (_bind([node.target], found) if isinstance(node, gast.For) else set())
    _exposed_block(node.body, inside, inner)
    after = _exposed_block(node.orelse, bound, found)
    return bound if after is None else bound | after if not _may_skip_else(node.body) else bound


def _may_skip_else(block: Block) -> bool:
    """Whether the `else` of a loop may be passed by."""
    return any(holds(s, gast.Break) for s in block)


def _read(node: Node, bound: set[str], found: NameUses) -> None:
    """Names read by a statement or expression; what is written into is read, and changed."""
    for item in _names(node):
        if isinstance(item.ctx, gast.Load) and item.id not in bound:
            found.reads[item.id] = None
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and node.target.id not in bound:
        found.reads[node.target.id] = None
    for changed in written_names(node):
        found.binds[changed] = None
        if changed not in bound:
            found.reads[changed] = None


def _bind(nodes: Iterable[Node], found: NameUses) -> set[str]:
    made = set()
    for node in nodes:
        if isinstance(node, gast.FunctionDef):
            made.add(node.name)
            continue
        for item in _names(node):
            if isinstance(item.ctx, gast.Store):
                found.binds[item.id] = None
                made.add(item.id)
    return made


def _names(node: Node) -> list[Node]:
    """Names of a statement's own scope: variables of comprehensions and of nested functions apart."""
    if isinstance(node, gast.Name):
        return [node]
    own: set[str] = set()
    if isinstance(node, COMPREHENSIONS):
        targets = [n for g in node.generators for n in walk(g.target)]
        own = {n.id for n in targets if isinstance(n, gast.Name)}
    elif isinstance(node, _FUNCTIONS):
        inside = find_nodes(node, gast.Name)
        own = {n.id for n in inside if not isinstance(n.ctx, gast.Load)}
        return [n for n in inside if n.id not in own]
    return [n for child in children(node) for n in _names(child) if n.id not in own]


@record
class Lift:
    """One loop on its way to a step."""

    function: Node
    facts: Facts
    loop: Node
    slots: Node
    start: Node  # the loop as it stands in the function
    made: dict[Node, None] = field(default_factory=dict)

    def own(self, node: Node) -> Node:
        """A statement that is not the user's, at the line of the loop."""
        self.made[node] = self.facts.origin.foreign[node] = None
        return at(placed(node, self.loop), self.loop)

    def refuse(self, node: Node, why: str, remedy: str) -> Exception:
        """E5025, at a node or at the loop."""
        where = node if "lineno" in node.__dict__ else self.loop
        return self.facts.refuse(where, "E5025", why, remedy)


def definition(work: Lift, parameters: list[str], body: Block, results: list[str], flag: str) -> Node:
    """The function whose body is that of the loop."""
    spelled = f"{work.function.name}_step"
    tree = statement(f"def {spelled}({', '.join(parameters)}):\n    pass")
    going = [literal_node(False)] if flag else []
    own = [r for r in results if r != flag]
    tree.body = rewrite_statements(body, lambda node: [_spell_augmented(node, work, own)], apart=(gast.FunctionDef,))
    tree.body = rewrite_statements(
        tree.body, lambda node: [_exits_as_returns(node, work, own, bool(flag))], apart=_APART
    )
    tree.body.append(_return(work, own, going))
    return at(tree, work.loop)


def _return(work: Lift, results: list[str], flags: Sequence[Node]) -> Node:
    values = [*map(name, results), *flags]
    value = values[0] if len(values) == 1 else gast.Tuple(elts=values, ctx=gast.Load())
    made = work.own(gast.Return(value))
    made.end_lineno = made.lineno
    return made


_APART = (gast.For, gast.While, gast.FunctionDef, gast.ClassDef)  # whose bodies are left by a `break` of their own


def _exits_as_returns(node: Node, work: Lift, results: list[str], flagged: bool) -> Node:
    """`continue` and `break` of the loop as returns of the step."""
    if not isinstance(node, gast.Continue | gast.Break):
        return node
    flags = [literal_node(isinstance(node, gast.Break))] if flagged else []
    return at(_return(work, results, flags), node)


def _spell_augmented(node: Node, work: Lift, names: list[str]) -> Node:
    """`h += e` of a name that is carried as `h = h + e`: the state before the trip stays as it is."""
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and node.target.id in names:
        sum_ = at(gast.BinOp(name(node.target.id), node.op, node.value), node)
        made = at(assign(node.target.id, sum_), node)
        work.made[made] = None
        return made
    return node


def trip(step: Step, work: Lift) -> Node:
    """`h, c = f_step(t, h, c, w)`, by a name that means the step."""
    facts = work.facts
    spelled = facts.names.fresh(step.source.name)
    facts.namespace = Overlay(facts.namespace, {spelled: Binding("object", step)})
    arguments = [a.id for a in step.source.tree.args.args]
    call = gast.Call(name(spelled), [name(a) for a in arguments], [])
    names = [name(r, gast.Store()) for r in step.results]
    target = names[0] if len(names) == 1 else gast.Tuple(elts=names, ctx=gast.Store())
    return work.own(gast.Assign([target], call, None))


def mark(work: Lift) -> None:
    """The header says that the loop is checkpointed, until the normal form is reached."""
    facts, loop = work.facts, work.loop
    facts.namespace = Overlay(facts.namespace, {LOOP: Binding("object", checkpointed)})
    key = "iter" if isinstance(loop, gast.For) else "test"
    marked = at(gast.Call(name(LOOP), [getattr(loop, key), work.slots], []), loop)
    setattr(loop, key, marked)


def before_loop(loop: Node, function: Node) -> set[str]:
    """Names that may be bound when a loop begins: parameters, and what stands before it, or in a loop around it."""
    parameters = names_in(function.args)
    return parameters | _bound_before_loop(function.body, loop)[0]


def _bound_before_loop(block: Block, loop: Node) -> tuple[set[str], bool]:
    names: set[str] = set()
    for node in block:
        if node is loop:
            return names, True
        names |= _binds(node)
        for which in BLOCKS:
            inner, here = _bound_before_loop(getattr(node, which, None) or [], loop)
            names |= inner
            if here and isinstance(node, gast.For | gast.While):
                inside = set(statements([loop]))
                names |= {s for n in statements([node]) if n not in inside for s in _binds(n)}
            if here:
                return names, True
    return names, False


def _binds(node: Node) -> set[str]:
    """Names that a statement's own header binds, those of `with` and of `:=` among them."""
    parts = node.items if isinstance(node, gast.With) else header(node)
    names = [n for part in parts for n in find_nodes(part, gast.Name)]
    return {n.id for n in names if isinstance(n.ctx, gast.Store)} | set(stores(node))


def read_outside(loop: Node, function: Node) -> set[str]:
    """Names that something outside of a loop's body may read once the loop has begun."""
    found: set[str] = set()
    _add_reads_after_loop(function.body, loop, found)
    for node in statements(function.body):  # a function that is defined earlier may be called later
        for item in walk(node):
            if isinstance(item, gast.FunctionDef | gast.Lambda):
                found |= names_in(item)
    return found


def _add_reads_after_loop(block: Block, loop: Node, found: set[str]) -> bool:
    """Add what may be read behind the loop, if it stands in the block."""
    for position, node in enumerate(block):
        here = node is loop
        if here:
            found |= _reads(header(node)) | _reads(node.orelse)
        for which in BLOCKS:
            inside = not here and _add_reads_after_loop(getattr(node, which, None) or [], loop, found)
            if inside and isinstance(node, gast.For | gast.While):
                own = set(statements(loop.body))
                found |= {r for n in statements([node]) if n not in own for r in _reads(header(n))}
            here = here or inside
        if here:
            found |= _reads(block[position + 1 :])
            return True
    return False


def _reads(nodes: list[Node]) -> set[str]:
    names = [n for node in nodes for n in find_nodes(node, gast.Name)]
    return {n.id for n in names if not isinstance(n.ctx, gast.Store)}


def lift_loop(loop: Node, slots: Node, function: Node, facts: Facts) -> Block:
    """The statements that stand for a checkpointed loop, whose marker is taken off; `slots` may be None's literal."""
    work = Lift(function, facts, loop, slots, loop)
    _check(work)
    before = _over_places(work) if isinstance(loop, gast.For) else []
    after, loop.orelse = loop.orelse, []
    broken = any(isinstance(n, gast.Break) for n in own_statements(loop.body, _APART))
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
    if holds(getattr(work.loop, "test", work.loop.body[0]), gast.NamedExpr):
        if isinstance(work.loop, gast.While):
            raise work.refuse(work.loop.test, "`:=` in the test of a checkpointed loop", "assign in its body")


def _over_places(work: Lift) -> Block:
    """A loop over anything but a `range` as one over places, whose body begins with reading the items."""
    facts, loop = work.facts, work.loop
    if isinstance(loop.target, gast.Name) and _is_range(loop.iter, facts):
        return []
    before: Block = []
    plain = Rewriting(facts, plain_block)
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
        if node in facts.origin.foreign:
            work.made[node] = None
    facts.names.local |= own_names(work.function) | {loop.target.id} | {s for n in before for s in stores(n)}
    return before


def _is_range(node: Node, facts: Facts) -> bool:
    called = getattr(node.func, "id", "") if isinstance(node, gast.Call) else ""
    found = facts.namespace.lookup(called) if called and called not in facts.names.local else None
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
    facts.names.local |= {over, place}
    return [work.own(statement(f"{over} = value", value=value)), work.own(statement(f"{place} = 0"))]


def _step(work: Lift, flag: str, extra: list[str]) -> Step | None:
    """The step, or None for a body that carries nothing from trip to trip."""
    facts, loop, function = work.facts, work.loop, work.function
    functions = _nested_functions_called(work)
    body = [*functions, *loop.body]
    found = uses_of_names(body)
    changed = changed_in(body, facts)
    found.binds.update(dict.fromkeys(changed))
    item = loop.target.id if isinstance(loop, gast.For) else ""
    local = own_names(function) | facts.names.local
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
    again = user.respelled or not all(is_as_written(one, local, user.lines) for one in loop.body)
    source = Source(user.file, loop.lineno, user.lines, tree, tree.name, user.comments, user.cell, respelled=again)
    made = {n: None for n in walk(tree) if n in work.made or n in facts.origin.foreign}
    return Step(source, facts.namespace, item if counted else "", tuple(state), tuple(results), tuple(changed), made)


def _nested_functions_called(work: Lift) -> Block:
    """The functions defined around the loop that its body calls, as the body's own."""
    known: dict[str, Node] = {n.name: n for n in statements(work.function.body) if isinstance(n, gast.FunctionDef)}
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
        if holds(node, gast.Nonlocal):
            raise work.refuse(node, "a checkpointed loop calls a function that binds names of this one", "return them")
    return [copy(node) for node in known.values() if node in wanted]


def checkpoints(function: Node, facts: Facts) -> Node:
    """Make a step of the body of each checkpointed loop; where nothing is kept, the loop is as any other.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x, n):\\n    for t in srcgrad.checkpointed(range(n), slots=3):\\n        x = x * x\\n    return x"
    >>> print(explain_text("import srcgrad\\n" + text, after="checkpoints"))
    def f(x, n):
        for t in srcgrad.checkpointed(range(n), 3):
            x = f_step(x)
        return x
    """
    if not _mentions_marker(function, facts):
        return function
    facts.module.checkpoints = True
    kept = facts.recomputes
    local = facts.names.local
    facts.names.local = facts.names.local | own_names(function)
    _calls(function, kept, facts)
    function.body = _block(function.body, function, kept, facts)
    facts.names.local = facts.names.local | local
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
    names = {n.id: n for s in function.body for n in find_nodes(s, gast.Name)}
    attributes = [n for s in function.body for n in find_nodes(s, gast.Attribute)]
    return any(_is_marker(n, facts) for n in [*names.values(), *attributes])


def _is_marker(node: Node, facts: Facts) -> bool:
    """Whether an expression means `checkpointed`, `checkpoint` or a call of one of them."""
    if not isinstance(node, gast.Name | gast.Attribute):
        return False
    found = binding_of(node, facts, facts.names.local)
    return found is not None and (found.object is checkpointed or found.object is checkpoint)


def _block(block: Block, function: Node, kept: bool, facts: Facts) -> Block:
    made: Block = []
    for position, node in enumerate(block):
        key = "iter" if type(node) is gast.For else "test" if type(node) is gast.While else ""
        marked: Node | None = getattr(node, key) if key else None
        slots = _slots(marked, facts)
        if marked is not None and slots is not None:
            setattr(node, key, marked.args[0])
        if slots is not None and kept:
            block[position] = node
            made += lift_loop(node, slots, function, facts)
            continue
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, _block(getattr(node, which), function, kept, facts))
        made.append(node)
    return made


def _slots(node: Node | None, facts: Facts) -> Node | None:
    """The number of states that a marked header keeps, None's literal if it does not say; None for other headers."""
    if not isinstance(node, gast.Call):
        return None
    found = binding_of(node.func, facts, facts.names.local)
    if found is None or found.object is not checkpointed:
        return None
    words = {word.arg: word.value for word in node.keywords}
    if len(node.args) != 1 or set(words) - {"slots"}:
        raise facts.refuse(
            node, "E5025", "`checkpointed` takes what the loop runs over, and `slots=`", "name the slots: `slots=20`"
        )
    slots = words.get("slots", literal_node(None))
    if not isinstance(slots, gast.Name | gast.Constant):
        raise facts.refuse(slots, "E5025", "`slots` is a number or a name", "bind the number to a name before the loop")
    return slots


def _calls(function: Node, kept: bool, facts: Facts) -> None:
    """`checkpoint(f)(x)` as a call of `f`, by a name that says so."""
    for call in [n for s in function.body for n in find_nodes(s, gast.Call)]:
        maker = call.func
        found = binding_of(maker.func, facts, facts.names.local) if isinstance(maker, gast.Call) else None
        if found is None or found.object is not checkpoint or len(maker.args) != 1 or maker.keywords:
            continue
        inner = maker.args[0]
        known = function_of(inner, facts, facts.names.local)
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
        spelled = facts.names.fresh(known.name) if known.name in facts.names.local else known.name
        meant = Binding("object", Checkpoint(known.called)) if known.binding.static is None else known.binding
        facts.namespace = Overlay(facts.namespace, {spelled: meant})
        call.func = at(name(spelled), inner)
