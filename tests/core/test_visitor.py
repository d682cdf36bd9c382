"""What is kept of a walk is what a walk would find, whatever was changed in between, and whoever changed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # a gast tree has no types of its own

import gast
import pytest

from srcgrad.core.trees import copy, loads, name, stores, walk

CHANGES: dict[str, Callable[[Any], None]] = {
    "another operand": lambda node: setattr(node.value.left, "right", name("z")),
    "another name": lambda node: setattr(node.value.left.right, "id", "z"),
    "bound, no longer read": lambda node: setattr(node.value.left.right, "ctx", gast.Store()),
    "one more argument": lambda node: node.value.right.args.append(name("z")),
    "another argument": lambda node: node.value.right.args.__setitem__(0, name("z")),
    "other arguments": lambda node: setattr(node.value.right, "args", [name("z"), name("z")]),
    "two targets": lambda node: node.targets.append(name("z", gast.Store())),
    "no keyword": lambda node: node.value.right.keywords.clear(),
}


def found(node: Any) -> tuple[list[str], tuple[str, ...], list[str]]:
    """What walks find, as texts."""
    return [gast.dump(item) for item in walk(node)], loads(node), stores(node)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changes_are_seen(change: Callable[[Any], None]) -> None:
    node = gast.parse("x, y = a * b + f(c, d, key=e)").body[0]
    before = found(node)
    for item in walk(node):  # each of them is a root as well
        found(item)
    change(node)
    assert found(node) == found(copy(node))
    assert found(node) != before
