"""Whether a device computes what it should: asked once, in a process of its own, and remembered.

Some runtimes abort, or are silently wrong, on some processors; a child process may die without harm.
`python -m srcgrad.opencl.probe NUMBER WAY` is that child: it prints `right`, or what was wrong. WAY is how kernels
reach arrays: the first is taken in which kernels see what the host has written, and the host what they have.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any  # pyopencl ships no types of its own

import numpy as np

from srcgrad.core.processes import command

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
_AT_ONCE = 10  # formulas in one kernel: each takes a while to build
_SECONDS = 60.0
_PAUSE = 0.1  # between two looks at the child


def verdict(device: Any) -> tuple[str, str]:
    """How kernels reach arrays on a device, see `Device.memory`; what is wrong with it, or nothing."""
    from srcgrad.opencl.device import load

    place = _cache() / "probe.json"
    key = hashlib.sha256(f"6 {device.platform.version} {device.name} {device.driver_version}".encode()).hexdigest()
    known = _read(place).get(key, [])
    ways = _WAYS if device.type & load().device_type.CPU else _WAYS[-1:]
    for way in ways:
        if {*_FUNCTIONS, way} <= set(known):
            return way, ""
    for way in ways:
        fault = _asked(device, way)
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


def replace(place: pathlib.Path, content: bytes) -> None:
    """Write a file; two processes may do so at once, and a folder that cannot be written to is no error."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, place)
    except OSError:
        pass


def _asked(device: Any, way: str) -> str:
    """What a child finds wrong with a device whose arrays are reached in one way; nothing if all is right."""
    from srcgrad.opencl.device import found

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
    return command("srcgrad.opencl.probe", str(number), way)


def probe(number: int, way: str) -> str:
    """Run our functions on a device and compare them with NumPy's, if kernels see what the host writes."""
    from srcgrad.opencl.device import found, opened

    device = opened(found()[number], way)
    stale = _stale(device)
    if stale:
        return stale
    print(_COHERENT, flush=True)
    drawn = np.random.default_rng(0)
    for real in ("float", "double") if device.has_fp64 else ("float",):
        dtype = np.dtype(np.float32 if real == "float" else np.float64)
        x = (drawn.standard_normal(4099) * 3.0).astype(dtype)
        for first in range(0, len(_FUNCTIONS), _AT_ONCE):
            some = list(_FUNCTIONS.items())[first : first + _AT_ONCE]
            for made, (text, function) in zip(_computed(device, [t for t, _ in some], x), some, strict=True):
                off = np.max(np.abs(made - function(x)) / np.maximum(np.abs(function(x)), 1.0))
                if not off <= 16 * np.finfo(dtype).eps:
                    return f"{text} in {real} is off by {off:.1e}"
    return "right"


_FOLLOW = """\
__kernel void follow(__global const float* x, __global float* y, const ulong n) {
    for (ulong i = 0; i < n; i++) y[i] = x[i] + 1.0f;
}
"""


def _stale(device: Any) -> str:
    """What a kernel or the host did not see of what the other one wrote: arrays short and long, however they lie."""
    for small in (False, *([True] if device.small is not None else [])):
        kernel = device.build(_FOLLOW, "follow", small)
        kernel.set_scalar_arg_dtypes([None, None, np.uint64])
        for length in (3, 1000, 9001, 70_001):
            for start in (0, 1, 4, 16):  # floats behind a multiple of 4096 bytes
                x, y = _behind_page(length, start), _behind_page(length, start)
                one, two = device.given(x), device.taken(y)
                for trip in range(3):
                    x[:], y[:] = trip, -1.0
                    if device.memory != "shared":
                        one, two = device.given(x), device.taken(y)
                    kernel.set_args(one, two, length)
                    device.run(kernel, 1, small)
                    device.finish(small, [y], [two])
                    if not np.all(y == trip + 1.0):
                        return f"{_UNSEEN}{length} numbers, {device.memory}, are not those that were written last"
    return ""


def _behind_page(length: int, start: int) -> Any:
    """An array so many numbers behind the beginning of a page."""
    room = np.zeros(length + start + 2048, np.float32)
    first = -room.ctypes.data % 4096 // 4 + start
    return room[first : first + length]


def _computed(device: Any, texts: list[str], x: Any) -> Any:
    from srcgrad.opencl.launch import Kernel
    from srcgrad.opencl.lines import HEAD

    def probe(x: Any) -> Any:
        raise NotImplementedError

    lines = [f"REAL y{k} = {text};" for k, text in enumerate(texts)]
    lines += [f"STORE(y{k});" for k in range(len(texts))]
    probe.__doc__ = "\n".join([HEAD, "", *lines])
    kernel = Kernel(probe)
    made = kernel.fitting((x,), device)
    if made is None:
        raise NotImplementedError
    found = kernel.launched(made, (x,), device)
    return found if len(texts) > 1 else (found,)


if __name__ == "__main__":
    print(probe(int(sys.argv[1]), sys.argv[2]))
