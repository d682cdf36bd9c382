"""A sum of weighted products of matrices, as in the skin of a hand, is one product with the weighted factors."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.batch.calls import UnknownFormError, literal, meant
from srcgrad.batch.expressions import Expressions
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import Node, assign, at, copy, expression, loads, name, statements, stores, target


def grouped(program: Program, facts: Facts, text: Expressions) -> None:
    """Let `np.sum(np.matmul(p, a) * w, axis=0)` be one product of matrices: of p (b, i, k) and w * a (b * k, v).

    `w` (b, 1, v) and `a` (k, v) carry no tangent; `p` may. The lengths are looked at when the text runs: what does not
    match raises, and then the text is made anew without this.
    """
    if facts.called:
        return
    work = _Work(program, facts, text)
    for node in list(program.forward):
        if isinstance(node, gast.Assign):
            node.value = work.of(node.value, node)


class _Work:
    """The products with weighted factors of one text, each made once."""

    def __init__(self, program: Program, facts: Facts, text: Expressions) -> None:
        self.program, self.facts, self.text = program, facts, text
        self.factors: dict[str, str] = {}
        stored = [bound for node in statements(program.block) for bound in stores(node)]
        read = [one for node in statements(program.block) for one in loads(node)]
        named = {str(target(n)): n for n in program.forward if isinstance(n, gast.Assign) and target(n) is not None}
        self.once = {bound: node for bound, node in named.items() if stored.count(bound) == 1}
        self.inner = {bound: node for bound, node in self.once.items() if read.count(bound) == 1}
        self.steady = {*self.once, *(p for p in program.parameters if p not in stored), facts.imports.get("np")}

    def of(self, node: Node, statement: Node) -> Node:
        """An expression in which such sums are products."""
        for key, child in gast.iter_fields(node):
            if isinstance(child, list):
                child[:] = [self.of(one, statement) if isinstance(one, gast.expr) else one for one in child]
            elif isinstance(child, gast.expr):
                setattr(node, key, self.of(child, statement))
        found = self._matched(node)
        return node if found is None else self._product(*found, statement)

    def _is_call(self, node: Node, function: object) -> bool:
        return isinstance(node, gast.Call) and meant(node.func, self.facts, self.text.known) is function

    def _opened(self, node: Node) -> Node:
        """What a name that is read once is bound to."""
        return self.inner[node.id].value if isinstance(node, gast.Name) and node.id in self.inner else node

    def _matched(self, node: Node) -> tuple[Node, Node, Node] | None:
        """The factors p, a name, and a, and the weights w."""
        if not self._is_call(node, np.sum) or len(node.args) != 1 or [one.arg for one in node.keywords] != ["axis"]:
            return None
        try:
            first = literal(node.keywords[0].value) == 0
        except UnknownFormError:
            return None
        whole = self._opened(node.args[0])
        if not first or not isinstance(whole, gast.BinOp) or not isinstance(whole.op, gast.Mult):
            return None
        for product, weights in ((whole.left, whole.right), (whole.right, whole.left)):
            made = self._opened(product)
            if self._is_call(made, np.matmul) and len(made.args) == 2 and not made.keywords:
                p, a = made.args
            elif isinstance(made, gast.BinOp) and isinstance(made.op, gast.MatMult):
                p, a = made.left, made.right
            else:
                continue
            if self._fits(p, a, weights):
                return p, a, weights
        return None

    def _fits(self, p: Node, a: Node, weights: Node) -> bool:
        if not isinstance(p, gast.Name) or not all(
            read in self.steady for one in (p, a, weights) for read in loads(one)
        ):
            return False
        given = [self.text.look(one)[1] for one in (p, a, weights)]
        ranks = [one.ndim for one in given]
        return ranks == [3, 2, 3] and not given[1].batched and not given[2].batched and self._is_open(weights)

    def _is_open(self, weights: Node) -> bool:
        """Whether the second axis of the weights is a new one, of length 1."""
        named = isinstance(weights, gast.Name) and weights.id in self.once
        made = self.once[weights.id].value if named else weights
        if not isinstance(made, gast.Subscript) or not isinstance(made.slice, gast.Tuple) or len(made.slice.elts) != 3:
            return False
        first, middle, last = made.slice.elts
        kept = isinstance(first, gast.Slice) and not isinstance(last, gast.Constant)
        return kept and isinstance(middle, gast.Constant) and middle.value is None

    def _product(self, p: Node, a: Node, weights: Node, statement: Node) -> Node:
        chosen = self._factor(a, weights, statement)
        primal = name(self.facts.adjoint_of.get(p.id, p.id))
        rows = expression("p.transpose(1, 0, 2).reshape(primal.shape[1], -1)", p=copy(p), primal=primal)
        user = self.facts.origin.get(statement, statement)
        if statement not in self.facts.tangents:
            self.facts.rewritten[user] = None
        return expression("rows @ chosen", rows=rows, chosen=name(chosen))

    def _factor(self, a: Node, weights: Node, statement: Node) -> str:
        """The name of `w * a` as a matrix."""
        key = f"{gast.unparse(a)}, {gast.unparse(weights)}"
        if key not in self.factors:
            self.factors[key] = self.facts.names.fresh("factors")
            value = expression(f"{self.facts.library('blend_factors')}(a, w)", a=copy(a), w=copy(weights))
            made = at(assign(self.factors[key], value), statement)
            self.facts.origin[made] = self.facts.origin.get(statement, statement)
            self.facts.foreign[made] = None
            self.program.forward.insert(self.program.forward.index(statement), made)
        return self.factors[key]
