"""The rule table, keyed by the function object itself: templates, and what rules say beside derivatives.

A rule is written as a template, a small Python function that is never called: its text is read, once, and checked when
it is registered. Its first parameter is the result, the others are the operation's own parameters; `d[x]` is the
derivative that belongs to x. An `if` in a template is decided when the derivative is made, from literal arguments and
known `np.ndim`; where it cannot be decided, the `else` branch is taken, which must hold in general.

Beside that rules say which hold for complex numbers, whose result may be a part of an argument, which operations are
given functions (`odeint(rhs, y0, t, args)`) or give objects, and what is written out with others where a call gives
what its rule does not handle (`np.std(x, where=m)`); the text of all other calls stays.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import warnings
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property, lru_cache
from threading import get_ident
from types import FunctionType, MethodType
from typing import (
    Any,  # operations are arbitrary Python objects
    TypeVar,
)

import gast
import numpy as np

from srcgrad.core.errors import DifferentiationError, Place
from srcgrad.core.identity import Function, Key, key_of, record, replace, spelling
from srcgrad.core.trees import Node, children, copy, definitions, find_nodes, is_docstring, name, to_gast, walk
from srcgrad.core.visitor import rewrite_parts
from srcgrad.runtime import fit_to, sum_to


class Symbol:
    """`d` and the like in templates: only their text matters; using one at run time is a mistake."""

    def __getitem__(self, name: object) -> Any:
        raise TypeError("d[...] has a meaning only inside a template")

    def __setitem__(self, name: object, value: object) -> None:
        raise TypeError("d[...] has a meaning only inside a template")


@record(frozen=True)
class FunctionArgument:
    """How an operation calls the function that it gets as `parameter`.

    The function takes `leading` arguments of the operation's own, None for any number of them, and after them those of
    the operation's `args`.
    `state` is the place of the one by which it is differentiated besides `args`, or None if there is none; it is
    `swapped` with the other one where the parameter of that name is True. Its rank is `ndim`, or None; what else comes
    first is a number. The parameter `again` gets its derivative in reverse, which is differentiated as well.
    Functions that are given for the parameters `beside` take the same arguments, and only the operation calls them.
    """

    parameter: str
    leading: int | None = 1
    state: int | None = 0
    swapped: str = ""
    args: str = "args"
    ndim: int | None = 1
    again: str = ""
    beside: tuple[str, ...] = ()


@record(frozen=True)
class Parts:
    """What takes the place of an operation whose result is an object: a function that returns its parts.

    `names` are the attributes of that object which hold these, `constants` those which are the same wherever the
    function returns at all. An object that is a tuple `unpacks`, by the operation's own rule.
    """

    helper: Any
    names: tuple[str, ...]
    constants: dict[str, object]
    unpacks: bool = False


_parts: dict[int, Parts] = {}


def in_parts(op: object, helper: object, names: tuple[str, ...], *, unpacks: bool = False, **constants: object) -> None:
    """Let a function that returns parts stand for an operation that returns an object with them."""
    _parts[id(op)] = Parts(helper, names, constants, unpacks)


def parts_of(op: object) -> Parts | None:
    """What takes the place of an operation; None for one whose result is no object."""
    return _parts.get(id(op))


@record(frozen=True)
class CalledObject:
    """What takes the place of an object that is made to be called: a function of what makes it, then of the call.

    `made` are the parameters of the class, of which the first `required` are given always; `helpers` are the functions
    for so many arguments of the call. `held` tells of an object that was made before how its parameters are read: the
    text of each, in which `self` is the object; None of one for which nothing stands. Several arguments of a call are
    one tuple if it takes them `together`. It `copies` what makes it if later writes are not seen; None: a list, no
    array. One that has computed with it already is `steady`: nothing stands for it where that may be written into.
    `derived` are methods that make another such object: a function of the first parameter and the method's arguments.
    """

    helpers: dict[int, Function]
    made: tuple[str, ...]
    required: int
    held: Callable[[object], dict[str, str] | None]
    together: bool = False
    copies: bool | None = False
    steady: bool = False
    derived: dict[str, Function] = field(default_factory=dict)


_called: dict[Key, CalledObject] = {}


def made_to_be_called(
    cls: object,
    *helpers: Callable[..., object],
    made: tuple[str, ...],
    required: int,
    held: Callable[[object], dict[str, str] | None],
    together: bool = False,
    copies: bool | None = False,
    steady: bool = False,
    derived: dict[str, Function] | None = None,
) -> None:
    """Let functions stand for the calls of an object of a class: the first for those with one argument."""
    _called[key_of(cls)] = CalledObject(
        dict(enumerate(helpers, 1)), made, required, held, together, copies, steady, derived or {}
    )


def called_object(cls: object) -> CalledObject | None:
    """What takes the place of objects of a class, or of those that a function makes."""
    return _called.get(key_of(cls))


@record(frozen=True)
class UserForms:
    """What a user gave for a function in another form than a template; templates that call it are made from it.

    `sensitivities` and `accumulators` are keyed by parameter, `shared` is what the former have in common; `applied`
    is a class with `forward` and `backward`.
    """

    vjp: Any = None
    jvp: object = None
    sensitivities: dict[str, object] = field(default_factory=dict)
    accumulators: dict[str, object] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)
    adding: object = None  # the template of the accumulators
    applied: Any = None
    context: str = ""  # names that its templates have for what a call keeps, and for the place of an output
    index: str = ""
    again: Callable[[], Any] | None = None  # the rule as a function of the primals, to be differentiated
    missing: tuple[str, ...] = ()  # parameters of which nothing is known
    remedy: dict[str, str] = field(default_factory=dict)  # what to write: by "reverse", "forward" or parameter


T = TypeVar("T")
Interval = tuple[float, float]
Form = tuple[Any, ...]  # (call as text over x, y, z ..., shape of x, shape of y, ...)
Results = tuple[tuple[str, int | None], ...]  # name of each result, and its rank beyond that of the first argument


@record(frozen=True)
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
    `shape` says what shape the result has: a parameter's name (as that one has), a word of `srcgrad.analysis.shapes`,
    or "filled" (the first argument says it), "given" (another one does), "display" (that of a list), "square", "row",
    "flat", "accumulate", "difference"; "" where nothing is known, or where it works element by element.
    `along` says what becomes of the axes that `axis=` names, where those of other axes are treated by themselves:
    "reduced" or "kept".
    `linear` are the arguments of a general rule in each of which it is linear while the others stay as they are, and
    `factors` those that hold several values in each of which it is; `values_read` tells of the other kinds.
    `real_lines` says of a real result that the adjoint lines of real arguments hold for complex ones too.
    `dtype` is that of all arguments together (""), of the parameter that it names, "given" by an argument, "integer",
    or "float" where no `dtype=` says another. `outline` is a parameter read for its shape and dtype alone.
    `numba` spells an elementwise operation for single numbers in a compiled loop, `math.sin(x)`; "same" where a call of
    the operation itself is known there.
    `gives` says what the value is whatever the arguments are: "array", "arrays" (several, in a list or tuple),
    "number", "elements" (one for each of those that the arguments broadcast to), "reduced" (one for all of the first
    argument, or along its axes), "tuple" (of whatever it is).
    `result` says what memory the value is in: "new", "view" (it may show elements of an argument) or "argument" (it may
    be the first argument, or show elements of that alone). `copying` are aliases that make a new array all the same,
    `showing` values of parameters with which a result that is new otherwise may be an argument: `{"n": (0,)}`.
    `writes` says that it writes into its first argument, the array of a method.
    """

    op: Any
    name: str
    kind: str  # elementwise, linear, multilinear, general, composed, constant, refused
    template: Callable[..., object] | None = None
    tangent: Function | None = None
    cl: str | None = None
    domain: Interval | dict[str, Interval] = (-2.0, 2.0)
    at: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()
    forms: tuple[Form, ...] = ()
    note: str = ""
    second: bool = True
    wide: bool = False
    refuses: dict[str, str] = field(default_factory=dict, hash=False)
    results: Results = ()
    literals: dict[str, tuple[object, ...]] = field(default_factory=dict, hash=False)
    instead: tuple[tuple[str, object, object], ...] = ()
    along: str = ""
    overflows: bool = False  # whether the value may be inf or nan where the arguments are finite, `1 / x` or `exp(x)`
    length: bool = False  # whether the value is 0 at 0 only, and grows with what it is of in all directions
    zeros: str = ""  # of an op that moves elements of its first argument: kept, made (zeros put among them), added (up)
    selects: dict[str, str] = field(default_factory=dict, hash=False)  # parameter -> where its elements are taken
    asks: tuple[object, ...] = ()  # ops among those of the rule that ask for nan or inf, or pass them by
    exponential: bool = False  # whether the op is e to the power of what the template is the rule of
    complex: str = ""
    values: str = ""
    shape: str = ""
    linear: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    real_lines: bool = False
    rearranges: bool = False  # whether the value has the elements of the first argument, each once, and no others
    dtype: str = ""
    outline: str = ""
    gives: str = ""
    result: str = "new"
    writes: bool = False
    copying: tuple[object, ...] = ()
    showing: dict[str, tuple[object, ...]] = field(default_factory=dict, hash=False)
    numba: str = ""
    aliases: tuple[object, ...] = field(default=())
    composition: Callable[..., object] | None = None  # the op in terms of others; its derivative is that of this text
    own: UserForms | None = None
    handed: FunctionArgument | None = None  # how the op calls a function that it is given

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the operation's parameters that the rule handles, in order."""
        if self.composition is not None:
            return tuple(inspect.signature(self.composition).parameters)
        function = self.template or self.tangent
        return () if function is None else tuple(inspect.signature(function).parameters)[1:]

    def argument(self, call: Node, parameter: str) -> Node | None:
        """The argument of a call by position that a parameter gets; `a` is the first one of a constant."""
        names = self.parameters or ("a",)
        place = names.index(parameter) if parameter in names else len(call.args)
        return call.args[place] if place < len(call.args) else None

    @cached_property
    def is_like_first(self) -> bool:
        """Whether the result has the shape of the first argument."""
        return self.shape in (self.parameters or ("a",))[:1]

    @property
    def mirrors_first(self) -> bool:
        """Whether the result is made after the outline of the first argument: `np.zeros_like(a)`."""
        return self.is_like_first and self.shape == self.outline

    @property
    def reason(self) -> str:
        """Why there is no derivative: the note up to a way out."""
        return self.note.partition("; ")[0]

    @property
    def way_out(self) -> str:
        """What the note says to do, to be read before other ways; empty if it says nothing."""
        remedy = self.note.partition("; ")[2]
        return f"{remedy}; or " if remedy else ""

    @property
    def definition(self) -> Function | None:
        """The function in which the rule is written; None for constants and for what is refused."""
        return self.template or self.tangent or self.composition


