"""From a program to one function definition: signature, docstring, halves, the user's lines as comments."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program, kept_alive
from srcgrad.emit.annotations import plain
from srcgrad.emit.contexts import enclosed
from srcgrad.emit.docstring import docstring, is_tidy
from srcgrad.emit.text import Blank, Comment, Verbatim
from srcgrad.emit.tidy import tidied_statement
from srcgrad.facts import Facts
from srcgrad.improve.sharing import sharing
from srcgrad.trees import COMPOUND, Block, Node, at, copy, name, same, statement, statements, stores, walk
from srcgrad.trees import expression as parsed

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


def assemble(program: Program, facts: Facts, function: Node, made: str) -> Node:
    """The definition of the derivative, as a tree with comments."""
    definition = gast.FunctionDef(
        name=made,
        args=signature(function, facts),
        body=[remark(docstring(program, facts))],
        decorator_list=_decorators(facts),
        returns=None,
        type_comment=None,
        type_params=[],
    )
    facts.saved = kept_alive(program, facts) | sharing(program, facts)
    forward = enclosed(written(program.forward, facts), facts.contexts)
    backward = enclosed(cited(program.backward, facts), facts.contexts)
    if facts.mode == "vjp":
        definition.body += [*forward, pullback(program, facts, backward), results(program, facts)]
    else:
        gap = [remark(Blank())] if forward and backward else []
        definition.body += forward + gap + backward + [program.result]
    return definition


def _decorators(facts: Facts) -> Block:
    """What makes a target's compiler run the function."""
    if facts.module.target != "numba":
        return []
    taken = facts.module.given_of.get(facts.source.name)
    inside = "inside" in facts.module.looped or (taken is not None and taken.inside and not facts.called)
    checks = "" if inside else ", boundscheck=True"
    return [parsed(f'{facts.library("njit", "numba.njit")}(error_model="numpy"{checks})')]


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
    """The user's parameters; the seed, or the tangents, after them. A standalone text keeps plain annotations."""
    arguments = copy(function.args)
    for each in ("posonlyargs", "args", "kwonlyargs") if is_tidy(facts) else ():
        for own, users in zip(getattr(arguments, each), getattr(function.args, each), strict=True):
            own.annotation = plain(users.annotation, facts.namespace.lookup)
    for seed in facts.seeds if facts.mode != "vjp" else ():
        parameter = gast.Name(id=seed, ctx=gast.Param(), annotation=None, type_comment=None)
        if facts.apart and len(facts.seeds) > 1 and not facts.module.given and not facts.pushes_forward:
            arguments.args.append(parameter)
        elif facts.pushes_forward or facts.seed == "given":
            arguments.kwonlyargs.append(parameter)
            arguments.kw_defaults.append(None)
        else:
            arguments.args.append(parameter)
            arguments.defaults.append(gast.Constant(value=1.0, kind=None))
    if facts.module.given:  # the loop over items names no argument, which Numba does not take in parallel loops
        arguments.args += arguments.kwonlyargs
        arguments.kwonlyargs, arguments.kw_defaults, arguments.defaults = [], [], []
    return arguments


def written(block: Block, facts: Facts) -> Block:
    """The forward half with the user's own text and comments where a statement is as it was."""
    made: Block = []
    previous: Node = None
    for node in block:
        user = facts.origin.get(node, node)
        if user is not previous:
            made += [at(remark(Comment(line)), user) for line in _comments_above(node, facts)]
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
    if is_tidy(facts):
        indent = user.col_offset - facts.source.tree.col_offset
        made = tidied_statement(at(copy(known), user), facts.source.lines, facts.source.comments, indent)
        return at(remark(Verbatim("\n".join(line[indent:] for line in made))), user)
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
    if node in facts.pushes or not hasattr(user, "lineno"):
        return []
    if user not in facts.text and not isinstance(user, COMPOUND):
        return []
    if user.lineno <= facts.source.first and facts.module.blocks:  # the loop over blocks, which no line has
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
    heads = {n.lineno: n.iter.end_lineno for n in flat if isinstance(n, gast.For)}
    return _cited(block, facts, spans, heads)


def _cited(block: Block, facts: Facts, spans: dict[int, int], heads: dict[int, int]) -> Block:
    """The line above each group; that of a loop, to which the adjoint of its item belongs, where it ends another."""
    made: Block = []
    last = None
    for node in block:
        line = getattr(node, "lineno", None)
        if node in facts.again_written:
            made += written([node], facts)
            last = None
            continue
        if isinstance(node, COMPOUND):
            node.body = _cited(node.body, facts, spans, heads)
            node.orelse = _cited(getattr(node, "orelse", None) or [], facts, spans, heads)
            last = None
        elif node not in facts.zeros and line != last and (line in spans or (last and line in heads)):
            text = _user_text(line, spans.get(line) or heads[line], facts)
            made.append(at(remark(Comment(f"# line {line}: {text}")), node))
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
    definition = statement(f"def {facts.back}({', '.join(facts.seeds)}):\n    pass")
    definition.body = [*facts.fresh_copies, *backward, gast.Return(program.result.value.elts[1])]
    return definition


def results(program: Program, facts: Facts) -> Node:
    """`return y, back`."""
    value = program.result.value.elts[0]
    return at(gast.Return(gast.Tuple(elts=[value, name(facts.back)], ctx=gast.Load())), program.result)
