"""Tangents of lengths in a text that is differentiated once more: nan where a length of 0 begins to grow."""

from __future__ import annotations

from srcgrad.facts import Facts, Operation
from srcgrad.runtime.singular import length_dot
from srcgrad.trees import Node, expression, target


def is_length_again(operation: Operation, facts: Facts) -> bool:
    """Whether a statement of a derivative computes a length whose second derivative is asked for."""
    rule = operation.rule
    return rule is not None and rule.length and facts.source.is_derivative


def grown(node: Node, tangent: Node, away: Node, facts: Facts) -> Node:
    """`length_dot(r, r_dot, np.linalg.norm(x_dot))`: a length of 0 grows by that of its argument's tangent."""
    helper = facts.library("length_dot", length_dot)
    made = expression(f"{helper}(z, z_dot, away)", z=str(target(node)), z_dot=tangent, away=away)
    facts.results[made.args[0]] = None
    return made
