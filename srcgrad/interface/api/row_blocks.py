"""`blocked(f, over="x")`: a function that adds up over rows, as one that takes them block by block.

Memory that is freed is kept for the next array: settings of the C library's allocator, if it has any.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any  # functions and arguments are arbitrary objects

import numpy as np

from srcgrad.backend.targets import target_named
from srcgrad.core.bindings import StaticFunction
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Kind
from srcgrad.core.files import collection_paused, load
from srcgrad.core.identity import Function, record
from srcgrad.core.rules import generation
from srcgrad.core.source_text import BLOCKS, hides_our_frames
from srcgrad.core.target import Target
from srcgrad.frontend.functions_with_rules import primal_of
from srcgrad.interface.api.arguments import kind_of, like_output, mirrors
from srcgrad.interface.api.derivative import AnyDerivative, Wrt, names_of
from srcgrad.interface.api.execute import (
    ExecutedText,
    Pullback,
    as_named,
    changes,
    lines_of,
    rebuild_object,
    run,
    tangent_like,
    writes,
)
from srcgrad.interface.api.snapshots import copies

if TYPE_CHECKING:
    from srcgrad.derive.row_blocks import Blocks

Value = Any  # arrays of NumPy and of Dask, and whatever else a function takes and gives


class BlockFunction:
    """A function that takes the rows of arguments block by block; a loop over blocks in a text of its own.

    Its derivatives are those of the loop, which computes value and gradient of a block together and keeps nothing.
    """

    bound: tuple[object, ...] = ()  # it has no arguments yet
    words: Mapping[str, object] = MappingProxyType({})  # nor by name

    def __init__(self, function: Callable[..., object], over: str | Sequence[str], rows: int | None) -> None:
        from srcgrad.derive.row_blocks import Blocks

        self.primal, bound = primal_of(function)
        if bound or not inspect.isfunction(self.primal):
            raise DifferentiationError(
                "E5029", "a method, or a function with bound arguments", "write a function that calls it"
            )
        self.signature = inspect.signature(self.primal)
        given = (over,) if isinstance(over, str) else tuple(over)
        self.blocks = Blocks(names_of(given, self.signature), checked_rows(rows))
        self.__name__ = f"{self.primal.__name__}_blocked"
        self.__doc__ = self.primal.__doc__
        self._made: dict[object, ExecutedText] = {}

    @hides_our_frames
    def __call__(self, *args: object, **kwargs: object) -> Value:
        given = self._bind_arguments(args, kwargs)
        text = self._block_text(_kinds(given)).check_overlaps(list(given.values()), self.signature)
        return text.function(*args, **kwargs)

    def as_function(self, kinds: dict[str, Kind] | None = None) -> Function:
        """The loop over blocks for arguments of these kinds, as a function with source."""
        return self._block_text(kinds or {}).function

    def source_for(self, *args: object, **kwargs: object) -> str:
        """The text of the loop over blocks for such arguments."""
        return self._block_text(_kinds(self._bind_arguments(args, kwargs))).text

    def _bind_arguments(self, args: tuple[object, ...], kwargs: dict[str, object]) -> dict[str, object]:
        given = self.signature.bind(*args, **kwargs)
        given.apply_defaults()
        return given.arguments

    def _block_text(self, kinds: dict[str, Kind]) -> ExecutedText:
        key = (generation(), *kinds.items(), *(kind.dtype for kind in kinds.values()))
        made = self._made.get(key)
        if made is None or made.stale():
            with collection_paused():
                made = self._made[key] = self._compile(kinds)
        return made

    def _compile(self, kinds: dict[str, Kind]) -> ExecutedText:
        from srcgrad.backend.text.module import origin
        from srcgrad.module import Module

        module = Module(blocks=self.blocks)
        name = module.derivative(self.primal, "primal", self.blocks.over, dict(kinds))
        main = next(made for made in module.made.values() if made.name == name)
        text, outside = module.text(main)
        made = load(text, name, f"{name} of {origin(main.facts.source)}", dict(outside), by=BLOCKS)
        made.__defaults__, made.__kwdefaults__ = self.primal.__defaults__, self.primal.__kwdefaults__
        stale = changes(module)
        compiled = ExecutedText(made, text, main.facts.names.seeds, stale, *writes(main.facts, outside))
        vars(made).update(__srcgrad_stale__=stale, __srcgrad_text__=compiled)
        return compiled

    @property
    def __signature__(self) -> inspect.Signature:
        return self.signature

    def __reduce__(self) -> tuple[object, ...]:
        return rebuild_object, (
            BlockFunction,
            (self.primal, self.blocks.over, self.blocks.rows),
            {},
            lines_of(self.primal),
        )

    def __repr__(self) -> str:
        return f"<srcgrad blocked {self.primal.__name__} over {', '.join(self.blocks.over)}>"


class RowDerivative(AnyDerivative):
    """A derivative of a sum over rows that are spread: it takes dask arrays, and gives some for them."""

    def __init__(
        self,
        function: Callable[..., object],
        mode: str,
        wrt: Wrt,
        single: bool,
        target: str | Target,
        blocks: Blocks,
        auxiliary: bool = False,
    ) -> None:
        super().__init__(function, mode, wrt, single, target, auxiliary=auxiliary)
        self.blocks = blocks

    @hides_our_frames
    def __call__(self, *args: object, **kwargs: object) -> object:
        values, made = self.text_for(args, kwargs)
        return self.result(run(made.function, values, self.named), values)

    def text_for(self, args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[list[Value], ExecutedText]:
        """All arguments, those that are spread as arrays, and the text for such."""
        values = [
            value if is_spread(value) or name not in self.over else np.asarray(value)
            for name, value in zip(self.signature.parameters, self.ordered_arguments(args, kwargs), strict=True)
        ]
        return values, self.executed_text(self.kinds(self.stand_ins(values)))

    def forward(self, args: Value, tangents: Value, kwargs: Value = None, made: ExecutedText | None = None) -> Value:
        """Value and tangent, in mode hvp the tangent; tangents of what is spread are spread as well."""
        values, made = self.text_for(args, kwargs or {})
        by_name = dict(zip(self.signature.parameters, values, strict=True))
        pairs = zip(made.seeds, tangents, self.wrt, strict=True)
        given = {seed: self._tangent(w, by_name[w], tangent) for seed, tangent, w in pairs}
        found = run(functools.partial(made.function, **given), values, self.named)
        if self.mode == "hvp":
            return self.primal.result(found, values)
        y, y_dot = found
        return y, like_output(y_dot, y)

    def _tangent(self, name: str, value: Value, tangent: Value) -> Value:
        """A tangent in the dtype of an argument; E5014 if its shape differs."""
        if name not in self.over:
            return tangent_like(value, tangent, None)
        given = tangent if is_spread(tangent) else np.asarray(tangent)
        if given.shape != value.shape:
            what = f"the tangent of `{name}` has the shape {given.shape}, not {value.shape}"
            raise DifferentiationError("E5014", what, "give an array of the same shape")
        return given.astype(value.dtype)

    @property
    def over(self) -> tuple[str, ...]:
        """The arguments that are spread."""
        assert self.blocks is not None, "it was made with some"
        return self.blocks.over

    def stand_ins(self, values: Sequence[Value]) -> list[Value]:
        """Arrays of NumPy of the same kinds as what is spread."""
        for name, value in zip(self.signature.parameters, values, strict=True):
            if is_spread(value) and name not in self.over:
                raise DifferentiationError(
                    "E5029", f"`{name}` is a dask array that is not in `shard`", "name it there, or compute it first"
                )
        return [
            stand_in(v) if name in self.over else v for name, v in zip(self.signature.parameters, values, strict=True)
        ]

    def mirror_arguments(self, found: Value, values: Sequence[Value], seeds: Sequence[Value] = ()) -> Value:
        """The adjoints like the arguments: of what is spread dask arrays, of arrays of NumPy computed at once."""
        parts = [found] if self._bare else list(found)
        rows = [
            part.compute() if is_spread(part) and not self._is_lazy(w, values) else part
            for w, part in zip(self.wrt, parts, strict=True)
        ]
        plain = {k: part for k, part in enumerate(rows) if not is_spread(part)}
        mirrored = mirrors(plain.values(), [self._places[k] for k in plain], values, seeds)
        made = {**dict(enumerate(rows)), **dict(zip(plain, mirrored, strict=True))}
        return made[0] if self.single else tuple(made[k] for k in range(len(rows)))

    def _is_lazy(self, wanted: str, values: Sequence[object]) -> bool:
        return is_spread(dict(zip(self.signature.parameters, values, strict=True)).get(wanted))

    def __reduce__(self) -> tuple[object, ...]:
        wrt = self.wrt[0] if self.single else self.wrt
        given = (as_named(self.function), self.mode, wrt, self.single, self.target.name, self.blocks, self.auxiliary)
        return rebuild_object, (RowDerivative, given, {}, lines_of(self.primal))


def pulled_rows(derivative: RowDerivative, values: Sequence[Value]) -> tuple[Value, Pullback]:
    """The value and the pullback, which reads the rows again; the rest of the arguments is copied."""
    kept = [
        value if name in derivative.over else copies([value]).of(value)
        for name, value in zip(derivative.signature.parameters, values, strict=True)
    ]
    blocks = derivative.blocks
    assert blocks is not None, "it was made with some"
    value = RowDerivative(derivative.function, "primal", derivative.wrt, False, derivative.target, blocks)
    values, of_value = value.text_for(tuple(kept), {})
    output = run(of_value.function, values, derivative.named)
    made = derivative.text_for(tuple(kept), {})[1]

    def back(seed: Value) -> Value:
        return run(functools.partial(made.function, **{made.seeds[0]: seed}), values, derivative.named)

    return output, Pullback(back, derivative, values, output, _pulled_again)


def _pulled_again(derivative: RowDerivative, values: Sequence[Value]) -> Pullback:
    """A pullback from what its pickle holds."""
    return pulled_rows(derivative, values)[1]


def stand_in(value: Value) -> Value:
    """An array of NumPy of the same kind as one that is spread."""
    return np.empty((0,) * value.ndim, value.dtype)


def is_spread(value: object) -> bool:
    """Whether a value is a dask array."""
    return hasattr(value, "__dask_graph__") and hasattr(value, "chunks")


def spread_rows(
    function: Callable[..., object], target: str | Target, shard: Mapping[str, int] | None, chunks: int | None
) -> Blocks | None:
    """What `shard=` and `chunks=` say; None where nothing is spread. E5019 or E5029 for what cannot be."""
    runs_on = target_named(target)
    if not runs_on.spreads and shard is None and chunks is None:
        return None
    if not runs_on.spreads or not shard:
        what = f"the target {runs_on.name} is for rows that are spread"
        what = what if runs_on.spreads else "`shard` and `chunks` are for the targets dask and mpi"
        raise DifferentiationError("E5019", what, "give target='dask' and shard={'x': 0}, or neither")
    if chunks is not None and "chunks" in runs_on.excludes:
        what = f"`chunks` is not for the target {runs_on.name}, where each process has its rows"
        raise DifferentiationError("E5019", what, "leave it out")
    from srcgrad.derive.row_blocks import Blocks

    names = names_of(tuple(shard), inspect.signature(primal_of(function)[0]))
    if any(axis != 0 for axis in shard.values()):
        raise DifferentiationError("E5029", f"shard={dict(shard)!r} names an axis other than 0", "give x.T, say")
    return Blocks(names, None, checked_rows(chunks))


def _kinds(given: dict[str, object]) -> dict[str, Kind]:
    return {name: kind_of(value) for name, value in given.items()}


def checked_rows(rows: int | None) -> int | None:
    """How many rows a block has; E5029 for what is no number of rows."""
    if rows is not None and (type(rows) is not int or rows < 1):
        raise DifferentiationError("E5029", f"rows={rows!r} is no number of rows", "give 1 or more, or None")
    return rows


def blocked_text(function: StaticFunction, blocks: Blocks, kinds: dict[str, Kind]) -> StaticFunction:
    """The loop over blocks for a function known only as text, as text."""
    from srcgrad.module import Module, static_function, text_of

    made, name, _, _, facts = text_of(Module(blocks=blocks), function, "primal", blocks.over, kinds, single=True)
    return static_function(made, name, facts, BLOCKS, function.module)


def blocked(function: Callable[..., object], over: str | Sequence[str], rows: int | None = None) -> BlockFunction:
    """The function, taking the rows of the arguments `over` in blocks of `rows`; its derivatives do so as well.

    For sums and means over rows, axis 0 of those arguments: a likelihood of data, say. Values that have an entry per
    row then stay in the cache. Without `rows`, a block is chosen so that the widest value has some 16,000 elements.
    Numbers differ by rounding alone, as sums are taken in another order.

    Errors: E5029 where it cannot be proved that each row is treated by itself until all are added up; E5009 for a name
    that is no parameter. See docs/memory.md.

    >>> import numpy as np
    >>> import srcgrad
    >>> def loss(w, x, y):
    ...     return np.mean((x @ w - y) ** 2)
    >>> by_blocks = srcgrad.blocked(loss, over=("x", "y"), rows=2)
    >>> w, x, y = np.array([1.0, -1.0]), np.arange(10.0).reshape(5, 2), np.ones(5)
    >>> float(by_blocks(w, x, y)), srcgrad.grad(by_blocks)(w, x, y)
    (4.0, array([-16., -20.]))
    """
    return BlockFunction(function, over, rows)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # what glibc's mallopt calls them
_OWN_LARGEST = 32 << 20  # glibc's own adjustment ends here: blocks above it are always given back
_INT_MAX = 2**31 - 1


@record(frozen=True)
class KeptMemory:
    """What `keep_memory` has done; as a context manager it gives memory back where the block ends.

    `done` tells whether anything was set, `allocator` names the allocator, `settings` are the values set, in bytes,
    and `reason` says why nothing was done.
    """

    done: bool
    allocator: str
    settings: dict[str, int] = field(default_factory=dict)
    reason: str = ""

    def __enter__(self) -> KeptMemory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.done:
            give_back()


def keep_memory(limit: int = 1 << 30) -> KeptMemory:
    """Have freed memory kept by the process, up to `limit` bytes, rather than given back to the system.

    An array of more than some 100 KB is otherwise mapped when it is made and unmapped when it is freed, and the system
    hands out each of its pages anew, filled with zeros: that can cost more than the arithmetic. On glibc this sets
    M_MMAP_THRESHOLD and M_TRIM_THRESHOLD for the whole process, all threads and libraries; elsewhere, and where another
    allocator has taken its place, it does nothing and says so. No result changes. Call it once, at the start.

    As a context manager, `with srcgrad.keep_memory():`, it gives back what is free where the block ends. The settings
    before it cannot be asked for: behind the block they are the largest that glibc sets by itself, 32 MiB. See
    docs/memory.md for what it gains.

    Errors: ValueError for a limit below 1.

    >>> from srcgrad import keep_memory
    >>> with keep_memory() as kept:
    ...     kept.done or kept.reason != ""
    True
    """
    if limit < 1:
        raise ValueError(f"limit={limit}: give a number of bytes")
    library, allocator, reason = _glibc()
    if library is None:
        return KeptMemory(False, allocator, reason=reason)
    settings: dict[str, int] = {}
    for size in (min(limit, _INT_MAX), _OWN_LARGEST):  # older versions take no more than the second
        if library.mallopt(_MMAP_THRESHOLD, size):
            settings["M_MMAP_THRESHOLD"] = size
            break
    if library.mallopt(_TRIM_THRESHOLD, min(limit, _INT_MAX)):
        settings["M_TRIM_THRESHOLD"] = min(limit, _INT_MAX)
    if len(settings) < 2:
        return KeptMemory(False, allocator, settings, "mallopt refuses the settings")
    return KeptMemory(True, allocator, settings)


def give_back() -> None:
    """Give free memory back to the system, and let the allocator do so by itself from now on."""
    library, _, _ = _glibc()
    if library is not None:
        library.mallopt(_MMAP_THRESHOLD, _OWN_LARGEST)
        library.mallopt(_TRIM_THRESHOLD, 2 * _OWN_LARGEST)
        library.malloc_trim(0)


def _glibc() -> tuple[Any, str, str]:
    """The C library if it is glibc and its allocator is the one in use; its name, and why it cannot be set."""
    if not sys.platform.startswith("linux"):
        return None, f"of {sys.platform}", f"the allocator of {sys.platform} has no such settings"
    try:
        used, own = ctypes.CDLL(None), ctypes.CDLL("libc.so.6")
        version = own.gnu_get_libc_version
    except (OSError, AttributeError):
        return None, "no glibc", "the C library is not glibc, and has no such settings"
    version.restype = ctypes.c_char_p
    name = f"glibc {version().decode()}"
    if _address(used.malloc) != _address(own.malloc):
        return None, f"one in the place of {name}'s", f"another allocator stands in the place of {name}'s"
    return used, name, ""


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
