"""What the rewriting of one function needs to know, and how its names stay apart from others.

Which expressions may be evaluated again, which calls change a list, and names of one scope in the text of another: each
goes on meaning what it meant where it stood.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from typing import (
    TYPE_CHECKING,
    Any,  # helpers are arbitrary functions
)

import gast
import numpy as np

from srcgrad.core.bindings import Binding
from srcgrad.core.facts import Facts
from srcgrad.core.identity import record
from srcgrad.core.namespace import Namespace, Overlay, found_in
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    children,
    expression,
    find_nodes,
    header,
    literal_value,
    name,
    names_in,
    own_names,
    parse_tree,
    placed,
    required_words,
    statements,
    stores,
    substitute,
    walk,
)
from srcgrad.frontend.early_facts import reads_varied
from srcgrad.frontend.resolve import binding_of
from srcgrad.runtime.odes import doubled, flow_adjoint, method_of, states, tangent_size
from srcgrad.runtime.roots import check_numbers, check_slopes, check_steady
from srcgrad.runtime.structure import zeros_like

if TYPE_CHECKING:
    from srcgrad.frontend.calls.functions import Function


TAKES = ("pop", "popitem", "setdefault")  # methods of lists and dicts that give what they held, and change them
CHANGES = (*TAKES, "append", "clear", "extend", "insert", "remove", "reverse", "sort", "update")


def is_change(node: Node, bound: str) -> bool:
    """Whether a statement changes the list that a name holds: `out.append(e)`, `e = out.pop()`."""
    call = node.value if isinstance(node, gast.Expr | gast.Assign) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
        return False
    held = call.func.value
    return isinstance(held, gast.Name) and held.id == bound and call.func.attr in ("append", "pop")


def changed_lists(node: Node) -> list[str]:
    """Names of which a part of a statement changes the list: `s += out.pop()`."""
    calls = [n for part in header(node) for n in find_nodes(part, gast.Call)]
    held = [n.func.value for n in calls if isinstance(n.func, gast.Attribute) and n.func.attr in ("append", "pop")]
    return [one.id for one in held if isinstance(one, gast.Name)]


def unused_result(call: Node, local: frozenset[str]) -> tuple[str, str]:
    """Why a call whose result is not used is refused, and what to do."""
    held = getattr(call.func, "value", None)
    if isinstance(held, gast.Name) and held.id in local and call.func.attr in ("append", "extend", "insert", "pop"):
        return (
            f"`{held.id}` changes by `.{call.func.attr}()`, and is not a list of this function all along",
            "begin it by `[]` here, and give what is made of it, or stands for it, a name of its own",
        )
    if isinstance(held, gast.Name) and held.id in local and not hasattr(np.ndarray, call.func.attr):
        return (
            f"`.{call.func.attr}()` may change the object `{held.id}`, and that is not accepted",
            f"keep what it holds in a list: `{held.id} = [*{held.id}, ...]`; or let it return new values",
        )
    return (
        "a call whose result is not used is not accepted: it may change its arguments",
        "bind the result to a name; print, warnings and logging are accepted",
    )


HELPERS = {
    "np": np,
    "check_numbers": check_numbers,
    "check_slopes": check_slopes,
    "check_steady": check_steady,
    "doubled": doubled,
    "flow_adjoint": flow_adjoint,
    "method_of": method_of,
    "states": states,
    "tangent_size": tangent_size,
    "zeros_like": zeros_like,
}


class Call:
    """One such call: its arguments by name, and the statements that take its place."""

    def __init__(self, arguments: tuple[str, ...], call: Node, where: Node, before: Block, work: Rewriting) -> None:
        self.where, self.before, self.work = where, before, work
        self.parts: dict[str, Any] = dict(zip(arguments, call.args, strict=True))
        words = {word.arg: word.value for word in call.keywords}
        places = literal_value(words.pop("places")) if "places" in words else None
        args = self.parts.pop("args")
        self.known = isinstance(args, gast.Tuple) or getattr(args, "value", args) is None
        if not self.known:
            return
        self.elements: list[Node] = list(getattr(args, "elts", []))
        self.count = len(self.elements)
        self.places: tuple[int, ...] = tuple(range(self.count)) if places is None else places
        derivative = binding_of(self.parts["derivative"], work.facts, work.facts.names.local)
        self.words: list[str] = []
        if derivative is not None and work.facts.module is not None:
            function = derivative.static if derivative.static is not None else derivative.object
            self.words = required_words(work.facts.module.source(function)[0].tree)
        dots = self.parts.pop("dots", None)
        self.parts |= {f"_{k}": one for k, one in enumerate(self.elements)}
        self.parts |= {f"_{k}_dot": one for k, one in enumerate(getattr(dots, "elts", []))}
        self.primals = "".join(f", _{k}" for k in range(self.count))
        self.given = words
        self.parts |= {f"given_{word}": value for word, value in words.items()}
        self.options = "".join(f", {word}=given_{word}" for word in words)

    def write(self, text: str, **facts: object) -> None:
        """Add statements, in which names mean the arguments of the call, names of their own, and functions of ours."""
        block = parse_tree(text.format(**{"primals": self.primals, "options": self.options, **facts})).body
        for node in block:
            made = substitute(node, self._fresh(node))
            for item in walk(made):
                at(item, self.where)
            self.work.facts.origin.foreign.update(dict.fromkeys(statements([made])))
            self.before.append(made)

    def _fresh(self, node: Node) -> dict[str, Any]:
        """What names mean in a statement, with new ones for those that it binds."""
        bound = [one for each in statements([node]) for one in stores(each)]
        if isinstance(node, gast.FunctionDef):
            bound += [n.id for n in find_nodes(node, gast.Name) if not isinstance(n.ctx, gast.Load)]
        own = {p.id for n in find_nodes(node, gast.Lambda) for p in n.args.args}  # and what is put into it
        put = [part for part in self.parts.values() if isinstance(part, gast.AST)] if own else []
        bound += [one for part in put for one in sorted(names_in(part) & own)]
        for one in bound:
            if one not in self.parts:
                self.parts[one] = self.work.facts.names.new_local(one)
        if isinstance(node, gast.FunctionDef):
            node.name = self.parts[node.name]
        for helper in names_in(node) & set(HELPERS):
            self.parts.setdefault(helper, self.work.facts.library_in_text(helper, HELPERS[helper]))
        return self.parts

    def dots(self, words: list[str], value: str) -> str:
        """The keywords of a derivative that takes tangents."""
        return "".join(f", {word}={value.format(k)}" for word, k in zip(words, self.places, strict=True))

    def entry_per_argument(self, made: dict[int, str]) -> str:
        """A tuple with one entry for each argument, None for those that have no adjoint."""
        return "(" + "".join(f"{made.get(k)}, " for k in range(self.count)) + ")"

    def result(self, text: str) -> Node:
        """An expression over the names of the statements."""
        return expression(text, **self.parts)


@record
class Scope:
    """What the rewriting of one function needs to know: its facts, its local names, the open block."""

    facts: Facts
    local: frozenset[str]
    arrays: frozenset[str] = frozenset()  # arrays that are written into
    block: Block = field(default_factory=list)
    user: Node | None = None

    def emit(self, node: Node) -> None:
        """Append a statement that stands for (a part of) the user's statement."""
        assert self.user is not None, "statements come from one of the user's"
        at(node, self.user)
        self.facts.origin.user[node] = self.user
        self.block.append(node)

    def new_temporary(self) -> str:
        """A fresh name for the value of a subexpression."""
        return self.facts.names.new_temporary()

    def may_vary(self, node: Node) -> bool:
        """Whether the expression may depend on a differentiated input."""
        return reads_varied(node, self.facts.activity.varied, self.facts, self.local)


