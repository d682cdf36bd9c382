"""Adjoints that are sums: added up in place, or put together from the adjoints of their parts.

`x_bar = x_bar + e` becomes `x_bar += e` where the array was made here and nothing else can see it. Two updates of one
part in a row are one: `a[i] -= e`, `a[i] -= g` is `a[i] -= e + g`.

An adjoint to whose parts something is added once each, and which they make up, is filled with them; where it would be
kept for its shape alone, they are put together: `gates_bar = np.concatenate((f, e))`.

    gates_bar = np.zeros_like(gates)        gates_bar = empty_like(gates)
    gates_bar[b:] += e                  =>  gates_bar[b:] = e
    gates_bar[:b] += f                      gates_bar[:b] = f

The adjoint of a container to whose parts the backward half adds, each by name, is a display of their adjoints.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import field

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.array_regions import (
    Integers,
    Interval,
    Linear,
    Setting,
    Variable,
    canonical_spec,
    difference,
    linear_form,
    not_negative,
)
from srcgrad.analysis.dtypes import negative_of
from srcgrad.analysis.shapes import spec_of_tree
from srcgrad.core.facts import SCALAR, UNKNOWN, Facts, Kind, bar, function_called
from srcgrad.core.identity import record
from srcgrad.core.printer import statement as spelled
from srcgrad.core.trees import (
    COMPOUND,
    SIMPLE,
    Block,
    Node,
    assign,
    at,
    children,
    copy,
    expression,
    find_nodes,
    header,
    literal_node,
    loads,
    mentions,
    name,
    same_tree,
    statements,
    stores,
    target,
    written_names,
)
from srcgrad.core.visitor import WIDTH, blocks, count, rewrite_nested, rewrite_statements
from srcgrad.derive.adjoints import is_fresh_value
from srcgrad.derive.program import Program
from srcgrad.optimise.dead_code import integers
from srcgrad.optimise.tape import is_final

_ARITHMETIC = (gast.BinOp, gast.UnaryOp, gast.Constant)


def accumulate(program: Program, facts: Facts) -> Program:
    """Add in place to adjoints that own their array; the last use of an adjoint may hand it on.

    Store what would be added to zeros, where the parts are apart and none is left out.
    """
    owned = _owned_adjoints(program, facts)

    def change(node: Node) -> Block:
        return [_in_place(node) if node in facts.tape.accumulates and target(node) in owned else node]

    program.backward = rewrite_statements(program.backward, change)
    if is_final(facts):
        _fill_adjoints(program, facts)
    return program


def _owned_adjoints(program: Program, facts: Facts) -> dict[str, None]:
    """Adjoints all of whose bindings make a new array, and that are not handed on before they are complete.

    What happens inside one loop counts as happening at once.
    """
    block = program.backward
    fresh: dict[str, bool] = {}
    counted: dict[str, bool] = {}
    last_add: dict[str, int] = {}
    handed: dict[str, int] = {}
    passed, lent = set(_passed_on(block, program.result)), _lent_elements(block, facts)
    alone: set[str] = set()  # of those, the fresh ones
    for position, top in enumerate(block):
        for node in statements([top]):
            bound = target(node)
            if bound in facts.names.adjoint_of:
                given = node in facts.tape.accumulates or node in facts.tape.zeros
                fits = facts.names.adjoint_of[bound] not in facts.values.complex or _adds_complex(node, facts)
                given = given or _is_summed(node, facts)
                made = fits and (given or _is_new(node.value, facts, alone))
                fresh[bound] = fresh.get(bound, True) and made
                (alone.add if fresh[bound] and bound in passed else alone.discard)(bound)
                counted[bound] = counted.get(bound, True) and made and (given or isinstance(node.value, _ARITHMETIC))
            if node in facts.tape.accumulates and bound is not None:
                last_add[bound] = position
            for shared in [] if node in lent or _is_summed(node, facts) else _handed_on(node, facts):
                handed.setdefault(shared, position)
    numbers = {
        a: None for a, p in facts.names.adjoint_of.items() if a in last_add and counted.get(a) and _is_number(p, facts)
    }
    complete = {
        found: None
        for found, own in fresh.items()
        if own and found not in facts.names.seeds and handed.get(found, len(block)) > last_add.get(found, -1)
    }
    return numbers | complete


def _is_summed(node: Node, facts: Facts) -> bool:
    """Whether a statement is `x_bar = sum_to(x_bar, x)`: who has an array alone has what is left of it alone."""
    value = node.value if isinstance(node, gast.Assign) else None
    if value is None or function_called(value, facts) is not runtime.sum_to:
        return False
    return len(value.args) == 2 and getattr(value.args[0], "id", "") == target(node)


def _adds_complex(node: Node, facts: Facts) -> bool:
    """Whether the array of a complex adjoint is known to be complex, so that complex numbers can be added to it."""
    primal = facts.names.adjoint_of[str(target(node))]
    return node in facts.tape.accumulates or (
        node in facts.tape.zeros and facts.kinds.of_names.get(primal, UNKNOWN).complex
    )


def _is_number(primal: str, facts: Facts) -> bool:
    """Whether the adjoint has no axes; made by arithmetic it is a number, which `+=` binds anew.

    What `np.where` makes, and a seed that somebody gives, may be an array without axes, which `+=` changes.
    """
    if primal in facts.request.wrt:
        return facts.kinds.of_names.get(primal) == SCALAR
    spec = facts.values.value_spec.get(primal)
    return spec is not None and spec.scalar


def _passed_on(block: Block, result: Node) -> list[str]:
    """Names bound once and read once, later in that block: who gets such an array has it alone."""
    reads, bound = Counter(loads(result)), Counter[str]()
    for node in statements(block):
        reads.update(loads(node))
        bound.update(stores(node))
    found: list[str] = []
    blocks = [block]
    while blocks:
        here: set[str] = set()
        for node in blocks.pop():
            if isinstance(node, COMPOUND):
                blocks += [node.body, getattr(node, "orelse", None) or []]
            else:
                found += [one for one in loads(node) if one in here and reads[one] == bound[one] == 1]
                here.update(stores(node))
    return found


def _is_new(value: Node, facts: Facts, passed: set[str]) -> bool:
    """Whether an expression makes a new array: arithmetic does, but for `+x`, and a sum of what it has made."""
    function = function_called(value, facts)
    if function is runtime.sum_to and len(value.args) == 2:
        given = value.args[0]
        return given.id in passed if isinstance(given, gast.Name) else _is_new(given, facts, passed)
    if isinstance(value, gast.Call):
        return is_fresh_value(value, facts)
    return isinstance(value, _ARITHMETIC) and not isinstance(getattr(value, "op", None), gast.UAdd)


def _handed_on(node: Node, facts: Facts) -> list[str]:
    """Names whose very array, or a part of it, another name, a container or a function may get."""
    found: list[str] = []
    for part in header(node):
        if isinstance(part, gast.Assign | gast.AugAssign):
            _hand_on(part.value, isinstance(part, gast.AugAssign), found, facts)
            for one in children(part):
                if one is not part.value:
                    _hand_on(one, True, found, facts)
        else:
            _hand_on(part, False, found, facts)
    return found


def _hand_on(item: Node, used: bool, found: list[str], facts: Facts) -> None:
    """Add what an expression may hand on; `used`: arithmetic reads the value, and that is all that happens to it."""
    if type(item) in SIMPLE:
        if not used and type(item) is gast.Name:
            found.append(item.id)
    elif isinstance(item, gast.BinOp | gast.Compare) or isinstance(getattr(item, "op", None), gast.USub | gast.Not):
        for child in children(item):
            _hand_on(child, True, found, facts)
    elif isinstance(item, gast.Subscript | gast.Attribute):
        _hand_on(item.value, used, found, facts)
        if isinstance(item, gast.Subscript):
            _hand_on(item.slice, True, found, facts)
    elif function_called(item, facts) is runtime.sum_to:
        _hand_on(item.args[0], used, found, facts)
        _hand_on(item.args[1], True, found, facts)
    elif isinstance(item, gast.Call) and not item.args and getattr(item.func, "attr", "") in ("copy", "sum"):
        _hand_on(item.func.value, True, found, facts)
    else:
        for child in children(item):
            _hand_on(child, False, found, facts)


def _lent_elements(block: Block, facts: Facts) -> dict[Node, None]:
    """Statements `v = x_bar[i]` after which v is read by arithmetic only, before the whole of x_bar is added to."""
    reads, bound = Counter[str](), Counter[str]()
    for node in statements(block):
        reads.update(loads(node))
        bound.update(stores(node))
    found: dict[Node, None] = {}
    blocks = [block]
    while blocks:
        here = blocks.pop()
        for k, node in enumerate(here):
            if isinstance(node, COMPOUND):
                blocks += [node.body, getattr(node, "orelse", None) or []]
            elif (
                isinstance(node, gast.Assign)
                and bound[str(target(node))] == 1
                and isinstance(node.value, gast.Subscript)
            ):
                if _is_lent(str(target(node)), node.value.value, here[k + 1 :], reads, facts):
                    found[node] = None
    return found


def _is_lent(view: str, array: Node, behind: Block, reads: Counter[str], facts: Facts) -> bool:
    """Whether all reads of a view follow in its block, by arithmetic, with no binding of its array before the last."""
    left = reads[view] if isinstance(array, gast.Name) else -1
    for node in behind:
        inner = list(statements([node]))
        if left <= 0 or any(view in _handed_on(one, facts) for one in inner):
            break
        left -= sum(loads(one).count(view) for one in inner)
        binds = any(array.id in stores(one) for one in inner)
        if binds and (left > 0 or inner != [node]):
            return False
    return left == 0


def _in_place(node: Node) -> Node:
    """`x_bar = x_bar + e` as `x_bar += e`, `x_bar = x_bar - e + f` as `x_bar += f - e`; others as they are."""
    bound = target(node)
    first, terms = node.value, []
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Add | gast.Sub):
        terms.append((first.op, first.right))
        first = first.left
    if not terms or not isinstance(first, gast.Name) or first.id != bound:
        return node
    op, value = terms.pop()
    while terms:
        next_op, term = terms.pop()
        if isinstance(op, gast.Add):
            value = gast.BinOp(value, next_op, term)
        elif isinstance(next_op, gast.Add):
            op, value = gast.Add(), gast.BinOp(term, gast.Sub(), value)
        else:
            value = gast.BinOp(value, gast.Add(), term)
    made = gast.AugAssign(name(str(bound), gast.Store()), op, value)
    made.lineno = node.lineno
    return made


def join_accumulations(program: Program, facts: Facts) -> Program:
    """Add what is added to one part of an array first, where that fits in a line.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    return np.sum(np.sin(x[1:]) * x[1:])"
    >>> print(explain_text(text, after="join_accumulations").splitlines()[-2])
    x_bar[1:] += y_bar * np.sin(x[1:]) + y_bar * x[1:] * np.cos(x[1:])
    """
    made: dict[str, list[Node]] = {}
    for node in statements(program.backward):
        for one in stores(node):
            made.setdefault(one, []).append(node)

    def change(block: Block, depth: int) -> Block:
        return _joined_updates(block, made, facts, 4 * (depth + 1))

    program.backward = rewrite_nested(program.backward, change)
    return program


def _joined_updates(block: Block, made: dict[str, list[Node]], facts: Facts, indent: int) -> Block:
    found: Block = []
    for node in block:
        total = _sum(found[-1], node, made, facts) if found else None
        if total is not None and max(map(len, spelled(total, width=10_000))) + indent <= WIDTH:
            found[-1] = total
        else:
            found.append(node)
    return found


def _sum(one: Node, two: Node, made: dict[str, list[Node]], facts: Facts) -> Node | None:
    """Both updates in one; None where they are not updates of one part, or the second may read what the first made."""
    if not (_is_update(one) and _is_update(two) and same_tree(one.target, two.target)):
        return None
    if getattr(one, "lineno", 0) != getattr(two, "lineno", 0) or facts.calls_hooks(one) or facts.calls_hooks(two):
        return None
    if not all(_is_apart(read, stores(one)[0], made, facts) for read in loads(two.value)):
        return None
    op = gast.Add() if type(one.op) is type(two.op) else gast.Sub()
    return at(gast.AugAssign(one.target, one.op, gast.BinOp(one.value, op, two.value)), one)


def _is_update(node: Node) -> bool:
    """Whether a statement adds to a part of an array: `a[i] += e`, `a[i] -= e`."""
    if not isinstance(node, gast.AugAssign) or not isinstance(node.op, gast.Add | gast.Sub):
        return False
    return isinstance(node.target, gast.Subscript) and isinstance(node.target.value, gast.Name)


def _is_apart(read: str, changed: str, made: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether a name that is read shows nothing of an adjoint: all that the backward half binds it to is arithmetic."""
    if read == changed:
        return False
    return all(
        target(node) == read and _is_new_value(node) for node in made.get(read, []) if node not in facts.tape.zeros
    )


