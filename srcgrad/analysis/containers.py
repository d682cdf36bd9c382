"""Lists, tuples and dicts: which names hold them, what they hold, and how their items change.

Their adjoints are containers of adjoints. `d[k] += e` binds an item anew that is a number, and changes any other for
all that hold it; what goes into a list and changes in place later changes there as well.
"""

from __future__ import annotations

import operator

import gast

from srcgrad import runtime
from srcgrad.analysis.argument_kinds import kinds_from_reads, kinds_of
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import (
    ANY,
    UNKNOWN,
    Facts,
    Kind,
    Operation,
    common_kind,
    copy_with_facts,
    kind_of_items,
    of_display,
    part_of,
)
from srcgrad.core.marks import is_opaque
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    find_nodes,
    is_write,
    statement,
    statements,
    stores,
    target,
    written_names,
)
from srcgrad.core.visitor import places
from srcgrad.frontend.early_facts import several_of
from srcgrad.frontend.resolve import bind, binding_of


def outputs(operation: Operation, facts: Facts) -> int | None:
    """The length of the tuple that a function with a rule returns, 0 where it is none, None where nobody knows."""
    own = operation.rule.own if operation.rule is not None else None
    called = operation.function if own is None or own.applied is None else own.applied.forward
    if is_opaque(called):
        return None
    try:
        source, _ = facts.module.source(called)
    except DifferentiationError:
        return None
    values = [node.value for node in statements(source.tree.body) if isinstance(node, gast.Return)]
    known = (gast.Tuple, gast.BinOp, gast.UnaryOp, gast.Constant, gast.Compare)
    if not values or not all(isinstance(value, known) for value in values):
        return None
    lengths = {len(value.elts) if isinstance(value, gast.Tuple) else 0 for value in values}
    return lengths.pop() if len(lengths) == 1 else None


_COPIES = (list, tuple, runtime.zeros_like, runtime.add, runtime.owned)


def gives_tuple(operation: Operation) -> bool:
    """Whether an operation gives a tuple of arrays."""
    rule = operation.rule
    return rule is not None and rule.kind != "constant" and (rule.gives == "arrays" or bool(rule.results))


def containers(function: Node, facts: Facts) -> Node:
    """Find the names that hold a container: arguments of that kind, their parts, results of np.split and the like."""
    facts.kinds.of_names.update(kinds_from_reads(function, facts))
    for name, kind in list(facts.kinds.of_names.items()):
        _note(name, kind, facts)
    order = list(statements(function.body))
    _notes(order, facts)
    known, again = -1, False
    while facts.kinds.lists and known != len(facts.kinds.of_names):  # items move from list to list, as in `sorted(ps)`
        known = len(facts.kinds.of_names)
        _note_items(order, facts, again)
        _notes(order, facts)
        again = True
    facts.kinds.mixed.update({str(target(node)): None for node in order if _is_number(node, facts)})
    return function


def _is_number(node: Node, facts: Facts) -> bool:
    """Whether a statement binds a number or an array to a name that holds a tuple elsewhere: of several returns."""
    bound, value = target(node), getattr(node, "value", None)
    if bound is None or facts.kinds.containers.get(bound) != "tuple":
        return False
    return isinstance(value, gast.BinOp) or (isinstance(value, gast.Name) and value.id not in facts.kinds.containers)


def _note_items(order: list[Node], facts: Facts, again: bool) -> None:
    """What the items of the lists and dicts that the function made are: containers of one kind, or none.

    What is found of items that come from other lists, `again`, is a help, and no reason to refuse.
    """
    found: dict[str, list[Kind]] = {}
    sources: dict[str, list[Node]] = {}
    pushed: dict[str, list[Node]] = {}
    for node in order:
        if (bound := target(node)) is not None:
            sources.setdefault(bound, []).append(node.value)
        elif isinstance(node, gast.Expr) and (stack := _of_method(node.value, "append")):
            pushed.setdefault(stack, []).append(node.value.args[0])
    for node in order:
        bound = target(node)
        if bound is not None and facts.list_kind(bound):
            display = getattr(node.value, "elts", getattr(node.value, "values", []))
            found.setdefault(bound, []).extend(of_display(item, facts.kinds.of_names) for item in display)
        elif (
            written_names(node)
            and facts.list_kind(written_names(node)[0])
            and (is_write(node) or isinstance(node, gast.Expr))
        ):
            value = node.value if is_write(node) else node.value.args[-1] if node.value.args else None
            known = getattr(value, "id", "") in facts.kinds.of_names
            if value is not None and (known or not _is_item(value, sources, pushed, facts)):
                found.setdefault(written_names(node)[0], []).append(of_display(value, facts.kinds.of_names))
    for held, kinds in found.items():
        inner = [kind for kind in kinds if kind.tag in ("tuple", "list", "dict")]
        if inner and facts.kinds.of_names.get(held, UNKNOWN).items == ():
            common = common_kind(kinds)
            if common == UNKNOWN and again:
                continue
            facts.kinds.of_names[held] = Kind(facts.list_kind(held), None, ((ANY, common),))
            if common == UNKNOWN:
                raise facts.refuse(
                    next(n for n in order if target(n) == held),
                    "E5005",
                    f"`{facts.names.base.get(held, held)}` holds items of several kinds",
                    "make arrays of all: `np.array(...)`; or keep numbers apart from tuples, lists and dicts",
                )