_CHEAP = (
    gast.Name, gast.Constant, gast.Attribute, gast.Subscript, gast.Tuple, gast.List, gast.BinOp, gast.UnaryOp,
    gast.Slice, gast.Compare, gast.operator, gast.unaryop, gast.cmpop, gast.expr_context,
)  # fmt: skip


def cheap(node: Node) -> bool:
    """Whether an expression that carries no derivative may be evaluated again where it is needed."""
    return all(isinstance(item, _CHEAP) for item in walk(node))


_LONG = 4  # operations, indices among them: `x.shape[1] * (x.shape[0] - 1)`


def is_long(node: Node) -> bool:
    """Whether arithmetic takes so much to write, and to do, that it has a name where both halves need it."""
    if not isinstance(node, gast.BinOp | gast.UnaryOp):
        return False
    return sum(isinstance(item, gast.BinOp | gast.Subscript) for item in walk(node)) >= _LONG


def scope_names(function: Node) -> frozenset[str]:
    """Names of a function's own scope: not those of functions, lambdas and comprehensions in it."""
    arguments = function.args
    found = {a.id for a in find_nodes(arguments, gast.Name) if isinstance(a.ctx, gast.Param)}
    todo = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, gast.FunctionDef | gast.ClassDef):
            found.add(node.name)
        elif isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            found.add(node.id)
        elif isinstance(node, gast.comprehension):
            todo += [node.iter, *node.ifs]
        elif not isinstance(node, gast.Lambda):
            todo += children(node)
    return frozenset(found)


