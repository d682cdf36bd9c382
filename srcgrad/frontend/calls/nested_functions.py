"""Functions defined inside of the differentiated one: taken out of its body, to be written where they are called.

So it is of `hook(x, fn)`, and of what a function makes: `f = poly(a, b)`, where `poly` returns one that it defines, is
that definition. Of several of one name all but the first get names of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import gast

from srcgrad.core.bindings import Binding
from srcgrad.core.errors import OWN_RULE, DifferentiationError
from srcgrad.core.facts import UNKNOWN, Facts
from srcgrad.core.identity import record, replace
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    bound_in_expressions,
    children,
    copy,
    defaults_of,
    every_parameter,
    find_nodes,
    given_by_place,
    header,
    holds,
    is_write,
    literal_node,
    loads,
    name,
    own_names,
    parameters,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import SOMETIMES, own_statements, places, rewrite
from srcgrad.frontend.calls.functions import Function, function_of, made_by, pulled_or_pushed
from srcgrad.frontend.calls.side_effects import doubtful_write
from srcgrad.frontend.resolve import binding_of, object_of
from srcgrad.runtime.hooks import hook

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting


def is_hook(node: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a node is a call of `srcgrad.hook`."""
    return isinstance(node, gast.Call) and object_of(node.func, facts, local) is hook


def hooks(function: Node, work: Rewriting) -> None:
    """Spell nested functions that hooks call as lambdas, whose parameters have names of their own.

    Refuses a call of `hook` whose result is not used, and a nested function of several statements.
    """
    calls = [
        (node, n) for node in statements(function.body) for part in header(node) for n in find_nodes(part, gast.Call)
    ]
    local = own_names(function)
    calls = [(node, n) for node, n in calls if is_hook(n, work.facts, local)]
    if not calls:
        return
    inner: dict[str, Node] = {n.name: n for n in statements(function.body) if isinstance(n, gast.FunctionDef)}
    inner |= {str(target(n)): n.value for n in statements(function.body) if _names_lambda(n)}
    for node, call in calls:
        if isinstance(node, gast.Expr) and node.value is call:
            raise work.facts.refuse(
                node,
                "E5005",
                "the result of `hook` is not used: nothing goes through it",
                "bind it: `h = srcgrad.hook(h, fn)`",
            )
        for place, given in enumerate(call.args[1:], start=1):
            found = inner.get(given.id) if isinstance(given, gast.Name) else given
            if isinstance(found, gast.FunctionDef):
                found = _as_lambda(found, call, work)
            if isinstance(found, gast.Lambda):
                call.args[place] = _rename_lambda_parameters(copy(found), function, work)
                work.facts.origin.lambdas[call.args[place]] = None
                if found is not given:
                    work.facts.origin.foreign[node] = None


def _names_lambda(node: Node) -> bool:
    return target(node) is not None and isinstance(node.value, gast.Lambda)


def _as_lambda(definition: Node, call: Node, work: Rewriting) -> Node:
    """`def fn(g): return e`, or one call, as a lambda."""
    body = [n for n in definition.body if not (isinstance(n, gast.Expr) and isinstance(n.value, gast.Constant))]
    last = body[0] if len(body) == 1 else None
    if not isinstance(last, gast.Return | gast.Expr) or last.value is None or definition.decorator_list:
        raise work.facts.refuse(
            call,
            "E5005",
            f"the hook `{definition.name}`, a nested function, is more than one expression",
            f"define `{definition.name}` outside of the function, or pass it as an argument",
        )
    return gast.copy_location(gast.Lambda(copy(definition.args), copy(last.value)), call)


