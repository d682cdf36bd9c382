"""Other spellings of what the language has: `with np.errstate`, `:=`, imports and `del` in the body, `a, *b = ...`."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field

import gast

from srcgrad.facts import Facts
from srcgrad.front.apart import apart
from srcgrad.front.arrays import in_place
from srcgrad.front.chosen import chosen
from srcgrad.front.comprehensions import COMPREHENSIONS, comprehended, has_comprehension
from srcgrad.front.dicts import spell_displays
from srcgrad.front.fill import fill
from srcgrad.front.frozen import frozen
from srcgrad.front.hooks import hooks
from srcgrad.front.implicit import implicit
from srcgrad.front.imported import imported
from srcgrad.front.lengths import lengths
from srcgrad.front.list_names import kinds_of_lists
from srcgrad.front.lists import changed_list
from srcgrad.front.namesakes import namesakes
from srcgrad.front.namespace import Binding
from srcgrad.front.nested import take_out
from srcgrad.front.overlay import Overlay
from srcgrad.front.quiet import is_quiet, opened
from srcgrad.front.record_names import record_names
from srcgrad.front.records import open_records, opened_records
from srcgrad.front.repeats import repeats
from srcgrad.front.resolve import binding_of
from srcgrad.front.sequence import check_sequence, check_targets
from srcgrad.front.solutions import solutions
from srcgrad.front.splines import splines
from srcgrad.front.spread import spread
from srcgrad.front.starred import has_starred, options, starred
from srcgrad.front.trips import trips, zipped
from srcgrad.front.usual import usual
from srcgrad.front.varied import assigned_varied
from srcgrad.front.walrus import branched, walruses
from srcgrad.front.wanted import made_by
from srcgrad.front.webs import parameters
from srcgrad.trees import (
    BLOCKS,
    Block,
    Node,
    at,
    copy,
    expression,
    header,
    inside,
    name,
    statements,
    stores,
    target,
    walk,
    written,
)


@dataclass
class Plain:
    """The rewriting of one function: new names are its own, new statements stand at the user's line."""

    facts: Facts
    lists: dict[str, str] = field(default_factory=dict)  # names that hold lists and dicts of their own
    written: frozenset[str] = frozenset()  # arrays of which parts are written
    used: frozenset[str] = frozenset()  # names of the function, those of comprehensions apart
    made: frozenset[str] = frozenset()  # fresh names
    bound: frozenset[str] = frozenset()  # names that statements bind, parameters among them where they do
    given: frozenset[str] = frozenset()  # parameters
    varied: frozenset[str] = frozenset()  # parameters, and names that are bound to what depends on them
    options: dict[str, Node] = field(default_factory=dict)  # dicts that calls unpack, by name

    def block(self, block: Block) -> Block:
        """A block in plain spelling."""
        return _block(block, self)

    def library(self, identifier: str, value: object = None) -> str:
        """How the text spells a library name, which means that library's function from here on."""
        spelled = self.facts.library(identifier, value)
        meant = Binding("object", self.facts.library_values[identifier])
        self.facts.namespace = Overlay(self.facts.namespace, {spelled: meant})
        return spelled

    def name(self, stem: str) -> str:
        """A fresh local name."""
        made = self.facts.names.fresh(stem)
        self.made |= {made}
        self.facts.local |= {made}
        return made

    def own(self, node: Node, like: Node) -> Node:
        """A statement that is not as the user wrote it, at the line of one that is."""
        self.facts.foreign[node] = None
        for item in walk(node):
            if "lineno" not in item.__dict__:
                gast.copy_location(item, like)
        return gast.copy_location(node, like)

    def bind(self, target: str, value: Node, like: Node) -> Node:
        """`target = value`"""
        return self.own(gast.Assign([name(target, gast.Store())], value, None), like)


