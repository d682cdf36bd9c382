"""Dtypes as far as derivatives depend on them: complex numbers, floating values, integers that cut off.

Complex numbers come from literals, dtypes, values from outside, functions that make them of real ones. Where values
may be complex the backward half conjugates, and nowhere else; what has no meaning for them, or no rule, is refused.

Which signs of products may move depends on floating types: of `w = np.uint8(1)`, `-w` is 255, and `2 * w` and `w * w`
may be too large for their type as well. What holds integers by its dtype cuts elements off, and no derivative flows
through it.
"""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Container, Iterable
from dataclasses import field
from typing import Any  # values and functions are arbitrary Python objects

import gast
import numpy as np

from srcgrad.core.bindings import Binding, StaticFunction, attribute
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import UNKNOWN, Facts, Kind, Operation
from srcgrad.core.facts import function_called as facts_function_called
from srcgrad.core.identity import cached_function, home, record, replace
from srcgrad.core.namespace import LiveNamespace, Namespace, Step
from srcgrad.core.rules import FITTED, Rule, adjoint_template, rule_of, values_read
from srcgrad.core.source_text import tree_of
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    children,
    find_nodes,
    is_write,
    loads,
    parameters,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import rewrite_statements
from srcgrad.frontend.calls.inline_call import taken_as_real
from srcgrad.frontend.resolve import METHODS, bind, binding_of, dtype_given
from srcgrad.runtime.singular import squared_magnitude

# Functions that take a dtype by position, and where.
DTYPES: dict[object, int] = {
    np.ndarray.astype: 1, np.array: 1, np.asarray: 1, np.asanyarray: 1, np.ascontiguousarray: 1, np.zeros: 1,
    np.asfortranarray: 1, np.ones: 1, np.empty: 1, np.zeros_like: 1, np.ones_like: 1, np.empty_like: 1, np.full: 2,
    np.full_like: 2, np.identity: 1, np.eye: 3,
}  # fmt: skip

_REAL_HOMES = ("builtins", "math", "operator", "random", "time", "copy", "itertools", "functools", "numpy")
_MAKERS = ("eig", "eigvals", "roots", "sqrtm", "logm", "hilbert", "load", "loadtxt", "genfromtxt", "frombuffer")
_NEVER = (float, int, str, bytes, types.ModuleType, types.FunctionType, np.ufunc, type(np.concatenate), type(None))
_DEPTH = 3  # how deep containers and objects are looked into


def is_complex_value(value: object) -> bool:
    """Whether an object is a complex number, an array or a dtype of them, or holds one.

    >>> is_complex_value([1.0, {"w": np.ones(2) * 1j}]), is_complex_value(2.0), is_complex_value(np.complex64)
    (True, False, True)
    """
    return _holds_complex(value, 0, {})


def _holds_complex(value: object, depth: int, seen: dict[int, tuple[int, object]]) -> bool:
    """The same for what is held so deep; each object is looked into once, unless it is met again less deep."""
    if isinstance(value, _NEVER) or (id(value) in seen and seen[id(value)][0] <= depth):
        return False
    seen[id(value)] = depth, value
    if isinstance(value, complex | np.complexfloating):
        return True
    if isinstance(value, type) and not isinstance(value, types.GenericAlias):  # of Python 3.10, which calls it a type
        return issubclass(value, complex | np.complexfloating)
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return any(_holds_complex(item, depth + 1, seen) for item in value.flat)
    dtype = value if isinstance(value, np.dtype) else getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind == "c"
    if depth == _DEPTH:
        return False
    if isinstance(value, dict):
        return any(_holds_complex(item, depth + 1, seen) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_holds_complex(item, depth + 1, seen) for item in value)
    held = getattr(value, "__dict__", None)
    own = list(held.values()) if isinstance(held, dict) else []
    own += [getattr(value, slot, None) for slot in getattr(type(value), "__slots__", ()) if isinstance(slot, str)]
    return any(_holds_complex(item, depth + 1, seen) for item in own)


def from_binding(found: Binding | None) -> bool:
    """Whether what a name means outside of the function may be complex."""
    if found is None or found.static is not None or found.kind == "module":
        return False
    if found.kind == "object":
        return is_complex_value(found.object)
    if found.kind == "value" and found.expression is not None and found.module is not None:
        return _mentions(ast.parse(found.expression.strip(), mode="eval"), found.module, {})
    return False


def is_complex_dtype(node: Node, facts: Facts) -> bool | None:
    """Whether an expression spells a complex dtype; None where it cannot be told."""
    if isinstance(node, gast.Constant):
        return _spells_complex(node.value)
    found = binding_of(node, facts, facts.names.local)
    if found is not None and found.kind == "object" and isinstance(found.object, type | np.dtype):
        return is_complex_value(found.object)
    return None


