"""Renaming: one name, one meaning (webs).

A variable that is bound anew gets a new name, where no use mixes the two. A parameter that holds an object and is
bound to something else has its own name from there on. Variables of inner scopes that go by a name which the function
reads from outside get names of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field

import gast

from srcgrad.core.control_flow import ENTRY, Definitions, definitions
from srcgrad.core.facts import UNKNOWN, Facts, Names, inner_kinds
from srcgrad.core.identity import record, replace
from srcgrad.core.source_text import Source
from srcgrad.core.target import RESERVED
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    children,
    copy,
    every_parameter,
    find_nodes,
    header,
    holds,
    is_basic,
    is_swap,
    name,
    names_in,
    own_names,
    parameters,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.frontend.calls.functions import function_of
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
    facts.values.integers.update(integers(function, facts))
    facts.values.counting.update(counters(function))
    for node in [function, *statements(function.body)]:
        if isinstance(node, COMPOUND):
            for field in ("body", "orelse"):
                block = getattr(node, field, None)
                if block:
                    setattr(node, field, [_spell_plain(item, facts) for item in block])
    return function


def _spell_plain(node: Node, facts: Facts) -> Node:
    if not isinstance(node, COMPOUND) and node not in facts.origin.foreign and not facts.source.made:
        facts.origin.text.setdefault(node, copy(node))
    if isinstance(node, gast.AnnAssign):
        plain = node if node.value is None else gast.Assign([node.target], node.value, None)
    elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        read = name(node.target.id, like=node.target)
        plain = gast.Assign([node.target], gast.BinOp(read, node.op, node.value), None)
        gast.copy_location(plain.value, node)
        facts.origin.augmented[plain] = None
    elif _is_general_update(node, facts):
        whole = isinstance(node.target.slice, gast.Constant) and node.target.slice.value is ...
        read = copy(node.target.value if whole else node.target)
        read.ctx = gast.Load()
        plain = gast.Assign([node.target], gast.BinOp(read, node.op, node.value), None)
        gast.copy_location(plain.value, node)
        facts.origin.augmented[plain] = None
    else:
        return node
    if plain is not node:
        gast.copy_location(plain, node)
        if node in facts.origin.text:
            facts.origin.text[plain] = facts.origin.text[node]
        facts.origin.user[plain] = node
        facts.origin.plain[node] = plain
    return plain


def _is_general_update(node: Node, facts: Facts) -> bool:
    """Whether `a[i] op= e` has to be spelled `a[i] = a[i] op e`: what is added with a basic index is not."""
    if not isinstance(node, gast.AugAssign) or not isinstance(node.target, gast.Subscript):
        return False
    held = node.target.value.id if isinstance(node.target.value, gast.Name) else ""
    if facts.list_kind(held) or held in facts.kinds.records:
        return True
    added = isinstance(node.op, gast.Add | gast.Sub)
    return not (added and (facts.request.generated or is_basic(node.target.slice, frozenset(facts.values.integers))))


def rename_webs(function: Node, facts: Facts) -> Node:
    """Give each web of definitions and uses a name of its own; the first keeps the user's.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x, y):\\n    x = x * y\\n    x = x / y\\n    return x", after="rename_webs"))
    def f(x, y):
        x_1 = x * y
        x_2 = x_1 / y
        return x_2
    """
    separate(function, facts)
    facts.values.integers.update(integers(function, facts))
    facts.values.counting.update(counters(function))
    return function


def separate(function: Node, facts: Facts, only: Collection[str] | None = None) -> None:
    """Give each web of some names, or of all, a name of its own; text that is to be kept is kept only of all."""
    reaching = definitions(function.body, parameters(function))
    uses = [(node, read) for node, read in _uses(function.body) if only is None or read.id in only]
    leader = _unite(reaching, uses, facts)
    named = _name(reaching, leader, facts, only)
    for node, read in uses:
        found = reaching.at(node, read.id)
        if found:
            if only is not None and read.id != named[leader[found[0]]]:
                facts.origin.foreign[node] = None
            read.id = named[leader[found[0]]]
    for number, (position, _) in enumerate(reaching.of):
        if position != ENTRY:
            header, bound = reaching.graph.nodes[position], reaching.of[number][1]
            assert header is not None, "a name is bound there"
            if only is not None and bound != named[leader[number]]:
                facts.origin.foreign[header] = None
            _rename_stores(header, bound, named[leader[number]])


def reading_apart(function: Node, reads: Mapping[str, list[Node]]) -> set[str]:
    """Of parameters, with statements that read them: those of which these read neither the argument nor its web."""
    reaching, _, leader, own = _webs_of_parameters(function, reads)
    known = {one: nodes for one, nodes in reads.items() if all(node in reaching.graph.index for node in nodes)}
    return {o for o, nodes in known.items() if all(leader[k] != own[o] for n in nodes for k in reaching.at(n, o))}


def _webs_of_parameters(
    function: Node, names: Collection[str]
) -> tuple[Definitions, list[tuple[Node, Node]], list[int], dict[str, int]]:
    """What reaches the reads of some parameters, these, the leader of each definition's web, and of each parameter's.

    What stands in a function inside of this one runs at times unknown, and is left out.
    """
    given = parameters(function)
    reaching = definitions(function.body, given)
    uses = [(node, read) for node, read in _uses(function.body) if read.id in names and node in reaching.graph.index]
    leader = _unite(reaching, uses)
    return reaching, uses, leader, {one: leader[given.index(one)] for one in names}


def reads_of_arguments(function: Node, names: Collection[str]) -> frozenset[Node]:
    """The reads of some parameters, which the function binds anew, that their arguments' webs hold."""
    if not names:
        return frozenset()
    reaching, uses, leader, own = _webs_of_parameters(function, names)
    return frozenset(read for node, read in uses if any(leader[k] == own[read.id] for k in reaching.at(node, read.id)))


