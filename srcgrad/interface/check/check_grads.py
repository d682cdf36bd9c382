"""Check derivatives against finite differences and against each other.

For y = f(x) with Jacobian J, a direction v and a seed y_bar, both drawn at random, there are three oracles:

- forward: J v, from `jvp`, against the central difference (f(x + h v) - f(x - h v)) / (2 h);
- reverse: <J^T y_bar, v>, from `vjp`, against <y_bar, the same difference>;
- pairing: <y_bar, J v> = <J^T y_bar, v>, what transpose means; no step enters, so it is held to rounding.

No step h suits every function: truncation grows with h, rounding with 1 / h. So several are tried, and
one must agree, as in Mooncake.jl's `test_rule`. Differences and pairing are both needed, as
ChainRulesTestUtils.jl has them: where both modes are made from one line, a wrong line passes the
pairing; an adjoint that is off by less than differences resolve fails it. Order 2 applies all three to
the gradient of <y_bar, f(x)>, forward over reverse and reverse over reverse, and to the tangent J v as a
function of x, forward over forward and reverse over forward.

Where none agrees, the differences are compared with each other (`doubt`): at a kink, and of a function that is noisy,
they say no more of a derivative than that it is undecided. So it is where an adaptive solver keeps the two apart by its
tolerance: with a tight one they agree.

What is not seen: an error in a derivative that is far smaller than the value (`Precision.floor`), and
anything away from `args`. At a kink a derivative is a convention that differences do not share.
"""

from __future__ import annotations

import inspect
import itertools
import linecache
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any  # functions of arbitrary nested Python values

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.api.derivatives import grad, jvp
from srcgrad.interface.check.finite_differences import (
    Vector,
    draw_direction,
    draw_seed,
    is_float,
    parts,
    precision,
    shape_like,
    tangent_like,
    vector,
)
from srcgrad.interface.check.oracles import Record, Subject, compare

Function = Callable[..., Any]
Wrt = int | str | Sequence[int | str] | None
MODES = ("forward", "reverse")


class CheckFailed(AssertionError):  # noqa: N818  (a finding about a derivative, not an error of the call)
    """A derivative that disagrees with an oracle; `records` holds the comparisons that failed."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = tuple(record for record in records if not record.passed)
        open_ = sum(record.undecided for record in self.records)
        failed = f"{len(self.records) - open_} of {len(records)} comparisons failed"
        told = f"{failed}, {open_} are undecided" if open_ else failed
        super().__init__(f"{told}\n{table(self.records)}")


class CheckUndecided(CheckFailed):
    """A derivative that differences neither confirm nor contradict: at a kink, in noise, by a solver's tolerance."""


def check_grads(
    f: Function,
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = MODES,
    *,
    wrt: Wrt = None,
    kwargs: dict[str, Any] | None = None,
    seed: int = 0,
    directions: int = 2,
    tolerance: float | None = None,
) -> None:
    """Raise `CheckFailed` unless the derivatives of `f` at `args` agree with differences and with each other.

    It is a `CheckUndecided` where differences at several steps, and on both sides of the point, disagree among
    themselves as much as with the derivative: at a kink or in noise; and where an adaptive solver's tolerance is all
    that keeps them apart.

    `args` are the positional arguments: floats, arrays, and nested tuples, lists, dicts, NamedTuples
    and dataclasses of them; integers pass through. `wrt` picks arguments by position or name (if not
    given, all that hold floats); `kwargs` go to `f` as they are. `order` 1 checks the derivative, 2
    all nestings of two of the `modes` as well; pairing needs both modes. `seed` fixes the random
    directions, of which each part of each argument gets `directions`. `tolerance` bounds the relative
    error against differences (by default 1e-6 in float64, 5e-3 in float32).

    Also checked: no call changes its arguments; a gradient has the structure, shape, dtype and class of its
    argument, can be written to, and shares memory with nothing; a pullback can be called twice.

    Raises DifferentiationError, as `vjp` does, where `f` cannot be differentiated.

    >>> def energy(x, w):
    ...     return np.sum(np.tanh(x * w))
    >>> check_grads(energy, (np.array([0.3, -0.5]), 2.0))
    """
    drawn: dict[str, Any] = {"seed": seed, "directions": directions, "tolerance": tolerance}
    records = check_report(f, args, order, modes, wrt=wrt, kwargs=kwargs, **drawn)
    if not all(record.passed for record in records):
        decided = any(not record.passed and not record.undecided for record in records)
        raise CheckFailed(records) if decided else CheckUndecided(records)


