"""Statements in terms of fewer: other spellings, and ways out of loops and functions.

`break`, `continue`, `return` before the end, and `else` after loops are branches and tests. What follows a way out goes
into the branch that does not take it. A loop that may be left early becomes a `while` whose test says so; its variable
keeps the value that it had when the loop was left.
"""

from __future__ import annotations

import builtins
import logging
from dataclasses import field

import gast

from srcgrad.core.facts import Facts
from srcgrad.core.identity import record
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    at,
    bound_names,
    copy,
    expression,
    find_nodes,
    header,
    holds,
    literal_node,
    name,
    own_names,
    parameters,
    root,
    statement,
    statements,
    stores,
    target,
    written_names,
)
from srcgrad.core.visitor import own_statements, rewrite_statements
from srcgrad.frontend.again import implicit, lengths
from srcgrad.frontend.calls.functions import made_by
from srcgrad.frontend.calls.inline_call import has_starred, in_tuple, options, unpack_arguments
from srcgrad.frontend.calls.nested_functions import functions_left_out, hooks, namesakes, take_out
from srcgrad.frontend.calls.side_effects import check_sequence, check_targets
from srcgrad.frontend.context import Rewriting
from srcgrad.frontend.desugar.assignments import (
    is_of_arithmetic,
    is_quiet,
    open_contexts,
    split_choice,
    split_condition,
    unpack_sequence,
    walruses,
)
from srcgrad.frontend.desugar.lists_and_dicts import (
    changed_list,
    kinds_of_lists,
    repeats,
    separate_list_names,
    spell_displays,
    spell_list_methods,
)
from srcgrad.frontend.desugar.loops import (
    COMPREHENSIONS,
    count_zipped_loops,
    expand_comprehensions,
    has_comprehension,
    note_dicts,
    trips,
)
from srcgrad.frontend.desugar.numpy_spellings import array_api, expand_calls, fill
from srcgrad.frontend.desugar.objects import (
    called_objects,
    expand_distributions,
    note_opened_records,
    open_records,
    solutions,
    splines,
)
from srcgrad.frontend.desugar.views import in_place
from srcgrad.frontend.early_facts import assigned_varied, names_maybe_unbound, varied_names
from srcgrad.frontend.rename_variables import reads_of_arguments, record_names
from srcgrad.frontend.resolve import binding_of, follow_import


def desugar(function: Node, facts: Facts) -> Node:
    """Spell with assignments, `if`, `for` and `while` what Python has other words for.

    What one name stands for in turn gets names of its own; functions inside are taken out; parts stand for objects.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    if (s := x * x) > 1.0:\\n        return s\\n    return x", after="desugar"))
    def f(x):
        s = x * x
        if s > 1.0:
            return s
        return x
    """
    for separate in (functions_left_out, separate_list_names, record_names, namesakes):
        separate(function, facts)
    work = Rewriting(facts, plain_block)
    hooks(function, work)
    function.body = take_out(function.body, work, parameters(function))
    for open_objects in (open_records, solutions, expand_distributions, splines, called_objects):
        open_objects(function, work)
    in_place(function, facts)
    work.bound = frozenset(s for node in statements(function.body) for s in stores(node))
    spell_list_methods(function, work)
    work.lists = kinds_of_lists(function, facts)
    work.written = frozenset(
        w for node in statements(function.body) for w in [*written_names(node), *_in_parallel(node)]
    )
    work.used = _outside_comprehensions(function)
    facts.names.local = work.made | own_names(function) | frozenset(facts.names.functions)
    _spell_loggers(function, facts)
    work.options = options(function, facts)
    work.given = frozenset(parameters(function))
    work.of_arguments = reads_of_arguments(function, work.bound.intersection(facts.request.wrt) & work.given)
    if any(isinstance(node, gast.For) for node in statements(function.body)):
        work.varied = work.given | assigned_varied(function, facts, parameters(function))
    parts = (part for node in function.body for part in find_nodes(node, gast.Tuple, gast.Call))
    if any(in_tuple(part, facts) is not None for part in parts):
        inputs = facts.request.wrt or parameters(function)
        work.moved = frozenset(varied_names(function, facts, facts.names.local, inputs))
    note_dicts(function, work)
    function.body = plain_block(function.body, work) or [at(gast.Pass(), function)]
    array_api(function, facts)
    return function


