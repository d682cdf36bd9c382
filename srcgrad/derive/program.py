"""A derivative before it is text.

The first statement of a text that was made for declared arguments: a check of them.

A derivative before it is text: forward half, backward half, and what is returned, objects put together again.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator

import gast

from srcgrad.analysis.argument_kinds import FLOATING, is_declared
from srcgrad.core.bindings import Binding
from srcgrad.core.facts import Facts, Kind
from srcgrad.core.identity import record
from srcgrad.core.namespace import Overlay
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    copy,
    expression,
    loads,
    name,
    parameters,
    statement,
    statements,
    target,
)
from srcgrad.core.visitor import places
from srcgrad.frontend.calls.side_effects import is_fresh
from srcgrad.frontend.kinds_of_values import fields_of_class, local_class

_WIDTH = 72


def check(kinds: dict[str, Kind], facts: Facts) -> Block:
    """`check_shapes((x, w), "x: n d; w: d")`: what was declared of the arguments, if anything was."""
    if facts.request.called or facts.module.inline or facts.module.blocks:
        return []  # another text has seen to it, or will
    kinds = {p: kinds[p] for p in parameters(facts.source.tree) if p in kinds}
    parts = [part for p, kind in kinds.items() if is_declared(kind) for part in _parts(p, kind)]
    if not parts:
        return []
    if all(kind.tag == "scalar" and kind.dtype == FLOATING for kind in kinds.values() if is_declared(kind)):
        return [_check_numbers([parameter for parameter, kind in kinds.items() if is_declared(kind)])]
    made = statement(f"{facts.library('check_shapes')}()")
    lines = ["float64"] if facts.module.double else []
    for spelled in parts:
        if lines and len(lines[-1]) + len(spelled) < _WIDTH:
            lines[-1] += f"; {spelled}"
        else:
            lines.append(spelled)
    values = gast.Tuple(elts=[name(p) for p, kind in kinds.items() if is_declared(kind)], ctx=gast.Load())
    made.value.args = [values, *(gast.Constant(value=line, kind=None) for line in lines)]
    return [made]


def _check_numbers(declared: list[str]) -> Node:
    """The check of numbers alone, which needs no import."""
    each = declared[0] if len(declared) == 1 else "value"
    test = f"isinstance({each}, (int, float))"
    if len(declared) > 1:
        test = f"all({test} for value in ({', '.join(declared)}))"
    spelled = f"{', '.join(declared[:-1])} and {declared[-1]} are" if len(declared) > 1 else f"{each} is"
    return statement(f"if not {test}:\n    raise TypeError('E5027 {spelled} declared float')")


def _parts(label: str, kind: Kind) -> Iterator[str]:
    """What is declared of a value, and of the items of a container."""
    if kind.tag in ("tuple", "list", "dict"):
        keys = ", ".join(repr(key) for key, _ in kind.items) if kind.tag == "dict" else len(kind.items)
        yield f"{label}: {kind.tag}[{keys}]"
        for key, part in kind.items:
            yield from _parts(f"{label}[{key!r}]", part)
    elif kind.tag in ("scalar", "array") and (kind.dtype or kind.complex or kind.shape is not None):
        dtype = "complex" if kind.complex else kind.dtype if kind.dtype != FLOATING else ""
        lengths = "float" if kind.tag == "scalar" else " ".join(kind.shape or ()) or "()"
        yield f"{label}: {f'{dtype} {lengths}'.strip()}"


@record
class Program:
    """The two halves, the parameters, and the values returned: the primal's (if wanted) and the adjoints."""

    parameters: list[str]
    forward: Block
    backward: Block
    result: Node  # a Return of all values that leave the function

    @property
    def block(self) -> Block:
        """All statements in order."""
        return [*self.forward, *self.backward, self.result]


def kept_alive(program: Program, facts: Facts) -> dict[str, None]:
    """The names whose arrays must not change in place: those that are pushed, and those that views show later on."""
    found = {name: None for n in statements(program.forward) if n in facts.tape.pushes for name in loads(n)}
    if facts.origin.augmented:
        found.update(_shown_later(list(statements(program.block)), found, facts))
    return found


