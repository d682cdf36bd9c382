"""Functions of users, with rules or wrapped: how they are called, and of what a derivative is.

Which wrappers, as `@functools.wraps(f)` makes them, leave a function as it is, is decided from their text.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import math
import operator
from types import FunctionType, MethodType
from typing import Any  # decorators are arbitrary objects

import numpy as np

import srcgrad.templates as templates
from srcgrad.core.bindings import StaticFunction
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import load
from srcgrad.core.identity import cached_function, home, python_function, record, spelling
from srcgrad.core.marks import is_opaque
from srcgrad.core.rules import Rule, is_composition, rule_of
from srcgrad.core.source_text import FunctionNode, takes_stars, text_of

_TAKES_ANYTHING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_SAYS = ("print", "len", "repr", "str")
_REPORTS = ("debug", "info", "warning", "error", "log")  # methods of loggers; a function of such a name is the user's
_STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Nonlocal, ast.Global, ast.With, ast.Try, ast.If,
    ast.Import, ast.ImportFrom, ast.Pass,
)  # fmt: skip


def passed_on(function: Any) -> Any:
    """The function that a wrapper calls, if it gives it its arguments and hands on its result; else the wrapper.

    What the wrapper does beside that (timing, counting, printing) is no part of a derivative.
    """
    for _ in range(100):
        inner = vars(function).get("__wrapped__") if isinstance(function, FunctionType) else None
        if not isinstance(inner, FunctionType):
            return function
        held = [
            name
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            if _content(cell) is inner
        ]
        try:
            node = text_of(function)
        except DifferentiationError:
            return function
        if len(held) != 1 or not hands_on(node, held[0]):
            return function
        function = inner
    return function


def is_of_library(function: object) -> bool:
    """Whether a function of NumPy or SciPy has no text of its own, only that of a wrapper that takes anything.

    >>> import numpy as np
    >>> is_of_library(np.linalg.norm), is_of_library(passed_on)
    (False, False)
    """
    if str(getattr(function, "__module__", "")).partition(".")[0] not in ("numpy", "scipy"):
        return False
    return isinstance(function, FunctionType) and bool(function.__code__.co_flags & _TAKES_ANYTHING)


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def hands_on(node: FunctionNode, called: str) -> bool:
    """Whether a wrapper calls a function once, with its own arguments, and returns what that returns.

    >>> text = "def wrapper(*args, **words):\\n    r = f(*args, **words)\\n    print(r)\\n    return r"
    >>> swaps = [("print", "log.info"), ("print", "log"), ("return r", "return 2 * r")]
    >>> [hands_on(ast.parse(one).body[0], "f") for one in (text, *(text.replace(*swap) for swap in swaps))]
    [True, True, False, False]
    """
    given, spread = node.args, node.args.vararg
    if not isinstance(node, ast.FunctionDef) or spread is None:
        return False
    if given.posonlyargs or given.args or given.kwonlyargs:
        return False
    words = given.kwarg.arg if given.kwarg is not None else ""
    inside = [item for one in node.body for item in ast.walk(one)]
    calls = [item for item in inside if isinstance(item, ast.Call) and getattr(item.func, "id", "") == called]
    if len(calls) != 1 or not _is_whole(calls[0], spread.arg, words):
        return False
    if any(isinstance(item, ast.stmt) and not isinstance(item, _STATEMENTS) for item in inside):
        return False
    if any(isinstance(item, ast.Try) and item.handlers for item in inside):
        return False
    bound = _bound_to(calls[0], node.body)
    results = [item.value for item in inside if isinstance(item, ast.Return)]
    named = bool(bound) and all(isinstance(value, ast.Name) and value.id == bound for value in results)
    if len(results) != 1 or not (named or results[0] is calls[0]):
        return False
    if not _always(results[0], node.body):
        return False
    kept = {spread.arg, words, bound, called}
    stored = [item.id for item in inside if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)]
    fine = {id(item) for item in ast.walk(calls[0])} | {id(results[0])}
    fine |= {id(part) for item in inside if _reports(item) for part in ast.walk(item)}
    read = [item for item in inside if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)]
    touched = [item for item in read if item.id in kept and id(item) not in fine]
    return not touched and sorted(one for one in stored if one in kept) == ([bound] if bound else [])


def _is_whole(call: ast.Call, args: str, words: str) -> bool:
    """`f(*args, **words)`"""
    first = call.args[0] if len(call.args) == 1 else None
    positional = isinstance(first, ast.Starred) and getattr(first.value, "id", "") == args
    named = [(word.arg, getattr(word.value, "id", "")) for word in call.keywords]
    return positional and named == ([(None, words)] if words else [])


def _bound_to(call: ast.Call, body: list[ast.stmt]) -> str:
    """The name that the result of the call gets, in a statement that runs in any case."""
    for item in _in_any_case(body):
        if isinstance(item, ast.Assign) and item.value is call and len(item.targets) == 1:
            return getattr(item.targets[0], "id", "")
    return ""


def _always(value: ast.expr | None, body: list[ast.stmt]) -> bool:
    return any(isinstance(item, ast.Return) and item.value is value for item in _in_any_case(body))


def _in_any_case(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that no branch holds; those of a `with` and of a `try ... finally` among them."""
    found: list[ast.stmt] = []
    for item in body:
        found.append(item)
        if isinstance(item, ast.With | ast.Try):
            found += _in_any_case(item.body)
    return found


