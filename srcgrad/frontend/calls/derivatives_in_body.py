"""Derivatives that a function takes in its body, brought to calls of functions with a text.

What is captured is given as arguments; so it is of functions that operations are given, `odeint(rhs, y0, t)`, whose
`args` become what they read of the function around. A value that may hold integers is looked at.
"""

from __future__ import annotations

import operator
from functools import partial
from types import FunctionType
from typing import Any  # kinds and functions are arbitrary objects

import gast

from srcgrad.core.bindings import Binding, StaticFunction
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import SCALAR, UNKNOWN, Facts, FunctionNames, Kind
from srcgrad.core.identity import record, replace
from srcgrad.core.namespace import Namespace, Overlay
from srcgrad.core.rules import FunctionArgument, rule_of
from srcgrad.core.source_text import Source, is_as_written
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    children,
    copy,
    find_nodes,
    header,
    holds,
    name,
    names_in,
    own_names,
    parameters,
    parse_tree,
    root,
    statement,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import rewrite, rewrite_statements
from srcgrad.frontend.calls.functions import (
    Function,
    argument_of,
    function_of,
    handed_of,
    made_by,
    not_known,
    place_of,
    pulled_or_pushed,
    wanted_of,
)
from srcgrad.frontend.calls.inline_call import Site
from srcgrad.frontend.calls.nested_functions import without_defaults
from srcgrad.frontend.early_facts import reads_varied
from srcgrad.frontend.functions_with_rules import LIBRARIES
from srcgrad.frontend.rename_variables import rename_own
from srcgrad.frontend.resolve import binding_of
from srcgrad.runtime import check_input, closure


def looked_at(node: Node, stem: str, where: Node, before: Block, site: Site) -> Node:
    """An argument with respect to which a derivative is taken; the statement that looks at it goes to `before`.

    The text of the derivative takes it for a floating number, whose negative is `-w`. An expression that depends on
    no differentiated input gets a name first.
    """
    if isinstance(node, gast.Constant | gast.Tuple | gast.List | gast.Dict | gast.Starred | gast.Lambda):
        return node
    if not _base(node):
        known = site.varied is not None and reads_varied(node, dict.fromkeys(site.varied), site.facts, site.local)
        if known or _is_float(node):
            return node
        held = site.facts.names.fresh(stem)
        before += site.expanded([at(assign(held, node), where)], site)
        node = at(name(held), node)
    spelled = site.alias("check_input", Binding("object", check_input))
    check = at(statement(f"{spelled}(x)", x=copy(node)), where)
    site.facts.origin.foreign[check] = None
    before.append(check)
    return node


def _base(node: Node) -> str:
    """The name of which an expression is a part, or which it is; empty for any other expression."""
    while isinstance(node, gast.Subscript | gast.Attribute):
        node = node.value
    return node.id if isinstance(node, gast.Name) else ""


def _is_float(node: Node) -> bool:
    """Whether the operators of an expression make it one of floats: a division, a literal among its operands."""
    if isinstance(node, gast.UnaryOp):
        return _is_float(node.operand)
    if isinstance(node, gast.BinOp):
        return isinstance(node.op, gast.Div) or _is_float(node.left) or _is_float(node.right)
    return isinstance(node, gast.Constant) and isinstance(node.value, float | complex)


def without_checks(block: Block, facts: Facts) -> Block:
    """A block without looks at what depends on a differentiated input: that holds floating numbers."""

    def kept(node: Node) -> Block:
        return [] if node in facts.resolution.effects and _looks_at(node.value, facts) else [node]

    return rewrite_statements(block, kept)


def _looks_at(call: Node, facts: Facts) -> bool:
    found = binding_of(call.func, facts, facts.names.local) if call.args else None
    if found is None or found.kind != "object" or found.object is not check_input:
        return False
    return _base(call.args[0]) in facts.activity.varied


@record(frozen=True, eq=False)
class ClosedFunction:
    """A nested function as one of its own: what it reads of the function around it are further parameters."""

    source: Source
    namespace: Namespace


def derived_call(call: Node, where: Node, before: Block, site: Site) -> Function | None:
    """The function with a text for the call of a derivative, whose arguments are brought to that function's form.

    None for any other call. Statements that look at arguments go to `before`.
    """
    found = _derivative_called(call, site)
    if found is None or found.wanted is None:
        if found is None and made_by(call.func, site.facts, site.local):
            raise not_known(call, site.facts)
        return None
    vectors = _vectors(call, found, site.facts)
    try:
        made, seeds, asked = _function_of_derivative(found, call, site)
    except DifferentiationError as error:
        if error.place is not None:
            raise
        raise site.facts.refuse(call, error.code, error.message, error.remedy) from error
    if vectors and len(vectors) != len(seeds):
        raise site.facts.refuse(
            call, "E5014", f"{len(vectors)} values for {', '.join(seeds)}", "give one for each of them"
        )
    shown = {value: looked_at(value, parameter, where, before, site) for parameter, value in asked.items()}
    call.args = [shown.get(value, value) for value in call.args]
    call.keywords = [gast.keyword(word.arg, shown.get(word.value, word.value)) for word in call.keywords]
    call.keywords += [gast.keyword(seed, vector) for seed, vector in zip(seeds, vectors, strict=False)]
    return made


