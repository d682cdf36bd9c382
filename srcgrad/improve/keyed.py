"""Parts of a dict: what nothing reads is not brought back, and an adjoint that begins anew is bound to what begins it.

state["m"] = m_stack.pop()
state_bar["m"] = zeros_like(state["m"])             =>  state_bar["m"] = sum_to(0.9 * g, m)
state_bar["m"] = add(state_bar["m"], sum_to(0.9 * g, m))
"""

from __future__ import annotations

from typing import Any  # keys of dicts

import gast

from srcgrad.derive.program import Program, rebuilt
from srcgrad.facts import Facts
from srcgrad.improve.dead import dead
from srcgrad.improve.inline import count
from srcgrad.trees import (
    COMPOUND,
    Block,
    Node,
    is_write,
    loads,
    part_written,
    statements,
    stores,
    target,
    walk,
    written,
)

Key = tuple[Any]  # a literal


def keyed(program: Program, facts: Facts) -> Program:
    """Take each key of a dict for a value of its own, where all keys that are stored are literals."""
    if facts.generated or facts.pushes_forward:
        return program
    dicts = [one for one in dict.fromkeys(s for node in program.forward for s in stores(node)) if _is_dict(one, facts)]
    adjoints = {adjoint: one for adjoint, one in facts.adjoint_of.items() if one in dicts}
    changed = [_begun(program.backward, adjoint, one, program, facts) for adjoint, one in adjoints.items()]
    while any(_unread(one, program, facts) for one in [*adjoints, *dicts]):
        changed.append(True)
    return dead(program, facts) if any(changed) else program


def _is_dict(held: str, facts: Facts) -> bool:
    return facts.list_kind(held) == "dict"


def _key(part: Node, held: str) -> Key | None:
    """The k of `held[k]`, if it is a literal; None for anything else. 1, 1.0 and True are one key."""
    if not isinstance(part, gast.Subscript) or getattr(part.value, "id", "") != held:
        return None
    return (part.slice.value,) if isinstance(part.slice, gast.Constant) else None


def _begun(block: Block, adjoint: str, held: str, program: Program, facts: Facts) -> bool:
    """Bind parts of an adjoint at once to what would be added to zeros; whether there was one."""
    changed = False
    for node in block:
        if isinstance(node, COMPOUND):
            changed = _begun(node.body, adjoint, held, program, facts) or changed
            changed = _begun(getattr(node, "orelse", None) or [], adjoint, held, program, facts) or changed
    cleared = [node for node in block if is_write(node) and _is_cleared(node, adjoint, held, facts)]
    if not cleared or not (blocks := _blocks(program.forward)):
        return changed
    uses, made = count(program.block), {target(node): node for node in block}
    for zeros in cleared:
        key, place = _key(zeros.targets[0], adjoint), block.index(zeros)
        behind = next((node for node in block[place + 1 :] if _mentions(node, adjoint, key)), None)
        first = None if behind is None else _added(behind, adjoint, key, facts)
        once = first is not None and uses.bound.get(first) == uses.read.get(first) == 1
        value = made[first].value if once and first in made else None
        if behind is not None and value is not None and _mirrors(value, blocks, held, key, program, facts):
            behind.value = gast.Name(first, gast.Load(), None, None)
            block.remove(zeros)
            changed = True
    return changed


def _is_cleared(node: Node, adjoint: str, held: str, facts: Facts) -> bool:
    """`held_bar[k] = zeros_like(held[k])`"""
    key = _key(part_written(node), adjoint)
    if key is None or not isinstance(node, gast.Assign) or not _is_call(node.value, "zeros_like", facts):
        return False
    return [_key(argument, held) for argument in node.value.args] == [key]


def _is_call(value: Node, helper: str, facts: Facts) -> bool:
    return isinstance(value, gast.Call) and getattr(value.func, "id", None) == facts.imports.get(helper, "")


def _mentions(node: Node, held: str, key: Key | None) -> bool:
    """Whether a statement touches a part of a dict, or the whole of it."""
    inner = [part for part in walk(node) if _key(part, held) not in (None, key)]
    named = [one for one in walk(node) if isinstance(one, gast.Name) and one.id == held]
    return len(named) > len(inner)


def _added(node: Node, adjoint: str, key: Key | None, facts: Facts) -> str | None:
    """The e of `held_bar[k] = add(held_bar[k], e)`."""
    if not isinstance(node, gast.Assign) or not is_write(node) or not _is_call(node.value, "add", facts):
        return None
    one, two = node.value.args
    if _key(node.targets[0], adjoint) != key or _key(one, adjoint) != key or not isinstance(two, gast.Name):
        return None
    return str(two.id)


def _mirrors(value: Node, blocks: list[Block], held: str, key: Key | None, program: Program, facts: Facts) -> bool:
    """Whether a value is `sum_to(g, t)`, where t is what the store that is undone has replaced."""
    read = getattr(value.args[1], "id", "") if _is_call(value, "sum_to", facts) and len(value.args) == 2 else ""
    old = facts.definition.get(facts.again.get(read, read))
    if not isinstance(old, gast.Assign) or read in facts.mutable or _key(old.value, held) != key:
        return False
    writes = [node for node in statements(program.forward) if held in written(node)]
    if any(not is_write(node) or _key(part_written(node), held) is None for node in writes):
        return False  # a key that is computed, or an element of an item
    replaced = [node for node in writes if _key(part_written(node), held) == key and node not in facts.pushes]
    bound = [node for node in statements(program.forward) if target(node) == held]
    around = next((each for each in blocks if old in each), None)
    if around is None:
        return False  # not in a loop, nor in a branch
    return len(bound) == len(replaced) == 1 and replaced[0] in around[around.index(old) :] and bound[0] not in around


def _blocks(block: Block) -> list[Block]:
    inner = [getattr(node, which, None) for node in statements(block) for which in ("body", "orelse")]
    return [one for one in inner if one]


def _unread(held: str, program: Program, facts: Facts) -> bool:
    """Drop stores into parts of a dict that nothing reads behind them; whether there was one."""
    gone: dict[Node, None] = {}
    top = [*program.backward, program.result]
    for position, outer in enumerate(program.backward):
        for node in statements([outer]):
            key = _key(part_written(node), held) if isinstance(node, gast.Assign) and is_write(node) else None
            if key is None or facts.hooked(node):
                continue
            text = [each for each in statements(top[position:]) if each is not node]
            if held not in loads(node.value) and not any(_reads(each, held, key) for each in text):
                gone[node] = None
    if gone:
        program.backward = rebuilt(program.backward, {n: None for n in statements(program.backward) if n not in gone})
    return bool(gone)


def _reads(node: Node, held: str, key: Key | None) -> bool:
    """Whether a statement reads a part of a dict, or the whole of it: not where it stores into one."""
    own = part_written(node) if isinstance(node, gast.Assign) and is_write(node) else None
    if own is not None and _key(own, held) is not None:
        return _mentions(node.value, held, key)
    if isinstance(node, COMPOUND):
        return held in loads(node)
    return _mentions(node, held, key)
