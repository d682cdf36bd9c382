"""`x_bar = x_bar + e` becomes `x_bar += e` where the array was made here and nothing else can see it."""

from __future__ import annotations

from collections import Counter

import gast

from srcgrad.derive.adjoints import MAKERS
from srcgrad.derive.program import Program
from srcgrad.facts import SCALAR, UNKNOWN, Facts
from srcgrad.trees import COMPOUND, Block, Node, children, header, loads, name, statements, stores, target

_ARITHMETIC = (gast.BinOp, gast.UnaryOp, gast.Constant)


def accumulate(program: Program, facts: Facts) -> Program:
    """Add in place to adjoints that own their array; the last use of an adjoint may hand it on."""
    owned = _owned(program, facts)
    program.backward = _block(program.backward, owned, facts)
    return program


def _owned(program: Program, facts: Facts) -> dict[str, None]:
    """Adjoints all of whose bindings make a new array, and that are not handed on before they are complete.

    What happens inside one loop counts as happening at once.
    """
    block = program.backward
    fresh: dict[str, bool] = {}
    counted: dict[str, bool] = {}
    last_add: dict[str, int] = {}
    handed: dict[str, int] = {}
    passed, lent = set(_passed_on(block, program.result)), _lent(block, facts)
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
    value = node.value if isinstance(node, gast.Assign) else None
    if not isinstance(value, gast.Call) or getattr(value.func, "id", "") != facts.imports.get("sum_to", "no name"):
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
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Name):
        called = value.func.id
        if called == facts.imports.get("sum_to") and len(value.args) == 2:
            given = value.args[0]
            return given.id in passed if isinstance(given, gast.Name) else _is_new(given, facts, passed)
        return any(called == facts.imports.get(helper) for helper in MAKERS)
    if isinstance(value, gast.Call) and getattr(value.func, "attr", "") == "sum" and not value.args:
        return True
    if (
        isinstance(value, gast.Call)
        and isinstance(value.func, gast.Attribute)
        and value.func.attr in ("array", "outer", "full_like")
    ):
        return getattr(value.func.value, "id", "") == facts.imports.get("np")
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
    elif isinstance(item, gast.Call) and getattr(item.func, "id", "") == facts.imports.get("sum_to"):
        _hand_on(item.args[0], used, found, facts)
        _hand_on(item.args[1], True, found, facts)
    elif isinstance(item, gast.Call) and not item.args and getattr(item.func, "attr", "") in ("copy", "sum"):
        _hand_on(item.func.value, True, found, facts)
    else:
        for child in children(item):
            _hand_on(child, False, found, facts)


def _lent(block: Block, facts: Facts) -> dict[Node, None]:
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
