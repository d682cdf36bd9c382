"""`srcgrad.report` and `srcgrad dump --html`: a derivative beside its source, in a page for a browser."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import add_mark
from srcgrad.interface.api.derivative import Derivative, Wrt
from srcgrad.interface.api.derivatives import float_arguments
from srcgrad.interface.api.differentiable import TEXTS
from srcgrad.interface.check.check import evaluate_arguments
from srcgrad.interface.dump import DumpedModule, function_of, module_of
from srcgrad.interface.show.explain import by_value, bytes_kept
from srcgrad.interface.show.side_by_side import Report, sides
from srcgrad.interface.targets import find_target


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
