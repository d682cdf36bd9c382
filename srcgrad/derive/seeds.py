"""Where the backward half begins: the adjoint of what the function returns."""

from __future__ import annotations

import gast

from srcgrad.derive.adjoints import Adjoints
from srcgrad.derive.states import PRESENT
from srcgrad.facts import Facts, Spec, copied
from srcgrad.names import bar
from srcgrad.trees import Block, Node, assign, at, constant, expression, name


def seed(output: Node, adjoints: Adjoints, facts: Facts) -> Block:
    """The adjoint of the returned name is the seed; a tuple's is unpacked."""
    value = output.value.elts[0] if facts.auxiliary else output.value
    if isinstance(value, gast.Name) and _is_own(value.id, facts):
        adjoints.state[value.id] = PRESENT
        return _start(adjoints.of(value.id), output, facts)
    if _is_split(value, facts):
        facts.seeds = tuple(facts.names.fresh(bar(f"y{k}")) for k, _ in enumerate(value.elts, 1))
        split: Block = []
        for item, part in zip(value.elts, facts.seeds, strict=True):
            adjoints.contribute_whole(copied(item, facts), name(part), split, output)
        return split
    given = facts.names.fresh("y_bar")
    made = _start(given, output, facts)
    if isinstance(value, gast.Name):
        if value.id in facts.active:
            adjoints.contribute_whole(copied(value, facts), name(given), made, output)
        return made
    for item, part in zip(value.elts, _parts(given, value.elts, made, output, adjoints), strict=True):
        if item.id in facts.active:
            adjoints.contribute_whole(copied(item, facts), part, made, output)
    return made


def _is_split(value: Node, facts: Facts) -> bool:
    """Whether a pullback takes the adjoints of a tuple's items one by one: if only texts of ours call it."""
    if not facts.apart or facts.step is not None or facts.module.inline or facts.module.leading.axis:
        return False
    given = facts.source.tree.args
    if facts.mode == "pull" and (given.defaults or given.kwonlyargs or given.vararg):
        return False  # seeds stand behind the arguments
    if facts.mode not in ("vjp", "pull") or not isinstance(value, gast.Tuple) or len(value.elts) < 2:
        return False
    return all(item.id in facts.active for item in value.elts)


def _parts(seed: str, items: list[Node], made: Block, output: Node, adjoints: Adjoints) -> list[Node]:
    """The adjoints of a tuple's items: unpacked, if all are wanted, else `y_bar[k]`."""
    facts = adjoints.facts
    if len(items) < 2 or not all(item.id in facts.active for item in items):
        return [expression(f"{seed}[{position}]") for position in range(len(items))]
    parts = [facts.names.fresh("t1") for _ in items]
    facts.temporaries |= dict.fromkeys(parts, "t")
    held = [adjoints.of(part) for part in parts]
    taken = gast.Tuple([name(one, gast.Store()) for one in held], gast.Store())
    made.append(at(gast.Assign([taken], name(seed), None), output))
    return [name(one) for one in held]


def _start(seed: str, output: Node, facts: Facts) -> Block:
    """The seed is a parameter, or a first statement of the backward half binds it."""
    if facts.seed in ("parameter", "given"):
        facts.seeds = (seed,)
        return []
    if facts.seed == "one":
        made = assign(seed, constant(1.0), output)
        facts.spec[made] = Spec()
        return [made]
    held = getattr(output.value, "id", "")
    if not isinstance(output.value, gast.Name) or "dict" in (facts.containers.get(held), facts.list_kind(held)):
        raise facts.refuse(
            output, "E5007", "the function returns several values", "return one array, or use srcgrad.vjp"
        )
    ones = expression(f"{facts.library('np')}.ones_like(y)", y=copied(output.value, facts))
    made = assign(seed, ones, output)
    facts.spec[made] = facts.spec.get(output.value, Spec(frozenset([seed]), frozenset([seed]), None))
    return [made]


def _is_own(returned: str, facts: Facts) -> bool:
    """Whether the seed may go by the name of the returned value's adjoint, whose elements must not change."""
    if returned in facts.mutable or returned in facts.indexed or facts.list_kind(returned):
        return False
    if facts.temporaries.get(returned, "y") != "y":
        return False
    return returned in facts.active and returned not in facts.wrt and returned not in facts.base