d = pull = push = again = places = Symbol()  # `pull`, `push`, `again`, `places`: see `srcgrad.derive.arguments`

_table: dict[Key, Rule] = {}
compositions: set[Callable[..., object]] = set()
_generation = 0


_reader: list[int] = []  # the thread that reads srcgrad's own rules: these are no change


def generation() -> int:
    """A number that changes whenever a user changes the table, so that caches can tell; 0 before the first time."""
    return _generation


@contextmanager
def own_rules() -> Iterator[None]:
    """A block in which rules of srcgrad are put into the table."""
    _reader.append(get_ident())
    try:
        yield
    finally:
        _reader.pop()


def rule_of(op: object) -> Rule | None:
    """The rule of `op`, found by identity; None if there is none."""
    return _table.get(key_of(op))


def shape_of(op: object) -> str:
    """What the rule of `op` says of the shape of its result; an empty string where there is none."""
    rule = rule_of(op)
    return "" if rule is None else rule.shape


def is_users(rule: Rule) -> bool:
    """Whether a rule is of a user, for a function of which nothing else is known."""
    template = rule.template or rule.tangent
    author = str(getattr(rule.op if template is None else template, "__module__", "numpy"))
    called = isinstance(rule.op, FunctionType | MethodType) or template is not None
    return rule.own is not None or (called and author.partition(".")[0] not in ("numpy", "scipy", "srcgrad"))


