"""Which values may be complex: there the backward half conjugates, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any  # operations are arbitrary Python objects

import gast
import numpy as np

from srcgrad.analyse.binding import bind
from srcgrad.analyse.sources import DTYPES, LIKE, from_binding, is_complex_dtype, is_maker, makes_complex
from srcgrad.facts import UNKNOWN, Facts, Kind, Operation
from srcgrad.front.given import taken_as_real
from srcgrad.front.resolve import METHODS, binding_of
from srcgrad.front.webs import parameters
from srcgrad.rules import Rule, rule_of
from srcgrad.runtime.magnitude import squared_magnitude
from srcgrad.template import adjoint_template
from srcgrad.trees import Node, children, statements, stores, written

_PLACE_OF_OUTPUT = 4  # of what scipy.signal.butter and its relatives return, or later


def complexes(function: Node, facts: Facts) -> Node:
    """Find the names that may hold a complex number.

    >>> from srcgrad.phases import explain_facts
    >>> list(explain_facts("def f(x):\\n    z = np.fft.fft(x)\\n    return np.sum(np.abs(z))", "complexes").complex)
    ['z']
    """
    facts.complex.update({p: None for p in parameters(function) if facts.kinds.get(p, UNKNOWN).complex})
    order = list(statements(function.body))
    known = -1
    while known != len(facts.complex):
        known = len(facts.complex)
        for node in order:
            if _source(node, facts):
                facts.complex.update(dict.fromkeys(stores(node)))
    if facts.complex:
        _join_squares(order, facts)
    return function


def _join_squares(order: list[Node], facts: Facts) -> None:
    """`abs(z) ** 2` within a statement of the user is one operation: its derivative needs no division by `abs(z)`."""
    for node in order:
        operation = facts.operation.get(getattr(node, "value", None))
        operand = None if operation is None else _squared(operation)
        made = facts.definition.get(operand or "")
        inner = facts.operation.get(getattr(made, "value", None))
        if operand not in facts.temporaries or inner is None or inner.rule is not rule_of(np.absolute):
            continue
        z = inner.bound["x"]
        near = [n for n in order if facts.origin.get(n, n) is facts.origin.get(node, node)]
        if (
            made in near
            and isinstance(z, gast.Name)
            and z.id in facts.complex
            and not any(z.id in stores(n) for n in near[near.index(made) :])
        ):
            rule = rule_of(squared_magnitude)
            facts.operation[node.value] = Operation("op", squared_magnitude, rule, {"z": z})


def _squared(operation: Operation) -> str | None:
    """The name that an operation squares."""
    parts = list(operation.bound.values())
    if not parts or not isinstance(parts[0], gast.Name):
        return None
    if operation.function is np.power and isinstance(parts[1], gast.Constant) and parts[1].value == 2:
        return str(parts[0].id)
    if operation.function is np.multiply and isinstance(parts[1], gast.Name) and parts[0].id == parts[1].id:
        return str(parts[0].id)
    return str(parts[0].id) if operation.function is np.square else None


def _source(node: Node, facts: Facts) -> bool:
    """Whether what a statement binds, or stores into an array or a list, may be complex."""
    if isinstance(node, gast.For):
        return may_be_complex(node.iter, facts)
    if isinstance(node, gast.Assign | gast.AugAssign):
        return may_be_complex(node.value, facts)
    if isinstance(node, gast.Expr) and written(node):
        return any(may_be_complex(argument, facts) for argument in node.value.args)
    return False


def may_be_complex(node: Node, facts: Facts) -> bool:
    """Whether the value of an expression, of the primal or of a derivative, may be complex."""
    if isinstance(node, gast.Name):
        return _name(node, facts)
    if isinstance(node, gast.Constant):
        return isinstance(node.value, complex)
    if isinstance(node, gast.BinOp):
        while isinstance(node, gast.BinOp):  # a long chain is walked, not descended
            if may_be_complex(node.right, facts):
                return True
            node = node.left
        return may_be_complex(node, facts)
    if isinstance(node, gast.Compare | gast.Slice | gast.JoinedStr):
        return False
    if isinstance(node, gast.Attribute):
        return _attribute(node, facts)
    if isinstance(node, gast.Subscript):
        return may_be_complex(node.value, facts)
    if isinstance(node, gast.Call):
        return _call(node, facts)
    if isinstance(node, gast.IfExp):
        return may_be_complex(node.body, facts) or may_be_complex(node.orelse, facts)
    return any(may_be_complex(child, facts) for child in children(node))


def note_complex(held: str, value: Node, facts: Facts) -> None:
    """Keep whether a name that derivation made may be complex."""
    if may_be_complex(value, facts):
        facts.complex[held] = None


def _name(node: Node, facts: Facts) -> bool:
    primal = facts.adjoint_of.get(node.id, node.id)
    if primal in facts.complex:
        return True
    if node.id in facts.local or node.id in facts.temporaries or node.id in facts.base:
        return False
    return from_binding(facts.namespace.lookup(node.id))


def _attribute(node: Node, facts: Facts) -> bool:
    if node.attr in ("real", "imag", "shape", "size", "ndim"):
        return False
    found = binding_of(node, facts, facts.local)
    return may_be_complex(node.value, facts) if found is None else from_binding(found)


def _call(node: Node, facts: Facts) -> bool:
    operation = facts.operation.get(node)
    arguments = [*node.args, *(word.value for word in node.keywords)]
    if operation is not None and operation.kind == "callee":
        return _callee(node, operation.function, arguments, facts)
    function, method = function_called(node, facts)
    operands = [node.func.value, *arguments] if method else arguments
    dtype = dtype_asked(function, node, facts)
    if dtype is not None:
        return dtype
    if any(function is like for like in LIKE) and operands:
        return may_be_complex(operands[0], facts)
    rule = rule_of(function)
    if rule is not None and rule.kind == "refused" and _surely_real(rule, node):
        return False
    if rule is None or rule.kind == "refused" or (operation is None and is_maker(function)):
        found = any(may_be_complex(operand, facts) for operand in operands)
        ours = binding_of(node.func, facts, facts.local) is None and isinstance(node.func, gast.Name)  # of our own text
        ours = ours and node.func.id in facts.imports.values()
        return found or (not method and not ours and makes_complex(function, node.func, facts))
    if rule.kind == "constant":
        return bool(rule.complex) and any(may_be_complex(operand, facts) for operand in operands)
    return _of_rule(rule, node, operands, facts)


def _surely_real(rule: Rule, node: Node) -> bool:
    """Whether the result of what has no derivative is real: of `butter(2, 0.3)`, not of one that asks for poles."""
    if rule.values != "real":
        return False
    asked = [(rule.literals[word.arg], word.value) for word in node.keywords if word.arg in rule.literals]
    known = all(isinstance(value, gast.Constant) and value.value in real for real, value in asked)
    return known and (not rule.literals or len(node.args) < _PLACE_OF_OUTPUT)


def _of_rule(rule: Rule, node: Node, operands: list[Node], facts: Facts) -> bool:
    """Whether the result of an op is complex: as its rule says, else where an argument with a derivative is."""
    if rule.values in ("real", "complex"):
        return rule.values == "complex"
    operation, template = facts.operation.get(node), adjoint_template(rule)
    if template is None:
        return any(may_be_complex(operand, facts) for operand in operands)
    bound = {} if operation is None else operation.bound
    if not bound:
        bound = dict(zip(template.positional, operands, strict=False))
        bound.update({word.arg: word.value for word in node.keywords if word.arg})
    decisive = [rule.values] if rule.values else template.differentiable
    return any(may_be_complex(argument, facts) for p, argument in bound.items() if p in decisive)


def function_called(node: Node, facts: Facts) -> tuple[Any, bool]:
    """The function that a call calls, where it can be told, and whether it is a method of its first operand."""
    operation = facts.operation.get(node)
    found = binding_of(node.func, facts, facts.local) or _of_library(node.func, facts)
    method = found is None and isinstance(node.func, gast.Attribute)
    if operation is not None:
        return operation.function, method
    if found is not None:
        return (found.object if found.static is None else found.static), False
    return (METHODS.get(node.func.attr), True) if method else (None, False)


def _of_library(node: Node, facts: Facts) -> Any:
    """What a name of our own text means: `sum_to`, `np.conj`."""
    if isinstance(node, gast.Name):
        spelled = {text: identifier for identifier, text in facts.imports.items()}
        if node.id in spelled:
            return _Meant(facts.library_values[spelled[node.id]])
    elif isinstance(node, gast.Attribute):
        base = _of_library(node.value, facts)
        found = None if base is None else getattr(base.object, node.attr, None)
        return None if found is None else _Meant(found)
    return None


class _Meant:
    """An object, as a binding."""

    static = None

    def __init__(self, value: Any) -> None:
        self.object = value


def dtype_asked(function: Any, node: Node, facts: Facts) -> bool | None:
    """Whether a dtype that the call names is complex; None if it names none."""
    position = next((place for known, place in DTYPES.items() if known is function), None)
    asked = [word.value for word in node.keywords if word.arg == "dtype"]
    if position is not None and not asked:
        shift = 1 if isinstance(node.func, gast.Attribute) and function is np.ndarray.astype else 0
        shift = 0 if shift and binding_of(node.func, facts, facts.local) is not None else shift
        asked = node.args[position - shift : position - shift + 1]
    if not asked or (isinstance(asked[0], gast.Constant) and asked[0].value is None):
        return None
    known = is_complex_dtype(asked[0], facts)
    if known is not None:
        return known
    return may_be_complex(asked[0], facts) or None


def refused_inside(node: Node, facts: Facts) -> Exception:
    """The refusal of a derivative at complex values whose text was made for real ones."""
    return facts.refuse(
        node,
        "E5017",
        "a derivative is taken inside of a function, at complex values that are computed there",
        "take the derivative outside of it, or pass the real and the imaginary part as two real arguments",
    )


def _callee(node: Node, function: Any, arguments: list[Node], facts: Facts) -> bool:
    """Whether the result of a function with source may be complex, for these arguments."""
    given = [may_be_complex(argument, facts) for argument in arguments]
    if not any(given) and not makes_complex(function, node.func, facts):
        return False
    callee = facts.module.callee(function, node, facts)
    bound = bind(node, callee.tree, facts)
    kinds = {p: Kind(complex=True) for p, argument in bound.items() if may_be_complex(argument, facts)}
    derivative = getattr(function, "__srcgrad_derivative__", None)
    if derivative is not None and kinds:  # its text was made for real arguments
        function = derivative.as_function(kinds)
        facts.operation[node] = replace(facts.operation[node], function=function)
    elif any(p in taken_as_real(function) for p in kinds):
        raise refused_inside(node, facts)
    return bool(facts.module.output_complex(function, kinds))
