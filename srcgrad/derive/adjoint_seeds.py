"""Where adjoints begin and where they are handed out: the seed, displays, calls that give several.

Adjoints of several operands that one call gives: `x_bar, y_bar = g_back(z_bar)`.

Displays as operands, `np.concatenate([a, b])`: each item gets its part of the adjoint.

Where the backward half begins: the adjoint of what the function returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import gast

from srcgrad import runtime
from srcgrad.analysis.dtypes import note_complex
from srcgrad.analysis.shapes import spec_of_tree
from srcgrad.core.facts import Facts, Spec, bar, copy_with_facts, function_called
from srcgrad.core.trees import Block, Node, assign, at, expression, literal_node, name, stores
from srcgrad.derive.adjoints import PRESENT, Adjoints
from srcgrad.derive.arguments import called_once_more, is_called_again
from srcgrad.derive.masks import Mask, is_container

Pair = tuple[Node, Node]  # operand, its contribution


def pulled_back(
    node: Node, bound: list[str], adjoints: Adjoints, shared: Block, taken: list[Node], given: list[str]
) -> list[Pair]:
    """`a_bar, b_bar = g_back(y_bar)`: one closure per call of a differentiated function.

    Masks that it has `taken` stand behind the seeds, and those `given` behind the adjoints.
    """
    facts = adjoints.facts
    operands = facts.calls.pulled[node.value]
    seed = adjoints.of_value(node, bound[0])
    seeds = facts.calls.callee_seeds.get(node.value, ())
    if is_called_again(node.value, facts):
        call = called_once_more("adjoint_of", node.value, [seed], facts)
    elif node.value in facts.calls.recomputed:
        call = _repeat_call(node.value, seed, facts)
        seeds_of_masks = facts.module.making[facts.calls.recomputed[node.value]].calls.mask_seeds
        call.keywords += [gast.keyword(one, mask) for one, mask in zip(seeds_of_masks, taken, strict=True)]
    else:
        call = expression("back()", back=facts.calls.backs[node.value])
        call.args.append(gast.Starred(seed, gast.Load()) if len(seeds) > 1 else seed)
        call.args += taken
    if len(operands) == 1 and not given:
        return [(copy_with_facts(operands[0], facts), call)]
    return unpack_adjoints(call, operands, node, adjoints, shared, given)


def _repeat_call(call: Node, seed: Node, facts: Facts) -> Node:
    """`g_pull(a, b, y_bar=y_bar)`: the call once more, and its adjoints; several seeds stand behind the arguments."""
    again = copy_with_facts(call, facts)
    again.func = name(facts.calls.recomputed[call])
    spelled = facts.module.seeds(again.func.id)
    if len(spelled) == 1:
        again.keywords.append(gast.keyword(spelled[0], seed))
    elif again.keywords:
        parts = [expression(f"seed[{place}]", seed=copy_with_facts(seed, facts)) for place in range(len(spelled))]
        again.keywords += [gast.keyword(one, part) for one, part in zip(spelled, parts, strict=True)]
    else:
        again.args.append(gast.Starred(seed, gast.Load()))
    return again


def unpack_adjoints(
    call: Node,
    operands: Sequence[Node | None],
    node: Node,
    adjoints: Adjoints,
    shared: Block,
    behind: Iterable[str] = (),
) -> list[Pair]:
    """`a_bar, b_bar = call`: adjoints that begin here get their names at once; None in `operands` is not asked for.

    An adjoint whose elements will change goes by another name first: two of them may be one array.
    """
    facts = adjoints.facts
    names = [operand.id for operand in operands if operand is not None]
    targets: list[Node] = []
    pairs: list[Pair] = []
    direct: list[str] = []
    for operand in operands:
        if operand is None:
            targets.append(name(facts.unused_name, gast.Store()))
            continue
        once = names.count(operand.id) == 1 and operand.id not in stores(node)
        changes = operand.id in facts.activity.indexed and operand.id not in facts.kinds.containers
        if once and not changes and not adjoints.exists(operand.id):
            targets.append(name(adjoints.of(operand.id), gast.Store()))
            direct.append(operand.id)
        else:
            held = facts.names.new_temporary()
            targets.append(name(held, gast.Store()))
            pairs.append((copy_with_facts(operand, facts), name(held)))
    targets += [name(one, gast.Store()) for one in behind]
    for primal in direct:
        adjoints.state[primal] = PRESENT
        adjoints.masks.pop(primal, None)
    shared.append(gast.Assign([gast.Tuple(elts=targets, ctx=gast.Store())], call, None))
    return pairs


def sequence(display: Node, value: Node, facts: Facts, shared: Block) -> list[Pair]:
    """Adjoints of the items of a display, one per item of `value`."""
    if isinstance(value, gast.Tuple) and isinstance(display, gast.Tuple | gast.List):
        parts = zip(display.elts, value.elts, strict=True)
        return [pair for item, part in parts if is_active(item, facts) for pair in _of_part(item, part, facts, shared)]
    first = _first_part(display, value, facts)
    if first is not None:
        return [first]
    held = facts.names.new_temporary()
    shared.append(assign(held, value))
    note_complex(held, value, facts)
    return items(display, name(held), facts)


def _first_part(display: Node, value: Node, facts: Facts) -> Pair | None:
    """The first of several parts `split_like(g, (a, b), 1)`, if it is the only one wanted: `g[:, : a.shape[1]]`."""
    if (
        function_called(value, facts) is not runtime.split_like
        or not isinstance(display, gast.Tuple | gast.List)
        or not isinstance(display.elts[0], gast.Name)
    ):
        return None
    first, *others = display.elts
    axis = value.args[2].value if len(value.args) == 3 and isinstance(value.args[2], gast.Constant) else 0
    rank, whole = spec_of_tree(first, facts).ndim, spec_of_tree(value.args[0], facts).ndim
    literal = len(value.args) < 4 and not value.keywords and type(axis) is int
    if not literal or rank is None or rank != whole or not 0 <= axis < rank or first.id not in facts.activity.active:
        return None
    if any(is_active(item, facts) for item in others):
        return None
    part = f"g[{':, ' * axis}: item.shape[{axis}]]"
    return copy_with_facts(first, facts), expression(part, g=value.args[0], item=copy_with_facts(first, facts))


def _of_part(item: Node, value: Node, facts: Facts, shared: Block) -> list[Pair]:
    return (
        [(copy_with_facts(item, facts), value)] if isinstance(item, gast.Name) else sequence(item, value, facts, shared)
    )


def items(display: Node, value: Node, facts: Facts) -> list[Pair]:
    """The parts of a display, each with its part of the adjoint."""
    found: list[Pair] = []
    if isinstance(display, gast.Dict):
        keys = [copy_with_facts(key, facts) for key in display.keys if key is not None]
        parts = list(zip(keys, display.values, strict=True))
    else:
        parts = [(gast.Constant(value=k, kind=None), item) for k, item in enumerate(display.elts)]
    for key, item in parts:
        part = expression("value[key]", value=copy_with_facts(value, facts), key=key)
        if isinstance(item, gast.Name):
            if item.id in facts.activity.active:
                found.append((copy_with_facts(item, facts), part))
        elif isinstance(item, gast.Tuple | gast.List | gast.Dict):
            found += items(item, part, facts)
    return found


def is_active(argument: Node, facts: Facts) -> bool:
    """Whether an operand, or a part of it, carries a derivative."""
    if isinstance(argument, gast.Name):
        return argument.id in facts.activity.active
    parts = getattr(argument, "elts", None) or getattr(argument, "values", None) or []
    return isinstance(argument, gast.Tuple | gast.List | gast.Dict) and any(is_active(a, facts) for a in parts)


def seed(output: Node, adjoints: Adjoints, facts: Facts) -> Block:
    """The adjoint of the returned name is the seed; a tuple's is unpacked."""
    value = output.value.elts[0] if facts.request.auxiliary else output.value
    if isinstance(value, gast.Name) and _is_own(value.id, facts):
        adjoints.state[value.id] = PRESENT
        return _start(adjoints.of(value.id), output, facts)
    if _is_split(value, facts):
        facts.names.seeds = tuple(facts.names.fresh(bar(f"y{k}")) for k, _ in enumerate(value.elts, 1))
        split: Block = []
        for item, one in zip(value.elts, facts.names.seeds, strict=True):
            adjoints.contribute_whole(copy_with_facts(item, facts), name(one), split, output)
        return split
    given = facts.names.fresh(bar(facts.names.of_result()))
    made = _start(given, output, facts)
    if isinstance(value, gast.Name):
        if value.id in facts.activity.active:
            adjoints.contribute_whole(copy_with_facts(value, facts), name(given), made, output)
        return made
    for item, part in zip(value.elts, _parts(given, value.elts, made, output, adjoints), strict=True):
        if item.id in facts.activity.active:
            adjoints.contribute_whole(copy_with_facts(item, facts), part, made, output)
    return made


