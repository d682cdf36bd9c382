"""Generators, and context managers made of them, written out where they are consumed.

`for v in g(x): ...` is the body of `g` with `v = e` and the body of the loop in the place of each `yield e`: so both
run in turn, as Python runs them, and a loop that is left early leaves the generator where it is. `list(g(x))` and
`sum(g(x))` take a list that such a loop fills. What is resumed elsewhere than in one loop is refused.
"""

from __future__ import annotations

import builtins
import contextlib
import inspect
from dataclasses import field
from types import FunctionType

import gast
import numpy as np

from srcgrad.core.bindings import Binding, StaticFunction
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import UNKNOWN, Facts
from srcgrad.core.identity import record
from srcgrad.core.namespace import Namespace, Overlay
from srcgrad.core.rules import is_composition, iterator_of, rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    children,
    copy,
    defaults_of,
    expression,
    find_nodes,
    given_by_place,
    holds,
    literal_node,
    name,
    own_names,
    parameters,
    same_tree,
    statement,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import replace, rewrite_parts
from srcgrad.frontend.calls.functions import Function, function_of
from srcgrad.frontend.calls.inline_call import default_of
from srcgrad.frontend.context import StatementBuilder, is_same
from srcgrad.frontend.desugar.compound_statements import twins, with_end
from srcgrad.frontend.early_facts import reads_varied, varied_names
from srcgrad.frontend.rename_variables import COMPREHENSIONS
from srcgrad.frontend.resolve import binding_of, object_of

_YIELDS = (gast.Yield, gast.YieldFrom)
_FUNCTIONS = (gast.FunctionDef, gast.Lambda, gast.ClassDef)
_LOOPS = (gast.For, gast.While)
_PARTS = ("body", "orelse", "finalbody")
_ALL = (sum, list, tuple, sorted, max, min, set, dict, np.array, np.fromiter, np.sum)  # consume what they are given
_MOST = 3  # places where the body of a loop may stand


@record
class _Called:
    """A generator that a call makes: its text, and what each parameter gets."""

    tree: Node
    given: dict[str, Node]
    namespace: Namespace | None
    name: str
    of_python: bool = False  # an iterator of Python's own


@record
class _Work(StatementBuilder):
    """The function in which generators are written out, and those that it defines."""

    function: Node
    inner: dict[str, Node]  # generators that the function defines
    open: list[int] = field(default_factory=list)  # generators that are being written out
    varied: dict[str, None] | None = None  # names that may depend on the inputs, once somebody has asked


def generators(function: Node, facts: Facts) -> Node:
    """Write out generators where they are consumed.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def g(a):\\n    for k in range(3):\\n        yield a * k\\ndef f(x):\\n    y = 0.0\\n"
    >>> print(explain_text(text + "    for v in g(x):\\n        y = y + v\\n    return y", after="generators"))
    def f(x):
        y = 0.0
        a = x
        for k in range(3):
            v = a * k
            y = y + v
        return y
    """
    if facts.module is None or isinstance(function, gast.AsyncFunctionDef) or _is_generator(function):
        return function
    if not any(holds(s, gast.Call) for s in function.body):
        return function
    found = [n for s in function.body for n in find_nodes(s, gast.FunctionDef) if _is_generator(n)]
    inner: dict[str, Node] = {n.name: n for n in found}
    facts.names.local |= own_names(function)
    work = _Work(facts, function, inner)
    function.body = _block(function.body, work)
    if inner:
        function.body = _without(function.body, inner, work)
    return function


def _is_generator(tree: Node) -> bool:
    return any(isinstance(n, _YIELDS) for s in tree.body for n in _own(s))


def _own(node: Node) -> list[Node]:
    """What is below a node, functions in it apart."""
    found, todo = [], [node]
    while todo:
        item = todo.pop()
        found.append(item)
        if not isinstance(item, _FUNCTIONS):
            todo += children(item)
    return found


def _without(block: Block, inner: dict[str, Node], work: _Work) -> Block:
    """A block without generators of which no call is left."""
    reads = {n.id for s in work.function.body for n in _own(s) if isinstance(n, gast.Name)}
    return [s for s in block if not (isinstance(s, gast.FunctionDef) and s.name in inner and s.name not in reads)]


