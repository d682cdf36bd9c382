"""Trees: parse a snippet, substitute names in it, list what is read and written. No pass builds nodes by hand.

Trees of Python as trees of gast, and literals as values: what gast does, with fewer steps for each node. Small facts
about expressions that carry no derivative: the rank that an index leaves, literal values, parts of arrays.

What a walk over a tree has found is kept for the next walk over it, which finds the tree as it was in most cases.
Some eighty passes look at each statement, and one look in thirty ends in a change. So it is not left to the passes to
say what they have changed: beside the nodes below a root are kept the tables and lists in which these hang, and
copies of those. One comparison of lists, which runs without a step of Python for each node, tells whether all are as
they were. A change of which nobody has told is a walk anew, never an old answer.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar  # fields and literals are of several types

import gast
from gast.ast3 import Ast3ToGAst

_SCALARS = "ctx op ops type_comment kind id attr arg name level module asname rest conversion simple is_async kwd_attrs"
_PLAIN_FIELDS = frozenset(_SCALARS.split())
_OF_BOTH = ["Constant", "Global", "Nonlocal", "MatchSingleton"]
_LEAVES = (gast.Name, *[getattr(library, kind) for library in (ast, gast) for kind in _OF_BOTH])
MOST = 40_000  # trees of which is kept what a walk has found; they go at the end of a derivation in any case


class _FieldsOfInterest(dict[type, tuple[str, ...]]):
    """The fields of a kind of node that hold nodes of interest."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields = () if kind in _LEAVES else getattr(kind, "_fields", ())
        return self.setdefault(kind, tuple(key for key in fields if key not in _PLAIN_FIELDS))


_BELOW = _FieldsOfInterest()


class NodeWalk:
    """The nodes below a root, itself included, in the order of the text, and in what they hang, now and as it was.

    What they hang in is compared, never written into: a list that was exchanged for an equal one is still the old one.
    """

    __slots__ = ("held", "hold", "kinds", "named", "names", "nodes", "reads", "sought")

    def __init__(self, root: Node) -> None:
        nodes: list[Node] = []
        lists: list[list[Node]] = []
        _collect([root], nodes, lists)
        self.nodes, self.names = tuple(nodes), [item.__dict__ for item in nodes if type(item) is gast.Name]
        tables = [item.__dict__ for item in nodes if _BELOW[type(item)]]
        self.hold: list[object] = [*tables, *lists]
        self.held: list[Any] = [*map(dict.copy, tables), *map(list.copy, lists)]
        self.named: list[object] | None = None
        self.reads: tuple[str, ...] = ()
        self.kinds = frozenset(map(type, nodes))
        self.sought: dict[tuple[type, ...], list[Node]] = {}  # the nodes of some kinds


def _collect(items: list[Node], nodes: list[Node], lists: list[list[Node]]) -> None:
    """Add these nodes with all below them, and the lists in which they hang."""
    for item in items:
        if item is None:  # `{**e}` has no key there
            continue
        nodes.append(item)
        table = item.__dict__
        for key in _BELOW[type(item)]:
            if key not in table or (value := table[key]) is None:
                continue
            if type(value) is list:
                lists.append(value)
                _collect(value, nodes, lists)
            elif _BELOW[type(value)]:
                _collect([value], nodes, lists)
            else:
                nodes.append(value)


_known: dict[Node, NodeWalk] = {}


def walk_of(root: Node) -> NodeWalk:
    """What a walk from this root finds."""
    found = _known.get(root)
    if found is not None and found.hold == found.held:
        return found
    if len(_known) >= MOST:
        _known.clear()
    found = _known[root] = NodeWalk(root)
    return found


def kinds(root: Node) -> frozenset[type]:
    """The kinds of the nodes below a root."""
    return walk_of(root).kinds


def reads(root: Node) -> tuple[str, ...]:
    """The names that are read below a root, in the order of the text, with repetition."""
    found = _known.get(root)
    if found is None or found.hold != found.held:
        kind = type(root)
        if kind is gast.Name or kind is gast.Constant:
            return (root.id,) if kind is gast.Name and type(root.ctx) is gast.Load else ()
        found = walk_of(root)
    if found.named is None or found.names != found.named:
        found.named = [*map(dict.copy, found.names)]
        found.reads = tuple([table["id"] for table in found.names if type(table["ctx"]) is gast.Load])
    return found.reads


