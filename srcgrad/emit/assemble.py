"""From a program to one function definition: signature, docstring, halves, the user's lines as comments."""

from __future__ import annotations

import textwrap

import gast

from srcgrad.derive.program import Program
from srcgrad.emit.contexts import enclosed
from srcgrad.emit.expression import expression
from srcgrad.emit.text import Blank, Comment, Verbatim
from srcgrad.facts import Facts, Record
from srcgrad.trees import COMPOUND, Block, Node, at, copy, loads, name, root, same, statement, statements, stores, walk

SUFFIX = {
    "primal": "",
    "reverse": "grad",
    "value-and-grad": "value_and_grad",
    "vjp": "vjp",
    "forward": "jvp",
    "hvp": "hvp",
    "elementwise": "elementwise_grad",
    "pull": "pull",
    "trace": "trace",
    "push": "push",
}
TITLE = {
    "primal": "One trip of the loop in line {line}, from state to state.",
    "reverse": "Gradient of `{name}` with respect to {wrt}.",
    "value-and-grad": "Value and gradient of `{name}` with respect to {wrt}.",
    "vjp": "Value of `{name}` and its pullback with respect to {wrt}.",
    "forward": "Value of `{name}` and its derivative along tangents of {wrt}.",
    "hvp": "Product of the Hessian of `{name}` with tangents of {wrt}.",
    "push": "Derivative of `{name}` along tangents of {wrt}.",
    "elementwise": "Gradient of the sum of the elements of `{name}` with respect to {wrt}.",
    "trace": "Value and gradient of `{name}` with respect to {wrt}, each operation watched.",
    "pull": "Adjoints of {wrt} for a seed of `{name}`.",
}


def assemble(program: Program, facts: Facts, function: Node, made: str) -> Node:
    """The definition of the derivative, as a tree with comments."""
    definition = gast.FunctionDef(
        name=made,
        args=signature(function, facts),
        body=[remark(docstring(program, facts))],
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )
    facts.saved = {name: None for n in statements(program.forward) if n in facts.pushes for name in loads(n)}
    forward = enclosed(written(program.forward, facts), facts.contexts)
    backward = enclosed(cited(program.backward, facts), facts.contexts)
    if facts.mode == "vjp":
        definition.body += [*forward, pullback(program, facts, backward), results(program, facts)]
    else:
        gap = [remark(Blank())] if forward and backward else []
        definition.body += forward + gap + backward + [program.result]
    return definition


def outer_names(program: Program, facts: Facts, function: Node) -> tuple[str, ...]:
    """Names that the derivative reads and does not bind, in alphabetical order."""
    body = [*program.forward, *facts.fresh_copies, *program.backward, program.result]
    arguments = signature(function, facts)
    bound = {n.id for n in walk(arguments) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Param)}
    bound |= {name for node in statements(body) for name in stores(node)} | set(facts.seeds) | {"_"}
    roots = [arguments, *body]
    read = {n.id for r in roots for n in walk(r) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)}
    return tuple(sorted(read - bound))


def remark(text: str) -> Node:
    """A string as a statement: docstring, comment, blank line, or text as it is."""
    return gast.Expr(value=gast.Constant(value=text, kind=None))


def signature(function: Node, facts: Facts) -> Node:
    """The user's parameters without annotations; the seed, or the tangents, after them."""
    arguments = copy(function.args)
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        argument.annotation = None
    for seed in facts.seeds if facts.mode != "vjp" else ():
        parameter = gast.Name(id=seed, ctx=gast.Param(), annotation=None, type_comment=None)
        if facts.pushes_forward or facts.seed == "given":
            arguments.kwonlyargs.append(parameter)
            arguments.kw_defaults.append(None)
        else:
            arguments.args.append(parameter)
            arguments.defaults.append(gast.Constant(value=1.0, kind=None))
    return arguments


def docstring(program: Program, facts: Facts) -> str:
    """Of what, with respect to what, and what is recorded; in the manner of Tapenade."""
    own = facts.source.name.removesuffix("_grad") if facts.mode == "hvp" else facts.source.name
    title = TITLE[facts.mode].format(name=own, wrt=", ".join(facts.wrt), line=facts.source.first)
    if facts.pushes_forward or facts.mode == "primal":
        return "\n    ".join(textwrap.wrap(title, 80))
    lines = [*textwrap.wrap(title, 80), ""]
    found = recorded(program, facts)
    for line in found or ["Recorded: nothing."]:
        lines += textwrap.wrap(line, 80, subsequent_indent="    ")
    return "\n    ".join(lines).replace("    \n", "\n") + "\n    "


