"""What is kept for its shape alone need not be kept: another value of that shape, which is needed, stands in for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import gast

from srcgrad.derive.program import Program
from srcgrad.derive.stacks import is_push
from srcgrad.facts import Facts, Spec
from srcgrad.improve.dead import dead
from srcgrad.improve.inline import Uses, bindings, count
from srcgrad.improve.outlines import is_fitted
from srcgrad.trees import COMPOUND, Block, Node, header, inside, loads, statements, stores, target, walk

_Place = tuple[int, Node]  # where in a block something is read for its shape


def standins(program: Program, facts: Facts) -> Program:
    """Give `sum_to` and `fit_to` a value that the trip has brought back anyway.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(h, w):\\n  s = 0.0\\n  for v in w:\\n    e = np.exp(h * v)\\n    s = s / 2 + v * (h + e)"
    >>> text += "\\n  return s"
    >>> [line for line in explain_text(text, after="standins", wrt=("h",)).splitlines() if "v, e)" in line]
    ['    t4_bar = sum_to(t3_bar * v, e)']
    """
    backward, trips = bodies(program.backward), bodies(program.forward)
    uses = count([*program.backward, program.result] if backward else [])
    changed = False
    for block in backward:
        shaped: dict[str, list[_Place]] = {}
        for position, node in enumerate(block):
            for call in [call for part in header(node) for call in inside(part, gast.Call)]:
                if _is_shaped(call, facts):
                    shaped.setdefault(call.args[1].id, []).append((position, call.args[1]))
        for position in reversed(range(len(block))):  # what is computed for its shape alone reads shapes alone
            bound = target(block[position]) if _is_arithmetic(block[position]) else None
            if bound in shaped and len(shaped[bound]) == uses.read[bound] and uses.bound.get(bound) == 1:
                for one in [n for n in walk(block[position].value) if isinstance(n, gast.Name)]:
                    shaped.setdefault(one.id, []).append((position, one))
        ahead = _ahead(block, program) if shaped else Counter[str]()
        while any(_replaced(held, block, shaped, uses, ahead, trips, facts) for held in list(shaped)):
            changed = True
        block[:] = [node for node in block if node is not None]
    outlines = _outlines(program, facts)
    times = bindings(program.block) if outlines else {}
    made = {str(target(node)): node for node in program.forward if target(node)} if outlines else {}
    for held, places in outlines.items():
        found = _alike(held, made, times, facts)
        for place in places if found else ():
            place.id, changed = found, True
    return dead(program, facts) if changed else program


def _outlines(program: Program, facts: Facts) -> dict[str, list[Node]]:
    """Temporaries of at most one use in their own half, of which the backward half reads the shape alone."""
    if not any(helper in facts.imports for helper in ("sum_to", "fit_to", "np")):
        return {}
    made = {target(node) for node in program.forward if node not in facts.pushes}
    found: dict[str, list[Node]] = {}
    for call in [n for node in statements(program.backward) for part in header(node) for n in inside(part, gast.Call)]:
        read = _read_for_shape(call, facts)
        if read is not None and read.id in made and read.id in facts.temporaries:
            found.setdefault(read.id, []).append(read)
    if not found:
        return {}
    own, uses = count(program.forward), count([*program.backward, program.result])
    found = {one: reads for one, reads in found.items() if own.bound[one] == 1}
    alone = {one: reads for one, reads in found.items() if len(reads) == uses.read[one] and own.read.get(one, 0) < 2}
    return {one: reads for one, reads in alone.items() if not uses.bound.get(one)}


def _read_for_shape(call: Node, facts: Facts) -> Node | None:
    """The `x` of `sum_to(g, x)`, `fit_to(g, x)` and `np.shape(x)`."""
    if _is_shaped(call, facts):
        return call.args[1]
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute) or call.func.attr != "shape":
        return None
    of_numpy = getattr(call.func.value, "id", None) == facts.imports.get("np")
    return call.args[0] if of_numpy and len(call.args) == 1 and isinstance(call.args[0], gast.Name) else None


def _alike(held: str, made: dict[str, Node], bound: dict[str, int], facts: Facts) -> str:
    """A name of the user's from which a value is computed, and which has its shape and dtype to the end of the text."""
    spec = _spec(held, facts)
    if spec is None or spec.scalar:
        return ""
    for one in _origins(held, made):
        changes = any(one in table for table in (facts.mutable, facts.viewed, facts.swapped, facts.temporaries))
        if changes or facts.value_spec.get(one) != spec or bound.get(one, 0) != (one in made):
            continue
        if spec.ndim is not None or (one in made and one in facts.active):  # an argument may be a list, or of integers
            return one
    return ""


def _origins(held: str, made: dict[str, Node]) -> Iterator[str]:
    """The names from which a value is computed, the nearest first."""
    seen, todo = {held}, [held]
    for one in todo:
        for read in loads(made[one]) if one in made else ():
            if read not in seen:
                seen.add(read)
                todo.append(read)
                yield read


def _is_arithmetic(node: Node) -> bool:
    """Whether a statement binds what sums, differences and products make of names and numbers."""
    value = node.value if isinstance(node, gast.Assign) else None
    return isinstance(value, gast.BinOp) and all(isinstance(part, _PLAIN) for part in walk(value))