def _rename_lambda_parameters(value: Node, function: Node, work: Rewriting) -> Node:
    """A lambda whose parameters no other name of the function is called."""
    for parameter in [p for p in [*every_parameter(value), value.args.vararg, value.args.kwarg] if p is not None]:
        inside = [n for n in find_nodes(value, gast.Name) if n.id == parameter.id]
        everywhere = [n for s in [function.args, *function.body] for n in walk(s)]
        hidden = {id(n) for held in everywhere if isinstance(held, gast.Lambda) for n in walk(held)}
        if any(isinstance(n, gast.Name) and n.id == parameter.id and id(n) not in hidden for n in everywhere):
            spelled = work.facts.names.fresh(parameter.id)
            for item in inside:
                item.id = spelled
        work.made |= {parameter.id}
    return value


def made_here(node: Node, work: Rewriting) -> Block:
    """The statements for functions that calls in a statement make, whose places names take.

    What the maker computes is computed where it is called, under names of its own.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def poly(a):\\n    return lambda t: a * t\\ndef f(x):\\n    g = poly(x)\\n    return g(2.0) * g(x)"
    >>> print(explain_text(text, after="inline_calls"))
    def f(x):
        a = x
        return a * 2.0 * (a * x)
    """
    made: Block = []
    if isinstance(node, gast.Assign | gast.AugAssign | gast.Return | gast.Expr | gast.AnnAssign) and node.value:
        bound = target(node)
        whole = _parts(node.value, work) if bound is not None and node.value is not None else None
        if whole is not None and bound is not None:
            return _write_out_maker(node.value, whole, bound, node, work)
        if any(_parts(part, work) is not None for part in find_nodes(node, gast.Call)):
            rewrite(node, partial(_name_inner_function, node=node, made=made, work=work), SOMETIMES)
    return made


def _name_inner_function(part: Node, node: Node, made: Block, work: Rewriting) -> Node:
    whole = _parts(part, work)
    if whole is None:
        return part
    spelled = work.name("inner")
    made += _write_out_maker(part, whole, spelled, node, work)
    work.facts.origin.foreign[node] = None
    return at(name(spelled), part)


def _parts(call: Node, work: Rewriting) -> Node | None:
    """The definition of a function that defines another one and returns it, for a call whose arguments fit."""
    found = function_of(call.func, work.facts, work.facts.names.local) if isinstance(call, gast.Call) else None
    if found is None or found.wanted is not None or found.args or found.words or work.facts.module is None:
        return None
    tree = found.tree if found.tree is not None else _of_module(found, work)
    if (
        tree is None
        or not _makes(tree)
        or any(isinstance(n, gast.Return) for n in own_statements(tree.body[:-1], (gast.FunctionDef,)))
    ):
        return None
    if any(holds(s, gast.Nonlocal, gast.Global) for s in tree.body):
        return None
    if any(_locals(n) & _locals(tree) for s in tree.body for n in walk(s) if isinstance(n, _FUNCTIONS)):
        return None
    return tree if _arguments(call, tree) is not None else None


def _makes(tree: Node) -> bool:
    """Whether a function ends with one that it defines."""
    last = tree.body[-1]
    return (
        isinstance(last, gast.Return)
        and not (tree.args.vararg or tree.args.kwarg)
        and _returned_function(tree) is not None
    )


def _of_module(found: Function, work: Rewriting) -> Node | None:
    """The tree of a function of the module, if all that it reads means the same where it is called."""
    if rule_of(found.called) is not None:
        return None  # an operation, whose source may be thousands of lines
    try:
        source, namespace = work.facts.module.source(found.called)
    except DifferentiationError:
        return None
    if not _makes(source.tree):
        return None
    own: set[str] = set()
    for node in walk(source.tree):
        own |= _locals(node) if isinstance(node, _FUNCTIONS) else set()
    for one in {n.id for s in source.tree.body for n in find_nodes(s, gast.Name)} - own:
        meant, known = namespace.lookup(one), work.facts.namespace.lookup(one)
        if one in work.facts.names.local or meant is None or known is None or not _same_meaning(meant, known):
            return None
    tree: Node = source.tree
    return tree


