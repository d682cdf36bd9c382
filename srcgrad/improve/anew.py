"""What nothing changes any more is not copied: an array that a trip has made is kept as it is, an adjoint goes on.

lap_stack.append(lap.copy())            lap_stack.append(lap)
u_bar = np.array(sum_to(u_bar, u))  =>  u_bar = sum_to(u_bar, u)
"""

from __future__ import annotations

import gast

from srcgrad.analyse.alias import is_fresh
from srcgrad.derive.adjoints import is_fresh_value
from srcgrad.derive.program import Program
from srcgrad.derive.stacks import is_push
from srcgrad.facts import Facts
from srcgrad.trees import BLOCKS, COMPOUND, Block, Node, loads, name, statements, stores, target, walk, written


def anew(program: Program, facts: Facts) -> Program:
    """Keep what the trip has made for itself, and let an adjoint that only arithmetic reads be its own successor."""
    if not facts.generated and not facts.pushes_forward:
        returned = loads(program.result)
        for block in _blocks(program.forward):
            for position, node in enumerate(block):
                held = _kept_copy(node, facts)
                if held is not None and held not in returned and _is_own(held, block, position, program, facts):
                    node.value.args[0] = name(held)
        for node in statements(program.backward):
            held = target(node)
            if held is not None and _successor(node, held, facts) is not None and _goes_on(held, program, facts):
                node.value = _successor(node, held, facts)
    return program


def _blocks(block: Block) -> list[Block]:
    """The blocks of compound statements."""
    inner = [getattr(node, which, None) for node in statements(block) if isinstance(node, COMPOUND) for which in BLOCKS]
    return [one for one in inner if one]


def _kept_copy(node: Node, facts: Facts) -> str | None:
    """The h of `h_stack.append(h.copy())`."""
    call = node.value.args[0] if node in facts.pushes and is_push(node) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute) or call.func.attr != "copy":
        return None
    return call.func.value.id if isinstance(call.func.value, gast.Name) else None


def _is_own(held: str, block: Block, position: int, program: Program, facts: Facts) -> bool:
    """Whether a block binds a name to a new array and writes into it before a place, and nothing else does."""
    begun = next((k for k, node in enumerate(block[:position]) if target(node) == held), None)
    if begun is None or held in facts.swapped or not is_fresh(block[begun], facts):
        return False
    before = dict.fromkeys(statements(block[begun + 1 : position]))
    changes = [node for node in statements(program.forward) if held in stores(node) and node is not block[begun]]
    changes += [node for node in statements(program.backward) if held in written(node)]
    return all(held in written(node) and node in before for node in changes)


def _successor(node: Node, held: str, facts: Facts) -> Node | None:
    """The `sum_to(u, x)` of `u = np.array(sum_to(u, x))`, or u itself."""
    value = node.value if isinstance(node, gast.Assign) else None
    if not isinstance(value, gast.Call) or gast.unparse(value.func) != f"{facts.imports.get('np')}.array":
        return None
    inner = value.args[0] if len(value.args) == 1 and not value.keywords else value
    summed = isinstance(inner, gast.Call) and getattr(inner.func, "id", "") == facts.imports.get("sum_to")
    return inner if getattr(inner.args[0] if summed else inner, "id", "") == held else None


def _goes_on(held: str, program: Program, facts: Facts) -> bool:
    """Whether an adjoint is an array of its own, with axes, which no other name may hold."""
    axes = False
    for node in statements(program.backward):
        if _may_share(node, held) and _successor(node, held, facts) is None:
            return False
        if held in stores(node) and held not in written(node) and not _is_owned(node, held, facts):
            return False
        parts = [n for n in walk(node) if isinstance(n, gast.Subscript) and getattr(n.value, "id", "") == held]
        axes = axes or any(isinstance(n, gast.Slice) for part in parts for n in walk(part.slice))
    return axes and held not in facts.seeds


def _is_owned(node: Node, held: str, facts: Facts) -> bool:
    """Whether a statement binds an adjoint to a new array, to a sum with it, or to its own successor."""
    if node in facts.zeros or node in facts.accumulates or _successor(node, held, facts) is not None:
        return True
    return target(node) == held and isinstance(node, gast.Assign) and is_fresh_value(node.value, facts)


def _may_share(node: Node, held: str) -> bool:
    """Whether a statement, or an expression, may give the array of a name to another one: arithmetic does not."""
    if isinstance(node, gast.Name):
        return bool(node.id == held)
    if isinstance(node, gast.Assign | gast.Expr | gast.Subscript):
        return _may_share(node.value, held)
    if isinstance(node, gast.Call):
        return any(_may_share(part, held) for part in (node.func, *node.args, *(word.value for word in node.keywords)))
    if isinstance(node, gast.For):
        return held in stores(node) or _may_share(node.iter, held)
    arithmetic = isinstance(node, gast.BinOp | gast.UnaryOp | gast.Constant | gast.AugAssign)
    return not arithmetic and held in loads(node)
