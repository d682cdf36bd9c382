"""Compound statements in terms of `if`: `match`, `try`, `with suppress(...)`.

A `match` is a chain of tests, as far as the kinds of arguments leave them open. Of a `try`, the body is first run on
trial, by `exception_of`, which gives the exception or None; after that it is a branch like any other, for derivatives
and for what an exception finds half done.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from functools import partial
from types import CodeType, MappingProxyType

import gast
import numpy as np

from srcgrad.core.bindings import Binding, is_trusted
from srcgrad.core.facts import UNKNOWN, Facts, Kind
from srcgrad.core.identity import Function, record
from srcgrad.core.namespace import LiveNamespace, Overlay, without_overlays
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    as_value,
    at,
    copy,
    expression,
    find_nodes,
    holds,
    literal_node,
    literal_value,
    mentions,
    name,
    parameters,
    placed,
    statement,
    statements,
    substitute,
    twin,
    walk,
)
from srcgrad.core.visitor import rewrite, rewrite_statements
from srcgrad.frontend.calls.side_effects import is_report
from srcgrad.frontend.context import StatementBuilder
from srcgrad.frontend.desugar.assignments import is_quiet
from srcgrad.frontend.language import changes, moves
from srcgrad.frontend.rename_variables import COMPREHENSIONS
from srcgrad.frontend.resolve import binding_of, bound_by, fails, object_of
from srcgrad.runtime import exception_of, put_into_copy

_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)
_LOOPS = (gast.For, gast.While)
_PARTS = ("body", "orelse", "finalbody")
_FIXED = ((list, tuple), (dict, MappingProxyType), (set, frozenset))  # and what has no method that changes it
_CHANGING = {method for kind, fixed in _FIXED for method in dir(kind) if not hasattr(fixed, method)}


@record
class _Work(StatementBuilder):
    """The function whose statements are spelled, and what its names are."""

    function: Node
    local: frozenset[str]
    rebound: frozenset[str] = frozenset()  # names that statements bind
    around: list[Node] = field(default_factory=list)  # what takes exceptions, and tries the statement at hand

    def name(self, stem: str) -> str:
        """A fresh local name."""
        made = super().name(stem)
        self.local |= {made}
        return made


def compound_statements(function: Node, facts: Facts) -> Node:
    """Spell `match`, `try` and `with suppress(...)` by branches.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x, n):\\n    match n:\\n        case 0:\\n            x = 2.0 * x\\n        case 1 | 2:\\n"
    >>> print(explain_text(text + "            x = x * x\\n    return x", after="compound_statements"))
    def f(x, n):
        if n == 0:
            x = 2.0 * x
        elif n == 1 or n == 2:
            x = x * x
        return x
    """
    if isinstance(function, gast.AsyncFunctionDef):
        return function
    variables_of_scopes(function, facts)
    nodes = [n for s in function.body for n in walk(s)]
    if any(isinstance(n, gast.Match | gast.Try | gast.With) for n in nodes):
        stored = [n.id for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)]
        held = [n.name for n in nodes if isinstance(n, gast.FunctionDef)]
        work = _Work(facts, function, frozenset([*stored, *held, *parameters(function)]), frozenset(stored))
        function.body = _block(function.body, work)
    return function


# -- global, locals ---------------------------------------------------------------------------------------------------
def variables_of_scopes(function: Node, facts: Facts) -> None:
    """`locals()` as a dict; `global n` as a variable, where no function that is called can read what is written.

    The module's own n stays as it was, as an argument does that a function changes.
    """
    nodes = [n for s in function.body for n in walk(s)]
    once = _most_dicts(function.body) == 1 or sys.version_info >= (3, 13)  # before, all calls give one dict
    if once and "locals" not in facts.names.local and facts.namespace.lookup("locals") == Binding("object", locals):
        for node in function.body:
            if any(_asks_locals(n) for n in walk(node)):
                for one in statements([node]):
                    rewrite(one, partial(_as_dict, function=function))
                    facts.origin.foreign[one] = None
    if "globals" not in facts.names.local and facts.namespace.lookup("globals") == Binding("object", globals):
        for one in [s for s in statements(function.body) if mentions(s, "globals")]:
            rewrite(one, partial(_as_global, facts=facts))
            facts.origin.foreign[one] = None
    module = facts.namespace.lookup("__name__")
    if module is not None and isinstance(module.object, str) and "__name__" not in facts.names.local:
        for one in [s for s in statements(function.body) if mentions(s, "__name__")]:
            rewrite(one, lambda n: at(literal_node(module.object), n) if getattr(n, "id", "") == "__name__" else n)
            facts.origin.foreign[one] = None
    declared = dict.fromkeys(one for n in nodes if isinstance(n, gast.Global) for one in n.names)
    stored = {n.id for n in nodes if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    own = {one: facts.names.fresh(one) for one in declared if one in stored}
    if not declared or not _is_alone(own, nodes, facts):
        return
    function.body = rewrite_statements(function.body, lambda n: [] if isinstance(n, gast.Global) else [n])
    for part in [n for n in nodes if isinstance(n, gast.Name) and n.id in own]:
        part.id = own[part.id]
    facts.names.local = (facts.names.local - set(own)) | set(own.values())
    begin = [
        at(statement(f"{new} = {old}"), function) for old, new in own.items() if facts.namespace.lookup(old) is not None
    ]
    facts.origin.foreign.update(dict.fromkeys([*statements(function.body), *begin]))
    first = function.body[0]
    place = int(isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant))
    function.body[place:place] = begin


def _most_dicts(block: Block) -> int:
    """How many calls of `locals()` stand one behind the other; of the two ways of a branch one is gone."""
    found = 0
    for node in block:
        if isinstance(node, gast.If):
            found += sum(map(_asks_locals, walk(node.test))) + max(_most_dicts(node.body), _most_dicts(node.orelse))
        else:
            found += sum(map(_asks_locals, walk(node))) * (1 + isinstance(node, gast.For | gast.While))
    return found


def _asks_locals(node: Node) -> bool:
    asks = isinstance(node, gast.Call) and getattr(node.func, "id", "") == "locals"
    return asks and not node.args and not node.keywords


def _as_global(node: Node, facts: Facts) -> Node:
    """`X` for `globals()["X"]`"""
    key = getattr(getattr(node, "slice", None), "value", None)
    asked = isinstance(node, gast.Subscript) and isinstance(node.value, gast.Call) and isinstance(node.ctx, gast.Load)
    if not asked or getattr(node.value.func, "id", "") != "globals" or not isinstance(key, str):
        return node
    return node if key in facts.names.local or facts.namespace.lookup(key) is None else at(name(key), node)


def _as_dict(node: Node, function: Node) -> Node:
    """A dict of the names that are bound for `locals()`, if these are known."""
    known = _bound_before(node, function.body, parameters(function)) if _asks_locals(node) else None
    items = ", ".join(f"{one!r}: {one}" for one in known or ())
    return node if known is None else at(expression("{" + items + "}"), node)


def _bound_before(call: Node, block: Block, before: Sequence[str]) -> list[str] | None:
    """The names that a function has bound where it makes a call; None where that depends on what a run does."""
    found = dict.fromkeys(before)
    for node in block:
        inner = _names_stored(node)
        if any(n is call for n in walk(node)):
            for side in (node.body, node.orelse) if isinstance(node, gast.If) else ():
                if any(n is call for s in side for n in walk(s)):
                    return _bound_before(call, side, list(found))
            inner = [] if isinstance(node, gast.Assign | gast.Expr | gast.Return) else inner
            return None if set(inner) - set(found) else list(found)
        if not isinstance(node, gast.Assign) and set(inner) - set(found):
            return None
        found.update(dict.fromkeys(inner))
    return None


def _is_alone(own: dict[str, str], nodes: list[Node], facts: Facts) -> bool:
    """Whether no function that is made beside it, and none that it may call, itself included, knows its globals."""
    if own and any(other is not facts for other in facts.module.making.values()):
        return False  # it is called by another one
    within, local = without_overlays(facts.namespace), facts.names.local - set(own)
    if not own or not isinstance(within, LiveNamespace):
        return not own
    if any(isinstance(n, gast.Call) and getattr(n.func, "id", "") in local for n in nodes):
        return False
    first = within.function
    met = [first.__code__]
    for code in met:  # it grows meanwhile
        inner = [one for one in code.co_consts if isinstance(one, CodeType)]
        held = [first.__globals__.get(one) for one in code.co_names]
        kinds = [one if isinstance(one, type) else type(one) for one in held]
        held += [f for kind in kinds if kind.__module__ == first.__module__ for f in vars(kind).values()]
        called = [getattr(inspect.unwrap(one) if callable(one) else one, "__code__", None) for one in held]
        if any(isinstance(one, CodeType) and (one is met[0] or set(own) & set(one.co_names)) for one in called):
            return False
        met += [one for one in [*inner, *called] if isinstance(one, CodeType) and one not in met]
    return True


def _block(block: Block, work: _Work, looped: bool = False) -> Block:
    """A block whose statements are spelled, those inside first."""
    made: Block = []
    for node in block:
        inside = looped or isinstance(node, _LOOPS)
        if isinstance(node, gast.Try):
            made += _imports(node, work)
        for part in (*_PARTS, "handlers", "cases"):
            inner = node.__dict__.get(part)
            for one in inner if part in ("handlers", "cases") and inner else []:
                one.body = _block(one.body, work, inside)
            if inner and part in _PARTS and isinstance(inner, list):
                takes = part == "body" and _takes_exceptions(node, work)
                work.around += [node] if takes else []
                setattr(node, part, _block(inner, work, inside) or [at(gast.Pass(), node)])
                del work.around[len(work.around) - takes :]
        if isinstance(node, gast.Match):
            made += _match(node, work)
        elif isinstance(node, gast.Try):
            made += _try(node, work, looped)
        elif isinstance(node, gast.With) and (kinds := _suppressed(node, work)) is not None:
            made += _suppress(node, kinds, work, looped)
        else:
            made.append(node)
    return made


# -- match ------------------------------------------------------------------------------------------------------------
@record
class _Case:
    """What one pattern asks of the subject, and what it binds."""

    tests: list[Node] = field(default_factory=list)
    bound: dict[str, Node] = field(default_factory=dict)
    never: bool = False  # whether the kind of the subject rules it out


def _match(node: Node, work: _Work) -> Block:
    """A `match` as a chain of `if`."""
    before: Block = []
    subject = node.subject
    if not isinstance(subject, gast.Name):
        held = work.name("subject")
        before, subject = [work.bind(held, subject, node)], at(name(held), subject)
    chain: Block = []
    cases = [one for case in node.cases for one in _alternatives(case, work)]
    for case in reversed(cases):
        found = _Case()
        _pattern(case.pattern, subject, _kind_of(subject, work), found, work)
        if found.never:
            continue
        if case.guard is not None:
            _check_guard(case, found, node.cases, work)
            found.tests.append(substitute(copy(case.guard), {k: copy(v) for k, v in found.bound.items()}))
        bound = [work.bind(one, copy(value), case.pattern) for one, value in found.bound.items()]
        bound = [one for one in bound if getattr(one.value, "id", "") != one.targets[0].id]
        body = [*bound, *(one for one in case.body if not isinstance(one, gast.Pass))]
        if not found.tests:
            chain = body
        elif body or chain:
            test = found.tests[0] if len(found.tests) == 1 else gast.BoolOp(gast.And(), found.tests)
            chain = [work.own(gast.If(at(test, case.pattern), body or [at(gast.Pass(), node)], chain), case.pattern)]
    return [*before, *chain]


def _alternatives(case: Node, work: _Work) -> list[Node]:
    """A case of which the alternatives bind names as one case for each."""
    pattern = case.pattern
    if not isinstance(pattern, gast.MatchOr) or not any(_binds(one) for one in pattern.patterns):
        return [case]
    made: list[Node] = [gast.match_case(one, copy(case.guard) if case.guard else None, []) for one in pattern.patterns]
    for one in made:
        one.body = twins(case.body, work.facts)
    return made


def _binds(pattern: Node) -> bool:
    return any(getattr(n, "name", None) or getattr(n, "rest", None) for n in walk(pattern))


def _check_guard(case: Node, found: _Case, cases: list[Node], work: _Work) -> None:
    """Refuse a guard that binds, and names that stay bound where it does not hold, if something else reads them."""
    if holds(case.guard, gast.NamedExpr):
        raise work.refuse(case.guard, "a guard that binds a name is not accepted", "bind it before the `match`")
    own = {n for one in cases if _binds(one.pattern) for part in (*one.body, one.guard) if part for n in walk(part)}
    for node in [n for s in work.function.body for n in find_nodes(s, gast.Name)]:
        if node.id in found.bound and isinstance(node.ctx, gast.Load) and node not in own:
            what = f"`{node.id}`, which a case with a guard binds, is read outside of it"
            raise work.refuse(node, what, "give it another name in the pattern")


def _kind_of(subject: Node, work: _Work) -> Kind:
    """What is known of the subject: of an argument that nothing binds anew."""
    held = subject.id if isinstance(subject, gast.Name) else ""
    if held in work.rebound or held not in parameters(work.function):
        return UNKNOWN
    kind: Kind = work.facts.kinds.of_names.get(held, UNKNOWN)
    return kind


_OF_BUILTINS: dict[type, tuple[str, ...]] = {
    tuple: ("tuple",), list: ("list",), dict: ("dict",), str: ("string",), float: ("scalar",), int: ("scalar",),
    bool: ("bool",),
}  # fmt: skip
_SEQUENCE, _MAPPING = "isinstance(subject, (list, tuple))", "isinstance(subject, dict)"


def _pattern(pattern: Node, subject: Node, kind: Kind, case: _Case, work: _Work) -> None:
    """Note what a pattern asks of an expression."""
    if isinstance(pattern, gast.MatchValue):
        case.tests.append(expression("subject == value", subject=copy(subject), value=copy(pattern.value)))
        case.never |= kind.tag in ("tuple", "list", "dict", "none")
    elif isinstance(pattern, gast.MatchSingleton):
        case.tests.append(expression("subject is value", subject=copy(subject), value=literal_node(pattern.value)))
        case.never |= pattern.value is None and kind.tag not in ("unknown", "none", "other")
    elif isinstance(pattern, gast.MatchAs):
        if pattern.pattern is not None:
            _pattern(pattern.pattern, subject, kind, case, work)
        if pattern.name is not None:
            case.bound[pattern.name] = copy(subject)
    elif isinstance(pattern, gast.MatchOr):
        _any_of(pattern, subject, kind, case, work)
    elif isinstance(pattern, gast.MatchSequence):
        _sequence(pattern, subject, kind, case, work)
    elif isinstance(pattern, gast.MatchMapping):
        _mapping(pattern, subject, kind, case, work)
    elif isinstance(pattern, gast.MatchClass):
        _class(pattern, subject, kind, case, work)
    else:
        raise work.refuse(pattern, "this pattern is not accepted", "write the test as an `if`")


def _any_of(pattern: Node, subject: Node, kind: Kind, case: _Case, work: _Work) -> None:
    found = []
    for one in pattern.patterns:
        inner = _Case()
        _pattern(one, subject, kind, inner, work)
        if inner.bound:
            what = "alternatives inside of a pattern that bind names are not accepted"
            raise work.refuse(pattern, what, "write a case for each")
        if not inner.never:
            found.append(inner.tests)
    if not found:
        case.never = True
    elif all(found):
        each = [tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests) for tests in found]
        case.tests.append(each[0] if len(each) == 1 else gast.BoolOp(gast.Or(), each))


def _items(kind: Kind) -> dict[object, Kind]:
    return dict(kind.items) if kind.tag in ("tuple", "list", "dict") else {}


def _sequence(pattern: Node, subject: Node, kind: Kind, case: _Case, work: _Work) -> None:
    parts = pattern.patterns
    stars = [k for k, one in enumerate(parts) if isinstance(one, gast.MatchStar)]
    known = kind.tag in ("tuple", "list")
    count, items = len(parts) - len(stars), _items(kind)
    if kind.tag not in ("tuple", "list", "unknown", "other") or (
        known and items and (len(items) < count or (len(items) > count and not stars))
    ):
        case.never = True
    if case.never:
        return
    if not known:
        case.tests.append(expression(_SEQUENCE, subject=copy(subject)))
    if not (known and items):
        sign = ">=" if stars else "=="
        case.tests.append(expression(f"len(subject) {sign} {count}", subject=copy(subject)))
    for k, one in enumerate(parts):
        if stars and k == stars[0]:
            after = len(parts) - k - 1
            if one.name is not None:
                end = f"len(subject) - {after}" if after else ""
                case.bound[one.name] = expression(f"list(subject[{k}:{end}])", subject=copy(subject))
            continue
        place = k if not stars or k < stars[0] else k - len(parts)
        inner = items.get(place % len(items), UNKNOWN) if items else UNKNOWN
        _pattern(one, expression(f"subject[{place}]", subject=copy(subject)), inner, case, work)


def _mapping(pattern: Node, subject: Node, kind: Kind, case: _Case, work: _Work) -> None:
    items = _items(kind)
    if kind.tag not in ("dict", "unknown", "other"):
        case.never = True
        return
    if kind.tag != "dict":
        case.tests.append(expression(_MAPPING, subject=copy(subject)))
    for key, one in zip(pattern.keys, pattern.patterns, strict=True):
        assert key is not None, "Python's grammar"
        known: object = None
        with suppress(ValueError, TypeError):
            known = literal_value(key)
        if items and known is not None and known not in items:
            case.never = True
            return
        if known is None or known not in items:
            case.tests.append(expression("key in subject", key=copy(key), subject=copy(subject)))
        value = expression("subject[key]", key=copy(key), subject=copy(subject))
        _pattern(one, value, items.get(known, UNKNOWN), case, work)
    if pattern.rest is not None:
        case.bound[pattern.rest] = _other_items(pattern.keys, items, subject, work)


def _other_items(keys: Sequence[Node | None], items: dict[object, Kind], subject: Node, work: _Work) -> Node:
    """The dict that `**rest` binds: what the subject has by other keys."""
    taken = [getattr(key, "value", None) for key in keys]
    if items and all(isinstance(key, str) for key in items):
        left = [key for key in items if key not in taken]
        read = [expression("subject[key]", subject=copy(subject), key=literal_node(key)) for key in left]
        return gast.Dict([literal_node(key) for key in left], read)
    one = work.name("key")
    unlike = gast.Compare(
        name(one), [gast.NotIn()], [gast.Tuple([copy(key) for key in keys if key is not None], gast.Load())]
    )
    each = gast.comprehension(name(one, gast.Store()), copy(subject), [unlike], 0)
    return gast.DictComp(name(one), expression("subject[key]", subject=copy(subject), key=name(one)), [each])


def _class(pattern: Node, subject: Node, kind: Kind, case: _Case, work: _Work) -> None:
    cls = object_of(pattern.cls, work.facts, work.local)
    if not isinstance(cls, type):
        what = f"`{gast.unparse(pattern.cls)}` is not known to be a class"
        raise work.refuse(pattern, what, "write the test as an `if isinstance(...)`")
    made = kind.items[0][0] if kind.tag == "object" and kind.items else None
    if isinstance(made, type):
        case.never |= not issubclass(made, cls)
    elif cls in _OF_BUILTINS and kind.tag in ("tuple", "list", "dict", "string", "array", "none"):
        case.never |= kind.tag not in _OF_BUILTINS[cls]
    if case.never:
        return
    if (
        not (isinstance(made, type) and issubclass(made, cls)) and (kind.tag,) != _OF_BUILTINS.get(cls, ("",))[:1]
    ) or cls in (float, int):
        case.tests.append(_instance(subject, pattern.cls))
    own = cls in _OF_BUILTINS or getattr(cls, "__flags__", 0) & (1 << 22)  # _Py_TPFLAGS_MATCH_SELF
    names = () if own else getattr(cls, "__match_args__", ())
    for place, one in enumerate(pattern.patterns):
        if own and place == 0:
            _pattern(one, subject, kind, case, work)
        elif place < len(names):
            _field(names[place], one, subject, cls, case, work)
        else:
            raise work.refuse(one, f"`{cls.__name__}` takes fewer positional patterns", "name the attributes")
    for key, one in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        _field(key, one, subject, cls, case, work)


def _instance(subject: Node, cls: Node) -> Node:
    return expression("isinstance(subject, cls)", subject=copy(subject), cls=copy(cls))


def _field(key: str, pattern: Node, subject: Node, cls: type, case: _Case, work: _Work) -> None:
    """What a pattern asks of an attribute that each object of the class has."""
    declared = {one for base in cls.__mro__ for one in getattr(base, "__annotations__", {})}
    if key not in declared and not hasattr(cls, key):
        what = f"objects of `{cls.__name__}` are not known to have the attribute `{key}`"
        raise work.refuse(pattern, what, "write the test as an `if`, with `hasattr`")
    _pattern(pattern, expression(f"subject.{key}", subject=copy(subject)), UNKNOWN, case, work)


# -- try --------------------------------------------------------------------------------------------------------------
def _imports(node: Node, work: _Work) -> Block:
    """The imports that a `try` begins with and that succeed, to stand in front; one that fails leaves its handler."""
    made: Block = []
    while node.body and bound_by(node.body[0], work.facts.namespace) is not None:
        made.append(node.body.pop(0))
    if node.body and fails(node.body[0], work.facts.namespace):
        takes = (one for one in node.handlers if one.name is None and _takes_missing(one, work))
        handler = next(takes, None)
        if handler is not None:
            node.body, node.handlers, node.orelse = handler.body, [], []
    if not node.body:
        node.body, node.handlers = [at(gast.Pass(), node)], []
    return made


def _takes_missing(handler: Node, work: _Work) -> bool:
    """Whether a handler takes what the import of a missing module raises."""
    classes = _classes(gast.Try([], [handler], [], []), work)
    return any(one is not None and issubclass(ModuleNotFoundError, one) for one in classes)


def _suppressed(node: Node, work: _Work) -> list[Node] | None:
    """The exceptions of `with contextlib.suppress(...)`; None for any other context."""
    item = node.items[0] if len(node.items) == 1 else None
    call = item.context_expr if item is not None and item.optional_vars is None else None
    if not isinstance(call, gast.Call) or call.keywords:
        return None
    found = binding_of(call.func, work.facts, work.local)
    return list(call.args) if found is not None and found.object is suppress else None


def _suppress(node: Node, kinds: list[Node], work: _Work, looped: bool) -> Block:
    if not kinds:
        return list(node.body)
    caught = kinds[0] if len(kinds) == 1 else at(gast.Tuple(kinds, gast.Load()), kinds[0])
    handler = gast.ExceptHandler(caught, None, [at(gast.Pass(), node)])
    made = gast.copy_location(gast.Try(node.body, [gast.copy_location(handler, node)], [], []), node)
    return _try(made, work, looped)


@record(frozen=True)
class _Trial:
    """A `try`, the name of the exception that its body raises, the classes it takes, and whether it is in a loop."""

    node: Node
    error: str
    kinds: Node
    looped: bool


def _takes_exceptions(node: Node, work: _Work) -> bool:
    """Whether a statement takes exceptions of its body, and goes on."""
    if isinstance(node, gast.With):
        return bool(_suppressed(node, work))
    return isinstance(node, gast.Try) and bool(node.handlers)


def _try(node: Node, work: _Work, looped: bool) -> Block:
    """A `try` as branches on the exception that its body raises, if it is run on trial."""
    last = list(node.finalbody)
    if last and work.around and not all(_raises_nothing(one) for one in node.body):
        what = "`finally` within what another `try` tries is not accepted: an exception may pass it"
        raise work.refuse(last[0], what, "try less in the outer one, or write the end in its handlers as well")
    if any(_leaves(one) for one in last):
        raise work.refuse(last[0], "a way out of `finally` is not accepted", "return or leave the loop behind it")
    made = _tried(node, work, looped) if node.handlers else [*node.body, *node.orelse]
    return with_end(made, last, work.facts) if last else made


def twins(block: Block, facts: Facts) -> Block:
    """A copy of statements, none of which is shown as the user wrote it."""
    made = [copy(one) for one in block]
    facts.origin.foreign.update({n: None for one in made for n in walk(one) if isinstance(n, gast.stmt)})
    return made


def _leaves(node: Node, looped: bool = False) -> bool:
    """Whether a statement leaves the function, or the loop around it."""
    if isinstance(node, gast.Return) or (isinstance(node, gast.Break | gast.Continue) and not looped):
        return True
    if isinstance(node, _FUNCTIONS):
        return False
    inside = looped or isinstance(node, _LOOPS)
    return any(_leaves(one, inside) for part in _PARTS for one in getattr(node, part, None) or [])


def with_end(block: Block, last: Block, facts: Facts) -> Block:
    """A block with `finally` at its end and before each way out of it, whose value is computed before."""

    def ended(inner: Block, looped: bool) -> Block:
        made: Block = []
        for node in inner:
            if isinstance(node, gast.Return) or (isinstance(node, gast.Break | gast.Continue) and not looped):
                if (
                    isinstance(node, gast.Return)
                    and node.value is not None
                    and not isinstance(node.value, gast.Constant)
                ):
                    held = facts.names.new_local("value")
                    bind = at(gast.Assign([name(held, gast.Store())], node.value, None), node)
                    made.append(bind)
                    node.value = at(name(held), node)
                    facts.origin.foreign.update({bind: None, node: None})
                return [*made, *twins(last, facts), node]
            if not isinstance(node, _FUNCTIONS):
                for part in _PARTS:
                    if getattr(node, part, None):
                        setattr(node, part, ended(getattr(node, part), looped or isinstance(node, _LOOPS)))
            made.append(node)
        return made

    made = ended(block, False)
    return made if made and isinstance(made[-1], gast.Return | gast.Break | gast.Continue) else [*made, *last]


def _tried(node: Node, work: _Work, looped: bool) -> Block:
    for handler in node.handlers:
        _check_handler(handler, node, work)
    while node.body and _raises_nothing(node.body[-1]):
        node.orelse = [node.body.pop(), *node.orelse]
    if not node.body:
        return list(node.orelse)
    error = work.name("error")
    trial = _Trial(node, error, _caught(node), looped)
    before, units = _units(node.body, trial, work)
    chain = _chain(node.handlers, error, work)
    if not units:
        return [*before, *node.orelse]
    tried, rest = units[0]
    if len(units) == 1 and not _has_branch(tried):
        body = _kept([*_without_prints(tried, work), *rest, *node.orelse], work) or [at(gast.Pass(), node)]
        branch = work.own(gast.If(expression(f"{error} is None"), body, chain), node)
        return [*before, _probed(tried, trial, work), branch]
    made = _pieces(units, _kept([*node.orelse], work), trial, work)
    return [*before, *made, work.own(gast.If(expression(f"{error} is not None"), chain, []), node)]


def _pieces(units: list[tuple[Block, Block]], last: Block, trial: _Trial, work: _Work) -> Block:
    """Each piece on trial; then, where that raises nothing, the piece itself and what follows it."""
    inner, node = last, trial.node
    none = f"{trial.error} is None"
    for tried, rest in reversed(units):
        told = _without_prints(tried, work)
        ahead, behind = _kept([*told, *rest], work), inner
        if _has_branch(tried):
            ahead = [*_kept(told[:-1], work), _branch_on_trial(tried[-1], trial, work)]
            behind = _kept([*rest, *inner], work)
            behind = [work.own(gast.If(expression(none), behind, []), node)] if behind else []
        body = [*ahead, *behind] or [at(gast.Pass(), node)]
        inner = [_probed(tried, trial, work), work.own(gast.If(expression(none), body, []), node)]
    return inner


def _has_branch(tried: Block) -> bool:
    return bool(tried) and isinstance(tried[-1], gast.If)


def _branch_on_trial(node: Node, trial: _Trial, work: _Work) -> Node:
    """A branch of what is tried: its test has been, and its blocks are in pieces of their own."""
    for part in ("body", "orelse"):
        block = getattr(node, part)
        last = next((k for k, one in enumerate(block) if _is_caught(one, trial, work)), len(block))
        before, units = _units(block[:last], trial, work)
        end = [_caught_here(one, trial, work) for one in block[last : last + 1]]
        made = [*_kept(before, work), *_pieces(units, end, trial, work)]
        setattr(node, part, made or ([at(gast.Pass(), node)] if part == "body" else []))
    return node


def _is_caught(node: Node, trial: _Trial, work: _Work) -> bool:
    """Whether a statement is a `raise` that the `try` around takes."""
    if not isinstance(node, gast.Raise) or node.exc is None or node.cause is not None:
        return False
    kinds, raised = _classes(trial.node, work), _class_of(node, work)
    return raised is not None and None not in kinds and issubclass(raised, tuple(filter(None, kinds)))


def _caught_here(node: Node, trial: _Trial, work: _Work) -> Node:
    """`error = E()` for `raise E`."""
    made = node.exc if isinstance(node.exc, gast.Call) else at(gast.Call(node.exc, [], []), node)
    return work.bind(trial.error, made, node)


def _class_of(node: Node, work: _Work) -> type[BaseException] | None:
    """The class that a `raise` names, if that is known."""
    made = node.exc.func if isinstance(node.exc, gast.Call) else node.exc
    known = None if made is None else object_of(made, work.facts, work.local)
    return known if isinstance(known, type) and issubclass(known, BaseException) else None


def _classes(tried: Node, work: _Work) -> list[type[BaseException] | None]:
    """The classes that a `try` takes; None for one that is not known."""
    kinds = _caught(tried)
    classes = []
    for kind in kinds.elts if isinstance(kinds, gast.Tuple) else [kinds]:
        known = object_of(kind, work.facts, work.local)
        classes.append(known if isinstance(known, type) else None)
    return classes


def _raises_nothing(node: Node) -> bool:
    """Whether a statement cannot raise: it may stand behind what is tried."""
    if isinstance(node, gast.Break | gast.Continue | gast.Pass):
        return True
    if isinstance(node, gast.Return) or _is_plain(node):
        return node.value is None or isinstance(node.value, gast.Constant)
    return False


def _is_plain(node: Node) -> bool:
    return isinstance(node, gast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Name)


def _check_handler(handler: Node, node: Node, work: _Work) -> None:
    """Python unbinds the name of an exception where its handler ends: nothing behind it may read the name."""
    if isinstance(handler, gast.ExceptHandler) and handler.name is None:
        return
    spelled = handler.name.id if isinstance(handler.name, gast.Name) else handler.name
    own = {n for one in node.handlers for part in one.body for n in walk(part)}
    for read in [n for s in work.function.body for n in find_nodes(s, gast.Name) if n.id == spelled]:
        if read not in own and not any(read is h.__dict__["name"] for h in _handlers(work)):
            raise work.refuse(
                read, f"`{spelled}` is the name of an exception elsewhere", "give the two different names"
            )


def _handlers(work: _Work) -> Iterator[Node]:
    return (n for s in work.function.body for n in find_nodes(s, gast.ExceptHandler))


def _caught(node: Node) -> Node:
    """What `exception_of` is to give."""
    kinds = [h.type for h in node.handlers]
    if any(kind is None for kind in kinds):
        return expression("BaseException")
    each = [part for kind in kinds for part in (kind.elts if isinstance(kind, gast.Tuple) else [kind])]
    return copy(each[0]) if len(each) == 1 else gast.Tuple([copy(part) for part in each], gast.Load())


def _chain(handlers: list[Node], error: str, work: _Work) -> Block:
    """The handlers as branches; the last one takes what the others leave, since no other exception is given."""
    chain: Block = []
    for handler in reversed(handlers):
        spelled = getattr(handler.name, "id", handler.name)
        body = _renamed(handler.body, str(spelled or ""), error, work)
        body = [one for one in body if not isinstance(one, gast.Pass)]
        if handler is handlers[-1]:
            chain = body
            continue
        test = expression(f"isinstance({error}, kinds)", kinds=copy(handler.type))
        chain = [work.own(gast.If(test, body or [at(gast.Pass(), handler)], chain), handler)]
    return chain


def _renamed(block: Block, old: str, error: str, work: _Work) -> Block:
    """A handler that calls the exception by another name; a bare `raise` raises it."""
    for node in [n for s in block for n in walk(s)]:
        if isinstance(node, gast.Name) and old and node.id == old:
            node.id = error
        elif isinstance(node, gast.Raise) and node.exc is None:
            node.exc = at(name(error), node)
            work.facts.origin.foreign[node] = None
    for node in [n for s in block for n in walk(s) if isinstance(n, gast.stmt)] if old else []:
        work.facts.origin.foreign[node] = None
    return block


def _kept(block: Block, work: _Work) -> Block:
    """What runs once the trial has succeeded: checks, which were made there, apart."""
    for one in [n for n in block if isinstance(n, gast.With)]:
        one.body = _kept(one.body, work)
    empty = [n for n in block if isinstance(n, gast.Pass) or (isinstance(n, gast.With) and not n.body)]
    return [one for one in block if one not in empty and not _is_check(one, work)]


def _without_prints(tried: Block, work: _Work) -> Block:
    """What runs again once the trial has succeeded: what it has printed stands there already."""
    return [one for one in tried if not (isinstance(one, gast.Expr) and _prints(one.value, work))]


def _prints(node: Node, work: _Work) -> bool:
    found = binding_of(node.func, work.facts, work.local) if isinstance(node, gast.Call) else None
    return found is not None and any(found.object is one for one in _PRINTS)


def _is_check(node: Node, work: _Work) -> bool:
    """Whether a statement is a call for its exceptions alone, of a function that changes nothing."""
    if not isinstance(node, gast.Expr) or not isinstance(node.value, gast.Call):
        return isinstance(node, gast.Expr) and not isinstance(node.value, gast.Constant)
    return not _has_effects(node.value, work) and not _changes(node.value, work)


_PRINTS = (builtins.print,)


def _has_effects(call: Node, work: _Work) -> bool:
    if _prints(call, work):
        return True
    found = binding_of(call.func, work.facts, work.local)
    inner = _function_within(call, work) if found is None else None
    if inner is not None:
        return any(_may_change(part, work) for one in inner.body for part in walk(one))
    return moves(call, work.facts, work.local)


def _function_within(call: Node, work: _Work) -> Node | None:
    """The only function of that name that the function around defines, if nothing else binds the name."""
    held = getattr(call.func, "id", None)
    nodes = [n for one in work.function.body for n in walk(one)]
    made = [n for n in nodes if isinstance(n, gast.FunctionDef) and n.name == held]
    bound = any(isinstance(n, gast.Name) and n.id == held and not isinstance(n.ctx, gast.Load) for n in nodes)
    return made[0] if len(made) == 1 and not bound and not any(n is call for n in walk(made[0])) else None


def _may_change(part: Node, work: _Work) -> bool:
    """Whether a part of a function within does more than to compute: it writes, tells, or calls what may."""
    if isinstance(part, gast.Nonlocal | gast.Global | gast.FunctionDef | gast.Lambda | gast.Delete):
        return True
    if isinstance(part, gast.Assign | gast.AugAssign | gast.AnnAssign):
        return _writes(part) or isinstance(part, gast.AugAssign)
    return isinstance(part, gast.Call) and _has_effects(part, work)


def _probed(unit: Block, trial: _Trial, work: _Work) -> Node:
    """`error = exception_of(lambda: e, E)`"""
    node = trial.node
    entered = [copy(item.context_expr) for one in unit if isinstance(one, gast.With) for item in one.items]
    tried = unit[0].body if entered else unit
    value = placed(gast.Lambda(_no_parameters(), _probe(tried, trial, work)), node)
    work.facts.origin.lambdas[value] = None
    spelled = _helper(exception_of, work)
    return work.bind(trial.error, gast.Call(name(spelled), [value, copy(trial.kinds), *entered], []), node)


def _helper(function: Function, work: _Work) -> str:
    """How the text calls a helper of the runtime."""
    spelled = work.facts.library(function.__name__, function)
    work.facts.namespace = Overlay(work.facts.namespace, {spelled: Binding("object", function)})
    return spelled


def _no_parameters() -> Node:
    return gast.arguments([], [], None, [], [], None, [])


def _probe(unit: Block, trial: _Trial, work: _Work) -> Node:
    """An expression that raises what the statements raise; names that they bind are its own."""
    steps: list[tuple[Node | None, Node]] = []  # targets and values
    moved: dict[str, Node] = {}
    for node in unit:
        value = _tried_value(node, work)
        if value is None:
            continue
        value = _names_apart(copy(_tried_store(node, value, trial, work)), work)
        value = substitute(value, {k: copy(v) for k, v in moved.items()})
        bound = _bound_by(node)
        for item in [n for one in bound for n in find_nodes(one, gast.Name)]:
            moved[item.id] = name(work.facts.names.fresh(item.id))
            item.id = moved[item.id].id
        steps.append((bound[0] if bound else None, value))
    if len(steps) == 1 and not isinstance(steps[0][0], gast.Tuple | gast.List):
        return steps[0][1]
    last = steps[-1]
    whole = isinstance(last[0], gast.Tuple | gast.List)
    generators = [
        gast.comprehension(target or name(work.facts.names.fresh("_"), gast.Store()), _one(value), [], 0)
        for target, value in (steps if whole else steps[:-1])
    ]
    return gast.ListComp(literal_node(None) if whole else last[1], generators)


def _names_apart(value: Node, work: _Work) -> Node:
    """An expression in which variables of comprehensions and lambdas have names that the function has not."""
    for scope in find_nodes(value, gast.Lambda, *COMPREHENSIONS):
        within = [scope.args] if isinstance(scope, gast.Lambda) else [one.target for one in scope.generators]
        own = [n.id for part in within for n in find_nodes(part, gast.Name) if not isinstance(n.ctx, gast.Load)]
        around = scope.args.defaults if isinstance(scope, gast.Lambda) else [scope.generators[0].iter]
        outside = {n for part in around for n in walk(part)}
        new = {one: work.facts.names.fresh(one) for one in own}
        for item in find_nodes(scope, gast.Name):
            item.id = item.id if item in outside else new.get(item.id, item.id)
    return value


def _one(value: Node) -> Node:
    return gast.List([value], gast.Load())


def _bound_by(node: Node) -> list[Node]:
    """A copy of the target of an assignment, if it binds names."""
    if isinstance(node, gast.Assign) and not isinstance(node.targets[0], gast.Subscript | gast.Attribute):
        return [copy(node.targets[0])]
    if isinstance(node, gast.AugAssign | gast.AnnAssign) and isinstance(node.target, gast.Name):
        return [name(node.target.id, gast.Store())]
    return []


def _tried_value(node: Node, work: _Work) -> Node | None:
    """What a statement computes; None if that raises nothing."""
    if isinstance(node, gast.AugAssign):
        read = copy(node.target)
        for item in walk(read):
            if isinstance(getattr(item, "ctx", None), gast.Store):
                item.ctx = gast.Load()
        return gast.BinOp(read, copy(node.op), _on_trial(node.value, False, work))
    value: Node | None = node.test if isinstance(node, gast.If) else getattr(node, "value", None)
    return None if value is None else _on_trial(value, isinstance(node, gast.Expr), work)


def _on_trial(value: Node, alone: bool, work: _Work) -> Node:
    """An expression that raises what this one does, and changes copies: a trial leaves all as it is."""
    changed = [one for call in find_nodes(value, gast.Call) for one in _filled(call, work)]
    if alone and isinstance(value, gast.Call) and not changed and _changes(value, work):
        bound = binding_of(value.func, work.facts, work.local)
        if bound is None and isinstance(value.func, gast.Attribute):
            if value.func.attr == "append" and len(value.args) == 1 and not value.keywords:
                return gast.Tuple([value.func, value.args[0]], gast.Load())  # what is added cannot fail then
            changed = [value.func.value]
        elif bound is not None and not moves(value, work.facts, work.local):
            changed = value.args[:1]
    return _with_copies(value, dict.fromkeys(changed)) if changed else value


def _with_copies(node: Node, changed: dict[Node, None]) -> Node:
    """An expression with copies of some of its parts."""
    if node in changed:
        return expression("a.copy()", a=copy(node))
    return copy(node) if isinstance(node, gast.Name) else twin(node, lambda child: _with_copies(child, changed))


def _filled(call: Node, work: _Work) -> list[Node]:
    """The arrays into which an operation puts its results: by `out=`, or behind what a ufunc takes."""
    words = [word.value for word in call.keywords if word.arg == "out"]
    found = binding_of(call.func, work.facts, work.local)
    behind = call.args[found.object.nin :] if found is not None and isinstance(found.object, np.ufunc) else []
    given = [part for one in (*words, *behind) for part in (one.elts if isinstance(one, gast.Tuple) else [one])]
    return [one for one in given if not isinstance(one, gast.Constant)]


def _changes(call: Node, work: _Work) -> bool:
    """Whether a call that stands alone changes what it is called on, or one of its arguments."""
    own = binding_of(call.func, work.facts, work.local) is None and getattr(call.func, "attr", "") in _CHANGING
    return own or bool(_filled(call, work)) or changes(call, work.facts, work.local)


def _tried_store(node: Node, value: Node, trial: _Trial, work: _Work) -> Node:
    """A value, put into a copy of what an assignment writes into where that may raise what is caught.

    A key that is a string is that of a dict, which takes it.
    """
    part = node.targets[0] if isinstance(node, gast.Assign) else None
    if not isinstance(part, gast.Subscript) or isinstance(getattr(part.slice, "value", None), str):
        return value
    if not any(one is None or issubclass(one, _OF_STORES) or one in _ANY for one in _classes(trial.node, work)):
        return value
    given = [value, copy(part.value), as_value(copy(part.slice))]
    return gast.Call(name(_helper(put_into_copy, work)), given, [])


_OF_STORES = (LookupError, TypeError, ValueError)  # what `a[i] = e` raises
_ANY = (BaseException, Exception)


def _units(block: Block, trial: _Trial, work: _Work) -> tuple[Block, list[tuple[Block, Block]]]:
    """What is done before anything can raise; then pieces, each with what follows it and cannot raise.

    An exception finds a piece either done or not begun, as far as anything can tell. A branch is the last of its piece.
    """
    body = [one for one in block if not isinstance(one, gast.Pass)]
    risky = [_may_raise(one, trial.node, work) for one in body]
    if True not in risky:
        return body, []
    first, last = risky.index(True), len(risky) - 1 - risky[::-1].index(True)
    for one in body[: last + 1]:
        _check_tried(one, work)
    tried = body[first : last + 1]
    seen = _observed(trial, tried, work)
    for one in [n for n in tried if isinstance(n, gast.With) and len(n.body) > 1]:
        _check_context(one, seen, work)
    units: list[tuple[Block, Block]] = []
    apart = True
    for one, raises in zip(tried, risky[first:], strict=False):
        if (apart or isinstance(one, gast.With)) and (raises or not units):
            units.append(([], []))
        (units[-1][0] if raises or not apart else units[-1][1]).append(one)
        effects = isinstance(one, gast.Expr) and not _is_check(one, work)
        parted = effects or isinstance(one, gast.If | gast.With) or seen & set(_names_stored(one)) or _writes(one)
        apart = bool(parted) or (apart and not raises)
    units[-1][1].extend(body[last + 1 :])
    return body[:first], units


def _may_raise(node: Node, tried: Node, work: _Work) -> bool:
    """Whether a statement may raise what is caught: a class of one's own comes from functions of one's own alone."""
    if isinstance(node, gast.Break | gast.Continue):
        return False
    classes = _classes(tried, work)
    if isinstance(node, gast.Raise) and (raised := _class_of(node, work)) is not None and None not in classes:
        return issubclass(raised, tuple(filter(None, classes)))
    if any(one is None or one.__module__ == "builtins" for one in classes):
        return True
    if isinstance(node, gast.If | gast.For | gast.While | gast.With | gast.Raise):
        return True
    own = not any(is_trusted(str(one.__module__)) for one in classes if isinstance(one, type))
    calls = find_nodes(node, gast.Call)
    return any(not (own and _has_rule(call, work)) for call in calls)


def _has_rule(call: Node, work: _Work) -> bool:
    return rule_of(object_of(call.func, work.facts, work.local)) is not None


def _check_tried(node: Node, work: _Work) -> None:
    """Refuse what cannot be run on trial: other than assignments, returns and checks; what changes something."""
    simple = isinstance(node, gast.Assign | gast.AugAssign | gast.AnnAssign | gast.Return | gast.Expr | gast.If)
    if isinstance(node, gast.With) and is_quiet(node, work.facts) and not any(_has_branch([n]) for n in node.body):
        for one in node.body:
            _check_tried(one, work)
        return
    if not simple or (isinstance(node, gast.Assign) and len(node.targets) > 1):
        what = "a statement of this kind inside of `try` is not accepted"
        raise work.refuse(node, what, "put it into a function, and call that in the `try`")
    value = node.test if isinstance(node, gast.If) else getattr(node, "value", None)
    if isinstance(node, gast.Expr) and isinstance(value, gast.Constant):
        return
    for part in [] if value is None else walk(value):
        if isinstance(part, gast.NamedExpr | gast.Yield | gast.YieldFrom | gast.Await):
            raise work.refuse(part, "this expression inside of `try` is not accepted", "bind it before the `try`")
        if (
            isinstance(part, gast.Call)
            and not (isinstance(node, gast.Expr) and part is value)
            and _has_effects(part, work)
        ):
            what = f"`{gast.unparse(part.func)}` may change something, and is called inside of `try`"
            raise work.refuse(part, what, "call it before the `try`")


def _check_context(node: Node, seen: set[str], work: _Work) -> None:
    """Refuse a `with` of which an exception may leave something half done: it is tried as one piece."""
    for one in node.body:
        found = binding_of(one.value.func, work.facts, work.local) if isinstance(one, gast.Expr) else None
        reports = found is not None and is_report(found.object)
        effects = isinstance(one, gast.Expr) and not reports and not _is_check(one, work)
        if effects or _writes(one) or seen & set(_names_stored(one)):
            what = "a `with` inside of `try` that something may leave half done is not accepted"
            raise work.refuse(one, what, "put it into a function, and call that in the `try`")


def _names_stored(node: Node) -> list[str]:
    return [n.id for n in find_nodes(node, gast.Name) if isinstance(n.ctx, gast.Store)]


def _writes(node: Node) -> bool:
    """Whether a statement writes into a part of something, or adds to a name in place."""
    targets = node.targets if isinstance(node, gast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(one, gast.Subscript | gast.Attribute) for one in targets)


def _observed(trial: _Trial, body: Block, work: _Work) -> set[str]:
    """Names that the body binds and whose values something else may read where the body was left by an exception."""
    node = trial.node
    stored = {one for part in body for one in _names_stored(part)}
    outside = {n for part in (*body, *node.orelse) for n in walk(part)}
    reads = {
        n.id for s in work.function.body for n in walk(s)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load) and n not in outside
    }  # fmt: skip
    if trial.looped:
        begun: set[str] = set()
        for part in body:
            reads |= {n.id for n in find_nodes(part, gast.Name) if isinstance(n.ctx, gast.Load)} - begun
            begun |= set(_names_stored(part))
            if isinstance(part, gast.AugAssign) and isinstance(part.target, gast.Name) and part.target.id not in begun:
                reads.add(part.target.id)
    found = stored & reads
    return {one for one in found if not all(_settles(handler, one) for handler in node.handlers)}


def _settles(handler: Node, held: str) -> bool:
    """Whether a handler binds a name before it reads it, or leaves without reading it."""
    for node in handler.body:
        read = [n for n in find_nodes(node, gast.Name) if n.id == held and isinstance(n.ctx, gast.Load)]
        if read or (isinstance(node, gast.AugAssign) and getattr(node.target, "id", "") == held):
            return False
        if isinstance(node, gast.Assign) and held in _names_stored(node):
            return True
        if isinstance(node, gast.Return | gast.Raise):
            return True
    return False