def _same_meaning(one: Binding, other: Binding) -> bool:
    """Whether two names mean one thing; objects are told apart by identity, since arrays compare by element."""
    texts = [(b.kind, b.static, b.module, b.expression) for b in (one, other)]
    return one.kind != "unknown" and one.object is other.object and texts[0] == texts[1]


_FUNCTIONS = (gast.FunctionDef, gast.Lambda)


def _locals(tree: Node) -> set[str]:
    """What a function binds, functions in it apart: parameters, names, the names of these functions."""
    names = set(parameters(tree))
    body = own_statements(tree.body, (gast.FunctionDef,)) if isinstance(tree.body, list) else []
    inside = [n for s in body if not isinstance(s, gast.FunctionDef) for n in find_nodes(s, gast.Name)]
    names |= {n.id for n in inside if isinstance(n.ctx, gast.Store)}
    return names | {s.name for s in body if isinstance(s, gast.FunctionDef)}


def _returned_function(tree: Node) -> Node | None:
    value = tree.body[-1].value
    if isinstance(value, gast.Lambda):
        return value
    inner = {n.name: n for n in tree.body if isinstance(n, gast.FunctionDef) and not n.decorator_list}
    bound = [n.id for n in find_nodes(tree, gast.Name) if isinstance(n.ctx, gast.Store)]
    called = getattr(value, "id", "")
    return inner.get(called) if called not in bound else None


def _arguments(call: Node, tree: Node) -> dict[str, Node] | None:
    """What each parameter gets; None where that is not certain."""
    names, every = given_by_place(tree), parameters(tree)
    if len(call.args) > len(names) or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    given = dict(zip(names, call.args, strict=False)) | {w.arg: w.value for w in call.keywords}
    known = {key: value for key, value in defaults_of(tree).items() if isinstance(value, gast.Constant)} | given
    return {one: known[one] for one in every} if set(known) == set(every) else None


def _write_out_maker(call: Node, tree: Node, bound: str, node: Node, work: Rewriting) -> Block:
    """Assignments of the arguments, what the maker computes, and the definition under the name that it gets."""
    given = _arguments(call, tree)
    assert given is not None, "they fit"
    own, found = sorted(_locals(tree)), _returned_function(tree)
    assert found is not None, "the caller has found it"
    inner = copy(found)
    if isinstance(inner, gast.Lambda):
        result = gast.copy_location(gast.Return(inner.body), inner.body)
        inner = gast.copy_location(gast.FunctionDef(bound, inner.args, [result], [], None, None, []), inner)
    before = [copy(n) for n in tree.body[:-1] if getattr(n, "name", "") != getattr(tree.body[-1].value, "id", "")]
    moved = {one: work.name(one) for one in own}
    work.facts.names.steady.update(moved.values())
    for item in [i for n in [*before, inner] for i in walk(n)]:
        if isinstance(item, gast.Name) and item.id in moved:
            item.id = moved[item.id]
        elif isinstance(item, gast.FunctionDef) and item is not inner and item.name in moved:
            item.name = moved[item.name]
        at(item, node)
    inner.name = bound
    made = [work.bind(moved[one], copy(value), node) for one, value in given.items()]
    for one in statements(before):
        work.facts.origin.foreign[one] = None
    return [*made, *before, inner]


def check_handed(call: Node, again: bool, facts: Facts) -> None:
    """Refuse a function that a call gives on `again`, to one that is being written out: no name means it there."""
    given = [n for value in [*call.args, *(word.value for word in call.keywords)] for n in walk(value)]
    handed = [n for n in given if isinstance(n, gast.Name) and n.id in facts.names.functions] if again else []
    if handed:
        raise facts.refuse(
            handed[0],
            "E5005",
            f"the function `{handed[0].id}` is given to one that calls itself, which is not accepted",
            "write the calls of that function as a loop",
        )