def _derivative_called(call: Node, site: Site) -> Function | None:
    """The derivative that is called; `jvp(g, (x,), (v,))` becomes a call with the arguments x."""
    facts, local = site.facts, site.local
    if made_by(call, facts, local) != "forward":
        return function_of(call.func, facts, local)
    given = call.args[1:3]
    words = {word.arg: word.value for word in call.keywords if word.arg in ("primals", "tangents")}
    given += [words[key] for key in ("primals", "tangents")[len(given) :] if key in words]
    call.keywords = [word for word in call.keywords if word.arg not in words]
    shaped = all(isinstance(g, gast.Tuple | gast.List) for g in given)
    if len(given) != 2 or not shaped or len(given[0].elts) != len(given[1].elts):
        raise facts.refuse(
            call,
            "E5005",
            "the arguments of `jvp` are not written as two tuples of one length",
            "write `jvp(g, (x,), (v,))`",
        )
    of = function_of(call.args[0], facts, local)
    if of is None:
        raise not_known(call, facts)
    wanted = wanted_of(call, "forward", of, facts)
    pairs = list(enumerate(zip(given[0].elts, given[1].elts, strict=True)))
    real = tuple(k for k, (one, _) in pairs if not _is_discrete(one))
    places = tuple(k for k, (one, moved) in pairs if k in real and not _is_nothing(moved)) or real
    call.func = at(name("jvp"), call.func)
    call.args, call.keywords = list(given[0].elts), []
    tangents = tuple(given[1].elts[k] for k in places)
    return Function(f"{of.name}_jvp", wanted=replace(wanted, wrt=places, single=False, tangents=tangents))


def _is_discrete(node: Node) -> bool:
    """Whether an argument is a literal that has no derivative."""
    return isinstance(node, gast.Constant) and not isinstance(node.value, float)


def _is_nothing(tangent: Node) -> bool:
    """Whether a tangent is the literal None, 0 or 0.0: its argument, perhaps an integer, stays what it is."""
    return isinstance(tangent, gast.Constant) and tangent.value in (None, 0)


def _vectors(call: Node, found: Function, facts: Facts) -> list[Node]:
    """Seeds and tangents, taken out of the arguments of a call."""
    wanted = found.wanted
    assert wanted is not None, "the caller has looked"
    if wanted.mode == "forward":
        return list(wanted.tangents)
    if wanted.mode in ("pull", "push"):
        taken, call.args = list(call.args), []
        return taken
    if wanted.mode != "hvp":
        return []
    if not call.args:
        raise facts.refuse(call, "E5014", "the vector is missing", "give it after the function's arguments")
    last = call.args.pop()
    if wanted.single:
        return [last]
    if not isinstance(last, gast.Tuple | gast.List):
        raise facts.refuse(last, "E5005", "vectors that are not written as a tuple", "write `(v, w)`")
    return list(last.elts)


def _function_of_derivative(
    found: Function, call: Node, site: Site
) -> tuple[Function, tuple[str, ...], dict[str, Node]]:
    """A derivative as a function with a text, the names of its seeds, and the arguments that it is with respect to."""
    wanted = found.wanted
    assert wanted is not None, "the caller has looked"
    of = wanted.of
    if of.wanted is not None:
        of, _, _ = _function_of_derivative(of, call, site)
    if of.tree is not None:
        of = close_function(of, site)
    facts = site.facts
    called = facts.module.open_operation(of.called)
    source = facts.module.callee(called, call, facts)
    own = [p for p in parameters(source.tree) if p not in of.words]
    wrt = facts.module.names_of(wanted.wrt, own[len(of.args) :])
    given = _arguments_by_name(call, found, of, source.tree)
    for parameter in wrt:
        if _is_whole(given.get(parameter)):
            raise facts.refuse(given[parameter], "E5002", f"`{parameter}` is an integer", "write it as a float: `2.0`")
    kinds = {p: k for p, v in given.items() if (k := _kind(v, facts)) is not None}
    made = facts.module.derivative_function(
        called, wanted.mode, wrt, kinds, single=wanted.single, auxiliary=wanted.auxiliary
    )
    binding = Binding("object", made.function)
    if isinstance(made.function, StaticFunction):
        binding = Binding("function", static=made.function)
    args = (*of.args, *found.args)
    asked = {parameter: given[parameter] for parameter in wrt if parameter in given}
    whole = replace(of, name=source_name(made.function), binding=binding, args=args, tree=None, owner=None)
    return whole, made.seeds, asked


