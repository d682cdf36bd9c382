"""Alias analysis: which names may show the same memory, and whether a change leaves one stale.

Which operations make a new array, too. An array without axes is where one would look for a number, and `+=` changes it
in place. `a += e` is accepted where the array is a's own, and refused where others see it and are read once they are
stale; so are lists and dicts that change while something else holds them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MethodType

import gast
import numpy as np

from srcgrad.analysis.containers import puts_array_in_list
from srcgrad.analysis.dtypes import function_called
from srcgrad.core.bindings import StaticFunction
from srcgrad.core.control_flow import Graph, definitions, graph, solve_forward
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import UNKNOWN, Facts, Operation, copy_with_facts
from srcgrad.core.namespace import Step
from srcgrad.core.rules import is_users, makes_new, may_show, rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    children,
    find_nodes,
    is_swap,
    is_write,
    loads,
    mentions,
    name,
    parameters,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import rewrite_statements
from srcgrad.frontend.calls.side_effects import Effects
from srcgrad.frontend.desugar.views import WRAPPING
from srcgrad.frontend.early_facts import gives_several
from srcgrad.frontend.resolve import METHODS, binding_of
from srcgrad.runtime import owned

Callees = tuple[object, ...]  # functions, each called by the one before


def rank_zero(order: list[Node], facts: Facts, given: Iterable[str] = (), above: Callees = ()) -> dict[str, None]:
    """Names that hold, if it has no axes, perhaps an array all the same, which `+=` changes in place."""
    found: dict[str, None] = dict.fromkeys(given)
    found.update({n: None for n, kind in facts.kinds.of_names.items() if kind.tag == "array" and not kind.ndim})
    before = -1
    while before < len(found):
        before = len(found)
        for node in order:
            bound = target(node)
            if bound is not None and bound not in found and _keeps_rank_zero(node, found, facts, above):
                found[bound] = None
    return found


def _keeps_rank_zero(node: Node, known: dict[str, None], facts: Facts, above: Callees) -> bool:
    """Whether an assignment of what has no axes may bind an array all the same, if some names hold such."""
    value, operation = node.value, facts.resolution.operation.get(node.value)
    if isinstance(value, gast.Name):
        return value.id in known
    if node in facts.resolution.copies:
        return target(node) in known
    if node in facts.origin.augmented:
        return getattr(getattr(value, "left", None), "id", "") in known
    if makes_rank_zero(value, facts):
        return True
    if operation is not None and operation.kind == "callee":
        return _returns_rank_zero(operation.function, facts, above)
    given = [n.id for n in find_nodes(value, gast.Name)]
    if operation is not None and operation.function is operator.getitem:
        return any(getattr(n, "value", None) is ... for n in walk(operation.bound["index"]))
    if operation is None or not any(one in known for one in given):
        return False
    return operation.function is np.ndarray.astype or may_show(operation.function, operation.bound)


def _returns_rank_zero(function: object, facts: Facts, above: Callees) -> bool:
    """Whether what a function returns may be such an array, if its arguments are; `above` are those that call it."""
    if isinstance(function, Step) or any(function is one for one in above):
        return False  # what a trip gives is looked at in the loop itself, and a function that calls itself outside
    try:
        source, _ = facts.module.source(function)
        tree, inner = facts.module.front(function, tuple(parameters(source.tree)), {})
    except DifferentiationError:
        return False  # refused later, if a derivative flows through it
    found = rank_zero(list(statements(tree.body)), inner, parameters(tree), (*above, function))
    return any(n.id in found for n in find_nodes(tree.body[-1], gast.Name))


def makes_rank_zero(value: Node, facts: Facts) -> bool:
    """Whether an expression is a call of NumPy's that gives an array even where it has no axes: `np.where(c, x, y)`."""
    operation = facts.resolution.operation.get(value)
    if operation is None and isinstance(value, gast.Call):
        found = binding_of(value.func, facts, facts.names.local)
        return found is not None and any(found.object is one for one in WRAPPING)
    return operation is not None and any(operation.function is one for one in (*WRAPPING, owned))


def given_away(order: list[Node], facts: Facts) -> Iterator[tuple[Node, str]]:
    """Calls of functions that take such an array for a number and change it by `s += e`, with its name."""
    found: dict[str, None] | None = None
    for node in order:
        operation = facts.operation_of(node)
        if operation is None or operation.kind != "callee" or isinstance(operation.function, Step):
            continue
        changed = Effects(facts, augments=True).arguments(node.value, facts, facts.names.local)
        if not changed:
            continue
        found = rank_zero(order, facts) if found is None else found
        for given in changed:
            held, spec = getattr(given, "id", ""), facts.values.spec.get(given)
            if held in found and spec is not None and spec.scalar:
                yield node, held


