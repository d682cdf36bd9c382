"""Operations that are given functions, and what these leave alone.

Derivatives of functions that operations are given: `pull`, `push` and `places` in their templates.

`pull` is the function that takes a seed to the adjoints of the state and of those of `args` that are active, `push`
the one that takes their tangents to that of the result; `places` says which of `args` these are, None for all.
`again` is what its derivative in reverse, if the operation is given that as well, is differentiated to.

Functions with rules, and the rules, must leave alone what they are given: it is the caller's.
"""

from __future__ import annotations

from typing import Any  # functions are arbitrary objects

import gast

from srcgrad.analysis.argument_kinds import kinds_of
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import SCALAR, UNKNOWN, Facts, Kind, Operation
from srcgrad.core.marks import is_opaque
from srcgrad.core.trees import Node, expression, literal_node, name, root, statements, stores, walk
from srcgrad.derive.calls import active_operand
from srcgrad.frontend.calls.derivatives_in_body import ClosedFunction
from srcgrad.frontend.resolve import binding_of


def function_arguments(function: Node, facts: Facts) -> Node:
    """Make the derivatives that operations need of functions that they are given, and name these functions.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "from scipy.integrate import odeint\\ndef f(k, t):\\n    return odeint(lambda y, t: -k * y, 1.0, t)"
    >>> print(explain_text(text, after="function_arguments", wrt=("k",)))
    def f(k, t):
        y_ = odeint(inner, 1.0, t, args=(k,))
        return y_
    """
    for node in statements(function.body):
        operation = facts.operation.get(getattr(node, "value", None))
        if operation is not None and operation.rule is not None and operation.rule.handed is not None:
            if any(one.id in facts.active for one in walk(node) if isinstance(one, gast.Name)):
                _add_derivative_argument(node.value, operation, facts)
    for item in [n for node in function.body for n in walk(node) if isinstance(n, gast.Name)]:
        found = facts.namespace.lookup(item.id) if item.id not in facts.local else None
        if found is not None and isinstance(found.object, ClosedFunction):
            item.id = facts.module.derivative(found.object, "primal", (), {}, facts)
    return function


def _add_derivative_argument(call: Node, operation: Operation, facts: Facts) -> None:
    """Put the derivative of the function of a call beside the arguments of the operation."""
    assert operation.rule is not None and operation.rule.handed is not None, "the caller has looked"
    how = operation.rule.handed
    given = operation.bound[how.parameter]
    function = _function(given, facts)
    tree = facts.module.callee(function, call, facts).tree
    own = [one.id for one in (*tree.args.posonlyargs, *tree.args.args)]
    elements = _elements(call, operation, facts)
    places = [k for k, one in enumerate(elements) if active_operand(one, facts)]
    if len(own) < how.leading + len(elements) or tree.args.vararg is not None:
        raise facts.refuse(
            call, "E5005", f"the arguments do not fit those of `{gast.unparse(given)}`", f"it takes: {', '.join(own)}"
        )
    wrt, kinds = [own[how.leading + k] for k in places], dict.fromkeys(own[: how.leading], SCALAR)
    if how.state is not None:
        state = 1 - how.state if _is_swapped(operation, how.swapped) else how.state
        wrt.insert(0, own[state])
        kinds[own[state]] = SCALAR if how.ndim == 0 else Kind("array", 1) if how.ndim else UNKNOWN
    kinds |= kinds_of({own[how.leading + k]: one for k, one in enumerate(elements)}, facts)
    mode = "push" if facts.pushes_forward else "pull"
    operation.bound[mode] = literal_node(None)
    if wrt:
        operation.bound[mode] = name(facts.module.derivative(function, mode, tuple(wrt), kinds, facts))
    if how.again:
        derivative = _function(operation.bound[how.again], facts)
        seed = [one.id for one in facts.module.callee(derivative, call, facts).tree.args.kwonlyargs]
        wrt += seed if mode == "pull" else []
        operation.bound["again"] = name(facts.module.derivative(derivative, mode, tuple(wrt), kinds, facts))
    shown = literal_node(None) if len(places) == len(elements) else expression(repr(tuple(places)))
    operation.bound["places"] = shown


def _function(given: Node, facts: Facts) -> Any:
    """What an argument names."""
    found = binding_of(given, facts, facts.local)
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
            inside = [n for n in walk(item) if isinstance(n, gast.Name) and n.id in facts.active]
            if inside and not isinstance(item, gast.Name):
                raise facts.refuse(
                    item, "E5005", "a container of active values among the arguments", "pass the values one by one"
                )
        return list(found)
    if any(isinstance(n, gast.Name) and n.id in facts.active for n in walk(args)):
        raise facts.refuse(
            call,
            "E5005",
            f"`{operation.rule.handed.args}=` is not written as a tuple",
            f"write `{operation.rule.handed.args}=(a, b)`",
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


def _accumulator_forms(own: Any) -> list[tuple[Any, int]]:
    return [(one, 1) for one in own.accumulators.values()]  # the first parameter is there to be added to


def _first_write(function: Any, first: int, facts: Facts) -> tuple[Any, Node, str] | None:
    """The first statement that writes into a parameter, or into a part of one; parameters before `first` may change."""
    try:
        source, _ = facts.module.source(function)
    except DifferentiationError:
        return None  # no source
    tree = source.tree
    arguments = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    given = {a.id for a in arguments[first:]}
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
    for call in [n for n in walk(node) if isinstance(n, gast.Call)] if isinstance(node, gast.Expr) else []:
        if isinstance(call.func, gast.Attribute) and call.func.attr in _IN_PLACE:
            held = root(call.func.value)
            found += [] if held is None else [held.id]
    return found
