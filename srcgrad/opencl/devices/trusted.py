"""Devices whose arithmetic was tried: a child process computes with each kernel function; the answer is kept."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import pathlib
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any  # pyopencl ships no types of its own

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import replace
from srcgrad.core.processes import command
from srcgrad.opencl.devices.device import (
    CHOICE,
    Device,
    choose,
    found,
    is_simulator,
    load,
    opened,
    opened_by_name,
    opened_by_place,
)

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "1.0 / x": np.reciprocal, "exp(x)": np.exp, "exp2(x)": np.exp2, "expm1(x)": np.expm1, "tanh(x)": np.tanh,
    "sinh(x)": np.sinh, "cosh(x)": np.cosh, "sqrt(fabs(x))": lambda x: np.sqrt(np.abs(x)),
    "log(fabs(x))": lambda x: np.log(np.abs(x)), "log1p(fabs(x))": lambda x: np.log1p(np.abs(x)),
    "log2(fabs(x))": lambda x: np.log2(np.abs(x)), "log10(fabs(x))": lambda x: np.log10(np.abs(x)),
    "asinh(x)": np.arcsinh, "acosh(1.0 + x * x)": lambda x: np.arccosh(1.0 + x * x),
    "atanh(x / 16.0)": lambda x: np.arctanh(x / 16.0), "pow(fabs(x), x)": lambda x: np.abs(x) ** x, "cbrt(x)": np.cbrt,
    "logaddexp(x, 2.0)": lambda x: np.logaddexp(x, x.dtype.type(2.0)),
    "hypot(x, 2.0)": lambda x: np.hypot(x, x.dtype.type(2.0)), "asin(x / 16.0)": lambda x: np.arcsin(x / 16.0),
    "acos(x / 16.0)": lambda x: np.arccos(x / 16.0), "atan(x)": np.arctan,
    "atan2(x, 2.0)": lambda x: np.arctan2(x, x.dtype.type(2.0)), "sin(x)": np.sin, "cos(x)": np.cos, "tan(x)": np.tan,
    "erf(x)": lambda x: np.array([math.erf(v) for v in x], x.dtype),
    "erfc(x)": lambda x: np.array([math.erfc(v) for v in x], x.dtype),
    "lgamma(x)": lambda x: np.array([math.lgamma(v) for v in x], x.dtype),
    "tgamma(x)": lambda x: np.array([math.gamma(v) for v in x], x.dtype),
    "digamma(2.0 + x * x) - digamma(1.0 + x * x)": lambda x: 1.0 / (1.0 + x * x),
}  # fmt: skip
_WAYS = ("shared", "mapped", "copied")  # to reach arrays: see `Device.memory`
_UNSEEN = "its memory: "  # how a fault of such a way begins
_COHERENT = "coherent"  # what a child prints when it has found none
_SECONDS = 60.0
_PAUSE = 0.1  # between two looks at the child


def verdict(device: Any) -> tuple[str, str]:
    """How kernels reach arrays on a device, see `Device.memory`; what is wrong with it, or nothing."""
    from srcgrad.opencl.devices.device import load

    place = _cache() / "probe.json"
    key = hashlib.sha256(f"6 {device.platform.version} {device.name} {device.driver_version}".encode()).hexdigest()
    known = _read(place).get(key, [])
    ways = _WAYS if device.type & load().device_type.CPU else _WAYS[-1:]
    for way in ways:
        if {*_FUNCTIONS, way} <= set(known):
            return way, ""
    for way in ways:
        fault = _fault(device, way)
        if not fault:  # what may be mended is asked again
            _write(place, {**_read(place), key: sorted({*known, *_FUNCTIONS, way})})
        if not fault.startswith(_UNSEEN):
            break
    return way, fault


def _cache() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "srcgrad"


def _read(place: pathlib.Path) -> dict[str, list[str]]:
    """What devices were right in; nothing, if the file is not there or is damaged."""
    try:
        found = json.loads(place.read_text())
    except (OSError, ValueError):
        return {}
    return {key: known for key, known in found.items() if type(known) is list} if isinstance(found, dict) else {}


def _write(place: pathlib.Path, known: dict[str, list[str]]) -> None:
    """Remember."""
    replace(place, json.dumps(known).encode())


def _fault(device: object, way: str) -> str:
    """What a child finds wrong with a device whose arrays are reached in one way; nothing if all is right."""

    number = next(k for k, other in enumerate(found()) if other == device)
    with subprocess.Popen(_command(number, way), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        printed = _answer(child)
    lines = [] if printed is None else printed.strip().splitlines()
    if lines[-1:] == ["right"]:
        return ""
    died = f"a kernel ended the process (status {child.returncode})"
    fault = f"it did not answer in {_SECONDS} seconds" if printed is None else (lines or [died])[-1]
    if fault == _COHERENT:
        return died
    early = _COHERENT not in lines and printed is not None
    return fault if not early or fault.startswith(_UNSEEN) else f"{_UNSEEN}{fault}"


def _answer(child: subprocess.Popen[str]) -> str | None:
    """What a child prints; None, and its end, when it has computed for too long, or for as long not at all.

    The seconds are those that it computes: on a loaded machine it may be given few of them.
    """
    begun = last = time.monotonic()
    used = 0.0
    while True:
        try:
            return child.communicate(timeout=_PAUSE)[0]
        except subprocess.TimeoutExpired:
            now, before = time.monotonic(), used
            used = _computed_for(child.pid, now - begun)
            last = now if used > before else last
            if used >= _SECONDS or now - last >= _SECONDS:
                child.kill()
                return None


def _computed_for(pid: int, since: float) -> float:
    """The seconds that a process has computed; those since it began, where the system does not say in /proc."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return since
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _command(number: int, way: str) -> list[str]:
    """What asks, in a process of its own, whether a device computes what it should."""
    return command("srcgrad.opencl.devices.self_test", str(number), way)


