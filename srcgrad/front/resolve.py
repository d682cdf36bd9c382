"""What an expression computes: operators, functions, methods and attributes that mean the same op share one key."""

from __future__ import annotations

import math
import operator
import types
from dataclasses import replace
from typing import Any  # operations are arbitrary Python objects

import gast
import numpy as np

import srcgrad.templates as templates
from srcgrad.facts import Facts, Operation
from srcgrad.front.arguments import bind_arguments, check_handled, instead
from srcgrad.front.namespace import Binding, attribute
from srcgrad.front.owners import refused_field
from srcgrad.front.singular import once_more
from srcgrad.front.sparse import sparse_product
from srcgrad.front.step import Step
from srcgrad.front.values import is_own
from srcgrad.front.wrappers import is_of_library
from srcgrad.handed import parts_of
from srcgrad.identity import home, uncached
from srcgrad.otherwise import written_out
from srcgrad.recompute import Checkpoint
from srcgrad.rules import rule_of
from srcgrad.sealed import is_opaque
from srcgrad.trees import Node, constant, walk

OPERATORS: dict[type, Any] = {
    gast.Add: np.add,
    gast.Sub: np.subtract,
    gast.Mult: np.multiply,
    gast.Div: np.divide,
    gast.Pow: np.power,
    gast.Mod: np.remainder,
    gast.FloorDiv: np.floor_divide,
    gast.MatMult: np.matmul,
    gast.USub: np.negative,
    gast.UAdd: np.positive,
}

METHODS: dict[str, Any] = {
    "all": np.all, "any": np.any, "argmax": np.argmax, "argmin": np.argmin, "argpartition": np.argpartition,
    "argsort": np.argsort, "astype": np.ndarray.astype, "choose": np.choose, "clip": np.clip, "compress": np.compress,
    "conj": np.conjugate, "conjugate": np.conjugate, "copy": np.copy, "cumprod": np.cumprod,
    "cumsum": np.cumsum, "diagonal": np.diagonal, "dot": np.dot, "flatten": np.ndarray.flatten,
    "get": dict.get, "item": np.ndarray.item, "max": np.max, "mean": np.mean, "min": np.min, "nonzero": np.nonzero,
    "prod": np.prod, "ravel": np.ravel, "repeat": np.repeat, "reshape": np.reshape, "round": np.round,
    "searchsorted": np.searchsorted, "squeeze": np.squeeze, "std": np.std, "sum": np.sum,
    "swapaxes": np.swapaxes, "take": np.take, "trace": np.trace,
    "transpose": np.transpose, "var": np.var,
}  # fmt: skip

ATTRIBUTES: dict[str, Any] = {"T": np.transpose, "mT": np.matrix_transpose, "real": np.real, "imag": np.imag}
PASSIVE_ATTRIBUTES = ("shape", "dtype", "size", "ndim")


def binding_of(node: Node, facts: Facts, local: frozenset[str]) -> Binding | None:
    """What a dotted name such as `np.linalg.norm` means outside the function; None for anything else."""
    if isinstance(node, gast.Name):
        return None if node.id in local else facts.namespace.lookup(node.id)
    if isinstance(node, gast.Attribute):
        base = binding_of(node.value, facts, local)
        return None if base is None else attribute(base, node.attr)
    return None


def operation_of(node: Node, facts: Facts, local: frozenset[str]) -> Operation | None:
    """The operation of an expression whose operands may be active; None where nothing can be active."""
    sparse = sparse_product(node, facts, lambda part: binding_of(part, facts, local))
    if sparse is not None:
        return _of_op(*sparse, [], node, facts)
    if isinstance(node, gast.BinOp):
        return _of_op(_operator(node.op, node, facts), [node.left, node.right], [], node, facts)
    if isinstance(node, gast.UnaryOp):
        if isinstance(node.op, gast.Not | gast.Invert):
            return None
        return _of_op(OPERATORS[type(node.op)], [node.operand], [], node, facts)
    if isinstance(node, gast.Subscript):
        return _of_op(operator.getitem, [node.value, node.slice], [], node, facts)
    if isinstance(node, gast.Attribute):
        return _of_attribute(node, facts, local)
    if isinstance(node, gast.Call):
        return _of_call(node, facts, local)
    return None


