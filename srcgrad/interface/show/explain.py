"""A derivative line by line, and after any pass.

`srcgrad.explain`: line by line, what carries the derivative, what is recorded, how much that is, and why; for given
arguments also the gradient, whether it agrees with differences, and which argument moves the result.

Looking at a function after any pass: every phase prints as legal Python.

`srcgrad.report` and `srcgrad dump --html`: a derivative beside its source, in a page for a browser.
"""

from __future__ import annotations

import inspect
import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from types import FunctionType
from typing import Any  # functions of arbitrary arguments

import numpy as np

from srcgrad.analysis.argument_kinds import kinds_of_annotations
from srcgrad.backend.targets import target_named
from srcgrad.core.bindings import Binding
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Facts, Kind
from srcgrad.core.files import add_mark
from srcgrad.core.namespace import Overlay
from srcgrad.core.original_libraries import look
from srcgrad.core.printer import function as spell
from srcgrad.core.printer import statement
from srcgrad.core.source_text import hides_our_frames
from srcgrad.core.trees import parameters, statements, stores
from srcgrad.derive.program import Program
from srcgrad.derive.recording import SavedValue
from srcgrad.derive.row_blocks import Blocks
from srcgrad.frontend.functions_with_rules import primal_of
from srcgrad.interface.api.arguments import active_parameters, check_names, named_parameters
from srcgrad.interface.api.calculus import TEXTS
from srcgrad.interface.api.derivative import Derivative, Wrt
from srcgrad.interface.api.derivatives import by_place, float_arguments, vjp
from srcgrad.interface.api.execute import execute_derivative
from srcgrad.interface.api.execute import run as execute_run
from srcgrad.interface.api.row_blocks import BlockFunction, RowDerivative, spread_rows
from srcgrad.interface.check.check import check_report, evaluate_arguments
from srcgrad.interface.check.finite_differences import is_float, parts, real_vector, tangent_like, vector
from srcgrad.interface.dump import DumpedModule, function_of, module_of
from srcgrad.interface.show.side_by_side import Report, plain_spelling, sides
from srcgrad.interface.targets import find_target
from srcgrad.module import Module
from srcgrad.pipeline import give_seeds, prepare_facts, steps
from srcgrad.runtime import ranks


@dataclass
class Line:
    """One line of a function: whether it carries the derivative, what it records, and why."""

    number: int
    text: str
    active: bool = False
    recorded: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Input:
    """How an argument, or a part of one, moves the result (the sum of its elements, if these are several).

    `adjoint` is the largest element of its adjoint; `change` what the result changes by, to first order, where the
    argument grows by one percent (None for complex numbers). `reaches` is False where no derivative flows from it to
    the result, whatever the values are.
    """

    name: str
    adjoint: float
    change: float | None
    reaches: bool


@dataclass(frozen=True)
class Spread:
    """How a value is held where rows are spread: per row in its block, replicated, or partial: added up in a phase.

    `sent` are the bytes that a block sends of it; without arguments what they would be, as text.
    """

    name: str
    held: str
    phase: int = 0
    sent: str = ""