def _block(block: Block, work: _Work) -> Block:
    made: Block = []
    for place, node in enumerate(block):
        if (held := _held(node, block[place + 1 :], work)) is not None:
            made += held
            continue
        if isinstance(node, gast.For) and (written := _loop(node, work)) is not None:
            made += _block(written, work)
            continue
        if isinstance(node, gast.With) and (written := _context(node, work)) is not None:
            made += _block(written, work)
            continue
        before: Block = []
        for key in ("test", "iter", "value", "exc", "subject"):
            part = getattr(node, key, None)
            if isinstance(part, gast.AST) and not isinstance(node, gast.While) and holds(part, gast.Call):
                setattr(node, key, _consumed(part, node, before, work))
        made += before
        if not isinstance(node, gast.FunctionDef):
            for key in (*_PARTS, "handlers", "cases"):
                inner = getattr(node, key, None)
                for one in inner if key in ("handlers", "cases") and inner else []:
                    one.body = _block(one.body, work)
                if key in _PARTS and isinstance(inner, list) and inner:
                    setattr(node, key, _block(inner, work))
        made.append(node)
    return made


def _is_repeated(node: Node, held: str) -> bool:
    """Whether a name is read in a part of a statement that may be evaluated more than once, or later."""
    late: list[Node] = []
    for item in walk(node):
        if isinstance(item, _LOOPS):
            late += [*item.body, *([item.test] if isinstance(item, gast.While) else [])]
        elif isinstance(item, COMPREHENSIONS):
            late += [n for n in gast.iter_child_nodes(item) if n is not item.generators[0]]
            late += item.generators[0].ifs
        elif isinstance(item, _FUNCTIONS):
            late.append(item)
    return any(getattr(n, "id", "") == held for part in late for n in walk(part))


def _held(node: Node, after: Block, work: _Work) -> Block | None:
    """`g = powers(x)`, of which one statement behind it in the same block makes use: the call goes there.

    What it is called with is what it was where the generator was made.
    """
    one = target(node)
    called = _called(node.value, work) if one is not None else None
    if one is None or called is None:
        return None
    nodes = [n for s in work.function.body for n in find_nodes(s, gast.Name) if n.id == one]
    users = [k for k, s in enumerate(after) for n in find_nodes(s, gast.Name) if n.id == one]
    if len(nodes) != 2 or len(users) != 1 or _is_repeated(after[users[0]], one):
        return None
    made: Block = []
    call = copy(node.value)
    for item in [*call.args, *call.keywords]:
        value = item.value if isinstance(item, gast.keyword) else item
        if isinstance(value, gast.Constant):
            continue
        held = work.name("given")
        made.append(work.bind(held, value, node))
        read = at(name(held), node)
        if isinstance(item, gast.keyword):
            item.value = read
        else:
            call.args[call.args.index(item)] = read
    replace(after[users[0]], next(n for n in walk(after[users[0]]) if getattr(n, "id", "") == one), call)
    return made


# -- what a call calls ------------------------------------------------------------------------------------------------
def _called(call: Node, work: _Work, contexts: bool = False) -> _Called | None:
    """The generator that a call makes; None for any other expression."""
    if not isinstance(call, gast.Call):
        return None
    local = work.facts.names.local
    if isinstance(call.func, gast.Name) and call.func.id in work.inner and not contexts:
        tree = work.inner[call.func.id]
        given = _arguments(call, tree, None, work)
        return None if given is None else _Called(tree, given, None, tree.name)
    found = _iterator(call, work) or function_of(call.func, work.facts, local)
    if found is None or found.wanted is not None or found.tree is not None or found.words:
        return None
    function = found.called
    if contexts:
        function = _made_context(function)
    if not isinstance(function, FunctionType | StaticFunction):
        return None
    if isinstance(function, FunctionType) and not function.__code__.co_flags & inspect.CO_GENERATOR:
        return None
    try:
        source, namespace = work.facts.module.source(function)
    except (DifferentiationError, AttributeError):
        return None
    if not _is_generator(source.tree) or (is_composition(function) and _is_constant(call, source.tree, work)):
        return None
    given = _arguments(call, source.tree, found, work)
    own = is_composition(function)
    return None if given is None else _Called(source.tree, given, namespace, source.tree.name, own)


