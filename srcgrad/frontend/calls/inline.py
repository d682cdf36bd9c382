"""Inlining: which calls are written out in place, when, and why.

A derivative of its own costs a definition, a pullback, a name for it in each call, and what the call does not see:
which shapes are equal, which products are there already. So a function that is called once is written out, and one that
is called again if there is little in it; so are nested functions, procedures that fill arrays, functions that get
functions, and all calls in a derivative that will be differentiated again. What carries no derivative stays a call, and
so does a derivative that a function calls: the text around it stays the user's.

A call that changes what the rest of its expression may read is written out before all of it.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any  # functions are arbitrary objects

import gast

from srcgrad.core.bindings import Binding, StaticFunction
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import UNKNOWN, Facts, Operation, inner_kinds
from srcgrad.core.namespace import Namespace, Overlay
from srcgrad.core.rules import goes_through, is_composition, rule_of
from srcgrad.core.target import RESERVED
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    assign,
    at,
    children,
    copy,
    find_nodes,
    given_by_place,
    is_write,
    name,
    own_names,
    parameters,
    statements,
    stores,
    walk,
)
from srcgrad.core.visitor import rewrite_parts
from srcgrad.frontend.calls.derivatives_in_body import (
    check_asked,
    derived_call,
    hand_over,
    hands,
    held_functions,
    value_of,
)
from srcgrad.frontend.calls.functions import (
    Function,
    as_owner,
    called_by,
    function_of,
    handed_of,
    is_ordinary,
    made_by,
    not_known,
    of_argument,
)
from srcgrad.frontend.calls.inline_call import Site, written_out
from srcgrad.frontend.calls.nested_functions import check_given
from srcgrad.frontend.calls.side_effects import (
    Effects,
    changes_outside,
    check_outside,
    doubtful_write,
    is_straight,
    operations,
    outer_changes,
)
from srcgrad.frontend.context import read_alone
from srcgrad.frontend.desugar.objects_by_key import name_in_order
from srcgrad.frontend.early_facts import reads_varied, varied_names
from srcgrad.frontend.kinds_of_values import holds_object
from srcgrad.frontend.resolve import binding_in, binding_of, is_over_rows, operation_of

_AGAIN = 8  # operations that may be written again: about what a definition and its calls take
_MOST = 64  # ... by all calls inside of a function together: helpers that each call two others double with each level


def is_short(call: Node, called: str, operation: Operation, site: Site) -> bool:
    """Whether a call is written out since the function is short: for kernels, and where the text gets no longer."""
    facts = site.facts
    if operation.checkpointed:
        return False
    if facts.module.target.kernels:
        return (
            site.is_of(operation.function, is_straight)
            and repeated_operations(operation.function, facts.module) <= _MOST
        )
    if facts.request.mode in ("primal", "trace"):
        return False
    given = [*call.args, *(word.value for word in call.keywords)]
    flows = _flows(given, site)
    brief = site.is_of(operation.function, lambda tree: is_brief(tree, called, facts.source.tree), generated=False)
    return flows and brief and repeated_operations(operation.function, facts.module) <= _MOST


def _flows(given: list[Node], site: Site) -> bool:
    """Whether a derivative may go through arguments."""
    varied = None if site.varied is None else dict.fromkeys(site.varied)
    return varied is None or any(reads_varied(one, varied, site.facts, site.local) for one in given)


def repeated_operations(function: object, module: object) -> int:
    """How many operations stand again where a function is written out with all straight functions that it calls."""
    sizes: dict[int, tuple[int, int]] = {}
    whole = _size(function, module, sizes)
    return whole - sum(own for own, _ in sizes.values())


def _size(function: object, module: Any, sizes: dict[int, tuple[int, int]]) -> int:
    """How many operations a function written out has; `sizes` keeps its own and all, by its tree."""
    try:
        source, namespace = module.source(function)
    except DifferentiationError:
        return 0
    key = id(source.tree)
    if key not in sizes and not is_straight(source.tree):
        return 0
    if key not in sizes:
        own = operations(source.tree)
        sizes[key] = own, own  # a recursive call is not written out
        called = _called_functions(source.tree, namespace)
        sizes[key] = own, own + sum(_size(one, module, sizes) for one in called)
    return sizes[key][1]


def _called_functions(tree: Node, namespace: Namespace) -> list[object]:
    """The functions of the user's that a straight function calls, one for each call."""
    local = own_names(tree)
    calls = [part.func for node in tree.body for part in find_nodes(node, gast.Call)]
    found = [binding_in(namespace, one) for one in calls if not (isinstance(one, gast.Name) and one.id in local)]
    known = [one.object for one in found if one is not None and one.object is not None]
    return [one for one in known if rule_of(one) is None and isinstance(one, FunctionType | StaticFunction)]