def is_view(operation: Operation, facts: Facts) -> bool:
    """Whether the result of an operation may show elements of an operand: so may what a user's function gives."""
    if operation.rule is not None and is_users(operation.rule):
        own = operation.rule.own
        called = operation.function if own is None or own.applied is None else own.applied.forward
        return not (isinstance(called, FunctionType | StaticFunction) and facts.module.returns_new(called))
    return may_show(operation.function, operation.bound)


def makes_new_value(value: Node, facts: Facts) -> bool:
    """Whether an expression that carries no derivative is a call that makes a new value, of a function or a method."""
    if not isinstance(value, gast.Call):
        return False
    found = binding_of(value.func, facts, facts.names.local)
    method = METHODS.get(value.func.attr) if found is None and isinstance(value.func, gast.Attribute) else None
    function = method if found is None else found.object
    if function is np.ndarray:
        return len(value.args) < 3 and not value.keywords  # it has no derivative; of a buffer it shows the memory
    if function is np.nan_to_num and len(value.args) > 1:
        return False  # `np.nan_to_num(x, False)` is x
    rule = rule_of(function)
    if isinstance(function, FunctionType | MethodType | StaticFunction) and (rule is None or is_users(rule)):
        return bool(facts.module.returns_new(function))
    first = [value.func.value] if found is None and method is not None else []
    literal = bool(value.args) and all(isinstance(one, gast.Constant) for one in [*first, *value.args])
    if literal and rule is not None and not is_users(rule) and not value.keywords:
        return True  # `np.float64(0)` is its argument where that is an array
    return makes_new(function, value, first)


def check_aliases(function: Node, facts: Facts) -> Node:
    """Refuse an augmented assignment to an array that another name, a container or the caller may hold.

    Where it is accepted `a += e` means what `a = a + e` means.
    """
    order = list(statements(function.body))
    for node, name in given_away(order, facts):
        raise _refusal(node, name, "the called function changes it by `+=` or the like", facts)
    place = {node: k for k, node in enumerate(order)}
    changes = _array_changes(order, facts)
    flow = graph(function.body) if changes else Graph()
    for names, nodes in changes:
        for name in names:
            numbers = _check_origin(name, nodes, order, function, facts)
            check_numbers(function.body, dict.fromkeys(numbers), facts)
        last = max(place[n] for n in nodes)
        loops = [n for n in order if isinstance(n, gast.For | gast.While) and _stands_in_loop(n, nodes)]
        for node in order:
            early = place[node] < last or any(node in set(statements([loop])) for loop in loops)
            for name in names:
                if (
                    early
                    and puts_array_in_list(node, name, function.body, facts)
                    and _changes_later(node, names, nodes, flow, facts)
                ):
                    where = getattr(node, "lineno", 0)
                    raise _refusal(nodes[0], name, f"line {where} puts it into a list", facts)
                if early and node not in nodes and _hands_on(node, name, order, facts):
                    if may_be_number(node, facts):
                        check_numbers(function.body, {node: None}, facts)
                        continue
                    if not _changes_later(node, names, nodes, flow, facts):
                        continue
                    where = getattr(node, "lineno", 0)
                    raise _refusal(nodes[0], name, f"line {where} gives it to another name", facts)
    return function


def _changes_later(node: Node, names: list[str], nodes: list[Node], flow: Graph, facts: Facts) -> bool:
    """Whether a change may come behind a statement that is one of the array which has one of the names there.

    Of an array that such a name gets anew in between, as it may in each trip of a loop, nothing else has been given.
    """

    def changed(one: str) -> bool:
        def holds(number: int) -> bool:
            after = flow.nodes[number]
            return one not in flow.bound_at(number) or after is None or not (after in nodes or is_fresh(after, facts))

        return any(flow.nodes[number] in changes[one] for number in flow.after(node, holds))

    changes: dict[str, list[Node]] = {one: [] for one in names}
    for each in nodes:
        left = getattr(getattr(each.value, "left", None), "id", "")
        for one in [left] if left in changes else names:
            changes[one].append(each)
    return any(changed(one) for one in names)


