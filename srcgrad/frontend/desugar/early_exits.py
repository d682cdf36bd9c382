"""`break`, `continue`, `return` before the end, and `else` after loops, as branches and tests.

What follows a way out goes into the branch that does not take it. A loop that may be left early becomes a `while`
whose test says so; its variable keeps the value that it had when the loop was left.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.core.facts import Facts
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    copy,
    expression,
    literal_node,
    name,
    statement,
    statements,
    stores,
)
from srcgrad.core.visitor import own_statements
from srcgrad.frontend.early_facts import names_maybe_unbound

NEVER, SOMETIMES, ALWAYS = range(3)
WAYS = (gast.Break, gast.Continue, gast.Return)


@dataclass
class Ways:
    """The names by which the ways out of one function go."""

    facts: Facts
    results: list[str] = field(default_factory=list)  # names of the returned values
    returned: str = ""  # whether a loop was left by `return`
    left: str = ""  # whether the loop around is left
    looped: int = 0  # how many loops are around


def exits(function: Node, facts: Facts) -> Node:
    """Leave every block at its end only.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    if x < 0.0:\\n        return -x\\n    return x", after="exits"))
    def f(x):
        if x < 0.0:
            result = -x
        else:
            result = x
        return result
    """
    if not _has_exits(function):
        return function
    ways = Ways(facts)
    own = [a.id for a in function.args.posonlyargs + function.args.args + function.args.kwonlyargs]
    local = {bound for node in statements(function.body) for bound in stores(node)}
    before = names_maybe_unbound(function.body, own, local)
    returns = _returns(function.body)
    early = len(returns) > 1 or (returns and returns[0] is not function.body[-1])
    if early:
        _name_results(returns, ways)
    if any(isinstance(n, gast.For | gast.While) and _returns([n]) for n in statements(function.body)):
        ways.returned = facts.names.fresh("returned")
    leaves, ends = _status(function.body), _ends(function.body)
    block = _block(function.body, ways)
    if early and leaves != ALWAYS and not ends:
        raise facts.refuse(
            function.body[-1], "E5005", "the function may end without a return", "return a value at its end as well"
        )
    if early:
        start = [_set(r, literal_node(0.0), function, ways) for r in ways.results if ways.returned]
        start += [_set(ways.returned, literal_node(False), function, ways)] if ways.returned else []
        values = [name(result) for result in ways.results]
        value = values[0] if len(values) == 1 else gast.Tuple(elts=values, ctx=gast.Load())
        block = [*start, *block, _own_text(gast.Return(value), returns[-1], ways)]
    local |= {bound for node in statements(block) for bound in stores(node)}
    unclear = [n for n in names_maybe_unbound(block, own, local) if n not in before and n not in own]
    function.body = [*(_set(n, literal_node(0.0), function, ways) for n in unclear), *block]
    facts.local |= {bound for node in statements(block) for bound in stores(node)}
    return function


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
    ways.facts.foreign[node] = None
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