def _reports(item: ast.AST) -> bool:
    """Whether an expression only says something about what it reads."""
    function = item.func if isinstance(item, ast.Call) else None
    return getattr(function, "id", "") in _SAYS or getattr(function, "attr", "") in _REPORTS


Function = Any  # a function, or one that is known only as text
_KINDS = inspect.Parameter


@record(frozen=True)
class Call:
    """How a function is called: its positional parameters, those given by keyword only, literal defaults."""

    name: str
    positional: tuple[str, ...]
    words: tuple[str, ...]
    defaults: dict[str, str]
    variadic: str = ""

    @property
    def stem(self) -> str:
        """The last part of the function's name."""
        stem = self.name.rpartition(".")[2]
        return stem if stem.isidentifier() else "f"

    def parameter(self, name: str) -> str:
        """A parameter with its default, as a `def` has it."""
        return f"{name}={self.defaults[name]}" if name in self.defaults else name

    @property
    def parameters(self) -> str:
        """All parameters with their defaults, as a `def` has them."""
        made = [self.parameter(p) for p in self.positional]
        if self.variadic:
            made.append(f"*{self.variadic}")
        elif self.words:
            made.append("*")
        return ", ".join([*made, *(self.parameter(p) for p in self.words)])

    def check(self, rule: Function, takes: tuple[str, ...]) -> None:
        """Refuse a rule that cannot be called with these arguments, and with those that it names itself: E5013."""
        words = self.named(rule, takes)
        try:
            signature_of(rule).bind(*takes, **dict.fromkeys(words))
        except ValueError:
            return  # a compiled function that does not tell
        except TypeError as error:
            given = ", ".join([*takes, *(f"{word}={word}" for word in words)])
            raise DifferentiationError(
                "E5013",
                f"the rule of {self.name} cannot be called with ({given}): {error}",
                f"define it as `def {getattr(rule, '__name__', 'rule')}({', '.join([*takes, *words])})`",
            ) from None

    def named(self, rule: Function, takes: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The parameters that a rule gets by name: those given by keyword only, and those that it names itself."""
        try:
            own = list(signature_of(rule).parameters.values())[len(takes) :]
        except (TypeError, ValueError):
            own = []
        asked = {p.name for p in own if p.kind in (_KINDS.POSITIONAL_OR_KEYWORD, _KINDS.KEYWORD_ONLY)}
        return (*(name for name in self.positional if name in asked and name not in takes), *self.words)


def call_of(function: Function, *, name: str = "", skipped: int = 0) -> Call:
    """How a function is called, its first parameters left out; E5013 where that is not known.

    So it is where parameters have no names.
    """
    name = name or spelling(getattr(function, "__srcgrad_primal__", function))
    if isinstance(function, np.ufunc):
        return Call(name, tuple("xyzuvw"[: function.nin]), (), {})
    try:
        parameters = list(signature_of(function).parameters.values())[skipped:]
    except (TypeError, ValueError):
        raise DifferentiationError(
            "E5013", f"the parameters of {name} are not known", "call it from a function of your own, with a rule"
        ) from None
    positional = tuple(p.name for p in parameters if p.kind in (_KINDS.POSITIONAL_ONLY, _KINDS.POSITIONAL_OR_KEYWORD))
    variadic = next((p.name for p in parameters if p.kind is _KINDS.VAR_POSITIONAL), "")
    if any(p.kind is _KINDS.VAR_KEYWORD for p in parameters) or (variadic and positional):
        raise DifferentiationError(
            "E5013", f"{name} takes arguments without names", "name its parameters; `*args` alone is accepted"
        )
    words = tuple(p.name for p in parameters if p.kind is _KINDS.KEYWORD_ONLY)
    defaults = {p.name: text for p in parameters if (text := _literal(p.default)) is not None}
    return Call(name, positional, words, defaults, variadic)


def signature_of(function: Any) -> inspect.Signature:
    """The signature of a function, also of one that is known only as text."""
    return inspect.signature(function) if not isinstance(function, StaticFunction) else _of_text(function)


def _of_text(function: StaticFunction) -> inspect.Signature:
    given = function.node.args
    positional: list[tuple[ast.arg, object]] = [(p, _KINDS.POSITIONAL_ONLY) for p in given.posonlyargs]
    positional += [(p, _KINDS.POSITIONAL_OR_KEYWORD) for p in given.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults))
    pairs = zip(positional, [*defaults, *given.defaults], strict=True)
    made = [_parameter(p, kind, value) for (p, kind), value in pairs]
    if given.vararg is not None:
        made.append(inspect.Parameter(given.vararg.arg, _KINDS.VAR_POSITIONAL))
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    made += [_parameter(p, _KINDS.KEYWORD_ONLY, value) for p, value in named]
    if given.kwarg is not None:
        made.append(inspect.Parameter(given.kwarg.arg, _KINDS.VAR_KEYWORD))
    return inspect.Signature(made)


def _parameter(node: ast.arg, kind: Any, default: ast.expr | None) -> inspect.Parameter:
    value: object = _KINDS.empty
    if default is not None:
        try:
            value = ast.literal_eval(default)
        except ValueError:
            value = default  # it takes more than a literal
    return inspect.Parameter(node.arg, kind, default=value)


def _literal(value: object) -> str | None:
    """How a default is spelled; None where it takes more than a literal."""
    if value is _KINDS.empty:
        return None
    if isinstance(value, tuple):
        parts = [_literal(item) for item in value]
        return None if None in parts else f"({', '.join(map(str, parts))}{',' * (len(parts) == 1)})"
    plain = value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))
    return repr(value) if plain else None


def primal_of(function: Function) -> tuple[Any, tuple[Any, ...]]:
    """The function itself, and the arguments that are bound to it already."""
    function = getattr(function, "__srcgrad_primal__", function)
    rule = _rule_of_operation(function)
    if rule is None:
        function = passed_on(python_function(cached_function(function)))
        rule = rule_of(function)
    if rule is not None and rule.kind == "refused":
        raise DifferentiationError(
            "E5001", f"`{rule.name}` has no derivative: {rule.note}", "write a rule for a function of your own"
        )
    if rule is not None and rule.composition is not None:
        return rule.composition, ()
    if is_ruled(function):
        return with_rule(function), ()
    if rule is not None and (not inspect.isfunction(function) or _is_of(function, OTHERS)):
        return _as_function(function), ()
    if hasattr(type(function), "wanted"):
        return _function_of_derivative(function), ()
    if inspect.ismethod(function):
        return primal_of(function.__func__)[0], (function.__self__,)
    if isinstance(function, functools.partial):
        if function.keywords:
            raise DifferentiationError(
                "E5008", "functools.partial with keywords is not accepted here", "wrap the call in a function"
            )
        plain, bound = primal_of(function.func)
        return plain, (*bound, *function.args)
    return function, ()


def given_of(function: object) -> tuple[Any, tuple[Any, ...], dict[str, Any], inspect.Signature]:
    """The function itself, the arguments that it has already, in front and by name, and its whole signature."""
    plain, words = without_words(function)
    primal, bound = primal_of(plain)
    if hasattr(type(primal), "as_function"):  # a derivative, whose `__wrapped__` is made when it is looked at
        return primal, (*primal.bound, *bound), {**primal.words, **words}, primal.signature
    return primal, bound, words, inspect.signature(primal, follow_wrapped=not takes_stars(primal))


def as_is_now(signature: inspect.Signature, primal: object) -> inspect.Signature:
    """The signature with the defaults that a function has now: `f.__defaults__` may have been set anew.

    >>> def f(x, k=1): return x
    >>> before = inspect.signature(f)
    >>> f.__defaults__ = (2,)
    >>> as_is_now(before, f)
    <Signature (x, k=2)>
    """
    if not isinstance(primal, FunctionType):
        return signature
    values = [*(primal.__defaults__ or ()), *(primal.__kwdefaults__ or {}).values()]
    known = [one.default for one in signature.parameters.values() if one.default is not one.empty]
    same = len(values) == len(known) and all(map(operator.is_, values, known))
    return signature if same else inspect.signature(primal)


def takes_several(signature: inspect.Signature) -> bool:
    """Whether a function has `*args` or `**kwargs`: in a derivative these are a tuple and a dict."""
    return any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in signature.parameters.values())


def with_places(function: Function, wrt: object, count: int | None = None) -> Function | None:
    """A function with `*args` as one with a parameter for each of so many arguments; None if positions ask for none.

    Without a number it tells whether there is a position beside the parameters with names: the function itself. So it
    is for an operation of a library beyond the arguments that it must be given.

    >>> def product(first, *rest): return first * rest[0] * rest[1]
    >>> inspect.signature(with_places(product, 1, 3))
    <Signature (first, rest_0, rest_1)>
    >>> with_places(product, 0, 3), with_places(product, "rest")
    (None, None)
    >>> with_places(np.clip, 1) is np.clip, with_places(np.clip, "a")
    (True, None)
    """
    if (rule := _written_operation(function)) is not None:
        few = _required_parameters(rule)
        asked = wrt if isinstance(wrt, tuple | list) else (wrt,)
        beyond = any(one not in few if isinstance(one, str) else type(one) is int and one >= len(few) for one in asked)
        return (function if count is None else _as_function(function)) if beyond else None
    several = getattr(getattr(function, "__code__", None), "co_flags", 0) & inspect.CO_VARARGS
    if not several or is_ruled(function):
        return None
    inside = list(inspect.signature(function).parameters) if takes_stars(function) else []
    known = list(inspect.signature(function, follow_wrapped=not inside).parameters.values())
    place = next((k for k, one in enumerate(known) if one.kind is one.VAR_POSITIONAL), None)
    asked = [inside.index(one) if one in inside else one for one in (wrt if isinstance(wrt, tuple | list) else (wrt,))]
    asked = [one for one in asked if type(one) is int]
    if place is None or not any(one < 0 or one >= place for one in asked):
        return None
    if inside and count is not None and any(one >= count for one in asked):
        name = getattr(function, "__name__", "the function")
        message = f"{name} is wrapped, and its wrapper may tell an argument that is given by name"
        raise DifferentiationError("E5009", message, "give what is differentiated by position")
    return function if count is None else _one_by_one(function, known, place, count, inside)


def _one_by_one(
    function: Function, known: list[inspect.Parameter], place: int, count: int, inside: list[str]
) -> Function:
    """The function with parameters `xs_0`, `xs_1` in place of `*xs`, or those `inside` of a wrapper."""
    taken = {*function.__code__.co_varnames, *function.__code__.co_names, *function.__code__.co_freevars}
    stem = known[place].name
    while any(f"{stem}_{k}" in taken for k in range(count)):
        stem += "_"
    given = [one.replace(default=one.empty) if count > place else one for one in known[:place]]
    spelled = [f"{stem}_{k}" for k in range(max(count - place, 0))]
    if inside[place:count] and not taken.intersection(inside):
        spelled[: len(inside) - place] = inside[place:count]
    more = [inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in spelled]

    @functools.wraps(function)
    def placed(*args: object, **options: object) -> object:
        return function(*args, **options)

    signature = inspect.Signature([*given, *more, *known[place + 1 :]])
    del vars(placed)["__wrapped__"]
    vars(placed).update(
        __signature__=signature, __srcgrad_places__=(function, known[place].name, tuple(one.name for one in more))
    )
    return placed


def in_order(
    signature: inspect.Signature, primal: object, args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[object, ...]:
    """All arguments in the order of the parameters, with the defaults that the function has now."""
    if not kwargs and len(args) == len(signature.parameters) and not takes_several(signature):
        return args
    try:
        bound = as_is_now(signature, primal).bind(*args, **kwargs)
    except TypeError as error:
        what = f"{getattr(primal, '__name__', 'the function')}(): {error}"
        if is_composition(primal) or getattr(primal, "__srcgrad_operation__", None) is not None:
            raise DifferentiationError(
                "E5006", f"{what}, which the rule does not handle", f"its rule takes {signature}; wrap the call"
            ) from None
        raise TypeError(what) from None
    bound.apply_defaults()
    return tuple(bound.arguments.values())


def without_words(function: object) -> tuple[Any, dict[str, Any]]:
    """A function, and the arguments that a `functools.partial` of it has by name.

    >>> without_words(functools.partial(max, key=abs))
    (functools.partial(<built-in function max>), {'key': <built-in function abs>})
    """
    if isinstance(function, functools.partial) and function.keywords:
        return functools.partial(function.func, *function.args), dict(function.keywords)
    return function, {}


def _function_of_derivative(derivative: Any) -> object:
    """A Jacobian, or a product of a Hessian, as a function with source that calls it."""
    known = {p: k for p, k in derivative.__signature__.parameters.items() if p not in derivative.words}
    name, given = (
        derivative.__name__,
        ", ".join(f"{p}={p}" if k.kind is k.KEYWORD_ONLY else p for p, k in known.items()),
    )
    return load(f"def {name}({', '.join(known)}):\n    return of({given})\n", name, name, {"of": derivative}, by="call")


def with_options(op: object, count: int, words: tuple[str, ...] = ()) -> Function | None:
    """An operation of the table as a function of so many arguments; None where that is no more than it must be given.

    `words` are given by name beside these.

    >>> inspect.signature(with_options(np.clip, 3)), inspect.signature(with_options(np.meshgrid, 2))
    (<Signature (a, a_min, a_max)>, <Signature (xi_0, xi_1)>)
    >>> with_options(np.clip, 1), with_options(passed_on, 1)
    (None, None)
    """
    rule = _written_operation(op)
    more = rule is not None and count + len(words) > len(_required_parameters(rule))
    return _as_function(op, count, words) if more else None


def _written_operation(op: object) -> Rule | None:
    rule = _rule_of_operation(op)
    written = rule is not None and rule.own is None and rule.kind != "refused" and rule.composition is None
    return rule if written else None


def _names_of_places(op: Function, rule: Rule, count: int) -> list[str]:
    """What the first arguments of an operation are called: `args_0`, `args_1` where it takes any number of them."""
    template = rule.template or rule.tangent
    known = [] if template is None else list(inspect.signature(template).parameters.values())[1:]
    if len(known) < count or any(one.kind is _KINDS.VAR_POSITIONAL for one in known):
        with contextlib.suppress(TypeError, ValueError):  # what is written in C may say nothing
            known = list(inspect.signature(op).parameters.values())
    made: list[str] = []
    for one in known:
        if one.kind is _KINDS.VAR_POSITIONAL:
            made += [f"{one.name}_{k}" for k in range(count - len(made))]
        elif one.kind is not _KINDS.KEYWORD_ONLY:
            made.append(one.name)
    return made[:count]


@functools.lru_cache(maxsize=256)
def _as_function(op: object, count: int | None = None, words: tuple[str, ...] = ()) -> Function:
    """An operation of the table as a function with source, so that it can be differentiated like any other."""
    rule = rule_of(op)
    assert rule is not None, "the caller has looked"
    names = _required_parameters(rule) if count is None else _names_of_places(op, rule, count)
    parameters = ", ".join([*names, *(["*", *words] if words else [])])
    given = ", ".join([*names, *(f"{one}={one}" for one in words)])
    name = getattr(op, "__name__", "op")
    made = load(f"def {name}({parameters}):\n    return op({given})\n", name, rule.name, {"op": op})
    vars(made)["__srcgrad_operation__"] = op
    return made


def _required_parameters(rule: Rule) -> list[str]:
    if len(rule.parameters) == 1:
        return list(rule.parameters)
    template = rule.template or rule.tangent
    if template is None:  # a constant, of its first argument
        return ["x"]
    parameters = list(inspect.signature(template).parameters.values())[1:]
    return [p.name for p in parameters if p.default is p.empty and p.kind is not _KINDS.VAR_POSITIONAL]


def _rule_of_operation(function: object) -> Rule | None:
    """The rule of an operation of a library, also where it is written in Python; None for functions of users.

    >>> import scipy.linalg
    >>> _rule_of_operation(scipy.linalg.det).name, _rule_of_operation(scipy.stats.norm.logpdf).name
    ('scipy.linalg.det', 'scipy.stats.norm.logpdf')
    >>> _rule_of_operation(is_ruled) is None
    True
    """
    users = isinstance(function, FunctionType) and not _is_of(function, LIBRARIES)
    if users or isinstance(function, functools.partial) or hasattr(type(function), "as_function"):
        return None  # and the rules need not be there yet
    templates.load()
    templates.load_for(home(function) or "")
    return rule_of(function) if not isinstance(function, FunctionType) or _is_of(function, OTHERS) else None


def _is_of(function: object, libraries: tuple[str, ...]) -> bool:
    return str(getattr(function, "__module__", "")).partition(".")[0] in libraries


def is_ruled(function: object) -> bool:
    """Whether a function of a user has a rule, or may not be looked into: its source says nothing then."""
    known = rule_of(function)
    if known is not None and known.own is not None:
        return True
    if not isinstance(function, FunctionType | MethodType | functools.partial):
        return False
    return is_opaque(function) or (known is not None and not _is_of(function, LIBRARIES))


OTHERS = ("numpy", "scipy")
LIBRARIES = (*OTHERS, "srcgrad")


@functools.lru_cache(maxsize=256)
def with_rule(function: Function) -> Function:
    """A function that calls another one, so that the other's rule is used."""
    rule, owner = rule_of(function), _owner(function)
    halves = rule is not None and rule.own is not None and rule.own.applied is not None
    call = call_of(owner.forward, name=owner.__name__, skipped=1) if halves else call_of(function)
    given = [*call.positional, *([f"*{call.variadic}"] if call.variadic else []), *(f"{w}={w}" for w in call.words)]
    name = call.stem
    made = load(f"def {name}({call.parameters}):\n    return {name}({', '.join(given)})\n", name, call.name, {})
    made.__globals__[name] = function
    return made


def _owner(function: Function) -> Any:
    """The class or the object of a bound method."""
    return getattr(function, "__self__", None)
