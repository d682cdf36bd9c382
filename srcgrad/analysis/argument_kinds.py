"""What is known of the arguments of a function: from annotations, from callers, from how the text reads them.

Annotations tell numbers, shapes such as `"n d"` or `Float[Array, "n d"]`, and complex types. An attribute that arrays
have may carry a derivative where it is read of what may be an object of the user's.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import field
from types import BuiltinFunctionType, FunctionType
from typing import Any  # what is called is arbitrary

import gast
import numpy as np

from srcgrad.analysis.array_regions import extents
from srcgrad.analysis.dtypes import binding_of_dotted_name, is_complex_value, may_be_complex
from srcgrad.core.bindings import StaticFunction
from srcgrad.core.control_flow import Edge, reachable_names
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import ANY, SCALAR, UNKNOWN, Facts, FunctionNames, Kind
from srcgrad.core.identity import record, replace
from srcgrad.core.namespace import Namespace
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Node,
    called_name,
    every_parameter,
    find_nodes,
    header,
    loads,
    own_names,
    parameters,
    parse_tree,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.frontend.kinds_of_values import makes_objects, refused_field
from srcgrad.frontend.resolve import ATTRIBUTES, METHODS, PASSIVE_ATTRIBUTES, bind, binding_of

FLOATING = "floating"  # the dtype that all declared arguments share
_DIMENSIONS = re.compile(r"\s*(?:\d+|[A-Za-z_]\w*)(?:\s+(?:\d+|[A-Za-z_]\w*))*\s*\Z")
_DTYPES = ("float", "float16", "float64", "integer", "complex")


def kinds_of_annotations(tree: Node, namespace: Namespace) -> dict[str, Kind]:
    """What annotations tell of parameters: numbers, shapes such as `"n d"`, types such as `NDArray[complex]`."""
    found = {}
    for parameter in every_parameter(tree):
        if parameter.annotation is None:
            continue
        shaped = declared_shape(parameter.annotation, namespace)
        is_complex = _names_complex(parameter.annotation, namespace)
        if built_in(parameter, namespace) in ("float", "int"):
            found[parameter.id] = SCALAR
        elif shaped is not None:
            found[parameter.id] = replace(shaped, complex=shaped.complex or is_complex)
        elif is_complex:
            number = isinstance(parameter.annotation, gast.Name | gast.Attribute | gast.Constant)
            found[parameter.id] = Kind("scalar", 0, complex=True) if number else Kind(complex=True)
    return numbers(found, tree)


def _names_complex(annotation: Node, namespace: Namespace) -> bool:
    if isinstance(annotation, gast.Constant):
        try:
            annotation = parse_tree(str(annotation.value), "eval").body
        except SyntaxError:
            return False
    names = find_nodes(annotation, gast.Name, gast.Attribute)
    return any(is_complex_value(getattr(binding_of_dotted_name(node, namespace), "object", None)) for node in names)


def built_in(parameter: Node, namespace: Namespace) -> str:
    """The built-in type that a parameter is annotated with; empty if there is none."""
    node = parameter.annotation
    spelled = getattr(node, "id", None) or getattr(node, "value", None)
    if not isinstance(spelled, str) or spelled not in ("float", "int", "bool", "str"):
        return ""
    found = namespace.lookup(spelled)
    return spelled if found is not None and isinstance(found.object, type) else ""


def declared_shape(annotation: Node, namespace: Namespace) -> Kind | None:
    """The kind that an annotation such as `"n d"` or `Float[Array, "n d"]` declares; None if it declares no shape."""
    if isinstance(annotation, gast.Constant) and isinstance(annotation.value, str):
        text = annotation.value
        if "[" in text:
            try:
                return declared_shape(parse_tree(text, "eval").body, namespace)
            except SyntaxError:
                return None
        return None if _is_type(text.strip(), namespace) or not text.strip() else _kind_of_shape_text(text, "")
    if isinstance(annotation, gast.Subscript) and isinstance(annotation.slice, gast.Tuple):
        head = annotation.value
        spelled = getattr(head, "attr", getattr(head, "id", ""))
        parts = annotation.slice.elts
        whole = len(parts) == 2 and not isinstance(parts[0], gast.Constant) and isinstance(parts[1], gast.Constant)
        if whole and isinstance(parts[1].value, str) and spelled not in ("Literal", "dict", "tuple", "Callable"):
            return _kind_of_shape_text(parts[1].value, spelled)
    return None


def _is_type(text: str, namespace: Namespace) -> bool:
    """Whether a word is the name of a type, not of a length: a forward reference."""
    if not text.isidentifier():
        return False
    known = namespace.lookup(text)
    value = known is not None and (known.kind == "value" or isinstance(known.object, int | float | np.ndarray))
    if (known is not None and not value) or (len(text) > 1 and text[0].isupper()):
        return True
    return text == "array" or isinstance(getattr(np, text, None), type)


def _kind_of_shape_text(text: str, head: str) -> Kind | None:
    """The kind of an array whose lengths a text gives; `_` is a length of its own. None for what is no such text."""
    if (text.strip() and not _DIMENSIONS.match(text)) or set(text.split()) & set(_DTYPES):
        return None
    dims = [dim if dim != "_" else f"_{place}" for place, dim in enumerate(text.split())]
    dtype = {"Float16": "float16", "Float64": "float64"}.get(head, FLOATING)
    if head.startswith(("Int", "UInt", "Bool")):
        dtype = "integer"
    return Kind("array", len(dims), dtype=dtype, complex=head.startswith("Complex"), shape=tuple(dims))


def is_declared(kind: Kind) -> bool:
    """Whether a kind is a declaration, which must be checked where the text begins."""
    return kind.shape is not None or kind.dtype in (FLOATING, "float64") or any(is_declared(k) for _, k in kind.items)


def numbers(kinds: dict[str, Kind], tree: Node) -> dict[str, Kind]:
    """Numbers known by annotation; one that is read elsewhere than as a bound or an index must be checked."""
    counted: set[int] = set()
    for node in walk(tree):
        if isinstance(node, gast.Call) and getattr(node.func, "id", "") == "range":
            counted |= {id(item) for argument in node.args for item in walk(argument)}
        elif isinstance(node, gast.Subscript):
            counted |= {id(item) for item in walk(node.slice)}
    read = {n.id for n in find_nodes(tree, gast.Name) if isinstance(n.ctx, gast.Load) and id(n) not in counted}
    plain = {p: kind for p, kind in kinds.items() if kind == SCALAR and p in read}
    return {**kinds, **{p: replace(kind, dtype=FLOATING) for p, kind in plain.items()}}


def kinds_of(bound: dict[str, Node], facts: Facts) -> dict[str, Kind]:
    """What the caller knows of the arguments: which of them are numbers, and the ranks of others."""
    known: dict[str, Kind] = {}
    single = any(kind.single for kind in facts.kinds.of_names.values())
    symbols = {"1": "1"}  # lengths go by names of their own, so that calls that look alike share one text
    for parameter, argument in bound.items():
        spec, held = facts.values.spec.get(argument), getattr(argument, "id", "")
        seen = facts.kinds.of_expressions.get(argument, UNKNOWN)
        if held in facts.kinds.containers and held in facts.kinds.of_names:
            known[parameter] = facts.kinds.of_names[held]
            continue
        listed = facts.list_kind(held) or seen.tag
        if listed == "list" or (listed == "tuple" and any(item.dtype == "floating" for _, item in seen.items)):
            known[parameter] = Kind(listed)  # of which NumPy makes an array, as of no shape
            continue
        number = isinstance(argument, gast.Constant) and isinstance(argument.value, int | float)
        if number or (spec is not None and spec.scalar and not spec.dtype):
            known[parameter] = SCALAR
        elif spec is not None and spec.ndim:
            lengths = tuple(symbols.setdefault(one, f"@{len(symbols)}") for one in extents(spec) or ())
            dtype = "floating" if spec.dtype == {"floating"} else ""
            known[parameter] = Kind("array", spec.ndim, dtype=dtype, shape=lengths, single=single)
        elif spec is not None and spec.scalar and facts.module.leading.axis:
            known[parameter] = Kind("array", 0)
        if may_be_complex(argument, facts):
            known[parameter] = replace(known.get(parameter, UNKNOWN), complex=True)
    return known


def lengths_of(bound: dict[str, Node], kinds: dict[str, Kind], facts: Facts) -> dict[str, str]:
    """What the callee's names of lengths stand for in the caller."""
    found: dict[str, str] = {}
    for parameter, kind in kinds.items():
        spec = facts.values.spec.get(bound[parameter]) if parameter in bound else None
        if kind.shape is not None and spec is not None:
            found.update(zip(kind.shape, extents(spec) or (), strict=False))
    return found


