"""Derivatives of a target against finite differences, at given or drawn arguments: what `srcgrad check` shows."""

from __future__ import annotations

import itertools
import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any  # functions of arbitrary arguments

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.trees import parameters
from srcgrad.frontend.source.static_modules import StaticFunction, find_target
from srcgrad.interface.api.arguments import discrete
from srcgrad.interface.check.check_grads import check_report
from srcgrad.interface.check.finite_differences import is_float, parts
from srcgrad.interface.check.oracles import Record
from srcgrad.interface.dump.user_modules import function_of, module_of

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
    """One line of the report: the worst of the comparisons of one kind, for one argument.

    `direction` is forward, reverse, or pairing, which compares the two; or the promise that was broken.
    """

    function: str
    argument: str
    direction: str
    error: str
    verdict: str


@dataclass(frozen=True)
class Trial:
    """How functions are checked; `arguments` is Python text of the positional arguments, with `np`.

    Without it they are drawn from `numpy.random.default_rng(seed)`: numbers, vectors (3,), matrices (3, 3), then
    mixtures, until the function runs and gives finite floats; an integer is 3. `trials` says how often.
    """

    arguments: str | None = None
    wrt: tuple[str, ...] | None = None
    seed: int = 0
    trials: int = 1
    order: int = 1
    text: str | None = None  # what standard input holds


@dataclass(frozen=True)
class Outcome:
    """The rows of one function of a target, or why it has none."""

    target: str
    function: str
    rows: tuple[Row, ...] = ()
    error: DifferentiationError | None = None
    drawn: tuple[str, ...] = ()  # options that repeat what did not pass with arguments that were drawn

    @property
    def passed(self) -> bool:
        """Whether the function was checked, and all comparisons passed."""
        return self.error is None and all(row.verdict == "ok" for row in self.rows)

    @property
    def undecided(self) -> bool:
        """Whether it did not pass, and nothing failed: what differences leave open."""
        verdicts = [row.verdict for row in self.rows if row.verdict != "ok"]
        return self.error is None and bool(verdicts) and all(one.startswith("undecided") for one in verdicts)


def outcomes(target: str, functions: Sequence[StaticFunction], trial: Trial) -> Iterator[Outcome]:
    """Run the target, and compare the derivatives of its functions with differences, one function after the other."""
    try:
        with module_of(target, trial.text) as module:
            for function in functions:
                yield _outcome(target, module, function, trial)
    except DifferentiationError as error:  # the module does not run
        for function in functions:
            yield Outcome(target, function.qualname, error=error)


def outcome(target: str, qualname: str, trial: Trial) -> Outcome:
    """The outcome of one function of a target, in a process that knows nothing of it."""
    [function] = [f for f in find_target(target, text=trial.text) if f.qualname == qualname]
    return next(outcomes(target, [function], trial))


def _outcome(target: str, module: ModuleType, function: StaticFunction, trial: Trial) -> Outcome:
    rows: list[Row] = []
    again: list[str] = []
    name = function.qualname
    try:
        live = function_of(module, name)
        for seed in range(trial.seed, trial.seed + trial.trials):
            args = _arguments(live, function, trial.arguments, seed)
            known = spell_arguments(args)
            again.append("" if trial.arguments is not None else f"--seed {seed} --args {shlex.quote(known)}")
            made = summary(name, check_report(live, args, trial.order, wrt=trial.wrt, seed=seed))
            rows += made
            if all(row.verdict == "ok" for row in made):
                again.pop()
    except DifferentiationError as error:
        return Outcome(target, name, tuple(rows), error)
    except Exception as error:  # whatever a derivative raises where its function does not is a finding
        rows.append(Row(name, "all", "-", "-", f"FAILED {type(error).__name__}: {error}"))
    return Outcome(target, name, tuple(dict.fromkeys(rows)), drawn=tuple(filter(None, again)))


def spell_arguments(args: Sequence[Any]) -> str:
    """Drawn arguments as `--args` takes them, to the last digit.

    >>> spell_arguments((0.1, 3, np.array([[0.5, 1.0]])))
    '0.1, 3, np.array([[0.5, 1.0]])'
    """
    return ", ".join(f"np.array({item.tolist()})" if isinstance(item, np.ndarray) else repr(item) for item in args)


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
        if known is None or _rank(known) > _rank(record):
            worst[key] = record
    return [
        Row(
            function,
            record.argument or "all",
            record.oracle if record.order == 1 else f"{record.oracle}, order {record.order}",
            f"{record.error:.1e}",
            _verdict(record),
        )
        for record in worst.values()
    ]


def _rank(record: Record) -> tuple[bool, bool, float]:
    """The less, the worse."""
    return record.passed, record.undecided, -record.error


def _verdict(record: Record) -> str:
    if record.passed:
        return "ok"
    if record.undecided:
        return f"undecided: {record.detail}"
    return "FAILED" if record.doubt else f"FAILED {record.detail}".rstrip()


def _arguments(live: Function, function: StaticFunction, text: str | None, seed: int) -> tuple[Any, ...]:
    return draw_arguments(live, function, np.random.default_rng(seed)) if text is None else evaluate_arguments(text)


def evaluate_arguments(text: str) -> tuple[Any, ...]:
    """The arguments that `--args` gives as Python; E5015 if they cannot be computed."""
    try:
        return tuple(eval(f"({text},)" if text.strip() else "()", {"np": np}))
    except (SyntaxError, NameError, *UNFIT) as error:
        raise DifferentiationError(
            "E5015", f"--args {text!r}: {error}", 'give the arguments as Python, with np: "np.ones(3), 2.0"'
        ) from None


def draw_arguments(live: Function, function: StaticFunction, generator: np.random.Generator) -> tuple[Any, ...]:
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