def _operator(op: Node, node: Node, facts: Facts) -> Any:
    found = OPERATORS.get(type(op))
    if found is None:
        raise facts.refuse(
            node,
            "E5001",
            f"`{type(op).__name__}` has no derivative",
            "use srcgrad.stop_gradient on its operands",
        )
    return found


def _of_attribute(node: Node, facts: Facts, local: frozenset[str]) -> Operation | None:
    own = is_own(node, facts)
    if binding_of(node, facts, local) is not None or (node.attr in PASSIVE_ATTRIBUTES and not own):
        return None
    if node.attr in ATTRIBUTES and not own:
        facts.taken[getattr(node.value, "id", "")] = ""
        return _of_op(ATTRIBUTES[node.attr], [node.value], [], node, facts)
    if own:
        raise refused_field(node, facts)
    raise facts.refuse(
        node,
        "E5005",
        f"the attribute `.{node.attr}` of a differentiated value is not accepted",
        "array attributes .T .mT .real .imag .shape .dtype .size .ndim are; pass other values as arguments",
    )


def _of_call(node: Node, facts: Facts, local: frozenset[str]) -> Operation:
    for argument in node.args:
        if isinstance(argument, gast.Starred):
            raise facts.refuse(argument, "E5005", "unpacking with `*` is not accepted", "name the arguments")
    for word in node.keywords:
        if word.arg is None:
            raise facts.refuse(word.value, "E5005", "unpacking with `**` is not accepted", "name the arguments")
    found = binding_of(node.func, facts, local)
    if found is not None:
        return _of_binding(found, node, facts)
    if isinstance(node.func, gast.Attribute):
        return _of_method(node, facts)
    return Operation("opaque", node.func)


def _of_binding(found: Binding, node: Node, facts: Facts) -> Operation:
    if found.static is not None and rule_of(found.static) is not None:
        return _of_op(found.static, node.args, node.keywords, node, facts)
    if found.static is not None and is_opaque(found.static):
        return Operation("opaque", found.static)
    if found.static is not None:
        return Operation("callee", found.static, checkpointed=found.static.checkpointed)
    function = uncached(found.object)
    if found.kind != "object":
        return Operation("opaque", found)
    if isinstance(function, Step):
        return Operation("callee", function, checkpointed=True)
    if rule_of(function) is None:
        templates.load_for(home(function) or "")
    primal = getattr(function, "__srcgrad_primal__", function)
    if rule_of(function) is None and rule_of(primal) is not None:
        function = primal
    if parts_of(function) is not None:
        return Operation("opaque", function)  # its result is an object, which `solutions` could not take apart
    if rule_of(function) is not None:
        return _of_op(function, node.args, node.keywords, node, facts)
    if is_opaque(primal):
        return Operation("opaque", primal)
    if hasattr(function, "__srcgrad_makes__"):
        return Operation("opaque", function)  # a derivative, which is made where it is called
    derived = getattr(type(function), "as_function", None)  # a derivative that the function calls
    if derived is not None:
        return Operation("callee", derived(function))
    if rule_of(type(function).__call__) is not None:  # a spline, which is what its class does with it
        return _of_op(type(function).__call__, [node.func, *node.args], node.keywords, node, facts)
    if is_of_library(primal):
        return Operation("opaque", function)
    if isinstance(primal, types.FunctionType):
        return Operation("callee", primal, checkpointed=isinstance(function, Checkpoint))
    return Operation("opaque", function)


FROZEN = "call that of the distribution itself with all arguments, as scipy.stats.norm.logpdf(x, loc, scale)"