def check_given(function: Node, facts: Facts, local: frozenset[str]) -> None:
    """Refuse a nested function that is still given to something, or kept: what it reads would have no derivative."""
    inside = {name for name, known in facts.names.functions.items() if known.tree is not None}
    for call in [n for node in function.body for n in find_nodes(node, gast.Call)] if inside else []:
        for argument in [*call.args, *(word.value for word in call.keywords)]:
            if isinstance(argument, gast.Name) and argument.id in inside and not is_hook(call, facts, local):
                raise _refuse_callee(call, argument, facts, local)
    kept = {id(n) for node in function.body for call in walk(node) if is_hook(call, facts, local) for n in walk(call)}
    for read in [n for node in function.body for n in find_nodes(node, gast.Name)] if inside else []:
        if read.id in inside and isinstance(read.ctx, gast.Load) and id(read) not in kept:
            raise facts.refuse(
                read,
                "E5005",
                "a nested function is used as a value",
                "give each function a name of its own, and call it by that",
            )


def _refuse_callee(call: Node, argument: Node, facts: Facts, local: frozenset[str]) -> Exception:
    found, called = binding_of(call.func, facts, local), gast.unparse(call.func)
    rule = None if found is None or found.kind != "object" else rule_of(found.object)
    if rule is not None and rule.kind == "refused":
        return facts.refuse(call, "E5001", f"`{called}` has no derivative: {rule.reason}", f"{rule.way_out}{OWN_RULE}")
    return facts.refuse(
        argument,
        "E5003",
        f"what `{called}` does with a function that stands in this one is not known",
        f"define the function outside, if it reads nothing of this one; or write a rule for `{called}`",
    )


def functions_left_out(function: Node, facts: Facts) -> None:
    """Take the way of `if act is None: act = np.tanh` that the argument takes: one function then has the name.

    Of an argument of which nothing is known it is taken that it is left out, and looked at when the text runs.
    """
    defaults = defaults_of(function).items()
    open_ = {one for one, default in defaults if isinstance(default, gast.Constant) and default.value is None}
    made: Block = []
    own: dict[str, str] = {}
    for node in function.body:
        parameter = _looks_for_none(node)
        ways = _ways(parameter, node, function, facts) if parameter in parameters(function) else None
        if ways is None or (way := _way(parameter, ways, parameter in open_, node, facts)) is None:
            made.append(node)
            continue
        made += way
        if any(parameter in written_names(n) for n in statements(function.body)):
            own[parameter] = facts.names.fresh(parameter)  # no list of the caller's
    for node in statements(made) if own else ():
        named = [n for part in header(node) for n in find_nodes(part, gast.Name) if n.id in own]
        for one in named:
            one.id = own[one.id]
        facts.origin.foreign |= {node: None} if named else {}
    function.body = made or [at(gast.Pass(), function)]


def _looks_for_none(node: Node) -> str:
    """`act`, of `if act is None:` or `if act is not None:`"""
    test = node.test if isinstance(node, gast.If) else None
    if not isinstance(test, gast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], gast.Is | gast.IsNot):
        return ""
    against = test.comparators[0]
    none = isinstance(against, gast.Constant) and against.value is None
    return test.left.id if none and isinstance(test.left, gast.Name) else ""


def _ways(parameter: str, node: Node, function: Node, facts: Facts) -> tuple[Block, Block] | None:
    """What is done without the argument and with it, if it gets its one other meaning without.

    That is a function, or what is written into.
    """
    ways = (node.body, node.orelse) if isinstance(node.test.ops[0], gast.Is) else (node.orelse, node.body)
    order = statements(function.body)
    bound = [n for n in order if parameter in stores(n) and not is_write(n)]
    if len(bound) != 1 or not any(n is bound[0] for n in ways[0]):
        return None
    value = getattr(bound[0], "value", None)
    named = isinstance(value, gast.Name | gast.Attribute) and function_of(value, facts, own_names(function)) is not None
    kind = facts.kinds.of_names.get(parameter) or facts.kinds.named.get(parameter, UNKNOWN)
    if kind.tag == "none" and any(parameter in written_names(n) for n in order):
        apart = [*function.body[: function.body.index(node)], *(n for n in order if isinstance(n, gast.FunctionDef))]
        read = {n.id for one in apart for n in find_nodes(one, gast.Name)}
        asked = any(n.id in ("locals", "vars") for one in function.body for n in find_nodes(one, gast.Name))
        return (
            None if parameter in read or asked else ways
        )  # an array that the function makes where none is given, and writes into
    return ways if named or isinstance(bound[0], gast.FunctionDef) or isinstance(value, gast.Lambda) else None


