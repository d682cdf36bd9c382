"""Renaming: one name, one meaning (webs).

One name, one meaning: a variable that is bound anew gets a new name, where no use mixes the two.

A parameter that holds an object and is bound to something else: what it means from there on has its own name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import gast

from srcgrad.core.control_flow import ENTRY, Definitions, definitions
from srcgrad.core.expressions import is_basic, is_swap
from srcgrad.core.facts import Facts, inner_kinds
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    children,
    copy,
    find_nodes,
    header,
    holds,
    name,
    parameters,
    statements,
    stores,
    walk,
    written_names,
)
from srcgrad.frontend.early_facts import counters, integers


def spell_augmented(function: Node, facts: Facts) -> Node:
    """Spell `a += e` as `a = a + e`; that it was augmented is kept in the facts.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    s = x\\n    s *= x\\n    return s", after="spell_augmented"))
    def f(x):
        s = x
        s = s * x
        return s
    """
    facts.integers.update(integers(function, facts))
    facts.counting.update(counters(function))
    for node in [function, *statements(function.body)]:
        if isinstance(node, COMPOUND):
            for field in ("body", "orelse"):
                block = getattr(node, field, None)
                if block:
                    setattr(node, field, [_spell_plain(item, facts) for item in block])
    return function


def _spell_plain(node: Node, facts: Facts) -> Node:
    if not isinstance(node, COMPOUND) and node not in facts.foreign and not facts.source.made:
        facts.text.setdefault(node, copy(node))
    if isinstance(node, gast.AnnAssign):
        plain = node if node.value is None else gast.Assign([node.target], node.value, None)
    elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        read = name(node.target.id, like=node.target)
        plain = gast.Assign([node.target], gast.BinOp(read, node.op, node.value), None)
        gast.copy_location(plain.value, node)
        facts.augmented[plain] = None
    elif _is_general_update(node, facts):
        whole = isinstance(node.target.slice, gast.Constant) and node.target.slice.value is ...
        read = copy(node.target.value if whole else node.target)
        read.ctx = gast.Load()
        plain = gast.Assign([node.target], gast.BinOp(read, node.op, node.value), None)
        gast.copy_location(plain.value, node)
        facts.augmented[plain] = None
    else:
        return node
    if plain is not node:
        gast.copy_location(plain, node)
        if node in facts.text:
            facts.text[plain] = facts.text[node]
        facts.origin[plain] = node
        facts.plain[node] = plain
    return plain


def _is_general_update(node: Node, facts: Facts) -> bool:
    """Whether `a[i] op= e` has to be spelled `a[i] = a[i] op e`: what is added with a basic index is not."""
    if not isinstance(node, gast.AugAssign) or not isinstance(node.target, gast.Subscript):
        return False
    held = node.target.value.id if isinstance(node.target.value, gast.Name) else ""
    if facts.list_kind(held) or held in facts.records:
        return True
    added = isinstance(node.op, gast.Add | gast.Sub)
    return not (added and (facts.generated or is_basic(node.target.slice, frozenset(facts.integers))))


def webs(function: Node, facts: Facts) -> Node:
    """Give each web of definitions and uses a name of its own; the first keeps the user's.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x, y):\\n    x = x * y\\n    x = x / y\\n    return x", after="webs"))
    def f(x, y):
        x_1 = x * y
        x_2 = x_1 / y
        return x_2
    """
    separate(function, facts)
    facts.integers.update(integers(function, facts))
    facts.counting.update(counters(function))
    return function


def separate(function: Node, facts: Facts, only: Collection[str] | None = None) -> None:
    """Give each web of some names, or of all, a name of its own; text that is to be kept is kept only of all."""
    reaching = definitions(function.body, parameters(function))
    uses = [(node, read) for node, read in _uses(function.body) if only is None or read.id in only]
    leader = _unite(reaching, uses)
    named = _name(reaching, leader, facts, only)
    for node, read in uses:
        found = reaching.at(node, read.id)
        if found:
            if only is not None and read.id != named[leader[found[0]]]:
                facts.foreign[node] = None
            read.id = named[leader[found[0]]]
    for number, (position, _) in enumerate(reaching.of):
        if position != ENTRY:
            node, bound = reaching.graph.nodes[position], reaching.of[number][1]
            if only is not None and bound != named[leader[number]]:
                facts.foreign[node] = None
            _rename_stores(node, bound, named[leader[number]])


def reading_apart(function: Node, reads: Mapping[str, list[Node]]) -> set[str]:
    """Of parameters, with statements that read them: those of which these read neither the argument nor its web."""
    given = parameters(function)
    reaching = definitions(function.body, given)
    leader = _unite(reaching, [(node, read) for node, read in _uses(function.body) if read.id in reads])
    own = {one: leader[given.index(one)] for one in reads}
    return {o for o, nodes in reads.items() if all(leader[k] != own[o] for n in nodes for k in reaching.at(n, o))}


def _uses(block: Block) -> list[tuple[Node, Node]]:
    return [(node, item) for node in statements(block) for part in header(node) for item in _read(part)]


def _read(part: Node) -> list[Node]:
    """The names that an expression reads, but not those that a comprehension in it binds for itself."""
    if not holds(part, *_COMPREHENSIONS):
        return [item for item in find_nodes(part, gast.Name) if isinstance(item.ctx, gast.Load)]
    if not isinstance(part, _COMPREHENSIONS):
        return [item for child in children(part) for item in _read(child)]
    first = part.generators[0].iter  # is of the scope around
    own = {item.id for each in part.generators for item in find_nodes(each.target, gast.Name)}
    around = _read(first)
    return around + [
        item for child in children(part) for item in _read(child) if item not in around and item.id not in own
    ]


_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def _unite(reaching: Definitions, uses: list[tuple[Node, Node]]) -> list[int]:
    """For each definition the number of the first definition of its web."""
    leader = list(range(len(reaching.of)))
    arrays = {w for node, _ in uses for w in written_names(node)}

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    def unite(found: list[int]) -> None:
        for other in found[1:]:
            one, two = find(found[0]), find(other)
            leader[max(one, two)] = min(one, two)

    for node, read in uses:
        unite(reaching.at(node, read.id))
    for number, (position, bound) in enumerate(reaching.of):  # a change of contents is no new meaning
        node = reaching.graph.nodes[position]
        if node is None:
            continue
        changed = bound in written_names(node) or (isinstance(node, gast.AugAssign) and bound in stores(node))
        if changed or (is_swap(node) and arrays & set(stores(node))):
            unite([*reaching.at(node, bound), number])
    return [find(number) for number in range(len(leader))]


def _name(reaching: Definitions, leader: list[int], facts: Facts, only: Collection[str] | None) -> dict[int, str]:
    named: dict[int, str] = {}
    seen: set[str] = set()
    for number, (_, user) in enumerate(reaching.of):
        if leader[number] != number:
            continue
        if user in seen and (only is None or user in only):
            named[number] = facts.names.numbered_name(user)
            if only is None:  # else they are of several kinds, which the user's name does not tell apart
                facts.base[named[number]] = user
        else:
            named[number] = user
            seen.add(user)
    return named


def _rename_stores(node: Node, old: str, new: str) -> None:
    if old == new or old not in stores(node):
        return
    for place in node.targets if isinstance(node, gast.Assign) else [node.target]:
        for item in walk(place):
            if isinstance(item, gast.Name) and item.id == old and isinstance(item.ctx, gast.Store):
                item.id = new


_SCOPES = (gast.FunctionDef, gast.Lambda, gast.ClassDef)


def record_names(function: Node, facts: Facts) -> None:
    """Give a second name to what is bound to such a parameter, where no use mixes it with the object.

    `p = p.x * 2; return p` is `p_1 = p.x * 2; return p_1`. A field of the object is then never read from what is none.
    """
    objects = [one for one, kind in inner_kinds(facts.kinds) if kind.tag == "object" or kind.owner is not None]
    for parameter in objects:
        _without_aliases(parameter, function, facts)
    bound = [one for one in objects if any(_binds(one, node) for node in function.body)]
    scopes = [scope for node in function.body for scope in find_nodes(node, *_SCOPES)]
    if not bound or any(_reads(one, *scopes) for one in bound):
        return  # a nested function has what the name means when it is called
    if any(holds(node, gast.With, gast.Try, *_SCOPES) for node in function.body):
        for parameter in bound:
            _divide(parameter, function.body, facts)
    else:
        separate(function, facts, bound)


def _without_aliases(parameter: str, function: Node, facts: Facts) -> None:
    """Call an object by one name: that of the parameter, also where `q = p` has given it another one."""
    bound = [
        one.id for node in function.body for one in find_nodes(node, gast.Name) if not isinstance(one.ctx, gast.Load)
    ]
    own = {a.id for a in find_nodes(function.args, gast.Name)}
    scopes = [scope for node in function.body for scope in find_nodes(node, *_SCOPES)]
    kept: Block = []
    for node in function.body:
        held = getattr(node.value, "id", "") if isinstance(node, gast.Assign) and len(node.targets) == 1 else ""
        alias = getattr(node.targets[0], "id", "") if held == parameter else ""
        alone = bound.count(alias) == 1 and parameter not in bound and alias not in own and not _reads(alias, *scopes)
        if alias != parameter and not (alias and alone):
            kept.append(node)
            continue
        for other in function.body if alias != parameter else ():
            _rename(alias, parameter, other, facts)
    function.body = kept


def _divide(parameter: str, block: Block, facts: Facts) -> None:
    """The same where an assignment of the body itself binds it: all that follows reads what that has bound."""
    for place, node in enumerate(block):
        if not _binds(parameter, node):
            continue
        if isinstance(node, gast.Assign) and not _reads(parameter, *node.targets):
            second = facts.names.numbered_name(parameter)
            facts.local |= {second}
            for one in [*node.targets, *block[place + 1 :]]:
                _rename(parameter, second, one, facts)
            facts.foreign[node] = None
        return


def _binds(name: str, node: Node) -> bool:
    return any(not isinstance(n.ctx, gast.Load) for n in _nodes_of_name(name, node))


def _reads(name: str, *nodes: Node) -> bool:
    return any(isinstance(n.ctx, gast.Load) for node in nodes for n in _nodes_of_name(name, node))


def _nodes_of_name(name: str, node: Node) -> list[Node]:
    """Where a part of a function has a name of that function's, and not one of a function that stands in it."""
    functions = find_nodes(node, gast.FunctionDef, gast.Lambda)
    own = {id(n) for one in functions if _is_own(name, one) for n in _names_of_function(one)}
    return [n for n in find_nodes(node, gast.Name) if n.id == name and id(n) not in own]


def _is_own(name: str, function: Node) -> bool:
    """Whether a nested function binds the name itself."""
    nodes = [n for part in _body(function) for n in walk(part)]
    shared = any(isinstance(n, gast.Nonlocal) and name in n.names for n in nodes)
    stored = any(getattr(n, "id", "") == name and not isinstance(n.ctx, gast.Load) for n in nodes)
    return not shared and (stored or any(getattr(n, "id", "") == name for n in _parameters(function)))


def _names_of_function(function: Node) -> list[Node]:
    return [*_parameters(function), *(n for part in _body(function) for n in find_nodes(part, gast.Name))]


def _body(function: Node) -> list[Node]:
    return function.body if isinstance(function.body, list) else [function.body]


def _parameters(function: Node) -> list[Node]:
    return [n for n in find_nodes(function.args, gast.Name) if isinstance(n.ctx, gast.Param)]


def _rename(old: str, new: str, node: Node, facts: Facts) -> None:
    for held in [n for n in walk(node) if isinstance(n, gast.stmt)]:
        if _nodes_of_name(old, held):
            facts.foreign[held] = None
    for n in _nodes_of_name(old, node):
        n.id = new
