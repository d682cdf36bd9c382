"""Every rule in the table: against finite differences, against its transpose, under NumPy's broadcasting."""

from __future__ import annotations

import ast
import inspect
import operator
import re
import textwrap
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from srcgrad import vjp
from srcgrad.core.rules import Rule, is_users, rule_of, rules
from srcgrad.interface.api import derivatives
from srcgrad.interface.check.check import MODES, Record, check_report, not_mirrored, table
from srcgrad.interface.check.finite_differences import relative_error, tangent_like, vector
from srcgrad.runtime.roots import covariance_at
from tests.templates.rule_cases import (
    LAYOUTS,
    Case,
    by_template,
    cases,
    differentiable_rules,
    empty_cases,
    every,
    knows_floats_only,
    namespace,
    pinned_cases,
    representative_cases,
    sampled,
)

RAISES = (covariance_at,)  # where a derivative arrives: test_solvers.py has its tests
RULES, SHARING = by_template([rule for rule in differentiable_rules() if sampled(rule) and rule.op not in RAISES])
ALL = rules()


@pytest.fixture(scope="module", autouse=True)
def texts_are_kept() -> Iterator[None]:
    """Of all forms of a rule, for the next of its tests: there are more than sixteen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derivatives, "ROOM", 400)
        yield


def of_each(chosen: Sequence[Rule]) -> pytest.MarkDecorator:
    """One test for each rule; all tests of a rule share what they compute, in one process."""
    together = pytest.mark.xdist_group
    return pytest.mark.parametrize("rule", [pytest.param(r, id=r.name, marks=together(r.name)) for r in chosen])


def _report(case: Case, args: tuple[Any, ...], order: int = 1, modes: Sequence[str] = MODES) -> list[Record]:
    return check_report(case.function, args, order, modes, directions=1, since=order)


def _failures(reports: dict[str, list[Record]]) -> str:
    """The failing records under the case they belong to."""
    wrong = {case: [r for r in records if not r.passed] for case, records in reports.items()}
    return "\n".join(f"{case}\n{table(bad)}" for case, bad in wrong.items() if bad)


@of_each(RULES)
def test_first_order(rule: Rule) -> None:
    """Tangents and adjoints agree with differences and with each other; gradients mirror arguments, promises hold."""
    reports = {str(case): _report(case, case.arguments()) for case in cases(rule)}
    assert _failures(reports) == ""


@of_each([rule for rule in RULES if empty_cases(rule)])
def test_empty_arrays(rule: Rule) -> None:
    assert _failures({str(case): _report(case, case.arguments()) for case in empty_cases(rule)}) == ""


@of_each(RULES)
def test_float32_stays_float32(rule: Rule) -> None:
    """Gradients in float32 have that dtype, and differ from those in float64 by rounding only.

    The bound is that of a condition number of some hundreds, which the domains and forms stay below.
    """
    for case in representative_cases(rule):
        low = case.arguments(np.float32)
        high = tuple(a.astype(np.float64) if _is_single(a) else a for a in low)
        g_low, g_high = _gradients(case, low), _gradients(case, high)
        assert not_mirrored(_active(low), _active(g_low, low), str(case)) == []
        assert relative_error(vector(g_low), vector(g_high), 1e-3) < 1e-4, str(case)


@of_each([rule for rule in RULES if rule.kind == "elementwise"])
def test_mixed_precision_keeps_each_dtype(rule: Rule) -> None:
    for case in cases(rule):
        low, high = case.arguments(np.float32), case.arguments()
        mixed = tuple(pair[position % 2] for position, pair in enumerate(zip(low, high, strict=True)))
        assert not_mirrored(_active(mixed), _active(_gradients(case, mixed), mixed), str(case)) == []


@of_each(RULES if every() else RULES[::3])
def test_layout_of_memory_does_not_matter(rule: Rule) -> None:
    for case in representative_cases(rule):
        if any(len(shape or ()) > 0 for shape in case.shapes):
            expected = vector(_gradients(case, case.arguments()))
            for layout in LAYOUTS:
                actual = vector(_gradients(case, case.arguments(layout=layout)))
                assert relative_error(actual, expected, 1e-3) < 1e-12, (str(case), layout)


def _gradients(case: Case, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The adjoints for a seed whose entries are of one size and all different."""
    y, pullback = vjp(case.function, *args)
    seed = np.linspace(0.5, 1.5, vector(y).size)
    return pullback(tangent_like(y, seed))


def _is_single(value: Any) -> bool:
    return getattr(value, "dtype", None) == np.float32


