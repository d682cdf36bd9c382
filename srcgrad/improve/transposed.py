"""Transposes that a product takes as well, that undo each other, or that are of a number: `(x.T @ z_bar).T`."""

from __future__ import annotations

from collections.abc import Mapping

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.floating import is_minus
from srcgrad.derive.program import Program
from srcgrad.facts import UNKNOWN, Facts, copied
from srcgrad.improve.inline import bindings, replace
from srcgrad.trees import Node, expression, header, inside, statements, target, walk


def transposed(program: Program, facts: Facts) -> Program:
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
            if not any(_below(whole) is not None for whole in inside(part, gast.Attribute)):
                continue
            sources = _sources(program) if sources is None else sources
            for whole in walk(part):
                while _below(whole) is not None and _below(whole.value) is not None:
                    replace(node, whole, whole := whole.value.value)
                _untwisted(whole, sources, facts)
                turned = _turned(whole, facts) or _of_number(whole, program, facts)
                if turned is not None:
                    replace(node, whole, turned)
    return program


def _sources(program: Program) -> dict[str, Node]:
    """The w of each name that is `w.T`, both bound once, outside of loops and branches: they show one array."""
    if not any(target(node) and isinstance(_below(node.value), gast.Name) for node in program.forward):
        return {}
    bound_to = bindings(program.block)
    fixed = {p for p in program.parameters if p not in bound_to}
    found: dict[str, Node] = {}
    for node in program.forward:
        bound = target(node)
        if bound is None or bound_to.get(bound) != 1:
            continue
        fixed.add(bound)
        below = _below(node.value)
        if isinstance(below, gast.Name) and below.id in fixed:
            found[bound] = below
    return found


def _below(value: Node) -> Node | None:
    """The a of `a.T`."""
    transposes = isinstance(value, gast.Attribute) and value.attr == "T"
    return value.value if transposes else None


def _untwisted(whole: Node, sources: dict[str, Node], facts: Facts) -> None:
    """Read w in a product, and as an argument, where the transpose of `w.T` was read."""
    if isinstance(whole, gast.BinOp) and isinstance(whole.op, gast.MatMult):
        for side in ("left", "right"):
            below = _below(getattr(whole, side))
            if isinstance(below, gast.Name) and below.id in sources:
                setattr(whole, side, copied(sources[below.id], facts))
    elif isinstance(whole, gast.Call):
        below = [_below(argument) for argument in whole.args]
        kept = [one is None or not isinstance(one, gast.Name) or one.id not in sources for one in below]
        whole.args = [a if k else copied(sources[b.id], facts) for a, b, k in zip(whole.args, below, kept, strict=True)]


def _of_number(whole: Node, program: Program, facts: Facts) -> Node | None:
    """`y_bar * 2.0` for its transpose: the seed of a gradient may be a float, which has none."""
    below = _below(whole)
    bound = {} if below is None else bindings(program.block)
    if below is None or not _is_number(below, bound, facts):
        return None
    seeds = [n for n in inside(below, gast.Name) if not _is_one(n, bound, facts)]
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


def _turned(whole: Node, facts: Facts) -> Node | None:
    """`b.T @ a` for `(a.T @ b).T`, of matrices; `np.outer(b, a)` for `np.outer(a, b).T`."""
    product = _below(whole)
    minus = product.operand if product is not None and is_minus(product) else None
    outer = product if minus is None else minus
    if isinstance(outer, gast.Call) and gast.unparse(outer.func) == f"{facts.imports.get('np')}.outer":
        made = gast.Call(outer.func, outer.args[::-1], outer.keywords)
        return made if minus is None else gast.UnaryOp(gast.USub(), made)
    if not isinstance(product, gast.BinOp) or not isinstance(product.op, gast.MatMult):
        return None
    left = _below(product.left)
    if left is None or _below(product.right) is not None:
        return None
    if any(spec_of_tree(factor, facts).ndim != 2 for factor in (left, product.right)):
        return None
    return expression("b.T @ a", a=left, b=product.right)