def table_changed() -> None:
    """Say that something of what the table tells has changed."""
    global _generation
    if get_ident() not in _reader:
        _generation += 1


def is_composition(function: object) -> bool:
    """Whether a function is what a rule of the table writes an operation out as."""
    return isinstance(function, Hashable) and function in compositions


def goes_through(function: object) -> bool:
    """Whether an operation that is written out goes through the items of what it is given, as `sorted` does."""
    return is_composition(function) and "iterable" in inspect.signature(function).parameters  # type: ignore[arg-type]


def stand_in(function: object, op: object) -> None:
    """Let a function of the generated text have the rule of the operation in whose place it stands."""
    _table[key_of(function)] = _table[key_of(op)]


def rules() -> list[Rule]:
    """All rules, each once, in the order of registration."""
    return list({id(rule): rule for rule in _table.values()}.values())


def forget(op: object) -> None:
    """Take the rule of an operation out of the table, if it has one."""
    if _table.pop(key_of(op), None) is not None:
        table_changed()


def register(rule: Rule) -> None:
    """Put a rule into the table under its operation and its aliases; a second rule for one key is refused."""
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
    table_changed()


def register_own(rule: Rule) -> None:
    """Put a rule that grows part by part into the table, in the place of what it was before."""

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

    def __call__(self, op: object, **facts: object) -> Decorator:
        """General rule: the template writes `d[x] = ...` for each differentiable x; give `@tangent` too."""
        return _registrar(op, "general", facts)

    def elementwise(self, op: object, **facts: object) -> Decorator:
        """One `d[x] =` line per input, written as if all were numbers; the engine undoes broadcasting."""
        return _registrar(op, "elementwise", facts)

    def linear(self, op: object, **facts: object) -> Decorator:
        """Linear in the arguments that have a `d[x] =` line (the transpose); forward applies the op itself."""
        return _registrar(op, "linear", facts)

    def multilinear(self, op: object, **facts: object) -> Decorator:
        """Linear in each argument that has a `d[x] =` line; forward replaces one argument at a time."""
        return _registrar(op, "multilinear", facts)

    def exponential(self, op: object, of: object) -> None:
        """The op is e to the power of another one, whose elementwise lines are its own, times the result."""
        whole = rule_of(of)
        assert whole is not None, "the other one has a rule"
        forms = tuple((call.replace(spelling(of), spelling(op)), *shapes) for call, *shapes in whole.forms)
        register(replace(whole, op=op, name=spelling(op), exponential=True, forms=forms, at=(), aliases=()))

    def composed(self, op: object, **facts: Any) -> Decorator:
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


