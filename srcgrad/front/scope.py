"""What the rewriting of one function needs to know, and which expressions may be evaluated again."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.facts import Facts
from srcgrad.front.varied import reads_varied
from srcgrad.trees import Block, Node, at, children, walk


@dataclass
class Scope:
    """What the rewriting of one function needs to know: its facts, its local names, the open block."""

    facts: Facts
    local: frozenset[str]
    arrays: frozenset[str] = frozenset()  # arrays that are written into
    block: Block = field(default_factory=list)
    user: Node = None

    def emit(self, node: Node) -> None:
        """Append a statement that stands for (a part of) the user's statement."""
        at(node, self.user)
        self.facts.origin[node] = self.user
        self.block.append(node)

    def temporary(self) -> str:
        """A fresh name for the value of a subexpression."""
        fresh = self.facts.names.fresh(f"t{len(self.facts.temporaries) + 1}")
        self.facts.temporaries[fresh] = "t"
        return fresh

    def varied(self, node: Node) -> bool:
        """Whether the expression may depend on a differentiated input."""
        return reads_varied(node, self.facts.varied, self.facts, self.local)


_CHEAP = (
    gast.Name, gast.Constant, gast.Attribute, gast.Subscript, gast.Tuple, gast.List, gast.BinOp, gast.UnaryOp,
    gast.Slice, gast.Compare, gast.operator, gast.unaryop, gast.cmpop, gast.expr_context,
)  # fmt: skip


def cheap(node: Node) -> bool:
    """Whether an expression that carries no derivative may be evaluated again where it is needed."""
    return all(isinstance(item, _CHEAP) for item in walk(node))


_LONG = 4  # operations, indices among them: `x.shape[1] * (x.shape[0] - 1)`


def is_long(node: Node) -> bool:
    """Whether arithmetic takes so much to write, and to do, that it has a name where both halves need it."""
    if not isinstance(node, gast.BinOp | gast.UnaryOp):
        return False
    return sum(isinstance(item, gast.BinOp | gast.Subscript) for item in walk(node)) >= _LONG


def scope_names(function: Node) -> frozenset[str]:
    """Names of a function's own scope: not those of functions, lambdas and comprehensions in it."""
    arguments = function.args
    found = {a.id for a in walk(arguments) if isinstance(a, gast.Name) and isinstance(a.ctx, gast.Param)}
    todo = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, gast.FunctionDef | gast.ClassDef):
            found.add(node.name)
        elif isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            found.add(node.id)
        elif isinstance(node, gast.comprehension):
            todo += [node.iter, *node.ifs]
        elif not isinstance(node, gast.Lambda):
            todo += children(node)
    return frozenset(found)