def mentions(root: Node, identifier: str) -> bool:
    """Whether a name is read or bound below a root."""
    return any(table["id"] == identifier for table in walk_of(root).names)


def forget() -> None:
    """Let go of the trees: a derivation has come to its end."""
    _known.clear()


Node: TypeAlias = gast.AST
N = TypeVar("N", bound=gast.AST)

_HERE = {"visit_Name", "visit_arg", "visit_FunctionDef"}  # of what gast makes otherwise than field by field
_OTHERWISE = {key for key in vars(Ast3ToGAst) if key.startswith("visit_")} - _HERE
_TEXTS = _PLAIN_FIELDS - {"ctx", "op", "ops"} | {"str"}


class _Kinds(dict[type, tuple[Any, tuple[str, ...]]]):
    """The kinds of gast for those of Python, None where gast is asked, and the fields that may hold nodes."""

    def __missing__(self, kind: type) -> tuple[object, tuple[str, ...]]:
        spelled = "Name" if kind is ast.arg else kind.__name__
        asked = f"visit_{spelled}" in _OTHERWISE or not hasattr(gast, spelled)
        fields = () if kind in _LEAVES else tuple(key for key in getattr(kind, "_fields", ()) if key not in _TEXTS)
        return self.setdefault(kind, (None if asked else getattr(gast, spelled), fields))


_KINDS = _Kinds()
_EMPTY: dict[type, Node] = {}  # operators and contexts, which hold nothing: one of each kind


def parse_tree(text: str, mode: str = "exec") -> Node:
    """The tree of a text."""
    return to_gast(ast.parse(text, mode=mode))


def to_gast(node: ast.AST, levels: int = 1_000_000) -> Node:
    """The tree of gast for one of Python's, positions included; RecursionError if it has more levels than these.

    >>> plain = ast.parse("def f(x: int, *, n=-1.0): return [x[1:], {**n}]")
    >>> ours, theirs = to_gast(plain), gast.ast_to_gast(plain)
    >>> gast.dump(ours, include_attributes=True) == gast.dump(theirs, include_attributes=True)
    True
    """
    kind, levels = type(node), levels - 1
    if levels < 0:
        raise RecursionError
    if kind in _EMPTY:
        return _EMPTY[kind]
    of_gast, fields = _KINDS[kind]
    if of_gast is None:
        return gast.ast_to_gast(node)
    new: Node = of_gast.__new__(of_gast)
    made = new.__dict__
    made.update(node.__dict__)
    for key in fields:
        value = made[key]
        if type(value) is list:
            made[key] = [item if item is None else to_gast(item, levels) for item in value]
        elif value is not None:
            made[key] = to_gast(value, levels)
    if kind is ast.Name:
        made["annotation"] = made["type_comment"] = None
    elif kind is ast.arg:
        made["id"], made["ctx"] = made.pop("arg"), gast.Param()
    elif kind is ast.FunctionDef:
        made.setdefault("type_params", [])  # which gast knows, and Python from 3.12 on
    elif not made:
        _EMPTY[kind] = new
    return new


def literal_value(node: Node) -> Any:
    """The value of a literal; ValueError or TypeError for any other tree.

    >>> [literal_value(parse_tree(text, "eval").body) for text in ("-1", "(0, 1.5)", "'a'")]
    [-1, (0, 1.5), 'a']
    """
    kind = type(node)
    if kind is gast.Constant:
        return node.value
    if kind is gast.Tuple:
        return tuple([literal_value(item) for item in node.elts])
    if kind is gast.UnaryOp and type(node.op) is gast.USub and type(literal := node.operand) is gast.Constant:
        if type(literal.value) in (int, float):
            return -literal.value
    if kind in _NEVER:
        raise ValueError("not a literal")
    return gast.literal_eval(node)


_NEVER = {gast.Name, gast.Attribute, gast.Subscript, gast.Slice}