__all__ = ["bind", "kinds_of", "lengths_of"]


def kinds_from_reads(function: Node, facts: Facts) -> dict[str, Kind]:
    """The kinds of what `wrt` names, and of its parts, that the text shows to be containers."""
    unknown = [one for one in facts.request.wrt if facts.kinds.of_names.get(one, UNKNOWN) == UNKNOWN]
    if not unknown:
        return {}
    order = statements(function.body)
    found = _mark_dicts(order, unknown)
    if facts.module.target.typed:
        return found
    text, wanted = _Text.of(order), [one for one in unknown if one not in facts.request.inner]
    return {
        **found,
        **_kinds_of_unpacked_parts(text, wanted),
        **_sequences(text, wanted, slices=not facts.module.inline),
    }


@record(frozen=True)
class _Text:
    """The statements of a function; how often names are read and bound in it, which of them are integers."""

    order: list[Node]
    reads: Counter[str]
    bound: Counter[str]
    counters: set[str]

    @classmethod
    def of(cls, order: list[Node]) -> _Text:
        reads = Counter(one for node in order for one in loads(node))
        return cls(order, reads, Counter(one for node in order for one in stores(node)), _counters(order))


def may_be_array(wanted: str, facts: Facts) -> bool:
    """Whether an argument is a tuple as far as the text goes, and may be a list or an array when it runs."""
    return (
        facts.kinds.arguments.get(wanted, UNKNOWN) == UNKNOWN
        and facts.kinds.of_names.get(wanted, UNKNOWN).tag == "tuple"
    )