def is_brief(tree: Node, called: str, caller: Node) -> bool:
    """Whether a straight function is called once, or has few operations that would be written again."""
    calls = [part.func for node in caller.body for part in find_nodes(node, gast.Call)]
    times = sum(called in (getattr(one, "id", ""), getattr(one, "attr", "")) for one in calls)
    return is_straight(tree) and (times - 1) * operations(tree) <= _AGAIN


def check_order(value: Node | None, site: Site, alone: bool = True) -> None:
    """A call that changes what the rest of its expression may read stands alone; `a += g(a)` reads a before."""
    calls = _calls_in_between(value, site, alone)
    if calls:
        raise _refuse_order(calls[0], site)


def _refuse_order(call: Node, site: Site) -> DifferentiationError:
    found = called_by(call, site.facts, site.local)
    return site.facts.refuse(
        call,
        "E5010",
        f"`{'' if found is None else found.name}` changes what the rest of the expression may read",
        "call it in a statement of its own: `t = ...`",
    )


def _calls_in_between(value: Node | None, site: Site, alone: bool) -> list[Node]:
    """The calls that change what the rest of their expression may read; `alone` if the expression may be such a call.

    One that changes what nested functions share is refused.
    """
    made: list[Node] = []
    if value is None:
        return made
    for call in [n for n in find_nodes(value, gast.Call) if (n is not value or not alone)]:
        found = called_by(call, site.facts, site.local)
        if found is None:
            continue
        if found.tree is not None and _changes_what_is_read(found.tree, call, value, site):
            raise _refuse_order(call, site)
        known = Effects(site.facts)
        given = known.arguments(call, site.facts, site.local)
        seen = {one for part in given for one in known.seen(part, site.facts, site.local)}
        if found.tree is None and alone and _is_computed_first(call, value):
            continue
        if seen and not (alone and _is_apart(seen, call, value, site.facts)):
            made.append(call)
    return made


def _in_sequence(node: Node, site: Site) -> Block:
    """`g_value = g(a)`, `y = g_value + a[0]` for `y = g(a) + a[0]`, where g changes a: what is to stand before.

    So does what Python computes before such a call, but for names, which show what it changes.
    """
    key = "test" if isinstance(node, gast.If) else "iter" if isinstance(node, gast.For) else "value"
    calls = _calls_in_between(getattr(node, key, None), site, alone=not isinstance(node, gast.AugAssign))
    if not calls:
        return []
    if not isinstance(getattr(node, "target", name("")), gast.Name):
        raise _refuse_order(calls[0], site)  # `a[0] += g(a)` reads the item before
    before: Block = []
    named = partial(_named, where=node, before=before, site=site)
    setattr(node, key, name_in_order(getattr(node, key), [*calls], named, _refuse_order(calls[0], site)))
    site.facts.origin.foreign[node] = None
    return before


def _named(value: Node, where: Node, before: Block, site: Site) -> Node:
    """A name for a value, which a statement before binds."""
    found = called_by(value, site.facts, site.local) if isinstance(value, gast.Call) else None
    stem = getattr(value, "attr", "t") if found is None else f"{found.name.strip('_')}_value"
    spelled = site.facts.names.fresh(stem)
    before.append(at(assign(spelled, value), where))
    site.facts.origin.foreign[before[-1]] = None
    kind = site.facts.kinds.of_expressions.get(value)
    if kind is not None:
        site.facts.kinds.named[spelled] = kind
    return at(name(spelled), value)


