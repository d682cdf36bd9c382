"""The forward half reads as the user wrote it, wherever no intermediate value is needed elsewhere."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import COMPOUND, Block, Node, loads, statements, stores


def spelling(program: Program, facts: Facts) -> Program:
    """Put the user's statement in the place of the normal statements that stand for it."""
    readers: dict[str, list[Node]] = {}
    for node in statements(program.block):
        user = facts.origin.get(node, node) if node not in facts.effects else node
        for name in loads(node):
            if name in facts.temporaries:
                readers.setdefault(name, []).append(user)
    program.forward = _block(program.forward, readers, facts)
    return program


def _block(block: Block, readers: dict[str, list[Node]], facts: Facts) -> Block:
    made: Block = []
    position = 0
    while position < len(block):
        node = block[position]
        user = facts.origin.get(node)
        if user is None or node in facts.effects:
            if isinstance(node, COMPOUND):
                node.body = _block(node.body, readers, facts)
                node.orelse = _block(getattr(node, "orelse", None) or [], readers, facts)
            made.append(node)
            position += 1
            continue
        run, end = _run(block, position, user, facts)
        saves = [n for n in block[position:end] if n in facts.pushes or n in facts.tangents]
        plain = _plain(user, facts)
        if plain is not None and _private(run, user, readers, facts):
            made += _placed(block[position:end], saves, plain, facts)
        else:
            made += block[position:end]
        position = end
    return made


def _placed(run: Block, others: Block, plain: Node, facts: Facts) -> Block:
    """The user's statement where the last of its run was: saves before it, tangents on their own side."""
    last = max(k for k, node in enumerate(run) if node not in others)
    before = [n for n in run[:last] if n in others]
    return [*before, plain, *(n for n in run[last:] if n in others)]


def _run(block: Block, start: int, user: Node, facts: Facts) -> tuple[Block, int]:
    """The statements that stand for `user`, and the position after the last of them; saves may lie between."""
    run: Block = []
    end = start
    for position in range(start, len(block)):
        node = block[position]
        if node in facts.effects:
            break
        if facts.origin.get(node) is user:
            run.append(node)
            end = position + 1
        elif node not in facts.pushes and node not in facts.tangents:
            break
    return run, end


def _plain(user: Node, facts: Facts) -> Node | None:
    """The user's statement, if it is one that binds names."""
    plain = facts.plain.get(user, user)
    return plain if isinstance(plain, gast.Assign) and user not in facts.rewritten else None


def _private(run: Block, user: Node, readers: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether the run still binds one of the user's names, and its temporaries are read by itself only."""
    flat = list(statements(run))
    if any(node in facts.pushes or node in facts.tangents for node in flat):
        return False  # a conditional expression that something was added to
    bound = [name for node in flat for name in stores(node)]
    if any(name in facts.temporaries and name not in bound for node in flat for name in loads(node)):
        return False  # a check stands between this and the rest
    if not any(name not in facts.temporaries for name in bound):
        return False
    wanted = dict.fromkeys(stores(_plain(user, facts)))
    if any(name not in bound for name in wanted) or any(n not in wanted and n not in facts.temporaries for n in bound):
        return False  # the latter: which way a conditional expression inside of another went is known by name
    return all(reader is user for name in bound if name in facts.temporaries for reader in readers.get(name, []))