def _uses(block: Block) -> list[tuple[Node, Node]]:
    return [(node, item) for node in statements(block) for part in header(node) for item in _read(part)]


def _read(part: Node) -> list[Node]:
    """The names that an expression reads, but not those that a comprehension in it binds for itself."""
    if not holds(part, *COMPREHENSIONS):
        return [item for item in find_nodes(part, gast.Name) if isinstance(item.ctx, gast.Load)]
    if not isinstance(part, COMPREHENSIONS):
        return [item for child in children(part) for item in _read(child)]
    first = part.generators[0].iter  # is of the scope around
    own = {item.id for each in part.generators for item in find_nodes(each.target, gast.Name)}
    around = _read(first)
    return around + [
        item for child in children(part) for item in _read(child) if item not in around and item.id not in own
    ]


COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def _unite(reaching: Definitions, uses: list[tuple[Node, Node]], facts: Facts | None = None) -> list[int]:
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
        at = reaching.graph.nodes[position]
        if at is None:
            continue
        changed = bound in written_names(at) or (isinstance(at, gast.AugAssign) and bound in stores(at))
        exchanged = is_swap(at) and arrays & set(stores(at)) and not (facts and _are_unlike(at.value.elts, facts))
        if changed or exchanged:
            unite([*reaching.at(at, bound), number])
    return [find(number) for number in range(len(leader))]


def _are_unlike(swapped: list[Node], facts: Facts) -> bool:
    """Whether an array and a list, or a dict, are exchanged: one name has two kinds, whose adjoints are unlike."""
    kinds = [facts.kinds.of_expressions.get(one, UNKNOWN) for one in swapped]
    known = [
        kind if kind.tag != "unknown" else facts.kinds.of_names.get(one.id, UNKNOWN)
        for one, kind in zip(swapped, kinds, strict=True)
    ]
    return len({kind.tag for kind in known if kind.tag in ("array", "list", "tuple", "dict")}) > 1


def _name(reaching: Definitions, leader: list[int], facts: Facts, only: Collection[str] | None) -> dict[int, str]:
    named: dict[int, str] = {}
    seen: set[str] = set()
    for number, (_, user) in enumerate(reaching.of):
        if leader[number] != number:
            continue
        if user in seen and (only is None or user in only):
            named[number] = facts.names.numbered_name(user)
            if only is None:  # else they are of several kinds, which the user's name does not tell apart
                facts.names.base[named[number]] = user
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
    known = inner_kinds(facts.kinds.of_names)
    objects = [one for one, kind in known if kind.tag == "object" or kind.owner is not None]
    for parameter in objects:
        _without_aliases(parameter, function, facts)
    objects += [one for one in _bound_to_functions(function, facts) if one not in objects]
    objects += [one for one, kind in known if kind.tag == "function" and one not in objects]
    bound = [one for one in objects if any(_binds(one, node) for node in function.body)]
    scopes = [scope for node in function.body for scope in find_nodes(node, *_SCOPES)]
    if not bound or any(_reads(one, *scopes) for one in bound):
        return  # a nested function has what the name means when it is called
    if any(holds(node, gast.With, gast.Try, *_SCOPES) for node in function.body):
        for parameter in bound:
            _divide(parameter, function.body, facts)
    else:
        separate(function, facts, bound)