def _way(parameter: str, ways: tuple[Block, Block], optional: bool, node: Node, facts: Facts) -> Block | None:
    """The way that is taken; None if that is not known."""
    kind = facts.kinds.of_names.get(parameter) or facts.kinds.named.get(parameter, UNKNOWN)
    if parameter in facts.names.functions or kind.tag not in ("none", "unknown"):
        return ways[1]
    if kind.tag == "none":
        return ways[0]
    if not optional:
        return None
    if facts.request.called and parameter not in facts.kinds.arguments:
        return ways[0]  # the call does not give it
    check = at(statement(f"{facts.library_in_text('check_left_out')}({parameter})"), node)
    facts.origin.foreign[check] = None
    return [check, *ways[0]]


def take_out(block: Block, work: Rewriting, given: Sequence[str] = ()) -> Block:
    """The block without nested functions, lambdas and second names of functions; what their defaults hold is kept.

    One of the parameters that are `given` may have another meaning where it is read before, or where a branch binds it.
    """
    own = own_statements(block, (gast.FunctionDef,))
    names = [s for node in own for s in stores(node)]
    names += [one.target.id for node in own for one in bound_in_expressions(node)]
    names += [one for one in given if one in names and not _is_replaced(one, block, work.facts)]
    names += [one for node in statements(block) if isinstance(node, gast.Nonlocal) for one in node.names]
    return _block(block, names, work)


def _is_replaced(parameter: str, block: Block, facts: Facts) -> bool:
    """Whether a function gets another meaning for good before anything reads what its caller gave."""
    look = facts.names.imports.get("check_left_out", "")
    for node in block:
        if look and isinstance(node, gast.Expr) and getattr(getattr(node.value, "func", None), "id", "") == look:
            continue
        if any(n.id == parameter and isinstance(n.ctx, gast.Load) for n in find_nodes(node, gast.Name)):
            return False
        if parameter in stores(node):
            return isinstance(node, gast.FunctionDef | gast.Assign)
        if any(parameter in stores(inner) for inner in statements([node])):
            return False
    return True


def _block(block: Block, names: list[str], work: Rewriting) -> Block:
    made: Block = []
    for node in block:
        if isinstance(node, gast.FunctionDef):
            made += _define(node, node.name, node, names, work)
            continue
        made_before = made_here(node, work)
        if made_before:
            own = [s for one in made_before for s in stores(one)]
            names += [one for one in own if one not in names]
            made += _block(made_before, names, work)
            if isinstance(made_before[-1], gast.FunctionDef) and made_before[-1].name == target(node):
                continue
        before: Block = []
        bound = target(node)
        if isinstance(node, gast.Assign) and bound is not None and names.count(bound) == 1:
            if isinstance(node.value, gast.Lambda):
                made += _define(_as_function(node.value, bound), bound, node, names, work)
                continue
            _name_lambdas(node, before, names, work)
            known = _second_name(node, before, work)
            if known is not None:
                work.facts.names.functions[bound] = known
                work.facts.names.local |= {bound}
                made += before
                continue
        linear = _expand_vjp_call(node, before, names, work)
        if linear:
            made += linear
            continue
        for part in header(node):
            _lambdas(part, node, before, names, work)
        for which in ("body", "orelse"):
            if getattr(node, which, None):
                setattr(node, which, _block(getattr(node, which), names, work) or [at(gast.Pass(), node)])
        made += [*before, node]
    return made


