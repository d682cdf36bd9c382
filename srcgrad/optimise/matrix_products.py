"""Matrix products: one for those of all trips, and transposes that they take.

Matrix products that a loop adds up, one per trip, are one product of what the trips kept.

Transposes that a product takes as well, that undo each other, or that are of a number: `(x.T @ z_bar).T`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any  # operations are arbitrary functions

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.floating_types import has_sign
from srcgrad.analysis.shapes import spec_of_tree
from srcgrad.core.facts import UNKNOWN, Facts, copy_with_facts
from srcgrad.core.meanings import function_called
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    at,
    expression,
    find_nodes,
    header,
    loads,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import bindings, replace, rewrite_statements
from srcgrad.derive.program import Program
from srcgrad.optimise.algebra import TRANSPOSES, applied

_LEFT = (runtime.matmul_left, runtime.dot_left)
_RIGHT = (runtime.matmul_right, runtime.dot_right)


@dataclass(frozen=True)
class _Term:
    """`w_bar = w_bar + matmul_left(z_bar, w, x)`: the rule, the factor that is fixed, and what is kept."""

    node: Node
    rule: Any  # np.outer, or the helper that multiplies
    fixed: Node | None
    kept: tuple[Node, Node]  # the adjoint of the product, the other factor


def products(program: Program, facts: Facts) -> Program:
    """Keep the factors of each trip in lists, and multiply once behind the loop.

    An outer product per trip touches all of the matrix twice per trip; the product of two matrices does so once.
    A text that is to be differentiated again keeps its products where they are.
    """
    if facts.module is None or facts.module.inline or facts.again_written:  # blocks of rows keep nothing
        return program
    made: dict[str, list[Node]] = {}
    for node in statements(program.forward):
        for one in stores(node):
            made.setdefault(one, []).append(node)
    program.backward = _block(program.backward, made, facts)
    return program


def _block(block: Block, made: dict[str, list[Node]], facts: Facts) -> Block:
    found: Block = []
    for node in block:
        before, behind = _gather_terms(node, made, facts) if isinstance(node, gast.For | gast.While) else ([], [])
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, made, facts)
            node.orelse = _block(getattr(node, "orelse", None) or [], made, facts)
        found += [*before, node]
        for total in behind:
            found = _add_total(found, total, facts)
    return found


def _gather_terms(loop: Node, made: dict[str, list[Node]], facts: Facts) -> tuple[Block, Block]:
    """Make terms of a loop `append`; what belongs before the loop, and what belongs behind it."""
    before: Block = []
    behind: Block = []
    kept: list[tuple[Node, Node, str]] = []  # a value, the term that reads it, its list
    swaps: dict[Node, Block] = {}
    for term in _terms(loop, made, facts):
        lists, within = [], []
        for part in term.kept:
            again = next((one for old, at_term, one in kept if _is_same(part, term.node, old, at_term, loop)), None)
            lists.append(again or _list_name(part, facts))
            if again is None:
                kept.append((part, term.node, lists[-1]))
                before.append(statement(f"{lists[-1]} = []"))
                within.append(at(statement(f"{lists[-1]}.append(x)", x=part), term.node))
        swaps.setdefault(term.node, []).extend(within)
        behind.append(at(_total(term, lists, facts), term.node))
    loop.body = rewrite_statements(loop.body, lambda node: swaps.get(node, [node]))
    return before, behind


def _total(term: _Term, lists: list[str], facts: Facts) -> Node:
    """`w_bar = w_bar + ...`, of all trips."""
    total = target(term.node)
    if term.rule is np.outer:
        np_ = facts.library("np")
        made = statement(f"{total} = {total} + {np_}.transpose({lists[0]}) @ {np_}.array({lists[1]})")
    else:
        factors = f"{_name(term.fixed)}, {lists[1]}" if term.rule in _LEFT else f"{lists[1]}, {_name(term.fixed)}"
        summed = f"{facts.library('sum_products')}({facts.library(term.rule.__name__)}, {lists[0]}, {factors})"
        made = statement(f"{total} = {total} + {summed}")
    facts.accumulates[made] = None
    return made


def _add_total(block: Block, node: Node, facts: Facts) -> Block:
    """The block with a total at its end, which takes the place of zeros that nothing else was added to."""
    total = str(target(node))
    mentions = [n for n in block if total in stores(n) or any(_mentions(m, total) for m in statements([n]))]
    call = node.value.right
    if isinstance(call, gast.Call) and len(mentions) == 1 and mentions[0] in facts.zeros:
        node.value = call
        del facts.accumulates[node]
        block = [n for n in block if n is not mentions[0]]
    return [*block, node]


def _is_same(one: Node, here: Node, two: Node, there: Node, loop: Node) -> bool:
    """Whether two terms of one block, with nothing bound between them, keep the same value."""
    block = next(b for b in _blocks(list(statements([loop]))) if any(n is here for n in b))
    place = {n: k for k, n in enumerate(block)}
    if there not in place or gast.unparse(one) != gast.unparse(two):
        return False
    names = {n.id for n in walk(one) if isinstance(n, gast.Name)}
    between = block[place[there] : place[here]]
    return not any(set(stores(n)) & names for m in between for n in statements([m]))


def _terms(loop: Node, made: dict[str, list[Node]], facts: Facts) -> list[_Term]:
    """Products that the loop does nothing with but add them up."""
    inside = list(statements([loop]))
    bound = {s for n in inside for s in stores(n)}
    every = {n: found for n in inside if (found := _terms_of(n, facts))}
    terms = [t for found in every.values() for t in found if not any(_name(one.fixed) in bound for one in found)]
    found = []
    for term in terms:
        total = str(target(term.node))
        others = [n for n in inside if total in stores(n) or _mentions(n, total)]
        alone = all(any(o is t.node for t in terms) for o in others if o is not loop)
        if alone and all(_stays(part, term, inside, made, facts) for part in term.kept):
            found.append(term)
    return found


def _terms_of(node: Node, facts: Facts) -> list[_Term]:
    """The products of `w_bar = w_bar + p - q`; nothing if anything else is added."""
    left = node.value if node in facts.accumulates and isinstance(node, gast.Assign) else None
    found: list[_Term] = []
    while isinstance(left, gast.BinOp) and isinstance(left.op, gast.Add | gast.Sub):
        term = _term(node, left.right, isinstance(left.op, gast.Sub), facts)
        if term is None:
            return []
        found.insert(0, term)
        left = left.left
    return found if _name(left) == target(node) else []


def _term(node: Node, call: Node, subtracted: bool, facts: Facts) -> _Term | None:
    if not isinstance(call, gast.Call) or call.keywords or len(call.args) < 2:
        return None
    seed, *factors = call.args
    if subtracted:
        if not has_sign(seed, facts):
            return None
        seed = gast.UnaryOp(gast.USub(), seed)
    function = function_called(call, facts)
    if function is np.outer:
        return _Term(node, np.outer, None, (seed, factors[0]))
    if not isinstance(call.func, gast.Name) or len(factors) != 2:
        return None
    left, right = factors
    if function in _LEFT and isinstance(left, gast.Name):
        return _Term(node, function, left, (seed, right))
    if function in _RIGHT and isinstance(right, gast.Name):
        return _Term(node, function, right, (seed, left))
    return None


def _name(node: Node | None) -> str:
    return node.id if isinstance(node, gast.Name) else ""


def _mentions(node: Node, one: str) -> bool:
    if isinstance(node, COMPOUND):
        heads = [getattr(node, "test", None), getattr(node, "iter", None)]
        return any(_name(i) == one for head in heads if head is not None for i in walk(head))
    return any(_name(i) == one for i in walk(node))


def _stays(value: Node, term: _Term, inside: list[Node], made: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether a value that a trip computes keeps its elements while later trips run."""
    pending = list(loads(value))
    seen = set(pending)
    while pending:
        one = pending.pop()
        if one in facts.mutable or one in facts.viewed or one in facts.swapped or facts.list_kind(one):
            return False
        if any(one in written_names(n) for n in inside) and not _is_made_before(one, term.node, inside, facts):
            return False
        sources = [n for n in [*inside, *made.get(one, [])] if target(n) == one and n not in facts.restores]
        shown = [n for n in sources if n not in facts.zeros and not isinstance(n.value, gast.BinOp)]
        further = [read for source in shown for read in loads(source.value) if read not in seen]
        pending += further
        seen.update(further)
    return True


