"""The text of one function: signature, docstring, both halves, the user's lines as comments.

The docstring says of what it is a derivative, with respect to what, and what is recorded. `with np.errstate(...)`
stands around the statements that the user put into it, in both halves.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import field

import gast

from srcgrad.backend.text.definitions import plain_annotation, tidied_statement
from srcgrad.core.facts import Facts, Record
from srcgrad.core.identity import record
from srcgrad.core.printer import Blank, Comment, Verbatim, expression
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    at,
    copy,
    find_nodes,
    header,
    loads,
    name,
    root,
    same_tree,
    statement,
    statements,
    stores,
    walk,
)
from srcgrad.core.visitor import places, rewrite_blocks
from srcgrad.derive.program import Program, kept_alive
from srcgrad.frontend.desugar.assignments import is_inside
from srcgrad.optimise.copies import names_sharing_arrays


def restore_contexts(block: Block, contexts: list[Node]) -> Block:
    """Runs of statements that come from the body of a `with` are put into one again."""
    for context in contexts:
        block = _restore_context(block, context)
    return block


def _restore_context(block: Block, context: Node) -> Block:
    made: Block = []
    inside: Block = []
    held: Block = []  # comments, which belong to the statement below
    for node in block:
        if _is_remark(node):
            held.append(node)
        elif is_inside(node, context):
            inside += [*held, node]
            held = []
        else:
            made += [*_close_context(inside, context), *held, node]
            inside, held = [], []
            if isinstance(node, COMPOUND):
                node.body = _restore_context(node.body, context)
                node.orelse = _restore_context(getattr(node, "orelse", None) or [], context)
    return made + _close_context(inside, context) + held


def _is_remark(node: Node) -> bool:
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant) and "lineno" not in node.__dict__


def _close_context(inside: Block, context: Node) -> Block:
    if not inside:
        return []
    return [at(gast.With([copy(item) for item in context.items], inside, None), context)]


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
    own = facts.source.name.removesuffix("_grad") if facts.request.mode == "hvp" else facts.source.name
    titles = TITLE | MANY if facts.module.leading.axis else TITLE
    of_item = facts.request.mode == "pull" and facts.module.given is not None and not facts.request.called
    form = (
        "value"
        if facts.request.mode == "primal" and facts.request.step is None
        else "item"
        if of_item
        else facts.request.mode
    )
    title = titles[form].format(name=own, wrt=", ".join(facts.request.wrt), line=facts.source.first)
    if facts.module is not None and facts.module.blocks and facts.request.mode == "primal" and not facts.request.called:
        title = f"`{own}`, by blocks of rows of {', '.join(facts.module.blocks.over)}."
    users = _users(facts) if is_tidy(facts) and not facts.request.generated else []
    lines = textwrap.wrap(title, 80)
    if facts.module.leading.remark:
        lines += ["", *textwrap.wrap(facts.module.leading.remark, 80)]
    if not facts.pushes_forward and facts.request.mode != "primal":
        lines += [""]
        for line in recording_lines(program, facts) or ["Recorded: nothing."]:
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


def recording_lines(program: Program, facts: Facts) -> list[str]:
    """One line for each value that the forward half keeps on a stack or under a second name."""
    around = {place.node: place.loops[-1].lineno for place in places(program.forward) if place.loops}
    found, back = list[str](), _Backward(program.backward, facts)
    for node in statements(program.forward):
        kept = facts.tape.pushes.get(node)
        if kept is None or not isinstance(node, gast.Expr | gast.Assign) or not hasattr(node, "lineno"):
            continue
        listed = isinstance(node, gast.Expr)
        pushed = listed or isinstance(node.targets[0], gast.Subscript)
        if kept in facts.calls.snapshots:
            found += [checkpoint_line(node, facts.calls.snapshots[kept], facts)] if pushed else []
            continue
        values = node.value.args[0] if listed else node.value
        many = listed and isinstance(values, gast.Tuple)  # what `gathered` keeps together
        parts = {f"{kept}[{k}]": one for k, one in enumerate(values.elts)} if many else {kept: values}
        lines: set[int] = set()
        for key, part in parts.items():
            value = _original(part)
            readers = back.readers(kept, _root(value)) if pushed else []
            needed = sorted({n.lineno for n in readers})
            facts.tape.recorded[key] = Record(expression(value), node.lineno, tuple(needed))
            lines.update(needed)
        if pushed:
            spelled = ", ".join(facts.tape.recorded[key].value for key in parts)
            where = f"each trip of the loop in line {around[node]}" if node in around else f"in line {node.lineno}"
            by = (
                f" (needed by line{'s' if len(lines) > 1 else ''} {', '.join(map(str, sorted(lines)))})"
                if lines
                else ""
            )
            found.append(f"Recorded: {spelled}, {where}{by}.")
    return found


def checkpoint_line(node: Node, loop: Node, facts: Facts) -> str:
    """What is recorded of a checkpointed loop."""
    state = ", ".join(expression(value) for value in node.value.args)
    slots = facts.calls.checkpointed[loop]
    some = "some" if getattr(slots, "value", 0) is None else f"at most {expression(slots)}"
    return f"Recorded: {state}, before {some} trips of the loop in line {loop.lineno}, from which others are computed."


def _original(value: Node) -> Node:
    """What is recorded, without the `.copy()` that keeps it."""
    return value.func.value if isinstance(value, gast.Call) else value


def _root(value: Node) -> str:
    """The name of what is recorded, or of the array whose part it is."""
    base = root(value)
    return "" if base is None else str(base.id)


@record
class _Backward:
    """Where the backward half brings recorded values back, and the statements of its blocks that read each name."""

    block: Block
    facts: Facts
    reading: dict[int, dict[str, list[tuple[int, Node]]]] = field(default_factory=dict)  # by the block

    def __post_init__(self) -> None:
        restores = self.facts.tape.restores
        found = [(restores[place.node], place) for place in places(self.block) if place.node in restores]
        self.back = dict(reversed(found))  # the first of each

    def readers(self, kept: str, value: str) -> list[Node]:
        """Statements that read a recorded value, behind where it comes back."""
        if kept not in self.back:
            return []
        node, inner, around = self.back[kept]
        other = getattr(around[-1], "orelse", None) if around and inner is around[-1].body else None
        known = self._reading(inner).get(value, [])
        start = inner.index(node) if known else 0
        behind = [one for place, one in known if place > start]
        behind += [one for _, one in self._reading(other).get(value, [])] if other else []
        return [one for one in behind if hasattr(one, "lineno") and one not in self.facts.tape.restores]

    def _reading(self, block: Block) -> dict[str, list[tuple[int, Node]]]:
        """The statements of a block that read each name, nested ones included, with places in it; looked up once."""
        if id(block) not in self.reading:
            found = self.reading[id(block)] = dict[str, list[tuple[int, Node]]]()
            for place, node in enumerate(block):
                for one in statements([node]):
                    for read in dict.fromkeys(loads(one)):
                        found.setdefault(read, []).append((place, one))
        return self.reading[id(block)]


def is_tidy(facts: Facts) -> bool:
    """Whether the text is for a standalone module."""
    return facts.module is not None and bool(facts.module.tidy)


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
        decorator_list=facts.module.target.wrap(facts),
        returns=None,
        type_comment=None,
        type_params=[],
    )
    facts.tape.saved = kept_alive(program, facts) | names_sharing_arrays(program, facts)
    forward = restore_contexts(write_forward(program.forward, facts), facts.origin.contexts)
    again = [one for one in facts.origin.contexts if one not in facts.origin.entered]
    backward = restore_contexts(cite_lines(program.backward, facts), again)
    if facts.request.mode == "vjp":
        definition.body += [*forward, pullback(program, facts, backward), results(program, facts)]
    else:
        gap = [remark(Blank())] if forward and backward else []
        definition.body += forward + gap + backward + [program.result]
    return definition


def outer_names(program: Program, facts: Facts, function: Node) -> tuple[str, ...]:
    """Names that the derivative reads and does not bind, in alphabetical order."""
    body = [*program.forward, *facts.tape.fresh_copies, *program.backward, program.result]
    arguments = signature(function, facts)
    bound = {n.id for n in find_nodes(arguments, gast.Name) if isinstance(n.ctx, gast.Param)}
    bound |= {name for node in statements(body) for name in stores(node)} | set(facts.names.seeds) | {"_"}
    roots = [arguments, *body]
    read = {n.id for r in roots for n in find_nodes(r, gast.Name) if isinstance(n.ctx, gast.Load)}
    return tuple(sorted(read - bound))


def remark(text: str) -> Node:
    """A string as a statement: docstring, comment, blank line, or text as it is."""
    return gast.Expr(value=gast.Constant(value=text, kind=None))


def signature(function: Node, facts: Facts) -> Node:
    """The user's parameters; the seed, or the tangents, after them. A standalone text keeps plain annotations."""
    arguments = copy(function.args)
    for each in ("posonlyargs", "args", "kwonlyargs") if is_tidy(facts) else ():
        for own, users in zip(getattr(arguments, each), getattr(function.args, each), strict=True):
            own.annotation = plain_annotation(users.annotation, facts.namespace.lookup)
    for seed in facts.names.seeds if facts.request.mode != "vjp" else ():
        parameter = gast.Name(id=seed, ctx=gast.Param(), annotation=None, type_comment=None)
        if (
            facts.request.handed.apart
            and len(facts.names.seeds) > len(facts.calls.mask_seeds) + 1
            and not facts.module.given
            and not facts.pushes_forward
        ):
            arguments.args.append(parameter)
        elif facts.pushes_forward or facts.request.seed == "given":
            arguments.kwonlyargs.append(parameter)
            arguments.kw_defaults.append(None)
        else:
            arguments.args.append(parameter)
            arguments.defaults.append(gast.Constant(value=1.0, kind=None))
    if facts.module.given:  # the loop over items names no argument, which Numba does not take in parallel loops
        arguments.args += arguments.kwonlyargs
        arguments.kwonlyargs, arguments.kw_defaults, arguments.defaults = [], [], []
    return arguments


