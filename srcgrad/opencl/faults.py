"""What can go wrong on a device, as errors with codes: no memory, a kernel that does not build, a device that fails."""

from __future__ import annotations

from types import ModuleType
from typing import Any  # pyopencl ships no types of its own

from srcgrad.core.errors import DifferentiationError

_ROOM = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_RESOURCES", "OUT_OF_HOST_MEMORY", "INVALID_BUFFER_SIZE")
_OTHER = 'set SRCGRAD_DEVICE to another device, or derive with target="numpy"'
_LINES = 12  # of a compiler's log, that a message shows


def fault(error: Any, kernel: str, nbytes: int, cl: ModuleType, device: Any) -> DifferentiationError:
    """The error to raise for one of pyopencl's, in a kernel with arguments and results of so many bytes."""
    code = getattr(error, "code", None)
    name = cl.status_code.to_string(code) if isinstance(code, int) else "an unknown error"
    called = str(device.name).strip()
    if name in _ROOM:
        size = f"{nbytes / 2**20:.0f} MB; {called} has {device.global_mem_size / 2**20:.0f}"
        at_once = f"{device.max_mem_alloc_size / 2**20:.0f} in one piece"
        message = f"kernel {kernel} has arrays of {size}, {at_once} ({name})"
        return DifferentiationError("E5021", message, f"pass smaller arrays; {_OTHER}")
    if name == "BUILD_PROGRAM_FAILURE":
        lines = [line for line in str(error).splitlines() if line.strip()]
        first = next((k for k, line in enumerate(lines) if "error" in line.lower()), 0)
        log = "\n    ".join(lines[first : first + _LINES])
        return DifferentiationError("E5022", f"kernel {kernel} does not build on {called}:\n    {log}", _OTHER)
    return DifferentiationError("E5022", f"kernel {kernel} failed on {called} ({name})", _OTHER)


def no_double(kernel: str, device: Any) -> DifferentiationError:
    """The error to raise where a device cannot compute in float64."""
    message = f"kernel {kernel} is given float64, in which {str(device.name).strip()} cannot compute"
    return DifferentiationError("E5023", message, f"pass float32; {_OTHER}")
