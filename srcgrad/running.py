"""Run the text of a derivative: with the memory of device arrays, and with errors that carry their codes."""

from __future__ import annotations

import copy
import dataclasses
import linecache
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn  # functions and arguments are arbitrary objects

from srcgrad.errors import CODES, DifferentiationError, Place
from srcgrad.failures import failed_rule, within_rules
from srcgrad.opencl.boundary import are_direct, device_in, on_device, on_host, seen
from srcgrad.opencl.device import Device, using
from srcgrad.places import users_place, with_users_lines
from srcgrad.runtime import fields_of
from srcgrad.seeds import cast_seed

if TYPE_CHECKING:
    from srcgrad.derivative import Derivative


def run(
    function: Callable[..., Any],
    values: Sequence[Any],
    named: tuple[str, ...],
    device: Device | None = None,
    primal: Callable[..., Any] | None = None,
) -> Any:
    """Call with all arguments, the last ones by the names in `named`: on a CPU, in the memory of device arrays.

    An error of the text is its own (E5006) where the primal takes the arguments.
    """
    if device is not None:
        given = [on_host(value) for value in values] if resident_on(device, values) is None else values
        with using(device):
            return run(function, given, named, None, primal)
    try:
        return _called(function, values, named)
    except Exception as error:  # all are raised again, and tell where they come from
        _raise(error, primal and (lambda: _called(primal, copy.deepcopy(values), named)))


def _called(function: Callable[..., Any], values: Sequence[Any], named: tuple[str, ...]) -> Any:
    if not named:
        return function(*values)
    count = len(values) - len(named)
    return function(*values[:count], **dict(zip(named, values[count:], strict=True)))


def resident_on(device: Device | None, values: Sequence[Any]) -> Device | None:
    """The device, if a text runs on the arrays in its buffers; None where it runs on NumPy memory."""
    return device if device is not None and device.is_gpu and are_direct(values) else None


def seed_like(output: Any, seed: Any, resident: Device | None) -> Any:
    """A seed or a tangent in the dtype of an output, where the text runs; E5014 if its shape differs."""
    return on_device(cast_seed(on_host(seed), seen(output)), resident)


def _raise(error: Exception, again: Callable[[], Any] | None) -> NoReturn:
    """Raise an error of generated text: with its code if it has one, and with the user's lines in its traceback.

    `again` calls what the user wrote, on copies of the arguments: it tells whose error it is.
    """
    known = coded(error) if isinstance(error, TypeError | ValueError) else error
    if known is error:
        known = failed_rule(error, again)
    if known is not error:
        raise with_users_lines(known.with_traceback(error.__traceback__)) from None
    raise with_users_lines(error)


def coded(error: Exception) -> Exception:
    """An error of the runtime that carries a code, as a DifferentiationError; any other as it is."""
    message = str(error.args[0]) if error.args else ""
    if message[:3] == "E50" and message[5:6] == " ":
        what, _, remedy = message[6:].removeprefix(f"{CODES.get(message[:5])}: ").partition("; ")
        return DifferentiationError(message[:5], what, remedy or "see docs/errors.md", _line_of(error))
    return error


def _line_of(error: Exception) -> Place | None:
    """The user's line whose text, or whose derivative's, raised an error; None if the caller of the text did."""
    found = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        line = linecache.getline(file, number).rstrip() if file.startswith("<srcgrad ") else ""
        if line and (found is None or not within_rules(file, number)):
            start = len(line) - len(line.lstrip())
            found = users_place(file, number) or Place(file.split(" ")[1], number, start, line, len(line) - start)
    return found


def opened(value: Any) -> Any:
    """A seed of a gradient as its text knows it: the adjoint of an object is a dict of those of its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: opened(part) for name, part in fields_of(value).items()}
    if isinstance(value, dict):
        return {key: opened(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(map(opened, value)) if not hasattr(value, "_fields") else type(value)(*map(opened, value))
    return value


class Pullback:
    """The pullback that users get: seeds are checked, adjoints mirror the arguments.

    A pickle of it holds the arguments, and the forward half runs once more where it is read.
    """

    def __init__(
        self,
        back: Callable[[Any], Any],
        derivative: Derivative[..., Any],
        values: Sequence[Any],
        output: Any,
        again: Callable[[Derivative[..., Any], Sequence[Any]], Pullback],
    ) -> None:
        self._back, self._derivative, self._values, self._output, self._again = back, derivative, values, output, again
        self._device = device_in(values)
        self._resident = resident_on(self._device, values)

    def __call__(self, seed: Any) -> Any:
        given = seed_like(self._output, seed, self._resident)
        given = opened(given) if hasattr(self._derivative.primal, "as_function") else given
        try:
            if self._device is None:
                found = self._back(given)
            else:
                with using(self._device):
                    found = self._back(given)
        except Exception as error:  # all are raised again, and tell where they come from
            _raise(error, tuple)  # the forward half has run
        return self._derivative.mirrored(found, self._values, [given])

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again, (self._derivative, self._values)

    def __copy__(self) -> Pullback:
        return self

    def __deepcopy__(self, known: dict[int, Any]) -> Pullback:
        return self  # nothing changes it

    def __repr__(self) -> str:
        return f"<srcgrad pullback of {self._derivative!r}>"
