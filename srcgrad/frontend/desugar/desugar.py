"""Other spellings of what the language has: `with np.errstate`, `:=`, imports and `del` in the body, `a, *b = ...`."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable

import gast

from srcgrad.core.facts import Facts
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    at,
    copy,
    expression,
    find_nodes,
    header,
    name,
    own_names,
    parameters,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.frontend.again.implicit_functions import implicit
from srcgrad.frontend.calls.evaluation_order import check_sequence, check_targets
from srcgrad.frontend.calls.functions import made_by
from srcgrad.frontend.calls.nested_functions import hooks, take_out
from srcgrad.frontend.context import Rewriting
from srcgrad.frontend.desugar.assignments import is_quiet, open_contexts, split_condition, unpack_sequence, walruses
from srcgrad.frontend.desugar.call_arguments import has_starred, options, unpack_arguments
from srcgrad.frontend.desugar.library_objects import expand_distributions, solutions, splines
from srcgrad.frontend.desugar.list_names import kinds_of_lists
from srcgrad.frontend.desugar.lists_and_dicts import changed_list, repeats, spell_list_methods
from srcgrad.frontend.desugar.loops import (
    COMPREHENSIONS,
    count_zipped_loops,
    expand_comprehensions,
    has_comprehension,
    trips,
)
from srcgrad.frontend.desugar.numpy_spellings import expand_calls, fill
from srcgrad.frontend.desugar.records import open_records
from srcgrad.frontend.early_facts import assigned_varied
from srcgrad.frontend.local_imports import follow_import
from srcgrad.frontend.resolve import binding_of


def desugar(function: Node, facts: Facts) -> Node:
    """Spell with assignments, `if`, `for` and `while` what Python has other words for.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    if (s := x * x) > 1.0:\\n        return s\\n    return x", after="desugar"))
    def f(x):
        s = x * x
        if s > 1.0:
            return s
        return x
    """
    work = rewriting(facts)
    work.lists = kinds_of_lists(function, facts)
    work.written = frozenset(w for node in statements(function.body) for w in written_names(node))
    work.used = _outside_comprehensions(function)
    facts.local = work.made | own_names(function) | frozenset(facts.functions)
    work.options = options(function, facts)
    work.given = frozenset(parameters(function))
    if any(isinstance(node, gast.For) for node in statements(function.body)):
        work.varied = work.given | assigned_varied(function, facts, parameters(function))
    function.body = plain_block(function.body, work) or [at(gast.Pass(), function)]
    facts.rewriting = None
    return function


def rewriting(facts: Facts) -> Rewriting:
    """What the rewriting of a function knows, from its first rewriter to the last, `desugar`."""
    if facts.rewriting is None or facts.rewriting.facts is not facts:
        facts.rewriting = Rewriting(facts, plain_block)
    work: Rewriting = facts.rewriting
    return work


def _rewriter(rewrite: Callable[[Node, Rewriting], None]) -> Callable[[Node, Facts], Node]:
    """A rewriter of a function as a pass."""

    @functools.wraps(rewrite)
    def run(function: Node, facts: Facts) -> Node:
        rewrite(function, rewriting(facts))
        return function

    return run


def nested(function: Node, work: Rewriting) -> None:
    """Take nested functions, lambdas and second names of functions out of the text: the facts keep them."""
    function.body = take_out(function.body, work)


def dicts(function: Node, work: Rewriting) -> None:
    """Spell what lists and dicts can do in the few words that the passes behind know."""
    work.bound = frozenset(s for node in statements(function.body) for s in stores(node))
    spell_list_methods(function, work)


def quiet_contexts(function: Node, facts: Facts) -> None:
    """Take the contexts of a text of ours off: each is noted once, with the user's lines in it."""
    function.body = open_contexts(function.body, facts)


def in_parallel(function: Node, work: Rewriting) -> None:
    """Take apart loops over what stands side by side in a text of ours."""
    function.body = count_zipped_loops(function.body, work)


nested_hooks = _rewriter(hooks)
nested_functions = _rewriter(nested)
objects = _rewriter(open_records)
solver_results = _rewriter(solutions)
frozen_distributions = _rewriter(expand_distributions)
spline_objects = _rewriter(splines)
list_methods = _rewriter(dicts)
implicit_functions = _rewriter(implicit)
parallel_loops = _rewriter(in_parallel)


def _outside_comprehensions(function: Node) -> frozenset[str]:
    within = {n for s in function.body for c in find_nodes(s, *COMPREHENSIONS) for n in find_nodes(c, gast.Name)}
    own = {n.id for node in function.body for n in find_nodes(node, gast.Name) if n not in within}
    arguments = function.args
    return frozenset(own | {a.id for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs})


def plain_block(block: Block, work: Rewriting) -> Block:
    made: Block = []
    for node in block:
        made += _statement(node, work)
    return made