_lock = threading.Lock()
_using: ContextVar[Device | None] = ContextVar("srcgrad_device", default=None)
_KEY = os.environ.encodekey(CHOICE)


def current() -> Device:
    """The device in use: that of the arrays at hand, or else the chosen one."""
    return _using.get() or called(_wanted())


def _wanted() -> str:
    """What SRCGRAD_DEVICE says now; each launch asks, so it is read where `os.environ` keeps it."""
    held: Any = os.environ
    found = held._data.get(_KEY)
    return "" if found is None else str(held.decodevalue(found))


def called(wanted: str) -> Device:
    """The device of a name, opened once per process (a forked process opens its own); E5018 if it computes wrongly."""
    key = (os.getpid(), wanted)
    held = opened_by_name.get(key)
    if held is None:
        with _lock:
            held = opened_by_name.get(key)
            if held is None:
                held = opened_by_name[key] = _trusted(wanted)
    return held


@contextlib.contextmanager
def using(device: Device) -> Iterator[None]:
    """Run kernels on a device, in this thread, until the block ends."""
    token = _using.set(device)
    try:
        yield
    finally:
        _using.reset(token)


def _trusted(wanted: str) -> Device:
    device, _ = choose(wanted or None)
    memory, fault = verdict(device) if not is_simulator(device) else ("copied", "")  # it takes minutes, and has a log
    if fault:
        raise DifferentiationError(
            "E5018",
            f"the OpenCL device {device.name.strip()} fails its test: {fault}",
            f"set {CHOICE} to another one",
        )
    key = (os.getpid(), device.int_ptr)
    try:
        made = opened_by_place[key] = opened_by_place.get(key) or opened(
            device, memory
        )  # two names of one device are one device
    except load().Error as error:
        message = f"the OpenCL device {device.name.strip()} cannot be opened: {error}"
        raise DifferentiationError("E5018", message, f"set {CHOICE} to another one") from None
    return made
