"""The simplifier's tables, row by row, by evaluation: on random arrays, and on floats at the edges."""

import ast
import itertools

import gast
import numpy as np
import pytest

import srcgrad
from srcgrad.core.facts import Facts, Spec
from srcgrad.core.trees import expression, find_nodes
from srcgrad.interface.show.explain import explain_facts
from srcgrad.optimise.algebra import TABLES, Row, applied, simplified

ROWS = [pytest.param(row, id=f"{name}: {row.text[0]}") for name, table in TABLES.items() for row in table]
TINY, HUGE = np.finfo(float).tiny, np.finfo(float).max
EDGES = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, TINY, -TINY / 3.0, HUGE, -HUGE, 0.1, 1.0 + 2.0**-52)


def letters(row: Row) -> list[str]:
    """The names that stand for expressions."""
    return sorted({n.id for n in ast.walk(ast.parse(row.text[0])) if isinstance(n, ast.Name)} - {"np"})


def shapes(row: Row) -> list[tuple[int, ...]]:
    """Shapes with which a pattern can be computed: of matrices, of vectors, or of anything."""
    if "@" in row.text[0]:
        return [(4, 3), (4, 2)]
    if "outer" in row.text[0]:
        return [(3,), (4,)]
    return [(2, 3)] * len(letters(row))


def both(row: Row, values: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """What the pattern gives, and what stands in its place."""
    with np.errstate(all="ignore"):
        one, two = (np.asarray(eval(text, {"np": np, **values})) for text in row.text)
    assert one.shape == two.shape and one.dtype == two.dtype
    return one, two


def same_bits(one: np.ndarray, two: np.ndarray) -> bool:
    """Whether two arrays hold the same floats, `0.0` and `-0.0` apart; one nan is like another."""
    return np.array_equal(one, two, equal_nan=True) and np.array_equal(
        np.signbit(one) & ~np.isnan(one), np.signbit(two) & ~np.isnan(two)
    )


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_row_on_random_arrays(row: Row, dtype: type) -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        values = {
            letter: (rng.standard_normal(shape) * 10.0 ** rng.integers(-2, 3)).astype(dtype)
            for letter, shape in zip(letters(row), shapes(row), strict=True)
        }
        one, two = both(row, values)
        if row.exact:
            assert same_bits(one, two)
        else:  # each of the terms, which may cancel one another, is rounded a few times
            sizes = {letter: np.abs(value) for letter, value in values.items()}
            terms = eval(row.text[0].replace("-", "+"), {"np": np, **sizes})
            assert (np.abs(one - two) <= 8.0 * np.finfo(dtype).eps * terms).all()


@pytest.mark.parametrize("row", [row for row in ROWS if row.values[0].exact])
def test_exact_row_at_the_edges(row: Row) -> None:
    names = letters(row)
    for chosen in itertools.product(EDGES, repeat=len(names)):
        values = {name: np.full(shape, value) for name, value, shape in zip(names, chosen, shapes(row), strict=True)}
        assert same_bits(*both(row, values)), chosen


def test_each_row_has_a_pattern_of_its_own() -> None:
    patterns = [row.values[0].text for row in ROWS]
    assert len(patterns) == len(set(patterns))
    for pattern, result in patterns:
        assert pattern != result


def test_where_a_condition_does_not_hold_nothing_changes() -> None:
    def stack(w, x):  # of three axes: a transpose of the product is not that of its factors
        return np.sum(np.sin(w.T @ x))

    shape = (2, 2, 2)
    srcgrad.check_grads(stack, (np.random.default_rng(0).random(shape), np.random.default_rng(1).random(shape)))

    def layer(w, x):
        return np.sum(np.sin(x @ w.T))

    like = (np.ones((2, 3)), np.ones((4, 3)))
    assert "w_bar = (y_bar * np.cos(x @ w.T)).T @ x" in srcgrad.source(layer, wrt="w", like=like)
    assert ".T @ x" not in srcgrad.source(layer, wrt="w")  # how many axes they have is not known


def put(text: str, table: str, facts: Facts, **axes: int) -> str | None:
    """What a table puts in the place of an expression of names with so many axes; None where no row matches."""
    tree = expression(text)
    facts.values.spec |= {n: Spec(ndim=axes[n.id]) for n in find_nodes(tree, gast.Name) if n.id in axes}
    made = applied(tree, TABLES[table], facts)
    return None if made is None else gast.unparse(made)


def test_a_repeated_name_is_one_expression() -> None:
    facts = explain_facts("def f(a, b, c, y, z):\n    return np.sum(np.exp(a) * b * c * y * z)")
    assert put("a / y + b / y * c", "quotients", facts) == "(a + b * c) / y"
    assert put("a / y + b / z * c", "quotients", facts) is None
    assert put("np.divide(a, y) - np.divide(b, y) * c", "quotients", facts) == "np.divide(a - b * c, y)"
    assert put("np.divide(a, y) - np.divide(b, z) * c", "quotients", facts) is None


def test_a_sign_stands_in_front_of_a_product() -> None:
    facts = explain_facts("def f(a, b, n: int):\n    return np.sum(np.exp(a) * b * n)")
    assert put("a + -b * a", "signs", facts) == "a - b * a"
    assert put("-b * a + a", "signs", facts) == "a - b * a"
    assert put("a + b", "signs", facts) is None


def test_transposes_of_products_are_those_of_matrices() -> None:
    facts = explain_facts("def f(a, b):\n    return np.sum(np.sin(a.T @ b))")
    assert put("(a.T @ b).T", "transposes", facts, a=2, b=2) == "b.T @ a"
    assert put("(a.T @ b.T).T", "transposes", facts, a=2, b=2) is None
    assert put("(a.T @ b).T", "transposes", facts, a=2, b=3) is None
    assert put("(a.T @ b).T", "transposes", facts) is None  # how many axes they have is not known


def test_a_factor_of_one_makes_floats_of_integers() -> None:
    facts = explain_facts("def f(x, n: int):\n    return np.sum(np.sin(x) * n)")
    assert put("1.0 * np.sin(x)", "units", facts) == "np.sin(x)"
    assert put("1.0 * n", "units", facts) is None
    assert put("1.0 * x", "units", facts) is None  # the caller holds that array
    assert gast.unparse(simplified(expression("1.0 * x * 2.0"), TABLES["units"], facts)) == "x * 2.0"
