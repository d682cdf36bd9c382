"""What a value was found to be serves as long as nothing has changed of which that depends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any  # a stand-in for the text

import gast

from srcgrad.backend.batched.expressions import Axis, Value
from srcgrad.core.trees import expression


def test_a_value_is_looked_at_again_if_anything_is_different() -> None:
    looked = []

    def own(node: Any, *, zero: bool) -> Any:
        assert zero
        looked.append(gast.unparse(node))
        return node, Value(len(looked))

    text: Any = SimpleNamespace(known={"x": Value(1)}, own=own)
    axis, node = Axis({}), expression("x[i] * y")

    def looks(*, final: bool = False) -> int:
        before = len(looked)
        axis.look(node, text, final=final)
        return len(looked) - before

    assert looks() == 1
    assert looks() == 0
    text.known["x"] = Value(1, batched=True)  # the name has the axis
    assert looks() == 1
    text.known["y"] = Value(0)  # something is known of a name at last
    assert looks() == 1
    axis.writes = True
    assert looks() == 1
    node.left.slice = expression("i + 1")  # `sooner` changes trees in place
    assert looks() == 1
    node.right.id = "z"
    assert looks() == 1
    assert looks(final=True) == 0
    assert looks(final=True) == 1  # what was made stands in the text now, and in one place
    assert looked[-2:] == ["x[i + 1] * z"] * 2
