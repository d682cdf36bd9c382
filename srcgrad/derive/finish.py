"""Putting the two halves together: what the derivative returns, and zeros for inputs that do not matter."""

from __future__ import annotations

import gast

from srcgrad.analyse.containers import gives_tuple
from srcgrad.analyse.guessed import may_be_array
from srcgrad.derive.program import Program
from srcgrad.derive.reverse import Halves, reverse
from srcgrad.derive.states import ABSENT
from srcgrad.facts import UNKNOWN, Facts
from srcgrad.front.webs import parameters
from srcgrad.trees import (
    Node,
    assign,
    at,
    constant,
    copy,
    expression,
    header,
    inside,
    loads,
    name,
    statement,
    statements,
    stores,
    target,
    walk,
    written,
)


def gradient(function: Node, facts: Facts) -> Program:
    """The program that returns the adjoints of the inputs, after the value if the mode asks for it."""
    halves = reverse(function, facts)
    _zeros(halves, facts)
    _separate(halves, facts)
    if facts.seed in ("parameter", "one"):
        _check_output(halves, facts)
    found = [_returned(w, facts) for w in facts.wrt]
    adjoints = found[0] if len(found) == 1 and facts.single else gast.Tuple(elts=found, ctx=gast.Load())
    value: Node = adjoints
    if facts.mode in ("value-and-grad", "vjp", "trace") or _of_items(facts):
        value = gast.Tuple(elts=[_value(halves.output.value, halves, facts), adjoints], ctx=gast.Load())
    elif facts.auxiliary:
        value = gast.Tuple(elts=[adjoints, _value(halves.output.value.elts[1], halves, facts)], ctx=gast.Load())
    return Program(parameters(function) + list(facts.seeds), halves.forward, halves.backward, gast.Return(value))


def _returned(wanted: str, facts: Facts) -> Node:
    """The adjoint of an argument, put together as the argument is where the text alone does not tell."""
    adjoint = name(facts.spelled[wanted])
    if not may_be_array(wanted, facts):
        return adjoint
    return expression(f"{facts.library('of_items')}(adjoint, {wanted})", adjoint=adjoint)


def _of_items(facts: Facts) -> bool:
    """Whether a compiled loop over items calls the derivative, for the value as well."""
    return facts.mode == "pull" and facts.module.given is not None and not facts.called


def primal(function: Node, facts: Facts) -> Program:
    """The program that returns the value alone."""
    return Program(parameters(function), function.body[:-1], [], function.body[-1])


def _zeros(halves: Halves, facts: Facts) -> None:
    last: list[Node] = []
    for wanted in facts.wrt:
        if halves.adjoints.state.get(wanted, ABSENT) == ABSENT:
            made = halves.adjoints.zeros(wanted, facts.value_spec.get(wanted), facts.source.tree)
            if facts.kinds.get(wanted, UNKNOWN) == UNKNOWN and wanted not in facts.containers:
                made.value = expression(f"{facts.library('zeros_like')}({wanted})")  # it may be no array
            if any(facts.spelled[wanted] in stores(n) for n in statements(halves.backward)):
                last.append(made)  # the name held the adjoint of another value before
            else:
                halves.backward.append(made)
    order = {facts.spelled[w]: k for k, w in enumerate(facts.wrt)}
    seen: set[str] = set()  # what an earlier statement binds may not be cleared, or measured, before that one
    hoisted = []
    for node in halves.backward:
        if node in facts.zeros and target(node) in order and seen.isdisjoint([target(node), *loads(node)]):
            hoisted.append(node)
        seen.update(s for n in statements([node]) for s in stores(n) if s not in written(n))
    first = sorted(hoisted, key=lambda n: order[str(target(n))])
    halves.backward = first + [n for n in halves.backward if n not in hoisted] + last


def _value(returned: Node, halves: Halves, facts: Facts) -> Node:
    """The returned value, under a name of its own where the backward half brings older values back."""
    value = copy(returned)
    restored = {s for n in statements(halves.backward) for s in stores(n)}
    for item in [n for n in walk(value) if isinstance(n, gast.Name) and n.id in restored]:
        kept = facts.names.fresh("y")
        facts.temporaries[kept] = "y"
        halves.forward.append(at(assign(kept, name(item.id)), halves.output))
        item.id = kept
    return value


def _separate(halves: Halves, facts: Facts) -> None:
    """What the backward half computes again goes by names of its own."""
    renamed = {}
    for again in facts.again:
        renamed[again] = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
        facts.temporaries[renamed[again]] = "t"
        if again in facts.viewed:
            facts.viewed[renamed[again]] = None
    for node in statements(halves.backward) if renamed else ():
        for item in [item for part in header(node) or [node] for item in inside(part, gast.Name)]:
            item.id = renamed.get(item.id, item.id)
    facts.again = {new: old for old, new in renamed.items()}


def _check_output(halves: Halves, facts: Facts) -> None:
    """A gradient has a real scalar output: proved from the text, or checked when it runs."""
    value = halves.output.value.elts[0] if facts.auxiliary else halves.output.value
    definition = facts.definition.get(getattr(value, "id", ""))
    made = getattr(definition, "value", None)
    operation = facts.operation.get(made)
    whole = target(definition) is not None  # not one of several names: `sign, y = np.linalg.slogdet(x)`
    several = isinstance(made, _DISPLAYS) or (whole and operation is not None and gives_tuple(operation))
    if not isinstance(value, gast.Name) or several:
        raise facts.refuse(
            halves.output,
            "E5007",
            "the function returns several values",
            "return one scalar, or use srcgrad.vjp, which takes a seed for each value",
        )
    spec = facts.spec.get(value)
    is_number = spec is not None and spec.scalar and value.id not in facts.complex
    if value.id in facts.active and not is_number:
        seed: Node = name(facts.seeds[0]) if facts.seeds else constant(1.0)
        check = statement(f"{facts.library('check_seed')}(seed, {value.id})", seed=seed)
        facts.effects[check] = None
        at(check, halves.output)
        halves.backward.insert(0, check)


_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)