def _spell_loggers(function: Node, facts: Facts) -> None:
    """`log = logging.getLogger(a)` and `log.info(m)` is `Logger.info(log, m)`: it reports, and changes no value."""
    made = [n for n in statements(function.body) if isinstance(getattr(n, "value", None), gast.Call) and target(n)]
    found = {target(n): binding_of(n.value.func, facts, facts.names.local) for n in made}
    loggers = [one for one, b in found.items() if b is not None and b.object is logging.getLogger]
    for logger in loggers:
        if sum(logger in stores(n) for n in statements(function.body)) > 1 or logger in parameters(function):
            continue
        for node in statements(function.body):
            call: Node = node.value if isinstance(node, gast.Expr) else node
            held = getattr(getattr(call, "func", None), "value", None)
            if isinstance(held, gast.Name) and held.id == logger:
                call.func.value = name(facts.library_in_text("Logger", logging.Logger))
                call.args.insert(0, held)


def generated_text(function: Node, facts: Facts) -> None:
    """Spell a text of ours as the passes behind know functions: what it says of contexts, objects and lengths is noted.

    What a solver's derivative computes is written out, and loops over what stands side by side count their trips.
    """
    function.body = open_contexts(function.body, facts)
    note_opened_records(function, facts)
    lengths(function, facts)
    spell_displays(function, facts)
    work = Rewriting(facts, plain_block)
    implicit(function, work)
    function.body = count_zipped_loops(function.body, work)


def _outside_comprehensions(function: Node) -> frozenset[str]:
    within = {n for s in function.body for c in find_nodes(s, *COMPREHENSIONS) for n in find_nodes(c, gast.Name)}
    own = {n.id for node in function.body for n in find_nodes(node, gast.Name) if n not in within}
    return frozenset(own | set(parameters(function)))


def plain_block(block: Block, work: Rewriting) -> Block:
    made: Block = []
    for node in block:
        made += _statement(node, work)
    return made


def _statement(node: Node, work: Rewriting) -> Block:
    apart = split_condition(node, work) or split_choice(node, work)
    if apart is not None:
        return plain_block(apart, work)
    for which in BLOCKS:
        if getattr(node, which, None):
            setattr(node, which, plain_block(getattr(node, which), work) or [at(gast.Pass(), node)])
    if isinstance(node, gast.With):
        return _context(node, work)
    items = repeats(node, work)
    if items:
        return plain_block([*items, node], work)
    check_sequence(node, work.facts)
    check_targets(node, work.facts)
    changed = changed_list(node, work)
    if changed is not None:
        return plain_block(changed, work)
    if isinstance(node, gast.Delete):
        return [] if all(isinstance(item, gast.Name) for item in node.targets) else [node]
    if isinstance(node, gast.Import | gast.ImportFrom):
        return [] if follow_import(node, work.facts) else [node]
    if isinstance(node, gast.While):
        return _while(node, work)
    if _is_parallel_write(node):
        return _separate_assignments(node, work)
    if isinstance(node, gast.Assign) and len(node.targets) > 1 and _names_an_array(node, work):
        return _one_by_one(node, work)
    branches = isinstance(getattr(node, "value", None), gast.IfExp)
    if branches and (has_comprehension(node, work) or has_starred(node, work.facts)):
        return plain_block(_as_branch(node, work), work)
    _fold_extremes(node, work)
    before = walruses(node, work)
    before += expand_calls(node, work)
    before += expand_comprehensions(node, work)
    before += unpack_arguments(node, work)
    if isinstance(node, gast.For):
        return before + trips(node, work)
    if target(node) is not None and getattr(node.value, "id", "") == target(node):
        return before  # what is bound was computed under its own name
    apart = unpack_sequence(node, work)
    return before + (fill(node, work) if apart is None else apart)