@dataclass(frozen=True)
class Explanation:
    """What happens in a function when it is differentiated; `str` is a table.

    `lines` are its lines that do something; `saved` is all that the forward half keeps for the backward half. With
    arguments there are also `inputs`, that which moves the result most first; `checked`, what finite differences say;
    and `gradient`, the text. A notebook shows the report of the gradient. Of rows that are spread, `spread` says how
    each value is held.
    """

    function: str
    wrt: tuple[str, ...]
    lines: tuple[Line, ...]
    saved: tuple[SavedValue, ...]
    inputs: tuple[Input, ...] = ()
    checked: str = ""
    gradient: str = ""
    report: Report | None = field(default=None, compare=False)
    spread: tuple[Spread, ...] = ()

    def __str__(self) -> str:
        rows = [("line", "active", "recorded", "why", "text")]
        for line in self.lines:
            recorded, why = ", ".join(line.recorded) or "-", "; ".join(line.why) or "-"
            rows.append((str(line.number), "yes" if line.active else "no", recorded, why, line.text))
        kept = ", ".join(one.name if one.name == one.value else f"{one.name} ({one.value})" for one in self.saved)
        last = f"kept for the backward half: {kept or 'nothing'}"
        title = f"{self.function}, with respect to {', '.join(self.wrt)}"
        of_call = ["", self._of_call(), "", self.gradient.rstrip()] if self.gradient else []
        return "\n".join([title, *_columns(rows), last, *self._of_rows(), *of_call])

    def _of_rows(self) -> list[str]:
        """How values are held, and what each phase sends."""
        if not self.spread:
            return []
        rows, sent = [("value", "held as", "a block sends")], dict[int, list[str]]()
        for one in self.spread:
            rows.append((one.name, f"{one.held}, phase {one.phase}" if one.phase else one.held, one.sent or "-"))
            if one.phase:
                sent.setdefault(one.phase, []).append(one.sent)
        told = [f"phase {k}, one reduction: a block sends {' + '.join(sent[k])} bytes" for k in sorted(sent)]
        return ["", *_columns(rows), *told]

    def _of_call(self) -> str:
        rows = [("input", "largest adjoint", "1 % more of it changes the result by")]
        for one in self.inputs:
            change = "-" if one.change is None else f"{one.change:.4g}"
            rows.append(
                (one.name, f"{one.adjoint:.4g}", change if one.reaches else "nothing: it never reaches the result")
            )
        return "\n".join([*_columns(rows), *([self.checked] if self.checked else [])])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str | None:
        if self.report is None:
            return None
        return self.report.fragment(f'<pre tabindex="0">{escape(self._of_call())}</pre>\n' if self.inputs else "")

    def json(self) -> str:
        """The same as JSON: all but `report`, with the fields of `Line`, `SavedValue` and `Input`."""
        made = asdict(replace(self, report=None))
        del made["report"]
        return json.dumps(made, indent=2, ensure_ascii=False)


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows as lines, all cells of a column equally wide but for those of the last."""
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    return ["  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]).rstrip() for row in rows]


@hides_our_frames
def explain(
    function: Callable[..., object],
    *args: object,
    wrt: Wrt | None = None,
    check: bool = True,
    shard: Mapping[str, int] | None = None,
) -> Explanation:
    """Line by line: whether it carries the derivative, what is recorded there, and why; and what is kept in all.

    With arguments the function is run: the bytes of what is recorded are told, how large each adjoint is and how much
    the argument moves the result, and the text of the gradient for such arguments. It is run some dozen times more to
    compare the gradient with finite differences, unless `check` is False. `wrt` is that of `grad`; without it: all
    parameters, or all arguments that hold real numbers. With `shard`, as of `grad`, or for what `blocked` gives, it is
    told how values are held where rows are spread, and what a block sends. Errors are those of `grad`.

    >>> import srcgrad
    >>> def power(x, n):
    ...     p = 1.0
    ...     for k in range(n):
    ...         p = p * x
    ...     return p
    >>> told = srcgrad.explain(power, 2.0, 3, wrt="x", check=False)
    >>> print(str(told).partition("# Generated")[0].rstrip())  # what follows is told.gradient
    power, with respect to x
    line  active  recorded          why                   text
    2     yes     -                 -                         p = 1.0
    3     no      -                 depends on none of x      for k in range(n):
    4     yes     p (24 bytes x 3)  p: needed by line 4           p = p * x
    5     yes     -                 -                         return p
    kept for the backward half: x, n, p_stack (p)
    <BLANKLINE>
    input  largest adjoint  1 % more of it changes the result by
    x      12               0.24
    """
    if isinstance(function, BlockFunction):
        shard, function = dict.fromkeys(function.blocks.over, 0), function.primal
    if wrt is None:
        wrt = float_arguments(function, args) if args else tuple(inspect.signature(function).parameters)
    if shard is not None:
        made = explain(function, *args, wrt=wrt, check=check)
        blocks = spread_rows(function, "mpi", shard, None)
        assert blocks is not None, "`shard` names something, or is refused"
        if args:
            return replace(made, spread=_spread_in_call(function, made.wrt, blocks, args))
        return replace(made, spread=_spread_values(primal_of(function)[0], made.wrt, blocks, {}))
    if args:
        return _explanation_of_call(by_place(function, wrt, len(args)), wrt, args, check)
    derivative: Derivative[..., object] = Derivative(function, "reverse", wrt, False)
    return explanation(_facts(derivative.primal, derivative.wrt, {}), {})


def _spread_in_call(
    function: Callable[..., object], wrt: tuple[str, ...], blocks: Blocks, args: tuple[object, ...]
) -> tuple[Spread, ...]:
    """How values are held, with the bytes that a block sends: it is run on all rows as one block."""
    derivative = RowDerivative(function, "value-and-grad", wrt, False, "mpi", blocks)
    values, made = derivative.text_for(args, {})
    parts: list[tuple[object, ...]] = []

    def noted(part: tuple[object, ...], merges: object = ()) -> tuple[object, ...]:
        parts.append(part)
        return part

    def all_here(*arrays: object, same: object = ()) -> list[ranks.Rows]:
        return [ranks.Rows(a, 0, len(np.asarray(a))) for a in arrays]

    def on_all(block: Callable[..., object], *given: object) -> object:
        return block(*(a.own if isinstance(a, ranks.Rows) else a for a in given))

    instead: dict[object, object] = {ranks.allreduce: noted, ranks.sharded: all_here, ranks.each_block: on_all}
    space = {name: instead.get(one, one) if callable(one) else one for name, one in made.function.__globals__.items()}
    text = FunctionType(made.function.__code__, space, None, made.function.__defaults__, made.function.__closure__)
    execute_run(text, values, derivative.named)
    sizes = [[str(_bytes(np.asarray(p) if is_float(p) else p)) for p in part] for part in parts]
    return _spread_values(derivative.primal, wrt, blocks, derivative.kinds(derivative.stand_ins(values)), sizes)


def _spread_values(
    function: object,
    wrt: tuple[str, ...],
    blocks: Blocks,
    kinds: dict[str, Kind],
    sizes: Sequence[Sequence[str]] | None = None,
) -> tuple[Spread, ...]:
    """How the values of a value and its gradient are held, if the rows of `blocks` are spread."""
    module = Module(target=target_named("mpi"), blocks=blocks)
    name = module.derivative(function, "value-and-grad", wrt, kinds)
    facts = next(part.facts for part in module.made.values() if part.name == name)
    own = [*parameters(facts.source.tree), *(s for node in statements(facts.source.tree.body) for s in stores(node))]
    known = {one: Spread(one, "per row" if one in facts.of_rows else "replicated") for one in own}
    known.update({f"{w}_bar": Spread(f"{w}_bar", known[w].held) for w in wrt})
    for k, parts in enumerate(facts.reductions):
        sent = sizes[k] if sizes else [f"{part.removesuffix('_bar')}.nbytes" for part in parts]
        known.update({part: Spread(part, "partial", k + 1, n) for part, n in zip(parts, sent, strict=True)})
    return tuple(known.values())


def explanation(facts: Facts, sizes: dict[str, list[int]]) -> Explanation:
    """What is known of a function that has been differentiated, with the bytes of what it records."""
    return Explanation(facts.source.name, facts.request.wrt, tuple(lines_of(facts, sizes)), facts.tape.kept)


def _explanation_of_call(
    function: Callable[..., object], wrt: Wrt, args: tuple[object, ...], check: bool
) -> Explanation:
    """An explanation with what the arguments of a call tell."""
    facts, sizes = bytes_kept(function, wrt, args)
    value, pullback = vjp(function, *args, wrt=facts.request.wrt)
    mode = "reverse" if isinstance(value, float | np.floating) else "vjp"
    derivative: Derivative[..., object] = Derivative(function, mode, wrt, len(facts.request.wrt) == 1)
    given, kinds = derivative.arguments(args, {})
    text = derivative.executed_text(kinds).text
    named = dict(zip(list(derivative.signature.parameters)[len(derivative.bound) :], given, strict=True))
    adjoints = dict(zip(derivative.wrt, pullback(tangent_like(value, np.ones(vector(value).size))), strict=True))
    inputs = [one for name in adjoints for one in _inputs(name, named.get(name), adjoints[name], derivative, kinds)]
    inputs.sort(key=lambda one: -abs(one.change or 0.0))
    report = derivative.report(by_value(facts, sizes))
    checked = _verdict(function, args, derivative.wrt) if check and set(derivative.wrt) <= set(named) else ""
    return replace(explanation(facts, sizes), inputs=tuple(inputs), checked=checked, gradient=text, report=report)


def _inputs(
    name: str, value: object, adjoint: object, derivative: Derivative[..., object], kinds: dict[str, Kind]
) -> Iterator[Input]:
    """The parts of an argument that hold floats, or a local variable, whose value is not known."""
    found = dict(parts(value, name))
    for label, part in parts(adjoint, name):
        if not is_float(part):
            continue
        numbers, at = real_vector(part), found.get(label)
        largest = float(np.max(np.abs(numbers), initial=0.0))
        real = is_float(at) and np.asarray(at).dtype.kind == "f"
        change = 0.01 * float(np.dot(numbers, real_vector(at))) if real else None
        reaches = largest != 0.0 or bool(_facts(derivative.primal, (name,), kinds).activity.active)
        yield Input(label, largest, change, reaches)


def _verdict(function: Callable[..., object], args: tuple[object, ...], wrt: tuple[str, ...]) -> str:
    """What finite differences say of a gradient."""
    try:
        records = check_report(function, args, 1, ("reverse",), wrt=wrt)
    except DifferentiationError as error:
        return f"not compared with finite differences: {error.message}"
    failed = [record for record in records if not record.passed]
    wrong = [record for record in failed if not record.undecided]
    if wrong:
        return f"WRONG: {wrong[0].argument} has a relative error of {wrong[0].error:.1e}. {wrong[0].detail}".rstrip()
    if failed:
        return f"finite differences cannot decide at {failed[0].argument}: {failed[0].detail}"
    largest = max((record.error for record in records if record.oracle == "reverse"), default=0.0)
    return f"agrees with finite differences: the largest relative error is {largest:.0e}"


def explanations(
    target: str,
    *,
    wrt: tuple[str, ...] | None = None,
    arguments: str | None = None,
    text: str | None = None,
    over: tuple[str, ...] = (),
) -> list[Explanation]:
    """The explanation of each function of a target; with `arguments`, Python text, it is run, and bytes are told.

    `over` are arguments whose rows are spread.
    """
    functions = find_target(target, text=text)
    check_names(functions, wrt)
    made = []
    for function in functions:
        kinds = kinds_of_annotations(function.source.tree, function.module)
        names = active_parameters(function, kinds) if wrt is None else named_parameters(function, wrt)
        if arguments is None:
            spread = _spread_values(function, names, Blocks(named_parameters(function, over)), kinds) if over else ()
            made.append(replace(explanation(_facts(function, names, kinds), {}), spread=spread))
        else:
            values = evaluate_arguments(arguments)
            with module_of(target, text) as module:
                live = function_of(module, function.qualname)
                spread = _spread_in_call(live, names, Blocks(named_parameters(function, over)), values) if over else ()
                made.append(replace(_explanation_of_call(live, names, values, True), spread=spread))
    return made


def _facts(function: object, names: tuple[str, ...], kinds: dict[str, Kind]) -> Facts:
    module = Module(explained=True)
    made = module.derivative(function, "reverse", names, kinds)
    return next(part.facts for part in module.made.values() if part.name == made)


def by_value(facts: Facts, sizes: dict[str, list[int]]) -> dict[tuple[str, int], list[int]]:
    """Bytes by what is recorded and its line; with line 0 for what is recorded once, which texts may keep elsewhere."""
    known = {name: (plain_spelling(one.value), one.line) for name, one in facts.tape.recorded.items() if name in sizes}
    values = [value for value, _ in known.values()]
    once = {(value, 0): sizes[name] for name, (value, _) in known.items() if values.count(value) == 1}
    return {**once, **{key: sizes[name] for name, key in known.items()}}


def bytes_kept(
    function: Callable[..., object], wrt: Wrt, values: tuple[object, ...]
) -> tuple[Facts, dict[str, list[int]]]:
    """The facts of a live function, and the bytes of each value that its pullback keeps, one per trip."""
    derivative: Derivative[..., object] = Derivative(function, "vjp", wrt, False)
    given, kinds = derivative.arguments(values, {})
    made = execute_derivative(derivative, kinds, False, explained=True)  # a text may keep several values together
    _, back = execute_run(made.function, given, derivative.named)
    held = {n: c.cell_contents for n, c in zip(back.__code__.co_freevars, back.__closure__ or (), strict=True)}
    sizes = {n: [_bytes(part) for part in (v if isinstance(v, list) else [v])] for n, v in held.items()}
    return _facts(derivative.primal, derivative.wrt, kinds), sizes


def _bytes(value: object) -> int:
    if isinstance(value, list | tuple):
        return sum(_bytes(part) for part in value)
    return int(getattr(value, "nbytes", sys.getsizeof(value)))


def lines_of(facts: Facts, sizes: dict[str, list[int]]) -> list[Line]:
    """The lines of a function that do something."""
    found: dict[int, Line] = {}
    first = facts.source.tree.lineno + 1
    for number in sorted(facts.origin.lines):
        if first <= number <= len(facts.source.lines):
            text = facts.source.lines[number - 1].rstrip()
            line = found.setdefault(number, Line(number, text))
            line.active = "active" in facts.origin.lines[number]
            if not line.active:
                line.why.append(next(iter(facts.origin.lines[number])))
    for kept, record in facts.tape.recorded.items():
        line = found.setdefault(record.line, Line(record.line, facts.source.lines[record.line - 1].rstrip()))
        line.recorded.append(record.value + _size(sizes.get(kept)))
        by = ", ".join(map(str, record.needed)) or "what is undone before it"
        line.why.append(f"{record.value}: needed by {'line ' if record.needed else ''}{by}")
    return [found[number] for number in sorted(found)]


def _size(sizes: list[int] | None) -> str:
    if sizes is None:
        return ""
    trips = f" x {len(sizes)}" if len(sizes) != 1 else ""
    return f" ({max(sizes, default=0)} bytes{trips})"


def run(text: str, after: str, mode: str = "reverse", wrt: tuple[str, ...] | None = None) -> tuple[Any, Facts]:
    """The program and the facts of the last function in `text`, after the pass called `after`; `np` is NumPy."""
    look()
    target = find_target("-", text=textwrap.dedent(text))[-1]
    namespace = Overlay(target.module, {"np": Binding("object", np)})
    if wrt is None:
        wrt = tuple(parameters(target.source.tree))
    facts, program = prepare_facts(target.source, namespace, mode, wrt, {}, Module())
    return _after(after, program, facts), facts


def _after(asked: str, tree: object, facts: Facts) -> object:
    """A tree after the pass of a name, or after the second one of it: `copy_propagation:2`; E5015 if there is none."""
    name, _, count = asked.partition(":")
    chosen = steps(facts.request.mode, facts.module)
    places = [k for k, each in enumerate(chosen) if each.name == name]
    which = int(count) if count.isdecimal() else 1 if not count else 0
    if not 1 <= which <= len(places):
        known = ", ".join(dict.fromkeys(each.name for each in chosen))
        times = f"{len(places)} times in the list" if places else "no pass"
        raise DifferentiationError(
            "E5015", f"`{name}` is {times} of mode {facts.request.mode}", f"the passes are: {known}"
        )
    for each in chosen[: places[which - 1] + 1]:
        tree = each(tree, facts)
    return tree


def after_pass(
    target: str, after: str, *, wrt: tuple[str, ...] | None = None, mode: str = "reverse", text: str | None = None
) -> str:
    """The functions of a target as they are after a pass, as Python.

    >>> print(after_pass("-", "normalise", text="def f(x: float):\\n    return 2.0 * x * x"))
    # f, after normalise
    def f(x):
        t2 = 2.0 * x
        y = t2 * x
        return y
    """
    functions = find_target(target, text=text)
    check_names(functions, wrt)
    shown = []
    for function in functions:
        kinds = kinds_of_annotations(function.source.tree, function.module)
        names = active_parameters(function, kinds) if wrt is None else named_parameters(function, wrt)
        module, asked_of = Module(), function
        if mode == "hvp":
            asked_of = module.derivative_function(function, "reverse", names, kinds, single=len(names) == 1).function
        facts, tree = prepare_facts(*module.source(asked_of), mode, names, kinds, module)
        give_seeds(facts)
        shown.append(f"# {function.qualname}, after {after}\n{_spelled(_after(after, tree, facts))}")
    return "\n\n\n".join(shown)


def _spelled(made: Any) -> str:
    """A tree, or both halves of a program, as Python."""
    if isinstance(made, Program):
        return "\n".join(line for node in made.block for line in statement(node))
    return spell(made).rstrip()


def explain_text(text: str, after: str, mode: str = "reverse", wrt: tuple[str, ...] | None = None) -> str:
    """The last function in `text` after the pass called `after`, as Python.

    >>> print(explain_text("def f(x):\\n    return np.sin(x * x)", after="normalise"))
    def f(x):
        t2 = x * x
        y = np.sin(t2)
        return y
    """
    return _spelled(run(text, after, mode, wrt)[0])


def explain_facts(text: str, after: str = "activity") -> Facts:
    """The facts of the last function in `text` after the pass called `after`."""
    return run(text, after)[1]


@hides_our_frames
def report(
    function: Callable[..., object], *args: object, wrt: Wrt | None = None, mode: str = "reverse", target: str = "numpy"
) -> Report:
    """The report of a derivative: what `srcgrad.source` gives, beside the function, with what belongs together.

    With arguments the function is run, and the report tells the bytes of what is recorded. `wrt`, `mode` and `target`
    are those of `source`; without `wrt`: all parameters, or all arguments that hold real numbers.

    >>> import numpy as np
    >>> import srcgrad
    >>> def power(x, n):
    ...     p = 1.0
    ...     for k in range(n):
    ...         p = p * x
    ...     return p
    >>> made = srcgrad.report(power, 2.0, 3, wrt="x")
    >>> made
    Report(title='power_grad')
    >>> "keeps <code>p</code>, 24 bytes x 3" in made.html()
    True
    """
    if mode not in TEXTS:
        raise DifferentiationError("E5006", f"no report is made in mode {mode!r}", f"use {', '.join(TEXTS)}")
    if wrt is None:
        wrt = float_arguments(function, args) if args else tuple(inspect.signature(function).parameters)
    derivative: Derivative[..., object] = Derivative(
        function, mode, wrt, not isinstance(wrt, tuple) or len(wrt) == 1, target
    )
    if not args:
        return derivative.report()
    values, kinds = derivative.arguments(args, {})
    derivative.executed_text(kinds)
    return derivative.report(by_value(*bytes_kept(function, wrt, tuple(values))))


def dumped_report(
    dumped: DumpedModule,
    targets: Sequence[str],
    *,
    wrt: tuple[str, ...] | None = None,
    arguments: str | None = None,
    text: str | None = None,
    written: bool = False,
) -> Report:
    """The report of what `srcgrad dump` has made; `arguments`, Python text, runs the target to tell bytes.

    Of a text that is `written` to a file the lines are those of the file, with its mark. E5015 for arguments where the
    target is not one function.
    """
    refused = tuple((item.function.qualname, item.error) for item in dumped.refused)
    names = [
        part.name
        for part in dumped.parts
        if not part.facts.request.called and part.tree.name in part.facts.module.making
    ]
    title = f"{', '.join(names[:3])}{', ...' if len(names) > 3 else ''}"
    sizes = None if arguments is None else _sizes(targets, wrt, arguments, text)
    shown = add_mark(dumped.text) if written else dumped.text
    return Report(title, sides(shown, dumped.parts, sizes), refused)


def _sizes(
    targets: Sequence[str], wrt: tuple[str, ...] | None, arguments: str, text: str | None
) -> dict[tuple[str, int], list[int]]:
    functions = [(target, function) for target in targets for function in find_target(target, text=text)]
    if len(functions) != 1:
        message = f"arguments are given, and the targets are {len(functions)} functions"
        raise DifferentiationError("E5015", message, "name one, as file.py:f")
    [(target, function)] = functions
    values = evaluate_arguments(arguments)
    with module_of(target, text) as module:
        live = function_of(module, function.qualname)
        return by_value(*bytes_kept(live, float_arguments(live, values) if wrt is None else wrt, values))