def source_name(function: Any) -> str:
    """The name under which a function is defined."""
    return str(getattr(function, "qualname", None) or function.__name__)


def _arguments_by_name(call: Node, found: Function, of: Function, tree: Node) -> dict[str, Node]:
    """The arguments of a call by the parameters of the function whose derivative is called."""
    positional = [a.id for a in tree.args.posonlyargs + tree.args.args]
    arguments = [*of.args, *found.args, *call.args]
    return dict(zip(positional, arguments, strict=False)) | of.words | {w.arg: w.value for w in call.keywords}


def _is_whole(node: Node | None) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) in (int, bool)


def _kind(node: Node, facts: Facts) -> Kind | None:
    """What is known of an argument: a literal, or an argument of the function around that is not bound anew."""
    if isinstance(node, gast.Constant) and type(node.value) in (int, float):
        return SCALAR
    if isinstance(node, gast.Tuple | gast.List | gast.Dict):
        return _of_display(node)
    if not isinstance(node, gast.Name):
        return None
    bound = [s for s in statements(facts.source.tree.body) if node.id in stores(s)]
    if not bound:
        return facts.kinds.of_names.get(node.id)
    shown = getattr(bound[0], "value", None) if len(bound) == 1 and target(bound[0]) == node.id else None
    return _of_display(shown) if isinstance(shown, gast.Tuple | gast.List | gast.Dict) else None


def _of_display(node: Node) -> Kind | None:
    """The kind of a container whose keys are written out; of its parts nothing is known."""
    if isinstance(node, gast.Dict):
        keys = [getattr(key, "value", None) for key in node.keys]
        return Kind("dict", None, tuple((key, UNKNOWN) for key in keys)) if None not in keys else None
    tag = "tuple" if isinstance(node, gast.Tuple) else "list"
    return Kind(tag, None, tuple((place, UNKNOWN) for place, _ in enumerate(node.elts)))


def close_function(found: Function, site: Site) -> Function:
    """A nested function with what it captures as further parameters, which are given by name."""
    owner = found.owner
    assert owner is not None and found.tree is not None, "a nested function has an owner"
    tree = copy(found.tree)
    if any(default is not None and not isinstance(default, gast.Constant) for default in _defaults(tree)):
        raise site.facts.refuse(
            tree, "E5005", "a nested function with computed defaults is differentiated", "read the value in its body"
        )
    namespace = Overlay(owner.namespace)
    captured: dict[str, None] = {}
    before: list[Node] = []
    _capture(tree, frozenset(), owner, captured, before, namespace, {})
    worded = {word.arg for call in find_nodes(site.facts.source.tree, gast.Call) for word in call.keywords}
    for each in [one for one in captured if one in own_names(tree) and one not in worded]:
        rename_own(tree, each, site.facts.names.fresh(each))  # what goes along reads another variable of that name
    tree.body = [*before, *tree.body]
    own = own_names(tree)
    for each in captured:
        if each in own:
            raise site.facts.refuse(
                found.tree, "E5005", f"`{each}` means two things where a derivative is taken", "give it another name"
            )
        parameter = gast.Name(id=each, ctx=gast.Param(), annotation=None, type_comment=None)
        tree.args.kwonlyargs.append(at(parameter, tree))
        tree.args.kw_defaults.append(None)
    source = replace(
        owner.source,
        tree=tree,
        name=tree.name,
        first=tree.lineno,
        made=found.tree in owner.origin.foreign,
        respelled=owner.source.respelled or not is_as_written(tree, captured, owner.source.lines),
    )
    words = {each: name(each) for each in captured}
    return Function(
        found.name, binding=Binding("object", ClosedFunction(source, namespace)), args=found.args, words=words
    )


def held_functions(function: Node, site: Site) -> None:
    """Spell nested functions that are values as partial applications of functions that stand outside.

    What such a function reads of the one around it is read where it becomes a value, so it may not be bound anew then.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x, w):\\n    h = [lambda t: t * w]\\n    return h[0](x)"
    >>> print(explain_text(text, after="inline_calls"))
    def f(x, w):
        h = [closure(inner_1, w=w)]
        return h[0](x)
    """
    known = site.facts.names.functions.items()
    inside = {spelled: one for spelled, one in known if one.tree is not None or one.spelled is not None}
    order = statements(function.body) if inside else []
    for place, node in enumerate(order):
        parts = [part for part in header(node) if any(n.id in inside for n in find_nodes(part, gast.Name))]
        if not parts or isinstance(node, gast.FunctionDef):
            continue
        kept = {id(one) for part in parts for n in walk(part) for one in _looked_into(n)}

        def held(part: Node, place: int = place, kept: set[int] = kept) -> Node:
            read = isinstance(part, gast.Name) and part.id in inside and isinstance(part.ctx, gast.Load)
            if read and id(part) not in kept:
                found = inside[part.id]
                if found.spelled is None:
                    return _as_partial(part, found, function, order, place, site)
                site.facts.origin.foreign[order[place]] = None
                part = at(copy(found.spelled), part)
            if _is_partial(part, site) and getattr(part.args[0], "id", "") in inside:
                whole = _as_partial(part.args[0], inside[part.args[0].id], function, order, place, site)
                part.keywords += whole.keywords if isinstance(whole, gast.Call) else []
                part.args[0] = whole.args[0] if isinstance(whole, gast.Call) else whole
            return part

        rewrite(node, held)


