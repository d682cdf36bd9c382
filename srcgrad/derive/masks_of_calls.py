"""Masks through calls of functions with source: their pullbacks take those of seeds, and give those of adjoints.

`x_bar, x_mask = g_back(y_bar, y_mask)`, where a seed, or what the function leaves out, is zero by structure.
"""

from __future__ import annotations

from srcgrad.core.facts import Facts, Handed, Spec
from srcgrad.core.trees import Block, Node, literal_node, name
from srcgrad.derive.adjoint_seeds import Pair
from srcgrad.derive.adjoints import Adjoints
from srcgrad.derive.mask_arrivals import flagged, unite_masks
from srcgrad.derive.masks import Mask, StatementMasks


def masks_of_parts(node: Node, adjoints: Adjoints) -> list[Mask | None]:
    """The masks of the items of a tuple that a callee gave: False where nothing reads one."""
    return [
        adjoints.masks.get(item.id) if adjoints.exists(item.id) else Mask("", Spec()) for item in node.targets[0].elts
    ]


def masks_taken(node: Node, bound: str, adjoints: Adjoints, shared: Block) -> list[Node]:
    """The masks of the seeds of a call; the call becomes one of a derivative that takes and gives masks as needed."""
    facts, call = adjoints.facts, node.value
    if call not in facts.derived or facts.module.leading.axis:
        return []
    plain, kinds = facts.derived[call]
    parts = adjoints.parts_masks.pop(bound, None)
    masks = [adjoints.masks.get(bound)] if parts is None else parts
    takes = tuple(k for k, mask in enumerate(masks) if mask is not None and bound in facts.masked)
    operands = zip(facts.module.making[plain].wrt, facts.pulled[call], strict=True)
    gives = tuple(parameter for parameter, operand in operands if operand.id in facts.masked)
    made = plain
    if takes or gives:
        handed = Handed(True, takes, gives)
        made = facts.module.masked(plain, facts.operation[call].function, kinds, facts, handed)
    if call in facts.recomputed:
        facts.recomputed[call] = made
    else:
        call.func = name(made)
    masking = StatementMasks(facts, node, {})
    taken = [masks[place] for place in facts.module.making[made].handed.takes_masks]
    trees = [_tree(mask, masking, parts is None) for mask in taken if mask is not None]
    shared += masking.made
    return trees


def _tree(mask: Mask, masking: StatementMasks, whole: bool) -> Node:
    if not mask.held:
        return literal_node(False)
    return masking.whole(mask) if whole else masking.true_where_taken(mask)


def _derivative(call: Node, facts: Facts) -> Facts:
    inner: Facts = facts.module.making[facts.recomputed.get(call) or call.func.id]
    return inner


def names_of_masks(node: Node, adjoints: Adjoints) -> list[str]:
    """Names for the masks that a call gives behind the adjoints."""
    facts, call = adjoints.facts, node.value
    inner = _derivative(call, facts) if call in facts.derived else None
    held: list[str] = []
    for _ in inner.handed.gives_masks if inner is not None else ():
        held.append(facts.names.fresh(f"t{len(facts.temporaries) + 1}"))
        facts.temporaries[held[-1]] = "t"
    return held


def note_given(node: Node, pairs: list[Pair], given: list[str], adjoints: Adjoints, shared: Block) -> None:
    """Note the masks that a call gives with the adjoints of its operands."""
    facts, later = adjoints.facts, [operand.id for operand, _ in pairs]
    inner = _derivative(node.value, facts) if given else facts
    masks = dict(zip(inner.handed.gives_masks, given, strict=True)) if given else {}
    for parameter, operand in zip(inner.wrt, facts.pulled[node.value], strict=True) if given else ():
        spec = facts.value_spec.get(operand.id, Spec(ndim=None))
        adjoints.arrive(operand.id, Mask(masks[parameter], spec) if parameter in masks else None)
        if operand.id not in later:
            shared += unite_masks(operand.id, [], node, adjoints)


def masks_given(output: Node, adjoints: Adjoints, into: Block) -> list[Node]:
    """The masks of the adjoints that a pullback gives, where some is zero by structure."""
    facts = adjoints.facts
    made: list[Node] = []
    masking = StatementMasks(facts, output, {})
    for one in facts.handed.gives_masks:
        mask = _given(one, adjoints)
        if mask is not None:
            facts.zeroing[one] = None
        if mask is None or not mask.held:
            made.append(literal_node(mask is None))
        else:
            made.append(masking.true_where_taken(masking.fit_mask(mask, name(one), facts.value_spec.get(one))))
    into += masking.made
    return made


def _given(one: str, adjoints: Adjoints) -> Mask | None:
    if not adjoints.exists(one):
        return Mask("", Spec())
    flag = adjoints.flags.get(one)
    return flagged(flag) if flag and one not in adjoints.masks else adjoints.masks.get(one)