def _array_changes(order: list[Node], facts: Facts) -> list[tuple[list[str], list[Node]]]:
    """Names that stand for one array, which is changed in place, with the statements that change it.

    `a += e` became `a2 = a + e` where the two values got names of their own: they are one array all the same.
    """
    found: list[tuple[list[str], list[Node]]] = []
    numbers = any(
        node in facts.origin.augmented and facts.values.spec[node].scalar for node in order if target(node) is not None
    )
    arrays = rank_zero(order, facts) if numbers else {}
    for node in order:
        bound = target(node)
        if (
            node not in facts.origin.augmented
            or bound is None
            or (facts.values.spec[node].scalar and bound not in arrays)
        ):
            continue
        names, nodes = [bound], [node]
        if isinstance(node.value, gast.BinOp) and isinstance(node.value.left, gast.Name):
            names.append(node.value.left.id)
        for group in [g for g in found if set(g[0]) & set(names)]:
            found.remove(group)
            names, nodes = group[0] + names, group[1] + nodes
        found.append((list(dict.fromkeys(names)), nodes))
    return found


def _stands_in_loop(loop: Node, nodes: list[Node]) -> bool:
    held = set(statements(loop.body))
    return any(node in held for node in nodes)


def _check_origin(name: str, nodes: list[Node], order: list[Node], function: Node, facts: Facts) -> list[Node]:
    """The statements that bind the name to a part of an array, which must be a number; any other is refused."""
    doubtful = [other for other in order if _is_doubtful(other, name, facts)]
    argument = name in parameters(function)
    if not doubtful and not argument:
        return []
    met = _values_where_changed(name, nodes, function)
    if argument and None in met and facts.kinds.arguments.get(name, UNKNOWN).tag != "scalar":
        raise _refusal(nodes[0], name, "it is an argument, which the caller holds", facts)
    numbers = []
    for other in doubtful:
        if not isinstance(other, gast.For) and may_be_number(other, facts):
            numbers.append(other)
        elif other in met:
            where = getattr(other, "lineno", 0)
            raise _refusal(nodes[0], name, f"line {where} may bind it to an array that something else holds", facts)
    return numbers


def _is_doubtful(node: Node, name: str, facts: Facts) -> bool:
    """Whether a statement may bind a name to what something else holds."""
    if name not in stores(node) or name in written_names(node):
        return False
    return not (node in facts.origin.augmented or is_fresh(node, facts))


def _values_where_changed(name: str, nodes: list[Node], function: Node) -> dict[Node | None, None]:
    """The statements whose value a name may have where it is changed; None for the argument that the caller gave."""
    reaching = definitions(function.body, parameters(function))
    places = [reaching.of[k][0] for n in nodes if name in loads(n) for k in reaching.at(n, name)]
    return {reaching.graph.nodes[place]: None for place in places}


def may_be_number(node: Node, facts: Facts) -> bool:
    """Whether an assignment may bind a number: an element of an array, if it has as few axes as there are indices.

    What a cache gave may be one too, and so may `np.float64(x)`, and another name of a value that is not known.
    """
    spec = facts.values.spec.get(node)
    if node in facts.resolution.kept or _converted(node, facts) is not None or _renames(node):
        return spec is not None and not spec.ndim
    operation = facts.resolution.operation.get(node.value)
    part = operation.bound["index"] if operation is not None and operation.function is operator.getitem else None
    if part is None and operation is None and isinstance(node.value, gast.Subscript):
        part = node.value.slice
    if part is None or (spec is not None and spec.ndim):
        return False
    return not any(isinstance(item, gast.Slice) or getattr(item, "value", 0) in (None, ...) for item in walk(part))


def _renames(node: Node) -> bool:
    """Whether an assignment gives another name to a value, or to one of two."""
    value = getattr(node, "value", None) if target(node) is not None else None
    given = [value.body, value.orelse] if isinstance(value, gast.IfExp) else [value]
    return all(isinstance(one, gast.Name | gast.Attribute | gast.Constant) for one in given)


def _converted(node: Node, facts: Facts) -> Node | None:
    """The x of `np.float64(x)`, which gives a number, and x itself where that is an array."""
    operation = facts.operation_of(node)
    called = operation.function if operation is not None else None
    if operation is None or not (isinstance(called, type) and issubclass(called, np.generic)):
        return None
    given: Node = next(iter(operation.bound.values()))
    return given if isinstance(given, gast.Name) else None


