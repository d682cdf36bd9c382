"""Kinds: what each expression of a function is, found forward from arguments, literals, globals and what is called.

Functions of the user are looked into, methods are those of what has them.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections import namedtuple
from collections.abc import Callable
from dataclasses import field
from typing import Any  # functions are arbitrary objects

import gast
import numpy as np

from srcgrad.core.bindings import Binding, StaticFunction, attribute
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import ANY, SCALAR, UNKNOWN, Kind
from srcgrad.core.identity import record
from srcgrad.core.namespace import Namespace
from srcgrad.core.rules import Rule, rule_of
from srcgrad.core.trees import Block, Node, children, defaults_of, given_by_place, parameters, parse_tree
from srcgrad.frontend.kinds_of_values import (
    ARRAY,
    BOOL,
    FLOAT,
    INTEGER,
    NONE,
    NOTHING,
    NUMERIC,
    OF_NUMBERS,
    SEQUENCES,
    SHAPE,
    STRING,
    all_of,
    class_of_fields,
    each_of,
    fields_of_class,
    in_container,
    kind_of_alternatives,
    live_object,
    of_object,
    own_operator,
    part_at,
    parts_of,
    widened,
)
from srcgrad.frontend.resolve import ATTRIBUTES, METHODS, bound_by

_REPEATED = (range, enumerate, zip, reversed, sorted, list, tuple, map, filter, iter)
_NUMBERS = {len: INTEGER, int: INTEGER, float: FLOAT, round: SCALAR, bool: BOOL, isinstance: BOOL, callable: BOOL,
            hasattr: BOOL, any: BOOL, all: BOOL, str: STRING, repr: STRING, type: UNKNOWN, print: NONE,
            np.shape: SHAPE, np.ndim: INTEGER, np.size: INTEGER, dict.fromkeys: Kind("dict")}  # fmt: skip
_ON_LISTS = {"pop": ANY, "copy": "same", "index": INTEGER, "count": INTEGER, "append": NONE, "extend": NONE,
             "insert": NONE, "sort": NONE, "reverse": NONE, "clear": NONE, "remove": NONE}  # fmt: skip
_TEXTS = ("join", "lower", "upper", "strip", "format", "replace", "title")


def of_function(function: object, args: list[Kind], words: dict[str, Kind]) -> Kind:
    """The kind of what a function gives that is Python's, NumPy's or SciPy's.

    >>> of_function(np.exp, [Kind("list", None, ((0, FLOAT), (1, FLOAT)))], {}).tag
    'array'
    """
    if not _is_hashable(function):
        return UNKNOWN
    first = args[0] if args else UNKNOWN
    if function in _NUMBERS:
        return _NUMBERS[function]
    if function in _REPEATED or function in (sum, max, min, abs, divmod, dict, pow):
        return _of_builtin(function, args, words)
    rule = rule_of(function)
    if rule is not None and rule.shape == "filled":
        return _kind_of_shape(first)
    if rule is not None and rule.mirrors_first:
        return _as_array(first) if first.tag in OF_NUMBERS or first.tag in SEQUENCES else NUMERIC
    if rule is not None and rule.gives == "arrays":
        return Kind("list", None, ((ANY, ARRAY),))
    if rule is not None and rule.gives == "array":
        return _kind_of_array(rule, first, bool(args[1:] or words))
    if rule is not None and (rule.gives or rule.dtype == "integer"):
        return _kind_of_numbers(rule, args, words)
    if isinstance(function, np.ufunc):
        if function.signature is not None:  # a product of matrices or vectors: it may be a number
            return NUMERIC if function.nout == 1 else UNKNOWN
        return kind_of_elementwise([*args, *words.values()]) if function.nout == 1 else UNKNOWN
    if rule is None or rule.kind in ("constant", "refused", "composed") or rule.results or rule.own is not None:
        return UNKNOWN
    module = str(getattr(function, "__module__", "") or "").partition(".")[0]
    if module not in ("numpy", "scipy", "math", "cmath", "_operator", "builtins", "operator"):
        return UNKNOWN
    return kind_of_elementwise(args) if rule.kind == "elementwise" else NUMERIC


def _is_hashable(function: object) -> bool:
    return isinstance(function, np.ufunc) or type(function).__hash__ is not None


def kind_of_elementwise(args: list[Kind]) -> Kind:
    """The kind of what an elementwise operation gives."""
    known = [_as_array(kind) for kind in args if kind.tag != "none"]
    if any(kind.tag == "array" for kind in known):
        ranks = [kind.ndim for kind in known]
        return Kind("array", max(r for r in ranks if r is not None) if None not in ranks else None)
    if known and all(kind.tag in ("scalar", "bool") for kind in known):
        return SCALAR
    return NUMERIC


def _as_array(kind: Kind) -> Kind:
    """A list as the array that NumPy makes of it."""
    if kind.tag in SEQUENCES:
        inner = _as_array(each_of(kind)) if kind.items else UNKNOWN
        rank = {"scalar": 0, "bool": 0}.get(inner.tag, inner.ndim if inner.tag == "array" else None)
        return Kind("array", None if rank is None else rank + 1)
    return kind if kind.tag in ("array", "scalar", "bool", "numeric") else NUMERIC


def _kind_of_shape(shape: Kind) -> Kind:
    if shape.tag == "scalar":
        return Kind("array", 1)
    known = shape.tag == "tuple" and ANY not in dict(shape.items)
    return Kind("array", len(shape.items)) if known and shape.items else ARRAY


def _kind_of_array(rule: Rule, first: Kind, more: bool) -> Kind:
    """The kind of an array, whose rank the rule may tell; `more` says whether a call has more than one argument."""
    made = _as_array(first)
    if rule.shape == "display" or rule.op is np.copy:
        return made if made.tag == "array" else Kind("array", 0) if made.tag in ("scalar", "bool") else ARRAY
    if rule.shape in ("row", "flat") or (rule.shape == "accumulate" and not more and rule.op is not np.sort):
        return Kind("array", 1)
    if rule.op is np.linspace and first.tag == "scalar":
        return Kind("array", 1)
    same = rule.shape in ("transpose", "swap") or rule.is_like_first
    return made if same and made.tag == "array" else ARRAY


def _kind_of_numbers(rule: Rule, args: list[Kind], words: dict[str, Kind]) -> Kind:
    """The kind of truth values, counts and positions, or of an array of them."""
    one = BOOL if rule.dtype == "bool" else INTEGER
    if rule.gives == "elements":
        made = kind_of_elementwise([*args, *words.values()])
        return one if made.tag == "scalar" else made
    vector = bool(args) and args[0].tag == "array" and args[0].ndim == 1
    if rule.gives == "number" or (rule.gives == "reduced" and (vector or not (args[1:] or words))):
        return one
    return UNKNOWN if rule.gives == "tuple" else NUMERIC


def _of_builtin(function: object, args: list[Kind], words: dict[str, Kind]) -> Kind:
    first = args[0] if args else UNKNOWN
    if function is range:
        return Kind("iterator", None, ((ANY, INTEGER),))
    if function is enumerate:
        return Kind("iterator", None, ((ANY, Kind("tuple", None, ((0, INTEGER), (1, each_of(first))))),))
    if function is zip:
        inner = tuple((place, each_of(kind)) for place, kind in enumerate(args))
        return Kind("iterator", None, ((ANY, Kind("tuple", None, inner)),))
    if function in (reversed, sorted, iter, list, tuple):
        tag = {tuple: "tuple", reversed: "iterator", iter: "iterator"}.get(function, "list")
        whole = function in (list, tuple) and first.tag in SEQUENCES
        items = first.items if whole else ((ANY, each_of(first)),) if args else ()
        return Kind(tag, None, items)
    if function is dict:
        return Kind("dict", None, tuple(words.items())) if not args else Kind("dict", None, first.items)
    if function is sum:
        return _kind_of_sum(first, args)
    if function in (max, min):
        return each_of(first) if len(args) == 1 else _numbers_or_unknown(all_of(args))
    if function is abs:
        return first if first.tag in OF_NUMBERS else NUMERIC
    return kind_of_elementwise(args) if function is pow else UNKNOWN


def _kind_of_sum(first: Kind, args: list[Kind]) -> Kind:
    inner = each_of(first)
    start = args[1] if len(args) > 1 else INTEGER
    if inner.tag in SEQUENCES or start.tag in SEQUENCES:
        return start if start.tag in SEQUENCES else UNKNOWN
    return (
        kind_of_alternatives(inner, inner)
        if inner.tag in ("array", "scalar")
        else NUMERIC
        if inner.tag in OF_NUMBERS
        else UNKNOWN
    )


def _numbers_or_unknown(kind: Kind) -> Kind:
    return kind if kind.tag in OF_NUMBERS else UNKNOWN


def of_method(held: Kind, method: str, args: list[Kind]) -> Kind:
    """The kind of what a method gives of an array, a number, a list, a dict or a string."""
    if held.tag in OF_NUMBERS or held.tag == "unknown":
        return _of_arrays_method(held, method, args)
    if held.tag == "tuple":
        return INTEGER if method in ("index", "count") else UNKNOWN  # of a NamedTuple's class, perhaps
    if held.tag in SEQUENCES:
        found: Any = _ON_LISTS.get(method, UNKNOWN)
        return each_of(held) if found is ANY else held if found == "same" else found
    if held.tag == "dict":
        values = dict(held.items)
        whole = values.get(ANY) or all_of(list(values.values()))
        if method in ("keys", "values", "items"):
            key = each_of(held)
            pair = Kind("tuple", None, ((0, key), (1, whole)))
            return Kind("iterator", None, ((ANY, {"keys": key, "values": whole, "items": pair}[method]),))
        return held if method == "copy" else whole if method in ("pop", "setdefault") else UNKNOWN
    if held.tag == "string":
        return STRING if method in _TEXTS else BOOL if method in ("startswith", "endswith") else UNKNOWN
    return UNKNOWN


def _of_arrays_method(held: Kind, method: str, args: list[Kind]) -> Kind:
    function = METHODS.get(method)
    if method == "tolist":
        return Kind("list") if held.tag == "array" and held.ndim else UNKNOWN
    if function is None or method == "get":
        return UNKNOWN
    if method in ("item", "trace") and held.tag == "array" and (held.ndim or 0) < 3:
        return SCALAR
    if method in ("sum", "mean", "max", "min", "prod", "std", "var") and not args and held.tag in ("array", "scalar"):
        return NUMERIC
    if method in ("all", "any"):
        return BOOL
    if method in ("copy", "astype", "clip", "conj", "conjugate", "round", "cumsum", "cumprod", "transpose"):
        return held if held.tag == "array" else NUMERIC
    if method in ("flatten", "ravel"):
        return Kind("array", 1)
    return ARRAY if method in ("reshape", "repeat", "swapaxes", "diagonal", "nonzero", "argsort") else NUMERIC


def of_operator(op: type, left: Kind, right: Kind) -> Kind:
    """The kind of `left op right`; the operator is a class of the tree, as `gast.Add`."""
    name = op.__name__
    if left.tag in SEQUENCES and right.tag in SEQUENCES:
        if name != "Add" or left.tag != right.tag:
            return UNKNOWN
        count = len(left.items)
        exact = ANY not in dict(left.items) and ANY not in dict(right.items)
        if exact:
            return Kind(left.tag, None, (*left.items, *((count + k, kind) for k, (_, kind) in enumerate(right.items))))
        return Kind(left.tag, None, ((ANY, kind_of_alternatives(each_of(left), each_of(right))),))
    listed = left if left.tag in SEQUENCES else right if right.tag in SEQUENCES else None
    if listed is not None:
        other = right if listed is left else left
        if name == "Mult" and other.tag in ("scalar", "unknown", "bool"):
            return Kind(listed.tag, None, ((ANY, each_of(listed)),))
        return kind_of_elementwise([left, right]) if other.tag in OF_NUMBERS or name not in ("Add", "Mult") else UNKNOWN
    if left.tag == "string":
        return STRING if name in ("Mod", "Add", "Mult") else UNKNOWN
    if left.tag in OF_NUMBERS and right.tag in OF_NUMBERS:
        return NUMERIC if name == "MatMult" else _arithmetic(name, left, right)
    known = left.tag if right.tag == "unknown" else right.tag if left.tag == "unknown" else ""
    if known in ("array", "numeric") or (known == "scalar" and FLOAT.dtype in (left.dtype, right.dtype)):
        return Kind("array") if known == "array" and name != "MatMult" else NUMERIC
    if known in ("unknown", "scalar") and name in ("Sub", "Div", "Pow", "MatMult", "FloorDiv"):
        return NUMERIC
    return UNKNOWN


def _arithmetic(name: str, left: Kind, right: Kind) -> Kind:
    whole = left.tag == right.tag == "scalar" and left.dtype == right.dtype == "integer" and name != "Div"
    return INTEGER if whole else kind_of_elementwise([left, right])


__all__ = ["kind_of_elementwise", "of_function", "of_method", "of_operator"]


Names = dict[str, Kind]
_CALLS = 12  # functions called from one another that are looked into
_HEAP_TYPE = 1 << 9  # a class made by a `class` statement


@record(frozen=True, eq=False)
class NestedFunction:
    """A function that stands in another one, and what is known where it stands."""

    tree: Node
    names: Names


@record
class MadeObjects:
    """What is known of the objects that a function makes, itself and by what it calls."""

    classes: dict[type, None] = field(default_factory=dict)
    fields: dict[object, Names] = field(default_factory=dict)  # what an `__init__` gives an object, by call
    shaky: dict[str, None] = field(default_factory=dict)  # attributes that are bound outside of an `__init__`


@record
class CalledFunction:
    """What is known of the expressions of one function, as far as calls go.

    `of` has the kind of each expression, `named` what all that a name is bound to has in common, `returned` what the
    function gives back at each `return`.
    """

    namespace: Namespace
    module: Any
    of: dict[Node, Kind] = field(default_factory=dict)
    named: Names = field(default_factory=dict)
    returned: dict[Node, Kind] = field(default_factory=dict)
    open: list[object] = field(default_factory=list)  # trees of functions that are being looked into
    known: dict[Any, Kind] = field(default_factory=dict)  # what calls of functions of modules give
    nested: dict[Node, NestedFunction] = field(default_factory=dict)
    left: list[list[Names]] = field(default_factory=list)  # what is known where loops are left, the innermost last
    around: frozenset[str] = frozenset()  # names of the functions in which this one stands
    objects: MadeObjects = field(default_factory=MadeObjects)
    maker: str = ""  # the object that this function makes, if it is an `__init__`: its parameter

    def kind(self, node: Node, names: Names) -> Kind:
        """The kind of an expression where names are of these kinds."""
        raise NotImplementedError

    def block(self, block: Block, names: Names) -> None:
        """Look at statements in order."""
        raise NotImplementedError

    def function(self, tree: Node, given: Names) -> Kind:
        """Look at a function whose arguments are of some kinds: what it gives back."""
        names = {parameter: given.get(parameter, UNKNOWN) for parameter in parameters(tree)}
        if tree.args.vararg is not None:
            names[tree.args.vararg.id] = given.get(tree.args.vararg.id, Kind("tuple"))
        for name, kind in names.items():
            self.note(name, kind)
        outer, self.returned = self.returned, {}
        if isinstance(tree, gast.Lambda):
            found = [self.kind(tree.body, names)]
        else:
            self.block(tree.body, names)
            found = list(self.returned.values())
        if self.open[1:]:
            self.returned = outer
        return all_of(found)

    def note(self, name: str, kind: Kind) -> None:
        self.named[name] = kind_of_alternatives(self.named[name], kind) if name in self.named else kind

    def own(self, tree: Node, names: Names) -> Kind:
        """The kind of a function that stands in this one: the same each time that its definition is met."""
        known = self.nested.get(tree)
        if known is None or known.names is not names:
            known = self.nested[tree] = NestedFunction(tree, names)
        return Kind("function", None, ((known, UNKNOWN),))

    def meaning(self, found: Binding) -> Kind:
        """The kind of what a name means outside of the function."""
        if found.kind == "object":
            return of_object(found.object)
        if found.kind == "function" or found.kind == "module":
            return Kind(found.kind, None, ((found.static or found.module, UNKNOWN),))
        if found.kind == "value" and found.expression is not None and found.module is not None:
            try:
                value = parse_tree(found.expression.strip(), "eval").body
            except SyntaxError:
                return UNKNOWN
            return self._among(found.module, value).kind(value, {}) if self._may() else UNKNOWN
        return UNKNOWN

    def _among(self, namespace: Namespace, tree: Node) -> CalledFunction:
        """What is to be known of another function, or of an expression of another module."""
        return type(self)(namespace, self.module, open=[*self.open, tree], known=self.known, objects=self.objects)

    def _may(self) -> bool:
        return len(self.open) < _CALLS

    def attribute(self, held: Kind, name: str) -> Kind:
        """The kind of an attribute of a value."""
        if held.tag in ("module", "class"):
            whole = held.items[0][0]
            live = isinstance(whole, types.ModuleType | type)
            of = Binding("object", whole) if live else Binding("module", module=whole)
            found = attribute(of, name)
            return UNKNOWN if found is None else self.meaning(found)
        if held.tag == "object":
            attributes: Names = dict(held.items[1:])
            return attributes.get(name, UNKNOWN)
        if held.owner is not None and name in getattr(held.owner, "_fields", ()):
            fields: dict[Any, Kind] = dict(held.items)
            return fields.get(held.owner._fields.index(name), UNKNOWN)
        if held.tag == "made" and name in dict(held.items[1:]):
            return UNKNOWN if name in self.objects.shaky else in_container(dict(held.items[1:])[name])
        if held.tag == "made" or held.owner is not None:
            whole = held.owner if held.owner is not None else held.items[0][0]
            found = inspect.getattr_static(whole, name, None)
            if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
                return self.called(of_object(found.fget), [held], {})
            return UNKNOWN
        if name == "shape":
            count = held.ndim if held.tag == "array" else None
            return SHAPE if count is None else Kind("tuple", None, tuple((k, INTEGER) for k in range(count)))
        if name in ("ndim", "size"):
            return INTEGER
        if name in ATTRIBUTES:
            return held if held.tag in ("array", "scalar") else NUMERIC
        return UNKNOWN

    def called(self, callee: Kind, args: list[Kind], words: Names) -> Kind:
        """The kind of what a call gives."""
        if callee.tag == "class":
            made: object = callee.items[0][0]
            if isinstance(made, type) and (made.__flags__ & _HEAP_TYPE or made is types.SimpleNamespace):
                return self.made(made, args, words)
            return of_function(made, args, words)
        own = inspect.getattr_static(callee.items[0][0], "__call__", None) if callee.tag == "made" else None
        if isinstance(own, types.FunctionType):
            return self.called(of_object(own), [callee, *args], words)
        if callee.tag != "function":
            return UNKNOWN
        function = callee.items[0][0]
        if function is dataclasses.replace and args and args[0].tag == "made":
            return Kind("made", None, tuple({**dict(args[0].items), **words}.items()))
        if isinstance(function, NestedFunction):
            return self._into_nested(function, args, words)
        if isinstance(function, types.MethodType):
            return self.called(of_object(function.__func__), [of_object(function.__self__), *args], words)
        if not _has_text(function):
            return of_function(function, args, words)
        return self._into(function, args, words)

    def made(self, owner: type, args: list[Kind], words: Names) -> Kind:
        """The kind of a new object: its class, and what its fields hold, as far as making it tells."""
        given = dict(zip(fields_of_class(owner), args, strict=False)) | words
        if issubclass(owner, tuple):
            named = enumerate(getattr(owner, "_fields", ()))
            return Kind("tuple", None, tuple((k, given.get(one, UNKNOWN)) for k, one in named), owner)
        self.objects.classes[owner] = None
        init = None if dataclasses.is_dataclass(owner) else inspect.getattr_static(owner, "__init__", None)
        if isinstance(init, types.FunctionType):
            given = self._fields_given(init, Kind("made", None, ((owner, UNKNOWN),)), args, words)
        return Kind("made", None, ((owner, UNKNOWN), *given.items()))

    def _fields_given(self, init: types.FunctionType, begun: Kind, args: list[Kind], words: Names) -> Names:
        """What `__init__` binds to attributes of the object that it is given."""
        try:
            if self.module is None or not self._may():
                return {}
            source, namespace = self.module.source(init)
        except DifferentiationError:
            return {}
        key = (init, begun, tuple(args), tuple(sorted(words.items(), key=lambda item: item[0])))
        if any(one is source.tree for one in self.open):
            return {}
        if key not in self.objects.fields:
            inner = self._among(namespace, source.tree)
            given = _kinds_of_parameters(source.tree, [begun, *args], words, lambda default: inner.kind(default, {}))
            inner.maker = next(iter(given), "")
            self.objects.fields[key] = {}
            inner.function(source.tree, given)
            self.objects.fields[key] = dict(inner.named[inner.maker].items[1:]) if inner.maker else {}
        return self.objects.fields[key]

    def _into_nested(self, function: NestedFunction, args: list[Kind], words: Names) -> Kind:
        if any(one is function.tree for one in self.open) or not self._may():
            return UNKNOWN
        self.open.append(function.tree)
        names = dict(function.names)
        inner = _kinds_of_parameters(function.tree, args, words, lambda default: self.kind(default, dict(names)))
        outer, self.returned = self.returned, {}
        names.update(inner)
        for name, kind in inner.items():
            self.note(name, kind)
        if isinstance(function.tree, gast.Lambda):
            found = [self.kind(function.tree.body, names)]
        else:
            self.block(function.tree.body, names)
            found = list(self.returned.values())
        self.returned = outer
        self.open.pop()
        return all_of(found)

    def _into(self, function: object, args: list[Kind], words: Names) -> Kind:
        """What a function of a module gives; nothing is known of one that is being looked into."""
        if self.module is None or not self._may():
            return UNKNOWN
        try:
            source, namespace = self.module.source(function)
        except DifferentiationError:
            return UNKNOWN
        key = (id(source.tree), tuple(args), tuple(sorted(words.items(), key=lambda item: item[0])))
        if any(one is source.tree for one in self.open):
            return UNKNOWN
        if key not in self.known:
            inner = self._among(namespace, source.tree)
            given = _kinds_of_parameters(source.tree, args, words, lambda default: inner.kind(default, {}))
            self.known[key] = inner.function(source.tree, given)
        return self.known[key]


def _has_text(function: object) -> bool:
    """Whether a function is the user's: one with a text, of no library that has rules."""
    if isinstance(function, StaticFunction):
        return True
    module = str(getattr(function, "__module__", "") or "").partition(".")[0]
    return isinstance(function, types.FunctionType) and module not in ("numpy", "scipy", "srcgrad", "math", "functools")