def _registrar(op: object, kind: str, facts: dict[str, Any]) -> Decorator:
    def decorate(template: Template) -> Template:

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
    for key, rule in list(_table.items()):
        if rule is old:
            _table[key] = new
    table_changed()


def tangent(op: object, **facts: Any) -> Decorator:
    """Forward template of a general rule: it writes one line, `d[result] = ...`, linear in the `d[x]`."""

    def decorate(template: Template) -> Template:

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


def constants(ops: Iterable[object], asks: bool = False, **facts: Any) -> None:
    """Declare operations whose derivative is zero wherever it exists; with `asks`, those that look for nan or inf."""
    for op in ops:
        register(Rule(op, spelling(op), "constant", asks=(op,) if asks else (), **facts))


def declare_refused(reason: str, ops: dict[str, object], **facts: Any) -> None:
    """Declare operations, by name, that have no derivative here: E5001 where one would flow through them."""
    for name, op in ops.items():
        register(Rule(op, name, "refused", note=reason, **facts))


def nondifferentiable(op: T) -> T:
    """Declare that the result of `op` carries no derivative: its gradient is zero, by the author's word.

    Usable as a decorator; returns `op` itself.
    """
    register(Rule(op, spelling(op), "constant"))
    return op


@record(frozen=True)
class TemplateAssignment:
    """An assignment of a template: whose derivative it gives, or the names that it binds; what it reads."""

    belongs: str | None
    binds: tuple[str, ...]
    reads: tuple[str, ...]


@record(frozen=True)
class ParsedTemplate:
    """A parsed template: the result's name, the parameters with their defaults, the body.

    `differentiable` are the parameters for which some line `d[x] = ...` exists; `namespace` holds the objects that
    the template's own names mean, and `spelled` has what each assignment of the body binds and reads.
    """

    result: str
    parameters: tuple[str, ...]
    positional: tuple[str, ...]
    variadic: str | None
    defaults: dict[str, Node]
    body: tuple[Node, ...]
    differentiable: tuple[str, ...]
    namespace: dict[str, Any]
    spelled: dict[Node, TemplateAssignment]


@lru_cache(maxsize=256)
def _file(filename: str, size: int) -> dict[int, ast.FunctionDef]:
    """The function definitions of a file by the line of their `def` and of each of their decorators."""
    found = {}
    for node in definitions(ast.parse("".join(linecache.getlines(filename)))):
        if isinstance(node, ast.FunctionDef):
            found[node.lineno] = node
            for decorator in node.decorator_list:
                found[decorator.lineno] = node
    return found


