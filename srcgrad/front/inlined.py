"""Calls that are written out in place: of nested functions, of procedures that fill arrays, of functions that get
functions, of short ones for kernels; all of them in a derivative that will be differentiated again."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.brief import is_short
from srcgrad.front.derived import derived_call, value_of
from srcgrad.front.functions import Function, called_by, function_of, is_ordinary, of_argument
from srcgrad.front.handed import hand_over, handed_of, hands
from srcgrad.front.hygiene import read_alone
from srcgrad.front.mentioned import check_given
from srcgrad.front.mixed import doubtful_write
from srcgrad.front.namespace import Binding
from srcgrad.front.order import check_order
from srcgrad.front.outer_state import check_outside
from srcgrad.front.overlay import Overlay
from srcgrad.front.plain import own_names
from srcgrad.front.reasons import changed_by, reason_of
from srcgrad.front.resolve import binding_of, operation_of
from srcgrad.front.varied import varied_names
from srcgrad.front.wanted import made_by, not_known
from srcgrad.front.written_out import Site, written_out
from srcgrad.kinds import contained
from srcgrad.rules import rule_of
from srcgrad.trees import COMPOUND, Block, Node, assign, at, copy, name, walk


def inlined(function: Node, facts: Facts) -> Node:
    """Write the bodies of called functions in place of the calls, where a call of a derivative would not do.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x, c):\\n    def g(a):\\n        return a * c\\n    return g(x) + 1.0"
    >>> print(explain_text(text, after="inlined"))
    def f(x, c):
        return x * c + 1.0
    """
    if facts.module is None:
        return function
    for parameter, kind in contained(facts.kinds):
        known = of_argument(parameter, kind)
        if known is not None:
            facts.functions[parameter] = known
    local = own_names(function)
    calls = [n for node in function.body for n in walk(node) if isinstance(n, gast.Call)]
    if not facts.functions and not facts.module.inline and not any(_has_source(c, facts, local) for c in calls):
        return function
    facts.namespace = Overlay(facts.namespace, read=read_alone(facts.source.tree))
    own = facts.generated
    facts.doubtful = None if own else doubtful_write(facts.source.tree)
    varied = frozenset(varied_names(function, facts, local))
    function.body = expanded(function.body, Site(facts, local, (id(facts.source.tree),), expanded, varied))
    check_given(function, facts, local)
    if not own:
        check_outside(function, facts)
    if facts.generated and not own and facts.doubtful is not None:
        raise facts.refuse(
            facts.doubtful,
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
    if isinstance(node, gast.Name) and node.id in facts.functions:
        return False  # a second name of a function, whatever the module has by that name
    return is_ordinary(found) and binding_of(node, facts, local) is not None


def expanded(block: Block, site: Site) -> Block:
    """A block with its calls written out."""
    made: Block = []
    for node in block:
        before: Block = []
        if isinstance(node, COMPOUND):
            check_order(getattr(node, "test", getattr(node, "iter", None)), site)
            if isinstance(node, gast.While) and any(_is_nested(n, site) or hands(n, site) for n in walk(node.test)):
                raise site.facts.refuse(
                    node.test, "E5005", "a nested function in the test of this `while`", "use `while True`, and `break`"
                )
            if isinstance(node, gast.If):
                node.test = _expand(node.test, node, before, site)
            elif isinstance(node, gast.For):
                node.iter = _expand(node.iter, node, before, site)
            node.body = expanded(node.body, site)
            node.orelse = expanded(getattr(node, "orelse", None) or [], site)
        elif isinstance(node, gast.Assign | gast.AugAssign | gast.Return | gast.AnnAssign) and node.value is not None:
            if isinstance(node.value, gast.IfExp) and _must(node.value, site):
                made += expanded(_as_branch(node, site), site)
                continue
            check_order(node.value, site, alone=not isinstance(node, gast.AugAssign))
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
                made += _performed(node, site)
                continue
            for argument in node.value.args:
                check_order(argument, site)
            node.value.args = [_expand(argument, node, before, site) for argument in node.value.args]
        if before:
            site.facts.foreign[node] = None
        made += [*before, node]
    return made


def _places(node: Node) -> list[Node]:
    """The parts into which a statement stores, indices and all."""
    targets = node.targets if isinstance(node, gast.Assign) else [getattr(node, "target", None)]
    return [n for t in targets if t is not None for n in walk(t) if isinstance(n, gast.Subscript)]


def _is_nested(node: Node, site: Site) -> bool:
    return isinstance(node, gast.Call) and getattr(node.func, "id", "") in site.facts.functions


def _as_branch(node: Node, site: Site) -> Block:
    """`y = g(x) if c else e` as an `if`; `return` of such a value returns a name."""
    held = site.facts.names.fresh("chosen")
    sides = [[at(assign(held, side), node)] for side in (node.value.body, node.value.orelse)]
    branch = at(gast.If(node.value.test, *sides), node)
    node.value = at(name(held), node.value)
    for made in (*sides[0], *sides[1], branch, node):
        site.facts.foreign[made] = None
    return [branch, node]


def _must(value: Node, site: Site) -> bool:
    """Whether some call in an expression has to be written out."""
    calls = [n for n in walk(value) if isinstance(n, gast.Call)]
    handed = any(handed_of(n, site.facts, site.local) for n in calls)
    return handed or any(_is_written_out(n, site) or made_by(n, site.facts, site.local) for n in calls)


def _is_procedure(call: Node, site: Site) -> bool:
    """Whether a call whose result is not used is one of a function that may write: not of `print`."""
    found = called_by(call, site.facts, site.local)
    if found is None:
        return False
    return found.tree is not None or bool(changed_by(call, site, performed=True))


def _performed(node: Node, site: Site) -> Block:
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
        site.facts.foreign[where] = None
        _give_bound(value, derived, site)
        return written_out(value, derived, where, before, site) if _is_written_out(value, site, derived) else value
    if isinstance(value, gast.IfExp | gast.BoolOp):
        if not _must(value, site):
            return value
        if isinstance(value, gast.IfExp):
            return _chosen(value, where, before, site)
        value.values[0] = _expand(value.values[0], where, before, site)
        for item in value.values[1:]:
            _check_none(item, site)
        return value
    for key in value._fields:
        part = getattr(value, key, None)
        if isinstance(part, list):
            setattr(value, key, [_expand(p, where, before, site) if isinstance(p, gast.AST) else p for p in part])
        elif isinstance(part, gast.AST) and part._fields:
            setattr(value, key, _expand(part, where, before, site))
            _keep_kind(part, getattr(value, key), site)
    if not isinstance(value, gast.Call):
        return value
    found = called_by(value, site.facts, site.local)
    if found is None:
        return value
    if _is_local(value.func, site) or not _is_known(value.func, found, site.facts, site.local):
        _give_bound(value, found, site)
        site.facts.foreign[where] = None
    hand_over(value, where, site)
    performed = isinstance(where, gast.Expr) and where.value is value
    return written_out(value, found, where, before, site) if _is_written_out(value, site, found, performed) else value


def _keep_kind(call: Node, made: Node, site: Site) -> None:
    """What a call gives is of the kind of the call: `M(m.w)` in the place of `m.copy()` is an object of M."""
    kind = site.facts.of.get(call)
    if made is call or kind is None or kind.tag != "object" or made in site.facts.of:
        return
    site.facts.of[made] = kind
    known = of_argument(made.id, kind) if isinstance(made, gast.Name) else None
    if known is not None and made.id in site.local:
        site.facts.functions.setdefault(made.id, known)


def _check_none(item: Node, site: Site) -> None:
    if _must(item, site):
        raise site.facts.refuse(
            item, "E5005", "a call that is made only if what stands before it holds is not accepted", "use an `if`"
        )


def _chosen(value: Node, where: Node, before: Block, site: Site) -> Node:
    """A conditional expression inside of another one: its value gets a name."""
    held = site.facts.names.fresh("chosen")
    bind = at(assign(held, value), where)
    site.facts.foreign[bind] = None
    before += expanded([bind], site)
    return at(name(held), value)


def _is_local(node: Node, site: Site) -> bool:
    return isinstance(node, gast.Name) and node.id in site.facts.functions


def _give_bound(call: Node, found: Function, site: Site) -> None:
    """Put arguments that a function has already before those of the call, and call a global function by a name."""
    own = [*map(copy, found.args)]
    if found.cls is not None:
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
