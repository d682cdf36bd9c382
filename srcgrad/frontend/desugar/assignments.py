"""Desugaring of assignments: stars, walrus, targets that are no names, quiet contexts.

`a, *b, c = e` is `a = e[0]`, a list of what is between, `c = e[-1]`. `(t := e)` is a statement of its own before the
one that holds it. `a[i], o.k, *d["r"] = e` binds names first, and stores them one after the other. Contexts that change
no value, `with np.errstate(...)`, are taken off their statements, and put back in the text.
"""

from __future__ import annotations

import inspect
import threading
import warnings
from collections.abc import Sequence
from dataclasses import field
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING

import gast
import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import ANY, UNKNOWN, Facts, Kind
from srcgrad.core.identity import record
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    assign,
    at,
    copy,
    expression,
    find_nodes,
    header,
    holds,
    is_write,
    literal_node,
    literal_value,
    loads,
    mentions,
    name,
    own_names,
    parameters,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import rebuild, rewrite, rewrite_parts, rewrite_statements
from srcgrad.frontend.calls.inline_call import filled_parameters, takes_a_tuple
from srcgrad.frontend.context import own_statement
from srcgrad.frontend.kinds_of_values import NOTHING, live_object
from srcgrad.frontend.resolve import binding_of

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting


QUIET = (np.errstate, warnings.catch_warnings)


def is_quiet(node: Node, facts: Facts) -> bool:
    """Whether a `with` is of a context that changes no value, and binds no name."""
    for item in node.items:
        cls = _class_of_context(item.context_expr, facts)
        if item.optional_vars is not None or not (any(cls is one for one in QUIET) or _keeps_to_itself(cls, facts)):
            return False
        if cls not in QUIET and facts.names.local.intersection(loads(item.context_expr)):
            return False  # its names may be others where the function is written out
    return True


def is_of_arithmetic(node: Node, facts: Facts) -> bool:
    """Whether a `with` says how to compute, as `np.errstate` does: both halves are to heed it."""
    return any(any(_class_of_context(item.context_expr, facts) is one for one in QUIET) for item in node.items)


def _class_of_context(value: Node, facts: Facts) -> object:
    """The class whose object a context is: one that is made here, or one that somebody holds."""
    if isinstance(value, gast.Call):
        found = binding_of(value.func, facts, facts.names.local)
        return None if found is None else found.object
    held = live_object(value, facts.namespace, facts.names.local, None)
    return None if held is NOTHING else type(held)


_LOCKS = (type(threading.Lock()), type(threading.RLock()))


def _keeps_to_itself(cls: object, facts: Facts) -> bool:
    """Whether a context changes nothing but its own attributes, and lets each exception pass."""
    if cls in _LOCKS:
        return True
    if not isinstance(cls, type) or facts.module is None:
        return False
    methods = [inspect.getattr_static(cls, one, None) for one in ("__enter__", "__exit__")]
    trees = []
    for method in methods:
        if not isinstance(method, FunctionType):
            return False
        try:
            trees.append(facts.module.source(method)[0].tree)
        except DifferentiationError:
            return False
    leave = [n.value for s in trees[1].body for n in find_nodes(s, gast.Return)]
    passes = all(value is None or (isinstance(value, gast.Constant) and not value.value) for value in leave)
    return passes and all(_stores_in_itself(tree) for tree in trees)


def _stores_in_itself(tree: Node) -> bool:
    """Whether a method binds names of its own, and attributes of its object."""
    own = parameters(tree)[:1]
    parts = [n for s in tree.body for n in find_nodes(s, gast.Attribute, gast.Subscript)]
    stored = [n for n in parts if not isinstance(n.ctx, gast.Load)]
    outside = any(find_nodes(s, gast.Global, gast.Nonlocal) for s in tree.body)
    return not outside and all(isinstance(n, gast.Attribute) and getattr(n.value, "id", "") in own for n in stored)


def is_inside(node: Node, context: Node) -> bool:
    """Whether all lines of a statement are in the body of a `with`."""
    lines = [n.lineno for n in statements([node]) if "lineno" in n.__dict__]
    first, last = context.body[0].lineno, context.end_lineno
    return bool(lines) and all(first <= line <= last for line in lines)


def open_contexts(block: Block, facts: Facts) -> Block:
    """A block of generated text without its contexts, of which each is noted once, with the user's lines in it."""

    def change(node: Node) -> Block:
        if not isinstance(node, gast.With):
            return [node]
        _note(node, facts)
        body: Block = node.body
        return body

    return rewrite_statements(block, change)