class _NestedFields(dict[type, tuple[str, ...]]):
    """The fields of a kind of node in which there are nodes, or lists of them."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields = () if kind in _LEAVES and kind is not gast.Name else getattr(kind, "_fields", ())
        return self.setdefault(kind, tuple(key for key in fields if key not in _PLAIN_FIELDS or key == "ops"))


DEEP = _NestedFields()


def twin(node: Node, change: Callable[[Node], Node]) -> Node:
    """The same, position included, with all right below it changed; operators and contexts are shared."""
    kind: Any = type(node)
    new: Node = kind.__new__(kind)  # without the constructor, which would look at each field twice
    made = new.__dict__
    made.update(node.__dict__)
    for key in DEEP[kind]:
        if key in made and (value := made[key]) is not None:
            whole = type(value) is not list
            made[key] = change(value) if whole else [item if item is None else change(item) for item in value]
    return new


Block = list[Node]
NOTHING: Any = None  # what stands in a list of nodes where there is none: between two halves, or for one that has gone

SIMPLE = (gast.Name, gast.Constant)
_NAMES = frozenset([gast.Name])


@lru_cache(maxsize=4096)
def _snippet(text: str) -> Node:
    tree: Node = parse_tree(text).body[0]
    for node in walk(tree):
        for key in POSITION:
            node.__dict__.pop(key, None)  # where it stands in a user's text, `at` says
    return tree


def statement(text: str, **parts: Node | str) -> Node:
    """The statement that `text` spells, with the names in `parts` replaced by trees (or by other names).

    >>> import gast
    >>> gast.unparse(statement("target = a + 1.0", target="x_bar", a=expression("y[0]")).value)
    'y[0] + 1.0'
    """
    return substitute(_snippet(text), parts)


def expression(text: str, **parts: Node | str) -> Node:
    """The expression that `text` spells, with the names in `parts` replaced."""
    return substitute(_snippet(text).value, parts)


def substitute(node: Node, parts: Mapping[str, Node | str]) -> Node:
    """A copy of `node` in which each name in `parts` is replaced by its tree, itself; a string is another name."""
    if type(node) is gast.Name:
        part = parts.get(node.id)
        if part is None:
            return name(node.id, node.ctx)
        return name(part, node.ctx) if isinstance(part, str) else part
    return twin(node, lambda child: substitute(child, parts))


def copy(node: Node) -> Node:
    """A deep copy, positions included."""
    return _same_name(node) if type(node) is gast.Name else twin(node, copy)


def _same_name(node: Node) -> Node:
    new = gast.Name.__new__(gast.Name)
    new.__dict__ = {**node.__dict__, "annotation": None, "type_comment": None}
    return new


def remade(node: Node, change: Callable[[Node], Node]) -> Node:
    """The same with all right below it changed, without a position; operators and contexts are shared."""
    new = twin(node, change)
    for key in POSITION if "lineno" in node.__dict__ else ():
        new.__dict__.pop(key, None)
    return new


_LOAD, _STORE = gast.Load(), gast.Store()


def name(identifier: str, ctx: Node | None = None, like: Node | None = None) -> Node:
    """A name, read unless `ctx` says otherwise."""
    new = gast.Name.__new__(gast.Name)
    new.__dict__ = {"id": identifier, "ctx": ctx or _LOAD, "annotation": None, "type_comment": None}
    return new if like is None else at(new, like)


def literal_node(value: object) -> gast.Constant:
    """A literal."""
    return gast.Constant(value=value, kind=None)


def assign(target: str, value: Node, like: Node | None = None) -> Node:
    """`target = value`, at the line of `like`."""
    new = gast.Assign(targets=[name(target, _STORE)], value=value, type_comment=None)
    return at(new, like) if like is not None else new


def at(node: N, like: Node) -> N:
    """`node`, with the position of `like`: a generated statement carries the user's line."""
    made, given = node.__dict__, like.__dict__
    for key in POSITION if "lineno" in given else ():
        if key in given and (value := given[key]) is not None:
            made[key] = value
    return node


POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def placed(node: N, like: Node) -> N:
    """`node`, in which what has no position yet has that of `like`."""
    for part in walk(node):
        if "lineno" not in part.__dict__:
            at(part, like)
    return node