def _spells_complex(value: Any) -> bool | None:
    try:
        return bool(np.dtype(value).kind == "c")
    except TypeError:
        return None


def makes_complex(function: object, called: Node, facts: Facts) -> bool:
    """Whether a function without a rule may give complex numbers for real ones."""
    if function is None and isinstance(called, gast.Name):
        items = facts.kinds.of_names.get(called.id, UNKNOWN).items
        function = items[0][0] if items and facts.kinds.of_names[called.id].tag == "function" else None
    return _gives_complex(function, {})


def is_maker(function: object) -> bool:
    """Whether a function of NumPy or SciPy gives complex numbers for some real ones: eigenvalues, roots."""
    return getattr(function, "__name__", "") in _MAKERS and str(home(function)).startswith(("numpy", "scipy"))


def _gives_complex(function: object, seen: dict[int, None]) -> bool:
    if function is None or isinstance(function, types.ModuleType):
        return False
    rule = rule_of(function)
    if is_maker(function):
        return True
    if rule is not None and (rule.kind != "refused" or (rule.values and not rule.literals)):
        return rule.values == "complex"
    if isinstance(function, type) and not isinstance(function, types.GenericAlias):
        return issubclass(function, complex | np.complexfloating)
    if isinstance(function, Step):
        return _of_source(function.source.tree, function.namespace, id(function), seen)
    if isinstance(function, StaticFunction):
        return _of_source(function.node, function.module, id(function.node), seen)
    function = cached_function(getattr(function, "__srcgrad_primal__", getattr(function, "__func__", function)))
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return False  # `np.add.at`
    where = str(home(function))
    if where.split(".")[0] in _REAL_HOMES:
        return where.startswith(("numpy.fft", "numpy.lib.scimath"))
    if where.startswith(("scipy.special", "scipy.stats", "srcgrad.core")):
        return False  # of ours: the decorators of written-out forms, which know all rules
    if isinstance(function, types.FunctionType):
        try:
            tree = tree_of(function)
        except DifferentiationError:
            return True
        return _of_source(tree, LiveNamespace(function), id(function), seen)
    if callable(function) and rule_of(type(function).__call__) is not None:
        return is_complex_value(function)  # a spline is what its coefficients are
    return callable(function)


def _of_source(tree: object, namespace: Namespace, key: int, seen: dict[int, None]) -> bool:
    if key in seen:
        return False
    seen[key] = None
    return _mentions(tree, namespace, seen)


def _mentions(tree: Any, namespace: Namespace, seen: dict[int, None]) -> bool:
    """Whether a tree, of ast or of gast, has anything in it that makes complex numbers."""
    names: set[str] = set()
    for node in walk(tree):
        kind = type(node).__name__
        if kind == "Name":
            if node.id in names:
                continue
            names.add(node.id)
        if kind == "Constant" and (isinstance(node.value, complex) or _names_dtype(node.value)):
            return True
        if kind in ("Name", "Attribute"):
            found = binding_of_dotted_name(node, namespace)
            if found is None:
                continue
            if found.static is not None or callable(found.object):
                meant = found.object if found.static is None else found.static
                if is_complex_value(meant) or _gives_complex(meant, seen):
                    return True
            elif from_binding(found):
                return True
    return False


def _names_dtype(value: object) -> bool:
    return isinstance(value, str) and value.startswith("complex")


def binding_of_dotted_name(node: Any, namespace: Namespace) -> Binding | None:
    """What a dotted name, of ast or of gast, means in a namespace; None for anything else."""
    if type(node).__name__ == "Name":
        return namespace.lookup(node.id)
    if type(node).__name__ == "Attribute":
        base = binding_of_dotted_name(node.value, namespace)
        return None if base is None else attribute(base, node.attr)
    return None


_PLACE_OF_OUTPUT = 4  # of what scipy.signal.butter and its relatives return, or later


def complex_values(function: Node, facts: Facts) -> Node:
    """Find the names that may hold a complex number.

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> text = "def f(x):\\n    z = np.fft.fft(x)\\n    return np.sum(np.abs(z))"
    >>> list(explain_facts(text, "complex_values").values.complex)
    ['z']
    """
    facts.values.complex.update({p: None for p in parameters(function) if facts.kinds.of_names.get(p, UNKNOWN).complex})
    order = list(statements(function.body))
    _add_complex_names(order, facts)
    if facts.values.complex:
        _join_squares(order, facts)
    return function


