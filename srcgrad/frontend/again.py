"""Generated code that is differentiated once more: stacks, lists, displays, lengths and solutions.

Zeros mirror the lists and dicts that the text took from others. A called function gets displays in the places where it
reads them, `width, height = primals`. Slices of lists are written item by item.

The direction of a vector is `x / |x|`; where both are 0, its derivative is nan for whoever asks for it, and 0 for who
does not: the distance of a point to itself stays 0 whatever is asked for.

The tangent of the solution of a differential equation is a part of the solution of a larger one, that of the state and
its tangent together. What is transposed stays a call, of `flow_adjoint`, which has a rule of its own; what the times
have to do with it stands around that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING  # parts of a call are trees and names

import gast
import numpy as np

from srcgrad.core.facts import ANY, UNKNOWN, Facts, Kind, common_kind, kind_of_items, part_of
from srcgrad.core.identity import record
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    called_name,
    copy,
    expression,
    find_nodes,
    header,
    is_write,
    literal_node,
    literal_of,
    loads,
    name,
    part_written,
    remade,
    same_tree,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import rewrite, rewrite_statements
from srcgrad.frontend.calls.nested_functions import take_out
from srcgrad.frontend.context import Call, is_change
from srcgrad.frontend.resolve import binding_of, is_divisor
from srcgrad.runtime.odes import method_of, odeint_pullback, odeint_pushforward, solution_pullback, solution_pushforward
from srcgrad.runtime.roots import quad_pullback, quad_pushforward, root_pullback, root_pushforward
from srcgrad.runtime.singular import denominator, share, signed
from srcgrad.runtime.structure import zeros_like

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting

# what a call mirrors: one of its arguments
SAME = {"zeros_like": 0, "fields_of": 0, "add": 0, "list": 0, "dict": 0, "scatter": 1, "entry": 1}


OPEN = Kind("open")  # of a name whose kind is being found: it says nothing


@record
class AdjointKinds:
    """The kinds of expressions of one function, found from what is bound to the names in them."""

    function: Node
    facts: Facts
    open: set[str] = field(default_factory=set)  # names whose kind is being found
    met: set[str] = field(default_factory=set)  # ... and was asked for meanwhile
    known: dict[str, Kind] = field(default_factory=dict)

    def kind(self, value: Node | None) -> Kind:
        """The kind of an expression; of a name, what all that is bound to it have in common."""
        if isinstance(value, gast.Name):
            return self._name(value.id)
        if isinstance(value, gast.List | gast.Tuple):
            tag = "list" if isinstance(value, gast.List) else "tuple"
            return Kind(tag, None, tuple((k, self.kind(item)) for k, item in enumerate(value.elts)))
        if isinstance(value, gast.Dict):
            keys = [getattr(key, "value", None) for key in value.keys]
            return Kind("dict", None, tuple(zip(keys, map(self.kind, value.values), strict=True)))
        if isinstance(value, gast.Subscript):
            return part_of(self.kind(value.value), value.slice)
        called = getattr(value.func, "id", "") if isinstance(value, gast.Call) else ""
        if called in SAME and value is not None and value.args:
            made = self.kind(value.args[SAME[called]])
            return Kind("list", None, made.items) if called == "list" and made.tag == "tuple" else made
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "pop":
            return self._items(getattr(value.func.value, "id", ""))
        return UNKNOWN

    def _name(self, name: str) -> Kind:
        if name in self.facts.kinds.of_names:
            return self.facts.kinds.of_names[name]
        if name in self.open:
            self.met.add(name)
            return OPEN
        if name not in self.known:
            self.open.add(name)
            kind = self._bound_to(name)
            self.open.discard(name)
            self.met.discard(name)
            if self.met:  # more is known of it when they are found
                return kind
            self.known[name] = kind
        return self.known[name]

    def _bound_to(self, name: str) -> Kind:
        found = [made for node in statements(self.function.body) for made in self._kinds_of_binding(name, node)]
        items = self._items(name)
        if items not in (UNKNOWN, OPEN) and all(kind == Kind("list") for kind in found):
            return Kind("list", None, ((ANY, items),))
        return _join_kinds(found)

    def _kinds_of_binding(self, name: str, node: Node) -> list[Kind]:
        if isinstance(node, gast.For) and getattr(node.target, "id", "") == name:
            return [self._kind_of_each(self.kind(node.iter))]
        if target(node) == name:
            return [self.kind(node.value)]
        places = (
            node.targets[0].elts if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple) else []
        )
        found = [k for k, place in enumerate(places) if getattr(place, "id", "") == name]
        return [part_of(self.kind(node.value), literal_node(k)) for k in found]

    def _kind_of_each(self, kind: Kind) -> Kind:
        return dict(kind.items).get(ANY, kind_of_items(kind)) if kind.tag == "list" else kind_of_items(kind)

    def _items(self, name: str) -> Kind:
        """What is put into a list: `rows.append(row)`."""
        found = []
        for node in statements(self.function.body):
            call = node.value if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call) else None
            if call is not None and isinstance(call.func, gast.Attribute) and call.func.attr == "append":
                if getattr(call.func.value, "id", "") == name:
                    found.append(self.kind(call.args[0]))
        return _join_kinds(found)


def _join_kinds(found: list[Kind]) -> Kind:
    known = [kind for kind in found if kind != OPEN]
    return common_kind(known) if known else OPEN if found else UNKNOWN


def container_of(value: Node, function: Node, facts: Facts) -> str:
    """`list` or `dict` if zeros that mirror an expression are one; an empty string otherwise."""
    tag = AdjointKinds(function, facts).kind(value).tag
    return tag if tag in ("list", "dict") else ""


def displays(given: dict[str, Node], tree: Node, where: Node, before: Block, facts: Facts) -> dict[str, Node]:
    """The arguments that are tuples of a parameter that is not bound anew, as tuples of names and literals."""
    bound = {s for node in statements(tree.body) for s in stores(node)}
    found: dict[str, Node] = {}
    for parameter, value in given.items():
        if isinstance(value, gast.Tuple) and parameter not in bound:
            parts = [_part(part, f"{parameter}_{k}", where, before, facts) for k, part in enumerate(value.elts)]
            found[parameter] = at(gast.Tuple(elts=parts, ctx=gast.Load()), value)
    return found


def _part(part: Node, stem: str, where: Node, before: Block, facts: Facts) -> Node:
    """A name or a literal that holds a part."""
    if isinstance(part, gast.Name | gast.Constant):
        return part
    held = facts.names.fresh(stem)
    made = at(assign(held, part), where)
    facts.origin.foreign[made] = None
    before.append(made)
    return name(held)


def open_display(node: Node, parameter: str, display: Node) -> None:
    """Put the display, or a part of it, where a statement reads the parameter.

    Parts that carry no derivative, a count or an axis, so stay apart from those that do.
    """
    for owner in list(walk(node)):
        for key, part in _parts(owner):
            whole = part.value if isinstance(part, gast.Subscript) else part
            if not isinstance(whole, gast.Name) or whole.id != parameter:
                continue
            place = _place(part, len(display.elts))
            made = copy(display if place is None else display.elts[place])
            if place is None and isinstance(part, gast.Subscript):
                part.value = made
                continue
            _set(owner, key, part, at(made, part))


def _parts(owner: Node) -> Iterator[tuple[str, Node]]:
    for key in owner._fields:
        value = getattr(owner, key, None)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, gast.AST):
                yield key, part


def _set(owner: Node, key: str, old: Node, new: Node) -> None:
    value = getattr(owner, key)
    if isinstance(value, list):
        value[next(k for k, part in enumerate(value) if part is old)] = new
    else:
        setattr(owner, key, new)


def _place(part: Node, count: int) -> int | None:
    """The place that `primals[0]` or `primals[-1]` reads; None for anything else."""
    if not isinstance(part, gast.Subscript):
        return None
    place = literal_of(part.slice)
    return place % count if isinstance(place, int) and -count <= place < count else None


def portions(function: Node, facts: Facts) -> Node:
    """Write `x_bar[1:] = add(x_bar[1:], e)` as a loop over the items of `e`, where `x_bar` is a list.

    The adjoint of a slice has as many items as the slice, so that such a write never changes how long a list is.
    """

    def change(node: Node) -> Block:
        return _Portion(node, facts).by_items() if _is_portion(node, facts) else [node]

    function.body = rewrite_statements(function.body, change)
    return function


def _is_portion(node: Node, facts: Facts) -> bool:
    if not isinstance(node, gast.Assign) or not is_write(node) or not isinstance(part_written(node).slice, gast.Slice):
        return False
    return facts.kinds.lists.get(getattr(part_written(node).value, "id", "")) == "list"


@record
class _Portion:
    """One write into a slice, and the statements that must stand before the writes of its items."""

    node: Node
    facts: Facts
    items: Node | None = None  # the name of the value, whose items are written
    before: Block = field(default_factory=list)

    def by_items(self) -> Block:
        """`for k in range(len(e)): x_bar[1 + k] = add(x_bar[1 + k], e[k])`."""
        part = part_written(self.node)
        write, step = self._write_of(), _step(part.slice)
        if step is None:
            raise self.facts.refuse(
                part,
                "E5005",
                "a second derivative through a slice of a list that goes back from an item, or has no literal step",
                "take the items one by one, or loop over an index",
            )
        k = self.facts.names.new_local("k")
        body = write(self._place(part, k, step), name(k))
        assert self.items is not None, "how it is written is known"
        trips = expression("range(len(e))", e=copy(self.items))
        return self._mark_statements([*self.before, gast.For(name(k, gast.Store()), trips, [body], [], None)])

    def _write_of(self) -> Callable[[Node, Node], Node]:
        """How item `k` of the value is written into one place of the list."""
        part, value = part_written(self.node), self.node.value
        whole = copy(part)
        whole.ctx = gast.Load()
        adds = called_name(value) == "add" and len(value.args) == 2 and same_tree(value.args[0], whole)
        given = value.args[1] if adds else value
        plain = isinstance(given, gast.Name) and given.id != part.value.id
        items = self.items = given if plain else self._bind_value("items", given)

        def write(place: Node, k: Node) -> Node:
            item = expression("e[k]", e=copy(items), k=k)
            if adds:
                item = gast.Call(copy(value.func), [expression("x[p]", x=copy(part.value), p=copy(place)), item], [])
            return statement("x[p] = item", x=copy(part.value), p=place, item=item)

        return write

    def _place(self, part: Node, k: str, step: int) -> Node:
        """The place in a list of item `k` of a slice."""
        steps = name(k) if step == 1 else expression("step * k", step=literal_node(step), k=name(k))
        lower, held = part.slice.lower, part.value.id
        if step < 0:
            return expression(
                "last + steps", last=self._bind_value("last", expression(f"len({held}) - 1")), steps=steps
            )
        if lower is None or getattr(lower, "value", None) == 0:
            return steps
        if type(getattr(lower, "value", None)) is int:
            return expression("first + steps", first=copy(lower), steps=steps)
        skipped = expression("len(x[:lower])", x=held, lower=copy(lower))
        return expression("first + steps", first=self._bind_value("first", skipped), steps=steps)

    def _bind_value(self, stem: str, value: Node) -> Node:
        bound = self.facts.names.new_local(stem)
        self.before.append(assign(bound, value))
        return name(bound)

    def _mark_statements(self, block: Block) -> Block:
        for made in block:
            for inner in walk(made):
                at(inner, self.node)
        self.facts.origin.foreign.update(dict.fromkeys(statements(block)))
        return block


def _step(part: Node) -> int | None:
    """The step of a slice; None where it is no literal, or where a slice that goes backwards has a first item."""
    step = 1 if part.step is None else literal_of(part.step)
    return step if type(step) is int and (step > 0 or part.lower is None) else None


def stacks(function: Node, facts: Facts) -> None:
    """Tell the lists of a text of ours from its stacks, which are no lists to the passes that follow."""
    facts.kinds.lists = _beside_stacks(function, facts)
    function.body = rewrite_statements(function.body, lambda node: [_renewed_item(node, facts)])
    filled = {w for node in statements(function.body) if is_write(node) for w in written_names(node)}
    lists = filled & set(facts.kinds.lists)
    function.body = rewrite_statements(function.body, lambda node: _copy_filled_lists(node, lists, facts))


def _copy_filled_lists(node: Node, filled: set[str], facts: Facts) -> Block:
    """A list that is filled, and comes off a stack or out of another one, as a copy: what held it stays as it is."""
    made: Block = []
    bound = target(node)
    if bound in filled and not is_write(node) and not is_change(node, bound):
        popped = isinstance(node.value, gast.Call) and isinstance(node.value.func, gast.Attribute)
        if popped:
            held = facts.names.new_local("held")
            first = at(assign(held, node.value), node)
            facts.origin.foreign[first] = None
            made.append(first)
            node.value = name(held)
        if isinstance(node.value, gast.Name | gast.Subscript):
            copies = "list" if facts.kinds.lists[bound] == "list" else facts.library_in_text("fields_of")
            node.value = at(expression(f"{copies}(held)", held=node.value), node)
            facts.origin.foreign[node] = None
    return [*made, node]


def _renewed_item(node: Node, facts: Facts) -> Node:
    """`parts_bar[k] += e` as `parts_bar[k] = parts_bar[k] + e`: nothing else holds an item of an adjoint."""
    if not is_write(node) or isinstance(part_written(node).slice, gast.Slice):
        return node
    part, held = part_written(node), written_names(node)[0]
    if not isinstance(node, gast.AugAssign) or held not in facts.kinds.lists:
        return node
    read = copy(part)
    read.ctx = gast.Load()
    made = at(gast.Assign([part], at(gast.BinOp(read, node.op, node.value), node), None), node)
    if node in facts.origin.foreign:
        facts.origin.foreign[made] = None
    return made


def _beside_stacks(function: Node, facts: Facts) -> dict[str, str]:
    """The lists of a text of ours; a stack is empty at first, pushed and popped and nothing else, and is none."""
    order = list(statements(function.body))
    parts = [(node, item) for node in order for part in header(node) for item in walk(part)]
    mentions = [i.id for _, i in parts if isinstance(i, gast.Name) and isinstance(i.ctx, gast.Load)]
    found = {w: facts.kinds.lists[w] for n in order if is_write(n) for w in written_names(n) if w in facts.kinds.lists}
    for bound in dict.fromkeys(w for node in order for w in written_names(node) if is_change(node, w)):
        pushed = [
            n for n in order if isinstance(n, gast.Expr) and is_change(n, bound) and n.value.func.attr == "append"
        ]
        popped = [n for n, item in parts if _is_pop(item, bound) and not isinstance(n, gast.Expr)]
        if bound not in facts.kinds.lists:
            raise facts.refuse(
                next(n for n in order if bound in written_names(n)),
                "E5010",
                f"the derivative of a derivative that changes the list `{bound}` is not made",
                "use an array for what the second derivative goes through",
            )
        made = [n for n in order if target(n) == bound and not is_change(n, bound)]
        empty = bool(made) and all(isinstance(n.value, gast.List) and not n.value.elts for n in made)
        if not empty or len(popped) + len(pushed) != mentions.count(bound):
            found[bound] = facts.kinds.lists[bound]
    return found


def _is_pop(node: Node, bound: str) -> bool:
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute) or node.func.attr != "pop":
        return False
    return isinstance(node.func.value, gast.Name) and node.func.value.id == bound


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


@record(frozen=True)
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


ADJOINT = """
start = np.ravel(np.array(y0))
count = np.size(start)
flow = flow_adjoint(function, derivative, begin, start, times, ({args}), {seeds}, {wrt}{options})
"""
PART = """
check_numbers(_{k})
after_{k} = {before} + np.size(_{k})
made_{k} = np.reshape(flow[{before} : after_{k}], np.shape(_{k}))[()]
"""
DEPARTED = """
departed = -np.sum(flow[:count] * np.ravel(np.array(function({begun}))))
moved = np.zeros(np.size(times))
for i in range(np.size(times)):
    moved[i] = {given}np.sum({seed} * np.ravel(np.array(function({at}))))
