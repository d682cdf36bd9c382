"""Derivatives on OpenCL devices: a GPU, or this CPU; and arrays that live there.

`srcgrad.grad(f, target="opencl")` runs straight-line elementwise work, with the sums that end it, as one kernel each.
`srcgrad.opencl.asarray(x)` puts an array on a device; this module is its namespace, as the array API (2024.12) asks.
"""

from typing import Any  # a namespace holds arbitrary objects

from srcgrad.opencl.arrays import namespace
from srcgrad.opencl.arrays.array import Array
from srcgrad.opencl.devices.device import choose, found
from srcgrad.opencl.devices.self_test import report
from srcgrad.opencl.launch import launch

__all__ = ["Array", "choose", "found", "launch", "report"]


def __getattr__(name: str) -> Any:
    return namespace.function_named(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *namespace.NAMES})
