"""Functions that write into arrays and ask for derivatives: which writes can be followed where texts of ours stand
among the user's statements, in which views and arguments are not looked at anew."""

from __future__ import annotations

import gast

from srcgrad.trees import Node, header, inside, is_write, root, statements, target, walk, written

_MAKERS = ("zeros", "ones", "empty", "zeros_like", "ones_like", "empty_like")


def doubtful_write(tree: Node) -> Node | None:
    """The first write of a function into an array that something else may show; None if there is none.

    Safe are arrays that the function makes by `np.zeros` and the like, and that have no second name while they
    are written into.

    >>> text = "def f(x):\\n    a = np.zeros(2)\\n    a[0] = x\\n    b = a[1:]\\n    return b\\n"
    >>> doubtful_write(gast.parse(text).body[0]) is None
    True
    """
    writes = [(place, n) for place, top in enumerate(tree.body) for n in statements([top]) if _writes(n)]
    for place, node in writes:
        for name in _writes(node):
            if not _is_made(name, tree) or _has_second_name(name, place, tree):
                return node
    return None


def _writes(node: Node) -> list[str]:
    """Names of arrays into which a statement writes, as a part of its target as well: `a[0], b[0] = e`."""
    if is_write(node):
        return written(node)
    places = [part for one in getattr(node, "targets", []) for part in inside(one, gast.Subscript)]
    bases = [root(part) for part in places if isinstance(part.ctx, gast.Store)]
    return [base.id for base in bases if base is not None]


def _is_made(name: str, tree: Node) -> bool:
    """Whether nothing but new arrays is bound to a name."""
    parameters = [a.id for a in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]]
    bound = [n for n in statements(tree.body) if target(n) == name]
    others = [n for n in statements(tree.body) if target(n) != name and not _writes(n) and name in _bound_by(n)]
    made = all(isinstance(n.value, gast.Call) and getattr(n.value.func, "attr", "") in _MAKERS for n in bound)
    return bool(bound) and made and not others and name not in parameters


def _bound_by(node: Node) -> list[str]:
    names = [n for part in header(node) for n in walk(part) if isinstance(n, gast.Name)]
    return [n.id for n in names if not isinstance(n.ctx, gast.Load)]


def _has_second_name(name: str, last: int, tree: Node) -> bool:
    """Whether something else than arithmetic reads an array by its name before the last place that writes into it."""
    for top in tree.body[: last + 1]:
        for node in statements([top]):
            if isinstance(node, gast.FunctionDef) and any(getattr(n, "id", "") == name for n in walk(node)):
                return True
            if _writes(node):
                continue
            value = getattr(node, "value", None) or getattr(node, "iter", None)
            if value is not None and not isinstance(value, gast.BinOp | gast.Compare) and _shows(value, name):
                return True
    return False


def _shows(value: Node, name: str) -> bool:
    return any(isinstance(n, gast.Name) and n.id == name for n in walk(value))