def _kinds_of_parameters(tree: Node, args: list[Kind], words: Names, default: Any) -> Names:
    """The kinds of parameters in a call; of those that it does not give, those of their defaults."""
    arguments, positional = tree.args, given_by_place(tree)
    given = dict(zip(positional, args, strict=False)) | words
    for parameter, value in defaults_of(tree).items():
        if parameter not in given:
            given[parameter] = default(value)
    if arguments.vararg is not None:
        rest = args[len(positional) :]
        given[arguments.vararg.id] = Kind("tuple", None, tuple(enumerate(rest)))
    every = [*parameters(tree), *([arguments.vararg.id] if arguments.vararg is not None else [])]
    return {parameter: given.get(parameter, UNKNOWN) for parameter in every}


_GROWS = {"append": 0, "add": 0, "insert": 1, "extend": 0, "update": 0, "setdefault": 1}


class ExpressionKinds(CalledFunction):
    """What is known of the expressions of one function."""

    def bind(self, place: Node, kind: Kind, names: Names) -> None:
        """What a target holds from now on."""
        raise NotImplementedError

    def kind(self, node: Node, names: Names) -> Kind:
        """The kind of an expression where names are of these kinds; of one that is met again, what holds each time."""
        look = _EXPRESSIONS.get(type(node))
        if look is None:
            for part in children(node):
                self.kind(part, names)
            found = UNKNOWN
        else:
            found = look(self, node, names)
        self.of[node] = kind_of_alternatives(self.of[node], found) if node in self.of else found
        return found

    def _of_name(self, node: Node, names: Names) -> Kind:
        if node.id in names:
            return names[node.id]
        found = None if node.id in self.around else self.namespace.lookup(node.id)
        return UNKNOWN if found is None else self.meaning(found)

    def _of_constant(self, node: Node, names: Names) -> Kind:
        return of_object(node.value)

    def _of_joinedstr(self, node: Node, names: Names) -> Kind:
        for part in node.values:
            self.kind(part, names)
        return STRING

    def _of_tuple(self, node: Node, names: Names) -> Kind:
        tag = "tuple" if isinstance(node, gast.Tuple) else "list"
        parts = [self.kind(item, names) for item in node.elts]
        parts = parts if tag == "tuple" else list(map(in_container, parts))
        if any(isinstance(item, gast.Starred) for item in node.elts):
            each = [each_of(k) if isinstance(i, gast.Starred) else k for i, k in zip(node.elts, parts, strict=True)]
            return Kind(tag, None, ((ANY, all_of(each)),))
        return Kind(tag, None, tuple(enumerate(parts)))

    def _of_starred(self, node: Node, names: Names) -> Kind:
        return self.kind(node.value, names)

    def _of_dict(self, node: Node, names: Names) -> Kind:
        values = [in_container(self.kind(value, names)) for value in node.values]
        keys = [None if key is None else self.kind(key, names) and getattr(key, "value", ANY) for key in node.keys]
        if None in keys or len(set(map(repr, keys))) < len(keys):
            return Kind("dict")
        return Kind("dict", None, tuple(zip(keys, values, strict=True)))

    def _of_unaryop(self, node: Node, names: Names) -> Kind:
        kind = self.kind(node.operand, names)
        if isinstance(node.op, gast.Not):
            return BOOL
        own = own_operator(type(node.op), kind)
        if own is not None:
            return self.called(of_object(own), [kind], {})
        return kind if kind.tag in OF_NUMBERS else NUMERIC if kind.tag == "unknown" else UNKNOWN

    def _of_binop(self, node: Node, names: Names) -> Kind:
        return self.operated(type(node.op), self.kind(node.left, names), self.kind(node.right, names))

    def operated(self, op: type, left: Kind, right: Kind) -> Kind:
        """The kind of `left op right`, also where it is a class's own."""
        own, reflected = own_operator(op, left), own_operator(op, right, reflected=True)
        if own is not None:
            return self.called(of_object(own), [left, right], {})
        return (
            of_operator(op, left, right) if reflected is None else self.called(of_object(reflected), [right, left], {})
        )

    def _of_boolop(self, node: Node, names: Names) -> Kind:
        return all_of([self.kind(value, names) for value in node.values])

    def _of_compare(self, node: Node, names: Names) -> Kind:
        kinds = [self.kind(part, names) for part in (node.left, *node.comparators)]
        plain = isinstance(node.ops[0], gast.In | gast.NotIn | gast.Is | gast.IsNot)
        if plain or all(kind.tag in ("scalar", "string", "none", "bool") for kind in kinds):
            return BOOL
        arrays = [kind for kind in kinds if kind.tag == "array"]
        return ARRAY if arrays else NUMERIC if any(kind.tag == "numeric" for kind in kinds) else UNKNOWN

    def _of_ifexp(self, node: Node, names: Names) -> Kind:
        self.kind(node.test, names)
        return kind_of_alternatives(self.kind(node.body, names), self.kind(node.orelse, names))

    def _of_namedexpr(self, node: Node, names: Names) -> Kind:
        kind = self.kind(node.value, names)
        self.bind(node.target, kind, names)
        return kind

    def _of_lambda(self, node: Node, names: Names) -> Kind:
        return self.own(node, names)

    def _of_listcomp(self, node: Node, names: Names) -> Kind:
        inner = dict(names)
        for each in node.generators:
            self.bind(each.target, each_of(self.kind(each.iter, inner)), inner)
            for test in each.ifs:
                self.kind(test, inner)
        if isinstance(node, gast.DictComp):
            self.kind(node.key, inner)
            return Kind("dict", None, ((ANY, in_container(self.kind(node.value, inner))),))
        tag = "list" if isinstance(node, gast.ListComp) else "iterator"
        return Kind(tag, None, ((ANY, in_container(self.kind(node.elt, inner))),))

    def _of_subscript(self, node: Node, names: Names) -> Kind:
        held = self.kind(node.value, names)
        self.kind(node.slice, names)
        return part_at(held, node.slice, self.of)

    def _of_attribute(self, node: Node, names: Names) -> Kind:
        found = live_object(node, self.namespace, names, None if self.module is None else self.module.methods)
        if found is not NOTHING:
            self.kind(node.value, names)
            return of_object(found)
        return self.attribute(self.kind(node.value, names), node.attr)

    def _of_call(self, node: Node, names: Names) -> Kind:
        args = [self.kind(arg, names) for arg in node.args]
        words = {str(word.arg): self.kind(word.value, names) for word in node.keywords}
        starred = any(word.arg is None for word in node.keywords) or any(
            isinstance(arg, gast.Starred) for arg in node.args
        )
        if isinstance(node.func, gast.Attribute):
            held = self.kind(node.func.value, names)
            own = self.attribute(held, node.func.attr)
            self.of[node.func] = own
            if own.tag not in ("function", "class"):
                return self._of_method(node, held, args, words, names)
            callee = own
        else:
            callee = self.kind(node.func, names)
        if callee.tag == "function" and callee.items[0][0] is namedtuple:
            return class_of_fields(node)
        return UNKNOWN if starred else self.called(callee, args, words)

    def _of_method(self, node: Node, held: Kind, args: list[Kind], words: Names, names: Names) -> Kind:
        method, base = node.func.attr, node.func.value
        whole = held.items[0][0] if held.tag in ("object", "made") else held.owner
        if method == "_replace" and held.owner is not None:
            items = {k: words.get(one) or self.attribute(held, one) for k, one in enumerate(held.owner._fields)}
            return Kind("tuple", None, tuple(items.items()), held.owner)
        found = None if whole is None else inspect.getattr_static(whole, method, None)
        if held.tag in ("object", "made") or isinstance(found, types.FunctionType | staticmethod | classmethod):
            if isinstance(found, staticmethod):
                return self.called(of_object(found.__func__), args, words)
            if isinstance(found, classmethod):
                return self.called(of_object(found.__func__), [of_object(whole), *args], words)
            return self.called(of_object(found), [held, *args], words)
        if held.tag in ("list", "dict") and method in _GROWS and isinstance(base, gast.Name):
            put = args[_GROWS[method]] if len(args) > _GROWS[method] else UNKNOWN
            if method in ("extend", "update"):
                put = each_of(put) if method == "extend" else all_of([kind for _, kind in put.items])
            names[base.id] = with_item(held, ANY, put)
            self.note(base.id, names[base.id])
        return of_method(held, method, args)


