"""A loop keeps `e / s`, the shares of exponentials in their sum, where the backward half reads e and s for these alone.

e = np.exp(u)                       e = np.exp(u)
s = np.sum(e)                       s = np.sum(e)
e_stack.append(e)            =>     share = e / s
s_stack.append(s)                   share_stack.append(share)

s_bar = y_bar / s                   s_bar = y_bar
u_bar = s_bar * e                   u_bar = s_bar * share

So it is of `np.log(s)`, also of `np.log(s + 2.0)`. A share is from 0 to 1: no quotient overflows that did not before.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast
import numpy as np

from srcgrad.derive.program import Program
from srcgrad.facts import Facts, Operation, copied
from srcgrad.improve.combined import Record, is_of, records
from srcgrad.improve.dead import dead
from srcgrad.improve.gathered import is_final
from srcgrad.improve.inline import Uses, count
from srcgrad.improve.outlines import elements
from srcgrad.improve.standins import bodies
from srcgrad.names import stack
from srcgrad.rules import rule_of
from srcgrad.trees import Block, Node, at, header, inside, loads, name, statement, statements, target, walk


@dataclass(frozen=True)
class _Shares:
    """`L * e`, where L is a quotient by the sum: the three places in the backward half, and what they are of."""

    product: Node
    quotient: Node  # the statement that divides
    again: Node | None  # the one that computes the divisor again, for it alone
    powers: str  # e
    below: str  # s, or what else of the divisor is kept
    divisor: str  # s, or s + 2.0, in the forward half


def shares(program: Program, facts: Facts) -> Program:
    """Keep one value in the place of two; a text that is to be differentiated again keeps what the rules read."""
    if facts.contexts or not facts.restores or not is_final(facts):
        return program
    known, changed = records(program, facts), False
    for block in bodies(program.backward) if len(known) > 1 else ():
        uses = count([*program.backward, program.result])
        made = {str(target(node)): node for node in block if uses.bound.get(str(target(node))) == 1}
        found = [one for node in block for one in _products(node, made, uses, facts)]
        for one in found:
            if _is_kept(one, block, known, facts) and _is_alone(one, block, program, facts):
                _keep(one, known[one.powers], program, facts)
                changed = True
    return dead(program, facts) if changed else program


def _products(node: Node, made: dict[str, Node], uses: Uses, facts: Facts) -> list[_Shares]:
    """The products of a statement that are shares times something."""
    found = []
    for product in inside(getattr(node, "value", None) or node, gast.BinOp):
        factor, powers = product.left, getattr(product.right, "id", "")
        if not isinstance(product.op, gast.Mult) or not isinstance(factor, gast.Name) or powers in facts.complex:
            continue
        while factor.id in made and uses.read.get(factor.id) == 1 and isinstance(made[factor.id].value, gast.Name):
            factor = made[factor.id].value
        quotient = made.get(factor.id)
        by = None if quotient is None or uses.read[factor.id] != 1 else _divisor(quotient.value, facts)
        if by is None or not _is_sum(facts.again.get(by, by), powers, facts):
            continue
        divisor = facts.again.get(by, by)
        again = made[by] if by != divisor and by in made and uses.read[by] == 1 else None
        below = by if by == divisor else _total(divisor, facts)
        found.append(_Shares(product, quotient, again, powers, below, divisor))
    return found


def _divisor(value: Node, facts: Facts) -> str | None:
    """The name by which something is divided."""
    by = None
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div):
        by = value.right
    elif isinstance(value, gast.Call) and getattr(value.func, "attr", "") == "divide" and len(value.args) == 2:
        by = value.args[1] if getattr(value.func.value, "id", "") == facts.imports.get("np") else None
    return by.id if isinstance(by, gast.Name) else None


def _operation(bound: str, facts: Facts) -> Operation | None:
    return facts.operation.get(getattr(facts.definition.get(bound), "value", None))


def _total(divisor: str, facts: Facts) -> str:
    """The name of s, of `s`, `s + 2.0` and `2.0 + s`: to a negative number it may be next to 0."""
    operation = _operation(divisor, facts)
    if operation is None or operation.function is not np.add:
        return divisor
    sides = list(operation.bound.values())
    names = [side.id for side in sides if isinstance(side, gast.Name)]
    numbers = [side.value for side in sides if isinstance(side, gast.Constant)]
    positive = all(type(number) in (int, float) and 0 <= number < np.inf for number in numbers)
    return names[0] if len(names) == len(numbers) == 1 and positive else divisor


def _is_sum(divisor: str, powers: str, facts: Facts) -> bool:
    """Whether a value is the sum of all exponentials, and of nothing that is negative."""
    total, power = _operation(_total(divisor, facts), facts), _operation(powers, facts)
    if total is None or power is None or total.function is not np.sum or power.rule is not rule_of(np.exp):
        return False
    return list(total.bound) == ["a"] and getattr(total.bound["a"], "id", "") == powers


def _is_kept(one: _Shares, block: Block, known: dict[str, Record], facts: Facts) -> bool:
    """Whether a trip keeps both, behind the place where it has computed them."""
    if one.powers not in known or one.below not in known or facts.value_spec.get(one.powers) is None:
        return False
    made = (facts.definition[one.powers], facts.definition[one.below])
    return all(is_of(known[held], each, block) for held in (one.powers, one.below) for each in made)


def _is_alone(one: _Shares, block: Block, program: Program, facts: Facts) -> bool:
    """Whether nothing else reads the sum, and nothing else the elements of the exponentials."""
    others = [node for node in [*statements(program.backward), program.result] if node is not one.again]
    trip = {id(node) for node in statements(block)}
    if any(one.powers in loads(node) for node in others if id(node) not in trip):
        return False
    read = [n for node in others for part in header(node) for n in elements(part, facts)]
    mine = {id(n) for part in (one.product, one.quotient) for n in walk(part)}
    everywhere = [n for node in others for part in header(node) for n in walk(part) if isinstance(n, gast.Name)]
    wanted = {n.id for n in read if id(n) not in mine}
    sums = {n.id for n in everywhere if id(n) not in mine and isinstance(n.ctx, gast.Load)}
    return one.powers not in wanted and one.below not in sums


def _keep(one: _Shares, record: Record, program: Program, facts: Facts) -> None:
    """Divide in the forward half, and bring the quotient back."""
    held = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
    facts.temporaries[held] = "t"
    like = next(node for node in record.popped if node in facts.restores and target(node) == one.powers)
    last, below = facts.definition[one.below], name(one.divisor)
    if facts.definition[one.divisor] in record.pushed:
        last = facts.definition[one.divisor]
    else:  # the value of the sum's logarithm is not asked for
        below = copied(facts.definition[one.divisor].value, facts)
    share = at(statement("share = e / s", share=held, e=one.powers, s=below), last)
    facts.definition[held], facts.value_spec[held] = share, facts.value_spec[one.powers]
    facts.spec[share] = facts.spec[facts.definition[one.powers]]
    sides = {"x": share.value.left, "y": share.value.right}
    facts.operation[share.value] = Operation("op", np.divide, rule_of(np.divide), sides)
    kept = facts.names.fresh(stack(held))
    head, push = statement(f"{kept} = []"), at(statement(f"{kept}.append({held})"), like)
    pop = at(statement(f"{held} = {kept}.pop()"), like)
    program.forward.insert(0, head)
    record.pushed.insert(record.pushed.index(last) + 1, share)
    record.pushed.append(push)
    record.popped.insert(record.popped.index(like), pop)
    facts.pushes.update({head: kept, push: kept})
    facts.stacks.setdefault(held, kept)
    facts.restores[pop] = kept
    quotient = one.quotient.value
    one.quotient.value = quotient.left if isinstance(quotient, gast.BinOp) else quotient.args[0]
    for node in statements(program.backward):
        for item in [item for part in header(node) for item in walk(part) if isinstance(item, gast.Name)]:
            if item.id == one.powers and isinstance(item.ctx, gast.Load):
                item.id = held
