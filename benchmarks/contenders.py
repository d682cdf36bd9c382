"""What takes turns: the function itself, the hand-written derivative, srcgrad's, and those of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # results of several libraries

import numpy as np

from benchmarks import peers
from benchmarks.workload import Workload, seeds
from srcgrad import DifferentiationError

Call = Callable[[], Any]
NEEDED = {"blocks": "over", "declared": "shapes"}  # what a workload must have for a contender


def contenders(workload: Workload, args: tuple[Any, ...], wanted: tuple[str, ...]) -> dict[str, Call]:
    """The calls by the names of their columns, of those that are installed and can run the workload."""
    makers: dict[str, Callable[[Workload, tuple[Any, ...]], Call]] = {
        "value": of_value,
        "hand": of_hand,
        "text": of_text,
        "declared": of_declared,
        "call": of_call,
        "blocks": of_blocks,
        "numba": of_numba,
        "kernels": of_kernels,
        "autograd": peers.with_autograd,
        "jax": peers.with_jax,
        "torch": peers.with_torch,
    }
    found = {}
    for name in wanted:
        if name not in workload.skipped and (name not in NEEDED or getattr(workload, NEEDED[name])):
            try:
                found[name] = makers[name](workload, args)
            except (ImportError, DifferentiationError):
                continue
    return found


def of_value(workload: Workload, args: tuple[Any, ...]) -> Call:
    """The function."""
    given = args[:-1] if workload.mode == "hvp" else args
    return lambda: workload.function(*given)


def of_hand(workload: Workload, args: tuple[Any, ...]) -> Call:
    """The derivative as a person writes it."""
    return _blocks(workload.hand, args) if workload.mode == "pullback" else lambda: workload.hand(*args)


def of_text(workload: Workload, args: tuple[Any, ...]) -> Call:
    """The generated text, as after `srcgrad dump`; that of a Jacobian takes all directions at once."""
    derivative: Any = workload.derivative()
    if workload.mode == "jacobian":
        derivative(*args)
        made = derivative._runs().executed_text(derivative.ahead.arguments(args, {})[1])  # that which has just run
        return lambda: _columns(made.function(*args, **{made.seeds[0]: np.eye(args[workload.wrt[0]].size)}))
    if workload.mode == "hvp":
        derivative(*args)
        product = derivative.derivative
        made = product.executed_text(product.arguments(args[:-1], {})[1])  # that which has just run
        return lambda: made.function(*args[:-1], **{made.seeds[0]: args[-1]})
    _run(derivative, args)
    function = derivative.__wrapped__
    return _blocks(function, args) if workload.mode == "pullback" else lambda: function(*args)


def _run(derivative: Any, args: tuple[Any, ...]) -> Any:
    """Once, so that the text knows the kinds of its arguments."""
    _, kinds = derivative.arguments(args, {})
    return derivative.executed_text(kinds)


def of_declared(workload: Workload, args: tuple[Any, ...]) -> Call:
    """The generated text for declared shapes."""
    derivative: Any = workload.declared
    _run(derivative, args)
    function = derivative.__wrapped__
    return _blocks(function, args) if workload.mode == "pullback" else lambda: function(*args)


def of_call(workload: Workload, args: tuple[Any, ...]) -> Call:
    """The text through srcgrad's functions, which look at the arguments and give results their shapes and dtypes."""
    from srcgrad.interface.api.derivatives import value_and_pullback

    derivative: Any = workload.derivative()
    if workload.mode == "pullback":
        return _blocks(lambda *given: value_and_pullback(derivative, given, {}), args)
    return lambda: derivative(*args)


def of_blocks(workload: Workload, args: tuple[Any, ...]) -> Call:
    """The generated text that takes rows block by block."""
    derivative: Any = workload.in_blocks
    _run(derivative, args)
    function = derivative.__wrapped__
    return lambda: function(*args)


def of_numba(workload: Workload, args: tuple[Any, ...]) -> Call:
    """The text compiled by Numba, where it can be; blocks of a Jacobian from the function of one item."""
    if workload.mode == "pullback":
        each = workload.by_items
        each(*args)
        return lambda: _by_seeds(*each(*args))
    derivative: Any = workload.derivative("numba")
    derivative(*args)
    return lambda: derivative(*args)


def of_kernels(workload: Workload, args: tuple[Any, ...]) -> Call:
    """The derivative in OpenCL kernels, where there is a device, and where there is something to put into kernels."""
    from srcgrad.interface.api.derivatives import value_and_pullback
    from srcgrad.opencl.devices.trusted import current

    current()
    derivative: Any = workload.derivative("opencl")
    if "launch(" not in _text(derivative, workload, workload.small()):
        raise DifferentiationError("E5019", "no statement is worth a kernel", "leave out target='opencl'")
    if workload.mode == "pullback":
        return _blocks(lambda *given: value_and_pullback(derivative, given, {}), args)
    return lambda: derivative(*args)


def _blocks(function: Callable[..., Any], args: tuple[Any, ...]) -> Call:
    def run() -> Any:
        y, back = function(*args)
        return [back(seed) for seed in seeds(y)]

    return run


def _by_seeds(y: np.ndarray, blocks: tuple[np.ndarray, ...]) -> list[tuple[np.ndarray, ...]]:
    """Blocks as pullbacks give them: for each part of a value, its derivatives."""
    return [tuple(block[:, k] for block in blocks) for k in range(y.shape[1])]


def _columns(found: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The value, and the tangents as columns."""
    return found[0], found[1].T


def flat(result: Any) -> list[np.ndarray]:
    """All arrays and numbers of a result, in order."""
    if isinstance(result, tuple | list):
        return [array for each in result for array in flat(each)]
    return [np.asarray(result)]


def derivatives(workload: Workload, result: Any) -> list[np.ndarray]:
    """The derivatives alone: some contenders give the value as well, some do not."""
    found = flat(result)
    return found[-len(workload.wrt) * (2 if workload.mode == "pullback" else 1) :]


def generated(workload: Workload, *, declared: bool = False) -> str:
    """The text of the derivative, for arguments of the kinds that the workload has; for declared shapes, if asked."""
    return _text(workload.declared if declared else workload.derivative(), workload, workload.small())


def _text(derivative: Any, workload: Workload, args: tuple[Any, ...]) -> str:
    if workload.mode in ("hvp", "jacobian"):
        derivative(*args)
    else:
        _run(derivative, args)
    text: str = derivative.source
    return text
