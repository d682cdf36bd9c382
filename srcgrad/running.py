"""Run the text of a derivative: with the memory of device arrays, and with errors that carry their codes."""

from __future__ import annotations

import dataclasses
import inspect
import linecache
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn  # functions and arguments are arbitrary objects

from srcgrad.arguments import cast_seed
from srcgrad.errors import CODES, DifferentiationError, Place
from srcgrad.opencl.boundary import are_direct, device_in, on_device, on_host, seen
from srcgrad.opencl.device import Device, using
from srcgrad.places import with_users_lines
from srcgrad.runtime import fields_of

if TYPE_CHECKING:
    from srcgrad.derivative import Derivative


def run(
    function: Callable[..., Any], values: list[Any], signature: inspect.Signature, device: Device | None = None
) -> Any:
    """Call with all arguments; keyword-only ones by name. With device arrays on a CPU it runs on their memory."""
    if device is not None:
        given = [on_host(value) for value in values] if resident_on(device, values) is None else values
        with using(device):
            return run(function, given, signature)
    positional, named = [], {}
    for parameter, value in zip(signature.parameters.values(), values, strict=True):
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = value
        else:
            positional.append(value)
    try:
        return function(*positional, **named)
    except Exception as error:  # all are raised again, and tell where they come from
        _raise(error)


def resident_on(device: Device | None, values: list[Any]) -> Device | None:
    """The device, if a text runs on the arrays in its buffers; None where it runs on NumPy memory."""
    return device if device is not None and device.is_gpu and are_direct(values) else None


def seed_like(output: Any, seed: Any, resident: Device | None) -> Any:
    """A seed or a tangent in the dtype of an output, where the text runs; E5014 if its shape differs."""
    return on_device(cast_seed(on_host(seed), seen(output)), resident)


def _raise(error: Exception) -> NoReturn:
    """Raise an error of generated text: with its code if it has one, else with the user's lines in its traceback."""
    known = coded(error) if isinstance(error, TypeError | ValueError) else error
    if known is not error:
        raise known from None
    raise with_users_lines(error)


def coded(error: Exception) -> Exception:
    """An error of the runtime that carries a code, as a DifferentiationError; any other as it is."""
    message = str(error.args[0]) if error.args else ""
    if message[:3] == "E50" and message[5:6] == " ":
        what, _, remedy = message[6:].removeprefix(f"{CODES.get(message[:5])}: ").partition("; ")
        return DifferentiationError(message[:5], what, remedy or "see docs/errors.md", _line_of(error))
    return error


def _line_of(error: Exception) -> Place | None:
    """The line of generated text that raised an error; None if the caller of the text did."""
    found = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        line = linecache.getline(file, number).rstrip() if file.startswith("<srcgrad ") else ""
        if line:
            start = len(line) - len(line.lstrip())
            found = Place(file.split(" ")[1], number, start, line, len(line) - start)
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


def pull(back: Callable[[Any], Any], derivative: Derivative, values: list[Any], output: Any) -> Callable[[Any], Any]:
    """The pullback that users get: seeds are checked, adjoints mirror the arguments."""
    device = device_in(values)
    resident = resident_on(device, values)

    def pullback(seed: Any) -> Any:
        given = seed_like(output, seed, resident)
        given = opened(given) if hasattr(derivative.primal, "as_function") else given
        try:
            if device is None:
                found = back(given)
            else:
                with using(device):
                    found = back(given)
        except Exception as error:  # all are raised again, and tell where they come from
            _raise(error)
        return derivative.mirrored(found, values, [given])

    return pullback