def _is_new_value(node: Node) -> bool:
    value = node.value
    return isinstance(value, gast.BinOp | gast.Constant) or (
        isinstance(value, gast.UnaryOp) and not isinstance(value.op, gast.UAdd)
    )


def put_together(
    zeros: Node, block: Block, parts: list[Node], axis: int | None, program: Program, facts: Facts
) -> bool:
    """Do so for `parts`, the statements that add to zeros, in the order of their places; whether that was due.

    It is in a pullback, which would have to keep the primal, and where each part is known to have its own shape.
    """
    adjoint = str(target(zeros))
    primal = facts.names.adjoint_of[adjoint]
    reads = sum(loads(node).count(primal) for node in statements([*program.backward, program.result]))
    if facts.request.mode != "vjp" or primal in program.parameters or reads != 1:
        return False
    bound = [_name_of_contribution(primal, node, program, facts) for node in parts]
    if None in bound:
        return False
    named = dict(zip(parts, map(str, bound), strict=True))
    last = max(parts, key=block.index)
    along = f", axis={axis}" if axis else ""
    whole = expression(f"{facts.library('np')}.concatenate(parts{along})", parts=gast.Tuple([], gast.Load()))
    whole.args[0].elts = [name(named[node]) for node in parts]
    made: Block = []
    for node in block:
        if node is zeros:
            continue
        if node in named:
            value = added_value(node, facts)
            made += [] if getattr(value, "id", "") == named[node] else [at(assign(named[node], value), node)]
        else:
            made.append(node)
        if node is last:
            made.append(at(assign(adjoint, whole), node))
    facts.tape.zeros.pop(zeros)
    block[:] = made
    return True