def _note(context: Node, facts: Facts) -> None:
    """Both halves of a text may have a part of what the user put into one context."""
    lines = [node.lineno for node in statements(context.body)]
    for other in facts.origin.contexts:
        if other.lineno == context.lineno:
            lines += [other.body[0].lineno, other.end_lineno]
            facts.origin.contexts.remove(other)
    noted = at(gast.With(context.items, [at(gast.Pass(), context)], None), context)
    noted.body[0].lineno, noted.end_lineno = min(lines), max(lines)
    facts.origin.contexts.append(noted)


def unpack_sequence(node: Node, work: Rewriting) -> Block | None:
    """The statements that take a sequence apart; None for any other statement.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    *head, last = x\\n    return last * sum(head)", after="desugar"))
    def f(x):
        head = []
        for k in range(0, len(x) - 1):
            head.append(x[k])
        last = x[-1]
        return last * sum(head)
    """
    first = node.targets[0] if isinstance(node, gast.Assign) and len(node.targets) == 1 else None
    places = first.elts if isinstance(first, gast.Tuple | gast.List) else []
    stars = [k for k, item in enumerate(places) if isinstance(item, gast.Starred)]
    if len(stars) != 1 or not all(isinstance(getattr(p, "value", p), gast.Name) for p in places):
        return None
    if isinstance(node.value, gast.Tuple | gast.List):
        return _spell_unpacking(node, places, stars[0], work)
    if _may_have_no_length(node.value, work):
        return None
    made: Block = []
    held = getattr(node.value, "id", "")
    if not held or held in [n.id for p in places for n in [getattr(p, "value", p)]]:
        held = work.name("items")
        made.append(work.bind(held, node.value, node))
    after = len(places) - stars[0] - 1
    for k, item in enumerate(places):
        if k != stars[0]:
            place = k if k < stars[0] else k - len(places)
            made.append(work.bind(item.id, expression(f"{held}[{place}]"), node))
            continue
        count = work.name("k")
        end = f"len({held}) - {after}" if after else f"len({held})"
        each = gast.comprehension(name(count, gast.Store()), expression(f"range({k}, {end})"), [], 0)
        work.mixed |= {item.value.id} - {one for one, kind in work.lists.items() if kind == "list"}
        work.lists[item.value.id] = "list"
        rest = work.bind(item.value.id, gast.ListComp(expression(f"{held}[{count}]"), [each]), node)
        made += work.block([rest])
    return made


def _may_have_no_length(value: Node, work: Rewriting) -> bool:
    """Whether an expression may be an iterator: calls of anything but NumPy, generators."""
    if not isinstance(value, gast.Call):
        return isinstance(value, gast.GeneratorExp | gast.SetComp | gast.DictComp)
    found = binding_of(value.func, work.facts, work.facts.names.local)
    return str(getattr(None if found is None else found.object, "__module__", "")).partition(".")[0] != "numpy"


def _spell_unpacking(node: Node, targets: list[Node], place: int, work: Rewriting) -> Block | None:
    """`a, *b = x, y, z` as `a, b = x, [y, z]`."""
    values = node.value.elts
    after = len(targets) - place - 1
    if any(isinstance(item, gast.Starred) for item in values) or len(values) < len(targets) - 1:
        return None
    rest = gast.List(elts=values[place : len(values) - after], ctx=gast.Load())
    gast.copy_location(rest, node.value)
    node.value.elts = [*values[:place], rest, *values[len(values) - after :]]
    targets[place] = targets[place].value
    work.facts.origin.foreign[node] = None
    return [node]


def walruses(node: Node, work: Rewriting) -> Block:
    """`t = e` for each `(t := e)` that is evaluated in any case, whose place `t` takes.

    So it is with `sum([...]) if c else e` in the midst of an expression: what is not chosen is not computed.
    """
    made: Block = []
    for key in ("test", "iter", "value", "exc"):
        part = getattr(node, key, None)
        if isinstance(part, gast.AST):
            setattr(node, key, _hoist_walrus(part, node, made, work))
    if made:
        work.facts.origin.foreign[node] = None
    return made