def children(node: Node) -> list[Node]:
    """The nodes right below `node`, operators and contexts left out."""
    found: list[Node] = []
    table = node.__dict__
    for key in DEEP[type(node)]:
        if key in table and (value := table[key]) is not None:
            found += value if type(value) is list else [value]
    return found if None not in found else [child for child in found if child is not None]


def walk(node: Node) -> tuple[Node, ...]:
    """All nodes below `node`, itself included, in the order of the text; operators and contexts are left out."""
    return walk_of(node).nodes if type(node) not in SIMPLE else (node,)


def parsed_nodes(tree: ast.AST) -> list[ast.AST]:
    """All nodes of one of Python's own trees, level by level; operators and contexts are left out.

    >>> [type(node).__name__ for node in parsed_nodes(ast.parse("f(a + 1)").body[0])]
    ['Expr', 'Call', 'Name', 'BinOp', 'Name', 'Constant']
    """
    found = [tree]
    for node in found:  # it grows meanwhile
        found += parsed_children(node)
    return found


def parsed_children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one of Python's own, operators and contexts left out."""
    found: list[ast.AST] = []
    table = node.__dict__
    for key in _BELOW[type(node)]:
        if key in table and (value := table[key]) is not None:
            found += value if type(value) is list else [value]
    return [item for item in found if item is not None] if None in found else found


def holds(node: Node, *sought: type) -> bool:
    """Whether there is a node of one of these kinds below `node`, itself included."""
    return not kinds(node).isdisjoint(sought)


def find_nodes(node: Node, *sought: type[N]) -> list[N]:
    """The nodes of these kinds below `node`, itself included, in the order of the text.

    >>> [n.func.id for n in find_nodes(expression("f(g(x) + 1.0)"), gast.Call)], find_nodes(expression("x"), gast.Call)
    (['f', 'g'], [])
    """
    found = walk_of(node)
    if found.kinds.isdisjoint(sought):
        return []
    nodes: list[Any] = found.sought.get(sought) or [item for item in found.nodes if type(item) in sought]
    found.sought[sought] = nodes
    return nodes.copy()


def bound_in_expressions(node: Node) -> list[Node]:
    """The `(name := e)` in a statement's own header, whose names `stores` does not have."""
    return [one for part in header(node) for one in find_nodes(part, gast.NamedExpr)]


BLOCKS = ("body", "orelse", "finalbody")
COMPOUND = (gast.If, gast.For, gast.While, gast.FunctionDef, gast.With)
_HOLD = frozenset(COMPOUND)


def header(node: Node) -> list[Node]:
    """The parts of a statement that are evaluated by itself, not by the blocks that it holds."""
    kind = type(node)
    if kind is gast.If or kind is gast.While:
        return [node.test]
    if kind is gast.For:
        return [node.iter, node.target]
    return [] if kind is gast.FunctionDef else [node]


def loads(node: Node) -> tuple[str, ...]:
    """Names read by a statement's own header or by an expression, in order, with repetition."""
    kind = type(node)
    if kind is gast.Assign:  # most statements
        return reads(node)
    if kind is gast.For:
        return reads(node.iter) + reads(node.target)
    if kind is gast.FunctionDef:
        return ()
    found = reads(node.test if kind is gast.If or kind is gast.While else node)
    return (*found, node.target.id) if kind is gast.AugAssign and type(node.target) is gast.Name else found


def stores(node: Node) -> list[str]:
    """Names bound by a statement's own header, in order."""
    kind = type(node)
    if kind is gast.Assign:
        parts, value = node.targets, node.value
        if type(parts[0]) is gast.Name and parts[-1] is parts[0]:  # most statements
            bound = [parts[0].id]
            return bound + _popped_list(value) if type(value) is gast.Call and not value.args else bound
        if type(parts[0]) is gast.Subscript and parts[-1] is parts[0] and _is_plain_part(parts[0]):
            return written_names(node)
    elif kind is gast.For or kind is gast.AugAssign or kind is gast.AnnAssign:
        parts = [node.target]
        if type(parts[0]) is gast.Name:
            return [parts[0].id] if kind is gast.For else [parts[0].id, *written_names(node)]
        if type(parts[0]) is gast.Subscript and _is_plain_part(parts[0]):
            return written_names(node)
    elif kind is gast.If or kind is gast.While:
        return []
    elif kind is gast.FunctionDef:
        return [node.name]
    else:
        return written_names(node)
    items = parts[0].elts if len(parts) == 1 and type(parts[0]) is gast.Tuple else parts
    if _NAMES.issuperset(map(type, items)):
        return [*[item.id for item in items], *written_names(node)]
    tables = [table for part in parts for table in walk_of(part).names]
    return [table["id"] for table in tables if type(table["ctx"]) is gast.Store] + written_names(node)


