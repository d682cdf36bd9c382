"""Text of what binds names inside an expression: lambda, comprehensions, `:=`; and parameters."""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad.emit.operators import BARE, NAMED, OR, PRINTERS, TEST, print_at


def parameters(node: gast.AST) -> list[str]:
    """The parameters of a function or lambda, with `/`, `*`, defaults and annotations."""
    positional = [*node.posonlyargs, *node.args]
    plain = len(positional) - len(node.defaults)
    parts = [_parameter(each, None if at < plain else node.defaults[at - plain]) for at, each in enumerate(positional)]
    if node.posonlyargs:
        parts.insert(len(node.posonlyargs), "/")
    if node.vararg is not None:
        parts.append("*" + _parameter(node.vararg, None))
    elif node.kwonlyargs:
        parts.append("*")
    pairs = zip(node.kwonlyargs, node.kw_defaults, strict=True)
    parts += [_parameter(each, default) for each, default in pairs]
    if node.kwarg is not None:
        parts.append("**" + _parameter(node.kwarg, None))
    return parts


def _parameter(node: gast.AST, default: gast.AST | None) -> str:
    text, equals = str(node.id), "="
    if node.annotation is not None:
        text, equals = f"{text}: {print_at(node.annotation)}", " = "
    return text if default is None else text + equals + print_at(default)


def lambda_function(node: gast.AST, level: int) -> str:
    """A lambda."""
    header = ", ".join(parameters(node.args))
    body = PRINTERS[type(node.body)](node.body, TEST)
    text = f"lambda {header}: {body}" if header else f"lambda: {body}"
    return f"({text})" if level > TEST else text


def _generators(node: gast.AST) -> str:
    text = ""
    for each in node.generators:
        start = " async for " if each.is_async else " for "
        text += f"{start}{print_at(each.target, BARE)} in {print_at(each.iter, OR)}"
        text += "".join([f" if {print_at(test, OR)}" for test in each.ifs])
    return text


def comprehension(opening: str, closing: str) -> Callable[[gast.AST, int], str]:
    """The printer of a comprehension between these brackets."""

    def text(node: gast.AST, level: int) -> str:
        return f"{opening}{print_at(node.elt)}{_generators(node)}{closing}"

    return text


def dict_comprehension(node: gast.AST, level: int) -> str:
    """A comprehension of a dict."""
    return f"{{{print_at(node.key)}: {print_at(node.value)}{_generators(node)}}}"


def named(node: gast.AST, level: int) -> str:
    """`name := value`."""
    text = f"{node.target.id} := {PRINTERS[type(node.value)](node.value, TEST)}"
    return text if level == NAMED else f"({text})"