def recorded(program: Program, facts: Facts) -> list[str]:
    """One line for each value that the forward half keeps on a stack or under a second name."""
    around = _loops(program.forward)
    found = []
    for node in statements(program.forward):
        kept = facts.pushes.get(node)
        if kept is None or not isinstance(node, gast.Expr | gast.Assign) or not hasattr(node, "lineno"):
            continue
        pushed = isinstance(node, gast.Expr)
        if kept in facts.snapshots:
            found += [few(node, facts.snapshots[kept], facts)] if pushed else []
            continue
        value = _original(node.value.args[0] if pushed else node.value)
        if not pushed:
            facts.recorded[kept] = Record(expression(value), node.lineno, ())
            continue
        needed = sorted({n.lineno for n in _readers(program.backward, kept, _root(value), facts)})
        where = f"each trip of the loop in line {around[node]}" if node in around else f"in line {node.lineno}"
        facts.recorded[kept] = Record(expression(value), node.lineno, tuple(needed))
        by = f" (needed by line{'s' if len(needed) > 1 else ''} {', '.join(map(str, needed))})" if needed else ""
        found.append(f"Recorded: {expression(value)}, {where}{by}.")
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


def written(block: Block, facts: Facts) -> Block:
    """The forward half with the user's own text and comments where a statement is as it was."""
    made: Block = []
    previous: Node = None
    for node in block:
        user = facts.origin.get(node, node)
        if user is not previous:
            made += [remark(Comment(line)) for line in _comments_above(node, facts)]
        previous = user if node in facts.origin else previous
        if isinstance(node, COMPOUND):
            node.body = written(node.body, facts)
            node.orelse = written(getattr(node, "orelse", None) or [], facts)
            made.append(node)
        else:
            made.append(_own_text(node, facts))
    return made


def _own_text(node: Node, facts: Facts) -> Node:
    user: Node = facts.origin.get(node, node)
    known = facts.text.get(user)
    if known is None or not same(facts.as_written(node), known):
        return facts.as_written(node)
    lines = list(facts.source.lines[user.lineno - 1 : user.end_lineno])
    last = lines[-1].encode()[: user.end_col_offset].decode()
    if ";" in lines[-1][len(last) :].split("#")[0] or lines[0][: user.col_offset].strip():
        return facts.as_written(node)  # several statements in one line
    depth = len(lines[0]) - len(lines[0].lstrip())
    if any(line[:depth].strip() for line in lines):
        return facts.as_written(node)
    return at(remark(Verbatim("\n".join(line[depth:].rstrip() for line in lines))), user)


def _comments_above(node: Node, facts: Facts) -> list[str]:
    """Comment lines that stand alone right above a user's statement, and a comment behind a header."""
    user: Node = facts.origin.get(node, node)
    if node in facts.pushes or (user not in facts.text and not isinstance(user, COMPOUND)):
        return []
    found: list[str] = []
    line = user.lineno - 1
    while line > facts.source.first and facts.source.lines[line - 1].strip().rstrip("#") != "":
        text = facts.source.lines[line - 1].strip()
        if line not in facts.source.comments or not text.startswith("#"):
            break
        found.insert(0, text)
        line -= 1
    if isinstance(user, COMPOUND) and user.lineno in facts.source.comments:
        found.append(facts.source.comments[user.lineno])
    return found


def cited(block: Block, facts: Facts) -> Block:
    """The backward half, with the user's line above each group of statements that comes from it."""
    flat = list(statements(facts.source.tree.body))
    spans = {n.lineno: n.end_lineno for n in flat if hasattr(n, "lineno") and not isinstance(n, COMPOUND)}
    return _cited(block, facts, spans)


def _cited(block: Block, facts: Facts, spans: dict[int, int]) -> Block:
    made: Block = []
    last = None
    for node in block:
        line = getattr(node, "lineno", None)
        if isinstance(node, COMPOUND):
            node.body = _cited(node.body, facts, spans)
            node.orelse = _cited(getattr(node, "orelse", None) or [], facts, spans)
            last = None
        elif node not in facts.zeros and line in spans and line != last:
            made.append(remark(Comment(f"# line {line}: {_user_text(line, spans[line], facts)}")))
            last = line
        made.append(node)
    return made


def _user_text(first: int, last: int, facts: Facts) -> str:
    """The user's statement on one line, without comments."""
    parts = []
    for line in range(first, last + 1):
        text = facts.source.lines[line - 1].strip()
        comment = facts.source.comments.get(line)
        if comment is not None and text.endswith(comment.strip()):
            text = text[: -len(comment.strip())].rstrip()
        parts.append(text)
    return " ".join(part for part in parts if part)


def pullback(program: Program, facts: Facts, backward: Block) -> Node:
    """The backward half as a closure that may be called any number of times."""
    definition = statement(f"def {facts.back}({facts.seeds[0]}):\n    pass")
    definition.body = [*facts.fresh_copies, *backward, gast.Return(program.result.value.elts[1])]
    return definition


def results(program: Program, facts: Facts) -> Node:
    """`return y, back`."""
    value = program.result.value.elts[0]
    return at(gast.Return(gast.Tuple(elts=[value, name(facts.back)], ctx=gast.Load())), program.result)