def _is_parallel_write(node: Node) -> bool:
    """`a[i], a[j] = a[j], a[i]`"""
    first = node.targets[0] if isinstance(node, gast.Assign) else None
    if not isinstance(first, gast.Tuple) or not isinstance(node.value, gast.Tuple):
        return False
    parts = any(isinstance(item, gast.Subscript) for item in first.elts)
    starred = any(isinstance(item, gast.Starred) for item in [*first.elts, *node.value.elts])
    return parts and not starred and len(first.elts) == len(node.value.elts)


def _in_parallel(node: Node) -> list[str]:
    """The arrays into parts of which `a[i], b[j] = e` writes."""
    parts = node.targets[0].elts if _is_parallel_write(node) else []
    return [base.id for part in parts if isinstance(part, gast.Subscript) and (base := root(part)) is not None]


def _names_an_array(node: Node, work: Rewriting) -> bool:
    """`a = b = e`, where something is written into one of the two."""
    names = [item.id for item in node.targets if isinstance(item, gast.Name)]
    return len(names) == len(node.targets) and any(one in work.written for one in names)


def _one_by_one(node: Node, work: Rewriting) -> Block:
    """`a = e`, then `b = a`."""
    first, *others = [item.id for item in node.targets]
    return [work.bind(first, node.value, node), *(work.bind(one, name(first), node) for one in others)]


def _separate_assignments(node: Node, work: Rewriting) -> Block:
    """All right sides first, then one assignment after the other."""
    held = [work.name("held") for _ in node.value.elts]
    made = [work.bind(one, value, node) for one, value in zip(held, node.value.elts, strict=True)]
    for place, one in zip(node.targets[0].elts, held, strict=True):
        made.append(work.own(gast.Assign([place], name(one), None), node))
    return made


def _as_branch(node: Node, work: Rewriting) -> Block:
    """`y = e if c else [...]` as an `if`, so that what is not chosen is not computed."""
    sides = []
    for side in (node.value.body, node.value.orelse):
        other = copy(node)
        other.value = side
        sides.append([work.own(other, node)])
    return [work.own(gast.If(node.value.test, *sides), node)]


def _context(node: Node, work: Rewriting) -> Block:
    """The body of a `with` that changes no value; the text is put into the same context at the end."""
    for item in node.items:
        held = getattr(item.optional_vars, "id", "")
        if held and sum(n.id == held for n in find_nodes(work.facts.source.tree, gast.Name)) == 1:
            item.optional_vars = None  # nobody reads it
    if not is_quiet(node, work.facts):
        return [node]
    work.facts.origin.contexts.append(node)
    if not is_of_arithmetic(node, work.facts):
        work.facts.origin.entered[node] = None
    return list(node.body)


def _while(node: Node, work: Rewriting) -> Block:
    """A test that binds names, or calls a function of this one, is computed at the head of each trip."""
    before = walruses(node, work) + unpack_arguments(node, work)
    own = work.facts.names.functions
    calls = [
        n
        for n in find_nodes(node.test, gast.Call)
        if getattr(n.func, "id", "") in own or made_by(n, work.facts, work.facts.names.local)
    ]
    if not before and not calls and not holds(node.test, gast.NamedExpr):
        return [node]
    ended = work.name("ended") if node.orelse else ""
    leave = [work.bind(ended, expression("True"), node)] if ended else []
    leave.append(work.own(gast.Break(), node))
    test = work.own(gast.If(gast.UnaryOp(gast.Not(), node.test), leave, []), node)
    tests = plain_block(split_condition(test, work) or [], work) or [test]
    after, node.orelse = node.orelse, []
    node.test = expression("True")
    node.body = [*before, *tests, *node.body]
    if not ended:
        return [node]
    return [work.bind(ended, expression("False"), node), node, work.own(gast.If(name(ended), after, []), node)]


