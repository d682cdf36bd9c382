"""`wrt` may name a local variable: it must be clear which value is meant."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.webs import parameters
from srcgrad.trees import Node, statements, stores, walk, written


def intermediate(function: Node, facts: Facts) -> Node:
    """Take the names in `wrt` that are no parameters: each is bound once, in no branch and no loop, and never changed.

    >>> from srcgrad.phases import run
    >>> run("def f(x):\\n    h = x * x\\n    return np.sum(h)", "intermediate", wrt=("h",))[1].inner
    ('h',)
    """
    facts.inner = tuple(wanted for wanted in facts.wrt if wanted not in parameters(function))
    if facts.inner and facts.mode not in ("reverse", "value-and-grad", "vjp", "trace"):
        raise facts.refuse(
            facts.source.tree,
            "E5009",
            f"`{facts.inner[0]}` is no parameter, and mode {facts.mode} has no tangent for it",
            "use reverse mode, or make it a parameter",
        )
    for wanted in facts.inner:
        _check_text(wanted, facts)
        made = [node for node in function.body if wanted in stores(node) and not written(node)]
        everywhere = [node for node in statements(function.body) if wanted in stores(node)]
        if len(made) != 1 or len(everywhere) != 1 or not isinstance(made[0], gast.Assign):
            where = everywhere[0] if everywhere else facts.source.tree
            what = "is bound in a loop or a branch, or is changed" if everywhere else "is taken apart"
            raise _refusal(wanted, what, where, facts)
        if facts.list_kind(wanted) or wanted in facts.records or isinstance(made[0].value, _DISPLAYS):
            raise _refusal(wanted, "holds a container", made[0], facts)
    return function


_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)


def _check_text(wanted: str, facts: Facts) -> None:
    """In the user's own text the name is bound by one assignment, and nothing is stored into it."""
    tree = facts.source.tree
    bound = [n for s in tree.body for n in walk(s) if isinstance(n, gast.Name) and n.id == wanted]
    bound = [n for n in bound if not isinstance(n.ctx, gast.Load)]
    if not bound:
        raise facts.refuse(tree, "E5009", f"`{wanted}` is bound nowhere", "name a parameter, or a local variable")
    if len(bound) > 1:
        lines = " and ".join(str(line) for line in dict.fromkeys(n.lineno for n in bound))
        raise _refusal(wanted, f"is bound more than once, in line {lines}", bound[1], facts)
    for node in statements(tree.body):
        if wanted in written(node):
            raise _refusal(wanted, "is changed", node, facts)


def _refusal(wanted: str, what: str, where: Node, facts: Facts) -> Exception:
    return facts.refuse(
        where,
        "E5009",
        f"`{wanted}` {what}: it is not clear which value is meant",
        f"bind the value that you mean to a name of its own, once, outside of loops and branches: `{wanted}_0 = ...`",
    )