def _bound_to_functions(function: Node, facts: Facts) -> list[str]:
    """Parameters that are bound to a function further down, `a = np.sin`, and are read before."""
    found: dict[str, None] = {}
    given, local = parameters(function), own_names(function)
    for place, node in enumerate(function.body):
        for each in statements([node]):
            bound, value = target(each), getattr(each, "value", None)
            names = isinstance(value, gast.Name | gast.Attribute) and function_of(value, facts, local) is not None
            if bound in given and (names or isinstance(value, gast.Lambda)):
                found.update({bound: None} if _reads(bound, *function.body[: place + 1]) else {})
    return list(found)


def _without_aliases(parameter: str, function: Node, facts: Facts) -> None:
    """Call an object by one name: that of the parameter, also where `q = p` has given it another one."""
    bound = [
        one.id for node in function.body for one in find_nodes(node, gast.Name) if not isinstance(one.ctx, gast.Load)
    ]
    own = names_in(function.args)
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
            facts.names.local |= {second}
            for one in [*node.targets, *block[place + 1 :]]:
                _rename(parameter, second, one, facts)
            facts.origin.foreign[node] = None
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
            facts.origin.foreign[held] = None
    for n in _nodes_of_name(old, node):
        n.id = new


_FUNCTIONS = (gast.FunctionDef, gast.Lambda)


@record(eq=False)
class Scope:
    """What a function, a lambda or a comprehension binds, and where in it names stand."""

    node: Node
    outer: Scope | None
    bound: dict[str, None] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)  # name -> `nonlocal` or `global`
    names: list[Node] = field(default_factory=list)  # Name nodes, and definitions of functions
    fixed: dict[str, None] = field(default_factory=dict)  # names that are no nodes: of imports and patterns

    @property
    def function(self) -> Scope:
        """The scope itself, or that of the function in which a comprehension stands."""
        return self.outer.function if isinstance(self.node, COMPREHENSIONS) and self.outer is not None else self

    def home(self, identifier: str) -> Scope | None:
        """Where a name that stands here is bound; None for what is outside of the whole text."""
        if self.elsewhere.get(identifier) == "global":
            return None
        if identifier in self.bound:
            return self
        return None if self.outer is None else self.outer.home(identifier)


def rename_shadows(source: Source) -> Source:
    """The source with the tree that `tree_without_shadows` gives."""
    tree = tree_without_shadows(source.tree)
    if tree is source.tree:
        return source
    return replace(
        source, tree=tree, respelled=source.respelled or any(map(_is_reserved, find_nodes(source.tree, gast.Name)))
    )


def tree_without_shadows(tree: Node) -> Node:
    """The tree, or a copy in which no inner variable has the name of what the function reads from outside.

    >>> text = "def f(x):\\n    g = lambda k: k * x\\n    return g(k)"
    >>> print(gast.unparse(tree_without_shadows(gast.parse(text).body[0])).strip())
    def f(x):
        g = lambda k_: k_ * x
        return g(k)
    """
    inner = [n for n in find_nodes(tree, *COMPREHENSIONS, *_FUNCTIONS) if n is not tree]
    if not inner and not any(map(_is_reserved, find_nodes(tree, gast.Name))):
        return tree
    if holds(tree, gast.ClassDef) or not any(_renamed(_scopes(tree))):
        return tree
    tree = copy(tree)
    scopes = _scopes(tree)
    taken = Names({n for scope in scopes for n in [*scope.bound, *scope.elsewhere, *map(_name_of_item, scope.names)]})
    for scope, identifier in list(_renamed(scopes)):
        _rename_inner(scope, identifier, taken.fresh(f"{identifier}_"), scopes)
    return tree


def rename_own(tree: Node, identifier: str, made: str) -> None:
    """Give a variable of a function another name, unless a string binds it, as an import does.

    >>> tree = gast.parse("def f(p):\\n    return [p for p in p] + g(lambda q: p)").body[0]
    >>> rename_own(tree, "p", "p_1")
    >>> print(gast.unparse(tree).strip())
    def f(p_1):
        return [p for p in p_1] + g(lambda q: p_1)
    """
    scopes = _scopes(tree)
    if identifier not in scopes[0].fixed:
        _rename_inner(scopes[0], identifier, made, scopes)


def _is_reserved(node: Node) -> bool:
    return type(node) is gast.Name and node.id in RESERVED and not isinstance(node.ctx, gast.Load)