def _is_partial(part: Node, site: Site) -> bool:
    """Whether an expression is a partial application."""
    found = binding_of(part.func, site.facts, site.local) if isinstance(part, gast.Call) and part.args else None
    return found is not None and found.object is partial


def _looked_into(node: Node) -> list[Node]:
    """The parts of an expression of which more is asked than that they are kept: a list does no more than keep them."""
    if isinstance(node, gast.Call):
        keeps = isinstance(node.func, gast.Attribute) and node.func.attr == "append"
        return [node.func, *([] if keeps else [*node.args, *(word.value for word in node.keywords)])]
    if isinstance(node, gast.Compare):
        return [node.left, *node.comparators]
    return [one for one in node.keys if one is not None] if isinstance(node, gast.Dict) else []


def _as_partial(read: Node, found: Function, function: Node, order: list[Node], place: int, site: Site) -> Node:
    """`closure(g, a=a)` for a nested function g that reads a."""
    tree = found.tree
    assert tree is not None, "a nested function has a tree"
    given: dict[str, Node] = {}
    if any(holds(s, gast.Nonlocal, gast.Global) for s in tree.body) or found.args or found.words:
        return read
    opened = replace(found, tree=without_defaults(tree, given))
    whole = close_function(opened, site)
    if len(site.above) > 1 and not set(whole.words) <= own_names(function):
        return read  # of a function around, which may bind it anew
    for one in [key for key in whole.words if key not in site.facts.names.steady]:
        again = _bound_anew(one, order, place)
        if again is not None:
            raise site.facts.refuse(
                read,
                "E5031",
                f"a function that is kept reads `{one}`, which line {again.lineno} may bind anew before it is called",
                f"give it as a default, `{one}={one}`, if its value now is meant; or use another name there",
            )
    site.facts.origin.foreign[order[place]] = None
    assert whole.binding is not None, "a function that is closed has a name of its own"
    spelled = name(site.alias(found.name, whole.binding))
    words = [gast.keyword(key, copy(value)) for key, value in {**given, **whole.words}.items()]
    maker = name(site.alias("closure", Binding("object", closure)))
    return at(gast.Call(maker, [spelled], words), read)


def _bound_anew(one: str, order: list[Node], place: int) -> Node | None:
    """A statement that may bind a name once a function that reads it has become a value."""
    around = [statements([node]) for node in order[:place] if isinstance(node, gast.For | gast.While)]
    later = [node for block in around if any(n is order[place] for n in block) for node in block]
    return next((node for node in (*later, *order[place:]) if one in stores(node)), None)


_ASKS = (id, type, getattr, hasattr, vars, dir, operator.is_, operator.is_not, operator.attrgetter)


def check_asked(function: Node, site: Site) -> None:
    """Refuse what asks a function that is kept who it is, or for an attribute: a closure stands there in its place.

    What it is equal to and of which classes it is says the closure itself.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x, w):\\n    h = [lambda t: t * w]\\n    return h[0](x) * len(h[0].__name__)"
    >>> explain_text(text, after="inline_calls")
    Traceback (most recent call last):
    ...
    srcgrad.core.errors.DifferentiationError: E5031 function that only a run knows: a function that is kept is asked \
for its name, its class or who it is
      at <stdin>:3:26
              return h[0](x) * len(h[0].__name__)
                                   ^^^^^^^^^^^^^
      what to do: keep a name or a number with each function, and ask that
    """
    part = _asking(function, site, frozenset(), frozenset())
    if part is not None:
        raise site.facts.refuse(
            part,
            "E5031",
            "a function that is kept is asked for its name, its class or who it is",
            "keep a name or a number with each function, and ask that",
        )


def _asking(function: Node, site: Site, given: frozenset[str], above: frozenset[int]) -> Node | None:
    """The part of a function that asks, or calls what does; the parameters in `given` may be or hold closures."""
    parts = [part for node in function.body for part in walk(node)]
    calls = [part for part in parts if isinstance(part, gast.Call)]
    made = {id(call) for call in calls if _called_object(call, site) is closure or _gives(call, site, above)}
    opened = {id(call) for call in calls if isinstance(_inside_of(call, site), ClosedFunction)}
    if not (made or opened or given):
        return None
    local = own_names(function)
    known, more = ((ids, _reached(parts, ids, given, local)) for ids in (made, made | opened))
    for part in parts:
        if _asks(part, known, more, site) or (isinstance(part, gast.Call) and _hands_on(part, *known, site, above)):
            return part
    return None