def _fold_extremes(node: Node, work: Rewriting) -> None:
    """`min(a, b, c)` as `min(min(a, b), c)`."""
    for call in [n for part in header(node) for n in find_nodes(part, gast.Call) if len(n.args) > 2]:
        found = binding_of(call.func, work.facts, work.facts.names.local)
        if found is None or found.object not in (builtins.min, builtins.max) or call.keywords:
            continue
        while len(call.args) > 2:
            inner = gast.Call(copy(call.func), call.args[:2], [])
            call.args[:2] = [gast.copy_location(inner, call)]
            work.facts.origin.foreign[node] = None


NEVER, SOMETIMES, ALWAYS = range(3)
WAYS = (gast.Break, gast.Continue, gast.Return)


@record
class Ways:
    """The names by which the ways out of one function go."""

    facts: Facts
    results: list[str] = field(default_factory=list)  # names of the returned values
    returned: str = ""  # whether a loop was left by `return`
    left: str = ""  # whether the loop around is left
    looped: int = 0  # how many loops are around


def structured_exits(function: Node, facts: Facts) -> Node:
    """Leave every block at its end only.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    if x < 0.0:\\n        return -x\\n    return x", after="structured_exits"))
    def f(x):
        if x < 0.0:
            result = -x
        else:
            result = x
        return result
    """
    if not _has_exits(function):
        return function
    _raise_for_nothing(function, facts)
    ways = Ways(facts)
    own = parameters(function)
    before = names_maybe_unbound(function.body, own, bound_names(statements(function.body)))
    returns = _returns(function.body)
    early = len(returns) > 1 or (returns and returns[0] is not function.body[-1])
    if early:
        _name_results(returns, ways)
    if any(isinstance(n, gast.For | gast.While) and _returns([n]) for n in statements(function.body)):
        ways.returned = facts.names.fresh("returned")
    block = _block(function.body, ways)
    if early:
        start = [_set(r, literal_node(0.0), function, ways) for r in ways.results if ways.returned]
        start += [_set(ways.returned, literal_node(False), function, ways)] if ways.returned else []
        values = [name(result) for result in ways.results]
        value = values[0] if len(values) == 1 else gast.Tuple(elts=values, ctx=gast.Load())
        block = [*start, *block, _own_text(gast.Return(value), returns[-1], ways)]
    function.body = block
    local = bound_names(statements(block))
    unclear = [n for n in names_maybe_unbound(block, own, local) if n not in before and n not in own]
    function.body = [*(_set(n, literal_node(0.0), function, ways) for n in unclear), *block]
    facts.names.local |= local
    return function


def _raise_for_nothing(function: Node, facts: Facts) -> None:
    """Where a function that returns a value somewhere returns nothing, or just ends, its derivative raises E5005."""

    def nothing(node: Node, what: str) -> Node:
        message = literal_node(f"E5005 `{facts.source.name}` {what}, which has no derivative")
        made = at(gast.Raise(gast.Call(name("TypeError"), [message], []), None), node)
        facts.origin.foreign[made] = None
        return made

    def given(node: Node) -> Block:
        if isinstance(node, gast.Return) and (node.value is None or getattr(node.value, "value", 0) is None):
            return [nothing(node, f"returns None in line {node.lineno}")]
        return [node]

    returns = _returns(function.body)
    if not any(r.value is not None and getattr(r.value, "value", 0) is not None for r in returns):
        return
    function.body = rewrite_statements(function.body, given, apart=(gast.FunctionDef,))
    if _status(function.body) != ALWAYS and not _ends(function.body):
        function.body.append(nothing(function.body[-1], "ends without a return"))


def _has_exits(function: Node) -> bool:
    last = function.body[-1]
    return any(
        isinstance(n, gast.Break | gast.Continue)
        or (isinstance(n, gast.Return) and n is not last)
        or (isinstance(n, gast.For | gast.While) and bool(n.orelse))
        for n in statements(function.body)
    )