def _changes_what_is_read(tree: Node, call: Node, value: Node, site: Site) -> bool:
    """Whether a nested function writes into arrays, or binds a name that its expression reads beside it.

    Other calls are written out before the statement as well, in their order.
    """
    if not changes_outside(tree, site.facts) or is_straight(tree):
        return changes_outside(tree, site.facts)
    if any(is_write(node) for node in statements(tree.body)):
        return True
    inside = {id(n) for n in walk(call)}
    read = {n.id for n in find_nodes(value, gast.Name) if id(n) not in inside}
    calls = [n for n in find_nodes(value, gast.Call) if id(n) not in inside]
    found = [called_by(one, site.facts, site.local) for one in calls]
    trees = [one.tree for one in found if one is not None and one.tree is not None]
    kept = [one for one in trees if is_straight(one) or not changes_outside(one, site.facts)]
    read |= {n.id for one in kept for n in find_nodes(one, gast.Name)}
    return bool(read & outer_changes(tree, site.facts))


def _is_computed_first(call: Node, value: Node) -> bool:
    """Whether nothing is computed in an expression before a call: a name before it shows what the call changes."""
    if value is call:
        return True
    if isinstance(value, gast.IfExp | gast.BoolOp | gast.Lambda | gast.ListComp | gast.GeneratorExp | gast.DictComp):
        return False
    for part in children(value):
        if any(n is call for n in walk(part)):
            return _is_computed_first(call, part)
        if not isinstance(part, gast.Name | gast.Constant | gast.operator | gast.unaryop | gast.expr_context):
            plain = (
                isinstance(value, gast.Call)
                and part is value.func
                and isinstance(getattr(part, "value", None), gast.Name)
            )
            if not plain:
                return False
    return False


def _is_apart(seen: set[str], call: Node, value: Node, facts: Facts) -> bool:
    """Whether a call changes lists and dicts alone that nothing else in its expression reads."""
    inside = {id(n) for n in walk(call)}
    read = {n.id for n in find_nodes(value, gast.Name) if id(n) not in inside}
    kinds = [facts.kinds.of_names.get(one, facts.kinds.named.get(one, UNKNOWN)) for one in sorted(seen)]
    return not seen & read and all(kind.tag in ("list", "dict") for kind in kinds)


def reason_of(call: Node, function: object, site: Site, *, performed: bool = False) -> str:
    """The reason; an empty string for a call that is not written out. `performed` if its result is not used."""
    given = [*call.args, *(w.value for w in call.keywords)]
    if any(_is_function(item, site) for item in given):
        return "takes a function"
    if is_composition(function) and not any(
        isinstance(n, gast.Name) and n.id in site.local for item in given for n in walk(item)
    ):
        return ""  # of constants
    if goes_through(function) and _flows(given, site):
        return "goes through what it is given, of which the text around knows more"
    if _takes_objects(call, given, site):
        return "takes or gives an object that is taken apart"
    if site.facts.request.generated and any(isinstance(item, gast.Tuple) for item in given):
        return "is the rule of a user, with the primals of a call"
    if changed_by(call, site, performed=performed):
        return "writes into its arguments"
    if _asks_owner(call, function, site):
        return "calls methods of an object that it gets"
    if site.facts.module.is_packed(function):
        return "takes `*args`"
    if site.is_of(function, lambda tree: bool(set(parameters(tree)).intersection(RESERVED))):
        return "has a parameter that goes by the name of a function of Python"
    several = site.is_of(function, lambda tree: tree.args.vararg is not None or tree.args.kwarg is not None)
    return "takes `*args`" if several else ""


def _takes_objects(call: Node, given: list[Node], site: Site) -> bool:
    """Whether a call takes or gives objects that are dicts or tuples here: the function that it calls knows them so."""
    apart, known = site.facts.kinds.apart, site.facts.kinds
    kinds = [known.of_expressions.get(one, known.named.get(getattr(one, "id", ""))) for one in (call, *given)]
    return bool(apart) and any(kind is not None and holds_object(kind, apart) for kind in kinds)


def _is_function(item: Node, site: Site) -> bool:
    """Whether an argument is a function, or an object by its name; an object that another holds is one to ask."""
    if not isinstance(item, gast.Name | gast.Attribute | gast.Call):
        return False
    found = function_of(item, site.facts, site.local)
    return found is not None and (found.whole is None or isinstance(item, gast.Name))


def changed_by(call: Node, site: Site, *, performed: bool) -> list[Node]:
    """The arguments that a call changes; `u *= s` of a parameter is meant to where the call is made for its effect."""
    return Effects(site.facts, augments=performed).arguments(call, site.facts, site.local)