def write_forward(block: Block, facts: Facts) -> Block:
    """The forward half with the user's own text and comments where a statement is as it was."""
    return rewrite_blocks(block, lambda inner: _written(inner, facts))


def _written(block: Block, facts: Facts) -> Block:
    made: Block = []
    previous: Node | None = None
    for node in block:
        user = facts.origin.user.get(node, node)
        if user is not previous:
            made += [at(remark(Comment(line)), user) for line in _comments_above(node, facts)]
        previous = user if node in facts.origin.user else previous
        made.append(node if isinstance(node, COMPOUND) else _own_text(node, facts))
    return made


def _own_text(node: Node, facts: Facts) -> Node:
    user: Node = facts.origin.user.get(node, node)
    known = facts.origin.text.get(user)
    if known is None or facts.source.respelled or not same_tree(facts.as_written(node), known):
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
    user: Node = facts.origin.user.get(node, node)
    if node in facts.tape.pushes or not hasattr(user, "lineno"):
        return []
    if user not in facts.origin.text and not isinstance(user, COMPOUND):
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


def cite_lines(block: Block, facts: Facts) -> Block:
    """The backward half, with the user's lines above each group of statements that come from them."""
    return _cited_block(block, _UserLines(facts, _spans(facts), _header_spans(facts)), (), 0)[0]