def _returns(block: Block) -> list[Node]:
    return [n for n in statements(block) if isinstance(n, gast.Return)]


def _name_results(returns: list[Node], ways: Ways) -> None:
    """One name for the result, or one for each part of a tuple that all returns give."""
    for node in returns:
        if node.value is None or getattr(node.value, "value", 0) is None:
            raise ways.facts.refuse(
                node, "E5005", "the function returns nothing here", "return a value of the same kind everywhere"
            )
    sizes = {len(n.value.elts) if isinstance(n.value, gast.Tuple) else 0 for n in returns}
    count = sizes.pop() if len(sizes) == 1 else 0
    first = ways.facts.names.fresh("result")
    ways.results = [first] + [ways.facts.names.numbered_name("result") for _ in range(count - 1)]


def _status(block: Block) -> int:
    """Whether a block is left before its end."""
    found = NEVER
    for node in block:
        state = NEVER
        if isinstance(node, WAYS):
            state = ALWAYS
        elif isinstance(node, gast.If):
            sides = (_status(node.body), _status(node.orelse))
            state = sides[0] if sides[0] == sides[1] else SOMETIMES
        elif isinstance(node, gast.For | gast.While) and (_returns([node]) or _status(node.orelse) != NEVER):
            state = SOMETIMES
        if state == ALWAYS:
            return ALWAYS
        found = max(found, state)
    return found


def _ends(block: Block) -> bool:
    """Whether what follows a block is never reached: also behind `raise`, and a `while True` that no `break` leaves."""
    for node in block:
        if isinstance(node, gast.Return | gast.Raise):
            return True
        if isinstance(node, gast.If) and _ends(node.body) and _ends(node.orelse):
            return True
        endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)
        if endless and not any(isinstance(n, gast.Break) for n in own_statements(node.body)):
            return True
    return False


def _block(block: Block, ways: Ways, watched: tuple[str, ...] = ()) -> Block:
    """A block that is left at its end only; each way out of it also sets the names in `watched`."""
    made: Block = []
    for position, node in enumerate(block):
        rest = block[position + 1 :]
        if isinstance(node, WAYS):
            return [*made, *_way_out(node, ways), *(_set(flag, literal_node(True), node, ways) for flag in watched)]
        if isinstance(node, gast.If):
            states = (_status(node.body), _status(node.orelse))
            if rest and SOMETIMES in states and ALWAYS in states:  # what follows belongs to the other side
                side = node.body if states[0] == SOMETIMES else node.orelse
                side += rest
                return [*made, *_if(node, _block(node.body, ways, watched), _block(node.orelse, ways, watched))]
            if rest and SOMETIMES in states:
                return made + _skip_rest(node, rest, ways, watched)
            if ALWAYS in states:
                body = node.body + (rest if states[0] == NEVER else [])
                orelse = node.orelse + (rest if states[1] == NEVER else [])
                return [*made, *_if(node, _block(body, ways, watched), _block(orelse, ways, watched))]
            made += _if(node, _block(node.body, ways, watched), _block(node.orelse, ways, watched))
        elif isinstance(node, gast.For | gast.While):
            after, node.orelse = node.orelse, []
            returns = bool(_returns([node]))
            loop, left = _loop(node, ways)
            made += loop
            if after:
                rest = [_unless(left, after, node), *rest] if left else after + rest
            if rest and returns:
                return [*made, _unless(ways.returned, _block(rest, ways, watched), node)]
            if after:
                return [*made, *_block(rest, ways, watched)]
        else:
            made.append(node)
    return made


def _skip_rest(node: Node, rest: Block, ways: Ways, watched: tuple[str, ...]) -> Block:
    """An `if` that leaves from somewhere inside: a boolean tells whether the rest runs."""
    skipped = ways.facts.names.fresh("skipped")
    inner = (*watched, skipped)
    returns = any(isinstance(n, gast.For | gast.While) and _returns([n]) for n in statements([node]))
    found = _if(node, _block(node.body, ways, inner), _block(node.orelse, ways, inner))
    after = _unless(skipped, _block(rest, ways, watched), node)
    if returns:
        after = _unless(ways.returned, [after], node)
    return [_set(skipped, literal_node(False), node, ways), *found, after]


