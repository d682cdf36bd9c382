"""Arguments that a derivative treats by what they are, and calls of functions with source: the value and a pullback.

`y = g(a)` becomes `y, g_back = g_vjp(a)`, one closure per call. In a loop that costs more than a few sums and products:
a function of nothing else keeps its arguments, and is computed again backwards, `a_bar = g_pull(a, y_bar=y_bar)`.

In templates of operations that are given functions, `pull` takes a seed to the adjoints of the state and of those of
`args` that are active, `push` their tangents to that of the result; `places` says which of `args` these are, None for
all. `again` is what its derivative in reverse, if the operation is given that as well, is differentiated to.

An argument that the text takes for an array may be a list, which has another text. Arrays of lower precision are cast
where the function begins, and back where elements are added up. What is given must be left alone: it is the caller's.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping
from dataclasses import field
from types import FunctionType, ModuleType
from typing import (
    Any,  # called functions are arbitrary objects
    TypeVar,
)

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.argument_kinds import kinds_of, taken_for_sequences, value_attributes
from srcgrad.core.bindings import Binding
from srcgrad.core.errors import OWN_RULE, DifferentiationError, near_names
from srcgrad.core.facts import SCALAR, UNKNOWN, Facts, Kind, Operation, PullbackForm, copy_with_facts, function_called
from srcgrad.core.identity import holder, is_distribution, record
from srcgrad.core.marks import is_opaque
from srcgrad.core.namespace import Step
from srcgrad.core.rules import FITTED, Rule, parts_of, rule_of
from srcgrad.core.trees import (
    SIMPLE,
    Block,
    Node,
    assign,
    at,
    called_name,
    children,
    copy,
    expression,
    find_nodes,
    header,
    holds,
    is_docstring,
    literal_node,
    name,
    parameters,
    reads,
    required_words,
    root,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import places, rewrite_statements
from srcgrad.derive.program import Program
from srcgrad.derive.regularity import meets_doubt_in_call, note_masks
from srcgrad.frontend.calls.derivatives_in_body import ClosedFunction
from srcgrad.frontend.calls.side_effects import check_repeatable
from srcgrad.frontend.functions_with_rules import is_of_library, with_places
from srcgrad.frontend.normalise import watch_writes
from srcgrad.frontend.resolve import (
    FROZEN,
    PASSIVE_ATTRIBUTES,
    bind,
    binding_of,
    is_method_of_no_array,
    method_without_rule,
    object_of,
)
from srcgrad.runtime.structure import cast


def unknown_function(value: Node, facts: Facts) -> DifferentiationError:
    """E5003: an active value goes through a function that has neither a rule nor source; E5001 if that is known."""
    if isinstance(facts.resolution.operation[value].function, Binding):
        reason = facts.resolution.operation[value].function.reason or "only the text of its module is known"
        what = f"`{gast.unparse(value.func)}` cannot be resolved: {reason}"
        return facts.refuse(value, "E5012", what, _near_members(value.func, facts) or "import it from a module")
    owner: Any = getattr(facts.resolution.operation[value].function, "__self__", None)
    half = owner.lacks() if isinstance(owner, type) and hasattr(owner, "lacks") else ""
    if half:
        return facts.refuse(
            value,
            "E5003",
            f"the class {owner.__qualname__} has no `{half}`",
            f"write `{half}(ctx, ...)` in it, a static method",
        )
    opaque = is_opaque(facts.resolution.operation[value].function)
    called = gast.unparse(value.func if isinstance(value, gast.Call) else value)
    rule = rule_of(facts.resolution.operation[value].function)
    if rule is not None and rule.kind == "refused":
        return facts.refuse(
            value,
            "E5001",
            f"`{called}` has no derivative: {rule.reason}",
            f"{rule.way_out}use srcgrad.stop_gradient on its operands, or {OWN_RULE}",
        )
    parts = parts_of(facts.resolution.operation[value].function)
    if parts is not None:
        known = ", ".join(f"`.{one}`" for one in (*parts.names, *parts.constants))
        return facts.refuse(
            value,
            "E5001",
            f"of what `{called}` gives, more is read than {known}",
            "bind it to a name of its own, and read these: `sol = ...`, `sol.y`"
            if "y" in parts.names
            else "bind it to a name of its own, and read these",
        )
    owner = getattr(facts.resolution.operation[value].function, "__self__", None)
    if is_distribution(owner) and holder(owner) is None:
        return facts.refuse(
            value,
            "E5001",
            f"`{called}` is a method of a frozen distribution",
            FROZEN,
        )
    function = facts.resolution.operation[value].function
    if isinstance(function, type) and isinstance(value, gast.Call) and not opaque:
        return facts.refuse(value, "E5003", *_class_without_rule(function, value, facts))
    what = ", and is opaque" if opaque else "" if is_of_library(function) else " and no Python source"
    return facts.refuse(
        value,
        "E5003",
        f"`{called}` has no rule{what}",
        f"{_rule_to_write(called, len(getattr(value, 'args', [])))}, or use srcgrad.stop_gradient",
    )


def _class_without_rule(made: type, call: Node, facts: Facts) -> tuple[str, str]:
    """Why no derivative goes into an object of a class, and what to make of these values in its place."""
    called, place = gast.unparse(call.func), facts.place(call)
    inside = place.text[place.column : place.column + place.width].removeprefix(called)
    inside = inside if inside.endswith(")") else "(...)"
    what = f"no derivative goes through what `{called}(...)` makes"
    if issubclass(made, Mapping):
        return what, "write its keys and values out, or a comprehension: `{k: v for k, v in p.items()}`"
    if issubclass(made, Collection) and made.__module__ == "builtins":
        return what, f"use `list{inside}`, or an array"
    if made.__module__ == "builtins":
        return what, "compute it with numbers and NumPy functions"
    return what, f"make `{called}` a dataclass, if it is yours, and read its fields; if not, use arrays in its place"


def _near_members(function: Node, facts: Facts) -> str:
    """A question after the members of a module or a class that are spelled nearly as the one that it has not."""
    owner = binding_of(function.value, facts, facts.names.local) if isinstance(function, gast.Attribute) else None
    if owner is None or not isinstance(owner.object, ModuleType | type):
        return ""
    return near_names(function.attr, dir(owner.object))


def _rule_to_write(called: str, count: int) -> str:
    """How the rule of a function begins; what is called by no name, `spline(t, x)(1.5)`, has none.

    >>> _rule_to_write("math.gcd", 2)
    'write a rule: `@srcgrad.adjoint(math.gcd)` above `def gcd(y, x1, x2): d[x1] = ...`'
    >>> _rule_to_write("spline(t, x)", 1)
    'call it in a function of your own, and write a rule for that'
    """
    words = called.split(".")
    if not all(map(str.isidentifier, words)):
        return "call it in a function of your own, and write a rule for that"
    parameters = ", ".join(f"x{k + 1}" for k in range(count))
    return f"write a rule: `@srcgrad.adjoint({called})` above `def {words[-1]}(y, {parameters}): d[x1] = ...`"


def lacks_mode(value: Node, rule: Rule, mode: str, facts: Facts) -> DifferentiationError:
    """What to say where a rule is there for the other mode only; nothing is guessed from that one."""
    forward = mode == "forward"
    if rule.own is None:
        has, lacks = ("an adjoint", "no tangent") if forward else ("a tangent", "no adjoint")
        remedy = f"write `@{'tangent' if forward else 'adjoint'}` for it as well"
        return facts.refuse(value, "E5001", f"{rule.name} has {has} but {lacks}", remedy)
    has, lacks = ("reverse", "forward") if forward else ("forward", "reverse")
    return facts.refuse(
        value, "E5003", f"{rule.name} has a rule for {has} mode, and none for {lacks} mode", rule.own.remedy[mode]
    )


def check_known(value: Node, rule: Rule, wanted: list[str], facts: Facts) -> None:
    """E5003 where a derivative asks for the rule of an argument that has none."""
    assert rule.own is not None, "a rule of a user"
    for parameter in wanted:
        if parameter in rule.own.missing:
            raise facts.refuse(
                value, "E5003", f"{rule.name} has no rule for its argument `{parameter}`", rule.own.remedy[parameter]
            )


def _replace_calls(function: Node, facts: Facts) -> None:
    looped = {place.node for place in places(function.body) if place.loops}

    def called(node: Node) -> Block:
        _check_closure(node, facts)
        return [_call(node, facts, node in looped) if _is_active_call(node, facts) else _call_of_step(node, facts)]

    function.body = rewrite_statements(function.body, called)
    if any(meets_doubt_in_call(call, facts) for call in facts.calls.derived):
        note_masks(statements(function.body), facts)
    carried = {read.id for call in facts.calls.recomputed for read in facts.calls.pulled[call]}
    for node in statements(function.body):
        if target(node) in carried and type(getattr(node.value, "value", None)) is int:
            node.value = literal_node(
                float(node.value.value)
            )  # `s = 0` before the loop, where `s + x` is a float after it
            facts.origin.rewritten[facts.origin.user.get(node, node)] = None


ARITHMETIC = (
    gast.Assign,
    gast.Return,
    gast.BinOp,
    gast.UnaryOp,
    gast.Tuple,
    gast.Name,
    gast.Constant,
    gast.expr_context,
    gast.operator,
    gast.unaryop,
)
FEW = 12  # sums and products that cost less than a closure


def _is_arithmetic(tree: Node) -> bool:
    """Whether a function computes a few sums, products and quotients of its arguments, and nothing else."""
    body = [node for node in tree.body if not is_docstring(node)]
    parts = [part for node in body for part in walk(node)]
    counted = sum(isinstance(part, gast.BinOp) for part in parts)
    return counted <= FEW and all(isinstance(part, ARITHMETIC) for part in parts)


def _check_closure(node: Node, facts: Facts) -> None:
    """Refuse what a derivative of a recursive function gives: a pullback, by which a derivative flows unseen."""
    call = getattr(node, "value", None)
    operation = (
        facts.resolution.operation.get(call) if facts.request.generated and isinstance(call, gast.Call) else None
    )
    if operation is None or operation.kind != "callee" or isinstance(operation.function, Step):
        return
    tree = facts.module.callee(operation.function, call, facts).tree
    inner = {n.name for n in tree.body if isinstance(n, gast.FunctionDef)}
    result = tree.body[-1].value if isinstance(tree.body[-1], gast.Return) else None
    gives = result is not None and any(n.id in inner for n in find_nodes(result, gast.Name))
    given = [n.id for a in _arguments(call) for n in find_nodes(a, gast.Name)] if call is not None and gives else []
    if call is not None and any(one in facts.activity.varied for one in given):
        raise facts.refuse(
            call, "E5005", "the derivative of a derivative of a recursive function is not made", "write it as a loop"
        )


def _call_of_step(node: Node, facts: Facts) -> Node:
    """A call of a step, by the name of the function that the text has for it."""
    call = getattr(node, "value", None)
    if isinstance(node, gast.Assign) and isinstance(call, gast.Call) and isinstance(call.func, gast.Name):
        found = None if call.func.id in facts.names.local else facts.namespace.lookup(call.func.id)
        if found is not None and isinstance(found.object, Step):
            call.func = name(facts.module.derivative(found.object, "primal", (), {}, facts))
    return node


def _is_active_call(node: Node, facts: Facts) -> bool:
    bound = target(node)
    if bound is None or bound not in facts.activity.active:
        _check_method(node, facts)
        return False
    operation = facts.resolution.operation.get(node.value)
    if operation is None or operation.kind == "op":
        return False
    computed = [n for n in find_nodes(node.value.func, gast.Name) if n.id in facts.activity.active]
    if not computed and not any(active_operand(part, facts) for part in _arguments(node.value)):
        return False
    if not isinstance(operation.function, gast.AST) and (operation.kind == "opaque" or computed):
        raise unknown_function(node.value, facts)
    if operation.kind == "opaque":
        _check_looked_up(node.value, bool(computed), facts)
    return True


def _check_method(node: Node, facts: Facts) -> None:
    """E5003 for a method of which only its name is known, where nothing is made of its derivative: it may write."""
    operation = facts.operation_of(node)
    if operation is not None and isinstance(operation.function, gast.AST) and is_method_of_no_array(node.value):
        raise method_without_rule(node.value, facts)
    unknown = operation is not None and operation.kind == "opaque"
    if unknown and any(active_operand(one, facts) for one in _arguments(node.value)):
        watch_writes(node.value, facts)
        facts.origin.rewritten[facts.origin.user.get(node, node)] = None


def _check_looked_up(call: Node, computed: bool, facts: Facts) -> None:
    """E5031 for a call of what only a run knows where no derivative can be looked up then."""
    called = gast.unparse(call.func)
    inherited = any(getattr(one, "id", "") == "super" for one in walk(call.func))
    if inherited or (computed and isinstance(call.func, gast.Attribute)):
        raise method_without_rule(call, facts)
    if computed:
        raise facts.refuse(
            call,
            "E5031",
            f"what `{called}` is depends on what is differentiated, and only a run tells it",
            "call it in a function of your own, and write a rule for that; "
            "or make it of constants, and give it what is differentiated as an argument",
        )
    target = facts.module.target
    where = f'the target "{target.name}"' if target.typed or target.kernels else ""
    where = "blocks of rows" if facts.module.blocks else "a standalone module" if facts.module.tidy else where
    if where:
        raise facts.refuse(
            call,
            "E5031",
            f"which function `{called}` is tells only a run, and {where} cannot look its derivative up",
            "call functions by their names, or do without that",
        )
    for argument in _arguments(call):
        kind = facts.kinds.containers.get(getattr(argument, "id", ""), "")
        if _holds_active(argument, facts) and (kind or facts.list_kind(getattr(argument, "id", ""))):
            raise facts.refuse(
                argument,
                "E5031",
                f"`{called}`, of which only a run tells what it does, gets a container of what is differentiated",
                "pass the values one by one",
            )


def _arguments(call: Node) -> list[Node]:
    return [*call.args, *(word.value for word in call.keywords)]


def active_operand(node: Node, facts: Facts) -> bool:
    """Whether an argument carries a derivative."""
    return isinstance(node, gast.Name) and node.id in facts.activity.active


def _call(node: Node, facts: Facts, in_loop: bool) -> Node:
    call = node.value
    operation = facts.resolution.operation[call]
    if operation.kind == "opaque":
        return _looked_up(node, facts)
    callee = facts.module.callee(operation.function, call, facts)
    bound = bind(call, callee.tree, facts)
    wrt = tuple(p for p in parameters(callee.tree) if p in bound and active_operand(bound[p], facts))
    for parameter, argument in bound.items():
        if isinstance(argument, gast.Tuple | gast.List | gast.Dict) and _holds_active(argument, facts):
            raise facts.refuse(
                argument, "E5005", f"a container of active values for `{parameter}`", "pass the values one by one"
            )
    facts.calls.pulled[call] = [bound[p] for p in wrt]
    kinds = kinds_of(bound, facts)
    if facts.recomputes and (operation.checkpointed or (in_loop and _is_arithmetic(callee.tree))):
        check_repeatable(operation.function, call, facts)
        made = _derivative_called(call, "pull", wrt, kinds, facts)
        if facts.module.seeds(made):
            facts.calls.recomputed[call], facts.calls.backs[call], facts.calls.derived[call] = made, "", (made, kinds)
            return _call_of_step(node, facts)
    mode = "forward" if facts.pushes_forward else "vjp"
    made = _derivative_called(call, mode, wrt, kinds, facts)
    facts.calls.derived[call] = made, kinds
    facts.calls.callee_seeds[call] = facts.module.seeds(made)
    call.func = name(made)
    return _with_pullback(node, callee.name, facts)


def _derivative_called(call: Node, mode: str, wrt: tuple[str, ...], kinds: dict[str, Kind], facts: Facts) -> str:
    """The name of a called function's derivative in this text."""
    function = facts.resolution.operation[call].function
    with facts.calling(call):
        made: str = facts.module.derivative(function, mode, wrt, kinds, facts, handed=PullbackForm(apart=True))
    return made