def _add_complex_names(order: list[Node], facts: Facts) -> None:
    """Complex are the names that a statement binds to what may be complex."""
    known = -1
    while known != len(facts.values.complex):
        known = len(facts.values.complex)
        for node in order:
            if binds_complex(node, facts):
                facts.values.complex.update(dict.fromkeys(stores(node)))


def _join_squares(order: list[Node], facts: Facts) -> None:
    """`abs(z) ** 2` within a statement of the user is one operation: its derivative needs no division by `abs(z)`."""
    for node in order:
        operation = facts.operation_of(node)
        operand = None if operation is None else _squared_name(operation)
        made = facts.activity.definition.get(operand or "")
        inner = facts.operation_of(made)
        if operand not in facts.names.temporaries or inner is None or inner.rule is not rule_of(np.absolute):
            continue
        z = inner.bound["x"]
        near = [n for n in order if facts.origin.user.get(n, n) is facts.origin.user.get(node, node)]
        if (
            made in near
            and isinstance(z, gast.Name)
            and z.id in facts.values.complex
            and not any(z.id in stores(n) for n in near[near.index(made) :])
        ):
            rule = rule_of(squared_magnitude)
            facts.resolution.operation[node.value] = Operation("op", squared_magnitude, rule, {"z": z})


def _squared_name(operation: Operation) -> str | None:
    parts = list(operation.bound.values())
    if not parts or not isinstance(parts[0], gast.Name):
        return None
    if operation.function is np.power and isinstance(parts[1], gast.Constant) and parts[1].value == 2:
        return str(parts[0].id)
    if operation.function is np.multiply and isinstance(parts[1], gast.Name) and parts[0].id == parts[1].id:
        return str(parts[0].id)
    return str(parts[0].id) if operation.function is np.square else None


def binds_complex(node: Node, facts: Facts) -> bool:
    """Whether what a statement binds, or stores into an array or a list, may be complex."""
    if isinstance(node, gast.For):
        return may_be_complex(node.iter, facts)
    if isinstance(node, gast.Assign | gast.AugAssign):
        return may_be_complex(node.value, facts)
    if isinstance(node, gast.Expr) and written_names(node):
        return any(may_be_complex(argument, facts) for argument in node.value.args)
    return False


def may_be_complex(node: Node, facts: Facts) -> bool:
    """Whether the value of an expression, of the primal or of a derivative, may be complex."""
    while type(node) is gast.BinOp:  # a long chain is walked, not descended
        if may_be_complex(node.right, facts):
            return True
        node = node.left
    kind = type(node)
    if kind is gast.Name:
        return _name(node, facts)
    if kind is gast.Constant:
        return isinstance(node.value, complex)
    if kind is gast.Attribute:
        return _attribute(node, facts)
    if kind is gast.Subscript:
        return may_be_complex(node.value, facts)
    if kind is gast.Call:
        return _call(node, facts)
    if kind in (gast.Compare, gast.Slice, gast.JoinedStr):
        return False
    if kind is gast.IfExp:
        return may_be_complex(node.body, facts) or may_be_complex(node.orelse, facts)
    return any(may_be_complex(child, facts) for child in children(node))


def note_complex(held: str, value: Node, facts: Facts) -> None:
    """Keep whether a name that derivation made may be complex."""
    if may_be_complex(value, facts):
        facts.values.complex[held] = None


def _name(node: Node, facts: Facts) -> bool:
    primal = facts.names.adjoint_of.get(node.id, node.id)
    if primal in facts.values.complex:
        return True
    if node.id in facts.names.local or node.id in facts.names.temporaries or node.id in facts.names.base:
        return False
    return from_binding(facts.namespace.lookup(node.id))


def _attribute(node: Node, facts: Facts) -> bool:
    if node.attr in ("real", "imag", "shape", "size", "ndim"):
        return False
    found = binding_of(node, facts, facts.names.local)
    return may_be_complex(node.value, facts) if found is None else from_binding(found)


def _call(node: Node, facts: Facts) -> bool:
    operation = facts.resolution.operation.get(node)
    arguments = [*node.args, *(word.value for word in node.keywords)]
    if operation is not None and operation.kind == "callee":
        return _callee(node, operation.function, arguments, facts)
    function, method = function_called(node, facts)
    operands = [node.func.value, *arguments] if method else arguments
    dtype = dtype_asked(function, node, facts)
    if dtype is not None:
        return dtype
    rule = rule_of(function)
    if rule is not None and rule.mirrors_first and operands:
        return may_be_complex(operands[0], facts)
    if rule is not None and rule.kind == "refused" and _surely_real(rule, node):
        return False
    if rule is None or rule.kind == "refused" or (operation is None and is_maker(function)):
        found = any(may_be_complex(operand, facts) for operand in operands)
        ours = binding_of(node.func, facts, facts.names.local) is None and isinstance(
            node.func, gast.Name
        )  # of our own text
        ours = ours and node.func.id in facts.names.imports.values()
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
    operation, template = facts.resolution.operation.get(node), adjoint_template(rule)
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
    operation = facts.resolution.operation.get(node)
    found = binding_of(node.func, facts, facts.names.local) or _of_library(node.func, facts)
    method = found is None and isinstance(node.func, gast.Attribute)
    if operation is not None:
        return operation.function, method
    if found is not None:
        return (found.object if found.static is None else found.static), False
    return (METHODS.get(node.func.attr), True) if method else (None, False)