def _is_item(value: Node, sources: dict[str, list[Node]], pushed: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether a name holds nothing but items of lists and dicts, which move, perhaps by way of a stack."""
    asked: dict[str, None] = {}
    names = [getattr(value, "id", "")]
    for name in names:
        if name not in sources:
            return False
        asked[name] = None
        for one in sources[name]:
            read = facts.resolution.operation.get(one)
            if read is not None and read.function in (operator.getitem, dict.get):
                if not facts.list_kind(getattr(next(iter(read.bound.values())), "id", "")):
                    return False
                continue
            put = pushed.get(_of_method(one, "pop"))
            if not put:
                return False
            names += [held for p in put if (held := getattr(p, "id", "")) not in asked]
    return True


def _of_method(value: Node | None, method: str) -> str:
    """The name of which a call is this method; an empty string for anything else."""
    called = value.func if isinstance(value, gast.Call) else None
    found = called.value if isinstance(called, gast.Attribute) and called.attr == method else None
    return getattr(found, "id", "")


def _notes(order: list[Node], facts: Facts) -> None:
    displays = [n for n in order if isinstance(n, gast.Assign) and isinstance(n.targets[0], gast.Tuple)]
    unpacked = {getattr(n.value, "id", "") for n in displays}
    stacked: dict[str, str] = {}  # stack of our own text -> a container that is kept on it
    for node in order:
        _note_popped_items(node, stacked, facts)
        if isinstance(node, gast.For) and isinstance(node.iter, gast.Name) and node.iter.id in facts.kinds.of_names:
            _note(node.target.id, kind_of_items(facts.kinds.of_names[node.iter.id]), facts)
        if isinstance(node, gast.Assign):
            _assignment(node, unpacked, facts)
            if isinstance(node.value, gast.BinOp) and not facts.request.generated:
                _check_operands(node.value, facts)


def _note_popped_items(node: Node, stacked: dict[str, str], facts: Facts) -> None:
    """What comes off a stack is what was put on it: `h_stack.append(h)`, `h = h_stack.pop()`."""
    bound, value = target(node), getattr(node, "value", None)
    pushed, popped = _of_method(value, "append"), _of_method(value, "pop")
    if value is not None and isinstance(node, gast.Expr) and pushed and not facts.list_kind(pushed):
        held = getattr(value.args[0], "id", "")
        if held in facts.kinds.containers:
            stacked[pushed] = held
    elif bound is not None and popped in stacked:
        _note(bound, facts.kinds.of_names.get(stacked[popped], UNKNOWN), facts)
        facts.kinds.containers[bound] = facts.kinds.containers[stacked[popped]]
    elif bound is not None and facts.list_kind(popped) == "list":
        _note(bound, dict(facts.kinds.of_names.get(popped, UNKNOWN).items).get(ANY, UNKNOWN), facts)


def _check_operands(value: Node, facts: Facts) -> None:
    """Refuse arithmetic on lists: `+` joins them, and `*` repeats them."""
    for operand in (value.left, value.right):
        if (
            value in facts.resolution.operation
            and isinstance(operand, gast.Name)
            and operand.id in facts.kinds.containers
        ):
            raise facts.refuse(
                value,
                "E5005",
                f"arithmetic on the {facts.kinds.containers[operand.id]} "
                f"`{facts.names.base.get(operand.id, operand.id)}`",
                "make an array of it: `np.array(...)`, or append to it",
            )


def _note(name: str, kind: Kind, facts: Facts) -> None:
    if kind.tag in ("tuple", "list", "dict"):
        facts.kinds.containers[name] = kind.tag
    if kind != UNKNOWN:
        facts.kinds.of_names[name] = kind


def _assignment(node: Node, unpacked: set[str], facts: Facts) -> None:
    bound = target(node)
    operation = facts.resolution.operation.get(node.value)
    if bound is not None and facts.list_kind(bound):
        if not facts.kinds.of_names.get(bound, UNKNOWN).items:
            _note(bound, Kind(facts.list_kind(bound), None, _items_of_adjoint(node.value, facts)), facts)
        if isinstance(node.value, gast.Dict):
            facts.kinds.displays.setdefault(bound, []).append(node)
    elif bound is not None and operation is not None and gives_tuple(operation):
        facts.kinds.containers[bound] = "tuple"
        several = several_of(node, facts)
        if operation.function is runtime.block_transpose:  # rows of blocks are lists, to which `+=` would append
            _note(bound, of_display(operation.bound["arrays"], facts.kinds.of_names), facts)
        elif several:
            _note(bound, Kind("tuple", None, tuple((place, UNKNOWN) for place in range(len(several)))), facts)
    elif bound is not None and operation is not None and operation.function in (runtime.fields_of, runtime.entry):
        facts.kinds.containers[bound] = "dict"
        known = facts.kinds.of_names.get(getattr(operation.bound["x"], "id", ""), UNKNOWN)
        if known.tag == "dict":
            _note(bound, known, facts)
    elif bound is not None and operation is not None and operation.function is runtime.summands:
        summed = operation.bound["xs"]
        if isinstance(summed, gast.List | gast.Tuple) or getattr(summed, "id", "") in facts.kinds.containers:
            facts.kinds.containers[bound] = "list"
    elif bound is not None and operation is not None and operation.rule is not None and operation.rule.own is not None:
        count = outputs(operation, facts)
        if count or (count is None and bound in unpacked):
            facts.kinds.containers[bound] = "tuple"
    elif bound in unpacked and operation is not None and isinstance(operation.function, gast.AST):
        facts.kinds.containers[str(bound)] = "tuple"  # only a run knows what is called
    elif bound is not None and operation is not None and operation.kind == "callee":
        callee = facts.module.callee(operation.function, node.value, facts)
        kinds = kinds_of(bind(node.value, callee.tree, facts), facts)
        _note(bound, facts.module.output_kind(operation.function, kinds), facts)
    elif bound is not None and (source := _copied_container(node.value, facts)) is not None:
        _note(bound, facts.kinds.of_names.get(source, UNKNOWN), facts)
        facts.kinds.containers[bound] = facts.kinds.containers[source]
    elif bound is not None and operation is not None and operation.function is operator.getitem:
        whole, index = operation.bound["x"], operation.bound["index"]
        if isinstance(index, gast.Slice) and getattr(whole, "id", "") in facts.kinds.containers:
            facts.kinds.containers[bound] = facts.kinds.containers[whole.id]
        if isinstance(whole, gast.Name) and whole.id in facts.kinds.of_names:
            _note(bound, part_of(facts.kinds.of_names[whole.id], index), facts)
    elif bound is not None and operation is not None and operation.function is dict.get:
        if getattr(operation.bound["self"], "id", "") in facts.kinds.of_names:
            _note(bound, part_of(facts.kinds.of_names[operation.bound["self"].id], operation.bound["key"]), facts)
    elif bound is not None and isinstance(node.value, gast.Tuple | gast.List | gast.Dict):
        if node.value in facts.tape.pushes or not getattr(node.value, "elts", getattr(node.value, "values", None)):
            return  # an empty stack
        _note(bound, of_display(node.value, facts.kinds.of_names), facts)
    elif bound is not None and isinstance(node.value, gast.Name) and node.value.id in facts.kinds.containers:
        _note(bound, facts.kinds.of_names.get(node.value.id, UNKNOWN), facts)
        facts.kinds.containers[bound] = facts.kinds.containers[node.value.id]
    elif bound is None and not is_write(node) and getattr(node.value, "id", "") in facts.kinds.of_names:
        items = dict(facts.kinds.of_names[node.value.id].items)
        for position, name in enumerate(stores(node)):
            _note(name, items.get(position) or items.get(ANY) or UNKNOWN, facts)


def _copied_container(value: Node, facts: Facts) -> str | None:
    """The container of which a call makes another of the same parts: `list(zeros_like(t))`; None for other values."""
    called = isinstance(value, gast.Call)
    while isinstance(value, gast.Call) and value.args:
        found = binding_of(value.func, facts, facts.names.local)
        if found is None or not any(found.object is one for one in _COPIES):
            return None
        value = value.args[0]
    return value.id if called and isinstance(value, gast.Name) and value.id in facts.kinds.containers else None


def _items_of_adjoint(value: Node, facts: Facts) -> tuple[tuple[object, Kind], ...]:
    """The items of an adjoint, which stay of the kinds that those of its primal are: `zeros_like(ps)`."""
    makes = [n.func for n in find_nodes(value, gast.Call)]
    found = [binding_of(one, facts, facts.names.local) for one in makes]
    source = _copied_container(value, facts)
    if source is None or not any(one is not None and one.object is runtime.zeros_like for one in found):
        return ()
    return facts.kinds.of_names.get(source, UNKNOWN).items


def puts_array_in_list(node: Node, name: str, block: Block, facts: Facts) -> bool:
    """Whether a statement puts an array into a list: `kept.append(a)`; what may be a number is looked at there."""
    held = written_names(node) if isinstance(node, gast.Expr) and node.value.args else []
    if not held or not facts.list_kind(held[0]) or getattr(node.value.args[-1], "id", "") != name:
        return False
    spec = facts.values.spec.get(node.value.args[-1])
    if spec is not None and spec.ndim is not None:
        return True
    if node not in facts.resolution.checked:
        facts.resolution.checked[node] = None
        check = at(statement(f"{facts.library('check_item')}(x)", x=copy_with_facts(node.value.args[-1], facts)), node)
        facts.resolution.effects[check] = None
        facts.origin.user[check] = facts.origin.user.get(node, node)
        for place in [place for place in places(block) if place.node is node]:
            place.block.insert(place.block.index(node), check)
    return False