def _parse_at(lines: list[str], first: int) -> ast.FunctionDef | None:
    """The function at the margin whose `def` or first decorator stands in a line, read without the rest of its file.

    What ends too early, in a string or a bracket whose lines stand at the margin, does not parse.
    """
    head = next((k for k in range(first - 1, len(lines)) if lines[k].startswith("def ")), len(lines))
    end = next((k for k in range(head + 1, len(lines)) if lines[k][0] not in " )\n#"), len(lines))
    try:
        body = ast.parse("\n" * (first - 1) + "".join(lines[first - 1 : end])).body
    except SyntaxError:
        return None
    return body[0] if len(body) == 1 and isinstance(body[0], ast.FunctionDef) else None


def _definition(function: Callable[..., object]) -> Node:
    code = inspect.unwrap(function).__code__
    lines = linecache.getlines(code.co_filename)
    node = _parse_at(lines, code.co_firstlineno) or _file(code.co_filename, len(lines)).get(code.co_firstlineno)
    if node is None or node.name != function.__name__:
        linecache.checkcache(code.co_filename)
        _file.cache_clear()
        lines = linecache.getlines(code.co_filename)
        node = _file(code.co_filename, len(lines)).get(code.co_firstlineno)
    if node is None:
        raise DifferentiationError(
            "E5008",
            f"the text of the template {function.__name__} cannot be found",
            "define the rule in a file or in a notebook cell",
        )
    return to_gast(node)  # the rest of the file is left as it is until it is needed


@lru_cache(maxsize=1024)
def parse(function: Callable[..., object]) -> ParsedTemplate:
    """The template that `function` spells."""
    node = _definition(function)
    names = [argument.id for argument in node.args.posonlyargs + node.args.args]
    positional = tuple(names[1:])
    given = node.args.defaults
    defaults = dict(zip(names[len(names) - len(given) :], given, strict=True))
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        names.append(argument.id)
        if default is not None:
            defaults[argument.id] = default
    variadic = node.args.vararg.id if node.args.vararg else None
    parameters = names[1:] + ([variadic] if variadic else [])
    body = [s for s in node.body if not is_docstring(s)]
    outside = inspect.getclosurevars(function)
    return ParsedTemplate(
        names[0],
        tuple(parameters),
        positional,
        variadic,
        defaults,
        tuple(body),
        _differentiated_parameters(body, names[0]),
        {**outside.globals, **outside.nonlocals},
        _assignments_of_template(body),
    )


def _assignments_of_template(body: Iterable[Node]) -> dict[Node, TemplateAssignment]:
    found: dict[Node, TemplateAssignment] = {}
    for node in [item for statement in body for item in find_nodes(statement, gast.Assign)]:
        target, names = node.targets[0], [n.id for n in find_nodes(node.value, gast.Name)]
        belongs = derivative_of(target)
        binds = () if belongs is not None else tuple(n.id for n in find_nodes(target, gast.Name))
        found[node] = TemplateAssignment(belongs, binds, tuple(names))
    return found


def adjoint_template(rule: Rule) -> ParsedTemplate | None:
    """The rule's reverse template, parsed; None if it has none."""
    if rule.template is None:
        return None
    return exponential_template(rule.template) if rule.exponential else parse(rule.template)


@lru_cache(maxsize=1024)
def exponential_template(function: Callable[..., object]) -> ParsedTemplate:
    """The template of e to the power of what `function` is the template of: `d[z]` is `d[z] * z`."""
    found = parse(function)
    body = tuple(_times_result(copy(statement), found.result) for statement in found.body)
    return replace(found, body=body, spelled=_assignments_of_template(body))


def _times_result(node: Node, result: str) -> Node:
    rewrite_parts(node, lambda part: _times_result(part, result))
    reads = derivative_of(node) == result and isinstance(node.ctx, gast.Load)
    return gast.BinOp(node, gast.Mult(), name(result)) if reads else node


def values_read(rule: Rule, parameter: str) -> set[str]:
    """The arguments, or the result, whose values the derivative with respect to one argument may be made of.

    Of `x / y` it is y for x, and both, or the result, for y: a quotient is linear in x alone.
    """
    template = adjoint_template(rule)
    if rule.kind == "linear" or template is None:
        return set()
    if rule.kind == "elementwise":
        return _names_read(template, parameter)
    others = {*template.differentiable} - {parameter}
    linear = rule.kind == "multilinear" or parameter in (*rule.linear, *rule.factors)
    return others if linear else {*others, parameter, template.result}