def _renamed(scopes: list[Scope]) -> Iterator[tuple[Scope, str]]:
    """Variables that get another name, each once."""
    given = {one.id for one in _inner_parameters(scopes[0].node)}
    for scope in scopes:
        for identifier in RESERVED:
            free = identifier in scope.bound and identifier not in scope.fixed
            if free and not (scope is scopes[0] and identifier in given):
                yield scope, identifier
    yield from (one for one in _clashes(scopes) if one[1] not in RESERVED)


def _clashes(scopes: list[Scope]) -> Iterator[tuple[Scope, str]]:
    """Variables that have the name of something else which is read around them."""
    outside = {_name_of_item(n) for scope in scopes for n in scope.names if scope.home(_name_of_item(n)) is None}
    around: dict[Scope, set[str]] = {}
    naming: dict[str, dict[Scope, None]] = {}
    for scope in scopes:
        for identifier in dict.fromkeys(map(_name_of_item, scope.names)):
            naming.setdefault(identifier, {})[scope] = None
        own = scope.function
        for identifier in map(_name_of_item, scope.names):
            home = scope.home(identifier)
            if home is not None and home.function is not own:
                around.setdefault(own, set()).add(identifier)
    closures = _closures(scopes)
    for scope in scopes[1:]:
        inner = around.get(scope.function, set()) if scope.function is not scope else set()
        read = [one for name in dict.fromkeys(map(_name_of_item, scope.names)) for one in closures.get(name, ())]
        inner = inner | {identifier for identifier, home in read if home is not scope}
        for identifier in scope.bound:
            named = naming.get(identifier, {})
            if identifier in outside or identifier in inner or _is_captured(scope, identifier, named):
                if identifier not in scope.fixed and not _is_named(scope, identifier, scopes):
                    yield scope, identifier


def _closures(scopes: list[Scope]) -> dict[str, dict[tuple[str, Scope], None]]:
    """By name of a nested function: the variables around it that it, or another one that it names, reads."""
    own = {scope: _inner_name(scope, scopes) for scope in scopes[1:] if isinstance(scope.node, _FUNCTIONS)}
    found: dict[str, dict[tuple[str, Scope], None]] = {name: {} for name in own.values() if name}
    named: dict[str, dict[str, None]] = {name: {} for name in found}
    for scope in scopes[1:]:
        name = own.get(scope.function, "")
        for identifier in map(_name_of_item, scope.names) if name else ():
            home = scope.home(identifier)
            if identifier in found:
                named[name][identifier] = None
            elif home is not None and home.function is not scope.function:
                found[name][identifier, home] = None
    for _ in found:
        for name, others in named.items():
            found[name].update(one for other in others for one in found[other].items())
    return found


def _is_captured(scope: Scope, identifier: str, naming: Iterable[Scope]) -> bool:
    """Whether a function reads a variable of its comprehension, and something else has the name as well.

    `naming` are the scopes in which the name stands.
    """
    if scope.function is scope:
        return False
    homes = [(one, one.home(identifier)) for one in naming]
    captured = any(home is scope and one.function is not scope.function for one, home in homes)
    return captured and any(home is not scope for _, home in homes)


def _is_named(scope: Scope, identifier: str, scopes: list[Scope]) -> bool:
    """Whether calls that are not known may give an argument by the name of a parameter."""
    if not isinstance(scope.node, _FUNCTIONS) or identifier not in {a.id for a in _inner_parameters(scope.node)}:
        return False
    returned = [n.value for n in find_nodes(scopes[0].node, gast.Return)]
    name = _inner_name(scope, scopes)
    return any(value is scope.node or (name and getattr(value, "id", "") == name) for value in returned) or any(
        word.arg == identifier and not _calls_itself(call, scope, scopes) and _is_inner(call, scopes)
        for call in walk(scopes[0].node)
        if isinstance(call, gast.Call)
        for word in call.keywords
    )


def _is_inner(call: Node, scopes: list[Scope]) -> bool:
    """Whether what a call calls may be a function of this text."""
    if not isinstance(call.func, gast.Name):
        return not isinstance(call.func, gast.Attribute)
    return any(call.func in scope.names and scope.home(call.func.id) is not None for scope in scopes)


def _calls_itself(call: Node, scope: Scope, scopes: list[Scope]) -> bool:
    return isinstance(call.func, gast.Name) and call.func.id == _inner_name(scope, scopes)