def check_numbers(block: list[Node], numbers: dict[Node, None], facts: Facts) -> None:
    """Look at run time at what must be a number, once for each statement that binds it."""
    numbers = {node: None for node in numbers if node not in facts.resolution.checked}
    facts.resolution.checked.update(numbers)

    def checked(node: Node) -> Block:
        spec = facts.values.spec.get(node)
        renames = _renames(node)  # where what has no axes may be an array, which changes under both names
        if node not in numbers or (spec is not None and spec.scalar and not renames):
            return [node]
        converted = _converted(node, facts)
        behind = node in facts.resolution.kept or renames
        if behind:
            check = statement(f"{facts.library('check_number')}(x)", x=name(str(target(node))))
        else:  # in front: what is bound may be a copy
            whole = copy_with_facts(node.value.value if converted is None else converted, facts)
            part = copy_with_facts(node.value, facts)
            check = statement(f"{facts.library('check_number')}(x, a)", x=part, a=whole)
        facts.resolution.effects[check] = None
        facts.origin.user[check] = facts.origin.user.get(node, node)  # it stands in the midst of that statement
        return [node, at(check, node)] if behind else [at(check, node), node]

    if numbers:
        block[:] = rewrite_statements(block, checked, backwards=True)


def is_fresh(node: Node, facts: Facts) -> bool:
    """Whether an assignment binds a new array, or a number."""
    if gives_several(node, facts):
        return True
    if not isinstance(node, gast.Assign) or target(node) is None or node in facts.resolution.kept:
        return False
    value = node.value
    operation = facts.resolution.operation.get(value)
    if is_gathered(value, facts):
        return True
    if operation is not None and operation.rule is not None:
        return not is_view(operation, facts) or _is_fitted_anew(operation, facts)
    if operation is not None:
        return False
    if isinstance(value, gast.Call):
        if isinstance(value.func, gast.Attribute) and value.func.attr == "copy":
            return True
        return makes_new_value(value, facts)
    if isinstance(value, gast.IfExp):
        return all(makes_new_value(side, facts) for side in (value.body, value.orelse))
    return isinstance(value, gast.Constant | gast.BinOp | gast.UnaryOp | gast.Compare)


def _is_fitted_anew(operation: Operation, facts: Facts) -> bool:
    """Whether an operation is `sum_to(x * y, z)`, of a value that has no name: nothing else holds that."""
    first = next(iter(operation.bound.values()), None)
    given = getattr(first, "id", "") if operation.rule is not None and operation.rule.result == "argument" else ""
    definition = facts.activity.definition.get(given)
    return definition is not None and given in facts.names.temporaries and is_fresh(definition, facts)


def is_new(value: Node, function: Node, facts: Facts, known: dict[str, bool] | None = None) -> bool:
    """Whether a value is a number, or an array that the function made; or a tuple of such."""
    known = {} if known is None else known  # by name, what was found; of one that is a copy of itself nothing is
    if isinstance(value, gast.Tuple):
        return all(is_new(item, function, facts, known) for item in value.elts)
    if not isinstance(value, gast.Name) or value.id in parameters(function):
        return isinstance(value, gast.Constant)
    if value.id not in known:
        known[value.id] = False
        known[value.id] = _are_new(value.id, function, facts, known)
    return known[value.id]


def _are_new(name: str, function: Node, facts: Facts, known: dict[str, bool]) -> bool:
    made = [n for n in statements(function.body) if name in stores(n) and name not in written_names(n)]
    for node in made:
        operation = facts.operation_of(node)
        if operation is not None and operation.kind == "callee" and facts.module.returns_new(operation.function):
            continue
        if target(node) is not None and isinstance(node.value, gast.Name):
            if not is_new(node.value, function, facts, known):
                return False
        elif not is_fresh(node, facts):
            return False
    return bool(made)


def is_new_of_step(node: Node, facts: Facts) -> bool:
    """Whether a statement takes what a trip of a checkpointed loop gives, and that is new."""
    value = getattr(node, "value", None)
    made: Node | None = node
    if isinstance(value, gast.Name) and isinstance(node.targets[0], gast.Tuple):
        made = facts.activity.definition.get(value.id)
    operation = facts.operation_of(made)
    return (
        operation is not None
        and isinstance(operation.function, Step)
        and bool(facts.module.returns_new(operation.function))
    )


