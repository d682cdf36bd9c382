"""The rule table: what is known of each operation, keyed by the function object itself.

A rule is written as a template, a small Python function that is never called: its text is read. Its first
parameter is the result, the others are the operation's own parameters; `d[x]` is the derivative that belongs to x.
An `if` in a template is decided when the derivative is made, from literal arguments and known `np.ndim`; where it
cannot be decided, the `else` branch is taken, which must hold in general.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from types import FunctionType, MethodType
from typing import Any, TypeVar  # operations, templates and pinned values are arbitrary Python objects

from srcgrad.errors import DifferentiationError
from srcgrad.handed import Handed, Symbol
from srcgrad.identity import Key, key_of, spelling
from srcgrad.own import Own

T = TypeVar("T")
Interval = tuple[float, float]
Form = tuple[Any, ...]  # (call as text over x, y, z ..., shape of x, shape of y, ...)
Results = tuple[tuple[str, int | None], ...]  # name of each result, and its rank beyond that of the first argument


@dataclass(frozen=True)
class Rule:
    """What the table holds for one operation.

    `domain` is the interval from which tests draw each argument (one interval, or one per parameter); `at` pins
    gradients at kinks and special points: ((arguments), (gradients)); `forms` are calls that tests run. `wide` says
    that the template, read for unknown ranks, takes any `d[result]` that broadcasts with the result. `refuses` are
    parameters with respect to which there is no derivative, each with the reason: E5001 where one would flow.
    `results` names the results of an operation that gives several, which a template reads as `z[0]`, `d[z][0]`.
    `literals` are the values that the rule knows of parameters that must be written out; `instead` are operations
    whose rules hold for such a value: `("compute_uv", False, np.linalg.svdvals)`.
    `complex` ("conjugated", "gradient", "written", or "" for refused) says how the lines hold for complex numbers,
    `values` ("real", "complex", a parameter that decides, or "") when the result is one: docs/decisions/complex.md.
    """

    op: Any
    name: str
    kind: str  # elementwise, linear, multilinear, general, composed, constant, refused
    template: Callable[..., Any] | None = None
    tangent: Callable[..., Any] | None = None
    cl: str | None = None
    domain: Interval | dict[str, Interval] = (-2.0, 2.0)
    at: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()
    forms: tuple[Form, ...] = ()
    note: str = ""
    second: bool = True
    wide: bool = False
    refuses: dict[str, str] = field(default_factory=dict, hash=False)
    results: Results = ()
    literals: dict[str, tuple[Any, ...]] = field(default_factory=dict, hash=False)
    instead: tuple[tuple[str, Any, Any], ...] = ()
    overflows: bool = False  # whether the value may be inf or nan where the arguments are finite, `1 / x` or `exp(x)`
    length: bool = False  # whether the value is 0 at 0 only, and grows with what it is of in all directions
    zeros: str = ""  # of an op that moves elements of its first argument: kept, made (zeros put among them), added (up)
    selects: dict[str, str] = field(default_factory=dict, hash=False)  # parameter -> where its elements are taken
    asks: tuple[Any, ...] = ()  # ops among those of the rule that ask for nan or inf, or pass them by
    exponential: bool = False  # whether the op is e to the power of what the template is the rule of
    complex: str = ""
    values: str = ""
    aliases: tuple[Any, ...] = field(default=())
    composition: Callable[..., Any] | None = None  # the op in terms of others; its derivative is that of this text
    own: Own | None = None
    handed: Handed | None = None  # how the op calls a function that it is given

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the operation's parameters that the rule handles, in order."""
        if self.composition is not None:
            return tuple(inspect.signature(self.composition).parameters)
        function = self.template or self.tangent
        return () if function is None else tuple(inspect.signature(function).parameters)[1:]

    @property
    def definition(self) -> Callable[..., Any] | None:
        """The function in which the rule is written; None for constants and for what is refused."""
        return self.template or self.tangent or self.composition


d = pull = push = again = places = Symbol()  # `pull`, `push`, `again`, `places`: see `srcgrad.derive.handed`

_table: dict[Key, Rule] = {}
compositions: set[Callable[..., Any]] = set()
_generation = 0


def generation() -> int:
    """A number that changes whenever the table does, so that caches can tell."""
    return _generation


def rule_of(op: object) -> Rule | None:
    """The rule of `op`, found by identity; None if there is none."""
    return _table.get(key_of(op))


def is_users(rule: Rule) -> bool:
    """Whether a rule is of a user, for a function of which nothing else is known."""
    template = rule.template or rule.tangent
    author = str(getattr(rule.op if template is None else template, "__module__", "numpy"))
    called = isinstance(rule.op, FunctionType | MethodType) or template is not None
    return rule.own is not None or (called and author.partition(".")[0] not in ("numpy", "scipy", "srcgrad"))


def changed() -> None:
    """Say that something of what the table tells has changed."""
    global _generation
    _generation += 1


def is_composition(function: object) -> bool:
    """Whether a function is what a rule of the table writes an operation out as."""
    return isinstance(function, Hashable) and function in compositions


def stand_in(function: object, op: object) -> None:
    """Let a function of the generated text have the rule of the operation in whose place it stands."""
    _table[key_of(function)] = _table[key_of(op)]


def rules() -> list[Rule]:
    """All rules, each once, in the order of registration."""
    return list({id(rule): rule for rule in _table.values()}.values())


def forget(op: object) -> None:
    """Take the rule of an operation out of the table, if it has one."""
    if _table.pop(key_of(op), None) is not None:
        changed()


