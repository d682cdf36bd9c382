"""Whether a device computes what it should: asked once, in a process of its own, and remembered.

Some runtimes abort, or are silently wrong, on some processors; a child process may die without harm.
`python -m srcgrad.opencl.probe NUMBER` is that child: it prints `right`, or what was wrong.
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

from srcgrad.child import command

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
_AT_ONCE = 10  # formulas in one kernel: each takes a while to build
_SECONDS = 60.0
_PAUSE = 0.1  # between two looks at the child


def verdict(device: Any) -> str:
    """`right`, or what is wrong with a device."""
    place = _cache() / "probe.json"
    key = hashlib.sha256(f"5 {device.platform.version} {device.name} {device.driver_version}".encode()).hexdigest()
    if _FUNCTIONS.keys() <= set(_read(place).get(key, [])):
        return "right"
    found = _asked(device)
    if found == "right":  # what may be mended is asked again
        known = _read(place)
        _write(place, {**known, key: sorted({*known.get(key, []), *_FUNCTIONS})})
    return found


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


def _asked(device: Any) -> str:
    from srcgrad.opencl.device import found

    number = next(k for k, other in enumerate(found()) if other == device)
    with subprocess.Popen(_command(number), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        printed = _answer(child)
    if printed is None:
        return f"it did not answer in {_SECONDS} seconds"
    last = printed.strip().splitlines()[-1:] or [f"a kernel ended the process (status {child.returncode})"]
    return last[0]


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


def _command(number: int) -> list[str]:
    """What asks, in a process of its own, whether a device computes what it should."""
    return command("srcgrad.opencl.probe", str(number))


def probe(number: int) -> str:
    """Run our functions on a device and compare them with NumPy's."""
    from srcgrad.opencl.device import found, opened

    device = opened(found()[number])
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
    print(probe(int(sys.argv[1])))
