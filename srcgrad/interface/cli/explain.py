"""Looking at a derivative: `srcgrad explain`, `show`, `trace`, `check`, and the notebook's `%%srcgrad`.

`explain` tells what it does in each line, or what an error code means; `show` has function and derivative side by side,
lines that belong together in one colour; `trace` the operations of one call, with values and adjoints; `check` compares
with finite differences, as a table.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import itertools
import json
import multiprocessing
import os
import re
import shutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import Any  # what JSON holds

from srcgrad.core.bindings import StaticFunction
from srcgrad.core.errors import CODES, DifferentiationError, cell_of, page_of
from srcgrad.core.files import json_list, write_output
from srcgrad.core.processes import BesidePython
from srcgrad.core.source_text import hides_our_frames
from srcgrad.interface.check.check import Outcome, Trial, evaluate_arguments, outcome, outcomes
from srcgrad.interface.cli.dump import tell_refused
from srcgrad.interface.cli.options import console, is_coloured, progress, table
from srcgrad.interface.cli.options import report as report_error
from srcgrad.interface.dump import declared_rules, dump, function_of, is_whole, module_of
from srcgrad.interface.show.explain import Explanation, after_pass, explain, explanations, report
from srcgrad.interface.show.side_by_side import Line, Pair, Sides, sides
from srcgrad.interface.show.trace import Trace, trace
from srcgrad.interface.targets import expand_patterns, find_target, for_each_target, standard_input

_CODE = re.compile(r"[Ee]\d{4}")


def run_explain(asked: argparse.Namespace) -> int:
    """Print a table for each function of each target, or what it is after a pass; for error codes, what they mean."""
    if all(_CODE.fullmatch(target) for target in asked.targets):
        return _codes([target.upper() for target in asked.targets], asked.json)
    targets = expand_patterns(asked.targets)
    text = standard_input(targets)
    found: list[Explanation] = []

    def add(target: str) -> bool:
        if asked.after:
            write_output(f"{after_pass(target, asked.after, wrt=asked.wrt, mode=asked.mode, text=text)}\n", "-")
            return True
        made = explanations(target, wrt=asked.wrt, arguments=asked.args, text=text, over=asked.shard or ())
        if asked.json:
            found.extend(made)
        else:
            write_output("\n".join(f"{one}\n" for one in made), "-")
        return True

    status = for_each_target(targets, add)
    if found:
        write_output(json_list([one.json() for one in found]), "-")
    return status


def _codes(codes: Sequence[str], as_json: bool) -> int:
    parts = [page_of(code) for code in codes]
    if as_json:
        rows = [
            {"code": code, "title": CODES[code], "text": part.partition("\n")[2].strip()}
            for code, part in zip(codes, parts, strict=True)
        ]
        write_output(json_list([json.dumps(row, indent=2, ensure_ascii=False) for row in rows]), "-")
        return 0
    shown = console(sys.stdout)
    if shown is None:
        write_output("\n".join(parts), "-")
        return 0
    from rich.markdown import Markdown

    for part in parts:
        shown.print(Markdown(part))
    return 0


# Foregrounds that are told apart on light and on dark backgrounds, neighbours far from each other.
COLOURS = ("34", "32", "35", "33", "36", "31", "94", "92", "95", "93", "96", "91")
FAINT, BOLD = "2", "1"
NARROWEST = 60


def run_show(asked: argparse.Namespace) -> int:
    """Print each function beside its derivative, as wide as the terminal; as JSON, a list with one object each."""
    targets = expand_patterns(asked.targets)
    text = standard_input(targets)
    width = max(NARROWEST, asked.width or shutil.get_terminal_size((120, 24)).columns)
    found: list[dict[str, Any]] = []

    def show(target: str) -> bool:
        made = dump(target, wrt=asked.wrt, mode=asked.mode, target=asked.target, text=text)
        tell_refused(made)
        both = sides(made.text, made.parts)
        if asked.json:
            found.extend(_fields(both))
        else:
            write_output(page(both, width, is_coloured(sys.stdout)), "-")
        return True

    status = for_each_target(targets, show)
    if found:
        write_output(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "-")
    return status


def _fields(both: Sides) -> Iterator[dict[str, object]]:
    """For each function its lines on both sides; those with the same `group`, which is not 0, belong together."""
    for pair in both.pairs:
        fields = asdict(pair)
        yield {**fields, "kernels": {name: [asdict(line) for line in lines] for name, lines in both.kernels.items()}}


def page(both: Sides, width: int, coloured: bool) -> str:
    """All functions, one below the other, and the kernels that they run."""
    parts = [side_by_side(pair, width, coloured) for pair in both.pairs]
    parts += ["".join(f"{line.text}\n" for line in lines) for lines in both.kernels.values()]
    return "\n".join(parts)


def side_by_side(pair: Pair, width: int, coloured: bool) -> str:
    """A function on the left, its derivative on the right; without colours, lines are marked by the user's numbers.

    >>> from srcgrad.interface.dump import dump
    >>> made = dump("-", text="def f(x: float):\\n    return x * x\\n")
    >>> [pair] = sides(made.text, made.parts).pairs
    >>> print("\\n".join(side_by_side(pair, 80, False).split("\\n")[:3]))
    <stdin>:1 f        | f_grad
    1 def f(x: float): |   # Generated by srcgrad from <stdin>:1 (f): gradient with
    2     return x * x |       respect to x.
    """
    title = f"{pair.origin} {pair.function}"
    number = len(str(pair.source[-1].number))
    left = max([len(title), *(len(line.text) + number + 1 for line in pair.source)])
    left = min(left, (width - 3) // 2)
    right = width - left - 3
    groups = dict.fromkeys(line.group for line in pair.source if line.group)
    colour = dict(zip(groups, itertools.cycle(COLOURS), strict=False)) if coloured else {}
    bold = BOLD if coloured else ""
    rows = [(_cell(title, left, bold), _cell(pair.name, right, bold))]
    lines = _left_cells(pair.source, number, left, colour), _right_cells(pair.made, number, right, colour)
    rows += itertools.zip_longest(*lines, fillvalue=" " * left)
    return "".join(f"{one} | {other}".rstrip() + "\n" for one, other in rows)


def _left_cells(lines: Sequence[Line], number: int, width: int, colour: dict[int, str]) -> Iterator[str]:
    for line in lines:
        faint = [FAINT] if line.role == "inactive" and colour else []
        style = ";".join([*faint, *([colour[line.group]] if line.group in colour else [])])
        for k, part in enumerate(_fold_line(line.text, width - number - 1)):
            yield _cell(f"{line.number if not k else '':>{number}} {part}", width, style)


def _right_cells(lines: Sequence[Line], number: int, width: int, colour: dict[int, str]) -> Iterator[str]:
    for line in lines:
        for k, part in enumerate(_fold_line(line.text, width - number - 1)):
            mark = line.group if line.group and not k else ""
            yield _cell(f"{mark:>{number}} {part}", width, colour.get(line.group, ""))


def _fold_line(text: str, width: int) -> list[str]:
    """A line in pieces that fit; those after the first are indented by four more.

    >>> _fold_line("    y = first + second", 16)
    ['    y = first +', '        second']
    """
    margin = " " * min(len(text) - len(text.lstrip()) + 4, width // 2)
    pieces = [text]
    while len(pieces[-1]) > width:
        last = pieces.pop()
        cut = last.rfind(" ", len(margin) + 1, width + 1)
        cut = cut if cut > 0 else width
        pieces += [last[:cut].rstrip(), margin + last[cut:].lstrip()]
    return pieces


def _cell(text: str, width: int, style: str) -> str:
    padded = text[:width].ljust(width)
    return f"\x1b[{style}m{padded}\x1b[0m" if style else padded


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext srcgrad` calls: `%%srcgrad` runs a cell and shows its last function beside its gradient.

    What stands behind `%%srcgrad` is a function of the cell, or a call of one: `%%srcgrad loss(w, x, y)`. Of a call
    `srcgrad.explain` tells more, and `wrt=` in it is that of `explain`.
    """
    shell.register_magic_function(partial(_notebook_cell, shell), "cell", "srcgrad")