def taken_for_sequences(block: list[Node], names: list[str], facts: Facts) -> list[str]:
    """Arguments of unknown kind whose items the function goes through, where the text would read a dict otherwise.

    A function goes through the keys of a dict. A text does so too, unless it goes through the tangents as well, or
    reads the items by place, `x[i]`.
    """
    found = []
    for one in names:
        known = facts.kinds.arguments.get(one, UNKNOWN)
        if (known != UNKNOWN and known.tag != "object") or facts.kinds.of_names.get(one, UNKNOWN).tag == "dict":
            continue
        through = _Items(facts)
        if not through.of_parameter(facts.source.tree, one, facts):
            continue
        order = statements(block)
        held = _second_names(one, order)
        certain = [
            n for n in block if not hasattr(n, "body") and not find_nodes(n, gast.IfExp, gast.BoolOp, gast.Lambda)
        ]
        if any(_fails_of_dict(part, held) for node in certain for part in walk(node)):
            continue
        if _read_by_place(order, held, through.places, facts) or _given_on(order, held, facts):
            found.append(one)
        elif facts.request.mode in ("forward", "push") and one in facts.activity.active:
            text = _Items(facts, unknown=False)
            found += [one] if any(text.reads(part, held, facts) for node in order for part in walk(node)) else []
    return found


def _fails_of_dict(node: Node, names: set[str]) -> bool:
    """Whether an expression is an error, in each call, where what goes by one of these names is a dict."""
    parts = [getattr(node, "left", None), getattr(node, "right", None), getattr(node, "operand", None)]
    arithmetic = isinstance(node, gast.BinOp) and not isinstance(node.op, gast.BitOr)
    if arithmetic or (isinstance(node, gast.UnaryOp) and not isinstance(node.op, gast.Not)):
        return any(getattr(part, "id", "") in names for part in parts)
    sliced = isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice)
    return sliced and getattr(node.value, "id", "") in names