def check_report(
    f: Function,
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = MODES,
    *,
    wrt: Wrt = None,
    kwargs: dict[str, Any] | None = None,
    seed: int = 0,
    directions: int = 2,
    tolerance: float | None = None,
    since: int = 1,
) -> list[Record]:
    """All comparisons that `check_grads` makes, passed or not; the parameters are the same, but for `since`.

    With `since=2` first derivatives are not compared by themselves.

    >>> sorted({record.oracle for record in check_report(np.tanh, (0.5,), order=1)})
    ['forward', 'mirrors', 'pairing', 'repeatable', 'reverse', 'unaliased', 'unchanged', 'value']
    """
    for mode in modes:
        if mode not in MODES:
            raise DifferentiationError("E5006", f"no mode is called {mode!r}", f"use {' or '.join(MODES)}")
    subjects = [_subject(f, tuple(args), wrt, kwargs or {}, tolerance)]
    records: list[Record] = []
    for level in range(1, order + 1):
        generator = np.random.default_rng(seed if level == 1 else [seed, level])  # whether or not orders are left out
        if level > 1:
            subjects = [made for subject in subjects for made in _derivatives_to_check(subject, modes, generator)]
        for subject in subjects if level >= since else ():
            records += compare(subject, modes, directions=directions, generator=generator)
    return records


def table(records: Sequence[Record]) -> str:
    """The comparisons as a table, one a line."""
    rows = [("function", "order", "oracle", "argument", "direction", "error", "tolerance", "")]
    for record in records:
        place = (record.function, str(record.order), record.oracle, record.argument, str(record.direction))
        detail = f"undecided: {record.detail}" if record.undecided else record.detail
        rows.append((*place, f"{record.error:.1e}", f"{record.tolerance:.1e}", detail))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(map(str.rstrip, lines))


def _subject(f: Function, args: tuple[Any, ...], wrt: Wrt, kwargs: dict[str, Any], tolerance: float | None) -> Subject:
    labels = _labels(f, len(args))
    active = _active_positions(wrt, args, labels)
    bound = _bind_keywords(f, len(args), kwargs) if kwargs else f
    limits = precision(args, bound(*shape_like(args, vector(args))))
    if tolerance is not None:
        limits = replace(limits, difference=tolerance)
    return Subject(bound, getattr(f, "__name__", "function"), 1, args, active, labels, limits)