def _with_pullback(node: Node, called: str, facts: Facts) -> Node:
    """`y, g_back = g_vjp(a)` for `y = g_vjp(a)`; in forward mode the statement as it is: its tangent comes later."""
    call = node.value
    facts.origin.rewritten[facts.origin.user.get(node, node)] = None
    if facts.pushes_forward:
        return node
    back = f"{called}_back"
    back = facts.names.numbered_name(back) if back in facts.names.taken else facts.names.fresh(back)
    facts.calls.backs[call] = back
    both = gast.Tuple(elts=[name(node.targets[0].id, gast.Store()), name(back, gast.Store())], ctx=gast.Store())
    rewritten = at(gast.Assign([both], call, None), node)
    facts.origin.user[rewritten] = facts.origin.user.get(node, node)
    if node in facts.values.spec:
        facts.values.spec[rewritten] = facts.values.spec[node]
    if node.targets[0].id in facts.activity.definition:
        facts.activity.definition[node.targets[0].id] = rewritten
    return rewritten


def _looked_up(node: Node, facts: Facts) -> Node:
    """`y, f_back = pullback_of(f)(a)`: the derivative of what only a run knows is looked up then.

    In a text that is differentiated once more the call stays, and its adjoint is one of `adjoint_of(f)(a, y_bar)`.
    """
    call = node.value
    words = [*map(literal_node, range(len(call.args))), *(literal_node(word.arg) for word in call.keywords)]
    given = list(zip(words, _arguments(call), strict=True))
    asked = [(word, one) for word, one in given if active_operand(one, facts)]
    places = (
        []
        if len(asked) == len(given) and not facts.module.inline
        else [gast.Tuple([word for word, _ in asked], gast.Load())]
    )
    facts.calls.pulled[call] = [one for _, one in asked]
    facts.calls.looked_up[call] = call.func, [gast.keyword("wrt", one) for one in places]
    if facts.module.inline:
        facts.calls.backs |= {} if facts.pushes_forward else {call: ""}
        return node
    called = call.func.value if isinstance(call.func, gast.Subscript) else call.func
    spelled = str(getattr(called, "attr", None) or getattr(called, "id", "called"))
    if not facts.pushes_forward:
        call.func = look_up("pullback_of", call, [], facts)
    return _with_pullback(node, spelled, facts)


