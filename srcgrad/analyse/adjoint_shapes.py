"""Specs of expressions in the backward half, whose names carry what is known of the primal's values."""

from __future__ import annotations

import functools
from dataclasses import replace

import gast
import numpy as np

from srcgrad.analyse.extents import broadcast, canonical, cross, cut, extents, part_of, product, with_extents
from srcgrad.analyse.kept import without_kept
from srcgrad.facts import Facts, Spec
from srcgrad.rules import rule_of
from srcgrad.trees import Node

COMPLEX = frozenset(["complex"])  # among the dtypes of a value that may be complex


def as_real(spec: Spec) -> Spec:
    """The spec of the real part of a value."""
    return spec if COMPLEX.isdisjoint(spec.dtype) else replace(spec, dtype=spec.dtype - COMPLEX)


def with_dtype(is_complex: bool, spec: Spec) -> Spec:
    """What may be complex says so among its dtypes, and nothing else does."""
    spec = as_real(spec)
    return replace(spec, dtype=spec.dtype | COMPLEX) if is_complex else spec


def joined(*specs: Spec) -> Spec:
    """The spec of an elementwise combination: shapes broadcast, dtypes promote."""
    return _combined(*[(spec.shape, spec.dtype, spec.ndim, spec.extents, spec.parts) for spec in specs])


_Known = tuple[frozenset[str], frozenset[str], int | None, tuple[str, ...] | None, frozenset[tuple[str, ...]]]


@functools.lru_cache(maxsize=8192)
def _combined(*given: _Known) -> Spec:
    """As `joined`, of all that specs say: a text combines the same few shapes again and again."""
    specs = [Spec(shape, dtype, ndim, lengths, parts) for shape, dtype, ndim, lengths, parts in given]
    dtype = frozenset[str]().union(*(s.dtype for s in specs))
    known = [extents(spec) for spec in specs]
    lengths = [each for each in known if each is not None]
    if len(lengths) == len(specs):
        return with_extents(functools.reduce(broadcast, lengths, ()), dtype)
    shape = frozenset[str]().union(*(canonical(s).shape for s in specs))
    parts = frozenset(lengths).union(*(s.parts for s in specs))
    return Spec(without_kept(shape), dtype, None, parts=parts)


def covers(made: Spec, result: Spec) -> bool:
    """Whether a value has all that broadcasting it with one of the other shape could give it."""
    whole = extents(result)
    if joined(made, result).shape == made.shape:
        return True
    return whole is not None and any(broadcast(part, whole) == part for part in made.parts)


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
    if isinstance(node, gast.BinOp):
        one, two = spec_of_tree(node.left, facts), spec_of_tree(node.right, facts)
        return product(one, two, one.dtype | two.dtype) or _unknown(node)
    if isinstance(node, gast.Attribute) and node.attr == "T":
        whole = spec_of_tree(node.value, facts)
        lengths = extents(whole)
        return _unknown(node) if lengths is None else with_extents(lengths[::-1], whole.dtype)
    if isinstance(node, gast.Compare):
        sides = joined(*(spec_of_tree(n, facts) for n in [node.left, *node.comparators]))
        return replace(sides, dtype=frozenset())
    if isinstance(node, gast.Call):
        return _of_call(node, facts)
    if isinstance(node, gast.Attribute) and node.attr in ("size", "ndim", *_NUMBERS):
        return Spec()
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Attribute) and node.value.attr == "shape":
        return Spec()
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node.value in facts.spec:
        return _part(node, facts) or _unknown(node)
    if isinstance(node, gast.Attribute) and node.attr in ("real", "imag"):
        return as_real(spec_of_tree(node.value, facts))
    return _unknown(node)


