"""The C of one element of a group of statements, as the docstring of the function that stands for the group."""

from __future__ import annotations

from srcgrad.opencl.groups import Group
from srcgrad.opencl.printer import NotElementwiseError
from srcgrad.opencl.source import HEAD, identifier
from srcgrad.trees import Node, loads

Reach = dict[str, tuple[str, ...]]  # name -> the arguments that give its value its shape


def reach_of(group: Group) -> Reach:
    """On which arguments each name of a group depends; a tangent that is asked for has the shape of its primal."""
    facts = group.facts
    seeded = facts.mode == "forward" and not facts.called
    primal = dict(zip(facts.seeds, facts.wrt, strict=True)) if seeded else {}
    found: Reach = {a: (primal[a],) if primal.get(a) in group.arguments else (a,) for a in group.arguments}
    for node in group.statements:
        bound, value = node.targets[0].id, node.value
        value = value.args[0] if bound in group.sums else value
        found[bound] = tuple(dict.fromkeys(a for read in loads(value) for a in found.get(read, ())))
    return found


def element(group: Group, wanted: list[str]) -> str | None:
    """The text, which stores the names in `wanted`; None if an operation has no form in C."""
    lines = [HEAD, ""]
    printer, known, reach = group.printer(), set(group.arguments), reach_of(group)
    try:
        for node in _needed(group, wanted):
            bound, value = node.targets[0].id, node.value
            summed = bound in group.sums
            like = f", {identifier(value.args[1].id)}" if summed and len(value.args) == 2 else ""
            value = value.args[0] if summed else value
            made = printer.text(value)
            lines += [*_cited(node, lines, group), *[f"    {shared}" for shared in printer.shared]]
            printer.shared.clear()
            if summed:
                lines.append(f"    SUM({identifier(bound)}{like}: {made});  // of {_listed(reach[bound])}")
                continue
            kind = "" if bound in known else ("int " if printer.is_test(value) else "REAL ")
            lines.append(f"    {kind}{identifier(bound)} = {made};")
            known.add(bound)
    except NotElementwiseError:
        return None
    lines += [f"    WHOLE({identifier(one)});  // of {_listed(reach[one])}" for one in group.wholes]
    lines += [f"    STORE({identifier(bound)});  // of {_listed(reach[bound])}" for bound in wanted]
    return "\n    ".join(lines).replace("\n    \n", "\n\n") + "\n    "


def _needed(group: Group, wanted: list[str]) -> list[Node]:
    """The statements on which what is stored, or summed, depends."""
    needed = {*wanted, *group.sums}
    found: list[Node] = []
    for node in reversed(group.statements):
        bound = node.targets[0].id
        if bound in needed:
            found.append(node)
            needed.update(loads(node.value))
    return found[::-1]


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(identifier, names))


def _cited(node: Node, lines: list[str], group: Group) -> list[str]:
    """The user's line as a comment, where another one was cited last."""
    number, source = getattr(node, "lineno", 0), group.facts.source.lines
    if not 0 < number <= len(source):
        return []
    cited = f"    // line {number}: {source[number - 1].strip()}"[:100]
    last = next((line for line in reversed(lines) if line.startswith("    // line ")), "")
    return [] if cited == last else [cited]