def _read_by_place(order: list[Node], names: set[str], written: set[str], facts: Facts) -> bool:
    """Whether a text reads items of an argument by place where the function, which spells its own places, does not."""
    counters = _counters(order) | {getattr(n.target, "id", "") for n in order if isinstance(n, gast.For)}
    for node in order:
        for part in [node] if not hasattr(node, "body") else header(node):
            for item in find_nodes(part, gast.Subscript):
                if getattr(item.value, "id", "") not in names or not isinstance(item.ctx, gast.Load):
                    continue
                place = item.slice
                spelled = gast.unparse(place) if not isinstance(place, gast.Name) else place.id
                own = facts.names.base.get(spelled, spelled) in written
                if not own and (isinstance(place, gast.Slice) or _is_place(place, counters)):
                    return True
    return False


def _given_on(order: list[Node], names: set[str], facts: Facts) -> bool:
    """Whether a text gives an argument to another function of the text that takes it for a sequence."""
    for call in (n for node in order for n in find_nodes(node, gast.Call)):
        inner = facts.module.making.get(called_name(call))
        if inner is None:
            continue
        pairs = [
            *zip(parameters(inner.source.tree), call.args, strict=False),
            *((w.arg, w.value) for w in call.keywords),
        ]
        if any(getattr(v, "id", "") in names and inner.memory.taken.get(p) == "check_sequences" for p, v in pairs):
            return True
    return False


def _second_names(held: str, order: list[Node]) -> set[str]:
    """A name, and those that are bound to what it means."""
    names, before = {held}, 0
    while len(names) > before:
        before = len(names)
        names |= {one for node in order for one in [target(node)] if one and getattr(node.value, "id", "") in names}
    return names


@record
class _Items:
    """How functions read an argument: whether they go through its items, and by which places they read some."""

    facts: Facts
    unknown: bool = True  # what is said of calls of which nothing is known
    places: set[str] = field(default_factory=set)
    asked: dict[tuple[Node, str], bool] = field(default_factory=dict)

    def of_parameter(self, tree: Node, held: str, facts: Facts) -> bool:
        """Whether a function goes through the items of a parameter, itself or by a call."""
        if (tree, held) not in self.asked:
            self.asked[tree, held] = False  # of a recursive call nothing more is known
            body = [tree.body] if isinstance(tree, gast.Lambda) else tree.body
            order = statements(tree.body) if isinstance(tree, gast.FunctionDef) else []
            names = _second_names(held, order)
            found = [self.reads(part, names, facts) for one in body for part in walk(one)]
            self.asked[tree, held] = any(found)
        return self.asked[tree, held]

    def reads(self, node: Node, names: set[str], facts: Facts) -> bool:
        """Whether one part of a function goes through the items of what goes by these names."""

        def meant(part: Node) -> bool:
            return isinstance(part, gast.Name) and part.id in names

        kind = type(node)
        if kind is gast.Subscript and meant(node.value):
            self.places.add(gast.unparse(node.slice))
        if kind is gast.For or kind is gast.comprehension:
            return meant(node.iter)
        if kind is gast.Starred:
            return meant(node.value)
        if kind is gast.Assign:
            return meant(node.value) and not isinstance(node.targets[0], gast.Name)
        return kind is gast.Call and self._call(node, meant, facts)

    def _call(self, call: Node, meant: Callable[[Node], bool], facts: Facts) -> bool:
        given = [*call.args, *(word.value for word in call.keywords)]
        if not any(meant(one) for one in given):
            return False
        found = binding_of(call.func, facts, facts.names.local)
        called = None if found is None else found.static or found.object
        if not isinstance(called, FunctionType | StaticFunction) or rule_of(called) is not None:
            known = found is not None and (rule_of(called) is not None or isinstance(called, BuiltinFunctionType))
            return any(called is one for one in _GO_THROUGH) or (self.unknown and not known)
        source, namespace = facts.module.source(called)
        inner = replace(facts, namespace=namespace, names=FunctionNames(local=own_names(source.tree)))
        try:
            bound = bind(call, source.tree, facts)
        except DifferentiationError:
            return self.unknown
        asked = [self.of_parameter(source.tree, one, inner) for one, value in bound.items() if meant(value)]
        return any(asked)


