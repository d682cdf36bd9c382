"""Specs of expressions in the backward half, whose names carry what is known of the primal's values."""

from __future__ import annotations

from dataclasses import replace

import gast
import numpy as np

from srcgrad.facts import Facts, Spec
from srcgrad.rules import rule_of
from srcgrad.trees import Node

COMPLEX = frozenset(["complex"])  # among the dtypes of a value that may be complex


def as_real(spec: Spec) -> Spec:
    """The spec of the real part of a value."""
    return replace(spec, dtype=spec.dtype - COMPLEX)


def with_dtype(is_complex: bool, spec: Spec) -> Spec:
    """What may be complex says so among its dtypes, and nothing else does."""
    spec = as_real(spec)
    return replace(spec, dtype=spec.dtype | COMPLEX) if is_complex else spec


def joined(*specs: Spec) -> Spec:
    """The spec of an elementwise combination: shapes broadcast, dtypes promote."""
    ranks = [spec.ndim for spec in specs]
    rank = None if None in ranks else max([r for r in ranks if r is not None], default=0)
    shape = frozenset[str]().union(*(s.shape for s in specs))
    like = next((s for s in specs if s.shape == shape and s.ndim == rank), None)
    dtype = frozenset[str]().union(*(s.dtype for s in specs))
    return Spec(shape, dtype, rank, None if like is None else like.extents)


def spec_of_tree(node: Node, facts: Facts) -> Spec:
    """The spec of an expression; what cannot be told gets an unknown that equals nothing else."""
    if isinstance(node, gast.Constant):
        return Spec(dtype=COMPLEX if isinstance(node.value, complex) else frozenset())
    if node in facts.spec:
        return facts.spec[node]
    if isinstance(node, gast.UnaryOp):
        return spec_of_tree(node.operand, facts)
    if isinstance(node, gast.BinOp) and not isinstance(node.op, gast.MatMult):
        return joined(*_both(node, facts))
    if isinstance(node, gast.Compare):
        sides = joined(*(spec_of_tree(n, facts) for n in [node.left, *node.comparators]))
        return Spec(sides.shape, frozenset(), sides.ndim)
    if isinstance(node, gast.Call):
        return _of_call(node, facts)
    if isinstance(node, gast.Attribute) and node.attr in ("size", "ndim"):
        return Spec()
    if isinstance(node, gast.Attribute) and node.attr in ("real", "imag"):
        return as_real(spec_of_tree(node.value, facts))
    return _unknown(node)


def _both(node: Node, facts: Facts) -> list[Spec]:
    """Specs of the two sides; a long chain of operators is walked, not descended."""
    specs = []
    while isinstance(node, gast.BinOp) and not isinstance(node.op, gast.MatMult):
        specs.append(spec_of_tree(node.right, facts))
        node = node.left
    return [*specs, spec_of_tree(node, facts)]


def _of_call(node: Node, facts: Facts) -> Spec:
    function = node.func
    if isinstance(function, gast.Attribute) and isinstance(function.value, gast.Name):
        if function.value.id == facts.imports.get("np"):
            if function.attr == "size":
                return Spec()
            if function.attr in ("zeros_like", "full_like"):
                return spec_of_tree(node.args[0], facts)
            rule = rule_of(getattr(np, function.attr, None))
            if rule is not None and rule.kind == "elementwise" and not node.keywords:
                return joined(*(spec_of_tree(a, facts) for a in node.args))
    if isinstance(function, gast.Name) and function.id in (
        facts.imports.get("sum_to"),
        facts.imports.get("zeros_like"),
    ):
        return spec_of_tree(node.args[1 if function.id == facts.imports.get("sum_to") else 0], facts)
    return _unknown(node)


def _unknown(node: Node) -> Spec:
    own = frozenset([f"unknown {id(node)}"])
    return Spec(own, own, None)