def _of_library(node: Node, facts: Facts) -> Any:
    """What a name of our own text means: `sum_to`, `np.conj`."""
    if isinstance(node, gast.Name):
        spelled = {text: identifier for identifier, text in facts.names.imports.items()}
        if node.id in spelled:
            return _BoundObject(facts.names.library_values[spelled[node.id]])
    elif isinstance(node, gast.Attribute):
        base = _of_library(node.value, facts)
        found = None if base is None else getattr(base.object, node.attr, None)
        return None if found is None else _BoundObject(found)
    return None


class _BoundObject:
    """An object, as a binding."""

    static = None

    def __init__(self, value: object) -> None:
        self.object = value


def dtype_asked(function: object, node: Node, facts: Facts) -> bool | None:
    """Whether a dtype that the call names is complex; None if it names none."""
    position = next((place for known, place in DTYPES.items() if known is function), None)
    asked = [word.value for word in node.keywords if word.arg == "dtype"]
    if position is not None and not asked:
        shift = 1 if isinstance(node.func, gast.Attribute) and function is np.ndarray.astype else 0
        shift = 0 if shift and binding_of(node.func, facts, facts.names.local) is not None else shift
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


def _callee(node: Node, function: object, arguments: list[Node], facts: Facts) -> bool:
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
        facts.resolution.operation[node] = replace(facts.resolution.operation[node], function=function)
    elif any(p in taken_as_real(function) for p in kinds):
        raise refused_inside(node, facts)
    return bool(facts.module.output_complex(function, kinds))


_ORDERS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE)


def complex_limits(function: Node, facts: Facts) -> None:
    """Complex numbers have no order, a rule must say that it holds for them, and kernels have none.

    Note arguments of which nothing is known where a real result, through complex ones, would have another adjoint.

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> text = "def f(z):\\n    return np.sum(np.real({}))"
    >>> found = [explain_facts(text.format(value), "complex_limits") for value in ("z", "z * z", "2 * z")]
    >>> [list(facts.values.expected_real) for facts in found]
    [[], ['z'], []]
    """
    if facts.values.complex:
        order = list(statements(function.body))
        limits = _Limits(facts, _complex_for_sure(order, facts))
        limits.check(order)
        if limits.looks:
            function.body = rewrite_statements(function.body, limits.looked_at)
    _note_expected_real(function, facts)


def _complex_for_sure(order: list[Node], facts: Facts) -> dict[str, None]:
    """Names that are complex whatever a run does: whatever binds them is, and no function of the user's decides it."""
    whole = facts.values.complex
    made: dict[str, list[Node]] = {}
    for node in [n for n in order if not is_write(n)]:
        for bound in stores(node):
            made.setdefault(bound, []).append(node)
    sure = dict(whole)
    try:
        facts.values.complex, before = sure, len(sure) + 1
        while len(sure) < before:
            before = len(sure)
            for one in [n for n in sure if not all(_is_for_sure(node, facts) for node in made.get(n, []))]:
                del sure[one]
    finally:
        facts.values.complex = whole
    return sure


def _is_for_sure(node: Node, facts: Facts) -> bool:
    value, operation = getattr(node, "value", None), facts.operation_of(node)
    if isinstance(value, gast.IfExp):
        return may_be_complex(value.body, facts) and may_be_complex(value.orelse, facts)
    if isinstance(value, gast.Call) and (operation is None or operation.rule is None):
        return dtype_asked(function_called(value, facts)[0], value, facts) is True
    return binds_complex(node, facts)