def _is_made_before(one: str, term: Node, inside: list[Node], facts: Facts) -> bool:
    """Whether an array is made anew in the block of the term, and is complete when the term reads it."""
    block = next(b for b in _blocks(inside) if any(n is term for n in b))
    place = {n: k for k, n in enumerate(block)}
    fresh = [n for n in block if n in facts.zeros and target(n) == one]
    writes = [n for n in inside if one in written_names(n)]
    inner = {m: place[n] for n in block for m in statements([n])}
    ends = place[term]
    return bool(fresh) and all(n in inner and place[fresh[-1]] < inner[n] < ends for n in writes)


def _blocks(inside: list[Node]) -> list[Block]:
    compound = [n for n in inside if isinstance(n, COMPOUND)]
    return [b for n in compound for b in (n.body, getattr(n, "orelse", None) or [])]


def _list_name(part: Node, facts: Facts) -> str:
    """The name of a list of such values; it goes with the name of the value, which may be counted later."""
    held = next((one for one in loads(part) if one not in facts.imports.values()), "factor")
    if held in facts.temporaries:
        return facts.names.fresh("factors")
    made = facts.names.fresh(f"{held}s")
    facts.plurals[made] = held
    return made


def product_transposes(program: Program, facts: Facts) -> Program:
    """Transpose the factors of a product of matrices rather than the product, and nothing twice.

    >>> import numpy as np, srcgrad
    >>> def layer(w, x):
    ...     return np.sum(np.sin(x @ w.T))
    >>> slope = srcgrad.grad(layer)
    >>> _ = slope(np.ones((2, 3)), np.ones((4, 3)))
    >>> print(slope.source.splitlines()[-2])
        w_bar = (y_bar * np.cos(x @ w.T)).T @ x
    """
    if facts.module is not None and facts.module.leading.axis:
        return program
    sources: dict[str, Node] | None = None
    for node in [*(n for n in statements(program.forward) if n in facts.tangents), *statements(program.backward)]:
        for part in header(node):
            if not any(_operand_of_transpose(whole) is not None for whole in find_nodes(part, gast.Attribute)):
                continue
            sources = _sources(program) if sources is None else sources
            for whole in walk(part):
                _read_without_transpose(whole, sources, facts)
                while (turned := applied(whole, TRANSPOSES, facts)) is not None:
                    replace(node, whole, whole := turned)
                number = _of_number(whole, program, facts)
                if number is not None:
                    replace(node, whole, number)
    return program