def _reached(
    parts: list[Node], known: set[int], given: frozenset[str], local: frozenset[str], through: set[int] | None = None
) -> set[str]:
    """The names that may be or hold what is in `known` or `given`."""
    names, count = set(given), -1
    while count < len(names):
        count = len(names)
        for part in parts:
            names.update(local.intersection(_shown_to(part, known, names, through)))
    return names


def _hands_on(call: Node, known: set[int], names: set[str], site: Site, above: frozenset[int]) -> bool:
    """Whether a call hands a closure to a function that asks."""
    if not any(_may_hold(one, known, names) for one in (*call.args, *(word.value for word in call.keywords))):
        return False
    inner = _inside_of(call, site)
    callee = _called_object(call, site) if inner is None else inner
    opened = _opened(callee, site, above)
    if opened is None:
        return False
    tree, below = opened
    asked = frozenset(parameters(tree))
    if inner is not None:
        asked = frozenset(word.arg for word in call.keywords if word.arg and _may_hold(word.value, known, names))
    known_of = site.facts.module.asked
    key = (id(callee), asked)
    if key not in known_of:
        known_of[key] = callee, _asking(tree, below, asked, above | {id(callee)}) is not None
    return bool(known_of[key][1])


def _opened(callee: object, site: Site, above: frozenset[int]) -> tuple[Node, Site] | None:
    """The tree of a function of the user that is called, and where that stands."""
    if id(callee) in above or not isinstance(callee, FunctionType | ClosedFunction | StaticFunction):
        return None
    if isinstance(callee, FunctionType) and str(callee.__module__).partition(".")[0] in LIBRARIES:
        return None
    try:
        source, namespace = site.facts.module.source(callee)
    except DifferentiationError:
        return None
    names = FunctionNames(local=own_names(source.tree))
    facts = Facts(source, namespace, site.facts.request, site.facts.module, names)
    return source.tree, replace(site, facts=facts, own=frozenset())


def _gives(call: Node, site: Site, above: frozenset[int]) -> bool:
    """Whether a call of a function of the user gives functions that are defined in it."""
    callee = _called_object(call, site)
    known_of = site.facts.module.asked
    key = (id(callee), None)
    if key not in known_of:
        opened = _opened(callee, site, above)
        if opened is None:
            return False
        known_of[key] = callee, _gives_functions(*opened, above | {id(callee)})
    return bool(known_of[key][1])


def _gives_functions(tree: Node, below: Site, above: frozenset[int]) -> bool:
    """Whether a function gives functions that are defined in it, or in what it calls."""
    parts = [part for node in tree.body for part in walk(node)]
    calls = [part for part in parts if isinstance(part, gast.Call)]
    known = {id(part) for part in parts if isinstance(part, gast.Lambda)}
    known |= {id(one) for one in calls if _gives(one, below, above)}
    through = {id(one) for one in calls if _passes_on(_called_object(one, below), below, above)}
    defined = {part.name for part in parts if isinstance(part, gast.FunctionDef)}
    names = _reached(parts, known, frozenset(defined), own_names(tree), through)
    given = [part.value for part in parts if isinstance(part, gast.Return) and part.value is not None]
    return any(_may_hold(one, known, names, through) for one in given)


def _passes_on(callee: object, site: Site, above: frozenset[int]) -> bool:
    """Whether what is called may give what it is given: a method, a function of the user, a partial application."""
    return callee is None or callee is partial or _opened(callee, site, above) is not None


def _called_object(call: Node, site: Site) -> object:
    """What is called, where that is known."""
    found = binding_of(call.func, site.facts, site.local)
    return None if found is None else found.static or found.object


def _inside_of(call: Node, site: Site) -> object:
    """What is first given to a closure or a partial application."""
    maker = _called_object(call, site)
    makes = bool(call.args) and (maker is closure or maker is partial)
    found = binding_of(call.args[0], site.facts, site.local) if makes else None
    return None if found is None else found.object


def _shown_to(part: Node, known: set[int], names: set[str], through: set[int] | None) -> list[str]:
    """The names that a statement or expression binds to, or puts in, what may be or hold a closure."""
    given: Node | None = None
    places: list[Node] = []
    if isinstance(part, gast.For | gast.comprehension):
        given, places = part.iter, [part.target]
    elif isinstance(part, gast.Assign | gast.AugAssign | gast.AnnAssign | gast.NamedExpr):
        given, places = part.value, getattr(part, "targets", None) or [part.target]
    elif isinstance(part, gast.Match):
        given, places = part.subject, [case.pattern for case in part.cases if case.pattern is not None]
    elif isinstance(part, gast.Call) and isinstance(part.func, gast.Attribute):
        if any(_may_hold(one, known, names, through) for one in (*part.args, *(w.value for w in part.keywords))):
            return [getattr(root(part.func.value), "id", "")]
    if given is None or not _may_hold(given, known, names, through):
        return []
    read = [n for place in places for n in walk(place)]
    return [n.id for n in read if isinstance(n, gast.Name)] + [n.name for n in read if getattr(n, "name", None)]