def _hoist_walrus(value: Node, where: Node, made: Block, work: Rewriting) -> Node:
    if not holds(value, gast.NamedExpr, gast.IfExp):
        return value
    if isinstance(value, gast.IfExp) and holds(value, gast.ListComp, gast.GeneratorExp, gast.DictComp):
        chosen = work.name("chosen")
        made += work.block([work.bind(chosen, value, where)])
        return at(name(chosen), value)
    if isinstance(value, gast.NamedExpr):
        inner = _hoist_walrus(value.value, where, made, work)
        mentioned = [n for part in header(where) for n in walk(part)]
        earlier = [n for n in mentioned if isinstance(n, gast.Name) and n.id == value.target.id]
        if any((n.lineno, n.col_offset) < (value.lineno, value.col_offset) for n in earlier if "lineno" in n.__dict__):
            return value
        made += work.block([work.bind(value.target.id, inner, where)])
        read, kinds = at(name(value.target.id), value), work.facts.kinds.of_expressions
        if value in kinds:
            kinds[read] = kinds[value]
        return read
    if isinstance(value, gast.IfExp):
        value.test = _hoist_walrus(value.test, where, made, work)
    elif isinstance(value, gast.BoolOp):
        value.values[0] = _hoist_walrus(value.values[0], where, made, work)
    elif not isinstance(value, gast.Lambda | gast.ListComp | gast.GeneratorExp | gast.SetComp | gast.DictComp):
        rewrite_parts(value, lambda part: _hoist_walrus(part, where, made, work))
    return value


def split_condition(node: Node, work: Rewriting) -> Block | None:
    """`if a and (t := e) > 1.0:` as two branches, so that e is computed only where a holds; None for any other.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    if x > 0 and (t := x * x) < 4:\\n        x = t\\n    return x"
    >>> print(explain_text(text, after="desugar"))
    def f(x):
        if x > 0:
            t = x * x
            if t < 4:
                x = t
        return x
    """
    if not isinstance(node, gast.If) or not _splits(node.test):
        return None
    return [_branch(node.test, node.body, node.orelse, node, work)]


def split_choice(node: Node, work: Rewriting) -> Block | None:
    """`y = a and any(g)` of a generator as `y_ = a`, and `if y_: y_ = any(g)`; None for any other."""
    value = node.value if isinstance(node, gast.Assign | gast.Return) else None
    if not isinstance(value, gast.BoolOp) or not any(holds(one, gast.GeneratorExp) for one in value.values[1:]):
        return None
    held, rest = work.name("chosen"), value.values[1:]
    later = rest[0] if len(rest) == 1 else at(gast.BoolOp(value.op, rest), value)
    asked = name(held) if isinstance(value.op, gast.And) else gast.UnaryOp(gast.Not(), name(held))
    node.value = at(name(held), value)
    work.facts.origin.foreign[node] = None
    made = [assign(held, value.values[0]), gast.If(asked, [work.own(assign(held, later), node)], [])]
    return [*(work.own(one, node) for one in made), node]


def _splits(test: Node) -> bool:
    """Whether some part of a condition that may not be evaluated binds a name, or goes through a generator."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return _splits(test.operand)
    if not isinstance(test, gast.BoolOp):
        return False
    return _splits(test.values[0]) or any(
        isinstance(n, gast.NamedExpr | gast.GeneratorExp | gast.ListComp) for v in test.values[1:] for n in walk(v)
    )


def _branch(test: Node, body: Block, orelse: Block, node: Node, work: Rewriting) -> Node:
    """A branch whose condition is taken apart; what both ways lead to stands twice."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not) and _splits(test):
        return _branch(test.operand, orelse or [at(gast.Pass(), node)], body, node, work)
    if not _splits(test):
        return work.own(gast.If(test, body, orelse), node)
    first, rest = test.values[0], test.values[1:]
    later = rest[0] if len(rest) == 1 else at(gast.BoolOp(test.op, rest), test)
    if isinstance(test.op, gast.And):
        inner = _branch(later, body, [copy(one) for one in orelse], node, work)
        return _branch(first, [inner], orelse, node, work)
    inner = _branch(later, [copy(one) for one in body], orelse, node, work)
    return _branch(first, body, [inner], node, work)


def item_targets(function: Node, facts: Facts) -> Node:
    """Spell a target of several parts with names alone, and store what they hold from left to right, as Python does.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x, a, n):\\n    a[0], (a[n], *b) = x, 2.0 * x\\n    return a"
    >>> print(explain_text(text, after="item_targets"))
    def f(x, a, n):
        item, item_ = x, 2.0 * x
        a[0] = item
        item__, *b = item_
        a[n] = item__
        return a

    Of a name that stands in a target twice, the last one holds:

    >>> print(explain_text("def f(x):\\n    a, (a, b) = x\\n    return a", after="item_targets"))
    def f(x):
        item, (a, b) = x
        return a

    What an annotated name is bound to counts, and not what its annotation says:

    >>> print(explain_text("def f(x):\\n    kept: list[float] = []\\n    return x", after="item_targets"))
    def f(x):
        kept = []
        return x
    """
    if holds(function, gast.AnnAssign):
        function.body = rewrite_statements(function.body, lambda node: [_without_annotation(node, facts)])
    if holds(function, gast.Tuple, gast.List, gast.For):
        for node in walk(function):
            if isinstance(node, gast.Assign | gast.For | gast.comprehension):
                targets = node.targets if isinstance(node, gast.Assign) else [node.target]
                renamed = [_last_holds(one, facts) for one in targets]
                facts.origin.foreign.update({node: None} if any(renamed) else {})
        function.body = _block(function.body, facts)
    return function