def added_value(node: Node, facts: Facts) -> Node:
    """What a statement adds: `-e` for `x_bar[i] -= e`."""
    return negative_of(node.value, facts) if isinstance(node.op, gast.Sub) else node.value


def _name_of_contribution(primal: str, node: Node, program: Program, facts: Facts) -> str | None:
    """The name of what is added to a part: the adjoint of the name that the part has; None if its shape may differ."""
    value = added_value(node, facts)
    for held, definition in facts.activity.definition.items():
        part = getattr(definition, "value", None)
        if not isinstance(part, gast.Subscript) or getattr(part.value, "id", "") != primal:
            continue
        if held not in facts.values.value_spec or not same_tree(part.slice, node.target.slice):
            continue
        if canonical_spec(spec_of_tree(value, facts)).shape != canonical_spec(facts.values.value_spec[held]).shape:
            return None
        own = facts.names.spelled.get(held, bar(held))
        made = [n.value for n in statements(program.backward) if own in stores(n) and target(n) == own]
        if getattr(value, "id", "") == own:
            return own if len(made) == 1 == count(program.block).bound[own] and _is_fresh(made[0], facts) else None
        return own if facts.names.adjoint_of.get(own) == held and not made and _is_fresh(value, facts) else None
    return None


def _is_fresh(value: Node, facts: Facts) -> bool:
    """Whether a value is an array of its own, in which nothing that is added to another one later can be seen."""
    if function_called(value, facts) is runtime.sum_to:
        value = value.args[0]
    return isinstance(value, gast.BinOp | gast.UnaryOp)