def _iterator(call: Node, work: _Work) -> Function | None:
    """The generator that stands for a call of one of Python's own iterators."""
    rule = rule_of(object_of(call.func, work.facts))
    written = None if rule is None else iterator_of(rule, call.args, call.keywords)
    return None if written is None or rule is None else Function(rule.name, binding=Binding("object", written))


def _is_constant(call: Node, tree: Node, work: _Work) -> bool:
    """Whether an iterator of Python's own runs over what has no derivative, and comes to an end: it stays as it is."""
    if any(isinstance(n, gast.While) for n in tree.body):
        return False
    local = work.facts.names.local
    if work.varied is None:
        own = [] if work.facts.request.wrt else parameters(work.function)  # of one that is written out all may vary
        work.varied = dict.fromkeys(varied_names(work.function, work.facts, local, own))
    given = [*call.args, *(word.value for word in call.keywords)]
    return not any(reads_varied(one, work.varied, work.facts, local) for one in given)


_HELPER = contextlib.contextmanager(lambda: iter(())).__code__


def _made_context(function: object) -> object:
    """The generator that `contextlib.contextmanager` has made a context manager of."""
    return getattr(function, "__wrapped__", None) if getattr(function, "__code__", None) is _HELPER else None


def _arguments(call: Node, tree: Node, found: Function | None, work: _Work) -> dict[str, Node] | None:
    """What each parameter gets; None where that is not certain."""
    names, every, defaults = given_by_place(tree), parameters(tree), defaults_of(tree)
    own = [] if found is None else [copy(one) for one in found.args]
    args = [*own, *call.args]
    starred = any(isinstance(a, gast.Starred) for a in args) or any(w.arg is None for w in call.keywords)
    several = tree.args.vararg
    if tree.args.kwarg or starred or (len(args) > len(names) and not several):
        return None
    given = dict(zip(names, args, strict=False))
    if several:
        given[several.id], every = at(gast.Tuple(args[len(names) :], gast.Load()), call), [*every, several.id]
    given |= {str(w.arg): w.value for w in call.keywords}
    if not set(given) <= set(every):
        return None
    for one in every:
        if one not in given:
            value = defaults.get(one)
            value = value if isinstance(value, gast.Constant) else None
            if value is None and found is not None and isinstance(work.facts.namespace, Overlay):
                value = default_of(one, tree, found, work.facts)
            if value is None:
                return None
            given[one] = copy(value)
    return {one: given[one] for one in every}


# -- loops ------------------------------------------------------------------------------------------------------------
def _loop(node: Node, work: _Work) -> Block | None:
    """`for v in g(x)`, `for k, v in enumerate(g(x))`, `for v, w in zip(g(x), ...)` with the generator written out."""
    called = _called(node.iter, work)
    if called is not None:
        return _written(node, called, [], [], work)
    if isinstance(node.iter, gast.GeneratorExp) and _called(node.iter.generators[0].iter, work) is not None:
        return _of_expression(node, work)
    call = node.iter if isinstance(node.iter, gast.Call) else None
    found = binding_of(call.func, work.facts, work.facts.names.local) if call is not None else None
    maker = None if found is None else found.object
    if call is None or maker not in (enumerate, zip) or not call.args:
        return None
    made = [_called(one, work) for one in call.args]
    places = [k for k, one in enumerate(made) if one is not None]
    if maker is enumerate and places == [0]:
        return _counted(node, made[0], work)
    if maker is zip and len(places) == 1 and not call.keywords:
        return _zipped(node, made[places[0]], places[0], work)
    return None


def _of_expression(node: Node, work: _Work) -> Block | None:
    """`for t in (e for v in g(x) if c): ...` as a loop over `g(x)`; v is a name of its own."""
    value = node.iter
    if len(value.generators) != 1:
        return None
    [part] = value.generators
    moved = {n.id: work.name(n.id) for n in find_nodes(part.target, gast.Name)}
    for item in [n for one in (part.target, value.elt, *part.ifs) for n in walk(one)]:
        if isinstance(item, gast.Name) and item.id in moved:
            item.id = moved[item.id]
    body = [work.own(gast.Assign([node.target], value.elt, None), node), *node.body]
    for test in reversed(part.ifs):
        body = [work.own(gast.If(test, body, []), node)]
    return [work.own(gast.For(part.target, part.iter, body, node.orelse, None), node)]