def is_gathered(value: Node, facts: Facts) -> bool:
    """Whether an expression reads elements by a list of places or by a mask, `a[[0, 2]]`, `a[a > 0]`: a copy."""
    operation = facts.resolution.operation.get(value)
    index = operation.bound["index"] if operation is not None and operation.function is operator.getitem else None
    if index is None and operation is None and isinstance(value, gast.Subscript):
        index = value.slice
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    if any(isinstance(part, gast.List) or _holds_places(part, facts) for part in parts):
        return True
    return isinstance(value, gast.Subscript) and _is_array(value.value, facts) and _is_mask(value.slice, facts)


def _holds_places(index: Node | None, facts: Facts, several: tuple[str, ...] = ("array", "arrays")) -> bool:
    """Whether an index is an array of places, or several such: `np.argsort(a)`, `np.nonzero(a)[0]`."""
    if isinstance(index, gast.Name):
        made = facts.activity.definition.get(index.id)
        return made is not None and target(made) is not None and _holds_places(made.value, facts, several)
    if isinstance(index, gast.Subscript):
        one = "array" in several and isinstance(index.slice, gast.Constant)  # an item of one of them is a place
        return one and _holds_places(index.value, facts, ("arrays",))
    if not isinstance(index, gast.Call):
        return False
    function, _ = function_called(index, facts)
    if function is np.where:
        return len(index.args) == 1 and not index.keywords and "arrays" in several
    rule = rule_of(function)
    return rule is not None and rule.dtype == "integer" and rule.gives in several


def _is_array(value: Node, facts: Facts) -> bool:
    """Whether a name holds nothing but arrays: lists and dicts have items at False and True."""
    user = facts.names.base.get(getattr(value, "id", ""), getattr(value, "id", ""))
    known = facts.kinds.named.get(user) or facts.kinds.of_names.get(user)
    return known is not None and known.tag == "array"


def _is_mask(index: Node, facts: Facts) -> bool:
    """Whether an index is a comparison, or made of such: of an array it takes a copy, even where it is one boolean."""
    if isinstance(index, gast.Name):
        made = facts.activity.definition.get(index.id)
        return made is not None and isinstance(made, gast.Assign) and _is_mask(made.value, facts)
    if isinstance(index, gast.BinOp):
        both = isinstance(index.op, gast.BitAnd | gast.BitOr) and _is_mask(index.left, facts)
        return both and _is_mask(index.right, facts)
    if isinstance(index, gast.UnaryOp):
        return isinstance(index.op, gast.Invert) and _is_mask(index.operand, facts)
    return isinstance(index, gast.Compare)


def is_computed(value: Node) -> bool:
    """Whether an expression without an operation of its own gives a new value in any case."""
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
        return value.func.attr.removesuffix("_like") in ("zeros", "ones", "empty", "full")
    if isinstance(value, gast.Call):
        return getattr(value.func, "id", "") in ("len", "int", "float", "range")
    if isinstance(value, gast.Attribute):
        return value.attr in ("shape", "dtype", "size", "ndim")
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Attribute):
        return bool(value.value.attr == "shape")
    return isinstance(value, gast.BinOp | gast.UnaryOp | gast.Compare | gast.Constant | gast.BoolOp)


def _hands_on(node: Node, name: str, order: list[Node], facts: Facts) -> bool:
    """Whether a statement may let something else hold the array of a name; a part of an expression may end in one."""
    found = [_handed_on(node, name, facts)]
    for part in found:  # it grows meanwhile
        further = [_handed_on(other, part, facts) for other in order] if isinstance(part, str) else []
        found += [one for one in dict.fromkeys(further) if one not in found]
    return True in found


def _handed_on(node: Node, name: str, facts: Facts) -> bool | str:
    """Whether a statement does so itself; the name of the part of an expression that it gives the array to."""
    if not isinstance(node, gast.Assign) or name in stores(node):
        return False
    operation = facts.resolution.operation.get(node.value)
    if not mentions(node.value, name):
        return False
    if operation is None:
        return not (is_computed(node.value) or makes_new_value(node.value, facts))
    if operation.kind != "op":
        return True
    if not is_view(operation, facts):
        return False
    held = target(node)
    return True if held is None or held not in facts.names.temporaries else held