def _spans(facts: Facts) -> Spans:
    """The last line of each of the user's statements, by the first."""
    every = [n for n in walk(facts.source.tree) if isinstance(n, gast.stmt) and hasattr(n, "lineno")]
    return {n.lineno: n.end_lineno for n in every if not hasattr(n, "body") and not isinstance(n, gast.Match)}


def _header_spans(facts: Facts) -> Spans:
    """The same of what stands above a block: `for x in xs:`, `if (t := u) > 0:`, the `def` of the function."""
    every = [n for n in walk(facts.source.tree) if isinstance(getattr(n, "body", None), list)]
    ends = {n: [part.end_lineno for part in header(n) if hasattr(part, "end_lineno")] for n in every}
    return {n.lineno: max(ends[n], default=n.lineno) for n in every if hasattr(n, "lineno")}


def cited_line(node: Node, facts: Facts) -> str:
    """The comment that cites the user's line of a statement; empty where there is none."""
    line, spans = getattr(node, "lineno", None), _spans(facts)
    return _citation(line, spans[line], facts) if line in spans else ""


def _citation(line: int, last: int, facts: Facts) -> str:
    """The comment that cites lines; those of a rule of srcgrad's have no number, which means nothing to its users."""
    function = getattr(facts.namespace, "function", None)
    place = "" if str(getattr(function, "__module__", "")).startswith(OF_RULES) else f"line {line}: "
    return f"# {place}{_user_text(line, last, facts)}"