def _counted(node: Node, called: _Called | None, work: _Work) -> Block:
    """`enumerate`: a count that each trip adds to."""
    assert called is not None, "the caller has looked"
    start = node.iter.args[1] if len(node.iter.args) > 1 else None
    start = next((w.value for w in node.iter.keywords if w.arg == "start"), start)
    count, item = work.name("count"), work.name("item")
    first = work.bind(count, literal_node(0) if start is None else start, node)
    pair = gast.Tuple([name(count), name(item)], gast.Load())
    bound = work.own(gast.Assign([node.target], pair, None), node)
    step = work.own(statement(f"{count} = {count} + 1"), node)
    node.target = at(name(item, gast.Store()), node)
    return _written(node, called, [first], [bound, step], work)


def _zipped(node: Node, called: _Called | None, place: int, work: _Work) -> Block:
    """`zip` of a generator and of what has a length: it ends with the shortest, the first one asked first."""
    assert called is not None, "the caller has looked"
    others = [(k, work.name("items"), one) for k, one in enumerate(node.iter.args) if k != place]
    count, item = work.name("count"), work.name("item")
    first = [work.bind(held, at(expression("list(x)", x=one), one), node) for _, held, one in others]
    first.append(work.bind(count, literal_node(0), node))
    parts = {k: expression(f"{held}[{count}]") for k, held, _ in others}
    pair = gast.Tuple([parts.get(k, name(item)) for k in range(len(node.iter.args))], gast.Load())
    if isinstance(node.target, gast.Tuple | gast.List) and len(node.target.elts) != len(pair.elts):
        raise work.refuse(node.target, "wrong number of values to unpack", "match the two sides")
    bound = work.own(gast.Assign([node.target], pair, None), node)
    step = work.own(statement(f"{count} = {count} + 1"), node)
    node.target = at(name(item, gast.Store()), node)
    ended = [work.own(statement(f"if {count} >= len({held}):\n    break"), node) for _, held, _ in others]
    for one in ended:
        work.own(one.body[0], node)
    if any(k < place for k, _, _ in others):  # asked before the generator is resumed: it is not resumed once more
        left = work.own(
            gast.If(_any_ended(count, [held for _, held, _ in others]), [work.own(gast.Break(), node)], []), node
        )
        node.body = [bound, step, *node.body]
        return _guarded(node, called, first, left, count, others, work)
    return _written(node, called, first, [*ended, bound, step], work)


def _any_ended(count: str, held: list[str]) -> Node:
    tests = [expression(f"{count} >= len({one})") for one in held]
    return tests[0] if len(tests) == 1 else gast.BoolOp(gast.Or(), tests)


def _guarded(
    node: Node, called: _Called, first: Block, left: Node, count: str, others: list[tuple[int, str, Node]], work: _Work
) -> Block:
    """The loop, not begun where the other operands are empty, and left behind the last of their items."""
    node.body = [*node.body, left]
    if any(isinstance(n, gast.Continue) for s in node.body for n in _of_loop(s)):
        raise work.refuse(node, "`continue` in a loop over `zip` with a generator", "put the rest into an `if`")
    if node.orelse:
        raise work.refuse(node, "`else` of a loop over `zip` with a generator", "use a flag")
    whole = _written(node, called, [], [], work)
    test = gast.UnaryOp(gast.Not(), _any_ended(count, [held for _, held, _ in others]))
    return [*first, work.own(gast.If(test, whole, []), node)]


def _of_loop(node: Node) -> list[Node]:
    """The ways out in a statement that are those of the loop around it, and returns."""
    if isinstance(node, _FUNCTIONS):
        return []
    if isinstance(node, _LOOPS):
        inner = [n for s in node.body for n in _of_loop(s) if isinstance(n, gast.Return)]
        return inner + [n for s in node.orelse for n in _of_loop(s)]
    blocks = [getattr(node, key, None) or [] for key in _PARTS]
    blocks += [one.body for key in ("handlers", "cases") for one in getattr(node, key, None) or []]
    return [node, *(n for block in blocks for s in block for n in _of_loop(s))]