def _define(tree: Node, spelled: str, like: Node, names: list[str], work: Rewriting) -> Block:
    """Keep a function; its defaults are computed where it is defined."""
    if names.count(spelled) > 1 or getattr(tree, "decorator_list", None):
        why, way = "bound twice", "give each function a name of its own"
        if names.count(spelled) == 1:
            why, way = "decorated", "take the decorator off, or move the function to the top level of its module"
        raise work.facts.refuse(like, "E5005", f"the nested function `{spelled}` is {why}, which is not accepted", way)
    made: Block = []
    for table in (tree.args.defaults, tree.args.kw_defaults):
        for place, value in enumerate(table):
            if value is not None and not isinstance(value, gast.Constant) and not _names_a_function(value, work):
                held = work.name(f"{spelled}_default")
                made.append(work.bind(held, value, like))
                table[place] = at(name(held), value)
    work.facts.names.functions[spelled] = Function(spelled, tree, work.facts)
    work.facts.names.local |= {spelled}
    return made


def without_defaults(tree: Node, given: dict[str, Node]) -> Node:
    """A function or lambda whose computed defaults, and those behind them, are given by name: they are in `given`."""
    tree = copy(tree)
    arguments = tree.args
    late = [*arguments.posonlyargs, *arguments.args][-len(arguments.defaults) :] if arguments.defaults else []
    computed = [k for k, one in enumerate(arguments.defaults) if not isinstance(one, gast.Constant)]
    if computed and all(one in arguments.args for one in late[computed[0] :]):
        for parameter, default in zip(late[computed[0] :], arguments.defaults[computed[0] :], strict=True):
            given[parameter.id] = default
            arguments.args.remove(parameter)
            arguments.kwonlyargs.append(parameter)
            arguments.kw_defaults.append(None)
        del arguments.defaults[computed[0] :]
    for place, one in enumerate(arguments.kw_defaults):
        if one is not None and not isinstance(one, gast.Constant):
            given[arguments.kwonlyargs[place].id] = one
            arguments.kw_defaults[place] = None
    return tree


def _names_a_function(value: Node, work: Rewriting) -> bool:
    """Whether a default is a function by its name, which means the same wherever it is read."""
    if (
        not isinstance(value, gast.Name | gast.Attribute)
        or function_of(value, work.facts, work.facts.names.local) is None
    ):
        return False
    read = set(loads(value))
    return read <= set(work.facts.names.functions) or not read & work.facts.names.local


def _as_function(value: Node, spelled: str) -> Node:
    """A lambda as a definition."""
    body = [gast.copy_location(gast.Return(value.body), value.body)]
    made = gast.FunctionDef(spelled, value.args, body, [], None, None, [])
    return gast.copy_location(made, value)


def _second_name(node: Node, before: Block, work: Rewriting) -> Function | None:
    """`h = np.sin`, `h = partial(g, c)`: the function itself; arguments that are bound get names."""
    value = node.value
    if isinstance(value, gast.Call):
        derived = function_of(value, work.facts, work.facts.names.local)
        if derived is not None and derived.wanted is not None:
            return replace(derived, spelled=value)
        maker = binding_of(value.func, work.facts, work.facts.names.local)
        if maker is None or maker.object is not functools.partial or not value.args:
            return None
        for place, item in enumerate(value.args[1:], start=1):
            if not isinstance(item, gast.Constant):
                value.args[place] = _hold_in_name(item, node, before, work)
        for word in value.keywords:
            if not isinstance(word.value, gast.Constant):
                word.value = _hold_in_name(word.value, node, before, work)
    elif not isinstance(value, gast.Name | gast.Attribute):
        return None
    found = function_of(value, work.facts, work.facts.names.local)
    own = found is not None and found.binding is not None and isinstance(value, gast.Name) and found.args
    if found is None or own or found.kind is not None or found.value is not None:
        return None  # an object that can be called is an object as well
    return replace(found, spelled=value)


