"""Activity: which values depend on an input and influence the output.

Dicts and lists of which the function only reads and binds parts by literal keys: activity looks at each part.

Activity: a name is active if it depends on a differentiated input and influences the output.
"""

from __future__ import annotations

import operator

import gast
import numpy as np

from srcgrad.analysis.argument_kinds import check_attributes
from srcgrad.analysis.dtypes import check_steps, integers
from srcgrad.core.control_flow import Edge, reachable_names
from srcgrad.core.facts import UNKNOWN, Facts
from srcgrad.core.namespace import Step
from srcgrad.core.rules import adjoint_template, tangent_template
from srcgrad.core.trees import (
    Block,
    Node,
    adds_axes,
    children,
    find_nodes,
    header,
    is_write,
    loads,
    parameters,
    part_written,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.frontend.calls.derivatives_in_body import without_checks


def containers_by_parts(function: Node, facts: Facts) -> dict[str, None]:
    """The names of such containers: a counter in one is no input of what stands beside it.

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> text = "def f(x):\\n    s = {'a': x, 'n': 0}\\n    s['n'] = s['n'] + 1\\n    n = s['n']\\n    return n * s['a']"
    >>> sorted(explain_facts(text).activity.active)
    ['s', 't4', 'x', 'y']
    """
    if not facts.kinds.lists:
        return {}
    given = set(parameters(function))
    found: dict[str, None] = {}
    other: dict[str, None] = {}
    for node in statements(function.body):
        bound = target(node)
        if bound is not None and facts.list_kind(bound):
            (found if _is_display(node.value) else other)[bound] = None
        by_part = [n.value for part in header(node) for n in walk(part) if _by_literal(n)]
        read = [n for part in header(node) for n in find_nodes(part, gast.Name) if _reads(n)]
        other.update(dict.fromkeys(n.id for n in read if all(n is not one for one in by_part)))
    return {held: None for held in found if held not in other and held not in given}


def part_read(value: Node, held: dict[str, None]) -> str | None:
    """What the part is called that an expression reads of one of these containers; None for any other expression."""
    if not _by_literal(value) or value.value.id not in held:
        return None
    return _part(value.value.id, value.slice)


def parts_bound(node: Node, held: dict[str, None]) -> list[tuple[str, Node]]:
    """The parts that a statement binds, each with its value; none for what is no statement of this kind."""
    if not held:
        return []
    bound = target(node)
    if bound in held and bound is not None:
        if isinstance(node.value, gast.Dict):
            keys = [key for key in node.value.keys if key is not None]
            return [(_part(bound, key), value) for key, value in zip(keys, node.value.values, strict=True)]
        places = (gast.Constant(value=k, kind=None) for k in range(len(node.value.elts)))
        return [(_part(bound, key), value) for key, value in zip(places, node.value.elts, strict=True)]
    if not is_write(node):
        return []
    part = part_written(node)
    name = part_read(part, held)
    return [] if name is None else [(name, node.value)]


def _part(held: str, key: Node) -> str:
    """1, 1.0 and True are one key of a dict."""
    value = key.value
    whole = isinstance(value, bool | float) and value == value // 1
    return f"{held}[{int(value) if whole else value!r}]"


def _by_literal(node: Node) -> bool:
    """Whether an expression is `d["k"]`."""
    literal = isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Constant)
    return literal and isinstance(node.value, gast.Name)


def _reads(node: Node) -> bool:
    return isinstance(node.ctx, gast.Load)


def _is_display(value: Node) -> bool:
    if isinstance(value, gast.Dict):
        return all(isinstance(key, gast.Constant) for key in value.keys)
    return isinstance(value, gast.List)


def active_sources(node: Node, facts: Facts) -> list[str]:
    """Names through which a derivative may flow into an assignment or a loop variable."""
    if isinstance(node, gast.For):
        return [node.iter.id] if isinstance(node.iter, gast.Name) else []
    if is_write(node):
        return [*written_names(node), *_sources_of_value(node.value, facts)]
    if written_names(node):
        if isinstance(node, gast.Assign):
            return [node.value.func.value.id]  # h = h_stack.pop()
        last = node.value if isinstance(node, gast.AugAssign) else node.value.args[-1]
        return [*written_names(node), *_sources_of_value(last, facts)]
    if not isinstance(node, gast.Assign) or getattr(node.targets[0], "id", "") in facts.idioms.shifts:
        return []
    return _sources_of_value(node.value, facts)