def _is_plain_part(part: Node) -> bool:
    """Whether a part binds no name on the way, as `a[(i := 0)]` does: `a[i]`, `a[0]`."""
    return type(part.value) is gast.Name and type(part.slice) in _PLAIN_INDEX


_PLAIN_INDEX = frozenset([gast.Name, gast.Constant])


def written_names(node: Node) -> list[str]:
    """Names whose contents a generated statement changes: `x_bar[i] += e`, `h_stack.append(h)`, `h = h_stack.pop()`."""
    kind = type(node)
    if kind is gast.Assign or kind is gast.AugAssign:
        popped = _popped_list(node.value) if type(node.value) is gast.Call else []
        targets = node.targets if kind is gast.Assign else [node.target]
        found: list[str] = []
        for part in targets:
            base = root(part) if type(part) is gast.Subscript else None
            if base is not None:
                found.append(base.id)
        return found + popped
    if kind is gast.Expr and type(node.value) is gast.Call:
        function = node.value.func
        if isinstance(function, gast.Attribute) and function.attr == "append":
            return [function.value.id] if isinstance(function.value, gast.Name) else []
        if _popped_list(node.value):
            return _popped_list(node.value)
        scatter = isinstance(function, gast.Attribute) and function.attr == "at"
        if scatter or (isinstance(function, gast.Name) and function.id.rstrip("_") == "add_at"):
            return [node.value.args[0].id] if isinstance(node.value.args[0], gast.Name) else []
    return []


def root(part: Node) -> Node | None:
    """The name of the array of which an expression is a part: `a` of `a.T[1:][0]`; None if there is none."""
    kind = type(part)
    while kind is not gast.Name:
        if kind is not gast.Subscript and kind is not gast.Attribute and kind is not gast.Call:
            return None
        part = part.func if kind is gast.Call else part.value
        kind = type(part)
    return part


def is_write(node: Node) -> bool:
    """Whether a statement stores into a part of a named array: `a[i] = e`, `a[i] += e`."""
    kind = type(node)
    if kind is not gast.AugAssign and (kind is not gast.Assign or len(node.targets) != 1):
        return False
    part = node.target if kind is gast.AugAssign else node.targets[0]
    return type(part) is gast.Subscript and root(part) is not None


def part_written(node: Node) -> Node:
    """The part of an array that a write stores into."""
    return node.targets[0] if type(node) is gast.Assign else node.target


def _popped_list(call: Node) -> list[str]:
    """The list that `h_stack.pop()` takes from."""
    function = call.func
    if type(function) is gast.Attribute and function.attr == "pop" and not call.args:
        return [function.value.id] if isinstance(function.value, gast.Name) else []
    return []


def statements(block: Block) -> Block:
    """Every statement of a block, nested ones after the one that holds them, in the order of the text."""
    if _HOLD.isdisjoint(map(type, block)):
        return list(block)
    found: Block = []
    todo = [iter(block)]  # what is left of blocks
    while todo:
        rest = todo.pop()
        for node in rest:
            found.append(node)
            if type(node) in _HOLD:
                table = node.__dict__
                todo += [rest, *[iter(table[field]) for field in BLOCKS[::-1] if field in table]]
                break
    return found


def called_name(node: Node | None) -> str:
    """The name of what a call calls; an empty string for anything else, and for a function without a name here."""
    return node.func.id if type(node) is gast.Call and type(node.func) is gast.Name else ""


