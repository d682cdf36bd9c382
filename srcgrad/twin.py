"""A second tree like a first one, with other parts: what all copies of trees are made with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # a gast tree has no types of its own

import gast

Node = Any  # gast.AST; gast ships no type information

_PLAIN = "ctx op type_comment kind id attr arg name level module asname rest conversion is_async"
_SHALLOW = frozenset(_PLAIN.split())


class _Deep(dict[type, tuple[str, ...]]):
    """The fields of a kind of node in which there may be nodes or lists."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields = () if kind is gast.Constant else getattr(kind, "_fields", ())
        return self.setdefault(kind, tuple(key for key in fields if key not in _SHALLOW))


DEEP = _Deep()


def twin(node: Node, change: Callable[[Node], Node]) -> Node:
    """The same, position included, with all right below it changed; operators and contexts are shared."""
    kind: Any = type(node)
    new = kind.__new__(kind)  # without the constructor, which would look at each field twice
    made = new.__dict__
    made.update(node.__dict__)
    for key in DEEP[kind]:
        value = made.get(key)
        if type(value) is list:
            made[key] = [change(item) if isinstance(item, gast.AST) else item for item in value]
        elif isinstance(value, gast.AST):
            made[key] = change(value)
    return new