def _fill_adjoints(program: Program, facts: Facts) -> None:
    known = integers(program)
    lengths = [one for node in program.forward for one in _lengths(node, facts) if one in known.fixed]
    setting = _setting(lengths, known)
    for block in blocks(program.backward):
        for node in [n for n in block if n in facts.tape.zeros]:
            _fill(node, block, setting, program, facts)


def _setting(lengths: list[str], known: Integers) -> Setting:
    """Lengths are at least 0."""
    return Setting([Variable(one, [{"": 0}]) for one in lengths], {one: one for one in lengths}, known)


def _lengths(node: Node, facts: Facts) -> list[str]:
    """The names that `n, d = x.shape`, `n = x.shape[0]` or `n = len(x)` bind."""
    if not isinstance(node, gast.Assign) or len(node.targets) != 1:
        return []
    value, bound = node.value, node.targets[0]
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Name) and value.func.id == "len":
        return [bound.id] if isinstance(bound, gast.Name) and "len" not in facts.names.local else []
    if isinstance(value, gast.Subscript) and isinstance(bound, gast.Name) and isinstance(value.slice, gast.Constant):
        return [bound.id] if _is_shape(value.value, facts) else []
    names = bound.elts if isinstance(bound, gast.Tuple) else []
    return [one.id for one in names if isinstance(one, gast.Name)] if _is_shape(value, facts) else []


