"""Records of loops whose trips are counted before: an array made once, in place of a list that grows."""

from __future__ import annotations

import gast

from srcgrad.derive.backwards import backwards
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.numba.numbers import numbers
from srcgrad.numba.respelled import is_call
from srcgrad.trees import Block, Node, at, copy, loads, name, same, statement, statements, stores, walk

MODES = ("reverse", "value-and-grad", "pull", "elementwise")


def tapes(program: Program, facts: Facts) -> Program:
    """Keep numbers of `for k in range(n)` in `x_stack = np.empty(max(n, 0))`: `x_stack[k] = x`, `x = x_stack[k]`.

    The same of `range(1, n)`, where the first place stays empty, and of ranges downwards, `range(n - 1, -1, -1)`.
    """
    if facts.mode not in MODES or {"max", "range", "reversed"} & facts.local:
        return program
    known = numbers(program, facts)
    for loop in [node for node in program.forward if isinstance(node, gast.For)]:
        back = _backward(loop, program, facts)
        if back is None:
            continue
        kept = [stack for stack in _stacks(loop, facts) if _is_plain(stack, loop, back, program, facts, known)]
        counter = _counter(loop, back, facts) if kept else ""
        for stack in kept if counter else ():
            _replace(stack, counter, loop, back, program, facts)
    return program


def _backward(loop: Node, program: Program, facts: Facts) -> Node | None:
    """The loop that undoes one over `range(n)`, where nothing binds `n` once it has begun; None if there is none."""
    end = _end(loop, facts)
    if end is None or loop.orelse or not isinstance(loop.target, gast.Name):
        return None
    behind = [*program.forward[program.forward.index(loop) :], *program.backward]
    if set(loads(loop.iter)) & {one for node in statements(behind) for one in stores(node)}:
        return None
    turned = backwards(copy(loop.iter))
    found = [n for n in program.backward if isinstance(n, gast.For) and same(n.iter, turned)]
    alike = [n for n in found if n.lineno == loop.lineno and same(n.target, loop.target)]
    return alike[0] if len(alike) == 1 else None


def _end(loop: Node, facts: Facts) -> Node | None:
    """`n` of `range(n)`, `range(1, n)` or `range(n - 1, -1, -1)`, if it is spelled with names and integers alone."""
    upwards = loop.iter
    if is_call(upwards, "range", facts) and len(upwards.args) == 3:
        upwards = backwards(copy(upwards))
    if not is_call(upwards, "range", facts) or len(upwards.args) not in (1, 2):
        return None
    *first, end = upwards.args
    if any(type(getattr(one, "value", None)) is not int for one in first):  # a negative one has a sign, and no value
        return None
    plain = all(isinstance(n, gast.Name | gast.Constant | gast.BinOp | gast.operator | gast.Load) for n in walk(end))
    return end if plain else None


def _unnested(block: Block) -> list[Node]:
    """The statements of a block that run at most once in a trip: those in branches, but not in loops."""
    found: list[Node] = []
    for node in block:
        found.append(node)
        if isinstance(node, gast.If):
            found += _unnested(node.body) + _unnested(node.orelse)
    return found


def _stacks(loop: Node, facts: Facts) -> list[str]:
    pushed = [
        facts.pushes[node] for node in _unnested(loop.body) if node in facts.pushes and isinstance(node, gast.Expr)
    ]
    return list(dict.fromkeys(pushed))


def _is_plain(stack: str, loop: Node, back: Node, program: Program, facts: Facts, known: frozenset[str]) -> bool:
    """Whether a stack is made empty at the top, and gets and gives one real number in a trip."""
    mentions = [n for n in statements([*program.forward, *program.backward]) if stack in (*loads(n), *stores(n))]
    pushes = [n for n in _unnested(loop.body) if n in mentions and isinstance(n, gast.Expr)]
    pops = [n for n in _unnested(back.body) if facts.restores.get(n) == stack]
    made = [n for n in program.forward if n in mentions and isinstance(n, gast.Assign)]
    if not len(pushes) == len(pops) == len(made) == 1 or len(mentions) != 3:
        return False
    [value] = pushes[0].value.args
    return isinstance(value, gast.Name) and value.id in facts.active and value.id in known


def _counter(loop: Node, back: Node, facts: Facts) -> str:
    """The name that counts trips in both loops; a new one where nobody reads it. Empty if the body binds it."""
    own = str(loop.target.id)
    inside = [*statements(loop.body), *statements(back.body)]
    if any(own in stores(node) for node in inside):
        return ""
    if own != "_":
        return own
    if any(own in loads(node) for node in inside):
        return ""
    fresh = facts.names.fresh("k")
    for each in (loop, back):
        each.target = name(fresh, gast.Store())
    return fresh


def _replace(stack: str, counter: str, loop: Node, back: Node, program: Program, facts: Facts) -> None:
    trips = _end(loop, facts)
    length = copy(trips) if isinstance(trips, gast.Constant) else gast.Call(name("max"), [copy(trips), _zero()], [])
    [made] = [n for n in program.forward if isinstance(n, gast.Assign) and stack in stores(n)]
    array = statement(f"{stack} = {facts.library('np')}.empty(length)", length=length)
    facts.pushes[array] = facts.pushes.pop(made, stack)
    program.forward.remove(made)
    program.forward.insert(program.forward.index(loop), array)
    for block in (loop.body, back.body):
        _in_block(block, stack, counter, facts)


def _zero() -> Node:
    return gast.Constant(value=0, kind=None)


def _in_block(block: Block, stack: str, counter: str, facts: Facts) -> None:
    for place, node in enumerate(block):
        if isinstance(node, gast.If):
            _in_block(node.body, stack, counter, facts)
            _in_block(node.orelse, stack, counter, facts)
        elif facts.restores.get(node) == stack:
            block[place] = at(statement(f"x = {stack}[{counter}]", x=node.targets[0].id), node)
            facts.restores[block[place]] = stack
        elif isinstance(node, gast.Expr) and facts.pushes.get(node) == stack:
            block[place] = at(statement(f"{stack}[{counter}] = value", value=node.value.args[0]), node)
            facts.pushes[block[place]] = stack