def _refusal(node: Node, name: str, why: str, facts: Facts) -> Exception:
    user = facts.names.base.get(name, name)
    plain = facts.origin.plain.get(facts.origin.user.get(node, node))
    new = f"{user} = {user} + ..."
    if plain is not None:
        value = copy_with_facts(plain.value, facts)
        for one in find_nodes(value, gast.Name):
            one.id = facts.names.base.get(one.id, one.id)
        new = f"{user} = {gast.unparse(value)}"
    remedy = f"write `{new}`, which makes a new array, or `{user}[...] += ...` to change the one it has"
    return facts.refuse(node, "E5010", f"`{user}` is changed in place, and {why}", remedy)


Views = dict[str, dict[str, None]]  # name -> the written arrays that it may be a view of


def views_of(order: list[Node], arrays: Iterable[str], facts: Facts) -> Views:
    """Names that may share memory with a written array, through any number of steps."""
    views: Views = {array: {array: None} for array in arrays}
    changed = True
    while changed:
        changed = False
        for node in order:
            found = {base: None for read in names_sharing_memory(node, facts) for base in views.get(read, {})}
            for bound in stores(node) if found and not is_write(node) else []:
                known = views.setdefault(bound, {})
                changed = changed or any(base not in known for base in found)
                known.update(found)
    return {view: bases for view, bases in views.items() if list(bases) != [view]}


def names_sharing_memory(node: Node, facts: Facts) -> list[str]:
    """Names whose memory a statement may hand to what it binds."""
    if is_swap(node) and node.value.elts[0].id in facts.memory.swapped:
        return []  # the arrays stay apart
    if isinstance(node, gast.For):
        return [node.iter.id] if isinstance(node.iter, gast.Name) else []
    if not isinstance(node, gast.Assign) or is_write(node):
        return []
    value = node.value
    if node in facts.values.spec and facts.values.spec[node].scalar and not isinstance(value, gast.Name):
        return []  # a number; a second name of what is written into stands for it, axes or not
    operation = facts.resolution.operation.get(value)
    if is_gathered(value, facts) or node in facts.resolution.apart:
        return []
    if operation is None:
        return [] if is_computed(value) or makes_new_value(value, facts) else _names_of_values(value)
    if operation.kind == "op" and not is_view(operation, facts):
        return []
    if operation.kind == "callee" and facts.module.returns_new(operation.function):
        return []
    if operation.rule is not None and operation.rule.result == "argument":
        value = next(iter(operation.bound.values()))
    return [n.id for n in find_nodes(value, gast.Name) if isinstance(n.ctx, gast.Load)]


def containers_of_arrays(order: list[Node], arrays: dict[str, None], facts: Facts) -> dict[str, None]:
    """Lists, tuples and dicts that may hold one of some arrays, and names of what is taken out of them.

    What the backward half puts back into such an array shows in them.
    """
    found: dict[str, None] = {}
    before = -1
    while before < len(found):
        before = len(found)
        for node in order:
            bound = stores(node)
            container = any(facts.list_kind(one) or one in facts.kinds.containers for one in bound)
            given = loads(node) if container else names_sharing_memory(node, facts)
            if any(one in found or (container and one in arrays) for one in given):
                found.update(dict.fromkeys(one for one in bound if one not in arrays))
    return found


def _names_of_values(value: Node) -> list[str]:
    """The names in an expression, but for those of which it takes a length or a shape: `rng.normal(size=len(x))`."""
    if isinstance(value, gast.Name):
        return [value.id]
    if isinstance(value, gast.Call | gast.Attribute) and is_computed(value):
        return []
    return [one for part in children(value) for one in _names_of_values(part)]


def check_stale(flow: Graph, views: Views, body: Block, facts: Facts) -> None:
    """Refuse to read a view after what it shows has been written into; what may be a number is looked at."""
    bits = {view: 1 << k for k, view in enumerate(views)}
    shown = _shown_arrays(flow, views, facts)
    made, killed = [0] * len(flow.nodes), [0] * len(flow.nodes)
    for number, node in enumerate(flow.nodes):
        if node is None:
            continue
        for bound in flow.bound_at(number):
            if bound in bits and not is_write(node):
                killed[number] |= bits[bound]
        if is_write(node) or (is_swap(node) and stores(node)[0] in facts.memory.swapped):
            changed = {name for w in stores(node) for name in facts.memory.swapped.get(w, {w: None})}
            made[number] = sum(bits[v] for v, bases in views.items() if changed & bases.keys() & shown(number, v))
    stale = solve_forward(flow, made, killed)
    for number, node in enumerate(flow.nodes):
        for read in flow.read_at(number) if stale[number] else []:
            if node is not None and stale[number] & bits.get(read, 0) and not is_checked(read, body, facts):
                raise _stale(node, read, views[read], flow, facts)


