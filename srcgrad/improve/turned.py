"""A temporary that holds a negative holds the positive, where fewer signs are left: its readers subtract."""

from __future__ import annotations

import gast

from srcgrad.analyse.floating import fits, is_elementwise, is_linear, negated
from srcgrad.derive.program import Program
from srcgrad.facts import Facts, copied
from srcgrad.improve.inline import bindings, replace
from srcgrad.improve.signs import settled
from srcgrad.trees import COMPOUND, Node, loads, name, statements, target, walk


def turned(program: Program, facts: Facts) -> Program:
    """Take the sign off such a value: `t = -a`, `u + t * b` is `u - a * b`, and then `t = a` is a second name for a.

    >>> from srcgrad.phases import explain_text
    >>> lines = explain_text("def f(a, b):\\n    return np.sin(a - a * b)", after="turned").splitlines()
    >>> print("\\n".join(lines[-4:-1]))
    t3_bar = t2_bar
    a_bar = sum_to(t2_bar - t3_bar * b, a)
    b_bar = -sum_to(t3_bar * a, b)
    """
    ours = [node for node in statements(program.forward) if node in facts.tangents]
    every = [*ours, *statements(program.backward)]
    if not any(target(node) and negated(node.value, facts) is not None for node in every):
        return program
    readers: dict[str, list[Node]] = {}
    tangents = [node for node in ours if _is_fixed(node, facts)]
    for node in [*(statements(program.forward) if tangents else ()), *statements(program.backward), program.result]:
        for one in dict.fromkeys(loads(node)):
            readers.setdefault(one, []).append(node)
    bound = bindings(program.block)
    kept = {one for node in statements(program.forward) if node not in facts.tangents for one in loads(node)}
    dropped = [n for n in program.forward if n in facts.tangents and bound.get(_negated_name(n, facts)) == 1]
    for node in [*tangents, *statements(program.backward)]:
        held = target(node)
        if held is None or bound[held] != 1 or held in kept or not (_is_unnamed(held, facts) or node in dropped):
            continue
        value = negated(node.value, facts)
        if value is not None and node not in facts.accumulates and _is_apart(value, facts):
            _turn(node, value, readers.get(held, []), facts)
    return program


def _is_unnamed(held: str, facts: Facts) -> bool:
    """Whether a name is that of a temporary, or of the adjoint of one, to no part of which anything is added."""
    return facts.adjoint_of.get(held, held) in facts.temporaries and held not in facts.elements


def _is_fixed(node: Node, facts: Facts) -> bool:
    """Whether the tangent that a statement binds, and what it is computed from, stay what they are."""
    held = str(target(node))
    names = [facts.adjoint_of.get(one, one) for one in (held, *loads(node))]
    changing = (facts.mutable, facts.viewed, facts.swapped, facts.containers, facts.lists, facts.added_to)
    return held not in facts.seeds and not any(one in table for one in names for table in changing)


def _negated_name(node: Node, facts: Facts) -> str:
    """The c_dot of `t_dot = -c_dot`, the tangent of `t = 1.0 - c`: of a name of the user, it goes with its sign."""
    value = negated(node.value, facts) if target(node) is not None else None
    return value.id if isinstance(value, gast.Name) else ""


def _is_apart(value: Node, facts: Facts) -> bool:
    """Whether a value is no part of an array that changes in place, as its negative is none."""
    if isinstance(value, gast.Name):
        changing = (facts.elements, facts.mutable, facts.viewed, facts.swapped, facts.containers)
        return not any(value.id in table for table in changing)
    if is_linear(value, facts):
        return _is_apart(value.args[0], facts)
    if isinstance(value, gast.Call):
        method = getattr(value.func, "attr", "") in ("sum", "copy") and not value.args
        return method or is_elementwise(value, facts)
    return isinstance(value, gast.BinOp)


def _turn(node: Node, value: Node, readers: list[Node], facts: Facts) -> None:
    """Let the name hold `value`, the negative of what it holds, if what is left is shorter.

    It is no adjoint then, and is called a temporary.
    """
    held = str(target(node))
    if any(isinstance(reader, COMPOUND) or not hasattr(reader, "value") for reader in readers):
        return
    before = _signs(node.value) + sum(_signs(reader.value) for reader in readers)
    if isinstance(value, gast.Name) and _is_number(value.id, facts):
        before += 1  # a sign of a number costs nothing, and one is shorter than a line
    after, changed = _signs(value), []
    for reader in readers:
        other = _read_negative(reader, held, facts)
        after += _signs(other.value)
        changed.append(other)
    shorter = after == before and isinstance(value, gast.Name)  # then the name goes as well
    if after < before or shorter:
        node.value = value
        if facts.adjoint_of.get(held) in facts.temporaries:
            facts.opposites[held] = None
        for reader, other in zip(readers, changed, strict=True):
            reader.value = other.value
            if isinstance(reader, gast.AugAssign):
                reader.op = other.op


def _is_number(held: str, facts: Facts) -> bool:
    spec = facts.value_spec.get(facts.adjoint_of.get(held, held))
    return held in facts.seeds or (spec is not None and spec.scalar)


def _read_negative(reader: Node, held: str, facts: Facts) -> Node:
    """A statement that reads `-t` where it has read t, with its signs in their places."""
    other = copied(reader, facts)
    shapes = {id(n.args[1]) for n in walk(other) if isinstance(n, gast.Call) and _is_fitted(n, facts)}
    for item in [n for n in walk(other.value) if isinstance(n, gast.Name) and n.id == held and id(n) not in shapes]:
        replace(other, item, gast.UnaryOp(gast.USub(), name(held)))
    return settled(other, facts)


def _is_fitted(call: Node, facts: Facts) -> bool:
    """Whether a call reads the shape alone of its second argument."""
    return len(call.args) == 2 and fits(call, facts)


def _signs(value: Node) -> int:
    """How many operations turn a sign."""
    return sum(isinstance(n, gast.UnaryOp) and isinstance(n.op, gast.USub) for n in walk(value))