def look_up(helper: str, call: Node, given: list[Node], facts: Facts) -> Node:
    """`pullback_of(f)`, `pushforward_of(f, x_dot, wrt=(0,))`: what takes the place of `f` in a call of it."""
    called, words = facts.calls.looked_up[call]
    return gast.Call(name(facts.library(helper)), [called, *given], words)


def is_called_again(call: Node | None, facts: Facts) -> bool:
    """Whether a call of what only a run knows stays as it is, since the text is differentiated once more."""
    return call in facts.calls.looked_up and bool(facts.module.inline)


def called_once_more(helper: str, call: Node, first: list[Node], facts: Facts) -> Node:
    """`adjoint_of(f, wrt=(0,))(y_bar, a)` for the call `f(a)` in a text that is differentiated once more."""
    again = copy_with_facts(call, facts)
    again.func, again.args = look_up(helper, call, [], facts), [*first, *again.args]
    return again


def _holds_active(node: Node, facts: Facts) -> bool:
    return any(n.id in facts.activity.active for n in find_nodes(node, gast.Name))


_MODES = ("reverse", "value-and-grad", "vjp", "hvp", "elementwise")  # of which texts have adjoints
_GO_ON = ("reversed", "list", "tuple", "zip", "enumerate", "sorted", "iter")  # what gives the items of a list
_DISPLAYS = (gast.List, gast.Dict, gast.ListComp, gast.DictComp)
_BLOCKS = (gast.For, gast.While, gast.If, gast.Try, gast.With, gast.FunctionDef)
_OF_LISTS = frozenset([*dir(list), *dir(tuple), *dir(dict)])
_OF_EACH = (np.concatenate, np.hstack, np.vstack, np.dstack, np.column_stack, sum)  # each array gets its own adjoint
_ORDERS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE)


def check_places(program: Program, facts: Facts) -> Block:
    """`check_arrays(x, w)`: a look at arguments of unknown kind of which items are read, where a list would pass.

    Beside it `check_floats(x)` for those that must not be arrays of integers either, since an array like these is
    stored into, and `check_input(x)` where a list would be right.

    >>> from srcgrad.interface.show.explain import run
    >>> program, facts = run("def f(x, w):\\n    return x[0] * w", after="gradient")
    >>> [gast.unparse(line) for line in check_places(program, facts)]
    ['check_floats(x)']
    """
    if facts.module.target.typed or facts.module.blocks:
        return []
    groups = {} if facts.module.inline else _groups_of_integers(program, facts)
    facts.memory.integers = dict(groups)
    if facts.request.mode in _MODES:
        _note_places(program, facts)
    for place in list(facts.memory.taken):
        if facts.memory.taken[place] == "check_arrays" and (place,) in groups:
            facts.memory.taken[place] = "check_floats"
            del groups[(place,)]
    if facts.request.called or facts.module.inline:
        return []
    looks = [line for helper in ("check_method", "check_arrays", "check_floats") for line in _line(helper, facts)]
    return [*looks, *(statement(f"{facts.library('check_input')}({', '.join(group)})") for group in groups)]


def _note_places(program: Program, facts: Facts) -> None:
    """Note which arguments are looked at by `check_method` and `check_arrays`."""
    places = _Places(
        facts, {p: [p] for p in facts.request.wrt if _is_unknown(p, facts)}, {p: p for p in _containers(facts)}
    )
    places.asked.update({p: None for p in places.held if p in facts.memory.taken})
    places.asked.update(_of_shape_alone(program, facts))
    if places.held or places.whole:
        places.block(program.forward)
        places.block([*facts.tape.fresh_copies, *program.backward, program.result], backward=True)
    sure = [p for p in [*facts.request.wrt, *places.parts] if p not in places.arrays and p not in places.named]
    asked = [p for p in sure if p in places.asked]
    facts.memory.taken = dict.fromkeys(asked, "check_method")
    read = [p for p in sure if p in places.read and p not in places.own and p not in places.asked]
    facts.memory.taken |= dict.fromkeys(
        _made_as_arrays(read, program) if facts.request.mode == "hvp" else read, "check_arrays"
    )
    known = {**places.arrays, **places.named, **places.own, **facts.memory.taken}
    beside = {**_lists_for_operators(facts), **places.negative}
    facts.memory.if_list |= {p: "another" for p in places.held if p in beside and p not in known}
    facts.memory.taken |= {
        p: "check_arrays"
        for p in [*places.held, *program.parameters]
        if facts.memory.if_list.get(p) == "another" and p not in known
    }
    facts.memory.taken = {
        p: facts.memory.taken[p] for p in [*program.parameters, *places.parts] if p in facts.memory.taken
    }


