"""The text of expressions: exact spelling of what needs care, and random trees that come back."""

from __future__ import annotations

import ast

import gast
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srcgrad.core.printer import expression, statement

# Each line is printed as it stands: no parenthesis may be added or lost.
STABLE = """\
x - (y - z)
x - y + z
x / (y * z)
x * y * z
x * (y * z)
-(a + b)
-a + b
-(x**2)
(-x) ** 2
x**-n
x ** -y[0]
2 ** f(x)
a.b**2.5
(x**y) ** z
x ** y**z
(a if c else b) + d
a if b else c if d else e
(a if b else c) if d else e
not (a and b)
not a and b
a and b or c
a and (b or c)
a < b <= c
(a < b) < c
a not in b
a is not None
not a in b
~a & b
a & (b | c)
(a, b)
(a,)
()
[a, *b]
{a, b}
{}
{"k": a, **b}
lambda: 0
lambda x, y=1, /, *a, z, k=2, **kw: x + y
(lambda x: x)(1)
f(*a, b, k=c, **d)
f(x for x in y)
f((x for x in y), z)
f(x := 1)
[x for x, y in z if x if y]
{k: v for k, v in a or b}
a[1:, None, ..., ::2]
a[i + 1 :]
a[: i + 1]
a[i + 1 : n]
a[i + 1 : n : 2]
a[:: k + 1]
a[-1:]
a[x.size :]
a[0,]
a[(*b, c)]
a[b[0]]
(1.0).real
(1).real
(1j).real
x.T.sum()[0]
"it's"
'say "hi"'
"a\\tb\\\\"
b"raw"
1e-05
1e300
True
...
f"{x!r:>{w}}{{}} {d['k']}"
f"{ {1: 2}[1]}"
f"{(lambda: 1)()}"
(yield)
"""


@pytest.mark.parametrize("text", STABLE.splitlines())
def test_careful_text_comes_back(text: str) -> None:
    tree = gast.parse(text, mode="eval").body
    assert expression(tree) == text


def test_await_binds_tighter_than_a_power() -> None:
    tree = gast.parse("async def f(): return (await x) ** 2").body[0].body[0]
    assert statement(tree) == ["return await x ** 2"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("inf"), 'float("inf")'),
        (float("-inf"), '-float("inf")'),
        (float("nan"), 'float("nan")'),
        (-2.0, "-2.0"),
        (1e16, "1e16"),
        (1 + 2j, "complex(1.0, 2.0)"),
        (-2j, "complex(-0.0, -2.0)"),
        ("both ' and \"", '"both \' and \\""'),
        ("\\'", '"\\\\\'"'),
    ],
)
def test_constants_that_no_parser_makes(value: object, text: str) -> None:
    assert expression(gast.Constant(value=value, kind=None)) == text


def test_negative_constant_is_parenthesised_where_a_sign_would_be() -> None:
    tree = gast.parse("x ** 2", mode="eval").body
    tree.left = gast.Constant(value=-3.0, kind=None)
    assert expression(tree) == "(-3.0) ** 2"


def test_five_thousand_terms_need_no_recursion() -> None:
    terms = " + ".join(["x"] * 5000)
    tree = gast.Name("x", gast.Load(), None, None)
    for _ in range(4999):
        tree = gast.BinOp(tree, gast.Add(), gast.Name("x", gast.Load(), None, None))
    assert expression(tree) == terms


def _operations(children: st.SearchStrategy[ast.expr]) -> st.SearchStrategy[ast.expr]:
    binary = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.Mod, ast.BitAnd, ast.LShift]
    comparison = [ast.Lt(), ast.Is(), ast.NotIn(), ast.IsNot(), ast.Eq()]
    lists = st.lists(children, min_size=1, max_size=3)
    no_arguments = ast.parse("lambda: 0", mode="eval").body.args  # type: ignore[attr-defined]
    return st.one_of(
        st.builds(lambda a, k, b: ast.BinOp(a, k(), b), children, st.sampled_from(binary), children),
        st.builds(
            lambda k, a: ast.UnaryOp(k(), a),
            st.sampled_from([ast.USub, ast.Not, ast.Invert]),
            children,
        ),
        st.builds(lambda k, a, b: ast.BoolOp(k(), [a, *b]), st.sampled_from([ast.And, ast.Or]), children, lists),
        st.builds(lambda a, k, b: ast.Compare(a, [k], [b]), children, st.sampled_from(comparison), children),
        st.builds(ast.IfExp, children, children, children),
        st.builds(lambda a: ast.Lambda(no_arguments, a), children),
        st.builds(lambda a, b: ast.Call(a, b, [ast.keyword("k", b[0])]), children, lists),
        st.builds(lambda a, b: ast.Subscript(a, b, ast.Load()), children, children),
        st.builds(lambda a, b, c: ast.Subscript(a, ast.Slice(b, c, None), ast.Load()), children, children, children),
        st.builds(lambda a: ast.Attribute(a, "real", ast.Load()), children),
        st.builds(lambda a: ast.Tuple(a, ast.Load()), lists),
        st.builds(lambda a: ast.List(a, ast.Load()), lists),
        st.builds(lambda a, b: ast.Dict([a, None], [b, a]), children, children),
        st.builds(lambda a: ast.NamedExpr(ast.Name("n", ast.Store()), a), children),
    )


ATOMS = st.one_of(
    st.sampled_from(["x", "y_bar", "hidden_state"]).map(lambda name: ast.Name(name, ast.Load())),
    st.one_of(
        st.integers(0, 10**20),
        st.floats(0, allow_infinity=False),
        st.text(),
        st.binary(max_size=5),
        st.sampled_from([None, True, ...]),
    ).map(ast.Constant),
)
EXPRESSIONS = st.recursive(ATOMS, _operations, max_leaves=25)


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS, st.sampled_from([20, 50, 88]))
def test_random_trees_come_back(tree: ast.expr, width: int) -> None:
    same = gast.ast_to_gast(ast.fix_missing_locations(ast.Expression(tree))).body
    assert ast.dump(ast.parse(expression(same), mode="eval").body) == ast.dump(tree)
    assignment = gast.parse("target[i] = 0").body[0]
    assignment.value = same
    again = ast.parse("\n".join(statement(assignment, 0, width))).body[0]
    assert isinstance(again, ast.Assign)
    assert ast.dump(again.value) == ast.dump(tree)