def _is_shape(value: Node, facts: Facts) -> bool:
    of_name = isinstance(value, gast.Attribute) and value.attr == "shape" and isinstance(value.value, gast.Name)
    return of_name and value.value.id not in facts.kinds.containers


@record
class _Cover:
    """Parts along one axis, each apart from the others: by their first and last place."""

    axis: int | None = None
    ends: list[Interval] = field(default_factory=list)

    def order(self) -> list[Interval]:
        """The parts as they follow each other, if they do so from the first place to the last; else none."""
        found: list[Interval] = []
        place: Linear | None = {}
        while len(found) < len(self.ends):
            following = [one for one in self.ends if one[0] == place and one not in found]
            if len(following) != 1:
                return []
            found += following
            place = following[0][1]
            if place is None:
                break
        return found if place is None and len(found) == len(self.ends) else []


def _fill(zeros: Node, block: Block, setting: Setting, program: Program, facts: Facts) -> None:
    made, adjoint = zeros.value, str(target(zeros))
    primal = facts.names.adjoint_of.get(adjoint)
    plain = isinstance(made, gast.Call) and len(made.args) == 1 and not made.keywords
    if not plain or function_called(made, facts) is not np.zeros_like or primal in (None, *facts.values.complex):
        return
    cover, added, touching = _Cover(), [], 0
    for node in block[block.index(zeros) + 1 :]:
        if not mentions(node, adjoint):
            continue
        part = _part(node.target.slice, setting) if _is_added(node, adjoint) else None
        if part is None or cover.axis not in (None, part[0]):
            return
        touching += 1
        cover.axis = part[0]
        if part[1] not in cover.ends:  # what is added to a part once more stays a sum
            cover.ends.append(part[1])
            added.append(node)
        if cover.order():
            break
    else:
        return
    parts = [added[cover.ends.index(one)] for one in cover.order()]
    if touching == len(parts) and put_together(zeros, block, parts, cover.axis, program, facts):
        return
    made.func = name(facts.library("empty_like"))
    for node in added:
        block[block.index(node)] = at(gast.Assign([node.target], added_value(node, facts), None), node)


def _is_added(node: Node, adjoint: str) -> bool:
    """`a_bar[i] += e`, `a_bar[i] -= e`."""
    if not isinstance(node, gast.AugAssign) or not isinstance(node.op, gast.Add | gast.Sub):
        return False
    if not isinstance(node.target, gast.Subscript) or not isinstance(node.target.value, gast.Name):
        return False
    read = [item.id for part in (node.value, node.target.slice) for item in find_nodes(part, gast.Name)]
    return node.target.value.id == adjoint and adjoint not in read


def _part(index: Node, setting: Setting) -> tuple[int, Interval] | None:
    """The only axis along which a part is less than the whole, and from where to where; None if that is not known."""
    slices = index.elts if isinstance(index, gast.Tuple) else [index]
    if not all(isinstance(one, gast.Slice) and one.step is None for one in slices):
        return None
    cut = [axis for axis, one in enumerate(slices) if one.lower is not None or one.upper is not None]
    if len(cut) != 1:
        return None
    lower, upper = slices[cut[0]].lower, slices[cut[0]].upper
    low = {} if lower is None else _place(lower, setting)
    high = None if upper is None else _place(upper, setting)
    if low is None or (high is None and upper is not None):
        return None
    if high is not None and not not_negative(difference(high, low), setting.variables):
        return None
    return cut[0], (low, high)


def _place(end: Node, setting: Setting) -> Linear | None:
    """A bound that is not counted from the end, by what is not 0 in it; None if it is not known to be one."""
    form = linear_form(end, setting)
    if form is None or not not_negative(form, setting.variables):
        return None
    return {key: factor for key, factor in form.items() if factor}


ONE_BY_ONE = ("tuple", "list", "dict")