@hides_our_frames
def _notebook_cell(shell: Any, line: str, cell: str) -> None:
    shown_above = "" if cell.lstrip().startswith("%%") else f"# %%srcgrad {line}\n"  # lines are counted from there
    following = shell.execution_count
    shell.execution_count = _number_of_cell(following)
    try:
        succeeded = shell.run_cell(shown_above + cell).success
    finally:
        shell.execution_count = following
    if not succeeded:
        return  # what it raises has been shown
    defined = [n.name for n in ast.parse(shell.transform_cell(cell)).body if isinstance(n, ast.FunctionDef)]
    asked = line.strip() or (defined[-1] if defined else "")
    if not asked:
        raise DifferentiationError("E5015", "the cell defines no function", "define one, or name one: `%%srcgrad f`")
    call = ast.parse(asked, mode="eval").body
    if isinstance(call, ast.Call):
        given = ast.Call(ast.Name("explain of srcgrad", ast.Load()), [call.func, *call.args], call.keywords)
        code = compile(ast.fix_missing_locations(ast.Expression(given)), "%%srcgrad", "eval")
        explained = eval(code, shell.user_ns, {"explain of srcgrad": explain})
        shown = {"text/plain": str(explained), "text/html": explained._repr_html_()}
    else:
        made = report(eval(asked, shell.user_ns))
        width = max(NARROWEST, shutil.get_terminal_size((120, 24)).columns)
        shown = {"text/plain": page(made.sides, width, False), "text/html": made._repr_html_()}
    shell.display_pub.publish(shown)


