"""A pullback computes afresh what is cheap and comes of what it keeps anyway: it keeps e, not e and `1.0 / (2.0 + e)`.

e = np.exp(-x)                              e = np.exp(-x)
y = 1.0 / (2.0 + e)                         y = 1.0 / (2.0 + e)

def back(y_bar):                     =>     def back(y_bar):
    return y_bar * y * y * e                    y = 1.0 / (2.0 + e)
                                                return y_bar * y * y * e

So is what comes of values that are computed afresh: after y, `s = y * y`.
"""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts, copied
from srcgrad.front.quiet import is_inside
from srcgrad.improve.gathered import is_final
from srcgrad.improve.inline import count
from srcgrad.improve.late import changes
from srcgrad.trees import COMPOUND, Block, Node, assign, at, loads, statements, target, walk, written

_WORK = 3  # operations at most: what takes more is worth its memory
_PLAIN = (gast.BinOp, gast.UnaryOp, gast.Name, gast.Constant)
_CHEAP = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.USub)


def afresh(program: Program, facts: Facts) -> Program:
    """Do the same arithmetic on the same values again in pullbacks that others call: a loop keeps one for each trip."""
    if facts.mode != "vjp" or not facts.called or not is_final(facts):
        return program
    uses, read = count(program.block), count(program.backward).read
    changed = {one for node in statements(program.block) for one in written(node)}
    fixed = {one for one in read if uses.bound.get(one, 0) + (one in program.parameters) < 2}
    kept = {one for one in fixed if one not in changed and one not in facts.views and not changes(one, facts)}
    returned, again = _handed_out(program.result.value.elts[0]), dict[str, Node]()
    for node in list(program.forward):
        bound = target(node)
        if bound is not None and bound in kept and bound not in returned and _is_cheap(node, kept, facts):
            place = next(k for k, other in enumerate(program.backward) if _reads(other, bound))
            reader, made = program.backward[place], assign(bound, copied(node.value, facts))
            again[bound] = made if isinstance(reader, COMPOUND) else at(made, reader)
            program.backward.insert(place, again[bound])
            _precede(program.backward, place, again)
    return program


def _precede(block: Block, place: int, again: dict[str, Node]) -> None:
    """Let what a statement reads be computed afresh before it."""
    node = block[place]
    for late in [again[one] for one in dict.fromkeys(loads(node)) if one in again and again[one] in block[place:]]:
        block.remove(late)
        block.insert(block.index(node), at(late, node))
        _precede(block, block.index(late), again)


def _handed_out(value: Node) -> set[str]:
    """The names whose values the caller gets, and keeps as long as it likes; what they are computed from is not."""
    if isinstance(value, gast.Tuple | gast.List | gast.Dict):
        items = value.values if isinstance(value, gast.Dict) else value.elts
        return set[str]().union(*(_handed_out(item) for item in items))
    return set() if isinstance(value, gast.BinOp | gast.UnaryOp) else set(loads(value))


def _is_cheap(node: Node, kept: set[str], facts: Facts) -> bool:
    """Whether a name is bound to some arithmetic on arrays that are kept and on constants."""
    spec = facts.value_spec.get(str(target(node)))
    if node in facts.pushes or spec is None or spec.scalar:
        return False
    if any(is_inside(node, one) for one in facts.contexts):
        return False  # `np.errstate` is meant for that line, and not for a second one
    parts = list(walk(node.value))
    work = [part.op for part in parts if isinstance(part, gast.BinOp | gast.UnaryOp)]
    if not all(isinstance(part, _PLAIN) for part in parts) or not all(isinstance(op, _CHEAP) for op in work):
        return False
    return 0 < len(work) <= _WORK and all(one in kept for one in loads(node))


def _reads(node: Node, bound: str) -> bool:
    return any(bound in loads(each) for each in statements([node]))
