"""Second order through lists: stacks, displays and slices of generated texts.

What zeros mirror in a text that is differentiated again: the lists and dicts that it took from others.

Displays that a called function gets, in the places where it reads them: `width, height = primals`.

Writes into slices of lists in a text of ours, which is differentiated again: item by item.

Lists in a text of ours, which is differentiated again: stacks, and adjoints and tangents of lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import gast

from srcgrad.core.facts import ANY, UNKNOWN, Facts, Kind, common_kind, kind_of_items, part_of
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    called_name,
    copy,
    expression,
    header,
    is_write,
    literal_node,
    literal_of,
    name,
    part_written,
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