def _check_steady(call: Node, work: Rewriting) -> None:
    """What a pullback was made at must not change before it is called."""
    tree = work.facts.source.tree
    changed = {w for n in statements(tree.body) if is_write(n) for w in written_names(n)}
    held = {n.id for a in call.args for n in find_nodes(a, gast.Name)}
    doubtful = doubtful_write(tree, work.facts)
    if doubtful is not None or changed & held:
        raise work.facts.refuse(
            doubtful or call,
            "E5010",
            "an array changes in a function that holds a pullback, which may be of that array",
            "call `vjp(g, x)[1](seed)` in one expression, or write into a copy in a function of its own",
        )


def _name_lambdas(node: Node, before: Block, names: list[str], work: Rewriting) -> None:
    """`dg = grad(lambda z: z * x)`, `h = partial(lambda a, b: a * b, x)`: the lambda gets a name."""
    if not isinstance(node.value, gast.Call):
        return
    maker = binding_of(node.value.func, work.facts, work.facts.names.local)
    if (maker is not None and maker.object is functools.partial) or made_by(
        node.value, work.facts, work.facts.names.local
    ):
        _lambdas(node.value, node, before, names, work)


def _expand_vjp_call(node: Node, before: Block, names: list[str], work: Rewriting) -> Block:
    """`y, pullback = vjp(g, x)` as `y = g(x)`, and a function `pullback` that is made where it is called."""
    pair = node.targets[0] if isinstance(node, gast.Assign) and len(node.targets) == 1 else None
    if not isinstance(pair, gast.Tuple) or made_by(node.value, work.facts, work.facts.names.local) not in (
        "vjp",
        "linearize",
    ):
        return []
    call = node.value
    _lambdas(call, node, before, names, work)
    spelled = getattr(pair.elts[-1], "id", "")
    if len(pair.elts) != 2 or names.count(spelled) != 1 or not call.args:
        raise work.facts.refuse(
            node, "E5005", "a pullback that is bound twice, or to no name", "write `y, pullback = vjp(g, x)`"
        )
    _check_steady(call, work)
    call.args[1:] = [a if isinstance(a, gast.Constant) else _hold_in_name(a, node, before, work) for a in call.args[1:]]
    found = pulled_or_pushed(call, work.facts, work.facts.names.local)
    if found is None:
        return []
    work.facts.names.functions[spelled] = replace(found, spelled=gast.Subscript(call, literal_node(1), gast.Load()))
    work.facts.names.local |= {spelled}
    value = at(gast.Call(copy(call.args[0]), [copy(a) for a in call.args[1:]], []), call)
    return [*before, work.own(gast.Assign([pair.elts[0]], value, None), node)]


def _hold_in_name(value: Node, node: Node, before: Block, work: Rewriting) -> Node:
    """A name that no later statement binds."""
    held = work.name("bound")
    before.append(work.bind(held, value, node))
    return at(name(held), value)


def _lambdas(part: Node, node: Node, before: Block, names: list[str], work: Rewriting) -> None:
    """A lambda inside of an expression gets a name."""
    if not holds(part, gast.Lambda):
        return
    for one in find_nodes(part, gast.ListComp, gast.DictComp, gast.GeneratorExp, gast.SetComp):
        rewrite(one, partial(_give_defaults, work=work))
    for item in _outside_lambdas(part):
        keeps = is_hook(item, work.facts, work.facts.names.local)
        for key in item._fields:
            inner = getattr(item, key, None)
            values = inner if isinstance(inner, list) else [inner]
            for place, value in enumerate(values):
                if not isinstance(value, gast.Lambda) or keeps:
                    continue
                if value in work.facts.origin.lambdas:
                    continue
                spelled = work.name("inner")
                before += _define(_as_function(value, spelled), spelled, node, [*names, spelled], work)
                swap = at(name(spelled), value)
                if isinstance(inner, list):
                    inner[place] = swap
                else:
                    setattr(item, key, swap)
                work.facts.origin.foreign[node] = None


