"""Cases made from the rule table: for each rule, calls as text and arguments drawn from the rule's own facts.

An elementwise rule is called on shapes that broadcast in every way; any other rule on its `forms`. All is
drawn from a generator whose seed is the text of the call, so a case is the same wherever it runs.
"""

from __future__ import annotations

import itertools
import linecache
import math
import operator
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from types import MethodType
from typing import Any

import numpy as np
import scipy.fft
import scipy.integrate
import scipy.ndimage
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.special
import scipy.stats

import srcgrad.runtime
import srcgrad.templates
from srcgrad.core.identity import spelling
from srcgrad.core.rules import Interval, Rule, adjoint_template, is_users, rules

FLOAT = None  # stands where a shape does, for a Python float
LETTERS = "xyzuvw"
DEPRECATED = ("row_stack", "trapz")
AWAY = 0.05  # distance from a pinned kink: beyond all finite-difference steps that matter

Shape = tuple[int, ...] | None
Shapes = tuple[Shape, ...]

UNARY: tuple[Shapes, ...] = ((FLOAT,), ((),), ((3,),), ((2, 3),))
SCALARS: tuple[Shapes, ...] = ((FLOAT, FLOAT), (FLOAT, (3,)), ((3,), FLOAT), ((), (2, 3)))
BINARY: tuple[Shapes, ...] = (
    *SCALARS,
    *itertools.product([(3,), (1,), ()], repeat=2),
    *itertools.product([(2, 3), (3,), (2, 1)], repeat=2),
)
EMPTY: dict[int, tuple[Shapes, ...]] = {
    1: (((0,),), ((0, 3),)),
    2: (((0, 3), (1, 3)), ((1, 3), (0, 3)), ((0,), (1,)), ((), (0,))),
    3: (((0, 3), (1, 3), (3,)), ((1,), (0,), (1,)), ((), (1,), (0,))),
    4: (((0, 3), (1, 3), (3,), ()),),
    5: (((0, 3), (1, 3), (3,), (), ()),),
}
TERNARY: tuple[Shapes, ...] = (
    (FLOAT, FLOAT, FLOAT),
    ((3,), (3,), (3,)),
    *itertools.permutations([(2, 3), (3,), (2, 1)]),
    *itertools.permutations([(3,), (1,), ()]),
)
SHAPES = {1: UNARY, 2: BINARY, 3: TERNARY}
FEW: dict[int, tuple[Shapes, ...]] = {  # for families loaded on request: broadcasting is the engine's, one code for all
    1: (UNARY[0], UNARY[3]),
    2: (BINARY[0], ((), (3,)), ((3,), (2, 1)), ((2, 3), (3,))),
    3: (TERNARY[0], ((2, 3), (3,), (2, 1))),
    4: (((3,), (2, 3), (), (2, 1)),),
    5: (((3,), (2, 1), (2, 3), (), (2, 1)),),
}


@dataclass(frozen=True)
class Case:
    """One call of an operation: `call` over x, y, z, ... and what stands for each of them."""

    rule: Rule
    call: str
    shapes: Shapes
    domains: tuple[Interval | None, ...]  # None: booleans
    kinks: tuple[float, ...] = ()

    def __str__(self) -> str:
        return f"{self.call} {' '.join('float' if s is None else str(s) for s in self.shapes)}"

    @property
    def function(self) -> Callable[..., Any]:
        """The call as a function of x, y, z, ..., with its text where the front end finds it."""
        return function(self.rule, self.call, len(self.shapes))

    def arguments(self, dtype: type = np.float64, layout: str = "C") -> tuple[Any, ...]:
        """Arguments drawn from the rule's domain; equal for all layouts, rounded for other dtypes."""
        generator = np.random.default_rng(zlib.crc32(str(self).encode()))
        drawn = []
        for shape, domain in zip(self.shapes, self.domains, strict=True):
            numbers = _draw(generator, shape or (), domain, self.kinks)
            if domain is not None:
                numbers = numbers.astype(dtype)
            drawn.append(_laid_out(numbers, layout) if shape is not None else numbers.item())
        return tuple(drawn)


