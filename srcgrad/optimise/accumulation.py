"""Accumulation: adjoints that add up in place.

`x_bar = x_bar + e` becomes `x_bar += e` where the array was made here and nothing else can see it.

Two updates of one part in a row are one: `a[i] -= e`, `a[i] -= g` is `a[i] -= e + g`.
"""

from __future__ import annotations

from collections import Counter

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.core.facts import SCALAR, UNKNOWN, Facts
from srcgrad.core.meanings import function_called
from srcgrad.core.printer.statements import statement as spelled
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    at,
    children,
    header,
    loads,
    name,
    same_tree,
    statements,
    stores,
    target,
)
from srcgrad.core.visitor import WIDTH, rewrite_nested, rewrite_statements
from srcgrad.derive.adjoints import MAKERS
from srcgrad.derive.program import Program

_ARITHMETIC = (gast.BinOp, gast.UnaryOp, gast.Constant)


def accumulate(program: Program, facts: Facts) -> Program:
    """Add in place to adjoints that own their array; the last use of an adjoint may hand it on."""
    owned = _owned_adjoints(program, facts)

    def change(node: Node) -> Block:
        return [_in_place(node) if node in facts.accumulates and target(node) in owned else node]

    program.backward = rewrite_statements(program.backward, change)
    return program


def _owned_adjoints(program: Program, facts: Facts) -> dict[str, None]:
    """Adjoints all of whose bindings make a new array, and that are not handed on before they are complete.

    What happens inside one loop counts as happening at once.
    """
    block = program.backward
    fresh: dict[str, bool] = {}
    counted: dict[str, bool] = {}
    last_add: dict[str, int] = {}
    handed: dict[str, int] = {}
    passed, lent = set(_passed_on(block, program.result)), _lent_elements(block, facts)
    alone: set[str] = set()  # of those, the fresh ones
    for position, top in enumerate(block):
        for node in statements([top]):
            bound = target(node)
            if bound in facts.adjoint_of:
                given = node in facts.accumulates or node in facts.zeros
                fits = facts.adjoint_of[bound] not in facts.complex or _adds_complex(node, facts)
                given = given or _is_summed(node, facts)
                made = fits and (given or _is_new(node.value, facts, alone))
                fresh[bound] = fresh.get(bound, True) and made
                (alone.add if fresh[bound] and bound in passed else alone.discard)(bound)
                counted[bound] = counted.get(bound, True) and made and (given or isinstance(node.value, _ARITHMETIC))
            if node in facts.accumulates and bound is not None:
                last_add[bound] = position
            for shared in [] if node in lent or _is_summed(node, facts) else _handed_on(node, facts):
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


def _is_summed(node: Node, facts: Facts) -> bool:
    """Whether a statement is `x_bar = sum_to(x_bar, x)`: who has an array alone has what is left of it alone."""
    value: Node = node.value if isinstance(node, gast.Assign) else None
    if function_called(value, facts) is not runtime.sum_to:
        return False
    return len(value.args) == 2 and getattr(value.args[0], "id", "") == target(node)


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


def _passed_on(block: Block, result: Node) -> list[str]:
    """Names bound once and read once, later in that block: who gets such an array has it alone."""
    reads, bound = Counter(loads(result)), Counter[str]()
    for node in statements(block):
        reads.update(loads(node))
        bound.update(stores(node))
    found: list[str] = []
    blocks = [block]
    while blocks:
        here: set[str] = set()
        for node in blocks.pop():
            if isinstance(node, COMPOUND):
                blocks += [node.body, getattr(node, "orelse", None) or []]
            else:
                found += [one for one in loads(node) if one in here and reads[one] == bound[one] == 1]
                here.update(stores(node))
    return found


def _is_new(value: Node, facts: Facts, passed: set[str]) -> bool:
    """Whether an expression makes a new array: arithmetic does, but for `+x`, and a sum of what it has made."""
    function = function_called(value, facts)
    if function is runtime.sum_to and len(value.args) == 2:
        given = value.args[0]
        return given.id in passed if isinstance(given, gast.Name) else _is_new(given, facts, passed)
    if isinstance(value, gast.Call):
        method = function is None and getattr(value.func, "attr", "") == "sum" and not value.args
        return method or function in (*MAKERS, np.array, np.outer, np.full_like)
    return isinstance(value, _ARITHMETIC) and not isinstance(getattr(value, "op", None), gast.UAdd)


def _handed_on(node: Node, facts: Facts) -> list[str]:
    """Names whose very array, or a part of it, another name, a container or a function may get."""
    found: list[str] = []
    for part in header(node):
        if isinstance(part, gast.Assign | gast.AugAssign):
            _hand_on(part.value, isinstance(part, gast.AugAssign), found, facts)
            for one in children(part):
                if one is not part.value:
                    _hand_on(one, True, found, facts)
        else:
            _hand_on(part, False, found, facts)
    return found


def _hand_on(item: Node, used: bool, found: list[str], facts: Facts) -> None:
    """Add what an expression may hand on; `used`: arithmetic reads the value, and that is all that happens to it."""
    if isinstance(item, gast.Name):
        if not used:
            found.append(item.id)
    elif isinstance(item, gast.BinOp | gast.Compare) or isinstance(getattr(item, "op", None), gast.USub | gast.Not):
        for child in children(item):
            _hand_on(child, True, found, facts)
    elif isinstance(item, gast.Subscript | gast.Attribute):
        _hand_on(item.value, used, found, facts)
        if isinstance(item, gast.Subscript):
            _hand_on(item.slice, True, found, facts)
    elif function_called(item, facts) is runtime.sum_to:
        _hand_on(item.args[0], used, found, facts)
        _hand_on(item.args[1], True, found, facts)
    elif isinstance(item, gast.Call) and not item.args and getattr(item.func, "attr", "") in ("copy", "sum"):
        _hand_on(item.func.value, True, found, facts)
    else:
        for child in children(item):
            _hand_on(child, False, found, facts)


