"""Which statements treat each row of an argument by itself, which add up over the rows, and which do neither."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import gast

from srcgrad.analysis.argument_kinds import kinds_of
from srcgrad.analysis.row_axes import CODE, HANDLERS, ROWS, Form, Rows
from srcgrad.core.control_flow import liveness
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import UNKNOWN, Facts, Kind, Operation
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    header,
    is_write,
    loads,
    parameters,
    statements,
    stores,
    target,
    written_names,
)
from srcgrad.frontend.resolve import bind


@dataclass
class Plan:
    """The statements of a function in the order in which a loop over blocks runs them; `totals` says what is added."""

    before: Block = field(default_factory=list)
    loop: Block = field(default_factory=list)
    after: Block = field(default_factory=list)
    totals: dict[Node, str] = field(default_factory=dict)
    seen: list[Form] = field(default_factory=list)


def plan(function: Node, over: tuple[str, ...], facts: Facts) -> Plan:
    """What stands before the loop over blocks of rows, in it, and behind it; E5029 where that cannot be proved."""
    rows = Rows(facts, over, {}, _of_callee, HANDLERS)
    for parameter in parameters(function):
        rows.forms[parameter] = _of_parameter(parameter, over, function, facts)
    found = Plan(seen=rows.seen)
    for node in function.body[:-1]:
        _place(node, found, rows)
    result = function.body[-1]
    if rows.depends(result.value):
        raise facts.refuse(result, CODE, "the result has an entry for each row", "return a sum or a mean over the rows")
    if not found.totals:
        raise facts.refuse(
            result, CODE, f"nothing is added up over the rows of {', '.join(over)}", "leave `blocked` out"
        )
    _settle(found, function, facts)
    _postpone(found, function)
    return found


def of_result(function: Node, over: str, facts: Facts) -> Form:
    """The form of what a function returns, by the rows of one argument; E5029 where that cannot be proved."""
    rows = Rows(facts, (over,), {}, _of_callee, HANDLERS)
    for parameter in parameters(function):
        rows.forms[parameter] = _of_parameter(parameter, (over,), function, facts)
    return _result(function, rows)


def _of_parameter(parameter: str, over: tuple[str, ...], function: Node, facts: Facts) -> Form:
    kind = facts.kinds.get(parameter, UNKNOWN)
    rank = 0 if kind.tag == "scalar" else kind.ndim if kind.tag == "array" else None
    same = not any(parameter in stores(node) for node in statements(function.body))
    if rank is None and kind.tag == "unknown":
        rank = _rank_from_shape_read(parameter, function)
    if parameter not in over:
        return Form(None if rank is None else tuple(f"{parameter}.shape[{k}]" if same else "?" for k in range(rank)))
    if not rank:
        raise facts.refuse(
            function,
            CODE,
            f"the rank of `{parameter}` is not known" if rank is None else f"`{parameter}` has no rows",
            f"call the derivative, which looks at its arguments, or write `n, d = {parameter}.shape` first",
        )
    return Form((ROWS, *(f"{parameter}.shape[{k}]" for k in range(1, rank))))


def _rank_from_shape_read(parameter: str, function: Node) -> int | None:
    """The rank of an argument that `n, d = x.shape` tells."""
    shapes = {f"{parameter}.shape"}
    for node in function.body:
        if isinstance(node, gast.Assign) and gast.unparse(node.value) in shapes:
            if isinstance(node.targets[0], gast.Tuple):
                return len(node.targets[0].elts)
            shapes |= set(stores(node))
    return None


def _place(node: Node, found: Plan, rows: Rows) -> None:
    """Put a statement of the function before the loop, into it, or behind it."""
    if isinstance(node, COMPOUND):
        inner = list(statements([node]))
        with_rows, late = _compound(node, rows)
    else:
        inner = [node]
        with_rows, late = _reads_of_statement(node, rows, found)
    changes = any(written_names(one) for one in inner)
    if with_rows and late:
        raise rows.refuse(header(node)[0], "it needs a whole sum over the rows, and the rows again")
    if changes and (with_rows or found.loop):
        raise rows.refuse(header(node)[0], "it writes into an array, behind the first use of the rows")
    (found.loop if with_rows else found.after if late else found.before).append(node)


def _reads_of_statement(node: Node, rows: Rows, found: Plan | None) -> tuple[bool, bool]:
    """Whether a statement reads rows, and whether it needs a total; what it binds is noted."""
    value = getattr(node, "value", None)
    bound = target(node)
    if bound is not None and not is_write(node):
        form = rows.forms[bound] = rows.form(value)
        if form.total:
            if found is None:
                raise rows.refuse(value, "the sum stands in a branch, a loop or another function")
            found.totals[node] = form.total
            rows.forms[bound] = replace(form, total="", late=True)
            return True, False
        return form.row is not None, form.late
    if any(rows.depends(part) for part in header(node)):
        raise rows.refuse(header(node)[0] if value is None else value, "it is not known to treat each row by itself")
    late = any(rows.reads_total(part) for part in header(node))
    for name in stores(node):
        known = rows.facts.value_spec.get(name)
        rank = None if known is None else known.ndim
        rows.forms[name] = Form(None if rank is None else ("?",) * rank, late=late)
    return False, late


def _compound(node: Node, rows: Rows) -> tuple[bool, bool]:
    """The same of a branch or a loop, whose statements stay together."""
    if isinstance(node, gast.With | gast.FunctionDef):
        raise rows.refuse(header(node)[0], "a `with` or a function stands in it")
    found = _reads_of_statement(gast.Expr(header(node)[0]), rows, None)
    with_rows, late = found
    bound = dict.fromkeys(s for one in statements([node]) for s in stores(one))
    while True:
        before = dict(rows.forms)
        if isinstance(node, gast.For):
            for name in stores(node):
                spec = rows.facts.value_spec.get(name)
                rows.forms[name] = Form(None if spec is None or spec.ndim is None else ("?",) * spec.ndim, late=late)
        sides = []
        for block in (node.body, getattr(node, "orelse", None) or []):
            rows.forms = dict(before)
            for one in block:
                reads, needs = (
                    _compound(one, rows) if isinstance(one, COMPOUND) else _reads_of_statement(one, rows, None)
                )
                with_rows, late = with_rows or reads, late or needs
            sides.append(rows.forms)
        rows.forms = {**before, **{name: _merge_forms(name, [before, *sides], node, rows) for name in bound}}
        if rows.forms == before:
            break
    if late:
        rows.forms.update({name: replace(rows.forms[name], late=True) for name in bound})
    return with_rows, late


def _merge_forms(name: str, sides: list[dict[str, Form]], node: Node, rows: Rows) -> Form:
    """What holds of a name on all ways: with rows along one axis, or without."""
    forms = [side[name] for side in sides if name in side]
    ranks = {None if form.axes is None else len(form.axes) for form in forms}
    places = {form.row for form in forms}
    if len(places) > 1 or (None in ranks and places != {None}) or (len(ranks) > 1 and places != {None}):
        raise rows.refuse(header(node)[0], f"`{name}` has rows on one way, and none or others on another")
    late = any(form.late for form in forms)
    if len(ranks) > 1 or None in ranks:
        return Form(late=late)
    columns = zip(*(form.axes or () for form in forms), strict=True)
    return Form(tuple(column[0] if len(set(column)) == 1 else "?" for column in columns), late=late)


def _settle(found: Plan, function: Node, facts: Facts) -> None:
    """What the loop binds anew in each trip is bound in it from the start, and read nowhere else."""
    while True:
        bound = {s for node in statements(found.loop) for s in stores(node)}
        more = [n for n in found.before if any(s in bound for one in statements([n]) for s in stores(one))]
        if not more:
            break
        inside = {*found.loop, *more}
        found.loop = [node for node in function.body if node in inside]
        found.before = [node for node in found.before if node not in inside]
    totals = {str(target(node)) for node in found.totals}
    bound = {s for node in statements(found.loop) for s in stores(node)} - totals
    flow = liveness(found.loop)
    carried = [one for one, bit in flow.bits.items() if flow.before[0] & bit and one in bound | totals]
    outside = [*found.before, *found.after, function.body[-1]]
    late = [one for node in statements(outside) for one in loads(node) if one in bound]
    early = [s for node in statements([*found.before, *found.after]) for s in stores(node) if s in bound | totals]
    twice = [one for one in totals if sum(one in stores(node) for node in statements(found.loop)) > 1]
    for name in [*carried, *late, *early, *twice]:
        raise facts.refuse(function, CODE, f"`{name}` is carried from row to row", "bind it once, in one statement")
    _check_order(found, function, facts)
    if any(written_names(node) for node in statements([*found.loop, *found.after])):
        raise facts.refuse(function, CODE, "an array is written behind the rows", "make a new array")


def _postpone(found: Plan, function: Node) -> None:
    """What the loop does not need stays behind it, where the user wrote it."""
    first, moved = function.body.index(found.loop[0]), set(found.before)
    needed = {one for node in statements(found.loop) for one in loads(node)}
    kept: Block = []
    for node in reversed(found.before):
        inner = list(statements([node]))
        if function.body.index(node) < first or needed & {s for one in inner for s in stores(one)}:
            needed |= {one for each in inner for one in loads(each)}
            kept.insert(0, node)
    late = (moved - set(kept)) | set(found.after)
    found.before = kept
    found.after = [node for node in function.body if node in late]


def _check_order(found: Plan, function: Node, facts: Facts) -> None:
    """No statement that moves up, before the loop, binds anew what a statement above it reads."""
    moved, read = set(found.before), set[str]()
    for node in function.body:
        inner = list(statements([node]))
        anew = read & {s for one in inner for s in stores(one)}
        if node in moved and anew:
            raise facts.refuse(node, CODE, f"`{min(anew)}` is bound anew behind the rows", "give it another name")
        read |= set() if node in moved else {one for each in inner for one in loads(each)}


def _of_callee(call: Node, operation: Operation, rows: Rows) -> Form:
    """The form of what a function with source makes of its arguments."""
    if not rows.depends(call):
        return Form()
    facts = rows.facts
    callee = facts.module.callee(operation.function, call, facts)
    bound = bind(call, callee.tree, facts)
    forms = {parameter: rows.form(argument) for parameter, argument in bound.items()}
    kinds = kinds_of(bound, facts)
    kinds |= {p: Kind("array", len(form.axes)) for p, form in forms.items() if form.axes}
    tree, inner = facts.module.front(operation.function, tuple(p for p, f in forms.items() if f.row is not None), kinds)
    within = Rows(inner, (), {**{p: Form() for p in parameters(tree)}, **forms}, _of_callee, HANDLERS, rows.seen)
    try:
        return _result(tree, within)
    except RecursionError:
        raise rows.refuse(call, "it calls itself") from None


def _result(tree: Node, within: Rows) -> Form:
    """The form of what a function returns, whose arguments have forms."""
    for node in tree.body[:-1]:
        if isinstance(node, COMPOUND):
            _compound(node, within)
        elif (
            target(node) is not None
            and node is tree.body[-2]
            and target(node) == getattr(tree.body[-1].value, "id", "")
        ):
            return within.form(node.value)
        else:
            _reads_of_statement(node, within, None)
    return within.form(tree.body[-1].value)


def note_row_independence(function: Node, facts: Facts) -> Node:
    """Note it for a function that a text for many directions calls, and that is differentiated by one argument."""
    facts.by_rows = facts.called and len(facts.wrt) == 1 and _is_rowwise(function, facts.wrt[0], facts)
    return function


def _is_rowwise(function: Node, over: str, facts: Facts) -> bool:
    kind = facts.kinds.get(over)
    if kind is None or kind.tag != "array" or not kind.ndim or any(written_names(n) for n in statements(function.body)):
        return False
    try:
        form = of_result(function, over, facts)
    except DifferentiationError:
        return False
    return form.row == 0 and not form.late and not form.total