@record
class StatementBuilder:
    """What a rewriting of one function makes: statements at the user's line, names of its own, refusals."""

    facts: Facts

    def name(self, stem: str) -> str:
        """A fresh local name."""
        return self.facts.names.new_local(stem)

    def own(self, node: Node, like: Node) -> Node:
        """A statement that is not as the user wrote it, at the line of one that is."""
        return own_statement(node, like, self.facts)

    def bind(self, target: str, value: Node, like: Node) -> Node:
        """`target = value`"""
        return self.own(gast.Assign([name(target, gast.Store())], value, None), like)

    def refuse(self, node: Node, what: str, remedy: str) -> Exception:
        """E5005 at a node."""
        return self.facts.refuse(node, "E5005", what, remedy)


@record
class Rewriting(StatementBuilder):
    """The rewriting of one function into plain spelling."""

    blocks: Callable[[Block, Rewriting], Block]  # the rewriting of a block
    lists: dict[str, str] = field(default_factory=dict)  # names that hold lists and dicts of their own
    mixed: set[str] = field(default_factory=set)  # those of them that are bound to something else as well
    written: frozenset[str] = frozenset()  # arrays of which parts are written
    used: frozenset[str] = frozenset()  # names of the function, those of comprehensions apart
    made: frozenset[str] = frozenset()  # fresh names
    bound: frozenset[str] = frozenset()  # names that statements bind, parameters among them where they do
    given: frozenset[str] = frozenset()  # parameters
    of_arguments: frozenset[Node] = frozenset()  # reads of parameters that are bound anew, where they may be arguments
    varied: frozenset[str] = frozenset()  # parameters, and names that are bound to what depends on them
    moved: frozenset[str] = frozenset()  # names that `wrt` may move, where something is made a tuple
    options: dict[str, Node] = field(default_factory=dict)  # dicts that calls unpack, by name

    def block(self, block: Block) -> Block:
        """A block in plain spelling."""
        return self.blocks(block, self)

    def library(self, identifier: str, value: object = None) -> str:
        """How the text spells a library name, which means that library's function from here on."""
        return self.facts.library_in_text(identifier, value)

    def name(self, stem: str) -> str:
        """A fresh local name."""
        made = super().name(stem)
        self.made |= {made}
        return made


def own_statement(node: Node, like: Node, facts: Facts) -> Node:
    """A statement that is not as the user wrote it, at the line of one that is."""
    facts.origin.foreign[node] = None
    return at(placed(node, like), like)


def read_outside(function: Node, local: Collection[str]) -> dict[str, None]:
    """The names of a function that mean what is outside of it, in the order of the text."""
    names = [n for node in function.body for n in find_nodes(node, gast.Name)]
    return {n.id: None for n in names if n.id not in local}


def read_alone(function: Node) -> dict[str, None]:
    """The names that a function, or one in it, reads, and that neither binds: each means one thing outside."""
    names = find_nodes(function, gast.Name)
    bound = {n.id for n in names if not isinstance(n.ctx, gast.Load)}
    bound |= {n.name for n in find_nodes(function, gast.FunctionDef, gast.ClassDef)}
    return {n.id: None for n in names if n.id not in bound}


def read_by_both(function: Node, inner: Namespace, outer: Namespace) -> dict[str, None]:
    """The names that the text around reads from outside, and that mean the same where a function does not have them."""
    assert isinstance(outer, Overlay), "an overlay was put there"
    own = names_in(function)
    own |= {n.name for n in find_nodes(function, gast.FunctionDef, gast.ClassDef)}
    known = {n: outer.lookup(n) for n in outer.read if n not in own}
    return {n: None for n, meant in known.items() if meant is not None and is_same(meant, inner.lookup(n))}