def _may_hold(part: Node, known: set[int], names: set[str], through: set[int] | None = None) -> bool:
    """Whether the value of an expression may be a closure, or hold one: what a closure gives is none.

    Each call may give what it is given, or only those in `through`.
    """
    if id(part) in known or isinstance(part, gast.Name):
        return id(part) in known or part.id in names
    if isinstance(part, gast.Compare | gast.Constant | gast.Lambda):
        return False
    below: list[Node] = list(children(part))
    if isinstance(part, gast.Call):
        owner = [part.func.value] if isinstance(part.func, gast.Attribute) else []
        words = [word.value for word in part.keywords]
        below = [*owner, *part.args, *words] if through is None or id(part) in through else owner
    elif isinstance(part, gast.Subscript):
        below = [part.value]
    elif isinstance(part, gast.IfExp):
        below = [part.body, part.orelse]
    elif isinstance(part, gast.ListComp | gast.SetComp | gast.GeneratorExp | gast.DictComp):
        below = [part.key, part.value] if isinstance(part, gast.DictComp) else [part.elt]
    return any(_may_hold(one, known, names, through) for one in below)


def _asks(part: Node, made: tuple[set[int], set[str]], opened: tuple[set[int], set[str]], site: Site) -> bool:
    """Whether an expression tells one function that is kept from another one, or a closure from a function."""
    if isinstance(part, gast.Attribute):
        return part.attr in vars(partial) | vars(FunctionType) and _may_hold(part.value, *opened)
    if isinstance(part, gast.Compare):
        sides = [part.left, *part.comparators]
        same = any(isinstance(one, gast.Is | gast.IsNot) for one in part.ops)
        return same and sum(_may_hold(one, *made) for one in sides) > 1
    if not isinstance(part, gast.Call) or not any(_may_hold(one, *opened) for one in part.args):
        return False
    asked = _called_object(part, site)
    if asked is isinstance:
        return _may_hold(part.args[0], *made) and _holds_partial(part.args[-1], site)
    return any(asked is one for one in _ASKS)


def _holds_partial(classes: Node, site: Site) -> bool:
    """Whether `partial` is among the classes that are asked for."""
    read = find_nodes(classes, gast.Name, gast.Attribute)
    return any(
        found is not None and found.object is partial for n in read for found in [binding_of(n, site.facts, site.local)]
    )


def _defaults(tree: Node) -> list[Node]:
    return [*tree.args.defaults, *tree.args.kw_defaults]


def _capture(
    tree: Node,
    bound: frozenset[str],
    owner: Facts,
    captured: dict[str, None],
    before: list[Node],
    namespace: Overlay,
    seen: dict[str, None],
) -> None:
    """Find what a function reads of the functions around it: values, and functions, whose own reads count as well."""
    own = own_names(tree) | bound | {n.name for n in find_nodes(tree, gast.FunctionDef) if n is not tree}
    own |= {p.id for n in find_nodes(tree, gast.Lambda) for p in find_nodes(n.args, gast.Name)}
    for read in [n for s in tree.body for n in find_nodes(s, gast.Name) if isinstance(n.ctx, gast.Load)]:
        if read.id in own or read.id in seen:
            continue
        function = owner.names.functions.get(read.id)
        if function is not None:
            seen[read.id] = None
            _capture_function(read.id, function, owner, captured, before, namespace, seen)
        elif read.id in owner.names.local or read.id in owner.names.around:
            captured[read.id] = None


def _capture_function(
    spelled: str,
    function: Function,
    owner: Facts,
    captured: dict[str, None],
    before: list[Node],
    namespace: Overlay,
    seen: dict[str, None],
) -> None:
    """A function of the function around goes along: its text, or what its name means."""
    if function.spelled is not None:
        value = copy(function.spelled)
        holder = gast.FunctionDef(spelled, _no_arguments(), [gast.Expr(value)], [], None, None, [])
        _capture(holder, frozenset(), owner, captured, before, namespace, seen)
        before.append(at(gast.Assign([name(spelled, gast.Store())], value, None), value))
    elif function.tree is not None:
        tree = copy(function.tree)
        home = function.owner or owner
        if home is not owner:
            _bring_meanings(tree, home, namespace)
        _capture(tree, frozenset(), home, captured, before, namespace, seen)
        before.append(_definition(tree, spelled))
    elif function.binding is not None and not function.args:
        namespace.extra[spelled] = function.binding