def _without_annotation(node: Node, facts: Facts) -> Node:
    """`a = e` for `a: T = e`; the user's line is shown as it stands."""
    if not isinstance(node, gast.AnnAssign) or node.value is None:
        return node
    made = at(gast.Assign([node.target], node.value, None), node)
    facts.origin.text[made], facts.origin.user[made], facts.origin.plain[node] = copy(node), node, made
    return made


def _last_holds(target: Node, facts: Facts) -> bool:
    """Give a name to each part of a target that a later part of the same name replaces at once; whether any has."""
    if not isinstance(target, gast.Tuple | gast.List):
        return False
    stored = [part for part in find_nodes(target, gast.Name) if isinstance(part.ctx, gast.Store)]
    last = {part.id: part for part in _in_order(target, stored)}
    reads = {part.id for part in find_nodes(target, gast.Name) if isinstance(part.ctx, gast.Load)}
    replaced = [part for part in stored if part is not last[part.id] and part.id not in reads]  # an index may read it
    for part in replaced:
        part.id = facts.names.new_local("item")
    return bool(replaced)


def _in_order(target: Node, stored: Sequence[Node]) -> list[Node]:
    """The names that a target stores, in the order in which it does."""
    if isinstance(target, gast.Tuple | gast.List):
        return [one for part in target.elts for one in _in_order(part, stored)]
    part = target.value if _is_starred(target) else target
    return [part] if any(part is one for one in stored) else []


def _block(block: Block, facts: Facts) -> Block:
    made: Block = []
    for node in block:
        for which in (*BLOCKS, "handlers"):
            inner = getattr(node, which, None)
            if isinstance(inner, list):
                setattr(node, which, _block(inner, facts))
        if isinstance(node, gast.For) and (_is_stored(node.target) or _is_deep(node.target)):
            node.body = [*_of_loop(node, facts), *node.body]
        made += _statement(node, facts) if isinstance(node, gast.Assign) else [node]
    return made


def _statement(node: Node, facts: Facts) -> Block:
    """An assignment, or those that it stands for."""
    if not any(_is_deep(one) for one in node.targets) or _is_parallel(node):
        return [node]
    if len(node.targets) == 1:
        return [node, *_place_statements(_names_taken(node.targets[0], facts), node, facts)]
    held = facts.names.new_local("item")
    each: Block = [gast.Assign([one], name(held), None) for one in node.targets]
    node.targets = [name(held, gast.Store(), like=node)]
    return [node, *_place_statements(each, node, facts)]


def _of_loop(node: Node, facts: Facts) -> Block:
    """A name for each part of a loop's target, and the statements that store them at the head of each trip."""
    if isinstance(node.target, gast.Tuple | gast.List):
        return _place_statements(_names_taken(node.target, facts), node, facts)
    held, part = facts.names.new_local("item"), node.target
    node.target = at(name(held, gast.Store()), part)
    return _place_statements([gast.Assign([part], name(held), None)], node, facts)


def _is_stored(one: Node) -> bool:
    return isinstance(one, gast.Subscript | gast.Attribute)


def _is_starred(one: Node) -> bool:
    return isinstance(one, gast.Starred)


def _is_deep(one: Node) -> bool:
    """Whether a target of several parts has one that is no name, or a star below its first level."""
    if not isinstance(one, gast.Tuple | gast.List):
        return False
    inner = [part for part in one.elts if isinstance(part, gast.Tuple | gast.List)]
    stored = any(_is_stored(part.value if _is_starred(part) else part) for part in one.elts)
    return stored or any(_is_deep(part) or any(map(_is_starred, part.elts)) for part in inner)


def _is_parallel(node: Node) -> bool:
    """`a[i], a[j] = a[j], a[i]`, of which both sides are displays of as many parts: `plain` has a spelling for it."""
    first, value = node.targets[0], node.value
    if len(node.targets) > 1 or not isinstance(first, gast.Tuple) or not isinstance(value, gast.Tuple):
        return False
    nested = any(isinstance(part, gast.Tuple | gast.List) for part in first.elts)
    starred = any(map(_is_starred, [*first.elts, *value.elts]))
    return not nested and not starred and len(first.elts) == len(value.elts)


