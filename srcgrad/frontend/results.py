"""Results: several at once, with fields, with something beside them, or of a local name.

Functions that return a value to differentiate and something beside it: the pair is spelled as one.

`np.linalg.eigh(a).eigenvectors` is `np.linalg.eigh(a)[1]`: results of operations that give several have no names.

`wrt` may name a local variable: it must be clear which value is meant.

Operations that give several results bind each to a name of its own: `w, v = np.linalg.eigh(a)`.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from itertools import pairwise

import gast

import srcgrad.templates as templates
from srcgrad.core.facts import Facts
from srcgrad.core.identity import home
from srcgrad.core.rules import Results, rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    expression,
    find_nodes,
    header,
    literal_node,
    literal_value,
    loads,
    name,
    parameters,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import blocks, rewrite_statements
from srcgrad.frontend.resolve import binding_of


def auxiliary(function: Node, facts: Facts) -> Node:
    """`return g(x)` as `value, beside = g(x)` and `return value, beside`: the derivative is of the first alone."""
    if not facts.auxiliary:
        return function
    last = function.body[-1]
    if isinstance(last.value, gast.Tuple) and len(last.value.elts) == 2:
        return function
    if isinstance(last.value, gast.Tuple | gast.List | gast.Dict | gast.Constant):
        raise facts.refuse(
            last, "E5007", "with has_aux the function returns a pair", "return the scalar, and beside it one value"
        )
    names = [facts.names.fresh("value"), facts.names.fresh("beside")]
    facts.local |= frozenset(names)
    pair = gast.Tuple(elts=[name(each, gast.Store()) for each in names], ctx=gast.Store())
    unpacked = at(gast.Assign([pair], last.value, None), last)
    result = at(gast.Return(gast.Tuple(elts=[name(each) for each in names], ctx=gast.Load())), last)
    for made in (unpacked, result):
        facts.foreign[made] = None
    function.body[-1:] = [unpacked, result]
    return function


def fields(function: Node, facts: Facts) -> Node:
    """Spell the fields of several results by their places.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(a):\\n    r = np.linalg.qr(a)\\n    return r.Q @ r.R", after="fields"))
    def f(a):
        r = np.linalg.qr(a)
        return r[0] @ r[1]
    """
    local = frozenset(parameters(function)) | {s for n in statements(function.body) for s in stores(n)}
    known = _names_of_results(function, facts, local)
    for node in statements(function.body):
        for part in [*header(node), node] if not header(node) else header(node):
            if _spell(part, known, facts, local):
                facts.foreign[node] = None
    return function


def _names_of_results(function: Node, facts: Facts, local: frozenset[str]) -> dict[str, Results]:
    """Names to which nothing but the results of one kind of operation is bound."""
    found: dict[str, list[Results]] = {}
    for node in statements(function.body):
        for bound in stores(node):
            several = results_of(node.value, facts, local) if target(node) == bound else ()
            found.setdefault(bound, []).append(several)
    own = {bound: kinds[0] for bound, kinds in found.items() if kinds[0] and all(k == kinds[0] for k in kinds)}
    return {bound: several for bound, several in own.items() if bound not in parameters(function)}


def results_of(value: Node, facts: Facts, local: frozenset[str]) -> Results:
    """The results of a call, with their names; empty for anything that gives one."""
    if not isinstance(value, gast.Call):
        return ()
    found = binding_of(value.func, facts, local)
    if found is None or found.kind != "object":
        return ()
    if rule_of(found.object) is None:
        templates.load_for(home(found.object) or "")
    rule = rule_of(found.object)
    return () if rule is None else rule.results


def _spell(part: Node, known: dict[str, Results], facts: Facts, local: frozenset[str]) -> bool:
    """Replace the fields that are read below `part`; whether there were any."""
    if all(_field(value, known, facts, local) is None for value in find_nodes(part, gast.Attribute)):
        return False
    changed = False
    for item in list(walk(part)):
        for key in item._fields:
            inner = getattr(item, key, None)
            values = inner if isinstance(inner, list) else [inner]
            for place, value in enumerate(values):
                made = _field(value, known, facts, local)
                if made is None:
                    continue
                changed = True
                if isinstance(inner, list):
                    inner[place] = made
                else:
                    setattr(item, key, made)
    return changed


def _field(value: Node, known: dict[str, Results], facts: Facts, local: frozenset[str]) -> Node | None:
    if not isinstance(value, gast.Attribute):
        return None
    held = value.value
    several = known.get(held.id, ()) if isinstance(held, gast.Name) else results_of(held, facts, local)
    names = [name for name, _ in several]
    if value.attr not in names:
        return None
    return at(expression("held[place]", held=held, place=literal_node(names.index(value.attr))), value)


def intermediate(function: Node, facts: Facts) -> Node:
    """Take the names in `wrt` that are no parameters: each is bound once, in no branch and no loop, and never changed.

    >>> from srcgrad.interface.show.explain import run
    >>> run("def f(x):\\n    h = x * x\\n    return np.sum(h)", "intermediate", wrt=("h",))[1].inner
    ('h',)
    """
    facts.inner = tuple(wanted for wanted in facts.wrt if wanted not in parameters(function))
    if facts.inner and facts.mode not in ("reverse", "value-and-grad", "vjp", "trace"):
        raise facts.refuse(
            facts.source.tree,
            "E5009",
            f"`{facts.inner[0]}` is no parameter, and mode {facts.mode} has no tangent for it",
            "use reverse mode, or make it a parameter",
        )
    for wanted in facts.inner:
        _check_text(wanted, facts)
        made = [node for node in function.body if wanted in stores(node) and not written_names(node)]
        everywhere = [node for node in statements(function.body) if wanted in stores(node)]
        if len(made) != 1 or len(everywhere) != 1 or not isinstance(made[0], gast.Assign):
            where = everywhere[0] if everywhere else facts.source.tree
            what = "is bound in a loop or a branch, or is changed" if everywhere else "is taken apart"
            raise _refusal(wanted, what, where, facts)
        if facts.list_kind(wanted) or wanted in facts.records or isinstance(made[0].value, _DISPLAYS):
            raise _refusal(wanted, "holds a container", made[0], facts)
    return function


_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)


def _check_text(wanted: str, facts: Facts) -> None:
    """In the user's own text the name is bound by one assignment, and nothing is stored into it."""
    tree = facts.source.tree
    bound = [n for s in tree.body for n in walk(s) if isinstance(n, gast.Name) and n.id == wanted]
    bound = [n for n in bound if not isinstance(n.ctx, gast.Load)]
    if not bound:
        raise facts.refuse(tree, "E5009", f"`{wanted}` is bound nowhere", "name a parameter, or a local variable")
    if len(bound) > 1:
        lines = " and ".join(str(line) for line in dict.fromkeys(n.lineno for n in bound))
        raise _refusal(wanted, f"is bound more than once, in line {lines}", bound[1], facts)
    for node in statements(tree.body):
        if wanted in written_names(node):
            raise _refusal(wanted, "is changed", node, facts)


