"""Zeros that mirror zeros mirror what those do.

x_bar = np.zeros_like(x)
x_bar_dot = zeros_like(x_bar)       =>  x_bar_dot = np.zeros_like(x)
"""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.front.resolve import binding_of
from srcgrad.improve.inline import count
from srcgrad.trees import Node, target


def mirrored(program: Program, facts: Facts) -> Program:
    """Take the shape of an adjoint's tangent from the argument, in the derivative of a gradient."""
    if not facts.generated or not facts.pushes_forward or facts.module is None or facts.module.leading.axis:
        return program
    uses = count(program.block)
    made: dict[str, Node] = {}
    gone: dict[Node, None] = {}
    for node in program.forward:
        bound, value = target(node), getattr(node, "value", None)
        if bound is None or not isinstance(value, gast.Call) or len(value.args) != 1 or value.keywords:
            continue
        [like] = value.args
        if not isinstance(like, gast.Name):
            continue
        meant = binding_of(value.func, facts, facts.local)
        if meant is not None and meant.object is np.zeros_like:
            if like.id in facts.wrt and not uses.bound.get(like.id) and uses.bound[bound] == uses.read.get(bound) == 1:
                made[bound] = node
        elif isinstance(value.func, gast.Name) and value.func.id == facts.imports.get("zeros_like") and like.id in made:
            gone[made[like.id]] = None
            node.value = made[like.id].value
    program.forward = [node for node in program.forward if node not in gone]
    return program
