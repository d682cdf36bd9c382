"""Facts about single expressions: indices, literals, parts of arrays.

Small facts about expressions that carry no derivative: the rank that an index leaves, literal values.

Parts of arrays, and arrays that change places.
"""

from __future__ import annotations

import gast

from srcgrad.core.trees import Node, expression, literal_node, literal_value, name

UNDECIDED = object()


def literal_of(node: Node) -> object:
    """The value of a literal; UNDECIDED for anything else."""
    try:
        return literal_value(node)
    except (ValueError, TypeError, SyntaxError):
        return UNDECIDED


def index_rank(index: Node, rank: int | None, integers: frozenset[str] = frozenset()) -> int | None:
    """The rank of `x[index]` for x of rank `rank`, where literals and known integers tell; None otherwise.

    >>> import gast
    >>> index_rank(gast.parse("x[0, 1:]").body[0].value.slice, 2)
    1
    """
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    removed, added = 0, 0
    for part in parts:
        if isinstance(part, gast.Slice) or (isinstance(part, gast.Constant) and part.value is Ellipsis):
            continue
        if isinstance(part, gast.Constant) and part.value is None:
            added += 1
        elif _integer_arithmetic(part, integers):
            removed += 1
        else:
            return None
    return None if rank is None else rank - removed + added


def is_integer(node: Node) -> bool:
    """Whether an index is an integer literal."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        node = node.operand
    return isinstance(node, gast.Constant) and type(node.value) is int


def is_basic(index: Node, integers: frozenset[str] = frozenset()) -> bool:
    """Whether an index is made of integers, slices, None and Ellipsis only; `integers` are names known to hold one."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return all(
        isinstance(part, gast.Slice)
        or is_integer(part)
        or (isinstance(part, gast.Constant) and (part.value is None or part.value is Ellipsis))
        or _integer_arithmetic(part, integers)
        for part in parts
    )


def adds_axes(index: Node, number: bool = False) -> bool:
    """Whether an index takes all elements and adds axes: `[:, None]`, `[..., None]`; a dict has no such keys.

    Of what is known to be a `number`, without axes, `[None]` and `[None, None]` do so too.

    >>> import gast
    >>> [adds_axes(gast.parse(f"x[{i}]").body[0].value.slice) for i in (":, None", "None, ...", "1:, None", ":, 0")]
    [True, True, False, False]
    """
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    new = [isinstance(part, gast.Constant) and part.value is None for part in parts]
    return (
        any(new)
        and (number or not all(new))
        and all(one or _is_whole(part) for one, part in zip(new, parts, strict=True))
    )


def _is_whole(part: Node) -> bool:
    if isinstance(part, gast.Slice):
        return part.lower is None and part.upper is None and part.step is None
    return isinstance(part, gast.Constant) and part.value is Ellipsis


def new_axes(index: Node) -> list[int]:
    """The axes that an index of slices adds to an array, where these are all that it does.

    >>> import gast
    >>> [new_axes(gast.parse(f"x[{i}]").body[0].value.slice) for i in (":, None", "None, :, None", "..., None", ":, 0")]
    [[1], [0, 2], [], []]
    """
    parts = index.elts if isinstance(index, gast.Tuple) else []
    slices = all(isinstance(part, gast.Slice) or getattr(part, "value", ...) is None for part in parts)
    found = [axis for axis, part in enumerate(parts) if not isinstance(part, gast.Slice)]
    return found if slices and adds_axes(index) else []


def without_axes(index: Node) -> Node:
    """The index that takes the axes off again which `index` adds.

    >>> import gast
    >>> from srcgrad.core.printer.expressions import expression as spell
    >>> print(spell(gast.Subscript(expression("g"), without_axes(expression("x[:, None]").slice), gast.Load())))
    g[:, 0]
    """
    if not isinstance(index, gast.Tuple):
        return literal_node(0)
    return gast.Tuple(
        elts=[literal_node(0) if getattr(part, "value", ...) is None else part for part in index.elts], ctx=gast.Load()
    )


def _integer_arithmetic(node: Node, integers: frozenset[str]) -> bool:
    if isinstance(node, gast.Name):
        return node.id in integers
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub | gast.Mult | gast.FloorDiv | gast.Mod):
        return _integer_arithmetic(node.left, integers) and _integer_arithmetic(node.right, integers)
    return is_integer(node)


def slice_signature(index: Node, integers: frozenset[str] = frozenset()) -> str | None:
    """What decides the shape of `x[index]` beside the shape of x, for slices with literal bounds and integers.

    >>> import gast
    >>> [slice_signature(gast.parse(f"x[{i}]").body[0].value.slice) for i in ("1:", ":-1", "1:-1, 0")]
    ['-1', '-1', '-2, int']
    """
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    found = [part_signature(part, integers) for part in parts]
    return None if None in found else ", ".join(str(part) for part in found)


def part_signature(part: Node, integers: frozenset[str]) -> str | None:
    """The same of one axis: `int`, a constant, or the rows that a slice leaves out; None if literals do not tell."""
    if _integer_arithmetic(part, integers):
        return "int"
    if isinstance(part, gast.Constant):
        return repr(part.value)
    if not isinstance(part, gast.Slice):
        return None
    bounds = []
    for bound in (part.lower, part.upper, part.step):
        try:
            bounds.append(None if bound is None else literal_value(bound))
        except (ValueError, TypeError):
            return None
    lower, upper, step = bounds
    if step is None and (lower or 0) >= 0 and (upper is None or upper < 0):
        return str(-(lower or 0) + (upper or 0))  # so many rows are left out
    return f"{lower}:{upper}:{step}"


def as_value(index: Node) -> Node:
    """An index that may be passed to a function: `1:` becomes `slice(1, None)`, and `:n` becomes `slice(n)`."""
    if isinstance(index, gast.Tuple):
        return gast.Tuple(elts=[as_value(part) for part in index.elts], ctx=gast.Load())
    if not isinstance(index, gast.Slice):
        return index
    bounds = [index.lower, index.upper, index.step] if index.step is not None else [index.lower, index.upper]
    if index.lower is None and index.step is None:
        bounds = [index.upper]
    made = expression("slice()")
    made.args = [literal_node(None) if bound is None else bound for bound in bounds]
    return made


def on_array(part: Node, array: Node | str) -> Node:
    """The same part of another array: `b.T[1:]` for `a.T[1:]`; indices are shared."""
    if isinstance(part, gast.Name):
        return name(array) if isinstance(array, str) else array
    if isinstance(part, gast.Call):
        return gast.Call(on_array(part.func, array), part.args, part.keywords)
    if isinstance(part, gast.Attribute):
        return gast.Attribute(on_array(part.value, array), part.attr, gast.Load())
    return gast.Subscript(on_array(part.value, array), part.slice, gast.Load())


def is_swap(node: Node) -> bool:
    """Whether a statement exchanges what names hold: `a, b = b, a`."""
    if not isinstance(node, gast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], gast.Tuple):
        return False
    parts = [*node.targets[0].elts, *getattr(node.value, "elts", [None])]
    if not isinstance(node.value, gast.Tuple) or not all(isinstance(part, gast.Name) for part in parts):
        return False
    bound, read = [p.id for p in node.targets[0].elts], [p.id for p in node.value.elts]
    return sorted(bound) == sorted(read) and len(set(bound)) == len(bound)