def _labels(f: Function, count: int) -> tuple[str, ...]:
    """The names of the positional parameters; ufuncs and other C functions may not tell them."""
    try:
        named = list(inspect.signature(f).parameters.values())
    except ValueError:
        named = []
    names = [p.name for p in named if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return tuple((names + [f"argument {number}" for number in range(len(names), count)])[:count])


def _active_positions(wrt: Wrt, args: tuple[Any, ...], labels: tuple[str, ...]) -> tuple[int, ...]:
    if wrt is None:
        found = tuple(k for k, argument in enumerate(args) if any(is_float(p) for _, p in parts(argument)))
        if not found:
            raise DifferentiationError("E5002", "no argument holds a float", "pass 3.0 instead of 3")
        return found
    asked = [wrt] if isinstance(wrt, int | str) else list(wrt)
    positions = [labels.index(key) if key in labels else key for key in asked]
    for key in positions:
        if isinstance(key, str) or not 0 <= key < len(args):
            raise DifferentiationError("E5009", f"no argument {key!r}", f"the arguments are: {', '.join(labels)}")
    return tuple(key for key in positions if isinstance(key, int))


_numbers = itertools.count(1)


def _define(text: str, name: str, namespace: dict[str, Any]) -> Function:
    """The function that `text` spells, with its text where `inspect` and the front end look for it."""
    file = f"<check {next(_numbers)} of srcgrad>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), namespace)
    function: Function = namespace[name]
    return function


def _bind_keywords(f: Function, count: int, kwargs: dict[str, Any]) -> Function:
    """`f` with its keyword arguments given, written out so that literal ones stay literal."""
    names = ", ".join(f"x{number}" for number in range(count))
    given = ", ".join(f"{key}={_literal(key, value)}" for key, value in kwargs.items())
    text = f"def bound({names}):\n    return primal({names}, {given})\n"
    return _define(text, "bound", {"primal": f, **{f"given_{key}": value for key, value in kwargs.items()}})


def _literal(key: str, value: Any) -> str:
    return repr(value) if value is None or isinstance(value, bool | int | str) else f"given_{key}"


def _derivatives_to_check(subject: Subject, modes: Sequence[str], generator: np.random.Generator) -> Iterator[Subject]:
    """The first derivatives of a function, as functions to be checked: the gradient, the tangent, or both."""
    value = subject.primal(*subject.active_arguments)
    if not vector(value).size:
        return
    order, f, args = subject.order + 1, subject.function, subject.args
    if "reverse" in modes:
        weighted = _weighted_sum(f, args, value, draw_seed(value, generator))
        gradient = grad(weighted, wrt=subject.active)
        yield replace(subject, function=gradient, order=order, name=f"gradient of {subject.name}")
    if "forward" in modes:
        pushed = _tangent_function(f, args, subject.tangents(draw_direction(subject.active_arguments, generator)))
        yield replace(subject, function=pushed, order=order, name=f"tangent of {subject.name}")


def _weighted_sum(f: Function, args: tuple[Any, ...], value: Any, seed: Vector) -> Function:
    """The scalar function <seed, f(x)>, as text, so that it can be differentiated as often as one likes."""
    weights = dict(parts(tangent_like(value, seed)))
    terms, namespace = [], {"np": np, "primal": f}
    for number, (path, part) in enumerate(parts(value)):
        if is_float(part):
            namespace[f"seed_{number}"] = weights[path]
            terms.append(_term(f"seed_{number}", f"y{path}", part))
    names = ", ".join(f"x{number}" for number in range(len(args)))
    text = f"def weighted({names}):\n    y = primal({names})\n    return {' + '.join(terms) or '0.0'}\n"
    return _define(text, "weighted", namespace)


def _tangent_function(f: Function, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Function:
    """The function J(x) v, as text; what holds no float has no tangent: the text may take it for a float then."""
    names = ", ".join(f"x{number}" for number in range(len(args)))
    floats = [any(is_float(part) for _, part in parts(argument)) for argument in args]
    dots = ", ".join(f"v_{number}" if known else "None" for number, known in enumerate(floats))
    text = (
        f"def value({names}):\n    return primal({names})\n\n\n"
        f"def pushed({names}):\n    return jvp(value, ({names},), ({dots},))[1]\n"
    )
    namespace = {"jvp": jvp, "primal": f, **{f"v_{number}": tangent for number, tangent in enumerate(tangents)}}
    return _define(text, "pushed", namespace)


def _term(seed: str, part: str, value: Any) -> str:
    if np.iscomplexobj(value):
        return f"np.sum(np.real(np.conj({seed}) * {part}))"
    return f"np.sum({seed} * {part})" if isinstance(value, np.ndarray) else f"{seed} * {part}"