OF_RULES = "srcgrad.templates."
Spans = dict[int, int]  # the last line of a statement, by the first
Cited = tuple[int, ...]  # the lines of one group, that of its statements last


@record(frozen=True)
class _UserLines:
    """What may be cited: the user's statements, and what stands above their blocks."""

    facts: Facts
    spans: Spans
    heads: Spans
    seen: dict[int, None] = field(default_factory=dict)  # what has been cited

    def comments(self, lines: Cited, node: Node) -> Block:
        """The comments that cite some lines above a statement."""
        self.seen.update(dict.fromkeys(lines))
        ends = {line: self.spans[line] if line in self.spans else self.heads[line] for line in lines}
        made = {line: remark(Comment(_citation(line, ends[line], self.facts))) for line in lines}
        for line, comment in made.items():
            at(comment, node).lineno = line  # reports show each beside its own
        return list(made.values())

    def are_written_out(self, node: Node) -> bool:
        """Whether a loop or a branch is what one line of the user's became."""
        return isinstance(node, COMPOUND) and getattr(node, "lineno", None) in self.spans

    def of_group(self, block: Block, start: int) -> Cited:
        """The line of the statements from `start` on, behind lines whose adjoints were written into them."""
        line: int = getattr(block[start], "lineno", 0)
        found: dict[int, None] = {}
        joined = self.facts.origin.joined
        for node in block[start:] if joined else ():
            if getattr(node, "lineno", 0) != line or isinstance(node, COMPOUND):
                break
            found.update({joined[part]: None for part in walk(node) if part in joined})
        new = [one for one in found if one != line and one not in self.seen]
        return (*(one for one in new if one in self.spans or one in self.heads), line)


def _cited_block(block: Block, known: _UserLines, last: Cited, head: int) -> tuple[Block, Cited]:
    """The lines above each group, and those that are cited last; `last` are cited above the block.

    What belongs to the header of a loop, `head`, needs no citation right below it.
    """
    facts = known.facts
    made: Block = []
    for position, node in enumerate(block):
        line: int = getattr(node, "lineno", 0)
        if node in facts.origin.again_written:
            made += write_forward([node], facts)
            last = ()
            continue
        written_out = known.are_written_out(node)
        if written_out or not (isinstance(node, COMPOUND) or node in facts.tape.zeros):
            wanted = known.of_group(block, position)
            restored = node in facts.tape.restores and line not in known.spans  # what the header of an `if` overwrote
            there = line == last[-1] if last else line == head or restored
            if (line in known.spans or line in known.heads) and not (there and set(wanted) <= {*last, line}):
                made += known.comments(wanted, node)
                last = wanted
        if isinstance(node, COMPOUND):
            own = line if isinstance(node, gast.For | gast.While) else 0
            node.body, last = _cited_block(node.body, known, _going_on(last, node.body), own)
            other = getattr(node, "orelse", None) or []
            node.orelse, last = _cited_block(other, known, _going_on(last, other), 0) if other else ([], last)
            last = _going_on(last, block[position + 1 :])
        made.append(node)
    return made, last


def _going_on(last: Cited, block: Block) -> Cited:
    """The lines that are cited last, if a block goes on with what comes from them."""
    return last if block and last[-1:] == (getattr(block[0], "lineno", 0),) else ()


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
    definition = statement(f"def {facts.names.back}({', '.join(facts.names.seeds)}):\n    pass")
    definition.body = [*facts.tape.fresh_copies, *backward, gast.Return(program.result.value.elts[1])]
    return definition


def results(program: Program, facts: Facts) -> Node:
    """`return y, back`."""
    value = program.result.value.elts[0]
    return at(gast.Return(gast.Tuple(elts=[value, name(facts.names.back)], ctx=gast.Load())), program.result)