def check_sequences(program: Program, facts: Facts) -> Block:
    """`check_sequences(x)`: a look at arguments of unknown kind whose items the text goes through by place.

    >>> from srcgrad.interface.show.explain import run
    >>> program, facts = run("def f(x, w):\\n    return sum(e * w for e in x)", after="tangent", mode="forward")
    >>> [gast.unparse(line) for line in check_sequences(program, facts)]
    ['check_sequences(x)']
    """
    if facts.module.inline or facts.module.blocks or facts.module.target.typed:
        return []
    parts = [p for p in program.parameters if p not in facts.memory.taken]
    found = taken_for_sequences([*program.forward, *program.backward], parts, facts)
    facts.memory.taken |= dict.fromkeys(found, "check_sequences")
    return [] if facts.request.called else _line("check_sequences", facts)


def _made_as_arrays(read: list[str], program: Program) -> list[str]:
    """Those of which the text that is differentiated once more has adjoints of arrays: of others it has tuples'."""
    calls = [n for s in program.block for n in find_nodes(s, gast.Call) if isinstance(n.func, gast.Attribute)]
    made = [getattr(n.args[0], "id", "") for n in calls if n.func.attr == "zeros_like"]
    return [p for p in read if p in made]


def _lists_for_operators(facts: Facts) -> dict[str, None]:
    """Those that are lists for operators of the function alone: its derivative cannot compute with a list."""
    made: list[Facts] = [
        one for sub, _ in facts.module.inner.values() for one in sub.making.values() if facts.request.mode == "hvp"
    ]
    return {p: None for one in (facts, *made) for p, what in one.memory.if_list.items() if what == "another"}


def check_real(program: Program, facts: Facts) -> Block:
    """`check_real(z, w)`: a look at arguments that, if they were complex, would have another derivative."""
    if facts.request.called or facts.module.inline or facts.module.blocks or facts.module.target.kernels:
        return []
    made: list[Facts] = [
        one for sub, _ in facts.module.inner.values() for one in sub.making.values() if facts.request.mode == "hvp"
    ]
    expected = {p: None for one in (facts, *made) for p in one.values.expected_real}
    given = [gast.Name(p, gast.Load(), None, None) for p in program.parameters if p in expected]
    if not given:
        return []
    line = statement(f"{facts.library('check_real')}()")
    line.value.args = given
    return [line]


def _groups_of_integers(program: Program, facts: Facts) -> dict[tuple[str, ...], None]:
    """Arguments of unknown kind of which not all may be integers, since adjoints would be cut off then."""
    asked = [p for p in facts.request.wrt if p not in facts.kinds.arguments]
    found = _Integers(asked, facts)
    for node in statements(program.block) if asked else ():
        found.note(node)
    groups = {group: None for model in found.models for group in found.deciding(model) or ()}
    value = program.result.value
    facts.memory.of_result = found.deciding(value.elts[0] if isinstance(value, gast.Tuple) and value.elts else value)
    return {group: None for group in groups if not any(set(other) < set(group) for other in groups)}


_Groups = list[tuple[str, ...]]  # a value is one of floats if of each group one argument is


@record
class _Integers:
    """Which arguments, if they were integers, would make arrays of integers into which a text stores floats."""

    asked: list[str]
    facts: Facts
    bound: dict[str, list[Node]] = field(default_factory=dict)  # name -> the values that it has in turn
    models: list[Node] = field(default_factory=list)  # what has the dtype of the arrays that are stored into
    seen: dict[str, _Groups | None] = field(default_factory=dict)

    def note(self, node: Node) -> None:
        """Take in a statement."""
        for call in find_nodes(node, gast.Call) if not isinstance(node, _BLOCKS) else ():
            called, plain = function_called(call, self.facts), len(call.args) == 2 and not call.keywords
            self.models.extend(self._given(call))
            if called is np.full_like and plain:
                self.models.append(call.args[0])
            elif called is runtime.converted:  # of what is converted from integers nothing is left
                self.models.append(call.args[2])
            elif called in (runtime.choose_transpose, runtime.select_transpose):
                self.models.extend(getattr(call.args[2], "elts", ()))
        if isinstance(node, gast.AugAssign) and self._is_store(node.target) and not _is_part(node.target.slice):
            self.models.append(node.target.value)  # of `x_bar[0] += 0.5` NumPy cuts off what x_bar cannot hold
        if isinstance(node, gast.Assign):
            for each in node.targets:
                both = isinstance(each, gast.Tuple) and len(each.elts) == len(getattr(node.value, "elts", ()))
                values = node.value.elts if both else itertools.repeat(node.value)
                for bound, value in zip(each.elts if isinstance(each, gast.Tuple) else [each], values, strict=False):
                    self.bound.setdefault(getattr(bound, "id", ""), []).append(value)
                if self._is_store(each) and not isinstance(node.value, gast.Constant):
                    self.models.append(each.value)

    def _given(self, call: Node) -> Block:
        """What a call gives for the arguments of a function of the text of which not all may be integers."""
        made = self.facts.module.making
        inner = made.get(called_name(call))
        found = [] if inner is None else self._as_given(call, inner, inner.memory.integers)
        for handed in call.args if inner is None else ():  # a function of the text that a solver calls
            inner = made.get(getattr(handed, "id", ""))
            groups = [] if inner is None else list(inner.memory.integers)
            found += [gast.Tuple([name(one) for one in group], gast.Load()) for group in groups]
        return found

    def _as_given(self, call: Node, inner: Facts, groups: Collection[tuple[str, ...]]) -> Block:
        """For groups of a function's arguments a tuple of what a call gives for these."""
        words = {word.arg: word.value for word in call.keywords}
        given = dict(zip(_parameters(inner), call.args, strict=False)) | words
        known = [group for group in groups if all(one in given for one in group)]
        return [gast.Tuple([given[one] for one in group], gast.Load()) for group in known]

    def _is_store(self, place: Node) -> bool:
        """Whether a part of an array that varies is written; items of lists and dicts have no common dtype."""
        if not isinstance(place, gast.Subscript) or not isinstance(place.value, gast.Name):
            return False
        made = self.bound.get(place.value.id, ())
        listed = any(isinstance(each, _DISPLAYS) for each in made)
        known = self.facts.kinds.containers.get(place.value.id) or self.facts.list_kind(place.value.id)
        return not listed and not known and self._varies(place.value)

    def _varies(self, value: Node) -> bool:
        return value.id in self.facts.activity.active or value.id in self.facts.names.adjoint_of

    def deciding(self, value: Node) -> _Groups | None:
        """The groups of arguments that decide whether a value is one of floats; None where others do."""
        if isinstance(value, gast.Constant):
            return [] if isinstance(value.value, float) else None
        if isinstance(value, gast.Name):
            return self._of_name(value.id)
        if isinstance(value, gast.Subscript | gast.Attribute | gast.Starred):
            return self.deciding(value.value)
        if isinstance(value, gast.UnaryOp):
            return self.deciding(value.operand)
        if isinstance(value, gast.BinOp):
            return [] if isinstance(value.op, gast.Div) else self._any_of([value.left, value.right])
        if isinstance(value, gast.List | gast.Tuple):
            return self._any_of(value.elts)
        if isinstance(value, gast.IfExp):
            return self._each_of([value.body, value.orelse])
        return self._of_call(value) if isinstance(value, gast.Call) else None

    def _each_of(self, values: Block) -> _Groups | None:
        """Those of a value that is one of these, which one a run tells."""
        known = [groups for groups in map(self.deciding, values) if groups is not None]
        return list(dict.fromkeys(group for groups in known for group in groups)) if known else None

    def _of_name(self, held: str) -> _Groups | None:
        if held not in self.bound:
            return [(held,)] if held in self.asked else None
        if held not in self.seen:
            self.seen[held] = [(held,)] if held in self.asked else []  # for a loop that carries it
            self.seen[held] = self._each_of(self.bound[held])
        return self.seen[held]

    def _of_call(self, value: Node) -> _Groups | None:
        called, inner = function_called(value, self.facts), self.facts.module.making.get(called_name(value))
        if inner is not None and inner.memory.of_result is not None:
            return self._each_of(self._as_given(value, inner, inner.memory.of_result)) or []
        if called in (np.zeros, np.ones, np.empty) and len(value.args) == 1 and not value.keywords:
            return []
        if called in (runtime.zeros_like, runtime.empty_like):
            return []  # they give floats
        if isinstance(called, np.ufunc) and not any("l" in types for types in called.types):
            return []
        receiver = [value.func.value] if called is None and isinstance(value.func, gast.Attribute) else []
        return self._any_of([*receiver, *(value.args[1:] if called is np.where else value.args)])

    def _any_of(self, values: Block) -> _Groups | None:
        """Those of a value that is one of floats if one of these is."""
        found: _Groups | None = None
        for groups in map(self.deciding, values):
            if groups is not None and len(found or ()) * len(groups) < 16:
                both = [(*one, *other) for one in groups for other in found or ()]
                found = groups if found is None else [tuple(dict.fromkeys(group)) for group in both]
        return found