_GO_THROUGH = (zip, enumerate, reversed, sorted, list, tuple, sum, min, max, iter, map, filter)


def _mark_dicts(order: list[Node], unknown: list[str]) -> dict[str, Kind]:
    """What is read by names, `params["w"]`, is a dict if nothing else is known; so are such parts."""
    reads = [n for node in order for part in header(node) for n in find_nodes(part, gast.Subscript)]
    named = {getattr(n.value, "id", "") for n in reads if isinstance(getattr(n.slice, "value", None), str)}
    found = {name: Kind("dict") for name in unknown if name in named}
    for node in order:
        bound = target(node)
        part = node.value if bound in named and isinstance(node.value, gast.Subscript) else None
        held = getattr(getattr(part, "value", None), "id", "")
        if bound is not None and part is not None and held in found:
            found[bound] = Kind("dict")
            items = dict(found[held].items) | {getattr(part.slice, "value", ANY): found[bound]}
            found[held] = Kind("dict", None, tuple(items.items()))
    return found


def _kinds_of_unpacked_parts(text: _Text, wanted: list[str]) -> dict[str, Kind]:
    """What is read once, by `u, v = params`, has these parts; whether it is an array is seen when the text runs."""
    apart = {node.value.id: stores(node) for node in text.order if _takes_apart(node)}

    def kind(name: str, times: int) -> Kind:
        if times and text.bound[name] == times and name not in apart:
            return _mark_dicts(text.order, [name]).get(name, UNKNOWN)
        if name not in apart or text.reads[name] != 1 or text.bound[name] != times:
            return UNKNOWN
        return Kind("tuple", None, tuple((place, kind(part, 1)) for place, part in enumerate(apart[name])))

    found = {one: kind(one, 0) for one in wanted}
    return {one: known for one, known in found.items() if known != UNKNOWN}


def _sequences(text: _Text, wanted: list[str], *, slices: bool) -> dict[str, Kind]:
    """What is read item by item, `for u, v in params`, where each item is taken apart or is read by names."""
    found = {one: _item_of(one, text, slices=slices) for one in wanted}
    return {one: Kind("tuple", None, ((ANY, item),)) for one, item in found.items() if item is not None}


def _item_of(held: str, text: _Text, *, slices: bool) -> Kind | None:
    """The kind of all items of an argument; None if it is read in any other way than by items, or by slices."""
    order, reads, bound, counters = text.order, text.reads, text.bound, text.counters
    wholes: dict[str, int] = {held: 0}  # it and its slices: in how many of these ways each is read
    items: list[str] = []
    for node in order:
        source = node.iter if isinstance(node, gast.For) else getattr(node, "value", None)
        part = source if isinstance(source, gast.Subscript) else None
        of = getattr(source if part is None else part.value, "id", "")
        name = node.target.id if isinstance(node, gast.For) else target(node)
        if of not in wholes or name is None or bound[name] != 1:
            continue
        if source.__class__ is gast.Name and target(node) is not None:
            wholes[name] = 0  # a second name: `trips = params`
        elif part is not None and isinstance(part.slice, gast.Slice) and slices:
            wholes[name] = 0
        elif _is_place(part.slice, counters) if part is not None else isinstance(node, gast.For):
            items.append(name)
        else:
            return None
        wholes[of] += 1
    for call in (
        n for node in order for part in header(node) for n in walk(part) if called_name(n) == "len" and n.args
    ):
        if getattr(call.args[0], "id", "") in wholes:
            wholes[call.args[0].id] += 1
    kinds = {_kind_of_item_reads(item, reads[item], order) for item in items}
    return kinds.pop() if len(kinds) == 1 and all(reads[one] == count for one, count in wholes.items()) else None


def _counters(order: list[Node]) -> set[str]:
    """Names of integers: those of loops over `range`, and those that only count, `place = 0`, `place = place + 1`."""
    bound: set[str] = set()
    others: set[str] = set()
    for node in order:
        value = getattr(node, "value", None)
        step = value.right if isinstance(value, gast.BinOp) and getattr(value.left, "id", "") == target(node) else value
        (bound if type(getattr(step, "value", None)) is int else others).update(stores(node))
    return {
        *(bound - others),
        *(node.target.id for node in order if called_name(getattr(node, "iter", None)) == "range"),
    }