def _sources_of_value(value: Node, facts: Facts) -> list[str]:
    if isinstance(value, gast.Name):
        return [value.id]
    if isinstance(value, gast.Tuple | gast.List):
        return [found for item in value.elts for found in _sources_of_value(item, facts)]
    if isinstance(value, gast.Dict):
        return [found for item in value.values for found in _sources_of_value(item, facts)]
    operation = facts.resolution.operation.get(value)
    if operation is None:
        return []
    part = part_read(value, facts.kinds.parted)
    if part is not None:
        return [part]
    if operation.function in (list, sorted) and _is_dict(value.args[0], facts):
        return []  # its keys
    if operation.kind != "op":
        called = _names_and_parts(value.func, facts)  # what is called may have been computed
        given = [*value.args, *(w.value for w in value.keywords)]
        return [*called, *(read for part in given for read in _sources_of_value(part, facts))]
    assert operation.rule is not None, "an op has a rule"
    places = (*differentiable_parameters(operation.rule), *operation.rule.refuses)
    return [
        read
        for parameter, argument in operation.bound.items()
        if parameter in places
        for read in _sources_of_value(argument, facts)
    ]


def _names_and_parts(tree: Node, facts: Facts) -> list[str]:
    """The names below a tree, and of containers of which activity looks at the parts, the parts."""
    part = part_read(tree, facts.kinds.parted)
    if part is not None or isinstance(tree, gast.Name):
        return [part or tree.id]
    return [found for child in children(tree) for found in _names_and_parts(child, facts)]


def _is_dict(value: Node, facts: Facts) -> bool:
    held = value.id if isinstance(value, gast.Name) else ""
    return "dict" in (facts.kinds.containers.get(held), facts.list_kind(held))


def differentiable_parameters(rule: object) -> tuple[str, ...]:
    """Parameters of an op through which a derivative flows."""
    reverse = adjoint_template(rule)  # type: ignore[arg-type]
    if reverse is not None:
        return reverse.differentiable
    forward = tangent_template(rule)  # type: ignore[arg-type]
    assert forward is not None, "an op that is not constant has a template"
    read = {n.slice.id for s in forward.body for n in walk(s) if _is_derivative(n)}
    return tuple(p for p in forward.parameters if p in read)


def _is_derivative(node: Node) -> bool:
    return (
        isinstance(node, gast.Subscript)
        and isinstance(node.value, gast.Name)
        and node.value.id == "d"
        and isinstance(node.slice, gast.Name)
    )


def activity(function: Node, facts: Facts) -> Node:
    """Find the active names: varied (reached from an input) and useful (reaching the output).

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> text = "def f(x, n):\\n    k = n + 1\\n    s = np.sin(x)\\n    y = s * k\\n    return y"
    >>> sorted(explain_facts(text).activity.active)
    ['k', 'n', 's', 'x', 'y']
    """
    facts.kinds.parted = containers_by_parts(function, facts)
    edges, tuples = flow_edges(function, facts)
    result = function.body[-1]
    outputs = list(loads(result.value.elts[0] if facts.request.auxiliary else result))
    varied = reachable_names(list(facts.request.wrt), edges)
    useful = reachable_names(outputs, [(after, before) for before, after in edges])
    for held, parts in _parts(function, facts).items():
        for found in (varied, useful):
            if any(part in found for part in parts):
                found[held] = None
        varied, useful = ({one: None for one in found if one not in parts} for found in (varied, useful))
    for held, parts in tuples.items():
        if any(part in varied and part in useful for part in parts):
            varied[held] = useful[held] = None
    facts.activity.varied = varied
    function.body = without_checks(function.body, facts)
    facts.activity.active = {found: None for found in varied if found in useful}
    _check_refused(function, facts)
    check_steps(function, useful, facts)
    check_attributes(function, facts)
    _note_lines(function, useful, facts)
    _count(function, facts)
    _index(function, facts)
    return function