_EXPRESSIONS: dict[type, Callable[[ExpressionKinds, Node, Names], Kind]] = {
    gast.BoolOp: ExpressionKinds._of_boolop,
    gast.NamedExpr: ExpressionKinds._of_namedexpr,
    gast.BinOp: ExpressionKinds._of_binop,
    gast.UnaryOp: ExpressionKinds._of_unaryop,
    gast.Lambda: ExpressionKinds._of_lambda,
    gast.IfExp: ExpressionKinds._of_ifexp,
    gast.Dict: ExpressionKinds._of_dict,
    gast.ListComp: ExpressionKinds._of_listcomp,
    gast.SetComp: ExpressionKinds._of_listcomp,
    gast.DictComp: ExpressionKinds._of_listcomp,
    gast.GeneratorExp: ExpressionKinds._of_listcomp,
    gast.Compare: ExpressionKinds._of_compare,
    gast.Call: ExpressionKinds._of_call,
    gast.JoinedStr: ExpressionKinds._of_joinedstr,
    gast.Constant: ExpressionKinds._of_constant,
    gast.Attribute: ExpressionKinds._of_attribute,
    gast.Subscript: ExpressionKinds._of_subscript,
    gast.Starred: ExpressionKinds._of_starred,
    gast.Name: ExpressionKinds._of_name,
    gast.List: ExpressionKinds._of_tuple,
    gast.Tuple: ExpressionKinds._of_tuple,
}