def _draw(
    generator: np.random.Generator, shape: tuple[int, ...], domain: Interval | None, kinks: tuple[float, ...]
) -> np.ndarray:
    if domain is None:
        return np.asarray(generator.random(shape) < 0.5)
    numbers = np.asarray(generator.uniform(*domain, shape))
    for kink in kinks:
        near = np.abs(numbers - kink) < AWAY
        inside = np.where(numbers < 0.5 * (domain[0] + domain[1]), 2.0 * AWAY, -2.0 * AWAY)
        numbers = np.where(near, kink + inside, numbers)
    return np.asarray(numbers)


def _laid_out(numbers: np.ndarray, layout: str) -> np.ndarray:
    """The same numbers in another layout of memory."""
    if numbers.ndim == 0:
        return numbers
    if layout == "Fortran":
        return np.asfortranarray(numbers)
    if layout == "negative":
        back = (slice(None, None, -1),) * numbers.ndim
        return numbers[back].copy()[back]
    if layout == "strided":
        return np.repeat(numbers, 2, axis=-1)[..., ::2]
    return numbers


LAYOUTS = ("Fortran", "negative", "strided")


def differentiable_rules() -> list[Rule]:
    """All rules that carry a derivative, SciPy's included, in the order of the table; those of other tests are not."""
    load()
    return [rule for rule in rules() if rule.kind not in ("constant", "refused") and not is_users(rule)]


def by_template(chosen: list[Rule]) -> tuple[list[Rule], list[Rule]]:
    """The rules that are the first with the text of their template, and those that share the text of another one."""
    first: dict[object, Rule] = {}
    for rule in chosen:
        text = id(getattr(rule.definition, "__code__", rule))
        first.setdefault((text, rule.exponential and rule.name == "scipy.stats.norm.pdf"), rule)
    return list(first.values()), [rule for rule in chosen if not any(rule is one for one in first.values())]


@cache
def load() -> None:
    """Load every family of templates."""
    srcgrad.templates.load_all()


def every() -> bool:
    """Whether to test all forms of all rules (`make rules`), or a sample."""
    return os.environ.get("SRCGRAD_EVERY", "") == "1"


def sampled(rule: Rule) -> bool:
    """Whether a rule is among those that each run tests.

    Compositions hold no derivative of their own: a wrong one gives wrong values, and one run in eight sees that. With
    SRCGRAD_FAMILIES only the rules of these template files are; where it names none, one in forty (`tests.quick`).
    """
    if (asked := os.environ.get("SRCGRAD_FAMILIES")) is not None:
        return family(rule) in asked.split(",") if asked else zlib.crc32(rule.name.encode()) % 40 == 0
    return rule.composition is None or every() or zlib.crc32(rule.name.encode()) % 8 == 0


def cases(rule: Rule) -> list[Case]:
    """The cases of a rule with something in them."""
    return [*_elementwise(rule, _shapes(rule)), *_forms(rule), *_aliases(rule)]


def family(rule: Rule) -> str:
    """The template file of a rule, by name; nothing, for a rule without a template."""
    return "" if rule.template is None else rule.template.__module__.removeprefix("srcgrad.templates.")


def _shapes(rule: Rule) -> dict[int, tuple[Shapes, ...]]:
    return FEW if family(rule) in srcgrad.templates.families()[len(srcgrad.templates.FAMILIES) :] else SHAPES


def empty_cases(rule: Rule) -> list[Case]:
    """The cases of an elementwise rule that hold no element."""
    return _elementwise(rule, EMPTY)


def representative_cases(rule: Rule) -> list[Case]:
    """All forms; of the elementwise cases, which all run the same lines, floats and arrays that broadcast."""
    broadcast = [case for case in _elementwise(rule, _shapes(rule)) if (2, 3) in case.shapes]
    whole = _elementwise(rule, _shapes(rule))[:1] if _shapes(rule) is SHAPES else []
    return [*whole, *broadcast[-1:], *_forms(rule)]


def pinned_cases(rule: Rule) -> list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]]:
    """The points of `at`: function, arguments, gradients."""
    return [(function(rule, _call(rule, len(args)), len(args)), args, grads) for args, grads in rule.at]


