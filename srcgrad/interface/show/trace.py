"""What a derivative does as it runs. `srcgrad.trace`: the operations of one call, with values and adjoints.

`srcgrad.debug`: the first value that is not finite, and the line that made it.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import json
import linecache
import math
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any  # functions, arguments and values are arbitrary objects

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import load
from srcgrad.core.source_text import OURS, hides_our_frames, users_place
from srcgrad.derive.probes import Place
from srcgrad.interface.api.arguments import on_host
from srcgrad.interface.api.derivative import Derivative, Wrt
from srcgrad.interface.api.derivatives import float_arguments
from srcgrad.interface.api.execute import run
from srcgrad.module import Module
from srcgrad.runtime.hooks import listening

if TYPE_CHECKING:
    from _typeshed import TraceFunction

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


def _copy_if_array(x: object) -> object:
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

    def run_trace(*args: object, **kwargs: object) -> Trace:
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


@contextlib.contextmanager
def debug() -> Iterator[None]:
    """Within it, the first nan or inf that a derivative makes is E5033: with the user's line, the name, the operands.

    It looks at each value that the text of a derivative binds, in both halves and at all orders, and raises where one
    is not finite though all that it was made of is; nan and inf that are arguments or constants are let through, and so
    is what follows from them. It sees the NumPy text, on OpenCL what stands between kernels, and not what Numba
    compiled. It watches the thread that it is entered in, up to the first error,
    without NumPy's warnings. It is slow, and debuggers wait.

    >>> import numpy as np
    >>> import srcgrad
    >>> with srcgrad.debug():
    ...     srcgrad.grad(lambda x: np.sqrt(x))(4.0)
    0.25
    """
    before = sys.gettrace()
    sys.settrace(_watch_calls)
    try:
        with np.errstate(all="ignore"):  # what they warn of is the error
            yield
    finally:
        sys.settrace(before)


def _watch_calls(frame: types.FrameType, event: str, _: object) -> TraceFunction | None:
    """A watch for each call of generated text."""
    file = frame.f_code.co_filename
    return _Watch(_bound_in(file), dict(frame.f_locals)).step if file.startswith(OURS) else None


@functools.lru_cache(maxsize=64)
def _bound_in(file: str) -> dict[int, tuple[ast.stmt, tuple[str, ...], tuple[str, ...]]]:
    """For each line of a text the statement there, the names that it binds or writes into, and those that it reads."""
    found: dict[int, tuple[ast.stmt, tuple[str, ...], tuple[str, ...]]] = {}
    for node in ast.walk(ast.parse("".join(linecache.getlines(file)))):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound = tuple(part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))
            read = tuple(dict.fromkeys(part.id for part in names if isinstance(part.ctx, ast.Load)))
            found |= dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), (node, bound, read))
    return found


@dataclass
class _Watch:
    """One call of a text: what of it is not finite, which is told once, and the line that runs."""

    bound: dict[int, tuple[ast.stmt, tuple[str, ...], tuple[str, ...]]]
    before: dict[str, object]
    bad: set[str] = field(default_factory=set)
    line: int = 0

    def __post_init__(self) -> None:
        self.bad |= {name for name, value in self.before.items() if not _is_finite(value)}

    def step(self, frame: types.FrameType, event: str, _: object) -> TraceFunction | None:
        """Look at what the line before has bound."""
        if event in ("line", "return"):
            if self.line in self.bound:
                self._look(frame, *self.bound[self.line])
            self.line = frame.f_lineno
        return self.step

    def _look(self, frame: types.FrameType, node: ast.stmt, bound: tuple[str, ...], read: tuple[str, ...]) -> None:
        known = frame.f_locals
        for name in bound:
            if name not in known or _is_finite(known[name]):
                self.bad.discard(name)
            elif name not in self.bad:
                self.bad.add(name)
                given = [one for one in read if one in known]
                made_of_finite = self.bad.isdisjoint(one for one in given if one != name)
                if given and made_of_finite and all(map(_is_finite, _constants(node, frame.f_globals))):
                    raise self._error(frame, node, name, [one for one in given if one not in bound])

    def _error(self, frame: types.FrameType, node: ast.stmt, name: str, given: list[str]) -> DifferentiationError:
        known, place = frame.f_locals, users_place(frame.f_code.co_filename, self.line)
        shown = ", ".join(f"{one} = {short_text(known[one])}" for one in given if _is_number(known[one]))
        text = ast.unparse(node)
        what = f"`{name}` became {_first_bad(known[name])} in `{text}`" + (f", where {shown}" if shown else "")
        remedy = "keep the operands from where the operation or its derivative has no value: mask them, or move them"
        return DifferentiationError("E5033", what, remedy, place)


def _constants(node: ast.stmt, known: Mapping[str, object]) -> Iterator[object]:
    """The values of a text's module that a statement reads: `np.inf` in `np.where(c, x, np.inf)`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in known:
            yield known[part.id]
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            yield getattr(known.get(part.value.id), part.attr, None)


def _is_number(value: object) -> bool:
    return isinstance(value, float | complex | np.ndarray | np.generic)


def _is_finite(value: object) -> bool:
    """Whether a value holds no nan and no inf: a number, an array, a list or tuple of such; all else is let through."""
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    if not _is_number(value) or np.asarray(value).dtype.kind not in "fc":
        return True
    return bool(np.all(np.isfinite(np.asarray(value))))


def _first_bad(value: object) -> object:
    """The first nan or inf of a value."""
    if isinstance(value, list | tuple):
        return _first_bad(next(one for one in value if not _is_finite(one)))
    items = np.asarray(value).ravel()
    return items[~np.isfinite(items)][0]


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


def _json_value(value: object) -> object:
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