def name_in_receiver(
    stem: str,
    meant: Binding,
    facts: Facts,
    local: Collection[str],
    home: tuple[Namespace, str] | None = None,
    taken: Collection[str] | None = None,
) -> str:
    """How the receiving text spells what `stem` means in another scope, or what is known by its value alone.

    The name itself, if nothing else goes by it there; else one that is new, and that stands for the same. `home` is
    where the name is looked up, and `taken` are the names that the text had before.
    """
    overlay = facts.namespace
    assert isinstance(overlay, Overlay), "an overlay was put there"
    home = home and found_in(*home)
    known = overlay.lookup(stem)
    taken = facts.names.taken if taken is None else taken
    free = stem not in local and stem not in facts.names.local and (stem in overlay.read or stem not in taken)
    if free and is_same(meant, known):
        overlay.read[stem] = None
        facts.names.taken.add(stem)
        return stem
    for spelled, other in overlay.extra.items():
        if spelled in overlay.read and is_same(meant, other) and _is_home(home, overlay.homes.get(spelled), meant):
            return spelled
    spelled = stem if free and known is None else facts.names.numbered_name(stem)
    facts.names.taken.add(spelled)
    overlay.extra[spelled], overlay.read[spelled] = meant, None
    if home is not None:
        overlay.homes[spelled] = home
    return spelled


def _is_home(one: tuple[Namespace, str] | None, other: tuple[Namespace, str] | None, meant: Binding) -> bool:
    """Whether one spelling will do for both: a value that is known as text alone is known by its name."""
    if one is None or other is None or meant.kind != "value":
        return meant.kind != "value" and (one is None or other is None or one[1] == other[1])
    return one[0] is other[0] and one[1] == other[1]


def names_brought_along(functions: Iterable[Function]) -> dict[str, None]:
    """The names of the caller that functions which it hands on bring along: objects, arguments given before."""
    parts = [part for one in functions for part in (*one.args, *one.words.values())]
    return {n.id: None for part in parts for n in find_nodes(part, gast.Name)}


def names_of_callees(tree: Node, functions: Mapping[str, Function]) -> dict[str, None]:
    """The names in the texts of functions around a function which it calls, itself or through others."""
    found: dict[str, None] = {}
    todo, seen = [tree], {id(tree)}
    while todo:
        for one in {n.id: None for n in find_nodes(todo.pop(), gast.Name)}:
            known = functions.get(one)
            if known is not None:
                found.update(names_brought_along([known]))
            if known is not None and known.tree is not None and id(known.tree) not in seen:
                seen.add(id(known.tree))
                todo.append(known.tree)
                found.update({n.id: None for n in find_nodes(known.tree, gast.Name)})
    return found


def move_apart(
    tree: Node, inner: Facts, theirs: Collection[str], outer: Collection[str], facts: Facts
) -> dict[str, str]:
    """Rename what a function binds, or reads from outside, by a name that functions which it gets have as well.

    `outer` are names that it shares with the function around it.
    """
    defined = [n for n in find_nodes(tree, gast.FunctionDef, gast.ClassDef) if n is not tree]
    own = own_names(tree) | {n.name for n in defined}
    moved = {
        n: inner.names.numbered_name(n)
        for n in own
        if n in theirs and n not in inner.names.functions and n not in outer
    }
    overlay = inner.namespace
    assert isinstance(overlay, Overlay), "an overlay was put there"
    for identifier in read_outside(tree, own | set(outer)):
        meant = overlay.lookup(identifier) if identifier in theirs and identifier not in inner.names.functions else None
        hidden = identifier in facts.names.local or identifier in facts.names.around
        known = None if hidden else facts.namespace.lookup(identifier)
        if meant is not None and not is_same(meant, known):
            moved[identifier] = inner.names.numbered_name(identifier)
            overlay.extra[moved[identifier]] = meant
            overlay.homes[moved[identifier]] = overlay.base, identifier
    for item in walk(tree):
        if isinstance(item, gast.Name) and item.id in moved:
            item.id = moved[item.id]
    for one in defined:
        one.name = moved.get(one.name, one.name)
    inner.names.local = own_names(tree)
    return moved


def bring_names(theirs: Iterable[str], inner: Facts, facts: Facts) -> None:
    """Let names of the caller that are global there mean the same in the function that gets them."""
    overlay = inner.namespace
    assert isinstance(overlay, Overlay), "an overlay was put there"
    for identifier in theirs:
        hidden = identifier in facts.names.local or identifier in facts.names.around
        meant = None if hidden else facts.namespace.lookup(identifier)
        if meant is not None:
            overlay.extra[identifier] = meant
            overlay.homes[identifier] = facts.namespace, identifier


def is_same(one: Binding, other: Binding | None) -> bool:
    """Whether two names mean the same; two values known as text are the same in one module only."""
    if other is None or one.kind != other.kind or one.reason != other.reason:
        return False
    if one.kind == "object":
        return one.object is other.object
    return one.static is other.static and one.module is other.module and one.expression == other.expression
