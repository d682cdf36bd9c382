"""`x_bar = x_bar + e` becomes `x_bar += e` where the array was made here and nothing else can see it."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import SCALAR, UNKNOWN, Facts
from srcgrad.trees import COMPOUND, Block, Node, header, name, statements, target, walk

_ARITHMETIC = (gast.BinOp, gast.UnaryOp, gast.Constant)
# Helpers whose result is an array of its own, whatever they are given.
_PRODUCTS = ("matmul_left", "matmul_right", "matmul_both", "dot_both")


def accumulate(program: Program, facts: Facts) -> Program:
    """Add in place to adjoints that own their array; the last use of an adjoint may hand it on."""
    owned = _owned(program.backward, facts)
    program.backward = _block(program.backward, owned, facts)
    return program


def _owned(block: Block, facts: Facts) -> dict[str, None]:
    """Adjoints all of whose bindings make a new array, and that are not handed on before they are complete.

    What happens inside one loop counts as happening at once.
    """
    fresh: dict[str, bool] = {}
    counted: dict[str, bool] = {}
    last_add: dict[str, int] = {}
    handed: dict[str, int] = {}
    for position, top in enumerate(block):
        for node in statements([top]):
            bound = target(node)
            if bound in facts.adjoint_of:
                given = node in facts.accumulates or node in facts.zeros
                fits = facts.adjoint_of[bound] not in facts.complex or _adds_complex(node, facts)
                made = fits and (given or _is_new(node.value, facts))
                fresh[bound] = fresh.get(bound, True) and made
                counted[bound] = counted.get(bound, True) and made and (given or isinstance(node.value, _ARITHMETIC))
            if node in facts.accumulates and bound is not None:
                last_add[bound] = position
            for shared in _handed_on(node):
                handed.setdefault(shared, position)
    numbers = {
        a: None for a, p in facts.adjoint_of.items() if a in last_add and counted.get(a) and _is_number(p, facts)
    }
    complete = {
        found: None
        for found, own in fresh.items()
        if own and found not in facts.seeds and handed.get(found, len(block)) > last_add.get(found, -1)
    }
    return numbers | complete


def _adds_complex(node: Node, facts: Facts) -> bool:
    """Whether the array of a complex adjoint is known to be complex, so that complex numbers can be added to it."""
    primal = facts.adjoint_of[str(target(node))]
    return node in facts.accumulates or (node in facts.zeros and facts.kinds.get(primal, UNKNOWN).complex)


def _is_number(primal: str, facts: Facts) -> bool:
    """Whether the adjoint has no axes; made by arithmetic it is a number, which `+=` binds anew.

    What `np.where` makes, and a seed that somebody gives, may be an array without axes, which `+=` changes.
    """
    if primal in facts.wrt:
        return facts.kinds.get(primal) == SCALAR
    spec = facts.value_spec.get(primal)
    return spec is not None and spec.scalar


def _is_new(value: Node, facts: Facts) -> bool:
    """Whether an expression makes a new array: arithmetic does, but for `+x`, and a sum of what it has made."""
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Name):
        called = value.func.id
        if called == facts.imports.get("sum_to"):
            return len(value.args) == 2 and _is_new(value.args[0], facts)
        return any(called == facts.imports.get(helper) for helper in _PRODUCTS)
    return isinstance(value, _ARITHMETIC) and not isinstance(getattr(value, "op", None), gast.UAdd)


def _handed_on(node: Node) -> list[str]:
    """Names whose very array another name, a container or a function may get."""
    found = []
    for part in header(node):
        for item in walk(part):
            if isinstance(item, gast.Assign) and isinstance(item.value, gast.Name):
                found.append(item.value.id)
            elif isinstance(item, gast.Call):
                found += [a.id for a in item.args if isinstance(a, gast.Name)]
            elif isinstance(item, gast.Tuple | gast.List):
                found += [e.id for e in item.elts if isinstance(e, gast.Name)]
            elif isinstance(item, gast.Attribute | gast.Subscript) and isinstance(item.value, gast.Name):
                if isinstance(item.ctx, gast.Load):
                    found.append(item.value.id)
    return found


def _block(block: Block, owned: dict[str, None], facts: Facts) -> Block:
    made = []
    for node in block:
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, owned, facts)
            node.orelse = _block(getattr(node, "orelse", None) or [], owned, facts)
        if node in facts.accumulates and target(node) in owned:
            node = _in_place(node)
        made.append(node)
    return made


def _in_place(node: Node) -> Node:
    """`x_bar = x_bar + e` as `x_bar += e`, if that is its form still."""
    bound = target(node)
    value = node.value
    if not (
        isinstance(value, gast.BinOp)
        and isinstance(value.op, gast.Add | gast.Sub)
        and isinstance(value.left, gast.Name)
        and value.left.id == bound
    ):
        return node
    made = gast.AugAssign(name(str(bound), gast.Store()), value.op, value.right)
    made.lineno = node.lineno
    return made