def _bring_meanings(tree: Node, home: Facts, namespace: Overlay) -> None:
    """Let the names of a module that a function of another one reads mean the same where it goes along."""
    own = own_names(tree) | {n.id for n in find_nodes(tree, gast.Name) if not isinstance(n.ctx, gast.Load)}
    own |= home.names.local | frozenset(home.names.functions)
    renamed: dict[str, str] = {}
    for read in [n for n in find_nodes(tree, gast.Name) if n.id not in own]:
        meant, known = home.namespace.lookup(read.id), namespace.lookup(read.id)
        if meant is None or (known is not None and known.object is meant.object):
            continue
        if read.id not in renamed:
            renamed[read.id] = read.id if known is None else home.names.fresh(read.id)
            namespace.extra[renamed[read.id]] = meant
        read.id = renamed[read.id]


def _no_arguments() -> Node:
    arguments: Node = parse_tree("def f(): pass").body[0].args
    return arguments


def _definition(tree: Node, spelled: str) -> Node:
    made = gast.FunctionDef(spelled, tree.args, tree.body, [], None, None, [])
    return gast.copy_location(made, tree)


def value_of(call: Node, site: Site) -> Node:
    """`vjp(g, x)[0]` and `linearize(g, x)[0]`, whose second part is not read, as `g(x)`."""
    if not isinstance(call, gast.Subscript) or getattr(call.slice, "value", None) != 0:
        return call
    if pulled_or_pushed(call.value, site.facts, site.local) is None:
        return call
    inner = call.value
    return at(gast.Call(inner.args[0], inner.args[1:], []), call)


def hand_over(call: Node, where: Node, site: Site) -> None:
    """Let the function in a call of such an operation be one of the module, with all that it reads as arguments."""
    handed = handed_of(call, site.facts, site.local)
    slot = None if handed is None else argument_of(call, handed.parameter, site.facts, site.local)
    if handed is None or slot is None:
        return
    found = function_of(slot, site.facts, site.local)
    if found is None or found.wanted is not None:
        return
    beside = _functions_beside(call, handed, site)
    if beside:
        site.facts.origin.foreign[where] = None
        _hand_over_together(call, {handed.parameter: found, **beside}, handed, site)
        return
    if found.args or found.words or (found.binding is not None and rule_of(found.called) is not None):
        found = _apply_partial(found, handed, site)
    elif found.binding is not None:
        if isinstance(slot, gast.Name) and slot.id in site.facts.names.functions:
            _give(call, handed.parameter, name(site.alias(found.name, found.binding)), site)
            site.facts.origin.foreign[where] = None
        return
    site.facts.origin.foreign[where] = None
    given = argument_of(call, handed.args, site.facts, site.local)
    whole = close_function(found, site)
    assert whole.binding is not None, "a function that is closed has a name of its own"
    made: ClosedFunction = whole.binding.object
    added = _make_parameters(made.source.tree, list(whole.words), given, handed, call, site)
    if added:
        display = given.elts if isinstance(given, gast.Tuple) else []
        _give(call, handed.args, at(gast.Tuple([*display, *added], gast.Load()), call), site)
    _give(call, handed.parameter, name(site.alias(found.name, Binding("object", made))), site)


def _functions_beside(call: Node, handed: FunctionArgument, site: Site) -> dict[str, Function]:
    """The further functions that a call gives the operation; E5031 for one that is not known."""
    made = {}
    for parameter in handed.beside:
        slot = argument_of(call, parameter, site.facts, site.local)
        if slot is None or isinstance(slot, gast.Constant):
            continue
        found = function_of(slot, site.facts, site.local)
        if found is None or found.wanted is not None:
            what = f"which function `{gast.unparse(slot)}` is, given as `{parameter}=`, tells only a run"
            raise site.facts.refuse(slot, "E5031", what, f"name a function, or leave `{parameter}=` out")
        made[parameter] = found
    return made


def _hand_over_together(call: Node, given: dict[str, Function], handed: FunctionArgument, site: Site) -> None:
    """Let several functions of the same arguments be of the module, each with all that any of them reads."""
    whole = {}
    for parameter, found in given.items():
        applied = found if found.tree is not None and not found.args else _apply_partial(found, handed, site)
        whole[parameter] = close_function(applied, site)
    captured = list(dict.fromkeys(one for each in whole.values() for one in each.words))
    args = argument_of(call, handed.args, site.facts, site.local)
    for parameter, each in whole.items():
        assert each.binding is not None, "a function that is closed has a name of its own"
        made: ClosedFunction = each.binding.object
        own = _take_all(made.source.tree, captured, list(each.words), site)
        added = _make_parameters(made.source.tree, own, args, handed, call, site)
        if len(added) > len(captured):
            message = f"`{each.name}` has a default where another function is given beside it"
            raise site.facts.refuse(call, "E5005", message, f"write it in `{handed.args}=`")
        _give(call, parameter, name(site.alias(each.name, Binding("object", made))), site)
    if captured:
        display = args.elts if isinstance(args, gast.Tuple) else []
        _give(call, handed.args, at(gast.Tuple([*display, *map(name, captured)], gast.Load()), call), site)