def linear_arguments(rule: Rule) -> tuple[str, ...]:
    """The arguments in each of which an operation is linear, but for a sum, while the others stay as they are."""
    template = adjoint_template(rule)
    every = () if template is None else template.differentiable
    return tuple(p for p in every if not values_read(rule, p) & {p, template.result if template else ""})


def _names_read(template: ParsedTemplate, parameter: str) -> set[str]:
    """The names whose values the lines of a parameter's derivative read; tests are decided when it is made."""
    own = [n.value for n, one in template.spelled.items() if one.belongs == parameter]
    found: set[str] = set()
    waiting = [name for line in own for name in _read_beside_derivatives(line)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            bound = [n.value for n, one in template.spelled.items() if name in one.binds]
            waiting += [read for line in bound for read in _read_beside_derivatives(line)]
    return found


def _read_beside_derivatives(node: Node) -> Iterator[str]:
    if isinstance(node, gast.Name):
        yield node.id
    elif derivative_of(node) is None:
        for child in children(node):
            yield from _read_beside_derivatives(child)


def tangent_template(rule: Rule) -> ParsedTemplate | None:
    """The rule's forward template, parsed; None if it has none."""
    return None if rule.tangent is None else parse(rule.tangent)


def derivative_of(node: Node) -> str | None:
    """The name x if the tree is `d[x]`, None otherwise."""
    if type(node) is gast.Subscript and type(node.value) is gast.Name and node.value.id == "d":
        return node.slice.id if type(node.slice) is gast.Name else None
    return None


def _differentiated_parameters(body: list[Node], result: str) -> tuple[str, ...]:
    found: list[str] = []
    for statement in body:
        for node in walk(statement):
            if isinstance(node, gast.Assign):
                belongs = derivative_of(node.targets[0])
                if belongs is not None and belongs not in found:
                    found.append(belongs)
    return tuple(found)


def check(rule: Rule) -> None:
    """Refuse a malformed rule of a user when it is registered; ours are not even read before they are used."""
    if not getattr(rule.definition, "__module__", "").startswith("srcgrad.templates."):
        check_lines(rule)


def check_lines(rule: Rule) -> None:
    """Refuse a malformed rule: E5013 with the line of the template."""
    reverse, forward = rule.template, rule.tangent
    if reverse is not None:
        template = parse(reverse)
        for node in _nodes(template):
            _check_reverse(rule, template, node, reverse)
        for name in template.differentiable:
            if name not in template.parameters:
                _refuse_template(rule, reverse, None, f"`d[{name}]` belongs to no parameter")
    if forward is not None:
        template = parse(forward)
        if template.differentiable != (template.result,):
            _refuse_template(rule, forward, None, f"a tangent template has lines `d[{template.result}] = ...` only")


def _nodes(template: ParsedTemplate) -> list[Node]:
    return [node for statement in template.body for node in walk(statement)]


_ALLOWED = (gast.Assign, gast.If, gast.Pass)


def _check_reverse(rule: Rule, template: ParsedTemplate, node: Node, function: Callable[..., object]) -> None:
    if isinstance(node, gast.stmt) and not isinstance(node, _ALLOWED):
        _refuse_template(rule, function, node, "a template holds assignments and `if` only")
    if isinstance(node, gast.Assign):
        belongs = derivative_of(node.targets[0])
        if belongs is not None and degree(node.value, template.result) > 1:
            _refuse_template(rule, function, node, f"the right side is not linear in d[{template.result}]")
    belongs = derivative_of(node)
    if belongs is not None and isinstance(node.ctx, gast.Load) and belongs != template.result:
        _refuse_template(rule, function, node, f"an adjoint line may read d[{template.result}] only")


def degree(node: Node, result: str) -> int:
    """The degree of an expression as a polynomial in `d[result]`; 2 stands for anything not linear."""
    if derivative_of(node) == result:
        return 1
    if isinstance(node, gast.BinOp):
        left, right = degree(node.left, result), degree(node.right, result)
        if isinstance(node.op, gast.Mult | gast.MatMult):
            return min(2, left + right)
        if isinstance(node.op, gast.Add | gast.Sub):
            return max(left, right)
        if isinstance(node.op, gast.Div):
            return left if right == 0 else 2
        return 0 if left == right == 0 else 2
    degrees = [degree(child, result) for child in children(node)]
    if isinstance(node, gast.Call):
        return max([0, *degrees])  # the functions that templates call are linear in their adjoint argument
    if isinstance(node, gast.Compare | gast.BoolOp):
        return 2 if any(degrees) else 0
    return max([0, *degrees])


def _refuse_template(rule: Rule, function: Callable[..., object], node: Node | None, what: str) -> None:
    code = function.__code__
    line = node.lineno if node is not None and hasattr(node, "lineno") else code.co_firstlineno
    text = linecache.getline(code.co_filename, line).rstrip("\n")
    column = len(text) - len(text.lstrip())
    label = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    raise DifferentiationError(
        "E5013",
        f"the rule of {rule.name}: {what}",
        "write one line `d[x] = ...`, linear in the adjoint of the result, for each input x",
        Place(label, line, column, text, len(text.strip())),
    )


FITTED = (sum_to, fit_to)  # what fits is handed on as it is: the first argument, never the second


def may_show(function: object, given: Mapping[str, Node]) -> bool:
    """Whether the result of an operation may be one of its arguments, or show elements of one.

    `given` are the arguments of the call, by name.
    """
    rule = rule_of(function)
    if rule is None or any(function is one for one in rule.copying):
        return False
    return rule.result != "new" or any(_may_be(given.get(one), values) for one, values in rule.showing.items())


def makes_new(function: object, call: Node, first: Iterable[Node] = ()) -> bool:
    """Whether a call of an operation of a library gives a value that nothing else holds.

    `first` are arguments that come before those that the call writes: the array of a method.
    """
    rule = rule_of(function)
    if rule is None or rule.kind in ("composed", "refused") or is_users(rule):
        return False
    return not may_show(function, arguments_of(function, call, first))


def _may_be(given: Node | None, values: tuple[object, ...]) -> bool:
    """Whether an argument may have one of some values; one that is left out has none of them."""
    return given is not None and (not isinstance(given, gast.Constant) or given.value in values)


def arguments_of(
    function: object, call: Node | ast.Call, first: Iterable[Node | ast.expr] = ()
) -> dict[str, Any]:  # trees of the kind of which the call is
    """The arguments of a call by the parameters of its rule; `first` come before those that it writes."""
    rule = rule_of(function)
    positional = zip(() if rule is None else rule.parameters, (*first, *call.args), strict=False)
    return {**dict(positional), **{word.arg: word.value for word in call.keywords if word.arg is not None}}


def accept_complex(ops: Iterable[object], how: str, values: str = "") -> None:
    """Say of operations with a rule how their adjoint lines hold for complex numbers.

    `how` is "conjugated" (the engine conjugates what `d[result]` is multiplied with; the tangent is as written),
    "gradient" (of a real result; the tangent is the real part of the conjugated lines) or "written" (as they are).
    `values` says when the result is complex: "real" never, "complex" always, the name of a parameter: as that one is;
    "": where a differentiable argument is.
    """
    for op in ops:
        known = rule_of(op)
        assert known is not None, "what has no rule yet has nothing to accept"
        replace_rule(known, replace(known, complex=how, values=values))


@record(frozen=True)
class OtherForm:
    """A composition, and the calls for which it stands: those that give a parameter named in `given`.

    A parameter has to be one of the literals that are listed with it, if any are, or a function if it is among those
    that are `called`. Of several for one operation the first that a call asks for stands for it.
    """

    composition: Callable[..., object]
    given: dict[str, tuple[Any, ...]]
    positions: dict[int, str] = field(default_factory=dict)
    called: tuple[str, ...] = ()


_known: dict[object, list[OtherForm]] = {}


def declare_other_form(
    op: object,
    forms: tuple[Form, ...],
    positions: dict[int, str] | None = None,
    called: tuple[str, ...] = (),
    **given: tuple[object, ...],
) -> Callable[[Function], Function]:
    """Write the op out for calls that give one of these parameters: `otherwise(np.pad, FORMS, mode=("mean",))`.

    `positions` are the places at which such parameters may stand, too; `called` are those that have to be functions.
    """
    rule = rule_of(op)
    assert rule is not None, "a rule that holds for all other calls comes first"
    replace_rule(rule, replace(rule, forms=(*rule.forms, *forms)))

    def decorate(composition: Callable[..., object]) -> Function:
        _known.setdefault(key_of(op), []).append(OtherForm(composition, given, positions or {}, called))
        compositions.add(composition)
        return composition

    return decorate


_over_rows: dict[Key, Function] = {}


def declare_total(op: object) -> Callable[[Function], Function]:
    """Write the op out by sums, means and maxima where it runs over rows that come in blocks."""

    def decorate(composition: Function) -> Function:
        _over_rows[key_of(op)] = composition
        compositions.add(composition)
        return composition

    return decorate


def written_by_totals(op: object) -> Function | None:
    """The op by sums, means and maxima over rows; None where it is not known to be made of such."""
    return _over_rows.get(key_of(op))


def may_be_function(node: Node) -> bool:
    """Whether an expression may be a function, as far as its text tells."""
    return not isinstance(node, gast.Constant)


def written_out(
    rule: Rule,
    arguments: list[Node],
    keywords: list[gast.keyword],
    is_function: Callable[[Node], bool] = may_be_function,
) -> Function | None:
    """The composition that stands for a call; None where the rule itself does.

    An iterator is none: what one yields is written out where it is consumed, `iterator_of`.
    """
    found = _composition(rule, arguments, keywords, is_function)
    return None if found is None or inspect.isgeneratorfunction(found) else found


def iterator_of(rule: Rule, arguments: list[Node], keywords: list[gast.keyword]) -> Function | None:
    """The generator that stands for a call of one of Python's own iterators; None for any other operation."""
    found = _composition(rule, arguments, keywords)
    return found if inspect.isgeneratorfunction(found) else None


def _composition(
    rule: Rule,
    arguments: list[Node],
    keywords: list[gast.keyword],
    is_function: Callable[[Node], bool] = may_be_function,
) -> Function | None:
    for op in (rule.op, *rule.aliases):
        for held in _known.get(key_of(op), ()):
            asking = [pair for pair in _pairs(held, arguments, keywords) if _asks(held.given, *pair)]
            if any(word not in held.called or is_function(value) for word, value in asking):
                return held.composition
    return rule.composition


def compositions_beside(rule: Rule) -> list[Function]:
    """The compositions of a rule that hold for some calls only."""
    return [held.composition for held in _known.get(key_of(rule.op), ())]


def _pairs(held: OtherForm, arguments: list[Node], keywords: list[gast.keyword]) -> Iterator[tuple[str | None, Node]]:
    yield from ((held.positions.get(place), value) for place, value in enumerate(arguments))
    yield from ((word.arg, word.value) for word in keywords)


def _asks(given: dict[str, tuple[object, ...]], parameter: str | None, value: Node) -> bool:
    if parameter not in given:
        return False
    wanted: Container[object] = given[parameter]
    return not wanted or (isinstance(value, gast.Constant) and value.value in wanted)


def since(name: str) -> Any:
    """The function of NumPy with that name; None where the installed version has none: no rule is made for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(np, name, None)


def where_known(*names: str) -> tuple[object, ...]:
    """Those of the functions of NumPy that the installed version has."""
    return tuple(op for name in names if (op := since(name)) is not None)


HALF = "The derivative is that with respect to the entries that are read: nothing flows to the other triangle."


def reduction_forms(name: str) -> tuple[tuple[object, ...], ...]:
    """Calls of a reduction in all its spellings of axes, on ranks 0 to 3."""
    return (
        (f"{name}(x)", (3, 4)),
        (f"{name}(x)", ()),
        (f"{name}(x, axis=0)", (3, 4)),
        (f"{name}(x, axis=-1)", (2, 3, 4)),
        (f"{name}(x, 1)", (3, 1)),
        (f"{name}(x, axis=(0, -1))", (2, 3, 2)),
        (f"{name}(x, axis=1, keepdims=True)", (2, 3)),
        (f"{name}(x, keepdims=True)", (2, 3)),
        (f"{name}(x, axis=(2, 0), keepdims=True)", (2, 3, 2)),
        (f"{name}(x[::2], axis=-2)", (4, 3)),
        (f"{name}(x, axis=len(x) - 2, keepdims=len(x) > 2)", (3, 4)),
    )


def declare(owner: object, spelled: str, names: str, reason: str, **facts: bool) -> None:
    """Refuse what a module or class has by these names, or patterns of names, and has no rule of its own."""
    chosen = [name for name in dir(owner) if re.fullmatch("|".join(names.split()), name)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {f"{spelled}.{name}": getattr(owner, name) for name in chosen}
    for name, op in found.items():
        if callable(op) and rule_of(op) is None:
            declare_refused(reason, {name: op}, **facts)