def _names_taken(whole: Node, facts: Facts) -> Block:
    """Names in place of the parts of a target that are none, and the assignments that store these."""
    after: Block = []
    read: set[str] = set()  # by parts before, which are stored once the names of the target are bound
    for place, part in enumerate(whole.elts):
        inner = part.value if _is_starred(part) else part
        if isinstance(inner, gast.Name) and inner.id not in read:
            continue
        read.update(n.id for n in find_nodes(inner, gast.Name) if isinstance(n.ctx, gast.Load))
        held = facts.names.new_local("item")
        stand = at(name(held, gast.Store()), inner)
        whole.elts[place] = at(gast.Starred(stand, gast.Store()), part) if _is_starred(part) else stand
        after.append(gast.Assign([inner], name(held), None))
    return after


def _place_statements(made: Block, like: Node, facts: Facts) -> Block:
    """Statements at the line of the one that they are parts of; none of them is as the user wrote it."""
    facts.origin.foreign[like] = None
    for node in made:
        own_statement(node, like, facts)
    return [one for node in made for one in _statement(node, facts)]


@record
class _Stars:
    """What is known of what a function unpacks: the places of tuples and lists, the keys of dicts."""

    facts: Facts
    function: Node
    places: dict[str, int] = field(default_factory=dict)
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rows: dict[str, tuple[int, ...]] = field(default_factory=dict)  # lengths of the items of a sequence
    copied: dict[Node, tuple[str, ...]] = field(default_factory=dict)  # a copy of a dict -> its keys by then
    handed: dict[Node, None] = field(default_factory=dict)  # displays that a call unpacks at once

    def arguments(self) -> None:
        """Note the arguments of which the parts are known, and which stay as they are."""
        for one in parameters(self.function):
            kind = self._kind_of_argument(one)
            if kind.tag in ("tuple", "list") and kind.items and self._stays(one, 0, kind.tag == "tuple"):
                self.places[one] = len(kind.items)
                self.rows[one] = tuple(len(k.items) if k.tag in ("tuple", "list") else -1 for _, k in kind.items)
            elif kind.tag == "dict" and kind.items and all(isinstance(key, str) for key, _ in kind.items):
                keys = tuple(str(key) for key, _ in kind.items)
                first = next((node for node in self.function.body if mentions(node, one)), None)
                if self._stays(one, 0, False):
                    self.keys[one] = keys
                elif isinstance(first, gast.Assign) and self.copied_dict(first.value) is not None:
                    if not any(mentions(word, one) for word in first.value.keywords):
                        self.copied[first.value] = keys  # before anything could change the dict

    def lengths(self) -> None:
        """Note names of sequences that are bound anew, or item by item, and are as long wherever they are read."""
        bound: dict[str, list[Node | None]] = {}
        for node in statements(self.function.body):
            for one in stores(node) if not is_write(node) else ():
                bound.setdefault(one, []).append(node.value if target(node) == one else None)
        given = {one: self.facts.kinds.of_names.get(one) or self.facts.kinds.named.get(one, UNKNOWN) for one in bound}
        own = parameters(self.function)
        for _ in bound:
            before = len(self.places)
            for one, values in bound.items():
                kind, inside = given[one], [held for held in values if held is not None]
                known = kind.tag in ("tuple", "list") and kind.items and kind.items[0][0] is not ANY
                if one in self.places or len(inside) < len(values) or (one in own and not known):
                    continue
                begun = [len(kind.items)] if one in own else []
                begun += [length for held in inside if (length := self._length(held)) is not None]
                if not begun or not self._is_as_long(one):
                    continue
                self.places[one] = begun[0]  # `args = list(args)` is as long as what it was
                if any(length != begun[0] for length in [*begun, *map(self._length, inside)]):
                    del self.places[one]
            if len(self.places) == before:
                break

    def _length(self, value: Node) -> int | None:
        """How many items a value has."""
        if isinstance(value, gast.Name):
            return self.places.get(value.id)
        if isinstance(value, gast.Tuple | gast.List):
            return None if any(isinstance(n, gast.Starred) for n in value.elts) else len(value.elts)
        if isinstance(value, gast.ListComp | gast.GeneratorExp):
            each = value.generators[0]
            return None if each.ifs or len(value.generators) > 1 else self._length(each.iter)
        found = binding_of(value.func, self.facts, own_names(self.function)) if isinstance(value, gast.Call) else None
        if found is None or value.keywords or len(value.args) != 1 + (found.object is map):
            return None
        return self._length(value.args[-1]) if found.object in (list, tuple, enumerate, reversed, map) else None

    def _is_as_long(self, held: str) -> bool:
        """Whether nothing changes how many items a list has, and nobody else gets it."""
        nodes = [n for s in self.function.body for n in walk(s)]
        calls = [n for n in nodes if isinstance(n, gast.Call) and getattr(n.func, "id", "") in _SEEN]
        fine = [n.value for n in nodes if isinstance(n, gast.Starred | gast.keyword)]
        fine += [n.value for n in nodes if isinstance(n, gast.Subscript) and not self._resizes(n)]
        fine += [n.iter for n in nodes if isinstance(n, gast.For | gast.comprehension)] + [
            a for n in calls for a in n.args
        ]
        every = [n for n in nodes if isinstance(n, gast.Name) and n.id == held and isinstance(n.ctx, gast.Load)]
        grown = [n for n in nodes if isinstance(n, gast.AugAssign) and getattr(n.target, "id", "") == held]
        return not grown and all(any(n is one for one in fine) for n in every)

    def _resizes(self, item: Node) -> bool:
        return not isinstance(item.ctx, gast.Load) and (
            isinstance(item.slice, gast.Slice) or isinstance(item.ctx, gast.Del)
        )

    def bound(self, node: Node) -> None:
        """Note a name that a statement at the top of the function binds to a display."""
        held = target(node)
        value = node.value if held is not None else None
        if held is None or held in parameters(self.function):
            return
        if isinstance(value, gast.Tuple | gast.List) and not any(isinstance(n, gast.Starred) for n in value.elts):
            if self._stays(held, 1, isinstance(value, gast.Tuple)):
                self.places[held] = len(value.elts)
        elif isinstance(value, gast.Dict) and self._stays(held, 1, False):
            keys = self._merged(value)
            if keys is not None:
                self.keys[held] = keys

    def _stays(self, held: str, times: int, fixed: bool) -> bool:
        """Whether a name is bound so many times, and what it holds does not change: only its parts are read."""
        nodes = [n for s in self.function.body for n in walk(s)]
        if (
            sum(n.id == held and isinstance(n.ctx, gast.Store | gast.Del) for n in nodes if isinstance(n, gast.Name))
            != times
        ):
            return False
        read = [n.value for n in nodes if isinstance(n, gast.Starred | gast.keyword)]
        read += [n.value for n in nodes if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Load)]
        read += [
            v for n in nodes if isinstance(n, gast.Dict) for k, v in zip(n.keys, n.values, strict=True) if k is None
        ]
        read += [
            n.args[0]
            for n in nodes
            if isinstance(n, gast.Call) and getattr(n.func, "id", "") in ("len", "sum") and n.args
        ]
        read += [n.iter for n in nodes if isinstance(n, gast.For | gast.comprehension)]
        read += [one for n in nodes if (one := self.copied_dict(n)) is not None]
        read += [
            n.value for n in nodes if isinstance(n, gast.Attribute) and n.attr in ("get", "items", "keys", "values")
        ]
        read += [n.value for loop in nodes if isinstance(loop, gast.For) for n in _written_by_key(loop)]
        every = [n for n in nodes if isinstance(n, gast.Name) and n.id == held and isinstance(n.ctx, gast.Load)]
        return fixed or all(any(n is one for one in read) for n in every)

    def open(self, node: Node) -> Node:
        """An expression with what it unpacks named part by part."""
        for key in ("args", "elts"):
            parts = None if isinstance(node, gast.Call) and self._is_certain(node) else getattr(node, key, None)
            if isinstance(parts, list) and isinstance(getattr(node, "ctx", gast.Load()), gast.Load):
                setattr(node, key, [one for part in parts for one in self._parts(part)])
        copied = self.copied_dict(node)
        keys = () if copied is None else self.keys.get(copied.id, self.copied.get(node, ()))
        if copied is not None and keys:
            items = {one: at(expression(f"{copied.id}[{one!r}]"), node) for one in keys}
            items |= {str(word.arg): word.value for word in node.keywords}
            return at(gast.Dict([at(gast.Constant(one, None), node) for one in items], list(items.values())), node)
        if isinstance(node, gast.Call):
            node.keywords = [one for word in node.keywords for one in self._words(word)]
        if isinstance(node, gast.Dict) and None in node.keys:
            self._merge(node)
        if isinstance(node, gast.List) and isinstance(node.ctx, gast.Load) and node not in self.handed:
            return self._joined(node)
        return node

    def copied_dict(self, node: Node) -> Node | None:
        """The argument of which `dict(p, k=e)` or `p.copy()` is a copy, if it is differentiated, and a dict."""
        if not isinstance(node, gast.Call) or len(node.args) > 1 or any(word.arg is None for word in node.keywords):
            return None
        if node.args:
            found = binding_of(node.func, self.facts, self.facts.names.local)
            whole: Node | None = node.args[0] if found is not None and found.object is dict else None
        else:
            whole = node.func.value if getattr(node.func, "attr", "") == "copy" and not node.keywords else None
        held = getattr(whole, "id", "")  # of others the kind is not asked, on which the text would depend
        asked = held in (self.facts.request.wrt or parameters(self.function))
        return whole if asked and self._kind_of_argument(held).tag == "dict" else None

    def _kind_of_argument(self, one: str) -> Kind:
        return self.facts.kinds.of_names.get(one) or self.facts.kinds.named.get(one, UNKNOWN)

    def _parts(self, part: Node) -> list[Node]:
        value = part.value if isinstance(part, gast.Starred) else None
        if isinstance(value, gast.ListComp | gast.GeneratorExp):
            return self._unrolled(value) or [part]
        piece = value.slice if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice) else None
        held = getattr(value.value if isinstance(value, gast.Subscript) and piece is not None else value, "id", "")
        if held not in self.places:
            return [part]
        which = range(self.places[held])
        if piece is not None:
            bounds = [None if b is None else literal_or_none(b) for b in (piece.lower, piece.upper, piece.step)]
            if any(
                b is not None and one is None
                for b, one in zip((piece.lower, piece.upper, piece.step), bounds, strict=True)
            ):
                return [part]
            which = which[slice(*bounds)]
        return [at(expression(f"{held}[{k}]"), part) for k in which]

    def _unrolled(self, value: Node) -> list[Node]:
        """`g(args[0]), g(args[1])` for `*[g(a) for a in args]`."""
        each = value.generators[0]
        counted = isinstance(each.iter, gast.Call) and getattr(each.iter.func, "id", "") == "enumerate"
        source = each.iter.args[0] if counted and len(each.iter.args) == 1 else each.iter
        names = each.target.elts if counted and isinstance(each.target, gast.Tuple) else [each.target]
        inner = holds(value.elt, gast.Lambda, gast.NamedExpr, gast.comprehension)
        shown = source.elts if isinstance(source, gast.Tuple | gast.List) else [source]
        plain = all(isinstance(n, gast.Name | gast.Constant) for n in shown)
        plain = plain and all(isinstance(n, gast.Name) for n in names)
        length = self._length(value)
        if length is None or not plain or inner or len(names) != 1 + counted:
            return []
        made = []
        for k in range(length):
            part = expression(f"{source.id}[{k}]") if isinstance(source, gast.Name) else shown[k]
            parts = [literal_node(k), part][not counted :]
            known = {one.id: part for one, part in zip(names, parts, strict=True)}
            item = rebuild(value.elt, partial(_copy_of, known))
            made.append(at(item, value))
        return made

    def _words(self, word: gast.keyword) -> list[gast.keyword]:
        held = getattr(word.value, "id", "") if word.arg is None else ""
        if held not in self.keys:
            return [word]
        return [
            at(gast.keyword(key, at(expression(f"{held}[{key!r}]"), word.value)), word.value) for key in self.keys[held]
        ]

    def _is_certain(self, call: Node) -> bool:
        """Whether the parameters say how many arguments a star is: they get names of their own then."""
        stars = [one for one in call.args if isinstance(one, gast.Starred)]
        if len(stars) != 1 or any(word.arg is None for word in call.keywords):
            return False
        return takes_a_tuple(call, self.facts) or bool(filled_parameters(call, self.facts))

    def _merged(self, node: Node) -> tuple[str, ...] | None:
        """The keys of `{**a, "k": e}`; None where some are not known."""
        found: dict[str, None] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            held = getattr(value, "id", "") if key is None else ""
            if key is None and held not in self.keys:
                return None
            if key is not None and not (isinstance(key, gast.Constant) and isinstance(key.value, str)):
                return None
            found.update(dict.fromkeys(self.keys[held] if key is None else [key.value]))
        return tuple(found)

    def _merge(self, node: Node) -> None:
        """`{**options, "k": e}` of arguments with their keys, each once; the last value of a key holds."""
        given = [getattr(v, "id", "") for k, v in zip(node.keys, node.values, strict=True) if k is None]
        if self._merged(node) is None or any(one not in parameters(self.function) for one in given):
            return
        found: dict[str, Node] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                found.update({one: at(expression(f"{value.id}[{one!r}]"), value) for one in self.keys[value.id]})
            else:
                found[str(literal_value(key))] = value
        node.keys, node.values = [at(gast.Constant(one, None), node) for one in found], list(found.values())

    def _joined(self, node: Node) -> Node:
        """`[*x, e]` of what has no known length as `[v for v in x] + [e]`."""
        if not any(isinstance(one, gast.Starred) for one in node.elts):
            return node
        made: list[Node] = []
        for one in node.elts:
            if isinstance(one, gast.Starred):
                item = self.facts.names.new_local("item")
                each = gast.comprehension(name(item, gast.Store()), one.value, [], 0)
                made.append(gast.ListComp(name(item), [each]))
            elif made and isinstance(made[-1], gast.List):
                made[-1].elts.append(one)
            else:
                made.append(gast.List([one], gast.Load()))
        whole = made[0]
        for one in made[1:]:
            whole = gast.BinOp(whole, gast.Add(), one)
        return at(whole, node)

    def columns(self, node: Node) -> None:
        """`xs, ys = zip(*rows)`, where each row is known to have as many items, as a tuple for each."""
        call = node.value if isinstance(node, gast.Assign) and len(node.targets) == 1 else None
        star = call.args[0] if isinstance(call, gast.Call) and len(call.args) == 1 and not call.keywords else None
        held = getattr(star.value, "id", "") if isinstance(star, gast.Starred) else ""
        bound = node.targets[0].elts if held and isinstance(node.targets[0], gast.Tuple | gast.List) else []
        found = binding_of(call.func, self.facts, self.facts.names.local) if held and call is not None else None
        if held not in self.rows or not bound or found is None or found.object is not zip:
            return
        if any(length != len(bound) for length in self.rows[held]):
            return
        each = [[expression(f"{held}[{r}][{k}]") for r in range(self.places[held])] for k in range(len(bound))]
        node.value = at(gast.Tuple([gast.Tuple(one, gast.Load()) for one in each], gast.Load()), node)