def seed_masks(output: Node, adjoints: Adjoints) -> None:
    """Masks of the seeds, as further seeds, where a pullback takes them."""
    facts, value = adjoints.facts, output.value
    several = isinstance(value, gast.Tuple)
    parts = value.elts if several else [value]
    held = [part.id for part in parts if isinstance(part, gast.Name) and part.id in facts.activity.active]
    apart = [one for one in dict.fromkeys(held) if not (several and is_container(one, facts))]
    if len(apart) < len(parts) or len(facts.names.seeds) != len(parts) or facts.values.complex:
        return
    for place in facts.request.handed.takes_masks:
        mask, one = facts.names.fresh(f"y{place + 1}_mask" if several else "y_mask"), apart[place]
        spec = Spec(ndim=None) if several else facts.values.value_spec.get(one, Spec(ndim=None))
        adjoints.masks[one] = Mask(mask, spec, listed=is_container(one, facts))
        facts.calls.mask_seeds += (mask,)
    facts.names.seeds += facts.calls.mask_seeds


def _is_split(value: Node, facts: Facts) -> bool:
    """Whether a pullback takes the adjoints of a tuple's items one by one: if only texts of ours call it."""
    if (
        not facts.request.handed.apart
        or facts.request.step is not None
        or facts.module.inline
        or facts.module.leading.axis
    ):
        return False
    given = facts.source.tree.args
    if facts.request.mode == "pull" and (given.defaults or given.kwonlyargs or given.vararg):
        return False  # seeds stand behind the arguments
    if facts.request.mode not in ("vjp", "pull") or not isinstance(value, gast.Tuple) or len(value.elts) < 2:
        return False
    return all(item.id in facts.activity.active for item in value.elts)