_PLAIN = (gast.BinOp, gast.Add, gast.Sub, gast.Mult, gast.Name, gast.Load, gast.Constant)


def bodies(block: Block) -> list[Block]:
    """The bodies of loops."""
    found: list[Block] = []
    for node in block:
        if isinstance(node, COMPOUND):
            found += [node.body] if isinstance(node, gast.For | gast.While) else []
            found += [*bodies(node.body), *bodies(getattr(node, "orelse", None) or [])]
    return found


def _is_shaped(call: Node, facts: Facts) -> bool:
    """Whether an expression is `sum_to(g, x)` or `fit_to(g, x)` of a name."""
    return is_fitted(call, facts) and isinstance(call.args[1], gast.Name)


def _replaced(
    held: str,
    block: Block,
    shaped: dict[str, list[_Place]],
    uses: Uses,
    ahead: Counter[str],
    trips: list[Block],
    facts: Facts,
) -> bool:
    """Let another value stand in for one that is read for its shape alone; whether there was one."""
    places, spec = shaped[held], _held(held, trips, facts)
    if not places or len(places) != uses.read[held] - ahead[held] or uses.bound.get(held) != 1 or spec is None:
        return False
    before = block[: min(position for position, _ in places)]
    back = any(node is not None and target(node) == held for node in before)
    if spec.scalar or (not back and (ahead[held] or _begun(held, trips, facts) is not None)):
        return False  # what is read there is a value of another trip
    found = ""
    for node in before:
        other = None if node is None or node not in facts.restores else target(node)
        if other in (None, held) or other in facts.mutable or uses.bound[other] != 1:
            continue
        if not is_alike(str(other), held, trips, facts):
            continue
        alone = [place for place, _ in shaped.get(other, []) if not _is_arithmetic(block[place])]
        if uses.read.get(other, 0) - ahead[other] > len(alone):  # its elements are read as well
            found = str(other)
            break
        if shaped.get(other) and _begun(held, trips, facts) is not None:  # one of two that are kept for their shapes
            found = found or str(other)
    if not found:
        return False
    for _, place in places:
        place.id = found
    shaped[found], shaped[held] = [*shaped.get(found, []), *places], []
    uses.read[found] += len(places)
    uses.read[held] -= len(places)
    for position, node in enumerate(block):
        if node is not None and target(node) == held and node not in facts.restores:
            block[position] = None  # computed again for its shape
            for one in loads(node):
                uses.read[one] -= 1
                shaped[one] = [place for place in shaped.get(one, []) if place[0] != position]
    return True


def _ahead(block: Block, program: Program) -> Counter[str]:
    """How often names are read before the loop with this body: of values that were there before it."""
    place = next((k for k, node in enumerate(program.backward) if getattr(node, "body", None) is block), 0)
    return Counter(one for node in statements(program.backward[:place]) for one in loads(node))


def is_alike(found: str, held: str, trips: list[Block], facts: Facts) -> bool:
    """Whether two values of a trip, of which the second is an array, have one shape and dtype."""
    spec = _held(held, trips, facts)
    if spec is None or spec.scalar:
        return False
    return _held(found, trips, facts) == spec or _is_operand(found, held, trips, facts)


def _is_operand(found: str, held: str, trips: list[Block], facts: Facts) -> bool:
    """Whether a value has the shape and dtype of one from which it is computed, and which its trip begins with."""
    made = facts.definition.get(facts.again.get(held, held))
    trip = next((block for block in trips if made in block), None)
    if made is None or trip is None:
        return False
    before, spec = trip[: trip.index(made) + 1], facts.spec.get(made)
    if spec is None or any(found in stores(node) for node in statements(before)):
        return False
    own = {target(node): node for node in before if target(node) in facts.temporaries}
    chain = [made]
    for node in chain:
        if any(n.id == found and facts.spec.get(n) == spec for n in walk(node.value) if isinstance(n, gast.Name)):
            return True
        chain += [own[read] for read in loads(node) if read in own and own[read] not in chain]
    return False


def _held(held: str, trips: list[Block], facts: Facts) -> Spec | None:
    """What is known of a value that the backward half of a trip reads."""
    return _begun(held, trips, facts) or _spec(held, facts)


def _begun(held: str, trips: list[Block], facts: Facts) -> Spec | None:
    """What is known of a value that a trip begins with, where that is what it keeps before it binds the name anew."""
    kept = [(trip, node) for trip in trips for node in trip if node in facts.pushes and is_push(node)]
    found = [trip[: trip.index(node)] for trip, node in kept if getattr(node.value.args[0], "id", "") == held]
    if len(found) != 1 or any(held in stores(node) for node in statements(found[0])):
        return None
    read = (n for node in statements(found[0]) for part in header(node) for n in walk(part))
    return next((facts.spec[n] for n in read if isinstance(n, gast.Name) and n.id == held and n in facts.spec), None)


def _spec(held: str, facts: Facts) -> Spec | None:
    """What is known of a value that goes by its name alone."""
    own = facts.again.get(held, held)
    return facts.value_spec.get(own) if own in facts.definition else None