def register(rule: Rule) -> None:
    """Put a rule into the table under its operation and its aliases; a second rule for one key is refused."""
    global _generation
    for op in (rule.op, *rule.aliases):
        known = rule_of(op)
        if known is not None and _same_author(known, rule):
            replace_rule(known, rule)  # a notebook cell that was run again
            return
        if known is not None:
            raise DifferentiationError(
                "E5013",
                f"{spelling(op)} has a rule already ({_place(known)})",
                "remove one of the two",
            )
    for op in (rule.op, *rule.aliases):
        _table[key_of(op)] = rule
    _generation += 1


def register_own(rule: Rule) -> None:
    """Put a rule that grows part by part into the table, in the place of what it was before."""
    from srcgrad.template import check

    check(rule)
    known = rule_of(rule.op)
    if known is None:
        register(rule)
    else:
        replace_rule(known, rule)


def _same_author(one: Rule, two: Rule) -> bool:
    """Whether the second rule is the first one written anew: a template of the same name in the same module."""
    first, second = one.definition, two.definition
    if key_of(one.op) != key_of(two.op):
        return False
    if first is None or second is None:
        return first is second
    return (first.__module__, first.__qualname__) == (second.__module__, second.__qualname__)


def _place(rule: Rule) -> str:
    code = getattr(rule.definition, "__code__", None)
    return "a constant" if code is None else f"line {code.co_firstlineno} of {rule.name}'s template"


Template = Callable[..., Any]
Decorator = Callable[[Template], Template]


class _Adjoint:
    """The decorators with which rules are written: `adjoint`, `adjoint.elementwise`, `.linear`, `.multilinear`."""

    def __call__(self, op: Any, **facts: Any) -> Decorator:
        """General rule: the template writes `d[x] = ...` for each differentiable x; give `@tangent` too."""
        return _registrar(op, "general", facts)

    def elementwise(self, op: Any, **facts: Any) -> Decorator:
        """One `d[x] =` line per input, written as if all were numbers; the engine undoes broadcasting."""
        return _registrar(op, "elementwise", facts)

    def linear(self, op: Any, **facts: Any) -> Decorator:
        """Linear in the arguments that have a `d[x] =` line (the transpose); forward applies the op itself."""
        return _registrar(op, "linear", facts)

    def multilinear(self, op: Any, **facts: Any) -> Decorator:
        """Linear in each argument that has a `d[x] =` line; forward replaces one argument at a time."""
        return _registrar(op, "multilinear", facts)

    def exponential(self, op: Any, of: Any) -> None:
        """The op is e to the power of another one, whose elementwise lines are its own, times the result."""
        whole = rule_of(of)
        assert whole is not None, "the other one has a rule"
        forms = tuple((call.replace(spelling(of), spelling(op)), *shapes) for call, *shapes in whole.forms)
        register(replace(whole, op=op, name=spelling(op), exponential=True, forms=forms, at=(), aliases=()))

    def composed(self, op: Any, **facts: Any) -> Decorator:
        """The op written out with others: a plain function, through whose text derivatives of all orders are made."""

        def decorate(composition: Template) -> Template:
            if op is None:  # the installed NumPy lacks it
                return composition
            name = facts.pop("name", None) or spelling(op)
            assert not {"literals", "refuses"} & set(facts), "a composition looks at its arguments: require_handled"
            register(Rule(op, name, "composed", composition=composition, **facts))
            compositions.add(composition)
            return composition

        return decorate


adjoint = _Adjoint()
"""A decorator: the template below it becomes the rule of a function. The page "Write a rule" has all its forms."""


def _registrar(op: Any, kind: str, facts: dict[str, Any]) -> Decorator:
    def decorate(template: Template) -> Template:
        from srcgrad.template import check  # late: a template is parsed with gast

        if op is None:  # the installed NumPy lacks it
            return template
        known = rule_of(op)
        if known is not None and known.kind == "general" and known.template is None:
            full = replace(known, template=template, **facts)  # the tangent came first
            check(full)
            replace_rule(known, full)
            return template
        rule = Rule(op, facts.pop("name", None) or spelling(op), kind, template, **facts)
        check(rule)
        register(rule)
        return template

    return decorate


def replace_rule(old: Rule, new: Rule) -> None:
    """Put another rule in the place of one."""
    global _generation
    for key, rule in list(_table.items()):
        if rule is old:
            _table[key] = new
    _generation += 1


def tangent(op: Any, **facts: Any) -> Decorator:
    """Forward template of a general rule: it writes one line, `d[result] = ...`, linear in the `d[x]`."""

    def decorate(template: Template) -> Template:
        from srcgrad.template import check

        known = rule_of(op)
        if known is None:
            rule = Rule(op, spelling(op), "general", None, template, **facts)
            check(rule)
            register(rule)
        else:
            full = replace(known, tangent=template, **facts)
            check(full)
            replace_rule(known, full)
        return template

    return decorate


def constants(ops: Iterable[Any], asks: bool = False) -> None:
    """Declare operations whose derivative is zero wherever it exists; with `asks`, those that look for nan or inf."""
    for op in ops:
        register(Rule(op, spelling(op), "constant", asks=(op,) if asks else ()))


def refused(reason: str, ops: dict[str, Any], **facts: Any) -> None:
    """Declare operations, by name, that have no derivative here: E5001 where one would flow through them."""
    for name, op in ops.items():
        register(Rule(op, name, "refused", note=reason, **facts))


def nondifferentiable(op: T) -> T:
    """Declare that the result of `op` carries no derivative: its gradient is zero, by the author's word.

    Usable as a decorator; returns `op` itself.
    """
    register(Rule(op, spelling(op), "constant"))
    return op