def _unless(flag: str, block: Block, like: Node) -> Node:
    return at(gast.If(expression(f"not {flag}"), block, []), like)


def _if(node: Node, body: Block, orelse: Block) -> Block:
    """An `if` with something in its body, or nothing."""
    if not body and not orelse:
        return []
    if not body:
        return [at(gast.If(at(gast.UnaryOp(gast.Not(), node.test), node), orelse, []), node)]
    node.body, node.orelse = body, orelse
    return [node]


def _way_out(node: Node, ways: Ways) -> Block:
    """What stands for `break`, `continue` or `return`."""
    if isinstance(node, gast.Continue):
        return []
    if isinstance(node, gast.Break):
        return [_set(ways.left, literal_node(True), node, ways)]
    if not ways.results:
        return [node]
    if len(ways.results) == 1:
        made = [_set(ways.results[0], node.value, node, ways)]
    else:
        targets = gast.Tuple(elts=[name(r, gast.Store()) for r in ways.results], ctx=gast.Store())
        made = [_own_text(gast.Assign([targets], node.value, None), node, ways)]
    return made + ([_set(ways.returned, literal_node(True), node, ways)] if ways.looped else [])


def _set(target: str, value: Node, like: Node, ways: Ways) -> Node:
    return _own_text(gast.Assign([name(target, gast.Store())], value, None), like, ways)


def _own_text(node: Node, like: Node, ways: Ways) -> Node:
    """A statement that is not the user's, at the line of one that is."""
    ways.facts.origin.foreign[node] = None
    return at(node, like)


def _loop(node: Node, ways: Ways) -> tuple[Block, str]:
    """A loop with what comes before it, and the flag that its `break` sets; what may be left early tests for that."""
    broken = any(isinstance(n, gast.Break) for n in own_statements(node.body))
    flags = ([ways.facts.names.fresh("left")] if broken else []) + ([ways.returned] if _returns([node]) else [])
    left = flags[0] if broken else ""
    outer, ways.left = ways.left, left
    ways.looped += 1
    before: Block = [_set(left, literal_node(False), node, ways)] if broken else []
    body = _block(node.body, ways) or [at(gast.Pass(), node)]
    ways.looped -= 1
    ways.left = outer
    going = " and ".join(f"not {flag}" for flag in flags)
    if not flags:
        node.body = body
        made = [node]
    elif isinstance(node, gast.While):
        endless = isinstance(node.test, gast.Constant) and bool(node.test.value)
        test = expression(going) if endless else expression(f"{going} and test", test=node.test)
        made = [*before, at(gast.While(test, body, []), node)]
    else:
        made = before + _as_while(node, body, going, ways)
    return made, left


def _as_while(node: Node, body: Block, going: str, ways: Ways) -> Block:
    """`for i in range(n)` as a loop over places, which ends when it is left."""
    if not isinstance(node.target, gast.Name):
        raise ways.facts.refuse(node.target, "E5005", "a loop over tuples is not accepted", "loop over an index")
    trips, place = ways.facts.names.fresh("trips"), ways.facts.names.fresh("place")
    over = node.iter
    if isinstance(over, gast.Call) and getattr(over.func, "id", "") == "reversed" and len(over.args) == 1:
        over = expression("over[::-1]", over=over.args[0])
    head = [
        _own_text(statement(f"{node.target.id} = {trips}[{place}]"), node, ways),
        _own_text(statement(f"{place} = {place} + 1"), node, ways),
    ]
    loop = gast.While(expression(f"{going} and {place} < len({trips})"), [*head, *body], [])
    return [_set(trips, copy(over), node, ways), _set(place, literal_node(0), node, ways), at(loop, node)]