def plain(function: Node, facts: Facts) -> Node:
    """Spell with assignments, `if`, `for` and `while` what Python has other words for.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(x):\\n    if (s := x * x) > 1.0:\\n        return s\\n    return x", after="plain"))
    def f(x):
        s = x * x
        if s > 1.0:
            return s
        return x
    """
    if facts.generated:
        function.body = opened(function.body, facts)
        opened_records(function, facts)
        lengths(function, facts)
        spell_displays(function, facts)
        implicit(function, Plain(facts))
        function.body = zipped(function.body, Plain(facts))
    else:
        work = Plain(facts)
        apart(function, facts)
        record_names(function, facts)
        namesakes(function, facts)
        hooks(function, work, own_names(function))
        function.body = take_out(function.body, work)
        open_records(function, work)
        solutions(function, work)
        frozen(function, work)
        splines(function, work)
        in_place(function, facts)
        work.bound = frozenset(s for node in statements(function.body) for s in stores(node))
        usual(function, work)
        work.lists = kinds_of_lists(function, facts)
        work.written = frozenset(w for node in statements(function.body) for w in written(node))
        work.used = _outside_comprehensions(function)
        facts.local = work.made | own_names(function) | frozenset(facts.functions)
        work.options = options(function, facts)
        work.given = frozenset(parameters(function))
        if any(isinstance(node, gast.For) for node in statements(function.body)):
            work.varied = work.given | assigned_varied(function, facts, parameters(function))
        function.body = _block(function.body, work) or [at(gast.Pass(), function)]
    return function


def own_names(function: Node) -> frozenset[str]:
    """Parameters and names that a function binds, what is nested in it apart."""
    arguments = function.args
    names = {a.id for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs}
    if arguments.vararg is not None:
        names.add(arguments.vararg.id)
    bound = [n for node in function.body for n in inside(node, gast.Name)]
    return frozenset(names | {n.id for n in bound if isinstance(n.ctx, gast.Store)})


def _outside_comprehensions(function: Node) -> frozenset[str]:
    within = {n for s in function.body for c in inside(s, *COMPREHENSIONS) for n in inside(c, gast.Name)}
    own = {n.id for node in function.body for n in inside(node, gast.Name) if n not in within}
    arguments = function.args
    return frozenset(own | {a.id for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs})


def _block(block: Block, work: Plain) -> Block:
    made: Block = []
    for node in block:
        made += _statement(node, work)
    return made


def _statement(node: Node, work: Plain) -> Block:
    apart = branched(node, work)
    if apart is not None:
        return _block(apart, work)
    for which in BLOCKS:
        if getattr(node, which, None):
            setattr(node, which, _block(getattr(node, which), work) or [at(gast.Pass(), node)])
    if isinstance(node, gast.With):
        return _context(node, work)
    items = repeats(node, work)
    if items:
        return _block([*items, node], work)
    check_sequence(node, work.facts)
    check_targets(node, work.facts)
    changed = changed_list(node, work)
    if changed is not None:
        return _block(changed, work)
    if isinstance(node, gast.Delete):
        return [] if all(isinstance(item, gast.Name) for item in node.targets) else [node]
    if isinstance(node, gast.Import | gast.ImportFrom):
        return [] if imported(node, work.facts) else [node]
    if isinstance(node, gast.While):
        return _while(node, work)
    if _is_parallel_write(node):
        return _apart(node, work)
    if isinstance(node, gast.Assign) and len(node.targets) > 1 and _names_an_array(node, work):
        return _one_by_one(node, work)
    branches = isinstance(getattr(node, "value", None), gast.IfExp)
    if branches and (has_comprehension(node, work) or has_starred(node)):
        return _block(_as_branch(node, work), work)
    _fold_extremes(node, work)
    before = walruses(node, work)
    before += chosen(node, work)
    before += comprehended(node, work)
    before += starred(node, work)
    if isinstance(node, gast.For):
        return before + trips(node, work)
    if target(node) is not None and getattr(node.value, "id", "") == target(node):
        return before  # what is bound was computed under its own name
    apart = spread(node, work)
    return before + (fill(node, work) if apart is None else apart)


