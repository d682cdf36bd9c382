"""`srcgrad.trace`: the operations of one call, numbered, with their values and adjoints; for debugging and teaching."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any  # functions, arguments and values are arbitrary objects

import numpy as np

from srcgrad.core.files import load
from srcgrad.core.source_text import hides_our_frames
from srcgrad.derive.probes import Place
from srcgrad.interface.api.derivative import Derivative, Wrt
from srcgrad.interface.api.derivatives import float_arguments
from srcgrad.interface.api.execute import run
from srcgrad.module import Module
from srcgrad.opencl.arrays.boundary import on_host
from srcgrad.runtime.hooks import listening

MOST = 6  # elements of an array that are shown


@dataclass(frozen=True)
class Row:
    """One operation as it ran: its number, the line of the user's text, what it bound and from what.

    `operands` are the numbers of the rows that it read, in their order; `text` shows them as `#3`. `name` is the
    user's, empty for an intermediate value; `slot` is the place in a result that was taken apart, or None. `adjoint`
    is None where nothing reached the row.
    """

    number: int
    line: int
    name: str
    operation: str
    operands: tuple[int, ...]
    slot: int | None
    text: str
    value: Any
    adjoint: object = None


@dataclass(frozen=True)
class Trace:
    """The rows of one call; `str` is the table. `value` is what the function returned."""

    function: str
    rows: tuple[Row, ...]
    value: Any

    def __str__(self) -> str:
        cells = [("row", "line", "name", "operation", "value", "adjoint")]
        for row in self.rows:
            line = str(row.line) if row.line else "-"
            shown = (short_text(row.value), "-" if row.adjoint is None else short_text(row.adjoint))
            cells.append((f"#{row.number}", line, row.name or "-", row.text, *shown))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]
        return "\n".join([f"Trace of {self.function}: {len(self.rows)} rows", *lines])

    def __repr__(self) -> str:
        return str(self)

    def reached(self, number: int) -> Trace:
        """The trace when the backward half has come to a row: adjoints further up are not set yet.

        >>> from srcgrad import trace
        >>> [row.adjoint for row in trace(lambda x: 3.0 * x * x)(2.0).reached(3).rows]
        [None, None, 1.0]
        """
        rows = tuple(row if row.number >= number else replace(row, adjoint=None) for row in self.rows)
        return replace(self, rows=rows)

    def json(self) -> str:
        """The trace as JSON: `function`, `value`, and `rows` with the fields of `Row`; arrays are nested lists."""
        rows = [{key: _json_value(part) for key, part in asdict(row).items()} for row in self.rows]
        made = {"function": self.function, "value": _json_value(self.value), "rows": rows}
        return json.dumps(made, indent=2, ensure_ascii=False)


@dataclass
class _Log:
    """What the probes report, as rows; each adjoint goes to the last row of its place that has none."""

    places: list[Place]
    rows: list[Row] = field(default_factory=list)
    bound: dict[str, int] = field(default_factory=dict)  # name -> the row that it holds now
    open: dict[int, list[int]] = field(default_factory=dict)  # place -> rows without adjoint

    def argument(self, name: str, value: object) -> None:
        """A row of its own for an argument."""
        self.rows.append(Row(len(self.rows) + 1, 0, name, "argument", (), None, "argument", value))
        self.bound[name] = len(self.rows)

    def value(self, place: int, x: object) -> None:
        at = self.places[place]
        number = len(self.rows) + 1
        read = [name for name in re.findall(r"\$(\w+)\$", at.text) if name in self.bound]
        operands = tuple(self.bound[name] for name in read)
        text = re.sub(r"\$(\w+)\$", lambda m: f"#{self.bound[m[1]]}" if m[1] in self.bound else m[1], at.text)
        self.rows.append(Row(number, at.line, at.name, at.operation, operands, at.slot, text, _copy_if_array(x)))
        self.bound[at.bound] = number
        self.open.setdefault(place, []).append(number)

    def adjoint(self, place: int, x_bar: object) -> None:
        self.reach(self.open[place].pop(), x_bar)

    def reach(self, number: int, x_bar: object) -> None:
        """Set the adjoint of a row."""
        self.rows[number - 1] = replace(self.rows[number - 1], adjoint=_copy_if_array(x_bar))


def _copy_if_array(x: object) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


@hides_our_frames
def trace(function: Callable[..., object], wrt: Wrt | None = None, *, seed: object = 1.0) -> Callable[..., Trace]:
    """A function of the same arguments that runs `function` and its gradient and returns what they did, row by row.

    A row is an operation of the normal form of the text: arguments first, then each operation as often as it ran,
    with the rows that it read, its value and its adjoint, the derivative of the result by that value. Values and
    adjoints are those of the derivative's text. A call of a function with source is one row; what is written into an
    array has a row, the array has none. `wrt` picks arguments, as in `grad`, by default all that hold real numbers;
    `seed` is the adjoint of a result that is an array. It is for looking at, and slow. Errors are those of `grad`.

    >>> import numpy as np
    >>> from srcgrad import trace
    >>> def f(x, y):
    ...     return x * y + np.sin(x)
    >>> print(trace(f)(0.6791, 0.8284))
    Trace of f: 5 rows
    row  line  name  operation   value     adjoint
    #1   -     x     argument    0.6791    1.60654
    #2   -     y     argument    0.8284    0.6791
    #3   2     -     #1 * #2     0.562566  1
    #4   2     -     np.sin(#1)  0.628093  1
    #5   2     -     #3 + #4     1.19066   1
    """

    def run_trace(*args: object, **kwargs: Any) -> Trace:
        places = float_arguments(function, args) if wrt is None else wrt
        derivative: Derivative[..., object] = Derivative(function, "value-and-grad", places, False)
        values, kinds = derivative.arguments(args, kwargs)
        derived = hasattr(type(derivative.primal), "as_function")
        primal = derivative.primal.as_function(kinds) if derived else derivative.primal
        module = Module()
        name = module.derivative(primal, "trace", derivative.wrt, kinds, None, False)
        main = next(made for made in module.made.values() if made.name == name)
        text, outside = module.text(main)
        log = _Log(main.facts.tape.probes)
        values = [on_host(value) for value in values]
        shown = list(zip(derivative.signature.parameters, values, strict=True))[len(derivative.bound) :]
        for parameter, value in shown:
            log.argument(parameter, _copy_if_array(value))
        label = f"{name} of {main.facts.source.file}:{main.facts.source.first}"
        made = load(text, name, label, dict(outside), origins=module.origins)
        with listening(log):
            start = functools.partial(made, **{main.facts.names.seeds[0]: seed})
            value, adjoints = run(start, values, derivative.named)
        arguments = [parameter for parameter, _ in shown]
        for wanted, adjoint in zip(derivative.wrt, derivative.mirror_arguments(adjoints, values), strict=True):
            own = wanted in arguments
            log.reach(arguments.index(wanted) + 1 if own else log.bound[wanted], adjoint)
        return Trace(main.facts.source.name, tuple(log.rows), value)

    return run_trace


def short_text(value: object) -> str:
    """A value in a few words.

    >>> import numpy as np
    >>> short_text(np.eye(2)), short_text(np.zeros((4, 5))), short_text(1 / 3)
    ('[[1, 0], [0, 1]]', '(4, 5): 0, 0, ... 0', '0.333333')
    """
    if isinstance(value, np.ndarray) and value.size > MOST:
        first, last = value.flat[:2], value.flat[-1]
        return f"{value.shape}: {', '.join(map(short_text, first))}, ... {short_text(last)}"
    if isinstance(value, np.ndarray):
        return _nested_text(value.tolist()) if value.size else f"{value.shape}"
    if isinstance(value, bool | np.bool_):
        return str(value)
    if isinstance(value, int | float | np.integer | np.floating):
        return f"{value:.6g}"
    if isinstance(value, list | tuple | dict):
        return f"{type(value).__name__} of {len(value)}"
    return str(value) if isinstance(value, str) or value is None else type(value).__name__


def _nested_text(value: object) -> str:
    return f"[{', '.join(map(_nested_text, value))}]" if isinstance(value, list) else short_text(value)


def _json_value(value: object) -> Any:
    """A value for JSON; numbers that it lacks become strings."""
    if isinstance(value, np.ndarray):
        return _json_value(value.tolist())
    if isinstance(value, np.generic):
        return _json_value(value.item())
    if isinstance(value, list | tuple):
        return [_json_value(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _json_value(part) for key, part in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else short_text(value)