def _asks_owner(call: Node, function: object, site: Site) -> bool:
    """Whether a function calls something of a class, or of an object of the module, that is its argument."""
    owners = [k for k, item in enumerate(call.args) if as_owner("", item, site.facts, site.local) is not None]
    if not owners:
        return False
    tree = site.facts.module.source(function)[0].tree
    names = given_by_place(tree)
    asked = {names[k] for k in owners if k < len(names)}
    called = [n.func for s in tree.body for n in find_nodes(s, gast.Call)]
    by_super = any(getattr(getattr(getattr(one, "value", None), "func", None), "id", "") == "super" for one in called)
    return (by_super and 0 in owners) or any(getattr(getattr(one, "value", one), "id", "") in asked for one in called)


def inline_calls(function: Node, facts: Facts) -> Node:
    """Write the bodies of called functions in place of the calls, where a call of a derivative would not do.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x, c):\\n    def g(a):\\n        return a * c\\n    return g(x) + 1.0"
    >>> print(explain_text(text, after="inline_calls"))
    def f(x, c):
        return x * c + 1.0
    """
    if facts.module is None:
        return function
    bound = {one for node in statements(function.body) for one in stores(node)}  # they may mean something else there
    for parameter, kind in inner_kinds(facts.kinds.of_names):
        known = of_argument(parameter, kind)
        if known is not None and not (kind.tag == "function" and parameter in bound):
            facts.names.functions[parameter] = known
    local = own_names(function)
    calls = [n for node in function.body for n in find_nodes(node, gast.Call)]
    if not facts.names.functions and not facts.module.inline and not any(_has_source(c, facts, local) for c in calls):
        if calls and not facts.request.generated:
            check_outside(function, facts)
        return function
    facts.namespace = Overlay(facts.namespace, read=read_alone(facts.source.tree))
    own = facts.request.generated
    facts.resolution.doubtful = None if own else doubtful_write(facts.source.tree, facts)
    varied = frozenset(varied_names(function, facts, local))
    site = Site(facts, local, (id(facts.source.tree),), expand_block, held_functions, varied)
    function.body = expand_block(function.body, site)
    held_functions(function, site)
    if not own:
        check_asked(function, site)
    check_given(function, facts, local)
    if not own:
        check_outside(function, facts)
    if facts.request.generated and not own and facts.resolution.doubtful is not None:
        raise facts.refuse(
            facts.resolution.doubtful,
            "E5010",
            "a second derivative goes through a derivative and through an array that changes",
            "make the array by `np.zeros`, fill it, and give it a second name after that; or build it by np.stack",
        )
    return function