def _is_parallel_write(node: Node) -> bool:
    """`a[i], a[j] = a[j], a[i]`"""
    first = node.targets[0] if isinstance(node, gast.Assign) else None
    if not isinstance(first, gast.Tuple) or not isinstance(node.value, gast.Tuple):
        return False
    parts = any(isinstance(item, gast.Subscript) for item in first.elts)
    starred = any(isinstance(item, gast.Starred) for item in [*first.elts, *node.value.elts])
    return parts and not starred and len(first.elts) == len(node.value.elts)


def _names_an_array(node: Node, work: Plain) -> bool:
    """`a = b = e`, where something is written into one of the two."""
    names = [item.id for item in node.targets if isinstance(item, gast.Name)]
    return len(names) == len(node.targets) and any(one in work.written for one in names)


def _one_by_one(node: Node, work: Plain) -> Block:
    """`a = e`, then `b = a`."""
    first, *others = [item.id for item in node.targets]
    return [work.bind(first, node.value, node), *(work.bind(one, name(first), node) for one in others)]


def _apart(node: Node, work: Plain) -> Block:
    """All right sides first, then one assignment after the other."""
    held = [work.name("held") for _ in node.value.elts]
    made = [work.bind(one, value, node) for one, value in zip(held, node.value.elts, strict=True)]
    for place, one in zip(node.targets[0].elts, held, strict=True):
        made.append(work.own(gast.Assign([place], name(one), None), node))
    return made


def _as_branch(node: Node, work: Plain) -> Block:
    """`y = e if c else [...]` as an `if`, so that what is not chosen is not computed."""
    sides = []
    for side in (node.value.body, node.value.orelse):
        other = copy(node)
        other.value = side
        sides.append([work.own(other, node)])
    return [work.own(gast.If(node.value.test, *sides), node)]


def _context(node: Node, work: Plain) -> Block:
    """The body of a `with` that changes no value; the text is put into the same context at the end."""
    if not is_quiet(node, work.facts):
        return [node]
    work.facts.contexts.append(node)
    return list(node.body)


def _while(node: Node, work: Plain) -> Block:
    """A test that binds names, or calls a function of this one, is computed at the head of each trip."""
    before = walruses(node, work) + starred(node, work)
    own = work.facts.functions
    calls = [
        n
        for n in inside(node.test, gast.Call)
        if getattr(n.func, "id", "") in own or made_by(n, work.facts, work.facts.local)
    ]
    if not before and not calls and not any(isinstance(n, gast.NamedExpr) for n in walk(node.test)):
        return [node]
    ended = work.name("ended") if node.orelse else ""
    leave = [work.bind(ended, expression("True"), node)] if ended else []
    leave.append(work.own(gast.Break(), node))
    test = work.own(gast.If(gast.UnaryOp(gast.Not(), node.test), leave, []), node)
    tests = _block(branched(test, work) or [], work) or [test]
    after, node.orelse = node.orelse, []
    node.test = expression("True")
    node.body = [*before, *tests, *node.body]
    if not ended:
        return [node]
    return [work.bind(ended, expression("False"), node), node, work.own(gast.If(name(ended), after, []), node)]


def _fold_extremes(node: Node, work: Plain) -> None:
    """`min(a, b, c)` as `min(min(a, b), c)`."""
    for call in [n for part in header(node) for n in walk(part) if isinstance(n, gast.Call) and len(n.args) > 2]:
        found = binding_of(call.func, work.facts, work.facts.local)
        if found is None or found.object not in (builtins.min, builtins.max) or call.keywords:
            continue
        while len(call.args) > 2:
            inner = gast.Call(copy(call.func), call.args[:2], [])
            call.args[:2] = [gast.copy_location(inner, call)]
            work.facts.foreign[node] = None
