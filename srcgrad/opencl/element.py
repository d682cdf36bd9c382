"""The C of one element of a group of statements, as the docstring of the function that stands for the group."""

from __future__ import annotations

import gast

from srcgrad.core.trees import Node, loads
from srcgrad.opencl.groups import Group
from srcgrad.opencl.lines import HEAD
from srcgrad.opencl.names import identifier
from srcgrad.opencl.parts import written_by


def element(group: Group, wanted: list[str]) -> str:
    """The text, whose results are the names in `wanted`."""
    lines = [HEAD, ""]
    printer, known = group.printer(), set(group.arguments)
    for node in _needed(group, wanted):
        part = written_by(node)
        made = printer.text(node.value)
        lines += _cited(node, lines, group)
        own = [f"    {line}" for line in printer.lines]
        printer.lines.clear()
        if part:
            form = "ADD" if isinstance(node, gast.AugAssign) else "SET"
            lines += [*own, f"    {form}({identifier(part)}; {made});"]
            continue
        bound = node.targets[0].id
        kind = "" if bound in known else "REAL "
        if own and own[-1].startswith(f"    REAL {made} = "):
            own[-1] = f"    {kind}{identifier(bound)} = {own[-1].split(' = ', 1)[1]}"
            lines += own
        else:
            lines += [*own, f"    {kind}{identifier(bound)} = {made};"]
        known.add(bound)
    lines += [f"    STORE({identifier(bound)});" for bound in wanted]
    return "\n    ".join(lines).replace("\n    \n", "\n\n") + "\n    "


def _needed(group: Group, wanted: list[str]) -> list[Node]:
    """The statements on which the results depend."""
    needed = set(wanted)
    found: list[Node] = []
    for node in reversed(group.statements):
        if written_by(node) or node.targets[0].id in needed:
            found.append(node)
            needed.update(loads(node.value))
    return found[::-1]


def _cited(node: Node, lines: list[str], group: Group) -> list[str]:
    """The user's line as a comment, where another one was cited last."""
    number, source = getattr(node, "lineno", 0), group.facts.source.lines
    if not 0 < number <= len(source):
        return []
    cited = f"    // line {number}: {source[number - 1].strip()}"[:100]
    last = next((line for line in reversed(lines) if line.startswith("    // line ")), "")
    return [] if cited == last else [cited]
