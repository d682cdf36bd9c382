"""What calls and attributes give: functions of the user are looked into, methods are those of what has them."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import Any  # modules of text, and kinds of arbitrary objects

import gast

from srcgrad.converted import parsed
from srcgrad.errors import DifferentiationError
from srcgrad.facts import UNKNOWN, Kind
from srcgrad.front.namespace import Binding, Namespace, attribute
from srcgrad.front.resolve import ATTRIBUTES
from srcgrad.front.results_of_calls import of_function
from srcgrad.front.values import INTEGER, NUMERIC, SHAPE, all_of, either, of_object
from srcgrad.trees import Block, Node

Names = dict[str, Kind]
_CALLS = 12  # functions called from one another that are looked into
_HEAP_TYPE = 1 << 9  # a class made by a `class` statement


@dataclass(frozen=True, eq=False)
class Nested:
    """A function that stands in another one, and what is known where it stands."""

    tree: Node
    names: Names


@dataclass
class Called:
    """What is known of the expressions of one function, as far as calls go.

    `of` has the kind of each expression, `named` what all that a name is bound to has in common, `returned` what the
    function gives back at each `return`.
    """

    namespace: Namespace
    module: Any
    of: dict[Node, Kind] = field(default_factory=dict)
    named: Names = field(default_factory=dict)
    returned: dict[Node, Kind] = field(default_factory=dict)
    open: list[Any] = field(default_factory=list)  # trees of functions that are being looked into
    known: dict[Any, Kind] = field(default_factory=dict)  # what calls of functions of modules give
    nested: dict[Node, Nested] = field(default_factory=dict)
    left: list[list[Names]] = field(default_factory=list)  # what is known where loops are left, the innermost last
    around: frozenset[str] = frozenset()  # names of the functions in which this one stands

    def kind(self, node: Node, names: Names) -> Kind:
        """The kind of an expression where names are of these kinds."""
        raise NotImplementedError

    def block(self, block: Block, names: Names) -> None:
        """Look at statements in order."""
        raise NotImplementedError

    def function(self, tree: Node, given: Names) -> Kind:
        """Look at a function whose arguments are of some kinds: what it gives back."""
        names = {parameter: given.get(parameter, UNKNOWN) for parameter in _parameters(tree)}
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
        self.named[name] = either(self.named[name], kind) if name in self.named else kind

    def own(self, tree: Node, names: Names) -> Kind:
        """The kind of a function that stands in this one: the same each time that its definition is met."""
        known = self.nested.get(tree)
        if known is None or known.names is not names:
            known = self.nested[tree] = Nested(tree, names)
        return Kind("function", None, ((known, UNKNOWN),))

    def meaning(self, found: Binding) -> Kind:
        """The kind of what a name means outside of the function."""
        if found.kind == "object":
            return of_object(found.object)
        if found.kind == "function" or found.kind == "module":
            return Kind(found.kind, None, ((found.static or found.module, UNKNOWN),))
        if found.kind == "value" and found.expression is not None and found.module is not None:
            try:
                value = parsed(found.expression.strip(), "eval").body
            except SyntaxError:
                return UNKNOWN
            return self._among(found.module, value).kind(value, {}) if self._may() else UNKNOWN
        return UNKNOWN

    def _among(self, namespace: Namespace, tree: Node) -> Called:
        """What is to be known of another function, or of an expression of another module."""
        return type(self)(namespace, self.module, open=[*self.open, tree], known=self.known)

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
        if held.tag == "made" or (held.owner is not None and name in getattr(held.owner, "_fields", ())):
            fields: dict[Any, Kind] = dict(held.items)
            return fields.get(held.owner._fields.index(name), UNKNOWN) if held.owner is not None else UNKNOWN
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
            made: Any = callee.items[0][0]
            if isinstance(made, type) and made.__flags__ & _HEAP_TYPE:
                return Kind("tuple", owner=made) if issubclass(made, tuple) else Kind("made", None, ((made, UNKNOWN),))
            return of_function(made, args, words)
        if callee.tag != "function":
            return UNKNOWN
        function = callee.items[0][0]
        if isinstance(function, Nested):
            return self._into_nested(function, args, words)
        if isinstance(function, types.MethodType):
            return self.called(of_object(function.__func__), [of_object(function.__self__), *args], words)
        if not _has_text(function):
            return of_function(function, args, words)
        return self._into(function, args, words)

    def _into_nested(self, function: Nested, args: list[Kind], words: Names) -> Kind:
        if any(one is function.tree for one in self.open) or not self._may():
            return UNKNOWN
        self.open.append(function.tree)
        names = dict(function.names)
        inner = _bound(function.tree, args, words, lambda default: self.kind(default, dict(names)))
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

    def _into(self, function: Any, args: list[Kind], words: Names) -> Kind:
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
            given = _bound(source.tree, args, words, lambda default: inner.kind(default, {}))
            self.known[key] = inner.function(source.tree, given)
        return self.known[key]


def _has_text(function: Any) -> bool:
    """Whether a function is the user's: one with a text, of no library that has rules."""
    if type(function).__name__ == "StaticFunction":
        return True
    module = str(getattr(function, "__module__", "") or "").partition(".")[0]
    return isinstance(function, types.FunctionType) and module not in ("numpy", "scipy", "srcgrad", "math", "functools")


def _parameters(tree: Node) -> list[str]:
    arguments = tree.args
    return [a.id for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]


def _bound(tree: Node, args: list[Kind], words: Names, default: Any) -> Names:
    """The kinds of parameters in a call; of those that it does not give, those of their defaults."""
    arguments = tree.args
    positional = [a.id for a in [*arguments.posonlyargs, *arguments.args]]
    pairs = list(zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True))
    pairs += zip([a.id for a in arguments.kwonlyargs], arguments.kw_defaults, strict=True)
    given = dict(zip(positional, args, strict=False)) | words
    for parameter, value in pairs:
        if parameter not in given and value is not None:
            given[parameter] = default(value)
    if arguments.vararg is not None:
        rest = args[len(positional) :]
        given[arguments.vararg.id] = Kind("tuple", None, tuple(enumerate(rest)))
    every = [*_parameters(tree), *([arguments.vararg.id] if arguments.vararg is not None else [])]
    return {parameter: given.get(parameter, UNKNOWN) for parameter in every}