@record
class _Limits:
    """What has no meaning for complex numbers: refused where they are for sure, else looked at where it runs."""

    facts: Facts
    sure: dict[str, None]
    looks: dict[Node, dict[str, None]] = field(default_factory=dict)

    def check(self, order: list[Node]) -> None:
        _check_limits(order, self, self.facts)

    def meet(self, node: Node, item: Node, operands: Iterable[Node], words: tuple[str, str]) -> None:
        """Note the names that must be real where a statement runs; E5017 where they are not, or in a loop's head."""
        held = [n for one in operands for n in find_nodes(one, gast.Name) if n.id in self.facts.values.complex]
        if not held or isinstance(node, gast.While | gast.For) or any(n.id in self.sure for n in held):
            raise self.facts.refuse(item, "E5017", *words)
        self.looks.setdefault(node, {}).update(dict.fromkeys(n.id for n in held))

    def looked_at(self, node: Node) -> Block:
        """A statement, behind `check_real(z)`."""
        if node not in self.looks:
            return [node]
        check = statement(f"{self.facts.library('check_real')}({', '.join(self.looks[node])})")
        self.facts.resolution.effects[check] = None
        return [at(check, node), node]


def _check_limits(order: list[Node], limits: _Limits, facts: Facts) -> None:
    if any(facts.names.base.get(held, held) in facts.values.assumed_real for held in facts.values.complex):
        raise refused_inside(order[0], facts)
    for node in order:
        if not facts.module.target.complex:
            raise facts.refuse(
                node, "E5017", f"complex values in a function for {facts.module.target.name}", 'use target="numpy"'
            )
        for item in walk(node.test if isinstance(node, gast.If | gast.While) else node):
            if isinstance(item, gast.Compare) and any(isinstance(op, _ORDERS) for op in item.ops):
                sides = [side for side in [item.left, *item.comparators] if may_be_complex(side, facts)]
                if sides:
                    limits.meet(node, item, sides, ("complex numbers have no order", "compare `abs(z)`, or `z.real`"))
            elif isinstance(item, gast.Call) and not isinstance(node, gast.If | gast.While | gast.For):
                _check_step(node, item, limits, facts)
        _check_rule(node, limits, facts)


def _check_step(node: Node, call: Node, limits: _Limits, facts: Facts) -> None:
    """`np.sign` of a complex number is no step: z / |z|; `np.argmax` takes an order that is none."""
    function, method = function_called(call, facts)
    rule = rule_of(function)
    if function is not np.sign and (rule is None or rule.gives not in ("reduced", "array") or rule.dtype != "integer"):
        return
    operands = [call.func.value] if method else call.args[:1]
    if any(_carries(item, facts) and may_be_complex(operand, facts) for operand in operands for item in walk(operand)):
        name = getattr(function, "__name__", "")
        limits.meet(
            node, call, operands, (f"np.{name} of a complex value", "apply it to `abs(z)`, or write z / abs(z)")
        )


def _carries(item: Node, facts: Facts) -> bool:
    return isinstance(item, gast.Name) and item.id in facts.values.complex and item.id in facts.activity.varied


def _check_rule(node: Node, limits: _Limits, facts: Facts) -> None:
    operation = facts.operation_of(node)
    if operation is None or operation.rule is None or operation.rule.kind == "constant" or operation.rule.complex:
        return
    if not isinstance(node, gast.Assign) or not any(s in facts.activity.active for s in stores(node)):
        return
    given = operation.bound.values() if operation.rule.values == "complex" else [node.value, *operation.bound.values()]
    complex_ = [one for one in given if may_be_complex(one, facts)]
    if complex_:
        what = f"the rule of {operation.rule.name} does not hold for complex numbers"
        way_out = "apply it to the real and the imaginary part, `z.real` and `z.imag`"
        limits.meet(node, node.value, complex_, (what, way_out))


def is_complex_array(value: Node, facts: Facts) -> bool:
    """Whether a new array is known to be complex: made with a complex dtype, or of what is known to be so."""
    if isinstance(value, gast.BinOp):
        return is_complex_array(value.left, facts) or is_complex_array(value.right, facts)
    if isinstance(value, gast.Constant):
        return isinstance(value.value, complex)
    if isinstance(value, gast.Name):
        return facts.kinds.of_names.get(value.id, UNKNOWN).complex
    if not isinstance(value, gast.Call):
        return False
    function, method = function_called(value, facts)
    dtype = dtype_asked(function, value, facts)
    if dtype is not None:
        return dtype
    rule = rule_of(function)
    if rule is not None and rule.values:
        return rule.values == "complex"
    copied = rule is not None and (rule.kind == "elementwise" or rule.is_like_first or rule.shape == "display")
    operands = [value.func.value, *value.args] if method else value.args
    return copied and any(is_complex_array(operand, facts) for operand in operands)


def _note_expected_real(function: Node, facts: Facts) -> None:
    order = [] if facts.request.generated else list(statements(function.body))
    operations = [
        facts.resolution.operation[n.value] for n in order if getattr(n, "value", None) in facts.resolution.operation
    ]
    if any(one.kind == "callee" or (one.rule is not None and one.rule.values == "real") for one in operations):
        arguments = [p for p in parameters(function) if p not in facts.values.complex]
        unknown = [p for p in arguments if facts.kinds.arguments.get(p, UNKNOWN).tag == "unknown"]
        facts.values.expected_real |= dict.fromkeys(p for p in unknown if _differs_if_complex(p, order, facts))