def _part(node: Node, facts: Facts) -> Spec | None:
    """The spec of `x[i]` of an array, where the index is basic; its rank is that of the array less the integers."""
    held, whole = node.value.id, facts.spec[node.value]
    if held in facts.containers or facts.list_kind(held):
        return None
    if whole.ndim is None:
        return cut(whole, node.slice)
    return part_of(whole, node.slice, frozenset(facts.integers), facts.constants)


_NUMBERS = ("pi", "e", "inf", "nan", "euler_gamma")  # of NumPy and math: no user's array has such attributes


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
        if function.value.id == facts.imports.get("math"):
            return Spec()
        if function.value.id == facts.imports.get("np"):
            if function.attr == "size":
                return Spec()
            if function.attr in ("zeros_like", "full_like"):
                return spec_of_tree(node.args[0], facts)
            if function.attr == "where" and len(node.args) == 3:
                chosen = joined(*(spec_of_tree(a, facts) for a in node.args))
                return replace(chosen, dtype=joined(*(spec_of_tree(a, facts) for a in node.args[1:])).dtype)
            if function.attr == "cross" and not node.keywords and len(node.args) == 2:
                one, two = (spec_of_tree(a, facts) for a in node.args)
                return cross(one, two, one.dtype | two.dtype) or _unknown(node)
            rule = rule_of(getattr(np, function.attr, None))
            if rule is not None and rule.kind == "elementwise" and not node.keywords:
                return joined(*(spec_of_tree(a, facts) for a in node.args))
    if isinstance(function, gast.Name) and function.id == facts.imports.get("if_larger"):
        seed, *compared = (spec_of_tree(a, facts) for a in node.args)
        return replace(joined(seed, *compared), dtype=seed.dtype)
    for helper, place in _SHAPED.items():
        if isinstance(function, gast.Name) and function.id == facts.imports.get(helper):
            like = spec_of_tree(node.args[place], facts)
            if helper in ("sum_to", "fit_to", "zeros_like"):
                return like
            return replace(like, dtype=frozenset[str]().union(*(spec_of_tree(a, facts).dtype for a in node.args[:3])))
    if isinstance(function, gast.Name) and function.id == facts.imports.get("count"):
        return Spec()
    if isinstance(function, gast.Name) and not node.keywords and _is_elementwise(function.id, facts):
        return joined(*(spec_of_tree(a, facts) for a in node.args))
    if isinstance(function, gast.Attribute) and function.attr == "sum" and not node.args:
        return _summed(node, facts) or _unknown(node)
    return _unknown(node)


def _is_elementwise(spelled: str, facts: Facts) -> bool:
    """Whether a name of the text is that of a map of numbers in the library, as `quotient`."""
    meant = next((facts.library_values[one] for one, held in facts.imports.items() if held == spelled), None)
    rule = rule_of(meant)
    return rule is not None and rule.kind == "elementwise"


def _summed(call: Node, facts: Facts) -> Spec | None:
    """The spec of `e.sum(axis=0)`, of an expression of known rank."""
    whole = spec_of_tree(call.func.value, facts)
    known = extents(whole)
    words = {word.arg: getattr(word.value, "value", None) for word in call.keywords}
    axis, keep = words.get("axis"), words.get("keepdims", False)
    if not call.keywords:
        return Spec(frozenset(), whole.dtype, 0)
    if (
        not known
        or type(axis) is not int
        or not -len(known) <= axis < len(known)
        or words.keys() - {"axis", "keepdims"}
    ):
        return None
    axis %= len(known)
    return with_extents((*known[:axis], *(("1",) if keep is True else ()), *known[axis + 1 :]), whole.dtype)


_SHAPED = {
    "sum_to": 1, "fit_to": 1, "zeros_like": 0, "share": 1, "matmul_left": 1, "dot_left": 1, "matmul_right": 2,
    "dot_right": 2, "matmul_both": 1, "dot_both": 1,
}  # fmt: skip


def _unknown(node: Node) -> Spec:
    own = frozenset([f"unknown {id(node)}"])
    return Spec(own, own, None)