def _statement(node: Node, work: Rewriting) -> Block:
    apart = split_condition(node, work)
    if apart is not None:
        return plain_block(apart, work)
    for which in BLOCKS:
        if getattr(node, which, None):
            setattr(node, which, plain_block(getattr(node, which), work) or [at(gast.Pass(), node)])
    if isinstance(node, gast.With):
        return _context(node, work)
    items = repeats(node, work)
    if items:
        return plain_block([*items, node], work)
    check_sequence(node, work.facts)
    check_targets(node, work.facts)
    changed = changed_list(node, work)
    if changed is not None:
        return plain_block(changed, work)
    if isinstance(node, gast.Delete):
        return [] if all(isinstance(item, gast.Name) for item in node.targets) else [node]
    if isinstance(node, gast.Import | gast.ImportFrom):
        return [] if follow_import(node, work.facts) else [node]
    if isinstance(node, gast.While):
        return _while(node, work)
    if _is_parallel_write(node):
        return _separate_assignments(node, work)
    if isinstance(node, gast.Assign) and len(node.targets) > 1 and _names_an_array(node, work):
        return _one_by_one(node, work)
    branches = isinstance(getattr(node, "value", None), gast.IfExp)
    if branches and (has_comprehension(node, work) or has_starred(node)):
        return plain_block(_as_branch(node, work), work)
    _fold_extremes(node, work)
    before = walruses(node, work)
    before += expand_calls(node, work)
    before += expand_comprehensions(node, work)
    before += unpack_arguments(node, work)
    if isinstance(node, gast.For):
        return before + trips(node, work)
    if target(node) is not None and getattr(node.value, "id", "") == target(node):
        return before  # what is bound was computed under its own name
    apart = unpack_sequence(node, work)
    return before + (fill(node, work) if apart is None else apart)


def _is_parallel_write(node: Node) -> bool:
    """`a[i], a[j] = a[j], a[i]`"""
    first = node.targets[0] if isinstance(node, gast.Assign) else None
    if not isinstance(first, gast.Tuple) or not isinstance(node.value, gast.Tuple):
        return False
    parts = any(isinstance(item, gast.Subscript) for item in first.elts)
    starred = any(isinstance(item, gast.Starred) for item in [*first.elts, *node.value.elts])
    return parts and not starred and len(first.elts) == len(node.value.elts)


def _names_an_array(node: Node, work: Rewriting) -> bool:
    """`a = b = e`, where something is written into one of the two."""
    names = [item.id for item in node.targets if isinstance(item, gast.Name)]
    return len(names) == len(node.targets) and any(one in work.written for one in names)


def _one_by_one(node: Node, work: Rewriting) -> Block:
    """`a = e`, then `b = a`."""
    first, *others = [item.id for item in node.targets]
    return [work.bind(first, node.value, node), *(work.bind(one, name(first), node) for one in others)]


def _separate_assignments(node: Node, work: Rewriting) -> Block:
    """All right sides first, then one assignment after the other."""
    held = [work.name("held") for _ in node.value.elts]
    made = [work.bind(one, value, node) for one, value in zip(held, node.value.elts, strict=True)]
    for place, one in zip(node.targets[0].elts, held, strict=True):
        made.append(work.own(gast.Assign([place], name(one), None), node))
    return made


def _as_branch(node: Node, work: Rewriting) -> Block:
    """`y = e if c else [...]` as an `if`, so that what is not chosen is not computed."""
    sides = []
    for side in (node.value.body, node.value.orelse):
        other = copy(node)
        other.value = side
        sides.append([work.own(other, node)])
    return [work.own(gast.If(node.value.test, *sides), node)]


def _context(node: Node, work: Rewriting) -> Block:
    """The body of a `with` that changes no value; the text is put into the same context at the end."""
    if not is_quiet(node, work.facts):
        return [node]
    work.facts.contexts.append(node)
    return list(node.body)


def _while(node: Node, work: Rewriting) -> Block:
    """A test that binds names, or calls a function of this one, is computed at the head of each trip."""
    before = walruses(node, work) + unpack_arguments(node, work)
    own = work.facts.functions
    calls = [
        n
        for n in find_nodes(node.test, gast.Call)
        if getattr(n.func, "id", "") in own or made_by(n, work.facts, work.facts.local)
    ]
    if not before and not calls and not any(isinstance(n, gast.NamedExpr) for n in walk(node.test)):
        return [node]
    ended = work.name("ended") if node.orelse else ""
    leave = [work.bind(ended, expression("True"), node)] if ended else []
    leave.append(work.own(gast.Break(), node))
    test = work.own(gast.If(gast.UnaryOp(gast.Not(), node.test), leave, []), node)
    tests = plain_block(split_condition(test, work) or [], work) or [test]
    after, node.orelse = node.orelse, []
    node.test = expression("True")
    node.body = [*before, *tests, *node.body]
    if not ended:
        return [node]
    return [work.bind(ended, expression("False"), node), node, work.own(gast.If(name(ended), after, []), node)]


def _fold_extremes(node: Node, work: Rewriting) -> None:
    """`min(a, b, c)` as `min(min(a, b), c)`."""
    for call in [n for part in header(node) for n in walk(part) if isinstance(n, gast.Call) and len(n.args) > 2]:
        found = binding_of(call.func, work.facts, work.facts.local)
        if found is None or found.object not in (builtins.min, builtins.max) or call.keywords:
            continue
        while len(call.args) > 2:
            inner = gast.Call(copy(call.func), call.args[:2], [])
            call.args[:2] = [gast.copy_location(inner, call)]
            work.facts.foreign[node] = None