def _take_all(tree: Node, captured: list[str], own: list[str], site: Site) -> list[str]:
    """Let a function with parameters for what it reads have one for each of these names, in their order."""
    known = {one.id: one for one in tree.args.kwonlyargs}
    taken = names_in(tree)
    spelled = [one if one in own or one not in taken else site.facts.names.fresh(one) for one in captured]
    made = [known.pop(one, None) or at(gast.Name(one, gast.Param(), None, None), tree) for one in spelled]
    tree.args.kwonlyargs, tree.args.kw_defaults = [*known.values(), *made], [None] * (len(known) + len(made))
    return spelled


def hands(node: Node, site: Site) -> bool:
    """Whether a call gives such an operation a function that stands in this one."""
    if not isinstance(node, gast.Call) or handed_of(node, site.facts, site.local) is None:
        return False
    return any(isinstance(n, gast.Name) and n.id in site.facts.names.functions for n in walk(node))


def _make_parameters(
    tree: Node, captured: list[str], given: Node | None, handed: FunctionArgument, call: Node, site: Site
) -> list[Node]:
    """Make parameters of what a function captures, and give what further arguments the call has to have."""
    arguments = tree.args
    if arguments.vararg is not None or arguments.kwarg is not None:
        raise site.facts.refuse(call, "E5005", f"`{tree.name}` takes `*args` or `**`", "name its parameters")
    known = given is None or isinstance(given, gast.Tuple) or getattr(given, "value", given) is None
    if given is not None and not known and captured:
        raise site.facts.refuse(
            given,
            "E5005",
            f"`{handed.args}=` is not written as a tuple, and `{tree.name}` reads {', '.join(captured)} as well",
            f"write `{handed.args}=(a, b)`",
        )
    own = [*arguments.posonlyargs, *arguments.args]
    count = len(given.elts) if isinstance(given, gast.Tuple) else 0
    leading = len(own) - count if handed.leading is None else handed.leading
    missing = len(own) - leading - count
    defaults = arguments.defaults[len(arguments.defaults) - max(missing, 0) :]
    if known and (missing < 0 or missing > len(arguments.defaults)):
        raise site.facts.refuse(
            call,
            "E5005",
            f"`{tree.name}` is called with {leading + count} arguments",
            f"it takes: {', '.join(one.id for one in own)}",
        )
    if not known:
        return []
    arguments.defaults = []
    kept = [
        pair for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if pair[0].id not in captured
    ]
    arguments.args += [one for one in arguments.kwonlyargs if one.id in captured]
    arguments.kwonlyargs, arguments.kw_defaults = [one for one, _ in kept], [default for _, default in kept]
    return [*map(copy, defaults), *map(name, captured)]


def _apply_partial(found: Function, handed: FunctionArgument, site: Site) -> Function:
    """`partial(g, a, k=c)` and methods as a function of the arguments that are left; `np.sin` as one with a text."""
    facts = site.facts
    if found.tree is not None:
        arguments, spelled = found.tree.args, found.name
    else:
        assert found.binding is not None, "a function has a tree or a name"
        spelled = site.alias(found.name, found.binding)
        known = rule_of(found.called) is None
        arguments = facts.module.source(found.called)[0].tree.args if known else None
    own = [f"x{k}" for k in range(handed.leading or 1)]
    if arguments is not None:
        own = [a.id for a in [*arguments.posonlyargs, *arguments.args]][len(found.args) :]
        own = [one for one in own if one not in found.words]
    made = facts.names.fresh(f"{found.name}_applied")
    value = gast.Call(name(spelled), [*map(copy, found.args), *map(name, own)], [])
    value.keywords = [gast.keyword(key, copy(word)) for key, word in found.words.items()]
    tree = parse_tree(f"def {made}({', '.join(own)}): return value").body[0]
    tree.body[0].value = value
    for item in walk(tree):
        at(item, found.tree if found.tree is not None else facts.source.tree)
    facts.names.functions[made] = Function(made, tree, facts)
    return Function(made, tree, facts)


def _give(call: Node, parameter: str, value: Node, site: Site) -> None:
    """Exchange the argument for a parameter, or add it."""
    at(value, call)
    for word in call.keywords:
        if word.arg == parameter:
            word.value = value
            return
    place = place_of(call, parameter, site.facts, site.local)
    if place < len(call.args):
        call.args[place] = value
    else:
        call.keywords.append(gast.keyword(parameter, value))