def target(node: Node) -> str | None:
    """The name that an assignment `name = ...` binds; None for any other statement."""
    if type(node) is gast.Assign:
        bound = node.targets[0]
        if type(bound) is gast.Name and node.targets[-1] is bound:
            made: str = bound.id
            return made
    return None


def adds_to(node: Node, held: str, scatters: Callable[[Node], bool]) -> bool:
    """Whether a statement is `h = h + e`, `h -= e`, `h[i] += e` or `add_at(h, i, e)`, with e and i free of h.

    `scatters` tells whether a call is one of `add_at`.
    """
    value: Node = getattr(node, "value", node)
    if isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add | gast.Sub):
        others = [value, *([node.target.slice] if isinstance(node.target, gast.Subscript) else [])]
        return held in (*stores(node), *written_names(node)) and not any(held in loads(part) for part in others)
    if target(node) == held and isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add | gast.Sub):
        return getattr(value.left, "id", "") == held and held not in loads(value.right)
    if not isinstance(node, gast.Expr) or written_names(node) != [held] or not scatters(value):
        return False
    return not any(held in loads(argument) for argument in value.args[1:])


def is_self_copy(node: Node) -> bool:
    """`x = x`"""
    bound = target(node)
    return bound is not None and isinstance(node.value, gast.Name) and node.value.id == bound


def same_tree(one: Node, other: Node) -> bool:
    """Whether two trees spell the same, positions apart."""
    todo: list[tuple[Any, Any]] = [(one, other)]  # nodes, lists of nodes and plain values
    while todo:
        one, other = todo.pop()
        if one is other:
            continue
        if type(one) is not type(other):
            return False
        if isinstance(one, list):
            if len(one) != len(other):
                return False
            todo += zip(one, other, strict=True)
        elif isinstance(one, gast.AST):
            own, its = one.__dict__, other.__dict__
            pairs = [(own.get(key), its.get(key)) for key in one._fields]
            todo += [pair for pair in pairs if pair[0] is not pair[1]]
        elif repr(one) != repr(other):  # 0.0 is not -0.0
            return False
    return True


def is_docstring(node: Node) -> bool:
    """Whether a statement is a text, or another constant: a docstring, where it is the first."""
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)


def after_docstring(function: Node) -> int:
    """Where in the body of a function its first statement stands."""
    return int(is_docstring(function.body[0]))


def names_in(node: Node) -> set[str]:
    """The names that are read or bound below a node."""
    return {table["id"] for table in walk_of(node).names}


def every_parameter(function: Node) -> list[Node]:
    """The parameters of a function, as its tree has them; those that take several arguments apart."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def bound_names(order: Iterable[Node]) -> set[str]:
    """Names that statements bind, not those of which a part is written: `result = model.pop()` binds `result`."""
    return {s for n in order for s in stores(n) if s not in written_names(n) or s == target(n)}


def parameters(function: Node) -> list[str]:
    """Names of a function's parameters, in order."""
    return [a.id for a in every_parameter(function)]


def all_given(function: Node) -> list[str]:
    """The same, and the names of `*args` and `**kwargs`."""
    several = (function.args.vararg, function.args.kwarg)
    return [*parameters(function), *(one.id for one in several if one is not None)]


def given_by_place(function: Node) -> list[str]:
    """Names of the parameters that a call may give by place, in order."""
    return [a.id for a in function.args.posonlyargs + function.args.args]


def defaults_of(function: Node) -> dict[str, Node]:
    """The defaults of a function's parameters, by the names of these."""
    places, arguments = given_by_place(function), function.args
    late = places[len(places) - len(arguments.defaults) :]
    named = zip([a.id for a in arguments.kwonlyargs], arguments.kw_defaults, strict=True)
    return {
        one: default for one, default in [*zip(late, arguments.defaults, strict=True), *named] if default is not None
    }


def own_names(function: Node) -> frozenset[str]:
    """Parameters and names that a function binds, what is nested in it apart."""
    names = set(all_given(function))
    bound = [n for node in function.body for n in find_nodes(node, gast.Name)]
    return frozenset(names | {n.id for n in bound if isinstance(n.ctx, gast.Store)})


