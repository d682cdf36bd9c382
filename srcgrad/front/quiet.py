"""Contexts that change no value, `with np.errstate(...)`: their statements are taken out, and put back in the text."""

from __future__ import annotations

import warnings

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.resolve import binding_of
from srcgrad.trees import BLOCKS, Block, Node, at, statements

QUIET = (np.errstate, warnings.catch_warnings)


def is_quiet(node: Node, facts: Facts) -> bool:
    """Whether a `with` is of a context that changes no value, and binds no name."""
    for item in node.items:
        called = item.context_expr
        found = binding_of(called.func, facts, facts.local) if isinstance(called, gast.Call) else None
        if found is None or not any(found.object is one for one in QUIET) or item.optional_vars is not None:
            return False
    return True


def is_inside(node: Node, context: Node) -> bool:
    """Whether all lines of a statement are in the body of a `with`."""
    lines = [n.lineno for n in statements([node]) if "lineno" in n.__dict__]
    first, last = context.body[0].lineno, context.end_lineno
    return bool(lines) and all(first <= line <= last for line in lines)


def opened(block: Block, facts: Facts) -> Block:
    """A block of generated text without its contexts, of which each is noted once, with the user's lines in it."""
    made: Block = []
    for node in block:
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, opened(getattr(node, which), facts))
        if isinstance(node, gast.With) and is_quiet(node, facts):
            _note(node, facts)
            made += node.body
        else:
            made.append(node)
    return made


def _note(context: Node, facts: Facts) -> None:
    """Both halves of a text may have a part of what the user put into one context."""
    lines = [node.lineno for node in statements(context.body)]
    for other in facts.contexts:
        if other.lineno == context.lineno:
            lines += [other.body[0].lineno, other.end_lineno]
            facts.contexts.remove(other)
    noted = at(gast.With(context.items, [at(gast.Pass(), context)], None), context)
    noted.body[0].lineno, noted.end_lineno = min(lines), max(lines)
    facts.contexts.append(noted)
