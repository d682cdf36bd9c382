"""The tangent of a sum that broadcasts is widened to its shape; where it has that already, it need only be checked."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import Node, expression, loads, same, statements, stores, target, walk


def widened(program: Program, facts: Facts) -> None:
    """Let `np.broadcast_to(e, (m, *np.shape(p))).reshape(m, -1)` be `e.reshape(m, np.size(p))`, a name between or not.

    That raises where e has fewer numbers, and then the text is made anew without this.
    """
    before: Node | None = None
    for node in list(program.forward):
        for flat in walk(node) if isinstance(node, gast.Assign) else ():
            if not _is_flat(flat):
                continue
            wide = flat.func.value
            named = before is not None and isinstance(wide, gast.Name) and _is_between(wide.id, before, program)
            found = _parts(before.value if before is not None and named else wide, flat.args[0], facts)
            if found is not None:
                flat.func.value = found[0]
                flat.args[1] = _size(found[1], node, program, facts)
                if named:
                    program.forward.remove(before)
        before = node


def _size(shown: Node, here: Node, program: Program, facts: Facts) -> Node:
    """How many numbers an array has: that of `y = np.reshape(p, (-1,))` has as many, and p need have no name."""
    library = facts.library("np")
    for node in program.forward[: program.forward.index(here)]:
        value, held = getattr(node, "value", None), target(node)
        if held is None or not isinstance(value, gast.Call) or gast.unparse(value.func) != f"{library}.reshape":
            continue
        if same(value.args[0], shown) and all(_times(one, program) == 1 for one in (held, shown.id)):
            return expression("y.size", y=held)
    return expression(f"{library}.size(p)", p=shown)


def _times(held: str, program: Program) -> int:
    """How often a name is bound."""
    return [one for other in statements(program.block) for one in stores(other)].count(held)


def _is_flat(node: Node) -> bool:
    """Whether an expression is `e.reshape(m, -1)`."""
    if not isinstance(node, gast.Call) or len(node.args) != 2 or not isinstance(node.func, gast.Attribute):
        return False
    flat: bool = node.func.attr == "reshape" and gast.unparse(node.args[1]) == "-1"
    return flat


def _is_between(held: str, before: Node, program: Program) -> bool:
    """Whether a name is bound in the statement before, and read once."""
    if not isinstance(before, gast.Assign) or target(before) != held:
        return False
    text = [*statements(program.block), program.result]
    return [one for other in text for one in (*loads(other), *stores(other))].count(held) == 2


def _parts(call: Node, count: Node, facts: Facts) -> tuple[Node, Node] | None:
    """The e and p of `np.broadcast_to(e, (m, *np.shape(p)))`, where e is a new array."""
    library = facts.imports.get("np")
    if not isinstance(call, gast.Call) or len(call.args) != 2 or gast.unparse(call.func) != f"{library}.broadcast_to":
        return None
    value, shape = call.args
    if not isinstance(value, gast.BinOp | gast.UnaryOp) or not isinstance(shape, gast.Tuple) or len(shape.elts) != 2:
        return None
    first, rest = shape.elts
    if not same(first, count) or not isinstance(rest, gast.Starred) or not isinstance(rest.value, gast.Call):
        return None
    shown = rest.value.args[0] if gast.unparse(rest.value.func) == f"{library}.shape" else None
    return (value, shown) if isinstance(shown, gast.Name) else None