def _differs_if_complex(parameter: str, order: list[Node], facts: Facts) -> bool:
    """Whether a result is real if an argument is complex, and what leads to it has another adjoint then."""
    known, operation = facts.values.complex, facts.resolution.operation
    facts.values.complex, facts.resolution.operation = {**known, parameter: None}, dict(operation)
    try:
        _add_complex_names(order, facts)
        return not may_be_complex(order[-1].value, facts) and any(_changes_adjoint(n, known, facts) for n in order)
    except DifferentiationError:
        return parameter in facts.activity.active  # it is refused if the argument is known to be complex
    finally:
        facts.values.complex, facts.resolution.operation = known, operation


def _changes_adjoint(node: Node, known: dict[str, None], facts: Facts) -> bool:
    """Whether an operation of complex values conjugates, or has no rule for them; `known` are complex in any case."""
    operation = facts.operation_of(node)
    value = node.value if isinstance(node, gast.Assign | gast.Return) else None
    active = value is not None and any(getattr(one, "id", "") in facts.activity.active for one in walk(value))
    if operation is None or not active:
        return False
    if operation.kind == "callee":
        return _callee_changes_adjoint(node.value, operation.function, facts)
    rule, bound = operation.rule, operation.bound
    shown = {parameter for parameter, one in bound.items() if may_be_complex(one, facts)}
    if rule is None or not any(_names_among(facts.values.complex, one) for one in bound.values()):
        return False
    if not rule.complex or any(_names_among(known, one) for one in bound.values()):
        return rule.kind != "constant"
    if rule.values:
        return not rule.real_lines or (facts.pushes_forward and rule.kind != "linear")
    if rule.complex != "conjugated" and rule.kind != "linear":
        return True
    return any(_reads_complex(rule, parameter, shown, one, facts) for parameter, one in bound.items())


def _reads_complex(rule: Rule, parameter: str, shown: set[str], operand: Node, facts: Facts) -> bool:
    """Whether the derivative with respect to an argument is made of a complex value; `shown` are such arguments."""
    moves = _names_among({**facts.activity.active, **facts.values.complex}, operand)
    template = adjoint_template(rule)
    if not moves or template is None:
        return False
    read = values_read(rule, parameter)
    return bool(read & shown) or template.result in read or (parameter in rule.factors and len(moves) > 1)


def _callee_changes_adjoint(call: Node, function: object, facts: Facts) -> bool:
    """Whether a function with source, called with some complex values, has another adjoint for them."""
    if not isinstance(call, gast.Call) or not any(may_be_complex(child, facts) for child in children(call)):
        return False
    if hasattr(function, "__srcgrad_derivative__"):
        return True
    bound = bind(call, facts.module.callee(function, call, facts).tree, facts)
    kinds = {p: Kind(complex=True) for p, argument in bound.items() if may_be_complex(argument, facts)}
    return bool(facts.module.output_conjugates(function, kinds))


def changes_adjoint(function: Node, facts: Facts) -> bool:
    """Whether the adjoint of a function would be another one if its complex values were taken for real."""
    if not facts.values.complex:
        return False
    return any(_changes_adjoint(node, {}, facts) for node in statements(function.body))


def _names_among(known: Container[str], value: Node) -> list[str]:
    return [n.id for n in find_nodes(value, gast.Name) if n.id in known]


def fits(node: Node, facts: Facts) -> bool:
    """Whether an expression is a call of a helper that gives a value the shape of another: an array, no list."""
    return facts_function_called(node, facts) in FITTED and not _is_listed(node.args[1:], facts)


def _is_listed(models: list[Node], facts: Facts) -> bool:
    """Whether a value gets the form of a list or a tuple: it has no sign that could be moved, and no product."""
    held = models[0].id if models and isinstance(models[0], gast.Name) else ""
    return bool(facts.list_kind(held)) or facts.kinds.of_names.get(held, UNKNOWN).tag in ("list", "tuple")


def is_linear(node: Node, facts: Facts) -> bool:
    """Whether an expression is a call that gives its first argument a shape, multiplies it or moves its elements.

    All of these keep signs.
    """
    rule = rule_of(facts_function_called(node, facts))
    if rule is None or not node.args or rule.op in FITTED:
        return fits(node, facts)
    multiplies = rule.kind == "multilinear" and rule.shape in rule.parameters
    moves = rule.zeros in ("kept", "added") and rule.shape != "given"
    several = rule.gives in ("arrays", "tuple")  # a list of arrays has no negative
    return not several and (multiplies or rule.rearranges or (rule.kind == "linear" and moves))