def _written(node: Node, called: _Called, first: Block, head: Block, work: _Work) -> Block:
    """The body of a generator around the body of the loop that consumes it."""
    if id(called.tree) in work.open:
        raise work.refuse(node, f"the generator `{called.name}` consumes itself", "collect the values in a list")
    if len(work.open) > 4:
        raise work.refuse(node, "generators within generators", "collect the values in a list")
    node.body, node.orelse = _block(node.body, work), _block(node.orelse, work)
    before, body = _copied(called, node, work)
    yields = [n for s in body for n in _own(s) if isinstance(n, _YIELDS)]
    alone = [n for s in body for n in _own(s) if isinstance(n, gast.Expr) and isinstance(n.value, _YIELDS)]
    if len(yields) != len(alone):
        raise work.refuse(node, f"`{called.name}` uses what `yield` gives", "write the loop out")
    if len(yields) > _MOST:
        raise work.refuse(
            node, f"`{called.name}` has more than {_MOST} places with `yield`", "collect the values in a list"
        )
    outs = [n for s in node.body for n in _of_loop(s)]
    breaks, continues = (any(isinstance(n, kind) for n in outs) for kind in (gast.Break, gast.Continue))
    ended = _structured(body, node, work)
    left = work.name("left") if breaks else ""
    place = _Place(node, [*head], left, continues, ended, work)
    work.open.append(id(called.tree))
    inner = _block(place.block(body, 0), work)
    work.open.pop()
    flags = [work.bind(left, literal_node(False), node)] if left else []
    flags += [work.bind(ended, literal_node(False), node)] if ended else []
    after = node.orelse
    if after and left:
        after = [work.own(gast.If(expression(f"not {left}"), after, []), node)]
    return [*first, *before, *flags, *inner, *after]


def _copied(called: _Called, node: Node, work: _Work) -> tuple[Block, Block]:
    """Assignments of the arguments, and a copy of the generator's body under names of the function."""
    tree = called.tree
    own = own_names(tree) | set(parameters(tree))
    if any(
        isinstance(n, gast.Nonlocal | gast.Global | gast.FunctionDef | gast.Lambda) for s in tree.body for n in walk(s)
    ):
        raise work.refuse(
            node, f"the generator `{called.name}` holds functions, or changes outer names", "return a list"
        )
    moved = {one: work.name(one) for one in sorted(own)}
    if called.namespace is not None:
        _bring(tree, own, called.namespace, moved, node, work)
    body = [copy(one) for one in tree.body]
    if isinstance(body[0], gast.Expr) and isinstance(body[0].value, gast.Constant):
        body = body[1:]
    for item in [n for s in body for n in walk(s)]:
        if isinstance(item, gast.Name) and item.id in moved:
            item.id = moved[item.id]
        elif isinstance(item, gast.ExceptHandler) and isinstance(item.name, str):
            item.name = moved.get(item.name, item.name)
        if "lineno" in item.__dict__:
            gast.copy_location(item, node)
        if isinstance(item, gast.stmt):
            work.facts.origin.foreign[item] = None
    given = {moved[one]: value for one, value in called.given.items()}
    for held in [one for one, value in given.items() if called.of_python and _is_lazy(value, work)]:
        reads = [n for s in body for n in find_nodes(s, gast.Name) if n.id == held]
        loops = [n for s in body for n in walk(s) if isinstance(n, gast.For) and n.iter is reads[0]]
        if len(reads) == len(loops) == 1:  # it gives its items there
            loops[0].iter = given.pop(held)
    before = [work.bind(one, value, node) for one, value in given.items()]
    if called.of_python:
        before = _without_copies(before, body, work)
    return before, body


def _is_lazy(value: Node, work: _Work) -> bool:
    """Whether an expression is an iterator, which has no items but those that it gives in turn."""
    calls = isinstance(value, gast.Call) and object_of(value.func, work.facts) in (zip, enumerate)
    return calls or _called(value, work) is not None