def _lent_elements(block: Block, facts: Facts) -> dict[Node, None]:
    """Statements `v = x_bar[i]` after which v is read by arithmetic only, before the whole of x_bar is added to."""
    reads, bound = Counter[str](), Counter[str]()
    for node in statements(block):
        reads.update(loads(node))
        bound.update(stores(node))
    found: dict[Node, None] = {}
    blocks = [block]
    while blocks:
        here = blocks.pop()
        for k, node in enumerate(here):
            if isinstance(node, COMPOUND):
                blocks += [node.body, getattr(node, "orelse", None) or []]
            elif (
                isinstance(node, gast.Assign)
                and bound[str(target(node))] == 1
                and isinstance(node.value, gast.Subscript)
            ):
                if _is_lent(str(target(node)), node.value.value, here[k + 1 :], reads, facts):
                    found[node] = None
    return found


def _is_lent(view: str, array: Node, behind: Block, reads: Counter[str], facts: Facts) -> bool:
    """Whether all reads of a view follow in its block, by arithmetic, with no binding of its array before the last."""
    left = reads[view] if isinstance(array, gast.Name) else -1
    for node in behind:
        inner = list(statements([node]))
        if left <= 0 or any(view in _handed_on(one, facts) for one in inner):
            break
        left -= sum(loads(one).count(view) for one in inner)
        binds = any(array.id in stores(one) for one in inner)
        if binds and (left > 0 or inner != [node]):
            return False
    return left == 0


def _in_place(node: Node) -> Node:
    """`x_bar = x_bar + e` as `x_bar += e`, `x_bar = x_bar - e + f` as `x_bar += f - e`; others as they are."""
    bound = target(node)
    first, terms = node.value, []
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Add | gast.Sub):
        terms.append((first.op, first.right))
        first = first.left
    if not terms or not isinstance(first, gast.Name) or first.id != bound:
        return node
    op, value = terms.pop()
    while terms:
        next_op, term = terms.pop()
        if isinstance(op, gast.Add):
            value = gast.BinOp(value, next_op, term)
        elif isinstance(next_op, gast.Add):
            op, value = gast.Add(), gast.BinOp(term, gast.Sub(), value)
        else:
            value = gast.BinOp(value, gast.Add(), term)
    made = gast.AugAssign(name(str(bound), gast.Store()), op, value)
    made.lineno = node.lineno
    return made


def join_accumulations(program: Program, facts: Facts) -> Program:
    """Add what is added to one part of an array first, where that fits in a line.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    return np.sum(np.sin(x[1:]) * x[1:])"
    >>> print(explain_text(text, after="join_accumulations").splitlines()[-2])
    x_bar[1:] += y_bar * np.sin(x[1:]) + y_bar * x[1:] * np.cos(x[1:])
    """
    made: dict[str, list[Node]] = {}
    for node in statements(program.backward):
        for one in stores(node):
            made.setdefault(one, []).append(node)

    def change(block: Block, depth: int) -> Block:
        return _joined_updates(block, made, facts, 4 * (depth + 1))

    program.backward = rewrite_nested(program.backward, change)
    return program


def _joined_updates(block: Block, made: dict[str, list[Node]], facts: Facts, indent: int) -> Block:
    found: Block = []
    for node in block:
        total = _sum(found[-1], node, made, facts) if found else None
        if total is not None and max(map(len, spelled(total, width=10_000))) + indent <= WIDTH:
            found[-1] = total
        else:
            found.append(node)
    return found


def _sum(one: Node, two: Node, made: dict[str, list[Node]], facts: Facts) -> Node | None:
    """Both updates in one; None where they are not updates of one part, or the second may read what the first made."""
    if not (_is_update(one) and _is_update(two) and same_tree(one.target, two.target)):
        return None
    if getattr(one, "lineno", 0) != getattr(two, "lineno", 0) or facts.calls_hooks(one) or facts.calls_hooks(two):
        return None
    if not all(_is_apart(read, stores(one)[0], made, facts) for read in loads(two.value)):
        return None
    op = gast.Add() if type(one.op) is type(two.op) else gast.Sub()
    return at(gast.AugAssign(one.target, one.op, gast.BinOp(one.value, op, two.value)), one)


def _is_update(node: Node) -> bool:
    """Whether a statement adds to a part of an array: `a[i] += e`, `a[i] -= e`."""
    if not isinstance(node, gast.AugAssign) or not isinstance(node.op, gast.Add | gast.Sub):
        return False
    return isinstance(node.target, gast.Subscript) and isinstance(node.target.value, gast.Name)


def _is_apart(read: str, changed: str, made: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether a name that is read shows nothing of an adjoint: all that the backward half binds it to is arithmetic."""
    if read == changed:
        return False
    return all(target(node) == read and _is_new_value(node) for node in made.get(read, []) if node not in facts.zeros)


def _is_new_value(node: Node) -> bool:
    value = node.value
    return isinstance(value, gast.BinOp | gast.Constant) or (
        isinstance(value, gast.UnaryOp) and not isinstance(value.op, gast.UAdd)
    )