def _refusal(wanted: str, what: str, where: Node, facts: Facts) -> Exception:
    return facts.refuse(
        where,
        "E5009",
        f"`{wanted}` {what}: it is not clear which value is meant",
        f"bind the value that you mean to a name of its own, once, outside of loops and branches: `{wanted}_0 = ...`",
    )


@dataclass
class _Work:
    """Which names hold all results of an operation, and what the results go by instead."""

    facts: Facts
    bound: dict[str, int] = field(default_factory=dict)  # how often a name is bound
    readers: dict[str, list[Node]] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=dict)  # name of all results -> names of the single ones
    users: dict[str, Node] = field(default_factory=dict)  # ... -> the user's statement that binds it


def results(function: Node, facts: Facts) -> Node:
    """Where several results are read one by one, let no name hold all of them.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(a):\\n    return np.linalg.eigh(a)[0] ** 2", after="results"))
    def f(a):
        eigenvalues, eigenvectors = np.linalg.eigh(a)
        t2 = eigenvalues
        y = t2**2
        return y
    """
    work = _Work(facts)
    for node in statements(function.body):
        for one in stores(node):
            work.bound[one] = work.bound.get(one, 0) + 1
        for one in loads(node):
            work.readers.setdefault(one, []).append(node)
    for node in statements(function.body):
        held, several = target(node), several_of(node, facts)
        if held is not None and several and work.bound[held] == 1:
            reads = work.readers.get(held, [])
            if reads and all(_reads_parts(read, held, len(several), facts) for read in reads):
                work.parts[held] = [""] * len(several)
                work.users[held] = facts.origin.get(node, node)
    following = {one: two for block in blocks(function.body) for one, two in pairwise(block)}
    function.body = rewrite_statements(function.body, lambda node: _statement(node, following.get(node), work))
    return function