def _written_by_key(loop: Node) -> list[Node]:
    """`d[k]` in `for k, v in d.items(): d[k] = e`, by which d has no key more."""
    key = loop.target.elts[0] if isinstance(loop.target, gast.Tuple) else loop.target
    held = getattr(getattr(getattr(loop.iter, "func", None), "value", None), "id", "")
    nodes = [n for s in loop.body for n in find_nodes(s, gast.Name)]
    if not held or any(n.id == getattr(key, "id", "") and not isinstance(n.ctx, gast.Load) for n in nodes):
        return []
    places = [n for s in loop.body for n in find_nodes(s, gast.Subscript) if isinstance(n.ctx, gast.Store)]
    return [n for n in places if getattr(n.value, "id", "") == held and getattr(n.slice, "id", "") == key.id]


def _copy_of(known: dict[str, Node], part: Node) -> Node | None:
    """A copy of what stands for a name."""
    return copy(known[part.id]) if isinstance(part, gast.Name) and part.id in known else None


_SEEN = ("len", "sum", "list", "tuple", "enumerate", "zip", "reversed", "map", "isinstance")  # they change nothing


def literal_or_none(node: Node) -> int | None:
    """The integer that a bound of a slice is, if that stands in it."""
    value = getattr(node, "value", None)
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        value = getattr(node.operand, "value", None)
        return -value if type(value) is int else None
    return value if type(value) is int else None


def known_stars(function: Node, facts: Facts) -> Node:
    """Name part by part what calls and displays unpack, where the parts are known: arguments, displays of the function.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    p = (x, 2.0)\\n    return max(*p)", after="known_stars"))
    def f(x):
        p = x, 2.0
        return max(p[0], p[1])
    """
    nodes = [n for s in function.body for n in walk(s)]
    starred = [n for n in nodes if isinstance(n, gast.Starred) and isinstance(n.ctx, gast.Load)]
    words = [n for n in nodes if isinstance(n, gast.keyword) and n.arg is None]
    work = _Stars(facts, function)
    merged = any((isinstance(n, gast.Dict) and None in n.keys) or work.copied_dict(n) is not None for n in nodes)
    if not starred and not words and not merged:
        return function
    work.arguments()
    work.lengths()
    work.handed = {n.value: None for n in starred if isinstance(n.value, gast.List)}
    for node in function.body:
        before = gast.dump(node)
        for inner in [] if isinstance(node, gast.FunctionDef) else statements([node]):
            work.columns(inner)
            rewrite(inner, work.open)
        if gast.dump(node) != before:
            facts.origin.foreign.update(dict.fromkeys(statements([node])))
        work.bound(node)
    return function
