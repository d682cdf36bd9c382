"""Trees of Python as trees of gast, and the values of literals: what gast makes, node by node."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Callable
from typing import Any  # a gast tree has no types of its own

import gast
import pytest

from srcgrad.core.trees import literal_value, parse_tree, to_gast

RARE = """
@deco(1, *args, key=None, **words)
async def f(a: int, /, b=1, *rest: str, c=2.0, d, **others) -> None:
    async with a as b, c: await b
    async for x in y: yield x
    try: pass
    except ValueError as error: raise KeyError from error
    else: del a.b[1:2, ..., ::3]
    finally: nonlocal_ = lambda q, /, r=b"": (yield)
    match a:
        case [1, *rest] | {"k": v, **others} | K(x, y=None) | True as w if w: continue
    global g
    return f"{a!r:>{b}}" if not -a < b <= c is not d else {**e, 1: {2, *h}}
class C(B, metaclass=M):
    x: int = 1
    def method(self): return [i for i in j if k for l in m], {n: o for n in p}, (s := 1), 1j
"""


@pytest.mark.parametrize("text", [RARE, pathlib.Path(ast.__file__).read_text()], ids=["rare", "ast"])
def test_trees_are_those_of_gast(text: str) -> None:
    """Kinds, fields and positions, of each kind of node."""
    plain = ast.parse(text)
    ours, theirs = to_gast(plain), gast.ast_to_gast(plain)
    for one, other in zip(gast.walk(ours), gast.walk(theirs), strict=True):
        assert (type(one), sorted(vars(one))) == (type(other), sorted(vars(other)))
    assert gast.dump(ours, include_attributes=True) == gast.dump(theirs, include_attributes=True)


def _value(text: str, of: Callable[[Any], object]) -> object:
    try:
        return repr(of(parse_tree(text, "eval").body))
    except (ValueError, TypeError) as error:
        return type(error)


LITERALS = "1 -1 -True +2 -0.0 1+2j x x.y x[0] () (1,-2.5,'a') (1,x) [1] {1:2} {[1]:2} set() ..."


@pytest.mark.parametrize("text", LITERALS.split())
def test_literals_have_the_values_of_gast(text: str) -> None:
    """Also what is refused, and how."""
    assert _value(text, literal_value) == _value(text, gast.literal_eval)


def test_levels_are_counted() -> None:
    """A tree of three levels in two is a RecursionError."""
    with pytest.raises(RecursionError):
        to_gast(ast.parse("-x", mode="eval"), 2)
