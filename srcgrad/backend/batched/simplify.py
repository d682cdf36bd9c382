"""Batched texts made cheaper: what has no leading axis first, fewer rows, no needless broadcast.

`x_dot * -y`, `2.0 * y * x_dot`: x_dot has one number for each direction, and so has each product with it. A sum of
weighted products of matrices is one product with the weighted factors. Rows that an index picks from a result are
picked from what it is made of. The tangent of a sum that broadcasts is widened to its shape where it may not have it
already.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad.analysis.dtypes import has_sign, is_floating, is_minus
from srcgrad.backend.batched.expressions import (
    Expressions,
    UnknownFormError,
    full_slice,
    literal,
    object_of_name,
    part,
    parts_of,
)
from srcgrad.core.facts import Facts, function_called
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Node,
    assign,
    at,
    copy,
    expression,
    header,
    is_write,
    loads,
    name,
    same_tree,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.derive.program import Program


def group_matrix_products(program: Program, facts: Facts, text: Expressions) -> None:
    """Let `np.sum(np.matmul(p, a) * w, axis=0)` be one product of matrices: of p (b, i, k) and w * a (b * k, v).

    `w` (b, 1, v) and `a` (k, v) carry no tangent; `p` may. The lengths are looked at when the text runs: what does not
    match raises, and then the text is made anew without this.
    """
    if facts.request.called:
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
        self.steady = {*self.once, *(p for p in program.parameters if p not in stored), facts.names.imports.get("np")}

    def of(self, node: Node, statement: Node) -> Node:
        """An expression in which such sums are products."""
        for key, child in gast.iter_fields(node):
            if isinstance(child, list):
                child[:] = [self.of(one, statement) if isinstance(one, gast.expr) else one for one in child]
            elif isinstance(child, gast.expr):
                setattr(node, key, self.of(child, statement))
        found = self._factors_and_weights(node)
        return node if found is None else self._product(*found, statement)

    def _is_call(self, node: Node, function: object) -> bool:
        return isinstance(node, gast.Call) and object_of_name(node.func, self.facts, self.text.known) is function

    def _definition_of_name(self, node: Node) -> Node:
        """What a name that is read once is bound to."""
        return self.inner[node.id].value if isinstance(node, gast.Name) and node.id in self.inner else node

    def _factors_and_weights(self, node: Node) -> tuple[Node, Node, Node] | None:
        """The factors p, a name, and a, and the weights w."""
        if not self._is_call(node, np.sum) or len(node.args) != 1 or [one.arg for one in node.keywords] != ["axis"]:
            return None
        try:
            first = literal(node.keywords[0].value) == 0
        except UnknownFormError:
            return None
        whole = self._definition_of_name(node.args[0])
        if not first or not isinstance(whole, gast.BinOp) or not isinstance(whole.op, gast.Mult):
            return None
        for product, weights in ((whole.left, whole.right), (whole.right, whole.left)):
            made = self._definition_of_name(product)
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
        primal = name(self.facts.names.adjoint_of.get(p.id, p.id))
        rows = expression("p.transpose(1, 0, 2).reshape(primal.shape[1], -1)", p=copy(p), primal=primal)
        user = self.facts.origin.user.get(statement, statement)
        if statement not in self.facts.tape.tangents:
            self.facts.origin.rewritten[user] = None
        return expression("rows @ chosen", rows=rows, chosen=name(chosen))

    def _factor(self, a: Node, weights: Node, statement: Node) -> str:
        """The name of `w * a` as a matrix."""
        key = f"{gast.unparse(a)}, {gast.unparse(weights)}"
        if key not in self.factors:
            self.factors[key] = self.facts.names.fresh("factors")
            value = expression(f"{self.facts.library('blend_factors')}(a, w)", a=copy(a), w=copy(weights))
            made = at(assign(self.factors[key], value), statement)
            self.facts.origin.user[made] = self.facts.origin.user.get(statement, statement)
            self.facts.origin.foreign[made] = None
            self.program.forward.insert(self.program.forward.index(statement), made)
        return self.factors[key]


def move_signs_inward(program: Program, facts: Facts, batched: dict[str, None]) -> None:
    """Move signs in products from what has the axis to what has not; the number is the same.

    Where products may be in another order, `x_dot * a * b` is `a * b * x_dot`: one product with the axis, not two.
    If `a * b` is too large for a float, zeros of x_dot give NaN, and then the text is made anew without this.
    """
    for node in statements(program.block):
        for part in header(node):
            for product in walk(part):
                if not isinstance(product, gast.BinOp) or not isinstance(product.op, gast.Mult):
                    continue
                if facts.module.leading.regroup and isinstance(product.left, gast.BinOp):
                    _local_first(product, facts, batched)
                one, two = product.left, product.right
                plain = isinstance(two, gast.Name | gast.Subscript | gast.Call) and is_floating(two, facts)
                if (
                    is_minus(one)
                    and plain
                    and not batched.keys().isdisjoint(loads(one))
                    and batched.keys().isdisjoint(loads(two))
                ):
                    product.left, product.right = one.operand, gast.UnaryOp(gast.USub(), two)


def _local_first(product: Node, facts: Facts, batched: dict[str, None]) -> None:
    """Multiply the other factors of a product first, if its first one alone has the axis.

    One of the first two is an array of floats: the product of small integers may be too large for their type.
    """
    others: list[Node] = []
    first = product
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Mult):
        others.insert(0, first.right)
        first = first.left
    having = [not batched.keys().isdisjoint(loads(one)) for one in (first, *others)]
    if len(others) < 2 or having != [True] + [False] * len(others):
        return
    if not any(is_floating(one, facts) for one in others[:2] if not isinstance(one, gast.Constant)):
        return
    local = others[0]
    if is_minus(first) and has_sign(local, facts):
        first, local = first.operand, gast.UnaryOp(gast.USub(), local)
    for other in others[1:]:
        local = gast.BinOp(local, gast.Mult(), other)
    product.left, product.right = local, first


Rank = Callable[[Node], int | None]
Axes = frozenset[tuple[str, int]]


class StaysError(Exception):
    """The rows are picked where the user picks them."""


def index_before_product(program: Program, facts: Facts, rank: Rank, known: Container[str]) -> None:
    """Let `(w @ turn)[i]` be `w[i] @ turn`, for arguments with more rows than `i` has entries.

    Which these are, `facts.module.leading.fewer` tells of the arguments of this call. All that reads the rows of a
    result has to pick the same ones; else they stay where they are.
    """
    if facts.request.called or any(is_write(node) for node in statements(program.block)):
        return
    for index, axes in facts.module.leading.fewer:
        if not any(index in stores(node) for node in statements(program.block)):
            work = _Picks(program, facts, rank, known, index, frozenset(axes))
            try:
                work.run()
            except StaysError:
                continue


@dataclass
class _Picks:
    """One index, and the arguments of which it may pick rows."""

    program: Program
    facts: Facts
    rank: Rank
    known: Container[str]
    index: str
    axes: Axes
    made: dict[str, tuple[int, Node]] = field(default_factory=dict)  # name -> the axis, and its value with fewer rows
    reads: dict[str, int] = field(default_factory=dict)
    products: int = 0

    def run(self) -> None:
        """Change the text, if there is a product that gets smaller."""
        block = self.program.forward
        self.bound = {str(target(n)): n for n in block if target(n) is not None and isinstance(n, gast.Assign)}
        stored = [bound for node in statements(self.program.block) for bound in stores(node)]
        self.bound = {bound: node for bound, node in self.bound.items() if stored.count(bound) == 1}
        self.stored = frozenset(stored)
        sites = [item for node in block if isinstance(node, gast.Assign) for item in walk(node.value)]
        changed = [(site, self._rows(site.value)) for site in sites if self._picks(site)]
        every = [read for node in statements(self.program.block) for read in loads(node)]
        if not self.products or any(every.count(read) != times for read, times in self.reads.items()):
            raise StaysError
        for site, value in changed:
            _become(site, value)
        for bound, (_, value) in self.made.items():
            node = self.bound[bound]
            node.value = value
            self.facts.origin.rewritten[self.facts.origin.user.get(node, node)] = None

    def _picks(self, site: Node) -> bool:
        picks = isinstance(site, gast.Subscript) and isinstance(site.ctx, gast.Load)
        if not picks or not isinstance(site.slice, gast.Name) or site.slice.id != self.index:
            return False
        return not isinstance(site.value, gast.Name) or (site.value.id, 0) not in self.axes

    def _rows(self, node: Node) -> Node:
        return self.of(node, 0)

    def of(self, node: Node, axis: int) -> Node:
        """The expression with only the rows that are picked along an axis."""
        if isinstance(node, gast.Name):
            return self._name(node, axis)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub | gast.UAdd):
            return gast.UnaryOp(node.op, self.of(node.operand, axis))
        if isinstance(node, gast.BinOp):
            if isinstance(node.op, gast.MatMult):
                left, right = self._product(node, node.left, node.right, axis)
            elif isinstance(node.op, gast.Add | gast.Sub | gast.Mult | gast.Div | gast.Pow):
                left, right = (self._operand(side, self._known_rank(node) - axis) for side in (node.left, node.right))
            else:
                raise StaysError
            return gast.BinOp(left, node.op, right)
        if isinstance(node, gast.Subscript):
            return self._part(node, axis)
        if isinstance(node, gast.Attribute) and node.attr == "T":
            return gast.Attribute(self.of(node.value, self._known_rank(node) - 1 - axis), "T", gast.Load())
        if isinstance(node, gast.Call):
            return self._call(node, axis)
        raise StaysError

    def _known_rank(self, node: Node) -> int:
        found = self.rank(node)
        if found is None:
            raise StaysError
        return found

    def _name(self, node: Node, axis: int) -> Node:
        if (node.id, axis) in self.axes and node.id not in self.stored:
            return part(copy(node), [*[full_slice()] * axis, name(self.index)])
        if node.id not in self.bound or node.id in self.facts.kinds.containers:
            raise StaysError
        self.reads[node.id] = self.reads.get(node.id, 0) + 1
        if node.id not in self.made:
            self.made[node.id] = axis, node
            self.made[node.id] = axis, self.of(self.bound[node.id].value, axis)
        if self.made[node.id][0] != axis:
            raise StaysError
        return copy(node)

    def _operand(self, node: Node, from_end: int) -> Node:
        """An operand that broadcasts: one with fewer axes, or with a new one there, has no such rows."""
        rank = self._known_rank(node)
        if rank < from_end or _is_new(node, rank - from_end):
            return copy(node)
        return self.of(node, rank - from_end)

    def _product(self, node: Node, left: Node, right: Node, axis: int) -> tuple[Node, Node]:
        one, two = self._known_rank(left), self._known_rank(right)
        self.products += 1
        if one < 2 or two < 2:
            raise StaysError
        from_end = self._known_rank(node) - axis
        if from_end == 2:
            return self.of(left, one - 2), copy(right)
        if from_end == 1:
            return copy(left), self.of(right, two - 1)
        raise StaysError

    def _part(self, node: Node, axis: int) -> Node:
        """Rows of `x[:, None, :]`: those of x, along the axis that is kept whole there."""
        source = kept = 0
        parts = parts_of(node.slice)
        for one in parts:
            if isinstance(one, gast.Slice):
                if kept == axis and (one.lower, one.upper, one.step) == (None, None, None):
                    return gast.Subscript(self.of(node.value, source), copy(node.slice), gast.Load())
                source, kept = source + 1, kept + 1
            elif isinstance(one, gast.Constant) and one.value is None:
                kept += 1
            elif isinstance(one, gast.Constant) and type(one.value) is int:
                source += 1
            else:
                raise StaysError
        if kept > axis:
            raise StaysError
        return gast.Subscript(self.of(node.value, source + axis - kept), copy(node.slice), gast.Load())

    def _call(self, node: Node, axis: int) -> Node:
        function = object_of_name(node.func, self.facts, self.known)
        given, words = node.args, {word.arg: word.value for word in node.keywords}
        if function is np.matmul and len(given) == 2 and not words:
            return gast.Call(node.func, list(self._product(node, given[0], given[1], axis)), [])
        if function is np.transpose and len(given) == 1 and not words:
            return gast.Call(node.func, [self.of(given[0], self._known_rank(node) - 1 - axis)], [])
        if function is np.broadcast_to and len(given) == 2 and not words and _is_shape(given[1]):
            like = self.of(given[1].args[0], axis)
            shape = gast.Call(given[1].func, [like], [])
            return gast.Call(node.func, [self._operand(given[0], self._known_rank(node) - axis), shape], [])
        if function is np.sum and len(given) == 1 and set(words) == {"axis"}:
            try:
                over = literal(words["axis"])
            except UnknownFormError:
                raise StaysError from None
            if type(over) is not int:
                raise StaysError
            over %= self._known_rank(given[0])
            return gast.Call(node.func, [self.of(given[0], axis + (axis >= over))], copy(node).keywords)
        rule = rule_of(function) if isinstance(function, np.ufunc) else None
        if rule is not None and rule.kind == "elementwise" and not words:
            from_end = self._known_rank(node) - axis
            return gast.Call(node.func, [self._operand(one, from_end) for one in given], [])
        raise StaysError


def _is_shape(node: Node) -> bool:
    """Whether an expression is `np.shape(x)`, as generated texts have it."""
    called = isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "shape"
    return called and len(node.args) == 1 and not node.keywords


def _is_new(node: Node, axis: int) -> bool:
    """Whether an axis of a value is one that its index puts there, of length 1."""
    if not isinstance(node, gast.Subscript):
        return False
    kept = [one for one in parts_of(node.slice) if not (isinstance(one, gast.Constant) and type(one.value) is int)]
    plain = all(isinstance(one, gast.Slice) or getattr(one, "value", 0) is None for one in kept)
    return plain and axis < len(kept) and not isinstance(kept[axis], gast.Slice)


def _become(site: Node, value: Node) -> None:
    """Let an expression that stands in a text be another one."""
    site.__class__ = type(value)
    site.__dict__.clear()
    site.__dict__.update(value.__dict__)


def reshape_before_broadcast(program: Program, facts: Facts) -> None:
    """Let `np.broadcast_to(e, (m, *np.shape(p))).reshape(m, -1)` be `e.reshape(m, np.size(p))`, a name between or not.

    That raises where e has fewer numbers, and then the text is made anew without this.
    """
    before: Node | None = None
    for node in list(program.forward):
        for flat in walk(node) if isinstance(node, gast.Assign) else ():
            if not _is_flat(flat):
                continue
            wide = flat.func.value
            named = before is not None and isinstance(wide, gast.Name) and _is_between(wide.id, before, program)
            found = _parts(before.value if before is not None and named else wide, flat.args[0], facts)
            if found is not None:
                flat.func.value = found[0]
                flat.args[1] = _size(found[1], node, program, facts)
                if before is not None and named:
                    program.forward.remove(before)
        before = node


def _size(shown: Node, here: Node, program: Program, facts: Facts) -> Node:
    """How many numbers an array has: that of `y = np.reshape(p, (-1,))` has as many, and p need have no name."""
    library = facts.library("np")
    for node in program.forward[: program.forward.index(here)]:
        value, held = getattr(node, "value", None), target(node)
        if held is None or not isinstance(value, gast.Call) or gast.unparse(value.func) != f"{library}.reshape":
            continue
        if same_tree(value.args[0], shown) and all(_times(one, program) == 1 for one in (held, shown.id)):
            return expression("y.size", y=held)
    return expression(f"{library}.size(p)", p=shown)


def _times(held: str, program: Program) -> int:
    """How often a name is bound."""
    return [one for other in statements(program.block) for one in stores(other)].count(held)


def _is_flat(node: Node) -> bool:
    """Whether an expression is `e.reshape(m, -1)`."""
    if not isinstance(node, gast.Call) or len(node.args) != 2 or not isinstance(node.func, gast.Attribute):
        return False
    flat: bool = node.func.attr == "reshape" and gast.unparse(node.args[1]) == "-1"
    return flat


def _is_between(held: str, before: Node, program: Program) -> bool:
    """Whether a name is bound in the statement before, and read once."""
    if not isinstance(before, gast.Assign) or target(before) != held:
        return False
    text = [*statements(program.block), program.result]
    return [one for other in text for one in (*loads(other), *stores(other))].count(held) == 2


def _parts(call: Node, count: Node, facts: Facts) -> tuple[Node, Node] | None:
    """The e and p of `np.broadcast_to(e, (m, *np.shape(p)))`, where e is a new array."""
    if function_called(call, facts) is not np.broadcast_to or len(call.args) != 2:
        return None
    value, shape = call.args
    if not isinstance(value, gast.BinOp | gast.UnaryOp) or not isinstance(shape, gast.Tuple) or len(shape.elts) != 2:
        return None
    first, rest = shape.elts
    if (
        not same_tree(first, count)
        or not isinstance(rest, gast.Starred)
        or function_called(rest.value, facts) is not np.shape
    ):
        return None
    [shown] = rest.value.args
    return (value, shown) if isinstance(shown, gast.Name) else None