def own_branches(function: Node, facts: Facts) -> None:
    """Note how deep in branches a text of ours binds the active names that are bound in branches alone."""
    given = parameters(function)
    depths = branch_depths(function.body)
    facts.activity.branch_depth = {n: depths[n] for n in facts.activity.active if depths.get(n, 0) and n not in given}


def _check_refused(function: Node, facts: Facts) -> None:
    """Refuse a derivative with respect to a parameter that has none."""
    for node in statements(function.body):
        operation = facts.operation_of(node)
        if (
            operation is None
            or operation.rule is None
            or not any(bound in facts.activity.active for bound in stores(node))
        ):
            continue
        for parameter, reason in operation.rule.refuses.items():
            argument = operation.bound.get(parameter)
            found = [] if argument is None else _sources_of_value(argument, facts)
            labels = [
                one
                for one in found
                if facts.module.blocks and facts.kinds.of_names.get(one, UNKNOWN).dtype == "integer"
            ]
            if any(read in facts.activity.active and read not in labels for read in found):
                raise facts.refuse(
                    node.value,
                    "E5001",
                    f"{operation.rule.name} has no derivative with respect to `{parameter}`: {reason}",
                    f"leave it out of wrt, or use srcgrad.stop_gradient on `{parameter}`",
                )


def flow_edges(function: Node, facts: Facts) -> tuple[list[Edge], dict[str, list[str]]]:
    """From which names a derivative flows to which, statement by statement; the tuples that steps of loops return.

    What a step returns depends on those of its arguments from which that part is computed.
    """
    edges: list[Edge] = []
    tuples: dict[str, list[str]] = {}
    made: dict[str, list[list[str]]] = {}  # name of a step's tuple -> for each part the names that flow into it
    truncated = integers(function, facts)
    for node in statements(function.body):
        if any(held in truncated for held in stores(node)):
            continue  # elements are cut off there
        operation = facts.operation_of(node)
        if operation is not None and isinstance(operation.function, Step):
            arguments = dict(zip(operation.function.parameters, node.value.args, strict=True))
            flows = facts.module.flows(operation.function)
            parts = [[r for p in flow for r in _sources_of_value(arguments[p], facts)] for flow in flows]
            if len(parts) > 1 and isinstance(node.targets[0], gast.Name):
                made[node.targets[0].id] = parts
                continue
            edges += [(part, [bound]) for part, bound in zip(parts, stores(node), strict=True) if part]
        elif isinstance(node, gast.Assign) and getattr(node.value, "id", "") in made:
            tuples[node.value.id] = stores(node)
            edges += [(p, [b]) for p, b in zip(made[node.value.id], stores(node), strict=True) if p]
        elif bound := parts_bound(node, facts.kinds.parted):
            edges += [(sources, [part]) for part, value in bound if (sources := _sources_of_value(value, facts))]
        else:
            sources = active_sources(node, facts)
            if sources:
                edges.append((sources, stores(node)))
    return edges, tuples


def _parts(function: Node, facts: Facts) -> dict[str, list[str]]:
    """The parts of each container of which activity looks at the parts."""
    found: dict[str, list[str]] = {held: [] for held in facts.kinds.parted}
    for node in statements(function.body):
        for part, _ in parts_bound(node, facts.kinds.parted):
            found[part.partition("[")[0]].append(part)
    return found


def flows(function: Node, facts: Facts) -> list[list[str]]:
    """For each part of the result the parameters from which a derivative flows into it."""
    edges, _ = flow_edges(function, facts)
    value = function.body[-1].value
    parts = value.elts if isinstance(value, gast.Tuple) else [value]
    backwards = [(after, before) for before, after in edges]
    found = [reachable_names(_sources_of_value(part, facts), backwards) for part in parts]
    return [[p for p in parameters(function) if p in sources] for sources in found]


def _note_lines(function: Node, useful: dict[str, None], facts: Facts) -> None:
    """By line of the text: whether what it binds is active, or why it is not."""
    for node in statements(function.body):
        bound = stores(node) if not isinstance(node, gast.Return) else loads(node)
        if not bound or "lineno" not in node.__dict__:
            continue
        if any(name in facts.activity.active for name in bound):
            reason = "active"
        elif any(name in facts.activity.varied for name in bound):
            reason = "does not reach the result"
        else:
            reason = f"depends on none of {', '.join(facts.request.wrt)}"
        facts.origin.lines.setdefault(node.lineno, {})[reason] = None