def required_words(function: Node) -> list[str]:
    """Parameters that a call has to name: of a derivative its seeds or tangents.

    >>> required_words(gast.parse("def f_pull(x, *, t=3.0, y_bar): pass").body[0])
    ['y_bar']
    """
    given = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [one.id for one, default in given if default is None]


Definition = ast.FunctionDef | ast.AsyncFunctionDef


def definitions(tree: ast.Module) -> Iterator[Definition]:
    """The definitions of functions wherever they stand; expressions, which hold none, are not looked at.

    >>> text = "class A:\\n    def f(self):\\n        def g(): pass\\ndef h(): pass"
    >>> [node.name for node in definitions(ast.parse(text))]
    ['h', 'f', 'g']
    """
    todo: list[ast.AST] = list(tree.body)
    for node in todo:  # it grows meanwhile: what stands further in comes later
        if isinstance(node, Definition):
            yield node
        for block in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, block, None)
            todo.extend(inner if isinstance(inner, list) else [])


UNDECIDED = object()


def literal_integer(node: Node | None) -> int | None:
    """The integer that a literal spells; None for anything else."""
    value = None if node is None else literal_of(node)
    return value if type(value) is int else None


def literal_of(node: Node, otherwise: object = UNDECIDED) -> Any:
    """The value of a literal; for anything else UNDECIDED, or what is to stand for that."""
    try:
        return literal_value(node)
    except (ValueError, TypeError, SyntaxError):
        return otherwise


def literal_bounds(part: Node) -> tuple[Any, Any, Any] | None:
    """The bounds and the step of a slice, if they are literals or left out."""
    lower, upper, step = (None if one is None else literal_of(one) for one in (part.lower, part.upper, part.step))
    return None if UNDECIDED in (lower, upper, step) else (lower, upper, step)


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
    >>> from srcgrad.core.printer import expression as spell
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
    bounds = literal_bounds(part)
    if bounds is None:
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
    if type(node) is not gast.Assign or type(node.targets[0]) is not gast.Tuple or len(node.targets) != 1:
        return False
    parts = [*node.targets[0].elts, *getattr(node.value, "elts", [None])]
    if not isinstance(node.value, gast.Tuple) or not all(isinstance(part, gast.Name) for part in parts):
        return False
    bound, read = [p.id for p in node.targets[0].elts], [p.id for p in node.value.elts]
    return sorted(bound) == sorted(read) and len(set(bound)) == len(bound)


