"""`srcgrad check`: derivatives against finite differences, as a table."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import Any  # what JSON holds

from srcgrad.core.bindings import StaticFunction
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import write_output
from srcgrad.core.processes import BesidePython
from srcgrad.interface.check.check import Outcome, Trial, outcome, outcomes
from srcgrad.interface.cli.terminal import progress, report, table
from srcgrad.interface.dump import declared_rules, is_whole
from srcgrad.interface.targets import expand_patterns, find_target, standard_input

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
            report(one.error, f"{_label(one, count) if one.function else one.target} is not checked: ")


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