def _is_part(index: Node) -> bool:
    """Whether an index gives an array, whatever the array is of which it reads."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return any(
        isinstance(each, gast.Slice) or (isinstance(each, gast.Constant) and each.value is None) for each in parts
    )


def _line(helper: str, facts: Facts) -> Block:
    """`check_arrays(x, w)`, if there are such arguments."""
    given = [p for p, how in facts.memory.taken.items() if how == helper]
    if not given:
        return []
    made = statement(f"{facts.library(helper)}()")
    made.value.args = [expression(one) for one in given]
    return [made]


def _is_unknown(parameter: str, facts: Facts) -> bool:
    """Whether nothing is known of what an argument is, and a derivative flows through it."""
    known = facts.kinds.arguments.get(parameter, UNKNOWN).tag != "unknown" or parameter in facts.kinds.containers
    return not known and (parameter in facts.activity.active or facts.request.mode == "hvp")


def _of_shape_alone(program: Program, facts: Facts) -> dict[str, None]:
    """Arguments that are differentiated, of which the text reads no more than `.size` and the like, beside a value."""
    idle = [
        p
        for p in facts.request.wrt
        if p not in facts.activity.active and facts.kinds.arguments.get(p, UNKNOWN).tag == "unknown"
    ]
    block = [*program.forward, *program.backward] if idle else []
    found = [n for node in block for n in value_attributes(node) if n.attr in PASSIVE_ATTRIBUTES]
    return {n.value.id: None for n in found if getattr(n.value, "id", "") in idle}


def _containers(facts: Facts) -> dict[str, None]:
    """Arguments that are unpacked, or of which items are read by names, and of which nothing else is known."""
    return {
        p: None
        for p in facts.request.wrt
        if p in facts.kinds.containers and p in facts.activity.active and p not in facts.kinds.arguments
    }


@record
class _Places:
    """What the statements of a text tell of its arguments."""

    facts: Facts
    held: dict[str, list[str]]  # name -> the arguments, or parts of these, that it may be, if they are lists
    whole: dict[str, str]  # names of arguments, and of parts, that are containers -> how the text spells these
    parts: dict[str, None] = field(default_factory=dict)  # their parts that each call reads, as the text spells them
    asked: dict[str, None] = field(default_factory=dict)  # arguments of which a method of arrays is called
    read: dict[str, None] = field(default_factory=dict)  # arguments of which items are read
    named: dict[str, None] = field(default_factory=dict)  # arguments into which the text writes by names: dicts
    own: dict[str, None] = field(default_factory=dict)  # those for which a list has no such attribute, in each call
    arrays: dict[str, None] = field(default_factory=dict)  # those for which what is no array is an error in each call
    other: dict[str, None] = field(default_factory=dict)  # names that may be bound to what is none of these arguments
    negative: dict[str, None] = field(default_factory=dict)  # those of which the backward half negates an adjoint

    def block(self, block: Block, *, always: bool = True, backward: bool = False) -> None:
        """Look at statements in order; `always` says that they run in each call."""
        for node in block:
            parts = header(node) if isinstance(node, _BLOCKS) else [node]
            if always and not backward:
                self._parts(node, parts)
            for part in parts:
                for item in walk(part):
                    self._expression(item, always and not isinstance(node, gast.While))
            self._note_binding(node, backward=backward, always=always)
            for which in ("body", "orelse", "finalbody"):
                inner = getattr(node, which, None) if isinstance(node, _BLOCKS) else None
                if inner:
                    self.block(inner, always=always and isinstance(node, gast.With), backward=backward)

    def _parts(self, node: Node, parts: list[Node]) -> None:
        """The parts of containers that a statement reads in each call."""
        for item in [item for part in parts for item in walk(part)]:
            plain = isinstance(item, gast.Subscript) and isinstance(item.slice, gast.Constant)
            if plain and isinstance(item.ctx, gast.Load) and getattr(item.value, "id", "") in self.whole:
                self.parts[self._spell_part(item)] = None
        if isinstance(node, gast.Assign) and getattr(node.value, "id", "") in self.whole:
            parts = [part for _, part in self._pairs(node.targets[0], node.value) if isinstance(part, gast.Subscript)]
            self.parts.update(dict.fromkeys(map(self._spell_part, parts)))

    def _note_binding(self, node: Node, *, backward: bool, always: bool) -> None:
        value = node.value if isinstance(node, gast.Assign) else None
        pairs = [] if value is None else self._pairs(node.targets[0], value)
        if isinstance(node, gast.For) or (not pairs and value is not None and isinstance(node.targets[0], gast.Tuple)):
            of = self._list(node.iter if value is None else value)
            self.read.update(dict.fromkeys(of))
        if backward:
            return
        bound = {one: self._list(part) for one, part in pairs}
        sure = [one for one, part in pairs if always and self._certain_lists(part)]
        errors = [] if value is None else [p for item in walk(value) for p in self._of_arrays(item)]
        for one in [*stores(node), *written_names(node)]:
            if one in sure:
                self.other.pop(one, None)
            elif one not in written_names(node) and not all(p in errors for p in self.held.get(one, [one])):
                self.other[one] = None
            self.whole.pop(one, None)
            if always and not written_names(node):
                self.held.pop(one, None)
        for one, of in bound.items():
            if of and of[0] in self.parts and one in self.facts.kinds.containers:
                self.whole |= {one: of[0]} if always else {}
            elif of:
                self.held[one] = list(dict.fromkeys([*self.held.get(one, []), *of]))
                same = one in self.facts.memory.taken and isinstance(dict(pairs)[one], gast.Name)
                self.asked.update(dict.fromkeys(of if same else []))

    def _pairs(self, place: Node, value: Node) -> list[tuple[str, Node]]:
        """Names and what they are bound to: `a, b = b, a`, and `a, b = params` for a container, too."""
        if isinstance(place, gast.Name):
            return [(place.id, value)]
        if not isinstance(place, gast.Tuple) or not all(isinstance(one, gast.Name) for one in place.elts):
            return []
        if isinstance(value, gast.Name) and value.id in self.whole:
            return [(one.id, expression(f"{value.id}[{k}]")) for k, one in enumerate(place.elts)]
        both = isinstance(value, gast.Tuple) and len(place.elts) == len(value.elts)
        return [(one.id, part) for one, part in zip(place.elts, value.elts, strict=True)] if both else []

    def _spell_part(self, part: Node) -> str:
        """`p[1]["k"]` for the part `d["k"]` of `a, d = p`, as the text spells it before all statements."""
        return f"{self.whole[part.value.id]}[{gast.unparse(part.slice)}]"

    def _list(self, value: Node) -> list[str]:
        """The arguments of which a value is a list, if they are lists."""
        if isinstance(value, gast.Name):
            return self.held.get(value.id, [])
        if isinstance(value, gast.Subscript) and getattr(value.value, "id", "") in self.whole:
            return [spelled] if (spelled := self._spell_part(value)) in self.parts else []
        if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice):
            return self._list(value.value)
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add):
            left, right = self._list(value.left), self._list(value.right)
            return [*left, *right] if left and right else []
        if called_name(value) in _GO_ON or function_called(value, self.facts) is runtime.owned:
            return [one for part in value.args for one in self._list(part)]
        return []

    def _certain_lists(self, value: Node) -> list[str]:
        """The arguments of which a value is a list if they are lists, in each call, whatever the others are."""
        of = self._list(value)
        sure = len(dict.fromkeys(of)) == 1  # a list and an array give an array: `x + b`
        return of if sure and not any(getattr(node, "id", "") in self.other for node in walk(value)) else []

    def _expression(self, node: Node, always: bool) -> None:
        kind = type(node)
        if kind in SIMPLE:
            return
        if kind is gast.Subscript and isinstance(getattr(node.slice, "value", None), str):
            own = [one for one in self._list(node.value) if isinstance(node.ctx, gast.Store) or one in self.parts]
            self.named.update(dict.fromkeys(own))
        if kind is gast.Subscript and not _has_axes(node.slice):
            self.read.update(dict.fromkeys(self._list(node.value)))
            adjoint = getattr(node.value, "id", "")
            owner = self.facts.names.adjoint_of.get(adjoint, "")
            if isinstance(node.ctx, gast.Store) and owner in [p for of in self.held.values() for p in of]:
                self.read[owner] = None
        elif kind is gast.Call:
            self._call(node)
        if kind is gast.UnaryOp and function_called(node.operand, self.facts) in FITTED:
            of = self._list(node.operand.args[1])
            self.negative.update({p: None for p in of if self.facts.memory.if_list.get(p) != "error"})
        if always and kind is gast.Attribute and node.attr not in _OF_LISTS:
            self.own.update(dict.fromkeys(self._certain_lists(node.value)))
        if always and node not in self.facts.origin.foreign:
            self.arrays.update(dict.fromkeys(self._of_arrays(node)))

    def _call(self, node: Node) -> None:
        """A function of the text that reads an argument by place, or one of NumPy that makes an array of it."""
        rule = rule_of(object_of(node.func, self.facts))
        ours = rule is not None and str(getattr(rule.op, "__module__", "")).startswith("srcgrad.")
        if rule is not None and rule.kind != "constant" and rule.own is None and not ours:
            several = rule.op in _OF_EACH
            given = [*node.args[several:], *(word.value for word in node.keywords)]
            given += node.args[:1] if several and isinstance(node.args[0], gast.List | gast.Tuple) else []
            given += [item for one in given if isinstance(one, gast.List | gast.Tuple) for item in one.elts]
            self.read.update(dict.fromkeys(one for part in given for one in self._list(part)))
        inner = self.facts.module.making.get(called_name(node))
        for parameter, value in zip(_parameters(inner), node.args, strict=False) if inner is not None else ():
            if inner.memory.taken.get(parameter):
                noted = self.asked if inner.memory.taken[parameter] == "check_method" else self.read
                noted.update(dict.fromkeys(self._list(value)))

    def _of_arrays(self, node: Node) -> list[str]:
        """The arguments with which an expression is an error if they are lists."""
        kind = type(node)
        if kind is gast.BinOp:
            return self._lists_of_operands(node.left, node.right, node.op)
        if kind is gast.Subscript and _has_axes(node.slice) and not isinstance(node.slice, gast.Slice):
            return self._certain_lists(node.value)
        if kind is gast.Call:
            found = binding_of(node.func, self.facts, self.facts.names.local)
            of_numbers = found is not None and getattr(found.object, "__module__", "") == "math"
            return [one for part in node.args for one in self._certain_lists(part)] if of_numbers else []
        if kind is gast.UnaryOp and not isinstance(node.op, gast.Not):
            return self._certain_lists(node.operand)
        if kind is gast.Compare and isinstance(node.ops[0], _ORDERS):
            return self._lists_of_operands(node.left, node.comparators[0], gast.Sub())
        return []

    def _lists_of_operands(self, left: Node, right: Node, op: Node) -> list[str]:
        of = [*self._certain_lists(left), *self._certain_lists(right)]
        numbers = [part.value for part in (left, right) if isinstance(part, gast.Constant)]
        if numbers:
            repeats = isinstance(op, gast.Mult) and isinstance(numbers[0], int)
            return [] if repeats else of
        same = self._certain_lists(left) and dict.fromkeys(of) == dict.fromkeys(self._certain_lists(left))
        return of[:1] if same and self._certain_lists(right) and not isinstance(op, gast.Add) else []


def _has_axes(index: Node) -> bool:
    """Whether an index is none of a list: a slice, which gives a list again, or one of arrays."""
    if isinstance(index, gast.Slice | gast.Tuple):
        return True
    return isinstance(index, gast.Constant) and (index.value is None or index.value is ...)


def _parameters(facts: Facts) -> list[str]:
    arguments = facts.source.tree.args
    return [one.id for one in [*arguments.posonlyargs, *arguments.args]]


Tree = TypeVar("Tree")
_LISTS = ("list", "maybe")
_ARRAYS = ("array", "both")
_OF_ITEMS = ("given", "display")  # shapes of arrays that have the items of a list


def note_list_arguments(program: Tree, facts: Facts) -> Tree:
    """Note what a list would be, by argument: an `error` of the function, or of `another` text.

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> text = "def f(x, p, q):\\n    return np.sum(x * p) + x + q**2"
    >>> explain_facts(text, after="note_list_arguments").memory.if_list
    {'x': 'another', 'p': 'another', 'q': 'error'}
    """
    if isinstance(program, Program) and not facts.module.target.typed:
        for one in [p for p in program.parameters if p not in facts.names.seeds]:
            if facts.kinds.arguments.get(one, UNKNOWN).tag == "unknown" and one not in facts.kinds.containers:
                looked = _ListLook(facts, {one: "list"}, {one})
                if found := looked.at(program):
                    facts.memory.if_list[one] = found
    return program


_NAMES = re.compile(r"[^\W\d]\w*")


@record
class _ListLook:
    """What names hold if an argument is a list: `list`, `maybe` a list, `array`, `both` in turn, or other."""

    facts: Facts
    kinds: dict[str, str]
    held: set[str]  # names of which something was known at some time: what reads none of them is of no kind
    backward: bool = False  # whether it looks at what the derivative adds, which may fail where the function does not
    found: str = ""

    def at(self, program: Program) -> str:
        """What a list is for a program in two halves."""
        self.block(program.forward)
        self.backward = True
        self.block([] if self.found else program.backward)
        return self.found

    def block(self, block: Block, always: bool = True) -> None:
        """Look at statements in order; `always` says that they run in each call."""
        for node in block:
            if _binds(node):
                self._bind(node.targets[0].id, self._look(node.value, always), always)
            else:
                for part in header(node):
                    self._look(part, always)
            if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Subscript):
                self._bind(f"{gast.unparse(node.targets[0].value)}[]", self._look(node.value, always), False)
            for inner in [getattr(node, "body", None), getattr(node, "orelse", None)] if type(node) in _BLOCKS else ():
                if inner:
                    for _ in range(1 + isinstance(node, gast.For | gast.While)):  # what a trip hands on to the next
                        self.block(inner, always and not isinstance(node, gast.If))

    def _bind(self, name: str, kind: str, always: bool) -> None:
        before = self.kinds.get(name, "")
        if not always and kind != before:
            made = [one for one in (kind, before) if one in _ARRAYS]
            both = len(made) == 1 and (kind in _LISTS or before in _LISTS)
            kind = "both" if both or "both" in made else "array" if made else "maybe" if kind or before else ""
        self.kinds[name] = kind
        if kind:
            self.held.update(_NAMES.findall(name))

    def _look(self, node: Node, always: bool) -> str:
        return "" if self.held.isdisjoint(reads(node)) else self.kind(node, always)

    def kind(self, node: Node, always: bool) -> str:
        """What an expression is; an operator that cannot take a list is noted."""
        form = type(node)
        if form is gast.Name:
            return self.kinds.get(node.id, "")
        kinds = [self.kind(child, always) for child in children(node)]
        if form is gast.BinOp:
            return self._operator(node.op, [node.left, node.right], kinds, always)
        if form is gast.Compare and not isinstance(node.ops[0], gast.Is | gast.IsNot | gast.In | gast.NotIn):
            return self._operator(node.ops[0], [node.left, node.comparators[0]], [kinds[0], kinds[-1]], always)
        if form is gast.UnaryOp and not isinstance(node.op, gast.Not):
            return self._error(kinds, always) if kinds[0] in _LISTS else kinds[0]
        if form is gast.Subscript:
            part = kinds[0] if holds(node.slice, gast.Slice) else ""
            return part or self.kinds.get(f"{gast.unparse(node.value)}[]", "")
        return self._call(node, kinds[1:]) if form is gast.Call else ""

    def _operator(self, op: Node, operands: list[Node], kinds: list[str], always: bool) -> str:
        if kinds == ["", ""]:
            return ""
        if any(kind in _ARRAYS for kind in kinds):
            return "array"
        if all(kinds):
            return "list" if isinstance(op, gast.Add) and not self.backward else self._error(kinds, always)
        [beside] = [part for part, kind in zip(operands, kinds, strict=True) if not kind]
        if self.backward or isinstance(beside, gast.Constant):
            if isinstance(op, gast.Mult) and isinstance(getattr(beside, "value", None), int):
                return "list"  # it is repeated
            return self._error(kinds, always) if not isinstance(op, gast.Eq | gast.NotEq) or self.backward else ""
        return "array" if not isinstance(beside, gast.List | gast.Tuple) else "maybe"

    def _error(self, kinds: list[str], always: bool) -> str:
        if self.backward:
            self.found = self.found or "another"
        elif always and "maybe" not in kinds:
            self.found = "error"
        return "array"

    def _call(self, node: Node, kinds: list[str]) -> str:
        """What a call gives: a function of numbers, applied to each item, an array."""
        function = function_called(node, self.facts)
        if function in FITTED:
            return kinds[1]
        if function is runtime.check_seed and not set(kinds[1:]).isdisjoint(_ARRAYS):
            self.found = "error"  # a gradient is that of a number
        items = f"{getattr(getattr(node.func, 'value', None), 'id', '')}[]"
        if getattr(node.func, "attr", "") == "append" and kinds:
            self._bind(items, kinds[0], False)
        if called_name(node) == "sum" and node.args:
            items = f"{gast.unparse(node.args[0])}[]"
        if called_name(node) == "sum" or getattr(node.func, "attr", "") == "pop":
            return self.kinds.get(items, "")
        found = binding_of(node.func, self.facts, self.facts.names.local)
        if found is None or found.kind != "object":
            return ""
        rule = rule_of(found.object)
        if rule is None or not any(kinds):
            return ""
        return "array" if rule.kind == "elementwise" or rule.is_like_first or rule.shape in _OF_ITEMS else ""


def _binds(node: Node) -> bool:
    return type(node) is gast.Assign and type(node.targets[0]) is gast.Name


def derive_called_functions(function: Node, facts: Facts) -> None:
    """Replace the calls through which a derivative flows; all others stay calls of the primal.

    Operations get the derivatives that they need of functions that they are given, and these functions have names.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "from scipy.integrate import odeint\\ndef f(k, t):\\n    return odeint(lambda y, t: -k * y, 1.0, t)"
    >>> print(explain_text(text, after="derive_called_functions", wrt=("k",)))
    def f(k, t):
        result = odeint(inner, 1.0, t, args=(k,))
        return result
    """
    _replace_calls(function, facts)
    for node in statements(function.body):
        operation = facts.operation_of(node)
        rule = None if operation is None else operation.rule
        if operation is not None and rule is not None and rule.handed is not None and rule.kind != "constant":
            if any(one.id in facts.activity.active for one in find_nodes(node, gast.Name)):
                _add_derivative_argument(node.value, operation, facts)
    for item in [n for node in function.body for n in find_nodes(node, gast.Name)]:
        found = facts.namespace.lookup(item.id) if item.id not in facts.names.local else None
        if found is not None and isinstance(found.object, ClosedFunction):
            item.id = facts.module.derivative(found.object, "primal", (), {}, facts)


def _add_derivative_argument(call: Node, operation: Operation, facts: Facts) -> None:
    """Put the derivative of the function of a call beside the arguments of the operation."""
    assert operation.rule is not None and operation.rule.handed is not None, "the caller has looked"
    how, leading = operation.rule.handed, operation.rule.handed.leading
    assert leading is not None, "only a constant takes functions of any number of arguments"
    given = operation.bound[how.parameter]
    function = _function(given, facts)
    tree = facts.module.callee(function, call, facts).tree
    own = [one.id for one in (*tree.args.posonlyargs, *tree.args.args)]
    elements = _elements(call, operation, facts)
    places = [k for k, one in enumerate(elements) if active_operand(one, facts)]
    if tree.args.vararg is not None and isinstance(function, FunctionType):  # `def g(u, *args)`
        function = with_places(function, -1, leading + len(elements)) or function
        tree = facts.module.callee(function, call, facts).tree
        own = parameters(tree)
    if len(own) < leading + len(elements) or tree.args.vararg is not None:
        raise facts.refuse(
            call, "E5005", f"the arguments do not fit those of `{gast.unparse(given)}`", f"it takes: {', '.join(own)}"
        )
    wrt, kinds = [own[leading + k] for k in places], dict.fromkeys(own[:leading], SCALAR)
    if how.state is not None:
        state = 1 - how.state if _is_swapped(operation, how.swapped) else how.state
        wrt.insert(0, own[state])
        kinds[own[state]] = SCALAR if how.ndim == 0 else Kind("array", 1) if how.ndim else UNKNOWN
    kinds |= kinds_of({own[leading + k]: one for k, one in enumerate(elements)}, facts)
    mode = "push" if facts.pushes_forward else "pull"
    operation.bound[mode] = literal_node(None)
    if wrt:
        operation.bound[mode] = name(facts.module.derivative(function, mode, tuple(wrt), kinds, facts))
    if how.again:
        derivative = _function(operation.bound[how.again], facts)
        seed = required_words(facts.module.callee(derivative, call, facts).tree)
        wrt += seed if mode == "pull" else []
        operation.bound["again"] = name(facts.module.derivative(derivative, mode, tuple(wrt), kinds, facts))
    shown = literal_node(None) if len(places) == len(elements) else expression(repr(tuple(places)))
    operation.bound["places"] = shown


def _function(given: Node, facts: Facts) -> Any:
    """What an argument names."""
    found = binding_of(given, facts, facts.names.local)
    if found is None or found.kind not in ("object", "function"):
        raise facts.refuse(
            given,
            "E5003",
            f"the function `{gast.unparse(given)}` is not known before the call runs",
            "name a function: of a module, one that stands in this function, or an argument of it",
        )
    return found.static if found.static is not None else found.object


def _is_swapped(operation: Operation, parameter: str) -> bool:
    given = operation.bound.get(parameter)
    return given is not None and getattr(given, "value", False) is True


def _elements(call: Node, operation: Operation, facts: Facts) -> list[Node]:
    """The further arguments of the function, one by one."""
    assert operation.rule is not None and operation.rule.handed is not None, "the caller has looked"
    args = operation.bound.get(operation.rule.handed.args)
    if args is None or isinstance(args, gast.Tuple):
        found = [] if args is None else args.elts
        for item in found:
            inside = [n for n in find_nodes(item, gast.Name) if n.id in facts.activity.active]
            if inside and not isinstance(item, gast.Name):
                raise facts.refuse(
                    item, "E5005", "a container of active values among the arguments", "pass the values one by one"
                )
        return list(found)
    if any(isinstance(n, gast.Name) and n.id in facts.activity.active for n in walk(args)):
        raise facts.refuse(
            call,
            "E5005",
            f"`{operation.rule.handed.args}=` is not written as a tuple",
            f"write `{operation.rule.handed.args}=(a, b)`, or `{operation.rule.handed.args}=tuple(p)` of an array `p`",
        )
    return []


_IN_PLACE = ("sort", "fill", "partition", "resize", "put", "itemset")


def check_harmless(operation: Operation, facts: Facts) -> None:
    """E5010 where the text of a function with a rule, or of the rule, writes into what it gets."""
    own = operation.rule.own if operation.rule is not None else None
    if own is None:
        return
    halves: Any = own.applied
    called = [operation.function] if halves is None else [halves.forward, halves.backward]
    rules = [own.vjp, own.jvp, *own.sensitivities.values(), *own.shared.values()]
    for function, first in [*((one, 0) for one in called), *((one, 0) for one in rules), *_accumulator_forms(own)]:
        found = None if function is None or is_opaque(function) else _first_write(function, first, facts)
        if found is not None:
            source, node, name = found
            raise DifferentiationError(
                "E5010",
                f"`{source.name}` writes into `{name}`, which it was given",
                "make a copy under another name, and write into that",
                source.place(node),
            )


def _accumulator_forms(own: Any) -> list[tuple[object, int]]:
    return [(one, 1) for one in own.accumulators.values()]  # the first parameter is there to be added to


def _first_write(function: object, first: int, facts: Facts) -> tuple[Any, Node, str] | None:
    """The first statement that writes into a parameter, or into a part of one; parameters before `first` may change."""
    try:
        source, _ = facts.module.source(function)
    except DifferentiationError:
        return None  # no source
    tree = source.tree
    given = set(parameters(tree)[first:])
    todo = True
    while todo:
        handed = {s for node in statements(tree.body) if _hands(node, given) for s in stores(node)}
        todo = not handed <= given
        given |= handed
    for node in statements(tree.body):
        for name in _changes(node):
            if name in given:
                return source, node, name
    return None


def _hands(node: Node, given: set[str]) -> bool:
    """Whether an assignment gives a parameter, or a part of one, another name: `x, y = primals`."""
    value = node.value if isinstance(node, gast.Assign) else None
    if isinstance(value, gast.Attribute) and value.attr in ("shape", "dtype", "size", "ndim"):
        return False
    held = root(value) if isinstance(value, gast.Name | gast.Subscript | gast.Attribute) else None
    return held is not None and held.id in given


def _changes(node: Node) -> list[str]:
    """Names into whose arrays a statement writes."""
    found = []
    if isinstance(node, gast.AugAssign):
        held = root(node.target)
        found += [] if held is None else [held.id]
    elif isinstance(node, gast.Assign):
        parts = [part for part in node.targets if isinstance(part, gast.Subscript)]
        found += [held.id for part in parts if (held := root(part)) is not None]
    for call in find_nodes(node, gast.Call) if isinstance(node, gast.Expr) else []:
        if isinstance(call.func, gast.Attribute) and call.func.attr in _IN_PLACE:
            held = root(call.func.value)
            found += [] if held is None else [held.id]
    return found


ADDING = (np.sum, np.mean, np.prod, np.var, np.std, np.cumsum, np.cumprod, np.linalg.norm)


def autocast(function: Node, facts: Facts) -> Node:
    """With a dtype to compute in, cast each floating array that enters, and widen what reductions take.

    Arguments that hold integers, numbers and containers stay as they are, and so do arrays that the function makes.
    """
    dtype = facts.module.autocast
    if not dtype:
        return function
    if dtype == "float16":
        function.body = rewrite_statements(function.body, lambda node: _widen_sums(node, facts))
    if not facts.request.called:
        function.body[:0] = _cast_arguments(function, dtype, facts)
    facts.forget_shapes()
    return function


def _cast_arguments(function: Node, dtype: str, facts: Facts) -> Block:
    """`x_1 = x.astype(np.float16)`, read in the place of x from here on."""
    made: Block = []
    own = parameters(function)
    read = {n.id for node in function.body for n in find_nodes(node, gast.Name)}
    bound = {*own, *(s for node in statements(function.body) for s in stores(node))} | set(facts.names.local)
    outer = [one for one in sorted(read - bound) if _is_array(facts.namespace.lookup(one))]
    for held in [*[p for p in own if p in read and _enters(p, facts)], *outer]:
        low = facts.names.numbered_name(held) if held in own else facts.names.fresh(f"{held}_{dtype}")
        for node in function.body:
            for item in walk(node):
                if isinstance(item, gast.Name) and item.id == held:
                    item.id = low
        if held in own:
            facts.names.base[low] = held
        for table in (facts.activity.varied, facts.activity.active):
            if held in table:
                table[low] = None
        made.append(_cast(low, name(held), dtype, function, facts))
    return made


def _enters(parameter: str, facts: Facts) -> bool:
    """Whether an argument is an array of floats: it is differentiated, or its kind says so."""
    kind = facts.kinds.of_names.get(parameter, UNKNOWN)
    if kind.tag == "unknown":
        return parameter in facts.request.wrt
    return kind.tag == "array" and kind.ndim != 0 and kind.dtype != "integer"


def _is_array(found: Binding | None) -> bool:
    value: object = None if found is None or found.kind != "object" else found.object
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim > 0


def _widen_sums(node: Node, facts: Facts) -> Block:
    """`np.sum(h)` of an array as `np.sum(h.astype(np.float32))`."""
    operation = facts.operation_of(node)
    if operation is not None and any(operation.function is one for one in ADDING):
        parameter, operand = next(iter(operation.bound.items()))
        spec = facts.values.spec.get(operand)
        if isinstance(operand, gast.Name) and operand.id in facts.activity.varied and spec is not None and spec.ndim:
            return [_widen(node, parameter, operand, operation, facts), node]
    return [node]


def _widen(node: Node, parameter: str, operand: Node, operation: Operation, facts: Facts) -> Node:
    held = facts.names.new_temporary()
    for table in (facts.activity.varied, facts.activity.active):
        if operand.id in table:
            table[held] = None
    made = _cast(held, copy(operand), "float32", node, facts)
    facts.origin.user[made] = facts.origin.user.get(node, node)
    operand.id = held
    operation.bound[parameter] = operand
    return made


def _cast(bound: str, operand: Node, dtype: str, like: Node, facts: Facts) -> Node:
    value = expression(f"x.astype({facts.library('np')}.{dtype})", x=operand)
    facts.resolution.operation[value] = Operation("op", cast, rule_of(cast), {"x": operand, "dtype": value.args[0]})
    return at(assign(bound, value), like)