def _number_of_cell(following: int) -> int:
    """The number of the cell that is running: IPython has counted on already to the following one."""
    labels = (cell_of(frame.f_code.co_filename) for frame, _ in traceback.walk_stack(None))
    number = next((label.strip("In[]") for label in labels if label), "")
    return int(number) if number.isdigit() else following


def run_trace(asked: argparse.Namespace) -> int:
    """Run the functions of the targets with the arguments, and print what `srcgrad.trace` has of each.

    As JSON it is one object, or a list of them for several functions.
    """
    targets = expand_patterns(asked.targets)
    text = standard_input(targets)
    found: list[Trace] = []

    def add(target: str) -> bool:
        found.extend(_traces(target, asked, text))
        return True

    status = for_each_target(targets, add)
    if found:
        made = [one.json() if asked.json else str(one) for one in found]
        write_output(json_list(made) if asked.json else "\n\n".join(made) + "\n", "-")
    return status


def _traces(target: str, asked: argparse.Namespace, text: str | None) -> list[Trace]:
    functions = find_target(target, text=text)
    values = evaluate_arguments(asked.args)
    with module_of(target, text) as module:
        lives = [function_of(module, function.qualname) for function in functions]
        for function, live in zip(functions, lives, strict=True):
            try:
                inspect.signature(live).bind(*values)
            except TypeError as error:
                message = f"--args does not fit {function.qualname}: {error}"
                raise DifferentiationError("E5015", message, "give all arguments that it needs") from None
        return [trace(live, asked.wrt)(*values) for live in lives]


UNDECIDED = 3  # the exit status, apart from that of a wrong option, 2
HEADER = ("function", "argument", "direction", "relative error", "verdict")
Targets = dict[str, list[StaticFunction]]