def _sources(program: Program) -> dict[str, Node]:
    """The w of each name that is `w.T`, both bound once, outside of loops and branches: they show one array."""
    if not any(target(node) and isinstance(_operand_of_transpose(node.value), gast.Name) for node in program.forward):
        return {}
    bound_to = bindings(program.block)
    fixed = {p for p in program.parameters if p not in bound_to}
    found: dict[str, Node] = {}
    for node in program.forward:
        bound = target(node)
        if bound is None or bound_to.get(bound) != 1:
            continue
        fixed.add(bound)
        below = _operand_of_transpose(node.value)
        if isinstance(below, gast.Name) and below.id in fixed:
            found[bound] = below
    return found


def _operand_of_transpose(value: Node) -> Node | None:
    """The a of `a.T`."""
    transposes = isinstance(value, gast.Attribute) and value.attr == "T"
    return value.value if transposes else None


def _read_without_transpose(whole: Node, sources: dict[str, Node], facts: Facts) -> None:
    """Read w in a product, and as an argument, where the transpose of `w.T` was read."""
    if isinstance(whole, gast.BinOp) and isinstance(whole.op, gast.MatMult):
        for side in ("left", "right"):
            below = _operand_of_transpose(getattr(whole, side))
            if isinstance(below, gast.Name) and below.id in sources:
                setattr(whole, side, copy_with_facts(sources[below.id], facts))
    elif isinstance(whole, gast.Call):
        below = [_operand_of_transpose(argument) for argument in whole.args]
        kept = [one is None or not isinstance(one, gast.Name) or one.id not in sources for one in below]
        whole.args = [
            a if k else copy_with_facts(sources[b.id], facts) for a, b, k in zip(whole.args, below, kept, strict=True)
        ]


def _of_number(whole: Node, program: Program, facts: Facts) -> Node | None:
    """`y_bar * 2.0` for its transpose: the seed of a gradient may be a float, which has none."""
    below = _operand_of_transpose(whole)
    bound = {} if below is None else bindings(program.block)
    if below is None or not _is_number(below, bound, facts):
        return None
    seeds = [n for n in find_nodes(below, gast.Name) if not _is_one(n, bound, facts)]
    if any(bound.get(seed.id, 0) > int(facts.seed == "one") for seed in seeds):
        return expression(f"{facts.library('np')}.transpose(x)", x=below)  # also the name of an adjoint of arrays
    return below


def _is_number(value: Node, bound: Mapping[str, int], facts: Facts) -> bool:
    """Whether an expression is computed from the seed of a gradient, from numbers and from constants alone."""
    if isinstance(value, gast.BinOp):
        return _is_number(value.left, bound, facts) and _is_number(value.right, bound, facts)
    if isinstance(value, gast.UnaryOp):
        return _is_number(value.operand, bound, facts)
    if isinstance(value, gast.Name):
        seed = facts.seed in ("parameter", "one") and not facts.pushes_forward and value.id in facts.seeds
        return seed or _is_one(value, bound, facts)
    return isinstance(value, gast.Constant)


def _is_one(value: Node, bound: Mapping[str, int], facts: Facts) -> bool:
    """Whether a name stands for a number, or for the derivative of an argument that is one all along."""
    primal = facts.adjoint_of.get(value.id, value.id)
    given = facts.kinds.get(primal, UNKNOWN).tag == "scalar" and not bound.get(primal) and not bound.get(value.id)
    return given or (spec_of_tree(value, facts).scalar and bound.get(value.id, 0) < 2)
