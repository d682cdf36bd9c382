"""What nothing reads: dead code, and dead stores into parts of arrays and dicts.

What the returned values need, and what speaks to the user, is kept; the rest goes. `z = None` stands before a loop that
may make no trip, where a sum begins with the shape of `z` whether or not it did.

`a_bar[i] = 0.0`, then `a_bar[i] += e`, is one store. What is cleared twice in a row is cleared once, and not at all
where the rest reads other parts. What nothing reads of a dict is not brought back, and an adjoint that begins anew is
bound to what begins it:

    state_bar["m"] = zeros_like(state["m"])             =>  state_bar["m"] = sum_to(0.9 * g, m)
    state_bar["m"] = add(state_bar["m"], sum_to(0.9 * g, m))

A loop that fills an array, `h[t + 1] = f(h[t])`, has every part that the backward half reads standing in the array as
it is. What a write replaced comes back only if something read later may overlap it; and a copy of a part is made only
if what the part stands in is written into while the copy is needed. Their records go, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any  # keys of dicts

import gast

from srcgrad import runtime
from srcgrad.analysis.array_regions import Integers, Where, regions, regions_are_disjoint
from srcgrad.analysis.dtypes import negative_of
from srcgrad.core.control_flow import definitions
from srcgrad.core.facts import Facts, function_called
from srcgrad.core.identity import record
from srcgrad.core.rules import makes_new
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    assign,
    at,
    children,
    find_nodes,
    header,
    index_rank,
    is_basic,
    is_write,
    loads,
    names_in,
    part_written,
    same_tree,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import blocks, count, own_statements, rewrite_blocks
from srcgrad.derive.program import Program, parents, rebuilt
from srcgrad.frontend.context import cheap
from srcgrad.frontend.early_facts import After, Names, Reader
from srcgrad.optimise.broadcasting import indices, is_fitted, matters, names_of_elements, outline


def stores_for_first_sums(program: Program, facts: Facts) -> Program:
    """Store at once what would be added to a part that has just been cleared.

    What stands between the two only adds to the array, and sums may be added in any order.
    """
    integers = frozenset(facts.values.integers)
    program.backward = rewrite_blocks(program.backward, lambda block: _block(block, integers, facts))
    return program


def _block(block: Block, integers: frozenset[str], facts: Facts) -> Block:
    gone: set[int] = set()
    made: Block = list(block)
    for position, node in enumerate(made):
        if clears(node):
            if position + 1 < len(made) and _covers(made[position + 1], node, integers):
                gone.add(position)
                continue
            later = _position_of_sum(made, position)
            if later is not None:
                value = made[later].value
                if isinstance(made[later].op, gast.Sub):
                    value = negative_of(value, facts)
                made[position] = at(gast.Assign(node.targets, value, None), node)
                gone.add(later)
    return [node for position, node in enumerate(made) if position not in gone]


def clears(node: Node) -> bool:
    """`a_bar[i] = 0.0`"""
    part = node.targets[0] if isinstance(node, gast.Assign) else None
    if not isinstance(part, gast.Subscript) or not isinstance(part.value, gast.Name):
        return False
    return isinstance(node.value, gast.Constant) and isinstance(node.value.value, float) and node.value.value == 0.0


def _covers(later: Node, node: Node, integers: frozenset[str]) -> bool:
    """Whether a statement clears all that another one clears: `a_bar[n, :] = 0.0` after `a_bar[n, n] = 0.0`.

    A name may hold a mask that stands for several axes: what differs then is followed by whole axes alone.
    """
    if not clears(later) or later.targets[0].value.id != node.targets[0].value.id:
        return False
    index, wider = node.targets[0].slice, later.targets[0].slice
    inner, outer = _places(index), _places(wider)
    if len(inner) != len(outer) or not all(_is_place(part) for part in (*inner, *outer)):
        return False
    equal = [same_tree(one, two) for one, two in zip(inner, outer, strict=True)]
    whole = [isinstance(two, gast.Slice) and not children(two) for two in outer]
    if not (is_basic(index, integers) and is_basic(wider, integers)):
        return all(whole[equal.index(False) :]) if False in equal else True
    return all(one or other for one, other in zip(equal, whole, strict=True))


def _places(index: Node) -> list[Node]:
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def _is_place(part: Node) -> bool:
    """Whether an entry of an index is cheap, and neither None nor Ellipsis."""
    return cheap(part) and not (isinstance(part, gast.Constant) and type(part.value) is not int)


def _position_of_sum(block: Block, position: int) -> int | None:
    """Where the first sum is added to the part that a statement clears, if it may be stored there and then."""
    part = block[position].targets[0]
    array, place = part.value.id, gast.unparse(part.slice)
    bound: set[str] = set()
    for later in range(position + 1, len(block)):
        node = block[later]
        if not isinstance(node, gast.AugAssign) or not isinstance(node.op, gast.Add | gast.Sub):
            return None
        read = names_in(node.value)
        if array in read or not isinstance(node.target, gast.Subscript) or not isinstance(node.target.value, gast.Name):
            return None
        if node.target.value.id == array and gast.unparse(node.target.slice) == place:
            return None if bound & read else later
        bound.update(stores(node))
    return None


Key = tuple[Any]  # a literal


def _split_dict_adjoints(program: Program, facts: Facts) -> None:
    """Take each key of a dict for a value of its own, where all keys that are stored are literals."""
    dicts = [one for one in dict.fromkeys(s for node in program.forward for s in stores(node)) if _is_dict(one, facts)]
    adjoints = {adjoint: one for adjoint, one in facts.names.adjoint_of.items() if one in dicts}
    changed: list[bool] = []
    for adjoint, one in adjoints.items():
        changed += [
            _begin_with_parts(block, adjoint, one, program, facts) for block in reversed(blocks(program.backward))
        ]
    while any(_drop_unread_stores(one, program, facts) for one in [*adjoints, *dicts]):
        changed.append(True)
    facts.activity.left_over |= any(changed)


def _is_dict(held: str, facts: Facts) -> bool:
    return facts.list_kind(held) == "dict"


def _key(part: Node, held: str) -> Key | None:
    """The k of `held[k]`, if it is a literal; None for anything else. 1, 1.0 and True are one key."""
    if not isinstance(part, gast.Subscript) or getattr(part.value, "id", "") != held:
        return None
    return (part.slice.value,) if isinstance(part.slice, gast.Constant) else None


def _begin_with_parts(block: Block, adjoint: str, held: str, program: Program, facts: Facts) -> bool:
    """Bind parts of an adjoint at once to what would be added to zeros; whether there was one."""
    changed = False
    cleared = [node for node in block if is_write(node) and _is_cleared(node, adjoint, held, facts)]
    if not cleared:
        return changed
    uses, made, forward = count(program.block), {target(node): node for node in block}, blocks(program.forward)
    for zeros in cleared:
        key, place = _key(zeros.targets[0], adjoint), block.index(zeros)
        behind = next((node for node in block[place + 1 :] if _mentions(node, adjoint, key)), None)
        first = None if behind is None else _added_item(behind, adjoint, key, facts)
        once = first is not None and uses.bound.get(first) == uses.read.get(first) == 1
        value = made[first].value if once and first in made else None
        if behind is not None and value is not None and _mirrors(value, forward, held, key, program, facts):
            behind.value = gast.Name(first, gast.Load(), None, None)
            block.remove(zeros)
            changed = True
    return changed


def _is_cleared(node: Node, adjoint: str, held: str, facts: Facts) -> bool:
    """`held_bar[k] = zeros_like(held[k])`"""
    key = _key(part_written(node), adjoint)
    if key is None or not isinstance(node, gast.Assign) or function_called(node.value, facts) is not runtime.zeros_like:
        return False
    return [_key(argument, held) for argument in node.value.args] == [key]


def _mentions(node: Node, held: str, key: Key | None) -> bool:
    """Whether a statement touches a part of a dict, or the whole of it."""
    inner = [part for part in walk(node) if _key(part, held) not in (None, key)]
    named = [one for one in find_nodes(node, gast.Name) if one.id == held]
    return len(named) > len(inner)


def _added_item(node: Node, adjoint: str, key: Key | None, facts: Facts) -> str | None:
    """The e of `held_bar[k] = add(held_bar[k], e)`."""
    if not isinstance(node, gast.Assign) or not is_write(node) or function_called(node.value, facts) is not runtime.add:
        return None
    one, two = node.value.args
    if _key(node.targets[0], adjoint) != key or _key(one, adjoint) != key or not isinstance(two, gast.Name):
        return None
    return str(two.id)


def _mirrors(value: Node, blocks: list[Block], held: str, key: Key | None, program: Program, facts: Facts) -> bool:
    """Whether a value is `sum_to(g, t)`, where t is what the store that is undone has replaced."""
    read = (
        getattr(value.args[1], "id", "")
        if function_called(value, facts) is runtime.sum_to and len(value.args) == 2
        else ""
    )
    old = facts.activity.definition.get(facts.tape.again.get(read, read))
    if not isinstance(old, gast.Assign) or read in facts.memory.mutable or _key(old.value, held) != key:
        return False
    writes = [node for node in statements(program.forward) if held in written_names(node)]
    if any(not is_write(node) or _key(part_written(node), held) is None for node in writes):
        return False  # a key that is computed, or an element of an item
    replaced = [node for node in writes if _key(part_written(node), held) == key and node not in facts.tape.pushes]
    bound = [node for node in statements(program.forward) if target(node) == held]
    around = next((each for each in blocks if old in each), None)
    behind = [] if around is None else around[around.index(old) :]
    return len(bound) == len(replaced) == 1 and replaced[0] in behind and bound[0] not in behind


def _drop_unread_stores(held: str, program: Program, facts: Facts) -> bool:
    """Drop stores into parts of a dict that nothing reads behind them; whether there was one."""
    gone: dict[Node, None] = {}
    top = [*program.backward, program.result]
    for position, outer in enumerate(program.backward):
        for node in statements([outer]):
            key = _key(part_written(node), held) if isinstance(node, gast.Assign) and is_write(node) else None
            if key is None or facts.calls_hooks(node):
                continue
            text = [each for each in statements(top[position:]) if each is not node]
            if held not in loads(node.value) and not any(_reads(each, held, key) for each in text):
                gone[node] = None
    if gone:
        program.backward = rebuilt(program.backward, {n: None for n in statements(program.backward) if n not in gone})
    return bool(gone)


def _reads(node: Node, held: str, key: Key | None) -> bool:
    """Whether a statement reads a part of a dict, or the whole of it: not where it stores into one."""
    own = part_written(node) if isinstance(node, gast.Assign) and is_write(node) else None
    if own is not None and _key(own, held) is not None:
        return _mentions(node.value, held, key)
    if isinstance(node, COMPOUND):
        return held in loads(node)
    return _mentions(node, held, key)


@record(frozen=True)
class ArrayRead:
    """One place where elements of an array are read: at which index, or None for all of it."""

    array: str
    index: Node | None
    where: Where


@record
class Text:
    """The backward half as places, and the reads of arrays that the function writes into."""

    facts: Facts
    places: dict[Node, Where]
    shown: dict[str, list[ArrayRead]] = field(default_factory=dict)  # name -> the parts of arrays that it shows
    reads: list[ArrayRead] = field(default_factory=list)


def dead_stores_into_values(program: Program, facts: Facts) -> Program:
    """Drop what brings back elements of arrays, or items of dicts, that nothing reads later, and what only that needed.

    An adjoint in a dict that begins anew is bound to what begins it.
    """
    restores = [n for n in statements(program.backward) if n in facts.tape.restores and is_write(n)]
    if gone := _unread(restores, program, facts) if restores else {}:
        keep = {node: None for node in statements(program.block) if node not in gone}
        program.backward = rebuilt(program.backward, keep)
        drop(program, facts)
    if not facts.pushes_forward:
        _split_dict_adjoints(program, facts)
    return program


def integers(program: Program) -> Integers:
    """Names that hold one value for the whole backward half, and names that only its loops bind."""
    counts: dict[str, int] = dict.fromkeys(program.parameters, 1)
    inside = {n for loop in statements(program.forward) if isinstance(loop, gast.For | gast.While) for n in _in(loop)}
    for node in statements(program.forward):
        for name in stores(node):
            counts[name] = counts.get(name, 0) + (2 if node in inside or isinstance(node, gast.For) else 1)
    loops: set[str] = set()
    other: set[str] = set()
    for node in statements(program.backward):
        (loops if isinstance(node, gast.For) else other).update(stores(node))
    both = loops | other
    fixed = frozenset(name for name, count in counts.items() if count == 1 and name not in both)
    return Integers(fixed, frozenset(loops - other))


def _in(loop: Node) -> Block:
    return statements([*loop.body, *(getattr(loop, "orelse", None) or [])])


def read_text(program: Program, facts: Facts) -> Text:
    """Where the backward half, and the result, read which parts."""
    text = Text(facts, regions([*program.backward, program.result]))
    needed = names_of_elements(list(text.places), facts)
    for node, where in text.places.items():
        if node in facts.tape.restores and is_write(node):
            continue
        if matters(node, needed):
            _note(node, where, text)
        else:
            for part in indices(node.value):
                _expression(part, where, text)
    return text


def _note(node: Node, where: Where, text: Text) -> None:
    before = len(text.reads)
    for part in header(node):
        _expression(part, where, text)
    bound = target(node)
    if bound is not None and may_show(node.value, text.facts):
        text.shown.setdefault(bound, []).extend(text.reads[before:])
        if _is_part(node.value, text.facts):
            del text.reads[before:]  # elements are read where the view is
            _expression(node.value.slice, where, text)
    elif bound is None and isinstance(node, gast.Assign | gast.For) and not written_names(node):
        for name in stores(node):
            text.shown.setdefault(name, []).extend(text.reads[before:])


def _expression(node: Node, where: Where, text: Text) -> None:
    """Note the reads below an expression."""
    if isinstance(node, gast.Name):
        if isinstance(node.ctx, gast.Load):
            _name(node.id, None, where, text)
        return
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
        basic = is_basic(node.slice, frozenset(text.facts.values.integers))
        if isinstance(node.ctx, gast.Load):
            _name(node.value.id, node.slice if basic else None, where, text)
        _expression(node.slice, where, text)
        return
    shaped = outline(node, text.facts)
    for part in children(node):
        if part is not shaped or part is None:
            _expression(part, where, text)
        else:
            for read in indices(part):
                _expression(read, where, text)


def _name(name: str, index: Node | None, where: Where, text: Text) -> None:
    facts = text.facts
    if name in facts.memory.mutable:
        text.reads.append(ArrayRead(name, index, where))
    for read in text.shown.get(name, []):
        same = read.where.loops == where.loops[: len(read.where.loops)]
        text.reads.append(ArrayRead(read.array, read.index if same else None, where))
    if name in facts.memory.viewed and name not in text.shown:
        text.reads += [ArrayRead(array, None, where) for array in facts.memory.mutable]


def _is_part(value: Node, facts: Facts) -> bool:
    """Whether a value is a view of a part of an array that the function writes into."""
    if not (isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)):
        return False
    return value.value.id in facts.memory.mutable and is_basic(value.slice, frozenset(facts.values.integers))


def may_show(value: Node, facts: Facts) -> bool:
    """Whether a value may be a view of an array that it reads: arithmetic, copies and single elements are none."""
    if isinstance(value, gast.BinOp | gast.UnaryOp | gast.Compare | gast.Constant):
        return False
    if is_fitted(value, facts):
        return may_show(value.args[0], facts)  # of the other one only the shape is looked at
    if isinstance(value, gast.Call):
        function = function_called(value, facts)
        return getattr(value.func, "attr", "") != "copy" if function is None else not makes_new(function, value)
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
        spec = facts.values.value_spec.get(value.value.id)
        return spec is None or index_rank(value.slice, spec.ndim, frozenset(facts.values.integers)) != 0
    return True


def _unread(restores: Block, program: Program, facts: Facts) -> dict[Node, None]:
    text, known = read_text(program, facts), integers(program)
    return {node: None for node in restores if _is_unread(node, text, known)}


def _is_unread(node: Node, text: Text, known: Integers) -> bool:
    """Whether nothing that may run after a restore reads what it brings back."""
    part, array = part_written(node), written_names(node)[0]
    where = text.places[node]
    exact = isinstance(part.value, gast.Name) and is_basic(part.slice, frozenset(text.facts.values.integers))
    if array in text.facts.memory.swapped or array not in text.facts.memory.mutable or not exact:
        return False  # of lists, which are not among the mutable arrays, reads are not noted
    return all(_is_apart(part.slice, where, read, known) for read in text.reads if read.array == array)


def _is_apart(index: Node, where: Where, read: ArrayRead, known: Integers) -> bool:
    whole = gast.Constant(value=Ellipsis, kind=None)
    return regions_are_disjoint(index, where, whole if read.index is None else read.index, read.where, known)


_WHOLE = gast.Constant(value=Ellipsis, kind=None)
Read = tuple[Node, Where]  # an index, and where it is read


def dead_stores_into_adjoints(program: Program, facts: Facts) -> Program:
    """Drop the clearing of parts of adjoints that are read no more.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n  a = np.empty(5)\\n  a[0] = x[0]\\n  for t in range(1, 5):\\n    a[t] = a[t - 1] * x[t]\\n"
    >>> passes = ("stores_for_first_sums", "dead_stores_into_adjoints")
    >>> texts = [explain_text(text + "  return a[4]", after, wrt=("x",)) for after in passes]
    >>> ["a_bar[t] = 0.0" in one for one in texts]
    [True, False]
    """
    clearing = [node for node in statements(program.backward) if clears(node)]
    if not clearing:
        return program
    places = regions([*program.backward, program.result])
    known = integers(program)
    forward = {one for node in statements(program.forward) for one in (*loads(node), *stores(node))}
    gone: dict[Node, None] = {}
    naming: dict[str, dict[Node, Where]] = {}
    for node, where in places.items():
        for item in [n for part in _parts(node) for n in find_nodes(part, gast.Name)]:
            naming.setdefault(item.id, {})[node] = where
    for adjoint in dict.fromkeys(part_written(node).value.id for node in clearing):
        own = _is_own(adjoint, facts) and adjoint not in forward and adjoint not in program.parameters
        reads = _adjoint_reads(adjoint, naming[adjoint], facts) if own else None
        if reads is not None:
            mine = [node for node in clearing if part_written(node).value.id == adjoint]
            sorted_reads = _sort_by_element(reads)
            gone.update({node: None for node in mine if _is_spent(node, places[node], sorted_reads, known, facts)})
    if gone:
        program.backward = rebuilt(program.backward, {n: None for n in statements(program.backward) if n not in gone})
    return program


def _is_own(adjoint: str, facts: Facts) -> bool:
    """Whether a name is that of the adjoint of an array of which parts are written."""
    primal = facts.names.adjoint_of.get(adjoint, "")
    whole = primal in facts.memory.swapped or primal in facts.kinds.containers or facts.list_kind(primal)
    return primal in facts.memory.mutable and not whole


def _adjoint_reads(adjoint: str, naming: dict[Node, Where], facts: Facts) -> list[Read] | None:
    """What statements with its name read of an adjoint; None if something else may show what it holds."""
    found: list[Read] = []
    for node, where in naming.items():
        named = [n for part in _parts(node) for n in find_nodes(part, gast.Name) if n.id == adjoint]
        taken = [n for n in find_nodes(node, gast.Subscript) if any(n.value is one for one in named)]
        if _adds(node, adjoint, facts) and len(named) == 1:
            found.append((_WHOLE, where))
        elif target(node) == adjoint:
            if len(named) > 1 or (may_show(node.value, facts) and node not in facts.tape.zeros):
                return None
        else:
            if not isinstance(node, gast.Assign | gast.AugAssign) or len(named) != len(taken):
                return None
            read = taken if isinstance(node, gast.AugAssign) or not is_write(node) else _but(part_written(node), taken)
            shown = isinstance(node, gast.Assign) and may_show(node.value, facts)
            if shown and not all(_is_element(n.slice, adjoint, facts) for n in read):
                return None
            found += [(n.slice if _is_exact(n.slice, facts) else _WHOLE, where) for n in read]
    return found


def _but(written: Node, parts: Sequence[Node]) -> list[Node]:
    return [part for part in parts if part is not written]


def _adds(node: Node, adjoint: str, facts: Facts) -> bool:
    """`add_at(a_bar, i, e)`"""
    call = node.value if isinstance(node, gast.Expr) else None
    return function_called(call, facts) is runtime.add_at and written_names(node) == [adjoint]


def _is_exact(index: Node, facts: Facts) -> bool:
    return is_basic(index, frozenset(facts.values.integers))


def _parts(node: Node) -> list[Node]:
    """What a statement evaluates; a function that is defined here is looked at as a whole."""
    return [node] if isinstance(node, gast.FunctionDef) else header(node)


def _is_element(index: Node, adjoint: str, facts: Facts) -> bool:
    """Whether a part of an adjoint is a number, which shows nothing."""
    spec = facts.values.value_spec.get(facts.names.adjoint_of[adjoint])
    return spec is not None and index_rank(index, spec.ndim, frozenset(facts.values.integers)) == 0


def _sort_by_element(reads: list[Read]) -> dict[int | None, list[Read]]:
    """Reads by the element that a literal names: elements of other numbers are others. None: what is not literal."""
    found: dict[int | None, list[Read]] = {None: []}
    for read in reads:
        found.setdefault(_literal_element(read[0]), []).append(read)
    return found


def _literal_element(index: Node) -> int | None:
    """The k of `a[k]`, a number counted from the start."""
    value = index.value if isinstance(index, gast.Constant) else None
    return value if type(value) is int and value >= 0 else None


def _is_spent(node: Node, where: Where, reads: dict[int | None, list[Read]], known: Integers, facts: Facts) -> bool:
    """Whether nothing that may run after a part has been cleared reads it."""
    index = part_written(node).slice
    if not _is_exact(index, facts):
        return False
    element = _literal_element(index)
    rest = (
        [*reads[None], *reads.get(element, ())] if element is not None else [r for one in reads.values() for r in one]
    )
    return all(regions_are_disjoint(index, where, other, later, known) for other, later in rest)


def dead_code(program: Program, facts: Facts) -> Program:
    """Mark what is needed, starting from the results; a record that nothing reads goes with its push and pop."""
    drop(program, facts)
    return program


def drop(program: Program, facts: Facts) -> None:
    """Drop what nothing needs, until all is needed: a loop of which nothing is left goes with what its header read."""
    while _drop_once(program, facts):
        pass
    facts.activity.left_over = False


def _drop_once(program: Program, facts: Facts) -> bool:
    """Drop what is not needed once; whether a statement went that was needed."""
    block = program.block
    reaching = definitions(block, program.parameters, bound_first=True)
    above = parents(block)
    pushes: dict[str, list[Node]] = {}
    for node in statements(block):
        if node in facts.tape.pushes:
            pushes.setdefault(facts.tape.pushes[node], []).append(node)
        filled = facts.filled_by(node)
        if filled is not None:
            pushes.setdefault(filled, []).append(node)
    needed: dict[Node, None] = {}
    counted: dict[Node, None] = {}
    followed = 0  # definitions that need not be looked at again
    todo: list[Node | None] = [*(node for node in statements(block) if _speaks(node, facts)), program.result]
    while todo:
        reader = todo.pop()
        if reader is None or reader in needed:
            continue
        needed[reader] = None
        todo.append(above[reader])
        for name in loads(reader):
            if name in pushes:
                todo.extend(pushes[name])
            for definition in reaching.at(reader, name, followed):
                bound = reaching.graph.nodes[reaching.of[definition][0]]
                todo.append(bound)
                if bound is None or type(bound) is not gast.For:
                    followed |= 0 if name in reaching.only else 1 << definition
                elif not _is_in(reader, bound, above):
                    counted[bound] = None
    counted.update({node: None for node in needed if node in facts.resolution.moving and isinstance(node, COMPOUND)})
    for held in counted:
        if not any(node in needed for node in statements([held]) if node is not held):
            held.body = [at(gast.Pass(), held)]  # a loop leaves its last item, a header draws
            needed[held.body[0]] = None
    program.forward = rebuilt(program.forward, needed)
    program.backward = rebuilt(program.backward, needed)
    return len(statements(program.block)) < len(needed)


def _is_in(node: Node, loop: Node, above: dict[Node, Node | None]) -> bool:
    """Whether a statement stands in a loop."""
    outer: Node | None = node
    while outer is not None and outer is not loop:
        outer = above.get(outer)
    return outer is loop


def _speaks(node: Node, facts: Facts) -> bool:
    """Whether a statement acts on more than names: print, assert, raise, a draw of a generator."""
    if isinstance(node, gast.Assert | gast.Raise) or node in facts.resolution.moving:
        return True
    return isinstance(node, gast.Expr) and node in facts.resolution.effects


def unbound_shapes(program: Program, facts: Facts) -> Program:
    """Give such names a value that no shape is taken of.

    Not in compiled code, which has a type for each name, nor in a text that is to be differentiated again: there the
    text that comes of it has the line.
    """
    if facts.module.target.typed or facts.module.inline:
        return program
    earlier = program.forward if facts.request.generated else []
    asked = [name for node in _zeros_statements([*earlier, *program.backward]) for name in loads(node.value)]
    kept = [node for node in statements(program.forward) if node in facts.tape.pushes]
    if not asked and not kept:
        return program
    local = frozenset(s for node in statements(program.forward) for s in stores(node))
    begun = dict.fromkeys(_zeros_statements(earlier))
    reader = _Keeper(local, facts=facts)
    sure = reader.block([n for n in program.forward if n not in begun], frozenset(program.parameters)) or ()
    early = [one for one in asked if one in local and one not in sure]
    for name in dict.fromkeys([*early, *reader.kept]):
        first = next(k for k, node in enumerate(program.forward) if name in _names_bound(node))
        if target(program.forward[first]) != name:
            program.forward.insert(first, at(assign(name, gast.Constant(None, None)), program.forward[first]))
    return program


@record
class _Keeper(Reader):
    """Which names are put on a stack though nothing may have bound them: `x` of `for x in s` before its first trip."""

    facts: Facts = field(kw_only=True)
    kept: dict[str, None] = field(default_factory=dict)

    def statement(self, node: Node, bound: Names) -> After:
        """Note what is put on a stack."""
        if node in self.facts.tape.pushes:
            self.kept.update(dict.fromkeys(one for one in loads(node) if one in self.local and one not in bound))
        return super().statement(node, bound)


def _zeros_statements(block: Block) -> list[Node]:
    """Statements that make zeros like a value, outside of loops."""
    found: list[Node] = []
    for node in own_statements(block, (gast.For, gast.While, gast.With)):
        if target(node) is not None and isinstance(node.value, gast.Call):
            called = str(getattr(node.value.func, "attr", getattr(node.value.func, "id", "")))
            found += [node] if called.startswith(("zeros", "empty")) else []
    return found


def _names_bound(node: Node) -> set[str]:
    return {s for each in statements([node]) for s in stores(each)}
