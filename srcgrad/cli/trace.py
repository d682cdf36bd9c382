"""`srcgrad trace`: the operations of one call, with values and adjoints."""

from __future__ import annotations

import argparse
import inspect

from srcgrad.cli.targets import each, expanded, standard_input
from srcgrad.errors import DifferentiationError
from srcgrad.front.target import find_target
from srcgrad.imported import function_of, module_of
from srcgrad.output import listed, write_output
from srcgrad.tape import Trace, trace
from srcgrad.trial import evaluated


def run(asked: argparse.Namespace) -> int:
    """Run the functions of the targets with the arguments, and print what `srcgrad.trace` has of each.

    As JSON it is one object, or a list of them for several functions.
    """
    targets = expanded(asked.targets)
    text = standard_input(targets)
    found: list[Trace] = []

    def add(target: str) -> bool:
        found.extend(_traces(target, asked, text))
        return True

    status = each(targets, add)
    if found:
        made = [one.json() if asked.json else str(one) for one in found]
        write_output(listed(made) if asked.json else "\n\n".join(made) + "\n", "-")
    return status


def _traces(target: str, asked: argparse.Namespace, text: str | None) -> list[Trace]:
    functions = find_target(target, text=text)
    values = evaluated(asked.args)
    with module_of(target, text) as module:
        lives = [function_of(module, function.qualname) for function in functions]
        for function, live in zip(functions, lives, strict=True):
            try:
                inspect.signature(live).bind(*values)
            except TypeError as error:
                message = f"--args does not fit {function.qualname}: {error}"
                raise DifferentiationError("E5015", message, "give all arguments that it needs") from None
        return [trace(live, asked.wrt)(*values) for live in lives]