def _give_defaults(part: Node, work: Rewriting) -> Node:
    """`partial(lambda h, *, k: h * k, k=k)` for `lambda h, k=k: h * k` in a comprehension, where each has its own k."""
    given: dict[str, Node] = {}
    made = without_defaults(part, given) if isinstance(part, gast.Lambda) else part
    if not given or made is part:
        return part
    words = [gast.keyword(key, value) for key, value in given.items()]
    maker = name(work.library("partial", functools.partial))
    return at(gast.Call(maker, [at(made, part)], words), part)


def _outside_lambdas(node: Node) -> Block:
    """What is below a node, without the bodies of lambdas: those in them are taken out where these are written out."""
    found: Block = [node]
    for part in found:
        found += [] if isinstance(part, gast.Lambda) else children(part)
    return found


def namesakes(function: Node, facts: Facts) -> None:
    """Tell functions of one name apart, where each call is behind one of them in the same block.

    In two loops of one header that each define `g` and call it, the second one's is `g_1`.
    """
    found = _definitions(function.body)
    for spelled in dict.fromkeys(one.node.name for one in found):
        same = [one for one in found if one.node.name == spelled]
        if len(same) > 1 and _are_apart(spelled, same, function):
            for one in same[1:]:
                _rename(one, facts.names.numbered_name(spelled), facts)


@record(frozen=True)
class _Definition:
    """A nested function, and what stands behind it in its block up to the next one of its name."""

    node: Node
    behind: Block


def _definitions(block: Block) -> list[_Definition]:
    found: list[_Definition] = []
    for node, inner, around in places(block):
        if isinstance(node, gast.FunctionDef) and not any(isinstance(one, gast.FunctionDef) for one in around):
            behind = inner[inner.index(node) + 1 :]
            ends = [k for k, n in enumerate(behind) if isinstance(n, gast.FunctionDef) and n.name == node.name]
            found.append(_Definition(node, behind[: ends[0]] if ends else behind))
    return found


def _are_apart(spelled: str, same: list[_Definition], function: Node) -> bool:
    """Whether each place that has the name is behind one of the functions, and behind no other at any time."""
    others = [n for n in walk(function) if spelled in stores(n) and not isinstance(n, gast.FunctionDef)]
    others += [n for n in find_nodes(function, gast.NamedExpr) if n.target.id == spelled]
    scopes = [n for n in find_nodes(function, gast.Lambda, gast.FunctionDef) if n is not function]
    nested = {id(n) for scope in scopes for n in find_nodes(scope, gast.Name)}
    own = {id(n) for one in same for part in one.behind for n in find_nodes(part, gast.Name)}
    reads = [n for n in find_nodes(function, gast.Name) if n.id == spelled]
    if others or any(id(n) in nested or id(n) not in own for n in reads):
        return False
    for one in same:
        within = [part for part in one.behind if any(other.node in walk(part) for other in same)]
        first = one.behind.index(within[0]) if within else len(one.behind)
        if any(n.id == spelled for part in one.behind[first:] for n in find_nodes(part, gast.Name)):
            return False
    return True


def _rename(one: _Definition, made: str, facts: Facts) -> None:
    old, one.node.name = one.node.name, made
    facts.names.local |= {made}
    for part in one.behind:
        for node in [n for n in walk(part) if isinstance(n, gast.stmt)]:
            if any(n.id == old for n in find_nodes(node, gast.Name)):
                facts.origin.foreign[node] = None
        for n in find_nodes(part, gast.Name):
            n.id = made if n.id == old else n.id