def branch_depths(block: Block, depth: int = 0) -> dict[str, int]:
    """In how many branches a name is bound, at least; both sides of one count as what is around it."""
    found: dict[str, int] = {}
    for node in block:
        within = depth + isinstance(node, gast.If)
        body, other = (branch_depths(getattr(node, side, []), within) for side in ("body", "orelse"))
        bound = dict.fromkeys(stores(node), depth)
        for held in [*body, *other]:
            least = min(side[held] for side in (body, other) if held in side)
            bound[held] = depth if held in body and held in other else least
        for held, at in bound.items():
            found[held] = min(at, found.get(held, at))
    return found


def _index(function: Node, facts: Facts) -> None:
    """Active names of which parts are read or written: elements of their adjoints will change."""
    facts.activity.indexed.update(dict.fromkeys(facts.memory.swapped))
    computed = _elementwise_results(function, facts)
    for node in statements(function.body):
        if is_write(node):
            facts.activity.indexed.update(dict.fromkeys(written_names(node)))
        operation = facts.operation_of(node)
        if operation is not None and operation.function is operator.getitem:
            source = operation.bound["x"]
            if adds_axes(operation.bound["index"], getattr(source, "id", "") in computed):
                continue  # its adjoint is that of the whole, without these axes
            if isinstance(source, gast.Name) and source.id in facts.activity.active:
                facts.activity.indexed[source.id] = None
        elif operation is not None and operation.rule is not None and operation.rule.own is not None:
            added = [operation.bound.get(p) for p in operation.rule.own.accumulators]
            facts.activity.indexed.update(
                {a.id: None for a in added if isinstance(a, gast.Name) and a.id in facts.activity.active}
            )
        elif isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple):
            if isinstance(node.value, gast.Name) and not _from_callee(node.value.id, facts):
                facts.activity.indexed[node.value.id] = None
        elif isinstance(node, gast.For) and isinstance(node.iter, gast.Name):
            facts.activity.indexed[node.iter.id] = None


def _elementwise_results(function: Node, facts: Facts) -> frozenset[str]:
    """Names that hold what elementwise operations gave, and no dict, which may have the key None."""
    bound: dict[str, bool] = dict.fromkeys(parameters(function), False)
    for node in statements(function.body):
        operation = facts.operation_of(node)
        elementwise = operation is not None and isinstance(operation.function, np.ufunc)
        bound.update({held: elementwise and bound.get(held, True) for held in stores(node)})
    return frozenset(held for held, elementwise in bound.items() if elementwise)


def _from_callee(name: str, facts: Facts) -> bool:
    """Whether a name holds what a function with source returned: its adjoint is passed back as it is."""
    definition = facts.activity.definition.get(name)
    operation = facts.operation_of(definition)
    return operation is not None and operation.kind == "callee"


def _count(function: Node, facts: Facts) -> None:
    """Where each name is bound, if once, and how often it is read; a parameter is bound by the call."""
    bound: dict[str, list[Node]] = {}
    for node in statements(function.body):
        for name in loads(node):
            place = (getattr(node, "lineno", 0), name)
            facts.origin.mention.setdefault(place, len(facts.origin.mention))
            facts.activity.reads[name] = facts.activity.reads.get(name, 0) + 1
        for name in stores(node):
            bound.setdefault(name, []).append(node)
    given = parameters(function)
    facts.activity.definition = {
        name: nodes[0] for name, nodes in bound.items() if len(nodes) == 1 and name not in given
    }
    for name, nodes in bound.items():
        anew = [node for node in nodes if name not in written_names(node)]
        if len(anew) + (name in given) > 1:
            facts.activity.rebound[name] = None
    for loop in [node for node in statements(function.body) if isinstance(node, gast.For | gast.While)]:
        inside = list(statements([loop]))
        own = {name for node in inside for name in stores(node)}
        facts.activity.lasting.update({name: None for node in inside for name in loads(node) if name not in own})