def with_item(held: Kind, key: object, item: Kind) -> Kind:
    """A list or a dict with one more item."""
    items, item = dict(held.items), in_container(item)
    if key is not ANY and (held.tag == "dict" or key in items) and ANY not in items:
        return Kind(held.tag, None, tuple({**items, key: item}.items()))
    parts = [*items.values(), item]
    return Kind(held.tag, None, ((ANY, all_of(parts)),))


_ROUNDS = 6  # of a loop, before what still changes is taken as unknown
_LEAVES = (gast.Return, gast.Raise, gast.Break, gast.Continue)


class Kinds(ExpressionKinds):
    """What is known of the expressions of one function: statements in their order, branches joined, loops repeated."""

    def block(self, block: Block, names: Names) -> None:
        """Look at statements in order; `names` is what is known before them, and behind them then."""
        for node in block:
            look = _STATEMENTS.get(type(node))
            if look is not None:
                look(self, node, names)
            else:
                for part in children(node):
                    if isinstance(part, gast.expr):
                        self.kind(part, names)

    def _assign(self, node: Node, names: Names) -> None:
        kind = self.kind(node.value, names)
        for place in node.targets:
            self.bind(place, kind, names)

    def _annassign(self, node: Node, names: Names) -> None:
        if node.value is not None:
            self.bind(node.target, self.kind(node.value, names), names)

    def _augassign(self, node: Node, names: Names) -> None:
        value, held = self.kind(node.value, names), self.kind(node.target, names)
        own = own_operator(type(node.op), held)
        made = (
            _kind_after_update(type(node.op), held, value) if own is None else self.operated(type(node.op), held, value)
        )
        self.bind(node.target, made, names)

    def _if(self, node: Node, names: Names) -> None:
        self.kind(node.test, names)
        before, other = dict(names), dict(names)
        self.block(node.body, names)
        self.block(node.orelse, other)
        ended = [bool(block) and isinstance(block[-1], _LEAVES) for block in (node.body, node.orelse)]
        taken = _is_taken(node.test, before)
        if taken is not None:
            ended = [not taken, taken]  # what is never reached has no say
        if ended == [True, False]:
            names.clear()
            names.update(other)
        elif ended[1] is False:
            _join(names, other)

    def _for(self, node: Node, names: Names) -> None:
        kind = self.kind(node.iter, names)
        self._loop(node, names, lambda: self.bind(node.target, each_of(kind), names))

    def _while(self, node: Node, names: Names) -> None:
        self._loop(node, names, lambda: self.kind(node.test, names))

    def _loop(self, node: Node, names: Names, begin: Any) -> None:
        for turn in range(_ROUNDS):
            before = dict(names)
            begin()
            self.left.append([])
            self.block(node.body, names)
            for other in [before, *self.left.pop()]:
                _join(names, other)
            if names == before:
                break
            if turn == _ROUNDS - 2:
                names.update({one: widened(kind) for one, kind in names.items() if before.get(one, kind) != kind})
        self.block(node.orelse, names)

    def _with(self, node: Node, names: Names) -> None:
        for item in node.items:
            self.kind(item.context_expr, names)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, UNKNOWN, names)
        self.block(node.body, names)

    def _try(self, node: Node, names: Names) -> None:
        before = dict(names)
        self.block(node.body, names)
        self.block(node.orelse, names)
        for handler in node.handlers:
            other = dict(before)
            if handler.name is not None:
                self.bind(handler.name, UNKNOWN, other)
            self.block(handler.body, other)
            _join(names, other)
        self.block(node.finalbody, names)

    def _break(self, node: Node, names: Names) -> None:
        if self.left:
            self.left[-1].append(dict(names))

    def _return(self, node: Node, names: Names) -> None:
        kind = self.kind(node.value, names) if node.value is not None else Kind("none")
        self.returned[node] = kind_of_alternatives(self.returned[node], kind) if node in self.returned else kind

    def _functiondef(self, node: Node, names: Names) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.kind(default, names)
        kind = self.own(node, names) if not node.decorator_list else UNKNOWN
        names[node.name] = kind
        self.note(node.name, kind)

    def _import(self, node: Node, names: Names) -> None:
        found = bound_by(node, self.namespace)
        for alias in node.names:
            spelled = alias.asname or alias.name.partition(".")[0]
            names[spelled] = self.meaning(found[spelled]) if found is not None else UNKNOWN
            self.note(spelled, names[spelled])

    def bind(self, place: Node, kind: Kind, names: Names) -> None:
        """What a target holds from now on."""
        if isinstance(place, gast.Name):
            names[place.id] = kind
            self.note(place.id, kind)
            self.of[place] = kind
        elif isinstance(place, gast.Starred):
            self.bind(place.value, Kind("list", None, ((ANY, each_of(kind)),)), names)
        elif isinstance(place, gast.Tuple | gast.List):
            star = any(isinstance(item, gast.Starred) for item in place.elts)
            parts = [each_of(kind)] * len(place.elts) if star else parts_of(kind, len(place.elts))
            for item, part in zip(place.elts, parts, strict=True):
                self.bind(item, kind if isinstance(item, gast.Starred) else part, names)
        elif isinstance(place, gast.Subscript):
            self._put(place, kind, names)
        elif isinstance(place, gast.Attribute):
            self._set(place, kind, names)
        else:
            self.kind(place.value, names)

    def _set(self, place: Node, kind: Kind, names: Names) -> None:
        """`p.x = e`: one more field of the object that an `__init__` makes; of any other nothing is known then."""
        held = self.kind(place.value, names)
        if held.tag != "made" or not self.maker or getattr(place.value, "id", "") != self.maker:
            self.objects.shaky[place.attr] = None
            return
        names[self.maker] = Kind("made", None, tuple({**dict(held.items), place.attr: in_container(kind)}.items()))
        self.note(self.maker, names[self.maker])

    def _put(self, place: Node, kind: Kind, names: Names) -> None:
        """`d[k] = e`: one more item of a list or a dict."""
        held = self.kind(place.value, names)
        self.kind(place.slice, names)
        base = place.value
        if isinstance(base, gast.Name) and held.tag in ("list", "dict"):
            key = place.slice.value if isinstance(place.slice, gast.Constant) else ANY
            names[base.id] = with_item(held, key, kind)
            self.note(base.id, names[base.id])