def _active(values: tuple[Any, ...], args: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
    """The values that belong to floating arguments."""
    kinds = values if args is None else args
    return tuple(value for value, kind in zip(values, kinds, strict=True) if vector(kind).size)


@of_each(SHARING)
def test_rules_that_share_a_template(rule: Rule) -> None:
    """The text is tested above; here, that it holds for this operation as well."""
    case = cases(rule)[0]
    assert _failures({str(case): _report(case, case.arguments())}) == ""


@of_each([rule for rule in RULES if rule.at])
def test_pinned_points(rule: Rule) -> None:
    """At kinks and singular points the gradient is the one that the table states, for arrays and floats."""
    wraps = (lambda value: value, np.asarray, lambda value: np.array([value]))
    for f, args, expected in pinned_cases(rule):
        for wrap in wraps[:1] if knows_floats_only(rule) else wraps:
            given = tuple(wrap(a) if isinstance(a, float) else np.array(a, dtype=float) for a in args)
            with np.errstate(all="ignore"):
                y, pullback = vjp(f, *given)
                found = pullback(tangent_like(y, np.ones(vector(y).size)))
            for actual, wanted in zip(found, expected, strict=True):
                np.testing.assert_array_equal(np.ravel(actual), np.ravel(wanted), f"{rule.name} at {args}")


@of_each([rule for rule in RULES if rule.second and (every() or zlib.crc32(rule.name.encode()) % 2 == 0)])
def test_second_order(rule: Rule) -> None:
    """Half of the rules, by their first form: some of them in reverse mode alone, some in what the test draws.

    `make rules` checks all nestings of all forms of all rules.
    """
    reports = {}
    first, *others = representative_cases(rule)
    all_nestings = every() or zlib.crc32(rule.name.encode()) % 3 == 0
    for case in [first, *(others if every() else [])]:
        modes = MODES if all_nestings else ("reverse",)
        reports[str(case)] = _report(case, case.arguments(), 2, modes)
    assert _failures(reports) == ""


@of_each(RULES[:1])
def test_what_a_rule_needs_is_made_once(rule: Rule, request: pytest.FixtureRequest) -> None:
    """pytest-xdist keeps the tests of a group in one process, and appends its name; not with pytest 9.2."""
    assert request.node.nodeid.endswith(f"@{rule.name}") == hasattr(request.config, "workerinput")


def test_closure() -> None:
    """Every operation used in a template has a rule: that is what makes second order work."""
    missing = [
        f"{rule.name}, {template.__name__}: {name}"
        for rule in RULES
        for template in (rule.template, rule.tangent)
        if template is not None
        for name, op in _operations(template)
        if rule_of(op) is None
    ]
    assert missing == []


OPERATORS = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.Mod: np.remainder,
    ast.FloorDiv: np.floor_divide,
    ast.MatMult: np.matmul,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.BitAnd: np.bitwise_and,
    ast.BitOr: np.bitwise_or,
    ast.Invert: np.invert,
}
ATTRIBUTES = {"T": np.transpose, "mT": np.matrix_transpose}


def _operations(template: Any) -> list[tuple[str, Any]]:
    """The operations that the lines of a template call or spell as operators; tests are decided, not run."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(template))).body
    assert isinstance(definition, ast.FunctionDef)
    local = {a.arg for a in definition.args.args} | {"d"}
    local |= {n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    values = [node.value for node in ast.walk(definition) if isinstance(node, ast.Assign)]
    found = []
    for node in (inner for value in values for inner in ast.walk(value)):
        if isinstance(node, ast.BinOp | ast.UnaryOp) and not isinstance(getattr(node, "op", None), ast.Not):
            found.append((ast.unparse(node), OPERATORS.get(type(node.op))))
        elif isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Is | ast.IsNot):
            found += [(ast.unparse(node), OPERATORS.get(type(sign))) for sign in node.ops]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) != "d":
            found.append((ast.unparse(node), operator.getitem))
        elif isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
            found.append((ast.unparse(node), ATTRIBUTES[node.attr]))
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if re.split(r"\W", name)[0] not in local:  # methods of values are not looked up
                found.append((name, eval(name, _names(template))))
    return found


def _names(template: Any) -> dict[str, Any]:
    """What the names of a template mean: those of its file, and those of the function around it."""
    return {**inspect.unwrap(template).__globals__, **inspect.getclosurevars(template).nonlocals}


def test_table_is_complete() -> None:
    """A rule that is not elementwise states its calls, and a general one both its templates."""
    stated = [rule for rule in RULES if rule.kind in ("general", "linear", "multilinear")]
    assert [rule.name for rule in stated if not rule.forms] == [], "no forms: nothing tests this rule"
    assert [rule.name for rule in stated if rule.template is None] == []
    assert [rule.name for rule in stated if (rule.tangent is not None) != (rule.kind == "general")] == []


def test_names_are_unique() -> None:
    """Of the library's rules: a class that a test defines anew each time it runs has one rule each time."""
    names = [rule.name for rule in rules() if not is_users(rule)]
    assert sorted(set(names)) == sorted(names)


def test_constants_carry_no_template() -> None:
    assert [rule.name for rule in ALL if rule.kind == "constant" and (rule.template or rule.tangent)] == []


def test_forms_mean_the_operation() -> None:
    """A form that does not call the operation tests another rule."""
    for rule, call in [(one, call) for one in RULES for call, *_ in one.forms]:
        called = [n for n in ast.walk(ast.parse(call)) if isinstance(n, ast.Call)]
        meant = [_object(ast.unparse(n.func), rule) for n in called]
        assert any(rule in (rule_of(one), rule_of(type(one).__call__)) for one in meant) or not called, (
            rule.name,
            call,
        )


def _object(name: str, rule: Rule) -> Any:
    try:
        return eval(name, namespace(rule))
    except (NameError, AttributeError):
        return None
