"""Calls that change something and give nothing, `a.sort()`, `np.copyto(a, e)`, are followed where they stand alone.

Bound to a name that nothing reads, `t = a.sort()`, such a call would be dropped with the name; `t = next(items)` and
`t = generator.normal()` stay without it.
"""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.moving import moves
from srcgrad.front.resolve import binding_of, operation_of
from srcgrad.trees import BLOCKS, Block, Node, at, header, loads, statements, target, walk

_FUNCTIONS = (
    np.copyto, np.put, np.putmask, np.place, np.put_along_axis, np.fill_diagonal, np.random.shuffle, np.random.seed,
)  # fmt: skip
_METHODS = (
    "fill", "sort", "partition", "put", "append", "extend", "insert", "remove", "reverse", "clear", "update", "shuffle",
    "itemset", "resize", "setflags", "__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__",
    "__imatmul__",
)  # fmt: skip


def check_silent(block: Block, facts: Facts, local: frozenset[str]) -> None:
    """Refuse such calls inside of expressions, and what an operation without a derivative stores by `out=`."""
    for node in statements(block):
        alone = node.value if isinstance(node, gast.Expr) else None
        inside = [item for part in header(node) for item in walk(part)]
        hooks = {id(item) for each in inside if isinstance(each, gast.Lambda) for item in walk(each.body)}
        for item in [item for item in inside if isinstance(item, gast.Call) and id(item) not in hooks]:
            if item is not alone and _changes(item, facts, local):
                raise facts.refuse(
                    item,
                    "E5010",
                    f"`{gast.unparse(item.func)}` changes an object inside of an expression",
                    "call it in a statement of its own, or write `a[...] = ...`",
                )


def _changes(call: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a call changes what it is called on, or one of its arguments."""
    if any(word.arg == "out" and getattr(word.value, "value", 0) is not None for word in call.keywords):
        return operation_of(call, facts, local) is None
    spelled = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if len(call.args) < 2 and spelled not in _METHODS and spelled not in ("shuffle", "seed"):
        return False
    found = binding_of(call.func, facts, local)
    if found is None:
        return spelled in _METHODS and not _is_callee(call, facts, local)
    if isinstance(found.object, np.ufunc):
        return len(call.args) > found.object.nin
    owner = getattr(found.object, "__self__", None)
    return any(found.object is one for one in _FUNCTIONS) or (
        isinstance(owner, np.ufunc) and getattr(found.object, "__name__", "") == "at"
    )


def _is_callee(call: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a method is the user's own, which has a source."""
    operation = operation_of(call, facts, local)
    return operation is not None and operation.kind == "callee"


def keep_draws(block: Block, facts: Facts, local: frozenset[str]) -> None:
    """Let a call that may change the object it is of stand alone, where nothing reads what it gives."""
    read = {name for node in statements(block) for name in loads(node)}
    _keep(block, read, facts, local)


def _keep(block: Block, read: set[str], facts: Facts, local: frozenset[str]) -> None:
    for place, node in enumerate(block):
        for which in BLOCKS:
            if getattr(node, which, None):
                _keep(getattr(node, which), read, facts, local)
        bound = target(node)
        if bound is not None and bound not in read and moves(node.value, facts, local):
            block[place] = at(gast.Expr(node.value), node)
            facts.effects[block[place]] = None