def _elementwise(rule: Rule, shapes: dict[int, tuple[Shapes, ...]]) -> list[Case]:
    if rule.kind != "elementwise" or rule.refuses:
        return []  # drawn arguments are all active; where one may not be, the forms say what stands there
    names = _required(rule)
    domains = tuple(_domain(rule, name) for name in names)
    kinks = tuple(args[0] for args, _ in rule.at if len(names) == 1 and math.isfinite(args[0]))
    call = _call(rule, len(names))
    found = [Case(rule, call, each, domains, kinks) for each in shapes[len(names)]]
    return [case for case in found if not knows_floats_only(rule) or set(case.shapes) == {FLOAT}]


def knows_floats_only(rule: Rule) -> bool:
    """Whether the operation is one of `math`, which takes no arrays."""
    return getattr(rule.op, "__module__", None) == "math"


def _forms(rule: Rule) -> list[Case]:
    found = []
    forms = rule.forms if rule.composition is None or every() else rule.forms[:3]
    for call, *shapes in forms:
        domains = tuple(_domain(rule, letter) for letter in LETTERS[: len(shapes)])
        found.append(Case(rule, call, tuple(shapes), domains))
    return found


def _aliases(rule: Rule) -> list[Case]:
    """Each other spelling, once: an elementwise one on floats, as `math` knows nothing else."""
    found = []
    for number, alias in enumerate(rule.aliases):
        if getattr(alias, "__name__", "") in DEPRECATED:
            continue  # NumPy warns of it
        name = spelling(alias) if _means(rule, spelling(alias), alias) else f"alias_{number}"
        if rule.kind == "elementwise":
            names = _required(rule)
            call = f"{name}({', '.join(LETTERS[: len(names)])})"
            found.append(Case(rule, call, (FLOAT,) * len(names), tuple(_domain(rule, n) for n in names)))
        elif rule.forms and f"{rule.name}(" in rule.forms[0][0]:
            first = _forms(rule)[0]
            found.append(replace(first, call=first.call.replace(f"{rule.name}(", f"{name}(")))
    return found


def _required(rule: Rule) -> tuple[str, ...]:
    """The parameters that an elementwise call gives: those without a default or with a domain."""
    template = adjoint_template(rule)
    assert template is not None, f"{rule.name} is elementwise and has no template"
    named = rule.domain if isinstance(rule.domain, dict) else {}
    return tuple(name for name in template.parameters if name not in template.defaults or name in named)


def _domain(rule: Rule, name: str) -> Interval | None:
    if name == "condition":
        return None
    return rule.domain.get(name, (-2.0, 2.0)) if isinstance(rule.domain, dict) else rule.domain


def _call(rule: Rule, count: int) -> str:
    name = rule.name if _means(rule, rule.name, rule.op) else "op"
    return f"{name}({', '.join(LETTERS[:count])})"


def _means(rule: Rule, name: str, op: object) -> bool:
    """Whether the name, read where the template stands, is the operation."""
    first, *rest = name.split(".")
    found = namespace(rule).get(first)
    for attribute in rest:
        found = getattr(found, attribute, None)
    return found is op or (isinstance(op, MethodType) and found == op)


def namespace(rule: Rule) -> dict[str, Any]:
    """What the names in a call mean: those of the template's own file, and the usual modules."""
    template = rule.template or rule.tangent or rule.composition
    own = {} if template is None else template.__globals__
    public = {name: value for name, value in own.items() if not name.startswith("_")}
    usual = {"np": np, "math": math, "operator": operator, "scipy": scipy, "srcgrad": srcgrad}
    aliases = {f"alias_{number}": alias for number, alias in enumerate(rule.aliases)}
    return {**public, **usual, **aliases, "op": rule.op}


_functions: dict[tuple[int, str], tuple[Rule, Callable[..., Any]]] = {}


def function(rule: Rule, call: str, count: int) -> Callable[..., Any]:
    """`def f(x, y, ...): return <call>`, made once, so that its derivatives are made once for all shapes."""
    key = (id(rule), call)
    if key not in _functions:
        _functions[key] = (rule, _define(rule, call, count))  # holds the rule, so that no other gets its id
    return _functions[key][1]


def _define(rule: Rule, call: str, count: int) -> Callable[..., Any]:
    text = f"def f({', '.join(LETTERS[:count])}):\n    return {call}\n"
    file = f"<case {id(rule)} {call}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    meaning = namespace(rule)
    exec(compile(text, file, "exec"), meaning)
    return meaning["f"]