def _inner_name(scope: Scope, scopes: list[Scope]) -> str:
    """The name that a nested function, or a lambda, is bound to."""
    if isinstance(scope.node, gast.FunctionDef):
        return str(scope.node.name)
    assigned = (n for n in find_nodes(scopes[0].node, gast.Assign) if n.value is scope.node)
    return str(next((getattr(n.targets[0], "id", "") for n in assigned), ""))


def _rename_inner(scope: Scope, identifier: str, made: str, scopes: list[Scope]) -> None:
    for each in scopes:
        for item in each.names if each.home(identifier) is scope else ():
            if _name_of_item(item) == identifier:
                setattr(item, "id" if isinstance(item, gast.Name) else "name", made)
        for item in walk(each.node) if each.home(identifier) is scope else ():
            if isinstance(item, gast.Nonlocal) and identifier in item.names and identifier in each.elsewhere:
                item.names = [made if one == identifier else one for one in item.names]
    if isinstance(scope.node, _FUNCTIONS):
        for call in [n for n in find_nodes(scopes[0].node, gast.Call) if _calls_itself(n, scope, scopes)]:
            for word in call.keywords:
                word.arg = made if word.arg == identifier else word.arg
    scope.bound = {made if one == identifier else one: None for one in scope.bound}


def _name_of_item(item: Node) -> str:
    return str(item.id if isinstance(item, gast.Name) else item.name)


def _inner_parameters(function: Node) -> list[Node]:
    several = [one for one in (function.args.vararg, function.args.kwarg) if one is not None]
    return [*every_parameter(function), *several]


def _scopes(tree: Node) -> list[Scope]:
    found = [Scope(tree, None)]
    _enter(found[0], found)
    return found


def _enter(scope: Scope, found: list[Scope]) -> None:
    """Look at what stands in a scope."""
    node = scope.node
    if isinstance(node, _FUNCTIONS):
        for parameter in _inner_parameters(node):
            scope.names.append(parameter)
            scope.bound[parameter.id] = None
        todo = list(node.body) if isinstance(node.body, list) else [node.body]
        for item in [n for part in todo for n in _nodes_of_scope(part)]:
            if isinstance(item, gast.Nonlocal | gast.Global):
                word = "global" if isinstance(item, gast.Global) else "nonlocal"
                scope.elsewhere.update(dict.fromkeys(item.names, word))
    else:
        results = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        parts = [[part.target, *part.ifs, *([part.iter] if k else [])] for k, part in enumerate(node.generators)]
        todo = [*results, *(one for part in parts for one in part)]
    for part in todo:
        _look(part, scope, found)


def _nodes_of_scope(node: Node) -> Iterator[Node]:
    """What is below a node, other functions apart."""
    yield node
    for child in gast.iter_child_nodes(node):
        if not isinstance(node, _FUNCTIONS):
            yield from _nodes_of_scope(child)


def _look(node: Node, scope: Scope, found: list[Scope]) -> None:
    if isinstance(node, gast.Name):
        scope.names.append(node)
        if not isinstance(node.ctx, gast.Load) and node.id not in scope.elsewhere:
            scope.bound[node.id] = None
        return
    if isinstance(node, gast.NamedExpr):
        scope.function.names.append(node.target)
        if node.target.id not in scope.function.elsewhere:
            scope.function.bound[node.target.id] = None
        _look(node.value, scope, found)
        return
    if isinstance(node, COMPREHENSIONS):
        _look(node.generators[0].iter, scope, found)
        _open_scope(node, scope, found)
        return
    if isinstance(node, _FUNCTIONS):
        outside = [*getattr(node, "decorator_list", []), *node.args.defaults, *node.args.kw_defaults]
        outside += [one.annotation for one in _inner_parameters(node)] + [getattr(node, "returns", None)]
        if isinstance(node, gast.FunctionDef):
            scope.names.append(node)
            if node.name not in scope.elsewhere:
                scope.bound[node.name] = None
        for part in [one for one in outside if one is not None]:
            _look(part, scope, found)
        _open_scope(node, scope, found)
        return
    for spelled in _strings(node):
        scope.bound[spelled] = scope.fixed[spelled] = None
    for child in gast.iter_child_nodes(node):
        _look(child, scope, found)


def _open_scope(node: Node, scope: Scope, found: list[Scope]) -> None:
    found.append(Scope(node, scope))
    _enter(found[-1], found)


def _strings(node: Node) -> list[str]:
    """Names that a node binds and that are no nodes."""
    if isinstance(node, gast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    held = getattr(node, "name", None) if isinstance(node, gast.MatchAs | gast.MatchStar) else None
    return [held] if isinstance(held, str) else []