"""
JOINT = """
def joint(time, both{own}{dots}):
    state, state_dot = both[: len(both) // 2], both[len(both) // 2 :]
    rate = np.ravel(np.array(function({at}{own})))
    rate_dot = np.ravel(np.array(derivative({at}{own}{seeds})))
    return np.concatenate((rate, rate_dot))
"""
STARTED = """
start = np.ravel(np.array(y0))
count = np.size(start)
first = np.ravel(np.array(y0_dot)){less}
size = tangent_size(first{tangents})
rtol, atol = doubled({rtol}, {atol}, count)
"""
SOLVED = """
_, both = states(joint, (begin, end), np.concatenate((start, first / size)), method, times,
    args=({args}), rtol=rtol, atol=atol)
"""
RATES = """
rates = np.zeros(np.shape(y))
for i in range(np.size(times)):
    {row} = np.ravel(np.array(function({at}{primals})))
"""


# The right-hand side gets its state and the time, in the order that the solver has.
STATE_FIRST, TIME_FIRST = "{state}, {time}", "{time}, {state}"


def _order(call: Call) -> str:
    return TIME_FIRST if getattr(call.given.get("tfirst"), "value", False) else STATE_FIRST


def _adjoint(call: Call, seeds: str, **options: object) -> dict[int, str]:
    """Write what does not know of moving times; the names of the adjoints of the arguments."""
    args = "".join(f"_{k}, " for k in range(call.count))
    words = "".join(f", {key}={value!r}" for key, value in options.items())
    call.write(ADJOINT, args=args, seeds=seeds, wrt=call.places, options=words + call.options)
    before = "count"
    for k in call.places:
        call.write(PART, k=k, before=before)
        before = f"after_{k}"
    return {k: f"made_{k}" for k in call.places}


def _write_departure(call: Call, order: str, given: str, seed: str, state: str) -> None:
    begun = order.format(state="start", time="begin") + call.primals
    at = order.format(state=state, time="times[i]") + call.primals
    call.write(DEPARTED, begun=begun, at=at, given=given, seed=seed)


START_BAR = "np.reshape(flow[:count], np.shape(y0))[()]"


def _odeint_pulled(call: Call) -> Node:
    order = _order(call)
    call.write("times = np.array(t)")
    call.parts["begin"] = call.result("times[0]")
    made = _adjoint(call, "last")
    _write_departure(call, order, "", "last[i]", "y[i]")
    call.write("moved[0] = moved[0] + departed")
    return call.result(f"({START_BAR}, np.reshape(moved, np.shape(t)), {call.entry_per_argument(made)})")


def _solution_pulled(call: Call) -> Node | None:
    if not _name_parts(call):
        return None
    usual = {"method": "RK45", "rtol": 1e-3, "atol": 1e-6}
    missing = {key: value for key, value in usual.items() if key not in call.given}
    made = _adjoint(call, "np.transpose(last)", tfirst=True, **missing)
    _write_departure(call, TIME_FIRST, "t_last[i] + ", "last[:, i]", "y[:, i]")
    is_array = getattr(call.work.facts.kinds.of_names.get(getattr(call.parts["span"], "id", "")), "tag", "") == "array"
    span = "np.array(({}, {}))" if is_array else "({}, {})"
    if _is_none(call.parts["eval"]):
        ends = span.format("departed + moved[0]", "moved[-1]")
        return call.result(f"({ends}, {START_BAR}, None, {call.entry_per_argument(made)})")
    return call.result(f"({span.format('departed', '0.0')}, {START_BAR}, moved, {call.entry_per_argument(made)})")


def _name_parts(call: Call) -> bool:
    """Give the parts of what was found, and of the span, names of their own."""
    found = call.parts["found"]
    if isinstance(found, gast.Tuple):
        call.parts["times"], call.parts["y"] = found.elts
        call.parts["begin"], call.parts["end"] = _item(call.parts["span"], 0), _item(call.parts["span"], 1)
    return isinstance(found, gast.Tuple)


def _item(value: Node, place: int) -> Node:
    if isinstance(value, gast.Tuple | gast.List):
        return value.elts[place]
    return gast.Subscript(copy(value), literal_node(place), gast.Load())


def _is_none(node: Node) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def _still(node: Node, call: Call) -> bool:
    """Whether a tangent is written as zero."""
    if isinstance(node, gast.Tuple | gast.List):
        return all(_still(one, call) for one in node.elts)
    found = binding_of(node.func, call.work.facts, call.work.facts.names.local) if isinstance(node, gast.Call) else None
    return (found is not None and found.object is zeros_like) or _is_none(node)


def _joint(call: Call, order: str) -> None:
    """Write the right-hand side of the state and its tangent."""
    seed, *words = call.words
    taken: dict[str, None] = {}
    for k, one in enumerate(call.elements):
        known = isinstance(one, gast.Name) and one.id not in taken
        call.parts[f"own_{k}"] = one.id if known else call.work.facts.names.fresh(f"p{k}")
        taken[call.parts[f"own_{k}"]] = None
    for k in call.places:
        call.parts[f"own_{k}_dot"] = call.work.facts.names.fresh(f"{call.parts[f'own_{k}']}_dot")
    call.write(
        JOINT,
        at=order.format(state="state", time="time"),
        own="".join(f", own_{k}" for k in range(call.count)),
        dots="".join(f", own_{k}_dot" for k in call.places),
        seeds=f", {seed}=state_dot" + call.dots(words, "own_{}_dot"),
    )


def _write_solver_call(call: Call, order: str, departing: str, usual: tuple[float | None, float | None]) -> None:
    """Write the call of the solver; its first state moves with its first time, by `departing`."""
    _joint(call, order)
    for k in call.places:
        call.write("check_numbers(_{k})", k=k)
    begun = order.format(state="start", time="begin") + call.primals
    less = f" - np.ravel(np.array(function({begun}))) * {departing}" if departing else ""
    tangents = "".join(f", _{k}_dot" for k in call.places)
    tolerances = {
        word: f"given_{word}" if word in call.given else repr(value)
        for word, value in zip(("rtol", "atol"), usual, strict=True)
    }
    call.write(STARTED, less=less, tangents=tangents, **tolerances)
    args = "".join(f"_{k}, " for k in range(call.count)) + "".join(f"_{k}_dot / size, " for k in call.places)
    call.write(SOLVED, args=args)


def _odeint_pushed(call: Call) -> Node:
    order, still = _order(call), _still(call.parts["t_dot"], call)
    call.write("times = np.array(t)" if still else "times, moved = np.array(t), np.array(t_dot)")
    call.parts["begin"] = call.result("times[0]")
    call.parts["end"], call.parts["method"] = call.result("times[-1]"), literal_node("LSODA")
    _write_solver_call(call, order, "" if still else "moved[0]", (None, None))
    if still:
        return call.result("np.transpose(both[count:] * size)")
    call.write(RATES, row="rates[i]", at=order.format(state="y[i]", time="times[i]"))
    return call.result("np.transpose(both[count:] * size) + rates * moved[:, np.newaxis]")


def _solution_pushed(call: Call) -> Node | None:
    if not _name_parts(call):
        return None
    spans, asked = not _still(call.parts["span_dot"], call), not _is_none(call.parts["eval"])
    moves = not _still(call.parts["eval_dot"], call) if asked else spans
    for place, one in enumerate(("begin_dot", "end_dot")):
        call.parts[one] = _item(call.parts["span_dot"], place)
    method = call.given.get("method", literal_node("RK45"))
    if isinstance(method, gast.Constant):
        call.parts["method"] = literal_node(method_of(method.value))
    else:
        call.write("chosen = method_of(given_method)")
        call.parts["method"] = call.result("chosen")
    _write_solver_call(call, TIME_FIRST, "begin_dot" if spans else "", (1e-3, 1e-6))
    if not moves:
        return call.result("(np.zeros(np.shape(times)), both[count:] * size)")
    call.write("moved = np.array(eval_dot)" if asked else "moved = np.zeros(np.shape(times))")
    if not asked:
        call.write("moved[0] = begin_dot\nmoved[-1] = end_dot")
    call.write(RATES, row="rates[:, i]", at="times[i], y[:, i]")
    return call.result("(moved, both[count:] * size + rates * moved)")


SOLUTION = ("function", "derivative", "found", "span", "y0", "eval", "args")
FLOWS: tuple[tuple[object, tuple[str, ...], Callable[[Call], Node | None]], ...] = (
    (odeint_pullback, ("function", "derivative", "y", "y0", "t", "args", "last"), _odeint_pulled),
    (odeint_pushforward, ("function", "derivative", "y", "y0", "t", "args", "y0_dot", "t_dot", "dots"), _odeint_pushed),
    (solution_pullback, (*SOLUTION, "t_last", "last"), _solution_pulled),
    (solution_pushforward, (*SOLUTION, "span_dot", "y0_dot", "eval_dot", "dots"), _solution_pushed),
)


# `slopes` are those of the function by x, an equation a row.
ROOT_PULLBACK = """
value = np.array(function(x{primals}))
slopes = np.zeros((np.size(x), np.size(x)))
for i in range(np.size(x)):
    row = derivative(x{primals}, {seed}=np.reshape(np.eye(np.size(x))[i], np.shape(value))[()])
    slopes[i] = np.ravel(row[0])
check_slopes(slopes, value, x)
given = np.linalg.solve(slopes.T, -np.ravel(last))
made = derivative(x{primals}, {seed}=np.reshape(given, np.shape(value))[()])
"""
ROOT_PUSHFORWARD = """
value = np.array(function(x{primals}))
slopes = np.zeros((np.size(x), np.size(x)))
for i in range(np.size(x)):
    column = derivative(x{primals}, {seed}=np.reshape(np.eye(np.size(x))[i], np.shape(x))[()]{still})
    slopes[:, i] = np.ravel(np.array(column))
check_slopes(slopes, value, x)
given = np.array(derivative(x{primals}, {seed}=np.zeros(np.shape(x))[()]{moved}))
made = np.reshape(np.linalg.solve(slopes, -np.ravel(given)), np.shape(x))[()]
"""
STEADY = "check_steady(function, a, b, ({primals},){places})\n"
END = """
{end} = 0.0
if np.isfinite({at}):
    {end} = np.sum(function({at}{primals}))
"""
GAINED = """
check_numbers(_{k})
gained_{k} = np.zeros(np.size(_{k}))
for i in range(np.size(_{k})):
    gained_{k}[i] = quad(lambda s: np.ravel(derivative(s{primals}, {seed}=1.0){part})[i], a, b{options})[0]
made_{k} = np.reshape(last * gained_{k}, np.shape(_{k}))[()]
"""
MOVED = """
made = low * -a_dot + high * b_dot
"""
SUMMED = """
made = quad(lambda s: np.sum(derivative(s{primals}{moved})), a, b{options})[0] + high * b_dot - low * a_dot
"""


def implicit(function: Node, work: Rewriting) -> None:
    """Write out what the derivative of a root, of an integral or of a solution computes."""
    function.body = rewrite_statements(function.body, lambda node: _statement(node, work), apart=(gast.FunctionDef,))


def _statement(node: Node, work: Rewriting) -> Block:
    """A statement behind what computes the results that it reads."""
    before: Block = []
    if isinstance(node, gast.Assign | gast.AugAssign | gast.Return) and node.value is not None:
        shown = list(walk(node.value))
        node.value = rewrite(node.value, lambda part: _exchange_results(part, node, before, work))
        if list(walk(node.value)) != shown:
            work.facts.origin.foreign[node] = None
    return [*take_out(before, work), node]


def _exchange_results(part: Node, where: Node, before: Block, work: Rewriting) -> Node:
    """An expression with the results of such calls in their places; what computes them goes to `before`."""
    held = part.value if isinstance(part, gast.Subscript) and isinstance(part.slice, gast.Constant) else None
    if isinstance(held, gast.Tuple):
        taken: Node = held.elts[part.slice.value]
        return taken
    found = binding_of(part.func, work.facts, work.facts.names.local) if isinstance(part, gast.Call) else None
    for op, arguments, write in (*WRITTEN, *FLOWS):
        if found is not None and found.object is op:
            call = Call(arguments, part, where, before, work)
            made = write(call) if call.known else None
            return part if made is None else at(made, part)
    return part


def _root_pulled(call: Call) -> Node:
    call.write(ROOT_PULLBACK, seed=call.words[0])
    return call.result(call.entry_per_argument({k: f"made[{number + 1}]" for number, k in enumerate(call.places)}))


def _root_pushed(call: Call) -> Node:
    seed, *words = call.words
    still, moved = call.dots(words, "zeros_like(_{})"), call.dots(words, "_{}_dot")
    call.write(ROOT_PUSHFORWARD, seed=seed, still=still, moved=moved)
    return name(call.parts["made"])


def _ends(call: Call) -> None:
    for end, place in (("low", "a"), ("high", "b")):
        call.write(END, end=end, at=place)
    if call.words:
        places = "" if len(call.places) == call.count else f", places={call.places!r}"
        call.write(STEADY.replace("({primals},)", "(" + call.primals[2:] + ",)"), places=places)


def _quad_pulled(call: Call) -> Node:
    _ends(call)
    call.parts["quad"] = _quad(call)
    for number, k in enumerate(call.places if call.words else ()):
        part = f"[{number}]" if len(call.places) > 1 else ""
        call.write(GAINED, k=k, part=part, seed=call.words[0])
    parts = call.entry_per_argument({k: f"made_{k}" for k in call.places} if call.words else {})
    return call.result(f"(last * -low, last * high, {parts})")


def _quad_pushed(call: Call) -> Node:
    _ends(call)
    call.parts["quad"] = _quad(call)
    call.write(SUMMED if call.words else MOVED, moved=call.dots(call.words, "_{}_dot") if call.words else "")
    return name(call.parts["made"])


def _quad(call: Call) -> str:
    from scipy.integrate import quad  # late: only texts with integrals need SciPy

    return call.work.facts.library_in_text("quad", quad)


WRITTEN = (
    (root_pullback, ("function", "derivative", "x", "args", "last"), _root_pulled),
    (root_pushforward, ("function", "derivative", "x", "args", "dots"), _root_pushed),
    (quad_pullback, ("function", "derivative", "a", "b", "args", "last"), _quad_pulled),
    (quad_pushforward, ("function", "derivative", "a", "b", "args", "a_dot", "b_dot", "dots"), _quad_pushed),
)