def _shown_later(order: Block, pushed: dict[str, None], facts: Facts) -> dict[str, None]:
    """Arrays that `b /= np.flip(b)` would change while the view, which has a name by then, is still to be read."""
    changed: dict[str, int] = {}  # the last change of each array
    for place, node in enumerate(order):
        bound = target(node)
        if bound is not None and node in facts.origin.augmented:
            changed[bound] = place
    found: dict[str, None] = {}
    for place, node in enumerate(order) if changed else ():
        view = target(node)
        if view is None or node in facts.origin.augmented or not isinstance(node.value, gast.Call | gast.Subscript):
            continue
        shown = [one for one in loads(node.value) if one in changed and one != view]
        if shown and not is_fresh(node.value, facts):
            reads = [k for k, other in enumerate(order) if view in loads(other)]
            last = len(order) if view in pushed else max(reads, default=place)
            found.update({one: None for one in shown if place < changed[one] < last})
    return found


def parents(block: Block) -> dict[Node, Node | None]:
    """The compound statement that holds each statement; None at the top."""
    return {place.node: place.around[-1] if place.around else None for place in places(block)}


def rebuilt(block: Block, keep: dict[Node, None]) -> Block:
    """The block with only the statements in `keep`, and no empty compound statement."""
    made: Block = []
    for node in block:
        if node not in keep:
            continue
        if isinstance(node, gast.If):
            node.body, node.orelse = rebuilt(node.body, keep), rebuilt(node.orelse, keep)
            if not node.body and node.orelse:
                node.test = gast.UnaryOp(gast.Not(), node.test)
                node.body, node.orelse = node.orelse, []
            if not node.body:
                continue
        elif isinstance(node, gast.For | gast.While):
            node.body = rebuilt(node.body, keep)
            if not node.body:
                continue
        made.append(node)
    return made


def put_together(program: Program, facts: Facts) -> None:
    """Return objects of the user's class where the function does: the value, and a tangent; a seed is one as well."""
    if facts.kinds.gives is None or facts.request.called:
        return
    cls, node = facts.kinds.gives
    result = program.result
    parts = result.value.elts if isinstance(result.value, gast.Tuple) else []
    modes = {"vjp": (0,), "forward": (0, 1)}
    places = modes.get(facts.request.mode, ())
    if cls is None or not places or not facts.module.target.as_written or len(parts) < len(places):
        raise facts.refuse(
            node,
            "E5005",
            "an object is returned in a way that has no derivative here",
            "return what it holds: `return a, b`",
        )
    called = _spelled_class(cls, facts)
    for place in places:
        parts[place] = _as_object(cls, called, parts[place])
    if not issubclass(cls, tuple) and facts.request.mode == "vjp":
        seed = facts.names.seeds[0]
        program.backward.insert(0, statement(f"{seed} = {facts.library('fields_of')}({seed})"))


def _spelled_class(cls: type, facts: Facts) -> Node:
    """What means a class in a text: its name, or what makes it, if the function made it for itself."""
    fields, defaults = fields_of_class(cls), tuple(getattr(cls, "_field_defaults", {}).values())
    if issubclass(cls, tuple) and cls is local_class(cls.__name__, fields, defaults):
        spelled = facts.library("namedtuple", namedtuple)
        return expression(f"{spelled}({cls.__name__!r}, {list(fields)!r})")
    meant = facts.namespace.lookup(cls.__name__)
    if meant is not None and meant.object is cls and cls.__name__ not in facts.names.local:
        return name(cls.__name__)
    spelled = facts.names.fresh(cls.__name__)
    facts.namespace = Overlay(facts.namespace, {spelled: Binding("object", cls)})
    return name(spelled)


def _as_object(cls: type, called: Node, value: Node) -> Node:
    made = gast.Call(copy(called), [], [])
    if isinstance(value, gast.Tuple):
        made.args = value.elts
    elif isinstance(value, gast.Dict):
        pairs = zip(value.keys, value.values, strict=True)
        made.keywords = [gast.keyword(str(getattr(key, "value", "")), item) for key, item in pairs]
    elif issubclass(cls, tuple):
        made.args = [gast.Starred(value, gast.Load())]
    else:
        made.keywords = [gast.keyword(None, value)]
    return at(made, value)
