"""The docstring of a derivative: of what, with respect to what, and what is recorded."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Sequence

import gast

from srcgrad.derive.program import Program
from srcgrad.emit.expression import expression
from srcgrad.facts import Facts, Record
from srcgrad.trees import COMPOUND, Block, Node, loads, root, statements

TITLE = {
    "primal": "One trip of the loop in line {line}, from state to state.",
    "value": "Value of `{name}`.",
    "reverse": "Gradient of `{name}` with respect to {wrt}.",
    "value-and-grad": "Value and gradient of `{name}` with respect to {wrt}.",
    "vjp": "Value of `{name}` and its pullback with respect to {wrt}.",
    "forward": "Value of `{name}` and its derivative along tangents of {wrt}.",
    "hvp": "Product of the Hessian of `{name}` with tangents of {wrt}.",
    "push": "Derivative of `{name}` along tangents of {wrt}.",
    "elementwise": "Gradient of the sum of the elements of `{name}` with respect to {wrt}.",
    "trace": "Value and gradient of `{name}` with respect to {wrt}, each operation watched.",
    "pull": "Adjoints of {wrt} for a seed of `{name}`.",
    "item": "Value of `{name}` for one item, and its derivatives with respect to {wrt}.",
}
MANY = {
    "vjp": "Value of `{name}` and its pullback with respect to {wrt}, for many seeds at once.",
    "forward": "Value of `{name}` and its derivatives along many tangents of {wrt} at once.",
    "hvp": "Products of the Hessian of `{name}` with many tangents of {wrt} at once.",
}


def heading(mode: str, function: Callable[..., object], wrt: Sequence[str]) -> str:
    """What a derivative of a function is, in one sentence; the docstring of its text begins so.

    >>> heading("reverse", max, ("x", "k"))
    'Gradient of `max` with respect to x, k.'
    """
    name, form = getattr(function, "__name__", "f"), "value" if mode == "primal" else mode
    return TITLE[form].format(name=name.removesuffix("_grad") if mode == "hvp" else name, wrt=", ".join(wrt))


def docstring(program: Program, facts: Facts) -> str:
    """Of what, with respect to what, and what is recorded; in the manner of Tapenade."""
    own = facts.source.name.removesuffix("_grad") if facts.mode == "hvp" else facts.source.name
    titles = TITLE | MANY if facts.module.leading.axis else TITLE
    of_item = facts.mode == "pull" and facts.module.given is not None and not facts.called
    form = "value" if facts.mode == "primal" and facts.step is None else "item" if of_item else facts.mode
    title = titles[form].format(name=own, wrt=", ".join(facts.wrt), line=facts.source.first)
    if facts.module is not None and facts.module.blocks and not facts.called:
        title = f"`{own}`, by blocks of rows of {', '.join(facts.module.blocks.over)}."
    users = _users(facts) if is_tidy(facts) and not facts.generated else []
    lines = textwrap.wrap(title, 80)
    if facts.module.leading.remark:
        lines += ["", *textwrap.wrap(facts.module.leading.remark, 80)]
    if not facts.pushes_forward and facts.mode != "primal":
        lines += [""]
        for line in recorded(program, facts) or ["Recorded: nothing."]:
            lines += textwrap.wrap(line, 80, subsequent_indent="    ")
    elif not users and not facts.module.leading.remark:
        return "\n    ".join(lines)
    return "\n".join(f"    {line}".rstrip() for line in [*lines, *users]).lstrip() + "\n    "


def _users(facts: Facts) -> list[str]:
    """What the user says of the function, as a paragraph of its own."""
    [first, *_] = facts.source.tree.body
    value = first.value.value if isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant) else None
    if not isinstance(value, str) or not value.strip():
        return []
    return ["", f"The docstring of `{facts.source.name}`:", "", *inspect.cleandoc(value).split("\n")]


def recorded(program: Program, facts: Facts) -> list[str]:
    """One line for each value that the forward half keeps on a stack or under a second name."""
    around = _loops(program.forward)
    found = []
    for node in statements(program.forward):
        kept = facts.pushes.get(node)
        if kept is None or not isinstance(node, gast.Expr | gast.Assign) or not hasattr(node, "lineno"):
            continue
        listed = isinstance(node, gast.Expr)
        pushed = listed or isinstance(node.targets[0], gast.Subscript)
        if kept in facts.snapshots:
            found += [few(node, facts.snapshots[kept], facts)] if pushed else []
            continue
        values = node.value.args[0] if listed else node.value
        many = listed and isinstance(values, gast.Tuple)  # what `gathered` keeps together
        parts = {f"{kept}[{k}]": one for k, one in enumerate(values.elts)} if many else {kept: values}
        lines: set[int] = set()
        for key, part in parts.items():
            value = _original(part)
            readers = _readers(program.backward, kept, _root(value), facts) if pushed else []
            needed = sorted({n.lineno for n in readers})
            facts.recorded[key] = Record(expression(value), node.lineno, tuple(needed))
            lines.update(needed)
        if pushed:
            spelled = ", ".join(facts.recorded[key].value for key in parts)
            where = f"each trip of the loop in line {around[node]}" if node in around else f"in line {node.lineno}"
            by = (
                f" (needed by line{'s' if len(lines) > 1 else ''} {', '.join(map(str, sorted(lines)))})"
                if lines
                else ""
            )
            found.append(f"Recorded: {spelled}, {where}{by}.")
    return found


def few(node: Node, loop: Node, facts: Facts) -> str:
    """What is recorded of a checkpointed loop."""
    state = ", ".join(expression(value) for value in node.value.args)
    slots = facts.checkpointed[loop]
    some = "some" if getattr(slots, "value", 0) is None else f"at most {expression(slots)}"
    return f"Recorded: {state}, before {some} trips of the loop in line {loop.lineno}, from which others are computed."


def _original(value: Node) -> Node:
    """What is recorded, without the `.copy()` that keeps it."""
    return value.func.value if isinstance(value, gast.Call) else value


def _root(value: Node) -> str:
    """The name of what is recorded, or of the array whose part it is."""
    base = root(value)
    return "" if base is None else str(base.id)


def _loops(block: Block, line: int | None = None) -> dict[Node, int]:
    found: dict[Node, int] = {}
    for node in block:
        if line is not None:
            found[node] = line
        if isinstance(node, COMPOUND):
            inner = node.lineno if isinstance(node, gast.For | gast.While) else line
            found |= _loops([*node.body, *(getattr(node, "orelse", None) or [])], inner)
    return found


def _readers(block: Block, kept: str, value: str, facts: Facts) -> list[Node]:
    """Backward statements that read a recorded value, in the block where it comes back."""
    for node in block:
        if facts.restores.get(node) == kept:
            inner = statements(block[block.index(node) + 1 :])
            return [n for n in inner if value in loads(n) and hasattr(n, "lineno") and n not in facts.restores]
        if isinstance(node, COMPOUND):
            found = _readers([*node.body, *(getattr(node, "orelse", None) or [])], kept, value, facts)
            if found:
                return found
    return []


def is_tidy(facts: Facts) -> bool:
    """Whether the text is for a standalone module."""
    return facts.module is not None and bool(facts.module.tidy)