def _parts(seed: str, items: list[Node], made: Block, output: Node, adjoints: Adjoints) -> list[Node]:
    """The adjoints of a tuple's items: unpacked, if all are wanted, else `y_bar[k]`."""
    facts = adjoints.facts
    if len(items) < 2 or not all(item.id in facts.activity.active for item in items):
        return [expression(f"{seed}[{position}]") for position in range(len(items))]
    parts = [facts.names.fresh("t1") for _ in items]
    facts.names.temporaries |= dict.fromkeys(parts, "t")
    held = [adjoints.of(part) for part in parts]
    taken = gast.Tuple([name(one, gast.Store()) for one in held], gast.Store())
    made.append(at(gast.Assign([taken], name(seed), None), output))
    return [name(one) for one in held]


def _start(seed: str, output: Node, facts: Facts) -> Block:
    """The seed is a parameter, or a first statement of the backward half binds it."""
    if facts.request.seed in ("parameter", "given"):
        facts.names.seeds = (seed,)
        return []
    if facts.request.seed == "one":
        made = assign(seed, literal_node(1.0), output)
        facts.values.spec[made] = Spec()
        return [made]
    held = getattr(output.value, "id", "")
    if not isinstance(output.value, gast.Name) or "dict" in (facts.kinds.containers.get(held), facts.list_kind(held)):
        raise facts.refuse(
            output, "E5007", "the function returns several values", "return one array, or use srcgrad.vjp"
        )
    ones = expression(f"{facts.library('np')}.ones_like(y)", y=copy_with_facts(output.value, facts))
    made = assign(seed, ones, output)
    facts.values.spec[made] = facts.values.spec.get(output.value, Spec(frozenset([seed]), frozenset([seed]), None))
    return [made]


def _is_own(returned: str, facts: Facts) -> bool:
    """Whether the seed may go by the name of the returned value's adjoint, whose elements must not change."""
    if returned in facts.memory.mutable or returned in facts.activity.indexed or facts.list_kind(returned):
        return False
    if facts.names.temporaries.get(returned, "y") != "y":
        return False
    return returned in facts.activity.active and returned not in facts.request.wrt and returned not in facts.names.base
