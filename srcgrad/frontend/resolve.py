"""Resolution: which operation each call, operator, method or attribute is; those that mean the same op share one key.

Arguments of a call are told by the parameters of a rule, which refuses by name what it does not handle, or of a
function with source. `A @ x`, `x @ A` and `A.dot(x)` of a constant sparse matrix of SciPy are linear in x. Imports in
the body mean what is imported from then on. In generated code lengths at 0, and divisors that stand for them, have
another derivative.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import math
import operator
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from types import ModuleType
from typing import Any  # operations are arbitrary Python objects

import gast
import numpy as np

import srcgrad.templates as templates
from srcgrad.core.bindings import Binding, StaticModule, attribute
from srcgrad.core.errors import OWN_RULE
from srcgrad.core.facts import Facts, Operation
from srcgrad.core.identity import Function, cached_function, home, is_distribution
from srcgrad.core.marks import Checkpoint, is_opaque
from srcgrad.core.namespace import LiveNamespace, Namespace, Overlay, Step, without_overlays
from srcgrad.core.rules import ParsedTemplate as Template
from srcgrad.core.rules import (
    Rule,
    adjoint_template,
    goes_through,
    may_be_function,
    parts_of,
    rule_of,
    tangent_template,
    written_by_totals,
    written_out,
)
from srcgrad.core.trees import Node, find_nodes, literal_node, parameters, walk
from srcgrad.frontend.functions_with_rules import is_of_library
from srcgrad.frontend.kinds_of_values import is_own, refused_field
from srcgrad.runtime import call, closure, sparse_left, sparse_right
from srcgrad.runtime.singular import denominator, divisor, magnitude, one_norm

CallPlace = tuple[str, int, int, int]  # file, line, column and width


def bind(call: Node, callee: Node, facts: Facts) -> dict[str, Node]:
    """Arguments of a call by the callee's parameter names."""
    names = parameters(callee)
    positional = [a.id for a in callee.args.posonlyargs + callee.args.args]
    if len(call.args) > len(positional) or any(w.arg not in names for w in call.keywords):
        raise facts.refuse(
            call, "E5005", "the arguments do not fit the function's parameters", f"it takes: {', '.join(names)}"
        )
    bound = dict(zip(positional, call.args, strict=False))
    return bound | {word.arg: word.value for word in call.keywords}


def instead(rule: Rule, bound: dict[str, Node], facts: Facts) -> Rule | None:
    """The rule that holds for a call's literals, where it is another one; values that no rule knows are refused."""
    found = None
    for parameter in rule.literals:
        argument = bound.get(parameter)
        if argument is None:
            continue
        if not _is_known(rule, parameter, argument):
            raise _refuse_argument(rule, f"`{parameter}={gast.unparse(argument)}`", argument, facts)
        for name, special, op in rule.instead:
            if name == parameter and argument.value == special:
                found = rule_of(op)
    return found


def _is_known(rule: Rule, parameter: str, value: Node) -> bool:
    """Whether an argument is written out, as one of the values that the rule knows."""
    known = rule.literals.get(parameter, ())
    literal = value.value if isinstance(value, gast.Constant) else _NOTHING
    return any(literal is one or (isinstance(one, str) and literal == one) for one in known)


def by_totals(call: Node, rule: Rule, facts: Facts) -> Function | None:
    """What stands for a call that runs over rows which come in blocks; None for any other."""
    return written_by_totals(rule.op) if is_over_rows(call, facts) else None


def is_over_rows(call: Node, facts: Facts) -> bool:
    """Whether a call runs over rows that come in blocks, and is written out for that."""
    blocks = None if facts.module is None else facts.module.blocks
    return blocks is not None and bool(blocks.over_rows) and place_in_text(call, facts) in blocks.over_rows


def place_in_text(call: Node, facts: Facts) -> CallPlace:
    """Where a call stands in the text of its file."""
    known = facts.place(call)
    return known.file, known.line, known.column, known.width