def is_floating(node: Node, facts: Facts) -> bool:
    """Whether a value is known to be of a floating type, so that 1.0 would not make it so."""
    if isinstance(node, gast.Constant):
        return type(node.value) is float
    if isinstance(node, gast.Name):
        return node.id in facts.activity.active or node.id in facts.names.adjoint_of
    if isinstance(node, gast.BinOp):
        return is_floating(node.left, facts) or is_floating(node.right, facts)
    if isinstance(node, gast.Subscript):
        return is_floating(node.value, facts)
    if fits(node, facts):
        return is_floating(node.args[0], facts)
    if isinstance(node, gast.Call):
        summed = getattr(node.func, "attr", "") in ("sum", "mean") and len(node.args) == 1
        return (summed or is_elementwise(node, facts)) and any(is_floating(argument, facts) for argument in node.args)
    return isinstance(node, gast.UnaryOp) and is_floating(node.operand, facts)


def is_elementwise(node: Node, facts: Facts) -> bool:
    """Whether a call is one of an elementwise function of NumPy."""
    rule = rule_of(facts_function_called(node, facts))
    return rule is not None and rule.kind == "elementwise"


def has_sign(value: Node, facts: Facts) -> bool:
    """Whether a value is of a floating type, so that `-value` is its negative."""
    if isinstance(value, gast.Name) and _is_derived(value.id, facts):
        return True
    if isinstance(value, gast.Attribute):
        return is_transpose(value) and has_sign(value.value, facts)
    if isinstance(value, gast.Subscript):
        return has_sign(value.value, facts)
    if isinstance(value, gast.UnaryOp):
        return has_sign(value.operand, facts)
    if isinstance(value, gast.BinOp):
        return has_sign(value.left, facts) or has_sign(value.right, facts)
    if is_linear(value, facts):
        return has_sign(value.args[0], facts)
    if facts_function_called(value, facts) is np.linalg.solve:
        return True  # it divides
    if facts_function_called(value, facts) is np.outer:
        return any(has_sign(factor, facts) for factor in value.args)
    if isinstance(value, gast.Call) and getattr(value.func, "attr", "") in ("sum", "copy") and not value.args:
        return has_sign(value.func.value, facts)
    return is_floating(value, facts)


def is_of_derivative(value: Node, facts: Facts) -> bool:
    """Whether an expression reads an adjoint or a tangent, or what is made of them: others are the function's own."""
    made = {target(node) for node in facts.tape.tangents}
    return any(
        one.id in facts.names.adjoint_of or one.id in made or _is_derived(one.id, facts)
        for one in find_nodes(value, gast.Name)
    )


def _is_derived(held: str, facts: Facts) -> bool:
    """Whether a name is one that derivation has made: it holds what is computed from adjoints and tangents."""
    if held in facts.names.seeds:
        return True
    tables = (facts.activity.reads, facts.activity.definition, facts.tape.again, facts.values.unsigned)
    return held in facts.names.temporaries and not any(held in table for table in tables)


def note_integers(held: str, value: Node, facts: Facts) -> None:
    """Note a temporary of which it is not known that its value has a sign."""
    if not has_sign(value, facts):
        facts.values.unsigned[held] = None


def is_transpose(value: Node) -> bool:
    """Whether an expression is `e.T`."""
    return isinstance(value, gast.Attribute) and value.attr in ("T", "mT")


def is_sum(value: Node) -> bool:
    """Whether an expression is `e.sum(...)`."""
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "sum"


def is_minus(value: Node) -> bool:
    """Whether an expression is `-e`."""
    return isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub)


def operand_of_negative(value: Node, facts: Facts) -> Node | None:
    """The e of a value that is `-e`, or `-a * b` or `-a @ b` with e = `a * b` or `a @ b`; None for any other value."""
    first = value
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Mult | gast.Div | gast.MatMult):
        first = first.left
    if not is_minus(first):
        return None
    number = isinstance(first.operand, gast.Constant) and (first is value or has_sign(value, facts))
    return _without_minus(value) if number or has_sign(first.operand, facts) else None


def _without_minus(value: Node) -> Node:
    if is_minus(value):
        operand: Node = value.operand
        return operand
    return at(gast.BinOp(_without_minus(value.left), value.op, value.right), value)


