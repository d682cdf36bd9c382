"""An adjoint to whose parts something is added once each, and which they make up, is filled with them.

gates_bar = np.zeros_like(gates)        gates_bar = empty_like(gates)
gates_bar[b:] += e                  =>  gates_bar[b:] = e
gates_bar[:b] += f                      gates_bar[:b] = f

Where the array would be kept for its shape alone, the parts are put together: `gates_bar = np.concatenate((f, e))`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.analyse.regions import Integers, Interval, Linear, Setting, Variable, difference, linear, not_negative
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.gathered import is_final
from srcgrad.improve.together import added_value, put_together
from srcgrad.improve.unread import integers
from srcgrad.trees import BLOCKS, COMPOUND, Block, Node, at, name, statements, target, walk


def filled(program: Program, facts: Facts) -> Program:
    """Store what would be added to zeros, where the parts are apart and none is left out."""
    if is_final(facts):
        known = integers(program)
        lengths = [one for node in program.forward for one in _lengths(node, facts) if one in known.fixed]
        setting = _setting(lengths, known)
        for block in _blocks(program.backward):
            for node in [n for n in block if n in facts.zeros]:
                _fill(node, block, setting, program, facts)
    return program


def _setting(lengths: list[str], known: Integers) -> Setting:
    """Lengths are at least 0."""
    return Setting([Variable(one, [{"": 0}]) for one in lengths], {one: one for one in lengths}, known)


def _lengths(node: Node, facts: Facts) -> list[str]:
    """The names that `n, d = x.shape`, `n = x.shape[0]` or `n = len(x)` bind."""
    if not isinstance(node, gast.Assign) or len(node.targets) != 1:
        return []
    value, bound = node.value, node.targets[0]
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Name) and value.func.id == "len":
        return [bound.id] if isinstance(bound, gast.Name) and "len" not in facts.local else []
    if isinstance(value, gast.Subscript) and isinstance(bound, gast.Name) and isinstance(value.slice, gast.Constant):
        return [bound.id] if _is_shape(value.value, facts) else []
    names = bound.elts if isinstance(bound, gast.Tuple) else []
    return [one.id for one in names if isinstance(one, gast.Name)] if _is_shape(value, facts) else []


def _is_shape(value: Node, facts: Facts) -> bool:
    of_name = isinstance(value, gast.Attribute) and value.attr == "shape" and isinstance(value.value, gast.Name)
    return of_name and value.value.id not in facts.containers


def _blocks(block: Block) -> list[Block]:
    """The block, and all blocks in it."""
    inner = [getattr(node, which, None) for node in statements(block) if isinstance(node, COMPOUND) for which in BLOCKS]
    return [block, *(one for one in inner if one)]


@dataclass
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
    made, adjoint, np_ = zeros.value, str(target(zeros)), facts.imports.get("np")
    primal = facts.adjoint_of.get(adjoint)
    plain = isinstance(made, gast.Call) and len(made.args) == 1 and not made.keywords
    if not plain or gast.unparse(made.func) != f"{np_}.zeros_like" or primal in (None, *facts.complex):
        return
    cover, added, touching = _Cover(), [], 0
    for node in block[block.index(zeros) + 1 :]:
        if not any(isinstance(item, gast.Name) and item.id == adjoint for item in walk(node)):
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
    read = [item.id for part in (node.value, node.target.slice) for item in walk(part) if isinstance(item, gast.Name)]
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
    form = linear(end, setting)
    if form is None or not not_negative(form, setting.variables):
        return None
    return {key: factor for key, factor in form.items() if factor}