def _has_source(call: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a call is one of a function that is written in Python, or of a method."""
    found = called_by(call, facts, local)
    if handed_of(call, facts, local) is not None:
        return True
    return found is not None and (
        found.binding is None or rule_of(found.called) is None or not _is_known(call.func, found, facts, local)
    )


def _is_known(node: Node, found: Function, facts: Facts, local: frozenset[str]) -> bool:
    """Whether the rest of the pipeline finds a function by what its call says: a global name, as it is."""
    if isinstance(node, gast.Name) and node.id in facts.names.functions:
        return False  # a second name of a function, whatever the module has by that name
    return is_ordinary(found) and binding_of(node, facts, local) is not None


def expand_block(block: Block, site: Site) -> Block:
    """A block with its calls written out."""
    made: Block = []
    for node in block:
        before: Block = []
        if isinstance(node, gast.If | gast.For | gast.Assign | gast.AugAssign | gast.Return | gast.AnnAssign):
            ordered = [] if isinstance(getattr(node, "value", None), gast.IfExp) else _in_sequence(node, site)
            if ordered:
                made += expand_block([*ordered, node], site)
                continue
        if isinstance(node, COMPOUND):
            check_order(getattr(node, "test", None) if isinstance(node, gast.While) else None, site)
            if isinstance(node, gast.While) and any(_is_nested(n, site) or hands(n, site) for n in walk(node.test)):
                raise site.facts.refuse(
                    node.test, "E5005", "a nested function in the test of this `while`", "use `while True`, and `break`"
                )
            if isinstance(node, gast.If):
                node.test = _expand(node.test, node, before, site)
            elif isinstance(node, gast.For):
                node.iter = _expand(node.iter, node, before, site)
            node.body = expand_block(node.body, site)
            node.orelse = expand_block(getattr(node, "orelse", None) or [], site)
        elif isinstance(node, gast.Assign | gast.AugAssign | gast.Return | gast.AnnAssign) and node.value is not None:
            if isinstance(node.value, gast.IfExp) and _must(node.value, site):
                made += expand_block(_as_branch(node, site), site)
                continue
            check_order(node.value if isinstance(node.value, gast.IfExp) else None, site)
            places = _places(node)
            for place in places:
                check_order(place.slice, site, alone=False)
            node.value = _expand(node.value, node, before, site)
            for place in places:
                place.slice = _expand(place.slice, node, before, site)
        elif isinstance(node, gast.Assert):
            check_order(node.test, site, alone=False)
            node.test = _expand(node.test, node, before, site)
        elif isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
            if _is_procedure(node.value, site):
                made += _inline_procedure(node, site)
                continue
            for argument in node.value.args:
                check_order(argument, site)
            node.value.args = [_expand(argument, node, before, site) for argument in node.value.args]
        if before:
            site.facts.origin.foreign[node] = None
        made += [*before, node]
    return made


def _places(node: Node) -> list[Node]:
    """The parts into which a statement stores, indices and all."""
    targets = node.targets if isinstance(node, gast.Assign) else [getattr(node, "target", None)]
    return [n for t in targets if t is not None for n in find_nodes(t, gast.Subscript)]


def _is_nested(node: Node, site: Site) -> bool:
    return isinstance(node, gast.Call) and getattr(node.func, "id", "") in site.facts.names.functions


def _as_branch(node: Node, site: Site) -> Block:
    """`y = g(x) if c else e` as an `if`; `return` of such a value returns a name."""
    held = site.facts.names.fresh("chosen")
    sides = [[at(assign(held, side), node)] for side in (node.value.body, node.value.orelse)]
    branch = at(gast.If(node.value.test, *sides), node)
    node.value = at(name(held), node.value)
    for made in (*sides[0], *sides[1], branch, node):
        site.facts.origin.foreign[made] = None
    return [branch, node]


def _must(value: Node, site: Site) -> bool:
    """Whether some call in an expression has to be written out."""
    calls = find_nodes(value, gast.Call)
    handed = any(handed_of(n, site.facts, site.local) for n in calls)
    return handed or any(_is_written_out(n, site) or made_by(n, site.facts, site.local) for n in calls)


def _is_procedure(call: Node, site: Site) -> bool:
    """Whether a call whose result is not used is one of a function that may write: not of `print`."""
    found = called_by(call, site.facts, site.local)
    if found is None:
        return False
    return found.tree is not None or bool(changed_by(call, site, performed=True))


def _inline_procedure(node: Node, site: Site) -> Block:
    """The statements of a procedure that is called for what it writes."""
    before: Block = []
    value = _expand(node.value, node, before, site)
    if value is node.value:
        raise site.facts.refuse(
            node, "E5005", "a recursive function that writes into its arguments is not accepted", "write it as a loop"
        )
    return before


def _expand(value: Node, where: Node, before: Block, site: Site) -> Node:
    if isinstance(value, gast.Lambda | gast.JoinedStr):
        return value
    value = value_of(value, site)
    derived = derived_call(value, where, before, site) if isinstance(value, gast.Call) else None
    if derived is None and made_by(value, site.facts, site.local):
        if function_of(value, site.facts, site.local) is not None:
            return value  # a function, as an argument of another
        raise not_known(value, site.facts)
    if derived is not None:
        value.args = [_expand(argument, where, before, site) for argument in value.args]
        for word in value.keywords:
            word.value = _expand(word.value, where, before, site)
        site.facts.origin.foreign[where] = None
        _give_bound(value, derived, site)
        return written_out(value, derived, where, before, site) if _is_written_out(value, site, derived) else value
    if isinstance(value, gast.IfExp | gast.BoolOp):
        if not _must(value, site):
            for call in [n for n in find_nodes(value, gast.Call) if _is_local(n.func, site)]:
                _give_bound(call, site.facts.names.functions[call.func.id], site)
                site.facts.origin.foreign[where] = None
            return value
        if isinstance(value, gast.IfExp):
            return _name_conditional(value, where, before, site)
        if not any(_must(item, site) for item in value.values[1:]):
            value.values[0] = _expand(value.values[0], where, before, site)
            return value
        return _name_condition(value, where, before, site)

    def expand(part: Node) -> Node:
        made = _expand(part, where, before, site)
        _keep_kind(part, made, site)
        return made

    rewrite_parts(value, expand)
    if not isinstance(value, gast.Call):
        return value
    found = called_by(value, site.facts, site.local)
    if found is None:
        return value
    if _is_local(value.func, site) or not _is_known(value.func, found, site.facts, site.local):
        _give_bound(value, found, site)
        site.facts.origin.foreign[where] = None
    hand_over(value, where, site)
    performed = isinstance(where, gast.Expr) and where.value is value
    with site.facts.calling(value if "lineno" in value.__dict__ else where):
        whole = _is_written_out(value, site, found, performed)
        return written_out(value, found, where, before, site) if whole else value


def _keep_kind(call: Node, made: Node, site: Site) -> None:
    """What a call gives is of the kind of the call: `M(m.w)` in the place of `m.copy()` is an object of M."""
    kind = site.facts.kinds.of_expressions.get(call)
    if made is call or kind is None or made in site.facts.kinds.of_expressions:
        return
    if kind.tag != "object" and not holds_object(kind, site.facts.kinds.apart):
        return
    site.facts.kinds.of_expressions[made] = kind
    known = of_argument(made.id, kind) if isinstance(made, gast.Name) else None
    if known is not None and made.id in site.local:
        site.facts.names.functions.setdefault(made.id, known)


def _name_conditional(value: Node, where: Node, before: Block, site: Site) -> Node:
    """A conditional expression inside of another one: its value gets a name."""
    held = site.facts.names.fresh("chosen")
    bind = at(assign(held, value), where)
    site.facts.origin.foreign[bind] = None
    before += expand_block([bind], site)
    return at(name(held), value)


def _name_condition(value: Node, where: Node, before: Block, site: Site) -> Node:
    """`a and f(x)` as a name: `chosen = a`, and `if chosen: chosen = f(x)`, so that f is called only if a holds."""
    held = site.facts.names.fresh("chosen")
    rest = value.values[1] if len(value.values) == 2 else at(gast.BoolOp(value.op, value.values[1:]), value)
    asked = name(held) if isinstance(value.op, gast.And) else gast.UnaryOp(gast.Not(), name(held))
    first, later = at(assign(held, value.values[0]), where), at(assign(held, rest), where)
    branch = at(gast.If(asked, [later], []), where)
    for made in (first, later, branch):
        site.facts.origin.foreign[made] = None
    before += expand_block([first, branch], site)
    return at(name(held), value)


def _is_local(node: Node, site: Site) -> bool:
    return isinstance(node, gast.Name) and node.id in site.facts.names.functions


def _give_bound(call: Node, found: Function, site: Site) -> None:
    """Put arguments that a function has already before those of the call, and call a global function by a name."""
    own = [*map(copy, found.args)]
    if found.cls is not None and (found.binding is None or found.binding.object is not found.cls):  # else it is called
        own = [name(site.alias(found.cls.__name__, Binding("object", found.cls)))]
    call.args = [*own, *call.args]
    given = {word.arg for word in call.keywords}
    call.keywords += [gast.keyword(key, copy(value)) for key, value in found.words.items() if key not in given]
    if found.binding is not None:
        spelled = site.alias(found.name, found.binding)
        call.func = at(name(spelled), call.func)


def _is_written_out(call: Node, site: Site, found: Function | None = None, performed: bool = False) -> bool:
    found = found or called_by(call, site.facts, site.local)
    if found is None:
        return False
    if found.tree is not None or found.wanted is not None:
        return True
    if found.binding is not None and rule_of(found.called) is not None:
        return False
    operation = operation_of(call, site.facts, site.local)
    if operation is None or operation.kind != "callee":
        return False
    if is_over_rows(call, site.facts):
        return True
    of_numpy = str(getattr(operation.function, "__module__", "")).partition(".")[0] == "numpy"
    if not of_numpy and (site.facts.module.inline or is_short(call, found.name, operation, site)):
        return True
    reason = reason_of(call, operation.function, site, performed=performed)
    if reason and operation.checkpointed and site.facts.recomputes:
        raise site.facts.refuse(
            call,
            "E5025",
            f"the checkpointed function {reason}, and so has no derivative of its own",
            "call it without `checkpoint`, or checkpoint what it calls",
        )
    return bool(reason)