_STATEMENTS: dict[type, Callable[[Kinds, Node, Names], None]] = {
    gast.FunctionDef: Kinds._functiondef,
    gast.Return: Kinds._return,
    gast.Assign: Kinds._assign,
    gast.AugAssign: Kinds._augassign,
    gast.AnnAssign: Kinds._annassign,
    gast.For: Kinds._for,
    gast.While: Kinds._while,
    gast.If: Kinds._if,
    gast.With: Kinds._with,
    gast.Try: Kinds._try,
    gast.Import: Kinds._import,
    gast.ImportFrom: Kinds._import,
    gast.Break: Kinds._break,
    gast.Continue: Kinds._break,
}


def _is_taken(test: Node, names: Names) -> bool | None:
    """Whether `w is None`, or `w is not None`, holds of a name whose kind is known; None where it is not."""
    plain = isinstance(test, gast.Compare) and len(test.ops) == 1 and isinstance(test.left, gast.Name)
    if not plain or getattr(test.comparators[0], "value", test) is not None or test.left.id not in names:
        return None
    tag = names[test.left.id].tag
    if tag not in ("none", "list", "tuple", "dict", "array", "scalar") or not isinstance(
        test.ops[0], gast.Is | gast.IsNot
    ):
        return None
    return (tag == "none") is isinstance(test.ops[0], gast.Is)


def _kind_after_update(op: type, held: Kind, value: Kind) -> Kind:
    """The kind of a name behind `name op= value`: a list takes in the items of any sequence, and arrays stay arrays."""
    if held.tag == "list" and op is gast.Add:
        return Kind(
            "list",
            None,
            ((ANY, kind_of_alternatives(each_of(held), each_of(value)) if held.items else each_of(value)),),
        )
    return held if held.tag == "array" else of_operator(op, held, value)


def _join(names: Names, other: Names) -> None:
    """What holds of names on either of two ways."""
    for name, kind in other.items():
        names[name] = kind_of_alternatives(names[name], kind) if name in names else kind
