"""Second order through lists: stacks, displays and slices of generated texts.

What zeros mirror in a text that is differentiated again: the lists and dicts that it took from others.

Displays that a called function gets, in the places where it reads them: `width, height = primals`.

Writes into slices of lists in a text of ours, which is differentiated again: item by item.

Lists in a text of ours, which is differentiated again: stacks, and adjoints and tangents of lists.

Lengths in a text of ours that is differentiated once more: products by what is 0 at a length of 0, by convention.

The direction of a vector is `x / |x|`; where both are 0, its derivative is nan for whoever asks for it, and 0 for who
does not: the distance of a point to itself stays 0 whatever is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad.core.facts import ANY, UNKNOWN, Facts, Kind, common_kind, kind_of_items, part_of
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
from srcgrad.core.visitor import rewrite_statements
from srcgrad.frontend.context import is_change
from srcgrad.frontend.resolve import binding_of, is_divisor
from srcgrad.runtime.singular import denominator, share, signed

# what a call mirrors: one of its arguments
SAME = {"zeros_like": 0, "fields_of": 0, "add": 0, "list": 0, "dict": 0, "scatter": 1, "entry": 1}


OPEN = Kind("open")  # of a name whose kind is being found: it says nothing


@dataclass
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
        """What a statement binds to a name."""
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


@dataclass
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