def run_check(asked: argparse.Namespace) -> int:
    """Check all functions of the targets; 0 if each was checked and passed, 3 if what did not pass is undecided.

    Functions of a whole module that cannot be differentiated, or that no drawn arguments suit, are not checked:
    standard error says so at the end, and the result is 1.
    """
    targets = expand_patterns(asked.targets)
    text = standard_input(targets)
    trial = Trial(asked.args, asked.wrt, asked.seed, asked.trials, asked.order, text)
    found: Targets = {}
    failed: list[Outcome] = []
    for target in targets:
        try:
            found[target] = _functions_to_check(target, text)
        except DifferentiationError as error:
            if len(targets) == 1:
                raise
            failed.append(Outcome(target, "", error=error))
    count = sum(map(len, found.values()))
    made = list(progress(_outcomes(found, trial, asked.jobs), count, lambda one: one.function)) + failed
    if len(made) == 1 and made[0].error is not None and not is_whole(made[0].target):
        raise made[0].error
    if asked.json:
        _as_json(made)
    else:
        rows = [(_label(one, len(targets)), *list(asdict(row).values())[1:]) for one in made for row in one.rows]
        table([HEADER, *rows], _style)
    _tell(made, len(targets))
    return 0 if all(one.passed for one in made) else UNDECIDED if all(_is_open(one) for one in made) else 1


def _style(row: Sequence[str]) -> str:
    return "" if row[-1] == "ok" else "bold yellow" if row[-1].startswith("undecided") else "bold red"


def _is_open(one: Outcome) -> bool:
    return one.passed or one.undecided


def _functions_to_check(target: str, text: str | None) -> list[StaticFunction]:
    """The functions of a target; of a whole module those that are no rules, which take what rules are given."""
    functions = find_target(target, text=text)
    if not is_whole(target):
        return functions
    with declared_rules(functions) as is_rule:
        return [function for function in functions if not is_rule(function)]


def _outcomes(found: Targets, trial: Trial, jobs: int) -> Iterator[Outcome]:
    """The outcomes in the order of the targets; with more than one job, each function in one of so many processes."""
    if jobs == 1:
        for target, functions in found.items():
            yield from outcomes(target, functions, trial)
        return
    tasks = [(target, function.qualname) for target, functions in found.items() for function in functions]
    context = multiprocessing.get_context("spawn")  # a fork would copy threads of BLAS and OpenCL half
    folder = os.getcwd()
    with BesidePython():
        pool = ProcessPoolExecutor(min(jobs, len(tasks)), context, os.chdir, (folder,))
        found_by_each = pool.map(partial(_one, trial), tasks)
    with pool:
        yield from found_by_each


def _one(trial: Trial, task: tuple[str, str]) -> Outcome:
    return outcome(*task, trial)


def _label(one: Outcome, count: int) -> str:
    """The function, with its file where there are several."""
    return one.function if count == 1 else f"{one.target}:{one.function}" if is_whole(one.target) else one.target


def _tell(made: Sequence[Outcome], count: int) -> None:
    sys.stdout.flush()
    for one in made:
        for options in one.drawn:
            print(f"{_label(one, count)} was given drawn arguments: {options}", file=sys.stderr)
        if one.error is not None:
            report_error(one.error, f"{_label(one, count) if one.function else one.target} is not checked: ")


def _as_json(made: Sequence[Outcome]) -> None:
    """One object: `passed`, and for each function `target`, `function`, `passed`, `rows`, `error` or null."""
    functions: list[dict[str, Any]] = []
    for one in made:
        rows = [{key: value for key, value in asdict(row).items() if key != "function"} for row in one.rows]
        error = None if one.error is None else one.error.fields()
        known = {"target": one.target, "function": one.function, "passed": one.passed, "undecided": one.undecided}
        functions.append({**known, "rows": rows, "error": error, "drawn": list(one.drawn)})
    whole = {"passed": all(one.passed for one in made), "functions": functions}
    write_output(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", "-")