def _without_copies(before: Block, body: Block, work: _Work) -> Block:
    """Assignments of the arguments, without those whose items are read where they are: of lists, tuples and arrays."""
    kept: Block = []
    for one in before:
        held, value = one.targets[0].id, one.value
        copies = [s for s in body if target(s) is not None and same_tree(s.value, expression(f"list({held})"))]
        reads = [n for s in body for n in find_nodes(s, gast.Name) if n.id == held]
        if len(copies) != 1 or len(reads) != 1 or not _has_places(value, work):
            kept.append(one)
        elif isinstance(value, gast.Name):
            body.remove(copies[0])
            for item in [n for s in body for n in find_nodes(s, gast.Name) if n.id == target(copies[0])]:
                item.id = value.id
        else:
            copies[0].value = value
    return kept


def _has_places(value: Node, work: _Work) -> bool:
    """Whether an expression is a list, a tuple or an array for sure; a name of one is bound once."""
    if isinstance(value, gast.List | gast.Tuple | gast.ListComp):
        return True
    held = getattr(value, "id", "")
    if held not in parameters(work.function):
        return False
    stored = any(held in stores(s) for s in statements(work.function.body))
    return not stored and work.facts.kinds.of_names.get(held, UNKNOWN).tag in ("list", "tuple", "array")


def _bring(
    tree: Node, own: set[str] | frozenset[str], namespace: Namespace, moved: dict[str, str], node: Node, work: _Work
) -> None:
    """Let what a generator reads from outside mean the same in the function."""
    reads = dict.fromkeys(n.id for s in tree.body for n in find_nodes(s, gast.Name) if n.id not in own)
    for one in reads:
        meant = namespace.lookup(one)
        if meant is None:
            continue
        known = None if one in work.facts.names.local else work.facts.namespace.lookup(one)
        if is_same(meant, known):
            continue
        spelled = work.facts.names.fresh(one)
        overlay = Overlay(work.facts.namespace, {spelled: meant})
        overlay.homes[spelled] = (namespace, one)
        overlay.read[spelled] = None
        work.facts.namespace, moved[one] = overlay, spelled


def _structured(body: Block, node: Node, work: _Work) -> str:
    """The flag that says that the generator has returned, where it does so before its end; an empty name if nowhere."""
    while body and isinstance(body[-1], gast.Return):
        body.pop()
    returns = [n for s in body for n in _own(s) if isinstance(n, gast.Return)]
    if any(n.value is not None for n in returns):
        raise work.refuse(node, "the generator returns a value", "yield it")
    return work.name("ended") if returns else ""