def _of_method(node: Node, facts: Facts) -> Operation:
    op = METHODS.get(node.func.attr) or getattr(np.ndarray, node.func.attr, None)
    rule = rule_of(op)
    if rule is not None and rule.kind == "refused":
        raise facts.refuse(
            node, "E5001", f"`.{node.func.attr}()` has no derivative: {rule.note}", "use srcgrad.stop_gradient"
        )
    if rule is None:
        raise facts.refuse(
            node,
            "E5003",
            f"the method `.{node.func.attr}()` has no rule",
            FROZEN
            if node.func.attr in ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
            else "call the NumPy function instead, or write a rule for a function of your own and call that",
        )
    if is_own(node.func, facts):
        return Operation("opaque", node.func)
    facts.taken[getattr(node.func.value, "id", "")] = ""
    assert rule.composition is None, "such a method is called as a function before"
    arguments = list(node.args)
    if op is np.compress and arguments:
        return _of_op(op, [arguments[0], node.func.value, *arguments[1:]], node.keywords, node, facts)
    if op in (np.reshape, np.transpose) and len(arguments) > 1:
        arguments = [gast.Tuple(elts=arguments, ctx=gast.Load())]
    return _of_op(op, [node.func.value, *arguments], node.keywords, node, facts)


def _of_op(op: Any, arguments: list[Node], keywords: list[Node], node: Node, facts: Facts) -> Operation:
    if facts.source.is_derivative:
        op, arguments = once_more(op, arguments, keywords, node, facts)
    rule = rule_of(op)
    if rule is None:
        return Operation("opaque", op)
    if rule.length and node in facts.instead:
        rule = replace(rule, length=False)  # nothing but its first derivative is asked for
    if rule.kind == "constant":
        return Operation("op", op, rule)
    if dtype_given(op, arguments, keywords, facts) in ("b", "i", "u"):
        return Operation("op", op, replace(rule, kind="constant"))
    composition = rule.composition or written_out(rule, arguments, keywords)
    if composition is not None:
        check_handled(rule, composition, arguments, keywords, facts)
        return Operation("callee", composition)
    if rule.kind == "refused":
        return Operation("opaque", op)
    bound = bind_arguments(rule, arguments, keywords, node, facts)
    other = instead(rule, bound, facts) if rule.literals else None
    if other is None:
        return Operation("op", op, rule, bound)
    first, *rest = other.parameters
    kept = {name: bound[name] for name in rest if name in bound}
    return Operation("op", other.op, other, {first: next(iter(bound.values())), **kept})


_PLACES: dict[Any, int] = {
    np.array: 1, np.asarray: 1, np.zeros: 1, np.ones: 1, np.empty: 1, np.zeros_like: 1, np.ones_like: 1,
    np.empty_like: 1, np.ndarray.astype: 1, np.full: 2, np.full_like: 2, np.sum: 2, np.mean: 2, np.identity: 1,
}  # fmt: skip


def dtype_given(op: object, arguments: list[Node], keywords: list[Node], facts: Facts) -> str:
    """The kind of the dtype that a call is given, one of "biufc"; "?" if it is not known, "" if none is given."""
    place = _PLACES.get(op) if callable(op) else None
    given = arguments[place : place + 1] if place is not None else []
    for asked in [*given, *(word.value for word in keywords if word.arg == "dtype")]:
        found = binding_of(asked, facts, facts.local)
        meant = asked.value if isinstance(asked, gast.Constant) else getattr(found, "object", None)
        try:
            return np.dtype(meant).kind if isinstance(meant, str | type | np.dtype) else "?"
        except TypeError:  # no name of a dtype
            return "?"
    return ""


def literal(node: Node) -> bool:
    """Whether a tree is a literal: a constant, a signed constant, or a display of them."""
    return all(
        isinstance(item, gast.Constant | gast.Tuple | gast.List | gast.UnaryOp | gast.USub | gast.UAdd | gast.Load)
        for item in walk(node)
    )


def trusted_constant(value: object) -> Node | None:
    """The literal for a value of a global name, where it has one."""
    if value is None or isinstance(value, bool | int | str):
        return constant(value)
    if isinstance(value, float) and math.isfinite(value):
        return constant(value)
    return None