def open_stars(tree: Node, items: list[str], words: dict[str, str]) -> bool:
    """Write the names that `*args` and `**kwargs` of a function stand for into its calls; whether that is all it does.

    Its body may read `args` as a tuple, too; what it else does with `kwargs` is left as it is.

    >>> tree = parse_tree("def f(*args, **kwargs):\\n    return g(*args, **kwargs) * len(args)").body[0]
    >>> open_stars(tree, ["a", "b"], {"k": "k"}), gast.unparse(tree.body[0])
    (True, 'return g(a, b, k=k) * len((a, b))')
    """
    spread, named = (getattr(one, "id", "") for one in (tree.args.vararg, tree.args.kwarg))
    nodes = [n for s in tree.body for n in walk(s)]
    stored = {n.id for n in nodes if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    if stored & {spread, named} - {""} or any(isinstance(n, gast.FunctionDef | gast.Lambda) for n in nodes):
        return False
    handed = words_handed_on(tree, named, {key: name(held) for key, held in words.items()}) if named else None
    for node in [n for s in tree.body for n in walk(s)]:
        for key in ("args", "elts"):
            parts = getattr(node, key, None)
            if isinstance(parts, list):
                setattr(node, key, [one for part in parts for one in _opened(part, spread, items)])
        if isinstance(node, gast.Call) and handed is not None:
            node.keywords = [one for word in node.keywords for one in named_words(word, named, handed)]
    shown = gast.Tuple([name(one) for one in items], gast.Load())
    for statement in tree.body if spread else []:
        for node in walk(statement):
            for key, part in list(node.__dict__.items()):
                if isinstance(part, gast.Name) and part.id == spread:
                    setattr(node, key, at(copy(shown), part))
                elif isinstance(part, list):
                    setattr(node, key, [at(copy(shown), p) if getattr(p, "id", "") == spread else p for p in part])
    return not named or all(getattr(n, "id", "") != named for s in tree.body for n in walk(s))


def _opened(part: Node, spread: str, items: list[str]) -> Block:
    if spread and isinstance(part, gast.Starred) and getattr(part.value, "id", "") == spread:
        return [at(name(one), part) for one in items]
    return [part]


def named_words(word: gast.keyword, named: str, words: dict[str, Node]) -> list[gast.keyword]:
    """`**options` of which the keys are known as `a=a`."""
    if word.arg is None and getattr(word.value, "id", "") == named:
        return [at(gast.keyword(key, at(copy(held), word.value)), word.value) for key, held in words.items()]
    return [word]


_ASKING = ("len", "dict", "list", "tuple", "set", "sorted", "bool", "any", "all", "print", "repr", "str", "isinstance")
_KEPT = ("get", "items", "keys", "values", "copy")  # methods by which a dict stays as it is


def words_handed_on(tree: Node, held: str, words: dict[str, Node]) -> dict[str, Node] | None:
    """What `**held` of a function hands on, of what it was given by name; None if the function changes that dict.

    `held.pop("k", 1.0)`, before all else and in any case, is what was given for k, which is not handed on then.

    >>> tree = parse_tree("def f(**o):\\n    k = o.pop('k', 2.0)\\n    return g(k, **o)").body[0]
    >>> list(words_handed_on(tree, "o", {"k": name("k_1"), "j": name("j")})), gast.unparse(tree.body[0])
    (['j'], 'k = k_1')
    >>> words_handed_on(parse_tree("def f(**o):\\n    o['k'] = 1.0\\n    return g(**o)").body[0], "o", {})
    """
    nodes = [n for s in tree.body for n in walk(s)]
    reads = [n for n in nodes if isinstance(n, gast.Name) and n.id == held]
    pops = {call.func.value: (place, call) for place, s in enumerate(tree.body) for call in _pops(s, held)}
    stars = [n.value for n in nodes if isinstance(n, gast.keyword) and n.arg is None]
    keys = [call.args[0].value for _, call in pops.values()]
    if pops:
        first = min(
            [place for place, s in enumerate(tree.body) if any(n in stars for n in walk(s))], default=len(tree.body)
        )
        early = all(place < first for place, _ in pops.values()) and len(set(keys)) == len(keys)
        if not early or any(one not in pops and one not in stars for one in reads):
            return None
        for statement in tree.body:
            for node in walk(statement):
                for field, part in list(node.__dict__.items()):
                    if isinstance(part, gast.Call) and part.func in [c.func for _, c in pops.values()]:
                        setattr(node, field, at(copy(words.get(str(literal_value(part.args[0])), part.args[1])), part))
        return {key: value for key, value in words.items() if key not in keys}
    fine = [*stars, *(n.value for n in nodes if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Load))]
    fine += [n.value for n in nodes if isinstance(n, gast.Attribute) and n.attr in _KEPT]
    fine += [part for n in nodes if isinstance(n, gast.Compare) for part in n.comparators]
    fine += [part for n in nodes if isinstance(n, gast.For | gast.comprehension) for part in (n.iter,)]
    fine += [n.test for n in nodes if isinstance(n, gast.If | gast.IfExp)]
    fine += [
        part for n in nodes if isinstance(n, gast.Call) and getattr(n.func, "id", "") in _ASKING for part in n.args
    ]
    fine += [n.operand for n in nodes if isinstance(n, gast.UnaryOp)]
    fine += [v for n in nodes if isinstance(n, gast.Dict) for k, v in zip(n.keys, n.values, strict=True) if k is None]
    return words if all(isinstance(n.ctx, gast.Load) and any(n is one for one in fine) for n in reads) else None


def _pops(statement: Node, held: str) -> list[Node]:
    """The calls `held.pop("k", e)` of a statement that are made in any case."""
    value = statement.value if isinstance(statement, gast.Assign | gast.Expr) else None
    call = value if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) else None
    fits = call is not None and call.func.attr == "pop" and getattr(call.func.value, "id", "") == held
    return (
        [call] if call is not None and fits and len(call.args) == 2 and isinstance(call.args[0], gast.Constant) else []
    )
