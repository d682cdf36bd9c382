"""Calls and sums of templates as a reader would write them: without defaults, with the numbers added up."""

from __future__ import annotations

import inspect
from types import FunctionType

import gast

from srcgrad.derive.decide import literal_of
from srcgrad.trees import Node, constant


def spread_arguments(call: Node) -> None:
    """`g(*xs)` with the arguments that `xs` stands for."""
    for item in [each for each in call.args if isinstance(each, gast.Starred)]:
        place = call.args.index(item)
        call.args[place : place + 1] = item.value.elts


def drop_defaults(call: Node, function: object) -> None:
    """Leave out the last arguments of a call of a helper where they are its defaults: `share(g, a, y, 1, False)`."""
    if not isinstance(function, FunctionType):
        return
    if call.keywords:
        _drop_named(call, function, "srcgrad.runtime")
        return
    if not call.args or not isinstance(call.args[-1], gast.Constant):
        return
    parameters = list(inspect.signature(function).parameters.values())
    while 0 < len(call.args) <= len(parameters) and isinstance(call.args[-1], gast.Constant):
        default = parameters[len(call.args) - 1].default
        if type(default) is not type(call.args[-1].value) or default != call.args[-1].value:
            return
        call.args.pop()


def drop_keywords(call: Node, function: object) -> None:
    """Leave out what a call of a function of SciPy names at its default: `unit_diagonal=False`."""
    if isinstance(function, FunctionType):
        _drop_named(call, function, "scipy")


def _drop_named(call: Node, function: FunctionType, package: str) -> None:
    if not call.keywords or not function.__module__.startswith(f"{package}."):
        return
    defaults = {p.name: p.default for p in inspect.signature(function).parameters.values()}
    call.keywords = [
        word
        for word in call.keywords
        if not (isinstance(word.value, gast.Constant) and _is_same(word.value.value, defaults.get(word.arg, function)))
    ]


def _is_same(value: object, default: object) -> bool:
    return type(value) is type(default) and value == default


def folded(node: Node) -> Node:
    """A sum or difference of two numbers as one: `3 - 1`, the exponent in the derivative of `x ** 3`, is 2.

    The negative of a number is a number: what `np.roll(x, -1)` has moved is moved back by 1, not by `--1`.
    """
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub):
        left, right = literal_of(node.left), literal_of(node.right)
        if isinstance(left, int | float) and isinstance(right, int | float):
            total = left + right if isinstance(node.op, gast.Add) else left - right
            return constant(total) if total == round(total, 9) else node  # 1.1 - 1 would print its rounding
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return _opposite(node.operand) or node
    if isinstance(node, gast.Call) and getattr(node.func, "attr", "") == "negative" and len(node.args) == 1:
        return _opposite(node.args[0]) or node
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Tuple):  # `(c, True)[0]`
        place = literal_of(node.slice)
        return node.value.elts[place] if isinstance(place, int) else node
    return node


def _opposite(node: Node) -> Node | None:
    """The negative of a literal, or a tuple of them, as a literal; None for what is none, or takes no shorter one."""
    if isinstance(node, gast.Tuple):
        made = [_opposite(item) for item in node.elts]
        return None if None in made else gast.Tuple(made, gast.Load())
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) and isinstance(node.operand, gast.Constant):
        return node.operand
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return gast.UnaryOp(gast.USub(), node) if node.value else node
    return None
