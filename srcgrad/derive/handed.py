"""Derivatives of functions that operations are given: `pull`, `push` and `places` in their templates.

`pull` is the function that takes a seed to the adjoints of the state and of those of `args` that are active, `push`
the one that takes their tangents to that of the result; `places` says which of `args` these are, None for all.
`again` is what its derivative in reverse, if the operation is given that as well, is differentiated to.
"""

from __future__ import annotations

from typing import Any  # functions are arbitrary objects

import gast

from srcgrad.analyse.callees import kinds_of
from srcgrad.derive.calls import active_operand
from srcgrad.facts import SCALAR, UNKNOWN, Facts, Kind, Operation
from srcgrad.front.derived import Closed
from srcgrad.front.resolve import binding_of
from srcgrad.trees import Node, constant, expression, name, statements, walk


def handed(function: Node, facts: Facts) -> Node:
    """Make the derivatives that operations need of functions that they are given, and name these functions.

    >>> from srcgrad.phases import explain_text
    >>> text = "from scipy.integrate import odeint\\ndef f(k, t):\\n    return odeint(lambda y, t: -k * y, 1.0, t)"
    >>> print(explain_text(text, after="handed", wrt=("k",)))
    def f(k, t):
        y_ = odeint(inner, 1.0, t, args=(k,))
        return y_
    """
    for node in statements(function.body):
        operation = facts.operation.get(getattr(node, "value", None))
        if operation is not None and operation.rule is not None and operation.rule.handed is not None:
            if any(one.id in facts.active for one in walk(node) if isinstance(one, gast.Name)):
                _differentiated(node.value, operation, facts)
    for item in [n for node in function.body for n in walk(node) if isinstance(n, gast.Name)]:
        found = facts.namespace.lookup(item.id) if item.id not in facts.local else None
        if found is not None and isinstance(found.object, Closed):
            item.id = facts.module.derivative(found.object, "primal", (), {}, facts)
    return function


def _differentiated(call: Node, operation: Operation, facts: Facts) -> None:
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
        state = 1 - how.state if _swapped(operation, how.swapped) else how.state
        wrt.insert(0, own[state])
        kinds[own[state]] = SCALAR if how.ndim == 0 else Kind("array", 1) if how.ndim else UNKNOWN
    kinds |= kinds_of({own[how.leading + k]: one for k, one in enumerate(elements)}, facts)
    mode = "push" if facts.pushes_forward else "pull"
    operation.bound[mode] = constant(None)
    if wrt:
        operation.bound[mode] = name(facts.module.derivative(function, mode, tuple(wrt), kinds, facts))
    if how.again:
        derivative = _function(operation.bound[how.again], facts)
        seed = [one.id for one in facts.module.callee(derivative, call, facts).tree.args.kwonlyargs]
        wrt += seed if mode == "pull" else []
        operation.bound["again"] = name(facts.module.derivative(derivative, mode, tuple(wrt), kinds, facts))
    shown = constant(None) if len(places) == len(elements) else expression(repr(tuple(places)))
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


def _swapped(operation: Operation, parameter: str) -> bool:
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