def negative_of(value: Node, facts: Facts) -> Node:
    """`-a * b` for the negative of `a * b`: exact, and read from the left; `-(w * b)` where w may be unsigned."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div) and has_sign(value.left, facts):
        return gast.BinOp(negative_of(value.left, facts), value.op, value.right)
    return gast.UnaryOp(gast.USub(), value)


_CLOSED = (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)


def integers(function: Node, facts: Facts) -> dict[str, None]:
    """Names that hold nothing but integers, whatever is written into them.

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> text = "def f(x):\\n    k = np.zeros(3, int)\\n    k[0] = 9 * x[1]\\n    return np.sum(k * x)"
    >>> "k" in explain_facts(text).activity.active
    False
    """
    bound: dict[str, list[Node | None]] = {}
    for node in statements(function.body):
        if is_write(node):
            continue
        call = node.value.func if isinstance(getattr(node, "value", None), gast.Call) else None
        kept, owner = getattr(call, "attr", ""), getattr(getattr(call, "value", None), "id", "")
        if isinstance(node, gast.Expr) and owner and kept == "append":  # what is recorded
            bound.setdefault(owner, []).append(node.value.args[0])
            continue
        for held in stores(node):
            if kept != "pop" or held != owner:
                bound.setdefault(held, []).append(node.value if target(node) == held else None)
    found = {held: None for held in bound if held not in parameters(function)}
    before = len(found) + 1
    while len(found) < before:
        before = len(found)
        found = {held: None for held in found if all(v is not None and _holds(v, found, facts) for v in bound[held])}
    return found


def _holds(value: Node, found: dict[str, None], facts: Facts) -> bool:
    """Whether a value is an array or a number of integers, if these names hold such."""
    if isinstance(value, gast.Name):
        return value.id in found
    if isinstance(value, gast.BinOp) and isinstance(value.op, _CLOSED):
        return all(_is_int(side) or _holds(side, found, facts) for side in (value.left, value.right))
    if isinstance(value, gast.Subscript):
        return _holds(value.value, found, facts)
    if not isinstance(value, gast.Call):
        return isinstance(value, gast.List) and not value.elts and facts.source.is_derivative  # what it records
    operation, bound = facts.resolution.operation.get(value), binding_of(value.func, facts, facts.names.local)
    given = list(value.args)
    if bound is None and isinstance(value.func, gast.Attribute):
        given = [value.func.value, *given]  # a method
        if value.func.attr == "pop":
            return _holds(value.func.value, found, facts)
    op = operation.function if operation is not None else getattr(bound, "object", None)
    if op is None and given is not value.args and given and _holds(given[0], found, facts):
        op = METHODS.get(getattr(value.func, "attr", ""))
    rule = rule_of(op)
    if rule is None or not callable(op):
        return False
    if dtype_given(op, given, value.keywords, facts) in ("b", "i", "u") or rule.dtype == "integer":
        return True
    if op is np.arange or (op in (np.array, np.asarray) and given and not isinstance(given[0], gast.Name)):
        return not value.keywords and all(_is_int(n) for part in given for n in _items(part))
    kept = op is operator.getitem or rule.rearranges or rule.zeros in ("kept", "made") or rule.mirrors_first
    theirs = str(getattr(op, "__module__", "")).startswith(("numpy", "_operator"))
    plain = kept and theirs and not any(w.arg == "dtype" for w in value.keywords)
    return plain and bool(given) and _holds(given[0], found, facts)


def _items(value: Node) -> list[Node]:
    """The items of a display, and of those within it; another value itself."""
    return [n for e in value.elts for n in _items(e)] if isinstance(value, gast.List | gast.Tuple) else [value]


def _is_int(value: Node) -> bool:
    return isinstance(value, gast.Constant) and isinstance(value.value, int)


def check_steps(function: Node, useful: dict[str, None], facts: Facts) -> None:
    """Refuse a sum or a mean of varied floats as integers, where the result counts: each element is cut off.

    `np.sum(x, dtype=int)` of 0.9 and 0.9 is 0: whoever writes it may mean `int(np.sum(x))`, which is 1.
    """
    for node in statements(function.body):
        value = getattr(node, "value", None)
        counts = isinstance(value, gast.Call) and any(bound in useful for bound in stores(node))
        if value is None or not counts or not any(read in facts.activity.varied for read in loads(value)):
            continue
        bound = binding_of(value.func, facts, facts.names.local)
        method = getattr(value.func, "attr", "") if bound is None else ""
        op, given = (
            (METHODS.get(method), [value, *value.args]) if method else (getattr(bound, "object", None), value.args)
        )
        if (op is np.sum or op is np.mean) and dtype_given(op, given, value.keywords, facts) in ("b", "i", "u"):
            raise facts.refuse(
                value,
                "E5001",
                f"{op.__name__} as integers cuts off each element before it is added, and has no derivative",
                "convert before, `x.astype(int)`, whose derivative is 0, or leave `dtype=` out",
            )