def several_of(node: Node, facts: Facts) -> Results:
    """The results of an assignment's operation, where it has several."""
    operation = facts.operation.get(getattr(node, "value", None))
    rule = None if operation is None else operation.rule
    return () if rule is None else rule.results


def gives_several(node: Node, facts: Facts) -> bool:
    """Whether a statement is `w, v = op(...)`."""
    return isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple) and bool(several_of(node, facts))


def _reads_parts(node: Node, held: str, count: int, facts: Facts) -> bool:
    """Whether a statement is `x = held[1]`, or `x, y = held`."""
    if not isinstance(node, gast.Assign) or loads(node).count(held) != 1:
        return False
    if isinstance(node.targets[0], gast.Tuple) and isinstance(node.value, gast.Name):
        return len(node.targets[0].elts) == count
    return _place(node, facts, count) is not None or _slice(node, facts, count) is not None


def _place(node: Node, facts: Facts, count: int) -> int | None:
    """The place k in `x = held[k]`."""
    operation = facts.operation.get(node.value)
    if target(node) is None or operation is None or operation.function is not operator.getitem:
        return None
    try:
        place = literal_value(operation.bound["index"])
    except (ValueError, TypeError):
        return None
    return place % count if isinstance(place, int) and -count <= place < count else None


def _slice(node: Node, facts: Facts, count: int) -> list[int] | None:
    """The places in `x = held[:2]`."""
    operation = facts.operation.get(node.value)
    if target(node) is None or operation is None or operation.function is not operator.getitem:
        return None
    index = operation.bound["index"]
    if not isinstance(index, gast.Slice):
        return None
    try:
        bounds = [one and literal_value(one) for one in (index.lower, index.upper, index.step)]
    except (ValueError, TypeError):
        return None
    return list(range(count))[slice(*bounds)]


def _statement(node: Node, following: Node | None, work: _Work) -> Block:
    read = next((one for one in loads(node) if one in work.parts), None) if isinstance(node, gast.Assign) else None
    if target(node) in work.parts:
        return [_name_results_of(node, following, work)]
    if read is None:
        return [node]
    user = work.facts.origin.get(node, node)
    if user is not work.users[read]:
        work.facts.rewritten[user] = None  # it reads a name that is gone
    return _copies(node, work.parts[read], work.facts)


def _name_results_of(node: Node, following: Node | None, work: _Work) -> Node:
    """`w, v = op(...)`, with the names that the next statement gives; other results are named for what they are."""
    facts, held, several = work.facts, str(target(node)), several_of(node, work.facts)
    given = _names_given_next(held, following, len(several), facts)
    again = len(work.readers[held]) > 1  # reads that follow may find a name bound to something else
    for place, (stem, _) in enumerate(several):
        one = given[place]
        own = one and facts.temporaries.get(one) != "t" and one not in loads(node) and given.count(one) == 1
        if not own or (again and work.bound[one] > 1):
            one = facts.names.fresh(stem)
            facts.temporaries[one] = stem
        work.parts[held][place] = one
        if held in facts.varied:
            facts.varied[one] = None
    targets = gast.Tuple(elts=[name(one, gast.Store()) for one in work.parts[held]], ctx=gast.Store())
    made = at(gast.Assign([targets], node.value, None), node)
    facts.origin[made] = facts.origin.get(node, node)
    return made


def _names_given_next(held: str, following: Node | None, count: int, facts: Facts) -> list[str]:
    """The names to which the next statement binds the results; empty for those that it does not read."""
    given = [""] * count
    if following is None or held not in loads(following):
        return given
    place = _place(following, facts, count)
    if place is not None:
        given[place] = str(target(following))
    elif target(following) is None:
        given = [item.id for item in following.targets[0].elts]
    return given


def _copies(node: Node, names: list[str], facts: Facts) -> Block:
    """`x = w` for `x = held[0]`, where the name is not bound to it yet."""
    place = _place(node, facts, len(names))
    if place is not None:
        wanted: list[tuple[str, Node]] = [(str(target(node)), name(names[place]))]
    elif target(node) is None:
        wanted = [(item.id, name(names[k])) for k, item in enumerate(node.targets[0].elts)]
    else:
        some = [name(names[k]) for k in _slice(node, facts, len(names)) or []]
        wanted = [(str(target(node)), gast.Tuple(elts=some, ctx=gast.Load()))]
    made = [at(assign(one, value), node) for one, value in wanted if getattr(value, "id", "") != one]
    for item in made:
        facts.origin[item] = facts.origin.get(node, node)
    return made
