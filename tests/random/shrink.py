"""A smaller program with the same fault: statements are dropped, blocks opened, expressions replaced by their parts."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator

BODIES = ("body", "orelse", "finalbody")


def shrunk(text: str, fails: Callable[[str], bool], seconds: float = 60.0) -> str:
    """The smallest text that was found for which `fails` holds.

    >>> text = "def f(a):\\n    b = 1\\n    if b:\\n        a = a * (b + 2)\\n    return a\\n"
    >>> print(shrunk(text, lambda one: "a *" in one).strip())
    def f(a):
        a = a * b
    """
    end = time.process_time() + seconds
    tree = ast.parse(text)
    progress = True
    while progress and time.process_time() < end:
        progress = False
        for smaller in [statements, opened, expressions]:
            place = 0
            while time.process_time() < end:
                tried = smaller(copy.deepcopy(tree), place)
                if tried is None:
                    break
                if fails(written(tried)):
                    tree, progress = tried, True
                else:
                    place += 1
    return written(tree)


def written(tree: ast.Module) -> str:
    """The text of a tree."""
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """All blocks, inner ones last."""
    for node in ast.walk(tree):
        for name in BODIES:
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def statements(tree: ast.Module, place: int) -> ast.Module | None:
    """The tree without its statement of that number; None if there is none."""
    for block in blocks(tree):
        if place < len(block):
            at = len(block) - 1 - place
            if len(block) > 1 or isinstance(block[0], ast.Pass):
                del block[at]
            else:
                block[0] = ast.Pass()
            return tree
        place -= len(block)
    return None


def opened(tree: ast.Module, place: int) -> ast.Module | None:
    """The tree with one compound statement replaced by one of its blocks."""
    for block in blocks(tree):
        for at, statement in enumerate(block):
            if not isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
                continue
            for name in BODIES:
                inner = getattr(statement, name, [])
                if inner and place == 0:
                    block[at : at + 1] = inner
                    return tree
                place -= bool(inner)
    return None


def expressions(tree: ast.Module, place: int) -> ast.Module | None:
    """The tree with one expression replaced by one of its parts, or by a number."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            held = value if isinstance(value, list) else [value]
            for at, one in enumerate(held):
                if not isinstance(one, ast.expr) or isinstance(getattr(one, "ctx", None), ast.Store):
                    continue
                others = smaller_ones(one)
                if place < len(others):
                    if isinstance(value, list):
                        value[at] = others[place]
                    else:
                        setattr(node, name, others[place])
                    return tree
                place -= len(others)
    return None


def smaller_ones(node: ast.expr) -> list[ast.expr]:
    """What may stand for an expression: its parts, and a number."""
    if isinstance(node, ast.Constant | ast.Name):
        return []
    inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
    if isinstance(node, ast.Call):
        inner = inner[1:]
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1:
        inner.append(type(node)(node.elts[:-1], node.ctx))
    return [*inner, ast.Constant(0.5)]