@record
class _Place:
    """How the body of a loop stands in a generator."""

    loop: Node
    head: Block
    left: str  # the flag that the loop was left by `break`
    continues: bool
    ended: str  # the flag that the generator has returned
    work: _Work
    used: bool = False

    def block(self, block: Block, depth: int) -> Block:
        """A block of the generator, at a depth of loops of its own."""
        made: Block = []
        for position, node in enumerate(block):
            rest = block[position + 1 :]
            if isinstance(node, gast.Return):
                made.append(self.work.bind(self.ended, literal_node(True), self.loop))
                return [*made, *([self.work.own(gast.Break(), self.loop)] if depth else [])]
            if isinstance(node, gast.Expr) and isinstance(node.value, gast.Yield):
                inner, leaves = self._consumer(node.value.value, depth)
            elif isinstance(node, gast.Expr) and isinstance(node.value, gast.YieldFrom):
                inner, leaves = self._from(node, depth)
            elif isinstance(node, gast.stmt) and any(isinstance(n, (*_YIELDS, gast.Return)) for n in _own(node)):
                leaves = self._inside(node, depth)
                inner = [node]
            else:
                made.append(node)
                continue
            made += inner
            if leaves and depth:
                made += [self._unless_gone(gast.Break())]
            elif leaves and rest:
                going = " or ".join(flag for flag in (self.left, self.ended) if flag)
                after = self.block(rest, depth)
                test = expression(f"not ({going})" if " or " in going else f"not {going}")
                return [*made, self.work.own(gast.If(test, after, []), self.loop)]
        return made

    def _unless_gone(self, way: Node) -> Node:
        going = " or ".join(flag for flag in (self.left, self.ended) if flag)
        return self.work.own(gast.If(expression(going), [self.work.own(way, self.loop)], []), self.loop)

    def _inside(self, node: Node, depth: int) -> bool:
        """Write into a compound statement; whether it may have been left by the loop, or ended the generator."""
        if isinstance(node, gast.Try) and node.handlers:
            raise self.work.refuse(self.loop, "the generator yields inside of `try`", "yield behind it")
        inner = depth + isinstance(node, _LOOPS)
        for key in _PARTS:
            part = getattr(node, key, None)
            if isinstance(part, list) and part:
                setattr(node, key, self.block(part, inner if key == "body" else depth))
        for one in getattr(node, "cases", None) or []:
            one.body = self.block(one.body, depth)
        returns = bool(self.ended)
        return bool(self.left) or returns

    def _from(self, node: Node, depth: int) -> tuple[Block, bool]:
        """`yield from e`: a loop that consumes e."""
        item = self.work.name("item")
        body, _ = self._consumer(name(item), depth + 1)
        made = gast.For(name(item, gast.Store()), node.value.value, body, [], None)
        return [self.work.own(made, self.loop)], bool(self.left)

    def _consumer(self, value: Node | None, depth: int) -> tuple[Block, bool]:
        """The body of the loop for one value; whether what follows is to ask if the loop was left."""
        value = at(literal_node(None), self.loop) if value is None else value
        body = self.loop.body if not self.used else twins(self.loop.body, self.work.facts)
        head = self.head if not self.used else twins(self.head, self.work.facts)
        self.used = True
        target = copy(self.loop.target)
        bound = self.work.own(gast.Assign([target], value, None), self.loop)
        body = [*head, *body]
        if self.left:
            body = self._marked(body)
        if (self.left or self.continues) and (self.continues or not depth):
            once = gast.For(name(self.work.name("once"), gast.Store()), expression("range(1)"), body, [], None)
            return [bound, self.work.own(once, self.loop)], bool(self.left)
        return [bound, *body], False

    def _marked(self, block: Block) -> Block:
        """A block in which each `break` of the loop sets the flag."""
        made: Block = []
        for node in block:
            if isinstance(node, gast.Break):
                return [*made, self.work.bind(self.left, literal_node(True), node), node]
            if not isinstance(node, (*_FUNCTIONS, *_LOOPS)):
                for key in _PARTS:
                    if getattr(node, key, None):
                        setattr(node, key, self._marked(getattr(node, key)))
                for one in [*(getattr(node, "handlers", None) or []), *(getattr(node, "cases", None) or [])]:
                    one.body = self._marked(one.body)
            elif isinstance(node, _LOOPS) and node.orelse:
                node.orelse = self._marked(node.orelse)
            made.append(node)
        return made


# -- contexts ---------------------------------------------------------------------------------------------------------
def _context(node: Node, work: _Work) -> Block | None:
    """`with manager(x) as v`, where `contextlib.contextmanager` has made the manager of a generator."""
    if len(node.items) > 1:
        if not any(_called(one.context_expr, work, contexts=True) for one in node.items):
            return None
        inner = gast.copy_location(gast.With(node.items[1:], node.body, None), node)
        node.items, node.body = node.items[:1], [inner]
        return [node]
    [item] = node.items
    called = _called(item.context_expr, work, contexts=True)
    if called is None:
        return None
    before, body = _copied(called, node, work)
    yields = [n for s in body for n in _own(s) if isinstance(n, _YIELDS)]
    returns = [n for s in body for n in _own(s) if isinstance(n, gast.Return)]
    loops = [n for s in body for n in _own(s) if isinstance(n, _LOOPS) and any(isinstance(m, _YIELDS) for m in _own(n))]
    if len(yields) != 1 or not isinstance(yields[0], gast.Yield) or returns or loops:
        raise work.refuse(
            node, f"`{called.name}` does more than one `yield`", "write what it does around the statements"
        )
    inside = node.body
    if item.optional_vars is not None:
        value = yields[0].value or literal_node(None)
        inside = [work.own(gast.Assign([item.optional_vars], value, None), node), *inside]
    found = _replace_yield(body, inside, node, work)
    return [*before, *found]