def dict_adjoints(program: Program, facts: Facts) -> Program:
    """`p_bar = zeros_like(p)`, `p_bar["w"] += e` as `p_bar = {"w": e, ...}`, where nothing reads p_bar in between.

    It is done for texts that will be differentiated again, in which containers do not change.
    """
    if facts.module is not None and facts.module.seeded:
        return program
    changed = {one for node in statements(program.forward) for one in written_names(node)}
    for adjoint, primal in list(facts.names.adjoint_of.items()):
        kind = _kind(primal, facts)
        if kind.tag in ONE_BY_ONE and primal in facts.kinds.containers and primal not in changed:
            program.backward = _assemble_display(program.backward, adjoint, primal, kind, facts)
    return program


def _kind(primal: str, facts: Facts) -> Kind:
    """The parts of a container; those of an object are the fields of its class."""
    kind = facts.kinds.of_names.get(primal, UNKNOWN)
    owner = facts.kinds.records.get(facts.names.base.get(primal, primal))
    if owner is None or not dataclasses.is_dataclass(owner):
        return kind
    return Kind("dict", None, tuple((f.name, UNKNOWN) for f in dataclasses.fields(owner) if f.init))


def _assemble_display(block: Block, adjoint: str, primal: str, kind: Kind, facts: Facts) -> Block:
    touching = [k for k, node in enumerate(block) if _mentions(node, adjoint)]
    if not touching or block[touching[0]] not in facts.tape.zeros or target(block[touching[0]]) != adjoint:
        return block
    keys = [key for key, _ in kind.items]
    added: list[tuple[int, object, Node]] = []
    for place in touching[1:]:
        found = _key_and_value(block[place], adjoint)
        if found is None or found[0] not in keys:
            break
        added.append((place, *found))
    rest = touching[1 + len(added) :]
    if any(adjoint in stores(node) for place in rest for node in statements([block[place]])):
        return block
    first, last = block[touching[0]], added[-1][0] if added else touching[0]
    held: dict[object, str] = {}
    made: Block = []
    for place, node in enumerate(block[: last + 1]):
        match = next((one for one in added if one[0] == place), None)
        if match is None:
            made += [] if node is first else [node]
            continue
        made.append(_hold_or_add(match[1], match[2], held, node, facts))
    display = _display(kind, primal, held, facts)
    made.append(at(assign(adjoint, display), block[last]))
    return [*made, *block[last + 1 :]]


def _hold_or_add(key: object, value: Node, held: dict[object, str], node: Node, facts: Facts) -> Node:
    """The statement that holds, or adds to, the adjoint of one part."""
    if key in held:
        helper = facts.library("add")
        return at(assign(held[key], expression(f"{helper}(one, two)", one=name(held[key]), two=value)), node)
    held[key] = facts.names.new_temporary()
    return at(assign(held[key], value), node)


def _display(kind: Kind, primal: str, held: dict[object, str], facts: Facts) -> Node:
    values = [name(held[key]) if key in held else _zero(key, part, primal, facts) for key, part in kind.items]
    if kind.tag == "dict":
        return gast.Dict(keys=[literal_node(key) for key, _ in kind.items], values=values)
    return (gast.Tuple if kind.tag == "tuple" else gast.List)(elts=values, ctx=gast.Load())


def _zero(key: object, part: Kind, primal: str, facts: Facts) -> Node:
    if part == SCALAR:
        return literal_node(0.0)
    return expression(f"{facts.library('zeros_like')}(primal[key])", primal=primal, key=literal_node(key))


def _key_and_value(node: Node, adjoint: str) -> tuple[object, Node] | None:
    """The key and the value of `p_bar[key] += e` and `p_bar[key] = add(p_bar[key], e)`, with a literal key."""
    if isinstance(node, COMPOUND) or written_names(node) != [adjoint]:
        return None
    part = node.target if isinstance(node, gast.AugAssign) else getattr(node, "targets", [None])[0]
    plain = isinstance(part, gast.Subscript) and getattr(part.value, "id", "") == adjoint
    if not plain or not isinstance(part.slice, gast.Constant):
        return None
    value = node.value
    if isinstance(node, gast.AugAssign):
        found = value if isinstance(node.op, gast.Add) else None
    else:
        found = value.args[1] if isinstance(value, gast.Call) and len(value.args) == 2 else None
    if found is None or mentions(found, adjoint):
        return None
    return part.slice.value, copy(found)


def _mentions(node: Node, adjoint: str) -> bool:
    return any(adjoint in loads(each) or adjoint in stores(each) for each in statements([node]))