def _shown_arrays(flow: Graph, views: Views, facts: Facts) -> Callable[[int, str], set[str]]:
    """Of which arrays, as they are at a node, a view may show elements: it does not of one that was made since."""
    pairs = {pair: 1 << k for k, pair in enumerate((v, base) for v, bases in views.items() for base in bases)}
    made, killed = [0] * len(flow.nodes), [0] * len(flow.nodes)
    for number, node in enumerate(flow.nodes):
        if node is None or is_write(node):
            continue
        bound, anew = flow.bound_at(number), _made_anew(number, flow, facts)
        killed[number] = sum(bit for (v, base), bit in pairs.items() if v in bound or base in anew)
        made[number] = sum(bit for (v, _), bit in pairs.items() if v in bound and v not in anew)
    held = solve_forward(flow, made, killed)
    return lambda number, v: {base for base in views[v] if held[number] & pairs[v, base]}


def is_checked(view: str, body: Block, facts: Facts) -> bool:
    """Whether all that a name is bound to may be elements of arrays: the text makes sure that they are."""
    made = [n for n in statements(body) if view in stores(n) and not is_write(n)]
    if not made or not all(target(n) == view and may_be_number(n, facts) for n in made):
        return False
    check_numbers(body, dict.fromkeys(made), facts)
    return True


def _stale(node: Node, read: str, bases: dict[str, None], flow: Graph, facts: Facts) -> Exception:
    base = next(iter(bases))
    changes = [n for n in flow.nodes if n is not None and (is_write(n) or is_swap(n)) and base in stores(n)]
    lines = [n.lineno for n in changes] or [node.lineno]
    own = facts.names.base.get(read, read)
    seen = f"`{own}`" if any(n.id == own for n in find_nodes(facts.source.tree, gast.Name)) else "what this line reads"
    array = facts.names.base.get(base, base)
    within = f"copy what the line reads: `{array}[...].copy()`"
    before = f"copy what is needed before line {lines[0]}: `.copy()`, or read `{array}` itself"
    return facts.refuse(
        node,
        "E5010",
        f"{seen} may show the elements of `{array}` that line {lines[0]} has changed",
        within if node.lineno == lines[0] else before,
    )


def check_rows(order: list[Node], views: Views, arrays: Iterable[str], facts: Facts) -> None:
    """A loop over the rows of an array must not write into it."""
    for node in order:
        if not (isinstance(node, gast.For) and isinstance(node.iter, gast.Name)):
            continue
        bases = set(views.get(node.iter.id, {})) | ({node.iter.id} & set(arrays))
        for inner in statements(node.body):
            if is_write(inner) and bases & set(written_names(inner)):
                raise facts.refuse(
                    inner, "E5010", "a loop over the rows of an array writes into it", "loop over an index"
                )


def settle(node: Node, flow: Graph, views: Views, arrays: Iterable[str], body: Block, facts: Facts) -> None:
    """Containers and callees that hold an array while it changes are refused."""
    if (
        not isinstance(node, gast.Assign)
        or is_write(node)
        or (is_swap(node) and stores(node)[0] in facts.memory.swapped)
    ):
        return
    operation = facts.resolution.operation.get(node.value)
    callee = operation is not None and operation.kind != "op"
    if not callee and not isinstance(node.value, gast.Tuple | gast.List | gast.Dict):
        return
    if operation is not None and is_new_of_step(node, facts):
        return  # nothing holds what it was given: its adjoint gets the array, once that is what it was
    read = [n.id for n in find_nodes(node.value, gast.Name)]
    bases = {base for r in read if r in arrays for base in [r]}
    for view in [r for r in read if r not in arrays and r in views]:
        if written_after(flow, node, views[view], facts) and not is_checked(view, body, facts):
            bases.update(views[view])
    for later in written_after(flow, node, bases, facts):
        array = written_names(later)[0]
        raise facts.refuse(
            later,
            "E5010",
            f"`{facts.names.base.get(array, array)}` changes, and line {node.lineno} has given it on",
            f"give a copy in line {node.lineno}: `.copy()`",
        )