def check_handled(
    rule: Rule, composition: Callable[..., object], arguments: list[Node], keywords: list[gast.keyword], facts: Facts
) -> None:
    """Refuse an argument that the op may know and its composition does not."""
    given = inspect.signature(composition).parameters.values()
    places = [p for p in given if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    if len(arguments) > len(places) and all(p.kind is not inspect.Parameter.VAR_POSITIONAL for p in places):
        raise _refuse_argument(rule, f"positional argument {len(places) + 1}", arguments[len(places)], facts)
    for word in keywords:
        if all(p.name != word.arg for p in given):
            raise _refuse_argument(rule, f"`{word.arg}=`", word.value, facts)


def bind_arguments(
    rule: Rule, arguments: list[Node], keywords: list[gast.keyword], node: Node, facts: Facts
) -> dict[str, Node]:
    """Arguments by the template's parameter names; what the rule does not handle is refused by name."""
    template = adjoint_template(rule) or tangent_template(rule)
    assert template is not None, "a rule that is not constant has a template"
    order, variadic, defaults = _parameters(rule.op, template)
    if rule.own is not None and rule.own.applied is not None:
        order, variadic, defaults = template.positional, False, {}
    shapes = _shapes(rule.op, template)
    given: dict[str, Node] = {}
    rest: list[Node] = []
    for position, argument in enumerate(arguments):
        if position < len(order):
            given[order[position]] = argument
        elif variadic and template.variadic:
            rest.append(argument)
        else:
            raise _refuse_argument(rule, f"positional argument {position + 1}", argument, facts)
    for word in keywords:
        spelled = str(word.arg)
        clipped = _CLIP.get(spelled, spelled) if rule.op is np.clip else spelled
        given[shapes.get(clipped, clipped)] = word.value
    for name, value in list(given.items()):
        if name not in template.parameters:
            if _is_default(value, defaults.get(name, _NOTHING)) or _is_known(rule, name, value):
                del given[name]
            else:
                raise _refuse_argument(rule, f"`{name}=`", value, facts)
    if variadic and template.variadic:
        given[template.variadic] = gast.Tuple(elts=rest, ctx=gast.Load())
    for name in template.parameters:
        if name not in given and name not in template.defaults:
            raise _refuse_argument(rule, f"a call without `{name}`", node, facts)
    return {name: given[name] for name in template.parameters if name in given}


_NOTHING = object()
_CLIP = {"min": "a_min", "max": "a_max"}  # `np.clip` and `.clip` know their bounds by two names


def _shapes(op: object, template: Template) -> dict[str, str]:
    """The names of a distribution's shape parameters, and those of the template that stand in their places."""
    shapes = getattr(getattr(op, "__self__", None), "shapes", None)
    names = shapes.replace(",", " ").split() if isinstance(shapes, str) else []
    return dict(zip(names, template.positional[1:], strict=False))


def _parameters(op: Any, template: Template) -> tuple[tuple[str, ...], bool, dict[str, object]]:
    """Positional names, whether more may follow, defaults: the op's own where it tells, else the template's."""
    fixed, own, variadic = template.positional, template.parameters, template.variadic
    if isinstance(op, np.ufunc) or op is operator.getitem:
        return fixed, False, {"out": None, "where": True}
    if is_distribution(getattr(op, "__self__", None)) and hasattr(op.__self__, "shapes"):  # takes any keyword
        return fixed, False, {}
    try:
        parameters = _of_numpy(op) if isinstance(op, _NUMPYS_OWN) else list(inspect.signature(op).parameters.values())
    except (ValueError, TypeError):
        return fixed, variadic is not None, {}
    kinds = inspect.Parameter
    order = [p.name for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    for position, own_name in enumerate(fixed[: len(order)]):
        if order[position] not in own and own_name not in order:
            order[position] = own_name  # `self` of a method, names of C functions
    more = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
    defaults = {p.name: p.default for p in parameters if p.default is not kinds.empty}
    if not order and not template.variadic:
        order, more = list(fixed), False
    return tuple(order), more, defaults


_NUMPYS_OWN = type(np.dot)  # the functions for which other arrays may have their own; they stay what they are


@lru_cache(maxsize=1024)
def _of_numpy(op: Any) -> list[inspect.Parameter]:
    """The parameters of a function of NumPy: those in C have a text, which takes long to read."""
    return list(inspect.signature(op).parameters.values())


def _told_by(function: object) -> list[inspect.Parameter]:
    try:
        return _of_numpy(function) if callable(function) else []
    except (ValueError, TypeError):
        return []


def parameters_of(function: object) -> tuple[str, ...]:
    """The names of the parameters that a function of a library takes by place; none where it does not tell."""
    kinds = inspect.Parameter
    return tuple(p.name for p in _told_by(function) if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD))


def takes_out(function: object) -> bool:
    """Whether an operation fills an array that it is given: `np.add(a, b, out=a)`."""
    known = rule_of(function) is not None and any(one.name == "out" for one in _told_by(function))
    return known or isinstance(function, np.ufunc)


def place_of_out(function: object, given: int) -> int | None:
    """Where an operation takes the array that it fills, `np.add(a, b, a)`; None where that is beyond those `given`."""
    if isinstance(function, np.ufunc):
        place = function.nin
    else:
        order = parameters_of(function) if given > 2 and takes_out(function) else ()
        place = order.index("out") if "out" in order else given
    return place if place < given else None


def _is_default(value: Node, default: object) -> bool:
    return isinstance(value, gast.Constant) and default is not _NOTHING and value.value is default


def _refuse_argument(rule: Rule, what: str, node: Node, facts: Facts) -> Exception:
    return facts.refuse(
        node,
        "E5006",
        f"the rule of {rule.name} does not handle {what}",
        f"it handles: {', '.join(rule.parameters)}; compute the rest in separate operations",
    )


def once_more(
    op: object, arguments: list[Node], keywords: list[gast.keyword], node: Node, facts: Facts
) -> tuple[object, list[Node]]:
    """The operation and arguments that stand for an operation in a text that is differentiated once more."""
    settled = facts.origin.instead.get(node)
    if op is np.where and len(arguments) == 3 and is_divisor(*arguments):
        return denominator if settled is denominator else divisor, arguments[2:]
    if settled is op:
        return op, arguments
    if op is np.linalg.norm and _order(arguments, keywords) == 1:
        return one_norm, arguments
    return (magnitude if rule_of(op) is rule_of(np.absolute) else op), arguments


def _order(arguments: list[Node], keywords: list[gast.keyword]) -> object:
    """The `ord` of a norm, where it is written out."""
    given = [*arguments[1:2], *(word.value for word in keywords if word.arg == "ord")]
    return given[0].value if given and isinstance(given[0], gast.Constant) else None


def is_divisor(condition: Node, other: Node, length: Node) -> bool:
    """Whether this is `np.where(0.0 == z, np.inf, z)`, as only our templates write it."""
    return (
        isinstance(condition, gast.Compare)
        and isinstance(condition.left, gast.Constant)
        and condition.left.value == 0.0
        and isinstance(condition.ops[0], gast.Eq)
        and gast.unparse(condition.comparators[0]) == gast.unparse(length)
        and gast.unparse(other).endswith(".inf")
    )


def sparse_product(node: Node, facts: Facts, found: object) -> tuple[object, list[Node]] | None:
    """The operation of a product with a sparse matrix, and its operands; None for other expressions.

    `found` tells what a dotted name means outside of the function.
    """
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
        if is_sparse(node.left, facts, found):
            return sparse_left, [node.left, node.right]
        return (sparse_right, [node.left, node.right]) if is_sparse(node.right, facts, found) else None
    method = isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "dot"
    if method and len(node.args) == 1 and not node.keywords and is_sparse(node.func.value, facts, found):
        return sparse_left, [node.func.value, node.args[0]]
    return None


def is_sparse(node: Node, facts: Facts, found: Any) -> bool:
    """Whether an expression is an argument or a global that is a sparse matrix, or the transpose of one."""
    if isinstance(node, gast.Attribute) and node.attr == "T":
        return is_sparse(node.value, facts, found)
    kind = facts.kinds.of_names.get(node.id) if isinstance(node, gast.Name) else None
    local = facts.kinds.named.get(node.id) if isinstance(node, gast.Name) else None
    if local is not None and local.tag in ("object", "made"):
        return _is_matrix(local.items[0][0])
    if kind is not None and kind.tag == "object":
        return _is_matrix(kind.items[0][0]) and not _is_bound(node.id, facts)
    meant = found(node)
    held = attribute_held(node, found) if meant is None else meant.object
    return (meant is None or meant.kind == "object") and _is_matrix(type(held))


def attribute_held(node: Node, found: Any) -> object:
    """What `model.m` holds, where `model` is an object outside of the function; None where only a run can tell.

    No property of the object is run.
    """
    if not isinstance(node, gast.Attribute):
        return None
    meant = found(node.value)
    if meant is None:
        return _own_attribute(attribute_held(node.value, found), node.attr)
    return _own_attribute(meant.object, node.attr) if meant.kind == "object" else None


def _own_attribute(owner: object, name: str) -> object:
    return None if isinstance(owner, type | ModuleType) else getattr(owner, "__dict__", {}).get(name)


def _is_matrix(owner: object) -> bool:
    return str(getattr(owner, "__module__", "")).startswith("scipy.sparse.") and hasattr(owner, "tocsr")


def _is_bound(name: str, facts: Facts) -> bool:
    """Whether the function gives the name of an argument another meaning."""
    names = (n for n in find_nodes(facts.source.tree, gast.Name) if n.id == name)
    return any(isinstance(n.ctx, gast.Store) for n in names)


OPERATORS: dict[type, object] = {
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

METHODS: dict[str, object] = {
    "all": np.all, "any": np.any, "argmax": np.argmax, "argmin": np.argmin, "argpartition": np.argpartition,
    "argsort": np.argsort, "astype": np.ndarray.astype, "choose": np.choose, "clip": np.clip, "compress": np.compress,
    "conj": np.conjugate, "conjugate": np.conjugate, "copy": np.copy, "cumprod": np.cumprod,
    "cumsum": np.cumsum, "diagonal": np.diagonal, "dot": np.dot, "flatten": np.ndarray.flatten,
    "get": dict.get, "item": np.ndarray.item, "max": np.max, "mean": np.mean, "min": np.min, "nonzero": np.nonzero,
    "prod": np.prod, "ravel": np.ravel, "repeat": np.repeat, "reshape": np.reshape, "round": np.round,
    "searchsorted": np.searchsorted, "squeeze": np.squeeze, "std": np.std, "sum": np.sum,
    "swapaxes": np.swapaxes, "take": np.take, "tolist": np.ndarray.tolist, "trace": np.trace,
    "transpose": np.transpose, "var": np.var,
}  # fmt: skip

ATTRIBUTES: dict[str, object] = {"T": np.transpose, "mT": np.matrix_transpose, "real": np.real, "imag": np.imag}
PASSIVE_ATTRIBUTES = ("shape", "dtype", "size", "ndim")


def binding_of(node: Node, facts: Facts, local: frozenset[str]) -> Binding | None:
    """What a dotted name such as `np.linalg.norm` means outside the function; None for anything else."""
    return binding_in(facts.namespace, node, local)


def object_of(node: Node, facts: Facts, local: frozenset[str] | None = None) -> Any:
    """The object that a dotted name means outside the function; None for anything else."""
    found = binding_of(node, facts, facts.names.local if local is None else local)
    return found.object if found is not None and found.kind == "object" else None


def arguments_by_name(call: Node, names: Sequence[str]) -> dict[str, Node] | None:
    """The arguments of a call by the names of its parameters; None where they do not fit, or are unpacked."""
    given = dict(zip(names, call.args, strict=False)) | {str(word.arg): word.value for word in call.keywords}
    unpacked = any(isinstance(one, gast.Starred) for one in call.args)
    return None if unpacked or len(call.args) > len(names) or not set(given) <= set(names) else given


def binding_in(namespace: Namespace, node: Node, local: frozenset[str] = frozenset()) -> Binding | None:
    """What a dotted name means in a namespace, if its first part is no local name; None for anything else."""
    if type(node) is gast.Name:
        return None if node.id in local else namespace.lookup(node.id)
    base = binding_in(namespace, node.value, local) if type(node) is gast.Attribute else None
    return None if base is None else attribute(base, node.attr)


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


def _operator(op: Node, node: Node, facts: Facts) -> object:
    found = OPERATORS.get(type(op))
    if found is None:
        _, sign, _ = gast.unparse(gast.BinOp(gast.Constant(0, None), op, gast.Constant(0, None))).split()
        what = f"the operator `{sign}` has no derivative"
        raise facts.refuse(node, "E5001", what, "use srcgrad.stop_gradient on its operands")
    return found


def _of_attribute(node: Node, facts: Facts, local: frozenset[str]) -> Operation | None:
    own = is_own(node, facts)
    if binding_of(node, facts, local) is not None or (node.attr in PASSIVE_ATTRIBUTES and not own):
        return None
    if node.attr in ATTRIBUTES and not own:
        facts.memory.taken[getattr(node.value, "id", "")] = ""
        return _of_op(ATTRIBUTES[node.attr], [node.value], [], node, facts)
    if own:
        raise refused_field(node, facts)
    raise facts.refuse(
        node,
        "E5005",
        f"the attribute `.{node.attr}` of a differentiated value is not accepted",
        "of arrays .T .mT .real .imag .shape .dtype .size .ndim are; for an object's, show one: `like=(x, ...)`",
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
    function = cached_function(found.object)
    if found.kind != "object":
        return Operation("opaque", found)
    if function is partial or function is closure or function is call:
        return Operation("opaque", node.func)  # only a run knows what is called in the end
    if isinstance(function, Step):
        return Operation("callee", function, checkpointed=True)
    if rule_of(function) is None:
        templates.load_for(home(function) or "")
    primal = getattr(function, "__srcgrad_primal__", function)
    if rule_of(function) is None and rule_of(primal) is not None:
        function = primal
    parts = parts_of(function)
    if parts is not None and not parts.unpacks:
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
OF_DISTRIBUTIONS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")


def method_without_rule(node: Node, facts: Facts) -> Exception:
    """E5003 for a call of a method of which only its name is known."""
    remedy = "call the NumPy function instead, or write a rule for a function of your own and call that"
    return facts.refuse(
        node,
        "E5003",
        f"the method `.{node.func.attr}()` has no rule",
        FROZEN if node.func.attr in OF_DISTRIBUTIONS else remedy,
    )


def is_method_of_no_array(call: Node) -> bool:
    """Whether a call is one of a method, or of what is held by an attribute, by a name that no array has."""
    spelled = call.func.attr if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) else "T"
    return spelled not in METHODS and not hasattr(np.ndarray, spelled)


def _of_method(node: Node, facts: Facts) -> Operation:
    op = METHODS.get(node.func.attr) or getattr(np.ndarray, node.func.attr, None)
    rule = rule_of(op)
    if rule is not None and rule.kind == "refused":
        raise facts.refuse(
            node, "E5001", f"`.{node.func.attr}()` has no derivative: {rule.reason}", f"{rule.way_out}{OWN_RULE}"
        )
    if is_method_of_no_array(node) and node.func.attr not in OF_DISTRIBUTIONS:
        return Operation("opaque", node.func)  # only a run knows whose it is
    if rule is None:
        raise method_without_rule(node, facts)
    if is_own(node.func, facts):
        return Operation("opaque", node.func)
    facts.memory.taken[getattr(node.func.value, "id", "")] = ""
    assert rule.composition is None, "such a method is called as a function before"
    arguments = list(node.args)
    if op is np.compress and arguments:
        return _of_op(op, [arguments[0], node.func.value, *arguments[1:]], node.keywords, node, facts)
    if op in (np.reshape, np.transpose) and len(arguments) > 1:
        arguments = [gast.Tuple(elts=arguments, ctx=gast.Load())]
    return _of_op(op, [node.func.value, *arguments], node.keywords, node, facts)


def _is_number(given: Node, facts: Facts) -> bool:
    """Whether an expression is known to be a number or an array, which no function is."""
    known = facts.kinds.of_names.get(given.id) if isinstance(given, gast.Name) else None
    computed = isinstance(given, gast.BinOp | gast.UnaryOp | gast.Compare)
    return computed or (known is not None and known.tag in ("scalar", "array"))


def _of_op(op: object, arguments: list[Node], keywords: list[gast.keyword], node: Node, facts: Facts) -> Operation:
    if facts.source.is_derivative:
        op, arguments = once_more(op, arguments, keywords, node, facts)
    rule = rule_of(op)
    if rule is None:
        return Operation("opaque", op)
    if rule.length and node in facts.origin.instead:
        rule = replace(rule, length=False)  # nothing but its first derivative is asked for
    if rule.kind == "constant":
        return Operation("op", op, rule)
    if dtype_given(op, arguments, keywords, facts) in ("b", "i", "u"):
        return Operation("op", op, replace(rule, kind="constant"))
    composition = by_totals(node, rule, facts) or written_out(
        rule, arguments, keywords, lambda given: may_be_function(given) and not _is_number(given, facts)
    )
    own = any(getattr(word.value, "id", "") in facts.names.functions for word in keywords)
    if composition is not None and goes_through(composition) and not own and _is_dict(arguments[0], facts):
        return Operation("opaque", op)  # keys are what a dict gives
    if composition is not None:
        check_handled(rule, composition, arguments, keywords, facts)
        return Operation("callee", composition)
    if rule.kind in ("refused", "composed"):
        return Operation("opaque", op)  # an iterator that nobody has written out, if it is composed
    bound = bind_arguments(rule, arguments, keywords, node, facts)
    other = instead(rule, bound, facts) if rule.literals else None
    if other is None:
        return Operation("op", op, rule, bound)
    first, *rest = other.parameters
    kept = {name: bound[name] for name in rest if name in bound}
    return Operation("op", other.op, other, {first: next(iter(bound.values())), **kept})


def _is_dict(value: Node, facts: Facts) -> bool:
    held = getattr(value, "id", "")
    kinds = facts.kinds.of_expressions.get(value), facts.kinds.of_names.get(held), facts.kinds.named.get(held)
    return any(kind is not None and kind.tag == "dict" for kind in kinds) or facts.list_kind(held) == "dict"


_PLACES: dict[object, int] = {
    np.array: 1, np.asarray: 1, np.zeros: 1, np.ones: 1, np.empty: 1, np.zeros_like: 1, np.ones_like: 1,
    np.empty_like: 1, np.ndarray.astype: 1, np.full: 2, np.full_like: 2, np.sum: 2, np.mean: 2, np.identity: 1,
}  # fmt: skip


def dtype_given(op: object, arguments: list[Node], keywords: Sequence[Node], facts: Facts) -> str:
    """The kind of the dtype that a call is given, one of "biufc"; "?" if it is not known, "" if none is given."""
    place = _PLACES.get(op) if callable(op) else None
    given = arguments[place : place + 1] if place is not None else []
    for asked in [*given, *(word.value for word in keywords if word.arg == "dtype")]:
        found = binding_of(asked, facts, facts.names.local)
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
        return literal_node(value)
    if isinstance(value, float) and math.isfinite(value):
        return literal_node(value)
    return None


def follow_import(node: Node, facts: Facts) -> bool:
    """Whether an import in the body could be followed; its names mean what is imported from then on."""
    found = bound_by(node, facts.namespace)
    if found is not None:
        facts.namespace = Overlay(facts.namespace, found)
    return found is not None


def bound_by(node: Node, namespace: Namespace) -> dict[str, Binding] | None:
    """What the names of an import mean; None if it cannot be followed, or is none."""
    found: dict[str, Binding] = {}
    if type(node) not in (gast.Import, gast.ImportFrom):
        return None
    for alias in node.names:
        if isinstance(node, gast.Import):
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            if alias.name != whole and _module(alias.name, namespace) is None:
                return None
            meant = _module(whole, namespace)
            spelled = alias.asname or whole
        else:
            module = None if alias.name == "*" else _module(_whole_name(node, namespace), namespace)
            meant = None if module is None else attribute(module, alias.name)
            spelled = alias.asname or alias.name
        if meant is None or meant.kind == "unknown":
            return None
        found[spelled] = meant
    return found


def fails(node: Node, namespace: Namespace) -> bool:
    """Whether a statement is an import from a package that is not installed here."""
    if type(node) not in (gast.Import, gast.ImportFrom) or node.__dict__.get("level"):
        return False
    whole = [alias.name for alias in node.names] if type(node) is gast.Import else [str(node.module)]
    live = isinstance(without_overlays(namespace), LiveNamespace)
    return live and any(importlib.util.find_spec(one.partition(".")[0]) is None for one in whole)


def _whole_name(node: Node, namespace: Namespace) -> str:
    """The dotted name of the module in `from ..part import name`; empty where that is not known."""
    held, package = without_overlays(namespace), None
    if isinstance(held, StaticModule):
        package = held.name if held.package else held.name.rpartition(".")[0]
    elif isinstance(held, LiveNamespace):
        package = held.function.__globals__.get("__package__")
    try:
        return importlib.util.resolve_name("." * (node.level or 0) + (node.module or ""), package)
    except ImportError:
        return ""


def _module(dotted: str, namespace: Namespace) -> Binding | None:
    namespace = without_overlays(namespace)
    if isinstance(namespace, StaticModule) and dotted:
        return namespace.program.module(dotted)
    if not isinstance(namespace, LiveNamespace) or not dotted:
        return None
    try:
        return Binding("object", importlib.import_module(dotted))
    except ImportError:
        return None
