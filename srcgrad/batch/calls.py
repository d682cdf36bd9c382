"""Calls as rules see them: the function that is meant, and its arguments by name."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any  # functions are arbitrary objects

import gast

from srcgrad.batch.values import Value
from srcgrad.converted import literal_value
from srcgrad.facts import Facts
from srcgrad.trees import Node, expression

Lifted = tuple[Node, Value]
MISSING = object()


class UnknownFormError(Exception):
    """A form of a call that a rule does not know: it is made once for each direction."""


@dataclass
class Call:
    """A call of an operation; `given` has each argument with what is known of it."""

    node: Node
    function: Any
    parameters: tuple[str, ...]
    given: dict[str, Lifted]

    def __getitem__(self, parameter: str) -> Node:
        return self.given[parameter][0]

    def value(self, parameter: str) -> Value:
        """What is known of an argument."""
        return self.given[parameter][1]

    def literal(self, parameter: str, default: Any = MISSING) -> Any:
        """An argument that is written out; UnknownFormError for any other."""
        if parameter not in self.given:
            return default
        return literal(self[parameter])

    def only(self, *parameters: str) -> None:
        """UnknownFormError where the call has other arguments than these."""
        if set(self.given) - set(parameters):
            raise UnknownFormError

    def made(self, **arguments: Node) -> Node:
        """The call with these arguments in place of its own; those that it had not are keywords."""
        new = gast.Call(func=self.node.func, args=[], keywords=[])
        positional = len(self.node.args)
        for place, parameter in enumerate(self.parameters[:positional]):
            del place
            new.args.append(arguments.pop(parameter, None) or self[parameter])
        known = [word.arg for word in self.node.keywords]
        for parameter in [*known, *(p for p in arguments if p not in known)]:
            value = arguments.get(parameter)
            new.keywords.append(gast.keyword(arg=parameter, value=self[parameter] if value is None else value))
        return new


def literal(node: Node) -> Any:
    """The value of a literal; UnknownFormError for any other tree."""
    try:
        return literal_value(node)
    except (ValueError, TypeError):
        raise UnknownFormError from None


def bound(node: Node, function: Any, parameters: tuple[str, ...], args: list[Lifted], words: list[Lifted]) -> Call:
    """The call with its arguments by name."""
    if len(args) > len(parameters) or any(isinstance(part, gast.Starred) for part, _ in args):
        raise UnknownFormError
    given = dict(zip(parameters, args, strict=False))
    for word, lifted in zip(node.keywords, words, strict=True):
        if word.arg is None or word.arg in given:
            raise UnknownFormError
        given[word.arg] = lifted
    return Call(node, function, parameters, given)


def meant(node: Node, facts: Facts, known: Container[str]) -> Any:
    """The object that a name such as `np.sum` or `sum_to` of the text means; None for any other expression.

    Names of the function, and those in `known`, hold values of its own.
    """
    if isinstance(node, gast.Name):
        for identifier, spelled in facts.imports.items():
            if spelled == node.id:
                return facts.library_values[identifier]
        if node.id in facts.local or node.id in known:
            return None
        found = facts.namespace.lookup(facts.globals_as.get(node.id, node.id))
        return None if found is None else found.object
    if isinstance(node, gast.Attribute):
        base = meant(node.value, facts, known)
        return None if base is None else getattr(base, node.attr, None)
    return None


def starred_shape(count: Node, shape: Node) -> Node:
    """The shape `(count, *shape)`; a tuple that is written out gets one item more."""
    if isinstance(shape, gast.Tuple):
        return gast.Tuple(elts=[count, *shape.elts], ctx=gast.Load())
    return expression("(count, *shape)", count=count, shape=shape)