def written_after(flow: Graph, node: Node, bases: Iterable[str], facts: Facts) -> list[Node]:
    """Writes into one of some arrays, as they are after a statement, that may be reached from there."""
    found: dict[Node, None] = {}
    for base in bases:
        wanted = set(facts.memory.swapped.get(base, {base: None}))

        def keeps(number: int, base: str = base) -> bool:
            return base not in _made_anew(number, flow, facts)

        for number in flow.after(node, keeps):
            after = flow.nodes[number]
            if after is not None and is_write(after) and wanted & set(written_names(after)):
                found[after] = None
    return list(found)


def _made_anew(number: int, flow: Graph, facts: Facts) -> list[str]:
    """Names to which a node gives a new array: nothing has its elements that had those of the one before."""
    node = flow.nodes[number]
    if node is None or is_write(node) or not is_fresh(node, facts):
        return []
    return [bound for bound in flow.bound_at(number) if bound not in facts.memory.swapped]


def check_held(body: Block, flow: Graph, views: Views, facts: Facts) -> None:
    """Refuse a change that another name, another list or a called function would see."""
    order = list(statements(body))
    changed = dict.fromkeys(w for node in order for w in written_names(node) if facts.list_kind(w))
    for node in order:
        if isinstance(node, gast.For) and isinstance(node.iter, gast.Name) and node.iter.id in changed:
            _check_trips(node, facts)
        given = _escaping_operands(node, facts)
        shown = [part for part in given if not isinstance(part, gast.BinOp | gast.UnaryOp | gast.Compare)]
        for held in [n.id for part in shown for n in find_nodes(part, gast.Name)]:
            if held in changed and (later := _changed_after(flow, node, held)) is not None:
                raise _refusal_of_stale(later, node, held, facts.kinds.containers.get(held, "list"), facts)
        if written_names(node) and facts.list_kind(written_names(node)[0]):
            _check_items(node, given, flow, views, body, facts)


def _escaping_operands(node: Node, facts: Facts) -> list[Node]:
    """What a statement lets something else hold: a second name, an item, an argument."""
    if written_names(node):
        if isinstance(node, gast.Expr):
            return [node.value.args[-1]] if node.value.args else []
        return [node.value] if is_write(node) else []
    value = node.value if isinstance(node, gast.Assign) and not is_swap(node) else None
    if isinstance(value, gast.Name | gast.Tuple | gast.List | gast.Dict | gast.IfExp):
        return [value]
    operation = None if value is None else facts.resolution.operation.get(value)
    if operation is not None and operation.function in (list, sorted):
        return []  # a list of its own, of the same items; of a dict, its keys
    if isinstance(value, gast.Call) and operation is not None and operation.kind != "op":
        return [*value.args, *(w.value for w in value.keywords)]
    return []


def _changed_after(flow: Graph, node: Node, held: str) -> Node | None:
    """A change of a list that may come after a statement, before its name holds another one."""

    def keeps(number: int) -> bool:
        after = flow.nodes[number]
        return after is None or held not in stores(after)

    reached = (flow.nodes[number] for number in flow.after(node, keeps))
    return next((after for after in reached if after is not None and held in written_names(after)), None)


def _check_trips(loop: Node, facts: Facts) -> None:
    for inner in statements(loop.body):
        if loop.iter.id in written_names(inner):
            what = f"a loop over `{_user(loop.iter.id, facts)}` changes it"
            raise facts.refuse(inner, "E5010", what, "loop over a copy: `list(...)`")


def _check_items(node: Node, given: Iterable[Node], flow: Graph, views: Views, body: Block, facts: Facts) -> None:
    """An array that goes into a list and changes later changes in the list as well."""
    kept = [part for part in given if not is_computed(part)]
    for read in [n.id for part in kept for n in find_nodes(part, gast.Name)]:
        bases = {read: None} if read in facts.memory.mutable else views.get(read, {})
        later = written_after(flow, node, bases, facts)
        if later and (read in facts.memory.mutable or not is_checked(read, body, facts)):
            raise _refusal_of_stale(later[0], node, written_names(later[0])[0], "array", facts)


def _refusal_of_stale(later: Node, node: Node, held: str, what: str, facts: Facts) -> Exception:
    copy = "`list(...)`" if what == "list" else "`.copy()`"
    return facts.refuse(
        later,
        "E5010",
        f"the {what} `{_user(held, facts)}` changes, and line {node.lineno} has given it on",
        f"give a copy in line {node.lineno}: {copy}",
    )


def _user(name: str, facts: Facts) -> str:
    return facts.names.base.get(name, name)