def _is_place(index: Node, counters: set[str]) -> bool:
    """Whether an index is an integer: a literal or the counter of a loop."""
    literal = index.operand if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub) else index
    return type(getattr(literal, "value", None)) is int or getattr(index, "id", "") in counters


def _kind_of_item_reads(item: str, reads: int, order: list[Node]) -> Kind | None:
    """The kind of an item that one statement takes apart, or of which only values by name are read."""
    apart = [node for node in order if _takes_apart(node) and node.value.id == item]
    if len(apart) == reads == 1:
        return Kind("tuple", None, tuple((place, UNKNOWN) for place, _ in enumerate(stores(apart[0]))))
    parts = [n for node in order for part in header(node) for n in find_nodes(part, gast.Subscript)]
    named = [n for n in parts if getattr(n.value, "id", "") == item and isinstance(getattr(n.slice, "value", 0), str)]
    return Kind("dict") if named and len(named) == reads else None


def _takes_apart(node: Node) -> bool:
    """Whether a statement is `u, v = params`."""
    if not isinstance(node, gast.Assign) or not isinstance(node.value, gast.Name):
        return False
    display = node.targets[0]
    return isinstance(display, gast.Tuple) and all(isinstance(n, gast.Name) for n in display.elts)


_OF_ARRAYS = (*PASSIVE_ATTRIBUTES, *ATTRIBUTES)
_STEER = (gast.If, gast.While)  # what stands there has no derivative


def check_attributes(function: Node, facts: Facts) -> None:
    """Refuse `.size` and the like of what a class, or a function that is not known, has made of varied values.

    A shape has no derivative; a field of that name has one.
    """
    made: list[str] = []
    edges: list[Edge] = []
    records: dict[str, None] = {}  # dicts, which may be the fields of an object that a function gives back
    for node in statements(function.body):
        operation = facts.operation_of(node)
        bound = [*stores(node), *written_names(node)]
        if operation is not None and operation.kind != "opaque" and operation.function is not operator.getitem:
            continue
        edges.append((list(loads(node)), bound))
        value = node.iter if isinstance(node, gast.For) else getattr(node, "value", None)
        if value is not None and _may_be_object(value, {}, facts):
            made += bound
        if isinstance(value, gast.Dict) or getattr(value, "id", "") in records:
            records.update(dict.fromkeys(bound))
    objects = reachable_names(made, edges) if made else {}
    for node in statements(function.body):
        if isinstance(node, _STEER) or (isinstance(node, gast.For) and called_name(node.iter) == "range"):
            continue
        for part in value_attributes(node.iter if isinstance(node, gast.For) else node):
            own = getattr(part.value, "id", "") in records or _may_be_object(part.value, objects, facts)
            if own and any(read in facts.activity.varied for read in loads(part)):
                raise refused_field(part, facts)
        for call in find_nodes(node, gast.Call):
            name = call.func.attr if isinstance(call.func, gast.Attribute) else ""
            if name in METHODS and not hasattr(dict, name) and getattr(call.func.value, "id", "") in records:
                raise refused_field(call.func, facts)


def _may_be_object(value: Node, objects: dict[str, None], facts: Facts) -> bool:
    if any(read in objects for read in loads(value)):
        return True
    callees = [(one.func, binding_of(one.func, facts, facts.names.local)) for one in find_nodes(value, gast.Call)]
    return any(
        makes_objects(function if found is None else found.object if found.kind == "object" else found)
        for function, found in callees
        if found is not None or (isinstance(function, gast.Name) and function.id not in facts.names.imports.values())
    )


def value_attributes(node: Node) -> list[Any]:
    """The attributes that a statement reads, those apart that steer: in indices and comparisons."""
    apart = {one for held in find_nodes(node, gast.Subscript) for one in find_nodes(held.slice, gast.Attribute)}
    apart |= {one for held in find_nodes(node, gast.Compare) for one in find_nodes(held, gast.Attribute)}
    return [n for n in find_nodes(node, gast.Attribute) if n.attr in _OF_ARRAYS and n not in apart]
