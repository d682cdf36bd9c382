"""Lengths in a text of ours that is differentiated once more: products by what is 0 at a length of 0, by convention.

The direction of a vector is `x / |x|`; where both are 0, its derivative is nan for whoever asks for it, and 0 for who
does not: the distance of a point to itself stays 0 whatever is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import gast
import numpy as np

from srcgrad.core.facts import Facts
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Node,
    assign,
    at,
    copy,
    find_nodes,
    header,
    literal_node,
    loads,
    name,
    remade,
    same_tree,
    statements,
    stores,
    walk,
)
from srcgrad.frontend.resolve import binding_of, is_divisor
from srcgrad.runtime.singular import denominator, share, signed

_BACKWARD = ("reverse", "value-and-grad", "vjp", "pull", "elementwise")


def lengths(function: Node, facts: Facts) -> None:
    """Spell products with the direction of a vector as `share(g / r, x, r)`, and with a sign as `signed(g, x)`."""
    if not facts.source.is_derivative:
        return
    work = _Text(function, facts)
    work.values_alone()
    if facts.request.mode in _BACKWARD:
        work.shares()
        work.signs()
    else:
        work.divisors()


class _Text:
    """One text, and what its names are bound to."""

    def __init__(self, function: Node, facts: Facts) -> None:
        self.function, self.facts = function, facts
        self.local = frozenset(one for node in statements(function.body) for one in stores(node))
        self.bound: dict[str, list[Node]] = {}
        self.reads: dict[str, dict[str, None]] = {}
        for node in statements(function.body):
            for one in stores(node):
                self.bound.setdefault(one, []).append(node)
                self.reads.setdefault(one, {}).update(dict.fromkeys(loads(node)))

    def means(self, tree: Node) -> object:
        """What is called, or None."""
        found = binding_of(tree.func, self.facts, self.local) if isinstance(tree, gast.Call) else None
        return None if found is None else found.object

    def definition_of_name(self, tree: Node) -> Node:
        """The expression that a name is bound to, where it is bound once."""
        made = self.bound.get(tree.id, []) if isinstance(tree, gast.Name) else []
        plain = len(made) == 1 and isinstance(made[0], gast.Assign) and isinstance(made[0].targets[0], gast.Name)
        return made[0].value if plain else tree

    def closure(self, names: Iterable[str]) -> dict[str, None]:
        """Names that these are computed from."""
        found: dict[str, None] = {}
        todo = list(names)
        while todo:
            one = todo.pop()
            if one not in found:
                found[one] = None
                todo += self.reads.get(one, {})
        return found

    def values_alone(self) -> None:
        """Sizes and lengths that only a value is computed from have their first derivative there: no more is asked."""
        last = self.function.body[-1]
        returned = getattr(last, "value", None)
        if not isinstance(last, gast.Return) or not isinstance(returned, gast.Tuple) or len(returned.elts) < 2:
            return
        gradients = self.closure([one for part in returned.elts[1:] for one in loads(gast.Expr(part))])
        values = self.closure(loads(gast.Expr(returned.elts[0])))
        if all(self._is_plain(one) for one in values if one in self.bound):
            self._part(returned, values, gradients)
        for node in statements(self.function.body):
            bound = stores(node)
            if isinstance(node, gast.Assign) and bound and not any(one in gradients for one in bound):
                for call in find_nodes(node, gast.Call):
                    self.facts.origin.instead[call] = self.means(call)

    def _is_plain(self, one: str) -> bool:
        """Whether a name is bound once, outside of loops and branches."""
        return (
            self.definition_of_name(name(one)).__class__ is not gast.Name and self.bound[one][0] in self.function.body
        )

    def _part(self, returned: Node, values: dict[str, None], gradients: dict[str, None]) -> None:
        """Compute sizes and lengths twice of which both are made, and what is computed from them."""
        own: dict[str, str] = {}
        made: list[Node] = []
        for node in self.function.body:
            made.append(node)
            one = stores(node)[0] if stores(node) else ""
            if one in values and (any(n in own for n in loads(node)) or any(self._is_length(n) for n in walk(node))):
                if one not in gradients:
                    made.pop()
                held = self.facts.names.fresh(f"{one}_value") if one in gradients else one
                made.append(at(assign(held, _rename_lengths(node.value, own)), node))
                self.facts.origin.foreign[made[-1]] = None
                own[one] = held
                self.facts.names.local |= {held}
        made[-1].value = gast.Tuple([_rename_lengths(returned.elts[0], own), *returned.elts[1:]], gast.Load())
        self.facts.origin.foreign[made[-1]] = None
        self.function.body = made

    def _is_length(self, node: Node) -> bool:
        rule = rule_of(self.means(node))
        return self._is_size(node) or (rule is not None and rule.length)

    def divisors(self) -> None:
        """In forward mode the tangent of a length says of its divisor what is to say."""
        for node in [n for one in statements(self.function.body) for part in header(one) for n in walk(part)]:
            z = self._length(node)
            if z is not None and self._of_length(z):
                self.facts.origin.instead[node] = denominator

    def shares(self) -> None:
        """Find `g * x / r` and `np.expand_dims(g / r, axis) * x`, where r is the length of x, or inf for 0."""
        found = [one for node, tree in self._operations() if (one := self._share(node, tree)) is not None]
        named = [n.id for one in found for n in find_nodes(one.divisor, gast.Name)]
        read = [one for node in statements(self.function.body) for one in loads(node)]
        for one in found:
            held = [n for n in find_nodes(one.divisor, gast.Name) if self._length(self.definition_of_name(n))]
            if all(named.count(n.id) == read.count(n.id) for n in held):
                self._spell(one)

    def _spell(self, one: _Share) -> None:
        """`share(g / r, x, r)`, in place."""
        call = gast.Call(name(self.facts.library_in_text("share", share)), [one.quotient, one.x, one.divisor], [])
        for part in (one.quotient, one.divisor):
            for node in [n for p in walk(part) for n in walk(self.definition_of_name(p))]:
                if self._length(node):
                    self.facts.origin.instead[node] = denominator
        self._become(one.node, one.tree, call)

    def _operations(self) -> list[tuple[Node, Node]]:
        """Operations of two operands, each with its statement."""
        body = statements(self.function.body)
        return [(s, n) for s in body for part in header(s) for n in find_nodes(part, gast.BinOp)]

    def _become(self, node: Node, tree: Node, call: Node) -> None:
        """Put a call in the place of an expression, at its line."""
        parts = at(call, tree)
        tree.__class__ = gast.Call
        for key in ("left", "op", "right"):
            tree.__dict__.pop(key, None)
        tree.func, tree.args, tree.keywords = parts.func, parts.args, parts.keywords
        self.facts.origin.foreign[node] = None

    def _share(self, node: Node, tree: Node) -> _Share | None:
        if isinstance(tree.op, gast.Div):
            factors = _factors(tree.left)
            place = next((k for k, one in enumerate(factors) if self._is_along(one, tree.right)), None)
            if place is None:
                return None
            rest = _product(factors[:place] + factors[place + 1 :])
            return _Share(node, tree, gast.BinOp(rest, gast.Div(), tree.right), factors[place], copy(tree.right))
        if not isinstance(tree.op, gast.Mult):
            return None
        for spread, x in ((tree.left, tree.right), (tree.right, tree.left)):
            bare = spread.operand if isinstance(spread, gast.UnaryOp) else spread
            inner = bare.args[0] if isinstance(bare, gast.Call) and bare.args else literal_node(None)
            moves = rule_of(self.means(bare))
            quotient = isinstance(inner, gast.BinOp) and isinstance(inner.op, gast.Div)
            if quotient and moves is not None and moves.kind == "linear" and self._is_along(x, inner.right):
                moved = copy(bare)
                moved.args[0] = copy(inner.right)
                return _Share(node, tree, spread, x, moved)
        return None

    def _is_along(self, x: Node, divisor: Node) -> bool:
        """Whether an expression is what a length is of, and that length divides."""
        z = next(
            (found for n in walk(divisor) if (found := self._length(self.definition_of_name(n))) is not None), None
        )
        if z is None:
            return False
        x = self.definition_of_name(x)
        if isinstance(x, gast.Call) and self.means(x) is np.where and _is_zero(x.args[2]):
            x = self.definition_of_name(x.args[1])
        return any(
            same_tree(x, one) or same_tree(self.definition_of_name(one), x) or _is_centred(x, one)
            for one in self._of_length(z)
        )

    def _length(self, tree: Node) -> Node | None:
        """The length in `np.where(0.0 == r, np.inf, r)`."""
        if isinstance(tree, gast.Call) and len(tree.args) == 3 and self.means(tree) is np.where:
            return tree.args[2] if is_divisor(*tree.args) else None
        return None

    def _of_length(self, z: Node) -> list[Node]:
        """What a length may be of, wherever it is computed in the text."""
        values = [getattr(node, "value", None) for node in self.bound.get(getattr(z, "id", ""), [])]
        calls = [one for one in values if isinstance(one, gast.Call)]
        return [part for call in calls if self._is_length(call) for part in call.args]

    def signs(self) -> None:
        """`g * np.sign(x)` where g is computed from the size of x: `signed(g, x)`."""
        sizes: dict[str, list[Node]] = {}
        for one, nodes in self.bound.items():
            sizes[one] = [n.args[0] for node in nodes for n in walk(node) if self._is_size(n)]
        for node, tree in self._operations():
            if (
                not isinstance(tree.op, gast.Mult)
                or not isinstance(tree.right, gast.Call)
                or self.means(tree.right) is not np.sign
            ):
                continue
            x = tree.right.args[0]
            within = [n.args[0] for n in walk(tree.left) if self._is_size(n)]
            within += [size for one in self.closure(loads(gast.Expr(tree.left))) for size in sizes.get(one, ())]
            if any(
                same_tree(size, x) or same_tree(self.definition_of_name(size), self.definition_of_name(x))
                for size in within
            ):
                self._become(
                    node, tree, gast.Call(name(self.facts.library_in_text("signed", signed)), [tree.left, x], [])
                )

    def _is_size(self, node: Node) -> bool:
        return isinstance(node, gast.Call) and rule_of(self.means(node)) is rule_of(np.absolute)


@dataclass(frozen=True)
class _Share:
    """A product of a quotient by a length and what the length is of."""

    node: Node  # the statement
    tree: Node
    quotient: Node
    x: Node
    divisor: Node  # the length, in a shape that broadcasts with x


def _rename_lengths(tree: Node, own: dict[str, str]) -> Node:
    if isinstance(tree, gast.Name):
        return name(own.get(tree.id, tree.id))
    return remade(tree, lambda part: _rename_lengths(part, own))


def _factors(tree: Node) -> list[Node]:
    if isinstance(tree, gast.BinOp) and isinstance(tree.op, gast.Mult):
        return [*_factors(tree.left), tree.right]
    return [tree]


def _product(factors: list[Node]) -> Node:
    made = factors[0] if factors else literal_node(1.0)
    for one in factors[1:]:
        made = gast.BinOp(made, gast.Mult(), one)
    return made


def _is_zero(tree: Node) -> bool:
    return isinstance(tree, gast.Constant) and tree.value == 0.0


def _is_centred(x: Node, of: Node) -> bool:
    """`a - np.mean(a)`, of which the deviation of a is the length."""
    mean = x.right if isinstance(x, gast.BinOp) and isinstance(x.op, gast.Sub) else None
    return isinstance(mean, gast.Call) and same_tree(x.left, of) and bool(mean.args) and same_tree(mean.args[0], of)
