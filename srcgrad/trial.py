"""`srcgrad check`: derivatives of a target against finite differences, at given or drawn arguments."""

from __future__ import annotations

import inspect
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any  # functions of arbitrary arguments

import numpy as np

from srcgrad.check import check_report
from srcgrad.differences import is_float, parts
from srcgrad.dump import is_whole
from srcgrad.errors import DifferentiationError
from srcgrad.front.static import StaticFunction
from srcgrad.front.target import find_target
from srcgrad.front.webs import parameters
from srcgrad.imported import function_of, module_of
from srcgrad.inputs import discrete
from srcgrad.oracles import Record
from srcgrad.tape import trace

Function = Callable[..., Any]
Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = ((), (3,), (3, 3))
RANGES = ((0.5, 1.5), (0.1, 0.9), (1.5, 3.0), (-1.0, 1.0))
NUMBERS = ("forward", "reverse", "pairing")
MOST_PARAMETERS = 6  # with more, arguments of mixed shapes are too many to try
# What a function may raise that was given arguments of a wrong shape, or out of its domain.
UNFIT = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True)
class Row:
    """One line of the report: the worst of the comparisons of one kind, for one argument."""

    function: str
    argument: str
    oracle: str
    error: str
    verdict: str


def check_target(
    target: str,
    *,
    arguments: str | None = None,
    wrt: tuple[str, ...] | None = None,
    seed: int = 0,
    trials: int = 1,
    order: int = 1,
    text: str | None = None,
) -> int:
    """Run the target, print the comparisons as a table, and return 0 if all passed and 1 otherwise.

    `arguments` is Python text of the positional arguments, with `np`. Without it they are drawn from
    `numpy.random.default_rng(seed)`: numbers, vectors (3,), matrices (3, 3), then mixtures, until the
    function runs and gives finite floats; an integer is 3. Functions of a whole module that cannot be
    differentiated, or that no drawn arguments suit, are not checked: standard error says so, and the result
    is 1.
    """
    functions = find_target(target, text=text)
    rows: list[Row] = []
    complete = True
    with module_of(target, text) as module:
        for function in functions:
            live = function_of(module, function.qualname)
            try:
                for trial in range(trials):
                    args = _arguments(live, function, arguments, seed + trial)
                    records = check_report(live, args, order, wrt=wrt, seed=seed + trial)
                    rows += summary(function.qualname, records)
            except DifferentiationError as error:
                if not is_whole(target):
                    raise
                complete = False
                print(f"{function.qualname} is not checked: {error}", file=sys.stderr)
    print(table(list(dict.fromkeys(rows))), end="")
    return 0 if complete and all(row.verdict == "ok" for row in rows) else 1


def trace_target(
    target: str, arguments: str, *, wrt: tuple[str, ...] | None = None, as_json: bool = False, text: str | None = None
) -> int:
    """Run the functions of a target with the arguments, and print what `srcgrad.trace` has of each; always 0.

    As JSON it is one object, or a list of them for several functions.
    """
    functions = find_target(target, text=text)
    values = evaluated(arguments)
    with module_of(target, text) as module:
        lives = [function_of(module, function.qualname) for function in functions]
        for function, live in zip(functions, lives, strict=True):
            try:
                inspect.signature(live).bind(*values)
            except TypeError as error:
                message = f"--args does not fit {function.qualname}: {error}"
                raise DifferentiationError("E5015", message, "give all arguments that it needs") from None
        found = [trace(live, wrt)(*values) for live in lives]
    texts = [made.json() if as_json else str(made) for made in found]
    print(listed(texts) if as_json else "\n\n".join(texts) + "\n", end="")
    return 0


def listed(texts: Sequence[str]) -> str:
    """JSON texts as one: a list, where there are several."""
    return "[\n" + ",\n".join(texts) + "\n]\n" if len(texts) > 1 else f"{texts[0]}\n"


def summary(function: str, records: Sequence[Record]) -> list[Row]:
    """The worst comparison for each order, argument and oracle.

    What is checked beside numbers (arguments left unchanged, gradients in memory of their own, ...) shows if
    it fails.
    """
    worst: dict[tuple[int, str, str], Record] = {}
    for record in records:
        if record.passed and record.oracle not in NUMBERS:
            continue
        key = (record.order, record.argument, record.oracle)
        known = worst.get(key)
        if known is None or (known.passed, -known.error) > (record.passed, -record.error):
            worst[key] = record
    return [
        Row(
            function,
            record.argument or "all",
            record.oracle if record.order == 1 else f"{record.oracle}, order {record.order}",
            f"{record.error:.1e}",
            "ok" if record.passed else f"FAILED {record.detail}".rstrip(),
        )
        for record in worst.values()
    ]


def table(rows: Sequence[Row]) -> str:
    """The rows below a header, in columns."""
    cells = [("function", "argument", "oracle", "relative error", "verdict")]
    cells += [(row.function, row.argument, row.oracle, row.error, row.verdict) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _arguments(live: Function, function: StaticFunction, text: str | None, seed: int) -> tuple[Any, ...]:
    return drawn(live, function, np.random.default_rng(seed)) if text is None else evaluated(text)


def evaluated(text: str) -> tuple[Any, ...]:
    """The arguments that `--args` gives as Python; E5015 if they cannot be computed."""
    try:
        return tuple(eval(f"({text},)" if text.strip() else "()", {"np": np}))
    except (SyntaxError, NameError, *UNFIT) as error:
        raise DifferentiationError(
            "E5015", f"--args {text!r}: {error}", 'give the arguments as Python, with np: "np.ones(3), 2.0"'
        ) from None


def drawn(live: Function, function: StaticFunction, generator: np.random.Generator) -> tuple[Any, ...]:
    """Arguments at which the function runs and gives finite floats; E5015 if none are found."""
    tree = function.source.tree.args
    required = [p.id for p in [*tree.posonlyargs, *tree.args]]
    required = required[: len(required) - len(tree.defaults)]
    whole = discrete(function)
    floats = [name for name in required if name not in whole]
    for shapes, limits in itertools.product(_mixtures(len(floats)), RANGES):
        values = iter([_draw(generator, shape, limits) for shape in shapes])
        args = tuple(3 if name in whole else next(values) for name in required)
        if _runs(live, args):
            return args
    listed = ", ".join(parameters(function.source.tree)) or "none"
    raise DifferentiationError(
        "E5015",
        f"no drawn arguments suit {function.qualname}, whose parameters are: {listed}",
        'give some: --args "np.ones(3), 2.0"',
    )


def _mixtures(count: int) -> Iterator[tuple[Shape, ...]]:
    """The same shape for all, the simplest first; then all others, if they are not too many."""
    for shape in SHAPES:
        yield (shape,) * count
    if count <= MOST_PARAMETERS:
        for shapes in itertools.product(SHAPES, repeat=count):
            if len(set(shapes)) > 1:
                yield shapes


def _draw(generator: np.random.Generator, shape: Shape, limits: tuple[float, float]) -> Any:
    numbers = generator.uniform(*limits, shape)
    return numbers if shape else float(numbers)


def _runs(live: Function, args: tuple[Any, ...]) -> bool:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = live(*args)
        except UNFIT:
            return False
    floats = [part for _, part in parts(value) if is_float(part)]
    return bool(floats) and all(np.all(np.isfinite(part)) for part in floats)
