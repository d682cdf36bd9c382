"""The text of a step: the body of a loop as a function, and the loop that calls it."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.step import Step
from srcgrad.names import LOOP
from srcgrad.recompute import checkpointed
from srcgrad.trees import BLOCKS, Block, Node, assign, at, constant, name, statement, walk


@dataclass
class Lift:
    """One loop on its way to a step."""

    function: Node
    facts: Facts
    loop: Node
    slots: Node
    start: Node  # the loop as it stands in the function
    made: dict[Node, None] = field(default_factory=dict)

    def own(self, node: Node) -> Node:
        """A statement that is not the user's, at the line of the loop."""
        self.made[node] = self.facts.foreign[node] = None
        for item in walk(node):
            at(item, self.loop) if "lineno" not in item.__dict__ else None
        return at(node, self.loop)

    def refuse(self, node: Node, why: str, remedy: str) -> Exception:
        """E5025, at a node or at the loop."""
        where = node if "lineno" in node.__dict__ else self.loop
        return self.facts.refuse(where, "E5025", why, remedy)


def definition(work: Lift, parameters: list[str], body: Block, results: list[str], flag: str) -> Node:
    """The function whose body is that of the loop."""
    spelled = f"{work.function.name}_step"
    tree = statement(f"def {spelled}({', '.join(parameters)}):\n    pass")
    going = [constant(False)] if flag else []
    own = [r for r in results if r != flag]
    tree.body = _leaving([_plain(node, work, own) for node in body], work, own, bool(flag))
    tree.body.append(_return(work, own, going))
    return at(tree, work.loop)


def _return(work: Lift, results: list[str], flags: Block) -> Node:
    values = [*map(name, results), *flags]
    value = values[0] if len(values) == 1 else gast.Tuple(elts=values, ctx=gast.Load())
    made = work.own(gast.Return(value))
    made.end_lineno = made.lineno
    return made


def _leaving(block: Block, work: Lift, results: list[str], flagged: bool) -> Block:
    """`continue` and `break` of the loop as returns of the step."""
    made: Block = []
    for node in block:
        if isinstance(node, gast.Continue | gast.Break):
            flags = [constant(isinstance(node, gast.Break))] if flagged else []
            made.append(at(_return(work, results, flags), node))
            continue
        if not isinstance(node, gast.FunctionDef | gast.ClassDef):
            inner = ("orelse",) if isinstance(node, gast.For | gast.While) else BLOCKS
            for which in inner:
                if getattr(node, which, None):
                    setattr(node, which, _leaving(getattr(node, which), work, results, flagged))
        made.append(node)
    return made


def _plain(node: Node, work: Lift, names: list[str]) -> Node:
    """`h += e` of a name that is carried as `h = h + e`: the state before the trip stays as it is."""
    for which in BLOCKS:
        if getattr(node, which, None) and not isinstance(node, gast.FunctionDef):
            setattr(node, which, [_plain(inner, work, names) for inner in getattr(node, which)])
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and node.target.id in names:
        sum_ = at(gast.BinOp(name(node.target.id), node.op, node.value), node)
        made = at(assign(node.target.id, sum_), node)
        work.made[made] = None
        return made
    return node


def trip(step: Step, work: Lift) -> Node:
    """`h, c = f_step(t, h, c, w)`, by a name that means the step."""
    facts = work.facts
    spelled = facts.names.fresh(step.source.name)
    facts.namespace = Overlay(facts.namespace, {spelled: Binding("object", step)})
    arguments = [a.id for a in step.source.tree.args.args]
    call = gast.Call(name(spelled), [name(a) for a in arguments], [])
    names = [name(r, gast.Store()) for r in step.results]
    target = names[0] if len(names) == 1 else gast.Tuple(elts=names, ctx=gast.Store())
    return work.own(gast.Assign([target], call, None))


def mark(work: Lift) -> None:
    """The header says that the loop is checkpointed, until the normal form is reached."""
    facts, loop = work.facts, work.loop
    facts.namespace = Overlay(facts.namespace, {LOOP: Binding("object", checkpointed)})
    key = "iter" if isinstance(loop, gast.For) else "test"
    marked = at(gast.Call(name(LOOP), [getattr(loop, key), work.slots], []), loop)
    setattr(loop, key, marked)
