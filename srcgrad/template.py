"""Templates as trees: read once from the text of the function that spells them, checked when registered."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any  # templates are arbitrary functions, trees are gast's

import gast

from srcgrad.converted import converted
from srcgrad.definitions import definitions
from srcgrad.errors import DifferentiationError, Place
from srcgrad.rules import Rule
from srcgrad.trees import Node, children, copy, name, walk


@dataclass(frozen=True)
class Spelled:
    """An assignment of a template: whose derivative it gives, or the names that it binds; what it reads."""

    belongs: str | None
    binds: tuple[str, ...]
    reads: tuple[str, ...]


@dataclass(frozen=True)
class Template:
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
    spelled: dict[Node, Spelled]


@lru_cache(maxsize=256)
def _file(filename: str, size: int) -> dict[int, Node]:
    """The function definitions of a file by the line of their `def` and of each of their decorators."""
    found = {}
    for node in definitions(ast.parse("".join(linecache.getlines(filename)))):
        if isinstance(node, ast.FunctionDef):
            found[node.lineno] = node
            for decorator in node.decorator_list:
                found[decorator.lineno] = node
    return found


def _alone(lines: list[str], first: int) -> Node | None:
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


def _definition(function: Callable[..., Any]) -> Node:
    code = inspect.unwrap(function).__code__
    lines = linecache.getlines(code.co_filename)
    node = _alone(lines, code.co_firstlineno) or _file(code.co_filename, len(lines)).get(code.co_firstlineno)
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
    return converted(node)  # the rest of the file is left as it is until it is needed


@lru_cache(maxsize=1024)
def parse(function: Callable[..., Any]) -> Template:
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
    body = [s for s in node.body if not _is_docstring(s)]
    outside = inspect.getclosurevars(function)
    return Template(
        names[0],
        tuple(parameters),
        positional,
        variadic,
        defaults,
        tuple(body),
        _differentiable(body, names[0]),
        {**outside.globals, **outside.nonlocals},
        _spelled(body),
    )


def _spelled(body: Iterable[Node]) -> dict[Node, Spelled]:
    found = {}
    for node in [item for statement in body for item in walk(statement) if isinstance(item, gast.Assign)]:
        target, names = node.targets[0], [n.id for n in walk(node.value) if isinstance(n, gast.Name)]
        belongs = derivative_of(target)
        binds = () if belongs is not None else tuple(n.id for n in walk(target) if isinstance(n, gast.Name))
        found[node] = Spelled(belongs, binds, tuple(names))
    return found


def adjoint_template(rule: Rule) -> Template | None:
    """The rule's reverse template, parsed; None if it has none."""
    if rule.template is None:
        return None
    return exponential(rule.template) if rule.exponential else parse(rule.template)


@lru_cache(maxsize=1024)
def exponential(function: Callable[..., Any]) -> Template:
    """The template of e to the power of what `function` is the template of: `d[z]` is `d[z] * z`."""
    found = parse(function)
    body = tuple(_times_result(copy(statement), found.result) for statement in found.body)
    return replace(found, body=body, spelled=_spelled(body))


def _times_result(node: Node, result: str) -> Node:
    for key in node._fields:
        part = getattr(node, key, None)
        if isinstance(part, list):
            setattr(node, key, [_times_result(p, result) if isinstance(p, gast.AST) else p for p in part])
        elif isinstance(part, gast.AST):
            setattr(node, key, _times_result(part, result))
    reads = derivative_of(node) == result and isinstance(node.ctx, gast.Load)
    return gast.BinOp(node, gast.Mult(), name(result)) if reads else node


def tangent_template(rule: Rule) -> Template | None:
    """The rule's forward template, parsed; None if it has none."""
    return None if rule.tangent is None else parse(rule.tangent)


def derivative_of(node: Node) -> str | None:
    """The name x if the tree is `d[x]`, None otherwise."""
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node.value.id == "d":
        if isinstance(node.slice, gast.Name):
            return str(node.slice.id)
    return None


def _is_docstring(node: Node) -> bool:
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)


def _differentiable(body: list[Node], result: str) -> tuple[str, ...]:
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
                _malformed(rule, reverse, None, f"`d[{name}]` belongs to no parameter")
    if forward is not None:
        template = parse(forward)
        if template.differentiable != (template.result,):
            _malformed(rule, forward, None, f"a tangent template has lines `d[{template.result}] = ...` only")


def _nodes(template: Template) -> list[Node]:
    return [node for statement in template.body for node in walk(statement)]


_ALLOWED = (gast.Assign, gast.If, gast.Pass)


def _check_reverse(rule: Rule, template: Template, node: Node, function: Callable[..., Any]) -> None:
    if isinstance(node, gast.stmt) and not isinstance(node, _ALLOWED):
        _malformed(rule, function, node, "a template holds assignments and `if` only")
    if isinstance(node, gast.Assign):
        belongs = derivative_of(node.targets[0])
        if belongs is not None and degree(node.value, template.result) > 1:
            _malformed(rule, function, node, f"the right side is not linear in d[{template.result}]")
    belongs = derivative_of(node)
    if belongs is not None and isinstance(node.ctx, gast.Load) and belongs != template.result:
        _malformed(rule, function, node, f"an adjoint line may read d[{template.result}] only")


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


def _malformed(rule: Rule, function: Callable[..., Any], node: Node, what: str) -> None:
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