def _replace_yield(block: Block, inside: Block, node: Node, work: _Work) -> Block:
    """A block with statements in the place of its `yield`; what follows runs however they are left."""
    for place, one in enumerate(block):
        if isinstance(one, gast.Expr) and isinstance(one.value, gast.Yield):
            after = block[place + 1 :]
            return [*block[:place], *(with_end(inside, after, work.facts) if after else inside)]
        if any(isinstance(n, gast.Yield) for n in _own(one)):
            parts = [
                key
                for key in _PARTS
                if any(isinstance(n, gast.Yield) for s in getattr(one, key, None) or [] for n in _own(s))
            ]
            after = block[place + 1 :]
            if not parts or (
                after
                and any(isinstance(n, gast.Return | gast.Break | gast.Continue) for s in inside for n in _of_loop(s))
            ):
                raise work.refuse(node, "a context that is left early", "leave it behind the `with`")
            setattr(one, parts[0], _replace_yield(getattr(one, parts[0]), inside, node, work))
            return [*block[:place], one, *after]
    raise work.refuse(
        node, "a context manager that uses what `yield` gives", "write what it does around the statements"
    )


# -- lists ------------------------------------------------------------------------------------------------------------
_LATE = (gast.Lambda, gast.IfExp, gast.BoolOp)


def _consumed(value: Node, node: Node, before: Block, work: _Work) -> Node:
    """An expression in which a list stands for each generator that is consumed whole."""
    if isinstance(value, _LATE):
        if isinstance(value, gast.IfExp):
            value.test = _consumed(value.test, node, before, work)
        elif isinstance(value, gast.BoolOp):
            value.values[0] = _consumed(value.values[0], node, before, work)
        return value
    if isinstance(value, COMPREHENSIONS):
        first: Node = value.generators[0]
        whole = not isinstance(value, gast.GeneratorExp)
        first.iter = _listed(first.iter, node, before, work, whole)
        return value
    rewrite_parts(value, lambda part: _consumed(part, node, before, work))
    if isinstance(value, gast.Call) and value.args and object_of(value.func, work.facts) is builtins.next:
        return _first(value, node, before, work)
    if isinstance(value, gast.Call) and value.args and _takes_all(value, work):
        first = value.args[0]
        if isinstance(first, gast.GeneratorExp):
            first.generators[0].iter = _listed(first.generators[0].iter, node, before, work, True)
        else:
            value.args[0] = _listed(first, node, before, work, True)
    return value


def _first(call: Node, node: Node, before: Block, work: _Work) -> Node:
    """A name for `next((e for v in x if c), d)`, which a loop binds that ends there."""
    value = call.args[0]
    if not isinstance(value, gast.GeneratorExp) or len(value.generators) > 1 or isinstance(value.elt, gast.Tuple):
        return call
    held = work.name("first")
    end = [work.own(gast.Raise(name("StopIteration"), None), node)]
    if len(call.args) > 1:
        before.append(work.bind(held, call.args[1], node))
        end = []
    loop = gast.For(name(held, gast.Store()), value, [work.own(gast.Break(), node)], end, None)
    before += _block(_of_expression(work.own(loop, node), work) or [], work)
    work.facts.origin.foreign[node] = None
    return at(name(held), call)


def _takes_all(call: Node, work: _Work) -> bool:
    found = binding_of(call.func, work.facts, work.facts.names.local)
    return found is not None and any(found.object is one for one in _ALL)


def _listed(value: Node, node: Node, before: Block, work: _Work, whole: bool) -> Node:
    """The name of a list of what a generator yields; `enumerate` of one is `enumerate` of the list."""
    if not whole:
        return value
    called = _called(value, work)
    if called is None:
        found = binding_of(value.func, work.facts, work.facts.names.local) if isinstance(value, gast.Call) else None
        if found is not None and found.object is builtins.enumerate and value.args:
            value.args[0] = _listed(value.args[0], node, before, work, True)
            return value
        if found is None or found.object is not zip or not any(_called(one, work) for one in value.args):
            return value
    held, item = work.name("values"), work.name("item")
    fill = work.own(statement(f"{held}.append({item})"), node)
    loop = work.own(gast.For(name(item, gast.Store()), value, [fill], [], None), node)
    written = _loop(loop, work)
    if written is None:
        return value
    before += [work.bind(held, gast.List([], gast.Load()), node), *_block(written, work)]
    work.facts.origin.foreign[node] = None
    return at(name(held), value)
